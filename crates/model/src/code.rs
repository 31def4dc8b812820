//! The list of diagnostic codes: number, severity, title.
//!
//! Numbers are stable: `E01xx` text, `E02xx` names, `E03xx` types, `E04xx` models,
//! `E05xx` other formats, `W06xx` findings without a solver, `W07xx` findings that need one.
//! The longer explanation of each code is a page of the book, `docs/book/src/errors/CODE.md`,
//! embedded here so that `ioxide explain` works anywhere.

use crate::diag::Severity;

macro_rules! codes {
    ($($name:ident $id:ident $severity:ident $title:literal)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable number, such as `E0201`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => stringify!($id),)* }
            }

            /// How bad findings of this kind are.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// The kind in a few words.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// The page of the book about this code (Markdown).
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(
                        concat!("../../../docs/book/src/errors/", stringify!($id), ".md")
                    ),)*
                }
            }
        }
    };
}

codes! {
    UnexpectedToken E0101 Error "the text does not follow the grammar here"
}

impl Code {
    /// The code numbered `id` (`E0201` or `e0201`).
    #[must_use]
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_ordered_and_found_again() {
        let ids: Vec<_> = Code::ALL.iter().map(|code| &code.id()[1..]).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        for &code in Code::ALL {
            assert_eq!(Code::by_id(&code.id().to_lowercase()), Some(code));
        }
    }

    #[test]
    fn the_first_letter_tells_the_severity() {
        for &code in Code::ALL {
            assert_eq!(code.id().starts_with('E'), code.severity() == Severity::Error, "{}", code.id());
        }
    }

    #[test]
    fn every_explanation_is_headed_by_its_code() {
        for &code in Code::ALL {
            let heading = format!("# {}: {}\n", code.id(), code.title());
            assert!(code.explanation().starts_with(&heading), "{} should start with {heading:?}", code.id());
        }
    }
}
