//! XML bodies, by the same mapping as JSON: an element is a member of the object around it, repeated elements are a
//! list, an attribute is a member called `@name`, and the text of an element that has attributes too is `#text`.
//!
//! Prefixes of namespaces are not part of names. XML has no numbers, truth values and lists of its own, so their types
//! say what a text or a single element is: see `FormReading`.

use serde_json::{Map, Value as Json};

use crate::codec::UnwritableMessage;

/// The depth of elements above which a body is not read. As deep as JSON is read; it bounds the stack.
const MAX_DEPTH: usize = 128;

/// The name of the text of an element that has attributes or elements too.
pub(in crate::codec) const TEXT: &str = "#text";

/// Returns the XML document `text` as an object with one member, the outermost element; `None` if it is no XML.
/// Documents with their own type definition are not read.
pub(super) fn read(text: &str) -> Option<Json> {
    let document = roxmltree::Document::parse(text).ok()?;
    let root = document.root_element();
    let content = content_of(root, 0)?;
    Some(Json::Object(Map::from_iter([(root.tag_name().name().to_owned(), content)])))
}

/// Returns the content of an element: its text alone, or an object.
fn content_of(element: roxmltree::Node<'_, '_>, depth: usize) -> Option<Json> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut members = Map::new();
    for attribute in element.attributes() {
        members.insert(format!("@{}", attribute.name()), Json::String(attribute.value().to_owned()));
    }
    let mut text = String::new();
    for child in element.children() {
        if child.is_text() {
            text.push_str(child.text().unwrap_or(""));
        } else if child.is_element() {
            add_member(&mut members, child.tag_name().name(), content_of(child, depth + 1)?);
        }
    }
    if members.is_empty() {
        return Some(Json::String(text));
    }
    // The space between elements says nothing.
    if !text.trim().is_empty() {
        members.insert(TEXT.to_owned(), Json::String(text));
    }
    Some(Json::Object(members))
}

/// Adds an element; the second of a name makes a list of them.
fn add_member(members: &mut Map<String, Json>, name: &str, content: Json) {
    match members.get_mut(name) {
        Some(Json::Array(all)) => all.push(content),
        Some(one) => *one = Json::Array(vec![one.take(), content]),
        None => drop(members.insert(name.to_owned(), content)),
    }
}

/// Writes the elements called `name` that `json` stands for: one, one for every item of a list, or none for `null`.
pub(super) fn write_element(name: &str, json: &Json, out: &mut String) -> Result<(), UnwritableMessage> {
    match json {
        Json::Null => return Ok(()),
        Json::Array(items) => return items.iter().try_for_each(|item| write_element(name, item, out)),
        _ => {}
    }
    check_name(name)?;
    out.push_str(&format!("<{name}"));
    let no_members = Map::new();
    let members = json.as_object().unwrap_or(&no_members);
    for (key, value) in members {
        if let Some(attribute) = key.strip_prefix('@').filter(|_| !value.is_null()) {
            check_name(attribute)?;
            out.push_str(&format!(" {attribute}=\"{}\"", escape_text(&text_of(value))?));
        }
    }
    out.push('>');
    if !json.is_object() {
        out.push_str(&escape_text(&text_of(json))?);
    }
    for (key, value) in members.iter().filter(|(key, _)| !key.starts_with('@')) {
        match key.as_str() {
            TEXT => out.push_str(&escape_text(&text_of(value))?),
            _ => write_element(key, value, out)?,
        }
    }
    out.push_str(&format!("</{name}>"));
    Ok(())
}

/// Returns `text` with the characters replaced that have a meaning in XML; some control characters have no place there.
pub(super) fn escape_text(text: &str) -> Result<String, UnwritableMessage> {
    let is_bad = |c: char| {
        c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{7f}'..='\u{9f}')
            || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    if text.contains(is_bad) {
        return Err(UnwritableMessage::Xml(text.to_owned()));
    }
    // A carriage return would be read as a newline.
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(escaped.replace('"', "&quot;").replace('\r', "&#13;"))
}

fn text_of(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn check_name(name: &str) -> Result<(), UnwritableMessage> {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_name = name.starts_with(is_start)
        && name.chars().all(|c| is_start(c) || c.is_numeric() || matches!(c, '-' | '.' | ':'));
    if is_name { Ok(()) } else { Err(UnwritableMessage::Xml(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_are_members() {
        let text = "<?xml version='1.0'?><o:order xmlns:o='urn:o' id='7'>\n <item>a &amp; b</item><item/>\n\
                    <note lang='en'>hi</note></o:order>";
        let expected = json!({ "order": { "@id": "7", "item": ["a & b", ""],
            "note": { "@lang": "en", "#text": "hi" } } });
        assert_eq!(read(text), Some(expected.clone()));
        let mut written = String::new();
        write_element("order", &expected["order"], &mut written).unwrap();
        assert_eq!(read(&written), Some(expected), "{written}");
    }

    #[test]
    fn what_xml_cannot_hold_is_refused() {
        for (name, json) in
            [("a", json!("\u{1}")), ("a b", json!("")), ("1", json!("")), ("a", json!({ "<": 1 }))]
        {
            assert!(write_element(name, &json, &mut String::new()).is_err(), "{name} {json}");
        }
        assert_eq!(read("<a>"), None);
        assert_eq!(read(&format!("{}{}", "<a>".repeat(1000), "</a>".repeat(1000))), None);
        assert_eq!(read("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"), None);
    }
}
