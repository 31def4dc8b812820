//! Everything that reads what others wrote, as functions of bytes: none may panic, hang or use much memory.
//!
//! The first byte chooses among the forms a target reads, so that one corpus serves all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use ioxide_explorer::http::read_head;
use ioxide_lang::{LoadOptions, LoadedText, channel, format, gather, load, through};
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::Model;
use ioxide_openapi::{BadDescription, ServiceOptions, translate};
use ioxide_project::{Instances, Project, SystemSource};
use ioxide_record::format;
use ioxide_record::json;
use ioxide_record::reporter::Reporter;
use ioxide_record::value::{WireMessage, label_from_json, label_to_json};
use ioxide_report::case::json::CaseOutline;
use ioxide_report::html::ReportPage;
use ioxide_report::html::campaign::CampaignPage;
use ioxide_run::judge::plain_trace;
use ioxide_run::suite::SuiteReader;
use ioxide_wire::codec::binary::{BinaryCodec, BinaryConfig};
use ioxide_wire::codec::http::answer::AnswerConfig;
use ioxide_wire::codec::http::events::{BadStream, Dechunker, next_event};
use ioxide_wire::codec::http::message::{AskedFor, HttpResponse};
use ioxide_wire::codec::http::websocket::Assembly;
use ioxide_wire::codec::http::{HttpCodec, HttpConfig};
use ioxide_wire::codec::layout::{Endian, MessageLayout};
use ioxide_wire::codec::text::{TextCodec, TextConfig};
use ioxide_wire::protocol::ProtocolMessage;

/// The forms of models, and systems with the files of their parts.
pub const FORMS: [&str; 10] = ["iox", "as", "xml", "xlia", "dot", "kiss2", "txt", "fsm", "txs", "system"];

/// What the codecs speak.
const SPOKEN: &str = "model M {
    input ask(n: int, s: string)
    output told(n: 0..255, s: string)
    output sum(n: int)
    state a { on ask emit told  emit sum -> a }
}";

/// What is spoken in JSON.
const RICH: &str = "model M {
    record Order { id: int, note: string? }
    enum Way { Left, Right(by: int) }
    output all(o: Order, more: list<Order>, by: map<string, set<0..9>>, e: Way, r: real, m: bool?)
    state a { emit all -> a }
}";

static MODEL: LazyLock<Model> = LazyLock::new(|| in_order(SPOKEN));
static RICH_MODEL: LazyLock<Model> = LazyLock::new(|| in_order(RICH));

fn in_order(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    load(&sources, file, &LoadOptions::default()).model.expect("the model is in order")
}

fn chosen(bytes: &[u8]) -> (usize, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest))
}

/// The most switches of a model that is seen through channels: a channel makes several of each.
const MAX_SEEN: usize = 300;

/// A model of some form, also seen through channels; what is formatted stays as it is.
pub fn model(bytes: &[u8]) {
    let (which, rest) = chosen(bytes);
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let mut sources = Sources::new();
    let loaded = loaded(&mut sources, which, text);
    assert!(loaded.model.is_some() || !loaded.diagnostics.is_empty(), "no model, and nobody says why");
    if let Some(model) = loaded.model.filter(|model| model.sts.switches.len() < MAX_SEEN) {
        for text in ["fifo(capacity: 2)", "bag(capacity: 2, may_lose: true)", "fifo(max_delay: 1s)"] {
            let _ = channel(text).and_then(|channel| through(&model, &channel));
        }
    }
    let plain = sources.add("m.iox", text);
    if let Ok(once) = format(&sources, plain) {
        let again = sources.add("m.iox", once.clone());
        assert_eq!(format(&sources, again), Ok(once), "formatting again changes it");
    }
}

/// Whether the text is a model of this form.
pub fn is_model(which: usize, text: &str) -> bool {
    loaded(&mut Sources::new(), which, text).model.is_some()
}

fn loaded(sources: &mut Sources, which: usize, text: &str) -> LoadedText {
    let file = match FORMS[which % FORMS.len()] {
        "system" => parts(sources, text),
        form => sources.add(format!("m.{form}"), text),
    };
    load(sources, file, &LoadOptions::default())
}

/// Adds a system and what it is made of: a line `//// NAME` begins another file.
fn parts(sources: &mut Sources, text: &str) -> FileId {
    let (main, rest) = text.split_once("\n//// ").unwrap_or((text, ""));
    let part = |part: &'_ str| part.split_once('\n').map(|(name, text)| (name.to_owned(), text.to_owned()));
    let others: BTreeMap<String, String> = rest.split("\n//// ").filter_map(part).collect();
    let file = sources.add("m.iox", main);
    gather(sources, file, &mut |path| others.get(path).cloned().ok_or_else(|| "there is none".to_owned()));
    file
}

/// A channel as it is typed, and a model seen through it: the one behind the first line, if there is one.
pub fn through_channel(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (typed, behind) = text.split_once('\n').unwrap_or((text, ""));
    let _ = channel(text);
    let Ok(channel) = channel(typed) else { return };
    let mut sources = Sources::new();
    let file = parts(&mut sources, behind);
    let loaded = load(&sources, file, &LoadOptions::default()).model;
    let model = loaded.filter(|model| model.sts.switches.len() < MAX_SEEN);
    let _ = through(model.as_ref().unwrap_or(&MODEL), &channel);
}

/// A project file: every system of it.
pub fn project(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(project) = Project::parse(text).map(Arc::new) else { return };
    let _ = project.check();
    for name in project.names() {
        let source = SystemSource::from_project(Arc::clone(&project), name);
        let _ = source.warnings();
        let _ = source.describe(&Instances::default());
    }
}

/// A record, a suite, a test case or a trace.
pub fn record(bytes: &[u8]) {
    let (which, rest) = chosen(bytes);
    let text = String::from_utf8_lossy(rest);
    match which % 4 {
        0 => {
            let mut campaign = CampaignPage::default();
            let _ = format::each::<format::RecordError>(rest, |event| Ok(campaign.event(&event)?));
            let page = ReportPage { campaign: Some(campaign), ..ReportPage::default() };
            let _ = page.write(&mut std::io::sink());
        }
        1 => {
            let Ok(suite) = SuiteReader::new(rest) else { return };
            suite.take_while(Result::is_ok).for_each(drop);
        }
        2 => drop(CaseOutline::read(&text)),
        _ => drop(plain_trace(&MODEL, &text)),
    }
}

/// A line of the adapter protocol; what is read is written and read the same.
pub fn protocol(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(message) = ProtocolMessage::from_line(text) {
        assert_eq!(ProtocolMessage::from_line(&message.to_line()), Ok(message));
    }
}

/// What a system says in its own words: text, bytes of a layout, the layout itself, or JSON.
pub fn codec(bytes: &[u8]) {
    let (which, rest) = chosen(bytes);
    let text = String::from_utf8_lossy(rest);
    match which % 4 {
        0 => drop(TEXT.decode(&MODEL, &text)),
        1 => drop(BINARY.decode(&MODEL, rest)),
        2 => drop(MessageLayout::parse(&text, Endian::Big)),
        _ => label(rest),
    }
}

/// Whether these bytes are a message in JSON.
pub fn is_message(bytes: &[u8]) -> bool {
    let message = json::read::<WireMessage>(bytes);
    message.is_ok_and(|message| label_from_json(&RICH_MODEL, &message, |_| true).is_ok())
}

/// A message in JSON; the label that is read is written and read the same.
fn label(bytes: &[u8]) {
    let model = &*RICH_MODEL;
    let Ok(message) = json::read::<WireMessage>(bytes) else { return };
    let Ok(label) = label_from_json(model, &message, |_| true) else { return };
    let again = label_to_json(&model.pool, &model.sts, &label).expect("a message has JSON");
    assert_eq!(label_from_json(model, &again, |_| true), Ok(label));
}

static TEXT: LazyLock<TextCodec> = LazyLock::new(|| {
    let config = TextConfig {
        inputs: vec![("ask".into(), "ASK {n} {s}".into())],
        outputs: vec![
            ("told".into(), "TOLD (?P<n>[0-9]+) (?P<s>.*)".into()),
            ("sum".into(), "SUM (?P<n>-?[0-9]+)".into()),
        ],
        ..TextConfig::default()
    };
    TextCodec::new(&config, &MODEL).expect("the patterns fit the model")
});

static BINARY: LazyLock<BinaryCodec> = LazyLock::new(|| {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).expect("a layout");
    let config = BinaryConfig {
        inputs: vec![("ask".into(), layout("0x01, i32 n, u8 len(s), text s"))],
        outputs: vec![
            ("told".into(), layout("0x02, u8 n, u8 len(s), text s")),
            ("sum".into(), layout("0x03, i32 n")),
        ],
    };
    BinaryCodec::new(&config, &MODEL).expect("the layouts fit the model")
});

/// An answer by HTTP, whole or cut off, and what it says.
pub fn http_answer(bytes: &[u8]) {
    let (which, rest) = chosen(bytes);
    let asked = [AskedFor::Body, AskedFor::Head, AskedFor::WebSocket][(which >> 2) % 3];
    let Ok(Some((response, used))) = HttpResponse::parse(rest, asked, which & 2 == 2) else { return };
    assert!(used <= rest.len(), "more was used than came");
    let _ = HTTP.decode(&MODEL, &response, None);
}

static HTTP: LazyLock<HttpCodec> = LazyLock::new(|| {
    let json = AnswerConfig {
        fields: vec![("n".into(), "/n".into()), ("s".into(), "/s/0".into())],
        ..AnswerConfig::default()
    };
    let sum = AnswerConfig { body: Some("(?P<n>-?[0-9]+)".into()), ..AnswerConfig::default() };
    let request = ioxide_wire::codec::http::RequestConfig {
        method: "POST".into(),
        path: "/{n}/{s}".into(),
        ..Default::default()
    };
    let config = HttpConfig {
        inputs: vec![("ask".into(), request)],
        outputs: vec![("sum".into(), sum), ("told".into(), json)],
        ..HttpConfig::default()
    };
    HttpCodec::new(&config, "", &MODEL).expect("the answers fit the model")
});

/// What comes on an open stream: events, events in chunks, or frames of a WebSocket. Where the bytes are cut on their
/// way changes nothing.
pub fn stream(bytes: &[u8]) {
    let (which, rest) = chosen(bytes);
    let (at, rest) = chosen(rest);
    let (one, other) = rest.split_at(at.min(rest.len()));
    let read = [events, chunks, frames][which % 3];
    let (whole, halves) = (read(&[rest]), read(&[one, other]));
    assert_eq!(whole, halves, "a cut at {at} changes what is read");
}

/// What came, and whether it ended in an error.
type Seen = (Vec<String>, Option<BadStream>);

/// What `next` takes from the bytes, which come in pieces.
fn pieces(pieces: &[&[u8]], mut next: impl FnMut(&mut Vec<u8>) -> Result<Option<String>, BadStream>) -> Seen {
    let (mut bytes, mut seen) = (Vec::new(), Vec::new());
    for piece in pieces {
        bytes.extend_from_slice(piece);
        loop {
            match next(&mut bytes) {
                Ok(Some(it)) => seen.push(it),
                Ok(None) => break,
                Err(bad) => return (seen, Some(bad)),
            }
        }
    }
    (seen, None)
}

fn events(came: &[&[u8]]) -> Seen {
    pieces(came, |bytes| Ok(next_event(bytes)?.map(|event| format!("{event:?}"))))
}

fn chunks(came: &[&[u8]]) -> Seen {
    let (mut chunks, mut plain) = (Dechunker::default(), Vec::new());
    pieces(came, |bytes| {
        let unpacked = chunks.move_chunks(bytes, &mut plain);
        match next_event(&mut plain)? {
            Some(event) => Ok(Some(format!("{event:?}"))),
            None => unpacked.map(|()| None),
        }
    })
}

fn frames(came: &[&[u8]]) -> Seen {
    let mut assembly = Assembly::default();
    pieces(came, |bytes| Ok(assembly.next_frame(bytes)?.map(|frame| format!("{frame:?}"))))
}

/// Whether the text is an OpenAPI description.
pub fn is_description(text: &str) -> bool {
    translate(text, &ServiceOptions::default()).is_ok()
}

/// An OpenAPI description; what comes of it is a model without errors.
pub fn openapi(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let translated = translate(text, &ServiceOptions::default());
    assert!(!matches!(translated, Err(BadDescription::Model(_))), "{translated:?}");
}

/// A request to the explorer.
pub fn http_request(bytes: &[u8]) {
    let mut reader = bytes;
    if let Ok(head) = read_head(&mut reader) {
        let _ = head.with_body(&mut reader);
    }
}
