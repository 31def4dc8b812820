//! Doc comments that name their subject, and citations in them that rustdoc does not take for links.
//!
//! "What came." and "How many are left." leave the reader to find out of what. A doc comment begins with the thing
//! ("The number of open states."), or with what an item does ("Returns ...").
//!
//! A paper is cited as `\[Chow78]`: without the backslash rustdoc looks for an item of that name, and warns.

use super::names::keys_of;

/// Words that open a question, or a sentence without a subject.
const FRAGMENTS: &[&str] = &["What", "How", "Whether", "Who", "Which", "Why", "That"];

/// Returns the doc comments of `text` that begin with a question word, as `line: sentence`.
pub(super) fn fragments(text: &str) -> Vec<String> {
    let mut before = "";
    let mut found = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if let Some(sentence) = first_of_doc(before, line)
            && FRAGMENTS.iter().any(|word| begins_with(sentence, word))
        {
            found.push(format!("line {}: a doc names its subject: `{sentence}`", at + 1));
        }
        before = line;
    }
    found
}

/// Returns the text of `line` if a doc comment begins with it.
fn first_of_doc<'t>(before: &str, line: &'t str) -> Option<&'t str> {
    ["/// ", "//! "]
        .iter()
        .filter(|mark| !before.starts_with(mark.trim()))
        .find_map(|mark| line.strip_prefix(*mark))
}

/// Returns the citations in doc comments of `text` that rustdoc would read as links, as `line: citation`.
pub(super) fn citations_read_as_links(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).enumerate();
    let docs = lines.filter(|(_, line)| line.starts_with("///") || line.starts_with("//!"));
    docs.flat_map(|(at, line)| find_unescaped(line).map(move |citation| (at, citation)))
        .map(|(at, citation)| {
            format!("line {}: write `\\[{citation}]`, since rustdoc reads it as a link", at + 1)
        })
        .collect()
}

/// Returns the citations of a line that stand in brackets without a backslash. Code between back quotes is no link.
fn find_unescaped(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').step_by(2).flat_map(|prose| {
        prose.match_indices('[').filter(|(at, _)| !prose[..*at].ends_with('\\')).filter_map(|(at, _)| {
            // A citation may go on in the next line.
            let citation = prose[at + 1..].split(']').next()?;
            keys_of(citation).next().map(|_| citation)
        })
    })
}

fn begins_with(sentence: &str, word: &str) -> bool {
    sentence.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_found_where_a_doc_begins() {
        let text = "//! How it works.\n\n/// What came.\nfn a() {}\n/// Returns\n/// What it says.\nfn b() {}\n\
            /// Whatever is sent.\n// Why: because.\n";
        let at: Vec<String> =
            fragments(text).iter().map(|it| it.split(':').next().unwrap_or("").to_owned()).collect();
        assert_eq!(at, ["line 1", "line 3"]);
    }

    /// Defect: 110 citations were links to nowhere in the pages that rustdoc makes.
    #[test]
    fn citations_without_a_backslash_are_found() {
        let text = "//! After [Chow78] and \\[LPB94].\n/// \\[HP13] ([KP21, sec. 2]), `[DEY05]`, [`Chow78`], [Gill62,\n\
            // [SPY12]\nlet x = y[Z80];\n/// [Self::a12], [link](Wp91)\n";
        let found = citations_read_as_links(text);
        let at: Vec<&str> = found.iter().map(|it| it.split(", since").next().unwrap_or("")).collect();
        assert_eq!(
            at,
            ["line 1: write `\\[Chow78]`", "line 2: write `\\[KP21, sec. 2]`", "line 2: write `\\[Gill62,]`"]
        );
    }
}
