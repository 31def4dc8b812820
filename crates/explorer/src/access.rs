//! Access control: a request needs the right address, the right origin and the token.
//!
//! A page in the same browser can send requests to this machine, also under a name of its own that
//! it has pointed here (DNS rebinding). So a request must name the address that is served, must not come
//! from another page, and must know the token, which only the address printed at start has. The token
//! stands in the path: a cookie would go to every other port of this machine as well.

use std::net::{IpAddr, SocketAddr};

use crate::http::{ExplorerRequest, ExplorerResponse, HttpMethod};

/// The secret part of the address that the server prints at start.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// Returns the token for 128 random bits, in 32 hexadecimal digits.
    #[must_use]
    pub fn new(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// The token as it stands in the address.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether `text` is the token, in a time that does not depend on the number of characters that agree.
    fn matches(&self, text: &str) -> bool {
        let differences = self.0.bytes().zip(text.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == text.len() && differences == 0
    }
}

/// The check that admits requests to the server.
pub struct AccessGuard {
    address: SocketAddr,
    token: AccessToken,
}

impl AccessGuard {
    /// Returns a guard for the server at `address`.
    #[must_use]
    pub fn new(address: SocketAddr, token: AccessToken) -> Self {
        Self { address, token }
    }

    /// Returns the path behind the token of a request that is admitted.
    ///
    /// # Errors
    /// The response that refuses the request: 400 without a host, 403 for a wrong host, origin or token.
    pub fn admit<'r>(&self, request: &'r ExplorerRequest) -> Result<&'r str, ExplorerResponse> {
        let Some(host) = request.header("host") else {
            return Err(ExplorerResponse::refusal(400, "the request does not name its host"));
        };
        if !self.is_served_host(host) {
            return Err(ExplorerResponse::refusal(403, "this is not the address that is served here"));
        }
        if request.header("origin").is_some_and(|origin| origin != format!("http://{host}"))
            || !is_from_here(request)
        {
            return Err(ExplorerResponse::refusal(403, "requests of other pages are refused"));
        }
        let (token, path) = request.path[1..].split_once('/').unwrap_or((&request.path[1..], ""));
        if self.token.matches(token) {
            Ok(path)
        } else {
            Err(ExplorerResponse::refusal(403, "open the address that `ioxide explore` printed"))
        }
    }

    /// Returns whether `host` names the address that is served. Of names only `localhost` counts, since any other could
    /// belong to anybody; IP addresses are compared as they are.
    fn is_served_host(&self, host: &str) -> bool {
        let Some((name, port)) = host.rsplit_once(':') else { return false };
        if port.parse() != Ok(self.address.port()) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return self.address.ip().is_loopback() || self.address.ip().is_unspecified();
        }
        let number = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        match number.unwrap_or(name).parse::<IpAddr>() {
            Ok(ip) if ip.is_ipv6() != number.is_some() => false,
            Ok(ip) => ip == self.address.ip() || self.address.ip().is_unspecified(),
            Err(_) => false,
        }
    }
}

/// Returns whether the browser says that a request comes from this page, or from a person who opens a link.
fn is_from_here(request: &ExplorerRequest) -> bool {
    match request.header("sec-fetch-site") {
        None | Some("same-origin" | "none") => true,
        Some(_) => {
            let is = |name, value| request.header(name) == Some(value);
            request.method == HttpMethod::Get
                && is("sec-fetch-mode", "navigate")
                && is("sec-fetch-dest", "document")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0000000000000000000000000000002a";

    #[test]
    fn only_the_address_served_is_a_host() {
        for (host, here) in [
            ("127.0.0.1:7", true),
            ("localhost:7", true),
            ("LocalHost:7", true),
            ("127.0.0.1:8", false),
            ("127.0.0.1", false),
            ("evil.example:7", false),
            ("localhost.evil.example:7", false),
            ("127.0.0.1.nip.io:7", false),
            ("[::1]:7", false),
            ("127.0.0.1:+7", false),
            ("127.1:7", false),
            ("", false),
        ] {
            check(&format!("Host: {host}"), "", here);
        }
    }

    #[test]
    fn another_page_is_refused_and_a_link_is_not() {
        let host = "Host: 127.0.0.1:7";
        check(&format!("{host}\r\nOrigin: http://127.0.0.1:7"), "", true);
        check(&format!("{host}\r\nOrigin: http://localhost:7"), "", false);
        check(&format!("{host}\r\nOrigin: null"), "", false);
        check(&format!("{host}\r\nOrigin: https://evil.example"), "", false);
        check(&format!("{host}\r\nSec-Fetch-Site: cross-site"), "", false);
        check(&format!("{host}\r\nSec-Fetch-Site: same-site"), "", false);
        let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest:";
        check(&format!("{host}\r\n{link} document"), "", true);
        check(&format!("{host}\r\n{link} iframe"), "", false);
    }

    #[test]
    fn the_token_comes_first() {
        let host = "Host: 127.0.0.1:7";
        let whole = format!("/{HEX}");
        check(host, &whole, true);
        for path in ["/", "/2a/", "/0000000000000000000000000000002b/", "//", "/../", "/%2e%2e/"] {
            check(host, path, false);
        }
        check(host, &format!("/x/../{HEX}/"), false);
    }

    #[track_caller]
    fn check(headers: &str, path: &str, admitted: bool) {
        let path = if path.is_empty() { format!("/{HEX}/api") } else { path.to_owned() };
        let text = format!("GET {path} HTTP/1.1\r\n{headers}\r\n\r\n");
        let head = crate::http::read_head(&mut text.as_bytes()).expect("a request");
        let request = head.request();
        let guard = AccessGuard::new(([127, 0, 0, 1], 7).into(), AccessToken::new(42));
        assert_eq!(guard.admit(request).is_ok(), admitted, "{headers} {path}");
    }
}
