//! The analysis of one text: lexemes, syntax tree and index, whether it has errors or not.

use std::sync::Arc;

use ioxide_lang::ast::SyntaxFile;
pub use ioxide_lang::is_iox;
use ioxide_lang::lexeme::{LexemeKind, TextLexeme, lexemes};
use ioxide_lang::{LoadOptions, LoadedText, gather, load, parse};
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources};

use crate::index::SourceIndex;
use crate::text::DocumentText;

/// A text and its analysis.
#[derive(Clone, Debug)]
pub struct TextAnalysis {
    /// The name of its file.
    pub path: String,
    /// The text.
    pub text: DocumentText,
    /// Its lexemes; empty if the text is not in ioxide's language.
    pub lexemes: Vec<TextLexeme>,
    /// Its syntax tree, as far as the text could be parsed.
    pub tree: SyntaxFile,
    /// The meanings of its names.
    pub index: SourceIndex,
}

impl TextAnalysis {
    /// Analyses `text`; one that is not in ioxide's language has an empty tree and index.
    #[must_use]
    pub fn new(path: &str, text: DocumentText) -> Self {
        let mut sources = Sources::new();
        let is_iox = is_iox(path);
        let file = sources.add(path, if is_iox { text.as_str() } else { "" });
        let (tree, _) = parse(&sources, file);
        let index = SourceIndex::new(text.as_str(), &tree);
        let lexemes = if is_iox { lexemes(text.as_str()) } else { Vec::new() };
        Self { path: path.to_owned(), text, lexemes, tree, index }
    }

    /// Returns the characters of a lexeme.
    #[must_use]
    pub fn lexeme_text(&self, lexeme: &TextLexeme) -> &str {
        self.text.as_str().get(lexeme.start as usize..lexeme.end as usize).unwrap_or("")
    }

    /// Returns the lexemes, without comments, that begin before `offset`, and the word being typed there up to
    /// `offset`, which is not among them; the word is empty if there is none.
    #[must_use]
    pub fn lexemes_before(&self, offset: usize) -> (Vec<TextLexeme>, String) {
        let code = |lexeme: &&TextLexeme| !matches!(lexeme.kind, LexemeKind::Comment | LexemeKind::Doc);
        let starts = |lexeme: &&TextLexeme| (lexeme.start as usize) < offset;
        let mut pieces: Vec<TextLexeme> =
            self.lexemes.iter().filter(code).take_while(starts).copied().collect();
        let typed = pieces.last().filter(|last| {
            let is_word = matches!(last.kind, LexemeKind::Name | LexemeKind::Reserved);
            is_word && last.end as usize >= offset
        });
        let typed = typed.map(|last| {
            let end = offset - last.start as usize;
            self.lexeme_text(last).get(..end).unwrap_or("").to_owned()
        });
        if typed.is_some() {
            pieces.pop();
        }
        (pieces, typed.unwrap_or_default())
    }

    /// Returns whether `offset` lies in a comment or a string.
    #[must_use]
    pub fn is_prose(&self, offset: usize) -> bool {
        self.lexemes.iter().any(|lexeme| {
            let (start, end) = (lexeme.start as usize, lexeme.end as usize);
            match lexeme.kind {
                LexemeKind::Comment | LexemeKind::Doc => start < offset && offset <= end,
                LexemeKind::Text => start < offset && offset < end,
                _ => false,
            }
        })
    }
}

/// A source of other texts, by path: open documents first, then files.
pub trait TextLibrary {
    /// Returns the analysis of the text at `path`; `None` if it cannot be read.
    fn analysis(&self, path: &str) -> Option<Arc<TextAnalysis>>;
}

/// A library without texts.
pub struct NoLibrary;

impl TextLibrary for NoLibrary {
    fn analysis(&self, _: &str) -> Option<Arc<TextAnalysis>> {
        None
    }
}

/// Returns `path` relative to the folder of `file`; an absolute path stays as it is.
#[must_use]
pub fn resolve_path(file: &str, path: &str) -> String {
    match file.rfind(['/', '\\']) {
        Some(end) if !path.starts_with('/') => format!("{}{path}", &file[..=end]),
        _ => path.to_owned(),
    }
}

/// Returns `path` without `.` and without the folders that `..` leaves again.
#[must_use]
pub fn normalise_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A text, the texts it uses, and the findings about them.
pub struct TextCheckup {
    /// The texts.
    pub sources: Sources,
    /// The text that was checked.
    pub file: FileId,
    /// The result of loading it: the model, if there is one, and the findings.
    pub loaded: LoadedText,
}

/// Checks `text` as `ioxide check` does; `read` gives the texts of other files.
pub fn check_up(
    path: &str,
    text: &str,
    read: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> TextCheckup {
    let mut sources = Sources::new();
    let file = sources.add(path, text);
    gather(&mut sources, file, &mut |path| read(path));
    let loaded = load(&sources, file, &LoadOptions::default());
    TextCheckup { sources, file, loaded }
}

impl TextCheckup {
    /// Returns the findings about the text itself, and those about texts it uses.
    #[must_use]
    pub fn split_by_file(&self) -> (Vec<&Diagnostic>, Vec<&Diagnostic>) {
        self.loaded.diagnostics.iter().partition(|finding| finding.span.file == self.file)
    }
}
