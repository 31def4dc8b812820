//! The rows that texts take in a panel, for scrolling to their end and no further.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget as _, Wrap};

/// Returns the number of rows of `lines`, wrapped at `width` as panels wrap them.
pub fn count_rows(lines: &[Line<'_>], width: u16) -> usize {
    lines.iter().map(|line| rows_of(line, width.max(1))).sum()
}

fn rows_of(line: &Line<'_>, width: u16) -> usize {
    if line.width() <= usize::from(width) {
        return 1;
    }
    // Two rows that follow each other are longer than one, or their words would be in one.
    let most = 2 * line.width().div_ceil(usize::from(width)) + 1;
    let place = Rect::new(0, 0, width, u16::try_from(most).unwrap_or(u16::MAX));
    let mut drawn = Buffer::empty(place);
    Paragraph::new(line.clone()).wrap(Wrap { trim: false }).render(place, &mut drawn);
    let is_written = |y: &u16| (0..width).any(|x| drawn[(x, *y)].symbol() != " ");
    (0..place.height).rev().find(is_written).map_or(1, |last| usize::from(last) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_count_as_often_as_they_are_wrapped() {
        let rows = |text: &'static str, width| count_rows(&[Line::raw(text)], width);
        assert_eq!((rows("", 10), rows("abc def", 10), rows("abc def", 7)), (1, 1, 1));
        assert_eq!((rows("abc def", 6), rows("abcdefghij", 3), rows("aaaa bbbb cccc", 5)), (2, 4, 3));
        assert_eq!(rows("a", 0), 1);
    }
}
