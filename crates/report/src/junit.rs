//! A campaign as JUnit XML, the form that continuous integration systems read.
//!
//! | run | element of its `testcase` | reading |
//! | --- | --- | --- |
//! | passed | none | the system did what the model allows, and the goal was met |
//! | failed | `failure` | the system did what the model does not allow |
//! | trouble | `error` | no verdict: the system or the way to it broke |
//! | inconclusive, interrupted | `skipped` | nothing wrong was seen, the goal was not met |
//!
//! The evidence about the first failure is the `system-out` of the suite.
//!
//! One `testsuite` for the campaign, one `testcase` for each [`ReportedCase`], written as runs end: memory does not
//! grow with them. The totals stand in the first lines, so the writer must be able to go back there.
//!
//! *Promises.* The file is well-formed once the campaign has ended, and not before: a campaign
//! that died is not taken for a green one. `tests`, `failures`, `errors` and `skipped` are the
//! numbers of elements that follow. Characters that XML cannot hold are written as `\u{…}`.

mod case;
pub mod clients;
mod xml;

use std::io::{self, Seek, SeekFrom, Write};

use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::Reporter;

use self::case::{Totals, case_xml};
use self::xml::{attribute_value, text_line};
use crate::reported_case::{CaseLister, MAX_LISTED, ReportedCase};
use crate::requirements::RequirementRow;
use crate::summary::ENDLESS;

/// A reporter that writes a campaign as JUnit XML.
pub struct JunitReport<W: Write + Seek> {
    out: W,
    lister: CaseLister,
    totals: Totals,
    /// The offset of the first lines in `out`, and their length in bytes; `None` until they are written.
    head: Option<(u64, usize)>,
    /// The offset of the properties of requirements in `out`, and the length of each in characters.
    requirements: (u64, Vec<usize>),
    is_closed: bool,
}

impl<W: Write + Seek> JunitReport<W> {
    /// Returns a reporter that writes to `out`, from its current position.
    pub fn new(out: W) -> Self {
        Self {
            out,
            lister: CaseLister::new(MAX_LISTED),
            totals: Totals::default(),
            head: None,
            requirements: (0, Vec::new()),
            is_closed: false,
        }
    }

    /// Lists at most `limit` runs of every outcome one by one.
    #[must_use]
    pub fn with_listing_limit(self, limit: u64) -> Self {
        Self { lister: self.lister.with_limit(limit), ..self }
    }

    /// Adds the evidence about the first failure, as the output of the suite.
    pub fn set_evidence(&mut self, facts: Vec<String>) {
        self.lister.summary.evidence = facts;
    }

    /// Returns the writer as it is now.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Returns the writer without ending the file.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Ends the file; a campaign without a final event counts as an error.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        self.write_head()?;
        self.is_closed = true;
        for case in self.lister.end() {
            self.write_case(&case)?;
        }
        let facts = &self.lister.summary.evidence;
        if !facts.is_empty() {
            let lines: Vec<String> = facts.iter().map(|fact| format!("{}\n", text_line(fact))).collect();
            let head = "evidence (it does not decide whether the system or the model is wrong):";
            writeln!(self.out, "<system-out>{head}\n{}</system-out>", lines.concat())?;
        }
        self.out.write_all(b"</testsuite>\n</testsuites>\n")?;
        self.rewrite_head()?;
        self.out.flush()
    }

    /// Writes the first lines, with room for the totals.
    fn write_head(&mut self) -> io::Result<()> {
        if self.head.is_some() {
            return Ok(());
        }
        let at = self.out.stream_position()?;
        let widest = self.head_text(&Totals::WIDEST, u64::MAX).len();
        self.head = Some((at, widest));
        let text = self.head_text(&self.totals, 0);
        self.out.write_all(format!("{text:widest$}\n").as_bytes())?;
        self.write_properties()
    }

    fn rewrite_head(&mut self) -> io::Result<()> {
        let Some((at, widest)) = self.head else { return Ok(()) };
        let text = self.head_text(&self.totals, self.lister.summary.time_ns);
        self.out.seek(SeekFrom::Start(at))?;
        self.out.write_all(format!("{text:widest$}").as_bytes())?;
        let (at, widths) = self.requirements.clone();
        self.out.seek(SeekFrom::Start(at))?;
        for (width, row) in widths.into_iter().zip(self.lister.summary.requirements.rows()) {
            writeln!(self.out, "{:width$}", requirement_property(row, &row.status_text()))?;
        }
        self.out.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn head_text(&self, totals: &Totals, time_ns: u64) -> String {
        let model = attribute_value(self.lister.model_name());
        let totals = totals.attributes(time_ns);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ioxide\" {totals}>\n\
             <testsuite name=\"{model}\" {totals}>"
        )
    }

    fn write_properties(&mut self) -> io::Result<()> {
        let Some(told) = &self.lister.summary.started else { return Ok(()) };
        let all = [
            ("file", told.file.clone()),
            ("set", told.set.join(" ")),
            ("sut", told.sut.clone()),
            ("tester", told.tester.clone()),
            ("seed", told.seed.to_string()),
            ("planned_runs", if told.runs < ENDLESS { told.runs.to_string() } else { String::new() }),
            ("jobs", told.jobs.to_string()),
            ("patience_ms", told.patience_ms.to_string()),
        ];
        writeln!(self.out, "<properties>")?;
        for (name, value) in all.iter().filter(|(_, value)| !value.is_empty()) {
            writeln!(self.out, "<property name=\"{name}\" value=\"{}\"/>", attribute_value(value))?;
        }
        // The result of a requirement is known at the end: there is room for the longest one.
        let at = self.out.stream_position()?;
        let widest = |row: &RequirementRow| {
            let n = row.n_items();
            requirement_property(row, &format!("possibly covered ({n} of {n}), {} runs", u64::MAX))
        };
        let texts: Vec<String> = self.lister.summary.requirements.rows().iter().map(widest).collect();
        self.requirements = (at, texts.iter().map(|text| text.chars().count()).collect());
        texts.iter().try_for_each(|text| writeln!(self.out, "{text}"))?;
        writeln!(self.out, "</properties>")
    }

    fn write_case(&mut self, case: &ReportedCase) -> io::Result<()> {
        self.totals.add_result(&case.result);
        let text = case_xml(case, self.lister.model_name(), self.lister.model_file());
        self.out.write_all(text.as_bytes())
    }
}

impl<W: Write + Seek + Send> Reporter for JunitReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let case = self.lister.add_event(event);
        match &event.event {
            EventKind::CampaignStarted(_) => self.write_head(),
            EventKind::RunFinished(_) => {
                self.write_head()?;
                case.map_or(Ok(()), |case| self.write_case(&case))
            }
            EventKind::CampaignFinished(_) => self.finish(),
            EventKind::RunStarted(_)
            | EventKind::Stimulus(_)
            | EventKind::Observation(_)
            | EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_)
            | EventKind::Replayed(_)
            | EventKind::Shrunk(_) => Ok(()),
        }
    }
}

/// Returns the property of the suite that says what the runs did for a requirement.
fn requirement_property(row: &RequirementRow, value: &str) -> String {
    let name = attribute_value(&format!("requirement {}", row.note.name));
    format!("<property name=\"{name}\" value=\"{}\"/>", attribute_value(value))
}

#[cfg(test)]
mod tests;
