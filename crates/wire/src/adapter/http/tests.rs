mod captures;
mod streams;
mod token;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::codec::http::RequestConfig;
use crate::codec::http::answer::AnswerConfig;
use crate::codec::http::message::AskedFor;
use crate::samples::{message, model};

const COUNTER: &str = "model Counter {
    input ADD(n: int)
    output SUM(n: int)
    state a { on ADD emit SUM }
}";

fn speech(address: &str) -> HttpProtocol {
    let add = RequestConfig {
        method: "POST".into(),
        path: "/add/{n}".into(),
        headers: vec![("X-Token".into(), "s3cret".into())],
        ..RequestConfig::default()
    };
    let sum = AnswerConfig { body: Some("(?P<n>[0-9]+)".into()), ..AnswerConfig::default() };
    HttpProtocol {
        url: format!("http://{address}").parse().unwrap(),
        http: HttpConfig {
            inputs: vec![("ADD".into(), add)],
            outputs: vec![("SUM".into(), sum)],
            ..HttpConfig::default()
        },
        reset: Vec::new(),
        on_connect: Vec::new(),
    }
}

/// An adapter for a server whose connections are handled by `serve`, one after the other.
fn against(serve: impl Fn(TcpStream) + Send + 'static) -> HttpAdapter {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
    let connection = RemoteConnection { limit: Duration::from_millis(800), ..RemoteConnection::default() };
    let mut adapter = HttpAdapter::new(&speech(&address), Arc::new(model(COUNTER)), &connection).unwrap();
    adapter.reset().unwrap();
    adapter
}

/// Reads one request; `None` at the end.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        text.push(byte[0]);
    }
    String::from_utf8(text).ok()
}

/// Answers every request on a connection with `answer`.
fn always(answer: &'static str) -> impl Fn(TcpStream) + Send + 'static {
    move |mut stream| {
        while request(&mut stream).is_some() {
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn ask(adapter: &mut HttpAdapter, patience: Duration) -> Result<Option<Label>, AdapterError> {
    let model = model(COUNTER);
    adapter.send(&message(&model, "ADD", &[3]))?;
    adapter.observe(patience).map(Observation::label)
}

const SOON: Duration = Duration::from_secs(5);

#[test]
fn connections_are_kept_and_made_anew() {
    let seven = Ok(Some(message(&model(COUNTER), "SUM", &[7])));
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n7\r\n0\r\n\r\n",
    ] {
        let mut adapter = against(always(answer));
        for _ in 0..3 {
            assert_eq!(ask(&mut adapter, SOON), seven);
            assert_eq!(adapter.idle.len(), 1);
            assert_eq!(adapter.observe(Duration::from_millis(5)), Ok(Observation::Quiet));
        }
    }
    let closing = |mut stream: TcpStream| {
        request(&mut stream);
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n7").unwrap();
    };
    let mut adapter = against(closing);
    for _ in 0..3 {
        assert_eq!(ask(&mut adapter, SOON), seven);
        assert!(adapter.idle.is_empty());
    }
}

#[test]
fn only_an_open_connection_is_silent() {
    let silent = |mut stream: TcpStream| {
        request(&mut stream);
        std::thread::sleep(SOON);
    };
    assert_eq!(ask(&mut against(silent), Duration::from_millis(30)), Ok(None));
    let closing = |mut stream: TcpStream| {
        request(&mut stream);
    };
    assert!(matches!(ask(&mut against(closing), SOON), Err(AdapterError::Ended { .. })));
}

#[test]
fn answers_that_are_none_are_told() {
    for (answer, says) in [
        ("tea\r\n\r\n", "not an HTTP answer"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\ntea", "matches no output"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n", "too long"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n7", "incomplete message: the rest of it did not come"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 22\r\n\r\nthe token is s3cret ok", "the token is *** ok"),
    ] {
        let error = ask(&mut against(always(answer)), Duration::from_millis(100)).unwrap_err().to_string();
        assert!(error.contains(says), "should say `{says}`: {error}");
    }
}

const SEVEN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7";

/// Returns the observation that follows the first answer of a system that answers everything with `answer`.
fn after_seven(answer: String) -> Result<Option<Label>, AdapterError> {
    after_seven_within(answer, SOON)
}

fn after_seven_within(answer: String, patience: Duration) -> Result<Option<Label>, AdapterError> {
    let answer: &'static str = Box::leak(answer.into_boxed_str());
    let mut adapter = against(always(answer));
    let seven = Some(message(&model(COUNTER), "SUM", &[7]));
    assert_eq!(ask(&mut adapter, SOON), Ok(seven));
    adapter.observe(patience).map(Observation::label)
}

#[test]
fn a_second_answer_in_the_packet_of_the_first_is_an_output() {
    let eight = Some(message(&model(COUNTER), "SUM", &[8]));
    let wrong = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n8";
    assert_eq!(after_seven(format!("{SEVEN}{wrong}")), Ok(eight.clone()));
    let last = SEVEN.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    assert_eq!(after_seven(format!("{last}{wrong}")), Ok(eight));
}

#[test]
fn garbage_in_the_packet_of_an_answer_is_told_with_its_bytes() {
    for garbage in ["tea", "\r\n", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"] {
        let error = after_seven(format!("{SEVEN}{garbage}")).unwrap_err();
        let AdapterError::Unreadable { line, reason } = error else { panic!("{error}") };
        assert!(reason.contains("without a request"), "{reason}");
        assert_eq!(line, garbage.escape_debug().to_string());
    }
    let half = format!("{SEVEN}HTTP/1.1 200 OK\r\n");
    let half = after_seven_within(half, Duration::from_millis(10)).unwrap_err().to_string();
    assert!(half.contains("incomplete message"), "{half}");
    let none = after_seven(format!("{SEVEN}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\ntea")).unwrap_err();
    assert!(none.to_string().contains("matches no output"), "{none}");
}

#[test]
fn a_server_that_closes_an_idle_connection_with_408_is_not_blamed() {
    let closing = "HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    assert_eq!(after_seven(format!("{SEVEN}{closing}")), Ok(None));
}

#[test]
fn requests_side_by_side_have_connections_of_their_own() {
    let slow = |stream: TcpStream| {
        std::thread::spawn(move || {
            let mut stream = stream;
            while let Some(text) = request(&mut stream) {
                if text.starts_with("POST /add/1 ") {
                    std::thread::sleep(Duration::from_millis(100));
                }
                let n = if text.starts_with("POST /add/1 ") { 1 } else { 2 };
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{n}");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
    };
    let mut adapter = against(slow);
    let model = model(COUNTER);
    adapter.send(&message(&model, "ADD", &[1])).unwrap();
    assert_eq!(adapter.poll(), Ok(None));
    adapter.send(&message(&model, "ADD", &[2])).unwrap();
    for n in [2, 1] {
        let sum = message(&model, "SUM", &[n]);
        assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(sum)));
    }
    assert_eq!(adapter.idle.len(), 2);
}

#[test]
fn the_conversation_is_remembered_without_secrets() {
    let mut adapter = against(always("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n7"));
    ask(&mut adapter, SOON).unwrap();
    assert_eq!(adapter.last_words(), "> POST /add/3\n> x-token: ***\n< 200 7\n");
}

/// A failure shows requests and answers with variables of the environment for what came from them, and no secrets.
#[test]
fn exchanges_are_kept_since_the_reset_without_secrets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut speech = speech(&address);
    speech.http.variables = vec![("0123456789abcdef".into(), "API_TOKEN".into())];
    speech.http.inputs[0].1.headers = vec![
        ("Authorization".into(), "Bearer 0123456789abcdef".into()),
        ("X-Api-Key".into(), "another-secret".into()),
    ];
    let answer =
        "HTTP/1.1 200 OK\r\nset-cookie: s=1\r\nx-echo: 0123456789abcdef\r\ncontent-length: 1\r\n\r\n7";
    std::thread::spawn(move || listener.incoming().flatten().for_each(always(answer)));
    let mut adapter =
        HttpAdapter::new(&speech, Arc::new(model(COUNTER)), &RemoteConnection::default()).unwrap();
    adapter.reset().unwrap();
    ask(&mut adapter, SOON).unwrap();
    let exchanges = adapter.exchanges();
    let [exchange] = &exchanges[..] else { panic!("{exchanges:?}") };
    let request = &exchange.request;
    assert_eq!((&*request.method, &*request.url), ("POST", &*format!("http://{address}/add/3")));
    let header =
        |name: &str| request.headers.iter().find(|(other, _)| other == name).map(|(_, value)| &**value);
    assert_eq!(header("authorization"), Some("Bearer ${API_TOKEN}"));
    assert_eq!(header("x-api-key"), Some("***"));
    assert_eq!(request.variables, ["API_TOKEN"]);
    let response = exchange.response.as_ref().unwrap();
    assert_eq!((response.status, &*response.body), (200, "7"));
    assert!(!format!("{exchanges:?}").contains("01234567"), "{exchanges:?}");
    adapter.reset().unwrap();
    assert!(adapter.exchanges().is_empty());
}

#[test]
fn a_url_says_that_a_server_is_up() {
    let serving = |status: &'static str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                request(&mut stream);
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        format!("http://{address}/health")
    };
    assert!(is_up(&serving("200"), Interrupt::never()));
    assert!(!is_up(&serving("503"), Interrupt::never()));
    assert!(!is_up("http://127.0.0.1:1", Interrupt::never()));
}

/// Defect: of an object with a key twice the last value counted, whatever the system's other readers see.
#[test]
fn a_body_that_says_two_things_at_once_is_none() {
    let sum = AnswerConfig { fields: vec![("n".into(), "/n".into())], ..AnswerConfig::default() };
    let speech = HttpProtocol {
        http: HttpConfig { outputs: vec![("SUM".into(), sum)], ..speech("localhost:1").http },
        ..speech("localhost:1")
    };
    let model = model(COUNTER);
    let codec = HttpCodec::new(&speech.http, "", &model).unwrap();
    let answer = |body: &str| {
        let text = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let (response, _) = HttpResponse::parse(text.as_bytes(), AskedFor::Body, false).unwrap().unwrap();
        codec.decode(&model, &response, None)
    };
    assert_eq!(answer("{\"n\": 7}"), Ok(message(&model, "SUM", &[7])));
    let error = answer("{\"n\": 7, \"n\": 8}").unwrap_err();
    assert!(error.to_string().contains("the key `n` occurs twice"), "{error}");
}

/// Defect: parts of a secret, and the bytes of an answer that is none, were shown.
#[test]
fn parts_of_a_secret_that_come_back_are_hidden() {
    let token = "0123456789abcdefghij";
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 18\r\n\r\nbad token 89abcdef",
        "oops 0123456789abcdefghij\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\nMDEyMzQ1Njc4OWFiY2RlZg==",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut speech = speech(&listener.local_addr().unwrap().to_string());
        speech.http.inputs[0].1.headers = vec![("Authorization".into(), format!("Bearer {token}"))];
        std::thread::spawn(move || listener.incoming().flatten().for_each(always(answer)));
        let connection =
            RemoteConnection { limit: Duration::from_millis(300), ..RemoteConnection::default() };
        let mut adapter = HttpAdapter::new(&speech, Arc::new(model(COUNTER)), &connection).unwrap();
        adapter.reset().unwrap();
        let error = ask(&mut adapter, Duration::from_millis(50)).unwrap_err().to_string();
        for shown in [error, adapter.last_words()] {
            assert!(!shown.contains("89abcdef") && !shown.contains("MDEyMzQ1"), "{shown}");
        }
    }
}

/// A long answer in many pieces is read in the end, and not again for every piece.
#[test]
fn a_long_answer_in_many_small_pieces_is_read() {
    let long = |mut stream: TcpStream| {
        request(&mut stream);
        let lines = format!("3e8\r\n{}\r\n", "\n".repeat(1000)).repeat(3000);
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(format!("{head}1\r\n7\r\n{lines}0\r\n\r\n").as_bytes()).ok();
        std::thread::sleep(SOON);
    };
    let mut adapter = against(long);
    adapter.limit = Duration::from_secs(60);
    let seven = Some(message(&model(COUNTER), "SUM", &[7]));
    assert_eq!(ask(&mut adapter, Duration::from_secs(60)), Ok(seven));
}
