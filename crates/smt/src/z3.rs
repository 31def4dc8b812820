//! Z3 in this process, found and loaded at run time.
//!
//! Building ioxide needs neither Z3 nor its headers; running it uses the first `libz3`
//! that [`load_library`] finds. One [`Z3`] is one Z3 context, owned by one thread; terms are
//! translated once per context. Formulas over integers and truth values alone go to a
//! solver made for linear integer arithmetic, all others to the general one.
//!
//! *Promises.* The error code is read after every call. A question ends at its deadline:
//! a watchdog interrupts Z3, and only while it is deciding, because an interrupt that
//! comes later would spoil the values. A value that cannot be read is
//! [`Unknown`](crate::solver::SolverAnswer::Unknown).
//! *Assumes* facts without data terms: the [`scalar`](crate::layers::scalar) layer
//! removes them.

mod api;
mod context;
#[doc(hidden)]
pub mod locate;
mod translate;
#[doc(hidden)]
pub mod watchdog;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;

pub use self::api::Z3Library;
pub use self::locate::{Z3NotFound, library_candidates, load_library};

use self::context::{SolverHandle, Z3Context};
use self::translate::TranslationMemo;
use self::watchdog::Watchdog;
use crate::backend::{Backend, IncrementalSolver, Stopper};
use crate::solver::{SolverDecision, SolverLimits, UnknownReason};

/// The number of terms beyond which a context is replaced by a fresh one, so that memory stays bounded. Chosen by feel.
const MAX_TERMS: usize = 1_000_000;

/// A Z3 context with its solvers.
#[derive(Debug)]
pub struct Z3 {
    library: Z3Library,
    /// The context with its solvers; `None` before the first question, as most processes never need it and it takes
    /// milliseconds and megabytes.
    engine: Option<Result<Z3Engine, UnknownReason>>,
    levels: Vec<AssertionLevel>,
    next_serial: u64,
    watchdog: Watchdog,
}

/// A context, and everything that is dropped with it.
#[derive(Debug)]
struct Z3Engine {
    memo: TranslationMemo,
    linear: Z3Lane,
    general: Z3Lane,
    context: Z3Context,
}

/// One Z3 solver and the levels it has seen; synchronised only when it is asked.
#[derive(Debug)]
struct Z3Lane {
    solver: SolverHandle,
    synced: Vec<u64>,
    /// The step limit set last; kept because setting it costs more than a check.
    steps: Option<u64>,
}

/// One level of the stack: formulas asserted there.
#[derive(Debug)]
struct AssertionLevel {
    /// A number that differs for levels of different content.
    serial: u64,
    formulas: Vec<context::Z3Ast>,
    /// True if all formulas are linear integer arithmetic.
    linear: bool,
}

/// Z3 as a [`Solver`](crate::solver::Solver), from the first library found.
///
/// # Errors
/// If no `libz3` can be loaded; the error says where it was looked for.
pub fn solver(limits: SolverLimits) -> Result<IncrementalSolver<Z3>, Z3NotFound> {
    Ok(IncrementalSolver::new(Z3::new(load_library()?), limits))
}

impl Z3 {
    /// Makes a back-end on `library`; its context is made when it is needed.
    #[must_use]
    pub fn new(library: Z3Library) -> Self {
        Self { library, engine: None, levels: Vec::new(), next_serial: 0, watchdog: Watchdog::new() }
    }

    /// Returns the context with its solvers, the levels they must know, and the watchdog.
    fn ensure_engine(&mut self) -> Result<(&mut Z3Engine, &[AssertionLevel], &mut Watchdog), UnknownReason> {
        let engine = self.engine.get_or_insert_with(|| {
            let engine = Z3Engine::new(&self.library);
            self.watchdog.watch(engine.as_ref().ok().map(|engine| engine.context.interrupter()));
            engine
        });
        let engine = engine.as_mut().map_err(|why| why.clone())?;
        Ok((engine, &self.levels, &mut self.watchdog))
    }

    /// The version of the library.
    #[must_use]
    pub fn version(&self) -> String {
        self.library.version()
    }

    fn next_serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    fn is_linear(&self) -> bool {
        self.levels.iter().all(|level| level.linear)
    }

    fn add_formula(&mut self, formula: context::Z3Ast, linear: bool) -> Result<(), UnknownReason> {
        let serial = self.next_serial();
        let level = self.levels.last_mut().ok_or_else(|| UnknownReason::Error("no level is open".into()))?;
        level.formulas.push(formula);
        // Its content is another now, so a solver that has seen it must take it back and assert it again.
        level.serial = serial;
        level.linear &= linear;
        Ok(())
    }

    fn try_check(&mut self, limits: SolverLimits) -> Result<SolverDecision, UnknownReason> {
        let linear = self.is_linear();
        let (engine, levels, watchdog) = self.ensure_engine()?;
        // The solver made for linear arithmetic takes nothing else, so one other level is enough for the general one.
        let lane = if linear { &mut engine.linear } else { &mut engine.general };
        lane.sync_levels(&engine.context, levels)?;
        lane.limit_steps(&engine.context, limits.steps)?;
        let guard = watchdog.arm(limits.wall);
        let decision = engine.context.check(lane.solver);
        match (guard.disarm(), decision) {
            // A decision that was reached while the watchdog fired is right all the same; only an open one is
            // blamed on it.
            (_, decided @ Ok(SolverDecision::Sat | SolverDecision::Unsat)) => decided,
            (Some(why), _) => Err(why),
            (None, open) => open,
        }
    }
}

impl Z3Engine {
    /// Makes a context with two solvers: one for linear integer arithmetic, one for everything else.
    fn new(library: &Z3Library) -> Result<Self, UnknownReason> {
        let mut context = Z3Context::new(library)?;
        let linear = Z3Lane { solver: context.new_solver_for("QF_LIA")?, synced: Vec::new(), steps: None };
        let general = Z3Lane { solver: context.new_solver()?, synced: Vec::new(), steps: None };
        Ok(Self { memo: TranslationMemo::default(), linear, general, context })
    }
}

impl Z3Lane {
    fn limit_steps(&mut self, context: &Z3Context, steps: Option<u64>) -> Result<(), UnknownReason> {
        if self.steps != steps {
            // Zero is no limit.
            context.limit_steps(self.solver, steps.unwrap_or(0))?;
            self.steps = steps;
        }
        Ok(())
    }

    /// Pops the levels that are not wanted and pushes those that are missing.
    fn sync_levels(&mut self, context: &Z3Context, levels: &[AssertionLevel]) -> Result<(), UnknownReason> {
        // Levels are compared by their serial numbers, not by their formulas: a level that was popped and made
        // again has another number.
        let shared =
            self.synced.iter().zip(levels).take_while(|(seen, level)| **seen == level.serial).count();
        context.pop(self.solver, self.synced.len() - shared)?;
        self.synced.truncate(shared);
        for level in &levels[shared..] {
            context.push(self.solver)?;
            self.synced.push(level.serial);
            for &formula in &level.formulas {
                context.assert(self.solver, formula)?;
            }
        }
        Ok(())
    }
}

impl Backend for Z3 {
    fn name(&self) -> &'static str {
        "z3"
    }

    fn push(&mut self) -> Result<(), UnknownReason> {
        let serial = self.next_serial();
        self.levels.push(AssertionLevel { serial, formulas: Vec::new(), linear: true });
        Ok(())
    }

    fn pop(&mut self, n: usize) -> Result<(), UnknownReason> {
        self.levels.truncate(self.levels.len().saturating_sub(n));
        Ok(())
    }

    fn declare(&mut self, pool: &TermPool, var: VarId) -> Result<(), UnknownReason> {
        let sort = pool.var_info(var).sort;
        let (engine, ..) = self.ensure_engine()?;
        // Ranges are integers to Z3; their limits are asserted where the variable is declared.
        let Some(fact) = engine.memo.domain_constraint(&engine.context, var, sort)? else { return Ok(()) };
        self.add_formula(fact, true)
    }

    fn assert(&mut self, pool: &TermPool, fact: Term) -> Result<(), UnknownReason> {
        let (engine, ..) = self.ensure_engine()?;
        // The caller renews the back-end after this, which frees the context with its terms.
        if engine.memo.len() > MAX_TERMS {
            return Err(UnknownReason::Memory);
        }
        let (formula, linear) = engine.memo.translate(&engine.context, pool, fact)?;
        self.add_formula(formula, linear)
    }

    fn check(&mut self, limits: SolverLimits) -> SolverDecision {
        self.try_check(limits).unwrap_or_else(SolverDecision::Unknown)
    }

    fn values(&mut self, pool: &TermPool, vars: &[VarId]) -> Result<Valuation, UnknownReason> {
        let linear = self.is_linear();
        let (engine, ..) = self.ensure_engine()?;
        let lane = if linear { &engine.linear } else { &engine.general };
        let model = engine.context.model(lane.solver)?;
        let mut valuation = Valuation::new();
        for &var in vars {
            let sort: Sort = pool.var_info(var).sort;
            let constant = engine.memo.variable_constant(&engine.context, var, sort)?;
            valuation.set(var, model.value(constant, sort)?);
        }
        Ok(valuation)
    }

    fn stopper(&self) -> Stopper {
        self.watchdog.stopper()
    }

    fn renew(&mut self) {
        self.levels.clear();
        // The watchdog must not reach the old context once it is gone.
        self.watchdog.watch(None);
        self.engine = None;
    }
}
