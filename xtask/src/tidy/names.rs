//! One name per type, one place per citation, one word per thing.

use std::collections::{BTreeMap, BTreeSet};

use super::code::shipped;

/// Type names that may be declared more than once, each for a reason.
const SHARED: &[&str] = &[];

/// The types that the workspace declares and the papers that it cites.
#[derive(Default)]
pub(super) struct NameRegister {
    /// For each type name, its declarations outside of tests, as `file:line`.
    types: BTreeMap<String, Vec<String>>,
    /// For each paper key, the files whose comments cite it.
    citations: BTreeMap<String, BTreeSet<String>>,
}

impl NameRegister {
    /// Takes down the types that `file` declares and the papers it cites.
    pub(super) fn read(&mut self, file: &str, text: &str) {
        for (number, line) in shipped(text) {
            if let Some(name) = declared_type(line) {
                self.types.entry(name.to_owned()).or_default().push(format!("{file}:{number}"));
            }
        }
        let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
        for key in comments.flat_map(cited) {
            self.citations.entry(key.to_owned()).or_default().insert(file.to_owned());
        }
    }

    /// Types with the name of another one.
    pub(super) fn doubles(&self) -> Vec<String> {
        let several = self.types.iter().filter(|(name, at)| at.len() > 1 && !SHARED.contains(&name.as_str()));
        several
            .map(|(name, at)| format!("`{name}` is the name of {} types: {}", at.len(), at.join(", ")))
            .collect()
    }

    /// Citations that `references` does not explain.
    pub(super) fn uncited(&self, references: &str) -> Vec<String> {
        let missing = self.citations.iter().filter(|(key, _)| !references.contains(&format!("**[{key}]**")));
        missing
            .map(|(key, files)| {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                format!("[{key}] is not in docs/book/src/references.md: {}", files.join(", "))
            })
            .collect()
    }

    /// Types that the glossary of `architecture` names and nobody declares. A row of it is
    /// `| word | meaning | `Type`, `Type` |`.
    pub(super) fn unknown_in_glossary(&self, architecture: &str) -> Vec<String> {
        let Some((_, glossary)) = architecture.split_once("\n## Glossary\n") else {
            return vec!["ARCHITECTURE.md has no glossary".into()];
        };
        let section = glossary.split("\n## ").next().unwrap_or(glossary);
        let rows = section.lines().filter(|line| line.starts_with('|'));
        let types = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next()).flat_map(find_quoted);
        types
            .filter(|name| !self.types.contains_key(*name))
            .map(|name| format!("ARCHITECTURE.md: the glossary names the type `{name}`, which is not there"))
            .collect()
    }
}

/// The name of the type that a line declares.
fn declared_type(line: &str) -> Option<&str> {
    let mut code = line.trim_start();
    // An associated type is named after what its trait asks for.
    if code.starts_with("type ") && line.starts_with(' ') {
        return None;
    }
    if let Some(rest) = code.strip_prefix("pub") {
        code =
            rest.strip_prefix('(').map_or(rest, |rest| rest.split_once(')').map_or(rest, |(_, rest)| rest));
        code = code.trim_start();
    }
    let (word, rest) = code.split_once(' ')?;
    if !matches!(word, "struct" | "enum" | "trait" | "type") {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// The keys of papers in a line: `[Chow78]`, or `[HP13, KP21 sec. 2]`.
fn cited(line: &str) -> impl Iterator<Item = &str> {
    line.split('[').skip(1).flat_map(|rest| keys_of(rest.split_once(']').map_or("", |(inside, _)| inside)))
}

/// Returns the keys of papers in a citation, whose text stands between brackets.
pub(super) fn keys_of(citation: &str) -> impl Iterator<Item = &str> {
    citation.split(',').filter_map(|part| part.split_whitespace().next()).filter(|word| is_key(word))
}

/// Returns whether a text is the key of a paper: two or more letters, the first a capital, and a year of two digits.
fn is_key(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    text.len() == letters.len() + 2
        && letters.len() > 1
        && letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_alphabetic())
}

/// Returns the words between back quotes.
pub(super) fn find_quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(files: &[(&str, &str)]) -> NameRegister {
        let mut all = NameRegister::default();
        for (file, text) in files {
            all.read(file, text);
        }
        all
    }

    #[test]
    fn a_second_type_of_a_name_is_found_tests_apart() {
        let all = register(&[
            ("a.rs", "pub struct Run;\nimpl X {\n    type Item = u8;\n}"),
            ("b.rs", "pub(crate) enum Run {\n}\n#[cfg(test)]\nmod tests {\n    struct Probe;\n}"),
            ("c.rs", "trait Probe {}\nimpl Y {\n    type Item = u8;\n}"),
        ]);
        assert_eq!(all.doubles(), ["`Run` is the name of 2 types: a.rs:1, b.rs:1"]);
    }

    #[test]
    fn a_paper_nobody_knows_is_found() {
        let all = register(&[(
            "a.rs",
            "//! As in \\[Chow78, Older77 §2.4], [`Link`], [1] and \\[Other99].\nlet x = y[Z80];",
        )]);
        let missing = all.uncited("- **[Chow78]** T. S. Chow");
        assert_eq!(missing.len(), 2, "{missing:?}");
    }

    #[test]
    fn the_glossary_names_types_that_exist() {
        let all = register(&[("a.rs", "pub struct Switch;")]);
        let text = "# A\n## Glossary\n\n| word | is | type |\n| --- | --- | --- |\n\
                    | switch | x `y` | `Switch`, `Edge` |\n\n## B\n| `Z` |\n";
        assert_eq!(all.unknown_in_glossary(text).len(), 1);
        assert_eq!(all.unknown_in_glossary("# A").len(), 1);
    }
}
