//! `cargo xtask test`: all tests, module by module, side by side.
//!
//! Every crate has one program of integration tests and one of unit tests. The tests of a module are run in a process of
//! their own; as many modules run at once as there are cores, and one more, since many tests wait for systems that they
//! start. A test that fails there is run once more, with nothing beside it. If it passes then, the run passes, and says
//! so: it is a defect of the test or of what it tests.

mod build;
mod job;
mod output;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;
use std::{fs, thread};

use job::{JobEnd, TestJob};

use crate::campaigns::Problem;

/// Tests of one module that run at once, unless `RUST_TEST_THREADS` says otherwise: most of them start a system and wait.
const THREADS: usize = 2;

/// The slowest modules that a run names.
const N_SLOWEST: usize = 5;

/// Builds and runs all tests, those of the measurements only if `options` has `--measurements`.
pub fn test(root: &Path, options: &[&str]) -> Result<ExitCode, Problem> {
    let is_measuring = match options {
        [] => false,
        ["--measurements"] => true,
        _ => return Err("test takes `--measurements` and nothing else".into()),
    };
    let began = Instant::now();
    let programs = build::test_programs(root, is_measuring)?;
    say(&format!("{} test programs are built: {} s", programs.len(), began.elapsed().as_secs()));
    let began = Instant::now();
    let logs = logs(root)?;
    let mut jobs = job::doc_tests(root, is_measuring);
    for program in &programs {
        jobs.extend(job::modules(program)?);
    }
    let times = logs.join("seconds");
    job::sort_by_time(&mut jobs, &fs::read_to_string(&times).unwrap_or_default());
    let ends = run_all(jobs, &logs);
    fs::write(&times, job::times(&ends))?;
    let n_tests: usize = ends.iter().map(|end| end.n_passed).sum();
    say(&format!("{n_tests} tests passed in {} s; {}", began.elapsed().as_secs(), slowest(&ends)));
    judge(&ends)
}

fn say(text: &str) {
    eprintln!("x: {text}");
}

/// A folder for the output of the tests, in the folder that cargo builds in.
fn logs(root: &Path) -> Result<PathBuf, Problem> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let logs = target.join("tests");
    fs::create_dir_all(&logs)?;
    // Those of an earlier run would be taken for this one's.
    for entry in fs::read_dir(&logs)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            fs::remove_file(path)?;
        }
    }
    Ok(logs)
}

/// Runs the jobs side by side, in their order.
fn run_all(jobs: Vec<TestJob>, logs: &Path) -> Vec<JobEnd> {
    let n_lanes = thread::available_parallelism().map_or(2, usize::from) + 1;
    let waiting = Mutex::new(jobs.into_iter().enumerate().collect::<VecDeque<_>>());
    let ends = Mutex::new(Vec::new());
    let next = || waiting.lock().ok()?.pop_front();
    thread::scope(|scope| {
        for _ in 0..n_lanes {
            scope.spawn(|| {
                while let Some((n, job)) = next() {
                    let end = job.run(&logs.join(format!("{n}.log")), threads());
                    if !end.failed.is_empty() {
                        say(&format!("{}: {} failed", end.name, end.failed.len()));
                    }
                    if let Ok(mut ends) = ends.lock() {
                        ends.push(end);
                    }
                }
            });
        }
    });
    ends.into_inner().unwrap_or_default()
}

fn threads() -> usize {
    let set = std::env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(THREADS)
}

/// The modules that took longest, with the seconds they took.
fn slowest(ends: &[JobEnd]) -> String {
    let mut ends: Vec<&JobEnd> = ends.iter().collect();
    ends.sort_by_key(|end| std::cmp::Reverse(end.took));
    let shown = ends.iter().take(N_SLOWEST).map(|end| format!("{} {} s", end.name, end.took.as_secs()));
    format!("slowest: {}", shown.collect::<Vec<_>>().join(", "))
}

/// Runs what failed once more, each test with nothing beside it.
fn judge(ends: &[JobEnd]) -> Result<ExitCode, Problem> {
    let failed: Vec<&TestJob> = ends.iter().flat_map(|end| &end.failed).collect();
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("{} failed; once more, each on its own", failed.len()));
    let log = std::env::temp_dir().join(format!("ioxide-test-{}.log", std::process::id()));
    let mut unsteady = Vec::new();
    let mut n_broken = 0;
    for job in failed {
        let end = job.run(&log, 1);
        if end.failed.is_empty() {
            unsteady.push(end.name);
        } else {
            n_broken += 1;
            eprintln!("{}", fs::read_to_string(&log).unwrap_or_default());
        }
    }
    fs::remove_file(&log).ok();
    if !unsteady.is_empty() {
        say(&format!("passed only on their own, look into these: {}", unsteady.join(", ")));
    }
    say(&format!("{n_broken} of {} failed again", n_broken + unsteady.len()));
    Ok(if n_broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
