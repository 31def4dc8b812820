//! A system with what it needs: its server, and a way back to the initial state that is not its own.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_symex::Arrival;

use super::server::{Server, run_command};
use super::{Adapter, AdapterError, Connection, Interrupt, Observation, Passed, Receipt, Sent};

/// How a system comes back to its initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Renewal {
    /// As its adapter does it: by message, by a new connection, by a new process.
    #[default]
    Own,
    /// By this command, which must succeed; then the connection is made anew.
    Command(String),
    /// By ending and starting everything again.
    Restart,
}

/// Makes the adapter anew.
pub type Make = Box<dyn FnMut() -> Result<Box<dyn Adapter>, AdapterError>>;

/// An adapter, the server it needs and how both begin again.
pub struct Managed {
    // Before the server, so that it is dropped first.
    inner: Option<Box<dyn Adapter>>,
    server: Option<Server>,
    make: Make,
    renewal: Renewal,
    environment: Vec<(String, String)>,
    limit: Duration,
    interrupt: Interrupt,
    /// Something happened since the last start.
    used: bool,
}

impl Managed {
    /// The system that `make` connects to, reached now.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub fn new(
        server: Option<Server>,
        renewal: Renewal,
        connection: &Connection,
        mut make: Make,
    ) -> Result<Self, AdapterError> {
        let inner = Some(make()?);
        let (environment, limit) = (connection.environment.clone(), connection.limit);
        let interrupt = connection.interrupt;
        Ok(Self { inner, server, make, renewal, environment, limit, interrupt, used: false })
    }

    fn inner(&mut self) -> Result<&mut dyn Adapter, AdapterError> {
        match &mut self.inner {
            Some(inner) => Ok(&mut **inner),
            None => Err(AdapterError::Ended { status: "it is not running".into() }),
        }
    }

    /// Does what is not the adapter's own business.
    fn renew(&mut self) -> Result<(), AdapterError> {
        match &self.renewal {
            Renewal::Own => Ok(()),
            Renewal::Command(command) => {
                self.inner = None;
                run_command(command, &self.environment, self.limit, self.interrupt)
            }
            Renewal::Restart if self.used => self.restart(),
            Renewal::Restart => Ok(()),
        }
    }

    fn restart(&mut self) -> Result<(), AdapterError> {
        self.inner = None;
        self.server.as_mut().map_or(Ok(()), Server::restart)
    }

    fn begin(&mut self) -> Result<(), AdapterError> {
        if self.inner.is_none() {
            self.inner = Some((self.make)()?);
        }
        self.inner()?.reset()?;
        self.used = false;
        Ok(())
    }
}

impl Adapter for Managed {
    fn reset(&mut self) -> Result<(), AdapterError> {
        match self.renew().and_then(|()| self.begin()) {
            Err(AdapterError::Interrupted) => Err(AdapterError::Interrupted),
            // The server ended, maybe in the run before: a new one is in its initial state.
            Err(_) if self.server.as_ref().is_some_and(Server::has_ended) => {
                self.restart().and_then(|()| self.begin())
            }
            result => result,
        }
    }

    fn send(&mut self, input: &Label) -> Result<Sent, AdapterError> {
        self.used = true;
        self.inner()?.send(input)
    }

    fn poll(&mut self) -> Result<Option<Label>, AdapterError> {
        let found = self.inner()?.poll()?;
        self.used |= found.is_some();
        Ok(found)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.used = true;
        self.inner()?.observe(patience)
    }

    fn receipt(&self) -> Receipt {
        self.inner.as_ref().map_or(Receipt::Confirmed, |inner| inner.receipt())
    }

    fn arrival(&self) -> Arrival {
        self.inner.as_ref().map_or(Arrival::Direct, |inner| inner.arrival())
    }

    fn knows_silence(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.knows_silence())
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.inner.as_mut().and_then(|inner| inner.exit_status())
    }

    fn arrived(&self) -> Option<Instant> {
        self.inner.as_ref().and_then(|inner| inner.arrived())
    }

    fn raw(&self) -> Option<&str> {
        self.inner.as_ref().and_then(|inner| inner.raw())
    }

    fn has_virtual_time(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.has_virtual_time())
    }

    fn advance(&mut self, until: Duration) -> Result<Passed, AdapterError> {
        self.used = true;
        self.inner()?.advance(until)
    }

    fn last_words(&self) -> String {
        let inner = self.inner.as_ref().map(|inner| inner.last_words()).unwrap_or_default();
        let server = self.server.as_ref().map(Server::last_words).unwrap_or_default();
        let ended = self.server.as_ref().is_some_and(Server::has_ended);
        let ended = if ended { "the server has ended\n" } else { "" };
        format!("{inner}{server}{ended}")
    }
}
