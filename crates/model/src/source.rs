//! Source texts and places in them. Line and column exist only here.

use std::collections::BTreeMap;

use crate::index::IndexVec;

crate::index! { /// A text held by [`Sources`].
pub struct FileId; }

/// A range of bytes in one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The text.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `file`.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that holds `self` and `other` (of the same file).
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a byte range.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One source text with its name as the user typed it.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name shown in reports (a path, or `<stdin>`).
    pub name: String,
    /// The text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: String, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts =
            std::iter::once(0).chain(breaks.map(|(i, _)| u32::try_from(i + 1).unwrap_or(u32::MAX))).collect();
        Self { name, text, line_starts }
    }
}

/// The texts of one invocation.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: IndexVec<FileId, SourceFile>,
    /// Names of texts that are referred to but not present, each with the reason.
    missing: Vec<(String, String)>,
    /// The texts that are read as one with another, by that other.
    joined: BTreeMap<FileId, Vec<FileId>>,
}

impl Sources {
    /// Returns an empty set of texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile::new(name.into(), text.into()))
    }

    /// Replaces the text of `file`, which keeps its name and its number.
    pub fn replace_text(&mut self, file: FileId, text: impl Into<String>) {
        let name = std::mem::take(&mut self.files[file].name);
        self.files[file] = SourceFile::new(name, text.into());
    }

    /// Declares that `other` is read as one text with `file`, behind it and behind those joined before.
    pub fn join(&mut self, file: FileId, other: FileId) {
        self.joined.entry(file).or_default().push(other);
    }

    /// Returns the texts that are read as one with `file`, without `file`.
    #[must_use]
    pub fn list_joined_files(&self, file: FileId) -> &[FileId] {
        self.joined.get(&file).map_or(&[], Vec::as_slice)
    }

    /// Records the reason `why` there is no text called `name`.
    pub fn add_missing(&mut self, name: impl Into<String>, why: impl Into<String>) {
        self.missing.push((name.into(), why.into()));
    }

    /// Returns the text called `name`.
    ///
    /// # Errors
    /// If there is none: the recorded reason, if there is one.
    pub fn find(&self, name: &str) -> Result<FileId, Option<&str>> {
        let found = self.files.iter_enumerated().find(|(_, file)| file.name == name);
        let why = || self.missing.iter().find(|(missing, _)| missing == name).map(|(_, why)| why.as_str());
        found.map(|(id, _)| id).ok_or_else(why)
    }

    /// The text named `file`.
    #[must_use]
    pub fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file]
    }

    /// The numbers of all texts, in the order they were added.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        self.files.ids()
    }

    /// All texts, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// The characters `span` covers; empty if the span does not fit the text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.files.get(span.file).and_then(|file| file.text.get(span.range())).unwrap_or("")
    }

    /// Returns the line and column at which `span` starts.
    #[must_use]
    pub fn line_column(&self, span: Span) -> LineColumn {
        let file = &self.files[span.file];
        let line = file.line_starts.partition_point(|&start| start <= span.start).max(1);
        let start = file.line_starts[line - 1] as usize;
        let before = file.text.get(start..span.start as usize).unwrap_or("");
        LineColumn { line, column: before.chars().count() + 1 }
    }
}
