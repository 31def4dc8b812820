//! The framing of messages on a stream, as the project file describes it.

use ioxide_wire::adapter::{Framing, LengthField, LengthUnit};
use ioxide_wire::codec::layout::{Endian, NumberLayout};

use super::system::AddressKind;
use super::table::ProjectTable;
use crate::error::ProjectError;

/// The framing of a text.
pub(super) fn of_text(system: &ProjectTable<'_>, transport: AddressKind) -> Result<Framing, ProjectError> {
    if transport == AddressKind::Datagrams {
        return of_datagrams(system);
    }
    match words(system)?.as_ref().map(|(kind, rest)| (kind.as_str(), rest.as_str())) {
        None | Some(("line", "")) => Ok(Framing::Line),
        Some(("delimiter", mark)) if !mark.is_empty() => Ok(Framing::Delimiter(mark.to_owned())),
        Some(("length", width)) => length(system, width),
        Some(_) => {
            Err(system.wrong_value("framing", "write `line`, `delimiter:TEXT` or `length:BYTES` (1 to 8)"))
        }
    }
}

/// The framing of binary messages.
pub(super) fn of_binary(
    system: &ProjectTable<'_>,
    endian: Endian,
    transport: AddressKind,
) -> Result<Framing, ProjectError> {
    if transport == AddressKind::Datagrams {
        return of_datagrams(system);
    }
    let ways =
        "`fixed:BYTES`, `length:BYTES` (1 to 8) or a table { length = \"u16\", at = 2, counts = \"rest\" }";
    if system.is_table("framing") {
        return system.table("framing")?.map_or(Ok(Framing::Line), |table| counted_framing(&table, endian));
    }
    match words(system)?.as_ref().map(|(kind, rest)| (kind.as_str(), rest.as_str())) {
        Some(("length", width)) => length(system, width),
        Some(("fixed", size)) if size.parse().is_ok_and(|size: usize| (1..=1 << 20).contains(&size)) => {
            Ok(Framing::Fixed(size.parse().unwrap_or(1)))
        }
        Some(_) => Err(system.wrong_value("framing", &format!("write {ways}"))),
        None => Err(system
            .wrong_value("kind", "`framing` is missing: it defines where a message ends")
            .with_help(format!("`framing` is {ways}"))),
    }
}

/// The framing of datagrams, which needs no word.
fn of_datagrams(system: &ProjectTable<'_>) -> Result<Framing, ProjectError> {
    if system.has("framing")
        && (system.is_table("framing") || system.text("framing")?.as_deref() != Some("datagram"))
    {
        return Err(system.wrong_value("framing", "one datagram is one message; leave it out"));
    }
    Ok(Framing::Datagram)
}

/// Splits `framing` at its colon, as in `length:4`: the kind, and what follows (empty if nothing does).
fn words(system: &ProjectTable<'_>) -> Result<Option<(String, String)>, ProjectError> {
    let framing = system.text("framing")?;
    Ok(framing.map(|text| {
        text.split_once(':').map_or((text.clone(), String::new()), |(a, b)| (a.into(), b.into()))
    }))
}

/// Returns the framing by a length in front of each message, of 1 to 8 bytes.
fn length(system: &ProjectTable<'_>, width: &str) -> Result<Framing, ProjectError> {
    match width.parse() {
        Ok(width @ 1..=8) => Ok(Framing::Length(width)),
        _ => Err(system.wrong_value("framing", "write `length:BYTES`, 1 to 8")),
    }
}

/// A length that is a part of the message.
fn counted_framing(table: &ProjectTable<'_>, endian: Endian) -> Result<Framing, ProjectError> {
    table.reject_unknown_keys(&["length", "at", "counts", "head"])?;
    let word = table.require("length", table.text("length")?)?;
    let number = NumberLayout::from_word(&word, endian).filter(|number| !number.is_signed);
    let number =
        number.ok_or_else(|| table.wrong_value("length", "write `u8`, `u16le`, `u32be`, ... or `varint`"))?;
    let size = |key| {
        let size = usize::try_from(table.number(key)?.unwrap_or(0)).ok().filter(|size| *size <= 1 << 20);
        size.ok_or_else(|| table.wrong_value(key, "this is more than a message may have"))
    };
    let at = size("at")?;
    let counts = match (table.text("counts")?.as_deref(), table.has("head")) {
        (None | Some("rest"), false) => LengthUnit::Rest,
        (Some("message"), false) => LengthUnit::Message,
        (None, true) if size("head")? >= at + number.fixed_size().unwrap_or(1) => {
            LengthUnit::After(size("head")?)
        }
        (None, true) => {
            return Err(table.wrong_value("head", "the head is shorter than its length field says"));
        }
        (Some("rest" | "message"), true) => {
            return Err(table.wrong_value("head", "there is `counts` already"));
        }
        (Some(_), _) => return Err(table.wrong_value("counts", "write \"rest\" or \"message\"")),
    };
    Ok(Framing::Counted(LengthField { at, number, counts }))
}
