//! The requests of a run as lines of `curl`, with the values of that run.

use ioxide_record::event::{HttpExchange, HttpRequestRecord};

use super::quote::quote_word;
use crate::control_characters::excerpt;

/// The number of requests that are written; of more, the last ones are. Chosen by feel, for one screen.
const MAX_REQUESTS: usize = 20;
/// The number of characters of an answer. Chosen by feel, for one line of a wide screen.
const MAX_ANSWER: usize = 160;
/// The prefix of the credentials of basic authentication (RFC 7617).
const BASIC: &str = "Basic ";

/// Returns a line for every request, and below it what was answered, as a comment of the shell.
#[must_use]
pub fn curl_lines(exchanges: &[HttpExchange]) -> Vec<String> {
    let hidden = exchanges.len().saturating_sub(MAX_REQUESTS);
    let mut lines = Vec::new();
    if hidden > 0 {
        lines.push(format!("# {hidden} earlier requests are left out"));
    }
    for exchange in &exchanges[hidden..] {
        lines.push(request_line(&exchange.request));
        lines.push(match &exchange.response {
            Some(response) if response.body.trim().is_empty() => format!("# {}", response.status),
            Some(response) => format!("# {} {}", response.status, excerpt(response.body.trim(), MAX_ANSWER)),
            None => "# no answer".to_owned(),
        });
    }
    lines
}

fn request_line(request: &HttpRequestRecord) -> String {
    let HttpRequestRecord { method, url, headers, body, variables } = request;
    let mut line = match method.as_str() {
        "GET" if body.is_none() => "curl".to_owned(),
        // With `-X HEAD` curl would wait for a body.
        "HEAD" => "curl --head".to_owned(),
        method => format!("curl -X {}", quote_word(method, &[])),
    };
    // Brackets and dots of the path are meant as they are written.
    if url.contains(['[', ']', '{', '}']) {
        line.push_str(" -g");
    }
    if url.contains("/.") {
        line.push_str(" --path-as-is");
    }
    line.push_str(&format!(" {}", quote_word(url, variables)));
    for (name, value) in headers {
        let basic = value.strip_prefix(BASIC).filter(|_| name == "authorization");
        let both =
            basic.and_then(|rest| rest.strip_prefix("${")?.strip_suffix('}')).filter(|n| n.contains(':'));
        match both {
            Some(_) => line.push_str(&format!(" -u {}", quote_word(&value[BASIC.len()..], variables))),
            // An empty header is written with a semicolon: after a colon curl would leave it out.
            None if value.is_empty() => {
                line.push_str(&format!(" -H {}", quote_word(&format!("{name};"), &[])))
            }
            None => line.push_str(&format!(" -H {}", quote_word(&format!("{name}: {value}"), variables))),
        }
    }
    match body {
        Some(body) => line.push_str(&format!(" --data-raw {}", quote_word(body, &[]))),
        None if matches!(method.as_str(), "POST" | "PUT" | "PATCH") => line.push_str(" --data-raw ''"),
        None => (),
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::story::samples::exchange;

    #[test]
    fn a_request_is_one_line_with_variables_for_secrets() {
        let mut sent = exchange("POST", "http://h:1/a?key=${KEY}", Some("{\"a\": \"it's\"}"), 201, "{}\n");
        sent.request.variables = vec!["KEY".into(), "U:P".into()];
        sent.request.headers = vec![
            ("content-type".into(), "application/json".into()),
            ("authorization".into(), "Basic ${U:P}".into()),
            ("x".into(), String::new()),
        ];
        assert_eq!(
            curl_lines(&[sent]),
            [
                "curl -X POST -g 'http://h:1/a?key='\"$KEY\" -H 'content-type: application/json' -u \"$U:$P\" \
                 -H 'x;' --data-raw '{\"a\": \"it'\\''s\"}'",
                "# 201 {}"
            ]
        );
        let silent = HttpExchange { response: None, ..exchange("GET", "http://h:1/", None, 200, "") };
        assert_eq!(curl_lines(&[silent]), ["curl http://h:1/", "# no answer"]);
    }

    #[test]
    fn of_many_requests_the_last_ones_are_shown() {
        let many = vec![exchange("GET", "http://h:1/", None, 204, ""); MAX_REQUESTS + 3];
        let lines = curl_lines(&many);
        assert_eq!(lines.len(), 2 * MAX_REQUESTS + 1);
        assert_eq!(lines[0], "# 3 earlier requests are left out");
    }
}
