//! Goals written with a model: purposes, invariants, tests.

use std::sync::Arc;

use crate::number::Rational;
use crate::source::Span;
use crate::sts::{GateId, LocId, Sts, SwitchId};
use crate::term::{Term, VarId};

/// A goal with its name and place.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its name, or a text made from its place.
    pub name: Arc<str>,
    /// The property, path or test asked for.
    pub kind: GoalKind,
    /// The place of its declaration.
    pub span: Span,
    /// The documentation comment of its author.
    pub doc: String,
    /// Requirements it traces to.
    pub reqs: Vec<Arc<str>>,
    /// The variables in its formula that are no variables of the system.
    pub frame: GoalFrame,
}

/// Variables in the formula of a goal that stand for the place of a state, and for values after the next transition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalFrame {
    /// The variables that are true in one location, `at(busy)`.
    pub places: Vec<(VarId, LocId)>,
    /// The variables for values after the next transition, each with the variable (or place) before it.
    pub next: Vec<(VarId, VarId)>,
}

/// The kinds of goals.
#[derive(Clone, Debug)]
pub enum GoalKind {
    /// `purpose NAME: r1, quiet, r3`: these steps, one after the other.
    Path(Vec<PathStep>),
    /// `purpose NAME: reach STATE when COND`: come to a location (or any) where a condition holds.
    Reach {
        /// The location; any if `None`.
        location: Option<LocId>,
        /// A formula over variables and clocks.
        when: Term,
    },
    /// An observer automaton over the messages that ends in hit or miss.
    Observer(Observer),
    /// `always EXPR`: holds in every reachable state.
    Always(Term),
    /// `sometimes EXPR`: holds in some reachable state.
    Sometimes(Term),
    /// `assume EXPR`: a lemma for the proof of the others; it is proved like an invariant.
    Assume(Term),
    /// `every A is followed by B`: after each message A comes a message B.
    Response(ResponseGoal),
    /// `test "NAME" { ... }`: a fixed sequence of steps.
    Test(Vec<TestStep>),
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// Takes this switch.
    Take(SwitchId),
    /// Observes silence: the state is quiescent, and stays as it is but for its clocks.
    Quiet,
}

impl PathStep {
    /// Returns the path that takes `switches`.
    #[must_use]
    pub fn taking(switches: &[SwitchId]) -> Vec<Self> {
        switches.iter().copied().map(Self::Take).collect()
    }

    /// Returns the switch that the step takes; `None` for silence.
    #[must_use]
    pub fn switch(self) -> Option<SwitchId> {
        match self {
            Self::Take(switch) => Some(switch),
            Self::Quiet => None,
        }
    }

    /// Returns the name of the step as purposes and `--path` have it: the label of the switch, or `quiet`.
    #[must_use]
    pub fn name(self, sts: &Sts) -> &str {
        match self {
            Self::Take(switch) => &sts.switches[switch].label,
            Self::Quiet => "quiet",
        }
    }
}

/// A message that must be answered by another one.
#[derive(Clone, Debug)]
pub struct ResponseGoal {
    /// The message that must be answered, with a formula over its fields.
    pub trigger: (GateId, Term),
    /// The answer, with a formula over its fields.
    pub answer: (GateId, Term),
    /// The time in seconds within which it must come; `None` if there is no limit.
    pub within: Option<Rational>,
}

/// An automaton over observations, with variables and clocks of its own and the verdicts hit and miss.
///
/// It is deterministic: the observations determine its stage and the values of its variables.
#[derive(Clone, Debug)]
pub struct Observer {
    /// Names of the stages; the first is the initial one.
    pub stages: Vec<Arc<str>>,
    /// Its variables, each with a ground term for its value at start.
    pub vars: Vec<(VarId, Term)>,
    /// Its clocks; they start at 0.
    pub clocks: Vec<VarId>,
    /// The rules in order: the first of the current stage that fits is taken; if none fits, the observer stays.
    pub rules: Vec<ObserverRule>,
}

/// One move of an [`Observer`].
#[derive(Clone, Debug)]
pub struct ObserverRule {
    /// The position of the source stage.
    pub from: usize,
    /// The observation that triggers it.
    pub on: ObservedEvent,
    /// A formula over the fields of the message, the variables and the clocks of the observer.
    pub when: Term,
    /// The new values of its variables, all computed from the old ones.
    pub update: Vec<(VarId, Term)>,
    /// The clocks set to 0.
    pub resets: Vec<VarId>,
    /// The target of the move.
    pub to: ObserverTarget,
    /// The place of the rule.
    pub span: Span,
}

/// An observation an [`Observer`] reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedEvent {
    /// A message.
    Message(GateId),
    /// Nothing: quiescence, or in a timed model some time without a message.
    Quiet,
}

/// The target of a move of an [`Observer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverTarget {
    /// The stage at this position.
    Stage(usize),
    /// The purpose is reached.
    Hit,
    /// The purpose can no longer be reached.
    Miss,
}

/// One step of a written test.
#[derive(Clone, Debug)]
pub struct TestStep {
    /// The action or the expected observation.
    pub kind: TestStepKind,
    /// The place of the step.
    pub span: Span,
}

/// The action or expected observation of one step of a written test.
#[derive(Clone, Debug)]
pub enum TestStepKind {
    /// `send g(p: 1)`: send the message with field values that satisfy the formula.
    Send(GateId, Term),
    /// `expect g(p: 1)`: see the message with field values that satisfy the formula.
    Expect(GateId, Term),
    /// `quiet 1s`: nothing is seen for this long; `None` is the quiescence time of the run.
    Quiet(Option<Rational>),
}
