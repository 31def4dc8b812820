//! The overlays of the panels: help, forms, proposals, prompts, witnesses.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Wrap};

use super::super::editor::Editor;
use super::super::keys::HELP;
use super::super::state::{LinePurpose, MoveForm, MoveTone, Overlay, Prompt, Proposals, ScreenState};
use super::super::theme::Theme;
use super::panels::panel_frame;
use super::window;

/// Draws the overlay, if there is one.
pub fn draw_overlay(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    match &state.overlay {
        Overlay::None => (),
        Overlay::Help(top) => show_lines(frame, "help", help_lines(theme), *top, theme, area),
        Overlay::Form(form) => draw_form(frame, state, form, theme, area),
        Overlay::Proposals(proposals) => draw_proposals(frame, proposals, theme, area),
        Overlay::Prompt(prompt) => draw_prompt(frame, prompt, theme, area),
        Overlay::Witness(witness) => {
            let title = "values that satisfy the path condition";
            show_lines(frame, title, overlay_lines(&state.overlay, theme), witness.top, theme, area);
        }
    }
}

/// Returns the columns of an overlay on a terminal of `all` columns.
pub fn overlay_width(all: u16) -> u16 {
    all.saturating_sub(4).min(76)
}

/// Returns the lines of an overlay that scrolls; none of another.
pub fn overlay_lines(overlay: &Overlay, theme: Theme) -> Vec<Line<'_>> {
    match overlay {
        Overlay::Help(_) => help_lines(theme),
        Overlay::Witness(witness) => witness.lines.iter().map(|line| Line::raw(&**line)).collect(),
        Overlay::None | Overlay::Form(_) | Overlay::Proposals(_) | Overlay::Prompt(_) => Vec::new(),
    }
}

/// A place in the middle for `lines` lines, at most 76 columns wide.
fn middle(area: Rect, lines: usize) -> Rect {
    let height = u16::try_from(lines + 2).unwrap_or(u16::MAX).min(area.height);
    let width = overlay_width(area.width);
    let [_, row, _] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(height), Constraint::Fill(1)]).areas(area);
    let [_, place, _] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(width), Constraint::Fill(1)]).areas(row);
    place
}

/// Shows `lines` in the middle, from `top` on.
fn show_lines(
    frame: &mut Frame<'_>,
    title: &str,
    lines: Vec<Line<'_>>,
    top: usize,
    theme: Theme,
    area: Rect,
) {
    let place = middle(area, lines.iter().map(|line| 1 + line.width() / 72).sum());
    frame.render_widget(Clear, place);
    let top = u16::try_from(top).unwrap_or(u16::MAX);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((top, 0));
    frame.render_widget(text.block(panel_frame(title.to_owned(), theme, true)), place);
}

fn help_lines(theme: Theme) -> Vec<Line<'static>> {
    let line = |(key, what): &(&'static str, &'static str)| {
        if key.is_empty() {
            Line::styled(*what, theme.title(false))
        } else {
            Line::from(vec![Span::styled(format!("  {key:10}"), theme.key()), Span::raw(*what)])
        }
    };
    HELP.iter().map(line).collect()
}

/// `text` with its cursor shown, if it is the one that is typed.
fn typed_spans<'l>(text: &Editor, has_cursor: bool, theme: Theme) -> Vec<Span<'l>> {
    if !has_cursor {
        return vec![Span::raw(text.text())];
    }
    let (before, under, after) = text.parts();
    let under = if under.is_empty() { " ".to_owned() } else { under };
    vec![Span::raw(before), Span::styled(under, theme.chosen_style()), Span::raw(after)]
}

/// Draws the form in which the fields of a message are filled in.
fn draw_form(frame: &mut Frame<'_>, state: &ScreenState, form: &MoveForm, theme: Theme, area: Rect) {
    let Some(chosen) = state.scene.moves.get(form.at) else { return };
    let mut lines = Vec::new();
    for (i, (field, text)) in chosen.fields.iter().zip(&form.texts).enumerate() {
        let has_cursor = i == form.field;
        let mark = if has_cursor { "▸ " } else { "  " };
        let mut spans = vec![Span::raw(mark), Span::styled(format!("{}: ", field.name), theme.key())];
        spans.extend(typed_spans(text, has_cursor, theme));
        let hint = if text.text().is_empty() {
            format!(" {}, or the solver chooses", field.sort)
        } else {
            String::new()
        };
        spans.push(Span::styled(hint, theme.quiet()));
        lines.push(Line::from(spans));
    }
    lines.extend(chosen.when.iter().map(|when| Line::styled(format!("  when {when}"), theme.quiet())));
    lines.extend(form.problem.iter().map(|why| Line::styled(format!("✗ {why}"), theme.tone(MoveTone::Bad))));
    let title = format!("{}{}", chosen.kind.mark(), chosen.name);
    show_lines(frame, &title, lines, 0, theme, area);
}

/// Draws the list of proposed messages.
fn draw_proposals(frame: &mut Frame<'_>, proposals: &Proposals, theme: Theme, area: Rect) {
    let height = usize::from(area.height.saturating_sub(2));
    let shown = window(proposals.labels.len(), height, proposals.chosen);
    let row = |i: usize| {
        let number = if i < 9 { (i + 1).to_string() } else { " ".to_owned() };
        let line = Line::from(format!("{number} {}", proposals.labels[i]));
        if i == proposals.chosen { line.patch_style(theme.chosen_style()) } else { line }
    };
    show_lines(frame, "values the solver found", shown.map(row).collect(), 0, theme, area);
}

/// Draws the line in which the user types, with a hint to what is expected.
fn draw_prompt(frame: &mut Frame<'_>, prompt: &Prompt, theme: Theme, area: Rect) {
    let (title, hint) = match prompt.purpose {
        LinePurpose::Message => ("a message", "as in inX(p: 3); fields you leave out get values that fit"),
        LinePurpose::Delay => ("time passes", "as in 1.5s, 600ms or 2min"),
        LinePurpose::Search => ("search for a step", "n finds the next one"),
        LinePurpose::Filter => ("only moves with this text", "names, conditions and targets are searched"),
    };
    let mut spans = vec![Span::styled("> ", theme.key())];
    spans.extend(typed_spans(&prompt.line, true, theme));
    let mut lines = vec![Line::from(spans), Line::styled(hint, theme.quiet())];
    lines
        .extend(prompt.problem.iter().map(|why| Line::styled(format!("✗ {why}"), theme.tone(MoveTone::Bad))));
    show_lines(frame, title, lines, 0, theme, area);
}
