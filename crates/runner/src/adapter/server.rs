//! A server that has to run before a system can be reached: started, waited for, stopped.
//!
//! It runs in a process group of its own, which is ended as a whole when the [`Server`] is
//! dropped, after its stop command if it has one.

use std::io::{BufReader, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::AdapterError;
use super::process::{Tail, has_exited, keep_tail, kill_group, shell};
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
}

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    child: Child,
    tail: Tail,
}

impl Server {
    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    /// If it does not start, ends, or is not ready in time.
    pub fn start(config: ServerConfig) -> Result<Self, AdapterError> {
        let cannot = |reason: String| AdapterError::Start { what: config.start.clone(), reason };
        if let Ready::Port(address) = &config.ready {
            // Somebody else there would be tested instead.
            if accepts(address) {
                return Err(cannot(format!("`{address}` is in use already")));
            }
        }
        let mut child = shell(&config.start)
            .envs(config.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(error.to_string()))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let tail = Tail::default();
        if let Some(stderr) = stderr {
            let tail = tail.clone();
            thread::spawn(move || keep_tail(stderr, &tail));
        }
        let mut server = Self { config, child, tail };
        let lines = stdout.map(lines_of);
        server.wait(lines.as_ref())?;
        Ok(server)
    }

    fn wait(&mut self, lines: Option<&Receiver<String>>) -> Result<(), AdapterError> {
        let deadline = Instant::now() + self.config.limit;
        loop {
            if self.is_ready(lines) {
                return Ok(());
            }
            if has_exited(&mut self.child) {
                return Err(self.cannot("it ended before it was ready"));
            }
            if Instant::now() >= deadline {
                let limit = self.config.limit.as_millis();
                return Err(self.cannot(&format!("it was not ready within {limit} ms")));
            }
        }
    }

    /// Looks, and lets a moment pass if it is not ready yet.
    fn is_ready(&self, lines: Option<&Receiver<String>>) -> bool {
        match (&self.config.ready, lines) {
            (Ready::AtOnce, _) => return true,
            (Ready::Port(address), _) if accepts(address) => return true,
            (Ready::Line(text), Some(lines)) => match lines.recv_timeout(PAUSE) {
                Ok(line) => return line.contains(text),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => (),
            },
            _ => (),
        }
        thread::sleep(PAUSE);
        false
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

    /// Runs the stop command and gives the server a moment.
    fn stop(&mut self) {
        let Some(command) = &self.config.stop else { return };
        let command = shell(command)
            .envs(self.config.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut stopper) = command else { return };
        wait_for_exit(&mut stopper);
        kill_group(&mut stopper);
        stopper.wait().ok();
        wait_for_exit(&mut self.child);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        kill_group(&mut self.child);
        self.child.wait().ok();
    }
}

fn wait_for_exit(child: &mut Child) {
    let deadline = Instant::now() + GRACE;
    while !has_exited(child) && Instant::now() < deadline {
        thread::sleep(PAUSE);
    }
}

/// Whether somebody accepts connections at `address`.
fn accepts(address: &str) -> bool {
    let open = |address: SocketAddr| TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok();
    address.to_socket_addrs().is_ok_and(|mut addresses| addresses.any(open))
}

/// The lines of a stream, read to its end whether somebody listens or not: a full pipe would stop the server.
fn lines_of(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut heard = true;
        while let Ok(Some(line)) = next_line(&mut reader) {
            if let (Line::Text(text), true) = (line, heard) {
                heard = sender.send(text).is_ok();
            }
        }
    });
    receiver
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
        assert!(Server::start(config(start, ready)).is_ok());
    }

    #[test]
    fn its_environment_reaches_it_and_its_stop_command() {
        let folder = std::env::temp_dir().join(format!("ioxide-server-{}", std::process::id()));
        let mut config = config("echo $WORD; sleep 30", Ready::Line("tea".into()));
        config.environment = vec![("WORD".into(), "tea".into())];
        config.stop = Some(format!("echo $WORD > {}", folder.display()));
        drop(Server::start(config).unwrap());
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "tea\n");
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn one_that_ends_or_dawdles_is_told_with_its_last_words() {
        let problem =
            |start: &str, ready: Ready| Server::start(config(start, ready)).unwrap_err().to_string();
        let ended = problem("echo no cups >&2; sleep 0.1; exit 3", Ready::Line("accepting".into()));
        assert!(ended.contains("ended before it was ready; it wrote: no cups"), "{ended}");
        let late = problem("sleep 30", Ready::Port("127.0.0.1:1".into()));
        assert!(late.contains("not ready within 800 ms"), "{late}");
    }

    #[test]
    fn a_port_that_somebody_has_is_refused() {
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        let error = Server::start(config("sleep 30", Ready::Port(address))).unwrap_err();
        assert!(error.to_string().contains("in use already"), "{error}");
    }
}
