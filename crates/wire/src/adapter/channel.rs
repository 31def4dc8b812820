//! A connection to an address, plain or encrypted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(target_os = "linux")]
use std::os::linux::net::TcpStreamExt;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::tcp::{forgets, hang_up};
use super::tls::TlsStream;

/// A connection.
pub(super) enum AdapterChannel {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl AdapterChannel {
    /// Returns the TCP socket below, if there is one.
    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Tls(stream) => Some(stream.socket()),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }

    /// Returns a second handle of the same connection; only one of them may read.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Plain(stream) => stream.try_clone().map(Self::Plain),
            Self::Tls(stream) => stream.try_clone().map(|stream| Self::Tls(Box::new(stream))),
            #[cfg(unix)]
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
        }
    }

    pub(super) fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Plain(stream) => stream.set_nonblocking(nonblocking),
            Self::Tls(stream) => stream.socket().set_nonblocking(nonblocking),
        }
    }

    pub(super) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Self::Unix(stream) => stream.set_read_timeout(limit),
            Self::Plain(stream) => stream.set_read_timeout(limit),
            Self::Tls(stream) => stream.socket().set_read_timeout(limit),
        }
    }

    /// Has the next bytes of the system acknowledged at once, where that can be said.
    ///
    /// A server that writes a reply in two pieces and leaves Nagle's algorithm on (`http.server` of Python does) sends
    /// the second piece when the first is acknowledged, and Linux puts that off for 40 ms after every write of ours.
    fn acknowledge_at_once(&self) {
        #[cfg(target_os = "linux")]
        // It saves time and changes nothing else, so it may fail.
        if let Some(stream) = self.tcp() {
            stream.set_quickack(true).ok();
        }
    }

    /// Ends the connection, for good.
    pub(super) fn hang_up(&self) {
        match self {
            Self::Plain(stream) => hang_up(stream),
            Self::Tls(stream) => drop(stream.shutdown(Shutdown::Both)),
            #[cfg(unix)]
            Self::Unix(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }

    /// Makes the end of the connection a reset, once every handle of it is dropped.
    pub(super) fn forget(&self) {
        if let Some(stream) = self.tcp() {
            forgets(stream);
        }
    }

    /// Shuts down one direction or both.
    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown(how),
            Self::Tls(stream) => stream.shutdown(how),
            #[cfg(unix)]
            Self::Unix(stream) => stream.shutdown(how),
        }
    }
}

impl Read for AdapterChannel {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(room),
        }
    }
}

impl Write for AdapterChannel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(bytes),
        };
        self.acknowledge_at_once();
        n_written
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.flush(),
        }
    }
}
