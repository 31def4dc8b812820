//! Comparing models: the symbolic search alone, the one state by state alone, and both in turns; and time, by clocks and bounds.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_lang::Options as LoadOptions;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::explicit::{Budget, Found, ioco};
use ioxide_testgen::conform::join::join;
use ioxide_testgen::conform::{self, Answer, Completion, Options, SearchEngine, conform};
use serde_json::{Value as Json, json};

use crate::args::Bench;
use crate::exit::{self, ExitStatus, Stop};
use crate::solver;

/// States of the enumeration in ticks at which it is given up.
const MAX_TICK_STATES: usize = 2_000_000;
/// How long one comparison may take before it is given up.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Measures and shows.
pub fn run(args: &Bench) -> Result<ExitStatus, Stop> {
    let mut families = Vec::new();
    for (name, imp, spec) in pairs() {
        families.push(pair(args, &name, &imp, &spec)?);
    }
    let mut growth = Vec::new();
    for clocks in 1..=6 {
        for bound in [10, 100, 1_000, 10_000] {
            growth.push(timed(args, clocks, bound)?);
        }
    }
    let mut out = io::stdout().lock();
    let told = match args.json {
        true => writeln!(out, "{}", json!({ "version": 1, "families": families, "time": growth })),
        false => show(&mut out, &families, &growth),
    };
    exit::shown(ExitStatus::Success, told)
}

fn show(out: &mut impl Write, families: &[Json], growth: &[Json]) -> io::Result<()> {
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
    writeln!(
        out,
        "{:>6} {:>7} {:>14} {:>11} {:>11} {:>12}",
        "clocks", "bound", "product states", "symbolic ms", "in ticks ms", "tick states"
    )?;
    for it in growth {
        writeln!(
            out,
            "{:>6} {:>7} {:>14} {:>11} {:>11} {:>12}",
            it["clocks"].to_string(),
            it["bound"].to_string(),
            it["states"].to_string(),
            number(&it["symbolic_ms"]),
            number(&it["ticks_ms"]),
            it["tick_states"].as_u64().map_or("-".to_owned(), |it| it.to_string()),
        )?;
    }
    Ok(())
}

/// Pairs of models, each with its name.
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

fn counters(n: usize, top: u32, output: &str) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<Vec<_>>();
    let declared = each(&|at| format!("input up{at} var c{at}: 0..{top} = 0")).join("\n");
    let counted = each(&|at| format!("on up{at} when c{at} < {top} {{ c{at} = c{at} + 1 }} -> s")).join("\n");
    let full = each(&|at| format!("c{at} == {top}")).join(" && ");
    format!(
        "model M {{ {declared} output done output oops state s {{ {counted} emit {output} when {full} -> s }} }}"
    )
}

fn compiled(text: &str) -> Result<Model, Stop> {
    let mut sources = Sources::new();
    let file = sources.add("bench.iox", text);
    let loaded = ioxide_lang::load(&sources, file, &LoadOptions::default());
    loaded.model.ok_or_else(|| Stop::usage("a model of the benchmark does not compile"))
}

/// One pair by each search.
fn pair(args: &Bench, name: &str, imp: &str, spec: &str) -> Result<Json, Stop> {
    let (symbolic, symbolic_ms) = compared(args, imp, spec, SearchEngine::Symbolic)?;
    let (turns, in_turns_ms) = compared(args, imp, spec, SearchEngine::InTurns)?;
    let mut model = compiled(spec)?;
    let joined = join(&mut model, &compiled(imp)?).map_err(|_| Stop::usage("the messages differ"))?;
    let start = Instant::now();
    let found = ioco(&model.pool, &joined, &model.sts, Completion::Angelic, Budget::default());
    let took = start.elapsed().as_secs_f64() * 1e3;
    let enumerated_ms = (found != Found::GaveUp).then_some(took);
    let symbolic_ms = (!matches!(symbolic, Answer::Unknown(_))).then_some(symbolic_ms);
    let best = symbolic_ms.into_iter().chain(enumerated_ms).min_by(f64::total_cmp);
    let answer = match turns {
        Answer::Conforms(_) => "conforms",
        Answer::Fails(_) => "fails",
        Answer::Unknown(_) => "unknown",
    };
    Ok(json!({
        "pair": name, "answer": answer, "symbolic_ms": symbolic_ms, "enumerated_ms": enumerated_ms,
        "in_turns_ms": in_turns_ms, "ratio": best.map(|best| in_turns_ms / best),
    }))
}

fn compared(args: &Bench, imp: &str, spec: &str, engine: SearchEngine) -> Result<(Answer, f64), Stop> {
    let mut model = compiled(spec)?;
    let imp = join(&mut model, &compiled(imp)?).map_err(|_| Stop::usage("the messages differ"))?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut solver);
    let options = Options { engine, ..Options::default() };
    let start = Instant::now();
    let verdict = conform(&mut cx, &imp, &options, &mut |_| patience(start));
    let verdict = verdict.map_err(|_: conform::Mismatch| Stop::usage("the messages differ"))?;
    Ok((verdict.answer, start.elapsed().as_secs_f64() * 1e3))
}

fn patience(start: Instant) -> ControlFlow<()> {
    if start.elapsed() < MAX_WAIT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// A ring of answers, each due by its own clock, which the answer sets back; the last one is late by one unit.
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

fn timed(args: &Bench, clocks: usize, bound: u32) -> Result<Json, Stop> {
    let (spec, imp) = (ring(clocks, bound, bound), ring(clocks, bound, bound + 1));
    let mut model = compiled(&spec)?;
    let joined = join(&mut model, &compiled(&imp)?).map_err(|_| Stop::usage("the messages differ"))?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut solver);
    let start = Instant::now();
    let verdict = conform(&mut cx, &joined, &Options::default(), &mut |_| patience(start));
    let verdict = verdict.map_err(|_: conform::Mismatch| Stop::usage("the messages differ"))?;
    let symbolic_ms = start.elapsed().as_secs_f64() * 1e3;
    let fails = matches!(verdict.answer, Answer::Fails(_));
    let start = Instant::now();
    let ticks = in_ticks(clocks, bound);
    let ticks_ms = ticks.map(|_| start.elapsed().as_secs_f64() * 1e3);
    Ok(json!({
        "clocks": clocks, "bound": bound, "fails": fails, "states": verdict.effort.states,
        "symbolic_ms": fails.then_some(symbolic_ms), "ticks_ms": ticks_ms, "tick_states": ticks,
    }))
}

/// The states that a search in whole ticks looks at until the late answer of the ring is found; none if it gives up.
fn in_ticks(clocks: usize, bound: u32) -> Option<usize> {
    let start = (0usize, vec![0u32; clocks]);
    let mut seen: HashSet<(usize, Vec<u32>)> = [start.clone()].into();
    let mut open: VecDeque<(usize, Vec<u32>)> = [start].into();
    while let Some((at, values)) = open.pop_front() {
        let is_last = at + 1 == clocks;
        if is_last && values[at] == bound + 1 {
            return Some(seen.len());
        }
        let due = if is_last { bound + 1 } else { bound };
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
    None
}
