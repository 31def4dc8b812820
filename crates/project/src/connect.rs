//! The way to a described system: its server is started, and its connections are made.
//!
//! *Promises.* Mistakes in the description are reported before anything is started.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::sts::{Gate, GateId, GateKind, Model};
use ioxide_record::event::OperationRecord;
use ioxide_record::secrets::Secrets;
use ioxide_wire::adapter::disturbed::{OutsideConnector, OutsideControl};
use ioxide_wire::adapter::http::HttpAdapter;
use ioxide_wire::adapter::managed::{MakeAdapter, ManagedAdapter};
use ioxide_wire::adapter::process::ProcessAdapter;
use ioxide_wire::adapter::server::SystemServer;
use ioxide_wire::adapter::several::{ConnectionPart, SeveralAdapter, closing, restrict_to, share_of_part};
use ioxide_wire::adapter::shared::FaultKind;
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::adapter::text::TextAdapter;
use ioxide_wire::adapter::tls::{Tls, TlsConfig};
use ioxide_wire::adapter::{
    Adapter, AdapterError, ClockKind, ConnectionRole, ErrorStreamHub, Interrupt, ListenAddress, PartPlace,
    RemoteConnection, StartProblem, SutSpec,
};
use thiserror::Error;

use crate::FILE;
use crate::clients;
use crate::connections::{ConnectedSystem, part_text};
use crate::error::ProjectError;
use crate::protocol::ProtocolConfig;
use crate::system::DescribedSystem;

/// The reason why a system could not be started or reached.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// Its description has a mistake; nothing was started.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Its server or its adapter failed.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
}

impl DescribedSystem {
    /// Returns the outputs of `spec` that say nothing but that the system refused an input: those that the project file
    /// names, and those that stand for HTTP statuses such as 401 alone.
    ///
    /// # Errors
    /// If the project file names an output that `spec` does not have.
    pub fn find_refusals(&self, spec: &Model) -> Result<BTreeSet<GateId>, ProjectError> {
        let mut found = BTreeSet::new();
        for name in &self.refusals {
            match spec.sts.gate_named(name) {
                Some(gate) if spec.sts.gates[gate].kind == GateKind::Output => drop(found.insert(gate)),
                _ => {
                    return Err(ProjectError::new(format!(
                        "`{FILE}`: refusals: the model has no output `{name}`"
                    )));
                }
            }
        }
        let protocols = self.connections.iter().map(|connected| &connected.protocol);
        for protocol in protocols.chain([&self.protocol]) {
            let ProtocolConfig::Http(http) = protocol else { continue };
            let refusing = http.http.outputs.iter().filter(|(_, answer)| answer.is_refusal());
            found.extend(refusing.filter_map(|(name, _)| spec.sts.gate_named(name)));
        }
        Ok(found)
    }

    /// Returns the operations of a system that is asked by HTTP; empty for others, and with several connections.
    #[must_use]
    pub fn find_operations(&self, spec: &Model) -> Vec<OperationRecord> {
        match &self.protocol {
            ProtocolConfig::Http(http) if self.connections.is_empty() => http.http.operations(&spec.sts),
            _ => Vec::new(),
        }
    }

    /// Returns the settings of the connection to the system; `interrupt` ends waiting for it.
    ///
    /// # Errors
    /// If its certificates cannot be used.
    pub fn connection(&self, interrupt: Interrupt) -> Result<RemoteConnection, ProjectError> {
        let connection = RemoteConnection {
            environment: self.environment.clone(),
            interrupt,
            reach: self.reach,
            tls: tls_for(self.tls.as_ref())?,
            message_limit: self.message_limit,
            ..RemoteConnection::default()
        };
        Ok(match self.limit {
            Some(limit) => RemoteConnection { limit, ..connection },
            None => connection,
        })
    }

    /// Starts the server of the system, if it has one, and connects to the system.
    ///
    /// # Errors
    /// If the description does not fit `interface`, or the system cannot be started or reached.
    pub fn start(
        self,
        interface: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<ManagedAdapter, ConnectError> {
        // Mistakes in the description are reported before anything is started.
        let connections = make_connections(&self, &interface, &connection)?;
        check_secret_fields(&interface, &self.secrets)?;
        self.start_with(connections, interface, connection)
    }

    /// Starts the server of the system, if it has one, for several clients at the same time that may suffer `faults`.
    ///
    /// # Errors
    /// If the description does not fit `interface`, allows one client only or not these faults; or if the system
    /// cannot be started or reached.
    pub fn start_shared(
        self,
        interface: Arc<Model>,
        connection: RemoteConnection,
        faults: &[FaultKind],
    ) -> Result<(OutsideControl, OutsideConnector), ConnectError> {
        clients::check_shareable(&self)?;
        clients::check_faults(&self, faults)?;
        let connection = RemoteConnection { role: ConnectionRole::Control, ..connection };
        let connections = make_connections(&self, &interface, &connection)?;
        check_secret_fields(&interface, &self.secrets)?;
        let proxies = clients::start_proxies(&self, faults)?;
        let mut client: Vec<SystemConnection> =
            connections.iter().map(SystemConnection::to_client_connection).collect();
        for (address, proxy) in &proxies {
            let is_it = |way: &&mut SystemConnection| way.spec == SutSpec::Tcp(address.clone());
            let here = proxy.address().to_string();
            client.iter_mut().filter(is_it).for_each(|way| way.redirect(&here));
        }
        let proxies = proxies.into_iter().map(|(_, proxy)| proxy).collect();
        let (commands, environment) = (self.faults.clone(), self.environment.clone());
        let (has_names, interrupt) = (!self.connections.is_empty(), connection.interrupt);
        let managed = self.start_with(connections, Arc::clone(&interface), connection)?;
        let control = OutsideControl::new(managed, proxies, commands, environment);
        let connect = move || match &client[..] {
            [one] if !has_names => one.make_adapter(),
            several => make_several(several, &interface, interrupt),
        };
        Ok((control, OutsideConnector::new(Box::new(connect))))
    }

    /// Starts the server and makes the connections.
    fn start_with(
        self,
        connections: Vec<SystemConnection>,
        interface: Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<ManagedAdapter, ConnectError> {
        let Self { server, renewal, synchronous, .. } = self;
        let interrupt = connection.interrupt;
        let server = server.map(|server| SystemServer::start(server, interrupt)).transpose()?;
        let make: MakeAdapter =
            match (<[SystemConnection; 1]>::try_from(connections), self.connections.is_empty()) {
                (Ok([one]), true) => Box::new(move || one.make_adapter()),
                (Ok([one]), false) => connect_several(vec![one], interface, interrupt),
                (Err(several), _) => connect_several(several, interface, interrupt),
            };
        let managed = ManagedAdapter::new(server, renewal, &connection, make)?;
        Ok(if synchronous { managed.with_promise_to_answer() } else { managed })
    }
}

/// Returns the encryption of a connection, if it is encrypted.
fn tls_for(tls: Option<&TlsConfig>) -> Result<Option<Tls>, ProjectError> {
    let tls = tls.map(Tls::new).transpose();
    tls.map_err(|problem| ProjectError::new(format!("`{FILE}`: tls: {problem}")))
}

/// One connection to the system.
#[derive(Clone)]
struct SystemConnection {
    name: String,
    spec: SutSpec,
    protocol: ProtocolConfig,
    /// The messages that travel by it, where there are several connections.
    messages: Vec<String>,
    interface: Arc<Model>,
    connection: RemoteConnection,
}

/// Makes all connections of a system, as often as they are wanted.
fn connect_several(ways: Vec<SystemConnection>, interface: Arc<Model>, interrupt: Interrupt) -> MakeAdapter {
    Box::new(move || make_several(&ways, &interface, interrupt))
}

/// Makes all connections of a system.
fn make_several(
    ways: &[SystemConnection],
    interface: &Model,
    interrupt: Interrupt,
) -> Result<Box<dyn Adapter>, AdapterError> {
    let part = |way: &SystemConnection| {
        let (name, messages) = (way.name.clone(), way.messages.clone());
        let place = way.connection.part.clone();
        Ok(ConnectionPart { name, messages, place, adapter: way.make_adapter()? })
    };
    let parts = ways.iter().map(part).collect::<Result<Vec<ConnectionPart>, AdapterError>>()?;
    Ok(Box::new(SeveralAdapter::new(parts, interface, interrupt)))
}

/// Returns the connections to the system: one, or one for each that is described.
fn make_connections(
    described: &DescribedSystem,
    interface: &Arc<Model>,
    connection: &RemoteConnection,
) -> Result<Vec<SystemConnection>, ProjectError> {
    let way = |name: &str, spec: &SutSpec, protocol: &ProtocolConfig, messages: &[String]| SystemConnection {
        name: name.to_owned(),
        spec: spec.clone(),
        protocol: protocol.clone(),
        messages: messages.to_vec(),
        interface: Arc::clone(interface),
        connection: connection.clone(),
    };
    if described.connections.is_empty() {
        let way = way("", &described.spec, &described.protocol, &[]);
        way.check_against(described)?;
        return Ok(vec![way]);
    }
    check_connections(described, interface)?;
    let hubs = error_streams(described)?;
    let mut ways = Vec::new();
    for connected in &described.connections {
        let ConnectedSystem { name, spec, protocol, part, .. } = connected;
        let tls = tls_for(connected.tls.as_ref())?;
        let (messages, share) = connection_interface(connected, interface);
        let mut way = way(name, spec, protocol, &messages);
        way.interface = Arc::new(share);
        let clock = clock_of_several(connected, connection.clock, interface)?;
        let error_stream = hubs.iter().find(|(user, _)| user == name).map(|(_, hub)| hub.clone());
        way.connection =
            RemoteConnection { tls, clock, part: part.clone(), error_stream, ..connection.clone() };
        way.check_against(described)?;
        ways.push(way);
    }
    Ok(ways)
}

/// Returns the places of error streams, by the names of the connections that publish or read them.
fn error_streams(described: &DescribedSystem) -> Result<Vec<(String, ErrorStreamHub)>, ProjectError> {
    let mut hubs: Vec<(String, ErrorStreamHub)> = Vec::new();
    for (at, connected) in described.connections.iter().enumerate() {
        let SutSpec::ErrorStream(of) = &connected.spec else { continue };
        let wrong = |problem: &str| {
            ProjectError::new(format!("`{FILE}`: the connection `{}`: stderr: {problem}", connected.name))
        };
        let before = described.connections[..at].iter().find(|other| other.name == *of);
        let Some(before) = before else {
            return Err(wrong(&format!("there is no connection `{of}` before it")));
        };
        if before.spec.command().is_none() {
            return Err(wrong(&format!("the connection `{of}` has no `command`")));
        }
        if hubs.iter().any(|(name, _)| name == of) {
            return Err(wrong(&format!("another connection reads the error stream of `{of}` already")));
        }
        let hub = ErrorStreamHub::default();
        hubs.push((of.clone(), hub.clone()));
        hubs.push((connected.name.clone(), hub));
    }
    Ok(hubs)
}

/// Returns the clock of one of several connections: that of this machine, unless virtual time is wanted.
fn clock_of_several(
    connected: &ConnectedSystem,
    wanted: ClockKind,
    interface: &Model,
) -> Result<ClockKind, ProjectError> {
    match (wanted, &connected.protocol) {
        (ClockKind::Virtual, ProtocolConfig::Protocol) => Ok(ClockKind::Virtual),
        (ClockKind::Virtual, ProtocolConfig::Own(_) | ProtocolConfig::Http(_))
            if interface.sts.is_timed() =>
        {
            let name = &connected.name;
            Err(ProjectError::new(format!("`{FILE}`: the connection `{name}` has no virtual time"))
                .with_help(
                    "only adapters that use the adapter protocol support it; leave out `--clock virtual`",
                ))
        }
        _ => Ok(ClockKind::Wall),
    }
}

/// Returns the messages that travel by a connection: their names in the model, and the model as the connection speaks
/// it.
fn connection_interface(connected: &ConnectedSystem, interface: &Model) -> (Vec<String>, Model) {
    match &connected.part {
        Some(place) => share_of_part(interface, place),
        None => (connected.messages.clone(), restrict_to(interface, &connected.messages)),
    }
}

/// Every message must have its connection, and every connection messages of the model.
fn check_connections(described: &DescribedSystem, interface: &Model) -> Result<(), ProjectError> {
    let all = &described.connections;
    let ways: Vec<Vec<String>> = all.iter().map(|one| connection_interface(one, interface).0).collect();
    let has = |name: &str| ways.iter().flatten().any(|message| message == name);
    let is_end = |gate: &Gate| {
        gate.tells_the_end()
            || all.iter().any(|one| closing(&one.name) == *gate.name) && gate.fields.is_empty()
    };
    let mut gates = interface.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
    if let Some(gate) = gates.find(|gate| !has(&gate.name) && !is_end(gate)) {
        return Err(ProjectError::new(format!("`{FILE}`: no connection has the message `{}`", gate.name)));
    }
    let unknown = ways.iter().flatten().find(|name| interface.sts.gate_named(name).is_none());
    if let Some(name) = unknown {
        return Err(ProjectError::new(format!("`{FILE}`: the model has no message `{name}`")));
    }
    check_instances(described, interface)
}

/// Refuses a description in which some, but not all, instances of an array have a connection.
fn check_instances(described: &DescribedSystem, interface: &Model) -> Result<(), ProjectError> {
    let own: Vec<&PartPlace> = described.connections.iter().filter_map(|one| one.part.as_ref()).collect();
    let parts = interface.sts.composition.iter().flat_map(|composition| composition.parts.iter());
    let places = parts.map(|part| PartPlace { name: part.family.to_string(), index: part.index });
    let is_forgotten =
        |place: &PartPlace| own.iter().any(|other| other.name == place.name) && !own.contains(&place);
    match places.into_iter().find(is_forgotten) {
        Some(place) => {
            Err(ProjectError::new(format!("`{FILE}`: the part `{}` has no connection", part_text(&place)))
                .with_help(format!("`part = \"{}\"` gives each of its instances one", place.name)))
        }
        None => Ok(()),
    }
}

impl SystemConnection {
    /// Returns the same connection for one of several clients, which finds the system as it is: it takes the steps
    /// after connecting, and none of the reset.
    fn to_client_connection(&self) -> Self {
        let mut client = self.clone();
        client.connection.role = ConnectionRole::Client;
        match &mut client.protocol {
            ProtocolConfig::Own(own) => own.reset.clear(),
            ProtocolConfig::Http(http) => http.reset.clear(),
            ProtocolConfig::Protocol => (),
        }
        client
    }

    /// Connects to `address` instead of that of the system.
    fn redirect(&mut self, address: &str) {
        self.spec = SutSpec::Tcp(address.to_owned());
        if let ProtocolConfig::Http(http) = &mut self.protocol {
            (http.url.address, http.url.socket) = (address.to_owned(), None);
        }
    }

    /// Checks that its words are those of the model, and that an adapter that connects later can be made at all.
    fn check_against(&self, described: &DescribedSystem) -> Result<(), ProjectError> {
        let checked = match &self.protocol {
            ProtocolConfig::Own(own) => own.check(&self.interface),
            ProtocolConfig::Http(http) => http.check(&self.interface),
            ProtocolConfig::Protocol => return Ok(()),
        };
        checked.map_err(|bad| described.locate_error(&bad))?;
        self.make_adapter().map(drop).map_err(|error| ProjectError::new(error.to_string()))
    }

    /// Makes the adapter; one of an adapter that speaks for itself is reached at once.
    fn make_adapter(&self) -> Result<Box<dyn Adapter>, AdapterError> {
        let (interface, connection) = (Arc::clone(&self.interface), &self.connection);
        Ok(match (&self.spec, &self.protocol) {
            (spec, ProtocolConfig::Own(text)) => {
                Box::new(TextAdapter::new(spec, (**text).clone(), interface, connection)?)
            }
            (_, ProtocolConfig::Http(http)) => Box::new(HttpAdapter::new(http, interface, connection)?),
            (SutSpec::Stdio(command), ProtocolConfig::Protocol) => {
                Box::new(ProcessAdapter::start(command, interface, connection.clone())?)
            }
            (SutSpec::Tcp(address), ProtocolConfig::Protocol) => {
                Box::new(TcpAdapter::connect(address, interface, connection.clone())?)
            }
            (SutSpec::Unix(path), ProtocolConfig::Protocol) => {
                let place = ListenAddress::Unix(path.clone());
                Box::new(TcpAdapter::connect_to(&place, interface, connection.clone())?)
            }
            (
                spec @ (SutSpec::Udp(_)
                | SutSpec::Serial { .. }
                | SutSpec::Terminal(_)
                | SutSpec::ErrorStream(_)),
                ProtocolConfig::Protocol,
            ) => {
                let reason = "the adapter protocol needs a command, a TCP address or a Unix socket";
                let reason = StartProblem::Description(reason.into());
                return Err(AdapterError::Start { what: spec.to_string(), reason });
            }
            (SutSpec::Model(file), ProtocolConfig::Protocol) => {
                let reason = StartProblem::Description("ioxide simulates a model; it has no address".into());
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        })
    }
}

/// Refuses a secret that names no field of `spec`, which would be shown for a slip of the pen.
fn check_secret_fields(spec: &Model, secrets: &Secrets) -> Result<(), ProjectError> {
    let is_there = |(message, field): &(&str, &str)| {
        let mut gates = spec.sts.gates.iter().filter(|gate| *gate.name == **message);
        gates.any(|gate| gate.fields.iter().any(|&it| *spec.pool.var_info(it).name == **field))
    };
    match secrets.fields().find(|field| !is_there(field)) {
        Some((message, field)) => {
            Err(ProjectError::new(format!("`{FILE}`: secrets: the model has no field `{message}.{field}`")))
        }
        None => Ok(()),
    }
}
