//! Macros for the crate `ioxide`, which exports them: messages of a model as Rust enums.
//!
//! `IoxInput` reads inputs, `IoxOutput` writes outputs, `IoxValue` is for structs and enums inside them. The generated
//! code converts fields with serde, and names every type by its full path, so it needs no imports.
//!
//! *Promises.* What cannot be a message (a tuple variant, a union, a type parameter) is an error at its place.

mod message;
mod names;
mod value;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::message::MessageKind;

/// Makes an enum the inputs of a model: `input.read()` then gives it.
///
/// A variant is an input, its fields are those of the input. `Push` is called `push` in the model, `PopAll` `pop_all`;
/// `#[iox(name = "PUSH")]` above a variant or a field names it otherwise, and `#[iox(rename_all = "UPPERCASE")]` above
/// the enum all its variants (`lowercase`, `UPPERCASE`, `snake_case`, `SCREAMING_SNAKE_CASE`, `camelCase`,
/// `PascalCase`).
#[proc_macro_derive(IoxInput, attributes(iox))]
pub fn derive_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    message::derive(&item, MessageKind::Input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes an enum the outputs of a model: `outputs.send(Output::Value { n })` then emits one. Names are as those of
/// `IoxInput`.
#[proc_macro_derive(IoxOutput, attributes(iox))]
pub fn derive_output(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    message::derive(&item, MessageKind::Output).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct a record, or an enum an enum of models, for fields of messages. It must also implement `Serialize` or
/// `Deserialize` of serde, which convert it.
#[proc_macro_derive(IoxValue, attributes(iox))]
pub fn derive_value(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    value::derive(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}
