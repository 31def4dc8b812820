//! Addresses of HTTP systems, and the names of headers with secrets.

use thiserror::Error;

/// The address of an HTTP system: `http[s]://HOST[:PORT][/BASE]`, or `http://unix:PATH:[/BASE]` for a Unix socket, as
/// nginx writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Host and port, to connect to and for the header `host`.
    pub address: String,
    /// The text before every path; empty, or `/...` without a slash at its end.
    pub base: String,
    /// True if it begins with `https`.
    pub is_encrypted: bool,
    /// The path of the Unix socket to connect to; `None` for TCP.
    pub socket: Option<String>,
}

/// The host of requests over a Unix socket, which has none.
const SOCKET_HOST: &str = "localhost";
/// The beginning of addresses of Unix sockets.
const SOCKET_PREFIX: &str = "http://unix:";

impl Url {
    /// Returns scheme, host and port, as a text that can be parsed again.
    #[must_use]
    pub fn origin(&self) -> String {
        match &self.socket {
            Some(path) => format!("{SOCKET_PREFIX}{path}:"),
            None if self.is_encrypted => format!("https://{}", self.address),
            None => format!("http://{}", self.address),
        }
    }
}

/// A text that is no such address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not an address; write http://HOST:PORT or https://HOST:PORT/PATH")]
pub struct BadUrl(String);

impl std::str::FromStr for Url {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<Self, BadUrl> {
        let other = || BadUrl(text.to_owned());
        if let Some(rest) = text.strip_prefix(SOCKET_PREFIX) {
            let (path, base) = rest.split_once(':').unwrap_or((rest, ""));
            let is_odd = |text: &str| text.bytes().any(|byte| byte <= b' ' || b"?#\"<>\\".contains(&byte));
            if path.is_empty() || !(base.is_empty() || base.starts_with('/')) || is_odd(rest) {
                return Err(other());
            }
            return Ok(Self {
                address: SOCKET_HOST.to_owned(),
                base: base.trim_end_matches('/').to_owned(),
                is_encrypted: false,
                socket: Some(path.to_owned()),
            });
        }
        let encrypted = text.strip_prefix("https://");
        let (is_encrypted, default) = (encrypted.is_some(), if encrypted.is_some() { 443 } else { 80 });
        let rest = encrypted.or_else(|| text.strip_prefix("http://")).ok_or_else(other)?;
        let (host, base) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let is_odd = |byte: u8| byte <= b' ' || b"@?#\"<>\\".contains(&byte);
        if host.is_empty() || rest.bytes().any(is_odd) {
            return Err(other());
        }
        let port = host.rsplit_once(':').filter(|_| !host.ends_with(']'));
        let address = match port {
            Some((name, port)) if !name.is_empty() && port.parse::<u16>().is_ok() => host.to_owned(),
            Some(_) => return Err(other()),
            None => format!("{host}:{default}"),
        };
        Ok(Self { address, base: base.trim_end_matches('/').to_owned(), is_encrypted, socket: None })
    }
}

/// Returns whether the value of a header, parameter, cookie or variable with this name is a secret; judged by words
/// such as `token` in the name.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    const WORDS: [&str; 14] = [
        "authorization",
        "cookie",
        "token",
        "api-key",
        "apikey",
        "secret",
        "password",
        "session",
        "passwd",
        "passphrase",
        "credential",
        "private-key",
        "access-key",
        "x-auth",
    ];
    WORDS.iter().any(|word| name.contains(word))
}
