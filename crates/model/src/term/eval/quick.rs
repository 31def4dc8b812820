//! Evaluation of small terms, by recursion on borrowed values.
//!
//! Guards of models are small trees, and a monitor evaluates many of them at every step. Here nothing is gathered,
//! sorted or put into a table; a conjunction ends at the first part that is false, and parts that only compare a
//! variable with a value come first. A term with more nodes than the budget (counted as a tree) or with a construct
//! that binds names is left to the general way, which gives the same value.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::super::op::check_length;
use super::{EvalError, add_values, bearable, multiply_values, with_bearable_parts};
use crate::sort::Sort;
use crate::term::{Term, TermNode, TermOp, TermPool};
use crate::valuation::Assignment;
use crate::value::{DataValue, Value};

/// The greatest number of nodes that are evaluated by recursion. Chosen by feel: guards are smaller, and the recursion
/// stays far from the end of the stack.
pub(super) const BUDGET: u32 = 200;

/// The reason why quick evaluation gives no value.
pub(super) enum QuickGivenUp {
    /// The term is too large or has a construct that needs general evaluation.
    General,
    /// The term has no value.
    Failed(EvalError),
}

type QuickResult<'v> = Result<Cow<'v, Value>, QuickGivenUp>;

impl TermPool {
    /// Returns the value of `term`, or [`QuickGivenUp::General`] if the general evaluation must do it.
    pub(super) fn quick<'v>(
        &'v self,
        term: Term,
        values: &'v dyn Assignment,
        budget: &mut u32,
    ) -> QuickResult<'v> {
        // Counted as a tree: a term that shares its parts may have exponentially many nodes here, and goes the
        // general way.
        *budget = budget.checked_sub(1).ok_or(QuickGivenUp::General)?;
        let node = self.node(term);
        Ok(Cow::Owned(match node {
            TermNode::Value(value) => return Ok(Cow::Borrowed(value)),
            TermNode::Var(var) => {
                let value = values.value_of(*var).ok_or(QuickGivenUp::Failed(EvalError::Unassigned(*var)))?;
                return Ok(Cow::Borrowed(value));
            }
            TermNode::Ite(cond, a, b) => {
                let branch = if self.quick_bool(*cond, values, budget)? { *a } else { *b };
                return self.quick(branch, values, budget);
            }
            TermNode::Not(_)
            | TermNode::And(_)
            | TermNode::Or(_)
            | TermNode::Eq(..)
            | TermNode::Lt(..)
            | TermNode::Le(..) => Value::Bool(self.quick_formula(node, values, budget)?),
            TermNode::Add(list) => self.quick_fold(list, add_values, values, budget)?,
            TermNode::Mul(list) => self.quick_fold(list, multiply_values, values, budget)?,
            TermNode::Div(a, b) => {
                let (a, b) = (self.quick(*a, values, budget)?, self.quick(*b, values, budget)?);
                Value::Int(a.as_int().expect("sort int").div(b.as_int().expect("sort int")))
            }
            TermNode::Rem(a, b) => {
                let (a, b) = (self.quick(*a, values, budget)?, self.quick(*b, values, budget)?);
                Value::Int(a.as_int().expect("sort int").rem(b.as_int().expect("sort int")))
            }
            TermNode::ToReal(a) => {
                Value::Real(self.quick(*a, values, budget)?.as_int().expect("sort int").clone().into())
            }
            TermNode::Concat(list) => {
                let mut text = String::new();
                for part in &**list {
                    text.push_str(self.quick(*part, values, budget)?.as_str().expect("sort string"));
                }
                bearable(Value::Str(text.into())).map_err(QuickGivenUp::Failed)?
            }
            TermNode::Construct(data, ctor, args) => {
                let mut all = Vec::with_capacity(args.len());
                for arg in &**args {
                    all.push(self.quick(*arg, values, budget)?.into_owned());
                }
                let value = Value::Data(DataValue { data: *data, ctor: *ctor, args: all.into() });
                with_bearable_parts(value).map_err(QuickGivenUp::Failed)?
            }
            TermNode::Is(ctor, a) => {
                Value::Bool(self.quick(*a, values, budget)?.as_data().expect("sort data").ctor == *ctor)
            }
            TermNode::Select { ctor, field, arg } => {
                return self.quick_select(term, *ctor, *field, *arg, values, budget);
            }
            TermNode::Apply(TermOp::At, args) => return self.quick_at(args, self.sort(term), values, budget),
            TermNode::Apply(op, args) if !matches!(op, TermOp::Any | TermOp::Collect(_)) => {
                self.quick_apply(*op, args, self.sort(term), values, budget)?
            }
            TermNode::Elements(sort, parts) => {
                let mut all = Vec::with_capacity(parts.len());
                for part in &**parts {
                    all.push(self.quick(*part, values, budget)?);
                }
                self.made_of(*sort, &all)
            }
            _ => return Err(QuickGivenUp::General),
        }))
    }

    fn quick_bool(
        &self,
        term: Term,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<bool, QuickGivenUp> {
        match self.node(term) {
            node @ (TermNode::Not(_)
            | TermNode::And(_)
            | TermNode::Or(_)
            | TermNode::Eq(..)
            | TermNode::Lt(..)
            | TermNode::Le(..)) => {
                *budget = budget.checked_sub(1).ok_or(QuickGivenUp::General)?;
                self.quick_formula(node, values, budget)
            }
            _ => Ok(self.quick(term, values, budget)?.as_bool().expect("sort bool")),
        }
    }

    /// A connective or a comparison.
    fn quick_formula(
        &self,
        node: &TermNode,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<bool, QuickGivenUp> {
        Ok(match node {
            TermNode::Not(a) => !self.quick_bool(*a, values, budget)?,
            // A conjunction is false if some part is, a disjunction true: one walk for both.
            TermNode::And(list) => !self.quick_some(list, false, values, budget)?,
            TermNode::Or(list) => self.quick_some(list, true, values, budget)?,
            TermNode::Eq(a, b) => self.quick_order(*a, *b, values, budget)?.is_eq(),
            TermNode::Lt(a, b) => self.quick_order(*a, *b, values, budget)?.is_lt(),
            TermNode::Le(a, b) => self.quick_order(*a, *b, values, budget)?.is_le(),
            _ => return Err(QuickGivenUp::General),
        })
    }

    /// Compares the values of two terms of one sort; small integers are compared without building values.
    fn quick_order(
        &self,
        a: Term,
        b: Term,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<Ordering, QuickGivenUp> {
        if let (Some(a), Some(b)) = (self.number_at_hand(a, values), self.number_at_hand(b, values)) {
            return Ok(a.cmp(&b));
        }
        let (a, b) = (self.quick(a, values, budget)?, self.quick(b, values, budget)?);
        // Equality of collections is quicker than their order.
        Ok(if *a == *b { Ordering::Equal } else { (*a).cmp(&*b) })
    }

    /// Returns a constant, the value of a variable, or the length of one, if it is an integer that fits in 64 bits.
    fn number_at_hand(&self, term: Term, values: &dyn Assignment) -> Option<i64> {
        match self.node(term) {
            TermNode::Value(value) => value.as_int()?.to_i64(),
            TermNode::Var(var) => values.value_of(*var)?.as_int()?.to_i64(),
            TermNode::Apply(TermOp::Size, args) => match self.node(args[0]) {
                TermNode::Var(var) => i64::try_from(values.value_of(*var)?.as_collection()?.len()).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether some formula of `list` evaluates to `wanted`; formulas that only compare variables and values
    /// come first.
    fn quick_some(
        &self,
        list: &[Term],
        wanted: bool,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<bool, QuickGivenUp> {
        // Two passes over the same list: sorting it would cost more than looking twice.
        for cheap in [true, false] {
            for &part in list {
                if self.is_cheap(part) == cheap && self.quick_bool(part, values, budget)? == wanted {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn is_cheap(&self, part: Term) -> bool {
        let is_leaf = |term: Term| matches!(self.node(term), TermNode::Var(_) | TermNode::Value(_));
        match self.node(part) {
            TermNode::Eq(a, b) | TermNode::Lt(a, b) | TermNode::Le(a, b) => is_leaf(*a) && is_leaf(*b),
            TermNode::Var(_) => true,
            _ => false,
        }
    }

    /// Returns an item of a list or the value of a key, borrowed if the collection is; a default value if it is absent.
    fn quick_at<'v>(
        &'v self,
        args: &[Term],
        sort: Sort,
        values: &'v dyn Assignment,
        budget: &mut u32,
    ) -> QuickResult<'v> {
        let (of, key) = (self.quick(args[0], values, budget)?, self.quick(args[1], values, budget)?);
        // Only what is borrowed from the state can be given back borrowed.
        if let Cow::Borrowed(Value::Collection(of)) = of
            && let Some(found) = of.at(&key)
        {
            return Ok(Cow::Borrowed(found));
        }
        self.apply_op(TermOp::At, &[&*of, &*key], sort).map(Cow::Owned).map_err(QuickGivenUp::Failed)
    }

    /// The item of a list or set written with one item.
    fn only_item(&self, term: Term) -> Option<Term> {
        match self.node(term) {
            TermNode::Elements(_, parts) if parts.len() == 2 && self.is_true(parts[0]) => Some(parts[1]),
            _ => None,
        }
    }

    /// Evaluates an operation; up to a few arguments need no allocation.
    fn quick_apply(
        &self,
        op: TermOp,
        args: &[Term],
        sort: Sort,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<Value, QuickGivenUp> {
        let applied = match *args {
            [a] => self.apply_op(op, &[&*self.quick(a, values, budget)?], sort),
            [a, b] => {
                let a = self.quick(a, values, budget)?;
                // Adding one item is what models do at every step; a collection of one need not be made for it.
                if matches!(op, TermOp::Append | TermOp::Union)
                    && let Some(item) = self.only_item(b)
                {
                    let item = self.quick(item, values, budget)?.into_owned();
                    let more = a.as_collection().expect("a collection").and(item);
                    return check_length(more).map_err(QuickGivenUp::Failed);
                }
                self.apply_op(op, &[&*a, &*self.quick(b, values, budget)?], sort)
            }
            [a, b, c] => {
                let (a, b) = (self.quick(a, values, budget)?, self.quick(b, values, budget)?);
                self.apply_op(op, &[&*a, &*b, &*self.quick(c, values, budget)?], sort)
            }
            _ => {
                let mut all = Vec::with_capacity(args.len());
                for &arg in args {
                    all.push(self.quick(arg, values, budget)?);
                }
                let all: Vec<&Value> = all.iter().map(|value| &**value).collect();
                self.apply_op(op, &all, sort)
            }
        };
        applied.map_err(QuickGivenUp::Failed)
    }

    fn quick_fold(
        &self,
        list: &[Term],
        op: fn(&Value, &Value) -> Value,
        values: &dyn Assignment,
        budget: &mut u32,
    ) -> Result<Value, QuickGivenUp> {
        let mut result = self.quick(list[0], values, budget)?.into_owned();
        for &part in &list[1..] {
            let next = self.quick(part, values, budget)?;
            result = bearable(op(&result, &next)).map_err(QuickGivenUp::Failed)?;
        }
        Ok(result)
    }

    fn quick_select<'v>(
        &'v self,
        term: Term,
        ctor: u32,
        field: u32,
        arg: Term,
        values: &'v dyn Assignment,
        budget: &mut u32,
    ) -> QuickResult<'v> {
        let arg = self.quick(arg, values, budget)?;
        let is_fit = arg.as_data().expect("sort data").ctor == ctor;
        if !is_fit {
            return Ok(Cow::Owned(self.default_value(self.sort(term))));
        }
        Ok(match arg {
            Cow::Borrowed(Value::Data(data)) => Cow::Borrowed(&data.args[field as usize]),
            other => Cow::Owned(other.as_data().expect("sort data").args[field as usize].clone()),
        })
    }
}
