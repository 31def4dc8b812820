//! Histories of concurrent clients: the recorded ones of the folder in `IOXIDE_DATA` (`histories/etcd`,
//! `histories/kv`), and generated ones of a register by operations, clients and open operations.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use ioxide_cli::args::BenchArgs;
use ioxide_cli::commands::judge::history::read_file;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::{limit, solver};
use ioxide_history::read::HistoryMapping;
use ioxide_history::{
    History, HistoryBuilder, HistoryConfig, HistoryJudgement, HistoryVerdict, SearchLimits, judge_history,
    prove_sequential,
};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_project::Project;
use ioxide_symex::Ctx;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

const REGISTER: &str = include_str!("../../../examples/histories/register.iox");
const STORE: &str = include_str!("../../../examples/histories/store.iox");
const PROJECT: &str = include_str!("../../../examples/histories/ioxide.toml");

/// The register of the generated histories; its values are few, so that operations collide.
const GENERATED: &str =
    "model R { input read input write(v: int) output value(v: int) output written var held: int = 0
    state idle { on read -> reading on write { held = v } -> writing }
    state reading { emit value(v: held) -> idle } state writing { emit written -> idle } }";

/// The time that one generated history may take. Chosen by feel: the whole measurement stays within minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// Measures and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let recorded = match env::var_os("IOXIDE_DATA").map(|folder| PathBuf::from(folder).join("histories")) {
        Some(folder) if folder.is_dir() => measure_recorded(args, &folder)?,
        _ => Vec::new(),
    };
    let mut generated = Vec::new();
    for operations in [10, 100, 1_000, 10_000] {
        for clients in [2, 5, 10, 50] {
            for open in [0, 5, 20] {
                generated.push(measure_generated(args, operations, clients, open)?);
            }
        }
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(
            out,
            "{}",
            json!({ "version": 1, "bench": "histories", "recorded": recorded, "generated": generated })
        )?;
        return Ok(ExitStatus::Success);
    }
    let text = |row: &Json, key: &str| row[key].as_str().map_or_else(|| row[key].to_string(), str::to_owned);
    writeln!(out, "recorded           histories  linearizable  not  unknown       ms  worst ms")?;
    for row in &recorded {
        writeln!(
            out,
            "{:<18} {:>9} {:>13} {:>4} {:>8} {:>8.1} {:>9.1}",
            text(row, "name"),
            text(row, "histories"),
            text(row, "pass"),
            text(row, "fail"),
            text(row, "unknown"),
            row["ms"].as_f64().unwrap_or(0.0),
            row["worst_ms"].as_f64().unwrap_or(0.0),
        )?;
    }
    writeln!(out, "operations  clients  open %  verdict       configurations        ms")?;
    for row in &generated {
        writeln!(
            out,
            "{:>10} {:>8} {:>7}  {:<13} {:>14} {:>9.1}",
            text(row, "operations"),
            text(row, "clients"),
            text(row, "open_percent"),
            text(row, "verdict"),
            text(row, "configurations"),
            row["ms"].as_f64().unwrap_or(0.0),
        )?;
    }
    Ok(ExitStatus::Success)
}

fn model(text: &str) -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add("bench.iox", text);
    let broken = || CliError::usage("the model of the benchmark does not load");
    load(&sources, file, &LoadOptions::default()).model.ok_or_else(broken)
}

/// Judges a history, the proof that the model is sequential included.
fn judge(args: &BenchArgs, model: &Model, history: &History) -> Result<(HistoryJudgement, f64), CliError> {
    let mut model = model.clone();
    let mut solver = solver::make(&args.solver)?;
    let start = Instant::now();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let broken = |_| CliError::usage("the model of the benchmark is not sequential");
    let sequential = prove_sequential(&mut cx).map_err(broken)?;
    let limits = SearchLimits { max_configurations: 0, halt: limit::brief(LIMIT) };
    let config = HistoryConfig { limits, ..HistoryConfig::default() };
    let judged = judge_history(&mut cx, &sequential, history, &config);
    Ok((judged, start.elapsed().as_secs_f64() * 1000.0))
}

fn measure_recorded(args: &BenchArgs, folder: &Path) -> Result<Vec<Json>, CliError> {
    let mapping = Project::parse(PROJECT)?.history_mapping()?;
    let (register, store) = (model(REGISTER)?, model(STORE)?);
    let mut rows =
        vec![measure_files(args, "etcd", &register, &mapping, &list_files(&folder.join("etcd"))?)?];
    for file in list_files(&folder.join("kv"))? {
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        rows.push(measure_files(args, &name, &store, &mapping, &[file])?);
    }
    Ok(rows)
}

fn list_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(folder)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn measure_files(
    args: &BenchArgs,
    name: &str,
    model: &Model,
    mapping: &HistoryMapping,
    files: &[PathBuf],
) -> Result<Json, CliError> {
    let (mut pass, mut fail, mut unknown, mut total, mut worst) = (0, 0, 0, 0.0, 0.0_f64);
    for file in files {
        let history = read_file(&file.display().to_string(), model, &fs::read_to_string(file)?, mapping)?;
        let (judged, ms) = judge(args, model, &history)?;
        match judged.verdict {
            HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => pass += 1,
            HistoryVerdict::Inconsistent(_) => fail += 1,
            HistoryVerdict::Unknown(_) => unknown += 1,
        }
        total += ms;
        worst = worst.max(ms);
    }
    Ok(json!({
        "name": name, "histories": files.len(), "pass": pass, "fail": fail, "unknown": unknown,
        "ms": total, "worst_ms": worst,
    }))
}

fn measure_generated(
    args: &BenchArgs,
    operations: usize,
    clients: usize,
    open: u32,
) -> Result<Json, CliError> {
    let model = model(GENERATED)?;
    let history = generate(&model, operations, clients, open)?;
    let (judged, ms) = judge(args, &model, &history)?;
    let verdict = match judged.verdict {
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => "linearizable".to_owned(),
        HistoryVerdict::Inconsistent(_) => "not".to_owned(),
        HistoryVerdict::Unknown(_) => "unknown".to_owned(),
    };
    Ok(json!({
        "operations": operations, "clients": clients, "open_percent": open, "verdict": verdict,
        "configurations": judged.configurations, "ms": ms,
    }))
}

/// An operation of a generated history that has not returned.
enum RunningOperation {
    /// It has not taken effect.
    Waiting(Label),
    /// It has, with this answer.
    Done(Label),
}

/// Generates the history of a correct register: every operation takes effect at some instant between its call and its
/// return. Of the operations that stay open half take effect.
fn generate(model: &Model, operations: usize, clients: usize, open: u32) -> Result<History, CliError> {
    let gate = |name: &str| model.sts.gate_named(name).ok_or_else(|| CliError::usage("a message is missing"));
    let (read, write, value, written) = (gate("read")?, gate("write")?, gate("value")?, gate("written")?);
    let mut random = ChaCha8Rng::seed_from_u64((operations * 1000 + clients) as u64 + u64::from(open));
    let mut running: Vec<Option<RunningOperation>> = (0..clients).map(|_| None).collect();
    let mut names: Vec<usize> = (0..clients).collect();
    let (mut next_name, mut called, mut held) = (clients, 0, 0_i64);
    let mut builder = HistoryBuilder::default();
    let broken = |_| CliError::usage("the history of the benchmark is not in order");
    while called < operations || running.iter().any(Option::is_some) {
        let client = random.random_range(0..clients);
        let name = names[client].to_string();
        running[client] = match running[client].take() {
            None if called == operations => None,
            None => {
                called += 1;
                let input = match random.random_range(0..2) {
                    0 => Label::Input(read, Vec::new()),
                    _ => Label::Input(write, vec![Value::int(random.random_range(0..5))]),
                };
                builder.call(&name, input.clone(), None).map_err(broken)?;
                Some(RunningOperation::Waiting(input))
            }
            Some(RunningOperation::Waiting(_)) if random.random_range(0..200) < open => {
                names[client] = next_name;
                next_name += 1;
                None
            }
            Some(RunningOperation::Waiting(Label::Input(_, values))) => {
                Some(RunningOperation::Done(match &values[..] {
                    [Value::Int(new)] => {
                        held = new.to_string().parse().unwrap_or(0);
                        Label::Output(written, Vec::new())
                    }
                    _ => Label::Output(value, vec![Value::int(held)]),
                }))
            }
            Some(RunningOperation::Waiting(_)) => None,
            Some(RunningOperation::Done(_)) if random.random_range(0..200) < open => {
                names[client] = next_name;
                next_name += 1;
                None
            }
            Some(RunningOperation::Done(output)) => {
                builder.answer(&name, output, None).map_err(broken)?;
                None
            }
        };
    }
    Ok(builder.finish())
}
