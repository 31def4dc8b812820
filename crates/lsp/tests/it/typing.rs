//! Every text has an answer: the examples typed character by character, at every place, without a panic.
//!
//! A share of the prefixes by default; all of them with `./x test --full`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioxide_lsp::analysis::{NoLibrary, TextAnalysis, check_up};
use ioxide_lsp::answers::{
    action, completion, definition, fold, hover, layout, lens, rename, signature, symbol, token,
};
use ioxide_lsp::index::{DefinitionKind, NameMeaning};
use ioxide_lsp::text::DocumentText;
use ioxide_test_support::is_full_run;

/// One prefix of so many is tried; a prime, so that they fall on all kinds of places.
const SHARE: usize = 211;

fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["examples", "corpus/models"] {
        collect(&root.join(folder), &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "iox" || extension == "as") {
            found.push(path);
        }
    }
}

/// Asks everything about `text` with the cursor at `offset`.
fn ask(path: &str, text: &str, offset: usize) {
    let analysis = Arc::new(TextAnalysis::new(path, DocumentText::new(text.to_owned())));
    let checkup = check_up(path, text, &mut |_| Err(std::io::ErrorKind::NotFound.into()));
    let model = checkup.loaded.model.clone().map(Arc::new);
    let place = analysis.text.range(offset, offset);
    let about_place = (
        completion::complete(&analysis, offset, &NoLibrary),
        hover::hover(&analysis, offset, &NoLibrary, &mut || model.clone()),
        signature::signature_help(&analysis, offset),
    );
    let places = definition::find_references(&analysis, offset, &NoLibrary, &[Arc::clone(&analysis)]);
    let renamed = rename::rename(&analysis, offset, "fresh", &NoLibrary, &[]);
    assert!(renamed.is_err() || !places.is_empty(), "{path}: {text}");
    let fixes = action::find_fixes(&analysis.text, &checkup.loaded.diagnostics, place);
    assert!(fixes.len() <= checkup.loaded.diagnostics.len());
    let about_text =
        (fold::folding_ranges(&analysis), layout::format_edits(&analysis), lens::lenses(&analysis, None));
    let tokens = lsp_types::SemanticTokens { result_id: None, data: token::semantic_tokens(&analysis) };
    let names = (symbol::document_outline(&analysis), tokens);
    serde_json::to_string(&(about_place, about_text, names)).expect("answers can be written");
    names_stand_where_they_are_said_to_be(path, &analysis);
}

/// The text at every place that the index knows is the name it says.
fn names_stand_where_they_are_said_to_be(path: &str, analysis: &TextAnalysis) {
    let text = analysis.text.as_str();
    let index = &analysis.index;
    for found in &index.definitions {
        let written = text.get(found.at.start..found.at.end);
        let is_test = found.kind == DefinitionKind::Test;
        assert!(is_test || written == Some(&found.name), "{path}: {found:?} at {written:?}");
    }
    for occurrence in &index.occurrences {
        if let NameMeaning::Here(id) = &occurrence.meaning {
            let written = text.get(occurrence.at.start..occurrence.at.end);
            assert_eq!(written, Some(index.get(*id).name.as_str()), "{path}: {occurrence:?}");
        }
    }
}

#[test]
fn typing_the_examples_never_panics() {
    let share = if is_full_run() { 1 } else { SHARE };
    let texts = texts();
    assert!(texts.len() > 200, "only {} texts", texts.len());
    let mut n_prefixes = 0;
    for (number, path) in texts.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap_or_default();
        let name = path.display().to_string();
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        for end in ends.skip(number % share).step_by(share) {
            ask(&name, &text[..end], end);
            n_prefixes += 1;
        }
    }
    assert!(n_prefixes > 500, "only {n_prefixes} prefixes");
}

/// A hole where somebody has deleted something, and the cursor in it.
#[test]
fn holes_never_panic() {
    for (number, path) in texts().iter().enumerate() {
        let text = fs::read_to_string(path).unwrap_or_default();
        let name = path.display().to_string();
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for at in (number % 97..starts.len()).step_by(1_201) {
            let end = starts.get(at + 1 + number % 30).copied().unwrap_or(text.len());
            ask(&name, &format!("{}{}", &text[..starts[at]], &text[end..]), starts[at]);
        }
    }
}
