//! Recursive functions: functions that call themselves on a part of an argument, or on a number nearer to a bound.
//!
//! Other functions are written into their calls. One that calls itself is unfolded as far as
//! the shape of the argument it descends on is known: a constructor, a list of known length, a number. A
//! call on an unknown shape stays in the term until something tells the shape.
//!
//! *Assumes* that every call in the body descends: the language refuses others. Values nested
//! deeper than [`MAX_CALLS`] are not computed, and one call is unfolded at most [`MAX_UNFOLDINGS`] times: a function
//! that calls itself twice doubles with every item.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use super::eval::count_step;
use super::{EvalError, Substitution, Term, TermNode, TermPool, VarId};
use crate::sort::Sort;
use crate::valuation::Valuation;
use crate::value::Value;

crate::index! { /// A function of a [`TermPool`] that calls itself.
pub struct FnId; }

/// The greatest nesting depth of calls. Chosen by feel, far from the end of the stack.
const MAX_CALLS: u32 = 200;

/// The greatest number of bodies written into the place of one call; beyond it calls stay in the term. Chosen by feel:
/// a term of this many bodies is above what the language accepts.
const MAX_UNFOLDINGS: u32 = 20_000;

/// The greatest number of values of a number for which a call is unfolded. Chosen by feel: every value is a copy of the
/// body.
const MAX_CASES: i64 = 64;

/// The unfolding that is still allowed.
#[derive(Clone, Copy)]
struct UnfoldingBudget {
    /// The nesting depth left.
    depth: u32,
    /// The number of bodies left, on all levels together.
    bodies: u32,
}

/// A recursive function.
#[derive(Clone, Debug)]
pub struct RecursiveFunction {
    /// The name in the modelling language.
    pub name: std::sync::Arc<str>,
    /// One variable per parameter.
    pub params: Vec<VarId>,
    /// The sort of its value.
    pub result: Sort,
    /// The body; `None` until it is defined.
    pub body: Option<Term>,
    /// The parameters whose values decide how often it calls itself, by position: the one it descends on, and the
    /// one that bounds it, if that is a parameter too.
    pub descends: Vec<usize>,
}

thread_local! {
    /// The nesting depth of the calls that this thread evaluates.
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

impl TermPool {
    /// Declares a function; its body is given by [`define_function`](Self::define_function).
    pub fn declare_function(&mut self, function: RecursiveFunction) -> FnId {
        self.functions.push(function)
    }

    /// Gives a declared function its body.
    pub fn define_function(&mut self, id: FnId, body: Term, descends: Vec<usize>) {
        let function = &mut self.functions[id];
        function.body = Some(body);
        function.descends = descends;
    }

    /// A function that calls itself.
    #[must_use]
    pub fn function(&self, id: FnId) -> &RecursiveFunction {
        &self.functions[id]
    }

    /// All functions that call themselves, in order of declaration.
    pub fn functions(&self) -> impl Iterator<Item = &RecursiveFunction> {
        self.functions.iter()
    }

    /// The function applied to `args`, unfolded as far as their shape is known.
    pub fn call(&mut self, id: FnId, args: Vec<Term>) -> Term {
        // Constants are computed, which makes no terms. Where the value is too large, unfolding may still
        // simplify.
        if args.iter().all(|&arg| self.as_value(arg).is_some()) && self.functions[id].body.is_some() {
            let values = args.iter().filter_map(|&arg| self.as_value(arg).cloned()).collect();
            if let Ok(value) = self.eval_call(id, values) {
                return self.value(value);
            }
        }
        let mut budget = UnfoldingBudget { depth: MAX_CALLS, bodies: MAX_UNFOLDINGS };
        self.unfold(id, &args, &mut budget).unwrap_or_else(|| self.intern(TermNode::Call(id, args.into())))
    }

    /// Returns the body with the arguments put in, if the one that gets smaller has a known shape; so unfolding ends.
    fn unfold(&mut self, id: FnId, args: &[Term], budget: &mut UnfoldingBudget) -> Option<Term> {
        let body = self.functions[id].body?;
        let mut deciding = self.functions[id].descends.iter().map(|&at| args[at]);
        // All deciding arguments need a shape: as long as one is open, so is the test that ends the
        // recursion, and unfolding would go on up to the limit.
        if !deciding.all(|arg| self.is_shape_known(arg)) {
            return self.unfold_cases(id, args, budget);
        }
        let params = self.functions[id].params.clone();
        let env: Substitution = params.into_iter().zip(args.iter().copied()).collect();
        let depth = budget.depth.checked_sub(1)?;
        budget.bodies = budget.bodies.checked_sub(1)?;
        // Depth comes back on return, bodies do not: the first bounds the stack, the second the size of the
        // term.
        let mut inner = UnfoldingBudget { depth, bodies: budget.bodies };
        let term = self.specialise(body, &env, &mut inner);
        budget.bodies = inner.bodies;
        Some(term)
    }

    /// Returns a choice between calls for each value of an argument that can have only a few numbers, if such an
    /// argument decides how often the function calls itself: `f(n)` for an `n` of `0..3` is `f(0)`, `f(1)`, `f(2)` or
    /// `f(3)`.
    fn unfold_cases(&mut self, id: FnId, args: &[Term], budget: &mut UnfoldingBudget) -> Option<Term> {
        let deciding = self.functions[id].descends.clone();
        let open = deciding.into_iter().find(|&at| !self.is_shape_known(args[at]))?;
        let (lo, hi) = self.few_numbers(args[open])?;
        let mut cases = Vec::new();
        for n in lo..=hi {
            let n = self.int(n);
            let mut args = args.to_vec();
            args[open] = n;
            // Without the case, the call is as good as the choice.
            cases.push((n, self.unfold(id, &args, budget)?));
        }
        let (_, last) = cases.pop()?;
        Some(cases.into_iter().rev().fold(last, |other, (n, term)| {
            let here = self.eq(args[open], n);
            self.ite(here, term, other)
        }))
    }

    /// Returns the least and the greatest number that `term` can be, if there are at most [`MAX_CASES`] between them.
    fn few_numbers(&self, term: Term) -> Option<(i64, i64)> {
        let (lo, hi) = match (self.sort(term), self.node(term)) {
            (Sort::Range { lo, hi }, _) => (lo, hi),
            (_, TermNode::Rem(_, divisor)) => {
                let divisor = self.as_value(*divisor)?.as_int()?.to_i64()?.checked_abs()?;
                (0, divisor.checked_sub(1).filter(|&hi| hi >= 0)?)
            }
            _ => return None,
        };
        (hi.checked_sub(lo)? < MAX_CASES).then_some((lo, hi))
    }

    /// Returns whether the outermost constructor or the length of `term` is known.
    fn is_shape_known(&self, term: Term) -> bool {
        match self.node(term) {
            TermNode::Value(_) | TermNode::Construct(..) => true,
            TermNode::Elements(_, parts) => {
                let size = self.collection_of(self.sort(term)).map_or(1, |sort| sort.kind.entry_size());
                parts.chunks(size).all(|entry| self.is_true(entry[0]))
            }
            _ => false,
        }
    }

    /// Returns `term` under `env`, taking only the chosen branch of a decided choice: the others may not end.
    fn specialise(&mut self, term: Term, env: &Substitution, budget: &mut UnfoldingBudget) -> Term {
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        let mut open = vec![term];
        while let Some(&top) = open.last() {
            if images.contains_key(&top) {
                open.pop();
                continue;
            }
            // Without calls, nothing in it can fail to end.
            if !self.calls(top) {
                let image = self.substitute(top, env);
                images.insert(top, image);
                continue;
            }
            if let TermNode::Ite(cond, a, b) = *self.node(top)
                && let Some(&decided) = images.get(&cond)
                && let Some(taken) = self.as_value(decided).and_then(Value::as_bool)
            {
                let branch = if taken { a } else { b };
                match images.get(&branch).copied() {
                    Some(image) => drop(images.insert(top, image)),
                    None => open.push(branch),
                }
                continue;
            }
            if let TermNode::And(list) | TermNode::Or(list) = self.node(top) {
                let absorbing = Value::Bool(matches!(self.node(top), TermNode::Or(_)));
                let decided = list.iter().filter_map(|part| images.get(part)).copied();
                let decided = decided.into_iter().find(|&image| self.as_value(image) == Some(&absorbing));
                if let Some(image) = decided {
                    images.insert(top, image);
                    continue;
                }
            }
            // The condition of a choice is its first child, so it is decided before the branches.
            let missing = match self.node(top) {
                TermNode::And(list) | TermNode::Or(list) => {
                    self.plain_first(list).find(|child| !images.contains_key(child))
                }
                node => node.children().find(|child| !images.contains_key(child)),
            };
            if let Some(child) = missing {
                open.push(child);
                continue;
            }
            let image = self.specialised_node(top, &images, budget);
            images.insert(top, image);
        }
        images[&term]
    }

    /// Returns the formulas without calls, then the others, since the cheap ones may decide whether the rest is needed.
    pub(super) fn plain_first<'l>(&'l self, list: &'l [Term]) -> impl Iterator<Item = Term> + 'l {
        let plain = list.iter().copied().filter(|&part| !self.calls(part));
        plain.chain(list.iter().copied().filter(|&part| self.calls(part)))
    }

    fn specialised_node(
        &mut self,
        term: Term,
        images: &FxHashMap<Term, Term>,
        budget: &mut UnfoldingBudget,
    ) -> Term {
        if let TermNode::Call(id, args) = self.node(term).clone() {
            let args: Vec<Term> = args.iter().map(|arg| images[arg]).collect();
            return self
                .unfold(id, &args, budget)
                .unwrap_or_else(|| self.intern(TermNode::Call(id, args.into())));
        }
        self.with_children(term, |child| images[&child])
    }

    /// The value of the function on `args`.
    pub(super) fn eval_call(&self, id: FnId, args: Vec<Value>) -> Result<Value, EvalError> {
        let function = &self.functions[id];
        let Some(body) = function.body else { return Err(EvalError::TooLarge) };
        let env: Valuation = function.params.iter().copied().zip(args).collect();
        let depth = NESTED.get();
        if depth >= MAX_CALLS {
            return Err(EvalError::TooLarge);
        }
        count_step()?;
        NESTED.set(depth + 1);
        let value = self.eval(body, &env);
        NESTED.set(depth);
        value
    }
}
