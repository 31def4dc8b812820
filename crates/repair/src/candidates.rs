//! Candidates: edits of a model's text, each of which may explain a failure.
//!
//! They are those of mutation (\[AT15] sec. 1; `ioxide_testgen::mutate` makes the same kinds of changes on terms), made
//! on the text so that its layout stays, and those that can be read off a failure: the message that is missing, values
//! that were seen. A candidate costs *bits*: about the logarithm of the number of changes that are as likely at its
//! place, so that small and usual changes come first. The costs are chosen by feel and tuned on `ioxide bench repair`;
//! no verdict depends on them.

mod assignment;
mod declaration;
mod expression;
mod missing;
mod transition;

use ioxide_lang::ast::Verb;
use ioxide_model::source::Span;

pub(crate) use self::missing::strengthened;

use crate::edit::TextEdit;
use crate::failure::FailurePoint;
use crate::samples::GuardSamples;
use crate::scope::{ModelScope, TransitionPlace};

/// Edits that may explain failures.
#[derive(Clone, Debug)]
pub(crate) struct EditCandidate {
    pub(crate) edits: Vec<TextEdit>,
    /// The number of changes that it makes at once.
    pub(crate) n_changes: usize,
    /// The cost: smaller is more likely.
    pub(crate) bits: f64,
    /// The change, for people.
    pub(crate) reason: String,
    /// The transition that was added, if it may still need a guard or updates.
    pub(crate) added: Option<AddedTransition>,
}

impl EditCandidate {
    /// Returns the candidate as one of the texts before `earlier` was made; `None` if it changes what that wrote.
    pub(crate) fn moved_back(&self, earlier: &[TextEdit]) -> Option<Self> {
        let edits: Option<Vec<TextEdit>> = self.edits.iter().map(|edit| edit.moved_back(earlier)).collect();
        Some(Self { edits: edits?, added: None, ..self.clone() })
    }

    /// Returns both candidates made at once; `None` if they change the same bytes.
    pub(crate) fn with(&self, other: &Self) -> Option<Self> {
        let are_apart = |a: &TextEdit, b: &TextEdit| {
            a.file != b.file || a.end < b.start || b.end < a.start || (a.end == b.start && a.start < b.start)
        };
        let is_possible = self.edits.iter().all(|a| other.edits.iter().all(|b| are_apart(a, b)));
        is_possible.then(|| Self {
            edits: self.edits.iter().chain(&other.edits).cloned().collect(),
            n_changes: self.n_changes + other.n_changes,
            bits: self.bits + other.bits,
            reason: format!("{}; {}", self.reason, other.reason),
            added: None,
        })
    }
}

/// A transition that a candidate adds.
#[derive(Clone, Debug)]
pub(crate) struct AddedTransition {
    /// Its message.
    pub(crate) gate: String,
    /// The state it stands in.
    pub(crate) state: String,
    pub(crate) verb: Verb,
    /// The text up to its target, and the text from there on.
    pub(crate) head: String,
    pub(crate) tail: String,
}

/// One replacement of bytes, not yet a candidate.
#[derive(Clone, Debug)]
struct Rewrite {
    start: usize,
    end: usize,
    text: String,
    bits: f64,
}

impl Rewrite {
    /// Makes the replacement of the text at `span`.
    fn of(span: Span, text: impl Into<String>, bits: f64) -> Self {
        Self { start: span.start as usize, end: span.end as usize, text: text.into(), bits }
    }
}

/// Returns the candidates of one model at a failure, those that touch what the model could do on the way to it.
pub(crate) fn candidates(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    samples: &GuardSamples,
) -> Vec<EditCandidate> {
    let mut found = Vec::new();
    for place in scope.transitions() {
        let Some(distance) = failure.distance(scope.file, place.transition.span) else {
            transition::elsewhere(scope, failure, place, &mut found);
            continue;
        };
        let from = found.len();
        transition::changes(scope, (failure, samples), place, &mut found);
        // Close to the failure is a little more likely.
        let far = (1.0 + distance as f64).log2().min(4.0) / 4.0;
        found[from..].iter_mut().for_each(|candidate| candidate.bits += far);
    }
    missing::transitions(scope, failure, &mut found);
    missing::inputs(scope, failure, &mut found);
    declaration::changes(scope, failure, &mut found);
    found
}

impl ModelScope<'_> {
    /// Makes a candidate of rewrites in this file.
    fn candidate(&self, rewrites: Vec<Rewrite>, reason: String) -> EditCandidate {
        let bits = rewrites.iter().map(|rewrite| rewrite.bits).sum();
        let edit = |it: Rewrite| TextEdit { file: self.file, start: it.start, end: it.end, text: it.text };
        EditCandidate {
            edits: rewrites.into_iter().map(edit).collect(),
            n_changes: 1,
            bits,
            reason,
            added: None,
        }
    }

    /// Returns a transition as people name it: by its label, else by its message.
    fn name_of(&self, place: TransitionPlace<'_>) -> String {
        let transition = place.transition;
        if let Some(label) = &transition.label {
            return format!("`{}`", label.text);
        }
        let gate = transition.gate.as_ref().map(|gate| format!(" {}", gate.text)).unwrap_or_default();
        let here = place.state.map(|state| format!(" in `{}`", state.name.text)).unwrap_or_default();
        let verb = match transition.verb {
            Verb::On => "on",
            Verb::Emit => "emit",
            Verb::Internal => "internal",
            Verb::Quiet => "quiet",
        };
        format!("`{verb}{gate}`{here}")
    }
}

/// Returns the logarithm of a number of equally likely choices.
fn choice_bits(n: usize) -> f64 {
    (n.max(1) as f64).log2()
}
