//! A walk through a model by hand: the monitor, its history, and the choices at its end.
//!
//! Front ends that let people step through a model, in a terminal or in a browser, show a [`ModelWalk`]. The belief is
//! the monitor's ([`Monitor`]): after each label it holds every state the model may be in. [`choices`] lists the labels
//! possible next, [`read`] turns typed text into a label, and [`symbolic`] walks along switches instead of labels.
//!
//! *Promises.* A forbidden label does not move the walk: the last belief stays, with the reason. Any
//! text that is no step of the model gives a message, never a panic.

pub mod choices;
pub mod error;
pub mod read;
pub mod refused;
pub mod symbolic;

use ioxide_model::label::Label;
use ioxide_model::sts::SwitchId;
use ioxide_record::event::Explanation;
use ioxide_run::explain::explanation;
use ioxide_symex::{AllowedLabel, Ctx, Monitor, explaining_switches};

use self::choices::SwitchChoice;
use self::error::WalkError;
use self::refused::RefusedSwitch;

/// A monitor of one model, with everything it observed.
pub struct ModelWalk<'m> {
    /// The model, its pool and a solver.
    pub cx: Ctx<'m>,
    monitor: Monitor,
    past: Vec<TakenStep>,
}

/// A step that was taken.
#[derive(Clone, Debug)]
pub struct TakenStep {
    /// The label observed.
    pub label: Label,
    /// The switches the model may have taken.
    pub switches: Vec<SwitchId>,
    /// The monitor before the step.
    before: Monitor,
}

/// The judgement of the model on a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelJudgement {
    /// The label is allowed, and the belief has moved on.
    Allowed,
    /// The model no longer restricts the system: it does not mention this input, or the belief lacks states and none of
    /// those kept allows the label.
    Unspecified,
    /// The label is forbidden; the walk stays where it was.
    Forbidden(Box<Explanation>),
}

impl<'m> ModelWalk<'m> {
    /// Returns a walk at the initial state of the model.
    #[must_use]
    pub fn new(mut cx: Ctx<'m>) -> Self {
        let monitor = Monitor::new(&mut cx);
        Self { cx, monitor, past: Vec::new() }
    }

    /// Returns the monitor, which holds the states the model may be in now.
    #[must_use]
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The steps taken so far.
    #[must_use]
    pub fn steps(&self) -> &[TakenStep] {
        &self.past
    }

    /// Observes `label`, and moves on unless it is forbidden.
    pub fn observe(&mut self, label: Label) -> LabelJudgement {
        let switches = explaining_switches(&self.cx, self.monitor.belief(), &label);
        let before = self.monitor.clone();
        let judged = match self.monitor.observe(&mut self.cx, &label) {
            Err(forbidden) => {
                // Time that must not pass has not passed.
                self.monitor = before;
                return LabelJudgement::Forbidden(Box::new(explanation(&mut self.cx, &forbidden)));
            }
            Ok(AllowedLabel::Unspecified | AllowedLabel::Unknown) => LabelJudgement::Unspecified,
            Ok(AllowedLabel::Allowed) => LabelJudgement::Allowed,
        };
        self.past.push(TakenStep { label, switches, before });
        judged
    }

    /// Undoes the last step and returns its label; `None` at the start.
    pub fn undo(&mut self) -> Option<Label> {
        let taken = self.past.pop()?;
        self.monitor = taken.before;
        Some(taken.label)
    }

    /// Goes back until `n` steps remain.
    pub fn rewind(&mut self, n: usize) {
        if let Some(taken) = self.past.drain(n.min(self.past.len())..).next() {
            self.monitor = taken.before;
        }
    }

    /// Walks along `labels`, reusing the steps that are the same as those taken already. Returns the number of labels
    /// taken, and the explanation of the next if it was forbidden.
    pub fn follow_labels(&mut self, labels: &[Label]) -> (usize, Option<Box<Explanation>>) {
        let common = self.past.iter().zip(labels).take_while(|(taken, label)| taken.label == **label).count();
        self.rewind(common);
        for (position, label) in labels.iter().enumerate().skip(common) {
            if let LabelJudgement::Forbidden(why) = self.observe(label.clone()) {
                return (position, Some(why));
            }
        }
        (labels.len(), None)
    }

    /// Returns the switches that can be taken now, inputs first.
    pub fn choices(&mut self) -> Vec<SwitchChoice> {
        choices::possible_choices(&mut self.cx, self.monitor.belief())
    }

    /// Returns the observable switches that start here and cannot be taken, with the reasons.
    pub fn refused_switches(&mut self) -> Vec<RefusedSwitch> {
        refused::find_refused(&mut self.cx, self.monitor.belief())
    }

    /// Returns whether quiescence is allowed now.
    pub fn may_be_silent(&mut self) -> bool {
        self.monitor.accepts(&mut self.cx, &Label::Quiescence)
    }

    /// Returns the label that `text` denotes; fields that were left out get values that fit.
    ///
    /// # Errors
    /// The reason why `text` denotes no label that can be taken.
    pub fn parse_label(&mut self, text: &str) -> Result<Label, WalkError> {
        read::parse_label(self, text)
    }
}

#[cfg(test)]
mod tests;
