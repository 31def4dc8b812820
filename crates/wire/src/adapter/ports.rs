//! The holders of the ports of this machine, read from the tables of the kernel without connecting.
//!
//! A look that connects is a connection the server has to serve, and some serve only one. Where the tables cannot tell
//! (another machine, another operating system), the answer is [`PortState::Unknown`].

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

/// The files in which the kernel lists its TCP sockets.
const TCP_TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The files in which the kernel lists its UDP sockets.
const UDP_TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];
/// The state of a socket that waits for connections. TCP_LISTEN of the Linux kernel, as `/proc/net/tcp` shows it.
const LISTENING: u8 = 0x0a;
/// The flag of a Unix socket that waits for connections. SO_ACCEPTCON of the Linux kernel, as `/proc/net/unix` shows
/// it.
const UNIX_LISTENING: u32 = 0x0001_0000;
/// The time limit for a connection that is made only to see whether somebody listens. Chosen by feel: it asks the
/// same machine.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// The state of a port: whether somebody accepts connections there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortState {
    /// Somebody accepts connections.
    Listening,
    /// Nobody accepts connections.
    Closed,
    /// The tables of this machine do not tell.
    Unknown,
}

/// One line of a table.
struct PortTableLine {
    local: SocketAddr,
    state: u8,
}

/// An address at which a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// HOST:PORT of TCP.
    Tcp(String),
    /// HOST:PORT of UDP.
    Udp(String),
    /// The path of a Unix socket.
    Unix(String),
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

impl ListenAddress {
    /// Returns whether somebody listens there, without connecting.
    pub(super) fn state(&self) -> PortState {
        match self {
            Self::Tcp(address) => port_state(address),
            Self::Udp(address) => udp_state(address),
            Self::Unix(path) => unix_state(path),
        }
    }

    /// Returns whether somebody listens there on this machine; tries it where the tables of the kernel do not tell.
    ///
    /// False for an address of another machine: what listens there cannot be in the way here.
    pub(super) fn is_taken(&self) -> bool {
        match (self.state(), self) {
            (PortState::Listening, _) => true,
            (PortState::Closed, _) => false,
            (PortState::Unknown, Self::Tcp(address)) => is_here(address) && accepts_connection(address),
            (PortState::Unknown, Self::Udp(address)) => is_here(address) && UdpSocket::bind(address).is_err(),
            (PortState::Unknown, Self::Unix(path)) => accepts_unix(path),
        }
    }

    /// Returns the number of sockets there that do not listen: the remaining connections of a server that has ended.
    /// Zero where the tables of the kernel do not tell.
    pub(super) fn count_lingering_sockets(&self) -> usize {
        match self {
            Self::Tcp(address) => count_lingering_sockets(address),
            Self::Udp(_) | Self::Unix(_) => 0,
        }
    }

    /// Returns whether a server there can be reached, as far as an attempt shows: nothing shows that for UDP on another
    /// machine.
    pub(super) fn accepts_connections(&self) -> bool {
        match self {
            Self::Tcp(address) => accepts_connection(address),
            Self::Udp(_) => self.state() != PortState::Closed,
            Self::Unix(path) => accepts_unix(path),
        }
    }
}

/// Returns the state of the Unix socket at `path`: closed if there is no such file. The kernel lists sockets by the
/// path that their server gave, which may be relative, so a socket that is not listed may listen all the same.
fn unix_state(path: &str) -> PortState {
    if !std::path::Path::new(path).exists() {
        return PortState::Closed;
    }
    let Ok(table) = std::fs::read_to_string("/proc/net/unix") else { return PortState::Unknown };
    // The fourth word has the flags; the path is the fourth after that. Unnamed sockets have none.
    let is_listed = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let flags = words.nth(3).and_then(|flags| u32::from_str_radix(flags, 16).ok());
        flags.is_some_and(|flags| flags & UNIX_LISTENING != 0) && words.nth(3) == Some(path)
    };
    if table.lines().any(is_listed) { PortState::Listening } else { PortState::Unknown }
}

/// Returns whether a connection to the Unix socket at `path` is accepted.
#[cfg(unix)]
fn accepts_unix(path: &str) -> bool {
    std::os::unix::net::UnixStream::connect(path).is_ok()
}

/// Returns false: there are no Unix sockets on this platform.
#[cfg(not(unix))]
fn accepts_unix(_path: &str) -> bool {
    false
}

/// Returns the state of the UDP port at `address`.
fn udp_state(address: &str) -> PortState {
    let Some((entries, places)) = local_ports(address, &UDP_TABLES) else { return PortState::Unknown };
    let is_held = |entry: &PortTableLine| places.iter().any(|place| occupies_place(entry, *place));
    if entries.iter().any(is_held) { PortState::Listening } else { PortState::Closed }
}

/// Returns the state of the port at `address`, without connecting to it.
fn port_state(address: &str) -> PortState {
    let Some((entries, places)) = local_ports(address, &TCP_TABLES) else { return PortState::Unknown };
    // Both tables: a socket of IPv6 on all addresses takes connections of IPv4, too.
    let listens = |entry: &PortTableLine| {
        entry.state == LISTENING && places.iter().any(|place| occupies_place(entry, *place))
    };
    if entries.iter().any(listens) { PortState::Listening } else { PortState::Closed }
}

fn is_here(address: &str) -> bool {
    address.to_socket_addrs().is_ok_and(|mut places| places.all(|place| is_local(place.ip())))
}

/// Returns the number of TCP sockets at `address` that do not listen: the remaining connections of a server that has
/// ended. Zero where the tables of the kernel do not tell.
fn count_lingering_sockets(address: &str) -> usize {
    let Some((entries, places)) = local_ports(address, &TCP_TABLES) else { return 0 };
    let lingers = |entry: &&PortTableLine| {
        entry.state != LISTENING && places.iter().any(|place| occupies_place(entry, *place))
    };
    entries.iter().filter(lingers).count()
}

/// Returns whether a connection to `address` is accepted within [`CONNECT_TIMEOUT`].
fn accepts_connection(address: &str) -> bool {
    let open = |address: SocketAddr| TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok();
    address.to_socket_addrs().is_ok_and(|mut addresses| addresses.any(open))
}

/// Returns the tables of the kernel and the addresses that `address` stands for; `None` unless all of them are on this
/// machine.
fn local_ports(address: &str, tables: &[&str]) -> Option<(Vec<PortTableLine>, Vec<SocketAddr>)> {
    let places: Vec<SocketAddr> = address.to_socket_addrs().ok()?.collect();
    let entries = entries(tables)?;
    (!places.is_empty() && places.iter().all(|place| is_local(place.ip()))).then_some((entries, places))
}

/// Returns whether `place` is an address of this machine: only such an address can be bound.
fn is_local(place: IpAddr) -> bool {
    place.is_loopback() || TcpListener::bind((place, 0)).is_ok()
}

/// Returns the lines of tables of the kernel; `None` where there are none.
fn entries(tables: &[&str]) -> Option<Vec<PortTableLine>> {
    let mut texts = tables.iter().filter_map(|table| std::fs::read_to_string(table).ok()).peekable();
    texts.peek()?;
    Some(texts.flat_map(|text| text.lines().filter_map(entry).collect::<Vec<_>>()).collect())
}

/// Reads a line `0: 0100007F:1F90 00000000:0000 0A ...`; `None` if it has another form, as the heading has.
fn entry(line: &str) -> Option<PortTableLine> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (ip, port) = words.next()?.split_once(':')?;
    let state = words.nth(1)?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(PortTableLine {
        local: SocketAddr::new(ip_of(ip)?, port),
        state: u8::from_str_radix(state, 16).ok()?,
    })
}

/// Reads an address written as words of 32 bits, each as this machine holds it in memory.
fn ip_of(text: &str) -> Option<IpAddr> {
    let word = |at: usize| text.get(at..at + 8).and_then(|word| u32::from_str_radix(word, 16).ok());
    if text.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?.to_ne_bytes()).into());
    }
    let mut bytes = [0; 16];
    for at in 0..4 {
        bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at * 8)?.to_ne_bytes());
    }
    // An address of IPv4 in the table of IPv6 is compared as one of IPv4.
    Some(Ipv6Addr::from(bytes).to_canonical())
}

/// Returns whether the socket of `entry` occupies `place`, by its address or by any address.
fn occupies_place(entry: &PortTableLine, place: SocketAddr) -> bool {
    let ip = entry.local.ip();
    entry.local.port() == place.port() && (ip == place.ip() || ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table_are_read() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0";
        let read = entry(line).expect("a line");
        assert_eq!((read.local.port(), read.state), (8080, LISTENING));
        assert!(entry("  sl  local_address rem_address   st tx_queue rx_queue").is_none());
        assert!(entry("").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_look_connects_to_nobody() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        assert_eq!(port_state(&address), PortState::Listening);
        assert!(ListenAddress::Tcp(address.clone()).is_taken());
        listener.set_nonblocking(true).expect("it can be");
        assert_eq!(
            listener.accept().map(drop).map_err(|error| error.kind()),
            Err(std::io::ErrorKind::WouldBlock)
        );
        drop(listener);
        assert_eq!((port_state(&address), count_lingering_sockets(&address)), (PortState::Closed, 0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_of_a_udp_port_is_seen() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let address = ListenAddress::Udp(socket.local_addr().expect("an address").to_string());
        assert_eq!((address.state(), address.is_taken()), (PortState::Listening, true));
        drop(socket);
        assert_eq!((address.state(), address.is_taken()), (PortState::Closed, false));
        assert_eq!(ListenAddress::Udp("192.0.2.1:53".into()).state(), PortState::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_address_of_this_machine_counts() {
        for (bound, seen) in [("0.0.0.0:0", "127.0.0.1"), ("[::]:0", "127.0.0.1"), ("[::1]:0", "[::1]")] {
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let port = listener.local_addr().expect("an address").port();
            assert_eq!(port_state(&format!("{seen}:{port}")), PortState::Listening, "{bound}");
        }
        assert_eq!(port_state("192.0.2.1:80"), PortState::Unknown);
        assert_eq!(port_state("no port"), PortState::Unknown);
    }
}
