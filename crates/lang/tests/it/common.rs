//! Helpers of the integration tests: finding files, loading, plain-text findings.
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of this")]

pub mod grammar;
pub mod program;
pub mod torxakis;

use std::fs;
use std::path::{Path, PathBuf};

use ioxide_lang::{LoadOptions, LoadedText, gather, load};
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{Sources, Span};
pub use ioxide_test_support::repository as root;

/// The files with one of `extensions` under `folder` of the workspace, sorted.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    files_under(&root().join(folder), extensions)
}

/// The files with one of `extensions` under `folder`, sorted; none if there is no such folder.
pub fn files_under(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.is_dir() {
            found.extend(files_under(&path, extensions));
        } else if path.extension().is_some_and(|ext| extensions.iter().any(|&wanted| ext == wanted)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Public benchmark files outside the repository, if they are there.
pub fn public_data() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("IOXIDE_DATA")?);
    folder.is_dir().then_some(folder)
}

/// Loads the file at `path`.
pub fn load_file(path: &Path) -> (Sources, LoadedText) {
    let text = fs::read_to_string(path).expect("a readable text file");
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    gather(&mut sources, file, &mut |part| {
        fs::read_to_string(path.with_file_name(part)).map_err(|_| "it is not there".to_owned())
    });
    let loaded = load(&sources, file, &LoadOptions::default());
    (sources, loaded)
}

/// Loads `text` as a file called `name`.
pub fn load_text(name: &str, text: &str) -> (Sources, LoadedText) {
    load_with(name, text, &LoadOptions::default())
}

/// Loads `text` as a file called `name` with `options`.
pub fn load_with(name: &str, text: &str, options: &LoadOptions) -> (Sources, LoadedText) {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let loaded = load(&sources, file, options);
    (sources, loaded)
}

/// Findings as plain text: place, code, message, then what explains it.
pub fn render(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| render_one(sources, diagnostic)).collect::<Vec<_>>().join("\n")
}

fn render_one(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    };
    let place = |span| {
        let at = sources.line_column(span);
        format!("{}:{}", at.line, at.column)
    };
    let code = diagnostic.code.id();
    let mut text = format!("{} {severity} {code}: {}\n", place(diagnostic.span), diagnostic.message);
    text.push_str(&format!("    at {}", quote(sources, diagnostic.span)));
    if !diagnostic.caret.is_empty() {
        text.push_str(&format!(" ({})", diagnostic.caret));
    }
    text.push('\n');
    for label in &diagnostic.labels {
        text.push_str(&format!("    {} {}: {}\n", place(label.span), quote(sources, label.span), label.text));
    }
    diagnostic.notes.iter().for_each(|note| text.push_str(&format!("    note: {note}\n")));
    diagnostic.helps.iter().for_each(|help| text.push_str(&format!("    help: {help}\n")));
    if let Some(fix) = &diagnostic.fix {
        text.push_str(&format!("    fix {}: {:?}\n", place(fix.span), fix.replacement));
    }
    text
}

/// The first line of what `span` covers.
fn quote(sources: &Sources, span: Span) -> String {
    let text = sources.slice(span).lines().next().unwrap_or("");
    let short: String = text.chars().take(48).collect();
    if short.len() < text.len() { format!("`{short}...`") } else { format!("`{short}`") }
}
