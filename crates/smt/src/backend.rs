//! Incremental back-ends, and the adapter that makes one a [`Solver`].
//!
//! A [`Backend`] has a stack of levels. [`IncrementalSolver`] keeps one level per fact and
//! turns a list of facts into pops and pushes by the longest prefix it shares with what
//! is asserted already. It talks to the back-end only when a question is really asked,
//! and never checks at level 0, where solvers run their slow one-shot pipeline.
//!
//! The limit of a question bounds all questions: once some have run into it, the others get a
//! fraction, so that a hundred hard questions do not take a hundred times the limit.

use std::time::Duration;

use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use rustc_hash::FxHashSet;

use crate::halt::Halt;
use crate::solver::{Solver, SolverAnswer, SolverDecision, SolverLimits, UnknownReason};
use crate::tally::{AnswerCounts, SolverTally};

/// Stops a running [`Backend::check`] from another thread.
pub type Stopper = Box<dyn Fn() + Send + Sync>;

/// A solver with a stack of levels. One per worker thread.
pub trait Backend: Send {
    /// Returns the name under which answers are counted.
    fn name(&self) -> &'static str;

    /// Opens a level.
    ///
    /// # Errors
    /// If the solver fails; the caller then [renews](Self::renew) it.
    fn push(&mut self) -> Result<(), UnknownReason>;

    /// Closes `n` levels with everything declared and asserted there.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    fn pop(&mut self, n: usize) -> Result<(), UnknownReason>;

    /// Declares `var` on the top level and asserts that its value lies in its sort.
    ///
    /// # Errors
    /// If the solver fails or has no such sort.
    fn declare(&mut self, pool: &TermPool, var: VarId) -> Result<(), UnknownReason>;

    /// Asserts `fact`, whose free variables are declared, on the top level.
    ///
    /// # Errors
    /// If the solver fails, or `fact` uses something the solver cannot express.
    fn assert(&mut self, pool: &TermPool, fact: Term) -> Result<(), UnknownReason>;

    /// Decides the conjunction of all levels.
    fn check(&mut self, limits: SolverLimits) -> SolverDecision;

    /// Returns the values of `vars` after a check that returned [`SolverDecision::Sat`].
    ///
    /// # Errors
    /// If a value cannot be read: then the check has no usable answer.
    fn values(&mut self, pool: &TermPool, vars: &[VarId]) -> Result<Valuation, UnknownReason>;

    /// Returns a handle that stops a running check; stopping an idle back-end does nothing.
    fn stopper(&self) -> Stopper;

    /// Starts afresh, with an empty stack.
    fn renew(&mut self);
}

/// The number of questions that may run into their time limit before later ones get less time. Chosen by feel, as is
/// the divisor: a command whose solver is stuck should end in minutes instead of hours.
const FULL_TIME_TIMEOUTS: u32 = 8;
/// The divisor of the time limit for questions after that. Chosen by feel.
const SHORT_TIME_DIVISOR: u32 = 32;

/// A [`Backend`] as a [`Solver`].
#[derive(Debug)]
pub struct IncrementalSolver<B> {
    backend: B,
    limits: SolverLimits,
    /// The facts asserted, one per level above the first.
    asserted: Vec<FactLevel>,
    declared: FxHashSet<VarId>,
    /// True if the level below all facts is open.
    open: bool,
    answers: AnswerCounts,
    halt: Halt,
    /// The number of questions that ran into their time limit.
    timeouts: u32,
}

#[derive(Debug)]
struct FactLevel {
    fact: Term,
    declared: Vec<VarId>,
}

impl<B: Backend> IncrementalSolver<B> {
    /// Makes a solver that asks `backend`, each question within `limits`.
    pub fn new(backend: B, limits: SolverLimits) -> Self {
        Self {
            backend,
            limits,
            asserted: Vec::new(),
            declared: FxHashSet::default(),
            open: false,
            answers: AnswerCounts::default(),
            halt: Halt::default(),
            timeouts: 0,
        }
    }

    /// Limits the time of every question to what `halt` has left.
    #[must_use]
    pub fn with_halt(self, halt: Halt) -> Self {
        Self { halt, ..self }
    }

    /// The back-end.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Asks the back-end about `facts`, and restarts it if it failed.
    fn ask(&mut self, pool: &TermPool, facts: &[Term]) -> SolverDecision {
        let granted = self.next_limits();
        // A question that is one of many small ones is not begun after the end: each would still cost its translation.
        if granted.wall.is_zero() {
            return SolverDecision::Unknown(UnknownReason::Time);
        }
        let decision = match self.sync_facts(pool, facts) {
            Ok(()) => self.backend.check(granted),
            Err(why) => SolverDecision::Unknown(why),
        };
        // One that the end of the command cut short says nothing about the others.
        let had_all = granted.wall >= self.time_per_question();
        self.timeouts += u32::from(had_all && decision == SolverDecision::Unknown(UnknownReason::Time));
        // Whatever went wrong, levels may be half asserted: start afresh. "Incomplete" is an ordinary answer of a
        // healthy solver, and its stack is worth keeping.
        if let SolverDecision::Unknown(why) = &decision
            && *why != UnknownReason::Incomplete
        {
            self.restart_backend();
        }
        decision
    }

    /// Returns the limits of the next question.
    fn next_limits(&self) -> SolverLimits {
        SolverLimits { wall: self.halt.limit_time(self.time_per_question()), ..self.limits }
    }

    /// Returns the time granted to one question, before the limit of the whole command is applied.
    fn time_per_question(&self) -> Duration {
        self.limits.wall / if self.timeouts < FULL_TIME_TIMEOUTS { 1 } else { SHORT_TIME_DIVISOR }
    }

    /// Brings the stack of the back-end to `facts`.
    fn sync_facts(&mut self, pool: &TermPool, facts: &[Term]) -> Result<(), UnknownReason> {
        if !self.open {
            self.backend.push()?;
            self.open = true;
        }
        // One level per fact, so that a question pays only for what differs from the one before.
        let shared = self.asserted.iter().zip(facts).take_while(|(level, fact)| level.fact == **fact).count();
        self.pop_to(shared)?;
        facts[shared..].iter().try_for_each(|&fact| self.push_fact(pool, fact))
    }

    fn pop_to(&mut self, n_levels: usize) -> Result<(), UnknownReason> {
        let n_gone = self.asserted.len() - n_levels;
        if n_gone == 0 {
            return Ok(());
        }
        for level in self.asserted.drain(n_levels..) {
            for var in level.declared {
                self.declared.remove(&var);
            }
        }
        self.backend.pop(n_gone)
    }

    fn push_fact(&mut self, pool: &TermPool, fact: Term) -> Result<(), UnknownReason> {
        self.backend.push()?;
        let mut declared = pool.free_vars(fact);
        // A variable lives on the level of the first fact that mentions it, and is gone when that level is popped.
        declared.retain(|&var| self.declared.insert(var));
        for &var in &declared {
            self.backend.declare(pool, var)?;
        }
        self.backend.assert(pool, fact)?;
        self.asserted.push(FactLevel { fact, declared });
        Ok(())
    }

    /// Restarts a back-end that failed half-way, and forgets the facts it was given.
    fn restart_backend(&mut self) {
        self.backend.renew();
        self.asserted.clear();
        self.declared.clear();
        self.open = false;
    }

    fn read_values(&mut self, pool: &TermPool, facts: &[Term]) -> SolverAnswer {
        match self.backend.values(pool, &pool.free_vars_of(facts)) {
            Ok(valuation) => SolverAnswer::Sat(valuation),
            Err(why) => {
                self.restart_backend();
                SolverAnswer::Unknown(why)
            }
        }
    }
}

impl<B: Backend> Solver for IncrementalSolver<B> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let answer = match self.ask(pool, facts) {
            SolverDecision::Sat => self.read_values(pool, facts),
            SolverDecision::Unsat => SolverAnswer::Unsat,
            SolverDecision::Unknown(why) => SolverAnswer::Unknown(why),
        };
        self.answers.count_answer(answer)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        let decision = self.ask(pool, facts);
        self.answers.count_decision(decision)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer(self.backend.name(), self.answers);
    }
}
