//! Server-sent events and WebSockets.

use super::*;
use crate::codec::unsolicited::{AnswerRule, UnsolicitedConfig, UnsolicitedPattern};

const FEED: &str = "model Feed {
    input OPEN
    input SAY(n: int)
    output OPENED
    output TICK(n: int)
    output CLOSED
    state a { on OPEN on SAY emit OPENED emit TICK emit CLOSED }
}";

fn feed(websocket: bool, tells_end: bool, serve: impl Fn(TcpStream) + Send + 'static) -> HttpAdapter {
    feed_with(websocket, tells_end, HttpConfig::default(), serve)
}

/// Returns a feed with the further settings of `config`.
fn feed_with(
    websocket: bool,
    tells_end: bool,
    config: HttpConfig,
    serve: impl Fn(TcpStream) + Send + 'static,
) -> HttpAdapter {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
    let open =
        RequestConfig { method: "GET".into(), path: "/feed".into(), websocket, ..RequestConfig::default() };
    let say = if websocket {
        RequestConfig {
            body: Some("{{\"n\": {n}}}".into()),
            over: Some("OPEN".into()),
            ..RequestConfig::default()
        }
    } else {
        RequestConfig { method: "POST".into(), path: "/say/{n}".into(), ..RequestConfig::default() }
    };
    let opened = AnswerConfig {
        status: vec!["200".into(), "101".into()],
        to: vec!["OPEN".into()],
        ..AnswerConfig::default()
    };
    let tick = AnswerConfig {
        event: Some("tick|message".into()),
        fields: vec![("n".into(), "/n".into())],
        ..AnswerConfig::default()
    };
    let closed = AnswerConfig { closed: tells_end, to: vec!["OPEN".into()], ..AnswerConfig::default() };
    let speech = HttpProtocol {
        url: format!("http://{address}").parse().unwrap(),
        http: HttpConfig {
            inputs: vec![("OPEN".into(), open), ("SAY".into(), say)],
            outputs: vec![("OPENED".into(), opened), ("TICK".into(), tick), ("CLOSED".into(), closed)],
            ..config
        },
        reset: Vec::new(),
        on_connect: Vec::new(),
    };
    let connection = RemoteConnection { limit: Duration::from_secs(5), ..RemoteConnection::default() };
    let mut adapter = HttpAdapter::new(&speech, Arc::new(model(FEED)), &connection).unwrap();
    adapter.reset().unwrap();
    adapter.send(&message(&model(FEED), "OPEN", &[])).unwrap();
    adapter
}

/// The next three messages are these; then comes silence, or the end.
fn hears(adapter: &mut HttpAdapter, all: &[(&str, &[i64])]) {
    let model = model(FEED);
    for (name, values) in all {
        let wanted = Ok(Some(message(&model, name, values)));
        assert_eq!(adapter.observe(SOON).map(Observation::label), wanted, "{}", adapter.last_words());
    }
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

#[test]
fn a_new_stream_is_cold_until_its_first_message() {
    let mut adapter = feed(false, true, |mut stream: TcpStream| {
        request(&mut stream);
        let text = "\r\nevent: tick\ndata: {\"n\": 1}\n\nevent: tick\ndata: {\"n\": 2}\n\n";
        stream
            .write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{text}").as_bytes())
            .unwrap();
        let _ = request(&mut stream);
    });
    let limit = Some(Duration::from_secs(5));
    assert_eq!(adapter.first_reply_limit(), limit, "nothing has come since the connection was made");
    for (is_first, limit) in [(true, limit), (true, None), (false, None)] {
        let Ok(Observation::Output(output)) = adapter.observe(SOON) else {
            panic!("{}", adapter.last_words())
        };
        assert_eq!((output.is_first, adapter.first_reply_limit()), (is_first, limit), "{:?}", output.label);
    }
    adapter.reset().unwrap();
    assert!(adapter.first_reply_limit().is_some(), "a new connection is cold");
}

#[test]
fn events_are_messages_in_chunks_or_not() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n";
    let plain = |mut stream: TcpStream| {
        request(&mut stream);
        let text = "\r\n: hi\n\nevent: tick\ndata: {\"n\": 1}\n\ndata: {\"n\":\ndata: 2}\n\n";
        stream
            .write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{text}").as_bytes())
            .unwrap();
    };
    let mut adapter = feed(false, true, plain);
    hears(&mut adapter, &[("OPENED", &[]), ("TICK", &[1]), ("TICK", &[2]), ("CLOSED", &[])]);
    let chunked = move |mut stream: TcpStream| {
        request(&mut stream);
        let first = chunk("event: tick\nda") + &chunk("ta: {\"n\": 1}\n\n");
        let text = format!("{head}transfer-encoding: chunked\r\n\r\n{first}");
        stream.write_all(text.as_bytes()).unwrap();
        let _ = request(&mut stream);
    };
    let mut adapter = feed(false, true, chunked);
    hears(&mut adapter, &[("OPENED", &[]), ("TICK", &[1])]);
    assert_eq!(
        adapter.observe(Duration::from_millis(30)),
        Ok(Observation::Quiet),
        "an open stream is silent"
    );
}

/// The end of a stream that is no output of the model is no silence.
#[test]
fn a_stream_that_ends_is_told() {
    let closing = |mut stream: TcpStream| {
        request(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").unwrap();
    };
    let mut adapter = feed(false, false, closing);
    hears(&mut adapter, &[("OPENED", &[])]);
    assert_eq!(adapter.observe(SOON), Err(AdapterError::Closed));
    let half = |mut stream: TcpStream| {
        request(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n").unwrap();
    };
    let mut adapter = feed(false, true, half);
    hears(&mut adapter, &[("OPENED", &[])]);
    let error = adapter.observe(SOON).unwrap_err().to_string();
    assert!(error.contains("incomplete message"), "{error}");
}

const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
    sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Reads one short masked frame: its kind and what it holds.
fn frame(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 6];
    stream.read_exact(&mut head).ok()?;
    let mut payload = vec![0; usize::from(head[1] & 0x7f)];
    stream.read_exact(&mut payload).ok()?;
    payload.iter_mut().zip(head[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Some((head[0] & 0x0f, payload))
}

#[test]
fn a_websocket_carries_messages_both_ways() {
    let echo = |mut stream: TcpStream| {
        let Some(text) = request(&mut stream) else { return };
        assert!(text.contains("upgrade: websocket") && text.contains("sec-websocket-key"), "{text}");
        stream.write_all(SWITCH.as_bytes()).unwrap();
        // A question first: it is answered before what comes after it, but a message may be under way already.
        stream.write_all(&[0x89, 1, b'?']).unwrap();
        let mut is_answered = false;
        while let Some((kind, payload)) = frame(&mut stream) {
            if kind == 8 {
                break;
            }
            if kind == 10 {
                assert_eq!(payload, b"?");
                is_answered = true;
                continue;
            }
            assert!(kind == 1 && (is_answered || payload == b"{\"n\": 3}"), "{kind} {payload:?}");
            let first = payload.len() / 2;
            let parts = [
                &[0x01, first as u8],
                &payload[..first],
                &[0x80, (payload.len() - first) as u8],
                &payload[first..],
            ];
            stream.write_all(&parts.concat()).unwrap();
            if payload == b"{\"n\": 9}" {
                stream.write_all(&[0x88, 0]).unwrap();
            }
        }
    };
    let model = model(FEED);
    let mut adapter = feed(true, true, echo);
    hears(&mut adapter, &[("OPENED", &[])]);
    for n in [3, -4] {
        // The question may have to be seen before the answer comes.
        adapter.send(&message(&model, "SAY", &[n])).unwrap();
        hears(&mut adapter, &[("TICK", &[n])]);
    }
    assert_eq!(adapter.observe(Duration::from_millis(30)), Ok(Observation::Quiet));
    adapter.send(&message(&model, "SAY", &[9])).unwrap();
    hears(&mut adapter, &[("TICK", &[9]), ("CLOSED", &[])]);
    let closed = adapter.send(&message(&model, "SAY", &[1])).unwrap_err();
    assert!(matches!(closed, AdapterError::Unwritable(_)), "{closed}");
}

#[test]
fn a_websocket_that_is_none_is_told() {
    for (answer, says) in [
        ("HTTP/1.1 101 X\r\nupgrade: h2c\r\n\r\n".to_owned(), "another protocol"),
        (SWITCH.replace("s3pP", "xxxx"), "does not answer our key"),
        (format!("{SWITCH}\u{1}"), "incomplete message"),
    ] {
        let wrong = move |mut stream: TcpStream| {
            request(&mut stream);
            stream.write_all(answer.as_bytes()).unwrap();
        };
        let mut adapter = feed(true, true, wrong);
        let mut seen = adapter.observe(SOON);
        if seen.is_ok() {
            seen = adapter.observe(SOON);
        }
        let error = seen.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn unsolicited_messages_of_a_stream_are_ignored_or_answered() {
    let events = |mut stream: TcpStream| {
        request(&mut stream);
        let text = "event: beat\ndata: 1\n\nevent: tick\ndata: {\"n\": 1}\n\nevent: tick\ndata: hello\n\n";
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        stream.write_all(format!("{head}{text}").as_bytes()).unwrap();
        let _ = request(&mut stream);
    };
    let beat = AnswerConfig { event: Some("beat".into()), ..AnswerConfig::default() };
    let rules = UnsolicitedConfig {
        ignore: vec![UnsolicitedPattern::Text("hello".into())],
        answer: vec![AnswerRule::Text { pattern: r"ping (\d+)".into(), answer: "{{\"n\": {1}}}".into() }],
    };
    let config = || HttpConfig {
        ignored_events: vec![beat.clone()],
        unsolicited: rules.clone(),
        ..HttpConfig::default()
    };
    let mut adapter = feed_with(false, true, config(), events);
    hears(&mut adapter, &[("OPENED", &[]), ("TICK", &[1])]);
    assert_eq!(
        adapter.observe(Duration::from_millis(30)),
        Ok(Observation::Quiet),
        "only what is ignored came"
    );
    let texts: Vec<String> = adapter.take_unsolicited().into_iter().map(|told| told.text).collect();
    assert_eq!(texts, ["1", "hello"]);
    // What it is answered it sends back, as a message that the model sees.
    let pinging = |mut stream: TcpStream| {
        if request(&mut stream).is_none() {
            return;
        }
        stream.write_all(SWITCH.as_bytes()).unwrap();
        stream.write_all(&[&[0x81, 6][..], b"ping 5"].concat()).unwrap();
        while let Some((1, payload)) = frame(&mut stream) {
            stream.write_all(&[&[0x81, payload.len() as u8][..], &payload].concat()).unwrap();
        }
    };
    let mut adapter = feed_with(true, true, config(), pinging);
    hears(&mut adapter, &[("OPENED", &[]), ("TICK", &[5])]);
    let told = adapter.take_unsolicited();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].text.as_str(), told[0].answer.as_deref()), ("ping 5", Some("{\"n\": 5}")));
}
