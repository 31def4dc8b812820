//! Constant expressions of a system: indices, settings, values of fields.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};

use crate::ast::{AddOp, Expr, ExprKind, MulOp};
use crate::literal::{self, NumberLiteral};
use crate::resolve::each_child;
use crate::sink::FindingSink;
use crate::typeck::{BoundName, Checker, ExprContext};

/// A constant, or the finding that it is none.
pub(super) type KnownConstant<T> = Result<T, Box<Diagnostic>>;

/// The names of constants with their values; later ones hide earlier ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    names: Vec<(String, Value)>,
}

impl Constants {
    /// Gives a name a value, which hides an earlier one.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.names.push((name.to_owned(), value));
    }

    pub(super) fn with_constant(&self, name: &str, value: i64) -> Self {
        let mut more = self.clone();
        more.set(name, Value::int(value));
        more
    }

    /// Returns the latest value of a name, if it has one.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the value of `expr`; the error is the finding that it is not constant.
    pub(super) fn value(&self, expr: &Expr) -> KnownConstant<Value> {
        let no = || {
            let diagnostic = Diagnostic::new(Code::NotConstant, expr.span, "a constant is needed here");
            Box::new(diagnostic.help(
                "write numbers, texts, `true`, `false`, constants of the system and the index of an array",
            ))
        };
        match &expr.kind {
            ExprKind::Bool(b) => Ok(Value::Bool(*b)),
            ExprKind::Str(text) => Ok(Value::str(text)),
            ExprKind::Number(text) => match literal::parse_number(text) {
                Ok(NumberLiteral::Int(n)) => n.to_i64().map(Value::int).ok_or_else(no),
                Ok(NumberLiteral::Real(_)) | Err(_) => Err(no()),
            },
            ExprKind::Name(name) => self.get(name).cloned().ok_or_else(|| {
                let message = format!("there is no constant `{name}` here");
                let help = format!("constants of a system are declared in it: `const {name} = 3`");
                Box::new(Diagnostic::new(Code::UnknownName, expr.span, message).help(help))
            }),
            ExprKind::Paren(inner) => self.value(inner),
            _ => match self.int(expr) {
                Ok(n) => i64::try_from(n).map(Value::int).map_err(|_| no()),
                Err(why) => self.evaluate(expr).ok_or(why),
            },
        }
    }

    /// Returns the value of an expression over the constants, such as `i == 1` or `if i > N then "a" else "b"`; `None`
    /// if it has none that can be written as a text.
    fn evaluate(&self, expr: &Expr) -> Option<Value> {
        // Arithmetic was decided before, within the bounds of constants of a system.
        let mut plain = expr;
        while let ExprKind::Paren(inner) = &plain.kind {
            plain = inner;
        }
        if matches!(plain.kind, ExprKind::Sum(..) | ExprKind::Product(..) | ExprKind::Neg(_)) {
            return None;
        }
        let mut sink = FindingSink::default();
        let mut checker = Checker::new(&mut sink);
        for (name, value) in &self.names {
            let term = checker.pool.value(value.clone());
            checker.bound.push(BoundName { name: name.clone(), term, part_of: None });
        }
        let (term, obligations) =
            checker.check_at(ExprContext::Constant, None, |checker| checker.infer(expr, None));
        let value = checker.ground_value(term.ok()?, &obligations, expr.span).ok()?;
        let fits = match &value {
            Value::Bool(_) | Value::Str(_) => true,
            Value::Int(n) => n.to_i64().is_some(),
            _ => false,
        };
        fits.then_some(value)
    }

    /// Returns the constants that `expr` may mention, with their values; later ones hide earlier ones.
    pub(super) fn mentioned_in(&self, expr: &Expr) -> Vec<(String, Value)> {
        let mut open = vec![expr];
        let mut names = std::collections::BTreeSet::new();
        while let Some(expr) = open.pop() {
            if let ExprKind::Name(name) = &expr.kind {
                names.insert(name.as_str());
            }
            each_child(expr, &mut |child| open.push(child));
        }
        names.into_iter().filter_map(|name| Some((name.to_owned(), self.get(name)?.clone()))).collect()
    }

    /// Returns the whole number that `expr` evaluates to.
    pub(super) fn int(&self, expr: &Expr) -> KnownConstant<i128> {
        let message = "a constant whole number is needed here";
        let no = || Box::new(Diagnostic::new(Code::NotConstant, expr.span, message));
        match &expr.kind {
            ExprKind::Neg(inner) => self.int(inner)?.checked_neg().ok_or_else(no),
            ExprKind::Paren(inner) => self.int(inner),
            ExprKind::Sum(first, rest) => rest.iter().try_fold(self.int(first)?, |sum, (op, next)| {
                let next = self.int(next)?;
                let sum = if *op == AddOp::Add { sum.checked_add(next) } else { sum.checked_sub(next) };
                sum.ok_or_else(no)
            }),
            ExprKind::Product(first, rest) => {
                rest.iter().try_fold(self.int(first)?, |product, (op, next)| {
                    let next = self.int(next)?;
                    let result = match op {
                        MulOp::Mul => product.checked_mul(next),
                        MulOp::Div => product.checked_div_euclid(next),
                        MulOp::Rem => product.checked_rem_euclid(next),
                    };
                    result.ok_or_else(no)
                })
            }
            ExprKind::Number(_) | ExprKind::Name(_) => match self.value(expr)? {
                Value::Int(n) => n.to_i64().map(i128::from).ok_or_else(no),
                _ => Err(no()),
            },
            _ => Err(no()),
        }
    }

    /// Returns the value of `expr` as one of `sort`.
    pub(super) fn of_sort(&self, pool: &TermPool, expr: &Expr, sort: Sort) -> KnownConstant<Value> {
        if let (Sort::Data(data), ExprKind::Name(name)) = (sort, &expr.kind)
            && let Some(ctor) = pool.data(data).ctors.iter().position(|ctor| *ctor.name == **name)
        {
            let ctor = u32::try_from(ctor).unwrap_or(u32::MAX);
            return Ok(Value::Data(DataValue { data, ctor, args: std::sync::Arc::default() }));
        }
        let value = match (self.value(expr)?, sort) {
            (Value::Int(n), Sort::Real) => Value::Real(Rational::from(n)),
            (value, _) => value,
        };
        if pool.has_sort(&value, sort) {
            return Ok(value);
        }
        let message = format!("{} is not {}", pool.show_value(&value), pool.show_sort(sort));
        Err(Box::new(Diagnostic::new(Code::TypeMismatch, expr.span, message)))
    }
}

/// Returns a value as text for `--set`.
pub(super) fn as_text(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        other => format!("{other:?}"),
    }
}
