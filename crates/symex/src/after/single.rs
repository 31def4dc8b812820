//! The belief after one certain order of events.
//!
//! While every value is known the belief is a set of concrete states and guards are evaluated; no solver is asked
//! except whether a loose guard has a solution. Where a value is unknown the belief holds symbolic
//! states. Both are closed under internal steps before and after each label ([FTW05] Table 5).
//! In a timed system delays are labels like any other; what they mean is told in `timed`.
//!
//! *Promises.* A question the solver leaves open keeps the state in the belief. What is missing from the belief is said.

use std::collections::BTreeSet;

use ioxide_model::concrete::{ConcreteState, initial_state};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;

use super::timed::{TimeKnowledge, Tolerance};
use super::{AllowedLabel, Forbidden, LostStates, concrete, explain, symbolic};
use crate::cx::Ctx;
use crate::state::SymState;

/// At most this many concrete states are kept; more is reported, never silently cut.
pub(super) const MAX_STATES: usize = 100_000;
/// The same for symbolic states, which cost a question each.
pub(super) const MAX_SYMBOLIC: usize = 10_000;

/// The states the specification may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belief {
    /// Every value is known.
    Concrete(BTreeSet<ConcreteState>),
    /// Some value is unknown.
    Symbolic(Vec<SymState>),
    /// An input came that the specification does not mention: it says nothing any more.
    Unspecified,
}

impl Belief {
    /// How many states there are; `None` where the specification says nothing.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        match self {
            Self::Concrete(states) => Some(states.len()),
            Self::Symbolic(states) => Some(states.len()),
            Self::Unspecified => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.size() == Some(0)
    }
}

/// The belief after one order of events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CourseBelief {
    pub(super) belief: Belief,
    /// How many answers the solver owed and did not give; states were kept in doubt.
    pub(super) doubts: usize,
    /// Why the belief may lack states.
    pub(super) lost: Option<LostStates>,
    /// What is known of time; `None` where the system has no clocks.
    pub(super) time: Option<TimeKnowledge>,
}

impl CourseBelief {
    /// The belief before anything was observed, instants being observed within `tolerance`.
    pub(super) fn new(cx: &mut Ctx<'_>, tolerance: Tolerance) -> Self {
        let belief = match initial_state(cx.pool, cx.sts) {
            Some(state) => Belief::Concrete([state].into()),
            None => Belief::Symbolic(vec![SymState::initial(cx)]),
        };
        let mut single = Self { belief, doubts: 0, lost: None, time: None };
        single.close(cx);
        single.time = cx.sts.is_timed().then(|| TimeKnowledge::new(cx, tolerance, single.belief.clone()));
        single
    }

    pub(super) fn belief(&self) -> &Belief {
        &self.belief
    }

    pub(super) fn doubts(&self) -> usize {
        self.doubts
    }

    pub(super) fn lost(&self) -> Option<LostStates> {
        self.lost
    }

    /// The specification says nothing any more.
    pub(super) fn forget(&mut self) {
        self.belief = Belief::Unspecified;
    }

    /// Moves on by one label; if it is forbidden, the belief stays as it was.
    pub(super) fn observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        if self.time.is_some() {
            return self.observe_in_time(cx, label, relation);
        }
        if self.belief == Belief::Unspecified {
            return Ok(AllowedLabel::Unspecified);
        }
        let next = by_label(cx, &self.belief, label, relation);
        self.pay(&next);
        if next.is_unspecified(label) {
            self.forget();
            return Ok(AllowedLabel::Unspecified);
        }
        if next.belief.is_empty() {
            return Err(Box::new(explain::forbidden(cx, &self.belief, &self.belief, label)));
        }
        self.belief = next.belief;
        self.close(cx);
        Ok(AllowedLabel::Allowed)
    }

    /// Lets a label happen now that was given or seen at `given`; says whether that is possible.
    pub(super) fn take_back(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        given: Option<&Rational>,
        relation: ConformanceRelation,
    ) -> bool {
        match given {
            Some(given) => self.take_back_in_time(cx, label, given, relation),
            None => self.observe(cx, label, relation).is_ok(),
        }
    }

    /// Why a label that was given or seen at `given` cannot have happened then, if it cannot.
    pub(super) fn refusal(
        &self,
        cx: &mut Ctx<'_>,
        label: &Label,
        given: Option<&Rational>,
        relation: ConformanceRelation,
    ) -> Option<Box<Forbidden>> {
        let mut then = self.clone();
        if let Some(given) = given {
            then.turn_back(given);
        }
        then.observe(cx, label, relation).err()
    }

    /// Whether the specification allows this label now; whether it mentions it, if it is an input.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        if self.belief == Belief::Unspecified {
            return false;
        }
        if self.time.is_some() {
            return self.accepts_in_time(cx, label, relation);
        }
        let next = by_label(cx, &self.belief, label, relation);
        next.is_possible(label) && !(matches!(label, Label::Input(..)) && self.is_opened_by(cx, next.belief))
    }

    /// Whether a state in which everything may follow is among `next` or what follows unseen, and is not believed yet.
    fn is_opened_by(&self, cx: &mut Ctx<'_>, next: Belief) -> bool {
        let (Belief::Concrete(now), Belief::Concrete(next)) = (&self.belief, next) else { return false };
        let sts = cx.sts;
        let is_open = |state: &ConcreteState| sts.is_open(|var| state.values.get(var).cloned());
        if sts.composition.as_ref().is_none_or(|composition| composition.open.is_none())
            || now.iter().any(is_open)
        {
            return false;
        }
        match concrete::close(cx, next).belief {
            Belief::Concrete(states) => states.iter().any(is_open),
            Belief::Symbolic(_) | Belief::Unspecified => false,
        }
    }

    /// Closes the belief under internal steps.
    pub(super) fn close(&mut self, cx: &mut Ctx<'_>) {
        let belief = std::mem::replace(&mut self.belief, Belief::Unspecified);
        let closed = match belief {
            Belief::Concrete(states) => concrete::close(cx, states),
            Belief::Symbolic(states) => symbolic::close(cx, states),
            Belief::Unspecified => return,
        };
        self.pay(&closed);
        self.belief = closed.belief;
    }

    /// Counts what a belief costs in certainty.
    pub(super) fn pay(&mut self, next: &NextBelief) {
        self.doubts += next.doubts;
        self.lost = self.lost.or(next.lost);
    }
}

/// The states after `label`, of whichever kind the belief is.
pub(super) fn by_label(
    cx: &mut Ctx<'_>,
    belief: &Belief,
    label: &Label,
    relation: ConformanceRelation,
) -> NextBelief {
    match belief {
        Belief::Concrete(states) => concrete::after(cx, states, label, relation),
        Belief::Symbolic(states) => symbolic::after(cx, states, label, relation),
        Belief::Unspecified => {
            NextBelief { belief: Belief::Unspecified, doubts: 0, lost: None, refused: false }
        }
    }
}

/// A belief computed, and what it cost in certainty.
pub(super) struct NextBelief {
    pub(super) belief: Belief,
    pub(super) doubts: usize,
    pub(super) lost: Option<LostStates>,
    /// The label is an input that, by the relation, is not specified: some state refuses it.
    pub(super) refused: bool,
}

impl NextBelief {
    /// Whether the specification goes on after `label`.
    pub(super) fn is_possible(&self, label: &Label) -> bool {
        !self.is_unspecified(label) && !self.belief.is_empty()
    }

    /// Whether the specification says nothing after `label`.
    pub(super) fn is_unspecified(&self, label: &Label) -> bool {
        matches!(label, Label::Input(..)) && (self.refused || self.belief.is_empty())
    }
}
