//! Labels as texts: templates for inputs, patterns for outputs.
//!
//! In a template `{field}` stands for a value, `{len(field)}` for its length in bytes, `{count(field)}` for the number
//! of its items, and `{{`, `}}` for braces. A pattern is a regular expression for a whole message; its named groups are
//! fields, and a group that took no part is `none`. What a whole message is, [`FrameJoining`] says: a text is asked
//! first whether it goes on, and only then held against the patterns, in their order.
//!
//! *Promises.* The first pattern that matches is the message: the same text is always the same
//! label. A text that no pattern matches is an error that shows it, never silence. A value that
//! would break the framing is refused, not sent.

mod constructor;
mod item_pattern;
mod items;
mod joining;

use std::borrow::Cow;

use regex::Regex;
use serde_json::{Map, Value as Json};

use ioxide_model::label::Label;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_record::line::cut;
use ioxide_record::value::{WireMessage, label_from_json};

use super::encoding::FieldEncodings;
use super::template::{NamedTemplates, TextTemplate, check_fields};
use super::{BadProtocol, ProtocolProblem, Undecodable, UnwritableMessage, is_seen};

use self::constructor::ValueNotation;
use self::items::ItemsCodec;
pub use self::items::{BadItems, ItemWords, ItemsConfig};
pub use self::joining::{AnnouncedFrame, BadJoining, FrameJoining, FrameNeed, UnfinishedMessage};

/// The description of messages as texts, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextConfig {
    /// Templates that other templates use by name, in the order of their definition.
    pub parts: Vec<(String, String)>,
    /// A template for every input.
    pub inputs: Vec<(String, String)>,
    /// Patterns for every output; the first that matches is taken.
    pub outputs: Vec<(String, String)>,
    /// A pattern for a message, or for its last frame, that goes on in the next frame.
    pub more: Option<String>,
    /// The frames that announce how much follows them.
    pub counted: Vec<CountedConfig>,
    /// The notation of items, by the field that is a list, set or map.
    pub items: Vec<(String, ItemsConfig)>,
    /// The words for true and false; `None` for `true` and `false`.
    pub truth: Option<[String; 2]>,
    /// The encodings of fields.
    pub encodings: FieldEncodings,
}

/// A frame that announces how much follows it, as people wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedConfig {
    /// A pattern for the whole frame; its group `n` is the number.
    pub frame: String,
    /// The unit that the number counts.
    pub then: AnnouncedFrame,
    /// True if the message goes on after the announced part, whatever that was.
    pub more: bool,
}

/// Reads and writes the messages of one model.
#[derive(Debug)]
pub struct TextCodec {
    inputs: Vec<(String, TextTemplate)>,
    outputs: Vec<(String, Regex)>,
    joining: FrameJoining,
    items: Vec<(String, ItemsCodec)>,
    notation: ValueNotation,
    encodings: FieldEncodings,
}

impl TextConfig {
    /// Checks everything that does not depend on the model.
    ///
    /// # Errors
    /// Returns the first mistake, with the table and the key of its place.
    pub fn check(&self) -> Result<(), (&'static str, Option<&str>, ProtocolProblem)> {
        let mut parts = Vec::new();
        // One part at a time, with those before it: the error names the part that is wrong.
        for part in &self.parts {
            parts.push(part.clone());
            NamedTemplates::new(&parts)
                .map_err(|problem| ("parts", Some(part.0.as_str()), problem.into()))?;
        }
        let parts = NamedTemplates::new(&parts).map_err(|problem| ("parts", None, problem.into()))?;
        for (name, text) in &self.inputs {
            TextTemplate::parse_with(text, &parts)
                .map_err(|problem| ("inputs", Some(name.as_str()), problem.into()))?;
        }
        for (name, text) in &self.outputs {
            full_regex(text).map_err(|problem| ("outputs", Some(name.as_str()), problem.into()))?;
        }
        // Read apart from each other, so that the error is at the key that is wrong.
        FrameJoining::new(self.more.as_deref(), &[]).map_err(|problem| ("more", None, problem.into()))?;
        FrameJoining::new(None, &self.counted).map_err(|problem| ("counted", None, problem.into()))?;
        for (field, items) in &self.items {
            ItemsCodec::new(items).map_err(|problem| ("items", Some(field.as_str()), problem.into()))?;
        }
        Ok(())
    }
}

impl TextCodec {
    /// Checks that every message of `model` is there and that the fields are those of its gates.
    ///
    /// # Errors
    /// If a template or a pattern is missing or wrong; the error names the message.
    pub fn new(config: &TextConfig, model: &Model) -> Result<Self, BadProtocol> {
        let joining = FrameJoining::new(config.more.as_deref(), &config.counted);
        let joining = joining.map_err(|problem| BadProtocol { key: Vec::new(), problem: problem.into() })?;
        let parts =
            NamedTemplates::new(&config.parts).map_err(|problem| BadProtocol::table("parts", problem))?;
        let mut items = Vec::with_capacity(config.items.len());
        for (field, described) in &config.items {
            let made = ItemsCodec::new(described).and_then(|items| items.check(model, field).map(|()| items));
            items.push((
                field.clone(),
                made.map_err(|problem| BadProtocol::message("items", field, problem))?,
            ));
        }
        config.encodings.check(model).map_err(|problem| BadProtocol::table("encodings", problem))?;
        let notation =
            config.truth.clone().map_or_else(ValueNotation::default, |truth| ValueNotation { truth });
        let encodings = config.encodings.clone();
        let mut codec = Self { inputs: Vec::new(), outputs: Vec::new(), joining, items, notation, encodings };
        for (name, text) in &config.inputs {
            let template = prepare_input(model, name, text, &parts);
            let template = template.map_err(|problem| BadProtocol::message("inputs", name, problem))?;
            codec.inputs.push((name.clone(), template));
        }
        for (name, text) in &config.outputs {
            let pattern = prepare_output(model, name, text);
            let pattern = pattern.map_err(|problem| BadProtocol::message("outputs", name, problem))?;
            codec.outputs.push((name.clone(), pattern));
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
                Err(BadProtocol::table("inputs", ProtocolProblem::Undescribed { what: "template", name }))
            }
            Some(gate) => {
                let name = gate.name.to_string();
                Err(BadProtocol::table("outputs", ProtocolProblem::Undescribed { what: "pattern", name }))
            }
            None => Ok(()),
        }
    }

    /// Returns the rules by which frames are joined to messages.
    #[must_use]
    pub fn joining(&self) -> FrameJoining {
        self.joining.clone()
    }

    /// The text of an input; `breaks` says which values would break the framing.
    ///
    /// # Errors
    /// If a value has no text or would break the framing; a value whose length is written cannot break it.
    pub fn encode(
        &self,
        model: &Model,
        label: &Label,
        breaks: impl Fn(&str) -> bool,
    ) -> Result<String, UnwritableMessage> {
        let Label::Input(gate, _) = label else { return Err(UnwritableMessage::NotAnInput) };
        let name = &model.sts.gates[*gate].name;
        let Some((_, template)) = self.inputs.iter().find(|(other, _)| *other == **name) else {
            return Err(UnwritableMessage::Undescribed { what: "template", name: name.to_string() });
        };
        let label = self.encodings.encode_label(model, label)?;
        template.fill(model, &label, |field, value| {
            // A value whose length the template writes cannot be taken for the end of the message.
            let is_free = template.counts(field);
            let allowed = |text: &str| is_free || !breaks(text);
            match value {
                Value::Collection(items) => self.items_codec(field).write_items(&model.pool, items, &allowed),
                _ => unbroken(self.notation.write(&model.pool, value)?, allowed),
            }
        })
    }

    /// Returns the message that a text is.
    ///
    /// # Errors
    /// If no pattern matches, or a value does not fit its field.
    pub fn decode(&self, model: &Model, text: &str) -> Result<Label, Undecodable> {
        for (name, pattern) in &self.outputs {
            // The first pattern that matches decides, even if a value then does not fit its field: trying the
            // others would make the label depend on values, and hide the reply that does not fit.
            let Some(groups) = pattern.captures(text) else { continue };
            let message = WireMessage { label: name.clone(), args: self.args(model, name, &groups)? };
            return Ok(label_from_json(model, &message, is_seen)?);
        }
        Err("no pattern matches".into())
    }

    /// Returns the notation of the items of `field`: as described, otherwise with commas between them.
    fn items_codec(&self, field: &str) -> Cow<'_, ItemsCodec> {
        match self.items.iter().find(|(name, _)| name == field) {
            Some((_, items)) => Cow::Borrowed(items),
            None => Cow::Owned(ItemsCodec::default()),
        }
    }

    /// Returns the fields of output `name`, from the groups of its pattern.
    fn args(
        &self,
        model: &Model,
        name: &str,
        groups: &regex::Captures<'_>,
    ) -> Result<Map<String, Json>, Undecodable> {
        let gate = model.sts.gates.iter().find(|gate| *gate.name == *name && is_seen(gate.kind));
        let fields = gate.map_or(&[][..], |gate| &gate.fields);
        // Three notations, the most specific first: an encoding of this field, the items of a collection, a plain
        // value.
        let field = |&field: &_| {
            let info = model.pool.var_info(field);
            let text = groups.name(&info.name).map(|found| found.as_str());
            let place = format!("{name}.{}", info.name);
            let json = match (info.sort, text) {
                (sort, Some(text))
                    if self.encodings.has_encoding(&place) && !matches!(sort, Sort::Collection(_)) =>
                {
                    let json = Json::String(text.to_owned());
                    Some(self.encodings.decode(&model.pool, &place, sort, &json)?)
                }
                (Sort::Collection(id), Some(text)) => {
                    self.items_codec(&info.name).read_items(&model.pool, id, text)
                }
                (sort, text) => self.notation.read(&model.pool, sort, text),
            };
            json.map(|json| (info.name.to_string(), json)).ok_or_else(|| {
                let found = text.map_or("nothing".to_owned(), |text| format!("`{}`", cut(text, 60)));
                let expected = model.pool.show_sort(info.sort);
                format!("`{name}.{}`: expected {expected}, found {found}", info.name).into()
            })
        };
        fields.iter().map(field).collect()
    }
}

/// Returns `text`; fails if it contains a mark that ends a message.
fn unbroken(text: String, is_allowed: impl Fn(&str) -> bool) -> Result<String, UnwritableMessage> {
    if is_allowed(&text) { Ok(text) } else { Err(UnwritableMessage::BreaksFraming(text)) }
}

/// Prepares the template of an input; its fields must be those of the message.
fn prepare_input(
    model: &Model,
    name: &str,
    text: &str,
    parts: &NamedTemplates,
) -> Result<TextTemplate, ProtocolProblem> {
    let wrong = |problem| ProtocolProblem::for_message("input", name, problem);
    let template = TextTemplate::parse_with(text, parts).map_err(wrong)?;
    check_fields(model, name, GateKind::Input, template.fields())?;
    parts.are_no_fields(model, name).map_err(wrong)?;
    Ok(template)
}

/// Prepares the pattern of an output; its groups must be fields of the message.
fn prepare_output(model: &Model, name: &str, text: &str) -> Result<Regex, ProtocolProblem> {
    let pattern =
        // Groups are compared with the fields of the model in `TextCodec::new`, where there is one.
        full_regex(text).map_err(|problem| ProtocolProblem::for_message("output", name, problem))?;
    check_fields(model, name, GateKind::Output, pattern.capture_names().flatten())?;
    Ok(pattern)
}

/// Returns the JSON of a value of `sort` written as `text`, where `None` is an absent text; `None` if the text is no
/// such value.
pub(super) fn value_json(pool: &TermPool, sort: Sort, text: Option<&str>) -> Option<Json> {
    if let Sort::Data(data) = sort
        && pool.data(data).kind == DataKind::Option
    {
        let inner = pool.data(data).ctors.get(1)?.fields.first()?.sort;
        return text.map_or(Some(Json::Null), |text| value_json(pool, inner, Some(text)));
    }
    let text = text?;
    match sort {
        Sort::Bool => text.parse().ok().map(Json::Bool),
        Sort::Int | Sort::Range { .. } | Sort::Real => text.parse().ok().map(Json::Number),
        Sort::Str | Sort::Data(_) => Some(Json::String(text.to_owned())),
        Sort::Collection(_) => None,
    }
}

pub(crate) fn full_regex(pattern: &str) -> Result<Regex, regex::Error> {
    // In a group of its own, as the anchors would otherwise bind to the first and last alternative only. `\z` and
    // not `$`, which also matches before a line end.
    Regex::new(&format!("\\A(?:{pattern})\\z"))
}

#[cfg(test)]
mod tests;
