//! `ioxide bench counter`: the effect of every optimisation of \[AT15] sec. 4 on a nondeterministic model of industrial
//! size.
//!
//! The model is `examples/particle-counter`: 69 inputs, 31 outputs, nested choices, internal actions. The same mutants
//! are decided with everything, with each optimisation switched off, and with the completion of inputs that sec. 4.3
//! restricts, one after the other in one run. No mutant gets more than a few seconds; those undecided then are counted,
//! with the depth the search has reached.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_args::{BenchArgs, SolverArgs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::{load, solver};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{ConformAnswer, InputCompletion};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{Mutant, MutantSelection, Sample, select};
use serde_json::{Value as Json, json};

use super::statistics::{mean, median};

/// The particle counter of the examples, embedded so that the measurement runs anywhere.
const COUNTER: &str = include_str!("../../../examples/particle-counter/particle-counter.as");
/// The number of mutants decided unless `--runs` gives another; chosen by feel.
const MUTANTS: u64 = 100;
/// The time limit for one mutant; chosen by feel.
const MUTANT_TIME_LIMIT: Duration = Duration::from_secs(5);

/// Returns the configurations to compare, with their names.
fn ways() -> Vec<(String, KillConfig)> {
    let paper = KillConfig { completion: InputCompletion::Restricted, ..KillConfig::default() };
    let without = |off: &[Optimisation]| KillConfig { off: off.iter().copied().collect(), ..paper.clone() };
    let mut ways = vec![("everything".to_owned(), paper.clone())];
    for optimisation in Optimisation::ALL {
        ways.push((format!("without {}", optimisation.name()), without(&[optimisation])));
    }
    ways.push(("without restricted completion".into(), KillConfig::default()));
    ways.push(("without any".into(), without(&Optimisation::ALL)));
    ways
}

/// The verdicts on the mutants, and the times they took.
#[derive(Default)]
struct CounterRow {
    precompute: f64,
    graph: Option<usize>,
    seconds: Vec<f64>,
    killed: usize,
    equivalent: usize,
    unknown: usize,
    /// The length of the longest killing trace, and the depth of the deepest search.
    longest: usize,
    deepest: u32,
}

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut model = load_counter()?;
    let n_mutants = select(&mut model, &MutantSelection::default()).unwrap_or_default().len();
    let count = usize::try_from(args.runs.unwrap_or(MUTANTS)).unwrap_or(usize::MAX);
    let sample = Some(Sample { count, seed: args.seed.unwrap_or(1) });
    let mutants =
        select(&mut model, &MutantSelection { sample, ..MutantSelection::default() }).unwrap_or_default();
    let mut rows = Vec::new();
    for (name, config) in ways() {
        rows.push((name.clone(), decide_mutants(&name, &model, &mutants, &config, &args.solver)?));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Json> = rows.iter().map(|(name, row)| row.json(name)).collect();
        let result = json!({
            "version": 1, "bench": "counter", "all_mutants": n_mutants, "mutants": mutants.len(),
            "patience_seconds": MUTANT_TIME_LIMIT.as_secs(), "rows": rows,
        });
        writeln!(out, "{result}")?;
    } else {
        writeln!(out, "{} of {n_mutants} mutants", mutants.len())?;
        show_counters(&mut out, &rows)?;
    }
    Ok(ExitStatus::Success)
}

fn load_counter() -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add("particle-counter.as", COUNTER);
    let loaded = load::load(&sources, file, &[])?;
    loaded.model.ok_or_else(|| CliError::new(ExitStatus::Internal, "a model of the bench does not compile"))
}

fn decide_mutants(
    name: &str,
    model: &Model,
    mutants: &[Mutant],
    config: &KillConfig,
    solver_args: &SolverArgs,
) -> Result<CounterRow, CliError> {
    let mut model = model.clone();
    let mut solver = solver::make(solver_args)?;
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let mut progress = ProgressLine::start();
    let start = Instant::now();
    let analysis = MutationAnalysis::new(&mut cx, config);
    let precompute = start.elapsed().as_secs_f64();
    let mut row = CounterRow { precompute, graph: analysis.graph_size(), ..CounterRow::default() };
    for (at, mutant) in mutants.iter().enumerate() {
        progress.tick(|| format!("{name}: {at} of {} mutants", mutants.len()));
        let start = Instant::now();
        let verdict = analysis.decide(&mut cx, mutant, &mut |_| {
            if start.elapsed() < MUTANT_TIME_LIMIT {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        row.seconds.push(start.elapsed().as_secs_f64());
        row.deepest = row.deepest.max(verdict.effort.depth);
        match verdict.answer {
            ConformAnswer::Fails(witness) => {
                row.killed += 1;
                row.longest = row.longest.max(witness.trace.len());
            }
            ConformAnswer::Conforms(_) => row.equivalent += 1,
            ConformAnswer::Unknown(_) => row.unknown += 1,
        }
    }
    Ok(row)
}

impl CounterRow {
    /// Returns the longest time of a mutant.
    fn max(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the row for `--json`.
    fn json(&self, name: &str) -> Json {
        json!({
            "name": name, "precompute_seconds": self.precompute, "graph_states": self.graph,
            "killed": self.killed, "equivalent": self.equivalent, "unknown": self.unknown,
            "mean_ms": 1e3 * mean(&self.seconds), "median_ms": 1e3 * median(&self.seconds), "max_ms": 1e3 * self.max(),
            "longest_trace": self.longest, "depth": self.deepest,
        })
    }
}

/// Shows a line for each row.
fn show_counters(out: &mut impl Write, rows: &[(String, CounterRow)]) -> io::Result<()> {
    writeln!(
        out,
        "{:<30} {:>7} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10} {:>7} {:>6}",
        "",
        "killed",
        "equivalent",
        "unknown",
        "first s",
        "mean ms",
        "median ms",
        "max ms",
        "longest",
        "depth"
    )?;
    for (name, row) in rows {
        writeln!(
            out,
            "{name:<30} {:>7} {:>10} {:>8} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {:>7} {:>6}",
            row.killed,
            row.equivalent,
            row.unknown,
            row.precompute,
            1e3 * mean(&row.seconds),
            1e3 * median(&row.seconds),
            1e3 * row.max(),
            row.longest,
            row.deepest,
        )?;
    }
    Ok(())
}
