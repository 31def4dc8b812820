//! `ioxide kill`: every mutant decided, and a small suite that kills the killable ones.

mod journal;
pub mod page;
pub mod workers;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_runner::suite::{SuiteTest, SuiteWriter, TraceTest};
use ioxide_symex::Ctx;
use ioxide_testgen::kill::lab::{Lab, Specimen};
use ioxide_testgen::kill::suite::Test;
use ioxide_testgen::kill::tester::Killer;
use ioxide_testgen::mutate::Mutant;
use serde_json::{Map, Value as Json, json};

use self::journal::Journal;
use self::page::Subject;
use self::workers::Outcome;
use super::conform::{shown, wire};
use super::mutate::{diff, line, selected};
use crate::args::{DecideArgs, Kill, MutantArgs, SolverArgs};
use crate::exit::{ExitStatus, Stop};
use crate::progress::Progress;
use crate::{load, solver};

/// The mutants of a model and what became of them.
pub struct Decided {
    /// The mutants.
    pub mutants: Vec<Mutant>,
    /// One outcome each; none where the analysis was interrupted.
    pub outcomes: Vec<Option<Outcome>>,
}

/// Decides the mutants, makes the suite and shows both.
pub fn run(args: &Kill) -> Result<ExitStatus, Stop> {
    let (sources, mut model) = load::model(&args.model.file, &args.model.set)?;
    workers::catch_interrupts();
    let decided = decided(&mut model, &args.mutants, &args.decide, &args.solver, args.record.as_deref())?;
    if decided.outcomes.contains(&None) {
        let done = decided.outcomes.iter().flatten().count();
        let stop = Stop::new(
            ExitStatus::Interrupted,
            format!("{done} of {} mutants decided", decided.mutants.len()),
        );
        return Err(match &args.record {
            Some(path) => stop.help(format!("the same command goes on from `{path}`")),
            None => stop.help("with `--record FILE` it can go on later"),
        });
    }
    let suite = suite(&mut model, &decided, &args.solver)?;
    if let Some(path) = &args.out {
        write(path, &model, args, &suite)?;
    }
    if let Some(path) = &args.html {
        let subject = Subject { model: &model, sources: &sources, file: &args.model.file };
        page::save(path, &subject, &decided, "", page::tests(&model, &suite), &args.solver)?;
    }
    let mut out = io::stdout().lock();
    match args.json {
        true => {
            let at = |mutant: &Mutant| mutant.edits.first().map(|edit| line(&sources, &model, edit));
            writeln!(out, "{}", result_json(&model, &decided, &suite, &at))?;
        }
        false => show(&mut out, &model, &decided, &suite, args)?,
    }
    let unknown = decided.outcomes.iter().flatten().any(|outcome| matches!(outcome, Outcome::Unknown(_)));
    Ok(if unknown { ExitStatus::Inconclusive } else { ExitStatus::Success })
}

/// The mutants of `model`, decided; what is in the record already is taken from it.
pub fn decided(
    model: &mut Model,
    wanted: &MutantArgs,
    decide: &DecideArgs,
    solver: &SolverArgs,
    record: Option<&str>,
) -> Result<Decided, Stop> {
    let mutants = selected(model, wanted)?;
    let config = workers::config(decide)?;
    let settings = format!("{:?} {:?}", config.bounds, config.off);
    let (mut journal, known) = match record {
        Some(path) => {
            let (journal, known) = Journal::open(path, model, &mutants, &settings)?;
            (Some(journal), known)
        }
        None => (None, vec![None; mutants.len()]),
    };
    let mut progress = Progress::new();
    let (mut done, before) = (0, known.iter().flatten().count());
    let left = mutants.len() - before;
    let mut told = |at: usize, outcome: &Outcome| {
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
        journal.as_mut().map_or(Ok(()), |journal| journal.add(model, &mutants[at], outcome))
    };
    let outcomes =
        workers::decide(model, &mutants, &config, workers::jobs(decide), solver, known, &mut told)?;
    Ok(Decided { mutants, outcomes })
}

/// A small suite that kills every killed mutant.
pub fn suite(model: &mut Model, decided: &Decided, wanted: &SolverArgs) -> Result<Vec<Test>, Stop> {
    let spec = model.sts.clone();
    let systems: Vec<Sts> = decided.mutants.iter().map(|mutant| mutant.apply(&spec)).collect();
    let specimens = specimens(&decided.mutants, &systems);
    let witnesses: Vec<Option<&Trace>> =
        decided.outcomes.iter().map(|outcome| outcome.as_ref().and_then(Outcome::trace)).collect();
    let mut solver = solver::make(wanted)?;
    let mut cx = Ctx::new(model, &mut *solver);
    Ok(Lab::new(&mut cx, &spec, &specimens).suite(&mut cx, &witnesses))
}

/// The tester that runs a suite killing the mutants of `model` by the default operators.
pub fn tester(model: &mut Model, wanted: &SolverArgs) -> Result<Killer, Stop> {
    let decided = decided(model, &MutantArgs::default(), &DecideArgs::default(), wanted, None)?;
    let suite = suite(model, &decided, wanted)?;
    match suite.is_empty() {
        true => Err(Stop::new(ExitStatus::Nothing, "nothing to run: no mutant of the model can be killed")),
        false => Ok(Killer::new(suite.into_iter().map(|test| test.trace))),
    }
}

/// The mutants with their systems.
pub fn specimens<'m>(mutants: &'m [Mutant], systems: &'m [Sts]) -> Vec<Specimen<'m>> {
    mutants.iter().zip(systems).map(|(mutant, system)| Specimen { mutant, system }).collect()
}

fn write(path: &str, model: &Model, args: &Kill, suite: &[Test]) -> Result<(), Stop> {
    let cannot = |error: io::Error| Stop::usage(format!("cannot write `{path}`: {error}"));
    let about = json!({ "method": "kill", "model": args.model.file, "operators": args.mutants.ops });
    let about = if let Json::Object(about) = about { about } else { Map::new() };
    let file = BufWriter::new(File::create(path).map_err(cannot)?);
    let mut out = SuiteWriter::new(file, about).map_err(cannot)?;
    for test in suite {
        let name = format!("kills {} mutants", test.kills.len());
        // The last label is where the test looks once more: a correct system shows it.
        let test = TraceTest::new(&model.pool, &model.sts, name, &test.shown());
        out.add(&SuiteTest::Trace(test)).map_err(cannot)?;
    }
    out.finish().map_err(cannot)
}

/// How often each mutant is killed.
fn times_killed(decided: &Decided, suite: &[Test]) -> Vec<usize> {
    let mut times = vec![0; decided.mutants.len()];
    suite.iter().flat_map(|test| &test.kills).for_each(|&at| times[at] += 1);
    times
}

fn show(
    out: &mut impl Write,
    model: &Model,
    decided: &Decided,
    suite: &[Test],
    args: &Kill,
) -> io::Result<()> {
    for (mutant, outcome) in decided.mutants.iter().zip(decided.outcomes.iter().flatten()) {
        let text = match outcome {
            Outcome::Killed(trace) if args.all => format!("killed by {}", shown(model, trace).join(" ")),
            Outcome::Equivalent(reason) if args.all => format!("equivalent: {reason}"),
            Outcome::Unknown(reason) => format!("unknown: {reason}"),
            Outcome::Killed(_) | Outcome::Equivalent(_) => continue,
        };
        writeln!(out, "{}    {text}", diff(model, mutant))?;
    }
    by_operator(out, decided)?;
    let times = times_killed(decided, suite);
    for (at, test) in suite.iter().enumerate() {
        let only = test.kills.iter().filter(|&&mutant| times[mutant] == 1).count();
        writeln!(
            out,
            "test {}: {} steps, kills {} mutants, {only} of them alone",
            at + 1,
            test.n_ios(),
            test.kills.len()
        )?;
        writeln!(out, "    {}", shown(model, &test.trace).join(" "))?;
    }
    let ios: usize = suite.iter().map(Test::n_ios).sum();
    writeln!(out, "suite: {} tests, {ios} inputs and outputs", suite.len())
}

/// Killed, equivalent and unknown mutants of each operator, and of all.
fn by_operator(out: &mut impl Write, decided: &Decided) -> io::Result<()> {
    let mut rows: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut all = [0; 3];
    for (mutant, outcome) in decided.mutants.iter().zip(decided.outcomes.iter().flatten()) {
        let column = match outcome {
            Outcome::Killed(_) => 0,
            Outcome::Equivalent(_) => 1,
            Outcome::Unknown(_) => 2,
        };
        let names: Vec<&str> = mutant.edits.iter().map(|edit| edit.operator.name()).collect();
        rows.entry(names.join("+")).or_default()[column] += 1;
        all[column] += 1;
    }
    writeln!(
        out,
        "{:<28} {:>8} {:>8} {:>11} {:>8}",
        "operator", "mutants", "killed", "equivalent", "unknown"
    )?;
    let mut row = |name: &str, counts: [usize; 3]| {
        let [killed, equivalent, unknown] = counts;
        let sum = killed + equivalent + unknown;
        writeln!(out, "{name:<28} {sum:>8} {killed:>8} {equivalent:>11} {unknown:>8}")
    };
    for (name, counts) in rows {
        row(&name, counts)?;
    }
    row("all", all)
}

fn result_json(
    model: &Model,
    decided: &Decided,
    suite: &[Test],
    line: &dyn Fn(&Mutant) -> Option<usize>,
) -> Json {
    let times = times_killed(decided, suite);
    let result = |(at, (mutant, outcome)): (usize, (&Mutant, &Option<Outcome>))| {
        let (word, reason, trace) = match outcome {
            Some(Outcome::Killed(trace)) => ("killed", None, Some(shown(model, trace))),
            Some(Outcome::Equivalent(reason)) => ("equivalent", Some(reason), None),
            Some(Outcome::Unknown(reason)) => ("unknown", Some(reason), None),
            None => ("open", None, None),
        };
        let operators: Vec<&str> = mutant.edits.iter().map(|edit| edit.operator.name()).collect();
        json!({
            "id": mutant.id, "operators": operators, "line": line(mutant), "outcome": word,
            "reason": reason, "witness": trace, "killed_by": times[at],
        })
    };
    let results: Vec<Json> = decided.mutants.iter().zip(&decided.outcomes).enumerate().map(result).collect();
    let count = |word: &str| results.iter().filter(|it| it["outcome"] == word).count();
    let test = |test: &Test| {
        let kills: Vec<&str> = test.kills.iter().map(|&at| decided.mutants[at].id.as_str()).collect();
        json!({ "trace": wire(&model.pool, &model.sts, &test.trace), "ios": test.n_ios(), "kills": kills })
    };
    json!({
        "version": 1,
        "mutants": results.len(),
        "killed": count("killed"),
        "equivalent": count("equivalent"),
        "unknown": count("unknown"),
        "suite": { "tests": suite.len(), "ios": suite.iter().map(Test::n_ios).sum::<usize>() },
        "tests": suite.iter().map(test).collect::<Vec<_>>(),
        "results": results,
    })
}
