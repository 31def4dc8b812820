//! Comparison of models: by the symbolic search alone, by enumeration of states alone, and by both in turns; and of
//! timed models, by the number of clocks and their bounds.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{self, CliError, ExitStatus};
use ioxide_cli::solver;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{self, ConformAnswer, ConformOptions, InputCompletion, SearchEngine, conform};
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// The number of states at which the enumeration in ticks gives up; chosen by feel, to bound its memory.
const MAX_TICK_STATES: usize = 2_000_000;
/// The number of repetitions of a short comparison, of which the fastest counts: others only slow it down. Five is
/// chosen by feel.
const REPETITIONS: usize = 5;
/// The greatest duration of a short comparison, in milliseconds; a longer one is steady enough when it is measured
/// once. Chosen by feel.
const SHORT_MS: f64 = 500.0;
/// The time after which a comparison is given up; chosen by feel, the table needs no more than that.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut families = Vec::new();
    for (name, imp, spec) in pairs() {
        families.push(pair(args, &name, &imp, &spec)?);
    }
    let mut growth = Vec::new();
    for clocks in 1..=6 {
        for bound in [10, 100, 1_000, 10_000] {
            growth.push(compare_timed(args, clocks, bound)?);
        }
    }
    let mut out = io::stdout().lock();
    let told = if args.json {
        let result = json!({ "version": 1, "bench": "conform", "families": families, "time": growth });
        writeln!(out, "{result}")
    } else {
        show_families(&mut out, &families, &growth)
    };
    exit::status_after_output(ExitStatus::Success, told)
}

/// Shows the times of each engine, and how they grow.
fn show_families(out: &mut impl Write, families: &[Json], growth: &[Json]) -> io::Result<()> {
    let number = |value: &Json| value.as_f64().map_or("-".to_owned(), |it| format!("{it:.1}"));
    writeln!(
        out,
        "{:34} {:>9} {:>12} {:>12} {:>12} {:>6}",
        "pair", "answer", "symbolic ms", "by state ms", "in turns ms", "ratio"
    )?;
    for it in families {
        let cells = ["symbolic_ms", "enumerated_ms", "in_turns_ms", "ratio"].map(|key| number(&it[key]));
        let [symbolic, enumerated, turns, ratio] = cells;
        let (name, answer) = (it["pair"].as_str().unwrap_or(""), it["answer"].as_str().unwrap_or(""));
        writeln!(out, "{name:34} {answer:>9} {symbolic:>12} {enumerated:>12} {turns:>12} {ratio:>6}")?;
    }
    writeln!(out, "{:>14} {:^40} {:^40}", "", "a late answer", "the same")?;
    let head = ["states", "ms", "tick states", "ms in ticks"].map(|name| format!("{name:>11}")).join(" ");
    writeln!(out, "{:>6} {:>7} {head} {head}", "clocks", "bound")?;
    let keys = ["states", "symbolic_ms", "tick_states", "ticks_ms"];
    let proof = ["proof_states", "proof_ms", "proof_tick_states", "proof_ticks_ms"];
    for it in growth {
        let cell = |key: &&str| match it[*key].as_u64() {
            Some(count) => format!("{count:>11}"),
            None => format!("{:>11}", number(&it[*key])),
        };
        let cells: Vec<String> = keys.iter().chain(&proof).map(cell).collect();
        writeln!(out, "{:>6} {:>7} {}", it["clocks"].to_string(), it["bound"].to_string(), cells.join(" "))?;
    }
    Ok(())
}

/// Returns the pairs of models to compare: name, implementation, specification.
fn pairs() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (n, top) in [(3, 5), (5, 5), (4, 10), (3, 30)] {
        let name = format!("{n} counters to {top}");
        let (spec, imp) = (counters(n, top, "done"), counters(n, top, "oops"));
        all.push((format!("{name}, a deep fault"), imp, spec.clone()));
        all.push((format!("{name}, the same"), spec.clone(), spec));
    }
    let sums = |output: &str| {
        format!(
            "model M {{ input add(n: int) output sum(n: int) var s: 0..300 = 0
                state idle {{ on add when 1 <= n <= 2 && s + n <= 300 {{ s = s + n }} -> busy }}
                state busy {{ emit sum(n: {output}) -> idle }} }}"
        )
    };
    all.push(("squares of a sum, a deep fault".into(), sums("s * s + s / 299"), sums("s * s")));
    let echo = "model M { input put(n: int) output got(n: int) var v: int = 0
        state s { on put { v = n } -> t } state t { emit got(n: v) -> s } }";
    all.push(("a number of any size, the same".into(), echo.into(), echo.into()));
    all
}

/// Returns the model of `n` counters up to `top`, with `output` when all are full.
fn counters(n: usize, top: u32, output: &str) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<Vec<_>>();
    let declared = each(&|at| format!("input up{at} var c{at}: 0..{top} = 0")).join("\n");
    let counted = each(&|at| format!("on up{at} when c{at} < {top} {{ c{at} = c{at} + 1 }} -> s")).join("\n");
    let full = each(&|at| format!("c{at} == {top}")).join(" && ");
    format!(
        "model M {{ {declared} output done output oops state s {{ {counted} emit {output} when {full} -> s }} }}"
    )
}

/// Measures one pair by each search.
fn pair(args: &BenchArgs, name: &str, imp: &str, spec: &str) -> Result<Json, CliError> {
    let (symbolic, symbolic_ms) = compare_models(args, imp, spec, SearchEngine::Symbolic)?;
    let (turns, in_turns_ms) = compare_models(args, imp, spec, SearchEngine::InTurns)?;
    let mut model = load_text("bench.iox", spec)?;
    let joined = join(&mut model, &load_text("bench.iox", imp)?)
        .map_err(|_| CliError::usage("the messages differ"))?;
    let mut enumerated_ms: Option<f64> = None;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        let found =
            ioco(&model.pool, &joined, &model.sts, InputCompletion::Angelic, EnumerationBudget::default());
        let took = start.elapsed().as_secs_f64() * 1e3;
        enumerated_ms =
            (found != EnumerationResult::GaveUp).then(|| enumerated_ms.map_or(took, |least| least.min(took)));
        if took > SHORT_MS {
            break;
        }
    }
    let symbolic_ms = (!matches!(symbolic, ConformAnswer::Unknown(_))).then_some(symbolic_ms);
    let best = symbolic_ms.into_iter().chain(enumerated_ms).min_by(f64::total_cmp);
    let answer = match turns {
        ConformAnswer::Conforms(_) => "conforms",
        ConformAnswer::Fails(_) => "fails",
        ConformAnswer::Unknown(_) => "unknown",
    };
    Ok(json!({
        "pair": name, "answer": answer, "symbolic_ms": symbolic_ms, "enumerated_ms": enumerated_ms,
        "in_turns_ms": in_turns_ms, "ratio": best.map(|best| in_turns_ms / best),
    }))
}

/// Returns the answer and the least time of a few repetitions; a long comparison is not repeated.
fn compare_models(
    args: &BenchArgs,
    imp: &str,
    spec: &str,
    engine: SearchEngine,
) -> Result<(ConformAnswer, f64), CliError> {
    let (mut answer, mut least) = compare_once(args, imp, spec, engine)?;
    for _ in 1..REPETITIONS {
        if least > SHORT_MS {
            break;
        }
        let (again, took) = compare_once(args, imp, spec, engine)?;
        (answer, least) = (again, least.min(took));
    }
    Ok((answer, least))
}

fn compare_once(
    args: &BenchArgs,
    imp: &str,
    spec: &str,
    engine: SearchEngine,
) -> Result<(ConformAnswer, f64), CliError> {
    let mut model = load_text("bench.iox", spec)?;
    let imp = join(&mut model, &load_text("bench.iox", imp)?)
        .map_err(|_| CliError::usage("the messages differ"))?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut solver);
    let options = ConformOptions { engine, ..ConformOptions::default() };
    let start = Instant::now();
    let verdict = conform(&mut cx, &imp, &options, &mut |_| patience(start));
    let verdict = verdict.map_err(|_: conform::PortMismatch| CliError::usage("the messages differ"))?;
    Ok((verdict.answer, start.elapsed().as_secs_f64() * 1e3))
}

/// Ends a search that takes too long for a measurement.
fn patience(start: Instant) -> ControlFlow<()> {
    if start.elapsed() < MAX_WAIT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Returns a model of a ring of answers, each due by its own clock, which the answer resets; the last one is due by
/// `last`, the others by `bound`.
fn ring(clocks: usize, bound: u32, last: u32) -> String {
    let declared: String = (0..clocks).map(|at| format!("clock c{at} output y{at}\n")).collect();
    let state = |at: usize| {
        let due = if at + 1 == clocks { last } else { bound };
        let next = (at + 1) % clocks;
        format!("state s{at} {{ emit y{at} when c{at} <= {due} {{ reset c{at} }} -> s{next} }}\n")
    };
    let states: String = (0..clocks).map(state).collect();
    format!("model M {{ {declared} {states} }}")
}

/// Compares the ring with a late one, and with itself, by zones and in whole ticks.
fn compare_timed(args: &BenchArgs, clocks: usize, bound: u32) -> Result<Json, CliError> {
    let late = zones(args, clocks, bound, bound + 1)?;
    let same = zones(args, clocks, bound, bound)?;
    let (late_ticks, late_ticks_ms) = in_ticks_timed(clocks, bound, bound + 1);
    let (same_ticks, same_ticks_ms) = in_ticks_timed(clocks, bound, bound);
    Ok(json!({
        "clocks": clocks, "bound": bound,
        "fails": matches!(late.answer, ConformAnswer::Fails(_)), "states": late.states, "symbolic_ms": late.ms,
        "ticks_ms": late_ticks_ms, "tick_states": late_ticks,
        "conforms": matches!(same.answer, ConformAnswer::Conforms(_)), "proof_states": same.states, "proof_ms": same.ms,
        "proof_ticks_ms": same_ticks_ms, "proof_tick_states": same_ticks,
    }))
}

/// The result of one comparison by zones; without a time if it is undecided.
struct ZoneComparison {
    answer: ConformAnswer,
    states: usize,
    ms: Option<f64>,
}

/// Compares the ring whose last answer may come until `last` with the one whose answers all come in time.
fn zones(args: &BenchArgs, clocks: usize, bound: u32, last: u32) -> Result<ZoneComparison, CliError> {
    let mut model = load_text("bench.iox", &ring(clocks, bound, bound))?;
    let imp = load_text("bench.iox", &ring(clocks, bound, last))?;
    let joined = join(&mut model, &imp).map_err(|_| CliError::usage("the messages differ"))?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut solver);
    let start = Instant::now();
    let verdict = conform(&mut cx, &joined, &ConformOptions::default(), &mut |_| patience(start));
    let verdict = verdict.map_err(|_: conform::PortMismatch| CliError::usage("the messages differ"))?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    let ms = (!matches!(verdict.answer, ConformAnswer::Unknown(_))).then_some(took);
    Ok(ZoneComparison { answer: verdict.answer, states: verdict.effort.states, ms })
}

fn in_ticks_timed(clocks: usize, bound: u32, last: u32) -> (Option<usize>, Option<f64>) {
    let start = Instant::now();
    let states = in_ticks(clocks, bound, last);
    (states, states.map(|_| start.elapsed().as_secs_f64() * 1e3))
}

/// Returns the number of states that a search in whole ticks visits until it finds a late answer of the ring, or of all
/// states if none is late; `None` if it gives up.
fn in_ticks(clocks: usize, bound: u32, last: u32) -> Option<usize> {
    let start = (0usize, vec![0u32; clocks]);
    let mut seen: HashSet<(usize, Vec<u32>)> = [start.clone()].into();
    let mut open: VecDeque<(usize, Vec<u32>)> = [start].into();
    while let Some((at, values)) = open.pop_front() {
        let is_last = at + 1 == clocks;
        if is_last && bound < values[at] && values[at] <= last {
            return Some(seen.len());
        }
        let due = if is_last { last } else { bound };
        let mut answered = values.clone();
        answered[at] = 0;
        let later: Vec<u32> = values.iter().map(|value| (value + 1).min(bound + 2)).collect();
        let waited = (later[at] <= due).then_some((at, later));
        for next in waited.into_iter().chain([((at + 1) % clocks, answered)]) {
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
        if seen.len() > MAX_TICK_STATES {
            return None;
        }
    }
    Some(seen.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct ConformLine {
        #[command(flatten)]
        bench: BenchArgs,
    }

    #[test]
    fn zones_do_not_grow_with_the_bounds() {
        let args = ConformLine::parse_from(["bench", "conform"]).bench;
        for clocks in [1, 2, 3] {
            let [small, large] =
                [10, 10_000].map(|bound| timed_states(&args, clocks, bound).expect("it compiles"));
            assert_eq!(small, large, "{clocks} clocks");
        }
        assert!(in_ticks(2, 40, 40) > in_ticks(2, 10, 10).map(|states| 4 * states), "ticks do");
    }

    /// Returns the product states of both comparisons, which must be decided.
    fn timed_states(args: &BenchArgs, clocks: usize, bound: u32) -> Result<[usize; 2], CliError> {
        let (late, same) = (zones(args, clocks, bound, bound + 1)?, zones(args, clocks, bound, bound)?);
        assert!(matches!(late.answer, ConformAnswer::Fails(_)), "{clocks} {bound}");
        assert!(matches!(same.answer, ConformAnswer::Conforms(_)), "{clocks} {bound}");
        Ok([late.states, same.states])
    }
}
