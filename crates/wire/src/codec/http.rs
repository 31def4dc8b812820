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
pub mod capture;
mod coding;
pub mod events;
pub mod message;
mod multipart;
mod operations;
mod request;
pub mod secrets;
pub mod token;
mod url;
pub mod websocket;
pub(super) mod xml;

use std::collections::BTreeSet;

use ioxide_model::label::Label;
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::value::Value;
use serde_json::Value as Json;

use self::answer::{AnswerConfig, AnswerFit, AnswerReader};
use self::capture::{CaptureConfig, CapturedValues};
use self::message::{HttpRequest, HttpResponse};
use self::request::{PreparedRequest, TemplateValues};
use self::token::TokenConfig;
use super::json_form::{JsonForm, JsonFormConfig};
use super::template::check_fields;
use super::unsolicited::UnsolicitedConfig;
use super::{BadProtocol, ProtocolProblem, Undecodable, UnwritableMessage};

pub use self::answer::BadAnswer;
pub use self::request::{BadRequestConfig, RequestConfig, UnplainRequest};
pub use self::url::{BadUrl, Url, is_secret};

/// The statuses by which a server says that it does not serve this client: unauthorised, forbidden, no proxy
/// authentication.
const REFUSALS: [u16; 3] = [401, 403, 407];

/// Returns whether `status` says that the server does not serve this client.
#[must_use]
pub fn is_refusal(status: u16) -> bool {
    REFUSALS.contains(&status)
}

/// The description of messages as HTTP, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpConfig {
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// A request for every input.
    pub inputs: Vec<(String, RequestConfig)>,
    /// The patterns that recognise every output; the first that fits is taken.
    pub outputs: Vec<(String, AnswerConfig)>,
    /// The values that are captured from answers for later requests.
    pub captures: Vec<(String, CaptureConfig)>,
    /// The access token of requests, if one is fetched.
    pub token: Option<TokenConfig>,
    /// True if cookies are kept and sent again.
    pub keeps_cookies: bool,
    /// The JSON form of values.
    pub json: JsonFormConfig,
    /// Messages of streams that the model does not see, by their data.
    pub unsolicited: UnsolicitedConfig,
    /// Messages of streams that the model does not see, by other conditions.
    pub ignored_events: Vec<AnswerConfig>,
    /// True if a WebSocket is open from the beginning, since the steps after connecting open it.
    pub begins_with_websocket: bool,
    /// Values that came from the environment, each with the name of its variable; for `USER:PASSWORD` both in base64.
    pub variables: Vec<(String, String)>,
}

/// The name by which inputs call the WebSocket that the steps after connecting opened.
pub const ON_CONNECT: &str = "on_connect";

/// Reads and writes the messages of one model.
#[derive(Debug)]
pub struct HttpCodec {
    base: String,
    inputs: Vec<(String, PreparedRequest)>,
    outputs: Vec<(String, AnswerReader)>,
    form: JsonForm,
}

/// The destination of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutgoingRequest {
    /// A request of its own.
    Request(HttpRequest),
    /// A message over the WebSocket that this input opened.
    Message(String, String),
}

impl HttpCodec {
    /// Checks that every message of `model` is there and that the fields are those of its gates.
    ///
    /// # Errors
    /// If something is missing or wrong; the error names the message.
    pub fn new(config: &HttpConfig, base: &str, model: &Model) -> Result<Self, BadProtocol> {
        let form = JsonForm::new(&config.json, model).map_err(|bad| BadProtocol::table("json", bad))?;
        config.json.encodings.check(model).map_err(|bad| BadProtocol::table("encodings", bad))?;
        let mut codec = Self { base: base.to_owned(), inputs: Vec::new(), outputs: Vec::new(), form };
        for (name, request) in &config.inputs {
            let prepared = prepare_input(model, name, request, config);
            let prepared = prepared.map_err(|problem| BadProtocol::message("inputs", name, problem))?;
            codec.inputs.push((name.clone(), prepared));
        }
        for (name, answer) in &config.outputs {
            let answer = prepare_output(model, name, answer);
            let answer = answer.map_err(|problem| BadProtocol::message("outputs", name, problem))?;
            codec.outputs.push((name.clone(), answer));
        }
        codec.check_completeness(model)?;
        Ok(codec)
    }

    /// Checks that every message of the model has a description.
    fn check_completeness(&self, model: &Model) -> Result<(), BadProtocol> {
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
                let name = gate.name.to_string();
                Err(BadProtocol::table("inputs", ProtocolProblem::Undescribed { what: "request", name }))
            }
            Some(gate) => {
                Err(BadProtocol::table("outputs", ProtocolProblem::Unrecognised(gate.name.to_string())))
            }
            None => Ok(()),
        }
    }

    /// The request of an input, or the message it sends over a WebSocket.
    ///
    /// # Errors
    /// If a value has no text where it stands.
    pub fn encode(
        &self,
        model: &Model,
        label: &Label,
        captured: &CapturedValues,
    ) -> Result<OutgoingRequest, UnwritableMessage> {
        let Label::Input(gate, _) = label else { return Err(UnwritableMessage::NotAnInput) };
        let name = &model.sts.gates[*gate].name;
        let Some((_, prepared)) = self.inputs.iter().find(|(other, _)| *other == **name) else {
            return Err(UnwritableMessage::Undescribed { what: "request", name: name.to_string() });
        };
        // Encodings first: templates, headers and bodies then all write the same text.
        let label = &self.form.encodings().encode_label(model, label)?;
        let filled =
            prepared.fill(&self.base, TemplateValues { model, label, form: &self.form, captured })?;
        Ok(match prepared.over() {
            Some(over) => OutgoingRequest::Message(over.to_owned(), filled.body.unwrap_or_default()),
            None => OutgoingRequest::Request(filled),
        })
    }

    /// Returns the message that an answer is; `to` is the input it answers, as far as that is known.
    ///
    /// # Errors
    /// If it is none, or a value does not fit its field.
    pub fn decode(
        &self,
        model: &Model,
        response: &HttpResponse,
        to: Option<&str>,
    ) -> Result<Label, Undecodable> {
        let mut reasons = Vec::new();
        // The first output that fits is taken, in the order of the project file. A body that cannot be read, or a
        // value that does not fit its field, ends the search: it would otherwise be reported as an unknown answer.
        for (name, answer) in &self.outputs {
            match answer.decode(model, &self.form, name, response, to)? {
                AnswerFit::Label(label) => return Ok(label),
                AnswerFit::Other(reason) => reasons.push(format!("{name}: {reason}")),
                // Its status or its input excludes it; naming all of these would bury the reasons that help.
                AnswerFit::Elsewhere => (),
            }
        }
        // No output came near: then the statuses that were expected for this request say most. Sorted and without
        // doubles.
        let statuses = self.outputs.iter().flat_map(|(_, answer)| answer.statuses_to(to));
        let statuses: Vec<String> = statuses.collect::<BTreeSet<String>>().into_iter().collect();
        match (reasons.is_empty(), to) {
            (false, _) => Err(format!("this reply matches no output; {}", reasons.join("; ")).into()),
            (true, Some(to)) if !statuses.is_empty() => {
                let known = statuses.join(", ");
                Err(format!("this reply matches no output; to `{to}` the status is one of {known}").into())
            }
            (true, _) => Err("this reply matches no output".into()),
        }
    }

    /// Returns the JSON of a value, as bodies have it.
    pub(crate) fn json_of(&self, model: &Model, value: &Value) -> Json {
        self.form.write(&model.pool, value)
    }

    /// Returns whether the end of a stream is an output.
    pub fn tells_closing(&self) -> bool {
        self.outputs.iter().any(|(_, answer)| answer.is_closing())
    }
}

/// Prepares the request of an input; its fields must be those of the message.
fn prepare_input(
    model: &Model,
    name: &str,
    request: &RequestConfig,
    config: &HttpConfig,
) -> Result<PreparedRequest, ProtocolProblem> {
    let wrong = |problem| ProtocolProblem::for_message("input", name, problem);
    let prepared = PreparedRequest::new(request, &config.headers).map_err(wrong)?;
    let is_captured = |field: &&str| config.captures.iter().any(|(other, _)| other == field);
    check_fields(model, name, GateKind::Input, prepared.fields().filter(|field| !is_captured(field)))?;
    let opens = |over: &str| {
        let is_opening = |(other, opening): &(String, RequestConfig)| other == over && opening.websocket;
        over == ON_CONNECT && config.begins_with_websocket || config.inputs.iter().any(is_opening)
    };
    match prepared.over() {
        Some(over) if !opens(over) => Err(wrong(BadRequestConfig::NoWebSocket(over.to_owned()))),
        _ => Ok(prepared),
    }
}

/// Prepares the reader of an output; its fields must be those of the message.
fn prepare_output(model: &Model, name: &str, answer: &AnswerConfig) -> Result<AnswerReader, ProtocolProblem> {
    let answer =
        AnswerReader::new(answer).map_err(|problem| ProtocolProblem::for_message("output", name, problem))?;
    check_fields(model, name, GateKind::Output, answer.fields().into_iter())?;
    answer.covers(model, name)?;
    Ok(answer)
}

impl RequestConfig {
    /// Checks that it has no fields to be filled in but those that are captured from answers.
    ///
    /// # Errors
    /// If it has others, or something else is wrong with it.
    pub fn check_plain(&self, config: &HttpConfig) -> Result<(), UnplainRequest> {
        let prepared = PreparedRequest::new(self, &config.headers)?;
        let is_captured = |field: &&str| config.captures.iter().any(|(other, _)| other == field);
        match prepared.fields().find(|field| !is_captured(field)) {
            Some(field) => Err(UnplainRequest::Field(field.to_owned())),
            None => Ok(()),
        }
    }

    /// The request with what was captured so far, if it has no other fields to be filled in.
    ///
    /// # Errors
    /// If something is wrong with it.
    pub fn plain_request(
        &self,
        config: &HttpConfig,
        base: &str,
        model: &Model,
        captured: &CapturedValues,
    ) -> Result<HttpRequest, UnplainRequest> {
        self.check_plain(config)?;
        let prepared = PreparedRequest::new(self, &config.headers)?;
        let form = JsonForm::default();
        let values = TemplateValues { model, label: &Label::Quiescence, form: &form, captured };
        Ok(prepared.fill(base, values)?)
    }
}

#[cfg(test)]
mod tests;
