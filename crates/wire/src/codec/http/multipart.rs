//! Bodies of the type `multipart/form-data` (RFC 7578): a part for every member, files with a name and a content type.

use serde_json::{Map, Value as Json};

use super::capture::text_of;

/// The content type of such bodies.
pub(super) const MULTIPART: &str = "multipart/form-data";

/// Returns the members of an object as a body: a list is several parts of one name, an object is a part in JSON, and
/// `null` is left out. `files` are the members that are files, with their content types.
pub(super) fn write_form(members: &Map<String, Json>, files: &[(String, String)]) -> String {
    let mut parts = Vec::new();
    for (name, member) in members {
        let all = member.as_array().cloned().unwrap_or_else(|| vec![member.clone()]);
        let file = files.iter().find(|(other, _)| other == name);
        for one in all.iter().filter(|one| !one.is_null()) {
            let quoted = quote_name(name);
            let head = match file {
                Some((_, kind)) => {
                    format!("name=\"{quoted}\"; filename=\"{quoted}\"\r\ncontent-type: {kind}")
                }
                None if one.is_object() || one.is_array() => {
                    format!("name=\"{quoted}\"\r\ncontent-type: application/json")
                }
                None => format!("name=\"{quoted}\""),
            };
            parts.push(format!("content-disposition: form-data; {head}\r\n\r\n{}\r\n", text_of(one)));
        }
    }
    let boundary = choose_boundary(&parts);
    let parts: String = parts.iter().map(|part| format!("--{boundary}\r\n{part}")).collect();
    format!("{parts}--{boundary}--\r\n")
}

/// Returns the content type of a body with its boundary, which is the first line of the body.
pub(super) fn content_type(body: &str) -> String {
    let line = body.lines().next().unwrap_or_default();
    let boundary = line.strip_prefix("--").unwrap_or(line);
    // A body without parts is only its end.
    let boundary = if body.lines().nth(1).is_none() { boundary.trim_end_matches("--") } else { boundary };
    format!("{MULTIPART}; boundary={boundary}")
}

/// Returns a boundary that is in no part; the same parts have the same one.
fn choose_boundary(parts: &[String]) -> String {
    let mut number = 1;
    loop {
        let boundary = format!("ioxide-part-{number}");
        if !parts.iter().any(|part| part.contains(&boundary)) {
            return boundary;
        }
        number += 1;
    }
}

/// Returns a name as it stands between quotes, as browsers write it.
fn quote_name(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_a_part_for_every_value() {
        let body = json!({"a": "x\r\ny", "n": 3, "no": null, "tags": ["p", "q"], "o": {"k": 1}, "f": "ioxide-part-1"});
        let files = [("f".to_owned(), "image/png".to_owned())];
        let text = write_form(body.as_object().unwrap(), &files);
        assert_eq!(content_type(&text), "multipart/form-data; boundary=ioxide-part-2");
        let part = |head: &str, value: &str| {
            format!("--ioxide-part-2\r\ncontent-disposition: form-data; {head}\r\n\r\n{value}\r\n")
        };
        let parts = [
            part("name=\"a\"", "x\r\ny"),
            part("name=\"f\"; filename=\"f\"\r\ncontent-type: image/png", "ioxide-part-1"),
            part("name=\"n\"", "3"),
            part("name=\"o\"\r\ncontent-type: application/json", "{\"k\":1}"),
            part("name=\"tags\"", "p"),
            part("name=\"tags\"", "q"),
        ];
        assert_eq!(text.matches("--ioxide-part-2").count(), parts.len() + 1);
        for part in parts {
            assert!(text.contains(&part), "{part}\nis not in\n{text}");
        }
        assert!(text.ends_with("\r\n--ioxide-part-2--\r\n"), "{text}");
        assert_eq!(quote_name("a\"b\r\n"), "a%22b%0D%0A");
    }

    #[test]
    fn writes_the_end_of_a_form_without_parts() {
        let text = write_form(&Map::new(), &[]);
        assert_eq!(content_type(&text), "multipart/form-data; boundary=ioxide-part-1");
        assert_eq!(text, "--ioxide-part-1--\r\n");
    }
}
