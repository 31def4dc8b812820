//! Tests of access tokens that are fetched, with a service that counts requests: a token is valid for some of them.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::adapter::tls::TlsConfig;
use crate::codec::http::capture::{CaptureConfig, CaptureFrom};
use crate::codec::http::token::{ACCESS_TOKEN, TokenConfig, TokenGrant};

/// The rules of a service that gives tokens.
#[derive(Clone, Copy)]
struct TokenRules {
    /// The number of requests for which a token is valid.
    uses: usize,
    /// Members of its answers besides the token.
    more: &'static str,
    /// The text that a request for a token must have in it.
    wants: &'static str,
    /// True if a refresh token is refused.
    refuses_refresh: bool,
}

const TWO_USES: TokenRules = TokenRules { uses: 2, more: "", wants: "grant_type=", refuses_refresh: false };

/// Serves tokens and sums, and sends the first line, or the form, of every request to the channel.
fn serve_tokens(rules: TokenRules) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, requests) = channel();
    let state = Arc::new(Mutex::new((0, 0)));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (state, sender) = (Arc::clone(&state), sender.clone());
            std::thread::spawn(move || {
                while let Some(head) = request(&mut stream) {
                    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                    let mut body = vec![0; length.map_or(0, |text| text.parse().unwrap())];
                    stream.read_exact(&mut body).unwrap();
                    let body = String::from_utf8(body).unwrap();
                    let (status, text) = answer_of(rules, &mut state.lock().unwrap(), &head, &body, &sender);
                    let answer =
                        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{text}", text.len());
                    if stream.write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (address, requests)
}

/// Returns status and body of an answer. The state is the number of tokens given, and of uses left of the last.
fn answer_of(
    rules: TokenRules,
    (given, left): &mut (usize, usize),
    head: &str,
    body: &str,
    sender: &Sender<String>,
) -> (u16, String) {
    if head.starts_with("POST /oauth/token ") {
        let _ = sender.send(format!("token {body}"));
        let is_refresh = body.contains("grant_type=refresh_token");
        if !format!("{head}{body}").contains(rules.wants) || is_refresh && rules.refuses_refresh {
            let refusal = r#"{"error": "invalid_grant", "error_description": "not hunter2-hunter2"}"#;
            return (400, refusal.to_owned());
        }
        (*given, *left) = (*given + 1, rules.uses);
        return (200, format!(r#"{{"access_token": "token-{given}"{}}}"#, rules.more));
    }
    let is_valid = *left > 0 && head.contains(&format!("authorization: Bearer token-{given}\r\n"));
    *left = left.saturating_sub(1);
    let _ = sender.send(format!("add {}", if is_valid { "valid" } else { "refused" }));
    if is_valid { (200, "7".to_owned()) } else { (401, "no".to_owned()) }
}

const GUARDED: &str = "model Guarded {
    input ADD(n: int)
    input WRONG(n: int)
    output SUM(n: int)
    output REFUSED
    state a { on ADD on WRONG emit SUM emit REFUSED }
}";

/// An adapter for the service at `service` whose tokens come from `issuer`.
fn adapter_for(service: &str, issuer: &str, client: Option<(&str, &str)>, source: &str) -> HttpAdapter {
    let mut protocol = speech(service);
    let header = |text: &str| vec![("Authorization".to_owned(), text.to_owned())];
    protocol.http.inputs[0].1.headers = Vec::new();
    let wrong = RequestConfig { headers: header("Bearer nonsense"), ..protocol.http.inputs[0].1.clone() };
    protocol.http.inputs.push(("WRONG".into(), wrong));
    protocol.http.outputs[0].1.status = vec!["200".into()];
    let refused = AnswerConfig { status: vec!["401".into()], ..AnswerConfig::default() };
    protocol.http.outputs.push(("REFUSED".into(), refused));
    protocol.http.headers = header("Bearer {access_token}");
    protocol.http.captures =
        vec![(ACCESS_TOKEN.into(), CaptureConfig { output: None, from: CaptureFrom::AccessToken })];
    protocol.http.token = Some(TokenConfig {
        url: format!("http://{issuer}/oauth/token"),
        tls: TlsConfig::default(),
        grant: TokenGrant::Password { user: "ann".into(), password: "hunter2-hunter2".into() },
        client: client.map(|(client, secret)| (client.to_owned(), secret.to_owned())),
        scope: None,
    });
    HttpAdapter::new(&protocol, Arc::new(model(source)), &RemoteConnection::default()).unwrap()
}

/// Sends `input`, and returns the name of its answer.
fn answer_to(adapter: &mut HttpAdapter, input: &str) -> String {
    let model = model(GUARDED);
    adapter.send(&message(&model, input, &[3])).unwrap();
    match adapter.observe(SOON).map(Observation::label) {
        Ok(Some(Label::Output(gate, _))) => model.sts.gates[gate].name.to_string(),
        other => panic!("{other:?}"),
    }
}

fn sent(requests: &Receiver<String>) -> Vec<String> {
    requests.try_iter().collect()
}

const PASSWORD: &str = "token grant_type=password&username=ann&password=hunter2-hunter2";

#[test]
fn fetches_a_new_token_after_a_401_and_asks_again() {
    let (address, requests) = serve_tokens(TWO_USES);
    let mut adapter = adapter_for(&address, &address, None, GUARDED);
    adapter.reset().unwrap();
    for _ in 0..3 {
        assert_eq!(answer_to(&mut adapter, "ADD"), "SUM");
    }
    let expected = [PASSWORD, "add valid", "add valid", "add refused", PASSWORD, "add valid"];
    assert_eq!(sent(&requests), expected);
    // Both requests are told, and neither token is.
    let exchanges = adapter.exchanges();
    let statuses: Vec<u16> = exchanges.iter().map(|one| one.response.as_ref().unwrap().status).collect();
    assert_eq!(statuses, [200, 200, 401, 200]);
    let shown = format!("{exchanges:?}{}", adapter.last_words());
    assert!(shown.contains("Bearer ${ACCESS_TOKEN}"), "{shown}");
    assert!(
        !shown.contains("token-1") && !shown.contains("token-2") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn asks_once_for_each_401_and_never_for_a_request_with_another_credential() {
    let (address, requests) = serve_tokens(TokenRules { uses: 0, ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, None, GUARDED);
    adapter.reset().unwrap();
    assert_eq!(answer_to(&mut adapter, "ADD"), "REFUSED");
    assert_eq!(sent(&requests), [PASSWORD, "add refused", PASSWORD, "add refused"]);
    assert_eq!(answer_to(&mut adapter, "WRONG"), "REFUSED");
    assert_eq!(sent(&requests), ["add refused"]);
}

#[test]
fn uses_a_refresh_token_and_the_grant_where_it_is_refused() {
    const REFRESH: &str = "token grant_type=refresh_token&refresh_token=again";
    for refuses_refresh in [false, true] {
        let rules =
            TokenRules { uses: 1, more: r#", "refresh_token": "again""#, refuses_refresh, ..TWO_USES };
        let (address, requests) = serve_tokens(rules);
        let mut adapter = adapter_for(&address, &address, None, GUARDED);
        adapter.reset().unwrap();
        assert_eq!(answer_to(&mut adapter, "ADD"), "SUM");
        assert_eq!(answer_to(&mut adapter, "ADD"), "SUM");
        let mut expected = vec![PASSWORD, "add valid", "add refused", REFRESH];
        expected.extend(refuses_refresh.then_some(PASSWORD));
        expected.push("add valid");
        assert_eq!(sent(&requests), expected);
    }
}

#[test]
fn replaces_a_token_before_it_expires() {
    let (address, requests) = serve_tokens(TokenRules { more: r#", "expires_in": 1"#, ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, None, GUARDED);
    adapter.reset().unwrap();
    assert_eq!(answer_to(&mut adapter, "ADD"), "SUM");
    assert_eq!(sent(&requests), [PASSWORD, PASSWORD, "add valid"]);
    let (address, requests) = serve_tokens(TokenRules { more: r#", "expires_in": 86400"#, ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, None, GUARDED);
    adapter.reset().unwrap();
    assert_eq!(answer_to(&mut adapter, "ADD"), "SUM");
    assert_eq!(sent(&requests), [PASSWORD, "add valid"]);
}

/// Every run begins with a token of its own: the service may have been restarted.
#[test]
fn fetches_a_token_at_every_reset_from_the_host_that_is_named() {
    let (issuer, asked) = serve_tokens(TWO_USES);
    let (service, requests) = serve_tokens(TWO_USES);
    let mut adapter = adapter_for(&service, &issuer, None, GUARDED);
    adapter.reset().unwrap();
    adapter.reset().unwrap();
    assert_eq!(sent(&asked), [PASSWORD, PASSWORD]);
    // The service does not know the tokens of the other one, and never sees the password.
    assert_eq!(answer_to(&mut adapter, "ADD"), "REFUSED");
    assert_eq!(sent(&requests), ["add refused", "add refused"]);
}

#[test]
fn sends_the_secret_of_the_client_in_the_body_where_the_header_is_refused() {
    let (address, requests) = serve_tokens(TokenRules { wants: "client_secret=sesame", ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, Some(("app", "sesame")), GUARDED);
    adapter.reset().unwrap();
    let in_body = format!("{PASSWORD}&client_id=app&client_secret=sesame");
    assert_eq!(sent(&requests), [PASSWORD, &in_body]);
    adapter.reset().unwrap();
    assert_eq!(sent(&requests), [in_body]);
}

#[test]
fn tells_why_no_token_was_given_without_secrets() {
    let (address, _requests) = serve_tokens(TokenRules { wants: "never", ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, None, GUARDED);
    let error = adapter.reset().unwrap_err();
    assert_eq!(error.breakdown(), None, "no verdict");
    let AdapterError::Token { problem: TokenProblem::Refused { status: 400, text }, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(text, "invalid_grant, not ***");
    // A redirection could lead the secrets to another host.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = listener.local_addr().unwrap().to_string();
    let moved = "HTTP/1.1 307 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    std::thread::spawn(move || listener.incoming().flatten().for_each(always(moved)));
    let error = adapter_for(&address, &elsewhere, None, GUARDED).reset().unwrap_err().to_string();
    assert!(error.contains("status 307"), "{error}");
}

/// In a model with clocks the exchange would count as time of the service.
#[test]
fn a_401_is_the_answer_in_a_model_with_clocks() {
    let timed = GUARDED.replace("state a {", "clock t\n    state a {");
    let (address, requests) = serve_tokens(TokenRules { uses: 0, ..TWO_USES });
    let mut adapter = adapter_for(&address, &address, None, &timed);
    adapter.reset().unwrap();
    assert_eq!(answer_to(&mut adapter, "ADD"), "REFUSED");
    assert_eq!(sent(&requests), [PASSWORD, "add refused"]);
}
