//! Builders: every term is made here, simplified by named rules.
//!
//! A rule is a function that returns the simpler term, or `None` where it does not
//! apply. A builder tries its rules in order and interns the node if none applies.
//! Every rule keeps the meaning under every valuation (a property test holds
//! evaluation before and after against each other).

mod arith;
mod bool;
mod collection;
mod data;
mod quant;
mod relation;
mod string;

pub use self::string::WHOLE_NUMBER;

use super::{Term, TermNode, TermPool, VarId};
use crate::value::Value;

impl TermPool {
    /// The constant `value`.
    pub fn value(&mut self, value: Value) -> Term {
        self.intern(TermNode::Value(value))
    }

    /// The variable `var` as a term.
    pub fn var(&mut self, var: VarId) -> Term {
        self.intern(TermNode::Var(var))
    }

    /// The integer constant `n`.
    pub fn int(&mut self, n: i64) -> Term {
        self.value(Value::int(n))
    }

    /// The truth constant `b`.
    pub fn bool(&mut self, b: bool) -> Term {
        self.value(Value::Bool(b))
    }

    /// The constant true.
    pub fn tt(&mut self) -> Term {
        self.bool(true)
    }

    /// The constant false.
    pub fn ff(&mut self) -> Term {
        self.bool(false)
    }

    /// Declares a variable and returns it as a term too.
    pub fn declare_term(&mut self, name: &str, sort: crate::sort::Sort) -> (VarId, Term) {
        let var = self.declare(name, sort);
        (var, self.var(var))
    }
}
