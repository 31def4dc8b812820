//! The context of symbolic execution: the system, its pool, a solver.

use std::time::Duration;

use rustc_hash::FxHashMap;

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_smt::halt::{Halt, Halted};
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision};

/// The time for one part of an explanation, where explanations have a limit. Chosen by feel: what is not decided by
/// then is shown as possible.
const MAX_EXPLANATION_TIME: Duration = Duration::from_secs(1);

/// The context of symbolic execution over one model.
///
/// *Invariant.* The solver is used with this pool only.
pub struct Ctx<'a> {
    /// The system.
    pub sts: &'a Sts,
    /// The pool of its terms.
    pub pool: &'a mut TermPool,
    /// The solver, for questions that evaluation does not decide.
    pub solver: &'a mut dyn Solver,
    /// The variable for the delay before a step, in seconds; only timed systems use it.
    pub delay: VarId,
    /// The variable whose numbered copies stand for instants not observed exactly; only timed systems use it.
    pub instant: VarId,
    /// The signal that says when to stop.
    halt: Halt,
    /// Makes the signal that ends an explanation; `None` if it may take its time.
    explaining: Option<fn(Option<Duration>) -> Halt>,
    /// True if nobody reads explanations of failures.
    is_terse: bool,
    /// One variable per sort, whose numbered copies name values in merged states.
    names: FxHashMap<Sort, VarId>,
    /// One variable per sort, whose numbered copies stand for terms about which nothing is known.
    stand_ins: FxHashMap<Sort, VarId>,
}

/// The terms of a context at some point, to go back to.
#[derive(Clone, Debug)]
pub struct PoolSnapshot {
    pool: TermPool,
    names: FxHashMap<Sort, VarId>,
    stand_ins: FxHashMap<Sort, VarId>,
}

impl<'a> Ctx<'a> {
    /// The context over `model`.
    pub fn new(model: &'a mut Model, solver: &'a mut dyn Solver) -> Self {
        let delay = model.pool.reserved_var("delay", Sort::Real);
        let instant = model.pool.reserved_var("instant", Sort::Real);
        let (halt, names, stand_ins) = (solver.halt(), FxHashMap::default(), FxHashMap::default());
        let (sts, pool) = (&model.sts, &mut model.pool);
        Self { sts, pool, solver, delay, instant, halt, explaining: None, is_terse: false, names, stand_ins }
    }

    /// The context over another system whose terms live in the same pool, such as a product.
    pub fn with_system<'b>(&'b mut self, sts: &'b Sts) -> Ctx<'b> {
        let (halt, names) = (self.halt.clone(), self.names.clone());
        let stand_ins = self.stand_ins.clone();
        let (delay, instant) = (self.delay, self.instant);
        let (explaining, is_terse) = (self.explaining, self.is_terse);
        let (pool, solver) = (&mut *self.pool, &mut *self.solver);
        Ctx { sts, pool, solver, delay, instant, halt, explaining, is_terse, names, stand_ins }
    }

    /// Runs `work` under `halt` as well: searches end as soon as it says so, and no question gets more time than it has
    /// left.
    pub fn run_within<T>(&mut self, halt: &Halt, work: impl FnOnce(&mut Self) -> T) -> T {
        let both = self.halt.either(halt);
        self.run_only_within(&both, work)
    }

    /// Adds `halt` to the current signal, for work that is no single function; returns the signal so far, for
    /// [`restore_halt`](Self::restore_halt).
    pub fn add_halt(&mut self, halt: &Halt) -> Halt {
        let both = self.halt.either(halt);
        self.solver.restrict(both.clone());
        std::mem::replace(&mut self.halt, both)
    }

    /// Goes back to a signal that [`add_halt`](Self::add_halt) returned.
    pub fn restore_halt(&mut self, before: Halt) {
        self.solver.restrict(before.clone());
        self.halt = before;
    }

    /// Runs `work` under `halt` instead of the current signal: for work that others need too, whose limit is theirs.
    pub fn run_only_within<T>(&mut self, halt: &Halt, work: impl FnOnce(&mut Self) -> T) -> T {
        let asked = self.solver.restrict(halt.clone());
        let before = std::mem::replace(&mut self.halt, halt.clone());
        let made = work(self);
        self.halt = before;
        self.solver.restrict(asked);
        made
    }

    /// Ends explanations of failures after a while by a signal that `halt_after` makes: the verdict does not depend on
    /// them, and a campaign with a limit of time must not wait for them.
    pub fn limit_explanations(&mut self, halt_after: fn(Option<Duration>) -> Halt) {
        self.explaining = Some(halt_after);
    }

    /// Leaves explanations of failures empty. This is for those who only ask where a trace is forbidden: an explanation
    /// asks the solver about every switch of every state.
    pub fn leave_out_explanations(&mut self) {
        self.is_terse = true;
    }

    /// Returns whether explanations of failures are left empty.
    #[must_use]
    pub fn leaves_out_explanations(&self) -> bool {
        self.is_terse
    }

    /// Explains something, within the time that explanations have.
    pub fn explain_within<T>(&mut self, explain: impl FnOnce(&mut Self) -> T) -> T {
        match self.explaining {
            Some(halt_after) => self.run_within(&halt_after(Some(MAX_EXPLANATION_TIME)), explain),
            None => explain(self),
        }
    }

    /// Returns the signal that ends searches.
    #[must_use]
    pub fn halt(&self) -> Halt {
        self.halt.clone()
    }

    /// Returns the reason to stop now, if there is one: searches ask between two states.
    #[must_use]
    pub fn halt_reason(&self) -> Option<Halted> {
        self.halt.halt_reason()
    }

    /// Returns a copy of the pool and of the names of values, to [`restore`](Self::restore) later.
    #[must_use]
    pub fn snapshot(&self) -> PoolSnapshot {
        PoolSnapshot { pool: self.pool.clone(), names: self.names.clone(), stand_ins: self.stand_ins.clone() }
    }

    /// Replaces the pool and the names by those of `snapshot`. Later results then do not depend on the work done since:
    /// neither the order of terms nor a remembered answer of the solver is left of it. Terms made since must not be
    /// used any more.
    pub fn restore(&mut self, snapshot: &PoolSnapshot) {
        *self.pool = snapshot.pool.clone();
        self.names = snapshot.names.clone();
        self.stand_ins = snapshot.stand_ins.clone();
    }

    /// Decides whether `facts` are satisfiable together. Constant facts decide without the solver.
    pub fn decide(&mut self, facts: &[Term]) -> SolverDecision {
        match self.trivial_truth(facts) {
            Some(true) => SolverDecision::Sat,
            Some(false) => SolverDecision::Unsat,
            None => self.solver.decide(self.pool, facts),
        }
    }

    /// Decides whether `facts` are satisfiable together, and gives a valuation of their free variables if they are.
    pub fn check(&mut self, facts: &[Term]) -> SolverAnswer {
        if self.trivial_truth(facts) == Some(false) {
            return SolverAnswer::Unsat;
        }
        self.solver.check(self.pool, facts)
    }

    /// Returns the variable that names the value at the `position`-th leaf of the live variables of a location.
    pub(crate) fn position_name(&mut self, position: u32, sort: Sort) -> Term {
        let base = *self.names.entry(sort).or_insert_with(|| self.pool.declare("v", sort));
        let name = self.pool.indexed_var(base, position);
        self.pool.var(name)
    }

    /// Returns the variable that stands for `term` in a formula that forgets what it is; the same term has the same.
    pub(crate) fn stand_in(&mut self, term: Term) -> Term {
        let sort = self.pool.sort(term);
        let base = *self.stand_ins.entry(sort).or_insert_with(|| self.pool.declare("some", sort));
        let number = u32::try_from(term.index()).expect("terms are numbered by 32 bits");
        let name = self.pool.indexed_var(base, number);
        self.pool.var(name)
    }

    fn trivial_truth(&self, facts: &[Term]) -> Option<bool> {
        if facts.iter().any(|&fact| self.pool.is_false(fact)) {
            return Some(false);
        }
        facts.iter().all(|&fact| self.pool.is_true(fact)).then_some(true)
    }
}
