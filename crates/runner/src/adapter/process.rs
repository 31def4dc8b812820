//! A child process whose standard streams speak the protocol.
//!
//! It runs in a process group of its own, which is ended as a whole: no grandchild outlives
//! a run. Its error stream is captured, and its tail shown when something goes wrong.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::Model;

use super::guardian::Guarded;
use super::remote::{Link, Remote};
use super::source::Pipe;
use super::wire::Wire;
use super::{Adapter, AdapterError, Connection, Interrupt, Observation, Passed, Sent};

/// Bytes of the error stream kept.
const MAX_TAIL: usize = 8 << 10;
/// Lines it may leave unread.
const UNREAD: usize = 64;
/// How long the end of an error stream may take to arrive after the end of its process.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long a process may take to end by itself.
const GRACE: Duration = Duration::from_millis(300);

/// A child process as system under test.
pub struct ProcessAdapter {
    remote: Remote<Process>,
}

impl ProcessAdapter {
    /// Starts `command` in a shell and greets it.
    ///
    /// # Errors
    /// If it cannot be started, or does not greet as it should.
    pub fn start(command: &str, model: Arc<Model>, connection: Connection) -> Result<Self, AdapterError> {
        let link = Process::new(command, &connection);
        Ok(Self { remote: Remote::new(link, model, connection)? })
    }
}

impl Adapter for ProcessAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.remote.reset()
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        self.remote.send(input)
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        self.remote.poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.remote.observe(patience)
    }

    fn arrived(&self) -> Option<Instant> {
        self.remote.arrived()
    }

    fn raw(&self) -> Option<&str> {
        self.remote.raw()
    }

    fn has_virtual_time(&self) -> bool {
        self.remote.has_virtual_time()
    }

    fn advance(&mut self, until: Duration) -> Result<Passed, AdapterError> {
        self.remote.advance(until)
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.remote.exit_status()
    }

    fn last_words(&self) -> String {
        self.remote.last_words()
    }
}

/// The last bytes of an error stream, shared with the thread that reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        let excess = tail.len().saturating_sub(MAX_TAIL);
        tail.drain(..excess);
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// The process behind a [`ProcessAdapter`].
pub(super) struct Process {
    command: String,
    environment: Vec<(String, String)>,
    interrupt: Interrupt,
    child: Option<Guarded>,
    /// Reads its error stream to the end.
    reader: Option<JoinHandle<()>>,
    /// How the last child ended, if it did so by itself.
    ended: Option<ExitStatus>,
    tail: Tail,
}

impl Process {
    /// The process that `command` starts in a shell, not started yet.
    pub(super) fn new(command: &str, connection: &Connection) -> Self {
        let (command, environment) = (command.to_owned(), connection.environment.clone());
        let interrupt = connection.interrupt;
        Self {
            command,
            environment,
            interrupt,
            child: None,
            reader: None,
            ended: None,
            tail: Tail::default(),
        }
    }

    fn cannot(&self, reason: &impl ToString) -> AdapterError {
        AdapterError::Start { what: self.command.clone(), reason: reason.to_string() }
    }

    /// Ends the whole group, then lets go of the child.
    pub(super) fn kill(&mut self) {
        self.child = None;
    }

    /// Waits until the end of its error stream is read; somebody who left its group may keep it open.
    fn await_tail(&self) {
        let deadline = Instant::now() + LAST_WORDS;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts it afresh; what it says and where it is spoken to.
    pub(super) fn streams(&mut self) -> Result<(Pipe, Patient), AdapterError> {
        self.kill();
        (self.ended, self.tail) = (None, Tail::default());
        let mut child = shell(&self.command)
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.cannot(&error))?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        self.child = Some(Guarded::new(child));
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(self.cannot(&"its streams are missing"));
        };
        let tail = self.tail.clone();
        self.reader = Some(std::thread::spawn(move || keep_tail(stderr, &tail)));
        Ok((Pipe::new(stdout), Patient::new(stdin)))
    }
}

impl Link for Process {
    fn open(&mut self) -> Result<Wire, AdapterError> {
        let (reader, writer) = self.streams()?;
        Ok(Wire::new(reader, writer, self.interrupt))
    }

    fn status(&mut self, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        while self.child.as_ref().is_some_and(|child| !child.has_exited()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        if let Some(child) = self.child.take_if(|child| child.has_exited()) {
            self.ended = child.end();
            self.await_tail();
        }
        self.ended.map(|status| status.to_string())
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.ended.and_then(|status| status.code())
    }

    fn close(&mut self, mut wire: Wire) {
        wire.wait_for_end(GRACE);
        self.kill();
    }

    fn last_words(&self) -> String {
        self.tail.text()
    }
}

/// Writes to a pipe in a thread of its own: a process that does not read cannot block a run.
pub(super) struct Patient(SyncSender<Vec<u8>>);

impl Patient {
    fn new(mut stdin: ChildStdin) -> Self {
        let (sender, lines) = sync_channel::<Vec<u8>>(UNREAD);
        std::thread::spawn(move || {
            lines.iter().try_for_each(|line| stdin.write_all(&line).and_then(|()| stdin.flush()))
        });
        Self(sender)
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.try_send(bytes.to_vec()) {
            Ok(()) => Ok(bytes.len()),
            Err(TrySendError::Full(_)) => Err(io::ErrorKind::TimedOut.into()),
            Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn keep_tail(stderr: ChildStderr, tail: &Tail) {
    let mut reader = BufReader::new(stderr.take(u64::MAX));
    while let Ok(bytes) = reader.fill_buf() {
        if bytes.is_empty() {
            return;
        }
        tail.push(bytes);
        let used = bytes.len();
        reader.consume(used);
    }
}

#[cfg(unix)]
pub(super) fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}
