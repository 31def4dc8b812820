use proptest::prelude::*;

use super::*;

/// Returns the answer at the front of `text`; `ended` says that no more arrives.
fn parse(text: &str, ended: bool) -> Result<Option<(HttpResponse, usize)>, Undecodable> {
    HttpResponse::parse(text.as_bytes(), AskedFor::Body, ended)
}

#[track_caller]
fn whole(text: &str) -> HttpResponse {
    let (response, used) = parse(text, true).unwrap().unwrap();
    assert_eq!(used, text.len());
    response
}

#[test]
fn bodies_end_where_they_should() {
    let by_length = whole("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: a:b \r\n\r\nabc");
    assert_eq!((by_length.status, &*by_length.body, by_length.keeps_alive), (200, &b"abc"[..], true));
    assert_eq!(by_length.header("x"), Some("a:b"));
    let chunks = whole(
        "HTTP/1.1 201 Made\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nT: 1\r\n\r\n",
    );
    assert_eq!((chunks.status, &*chunks.body, chunks.keeps_alive), (201, &b"abcd"[..], true));
    let to_the_end = whole("HTTP/1.0 200 OK\n\nabc");
    assert_eq!((&*to_the_end.body, to_the_end.keeps_alive), (&b"abc"[..], false));
    let nothing = whole("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
    assert_eq!((&*nothing.body, nothing.keeps_alive), (&b""[..], false));
    let after_a_word = whole("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(after_a_word.status, 200);
    let head = HttpResponse::parse(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", AskedFor::Head, false);
    assert!(matches!(head, Ok(Some((HttpResponse { status: 200, .. }, 38)))), "{head:?}");
    let next = parse("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nabc", false).unwrap().unwrap();
    assert_eq!((&*next.0.body, next.1), (&b"a"[..], 39));
}

#[test]
fn what_is_no_answer_is_told() {
    let head = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}\r\n\r\n");
    for (text, says) in [
        ("SSH-2.0-x\r\n".to_owned(), "not an HTTP answer"),
        ("HTTP/2 200\r\n\r\n".to_owned(), "not an HTTP answer"),
        ("HTTP/1.1 20 OK\r\n\r\n".to_owned(), "not a status line"),
        ("HTTP/1.1 101 Switch\r\n\r\n".to_owned(), "another protocol"),
        (head("nonsense"), "`nonsense` is not a header"),
        (head("content-length: -1"), "not a length"),
        (head("content-length: 1\r\ncontent-length: 2"), "two different"),
        (head("content-length: 99999999999999999999999"), "too long"),
        (head("content-length: 104857600"), "too long"),
        (head("content-length: 1\r\ntransfer-encoding: chunked"), "both"),
        (head("transfer-encoding: zstd, chunked"), "other than"),
        (head("transfer-encoding: chunked, gzip"), "other than"),
        (head("x: a\0b"), "NUL"),
        (head("x: a\rb"), "CR that ends no line"),
        (head("x: a\r"), "CR that ends no line"),
        (head("x\0: a"), "NUL"),
        (head("x\u{1}: a"), "not a header"),
        ("HTTP/1.1 200 O\rK\r\n\r\n".to_owned(), "CR that ends no line"),
        ("HTTP/1.1 200 O\0K\r\n\r\n".to_owned(), "NUL"),
        (head("transfer-encoding: chunked") + "1;x=\r2\r\na\r\n", "size of a chunk"),
        (head("transfer-encoding: chunked") + "0\r\nx: \0\r\n\r\n", "NUL"),
        (head("transfer-encoding: chunked") + "0\r\nx: a\rb\r\n\r\n", "CR that ends no line"),
        (head("transfer-encoding: chunked") + "x\r\n", "size of a chunk"),
        (head("transfer-encoding: chunked") + "ffffffffffffffff\r\n", "too long"),
        (head("transfer-encoding: chunked") + "fffffffffffffffff\r\n", "too long"),
        (head("transfer-encoding: chunked") + "1\r\nabc\r\n", "longer than its stated length"),
        ("HTTP/1.1 ".to_owned() + &"x".repeat(MAX_HEAD), "too long"),
    ] {
        let problem = parse(&text, false).unwrap_err();
        assert!(problem.to_string().contains(says), "{}: {problem}", cut(&text, 60));
        let is_ours = matches!(problem, Undecodable::TooLarge(_));
        assert_eq!(is_ours, says == "too long", "a limit of ours is nobody's fault: {problem}");
    }
    for text in ["HTTP/1.1 200 OK\r\ncontent-le", "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab"] {
        assert_eq!(parse(text, false), Ok(None));
        assert!(parse(text, true).unwrap_err().to_string().contains("in the middle"));
    }
}

#[test]
fn a_body_in_chunks_tells_no_length() {
    let request = HttpRequest {
        method: "POST".into(),
        path: "/a".into(),
        body: Some("x".repeat(1030)),
        is_chunked: true,
        ..HttpRequest::default()
    };
    let text = String::from_utf8(request.to_bytes("h:1")).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with("transfer-encoding: chunked") && !head.contains("content-length"), "{head}");
    // Second opinion: what reads the chunks of answers reads ours.
    let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{body}");
    let (read, used) = HttpResponse::parse(answer.as_bytes(), AskedFor::Body, false).unwrap().unwrap();
    assert_eq!((read.body, used), ("x".repeat(1030).into_bytes(), answer.len()));
}

#[test]
fn a_request_is_written_with_its_length() {
    let request = HttpRequest {
        method: "PUT".into(),
        path: "/a".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: Some("{}".into()),
        ..HttpRequest::default()
    };
    let text = String::from_utf8(request.to_bytes("h:1")).unwrap();
    assert_eq!(
        text,
        "PUT /a HTTP/1.1\r\nhost: h:1\r\nuser-agent: ioxide\r\naccept: */*\r\n\
         accept-encoding: identity\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    );
}

proptest! {
    /// Whatever comes is an answer, an error or a wish for more; and an answer cut anywhere is a wish for more.
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), ended: bool) {
        let _ = HttpResponse::parse(&bytes, AskedFor::Body, ended);
        let _ = HttpResponse::parse(&[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\
                                        \r\n", &*bytes].concat(), AskedFor::Body, ended);
    }

    #[test]
    fn an_answer_is_the_same_in_any_chunks(
        body in "[a-z]{0,40}", sizes in proptest::collection::vec(1usize..7, 1..20),
    ) {
        let mut text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
        let (mut rest, mut sizes) = (body.as_str(), sizes.into_iter().cycle());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
            text.push_str(&format!("{:x}\r\n{chunk}\r\n", chunk.len()));
            rest = after;
        }
        text.push_str("0\r\n\r\n");
        prop_assert_eq!(&*whole(&text).body, body.as_bytes());
        for cut in 0..text.len() {
            prop_assert_eq!(parse(&text[..cut], false), Ok(None));
        }
    }
}

/// A long body is no fault of the system.
#[test]
fn a_body_that_is_longer_than_is_read_is_not_called_wrong() {
    let long = (max_body() + 1).to_string();
    for text in [
        format!("HTTP/1.1 200 OK\r\ncontent-length: {long}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", max_body() + 1),
    ] {
        assert!(matches!(parse(&text, false), Err(Undecodable::TooLarge(_))), "{text}");
    }
}
