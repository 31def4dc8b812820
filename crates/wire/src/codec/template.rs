//! Templates: `{field}` stands for a value, `{len(field)}` for its length in bytes, `{count(field) + 1}` for one more
//! than it has items, `{{` and `}}` for braces.
//!
//! A part is a template with a name. `{part}` stands for its text and `{len(part)}` for the length of that.

use ioxide_model::label::Label;
use ioxide_model::sort::DataKind;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use thiserror::Error;

use super::{ProtocolProblem, UnwritableMessage, is_seen};

/// The reason why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTemplate {
    /// A part has a name that no template can use.
    #[error("part `{0}`: this is not a name")]
    PartName(String),
    /// The template of a part is wrong.
    #[error("part `{name}`: {problem}")]
    Part {
        /// The part.
        name: String,
        /// The problem with its template.
        problem: Box<Self>,
    },
    /// A name is that of a part and of a field.
    #[error("`{0}` is a field and a part; give the part another name")]
    FieldAndPart(String),
    /// A brace opens or closes nothing.
    #[error("a brace alone; write `{{{{` or `}}}}` for one")]
    LoneBrace,
    /// Braces around something that is not a name, such as those of JSON.
    #[error(
        "`{{{0}}}` is not a field; write `{{{{` and `}}}}` for braces that stand for themselves, as those of JSON"
    )]
    NoField(String),
    /// A length has no name.
    #[error("`len()` needs a name; write `{{len(FIELD)}}`")]
    NamelessLength,
    /// A count is followed by something other than a number to add.
    #[error("`{0}` after a count; write `{{count(FIELD) + 2}}`")]
    CountTail(String),
}

/// A text with holes for the fields of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTemplate(Vec<TemplatePiece>);

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Field(String),
    /// The length in bytes of these pieces.
    Len(Vec<Self>),
    /// The number of items of a field, plus a constant.
    Count(String, usize),
}

/// Templates by name, for use in others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedTemplates(Vec<(String, TextTemplate)>);

impl NamedTemplates {
    /// Reads templates, each of which may use those before it.
    pub(super) fn new(all: &[(String, String)]) -> Result<Self, BadTemplate> {
        let mut parts = Self::default();
        for (name, text) in all {
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err(BadTemplate::PartName(name.clone()));
            }
            let wrong = |problem| BadTemplate::Part { name: name.clone(), problem: Box::new(problem) };
            let template = TextTemplate::parse_with(text, &parts).map_err(wrong)?;
            // Pushed after it was read: a part sees only those before it, so no part contains itself and `pieces`
            // ends.
            parts.0.push((name.clone(), template));
        }
        Ok(parts)
    }

    /// Fails if a part has the name of a field of `message`.
    pub(super) fn are_no_fields(&self, model: &Model, message: &str) -> Result<(), BadTemplate> {
        // A message of this name may be an input and an output; both are looked at.
        let gates = model.sts.gates.iter().filter(|gate| *gate.name == *message);
        let mut fields = gates.flat_map(|gate| &gate.fields).map(|var| &model.pool.var_info(*var).name);
        match fields.find(|field| self.get(field).is_some()) {
            Some(field) => Err(BadTemplate::FieldAndPart(field.to_string())),
            None => Ok(()),
        }
    }

    /// Returns the template of this name, if there is one.
    fn get(&self, name: &str) -> Option<&TextTemplate> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, template)| template)
    }

    /// Returns the pieces that a name stands for: those of the part of this name, otherwise a field.
    fn pieces(&self, name: &str) -> Vec<TemplatePiece> {
        self.get(name).map_or_else(|| vec![TemplatePiece::Field(name.to_owned())], |part| part.0.clone())
    }
}

impl TemplatePiece {
    /// The fields it has holes for.
    fn fields(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Text(_) => Box::new(std::iter::empty()),
            Self::Field(field) | Self::Count(field, _) => Box::new(std::iter::once(field.as_str())),
            Self::Len(pieces) => Box::new(pieces.iter().flat_map(Self::fields)),
        }
    }
}

impl TextTemplate {
    /// Reads a template.
    pub(super) fn new(text: &str) -> Result<Self, BadTemplate> {
        Self::parse_with(text, &NamedTemplates::default())
    }

    /// Reads a template that may use these parts.
    pub(super) fn parse_with(text: &str, parts: &NamedTemplates) -> Result<Self, BadTemplate> {
        pieces_of(text, parts).map(Self)
    }

    /// Returns a template of these fields alone, with `between` between two.
    pub(super) fn of_fields(fields: &[&str], between: &str) -> Self {
        let piece = |field: &&str| {
            // Every field brings the text before it; the first of these is skipped below.
            [TemplatePiece::Text(between.to_owned()), TemplatePiece::Field((*field).to_owned())]
        };
        Self(fields.iter().flat_map(piece).skip(1).collect())
    }

    /// The fields it has holes for.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(TemplatePiece::fields)
    }

    /// Returns whether the template writes the length of this field, or of a part that contains it.
    pub(super) fn counts(&self, field: &str) -> bool {
        // The system knows from the length where the field ends, so the field may contain what would end a message.
        let lengths = self.0.iter().filter(|piece| matches!(piece, TemplatePiece::Len(_)));
        lengths.flat_map(TemplatePiece::fields).any(|other| other == field)
    }

    /// The text for a message; `shown` writes a value of a field.
    pub(super) fn fill(
        &self,
        model: &Model,
        label: &Label,
        shown: impl Fn(&str, &Value) -> Result<String, UnwritableMessage>,
    ) -> Result<String, UnwritableMessage> {
        self.filled_with(model, label, &|_| None, shown)
    }

    /// Returns the field that is the whole template; `None` if there is anything else in it.
    #[cfg(feature = "external")]
    pub(super) fn only_field(&self) -> Option<&str> {
        let mut pieces =
            // Reading a template leaves empty texts before, between and after its holes.
            self.0.iter().filter(|piece| !matches!(piece, TemplatePiece::Text(text) if text.is_empty()));
        match (pieces.next(), pieces.next()) {
            (Some(TemplatePiece::Field(field)), None) => Some(field),
            _ => None,
        }
    }

    /// Returns the text as [`fill`](Self::fill) does, where `known` gives the text of names that are no fields.
    pub(super) fn filled_with(
        &self,
        model: &Model,
        label: &Label,
        known: &dyn Fn(&str) -> Option<String>,
        shown: impl Fn(&str, &Value) -> Result<String, UnwritableMessage>,
    ) -> Result<String, UnwritableMessage> {
        let count = |field: &str| match value_of(model, label, field)? {
            Value::Collection(items) => Ok(items.len()),
            _ => Err(UnwritableMessage::NoItems(field.to_owned())),
        };
        let text = |field: &str| match known(field) {
            Some(text) => Ok(text),
            None => shown(field, value_of(model, label, field)?),
        };
        fill_pieces(&self.0, &text, &count)
    }

    /// The text where `shown` says what stands for each name.
    pub(super) fn filled_by(
        &self,
        shown: &dyn Fn(&str) -> Result<String, UnwritableMessage>,
    ) -> Result<String, UnwritableMessage> {
        fill_pieces(&self.0, shown, &|field| Err(UnwritableMessage::NoItems(field.to_owned())))
    }
}

fn fill_pieces(
    pieces: &[TemplatePiece],
    shown: &dyn Fn(&str) -> Result<String, UnwritableMessage>,
    count: &dyn Fn(&str) -> Result<usize, UnwritableMessage>,
) -> Result<String, UnwritableMessage> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            TemplatePiece::Text(fixed) => text.push_str(fixed),
            TemplatePiece::Field(field) => text.push_str(&shown(field)?),
            TemplatePiece::Len(pieces) => {
                // The length in bytes, since that is how protocols count, of the text exactly as it is sent
                // elsewhere.
                text.push_str(&fill_pieces(pieces, shown, count)?.len().to_string())
            }
            TemplatePiece::Count(field, more) => text.push_str(&(count(field)? + more).to_string()),
        }
    }
    Ok(text)
}

/// The value of a field of a message.
pub(super) fn value_of<'l>(
    model: &Model,
    label: &'l Label,
    field: &str,
) -> Result<&'l Value, UnwritableMessage> {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else {
        return Err(UnwritableMessage::Fieldless);
    };
    let gate = &model.sts.gates[*gate];
    let named = |var: &_| *model.pool.var_info(*var).name == *field;
    let value = gate.fields.iter().position(named).and_then(|at| values.get(at));
    value
        .ok_or_else(|| UnwritableMessage::NoField { message: gate.name.to_string(), field: field.to_owned() })
}

fn pieces_of(text: &str, parts: &NamedTemplates) -> Result<Vec<TemplatePiece>, BadTemplate> {
    let mut pieces = Vec::new();
    let (mut fixed, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        fixed.push_str(&rest[..at]);
        let tail = &rest[at..];
        // A doubled brace stands for itself and must be looked at first: `{{x}}` is no hole.
        if let Some(after) = tail.strip_prefix("{{").or_else(|| tail.strip_prefix("}}")) {
            fixed.push_str(&tail[..1]);
            rest = after;
            continue;
        }
        // Holes do not nest: the first closing brace ends this one.
        let inner = tail.strip_prefix('{').and_then(|tail| tail.split_once('}'));
        let (hole, after) = inner.ok_or(BadTemplate::LoneBrace)?;
        // Texts and holes alternate from here on, even if the text is empty.
        pieces.push(TemplatePiece::Text(std::mem::take(&mut fixed)));
        if let Some(count) = hole.strip_prefix("count(").and_then(|hole| hole.split_once(')')) {
            pieces.push(TemplatePiece::Count(count.0.to_owned(), more_of(count.1)?));
            rest = after;
            continue;
        }
        match hole.strip_prefix("len(").and_then(|name| name.strip_suffix(')')) {
            Some("") => return Err(BadTemplate::NamelessLength),
            Some(name) => pieces.push(TemplatePiece::Len(parts.pieces(name))),
            // Somebody wrote JSON without doubling its braces; the message says how to.
            None if hole.contains(['{', '"', ':', ',']) => return Err(BadTemplate::NoField(hole.to_owned())),
            None => pieces.extend(parts.pieces(hole)),
        }
        rest = after;
    }
    fixed.push_str(rest);
    pieces.push(TemplatePiece::Text(fixed));
    Ok(pieces)
}

/// Returns the texts of a template between its holes, as they are sent; a template that cannot be read is one text.
#[must_use]
pub fn template_texts(template: &str) -> Vec<String> {
    let Ok(pieces) = pieces_of(template, &NamedTemplates::default()) else {
        return vec![template.to_owned()];
    };
    let text = |piece: TemplatePiece| match piece {
        TemplatePiece::Text(text) => Some(text),
        TemplatePiece::Field(_) | TemplatePiece::Len(_) | TemplatePiece::Count(..) => None,
    };
    pieces.into_iter().filter_map(text).collect()
}

/// Reads the number that is added to a count: nothing, or `+ 2`.
fn more_of(text: &str) -> Result<usize, BadTemplate> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = text.trim_start().strip_prefix('+').and_then(|number| number.trim().parse::<u16>().ok());
    number.map(usize::from).ok_or_else(|| BadTemplate::CountTail(text.to_owned()))
}

/// A value as people write it; a record has no such text.
pub(super) fn plain_text(pool: &TermPool, value: &Value) -> Result<String, UnwritableMessage> {
    Ok(match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(r) => r.to_string(),
        Value::Str(text) => text.to_string(),
        Value::Data(data) => match (pool.data(data.data).kind, &*data.args) {
            (DataKind::Option, []) => String::new(),
            (DataKind::Option, [inner, ..]) => plain_text(pool, inner)?,
            (DataKind::Enum, []) => pool.data(data.data).ctors[data.ctor as usize].name.to_string(),
            _ => return Err(UnwritableMessage::Record),
        },
        Value::Collection(_) => return Err(UnwritableMessage::Collection),
    })
}

/// Checks that the model has the message in this direction, with these fields.
pub(super) fn check_fields<'a>(
    model: &Model,
    name: &str,
    kind: GateKind,
    mut fields: impl Iterator<Item = &'a str>,
) -> Result<(), ProtocolProblem> {
    let direction = if kind == GateKind::Input { "input" } else { "output" };
    // What others send and the system shows is read like an output.
    let fits = |other: GateKind| if kind == GateKind::Output { is_seen(other) } else { other == kind };
    let gate = model.sts.gates.iter().find(|gate| *gate.name == *name && fits(gate.kind));
    let gate = gate.ok_or_else(|| ProtocolProblem::NoMessage { direction, name: name.to_owned() })?;
    let known = |field: &str| gate.fields.iter().any(|var| *model.pool.var_info(*var).name == *field);
    match fields.find(|field| !known(field)) {
        Some(field) => {
            Err(ProtocolProblem::NoField { direction, name: name.to_owned(), field: field.to_owned() })
        }
        None => Ok(()),
    }
}
