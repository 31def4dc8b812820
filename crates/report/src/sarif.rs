//! Findings in SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code hosts and editors show.
//!
//! Every code is a rule, listed once. A finding has its place, the places of its labels as related ones, and its fix if
//! there is one. Columns count Unicode characters, which `columnKind` says. Files are named relative to where the
//! command ran, as readers expect of files in a repository.

use ioxide_model::code::Code;
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{Sources, Span};
use serde_json::{Value as Json, json};

/// The bytes of a path that stand for themselves in a URI, besides letters and digits.
const PLAIN_URI_BYTES: &[u8] = b"-._~/";

/// Returns these findings as a log with one run of ioxide in this version.
#[must_use]
pub fn sarif_log(sources: &Sources, findings: &[&Diagnostic], version: &str) -> Json {
    let mut codes: Vec<Code> = findings.iter().map(|found| found.code).collect();
    codes.sort_by_key(|code| code.id());
    codes.dedup();
    let rules: Vec<Json> = codes
        .iter()
        .map(|code| {
            json!({
                "id": code.id(),
                "shortDescription": { "text": code.title() },
                "help": { "text": format!("`ioxide explain {}` explains it.", code.id()) },
            })
        })
        .collect();
    let results: Vec<Json> = findings.iter().map(|found| result_json(sources, found, &codes)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "ioxide", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result_json(sources: &Sources, found: &Diagnostic, codes: &[Code]) -> Json {
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    };
    let lines = std::iter::once(found.message.clone())
        .chain(found.notes.iter().map(|note| format!("note: {note}")))
        .chain(found.helps.iter().map(|help| format!("help: {help}")));
    let related: Vec<Json> = found
        .labels
        .iter()
        .map(|label| {
            json!({ "physicalLocation": location_json(sources, label.span), "message": { "text": label.text } })
        })
        .collect();
    let mut result = json!({
        "ruleId": found.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == found.code),
        "level": level,
        "message": { "text": lines.collect::<Vec<_>>().join("\n") },
        "locations": [{ "physicalLocation": location_json(sources, found.span) }],
        "relatedLocations": related,
    });
    if let Some(fix) = &found.fix {
        result["fixes"] = json!([{
            "description": { "text": "try this" },
            "artifactChanges": [{
                "artifactLocation": { "uri": file_uri(&sources.file(fix.span.file).name) },
                "replacements": [{
                    "deletedRegion": region_json(sources, fix.span),
                    "insertedContent": { "text": fix.replacement },
                }],
            }],
        }]);
    }
    result
}

fn location_json(sources: &Sources, span: Span) -> Json {
    json!({
        "artifactLocation": { "uri": file_uri(&sources.file(span.file).name) },
        "region": region_json(sources, span),
    })
}

fn region_json(sources: &Sources, span: Span) -> Json {
    let start = sources.line_column(span);
    let end = sources.line_column(Span { start: span.end, ..span });
    json!({
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    })
}

/// Returns the path of a file as a reference of a URI: relative, or of this machine if it begins with `/`.
fn file_uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN_URI_BYTES.contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_files_by_uris() {
        assert_eq!(file_uri("models/a b.iox"), "models/a%20b.iox");
        assert_eq!(file_uri("/tmp/ä%.iox"), "file:///tmp/%C3%A4%25.iox");
    }

    #[test]
    fn every_result_names_its_rule_and_its_place() {
        let mut sources = Sources::new();
        let file = sources.add("m.iox", "model M {\n  input äx\n}\n");
        let [first, second] = [Code::ALL[0], Code::ALL[1]];
        let span = Span::new(file, 18, 21);
        let early =
            Diagnostic::new(second, span, "wrong").label(Span::new(file, 0, 5), "here").fix(span, "y");
        let late = Diagnostic::new(first, span, "also wrong").help("mend it");
        let log = sarif_log(&sources, &[&early, &late, &early], "9.9");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
        for result in run["results"].as_array().unwrap() {
            let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][at]["id"], result["ruleId"]);
            let region = &result["locations"][0]["physicalLocation"]["region"];
            assert_eq!(*region, json!({ "startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 11 }));
        }
        assert_eq!(
            run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
            "y"
        );
        assert_eq!(run["results"][1]["message"]["text"], "also wrong\nhelp: mend it");
    }
}
