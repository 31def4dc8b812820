//! Encrypted connections of the project file: `tls = true`, or a table.

use std::path::PathBuf;

use ioxide_wire::adapter::tls::{Roots, TlsConfig};
use ioxide_wire::codec::layout::unhex;

use super::table::ProjectTable;
use crate::error::ProjectError;

/// Returns the encryption of connections of a system; `None` if they are not encrypted.
pub(super) fn read_tls(system: &ProjectTable<'_>) -> Result<Option<TlsConfig>, ProjectError> {
    if !system.is_table("tls") {
        return Ok(system.truth("tls")?.and_then(|is_wanted| is_wanted.then(TlsConfig::default)));
    }
    let Some(table) = system.table("tls")? else { return Ok(None) };
    table.reject_unknown_keys(&["ca", "name", "fingerprint", "insecure", "certificate", "key"])?;
    let path = |key| Ok::<_, ProjectError>(table.text(key)?.map(PathBuf::from));
    let is_insecure = table.truth("insecure")?.unwrap_or(false);
    if let Some(text) = table.text("fingerprint")? {
        if let Some(other) = ["ca", "insecure"].into_iter().find(|key| table.has(key)) {
            return Err(table.wrong_value(other, "there is `fingerprint` already; leave out one of them"));
        }
        let fingerprint = read_fingerprint(&text);
        let fingerprint = fingerprint.ok_or_else(|| {
            table.wrong_value(
                "fingerprint",
                "write the SHA-256 of the certificate: 64 hexadecimal digits, with or without `:`",
            )
        })?;
        return Ok(Some(TlsConfig {
            roots: Roots::Fingerprint(fingerprint),
            name: table.text("name")?,
            identity: identity(&table)?,
        }));
    }
    let roots = match (path("ca")?, is_insecure) {
        (Some(_), true) => {
            return Err(table.wrong_value("insecure", "there is `ca` already; leave out one of them"));
        }
        (Some(ca), false) => Roots::File(ca),
        (None, true) => Roots::Anybody,
        (None, false) => Roots::System,
    };
    Ok(Some(TlsConfig { roots, name: table.text("name")?, identity: identity(&table)? }))
}

/// Returns the certificate and the key of this side, if they are given.
fn identity(table: &ProjectTable<'_>) -> Result<Option<(PathBuf, PathBuf)>, ProjectError> {
    let path = |key| Ok::<_, ProjectError>(table.text(key)?.map(PathBuf::from));
    match (path("certificate")?, path("key")?) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(table.wrong_value("certificate", "it needs its `key`")),
        (None, Some(_)) => Err(table.wrong_value("key", "it needs its `certificate`")),
    }
}

/// Reads a fingerprint as `openssl x509 -fingerprint -sha256` and others write it.
fn read_fingerprint(text: &str) -> Option<[u8; 32]> {
    let digits = text.rsplit('=').next().unwrap_or_default();
    let digits = digits.trim().strip_prefix("sha256:").unwrap_or(digits.trim());
    let digits: String = digits.chars().filter(|c| *c != ':').collect();
    unhex(&digits)?.try_into().ok()
}
