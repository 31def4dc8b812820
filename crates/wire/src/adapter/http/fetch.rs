//! One request to an address, outside of any test: is it up, and what lies there.

use std::time::{Duration, Instant};

use super::exchange::{IdleConnection, PendingRequest};
use crate::adapter::tcp::TcpConnection;
use crate::adapter::tls::{Roots, Tls, TlsConfig};
use crate::adapter::{AdapterError, AwaitedPart, Interrupt, MessageLimits, RemoteConnection, StartProblem};
use crate::codec::http::Url;
use crate::codec::http::message::{AskedFor, HttpRequest, HttpResponse};

/// The number of redirections that are followed. Chosen by feel: browsers follow about twenty, and a test should
/// notice a loop sooner.
const MAX_REDIRECTS: usize = 5;

/// Returns the text at `url`; redirections are followed.
///
/// # Errors
/// If nothing listens there, the answer does not come within `limit`, or it is no success.
pub fn fetch(url: &str, limit: Duration, interrupt: Interrupt) -> Result<String, AdapterError> {
    let mut place = url.to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let response = fetch_url(&place, Roots::System, limit, interrupt)?;
        match (response.status, response.header("location")) {
            (300..=399, Some(to)) => place = resolve_redirect(&place, to),
            (200..=299, _) => return Ok(String::from_utf8_lossy(&response.body).into_owned()),
            (status, _) => {
                return Err(start_error(
                    &place,
                    StartProblem::NotReady(format!("it was answered with status {status}")),
                ));
            }
        }
    }
    Err(start_error(url, StartProblem::NotReady("it leads from one address to another".into())))
}

/// Returns whether a GET of `url` is answered with a status below 400 within two seconds; certificates are not checked.
pub(in crate::adapter) fn is_up(url: &str, interrupt: Interrupt) -> bool {
    let answer = fetch_url(url, Roots::Anybody, Duration::from_secs(2), interrupt);
    answer.is_ok_and(|response| response.status < 400)
}

fn fetch_url(
    url: &str,
    roots: Roots,
    limit: Duration,
    interrupt: Interrupt,
) -> Result<HttpResponse, AdapterError> {
    let request = HttpRequest { method: "GET".into(), ..HttpRequest::default() };
    ask_once(url, request, &TlsConfig { roots, ..TlsConfig::default() }, limit, interrupt)
}

/// Makes `request` at `url`, whose path it gets, and returns the answer; redirections are not followed.
pub(super) fn ask_once(
    url: &str,
    request: HttpRequest,
    tls: &TlsConfig,
    limit: Duration,
    interrupt: Interrupt,
) -> Result<HttpResponse, AdapterError> {
    let (place, query) = url.find('?').map_or((url, ""), |at| url.split_at(at));
    let address: Url =
        place.parse().map_err(|bad| start_error(url, StartProblem::Description(format!("{bad}"))))?;
    let tls = address.is_encrypted.then(|| Tls::new(tls));
    let tls = tls
        .transpose()
        .map_err(|problem| start_error(url, StartProblem::Description(problem.to_string())))?;
    let connection = RemoteConnection { limit, interrupt, tls, ..RemoteConnection::default() };
    let mut link = IdleConnection::new(TcpConnection::of_url(&address, &connection).channel()?);
    let without_socket = place.replacen(&address.origin(), "http://localhost", 1);
    let place = if address.socket.is_some() { &without_socket } else { place };
    let request = HttpRequest { path: path_of(place, query), ..request };
    link.write(&request.to_bytes(&address.address)).map_err(|error| start_error(url, (&error).into()))?;
    let mut asked = PendingRequest::new(link, AskedFor::Body, 0);
    let (deadline, limits) = (Instant::now() + limit, MessageLimits::new(limit, Some(limit)));
    while Instant::now() < deadline {
        interrupt.check()?;
        if let Some(response) = asked.read_answer(Interrupt::next_wait(deadline), limits)? {
            return Ok(response);
        }
    }
    Err(AdapterError::Late { awaited: AwaitedPart::Answer, limit })
}

/// Returns the path of an address with its query; a slash at its end is kept.
fn path_of(place: &str, query: &str) -> String {
    let path = place.splitn(4, '/').nth(3).unwrap_or_default();
    format!("/{path}{query}")
}

/// Returns the address that the `Location` header `to` names in an answer from `place` (RFC 3986, 5.2), without its
/// fragment.
fn resolve_redirect(place: &str, to: &str) -> String {
    let to = to.split('#').next().unwrap_or_default();
    if has_scheme(to) {
        return to.to_owned();
    }
    let (scheme, rest) = place.split_once("://").unwrap_or(("http", place));
    if to.starts_with("//") {
        return format!("{scheme}:{to}");
    }
    let (host, from) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    let (from_path, from_query) = parts_of(from);
    let (path, query) = parts_of(to);
    let path = match (path.starts_with('/'), path.is_empty()) {
        (true, _) => without_dots(path),
        (_, true) if query.is_empty() => format!("{from_path}{from_query}"),
        (_, true) => from_path.to_owned(),
        _ => {
            let folder = from_path.rfind('/').map_or("/", |at| &from_path[..=at]);
            without_dots(&format!("{folder}{path}"))
        }
    };
    format!("{scheme}://{host}{path}{query}")
}

/// Path and query, the latter with its mark.
fn parts_of(text: &str) -> (&str, &str) {
    text.find('?').map_or((text, ""), |at| text.split_at(at))
}

/// Returns whether the text begins with a scheme (RFC 3986, 3.1).
fn has_scheme(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
    })
}

/// Returns a path from the root without `.` and `..` (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    for (at, part) in parts.iter().enumerate() {
        match *part {
            "." | ".." => {
                if *part == ".." {
                    kept.pop();
                }
                // What ends with them is a folder.
                if at + 1 == parts.len() {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}", kept.join("/"))
}

fn start_error(what: &str, reason: StartProblem) -> AdapterError {
    AdapterError::Start { what: what.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_their_path_and_lead_elsewhere() {
        assert_eq!(path_of("http://a:1", ""), "/");
        assert_eq!(path_of("http://a:1/x/", "?y=1"), "/x/?y=1");
        assert_eq!(resolve_redirect("http://a:1/x/y", "/z"), "http://a:1/z");
        assert_eq!(resolve_redirect("http://a:1/x", "https://b/z"), "https://b/z");
        assert_eq!(
            resolve_redirect("http://a:1/x", "/login?next=http://b/z"),
            "http://a:1/login?next=http://b/z"
        );
        assert_eq!(resolve_redirect("http://a:1", "x"), "http://a:1/x");
        assert_eq!(resolve_redirect("http://a:1?to=/x/y", "z"), "http://a:1/z");
        assert_eq!(resolve_redirect("http://a:1/x/y?to=/u/v", "z#part"), "http://a:1/x/z");
    }

    /// RFC 3986, 5.4.1 and 5.4.2, without fragments, which are not asked for.
    #[test]
    fn the_examples_of_the_standard_hold() {
        let examples = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
        ];
        for (to, expected) in examples {
            assert_eq!(resolve_redirect("http://a/b/c/d;p?q", to), expected, "{to}");
        }
    }
}
