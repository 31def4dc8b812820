//! The notation for a system under test: `model:FILE`, `stdio:COMMAND`, `tcp:ADDR`. Only the project file describes the
//! others.

use std::fmt;
use std::str::FromStr;

use ioxide_model::suggest::nearest_name;
use thiserror::Error;

use super::ports::ListenAddress;

/// A system under test as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SutSpec {
    /// A model played in this process; the caller loads the file.
    Model(String),
    /// A command whose standard streams speak the protocol.
    Stdio(String),
    /// An address that speaks the protocol.
    Tcp(String),
    /// An address to which datagrams are sent.
    Udp(String),
    /// The path of a Unix socket.
    Unix(String),
    /// A serial line.
    Serial {
        /// The path of the device.
        device: String,
        /// Its speed; `None` to leave it as it is.
        baud: Option<u32>,
    },
    /// A command that runs on a pseudo terminal.
    Terminal(String),
    /// The error stream of the process of another connection, which has this name.
    ErrorStream(String),
}

impl SutSpec {
    /// Returns whether it is the address of a system, which may be started apart from the connection.
    #[must_use]
    pub fn is_address(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Udp(_) | Self::Unix(_) | Self::Serial { .. })
    }

    /// Returns the command that is started with the connection.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Stdio(command) | Self::Terminal(command) => Some(command),
            _ => None,
        }
    }

    /// Returns the address at which a server must listen.
    #[must_use]
    pub fn listen_address(&self) -> Option<ListenAddress> {
        match self {
            Self::Tcp(address) => Some(ListenAddress::Tcp(address.clone())),
            Self::Udp(address) => Some(ListenAddress::Udp(address.clone())),
            Self::Unix(path) => Some(ListenAddress::Unix(path.clone())),
            Self::Model(_)
            | Self::Stdio(_)
            | Self::Serial { .. }
            | Self::Terminal(_)
            | Self::ErrorStream(_) => None,
        }
    }
}

impl fmt::Display for SutSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(file) => write!(f, "model:{file}"),
            Self::Stdio(command) => write!(f, "stdio:{command}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Unix(path) => write!(f, "unix:{path}"),
            Self::Serial { device, .. } => write!(f, "serial:{device}"),
            Self::Terminal(command) => write!(f, "pty:{command}"),
            Self::ErrorStream(name) => write!(f, "stderr:{name}"),
        }
    }
}

/// A text that names no system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadSpec {
    /// The text has no `kind:` in front.
    #[error("`{0}` names no kind of system; write `model:FILE`, `stdio:COMMAND`, `tcp:ADDR` or `unix:PATH`")]
    NoKind(String),
    /// The kind is unknown.
    #[error("there is no kind of system `{0}`{proposal}", proposal = propose_kind(.0))]
    UnknownKind(String),
    /// The text after the colon is empty.
    #[error("`{0}:` names nothing")]
    Empty(String),
    /// The address has no port.
    #[error("`{0}` is not an address; write HOST:PORT")]
    BadAddress(String),
}

/// The kinds of systems that a text can name.
const KINDS: [&str; 4] = ["model", "stdio", "tcp", "unix"];

/// Returns the end of a message about a kind that does not exist: the one that was probably meant, else all of them.
fn propose_kind(kind: &str) -> String {
    match nearest_name(kind, KINDS.into_iter()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there are `{}`", KINDS.join("`, `")),
    }
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
            "unix" => Self::Unix(rest.into()),
            _ => return Err(BadSpec::UnknownKind(kind.into())),
        };
        if rest.is_empty() {
            return Err(BadSpec::Empty(kind.into()));
        }
        match spec {
            Self::Tcp(address) => host_and_port(&address).map(Self::Tcp),
            _ => Ok(spec),
        }
    }
}

/// Returns an address if it is HOST:PORT.
///
/// # Errors
/// If it has no port.
pub fn host_and_port(address: &str) -> Result<String, BadSpec> {
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { Ok(address.to_owned()) } else { Err(BadSpec::BadAddress(address.to_owned())) }
}
