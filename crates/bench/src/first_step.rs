//! `ioxide bench first-step`: the time until the default tester makes its first move.
//!
//! For every model below `examples`: reading it, making the solver, the preparation of the tester before its first run,
//! and its first decision. The start of the program and of the system under test is not included.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ioxide_cli::args::BenchArgs;
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
const MAX_SECONDS: f64 = 1.0;
/// The number of models shown to people, those that take the longest; chosen by feel, they fit on a screen.
const SHOWN: usize = 8;

/// Measures and shows; the exit code says whether every model keeps the limit.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut times: Vec<(String, f64)> = Vec::new();
    for path in models(Path::new(FOLDER))? {
        let name = path.to_string_lossy().into_owned();
        times.push((name.clone(), seconds(args, &name)?));
    }
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut out = io::stdout().lock();
    if args.json {
        let all: Map<String, Json> = times.iter().map(|(name, time)| (name.clone(), json!(time))).collect();
        writeln!(out, "{}", json!({ "version": 1, "bench": "first-step", "seconds": all }))?;
    } else {
        show(&mut out, &times)?
    }
    let is_quick = times.iter().all(|(_, time)| *time < MAX_SECONDS);
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

/// Returns the seconds until the default tester makes its first move on the model.
fn seconds(args: &BenchArgs, file: &str) -> Result<f64, CliError> {
    let start = Instant::now();
    let (_, mut model) = load::load_model(file, &[])?;
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let mut hunt = HuntTester::new(HuntConfig::default());
    hunt.prepare(&mut cx);
    hunt.start(1);
    let monitor = Monitor::new(&mut cx);
    let _first = hunt.next(&mut cx, &monitor, &Trace::default());
    Ok(start.elapsed().as_secs_f64())
}

/// Shows the slowest models.
fn show(out: &mut impl Write, times: &[(String, f64)]) -> io::Result<()> {
    writeln!(out, "seconds until the first step, the longest of {} models", times.len())?;
    for (name, time) in times.iter().take(SHOWN) {
        writeln!(out, "{time:>8.3}  {name}")?;
    }
    Ok(())
}
