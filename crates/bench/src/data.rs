//! Models with collections: steps a second of the monitor by size, compared with a model with a number in the
//! same run; purposes and conformance of bounded queues and maps, beside enumeration.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::solver;
use ioxide_model::label::Label;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, ExploreLimits, Monitor};
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{self, ConformAnswer, InputCompletion, conform};
use ioxide_testgen::purpose::{Criterion, coverage};
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// A model with a number, with which the others are compared.
const NUMBER: &str = "model N { input put(x: int) input get(x: int) output got(x: int) var last: int = 0
    state idle { put: on put { last = x } get: on get -> telling }
    state telling { got: emit got(x: last) -> idle } }";
/// A model with a list, used as a queue.
const QUEUE: &str = "model Q { input put(x: int) input get(x: int) output got(x: int) var q: list<int> = []
    state idle { put: on put { q = q + [x] } get: on get -> telling }
    state telling { got: emit got(x: y) when let some(y) = q.first() { q = q.drop(1) } -> idle } }";
/// A model with a map.
const MAP: &str = "model M { input put(x: int) input get(x: int) output got(x: int)
    var m: map<int, int> = {} var wanted: int = 0
    state idle { put: on put { m[x] = x } get: on get { wanted = x } -> telling }
    state telling { got: emit got(x: m[wanted]) { m = m.without(wanted) } -> idle } }";
/// A model with a set.
const SET: &str = "model S { input put(x: int) input get(x: int) output got(x: int)
    var s: set<int> = {} var wanted: int = 0
    state idle { put: on put { s = s + {x} } get: on get { wanted = x } -> telling }
    state telling { got: emit got(x: wanted) when s.has(wanted) { s = s.without(wanted) } -> idle } }";
/// The numbers of items that the collection has when exchanges are measured; powers of ten, so that growth is seen.
const SIZES: [i64; 3] = [10, 1_000, 100_000];
/// The number of exchanges measured: an item is put in, one is requested, one is output. Chosen by feel; a round is
/// short enough that some are not disturbed.
const EXCHANGES: i64 = 200;
/// The number of rounds of exchanges, of which the fastest counts: other programs only slow rounds down, and a round is
/// so short that some are not disturbed.
const ROUNDS: i64 = 200;
/// The limits beyond which enumeration gives up; chosen by feel.
const BUDGET: EnumerationBudget = EnumerationBudget { states: 100_000, steps: 2_000_000 };

/// Returns the row of one kind of value with the items it has.
fn speed_row((kind, size, speed): (&str, i64, f64)) -> Json {
    json!({ "kind": kind, "size": size, "steps_per_second": speed })
}

/// Measures and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let (mut online, mut rows) = (Vec::new(), Vec::new());
    for size in SIZES {
        let number = steps_a_second(args, NUMBER, size)?;
        rows.push(("int", size, number));
        for (name, text) in [("queue", QUEUE), ("map", MAP), ("set", SET)] {
            let speed = steps_a_second(args, text, size)?;
            rows.push((name, size, speed));
            online.push(json!({
                "collection": name, "items": size, "steps_per_second": speed, "times_slower": number / speed,
            }));
        }
    }
    let rows: Vec<Json> = rows.into_iter().map(speed_row).collect();
    let mut bounded = Vec::new();
    for capacity in [2, 4, 8, 16, 32, 64] {
        bounded.push(bounded_model(args, "queue", capacity, &bounded_queue(capacity))?);
    }
    for keys in [2, 4, 8, 16, 32] {
        bounded.push(bounded_model(args, "map", keys, &bounded_map(keys))?);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({
            "version": 1, "bench": "data", "rows": rows, "online": online, "bounded": bounded,
        });
        writeln!(out, "{result}")?;
        return Ok(ExitStatus::Success);
    }
    writeln!(out, "collection    items  steps/s  times slower than a number")?;
    for row in &online {
        writeln!(
            out,
            "{:<10} {:>8} {:>8.0} {:>8.2}",
            row["collection"].as_str().unwrap_or(""),
            row["items"].to_string(),
            row["steps_per_second"].as_f64().unwrap_or(0.0),
            row["times_slower"].as_f64().unwrap_or(0.0),
        )?;
    }
    writeln!(out, "bounded   size  purposes ms  product states  conform ms  enumeration ms")?;
    for row in &bounded {
        let ms = |key: &str| row[key].as_f64().map_or("gave up".to_owned(), |ms| format!("{ms:.1}"));
        writeln!(
            out,
            "{:<8} {:>5} {:>12} {:>15} {:>11} {:>15}",
            row["model"].as_str().unwrap_or(""),
            row["size"].to_string(),
            ms("purposes_ms"),
            row["product_states"].to_string(),
            ms("conform_ms"),
            ms("enumeration_ms"),
        )?;
    }
    Ok(ExitStatus::Success)
}

/// Returns the steps per second that the monitor judges while `size` items are held.
fn steps_a_second(args: &BenchArgs, text: &str, size: i64) -> Result<f64, CliError> {
    let mut model = load_text("bench.iox", text)?;
    let mut solver = solver::make(&args.solver)?;
    let gate = |name: &str| model.sts.gate_named(name).ok_or_else(|| CliError::usage("a message is missing"));
    let (put, get, got) = (gate("put")?, gate("get")?, gate("got")?);
    let number = text == NUMBER;
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let refused = |_| CliError::usage("the monitor refused a step of the benchmark");
    for n in 0..size {
        let label = Label::Input(put, vec![Value::int(n)]);
        monitor.observe(&mut cx, &label).map_err(refused)?;
    }
    let mut fastest = f64::INFINITY;
    for round in 0..ROUNDS {
        let start = Instant::now();
        for n in round * EXCHANGES..(round + 1) * EXCHANGES {
            let newest = size + n;
            let oldest = if number { newest } else { n };
            let exchange = [
                Label::Input(put, vec![Value::int(newest)]),
                Label::Input(get, vec![Value::int(oldest)]),
                Label::Output(got, vec![Value::int(oldest)]),
            ];
            for label in &exchange {
                monitor.observe(&mut cx, label).map_err(refused)?;
            }
        }
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(3.0 * EXCHANGES as f64 / fastest)
}

fn bounded_queue(capacity: u32) -> String {
    format!(
        "model B {{ input put(x: 0..9) input get output got(x: 0..9) output full output empty
        var q: list<0..9> = []
        state idle {{
            put: on put when q.length() < {capacity} {{ q = q + [x] }}
            over: on put when q.length() == {capacity} -> refusing
            get: on get -> telling
        }}
        state refusing {{ full: emit full -> idle }}
        state telling {{
            got: emit got(x: y) when let some(y) = q.first() {{ q = q.drop(1) }} -> idle
            nothing: emit empty when q.is_empty() -> idle
        }} }}"
    )
}

fn bounded_map(keys: u32) -> String {
    let last = keys - 1;
    format!(
        "model B {{ input put(k: 0..{last}, v: 0..9) input get(k: 0..{last}) output got(v: 0..9) output missing
        var m: map<0..{last}, 0..9> = {{}} var wanted: 0..{last} = 0
        state idle {{ put: on put {{ m[k] = v }} get: on get {{ wanted = k }} -> telling }}
        state telling {{
            got: emit got(v: y) when let some(y) = m.get(wanted) -> idle
            missing: emit missing when !m.has(wanted) -> idle
        }} }}"
    )
}

/// Measures purposes for all switches, the proof that the model conforms to itself, and the same by enumeration.
fn bounded_model(args: &BenchArgs, name: &str, size: u32, text: &str) -> Result<serde_json::Value, CliError> {
    let limits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };
    let mut spec = load_text("bench.iox", text)?;
    let mut solver = solver::make(&args.solver)?;
    let start = Instant::now();
    let set = {
        let mut cx = Ctx::new(&mut spec, &mut solver);
        coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()))
    };
    let purposes = set.unreached.is_empty().then(|| start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let imp = spec.sts.clone();
    let options = conform::ConformOptions::default();
    let verdict = {
        let mut cx = Ctx::new(&mut spec, &mut solver);
        conform(&mut cx, &imp, &options, &mut |_| ControlFlow::Continue(()))
            .map_err(|_| CliError::usage("a model conforms to itself"))?
    };
    let proved = matches!(verdict.answer, ConformAnswer::Conforms(_));
    let conform_ms = proved.then(|| start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let found = ioco(&spec.pool, &imp, &spec.sts, InputCompletion::Angelic, BUDGET);
    let enumerated = (found == EnumerationResult::Conforms).then(|| start.elapsed().as_secs_f64() * 1e3);
    Ok(json!({
        "model": name, "size": size, "purposes_ms": purposes, "product_states": verdict.effort.states,
        "conform_ms": conform_ms, "enumeration_ms": enumerated,
    }))
}
