//! Labels as lines of text: templates for inputs, patterns for outputs.
//!
//! In a template `{field}` stands for a value and `{{`, `}}` for braces. A pattern is a
//! regular expression for a whole message; its named groups are fields, and a group that
//! took no part is `none`. `more` matches the beginning of a message that goes on in the next
//! frame; frames of one message are joined by a newline.
//!
//! *Promises.* A text that no pattern matches is an error that shows it, never silence. A
//! value that would break the framing is refused, not sent.

use regex::Regex;
use serde_json::{Map, Value as Json};

use ioxide_model::label::Label;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::term::TermPool;

use super::template::{Template, check_fields, plain_text};
use super::{Message, label_from_json};
use crate::line::cut;

/// How messages are written, as people wrote it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextConfig {
    /// A template for every input.
    pub inputs: Vec<(String, String)>,
    /// Patterns for every output.
    pub outputs: Vec<(String, String)>,
    /// The beginning of a message that goes on.
    pub more: Option<String>,
}

/// Reads and writes the messages of one model.
#[derive(Debug)]
pub struct TextCodec {
    inputs: Vec<(String, Template)>,
    outputs: Vec<(String, Regex)>,
    more: Option<Regex>,
}

/// What a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A message.
    Label(Label),
    /// The beginning of one.
    More,
}

impl TextCodec {
    /// Checks that every message of `model` is there and that the fields are those of its gates.
    ///
    /// # Errors
    /// If a template or a pattern is missing or wrong; the error names the message.
    pub fn new(config: &TextConfig, model: &Model) -> Result<Self, String> {
        let mut codec = Self { inputs: Vec::new(), outputs: Vec::new(), more: None };
        for (name, text) in &config.inputs {
            let template = Template::new(text).map_err(|problem| format!("input `{name}`: {problem}"))?;
            check_fields(model, name, GateKind::Input, template.fields())?;
            codec.inputs.push((name.clone(), template));
        }
        for (name, text) in &config.outputs {
            let pattern = whole(text).map_err(|problem| format!("output `{name}`: {problem}"))?;
            check_fields(model, name, GateKind::Output, pattern.capture_names().flatten())?;
            codec.outputs.push((name.clone(), pattern));
        }
        codec.more = config.more.as_deref().map(whole).transpose().map_err(|bad| format!("more: {bad}"))?;
        codec.complete(model)?;
        Ok(codec)
    }

    fn complete(&self, model: &Model) -> Result<(), String> {
        let has = |gate: &Gate| match gate.kind {
            GateKind::Input => self.inputs.iter().any(|(name, _)| *name == *gate.name),
            // How the connection ended is not read from it.
            GateKind::Output => {
                gate.tells_the_end() || self.outputs.iter().any(|(name, _)| *name == *gate.name)
            }
            GateKind::Internal | GateKind::Observed => true,
        };
        match model.sts.gates.iter().find(|gate| !has(gate)) {
            Some(gate) => Err(format!("there is neither template nor pattern for `{}`", gate.name)),
            None => Ok(()),
        }
    }

    /// The text of an input.
    ///
    /// # Errors
    /// If a value has no text or would break the framing.
    pub fn encode(&self, model: &Model, label: &Label) -> Result<String, String> {
        let Label::Input(gate, _) = label else { return Err("only inputs can be sent".into()) };
        let name = &model.sts.gates[*gate].name;
        let Some((_, template)) = self.inputs.iter().find(|(other, _)| *other == **name) else {
            return Err(format!("there is no template for `{name}`"));
        };
        template.filled(model, label, |value| {
            let text = plain_text(&model.pool, value)?;
            match text.chars().any(char::is_control) {
                true => Err(format!("the value {text:?} would break the framing")),
                false => Ok(text),
            }
        })
    }

    /// The message a text is.
    ///
    /// # Errors
    /// If no pattern matches, or a value does not fit its field.
    pub fn decode(&self, model: &Model, text: &str) -> Result<Decoded, String> {
        for (name, pattern) in &self.outputs {
            let Some(groups) = pattern.captures(text) else { continue };
            let message = Message { label: name.clone(), args: args(model, name, &groups)? };
            let label = label_from_json(model, &message, |kind| kind == GateKind::Output);
            return label.map(Decoded::Label).map_err(|error| error.to_string());
        }
        match &self.more {
            Some(more) if more.is_match(text) => Ok(Decoded::More),
            _ => Err("no pattern matches".into()),
        }
    }
}

fn args(model: &Model, name: &str, groups: &regex::Captures<'_>) -> Result<Map<String, Json>, String> {
    let gate = model.sts.gates.iter().find(|gate| *gate.name == *name && gate.kind == GateKind::Output);
    let fields = gate.map_or(&[][..], |gate| &gate.fields);
    let field = |&field: &_| {
        let info = model.pool.var_info(field);
        let text = groups.name(&info.name).map(|found| found.as_str());
        let json = value_json(&model.pool, info.sort, text);
        json.map(|json| (info.name.to_string(), json)).ok_or_else(|| {
            let found = text.map_or("nothing".to_owned(), |text| format!("`{}`", cut(text, 60)));
            format!("`{name}.{}`: expected {}, found {found}", info.name, model.pool.show_sort(info.sort))
        })
    };
    fields.iter().map(field).collect()
}

/// The JSON of a value of `sort` written as `text`; `None` if it is none.
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
    }
}

pub(super) fn whole(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("\\A(?:{pattern})\\z")).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{VENDING, message, model};

    fn config(outputs: &[(&str, &str)]) -> TextConfig {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        TextConfig {
            inputs: vec![("coin".into(), "PAY {{{n}}}\r\n".into())],
            outputs: outputs.iter().map(owned).collect(),
            more: Some("CHANGE".into()),
        }
    }

    const OUTPUTS: [(&str, &str); 3] =
        [("tea", "TEA"), ("coffee", "COFFEE (?P<sugar>.*)"), ("change", r"CHANGE\n(?P<n>-?\d+)")];

    #[test]
    fn messages_become_text_and_back() {
        let model = model(VENDING);
        let codec = TextCodec::new(&config(&OUTPUTS), &model).unwrap();
        assert_eq!(codec.encode(&model, &message(&model, "coin", &[5])), Ok("PAY {5}\r\n".into()));
        assert_eq!(codec.decode(&model, "TEA"), Ok(Decoded::Label(message(&model, "tea", &[]))));
        assert_eq!(codec.decode(&model, "CHANGE"), Ok(Decoded::More));
        assert_eq!(codec.decode(&model, "CHANGE\n3"), Ok(Decoded::Label(message(&model, "change", &[3]))));
        assert_eq!(codec.decode(&model, "SOUP"), Err("no pattern matches".into()));
        let sweet = codec.decode(&model, "COFFEE much").unwrap_err();
        assert_eq!(sweet, "`coffee.sugar`: expected 0..3, found `much`");
    }

    #[test]
    fn mistakes_are_named() {
        let model = model(VENDING);
        let problem = |config: &TextConfig| TextCodec::new(config, &model).unwrap_err();
        assert!(problem(&config(&OUTPUTS[..2])).contains("for `change`"));
        assert!(problem(&config(&[("soup", "SOUP")])).contains("no output `soup`"));
        assert!(problem(&config(&[("tea", "(?P<n>x)")])).contains("no field `n`"));
        assert!(problem(&config(&[("tea", "(")])).contains("output `tea`"));
        let mut braces = config(&OUTPUTS);
        braces.inputs[0].1 = "PAY {n".into();
        assert!(problem(&braces).contains("a brace alone"));
    }
}
