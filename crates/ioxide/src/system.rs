//! Systems in the same process: the inputs they are given, and the outputs they emit.

use std::any::type_name;
use std::fmt::Display;
use std::panic::{Location, resume_unwind};
use std::time::Duration;

use ioxide_model::collection::Items;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_record::value::value_to_json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::message::{IoxInput, IoxOutput};

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

impl<S: InProcess + ?Sized> InProcess for Box<S> {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        (**self).take(input, outputs);
    }

    fn look(&mut self, outputs: &mut Outputs) {
        (**self).look(outputs);
    }

    fn pass(&mut self, until: Duration, outputs: &mut Outputs) -> Duration {
        (**self).pass(until, outputs)
    }
}

/// The payload of a panic about a mistake in the test: it is no panic of the system, so no verdict follows from it.
pub(crate) struct TestMistake(pub(crate) String);

/// Ends the call of the system because of a mistake in the test, which is reported with the place of the caller.
#[track_caller]
fn end_by_mistake(problem: impl Display) -> ! {
    let place = Location::caller();
    // No panic hook runs: the check reports the mistake once, as its error.
    resume_unwind(Box::new(TestMistake(format!("{problem} (at {place})"))))
}

/// An input of the model, with its values.
#[derive(Clone, Copy, Debug)]
pub struct GivenInput<'i> {
    model: &'i Model,
    label: &'i Label,
}

impl<'i> GivenInput<'i> {
    /// Makes the input `label`, which must be a label of `model`.
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

    /// Returns the input as a value of an enum with [`#[derive(IoxInput)]`](crate::IoxInput).
    ///
    /// If the enum has no such input, or a field cannot hold its value, the call of the system ends here and the check
    /// fails without a verdict.
    #[must_use]
    #[track_caller]
    pub fn read<I: IoxInput>(&self) -> I {
        match I::from_input(self) {
            Some(input) => input,
            None => end_by_mistake(format_args!(
                "`{}` has no variant for the input `{}`",
                type_name::<I>(),
                self.name()
            )),
        }
    }

    /// Returns the value of a field, `None` if the message has no such field.
    fn value(&self, field: &str) -> Option<&'i Value> {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = self.label else { return None };
        let fields = &self.model.sts.gates[*gate].fields;
        let at = fields.iter().position(|var| *self.model.pool.var_info(*var).name == *field)?;
        values.get(at)
    }

    /// Returns the value of a field; a field that does not exist is a mistake in the test and ends it.
    #[track_caller]
    fn needed(&self, field: &str) -> &'i Value {
        match self.value(field) {
            Some(value) => value,
            None => end_by_mistake(format_args!("the input `{}` has no field `{field}`", self.name())),
        }
    }

    /// Ends the call: the type that was asked for cannot hold the value, which the model allows.
    #[track_caller]
    fn refuse(&self, field: &str, reason: impl Display) -> ! {
        let value = value_to_json(&self.model.pool, self.needed(field));
        let name = self.name();
        let advice = if has_number(self.needed(field)) {
            "; where the model allows more than the type holds, give the field a range, as in `n: 0..100`, or read \
             a larger type with `get`"
        } else {
            ""
        };
        end_by_mistake(format_args!("`{name}.{field}` is {value}: {reason}{advice}"))
    }

    /// The value of a field as any type that reads JSON: options, lists, records, enums by name.
    ///
    /// If there is no such field, or the type cannot hold its value, the call of the system ends here and the check
    /// fails without a verdict: that is a mistake in the test, not in the system.
    #[must_use]
    #[track_caller]
    pub fn get<T: DeserializeOwned>(&self, field: &str) -> T {
        let json = value_to_json(&self.model.pool, self.needed(field));
        match serde_json::from_value(json) {
            Ok(value) => value,
            Err(error) => self.refuse(field, error),
        }
    }

    /// The number in a field.
    ///
    /// If there is no such field, it is not an integer, or its number has more than 64 bits, the call of the system
    /// ends here and the check fails without a verdict; see [`get`](Self::get) for larger numbers.
    #[must_use]
    #[track_caller]
    pub fn int(&self, field: &str) -> i64 {
        match self.needed(field) {
            Value::Int(number) => match number.to_string().parse() {
                Ok(number) => number,
                Err(_) => self.refuse(field, "it has more than 64 bits"),
            },
            _ => self.refuse(field, "it is not an integer"),
        }
    }

    /// The text in a field.
    ///
    /// If there is no such field, or it is not a string, the call of the system ends here and the check fails without a
    /// verdict.
    #[must_use]
    #[track_caller]
    pub fn str(&self, field: &str) -> &'i str {
        match self.needed(field) {
            Value::Str(text) => text,
            _ => self.refuse(field, "it is not a string"),
        }
    }

    /// The truth in a field.
    ///
    /// If there is no such field, or it is not a truth value, the call of the system ends here and the check fails
    /// without a verdict.
    #[must_use]
    #[track_caller]
    pub fn bool(&self, field: &str) -> bool {
        match self.needed(field) {
            Value::Bool(truth) => *truth,
            _ => self.refuse(field, "it is not a truth value"),
        }
    }
}

/// Returns whether there is an integer in `value`.
fn has_number(value: &Value) -> bool {
    match value {
        Value::Int(_) => true,
        Value::Data(data) => data.args.iter().any(has_number),
        Value::Collection(all) => match &all.items {
            Items::List(items) | Items::Set(items) => items.iter().any(has_number),
            Items::Map(entries) => entries.iter().any(|(key, item)| has_number(key) || has_number(item)),
        },
        Value::Bool(_) | Value::Real(_) | Value::Str(_) => false,
    }
}

/// The outputs that a system emits in one call, in order.
#[derive(Debug, Default)]
pub struct Outputs {
    pub(crate) said: Vec<(String, Json)>,
}

impl Outputs {
    /// Emits an output of an enum with [`#[derive(IoxOutput)]`](crate::IoxOutput).
    #[track_caller]
    pub fn send<O: IoxOutput>(&mut self, output: O) {
        output.emit_into(self);
    }

    /// Emits the output called `name` in the model; `fields` is an object with its values, `()` if it has none.
    ///
    /// If `fields` cannot be written as JSON, the call of the system ends here and the check fails without a verdict.
    #[track_caller]
    pub fn emit(&mut self, name: &str, fields: impl Serialize) {
        match serde_json::to_value(fields) {
            Ok(fields) => self.said.push((name.to_owned(), fields)),
            Err(error) => end_by_mistake(format_args!("the output `{name}`: {error}")),
        }
    }
}
