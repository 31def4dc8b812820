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
    let HttpRequestRecord { method, url, headers, body, socket, variables } = request;
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
    if let Some(path) = socket {
        line.push_str(&format!(" --unix-socket {}", quote_word(path, &[])));
    }
    line.push_str(&format!(" {}", quote_word(url, variables)));
    let form = body.as_deref().and_then(|body| read_form(headers, body));
    let is_own = |name: &str| form.is_some() && name == "content-type";
    for (name, value) in headers.iter().filter(|(name, _)| !is_own(name)) {
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
    if let Some(parts) = form {
        return parts.iter().fold(line, |line, part| part.add_to(line));
    }
    match body {
        Some(body) => line.push_str(&format!(" --data-raw {}", quote_word(body, &[]))),
        None if matches!(method.as_str(), "POST" | "PUT" | "PATCH") => line.push_str(" --data-raw ''"),
        None => (),
    }
    line
}

/// A part of a body of the type `multipart/form-data`.
struct FormPart<'b> {
    name: &'b str,
    content: &'b str,
    /// The content type of a file, or of a value that is no plain text.
    kind: Option<&'b str>,
    is_file: bool,
}

impl FormPart<'_> {
    /// Returns the line with this part; the content of a file comes from the standard input.
    fn add_to(&self, line: String) -> String {
        let FormPart { name, content, kind, is_file } = self;
        let kind = kind.map(|kind| format!(";type={kind}")).unwrap_or_default();
        if *is_file {
            let file = format!("{name}=@-;filename={name}{kind}");
            format!("printf %s {} | {line} -F {}", quote_word(content, &[]), quote_word(&file, &[]))
        } else if kind.is_empty() {
            format!("{line} --form-string {}", quote_word(&format!("{name}={content}"), &[]))
        } else {
            let quoted = content.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{line} -F {}", quote_word(&format!("{name}=\"{quoted}\"{kind}"), &[]))
        }
    }
}

/// Returns the parts of a body that `curl` can write by itself; `None` if it is no such body, or has several files:
/// only one of them can come from the standard input.
fn read_form<'b>(headers: &'b [(String, String)], body: &'b str) -> Option<Vec<FormPart<'b>>> {
    let (_, kind) = headers.iter().find(|(name, _)| name == "content-type")?;
    let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
    let (inner, _) = body.split_once(&format!("--{boundary}--"))?;
    let mut parts = Vec::new();
    for part in inner.split(&format!("--{boundary}\r\n")).filter(|part| !part.is_empty()) {
        let (head, content) = part.split_once("\r\n\r\n")?;
        let name = head.split_once("name=\"")?.1.split_once('"')?.0;
        parts.push(FormPart {
            name,
            content: content.strip_suffix("\r\n")?,
            kind: head.split_once("content-type: ").map(|(_, kind)| kind),
            is_file: head.contains("; filename="),
        });
    }
    // Signs with a meaning for curl in a name would need quotes of its own.
    let is_plain =
        |part: &FormPart<'_>| part.name.chars().all(|c| c.is_alphanumeric() || "_-.[]".contains(c));
    let is_simple = parts.iter().filter(|part| part.is_file).count() <= 1 && parts.iter().all(is_plain);
    (is_simple && !parts.is_empty()).then_some(parts)
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
    fn writes_the_parts_of_a_form() {
        let part = |head: &str, content: &str| {
            format!("--b\r\ncontent-disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        let text = part("name=\"title\"", "it's; \"a\"");
        let json = part("name=\"o\"\r\ncontent-type: application/json", "{\"k\":1}");
        let file = part("name=\"f\"; filename=\"f\"\r\ncontent-type: image/png", "x\r\ny");
        let line = |body: &str| {
            let mut sent = exchange("POST", "http://h:1/", Some(body), 204, "");
            sent.request.headers = vec![
                ("content-type".into(), "multipart/form-data; boundary=b".into()),
                ("x".into(), "1".into()),
            ];
            curl_lines(&[sent]).remove(0)
        };
        assert_eq!(
            line(&format!("{text}{json}{file}--b--\r\n")),
            "printf %s $'x\\r\\ny' | curl -X POST http://h:1/ -H 'x: 1' --form-string 'title=it'\\''s; \"a\"' \
             -F 'o=\"{\\\"k\\\":1}\";type=application/json' -F 'f=@-;filename=f;type=image/png'"
        );
        // Two files, or a body that is cut off, are sent as they are.
        for body in [format!("{file}{file}--b--\r\n"), text] {
            assert!(line(&body).contains("boundary=b' -H 'x: 1' --data-raw $'--b\\r\\n"), "{}", line(&body));
        }
    }

    #[test]
    fn of_many_requests_the_last_ones_are_shown() {
        let many = vec![exchange("GET", "http://h:1/", None, 204, ""); MAX_REQUESTS + 3];
        let lines = curl_lines(&many);
        assert_eq!(lines.len(), 2 * MAX_REQUESTS + 1);
        assert_eq!(lines[0], "# 3 earlier requests are left out");
    }
}
