//! Readers: text to [`Listing`], never a panic, an error with its line otherwise.
//!
//! Four forms are known: the DOT dialects of the public benchmark collections,
//! KISS2, and tables of four columns (`state input output next`) with names or
//! with numbers only.

mod dot;
mod kiss;
mod table;

pub use dot::dot;
pub use kiss::kiss2;
pub use table::{numbers, table};

use crate::error::ReadError;
use crate::mealy::Listing;

/// A text form of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Graphviz, edges labelled `input/output`.
    Dot,
    /// Berkeley KISS2.
    Kiss2,
    /// Four columns of names; the first state is initial.
    Table,
    /// Four columns of numbers; state 0 is initial.
    Numbers,
}

impl Form {
    /// The form that files with this extension have.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "dot" | "gv" => Some(Self::Dot),
            "kiss" | "kiss2" => Some(Self::Kiss2),
            "txt" => Some(Self::Table),
            "fsm" => Some(Self::Numbers),
            _ => None,
        }
    }
}

/// Reads `text` as `form`.
pub fn read(form: Form, text: &str) -> Result<Listing, ReadError> {
    match form {
        Form::Dot => dot(text),
        Form::Kiss2 => kiss2(text),
        Form::Table => table(text),
        Form::Numbers => numbers(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [Form; 4] = [Form::Dot, Form::Kiss2, Form::Table, Form::Numbers];

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            for form in FORMS {
                let _ = read(form, &text);
            }
        }

        #[test]
        fn almost_machines_are_read_or_refused(
            text in "(digraph|\\.i 2|\\.r|\\.e|[ {}\\[\\]\"/\\\\;=>\n-]|label|__start0|s[01]|[01*#]){0,60}",
        ) {
            for form in FORMS {
                let _ = read(form, &text);
            }
        }
    }
}
