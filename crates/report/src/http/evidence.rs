//! The requests that belong together with the last one of a run: those to the same item, and the one that made it.

use ioxide_record::event::HttpExchange;

use super::curl::curl_lines;
use super::difference::path_of;

/// The number of requests that are shown, the last one included. Chosen by feel: a contradiction needs two or three.
const MAX_SHOWN: usize = 5;

/// Returns the last request of a run and those before it that are about the same item, as lines of `curl`.
///
/// It is an extract for people: what is left out may have been needed.
#[must_use]
pub fn evidence_lines(exchanges: &[HttpExchange]) -> Vec<String> {
    let Some((last, before)) = exchanges.split_last() else { return Vec::new() };
    let path = path_of(&last.request.url);
    let mut shown: Vec<&HttpExchange> = vec![last];
    let mut has_look = false;
    for exchange in before.iter().rev() {
        let is_look = exchange.request.method == "GET";
        let is_related = if is_look {
            // Of several looks at the same place only the latest says something.
            !has_look && path_of(&exchange.request.url) == path
        } else {
            is_about(exchange, &path)
        };
        has_look = has_look || is_look && is_related;
        if is_related {
            shown.push(exchange);
        }
        if shown.len() == MAX_SHOWN {
            break;
        }
    }
    let shown: Vec<HttpExchange> = shown.into_iter().rev().cloned().collect();
    curl_lines(&shown)
}

/// Returns whether a request may have changed what is at `path`: it was sent there or below, or made it.
fn is_about(exchange: &HttpExchange, path: &str) -> bool {
    // What was refused changed nothing.
    let is_success = |status: u16| (200..300).contains(&status);
    let is_answered = exchange.response.as_ref().is_none_or(|response| is_success(response.status));
    if !is_answered {
        return false;
    }
    let own = path_of(&exchange.request.url);
    let own = own.trim_end_matches('/');
    let path = path.trim_end_matches('/');
    if own == path || own.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')) {
        return true;
    }
    let Some(rest) = path.strip_prefix(own).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let id = rest.split('/').next().unwrap_or_default();
    let Some(response) = &exchange.response else { return false };
    let is_end = |(name, value): &(String, String)| name == "location" && value.ends_with(&format!("/{id}"));
    let is_word = |at: usize| {
        let is_part = |letter: Option<char>| letter.is_some_and(|c| c.is_alphanumeric() || c == '-');
        !is_part(response.body[..at].chars().next_back())
            && !is_part(response.body[at + id.len()..].chars().next())
    };
    exchange.request.method != "DELETE"
        && (response.headers.iter().any(is_end)
            || response.body.match_indices(id).any(|(at, _)| !id.is_empty() && is_word(at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::story::samples::exchange;

    #[test]
    fn shows_what_made_and_changed_the_item() {
        let run = [
            exchange("POST", "http://h:1/books", Some("{}"), 201, "{\"id\": 58}"),
            exchange("POST", "http://h:1/books", Some("{}"), 201, "{\"id\": 5}"),
            exchange("GET", "http://h:1/books/58", None, 200, "{\"id\": 58}"),
            exchange("PUT", "http://h:1/books/5", Some("{}"), 200, "{\"id\": 5}"),
            exchange("DELETE", "http://h:1/books/58", None, 204, ""),
            exchange("GET", "http://h:1/books/58", None, 200, "{\"id\": 58}"),
        ];
        let requests = |run: &[HttpExchange]| -> Vec<String> {
            let lines = evidence_lines(run).into_iter().filter(|line| line.starts_with("curl"));
            lines.map(|line| line.replace(" --data-raw '{}'", "")).collect()
        };
        assert_eq!(
            requests(&run),
            [
                "curl -X POST http://h:1/books",
                "curl http://h:1/books/58",
                "curl -X DELETE http://h:1/books/58",
                "curl http://h:1/books/58",
            ]
        );
        let list = [&run[..5], &[exchange("GET", "http://h:1/books?x=1", None, 200, "[]")]].concat();
        assert_eq!(requests(&list).len(), 5);
        assert!(evidence_lines(&[]).is_empty());
    }
}
