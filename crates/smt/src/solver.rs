//! The interface to solvers: facts in, a three-valued answer out.
//!
//! A question is a list of facts, read as their conjunction over all valuations that
//! respect the sorts of the free variables (a variable of a range sort lies in its
//! range without a fact that says so). Push and pop stay inside: a caller that extends
//! the previous list is served incrementally, whatever it asks.
//!
//! *Promises.* [`SolverAnswer::Unsat`] is a proof. [`SolverAnswer::Sat`] comes with a valuation that
//! assigns every free variable of the facts a value of its sort. [`SolverAnswer::Unknown`]
//! proves nothing.
//! *Assumes* that one solver is always given the same pool: answers are remembered by
//! term, and terms of another pool mean something else.

use std::fmt;
use std::time::Duration;

use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;

use crate::halt::Halt;
use crate::tally::SolverTally;

/// Decides conjunctions of facts. Layers and back-ends alike implement it.
pub trait Solver: Send {
    /// Decides whether `facts` are satisfiable together, and gives a valuation of their free variables if they are.
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer;

    /// Decides whether `facts` are satisfiable together. Cheaper than [`check`](Self::check): reading a
    /// valuation costs a back-end about as much as deciding.
    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        self.check(pool, facts).decision()
    }

    /// Returns the signal that says when to stop; a search that asks many questions looks at it between two of them.
    fn halt(&self) -> Halt {
        Halt::default()
    }

    /// Replaces the signal that says when to stop, and returns the previous one.
    fn restrict(&mut self, halt: Halt) -> Halt {
        let _ = halt;
        Halt::default()
    }

    /// Adds the answers of this solver, and of those behind it, to `tally`.
    fn add_to_tally(&self, tally: &mut SolverTally) {
        let _ = tally;
    }
}

/// The answer to a question about the satisfiability of facts, with a valuation if there is one.
#[must_use = "an unanswered question proves nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SolverAnswer {
    /// All facts hold under this valuation.
    Sat(Valuation),
    /// No valuation makes all facts hold.
    Unsat,
    /// The question is not decided, for this reason; it proves nothing.
    Unknown(UnknownReason),
}

impl SolverAnswer {
    /// The answer without its valuation.
    pub fn decision(self) -> SolverDecision {
        match self {
            Self::Sat(_) => SolverDecision::Sat,
            Self::Unsat => SolverDecision::Unsat,
            Self::Unknown(why) => SolverDecision::Unknown(why),
        }
    }

    /// Returns the valuation of a [`Sat`](Self::Sat) answer; `None` for the other answers.
    #[must_use]
    pub fn valuation(self) -> Option<Valuation> {
        if let Self::Sat(valuation) = self { Some(valuation) } else { None }
    }
}

/// The answer to a question about the satisfiability of facts, without a valuation.
#[must_use = "an unanswered question proves nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SolverDecision {
    /// Some valuation makes all facts hold.
    Sat,
    /// No valuation makes all facts hold.
    Unsat,
    /// The question is not decided, for this reason; it proves nothing.
    Unknown(UnknownReason),
}

/// The reason why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UnknownReason {
    /// The time limit of the question was reached.
    Time,
    /// The solver ran out of memory.
    Memory,
    /// The method does not decide this kind of facts.
    Incomplete,
    /// No collections up to this length make the facts hold; longer ones were not looked at.
    Beyond(usize),
    /// Nested collections, or recursive values, were tried only in small shapes.
    Nested,
    /// The solver was interrupted.
    Interrupted,
    /// The time limit of the whole command passed.
    Limit,
    /// No solver is installed, and the question needs one.
    NoSolver,
    /// The solver failed, with this message.
    Error(String),
}

impl UnknownReason {
    /// Returns the reason why two questions together are not decided: for collections, only lengths that both have
    /// tried are known.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Beyond(one), Self::Beyond(other)) => Self::Beyond(one.min(other)),
            (Self::Beyond(_), other) => other,
            (one, _) => one,
        }
    }
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("the solver ran out of time"),
            Self::Memory => f.write_str("the solver ran out of memory"),
            Self::Incomplete => f.write_str("the solver gave up"),
            Self::Beyond(1) => f.write_str("not known for collections of more than 1 item"),
            Self::Beyond(length) => write!(f, "not known for collections of more than {length} items"),
            Self::Nested => f.write_str("not known for collections inside of others beyond small ones"),
            Self::Interrupted => f.write_str("the solver was interrupted"),
            Self::Limit => f.write_str("the time limit was reached"),
            Self::NoSolver => f.write_str("no solver is installed"),
            Self::Error(text) => write!(f, "solver error: {text}"),
        }
    }
}

/// The limits of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverLimits {
    /// Wall-clock time.
    pub wall: Duration,
    /// Solver steps, where the back-end counts them: unlike time, the same on every machine.
    pub steps: Option<u64>,
}

impl Default for SolverLimits {
    /// Returns the default limits: ten seconds, any number of steps.
    fn default() -> Self {
        Self { wall: Duration::from_secs(10), steps: None }
    }
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        (**self).check(pool, facts)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        (**self).decide(pool, facts)
    }

    fn halt(&self) -> Halt {
        (**self).halt()
    }

    fn restrict(&mut self, halt: Halt) -> Halt {
        (**self).restrict(halt)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        (**self).add_to_tally(tally);
    }
}

impl<S: Solver + ?Sized> Solver for &mut S {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        (**self).check(pool, facts)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        (**self).decide(pool, facts)
    }

    fn halt(&self) -> Halt {
        (**self).halt()
    }

    fn restrict(&mut self, halt: Halt) -> Halt {
        (**self).restrict(halt)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        (**self).add_to_tally(tally);
    }
}

/// The absence of a solver: every question is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSolver;

impl Solver for NoSolver {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        if facts.iter().any(|&fact| pool.is_false(fact)) {
            return SolverAnswer::Unsat;
        }
        if facts.iter().all(|&fact| pool.is_true(fact)) {
            return SolverAnswer::Sat(Valuation::new());
        }
        SolverAnswer::Unknown(UnknownReason::NoSolver)
    }
}
