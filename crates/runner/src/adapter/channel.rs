//! A connection to an address, plain or encrypted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::tcp::hang_up;
use super::tls::TlsStream;

/// A connection.
pub(super) enum AdapterChannel {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl AdapterChannel {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream.socket(),
        }
    }

    /// Returns a second handle of the same connection; only one of them may read.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Plain(stream) => stream.try_clone().map(Self::Plain),
            Self::Tls(stream) => stream.try_clone().map(|stream| Self::Tls(Box::new(stream))),
        }
    }

    pub(super) fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket().set_nonblocking(nonblocking)
    }

    pub(super) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.socket().set_read_timeout(limit)
    }

    /// Ends the connection, for good.
    pub(super) fn hang_up(&self) {
        match self {
            Self::Plain(stream) => hang_up(stream),
            Self::Tls(stream) => drop(stream.shutdown(Shutdown::Both)),
        }
    }

    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown(how),
            Self::Tls(stream) => stream.shutdown(how),
        }
    }
}

impl Read for AdapterChannel {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }
}

impl Write for AdapterChannel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
