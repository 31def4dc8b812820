//! The wires over which the systems of `bench truth` are tested, as a user would set them up.

use std::net::SocketAddr;
use std::sync::Arc;

use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_wire::adapter::http::{HttpAdapter, HttpProtocol};
use ioxide_wire::adapter::process::ProcessAdapter;
use ioxide_wire::adapter::several::{ConnectionPart, SeveralAdapter, restrict_to};
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::adapter::text::{MessageFormat, TextAdapter, TextProtocol};
use ioxide_wire::adapter::{
    Adapter, AdapterError, Framing, HttpResetStep, RemoteConnection, ResetStep, SutSpec,
};
use ioxide_wire::codec::http::answer::AnswerConfig;
use ioxide_wire::codec::http::{HttpConfig, RequestConfig, Url};
use ioxide_wire::codec::text::TextConfig;

use super::pair::HELLO;
use super::systems::SystemKind;

/// A protocol and transport to a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchWire {
    /// The adapter protocol over the standard streams of a child.
    Stdio,
    /// The adapter protocol over TCP.
    Tcp,
    /// Lines of text over TCP.
    Text,
    /// HTTP requests and answers.
    Http,
    /// Lines of text over two connections, for a system that has two clients.
    Pair,
    /// Lines of text over three connections, for a system that has three clients.
    Three,
}

impl BenchWire {
    /// All wires to a system with one client.
    pub const ALL: [Self; 4] = [Self::Stdio, Self::Tcp, Self::Text, Self::Http];

    /// Returns the wire to one client of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Tcp => "tcp",
            Self::Text => "text",
            Self::Http => "http",
            Self::Pair => "two texts",
            Self::Three => "three texts",
        }
    }
}

/// The location of a system.
pub enum SystemPlace {
    /// The command that starts it.
    Command(String),
    /// Its address.
    Address(SocketAddr),
    /// The addresses of its connections, each with the beginning of the names of its messages.
    Addresses(Vec<(&'static str, SocketAddr)>),
}

/// An adapter for the system of this kind at `place`.
pub fn adapter(
    kind: SystemKind,
    wire: BenchWire,
    place: &SystemPlace,
    model: &Arc<Model>,
    connection: RemoteConnection,
) -> Result<Box<dyn Adapter>, AdapterError> {
    let interface = Arc::clone(model);
    match (wire, place) {
        (_, SystemPlace::Addresses(addresses)) => several_connections(addresses, model, &connection),
        (_, SystemPlace::Command(command)) => {
            Ok(Box::new(ProcessAdapter::start(command, interface, connection)?))
        }
        (BenchWire::Text, SystemPlace::Address(address)) => {
            let spec = SutSpec::Tcp(address.to_string());
            let reset = kind.reset().map(|(send, expect)| ResetStep {
                send: Some(send.to_owned()),
                expect: Some(expect.to_owned()),
            });
            let speech = TextProtocol { reset: reset.into_iter().collect(), ..text_protocol(model) };
            Ok(Box::new(TextAdapter::new(&spec, speech, interface, &connection)?))
        }
        (BenchWire::Http, SystemPlace::Address(address)) => {
            let reset = kind.reset().map(|(send, expect)| HttpResetStep {
                request: get(format!("/{send}")),
                send: None,
                expect: AnswerConfig { body: Some(expect.to_owned()), ..AnswerConfig::default() },
            });
            let speech = HttpProtocol { reset: reset.into_iter().collect(), ..http(model, *address) };
            Ok(Box::new(HttpAdapter::new(&speech, interface, &connection)?))
        }
        (
            BenchWire::Stdio | BenchWire::Tcp | BenchWire::Pair | BenchWire::Three,
            SystemPlace::Address(address),
        ) => Ok(Box::new(TcpAdapter::connect(&address.to_string(), interface, connection)?)),
    }
}

/// Returns an adapter with all connections of a system that has several clients; the name of a message says which.
fn several_connections(
    addresses: &[(&'static str, SocketAddr)],
    model: &Arc<Model>,
    connection: &RemoteConnection,
) -> Result<Box<dyn Adapter>, AdapterError> {
    let part = |&(name, address): &(&'static str, SocketAddr)| {
        let of_it = |gate: &Gate| gate.name.starts_with(name).then(|| gate.name.to_string());
        let messages: Vec<String> = model.sts.gates.iter().filter_map(of_it).collect();
        let interface = Arc::new(restrict_to(model, &messages));
        let speech = TextProtocol { reset: vec![ResetStep::new_plain(HELLO)], ..text_protocol(&interface) };
        let spec = SutSpec::Tcp(address.to_string());
        let adapter = Box::new(TextAdapter::new(&spec, speech, interface, connection)?);
        Ok(ConnectionPart { name: name.to_lowercase(), messages, place: None, adapter })
    };
    let parts = addresses.iter().map(part);
    let parts = parts.collect::<Result<Vec<ConnectionPart>, AdapterError>>()?;
    Ok(Box::new(SeveralAdapter::new(parts, model, connection.interrupt)))
}

/// Returns the gates of one kind, each with whether it has the field `n`.
fn gates(model: &Model, kind: GateKind) -> impl Iterator<Item = (String, bool)> {
    let named = |gate: &Gate| (gate.name.to_string(), !gate.fields.is_empty());
    model.sts.gates.iter().filter(move |gate| gate.kind == kind).map(named)
}

/// Returns the text protocol: `NAME` or `NAME n` on a line of its own.
fn text_protocol(model: &Model) -> TextProtocol {
    let input = |(name, has_field): (String, bool)| {
        let template = if has_field { format!("{name} {{n}}\n") } else { format!("{name}\n") };
        (name, template)
    };
    let inputs = gates(model, GateKind::Input).map(input).collect();
    let outputs = gates(model, GateKind::Output).map(|gate| (gate.0.clone(), pattern(&gate))).collect();
    let config = TextConfig { inputs, outputs, ..TextConfig::default() };
    TextProtocol {
        words: MessageFormat::Text(config),
        framing: Framing::Line,
        input_end: None,
        reset: Vec::new(),
        ..TextProtocol::default()
    }
}

/// Returns the HTTP protocol: `GET /NAME/n`, answered by the same text as on a line.
fn http(model: &Model, address: SocketAddr) -> HttpProtocol {
    let input = |(name, has_field): (String, bool)| {
        let path = if has_field { format!("/{name}/{{n}}") } else { format!("/{name}") };
        (name, get(path))
    };
    let output = |gate: (String, bool)| {
        let body = Some(pattern(&gate));
        (gate.0, AnswerConfig { body, ..AnswerConfig::default() })
    };
    let inputs = gates(model, GateKind::Input).map(input).collect();
    let outputs = gates(model, GateKind::Output).map(output).collect();
    let url = Url { address: address.to_string(), base: String::new(), is_encrypted: false, socket: None };
    let http = HttpConfig { inputs, outputs, ..HttpConfig::default() };
    HttpProtocol { url, http, reset: Vec::new(), on_connect: Vec::new() }
}

/// Returns a GET request.
fn get(path: String) -> RequestConfig {
    RequestConfig { method: "GET".into(), path, ..RequestConfig::default() }
}

/// Returns the pattern of a line, with a number behind the name if it has a field.
fn pattern((name, has_field): &(String, bool)) -> String {
    if *has_field { format!("{name} (?P<n>-?[0-9]+)") } else { name.clone() }
}
