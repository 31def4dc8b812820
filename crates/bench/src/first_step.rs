//! `ioxide bench first-step`: the time until the default tester makes its first move.
//!
//! For every model below `examples`: reading it, making the solver, the preparation of the tester before its first run,
//! and its first decision, the quickest of three tries. The start of the program and of the system under test is not
//! included. Beside the time that passed stands the time on a processor, which other processes do not lengthen;
//! where the operating system tells it, it decides.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::{load, solver};
use ioxide_model::trace::Trace;
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::Tester as _;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use serde_json::{Map, Value as Json, json};

/// The folder of the models.
const FOLDER: &str = "examples";
/// The limit in seconds that every model should keep: what a user takes for an answer at once.
const MAX_SECONDS: f64 = 0.1;
/// The number of tries, of which the quickest counts. Chosen by feel: other programs only slow a try down.
const TRIES: usize = 3;
/// The number of models shown to people, those that take the longest; chosen by feel, they fit on a screen.
const SHOWN: usize = 8;

/// Measures and shows; the exit code says whether every model keeps the limit.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut times: Vec<(String, FirstStepTime)> = Vec::new();
    for path in models(Path::new(FOLDER))? {
        let name = path.to_string_lossy().into_owned();
        times.push((name.clone(), measure_quickest(args, &name)?));
    }
    times.sort_by(|a, b| b.1.limited_time().total_cmp(&a.1.limited_time()));
    let mut out = io::stdout().lock();
    if args.json {
        let figures = |of: fn(&FirstStepTime) -> Json| -> Map<String, Json> {
            times.iter().map(|(name, time)| (name.clone(), of(time))).collect()
        };
        let (seconds, on_cpu) = (figures(|time| json!(time.passed)), figures(|time| json!(time.on_cpu)));
        let told = json!({ "version": 1, "bench": "first-step", "seconds": seconds, "cpu_seconds": on_cpu });
        writeln!(out, "{told}")?;
    } else {
        show_first_steps(&mut out, &times)?
    }
    let is_quick = times.iter().all(|(_, time)| time.limited_time() < MAX_SECONDS);
    Ok(if is_quick { ExitStatus::Success } else { ExitStatus::Inconclusive })
}

/// Every model below `folder`, in order.
fn models(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let missing = |error| {
        CliError::new(ExitStatus::Nothing, format!("cannot read `{}`: {error}", folder.display()))
            .help("run this measurement at the root of the repository")
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(missing)?.flatten() {
        let path = entry.path();
        match path.extension().and_then(|ending| ending.to_str()) {
            _ if path.is_dir() => found.extend(models(&path)?),
            Some("iox" | "as") => found.push(path),
            _ => (),
        }
    }
    found.sort();
    Ok(found)
}

/// The time until the first step, in seconds.
#[derive(Clone, Copy, Debug)]
struct FirstStepTime {
    /// The time that passed.
    passed: f64,
    /// The time that this thread was on a processor; `None` where the operating system does not tell it.
    on_cpu: Option<f64>,
}

impl FirstStepTime {
    /// Returns the time that the limit is about.
    fn limited_time(&self) -> f64 {
        self.on_cpu.unwrap_or(self.passed)
    }
}

/// Returns the quickest of some tries.
fn measure_quickest(args: &BenchArgs, file: &str) -> Result<FirstStepTime, CliError> {
    let tries: Vec<FirstStepTime> = (0..TRIES).map(|_| measure(args, file)).collect::<Result<_, _>>()?;
    let none = || CliError::new(ExitStatus::Internal, "no try was made");
    tries.into_iter().min_by(|a, b| a.limited_time().total_cmp(&b.limited_time())).ok_or_else(none)
}

/// Measures the time until the default tester makes its first move on the model.
fn measure(args: &BenchArgs, file: &str) -> Result<FirstStepTime, CliError> {
    let (start, cpu_start) = (Instant::now(), thread_seconds());
    let (_, mut model) = load::load_model(file, &[])?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let mut hunt = HuntTester::new(HuntConfig::default());
    hunt.prepare(&mut cx);
    hunt.start(1);
    let monitor = Monitor::new(&mut cx);
    let _first = hunt.next(&mut cx, &monitor, &Trace::default());
    let on_cpu = cpu_start.zip(thread_seconds()).map(|(start, end)| end - start);
    Ok(FirstStepTime { passed: start.elapsed().as_secs_f64(), on_cpu })
}

/// Returns the seconds that this thread has been on a processor, on systems that tell it.
pub fn thread_seconds() -> Option<f64> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = told.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// Shows the slowest models.
fn show_first_steps(out: &mut impl Write, times: &[(String, FirstStepTime)]) -> io::Result<()> {
    writeln!(out, "seconds until the first step, the longest of {} models", times.len())?;
    writeln!(out, "  passed  on CPU")?;
    for (name, time) in times.iter().take(SHOWN) {
        let on_cpu = time.on_cpu.map_or("-".to_owned(), |seconds| format!("{seconds:.3}"));
        writeln!(out, "{:>8.3}  {on_cpu:>6}  {name}", time.passed)?;
    }
    Ok(())
}
