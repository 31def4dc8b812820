//! Rounds of `ioxide test`: what a round has certainly covered is left out by the testers of the next.
//!
//! `cover` and `tour` then have fewer purposes, which are shared out again; `hunt` has fewer of them, and walks. Runs
//! have other seeds in every round, so what is left is tried with other data.

use ioxide_args::{SolverArgs, TestArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::rounds::{RoundFeedback, UnitRounds};
use ioxide_campaign::units::UnitSet;
use ioxide_model::index::Idx as _;
use ioxide_model::sts::{Sts, SwitchId};
use ioxide_run::campaign::unit::UnitRecord;
use ioxide_run::coverage::Coverage;
use ioxide_testgen::tester::spec::TesterSpec;
use serde_json::{Value as Json, json};

use super::parts::PreparedCampaign;
use super::tester_choice::ChosenTester;
use crate::exit::CliError;

/// The units of all rounds: those of one, again and again.
pub fn repeat_units(units: UnitNames, chosen: &ChosenTester, args: &TestArgs) -> Result<UnitNames, CliError> {
    let rounds = args.part.n_rounds();
    if rounds == 1 {
        return Ok(units);
    }
    let is_shared = matches!(units, UnitNames::Numbered { word: "share", .. });
    let is_by_coverage = match chosen {
        ChosenTester::Hunt(_) | ChosenTester::Tour(..) => true,
        ChosenTester::Cover(..) => args.tester == TesterSpec::Cover,
        _ => false,
    };
    if is_shared && is_by_coverage {
        Ok(UnitNames::InRounds { names: Box::new(units), rounds })
    } else {
        Err(CliError::usage(format!(
            "no rounds: the tester `{}` ignores earlier coverage, so every round would be the same",
            args.tester
        ))
        .help("rounds are for `hunt`, `cover` and `tour`; for the others, give more `--runs`"))
    }
}

/// Returns the feedback that `round`, from 1, begins with: the switches that units of the rounds before have certainly
/// taken.
pub fn feedback(
    args: &TestArgs,
    parts: &mut GatheredParts,
    round: u64,
    solver: &SolverArgs,
) -> Result<RoundFeedback, CliError> {
    let PreparedCampaign { spec, mut chosen, .. } = PreparedCampaign::nowhere(args, solver)?;
    let mut coverage = Coverage::new(&spec.sts);
    let rounds = UnitRounds::repeat(args.part.n_rounds());
    for before in 0..round - 1 {
        for unit in rounds.units(before, parts.manifest.count).iter() {
            let Some(text) = parts.unit(unit)? else { continue };
            let result: Option<UnitRecord> = serde_json::from_value(text.result).ok();
            let told = result.and_then(|told| told.coverage.to_coverage(&spec.sts));
            coverage.add(&told.ok_or_else(|| {
                CliError::usage(format!("the result of unit {} does not fit the model", unit + 1))
                    .help("delete its part and run it again")
            })?);
        }
    }
    let taken: Vec<SwitchId> = coverage.covered_switches().collect();
    chosen.skip_covered(&spec.sts, &taken);
    let over = chosen.tester().is_done();
    let covered: Vec<usize> = taken.iter().map(|id| id.index()).collect();
    Ok(RoundFeedback::new(&parts.manifest.plan, round, &UnitSet::new(), over, json!({ "covered": covered })))
}

/// The switches that are known to be covered; nothing if they are of another model.
pub fn covered_switches(sts: &Sts, known: &Json) -> Option<Vec<SwitchId>> {
    let read = |at: &Json| {
        let at = usize::try_from(at.as_u64()?).ok().filter(|&at| at < sts.switches.len())?;
        Some(SwitchId::new(at))
    };
    known.get("covered")?.as_array()?.iter().map(read).collect()
}
