//! The explorer without a browser: who is let in, and what is answered.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::program::{print, root};

const SPEC: &str = "examples/brp/spec.iox";

/// An explorer that is running; it ends with the test.
pub(crate) struct Explorer {
    program: Child,
    pub(crate) address: SocketAddr,
    /// `/TOKEN`.
    pub(crate) prefix: String,
}

impl Explorer {
    fn start(args: &[&str]) -> Self {
        Self::start_in(&root(), &BTreeMap::new(), args)
    }

    /// Starts it in `folder`, with these variables in its environment.
    pub(crate) fn start_in(folder: &Path, variables: &BTreeMap<String, String>, args: &[&str]) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .arg("explore")
            .args(args)
            .envs(variables)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut url = String::new();
        BufReader::new(program.stdout.take().expect("stdout is piped"))
            .read_line(&mut url)
            .expect("an address");
        let rest = url.trim().strip_prefix("http://").unwrap_or_else(|| panic!("an address, not `{url}`"));
        let (address, token) = rest.split_once('/').expect("an address with a token");
        let prefix = format!("/{}", token.trim_end_matches('/'));
        Self { program, address: address.parse().expect("an address"), prefix }
    }

    /// Sends these bytes and returns the answer; empty if the connection is closed without one.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        // A refusal may come before everything was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A request with these headers beside the right host.
    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let host = format!("Host: {}\r\n", self.address);
        let length =
            if method == "POST" { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
        let text = format!("{method} {path} HTTP/1.1\r\n{host}{headers}{length}\r\n{body}");
        parts(&self.raw(text.as_bytes()))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.request("GET", &format!("{}{path}", self.prefix), "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &Json) -> (u16, Json) {
        let headers = "Content-Type: application/json\r\n";
        let (status, text) =
            self.request("POST", &format!("{}{path}", self.prefix), headers, &body.to_string());
        (status, serde_json::from_str(&text).unwrap_or(Json::Null))
    }

    fn walk(&self, path: &[&str]) -> Json {
        let (status, view) = self.post("/api/walk", &json!({ "path": path }));
        assert_eq!(status, 200, "{path:?}: {view}");
        view
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Status and body.
fn parts(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), body.to_owned())
}

#[test]
fn a_history_of_concurrent_clients_has_a_page() {
    let folder = root().join("examples/histories");
    let args = ["store.iox", "--run", "store.jsonl"];
    let explorer = Explorer::start_in(&folder, &BTreeMap::new(), &args);
    let (_, records) = explorer.get("/api/records");
    let records: Json = serde_json::from_str(&records).expect("JSON");
    assert_eq!(records["records"][0]["history"], true, "{records}");
    let (status, page) = explorer.get("/history/0");
    assert!(status == 200 && page.contains("PASS: 4 operations of 2 clients"), "{page}");
    assert_eq!(explorer.get("/history/1").0, 404);
}

#[test]
fn only_the_right_address_page_and_token_are_let_in() {
    let explorer = Explorer::start(&[SPEC]);
    let (address, token) = (explorer.address, explorer.prefix.clone());
    let model = format!("{token}/api/model");
    let status = |path: &str, headers: &str| {
        parts(&explorer.raw(format!("GET {path} HTTP/1.1\r\n{headers}\r\n\r\n").as_bytes())).0
    };
    let host = format!("Host: {address}");
    assert_eq!(status(&model, &host), 200);
    assert_eq!(status(&model, &format!("Host: localhost:{}", address.port())), 200);
    for foreign in ["evil.example", &format!("evil.example:{}", address.port()), "127.0.0.1", "127.0.0.1:1"] {
        assert_eq!(status(&model, &format!("Host: {foreign}")), 403, "{foreign}");
    }
    assert_eq!(status(&model, "X: y"), 400, "no host at all");
    for origin in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        &format!("http://evil.example:{}", address.port()),
    ] {
        assert_eq!(status(&model, &format!("{host}\r\nOrigin: {origin}")), 403, "{origin}");
    }
    assert_eq!(status(&model, &format!("{host}\r\nOrigin: http://{address}")), 200);
    assert_eq!(status(&model, &format!("{host}\r\nSec-Fetch-Site: cross-site")), 403);
    let wrong = format!("/{}/api/model", "0".repeat(32));
    let longer = format!("{token}0/api/model");
    let shorter = format!("{}/api/model", &token[..token.len() - 1]);
    let folded = format!("{}/api/model", token.to_uppercase());
    for path in ["/", "/api/model", "//api/model", &wrong, &longer, &shorter, &folded] {
        let expected = if path == folded && token.to_uppercase() == token { 200 } else { 403 };
        assert_eq!(status(path, &host), expected, "{path}");
    }
}

#[test]
fn a_path_is_compared_and_never_opened() {
    let explorer = Explorer::start(&[SPEC]);
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/./explorer.js",
        "//explorer.js",
        "/explorer.js/",
        "/examples/brp/spec.iox",
        "/api/run/0/../../etc/passwd",
        "/api/run/-1/0",
        "/api/run/0/99999999999999999999999",
        "/api/run/0/0",
        "/api/model%00",
        "/\\..\\..\\etc\\passwd",
    ] {
        let (status, body) = explorer.get(path);
        assert_eq!(status, 404, "{path}: {body}");
        assert!(!body.contains("root:"), "{path}");
    }
    for path in ["/", "/explorer.js", "/explorer.css", "/icon.svg", "/api/model", "/api/records", "/api/live"]
    {
        assert_eq!(explorer.get(path).0, 200, "{path}");
    }
}

#[test]
fn every_answer_has_the_headers_that_keep_a_page_safe() {
    let explorer = Explorer::start(&[SPEC]);
    let host = format!("Host: {}", explorer.address);
    let page = format!("{}/", explorer.prefix);
    for path in [page.as_str(), "/", "/nothing"] {
        let answer = explorer.raw(format!("GET {path} HTTP/1.1\r\n{host}\r\n\r\n").as_bytes());
        for header in [
            "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Cache-Control: no-store",
            "X-Frame-Options: DENY",
        ] {
            assert!(answer.contains(header), "{path}: {header}");
        }
        assert!(!answer.to_lowercase().contains("access-control-allow"), "{path}");
    }
    assert!(!answer_of(&explorer, "/").contains("unsafe-"));
}

fn answer_of(explorer: &Explorer, path: &str) -> String {
    let host = format!("Host: {}", explorer.address);
    explorer.raw(format!("GET {}{path} HTTP/1.1\r\n{host}\r\n\r\n", explorer.prefix).as_bytes())
}

#[test]
fn actions_need_a_post_with_json() {
    let explorer = Explorer::start(&[SPEC]);
    let walk = format!("{}/api/walk", explorer.prefix);
    let body = r#"{"path": []}"#;
    let post = |headers: &str, body: &str| explorer.request("POST", &walk, headers, body).0;
    let kind = "Content-Type: application/json\r\n";
    assert_eq!(post(kind, body), 200);
    assert_eq!(post("Content-Type: text/plain\r\n", body), 415);
    assert_eq!(post("", body), 415);
    assert_eq!(post(kind, "{"), 400);
    assert_eq!(post(kind, r#"{"path": "x"}"#), 400);
    assert_eq!(post(kind, r#"{"path": [], "file": "/etc/passwd"}"#), 400);
    assert_eq!(explorer.get("/api/walk").0, 405);
    assert_eq!(explorer.get("/api/live/start").0, 405);
    assert_eq!(explorer.request("DELETE", &walk, "", "").0, 405);
    assert_eq!(explorer.post("/api/live/start", &json!({})).0, 409, "there is no system to test");
    assert_eq!(explorer.post("/api/live/start", &json!({ "tester": "suite:/etc/passwd" })).0, 400);
}

#[test]
fn what_is_too_large_is_refused() {
    let explorer = Explorer::start(&[SPEC]);
    let host = format!("Host: {}", explorer.address);
    let path = format!("{}/api/walk", explorer.prefix);
    let long = "x".repeat(100_000);
    let answer = |text: String| parts(&explorer.raw(text.as_bytes())).0;
    assert_eq!(answer(format!("GET /{long} HTTP/1.1\r\n{host}\r\n\r\n")), 431);
    assert_eq!(answer(format!("GET / HTTP/1.1\r\n{host}\r\nX: {long}\r\n\r\n")), 431);
    let lengths = ["999999999", "99999999999999999999999"];
    for length in lengths {
        let head = format!(
            "POST {path} HTTP/1.1\r\n{host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        assert_eq!(answer(head), 413);
    }
    assert_eq!(
        answer(format!("POST {path} HTTP/1.1\r\n{host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
        411
    );
    assert_eq!(explorer.get("/api/model").0, 200, "it still answers");
}

#[test]
fn idle_connections_lock_nobody_out() {
    let explorer = Explorer::start(&[SPEC]);
    let open = || TcpStream::connect(explorer.address).expect("it listens");
    let half = format!("GET {}/api/model HTTP/1.1\r\nHost: {}\r\n", explorer.prefix, explorer.address);
    let mut idle: Vec<TcpStream> = (0..200).map(|_| open()).collect();
    for (at, stream) in idle.iter_mut().enumerate() {
        // Some have lost their connection by now.
        let _ = stream.write_all(&half.as_bytes()[..at % half.len()]);
    }
    assert_eq!(explorer.get("/api/model").0, 200, "who has the token is answered");
    let more: Vec<TcpStream> = (0..200).map(|_| open()).collect();
    assert_eq!(explorer.get("/api/model").0, 200, "and answered again");
    drop((idle, more));
}

/// Defect: bodies of strangers were read, up to 8 MB each, before token and host were looked at.
#[test]
fn a_stranger_is_refused_before_the_body_is_read() {
    let explorer = Explorer::start(&[SPEC]);
    let asked = |path: &str, host: &str| {
        // The body never comes: who waits for it does not answer.
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n"
        );
        parts(&explorer.raw(text.as_bytes())).0
    };
    let here = explorer.address.to_string();
    assert_eq!(asked("/0123456789abcdef0123456789abcdef/api/walk", &here), 403);
    assert_eq!(asked(&format!("{}/api/walk", explorer.prefix), "evil.example"), 403);
    assert_eq!(asked(&format!("{}/api/walk", explorer.prefix), &here), 0, "a guest is waited for");
}

#[test]
fn a_path_of_choices_leads_to_a_belief() {
    let explorer = Explorer::start(&[SPEC]);
    let view =
        explorer.walk(&["IREQ(d1: 1, d2: 2, d3: 3)", "!OFRAME(b1: 1, b2: 0, b3: 0, d: 1)", "?ITIMEOUT"]);
    assert_eq!(view["path"][0], "?IREQ(d1: 1, d2: 2, d3: 3)");
    assert_eq!((&view["n_steps"], &view["belief"]["n"]), (&json!(3), &json!(1)));
    let choices = view["choices"].as_array().expect("choices");
    assert_eq!(choices.len(), 1);
    let step = choices[0]["step"].as_str().expect("one frame is allowed");
    assert_eq!(step, "!OFRAME(b1: 1, b2: 0, b3: 0, d: 1)");
    let mut path: Vec<String> = serde_json::from_value(view["path"].clone()).expect("a path");
    path.push("!OFRAME(b1: 1, b2: 0, b3: 1, d: 1)".into());
    let wrong: Vec<&str> = path.iter().map(String::as_str).collect();
    let view = explorer.walk(&wrong);
    assert_eq!((&view["forbidden"]["position"], &view["n_steps"]), (&json!(3), &json!(3)));
    assert_eq!(view["forbidden"]["explanation"]["allowed"][0]["label"], step);
    assert!(
        view["forbidden"]["explanation"]["why_not"][0]["reason"]
            .as_str()
            .is_some_and(|why| why.contains("b3"))
    );
    // The same as somebody else would be told who opens the link first.
    let again = Explorer::start(&[SPEC]).walk(&wrong);
    assert_eq!(again, view);
}

#[test]
fn nonsense_in_a_path_is_told_and_what_came_before_stands() {
    let explorer = Explorer::start(&[SPEC]);
    for (bad, why) in [
        ("soup", "there is no message `soup`"),
        ("IREQ(d1: x)", "`x` is not a value of type int"),
        ("@0.0.1", "there is no message"),
        ("", "there is no message"),
        ("+soon", "is not a time"),
        ("\u{202e}<script>", "there is no message"),
    ] {
        let view = explorer.walk(&["?IACK", bad, "!ONOK"]);
        assert_eq!(view["problem"]["position"], 1, "{bad}: {view}");
        assert!(
            view["problem"]["why"].as_str().is_some_and(|told| told.contains(why)),
            "{bad}: {}",
            view["problem"]
        );
        assert_eq!(view["path"], json!(["?IACK"]), "{bad}");
    }
    for bad in ["@", "@0", "@0.0.0", "@1.2.3.4", "@-1.0.0", "@99999999999999999999999.0.0"] {
        assert_eq!(explorer.walk(&[bad])["problem"]["position"], 0, "{bad}");
    }
}

#[test]
fn values_and_witnesses_come_from_the_solver() {
    let explorer = Explorer::start(&[SPEC]);
    let (_, values) = explorer.post("/api/values", &json!({ "path": [], "choice": 0 }));
    let steps = values["steps"].as_array().expect("steps").clone();
    assert!(steps.len() >= 3, "{values}");
    for step in &steps {
        assert_eq!(explorer.walk(&[step.as_str().expect("a step")])["n_steps"], 1, "{step}");
    }
    let path = ["r1", "r2", "r5", "r3", "r5", "r4", "r6", "r13"];
    let (_, view) = explorer.post("/api/walk", &json!({ "path": path, "symbolic": true }));
    assert_eq!((&view["n_steps"], &view["problem"]), (&json!(8), &Json::Null));
    let (_, witness) = explorer.post("/api/witness", &json!({ "path": path }));
    let steps: Vec<String> = serde_json::from_value(witness["steps"].clone()).expect("steps");
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    assert_eq!(explorer.walk(&steps)["n_steps"], 8, "{witness}");
    let (_, view) = explorer.post("/api/walk", &json!({ "path": ["r1", "r3"], "symbolic": true }));
    assert_eq!((&view["problem"]["position"], &view["n_steps"]), (&json!(1), &json!(1)));
}

#[test]
fn a_recorded_failure_is_opened_at_any_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().to_string_lossy().into_owned();
    let test = [
        "test",
        SPEC,
        "--sut",
        "model:examples/brp/m5.iox",
        "--tester",
        "cover",
        "--seed",
        "3",
        "--report",
        &runs,
    ];
    let done =
        Command::new(env!("CARGO_BIN_EXE_ioxide")).args(test).current_dir(root()).output().expect("it runs");
    assert_eq!(done.status.code(), Some(1));
    let explorer = Explorer::start(&[SPEC, "--run", &runs]);
    let records: Json = serde_json::from_str(&explorer.get("/api/records").1).expect("JSON");
    let list = records["records"][0]["runs"].as_array().expect("runs").clone();
    let failed = list.iter().position(|run| run["outcome"] == "fail").expect("a failing run");
    let steps = list[failed]["steps"].as_u64().expect("a number");
    let run: Json =
        serde_json::from_str(&explorer.get(&format!("/api/run/0/{failed}?from=2&count=3")).1).expect("JSON");
    assert_eq!((run["list"].as_array().map(Vec::len), &run["from"]), (Some(3), &json!(2)));
    let observed = run["explanation"]["observed"].clone();
    // Up to the step before it all is well; the last one is forbidden, for the reason the record has.
    let view = explorer.walk(&[&format!("@0.{failed}.{}", steps - 1)]);
    assert_eq!((&view["forbidden"], &view["n_steps"]), (&Json::Null, &json!(steps - 1)));
    let view = explorer.walk(&[&format!("@0.{failed}.{steps}")]);
    assert_eq!(view["forbidden"]["position"], json!(steps - 1));
    assert_eq!(view["forbidden"]["explanation"]["observed"], observed);
    // From any step one can go another way.
    let view = explorer.walk(&[&format!("@0.{failed}.0"), "?IACK"]);
    assert_eq!((&view["base"]["steps"], &view["path"]), (&json!(0), &json!(["?IACK"])));
}

#[test]
fn a_live_campaign_is_started_watched_and_leads_to_the_failing_step() {
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    let mut events = TcpStream::connect(explorer.address).expect("it listens");
    events.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    let head =
        format!("GET {}/api/live/events HTTP/1.1\r\nHost: {}\r\n\r\n", explorer.prefix, explorer.address);
    events.write_all(head.as_bytes()).expect("a request");
    let (status, _) =
        explorer.post("/api/live/start", &json!({ "tester": "cover", "seed": 1, "pace_ms": 1 }));
    assert_eq!(status, 200);
    let mut seen: Vec<String> = Vec::new();
    let mut failures = Json::Null;
    for line in BufReader::new(events).lines() {
        let line = line.expect("a line in time");
        let Some(view) = line.strip_prefix("data: ") else { continue };
        let view: Json = serde_json::from_str(view).expect("JSON");
        seen.extend(view["seen"].as_str().map(str::to_owned));
        if view["phase"] == "over" {
            failures = view["failures"].clone();
            break;
        }
    }
    let taken = |text: &String| text.chars().filter(|c| *c == 't').count();
    assert!(seen.iter().map(taken).is_sorted(), "{seen:?}");
    assert!(seen.last().is_some_and(|last| taken(last) > 2), "{seen:?}");
    let failure = &failures[0];
    let path = format!("@{}.{}.{}", failure["record"], failure["run"], failure["steps"]);
    assert!(explorer.walk(&[&path])["forbidden"].is_object(), "{failures}");
}

/// Defect: the page offered four testers, and not the one that `ioxide test` begins with.
#[test]
fn the_page_offers_the_testers_of_the_command_line() {
    let adder = "examples/adder.iox";
    let given = ["--tester", "case:nowhere.json", "--tester", "suite:nowhere.suite"];
    let explorer = Explorer::start(&[&[adder, "--sut", "model:examples/adder.iox"][..], &given].concat());
    let view: Json = serde_json::from_str(&explorer.get("/api/sut").1).expect("JSON");
    let offered: Vec<String> = serde_json::from_value(view["testers"].clone()).expect("names");
    let mut kinds: Vec<&str> =
        offered.iter().map(|tester| tester.split(':').next().unwrap_or(tester)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (help, _) = print(&["test", adder, "--sut", "model:examples/adder.iox", "--tester", "?"]);
    let listed = help.split("there is ").nth(2).expect("a list of testers");
    let mut written: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    written.iter_mut().for_each(|form| *form = form.split(':').next().unwrap_or(form));
    written.sort_unstable();
    written.dedup();
    assert_eq!(kinds, written, "{offered:?}");
    assert!(offered.contains(&"purpose:stops".to_owned()), "{offered:?}");
    // No path of a file comes from the page.
    let (status, refused) = explorer.post("/api/live/start", &json!({ "tester": "suite:other.suite" }));
    assert_eq!(status, 400, "{refused}");
    assert_eq!(explorer.post("/api/live/start", &json!({ "tester": "huntt" })).0, 400);
}

#[test]
fn the_page_begins_with_the_default_tester() {
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    let view: Json = serde_json::from_str(&explorer.get("/api/sut").1).expect("JSON");
    assert_eq!(view["testers"][0], "hunt");
    assert_eq!(explorer.post("/api/live/start", &json!({ "seed": 1 })).0, 200);
    let ended = (0..600).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let view: Json = serde_json::from_str(&explorer.get("/api/live").1).expect("JSON");
        (view["phase"] == "over").then_some(view)
    });
    let view = ended.expect("it ends");
    assert_eq!((&view["failed"], &view["planned"]), (&json!(1), &Json::Null), "{view}");
}

#[test]
fn a_campaign_is_paused_and_stopped() {
    let explorer = Explorer::start(&[SPEC, "--sut", "stdio:target/none/does-not-exist"]);
    assert_eq!(explorer.post("/api/live/start", &json!({})).0, 200);
    let over = |explorer: &Explorer| {
        (0..600).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            let view: Json = serde_json::from_str(&explorer.get("/api/live").1).expect("JSON");
            (view["phase"] == "over").then_some(view)
        })
    };
    let view = over(&explorer).expect("it ends");
    assert!(view["message"].as_str().is_some_and(|why| why.contains("does-not-exist")), "{view}");
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/spec.iox"]);
    let wish = json!({ "tester": "random", "runs": 1_000_000, "pace_ms": 5, "keep_going": true });
    assert_eq!(explorer.post("/api/live/start", &wish).0, 200);
    assert_eq!(explorer.post("/api/live/start", &wish).0, 409, "one at a time");
    assert_eq!(explorer.post("/api/live/pause", &json!({})).1["phase"], "paused");
    assert_eq!(explorer.post("/api/live/resume", &json!({})).1["phase"], "running");
    explorer.post("/api/live/stop", &json!({}));
    assert!(over(&explorer).is_some(), "it ends");
}

#[test]
fn what_cannot_be_served_is_said_before_anything_else() {
    let run = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_ioxide")).arg("explore").args(args).current_dir(root()).output();
        let output = output.expect("it runs");
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    for (args, expected) in [
        (&["nothing.iox"][..], "cannot read"),
        (&[SPEC, "--run", "nowhere"], "cannot read the record"),
        (&[SPEC, "--sut", "nobody"], "nobody"),
        (&[SPEC, "--listen", "not an address:x"], "cannot listen"),
    ] {
        let (text, code) = run(args);
        assert!(text.contains(expected) && code == Some(2), "{args:?}: {text}");
    }
}

/// A model in a folder of its own, and an explorer of it.
fn explore_editable_model() -> (tempfile::TempDir, std::path::PathBuf, Explorer) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.iox");
    std::fs::write(&path, "model M { input go state s { a: on go -> s } }\n").expect("a model");
    let explorer = Explorer::start_in(folder.path(), &BTreeMap::new(), &["m.iox"]);
    (folder, path, explorer)
}

#[test]
fn the_text_is_changed_walked_through_and_saved() {
    let (_folder, path, explorer) = explore_editable_model();
    let (_, source) = explorer.get("/api/source");
    let source: Json = serde_json::from_str(&source).expect("JSON");
    assert_eq!((&source["revision"], &source["saved"]), (&json!(0), &json!(true)));
    let text = source["text"].as_str().expect("a text").replace("input go", "input go input stop");
    let text = text.replace("-> s", "-> s b: on stop -> s");
    let (status, view) = explorer.post("/api/source/change", &json!({ "text": text, "after": 0 }));
    assert_eq!((status, &view["revision"], &view["saved"]), (200, &json!(1), &json!(false)));
    assert_eq!(view["model"]["switches"].as_array().map(Vec::len), Some(2));
    let walk = explorer.walk(&["?stop"]);
    assert_eq!((&walk["revision"], &walk["n_steps"]), (&json!(1), &json!(1)));
    // A text with errors leaves the model as it is.
    let wrong = text.replace("on stop", "on stp");
    let (_, view) = explorer.post("/api/source/change", &json!({ "text": wrong, "after": 1 }));
    assert_eq!((&view["model"], &view["revision"]), (&Json::Null, &json!(2)));
    assert_eq!(
        (&view["findings"][0]["line"], &view["findings"][0]["severity"]),
        (&json!(1), &json!("error"))
    );
    assert_eq!(explorer.walk(&["?stop"])["revision"], 1);
    // Whoever began from another text is refused, and so is a save of it.
    assert_eq!(explorer.post("/api/source/change", &json!({ "text": "", "after": 1 })).0, 409);
    assert_eq!(explorer.post("/api/source/save", &json!({ "revision": 1 })).0, 409);
    explorer.post("/api/source/change", &json!({ "text": text, "after": 2 }));
    let (status, view) = explorer.post("/api/source/save", &json!({ "revision": 3 }));
    assert_eq!((status, &view["saved"]), (200, &json!(true)));
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
    // Another program's text is not overwritten; it can be loaded.
    explorer.post("/api/source/change", &json!({ "text": format!("{text}\n"), "after": 3 }));
    std::fs::write(&path, "model N { input go state s { n: on go -> s } }").expect("the file");
    assert_eq!(explorer.post("/api/source/save", &json!({ "revision": 4 })).0, 409);
    let (status, view) = explorer.post("/api/source/load", &json!({}));
    assert_eq!((status, &view["model"]["name"], &view["saved"]), (200, &json!("N"), &json!(true)));
}

#[test]
fn a_change_that_explains_the_recorded_runs_is_tried() {
    let folder = crate::repair::folder();
    let folder = folder.path();
    for seed in ["1", "2", "3"] {
        crate::repair::record(folder, seed);
    }
    let records: Vec<String> = (1..=3)
        .map(|n| format!("runs/campaign{}.jsonl", if n == 1 { String::new() } else { format!("-{n}") }))
        .collect();
    let args: Vec<&str> =
        ["model.iox"].into_iter().chain(records.iter().flat_map(|it| ["--run", it])).collect();
    let explorer = Explorer::start_in(folder, &BTreeMap::new(), &args);
    let (_, source) = explorer.get("/api/source");
    let source: Json = serde_json::from_str(&source).expect("JSON");
    assert_eq!(source["has_runs"], true);
    assert_eq!(explorer.post("/api/source/repairs", &json!({ "revision": 7 })).0, 409);
    let (status, found) = explorer.post("/api/source/repairs", &json!({ "revision": 0 }));
    assert_eq!((status, &found["refusal"]), (200, &json!("")), "{found}");
    let repair = &found["repairs"][0];
    assert!(repair["diff"].as_str().is_some_and(|diff| diff.starts_with("--- model.iox\n")), "{found}");
    // It is a text that the page may take, and nothing is saved before it does.
    let before = std::fs::read_to_string(folder.join("model.iox")).expect("the model");
    let (status, view) = explorer.post("/api/source/change", &json!({ "text": repair["text"], "after": 0 }));
    assert_eq!((status, &view["saved"]), (200, &json!(false)));
    assert!(view["model"].is_object(), "{view}");
    assert_eq!(std::fs::read_to_string(folder.join("model.iox")).expect("the model"), before);
    explorer.post("/api/source/save", &json!({ "revision": 1 }));
    for record in &records {
        crate::program::check_in(folder, &["judge", "model.iox", record], 0, &["PASS"]);
    }
    // Now there is nothing to explain any more.
    let (_, found) = explorer.post("/api/source/repairs", &json!({ "revision": 1 }));
    assert!(found["refusal"].as_str().is_some_and(|why| why.contains("allows every run")), "{found}");
}

#[test]
fn the_file_is_out_of_reach_for_other_pages_and_paths() {
    let (_folder, path, explorer) = explore_editable_model();
    let before = std::fs::read_to_string(&path).expect("the file");
    let body = json!({ "text": "model N { }", "after": 0 }).to_string();
    for act in ["change", "save", "load"] {
        let path = format!("{}/api/source/{act}", explorer.prefix);
        let json_type = "Content-Type: application/json\r\n";
        let foreign = format!("{json_type}Origin: http://evil.example\r\n");
        assert_eq!(explorer.request("POST", &path, &foreign, &body).0, 403, "{act}");
        let crossing = format!("{json_type}Sec-Fetch-Site: cross-site\r\n");
        assert_eq!(explorer.request("POST", &path, &crossing, &body).0, 403, "{act}");
        assert_eq!(explorer.request("POST", &path, "Content-Type: text/plain\r\n", &body).0, 415, "{act}");
        let wrong = format!("/{}/api/source/{act}", "0".repeat(32));
        assert_eq!(explorer.request("POST", &wrong, json_type, &body).0, 403, "{act}");
        assert_eq!(explorer.get(&format!("/api/source/{act}")).0, 405, "{act}");
    }
    let named = json!({ "revision": 0, "path": "/etc/passwd" });
    assert_eq!(explorer.post("/api/source/save", &named).0, 400);
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), before);
}

#[test]
fn nobody_edits_what_other_machines_can_reach() {
    let explorer = Explorer::start(&[SPEC, "--listen", "0.0.0.0:0"]);
    let (_, source) = explorer.get("/api/source");
    assert!(source.contains("Other machines can reach this page"), "{source}");
    assert_eq!(explorer.post("/api/source/change", &json!({ "text": "", "after": 0 })).0, 409);
    assert_eq!(explorer.post("/api/source/save", &json!({ "revision": 0 })).0, 409);
}

#[test]
fn the_default_tester_is_offered_first() {
    let explorer = Explorer::start(&[SPEC, "--sut", "model:examples/brp/m3.iox"]);
    let (_, sut) = explorer.get("/api/sut");
    let sut: Json = serde_json::from_str(&sut).expect("JSON");
    assert_eq!(sut["testers"][0], "hunt");
    let timed = Explorer::start(&["examples/atm/atm.iox", "--sut", "model:examples/atm/atm.iox"]);
    assert!(timed.get("/api/sut").1.contains(r#""testers":["hunt""#));
}
