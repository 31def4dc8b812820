use super::*;
use crate::adapter::{LengthField, LengthUnit};
use crate::codec::layout::{Endian, MessageLayout, NumberLayout};
use crate::samples::{message, model};

const ECHO: &str = "model Echo {
    input SAY(n: int)
    output SAID(n: int)
    output OTHER
    state a { on SAY emit SAID emit OTHER }
}";

const SOON: Duration = Duration::from_secs(20);

/// A system that `command` starts, past its reset.
fn started(command: &str, speech: TextSpeech, limit: Duration) -> TextAdapter {
    let spec = SutSpec::Stdio(command.into());
    let connection = RemoteConnection { limit, ..RemoteConnection::default() };
    let mut adapter = TextAdapter::new(&spec, speech, Arc::new(model(ECHO)), &connection).unwrap();
    adapter.reset().unwrap();
    adapter
}

fn lines(more: Option<&str>, outputs: &[(&str, &str)]) -> TextSpeech {
    let text = TextConfig {
        inputs: vec![("SAY".into(), "PONG {n}\n".into())],
        outputs: outputs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
        more: more.map(Into::into),
        ..TextConfig::default()
    };
    TextSpeech {
        words: MessageFormat::Text(text),
        framing: Framing::Line,
        input_end: None,
        reset: Vec::new(),
    }
}

const PONG: [(&str, &str); 2] = [("SAID", r"PONG (?P<n>\d+)"), ("OTHER", "(?s).*")];

#[test]
fn a_line_cut_by_a_crash_is_no_output() {
    let mut adapter = started("printf 'PONG 12\\nPONG 1'; exit 3", lines(None, &PONG), SOON);
    let model = model(ECHO);
    assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[12]))));
    let AdapterError::Unreadable { line, reason } = adapter.observe(SOON).unwrap_err() else {
        panic!("half a message is unreadable")
    };
    assert_eq!(line, "PONG 1");
    assert!(reason.starts_with("half a message") && reason.contains("exit status: 3"), "{reason}");
}

#[test]
fn an_end_between_messages_is_an_end() {
    let mut adapter = started("printf 'PONG 12\\n'; exit 3", lines(None, &PONG), SOON);
    assert!(adapter.observe(SOON).is_ok());
    let error = adapter.observe(SOON).unwrap_err();
    assert_eq!(error, AdapterError::Ended { status: "exit status: 3".into() });
}

#[test]
fn a_catch_all_output_does_not_beat_more() {
    let outputs = [("SAID", r"(250-.*\n)*250 (?P<n>\d+)"), ("OTHER", "(?s).*")];
    let command = "printf '250-SIZE\\n250-HELP\\n250-8BIT\\n250 7\\n251 x\\n'; sleep 60";
    let mut adapter = started(command, lines(Some("250-.*"), &outputs), SOON);
    let model = model(ECHO);
    let Observation::Output(said) = adapter.observe(SOON).unwrap() else { panic!("it was said") };
    assert_eq!(said.label, message(&model, "SAID", &[7]));
    assert_eq!(said.raw.as_deref(), Some("250-SIZE\n250-HELP\n250-8BIT\n250 7"));
    assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "OTHER", &[]))));
}

#[test]
fn a_message_that_is_never_finished_ends_with_its_time_limit() {
    let limit = Duration::from_millis(200);
    let drip = "while true; do printf '250-more\\n'; sleep 0.02; done";
    let mut adapter = started(drip, lines(Some("250-.*"), &PONG), limit);
    let error = adapter.observe(SOON).unwrap_err().to_string();
    assert!(error.contains("half a message"), "{error}");
}

/// Too short, it is no message; too long, it is never finished: neither is silence or another message.
#[test]
fn a_message_that_lies_about_its_length_is_unreadable() {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).unwrap();
    let said = "0x01, u8 len(message), i16 n, xor8";
    let number = NumberLayout::named("u8", Endian::Big).unwrap();
    let speech = TextSpeech {
        words: MessageFormat::Binary(BinaryConfig {
            inputs: vec![("SAY".into(), layout(said))],
            outputs: vec![("SAID".into(), layout(said)), ("OTHER".into(), layout("0x02, u8 len(message)"))],
        }),
        framing: Framing::Counted(LengthField { at: 1, number, counts: LengthUnit::Message }),
        input_end: None,
        reset: Vec::new(),
    };
    let lies = |length: &str| {
        let command = format!("printf '\\001\\{length}\\000\\007\\003'; sleep 9");
        started(&command, speech.clone(), Duration::from_millis(10)).observe(SOON)
    };
    assert_eq!(lies("005").map(Observation::label), Ok(Some(message(&model(ECHO), "SAID", &[7]))));
    for (length, says) in
        [("004", "SAID"), ("003", "SAID"), ("001", "cannot hold its own length"), ("006", "half a message")]
    {
        let told = lies(length).unwrap_err().of_system();
        let AdapterError::Unreadable { reason, .. } = &told else { panic!("{length}: {told}") };
        assert!(reason.contains(says), "{length}: {reason}");
    }
}

#[test]
fn binary_messages_are_sent_and_read() {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).unwrap();
    let binary = |input: &str| BinaryConfig {
        inputs: vec![("SAY".into(), layout(input))],
        outputs: vec![
            ("SAID".into(), layout("0x01, u8 len(message), i16 n, xor8")),
            ("OTHER".into(), layout("0x02, u8 len(message)")),
        ],
    };
    let number = NumberLayout::named("u8", Endian::Big).unwrap();
    let framing = Framing::Counted(LengthField { at: 1, number, counts: LengthUnit::Message });
    let speech = |input: &str, reset: &str| {
        let reset = vec![reset.to_owned()];
        TextSpeech {
            words: MessageFormat::Binary(binary(input)),
            framing: framing.clone(),
            input_end: None,
            reset,
        }
    };
    let model = model(ECHO);
    let mut echo = started("cat", speech("0x01, u8 len(message), i16 n, xor8", "0202"), SOON);
    for n in [-2, 300] {
        let sent = echo.send(&message(&model, "SAY", &[n])).unwrap();
        let Observation::Output(said) = echo.observe(SOON).unwrap() else { panic!("it was said") };
        assert_eq!((said.label, said.raw), (message(&model, "SAID", &[n]), sent.raw));
    }
    let refused = echo.send(&message(&model, "SAY", &[40_000])).unwrap_err();
    assert!(refused.to_string().contains("40000 does not fit"), "{refused}");
    let mut odd = started("cat", speech("0x03, u8 len(message), i16 n, xor8", "0202"), SOON);
    odd.send(&message(&model, "SAY", &[1])).unwrap();
    let AdapterError::Unreadable { line, reason } = odd.observe(SOON).unwrap_err() else {
        panic!("unreadable")
    };
    assert_eq!(line, "0x0305000107");
    assert!(reason.contains("`SAID` at byte 0: 0x01 is expected, not 0x03"), "{reason}");
}
