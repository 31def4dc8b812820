//! A server that has to run before a system can be reached: started, waited for, stopped.
//!
//! It is ended with everything it started when the [`SystemServer`] is dropped, after its stop command if it
//! has one.
//!
//! *Promises.* A server is started only where nothing listens, and again only when the one before is
//! gone and its port is free. Whether it listens is read from the tables of the kernel where they tell,
//! so a server that serves a single connection serves the real one.

use std::io::{BufReader, Read};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_record::line::{LineRead, cut, next_line};

use super::guardian::{ChildExit, GuardedChild};
use super::http::is_up;
use super::ports::{ListenAddress, PortState};
use super::process::{ErrorTail, keep_tail, shell};
use super::{AdapterError, Interrupt, StartProblem};

/// The time limit for a stop command, and again for the server to end after it. Chosen by feel: then the server is
/// killed.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// The pause between two looks at the server. Chosen by feel: it delays a run by this much at most.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The configuration of a server: its commands and the sign that it is ready.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// The command that runs it, in a shell.
    pub start: String,
    /// The condition under which it can be reached.
    pub ready: ServerReadiness,
    /// The time limit for it to become ready.
    pub limit: Duration,
    /// The address at which it listens, if that is known: the port must be free when the server is started.
    pub address: Option<ListenAddress>,
    /// The command that stops it; it is killed if there is none.
    pub stop: Option<String>,
    /// Variables added to its environment.
    pub environment: Vec<(String, String)>,
}

/// The condition under which a server can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerReadiness {
    /// No condition: it can be reached at once.
    #[default]
    AtOnce,
    /// Somebody listens at this address.
    Port(ListenAddress),
    /// The server has written a line that contains this text to its standard output.
    Line(String),
    /// A GET of this URL is answered with a status below 400.
    Http(String),
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct SystemServer {
    config: ServerConfig,
    interrupt: Interrupt,
    child: Option<GuardedChild>,
    /// True if its command had ended with status 0, and left no process, when the server was ready: whether the server
    /// runs cannot be seen from the command.
    is_in_background: bool,
    tail: ErrorTail,
}

/// The reason why a server is not ready.
enum NotReady {
    /// Its command ended with an error and left no process.
    Ended,
    /// Any other reason.
    Other(AdapterError),
}

impl SystemServer {
    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    /// If it does not start, ends, or is not ready in time.
    pub fn start(config: ServerConfig, interrupt: Interrupt) -> Result<Self, AdapterError> {
        let tail = ErrorTail::default();
        let mut server = Self { config, interrupt, child: None, is_in_background: false, tail };
        // Before the start: afterwards nobody could tell who listens there.
        server.refuse_strangers()?;
        server.launch()?;
        Ok(server)
    }

    /// Returns the command that starts it.
    pub(super) fn start_command(&self) -> &str {
        &self.config.start
    }

    /// Stops the server, waits until it is gone, and starts it again.
    ///
    /// # Errors
    /// If its port does not become free, or it does not start, ends, or is not ready in time.
    pub fn restart(&mut self) -> Result<(), AdapterError> {
        self.stop();
        self.await_port()?;
        self.launch()
    }

    /// Kills the server with everything it started, at once and without its stop command.
    pub(super) fn kill(&mut self) {
        if let Some(child) = self.child.take() {
            child.kill_all();
        }
    }

    /// Starts a server that was killed.
    ///
    /// # Errors
    /// If its port does not become free, or it does not start, ends, or is not ready in time.
    pub(super) fn start_again(&mut self) -> Result<(), AdapterError> {
        self.await_port()?;
        self.launch()
    }

    /// Stops the processes of the server until [`resume`](Self::resume).
    pub(super) fn pause(&self) {
        self.child.iter().for_each(GuardedChild::pause);
    }

    /// Continues the processes of the server.
    pub(super) fn resume(&self) {
        self.child.iter().for_each(GuardedChild::resume);
    }

    /// Returns whether it has ended by itself, with everything it started; false for a server in the background.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let Some(child) = &self.child else { return true };
        // A command that only starts a daemon ends at once; the server is then among the others.
        !self.is_in_background && child.has_exited() && !child.has_others()
    }

    /// Returns the end of its error stream.
    #[must_use]
    pub fn last_words(&self) -> String {
        self.tail.tail_text()
    }

    /// Returns the address at which it will listen: that of its readiness, otherwise the configured one; `None` if
    /// neither is given.
    fn address(&self) -> Option<&ListenAddress> {
        match (&self.config.ready, &self.config.address) {
            (ServerReadiness::Port(address), _) | (_, Some(address)) => Some(address),
            _ => None,
        }
    }

    /// Fails if somebody listens at its address already: that system would be tested instead.
    fn refuse_strangers(&self) -> Result<(), AdapterError> {
        match self.address().filter(|address| address.is_taken()) {
            Some(address) => Err(self.start_error(&format!(
                "`{address}` is in use already; stop the program that listens there, or write `{{port}}` for \
                 a free port"
            ))),
            None => Ok(()),
        }
    }

    /// Waits until nothing listens at its address any more.
    fn await_port(&self) -> Result<(), AdapterError> {
        let Some(address) = self.address() else { return Ok(()) };
        let deadline = Instant::now() + self.config.limit;
        while address.is_taken() {
            self.interrupt.check()?;
            if Instant::now() >= deadline {
                let limit = self.config.limit.as_millis();
                return Err(self.start_error(&format!(
                    "`{address}` is still in use {limit} ms after the server was ended: something listens there \
                     that was not started by this command, or that left its group and cleared its environment; \
                     a `stop` command can end it"
                )));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Starts it; again while connections of the one before keep it from its port.
    fn launch(&mut self) -> Result<(), AdapterError> {
        let deadline = Instant::now() + self.config.limit;
        loop {
            let said = self.spawn()?;
            match self.wait_until_ready(said.as_ref()) {
                Ok(()) => return Ok(()),
                Err(NotReady::Other(error)) => return Err(error),
                // It could not bind its port while the kernel remembers connections of the one before (TIME_WAIT):
                // wait and try again.
                Err(NotReady::Ended) if !self.lingers() => return Err(self.ended_early()),
                Err(NotReady::Ended) => self.await_lingering(deadline)?,
            }
        }
    }

    fn ended_early(&self) -> AdapterError {
        self.start_error("it ended before it was ready")
    }

    /// Returns whether the kernel still holds closed connections of the last process.
    fn lingers(&self) -> bool {
        self.address().is_some_and(|address| address.count_lingering_sockets() > 0)
    }

    /// Waits until the connections of the server before are forgotten.
    fn await_lingering(&self, deadline: Instant) -> Result<(), AdapterError> {
        while self.lingers() {
            self.interrupt.check()?;
            if Instant::now() >= deadline {
                return Err(self.start_error(
                    "it ended before it was ready, and connections of its predecessor still hold its port \
                     (TIME_WAIT); let it listen with SO_REUSEADDR, or give it more time with `ready_ms`",
                ));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Starts its command; returns a channel on which the awaited line is announced.
    fn spawn(&mut self) -> Result<Option<Receiver<()>>, AdapterError> {
        (self.tail, self.child, self.is_in_background) = (ErrorTail::default(), None, false);
        let started = GuardedChild::start(
            shell(&self.config.start)
                .envs(self.config.environment.iter().cloned())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        );
        let (child, streams) = started.map_err(|error| self.start_error(&error.to_string()))?;
        self.child = Some(child);
        if let Some(stderr) = streams.stderr {
            let tail = self.tail.clone();
            // Read to the end by a thread, or the server would block when the pipe is full.
            thread::spawn(move || keep_tail(stderr, &tail));
        }
        let wanted = match &self.config.ready {
            ServerReadiness::Line(text) => Some(text.clone()),
            _ => None,
        };
        Ok(streams.stdout.map(|stdout| said_by(stdout, wanted)))
    }

    fn wait_until_ready(&mut self, said: Option<&Receiver<()>>) -> Result<(), NotReady> {
        let start = Instant::now();
        loop {
            // Looked at first: what was ready and has ended since is not ready.
            let exit = self.child.as_ref().and_then(GuardedChild::exit);
            // A command that ended well and left a process has put the server into the background, which is fine.
            let is_gone = exit.is_some() && !self.child.as_ref().is_some_and(GuardedChild::has_others);
            if is_gone && exit == Some(ChildExit::Badly) {
                return Err(NotReady::Ended);
            }
            if self.is_ready(said, start.elapsed()) {
                self.is_in_background = is_gone;
                return Ok(());
            }
            if start.elapsed() >= self.config.limit {
                return Err(NotReady::Other(self.not_ready(exit)));
            }
            self.interrupt.check().map_err(NotReady::Other)?;
        }
    }

    fn not_ready(&self, exit: Option<ChildExit>) -> AdapterError {
        let limit = self.config.limit.as_millis();
        let ended = exit.map_or("", |_| ", and its command has ended");
        self.start_error(&format!("it was not ready within {limit} ms{ended}"))
    }

    /// Returns whether the server is ready; pauses for [`POLL_INTERVAL`] if it is not.
    fn is_ready(&self, said: Option<&Receiver<()>>, elapsed: Duration) -> bool {
        let is_ready = match (&self.config.ready, said) {
            (ServerReadiness::AtOnce, _) => true,
            (ServerReadiness::Port(address), _) => self.listens(address, elapsed),
            (ServerReadiness::Line(_), Some(said)) => said.try_recv().is_ok(),
            (ServerReadiness::Line(_), None) => false,
            (ServerReadiness::Http(url), _) => is_up(url, self.interrupt),
        };
        if !is_ready {
            thread::sleep(POLL_INTERVAL);
        }
        is_ready
    }

    /// Returns whether somebody listens at `address`. The tables of the kernel do not show a port that is passed on to
    /// another machine or a container, so after half of the time limit a connection is tried too.
    fn listens(&self, address: &ListenAddress, elapsed: Duration) -> bool {
        match address.state() {
            PortState::Listening => true,
            PortState::Closed if elapsed < self.config.limit / 2 => false,
            PortState::Closed | PortState::Unknown => address.accepts_connections(),
        }
    }

    fn start_error(&self, reason: &str) -> AdapterError {
        let words = self.tail.tail_text();
        let words = words.trim();
        let reason = if words.is_empty() {
            reason.to_owned()
        } else {
            format!("{reason}; it wrote: {}", cut(words, 400))
        };
        let reason = StartProblem::NotReady(reason);
        AdapterError::Start { what: self.config.start.clone(), reason }
    }

    /// Runs the stop command, gives the server a moment, and ends it.
    fn stop(&mut self) {
        let is_there = !self.has_ended();
        let Some(child) = self.child.take() else { return };
        if let Some(command) = &self.config.stop
            && is_there
            && run_command(command, &self.config.environment, STOP_GRACE, Interrupt::never()).is_ok()
        {
            wait_until_gone(&child, STOP_GRACE);
        }
        child.kill_all();
    }
}

impl Drop for SystemServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs a command in a shell to its end; an error contains the end of its error stream.
pub(super) fn run_command(
    command: &str,
    environment: &[(String, String)],
    limit: Duration,
    interrupt: Interrupt,
) -> Result<(), AdapterError> {
    let cannot = |reason: StartProblem| AdapterError::Start { what: command.to_owned(), reason };
    let failed = |reason: String| cannot(StartProblem::NotReady(reason));
    let started = GuardedChild::start_loosely(
        shell(command)
            .envs(environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped()),
    );
    let (child, streams) = started.map_err(|error| cannot((&error).into()))?;
    let (stderr, tail) = (streams.stderr, ErrorTail::default());
    let reader = stderr.map(|stderr| {
        let tail = tail.clone();
        thread::spawn(move || keep_tail(stderr, &tail))
    });
    wait_for_exit(&child, limit, interrupt);
    interrupt.check()?;
    if !child.has_exited() {
        return Err(failed(format!("it did not end within {} ms", limit.as_millis())));
    }
    // What the command has left running in its group ends with it; what left the group lives on, as `start_loosely`
    // says.
    let status = child.kill_all();
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    // The group is gone, so the stream ends, unless somebody left the group.
    let deadline = Instant::now() + Duration::from_millis(200);
    while reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    let status = status.map_or_else(|| "it failed".to_owned(), |status| status.to_string());
    match tail.tail_text().trim() {
        "" => Err(failed(status)),
        words => Err(failed(format!("{status}; it wrote: {}", cut(words, 400)))),
    }
}

fn wait_for_exit(child: &GuardedChild, limit: Duration, interrupt: Interrupt) {
    let deadline = Instant::now() + limit;
    while !child.has_exited() && Instant::now() < deadline && !interrupt.is_set() {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until nothing of it is left.
fn wait_until_gone(child: &GuardedChild, limit: Duration) {
    let deadline = Instant::now() + limit;
    while (!child.has_exited() || child.has_others()) && Instant::now() < deadline {
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns a channel that receives an item when a line with the text `wanted` is written.
///
/// The stream is read to its end whether somebody listens or not: a full pipe would stop the server.
fn said_by(stdout: impl Read + Send + 'static, wanted: Option<String>) -> Receiver<()> {
    let (sender, said) = sync_channel(1);
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        while let Ok(Some(line)) = next_line(&mut reader) {
            if let (LineRead::Text(text), Some(wanted)) = (line, &wanted)
                && text.contains(wanted)
            {
                sender.try_send(()).ok();
            }
        }
    });
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(start: &str, ready: ServerReadiness) -> ServerConfig {
        let limit = Duration::from_millis(800);
        ServerConfig { start: start.into(), ready, limit, ..ServerConfig::default() }
    }

    /// Returns a configuration of a server that is ready when it says so, however busy the machine is.
    fn patient(start: &str) -> ServerConfig {
        ServerConfig { limit: Duration::from_secs(20), ..config(start, ServerReadiness::Line("up".into())) }
    }

    #[test]
    fn a_line_says_that_it_is_ready() {
        let ready = ServerReadiness::Line("accepting".into());
        let start = "echo starting; sleep 0.05; echo now accepting connections; sleep 30";
        assert!(SystemServer::start(config(start, ready), Interrupt::never()).is_ok());
    }

    #[test]
    fn its_environment_reaches_it_and_its_stop_command() {
        let folder = std::env::temp_dir().join(format!("ioxide-server-{}", std::process::id()));
        let mut config = config("echo $WORD; sleep 30", ServerReadiness::Line("tea".into()));
        config.environment = vec![("WORD".into(), "tea".into())];
        config.stop = Some(format!("echo $WORD > {}", folder.display()));
        drop(SystemServer::start(config, Interrupt::never()).unwrap());
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "tea\n");
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn one_that_ends_or_dawdles_is_told_with_its_last_words() {
        let problem = |start: &str, ready: ServerReadiness| {
            SystemServer::start(config(start, ready), Interrupt::never()).unwrap_err().to_string()
        };
        let ended = problem("echo no cups >&2; sleep 0.1; exit 3", ServerReadiness::Line("accepting".into()));
        assert!(ended.contains("ended before it was ready; it wrote: no cups"), "{ended}");
        let late = problem("sleep 30", ServerReadiness::Port(ListenAddress::Tcp("127.0.0.1:1".into())));
        assert!(late.contains("not ready within 800 ms"), "{late}");
    }

    #[test]
    fn a_port_that_somebody_has_is_refused() {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = ListenAddress::Tcp(other.local_addr().unwrap().to_string());
        let error =
            SystemServer::start(config("sleep 30", ServerReadiness::Port(address)), Interrupt::never())
                .unwrap_err();
        assert!(error.to_string().contains("in use already"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_that_goes_into_the_background_has_not_ended() {
        let start = "setsid sh -c 'echo up; exec sleep 60' & exit 0";
        let mut server = SystemServer::start(patient(start), Interrupt::never()).unwrap();
        assert!(!server.has_ended());
        server.restart().unwrap();
        let others = server.child.as_ref().map(GuardedChild::has_others);
        assert_eq!(others, Some(true));
        server.stop();
        assert!(server.has_ended());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_that_does_not_become_free_is_told() {
        let config = patient("echo up; sleep 30");
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Some(ListenAddress::Tcp(other.local_addr().unwrap().to_string()));
        let refused = SystemServer::start(
            ServerConfig { address: address.clone(), ..config.clone() },
            Interrupt::never(),
        );
        assert!(refused.unwrap_err().to_string().contains("in use already"));
        let mut server = SystemServer::start(config, Interrupt::never()).unwrap();
        (server.config.address, server.config.limit) = (address, Duration::from_millis(50));
        let error = server.restart().unwrap_err();
        assert!(error.to_string().contains("still in use 50 ms"), "{error}");
    }
}
