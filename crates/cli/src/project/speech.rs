//! How a system speaks that has a protocol of its own: text or HTTP.

use ioxide_runner::adapter::Framing;
use ioxide_runner::adapter::http::HttpSpeech;
use ioxide_runner::adapter::managed::Renewal;
use ioxide_runner::adapter::text::Speech as TextSpeech;
use ioxide_runner::codec::http::answer::AnswerConfig;
use ioxide_runner::codec::http::{HttpConfig, RequestConfig, Url};
use ioxide_runner::codec::text::TextConfig;

use super::table::Table;
use crate::exit::Stop;

/// How a system speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speech {
    /// The adapter protocol.
    Protocol,
    /// Text, by templates and patterns.
    Text(Box<TextSpeech>),
    /// Requests and answers.
    Http(Box<HttpSpeech>),
}

/// The keys of a system that speaks text, besides those of every system.
pub(super) const TEXT: [&str; 4] = ["inputs", "outputs", "more", "framing"];

/// The keys of a system that is asked by HTTP, besides those of every system.
pub(super) const HTTP: [&str; 3] = ["inputs", "outputs", "headers"];

/// The text of a system.
pub(super) fn text(system: &Table<'_>) -> Result<TextSpeech, Stop> {
    let framing = system.text("framing")?;
    let framing = match framing.as_deref().map(|text| text.split_once(':').unwrap_or((text, ""))) {
        None | Some(("line", "")) => Framing::Line,
        Some(("delimiter", mark)) if !mark.is_empty() => Framing::Delimiter(mark.to_owned()),
        Some(("length", width)) if matches!(width.parse(), Ok(1..=8usize)) => {
            Framing::Length(width.parse().unwrap_or(4))
        }
        Some(_) => {
            return Err(system.wrong("framing", "write `line`, `delimiter:TEXT` or `length:BYTES` (1 to 8)"));
        }
    };
    let (inputs, outputs) = (system.texts("inputs")?, system.texts("outputs")?);
    let text = TextConfig { inputs, outputs, more: system.text("more")? };
    let reset = system.text("reset")?.filter(|reset| reset != "restart");
    Ok(TextSpeech { text, framing, reset })
}

/// The requests and answers of a system.
pub(super) fn http(system: &Table<'_>, url: Url) -> Result<HttpSpeech, Stop> {
    let mut http = HttpConfig { headers: system.texts("headers")?, ..HttpConfig::default() };
    if let Some(inputs) = system.table("inputs")? {
        for name in inputs.keys() {
            if let Some(table) = inputs.table(name)? {
                http.inputs.push((name.to_owned(), request(&table)?));
            }
        }
    }
    if let Some(outputs) = system.table("outputs")? {
        for name in outputs.keys() {
            if let Some(table) = outputs.table(name)? {
                http.outputs.push((name.to_owned(), answer(&table)?));
            }
        }
    }
    let reset = if system.is_text("reset") { None } else { system.table("reset")? };
    let reset = reset.map(|table| request(&table)).transpose()?;
    Ok(HttpSpeech { url, http, reset })
}

/// How a system that is asked by HTTP comes back to its initial state; it must be said.
pub(super) fn http_reset(system: &Table<'_>, said: Option<&str>) -> Result<Renewal, Stop> {
    let ways = "a request { method = .., path = .. }, \"restart\", or \"none\" if it has no state";
    match said {
        Some("none") => Ok(Renewal::Own),
        Some(_) => Err(system.wrong("reset", &format!("write {ways}"))),
        None if system.has("reset") => Ok(Renewal::Own),
        None => Err(system
            .wrong("kind", "nothing says how it comes back to its initial state")
            .help(format!("`reset` is {ways}; `reset_command` is a command"))),
    }
}

fn request(table: &Table<'_>) -> Result<RequestConfig, Stop> {
    table.only(&["method", "path", "headers", "body"])?;
    Ok(RequestConfig {
        method: table.text("method")?.unwrap_or_else(|| "GET".into()),
        path: table.needed("path", table.text("path")?)?,
        headers: table.texts("headers")?,
        body: table.text("body")?,
    })
}

fn answer(table: &Table<'_>) -> Result<AnswerConfig, Stop> {
    table.only(&["status", "body", "headers", "json", "fields"])?;
    Ok(AnswerConfig {
        status: table.words("status")?,
        body: table.text("body")?,
        headers: table.texts("headers")?,
        json: table.texts("json")?,
        fields: table.texts("fields")?,
    })
}
