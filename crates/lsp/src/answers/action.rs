//! Quick fixes: the changes that findings propose.

use ioxide_model::diag::Diagnostic;
use lsp_types::{Range, TextEdit};

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
