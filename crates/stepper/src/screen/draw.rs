//! The screen as a function of its state: panels, hints, and what lies on top.
//!
//! *Promises.* Any size of terminal can be drawn on; what does not fit is left out, least important first.

mod detail;
mod overlays;
mod panels;
mod wrapped;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::keys;
use super::scene::WalkMode;
use super::state::{Overlay, QueryWork, ScreenState};
use super::theme::Theme;

/// The least number of columns and rows on which something useful can be shown. Chosen by eye.
const MIN: (u16, u16) = (30, 8);
/// From this width on, the history has a column. Chosen by eye.
const WITH_HISTORY: u16 = 70;
/// From this width on, all hints are shown. Chosen by eye.
const WITH_HINTS: u16 = 70;
/// From this height on, there are details. Chosen by eye.
const WITH_DETAIL: u16 = 16;

/// Draws everything.
pub fn draw_screen(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme) {
    let area = frame.area();
    if area.width < MIN.0 || area.height < MIN.1 {
        return frame.render_widget(Paragraph::new("make the window larger, or press q"), area);
    }
    let hints = hints(state, theme, area.width);
    let n_hints = hints.len() as u16;
    let detail = match area.height {
        ..WITH_DETAIL => 0,
        height => (height / 3).clamp(6, 12),
    };
    let [head, body, below, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(detail),
        Constraint::Length(n_hints),
    ])
    .areas(area);
    frame.render_widget(header_line(state, theme), head);
    draw_body(frame, state, theme, body);
    if detail > 0 {
        detail::draw_detail(frame, state, theme, below);
    }
    frame.render_widget(Paragraph::new(hints), foot);
    overlays::draw_overlay(frame, state, theme, Rect { height: area.height.saturating_sub(n_hints), ..area });
}

/// Returns the number of rows of the details.
pub fn detail_rows(state: &ScreenState) -> usize {
    wrapped::count_rows(&detail::detail_lines(state, Theme::Plain), state.width.saturating_sub(2))
}

/// Returns the number of rows of the belief.
pub fn belief_rows(state: &ScreenState) -> usize {
    let width = state.width.saturating_sub(history_width(state.width));
    wrapped::count_rows(&panels::belief_lines(state, Theme::Plain), width.saturating_sub(2))
}

/// Returns the number of rows of the overlay, if it scrolls.
pub fn overlay_rows(state: &ScreenState, overlay: &Overlay) -> usize {
    wrapped::count_rows(
        &overlays::overlay_lines(overlay, Theme::Plain),
        overlays::overlay_width(state.width).saturating_sub(2),
    )
}

/// Returns the columns of the history beside the other panels.
fn history_width(width: u16) -> u16 {
    if width < WITH_HISTORY { 0 } else { (width / 3).clamp(22, 44) }
}

/// Draws the panels between header and footer.
fn draw_body(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    let history = history_width(area.width);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(history)]).areas(area);
    let wanted = panels::belief_height(state, left.width);
    let belief = wanted.clamp(3, (left.height / 2).max(3));
    let [above, below] = Layout::vertical([Constraint::Length(belief), Constraint::Fill(1)]).areas(left);
    panels::belief(frame, state, theme, above);
    panels::moves(frame, state, theme, below);
    if history > 0 {
        panels::history(frame, state, theme, right);
    }
}

/// Returns the first line: model, mode and number of steps.
fn header_line<'l>(state: &'l ScreenState, theme: Theme) -> Line<'l> {
    let scene = &state.scene;
    let mode = match scene.mode {
        WalkMode::Concrete => "concrete",
        WalkMode::Symbolic => "symbolic",
    };
    let n_steps = scene.past().len();
    let step = match &scene.run {
        Some(run) => format!("step {n_steps} of {} in {run}", n_steps + scene.future().len()),
        None => format!("step {n_steps}"),
    };
    let title = Span::styled(format!(" {} ", scene.model), theme.chosen_style());
    let work = match state.work {
        QueryWork::Idle => "",
        QueryWork::Asked => "  ·  working, Ctrl-C ends",
    };
    Line::from(vec![title, Span::raw(format!("  {mode}  ·  {step}{work}"))])
}

/// The hints, on as many lines as they need, at most three.
fn hints(state: &ScreenState, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = vec![Line::default()];
    let wanted = |(key, _): &keys::Hint| width >= WITH_HINTS || keys::MAIN.contains(key);
    for (key, what) in keys::hints(state).into_iter().filter(wanted) {
        let spans = [Span::styled(format!(" {key}"), theme.key()), Span::raw(format!(" {what}"))];
        let needed: usize = spans.iter().map(Span::width).sum();
        let used = lines.last().map_or(0, Line::width);
        if used + needed > usize::from(width) && used > 0 && lines.len() < 3 {
            lines.push(Line::default());
        }
        lines.last_mut().expect("there is a line").spans.extend(spans);
    }
    lines
}

/// The part of a list of `n` that `height` lines show, with `at` among it.
fn window(n: usize, height: usize, at: usize) -> std::ops::Range<usize> {
    let start = at.saturating_sub(height / 2).min(n.saturating_sub(height));
    start..(start + height).min(n)
}
