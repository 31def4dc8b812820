use super::*;

#[test]
fn every_message_is_read_as_it_was_written() {
    let failure = SystemFailure {
        kind: FailureKind::Unknown,
        text: "lost".into(),
        id: Some(7),
        traceback: String::new(),
    };
    let hello = HelloMessage {
        protocol: VERSION,
        name: "brp".into(),
        reset: ResetKind::Restart,
        ..HelloMessage::default()
    };
    let args: Map<String, Json> = serde_json::from_str(r#"{"n": 123456789012345678901234567890}"#).unwrap();
    let all = [
        ProtocolMessage::Hello(hello),
        ProtocolMessage::Configure(ConfigureMessage { seed: Some(u64::MAX), ..ConfigureMessage::default() }),
        ProtocolMessage::Ready(ReadyMessage { outputs: None }),
        ProtocolMessage::Input(InputMessage { id: 1, label: "coin".into(), args: args.clone() }),
        ProtocolMessage::Sent(SentMessage {
            id: 1,
            time_ns: Some(u64::MAX),
            raw: Some("\u{1}".into()),
            outputs: Some(2),
        }),
        ProtocolMessage::Output(OutputMessage { label: "tea".into(), args, time_ns: None, raw: None }),
        ProtocolMessage::Reset(ResetMessage {}),
        ProtocolMessage::Advance(AdvanceMessage { to_ns: Some(5), foresee: true }),
        ProtocolMessage::Advanced(AdvancedMessage { now_ns: 5, next_ns: Some(7) }),
        ProtocolMessage::Log(LogMessage { level: LogLevel::Warn, text: "a\nb".into() }),
        ProtocolMessage::Error(failure),
        ProtocolMessage::Bye(ByeMessage {}),
    ];
    for message in all {
        let line = message.to_line();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(ProtocolMessage::from_line(&line), Ok(message), "{line}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_missing_ones_named() {
    assert_eq!(
        ProtocolMessage::from_line(r#"{"type":"ready","mood":"fine"}"#),
        Ok(ProtocolMessage::Ready(ReadyMessage { outputs: None }))
    );
    check(r#"{"type":"input","label":"coin"}"#, "bad `input` message: missing field `id`");
    check(r#"{"type":"tea"}"#, "unknown message type `tea`");
    check("[1]", "not a message: expected a JSON object with a `type`");
    check("{", "not JSON: EOF while parsing an object at line 1 column 1");
}

#[track_caller]
fn check(line: &str, reason: &str) {
    assert_eq!(
        ProtocolMessage::from_line(line),
        Err(ProtocolViolation { reason: reason.into(), is_excess: false })
    );
}

/// Defect: of a key that stood twice the last value counted.
#[test]
fn a_line_that_says_two_things_at_once_is_no_message() {
    for line in [
        r#"{"type":"output","label":"tea","args":{"n":1,"n":2}}"#,
        r#"{"type":"output","type":"bye","label":"tea"}"#,
        r#"{"type":"output","label":"tea","x":{"y":0,"y":0}}"#,
    ] {
        let reason = ProtocolMessage::from_line(line).unwrap_err().reason;
        assert!(reason.contains("occurs twice in one object"), "{line}: {reason}");
    }
}
