//! Workers as tasks of Slurm's job arrays.
//!
//! Batches that are to start at the same time become one array: a script with one branch per task. Results, scripts,
//! logs and exit codes are in the directory of the campaign, which the nodes must see too. A task has ended when its
//! exit code is there; one that the queue does not know any more and that left none has died.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{CampaignEngine, EngineError, WorkOrder, WorkerEnd, command_line, quote_for_shell};

/// The shortest interval between two queries of the queue. Chosen by feel: the queue is shared with others, and its
/// administrators dislike more.
const QUERY_INTERVAL: Duration = Duration::from_secs(2);
/// The number of queries in a row that must not list a task before it counts as dead: the queue may forget a task a
/// moment before its files are seen here.
const UNLISTED_QUERIES_UNTIL_DEAD: u32 = 3;

/// The callback that sees the first script before it is sent; nothing is sent if it returns false.
pub type ScriptApproval = Box<dyn FnMut(&str) -> bool>;

/// Tasks of job arrays.
pub struct SlurmEngine {
    program: String,
    options: Vec<String>,
    /// The directory of scripts, logs and exit codes.
    jobs: PathBuf,
    shown: Option<ScriptApproval>,
    waiting: Vec<WorkOrder>,
    running: BTreeMap<u64, SlurmTask>,
    asked: Option<Instant>,
}

/// A task of an array.
struct SlurmTask {
    job: String,
    index: usize,
    code: PathBuf,
    /// The number of queries in a row that did not list the task.
    unknown: u32,
}

impl SlurmEngine {
    /// Sends arrays with `options`; scripts go to `jobs`, and `shown` sees the first one.
    #[must_use]
    pub fn new(program: String, options: Vec<String>, jobs: PathBuf, shown: ScriptApproval) -> Self {
        let shown = Some(shown);
        Self { program, options, jobs, shown, waiting: Vec::new(), running: BTreeMap::new(), asked: None }
    }

    /// Sends the waiting orders as one array.
    fn submit_waiting(&mut self) -> Result<(), EngineError> {
        let orders = std::mem::take(&mut self.waiting);
        let Some(first) = orders.first() else { return Ok(()) };
        let folder = self.jobs.join(format!("{:06}", first.id));
        fs::create_dir_all(&folder).map_err(EngineError::at_file(&folder))?;
        let text = script(&self.program, &self.options, &orders, &folder);
        if let Some(mut shown) = self.shown.take()
            && !shown(&text)
        {
            return Err(EngineError::Refused("nothing was sent".into()));
        }
        let file = folder.join("job.sh");
        fs::write(&file, text).map_err(EngineError::at_file(&file))?;
        let job = run_slurm(Command::new("sbatch").arg("--parsable").arg(&file))?;
        let job = job.trim().split(';').next().unwrap_or_default().to_owned();
        for (at, order) in orders.iter().enumerate() {
            let code = folder.join(format!("{}.code", at + 1));
            self.running.insert(order.id, SlurmTask { job: job.clone(), index: at + 1, code, unknown: 0 });
        }
        Ok(())
    }

    /// Returns the tasks that the queue lists as not ended, by job and index.
    fn listed_tasks(&self) -> Result<BTreeSet<(String, usize)>, EngineError> {
        let jobs: BTreeSet<&str> = self.running.values().map(|task| task.job.as_str()).collect();
        let jobs: Vec<&str> = jobs.into_iter().collect();
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--format=%F %K %T", "--jobs", &jobs.join(",")]);
        // A queue that does not know the jobs any more says so with an error.
        let told = match run_slurm(&mut command) {
            Err(EngineError::Refused(why)) if why.contains("Invalid job id") => String::new(),
            told => told?,
        };
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (job, index, state) = (words.next()?, words.next()?, words.next()?);
            let is_alive = !matches!(
                state,
                "COMPLETED"
                    | "FAILED"
                    | "CANCELLED"
                    | "TIMEOUT"
                    | "NODE_FAIL"
                    | "OUT_OF_MEMORY"
                    | "PREEMPTED"
            );
            is_alive.then(|| Some((job.to_owned(), index.parse().ok()?)))?
        };
        Ok(told.lines().filter_map(line).collect())
    }

    /// Removes and returns the tasks whose file with the exit code exists.
    fn take_ended(&mut self) -> Vec<(u64, WorkerEnd)> {
        let code = |(&id, task): (&u64, &SlurmTask)| {
            let text = fs::read_to_string(&task.code).ok()?;
            let code: i32 = text.trim().parse().ok()?;
            // A shell tells a signal as 128 and its number; 130 is how an interrupted program ends in good order.
            let end = if code > 128 && code != 130 {
                WorkerEnd::Died(format!("signal {}", code - 128))
            } else {
                WorkerEnd::Exit(code)
            };
            Some((id, end))
        };
        let ended: Vec<(u64, WorkerEnd)> = self.running.iter().filter_map(code).collect();
        ended.iter().for_each(|(id, _)| drop(self.running.remove(id)));
        ended
    }

    /// Removes and returns the tasks that left no exit code and that the queue has not listed for several queries.
    fn take_lost(&mut self) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        if self.running.is_empty() || self.asked.is_some_and(|asked| asked.elapsed() < QUERY_INTERVAL) {
            return Ok(Vec::new());
        }
        let known = self.listed_tasks()?;
        self.asked = Some(Instant::now());
        let mut lost = Vec::new();
        for (&id, task) in &mut self.running {
            task.unknown = if known.contains(&(task.job.clone(), task.index)) { 0 } else { task.unknown + 1 };
            if task.unknown >= UNLISTED_QUERIES_UNTIL_DEAD {
                let how = format!("task {}_{} ended without an exit code", task.job, task.index);
                lost.push((id, WorkerEnd::Died(how)));
            }
        }
        lost.iter().for_each(|(id, _)| drop(self.running.remove(id)));
        Ok(lost)
    }

    /// Cancels the jobs that are still running.
    fn cancel(&self, options: &[&str]) {
        let jobs: BTreeSet<&str> = self.running.values().map(|task| task.job.as_str()).collect();
        // A job that has ended by itself cannot be cancelled, which is no trouble.
        jobs.iter().for_each(|job| drop(Command::new("scancel").args(options).arg(job).output()));
    }
}

impl CampaignEngine for SlurmEngine {
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError> {
        self.waiting.push(order);
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        self.submit_waiting()?;
        let begun = Instant::now();
        loop {
            let mut ended = self.take_ended();
            if ended.is_empty() {
                ended = self.take_lost()?;
            }
            if !ended.is_empty() || self.running.is_empty() || begun.elapsed() >= wait {
                return Ok(ended);
            }
            // 50 ms between two looks, each of which tries to open one file for each running unit. No reason
            // for the number is recorded.
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(&mut self) {
        self.waiting.clear();
        self.cancel(&["--signal=INT", "--full"]);
    }

    fn kill(&mut self) {
        self.cancel(&[]);
    }
}

/// The script of an array.
fn script(program: &str, options: &[String], orders: &[WorkOrder], folder: &Path) -> String {
    let place = quote_for_shell(&folder.display().to_string());
    let mut text = String::from("#!/bin/sh\n#SBATCH --job-name=ioxide\n");
    let _ = writeln!(text, "#SBATCH --array=1-{}", orders.len());
    let _ = writeln!(text, "#SBATCH --output={}/%a.out", folder.display());
    options.iter().for_each(|option| {
        let _ = writeln!(text, "#SBATCH {option}");
    });
    let _ = writeln!(text, "cd {} || exit 2", quote_for_shell(&current_folder()));
    let _ = writeln!(text, "case \"$SLURM_ARRAY_TASK_ID\" in");
    for (at, order) in orders.iter().enumerate() {
        let line = command_line(&order.env, program, &order.with_part());
        let log = quote_for_shell(&order.log().display().to_string());
        let _ = writeln!(text, "{}) IOXIDE_PROGRESS=off {line} >/dev/null 2>{log} </dev/null ;;", at + 1);
    }
    let _ = writeln!(text, "esac");
    let _ = writeln!(text, "code=$?");
    let _ = writeln!(text, "echo $code > {place}/.$SLURM_ARRAY_TASK_ID.code");
    let _ = writeln!(text, "mv {place}/.$SLURM_ARRAY_TASK_ID.code {place}/$SLURM_ARRAY_TASK_ID.code");
    // What the program found is no failure of the job.
    text.push_str("exit 0\n");
    text
}

fn current_folder() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}

/// Runs a program of Slurm and returns its standard output; refused with its standard error if it fails.
fn run_slurm(command: &mut Command) -> Result<String, EngineError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let told = command.output().map_err(|error| EngineError::Start { program: program.clone(), error })?;
    if told.status.success() {
        Ok(String::from_utf8_lossy(&told.stdout).into_owned())
    } else {
        let why = String::from_utf8_lossy(&told.stderr);
        Err(EngineError::Refused(format!("`{program}`: {}", why.trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_an_array_has_a_branch_per_task() {
        let order = |id: u64| WorkOrder {
            id,
            part: format!("/s/parts/{id:06}").into(),
            args: vec!["test".into(), "it's.iox".into()],
            env: vec![("IOXIDE_ADDRESS".into(), "h:1".into())],
            files: Vec::new(),
        };
        let text =
            script("ioxide", &["--time=10".into()], &[order(3), order(4)], Path::new("/s/jobs/000003"));
        for line in [
            "#SBATCH --array=1-2",
            "#SBATCH --time=10",
            "1) IOXIDE_PROGRESS=off IOXIDE_ADDRESS=h:1 ioxide test 'it'\\''s.iox' --part /s/parts/000003 \
             >/dev/null 2>/s/parts/000003.log </dev/null ;;",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
