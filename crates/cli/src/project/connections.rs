//! A system with several connections: `[sut.NAME.connections.ALICE]`, each with its own address and words.
//!
//! Every message of the model travels by one connection: the one that has its template or pattern, or, where an
//! adapter speaks for itself, the one that lists it in `messages`.

use ioxide_runner::adapter::SutSpec;
use ioxide_runner::adapter::tls::TlsConfig;

use super::speech::Speech;
use super::table::Table;
use super::{COMMON, Variables, Way, places, renewal, way};
use crate::exit::Stop;

/// One of several connections of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub spec: SutSpec,
    /// How it speaks.
    pub speech: Speech,
    /// How it is encrypted, if it is.
    pub tls: Option<TlsConfig>,
    /// The messages that travel by it.
    pub messages: Vec<String>,
    /// Where they stand in the project file: table, name, file and line.
    pub places: Vec<([String; 2], String)>,
}

/// The connections of a system, none if it has only one, which is the system itself.
pub(super) fn read(
    system: &Table<'_>,
    kind: Option<&str>,
    variables: &Variables,
) -> Result<Vec<Connected>, Stop> {
    let Some(tables) = system.table("connections")? else { return Ok(Vec::new()) };
    system.only(&[&COMMON[..], &["connections"]].concat())?;
    let mut connections: Vec<Connected> = Vec::new();
    for name in tables.keys() {
        let Some(table) = tables.table(name)? else { continue };
        let connected = connected(name, &table, kind, variables)?;
        let taken = |message: &&String| connections.iter().any(|other| other.messages.contains(message));
        if let Some(twice) = connected.messages.iter().find(taken) {
            let problem = format!("`{twice}` travels by another connection already");
            return Err(tables.wrong(name, &problem));
        }
        connections.push(connected);
    }
    match connections.is_empty() {
        true => Err(system.wrong("connections", "there is no connection in it")),
        false => Ok(connections),
    }
}

fn connected(
    name: &str,
    table: &Table<'_>,
    kind: Option<&str>,
    variables: &Variables,
) -> Result<Connected, Stop> {
    let kind = table.text("kind")?.or(kind.map(str::to_owned));
    let kind = kind.ok_or_else(|| table.wrong("kind", "nothing says of what kind it is"))?;
    if kind == "model" {
        return Err(table.wrong("kind", "a model is played as a whole, it has no connections"));
    }
    let is_adapter = matches!(kind.as_str(), "stdio" | "tcp");
    let own = if is_adapter { &["kind", "messages"][..] } else { &["kind", "reset"][..] };
    let Way { spec, speech, tls } = way(table, &kind, own, variables)?;
    if renewal::is_of_system(table)? {
        let problem =
            "this concerns the whole system: write it there; here stands what is said after connecting";
        return Err(table.wrong("reset", problem));
    }
    let places = places(table)?;
    let messages = match is_adapter {
        true => table.words("messages")?,
        false => places.iter().map(|([_, message], _)| message.clone()).collect(),
    };
    if messages.is_empty() {
        return Err(table.wrong("kind", "no message travels by it"));
    }
    Ok(Connected { name: name.to_owned(), spec, speech, tls, messages, places })
}
