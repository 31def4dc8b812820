//! The picture of some operations: lanes, bars, points and bands.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ioxide_history::{ClientOperation, FailureCore};

use super::{FoundOrder, TimelinePage};
use crate::svg::escape;

/// The width of a step between two events. All sizes are in pixels and were chosen by eye.
const STEP: f64 = 26.0;
/// The height of a lane.
const LANE_HEIGHT_PX: f64 = 34.0;
/// The height of a bar.
const BAR_HEIGHT_PX: f64 = 20.0;
/// The room above the lanes, for the names of faults.
const TOP: f64 = 18.0;
/// The width of a letter, about.
const LETTER: f64 = 7.0;
/// The number of steps after its call that an operation without an answer is drawn for.
const OPEN_STEPS: f64 = 3.0;

/// The operations of a picture.
pub(super) struct LanesView<'a> {
    pub(super) page: &'a TimelinePage<'a>,
    pub(super) core: Option<&'a FailureCore>,
    pub(super) order: &'a FoundOrder,
    /// The name of the picture, for readers who do not see it.
    pub(super) label: &'a str,
    pub(super) operations: &'a [usize],
}

/// The columns of a picture: one for each event of its operations, in their order.
struct EventColumns {
    events: Vec<u32>,
    left: f64,
}

impl EventColumns {
    /// Returns the place of a position among all events of the history, which may lie between two of them.
    fn place(&self, position: f64) -> f64 {
        let before = self.events.partition_point(|&event| f64::from(event) <= position);
        let on_event = before > 0 && f64::from(self.events[before - 1]) >= position;
        let column = if on_event { before as f64 - 1.0 } else { before as f64 - 0.5 };
        self.left + column.max(0.0) * STEP
    }

    /// Returns the right border of the drawing, with room for operations without an answer.
    fn end(&self) -> f64 {
        self.left + (self.events.len() as f64 + OPEN_STEPS) * STEP
    }
}

/// Writes the picture.
pub(super) fn write_lanes(out: &mut dyn Write, view: &LanesView<'_>) -> io::Result<()> {
    let history = view.page.view.history;
    let mut rows: BTreeMap<(u64, &str), Vec<usize>> = BTreeMap::new();
    let mut events = Vec::new();
    for &at in view.operations {
        let operation = &history.operations[at];
        rows.entry(view.page.view.lane_key(operation.client)).or_default().push(at);
        events.push(operation.call);
        events.extend(operation.answer.as_ref().map(|answer| answer.ret));
    }
    events.sort_unstable();
    let show_client = |name: &str| format!("client {name}");
    let widest = rows.keys().map(|(_, name)| show_client(name).chars().count()).max().unwrap_or(0);
    let columns = EventColumns { events, left: widest as f64 * LETTER + 16.0 };
    let (width, height) = (columns.end(), TOP + rows.len() as f64 * LANE_HEIGHT_PX + 6.0);
    let label = escape(view.label);
    writeln!(out, "<div class=\"lanes\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">")?;
    writeln!(
        out,
        "<svg width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">"
    )?;
    write_faults(out, view, &columns, height)?;
    for (row, ((_, name), operations)) in rows.iter().enumerate() {
        let middle = TOP + (row as f64 + 0.5) * LANE_HEIGHT_PX;
        let end = columns.end();
        writeln!(
            out,
            "<text class=\"name\" x=\"6\" y=\"{:.0}\">{}</text><line class=\"lane\" x1=\"{:.0}\" y1=\"{middle:.0}\" \
             x2=\"{end:.0}\" y2=\"{middle:.0}\"/>",
            middle + 4.0,
            escape(&show_client(name)),
            columns.left - 6.0,
        )?;
        for &at in operations {
            write_bar(out, view, &columns, at, middle)?;
        }
    }
    writeln!(out, "</svg>\n</div>")
}

/// Writes the bar of an operation, with its number and its point.
fn write_bar(
    out: &mut dyn Write,
    view: &LanesView<'_>,
    columns: &EventColumns,
    at: usize,
    middle: f64,
) -> io::Result<()> {
    let operation = &view.page.view.history.operations[at];
    let from = columns.place(f64::from(operation.call));
    let (to, open) = match &operation.answer {
        Some(answer) => (columns.place(f64::from(answer.ret)), ""),
        None => (from + OPEN_STEPS * STEP, " open"),
    };
    let class = match view.core {
        Some(core) if core.stuck == at => "stuck",
        Some(core) if core.operations.contains(&at) => "core",
        _ => "",
    };
    let number = at + 1;
    let title = escape(&view.page.view.show_operation(at));
    write!(out, "<a href=\"#op{number}\" class=\"operation {class}\" data-operation=\"{number}\">")?;
    write!(
        out,
        "<title>{title}</title><rect class=\"bar{open}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
         height=\"{BAR_HEIGHT_PX}\" rx=\"4\"/>",
        middle - BAR_HEIGHT_PX / 2.0,
        (to - from).max(2.0),
    )?;
    write!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\">#{number}</text>",
        from + 2.0,
        middle - BAR_HEIGHT_PX / 2.0 - 1.0
    )?;
    let cross = view.core.is_some_and(|core| core.stuck == at);
    if let Some(&(rank, position)) = view.order.points.get(&at).filter(|_| !cross) {
        let x = columns.place(position).clamp(from, to);
        let radius = 5.0 + rank.to_string().len() as f64 * 2.0;
        write!(
            out,
            "<circle class=\"point\" cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"{radius:.0}\"/>\
             <text class=\"rank\" x=\"{x:.1}\" y=\"{:.1}\">{rank}</text>",
            middle + 4.0,
        )?;
    } else if cross {
        write!(out, "<text x=\"{:.1}\" y=\"{:.1}\">✗</text>", (from + to) / 2.0 - 4.0, middle + 4.0)?;
    }
    writeln!(out, "</a>")
}

/// Writes the faults as bands, as far as the instants of the operations tell where they belong.
fn write_faults(
    out: &mut dyn Write,
    view: &LanesView<'_>,
    columns: &EventColumns,
    height: f64,
) -> io::Result<()> {
    let history = view.page.view.history;
    let mut instants: Vec<(u64, u32)> = Vec::new();
    for &at in view.operations {
        let ClientOperation { call, called_ns, answer, .. } = &history.operations[at];
        instants.extend(called_ns.map(|ns| (ns, *call)));
        instants.extend(answer.as_ref().and_then(|it| Some((it.returned_ns?, it.ret))));
    }
    instants.sort_unstable();
    let (Some(first), Some(last)) = (instants.first(), instants.last()) else { return Ok(()) };
    for fault in &history.faults {
        if fault.to_ns < first.0 || fault.from_ns > last.0 {
            continue;
        }
        // A band begins and ends between the events around it.
        let place = |ns: u64| match instants.iter().rev().find(|(at, _)| *at <= ns) {
            Some((_, event)) => columns.place(f64::from(*event) + 0.5),
            None => columns.left,
        };
        let (from, to) = (place(fault.from_ns), place(fault.to_ns));
        let (name, width) = (escape(&fault.name), (to - from).max(4.0));
        writeln!(
            out,
            "<g class=\"fault-band\"><rect class=\"fault\" x=\"{from:.1}\" y=\"0\" width=\"{width:.1}\" \
             height=\"{height:.0}\"><title>{name}</title></rect><text class=\"fault-name\" x=\"{:.1}\" y=\"11\">{name}\
             </text></g>",
            from + 2.0,
        )?;
    }
    Ok(())
}
