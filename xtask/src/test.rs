//! `cargo xtask test`: all tests, module by module, side by side.
//!
//! Every crate has one program of integration tests and one of unit tests. The tests of a module are run in a process
//! of their own; as many modules run at once as there are cores, and more while the cores are idle, since many tests
//! wait for systems that they start. A test that fails there is run once more, with nothing beside it. If it passes
//! then, the run passes, and says so: it is a defect of the test or of what it tests.

mod build;
mod idle;
mod job;
mod output;
mod processor_time;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

use idle::ProcessorTimes;
use job::{JobEnd, TestJob};

use crate::campaigns::Problem;

/// Tests of one module that run at once, unless `RUST_TEST_THREADS` says otherwise: most of them start a system and
/// wait.
const THREADS: usize = 2;

/// The slowest modules that a run names.
const N_SLOWEST: usize = 5;

/// The slowest modules and their seconds in some earlier run, as `target/tests/seconds` has them. It decides only what
/// begins first where nothing ran before: a long job that begins last keeps one core waiting for another.
const SLOW_MODULES: &str = include_str!("test/slow_modules.tsv");

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
    job::sort_by_time(&mut jobs, &fs::read_to_string(&times).unwrap_or_else(|_| SLOW_MODULES.to_owned()));
    let before = ProcessorTimes::now();
    let ends = run_all(jobs, &logs);
    let busy = describe_busy_share(before);
    fs::write(&times, job::times(&ends))?;
    let n_tests: usize = ends.iter().map(|end| end.n_passed).sum();
    say(&format!("{n_tests} tests passed in {} s{busy}; {}", began.elapsed().as_secs(), slowest(&ends)));
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

/// Jobs that may run at once on one core. Tests wait for a tenth of a second to a minute at a time, and a test that
/// waits still needs some memory and some ports: with four jobs on each core the cores are busy nearly all the time.
const MAX_JOBS_PER_CORE: usize = 4;

/// The share of idle processor time above which one more job is begun: less than half a core of two.
const IDLE_SHARE: f64 = 0.2;

/// The time over which idleness is measured: longer than the start of a test program.
const IDLE_PERIOD: Duration = Duration::from_secs(1);

/// Runs the jobs side by side, in their order: one on each core at any time, and more while the cores are idle.
fn run_all(jobs: Vec<TestJob>, logs: &Path) -> Vec<JobEnd> {
    let n_cores = thread::available_parallelism().map_or(2, usize::from);
    let waiting = Mutex::new(jobs.into_iter().enumerate().collect::<VecDeque<_>>());
    let ends = Mutex::new(Vec::new());
    let next = || waiting.lock().ok()?.pop_front();
    let is_empty = || waiting.lock().is_ok_and(|jobs| jobs.is_empty());
    // Whoever measures idleness keeps the others from beginning a job in the same second.
    let measuring = Mutex::new(());
    let wait_for_idle_cores = || {
        let _alone = measuring.lock();
        while !is_empty() && !has_idle_cores() {}
    };
    thread::scope(|scope| {
        for lane in 0..n_cores * MAX_JOBS_PER_CORE {
            let (next, ends, wait_for_idle_cores) = (&next, &ends, &wait_for_idle_cores);
            scope.spawn(move || {
                loop {
                    if lane >= n_cores {
                        wait_for_idle_cores();
                    }
                    let Some((n, job)) = next() else { return };
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

/// Measures for [`IDLE_PERIOD`] whether the cores have time for one more job; never where the system does not tell.
fn has_idle_cores() -> bool {
    let before = ProcessorTimes::now();
    thread::sleep(IDLE_PERIOD);
    let share = before.zip(ProcessorTimes::now()).and_then(|(before, now)| now.idle_share_since(before));
    share.is_some_and(|share| share > IDLE_SHARE)
}

fn threads() -> usize {
    let set = std::env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(THREADS)
}

/// Says how busy the cores were since `before`; nothing where the system does not tell.
fn describe_busy_share(before: Option<ProcessorTimes>) -> String {
    let share = before.zip(ProcessorTimes::now()).and_then(|(before, now)| now.idle_share_since(before));
    share.map_or_else(String::new, |idle| format!(", the cores were busy for {:.0} %", 100.0 * (1.0 - idle)))
}

/// The modules that took longest, with the seconds they took.
fn slowest(ends: &[JobEnd]) -> String {
    let mut ends: Vec<&JobEnd> = ends.iter().collect();
    ends.sort_by_key(|end| std::cmp::Reverse(end.took));
    let shown = ends.iter().take(N_SLOWEST).map(|end| format!("{} {} s", end.name, end.took.as_secs()));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let processor_time: Duration = ends.iter().filter_map(|end| end.processor_time).sum();
    format!("slowest: {shown}; processor time: {} s", processor_time.as_secs())
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
