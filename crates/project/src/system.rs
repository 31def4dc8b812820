//! The description of one system: its address, protocol, server, reset and settings.

use std::collections::BTreeMap;
use std::time::Duration;

use ioxide_record::secrets::Secrets;
use ioxide_wire::adapter::disturbed::FaultCommands;
use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::server::{ServerConfig, ServerReadiness};
use ioxide_wire::adapter::shared::FaultKind;
use ioxide_wire::adapter::text::MessageFormat;
use ioxide_wire::adapter::tls::{Roots, TlsConfig};
use ioxide_wire::adapter::{BadSpec, ListenAddress, SutSpec, host_and_port};
use ioxide_wire::codec::BadProtocol;
use ioxide_wire::codec::http::{BadUrl, Url};
use ioxide_wire::codec::overlap;

use crate::FILE;
use crate::connections::{self, ConnectedSystem, Instances};
use crate::error::ProjectError;
use crate::protocol::{self, ProtocolConfig};
use crate::quiescence::QuiescenceTimes;
use crate::table::ProjectTable;
use crate::{reset, secrets, tls, unsolicited};

/// Milliseconds a server may take until it is ready, if the file does not say. Chosen by feel.
pub(crate) const READY_MS: u64 = 10_000;

/// The milliseconds for which a connection may be refused, if the system is not started here and `ready_ms` is not
/// given. Chosen by feel.
pub(crate) const REACH_MS: u64 = 1_000;

/// The port in the settings of a system that is not started: none was taken.
pub(crate) const NO_PORT: u16 = 0;

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
    pub protocol: ProtocolConfig,
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
    /// True if every input is promised to be answered by one message, and nothing else to come.
    pub synchronous: bool,
    /// The longest way of a message, for timed models.
    pub latency: Option<Duration>,
    /// The values that must not be shown.
    pub secrets: Secrets,
    /// The outputs that say nothing but that the system refused an input.
    pub refusals: Vec<String>,
    /// The command that prints the version of the system.
    pub version: Option<String>,
    /// The faults that commands of the user inject, by name.
    pub faults: BTreeMap<String, FaultCommands>,
    /// The places of its messages in the project file: table and name, then file and line.
    pub places: Vec<([String; 2], String)>,
}

impl DescribedSystem {
    /// A system that was typed.
    pub(crate) fn from_typed(spec: SutSpec) -> Self {
        let secrets = match spec {
            SutSpec::Stdio(_) => secrets::inherited_secrets(),
            _ => Secrets::none(),
        };
        Self {
            reach: reach_limit(&spec, None),
            spec,
            server: None,
            environment: Vec::new(),
            protocol: ProtocolConfig::Protocol,
            tls: None,
            connections: Vec::new(),
            renewal: SystemRenewal::Own,
            limit: None,
            message_limit: None,
            quiescence: QuiescenceTimes::default(),
            synchronous: false,
            latency: None,
            secrets,
            refusals: Vec::new(),
            version: None,
            faults: BTreeMap::new(),
            places: Vec::new(),
        }
    }

    /// Returns the error `bad` with its place in the project file.
    #[must_use]
    pub fn locate_error(&self, bad: &BadProtocol) -> ProjectError {
        let place = self.places.iter().find(|(key, _)| bad.key[..] == key[..]);
        let file = || FILE.to_owned();
        ProjectError::new(format!("{}: {bad}", place.map_or_else(file, |(_, place)| place.clone())))
    }
}

/// Returns the places of the messages of a system in the project file.
pub(crate) fn read_places(system: &ProjectTable<'_>) -> Result<Vec<([String; 2], String)>, ProjectError> {
    let mut places = Vec::new();
    for key in ["inputs", "outputs"] {
        let Some(table) = system.table(key)? else { continue };
        for name in table.keys() {
            places.push(([key.to_owned(), name.to_owned()], table.place_of_key(name)));
        }
    }
    Ok(places)
}

/// The values of variables that differ from instance to instance.
pub(crate) struct Variables {
    pub(crate) port: u16,
    pub(crate) instance: usize,
}

impl Variables {
    /// Returns the variables of a system that is not started.
    pub(crate) fn unset() -> Self {
        Self { port: NO_PORT, instance: 0 }
    }

    /// `text` with the variables replaced.
    pub(crate) fn fill_text(&self, text: &str) -> String {
        text.replace(crate::PORT, &self.port.to_string()).replace("{instance}", &self.instance.to_string())
    }
}

/// Returns remarks on the description of a system that may point to mistakes.
pub(crate) fn warnings(
    system: &ProjectTable<'_>,
    variables: &Variables,
) -> Result<Vec<String>, ProjectError> {
    let DescribedSystem { protocol, tls, connections, .. } =
        describe_system(system, variables, &Instances::default())?;
    if connections.is_empty() {
        return warnings_of(system, &protocol, tls.as_ref());
    }
    let mut told = Vec::new();
    for connection in &connections {
        let Some(table) =
            system.table("connections")?.map_or(Ok(None), |all| all.table(&connection.table))?
        else {
            continue;
        };
        told.extend(warnings_of(&table, &connection.protocol, connection.tls.as_ref())?);
    }
    Ok(told)
}

/// Returns remarks on patterns that share messages and on certificates that are not checked.
fn warnings_of(
    system: &ProjectTable<'_>,
    protocol: &ProtocolConfig,
    tls: Option<&TlsConfig>,
) -> Result<Vec<String>, ProjectError> {
    let overlaps = match protocol {
        ProtocolConfig::Own(own) => match &own.words {
            MessageFormat::Text(text) => {
                let hidden = unsolicited::hidden_texts(&own.unsolicited, text);
                [overlap::of_texts(text), hidden].concat()
            }
            MessageFormat::Binary(binary) => {
                let hidden = unsolicited::hidden_layouts(&own.unsolicited, binary);
                [overlap::of_layouts(binary), hidden].concat()
            }
        },
        ProtocolConfig::Http(protocol) => overlap::of_answers(&protocol.http),
        ProtocolConfig::Protocol => Vec::new(),
    };
    let outputs = system.table("outputs")?;
    let place =
        |name: &str| outputs.as_ref().map_or_else(|| FILE.to_owned(), |outputs| outputs.place_of_key(name));
    let mut told: Vec<String> =
        overlaps.iter().map(|overlap| format!("{}: {overlap}", place(&overlap.later))).collect();
    let rules = match protocol {
        ProtocolConfig::Own(own) => Some(&own.unsolicited),
        ProtocolConfig::Http(http) => Some(&http.http.unsolicited),
        ProtocolConfig::Protocol => None,
    };
    for pattern in rules.map(unsolicited::half_anchored).unwrap_or_default() {
        let text = pattern.trim_start_matches('^');
        let key = if system.has("ignore") { "ignore" } else { "answer" };
        told.push(format!(
            "{}: a pattern is for the whole message, so `{pattern}` matches only `{text}`; `{text}.*` matches messages \
             that begin with it",
            system.place_of_key(key)
        ));
    }
    if tls.is_some_and(|tls| tls.roots == Roots::Anybody) {
        let place = system.place_of_key("tls");
        told.push(format!(
            "{place}: `insecure`: the certificate of the system is NOT checked, so ioxide may test another server"
        ));
    }
    Ok(told)
}

/// The kinds of systems.
const KINDS: [&str; 6] = ["model", "stdio", "tcp", "text", "binary", "http"];
/// The number of the first keys of [`COMMON`] that concern a model that ioxide plays.
const FOR_MODELS: usize = 5;
/// The keys of every system.
pub(crate) const COMMON: [&str; 20] = [
    "kind",
    "silence_ms",
    "silence",
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
    "synchronous",
    "faults",
];

/// Returns the keys that a system of some kind may have.
#[must_use]
pub fn system_keys() -> Vec<&'static str> {
    let places = ["command", "address", "file", "url", "connections", "device", "baud", "pty", "stderr"];
    [&COMMON[..], &places, &protocol::TEXT, &protocol::BINARY, &protocol::HTTP].concat()
}

/// The address, encoding and encryption of a system or of one of its connections.
pub(crate) struct ConnectionConfig {
    pub(crate) spec: SutSpec,
    pub(crate) protocol: ProtocolConfig,
    pub(crate) tls: Option<TlsConfig>,
}

/// Returns the connection of this kind that `table` describes; keys other than those of the kind and `more` are errors.
pub(crate) fn connection_config(
    table: &ProjectTable<'_>,
    kind: &str,
    more: &[&str],
    variables: &Variables,
) -> Result<ConnectionConfig, ProjectError> {
    let form = ConnectionForm::of_kind(table, kind)?;
    reject_keys_of_other_kinds(table, kind)?;
    form.check_keys(table, kind, more)?;
    let place = form.place;
    let at = table.require(place, table.text(place)?.map(|text| variables.fill_text(&text)))?;
    let mut tls = tls::read_tls(table)?;
    let mut transport = if place == "address" { AddressKind::from_address(&at) } else { AddressKind::Stream };
    let (at, protocol) = match kind {
        "text" => (at, ProtocolConfig::Own(Box::new(protocol::read_text_protocol(table, transport)?))),
        "binary" => (at, ProtocolConfig::Own(Box::new(protocol::binary(table, transport)?))),
        "http" => {
            let url: Url =
                at.parse().map_err(|error: BadUrl| table.wrong_value(place, &error.to_string()))?;
            tls = tls_of_url(table, &url, tls)?;
            let at = match &url.socket {
                Some(path) => {
                    transport = AddressKind::UnixSocket;
                    format!("unix:{path}")
                }
                None => url.address.clone(),
            };
            (at, ProtocolConfig::Http(Box::new(protocol::http(table, url)?)))
        }
        _ => (at, ProtocolConfig::Protocol),
    };
    if tls.is_some() {
        reject_needless_tls(table, place, transport)?;
    }
    let spec = form.spec_of(table, kind, at, transport)?;
    Ok(ConnectionConfig { spec, protocol, tls })
}

/// The keys of a kind of connection in the project file.
struct ConnectionForm {
    /// The key that says where the system is.
    place: &'static str,
    /// The beginning of the address of the system, as `--sut` names it.
    way: &'static str,
    /// The keys that only this kind has.
    keys: &'static [&'static str],
}

impl ConnectionForm {
    fn of_kind(table: &ProjectTable<'_>, kind: &str) -> Result<Self, ProjectError> {
        let (place, way, keys) = match kind {
            "stdio" => ("command", "stdio", &[][..]),
            "tcp" => ("address", "tcp", &["tls"][..]),
            "model" => ("file", "model", &[][..]),
            "text" => (own_place(table), "tcp", &protocol::TEXT[..]),
            "binary" => (own_place(table), "tcp", &protocol::BINARY[..]),
            "http" => ("url", "tcp", &protocol::HTTP[..]),
            _ => {
                let problem = format!("there is no kind of system `{kind}`");
                return Err(table.wrong_value("kind", &problem).with_nearest(kind, &KINDS));
            }
        };
        Ok(Self { place, way, keys })
    }

    /// Refuses keys that are neither those of the kind nor in `more`.
    fn check_keys(&self, table: &ProjectTable<'_>, kind: &str, more: &[&str]) -> Result<(), ProjectError> {
        // A key of another place is no reason to propose `address`.
        let places: &[&str] = match kind {
            "text" | "binary" => &["address", "command", "device", "stderr", "pty", "baud"],
            _ => &[self.place],
        };
        let of_place: &[&str] = match self.place {
            "command" if kind != "stdio" => &["pty"],
            "device" => &["baud"],
            _ => &[],
        };
        let known = [more, self.keys, &[self.place], of_place].concat();
        table.check_keys(&known, &[more, self.keys, places].concat())
    }

    /// Returns how the system at `at` is reached.
    fn spec_of(
        &self,
        table: &ProjectTable<'_>,
        kind: &str,
        at: String,
        transport: AddressKind,
    ) -> Result<SutSpec, ProjectError> {
        let spec = match (self.place, transport) {
            ("command", _) if table.truth("pty")?.unwrap_or(false) => Ok(SutSpec::Terminal(at)),
            ("command", _) => Ok(SutSpec::Stdio(at)),
            ("device", _) => Ok(SutSpec::Serial { device: at, baud: baud(table)? }),
            ("stderr", _) => Ok(SutSpec::ErrorStream(at)),
            (place, AddressKind::Datagrams) if kind == "tcp" => {
                let problem = "an adapter is reached by a stream; `udp:` is for text and binary";
                return Err(table.wrong_value(place, problem));
            }
            (_, AddressKind::Datagrams) => host_and_port(at.trim_start_matches("udp:")).map(SutSpec::Udp),
            (_, AddressKind::UnixSocket) => at.parse(),
            (_, AddressKind::Stream) => format!("{}:{at}", self.way).parse(),
        };
        spec.map_err(|error: BadSpec| table.wrong_value(self.place, &error.to_string()))
    }
}

/// Refuses keys that show that another kind is meant.
fn reject_keys_of_other_kinds(table: &ProjectTable<'_>, kind: &str) -> Result<(), ProjectError> {
    if kind == "tcp" && (table.has("inputs") || table.has("outputs")) {
        return Err(table
            .wrong_value("kind", "`tcp` is an adapter, which has no `inputs` and `outputs` in this file")
            .with_help(
                "for a system with messages of its own write `kind = \"text\"`, `\"binary\"` or `\"http\"`",
            ));
    }
    if kind == "http" && table.has("command") {
        return Err(table
            .wrong_value("command", "an HTTP service has no `command`")
            .with_help("`start = \"...\"` starts it; `{port}` in it and in `url` stands for a free port"));
    }
    Ok(())
}

/// Returns the settings of TLS for a service at `url`, which must be what the url says.
fn tls_of_url(
    table: &ProjectTable<'_>,
    url: &Url,
    tls: Option<TlsConfig>,
) -> Result<Option<TlsConfig>, ProjectError> {
    match tls {
        _ if url.is_encrypted => Ok(Some(tls.unwrap_or_default())),
        Some(_) => Err(table.wrong_value("tls", "the url does not begin with `https`")),
        None => Ok(None),
    }
}

/// Refuses TLS where nothing is, or can be, encrypted.
fn reject_needless_tls(
    table: &ProjectTable<'_>,
    place: &str,
    transport: AddressKind,
) -> Result<(), ProjectError> {
    let problem = match transport {
        _ if place != "address" && place != "url" => "only a connection to an `address` is encrypted",
        AddressKind::Datagrams => "datagrams cannot be encrypted",
        AddressKind::UnixSocket => "a Unix socket needs no encryption",
        AddressKind::Stream => return Ok(()),
    };
    Err(table.wrong_value("tls", problem))
}

/// Returns the key at which a system with messages of its own says where it is.
fn own_place(table: &ProjectTable<'_>) -> &'static str {
    ["command", "device", "stderr"].into_iter().find(|key| table.has(key)).unwrap_or("address")
}

/// Returns the speed of a serial line, if it is given.
fn baud(table: &ProjectTable<'_>) -> Result<Option<u32>, ProjectError> {
    let wrong = || table.wrong_value("baud", "this baud rate is too large");
    table.number("baud")?.map(|baud| u32::try_from(baud).map_err(|_| wrong())).transpose()
}

/// The kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressKind {
    /// A stream of bytes.
    Stream,
    /// `udp:HOST:PORT`: datagrams.
    Datagrams,
    /// `unix:PATH`: a stream of bytes, too.
    UnixSocket,
}

impl AddressKind {
    /// Returns the kind of the address that is written so.
    fn from_address(address: &str) -> Self {
        match address.split_once(':') {
            Some(("udp", _)) => Self::Datagrams,
            Some(("unix", _)) => Self::UnixSocket,
            _ => Self::Stream,
        }
    }
}

/// Returns the description of a system; with [`Variables::unset`], for its settings alone.
pub(crate) fn describe_system(
    system: &ProjectTable<'_>,
    variables: &Variables,
    parts: &Instances,
) -> Result<DescribedSystem, ProjectError> {
    let kind = system.text("kind")?;
    let connections = connections::read_connections(system, kind.as_deref(), variables, parts)?;
    let is_address = |one: &&ConnectedSystem| one.spec.is_address();
    let (ConnectionConfig { spec, protocol, tls }, places) =
        match connections.iter().find(is_address).or(connections.first()) {
            Some(first) => {
                let way = ConnectionConfig {
                    spec: first.spec.clone(),
                    protocol: first.protocol.clone(),
                    tls: first.tls.clone(),
                };
                (way, connections.iter().flat_map(|connection| connection.places.clone()).collect())
            }
            None => {
                if kind.is_none() {
                    // A misspelt `kind` is an unknown key, not a missing one.
                    system.reject_unknown_keys(&system_keys())?;
                }
                let kind = system.require("kind", kind)?;
                let common = if kind == "model" { &COMMON[..FOR_MODELS] } else { &COMMON[..] };
                let config = connection_config(system, &kind, common, variables)?;
                if matches!(config.spec, SutSpec::ErrorStream(_)) {
                    let problem = "only one of several connections can be the error stream of another one";
                    return Err(system.wrong_value("stderr", problem));
                }
                (config, read_places(system)?)
            }
        };
    let environment = system.texts("environment")?;
    let environment: Vec<(String, String)> = environment
        .into_iter()
        .map(|(key, value)| (key, protocol::with_variables(&variables.fill_text(&value))))
        .collect();
    let renewal = if connections.is_empty() {
        reset::read_renewal(system, variables, &spec, &protocol)?
    } else {
        reset::of_several(system, variables, &connections)?
    };
    Ok(DescribedSystem {
        server: server(system, variables, &environment, &spec)?,
        renewal,
        reach: reach_limit(&spec, system.number("ready_ms")?.or(system.has("start").then_some(READY_MS))),
        limit: system.number("limit_ms")?.map(|ms| Duration::from_millis(ms.max(1))),
        message_limit: system.number("message_ms")?.map(|ms| Duration::from_millis(ms.max(1))),
        quiescence: QuiescenceTimes::read(system)?,
        synchronous: system.truth("synchronous")?.unwrap_or(false),
        latency: system.number("latency_ms")?.map(Duration::from_millis),
        places,
        secrets: secrets::read_secrets(
            system,
            std::iter::once(&protocol).chain(connections.iter().map(|connection| &connection.protocol)),
            &environment,
        )?,
        refusals: system.words("refusals")?,
        version: system.text("version")?.map(|text| variables.fill_text(&text)),
        faults: read_faults(system, variables)?,
        spec,
        environment,
        protocol,
        tls,
        connections,
    })
}

/// Returns the faults that commands of the user inject: `[sut.NAME.faults]` with `FAULT = { begin, end }`.
fn read_faults(
    system: &ProjectTable<'_>,
    variables: &Variables,
) -> Result<BTreeMap<String, FaultCommands>, ProjectError> {
    let mut found = BTreeMap::new();
    let Some(faults) = system.table("faults")? else { return Ok(found) };
    for name in faults.keys() {
        let Some(fault) = faults.table(name)? else { continue };
        if !matches!(FaultKind::from_name(name), FaultKind::Command(_)) {
            return Err(faults.wrong_value(name, "this fault is built in; give yours another name"));
        }
        fault.reject_unknown_keys(&["begin", "end"])?;
        let command = |key: &str| fault.require(key, fault.text(key)?.map(|text| variables.fill_text(&text)));
        found.insert(name.to_owned(), FaultCommands { begin: command("begin")?, end: command("end")? });
    }
    Ok(found)
}

/// Returns the time for which a connection may be refused: the time to be ready for an address, zero for others.
fn reach_limit(spec: &SutSpec, ready_ms: Option<u64>) -> Duration {
    if spec.is_address() { Duration::from_millis(ready_ms.unwrap_or(REACH_MS)) } else { Duration::ZERO }
}

/// The server that must run, if there is one.
fn server(
    system: &ProjectTable<'_>,
    variables: &Variables,
    environment: &[(String, String)],
    spec: &SutSpec,
) -> Result<Option<ServerConfig>, ProjectError> {
    let text = |key| Ok::<_, ProjectError>(system.text(key)?.map(|text| variables.fill_text(&text)));
    let address = spec.listen_address();
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
fn probe(system: &ProjectTable<'_>, text: &str) -> Result<ServerReadiness, ProjectError> {
    match text.split_once(':') {
        Some(("tcp", address)) if address.contains(':') => {
            Ok(ServerReadiness::Port(ListenAddress::Tcp(address.trim().to_owned())))
        }
        Some(("unix", path)) if !path.trim().is_empty() => {
            Ok(ServerReadiness::Port(ListenAddress::Unix(path.trim().to_owned())))
        }
        Some(("udp", address)) if address.contains(':') => {
            Ok(ServerReadiness::Port(ListenAddress::Udp(address.trim().to_owned())))
        }
        Some(("line", line)) if !line.trim().is_empty() => Ok(ServerReadiness::Line(line.trim().to_owned())),
        Some(("http" | "https", _)) => match text.parse::<Url>() {
            Ok(_) => Ok(ServerReadiness::Http(text.to_owned())),
            Err(error) => Err(system.wrong_value("ready", &error.to_string())),
        },
        _ => Err(system.wrong_value(
            "ready",
            "write `tcp:HOST:PORT`, `udp:HOST:PORT`, `unix:PATH`, `http://HOST:PORT/PATH` or `line:TEXT`",
        )),
    }
}
