//! Histories: the calls and returns of several clients.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sts::Sts;
use ioxide_model::term::TermPool;

/// An operation of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOperation {
    /// The client, by position in [`History::clients`].
    pub client: u32,
    /// The input.
    pub input: Label,
    /// The position of the call among all events.
    pub call: u32,
    /// The instant of the call in nanoseconds, if it is known.
    pub called_ns: Option<u64>,
    /// The answer; `None` if the operation is open: it may take effect at any time after its call, or never.
    pub answer: Option<OperationAnswer>,
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationAnswer {
    /// The output.
    pub output: Label,
    /// The position of the return among all events.
    pub ret: u32,
    /// The instant of the return in nanoseconds, if it is known.
    pub returned_ns: Option<u64>,
}

/// The operations of several clients, in the order of their calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The names of the clients.
    pub clients: Vec<Arc<str>>,
    /// The operations; those that are known to have had no effect are left out.
    pub operations: Vec<ClientOperation>,
    /// The number of operations that were left out.
    pub void: usize,
    /// The faults that were injected meanwhile; they excuse nothing and explain a lot.
    pub faults: Vec<HistoryFault>,
}

/// A fault that was injected while clients used the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFault {
    /// Its name.
    pub name: Arc<str>,
    /// The instant at which it began, in nanoseconds.
    pub from_ns: u64,
    /// The instant at which it had ended.
    pub to_ns: u64,
}

/// The reason why an event does not fit what came before it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HistoryError {
    /// The client has not finished its operation.
    #[error("client `{0}` calls again before its operation has returned")]
    StillRunning(String),
    /// An operation of the client is open.
    #[error(
        "client `{0}` calls again while an operation of it is open; give a client with an open operation a new name"
    )]
    AfterOpen(String),
    /// The client has called nothing.
    #[error("client `{0}` has no operation that could return")]
    NotRunning(String),
    /// There are too many events.
    #[error("there are more than {} events", u32::MAX)]
    TooLong,
}

/// Puts a history together, event by event.
#[derive(Clone, Debug, Default)]
pub struct HistoryBuilder {
    clients: IndexMap<Arc<str>, ClientState, FxBuildHasher>,
    /// `None` for operations that turned out to be void.
    operations: Vec<Option<ClientOperation>>,
    events: u32,
    faults: Vec<HistoryFault>,
}

/// The state of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ClientState {
    #[default]
    Idle,
    /// The operation at this position has not returned.
    Running(usize),
    /// An operation is known to be open.
    Open,
}

impl HistoryBuilder {
    /// Adds the call of an operation.
    ///
    /// # Errors
    /// If the client cannot call now.
    pub fn call(&mut self, client: &str, input: Label, ns: Option<u64>) -> Result<(), HistoryError> {
        // Clients are numbered in the order of their first calls.
        let entry = self.clients.entry(client.into());
        let at = entry.index();
        let state = entry.or_default();
        match state {
            ClientState::Idle => *state = ClientState::Running(self.operations.len()),
            ClientState::Running(_) => return Err(HistoryError::StillRunning(client.to_owned())),
            ClientState::Open => return Err(HistoryError::AfterOpen(client.to_owned())),
        }
        let call = self.next_position()?;
        let client = u32::try_from(at).map_err(|_| HistoryError::TooLong)?;
        self.operations.push(Some(ClientOperation { client, input, call, called_ns: ns, answer: None }));
        Ok(())
    }

    /// Adds the return of the client's operation.
    ///
    /// # Errors
    /// If the client has none.
    pub fn answer(&mut self, client: &str, output: Label, ns: Option<u64>) -> Result<(), HistoryError> {
        let at = self.end_operation(client, ClientState::Idle)?;
        let ret = self.next_position()?;
        if let Some(operation) = &mut self.operations[at] {
            operation.answer = Some(OperationAnswer { output, ret, returned_ns: ns });
        }
        Ok(())
    }

    /// Says that the client's operation will have no answer: it may take effect later, or never.
    ///
    /// # Errors
    /// If the client has none.
    pub fn leave_open(&mut self, client: &str) -> Result<(), HistoryError> {
        self.end_operation(client, ClientState::Open).map(drop)
    }

    /// Says that the client's operation had no effect and will have none.
    ///
    /// # Errors
    /// If the client has none.
    pub fn void(&mut self, client: &str) -> Result<(), HistoryError> {
        let at = self.end_operation(client, ClientState::Idle)?;
        // The place stays until the end, since running operations are known by their positions.
        self.operations[at] = None;
        Ok(())
    }

    /// Adds a fault that was injected.
    pub fn add_fault(&mut self, fault: HistoryFault) {
        self.faults.push(fault);
    }

    /// Returns the input of the operation that the client is running; `None` if it runs none.
    #[must_use]
    pub fn running(&self, client: &str) -> Option<&Label> {
        match self.clients.get(client)? {
            ClientState::Running(at) => self.operations[*at].as_ref().map(|operation| &operation.input),
            ClientState::Idle | ClientState::Open => None,
        }
    }

    /// Returns the history; operations that have not returned are open.
    #[must_use]
    pub fn finish(self) -> History {
        let void = self.operations.iter().filter(|operation| operation.is_none()).count();
        let clients = self.clients.into_keys().collect();
        let operations = self.operations.into_iter().flatten().collect();
        History { clients, operations, void, faults: self.faults }
    }

    fn end_operation(&mut self, client: &str, next: ClientState) -> Result<usize, HistoryError> {
        let state = self.clients.get_mut(client);
        let state = state.ok_or_else(|| HistoryError::NotRunning(client.to_owned()))?;
        let ClientState::Running(at) = *state else {
            return Err(HistoryError::NotRunning(client.to_owned()));
        };
        *state = next;
        Ok(at)
    }

    fn next_position(&mut self) -> Result<u32, HistoryError> {
        // Position 0 is before every event.
        self.events = self.events.checked_add(1).ok_or(HistoryError::TooLong)?;
        Ok(self.events)
    }
}

impl History {
    /// Returns the number of open operations.
    #[must_use]
    pub fn count_open(&self) -> usize {
        self.operations.iter().filter(|operation| operation.answer.is_none()).count()
    }

    /// Returns an operation as text: `client 3: ?read !value(v: 7)`.
    #[must_use]
    pub fn show_operation(&self, pool: &TermPool, sts: &Sts, at: usize) -> String {
        let operation = &self.operations[at];
        let answer = match &operation.answer {
            Some(answer) => answer.output.show(pool, sts),
            None => "(no answer)".to_owned(),
        };
        let client = &self.clients[operation.client as usize];
        format!("client {client}: {} {answer}", operation.input.show(pool, sts))
    }
}
