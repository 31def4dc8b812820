//! A script as lines for a shell, with `curl` and `jq`.

use ioxide_record::event::{
    KeptValue, ScriptEndpoint, ScriptMessage, ScriptPart, ScriptRecord, ScriptStep, ScriptTls,
    ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};

use super::{REPLY_SECONDS, comment, forbidden_reply, head_lines, optional_variables, quote};

/// Returns the lines; `None` if it is no HTTP, or a value needs more than `jq`.
pub(super) fn write_shell_script(script: &ScriptRecord, about: &str) -> Option<String> {
    let ScriptEndpoint::Http { url, cookies } = &script.endpoint else { return None };
    let tls = match &script.connections[..] {
        [] => None,
        [one] if is_in_order(script) => one.tls.as_ref(),
        _ => return None,
    };
    let head = head_lines(script, about, "bash, curl and jq").into_iter().map(|line| format!("# {line}"));
    let mut lines = vec!["#!/usr/bin/env bash".to_owned()];
    lines.extend(head);
    lines.push(format!("url=${{URL:-{}}}", quote::shell(url)?));
    let needs_headers = kept_values(script).any(|kept| matches!(kept.place, ScriptValuePlace::Header { .. }));
    let mut options = format!("-sS -g --path-as-is -m {REPLY_SECONDS}");
    options.push_str(&tls_options(tls)?);
    if *cookies {
        lines.push("jar=$(mktemp)".into());
        options.push_str(" -b \"$jar\" -c \"$jar\"");
    }
    if needs_headers {
        lines.push("headers=$(mktemp)".into());
        options.push_str(" -D \"$headers\"");
    }
    lines.push(format!(
        "ask() {{ reply=$(curl {options} -w '%{{stderr}}status %{{http_code}}\\n' \"$@\"); printf '%s\\n' \
         \"$reply\"; }}"
    ));
    let spellings: Vec<ValueSpelling> = used_values(script).map(|used| used.spelling).collect();
    if spellings.contains(&ValueSpelling::Percent) {
        lines.push("percent() { printf '%s' \"$1\" | jq -sRr @uri; }".into());
    }
    if spellings.contains(&ValueSpelling::Json) {
        lines.push("inside() { printf '%s' \"$1\" | jq -sR . | sed 's/^\"//; s/\"$//'; }".into());
    }
    let optional = optional_variables(script);
    let mut number = 0;
    for step in &script.steps {
        match step {
            ScriptStep::Send { shown, message } => {
                lines.push(String::new());
                lines.push(if shown == "reset" {
                    "# reset".to_owned()
                } else {
                    number += 1;
                    format!("# step {number}: {}", comment(shown))
                });
                lines.push(request_line(message, &optional)?);
            }
            ScriptStep::Receive { reply, keep } => {
                if number > 0 {
                    number += 1;
                    lines.push(format!("# step {number}: {}", comment(&reply.shown)));
                }
                for kept in keep {
                    lines.push(keep_line(kept)?);
                }
            }
            ScriptStep::Silence => lines.push("# no reply".into()),
            ScriptStep::Wait(seconds) => lines.push(format!("sleep {seconds}")),
            ScriptStep::Breakdown(how) => lines.push(format!("# {}", comment(how))),
        }
    }
    lines.push(String::new());
    lines.push(format!("printf '%s\\n' {}", quote::shell(&verdict_text(script))?));
    Some(lines.join("\n") + "\n")
}

/// Returns whether every request is answered, or seen to get no answer, before the next one is sent.
fn is_in_order(script: &ScriptRecord) -> bool {
    let mut is_pending = false;
    script.steps.iter().all(|step| match step {
        ScriptStep::Send { .. } => !std::mem::replace(&mut is_pending, true),
        ScriptStep::Receive { .. } | ScriptStep::Silence | ScriptStep::Breakdown(_) => {
            is_pending = false;
            true
        }
        ScriptStep::Wait(_) => true,
    })
}

/// Returns the options of `curl` for encryption; `None` if it has none for them.
fn tls_options(tls: Option<&ScriptTls>) -> Option<String> {
    let mut options = String::new();
    let Some(ScriptTls { authorities, is_unchecked, name, identity }) = tls else { return Some(options) };
    if name.is_some() {
        // The name of the certificate would have to be that of the address.
        return None;
    }
    if *is_unchecked {
        options.push_str(" -k");
    }
    if let Some(file) = authorities {
        options.push_str(&format!(" --cacert {}", quote::shell(file)?));
    }
    if let Some((certificate, key)) = identity {
        options.push_str(&format!(" --cert {} --key {}", quote::shell(certificate)?, quote::shell(key)?));
    }
    Some(options)
}

/// Returns the failure in one line: what came when the run was recorded, and what the model allows.
fn verdict_text(script: &ScriptRecord) -> String {
    let got = match script.steps.last() {
        Some(ScriptStep::Breakdown(how)) => comment(how),
        _ => forbidden_reply(script).map_or_else(|| "no reply".to_owned(), |reply| comment(&reply.shown)),
    };
    let mut allowed: Vec<String> = script.allowed.iter().map(|reply| comment(&reply.shown)).collect();
    if script.silence_allowed {
        allowed.push("no reply".into());
    }
    format!("when recorded, the last reply was {got}; the model allows {}", allowed.join(" or "))
}

/// Returns all uses of variables.
fn used_values(script: &ScriptRecord) -> impl Iterator<Item = UsedValue> {
    let mut found = Vec::new();
    for step in &script.steps {
        if let ScriptStep::Send { message, .. } = step {
            message.clone().for_each_part(&mut |part| {
                if let ScriptPart::Value(used) = part {
                    found.push(used.clone());
                }
            });
        }
    }
    found.into_iter()
}

fn kept_values(script: &ScriptRecord) -> impl Iterator<Item = &KeptValue> {
    script.steps.iter().flat_map(|step| match step {
        ScriptStep::Receive { keep, .. } => &keep[..],
        _ => &[],
    })
}

fn request_line(message: &ScriptMessage, optional: &[&str]) -> Option<String> {
    let ScriptMessage::Request { method, path, headers, body } = message else { return None };
    let mut line = match method.as_str() {
        "GET" => "ask".to_owned(),
        // With `-X HEAD` curl would wait for a body.
        "HEAD" => "ask --head".to_owned(),
        method => format!("ask -X {}", quote::shell(method)?),
    };
    line.push_str(&format!(" \"$url\"{}", words(path)?));
    for (name, value) in headers {
        // An empty header is written with a semicolon: after a colon curl would leave it out.
        let lead = if value.is_empty() { format!("{name};") } else { format!("{name}: ") };
        let argument = words(&[&[ScriptPart::Literal(lead)], &value[..]].concat())?;
        let missing = value.iter().find_map(|part| match part {
            ScriptPart::Value(used) if optional.contains(&used.variable.as_str()) => Some(&used.variable),
            _ => None,
        });
        match missing {
            Some(variable) => line.push_str(&format!(" ${{{variable}:+-H {argument}}}")),
            None => line.push_str(&format!(" -H {argument}")),
        }
    }
    if let Some(body) = body {
        let argument = words(body)?;
        let argument = if argument.is_empty() { "''".to_owned() } else { argument };
        line.push_str(&format!(" --data-raw {argument}"));
    }
    Some(line)
}

/// Returns parts as one word of the shell; `None` if a text cannot be written in it.
fn words(parts: &[ScriptPart]) -> Option<String> {
    let (mut word, mut literal) = (String::new(), String::new());
    for part in parts {
        match part {
            ScriptPart::Literal(text) => literal.push_str(text),
            ScriptPart::Value(used) => {
                word.push_str(&literal_word(&std::mem::take(&mut literal))?);
                word.push_str(&value_word(used)?);
            }
            ScriptPart::Environment(name) => {
                word.push_str(&literal_word(&std::mem::take(&mut literal))?);
                word.push_str(&match name.split_once(':') {
                    Some((user, password)) => {
                        format!("\"$(printf '%s' \"${user}:${password}\" | base64 | tr -d '\\n')\"")
                    }
                    None => format!("\"${name}\""),
                });
            }
        }
    }
    Some(word + &literal_word(&literal)?)
}

/// Returns a literal as a part of a word; nothing for the empty one.
fn literal_word(text: &str) -> Option<String> {
    if text.is_empty() { Some(String::new()) } else { quote::shell(text) }
}

/// Returns a use of a variable as a word; it is quoted, and never read as a command or an expression.
fn value_word(used: &UsedValue) -> Option<String> {
    let name = &used.variable;
    let value = match used.part {
        UsedPart::Whole => format!("\"${name}\""),
        UsedPart::Plus(by) => format!("\"$(jq -n --argjson v \"${name}\" '$v + {by}')\""),
        UsedPart::Words(..) => return None,
    };
    Some(match used.spelling {
        ValueSpelling::Plain => value,
        ValueSpelling::Percent => format!("\"$(percent {value})\""),
        ValueSpelling::Json => format!("\"$(inside {value})\""),
        ValueSpelling::Hex | ValueSpelling::Number { .. } => return None,
    })
}

fn keep_line(kept: &KeptValue) -> Option<String> {
    let KeptValue { variable, place, is_optional } = kept;
    let source = match place {
        ScriptValuePlace::Json(pointer) => {
            let filter = quote::shell(&jq_filter(pointer))?;
            format!("printf '%s' \"$reply\" | jq -r {filter}")
        }
        ScriptValuePlace::Header { name, group: None } => {
            let command = quote::shell(&format!("s/^{name}: *//Ip"))?;
            format!("sed -n {command} \"$headers\" | tr -d '\\r'")
        }
        _ => return None,
    };
    Some(if *is_optional {
        let source = source.replacen("jq -r ", "jq -re ", 1);
        format!("found=$({source} 2>/dev/null) && [ -n \"$found\" ] && {variable}=$found")
    } else {
        format!("{variable}=$({source})")
    })
}

/// Returns a JSON pointer as a filter of `jq`.
fn jq_filter(pointer: &str) -> String {
    let step = |name: &str| {
        let name = name.replace("~1", "/").replace("~0", "~");
        let mut chars = name.chars();
        let is_word = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        match name.parse::<u32>() {
            Ok(index) => format!("[{index}]"),
            Err(_) if is_word => format!(".{name}"),
            Err(_) => format!("[{}]", serde_json::Value::from(name)),
        }
    };
    let steps: String = pointer.split('/').skip(1).map(step).collect();
    if steps.starts_with('.') { steps } else { format!(".{steps}") }
}
