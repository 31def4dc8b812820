//! Encrypted connections of the project file: `tls = true`, or a table.

use std::path::PathBuf;

use ioxide_wire::adapter::tls::{Roots, TlsConfig};

use super::table::ProjectTable;
use crate::error::ProjectError;

/// Returns the encryption of connections of a system; `None` if they are not encrypted.
pub(super) fn read_tls(system: &ProjectTable<'_>) -> Result<Option<TlsConfig>, ProjectError> {
    if !system.is_table("tls") {
        return Ok(system.truth("tls")?.and_then(|is_wanted| is_wanted.then(TlsConfig::default)));
    }
    let Some(table) = system.table("tls")? else { return Ok(None) };
    table.only(&["ca", "name", "insecure", "certificate", "key"])?;
    let path = |key| Ok::<_, ProjectError>(table.text(key)?.map(PathBuf::from));
    let roots = match (path("ca")?, table.truth("insecure")?.unwrap_or(false)) {
        (Some(_), true) => {
            return Err(table.wrong_value("insecure", "there is `ca` already; leave out one of them"));
        }
        (Some(ca), false) => Roots::File(ca),
        (None, true) => Roots::Anybody,
        (None, false) => Roots::System,
    };
    let identity = match (path("certificate")?, path("key")?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        (Some(_), None) => return Err(table.wrong_value("certificate", "it needs its `key`")),
        (None, Some(_)) => return Err(table.wrong_value("key", "it needs its `certificate`")),
    };
    Ok(Some(TlsConfig { roots, name: table.text("name")?, identity }))
}
