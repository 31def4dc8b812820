//! The text of the model as the page sees it, with the findings in it.

use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::Span;
use serde::Serialize;

use super::model::ModelView;
use super::{VERSION, bounded_text};
use crate::edit::{AnalysedText, ModelDraft, ModelEditor, NoRepair, TextRepair};

/// The number of findings that are listed. Chosen by feel: whoever mends a text begins with the first.
const MAX_FINDINGS: usize = 200;

/// The text of the model.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceView {
    version: u32,
    /// The reason why the text cannot be edited here; empty if it can.
    refusal: String,
    /// The number of changes so far.
    revision: u32,
    text: String,
    findings: Vec<FindingView>,
    /// True if the file has this text.
    saved: bool,
    /// True if another program has changed the file.
    changed_on_disk: bool,
    /// True if there are recorded runs that changes of the text could explain.
    has_runs: bool,
}

/// The answer to a change of the text.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EditView<'v> {
    version: u32,
    /// The number of the change.
    revision: u32,
    findings: Vec<FindingView>,
    /// True if the file has this text.
    saved: bool,
    /// The model; null if the text has errors, or nothing of the model was changed.
    model: Option<&'v ModelView>,
}

/// A finding in the text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingView {
    severity: FindingSeverity,
    /// The code that `ioxide explain` explains.
    code: &'static str,
    message: String,
    /// The file, if it is another than the one that is edited.
    file: Option<String>,
    /// The line, from 1.
    line: usize,
    /// The column in characters, from 1.
    column: usize,
    /// The place in the text, in units of UTF-16, as browsers count; empty in another file.
    from: usize,
    to: usize,
    /// Facts that explain it, and places with their file, line and text.
    notes: Vec<String>,
    /// Advice on what to do next.
    helps: Vec<String>,
    /// A change that would mend it.
    fix: Option<FixView>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// The text has no model.
    Error,
    /// The text is probably not what was meant.
    Warning,
    /// Nothing is wrong.
    Hint,
}

/// The changes of the text that explain the recorded runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RepairsView {
    version: u32,
    /// The revision that they change.
    revision: u32,
    /// The reason why there is none; empty if there is one.
    refusal: String,
    repairs: Vec<RepairView>,
}

/// A small change of the text.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RepairView {
    /// The change in words.
    reason: String,
    /// The change as a unified diff.
    diff: String,
    /// The effects beyond the runs, each as a sentence.
    effects: Vec<String>,
    /// The changed text.
    text: String,
}

impl RepairsView {
    /// Returns the view of what was found for a revision of the text.
    #[must_use]
    pub fn new(revision: u32, found: Result<Vec<TextRepair>, NoRepair>) -> Self {
        let view = |TextRepair { reason, diff, effects, text }| RepairView { reason, diff, effects, text };
        let (refusal, repairs) = match found {
            Ok(repairs) => (String::new(), repairs.into_iter().map(view).collect()),
            Err(NoRepair(why)) => (why, Vec::new()),
        };
        Self { version: VERSION, revision, refusal, repairs }
    }
}

/// A text to insert in the place of another; places are counted in units of UTF-16.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FixView {
    from: usize,
    to: usize,
    text: String,
}

impl SourceView {
    /// Returns the view of `draft`.
    #[must_use]
    pub fn new(draft: &mut ModelDraft, editor: &dyn ModelEditor) -> Self {
        let findings = draft.findings(editor).to_vec();
        Self {
            version: VERSION,
            refusal: String::new(),
            revision: draft.revision(),
            text: draft.text().to_owned(),
            findings,
            saved: draft.is_saved(),
            changed_on_disk: draft.is_changed_on_disk(editor),
            has_runs: editor.has_runs(),
        }
    }

    /// Returns the view of a text that cannot be edited, with the reason.
    #[must_use]
    pub fn from_refusal(refusal: &str) -> Self {
        Self {
            version: VERSION,
            refusal: refusal.to_owned(),
            revision: 0,
            text: String::new(),
            findings: Vec::new(),
            saved: true,
            changed_on_disk: false,
            has_runs: false,
        }
    }
}

impl<'v> EditView<'v> {
    /// Returns the view of `draft` after a change, with the model it has become.
    #[must_use]
    pub fn new(draft: &mut ModelDraft, editor: &dyn ModelEditor, model: Option<&'v ModelView>) -> Self {
        let findings = draft.findings(editor).to_vec();
        Self { version: VERSION, revision: draft.revision(), findings, saved: draft.is_saved(), model }
    }
}

impl FindingView {
    /// Returns the views of the findings in a text, errors first, then in the order of their places.
    #[must_use]
    pub fn list(analysed: &AnalysedText) -> Vec<Self> {
        let mut sorted: Vec<&Diagnostic> = analysed.diagnostics.iter().collect();
        let is_elsewhere = |diagnostic: &Diagnostic| diagnostic.span.file != analysed.file;
        sorted.sort_by_key(|it| (std::cmp::Reverse(it.severity), is_elsewhere(it), it.span.start));
        sorted.into_iter().take(MAX_FINDINGS).map(|diagnostic| Self::new(analysed, diagnostic)).collect()
    }

    fn new(analysed: &AnalysedText, diagnostic: &Diagnostic) -> Self {
        let sources = &analysed.sources;
        let place = sources.line_column(diagnostic.span);
        let other = diagnostic.span.file != analysed.file;
        let (from, to) = if other { (0, 0) } else { place_in_text(analysed, diagnostic.span) };
        let label = |span: Span, text: &str| {
            let place = sources.line_column(span);
            bounded_text(&format!("{}:{}: {text}", sources.file(span.file).name, place.line))
        };
        let labels = diagnostic.labels.iter().map(|it| label(it.span, &it.text));
        let fix = diagnostic.fix.as_ref().filter(|fix| fix.span.file == analysed.file).map(|fix| {
            let (from, to) = place_in_text(analysed, fix.span);
            FixView { from, to, text: fix.replacement.clone() }
        });
        Self {
            severity: match diagnostic.severity {
                Severity::Error => FindingSeverity::Error,
                Severity::Warning => FindingSeverity::Warning,
                Severity::Hint => FindingSeverity::Hint,
            },
            code: diagnostic.code.id(),
            message: bounded_text(&diagnostic.message),
            file: other.then(|| bounded_text(&sources.file(diagnostic.span.file).name)),
            line: place.line,
            column: place.column,
            from,
            to,
            notes: labels.chain(diagnostic.notes.iter().map(|note| bounded_text(note))).collect(),
            helps: diagnostic.helps.iter().map(|help| bounded_text(help)).collect(),
            fix,
        }
    }
}

/// Returns the place of `span` in the text that is edited, in units of UTF-16.
fn place_in_text(analysed: &AnalysedText, span: Span) -> (usize, usize) {
    let text = &analysed.sources.file(analysed.file).text;
    let units = |end: u32| {
        let before = text.get(..end as usize).unwrap_or(text);
        before.encode_utf16().count()
    };
    (units(span.start), units(span.end))
}
