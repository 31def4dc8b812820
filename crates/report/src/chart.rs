//! A run as a sequence chart in plain text: two lanes, an arrow for every message.
//!
//! The tester stands on the left, the system on the right, time goes down. A system made of parts has a lane for
//! every part that is seen, as long as there is room. Silence is drawn
//! as such. Under a forbidden step stands what was expected in its place.
//!
//! *Promises.* No line is wider than asked for (as terminals count columns), nor does any text break out of its lane:
//! it is cut, wrapped, and its control characters are written out by
//! [`show_control_characters`](crate::control_characters::show_control_characters).

use std::collections::BTreeSet;

use ioxide_record::event::{Allowed, LabelKind, LabelRecord};
use unicode_width::UnicodeWidthChar;

use crate::control_characters::excerpt;

/// The columns of a chart unless another width is asked for. Chosen by eye, as are the widths below: charts go into
/// reports, where lines of 100 characters fit.
pub const WIDTH: usize = 100;
/// The least width of a chart, in columns. Chosen by eye.
const MIN_WIDTH: usize = 48;
/// Characters kept of a message. Chosen by eye.
const MAX_TEXT: usize = 300;
/// Lines one message may take. Chosen by eye.
const MAX_LINES: usize = 3;
/// Expected messages drawn below a forbidden step. Chosen by feel: more is not read.
const MAX_EXPECTED: usize = 3;
/// Columns for the mark, the number and the space before the first lane.
const MARGIN: usize = 10;
/// Columns for the note behind the second lane. Chosen by eye.
const NOTE: usize = 18;
/// Columns of the name of a part. Chosen by eye.
const MAX_LANE: usize = 14;
/// Columns that the lanes of parts may take together. Chosen by eye.
const MAX_LANES: usize = 44;
/// Columns of an arrow that no text uses. Chosen by eye.
const ARROW_COLUMNS: usize = 7;

/// One step as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStep {
    /// The kind of the label, which says which side moved.
    pub kind: LabelKind,
    /// The text on the arrow.
    pub text: String,
    /// The part of the system that the label belongs to; `None` if the system is not made of parts.
    pub part: Option<String>,
}

impl ChartStep {
    /// Returns the drawing of `label`; a long text is cut.
    #[must_use]
    pub fn new(label: &LabelRecord) -> Self {
        let part = label.part.as_ref().map(|part| excerpt(part, MAX_LANE));
        Self { kind: label.kind, text: excerpt(&label.text, MAX_TEXT), part }
    }
}

/// The remark on a step of a chart, by its position among the steps that are drawn.
#[derive(Clone, Copy, Debug)]
pub enum StepNote<'a> {
    /// Every step is allowed, or the forbidden one is not drawn.
    Fine,
    /// The step is forbidden; the alternatives are not known.
    Forbidden(usize),
    /// The step is forbidden; these labels were allowed in its place.
    Instead(usize, &'a [Allowed]),
}

impl StepNote<'_> {
    /// Returns the position of the forbidden step; `None` if there is none.
    fn forbidden(&self) -> Option<usize> {
        match self {
            Self::Fine => None,
            Self::Forbidden(at) | Self::Instead(at, _) => Some(*at),
        }
    }
}

/// A sequence chart to draw.
#[derive(Clone, Debug)]
pub struct SequenceChart<'a> {
    /// The steps, in order.
    pub steps: &'a [ChartStep],
    /// The number of steps of the run before the first in `steps`.
    pub before: usize,
    /// The remark on the forbidden step.
    pub note: StepNote<'a>,
    /// The columns the chart may take; fewer than 48 count as 48.
    pub width: usize,
}

/// The lines of the chart.
#[must_use]
pub fn draw_chart(chart: &SequenceChart<'_>) -> Vec<String> {
    let sheet = ChartSheet::new(chart);
    let mut lines = vec![sheet.heading_line()];
    if chart.before > 0 {
        let what = if chart.before == 1 { "step" } else { "steps" };
        lines.push(sheet.row_between(
            "",
            &sheet.centre_text(&format!("… {} {what} before", chart.before), ' '),
            "",
        ));
    }
    for (at, step) in chart.steps.iter().enumerate() {
        let is_bad = chart.note.forbidden() == Some(at);
        let mark = if is_bad { "✗" } else { " " };
        let lead = format!("  {mark} {:>4}", chart.before + at + 1);
        let instead = match chart.note {
            StepNote::Instead(_, instead) if is_bad => Some(instead),
            StepNote::Fine | StepNote::Forbidden(_) | StepNote::Instead(..) => None,
        };
        let note = if instead.is_some() { "got" } else { "" };
        lines.extend(sheet.draw_step(&lead, step, ChartStroke::Solid, note));
        lines.extend(instead.into_iter().flat_map(|instead| sheet.expected_lines(instead)));
    }
    lines
}

/// The stroke of an arrow.
#[derive(Clone, Copy)]
enum ChartStroke {
    /// The step happened.
    Solid,
    /// The step was expected in place of another.
    Dashed,
}

impl ChartStroke {
    fn stroke_char(self) -> char {
        match self {
            Self::Solid => '─',
            Self::Dashed => '╌',
        }
    }
}

/// The layout of a chart: the columns between tester and system, and the lanes of parts.
struct ChartSheet {
    inner: usize,
    /// The names of the parts that have lanes of their own; empty if the system has a single lane.
    lanes: Vec<String>,
}

impl ChartSheet {
    /// Chooses the width of the columns so that the chart fits its width where possible.
    fn new(chart: &SequenceChart<'_>) -> Self {
        let instead = match chart.note {
            StepNote::Instead(_, instead) => &instead[..instead.len().min(MAX_EXPECTED)],
            StepNote::Fine | StepNote::Forbidden(_) => &[],
        };
        let lanes = lane_names(chart.steps, instead);
        // The lanes of further parts take their columns from the arrows.
        let room = lanes.len().saturating_sub(1) * (lane_gap(&lanes) + 1);
        let most = (chart.width.max(MIN_WIDTH) - MARGIN - NOTE - 2).saturating_sub(room);
        let least = MIN_WIDTH - MARGIN - NOTE - 2;
        let texts = chart.steps.iter().map(|step| count_columns(&step.text));
        let widest = texts
            .chain(instead.iter().map(|allowed| count_columns(&excerpt(&allowed.label, MAX_TEXT))))
            .max();
        // As wide as the widest text needs, so that short runs are not stretched over the page.
        Self { inner: (widest.unwrap_or(0) + ARROW_COLUMNS).clamp(least, most.max(least)), lanes }
    }

    fn heading_line(&self) -> String {
        if self.lanes.is_empty() {
            return format!("{:MARGIN$}tester{:>rest$}", "", "system", rest = self.inner - 4);
        }
        let mut line = format!("{:MARGIN$}tester{:rest$}", "", "", rest = self.inner - 5);
        for name in &self.lanes {
            line.push_str(name);
            line.push_str(&" ".repeat((lane_gap(&self.lanes) + 1).saturating_sub(count_columns(name))));
        }
        line.trim_end().to_owned()
    }

    /// Returns a line with `between` between the lanes of tester and system.
    fn row_between(&self, lead: &str, between: &str, note: &str) -> String {
        self.row_to(lead, between, (0, ' ', ' '), note)
    }

    /// Returns a line that continues to lane number `to`, drawn with `ink` and ended by `head`.
    fn row_to(&self, lead: &str, between: &str, (to, ink, head): (usize, char, char), note: &str) -> String {
        let before = MARGIN.saturating_sub(count_columns(lead));
        let mut line = format!("{lead}{:before$}│{between}", "");
        for at in 1..self.lanes.len() {
            // An arrow to a part further right crosses the lanes before it.
            let (sign, ink) = if at <= to { ('┼', ink) } else { ('│', ' ') };
            let end = if at == to { head } else { ink };
            line.push(sign);
            line.push_str(&ink.to_string().repeat(lane_gap(&self.lanes) - 1));
            line.push(end);
        }
        line.push_str(&format!("│ {note}"));
        line.trim_end().to_owned()
    }

    /// Returns the position of the lane of a step.
    fn lane_position(&self, step: &ChartStep) -> usize {
        let of = |name: &String| step.part.as_ref() == Some(name);
        self.lanes.iter().position(of).unwrap_or(0)
    }

    fn draw_step(&self, lead: &str, step: &ChartStep, stroke: ChartStroke, note: &str) -> Vec<String> {
        let is_seen = step.kind == LabelKind::Observed && note.is_empty();
        let note = if is_seen { "from outside" } else { note };
        // The last part of a wrapped text stands on the arrow, those before it above.
        let mut parts = wrap_text(&step.text, self.inner - ARROW_COLUMNS);
        let last = parts.pop().unwrap_or_default();
        let to = self.lane_position(step);
        let ink = stroke.stroke_char();
        let (head, reaches) = match step.kind {
            LabelKind::Input => (if to == 0 { '▶' } else { ink }, ('▶', ink)),
            LabelKind::Output => (ink, (ink, ink)),
            _ => (' ', (' ', ' ')),
        };
        let is_message = matches!(step.kind, LabelKind::Input | LabelKind::Output);
        let on = (if is_message { to } else { 0 }, reaches.1, reaches.0);
        let arrow = match step.kind {
            LabelKind::Input => self.arrow_to_system(&last, stroke, head),
            // It came to the system, but not from the tester.
            LabelKind::Observed => self.centre_text(&format!(" {last} "), '╌'),
            LabelKind::Output => self.arrow_to_tester(&last, stroke),
            LabelKind::Quiescence => self.centre_text(" silence ", '·'),
            LabelKind::Delay => self.centre_text(&format!(" {last} passes "), '·'),
            LabelKind::Ended
            | LabelKind::Closed
            | LabelKind::Hung
            | LabelKind::Unreadable
            | LabelKind::Exception => self.centre_text(&format!(" {last} "), '╳'),
        };
        let mut lead = lead;
        let mut lines = Vec::new();
        for part in &parts {
            lines.push(self.row_between(lead, &self.centre_text(part, ' '), ""));
            lead = "";
        }
        lines.push(self.row_to(lead, &arrow, on, note));
        lines
    }

    fn arrow_to_system(&self, text: &str, stroke: ChartStroke, head: char) -> String {
        let rest = (self.inner - 5).saturating_sub(count_columns(text));
        let ink = stroke.stroke_char();
        format!("{ink}{ink} {text} {}{head}", ink.to_string().repeat(rest))
    }

    fn arrow_to_tester(&self, text: &str, stroke: ChartStroke) -> String {
        let rest = (self.inner - 5).saturating_sub(count_columns(text));
        let ink = stroke.stroke_char();
        format!("◀{} {text} {ink}{ink}", ink.to_string().repeat(rest))
    }

    fn centre_text(&self, text: &str, fill: char) -> String {
        let free = self.inner.saturating_sub(count_columns(text));
        let fill = |n: usize| fill.to_string().repeat(n);
        format!("{}{text}{}", fill(free / 2), fill(free - free / 2))
    }

    /// Returns the lines below a forbidden step: the labels that were allowed in its place.
    fn expected_lines(&self, instead: &[Allowed]) -> Vec<String> {
        if instead.is_empty() {
            return vec![self.row_between("", &self.centre_text("nothing is allowed here", ' '), "expected")];
        }
        let mut lines = Vec::new();
        for allowed in instead.iter().take(MAX_EXPECTED) {
            let note = match &allowed.switch {
                Some(switch) => fit_text(&format!("expected [{}]", excerpt(switch, NOTE)), NOTE - 1),
                None => "expected".to_owned(),
            };
            // Without a switch, the expectation is silence.
            let kind = if allowed.switch.is_some() { LabelKind::Output } else { LabelKind::Quiescence };
            let part = allowed.switch.as_deref().and_then(switch_part);
            let step = ChartStep { kind, text: excerpt(&allowed.label, MAX_TEXT), part };
            lines.extend(self.draw_step("", &step, ChartStroke::Dashed, &note));
        }
        if instead.len() > MAX_EXPECTED {
            let more = format!("or one of {} more", instead.len() - MAX_EXPECTED);
            lines.push(self.row_between("", &self.centre_text(&more, ' '), "expected"));
        }
        lines
    }
}

/// The parts that messages belong to, in the order of their names; none if there are fewer than two, not enough room
/// for them, or messages that belong to none.
fn lane_names(steps: &[ChartStep], instead: &[Allowed]) -> Vec<String> {
    let messages = || steps.iter().filter(|step| matches!(step.kind, LabelKind::Input | LabelKind::Output));
    let expected = instead.iter().filter_map(|allowed| switch_part(allowed.switch.as_deref()?));
    let names: BTreeSet<String> = messages().filter_map(|step| step.part.clone()).chain(expected).collect();
    let names: Vec<String> = names.into_iter().collect();
    let has_room = names.len() * (lane_gap(&names) + 1) <= MAX_LANES;
    // A label may have a dot in it: only messages say that there are parts.
    let are_parts = messages().next().is_some() && messages().all(|step| step.part.is_some());
    if names.len() > 1 && has_room && are_parts { names } else { Vec::new() }
}

/// The part that takes a switch of a system first.
fn switch_part(switch: &str) -> Option<String> {
    let first = switch.split('+').next()?;
    first.rsplit_once('.').map(|(part, _)| excerpt(part, MAX_LANE))
}

/// Columns between the lanes of parts: room for their names.
fn lane_gap(names: &[String]) -> usize {
    names.iter().map(|name| count_columns(name)).max().unwrap_or(0) + 1
}

/// The columns `text` takes, character by character, as most terminals count them.
fn count_columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// `text` in at most [`MAX_LINES`] parts of `most` columns each; the last says if there is more.
fn wrap_text(text: &str, most: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > most {
            if parts.len() == MAX_LINES {
                let last = parts.pop().unwrap_or_default();
                parts.push(fit_text(&format!("{last}…"), most));
                return parts;
            }
            parts.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// `text` if it fits, else its beginning and an ellipsis.
fn fit_text(text: &str, most: usize) -> String {
    if count_columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= most
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
