//! `ioxide bench counter`: the effect of every optimisation of \[AT15] sec. 4 on two models of industrial size.
//!
//! The models are `examples/particle-counter`: one with 69 inputs, 31 outputs, nested choices and internal actions, and
//! a deterministic one with the 69 inputs and 20 outputs of the paper. The same mutants are decided as `ioxide kill`
//! does, with each optimisation switched off, and with the completion of inputs that sec. 4.3 restricts, one after the
//! other in one run. No mutant gets more than a few seconds; those undecided then are counted, with the depth that the
//! search has reached. Time is that of the processor where the system tells it, since other programs would lengthen
//! the other.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_args::{BenchArgs, SolverArgs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::{load, solver};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted, Signal};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{ConformAnswer, InputCompletion};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{Mutant, MutantSelection, Sample, select};
use serde_json::{Value as Json, json};

use super::first_step::thread_seconds;
use super::statistics::{mean, median};

/// The particle counters of the examples, embedded so that the measurement runs anywhere.
const COUNTERS: [(&str, &str); 2] = [
    ("particle-counter.as", include_str!("../../../examples/particle-counter/particle-counter.as")),
    ("deterministic.as", include_str!("../../../examples/particle-counter/deterministic.as")),
];
/// The number of mutants decided unless `--runs` gives another; chosen by feel.
const MUTANTS: u64 = 100;
/// The time limit for one mutant, on a processor; chosen by feel.
const MUTANT_TIME_LIMIT: Duration = Duration::from_secs(5);

/// Returns the configurations to compare, with their names.
fn ways() -> Vec<(String, KillConfig)> {
    let restricted = KillConfig { completion: InputCompletion::Restricted, ..KillConfig::default() };
    let without =
        |off: &[Optimisation]| KillConfig { off: off.iter().copied().collect(), ..KillConfig::default() };
    let mut ways = vec![("everything".to_owned(), KillConfig::default())];
    for optimisation in Optimisation::ALL {
        ways.push((format!("without {}", optimisation.name()), without(&[optimisation])));
    }
    ways.push(("with restricted completion".into(), restricted));
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
    let count = usize::try_from(args.runs.unwrap_or(MUTANTS)).unwrap_or(usize::MAX);
    let sample = Some(Sample { count, seed: args.seed.unwrap_or(1) });
    let is_wanted = |text: &str| args.only.as_deref().is_none_or(|only| text.contains(only));
    let mut out = io::stdout().lock();
    let mut shown = Vec::new();
    for (file, text) in COUNTERS {
        let ways: Vec<_> =
            ways().into_iter().filter(|(name, _)| is_wanted(&format!("{file}: {name}"))).collect();
        if ways.is_empty() {
            continue;
        }
        let mut model = load_counter(file, text)?;
        let all = MutantSelection::default();
        let n_mutants = select(&mut model, &all).unwrap_or_default().len();
        let mutants = select(&mut model, &MutantSelection { sample, ..all }).unwrap_or_default();
        let mut rows = Vec::new();
        for (name, config) in ways {
            let row = decide_mutants(&format!("{file}: {name}"), &model, &mutants, &config, &args.solver)?;
            rows.push((name, row));
        }
        if args.json {
            let rows: Vec<Json> = rows.iter().map(|(name, row)| row.json(name)).collect();
            shown.push(json!({
                "model": file, "all_mutants": n_mutants, "mutants": mutants.len(), "rows": rows,
            }));
        } else {
            writeln!(out, "{file}: {} of {n_mutants} mutants", mutants.len())?;
            show_counters(&mut out, &rows)?;
        }
    }
    if args.json {
        let result = json!({
            "version": 2, "bench": "counter", "patience_seconds": MUTANT_TIME_LIMIT.as_secs(), "models": shown,
        });
        writeln!(out, "{result}")?;
    }
    Ok(ExitStatus::Success)
}

fn load_counter(name: &str, text: &str) -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let loaded = load::load(&sources, file, &[])?;
    loaded.model.ok_or_else(|| CliError::new(ExitStatus::Internal, "a model of the bench does not compile"))
}

/// A clock that stands while other programs have the processor, where the system tells the time of a thread.
struct ProcessorClock {
    begun: Instant,
    work: Option<f64>,
}

impl ProcessorClock {
    fn start() -> Self {
        Self { begun: Instant::now(), work: thread_seconds() }
    }

    fn seconds(&self) -> f64 {
        let worked = self.work.zip(thread_seconds()).map(|(begin, now)| now - begin);
        worked.unwrap_or_else(|| self.begun.elapsed().as_secs_f64())
    }
}

/// A signal that ends the analysis of one mutant.
struct MutantLimit(ProcessorClock);

impl Signal for MutantLimit {
    fn halt_reason(&self) -> Option<Halted> {
        (self.0.seconds() > MUTANT_TIME_LIMIT.as_secs_f64()).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        Some(MUTANT_TIME_LIMIT.saturating_sub(Duration::from_secs_f64(self.0.seconds())))
    }
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
    let clock = ProcessorClock::start();
    let analysis = MutationAnalysis::new(&mut cx, config);
    let precompute = clock.seconds();
    let mut row = CounterRow { precompute, graph: analysis.graph_size(), ..CounterRow::default() };
    for (at, mutant) in mutants.iter().enumerate() {
        progress.tick(|| format!("{name}: {at} of {} mutants", mutants.len()));
        let (limit, clock) = (Halt::new(MutantLimit(ProcessorClock::start())), ProcessorClock::start());
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let verdict = cx.run_within(&limit, |cx| analysis.decide(cx, mutant, watch));
        row.seconds.push(clock.seconds());
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
