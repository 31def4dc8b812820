//! One request to an address, outside of any test: is it up, and what lies there.

use std::time::{Duration, Instant};

use super::exchange::{IdleConnection, PendingRequest};
use crate::adapter::tcp::TcpConnection;
use crate::adapter::tls::{Roots, Tls, TlsConfig};
use crate::adapter::{AdapterError, Interrupt, RemoteConnection};
use crate::codec::http::Url;
use crate::codec::http::message::{AskedFor, HttpRequest, HttpResponse};

/// The number of redirections that are followed.
const MAX_REDIRECTS: usize = 5;

/// Returns the text at `url`; redirections are followed.
///
/// # Errors
/// If nobody is there, it does not come within `limit`, or the answer is no success.
pub fn fetch(url: &str, limit: Duration, interrupt: Interrupt) -> Result<String, AdapterError> {
    let mut place = url.to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let response = get(&place, Roots::System, limit, interrupt)?;
        match (response.status, response.header("location")) {
            (300..=399, Some(to)) => place = redirected(&place, to),
            (200..=299, _) => return Ok(String::from_utf8_lossy(&response.body).into_owned()),
            (status, _) => return Err(cannot(&place, &format!("it was answered with status {status}"))),
        }
    }
    Err(cannot(url, "it leads from one address to another"))
}

/// Returns whether a GET of `url` is answered with a status below 400 within two seconds; certificates are not checked.
pub(in crate::adapter) fn is_up(url: &str, interrupt: Interrupt) -> bool {
    let answer = get(url, Roots::Anybody, Duration::from_secs(2), interrupt);
    answer.is_ok_and(|response| response.status < 400)
}

/// Asks once.
fn get(url: &str, roots: Roots, limit: Duration, interrupt: Interrupt) -> Result<HttpResponse, AdapterError> {
    let (place, query) = url.find('?').map_or((url, ""), |at| url.split_at(at));
    let address: Url = place.parse().map_err(|bad| cannot(url, &format!("{bad}")))?;
    let tls = address.is_encrypted.then(|| Tls::new(&TlsConfig { roots, ..TlsConfig::default() }));
    let tls = tls.transpose().map_err(|problem| cannot(url, &problem.to_string()))?;
    let connection = RemoteConnection { limit, interrupt, tls, ..RemoteConnection::default() };
    let mut link = IdleConnection::new(TcpConnection::new(&address.address, &connection).channel()?);
    let request = HttpRequest { method: "GET".into(), path: path_of(place, query), ..HttpRequest::default() };
    link.write(&request.to_bytes(&address.address)).map_err(|error| cannot(url, &error.to_string()))?;
    let mut asked = PendingRequest::new(link, AskedFor::Body, 0);
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        interrupt.check()?;
        if let Some(response) = asked.read_answer(Interrupt::slice(deadline), limit)? {
            return Ok(response);
        }
    }
    Err(AdapterError::Late { awaited: "answer", limit })
}

/// Returns the path of an address with its query; a slash at its end is kept.
fn path_of(place: &str, query: &str) -> String {
    let path = place.splitn(4, '/').nth(3).unwrap_or_default();
    format!("/{path}{query}")
}

/// Returns the address that the `Location` header `to` names in an answer from `place`; a path is taken from the root
/// of the server.
fn redirected(place: &str, to: &str) -> String {
    if to.contains("://") {
        return to.to_owned();
    }
    let origin: Vec<&str> = place.splitn(4, '/').take(3).collect();
    format!("{}/{}", origin.join("/"), to.trim_start_matches('/'))
}

fn cannot(what: &str, reason: &str) -> AdapterError {
    AdapterError::Start { what: what.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_path_and_lead_elsewhere() {
        assert_eq!(path_of("http://a:1", ""), "/");
        assert_eq!(path_of("http://a:1/x/", "?y=1"), "/x/?y=1");
        assert_eq!(redirected("http://a:1/x/y", "/z"), "http://a:1/z");
        assert_eq!(redirected("http://a:1/x", "https://b/z"), "https://b/z");
    }
}
