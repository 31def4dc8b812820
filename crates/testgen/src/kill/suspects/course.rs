//! The states of a suspect after the labels of a run, whenever its last input was taken.
//!
//! An input that was written, but not confirmed, may have been taken after messages that were seen later than it was
//! sent. One such input is followed both ways; where a second one is sent meanwhile, the states are no longer all.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::Sts;
use ioxide_symex::Ctx;

use crate::conform::{ReplayedStates, concrete_after, concrete_start};

/// The states that a suspect may be in.
#[derive(Clone, Debug, Default)]
pub(super) struct SuspectCourse {
    /// The states if all inputs were taken.
    after: ReplayedStates,
    /// The last input, and the states if it was not taken yet; `None` if it was.
    late: Option<(Label, ReplayedStates)>,
}

impl SuspectCourse {
    /// The states before the first label.
    pub fn start(cx: &Ctx<'_>, system: &Sts) -> Self {
        Self { after: concrete_start(cx, system), late: None }
    }

    /// The states if all inputs were taken.
    pub fn states(&self) -> &BTreeSet<ConcreteState> {
        &self.after.states
    }

    /// Notes that the labels may have happened in an order that is not followed.
    pub fn doubt(&mut self) {
        self.after.is_all = false;
    }

    /// Follows an input, which the suspect has taken by now if that `is_confirmed`. An input shows nothing: no suspect
    /// is impossible because of it.
    pub fn follow_input(&mut self, cx: &mut Ctx<'_>, system: &Sts, label: &Label, is_confirmed: bool) {
        if self.late.take().is_some() {
            self.doubt();
        }
        let before = self.after.clone();
        self.after = concrete_after(cx, system, &before, label);
        if self.after.states.is_empty() {
            self.doubt();
        }
        self.late = (!is_confirmed).then(|| (label.clone(), before));
    }

    /// Follows an observation; returns whether the suspect cannot show it.
    pub fn follow_observation(&mut self, cx: &mut Ctx<'_>, system: &Sts, label: &Label) -> bool {
        self.after = concrete_after(cx, system, &self.after, label);
        // Who is silent has taken everything.
        let late = self.late.take().filter(|_| *label != Label::Quiescence);
        if let Some((input, before)) = late {
            let before = concrete_after(cx, system, &before, label);
            let now = concrete_after(cx, system, &before, &input);
            self.after.is_all &= now.is_all;
            self.after.states.extend(now.states);
            self.late = (!before.is_impossible()).then_some((input, before));
        }
        self.after.is_impossible() && self.late.is_none()
    }
}
