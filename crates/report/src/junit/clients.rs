//! A campaign with concurrent clients as JUnit XML.

use std::io::{self, Write};

use super::case::{Totals, case_xml};
use super::xml::attribute_value;
use crate::clients::ClientCampaignView;

/// Writes the runs of a campaign, each as one `testcase`.
///
/// # Errors
/// If `out` does not take the text.
pub fn write_client_campaign(out: &mut dyn Write, view: &ClientCampaignView<'_>) -> io::Result<()> {
    let mut totals = Totals::default();
    let mut cases = String::new();
    for case in view.test_cases() {
        totals.add_result(&case.result);
        cases.push_str(&case_xml(&case, view.model_name(), view.file));
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
