//! Workers as processes on this machine.
//!
//! A worker is on a *leash*: the pipe to its standard input, which the driver holds open. When that is closed, by the
//! driver or because the driver is gone, the worker ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{CampaignEngine, EngineError, WorkOrder, WorkerEnd};

/// The pause between two polls of the processes. Chosen by feel: it delays the end of a batch by this much at most,
/// and polling takes microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Processes on this machine.
pub struct LocalEngine {
    program: PathBuf,
    running: BTreeMap<u64, (Child, Option<ChildStdin>)>,
}

impl LocalEngine {
    /// Starts `program` for every batch.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, running: BTreeMap::new() }
    }
}

impl CampaignEngine for LocalEngine {
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError> {
        let log = order.log();
        let log = File::create(&log).map_err(EngineError::at_file(&log))?;
        let mut command = Command::new(&self.program);
        command.args(order.with_part()).envs(order.env.iter().map(|(name, value)| (name, value)));
        command.env("IOXIDE_LEASH", "stdin").env("IOXIDE_PROGRESS", "off");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        // Ctrl-C at the terminal is for the driver, which ends its workers cleanly.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let start = |error| EngineError::Start { program: self.program.display().to_string(), error };
        let mut child = command.spawn().map_err(start)?;
        let leash = child.stdin.take();
        self.running.insert(order.id, (child, leash));
        Ok(())
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError> {
        let begun = Instant::now();
        loop {
            let mut ended = Vec::new();
            for (&id, (child, _)) in &mut self.running {
                match child.try_wait() {
                    Ok(None) => (),
                    Ok(Some(status)) => ended.push((id, end_of(status))),
                    Err(error) => ended.push((id, WorkerEnd::Died(error.to_string()))),
                }
            }
            ended.iter().for_each(|(id, _)| drop(self.running.remove(id)));
            if !ended.is_empty() || self.running.is_empty() || begun.elapsed() >= wait {
                return Ok(ended);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn stop(&mut self) {
        self.running.values_mut().for_each(|(_, leash)| drop(leash.take()));
    }

    fn kill(&mut self) {
        // A worker that has ended by itself is no trouble.
        self.running.values_mut().for_each(|(child, _)| drop(child.kill()));
    }
}

/// Returns the end of a process: its exit code, or the signal that killed it.
fn end_of(status: ExitStatus) -> WorkerEnd {
    match status.code() {
        Some(code) => WorkerEnd::Exit(code),
        None => WorkerEnd::Died(status.to_string()),
    }
}

/// Calls `let_go`, in a thread of its own, when the other end of the standard input of this process is closed. Does
/// nothing in a process that is on no leash.
pub fn on_leash(let_go: impl FnOnce() + Send + 'static) {
    if std::env::var_os("IOXIDE_LEASH").is_none_or(|leash| leash != "stdin") {
        return;
    }
    thread::spawn(move || {
        let mut bytes = [0; 64];
        while std::io::stdin().lock().read(&mut bytes).is_ok_and(|n| n > 0) {}
        let_go();
    });
}
