//! Connections: accepted, timed, answered, closed.
//!
//! A server serves a [`ServedPage`]: the explorer of a model, or the view of a system that is being learned.
//!
//! A thread per connection, a bounded number of them, one request each. A client that sends or reads slowly loses its
//! connection and delays no other client. The body of a request is read once its head has been admitted; see
//! the module `pending` for the numbers of connections.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::access::{AccessGuard, AccessToken};
use crate::http::{self, BadRequest, ExplorerRequest, ExplorerResponse, RequestHead};
use crate::pending::{PendingConnections, PendingPermit};
use crate::routes::RouteReply;

/// The time for a request to arrive. Chosen by feel: requests are small and come from near by; a slow client holds a
/// thread so long.
const ARRIVAL: Duration = Duration::from_secs(5);
/// The time for the client to take a piece of the response. Chosen by feel, as for arrival, with room for a page in
/// the background.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time and bytes spent on a client that is still sending when it is answered. Chosen by feel: a client that is
/// cut off while it sends may lose the answer.
const FAREWELL: (Duration, usize) = (Duration::from_millis(300), 1 << 20);

/// A page that a server serves.
pub trait ServedPage: Send + Sync {
    /// Returns the answer to a request for `path`, which follows the token.
    fn answer(&self, path: &str, request: &ExplorerRequest) -> RouteReply;

    /// Returns the version and the state of the page, as JSON, as soon as it differs from version `seen`; `None` if it
    /// does not within `patience`.
    fn wait_for_update(
        &self,
        seen: Option<u64>,
        patience: Duration,
    ) -> Option<(u64, serde_json::Result<String>)>;

    /// Ends any activity of the page, since no further requests will come.
    fn close(&self);
}

/// A server of one page.
pub struct ExplorerServer {
    listener: TcpListener,
    address: SocketAddr,
    token: AccessToken,
    ended: Arc<AtomicBool>,
}

/// A handle that ends a server from another thread.
#[derive(Clone)]
pub struct ServerEnder {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl ServerEnder {
    /// Returns whether the server was ended already.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Makes the server accept no further connections.
    pub fn end_server(&self) {
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

impl ExplorerServer {
    /// Listens at `address`; port 0 takes one that is free.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub fn bind(address: SocketAddr, token: AccessToken) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, token, ended: Arc::new(AtomicBool::new(false)) })
    }

    /// Returns the address at which the server listens, with the port chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address to open, with the token.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token.text())
    }

    /// Returns a handle that ends the server.
    #[must_use]
    pub fn ender(&self) -> ServerEnder {
        ServerEnder { address: self.address, ended: Arc::clone(&self.ended) }
    }

    /// Answers requests until the server is ended, then closes the page.
    pub fn serve(self, page: &Arc<impl ServedPage + 'static>) {
        let guard = Arc::new(AccessGuard::new(self.address, self.token));
        let pending = Arc::new(PendingConnections::default());
        for stream in self.listener.incoming() {
            if self.ended.load(Ordering::SeqCst) {
                break;
            }
            // Out of descriptors, or a client that went away again: others may still come.
            let Ok(stream) = stream else {
                // 20 ms, because without a pause a lack of descriptors would keep a processor busy. No reason
                // for the number is recorded.
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let Ok(seat) = pending.admit_stranger(&stream) else { continue };
            let desk = ConnectionHandler {
                guard: Arc::clone(&guard),
                pending: Arc::clone(&pending),
                page: Arc::clone(page) as Arc<dyn ServedPage>,
                ended: Arc::clone(&self.ended),
            };
            // Without a thread to answer, the client is let go.
            let _ = thread::Builder::new()
                .name("explorer".into())
                .spawn(move || desk.answer_connection(&stream, seat));
        }
        page.close();
    }
}

/// The handler of one connection.
struct ConnectionHandler {
    guard: Arc<AccessGuard>,
    pending: Arc<PendingConnections>,
    page: Arc<dyn ServedPage>,
    ended: Arc<AtomicBool>,
}

impl ConnectionHandler {
    fn answer_connection(&self, stream: &TcpStream, seat: PendingPermit) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let mut reader = TimedReader { stream, until: Instant::now() + ARRIVAL };
        let response = match http::read_head(&mut reader) {
            Err(bad) => bad,
            Ok(head) => match self.guard.admit(head.request()) {
                Err(refusal) => BadRequest::Refused(refusal),
                Ok(_) => return self.serve_request(stream, seat, head),
            },
        };
        match response {
            BadRequest::Gone => Ok(()),
            BadRequest::Refused(response) => send_and_close(stream, &response),
        }
    }

    /// Serves a request whose head was admitted.
    fn serve_request(&self, stream: &TcpStream, seat: PendingPermit, head: RequestHead) -> io::Result<()> {
        let Some(_guest) = self.pending.take_guest_slot() else {
            return send_and_close(stream, &ExplorerResponse::refusal(503, "too many connections"));
        };
        drop(seat);
        let request = match head.with_body(&mut TimedReader { stream, until: Instant::now() + ARRIVAL }) {
            Ok(request) => request,
            Err(BadRequest::Gone) => return Ok(()),
            Err(BadRequest::Refused(response)) => return send_and_close(stream, &response),
        };
        let reply = match self.guard.admit(&request) {
            Ok(path) => self.page.answer(path, &request),
            Err(refusal) => RouteReply::Whole(refusal),
        };
        match reply {
            RouteReply::Whole(response) => send_and_close(stream, &response),
            RouteReply::Events => stream_events(stream, &*self.page, &self.ended),
        }
    }
}

/// Sends the response and closes the connection.
fn send_and_close(stream: &TcpStream, response: &ExplorerResponse) -> io::Result<()> {
    response.write(&mut &*stream)?;
    drain_and_close(stream)
}

/// Sends the state of the page whenever it has changed, until the client goes away or the server is ended.
fn stream_events(mut stream: &TcpStream, page: &dyn ServedPage, ended: &AtomicBool) -> io::Result<()> {
    http::begin_stream(&mut stream)?;
    let mut seen = None;
    while !ended.load(Ordering::SeqCst) {
        // Two seconds: that long after a client went away its thread may still wait. No reason for the number
        // is recorded.
        let text = match page.wait_for_update(seen, Duration::from_secs(2)) {
            Some((version, view)) => {
                seen = Some(version);
                format!("data: {}\n\n", view?)
            }
            // Nothing new; a comment shows whether anybody listens.
            None => ":\n\n".into(),
        };
        stream.write_all(text.as_bytes())?;
        stream.flush()?;
        // At most ten states a second. No reason for the number is recorded.
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Closes the connection without cutting off the response for a client that is still sending.
fn drain_and_close(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut rest = TimedReader { stream, until: Instant::now() + FAREWELL.0 };
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

/// A reader from a stream with a deadline.
struct TimedReader<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Read for TimedReader<'_> {
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
