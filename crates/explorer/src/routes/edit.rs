//! The text of the model: read, changed, saved to its file, and loaded from it again.

use std::sync::{Arc, MutexGuard, PoisonError};

use ioxide_model::source::Sources;
use serde::Deserialize;

use super::{error_response, json_response};
use crate::edit::{AnalysedText, EditRefusal, ModelDraft, ModelEditor};
use crate::http::ExplorerResponse;
use crate::view::edit::{EditView, RepairsView, SourceView};
use crate::{EditedModel, Explorer, ShownModel};

/// A change of the text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeQuery {
    text: String,
    /// The revision that was changed.
    after: u32,
}

/// A request to write the text of a revision to the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveQuery {
    revision: u32,
}

/// A request to load the file again, which has no arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadQuery {}

/// A request for changes of the text that explain the recorded runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepairQuery {
    /// The revision that is to be changed.
    revision: u32,
}

/// Returns changes of the text that explain the recorded runs. The text stays as it is, and free, while they are looked
/// for.
pub(crate) fn find_repairs(explorer: &Explorer, query: &RepairQuery) -> ExplorerResponse {
    let edited = match &explorer.edited {
        Ok(edited) => edited,
        Err(refusal) => return error_response(409, refusal),
    };
    let draft = lock(edited);
    if draft.revision() != query.revision {
        return error_response(409, &EditRefusal::Outdated.to_string());
    }
    let text = draft.text().to_owned();
    drop(draft);
    json_response(&RepairsView::new(query.revision, edited.editor.find_repairs(&text)))
}

/// Returns the text of the model, or the reason why it cannot be edited.
pub(crate) fn show_source(explorer: &Explorer) -> ExplorerResponse {
    match &explorer.edited {
        Ok(edited) => json_response(&SourceView::new(&mut lock(edited), &*edited.editor)),
        Err(refusal) => json_response(&SourceView::from_refusal(refusal)),
    }
}

/// Replaces the text and, if it has no errors, the model.
pub(crate) fn change_text(explorer: &Explorer, query: &ChangeQuery) -> ExplorerResponse {
    with_draft(explorer, |draft, editor| draft.change(editor, query.after, &query.text).map(Some))
}

/// Writes the text to the file.
pub(crate) fn save_text(explorer: &Explorer, query: &SaveQuery) -> ExplorerResponse {
    with_draft(explorer, |draft, editor| draft.save(editor, query.revision).map(|()| None))
}

/// Replaces the text by that of the file.
pub(crate) fn load_file(explorer: &Explorer, _: &LoadQuery) -> ExplorerResponse {
    with_draft(explorer, |draft, editor| draft.load_again(editor).map(Some))
}

/// Answers with the state of the text after `act`, and shows the model of the text that `act` returns, if it returns
/// one. Changes are made one after the other.
fn with_draft(
    explorer: &Explorer,
    act: impl FnOnce(&mut ModelDraft, &dyn ModelEditor) -> Result<Option<AnalysedText>, EditRefusal>,
) -> ExplorerResponse {
    let edited = match &explorer.edited {
        Ok(edited) => edited,
        Err(refusal) => return error_response(409, refusal),
    };
    let editor = &*edited.editor;
    let mut draft = lock(edited);
    let analysed = match act(&mut draft, editor) {
        Ok(analysed) => analysed,
        Err(EditRefusal::File(error)) => return error_response(500, &error.to_string()),
        Err(refusal) => return error_response(409, &refusal.to_string()),
    };
    let shown = analysed.and_then(|analysed| show_model(explorer, analysed, draft.revision()));
    json_response(&EditView::new(&mut draft, editor, shown.as_ref().map(|shown| &shown.view)))
}

/// Shows the model of an analysed text, if there is one.
fn show_model(explorer: &Explorer, analysed: AnalysedText, revision: u32) -> Option<Arc<ShownModel>> {
    let sources: &Sources = &analysed.sources;
    let shown = Arc::new(ShownModel::new(analysed.model?, sources, revision));
    explorer.replace_model(&shown);
    Some(shown)
}

/// Locks the draft; a thread that panicked leaves it usable.
fn lock(edited: &EditedModel) -> MutexGuard<'_, ModelDraft> {
    edited.draft.lock().unwrap_or_else(PoisonError::into_inner)
}
