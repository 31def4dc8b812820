//! Systems in the same process: the inputs they are given, and the outputs they emit.

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_runner::codec::value_to_json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// A system under test in this process. Every run begins with a new one.
pub trait InProcess {
    /// Handles one input and emits the outputs that it causes.
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs);

    /// Emits outputs that no input causes; called whenever the tester listens.
    fn look(&mut self, _outputs: &mut Outputs) {}

    /// Lets time pass up to `until` after the start of the run, or to the first output, and returns the time that has
    /// passed then: for models with clocks. By default all of the time passes without an output.
    fn pass(&mut self, until: Duration, _outputs: &mut Outputs) -> Duration {
        until
    }
}

/// An input of the model, with its values.
#[derive(Clone, Copy, Debug)]
pub struct GivenInput<'i> {
    model: &'i Model,
    label: &'i Label,
}

impl<'i> GivenInput<'i> {
    pub(crate) fn new(model: &'i Model, label: &'i Label) -> Self {
        Self { model, label }
    }

    /// Returns the name of the input in the model.
    #[must_use]
    pub fn name(&self) -> &'i str {
        match self.label {
            Label::Input(gate, _) | Label::Output(gate, _) => &self.model.sts.gates[*gate].name,
            Label::Quiescence | Label::Delay(_) => "",
        }
    }

    fn value(&self, field: &str) -> Option<&'i Value> {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = self.label else { return None };
        let fields = &self.model.sts.gates[*gate].fields;
        let at = fields.iter().position(|var| *self.model.pool.var_info(*var).name == *field)?;
        values.get(at)
    }

    #[track_caller]
    fn needed(&self, field: &str) -> &'i Value {
        self.value(field).unwrap_or_else(|| panic!("the input `{}` has no field `{field}`", self.name()))
    }

    /// The value of a field as any type that reads JSON: options, lists, records, enums by name.
    ///
    /// # Panics
    /// If there is no such field, or it is of another shape: a mistake in the test.
    #[must_use]
    #[track_caller]
    pub fn get<T: DeserializeOwned>(&self, field: &str) -> T {
        let json = value_to_json(&self.model.pool, self.needed(field));
        let text = json.to_string();
        serde_json::from_value(json)
            .unwrap_or_else(|error| panic!("`{}.{field}` is {text}: {error}", self.name()))
    }

    /// The number in a field.
    ///
    /// # Panics
    /// If there is no such field, it is no integer, or it has more than 64 bits: see [`get`](Self::get).
    #[must_use]
    #[track_caller]
    pub fn int(&self, field: &str) -> i64 {
        match self.needed(field) {
            Value::Int(number) => {
                let number = number.to_string();
                number.parse().unwrap_or_else(|_| panic!("`{}.{field}` is {number}", self.name()))
            }
            other => panic!("`{}.{field}` is no integer: {other:?}", self.name()),
        }
    }

    /// The text in a field.
    ///
    /// # Panics
    /// If there is no such field, or it is no string.
    #[must_use]
    #[track_caller]
    pub fn str(&self, field: &str) -> &'i str {
        match self.needed(field) {
            Value::Str(text) => text,
            other => panic!("`{}.{field}` is no string: {other:?}", self.name()),
        }
    }

    /// The truth in a field.
    ///
    /// # Panics
    /// If there is no such field, or it is no truth value.
    #[must_use]
    #[track_caller]
    pub fn bool(&self, field: &str) -> bool {
        match self.needed(field) {
            Value::Bool(truth) => *truth,
            other => panic!("`{}.{field}` is no truth value: {other:?}", self.name()),
        }
    }
}

/// The outputs that a system emits in one call, in order.
#[derive(Debug, Default)]
pub struct Outputs {
    pub(crate) said: Vec<(String, Json)>,
}

impl Outputs {
    /// Says the output called `name` in the model; `fields` is an object with its values, `()` if it has none.
    ///
    /// # Panics
    /// If `fields` cannot be written as JSON.
    #[track_caller]
    pub fn emit(&mut self, name: &str, fields: impl Serialize) {
        let fields = serde_json::to_value(fields).unwrap_or_else(|error| panic!("`{name}`: {error}"));
        self.said.push((name.to_owned(), fields));
    }
}
