//! A job: the tests of one module of one test program, in a process of their own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::build::{TestProgram, packages};
use super::output::results;
use super::processor_time;
use crate::campaigns::{Problem, cargo};

/// A process that runs tests.
pub struct TestJob {
    /// The name of the job: program and module.
    name: String,
    kind: JobKind,
}

/// The two kinds of jobs.
enum JobKind {
    /// Tests of a program, by their names.
    Tests { program: TestProgram, tests: Vec<String> },
    /// The tests in the docs, which cargo builds and runs.
    Docs { root: std::path::PathBuf, is_measuring: bool },
}

/// The end of a job.
pub struct JobEnd {
    /// The name of the job.
    pub name: String,
    /// The time it took.
    pub took: Duration,
    /// The processor time of its processes, if the system tells it.
    pub processor_time: Option<Duration>,
    /// The tests that passed.
    pub n_passed: usize,
    /// The tests that failed, each as a job of its own.
    pub failed: Vec<TestJob>,
}

/// The job that runs the tests in the docs of all packages.
pub fn doc_tests(root: &Path, is_measuring: bool) -> Vec<TestJob> {
    vec![TestJob { name: "docs".into(), kind: JobKind::Docs { root: root.into(), is_measuring } }]
}

/// The jobs of a program: one for each of its modules.
pub fn modules(program: &TestProgram) -> Result<Vec<TestJob>, Problem> {
    let output = Command::new(&program.path)
        .args(["--list", "--format", "terse"])
        .current_dir(&program.folder)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("{} does not list its tests", program.path.display()).into());
    }
    let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        if let Some(test) = line.strip_suffix(": test") {
            modules.entry(module_of(test)).or_default().push(test.to_owned());
        }
    }
    Ok(modules.into_iter().map(|(module, tests)| TestJob::new(program, &module, tests)).collect())
}

/// The module whose tests are one job with `test`: at most two levels, so that large modules are several jobs.
fn module_of(test: &str) -> String {
    let path: Vec<&str> = test.split("::").collect();
    path[..(path.len() - 1).min(2)].join("::")
}

/// Sorts jobs so that the longest begin first: by the seconds of an earlier run, or else by the number of tests.
pub fn sort_by_time(jobs: &mut [TestJob], times: &str) {
    let known: BTreeMap<&str, f64> = times
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            let seconds = fields.next()?.parse().ok()?;
            Some((fields.next()?, seconds))
        })
        .collect();
    let seconds = |job: &TestJob| known.get(job.name.as_str()).copied().unwrap_or_else(|| job.guess());
    jobs.sort_by(|one, other| seconds(other).total_cmp(&seconds(one)));
}

/// The seconds that jobs took, for [`sort_by_time`]; behind the name their processor time, for people.
pub fn times(ends: &[JobEnd]) -> String {
    let line = |end: &JobEnd| {
        let processor_time =
            end.processor_time.map_or_else(String::new, |time| format!("\t{:.1}", time.as_secs_f64()));
        format!("{:.1}\t{}{processor_time}\n", end.took.as_secs_f64(), end.name)
    };
    ends.iter().map(line).collect()
}

impl TestJob {
    fn new(program: &TestProgram, module: &str, tests: Vec<String>) -> Self {
        let name = format!("{} {module}", program.name).trim_end().to_owned();
        let program = TestProgram {
            name: program.name.clone(),
            path: program.path.clone(),
            folder: program.folder.clone(),
        };
        Self { name, kind: JobKind::Tests { program, tests } }
    }

    /// The seconds that the job may take, before it was ever run. Tests of the whole program take longer than unit
    /// tests.
    fn guess(&self) -> f64 {
        match &self.kind {
            JobKind::Docs { .. } => f64::INFINITY,
            JobKind::Tests { program, tests } if program.name == "ioxide-cli it" => tests.len() as f64,
            JobKind::Tests { tests, .. } => 0.1 * tests.len() as f64,
        }
    }

    /// Runs the job, with its output in `log`, and `threads` tests at once.
    ///
    /// The output goes to a file, not through a pipe: a program that a test leaves behind would hold a pipe open.
    pub fn run(&self, log: &Path, threads: usize) -> JobEnd {
        let began = Instant::now();
        let mut processor_time = None;
        let status = File::create(log).and_then(|file| {
            let mut command = self.command(threads);
            let mut child = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).spawn()?;
            processor_time = processor_time::wait_for_end(&child);
            child.wait()
        });
        let text =
            fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let results = results(&text);
        let failed = match status {
            Ok(status) if status.success() => Vec::new(),
            Ok(_) => self.jobs_of_failed(&results.passed),
            Err(error) => {
                super::say(&format!("{} does not start: {error}", self.name));
                self.jobs_of_failed(&[])
            }
        };
        let (name, n_passed) = (self.name.clone(), results.passed.len());
        JobEnd { name, took: began.elapsed(), processor_time, n_passed, failed }
    }

    fn command(&self, threads: usize) -> Command {
        match &self.kind {
            JobKind::Docs { root, is_measuring } => {
                let mut command = cargo(root);
                command.arg("test").args(packages(*is_measuring)).args(["--doc", "--no-fail-fast"]);
                command
            }
            JobKind::Tests { program, tests } => {
                let mut command = Command::new(&program.path);
                command.arg("--exact").args(tests).arg(format!("--test-threads={threads}"));
                // Some tests build packages as a user would: without the lints of this workspace.
                command.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("CLIPPY_ARGS");
                // Many tests start Python: its compiled modules are kept, but not in the repository.
                command.env_remove("PYTHONDONTWRITEBYTECODE");
                if let Some(target) = program.path.ancestors().nth(3) {
                    command.env("PYTHONPYCACHEPREFIX", target.join("pycache"));
                }
                command.current_dir(&program.folder);
                command
            }
        }
    }

    /// The jobs to run again: each test that did not pass, so also those that a crash of the program kept from running.
    fn jobs_of_failed(&self, passed: &[String]) -> Vec<Self> {
        match &self.kind {
            JobKind::Docs { root, is_measuring } => doc_tests(root, *is_measuring),
            JobKind::Tests { program, tests } => {
                let open = tests.iter().filter(|test| !passed.contains(test));
                let job = |test: &String| Self {
                    name: format!("{} {test}", program.name),
                    ..Self::new(program, "", vec![test.clone()])
                };
                open.map(job).collect()
            }
        }
    }
}
