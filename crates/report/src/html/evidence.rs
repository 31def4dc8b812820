//! The evidence about a failure as the page shows it: what speaks for each side, and changes of the model that would
//! explain every run. It is no verdict.

use serde::Serialize;

/// The evidence about the first failure of a campaign.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EvidencePage {
    /// The facts, each as a sentence in which names stand in backquotes.
    pub facts: Vec<String>,
    /// Changes of the model that explain every run, the best first; empty if none was looked for or found.
    pub changes: Vec<ChangeView>,
    /// The command that finds such changes, in a sentence; null if the system has passed before.
    pub command: Option<String>,
}

/// A change of the model that explains every run.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeView {
    /// The change in words.
    pub reason: String,
    /// The change as a unified diff.
    pub diff: String,
    /// The effects beyond the runs, each as a sentence.
    pub effects: Vec<String>,
}

impl EvidencePage {
    /// Returns the evidence with every text changed by `change`: secrets are hidden like that.
    #[must_use]
    pub fn map_texts(&self, change: impl Fn(&str) -> String) -> Self {
        let all = |texts: &[String]| texts.iter().map(|text| change(text)).collect();
        let changes = self.changes.iter().map(|it| ChangeView {
            reason: change(&it.reason),
            diff: change(&it.diff),
            effects: all(&it.effects),
        });
        Self {
            facts: all(&self.facts),
            changes: changes.collect(),
            command: self.command.as_deref().map(&change),
        }
    }
}
