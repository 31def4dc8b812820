//! Lowering of action systems: the meaning of action bodies, as switches.
//!
//! A body is a finite set of **paths**. A path goes through the statements in order and takes one branch of every
//! choice; it is a guard over the state before and the parameters, and one simultaneous update. Both are found by
//! substitution, forwards: a path keeps for each variable the term over the state before that it has by now, and
//! every condition and value met on the way is read with these terms in place of the variables. That is the weakest
//! precondition of the path (Butler 1996, Dijkstra's guarded commands), computed from the front. So
//!
//! - `x := e  y := f` puts both terms in place at once, `s then t` one after the other;
//! - `a [] b` has the paths of both: the action is nondeterministic where both are enabled;
//! - `when c { a }` has the paths of `a`, each enabled only where `c` holds on the way;
//! - `if c then { a } else { b }` has the paths of `a` where `c` holds and those of `b` where it does not;
//! - `let`, `var` and `for` name terms, and leave no trace in the model.
//!
//! A value that does not fit its type, or an item that does not exist, disables the path that meets it, as it disables
//! a transition elsewhere. Paths whose guards are seen to contradict themselves are left out.
//!
//! The first path has the name of the action, the others a number behind it; names of branches stand between:
//! `start`, `start#2`, `start-slow`.

mod check;
mod path;
mod refute;

use ioxide_model::index::Idx;
use ioxide_model::sts::{GateId, LocId, Model, Sts};
use ioxide_model::term::{Term, VarId};
use rustc_hash::FxHashMap;

use self::path::{ActionPath, PathWalk};
use self::refute::tighten;
use super::switch::CheckedSwitch;
use super::{Lowering, define_declarations};
use crate::LoadOptions;
use crate::ast::ModelDecl;
use crate::import::action::tree::{ActionDecl, StatementBlock};
use crate::sink::{FindingSink, Reported};
use crate::typeck::ExprContext;

/// A path of an action, checked, with its name.
type NamedPath = (String, CheckedSwitch);

/// The model of an action system; meaningful only if `sink` has no errors.
pub(crate) fn lower(
    decl: &ModelDecl,
    actions: &[ActionDecl],
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Model {
    let mut lowering = define_declarations(decl, options, sink);
    lowering.is_action_system = true;
    lowering.declare_states(&decl.items);
    let mut n_named: FxHashMap<String, usize> = FxHashMap::default();
    for action in actions {
        let paths = lowering.paths(action);
        if lowering.room_for(paths.len(), action.head.span).is_err() {
            break;
        }
        for (name, checked) in paths {
            let number = n_named.entry(name.clone()).or_insert(0);
            *number += 1;
            let label = if *number == 1 { name } else { format!("{name}#{number}") };
            lowering.push_switch(&checked, &action.head, &action.meta, LocId::new(0), label.into());
        }
    }
    lowering.check_overrides(&decl.items, decl.name.span);
    let Lowering { sts, cx, .. } = lowering;
    Model { pool: cx.pool, sts }
}

impl<'a> Lowering<'a, '_> {
    /// Returns the paths of `action`; empty if it has errors.
    fn paths(&mut self, action: &'a ActionDecl) -> Vec<NamedPath> {
        let name = action.head.label.as_ref().map_or_else(String::new, |label| label.text.clone());
        match &action.body {
            None => self.check_transition(&action.head).map(|checked| (name, checked)).into_iter().collect(),
            Some(body) => self.lower_structured(action, body, &name).unwrap_or_default(),
        }
    }

    fn lower_structured(
        &mut self,
        action: &'a ActionDecl,
        body: &'a StatementBlock,
        name: &str,
    ) -> Result<Vec<NamedPath>, Reported> {
        let head = &action.head;
        let message = match &head.gate {
            Some(gate) => Some(self.resolve_gate(gate, head.verb, head.verb_span)?),
            None => None,
        };
        let condition = self.lower_condition(message.clone(), head, ExprContext::Guard);
        let named = self.keep_names(0);
        let steps = self.block(body, message.as_ref());
        self.cx.bound.clear();
        self.locals.clear();
        let (condition, steps) = (condition?, steps?);
        let walk =
            PathWalk::new(&mut self.cx, name, head.label.as_ref().map_or(head.span, |label| label.span));
        let paths = walk.collect_paths(condition, named, &steps)?;
        let gate = message.map_or(Sts::TAU, |message| message.gate);
        Ok(distinct(paths.into_iter().map(|path| self.switch_of(path, gate)).collect()))
    }

    fn switch_of(&mut self, path: ActionPath, gate: GateId) -> NamedPath {
        let pool = &mut self.cx.pool;
        let mut update: Vec<(VarId, Term)> = Vec::new();
        for state in &self.sts.vars {
            update.extend(path.store.get(state.var).map(|term| (state.var, term)));
        }
        update.retain(|&(var, term)| pool.var(var) != term);
        let guard = tighten(pool, &path.guard, &path.fits);
        let fits = tighten(pool, &path.fits, &path.guard);
        let (condition, fits) = (pool.and(guard), pool.and(fits));
        let (guard, range_check) = self.guard_with_check(condition, Some(fits));
        (path.name, CheckedSwitch { gate, guard, update, resets: Vec::new(), target: None, range_check })
    }
}

/// Returns the paths without later ones that have the guard and the update of an earlier one.
fn distinct(paths: Vec<NamedPath>) -> Vec<NamedPath> {
    let mut seen = rustc_hash::FxHashSet::default();
    paths.into_iter().filter(|(_, path)| seen.insert((path.guard, path.update.clone()))).collect()
}
