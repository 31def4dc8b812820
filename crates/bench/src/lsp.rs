//! `ioxide bench lsp`: the time an editor waits. A model of 5,000 lines is edited, and completion and hover are
//! requested at once, over the protocol; the same text is parsed beside it, in the same run.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::limit;
use ioxide_lang::parse;
use ioxide_lsp::answers::action::RepairedText;
use ioxide_lsp::answers::lens::LastCampaign;
use ioxide_lsp::server::{ServerEnvironment, serve};
use ioxide_model::source::Sources;
use ioxide_smt::halt::Halt;
use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value as Json, json};

use super::statistics::median;

/// The number of lines of the model; chosen by feel, more than people write.
const LINES: usize = 5_000;
/// The number of requests of each kind; chosen by feel, their median is shown.
const ROUNDS: usize = 50;

/// The name of the document, which is no file.
const URI: &str = "file:///bench.iox";

/// Measures and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let text = model(LINES);
    let mut editor = BenchEditor::new(&text)?;
    let (mut parsing, mut completion, mut hover) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        parsing.push(time_parse(&text));
        completion.push(editor.completion(round)?);
        hover.push(editor.hover(round)?);
    }
    let figures = json!({
        "version": 1, "bench": "lsp", "lines": text.lines().count(), "bytes": text.len(), "rounds": ROUNDS,
        "parse_ms": median(&parsing), "completion_ms": median(&completion), "hover_ms": median(&hover),
        "slowest_ms": completion.iter().chain(&hover).copied().fold(0.0, f64::max),
    });
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{figures}")?;
    } else {
        writeln!(
            out,
            "{} lines, {} bytes, {ROUNDS} rounds; medians in milliseconds",
            figures["lines"], figures["bytes"]
        )?;
        for (name, key) in [
            ("parsing the file", "parse_ms"),
            ("completion", "completion_ms"),
            ("hover", "hover_ms"),
            ("slowest answer", "slowest_ms"),
        ] {
            writeln!(out, "{name:<18} {:>8.2}", figures[key].as_f64().unwrap_or(0.0))?;
        }
    }
    Ok(ExitStatus::Success)
}

fn time_parse(text: &str) -> f64 {
    let mut sources = Sources::new();
    let file = sources.add("bench.iox", text);
    let start = Instant::now();
    let tree = parse(&sources, file);
    let took = start.elapsed();
    drop(tree);
    milliseconds(took)
}

/// Returns a time in milliseconds.
fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Surroundings without files or records.
struct NoEnvironment;

impl ServerEnvironment for NoEnvironment {
    fn read(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn models(&self, _: &[String], _: &str) -> Vec<String> {
        Vec::new()
    }

    fn last_campaign(&self, _: &[String], _: &str) -> Option<LastCampaign> {
        None
    }

    fn repair(&self, _: &str, _: &str, _: &str) -> Option<RepairedText> {
        None
    }

    fn deadline(&self, time: Duration) -> Halt {
        limit::brief(time)
    }
}

/// An editor that has the model open.
struct BenchEditor {
    connection: Connection,
    version: i32,
    asked: i32,
    /// The line of the transition that is edited.
    line: usize,
    /// The column of its guard.
    column: usize,
}

impl BenchEditor {
    /// Starts a language server in a thread and opens `text` in it. The cursor is in the guard of the transition
    /// `go500`.
    fn new(text: &str) -> Result<Self, CliError> {
        let (server, connection) = Connection::memory();
        std::thread::spawn(move || serve(&server, Arc::new(NoEnvironment)));
        let line = text.lines().position(|line| line.contains("go500:")).unwrap_or(0);
        let column = text.lines().nth(line).and_then(|line| line.find("when ")).unwrap_or(0) + 5;
        let mut editor = Self { connection, version: 0, asked: 0, line, column };
        editor.send_request(
            "initialize",
            json!({ "capabilities": {}, "initializationOptions": { "deep": false } }),
        )?;
        editor.send_notification("initialized", json!({}))?;
        let document = json!({ "uri": URI, "languageId": "ioxide", "version": 0, "text": text });
        editor.send_notification("textDocument/didOpen", json!({ "textDocument": document }))?;
        Ok(editor)
    }

    fn send_notification(&self, method: &str, params: Json) -> Result<(), CliError> {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        self.connection.sender.send(message).map_err(|_| server_gone())
    }

    fn send_request(&mut self, method: &str, params: Json) -> Result<Json, CliError> {
        self.asked += 1;
        let message = Message::Request(Request::new(self.asked.into(), method.to_owned(), params));
        self.connection.sender.send(message).map_err(|_| server_gone())?;
        loop {
            match self.connection.receiver.recv().map_err(|_| server_gone())? {
                Message::Response(response) if response.id == self.asked.into() => {
                    return response.result.ok_or_else(server_gone);
                }
                _ => {}
            }
        }
    }

    /// Types a letter at the start of a guard, or removes it again, and waits for the answer to `method`.
    fn edit_and_wait(&mut self, round: usize, method: &str) -> Result<(f64, Json), CliError> {
        let at = |column: usize| json!({ "line": self.line, "character": column });
        let (end, new) = if round.is_multiple_of(2) { (self.column, "n") } else { (self.column + 1, "") };
        let change = json!({ "range": { "start": at(self.column), "end": at(end) }, "text": new });
        let place = json!({ "textDocument": { "uri": URI }, "position": at(self.column + new.len()) });
        self.version += 1;
        let document = json!({ "uri": URI, "version": self.version });
        let start = Instant::now();
        self.send_notification(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [change] }),
        )?;
        let answer = self.send_request(method, place)?;
        Ok((milliseconds(start.elapsed()), answer))
    }

    /// Changes the text and asks for completion; returns the milliseconds until the answer.
    fn completion(&mut self, round: usize) -> Result<f64, CliError> {
        let (took, answer) = self.edit_and_wait(2 * round, "textDocument/completion")?;
        let found = answer["items"].as_array().map_or(0, Vec::len);
        if found == 0 { Err(CliError::usage("the server proposes nothing")) } else { Ok(took) }
    }

    /// Changes the text and hovers over a name; returns the milliseconds until the answer.
    fn hover(&mut self, round: usize) -> Result<f64, CliError> {
        let (took, answer) = self.edit_and_wait(2 * round + 1, "textDocument/hover")?;
        if answer.is_null() { Err(CliError::usage("the server says nothing")) } else { Ok(took) }
    }
}

fn server_gone() -> CliError {
    CliError::usage("the language server of the benchmark went away")
}

/// Returns a model of `lines` lines: a ring of states with guards and updates over many variables.
fn model(lines: usize) -> String {
    let mut text = "/// A ring.\nmodel Ring {\n".to_owned();
    let states = (lines - 120) / 4;
    for n in 0..40 {
        let _ = writeln!(
            text,
            "    input in{n}(p: int, q: 0..9)\n    output out{n}(p: int)\n    var number{n}: int = {n}"
        );
    }
    for n in 0..states {
        let (next, some) = ((n + 1) % states, n % 40);
        let _ = write!(
            text,
            "    state s{n} {{\n        \
             go{n}: on in{some} when number{some} + p > {n} {{ number{some} = number{some} + q }} -> \
             s{next}\n        say{n}: emit out{some}(p: number{some}) -> s{next}\n    }}\n"
        );
    }
    text + "}\n"
}
