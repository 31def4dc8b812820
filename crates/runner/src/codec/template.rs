//! Templates: `{field}` stands for a value, `{{` and `}}` for braces.

use ioxide_model::label::Label;
use ioxide_model::sort::DataKind;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;

/// A text with holes for the fields of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(String),
}

impl Template {
    /// Reads a template.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        pieces_of(text).map(Self)
    }

    /// The fields it has holes for.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Field(field) => Some(field.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text without its holes.
    pub(super) fn fixed(&self) -> String {
        self.0
            .iter()
            .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The text for a message; `shown` writes a value.
    pub(super) fn filled(
        &self,
        model: &Model,
        label: &Label,
        shown: impl Fn(&Value) -> Result<String, String>,
    ) -> Result<String, String> {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = label else {
            return Err("only messages have a text".into());
        };
        let gate = &model.sts.gates[*gate];
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(fixed) => text.push_str(fixed),
                Piece::Field(field) => {
                    let named = |var: &_| *model.pool.var_info(*var).name == **field;
                    let value = gate.fields.iter().position(named).and_then(|at| values.get(at));
                    let value = value.ok_or_else(|| format!("`{}` has no field `{field}`", gate.name))?;
                    text.push_str(&shown(value)?);
                }
            }
        }
        Ok(text)
    }
}

fn pieces_of(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let (mut fixed, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        fixed.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(after) = tail.strip_prefix("{{").or_else(|| tail.strip_prefix("}}")) {
            fixed.push_str(&tail[..1]);
            rest = after;
            continue;
        }
        let inner = tail.strip_prefix('{').and_then(|tail| tail.split_once('}'));
        let (field, after) = inner.ok_or("a brace alone; write `{{` or `}}` for one")?;
        pieces.push(Piece::Text(std::mem::take(&mut fixed)));
        pieces.push(Piece::Field(field.to_owned()));
        rest = after;
    }
    fixed.push_str(rest);
    pieces.push(Piece::Text(fixed));
    Ok(pieces)
}

/// A value as people write it; a record has no such text.
pub(super) fn plain_text(pool: &TermPool, value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(r) => r.to_string(),
        Value::Str(text) => text.to_string(),
        Value::Data(data) => match (pool.data(data.data).kind, &*data.args) {
            (DataKind::Option, []) => String::new(),
            (DataKind::Option, [inner, ..]) => plain_text(pool, inner)?,
            (DataKind::Enum, []) => pool.data(data.data).ctors[data.ctor as usize].name.to_string(),
            _ => return Err("a record has no text".into()),
        },
    })
}

/// Whether the message is there, in this direction, and has these fields.
pub(super) fn check_fields<'a>(
    model: &Model,
    name: &str,
    kind: GateKind,
    mut fields: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let word = if kind == GateKind::Input { "input" } else { "output" };
    let gate = model.sts.gates.iter().find(|gate| *gate.name == *name && gate.kind == kind);
    let gate = gate.ok_or_else(|| format!("the model has no {word} `{name}`"))?;
    let known = |field: &str| gate.fields.iter().any(|var| *model.pool.var_info(*var).name == *field);
    match fields.find(|field| !known(field)) {
        Some(field) => Err(format!("{word} `{name}` has no field `{field}`")),
        None => Ok(()),
    }
}
