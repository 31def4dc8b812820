//! A campaign as Markdown: for a pull request, or the summary page of a continuous integration job.
//!
//! GitHub's dialect: tables, and blocks that fold. Written once, at the end.
//!
//! *Promises.* Whatever a model or a system says stands in code spans and fenced blocks, which it
//! cannot leave; in tables, bars are escaped.

mod escape;
mod sections;

use std::io::{self, Write};

use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::Reporter;

use crate::summary::Summary;

/// A reporter that writes a campaign as Markdown.
pub struct MarkdownReport<W: Write> {
    out: W,
    summary: Summary,
    record: String,
    is_closed: bool,
}

impl<W: Write> MarkdownReport<W> {
    /// Returns a reporter that writes to `out`; `record` is the path of the record, for `ioxide replay`.
    pub fn new(out: W, record: impl Into<String>) -> Self {
        Self { out, summary: Summary::default(), record: record.into(), is_closed: false }
    }

    /// Adds the evidence about the first failure.
    pub fn set_evidence(&mut self, facts: Vec<String>) {
        self.summary.evidence = facts;
    }

    /// Returns the writer without writing the page.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes the page, unless it was written already.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        self.is_closed = true;
        self.out.write_all(markdown_page(&self.summary, &self.record).as_bytes())?;
        self.out.flush()
    }
}

/// Returns the page about a campaign; `record` is the path of its record, for `ioxide replay`.
#[must_use]
pub fn markdown_page(summary: &Summary, record: &str) -> String {
    let sections = [
        sections::verdict_section(summary),
        sections::outcomes_section(summary),
        sections::failures_section(summary, record),
        sections::evidence_section(summary),
        sections::reasons_table("Without verdict", &summary.errors),
        sections::reasons_table("Inconclusive", &summary.inconclusive),
        sections::coverage_section(summary),
        sections::requirements_section(summary),
        sections::values_section(summary),
        sections::latencies_section(summary),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

impl<W: Write + Send> Reporter for MarkdownReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.summary.add_event(event);
        match &event.event {
            EventKind::CampaignFinished(_) => self.finish(),
            EventKind::CampaignStarted(_)
            | EventKind::RunStarted(_)
            | EventKind::Stimulus(_)
            | EventKind::Observation(_)
            | EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_)
            | EventKind::RunFinished(_)
            | EventKind::Replayed(_)
            | EventKind::Shrunk(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
