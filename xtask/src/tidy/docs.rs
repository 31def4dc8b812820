//! Doc comments that name their subject.
//!
//! "What came." and "How many are left." leave the reader to find out of what. A doc comment begins with the thing
//! ("The number of open states."), or with what an item does ("Returns ...").

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
}
