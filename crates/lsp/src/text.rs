//! A document as editors see it: lines, and columns counted in UTF-16 units.

use lsp_types::{Position, Range};

/// A text with the positions at which its lines start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentText {
    text: String,
    lines: Vec<usize>,
}

impl DocumentText {
    /// Returns `text` with its lines.
    #[must_use]
    pub fn new(text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { text, lines }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The place of byte `offset`, or of the character it lies in.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.char_boundary(offset);
        let line = self.lines.partition_point(|&start| start <= offset).saturating_sub(1);
        let before = &self.text[self.lines[line]..offset];
        Position::new(to_protocol_number(line), to_protocol_number(before.encode_utf16().count()))
    }

    /// The byte at `position`; one beyond its line is the end of the line, one beyond the text its end.
    #[must_use]
    pub fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() };
        let line = self.text[start..].split('\n').next().unwrap_or("");
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= position.character {
                return start + at;
            }
            units += to_protocol_number(character.len_utf16());
        }
        start + line.len()
    }

    /// The bytes `start..end` as a range of places.
    #[must_use]
    pub fn range(&self, start: usize, end: usize) -> Range {
        Range::new(self.position(start), self.position(end.max(start)))
    }

    /// Returns the range of the whole text.
    #[must_use]
    pub fn full_range(&self) -> Range {
        self.range(0, self.text.len())
    }

    /// Returns the text with `range` replaced by `with`; without a range, the whole text.
    #[must_use]
    pub fn replace_range(&self, range: Option<Range>, with: &str) -> Self {
        let Some(range) = range else { return Self::new(with.to_owned()) };
        let start = self.offset(range.start);
        let end = self.offset(range.end).max(start);
        Self::new([&self.text[..start], with, &self.text[end..]].concat())
    }

    /// The character boundary at or before `offset`.
    fn char_boundary(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        (0..=offset).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0)
    }
}

/// Returns a number as the protocol writes it.
#[must_use]
pub fn to_protocol_number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
