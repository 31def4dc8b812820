//! An open document: its text, its analysis and its findings.

use std::cell::OnceCell;
use std::sync::Arc;

use ioxide_model::diag::Diagnostic;
use ioxide_model::sts::Model;
use lsp_types::Uri;

use super::deep::DeepCheck;
use crate::analysis::TextAnalysis;
use crate::answers::lens::LastCampaign;
use crate::text::DocumentText;

/// A document that an editor has open.
pub struct OpenDocument {
    /// Its address, as the editor writes it.
    pub uri: Uri,
    /// Its path.
    pub path: String,
    /// Its version, as the editor counts.
    pub version: i32,
    text: DocumentText,
    analysis: OnceCell<Arc<TextAnalysis>>,
    /// The findings about its text; `None` until they were sought.
    pub findings: Option<Vec<Diagnostic>>,
    /// The model of its text, `None` inside if it does not compile; `None` until it was compiled.
    pub model: Option<Option<Arc<Model>>>,
    /// The deep check of its text; `None` if none was begun.
    pub deep: Option<DeepCheck>,
    /// The last recorded campaign on it, `None` inside if there is none; `None` until it was read.
    pub campaign: OnceCell<Option<LastCampaign>>,
}

impl OpenDocument {
    /// Returns a document with this text.
    #[must_use]
    pub fn new(uri: Uri, path: String, version: i32, text: String) -> Self {
        Self {
            uri,
            path,
            version,
            text: DocumentText::new(text),
            analysis: OnceCell::new(),
            findings: None,
            model: None,
            deep: None,
            campaign: OnceCell::new(),
        }
    }

    /// Replaces the text, and drops everything known about the old one.
    pub fn change(&mut self, version: i32, text: DocumentText) {
        let (uri, path) = (self.uri.clone(), std::mem::take(&mut self.path));
        *self = Self { text, ..Self::new(uri, path, version, String::new()) };
    }

    /// Returns its text.
    #[must_use]
    pub fn text(&self) -> &DocumentText {
        &self.text
    }

    /// Returns the analysis of its text, made at the first call.
    #[must_use]
    pub fn analysis(&self) -> &Arc<TextAnalysis> {
        self.analysis.get_or_init(|| Arc::new(TextAnalysis::new(&self.path, self.text.clone())))
    }

    /// Returns the findings about its text so far, those of the deep check included.
    #[must_use]
    pub fn all_findings(&self) -> Vec<Diagnostic> {
        let deep = self.deep.as_ref().map(DeepCheck::findings).unwrap_or_default();
        self.findings.iter().flatten().cloned().chain(deep).collect()
    }
}
