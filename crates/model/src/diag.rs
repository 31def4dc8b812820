//! Diagnostics as data. Nothing here renders: terminal, JSON and editors read the same value.

use crate::code::Code;
use crate::source::Span;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Hint,
    /// Probably not what was meant.
    Warning,
    /// The text has no model.
    Error,
}

/// A second place that explains the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanLabel {
    /// The place.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// A change that would mend the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedFix {
    /// The text to replace.
    pub span: Span,
    /// What to write instead.
    pub replacement: String,
}

/// One finding: what, where, why, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding; `ioxide explain` expands it.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The place it is about.
    pub span: Span,
    /// The finding, lower case, no full stop.
    pub message: String,
    /// What to write under the carets; the message itself if empty.
    pub caret: String,
    /// Other places that explain it.
    pub labels: Vec<SpanLabel>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// What to do next.
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

    /// Says what to write under the carets.
    #[must_use]
    pub fn caret(mut self, text: impl Into<String>) -> Self {
        self.caret = text.into();
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(SpanLabel { span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// Proposes a change.
    #[must_use]
    pub fn fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(SuggestedFix { span, replacement: replacement.into() });
        self
    }

    /// Whether the finding is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
