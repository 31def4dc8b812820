//! The monitor: the states a specification may be in after an observed suspension trace.
//!
//! 002 Def. 16's set C, 000 Alg. 1's C, 001's execution relation. While every value is known
//! the belief is a set of concrete states and guards are evaluated; no solver is asked except
//! whether a loose guard has a solution. Where a value is unknown the belief holds symbolic
//! states. Both are closed under internal steps before and after each label (002 Table 5).
//! In a timed system delays are labels like any other; what they mean is told in `timed`.
//!
//! *Promises.* An empty belief after an output or quiescence is reported as [`Forbidden`],
//! and only then: a question the solver leaves open keeps the state in the belief. After an
//! input the specification does not mention, it says nothing more, and everything is allowed.

mod concrete;
mod explain;
mod symbolic;
mod timed;

use std::collections::BTreeSet;

use ioxide_model::concrete::{State, initial_state};
use ioxide_model::label::Label;

use crate::cx::Ctx;
use crate::state::SymState;

pub use self::explain::{Blocked, Forbidden, Refusal};
pub use self::timed::Tolerance;

/// At most this many states are kept after internal steps; more is reported, never silently cut.
const MAX_BELIEF: usize = 10_000;

/// The states the specification may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belief {
    /// Every value is known.
    Concrete(BTreeSet<State>),
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
}

impl Belief {
    /// What either of them believes.
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Concrete(mut mine), Self::Concrete(theirs)) => {
                mine.extend(theirs);
                Self::Concrete(mine)
            }
            (Self::Symbolic(mut mine), Self::Symbolic(theirs)) => {
                for state in theirs {
                    if !mine.contains(&state) {
                        mine.push(state);
                    }
                }
                Self::Symbolic(mine)
            }
            // A concrete and a symbolic belief of one model: nothing less than everything holds both.
            _ => Self::Unspecified,
        }
    }
}

/// A label the specification allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// The belief has moved on.
    Allowed,
    /// The specification does not mention this input: nothing after it can be wrong.
    Unspecified,
}

/// The monitor over one model.
#[derive(Clone, Debug)]
pub struct After {
    belief: Belief,
    /// How many answers the solver owed and did not give; states were kept in doubt.
    doubts: usize,
    /// Internal steps were cut or a state could not be computed: the belief may lack states, so
    /// nothing is reported as forbidden.
    truncated: bool,
    /// What is known of time; `None` where the system has no clocks.
    time: Option<timed::Time>,
}

impl After {
    /// The belief before anything was observed; instants are observed exactly.
    pub fn new(cx: &mut Ctx<'_>) -> Self {
        Self::with_tolerance(cx, Tolerance::default())
    }

    /// The same, but instants are observed within `tolerance`.
    pub fn with_tolerance(cx: &mut Ctx<'_>, tolerance: Tolerance) -> Self {
        let belief = match initial_state(cx.pool, cx.sts) {
            Some(state) => Belief::Concrete([state].into()),
            None => Belief::Symbolic(vec![SymState::initial(cx)]),
        };
        let mut after = Self { belief, doubts: 0, truncated: false, time: None };
        after.close(cx);
        after.time = cx.sts.is_timed().then(|| timed::Time::new(cx, tolerance, after.belief.clone()));
        after
    }

    /// The states the specification may be in.
    #[must_use]
    pub fn belief(&self) -> &Belief {
        &self.belief
    }

    /// How many answers the solver did not give.
    #[must_use]
    pub fn doubts(&self) -> usize {
        self.doubts
    }

    /// Whether the belief may lack states: internal steps were cut at the limit (a divergence, or very
    /// many states), or an update could not be computed.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Moves on by one label.
    ///
    /// # Errors
    /// If the specification forbids the label, with the reason for every state it may be in.
    /// The belief stays as it was.
    pub fn observe(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        if self.time.is_some() {
            return self.observe_in_time(cx, label);
        }
        let next = match &self.belief {
            Belief::Unspecified => return Ok(Observed::Unspecified),
            Belief::Concrete(states) => concrete::after(cx, states, label),
            Belief::Symbolic(states) => symbolic::after(cx, states, label),
        };
        self.doubts += next.doubts;
        self.truncated |= next.truncated;
        if next.belief.size() != Some(0) {
            self.belief = next.belief;
            self.close(cx);
            return Ok(Observed::Allowed);
        }
        if self.truncated || matches!(label, Label::Input(..)) {
            self.belief = Belief::Unspecified;
            return Ok(Observed::Unspecified);
        }
        Err(Box::new(explain::forbidden(cx, &self.belief, &self.belief, label)))
    }

    /// Takes in what `other` believes: what happened is not known for sure, and it may be what `other`
    /// has observed. Anything either of them allows is allowed.
    pub fn join(&mut self, other: Self) {
        self.doubts = self.doubts.max(other.doubts);
        self.truncated |= other.truncated;
        let mine = std::mem::replace(&mut self.belief, Belief::Unspecified);
        self.belief = mine.joined(other.belief);
        self.join_in_time(other.time);
    }

    /// Whether the specification mentions this input now.
    pub fn accepts(&self, cx: &mut Ctx<'_>, label: &Label) -> bool {
        if self.time.is_some() {
            return self.accepts_in_time(cx, label);
        }
        let next = match &self.belief {
            Belief::Unspecified => return false,
            Belief::Concrete(states) => concrete::after(cx, states, label),
            Belief::Symbolic(states) => symbolic::after(cx, states, label),
        };
        next.belief.size() != Some(0)
    }

    /// Closes the belief under internal steps.
    fn close(&mut self, cx: &mut Ctx<'_>) {
        let belief = std::mem::replace(&mut self.belief, Belief::Unspecified);
        let closed = match belief {
            Belief::Concrete(states) => concrete::close(cx, states),
            Belief::Symbolic(states) => symbolic::close(cx, states),
            Belief::Unspecified => return,
        };
        self.belief = closed.belief;
        self.doubts += closed.doubts;
        self.truncated |= closed.truncated;
    }
}

/// A belief computed, and what it cost in certainty.
struct Next {
    belief: Belief,
    doubts: usize,
    truncated: bool,
}
