use super::*;

#[test]
fn other_files_are_told_apart() {
    let error = |bytes: &[u8]| Record::read_record(bytes).unwrap_err().to_string();
    assert!(error(b"").starts_with("this is not an ioxide record"));
    assert!(error(b"{\"a\":1}\n").starts_with("this is not an ioxide record"));
    assert!(error(b"{\"format\":\"ioxide-record\",\"version\":9}\n").contains("version 9"));
    let damaged = b"{\"format\":\"ioxide-record\",\"version\":1}\nnonsense\n{}\n";
    assert!(error(damaged).starts_with("line 2 of the record"));
}

#[test]
fn a_message_as_long_as_an_adapter_may_send_is_read_back() {
    let told = crate::event::SystemTrouble { error: "x".repeat(3 << 20), last_words: String::new() };
    let event = Event { seq: 0, time_ns: 0, run: None, event: EventKind::Trouble(told) };
    let mut bytes = Vec::new();
    Recorder::new(&mut bytes).unwrap().event(&event).unwrap();
    assert_eq!(Record::read_record(&bytes[..]).unwrap().events, [event]);
}
