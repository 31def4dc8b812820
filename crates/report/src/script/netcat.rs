//! A script as one command with `nc`: for text over TCP in which no value comes from a reply.

use ioxide_record::event::{
    ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPlace, ScriptRecord, ScriptStep,
};

use super::{comment, head_lines, literal_text, quote};

/// Returns the command; `None` if something else is needed than text in order.
pub(super) fn write_netcat_script(script: &ScriptRecord, about: &str) -> Option<String> {
    let ScriptEndpoint::Stream { place: ScriptPlace::Tcp(address), framing: ScriptFraming::Mark(_), .. } =
        &script.endpoint
    else {
        return None;
    };
    let (host, port) = address.rsplit_once(':')?;
    let host = quote::shell(host.trim_start_matches('[').trim_end_matches(']'))?;
    let head = head_lines(script, about, "nc").into_iter().map(|line| format!("# {line}"));
    let mut lines: Vec<String> = head.collect();
    lines.push("{".into());
    for step in &script.steps {
        match step {
            ScriptStep::Send { shown, message: ScriptMessage::Text(parts) } => {
                let text = literal_text(parts)?;
                lines.push(format!("  printf {}   # {}", quote::printf(&text), comment(shown)));
            }
            ScriptStep::Send { .. } => return None,
            // Whoever reads along must see the reply before the next message goes out.
            ScriptStep::Receive { reply, .. } => {
                lines.push(format!("  sleep 1   # {}", comment(&reply.shown)))
            }
            ScriptStep::Silence => lines.push("  sleep 1   # no reply".into()),
            ScriptStep::Wait(seconds) => lines.push(format!("  sleep {seconds}")),
            ScriptStep::Breakdown(how) => lines.push(format!("  sleep 1   # {}", comment(how))),
        }
    }
    lines.push(format!("}} | nc {host} {}", quote::shell(port)?));
    Some(lines.join("\n") + "\n")
}
