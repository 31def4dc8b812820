//! Labels as HTTP requests and answers.
//!
//! An input is a request: method, path, headers and body are templates. A value in the path is
//! percent-encoded; in a body it is JSON unless the content type says otherwise. An output is
//! recognised by status, headers, body or members of a JSON body, and its fields are named groups
//! of the patterns or members of the body, named by JSON pointers (RFC 6901).
//!
//! *Promises.* An answer that is no output is an error that shows it, never silence. No value
//! can add a header or a second request.

pub mod answer;
pub mod message;
mod url;

use ioxide_model::label::Label;
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::value::Value;

use self::answer::{Answer, AnswerConfig};
use self::message::{Request, Response};
use super::template::{Template, check_fields, plain_text};
use super::{BadSpeech, value_to_json};

pub use self::url::{BadUrl, Url, is_secret, percent};

/// How messages are written, as people wrote it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpConfig {
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// A request for every input.
    pub inputs: Vec<(String, RequestConfig)>,
    /// How every output is recognised; the first that fits is taken.
    pub outputs: Vec<(String, AnswerConfig)>,
}

/// A request as people wrote it down; all but the method are templates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestConfig {
    /// Its method.
    pub method: String,
    /// Its path, with what follows a question mark.
    pub path: String,
    /// Its headers, besides those of every request.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Option<String>,
}

/// Reads and writes the messages of one model.
#[derive(Debug)]
pub struct HttpCodec {
    base: String,
    inputs: Vec<(String, Prepared)>,
    outputs: Vec<(String, Answer)>,
}

/// A request whose templates are read.
#[derive(Debug)]
struct Prepared {
    method: String,
    path: Template,
    headers: Vec<(String, Template)>,
    body: Option<Template>,
    writing: Writing,
}

/// How a value is written into a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Json,
    Form,
    Plain,
}

impl HttpCodec {
    /// Checks that every message of `model` is there and that the fields are those of its gates.
    ///
    /// # Errors
    /// If something is missing or wrong; the error names the message.
    pub fn new(config: &HttpConfig, base: &str, model: &Model) -> Result<Self, BadSpeech> {
        let mut codec = Self { base: base.to_owned(), inputs: Vec::new(), outputs: Vec::new() };
        for (name, request) in &config.inputs {
            let prepared = input(model, name, request, &config.headers);
            let prepared = prepared.map_err(|problem| BadSpeech::message("inputs", name, problem))?;
            codec.inputs.push((name.clone(), prepared));
        }
        for (name, answer) in &config.outputs {
            let answer = output(model, name, answer);
            let answer = answer.map_err(|problem| BadSpeech::message("outputs", name, problem))?;
            codec.outputs.push((name.clone(), answer));
        }
        codec.complete(model)?;
        Ok(codec)
    }

    fn complete(&self, model: &Model) -> Result<(), BadSpeech> {
        let has = |gate: &Gate| match gate.kind {
            GateKind::Input => self.inputs.iter().any(|(name, _)| *name == *gate.name),
            // How the connection ended is not read from it.
            GateKind::Output => {
                gate.tells_the_end() || self.outputs.iter().any(|(name, _)| *name == *gate.name)
            }
            GateKind::Internal | GateKind::Observed => true,
        };
        match model.sts.gates.iter().find(|gate| !has(gate)) {
            Some(gate) if gate.kind == GateKind::Input => {
                Err(BadSpeech::table("inputs", format!("there is no request for `{}`", gate.name)))
            }
            Some(gate) => {
                Err(BadSpeech::table("outputs", format!("nothing says how `{}` is recognised", gate.name)))
            }
            None => Ok(()),
        }
    }

    /// The request of an input.
    ///
    /// # Errors
    /// If a value has no text where it stands.
    pub fn encode(&self, model: &Model, label: &Label) -> Result<Request, String> {
        let Label::Input(gate, _) = label else { return Err("only inputs can be sent".into()) };
        let name = &model.sts.gates[*gate].name;
        let Some((_, prepared)) = self.inputs.iter().find(|(other, _)| *other == **name) else {
            return Err(format!("there is no request for `{name}`"));
        };
        prepared.filled(&self.base, model, label)
    }

    /// The message an answer is.
    ///
    /// # Errors
    /// If it is none, or a value does not fit its field.
    pub fn decode(&self, model: &Model, response: &Response) -> Result<Label, String> {
        for (name, answer) in &self.outputs {
            if let Some(label) = answer.decode(model, name, response)? {
                return Ok(label);
            }
        }
        Err("no output fits this answer".into())
    }
}

fn input(
    model: &Model,
    name: &str,
    request: &RequestConfig,
    headers: &[(String, String)],
) -> Result<Prepared, String> {
    let prepared = Prepared::new(request, headers).map_err(|problem| format!("input `{name}`: {problem}"))?;
    check_fields(model, name, GateKind::Input, prepared.fields())?;
    Ok(prepared)
}

fn output(model: &Model, name: &str, answer: &AnswerConfig) -> Result<Answer, String> {
    let answer = Answer::new(answer).map_err(|problem| format!("output `{name}`: {problem}"))?;
    check_fields(model, name, GateKind::Output, answer.fields().into_iter())?;
    answer.covers(model, name)?;
    Ok(answer)
}

impl RequestConfig {
    /// The request, if it has no fields to be filled in.
    ///
    /// # Errors
    /// If something is wrong with it.
    pub fn plain(&self, headers: &[(String, String)], base: &str, model: &Model) -> Result<Request, String> {
        let prepared = Prepared::new(self, headers)?;
        match prepared.fields().next() {
            Some(field) => Err(format!("there is no `{field}` here")),
            None => prepared.filled(base, model, &Label::Quiescence),
        }
    }
}

impl Prepared {
    fn new(config: &RequestConfig, common: &[(String, String)]) -> Result<Self, String> {
        if config.method.is_empty() || !config.method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(format!("`{}` is no method", config.method));
        }
        if !config.path.starts_with('/') || config.path.contains([' ', '\r', '\n']) {
            return Err(format!("`{}` is no path; it begins with `/` and has no spaces", config.path));
        }
        let is_own = |name: &str| config.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let common = common.iter().filter(|(name, _)| !is_own(name));
        let mut headers = Vec::new();
        for (name, text) in config.headers.iter().chain(common) {
            headers.push((header_name(name)?, Template::new(text)?));
        }
        let body = config.body.as_deref().map(Template::new).transpose()?;
        let kind = config.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let writing = match kind.map(|(_, text)| text.as_str()) {
            None => Writing::Json,
            Some(text) if text.contains("json") => Writing::Json,
            Some(text) if text.contains("x-www-form-urlencoded") => Writing::Form,
            Some(_) => Writing::Plain,
        };
        Ok(Self { method: config.method.clone(), path: Template::new(&config.path)?, headers, body, writing })
    }

    fn fields(&self) -> impl Iterator<Item = &str> {
        let headers = self.headers.iter().flat_map(|(_, text)| text.fields());
        self.path.fields().chain(headers).chain(self.body.iter().flat_map(Template::fields))
    }

    fn filled(&self, base: &str, model: &Model, label: &Label) -> Result<Request, String> {
        let plain = |value: &Value| plain_text(&model.pool, value);
        let encoded = |value: &Value| plain(value).map(|text| percent(&text));
        let in_body = |value: &Value| match self.writing {
            Writing::Json => Ok(value_to_json(&model.pool, value).to_string()),
            Writing::Form => encoded(value),
            Writing::Plain => plain(value),
        };
        let in_header = |value: &Value| match plain(value)? {
            text if text.chars().any(char::is_control) => Err(format!("{text:?} cannot be in a header")),
            text => Ok(text),
        };
        let fill = |template: &Template, shown: &dyn Fn(&Value) -> Result<String, String>| {
            template.filled(model, label, |_, value| shown(value))
        };
        let mut headers = Vec::new();
        for (name, text) in &self.headers {
            headers.push((name.clone(), fill(text, &in_header)?));
        }
        let path = format!("{base}{}", fill(&self.path, &encoded)?);
        let body = self.body.as_ref().map(|body| fill(body, &in_body)).transpose()?;
        if body.is_some() && !headers.iter().any(|(name, _)| name == "content-type") {
            headers.push(("content-type".into(), "application/json".into()));
        }
        Ok(Request { method: self.method.clone(), path, headers, body })
    }
}

/// A header name in lower case; those that delimit messages are ours.
fn header_name(name: &str) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "" => Err("a header has no name".into()),
        "host" | "content-length" | "transfer-encoding" | "connection" => {
            Err(format!("the header `{name}` is set by ioxide"))
        }
        _ if !name.bytes().all(is_token) => Err(format!("`{name}` is no header name")),
        _ => Ok(lower),
    }
}

#[cfg(test)]
mod tests;
