//! Values of the system become variables wherever that can be shown, and stay literal with a note elsewhere.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::judge::{JudgeConfig, find_forbidden, plain_trace};
use crate::samples::{model, with_cx};
use ioxide_record::event::ScriptMessage;
use ioxide_wire::adapter::text::{MessageFormat, TextAdapter, TextProtocol};
use ioxide_wire::adapter::{Framing, RemoteConnection, SutSpec};
use ioxide_wire::codec::binary::BinaryConfig;
use ioxide_wire::codec::layout::{Endian, MessageLayout};
use ioxide_wire::codec::text::TextConfig;

/// Returns the script of a run with an adapter that never connects.
fn script(text: &str, words: MessageFormat, trace: &str) -> ScriptRecord {
    let spec = model(text);
    let trace = plain_trace(&spec, trace).unwrap();
    let protocol = TextProtocol { words, framing: Framing::Line, ..TextProtocol::default() };
    let place = SutSpec::Tcp("127.0.0.1:1".into());
    let connection = RemoteConnection::default();
    let mut adapter = TextAdapter::new(&place, protocol, Arc::new(spec.clone()), &connection).unwrap();
    with_cx(spec, |mut cx| {
        let forbidden = find_forbidden(&mut cx, &trace, &JudgeConfig::default());
        let stop = AtomicBool::new(false);
        let setup = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
        script_of(&setup, &RunConfig::default(), &trace, forbidden.as_ref()).expect("one connection")
    })
}

fn to_pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn text_words(get: &str) -> MessageFormat {
    MessageFormat::Text(TextConfig {
        inputs: to_pairs(&[("create", "CREATE"), ("get", get)]),
        outputs: to_pairs(&[("created", "CREATED (?P<id>.*)"), ("item", "ITEM (?<id>.*)")]),
        ..TextConfig::default()
    })
}

const TEXTS: &str = "model M {
    input create input get(id: string) output created(id: string) output item(id: string)
    var last: string = \"\"
    state idle { on create -> making on get when id == last -> asked }
    state making { emit created { last = id } -> idle }
    state asked { emit item when id == last -> idle } }";

const RUN: &str = "{\"label\": \"create\"}\n{\"label\": \"created\", \"args\": {\"id\": \"zz-17-ab\"}}
{\"label\": \"get\", \"args\": {\"id\": \"zz-17-ab\"}}\n{\"label\": \"item\", \"args\": {\"id\": \"other\"}}";

fn message(script: &ScriptRecord, at: usize) -> &ScriptMessage {
    let sent = script.steps.iter().filter_map(|step| match step {
        ScriptStep::Send { message, .. } => Some(message),
        _ => None,
    });
    sent.into_iter().nth(at).expect("a message")
}

fn used(variable: &str, spelling: ValueSpelling) -> ScriptPart {
    ScriptPart::Value(UsedValue { variable: variable.into(), part: UsedPart::Whole, spelling })
}

fn literal(text: &str) -> ScriptPart {
    ScriptPart::Literal(text.into())
}

#[test]
fn an_id_in_a_text_is_a_variable_of_the_reply_that_gave_it() {
    let script = script(TEXTS, text_words("GET {id};"), RUN);
    let parts = vec![literal("GET "), used("id_2", ValueSpelling::Plain), literal(";\n")];
    assert_eq!(*message(&script, 1), ScriptMessage::Text(parts));
    let ScriptStep::Receive { keep, .. } = &script.steps[1] else { panic!("a reply") };
    let place = ScriptValuePlace::Group { pattern: "CREATED (?P<id>.*)".into(), group: "id".into() };
    assert_eq!(*keep, [KeptValue { variable: "id_2".into(), place, is_optional: false }]);
    // The expected reply has the same id, whatever it is in the new run.
    let [allowed] = &script.allowed[..] else { panic!("one reply is allowed") };
    assert_eq!(allowed.values[0].1, [used("id_2", ValueSpelling::Plain)]);
    assert!(allowed.is_exact && script.notes.is_empty());
    assert_eq!(allowed.form.pattern.as_deref(), Some("ITEM (?P<id>.*)"), "as Python reads it");
}

#[test]
fn a_value_whose_length_is_written_too_stays_as_it_was() {
    let script = script(TEXTS, text_words("GET {len(id)} {id}"), RUN);
    assert_eq!(*message(&script, 1), ScriptMessage::Text(vec![literal("GET 8 zz-17-ab\n")]));
    assert_eq!(script.notes.len(), 1, "{:?}", script.notes);
    assert!(script.notes[0].starts_with("step 3: `id` is a value of the recorded run"), "{:?}", script.notes);
}

/// Returns the second message of a run with ids that are numbers, by this layout.
fn second_message(get: &str) -> (ScriptMessage, usize) {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).unwrap();
    let words = MessageFormat::Binary(BinaryConfig {
        inputs: vec![("create".into(), layout("0x01")), ("get".into(), layout(get))],
        outputs: vec![("created".into(), layout("0x81, u32le id")), ("item".into(), layout("0x82, u32 id"))],
    });
    let run = RUN.replace("\"zz-17-ab\"", "66051").replace("\"other\"", "5");
    let made = script(&TEXTS.replace("string = \"\"", "int = 0").replace("string", "int"), words, &run);
    (message(&made, 1).clone(), made.notes.len())
}

#[test]
fn a_number_in_bytes_is_a_variable_unless_other_bytes_depend_on_it() {
    let number = |width, little| used("id_2", ValueSpelling::Number { width, little });
    for (layout, before, part, after) in [
        ("0x02, u32 id", "02", number(4, false), ""),
        ("0x02, u32le id, 0xff", "02", number(4, true), "ff"),
        ("u64 id, u8 = 7", "", number(8, false), "07"),
    ] {
        let parts = vec![literal(before), part, literal(after)];
        assert_eq!(second_message(layout), (ScriptMessage::Bytes(parts), 0), "{layout}");
    }
    let (message, notes) = second_message("0x02, u32 id, sum8");
    assert_eq!((message, notes), (ScriptMessage::Bytes(vec![literal("020001020308")]), 1));
}
