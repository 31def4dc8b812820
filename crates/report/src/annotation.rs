//! Findings as workflow commands, which GitHub shows beside the lines of a change.
//!
//! A command is a line `::error file=F,line=L,title=T::TEXT` in the output of a step. Percent signs and line breaks are
//! escaped, in properties also colons and commas, so that nothing in a model or an answer becomes another command.

use std::io::{self, Write};

use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::source::{Sources, Span};
use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::Reporter;

use crate::reported_case::{CaseLister, MAX_LISTED, ReportedCase, ReportedResult};

/// Writes the findings of a check, each at its place.
///
/// # Errors
/// If `out` does not take the text.
pub fn write_findings(out: &mut dyn Write, sources: &Sources, findings: &[Diagnostic]) -> io::Result<()> {
    for found in findings {
        let level = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "notice",
        };
        let start = sources.line_column(found.span);
        let end = sources.line_column(Span { start: found.span.end, ..found.span });
        let mut text = found.message.clone();
        for help in &found.helps {
            text.push_str(&format!("\nhelp: {help}"));
        }
        let properties = [
            ("file", sources.file(found.span.file).name.clone()),
            ("line", start.line.to_string()),
            ("col", start.column.to_string()),
            ("endLine", end.line.to_string()),
            ("endColumn", end.column.to_string()),
            ("title", format!("{}: {}", found.code.id(), found.code.title())),
        ];
        write_command(out, level, &properties, &text)?;
    }
    Ok(())
}

/// Writes the failures and errors among these cases; `file` is that of the model.
///
/// # Errors
/// If `out` does not take the text.
pub fn write_cases(out: &mut dyn Write, model: &str, file: &str, cases: &[ReportedCase]) -> io::Result<()> {
    for case in cases {
        let (what, message) = match &case.result {
            ReportedResult::Failed(message) => ("failed", message),
            ReportedResult::Error(message) => ("no verdict", message),
            ReportedResult::Passed | ReportedResult::Skipped(_) => continue,
        };
        let mut text = message.clone();
        for line in &case.details {
            text.push('\n');
            text.push_str(line);
        }
        let properties = [("file", file.to_owned()), ("title", format!("{model}: {} {what}", case.name))];
        write_command(out, "error", &properties, &text)?;
    }
    Ok(())
}

fn write_command(
    out: &mut dyn Write,
    level: &str,
    properties: &[(&str, String)],
    text: &str,
) -> io::Result<()> {
    let given = properties.iter().filter(|(_, value)| !value.is_empty());
    let all: Vec<String> = given.map(|(name, value)| format!("{name}={}", escape_property(value))).collect();
    writeln!(out, "::{level} {}::{}", all.join(","), escape_data(text))
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A reporter that writes every kind of failure, and the first error, when the campaign has ended: GitHub shows ten
/// annotations of a step.
pub struct AnnotationReport<W: Write> {
    out: W,
    lister: CaseLister,
    error: Option<ReportedCase>,
}

impl<W: Write> AnnotationReport<W> {
    /// Returns a reporter that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, lister: CaseLister::new(MAX_LISTED), error: None }
    }
}

impl<W: Write + Send> Reporter for AnnotationReport<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Some(case) = self.lister.add_event(event)
            && matches!(case.result, ReportedResult::Error(_))
        {
            self.error.get_or_insert(case);
        }
        if matches!(event.event, EventKind::CampaignFinished(_)) {
            let cases: Vec<ReportedCase> =
                self.lister.failure_kinds().into_iter().chain(self.error.take()).collect();
            write_cases(&mut self.out, self.lister.model_name(), self.lister.model_file(), &cases)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::code::Code;

    use super::*;
    use crate::summary::samples::failing;

    #[test]
    fn a_finding_is_one_line_at_its_place() {
        let mut sources = Sources::new();
        let file = sources.add("a,b:c.iox", "model M {\n  input äx\n}\n");
        let span = Span::new(file, 18, 21);
        let found = Diagnostic::new(Code::ALL[0], span, "50 % of it\n::error::is wrong").help("mend it");
        let mut out = Vec::new();
        write_findings(&mut out, &sources, &[found]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("file=a%2Cb%3Ac.iox,line=2,col=9,endLine=2,endColumn=11,title="), "{text}");
        assert!(text.ends_with("::50 %25 of it%0A::error::is wrong%0Ahelp: mend it\n"), "{text}");
    }

    #[test]
    fn every_kind_of_failure_is_one_annotation() {
        let mut out = Vec::new();
        let mut report = AnnotationReport::new(&mut out);
        failing().iter().for_each(|event| report.event(event).unwrap());
        let text = String::from_utf8(out).unwrap();
        let titles: Vec<&str> = text.lines().map(|line| line.split("::").nth(1).unwrap()).collect();
        insta::assert_snapshot!(titles.join("\n"), @r"
        error file=demo.iox,title=Demo%3A run 2 failed
        error file=demo.iox,title=Demo%3A run 4 failed
        error file=demo.iox,title=Demo%3A run 5 no verdict
        ");
    }
}
