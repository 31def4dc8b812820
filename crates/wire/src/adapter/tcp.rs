//! An address that speaks the protocol.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ioxide_model::sts::Model;
use ioxide_record::event::{ScriptPlace, ScriptTls};

use super::channel::AdapterChannel;
use super::ports::ListenAddress;
use super::remote::{RemoteAdapter, SystemLink};
use super::source::{ByteSource, PipeSource, SocketSource};
use super::tls::{HandshakeError, Tls};
use super::wire::ProtocolWire;
use super::{AdapterError, AwaitedPart, Interrupt, MessageLimits, RemoteConnection};
use crate::codec::http::Url;

/// The time limit for the peer to close the connection by itself. Chosen by feel: then the connection is dropped.
const CLOSE_GRACE: Duration = Duration::from_millis(200);
/// The number of reads by which the last bytes of the peer are dropped at the end. Chosen by feel: it ends a peer
/// that never stops sending.
const MAX_DROPPED: usize = 64;

/// A system behind a socket.
pub type TcpAdapter = RemoteAdapter<TcpConnection>;

impl TcpAdapter {
    /// Connects to `address` and greets.
    ///
    /// # Errors
    /// If nothing listens there, or does not greet as it should.
    pub fn connect(
        address: &str,
        model: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<Self, AdapterError> {
        Self::connect_to(&ListenAddress::Tcp(address.to_owned()), model, connection)
    }

    /// Connects to a TCP address or a Unix socket, and greets.
    ///
    /// # Errors
    /// If nothing listens there, or does not greet as it should.
    pub fn connect_to(
        place: &ListenAddress,
        model: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<Self, AdapterError> {
        let socket = TcpConnection::at(place.clone(), &connection).with_timing(model.sts.is_timed());
        Self::new(socket, model, connection)
    }
}

/// The socket behind a [`TcpAdapter`].
pub struct TcpConnection {
    place: ListenAddress,
    limit: Duration,
    limits: MessageLimits,
    interrupt: Interrupt,
    /// True if a thread of its own reads the bytes, so that they are stamped as they arrive.
    is_timed: bool,
    /// The encryption; `None` for plain TCP.
    tls: Option<Tls>,
    stream: Option<AdapterChannel>,
}

impl TcpConnection {
    /// The socket at `address`, not connected yet.
    pub(super) fn new(address: &str, connection: &RemoteConnection) -> Self {
        Self::at(ListenAddress::Tcp(address.to_owned()), connection)
    }

    /// The socket of a system that is asked by HTTP, not connected yet.
    pub(super) fn of_url(url: &Url, connection: &RemoteConnection) -> Self {
        let unix = url.socket.clone().map(ListenAddress::Unix);
        Self::at(unix.unwrap_or_else(|| ListenAddress::Tcp(url.address.clone())), connection)
    }

    /// The socket at `place`, not connected yet.
    pub(super) fn at(place: ListenAddress, connection: &RemoteConnection) -> Self {
        let RemoteConnection { limit, interrupt, .. } = *connection;
        let (tls, limits) = (connection.tls.clone(), connection.message_limits());
        Self { place, limit, limits, interrupt, is_timed: false, tls, stream: None }
    }

    /// Returns the same socket for a model with clocks, or one without.
    pub(super) fn with_timing(self, is_timed: bool) -> Self {
        Self { is_timed, ..self }
    }

    /// Returns the address, as a script connects to it.
    pub(super) fn script_place(&self) -> Option<ScriptPlace> {
        match &self.place {
            ListenAddress::Tcp(address) => Some(ScriptPlace::Tcp(address.clone())),
            ListenAddress::Udp(_) | ListenAddress::Unix(_) => None,
        }
    }

    /// Returns the encryption, as a script needs it; `None` if there is none.
    pub(super) fn script_tls(&self) -> Option<ScriptTls> {
        self.tls.as_ref().map(Tls::script_tls)
    }

    fn start_error(&self, error: &io::Error) -> AdapterError {
        AdapterError::Start { what: self.place.to_string(), reason: error.into() }
    }

    /// Calls `connect` in a thread of its own, so that waiting can be interrupted.
    fn connect_in_thread<S: Send + 'static>(
        &self,
        connect: impl FnOnce() -> io::Result<S> + Send + 'static,
    ) -> Result<S, AdapterError> {
        let (sender, connected) = sync_channel(1);
        std::thread::spawn(move || sender.send(connect()));
        match self.interrupt.receive(&connected, Instant::now() + self.limit)? {
            Some(stream) => stream.map_err(|reason| self.start_error(&reason)),
            None => Err(AdapterError::Late { awaited: AwaitedPart::Connection, limit: self.limit }),
        }
    }

    /// Connects, and encrypts the connection if that is wanted.
    pub(super) fn channel(&self) -> Result<AdapterChannel, AdapterError> {
        match &self.place {
            ListenAddress::Tcp(address) => self.tcp_channel(address),
            ListenAddress::Unix(path) => self.unix_channel(path),
            ListenAddress::Udp(_) => Err(self.start_error(&io::ErrorKind::Unsupported.into())),
        }
    }

    fn tcp_channel(&self, address: &str) -> Result<AdapterChannel, AdapterError> {
        let (name, limit) = (address.to_owned(), self.limit);
        let stream = self.connect_in_thread(move || connect_within(&name, limit))?;
        // Without the delay of small packets (Nagle), which would add to every measured latency.
        let prepared = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(limit)));
        prepared.map_err(|error| self.start_error(&error))?;
        let Some(tls) = &self.tls else { return Ok(AdapterChannel::Plain(stream)) };
        match tls.handshake(stream, address, self.limit, self.interrupt) {
            Ok(stream) => Ok(AdapterChannel::Tls(Box::new(stream))),
            Err(HandshakeError::TimedOut) => {
                self.interrupt.check()?;
                Err(AdapterError::Late { awaited: AwaitedPart::TlsHandshake, limit: self.limit })
            }
            Err(error) => Err(AdapterError::Tls { what: address.to_owned(), reason: error.to_string() }),
        }
    }

    #[cfg(unix)]
    fn unix_channel(&self, path: &str) -> Result<AdapterChannel, AdapterError> {
        let path = path.to_owned();
        let stream = self.connect_in_thread(move || std::os::unix::net::UnixStream::connect(path))?;
        let prepared = stream.set_write_timeout(Some(self.limit));
        prepared.map_err(|error| self.start_error(&error))?;
        Ok(AdapterChannel::Unix(stream))
    }

    /// Fails: there are no Unix sockets on this platform.
    #[cfg(not(unix))]
    fn unix_channel(&self, _path: &str) -> Result<AdapterChannel, AdapterError> {
        Err(self.start_error(&io::ErrorKind::Unsupported.into()))
    }

    /// Connects afresh and returns the source of incoming bytes and the writer of outgoing ones.
    pub(super) fn streams(&mut self) -> Result<(Box<dyn ByteSource>, AdapterChannel), AdapterError> {
        // The connection of the run before is ended first: a server that serves one client would refuse the new
        // one.
        self.hang_up();
        let stream = self.channel()?;
        let reader = stream.try_clone().map_err(|error| self.start_error(&error))?;
        let writer = stream.try_clone().map_err(|error| self.start_error(&error))?;
        self.stream = Some(stream);
        let source: Box<dyn ByteSource> = if self.is_timed {
            // Stamped by a thread that does nothing but read: in a timed model the instant of arrival is part of
            // what is judged.
            Box::new(PipeSource::new(reader))
        } else {
            Box::new(SocketSource::new(reader))
        };
        Ok((source, writer))
    }

    /// Tells the system that nothing more is sent.
    pub(super) fn end_writing(&self) {
        if let Some(stream) = &self.stream {
            stream.shutdown(Shutdown::Write).ok();
        }
    }

    /// Drops the connection with a reset, as a client that has crashed does. Every other handle of the socket must be
    /// gone.
    pub(super) fn abort(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.forget();
        }
    }

    /// Returns the address.
    pub(super) fn listen_address(&self) -> ListenAddress {
        self.place.clone()
    }

    pub(super) fn hang_up(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.hang_up();
        }
    }
}

impl SystemLink for TcpConnection {
    fn open(&mut self) -> Result<ProtocolWire, AdapterError> {
        let (reader, writer) = self.streams()?;
        Ok(ProtocolWire::new(reader, writer, (self.interrupt, self.limits)))
    }

    /// Returns `None`: a socket has no status of its own, its end is the end of its lines.
    fn status(&mut self, _patience: Duration) -> Option<ExitStatus> {
        None
    }

    fn close(&mut self, mut wire: ProtocolWire) {
        let Some(stream) = self.stream.take() else { return };
        // The end of our side first, and then the system has a moment to say what it still has to.
        stream.shutdown(Shutdown::Write).ok();
        wire.wait_for_end(CLOSE_GRACE);
        stream.hang_up();
    }

    fn last_words(&self) -> String {
        String::new()
    }

    fn place(&self) -> Option<ScriptPlace> {
        // No script speaks the adapter protocol over an encrypted connection.
        self.script_place().filter(|_| self.tls.is_none())
    }

    fn starts_system(&self) -> bool {
        false
    }
}

/// Ends a connection. If the other side has ended it first, it is dropped without another word: the port of
/// the other side would be taken for a minute otherwise (TIME_WAIT), and the next server kept from it.
pub(super) fn hang_up(stream: &TcpStream) {
    if !has_hung_up(stream) || !forgets(stream) {
        stream.shutdown(Shutdown::Both).ok();
    }
}

/// Returns whether the peer has closed the connection; reads and drops the bytes before that, at most [`MAX_DROPPED`]
/// reads of them.
fn has_hung_up(mut stream: &TcpStream) -> bool {
    // Not set back: the connection is closed right after this.
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let mut room = [0; 4096];
    (0..MAX_DROPPED)
        .map(|_| stream.read(&mut room))
        .find(|read| !matches!(read, Ok(1..)))
        .is_some_and(|read| matches!(read, Ok(0)))
}

/// Makes the socket leave no TIME_WAIT behind when it is closed; returns whether that was possible.
#[cfg(unix)]
pub(super) fn forgets(stream: &TcpStream) -> bool {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).is_ok()
}

/// Returns false: the option is not set on this platform.
#[cfg(not(unix))]
pub(super) fn forgets(_stream: &TcpStream) -> bool {
    false
}

/// Tries every address the name stands for.
fn connect_within(address: &str, limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
