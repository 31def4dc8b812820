//! `[history]`: the messages that operations in histories of other tools stand for.

use ioxide_history::read::{FieldPath, HistoryMapping, MessageMapping, OperationMapping};

use crate::error::ProjectError;
use crate::table::ProjectTable;

/// Reads the table `[history]` of a project file; without one the mapping is empty.
pub(crate) fn read_mapping(top: &ProjectTable<'_>) -> Result<HistoryMapping, ProjectError> {
    let mut mapping = HistoryMapping::default();
    let Some(history) = top.table("history")? else { return Ok(mapping) };
    for name in history.keys() {
        if let Some(operation) = history.table(name)? {
            mapping.operations.insert(name.to_owned(), read_operation(&history, name, &operation)?);
        }
    }
    Ok(mapping)
}

fn read_operation(
    history: &ProjectTable<'_>,
    name: &str,
    operation: &ProjectTable<'_>,
) -> Result<OperationMapping, ProjectError> {
    operation.reject_unknown_keys(&["call", "ok", "fail"])?;
    let needed = |key: &str| {
        let missing =
            || ProjectError::new(format!("{}: `history.{name}` has no `{key}`", history.place_of_key(name)));
        read_message(operation, key)?.ok_or_else(missing)
    };
    Ok(OperationMapping { call: needed("call")?, ok: needed("ok")?, fail: read_message(operation, "fail")? })
}

fn read_message(operation: &ProjectTable<'_>, key: &str) -> Result<Option<MessageMapping>, ProjectError> {
    let Some(message) = operation.table(key)? else { return Ok(None) };
    message.reject_unknown_keys(&["label", "args"])?;
    let place = || operation.place_of_key(key);
    let label = message.text("label")?;
    let label = label.ok_or_else(|| ProjectError::new(format!("{}: `{key}` has no `label`", place())))?;
    let path = |(field, text): (String, String)| match text.parse::<FieldPath>() {
        Ok(path) => Ok((field, path)),
        Err(error) => Err(ProjectError::new(format!("{}: {error}", place()))),
    };
    let args = message.texts("args")?.into_iter().map(path).collect::<Result<_, _>>()?;
    Ok(Some(MessageMapping { label, args }))
}
