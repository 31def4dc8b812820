//! `ioxide bench compose`: systems made of parts. Cost by the number of parts, and families that build large products
//! elsewhere: a run of a thousand labels, judged, beside the size of the product.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::solver;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, ExploreConfig, ExploreLimits, Monitor, Symmetry, explore};
use ioxide_testgen::purpose::{Criterion, coverage};
use ioxide_wire::player::ModelPlayer;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// The number of labels of a run; chosen by feel.
const STEPS: u32 = 1_000;
/// The number of states of a part; the product has this number to the power of the number of parts, so ten makes it
/// easy to read.
const STATES: u32 = 10;
/// The greatest number of states that searches for purposes visit; chosen by feel, so that the measurement ends.
const LIMITS: ExploreLimits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };

/// Measures and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut rows = Vec::new();
    for parts in [2, 4, 6, 8, 10, 12] {
        rows.push(measure(args, "independent", parts, &independent(parts))?);
    }
    for parts in [4, 8] {
        rows.push(measure(args, "sequential in parallel", parts, &sequential(parts))?);
        rows.push(measure(args, "nested, synchronised", parts, &pipeline(parts, false))?);
        rows.push(measure(args, "hidden, a number passed on", parts, &pipeline(parts, true))?);
        rows.push(measure(args, "all meet", parts, &multiway(parts))?);
    }
    let mut merged = Vec::new();
    for parts in [2, 3, 4, 5, 6] {
        merged.push(merging(args, "independent, 4 states", parts, &independent_parts(parts))?);
    }
    for parts in [3, 4, 5, 6] {
        merged.push(merging(args, "all meet", parts, &multiway(parts))?);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let result = json!({ "version": 1, "bench": "compose", "rows": rows, "symmetry": merged });
        writeln!(out, "{result}")?;
    } else {
        show_compositions(&mut out, &rows)?;
        show_merging(&mut out, &merged)?;
    }
    Ok(ExitStatus::Success)
}

/// Shows a row for each family and size.
fn show_compositions(out: &mut impl Write, rows: &[Json]) -> io::Result<()> {
    writeln!(
        out,
        "{:<28} parts  switches  product states  ms/step  terms of a run  purposes ms  covered",
        "family"
    )?;
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        let covered = format!("{} of {}", row["covered"], row["switches"]);
        writeln!(
            out,
            "{:<28} {:>5} {:>9} {:>15.0e} {:>8.3} {:>15} {:>12.1}  {covered}",
            row["family"].as_str().unwrap_or(""),
            row["parts"].to_string(),
            row["switches"].to_string(),
            number("product"),
            number("ms_per_step"),
            row["terms"].to_string(),
            number("purposes_ms"),
        )?;
    }
    Ok(())
}

fn show_merging(out: &mut impl Write, rows: &[Json]) -> io::Result<()> {
    writeln!(out, "\n{:<28} parts  states  merged  ms  merged ms", "interchangeable parts")?;
    for row in rows {
        let text = |key: &str| row[key].to_string();
        let ms = |key: &str| format!("{:.0}", row[key].as_f64().unwrap_or(0.0));
        writeln!(
            out,
            "{:<28} {:>5} {:>7} {:>7} {:>3} {:>10}",
            row["family"].as_str().unwrap_or(""),
            text("parts"),
            text("states"),
            text("merged"),
            ms("ms"),
            ms("merged_ms"),
        )?;
    }
    Ok(())
}

/// States of a whole exploration, with and without merging of interchangeable instances.
fn merging(args: &BenchArgs, family: &str, parts: u32, text: &str) -> Result<Json, CliError> {
    let explored = |is_merging: bool| -> Result<(usize, f64), CliError> {
        let (mut model, mut solver) = (load_text("bench.iox", text)?, solver::make(&args.solver)?);
        let mut cx = Ctx::new(&mut model, &mut solver);
        let symmetry = if is_merging { Symmetry::find(cx.pool, cx.sts, &[]) } else { Symmetry::default() };
        let config = ExploreConfig { limits: LIMITS, symmetry, ..ExploreConfig::default() };
        let start = Instant::now();
        let exploration = explore(&mut cx, &config, &mut |_| ControlFlow::Continue(()));
        Ok((exploration.stats.states, start.elapsed().as_secs_f64() * 1e3))
    };
    let ((states, ms), (merged, merged_ms)) = (explored(false)?, explored(true)?);
    Ok(json!({
        "family": family, "parts": parts, "states": states, "merged": merged, "ms": ms, "merged_ms": merged_ms,
    }))
}

/// Measures one system: a run, the purposes, and the size of its product.
fn measure(args: &BenchArgs, family: &str, parts: u32, text: &str) -> Result<Json, CliError> {
    let mut model = load_text("bench.iox", text)?;
    let product: f64 = model
        .sts
        .composition
        .iter()
        .flat_map(|composition| composition.parts.iter())
        .map(|part| part.places.len().max(1) as f64)
        .product();
    let (ms_per_step, terms) = walk(args, &model)?;
    let mut solver = solver::make(&args.solver)?;
    let start = Instant::now();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let set = coverage(&mut cx, Criterion::Switches, LIMITS, &mut |_| ControlFlow::Continue(()));
    let purposes_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(json!({
        "family": family, "parts": parts, "switches": model.sts.switches.len(), "product": product,
        "ms_per_step": ms_per_step, "terms": terms, "purposes_ms": purposes_ms, "covered": set.covered_items().len(),
    }))
}

/// Returns the milliseconds for a label of a run in which the system plays itself: chosen, played and judged; and the
/// number of terms of the monitor at its end, which are what a run keeps in memory.
fn walk(args: &BenchArgs, model: &Model) -> Result<(f64, usize), CliError> {
    let (mut played, mut judged) = (model.clone(), model.clone());
    let (mut one, mut other) = (solver::make(&args.solver)?, solver::make(&args.solver)?);
    let broken = |_| CliError::usage("the system of the benchmark cannot be played");
    let mut player = ModelPlayer::new(Ctx::new(&mut played, &mut one), 1).map_err(broken)?;
    let mut cx = Ctx::new(&mut judged, &mut other);
    let mut monitor = Monitor::new(&mut cx).with_relation(ConformanceRelation::usual(&model.sts));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let start = Instant::now();
    let mut done = 0;
    let mut tries = 0;
    while done < STEPS && tries < 100 * STEPS {
        tries += 1;
        let said = if rng.random_bool(0.5) { player.react().map_err(broken)? } else { None };
        let label = match said {
            Some(label) => label,
            None => {
                let label = random_input(model, &mut rng);
                let Some(label) = label.filter(|label| monitor.accepts(&mut cx, label)) else { continue };
                player.input(&label).map_err(broken)?;
                label
            }
        };
        monitor
            .observe(&mut cx, &label)
            .map_err(|_| CliError::usage("the monitor refused a step of the benchmark"))?;
        done += 1;
    }
    Ok((start.elapsed().as_secs_f64() * 1e3 / f64::from(done.max(1)), cx.pool.len()))
}

fn random_input(model: &Model, rng: &mut ChaCha8Rng) -> Option<Label> {
    let is_input = |(_, gate): &(GateId, &ioxide_model::sts::Gate)| gate.kind == GateKind::Input;
    let inputs: Vec<GateId> = model.sts.gates.iter_enumerated().filter(is_input).map(|(id, _)| id).collect();
    let gate = *inputs.get(rng.random_range(0..inputs.len().max(1)))?;
    let value = |&field| {
        let domain = model.pool.finite_domain(model.field_sort(field))?;
        Some(domain[rng.random_range(0..domain.len())].clone())
    };
    let values: Option<Vec<Value>> = model.sts.gates[gate].fields.iter().map(value).collect();
    Some(Label::Input(gate, values?))
}

/// Returns a system of independent parts.
fn independent(parts: u32) -> String {
    let mut text = "model P {\n input go(v: 0..9)\n output done(v: 0..9)\n var x: 0..9 = 0\n".to_owned();
    for state in 0..STATES {
        let next = (state + 1) % STATES;
        let line = if state % 2 == 0 { "on go { x = v }" } else { "emit done(v: x)" };
        let _ = writeln!(text, " state s{state} {{ {line} -> s{next} }}");
    }
    text + &format!("}}\nsystem S {{\n p[i in 1..{parts}]: P\n}}\n")
}

/// Returns a system of independent parts with few states.
fn independent_parts(parts: u32) -> String {
    format!(
        "model P {{\n input go\n output done\n input back\n output home
 state s0 {{ on go -> s1 }}\n state s1 {{ emit done -> s2 }}\n state s2 {{ on back -> s3 }}\n \
         state s3 {{ emit home -> s0 }}\n}}
system S {{\n p[i in 1..{parts}]: P\n}}\n"
    )
}

/// Returns a system of independent parts that each go through a row of steps, and from its end back to its start.
fn sequential(parts: u32) -> String {
    let mut text = "model P {\n input go\n output done\n output end\n".to_owned();
    for state in 0..STATES {
        let line = if state % 2 == 0 { "on go" } else { "emit done" };
        let _ = writeln!(text, " state s{state} {{ {line} -> s{} }}", state + 1);
    }
    let _ = writeln!(text, " state s{STATES} {{ emit end -> s0 }}");
    text + &format!("}}\nsystem S {{\n p[i in 1..{parts}]: P\n}}\n")
}

/// Returns a system of parts in a row; each hands the number it got to the next.
fn pipeline(parts: u32, hidden: bool) -> String {
    let mut text = "model P {\n input take(v: 0..9)\n output give(v: 0..9)\n var x: 0..9 = 0
 state empty { on take { x = v } -> full }
 state full { emit give(v: x) -> empty }\n}\n"
        .to_owned();
    let _ = writeln!(text, "system S {{\n p[i in 1..{parts}]: P");
    for part in 1..parts {
        let _ = writeln!(text, " p[{part}].give -> p[{}].take", part + 1);
        if hidden {
            let _ = writeln!(text, " hide p[{part}].give");
        }
    }
    text + "}\n"
}

/// Returns a system in which one part asks, and all others answer at once, in one joint step.
fn multiway(parts: u32) -> String {
    let mut text = "model Head {\n input go(v: 0..9)\n output tick(v: 0..9)\n var x: 0..9 = 0
 state idle { on go { x = v } -> ready }
 state ready { emit tick(v: x) -> idle }\n}
model Tail {\n input tick(v: 0..9)\n output low(v: 0..9)\n var x: 0..9 = 0
 state a { on tick when v >= 5 { x = v } -> a\n on tick when v < 5 { x = v } -> b }
 state b { emit low(v: x) -> a\n on tick { x = v } -> b }\n}\n"
        .to_owned();
    let _ = writeln!(
        text,
        "system S {{\n head: Head\n tail[i in 1..{}]: Tail\n head.tick -> tail.tick\n}}",
        parts - 1
    );
    text
}
