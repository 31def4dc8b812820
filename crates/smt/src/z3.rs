//! Z3 in this process, found and loaded at run time.
//!
//! Building ioxide needs neither Z3 nor its headers; running it uses the first `libz3`
//! that [`load`] finds. One [`Z3`] is one Z3 context, owned by one thread; terms are
//! translated once per context. Formulas over integers and truth values alone go to a
//! solver made for linear integer arithmetic, all others to the general one.
//!
//! *Promises.* The error code is read after every call. A question ends at its deadline:
//! a watchdog interrupts Z3, and only while it is deciding, because an interrupt that
//! comes later would spoil the values. A value that cannot be read is
//! [`Unknown`](crate::solver::Answer::Unknown).
//! *Assumes* facts without data terms: the [`scalar`](crate::layers::scalar) layer
//! removes them.

mod api;
mod context;
mod locate;
mod translate;
mod watchdog;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;

pub use self::api::Library;
pub use self::locate::{candidates, load};

use self::context::{Context, SolverHandle};
use self::translate::Memo;
use self::watchdog::Watchdog;
use crate::backend::{Backend, Incremental, Stopper};
use crate::solver::{Decision, Limits, Why};

/// Contexts with more terms than this start afresh, so that memory stays bounded.
const MAX_TERMS: usize = 1_000_000;

/// A Z3 context with its solvers.
#[derive(Debug)]
pub struct Z3 {
    library: Library,
    engine: Result<Engine, Why>,
    levels: Vec<Level>,
    next_serial: u64,
    watchdog: Watchdog,
}

/// What lives and dies with one context.
#[derive(Debug)]
struct Engine {
    memo: Memo,
    linear: Lane,
    general: Lane,
    context: Context,
}

/// One Z3 solver and the levels it has seen; synchronised only when it is asked.
#[derive(Debug)]
struct Lane {
    solver: SolverHandle,
    synced: Vec<u64>,
    /// The limit set last: setting one costs more than a check.
    steps: Option<u64>,
}

/// One level of the stack: formulas asserted there.
#[derive(Debug)]
struct Level {
    /// Different for levels with different content.
    serial: u64,
    formulas: Vec<context::Ast>,
    /// Whether all formulas are linear integer arithmetic.
    linear: bool,
}

/// Z3 as a [`Solver`](crate::solver::Solver), from the first library found.
///
/// # Errors
/// If no `libz3` can be loaded; the text says where it was looked for.
pub fn solver(limits: Limits) -> Result<Incremental<Z3>, String> {
    Ok(Incremental::new(Z3::new(load()?), limits))
}

impl Z3 {
    /// A fresh context of `library`.
    #[must_use]
    pub fn new(library: Library) -> Self {
        let engine = Engine::new(&library);
        let watchdog = Watchdog::new(engine.as_ref().ok().map(|engine| engine.context.interrupter()));
        Self { library, engine, levels: Vec::new(), next_serial: 0, watchdog }
    }

    /// The version of the library.
    #[must_use]
    pub fn version(&self) -> String {
        self.library.version()
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    fn is_linear(&self) -> bool {
        self.levels.iter().all(|level| level.linear)
    }

    fn add(&mut self, formula: context::Ast, linear: bool) -> Result<(), Why> {
        let serial = self.serial();
        let level = self.levels.last_mut().ok_or_else(|| Why::Error("no level is open".into()))?;
        level.formulas.push(formula);
        level.serial = serial;
        level.linear &= linear;
        Ok(())
    }

    fn try_check(&mut self, limits: Limits) -> Result<Decision, Why> {
        let linear = self.is_linear();
        let engine = self.engine.as_mut().map_err(|why| why.clone())?;
        let lane = if linear { &mut engine.linear } else { &mut engine.general };
        lane.sync(&engine.context, &self.levels)?;
        lane.limit_steps(&engine.context, limits.steps)?;
        let guard = self.watchdog.arm(limits.wall);
        let decision = engine.context.check(lane.solver);
        match (guard.disarm(), decision) {
            (_, decided @ Ok(Decision::Sat | Decision::Unsat)) => decided,
            (Some(why), _) => Err(why),
            (None, open) => open,
        }
    }
}

impl Engine {
    fn new(library: &Library) -> Result<Self, Why> {
        let mut context = Context::new(library)?;
        let linear = Lane { solver: context.solver_for("QF_LIA")?, synced: Vec::new(), steps: None };
        let general = Lane { solver: context.solver()?, synced: Vec::new(), steps: None };
        Ok(Self { memo: Memo::default(), linear, general, context })
    }
}

impl Lane {
    fn limit_steps(&mut self, context: &Context, steps: Option<u64>) -> Result<(), Why> {
        if self.steps != steps {
            // Zero is no limit.
            context.limit_steps(self.solver, steps.unwrap_or(0))?;
            self.steps = steps;
        }
        Ok(())
    }

    /// Pops what is not wanted and pushes what is missing.
    fn sync(&mut self, context: &Context, levels: &[Level]) -> Result<(), Why> {
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

    fn push(&mut self) -> Result<(), Why> {
        let serial = self.serial();
        self.levels.push(Level { serial, formulas: Vec::new(), linear: true });
        Ok(())
    }

    fn pop(&mut self, n: usize) -> Result<(), Why> {
        self.levels.truncate(self.levels.len().saturating_sub(n));
        Ok(())
    }

    fn declare(&mut self, pool: &TermPool, var: VarId) -> Result<(), Why> {
        let sort = pool.var_info(var).sort;
        let engine = self.engine.as_mut().map_err(|why| why.clone())?;
        let Some(fact) = engine.memo.domain(&engine.context, var, sort)? else { return Ok(()) };
        self.add(fact, true)
    }

    fn assert(&mut self, pool: &TermPool, fact: Term) -> Result<(), Why> {
        let engine = self.engine.as_mut().map_err(|why| why.clone())?;
        if engine.memo.len() > MAX_TERMS {
            return Err(Why::Memory);
        }
        let (formula, linear) = engine.memo.translate(&engine.context, pool, fact)?;
        self.add(formula, linear)
    }

    fn check(&mut self, limits: Limits) -> Decision {
        self.try_check(limits).unwrap_or_else(Decision::Unknown)
    }

    fn values(&mut self, pool: &TermPool, vars: &[VarId]) -> Result<Valuation, Why> {
        let linear = self.is_linear();
        let engine = self.engine.as_mut().map_err(|why| why.clone())?;
        let lane = if linear { &engine.linear } else { &engine.general };
        let model = engine.context.model(lane.solver)?;
        let mut valuation = Valuation::new();
        for &var in vars {
            let sort: Sort = pool.var_info(var).sort;
            let constant = engine.memo.constant(&engine.context, var, sort)?;
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
        self.engine = Err(Why::Error("the context is being renewed".into()));
        self.engine = Engine::new(&self.library);
        self.watchdog.watch(self.engine.as_ref().ok().map(|engine| engine.context.interrupter()));
    }
}
