//! Tests of values that answers provide and later requests repeat.

use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::codec::http::capture::{CaptureConfig, CaptureFrom};

const LOGIN: &str = "model Login {
    input LOGIN
    input LIST(limit: int?, tags: list<string>)
    output OK
    output LISTED
    state a { on LOGIN on LIST emit OK emit LISTED }
}";

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn speech(address: &str) -> HttpProtocol {
    let capture = |from| CaptureConfig { output: None, from };
    let login = RequestConfig { method: "POST".into(), path: "/login".into(), ..RequestConfig::default() };
    let list = RequestConfig {
        method: "GET".into(),
        path: "/items".into(),
        query: pairs(&[("limit", "{limit}"), ("tag", "{tags}"), ("csrf", "{csrf}")]),
        headers: pairs(&[("Authorization", "Bearer {token}"), ("If-None-Match", "{tag}")]),
        cookies: pairs(&[("again", "{session}")]),
        ..RequestConfig::default()
    };
    let to = |input: &str| AnswerConfig { to: vec![input.to_owned()], ..AnswerConfig::default() };
    HttpProtocol {
        url: format!("http://{address}").parse().unwrap(),
        http: HttpConfig {
            inputs: vec![("LOGIN".into(), login), ("LIST".into(), list)],
            outputs: vec![("OK".into(), to("LOGIN")), ("LISTED".into(), to("LIST"))],
            captures: vec![
                ("token".into(), capture(CaptureFrom::Json("/token".into()))),
                ("tag".into(), capture(CaptureFrom::Header("etag".into()))),
                ("csrf".into(), capture(CaptureFrom::Header("x-csrf".into()))),
                ("session".into(), capture(CaptureFrom::Cookie("sid".into()))),
            ],
            keeps_cookies: true,
            ..HttpConfig::default()
        },
        reset: Vec::new(),
        on_connect: Vec::new(),
    }
}

/// A server that answers everything alike and tells the requests it got.
fn recording() -> (HttpAdapter, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let speech = speech(&listener.local_addr().unwrap().to_string());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            while let Some(text) = request(&mut stream) {
                let _ = sender.send(text);
                let body = r#"{"token": "t0ps3cret"}"#;
                let head = "etag: \"7\"\r\nset-cookie: sid=c00kie; Path=/";
                let text =
                    format!("HTTP/1.1 200 OK\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                if stream.write_all(text.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    let connection = RemoteConnection { limit: Duration::from_secs(5), ..RemoteConnection::default() };
    let mut adapter = HttpAdapter::new(&speech, Arc::new(model(LOGIN)), &connection).unwrap();
    adapter.reset().unwrap();
    (adapter, requests)
}

fn list(model: &Model) -> Label {
    let text = r#"{"limit": null, "tags": ["a", "b c"]}"#;
    let message =
        ioxide_record::value::WireMessage { label: "LIST".into(), args: serde_json::from_str(text).unwrap() };
    ioxide_record::value::label_from_json(model, &message, |kind| kind == ioxide_model::sts::GateKind::Input)
        .unwrap()
}

#[test]
fn captures_fill_later_requests_until_the_reset() {
    let model = model(LOGIN);
    let (mut adapter, requests) = recording();
    let ask = |adapter: &mut HttpAdapter, label: &Label, answer: &str| {
        adapter.send(label).unwrap();
        assert_eq!(adapter.observe(SOON).map(Observation::label), Ok(Some(message(&model, answer, &[]))));
        requests.recv_timeout(SOON).unwrap()
    };
    let before = ask(&mut adapter, &list(&model), "LISTED");
    assert!(before.starts_with("GET /items?tag=a&tag=b%20c HTTP"), "{before}");
    assert!(!before.contains("authorization") && !before.contains("cookie"), "{before}");
    ask(&mut adapter, &message(&model, "LOGIN", &[]), "OK");
    let after = ask(&mut adapter, &list(&model), "LISTED");
    for line in
        ["authorization: Bearer t0ps3cret", "if-none-match: \"7\"", "cookie: sid=c00kie; again=c00kie"]
    {
        assert!(after.contains(&format!("\r\n{line}\r\n")), "{after}");
    }
    assert!(!adapter.last_words().contains("t0ps3cret"), "{}", adapter.last_words());
    adapter.reset().unwrap();
    let fresh = ask(&mut adapter, &list(&model), "LISTED");
    assert!(!fresh.contains("authorization") && !fresh.contains("cookie"), "{fresh}");
}
