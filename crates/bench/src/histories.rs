//! Histories of concurrent clients: the recorded ones of the folder in `IOXIDE_DATA` (`histories/etcd`,
//! `histories/kv`), and generated ones of a register and a queue by operations, clients and open operations.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use ioxide_args::BenchArgs;
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
use ioxide_model::sts::{GateId, Model};
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

/// The register of generated histories; its values are few, so that operations collide.
const GENERATED_REGISTER: &str =
    "model R { input read input write(v: int) output value(v: int) output written var held: int = 0
    state idle { on read -> reading on write { held = v } -> writing }
    state reading { emit value(v: held) -> idle } state writing { emit written -> idle } }";

/// The queue of generated histories; every value is pushed once.
const GENERATED_QUEUE: &str = "model Q {
    input push(v: int) input take input size
    output pushed output taken(v: int) output none_left output count(n: int)
    var items: list<int> = []
    state idle {
        on push { items = items + [v] } -> stored
        on take -> asked
        on size -> counting
    }
    state stored { emit pushed -> idle }
    state asked {
        emit none_left when items.is_empty() -> idle
        emit taken(v: first) when let some(first) = items.first() { items = items.drop(1) } -> idle
    }
    state counting { emit count(n: items.length()) -> idle } }";

/// The time that one generated history may take. Chosen by feel: the whole measurement stays within minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// The time that is spent on judging one history again and again: the shortest time is the least disturbed by other
/// programs. Chosen by feel: a short history is judged some dozen times, a long one once.
const REPETITION_TIME: Duration = Duration::from_millis(60);

/// The greatest number of times that one history is judged. Chosen by feel.
const MAX_REPETITIONS: usize = 101;

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
                generated.push(measure_generated::<Register>(args, operations, clients, open)?);
            }
        }
    }
    for (operations, clients) in [(100, 5), (200, 5), (300, 5), (1_000, 5), (200, 10), (1_000, 10)] {
        generated.push(measure_generated::<Queue>(args, operations, clients, 0)?);
    }
    let rows: Vec<Json> = recorded.iter().chain(&generated).map(HistoryRow::to_json).collect();
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", json!({ "version": 1, "bench": "histories", "rows": rows }))?;
        return Ok(ExitStatus::Success);
    }
    show_recorded(&mut out, &recorded)?;
    writeln!(out, "generated: operations, clients, open %   linearizable  configurations        ms")?;
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
    /// The shortest time up to the verdict, the proof that the model is sequential included.
    verdict_time: Duration,
    /// The shortest time with the core of a failure.
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

/// Judges a history for the verdict alone, and with the core of a failure.
fn judge(args: &BenchArgs, model: &Model, history: &History) -> Result<HistoryRow, CliError> {
    let (judged, verdict_time) = judge_repeatedly(args, model, history, true)?;
    let verdict = match judged.verdict {
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => json!(true),
        HistoryVerdict::Inconsistent(_) => json!(false),
        HistoryVerdict::Unknown(_) => json!("unknown"),
    };
    // Only a failure has a core.
    let is_failure = verdict == json!(false);
    let whole_time = if is_failure { judge_repeatedly(args, model, history, false)?.1 } else { verdict_time };
    let (operations, configurations) = (history.operations.len(), judged.configurations);
    let (name, group) = (String::new(), String::new());
    Ok(HistoryRow { name, group, operations, verdict, configurations, verdict_time, whole_time })
}

/// Judges a history until [`REPETITION_TIME`] is used, with nothing kept from one time to the next; returns the
/// shortest time.
fn judge_repeatedly(
    args: &BenchArgs,
    model: &Model,
    history: &History,
    skips_core: bool,
) -> Result<(HistoryJudgement, Duration), CliError> {
    let start = Instant::now();
    let (judged, mut shortest) = judge_once(args, model, history, skips_core)?;
    for _ in 1..MAX_REPETITIONS {
        if start.elapsed() >= REPETITION_TIME {
            break;
        }
        shortest = shortest.min(judge_once(args, model, history, skips_core)?.1);
    }
    Ok((judged, shortest))
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

/// A correct system in memory, whose histories are generated.
trait GeneratedSystem: Sized {
    const NAME: &str;
    const MODEL: &str;

    fn start(model: &Model) -> Option<Self>;

    /// Returns the input of the operation with this number.
    fn draw_input(&self, random: &mut ChaCha8Rng, number: usize) -> Label;

    /// Carries out an operation and returns its answer.
    fn answer(&mut self, input: &Label) -> Label;
}

/// A register that is read and written.
struct Register {
    read: GateId,
    write: GateId,
    value: GateId,
    written: GateId,
    held: Value,
}

impl GeneratedSystem for Register {
    const NAME: &str = "register";
    const MODEL: &str = GENERATED_REGISTER;

    fn start(model: &Model) -> Option<Self> {
        let gate = |name: &str| model.sts.gate_named(name);
        let held = Value::int(0);
        Some(Self {
            read: gate("read")?,
            write: gate("write")?,
            value: gate("value")?,
            written: gate("written")?,
            held,
        })
    }

    fn draw_input(&self, random: &mut ChaCha8Rng, _number: usize) -> Label {
        match random.random_range(0..2) {
            0 => Label::Input(self.read, Vec::new()),
            _ => Label::Input(self.write, vec![Value::int(random.random_range(0..5))]),
        }
    }

    fn answer(&mut self, input: &Label) -> Label {
        match input {
            Label::Input(_, values) if !values.is_empty() => {
                self.held = values[0].clone();
                Label::Output(self.written, Vec::new())
            }
            _ => Label::Output(self.value, vec![self.held.clone()]),
        }
    }
}

/// A queue whose size can be asked for.
struct Queue {
    push: GateId,
    take: GateId,
    size: GateId,
    pushed: GateId,
    taken: GateId,
    none_left: GateId,
    count: GateId,
    items: VecDeque<Value>,
}

impl GeneratedSystem for Queue {
    const NAME: &str = "queue";
    const MODEL: &str = GENERATED_QUEUE;

    fn start(model: &Model) -> Option<Self> {
        let gate = |name: &str| model.sts.gate_named(name);
        Some(Self {
            push: gate("push")?,
            take: gate("take")?,
            size: gate("size")?,
            pushed: gate("pushed")?,
            taken: gate("taken")?,
            none_left: gate("none_left")?,
            count: gate("count")?,
            items: VecDeque::new(),
        })
    }

    fn draw_input(&self, random: &mut ChaCha8Rng, number: usize) -> Label {
        match random.random_range(0..5) {
            0 | 1 => Label::Input(self.push, vec![Value::int(i64::try_from(number).unwrap_or(0))]),
            2 | 3 => Label::Input(self.take, Vec::new()),
            _ => Label::Input(self.size, Vec::new()),
        }
    }

    fn answer(&mut self, input: &Label) -> Label {
        match input {
            Label::Input(_, values) if !values.is_empty() => {
                self.items.push_back(values[0].clone());
                Label::Output(self.pushed, Vec::new())
            }
            Label::Input(gate, _) if *gate == self.take => match self.items.pop_front() {
                Some(first) => Label::Output(self.taken, vec![first]),
                None => Label::Output(self.none_left, Vec::new()),
            },
            _ => {
                let size = i64::try_from(self.items.len()).unwrap_or(0);
                Label::Output(self.count, vec![Value::int(size)])
            }
        }
    }
}

fn measure_generated<S: GeneratedSystem>(
    args: &BenchArgs,
    operations: usize,
    clients: usize,
    open: u32,
) -> Result<HistoryRow, CliError> {
    let model = model(S::MODEL)?;
    let system = S::start(&model).ok_or_else(|| CliError::usage("a message is missing"))?;
    let history = generate(system, operations, clients, open)?;
    let name = format!("{}: {operations}, {clients}, {open}", S::NAME);
    Ok(HistoryRow { name, ..judge(args, &model, &history)? })
}

/// An operation of a generated history that has not returned.
enum RunningOperation {
    /// It has not taken effect.
    Waiting(Label),
    /// It has, with this answer.
    Done(Label),
}

/// Generates the history of a correct system: every operation takes effect at some instant between its call and its
/// return. Of the operations that stay open half take effect.
fn generate<S: GeneratedSystem>(
    mut system: S,
    operations: usize,
    clients: usize,
    open: u32,
) -> Result<History, CliError> {
    let mut random = ChaCha8Rng::seed_from_u64((operations * 1000 + clients) as u64 + u64::from(open));
    let mut running: Vec<Option<RunningOperation>> = (0..clients).map(|_| None).collect();
    let mut names: Vec<usize> = (0..clients).collect();
    let (mut next_name, mut called) = (clients, 0);
    let mut builder = HistoryBuilder::default();
    let broken = |_| CliError::usage("the history of the benchmark is not in order");
    while called < operations || running.iter().any(Option::is_some) {
        let client = random.random_range(0..clients);
        let name = names[client].to_string();
        running[client] = match running[client].take() {
            None if called == operations => None,
            None => {
                called += 1;
                let input = system.draw_input(&mut random, called);
                builder.call(&name, input.clone(), None).map_err(broken)?;
                Some(RunningOperation::Waiting(input))
            }
            // The client does not go on under this name.
            Some(_) if random.random_range(0..200) < open => {
                names[client] = next_name;
                next_name += 1;
                None
            }
            Some(RunningOperation::Waiting(input)) => Some(RunningOperation::Done(system.answer(&input))),
            Some(RunningOperation::Done(output)) => {
                builder.answer(&name, output, None).map_err(broken)?;
                None
            }
        };
    }
    Ok(builder.finish())
}
