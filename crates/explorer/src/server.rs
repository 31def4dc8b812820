//! Connections: accepted, timed, answered, closed.
//!
//! A thread per connection, a bounded number of them, one request each. A client that sends or
//! reads slowly loses its connection and holds up nobody else.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Explorer;
use crate::guard::{Guard, Token};
use crate::http::{self, Bad, Response};
use crate::routes::{self, Reply};

/// Connections at once; more are turned away.
const MAX_CONNECTIONS: usize = 200;
/// Time for a campaign to end after its step, and for what it started to be ended.
const SETTLING: Duration = Duration::from_secs(20);
/// Time for a request to arrive.
const ARRIVAL: Duration = Duration::from_secs(5);
/// Time for a piece of the response to be taken.
const DEPARTURE: Duration = Duration::from_secs(10);
/// Time and bytes spent on a client that has not finished speaking when it is answered.
const FAREWELL: (Duration, usize) = (Duration::from_millis(300), 1 << 20);

/// Serves an explorer.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    ended: Arc<AtomicBool>,
}

/// Ends a server from another thread.
#[derive(Clone)]
pub struct Ender {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl Ender {
    /// Whether the server was ended already.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Lets the server accept nothing more.
    pub fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let loopback =
                if address.is_ipv4() { [127, 0, 0, 1].into() } else { std::net::Ipv6Addr::LOCALHOST.into() };
            address.set_ip(loopback);
        }
        let _ = TcpStream::connect_timeout(&address, Duration::from_secs(1));
    }
}

impl Server {
    /// Listens at `address`; port 0 takes one that is free.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub fn bind(address: SocketAddr, token: Token) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, token, ended: Arc::new(AtomicBool::new(false)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to open, with the token.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token.text())
    }

    /// What ends it.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender { address: self.address, ended: Arc::clone(&self.ended) }
    }

    /// Answers until it is ended.
    pub fn serve(self, explorer: &Arc<Explorer>) {
        let guard = Arc::new(Guard::new(self.address, self.token));
        let n_open = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            if self.ended.load(Ordering::SeqCst) {
                break;
            }
            // Out of descriptors, or a client that went away again: others may still come.
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            if n_open.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                n_open.fetch_sub(1, Ordering::SeqCst);
                turn_away(&stream);
                continue;
            }
            let (guard, explorer, n_open, ended) =
                (Arc::clone(&guard), Arc::clone(explorer), Arc::clone(&n_open), Arc::clone(&self.ended));
            let slot = Slot(n_open);
            // Without a thread to answer, the client is let go.
            let _ = thread::Builder::new().name("explorer".into()).spawn(move || {
                let _slot = slot;
                let _ = answer(&stream, &guard, &explorer, &ended);
            });
        }
        explorer.live.stop();
        explorer.live.settle(SETTLING);
    }
}

/// Counts a connection until it is dropped, whatever ends it.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn turn_away(mut stream: &TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_millis(50)));
    let _ = Response::refused(503, "too many connections").write(&mut stream);
}

fn answer(stream: &TcpStream, guard: &Guard, explorer: &Explorer, ended: &AtomicBool) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(DEPARTURE))?;
    let response = match http::read(&mut Timed { stream, until: Instant::now() + ARRIVAL }) {
        Err(Bad::Gone) => return Ok(()),
        Err(Bad::Refused(status, why)) => Response::refused(status, why),
        Ok(request) => match guard.admit(&request) {
            Err(refusal) => refusal,
            Ok(path) => match routes::answer(explorer, path, &request) {
                Reply::Whole(response) => response,
                Reply::Events => return stream_events(stream, explorer, ended),
            },
        },
    };
    response.write(&mut &*stream)?;
    say_goodbye(stream)
}

/// Sends what the live campaign looks like whenever it has changed, until the client goes away.
fn stream_events(mut stream: &TcpStream, explorer: &Explorer, ended: &AtomicBool) -> io::Result<()> {
    http::begin_stream(&mut stream)?;
    let mut seen = None;
    while !ended.load(Ordering::SeqCst) {
        let text = match explorer.live.changed(seen, Duration::from_secs(2)) {
            Some((version, view)) => {
                seen = Some(version);
                format!("data: {}\n\n", serde_json::to_string(&view)?)
            }
            // Nothing new; a comment shows whether anybody listens.
            None => ":\n\n".into(),
        };
        stream.write_all(text.as_bytes())?;
        stream.flush()?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Closes without cutting off a response that the client has not read because it is still speaking.
fn say_goodbye(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut rest = Timed { stream, until: Instant::now() + FAREWELL.0 };
    let mut chunk = [0; 8192];
    let mut total = 0;
    while total < FAREWELL.1 {
        match rest.read(&mut chunk)? {
            0 => break,
            n => total += n,
        }
    }
    Ok(())
}

/// Reads from a stream until a point in time.
struct Timed<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}
