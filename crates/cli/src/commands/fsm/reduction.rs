//! Reduction by adaptive state counting: against another machine, or against a live system.

use std::io::{self, Write};
use std::sync::Arc;

use ioxide_args::{FsmArgs, FsmVariant};
use ioxide_fsm::mealy::{MachineListing, MachineNames};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::align_names;
use ioxide_fsm::reduce::{
    AdaptiveSystem as Answering, BoundedResponse, CountingPlan, CountingVariant, PlayedMachine as Played,
    RDistinguish, ReductionReport, ReductionVerdict, Repeated, WalkReport, on_demand_counting,
    preset_counting, state_counting, walk_through,
};
use ioxide_fsm::word::{show_io, show_word};
use ioxide_project::PlayedName;
use ioxide_project::SpecSource;
use ioxide_report::html::suite::{SuiteVerdict, SuiteView};
use ioxide_run::answers::{AnswerError, CountingEnd, TimeLimitedSystem};
use ioxide_smt::halt::{Halt, Halted};
use serde_json::json;

use super::live::{LiveSystem, LiveTestError};
use super::{completion, page, refusal_error};
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::{self, NamedMachine};
use crate::mutant_file::played_constants;
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, redaction, seed};

/// The number of times a case is applied to a live system without `--repeat`. Chosen by feel: more find rarer answers
/// and take longer.
const REPEAT: usize = 10;

/// The number of states from which on a walk comes first without `--walk`. Chosen by feel: on smaller machines the
/// first words find faults as soon, and what is printed about the examples of the thesis stays what the thesis has.
const WALKED_STATES: usize = 8;

/// The number of inputs of a walk without `--walk`, for every state and input. Chosen by feel: see the table about
/// walks in `docs/measurements/fsm.md`.
const WALK_SHARE: usize = 4;

/// The number of words above which testing is said to take long. Chosen by feel: against a machine these take seconds.
const MANY_WORDS: usize = 10_000;

/// States of a machine whose pairs there is memory for. Chosen by feel: it bounds the memory.
const MAX_MACHINE_STATES: usize = 5000;

/// Tests whether the system is a reduction of the machine.
pub fn test_reduction(args: &FsmArgs) -> Result<ExitStatus, CliError> {
    let missing = || {
        CliError::usage("`--reduction` needs `--sut SUT` and `--bound M`")
            .help("the machine or system to test, and how many states it may have")
    };
    let (sut, bound) = (args.sut.as_deref().ok_or_else(missing)?, args.bound.ok_or_else(missing)?);
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let _stage = limit::stage("counting states");
    let spec = NamedMachine::load(&args.file, &args.set, &request)?;
    let model = observable(args, &args.file, &spec, Nfsm::from_listing(&spec.listing))?;
    few_enough(args, &model)?;
    let plan = limit::run_within(&request.halt, || CountingPlan::new(&model, bound));
    let plan = plan.map_err(|refusal| refusal_error(&args.file, &refusal))?;
    if args.bounds && matches!(args.variant, FsmVariant::H | FsmVariant::Preset) {
        return Err(CliError::usage("`--bounds` is for `--variant refined`, `original` and `io`")
            .help("the other variants do not compute the lower bound of every answer"));
    }
    let plan = CountingPlan { max_words: args.max_words, keeps_bounds: args.bounds, ..plan };
    warn_of_many_words(args, &model, &plan, &request.halt);
    let counted = CountedMachine { args, spec: &spec, model: &model, plan: &plan };
    if is_file(sut) {
        counted.against_machine(sut, &request)
    } else {
        counted.against_system(sut, &request.halt)
    }
}

/// The machine that a system should be a reduction of, and the plan of state counting.
struct CountedMachine<'a> {
    args: &'a FsmArgs,
    /// The machine as its file has it.
    spec: &'a NamedMachine,
    /// The machine made observable.
    model: &'a Observable,
    plan: &'a CountingPlan,
}

/// Refuses a machine whose pairs of states there is no memory for.
pub fn few_enough(args: &FsmArgs, model: &Observable) -> Result<(), CliError> {
    let states = model.n_states();
    if states <= MAX_MACHINE_STATES {
        return Ok(());
    }
    let why = format!(
        "`{}` has {states} states; state counting compares all pairs of up to {MAX_MACHINE_STATES}",
        args.file
    );
    Err(CliError::usage(why).help("count a part of it, or make a suite with `--suite s`"))
}

/// Returns whether `sut` is the file of a machine or model rather than a system.
fn is_file(sut: &str) -> bool {
    let is_system = ["model:", "stdio:", "tcp:"].iter().any(|scheme| sut.starts_with(scheme));
    !is_system && ioxide_lang::is_model(PlayedName::parse(sut).file)
}

impl CountedMachine<'_> {
    /// Counts against the machine in the file `sut`.
    fn against_machine(&self, sut: &str, request: &SolverRequest<'_>) -> Result<ExitStatus, CliError> {
        let Self { args, spec, model, plan } = *self;
        let spec_source = SpecSource { file: &args.file, set: &args.set };
        let played = PlayedName::parse(sut);
        let machine = NamedMachine::load(played.file, &played_constants(&played, spec_source)?, request)?;
        let system = align_names(model.names(), &Nfsm::from_listing(&machine.listing))
            .map_err(|refusal| refusal_error(sut, &refusal))?;
        let system = observable(args, sut, &machine, system)?;
        let mut until = TimeLimitedSystem { system: Played(&system), halt: request.halt.clone() };
        // The same walk every time: what a machine answers is up to the seed too.
        let seed = args.seed.unwrap_or(0);
        let counted = walk_and_count(args, model, &mut until, plan, seed).map_err(|ended| match ended {
            CountingEnd::Halted(halted) => not_counted(halted, &request.halt),
            CountingEnd::Trouble(never) => match never {},
        })?;
        told_and_kept(args, spec, system.names(), &counted, None)
    }

    /// Counts against the live system `sut`.
    fn against_system(&self, sut: &str, halt: &Halt) -> Result<ExitStatus, CliError> {
        let Self { args, spec, model, plan } = *self;
        let system = SystemUnderTest::from_name(sut, SpecSource { file: &args.file, set: &args.set })?;
        let patience = patience(&system, args.quiescence_ms)?.default_time();
        let repetitions = args.repeat.unwrap_or(REPEAT).max(1);
        let seed = args.seed.unwrap_or_else(seed::fresh_seed);
        let mut messages = spec.messages()?;
        machine::declare_outputs(&mut messages.model, &system);
        let opener = SystemOpener::new(
            &system,
            Arc::new(messages.model.clone()),
            SolverRequest::new(&args.solver, halt.clone()),
        );
        opener.open(0, seed, |adapter| {
            let live = LiveSystem::new(&messages, spec.wait, model.names(), adapter, patience, halt)?;
            let mut until =
                TimeLimitedSystem { system: Repeated::new(live, repetitions), halt: halt.clone() };
            let counted = walk_and_count(args, model, &mut until, plan, seed);
            let repeated = until.system;
            let effort = LiveEffort {
                repetitions,
                seed,
                resets: repeated.live().system().resets,
                inputs: repeated.live().system().inputs,
            };
            match counted {
                Ok(counted) => told_and_kept(args, spec, repeated.live().names(), &counted, Some(&effort)),
                Err(
                    CountingEnd::Halted(halted)
                    | CountingEnd::Trouble(LiveTestError::Answer(AnswerError::Halted(halted))),
                ) => Err(not_counted(halted, halt)),
                Err(CountingEnd::Trouble(LiveTestError::Answer(AnswerError::Preamble(said)))) => {
                    let told =
                        writeln!(redaction::stdout(), "fail: before its first input the system sends {said}");
                    exit::status_after_output(ExitStatus::Failure, told)
                }
                Err(CountingEnd::Trouble(trouble)) => Err(trouble.into_stop(CliError::usage)),
            }
        })
    }
}

/// Returns the error of counting that ended without a failure before all words were tested.
fn not_counted(halted: Halted, halt: &Halt) -> CliError {
    let status = limit::halted_status(halt, ExitStatus::Inconclusive);
    CliError::new(status, format!("unknown: {halted} before all words were tested"))
        .help("raise `--time-limit`")
}

/// The walks and the report of state counting; what was counted is empty if a walk failed.
struct WalkedCounting {
    walked: WalkReport,
    report: ReductionReport,
}

/// Walks through the system first, then counts unless the walk failed.
fn walk_and_count<S: Answering>(
    args: &FsmArgs,
    model: &Observable,
    system: &mut S,
    plan: &CountingPlan,
    seed: u64,
) -> Result<WalkedCounting, S::Error> {
    let usual = if model.n_states() < WALKED_STATES {
        0
    } else {
        WALK_SHARE.saturating_mul(model.n_states()).saturating_mul(model.inputs().count())
    };
    let walked = walk_through(model, system, args.walk.unwrap_or(usual), seed)?;
    let report = match &walked.failure {
        Some(failure) => ReductionReport { failures: vec![failure.clone()], ..ReductionReport::default() },
        None => count_reduction(model, system, plan, args.variant)?,
    };
    Ok(WalkedCounting { walked, report })
}

/// Warns before testing if a system that does all that the machine allows takes very many words.
fn warn_of_many_words(args: &FsmArgs, model: &Observable, plan: &CountingPlan, halt: &Halt) {
    let few = CountingPlan { max_words: MANY_WORDS.min(plan.max_words), keeps_bounds: false, ..plan.clone() };
    let mut itself = TimeLimitedSystem { system: Played(model), halt: halt.clone() };
    let counted = count_reduction(model, &mut itself, &few, args.variant);
    if !counted.is_ok_and(|report| report.gave_up) {
        return;
    }
    let distinguish = RDistinguish::new(model);
    let all = distinguish.pairs().count();
    let told = distinguish.pairs().filter(|&(a, b)| distinguish.level(a, b).is_some()).count();
    eprintln!(
        "warning: with `--bound {}` a system that does all that the machine allows takes more than {} words \
         ({told} of {all} pairs of states are distinguished with any answers)",
        plan.bound, few.max_words
    );
    eprintln!("  help: lower `--bound` (at least {}), or try `--variant h`", model.n_states());
}

fn count_reduction<S: Answering>(
    model: &Observable,
    system: &mut S,
    plan: &CountingPlan,
    variant: FsmVariant,
) -> Result<ReductionReport, S::Error> {
    match variant {
        FsmVariant::Refined => state_counting(model, system, plan, CountingVariant::Refined),
        FsmVariant::Original => state_counting(model, system, plan, CountingVariant::Original),
        FsmVariant::Io => state_counting(model, system, plan, CountingVariant::PerResponse),
        FsmVariant::H => on_demand_counting(model, system, plan),
        FsmVariant::Preset => preset_counting(model, system, plan),
    }
}

/// The effort of testing a live system.
struct LiveEffort {
    repetitions: usize,
    seed: u64,
    resets: u64,
    inputs: u64,
}

/// Writes the page and shows the verdict, which neither changes.
fn told_and_kept(
    args: &FsmArgs,
    spec: &NamedMachine,
    names: &MachineNames,
    counted: &WalkedCounting,
    effort: Option<&LiveEffort>,
) -> Result<ExitStatus, CliError> {
    let report = &counted.report;
    let status = match report.verdict() {
        ReductionVerdict::Pass => ExitStatus::Success,
        ReductionVerdict::Fail => ExitStatus::Failure,
        ReductionVerdict::Unknown => ExitStatus::Inconclusive,
    };
    let saved = save(args, &spec.listing, names, counted);
    let told = show_reduction(args, names, counted, effort);
    exit::status_after_output(exit::status_after_save(status, saved)?, told)
}

/// Shows the verdict on a system that may choose, with the traces that failed.
fn show_reduction(
    args: &FsmArgs,
    names: &MachineNames,
    counted: &WalkedCounting,
    effort: Option<&LiveEffort>,
) -> io::Result<()> {
    let WalkedCounting { walked, report } = counted;
    let failures: Vec<String> = report.failures.iter().map(|failure| show_io(names, failure)).collect();
    let mut out = redaction::stdout();
    if args.json {
        let mut result = json!({
            "version": 1, "verdict": verdict_of(report), "failures": failures, "tested": report.tested.len(),
            "iterations": report.iterations, "sequences": report.sequences, "symbols": report.symbols,
        });
        if walked.symbols > 0 {
            result["walk"] = json!({ "walks": walked.walks, "symbols": walked.symbols });
        }
        if args.bounds {
            result["rounds"] = report.rounds.iter().map(|round| rounds_json(names, round)).collect();
        }
        if let Some(LiveEffort { repetitions, seed, resets, inputs }) = effort {
            result["live"] =
                json!({ "repeat": repetitions, "seed": seed, "resets": resets, "inputs": inputs });
        }
        return writeln!(out, "{result}");
    }
    show_bounds(&mut out, names, report)?;
    report_text(args, counted, effort, &failures).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Shows the lower bounds, if they were kept: a line for every answer, by the rounds in which it was seen.
fn show_bounds(out: &mut impl Write, names: &MachineNames, report: &ReductionReport) -> io::Result<()> {
    for (round, number) in report.rounds.iter().zip(1..) {
        writeln!(out, "round {number}, with the fewest states of a system that repeats none:")?;
        let shown: Vec<(String, usize)> =
            round.iter().map(|it| (show_io(names, &it.trace), it.lower_bound)).collect();
        let width = shown.iter().map(|(trace, _)| trace.chars().count()).max().unwrap_or(0);
        shown.iter().try_for_each(|(trace, bound)| writeln!(out, "  {trace:width$}  {bound}"))?;
    }
    Ok(())
}

fn rounds_json(names: &MachineNames, round: &[BoundedResponse]) -> serde_json::Value {
    round.iter().map(|it| json!({ "trace": show_io(names, &it.trace), "states": it.lower_bound })).collect()
}

fn verdict_of(report: &ReductionReport) -> SuiteVerdict {
    match report.verdict() {
        ReductionVerdict::Pass => SuiteVerdict::Pass,
        ReductionVerdict::Fail => SuiteVerdict::Fail,
        ReductionVerdict::Unknown => SuiteVerdict::Unknown,
    }
}

/// Writes the page, if one is wanted.
fn save(
    args: &FsmArgs,
    listing: &MachineListing,
    names: &MachineNames,
    counted: &WalkedCounting,
) -> Result<(), CliError> {
    let Some(path) = &args.html else { return Ok(()) };
    let WalkedCounting { walked, report } = counted;
    let mut view = SuiteView {
        method: "adaptive state counting".into(),
        promise: format!(
            "Is `{}` a reduction, if it has at most {} states?",
            sut(args),
            args.bound.unwrap_or(0)
        ),
        verdict: Some(verdict_of(report)),
        figures: vec![
            ("words tested".into(), report.tested.len() as u64),
            ("answers seen".into(), report.sequences as u64),
            ("symbols".into(), report.symbols as u64),
        ],
        failures: report.failures.iter().map(|failure| show_io(names, failure)).collect(),
        ..SuiteView::default()
    };
    if walked.symbols > 0 {
        view.figures.push(("inputs of the walk before".into(), walked.symbols as u64));
    }
    for word in &report.tested {
        page::add_word(&mut view, || show_word(names, word));
    }
    page::save(path, &args.file, listing, view)
}

/// Returns the name of the system under test.
fn sut(args: &FsmArgs) -> &str {
    args.sut.as_deref().unwrap_or_default()
}

/// The report for people.
fn report_text(
    args: &FsmArgs,
    counted: &WalkedCounting,
    effort: Option<&LiveEffort>,
    failures: &[String],
) -> Vec<String> {
    let WalkedCounting { walked, report } = counted;
    let words = format!(
        "{} words tested, {} answers seen, {} symbols",
        report.tested.len(),
        report.sequences,
        report.symbols
    );
    let tested = match (walked.symbols, &walked.failure) {
        (0, _) => words,
        (inputs, Some(_)) => format!("a walk of {inputs} inputs"),
        (inputs, None) => format!("{words}, after a walk of {inputs} inputs"),
    };
    let bound = args.bound.unwrap_or(0);
    let mut lines = match report.verdict() {
        ReductionVerdict::Pass => {
            vec![format!("pass: a reduction, if it has at most {bound} states ({tested})")]
        }
        ReductionVerdict::Unknown => {
            vec![format!("unknown: no failure seen before the limit of words ({tested}); raise --max-words")]
        }
        ReductionVerdict::Fail => vec![format!("fail: not a reduction ({tested})")],
    };
    lines.extend(failures.iter().map(|failure| format!("  {failure} is not allowed")));
    if let Some(LiveEffort { repetitions, seed, resets, inputs }) = effort {
        lines.push(format!(
            "live: every test {repetitions} times, {resets} resets, {inputs} inputs (seed {seed}); assumes \
             that {repetitions} times show every answer"
        ));
    }
    if args.variant == FsmVariant::Original {
        lines.push("note: the original algorithm may miss failures; `--variant refined` does not".into());
    }
    lines
}

/// Returns the machine as state counting needs it: observable, completed if `--missing` says how, and with `--minimise`
/// minimal.
pub fn observable(
    args: &FsmArgs,
    path: &str,
    machine: &NamedMachine,
    nfsm: Nfsm,
) -> Result<Observable, CliError> {
    let nfsm = match args.missing {
        None => nfsm,
        Some(missing) => nfsm.complete_with(&completion(machine, missing)),
    };
    if args.minimise {
        return Ok(nfsm.determinise().merge_equivalent_states());
    }
    Observable::check(nfsm).map_err(|refusal| refusal_error(path, &refusal))
}
