//! Systems under test, opened as often as a campaign needs them.
//!
//! *Promises.* Every instance has its own process, server, port and solver. What an
//! instance started is ended before [`SystemOpener::open`] returns.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::sts::{Gate, GateId, GateKind, Model};
use ioxide_project::{
    ConnectedSystem, DescribedSystem, FILE, Instances, Project, ProtocolConfig, SystemSource, part_text,
};
use ioxide_record::secrets::Secrets;
use ioxide_run::clock::patience::Patience;
use ioxide_symex::Ctx;
use ioxide_wire::adapter::http::HttpAdapter;
use ioxide_wire::adapter::managed::{MakeAdapter, ManagedAdapter};
use ioxide_wire::adapter::model::ModelAdapter;
use ioxide_wire::adapter::process::ProcessAdapter;
use ioxide_wire::adapter::server::SystemServer;
use ioxide_wire::adapter::several::{ConnectionPart, SeveralAdapter, closing, restrict_to, share_of_part};
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::adapter::text::TextAdapter;
use ioxide_wire::adapter::tls::{Tls, TlsConfig};
use ioxide_wire::adapter::{
    Adapter, AdapterError, ClockKind, Interrupt, PartPlace, RemoteConnection, StartProblem, SutSpec,
};

use crate::exit::{CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::mutant_file;
pub use crate::mutant_file::SpecSource;
use crate::project_file;
use crate::redaction;
use crate::solver::SolverRequest;

/// A system under test, ready to be opened.
pub enum SystemUnderTest {
    /// A model played in this process.
    Model(Box<Model>),
    /// A system outside, as typed or as the project file describes it.
    Outside(Box<OutsideSystem>),
}

/// A system outside.
pub struct OutsideSystem {
    source: SystemSource,
    /// Its settings. No port was taken for them, and nothing started.
    settings: DescribedSystem,
}

impl OutsideSystem {
    /// Returns the settings of the system.
    pub fn settings(&self) -> &DescribedSystem {
        &self.settings
    }
}

impl SystemUnderTest {
    /// The system `name` of a project file with this content.
    pub fn from_project(content: String, name: &str) -> Result<Self, CliError> {
        let source = SystemSource::from_project(Arc::new(Project::parse(content)?), name);
        let settings = source.describe(&Instances::default())?;
        Ok(Self::Outside(Box::new(OutsideSystem { source, settings })))
    }

    /// The system `text` names, to be compared with `spec`; a model is loaded, a description checked.
    pub fn from_name(text: &str, spec: SpecSource<'_>) -> Result<Self, CliError> {
        let source = project_file::find_system(text)?;
        warn(&source)?;
        let settings = source.describe(&Instances::default())?;
        redaction::add(&settings.secrets);
        match &settings.spec {
            SutSpec::Model(path) => Ok(Self::Model(Box::new(mutant_file::load_played(path, spec)?))),
            SutSpec::Stdio(_) | SutSpec::Tcp(_) => {
                Ok(Self::Outside(Box::new(OutsideSystem { source, settings })))
            }
        }
    }

    /// Returns the settings of a system outside; `None` for a played model.
    pub fn settings(&self) -> Option<&DescribedSystem> {
        match self {
            Self::Model(_) => None,
            Self::Outside(system) => Some(system.settings()),
        }
    }

    /// Returns the values that must not be shown; a played model has none.
    pub fn secrets(&self) -> Secrets {
        self.settings().map_or_else(Secrets::none, |settings| settings.secrets.clone())
    }

    /// Returns the outputs of `spec` that say nothing but that the system refused an input: those that the project file
    /// names, and those that stand for HTTP statuses such as 401 alone.
    pub fn refusals(&self, spec: &Model) -> Result<BTreeSet<GateId>, CliError> {
        let Some(described) = self.settings() else { return Ok(BTreeSet::new()) };
        let mut found = BTreeSet::new();
        for name in &described.refusals {
            match spec.sts.gate_named(name) {
                Some(gate) if spec.sts.gates[gate].kind == GateKind::Output => drop(found.insert(gate)),
                _ => {
                    return Err(CliError::usage(format!(
                        "`{FILE}`: refusals: the model has no output `{name}`"
                    )));
                }
            }
        }
        let protocols = described.connections.iter().map(|connected| &connected.protocol);
        for protocol in protocols.chain([&described.protocol]) {
            let ProtocolConfig::Http(http) = protocol else { continue };
            let refusing = http.http.outputs.iter().filter(|(_, answer)| answer.is_refusal());
            found.extend(refusing.filter_map(|(name, _)| spec.sts.gate_named(name)));
        }
        Ok(found)
    }

    /// Returns the quiescence times at the messages and states of `spec`; `default` where the project file has no
    /// other.
    pub fn times(&self, spec: &Model, default: Patience) -> Result<Patience, CliError> {
        match self.settings() {
            None => Ok(default),
            Some(settings) => {
                let times = settings.quiescence.resolve(spec)?;
                let after = |patience: Patience, &(gate, time): &_| patience.with_time_after(gate, time);
                let within = |patience: Patience, &(place, time): &_| patience.with_time_at(place, time);
                Ok(times.within.iter().fold(times.after.iter().fold(default, after), within))
            }
        }
    }
}

/// Refuses a secret that names no field of `spec`, which would be shown for a slip of the pen.
fn has_fields(spec: &Model, secrets: &Secrets) -> Result<(), CliError> {
    let is_there = |(message, field): &(&str, &str)| {
        let mut gates = spec.sts.gates.iter().filter(|gate| *gate.name == **message);
        gates.any(|gate| gate.fields.iter().any(|&it| *spec.pool.var_info(it).name == **field))
    };
    match secrets.fields().find(|field| !is_there(field)) {
        Some((message, field)) => {
            Err(CliError::usage(format!("`{FILE}`: secrets: the model has no field `{message}.{field}`")))
        }
        None => Ok(()),
    }
}

/// Warns of possible mistakes in the description of a system.
pub fn warn(source: &SystemSource) -> Result<(), CliError> {
    for warning in source.warnings()? {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// Opens instances of one system.
///
/// It can be shared by threads. An adapter of a played model borrows its solver and stays in its thread, so
/// [`open`](Self::open) is called in the thread that uses the instance.
pub struct SystemOpener<'s> {
    system: &'s SystemUnderTest,
    /// The specification, whose messages are spoken.
    interface: Arc<Model>,
    solver: SolverRequest<'s>,
    clock: ClockKind,
}

impl<'s> SystemOpener<'s> {
    /// Opens `system` for a tester that knows the messages of `interface`.
    pub fn new(system: &'s SystemUnderTest, interface: Arc<Model>, solver: SolverRequest<'s>) -> Self {
        Self { system, interface, solver, clock: ClockKind::default() }
    }

    /// Sets the clock for timed models.
    pub fn on(self, clock: ClockKind) -> Self {
        Self { clock, ..self }
    }

    /// Opens instance number `instance` and lets `act` have it.
    pub fn open<T>(
        &self,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        match self.system {
            SystemUnderTest::Model(model) => self.play(model, seed, act),
            SystemUnderTest::Outside(system) => self.reach(
                system.source.describe_instance(instance, &Instances::of_model(&self.interface))?,
                instance,
                seed,
                act,
            ),
        }
    }

    /// Plays `model` as the system and gives it to `act`.
    fn play<T>(
        &self,
        model: &Model,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let (mut model, mut solver) = (model.clone(), self.solver.make()?);
        let adapter = ModelAdapter::new(&self.interface, Ctx::new(&mut model, &mut *solver), seed);
        let cannot = |error| CliError::usage(format!("this model cannot be simulated: {error}"));
        act(&mut adapter.map_err(cannot)?)
    }

    /// Connects to a system outside and gives it to `act`.
    fn reach<T>(
        &self,
        described: DescribedSystem,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        let clock = self.clock;
        let connection = RemoteConnection { seed: Some(seed), instance, clock, ..connection(&described)? };
        let secrets = described.secrets.clone();
        let mut adapter = start_managed(described, Arc::clone(&self.interface), connection)?;
        let result = act(&mut adapter);
        if let Some(how) = adapter.ended_by_itself() {
            let how = secrets.hide(&how);
            eprintln!("note: {how}; it was started again between two runs");
        }
        result
    }
}

/// Returns the encryption of a connection, if it is encrypted.
fn tls_for(tls: Option<&TlsConfig>) -> Result<Option<Tls>, CliError> {
    let tls = tls.map(Tls::new).transpose();
    tls.map_err(|problem| CliError::usage(format!("`{FILE}`: tls: {problem}")))
}

/// Returns the settings of the connection to a system.
pub fn connection(described: &DescribedSystem) -> Result<RemoteConnection, CliError> {
    let environment = described.environment.clone();
    let interrupt = Interrupt::from_flag(&STOP);
    let tls = tls_for(described.tls.as_ref())?;
    let reach = described.reach;
    let message_limit = described.message_limit;
    let connection =
        RemoteConnection { environment, interrupt, reach, tls, message_limit, ..RemoteConnection::default() };
    Ok(match described.limit {
        Some(limit) => RemoteConnection { limit, ..connection },
        None => connection,
    })
}

/// Starts the server of the system, if it has one, and connects to the system.
pub fn start_managed(
    described: DescribedSystem,
    interface: Arc<Model>,
    connection: RemoteConnection,
) -> Result<ManagedAdapter, CliError> {
    // Mistakes in the description are reported before anything is started.
    let ways = ways(&described, &interface, &connection)?;
    has_fields(&interface, &described.secrets)?;
    let DescribedSystem { server, renewal, secrets, synchronous, .. } = described;
    let server = server.map(|server| SystemServer::start(server, connection.interrupt)).transpose();
    let interrupt = connection.interrupt;
    let make: MakeAdapter = match (<[SystemConnection; 1]>::try_from(ways), described.connections.is_empty())
    {
        (Ok([way]), true) => Box::new(move || way.make()),
        (Ok([way]), false) => connect_several(vec![way], interface, interrupt),
        (Err(ways), _) => connect_several(ways, interface, interrupt),
    };
    let managed = server.and_then(|server| ManagedAdapter::new(server, renewal, &connection, make));
    let managed = managed.map_err(|error| system_error(&error, &secrets))?;
    Ok(if synchronous { managed.with_promise_to_answer() } else { managed })
}

/// One connection to the system.
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
    Box::new(move || {
        let part = |way: &SystemConnection| {
            let (name, messages) = (way.name.clone(), way.messages.clone());
            Ok(ConnectionPart { name, messages, place: way.connection.part.clone(), adapter: way.make()? })
        };
        let parts = ways.iter().map(part).collect::<Result<Vec<ConnectionPart>, AdapterError>>()?;
        Ok(Box::new(SeveralAdapter::new(parts, &interface, interrupt)) as Box<dyn Adapter>)
    })
}

/// Returns the connections to the system: one, or one for each that is described.
fn ways(
    described: &DescribedSystem,
    interface: &Arc<Model>,
    connection: &RemoteConnection,
) -> Result<Vec<SystemConnection>, CliError> {
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
        way.check(described)?;
        return Ok(vec![way]);
    }
    check_connections(described, interface)?;
    let mut ways = Vec::new();
    for connected in &described.connections {
        let ConnectedSystem { name, spec, protocol, part, .. } = connected;
        let tls = tls_for(connected.tls.as_ref())?;
        let (messages, share) = connection_interface(connected, interface);
        let mut way = way(name, spec, protocol, &messages);
        way.interface = Arc::new(share);
        let clock = clock_of_several(connected, connection.clock, interface)?;
        way.connection = RemoteConnection { tls, clock, part: part.clone(), ..connection.clone() };
        way.check(described)?;
        ways.push(way);
    }
    Ok(ways)
}

/// The clock of one of several connections: that of this machine, unless virtual time is wanted.
fn clock_of_several(
    connected: &ConnectedSystem,
    wanted: ClockKind,
    interface: &Model,
) -> Result<ClockKind, CliError> {
    match (wanted, &connected.protocol) {
        (ClockKind::Virtual, ProtocolConfig::Protocol) => Ok(ClockKind::Virtual),
        (ClockKind::Virtual, ProtocolConfig::Own(_) | ProtocolConfig::Http(_))
            if interface.sts.is_timed() =>
        {
            let name = &connected.name;
            Err(CliError::usage(format!("`{FILE}`: the connection `{name}` has no virtual time"))
                .help("only adapters that use the adapter protocol support it; leave out `--clock virtual`"))
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
fn check_connections(described: &DescribedSystem, interface: &Model) -> Result<(), CliError> {
    let all = &described.connections;
    let ways: Vec<Vec<String>> = all.iter().map(|one| connection_interface(one, interface).0).collect();
    let has = |name: &str| ways.iter().flatten().any(|message| message == name);
    let is_end = |gate: &Gate| {
        gate.tells_the_end()
            || all.iter().any(|one| closing(&one.name) == *gate.name) && gate.fields.is_empty()
    };
    let mut gates = interface.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
    if let Some(gate) = gates.find(|gate| !has(&gate.name) && !is_end(gate)) {
        return Err(CliError::usage(format!("`{FILE}`: no connection has the message `{}`", gate.name)));
    }
    let unknown = ways.iter().flatten().find(|name| interface.sts.gate_named(name).is_none());
    if let Some(name) = unknown {
        return Err(CliError::usage(format!("`{FILE}`: the model has no message `{name}`")));
    }
    check_instances(described, interface)
}

/// Refuses a description in which some, but not all, instances of an array have a connection.
fn check_instances(described: &DescribedSystem, interface: &Model) -> Result<(), CliError> {
    let own: Vec<&PartPlace> = described.connections.iter().filter_map(|one| one.part.as_ref()).collect();
    let parts = interface.sts.composition.iter().flat_map(|composition| composition.parts.iter());
    let places = parts.map(|part| PartPlace { name: part.family.to_string(), index: part.index });
    let is_forgotten =
        |place: &PartPlace| own.iter().any(|other| other.name == place.name) && !own.contains(&place);
    match places.into_iter().find(is_forgotten) {
        Some(place) => {
            Err(CliError::usage(format!("`{FILE}`: the part `{}` has no connection", part_text(&place)))
                .help(format!("`part = \"{}\"` gives each of its instances one", place.name)))
        }
        None => Ok(()),
    }
}

impl SystemConnection {
    /// Checks that its words are those of the model, and that an adapter that connects later can be made at all.
    fn check(&self, described: &DescribedSystem) -> Result<(), CliError> {
        let checked = match &self.protocol {
            ProtocolConfig::Own(own) => own.words.check(&self.interface),
            ProtocolConfig::Http(http) => http.check(&self.interface),
            ProtocolConfig::Protocol => return Ok(()),
        };
        checked.map_err(|bad| described.locate_error(&bad))?;
        self.make().map(drop).map_err(|error| CliError::usage(error.to_string()))
    }

    /// Makes the adapter; one of an adapter that speaks for itself is reached at once.
    fn make(&self) -> Result<Box<dyn Adapter>, AdapterError> {
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
            (SutSpec::Model(file), ProtocolConfig::Protocol) => {
                let reason = StartProblem::Description("a model is played, not reached".into());
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        })
    }
}

/// Trouble on the way to the system, or the wish of the user to stop waiting for it.
pub fn system_error(error: &AdapterError, secrets: &Secrets) -> CliError {
    if *error == AdapterError::Interrupted {
        return CliError::new(ExitStatus::Interrupted, "interrupted before the system was reached");
    }
    CliError::new(ExitStatus::Infrastructure, secrets.hide(&error.to_string()))
        .help("no verdict: check that the system starts and uses the adapter protocol")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opener_is_shared_by_threads() {
        fn shared<T: Sync>() {}
        shared::<SystemOpener<'static>>();
    }
}
