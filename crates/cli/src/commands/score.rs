//! `ioxide score`: how many mutants a suite or a tester kills, and which it misses.

pub mod parts;
mod play;
pub mod rounds;

use std::fs::File;
use std::io::{self, BufReader, Write};

use ioxide_args::ScoreArgs;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::trace::Trace;
use ioxide_record::value::{WireMessage, label_from_json};
use ioxide_report::html::mutation::TestRow;
use ioxide_run::suite::{SuiteReader, SuiteTest};
use ioxide_symex::Ctx;
use ioxide_testgen::kill::outcome::{DecidedMutants, MutantOutcome};
use ioxide_testgen::kill::score::{KillTable, SuiteCase};
use ioxide_testgen::kill::standing::is_reached;
use ioxide_testgen::purpose::Criterion;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use serde_json::{Map, Value as Json, json};

use self::play::MutantStage;
use super::conform::trace_lines;
use super::kill::decide_mutants;
use super::kill::page::{self, MutatedModel, ShownSuite};
use crate::exit::{self, CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::purpose_search;
use crate::solver::SolverRequest;
use crate::{limit, load, unit_command};

/// Symbolic states looked at for purposes. Chosen by feel: it bounds the time.
const MAX_PURPOSE_STATES: usize = 20_000;

/// Computes the score, and shows it with the mutants that survive.
pub fn run(args: &ScoreArgs) -> Result<ExitStatus, CliError> {
    if args.part.is_planned() {
        return parts::score_part(args);
    }
    unit_command::whole(&args.part)?;
    let (sources, mut model) = load::load_model(&args.file, &args.set)?;
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let decided = decide_mutants(&mut model, &args.mutants, &args.decide, &request, args.record.as_deref())?;
    if decided.is_interrupted() {
        return Err(CliError::new(ExitStatus::Interrupted, "interrupted before all mutants were decided"));
    }
    let killable = killable(&decided)?;
    let kills = killed_by_tests(args, &request, &mut model, &decided, &killable)?;
    let subject = MutatedModel { model: &model, sources: &sources, file: &args.file };
    show_score(args, &subject, &decided, &kills, &request)
}

/// Returns the mutants that a trace distinguishes from the model; if there are none, that is an error.
fn killable(decided: &DecidedMutants) -> Result<Vec<usize>, CliError> {
    let killable: Vec<usize> =
        (0..decided.mutants.len()).filter(|&at| trace(decided, at).is_some()).collect();
    if let (true, Some(halted)) = (killable.is_empty(), decided.halted) {
        let stop = CliError::new(ExitStatus::Inconclusive, format!("no mutant was killed before {halted}"));
        return Err(stop.help("raise `--time-limit`"));
    }
    if killable.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, "no mutant can be killed"));
    }
    Ok(killable)
}

/// Returns the mutants of `killable` that each test, or the tester, kills.
fn killed_by_tests(
    args: &ScoreArgs,
    request: &SolverRequest<'_>,
    model: &mut Model,
    decided: &DecidedMutants,
    killable: &[usize],
) -> Result<KillTable, CliError> {
    match args.suite.as_str() {
        "random" | "cover" => by_tester(args, request, model, decided, killable),
        word => match play::case_goal(word) {
            Some(goal) => MutantStage { args, request, spec: model, decided }.by_cases(killable, goal),
            None => by_suite(request, word, model, decided, killable),
        },
    }
}

/// Shows the score.
fn show_score(
    args: &ScoreArgs,
    mutated: &MutatedModel<'_>,
    decided: &DecidedMutants,
    kills: &KillTable,
    request: &SolverRequest<'_>,
) -> Result<ExitStatus, CliError> {
    let (model, killable) = (mutated.model, killable(decided)?);
    if let Some(path) = &args.html {
        let name = match args.suite.as_str() {
            tester @ ("random" | "cover") => format!("the {tester} tester"),
            file => file.to_owned(),
        };
        page::save(path, mutated, decided, ShownSuite { name, tests: test_rows(kills) }, request)?;
    }
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", score_json(model, decided, &killable, kills, args))
    } else {
        show_scores(&mut out, model, decided, &killable, kills)
    };
    let times = kills.count_kills(decided.mutants.len());
    let killed = killable.iter().filter(|&&at| times[at] > 0).count();
    let is_enough = args.until.is_none_or(|until| is_reached(until, killed, killable.len()));
    if !is_enough {
        eprintln!("goal not reached: the score is below {} %", args.until.unwrap_or_default());
    }
    let whole = decided.halted.is_none() && kills.halted.is_none() && is_enough;
    let partial = || limit::halted_status(&request.halt, ExitStatus::Inconclusive);
    exit::status_after_output(if whole { ExitStatus::Success } else { partial() }, told)
}

/// Returns the tests as the page shows them.
fn test_rows(kills: &KillTable) -> Vec<TestRow> {
    let row = |kills: &Vec<usize>| TestRow { kills: kills.clone(), ..TestRow::default() };
    kills.tests.iter().map(row).collect()
}

/// Returns the trace that shows mutant `at`, if one is known.
fn trace(decided: &DecidedMutants, at: usize) -> Option<&Trace> {
    decided.outcomes[at].as_ref().and_then(MutantOutcome::trace)
}

/// Runs the tests of the file on every killable mutant.
fn by_suite(
    request: &SolverRequest<'_>,
    path: &str,
    model: &mut Model,
    decided: &DecidedMutants,
    killable: &[usize],
) -> Result<KillTable, CliError> {
    if model.sts.vars.iter().any(|var| var.init.is_none()) {
        return Err(CliError::new(
            ExitStatus::Inconclusive,
            "not known: the model has unknown initial values, and the score depends on them",
        )
        .help("simulate the mutants: score `random`, `cover` or `cases`"));
    }
    let tests = read_tests(path, model)?;
    let spec = model.sts.clone();
    let mut solver = request.make()?;
    let mut cx = Ctx::new(model, &mut *solver);
    let mut progress = ProgressLine::start();
    let mut show_progress = |at: usize| progress.tick(|| format!("test {} of {}", at + 1, tests.len()));
    Ok(KillTable::from_suite(&mut cx, &spec, decided, &tests, killable, &mut show_progress))
}

fn read_tests(path: &str, model: &Model) -> Result<Vec<SuiteCase>, CliError> {
    let wrong = |error: String| {
        CliError::usage(format!("`{path}`: {error}"))
            .help("give a suite file of this model, `random` or `cover`")
    };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let reader = SuiteReader::new(BufReader::new(file)).map_err(|error| wrong(error.to_string()))?;
    let mut tests = Vec::new();
    for (number, test) in reader.enumerate() {
        let test = test.map_err(|error| error.to_string()).and_then(|test| parse_test(model, &test));
        tests.push(test.map_err(|error| wrong(format!("test {}: {error}", number + 1)))?);
    }
    if tests.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, format!("nothing to run: `{path}` has no tests")))
    } else {
        Ok(tests)
    }
}

fn parse_test(model: &Model, test: &SuiteTest) -> Result<SuiteCase, String> {
    match test {
        SuiteTest::Word(names) => {
            let message = |name: &String| WireMessage { label: name.clone(), args: Map::new() };
            let label = |name| label_from_json(model, &message(name), |kind| kind == GateKind::Input);
            let inputs: Result<Vec<Label>, _> = names.iter().map(label).collect();
            inputs.map(SuiteCase::Inputs).map_err(|error| error.to_string())
        }
        SuiteTest::Trace(test) => {
            let mut trace = test.trace(model).map_err(|error| error.to_string())?;
            if trace.labels.iter().all(|label| matches!(label, Label::Input(..))) {
                return Ok(SuiteCase::Inputs(trace.labels));
            }
            // The last observation is the last look, whatever it shows.
            if matches!(trace.labels.last(), Some(Label::Output(..) | Label::Quiescence)) {
                trace.labels.pop();
            }
            Ok(SuiteCase::Trace(trace))
        }
    }
}

/// Plays every killable mutant as the system under test.
fn by_tester(
    args: &ScoreArgs,
    request: &SolverRequest<'_>,
    model: &Model,
    decided: &DecidedMutants,
    killable: &[usize],
) -> Result<KillTable, CliError> {
    let mut spec = model.clone();
    let purposes = match args.suite.as_str() {
        "cover" => {
            Some(purpose_search::find_purposes(&mut spec, Criterion::default(), request, MAX_PURPOSE_STATES)?)
        }
        _ => None,
    };
    let mut progress = ProgressLine::start();
    let (mut killed, mut after, mut halted) = (Vec::new(), Vec::new(), None);
    for (done, &at) in killable.iter().enumerate() {
        progress.tick(|| format!("simulating mutants: {done} of {}", killable.len()));
        halted = request.halt.halt_reason();
        if halted.is_some() {
            break;
        }
        let seed = args.mutants.seed;
        let (mut tester, runs): (Box<dyn Tester + Send>, u64) = match &purposes {
            Some(set) => {
                let rounds = usize::try_from(args.runs).unwrap_or(usize::MAX);
                let cover = CoverTester::new(set, CoverRounds::Bounded(rounds), PurposeOrder::default());
                let runs = cover.max_runs(rounds) as u64;
                (Box::new(cover), runs)
            }
            None => {
                let config = RandomConfig { steps: args.steps as usize, ..RandomConfig::default() };
                (Box::new(RandomTester::new(config, seed)), args.runs)
            }
        };
        let stage = MutantStage { args, request, spec: &spec, decided };
        if let Some(messages) = stage.messages_until_found(at, &mut *tester, runs)? {
            killed.push(at);
            after.push((at, messages));
        }
    }
    Ok(KillTable { tests: vec![killed], ios: None, after, halted })
}

/// Shows the score and the mutants that survive.
fn show_scores(
    out: &mut impl Write,
    model: &Model,
    decided: &DecidedMutants,
    killable: &[usize],
    kills: &KillTable,
) -> io::Result<()> {
    let times = kills.count_kills(decided.mutants.len());
    for &at in killable.iter().filter(|&&at| times[at] == 0) {
        let missed = trace(decided, at).map(|trace| trace_lines(model, trace).join(" ")).unwrap_or_default();
        writeln!(out, "survivor {}    missed: {missed}", decided.mutants[at].show_diff(model))?;
    }
    let killed = killable.iter().filter(|&&at| times[at] > 0).count();
    let share = 100.0 * killed as f64 / killable.len() as f64;
    writeln!(out, "score: {share:.1} % ({killed} of {} killable mutants)", killable.len())?;
    if let (None, after @ [_, ..]) = (kills.ios, &kills.messages_until_found()[..]) {
        let within = |share: usize| after[(after.len() * share).div_ceil(10) - 1];
        writeln!(
            out,
            "messages until a mutant was found (median, 90 %, max): {}, {}, {}",
            within(5),
            within(9),
            within(10)
        )?;
    }
    if let Some(halted) = decided.halted.or(kills.halted) {
        writeln!(out, "{}", limit::partial(halted))?;
    }
    if let Some(ios) = kills.ios {
        let alone = |test: &&Vec<usize>| test.iter().any(|&at| times[at] == 1);
        let needed = kills.tests.iter().filter(alone).count();
        writeln!(
            out,
            "{} tests, {ios} inputs and outputs; {needed} tests kill a mutant no other does",
            kills.tests.len()
        )?;
    }
    Ok(())
}

fn score_json(
    model: &Model,
    decided: &DecidedMutants,
    killable: &[usize],
    kills: &KillTable,
    args: &ScoreArgs,
) -> Json {
    let times = kills.count_kills(decided.mutants.len());
    let killed = killable.iter().filter(|&&at| times[at] > 0).count();
    let survivor = |&&at: &&usize| {
        let missed = trace(decided, at).map(|trace| trace_lines(model, trace));
        json!({ "id": decided.mutants[at].id, "missed": missed })
    };
    let survivors: Vec<Json> =
        killable.iter().filter(|&&at| times[at] == 0).collect::<Vec<_>>().iter().map(survivor).collect();
    let test = |test: &Vec<usize>| {
        let alone = test.iter().filter(|&&at| times[at] == 1).count();
        let ids: Vec<&str> = test.iter().map(|&at| decided.mutants[at].id.as_str()).collect();
        json!({ "kills": ids, "alone": alone })
    };
    json!({
        "version": 1,
        "mutants": decided.mutants.len(),
        "killable": killable.len(),
        "killed": killed,
        "completion": args.decide.completion.word(),
        "partial": decided.halted.or(kills.halted).map(|halted| halted.to_string()),
        "score": killed as f64 / killable.len() as f64,
        "ios": kills.ios,
        "found_after": kills.messages_until_found(),
        "tests": kills.tests.iter().map(test).collect::<Vec<_>>(),
        "survivors": survivors,
    })
}
