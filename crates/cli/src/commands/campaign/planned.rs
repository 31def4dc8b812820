//! The plan of a campaign, which `--plan` of the program itself prints: so all engines have the same units.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use ioxide_campaign::part::{FORMAT, Manifest, VERSION};
use ioxide_campaign::units::UnitSet;
use serde_json::Value as Json;

use crate::exit::{CliError, ExitStatus};

/// The units of a campaign: the plan, names and rounds.
pub struct PlannedUnits {
    /// The plan, with all units.
    pub manifest: Manifest,
    /// The names of the units, in the order of the plan.
    pub names: Vec<String>,
    /// The units of every round, in order.
    pub rounds: Vec<UnitSet>,
    /// True if a unit can be done again in little time.
    pub is_quick_to_repeat: bool,
}

impl PlannedUnits {
    /// The units of the command `run`.
    pub fn query(program: &Path, run: &[String]) -> Result<Self, CliError> {
        let plan = query_plan(program, run)?;
        let text = |name: &str| plan[name].as_str().unwrap_or_default().to_owned();
        let name = |unit: &Json| unit["name"].as_str().unwrap_or_default().to_owned();
        let units = plan["units"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<String> = units.iter().map(name).collect();
        if names.is_empty() {
            return Err(CliError::new(ExitStatus::Nothing, "nothing to run: the plan has no units"));
        }
        let mut rounds: BTreeMap<u64, UnitSet> = BTreeMap::new();
        for (unit, told) in units.iter().enumerate() {
            let round = told["round"].as_u64().unwrap_or(1);
            rounds.entry(round).or_default().insert(unit as u64);
        }
        let count = names.len() as u64;
        let manifest = Manifest {
            format: FORMAT.into(),
            version: VERSION,
            tool: text("tool"),
            plan: text("plan"),
            model: text("model"),
            args: run.to_vec(),
            count,
            asked: UnitSet::range(0, count).to_string(),
            round: None,
            feedback: None,
            system: serde_json::from_value(plan["system"].clone()).unwrap_or_default(),
            started: None,
        };
        let is_quick_to_repeat = plan["quick_to_repeat"].as_bool().unwrap_or_default();
        Ok(Self { manifest, names, rounds: rounds.into_values().collect(), is_quick_to_repeat })
    }
}

/// Returns the JSON that `run --plan` prints.
fn query_plan(program: &Path, run: &[String]) -> Result<Json, CliError> {
    let asked = Process::new(program).args(run).arg("--plan").stderr(Stdio::inherit()).output();
    let asked =
        asked.map_err(|error| CliError::usage(format!("cannot start `{}`: {error}", program.display())))?;
    let line = run.join(" ");
    if !asked.status.success() {
        let status = match asked.status.code() {
            Some(3) => ExitStatus::Model,
            Some(4) => ExitStatus::Nothing,
            _ => ExitStatus::Usage,
        };
        return Err(CliError::new(status, format!("`ioxide {line}` cannot be planned")).help(
            "`run` in the plan is a command that takes `--plan`: test, kill, score, conform, learn, \
             bench faults",
        ));
    }
    serde_json::from_slice(&asked.stdout)
        .map_err(|_| CliError::usage(format!("`ioxide {line} --plan` gives no plan")))
}
