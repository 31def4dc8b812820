//! Test cases of the ATM along ever longer paths, compared with a naive variant that starts every query afresh.
//!
//! The path is tr1 tr2 tr3 tr4 over and over, cut to size, as \[BLLN23] sec. 5 measures it. *Naive* is a fresh solver
//! and the whole path condition for every query, over the same rules and the same time-out; it must find the same arcs.
//! Times are wall-clock; the fast way counts with the best of several rounds, each with a fresh model and solver.

use std::io::{self, Write};
use std::time::Instant;

use ioxide_args::{BenchArgs, SolverArgs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::term::{Term, TermPool};
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;
use ioxide_testgen::case::{CaseConfig, TestCase, generate, naive};
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// The model, embedded so that the measurement runs anywhere.
const ATM: &str = include_str!("../../../examples/atm/atm.iox");
/// The lengths of the path in switches, and whether the naive variant is measured too; the paper has the first three.
/// The naive variant took 12.6 s for 100 switches and is left out beyond that.
const SIZES: [(usize, bool); 5] = [(4, true), (50, true), (100, true), (200, false), (400, false)];
/// The number of rounds of the fast way, of which the fastest counts; chosen by feel, a round takes milliseconds.
const ROUNDS: usize = 8;
/// The figures of \[BLLN23], in seconds, by the length of the path.
const PAPER: [(usize, &str); 3] = [(4, "0.5"), (50, "8"), (100, "> 40")];

/// The figures of one length.
struct AtmRow {
    size: usize,
    path: Vec<SwitchId>,
    case: TestCase,
    seconds: f64,
    naive: Option<f64>,
}

/// Measures every size and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut progress = ProgressLine::start();
    let mut rows = fast(args, &mut progress)?;
    for (row, (_, with_naive)) in rows.iter_mut().zip(SIZES) {
        if with_naive {
            progress.tick(|| format!("test case of {} steps, naively", row.size));
            row.naive = Some(naive_seconds(args, row)?);
        }
    }
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Json> = rows.iter().map(row_json).collect();
        writeln!(out, "{}", json!({ "version": 1, "bench": "atm", "sizes": rows }))?;
        return Ok(ExitStatus::Success);
    }
    writeln!(out, "{:>5} {:>5} {:>9} {:>9} {:>9}", "steps", "arcs", "seconds", "naive", "paper")?;
    for row in &rows {
        let naive = row.naive.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}"));
        let paper = PAPER.iter().find(|(size, _)| *size == row.size).map_or("-", |(_, seconds)| seconds);
        writeln!(out, "{:>5} {:>5} {:>9.3} {naive:>9} {paper:>9}", row.size, row.case.n_arcs(), row.seconds)?;
    }
    Ok(ExitStatus::Success)
}

/// Measures every length in rounds and keeps the best time of each: a busy moment affects all alike.
fn fast(args: &BenchArgs, progress: &mut ProgressLine) -> Result<Vec<AtmRow>, CliError> {
    let mut rows: Vec<AtmRow> = Vec::new();
    for round in 0..ROUNDS {
        for (at, (size, _)) in SIZES.into_iter().enumerate() {
            progress.tick(|| format!("round {} of {ROUNDS}: test case of {size} steps", round + 1));
            let path = path(&load_text("atm.iox", ATM)?, size)?;
            let (case, seconds) = time_case(args, &path)?;
            match rows.get_mut(at) {
                Some(row) => row.seconds = row.seconds.min(seconds),
                None => rows.push(AtmRow { size, path, case, seconds, naive: None }),
            }
        }
    }
    Ok(rows)
}

/// Returns the test case, and the seconds it took.
fn time_case(args: &BenchArgs, path: &[SwitchId]) -> Result<(TestCase, f64), CliError> {
    let mut model = load_text("atm.iox", ATM)?;
    let mut solver = solver::make(&args.solver)?;
    let started = Instant::now();
    let path = PathStep::taking(path);
    let case = generate(&mut Ctx::new(&mut model, &mut *solver), &path, &CaseConfig::default());
    let seconds = started.elapsed().as_secs_f64();
    Ok((case.map_err(|error| internal(error.show(&model.sts, &path)))?, seconds))
}

fn naive_seconds(args: &BenchArgs, row: &AtmRow) -> Result<f64, CliError> {
    let mut model = load_text("atm.iox", ATM)?;
    let mut fresh = FreshSolver { wanted: args.solver.clone() };
    let timeout = row.case.timeout.clone().unwrap_or(Rational::ONE);
    let started = Instant::now();
    let arcs = naive::arcs(&mut Ctx::new(&mut model, &mut fresh), &row.path, &timeout);
    let seconds = started.elapsed().as_secs_f64();
    let known = row.case.n_arcs();
    if arcs.len() != known {
        return Err(internal(format!("the naive variant has {} arcs, not {known}", arcs.len())));
    }
    Ok(seconds)
}

/// A solver that starts afresh for every query.
struct FreshSolver {
    wanted: SolverArgs,
}

impl Solver for FreshSolver {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        match solver::make(&self.wanted) {
            Ok(mut solver) => solver.check(pool, facts),
            Err(_) => SolverAnswer::Unknown(ioxide_smt::solver::UnknownReason::NoSolver),
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        match solver::make(&self.wanted) {
            Ok(mut solver) => solver.decide(pool, facts),
            Err(_) => SolverDecision::Unknown(ioxide_smt::solver::UnknownReason::NoSolver),
        }
    }
}

/// Returns a path of `size` steps: once round the machine takes four.
fn path(model: &Model, size: usize) -> Result<Vec<SwitchId>, CliError> {
    let labels = ["tr1", "tr2", "tr3", "tr4"].iter().cycle().take(size);
    let path: Option<Vec<SwitchId>> = labels.map(|label| model.sts.switch_named(label)).collect();
    path.ok_or_else(|| internal("the embedded ATM lacks a switch".into()))
}

/// Returns an error that is a mistake in ioxide itself.
fn internal(message: String) -> CliError {
    CliError::new(ExitStatus::Internal, message)
}

fn row_json(row: &AtmRow) -> Json {
    json!({
        "size": row.size,
        "arcs": row.case.n_arcs(),
        "off_path": row.case.n_off_path(),
        "seconds": row.seconds,
        "naive_seconds": row.naive,
    })
}
