//! Quick fixes: the changes that findings propose, and those that explain a failing campaign.

use ioxide_model::diag::Diagnostic;
use lsp_types::{Range, TextEdit};

use super::lens::LastCampaign;
use crate::analysis::TextAnalysis;
use crate::text::DocumentText;

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct QuickFix {
    /// The text of the menu entry.
    pub title: String,
    /// The change.
    pub edit: TextEdit,
    /// The finding it mends, by place and code.
    pub mends: (Range, &'static str),
}

/// Returns the changes proposed by findings that touch `range`.
#[must_use]
pub fn find_fixes(text: &DocumentText, findings: &[Diagnostic], range: Range) -> Vec<QuickFix> {
    let (from, to) = (text.offset(range.start), text.offset(range.end));
    let touches =
        |finding: &&Diagnostic| finding.span.start as usize <= to && finding.span.end as usize >= from;
    findings.iter().filter(touches).filter_map(|finding| quick_fix(text, finding)).collect()
}

fn quick_fix(text: &DocumentText, finding: &Diagnostic) -> Option<QuickFix> {
    let fix = finding.fix.as_ref()?;
    if fix.span.file != finding.span.file {
        return None;
    }
    let (start, end) = (fix.span.start as usize, fix.span.end as usize);
    let old = text.as_str().get(start..end)?;
    let title = match (old.is_empty(), fix.replacement.is_empty()) {
        (true, _) => format!("insert `{}`", fix.replacement.trim()),
        (false, true) => format!("remove `{old}`"),
        (false, false) => format!("replace `{old}` by `{}`", fix.replacement),
    };
    let edit = TextEdit { range: text.range(start, end), new_text: fix.replacement.clone() };
    let place = text.range(finding.span.start as usize, finding.span.end as usize);
    Some(QuickFix { title, edit, mends: (place, finding.code.id()) })
}

/// The text of a model with a change that explains recorded runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedText {
    /// The whole text.
    pub text: String,
    /// The change, for people.
    pub reason: String,
}

/// Returns the first transition in `range` that a failing run of the campaign contradicts.
#[must_use]
pub fn failing_transition<'a>(
    analysis: &'a TextAnalysis,
    last: &LastCampaign,
    range: Range,
) -> Option<&'a str> {
    let (from, to) = (analysis.text.offset(range.start), analysis.text.offset(range.end));
    let touched = analysis.index.switches.iter().filter(|it| it.whole.start <= to && it.whole.end >= from);
    let mut labels = touched.flat_map(|it| &it.labels);
    labels.find(|label| last.failing.contains(*label)).map(String::as_str)
}

/// Returns the edit that makes `new` of a text, without what both have at their beginnings and ends.
#[must_use]
pub fn smallest_edit(text: &DocumentText, new: &str) -> TextEdit {
    let old = text.as_str();
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let rest = (old[start..].chars().rev()).zip(new[start..].chars().rev());
    let end: usize = rest.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let new_text = new[start..new.len() - end].to_owned();
    TextEdit { range: text.range(start, old.len() - end), new_text }
}
