//! The standard solver: all layers in the order that pays, and the best back-end that is available.
//!
//! ```text
//! count → shape → scalar → forall → normalise → cache → witness and bounds → validate → back-end
//! ```
//!
//! Collections, data and easy quantifiers go first, so that everything behind sees plain facts. The
//! cache stands before the witnesses because a hit is cheaper; valuations are validated
//! where they come from outside, and the witnesses evaluate their own.

use ioxide_model::term::{Term, TermPool};

use crate::halt::{Halt, HaltCell};
use crate::layers::cache::CacheLayer;
use crate::layers::count::CountLayer;
use crate::layers::forall::ForallLayer;
use crate::layers::normalise::NormaliseLayer;
use crate::layers::scalar::ScalarLayer;
use crate::layers::shape::ShapeLayer;
use crate::layers::validate::ValidateLayer;
use crate::layers::witness::WitnessLayer;
use crate::smtlib::process;
use crate::solver::{NoSolver, Solver, SolverAnswer, SolverDecision, SolverLimits};
use crate::tally::SolverTally;
use crate::z3;

/// The choice of the back-end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// Z3 if a library is found, else none.
    #[default]
    Auto,
    /// Z3 in this process.
    Z3,
    /// An SMT-LIB solver as a child process: the program, then its arguments.
    Process(Vec<String>),
    /// No back-end: the layers alone.
    None,
}

/// The configuration of a solver with its layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverConfig {
    /// The back-end.
    pub backend: BackendChoice,
    /// The limits of one question to the back-end.
    pub limits: SolverLimits,
    /// The size of a generation of the answer cache; up to twice as many answers are remembered.
    pub cache: usize,
    /// The signal that says when to stop.
    pub halt: Halt,
}

impl Default for SolverConfig {
    fn default() -> Self {
        Self {
            backend: BackendChoice::Auto,
            limits: SolverLimits::default(),
            cache: 1 << 16,
            halt: Halt::default(),
        }
    }
}

/// All layers with a back-end. One per worker thread, best used with one pool only: a question
/// from another pool makes it start afresh.
pub struct SolverStack {
    config: SolverConfig,
    /// The signal that says when to stop, shared with the back-end.
    halt: HaltCell,
    solver: Box<dyn Solver>,
    backend: Backing,
    /// The identity of the pool of the questions so far.
    pool: Option<u64>,
    /// The counts from before the last change of pool.
    before: SolverTally,
}

/// The back-end a [`SolverStack`] ended up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Z3 in this process, of this version.
    Z3(String),
    /// A child process: the program, then its arguments.
    Process(Vec<String>),
    /// No back-end, with the reason.
    None(String),
}

impl SolverStack {
    /// The back-end in use.
    #[must_use]
    pub fn backing(&self) -> &Backing {
        &self.backend
    }

    /// Discards all layers if the questions now come from another pool: answers are cached by term, and the terms of
    /// another pool mean something else.
    fn discard_if_other_pool(&mut self, pool: &TermPool) {
        if self.pool == Some(pool.id()) {
            return;
        }
        if self.pool.is_some() {
            // Counts are about all questions, so they outlive the layers.
            self.solver.add_to_tally(&mut self.before);
            (self.backend, self.solver) = assemble_layers(&self.config, &self.halt);
        }
        self.pool = Some(pool.id());
    }
}

/// Assembles the layers over the back-end `config` asks for; if there is no such
/// back-end, the layers alone, which leave open what they cannot decide.
#[must_use]
pub fn build_stack(config: &SolverConfig) -> SolverStack {
    let halt = HaltCell::new(config.halt.clone());
    let (backend, solver) = assemble_layers(config, &halt);
    SolverStack { config: config.clone(), halt, solver, backend, pool: None, before: SolverTally::default() }
}

fn assemble_layers(config: &SolverConfig, halt: &HaltCell) -> (Backing, Box<dyn Solver>) {
    let halt = Halt::new(halt.clone());
    let (backing, backend): (Backing, Box<dyn Solver>) = match &config.backend {
        BackendChoice::Auto | BackendChoice::Z3 => match z3::solver(config.limits) {
            Ok(solver) => (Backing::Z3(solver.backend().version()), Box::new(solver.with_halt(halt))),
            Err(missing) => (Backing::None(missing.to_string()), Box::new(NoSolver)),
        },
        BackendChoice::Process(command) => {
            let solver = process::solver(command, config.limits).with_halt(halt);
            (Backing::Process(command.clone()), Box::new(solver))
        }
        BackendChoice::None => (Backing::None("not wanted".into()), Box::new(NoSolver)),
    };
    // From the inside out: the first layer that sees a question is the last one here.
    let near = WitnessLayer::new(ValidateLayer::new(backend));
    let plain = NormaliseLayer::new(CacheLayer::new(near, config.cache));
    (backing, Box::new(CountLayer::new(ShapeLayer::new(ScalarLayer::new(ForallLayer::new(plain))))))
}

impl Solver for SolverStack {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        if let Some(halted) = self.halt.get().halt_reason() {
            return SolverAnswer::Unknown(halted.into());
        }
        self.discard_if_other_pool(pool);
        self.solver.check(pool, facts)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        if let Some(halted) = self.halt.get().halt_reason() {
            return SolverDecision::Unknown(halted.into());
        }
        self.discard_if_other_pool(pool);
        self.solver.decide(pool, facts)
    }

    fn halt(&self) -> Halt {
        self.halt.get()
    }

    fn restrict(&mut self, halt: Halt) -> Halt {
        self.halt.replace(halt)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        self.solver.add_to_tally(tally);
        tally.absorb(&self.before);
    }
}
