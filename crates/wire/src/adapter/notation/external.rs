//! The notations of the connections to systems outside: the adapter protocol, text, binary messages, HTTP.

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Model};
use ioxide_model::value::Value;
use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptConnection, ScriptEndpoint, ScriptFraming, ScriptMessage, ScriptPart,
    ScriptPlace, ScriptTls, ScriptValuePlace, UsedPart, UsedValue, ValueSpelling,
};
use ioxide_record::value::{label_to_json, value_to_json};
use serde_json::Value as Json;

use super::{ReplySource, WireNotation, body_spelling, escape_pointer, replace_marker, replace_text};
use crate::adapter::http::{HttpProtocol, MIN_VARIABLE_BYTES, TOKEN_VARIABLE};
use crate::adapter::text::{MessageFormat, TextProtocol};
use crate::adapter::{Framing, LengthUnit};
use crate::codec::binary::BinaryCodec;
use crate::codec::http::capture::{CaptureFrom, CapturedValues};
use crate::codec::http::{HttpCodec, OutgoingRequest};
use crate::codec::layout::{Endian, Width, hex};
use crate::codec::text::TextCodec;

/// Returns a literal text as parts.
fn literal(text: String) -> Vec<ScriptPart> {
    vec![ScriptPart::Literal(text)]
}

/// Returns the name of a field of a message.
fn field_name(model: &Model, gate: GateId, field: usize) -> Option<&str> {
    model.sts.gates[gate].fields.get(field).map(|var| &*model.pool.var_info(*var).name)
}

/// Returns a pattern as Python and most other languages read it; `None` if it uses what they do not have.
fn portable_pattern(pattern: &str) -> Option<String> {
    const UNKNOWN: [&str; 8] = ["[[:", "\\p", "\\P", "&&", "\\x{", "\\u{", "(?x", "(?R"];
    if UNKNOWN.iter().any(|part| pattern.contains(part)) {
        return None;
    }
    // Python writes `(?P<name>`. The first replacement also hits look-behind, which the other two put back.
    let named = pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!");
    Some(named.replace("\\z", "\\Z"))
}

/// The notation of the adapter protocol.
pub(in crate::adapter) struct ProtocolNotation<'a> {
    pub(in crate::adapter) tls: Option<ScriptTls>,
    pub(in crate::adapter) place: ScriptPlace,
    pub(in crate::adapter) model: &'a Model,
}

impl WireNotation for ProtocolNotation<'_> {
    fn endpoint(&self) -> ScriptEndpoint {
        ScriptEndpoint::Protocol { place: self.place.clone() }
    }

    fn connections(&self) -> Vec<ScriptConnection> {
        vec![ScriptConnection { name: String::new(), endpoint: self.endpoint(), tls: self.tls.clone() }]
    }

    fn write(&self, input: &Label) -> Option<ScriptMessage> {
        let message = label_to_json(&self.model.pool, &self.model.sts, input)?;
        let json = serde_json::json!({ "label": message.label, "args": message.args });
        Some(ScriptMessage::Json(literal(json.to_string())))
    }

    fn reply_form(&self, gate: GateId) -> Option<ReplyForm> {
        let name = self.model.sts.gates[gate].name.to_string();
        Some(ReplyForm { members: vec![("/label".into(), name)], ..ReplyForm::default() })
    }

    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace> {
        let name = field_name(self.model, gate, field)?;
        Some(ScriptValuePlace::Json(format!("/args/{}", escape_pointer(name))))
    }

    fn json(&self, value: &Value) -> Json {
        value_to_json(&self.model.pool, value)
    }
}

/// The notation of text.
pub(in crate::adapter) struct TextNotation<'a> {
    pub(in crate::adapter) tls: Option<ScriptTls>,
    pub(in crate::adapter) place: ScriptPlace,
    pub(in crate::adapter) model: &'a Model,
    pub(in crate::adapter) codec: &'a TextCodec,
    pub(in crate::adapter) protocol: &'a TextProtocol,
}

impl WireNotation for TextNotation<'_> {
    fn endpoint(&self) -> ScriptEndpoint {
        let MessageFormat::Text(text) = &self.protocol.words else {
            return ScriptEndpoint::Protocol { place: self.place.clone() };
        };
        let joined = text.more.is_some() || !text.counted.is_empty();
        ScriptEndpoint::Stream { place: self.place.clone(), framing: framing(&self.protocol.framing), joined }
    }

    fn connections(&self) -> Vec<ScriptConnection> {
        vec![ScriptConnection { name: String::new(), endpoint: self.endpoint(), tls: self.tls.clone() }]
    }

    fn resets(&self) -> Option<Vec<(usize, ScriptMessage)>> {
        // A step without a text awaits a greeting; a script has no step for that.
        let texts = self.protocol.reset.iter().map(|step| step.send.as_deref());
        texts.map(|text| Some((0, ScriptMessage::Text(literal(self.with_end(text?)))))).collect()
    }

    fn write(&self, input: &Label) -> Option<ScriptMessage> {
        // A text that would end a frame in its middle cannot be sent, and not be written down either.
        let breaks = |text: &str| self.protocol.framing.is_broken_by(text);
        let text = self.codec.encode(self.model, input, breaks).ok()?;
        Some(ScriptMessage::Text(literal(self.with_end(&text))))
    }

    fn reply_form(&self, gate: GateId) -> Option<ReplyForm> {
        Some(ReplyForm { pattern: Some(self.pattern(gate)?), ..ReplyForm::default() })
    }

    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace> {
        let (pattern, group) = (self.pattern(gate)?, field_name(self.model, gate, field)?.to_owned());
        Some(ScriptValuePlace::Group { pattern, group })
    }

    fn json(&self, value: &Value) -> Json {
        value_to_json(&self.model.pool, value)
    }
}

impl TextNotation<'_> {
    fn with_end(&self, text: &str) -> String {
        self.protocol.framing.append_end_mark(text, self.protocol.input_end.as_deref())
    }

    /// Returns the pattern of an output in a notation that other languages understand, `None` if it has none.
    fn pattern(&self, gate: GateId) -> Option<String> {
        let MessageFormat::Text(text) = &self.protocol.words else { return None };
        let name = &self.model.sts.gates[gate].name;
        portable_pattern(&text.outputs.iter().find(|(other, _)| **other == **name)?.1)
    }
}

/// The notation of binary messages.
pub(in crate::adapter) struct BinaryNotation<'a> {
    pub(in crate::adapter) tls: Option<ScriptTls>,
    pub(in crate::adapter) place: ScriptPlace,
    pub(in crate::adapter) model: &'a Model,
    pub(in crate::adapter) codec: &'a BinaryCodec,
    pub(in crate::adapter) protocol: &'a TextProtocol,
}

impl WireNotation for BinaryNotation<'_> {
    fn endpoint(&self) -> ScriptEndpoint {
        let framing = framing(&self.protocol.framing);
        ScriptEndpoint::Stream { place: self.place.clone(), framing, joined: false }
    }

    fn connections(&self) -> Vec<ScriptConnection> {
        vec![ScriptConnection { name: String::new(), endpoint: self.endpoint(), tls: self.tls.clone() }]
    }

    fn resets(&self) -> Option<Vec<(usize, ScriptMessage)>> {
        let texts = self.protocol.reset.iter().map(|step| step.send.clone());
        texts.map(|digits| Some((0, ScriptMessage::Bytes(literal(digits?))))).collect()
    }

    fn write(&self, input: &Label) -> Option<ScriptMessage> {
        let bytes = self.codec.encode(self.model, input).ok()?;
        Some(ScriptMessage::Bytes(literal(hex(&bytes))))
    }

    fn reply_form(&self, gate: GateId) -> Option<ReplyForm> {
        let MessageFormat::Binary(binary) = &self.protocol.words else { return None };
        let name = &self.model.sts.gates[gate].name;
        let (_, layout) = binary.outputs.iter().find(|(other, _)| **other == **name)?;
        // The bytes that every such message begins with, as digits.
        let pattern = format!("{}.*", hex(&layout.constant_prefix()));
        Some(ReplyForm { pattern: Some(pattern), ..ReplyForm::default() })
    }

    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace> {
        let MessageFormat::Binary(binary) = &self.protocol.words else { return None };
        let name = &self.model.sts.gates[gate].name;
        let (_, layout) = binary.outputs.iter().find(|(other, _)| **other == **name)?;
        layout.place_of(field_name(self.model, gate, field)?)
    }

    fn json(&self, value: &Value) -> Json {
        value_to_json(&self.model.pool, value)
    }
}

/// Returns the framing as scripts know it.
fn framing(framing: &Framing) -> ScriptFraming {
    match framing {
        // No script has datagrams: a system behind UDP has no notation.
        Framing::Line | Framing::Datagram => ScriptFraming::Mark("\n".into()),
        Framing::Delimiter(mark) => ScriptFraming::Mark(mark.clone()),
        Framing::Length(width) => ScriptFraming::Length(*width),
        Framing::Fixed(count) => ScriptFraming::Fixed(*count),
        Framing::Counted(field) => {
            let width = match field.number.width {
                Width::Bytes(width) => width,
                // Seven bits a byte: read as one byte, which is right up to 127.
                Width::Varint => 1,
            };
            let uncounted = match field.counts {
                LengthUnit::Rest => field.at + width,
                LengthUnit::Message => 0,
                LengthUnit::After(head) => head,
            };
            let little = field.number.endian == Endian::Little;
            ScriptFraming::Counted { at: field.at, width, little, uncounted }
        }
    }
}

/// The notation of HTTP.
pub(in crate::adapter) struct HttpNotation<'a> {
    pub(in crate::adapter) tls: Option<ScriptTls>,
    pub(in crate::adapter) model: &'a Model,
    pub(in crate::adapter) codec: &'a HttpCodec,
    pub(in crate::adapter) protocol: &'a HttpProtocol,
}

impl WireNotation for HttpNotation<'_> {
    fn endpoint(&self) -> ScriptEndpoint {
        let url = &self.protocol.url;
        let scheme = if url.is_encrypted { "https" } else { "http" };
        let cookies = self.protocol.http.keeps_cookies;
        ScriptEndpoint::Http { url: format!("{scheme}://{}", url.address), cookies }
    }

    fn connections(&self) -> Vec<ScriptConnection> {
        vec![ScriptConnection { name: String::new(), endpoint: self.endpoint(), tls: self.tls.clone() }]
    }

    fn source_of(&self, gate: GateId) -> ReplySource {
        let Some(answer) = self.answer_config(gate) else { return ReplySource::Stream };
        let to = answer.to.clone();
        if answer.event.is_some() { ReplySource::Event(to) } else { ReplySource::Answer(to) }
    }

    fn resets(&self) -> Option<Vec<(usize, ScriptMessage)>> {
        let captured = self.make_markers();
        let request = |step: &crate::adapter::HttpResetStep| {
            let base = &self.protocol.url.base;
            let made = step.request.plain_request(&self.protocol.http, base, self.model, &captured).ok()?;
            Some((0, self.script_message(OutgoingRequest::Request(made), "reset")?))
        };
        self.protocol.reset.iter().map(request).collect()
    }

    fn write(&self, input: &Label) -> Option<ScriptMessage> {
        let Label::Input(gate, _) = input else { return None };
        let name = self.model.sts.gates[*gate].name.to_string();
        self.script_message(self.codec.encode(self.model, input, &self.make_markers()).ok()?, &name)
    }

    fn reply_form(&self, gate: GateId) -> Option<ReplyForm> {
        let answer = self.answer_config(gate)?;
        if answer.closed {
            // The end of a connection is not a message that a script could compare.
            return None;
        }
        let pattern = answer.body.as_deref().map(|body| portable_pattern(body).ok_or(())).transpose().ok()?;
        Some(ReplyForm { status: answer.status.clone(), pattern, members: answer.json.clone() })
    }

    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace> {
        let (answer, name) = (self.answer_config(gate)?, field_name(self.model, gate, field)?);
        if let Some((_, pointer)) = answer.fields.iter().find(|(other, _)| other == name) {
            return Some(ScriptValuePlace::Json(pointer.clone()));
        }
        // The body before the headers, as the codec does where a group stands in both.
        let has_group =
            |pattern: &str| ["(?P<", "(?<"].iter().any(|open| pattern.contains(&format!("{open}{name}>")));
        if let Some(pattern) = answer.body.as_deref().filter(|pattern| has_group(pattern)) {
            return Some(ScriptValuePlace::Group {
                pattern: portable_pattern(pattern)?,
                group: name.to_owned(),
            });
        }
        let (header, pattern) = answer.headers.iter().find(|(_, pattern)| has_group(pattern))?;
        let group = Some((portable_pattern(pattern)?, name.to_owned()));
        Some(ScriptValuePlace::Header { name: header.to_ascii_lowercase(), group })
    }

    fn json(&self, value: &Value) -> Json {
        self.codec.json_of(self.model, value)
    }

    fn captures(&self, gate: Option<GateId>) -> Vec<KeptValue> {
        let name = gate.map(|gate| &*self.model.sts.gates[gate].name);
        let captures = self.protocol.http.captures.iter();
        let wanted =
            captures.filter(|(_, config)| config.output.is_none() || config.output.as_deref() == name);
        let kept = |(name, config): &(String, crate::codec::http::capture::CaptureConfig)| {
            let place = match &config.from {
                CaptureFrom::Header(name) => ScriptValuePlace::Header { name: name.clone(), group: None },
                CaptureFrom::Cookie(name) => ScriptValuePlace::Cookie(name.clone()),
                CaptureFrom::Json(pointer) => ScriptValuePlace::Json(pointer.clone()),
                // A token is a secret of the run, so it does not stand in a script; `with_variables` reads it
                // from the environment.
                CaptureFrom::AccessToken => return None,
            };
            Some(KeptValue { variable: captured_variable(name), place, is_optional: true })
        };
        wanted.filter_map(kept).collect()
    }
}

impl HttpNotation<'_> {
    /// Returns the description of the answer that an output is; `None` if the project file has none.
    fn answer_config(&self, gate: GateId) -> Option<&crate::codec::http::answer::AnswerConfig> {
        let name = &self.model.sts.gates[gate].name;
        self.protocol.http.outputs.iter().find(|(other, _)| **other == **name).map(|(_, answer)| answer)
    }

    /// Returns captured values that are markers for variables.
    fn make_markers(&self) -> CapturedValues {
        let captures = &self.protocol.http.captures;
        let markers = captures.iter().map(|(name, _)| (name.clone(), Json::String(capture_marker(name))));
        CapturedValues::new(captures, false).with_values(markers)
    }

    /// Returns a request of the input `name`, with variables in the place of captured values.
    fn script_message(&self, request: OutgoingRequest, name: &str) -> Option<ScriptMessage> {
        let request = match request {
            OutgoingRequest::Request(request) => request,
            OutgoingRequest::Message(over, text) => {
                let text = self.with_variables(text, ValueSpelling::Json);
                return Some(ScriptMessage::Frame { over, text });
            }
        };
        let in_body = body_spelling(&request.headers);
        let headers = request.headers.into_iter();
        let headers = headers.map(|(name, text)| (name, self.with_variables(text, ValueSpelling::Plain)));
        let path = self.with_variables(request.path, ValueSpelling::Percent);
        if request.opens {
            return Some(ScriptMessage::Open { name: name.to_owned(), path, headers: headers.collect() });
        }
        Some(ScriptMessage::Request {
            method: request.method,
            path,
            headers: headers.collect(),
            body: request.body.map(|body| self.with_variables(body, in_body)),
        })
    }

    /// Returns a text with variables in the places of captured values and of secrets from the environment.
    fn with_variables(&self, text: String, spelling: ValueSpelling) -> Vec<ScriptPart> {
        // First the captured values: a secret that happens to be a part of a marker must not break it.
        let mut parts = literal(text);
        for (name, config) in &self.protocol.http.captures {
            let marker = capture_marker(name);
            parts = if config.from == CaptureFrom::AccessToken {
                replace_text(parts, &marker, &ScriptPart::Environment(TOKEN_VARIABLE.to_owned()))
            } else {
                let value = UsedValue { variable: captured_variable(name), part: UsedPart::Whole, spelling };
                replace_marker(parts, &marker, &value)
            };
        }
        let variables = &self.protocol.http.variables;
        for (value, name) in variables.iter().filter(|(value, _)| value.len() >= MIN_VARIABLE_BYTES) {
            parts = replace_text(parts, value, &ScriptPart::Environment(name.clone()));
        }
        parts
    }
}

/// Returns the variable of a captured value.
fn captured_variable(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("captured_{word}")
}

/// Returns the text that stands for a captured value until it becomes a variable: letters, which no notation changes.
fn capture_marker(name: &str) -> String {
    format!("zqCapture{}qz", hex(name.as_bytes()))
}
