//! A system with several connections: `[sut.NAME.connections.ALICE]`, each with its own address and words.
//!
//! Every message of the model travels by one connection: the one that has its template or pattern, or, where an
//! adapter speaks for itself, the one that lists it in `messages`. A connection with `part = "client"` is that of a
//! part of the model, one for each instance of an array, and has all of its messages, as the part calls them.

use std::collections::BTreeMap;

use ioxide_model::sts::Model;
use ioxide_wire::adapter::tls::TlsConfig;
use ioxide_wire::adapter::{PartPlace, SutSpec};

use super::protocol::ProtocolConfig;
use super::reset;
use super::system::{COMMON, ConnectionConfig, Variables, connection_config, read_places};
use super::table::ProjectTable;
use crate::error::ProjectError;

/// One of several connections of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedSystem {
    /// The name of the connection.
    pub name: String,
    /// The table of the project file that describes it.
    pub table: String,
    /// The kind and address of the connection.
    pub spec: SutSpec,
    /// The encoding of its messages.
    pub protocol: ProtocolConfig,
    /// The encryption of the connection, if it is encrypted.
    pub tls: Option<TlsConfig>,
    /// The part of the model that it is the connection of, if it is that of one.
    pub part: Option<PartPlace>,
    /// The messages that travel by it, if it is not that of a part.
    pub messages: Vec<String>,
    /// The places of its messages in the project file: table and name, then file and line.
    pub places: Vec<([String; 2], String)>,
}

/// The parts of a model, and the indices of those that are arrays.
#[derive(Clone, Debug, Default)]
pub struct Instances(BTreeMap<String, Vec<Option<i64>>>);

impl Instances {
    /// Returns the parts of `model`; none if it is not made of parts.
    #[must_use]
    pub fn of_model(model: &Model) -> Self {
        let mut found: BTreeMap<String, Vec<Option<i64>>> = BTreeMap::new();
        let Some(composition) = &model.sts.composition else { return Self(found) };
        let speaks = |family: &str| composition.messages.values().any(|of| *of.family == *family);
        for part in composition.parts.iter().filter(|part| speaks(&part.family)) {
            found.entry(part.family.to_string()).or_default().push(part.index);
        }
        Self(found)
    }

    /// The instances that `text` means, `client` or `client[2]`, as `wrong` says if there are none.
    fn meant(
        &self,
        text: &str,
        wrong: impl Fn(&str) -> ProjectError,
    ) -> Result<Vec<PartPlace>, ProjectError> {
        let (name, index) = parse_part(text).ok_or_else(|| wrong("write `client` or `client[2]`"))?;
        let place = |index: Option<i64>| PartPlace { name: name.to_owned(), index };
        if self.0.is_empty() {
            // Nothing is known of the model: one stands for all.
            return Ok(vec![place(index)]);
        }
        let Some(all) = self.0.get(name) else {
            let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
            return Err(wrong(&format!("the model has no part `{name}` with messages of its own"))
                .with_help(format!("there is {}", names.join(", "))));
        };
        let fits: Vec<PartPlace> =
            all.iter().filter(|at| index.is_none() || **at == index).map(|at| place(*at)).collect();
        if fits.is_empty() {
            Err(wrong(&format!("the part `{name}` has no such instance")))
        } else {
            Ok(fits)
        }
    }
}

/// A part as it is written, and the index, if it has one.
fn parse_part(text: &str) -> Option<(&str, Option<i64>)> {
    match text.split_once('[') {
        None => Some((text, None)),
        Some((name, rest)) => Some((name, Some(rest.strip_suffix(']')?.trim().parse().ok()?))),
    }
}

/// The connections of a system, none if it has only one, which is the system itself.
pub(super) fn read_connections(
    system: &ProjectTable<'_>,
    kind: Option<&str>,
    variables: &Variables,
    instances: &Instances,
) -> Result<Vec<ConnectedSystem>, ProjectError> {
    let Some(tables) = system.table("connections")? else { return Ok(Vec::new()) };
    system.reject_unknown_keys(&[&COMMON[..], &["connections"]].concat())?;
    let mut connections: Vec<ConnectedSystem> = Vec::new();
    for name in tables.keys() {
        for connected in connected_at(&tables, name, kind, variables, instances)? {
            if let Some(problem) = taken_problem(&connections, &connected) {
                return Err(tables.wrong_value(name, &problem));
            }
            connections.push(connected);
        }
    }
    if connections.is_empty() {
        Err(system.wrong_value("connections", "there is no connection in it"))
    } else {
        Ok(connections)
    }
}

/// Returns the problem if a message or the part of `connected` has a connection already.
fn taken_problem(connections: &[ConnectedSystem], connected: &ConnectedSystem) -> Option<String> {
    let message = |message: &&String| connections.iter().any(|other| other.messages.contains(message));
    if let Some(twice) = connected.messages.iter().find(message) {
        return Some(format!("`{twice}` travels by another connection already"));
    }
    let part = connected.part.as_ref()?;
    let twice = connections.iter().find(|other| other.part.as_ref() == Some(part))?;
    Some(format!("`{}` has a connection already, `{}`", part_text(part), twice.table))
}

/// Returns a part as people write it.
#[must_use]
pub fn part_text(part: &PartPlace) -> String {
    part.index.map_or_else(|| part.name.clone(), |at| format!("{}[{at}]", part.name))
}

/// The connections that the table `name` describes: one, or one for each instance of its part.
fn connected_at(
    tables: &ProjectTable<'_>,
    name: &str,
    kind: Option<&str>,
    variables: &Variables,
    instances: &Instances,
) -> Result<Vec<ConnectedSystem>, ProjectError> {
    let table = |index| Ok::<_, ProjectError>(tables.table(name)?.map(|table| table.of_instance(index)));
    let Some(plain) = table(None)? else { return Ok(Vec::new()) };
    let Some(part) = plain.text("part")? else {
        return Ok(vec![connect_part(name, &plain, kind, variables, None)?]);
    };
    let singled = singled_out(tables, &part)?;
    let mut found = Vec::new();
    for place in instances.meant(&part, |problem| plain.wrong_value("part", problem))? {
        let is_elsewhere = part != part_text(&place) && singled.contains(&part_text(&place));
        // Texts must be readable although the model is not known: one index stands for all.
        let index = if instances.0.is_empty() { place.index.or(Some(1)) } else { place.index };
        let Some(own) = table(index)?.filter(|_| !is_elsewhere) else { continue };
        found.push(connect_part(name, &own, kind, variables, Some(place))?);
    }
    Ok(found)
}

/// The instances of `part` that have tables of their own.
fn singled_out(tables: &ProjectTable<'_>, part: &str) -> Result<Vec<String>, ProjectError> {
    let mut found = Vec::new();
    for name in tables.keys() {
        let other = tables.table(name)?.map_or(Ok(None), |table| table.text("part"))?;
        found.extend(other.filter(|other| other.split('[').next() == Some(part) && other != part));
    }
    Ok(found)
}

fn connect_part(
    name: &str,
    table: &ProjectTable<'_>,
    kind: Option<&str>,
    variables: &Variables,
    part: Option<PartPlace>,
) -> Result<ConnectedSystem, ProjectError> {
    let kind = table.text("kind")?.or(kind.map(str::to_owned));
    let kind = kind.ok_or_else(|| table.wrong_value("kind", "its `kind` is missing"))?;
    if kind == "model" {
        return Err(
            table.wrong_value("kind", "ioxide simulates a model as a whole, so it has no connections")
        );
    }
    let is_adapter = matches!(kind.as_str(), "stdio" | "tcp");
    let own = match (is_adapter, &part) {
        (true, None) => &["kind", "messages"][..],
        (true, Some(_)) => &["kind", "part"][..],
        (false, None) => &["kind", "reset"][..],
        (false, Some(_)) => &["kind", "part", "reset"][..],
    };
    let ConnectionConfig { spec, protocol, tls } = connection_config(table, &kind, own, variables)?;
    if reset::is_of_system(table)? {
        let problem = "this is a setting of the whole system: move it there; a connection only sets the \
                       messages sent after connecting";
        return Err(table.wrong_value("reset", problem));
    }
    let places = read_places(table)?;
    let messages = match (is_adapter, &part) {
        (_, Some(_)) => Vec::new(),
        (true, None) => table.words("messages")?,
        (false, None) => places.iter().map(|([_, message], _)| message.clone()).collect(),
    };
    if messages.is_empty() && part.is_none() {
        return Err(table.wrong_value("kind", "no message travels by it"));
    }
    let index = part.as_ref().and_then(|part| part.index);
    let table = name.to_owned();
    let name = index.map_or_else(|| name.to_owned(), |at| format!("{name}[{at}]"));
    Ok(ConnectedSystem { name, table, spec, protocol, tls, part, messages, places })
}
