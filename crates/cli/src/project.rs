//! The project file `ioxide.toml`: systems by name, and how they are started.
//!
//! It is looked for in the current directory. `{port}` in a text stands for a port of this
//! machine that is free when the system is started, `{instance}` for the number of one of
//! several systems side by side. Every instance has a port of its own.
//!
//! *Promises.* Every mistake is reported with file, line and key; an unknown key is one.

pub mod connections;
mod framing;
pub mod port;
mod quiescence;
mod renewal;
mod secrets;
mod speech;
mod table;
mod tls;

use std::time::Duration;
use std::{fs, io};

use ioxide_record::secrets::Secrets;
use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::server::{ServerConfig, ServerReadiness};
use ioxide_wire::adapter::text::MessageFormat;
use ioxide_wire::adapter::tls::{Roots, TlsConfig};
use ioxide_wire::adapter::{BadSpec, SutSpec};
use ioxide_wire::codec::BadProtocol;
use ioxide_wire::codec::http::{BadUrl, Url};
use ioxide_wire::codec::overlap;

pub use self::connections::{ConnectedSystem, Instances};
pub use self::quiescence::QuiescenceTimes;
pub use self::speech::ProtocolConfig;
use self::table::{ProjectFile, ProjectTable};
use crate::exit::CliError;

/// The name of the project file.
pub const FILE: &str = "ioxide.toml";

/// Milliseconds a server may take until it is ready, if the file does not say.
const READY_MS: u64 = 10_000;

/// The milliseconds for which a connection may be refused, if the system is not started here and `ready_ms` is not
/// given.
const REACH_MS: u64 = 1_000;

/// A system as typed, or as the project file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedSystem {
    /// The kind and address of the system.
    pub spec: SutSpec,
    /// The server that must run.
    pub server: Option<ServerConfig>,
    /// Variables added to the environment of what is started.
    pub environment: Vec<(String, String)>,
    /// The encoding of its messages.
    pub speech: ProtocolConfig,
    /// The encryption of connections, if they are encrypted.
    pub tls: Option<TlsConfig>,
    /// The connections of the system where it has several; `spec` is the first with an address.
    pub connections: Vec<ConnectedSystem>,
    /// The reset of the system to its initial state before every run.
    pub renewal: SystemRenewal,
    /// The time for which a connection to its address may be refused.
    pub reach: Duration,
    /// The time that the system may take to greet, to reset, to confirm an input; `None` for the default.
    pub limit: Option<Duration>,
    /// The longest time of a message from its first byte to its last; `None` for the default.
    pub message_limit: Option<Duration>,
    /// The quiescence times.
    pub quiescence: QuiescenceTimes,
    /// The longest way of a message, for timed models.
    pub latency: Option<Duration>,
    /// The values that must not be shown.
    pub secrets: Secrets,
    /// The outputs that say nothing but that the system refused an input.
    pub refusals: Vec<String>,
    /// The command that prints the version of the system.
    pub version: Option<String>,
    /// The places of its messages in the project file: table and name, then file and line.
    pub places: Vec<([String; 2], String)>,
}

impl DescribedSystem {
    /// A system that was typed.
    fn from_typed(spec: SutSpec) -> Self {
        let secrets = match spec {
            SutSpec::Stdio(_) => secrets::inherited_secrets(),
            SutSpec::Tcp(_) | SutSpec::Model(_) => Secrets::none(),
        };
        Self {
            reach: reach(&spec, None),
            spec,
            server: None,
            environment: Vec::new(),
            speech: ProtocolConfig::Protocol,
            tls: None,
            connections: Vec::new(),
            renewal: SystemRenewal::Own,
            limit: None,
            message_limit: None,
            quiescence: QuiescenceTimes::default(),
            latency: None,
            secrets,
            refusals: Vec::new(),
            version: None,
            places: Vec::new(),
        }
    }

    /// Returns the error `bad` with its place in the project file.
    pub fn locate_error(&self, bad: &BadProtocol) -> CliError {
        let place = self.places.iter().find(|(key, _)| bad.key[..] == key[..]);
        let file = || FILE.to_owned();
        CliError::usage(format!("{}: {bad}", place.map_or_else(file, |(_, place)| place.clone())))
    }
}

/// Returns the places of the messages of a system in the project file.
fn places(system: &ProjectTable<'_>) -> Result<Vec<([String; 2], String)>, CliError> {
    let mut places = Vec::new();
    for key in ["inputs", "outputs"] {
        let Some(table) = system.table(key)? else { continue };
        for name in table.keys() {
            places.push(([key.to_owned(), name.to_owned()], table.place_of_key(name)));
        }
    }
    Ok(places)
}

/// The source of the description of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemSource {
    /// It was given on the command line.
    Typed(SutSpec),
    /// In the project file.
    File {
        /// The content of the file.
        content: String,
        /// The name of the system.
        name: String,
    },
}

impl SystemSource {
    /// The system that `text` is: `kind:...`, or a name from the project file, which is read once.
    pub fn find_source(text: &str) -> Result<Self, CliError> {
        match text.parse() {
            Ok(spec) => Ok(Self::Typed(spec)),
            Err(error @ BadSpec::NoKind(_)) => match fs::read_to_string(FILE) {
                Ok(content) => Ok(Self::File { content, name: text.to_owned() }),
                Err(reason) if reason.kind() == io::ErrorKind::NotFound => {
                    Err(CliError::usage(format!("--sut: {error}"))
                        .help(format!("a system can also have a name in `{FILE}`; there is none here")))
                }
                Err(reason) => Err(CliError::usage(format!("cannot read `{FILE}`: {reason}"))),
            },
            Err(error) => Err(CliError::usage(format!("--sut: {error}"))),
        }
    }

    /// The description for one of several instances, with a port that no other one was given; `parts` are those of
    /// the model, for connections of parts.
    pub fn describe(&self, instance: usize, parts: &Instances) -> Result<DescribedSystem, CliError> {
        match self {
            Self::Typed(spec) => Ok(DescribedSystem::from_typed(spec.clone())),
            Self::File { content, name } => {
                find_system(content, name, &Variables { port: port::free()?, instance }, parts)
            }
        }
    }

    /// Returns remarks on the description that may point to mistakes.
    pub fn warnings(&self) -> Result<Vec<String>, CliError> {
        match self {
            Self::Typed(_) => Ok(Vec::new()),
            Self::File { content, name } => {
                with_system(content, name, |system| warnings(system, &Variables { port: 0, instance: 0 }))
            }
        }
    }
}

/// Returns the keys of the system called `name` in a project file with their values as texts; values of headers and
/// variables that are secret are left out.
pub fn render_system(content: &str, name: &str) -> Result<Vec<(String, String)>, CliError> {
    with_system(content, name, |system| {
        let named = system.words("secrets")?;
        let is_hidden = |key: &str| {
            ioxide_wire::codec::http::is_secret(key) || named.iter().any(|it| it.eq_ignore_ascii_case(key))
        };
        Ok(system.render_keys(&is_hidden))
    })
}

/// The system that `text` names, if there is only one of it.
pub fn find(text: &str) -> Result<DescribedSystem, CliError> {
    SystemSource::find_source(text)?.describe(0, &Instances::default())
}

/// Checks every system of a project file with this content.
///
/// # Errors
/// Returns the first mistake, with its place.
pub fn check(content: &str) -> Result<(), CliError> {
    let file = ProjectFile::new(FILE, content);
    let document = file.parse()?;
    let top = ProjectTable::new(&file, "", document.get_ref());
    top.only(&["sut"])?;
    let Some(systems) = top.table("sut")? else { return Ok(()) };
    for name in systems.keys() {
        if let Some(system) = systems.table(name)? {
            describe_system(&system, &Variables { port: 0, instance: 0 }, &Instances::default())?;
        }
    }
    Ok(())
}

/// Returns the quiescence time of the system in milliseconds: `typed`, else that of the project file.
pub fn quiescence(sut: &str, typed: Option<u64>) -> Result<Option<u64>, CliError> {
    match typed {
        None if !sut.contains(':') => Ok(find(sut)?.quiescence.default),
        _ => Ok(typed),
    }
}

/// The values of variables that differ from instance to instance.
struct Variables {
    port: u16,
    instance: usize,
}

impl Variables {
    /// `text` with the variables replaced.
    fn fill_text(&self, text: &str) -> String {
        text.replace("{port}", &self.port.to_string()).replace("{instance}", &self.instance.to_string())
    }
}

/// The system called `name` in a project file with this content.
fn find_system(
    content: &str,
    name: &str,
    variables: &Variables,
    parts: &Instances,
) -> Result<DescribedSystem, CliError> {
    with_system(content, name, |system| describe_system(system, variables, parts))
}

/// Returns the result of `read` on the table of the system called `name`.
fn with_system<T>(
    content: &str,
    name: &str,
    read: impl FnOnce(&ProjectTable<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let file = ProjectFile::new(FILE, content);
    let document = file.parse()?;
    let top = ProjectTable::new(&file, "", document.get_ref());
    top.only(&["sut"])?;
    let systems = top.table("sut")?;
    let names = systems.as_ref().map(ProjectTable::keys).unwrap_or_default();
    let system = systems.as_ref().map_or(Ok(None), |systems| systems.table(name))?;
    let Some(system) = system else {
        let stop = CliError::usage(format!("`{FILE}` has no system `{name}`"));
        return Err(
            match (ioxide_model::suggest::nearest_name(name, names.iter().copied()), names.is_empty()) {
                (Some(near), _) => stop.help(format!("did you mean `{near}`?")),
                (None, false) => stop.help(format!("there is {}", names.join(", "))),
                (None, true) => stop.help(format!("describe it in a table `[sut.{name}]`")),
            },
        );
    };
    read(&system)
}

/// Returns remarks on the description of a system that may point to mistakes.
fn warnings(system: &ProjectTable<'_>, variables: &Variables) -> Result<Vec<String>, CliError> {
    let DescribedSystem { speech, tls, connections, .. } =
        describe_system(system, variables, &Instances::default())?;
    if connections.is_empty() {
        return warnings_of(system, &speech, tls.as_ref());
    }
    let mut told = Vec::new();
    for connection in &connections {
        let Some(table) =
            system.table("connections")?.map_or(Ok(None), |all| all.table(&connection.table))?
        else {
            continue;
        };
        told.extend(warnings_of(&table, &connection.speech, connection.tls.as_ref())?);
    }
    Ok(told)
}

/// Returns remarks on patterns that share messages and on certificates that are not checked.
fn warnings_of(
    system: &ProjectTable<'_>,
    speech: &ProtocolConfig,
    tls: Option<&TlsConfig>,
) -> Result<Vec<String>, CliError> {
    let overlaps = match speech {
        ProtocolConfig::Own(own) => match &own.words {
            MessageFormat::Text(text) => overlap::of_texts(text),
            MessageFormat::Binary(binary) => overlap::of_layouts(binary),
        },
        ProtocolConfig::Protocol | ProtocolConfig::Http(_) => Vec::new(),
    };
    let outputs = system.table("outputs")?;
    let place =
        |name: &str| outputs.as_ref().map_or_else(|| FILE.to_owned(), |outputs| outputs.place_of_key(name));
    let mut told: Vec<String> =
        overlaps.iter().map(|overlap| format!("{}: {overlap}", place(&overlap.later))).collect();
    if tls.is_some_and(|tls| tls.roots == Roots::Anybody) {
        let place = system.place_of_key("tls");
        told.push(format!(
            "{place}: `insecure`: the certificate of the system is NOT checked; whoever answers is tested"
        ));
    }
    Ok(told)
}

/// The keys of every system; nothing but the first three concerns a model that is played here.
const COMMON: [&str; 16] = [
    "kind",
    "quiescence_ms",
    "quiescence",
    "start",
    "ready",
    "ready_ms",
    "stop",
    "environment",
    "limit_ms",
    "message_ms",
    "latency_ms",
    "reset",
    "reset_command",
    "secrets",
    "refusals",
    "version",
];

/// The address, encoding and encryption of a system or of one of its connections.
struct ConnectionConfig {
    spec: SutSpec,
    speech: ProtocolConfig,
    tls: Option<TlsConfig>,
}

/// Returns the connection of this kind that `table` describes; keys other than those of the kind and `more` are errors.
fn connection_config(
    table: &ProjectTable<'_>,
    kind: &str,
    more: &[&str],
    variables: &Variables,
) -> Result<ConnectionConfig, CliError> {
    let (place, way, of_kind) = match kind {
        "stdio" => ("command", "stdio", &[][..]),
        "tcp" => ("address", "tcp", &["tls"][..]),
        "model" => ("file", "model", &[][..]),
        "text" if table.has("command") => ("command", "stdio", &speech::TEXT[..]),
        "text" => ("address", "tcp", &speech::TEXT[..]),
        "binary" if table.has("command") => ("command", "stdio", &speech::BINARY[..]),
        "binary" => ("address", "tcp", &speech::BINARY[..]),
        "http" => ("url", "tcp", &speech::HTTP[..]),
        _ => {
            let problem = format!(
                "there is no kind of system `{kind}`; there are `model`, `stdio`, `tcp`, `text`, `binary`, `http`"
            );
            return Err(table.wrong_value("kind", &problem));
        }
    };
    table.only(&[more, of_kind, &[place]].concat())?;
    let at = table.require(place, table.text(place)?.map(|text| variables.fill_text(&text)))?;
    let mut tls = tls::read(table)?;
    let (at, speech) = match kind {
        "text" => (at, ProtocolConfig::Own(Box::new(speech::text(table)?))),
        "binary" => (at, ProtocolConfig::Own(Box::new(speech::binary(table)?))),
        "http" => {
            let url: Url =
                at.parse().map_err(|error: BadUrl| table.wrong_value(place, &error.to_string()))?;
            if url.is_encrypted {
                tls = Some(tls.unwrap_or_default());
            } else if tls.is_some() {
                return Err(table.wrong_value("tls", "the url does not begin with `https`"));
            }
            (url.address.clone(), ProtocolConfig::Http(Box::new(speech::http(table, url)?)))
        }
        _ => (at, ProtocolConfig::Protocol),
    };
    if tls.is_some() && place == "command" {
        return Err(table.wrong_value("tls", "only a connection to an `address` is encrypted"));
    }
    let spec = format!("{way}:{at}").parse();
    let spec = spec.map_err(|error: BadSpec| table.wrong_value(place, &error.to_string()))?;
    Ok(ConnectionConfig { spec, speech, tls })
}

fn describe_system(
    system: &ProjectTable<'_>,
    variables: &Variables,
    parts: &Instances,
) -> Result<DescribedSystem, CliError> {
    let kind = system.text("kind")?;
    let connections = connections::read_connections(system, kind.as_deref(), variables, parts)?;
    let is_address = |one: &&ConnectedSystem| matches!(one.spec, SutSpec::Tcp(_));
    let (ConnectionConfig { spec, speech, tls }, places) =
        match connections.iter().find(is_address).or(connections.first()) {
            Some(first) => {
                let way = ConnectionConfig {
                    spec: first.spec.clone(),
                    speech: first.speech.clone(),
                    tls: first.tls.clone(),
                };
                (way, connections.iter().flat_map(|connection| connection.places.clone()).collect())
            }
            None => {
                let kind = system.require("kind", kind)?;
                let common = if kind == "model" { &COMMON[..3] } else { &COMMON[..] };
                (connection_config(system, &kind, common, variables)?, places(system)?)
            }
        };
    let environment = system.texts("environment")?;
    let environment: Vec<(String, String)> = environment
        .into_iter()
        .map(|(key, value)| (key, speech::with_variables(&variables.fill_text(&value))))
        .collect();
    let renewal = if connections.is_empty() {
        renewal::read(system, variables, &spec, &speech)?
    } else {
        renewal::of_several(system, variables, &connections)?
    };
    Ok(DescribedSystem {
        server: server(system, variables, &environment, &spec)?,
        renewal,
        reach: reach(&spec, system.number("ready_ms")?.or(system.has("start").then_some(READY_MS))),
        limit: system.number("limit_ms")?.map(|ms| Duration::from_millis(ms.max(1))),
        message_limit: system.number("message_ms")?.map(|ms| Duration::from_millis(ms.max(1))),
        quiescence: QuiescenceTimes::read(system)?,
        latency: system.number("latency_ms")?.map(Duration::from_millis),
        places,
        secrets: secrets::read(
            system,
            std::iter::once(&speech).chain(connections.iter().map(|connection| &connection.speech)),
            &environment,
        )?,
        refusals: system.words("refusals")?,
        version: system.text("version")?.map(|text| variables.fill_text(&text)),
        spec,
        environment,
        speech,
        tls,
        connections,
    })
}

/// Returns the time for which a connection may be refused: the time to be ready for an address, zero for others.
fn reach(spec: &SutSpec, ready_ms: Option<u64>) -> Duration {
    match spec {
        SutSpec::Tcp(_) => Duration::from_millis(ready_ms.unwrap_or(REACH_MS)),
        SutSpec::Stdio(_) | SutSpec::Model(_) => Duration::ZERO,
    }
}

/// The server that must run, if there is one.
fn server(
    system: &ProjectTable<'_>,
    variables: &Variables,
    environment: &[(String, String)],
    spec: &SutSpec,
) -> Result<Option<ServerConfig>, CliError> {
    let text = |key| Ok::<_, CliError>(system.text(key)?.map(|text| variables.fill_text(&text)));
    let address = match spec {
        SutSpec::Tcp(address) => Some(address.clone()),
        SutSpec::Stdio(_) | SutSpec::Model(_) => None,
    };
    let Some(start) = text("start")? else {
        let of_server =
            if address.is_some() { &["ready", "stop"][..] } else { &["ready", "ready_ms", "stop"] };
        let useless = of_server.iter().find(|key| system.has(key));
        return useless.map_or(Ok(None), |key| Err(system.wrong_value(key, "it needs `start`")));
    };
    let ready = match (text("ready")?, &address) {
        (Some(ready), _) => probe(system, &ready)?,
        (None, Some(address)) => ServerReadiness::Port(address.clone()),
        (None, None) => ServerReadiness::AtOnce,
    };
    Ok(Some(ServerConfig {
        start,
        ready,
        limit: Duration::from_millis(system.number("ready_ms")?.unwrap_or(READY_MS)),
        address,
        stop: text("stop")?,
        environment: environment.to_vec(),
    }))
}

/// Returns the sign that a server is ready: an address accepts, a URL is answered, or a line is written.
fn probe(system: &ProjectTable<'_>, text: &str) -> Result<ServerReadiness, CliError> {
    match text.split_once(':') {
        Some(("tcp", address)) if address.contains(':') => {
            Ok(ServerReadiness::Port(address.trim().to_owned()))
        }
        Some(("line", line)) if !line.trim().is_empty() => Ok(ServerReadiness::Line(line.trim().to_owned())),
        Some(("http" | "https", _)) => match text.parse::<Url>() {
            Ok(_) => Ok(ServerReadiness::Http(text.to_owned())),
            Err(error) => Err(system.wrong_value("ready", &error.to_string())),
        },
        _ => {
            Err(system.wrong_value("ready", "write `tcp:HOST:PORT`, `http://HOST:PORT/PATH` or `line:TEXT`"))
        }
    }
}

#[cfg(test)]
mod tests;
