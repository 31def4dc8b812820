//! Goals written beside a model: purposes, invariants, tests.

use std::sync::Arc;

use crate::number::Rational;
use crate::source::Span;
use crate::sts::{GateId, LocId, SwitchId};
use crate::term::{Term, VarId};

/// A goal with its name and place.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its name, or a text made from its place.
    pub name: Arc<str>,
    /// What it asks for.
    pub kind: GoalKind,
    /// Where it is written.
    pub span: Span,
    /// What its author wrote about it.
    pub doc: String,
    /// Requirements it traces to.
    pub reqs: Vec<Arc<str>>,
}

/// What a goal asks for.
#[derive(Clone, Debug)]
pub enum GoalKind {
    /// `purpose NAME: r1, r2, r3`: take these switches one after the other.
    Path(Vec<SwitchId>),
    /// `purpose NAME: reach STATE when COND`: come to a location (or any) where a condition holds.
    Reach {
        /// The location; any if `None`.
        location: Option<LocId>,
        /// A formula over variables and clocks.
        when: Term,
    },
    /// A small observer that watches the messages and says hit or miss.
    Observer(Observer),
    /// `always EXPR`: holds in every reachable state.
    Always(Term),
    /// `sometimes EXPR`: holds in some reachable state.
    Sometimes(Term),
    /// `test "NAME" { ... }`: a fixed sequence of steps.
    Test(Vec<TestStep>),
}

/// An automaton over what is seen, with variables and clocks of its own and leaves hit and miss.
///
/// It is deterministic: what was seen says where it is and what its variables hold.
#[derive(Clone, Debug)]
pub struct Observer {
    /// Names of the stages; the first is the initial one.
    pub stages: Vec<Arc<str>>,
    /// Its variables, each with a ground term for its value at start.
    pub vars: Vec<(VarId, Term)>,
    /// Its clocks; they start at 0.
    pub clocks: Vec<VarId>,
    /// What moves it; the first rule of the stage that fits counts, and where none does it stays.
    pub rules: Vec<ObserverRule>,
}

/// One move of an [`Observer`].
#[derive(Clone, Debug)]
pub struct ObserverRule {
    /// The stage it starts from.
    pub from: usize,
    /// What it waits for.
    pub on: ObservedEvent,
    /// A formula over the fields of the message, the variables and the clocks of the observer.
    pub when: Term,
    /// What its variables become, all at once.
    pub update: Vec<(VarId, Term)>,
    /// The clocks that start again.
    pub resets: Vec<VarId>,
    /// Where it leads.
    pub to: ObserverTarget,
    /// Where it is written.
    pub span: Span,
}

/// What an [`Observer`] reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservedEvent {
    /// A message.
    Message(GateId),
    /// Nothing: quiescence, or in a timed model some time without a message.
    Quiet,
}

/// Where a move of an [`Observer`] leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverTarget {
    /// Another stage.
    Stage(usize),
    /// The purpose is reached.
    Hit,
    /// The purpose can no longer be reached.
    Miss,
}

/// One step of a written test.
#[derive(Clone, Debug)]
pub struct TestStep {
    /// What to do or to see.
    pub kind: TestStepKind,
    /// Where it is written.
    pub span: Span,
}

/// What to do or to see in one step of a written test.
#[derive(Clone, Debug)]
pub enum TestStepKind {
    /// `send g(p: 1)`: a formula over the fields says which values may be sent.
    Send(GateId, Term),
    /// `expect g(p: 1)`: a formula over the fields says which values are right.
    Expect(GateId, Term),
    /// `quiet 1s`: nothing is seen for this long; `None` is the quiescence time of the run.
    Quiet(Option<Rational>),
}
