//! Values that would fill the memory, or that say two things at once, by every way a system can speak.
//!
//! What is beyond a limit of ours is no fault of the system: no verdict. `cargo xtask hostile` sends the large ones and
//! says how much memory each took.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

const VALUES: &str = "model Values {
    enum Tree { leaf, node(kids: list<Tree>) }
    input ping
    output items(xs: list<int>)
    output tree(t: Tree)
    output text(s: string)
    output number(n: int)
    state idle { on ping -> busy }
    state busy {
        emit items -> idle
        emit tree -> idle
        emit text -> idle
        emit number -> idle
    }
}
";

/// Sizes: a share of them in every run of the tests.
struct Sizes {
    items: usize,
    levels: usize,
    text: usize,
    digits: usize,
}

const SMALL: Sizes = Sizes { items: 150_000, levels: 5_000, text: 13 << 20, digits: 20_000 };
const LARGE: Sizes = Sizes { items: 1_000_000, levels: 1_000_000, text: 200 << 20, digits: 1_000_000 };

fn is_large() -> bool {
    std::env::var_os("IOXIDE_HOSTILE_LARGE").is_some()
}

fn sizes() -> Sizes {
    if is_large() { LARGE } else { SMALL }
}

/// A value that a system sends: a shell command that writes its fields in JSON, and what is said of it.
struct Hostile {
    name: &'static str,
    label: &'static str,
    /// Writes the arguments of the output.
    script: String,
    /// Exit codes by the adapter protocol and by HTTP.
    codes: (i32, i32),
    says: &'static str,
}

/// `times` times `text`.
fn repeated(text: &str, times: usize) -> String {
    format!("yes '{text}' | head -n {times} | tr -d '\\n'")
}

fn hostile() -> Vec<Hostile> {
    let Sizes { items, levels, text, digits } = sizes();
    // A message may be too long before it is found that it has too many items.
    let items_or_bytes = if is_large() { "too long" } else { "items, more than" };
    let (open, close) = (repeated("{\"node\":{\"kids\":[", levels), repeated("]}}", levels));
    let levels = if levels * 16 > 1 << 20 { "too long" } else { "deep inside each other" };
    let digits_or_bytes = if digits > 1 << 20 { "too long" } else { "digits" };
    let nobody = (TROUBLE, TROUBLE);
    let all = |name, label, script, codes, says| Hostile { name, label, script, codes, says };
    vec![
        all(
            "a list",
            "items",
            format!("printf '{{\"xs\":['; {}; printf '1]}}'", repeated("1,", items)),
            nobody,
            items_or_bytes,
        ),
        all(
            "nested cases",
            "tree",
            format!("printf '{{\"t\":'; {open}; {close}; printf '}}'"),
            nobody,
            levels,
        ),
        all(
            "a string",
            "text",
            format!("printf '{{\"s\":\"'; head -c {text} /dev/zero | tr '\\0' x; printf '\"}}'"),
            nobody,
            "too long",
        ),
        all(
            "a number",
            "number",
            format!("printf '{{\"n\":'; {}; printf '1}}'", repeated("9", digits)),
            nobody,
            digits_or_bytes,
        ),
        all("a key twice", "number", "printf '{\"n\":1,\"n\":2}'".into(), (TROUBLE, FAIL), "occurs twice"),
    ]
}

/// Tests a system that speaks so, with the model of [`VALUES`].
#[track_caller]
fn speaks(way: &str, name: &str, system: &str, code: i32, says: &str) {
    speaks_by(way, name, VALUES, system, code, says);
}

/// The same, with another model.
#[track_caller]
fn speaks_by(way: &str, name: &str, model: &str, system: &str, code: i32, says: &str) {
    let folder = Folder::new(system);
    fs::write(folder.path().join("echo.iox"), model).expect("a model");
    let ended = folder.test();
    if is_large() {
        println!("| {name} | {way} | {} | {} MB |", ended.code, ended.peak_kb >> 10);
    }
    assert_eq!(ended.code, code, "{way}, {name}:\n{}", ended.text);
    assert!(ended.text.contains(says), "{way}, {name}: should say `{says}`:\n{}", ended.text);
    assert!(ended.text.lines().all(|line| line.len() < 2000), "{way}, {name}: too much is shown");
    assert!(ended.peak_kb < 2 * MAX_KB, "{way}, {name}: {} kB", ended.peak_kb);
}

const HELLO: &str = r#"{"type":"hello","protocol":1,"reset":"restart"}"#;
const READY: &str = r#"{"type":"ready"}"#;
const SENT: &str = r#"{"type":"sent","id":1}"#;
const TIMES: &str = "silence_ms = 2000\nlimit_ms = 20000";

#[test]
fn by_the_streams_of_a_child() {
    for it in hostile() {
        let output =
            format!("printf '{{\"type\":\"output\",\"label\":\"{}\",\"args\":'; {}", it.label, it.script);
        let script = format!(
            "echo '{HELLO}'; read x; echo '{READY}'; read x; echo '{SENT}'; {output}; echo '}}'; sleep 60"
        );
        let system = format!("kind = \"stdio\"\n{TIMES}\ncommand = '''\n{script}\n'''");
        speaks("stdio", it.name, &system, it.codes.0, it.says);
    }
}

/// Copies the output of a shell command to `stream`, until either ends.
fn written(script: &str, stream: &mut impl Write) {
    let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().expect("a shell");
    let mut out = child.stdout.take().expect("a pipe");
    std::io::copy(&mut out, stream).ok();
    drop(out);
    child.wait().ok();
}

#[test]
fn by_tcp() {
    for it in hostile() {
        let (label, script) = (it.label, it.script.clone());
        let address = serve_connections(move |mut stream| {
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            writeln!(stream, "{HELLO}").ok();
            lines.next();
            writeln!(stream, "{READY}").ok();
            lines.next();
            writeln!(stream, "{SENT}").ok();
            write!(stream, "{{\"type\":\"output\",\"label\":\"{label}\",\"args\":").ok();
            written(&script, &mut stream);
            writeln!(stream, "}}").ok();
            hang();
        });
        let system = format!("kind = \"tcp\"\n{TIMES}\naddress = \"{address}\"");
        speaks("tcp", it.name, &system, it.codes.0, it.says);
    }
}

/// A service that answers a ping with status 200, and so.
fn service(head: &'static str, script: String, ends: bool) -> String {
    let address = serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        while lines.by_ref().any(|line| line.is_empty()) {
            write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n").ok();
            written(&script, &mut stream);
            if ends {
                stream.shutdown(std::net::Shutdown::Both).ok();
            }
        }
    });
    format!(
        "kind = \"http\"\nurl = \"http://{address}\"\n{TIMES}\nreset = \"none\"\n\
         inputs = {{ ping = {{ path = \"/\" }} }}"
    )
}

/// Returns the patterns of outputs in an answer, or in an event of a stream.
fn outputs(label: &str, event: &str) -> String {
    let one = |(name, field): (&str, &str)| {
        let (is_it, pointer) = (name == label, format!("/{field}"));
        let status = if is_it { 200 } else { 299 };
        let how = if event.is_empty() {
            format!("status = {status}")
        } else {
            format!("event = \"{}\"", if is_it { event } else { "x" })
        };
        format!("{name} = {{ {how}, fields = {{ {field} = \"{pointer}\" }} }}")
    };
    let all = [("items", "xs"), ("tree", "t"), ("text", "s"), ("number", "n")].map(one).join(", ");
    format!("outputs = {{ {all} }}")
}

#[test]
fn by_http() {
    for it in hostile() {
        let system = format!("{}\n{}", service("x: y", it.script, true), outputs(it.label, ""));
        speaks("http", it.name, &system, it.codes.1, it.says);
    }
}

#[test]
fn by_server_sent_events() {
    for it in hostile() {
        let script = format!("printf 'data: '; {}; printf '\\n\\n'", it.script);
        let service = service("content-type: text/event-stream", script, false);
        // The head of a stream is an answer, too.
        let model = VALUES.replace("input ping", "input ping\n    output open").replace(
            "idle { on ping -> busy }",
            "idle { on ping -> open }\n    state open { emit open -> busy }",
        );
        let outputs =
            outputs(it.label, "message").replace("outputs = {", "outputs = { open = { status = 200 },");
        let system = format!("{service}\n{outputs}");
        speaks_by("events", it.name, &model, &system, it.codes.1, it.says);
    }
}

#[test]
fn by_lines_of_text() {
    let Sizes { items, text, digits, .. } = sizes();
    let too_many = if is_large() { "too long" } else { "items, more than" };
    let too_long = if digits > 1 << 20 { "too long" } else { "digits" };
    for (name, script, says) in [
        ("a list", format!("printf 'XS '; {}; echo 1", repeated("1,", items)), too_many),
        ("a string", format!("printf 'S '; head -c {text} /dev/zero | tr '\\0' x; echo"), "too long"),
        ("a number", format!("printf 'N '; {}; echo", repeated("9", digits)), too_long),
    ] {
        let system = format!(
            "kind = \"text\"\n{TIMES}\ninputs = {{ ping = \"PING\" }}\n\
            outputs = {{ items = \"XS (?P<xs>.*)\", text = \"S (?P<s>.*)\", number = \"N (?P<n>.*)\", tree = \
            \"T (?P<t>.*)\" }}\n\
            command = '''\nread x; {script}; sleep 60\n'''"
        );
        speaks("text", name, &system, TROUBLE, says);
    }
}
