//! The formatter: syntax tree to canonical text.
//!
//! One layout: four spaces, one declaration, transition or step per line, single blank
//! lines kept where the author put them, everything else decided here. A line that does not fit
//! in [`WIDTH`] columns is broken in one fixed way. Formatting again changes nothing, and
//! the formatted text has the same tree.
//!
//! *Comments* stay where they are between lines and at the end of lines. A comment inside
//! a line's parts (between two updates, say) moves above that line.

pub(crate) mod expr;
mod item;
mod system;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};

use ioxide_model::term::string_literal;

use crate::ast::{Comment, DeclMeta, PreambleItem, SyntaxFile};
use crate::sink::FindingSink;
use crate::{extension, parser};

/// The number of columns that lines are kept within if they can be broken. The width that rustfmt uses; nothing but
/// the looks depends on it.
const WIDTH: usize = 100;

/// The number of spaces per level. As rustfmt has it.
const INDENT: usize = 4;

/// The text of `file` in canonical layout.
///
/// # Errors
/// If the file is not an `.iox` file, or does not follow the grammar: its errors.
pub fn format(sources: &Sources, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let source = sources.file(file);
    if extension(&source.name) != Some("iox") {
        let message = "only `.iox` files have a canonical layout";
        return Err(vec![Diagnostic::new(Code::UnknownFormat, Span::new(file, 0, 0), message)]);
    }
    let mut sink = FindingSink::default();
    let tree = parser::parse_text(&source.text, file, &mut sink);
    if sink.has_errors() {
        return Err(sink.finish());
    }
    Ok(print(&tree, &source.text))
}

/// `tree`, parsed from `text` without errors, in canonical layout.
pub(crate) fn print(tree: &SyntaxFile, text: &str) -> String {
    let mut printer = Printer { text, comments: &tree.comments, out: String::new(), level: 0, last: None };
    for item in &tree.preamble {
        match item {
            PreambleItem::Item(item) => printer.write_item(item),
            PreambleItem::Use(used) => printer.write_unit(used.span, &DeclMeta::default(), |printer| {
                let names: Vec<_> = used.names.iter().map(|name| name.written()).collect();
                let path = string_literal(&used.path);
                printer.write_line(&format!("use {} from {path}", names.join(", ")));
            }),
        }
    }
    if let Some(model) = &tree.model {
        printer.write_model(model);
    }
    if let Some(system) = &tree.system {
        printer.write_system(system);
    }
    printer.comments_before(u32::MAX);
    printer.out
}

/// The text under construction, and the comments not written yet.
struct Printer<'a> {
    text: &'a str,
    comments: &'a [Comment],
    out: String,
    level: usize,
    /// The source position at which the part written last in this block ended; `None` at its start.
    last: Option<usize>,
}

impl<'a> Printer<'a> {
    /// Writes one line at the present level.
    fn write_line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', self.level * INDENT));
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Returns the number of columns left on a line at the current level.
    fn room(&self) -> usize {
        WIDTH.saturating_sub(self.level * INDENT)
    }

    /// Returns whether `text` fits on the rest of the line.
    fn fits(&self, text: &str) -> bool {
        text.chars().count() <= self.room()
    }

    /// Writes a blank line if the source has one between the last thing and `start`.
    fn blank_line_before(&mut self, start: u32) {
        let Some(last) = self.last else { return };
        let between = self.text.get(last..start as usize).unwrap_or("");
        let mut n_breaks = 0;
        for c in between.chars() {
            match c {
                '\n' => n_breaks += 1,
                c if c.is_whitespace() => {}
                _ => n_breaks = 0,
            }
            if n_breaks == 2 {
                self.out.push('\n');
                return;
            }
        }
    }

    /// Writes the comments that start before `end`, each on a line of its own.
    fn comments_before(&mut self, end: u32) {
        while let Some((comment, rest)) = self.comments.split_first()
            && comment.start < end
        {
            self.comments = rest;
            self.blank_line_before(comment.start);
            self.write_line(&comment.text);
            self.last = Some(end_of(comment));
        }
    }

    /// Appends the comment that follows source position `end` on the same line, if there is one, to the line just
    /// written.
    fn trailing_comment(&mut self, end: usize) {
        let Some((comment, rest)) = self.comments.split_first() else { return };
        let between = self.text.get(end..comment.start as usize).unwrap_or("x");
        if between.chars().all(|c| matches!(c, ' ' | '\t' | ',' | ';')) {
            self.comments = rest;
            self.append(&comment.text);
            self.last = Some(end_of(comment));
        }
    }

    /// Adds `comment` to the end of the line just written.
    fn append(&mut self, comment: &str) {
        if self.out.ends_with('\n') {
            self.out.pop();
        }
        self.out.push(' ');
        self.out.push_str(comment);
        self.out.push('\n');
    }

    /// Writes a part of a block that has no blocks inside: comments before and within it,
    /// doc comment and attributes, then `write`, then the comment behind it.
    fn write_unit(&mut self, span: Span, meta: &DeclMeta, write: impl FnOnce(&mut Self)) {
        self.comments_before(span.end);
        self.blank_line_before(span.start);
        self.write_meta(meta);
        write(self);
        self.last = Some(span.end as usize);
        self.trailing_comment(span.end as usize);
    }

    /// Writes `heading { ... }` with `parts` inside, one level deeper.
    fn write_block(
        &mut self,
        span: Span,
        meta: &DeclMeta,
        heading: &str,
        first: Option<Span>,
        parts: impl FnOnce(&mut Self),
    ) {
        let outer = std::mem::take(&mut self.last);
        let inside = first.map_or(span.end.saturating_sub(1), |first| first.start);
        // A comment on the heading's line stays there; others above the heading go above it.
        let heading_end = self.heading_end(span, inside);
        self.last = outer;
        self.comments_before(heading_end);
        self.blank_line_before(span.start);
        self.write_meta(meta);
        let has_comments = self.comments.first().is_some_and(|comment| comment.start < span.end);
        if first.is_none() && !has_comments {
            self.write_line(&format!("{heading} {{}}"));
        } else {
            self.write_line(&format!("{heading} {{"));
            self.trailing_comment(heading_end as usize);
            self.last = None;
            self.level += 1;
            parts(self);
            self.comments_before(span.end);
            self.level -= 1;
            self.write_line("}");
        }
        self.last = Some(span.end as usize);
        self.trailing_comment(span.end as usize);
    }

    /// One past the brace that opens the block at `span` whose first part is at `inside`.
    ///
    /// No brace stands between it and the first part except in comments.
    fn heading_end(&self, span: Span, inside: u32) -> u32 {
        let text = self.text.get(span.start as usize..inside as usize).unwrap_or("");
        let mut end = span.start;
        for line in text.split_inclusive('\n') {
            let code = line.split_once("//").map_or(line, |(code, _)| code);
            if let Some(brace) = code.rfind('{') {
                return end + u32::try_from(brace + 1).unwrap_or(0);
            }
            end += u32::try_from(line.len()).unwrap_or(0);
        }
        span.start
    }

    /// Writes doc comments, a line each.
    fn write_docs(&mut self, docs: &[String]) {
        for line in docs {
            let text = if line.is_empty() { "///".to_owned() } else { format!("/// {line}") };
            self.write_line(&text);
        }
    }

    /// Writes the doc comments and the attributes in front of an item.
    fn write_meta(&mut self, meta: &DeclMeta) {
        self.write_docs(&meta.docs);
        for attr in &meta.attrs {
            self.write_line(&item::attribute_text(attr));
        }
    }
}

fn end_of(comment: &Comment) -> usize {
    comment.start as usize + comment.text.len()
}
