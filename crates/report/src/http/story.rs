//! A failure in the words of HTTP: the request, what had to be answered, what was, and how to do it again.

use ioxide_record::event::{Explanation, HttpExchange, HttpResponseRecord, OperationRecord};

use super::curl::curl_lines;
use super::difference::{difference_lines, path_of};
use crate::control_characters::excerpt;

/// The number of characters of a body in the first line. Chosen by eye.
const MAX_BODY: usize = 80;
/// The number of characters of the last answer. Chosen by feel, for a few lines.
const MAX_ANSWER: usize = 600;
/// The number of characters of a text in a line. Chosen by feel, for a few lines.
const MAX_TEXT: usize = 300;
/// The number of headers of an answer that are shown. Chosen by feel: more is not read.
const MAX_HEADERS: usize = 8;
/// Headers that say nothing about a failure.
const DULL_HEADERS: [&str; 7] =
    ["date", "server", "connection", "keep-alive", "content-length", "x-powered-by", "transfer-encoding"];

/// A failing run of a system that is asked by HTTP.
#[derive(Clone, Copy, Debug)]
pub struct HttpFailure<'f> {
    /// The operations of the system.
    pub operations: &'f [OperationRecord],
    /// The requests of the run; the last one is the failure.
    pub exchanges: &'f [HttpExchange],
    /// The observation, and what was allowed in its place.
    pub explanation: Option<&'f Explanation>,
    /// True if the system broke down, or its answer could not be read.
    pub is_breakdown: bool,
}

/// Returns the lines of a failure, without indentation: first what is wrong, then the answer, then the run as lines of
/// `curl`. Empty if the run has no request.
#[must_use]
pub fn describe_failure(failure: &HttpFailure<'_>) -> Vec<String> {
    let Some(last) = failure.exchanges.iter().rev().find(|exchange| exchange.input.is_some()) else {
        return Vec::new();
    };
    let operation = operation_of(failure.operations, last);
    let mut lines = vec![headline(failure, last, operation)];
    if let (true, Some(explanation), Some(_)) = (failure.is_breakdown, failure.explanation, &last.response) {
        lines.push(format!("  problem   {}", excerpt(&explanation.observed, MAX_TEXT)));
    }
    lines.extend(last.response.iter().flat_map(answer_lines));
    let differences = difference_lines(failure.exchanges);
    lines.extend(differences.iter().map(|line| format!("  differs   {line}")));
    if !failure.is_breakdown {
        lines.extend(rule_lines(failure, last, operation, differences.is_empty()));
    }
    lines.extend(
        operation
            .and_then(|it| it.pointer.as_ref())
            .map(|at| format!("  described {}", excerpt(at, MAX_TEXT))),
    );
    lines.push("  the run, as lines of curl:".into());
    lines.extend(curl_lines(failure.exchanges).into_iter().map(|line| format!("    {line}")));
    lines
}

fn operation_of<'o>(
    operations: &'o [OperationRecord],
    exchange: &HttpExchange,
) -> Option<&'o OperationRecord> {
    let input = exchange.input.as_ref()?;
    operations.iter().find(|operation| operation.inputs.contains(input))
}

/// Returns the request, what had to be answered, and what was.
fn headline(failure: &HttpFailure<'_>, last: &HttpExchange, operation: Option<&OperationRecord>) -> String {
    let asked = request_text(last);
    let Some(response) = &last.response else {
        return match failure.explanation.filter(|_| failure.is_breakdown) {
            Some(explanation) => {
                format!("{asked} was not answered: {}", excerpt(&explanation.observed, MAX_TEXT))
            }
            None => format!("{asked} was not answered"),
        };
    };
    let status = response.status;
    if failure.is_breakdown {
        let documented = operation.map(documented_statuses).unwrap_or_default();
        let is_known = documented.iter().any(|known| covers(known, status)) || documented.is_empty();
        return if is_known {
            format!("{asked} answered {status}, but not as it is described")
        } else {
            format!("{asked} answered {status}, which is not described ({} is)", join_or(&documented))
        };
    }
    let allowed = allowed_statuses(failure);
    match &allowed[..] {
        [] => format!("{asked} answered {status}"),
        allowed if allowed.iter().any(|known| covers(known, status)) => {
            format!("{asked} answered {status}, but with wrong content")
        }
        allowed if allowed.iter().all(|known| known.starts_with('4')) => {
            format!("{asked} must be refused ({}); answered {status}", join_or(allowed))
        }
        allowed => format!("{asked} must be answered with {}; answered {status}", join_or(allowed)),
    }
}

/// Returns method, path and body of a request.
fn request_text(exchange: &HttpExchange) -> String {
    let request = &exchange.request;
    let path = path_of(&request.url);
    let query = request.url.split_once('?').map(|(_, query)| format!("?{query}")).unwrap_or_default();
    let body = match request.body.as_deref() {
        None | Some("") => String::new(),
        Some(body) => format!(" with body {}", excerpt(body, MAX_BODY)),
    };
    format!("{} {}{body}", request.method, excerpt(&format!("{path}{query}"), MAX_TEXT))
}

/// Returns the statuses that the model allowed in the place of the answer, each once, in order.
fn allowed_statuses(failure: &HttpFailure<'_>) -> Vec<String> {
    let allowed = failure.explanation.map(|explanation| &explanation.allowed[..]).unwrap_or_default();
    let switches = allowed.iter().filter_map(|allowed| allowed.switch.as_deref());
    let mut found: Vec<String> =
        switches.flat_map(|switch| statuses_of_switch(failure.operations, switch)).collect();
    found.sort();
    found.dedup();
    found
}

fn statuses_of_switch(operations: &[OperationRecord], switch: &str) -> Vec<String> {
    let message = operations.iter().find_map(|operation| {
        let (_, message) = operation.switches.iter().find(|(other, _)| other == switch)?;
        let (_, statuses) = operation.outputs.iter().find(|(output, _)| output == message)?;
        Some(statuses.clone())
    });
    match message {
        Some(statuses) if statuses.is_empty() => vec!["another status".to_owned()],
        Some(statuses) => statuses,
        None => Vec::new(),
    }
}

fn documented_statuses(operation: &OperationRecord) -> Vec<String> {
    let mut found: Vec<String> =
        operation.outputs.iter().flat_map(|(_, statuses)| statuses.clone()).collect();
    // An answer with any status is one more than can be listed.
    if operation.outputs.iter().any(|(_, statuses)| statuses.is_empty()) {
        return Vec::new();
    }
    found.sort();
    found.dedup();
    found
}

/// Returns whether `known`, such as `200` or `4xx`, covers a status.
fn covers(known: &str, status: u16) -> bool {
    let status = status.to_string();
    match known.strip_suffix("xx") {
        Some(hundreds) => status.starts_with(hundreds),
        None => *known == status,
    }
}

fn join_or(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

/// Returns status, headers and body of the answer.
fn answer_lines(response: &HttpResponseRecord) -> Vec<String> {
    let headers = response.headers.iter().filter(|(name, _)| !DULL_HEADERS.contains(&name.as_str()));
    let headers: Vec<String> = headers
        .take(MAX_HEADERS)
        .map(|(name, value)| format!("{name}: {}", excerpt(value, MAX_BODY)))
        .collect();
    let first = format!("{}  {}", response.status, headers.join("; "));
    let mut lines = vec![format!("  answer    {}", first.trim_end())];
    if !response.body.trim().is_empty() {
        lines.push(format!("            {}", excerpt(response.body.trim(), MAX_ANSWER)));
    }
    lines
}

/// Returns the rules that the answer breaks: those about answers with its status, by their documentation.
fn rule_lines(
    failure: &HttpFailure<'_>,
    last: &HttpExchange,
    operation: Option<&OperationRecord>,
    needs_condition: bool,
) -> Vec<String> {
    let (Some(explanation), Some(operation), Some(response)) =
        (failure.explanation, operation, &last.response)
    else {
        return Vec::new();
    };
    let is_own = |switch: &str| {
        let statuses = statuses_of_switch(std::slice::from_ref(operation), switch);
        statuses.iter().any(|known| covers(known, response.status))
    };
    let allowed = |switch: &str| explanation.allowed.iter().any(|it| it.switch.as_deref() == Some(switch));
    let mut lines: Vec<String> = Vec::new();
    // A rule about another request would be allowed nowhere here.
    for why in explanation
        .why_not
        .iter()
        .filter(|why| is_own(&why.switch) && (allowed(&why.switch) || !why.doc.is_empty()))
    {
        let doc = why.doc.trim();
        if !doc.is_empty() {
            lines.push(format!("  rule      {}", excerpt(doc, MAX_TEXT)));
        }
        if needs_condition && allowed(&why.switch) {
            lines.push(format!("  why not   {}", excerpt(&why.reason, MAX_TEXT)));
        }
    }
    lines.dedup();
    lines
}

#[cfg(test)]
pub(super) mod samples {
    use ioxide_record::event::HttpRequestRecord;

    use super::*;

    /// A request of the input `i` that was answered.
    pub(in crate::http) fn exchange(
        method: &str,
        url: &str,
        body: Option<&str>,
        status: u16,
        answer: &str,
    ) -> HttpExchange {
        HttpExchange {
            input: Some("i".into()),
            request: HttpRequestRecord {
                method: method.into(),
                url: url.into(),
                headers: Vec::new(),
                body: body.map(str::to_owned),
                socket: None,
                variables: Vec::new(),
            },
            response: Some(HttpResponseRecord {
                status,
                headers: vec![("content-type".into(), "application/json".into())],
                body: answer.into(),
            }),
            times: None,
        }
    }

    /// `POST /loan` of the input `i`, answered 200 or 4xx.
    pub(in crate::http) fn operation() -> OperationRecord {
        OperationRecord {
            operation: "POST /loan".into(),
            pointer: Some("api.json#/paths/~1loan/post".into()),
            inputs: vec!["i".into()],
            outputs: vec![("ok".into(), vec!["200".into()]), ("no".into(), vec!["4xx".into()])],
            switches: vec![
                ("ask".into(), "i".into()),
                ("s_ok".into(), "ok".into()),
                ("s_no".into(), "no".into()),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use ioxide_record::event::{Allowed, WhyNot};

    use super::samples::{exchange, operation};
    use super::*;

    fn explanation(allowed: &[&str], why_not: &[(&str, &str)]) -> Explanation {
        Explanation {
            observed: "!x".into(),
            allowed: allowed
                .iter()
                .map(|switch| Allowed {
                    label: "!y".into(),
                    switch: Some((*switch).into()),
                    differences: Vec::new(),
                })
                .collect(),
            states: Vec::new(),
            n_states: 1,
            why_not: why_not
                .iter()
                .map(|(switch, doc)| WhyNot {
                    state: 0,
                    switch: (*switch).into(),
                    reason: "`c` does not hold".into(),
                    doc: (*doc).into(),
                })
                .collect(),
            orders: None,
        }
    }

    fn describe(exchange: &HttpExchange, told: &Explanation, is_breakdown: bool) -> Vec<String> {
        describe_failure(&HttpFailure {
            operations: &[operation()],
            exchanges: std::slice::from_ref(exchange),
            explanation: Some(told),
            is_breakdown,
        })
    }

    #[test]
    fn a_request_that_must_be_refused_is_told_in_the_words_of_http() {
        let asked = exchange("POST", "http://h:1/loan?x=1", Some("[]"), 200, "{\"a\": 1}");
        let lines = describe(&asked, &explanation(&["s_no"], &[("s_ok", "")]), false);
        assert_eq!(
            lines,
            [
                "POST /loan?x=1 with body [] must be refused (4xx); answered 200",
                "  answer    200  content-type: application/json",
                "            {\"a\": 1}",
                "  described api.json#/paths/~1loan/post",
                "  the run, as lines of curl:",
                "    curl -X POST 'http://h:1/loan?x=1' --data-raw '[]'",
                "    # 200 {\"a\": 1}",
            ]
        );
    }

    #[test]
    fn the_first_line_says_what_had_to_be_answered() {
        let first = |status, allowed: &[&str], is_breakdown| {
            let asked = exchange("POST", "http://h:1/loan", None, status, "");
            describe(&asked, &explanation(allowed, &[]), is_breakdown).remove(0)
        };
        assert_eq!(first(404, &["s_ok"], false), "POST /loan must be answered with 200; answered 404");
        assert_eq!(first(200, &["s_ok", "s_no"], false), "POST /loan answered 200, but with wrong content");
        assert_eq!(first(500, &[], true), "POST /loan answered 500, which is not described (200 or 4xx is)");
        assert_eq!(first(404, &[], true), "POST /loan answered 404, but not as it is described");
        let silent = HttpExchange { response: None, ..exchange("GET", "http://h:1/a", None, 200, "") };
        assert_eq!(describe(&silent, &explanation(&[], &[]), false)[0], "GET /a was not answered");
        assert!(describe(&HttpExchange { input: None, ..silent }, &explanation(&[], &[]), false).is_empty());
    }

    #[test]
    fn a_broken_rule_is_told_by_its_documentation() {
        let asked = exchange("POST", "http://h:1/loan", None, 200, "");
        let lines =
            describe(&asked, &explanation(&["s_ok"], &[("s_ok", "Only once.\n"), ("s_no", "Other.")]), false);
        assert!(lines.contains(&"  rule      Only once. ".trim_end().to_owned()), "{lines:?}");
        assert!(lines.contains(&"  why not   `c` does not hold".to_owned()), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("Other")), "{lines:?}");
    }
}
