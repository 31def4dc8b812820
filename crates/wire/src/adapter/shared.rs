//! A system that several clients use at the same time: one hand that resets and disturbs it, and many connections.
//!
//! *Promises.* Every connection is to the same system. Resetting is done by [`SystemControl`] alone: a connection that
//! is made later finds the system as it is. A fault that was begun is ended by its owner, also when that is dropped.

use std::fmt;

use super::{Adapter, AdapterError};

/// Makes connections to a system that is running, one for every call.
pub trait ClientConnector: Sync {
    /// Connects a client.
    ///
    /// # Errors
    /// If the system cannot be reached.
    fn connect(&self) -> Result<Box<dyn Adapter>, AdapterError>;
}

/// The control over a system that clients use.
pub trait SystemControl {
    /// Brings the system to its initial state, whoever is connected to it.
    ///
    /// # Errors
    /// If it cannot be started, reached or reset.
    fn reset(&mut self) -> Result<(), AdapterError>;

    /// Returns how the system ended, if it has ended without being told to.
    fn find_end(&mut self) -> Option<String> {
        None
    }

    /// Begins a fault.
    ///
    /// # Errors
    /// If this system cannot have it, or it could not be begun.
    fn begin_fault(&mut self, fault: &FaultKind) -> Result<(), AdapterError> {
        Err(AdapterError::Refused(format!("the system cannot have the fault `{fault}`")))
    }

    /// Ends a fault that was begun.
    ///
    /// # Errors
    /// If the system does not work again after it.
    fn end_fault(&mut self, _fault: &FaultKind) -> Result<(), AdapterError> {
        Ok(())
    }
}

/// A fault that is injected while clients use a system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The processes of the system are killed and started again at the end; what is on disk stays.
    Kill,
    /// The processes of the system are stopped and continued at the end.
    Pause,
    /// Messages between clients and system are late.
    Delay,
    /// Messages are lost: nothing passes, and the connections are closed at the end.
    Drop,
    /// Connections are closed at once, and none can be made until the end.
    Cut,
    /// A command of the project file, by its name, and another one at the end.
    Command(String),
}

impl FaultKind {
    /// The faults that need no description, by name.
    pub const BUILT_IN: [(&'static str, Self); 5] = [
        ("kill", Self::Kill),
        ("pause", Self::Pause),
        ("delay", Self::Delay),
        ("drop", Self::Drop),
        ("cut", Self::Cut),
    ];

    /// Returns the fault of this name; one that is not built in is a command of the project file.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let built_in = Self::BUILT_IN.into_iter().find(|(known, _)| *known == name);
        built_in.map_or_else(|| Self::Command(name.to_owned()), |(_, fault)| fault)
    }

    /// Returns whether the fault is one of the connections, for which clients connect through a proxy.
    #[must_use]
    pub fn is_of_network(&self) -> bool {
        matches!(self, Self::Delay | Self::Drop | Self::Cut)
    }

    /// Returns whether the fault is one of the processes of the system, which must be started by ioxide.
    #[must_use]
    pub fn is_of_process(&self) -> bool {
        matches!(self, Self::Kill | Self::Pause)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let built_in = Self::BUILT_IN.iter().find(|(_, fault)| fault == self);
        match (built_in, self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::Command(name)) => f.write_str(name),
            (None, _) => Ok(()),
        }
    }
}
