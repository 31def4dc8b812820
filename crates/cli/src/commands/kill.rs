//! `ioxide kill`: every mutant decided, and a small suite that kills the killable ones.

pub mod page;
pub mod parts;
pub mod rounds;
mod trees;
pub mod workers;

use std::io::{self, Write};
use std::path::Path;

use ioxide_args::{CompletionArg, DecideArgs, KillArgs, MutantArgs};
use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_report::mutants::source_line;
use ioxide_run::kill_journal::{Journal, JournalError, outcome_word};
use ioxide_run::suite::{SuiteTest, SuiteWriter, TraceTest};
use ioxide_symex::Ctx;
use ioxide_testgen::kill::outcome::{DecidedMutants, KillSuite, MutantCounts, MutantOutcome};
use ioxide_testgen::kill::suite::KillTest;
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::mutate::Mutant;
use serde_json::{Map, Value as Json, json};

use self::page::{MutatedModel, ShownSuite};
use super::conform::{trace_lines, wire};
use super::mutate::select_mutants;
use crate::exit::{self, CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;
use crate::write;
use crate::{limit, load, unit_command};

/// Decides the mutants, makes the suite and shows both.
pub fn run(args: &KillArgs) -> Result<ExitStatus, CliError> {
    if args.part.is_planned() {
        return parts::decide_part(args);
    }
    unit_command::whole(&args.part)?;
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let decided = decide_mutants(&mut model, &args.mutants, &args.decide, &request, args.record.as_deref())?;
    if decided.is_interrupted() {
        let done = decided.outcomes.iter().flatten().count();
        let stop = CliError::new(
            ExitStatus::Interrupted,
            format!("{done} of {} mutants decided", decided.mutants.len()),
        );
        return Err(match &args.record {
            Some(path) => stop.help(format!("the same command continues from `{path}`")),
            None => stop.help("with `--record FILE` it can continue later"),
        });
    }
    show_suite(args, &sources, &mut model, &decided, &request)
}

/// Makes the suite of mutants that are decided, and shows both.
pub fn show_suite(
    args: &KillArgs,
    sources: &Sources,
    model: &mut Model,
    decided: &DecidedMutants,
    request: &SolverRequest<'_>,
) -> Result<ExitStatus, CliError> {
    let suite = suite(model, decided, request)?;
    if let Some(path) = &args.out {
        write_suite(path, model, args, &suite)?;
    }
    let trees = trees::make_trees(model, decided, args, request)?;
    if let Some(path) = &args.html {
        let subject = MutatedModel { model, sources, file: &args.model.file };
        let shown = ShownSuite { name: String::new(), tests: page::tests(model, &suite.tests) };
        page::save(path, &subject, decided, shown, request)?;
    }
    let mut out = io::stdout().lock();
    let told = if args.json {
        let at = |mutant: &Mutant| mutant.edits.first().map(|edit| source_line(sources, model, edit));
        let mut result = result_json(model, decided, &suite, &at, args);
        if let Some(trees) = &trees {
            result["trees"] = trees.to_json(decided);
        }
        writeln!(out, "{result}")
    } else {
        show_decisions(&mut out, model, decided, &suite, args)
            .and_then(|()| trees.iter().try_for_each(|trees| trees.show(&mut out)))
    };
    let unknown = decided.outcomes.iter().flatten().any(MutantOutcome::is_unknown);
    let whole = !unknown && decided.halted.is_none() && suite.halted.is_none();
    let partial = || limit::halted_status(&request.halt, ExitStatus::Inconclusive);
    exit::status_after_output(if whole { ExitStatus::Success } else { partial() }, told)
}

/// Returns the mutants of `model` with their outcomes; those that are in the record already are taken from it.
pub fn decide_mutants(
    model: &mut Model,
    which: &MutantArgs,
    decide: &DecideArgs,
    request: &SolverRequest<'_>,
    record: Option<&str>,
) -> Result<DecidedMutants, CliError> {
    let mutants = limit::run_within(&request.halt, || select_mutants(model, which))?;
    let config = workers::config(decide)?;
    let time = decide.mutant_time.map_or_else(String::new, |time| format!(" {time:?}"));
    let settings = format!("{:?} {:?} {:?}{time}", config.bounds, config.off, config.completion);
    let (mut journal, known) = match record {
        Some(path) => {
            let (journal, known) = open_journal(Path::new(path), model, &mutants, &settings)?;
            (Some(journal), known)
        }
        None => (None, vec![None; mutants.len()]),
    };
    let mut progress = ProgressLine::start();
    let (mut done, before) = (0, known.iter().flatten().count());
    let left = mutants.len() - before;
    let mut told = |at: usize, outcome: &MutantOutcome| {
        done += 1;
        let seconds = progress.elapsed().as_secs_f64().max(0.001);
        progress.tick(|| {
            let rate = done as f64 / seconds;
            let rest = (left - done) as f64 / rate;
            format!(
                "{} of {} mutants decided, {rate:.0} per second, {rest:.0} s left",
                before + done,
                before + left
            )
        });
        Ok(journal.as_mut().map_or(Ok(()), |journal| journal.add_decision(model, &mutants[at], outcome))?)
    };
    let outcomes = workers::decide_on_all_cores(
        model,
        &mutants,
        &config,
        workers::MutantLimits::new(decide),
        request,
        known,
        &mut told,
    )?;
    let is_cut = |outcome: &Option<MutantOutcome>| outcome.as_ref().is_none_or(MutantOutcome::is_unknown);
    let halted = request.halt.halt_reason().filter(|_| outcomes.iter().any(is_cut));
    Ok(DecidedMutants { mutants, outcomes, halted })
}

/// Opens the journal of decisions at `path`.
pub fn open_journal(
    path: &Path,
    model: &Model,
    mutants: &[Mutant],
    settings: &str,
) -> Result<(Journal, Vec<Option<MutantOutcome>>), CliError> {
    Journal::open(path, model, mutants, settings).map_err(|error| {
        let name = path.display();
        match error {
            JournalError::Write(error) => write::write_error(path, &error),
            JournalError::Read(error) => CliError::usage(format!("cannot read `{name}`: {error}")),
            JournalError::Locked => write::lock_error(path),
            JournalError::NotAJournal | JournalError::Foreign => CliError::usage(format!("`{name}` {error}"))
                .help("give the same model and flags, or another file name"),
        }
    })
}

/// Makes a small suite that kills every killed mutant.
pub fn suite(
    model: &mut Model,
    decided: &DecidedMutants,
    request: &SolverRequest<'_>,
) -> Result<KillSuite, CliError> {
    let mut solver = request.make()?;
    let _stage = limit::stage("making a small suite");
    Ok(decided.make_suite(&mut Ctx::new(model, &mut *solver)))
}

/// Returns the tester that runs a suite killing the mutants of `model` by the default operators, and suspects them.
pub fn tester(model: &mut Model, request: &SolverRequest<'_>) -> Result<(KillTester, bool), CliError> {
    let decided = decide_mutants(model, &MutantArgs::default(), &DecideArgs::default(), request, None)?;
    if decided.is_interrupted() {
        return Err(CliError::new(ExitStatus::Interrupted, "interrupted before all mutants were decided"));
    }
    let suite = suite(model, &decided, request)?;
    let suite_halted = suite.halted;
    if let Some(halted) = decided.halted.or(suite_halted) {
        eprintln!("warning: the suite is {}", limit::partial(halted));
    }
    match (suite.tests.is_empty(), decided.halted) {
        (true, Some(halted)) => Err(CliError::new(
            ExitStatus::Inconclusive,
            format!("nothing to run: no mutant was killed before {halted}"),
        )
        .help("raise `--time-limit`")),
        (true, None) => {
            Err(CliError::new(ExitStatus::Nothing, "nothing to run: no mutant of the model can be killed"))
        }
        (false, _) => {
            let is_killed = |at: &usize| matches!(decided.outcomes[*at], Some(MutantOutcome::Killed(_)));
            let killed = (0..decided.mutants.len()).filter(is_killed).map(|at| (at, &decided.mutants[at]));
            let suspects = Suspects::new(&model.sts, killed);
            let killer = KillTester::new(suite.tests);
            // What a suspect would do at which instant is not followed: time leaves too many open.
            let killer = if model.sts.is_timed() { killer } else { killer.suspecting(suspects) };
            Ok((killer, decided.halted.or(suite_halted).is_some()))
        }
    }
}

/// Writes the suite that kills the mutants to a file.
fn write_suite(path: &str, model: &Model, args: &KillArgs, suite: &KillSuite) -> Result<(), CliError> {
    let cannot = |error: io::Error| write::write_error(path, &error);
    let about = json!({ "method": "kill", "model": args.model.file, "operators": args.mutants.ops });
    let about = if let Json::Object(about) = about { about } else { Map::new() };
    let aside = AsideFile::new(Path::new(path), FileReaders::Usual).map_err(cannot)?;
    let mut out = SuiteWriter::new(aside, about).map_err(cannot)?;
    for test in &suite.tests {
        let name = format!("kills {} mutants", test.kills.len());
        // The last label is where the test looks once more: a correct system shows it.
        let test = TraceTest::new(&model.pool, &model.sts, name, &test.shown_trace());
        out.add(&SuiteTest::Trace(test)).map_err(cannot)?;
    }
    out.finish().and_then(AsideFile::keep).map_err(cannot)
}

/// Shows the counts of mutants, the survivors and the suite.
fn show_decisions(
    out: &mut impl Write,
    model: &Model,
    decided: &DecidedMutants,
    suite: &KillSuite,
    args: &KillArgs,
) -> io::Result<()> {
    for (mutant, outcome) in decided.mutants.iter().zip(decided.outcomes.iter().flatten()) {
        let text = match outcome {
            MutantOutcome::Killed(trace) if args.all => {
                format!("killed by {}", trace_lines(model, trace).join(" "))
            }
            MutantOutcome::Equivalent(reason) if args.all => format!("equivalent: {reason}"),
            outcome if outcome.is_unknown() => {
                format!("unknown: {}", outcome.reason().unwrap_or_default())
            }
            _ => continue,
        };
        writeln!(out, "{}    {text}", mutant.show_diff(model))?;
    }
    by_operator(out, decided)?;
    let times = suite.count_kills(decided.mutants.len());
    for (at, test) in suite.tests.iter().enumerate() {
        let only = test.kills.iter().filter(|&&mutant| times[mutant] == 1).count();
        writeln!(
            out,
            "test {}: {} steps, kills {} mutants, {only} of them only by this test",
            at + 1,
            test.n_ios(),
            test.kills.len()
        )?;
        writeln!(out, "    {}", trace_lines(model, &test.trace).join(" "))?;
    }
    let ios: usize = suite.tests.iter().map(KillTest::n_ios).sum();
    writeln!(out, "suite: {} tests, {ios} inputs and outputs", suite.tests.len())?;
    if args.decide.completion == CompletionArg::Restricted {
        writeln!(out, "under restricted completion: an input is ignored only where the model would take it")?;
    }
    match decided.halted.or(suite.halted) {
        Some(halted) => writeln!(out, "{}", limit::partial(halted)),
        None => Ok(()),
    }
}

/// Writes the numbers of killed, equivalent and unknown mutants of each operator, and of all.
fn by_operator(out: &mut impl Write, decided: &DecidedMutants) -> io::Result<()> {
    let (rows, all) = decided.count_by_operator();
    writeln!(
        out,
        "{:<28} {:>8} {:>8} {:>11} {:>8}",
        "operator", "mutants", "killed", "equivalent", "unknown"
    )?;
    for (name, counts) in rows.into_iter().chain([("all".to_owned(), all)]) {
        let MutantCounts { killed, equivalent, unknown } = counts;
        writeln!(out, "{name:<28} {:>8} {killed:>8} {equivalent:>11} {unknown:>8}", counts.total())?;
    }
    Ok(())
}

fn result_json(
    model: &Model,
    decided: &DecidedMutants,
    suite: &KillSuite,
    line: &dyn Fn(&Mutant) -> Option<usize>,
    args: &KillArgs,
) -> Json {
    let times = suite.count_kills(decided.mutants.len());
    let result = |(at, (mutant, outcome)): (usize, (&Mutant, &Option<MutantOutcome>))| {
        let word = outcome.as_ref().map_or("open", outcome_word);
        let reason = outcome.as_ref().and_then(MutantOutcome::reason);
        let trace = outcome.as_ref().and_then(MutantOutcome::trace).map(|trace| trace_lines(model, trace));
        let operators: Vec<&str> = mutant.edits.iter().map(|edit| edit.operator.name()).collect();
        json!({
            "id": mutant.id, "operators": operators, "line": line(mutant), "outcome": word,
            "reason": reason, "witness": trace, "killed_by": times[at],
        })
    };
    let results: Vec<Json> = decided.mutants.iter().zip(&decided.outcomes).enumerate().map(result).collect();
    let count = |word: &str| results.iter().filter(|it| it["outcome"] == word).count();
    let test = |test: &KillTest| {
        let kills: Vec<&str> = test.kills.iter().map(|&at| decided.mutants[at].id.as_str()).collect();
        json!({ "trace": wire(&model.pool, &model.sts, &test.trace), "ios": test.n_ios(), "kills": kills })
    };
    json!({
        "version": 1,
        "mutants": results.len(),
        "killed": count("killed"),
        "equivalent": count("equivalent"),
        "unknown": count("unknown"),
        "completion": args.decide.completion.word(),
        "partial": decided.halted.or(suite.halted).map(|halted| halted.to_string()),
        "suite": { "tests": suite.tests.len(), "ios": suite.tests.iter().map(KillTest::n_ios).sum::<usize>() },
        "tests": suite.tests.iter().map(test).collect::<Vec<_>>(),
        "results": results,
    })
}
