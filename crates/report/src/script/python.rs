//! A script in Python, with the standard library only. It is a test of pytest and a program.

mod several;

use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPart, ScriptPlace,
    ScriptRecord, ScriptReply, ScriptStep, ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};

use super::quote::python as quoted;
use super::{
    REPLY_SECONDS, comment, forbidden_reply, head_lines, is_binary, is_told_by_form, optional_variables,
    status_bounds, test_name,
};

const COMMON: &str = include_str!("python/common.py");
const HTTP: &str = include_str!("python/http.py");
const STREAM: &str = include_str!("python/stream.py");
const PROTOCOL: &str = include_str!("python/protocol.py");

/// Returns the program; `None` if Python cannot express the run.
pub(super) fn write_python_script(script: &ScriptRecord, about: &str) -> Option<String> {
    if !script.connections.is_empty() {
        return several::write_script_of_several(script, about);
    }
    let mut text = String::from("#!/usr/bin/env python3\n");
    for line in head_lines(script, about, "Python 3; pytest runs it as a test") {
        text.push_str(&format!("# {line}\n"));
    }
    text.push_str(&settings(script)?);
    text.push_str(COMMON);
    let parts: &[&str] = match &script.endpoint {
        ScriptEndpoint::Http { .. } => &[HTTP],
        ScriptEndpoint::Stream { .. } => &[STREAM],
        ScriptEndpoint::Protocol { .. } => &[STREAM, PROTOCOL],
    };
    parts.iter().for_each(|part| text.push_str(part));
    let name = test_name(about);
    text.push_str(&format!("\n\ndef {name}():\n"));
    let lines = PythonSteps { script, optional: optional_variables(script), number: 0 }.lines()?;
    lines.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
    text.push_str(&format!("\n\nif __name__ == \"__main__\":\n    main({name})\n"));
    Some(text)
}

/// Returns the constants that the functions of the program use; `None` if one cannot be expressed.
fn settings(script: &ScriptRecord) -> Option<String> {
    let silence = format!("{}.{:03}", script.silence_ms / 1000, script.silence_ms % 1000);
    let mut lines = vec![
        "import base64, json, os, queue, re, socket, ssl, subprocess, sys, threading, time".to_owned(),
        "import http.client, urllib.parse".to_owned(),
        String::new(),
        format!("REPLY_SECONDS = {REPLY_SECONDS}  # a reply must come within"),
        format!("SILENCE_SECONDS = {silence}  # no reply within this is silence"),
    ];
    let place = |place: &ScriptPlace| -> Option<Vec<String>> {
        Some(match place {
            ScriptPlace::Tcp(address) => {
                let (host, port) = address.rsplit_once(':')?;
                let host = host.trim_start_matches('[').trim_end_matches(']');
                let port: u16 = port.parse().ok()?;
                vec![format!("PLACE = ({}, {port})", quoted(host))]
            }
            ScriptPlace::Process { command, environment } => {
                let pairs = environment
                    .iter()
                    .map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)))
                    .collect::<Vec<_>>();
                vec![
                    format!("PLACE = {}", quoted(command)),
                    format!("ENVIRONMENT = {{{}}}", pairs.join(", ")),
                ]
            }
        })
    };
    match &script.endpoint {
        ScriptEndpoint::Http { url, cookies } => {
            lines.push(format!("URL = os.environ.get(\"URL\", {})", quoted(url)));
            lines.push(format!("KEEPS_COOKIES = {}", truth(*cookies)));
            lines.push("IS_BINARY = False".into());
        }
        ScriptEndpoint::Stream { place: to, framing, joined } => {
            lines.extend(place(to)?);
            lines.push(format!("FRAMING = {}", framing_tuple(framing)));
            lines.push(format!("IS_JOINED = {}", truth(*joined)));
            lines.push(format!("IS_BINARY = {}", truth(is_binary(script))));
        }
        ScriptEndpoint::Protocol { place: to } => {
            lines.extend(place(to)?);
            lines.push("FRAMING = (\"mark\", b\"\\n\")".into());
            lines.push("IS_JOINED = IS_BINARY = False".into());
        }
    }
    // The shared functions read every constant, also those that this connection does not need.
    if !lines.iter().any(|line| line.starts_with("ENVIRONMENT")) {
        lines.push("ENVIRONMENT = {}".into());
    }
    Some(lines.join("\n") + "\n")
}

fn framing_tuple(framing: &ScriptFraming) -> String {
    match framing {
        ScriptFraming::Mark(mark) => format!("(\"mark\", {}.encode())", quoted(mark)),
        ScriptFraming::Length(width) => format!("(\"length\", {width})"),
        ScriptFraming::Fixed(count) => format!("(\"fixed\", {count})"),
        ScriptFraming::Counted { at, width, little, uncounted } => {
            let order = byte_order(*little);
            format!("(\"counted\", {at}, {width}, {order}, {uncounted})")
        }
    }
}

/// Returns a truth value in Python.
const fn truth(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

const fn byte_order(little: bool) -> &'static str {
    if little { "\"little\"" } else { "\"big\"" }
}

/// Writes the steps.
struct PythonSteps<'s> {
    script: &'s ScriptRecord,
    optional: Vec<&'s str>,
    /// The number of the last step of the run.
    number: usize,
}

impl PythonSteps<'_> {
    /// Returns the body of the script; `None` if a step cannot be written.
    fn lines(mut self) -> Option<Vec<String>> {
        let mut lines: Vec<String> = self.optional.iter().map(|name| format!("{name} = None")).collect();
        let is_http = matches!(self.script.endpoint, ScriptEndpoint::Http { .. });
        if !is_http {
            lines.push("link = Link()".into());
        }
        let last = self.script.steps.len() - 1;
        for (at, step) in self.script.steps.iter().enumerate() {
            let is_last = at == last;
            match step {
                ScriptStep::Send { shown, message } => {
                    let is_reset = shown == "reset";
                    self.number += usize::from(!is_reset);
                    let lead = if is_reset { String::new() } else { format!("step {}: ", self.number) };
                    lines.push(format!("# {lead}{}", comment(shown)));
                    lines.push(self.send_line(message)?);
                }
                ScriptStep::Receive { reply, keep } => {
                    // The replies to the reset come before the first numbered step.
                    self.number += usize::from(self.number > 0);
                    let step = self.number;
                    let lead = if step == 0 { String::new() } else { format!("step {step}: ") };
                    lines.push(format!("# {lead}{}", comment(&reply.shown)));
                    if !is_http {
                        let forms = self.list_reply_patterns(reply, is_last);
                        lines.push(format!("reply = link.receive(REPLY_SECONDS, [{}])", forms.join(", ")));
                    }
                    // The last reply is the failure: it is compared with everything that is allowed, at the
                    // end.
                    if !is_last {
                        lines.push(format!("check({step}, reply, {})", form(&reply.form)));
                        lines.extend(keep.iter().map(keep_line).collect::<Option<Vec<_>>>()?);
                    }
                }
                ScriptStep::Silence | ScriptStep::Breakdown(_) => {
                    self.number += 1;
                    let shown = match step {
                        ScriptStep::Breakdown(how) => comment(how),
                        _ => "no reply".into(),
                    };
                    lines.push(format!("# step {}: {shown}", self.number));
                    // Without a request nothing can come by HTTP.
                    let is_idle = is_http
                        && !matches!(
                            self.script.steps.get(at.wrapping_sub(1)),
                            Some(ScriptStep::Send { .. })
                        );
                    if !is_http {
                        let wait = if is_last { "REPLY_SECONDS" } else { "SILENCE_SECONDS" };
                        lines.push(format!("reply = link.receive({wait}, [])"));
                    }
                    if !is_last && !is_idle {
                        lines.push(format!("check_silence({}, reply)", self.number));
                    }
                }
                ScriptStep::Wait(seconds) => lines.push(format!("time.sleep({seconds})")),
            }
        }
        lines.extend(self.final_lines()?);
        Some(lines)
    }

    /// Returns the patterns of the replies that may come, for messages of several frames.
    fn list_reply_patterns(&self, reply: &ScriptReply, is_last: bool) -> Vec<String> {
        let allowed = if is_last { &self.script.allowed[..] } else { &[] };
        let forms = [reply].into_iter().chain(allowed).filter_map(|reply| reply.form.pattern.as_deref());
        forms.map(quoted).collect()
    }

    fn send_line(&self, message: &ScriptMessage) -> Option<String> {
        Some(match message {
            ScriptMessage::Request { method, path, headers, body } => {
                let headers = headers
                    .iter()
                    .map(|(name, parts)| Some(format!("{}: {}", quoted(name), self.optional_text(parts)?)))
                    .collect::<Option<Vec<_>>>()?;
                let body = body.as_ref().map_or_else(|| Some("None".into()), |body| expression(body))?;
                format!(
                    "reply = ask({}, {}, {{{}}}, {body})",
                    quoted(method),
                    expression(path)?,
                    headers.join(", ")
                )
            }
            ScriptMessage::Text(parts) => format!("link.send(({}).encode())", expression(parts)?),
            ScriptMessage::Bytes(parts) => format!("link.send(bytes.fromhex({}))", expression(parts)?),
            ScriptMessage::Json(parts) => format!("link.send_input({})", expression(parts)?),
            // These need a connection of their own.
            ScriptMessage::Open { .. } | ScriptMessage::Frame { .. } => return None,
        })
    }

    /// Returns a text that is `None` while a value of it is missing.
    fn optional_text(&self, parts: &[ScriptPart]) -> Option<String> {
        let text = expression(parts)?;
        let missing = parts.iter().find_map(|part| match part {
            ScriptPart::Value(used) if self.optional.contains(&used.variable.as_str()) => {
                Some(&used.variable)
            }
            _ => None,
        });
        Some(match missing {
            Some(variable) => format!("None if {variable} is None else {text}"),
            None => text,
        })
    }

    /// Returns the lines that compare the last reply with those that the model allows.
    fn final_lines(&self) -> Option<Vec<String>> {
        let forbidden = forbidden_reply(self.script);
        // Something is always allowed: here it is not known what, since messages crossed.
        if let (Some(forbidden), true) =
            (forbidden, self.script.allowed.is_empty() && !self.script.silence_allowed)
        {
            return Some(vec![format!("expect_other(reply, {})", reply_test(forbidden)?)]);
        }
        let mut lines = vec!["# The model allows:".to_owned(), "expect(reply, [".to_owned()];
        for reply in &self.script.allowed {
            lines.push(format!("    ({}, {}),", quoted(&comment(&reply.shown)), reply_test(reply)?));
        }
        // A wrong answer to one request may be a right one to another that is pending too.
        let must_differ = !self.script.routes.is_empty()
            || self.script.allowed.iter().any(|reply| !is_told_by_form(reply, forbidden));
        let different = forbidden.filter(|_| must_differ).map(reply_test);
        let different = different.unwrap_or_else(|| Some("None".into()))?;
        lines.push(format!("], silence={}, forbidden={different})", truth(self.script.silence_allowed)));
        Some(lines)
    }
}

/// Returns the form and the values of a reply, to be compared with one.
fn reply_test(reply: &ScriptReply) -> Option<String> {
    let value = |(place, parts): &(ScriptValuePlace, Vec<ScriptPart>)| {
        Some(format!("(lambda reply: {}, {})", place_expression(place), expression(parts)?))
    };
    let values = reply.values.iter().map(value).collect::<Option<Vec<_>>>()?;
    Some(format!("({}, [{}])", form(&reply.form), values.join(", ")))
}

/// Returns the check of a reply: statuses, pattern and members.
fn form(form: &ReplyForm) -> String {
    let statuses: Vec<String> =
        status_bounds(form).into_iter().map(|(least, most)| format!("({least}, {most})")).collect();
    let pattern = form.pattern.as_deref().map_or_else(|| "None".into(), quoted);
    let members: Vec<String> = form
        .members
        .iter()
        .map(|(pointer, text)| format!("({}, {})", quoted(pointer), quoted(text)))
        .collect();
    format!("([{}], {pattern}, [{}])", statuses.join(", "), members.join(", "))
}

fn keep_line(kept: &KeptValue) -> Option<String> {
    let KeptValue { variable, place, is_optional } = kept;
    let value = place_expression(place);
    Some(if *is_optional {
        format!("{variable} = unless_missing(lambda: {value}, {variable})")
    } else {
        format!("{variable} = {value}")
    })
}

fn place_expression(place: &ScriptValuePlace) -> String {
    match place {
        ScriptValuePlace::Json(pointer) => format!("reply.member({})", quoted(pointer)),
        ScriptValuePlace::Group { pattern, group } => {
            format!("reply.group({}, {})", quoted(pattern), quoted(group))
        }
        ScriptValuePlace::Header { name, group: None } => format!("reply.headers[{}]", quoted(name)),
        ScriptValuePlace::Header { name, group: Some((pattern, group)) } => {
            format!("group_of(reply.headers[{}], {}, {})", quoted(name), quoted(pattern), quoted(group))
        }
        ScriptValuePlace::Cookie(name) => format!("reply.cookies[{}]", quoted(name)),
        ScriptValuePlace::Number { at, width, little, signed } => format!(
            "str(int.from_bytes(reply.data[{at}:{}], {}, signed={}))",
            at + width,
            byte_order(*little),
            truth(*signed)
        ),
        ScriptValuePlace::Bytes { at, tail, count, hex } => {
            let end = match (count, tail) {
                (Some(count), _) => (at + count).to_string(),
                (None, Some(tail @ 1..)) => format!("-{tail}"),
                (None, _) => String::new(),
            };
            let slice = format!("reply.data[{at}:{end}]");
            if *hex {
                format!("{slice}.hex()")
            } else if count.is_some() {
                // Text is filled up with zeros.
                format!("{slice}.rstrip(b\"\\0\").decode()")
            } else {
                format!("{slice}.decode()")
            }
        }
    }
}

/// Returns parts as an expression for a text.
fn expression(parts: &[ScriptPart]) -> Option<String> {
    let part = |part: &ScriptPart| match part {
        ScriptPart::Literal(text) => quoted(text),
        ScriptPart::Value(used) => value_expression(used),
        ScriptPart::Environment(name) => match name.split_once(':') {
            Some((user, password)) => format!("basic({}, {})", quoted(user), quoted(password)),
            None => format!("os.environ[{}]", quoted(name)),
        },
    };
    Some(if parts.is_empty() {
        "\"\"".to_owned()
    } else {
        parts.iter().map(part).collect::<Vec<_>>().join(" + ")
    })
}

fn value_expression(used: &UsedValue) -> String {
    let name = &used.variable;
    let value = match used.part {
        UsedPart::Whole => name.clone(),
        UsedPart::Plus(by) => format!("str(int({name}) + {by})").replace("+ -", "- "),
        UsedPart::Words(first, n) => format!("words({name}, {first}, {n})"),
    };
    match used.spelling {
        ValueSpelling::Plain => value,
        ValueSpelling::Percent => format!("percent({value})"),
        ValueSpelling::Json => format!("inside({value})"),
        ValueSpelling::Hex => format!("{value}.encode().hex()"),
        ValueSpelling::Number { width, little } => {
            format!("number({value}, {width}, {})", byte_order(little))
        }
    }
}
