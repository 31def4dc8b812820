//! `ioxide bench mutants`: deciding mutants symbolically, compared with enumeration.
//!
//! The BRP with growing messages, and a synthetic action system of the size of the industrial
//! model of \[AT15] (69 inputs, 20 outputs); each optimisation switched off in turn; one core and
//! two. Enumeration is stopped after a number of steps: its time is then a lower bound.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use ioxide_args::{BenchArgs, SolverArgs};
use ioxide_cli::commands::kill::workers;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::solver::SolverRequest;
use ioxide_cli::{load, solver};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco, is_enumerable};
use ioxide_testgen::conform::{ConformAnswer, InputCompletion, SearchBounds};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{Mutant, MutantSelection, Sample, select};
use serde_json::{Value as Json, json};

use super::statistics::{mean, median};

/// The specification of the BRP, whose message domain is changed.
const BRP: &str = include_str!("../../../examples/brp/spec.iox");
/// The sizes of the message domain: enumeration grows with it, symbolic execution does not. 0 is unbounded.
const DOMAINS: [u32; 5] = [2, 6, 10, 1000, 0];
/// The number of mutants decided symbolically for each model; chosen by feel.
const SYMBOLIC: usize = 300;
/// The number of mutants decided by enumeration for each model; few, because each may take its whole budget.
const EXPLICIT: usize = 8;
/// The number of steps after which enumeration gives up; chosen by feel.
const STEPS: usize = 3_000_000;
/// The depth at which the search is cut where states are not merged, since it would not end; chosen by feel.
const DEPTH: u32 = 10;
/// The number of repetitions of a short measurement, of which the fastest counts: others only slow it down. Three is
/// chosen by feel.
const REPEATS: usize = 3;

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut models = Vec::new();
    for domain in DOMAINS {
        let name =
            if domain == 0 { "BRP, unbounded messages".into() } else { format!("BRP, {domain} messages") };
        models.push(compare_methods(&name, load_model(&brp(domain))?, &args.solver)?);
    }
    models.push(compare_methods("69 inputs, 20 outputs", load_model(&synthetic())?, &args.solver)?);
    let optimisations = [
        optimisations("BRP, unbounded messages", load_model(BRP)?, &args.solver)?,
        optimisations("69 inputs, 20 outputs", load_model(&synthetic())?, &args.solver)?,
    ];
    let scaling = scaling(&args.solver)?;
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "bench": "mutants", "models": models, "optimisations": optimisations,
            "scaling": scaling,
        });
        writeln!(out, "{result}")?;
    } else {
        show_mutants(&mut out, &models, &optimisations, &scaling)?;
    }
    Ok(ExitStatus::Success)
}

/// Returns the BRP with messages 0 to `domain - 1`.
fn brp(domain: u32) -> String {
    if domain == 0 {
        return BRP.to_owned();
    }
    let types = format!("model Brp {{ type Msg = 0..{} type Bit = 0..1 type Conf = 0..2", domain - 1);
    BRP.replace("model Brp {", &types)
        .replace("IREQ(d1: int, d2: int, d3: int)", "IREQ(d1: Msg, d2: Msg, d3: Msg)")
        .replace("b1: int, b2: int, b3: int, d: int", "b1: Bit, b2: Bit, b3: Bit, d: Msg")
        .replace("OCONF(c: int)", "OCONF(c: Conf)")
}

/// Returns a device with modes: every input is accepted in one mode and leads to an answer, the answer to the next
/// mode.
fn synthetic() -> String {
    let mut text = String::from(
        "model Device {\n    type Level = 0..99\n    var mode: int = 0\n    var level: Level = 0\n",
    );
    for i in 0..69 {
        text.push_str(&format!("    input in{i}(p: Level)\n"));
    }
    for j in 0..20 {
        text.push_str(&format!("    output out{j}(v: Level)\n"));
    }
    text.push_str("    state run {\n");
    for i in 0..69 {
        let (mode, answer, most) = (i % 20, 20 + (i * 7 + 3) % 20, 30 + i);
        text.push_str(&format!(
            "        i{i}: on in{i} when mode == {mode} && p <= {most} {{ mode = {answer}, level = p }} -> run\n"
        ));
    }
    for j in 0..20 {
        let (answer, mode) = (20 + j, (j * 3 + 1) % 20);
        text.push_str(&format!(
            "        o{j}: emit out{j}(v: level) when mode == {answer} {{ mode = {mode} }} -> run\n"
        ));
    }
    text.push_str("    }\n}\n");
    text
}

fn load_model(text: &str) -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add("bench.iox", text);
    let loaded = load::load(&sources, file, &[])?;
    loaded.model.ok_or_else(|| CliError::new(ExitStatus::Internal, "a model of the bench does not compile"))
}

/// Returns a sample of the mutants of `model`, always the same one.
fn sample(model: &mut Model, count: usize) -> Vec<Mutant> {
    let sample = Some(Sample { count, seed: 1 });
    select(model, &MutantSelection { sample, ..MutantSelection::default() }).unwrap_or_default()
}

/// The seconds for each mutant, and the numbers of verdicts.
struct MutantTimes {
    seconds: Vec<f64>,
    precompute: f64,
    killed: usize,
    equivalent: usize,
    unknown: usize,
}

/// Decides the mutants symbolically and measures each.
fn symbolic(
    model: &Model,
    mutants: &[Mutant],
    config: &KillConfig,
    solver_args: &SolverArgs,
) -> Result<MutantTimes, CliError> {
    let mut model = model.clone();
    let mut solver = solver::make(solver_args)?;
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let start = Instant::now();
    let analysis = MutationAnalysis::new(&mut cx, config);
    let precompute = start.elapsed().as_secs_f64();
    let mut timed = MutantTimes { seconds: Vec::new(), precompute, killed: 0, equivalent: 0, unknown: 0 };
    for mutant in mutants {
        let start = Instant::now();
        let verdict = analysis.decide(&mut cx, mutant, &mut |_| ControlFlow::Continue(()));
        timed.seconds.push(start.elapsed().as_secs_f64());
        match verdict.answer {
            ConformAnswer::Fails(_) => timed.killed += 1,
            ConformAnswer::Conforms(_) => timed.equivalent += 1,
            ConformAnswer::Unknown(_) => timed.unknown += 1,
        }
    }
    Ok(timed)
}

impl MutantTimes {
    /// Returns the figures for `--json`.
    fn json(&self) -> Json {
        json!({
            "mutants": self.seconds.len(), "killed": self.killed, "equivalent": self.equivalent,
            "unknown": self.unknown, "precompute_seconds": self.precompute, "mean_ms": 1e3 * mean(&self.seconds),
            "median_ms": 1e3 * median(&self.seconds), "max_ms": 1e3 * self.seconds.iter().copied().fold(0.0, f64::max),
            "per_second": 1.0 / mean(&self.seconds),
        })
    }
}

/// Measures one model both ways: all sampled mutants symbolically, some of them by enumeration too.
fn compare_methods(name: &str, mut model: Model, solver_args: &SolverArgs) -> Result<Json, CliError> {
    let mutants = sample(&mut model, SYMBOLIC);
    let timed = symbolic(&model, &mutants, &KillConfig::default(), solver_args)?;
    let stride = (mutants.len() / EXPLICIT).max(1);
    let budget = EnumerationBudget { states: 1_000_000, steps: STEPS };
    let possible = is_enumerable(&model.pool, &model.sts);
    let (mut explicit, mut beside, mut gave_up) = (Vec::new(), Vec::new(), 0);
    for (at, mutant) in mutants.iter().enumerate().step_by(stride).filter(|_| possible) {
        let imp = mutant.apply(&model.sts);
        let start = Instant::now();
        let found = ioco(&model.pool, &imp, &model.sts, InputCompletion::Angelic, budget);
        explicit.push(start.elapsed().as_secs_f64());
        beside.push(timed.seconds[at]);
        gave_up += usize::from(found == EnumerationResult::GaveUp);
    }
    let ratio = possible.then(|| mean(&explicit) / mean(&beside));
    Ok(json!({
        "model": name, "symbolic": timed.json(),
        "explicit": {
            "mutants": explicit.len(), "gave_up": gave_up, "possible": possible,
            "mean_ms": possible.then(|| 1e3 * mean(&explicit)),
            "median_ms": possible.then(|| 1e3 * median(&explicit)),
        },
        "ratio": ratio, "ratio_is_lower_bound": gave_up > 0,
    }))
}

/// Measures the same mutants with everything, and with each optimisation switched off.
fn optimisations(name: &str, mut model: Model, solver_args: &SolverArgs) -> Result<Json, CliError> {
    let mutants = sample(&mut model, SYMBOLIC);
    let total = |config: &KillConfig| -> Result<f64, CliError> {
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            let timed = symbolic(&model, &mutants, config, solver_args)?;
            best = best.min(timed.precompute + timed.seconds.iter().sum::<f64>());
        }
        Ok(best)
    };
    let bounds = SearchBounds { max_depth: DEPTH, ..SearchBounds::default() };
    let (all, cut) =
        (total(&KillConfig::default())?, total(&KillConfig { bounds, ..KillConfig::default() })?);
    let mut rows = Vec::new();
    for optimisation in Optimisation::ALL {
        let off = BTreeSet::from([optimisation]);
        let bounded = optimisation == Optimisation::EarlyStop;
        let (with, bounds) = if bounded { (cut, bounds) } else { (all, SearchBounds::default()) };
        let without = total(&KillConfig { bounds, off, ..KillConfig::default() })?;
        rows.push(json!({
            "without": optimisation.name(), "seconds": without, "seconds_with": with, "factor": without / with,
            "depth": bounded.then_some(DEPTH),
        }));
    }
    // No optimisation: it changes answers, so it is asked for.
    let restricted = total(&KillConfig { completion: InputCompletion::Restricted, ..KillConfig::default() })?;
    rows.push(json!({
        "without": "full completion (restricted)", "seconds": restricted, "seconds_with": all,
        "factor": restricted / all, "depth": None::<u32>,
    }));
    let off =
        BTreeSet::from(Optimisation::ALL).into_iter().filter(|it| *it != Optimisation::EarlyStop).collect();
    let without = total(&KillConfig { off, ..KillConfig::default() })?;
    rows.push(json!({
        "without": "all but early-stop", "seconds": without, "seconds_with": all, "factor": without / all,
        "depth": None::<u32>,
    }));
    Ok(json!({ "model": name, "mutants": mutants.len(), "rows": rows }))
}

/// Measures all mutants on one core and on two.
fn scaling(solver_args: &SolverArgs) -> Result<Json, CliError> {
    let mut model = load_model(BRP)?;
    let mutants = select(&mut model, &MutantSelection::default()).unwrap_or_default();
    let mutants: Vec<Mutant> = std::iter::repeat_n(mutants, REPEATS).flatten().collect();
    let mut seconds = Vec::new();
    let endless = SolverRequest::endless(solver_args);
    for jobs in [1, 2] {
        let start = Instant::now();
        let known = vec![None; mutants.len()];
        workers::decide_on_all_cores(
            &model,
            &mutants,
            &KillConfig::default(),
            workers::MutantLimits { jobs, time: None },
            &endless,
            known,
            &mut |_, _| Ok(()),
        )?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let rows = [(1, seconds[0]), (2, seconds[1])].map(
        |(jobs, time)| json!({ "jobs": jobs, "seconds": time, "per_second": mutants.len() as f64 / time }),
    );
    Ok(json!({
        "model": "BRP, unbounded messages", "mutants": mutants.len(), "rows": rows,
        "factor": seconds[0] / seconds[1],
    }))
}

/// Shows models, optimisations and growth.
fn show_mutants(
    out: &mut impl Write,
    models: &[Json],
    optimisations: &[Json],
    scaling: &Json,
) -> io::Result<()> {
    let number = |json: &Json| json.as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    writeln!(
        out,
        "{:<26} {:>10} {:>10} {:>10} {:>8} {:>12} {:>8}",
        "model", "median ms", "mean ms", "max ms", "per s", "explicit ms", "ratio"
    )?;
    for model in models {
        let (symbolic, bound) =
            (&model["symbolic"], if model["ratio_is_lower_bound"] == true { ">=" } else { "" });
        writeln!(
            out,
            "{:<26} {:>10} {:>10} {:>10} {:>8.0} {:>12} {bound:>2}{:>6}",
            model["model"].as_str().unwrap_or(""),
            number(&symbolic["median_ms"]),
            number(&symbolic["mean_ms"]),
            number(&symbolic["max_ms"]),
            symbolic["per_second"].as_f64().unwrap_or(0.0),
            number(&model["explicit"]["mean_ms"]),
            number(&model["ratio"]),
        )?;
    }
    for measured in optimisations {
        writeln!(out, "{}, {} mutants:", measured["model"].as_str().unwrap_or(""), measured["mutants"])?;
        for row in measured["rows"].as_array().into_iter().flatten() {
            let cut = row["depth"]
                .as_u64()
                .map_or_else(String::new, |depth| format!(" (both cut at depth {depth})"));
            let (without, seconds) = (row["without"].as_str().unwrap_or(""), number(&row["seconds"]));
            writeln!(
                out,
                "  without {without:<22} {seconds:>8} s, {} times as long{cut}",
                number(&row["factor"])
            )?;
        }
    }
    for row in scaling["rows"].as_array().into_iter().flatten() {
        writeln!(out, "{} workers: {} mutants per second", row["jobs"], number(&row["per_second"]))?;
    }
    Ok(())
}
