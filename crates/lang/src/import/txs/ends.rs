//! Termination of functions that call themselves.
//!
//! A function is accepted for one of two reasons. Either it counts: there is at most one call on every way through it.
//! Or every call is on a field of one parameter, the same in all, and the path to the call implies that the parameter
//! was made by the constructor that has the field. Values are finite, so such calls end.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::term::{FnId, Term, TermNode, TermPool, VarId};

/// The constructors that the parameter cannot have been made by at a place in the body.
type Excluded = BTreeSet<u32>;

/// Returns the position of a parameter that every call of `function` in `body` descends on; `None` if there is none.
pub(super) fn descends(pool: &TermPool, body: Term, function: FnId, params: &[VarId]) -> Option<usize> {
    (0..params.len()).find(|&at| {
        ParameterDescent::new(pool, function, at, params[at]).is_some_and(|d| d.every_call_descends(body))
    })
}

/// Returns the position of an integer parameter that changes in a call of `function`, if every way through `body` has
/// at most one call. As the nesting of calls is limited, evaluation of such a function gives up if it does not end, and
/// costs little until then.
pub(super) fn counted_parameter(
    pool: &TermPool,
    body: Term,
    function: FnId,
    params: &[VarId],
) -> Option<usize> {
    let inside = pool.subterms(&[body], |_| true);
    let mut most: BTreeMap<Term, usize> = BTreeMap::new();
    // Children come before their parents, so each count is ready when it is needed.
    for &term in &inside {
        let of = |term: &Term| most.get(term).copied().unwrap_or(0);
        let n = match pool.node(term) {
            // Only one branch is taken, but the condition always is.
            TermNode::Ite(cond, then, other) => of(cond).saturating_add(of(then).max(of(other))),
            node => {
                let own = usize::from(matches!(node, TermNode::Call(called, _) if *called == function));
                node.children().map(|child| of(&child)).fold(own, usize::saturating_add)
            }
        };
        most.insert(term, n);
    }
    if most.get(&body).is_none_or(|&n| n > 1) {
        return None;
    }
    (0..params.len()).find(|&at| {
        let own = TermNode::Var(params[at]);
        let changes = |args: &[Term]| *pool.node(args[at]) != own;
        let mut calls = inside.iter().map(|&term| pool.node(term));
        pool.var_info(params[at]).sort == Sort::Int
            && calls.any(
                |node| matches!(node, TermNode::Call(called, args) if *called == function && changes(args)),
            )
    })
}

/// Returns whether `body` calls `function`, not another with its name.
pub(super) fn is_called(pool: &TermPool, body: Term, function: FnId) -> bool {
    let inside = pool.subterms(&[body], |term| pool.calls(term));
    inside.into_iter().any(|term| matches!(pool.node(term), TermNode::Call(called, _) if *called == function))
}

struct ParameterDescent<'p> {
    pool: &'p TermPool,
    function: FnId,
    position: usize,
    param: VarId,
    n_ctors: u32,
}

impl<'p> ParameterDescent<'p> {
    /// Makes the check of one parameter of `function`; `None` if its sort is no data type, since only those have parts
    /// to descend to.
    fn new(pool: &'p TermPool, function: FnId, position: usize, param: VarId) -> Option<Self> {
        let Sort::Data(data) = pool.var_info(param).sort else { return None };
        let n_ctors = u32::try_from(pool.data(data).ctors.len()).ok()?;
        Some(Self { pool, function, position, param, n_ctors })
    }

    /// Returns whether every recursive call in `body` has a part of the parameter in its place.
    fn every_call_descends(&self, body: Term) -> bool {
        // Terms share parts: a part is walked once for each set of constructors that it is reached with.
        let mut seen: BTreeSet<(usize, Excluded)> = BTreeSet::new();
        let mut open: Vec<(Term, Excluded)> = vec![(body, Excluded::new())];
        while let Some((term, excluded)) = open.pop() {
            if !self.pool.calls(term) || !seen.insert((term.index(), excluded.clone())) {
                continue;
            }
            match self.pool.node(term) {
                TermNode::Ite(cond, then, other) => {
                    open.push((*cond, excluded.clone()));
                    open.push((*then, self.assume(*cond, true, &excluded)));
                    open.push((*other, self.assume(*cond, false, &excluded)));
                }
                node @ (TermNode::And(list) | TermNode::Or(list)) => {
                    // Parts without calls are looked at first, and decide whether the others are.
                    let positive = matches!(node, TermNode::And(_));
                    let plain = list.iter().filter(|&&part| !self.pool.calls(part));
                    let known = plain.fold(excluded, |known, &part| self.assume(part, positive, &known));
                    open.extend(list.iter().map(|&part| (part, known.clone())));
                }
                TermNode::Call(function, args) => {
                    if *function == self.function && !self.is_part(args[self.position], &excluded) {
                        return false;
                    }
                    open.extend(args.iter().map(|&arg| (arg, excluded.clone())));
                }
                node => open.extend(node.children().map(|child| (child, excluded.clone()))),
            }
        }
        true
    }

    /// Returns whether `arg` is a field of the parameter, or of such a field, and the parameter has the field.
    fn is_part(&self, mut arg: Term, excluded: &Excluded) -> bool {
        while let TermNode::Select { ctor, arg: inner, .. } = self.pool.node(arg) {
            if *self.pool.node(*inner) == TermNode::Var(self.param) {
                return (0..self.n_ctors).all(|other| other == *ctor || excluded.contains(&other));
            }
            arg = *inner;
        }
        false
    }

    /// Returns the constructors excluded if `cond` has this truth value, those of `excluded` included.
    fn assume(&self, cond: Term, holds: bool, excluded: &Excluded) -> Excluded {
        let mut excluded = excluded.clone();
        let mut open = vec![(cond, holds)];
        while let Some((cond, holds)) = open.pop() {
            match self.pool.node(cond) {
                TermNode::Not(inner) => open.push((*inner, !holds)),
                TermNode::And(list) if holds => open.extend(list.iter().map(|&part| (part, true))),
                TermNode::Or(list) if !holds => open.extend(list.iter().map(|&part| (part, false))),
                TermNode::Is(ctor, arg) if *self.pool.node(*arg) == TermNode::Var(self.param) => {
                    // If the test holds, all others are excluded; if it fails, only this one.
                    excluded.extend((0..self.n_ctors).filter(|other| (other != ctor) == holds));
                }
                _ => {}
            }
        }
        excluded
    }
}
