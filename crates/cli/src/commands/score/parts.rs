//! `ioxide score` in parts: every mutant is a unit, decided and then given to the suite or the tester. In [`rounds`]
//! those that survived are given to it again.

use std::fs;
use std::path::Path;

use ioxide_args::{MergeArgs, MutantArgs, ScoreArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::rounds::UnitRounds;
use ioxide_campaign::units::UnitSet;
use ioxide_run::campaign::run_seed;
use ioxide_run::kill_journal::decision_json;
use ioxide_testgen::kill::outcome::{DecidedMutants, MutantOutcome};
use ioxide_testgen::kill::score::KillTable;
use serde_json::{Value as Json, json};

use super::{rounds, show_score};
use crate::commands::kill::page::MutatedModel;
use crate::commands::kill::parts::{MutantUnits, read_outcome};
use crate::commands::mutate::select_mutants;
use crate::exit::{CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::unit_command::{self, PartEnd, UnitCommand};
use crate::{limit, load, write};

/// Mutants that are decided and scored before they are written down. Chosen by feel: what a kill of the process loses,
/// against how often is written.
const CHUNK: u64 = 32;

/// Shows the plan, or scores a part of the mutants.
pub fn score_part(args: &ScoreArgs) -> Result<ExitStatus, CliError> {
    unit_command::refuse_option(args.html.is_some(), "--html")?;
    unit_command::refuse_option(args.record.is_some(), "--record")?;
    unit_command::refuse_option(args.json, "--json")?;
    rounds::refuse_rounds(args)?;
    let (sources, mut model) = load::load_model(&args.file, &args.set)?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mutants = limit::run_within(&request.halt, || select_mutants(&mut model, &args.mutants))?;
    let depends_on = unit_command::depends_on(&[&sources], &[&args.suite]);
    let mutants = MutantUnits { model, mutants, decide: &args.decide, request, rounds: UnitRounds::ONE };
    unit_command::run_units(&args.part, depends_on, &mut ScoreUnits { args, mutants })
}

struct ScoreUnits<'a> {
    args: &'a ScoreArgs,
    mutants: MutantUnits<'a>,
}

impl UnitCommand for ScoreUnits<'_> {
    fn names(&self) -> UnitNames {
        match self.args.part.n_rounds() {
            1 => self.mutants.names(),
            rounds => UnitNames::InRounds { names: Box::new(self.mutants.names()), rounds },
        }
    }

    fn rounds(&self) -> UnitRounds {
        UnitRounds::repeat(self.args.part.n_rounds())
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let mutants = self.mutants.mutants.len() as u64;
        if let Some(first) = units.iter().next().filter(|&first| first >= mutants) {
            return self.score_again(first / mutants, names, units, part);
        }
        let mut left = units.clone();
        while !left.is_empty() {
            let chunk = left.split_off(CHUNK);
            let outcomes = self.mutants.decide(&chunk, &mut |_, _| Ok(()))?;
            let MutantUnits { model, mutants, request: wanted, .. } = &self.mutants;
            let decided = DecidedMutants { mutants: mutants.clone(), outcomes, halted: None };
            let killable: Vec<usize> = chunk
                .iter()
                .map(|unit| unit as usize)
                .filter(|&at| super::trace(&decided, at).is_some())
                .collect();
            let kills = super::killed_by_tests(self.args, wanted, &mut model.clone(), &decided, &killable)?;
            for unit in chunk.iter() {
                let Some(outcome) =
                    decided.outcomes[unit as usize].as_ref().filter(|_| kills.halted.is_none())
                else {
                    let status = limit::halted_status(&wanted.halt, ExitStatus::Inconclusive);
                    return Ok(PartEnd { end: EndOfPart::Stopped, status });
                };
                let by =
                    |(test, killed): (usize, &Vec<usize>)| killed.contains(&(unit as usize)).then_some(test);
                let by: Vec<usize> = kills.tests.iter().enumerate().filter_map(by).collect();
                let after = kills.after.iter().find(|&&(at, _)| at == unit as usize).map(|&(_, after)| after);
                let result = json!({
                    "decision": decision_json(model, &mutants[unit as usize], outcome),
                    "killed_by": by, "tests": kills.tests.len(), "ios": kills.ios, "after": after,
                });
                part.begin_unit(unit, &names.name(unit))?;
                part.write_done(unit, &names.name(unit), false, &result)?;
            }
        }
        Ok(PartEnd { end: EndOfPart::All, status: ExitStatus::Success })
    }
}

impl ScoreUnits<'_> {
    /// Plays mutants that survived once more, in `round`, from 0.
    fn score_again(
        &self,
        round: u64,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let MutantUnits { model, mutants, request: wanted, .. } = &self.mutants;
        let seed = run_seed(self.args.mutants.seed, round);
        let other = MutantArgs { seed, ..self.args.mutants.clone() };
        let args = ScoreArgs { mutants: other, ..self.args.clone() };
        let decided = DecidedMutants { mutants: mutants.clone(), outcomes: Vec::new(), halted: None };
        let place = |unit: u64| (unit % mutants.len() as u64) as usize;
        let mut left = units.clone();
        while !left.is_empty() {
            let chunk = left.split_off(CHUNK);
            let open: Vec<usize> = chunk.iter().map(place).collect();
            let kills = super::killed_by_tests(&args, wanted, &mut model.clone(), &decided, &open)?;
            if kills.halted.is_some() {
                let status = limit::halted_status(&wanted.halt, ExitStatus::Inconclusive);
                return Ok(PartEnd { end: EndOfPart::Stopped, status });
            }
            for unit in chunk.iter() {
                let is_killed = kills.tests.iter().any(|killed| killed.contains(&place(unit)));
                let by: Vec<u64> = is_killed.then_some(round).into_iter().collect();
                let result = json!({ "killed_by": by, "tests": round + 1, "ios": null });
                part.begin_unit(unit, &names.name(unit))?;
                part.write_done(unit, &names.name(unit), false, &result)?;
            }
        }
        Ok(PartEnd { end: EndOfPart::All, status: ExitStatus::Success })
    }
}

/// Puts scores together: the page, and what `score` says.
pub fn merge_scores(
    args: &ScoreArgs,
    parts: &mut GatheredParts,
    merge_args: &MergeArgs,
) -> Result<ExitStatus, CliError> {
    let (sources, mut model) = load::load_model(&args.file, &args.set)?;
    let request = SolverRequest::new(&merge_args.solver, limit::halt(&args.limit));
    let mutants = limit::run_within(&request.halt, || select_mutants(&mut model, &args.mutants))?;
    let dir = Path::new(&merge_args.out);
    fs::create_dir_all(dir).map_err(|error| write::write_error(dir, &error))?;
    let mut outcomes: Vec<Option<MutantOutcome>> = vec![None; mutants.len()];
    let mut kills = KillTable { tests: Vec::new(), ios: None, after: Vec::new(), halted: None };
    // Units that were done after the goal was reached do not count, wherever they ran.
    let (so_far, end) = rounds::collect_scores(args, parts)?;
    for unit in 0..end.map_or(parts.manifest.count, |end| end + 1) {
        let at = unit as usize % mutants.len().max(1);
        let Some(mutant) = mutants.get(at) else { continue };
        let Some(text) = parts.unit(unit)? else { continue };
        let misfit = || CliError::usage(format!("the result of mutant `{}` does not fit", mutant.id));
        let number = |name: &str| text.result.get(name).and_then(Json::as_u64).map(|n| n as usize);
        kills.tests.resize(kills.tests.len().max(number("tests").ok_or_else(misfit)?), Vec::new());
        kills.ios = number("ios").or(kills.ios);
        // What a mutant cost in the rounds before is not known.
        if parts.manifest.count == mutants.len() as u64 {
            kills.after.extend(number("after").map(|after| (at, after as u64)));
        }
        let by = text.result.get("killed_by").and_then(Json::as_array).ok_or_else(misfit)?;
        for test in by {
            let test = test.as_u64().and_then(|test| kills.tests.get_mut(test as usize));
            test.ok_or_else(misfit)?.push(at);
        }
        if unit < mutants.len() as u64 {
            let decision = text.result.get("decision").ok_or_else(misfit)?;
            outcomes[at] = Some(read_outcome(&model, mutant, decision)?);
        }
    }
    if let Some(line) = so_far.early_end_text() {
        eprintln!("{line}");
    }
    let missing = parts.missing.len();
    if missing > 0 {
        let stop = CliError::new(
            ExitStatus::Inconclusive,
            format!("{missing} of {} units are missing", parts.manifest.count),
        );
        return Err(stop.help("do the missing units and merge again"));
    }
    let decided = DecidedMutants { mutants, outcomes, halted: None };
    let whole = ScoreArgs {
        html: Some(dir.join("report.html").display().to_string()),
        record: None,
        json: merge_args.json,
        solver: merge_args.solver.clone(),
        part: Default::default(),
        ..args.clone()
    };
    let subject = MutatedModel { model: &model, sources: &sources, file: &whole.file };
    show_score(&whole, &subject, &decided, &kills, &request)
}
