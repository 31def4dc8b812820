//! Equality and order.

use std::cmp::Ordering;

use crate::number::Rational;
use crate::sort::Sort;
use crate::term::{Term, TermNode, TermPool};
use crate::value::Value;

impl TermPool {
    /// Equality of two terms of one base sort.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        debug_assert_eq!(self.sort(a).base(), self.sort(b).base());
        // In the order of the ids, so that `a == b` and `b == a` are one term.
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        // Identity and constants come before the rules that look into choices and collections, because those
        // build further terms.
        None.or_else(|| self.eq_same(a, b))
            .or_else(|| self.eq_values(a, b))
            .or_else(|| self.eq_bool(a, b))
            .or_else(|| self.eq_offset(a, b))
            .or_else(|| self.eq_shift(a, b))
            .or_else(|| self.eq_construct(a, b))
            .or_else(|| self.eq_written(a, b))
            .or_else(|| self.eq_choices(a, b))
            .or_else(|| self.eq_choice(a, b))
            .or_else(|| self.eq_choice_of_shapes(a, b))
            .or_else(|| self.eq_collection(a, b))
            .unwrap_or_else(|| self.intern(TermNode::Eq(a, b)))
    }

    /// Inequality, written `!(a == b)`.
    pub fn ne(&mut self, a: Term, b: Term) -> Term {
        let eq = self.eq(a, b);
        self.not(eq)
    }

    /// Returns the formula `a < b` for numbers.
    pub fn lt(&mut self, a: Term, b: Term) -> Term {
        self.order(a, b, Ordering::is_lt, TermNode::Lt)
    }

    /// Returns the formula `a <= b` for numbers.
    pub fn le(&mut self, a: Term, b: Term) -> Term {
        self.order(a, b, Ordering::is_le, TermNode::Le)
    }

    /// Returns the formula `a > b` for numbers, written `b < a`.
    pub fn gt(&mut self, a: Term, b: Term) -> Term {
        self.lt(b, a)
    }

    /// Returns the formula `a >= b` for numbers, written `b <= a`.
    pub fn ge(&mut self, a: Term, b: Term) -> Term {
        self.le(b, a)
    }

    /// Returns a comparison: decided where it can be, otherwise as `node`.
    fn order(
        &mut self,
        a: Term,
        b: Term,
        holds: fn(Ordering) -> bool,
        node: fn(Term, Term) -> TermNode,
    ) -> Term {
        debug_assert!(self.sort(a).is_numeric() && self.sort(a).base() == self.sort(b).base());
        None.or_else(|| self.order_values(a, b, holds))
            .or_else(|| self.order_offset(a, b, holds))
            .or_else(|| self.order_shift(a, b, holds, node))
            .unwrap_or_else(|| self.intern(node(a, b)))
    }

    /// `a == a = true`.
    fn eq_same(&mut self, a: Term, b: Term) -> Option<Term> {
        (a == b).then(|| self.tt())
    }

    /// `3 == 4 = false`.
    fn eq_values(&mut self, a: Term, b: Term) -> Option<Term> {
        let equal = self.as_value(a)? == self.as_value(b)?;
        Some(self.bool(equal))
    }

    /// `a == true` is `a`, `a == false` is `!a`, `a == !a` is false.
    fn eq_bool(&mut self, a: Term, b: Term) -> Option<Term> {
        if self.sort(a) != Sort::Bool {
            return None;
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(constant) = self.as_value(y).and_then(Value::as_bool) {
                return Some(if constant { x } else { self.not(x) });
            }
        }
        (self.known_negation(a) == Some(b)).then(|| self.ff())
    }

    /// `x + 1 == x` and the like: a constant difference decides.
    fn eq_offset(&mut self, a: Term, b: Term) -> Option<Term> {
        let difference = self.constant_difference(a, b)?;
        Some(self.bool(difference.is_zero()))
    }

    /// `x + 1 == 5` is `x == 4`.
    fn eq_shift(&mut self, a: Term, b: Term) -> Option<Term> {
        let (a, b) = self.shift_constant(a, b)?;
        Some(self.eq(a, b))
    }

    /// `x + 1 < 5` is `x < 4`.
    fn order_shift(
        &mut self,
        a: Term,
        b: Term,
        holds: fn(Ordering) -> bool,
        node: fn(Term, Term) -> TermNode,
    ) -> Option<Term> {
        let (a, b) = self.shift_constant(a, b)?;
        Some(self.order(a, b, holds, node))
    }

    /// `Some(a) == Some(b)` is `a == b`; different constructors differ.
    fn eq_construct(&mut self, a: Term, b: Term) -> Option<Term> {
        let (ctor_a, args_a) = self.as_construct(a)?;
        let (ctor_b, args_b) = self.as_construct(b)?;
        if ctor_a != ctor_b {
            return Some(self.ff());
        }
        let parts: Vec<Term> = args_a.into_iter().zip(args_b).map(|(x, y)| self.eq(x, y)).collect();
        Some(self.and(parts))
    }

    /// A choice compared with a constructor is a choice of comparisons, where values have a shape that
    /// should be seen.
    fn eq_choice_of_shapes(&mut self, a: Term, b: Term) -> Option<Term> {
        let sides = [(a, b), (b, a)];
        let (choice, made) = sides.into_iter().find(|&(_, made)| self.as_construct(made).is_some())?;
        let (cond, then, other) = self.as_choice_of_shapes(choice)?;
        let (then, other) = (self.eq(then, made), self.eq(other, made));
        Some(self.ite(cond, then, other))
    }

    /// `(if c then 1 else 2) == 1` is `c`: a choice among constants compared with a constant.
    ///
    /// Follows a chain of choices without recursion; applies only if every leaf is constant.
    fn eq_choice(&mut self, a: Term, b: Term) -> Option<Term> {
        let (choice, value) = match (self.as_value(a).is_some(), self.as_value(b).is_some()) {
            (true, false) => (b, a),
            (false, true) => (a, b),
            _ => return None,
        };
        let mut arms = Vec::new();
        let mut rest = choice;
        while let TermNode::Ite(cond, then, other) = *self.node(rest) {
            self.as_value(then)?;
            arms.push((cond, then));
            rest = other;
        }
        self.as_value(rest)?;
        let last = self.bool(rest == value);
        // From the innermost arm outwards, as the chain is nested.
        Some(arms.into_iter().rev().fold(last, |acc, (cond, then)| {
            let hit = self.bool(then == value);
            self.ite(cond, hit, acc)
        }))
    }

    /// `3 < 4 = true`.
    fn order_values(&mut self, a: Term, b: Term, holds: fn(Ordering) -> bool) -> Option<Term> {
        let result = match (self.as_value(a)?, self.as_value(b)?) {
            (Value::Int(x), Value::Int(y)) => holds(x.cmp(y)),
            (Value::Real(x), Value::Real(y)) => holds(x.cmp(y)),
            _ => return None,
        };
        Some(self.bool(result))
    }

    /// `x < x + 1 = true`: a constant difference decides.
    fn order_offset(&mut self, a: Term, b: Term, holds: fn(Ordering) -> bool) -> Option<Term> {
        let difference = self.constant_difference(a, b)?;
        Some(self.bool(holds(difference.cmp(&Rational::ZERO))))
    }
}
