//! A server that has to run before a system can be reached: started, waited for, stopped.
//!
//! It runs in a process group of its own, which is ended as a whole when the [`Server`] is
//! dropped, after its stop command if it has one.

use std::io::{BufReader, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::guardian::Guarded;
use super::http::is_up;
use super::process::{Tail, keep_tail, shell};
use super::{AdapterError, Interrupt};
use crate::line::{Line, cut, next_line};

/// How long a stop command may take, and the server after it.
const GRACE: Duration = Duration::from_secs(2);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// How a server is started and stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// The command that runs it, in a shell.
    pub start: String,
    /// When it can be reached.
    pub ready: Ready,
    /// How long that may take.
    pub limit: Duration,
    /// The command that stops it; it is killed if there is none.
    pub stop: Option<String>,
    /// Variables added to its environment.
    pub environment: Vec<(String, String)>,
}

/// When a server can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// At once.
    #[default]
    AtOnce,
    /// When this address accepts connections.
    Port(String),
    /// When it writes a line with this text to its standard output.
    Line(String),
    /// When this URL is answered with success.
    Http(String),
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    interrupt: Interrupt,
    child: Option<Guarded>,
    tail: Tail,
}

impl Server {
    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    /// If it does not start, ends, or is not ready in time.
    pub fn start(config: ServerConfig, interrupt: Interrupt) -> Result<Self, AdapterError> {
        let mut server = Self { config, interrupt, child: None, tail: Tail::default() };
        server.launch()?;
        Ok(server)
    }

    /// Stops the server and starts it again.
    ///
    /// # Errors
    /// If it does not start, ends, or is not ready in time.
    pub fn restart(&mut self) -> Result<(), AdapterError> {
        self.stop();
        self.launch()
    }

    /// Whether it has ended by itself.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.child.as_ref().is_none_or(Guarded::has_exited)
    }

    /// The end of what it wrote to its error stream.
    #[must_use]
    pub fn last_words(&self) -> String {
        self.tail.text()
    }

    fn launch(&mut self) -> Result<(), AdapterError> {
        if let Ready::Port(address) = &self.config.ready {
            // Somebody else there would be tested instead.
            if accepts(address) {
                return Err(self.cannot(&format!("`{address}` is in use already")));
            }
        }
        self.tail = Tail::default();
        let mut child = shell(&self.config.start)
            .envs(self.config.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.cannot(&error.to_string()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        self.child = Some(Guarded::new(child));
        if let Some(stderr) = stderr {
            let tail = self.tail.clone();
            thread::spawn(move || keep_tail(stderr, &tail));
        }
        let wanted = match &self.config.ready {
            Ready::Line(text) => Some(text.clone()),
            _ => None,
        };
        let said = stdout.map(|stdout| said_by(stdout, wanted));
        self.wait(said.as_ref())
    }

    fn wait(&mut self, said: Option<&Receiver<()>>) -> Result<(), AdapterError> {
        let deadline = Instant::now() + self.config.limit;
        loop {
            if self.is_ready(said) {
                return Ok(());
            }
            if self.has_ended() {
                return Err(self.cannot("it ended before it was ready"));
            }
            if Instant::now() >= deadline {
                let limit = self.config.limit.as_millis();
                return Err(self.cannot(&format!("it was not ready within {limit} ms")));
            }
            self.interrupt.check()?;
        }
    }

    /// Looks, and lets a moment pass if it is not ready yet.
    fn is_ready(&self, said: Option<&Receiver<()>>) -> bool {
        let is_ready = match (&self.config.ready, said) {
            (Ready::AtOnce, _) => true,
            (Ready::Port(address), _) => accepts(address),
            (Ready::Line(_), Some(said)) => said.try_recv().is_ok(),
            (Ready::Line(_), None) => false,
            (Ready::Http(url), _) => is_up(url, self.interrupt),
        };
        if !is_ready {
            thread::sleep(PAUSE);
        }
        is_ready
    }

    fn cannot(&self, reason: &str) -> AdapterError {
        let words = self.tail.text();
        let words = words.trim();
        let reason = if words.is_empty() {
            reason.to_owned()
        } else {
            format!("{reason}; it wrote: {}", cut(words, 400))
        };
        AdapterError::Start { what: self.config.start.clone(), reason }
    }

    /// Runs the stop command, gives the server a moment, and ends it.
    fn stop(&mut self) {
        let Some(child) = self.child.take() else { return };
        if let Some(command) = &self.config.stop
            && !child.has_exited()
            && run_command(command, &self.config.environment, GRACE, Interrupt::never()).is_ok()
        {
            wait_for_exit(&child, GRACE, Interrupt::never());
        }
        child.end();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs a command in a shell to its end; its error is told with the end of its error stream.
pub(super) fn run_command(
    command: &str,
    environment: &[(String, String)],
    limit: Duration,
    interrupt: Interrupt,
) -> Result<(), AdapterError> {
    let cannot = |reason: String| AdapterError::Start { what: command.to_owned(), reason };
    let mut child = shell(command)
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot(error.to_string()))?;
    let (stderr, tail) = (child.stderr.take(), Tail::default());
    let child = Guarded::new(child);
    let reader = stderr.map(|stderr| {
        let tail = tail.clone();
        thread::spawn(move || keep_tail(stderr, &tail))
    });
    wait_for_exit(&child, limit, interrupt);
    interrupt.check()?;
    if !child.has_exited() {
        return Err(cannot(format!("it did not end within {} ms", limit.as_millis())));
    }
    let status = child.end();
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    // The group is gone, so the stream ends, unless somebody left the group.
    let deadline = Instant::now() + Duration::from_millis(200);
    while reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    let status = status.map_or_else(|| "it failed".to_owned(), |status| status.to_string());
    match tail.text().trim() {
        "" => Err(cannot(status)),
        words => Err(cannot(format!("{status}; it wrote: {}", cut(words, 400)))),
    }
}

fn wait_for_exit(child: &Guarded, limit: Duration, interrupt: Interrupt) {
    let deadline = Instant::now() + limit;
    while !child.has_exited() && Instant::now() < deadline && !interrupt.is_set() {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether somebody accepts connections at `address`.
fn accepts(address: &str) -> bool {
    let open = |address: SocketAddr| TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok();
    address.to_socket_addrs().is_ok_and(|mut addresses| addresses.any(open))
}

/// Tells when a line with the text `wanted` is written.
///
/// The stream is read to its end whether somebody listens or not: a full pipe would stop the server.
fn said_by(stdout: impl Read + Send + 'static, wanted: Option<String>) -> Receiver<()> {
    let (sender, said) = sync_channel(1);
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        while let Ok(Some(line)) = next_line(&mut reader) {
            if let (Line::Text(text), Some(wanted)) = (line, &wanted)
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

    fn config(start: &str, ready: Ready) -> ServerConfig {
        let limit = Duration::from_millis(800);
        ServerConfig { start: start.into(), ready, limit, ..ServerConfig::default() }
    }

    #[test]
    fn a_line_says_that_it_is_ready() {
        let ready = Ready::Line("accepting".into());
        let start = "echo starting; sleep 0.05; echo now accepting connections; sleep 30";
        assert!(Server::start(config(start, ready), Interrupt::never()).is_ok());
    }

    #[test]
    fn its_environment_reaches_it_and_its_stop_command() {
        let folder = std::env::temp_dir().join(format!("ioxide-server-{}", std::process::id()));
        let mut config = config("echo $WORD; sleep 30", Ready::Line("tea".into()));
        config.environment = vec![("WORD".into(), "tea".into())];
        config.stop = Some(format!("echo $WORD > {}", folder.display()));
        drop(Server::start(config, Interrupt::never()).unwrap());
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "tea\n");
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn one_that_ends_or_dawdles_is_told_with_its_last_words() {
        let problem = |start: &str, ready: Ready| {
            Server::start(config(start, ready), Interrupt::never()).unwrap_err().to_string()
        };
        let ended = problem("echo no cups >&2; sleep 0.1; exit 3", Ready::Line("accepting".into()));
        assert!(ended.contains("ended before it was ready; it wrote: no cups"), "{ended}");
        let late = problem("sleep 30", Ready::Port("127.0.0.1:1".into()));
        assert!(late.contains("not ready within 800 ms"), "{late}");
    }

    #[test]
    fn a_port_that_somebody_has_is_refused() {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        let error = Server::start(config("sleep 30", Ready::Port(address)), Interrupt::never()).unwrap_err();
        assert!(error.to_string().contains("in use already"), "{error}");
    }
}
