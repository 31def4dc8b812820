//! The notation for a system under test: `model:FILE`, `stdio:COMMAND`, `tcp:ADDR`.

use std::str::FromStr;

use thiserror::Error;

/// A system under test as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SutSpec {
    /// A model played in this process; the caller loads the file.
    Model(String),
    /// A command whose standard streams speak the protocol.
    Stdio(String),
    /// An address that speaks the protocol.
    Tcp(String),
}

/// A text that names no system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadSpec {
    /// The text has no `kind:` in front.
    #[error("`{0}` names no kind of system; write `model:FILE`, `stdio:COMMAND` or `tcp:ADDR`")]
    NoKind(String),
    /// The kind is unknown.
    #[error("there is no kind of system `{0}`; there are `model`, `stdio`, `tcp`")]
    UnknownKind(String),
    /// The text after the colon is empty.
    #[error("`{0}:` names nothing")]
    Empty(String),
    /// The address has no port.
    #[error("`{0}` is no address; write HOST:PORT")]
    BadAddress(String),
}

impl FromStr for SutSpec {
    type Err = BadSpec;

    fn from_str(text: &str) -> Result<Self, BadSpec> {
        let (kind, rest) = text.split_once(':').ok_or_else(|| BadSpec::NoKind(text.into()))?;
        let rest = rest.trim();
        let spec = match kind {
            "model" => Self::Model(rest.into()),
            "stdio" => Self::Stdio(rest.into()),
            "tcp" => Self::Tcp(rest.into()),
            _ => return Err(BadSpec::UnknownKind(kind.into())),
        };
        if rest.is_empty() {
            return Err(BadSpec::Empty(kind.into()));
        }
        let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        match spec {
            Self::Tcp(address) if !has_port => Err(BadSpec::BadAddress(address)),
            _ => Ok(spec),
        }
    }
}
