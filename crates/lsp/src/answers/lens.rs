//! Code lenses: run a test, step from a state, see the coverage of the last campaign.
//!
//! A lens names a command of the editor; the editor runs `ioxide` with the arguments it is given.

use std::collections::{BTreeMap, BTreeSet};

use lsp_types::{CodeLens, Command};
use serde_json::json;

use crate::analysis::TextAnalysis;
use crate::index::{Bytes, DefinitionKind, SwitchPlace};

/// Runs a test or a purpose: `{ "file", "tester" }`.
pub const RUN: &str = "ioxide.test";
/// Opens the stepper: `{ "file", "at" }`, `at` being a state or nothing.
pub const STEP: &str = "ioxide.step";
/// Shows the picture of the model: `{ "file" }`.
pub const PICTURE: &str = "ioxide.show";
/// Shows the report of a campaign: `{ "file", "record" }`.
pub const REPORT: &str = "ioxide.report";

/// The coverage of a model by the last recorded campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastCampaign {
    /// The path of the record.
    pub record: String,
    /// The coverage of every switch, by label.
    pub switches: BTreeMap<String, SwitchFate>,
    /// The switches that failing runs should have taken, or that were refused where they failed.
    pub failing: BTreeSet<String>,
}

/// The coverage of a switch by a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchFate {
    /// The switch was never even possibly taken.
    Never,
    /// The switch was possibly taken: it is one of several that explain an observation.
    Perhaps,
    /// The switch was certainly taken.
    Taken,
}

/// Returns the lenses of the text; `last` is the last campaign on it, if there is a record.
#[must_use]
pub fn lenses(analysis: &TextAnalysis, last: Option<&LastCampaign>) -> Vec<CodeLens> {
    let index = &analysis.index;
    let mut lenses = Vec::new();
    for (_, definition) in index.definitions() {
        let file = &analysis.path;
        match definition.kind {
            DefinitionKind::Model | DefinitionKind::System => {
                lenses.push(make_lens(
                    analysis,
                    definition.at,
                    "show the picture",
                    PICTURE,
                    json!({ "file": file }),
                ));
                lenses.push(make_lens(
                    analysis,
                    definition.at,
                    "step through it",
                    STEP,
                    json!({ "file": file }),
                ));
                lenses.extend(last.map(|last| report_lens(analysis, definition.at, last)));
            }
            DefinitionKind::State if is_of_model(analysis, definition.owner) => {
                let arguments = json!({ "file": file, "at": definition.name });
                lenses.push(make_lens(analysis, definition.at, "step from here", STEP, arguments));
            }
            _ => {}
        }
    }
    for goal in &index.goals {
        let (title, tester) = if goal.is_test {
            ("run this test", format!("test:{}", goal.name))
        } else {
            ("run this purpose", format!("purpose:{}", goal.name))
        };
        let arguments = json!({ "file": analysis.path, "tester": tester });
        lenses.push(make_lens(analysis, goal.at, title, RUN, arguments));
    }
    if let Some(last) = last {
        lenses.extend(index.switches.iter().filter_map(|switch| coverage_lens(analysis, switch, last)));
    }
    lenses
}

fn is_of_model(analysis: &TextAnalysis, owner: Option<crate::index::DefinitionId>) -> bool {
    let system = analysis.tree.system.is_some();
    !system && owner.is_some_and(|owner| analysis.index.get(owner).kind == DefinitionKind::Model)
}

fn make_lens(
    analysis: &TextAnalysis,
    at: Bytes,
    title: &str,
    command: &str,
    arguments: serde_json::Value,
) -> CodeLens {
    let command =
        Command { title: title.to_owned(), command: command.to_owned(), arguments: Some(vec![arguments]) };
    CodeLens { range: analysis.text.range(at.start, at.end), command: Some(command), data: None }
}

fn report_lens(analysis: &TextAnalysis, at: Bytes, last: &LastCampaign) -> CodeLens {
    let count = |wanted: SwitchFate| last.switches.values().filter(|fate| **fate == wanted).count();
    let (taken, never) = (count(SwitchFate::Taken), count(SwitchFate::Never));
    let title = format!("last campaign: {taken} transitions taken, {never} never");
    make_lens(analysis, at, &title, REPORT, json!({ "file": analysis.path, "record": last.record }))
}

/// Returns the coverage of a transition: the best of its copies; `None` if it is internal or not in the record.
fn coverage_lens(analysis: &TextAnalysis, switch: &SwitchPlace, last: &LastCampaign) -> Option<CodeLens> {
    // Nobody sees an internal transition, so nothing is known about it.
    if analysis.text.as_str().get(switch.verb.start..switch.verb.end) == Some("internal") {
        return None;
    }
    let fates: Vec<SwitchFate> =
        switch.labels.iter().filter_map(|label| last.switches.get(label)).copied().collect();
    let best = fates.iter().max()?;
    let title = match best {
        SwitchFate::Taken if fates.len() > 1 => {
            let taken = fates.iter().filter(|fate| **fate == SwitchFate::Taken).count();
            format!("taken in {taken} of {} states", fates.len())
        }
        SwitchFate::Taken => "taken".to_owned(),
        SwitchFate::Perhaps => "possibly taken".to_owned(),
        SwitchFate::Never => "never taken".to_owned(),
    };
    let arguments = json!({ "file": analysis.path, "record": last.record });
    Some(make_lens(analysis, switch.heading, &title, REPORT, arguments))
}
