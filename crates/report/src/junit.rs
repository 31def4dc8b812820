//! A campaign as JUnit XML, the form that continuous integration systems read.
//!
//! | run | element of its `testcase` | reading |
//! | --- | --- | --- |
//! | passed | none | the system did what the model allows, and the goal was met |
//! | failed | `failure` | the system did what the model does not allow |
//! | trouble | `error` | no verdict: the system or the way to it broke |
//! | inconclusive, interrupted | `skipped` | nothing wrong was seen, the goal was not met |
//!
//! One `testsuite` for the campaign, one `testcase` for a run, written as runs end: memory does
//! not grow with them. Failures that are the first of their kind come last, with their story, since
//! they are still looked into when their run ends. The totals stand in the first lines, so the writer
//! must be able to go back there. Beyond a limit for every outcome runs are not listed but summed up
//! in one `testcase`, which says how many there were.
//!
//! *Promises.* The file is well-formed once the campaign has ended, and not before: a campaign
//! that died is not taken for a green one. `tests`, `failures`, `errors` and `skipped` are the
//! numbers of elements that follow. Characters that XML cannot hold are written as `\u{…}`.

mod case;
pub mod clients;
mod xml;

use std::io::{self, Seek, SeekFrom, Write};

use ioxide_record::event::{Event, EventKind, RunOutcome};
use ioxide_record::reporter::Reporter;

use self::case::{JunitCase, JunitProblem, Totals};
use self::xml::attribute_value;
use crate::run_number::number_from_one;
use crate::summary::lines::{self, plural};
use crate::summary::{ENDLESS, EndedRun, Novelty, RunSummary, Summary};

/// The default number of runs of one outcome that are listed one by one. Chosen by feel: programs that read such
/// files become slow beyond it.
pub const LISTED: u64 = 10_000;

/// A reporter that writes a campaign as JUnit XML.
pub struct JunitReport<W: Write + Seek> {
    out: W,
    summary: Summary,
    /// The greatest number of runs of one outcome listed one by one.
    limit: u64,
    /// The numbers of runs listed, by outcome: passed, failed, without verdict, skipped.
    listed: [u64; 4],
    /// The numbers of runs not listed, by outcome.
    beyond: [u64; 4],
    totals: Totals,
    /// The offset of the first lines in `out`, and their length in bytes; `None` until they are written.
    head: Option<(u64, usize)>,
    is_closed: bool,
}

impl<W: Write + Seek> JunitReport<W> {
    /// Returns a reporter that writes to `out`, from its current position.
    pub fn new(out: W) -> Self {
        Self {
            out,
            summary: Summary::default(),
            limit: LISTED,
            listed: [0; 4],
            beyond: [0; 4],
            totals: Totals::default(),
            head: None,
            is_closed: false,
        }
    }

    /// Lists at most `limit` runs of every outcome one by one.
    #[must_use]
    pub fn with_listing_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
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
        if let Some(why) = self.summary.reason() {
            let problem = JunitProblem::Skipped(&why);
            self.write_case(&JunitCase {
                name: "the campaign is inconclusive",
                time_ns: 0,
                problem,
                text: &[],
            })?;
        }
        self.write_failure_kinds()?;
        self.write_unlisted_totals()?;
        if self.summary.finished.is_none() {
            let (name, why) = ("the campaign", "the record ends before the campaign did");
            self.write_case(&JunitCase { name, time_ns: 0, problem: JunitProblem::Error(why), text: &[] })?;
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
        let text = self.head_text(&self.totals, self.summary.time_ns);
        self.out.seek(SeekFrom::Start(at))?;
        self.out.write_all(format!("{text:widest$}").as_bytes())?;
        self.out.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn head_text(&self, totals: &Totals, time_ns: u64) -> String {
        let model = attribute_value(self.model_name());
        let totals = totals.attributes(time_ns);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ioxide\" {totals}>\n\
             <testsuite name=\"{model}\" {totals}>"
        )
    }

    fn write_properties(&mut self) -> io::Result<()> {
        let Some(told) = &self.summary.started else { return Ok(()) };
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
        writeln!(self.out, "</properties>")
    }

    fn model_name(&self) -> &str {
        self.summary.started.as_ref().map_or("campaign", |told| &told.model)
    }

    fn write_case(&mut self, case: &JunitCase<'_>) -> io::Result<()> {
        self.totals.add_problem(&case.problem);
        let text =
            case.to_xml(self.model_name(), self.summary.started.as_ref().map_or("", |told| &told.file));
        self.out.write_all(text.as_bytes())
    }

    /// Lists a run, or only counts it once the limit is reached; failures of a new kind wait for the end.
    fn list_ended_run(&mut self, ended: &EndedRun) -> io::Result<()> {
        if matches!(ended.novelty, Novelty::New(_)) {
            return Ok(());
        }
        let at = outcome_index(ended.outcome);
        if self.listed[at] == self.limit {
            self.beyond[at] += 1;
            return Ok(());
        }
        self.listed[at] += 1;
        let name = case::case_name(&ended.run);
        let (message, text) = self.run_text(ended);
        let problem = match ended.outcome {
            RunOutcome::Pass => JunitProblem::None,
            RunOutcome::Fail => JunitProblem::Failure(&message),
            RunOutcome::Error => JunitProblem::Error(&message),
            RunOutcome::Inconclusive | RunOutcome::Interrupted => JunitProblem::Skipped(&message),
        };
        self.write_case(&JunitCase { name: &name, time_ns: ended.time_ns, problem, text: &text })
    }

    /// Returns the message of a run, in one line, and its details.
    fn run_text(&self, ended: &EndedRun) -> (String, Vec<String>) {
        match (ended.outcome, ended.novelty) {
            (RunOutcome::Fail, Novelty::Known(at)) => {
                let kind = &self.summary.kinds[at];
                (format!("{}, as in run {}", kind.id, number_from_one(kind.run.number)), Vec::new())
            }
            (RunOutcome::Fail, _) => {
                (failure_message(&ended.run.failure_id, &ended.run), lines::ending_lines(&ended.run))
            }
            (RunOutcome::Error, _) => (
                ended.run.reason().to_owned(),
                ended.run.trouble.as_ref().map(lines::trouble_lines).unwrap_or_default(),
            ),
            (RunOutcome::Interrupted, _) => ("interrupted".to_owned(), Vec::new()),
            (RunOutcome::Pass | RunOutcome::Inconclusive, _) => (ended.run.reason().to_owned(), Vec::new()),
        }
    }

    /// Writes the first failure of every kind, with its story.
    fn write_failure_kinds(&mut self) -> io::Result<()> {
        for kind in std::mem::take(&mut self.summary.kinds) {
            let mut text = lines::failure_lines(&kind);
            if kind.runs > 1 {
                text.push(format!("    {} failed like this", plural(kind.runs, "run")));
            }
            let (name, message) = (case::case_name(&kind.run), failure_message(&kind.id, &kind.run));
            let problem = JunitProblem::Failure(&message);
            self.write_case(&JunitCase { name: &name, time_ns: kind.time_ns, problem, text: &text })?;
        }
        Ok(())
    }

    /// Writes a `testcase` for the runs of each outcome that were not listed.
    fn write_unlisted_totals(&mut self) -> io::Result<()> {
        let [passed, failed, errors, skipped] = self.beyond;
        let told = [
            (passed, "that passed", JunitProblem::None),
            (failed, "that failed", JunitProblem::Failure("of kinds listed above, or too many to list")),
            (errors, "without verdict", JunitProblem::Error("too many to list")),
            (
                skipped,
                "without result",
                JunitProblem::Skipped("inconclusive or interrupted, too many to list"),
            ),
        ];
        for (n, what, problem) in told {
            if n > 0 {
                let name = format!("{} {what}", plural(n, "more run"));
                self.write_case(&JunitCase { name: &name, time_ns: 0, problem, text: &[] })?;
            }
        }
        Ok(())
    }
}

/// Returns the message of a failure, in one line: its id, and what was not allowed.
fn failure_message(id: &str, run: &RunSummary) -> String {
    format!("{id}: {}", run.reason())
}

/// Returns the position of an outcome in `listed` and `beyond`.
fn outcome_index(outcome: RunOutcome) -> usize {
    match outcome {
        RunOutcome::Pass => 0,
        RunOutcome::Fail => 1,
        RunOutcome::Error => 2,
        RunOutcome::Inconclusive | RunOutcome::Interrupted => 3,
    }
}

impl<W: Write + Seek + Send> Reporter for JunitReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let ended = self.summary.add_event(event);
        match &event.event {
            EventKind::CampaignStarted(_) => self.write_head(),
            EventKind::RunFinished(_) => {
                self.write_head()?;
                ended.map_or(Ok(()), |ended| self.list_ended_run(&ended))
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

#[cfg(test)]
mod tests;
