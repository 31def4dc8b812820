//! A script in Python with several connections, WebSockets, requests side by side, or encryption.

use ioxide_record::event::{
    ScriptConnection, ScriptEndpoint, ScriptMessage, ScriptPlace, ScriptRecord, ScriptStep, ScriptTls,
    StepRoute,
};

use super::super::{REPLY_SECONDS, comment, head_lines, is_binary, optional_variables, test_name};
use super::{
    COMMON, HTTP, PROTOCOL, PythonSteps, STREAM, expression, form, framing_tuple, keep_line, quoted, truth,
};

const SEVERAL: &str = include_str!("several.py");

/// Returns the program; `None` if the connections are of kinds that do not go together.
pub(super) fn write_script_of_several(script: &ScriptRecord, about: &str) -> Option<String> {
    let is_protocol =
        |connection: &ScriptConnection| matches!(connection.endpoint, ScriptEndpoint::Protocol { .. });
    let n_protocols = script.connections.iter().filter(|connection| is_protocol(connection)).count();
    if n_protocols > 0 && n_protocols < script.connections.len() {
        return None;
    }
    let mut text = String::from("#!/usr/bin/env python3\n");
    for line in head_lines(script, about, "Python 3; pytest runs it as a test") {
        text.push_str(&format!("# {line}\n"));
    }
    text.push_str(&settings(script)?);
    for part in [COMMON, HTTP, STREAM, SEVERAL] {
        text.push_str(part);
    }
    if n_protocols > 0 {
        text.push_str(PROTOCOL);
    }
    let name = test_name(about);
    text.push_str(&format!("\n\ndef {name}():\n"));
    for line in write_steps(script)? {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str(&format!("\n\nif __name__ == \"__main__\":\n    main({name})\n"));
    Some(text)
}

/// Returns the name of a connection as a part of a variable.
fn word(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    if name.is_empty() { "system".to_owned() } else { name.chars().map(letter).collect() }
}

/// Returns the constants that the functions of the program use, and the addresses.
fn settings(script: &ScriptRecord) -> Option<String> {
    let silence = format!("{}.{:03}", script.silence_ms / 1000, script.silence_ms % 1000);
    let endpoints = || script.connections.iter().map(|connection| &connection.endpoint);
    let keeps_cookies =
        endpoints().any(|endpoint| matches!(endpoint, ScriptEndpoint::Http { cookies: true, .. }));
    let mut lines = vec![
        "import base64, json, os, queue, re, socket, ssl, subprocess, sys, threading, time".to_owned(),
        "import http.client, urllib.parse".to_owned(),
        String::new(),
        format!("REPLY_SECONDS = {REPLY_SECONDS}  # a reply must come within"),
        format!("SILENCE_SECONDS = {silence}  # no reply within this is silence"),
        format!("KEEPS_COOKIES = {}", truth(keeps_cookies)),
        format!("IS_BINARY = {}", truth(is_binary(script))),
        "URL = PLACE = None".to_owned(),
        "FRAMING, IS_JOINED, ENVIRONMENT = (\"mark\", b\"\\n\"), False, {}".to_owned(),
    ];
    for ScriptConnection { name, endpoint, tls } in &script.connections {
        let name = word(name);
        let tls = tls.as_ref().map_or_else(|| "None".to_owned(), tls_tuple);
        lines.push(match endpoint {
            ScriptEndpoint::Http { url, .. } => format!("{name} = dict(url={}, tls={tls})", quoted(url)),
            ScriptEndpoint::Stream { place, framing, joined } => {
                let (place, environment) = place_expression(place)?;
                let (framing, joined) = (framing_tuple(framing), truth(*joined));
                format!(
                    "{name} = dict(place={place}, framing={framing}, is_joined={joined}, tls={tls}, \
                     environment={environment})"
                )
            }
            ScriptEndpoint::Protocol { place } => {
                let (place, environment) = place_expression(place)?;
                format!("{name} = dict(place={place}, environment={environment})")
            }
        });
    }
    Some(lines.join("\n") + "\n")
}

/// Returns the other end of a stream, and the variables of its environment.
fn place_expression(place: &ScriptPlace) -> Option<(String, String)> {
    Some(match place {
        ScriptPlace::Tcp(address) => {
            let (host, port) = address.rsplit_once(':')?;
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let port: u16 = port.parse().ok()?;
            (format!("({}, {port})", quoted(host)), "None".to_owned())
        }
        ScriptPlace::Process { command, environment } => {
            let pair = |(name, value): &(String, String)| format!("{}: {}", quoted(name), quoted(value));
            let pairs: Vec<String> = environment.iter().map(pair).collect();
            (quoted(command), format!("{{{}}}", pairs.join(", ")))
        }
    })
}

/// Returns the encryption: the authorities, whether they are checked, the name, and the certificate of the client.
fn tls_tuple(tls: &ScriptTls) -> String {
    let text = |text: &Option<String>| text.as_deref().map_or_else(|| "None".to_owned(), quoted);
    let identity = match &tls.identity {
        Some((certificate, key)) => format!("({}, {})", quoted(certificate), quoted(key)),
        None => "None".to_owned(),
    };
    format!("({}, {}, {}, {identity})", text(&tls.authorities), truth(!tls.is_unchecked), text(&tls.name))
}

/// Returns the body of the script.
fn write_steps(script: &ScriptRecord) -> Option<Vec<String>> {
    let steps = PythonSteps { script, optional: optional_variables(script), number: 0 };
    let mut lines: Vec<String> = steps.optional.iter().map(|name| format!("{name} = None")).collect();
    lines.push("sources = []".into());
    for ScriptConnection { name, endpoint, .. } in &script.connections {
        if !matches!(endpoint, ScriptEndpoint::Http { .. }) {
            let name = word(name);
            lines.push(format!("link_{name} = Link(**{name})"));
            lines.push(format!("sources.append(link_{name})"));
        }
    }
    let last = script.steps.len().checked_sub(1)?;
    let mut number = 0;
    for (at, step) in script.steps.iter().enumerate() {
        let route = script.routes.get(at).copied().unwrap_or_default();
        let name = word(&script.connections.get(route.connection)?.name);
        match step {
            ScriptStep::Send { shown, message } => {
                let is_reset = shown == "reset";
                number += usize::from(!is_reset);
                let lead = if is_reset { String::new() } else { format!("step {number}: ") };
                lines.push(format!("# {lead}{}", comment(shown)));
                lines.extend(send_lines(&steps, message, at, &name)?);
            }
            ScriptStep::Receive { reply, keep } => {
                number += usize::from(number > 0);
                let lead = if number == 0 { String::new() } else { format!("step {number}: ") };
                lines.push(format!("# {lead}{}", comment(&reply.shown)));
                let source = source_of(script, route, &name)?;
                let forms = steps.list_reply_patterns(reply, at == last).join(", ");
                lines.push(format!("reply = {source}.receive(REPLY_SECONDS, [{forms}])"));
                if at != last {
                    lines.push(format!("check({number}, reply, {})", form(&reply.form)));
                    lines.extend(keep.iter().map(keep_line).collect::<Option<Vec<_>>>()?);
                }
            }
            ScriptStep::Silence | ScriptStep::Breakdown(_) => {
                number += 1;
                let shown = match step {
                    ScriptStep::Breakdown(how) => comment(how),
                    _ => "no reply".into(),
                };
                lines.push(format!("# step {number}: {shown}"));
                let wait = if at == last { "REPLY_SECONDS" } else { "SILENCE_SECONDS" };
                lines.push(format!("reply = next_reply(sources, {wait})"));
                if at != last {
                    lines.push(format!("check_silence({number}, reply)"));
                }
            }
            ScriptStep::Wait(seconds) => lines.push(format!("time.sleep({seconds})")),
        }
    }
    lines.extend(steps.final_lines()?);
    Some(lines)
}

/// Returns the lines that send a message on the connection `name`; `at` is the position of the step.
fn send_lines(
    steps: &PythonSteps<'_>,
    message: &ScriptMessage,
    at: usize,
    name: &str,
) -> Option<Vec<String>> {
    let headers = |headers: &[(String, Vec<ioxide_record::event::ScriptPart>)]| {
        let all = headers
            .iter()
            .map(|(name, parts)| Some(format!("{}: {}", quoted(name), steps.optional_text(parts)?)))
            .collect::<Option<Vec<_>>>()?;
        Some(format!("{{{}}}", all.join(", ")))
    };
    Some(match message {
        ScriptMessage::Request { method, path, headers: all, body } => {
            let body = body.as_ref().map_or_else(|| Some("None".into()), |body| expression(body))?;
            let (path, all) = (expression(path)?, headers(all)?);
            vec![
                format!("request_{at} = Request({}, {path}, {all}, {body}, **{name})", quoted(method)),
                format!("sources.append(request_{at})"),
            ]
        }
        ScriptMessage::Open { name: input, path, headers: all } => {
            let socket = websocket_variable(name, input);
            vec![
                format!("{socket} = WebSocket({}, {}, **{name})", expression(path)?, headers(all)?),
                format!("sources.append({socket})"),
            ]
        }
        ScriptMessage::Frame { over, text } => {
            vec![format!("{}.send({})", websocket_variable(name, over), expression(text)?)]
        }
        ScriptMessage::Text(parts) => vec![format!("link_{name}.send(({}).encode())", expression(parts)?)],
        ScriptMessage::Bytes(parts) => {
            vec![format!("link_{name}.send(bytes.fromhex({}))", expression(parts)?)]
        }
        ScriptMessage::Json(parts) => vec![format!("link_{name}.send_input({})", expression(parts)?)],
    })
}

/// Returns the variable of the WebSocket that an input opened.
fn websocket_variable(connection: &str, input: &str) -> String {
    format!("socket_{connection}_{}", word(input))
}

/// Returns the object that a reply comes from.
fn source_of(script: &ScriptRecord, route: StepRoute, name: &str) -> Option<String> {
    let Some(request) = route.request else { return Some(format!("link_{name}")) };
    match script.steps.get(request)? {
        ScriptStep::Send { message: ScriptMessage::Open { name: input, .. }, .. } => {
            Some(websocket_variable(name, input))
        }
        _ => Some(format!("request_{request}")),
    }
}
