//! A script as a Rust test that needs the standard library only.

use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPart, ScriptPlace,
    ScriptRecord, ScriptReply, ScriptStep, ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};

use super::quote::rust as quoted;
use super::{
    REPLY_SECONDS, comment, forbidden_reply, head_lines, is_told_by_form, optional_variables, status_bounds,
    test_name,
};

const COMMON: &str = include_str!("rust/common.txt");
const HTTP: &str = include_str!("rust/http.txt");
const STREAM: &str = include_str!("rust/stream.txt");
const PROTOCOL: &str = include_str!("rust/protocol.txt");
const USE_TCP: &str = include_str!("rust/use_tcp.txt");
const USE_PROCESS: &str = include_str!("rust/use_process.txt");

/// Returns the test; `None` if it needs encryption, cookies or regular expressions.
pub(super) fn write_rust_script(script: &ScriptRecord, about: &str) -> Option<String> {
    let mut text = String::new();
    for line in head_lines(script, about, "Rust; `rustc --test FILE`, or a file of `tests`") {
        text.push_str(&format!("// {line}\n"));
    }
    text.push_str(&settings(script)?);
    text.push_str(COMMON);
    let parts: &[&str] = match &script.endpoint {
        ScriptEndpoint::Http { .. } => &[HTTP],
        ScriptEndpoint::Stream { .. } => &[STREAM],
        ScriptEndpoint::Protocol { .. } => &[STREAM, PROTOCOL],
    };
    parts.iter().for_each(|part| text.push_str(part));
    text.push_str(&format!("\n#[test]\nfn {}() {{\n", test_name(about)));
    for line in RustSteps::new(script).lines()? {
        text.push_str(&format!("    {line}\n"));
    }
    Some(text + "}\n")
}

/// Returns the constants and imports at the beginning of the program; `None` if one cannot be expressed.
fn settings(script: &ScriptRecord) -> Option<String> {
    let mut lines = vec!["use std::io::{Read, Write};".to_owned()];
    let framing = |framing: &ScriptFraming| match framing {
        ScriptFraming::Mark(mark) => format!("Framing::Mark({}.as_bytes())", quoted(mark)),
        ScriptFraming::Length(width) => format!("Framing::Length({width})"),
        ScriptFraming::Fixed(count) => format!("Framing::Fixed({count})"),
        ScriptFraming::Counted { at, width, little, uncounted } => {
            format!(
                "Framing::Counted {{ at: {at}, width: {width}, is_little: {little}, uncounted: {uncounted} }}"
            )
        }
    };
    let place = |place: &ScriptPlace| match place {
        ScriptPlace::Tcp(_) => USE_TCP.to_owned(),
        ScriptPlace::Process { .. } => USE_PROCESS.to_owned(),
    };
    match &script.endpoint {
        ScriptEndpoint::Http { url, cookies: false } => {
            lines.push(USE_TCP.into());
            lines.push("use std::time::Duration;".into());
            lines.push(format!("\nconst ADDRESS: &str = {};", quoted(url.strip_prefix("http://")?)));
        }
        ScriptEndpoint::Http { .. } | ScriptEndpoint::Stream { joined: true, .. } => return None,
        ScriptEndpoint::Stream { place: to, framing: rule, joined: false } => {
            lines.push(place(to));
            lines.extend(stream_uses());
            lines.push(format!("\nconst FRAMING: Framing = {};", framing(rule)));
        }
        ScriptEndpoint::Protocol { place: to } => {
            lines.push(place(to));
            lines.extend(stream_uses());
            lines.push("\nconst FRAMING: Framing = Framing::Mark(b\"\\n\");".into());
        }
    }
    lines.push("/// A reply must come within this many seconds.".into());
    lines.push(format!("const REPLY_SECONDS: u64 = {REPLY_SECONDS};"));
    lines.push("/// No reply within this many milliseconds is silence.".into());
    lines.push(format!("#[allow(dead_code)]\nconst SILENCE_MS: u64 = {};", script.silence_ms));
    Some(lines.join("\n") + "\n")
}

fn stream_uses() -> [String; 2] {
    ["use std::sync::mpsc::{Receiver, channel};", "use std::time::{Duration, Instant};"].map(str::to_owned)
}

/// Writes the steps.
struct RustSteps<'s> {
    script: &'s ScriptRecord,
    optional: Vec<&'s str>,
    n_inputs: usize,
    number: usize,
}

impl<'s> RustSteps<'s> {
    /// Makes a writer before the first step.
    fn new(script: &'s ScriptRecord) -> Self {
        Self { script, optional: optional_variables(script), n_inputs: 0, number: 0 }
    }

    /// Returns the body of the test; `None` if a step cannot be written.
    fn lines(mut self) -> Option<Vec<String>> {
        let mut lines: Vec<String> =
            self.optional.iter().map(|name| format!("let mut {name}: Option<String> = None;")).collect();
        lines.extend(self.link_lines());
        // A script has at least one step: a run that fails has the failing one.
        let last = self.script.steps.len() - 1;
        for (at, step) in self.script.steps.iter().enumerate() {
            let is_last = at == last;
            match step {
                ScriptStep::Send { shown, message } => {
                    let is_reset = shown == "reset";
                    self.number += usize::from(!is_reset);
                    let lead = if is_reset { String::new() } else { format!("step {}: ", self.number) };
                    lines.push(format!("// {lead}{}", comment(shown)));
                    lines.push(self.send_line(message)?);
                }
                ScriptStep::Receive { reply, keep } => {
                    // The replies to the reset come before the first numbered step.
                    self.number += usize::from(self.number > 0);
                    let lead =
                        if self.number == 0 { String::new() } else { format!("step {}: ", self.number) };
                    lines.push(format!("// {lead}{}", comment(&reply.shown)));
                    lines.extend(self.receive_line(true));
                    // The last reply is the failure: it is compared with everything that is allowed, at the
                    // end.
                    if !is_last {
                        let fits = form(&reply.form)?;
                        lines.push(format!("let reply = check({}, reply, |reply| {fits});", self.number));
                        for kept in keep {
                            lines.push(keep_line(kept)?);
                        }
                        lines.push("drop(reply);".into());
                    }
                }
                ScriptStep::Silence | ScriptStep::Breakdown(_) => {
                    self.number += 1;
                    let shown = match step {
                        ScriptStep::Breakdown(how) => comment(how),
                        _ => "no reply".into(),
                    };
                    lines.push(format!("// step {}: {shown}", self.number));
                    lines.extend(self.receive_line(is_last));
                    // Without a request nothing can come by HTTP.
                    let is_http = matches!(self.script.endpoint, ScriptEndpoint::Http { .. });
                    let is_asked =
                        matches!(self.script.steps.get(at.wrapping_sub(1)), Some(ScriptStep::Send { .. }));
                    if !is_last && (is_asked || !is_http) {
                        lines.push("assert!(reply.is_none(), \"the run went another way\");".into());
                    }
                }
                ScriptStep::Wait(seconds) => {
                    lines.push(format!("std::thread::sleep(Duration::from_secs_f64({seconds}_f64));"));
                }
            }
        }
        lines.extend(self.final_lines()?);
        Some(lines)
    }

    fn link_lines(&self) -> Vec<String> {
        let (place, is_protocol) = match &self.script.endpoint {
            ScriptEndpoint::Http { .. } => return Vec::new(),
            ScriptEndpoint::Stream { place, .. } => (place, false),
            ScriptEndpoint::Protocol { place } => (place, true),
        };
        let mut lines = match place {
            ScriptPlace::Tcp(address) => vec![
                format!(
                    "let socket = TcpStream::connect({}).expect(\"the system is running\");",
                    quoted(address)
                ),
                "let mut link = Link::new(socket.try_clone().expect(\"a socket\"), socket);".to_owned(),
            ],
            ScriptPlace::Process { command, environment } => {
                let mut lines = vec![
                    "let mut command = Command::new(\"sh\");".to_owned(),
                    format!("command.args([\"-c\", {}]);", quoted(command)),
                ];
                lines.extend(
                    environment
                        .iter()
                        .map(|(name, value)| format!("command.env({}, {});", quoted(name), quoted(value))),
                );
                lines.push(
                    "let mut process = \
                     command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect(\"it starts\");"
                        .into(),
                );
                lines.push(
                    "let mut link = Link::new(process.stdout.take().expect(\"a pipe\"), \
                     process.stdin.take().expect(\"a pipe\"));"
                        .into(),
                );
                lines
            }
        };
        if is_protocol {
            lines.push("link.greet();".into());
        }
        lines
    }

    fn receive_line(&self, is_awaited: bool) -> Option<String> {
        let time = if is_awaited { "from_secs(REPLY_SECONDS)" } else { "from_millis(SILENCE_MS)" };
        let limit = format!("Duration::{time}");
        match &self.script.endpoint {
            ScriptEndpoint::Http { .. } => None,
            ScriptEndpoint::Stream { .. } => Some(format!("let reply = link.receive({limit});")),
            ScriptEndpoint::Protocol { .. } => {
                Some(format!("let reply = link.await_type(&[\"output\", \"error\"], {limit});"))
            }
        }
    }

    fn send_line(&mut self, message: &ScriptMessage) -> Option<String> {
        self.n_inputs += 1;
        Some(match message {
            ScriptMessage::Request { method, path, headers, body } => {
                let header = |(name, parts): &(String, Vec<ScriptPart>)| {
                    format!("({}, {})", quoted(name), self.optional_text(parts))
                };
                let headers: Vec<String> = headers.iter().map(header).collect();
                let body = body
                    .as_ref()
                    .map_or_else(|| "None".to_owned(), |body| format!("Some({})", self.text(body)));
                let path = self.text(path);
                format!("let reply = ask({}, &{path}, &[{}], {body});", quoted(method), headers.join(", "))
            }
            ScriptMessage::Text(parts) => format!("link.send({}.as_bytes());", self.text(parts)),
            ScriptMessage::Bytes(parts) => format!("link.send(&unhex(&{}));", self.text(parts)),
            // A test that needs the standard library only has no WebSockets.
            ScriptMessage::Open { .. } | ScriptMessage::Frame { .. } => return None,
            ScriptMessage::Json(parts) => {
                format!("link.send_input({}, &{});", self.n_inputs, self.text(parts))
            }
        })
    }

    /// Returns parts as an expression for a `String`.
    fn text(&self, parts: &[ScriptPart]) -> String {
        let part = |part: &ScriptPart| match part {
            ScriptPart::Literal(text) => format!("{}.to_owned()", quoted(text)),
            ScriptPart::Value(used) => self.value(used),
            ScriptPart::Environment(name) => match name.split_once(':') {
                Some((user, password)) => format!("basic({}, {})", quoted(user), quoted(password)),
                None => format!("environment({})", quoted(name)),
            },
        };
        match parts {
            [] => "String::new()".to_owned(),
            [only] => part(only),
            parts => format!("[{}].concat()", parts.iter().map(part).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Returns the expression of a value taken from an earlier reply.
    fn value(&self, used: &UsedValue) -> String {
        let name = if self.optional.contains(&used.variable.as_str()) {
            format!("{}.clone().unwrap_or_default()", used.variable)
        } else {
            format!("{}.clone()", used.variable)
        };
        let value = match used.part {
            UsedPart::Whole => name,
            UsedPart::Plus(by) => format!("plus(&{name}, {by})"),
            UsedPart::Words(first, n) => format!("words(&{name}, {first}, {n})"),
        };
        match used.spelling {
            ValueSpelling::Plain => value,
            ValueSpelling::Percent => format!("percent(&{value})"),
            ValueSpelling::Json => format!("inside(&{value})"),
            ValueSpelling::Hex => format!("hex({value}.as_bytes())"),
            ValueSpelling::Number { width, little } => format!("number(&{value}, {width}, {little})"),
        }
    }

    fn optional_text(&self, parts: &[ScriptPart]) -> String {
        let missing = parts.iter().find_map(|part| match part {
            ScriptPart::Value(used) if self.optional.contains(&used.variable.as_str()) => {
                Some(&used.variable)
            }
            _ => None,
        });
        let text = self.text(parts);
        match missing {
            Some(variable) => format!("{variable}.is_some().then(|| {text})"),
            None => format!("Some({text})"),
        }
    }

    fn final_lines(&self) -> Option<Vec<String>> {
        let forbidden = forbidden_reply(self.script);
        let mut lines = vec!["// The model allows:".to_owned()];
        let mut tests = Vec::new();
        for reply in &self.script.allowed {
            lines.push(format!("//   {}", comment(&reply.shown)));
            tests.push(self.reply_test(reply)?);
        }
        let any = if tests.is_empty() { "false".to_owned() } else { tests.join(" || ") };
        lines.push(format!(
            "let is_allowed = match &reply {{ Some(reply) => {any}, None => {} }};",
            self.script.silence_allowed
        ));
        // If an allowed reply has the form of the forbidden one, the form cannot tell them apart, and the
        // values have to.
        let must_differ = self.script.allowed.iter().any(|reply| !is_told_by_form(reply, forbidden));
        if let Some(forbidden) = forbidden.filter(|_| must_differ) {
            let test = self.reply_test(forbidden)?;
            lines
                .push(format!("let is_allowed = is_allowed && !reply.as_ref().is_some_and(|reply| {test});"));
        }
        lines.push("let got = reply.map_or_else(|| \"no reply\".to_owned(), |reply| reply.text());".into());
        lines.push("assert!(is_allowed, \"got {got}, which the model does not allow\");".into());
        Some(lines)
    }

    fn reply_test(&self, reply: &ScriptReply) -> Option<String> {
        let mut tests = vec![form(&reply.form)?];
        for (place, parts) in &reply.values {
            tests.push(format!("{} == Some({})", place_expression(place)?, self.text(parts)));
        }
        Some(format!("({})", tests.join(" && ")))
    }
}

/// Returns the condition that a reply must meet, `None` if it cannot be written without other crates.
fn form(form: &ReplyForm) -> Option<String> {
    let mut tests = Vec::new();
    let statuses = status_bounds(form);
    if !statuses.is_empty() {
        let ranges: Vec<String> = statuses
            .into_iter()
            .map(|(least, most)| format!("({least}..={most}).contains(&reply.status)"))
            .collect();
        tests.push(format!("({})", ranges.join(" || ")));
    }
    if let Some(pattern) = &form.pattern {
        // Only the beginning of binary messages can be told without regular expressions.
        let digits =
            pattern.strip_suffix(".*").filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        tests.push(format!("reply.starts_with({})", quoted(digits)));
    }
    let member = |(pointer, text): &(String, String)| {
        format!("reply.member({}).as_deref() == Some({})", quoted(pointer), quoted(text))
    };
    tests.extend(form.members.iter().map(member));
    Some(if tests.is_empty() { "true".to_owned() } else { tests.join(" && ") })
}

fn keep_line(kept: &KeptValue) -> Option<String> {
    let KeptValue { variable, place, is_optional } = kept;
    let value = place_expression(place)?;
    Some(if *is_optional {
        format!("{variable} = {value}.or({variable});")
    } else {
        format!("let {variable} = {value}.expect(\"the reply has it\");")
    })
}

/// Returns an expression for an `Option<String>`; `None` if it needs a regular expression.
fn place_expression(place: &ScriptValuePlace) -> Option<String> {
    Some(match place {
        ScriptValuePlace::Json(pointer) => format!("reply.member({})", quoted(pointer)),
        ScriptValuePlace::Header { name, group: None } => format!("reply.header({})", quoted(name)),
        ScriptValuePlace::Number { at, width, little, signed } => {
            format!("reply.number({at}, {width}, {little}, {signed})")
        }
        ScriptValuePlace::Bytes { at, tail, count, hex } => {
            let end = count.map_or_else(|| "None".to_owned(), |count| format!("Some({})", at + count));
            let bytes = format!("reply.bytes({at}, {end}, {})", tail.unwrap_or(0));
            if *hex {
                format!("{bytes}.map(hex)")
            } else {
                format!(
                    "{bytes}.map(|bytes| String::from_utf8_lossy(bytes).trim_end_matches('\\0').to_owned())"
                )
            }
        }
        ScriptValuePlace::Group { .. } | ScriptValuePlace::Header { .. } | ScriptValuePlace::Cookie(_) => {
            return None;
        }
    })
}
