//! A TCP proxy on this machine between clients and a system, by which messages are late or lost and connections cut.
//!
//! It listens on the loopback interface only. Two threads copy the bytes of a connection, one for each direction; they
//! end with the connection. The end of one direction closes the other, so a client notices when the system hangs up.
//!
//! *Promises.* Bytes are passed on in order and unchanged, or not at all. After bytes were lost, the connection is
//! closed: no client sees the rest of a message whose beginning is missing.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time after which a thread that waits for bytes looks at the mode again. Chosen by feel: it delays a cut by this
/// much at most.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The greatest number of bytes that are copied at once. Chosen by feel.
const CHUNK: usize = 16 * 1024;

/// The treatment of bytes and connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyMode {
    /// Everything is passed on at once.
    #[default]
    Pass,
    /// Every chunk of bytes is held back for a time of at most this length.
    Delay(Duration),
    /// Nothing is passed on; a connection that has lost bytes is closed when the mode ends.
    Drop,
    /// All connections are closed, and new ones as soon as they are made.
    Cut,
}

/// A proxy that runs until it is dropped.
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    state: Arc<ProxyState>,
}

#[derive(Debug)]
struct ProxyState {
    mode: Mutex<ProxyMode>,
    is_closed: AtomicBool,
    /// Counts chunks, so that delays differ from each other.
    chunks: AtomicU64,
    /// The number of chunks that were lost.
    lost: AtomicU64,
}

impl ProxyState {
    /// Returns the way in which chunks are passed on now.
    fn mode(&self) -> ProxyMode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Returns the time for which the next chunk is held back, at most `longest`.
    fn next_delay(&self, longest: Duration) -> Duration {
        // A fixed sequence that visits the whole range: no randomness is needed for messages to overtake each other.
        let at = self.chunks.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        longest * u32::try_from(at).unwrap_or(0) / 256
    }
}

impl TcpProxy {
    /// Starts a proxy to `target`, HOST:PORT, on a free port of the loopback interface.
    ///
    /// # Errors
    /// If no port can be had.
    pub fn start(target: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let mode = Mutex::new(ProxyMode::Pass);
        let (is_closed, chunks, lost) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let state = Arc::new(ProxyState { mode, is_closed, chunks, lost });
        let (shared, target) = (Arc::clone(&state), target.to_owned());
        thread::spawn(move || accept_clients(&listener, &target, &shared));
        Ok(Self { address, state })
    }

    /// Returns the address to which clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the treatment of bytes and connections from now on.
    pub fn set_mode(&self, mode: ProxyMode) {
        *self.state.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        TcpStream::connect(self.address).ok();
    }
}

fn accept_clients(listener: &TcpListener, target: &str, state: &Arc<ProxyState>) {
    for client in listener.incoming() {
        if state.is_closed() {
            return;
        }
        let Ok(client) = client else { continue };
        if state.mode() == ProxyMode::Cut {
            continue;
        }
        let (target, state) = (target.to_owned(), Arc::clone(state));
        // Connecting can take long, and others must not wait for it.
        thread::spawn(move || serve_client(client, &target, &state));
    }
}

fn serve_client(client: TcpStream, target: &str, state: &Arc<ProxyState>) {
    let Ok(server) = TcpStream::connect(target) else { return };
    client.set_nodelay(true).ok();
    server.set_nodelay(true).ok();
    let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone()) else { return };
    let shared = Arc::clone(state);
    thread::spawn(move || copy_bytes(from_server, client, &shared));
    copy_bytes(from_client, server, state);
}

/// Copies the bytes of one direction until either side or the proxy closes the connection.
fn copy_bytes(mut from: TcpStream, mut to: TcpStream, state: &ProxyState) {
    from.set_read_timeout(Some(POLL_INTERVAL)).ok();
    let mut chunk = vec![0; CHUNK];
    let mut has_lost = false;
    loop {
        if state.is_closed() || state.mode() == ProxyMode::Cut {
            break;
        }
        // Whoever has lost something must not hear what follows it.
        if has_lost && state.mode() != ProxyMode::Drop {
            break;
        }
        let length = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if is_timeout(&error) => continue,
            Err(_) => break,
        };
        match state.mode() {
            ProxyMode::Pass => (),
            ProxyMode::Delay(longest) => thread::sleep(state.next_delay(longest)),
            ProxyMode::Drop => {
                has_lost = true;
                state.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            ProxyMode::Cut => break,
        }
        if has_lost || to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;

    use super::*;

    /// Starts a server that answers every line with the same line.
    fn echo() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut reader = io::BufReader::new(stream.try_clone().unwrap());
                    let (mut stream, mut line) = (stream, String::new());
                    while reader.read_line(&mut line).is_ok_and(|n| n > 0) {
                        stream.write_all(line.as_bytes()).unwrap();
                        line.clear();
                    }
                });
            }
        });
        address
    }

    fn ask(stream: &mut TcpStream, line: &str) -> Option<String> {
        stream.write_all(line.as_bytes()).ok()?;
        let mut answer = String::new();
        io::BufReader::new(stream.try_clone().ok()?).read_line(&mut answer).ok()?;
        (!answer.is_empty()).then_some(answer)
    }

    #[test]
    fn bytes_pass_at_once_or_late_and_a_cut_ends_the_connection() {
        let proxy = TcpProxy::start(&echo()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(ask(&mut client, "one\n").as_deref(), Some("one\n"));
        proxy.set_mode(ProxyMode::Delay(Duration::from_millis(5)));
        assert_eq!(ask(&mut client, "two\n").as_deref(), Some("two\n"));
        proxy.set_mode(ProxyMode::Cut);
        assert_eq!(ask(&mut client, "three\n"), None);
        let mut other = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(ask(&mut other, "four\n"), None);
        proxy.set_mode(ProxyMode::Pass);
        let mut again = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(ask(&mut again, "five\n").as_deref(), Some("five\n"));
    }

    #[test]
    fn a_connection_that_lost_bytes_is_closed_afterwards() {
        let proxy = TcpProxy::start(&echo()).unwrap();
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        assert_eq!(ask(&mut client, "one\n").as_deref(), Some("one\n"));
        proxy.set_mode(ProxyMode::Drop);
        client.write_all(b"two\n").unwrap();
        while proxy.state.lost.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        proxy.set_mode(ProxyMode::Pass);
        assert_eq!(ask(&mut client, "three\n"), None, "neither `two` nor what follows it arrives");
    }
}
