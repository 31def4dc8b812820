//! The store of `bench live`, served over lines of text or HTTP, in threads of the measurement or as a child of the
//! system under test.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::systems::{StoreFault, StoreSystem, USUAL_REPLY};

/// The pauses between two unsolicited messages, in milliseconds, repeated in this order.
const TICK_PAUSES: [u64; 4] = [35, 70, 20, 90];
/// The number of keys from which on the fault [`StoreFault::Full`] loses further ones.
const FULL: usize = 8;

/// The values behind the keys.
#[derive(Clone, Debug, Default)]
struct ServedStore {
    fault: Option<StoreFault>,
    values: BTreeMap<u32, u32>,
    /// The values before the keys were deleted, which [`StoreFault::Stale`] brings back.
    old: BTreeMap<u32, u32>,
}

/// The answer of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreAnswer {
    Done,
    Value(u32),
    None,
    Gone,
    GoneTwice,
}

impl ServedStore {
    /// Makes an empty store with `fault`, or a correct one.
    fn new(fault: Option<StoreFault>) -> Self {
        Self { fault, ..Self::default() }
    }

    fn put(&mut self, key: u32, value: u32) -> StoreAnswer {
        let value = match (self.fault, self.old.get(&key)) {
            (Some(StoreFault::Stale), Some(&before)) => before,
            _ => value,
        };
        let is_lost = self.fault == Some(StoreFault::Full)
            && self.values.len() >= FULL
            && !self.values.contains_key(&key);
        if !is_lost {
            self.values.insert(key, value);
        }
        StoreAnswer::Done
    }

    fn get(&self, key: u32) -> StoreAnswer {
        self.values.get(&key).map_or(StoreAnswer::None, |&value| StoreAnswer::Value(value))
    }

    fn delete(&mut self, key: u32) -> StoreAnswer {
        match self.values.remove(&key) {
            Some(before) => {
                self.old.insert(key, before);
                StoreAnswer::Done
            }
            None if self.fault == Some(StoreFault::Twice) => StoreAnswer::GoneTwice,
            None => StoreAnswer::Gone,
        }
    }

    /// Returns the lines that answer a line.
    fn answer_line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or_default();
        let answer = match words.first() {
            Some(&"CLEAR") => {
                *self = Self::new(self.fault);
                return "CLEARED\n".into();
            }
            Some(&"HELLO") => return "HELLO\n".into(),
            Some(&"PUT") => self.put(number(1), number(2)),
            Some(&"GET") => self.get(number(1)),
            Some(&"DEL") => self.delete(number(1)),
            _ => return "UNKNOWN\n".into(),
        };
        match answer {
            StoreAnswer::Done => "DONE\n".into(),
            StoreAnswer::Value(value) => format!("VALUE {value}\n"),
            StoreAnswer::None => "NONE\n".into(),
            StoreAnswer::Gone => "GONE\n".into(),
            StoreAnswer::GoneTwice => "GONE\nGONE\n".into(),
        }
    }

    /// Returns the HTTP response to a request.
    fn answer_request(&mut self, method: &str, path: &str, body: &str) -> String {
        let key = path.trim_start_matches('/');
        let answer = match (method, key.parse()) {
            ("PUT", Ok(key)) => self.put(key, body.trim().parse().unwrap_or_default()),
            ("GET", Ok(key)) => self.get(key),
            ("DELETE", Ok(key)) => self.delete(key),
            _ => {
                *self = Self::new(self.fault);
                StoreAnswer::Done
            }
        };
        let (status, body) = match answer {
            // One request has one answer, so the fault is another one.
            StoreAnswer::Done | StoreAnswer::GoneTwice => ("204 No Content", String::new()),
            StoreAnswer::Value(value) => ("200 OK", value.to_string()),
            StoreAnswer::None => ("404 Not Found", String::new()),
            StoreAnswer::Gone => ("410 Gone", String::new()),
        };
        let length = if status.starts_with("204") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        format!("HTTP/1.1 {status}\r\n{length}\r\n{body}")
    }
}

/// A store that other processes can reach; it ends with this value.
pub struct StoreServer {
    /// The ports it listens at.
    pub ports: Vec<u16>,
    is_over: Arc<AtomicBool>,
}

impl StoreServer {
    /// Serves `system`, if it is one that is served by this process.
    pub fn start(system: StoreSystem, fault: Option<StoreFault>) -> io::Result<Self> {
        let mut server = Self { ports: Vec::new(), is_over: Arc::default() };
        let reply = system.reply();
        match system {
            StoreSystem::Replies(_) => server.listen(0, move |stream| {
                let _ = serve_lines(stream, &Mutex::new(ServedStore::new(fault)), reply, None);
            })?,
            StoreSystem::Spontaneous => server.listen(0, move |stream| {
                let _ = serve_lines(stream, &Mutex::new(ServedStore::new(fault)), reply, Some(TICK_PAUSES));
            })?,
            StoreSystem::TwoConnections => {
                let shared = Arc::new(Mutex::new(ServedStore::new(fault)));
                for _ in 0..2 {
                    let store = Arc::clone(&shared);
                    server.listen(0, move |stream| {
                        let _ = serve_lines(stream, &store, reply, None);
                    })?;
                }
            }
            StoreSystem::Http => {
                let store = Mutex::new(ServedStore::new(fault));
                server.listen(0, move |stream| {
                    let _ = serve_http(stream, &store, reply);
                })?;
            }
            StoreSystem::Restarted(_) | StoreSystem::InProcess => (),
        }
        Ok(server)
    }

    /// Listens at `port`, any free one if it is 0; every connection gets a thread.
    fn listen(&mut self, port: u16, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        self.ports.push(listener.local_addr()?.port());
        let (is_over, serve) = (Arc::clone(&self.is_over), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let _ = stream.set_nodelay(true);
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(stream));
            }
        });
        Ok(())
    }
}

impl Drop for StoreServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for &port in &self.ports {
            // One last connection, so that it looks up; if there is none it does not listen any more.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        }
    }
}

/// Locks what a thread that panicked may have held: a store is whole after every call.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves a connection with lines of text until it ends.
fn serve_lines(
    stream: TcpStream,
    store: &Mutex<ServedStore>,
    reply: Duration,
    ticks: Option<[u64; 4]>,
) -> io::Result<()> {
    let writer = Arc::new(Mutex::new(stream.try_clone()?));
    if let Some(pauses) = ticks {
        let writer = Arc::clone(&writer);
        thread::spawn(move || {
            for pause in pauses.into_iter().cycle() {
                thread::sleep(Duration::from_millis(pause));
                if lock(&writer).write_all(b"TICK\n").is_err() {
                    return;
                }
            }
        });
    }
    for line in BufReader::new(stream).lines() {
        thread::sleep(reply);
        let answer = lock(store).answer_line(&line?);
        lock(&writer).write_all(answer.as_bytes())?;
    }
    // The other thread has a handle too.
    lock(&writer).shutdown(std::net::Shutdown::Both)
}

/// Serves a connection with HTTP until it ends.
fn serve_http(stream: TcpStream, store: &Mutex<ServedStore>, reply: Duration) -> io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        thread::sleep(reply);
        let answer = lock(store).answer_request(method, path, &String::from_utf8_lossy(&body));
        writer.write_all(answer.as_bytes())?;
    }
}

/// A store that is a process of its own, written `START_MS,FAULT,PORT`; the fault is `correct` or the name of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreChild {
    start_ms: u64,
    fault: Option<StoreFault>,
    port: u16,
}

/// A text that names no store.
#[derive(Debug, Error)]
#[error("`{0}` is no store: expected START_MS,correct|FAULT,PORT")]
pub struct BadStoreChild(String);

impl FromStr for StoreChild {
    type Err = BadStoreChild;

    fn from_str(text: &str) -> Result<Self, BadStoreChild> {
        let bad = || BadStoreChild(text.to_owned());
        let words: Vec<&str> = text.split(',').collect();
        let [start, fault, port] = words[..] else { return Err(bad()) };
        let fault = match fault {
            "correct" => None,
            name => Some(StoreFault::from_name(name).ok_or_else(bad)?),
        };
        let start_ms = start.parse().map_err(|_| bad())?;
        Ok(Self { start_ms, fault, port: port.parse().map_err(|_| bad())? })
    }
}

impl StoreChild {
    /// Takes the time of its start, then serves for ever.
    pub fn run(&self) -> io::Result<()> {
        thread::sleep(Duration::from_millis(self.start_ms));
        let mut server = StoreServer { ports: Vec::new(), is_over: Arc::default() };
        // The state is that of the process: a new connection finds what the one before left.
        let (store, reply) = (Mutex::new(ServedStore::new(self.fault)), USUAL_REPLY);
        server.listen(self.port, move |stream| {
            let _ = serve_lines(stream, &store, reply, None);
        })?;
        loop {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_shows_and_a_correct_store_has_none() {
        let answers = |fault: Option<StoreFault>| {
            let mut store = ServedStore::new(fault);
            let keys: Vec<String> = (0..9).map(|key| format!("PUT {key} 5")).collect();
            let lines = ["PUT 1 2", "DEL 1", "PUT 1 3", "GET 1", "DEL 9"].into_iter().map(str::to_owned);
            let lines: Vec<String> = lines.chain(keys).chain(["GET 8".to_owned()]).collect();
            lines.iter().map(|line| store.answer_line(line)).collect::<String>()
        };
        let correct = answers(None);
        assert!(correct.contains("VALUE 3\nGONE\nDONE") && correct.ends_with("VALUE 5\n"), "{correct}");
        assert!(answers(Some(StoreFault::Stale)).contains("VALUE 2\n"));
        assert!(answers(Some(StoreFault::Full)).ends_with("NONE\n"));
        assert!(answers(Some(StoreFault::Twice)).contains("GONE\nGONE\n"));
        let mut http = ServedStore::new(None);
        assert!(http.answer_request("PUT", "/3", "7").starts_with("HTTP/1.1 204"));
        assert!(http.answer_request("GET", "/3", "").ends_with("\r\n\r\n7"));
    }
}
