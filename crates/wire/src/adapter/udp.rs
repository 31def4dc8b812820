//! A system behind UDP: one datagram is one message.
//!
//! There is no connection, so nothing shows that the system has gone but what the operating system says: an ICMP
//! message that its port is unreachable, or, on this machine, a table of the kernel without its port.
//!
//! *Promises.* A port that nobody holds is an error, never silence. A run has a socket of its own, so a late datagram
//! of the run before is not read.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ioxide_record::limits::{Excess, max_message};

use super::ports::{ListenAddress, PortState};
use super::tls::is_wait;
use super::{AdapterError, AwaitedPart, Interrupt, RemoteConnection};

/// The room for a datagram: more than any has.
const DATAGRAM_ROOM: usize = 1 << 16;
/// The most bytes of a datagram that can be sent: 65,535 less the headers of IPv4 and UDP.
pub(super) const MAX_DATAGRAM: usize = 65_507;
/// Datagrams of a timed model read ahead. Chosen by feel: the kernel keeps more.
const READ_AHEAD: usize = 256;
/// The pause after which a reading thread looks whether it is still needed. Chosen by feel.
const READER_INTERVAL: Duration = Duration::from_millis(100);

/// The way to a system behind UDP.
pub(super) struct UdpConnection {
    address: String,
    limit: Duration,
    interrupt: Interrupt,
    /// True if a thread of its own reads, so that datagrams are stamped as they arrive.
    is_timed: bool,
}

impl UdpConnection {
    /// The system at `address`.
    pub(super) fn new(address: &str, connection: &RemoteConnection, is_timed: bool) -> Self {
        let RemoteConnection { limit, interrupt, .. } = *connection;
        Self { address: address.to_owned(), limit, interrupt, is_timed }
    }

    fn start_error(&self, error: &io::Error) -> AdapterError {
        AdapterError::Start { what: format!("udp:{}", self.address), reason: error.into() }
    }

    /// Makes a new socket; fails if nobody holds the port of a system on this machine.
    pub(super) fn open(&self) -> Result<(Datagrams, DatagramWriter), AdapterError> {
        let place = self.resolve_address()?;
        // A datagram to nobody vanishes without an error on some systems, and would look like silence.
        if self.is_gone() {
            return Err(self.start_error(&io::ErrorKind::ConnectionRefused.into()));
        }
        let socket = connect_socket(place).map_err(|error| self.start_error(&error))?;
        let writer = socket.try_clone().map_err(|error| self.start_error(&error))?;
        let source = if self.is_timed {
            let alive = Arc::new(());
            let (sender, arrived) = sync_channel(READ_AHEAD);
            let weak = Arc::downgrade(&alive);
            std::thread::spawn(move || pump(&socket, &sender, &weak));
            DatagramSource::Thread { arrived, _alive: alive }
        } else {
            DatagramSource::Socket { socket, set: None }
        };
        let (address, interrupt, arrived) = (self.address.clone(), self.interrupt, Instant::now());
        let room = vec![0; DATAGRAM_ROOM];
        Ok((Datagrams { source, address, interrupt, arrived, room }, DatagramWriter(writer)))
    }

    /// Returns whether it is certain that nobody holds the port any more.
    pub(super) fn is_gone(&self) -> bool {
        self.listen_address().state() == PortState::Closed
    }

    /// Returns the address.
    pub(super) fn listen_address(&self) -> ListenAddress {
        ListenAddress::Udp(self.address.clone())
    }

    /// Returns the error for a port that nobody holds.
    pub(super) fn gone_error(&self) -> AdapterError {
        unreachable_error(&self.address)
    }

    /// Returns the first address that the name stands for; in a thread, so that waiting can be interrupted.
    fn resolve_address(&self) -> Result<SocketAddr, AdapterError> {
        let (sender, resolved) = sync_channel(1);
        let address = self.address.clone();
        std::thread::spawn(move || sender.send(address.to_socket_addrs().map(|mut all| all.next())));
        match self.interrupt.receive(&resolved, Instant::now() + self.limit)? {
            Some(Ok(Some(place))) => Ok(place),
            Some(Ok(None)) => Err(self.start_error(&io::Error::other("the name has no address"))),
            Some(Err(error)) => Err(self.start_error(&error)),
            None => Err(AdapterError::Late { awaited: AwaitedPart::Connection, limit: self.limit }),
        }
    }
}

/// Returns a socket that sends to `place` and hears only from there; the operating system tells it that the port is
/// unreachable.
fn connect_socket(place: SocketAddr) -> io::Result<UdpSocket> {
    let socket = match place {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?,
    };
    // Connected, the kernel drops datagrams from elsewhere and reports an unreachable port.
    socket.connect(place)?;
    Ok(socket)
}

fn unreachable_error(address: &str) -> AdapterError {
    AdapterError::Broken(format!("no server listens at udp:{address} any more"))
}

/// A datagram with the instant of its arrival.
type TimedDatagram = (Instant, Vec<u8>);

enum DatagramSource {
    /// Read where a datagram is needed, with the time limit that is set.
    Socket { socket: UdpSocket, set: Option<Duration> },
    /// Read by a thread, which ends when `_alive` is dropped.
    Thread { arrived: Receiver<io::Result<TimedDatagram>>, _alive: Arc<()> },
}

/// The datagrams of a system.
pub(super) struct Datagrams {
    source: DatagramSource,
    address: String,
    interrupt: Interrupt,
    /// The arrival of the last one.
    arrived: Instant,
    room: Vec<u8>,
}

impl Datagrams {
    /// Returns the instant at which the last datagram arrived.
    pub(super) fn last_arrival(&self) -> Instant {
        self.arrived
    }

    /// Returns the next datagram, or `None` if none has come at `deadline`. After the deadline it only polls.
    pub(super) fn next_bytes(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, AdapterError> {
        let is_look = deadline <= Instant::now();
        loop {
            self.interrupt.check()?;
            let wait = if is_look { Duration::ZERO } else { Interrupt::next_wait(deadline) };
            match self.receive(wait) {
                Ok(Some((arrived, bytes))) if bytes.len() > max_message() => {
                    self.arrived = arrived;
                    let (line, reason) =
                        (format!("a datagram of {} bytes", bytes.len()), Excess::bytes().to_string());
                    return Err(AdapterError::TooLarge { line, reason });
                }
                Ok(Some((arrived, bytes))) => {
                    self.arrived = arrived;
                    return Ok(Some(bytes));
                }
                Ok(None) if is_look || Instant::now() >= deadline => return Ok(None),
                Ok(None) => (),
                // An ICMP message: nobody holds the port any more.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    return Err(unreachable_error(&self.address));
                }
                Err(error) => return Err(AdapterError::Broken(error.to_string())),
            }
        }
    }

    /// Returns the next datagram, or `None` if none arrives within `wait`.
    fn receive(&mut self, wait: Duration) -> io::Result<Option<TimedDatagram>> {
        match &mut self.source {
            DatagramSource::Socket { socket, set } => {
                let received = if wait.is_zero() {
                    socket.set_nonblocking(true)?;
                    let received = socket.recv(&mut self.room);
                    // The writer is the same socket, and it waits.
                    socket.set_nonblocking(false)?;
                    received
                } else {
                    // Set only where it changes, as it is a system call for every look.
                    if *set != Some(wait) {
                        socket.set_read_timeout(Some(wait))?;
                        *set = Some(wait);
                    }
                    socket.recv(&mut self.room)
                };
                match received {
                    Ok(n) => Ok(Some((Instant::now(), self.room[..n].to_vec()))),
                    Err(error) if is_wait(&error) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            DatagramSource::Thread { arrived, .. } => match arrived.recv_timeout(wait) {
                Ok(received) => received.map(Some),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }
}

/// Reads datagrams until `alive` is dropped and sends every one with the instant at which it came.
fn pump(socket: &UdpSocket, arrived: &SyncSender<io::Result<TimedDatagram>>, alive: &Weak<()>) {
    let mut room = vec![0; DATAGRAM_ROOM];
    if let Err(error) = socket.set_read_timeout(Some(READER_INTERVAL)) {
        arrived.send(Err(error)).ok();
        return;
    }
    while alive.strong_count() > 0 {
        let received = match socket.recv(&mut room) {
            Ok(n) => Ok((Instant::now(), room[..n].to_vec())),
            Err(error) if is_wait(&error) => continue,
            Err(error) => Err(error),
        };
        if arrived.send(received).is_err() {
            return;
        }
    }
}

/// Sends datagrams: what is written at once is one of them.
pub(super) struct DatagramWriter(UdpSocket);

impl Write for DatagramWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        // One call is one datagram, an empty one too.
        match self.0.send(bytes)? {
            sent if sent == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
