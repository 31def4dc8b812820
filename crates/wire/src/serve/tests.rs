use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use ioxide_record::line::next_line;

use super::*;
use crate::samples::{VENDING, model, new_solver};

/// Returns the answers of the vending machine to `lines`, times left out.
fn answers(lines: &str) -> Vec<ProtocolMessage> {
    let mut written = Vec::new();
    let reader = io::Cursor::new(lines.as_bytes().to_vec());
    serve(&model(VENDING), &new_solver, 1, reader, &mut written).unwrap();
    let text = String::from_utf8(written).unwrap();
    text.lines().map(|line| timeless(ProtocolMessage::from_line(line).unwrap())).collect()
}

fn timeless(message: ProtocolMessage) -> ProtocolMessage {
    match message {
        ProtocolMessage::Sent(sent) => ProtocolMessage::Sent(SentMessage { time_ns: None, ..sent }),
        ProtocolMessage::Output(output) => {
            ProtocolMessage::Output(crate::protocol::OutputMessage { time_ns: None, ..output })
        }
        other => other,
    }
}

fn types(messages: &[ProtocolMessage]) -> String {
    let word = |message: &ProtocolMessage| {
        let json: serde_json::Value = serde_json::from_str(&message.to_line()).unwrap();
        json["type"].as_str().unwrap().to_owned()
    };
    messages.iter().map(word).collect::<Vec<_>>().join(" ")
}

const CONFIGURE: &str = "{\"type\":\"configure\",\"seed\":5}\n";
const COIN: &str = "{\"type\":\"input\",\"id\":1,\"label\":\"coin\",\"args\":{\"n\":5}}\n";

#[test]
fn a_conversation_goes_by_the_book() {
    let lines = format!("{CONFIGURE}{COIN}{{\"type\":\"reset\"}}\n{COIN}{{\"type\":\"bye\"}}\n");
    let heard = answers(&lines);
    assert_eq!(types(&heard), "hello ready sent output output ready sent output output bye");
    assert_eq!(heard, answers(&lines), "same seed, same answers");
}

#[test]
fn what_is_not_understood_is_answered_by_an_error() {
    check("{\n", "not JSON");
    check("\u{fffd}\u{0}\n", "not JSON");
    check(
        "{\"type\":\"input\",\"id\":1,\"label\":\"soup\"}\n",
        "the model has no input `soup`; it has `coin`",
    );
    check("{\"type\":\"input\",\"id\":1,\"label\":\"tea\"}\n", "the model has no input `tea`");
    check("{\"type\":\"input\",\"id\":1,\"label\":\"coin\"}\n", "`coin`: field `n` is missing");
    check("{\"type\":\"advance\"}\n", "no virtual time");
    check("{\"type\":\"ready\"}\n", "the system's");
}

#[track_caller]
fn check(line: &str, reason: &str) {
    let heard = answers(&format!("{CONFIGURE}{line}{COIN}"));
    assert_eq!(types(&heard), "hello ready error sent output output");
    let ProtocolMessage::Error(failure) = &heard[2] else { panic!("{heard:?}") };
    assert_eq!(failure.kind, FailureKind::Refused);
    assert!(failure.text.contains(reason), "{}", failure.text);
}

#[test]
fn nothing_is_taken_before_configure_and_an_early_end_is_no_trouble() {
    assert_eq!(types(&answers(COIN)), "hello error");
    assert_eq!(types(&answers("{\"type\":\"reset\"}\n")), "hello error");
    assert_eq!(types(&answers("")), "hello");
    assert_eq!(types(&answers(CONFIGURE.trim_end())), "hello ready");
}

#[test]
fn bytes_that_are_no_text_are_answered_too() {
    let mut written = Vec::new();
    let reader = io::Cursor::new(b"\xff\xfe\n".to_vec());
    serve(&model(VENDING), &new_solver, 1, reader, &mut written).unwrap();
    assert!(String::from_utf8(written).unwrap().contains("not UTF-8"));
}

#[test]
fn a_model_that_never_stops_talking_still_listens() {
    let chatty = model("model M { input stop output tick state a { emit tick on stop -> b } state b {} }");
    let (ours, theirs) = pair();
    let player = std::thread::spawn(move || {
        let reader = BufReader::new(theirs.try_clone().unwrap());
        serve(&chatty, &new_solver, 1, reader, theirs)
    });
    let mut ours_writer = ours.try_clone().unwrap();
    let mut lines = BufReader::new(ours);
    ours_writer.write_all(CONFIGURE.as_bytes()).unwrap();
    ours_writer.write_all(b"{\"type\":\"input\",\"id\":9,\"label\":\"stop\"}\n").unwrap();
    let mut next = move || {
        let LineRead::Text(text) = next_line(&mut lines).unwrap().unwrap() else { panic!("no text") };
        ProtocolMessage::from_line(&text).unwrap()
    };
    while !matches!(next(), ProtocolMessage::Sent(SentMessage { id: 9, .. })) {}
    ours_writer.write_all(b"{\"type\":\"bye\"}\n").unwrap();
    assert_eq!(next(), ProtocolMessage::Bye(ByeMessage {}));
    assert_eq!(player.join().unwrap().unwrap(), ServeEnd::Bye);
}

#[test]
fn a_model_that_only_talks_ends_when_the_tool_leaves() {
    let chatty = model("model M { output tick state a { emit tick } }");
    let reader = io::Cursor::new(format!("{CONFIGURE}{{\"type\":\"bye\"}}\n").into_bytes());
    assert_eq!(serve(&chatty, &new_solver, 1, reader, io::sink()).unwrap(), ServeEnd::Bye);
    let reader = io::Cursor::new(CONFIGURE.as_bytes());
    assert_eq!(serve(&chatty, &new_solver, 1, reader, io::sink()).unwrap(), ServeEnd::Closed);
}

#[test]
fn every_connection_has_a_player_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let model = Arc::new(model(VENDING));
    let solver: Arc<NewSolver> = Arc::new(new_solver);
    std::thread::spawn(move || serve_tcp(&listener, &model, &solver, 1, |_| ()));
    let talk = |lines: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(lines.as_bytes()).unwrap();
        let mut text = String::new();
        io::Read::read_to_string(&mut stream, &mut text).unwrap();
        types(&text.lines().map(|line| ProtocolMessage::from_line(line).unwrap()).collect::<Vec<_>>())
    };
    let bye = "{\"type\":\"bye\"}\n";
    for _ in 0..2 {
        assert_eq!(talk(&format!("{CONFIGURE}{COIN}{bye}")), "hello ready sent output output bye");
    }
}

/// Two ends of one connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}
