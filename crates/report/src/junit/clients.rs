//! A campaign with concurrent clients as JUnit XML.

use std::io::{self, Write};

use super::case::{JunitCase, JunitProblem, Totals};
use super::xml::attribute_value;
use crate::clients::{ClientCampaignView, ClientRunResult};

/// Writes the runs of a campaign, each as one `testcase`.
///
/// # Errors
/// If `out` does not take the text.
pub fn write_client_campaign(out: &mut dyn Write, view: &ClientCampaignView<'_>) -> io::Result<()> {
    let text = view.failure_lines();
    let message = text.first().cloned().unwrap_or_default();
    let mut totals = Totals::default();
    let mut cases = String::new();
    let mut add = |name: &str, time_ns: u64, problem: JunitProblem<'_>, text: &[String]| {
        totals.add_problem(&problem);
        cases.push_str(&JunitCase { name, time_ns, problem, text }.to_xml(view.model_name(), view.file));
    };
    for run in view.runs {
        let name = format!("run {}", run.number);
        let (problem, text) = match &run.result {
            ClientRunResult::Passed => (JunitProblem::None, &[][..]),
            ClientRunResult::Failed => (JunitProblem::Failure(&message), &text[..]),
            ClientRunResult::Inconclusive(why) => (JunitProblem::Skipped(why), &[][..]),
        };
        add(&name, run.time_ns, problem, text);
    }
    if let Some(error) = view.error {
        add("the campaign", 0, JunitProblem::Error(error), &[]);
    }
    let totals = totals.attributes(view.time_ns);
    let model = attribute_value(view.model_name());
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ioxide\" {totals}>")?;
    writeln!(out, "<testsuite name=\"{model}\" {totals}>\n<properties>")?;
    let (seed, clients) = (view.seed.to_string(), view.clients.to_string());
    let all = [("file", view.file), ("sut", view.sut), ("clients", &clients), ("seed", &seed)];
    for (name, value) in all {
        writeln!(out, "<property name=\"{name}\" value=\"{}\"/>", attribute_value(value))?;
    }
    writeln!(out, "</properties>\n{cases}</testsuite>\n</testsuites>")
}
