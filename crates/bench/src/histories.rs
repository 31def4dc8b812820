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
    let rows: Vec<Json> = recorded.iter().chain(&generated).map(HistoryRow::to_json).collect();
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", json!({ "version": 1, "bench": "histories", "rows": rows }))?;
        return Ok(ExitStatus::Success);
    }
    show_recorded(&mut out, &recorded)?;
    writeln!(out, "generated: operations, clients, open %   verdict       configurations        ms")?;
    for row in &generated {
        let HistoryRow { name, verdict, configurations, verdict_time, .. } = row;
        let verdict = verdict.to_string();
        writeln!(out, "{name:<40} {verdict:<13} {configurations:>14} {:>9.1}", milliseconds(*verdict_time))?;
    }
    writeln!(out, "{}", describe_usage())?;
    Ok(ExitStatus::Success)
}

/// The verdict on one history, and what it took.
struct HistoryRow {
    name: String,
    /// The group that the table shows in one line.
    group: String,
    operations: usize,
    /// True, false or `"unknown"`.
    verdict: Json,
    configurations: u64,
    /// The time up to the verdict, the proof that the model is sequential included.
    verdict_time: Duration,
    /// The time with the core of a failure.
    whole_time: Duration,
}

impl HistoryRow {
    fn to_json(&self) -> Json {
        json!({
            "name": self.name, "operations": self.operations, "verdict": self.verdict,
            "seconds": self.verdict_time.as_secs_f64(), "seconds_with_core": self.whole_time.as_secs_f64(),
            "configurations": self.configurations,
        })
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Writes a line for each group of recorded histories.
fn show_recorded(out: &mut impl Write, rows: &[HistoryRow]) -> io::Result<()> {
    writeln!(out, "recorded    histories  linearizable  not  unknown       ms  worst ms  ms with cores")?;
    for group in rows.chunk_by(|one, other| one.group == other.group) {
        let count = |verdict: Json| group.iter().filter(|row| row.verdict == verdict).count();
        let times = group.iter().map(|row| row.verdict_time);
        let (total, worst) = (times.clone().sum(), times.max().unwrap_or_default());
        writeln!(
            out,
            "{:<11} {:>9} {:>13} {:>4} {:>8} {:>8.1} {:>9.1} {:>14.1}",
            group[0].group,
            group.len(),
            count(json!(true)),
            count(json!(false)),
            count(json!("unknown")),
            milliseconds(total),
            milliseconds(worst),
            milliseconds(group.iter().map(|row| row.whole_time).sum()),
        )?;
    }
    Ok(())
}

/// Returns the processor time and the memory of this process so far, where the system tells them.
fn describe_usage() -> String {
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(String::new, |peak| format!("greatest memory: {}", peak.trim()))
}

fn model(text: &str) -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add("bench.iox", text);
    let broken = || CliError::usage("the model of the benchmark does not load");
    load(&sources, file, &LoadOptions::default()).model.ok_or_else(broken)
}

/// Judges a history twice: for the verdict alone, and with the core of a failure.
fn judge(args: &BenchArgs, model: &Model, history: &History) -> Result<HistoryRow, CliError> {
    let (judged, verdict_time) = judge_once(args, model, history, true)?;
    let verdict = match judged.verdict {
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => json!(true),
        HistoryVerdict::Inconsistent(_) => json!(false),
        HistoryVerdict::Unknown(_) => json!("unknown"),
    };
    // Only a failure has a core.
    let whole_time =
        if verdict == json!(false) { judge_once(args, model, history, false)?.1 } else { verdict_time };
    let (operations, configurations) = (history.operations.len(), judged.configurations);
    let (name, group) = (String::new(), String::new());
    Ok(HistoryRow { name, group, operations, verdict, configurations, verdict_time, whole_time })
}

/// Judges a history, the proof that the model is sequential included.
fn judge_once(
    args: &BenchArgs,
    model: &Model,
    history: &History,
    skips_core: bool,
) -> Result<(HistoryJudgement, Duration), CliError> {
    let mut model = model.clone();
    let mut solver = solver::make(&args.solver)?;
    let start = Instant::now();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let broken = |_| CliError::usage("the model of the benchmark is not sequential");
    let sequential = prove_sequential(&mut cx).map_err(broken)?;
    let limits = SearchLimits { halt: limit::brief(LIMIT), ..SearchLimits::default() };
    let config = HistoryConfig { limits, skips_core, ..HistoryConfig::default() };
    let judged = judge_history(&mut cx, &sequential, history, &config);
    Ok((judged, start.elapsed()))
}

fn measure_recorded(args: &BenchArgs, folder: &Path) -> Result<Vec<HistoryRow>, CliError> {
    let mapping = Project::parse(PROJECT)?.history_mapping()?;
    let (register, store) = (model(REGISTER)?, model(STORE)?);
    let mut rows = Vec::new();
    for (folder, model, group) in
        [(folder.join("etcd"), &register, Some("etcd")), (folder.join("kv"), &store, None)]
    {
        for file in list_files(&folder)? {
            let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let group = group.unwrap_or(&name).to_owned();
            let text = fs::read_to_string(&file)?;
            let history = read_file(&file.display().to_string(), model, &text, &mapping)?;
            rows.push(HistoryRow { group, name, ..judge(args, model, &history)? });
        }
    }
    Ok(rows)
}

fn list_files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let entries = fs::read_dir(folder)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn measure_generated(
    args: &BenchArgs,
    operations: usize,
    clients: usize,
    open: u32,
) -> Result<HistoryRow, CliError> {
    let model = model(GENERATED)?;
    let history = generate(&model, operations, clients, open)?;
    let name = format!("{operations} operations, {clients} clients, {open} % open");
    Ok(HistoryRow { name, ..judge(args, &model, &history)? })
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
