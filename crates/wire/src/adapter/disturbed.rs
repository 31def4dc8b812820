//! A system outside that several clients use, with the faults that it can have.

use std::collections::BTreeMap;
use std::time::Duration;

use super::managed::ManagedAdapter;
use super::proxy::{ProxyMode, TcpProxy};
use super::server::{SystemServer, run_command};
use super::shared::{ClientConnector, FaultKind, SystemControl};
use super::{Adapter, AdapterError, Interrupt};

/// The time limit for a command that begins or ends a fault. Chosen by feel.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest time that the proxy holds back a chunk of bytes while messages are late. Chosen by feel: long enough
/// that operations of several clients change their order, and short enough that none is given up.
const MAX_DELAY: Duration = Duration::from_millis(25);

/// The commands of a fault that the project file describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultCommands {
    /// The command that begins it.
    pub begin: String,
    /// The command that ends it.
    pub end: String,
}

/// Makes a client's adapter, which is not connected yet.
pub type MakeClient = Box<dyn Fn() -> Result<Box<dyn Adapter>, AdapterError> + Send + Sync>;

/// The connections of clients to a system outside.
pub struct OutsideConnector {
    make: MakeClient,
}

impl OutsideConnector {
    /// Makes a connector of adapters that do not reset the system.
    #[must_use]
    pub fn new(make: MakeClient) -> Self {
        Self { make }
    }
}

impl ClientConnector for OutsideConnector {
    fn connect(&self) -> Result<Box<dyn Adapter>, AdapterError> {
        let mut adapter = (self.make)()?;
        // A reset without steps only connects.
        adapter.reset()?;
        Ok(adapter)
    }
}

/// The control over a system outside.
pub struct OutsideControl {
    system: ManagedAdapter,
    proxies: Vec<TcpProxy>,
    commands: BTreeMap<String, FaultCommands>,
    environment: Vec<(String, String)>,
    /// True while the system is killed on purpose.
    is_killed: bool,
    /// The commands whose end is still to be run.
    begun: Vec<FaultCommands>,
}

impl OutsideControl {
    /// Controls `system`; network faults need `proxies`, one for each of its connections, by which all clients connect.
    #[must_use]
    pub fn new(
        system: ManagedAdapter,
        proxies: Vec<TcpProxy>,
        commands: BTreeMap<String, FaultCommands>,
        environment: Vec<(String, String)>,
    ) -> Self {
        Self { system, proxies, commands, environment, is_killed: false, begun: Vec::new() }
    }

    /// Returns the server of the system; refuses a system that was not started by ioxide.
    fn server(&mut self) -> Result<&mut SystemServer, AdapterError> {
        let missing = || AdapterError::Refused("the system was not started by ioxide".into());
        self.system.server_mut().ok_or_else(missing)
    }

    fn set_network(&self, mode: ProxyMode) -> Result<(), AdapterError> {
        if self.proxies.is_empty() {
            return Err(AdapterError::Refused("clients do not connect through a proxy".into()));
        }
        self.proxies.iter().for_each(|proxy| proxy.set_mode(mode));
        Ok(())
    }
}

impl SystemControl for OutsideControl {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.system.reset()
    }

    fn find_end(&mut self) -> Option<String> {
        if self.is_killed {
            return None;
        }
        let server = self.system.server_mut()?;
        server.has_ended().then(|| match server.last_words().trim() {
            "" => "the server ended".to_owned(),
            words => format!("the server ended; it wrote: {}", ioxide_record::line::cut(words, 400)),
        })
    }

    fn begin_fault(&mut self, fault: &FaultKind) -> Result<(), AdapterError> {
        match fault {
            FaultKind::Kill => {
                self.server()?.kill();
                self.is_killed = true;
                self.system.drop_connection();
                Ok(())
            }
            FaultKind::Pause => {
                self.server()?.pause();
                Ok(())
            }
            FaultKind::Delay => self.set_network(ProxyMode::Delay(MAX_DELAY)),
            FaultKind::Drop => self.set_network(ProxyMode::Drop),
            FaultKind::Cut => self.set_network(ProxyMode::Cut),
            FaultKind::Command(name) => {
                let unknown = || AdapterError::Refused(format!("no fault `{name}` is described"));
                let commands = self.commands.get(name).cloned().ok_or_else(unknown)?;
                let begin = commands.begin.clone();
                // Noted first: a command that fails half-way has to be undone too.
                self.begun.push(commands);
                run_command(&begin, &self.environment, COMMAND_TIMEOUT, Interrupt::never())
            }
        }
    }

    fn end_fault(&mut self, fault: &FaultKind) -> Result<(), AdapterError> {
        match fault {
            FaultKind::Kill => {
                self.is_killed = false;
                self.server()?.start_again()
            }
            FaultKind::Pause => {
                self.server()?.resume();
                Ok(())
            }
            FaultKind::Delay | FaultKind::Drop | FaultKind::Cut => self.set_network(ProxyMode::Pass),
            FaultKind::Command(name) => {
                let Some(commands) = self.commands.get(name) else { return Ok(()) };
                self.begun.retain(|begun| begun != commands);
                run_command(&commands.end, &self.environment, COMMAND_TIMEOUT, Interrupt::never())
            }
        }
    }
}

impl Drop for OutsideControl {
    fn drop(&mut self) {
        // A killed or paused system is ended with its server, and the proxy closes its connections; what the commands
        // of the user did is undone here.
        for commands in std::mem::take(&mut self.begun) {
            run_command(&commands.end, &self.environment, COMMAND_TIMEOUT, Interrupt::never()).ok();
        }
    }
}
