//! The recognition of an output in an HTTP answer, and the places of its fields.

use regex::Regex;
use serde_json::Value as Json;
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::sts::{Gate, Model};
use ioxide_record::json::{self, JsonError};
use ioxide_record::line::cut;

use super::message::{HttpResponse, ResponsePart};
use super::xml;
use crate::codec::json_form::JsonForm;
use crate::codec::text::{full_regex, value_json};
use crate::codec::{ProtocolProblem, Undecodable, is_seen};

/// The conditions under which an answer is an output, as configured: all that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerConfig {
    /// The statuses, such as `200` or `2xx`; any if empty.
    pub status: Vec<String>,
    /// Statuses that are excluded from these.
    pub except: Vec<String>,
    /// A pattern for the whole body; its named groups are fields.
    pub body: Option<String>,
    /// Patterns for headers; their named groups are fields.
    pub headers: Vec<(String, String)>,
    /// Members of a JSON body, by pointer, and their text.
    pub json: Vec<(String, String)>,
    /// Fields that are members of a JSON body, by pointer.
    pub fields: Vec<(String, String)>,
    /// The inputs it answers; any if empty.
    pub to: Vec<String>,
    /// A pattern for the name of an event of a stream, or for the kind of a message of a WebSocket (`message`,
    /// `binary`); `None` for an answer.
    pub event: Option<String>,
    /// True if the output is the end of a stream or WebSocket.
    pub closed: bool,
}

impl AnswerConfig {
    /// Returns whether every answer that fits is a refusal by its status.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        let refuses = |status: &String| status.parse().is_ok_and(super::is_refusal);
        !self.status.is_empty() && self.status.iter().all(refuses)
    }
}

/// The reason why the conditions for an output cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BadAnswer {
    /// A pointer that points nowhere.
    #[error("`{0}` is not a JSON pointer; write `/{0}`")]
    Pointer(String),
    /// A status that no answer has.
    #[error("`{0}` is not a status; write 200 or \"2xx\"")]
    Status(String),
    /// A pattern is no regular expression.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
}

/// The result of comparing an answer with an output.
#[derive(Debug)]
pub(super) enum AnswerFit {
    /// The answer is this message.
    Label(Label),
    /// The answer is not this output, for this reason.
    Other(String),
    /// The answer is not this output: it answers another input, has another status, or is another part of the
    /// conversation.
    Elsewhere,
}

/// The values that the conditions of an output give to fields: groups of patterns, and the body as JSON.
struct FoundValues {
    groups: Vec<(String, Option<String>)>,
    /// The body as JSON.
    json: Option<Json>,
    /// True if the body is XML.
    is_xml: bool,
}

/// An [`AnswerConfig`] whose patterns are read.
#[derive(Debug)]
pub struct AnswerReader {
    statuses: Vec<(u16, u16)>,
    except: Vec<(u16, u16)>,
    body: Option<Regex>,
    headers: Vec<(String, Regex)>,
    json: Vec<(String, String)>,
    fields: Vec<(String, String)>,
    to: Vec<String>,
    event: Option<Regex>,
    closed: bool,
}

impl AnswerReader {
    /// Reads the patterns of `config`.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn new(config: &AnswerConfig) -> Result<Self, BadAnswer> {
        let statuses = |all: &[String]| all.iter().map(|text| statuses(text)).collect::<Result<Vec<_>, _>>();
        let header = |(name, text): &(String, String)| Ok((name.to_ascii_lowercase(), full_regex(text)?));
        let pointers = config.json.iter().map(|(pointer, _)| pointer);
        for pointer in pointers.chain(config.fields.iter().map(|(_, pointer)| pointer)) {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(BadAnswer::Pointer(pointer.clone()));
            }
        }
        Ok(Self {
            statuses: statuses(&config.status)?,
            except: statuses(&config.except)?,
            body: config.body.as_deref().map(full_regex).transpose()?,
            headers: config.headers.iter().map(header).collect::<Result<_, BadAnswer>>()?,
            json: config.json.clone(),
            fields: config.fields.clone(),
            to: config.to.clone(),
            event: config.event.as_deref().map(full_regex).transpose()?,
            closed: config.closed,
        })
    }

    /// The fields it gives a value.
    pub(super) fn fields(&self) -> Vec<&str> {
        let patterns = self.headers.iter().map(|(_, pattern)| pattern).chain(&self.body);
        let groups = patterns.flat_map(|pattern| pattern.capture_names().flatten());
        self.fields.iter().map(|(name, _)| name.as_str()).chain(groups).collect()
    }

    /// Checks that every field of the output has a place, unless it is an option.
    pub(super) fn covers(&self, model: &Model, name: &str) -> Result<(), ProtocolProblem> {
        let given = self.fields();
        for field in fields_of(model, name) {
            if !given.contains(&field.0.as_str()) && !is_option(model, field.1) {
                return Err(ProtocolProblem::for_message("output", name, ProtocolProblem::NoPlace(field.0)));
            }
        }
        Ok(())
    }

    /// Returns whether it is the end of a stream.
    pub(super) const fn is_closing(&self) -> bool {
        self.closed
    }

    /// The statuses it may have where it answers `to`.
    pub(super) fn statuses_to(&self, to: Option<&str>) -> impl Iterator<Item = String> {
        let of = if self.may_answer(to) { &self.statuses[..] } else { &[] };
        of.iter()
            .map(|&(from, till)| if from == till { from.to_string() } else { format!("{}xx", from / 100) })
    }

    /// Returns whether this may be an answer to the request `to`.
    fn may_answer(&self, to: Option<&str>) -> bool {
        // Where the request is not known, as for a message of a stream, any output may be the answer.
        self.to.is_empty() || to.is_none_or(|to| self.to.iter().any(|other| other == to))
    }

    /// Returns whether a message of a stream meets the conditions.
    #[must_use]
    pub fn fits_event(&self, response: &HttpResponse, to: Option<&str>) -> bool {
        self.fits_status_and_request(response, to) && matches!(self.match_content(response), Ok(Ok(_)))
    }

    /// Returns whether the part of the conversation, the status and the input answered fit, whatever the content is.
    fn fits_status_and_request(&self, response: &HttpResponse, to: Option<&str>) -> bool {
        let is_part = match (&response.part, &self.event) {
            (ResponsePart::Answer, None) => !self.closed && self.has_status(response.status),
            // The status is that of the head of the stream and says nothing about one event.
            (ResponsePart::Event(name), Some(wanted)) => wanted.is_match(name),
            (ResponsePart::Closed, None) => self.closed,
            _ => false,
        };
        is_part && self.may_answer(to)
    }

    /// Returns whether the body decides whether an answer is this output, or holds fields of it.
    fn reads_body(&self) -> bool {
        self.body.is_some() || !self.json.is_empty() || !self.fields.is_empty()
    }

    fn has_status(&self, status: u16) -> bool {
        let is_in = |all: &[(u16, u16)]| all.iter().any(|&(from, to)| (from..=to).contains(&status));
        (self.statuses.is_empty() || is_in(&self.statuses)) && !is_in(&self.except)
    }

    /// Decides whether the answer to the input `to` is this output: returns its message, the reason why it is another
    /// one, or that the answer does not concern this output.
    pub(super) fn decode(
        &self,
        model: &Model,
        form: &JsonForm,
        name: &str,
        response: &HttpResponse,
        to: Option<&str>,
    ) -> Result<AnswerFit, Undecodable> {
        if !self.fits_status_and_request(response, to) {
            return Ok(AnswerFit::Elsewhere);
        }
        match self.match_content(response)? {
            Ok(found) => self.make_label(model, form, name, &found).map(AnswerFit::Label),
            Err(reason) => Ok(AnswerFit::Other(reason)),
        }
    }

    /// Returns the reason why an answer does not meet the conditions; `None` if it does.
    ///
    /// # Errors
    /// If its body cannot be read.
    pub fn mismatch(&self, response: &HttpResponse) -> Result<Option<String>, Undecodable> {
        if response.part == ResponsePart::Answer && !self.has_status(response.status) {
            return Ok(Some(format!("its status is {}", response.status)));
        }
        Ok(self.match_content(response)?.err())
    }

    /// Returns the available values if the content meets the conditions, and the reason if it does not.
    fn match_content(&self, response: &HttpResponse) -> Result<Result<FoundValues, String>, Undecodable> {
        // An output that is recognised by status and headers alone needs no body, so a coding that is not read is
        // an error only for the others.
        if let Some(coding) = response.unread_coding.as_ref().filter(|_| self.reads_body()) {
            return Err(coding.clone().into());
        }
        let text = std::str::from_utf8(&response.body).ok();
        let mut groups: Vec<(String, Option<String>)> = Vec::new();
        if let Some(pattern) = &self.body {
            // Many servers end a body with a line end that no description mentions.
            let Some(found) = text.and_then(|text| groups_of(pattern, text.trim_end())) else {
                return Ok(Err("its body differs".into()));
            };
            groups.extend(found);
        }
        for (header, pattern) in &self.headers {
            let value = response.header(header);
            match value.and_then(|value| groups_of(pattern, value)) {
                Some(found) => groups.extend(found),
                None => return Ok(Err(other_header(header, value))),
            }
        }
        let is_xml =
            response.header("content-type").is_some_and(|kind| kind.to_ascii_lowercase().contains("xml"));
        // The body is parsed only if somebody looks into it: it may be long, and need not be JSON.
        let json = if self.json.is_empty() && self.fields.is_empty() {
            None
        } else if is_xml {
            text.and_then(xml::read)
        } else {
            text.map_or(Ok(None), json_of)?
        };
        if let Some((pointer, wanted)) =
            self.json.iter().find(|(at, wanted)| !has_text(json.as_ref(), at, wanted))
        {
            return Ok(Err(format!("`{pointer}` is not `{wanted}`")));
        }
        Ok(Ok(FoundValues { groups, json, is_xml }))
    }

    /// Returns the label with the values found in the texts and in the JSON body.
    fn make_label(
        &self,
        model: &Model,
        form: &JsonForm,
        name: &str,
        found: &FoundValues,
    ) -> Result<Label, Undecodable> {
        let FoundValues { groups, json, is_xml } = found;
        let mut values = Vec::new();
        for (field, sort) in fields_of(model, name) {
            let place = format!("{name}.{field}");
            let encodings = form.encodings();
            let value = match self.fields.iter().find(|(other, _)| *other == field) {
                Some((_, pointer)) => member(model, sort, json.as_ref(), pointer, *is_xml),
                None => {
                    // The same group may stand in several patterns; the last one that took part wins, headers
                    // before the body.
                    let group = groups.iter().rev().find(|(other, text)| *other == field && text.is_some());
                    match group.and_then(|(_, text)| text.as_deref()) {
                        // An encoding reads the text itself, not the number or the word that the text is.
                        Some(text) if encodings.has_encoding(&place) => Some(Json::String(text.to_owned())),
                        text => value_json(&model.pool, sort, text),
                    }
                }
            };
            let value = match value {
                Some(value) => Some(encodings.decode(&model.pool, &place, sort, &value)?),
                None => None,
            };
            let expected =
                || format!("`{name}.{field}`: expected {}, found nothing", model.pool.show_sort(sort));
            let value = value.ok_or_else(expected)?;
            let value = if *is_xml {
                form.read_xml_value(&model.pool, sort, &value)
            } else {
                form.read_value(&model.pool, sort, &value)
            };
            values.push(value.map_err(|error| error.with_place(&field).with_place(name))?);
        }
        let is_it = |gate: &Gate| *gate.name == *name && is_seen(gate.kind);
        let gate = model.sts.gates.iter_enumerated().find(|(_, gate)| is_it(gate)).map(|(id, _)| id);
        let label = gate.and_then(|gate| Label::message(&model.sts, gate, values));
        label.ok_or_else(|| format!("the model has no output `{name}`").into())
    }
}

fn other_header(name: &str, value: Option<&str>) -> String {
    value.map_or_else(
        || format!("there is no header `{name}`"),
        |value| format!("its header `{name}` is `{}`", cut(value, 60)),
    )
}

/// Returns a body as JSON; `None` if it is none. A key that stands twice is an error.
fn json_of(text: &str) -> Result<Option<Json>, Undecodable> {
    match json::read(text) {
        Ok(value) => Ok(Some(value)),
        // No JSON is a fact about the answer that may exclude this output. A key that stands twice is not: readers
        // disagree about its meaning, so nobody may guess.
        Err(JsonError::Wrong(_)) => Ok(None),
        Err(twice @ JsonError::Twice(_)) => Err(twice.to_string().into()),
        Err(JsonError::Excess(excess)) => Err(excess.into()),
    }
}

/// Returns the member at `pointer`; if it is missing, `null` for an option, no items for a list in XML, and `None`
/// otherwise.
fn member(model: &Model, sort: Sort, json: Option<&Json>, pointer: &str, is_xml: bool) -> Option<Json> {
    match json.and_then(|json| json.pointer(pointer)) {
        Some(found) => Some(found.clone()),
        // XML has no empty list: no element is there.
        None if is_xml && matches!(sort, Sort::Collection(_)) && json.is_some() => {
            Some(Json::Array(Vec::new()))
        }
        None => is_option(model, sort).then_some(Json::Null),
    }
}

/// Returns whether the member at `pointer` has the text `wanted`: a string without its quotes, anything else as JSON.
fn has_text(json: Option<&Json>, pointer: &str, wanted: &str) -> bool {
    match json.and_then(|json| json.pointer(pointer)) {
        Some(Json::String(text)) => text == wanted,
        Some(other) => serde_json::to_string(other).is_ok_and(|text| text == wanted),
        None => false,
    }
}

fn groups_of(pattern: &Regex, text: &str) -> Option<Vec<(String, Option<String>)>> {
    let found = pattern.captures(text)?;
    let names = pattern.capture_names().flatten();
    Some(names.map(|name| (name.to_owned(), found.name(name).map(|part| part.as_str().to_owned()))).collect())
}

fn fields_of(model: &Model, name: &str) -> Vec<(String, Sort)> {
    let is_it = |gate: &&Gate| *gate.name == *name && is_seen(gate.kind);
    let fields = model.sts.gates.iter().find(is_it).map_or(&[][..], |gate| &gate.fields);
    let named = |&field: &_| {
        let info = model.pool.var_info(field);
        (info.name.to_string(), info.sort)
    };
    fields.iter().map(named).collect()
}

fn is_option(model: &Model, sort: Sort) -> bool {
    matches!(sort, Sort::Data(data) if model.pool.data(data).kind == DataKind::Option)
}

/// Reads `200`, or `2xx` for a range, as the first and the last status.
fn statuses(text: &str) -> Result<(u16, u16), BadAnswer> {
    let wrong = || BadAnswer::Status(cut(text, 20));
    if let Some(first) = text.strip_suffix("xx") {
        let first: u16 = first.parse().ok().filter(|first| (1..=5).contains(first)).ok_or_else(wrong)?;
        return Ok((first * 100, first * 100 + 99));
    }
    let status: u16 = text.parse().ok().filter(|status| (100..=599).contains(status)).ok_or_else(wrong)?;
    Ok((status, status))
}
