//! The panels: belief, moves, history.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};
use unicode_width::UnicodeWidthStr as _;

use super::super::scene::{Readiness, SceneMove, WalkMode};
use super::super::state::{Focus, MoveListing, ScreenState};
use super::super::theme::Theme;
use super::window;

/// The greatest number of columns for names and targets. Chosen by eye: the conditions need the rest.
const MAX_COLUMN: usize = 28;

/// A frame with a title; the one with the focus has a mark in its title.
pub fn panel_frame<'b>(title: String, theme: Theme, has_focus: bool) -> Block<'b> {
    let mark = if has_focus { "▸ " } else { "" };
    let title = Span::styled(format!(" {mark}{title} "), theme.title(has_focus));
    Block::bordered().border_style(theme.frame(has_focus)).title(Line::from(title))
}

/// Draws the panel of the states the model may be in.
pub fn belief(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    let scene = &state.scene;
    let title = match (scene.mode, scene.n_places) {
        (WalkMode::Symbolic, _) => "where these transitions lead".to_owned(),
        (_, Some(n)) if n > 1 => format!("the model may be in {n} states"),
        _ => "where the model is".to_owned(),
    };
    let block = panel_frame(title, theme, state.focus == Focus::Belief);
    let top = u16::try_from(state.belief_top).unwrap_or(u16::MAX);
    let text = Paragraph::new(belief_lines(state, theme)).block(block).wrap(Wrap { trim: false });
    frame.render_widget(text.scroll((top, 0)), area);
}

/// Returns the height in rows that the belief panel needs at this width, its frame included.
pub fn belief_height(state: &ScreenState, width: u16) -> u16 {
    let inner = usize::from(width.saturating_sub(2)).max(1);
    // Words that do not fit begin a line of their own, so a wrapped text may need a line more.
    let rows = |line: &Line<'_>| line.width().div_ceil(inner).max(1) + usize::from(line.width() > 2 * inner);
    let n_rows: usize = belief_lines(state, Theme::Plain).iter().map(rows).sum();
    u16::try_from(n_rows + 2).unwrap_or(u16::MAX)
}

/// Returns the lines of the belief: every state with its parts and facts, then doubts.
pub fn belief_lines(state: &ScreenState, theme: Theme) -> Vec<Line<'_>> {
    let scene = &state.scene;
    let Some(n_places) = scene.n_places else {
        return vec![Line::styled(
            "the model has no transition for the last input, so everything is allowed; u goes back",
            theme.quiet(),
        )];
    };
    let mut lines = Vec::new();
    for place in &scene.places {
        let row = |sign: &'static str, location, values: &[String]| {
            vec![
                Span::raw(sign),
                Span::styled(location, theme.location()),
                Span::raw(format!("  {}", values.join(", "))),
            ]
        };
        match place.parts.split_first() {
            None => {
                let mut spans = row("● ", &*place.location, &place.values);
                if !place.doc.is_empty() {
                    spans.push(Span::styled(format!("  // {}", place.doc), theme.quiet()));
                }
                lines.push(Line::from(spans));
            }
            Some(((first, values), rest)) => {
                lines.push(Line::from(row("● ", first, values)));
                lines.extend(rest.iter().map(|(part, values)| Line::from(row("  ", part, values))));
            }
        }
        for (i, fact) in place.facts.iter().enumerate() {
            let word = if i == 0 { "where" } else { "  and" };
            lines.push(Line::from(vec![
                Span::styled(format!("  {word} "), theme.quiet()),
                Span::raw(&**fact),
            ]));
        }
    }
    if n_places > scene.places.len() {
        lines.push(Line::styled(format!("… and {} more", n_places - scene.places.len()), theme.quiet()));
    }
    lines.extend(scene.doubts.iter().map(|doubt| Line::styled(format!("~ {doubt}"), theme.quiet())));
    lines
}

/// Draws the panel of the moves that are possible, and those that are not if they are listed.
pub fn moves(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    let listed = state.listed_positions();
    let title = match (&*state.filter, state.listing) {
        ("", MoveListing::Possible) => "possible moves".to_owned(),
        ("", MoveListing::All) => "possible moves, and impossible ones (✗)".to_owned(),
        (filter, _) => format!("moves with “{filter}”: {} of {}", listed.len(), state.scene.moves.len()),
    };
    let block = panel_frame(title, theme, state.focus == Focus::Moves);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    if listed.is_empty() {
        let hint = if state.filter.is_empty() { "no moves; x shows why" } else { "no match; Esc shows all" };
        return frame.render_widget(Paragraph::new(hint).style(theme.quiet()), inner);
    }
    let column = |text: &dyn Fn(&SceneMove) -> usize| {
        let widest = listed.iter().map(|&at| text(&state.scene.moves[at])).max();
        widest.unwrap_or(0).min(MAX_COLUMN)
    };
    let columns = MoveColumns { name: column(&|it| it.name.width()), leads: column(&|it| it.leads.width()) };
    let shown = window(listed.len(), inner.height.into(), state.chosen);
    let row = |position: usize| {
        let line = columns.row(&state.scene.moves[listed[position]], position, theme);
        if position == state.chosen { line.patch_style(theme.chosen_style()) } else { line }
    };
    frame.render_widget(Paragraph::new(shown.map(row).collect::<Vec<_>>()), inner);
}

/// The widths of the columns of the moves.
struct MoveColumns {
    name: usize,
    leads: usize,
}

impl MoveColumns {
    /// `1 ?inX(p)  r0 → busy  when p >= 1`.
    fn row<'m>(&self, it: &'m SceneMove, position: usize, theme: Theme) -> Line<'m> {
        let number = if position < 9 { format!("{} ", position + 1) } else { "  ".to_owned() };
        let (mark, style) = match it.now {
            Readiness::Possible => (" ", theme.kind_style(it.kind)),
            Readiness::Doubtful => ("~", theme.kind_style(it.kind)),
            Readiness::Refused(_) => ("✗", theme.quiet()),
        };
        let rest = match (&it.now, &it.when) {
            (Readiness::Refused(why), _) => format!("  {why}"),
            (_, Some(when)) => format!("  when {when}"),
            (_, None) => String::new(),
        };
        Line::from(vec![
            Span::styled(number, theme.quiet()),
            Span::raw(format!("{mark} ")),
            Span::styled(format!("{}{}", it.kind.mark(), pad_text(&it.name, self.name)), style),
            Span::styled(format!("  {}", pad_text(&it.leads, self.leads)), theme.quiet()),
            Span::raw(rest),
        ])
    }
}

/// `text` with spaces behind it up to `width` columns, cut if it is longer.
fn pad_text(text: &str, width: usize) -> String {
    if text.width() <= width {
        return format!("{text}{}", " ".repeat(width - text.width()));
    }
    let mut cut = String::new();
    for c in text.chars() {
        if cut.width() + 2 > width {
            break;
        }
        cut.push(c);
    }
    let space = width.saturating_sub(cut.width() + 1);
    format!("{cut}…{}", " ".repeat(space))
}

/// Draws the panel of the steps taken, and of those that were undone or that the recorded run goes on with.
pub fn history(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    let scene = &state.scene;
    let has_focus = state.focus == Focus::History;
    let title = if scene.run.is_some() { "the recorded run" } else { "history" };
    let block = panel_frame(title.to_owned(), theme, has_focus);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let now = scene.past().len();
    let chosen = if has_focus { state.step } else { now };
    let row = |step: usize| {
        let text = state.step_text(step);
        let mark = if step == now { "▶" } else { " " };
        let line = Line::from(format!("{mark}{step:>3} {text}"));
        let line = if step > now { line.patch_style(theme.quiet()) } else { line };
        if has_focus && step == chosen { line.patch_style(theme.chosen_style()) } else { line }
    };
    let shown = window(state.n_steps(), inner.height.into(), chosen);
    frame.render_widget(Paragraph::new(shown.map(row).collect::<Vec<_>>()), inner);
}
