//! A child process whose standard streams speak the protocol.
//!
//! It is ended with everything it started: no grandchild outlives a run. Its error stream is
//! captured, and its tail shown when something goes wrong.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ioxide_model::sts::Model;
use ioxide_record::event::ScriptPlace;

use super::guardian::{ChildStreams, GuardedChild};
use super::remote::{RemoteAdapter, SystemLink};
use super::source::{ByteSource, PipeSource};
#[cfg(unix)]
use super::terminal::{TerminalSource, open_pseudo_terminal};
use super::wire::ProtocolWire;
use super::{AdapterError, ErrorStreamHub, Interrupt, MessageLimits, RemoteConnection, StartProblem};

/// Bytes of the error stream kept. Chosen by feel: enough for a traceback.
const MAX_TAIL: usize = 8 << 10;
/// Lines it may leave unread. Chosen by feel: a process that does not read is noticed before much is lost.
const UNREAD: usize = 64;
/// The time limit for the rest of the error stream to arrive after the end of its process. Chosen by feel: what is in
/// the pipe is read at once, unless a child still holds it.
const STDERR_GRACE: Duration = Duration::from_millis(300);
/// The time limit for a process to end by itself after its connection was closed. Chosen by feel: then it is ended.
const EXIT_GRACE: Duration = Duration::from_millis(300);

/// A child process as system under test.
pub type ProcessAdapter = RemoteAdapter<SystemProcess>;

impl ProcessAdapter {
    /// Starts `command` in a shell and greets it.
    ///
    /// # Errors
    /// If it cannot be started, or does not greet as it should.
    pub fn start(
        command: &str,
        model: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<Self, AdapterError> {
        let link = SystemProcess::new(command, &connection);
        Self::new(link, model, connection)
    }
}

/// The last bytes of an error stream, shared with the thread that reads it.
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorTail(Arc<Mutex<Vec<u8>>>);

impl ErrorTail {
    /// Appends bytes and keeps the last `MAX_TAIL`.
    pub(super) fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        // The end counts: a traceback says last what went wrong.
        let excess = tail.len().saturating_sub(MAX_TAIL);
        tail.drain(..excess);
    }

    pub(super) fn tail_text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// The process behind a [`ProcessAdapter`].
pub struct SystemProcess {
    command: String,
    environment: Vec<(String, String)>,
    interrupt: Interrupt,
    /// The time limits for a message that has begun.
    limits: MessageLimits,
    child: Option<GuardedChild>,
    /// Reads its error stream to the end.
    reader: Option<JoinHandle<()>>,
    /// The exit status of the last child if it ended by itself; `None` otherwise.
    ended: Option<ExitStatus>,
    tail: ErrorTail,
    /// The counter of the bytes that the process has read from its standard input.
    meter: PipeMeter,
    /// True if it runs on a pseudo terminal.
    is_on_terminal: bool,
    /// The place for its error stream, where another connection reads it.
    error_stream: Option<ErrorStreamHub>,
}

impl SystemProcess {
    /// The process that `command` starts in a shell, not started yet.
    pub(super) fn new(command: &str, connection: &RemoteConnection) -> Self {
        let (command, environment) = (command.to_owned(), connection.environment.clone());
        Self {
            command,
            environment,
            interrupt: connection.interrupt,
            limits: connection.message_limits(),
            child: None,
            reader: None,
            ended: None,
            tail: ErrorTail::default(),
            meter: PipeMeter::default(),
            is_on_terminal: false,
            error_stream: connection.error_stream.clone(),
        }
    }

    /// Returns the command that starts it.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    /// Returns whether it runs on a pseudo terminal.
    pub(super) fn is_on_terminal(&self) -> bool {
        self.is_on_terminal
    }

    /// Returns the same process, run on a pseudo terminal.
    pub(super) fn on_terminal(self) -> Self {
        Self { is_on_terminal: true, ..self }
    }

    /// Returns the process, as a script starts it.
    pub(super) fn script_place(&self) -> ScriptPlace {
        ScriptPlace::Process { command: self.command.clone(), environment: self.environment.clone() }
    }

    fn start_error(&self, reason: StartProblem) -> AdapterError {
        AdapterError::Start { what: self.command.clone(), reason }
    }

    /// Ends the whole group, then lets go of the child.
    pub(super) fn kill(&mut self) {
        self.child = None;
    }

    /// Waits until the error stream is read to its end, at most for [`STDERR_GRACE`]; a process that left the group may
    /// keep it open.
    fn await_tail(&self) {
        let deadline = Instant::now() + STDERR_GRACE;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
            // 1 ms, so that the loop does not keep a processor busy. No reason for the number is recorded.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts the process afresh and returns the source of its output and the writer to its input.
    pub(super) fn streams(&mut self) -> Result<(Box<dyn ByteSource>, PatientWriter), AdapterError> {
        self.kill();
        (self.ended, self.tail, self.meter) = (None, ErrorTail::default(), PipeMeter::default());
        let mut command = shell(&self.command);
        command.envs(self.environment.iter().cloned()).stderr(Stdio::piped());
        if self.is_on_terminal {
            return self.start_on_terminal(command);
        }
        let streams = self.spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let ChildStreams { stdin: Some(stdin), stdout: Some(stdout), .. } = streams else {
            return Err(self.start_error(StartProblem::NotReady("its streams are missing".into())));
        };
        let (patient, meter) = PatientWriter::new(stdin);
        self.meter = meter;
        Ok((Box::new(PipeSource::new(stdout)), patient))
    }

    /// Starts the command, and reads its error stream.
    fn spawn(&mut self, command: &mut Command) -> Result<ChildStreams, AdapterError> {
        let started = GuardedChild::start(command);
        let (child, mut streams) = started.map_err(|error| self.start_error((&error).into()))?;
        self.child = Some(child);
        match (streams.stderr.take(), &self.error_stream) {
            (Some(stderr), Some(hub)) => hub.publish(stderr, self.tail.clone()),
            (Some(stderr), None) => {
                // Read all the time: a process that writes into a full pipe waits until somebody reads it.
                let tail = self.tail.clone();
                self.reader = Some(std::thread::spawn(move || keep_tail(stderr, &tail)));
            }
            (None, _) => (),
        }
        Ok(streams)
    }

    #[cfg(unix)]
    fn start_on_terminal(
        &mut self,
        mut command: Command,
    ) -> Result<(Box<dyn ByteSource>, PatientWriter), AdapterError> {
        let wrong = |error: io::Error| self.start_error((&error).into());
        let (ours, theirs) = open_pseudo_terminal().map_err(wrong)?;
        let (writer, input) = (ours.try_clone().map_err(wrong)?, theirs.try_clone().map_err(wrong)?);
        self.spawn(command.stdin(input).stdout(theirs))?;
        // Our handles of its end must be gone, or its end would never be seen.
        drop(command);
        Ok((Box::new(TerminalSource::new(ours)), PatientWriter::from_writer(writer)))
    }

    /// Fails: there are no pseudo terminals on this platform.
    #[cfg(not(unix))]
    fn start_on_terminal(
        &mut self,
        _command: Command,
    ) -> Result<(Box<dyn ByteSource>, PatientWriter), AdapterError> {
        Err(self.start_error((&io::Error::from(io::ErrorKind::Unsupported)).into()))
    }

    /// Returns whether bytes were written to the process since its start and it has read none of them.
    pub(super) fn has_read_nothing(&self) -> bool {
        self.meter.has_read_nothing()
    }
}

impl SystemLink for SystemProcess {
    fn open(&mut self) -> Result<ProtocolWire, AdapterError> {
        let (reader, writer) = self.streams()?;
        Ok(ProtocolWire::new(reader, writer, (self.interrupt, self.limits)))
    }

    fn status(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        while self.child.as_ref().is_some_and(|child| !child.has_exited()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
        if let Some(child) = self.child.take_if(|child| child.has_exited()) {
            // The child has ended, but what it started may go on, and hold the error stream open.
            self.ended = child.kill_all();
            self.await_tail();
        }
        self.ended
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.ended.and_then(|status| status.code())
    }

    fn close(&mut self, mut wire: ProtocolWire) {
        // A process that ends by itself runs its own clean-up; that is given a moment.
        wire.wait_for_end(EXIT_GRACE);
        self.kill();
    }

    fn last_words(&self) -> String {
        self.tail.tail_text()
    }

    fn place(&self) -> Option<ScriptPlace> {
        Some(self.script_place())
    }

    fn starts_system(&self) -> bool {
        true
    }
}

/// Writes to a pipe in a thread of its own: a process that does not read cannot block a run.
pub(super) struct PatientWriter {
    lines: SyncSender<Vec<u8>>,
    given: Arc<AtomicU64>,
}

impl PatientWriter {
    /// Starts the thread that writes to `writer`; what was read of it is not known.
    #[cfg(unix)]
    pub(super) fn from_writer(mut writer: impl Write + Send + 'static) -> Self {
        let (lines, taken) = sync_channel::<Vec<u8>>(UNREAD);
        std::thread::spawn(move || {
            taken.iter().try_for_each(|line| writer.write_all(&line).and_then(|()| writer.flush()))
        });
        Self { lines, given: Arc::default() }
    }

    /// Starts the thread that writes to `stdin`; the meter shows how much of it the process has not read.
    fn new(stdin: ChildStdin) -> (Self, PipeMeter) {
        let (lines, taken) = sync_channel::<Vec<u8>>(UNREAD);
        let stdin = Arc::new(stdin);
        let meter = PipeMeter { pipe: Arc::downgrade(&stdin), ..PipeMeter::default() };
        let (given, passed) = (Arc::clone(&meter.given), Arc::clone(&meter.passed));
        // The thread ends with the sender or at the first error, and drops the pipe: that is how the process
        // sees the end of its input.
        std::thread::spawn(move || {
            taken.iter().try_for_each(|line| {
                (&*stdin).write_all(&line)?;
                // After the write, so that `passed` never counts bytes that are not in the pipe or read.
                passed.fetch_add(line.len() as u64, Ordering::SeqCst);
                (&*stdin).flush()
            })
        });
        (Self { lines, given }, meter)
    }
}

/// A counter of the bytes of a pipe that were read at its other end.
#[derive(Clone, Default)]
struct PipeMeter {
    /// The pipe, as long as it is written to: the counter does not keep it open.
    pipe: Weak<ChildStdin>,
    /// The number of bytes to be written.
    given: Arc<AtomicU64>,
    /// The number of bytes written.
    passed: Arc<AtomicU64>,
}

impl PipeMeter {
    fn has_read_nothing(&self) -> bool {
        let Some(pipe) = self.pipe.upgrade() else { return false };
        // What was written and is not in the pipe any more was read. As long as all of it is still there,
        // nothing was.
        self.given.load(Ordering::SeqCst) > 0 && self.passed.load(Ordering::SeqCst) <= unread(&pipe)
    }
}

/// Returns the number of bytes in a pipe that were not read; 0 where that is not known.
#[cfg(unix)]
fn unread(pipe: &ChildStdin) -> u64 {
    rustix::io::ioctl_fionread(pipe).unwrap_or(0)
}

/// Returns 0: unread bytes cannot be counted on this platform.
#[cfg(not(unix))]
fn unread(_pipe: &ChildStdin) -> u64 {
    0
}

impl Write for PatientWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Never waits: a full queue is a process that does not read, which the caller reports.
        match self.lines.try_send(bytes.to_vec()) {
            Ok(()) => {
                self.given.fetch_add(bytes.len() as u64, Ordering::SeqCst);
                Ok(bytes.len())
            }
            Err(TrySendError::Full(_)) => Err(io::ErrorKind::TimedOut.into()),
            Err(TrySendError::Disconnected(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn keep_tail(stderr: ChildStderr, tail: &ErrorTail) {
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

/// Returns the command that runs `command` by the shell, in a process group of its own so that it can be killed
/// whole.
#[cfg(unix)]
pub(super) fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).process_group(0);
    shell
}

/// Returns the command that runs `command` by the shell.
#[cfg(not(unix))]
pub(super) fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}
