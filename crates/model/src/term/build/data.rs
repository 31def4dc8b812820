//! Constructors, their tests and their fields.

use crate::sort::{DataId, Sort};
use crate::term::{Term, TermNode, TermPool};
use crate::value::{DataValue, Value};

impl TermPool {
    /// The constructor `ctor` of `data` applied to `args`, one per field.
    pub fn construct(&mut self, data: DataId, ctor: u32, args: impl IntoIterator<Item = Term>) -> Term {
        let args: Vec<Term> = args.into_iter().collect();
        debug_assert_eq!(self.data(data).ctors[ctor as usize].fields.len(), args.len());
        self.construct_values(data, ctor, &args)
            .unwrap_or_else(|| self.intern(TermNode::Construct(data, ctor, args.into())))
    }

    /// Returns the formula that `a` was made by constructor `ctor`.
    pub fn is(&mut self, ctor: u32, a: Term) -> Term {
        debug_assert!(matches!(self.sort(a), Sort::Data(_)));
        None.or_else(|| self.is_only(a))
            .or_else(|| self.is_known(ctor, a))
            .or_else(|| self.is_choice(ctor, a))
            .unwrap_or_else(|| self.intern(TermNode::Is(ctor, a)))
    }

    /// Field `field` of constructor `ctor` in `a`; the field's default value under another constructor.
    pub fn select(&mut self, ctor: u32, field: u32, a: Term) -> Term {
        None.or_else(|| self.select_known(ctor, field, a))
            .or_else(|| self.select_choice(ctor, field, a))
            .unwrap_or_else(|| self.intern(TermNode::Select { ctor, field, arg: a }))
    }

    /// The constructor and the arguments of `a`, if it is a constructor applied to something.
    pub(super) fn as_construct(&mut self, a: Term) -> Option<(u32, Vec<Term>)> {
        match self.node(a).clone() {
            TermNode::Construct(_, ctor, args) => Some((ctor, args.to_vec())),
            TermNode::Value(Value::Data(DataValue { ctor, args, .. })) => {
                Some((ctor, args.iter().map(|arg| self.value(arg.clone())).collect()))
            }
            _ => None,
        }
    }

    /// A constructor applied to constants is a constant, unless that is too large.
    fn construct_values(&mut self, data: DataId, ctor: u32, args: &[Term]) -> Option<Term> {
        let args = args.iter().map(|&arg| self.as_value(arg).cloned()).collect::<Option<_>>()?;
        let value = Value::Data(DataValue { data, ctor, args });
        value.has_bearable_parts().then(|| self.value(value))
    }

    /// A record has only one constructor.
    fn is_only(&mut self, a: Term) -> Option<Term> {
        let Sort::Data(data) = self.sort(a) else { return None };
        (self.data(data).ctors.len() == 1).then(|| self.tt())
    }

    /// The constructor is visible.
    fn is_known(&mut self, ctor: u32, a: Term) -> Option<Term> {
        let (made_by, _) = self.as_construct(a)?;
        Some(self.bool(made_by == ctor))
    }

    /// `Point(x, y).x = x`; a field of another constructor is its default value.
    fn select_known(&mut self, ctor: u32, field: u32, a: Term) -> Option<Term> {
        let Sort::Data(data) = self.sort(a) else { return None };
        let (made_by, args) = self.as_construct(a)?;
        if made_by == ctor {
            return Some(args[field as usize]);
        }
        let sort = self.data(data).ctors[ctor as usize].fields[field as usize].sort;
        let default = self.default_value(sort);
        Some(self.value(default))
    }

    /// A field of a choice is a choice of fields, where values have a shape that should be seen.
    fn select_choice(&mut self, ctor: u32, field: u32, a: Term) -> Option<Term> {
        let (cond, then, other) = self.as_choice_of_shapes(a)?;
        let (then, other) = (self.select(ctor, field, then), self.select(ctor, field, other));
        Some(self.ite(cond, then, other))
    }

    /// The constructor test of a choice is a choice of tests, where values have a shape that should be seen.
    fn is_choice(&mut self, ctor: u32, a: Term) -> Option<Term> {
        let (cond, then, other) = self.as_choice_of_shapes(a)?;
        let (then, other) = (self.is(ctor, then), self.is(ctor, other));
        Some(self.ite(cond, then, other))
    }

    /// Returns the condition and the branches of a choice between values that have a shape; `None` for any other term.
    pub(super) fn as_choice_of_shapes(&self, a: Term) -> Option<(Term, Term, Term)> {
        let TermNode::Ite(cond, then, other) = *self.node(a) else { return None };
        self.has_shape(self.sort(a)).then_some((cond, then, other))
    }

    /// A choice between two values of one constructor is one value of it, where values have a shape.
    pub(super) fn ite_construct(&mut self, cond: Term, then: Term, other: Term) -> Option<Term> {
        let Sort::Data(data) = self.sort(then) else { return None };
        let (ctor, left) = self.as_construct(then)?;
        let (other_ctor, right) = self.as_construct(other)?;
        if ctor != other_ctor || !self.has_shape(Sort::Data(data)) {
            return None;
        }
        let args: Vec<Term> = left.into_iter().zip(right).map(|(a, b)| self.ite(cond, a, b)).collect();
        Some(self.construct(data, ctor, args))
    }
}
