use super::*;
use crate::adapter::{LengthField, LengthUnit};
use crate::codec::layout::{Endian, MessageLayout, NumberLayout};
use crate::codec::unsolicited::{AnswerRule, UnsolicitedPattern};
use crate::samples::{message, model};

const ECHO: &str = "model Echo {
    input SAY(n: int)
    output SAID(n: int)
    output OTHER
    state a { on SAY emit SAID emit OTHER }
}";

const SOON: Duration = Duration::from_secs(20);

/// A system that `command` starts, past its reset.
fn started(command: &str, protocol: TextProtocol, limit: Duration) -> TextAdapter {
    let spec = SutSpec::Stdio(command.into());
    let connection = RemoteConnection { limit, message_limit: Some(limit), ..RemoteConnection::default() };
    let mut adapter = TextAdapter::new(&spec, protocol, Arc::new(model(ECHO)), &connection).unwrap();
    adapter.reset().unwrap();
    adapter
}

fn lines(more: Option<&str>, outputs: &[(&str, &str)]) -> TextProtocol {
    let text = TextConfig {
        inputs: vec![("SAY".into(), "PONG {n}\n".into())],
        outputs: outputs.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
        more: more.map(Into::into),
        ..TextConfig::default()
    };
    TextProtocol {
        words: MessageFormat::Text(text),
        framing: Framing::Line,
        input_end: None,
        reset: Vec::new(),
        ..TextProtocol::default()
    }
}

const PONG: [(&str, &str); 2] = [("SAID", r"PONG (?P<n>\d+)"), ("OTHER", "(?s).*")];

#[test]
fn a_line_cut_by_a_crash_is_no_output() {
    let mut adapter = started("printf 'PONG 12\\nPONG 1'; exit 3", lines(None, &PONG), SOON);
    let model = model(ECHO);
    assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[12]))));
    let AdapterError::Unreadable { line, reason } = adapter.observe(SOON).unwrap_err() else {
        panic!("an incomplete message is unreadable")
    };
    assert_eq!(line, "PONG 1");
    assert!(reason.starts_with("incomplete message") && reason.contains("exit status: 3"), "{reason}");
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
    let error = adapter.observe(SOON).unwrap_err();
    assert!(matches!(error, AdapterError::Late { awaited: AwaitedPart::MessageEnd, .. }), "{error}");
    assert_eq!(error.breakdown(), None, "no verdict: nobody knows who is slow");
}

/// Too short, it is not a message; too long, it is never finished: neither is silence or another message.
#[test]
fn a_message_that_lies_about_its_length_is_unreadable() {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).unwrap();
    let said = "0x01, u8 len(message), i16 n, xor8";
    let number = NumberLayout::from_word("u8", Endian::Big).unwrap();
    let speech = TextProtocol {
        words: MessageFormat::Binary(BinaryConfig {
            inputs: vec![("SAY".into(), layout(said))],
            outputs: vec![("SAID".into(), layout(said)), ("OTHER".into(), layout("0x02, u8 len(message)"))],
        }),
        framing: Framing::Counted(LengthField { at: 1, number, counts: LengthUnit::Message }),
        input_end: None,
        reset: Vec::new(),
        ..TextProtocol::default()
    };
    let lies = |length: &str| {
        let command = format!("printf '\\001\\{length}\\000\\007\\003'; sleep 9");
        let mut adapter = started(&command, speech.clone(), Duration::from_millis(10));
        adapter.limits.total = SOON;
        let deadline = Instant::now() + SOON;
        loop {
            // A look that is short, so that a pause may be short too.
            match adapter.observe(Duration::from_millis(1)) {
                Ok(Observation::Quiet) if Instant::now() < deadline => (),
                seen => return seen,
            }
        }
    };
    assert_eq!(lies("005").map(Observation::label), Ok(Some(message(&model(ECHO), "SAID", &[7]))));
    for (length, says) in [
        ("004", "SAID"),
        ("003", "SAID"),
        ("001", "cannot hold its own length"),
        ("006", "incomplete message"),
    ] {
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
    let number = NumberLayout::from_word("u8", Endian::Big).unwrap();
    let framing = Framing::Counted(LengthField { at: 1, number, counts: LengthUnit::Message });
    let speech = |input: &str, reset: &str| {
        let reset = vec![ResetStep::new_plain(reset)];
        TextProtocol {
            words: MessageFormat::Binary(binary(input)),
            framing: framing.clone(),
            input_end: None,
            reset,
            ..TextProtocol::default()
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

/// The connection `n` of a server that answers a reset by what `answer` says, and echoes from then on.
fn reset_server(answer: impl Fn(u32, &str) -> String + Send + 'static) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for (n, stream) in (1..).zip(listener.incoming().flatten()) {
            let mut writer = stream.try_clone().unwrap();
            let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream)).map_while(Result::ok);
            if let Some(line) = lines.next() {
                writer.write_all(answer(n, &line).as_bytes()).ok();
            }
            lines.for_each(|line| drop(writeln!(writer, "{line}")));
        }
    });
    address
}

fn reset_by(step: ResetStep, address: &str) -> TextAdapter {
    let speech = TextProtocol { reset: vec![step], ..lines(None, &PONG) };
    let spec = SutSpec::Tcp(address.into());
    TextAdapter::new(&spec, speech, Arc::new(model(ECHO)), &RemoteConnection::default()).unwrap()
}

/// Defect: whatever answered a reset was taken for its success, and the run began in another state.
#[test]
fn a_refused_reset_is_repeated_on_a_new_connection() {
    let welcome = ResetStep { send: Some("NICK n1".into()), expect: Some("001 .*".into()) };
    for step in [welcome, ResetStep::new_plain("NICK n1")] {
        let address = reset_server(|n, line| {
            assert_eq!(line, "NICK n1");
            if n < 3 { "433 nickname in use\n".into() } else { "001 welcome\n".into() }
        });
        let mut adapter = reset_by(step, &address);
        assert_eq!(adapter.reset(), Ok(()));
        let model = model(ECHO);
        adapter.send(&message(&model, "SAY", &[7])).unwrap();
        assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, "SAID", &[7]))));
    }
}

#[test]
fn a_reset_that_is_always_refused_is_trouble_and_no_verdict() {
    let welcome = ResetStep { send: Some("NICK n1".into()), expect: Some("001".into()) };
    let cases = [
        (welcome.clone(), "433 nickname in use", "expected `001`"),
        // The pattern is one for the whole answer.
        (welcome, "001 welcome", "expected `001`"),
        (ResetStep::new_plain("NICK n1"), "433 nickname in use", "looks like an error"),
    ];
    for (step, answer, says) in cases {
        let address = reset_server(move |_, _| format!("{answer}\n"));
        let error = reset_by(step, &address).reset().unwrap_err();
        assert!(matches!(error, AdapterError::ResetRefused(_)) && error.breakdown().is_none(), "{error}");
        let told = error.to_string();
        assert!(told.contains(answer) && told.contains(says) && told.contains("tried 8 times"), "{told}");
    }
}

#[test]
fn a_step_of_a_reset_may_only_await_a_message() {
    let greeted = [
        ResetStep { send: None, expect: Some("hello".into()) },
        ResetStep { send: Some("PONG 5".into()), expect: Some("PONG 5".into()) },
    ];
    let speech = TextProtocol { reset: greeted.to_vec(), ..lines(None, &PONG) };
    let mut adapter = started("echo hello; cat", speech, SOON);
    assert_eq!(adapter.poll(), Ok(None), "nothing of the reset is left");
}

#[test]
fn a_binary_reset_is_compared_by_its_digits() {
    let layout = |text: &str| MessageLayout::parse(text, Endian::Big).unwrap();
    let binary = BinaryConfig {
        inputs: vec![("SAY".into(), layout("0x01, i16 n"))],
        outputs: vec![("SAID".into(), layout("0x01, i16 n")), ("OTHER".into(), layout("0x02, i16 = 0"))],
    };
    let reset = |expect: &str| {
        let step = ResetStep { send: Some("0a0bff".into()), expect: Some(expect.into()) };
        let speech = TextProtocol {
            words: MessageFormat::Binary(binary.clone()),
            framing: Framing::Fixed(3),
            input_end: None,
            reset: vec![step],
            ..TextProtocol::default()
        };
        let spec = SutSpec::Stdio("cat".into());
        TextAdapter::new(&spec, speech, Arc::new(model(ECHO)), &RemoteConnection::default()).unwrap().reset()
    };
    assert_eq!(reset("0a..ff"), Ok(()));
    let error = reset("0b.*").unwrap_err();
    assert!(matches!(&error, AdapterError::ResetRefused(refused) if refused.answer == "0a0bff"), "{error}");
}

/// Returns rules for texts.
fn make_rules(ignore: &[&str], answer: &[(&str, &str)]) -> UnsolicitedConfig {
    let rule = |(pattern, answer): &(&str, &str)| AnswerRule::Text {
        pattern: (*pattern).to_owned(),
        answer: (*answer).to_owned(),
    };
    UnsolicitedConfig {
        ignore: ignore.iter().map(|text| UnsolicitedPattern::Text((*text).to_owned())).collect(),
        answer: answer.iter().map(rule).collect(),
    }
}

#[test]
fn unsolicited_messages_are_answered_or_ignored_and_never_outputs() {
    let rules = make_rules(&["INFO .*"], &[(r"PING (?P<n>\d+)", "PONG {n}")]);
    let protocol = TextProtocol { unsolicited: rules, ..lines(None, &PONG) };
    // What it reads it repeats, so that the answer comes back as an output.
    let mut adapter = started("echo INFO x; echo PING 7; cat", protocol, SOON);
    let Observation::Output(said) = adapter.observe(SOON).unwrap() else { panic!("the answer comes back") };
    assert_eq!(said.label, message(&model(ECHO), "SAID", &[7]));
    assert!(said.is_first, "what the model does not see is no reply");
    let told = adapter.take_unsolicited();
    let texts: Vec<(&str, Option<&str>)> =
        told.iter().map(|told| (told.text.as_str(), told.answer.as_deref())).collect();
    assert_eq!(texts, [("INFO x", None), ("PING 7", Some("PONG 7"))]);
    assert_eq!(adapter.take_unsolicited(), [], "they are told once");
    assert!(adapter.notation().is_none(), "a script would take them for replies");
}

/// A system that only sends what is ignored is silent to the model, however much it sends.
#[test]
fn a_flood_of_ignored_messages_is_silence() {
    let protocol = TextProtocol { unsolicited: make_rules(&["tick"], &[]), ..lines(None, &PONG) };
    let mut adapter = started("yes tick", protocol, SOON);
    // A busy machine may start the flood later than the first silence ends.
    let mut ignored = Vec::new();
    while ignored.is_empty() {
        assert_eq!(adapter.observe(Duration::from_millis(20)), Ok(Observation::Quiet));
        assert_eq!(adapter.poll(), Ok(None));
        ignored = adapter.take_unsolicited();
    }
}

/// A dead system is not silent because the last it sent is ignored.
#[test]
fn the_end_after_an_unsolicited_message_is_an_end() {
    let protocol = TextProtocol { unsolicited: make_rules(&[], &[("PING", "PONG")]), ..lines(None, &PONG) };
    let mut adapter = started("echo PING; exit 3", protocol, SOON);
    assert_eq!(adapter.observe(SOON).unwrap_err(), AdapterError::Ended { status: "exit status: 3".into() });
}

#[test]
fn a_reset_takes_the_answer_it_expects_and_skips_the_others() {
    let expect = |text: &str| ResetStep { send: None, expect: Some(text.into()) };
    let protocol = TextProtocol {
        unsolicited: make_rules(&["INFO .*"], &[("PING", "PONG 1")]),
        reset: vec![expect("INFO 1"), expect("READY")],
        ..lines(None, &PONG)
    };
    let command = "echo INFO 1; echo INFO 2; echo PING; read x; [ \"$x\" = 'PONG 1' ] && echo READY; cat";
    let mut adapter = started(command, protocol, SOON);
    assert_eq!(adapter.poll(), Ok(None), "nothing of the reset is left");
}

#[test]
fn an_observed_input_is_read_like_an_output() {
    let spec = model(
        "model Beat { input SAY(n: int) output SAID(n: int) output OTHER observed input TICK(n: int)
            state a { on SAY emit SAID emit OTHER on TICK } }",
    );
    let outputs = [("TICK", r"tick (?P<n>\d+)"), PONG[0], PONG[1]];
    let connection = RemoteConnection { limit: SOON, ..RemoteConnection::default() };
    let command = SutSpec::Stdio("echo tick 3; cat".into());
    let mut adapter =
        TextAdapter::new(&command, lines(None, &outputs), Arc::new(spec.clone()), &connection).unwrap();
    adapter.reset().unwrap();
    let tick = spec.sts.gate_named("TICK").unwrap();
    let seen = adapter.observe(SOON).map(Observation::label);
    assert_eq!(seen, Ok(Some(Label::Input(tick, vec![ioxide_model::value::Value::int(3)]))));
}
