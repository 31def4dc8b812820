//! Names of a description as names of a model: ASCII letters, digits and `_`, each once.

use std::collections::BTreeSet;

/// The reserved words of expressions, which are no names.
const RESERVED: [&str; 12] =
    ["if", "then", "else", "match", "exists", "forall", "in", "true", "false", "none", "some", "when"];

/// Names that are taken already.
#[derive(Clone, Debug, Default)]
pub struct TakenNames(BTreeSet<String>);

impl TakenNames {
    /// `name`, or the first of `name_2`, `name_3`, … that is not taken.
    pub fn fresh_name(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        let mut at = 2;
        while !self.0.insert(found.clone()) {
            found = format!("{name}_{at}");
            at += 1;
        }
        found
    }
}

/// The words of a text: runs of letters and digits, and `camelCase` in two.
fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_inside, mut was_lower) = (false, false);
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() {
            is_inside = false;
            continue;
        }
        match words.last_mut() {
            Some(last) if is_inside && !(was_lower && letter.is_ascii_uppercase()) => last.push(letter),
            _ => words.push(letter.to_string()),
        }
        (is_inside, was_lower) = (true, letter.is_ascii_lowercase() || letter.is_ascii_digit());
    }
    words
}

/// `listAllPets` and `list all-pets` become `list_all_pets`.
pub fn snake_case(text: &str) -> String {
    let joined = split_words(text).join("_").to_ascii_lowercase();
    let is_bad = joined.is_empty() || joined.starts_with(|c: char| c.is_ascii_digit());
    match joined {
        joined if is_bad => format!("x{joined}"),
        joined if RESERVED.contains(&joined.as_str()) => format!("{joined}_"),
        joined => joined,
    }
}

/// `pet-store` becomes `PetStore`.
pub fn pascal_case(text: &str) -> String {
    let capital = |word: String| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    let joined: String = split_words(text).into_iter().map(capital).collect();
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("X{joined}") }
}

/// Returns the text itself if it is a name in models, else a similar name.
pub fn field_name(text: &str) -> String {
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !RESERVED.contains(&text);
    if is_name { text.to_owned() } else { snake_case(text) }
}
