//! Folding ranges: blocks, and comments of several lines.

use ioxide_lang::lexeme::{LexemeKind, TextLexeme};
use lsp_types::{FoldingRange, FoldingRangeKind};

use crate::analysis::TextAnalysis;

/// Returns the foldable ranges, found by braces and comments alone, so that errors do not matter.
#[must_use]
pub fn folding_ranges(analysis: &TextAnalysis) -> Vec<FoldingRange> {
    let mut folds = Vec::new();
    let mut open = Vec::new();
    for lexeme in &analysis.lexemes {
        match analysis.lexeme_text(lexeme) {
            "{" if lexeme.kind == LexemeKind::Sign => open.push(start_line(analysis, lexeme)),
            "}" if lexeme.kind == LexemeKind::Sign => {
                let end = start_line(analysis, lexeme);
                // The line of the closing brace stays visible.
                folds.extend(open.pop().and_then(|start| folding_range(start, end.saturating_sub(1), None)));
            }
            _ => {}
        }
    }
    folds.extend(comment_ranges(analysis));
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds
}

fn start_line(analysis: &TextAnalysis, lexeme: &TextLexeme) -> u32 {
    analysis.text.position(lexeme.start as usize).line
}

fn folding_range(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    (end_line > start_line).then(|| FoldingRange { start_line, end_line, kind, ..FoldingRange::default() })
}

/// Returns the ranges of comments on lines that follow each other.
fn comment_ranges(analysis: &TextAnalysis) -> Vec<FoldingRange> {
    let is_comment = |lexeme: &&TextLexeme| {
        matches!(lexeme.kind, LexemeKind::Comment | LexemeKind::Doc) && lexeme.first_on_line
    };
    let lines = analysis.lexemes.iter().filter(is_comment).map(|lexeme| start_line(analysis, lexeme));
    let mut folds = Vec::new();
    let mut run: Option<(u32, u32)> = None;
    for line in lines {
        run = match run {
            Some((start, end)) if line == end + 1 => Some((start, line)),
            before => {
                folds.extend(
                    before
                        .and_then(|(start, end)| folding_range(start, end, Some(FoldingRangeKind::Comment))),
                );
                Some((line, line))
            }
        };
    }
    folds.extend(run.and_then(|(start, end)| folding_range(start, end, Some(FoldingRangeKind::Comment))));
    folds
}
