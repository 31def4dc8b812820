//! Proposals for people and for programs, and the list that was shown last, from which one is chosen.

use ioxide_model::source::Sources;
use serde_json::{Value as Json, json};

use crate::{Proposal, Repairs, changed_files};

/// The version of the list that [`Repairs::shown_list`] makes.
const LIST_VERSION: u64 = 1;

impl Proposal {
    /// Returns the lines that say what the proposal allows and forbids beyond the runs.
    #[must_use]
    pub fn effect_lines(&self) -> Vec<String> {
        let effect = &self.effect;
        let mut lines = Vec::new();
        match (&effect.leaves_open, &effect.also_allows) {
            (Some(input), _) => lines.push(format!(
                "the model then says nothing about `{input}` in a failing run: everything after it is allowed"
            )),
            (None, Some(trace)) => {
                lines.push(format!("also allows, which no run has shown: {}", trace.join(" ")));
            }
            (None, None) if effect.is_complete => {
                lines.push("allows nothing else that was not seen".to_owned());
            }
            (None, None) => lines.push("not decided whether it allows anything else".to_owned()),
        }
        if let Some(trace) = &effect.now_forbids {
            lines.push(format!("no longer allows: {}", trace.join(" ")));
        }
        lines
    }

    /// Returns the proposal for programs.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "diff": self.diff,
            "edits": self.n_edits,
            "reason": self.reason,
            "also_allows": self.effect.also_allows,
            "no_longer_allows": self.effect.now_forbids,
            "leaves_open": self.effect.leaves_open,
            "compared": self.effect.is_complete,
        })
    }
}

impl Repairs {
    /// Returns the proposals for programs.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let proposals: Vec<Json> = self.proposals.iter().map(Proposal::to_json).collect();
        json!({
            "version": 1,
            "failing": self.failing,
            "allowed": self.allowed,
            "tried": self.tried,
            "halted": self.halted.map(|halted| halted.to_string()),
            "proposals": proposals,
        })
    }

    /// Returns the proposals with the texts before and after each, so that one of them can be chosen later: another
    /// search may take another time and end with another list.
    #[must_use]
    pub fn shown_list(&self, model: &str, sources: &Sources) -> Json {
        let file = |proposal: &Proposal, file| {
            json!({
                "name": sources.file(file).name,
                "before": sources.file(file).text,
                "after": proposal.edited.file(file).text,
            })
        };
        let proposal = |proposal: &Proposal| {
            let changed = changed_files(sources, &proposal.edited);
            let files: Vec<Json> = changed.into_iter().map(|id| file(proposal, id)).collect();
            json!({ "reason": proposal.reason, "diff": proposal.diff, "files": files })
        };
        let proposals: Vec<Json> = self.proposals.iter().map(proposal).collect();
        json!({ "version": LIST_VERSION, "model": model, "proposals": proposals })
    }
}

/// A proposal of a list that was shown: what it changes, and the new texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenProposal {
    /// The change, for people.
    pub reason: String,
    /// The change as a unified diff.
    pub diff: String,
    /// The names of the files that change, with their new texts.
    pub files: Vec<(String, String)>,
}

impl ChosenProposal {
    /// Returns a proposal as it is to be written.
    #[must_use]
    pub fn of(proposal: &Proposal, sources: &Sources) -> Self {
        let file = |id| (sources.file(id).name.clone(), proposal.edited.file(id).text.clone());
        let files = changed_files(sources, &proposal.edited).into_iter().map(file).collect();
        Self { reason: proposal.reason.clone(), diff: proposal.diff.clone(), files }
    }

    /// Returns number `number` of a list that was shown for `model`; `None` if the list is of another model or does not
    /// have it, or if a text that it changes is no longer as it was.
    #[must_use]
    pub fn of_list(list: &Json, model: &str, number: usize, sources: &Sources) -> Option<Self> {
        if list["version"] != LIST_VERSION || list["model"] != model {
            return None;
        }
        let chosen = &list["proposals"][number.checked_sub(1)?];
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let is_unchanged = |name: &str, before: &str| {
            sources.ids().any(|id| sources.file(id).name == name && sources.file(id).text == before)
        };
        let file = |file: &Json| {
            let (name, before) = (text(&file["name"])?, text(&file["before"])?);
            let after = text(&file["after"])?;
            is_unchanged(&name, &before).then_some((name, after))
        };
        let files: Option<Vec<_>> = chosen["files"].as_array()?.iter().map(file).collect();
        Some(Self { reason: text(&chosen["reason"])?, diff: text(&chosen["diff"])?, files: files? })
    }
}
