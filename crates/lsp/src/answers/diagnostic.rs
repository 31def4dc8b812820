//! Findings as editors show them.

use ioxide_model::code::Code;
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{FileId, Sources, Span};
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Range, Uri,
};
use rustc_hash::FxHashMap;

use crate::text::DocumentText;

/// A converter of the findings about some texts into those of the protocol.
pub struct FindingsView<'s> {
    sources: &'s Sources,
    texts: FxHashMap<FileId, DocumentText>,
    uri: &'s dyn Fn(&str) -> Option<Uri>,
}

impl<'s> FindingsView<'s> {
    /// Converts findings about `sources`; `uri` gives the address of a file.
    pub fn new(sources: &'s Sources, uri: &'s dyn Fn(&str) -> Option<Uri>) -> Self {
        Self { sources, texts: FxHashMap::default(), uri }
    }

    /// Returns `finding` for the protocol.
    pub fn to_protocol(&mut self, finding: &Diagnostic) -> lsp_types::Diagnostic {
        let mut related = Vec::new();
        for label in &finding.labels {
            let Some(uri) = (self.uri)(&self.sources.file(label.span.file).name) else { continue };
            let location = Location { uri, range: self.range_of(label.span) };
            related.push(DiagnosticRelatedInformation { location, message: label.text.clone() });
        }
        lsp_types::Diagnostic {
            range: self.range_of(finding.span),
            severity: Some(protocol_severity(finding.severity)),
            code: Some(NumberOrString::String(finding.code.id().to_owned())),
            code_description: None,
            source: Some("ioxide".to_owned()),
            message: full_message(finding),
            related_information: (!related.is_empty()).then_some(related),
            tags: is_unused(finding).then(|| vec![DiagnosticTag::UNNECESSARY]),
            data: None,
        }
    }

    /// Returns a finding about a text that is used here, placed at `range` of this text.
    pub fn to_protocol_at(&mut self, finding: &Diagnostic, range: Range) -> lsp_types::Diagnostic {
        let place = self.sources.line_column(finding.span);
        let file = &self.sources.file(finding.span.file).name;
        let message = format!("{file}:{}:{}: {}", place.line, place.column, finding.message);
        lsp_types::Diagnostic { range, message, related_information: None, ..self.to_protocol(finding) }
    }

    fn range_of(&mut self, span: Span) -> Range {
        let text = self
            .texts
            .entry(span.file)
            .or_insert_with(|| DocumentText::new(self.sources.file(span.file).text.clone()));
        text.range(span.start as usize, span.end as usize)
    }
}

/// Returns whether a finding reports something unused, which editors show faded.
fn is_unused(finding: &Diagnostic) -> bool {
    matches!(
        finding.code,
        Code::UnusedVariable
            | Code::UnusedGate
            | Code::UnusedConstant
            | Code::UnusedFunction
            | Code::UnusedType
            | Code::UnusedClock
    )
}

/// Returns the message of a finding with its notes and helps.
#[must_use]
pub fn full_message(finding: &Diagnostic) -> String {
    let notes = finding.notes.iter().map(|note| format!("\nnote: {note}"));
    let helps = finding.helps.iter().map(|help| format!("\nhelp: {help}"));
    format!("{}{}{}", finding.message, notes.collect::<String>(), helps.collect::<String>())
}

/// Returns the severity of the protocol.
fn protocol_severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}
