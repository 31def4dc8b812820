//! A system of `bench truth` that speaks to several clients, each on a connection of its own.
//!
//! *Promises.* Messages are written in the order in which they were produced, whichever connection they go to. When the
//! first client sends its greeting, the system is in its initial state; messages from clients of an earlier session are
//! ignored.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::server::{Listener, ServedSystem, message_line};
use super::systems::{BenchMessage, SystemBehaviour};

/// The greeting of a client, and the system's answer to it.
pub const HELLO: &str = "HELLO";
/// The answer to the greeting.
const WELCOME: &str = "WELCOME";

/// The time between two checks whether a message is due: well below the shortest delay that is measured.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// The system and its clients.
struct SystemPair {
    system: ServedSystem,
    behaviour: Box<dyn SystemBehaviour>,
    /// The number of times the system was started.
    life: u64,
    clients: Vec<Option<TcpStream>>,
}

impl SystemPair {
    /// Answers the greeting of a client, and returns the number of its session; the first client restarts the system.
    fn greet(&mut self, at: usize, client: TcpStream) -> io::Result<u64> {
        if at == 0 {
            self.life += 1;
            self.clients.iter_mut().for_each(|client| *client = None);
            let seed = self.system.seed.wrapping_add(self.life);
            self.behaviour = self.system.kind.start(self.system.health, seed);
        }
        (&client).write_all(format!("{WELCOME}\n").as_bytes())?;
        self.clients[at] = Some(client);
        Ok(self.life)
    }

    /// Sends the messages that are due.
    fn speak(&mut self) {
        let now = Instant::now();
        while self.behaviour.next_word().is_some_and(|due| due <= now) {
            let Some(message) = self.behaviour.word(now) else { return };
            let mut names = self.system.kind.clients().iter();
            let at = names.position(|name| message.name.starts_with(name)).unwrap_or_default();
            if let Some(Some(client)) = self.clients.get_mut(at) {
                // A client that hangs up hears no more, nothing else.
                let _ = client.write_all(format!("{}\n", message_line(&message)).as_bytes());
            }
        }
    }
}

/// Locks the pair; a thread that panicked leaves it usable.
fn lock(desk: &Mutex<SystemPair>) -> MutexGuard<'_, SystemPair> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves `system` at one address for each of its clients.
pub fn start(system: ServedSystem) -> io::Result<Vec<Listener>> {
    let behaviour = system.kind.start(system.health, system.seed);
    let n_clients = system.kind.clients().len();
    let clients = (0..n_clients).map(|_| None).collect();
    let desk = Arc::new(Mutex::new(SystemPair { system, behaviour, life: 0, clients }));
    let its = Arc::downgrade(&desk);
    thread::spawn(move || {
        while let Some(desk) = its.upgrade() {
            lock(&desk).speak();
            drop(desk);
            thread::sleep(POLL_INTERVAL);
        }
    });
    let side = |at: usize| {
        let desk = Arc::clone(&desk);
        Listener::start(move |stream, _| {
            // A client that hangs up ends its service, nothing else.
            let _ = serve(&desk, at, stream);
        })
    };
    (0..n_clients).map(side).collect()
}

/// Reads the messages of one client until it hangs up.
fn serve(desk: &Mutex<SystemPair>, at: usize, stream: TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    if lines.next().transpose()?.as_deref() != Some(HELLO) {
        return Ok(());
    }
    let life = lock(desk).greet(at, stream)?;
    for line in lines {
        let message = BenchMessage::plain(line?.trim());
        let mut desk = lock(desk);
        if desk.life != life {
            return Ok(());
        }
        desk.behaviour.take(&message, Instant::now());
    }
    Ok(())
}
