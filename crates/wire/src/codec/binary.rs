//! Labels as binary messages, by the layouts of the project file.
//!
//! A number is an int, a range, a bool (0 or 1) or an enum without fields (the number of its value, from 0,
//! unless the layout says which number stands for which name). Text and hexadecimal digits are strings.
//!
//! *Promises.* The first layout that fits is the message. Bytes that fit none are an error that says why not,
//! layout by layout. A number that stands for no value is such an error; one out of range is judged.

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::value::{DataValue, Value};
use ioxide_record::line::cut;
use thiserror::Error;

use super::layout::{FieldForm, FieldShape, LayoutValue, MessageLayout, hex, unhex};
use super::template::value_of;
use super::{BadProtocol, ProtocolProblem, Undecodable, UnwritableMessage, is_seen};

/// The reason why a field of the model cannot stand in its place of a layout; a sort is given as text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FieldMisfit {
    /// A case of its enum has fields.
    #[error("`{0}` has fields, so a number cannot represent it")]
    CaseWithFields(String),
    /// A number stands for a name that the enum has not.
    #[error("{sort} has no value `{name}`")]
    NoSuchCase {
        /// The enum.
        sort: String,
        /// The name.
        name: String,
    },
    /// A case of its enum has no number.
    #[error("there is no number for `{0}`")]
    NoNumber(String),
    /// Numbers stand for names, and it is no enum.
    #[error("only values of an enum have names, and it is {0}")]
    NamesOfNoEnum(String),
    /// A string stands in the place of a number.
    #[error("a string is written as `text` or `hex`")]
    StringAsNumber,
    /// A value that is not a string stands in the place of bytes.
    #[error("only a string is written as text or hex, and it is {0}")]
    BytesOfNoString(String),
    /// A sort without numbers stands in the place of a number.
    #[error("{0} cannot be written as a number of bytes")]
    NotANumber(String),
    /// A sort without bytes stands in the place of bytes.
    #[error("{0} cannot be written in bytes")]
    NotBytes(String),
}

/// The reason why a value has no bytes in its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueUnfit {
    /// An integer is larger than any place.
    #[error("is too large: {0}")]
    TooLarge(String),
    /// A string is not hexadecimal digits.
    #[error("is not an even number of hexadecimal digits: {0:?}")]
    NotHexadecimal(String),
    /// A value of another sort.
    #[error("cannot be written in this layout")]
    OtherSort,
}

/// The reason why the content of a place in a layout is no value of its field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum UnreadField {
    #[error("nothing is there")]
    Nothing,
    #[error("expected {sort}, found {found}")]
    NoValue { sort: String, found: i128 },
    #[error("cannot be read from this layout")]
    OtherSort,
}

/// The layouts of all messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinaryConfig {
    /// A layout for every input.
    pub inputs: Vec<(String, MessageLayout)>,
    /// A layout for every output; the first that fits is taken.
    pub outputs: Vec<(String, MessageLayout)>,
}

/// Reads and writes the messages of one model.
#[derive(Debug)]
pub struct BinaryCodec {
    config: BinaryConfig,
}

impl BinaryCodec {
    /// Checks that every message of `model` is there and that its fields have places they fit in.
    ///
    /// # Errors
    /// If something is missing or wrong; the error names the message.
    pub fn new(config: &BinaryConfig, model: &Model) -> Result<Self, BadProtocol> {
        // After this every message has a layout, and every field a place of the right form, which `encode`
        // and `decode` rely on.
        check_completeness(model, GateKind::Input, &config.inputs)?;
        check_completeness(model, GateKind::Output, &config.outputs)?;
        Ok(Self { config: config.clone() })
    }

    /// The bytes of an input.
    ///
    /// # Errors
    /// If a value does not fit into its place.
    pub fn encode(&self, model: &Model, label: &Label) -> Result<Vec<u8>, UnwritableMessage> {
        let Label::Input(gate, _) = label else { return Err(UnwritableMessage::NotAnInput) };
        let name = &model.sts.gates[*gate].name;
        let Some((_, layout)) = self.config.inputs.iter().find(|(other, _)| **other == **name) else {
            return Err(UnwritableMessage::Undescribed { what: "layout", name: name.to_string() });
        };
        let mut fields = Vec::new();
        for (field, shape) in layout.fields() {
            let value = value_of(model, label, field)?;
            let wrong = |problem| UnwritableMessage::Field { field: field.to_owned(), problem };
            fields.push((field, datum(model, value, shape).map_err(wrong)?));
        }
        Ok(layout.encode(&fields)?)
    }

    /// Returns the message that `bytes` encode.
    ///
    /// # Errors
    /// If no layout fits, or a value does not fit its field.
    pub fn decode(&self, model: &Model, bytes: &[u8]) -> Result<Label, Undecodable> {
        let mut misfits = Vec::new();
        // The first layout that fits decides, even if a number in it stands for no value: that is then an error of
        // the system rather than a reason to try the others.
        for (name, layout) in &self.config.outputs {
            match layout.decode(bytes) {
                Ok(fields) => return read_label(model, name, layout, &fields),
                Err(misfit) => misfits.push(format!("`{name}` {misfit}")),
            }
        }
        // Cut to a few lines on a screen: there is a reason for each layout.
        Err(cut(&format!("no layout fits ({})", misfits.join("; ")), 600).into())
    }
}

/// Checks that every message of this kind has a layout that fits it, and that every layout has a message.
fn check_completeness(
    model: &Model,
    kind: GateKind,
    layouts: &[(String, MessageLayout)],
) -> Result<(), BadProtocol> {
    let (table, direction) =
        if kind == GateKind::Input { ("inputs", "input") } else { ("outputs", "output") };
    for (name, layout) in layouts {
        let wrong = |problem: ProtocolProblem| BadProtocol::message(table, name, problem);
        let gate = gate_named(model, name, kind);
        let none = || ProtocolProblem::NoMessage { direction, name: name.clone() };
        let gate = gate.ok_or_else(|| wrong(none()))?;
        check_fields_fit(model, gate, layout)
            .map_err(|problem| wrong(ProtocolProblem::for_message(direction, name, problem)))?;
    }
    let has = |gate: &&Gate| layouts.iter().any(|(name, _)| **name == *gate.name);
    // How the connection ended is not read from it.
    let mut gates = model.sts.gates.iter().filter(|gate| gate.kind == kind && !gate.tells_the_end());
    match gates.find(|gate| !has(gate)) {
        Some(gate) => {
            let name = gate.name.to_string();
            Err(BadProtocol::table(table, ProtocolProblem::NoLayout { direction, name }))
        }
        None => Ok(()),
    }
}

fn gate_named<'m>(model: &'m Model, name: &str, kind: GateKind) -> Option<&'m Gate> {
    // What others send and the system shows is read like an output.
    let fits = |other: GateKind| if kind == GateKind::Output { is_seen(other) } else { other == kind };
    model.sts.gates.iter().find(|gate| *gate.name == *name && fits(gate.kind))
}

/// Checks that the fields of a message are those of its layout, and of sorts that can be written so.
fn check_fields_fit(model: &Model, gate: &Gate, layout: &MessageLayout) -> Result<(), ProtocolProblem> {
    let sort_of = |name: &str| {
        let infos = gate.fields.iter().map(|&field| model.pool.var_info(field));
        infos.into_iter().find(|info| *info.name == *name).map(|info| info.sort)
    };
    for (name, shape) in layout.fields() {
        let sort = sort_of(name).ok_or_else(|| ProtocolProblem::NoSuchField(name.to_owned()))?;
        let wrong = |problem| ProtocolProblem::Field { field: name.to_owned(), problem };
        can_be(model, sort, shape).map_err(wrong)?;
    }
    let fields = gate.fields.iter().map(|&field| &model.pool.var_info(field).name);
    match fields.into_iter().find(|name| !layout.fields().any(|(other, _)| *other == ***name)) {
        Some(name) => Err(ProtocolProblem::NoPlace(name.to_string())),
        None => Ok(()),
    }
}

fn can_be(model: &Model, sort: Sort, shape: FieldShape<'_>) -> Result<(), FieldMisfit> {
    let shown = model.pool.show_sort(sort);
    match (sort, shape) {
        (Sort::Str, FieldShape::Bytes(_)) => Ok(()),
        (Sort::Int | Sort::Range { .. } | Sort::Bool, FieldShape::Number([])) => Ok(()),
        (Sort::Data(data), FieldShape::Number(names)) if model.pool.data(data).kind == DataKind::Enum => {
            let ctors = &model.pool.data(data).ctors;
            if let Some(ctor) = ctors.iter().find(|ctor| !ctor.fields.is_empty()) {
                return Err(FieldMisfit::CaseWithFields(ctor.name.to_string()));
            }
            let is_known = |name: &str| ctors.iter().any(|ctor| *ctor.name == *name);
            let is_given = |name: &str| names.is_empty() || names.iter().any(|(other, _)| other == name);
            // The first mistake in either direction: a name that is no case, a case that has no number.
            match (
                names.iter().find(|(name, _)| !is_known(name)),
                ctors.iter().find(|ctor| !is_given(&ctor.name)),
            ) {
                (Some((name, _)), _) => Err(FieldMisfit::NoSuchCase { sort: shown, name: name.clone() }),
                (None, Some(ctor)) => Err(FieldMisfit::NoNumber(ctor.name.to_string())),
                (None, None) => Ok(()),
            }
        }
        (_, FieldShape::Number([_, ..])) => Err(FieldMisfit::NamesOfNoEnum(shown)),
        (Sort::Str, FieldShape::Number(_)) => Err(FieldMisfit::StringAsNumber),
        (
            Sort::Int | Sort::Range { .. } | Sort::Bool | Sort::Data(_) | Sort::Collection(_),
            FieldShape::Bytes(_),
        ) => Err(FieldMisfit::BytesOfNoString(shown)),
        (Sort::Real | Sort::Data(_) | Sort::Collection(_), FieldShape::Number([])) => {
            Err(FieldMisfit::NotANumber(shown))
        }
        (Sort::Real, FieldShape::Bytes(_)) => Err(FieldMisfit::NotBytes(shown)),
    }
}

/// Returns a value in the form of its place.
fn datum(model: &Model, value: &Value, shape: FieldShape<'_>) -> Result<LayoutValue, ValueUnfit> {
    match (value, shape) {
        (Value::Bool(b), FieldShape::Number(_)) => Ok(LayoutValue::Number((*b).into())),
        (Value::Int(n), FieldShape::Number(_)) => {
            let number = n.to_string().parse().map(LayoutValue::Number);
            number.map_err(|_| ValueUnfit::TooLarge(cut(&n.to_string(), 60)))
        }
        (Value::Data(data), FieldShape::Number(names)) => {
            let name = &model.pool.data(data.data).ctors[data.ctor as usize].name;
            // Without names the number of a case is its position, from 0.
            let named = names.iter().find(|(other, _)| **other == **name).map(|(_, number)| *number);
            Ok(LayoutValue::Number(named.unwrap_or_else(|| data.ctor.into())))
        }
        (Value::Str(text), FieldShape::Bytes(FieldForm::Text)) => {
            Ok(LayoutValue::Bytes(text.as_bytes().to_vec()))
        }
        (Value::Str(text), FieldShape::Bytes(FieldForm::Hex)) => {
            let bytes = unhex(text).map(LayoutValue::Bytes);
            bytes.ok_or_else(|| ValueUnfit::NotHexadecimal(cut(text, 60)))
        }
        _ => Err(ValueUnfit::OtherSort),
    }
}

/// Returns the output `name` with the values that were read.
fn read_label(
    model: &Model,
    name: &str,
    layout: &MessageLayout,
    found: &[(&str, LayoutValue)],
) -> Result<Label, Undecodable> {
    let gate = model.sts.gates.iter_enumerated().find(|(_, gate)| *gate.name == *name && is_seen(gate.kind));
    let (id, gate) = gate.ok_or_else(|| format!("the model has no output `{name}`"))?;
    let mut values = Vec::new();
    for info in gate.fields.iter().map(|&field| model.pool.var_info(field)) {
        let datum = found.iter().find(|(other, _)| *other == &*info.name).map(|(_, datum)| datum);
        let shape = layout.fields().find(|(other, _)| *other == &*info.name).map(|(_, shape)| shape);
        let found = datum.zip(shape).ok_or(UnreadField::Nothing);
        let read = found.and_then(|(datum, shape)| read_value(model, info.sort, datum, shape));
        values.push(read.map_err(|problem| format!("`{name}.{}`: {problem}", info.name))?);
    }
    Label::message(&model.sts, id, values).ok_or_else(|| format!("`{name}` is not a message").into())
}

/// Returns the value of `sort` that was found in its place.
fn read_value(
    model: &Model,
    sort: Sort,
    datum: &LayoutValue,
    shape: FieldShape<'_>,
) -> Result<Value, UnreadField> {
    let none = |n: &i128| UnreadField::NoValue { sort: model.pool.show_sort(sort), found: *n };
    match (sort, datum, shape) {
        (Sort::Bool, LayoutValue::Number(n @ (0 | 1)), _) => Ok(Value::Bool(*n == 1)),
        // The range is not looked at: a number out of range is a label that the monitor forbids, not an unreadable
        // one.
        (Sort::Int | Sort::Range { .. }, LayoutValue::Number(n), _) => {
            n.to_string().parse::<Int>().map(Value::Int).map_err(|_| none(n))
        }
        (Sort::Data(data), LayoutValue::Number(n), FieldShape::Number(names)) => {
            let ctors = &model.pool.data(data).ctors;
            let ctor = match names {
                [] => usize::try_from(*n).ok().filter(|n| *n < ctors.len()),
                _ => names
                    .iter()
                    .find(|(_, number)| number == n)
                    .and_then(|(name, _)| ctors.iter().position(|ctor| *ctor.name == **name)),
            };
            let ctor = ctor.and_then(|ctor| u32::try_from(ctor).ok()).ok_or_else(|| none(n))?;
            Ok(Value::Data(DataValue { data, ctor, args: Vec::new().into() }))
        }
        (Sort::Str, LayoutValue::Bytes(bytes), FieldShape::Bytes(FieldForm::Hex)) => {
            Ok(Value::str(&hex(bytes)))
        }
        (Sort::Str, LayoutValue::Bytes(bytes), _) => Ok(Value::str(&String::from_utf8_lossy(bytes))),
        (_, LayoutValue::Number(n), _) => Err(none(n)),
        (_, LayoutValue::Bytes(_), _) => Err(UnreadField::OtherSort),
    }
}

#[cfg(test)]
mod tests;
