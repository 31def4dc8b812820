//! Formatting: the canonical layout as one edit of the lines that differ.

use ioxide_lang::format;
use ioxide_model::source::Sources;
use lsp_types::TextEdit;

use crate::analysis::TextAnalysis;

/// Returns the edit that gives the text its canonical layout, no edit if it has it; `None` if the text has errors, or
/// its language no canonical layout.
#[must_use]
pub fn format_edits(analysis: &TextAnalysis) -> Option<Vec<TextEdit>> {
    let mut sources = Sources::new();
    let old = analysis.text.as_str();
    let file = sources.add(&analysis.path, old);
    let new = format(&sources, file).ok()?;
    if new == old {
        return Some(Vec::new());
    }
    // Whole lines at both ends that stay are left alone, so that cursors and folds survive.
    let front = common_length(old.split_inclusive('\n'), new.split_inclusive('\n'));
    let behind =
        common_length(old[front..].split_inclusive('\n').rev(), new[front..].split_inclusive('\n').rev());
    let range = analysis.text.range(front, old.len() - behind);
    Some(vec![TextEdit { range, new_text: new[front..new.len() - behind].to_owned() }])
}

/// The bytes of the lines that both begin with.
fn common_length<'t>(one: impl Iterator<Item = &'t str>, other: impl Iterator<Item = &'t str>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).map(|(line, _)| line.len()).sum()
}
