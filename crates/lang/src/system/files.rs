//! The files that a system refers to.

use std::fmt;

use ioxide_model::source::{FileId, Sources};

use crate::ast::{PreambleItem, SystemItemKind};
use crate::sink::FindingSink;
use crate::{extension, parser};

/// The greatest number of files that are read. Chosen by feel: it ends files that include each other without end.
const MAX_FILES: usize = 1000;

/// Adds the files that `file` uses, and those they use in turn; `read` returns the text of a path, or the reason why it
/// cannot.
pub fn gather<E: fmt::Display>(
    sources: &mut Sources,
    file: FileId,
    read: &mut dyn FnMut(&str) -> Result<String, E>,
) {
    let mut todo = vec![file];
    let mut n_files = 0;
    while let Some(file) = todo.pop() {
        for path in used_files(sources, file) {
            if sources.find(&path).is_ok() || n_files == MAX_FILES {
                continue;
            }
            n_files += 1;
            match read(&path) {
                Ok(text) => todo.push(sources.add(path, text)),
                Err(why) => sources.add_missing(path, why.to_string()),
            }
        }
    }
}

/// Returns the paths of the files that `file` uses, seen from here.
pub(super) fn used_files(sources: &Sources, file: FileId) -> Vec<String> {
    let source = sources.file(file);
    if extension(&source.name) != Some("iox") {
        return Vec::new();
    }
    let tree = parser::parse_text(&source.text, file, &mut FindingSink::default());
    let shared = tree.preamble.iter().filter_map(|item| match item {
        PreambleItem::Use(used) => Some(resolve_relative(&source.name, &used.path)),
        PreambleItem::Item(_) => None,
    });
    let mut all: Vec<String> = shared.collect();
    let items = tree.system.into_iter().flat_map(|system| system.items);
    let paths = items.filter_map(|item| match item.kind {
        SystemItemKind::Use(decl) => Some(resolve_relative(&source.name, &decl.path)),
        _ => None,
    });
    all.extend(paths);
    all
}

/// Returns `path` relative to the folder of `file`.
pub(super) fn resolve_relative(file: &str, path: &str) -> String {
    match file.rfind(['/', '\\']) {
        Some(end) if !path.starts_with('/') => format!("{}{path}", &file[..=end]),
        _ => path.to_owned(),
    }
}
