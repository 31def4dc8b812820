//! One `testcase`, and the totals over all of them.

use super::xml::{attribute_value, text_line};
use crate::reported_case::{ReportedCase, ReportedResult};

/// Returns a case as an element of the suite `class`, whose model is in `file`.
pub(super) fn case_xml(case: &ReportedCase, class: &str, file: &str) -> String {
    let file = if file.is_empty() { String::new() } else { format!(" file=\"{}\"", attribute_value(file)) };
    let (name, class, time) =
        (attribute_value(&case.name), attribute_value(class), seconds_text(case.time_ns));
    let open = format!("<testcase name=\"{name}\" classname=\"{class}\"{file} time=\"{time}\"");
    let properties = requirement_properties(&case.requirements);
    let (tag, message, kind) = match &case.result {
        ReportedResult::Passed if case.requirements.is_empty() => return format!("{open}/>\n"),
        ReportedResult::Passed => return format!("{open}>\n{properties}</testcase>\n"),
        ReportedResult::Failed(message) => ("failure", message, " type=\"nonconformance\""),
        ReportedResult::Error(message) => ("error", message, " type=\"trouble\""),
        ReportedResult::Skipped(message) => ("skipped", message, ""),
    };
    let text: Vec<String> = case.details.iter().map(|line| text_line(line)).collect();
    let text = if text.is_empty() { String::new() } else { format!("\n{}\n", text.join("\n")) };
    format!(
        "{open}>\n{properties}<{tag} message=\"{}\"{kind}>{text}</{tag}>\n</testcase>\n",
        attribute_value(message)
    )
}

/// Returns the requirements that a run covers as properties of its case; empty if there are none.
fn requirement_properties(requirements: &[String]) -> String {
    if requirements.is_empty() {
        return String::new();
    }
    let property =
        |name: &String| format!("<property name=\"requirement\" value=\"{}\"/>\n", attribute_value(name));
    let lines: String = requirements.iter().map(property).collect();
    format!("<properties>\n{lines}</properties>\n")
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

    pub(super) fn add_result(&mut self, result: &ReportedResult) {
        self.tests += 1;
        match result {
            ReportedResult::Passed => (),
            ReportedResult::Failed(_) => self.failures += 1,
            ReportedResult::Error(_) => self.errors += 1,
            ReportedResult::Skipped(_) => self.skipped += 1,
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
