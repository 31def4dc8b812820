//! Diagnostics as data. Nothing here renders: terminal, JSON and editors read the same value.

use crate::code::Code;
use crate::source::Span;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A hint: worth knowing; nothing is wrong.
    Hint,
    /// A warning: the text is probably not what was meant.
    Warning,
    /// An error: the text has no model.
    Error,
}

/// A second place that explains the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanLabel {
    /// The place.
    pub span: Span,
    /// The explanation shown at the place.
    pub text: String,
}

/// A change that would mend the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedFix {
    /// The text to replace.
    pub span: Span,
    /// The text to insert.
    pub replacement: String,
}

/// One finding: its code, place, explanation, and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding; `ioxide explain` expands it.
    pub code: Code,
    /// The severity, at first that of the code.
    pub severity: Severity,
    /// The place it is about.
    pub span: Span,
    /// The finding, lower case, no full stop.
    pub message: String,
    /// The text under the carets; the message itself if empty.
    pub caret: String,
    /// Other places that explain it.
    pub labels: Vec<SpanLabel>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// Advice on what to do next.
    pub helps: Vec<String>,
    /// A change that would mend it.
    pub fix: Option<SuggestedFix>,
}

impl Diagnostic {
    /// A finding of the severity its code has.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            span,
            message: message.into(),
            caret: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
        }
    }

    /// Sets the text under the carets.
    #[must_use]
    pub fn caret(mut self, text: impl Into<String>) -> Self {
        self.caret = text.into();
        self
    }

    /// Adds a second place with its explanation.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(SpanLabel { span, text: text.into() });
        self
    }

    /// Adds a fact that explains the finding.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice on what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// Sets the proposed change: replace the text at `span` by `replacement`.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(SuggestedFix { span, replacement: replacement.into() });
        self
    }

    /// Returns whether the finding is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
