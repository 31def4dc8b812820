//! Addresses of HTTP systems, and the names of headers with secrets.

use thiserror::Error;

/// The address of an HTTP system: `http[s]://HOST[:PORT][/BASE]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Host and port, to connect to and for the header `host`.
    pub address: String,
    /// The text before every path; empty, or `/...` without a slash at its end.
    pub base: String,
    /// True if it begins with `https`.
    pub is_encrypted: bool,
}

/// A text that is no such address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no address; write http://HOST:PORT or https://HOST:PORT/PATH")]
pub struct BadUrl(String);

impl std::str::FromStr for Url {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<Self, BadUrl> {
        let other = || BadUrl(text.to_owned());
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
        Ok(Self { address, base: base.trim_end_matches('/').to_owned(), is_encrypted })
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
