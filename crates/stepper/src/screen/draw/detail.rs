//! The details: the outcome of the last move, else more about the chosen one.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::super::scene::{MoveField, MoveKind, Readiness, SceneMove};
use super::super::state::{Focus, MoveTone, ScreenState};
use super::super::theme::Theme;
use super::panels::panel_frame;

/// Draws the panel.
pub fn draw_detail(frame: &mut Frame<'_>, state: &ScreenState, theme: Theme, area: Rect) {
    let title = match &state.told {
        _ if state.focus == Focus::History => "the chosen step",
        Some(told) if told.tone == MoveTone::Bad => "✗ not possible",
        Some(told) if told.tone == MoveTone::Note => "what happened",
        Some(_) | None => "the chosen move",
    };
    let block = panel_frame(title.to_owned(), theme, state.focus == Focus::Detail);
    let top = u16::try_from(state.detail_top).unwrap_or(u16::MAX);
    let text = Paragraph::new(detail_lines(state, theme)).block(block).wrap(Wrap { trim: false });
    frame.render_widget(text.scroll((top, 0)), area);
}

/// Returns the lines of the panel: the chosen step of the history, the outcome of the last move, or the chosen move.
pub fn detail_lines(state: &ScreenState, theme: Theme) -> Vec<Line<'_>> {
    if state.focus == Focus::History {
        return vec![Line::raw(format!("{} {}", state.step, state.step_text(state.step)))];
    }
    let mut lines: Vec<Line<'_>> = Vec::new();
    if let Some(told) = &state.told {
        let style = |i: usize| if i == 0 { theme.tone(told.tone) } else { Style::new() };
        let mark = if told.tone == MoveTone::Good { "✓ " } else { "" };
        let text = |(i, line): (usize, &String)| Line::styled(format!("{mark}{line}"), style(i));
        lines.extend(told.lines.iter().enumerate().map(text));
        if told.tone != MoveTone::Good {
            return lines;
        }
    }
    match state.chosen_move() {
        Some((_, chosen)) => lines.extend(describe_move(chosen, theme)),
        None => lines.push(Line::styled("nothing is chosen", theme.quiet())),
    }
    lines
}

fn describe_move(chosen: &SceneMove, theme: Theme) -> Vec<Line<'_>> {
    let who = match chosen.kind {
        MoveKind::Input => "the tester sends it",
        MoveKind::Observed => "another sender sends it, the tester sees it",
        MoveKind::Output => "the system sends it",
        MoveKind::Internal => "it happens unseen",
        MoveKind::Silence => "the system waits for an input",
    };
    let name = Span::styled(format!("{}{}", chosen.kind.mark(), chosen.name), theme.kind_style(chosen.kind));
    let mut lines = vec![Line::from(vec![
        name,
        Span::raw(format!("  {}  ", chosen.leads)),
        Span::styled(who, theme.quiet()),
    ])];
    match &chosen.now {
        Readiness::Possible => (),
        Readiness::Doubtful => lines.push(Line::raw("~ the solver did not decide whether it is possible")),
        Readiness::Refused(why) => {
            lines.push(Line::styled(format!("✗ not now: {why}"), theme.tone(MoveTone::Bad)))
        }
    }
    let row = |what: &str, text: String| {
        Line::from(vec![Span::styled(format!("{what:7}"), theme.quiet()), Span::raw(text)])
    };
    let field = |field: &MoveField| format!("{}: {}", field.name, field.sort);
    if !chosen.fields.is_empty() {
        lines.push(row("fields", chosen.fields.iter().map(field).collect::<Vec<_>>().join(", ")));
    }
    lines.extend(chosen.when.iter().map(|when| row("when", when.clone())));
    lines.extend(chosen.about.iter().map(|text| Line::raw(&**text)));
    lines
}
