//! The text of the model, edited on the page: analysed while it is typed, and saved to its file.
//!
//! A [`ModelEditor`] of the front end knows how a text becomes a model, and where the file is. A [`ModelDraft`] is the
//! text under way. Every change of it gets the next revision, and names the one it began from, so two pages do not
//! overwrite each other's changes without notice.
//!
//! *Promises.* No path comes from the page: only the file given at start is written, and only while it has the text
//! that the draft began from.

use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::Model;
use thiserror::Error;

use crate::view::edit::FindingView;

/// The reason why the file of the model cannot be read or written, in the words of its editor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct FileError(pub String);

/// A way to turn texts into models, and to read and write the one file that the explorer was started on.
pub trait ModelEditor: Send + Sync {
    /// Returns the model that `text` describes, with all findings.
    fn analyse(&self, text: &str) -> AnalysedText;

    /// Returns the text of the file as it is now.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read(&self) -> Result<String, FileError>;

    /// Replaces the text of the file, completely or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn write(&self, text: &str) -> Result<(), FileError>;

    /// Returns whether there are recorded runs that changes of the model could explain.
    fn has_runs(&self) -> bool;

    /// Returns small changes of `text` under which the model allows every recorded run, the best first; the search
    /// takes a few seconds.
    ///
    /// # Errors
    /// The reason why there is none, for people.
    fn find_repairs(&self, text: &str) -> Result<Vec<TextRepair>, NoRepair>;
}

/// A small change of a text that explains recorded runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRepair {
    /// The change in words.
    pub reason: String,
    /// The change as a unified diff.
    pub diff: String,
    /// The effects beyond the runs, each as a sentence.
    pub effects: Vec<String>,
    /// The changed text.
    pub text: String,
}

/// The reason why no change explains the recorded runs, in the words of the editor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NoRepair(pub String);

/// A text that was analysed.
pub struct AnalysedText {
    /// The text, and those it refers to.
    pub sources: Sources,
    /// The text itself.
    pub file: FileId,
    /// The model; `None` if there are errors.
    pub model: Option<Model>,
    /// The findings, with their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason why a request about the text is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditRefusal {
    /// The draft was changed after the revision that the request names.
    #[error("the text was changed on another page")]
    Outdated,
    /// The file has another text than the draft began from.
    #[error("the file was changed by another program; load it again, or save your text elsewhere")]
    ChangedOnDisk,
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The text of the model under way.
///
/// Lines end with `\n`, as browsers have them; the file keeps the line ends it had.
pub struct ModelDraft {
    /// The number of changes so far.
    revision: u32,
    text: String,
    /// The text of the file when it was read or written last.
    base: String,
    /// The findings in the text; `None` until it is analysed.
    findings: Option<Vec<FindingView>>,
}

impl ModelDraft {
    /// Returns the draft of a file with this text.
    #[must_use]
    pub fn new(base: String) -> Self {
        Self { revision: 0, text: unix_lines(&base), base, findings: None }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of the last change; 0 before the first.
    #[must_use]
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Returns whether the file has this text, as far as is known.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        self.text == unix_lines(&self.base)
    }

    /// Returns the findings in the text, which is analysed if it was not before.
    pub fn findings(&mut self, editor: &dyn ModelEditor) -> &[FindingView] {
        let text = &self.text;
        self.findings.get_or_insert_with(|| FindingView::list(&editor.analyse(text)))
    }

    /// Replaces the text, which was `after` before the change, and returns it analysed.
    ///
    /// # Errors
    /// If the draft was changed since.
    pub fn change(
        &mut self,
        editor: &dyn ModelEditor,
        after: u32,
        text: &str,
    ) -> Result<AnalysedText, EditRefusal> {
        if after != self.revision {
            return Err(EditRefusal::Outdated);
        }
        Ok(self.replace(editor, unix_lines(text)))
    }

    /// Replaces the text by that of the file, and returns it analysed.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn load_again(&mut self, editor: &dyn ModelEditor) -> Result<AnalysedText, EditRefusal> {
        self.base = editor.read()?;
        Ok(self.replace(editor, unix_lines(&self.base)))
    }

    /// Puts `text` in the place of the draft, as a new revision, and returns its analysis.
    fn replace(&mut self, editor: &dyn ModelEditor, text: String) -> AnalysedText {
        let analysed = editor.analyse(&text);
        self.text = text;
        self.revision += 1;
        self.findings = Some(FindingView::list(&analysed));
        analysed
    }

    /// Writes the text to the file.
    ///
    /// # Errors
    /// If the draft is not at `revision`, the file has another text than the draft began from, or cannot be written.
    pub fn save(&mut self, editor: &dyn ModelEditor, revision: u32) -> Result<(), EditRefusal> {
        if revision != self.revision {
            return Err(EditRefusal::Outdated);
        }
        let text =
            if self.base.contains("\r\n") { self.text.replace('\n', "\r\n") } else { self.text.clone() };
        let present = editor.read()?;
        if present != self.base && present != text {
            return Err(EditRefusal::ChangedOnDisk);
        }
        if present != text {
            editor.write(&text)?;
        }
        self.base = text;
        Ok(())
    }

    /// Returns whether the file has another text than the draft began from; false if it cannot be read.
    #[must_use]
    pub fn is_changed_on_disk(&self, editor: &dyn ModelEditor) -> bool {
        editor.read().is_ok_and(|present| present != self.base)
    }
}

/// Returns `text` with `\n` for every line end, as a text field of a browser returns it.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
