//! Diagnostics on the terminal and as JSON.

use std::io::IsTerminal;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{FileId, Sources, Span};
use serde_json::{Value as Json, json};

/// The number of findings that are shown of one file; the rest is counted. Chosen by feel: nobody reads further before
/// the first ones are fixed.
const MAX_SHOWN: usize = 100;

/// Lines shown around a finding. Chosen by feel.
const CONTEXT: usize = 1;

/// All of `diagnostics` as text with carets, coloured if stderr is a terminal.
pub fn render_findings(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        out.push_str(&render_finding(&renderer, sources, diagnostic));
        out.push_str("\n\n");
    }
    if diagnostics.len() > MAX_SHOWN {
        out.push_str(&format!(
            "… and {} more findings; `check --json` has them all\n\n",
            diagnostics.len() - MAX_SHOWN
        ));
    }
    out
}

fn render_finding(renderer: &Renderer, sources: &Sources, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::INFO.with_name("hint"),
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code.id());
    let mut group = title.element(snippet(sources, diagnostic));
    for label in other_files(diagnostic) {
        group = group.element(elsewhere(sources, label.0, label.1));
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note));
    }
    for help in &diagnostic.helps {
        group = group.element(Level::HELP.message(help));
    }
    let mut groups = vec![group];
    groups.extend(patch(sources, diagnostic));
    renderer.render(&groups)
}

/// The part of the file that holds the finding and its labels, with carets.
fn snippet<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Snippet<'a, Annotation<'a>> {
    let file = diagnostic.span.file;
    let here = diagnostic.labels.iter().filter(|label| label.span.file == file);
    let near = here.filter(|label| distance(sources, label.span, diagnostic.span) < 2000);
    let near: Vec<_> = near.collect();
    let spans: Vec<Span> = near.iter().map(|label| label.span).chain([diagnostic.span]).collect();
    let window = LineWindow::around(sources, file, &spans);
    let mut primary = AnnotationKind::Primary.span(window.range_in_window(diagnostic.span));
    if !diagnostic.caret.is_empty() {
        primary = primary.label(&diagnostic.caret);
    }
    let context = near
        .iter()
        .map(|label| AnnotationKind::Context.span(window.range_in_window(label.span)).label(&label.text));
    Snippet::source(window.text)
        .line_start(window.first_line)
        .path(&sources.file(file).name)
        .annotation(primary)
        .annotations(context)
}

/// Returns the number of lines between two places.
fn distance(sources: &Sources, a: Span, b: Span) -> usize {
    sources.line_column(a).line.abs_diff(sources.line_column(b).line)
}

/// Labels that stand in another file.
fn other_files(diagnostic: &Diagnostic) -> impl Iterator<Item = (Span, &str)> {
    let file = diagnostic.span.file;
    let labels = diagnostic.labels.iter().filter(move |label| label.span.file != file);
    labels.map(|label| (label.span, label.text.as_str()))
}

/// Returns the snippet of a label that is far from the finding or in another file.
fn elsewhere<'a>(sources: &'a Sources, span: Span, text: &'a str) -> Snippet<'a, Annotation<'a>> {
    let window = LineWindow::around(sources, span.file, &[span]);
    Snippet::source(window.text)
        .line_start(window.first_line)
        .path(&sources.file(span.file).name)
        .annotation(AnnotationKind::Context.span(window.range_in_window(span)).label(text))
}

/// Returns the change that would fix the finding as a patch, if it proposes one.
fn patch<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Option<Group<'a>> {
    let fix = diagnostic.fix.as_ref()?;
    let window = LineWindow::around(sources, fix.span.file, &[fix.span]);
    let snippet = Snippet::source(window.text)
        .line_start(window.first_line)
        .path(&sources.file(fix.span.file).name)
        .patch(Patch::new(window.range_in_window(fix.span), fix.replacement.as_str()));
    Some(Level::HELP.secondary_title("try this").element(snippet))
}

/// Some whole lines of a file. Rendering looks at these only, so that findings in huge files are cheap.
struct LineWindow<'a> {
    text: &'a str,
    start: usize,
    first_line: usize,
}

impl<'a> LineWindow<'a> {
    /// Returns the lines around `spans`, with some context.
    fn around(sources: &'a Sources, file: FileId, spans: &[Span]) -> Self {
        let whole = &sources.file(file).text;
        let clamp = |at: u32| floor_boundary(whole, at as usize);
        let from = spans.iter().map(|span| clamp(span.start)).min().unwrap_or(0);
        let to = spans.iter().map(|span| clamp(span.end)).max().unwrap_or(0).max(from);
        let start = line_start(whole, from, CONTEXT);
        let end = line_end(whole, to, CONTEXT);
        let first_line = sources.line_column(Span::new(file, start, start)).line;
        Self { text: &whole[start..end], start, first_line }
    }

    fn range_in_window(&self, span: Span) -> std::ops::Range<usize> {
        let within = |at: u32| floor_boundary(self.text, (at as usize).saturating_sub(self.start));
        let start = within(span.start);
        start..within(span.end).max(start)
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The start of the line `more` lines before the one that holds `at`.
fn line_start(text: &str, at: usize, more: usize) -> usize {
    text[..at].rmatch_indices('\n').nth(more).map_or(0, |(i, _)| i + 1)
}

/// The end of the line `more` lines after the one that holds `at`.
fn line_end(text: &str, at: usize, more: usize) -> usize {
    text[at..].match_indices('\n').nth(more).map_or(text.len(), |(i, _)| at + i)
}

/// `diagnostic` for programs.
pub fn finding_json(sources: &Sources, diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    };
    let labels: Vec<Json> = diagnostic
        .labels
        .iter()
        .map(|label| json!({ "text": label.text, "place": place(sources, label.span) }))
        .collect();
    json!({
        "code": diagnostic.code.id(),
        "severity": severity,
        "message": diagnostic.message,
        "place": place(sources, diagnostic.span),
        "labels": labels,
        "notes": diagnostic.notes,
        "helps": diagnostic.helps,
        "fix": diagnostic.fix.as_ref().map(|fix| {
            json!({ "place": place(sources, fix.span), "replacement": fix.replacement })
        }),
    })
}

/// Returns a place as JSON: lines and columns count from 1.
pub(crate) fn place(sources: &Sources, span: Span) -> Json {
    let start = sources.line_column(span);
    let end = sources.line_column(Span { start: span.end, ..span });
    json!({
        "file": sources.file(span.file).name,
        "line": start.line, "column": start.column,
        "end_line": end.line, "end_column": end.column,
        "start": span.start, "end": span.end,
    })
}
