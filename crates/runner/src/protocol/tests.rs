use super::*;

#[test]
fn every_message_is_read_as_it_was_written() {
    let failure = Failure { kind: FailureKind::Unknown, text: "lost".into(), id: Some(7) };
    let hello =
        Hello { protocol: VERSION, name: "brp".into(), reset: ResetKind::Restart, ..Hello::default() };
    let args: Map<String, Json> = serde_json::from_str(r#"{"n": 123456789012345678901234567890}"#).unwrap();
    let all = [
        Message::Hello(hello),
        Message::Configure(Configure { seed: Some(u64::MAX), ..Configure::default() }),
        Message::Ready(Ready {}),
        Message::Input(Input { id: 1, label: "coin".into(), args: args.clone() }),
        Message::Sent(Sent { id: 1, time_ns: Some(u64::MAX), raw: Some("\u{1}".into()) }),
        Message::Output(Output { label: "tea".into(), args, time_ns: None, raw: None }),
        Message::Reset(Reset {}),
        Message::Advance(Advance { to_ns: Some(5), foresee: true }),
        Message::Advanced(Advanced { now_ns: 5, next_ns: Some(7) }),
        Message::Log(Log { level: Level::Warn, text: "a\nb".into() }),
        Message::Error(failure),
        Message::Bye(Bye {}),
    ];
    for message in all {
        let line = message.to_line();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(Message::from_line(&line), Ok(message), "{line}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_missing_ones_named() {
    assert_eq!(Message::from_line(r#"{"type":"ready","mood":"fine"}"#), Ok(Message::Ready(Ready {})));
    check(r#"{"type":"input","label":"coin"}"#, "bad `input` message: missing field `id`");
    check(r#"{"type":"tea"}"#, "unknown message type `tea`");
    check("[1]", "not a message: expected a JSON object with a `type`");
    check("{", "not JSON: EOF while parsing an object at line 1 column 1");
}

#[track_caller]
fn check(line: &str, reason: &str) {
    assert_eq!(Message::from_line(line), Err(BadLine { reason: reason.into(), is_excess: false }));
}

/// Defect: of a key that stood twice the last value counted.
#[test]
fn a_line_that_says_two_things_at_once_is_no_message() {
    for line in [
        r#"{"type":"output","label":"tea","args":{"n":1,"n":2}}"#,
        r#"{"type":"output","type":"bye","label":"tea"}"#,
        r#"{"type":"output","label":"tea","x":{"y":0,"y":0}}"#,
    ] {
        let reason = Message::from_line(line).unwrap_err().reason;
        assert!(reason.contains("stands twice in one object"), "{line}: {reason}");
    }
}
