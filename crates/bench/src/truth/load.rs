//! The load of the machine beside the runs: none, or four processes that do nothing but compute.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The number of processes that keep a busy machine busy: twice the cores of the machine that the figures are from.
const BUSY_PROCESSES: usize = 4;
/// The argument of `--system` that makes this program one of them.
pub const BUSY: &str = "busy";

/// The other load of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Nothing else runs.
    Quiet,
    /// [`BUSY_PROCESSES`] processes compute.
    Busy,
}

impl Load {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
        }
    }

    /// Starts the processes of this load.
    pub fn start(self) -> io::Result<BusyProcesses> {
        let n = match self {
            Self::Quiet => 0,
            Self::Busy => BUSY_PROCESSES,
        };
        let mut started = BusyProcesses(Vec::new());
        for _ in 0..n {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["bench", "truth", "--system", BUSY]).stdin(Stdio::piped());
            started.0.push(command.spawn()?);
        }
        Ok(started)
    }
}

/// Processes that compute until this is dropped.
pub struct BusyProcesses(Vec<Child>);

impl Drop for BusyProcesses {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // One that has ended already is no trouble.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Computes until the standard input ends: with the measurement, however that ends.
pub fn compute() -> io::Result<()> {
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
