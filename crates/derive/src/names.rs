//! Names of variants and fields in the model: those of Rust in another case, or those that an attribute gives.

use syn::{Attribute, Error, Ident, LitStr, Result};

/// The ways to write the words of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameCase {
    Lower,
    Upper,
    Snake,
    ScreamingSnake,
    Camel,
    Pascal,
}

/// The names of the ways, as serde has them.
const CASES: [(&str, NameCase); 6] = [
    ("lowercase", NameCase::Lower),
    ("UPPERCASE", NameCase::Upper),
    ("snake_case", NameCase::Snake),
    ("SCREAMING_SNAKE_CASE", NameCase::ScreamingSnake),
    ("camelCase", NameCase::Camel),
    ("PascalCase", NameCase::Pascal),
];

/// The attribute `#[iox(...)]` of a type, a variant or a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameAttribute {
    pub(crate) name: Option<String>,
    pub(crate) rename_all: Option<NameCase>,
}

impl NameAttribute {
    /// Reads the attributes of an item.
    ///
    /// # Errors
    /// If a key is unknown, or its value is none of those it may have.
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("iox")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    read.name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("rename_all") {
                    read.rename_all = Some(parse_case(&meta.value()?.parse()?)?);
                } else {
                    return Err(meta.error("expected `name = \"...\"` or `rename_all = \"...\"`"));
                }
                Ok(())
            })?;
        }
        Ok(read)
    }

    /// Returns the name of `ident` in the model: the one given, else its words in `case`.
    pub(crate) fn name_of(&self, ident: &Ident, case: Option<NameCase>) -> String {
        let rust_name = ident.to_string();
        let rust_name = rust_name.strip_prefix("r#").unwrap_or(&rust_name);
        match (&self.name, case) {
            (Some(name), _) => name.clone(),
            (None, Some(case)) => change_case(rust_name, case),
            (None, None) => rust_name.to_owned(),
        }
    }
}

fn parse_case(text: &LitStr) -> Result<NameCase> {
    let value = text.value();
    CASES.iter().find(|(name, _)| *name == value).map(|(_, case)| *case).ok_or_else(|| {
        let names: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
        Error::new(text.span(), format!("expected one of {}", names.join(", ")))
    })
}

/// Returns `name` with its words written in `case`; a word begins at a capital after a small letter, or at the last
/// capital of several (`HTTPGet` has two), and after `_`.
fn change_case(name: &str, case: NameCase) -> String {
    let words = words_of(name);
    let capital = |word: &String| {
        let mut letters = word.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        first + letters.as_str()
    };
    match case {
        NameCase::Lower => words.concat(),
        NameCase::Upper => words.concat().to_uppercase(),
        NameCase::Snake => words.join("_"),
        NameCase::ScreamingSnake => words.join("_").to_uppercase(),
        NameCase::Pascal => words.iter().map(capital).collect(),
        NameCase::Camel => words
            .iter()
            .enumerate()
            .map(|(at, word)| if at == 0 { word.clone() } else { capital(word) })
            .collect(),
    }
}

/// Returns the words of a name, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let follows_small = at > 0 && (letters[at - 1].is_lowercase() || letters[at - 1].is_ascii_digit());
        let ends_capitals = at > 0
            && letters[at - 1].is_uppercase()
            && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter == '_' || (letter.is_uppercase() && (follows_small || ends_capitals)) {
            words.push(String::new());
        }
        if let (false, Some(word)) = (letter == '_', words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_a_reader_would() {
        for (name, words) in [
            ("Push", "push"),
            ("PopAll", "pop all"),
            ("HTTPGet", "http get"),
            ("Set2Of3", "set2 of3"),
            ("snake_case", "snake case"),
            ("A", "a"),
        ] {
            assert_eq!(words_of(name).join(" "), words, "{name}");
        }
        for (case, name) in [
            (NameCase::Lower, "popall"),
            (NameCase::Upper, "POPALL"),
            (NameCase::Snake, "pop_all"),
            (NameCase::ScreamingSnake, "POP_ALL"),
            (NameCase::Camel, "popAll"),
            (NameCase::Pascal, "PopAll"),
        ] {
            assert_eq!(change_case("PopAll", case), name);
        }
    }
}
