//! Messages of a model as Rust enums, and the skeleton of a model for them.
//!
//! ```
//! use ioxide::{GivenInput, InProcess, IoxInput, IoxOutput, ModelFile, Outputs};
//!
//! #[derive(Debug, IoxInput)]
//! enum Input {
//!     Put { n: i64 },
//!     Get,
//! }
//!
//! #[derive(IoxOutput)]
//! enum Output {
//!     Ok,
//!     Full,
//!     Value { n: i64 },
//!     Empty,
//! }
//!
//! #[derive(Default)]
//! struct Buffer(Vec<i64>);
//!
//! impl InProcess for Buffer {
//!     fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
//!         outputs.send(match input.read() {
//!             Input::Put { n } if self.0.len() < 3 => {
//!                 self.0.push(n);
//!                 Output::Ok
//!             }
//!             Input::Put { .. } => Output::Full,
//!             Input::Get if self.0.is_empty() => Output::Empty,
//!             Input::Get => Output::Value { n: self.0.remove(0) },
//!         });
//!     }
//! }
//!
//! // A model to begin with: it allows any answer to any input.
//! let model = ModelFile::text(&ioxide::model_skeleton::<Input, Output>("Buffer"));
//! let passed = ioxide::check(&model, Buffer::default).messages::<Input, Output>().steps(200).run();
//! assert!(passed.steps() > 0);
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use ioxide_model::name::source_name;
use ioxide_model::sts::{GateKind, Model};

use crate::system::{GivenInput, Outputs};

pub use ioxide_derive::{IoxInput, IoxOutput, IoxValue};

/// The inputs of a model as an enum; made by `#[derive(IoxInput)]`.
pub trait IoxInput: Sized {
    /// Returns the names and fields of the inputs.
    fn messages() -> Vec<EnumMessage>;

    /// Returns the input as a value of this type; `None` if it has no such input.
    fn from_input(input: &GivenInput<'_>) -> Option<Self>;
}

/// The outputs of a model as an enum; made by `#[derive(IoxOutput)]`.
pub trait IoxOutput {
    /// Returns the names and fields of the outputs.
    fn messages() -> Vec<EnumMessage>;

    /// Emits this output.
    fn emit_into(self, outputs: &mut Outputs);
}

/// A type of fields of messages: numbers, texts, truth values, options, lists, sets and maps of them, and types with
/// `#[derive(IoxValue)]`. Serde converts the values.
pub trait IoxValue {
    /// Returns the type as the language of models writes it.
    fn sort() -> String;

    /// Adds the declarations of the records and enums that the type mentions.
    fn declare(_types: &mut TypeDeclarations) {}
}

/// A message: its name, and its fields in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumMessage {
    /// The name in the model.
    pub name: &'static str,
    /// The fields.
    pub fields: Vec<EnumField>,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumField {
    /// The name in the model.
    pub name: &'static str,
    /// The type, as the language of models writes it.
    pub sort: String,
    types: TypeDeclarations,
}

impl EnumField {
    /// Makes the field `name` of the type `T`.
    #[must_use]
    pub fn of<T: IoxValue>(name: &'static str) -> Self {
        let mut types = TypeDeclarations::default();
        T::declare(&mut types);
        Self { name, sort: T::sort(), types }
    }
}

/// The declarations of records and enums, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeDeclarations(BTreeMap<String, String>);

impl TypeDeclarations {
    /// Begins the declaration of the type `name`; returns false if there is one already.
    pub fn begin(&mut self, name: &str) -> bool {
        let is_new = !self.0.contains_key(name);
        if is_new {
            self.0.insert(name.to_owned(), String::new());
        }
        is_new
    }

    /// Sets the declaration of the type `name`.
    pub fn define(&mut self, name: &str, text: String) {
        self.0.insert(name.to_owned(), text);
    }
}

/// Implements [`IoxValue`] for types with a name in the language of models.
macro_rules! sorts {
    ($($name:ty => $sort:expr,)*) => {
        $(impl IoxValue for $name {
            fn sort() -> String {
                $sort.into()
            }
        })*
    };
}

sorts! {
    bool => "bool",
    String => "string",
    char => "string",
    i64 => "int",
    i128 => "int",
    isize => "int",
    u64 => format!("0..{}", u64::MAX),
    usize => format!("0..{}", usize::MAX),
    u32 => format!("0..{}", u32::MAX),
    u16 => "0..65535",
    u8 => "0..255",
    i32 => format!("{}..{}", i32::MIN, i32::MAX),
    i16 => "-32768..32767",
    i8 => "-128..127",
    f64 => "real",
    f32 => "real",
}

/// Implements [`IoxValue`] for collections.
macro_rules! collections {
    ($($name:ident => $word:literal,)*) => {
        $(impl<T: IoxValue> IoxValue for $name<T> {
            fn sort() -> String {
                format!("{}<{}>", $word, T::sort())
            }

            fn declare(types: &mut TypeDeclarations) {
                T::declare(types);
            }
        })*
    };
}

collections! {
    Vec => "list",
    BTreeSet => "set",
    HashSet => "set",
}

impl<T: IoxValue> IoxValue for Option<T> {
    fn sort() -> String {
        let sort = T::sort();
        if sort.contains("..") { format!("({sort})?") } else { format!("{sort}?") }
    }

    fn declare(types: &mut TypeDeclarations) {
        T::declare(types);
    }
}

impl<T: IoxValue> IoxValue for Box<T> {
    fn sort() -> String {
        T::sort()
    }

    fn declare(types: &mut TypeDeclarations) {
        T::declare(types);
    }
}

/// Implements [`IoxValue`] for maps.
macro_rules! maps {
    ($($name:ident)*) => {
        $(impl<K: IoxValue, T: IoxValue> IoxValue for $name<K, T> {
            fn sort() -> String {
                format!("map<{}, {}>", K::sort(), T::sort())
            }

            fn declare(types: &mut TypeDeclarations) {
                K::declare(types);
                T::declare(types);
            }
        })*
    };
}

maps! { BTreeMap HashMap }

/// Returns a model called `name` to begin with: the messages of the two enums, and one state in which every input may
/// be followed by every output. Say in it which output is right, and when.
#[must_use]
pub fn model_skeleton<I: IoxInput, O: IoxOutput>(name: &str) -> String {
    let (inputs, outputs) = (I::messages(), O::messages());
    let mut types = TypeDeclarations::default();
    for field in inputs.iter().chain(&outputs).flat_map(|message| &message.fields) {
        types.0.extend(field.types.0.clone());
    }
    let mut text = format!("model {name} {{\n");
    types.0.values().for_each(|declaration| push_line(&mut text, 1, declaration));
    inputs.iter().for_each(|message| push_line(&mut text, 1, &format!("input {}", declare(message))));
    outputs.iter().for_each(|message| push_line(&mut text, 1, &format!("output {}", declare(message))));
    text.push('\n');
    push_line(
        &mut text,
        1,
        "/// Waits for an input. Declare what the system remembers with `var NAME: TYPE = VALUE`.",
    );
    push_line(&mut text, 1, "state ready {");
    for input in &inputs {
        push_line(&mut text, 2, &format!("on {} -> answering", source_name(input.name)));
    }
    push_line(&mut text, 1, "}");
    text.push('\n');
    push_line(
        &mut text,
        1,
        "/// Any output is right here: add conditions (`when ...`) and values (`NAME(field: ...)`).",
    );
    push_line(&mut text, 1, "state answering {");
    for output in &outputs {
        push_line(&mut text, 2, &format!("emit {} -> ready", source_name(output.name)));
    }
    push_line(&mut text, 1, "}");
    text.push_str("}\n");
    text
}

fn push_line(text: &mut String, depth: usize, line: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{:width$}{line}", "", width = depth * 4);
}

/// Returns the declaration of a message as a model has it.
fn declare(message: &EnumMessage) -> String {
    let fields: Vec<String> =
        message.fields.iter().map(|field| format!("{}: {}", source_name(field.name), field.sort)).collect();
    let name = source_name(message.name);
    if fields.is_empty() { name.into_owned() } else { format!("{name}({})", fields.join(", ")) }
}

/// Returns how the messages of a model differ from those of the two enums, a sentence for each difference.
pub(crate) fn differences(model: &Model, inputs: &[EnumMessage], outputs: &[EnumMessage]) -> Vec<String> {
    let mut found = Vec::new();
    let kinds = [
        ("input", inputs, [GateKind::Input, GateKind::Input]),
        ("output", outputs, [GateKind::Output, GateKind::Observed]),
    ];
    for (word, messages, gates) in kinds {
        for gate in model.sts.gates.iter().filter(|gate| gates.contains(&gate.kind)) {
            let Some(message) = messages.iter().find(|message| *message.name == *gate.name) else {
                found.push(format!("the enum has no variant for the {word} `{}` of the model", gate.name));
                continue;
            };
            let fields: Vec<&str> = gate.fields.iter().map(|var| &*model.pool.var_info(*var).name).collect();
            let named: Vec<&str> = message.fields.iter().map(|field| field.name).collect();
            if fields.iter().any(|field| !named.contains(field)) || fields.len() != named.len() {
                let (fields, named) = (fields.join(", "), named.join(", "));
                found.push(format!(
                    "the {word} `{}` has the fields ({fields}) in the model and ({named}) in the enum",
                    gate.name
                ));
            }
        }
        for message in messages {
            if !model.sts.gates.iter().any(|gate| gates.contains(&gate.kind) && *gate.name == *message.name) {
                found.push(format!("the model has no {word} `{}`", message.name));
            }
        }
    }
    found
}
