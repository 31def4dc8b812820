//! A failing run as a program that needs no ioxide: lines of `curl`, of `nc`, Python that pytest runs too, a Rust test.
//!
//! *Promises.* Text from a model or a system cannot become code: literals are quoted for their language (`quote`),
//! comments are one line without control characters, and a value that the system chooses while the program runs is data
//! in a variable. A form that cannot say something leaves the whole program to the other forms.

mod netcat;
mod python;
mod quote;
mod rust;
mod shell;
#[cfg(test)]
mod tests;

use ioxide_record::event::{
    ReplyForm, ScriptEndpoint, ScriptMessage, ScriptPart, ScriptPlace, ScriptRecord, ScriptReply, ScriptStep,
};

use crate::control_characters::excerpt;

/// The seconds within which a reply must begin, chosen by feel: a person watches.
const REPLY_SECONDS: u32 = 10;
/// The number of characters of a message in a comment. Chosen by feel: about one line of a wide screen.
const MAX_COMMENT: usize = 160;

/// The languages of scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// Lines for a shell with `curl` and `jq`.
    Curl,
    /// A line for a shell with `nc`.
    Netcat,
    /// Python, which pytest runs as a test.
    Python,
    /// A Rust test that needs the standard library only.
    Rust,
}

impl ScriptLanguage {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Curl, Self::Netcat, Self::Python, Self::Rust];

    /// Returns its name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Netcat => "nc",
            Self::Python => "Python",
            Self::Rust => "Rust",
        }
    }

    /// Returns its name on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Netcat => "nc",
            Self::Python => "python",
            Self::Rust => "rust",
        }
    }
}

/// Returns the script in a language; `None` if that language cannot say it. `about` names the model.
#[must_use]
pub fn write_script(script: &ScriptRecord, language: ScriptLanguage, about: &str) -> Option<String> {
    // Several connections, WebSockets and requests side by side are more than lines in order can say; curl encrypts.
    let is_in_order = script.connections.is_empty();
    if !is_in_order && matches!(language, ScriptLanguage::Netcat | ScriptLanguage::Rust) {
        return None;
    }
    match language {
        ScriptLanguage::Curl => shell::write_shell_script(script, about),
        ScriptLanguage::Netcat => netcat::write_netcat_script(script, about),
        ScriptLanguage::Python => python::write_python_script(script, about),
        ScriptLanguage::Rust => rust::write_rust_script(script, about),
    }
}

/// Returns a text as the inside of a comment: one line, nothing hidden, not too long.
fn comment(text: &str) -> String {
    excerpt(text, MAX_COMMENT)
}

/// Returns the name of a test for `about`.
fn test_name(about: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = about.chars().take(40).map(word).collect();
    format!("test_{}", name.trim_matches('_'))
}

/// Returns the lines before the steps: what the program is, how the system is started, what to know.
fn head_lines(script: &ScriptRecord, about: &str, needs: &str) -> Vec<String> {
    let mut lines =
        vec![format!("Repeats a failing run of {} without ioxide. Needs {needs}.", comment(about))];
    if let Some(start) = &script.start {
        lines.push("Start the system first, in its first state:".into());
        lines.extend(start.lines().map(|line| format!("    {}", comment(line))));
    } else if !matches!(
        script.endpoint,
        ScriptEndpoint::Stream { place: ScriptPlace::Process { .. }, .. }
            | ScriptEndpoint::Protocol { place: ScriptPlace::Process { .. } }
    ) {
        lines.push("The system must be running, in its first state.".into());
    }
    let mut copy = script.clone();
    let mut has_hidden = false;
    copy.for_each_text(&mut |text| has_hidden |= text.contains("***"));
    if has_hidden {
        lines.push("*** is a secret that is not shown here.".into());
    }
    lines.extend(script.notes.iter().map(|note| comment(note)));
    lines
}

/// Returns whether the messages are bytes, written as hexadecimal digits.
fn is_binary(script: &ScriptRecord) -> bool {
    script.steps.iter().any(|step| matches!(step, ScriptStep::Send { message: ScriptMessage::Bytes(_), .. }))
}

/// Returns the replies that end the run without a failure. Of those that are distinguished by their form only, `false`
/// says that the forbidden reply has the same form: then its values must not come again.
fn is_told_by_form(reply: &ScriptReply, forbidden: Option<&ScriptReply>) -> bool {
    reply.is_exact || forbidden.is_none_or(|forbidden| forbidden.form != reply.form)
}

/// Returns the reply that is the failure, if it is one.
fn forbidden_reply(script: &ScriptRecord) -> Option<&ScriptReply> {
    match script.steps.last() {
        Some(ScriptStep::Receive { reply, .. }) => Some(reply),
        _ => None,
    }
}

/// Returns the variables that may have no value, since a reply may lack them.
fn optional_variables(script: &ScriptRecord) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for step in &script.steps {
        let ScriptStep::Receive { keep, .. } = step else { continue };
        found.extend(keep.iter().filter(|kept| kept.is_optional).map(|kept| kept.variable.as_str()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the text of parts that are all literal; `None` if there is a variable.
fn literal_text(parts: &[ScriptPart]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            ScriptPart::Literal(more) => text.push_str(more),
            ScriptPart::Value(_) | ScriptPart::Environment(_) => return None,
        }
    }
    Some(text)
}

/// Returns the lower and upper bounds of the statuses of a form.
fn status_bounds(form: &ReplyForm) -> Vec<(u32, u32)> {
    let bounds = |text: &String| match text.strip_suffix("xx") {
        Some(hundreds) => hundreds.parse::<u32>().ok().map(|n| (n * 100, n * 100 + 99)),
        None => text.parse::<u32>().ok().map(|n| (n, n)),
    };
    form.status.iter().filter_map(bounds).collect()
}
