//! Servers for the systems of `bench truth`: the same behaviour over the adapter protocol, lines of text, HTTP.
//!
//! *Promises.* Messages that are due together are written in one piece. A server ends with its [`Listener`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_wire::protocol::{self, HelloMessage, OutputMessage, ReadyMessage, SentMessage, VERSION};
use serde_json::{Map, Value as Json};

use super::systems::{BenchMessage, Health, SystemBehaviour, SystemKind};
use super::wire::BenchWire;

/// The time within which messages are due together, and are written at once; chosen by feel, far below the times that
/// systems work.
const DUE_TOGETHER: Duration = Duration::from_millis(1);
/// The port that stands for any that is free.
const ANY_PORT: u16 = 0;

/// A system to be served.
#[derive(Clone, Copy, Debug)]
pub struct ServedSystem {
    /// Its kind.
    pub kind: SystemKind,
    /// Its health: correct, or with the fault of its kind.
    pub health: Health,
    /// The seed of its choices.
    pub seed: u64,
}

/// A listening port of this machine, closed when this is dropped; every connection gets a thread.
pub struct Listener {
    /// The address it listens at.
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Listener {
    /// Listens at a free port, and passes every connection with its number to `serve`.
    pub fn start(serve: impl Fn(TcpStream, u64) + Send + Sync + 'static) -> io::Result<Self> {
        Self::start_at(ANY_PORT, serve)
    }

    /// Listens at `port`, and passes every connection with its number to `serve`.
    fn start_at(port: u16, serve: impl Fn(TcpStream, u64) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let (address, is_over) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let (over, serve) = (Arc::clone(&is_over), Arc::new(serve));
        thread::spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming().flatten()) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // Answers must not wait for more to come.
                let _ = stream.set_nodelay(true);
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(stream, number));
            }
        });
        Ok(Self { address, is_over })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // One last connection, so that it looks up; if there is none it does not listen any more.
        let _ = TcpStream::connect(self.address);
    }
}

/// Serves `system` in the way of `wire`, at a free port.
pub fn start(system: ServedSystem, wire: BenchWire) -> io::Result<Listener> {
    start_at(ANY_PORT, system, wire)
}

/// Serves `system` in the way of `wire`, at `port`.
pub fn start_at(port: u16, system: ServedSystem, wire: BenchWire) -> io::Result<Listener> {
    match wire {
        BenchWire::Stdio | BenchWire::Tcp => Listener::start_at(port, move |stream, number| {
            talk(system, number, stream, MessageDialect::Protocol)
        }),
        BenchWire::Text if system.kind.outlives_connections() => {
            let behaviour = Arc::new(Mutex::new(system.kind.start(system.health, system.seed)));
            Listener::start_at(port, move |stream, number| {
                let shared = Box::new(Arc::clone(&behaviour));
                talk_to(shared, system, number, stream, MessageDialect::Text);
            })
        }
        BenchWire::Text | BenchWire::Pair | BenchWire::Three => {
            Listener::start_at(port, move |stream, number| talk(system, number, stream, MessageDialect::Text))
        }
        BenchWire::Http => {
            let behaviour = Mutex::new(system.kind.start(system.health, system.seed));
            let ready_at = Instant::now() + system.kind.warm_up();
            Listener::start_at(port, move |stream, _| {
                // A client that hangs up ends its service, nothing else.
                let _ = serve_client(stream, system.kind, &behaviour, ready_at);
            })
        }
    }
}

/// The notation of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageDialect {
    Protocol,
    Text,
}

/// Serves one connection until it ends.
fn talk(system: ServedSystem, number: u64, stream: TcpStream, dialect: MessageDialect) {
    thread::sleep(system.kind.warm_up());
    let behaviour = system.kind.start(system.health, system.seed.wrapping_add(number));
    talk_to(behaviour, system, number, stream, dialect);
}

/// Serves one connection to `behaviour` until it ends.
fn talk_to(
    behaviour: Box<dyn SystemBehaviour>,
    system: ServedSystem,
    number: u64,
    stream: TcpStream,
    dialect: MessageDialect,
) {
    let Ok(reader) = stream.try_clone() else { return };
    let mut talk = BenchConversation {
        behaviour,
        system,
        lives: system.seed.wrapping_add(number),
        agenda: Vec::new(),
        writer: stream,
        dialect,
    };
    // A client that hangs up ends its service, nothing else.
    let _ = talk.run(&read_lines(reader));
}

/// Returns the lines of a connection as they are read.
fn read_lines(reader: TcpStream) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// One connection to a system.
struct BenchConversation {
    system: ServedSystem,
    behaviour: Box<dyn SystemBehaviour>,
    lives: u64,
    agenda: Vec<(Instant, BenchMessage)>,
    writer: TcpStream,
    dialect: MessageDialect,
}

impl BenchConversation {
    /// Talks to one client until it goes.
    fn run(&mut self, lines: &Receiver<String>) -> io::Result<()> {
        if self.dialect == MessageDialect::Protocol {
            let name = self.system.kind.name().to_owned();
            self.send_messages(&[protocol::ProtocolMessage::Hello(HelloMessage {
                protocol: VERSION,
                name,
                ..HelloMessage::default()
            })])?;
        }
        loop {
            let due =
                self.agenda.first().map(|(due, _)| *due).into_iter().chain(self.behaviour.next_word()).min();
            let line = match due {
                Some(due) => lines.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match line {
                Ok(line) => self.handle_line(&line)?,
                Err(RecvTimeoutError::Timeout) => self.speak()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn handle_line(&mut self, line: &str) -> io::Result<()> {
        match self.dialect {
            MessageDialect::Text => {
                let mut words = line.split_whitespace();
                if let Some(name) = words.next() {
                    let n = words.next().and_then(|word| word.parse().ok());
                    self.take_input(&BenchMessage { name: name.to_owned(), n });
                }
                Ok(())
            }
            MessageDialect::Protocol => match protocol::ProtocolMessage::from_line(line) {
                Ok(protocol::ProtocolMessage::Configure(_)) => {
                    self.send_messages(&[protocol::ProtocolMessage::Ready(ReadyMessage::default())])
                }
                Ok(protocol::ProtocolMessage::Reset(_)) => {
                    self.lives = self.lives.wrapping_add(1);
                    self.behaviour = self.system.kind.start(self.system.health, self.lives);
                    self.agenda.clear();
                    self.send_messages(&[protocol::ProtocolMessage::Ready(ReadyMessage::default())])
                }
                Ok(protocol::ProtocolMessage::Input(input)) => {
                    self.send_messages(&[protocol::ProtocolMessage::Sent(SentMessage {
                        id: input.id,
                        time_ns: None,
                        raw: None,
                        outputs: None,
                    })])?;
                    let n = input.args.get("n").and_then(Json::as_i64);
                    self.take_input(&BenchMessage { name: input.label, n });
                    Ok(())
                }
                Ok(_) => Ok(()),
                Err(bad) => Err(io::Error::other(bad)),
            },
        }
    }

    fn take_input(&mut self, input: &BenchMessage) {
        self.agenda.extend(self.behaviour.take(input, Instant::now()));
        self.agenda.sort_by_key(|(due, _)| *due);
    }

    /// Sends all messages that are due, in one piece.
    fn speak(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let n_due = self.agenda.iter().take_while(|(due, _)| *due <= now + DUE_TOGETHER).count();
        let mut due: Vec<BenchMessage> = self.agenda.drain(..n_due).map(|(_, message)| message).collect();
        if self.behaviour.next_word().is_some_and(|due| due <= now) {
            due.extend(self.behaviour.word(now));
        }
        match self.dialect {
            MessageDialect::Text => {
                let text: String = due.iter().map(|message| format!("{}\n", message_line(message))).collect();
                self.system.kind.write(&mut self.writer, text.as_bytes())
            }
            MessageDialect::Protocol => {
                let lines: String =
                    due.into_iter().map(|due| format!("{}\n", output(due).to_line())).collect();
                self.system.kind.write(&mut self.writer, lines.as_bytes())
            }
        }
    }

    fn send_messages(&mut self, messages: &[protocol::ProtocolMessage]) -> io::Result<()> {
        let text: String = messages.iter().map(|message| format!("{}\n", message.to_line())).collect();
        self.writer.write_all(text.as_bytes())
    }
}

/// Returns a message in the protocol of adapters.
fn output(message: BenchMessage) -> protocol::ProtocolMessage {
    let args: Map<String, Json> = message.n.map(|n| ("n".to_owned(), n.into())).into_iter().collect();
    protocol::ProtocolMessage::Output(OutputMessage { label: message.name, args, time_ns: None, raw: None })
}

/// Returns a message as a line.
pub fn message_line(message: &BenchMessage) -> String {
    match message.n {
        Some(n) => format!("{} {n}", message.name),
        None => message.name.clone(),
    }
}

/// Answers the requests of one connection; a request without an answer keeps it open.
fn serve_client(
    stream: TcpStream,
    kind: SystemKind,
    behaviour: &Mutex<Box<dyn SystemBehaviour>>,
    ready_at: Instant,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    while let Some(input) = request(&mut reader)? {
        thread::sleep(ready_at.saturating_duration_since(Instant::now()));
        let agenda = behaviour.lock().unwrap_or_else(PoisonError::into_inner).take(&input, Instant::now());
        let Some((due, message)) = agenda.into_iter().next() else {
            return reader.read_to_end(&mut Vec::new()).map(drop);
        };
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let body = message_line(&message);
        let text = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        kind.write(&mut writer, text.as_bytes())?;
    }
    Ok(())
}

/// Returns the next request, `GET /NAME/n`; `None` at the end.
fn request(reader: &mut impl BufRead) -> io::Result<Option<BenchMessage>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default();
    let mut parts = path.split('/').skip(1);
    let name = parts.next().unwrap_or_default().to_owned();
    Ok(Some(BenchMessage { name, n: parts.next().and_then(|text| text.parse().ok()) }))
}
