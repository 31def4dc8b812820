//! An address that speaks the protocol.

use std::io::BufReader;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;

use super::remote::{Link, Remote};
use super::wire::Wire;
use super::{Adapter, AdapterError, Connection, Observation, Sent};

/// How long the other side may take to hang up by itself.
const GRACE: Duration = Duration::from_millis(200);

/// A system behind a socket.
pub struct TcpAdapter {
    remote: Remote<Socket>,
}

impl TcpAdapter {
    /// Connects to `address` and greets.
    ///
    /// # Errors
    /// If nobody is there, or does not greet as it should.
    pub fn connect(address: &str, model: Arc<Model>, connection: Connection) -> Result<Self, AdapterError> {
        Ok(Self { remote: Remote::new(Socket::new(address, connection.limit), model, connection)? })
    }
}

impl Adapter for TcpAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.remote.reset()
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        self.remote.send(input)
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        self.remote.poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.remote.observe(patience)
    }

    fn last_words(&self) -> String {
        self.remote.last_words()
    }
}

/// The socket behind a [`TcpAdapter`].
pub(super) struct Socket {
    address: String,
    limit: Duration,
    stream: Option<TcpStream>,
}

impl Socket {
    /// The socket at `address`, not connected yet.
    pub(super) fn new(address: &str, limit: Duration) -> Self {
        Self { address: address.to_owned(), limit, stream: None }
    }

    fn cannot(&self, reason: &impl ToString) -> AdapterError {
        AdapterError::Start { what: self.address.clone(), reason: reason.to_string() }
    }

    /// Tries every address the name stands for.
    fn connect(&self) -> Result<TcpStream, AdapterError> {
        let addresses = self.address.to_socket_addrs().map_err(|error| self.cannot(&error))?;
        let mut last = self.cannot(&"the name has no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, self.limit) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = self.cannot(&error),
            }
        }
        Err(last)
    }

    /// Connects afresh; what it says and where it is spoken to.
    pub(super) fn streams(&mut self) -> Result<(BufReader<TcpStream>, TcpStream), AdapterError> {
        self.hang_up();
        let stream = self.connect()?;
        stream.set_nodelay(true).map_err(|error| self.cannot(&error))?;
        stream.set_write_timeout(Some(self.limit)).map_err(|error| self.cannot(&error))?;
        let reader = stream.try_clone().map_err(|error| self.cannot(&error))?;
        let writer = stream.try_clone().map_err(|error| self.cannot(&error))?;
        self.stream = Some(stream);
        Ok((BufReader::new(reader), writer))
    }

    pub(super) fn hang_up(&mut self) {
        if let Some(stream) = self.stream.take() {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Link for Socket {
    fn open(&mut self) -> Result<Wire, AdapterError> {
        let (reader, writer) = self.streams()?;
        Ok(Wire::new(reader, writer))
    }

    /// A socket has no status of its own: its end is the end of its lines.
    fn status(&mut self, _patience: Duration) -> Option<String> {
        None
    }

    fn close(&mut self, mut wire: Wire) {
        let Some(stream) = self.stream.take() else { return };
        stream.shutdown(Shutdown::Write).ok();
        wire.wait_for_end(GRACE);
        stream.shutdown(Shutdown::Both).ok();
    }

    fn last_words(&self) -> String {
        String::new()
    }
}
