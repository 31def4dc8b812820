//! One `testcase`, and the totals over all of them.

use super::xml::{attribute_value, text_line};
use crate::run_number::number_from_one;
use crate::summary::RunSummary;

/// One `testcase`.
pub(super) struct JunitCase<'a> {
    pub(super) name: &'a str,
    pub(super) time_ns: u64,
    pub(super) problem: JunitProblem<'a>,
    /// The lines inside the element of the problem.
    pub(super) text: &'a [String],
}

/// The element inside a `testcase`, with its message in one line.
#[derive(Clone, Copy)]
pub(super) enum JunitProblem<'a> {
    None,
    Failure(&'a str),
    Error(&'a str),
    Skipped(&'a str),
}

impl JunitCase<'_> {
    pub(super) fn to_xml(&self, class: &str, file: &str) -> String {
        let file =
            if file.is_empty() { String::new() } else { format!(" file=\"{}\"", attribute_value(file)) };
        let (name, class, time) =
            (attribute_value(self.name), attribute_value(class), seconds_text(self.time_ns));
        let open = format!("<testcase name=\"{name}\" classname=\"{class}\"{file} time=\"{time}\"");
        let (tag, message, kind) = match self.problem {
            JunitProblem::None => return format!("{open}/>\n"),
            JunitProblem::Failure(message) => ("failure", message, " type=\"nonconformance\""),
            JunitProblem::Error(message) => ("error", message, " type=\"trouble\""),
            JunitProblem::Skipped(message) => ("skipped", message, ""),
        };
        let text: Vec<String> = self.text.iter().map(|text| text_line(text)).collect();
        let text = if text.is_empty() { String::new() } else { format!("\n{}\n", text.join("\n")) };
        format!(
            "{open}>\n<{tag} message=\"{}\"{kind}>{text}</{tag}>\n</testcase>\n",
            attribute_value(message)
        )
    }
}

/// Returns the name of a run: its goal, if any, and its number, which keeps names apart.
pub(super) fn case_name(run: &RunSummary) -> String {
    match &*run.goal {
        "" => format!("run {}", number_from_one(run.number)),
        goal => format!("{goal} (run {})", number_from_one(run.number)),
    }
}

/// The numbers of elements, as attributes of the suite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl Totals {
    /// The totals that take the most room.
    pub(super) const WIDEST: Self =
        Self { tests: u64::MAX, failures: u64::MAX, errors: u64::MAX, skipped: u64::MAX };

    pub(super) fn add_problem(&mut self, problem: &JunitProblem<'_>) {
        self.tests += 1;
        match problem {
            JunitProblem::None => (),
            JunitProblem::Failure(_) => self.failures += 1,
            JunitProblem::Error(_) => self.errors += 1,
            JunitProblem::Skipped(_) => self.skipped += 1,
        }
    }

    /// Returns the attributes of a suite element.
    pub(super) fn attributes(&self, time_ns: u64) -> String {
        let Self { tests, failures, errors, skipped } = self;
        let time = seconds_text(time_ns);
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time}\""
        )
    }
}

/// Returns seconds with three decimals, rounded down.
fn seconds_text(ns: u64) -> String {
    let ms = ns / 1_000_000;
    format!("{}.{:03}", ms / 1000, ms % 1000)
}
