//! Histories written: our own lines, and EDN for other tools.

use std::fmt::Write as _;

use ioxide_model::label::Label;
use serde_json::{Map, Value as Json, json};

use crate::history::{ClientOperation, History};
use crate::read::{FORMAT_KEY, FORMAT_VERSION, HistoryMapping, MessageMapping};

/// Returns the name of a message and its fields in JSON.
pub type MessageWriter<'a> = &'a dyn Fn(&Label) -> (String, Map<String, Json>);

/// An event of an operation.
enum WrittenEvent<'h> {
    Call(&'h ClientOperation),
    Answer(&'h ClientOperation, &'h Label),
}

/// Returns the calls and returns in their order, with their instants.
fn list_events(history: &History) -> Vec<(u32, Option<u64>, WrittenEvent<'_>)> {
    let mut events = Vec::new();
    for operation in &history.operations {
        events.push((operation.call, operation.called_ns, WrittenEvent::Call(operation)));
        if let Some(answer) = &operation.answer {
            events.push((answer.ret, answer.returned_ns, WrittenEvent::Answer(operation, &answer.output)));
        }
    }
    // Calls and returns have positions of their own among all events, so this restores the order in which they
    // came.
    events.sort_by_key(|event| event.0);
    events
}

/// Returns the history in our own format.
#[must_use]
pub fn write_lines(history: &History, write_message: MessageWriter<'_>) -> String {
    let mut text = json!({ FORMAT_KEY: FORMAT_VERSION }).to_string();
    for fault in &history.faults {
        let line = json!({ "fault": &*fault.name, "from": fault.from_ns, "to": fault.to_ns });
        text.push('\n');
        text.push_str(&line.to_string());
    }
    for (_, ns, event) in list_events(history) {
        let (operation, key, label) = match event {
            WrittenEvent::Call(operation) => (operation, "call", &operation.input),
            WrittenEvent::Answer(operation, output) => (operation, "return", output),
        };
        let (name, args) = write_message(label);
        let mut line = Map::new();
        line.insert("client".to_owned(), json!(&*history.clients[operation.client as usize]));
        line.insert(key.to_owned(), json!(name));
        if !args.is_empty() {
            line.insert("args".to_owned(), Json::Object(args));
        }
        // Histories that were not recorded with a clock have no instants.
        line.extend(ns.map(|ns| ("at".to_owned(), json!(ns))));
        text.push('\n');
        text.push_str(&Json::Object(line).to_string());
    }
    text.push('\n');
    text
}

/// Returns the history in EDN, as Jepsen writes it: one map per event. Operations in `mapping` get the names and the
/// form that they have there; for others `:f` is the name of the input and `:value` a map of the fields.
#[must_use]
pub fn write_edn(history: &History, mapping: &HistoryMapping, write_message: MessageWriter<'_>) -> String {
    let mut text = String::new();
    // Processes are numbers. If one client has another name, all get new numbers, so that no two are the same.
    let are_numbers = history.clients.iter().all(|client| client.parse::<u64>().is_ok());
    for (_, ns, event) in list_events(history) {
        let (operation, output) = match event {
            WrittenEvent::Call(operation) => (operation, None),
            WrittenEvent::Answer(operation, output) => (operation, Some(output)),
        };
        let call = write_message(&operation.input);
        // The mapping is from operations to messages; here it is read backwards, by the message of the call.
        let known = mapping.operations.iter().find(|(_, known)| known.call.label == call.0);
        let name = known.map_or(call.0.as_str(), |(name, _)| name.as_str());
        let answer = output.map(write_message);
        let (kind, message) = match (&answer, known) {
            (None, _) => ("invoke", known.map(|(_, known)| &known.call)),
            (Some((label, _)), Some((_, known))) => match &known.fail {
                Some(fail) if fail.label == *label => ("fail", Some(fail)),
                _ => ("ok", Some(&known.ok)),
            },
            (Some(_), None) => ("ok", None),
        };
        // An answer without fields repeats what was asked for, as Jepsen's checkers expect.
        let mut fields = Map::new();
        place_fields(&mut fields, known.map(|(_, known)| &known.call), &call.1);
        if let Some((_, args)) = answer.as_ref().filter(|(_, args)| !args.is_empty()) {
            // The answer's own fields replace the value of the call; other keys that the mapping fills stay.
            fields.remove("value");
            place_fields(&mut fields, message, args);
        }
        // Jepsen's events always have a value.
        fields.entry("value").or_insert(Json::Null);
        let client = &history.clients[operation.client as usize];
        let process = if are_numbers { client.to_string() } else { operation.client.to_string() };
        let _ = write!(text, "{{:process {process}, :type :{kind}, :f {}", write_keyword(name));
        for (key, value) in &fields {
            let _ = write!(text, ", {} ", write_keyword(key));
            push_edn(&mut text, value);
        }
        if let Some(ns) = ns {
            let _ = write!(text, ", :time {ns}");
        }
        text.push_str("}\n");
    }
    text
}

/// Puts the fields of a message where the mapping has them, or all into a map under `value`.
fn place_fields(fields: &mut Map<String, Json>, mapping: Option<&MessageMapping>, args: &Map<String, Json>) {
    let Some(mapping) = mapping else {
        if !args.is_empty() {
            fields.insert("value".to_owned(), Json::Object(args.clone()));
        }
        return;
    };
    for (field, path) in &mapping.args {
        let Some((first, rest)) = path.steps().split_first() else { continue };
        // Several fields may lie inside one value, such as the pair of an operation on a key: each is put into what
        // is there.
        let value = args.get(field).cloned().unwrap_or(Json::Null);
        put_at(fields.entry(first.clone()).or_insert(Json::Null), rest, value);
    }
}

/// Puts `value` at the end of `steps` below `place`; numbers are positions of arrays.
fn put_at(place: &mut Json, steps: &[String], value: Json) {
    // Positions beyond this are keys: no tuple has this many values.
    const MAX_TUPLE: usize = 64;
    let Some((first, rest)) = steps.split_first() else {
        *place = value;
        return;
    };
    match first.parse::<usize>() {
        Ok(at) if at < MAX_TUPLE => {
            let mut items = place.as_array().cloned().unwrap_or_default();
            items.resize(items.len().max(at + 1), Json::Null);
            put_at(&mut items[at], rest, value);
            *place = Json::Array(items);
        }
        _ => {
            let mut map = place.as_object().cloned().unwrap_or_default();
            put_at(map.entry(first.clone()).or_insert(Json::Null), rest, value);
            *place = Json::Object(map);
        }
    }
}

/// Returns a name as a keyword, or as a text if no keyword can have it.
fn write_keyword(name: &str) -> String {
    let fits = |sign: char| sign.is_alphanumeric() || "_-.*+!?$%&=<>".contains(sign);
    if !name.is_empty() && name.chars().all(fits) { format!(":{name}") } else { json!(name).to_string() }
}

fn push_edn(text: &mut String, json: &Json) {
    match json {
        Json::Null => text.push_str("nil"),
        Json::Bool(_) | Json::Number(_) | Json::String(_) => text.push_str(&json.to_string()),
        Json::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                push_edn(text, item);
            }
            text.push(']');
        }
        Json::Object(map) => {
            text.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                let _ = write!(text, "{}{} ", if at > 0 { ", " } else { "" }, write_keyword(key));
                push_edn(text, value);
            }
            text.push('}');
        }
    }
}
