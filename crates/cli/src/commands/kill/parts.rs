//! `ioxide kill` in parts: every mutant is a unit. Decisions are put together, and the suite is made from all of them.

use std::fs;
use std::path::Path;

use ioxide_args::{DecideArgs, KillArgs, MergeArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::rounds::UnitRounds;
use ioxide_campaign::units::UnitSet;
use ioxide_model::sts::Model;
use ioxide_run::kill_journal::{decision_json, read_decision};
use ioxide_testgen::kill::outcome::{DecidedMutants, MutantOutcome};
use ioxide_testgen::mutate::Mutant;
use serde_json::Value as Json;

use super::rounds::WitnessReuse;
use super::{open_journal, show_suite, workers};
use crate::commands::mutate::select_mutants;
use crate::exit::{CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;
use crate::unit_command::{self, PartEnd, UnitCommand};
use crate::{limit, load, write};

/// Shows the plan, or decides a part of the mutants.
pub fn decide_part(args: &KillArgs) -> Result<ExitStatus, CliError> {
    unit_command::refuse_option(args.out.is_some(), "--out")?;
    unit_command::refuse_option(args.html.is_some(), "--html")?;
    unit_command::refuse_option(args.record.is_some(), "--record")?;
    unit_command::refuse_option(args.trees.is_some(), "--trees")?;
    unit_command::refuse_option(args.json, "--json")?;
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mutants = limit::run_within(&request.halt, || select_mutants(&mut model, &args.mutants))?;
    let rounds = UnitRounds::alternate(args.part.n_rounds());
    let mut units = MutantUnits { model, mutants, decide: &args.decide, request, rounds };
    unit_command::run_units(&args.part, unit_command::depends_on(&[&sources], &[]), &mut units)
}

/// Mutants as units.
pub struct MutantUnits<'a> {
    /// The model.
    pub model: Model,
    /// The mutants of the model, in the order of units.
    pub mutants: Vec<Mutant>,
    /// The limits and settings under which the mutants are decided.
    pub decide: &'a DecideArgs,
    /// The solver, and its time limit.
    pub request: SolverRequest<'a>,
    /// The distribution of units over rounds.
    pub rounds: UnitRounds,
}

impl MutantUnits<'_> {
    /// Returns the names of the units: the ids of the mutants.
    pub fn names(&self) -> UnitNames {
        UnitNames::Listed(self.mutants.iter().map(|mutant| mutant.id.clone()).collect())
    }

    /// Decides the mutants of `units`; `tell` is called with each outcome. The result is `None` for mutants that are
    /// not in `units`, and for those undecided at the time limit or at an interrupt.
    pub fn decide(
        &self,
        units: &UnitSet,
        tell: &mut dyn FnMut(usize, &MutantOutcome) -> Result<(), CliError>,
    ) -> Result<Vec<Option<MutantOutcome>>, CliError> {
        // What is not asked for is as good as known.
        let known = |at: usize| (!units.contains(at as u64)).then(|| MutantOutcome::Unknown(String::new()));
        let known: Vec<Option<MutantOutcome>> = (0..self.mutants.len()).map(known).collect();
        let (config, limits) = (workers::config(self.decide)?, workers::MutantLimits::new(self.decide));
        let mut told =
            |at: usize, outcome: &MutantOutcome| if is_late(outcome) { Ok(()) } else { tell(at, outcome) };
        let outcomes = workers::decide_on_all_cores(
            &self.model,
            &self.mutants,
            &config,
            limits,
            &self.request,
            known,
            &mut told,
        )?;
        let open = |(at, outcome): (usize, Option<MutantOutcome>)| {
            outcome.filter(|outcome| units.contains(at as u64) && !is_late(outcome))
        };
        Ok(outcomes.into_iter().enumerate().map(open).collect())
    }
}

/// Returns whether the mutant was left undecided by the time limit alone; such a unit is not done.
fn is_late(outcome: &MutantOutcome) -> bool {
    *outcome == MutantOutcome::OutOfTime
}

impl UnitCommand for MutantUnits<'_> {
    fn names(&self) -> UnitNames {
        MutantUnits::names(self)
    }

    fn rounds(&self) -> UnitRounds {
        self.rounds
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let (mut progress, mut done) = (ProgressLine::start(), 0);
        let outcomes = self.decide(units, &mut |at, outcome| {
            done += 1;
            progress.tick(|| format!("{done} of {} mutants decided", units.len()));
            let (unit, result) = (at as u64, decision_json(&self.model, &self.mutants[at], outcome));
            part.begin_unit(unit, &names.name(unit))?;
            Ok(part.write_done(unit, &names.name(unit), false, &result)?)
        })?;
        let is_open = units.iter().any(|unit| outcomes[unit as usize].is_none());
        let is_unknown = outcomes.iter().flatten().any(MutantOutcome::is_unknown);
        Ok(match (is_open, is_unknown) {
            (true, _) => PartEnd {
                end: EndOfPart::Stopped,
                status: limit::halted_status(&self.request.halt, ExitStatus::Inconclusive),
            },
            (false, true) => PartEnd { end: EndOfPart::All, status: ExitStatus::Inconclusive },
            (false, false) => PartEnd { end: EndOfPart::All, status: ExitStatus::Success },
        })
    }
}

/// Returns the outcome of `mutant` from the result of its unit.
pub fn read_outcome(model: &Model, mutant: &Mutant, result: &Json) -> Result<MutantOutcome, CliError> {
    let is_it = result.get("mutant").and_then(Json::as_str) == Some(&mutant.id);
    let reason = || result.get("reason").and_then(Json::as_str).map(str::to_owned);
    let told = match result.get("outcome").and_then(Json::as_str) {
        Some("unknown") => reason().map(MutantOutcome::Unknown),
        _ => read_decision(result, model),
    };
    told.filter(|_| is_it).ok_or_else(|| {
        CliError::usage(format!("the result of mutant `{}` does not fit the model", mutant.id))
            .help("delete its part and run it again")
    })
}

/// Puts decisions together: the journal of `kill --record`, the suite, the page, and what `kill` says.
pub fn merge_decisions(
    args: &KillArgs,
    parts: &mut GatheredParts,
    merge_args: &MergeArgs,
) -> Result<ExitStatus, CliError> {
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(&merge_args.solver, limit::halt(&args.limit));
    let mutants = limit::run_within(&request.halt, || select_mutants(&mut model, &args.mutants))?;
    let dir = Path::new(&merge_args.out);
    fs::create_dir_all(dir).map_err(|error| write::write_error(dir, &error))?;
    let place = |name: &str| Some(dir.join(name).display().to_string());
    let config = workers::config(&args.decide)?;
    let settings = format!("{:?} {:?} {:?}", config.bounds, config.off, config.completion);
    let (mut journal, known) = open_journal(&dir.join("kill.jsonl"), &model, &mutants, &settings)?;
    let mut outcomes = Vec::with_capacity(mutants.len());
    for (at, mutant) in mutants.iter().enumerate() {
        let text = parts.unit(at as u64)?;
        outcomes.push(text.map(|text| read_outcome(&model, mutant, &text.result)).transpose()?);
    }
    let reuse = WitnessReuse { mutants: &mutants, decide: &args.decide, request: &request };
    let rounds = UnitRounds::alternate(args.part.n_rounds());
    let outcomes = reuse.with_others(&mut model, outcomes, &parts.settled, &rounds)?;
    for (at, mutant) in mutants.iter().enumerate() {
        if let (Some(outcome), None) = (&outcomes[at], &known[at]) {
            journal.add_decision(&model, mutant, outcome)?;
        }
    }
    let decided = DecidedMutants { mutants, outcomes, halted: None };
    if decided.is_interrupted() {
        let (done, all) = (decided.outcomes.iter().flatten().count(), decided.mutants.len());
        let journal = dir.join("kill.jsonl").display().to_string();
        return Err(CliError::new(ExitStatus::Inconclusive, format!("{done} of {all} mutants decided"))
            .help(format!(
                "do the missing units, or let `ioxide kill ... --record {journal}` decide the rest here"
            )));
    }
    // Whatever the parts say about files to write, only what belongs into this folder is written.
    let whole = KillArgs {
        out: place("suite.jsonl"),
        html: place("report.html"),
        json: merge_args.json,
        record: None,
        trees: None,
        solver: merge_args.solver.clone(),
        part: Default::default(),
        ..args.clone()
    };
    show_suite(&whole, &sources, &mut model, &decided, &request)
}
