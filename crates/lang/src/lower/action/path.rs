//! The paths of an action, from its steps by forward substitution.
//!
//! *Promises.* A state and parameters enable a path, and lead to a state by it, exactly if an execution of the steps
//! that takes its branches does not stop and ends there (`crates/lang/tests/it/actions.rs` executes them step by step).
//! The work is bounded: by paths, by steps on all of them, and by the size of terms; an excess is reported at its
//! place.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use ioxide_model::term::{Substitution, Term, TermOp, VarId};

use super::refute::is_refuted;
use crate::sink::Reported;
use crate::typeck::{Checker, n_parts};

/// The greatest number of paths of an action. Chosen by feel: every path becomes a switch.
const MAX_PATHS: usize = 1_000;
/// The greatest number of steps on all paths of an action together. Chosen by feel: it bounds the time that a short
/// text can ask for.
const MAX_ACTION_STEPS: usize = 100_000;
/// The greatest number of parts of the terms that all of them make together. Chosen by feel, for the memory.
const MAX_PARTS: usize = 20_000_000;

/// The number of conditions below which a path is checked for contradictions whenever one is added. Chosen by feel:
/// the check takes time that grows with the square of their number.
const MAX_LOOKED_AT: usize = 64;

/// A step of a path.
#[derive(Clone, Debug)]
pub(super) enum ActionPathStep {
    /// A condition of the author, without which the path is not enabled.
    Require(Term),
    /// The condition that a value fits its type, or that an item exists, without which the path is not enabled.
    Fit(Term),
    /// Simultaneous assignments.
    Assign(Vec<(VarId, Term)>, Span),
    /// A choice of one branch.
    Choose(Vec<ActionBranch>, Span),
    /// A loop: the body once for each item of a list.
    Each { var: VarId, items: Term, body: Vec<ActionPathStep>, place: Span },
}

/// A branch of a choice.
#[derive(Clone, Debug)]
pub(super) struct ActionBranch {
    pub(super) name: Option<String>,
    pub(super) steps: Vec<ActionPathStep>,
}

/// A path: its guard over the state before and the parameters, and its effect.
#[derive(Clone, Debug)]
pub(super) struct ActionPath {
    /// The name of the action, with the names of the branches taken.
    pub(super) name: String,
    pub(super) guard: Vec<Term>,
    pub(super) fits: Vec<Term>,
    /// The current values of variables, as terms over the state before.
    pub(super) store: Substitution,
}

/// The walk through all paths of one action.
pub(super) struct PathWalk<'w, 'a, 's> {
    cx: &'w mut Checker<'a, 's>,
    name: &'w str,
    action: Span,
    n_steps: usize,
    n_parts: usize,
}

impl<'w, 'a, 's> PathWalk<'w, 'a, 's> {
    /// Makes a walk of the action `name` that has taken no step.
    pub(super) fn new(cx: &'w mut Checker<'a, 's>, name: &'w str, action: Span) -> Self {
        Self { cx, name, action, n_steps: 0, n_parts: 0 }
    }

    /// Returns the paths through `steps` that start with `condition`, in the order of the text. If none can be taken,
    /// returns one whose guard is false, so that a lint can report it.
    pub(super) fn collect_paths(
        mut self,
        condition: Term,
        named: Vec<(VarId, Term)>,
        steps: &[ActionPathStep],
    ) -> Result<Vec<ActionPath>, Reported> {
        let (guard, fits, store) = (vec![condition], Vec::new(), named.into_iter().collect());
        let start = ActionPath { name: self.name.to_owned(), guard, fits, store };
        let mut paths = self.through(steps, vec![start])?;
        if paths.is_empty() {
            let (name, guard) = (self.name.to_owned(), vec![self.cx.pool.bool(false)]);
            paths.push(ActionPath { name, guard, fits: Vec::new(), store: Substitution::new() });
        }
        Ok(paths)
    }

    /// Takes every path through `steps`; a choice makes several of one.
    fn through(
        &mut self,
        steps: &[ActionPathStep],
        mut paths: Vec<ActionPath>,
    ) -> Result<Vec<ActionPath>, Reported> {
        for step in steps {
            let mut after = Vec::with_capacity(paths.len());
            for path in paths {
                after.extend(self.step_paths(step, path)?);
                // Asked after each path, not after each step: a choice of thousands of branches is stopped
                // while it grows.
                self.few_enough(after.len(), step)?;
            }
            paths = after;
        }
        Ok(paths)
    }

    /// Returns the continuations of `path` after `step`.
    fn step_paths(
        &mut self,
        step: &ActionPathStep,
        mut path: ActionPath,
    ) -> Result<Vec<ActionPath>, Reported> {
        self.n_steps += 1;
        self.few_enough(0, step)?;
        match step {
            ActionPathStep::Require(term) => {
                let term = self.cx.pool.substitute(*term, &path.store);
                path.guard.push(term);
                // Impossible paths are dropped as early as possible, since each choice behind them multiplies
                // them.
                Ok(self.unless_refuted(path, term))
            }
            ActionPathStep::Fit(term) => {
                let term = self.cx.pool.substitute(*term, &path.store);
                path.fits.push(term);
                Ok(self.unless_refuted(path, term))
            }
            ActionPathStep::Assign(to, place) => {
                // Simultaneous: all right sides are read before any variable changes.
                let values: Vec<Term> =
                    to.iter().map(|&(_, term)| self.cx.pool.substitute(term, &path.store)).collect();
                for (&(var, _), value) in to.iter().zip(values) {
                    self.small_enough(value, *place)?;
                    path.store.set(var, value);
                }
                Ok(vec![path])
            }
            ActionPathStep::Choose(ways, _) => {
                let mut after = Vec::new();
                for way in ways {
                    let mut path = path.clone();
                    way.name.iter().for_each(|name| path.name.extend(["-", name]));
                    after.extend(self.through(&way.steps, vec![path])?);
                    self.few_enough(after.len(), step)?;
                }
                Ok(after)
            }
            ActionPathStep::Each { var, items, body, place } => {
                let mut paths = Vec::new();
                let items = self.known_items(*items, &path, *place)?;
                paths.push(path);
                for item in items {
                    // The loop is unrolled, since its items are known; every path so far goes through the body with the
                    // next item.
                    paths.iter_mut().for_each(|path| path.store.set(*var, item));
                    paths = self.through(body, paths)?;
                }
                Ok(paths)
            }
        }
    }

    /// Returns `path`, to which the condition `new` was added, unless it is seen to be impossible.
    fn unless_refuted(&self, path: ActionPath, new: Term) -> Vec<ActionPath> {
        let pool = &self.cx.pool;
        // Long paths are looked at now and then only: each look costs as much as the path is long.
        let n = path.guard.len() + path.fits.len();
        let is_worth_it = !pool.is_true(new) && (n < MAX_LOOKED_AT || n.is_power_of_two());
        let mut conditions = path.guard.iter().chain(&path.fits).copied();
        let is_out = pool.is_false(new)
            || is_worth_it
                && (conditions.clone().any(|term| pool.is_false(term)) || is_refuted(pool, &mut conditions));
        if is_out { Vec::new() } else { vec![path] }
    }

    /// Returns the items of a list whose length is known on this path; otherwise reports the loop.
    fn known_items(&mut self, list: Term, path: &ActionPath, place: Span) -> Result<Vec<Term>, Reported> {
        let pool = &mut self.cx.pool;
        let list = pool.substitute(list, &path.store);
        // The length on this path: an assignment before the loop may have made it known.
        let size = pool.operate(TermOp::Size, vec![list]);
        let Some(n) = pool.as_value(size).and_then(|n| n.as_int()?.to_i64()) else {
            let message = "it is not known how often this loop goes round";
            return Err(self.cx.sink.error(|| {
                Diagnostic::new(Code::UnboundedLoop, place, message)
                    .note("an action has finitely many paths, so a loop goes over numbers or a list of known length")
                    .help("ask all items at once: `exists x in xs: ...`, `forall`, `count`, `[e for x in xs if c]`")
                    .help("or write a function on `[]` and `[first, ..rest]` in the section `functions`")
            }));
        };
        Ok((0..n)
            .map(|at| {
                let at = pool.int(at);
                pool.operate(TermOp::At, vec![list, at])
            })
            .collect())
    }

    fn few_enough(&mut self, n_paths: usize, step: &ActionPathStep) -> Result<(), Reported> {
        if n_paths <= MAX_PATHS && self.n_steps <= MAX_ACTION_STEPS {
            return Ok(());
        }
        let place = match step {
            ActionPathStep::Assign(_, place)
            | ActionPathStep::Choose(_, place)
            | ActionPathStep::Each { place, .. } => *place,
            ActionPathStep::Require(_) | ActionPathStep::Fit(_) => self.action,
        };
        let message = if n_paths > MAX_PATHS {
            format!("action `{}` has more than {MAX_PATHS} paths", self.name)
        } else {
            format!("action `{}` takes more than {MAX_ACTION_STEPS} steps on its paths", self.name)
        };
        let action = self.action;
        Err(self.cx.sink.error(|| {
            Diagnostic::new(Code::TooManyPaths, place, message)
                .caret("more than that from here on")
                .label(action, "this action")
                .note("each further choice multiplies the number of paths, and so does every `if`")
                .help("choose values instead: `x := if c then a else b` is one path")
                .help("or split the action in two, the second internal")
        }))
    }

    fn small_enough(&mut self, term: Term, place: Span) -> Result<(), Reported> {
        // Counted over all values of all paths: parts that two values share are counted for each of them.
        self.n_parts += n_parts(&self.cx.pool, term).unwrap_or(MAX_PARTS);
        if self.n_parts < MAX_PARTS {
            return Ok(());
        }
        Err(self.cx.sink.error(|| {
            Diagnostic::new(Code::TooLarge, place, "this value becomes too large")
                .note("a value is written in terms of the state before the action")
        }))
    }
}
