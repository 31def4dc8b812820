//! A campaign in the Test Anything Protocol, version 14, which many build systems and pipes of a shell read.
//!
//! Every [`ReportedCase`] is a test point. A failure and an error are `not ok`, with their message and details in a
//! block of YAML below; a run without a result is `ok` with the directive `SKIP` and the reason. The plan comes last,
//! since the number of runs is not known before: a campaign that died has none, and readers take that for a failure.

use std::io::{self, Write};

use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::Reporter;
use serde_json::Value as Json;

use crate::control_characters::show_control_characters;
use crate::reported_case::{CaseLister, MAX_LISTED, ReportedCase, ReportedResult};

/// A reporter that writes a campaign as test points.
pub struct TapReport<W: Write> {
    points: TapWriter<W>,
    lister: CaseLister,
}

impl<W: Write> TapReport<W> {
    /// Returns a reporter that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { points: TapWriter::new(out), lister: CaseLister::new(MAX_LISTED) }
    }
}

impl<W: Write + Send> Reporter for TapReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some(case) = self.lister.add_event(event) {
            self.points.write_point(&case)?;
        }
        if matches!(event.event, EventKind::CampaignFinished(_)) {
            self.points.write_all(&self.lister.end())?;
        }
        Ok(())
    }
}

/// Writes these cases as a whole document.
///
/// # Errors
/// If `out` does not take the text.
pub fn write_tap(out: &mut dyn Write, cases: &[ReportedCase]) -> io::Result<()> {
    TapWriter::new(out).write_all(cases)
}

struct TapWriter<W: Write> {
    out: W,
    n_points: u64,
}

impl<W: Write> TapWriter<W> {
    fn new(out: W) -> Self {
        Self { out, n_points: 0 }
    }

    /// Writes the last points and the plan.
    fn write_all(&mut self, cases: &[ReportedCase]) -> io::Result<()> {
        for case in cases {
            self.write_point(case)?;
        }
        self.write_version()?;
        writeln!(self.out, "1..{}", self.n_points)?;
        self.out.flush()
    }

    fn write_version(&mut self) -> io::Result<()> {
        if self.n_points == 0 { writeln!(self.out, "TAP version 14") } else { Ok(()) }
    }

    fn write_point(&mut self, case: &ReportedCase) -> io::Result<()> {
        self.write_version()?;
        self.n_points += 1;
        let (n, name) = (self.n_points, escape_description(&case.name));
        match &case.result {
            ReportedResult::Passed => writeln!(self.out, "ok {n} - {name}"),
            ReportedResult::Skipped(why) => {
                writeln!(self.out, "ok {n} - {name} # SKIP {}", escape_description(why))
            }
            ReportedResult::Failed(message) => {
                writeln!(self.out, "not ok {n} - {name}")?;
                self.write_block("fail", message, &case.details)
            }
            ReportedResult::Error(message) => {
                writeln!(self.out, "not ok {n} - {name}")?;
                self.write_block("error", message, &case.details)
            }
        }
    }

    /// Writes the block of YAML below a point: every line is a string in the notation of JSON, which is YAML too, so
    /// that nothing a system says can end the block.
    fn write_block(&mut self, severity: &str, message: &str, details: &[String]) -> io::Result<()> {
        let quote = |text: &str| Json::from(show_control_characters(text));
        writeln!(self.out, "  ---\n  message: {}\n  severity: {severity}", quote(message))?;
        if !details.is_empty() {
            writeln!(self.out, "  details:")?;
        }
        for line in details {
            writeln!(self.out, "    - {}", quote(line))?;
        }
        writeln!(self.out, "  ...")
    }
}

/// Returns a description on one line in which nothing is taken for a directive.
fn escape_description(text: &str) -> String {
    show_control_characters(text).replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::samples::failing;

    #[test]
    fn writes_a_point_for_every_run_and_the_plan_last() {
        let mut out = Vec::new();
        let mut tap = TapReport::new(&mut out);
        failing().iter().for_each(|event| tap.event(event).unwrap());
        let text = String::from_utf8(out).unwrap();
        let points: Vec<&str> = text.lines().filter(|line| !line.starts_with("    - ")).collect();
        insta::assert_snapshot!(points.join("\n"), @r#"
        TAP version 14
        ok 1 - run 1
        not ok 2 - run 3
          ---
          message: "x-in-s-2da6, as in run 2"
          severity: fail
          ...
        not ok 3 - run 5
          ---
          message: "the system ended"
          severity: error
          details:
          ...
        ok 4 - run 6 # SKIP out of reach
        not ok 5 - run 2
          ---
          message: "x-in-s-2da6: the model does not allow !X here"
          severity: fail
          details:
          ...
        not ok 6 - run 4
          ---
          message: "x-in-t-u-n-1-58b7: the model does not allow !X here"
          severity: fail
          details:
          ...
        1..6
        "#);
    }

    #[test]
    fn escapes_what_would_be_a_directive_or_end_the_block() {
        let result = ReportedResult::Failed("a\n  ...\nok 2".to_owned());
        let case = ReportedCase {
            name: "a # SKIP \\".to_owned(),
            time_ns: 0,
            result,
            details: Vec::new(),
            requirements: Vec::new(),
        };
        let mut out = Vec::new();
        write_tap(&mut out, &[case]).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        TAP version 14
        not ok 1 - a \# SKIP \\
          ---
          message: "a   ... ok 2"
          severity: fail
          ...
        1..1
        "#);
    }

    #[test]
    fn a_campaign_that_died_has_no_plan() {
        let mut events = failing();
        events.pop();
        let mut out = Vec::new();
        let mut tap = TapReport::new(&mut out);
        events.iter().for_each(|event| tap.event(event).unwrap());
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("TAP version 14\n") && !text.contains("\n1.."), "{text}");
    }
}
