//! A history of concurrent clients as one HTML page: a lane for each client, its operations as bars, faults as bands.
//!
//! The order that was found is shown as numbered points: an operation took effect at its point. On failure the page
//! shows the core, the longest order that works and the operation that cannot be placed after it. The page has no
//! script and needs no other file; operations are links, so it can be read with the keyboard alone.
//!
//! *Promises.* Text of a model or a system cannot become markup. A long history is divided into sections, which a
//! browser draws only when they are opened, and shown up to `MAX_SHOWN` operations.

mod lanes;

use std::collections::BTreeMap;
use std::io::{self, Write};

use ioxide_history::{FailureCore, HistoryVerdict};

use self::lanes::{LanesView, write_lanes};
use crate::history::HistoryView;
use crate::svg::escape;

/// The greatest number of operations of a page. Chosen by feel: a page of about 4 MB; a failure is among the last ones.
const MAX_SHOWN: usize = 10_000;

/// The number of operations of a section. Chosen by feel: a few screens wide.
const SECTION: usize = 100;

/// The style sheet of the page.
const STYLE: &str = include_str!("timeline.css");

/// A page about one history.
#[derive(Clone, Copy, Debug)]
pub struct TimelinePage<'a> {
    /// The history and the verdict.
    pub view: HistoryView<'a>,
    /// The sentence about a system that broke down, which fails whatever its answers were.
    pub breakdown: Option<&'a str>,
}

/// The place of operations in the order that was found.
struct FoundOrder {
    /// For every operation in the order: its rank, from 1, and the position of its point among all events.
    points: BTreeMap<usize, (usize, f64)>,
}

impl FoundOrder {
    /// Places the points of orders, each of a part of its own.
    fn place(view: &HistoryView<'_>, orders: &[Vec<usize>]) -> Self {
        let mut points = BTreeMap::new();
        for order in orders {
            let mut latest = 0;
            for (rank, &at) in order.iter().enumerate() {
                // The order respects real time, so no operation before this one was called after its return: the
                // latest call so far lies within the bar, and the points of the order never go back.
                latest = latest.max(view.history.operations[at].call);
                points.insert(at, (rank + 1, f64::from(latest) + 0.5));
            }
        }
        Self { points }
    }
}

impl TimelinePage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// If `out` does not take it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut told = Vec::new();
        self.view.show(&mut told)?;
        let told = String::from_utf8_lossy(&told).into_owned();
        let first = self.breakdown.map_or_else(
            || told.lines().next().unwrap_or_default().to_owned(),
            |breakdown| format!("FAIL: {breakdown}"),
        );
        let kind = match (&self.view.judged.verdict, self.breakdown) {
            (_, Some(_)) | (HistoryVerdict::Inconsistent(_), None) => "fail",
            (HistoryVerdict::Unknown(_), None) => "inconclusive",
            (HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_), None) => "pass",
        };
        let title = escape(&format!("{}: {first}", self.view.model.sts.name));
        writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
        writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        )?;
        writeln!(out, "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>")?;
        writeln!(out, "<div class=\"verdict {kind}\"><h1>{}</h1>", escape(&first))?;
        let last = told.lines().next_back().unwrap_or_default();
        writeln!(out, "<p class=\"soft\">{}</p></div>", mark_code(&escape(last)))?;
        let order = self.find_order();
        if let HistoryVerdict::Inconsistent(core) = &self.view.judged.verdict {
            self.write_core(out, core, &order)?;
        }
        self.write_history(out, &order)?;
        writeln!(out, "</main>\n</body>\n</html>")
    }

    fn find_order(&self) -> FoundOrder {
        match &self.view.judged.verdict {
            HistoryVerdict::Consistent(orders) => FoundOrder::place(&self.view, orders),
            HistoryVerdict::Unspecified(order) => FoundOrder::place(&self.view, std::slice::from_ref(order)),
            HistoryVerdict::Inconsistent(core) => {
                FoundOrder::place(&self.view, std::slice::from_ref(&core.order))
            }
            HistoryVerdict::Unknown(_) => FoundOrder { points: BTreeMap::new() },
        }
    }

    /// Returns the operations that contradict each other; `None` if an order explains all of them.
    fn core(&self) -> Option<&FailureCore> {
        match &self.view.judged.verdict {
            HistoryVerdict::Inconsistent(core) => Some(core),
            _ => None,
        }
    }

    fn write_core(&self, out: &mut dyn Write, core: &FailureCore, order: &FoundOrder) -> io::Result<()> {
        writeln!(out, "<section id=\"core\">\n<h2>No order explains these operations</h2>")?;
        let mut shown = core.operations.clone();
        if !shown.contains(&core.stuck) {
            shown.push(core.stuck);
            shown.sort_unstable();
        }
        self.write_lanes(out, "the operations of the core", &shown, order)?;
        writeln!(out, "<ul>")?;
        for &at in &core.operations {
            self.write_item(out, at, "", &self.view.show_precedence(core, at))?;
        }
        writeln!(out, "</ul>")?;
        if let Some(states) = &core.since {
            let which = if states.len() == 1 { "this state" } else { "one of these states" };
            writeln!(out, "<p>Before them nothing runs, and the model is in {which}:</p>\n<ul>")?;
            for state in states.iter().take(crate::history::LAST_OPERATIONS) {
                writeln!(out, "<li><code>{}</code></li>", escape(&self.view.show_state(state)))?;
            }
            writeln!(out, "</ul>")?;
        }
        writeln!(out, "<h2>The longest order that works</h2>")?;
        let skipped = core.order.len().saturating_sub(SECTION);
        writeln!(out, "<ol start=\"{}\" id=\"order\">", skipped + 1)?;
        for &at in &core.order[skipped..] {
            let note = if core.operations.contains(&at) { "" } else { "  (may have happened)" };
            self.write_item(out, at, "", note)?;
        }
        self.write_item(out, core.stuck, "stuck", "  cannot be placed here")?;
        writeln!(out, "</ol>")?;
        let allowed: Vec<String> = core.allowed.iter().map(|label| self.view.show_label(label)).collect();
        if !allowed.is_empty() {
            let allowed = escape(&allowed.join(" or "));
            writeln!(out, "<p id=\"allowed\">After this order the model allows <code>{allowed}</code>.</p>")?;
        }
        writeln!(out, "</section>")
    }

    fn write_item(&self, out: &mut dyn Write, at: usize, class: &str, note: &str) -> io::Result<()> {
        let text = escape(&self.view.show_operation(at));
        writeln!(out, "<li class=\"{class}\"><code>{text}</code>{}</li>", escape(note))
    }

    /// Writes all operations, in sections; the one with the failure, else the first, is open.
    fn write_history(&self, out: &mut dyn Write, order: &FoundOrder) -> io::Result<()> {
        let n = self.view.history.operations.len();
        let first = self.core().map_or(0, |core| core.stuck.saturating_sub(MAX_SHOWN - SECTION));
        let end = n.min(first + MAX_SHOWN);
        writeln!(out, "<section id=\"history\">\n<h2>All operations</h2>")?;
        if (first, end) != (0, n) {
            let (from, to) = (first + 1, end);
            writeln!(out, "<p>Operations #{from} to #{to} of {n} are shown; the history file has all.</p>")?;
        }
        writeln!(
            out,
            "<p class=\"soft\">Time runs to the right, one step for each call and return. The numbers on the bars are \
             the order that was found. Select a bar to see its operation below.</p>"
        )?;
        let failing = self.core().map_or(first, |core| core.stuck);
        for from in (first..end).step_by(SECTION) {
            let to = end.min(from + SECTION);
            let open = if (from..to).contains(&failing) { " open" } else { "" };
            writeln!(out, "<details{open}>\n<summary>#{} to #{to}</summary>", from + 1)?;
            let numbers: Vec<usize> = (from..to).collect();
            self.write_lanes(out, &format!("operations {} to {to}", from + 1), &numbers, order)?;
            writeln!(out, "<ul>")?;
            for at in from..to {
                let text = escape(&self.view.show_operation(at));
                writeln!(out, "<li id=\"op{}\"><code>{text}</code></li>", at + 1)?;
            }
            writeln!(out, "</ul>\n</details>")?;
        }
        writeln!(out, "</section>")
    }

    fn write_lanes(
        &self,
        out: &mut dyn Write,
        label: &str,
        operations: &[usize],
        order: &FoundOrder,
    ) -> io::Result<()> {
        write_lanes(out, &LanesView { page: self, core: self.core(), order, label, operations })
    }
}

/// Returns text with its parts between backquotes as code.
fn mark_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() })
        .collect()
}
