//! A fake learner tells its stages; what the page is told is read over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread::{self, JoinHandle};

use ioxide_learn::drawing::{DrawnMove, DrawnState};
use serde_json::Value as Json;

use super::*;
use crate::access::AccessToken;
use crate::server::{ExplorerServer, ServerEnder};

/// A board that is served; the server ends with it.
struct Served {
    board: Arc<LearningBoard>,
    url: String,
    ender: ServerEnder,
    server: Option<JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let subject = LearningSubject { system: "a \u{202e}lock".into(), ..LearningSubject::default() };
        let board = LearningBoard::new(subject);
        let server =
            ExplorerServer::bind(([127, 0, 0, 1], 0).into(), AccessToken::new(7)).expect("a free port");
        let (url, ender) = (server.url(), server.ender());
        let page = Arc::clone(&board);
        let server = Some(thread::spawn(move || server.serve(&page)));
        Self { board, url, ender, server }
    }

    /// The connection on which `path`, behind the token, is answered.
    fn ask(&self, method: &str, path: &str) -> TcpStream {
        let rest = self.url.strip_prefix("http://").expect("an address");
        let (host, token) = rest.split_once('/').expect("a token");
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let text = format!("{method} /{token}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(text.as_bytes()).expect("it is heard");
        stream
    }

    fn get(&self, path: &str) -> (u16, String) {
        let mut answer = String::new();
        self.ask("GET", path).read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), body.to_owned())
    }

    fn json(&self, path: &str) -> Json {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ender.end_server();
        self.server.take().map(JoinHandle::join);
    }
}

fn state(key: &str) -> DrawnState {
    DrawnState { key: key.into(), name: format!("state {key}"), variables: Vec::new() }
}

fn step(from: usize, text: &str, to: usize) -> DrawnMove {
    DrawnMove { from, to, text: text.into(), ..DrawnMove::default() }
}

#[test]
fn the_page_is_told_every_stage_and_the_end() {
    let served = Served::start();
    let board = &served.board;
    let view = served.json("api/learning");
    assert_eq!((&view["phase"], &view["picture"], &view["end"]), (&"asking".into(), &0.into(), &Json::Null));
    assert_eq!(view["system"], "a \\u{202e}lock", "what is hidden is written out");
    board.meter().count(2, 9);
    board.report_hypothesis(1, 3);
    board.report_phase(LearningPhase::Testing { extra: 1, done: 64, of: 200 });
    board.report_guarantee("exact if small".into());
    let view = served.json("api/learning");
    for (field, expected) in [
        ("extra", 1),
        ("done", 64),
        ("of", 200),
        ("hypotheses", 1),
        ("states", 3),
        ("resets", 2),
        ("symbols", 9),
    ] {
        assert_eq!(view[field], expected, "{field}");
    }
    assert_eq!((&view["phase"], &view["guarantee"]), (&"testing".into(), &"exact if small".into()));
    assert!(view["left_ms"].is_u64(), "{view}");
    let found = Counterexample { steps: vec![("push".into(), "open".into())], believed: "shut".into() };
    board.report_counterexample(1, found);
    board.report_hypothesis(2, 4);
    let view = served.json("api/learning");
    assert_eq!(view["guarantee"], "", "what was promised of another hypothesis is not promised of this one");
    assert_eq!(view["counterexample"]["steps"][0]["answer"], "open");
    assert_eq!(view["counterexample"]["believed"], "shut");
    board.report_disagreement("two ways\n  earlier: a/b\n  now:     a/c".into());
    board.report_end(LearningEnd {
        has_model: true,
        lines: vec!["learned".into()],
        out: Some("x.iox".into()),
    });
    let view = served.json("api/learning");
    assert_eq!(view["disagreement"], serde_json::json!(["two ways", "earlier: a/b", "now:     a/c"]));
    assert_eq!((&view["phase"], &view["end"]["out"]), (&"over".into(), &"x.iox".into()));
    let elapsed = view["elapsed_ms"].as_u64();
    thread::sleep(Duration::from_millis(30));
    assert_eq!(served.json("api/learning")["elapsed_ms"].as_u64(), elapsed, "the clock has stopped");
}

#[test]
fn the_picture_marks_what_is_new() {
    let served = Served::start();
    let picture = served.json("api/learning/picture");
    assert_eq!((&picture["picture"], &picture["svg"]), (&0.into(), &"".into()));
    let one = HypothesisDrawing {
        number: 1,
        states: vec![state("0"), state("1")],
        moves: vec![step(0, "a / x", 1), step(1, "a / y", 0)],
    };
    served.board.report_drawing(one.clone());
    let picture = served.json("api/learning/picture");
    assert_eq!(
        (&picture["n_new_moves"], &picture["before"]),
        (&0.into(), &Json::Null),
        "nothing to compare with"
    );
    assert!(!picture["svg"].as_str().expect("a picture").contains("+ a / x"));
    let mut two = one;
    two.number = 2;
    two.states.push(state("2"));
    two.moves[1].to = 2;
    two.moves.push(step(2, "a / x", 0));
    served.board.report_drawing(two.clone());
    for _ in 0..2 {
        let picture = served.json("api/learning/picture");
        assert_eq!(picture["new_states"], serde_json::json!(["state 2"]));
        assert_eq!((&picture["n_new_moves"], &picture["n_gone"]), (&2.into(), &1.into()), "{picture}");
        let svg = picture["svg"].as_str().expect("a picture");
        assert!(svg.contains("+ a / y") && svg.contains("+ a / x") && svg.contains("node new"), "{svg}");
        // Drawn again, perhaps with better names: still compared with the first.
        served.board.report_drawing(two.clone());
    }
}

#[test]
fn what_is_too_large_is_said_to_be() {
    let states: Vec<DrawnState> = (0..40).map(|at| state(&at.to_string())).collect();
    let step_number = |at: usize| step(at % 40, &format!("i{at} / o"), at / 40);
    let moves: Vec<DrawnMove> = (0..1_600).map(step_number).collect();
    let view = HypothesisView::new(1, &HypothesisDrawing { number: 1, states, moves }, None);
    let view = serde_json::to_value(&view).expect("JSON");
    assert_eq!(view["missing"], "40 states and 1600 moves are too many for a picture");
    assert_eq!(view["svg"], "");
}

#[test]
fn a_page_that_reads_slowly_holds_nobody_up_and_hears_the_end() {
    let served = Served::start();
    let stream = served.ask("GET", "api/learning/events");
    // The server takes its time to see the connection.
    while !served.board.is_watched() {
        thread::yield_now();
    }
    // Nobody reads; far more is told than a connection holds.
    let long = "x".repeat(1_000);
    let begun = Instant::now();
    for number in 0..20_000 {
        served.board.report_hypothesis(number, number);
        served.board.add_note(long.clone());
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    served.board.report_end(LearningEnd { has_model: false, lines: vec!["no model".into()], out: None });
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let last = lines
        .filter_map(|line| serde_json::from_str::<Json>(line.strip_prefix("data: ")?).ok())
        .find(|view| view["phase"] == "over")
        .expect("the end is told");
    assert_eq!(last["end"]["lines"][0], "no model");
    assert_eq!(last["hypotheses"], 19_999);
}

#[test]
fn the_counts_go_on_between_two_stages() {
    let served = Served::start();
    let stream = served.ask("GET", "api/learning/events");
    let mut views = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Json>(line.strip_prefix("data: ")?).ok());
    assert_eq!(views.next().expect("a view")["symbols"], 0);
    served.board.meter().count(1, 5);
    assert!(views.any(|view| view["symbols"] == 5));
}

#[test]
fn nothing_can_be_changed_and_nothing_else_is_there() {
    let served = Served::start();
    for path in ["", "learning.js", "learning.css", "icon.svg"] {
        let (status, body) = served.get(path);
        assert_eq!(status, 200, "{path}");
        assert!(!body.is_empty(), "{path}");
    }
    for path in ["api/model", "api/live", "api/walk", "explorer.js", "../Cargo.toml"] {
        assert_eq!(served.get(path).0, 404, "{path}");
    }
    let mut answer = String::new();
    let _ = served.ask("POST", "api/learning").read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
}

#[test]
fn what_is_left_takes_as_long_as_what_is_done() {
    let board = LearningBoard::new(LearningSubject::default());
    board.report_phase(LearningPhase::Testing { extra: 0, done: 0, of: 100 });
    assert_eq!(board.lock().estimated_time_left(), None);
    thread::sleep(Duration::from_millis(40));
    board.report_phase(LearningPhase::Testing { extra: 0, done: 50, of: 100 });
    let left = board.lock().estimated_time_left().expect("a guess");
    assert!(left >= Duration::from_millis(40), "{left:?}");
    board.report_phase(LearningPhase::Testing { extra: 1, done: 1, of: 100 });
    assert!(
        board.lock().estimated_time_left().expect("a guess") < Duration::from_secs(3),
        "another suite has begun"
    );
}
