//! Guards as expressions of programming languages.
//!
//! A [`Dialect`] says how a language writes what terms are made of; what it cannot say (quantifiers,
//! records, patterns) is refused by name rather than written wrongly. Integers stay exact in Python and up to
//! 128 bits in Rust; reals are fractions in Python and floating-point numbers in Rust and TTCN-3.

use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::term::{Node, Term, TermPool, VarId};
use ioxide_model::value::Value;

/// Terms nested deeper than this are refused.
const MAX_DEPTH: usize = 200;

/// How a language writes expressions.
pub trait Dialect {
    /// A variable.
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, &'static str>;
    /// A constant.
    fn value(&self, value: &Value) -> Result<String, &'static str>;
    /// `and`, `or`.
    fn connective(&self) -> (&'static str, &'static str);
    /// Negation of an expression that stands by itself.
    fn not(&self, inner: &str) -> String;
    /// Choice.
    fn ite(&self, cond: &str, then: &str, other: &str) -> Result<String, &'static str>;
    /// A function of the language or of the test's own runtime.
    fn call(&self, function: Function, args: &[String]) -> Result<String, &'static str>;
}

/// What is written as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Euclidean quotient.
    Div,
    /// Euclidean remainder.
    Rem,
    /// Quotient of reals, 0 for division by zero.
    Quotient,
    /// An integer as a real.
    ToReal,
    /// The greatest integer not above.
    Floor,
    /// Strings one after the other.
    Concat,
    /// Number of characters.
    Length,
    /// The first holds the second.
    Contains,
    /// The second starts with the first.
    Prefix,
    /// The second ends with the first.
    Suffix,
}

/// `term` as an expression.
///
/// # Errors
/// If the language cannot say it: what it lacks.
pub fn expression(pool: &TermPool, dialect: &dyn Dialect, term: Term) -> Result<String, &'static str> {
    Writer { pool, dialect }.write(term, 0)
}

struct Writer<'a> {
    pool: &'a TermPool,
    dialect: &'a dyn Dialect,
}

impl Writer<'_> {
    /// An expression that binds as tightly as an atom.
    fn write(&self, term: Term, depth: usize) -> Result<String, &'static str> {
        if depth > MAX_DEPTH {
            return Err("expressions of any depth");
        }
        let one = |term: &Term| self.write(*term, depth + 1);
        let (and, or) = self.dialect.connective();
        let infix = |a: &Term, op: &str, b: &Term| Ok(format!("({} {op} {})", one(a)?, one(b)?));
        match self.pool.node(term) {
            Node::Value(value) => self.value(value),
            Node::Var(var) => self.dialect.var(self.pool, *var),
            Node::Not(a) => Ok(self.dialect.not(&one(a)?)),
            Node::And(list) => self.joined(list, and, depth),
            Node::Or(list) => self.joined(list, or, depth),
            Node::Eq(a, b) => infix(a, "==", b),
            Node::Lt(a, b) => infix(a, "<", b),
            Node::Le(a, b) => infix(a, "<=", b),
            Node::Add(list) => self.joined(list, "+", depth),
            Node::Mul(list) => self.joined(list, "*", depth),
            Node::Ite(c, a, b) => self.dialect.ite(&one(c)?, &one(a)?, &one(b)?),
            Node::Div(a, b) => self.call(Function::Div, &[*a, *b], depth),
            Node::Rem(a, b) => self.call(Function::Rem, &[*a, *b], depth),
            Node::RealDiv(a, b) => self.call(Function::Quotient, &[*a, *b], depth),
            Node::ToReal(a) => self.call(Function::ToReal, &[*a], depth),
            Node::Floor(a) => self.call(Function::Floor, &[*a], depth),
            Node::Concat(list) => self.call(Function::Concat, list, depth),
            Node::Length(a) => self.call(Function::Length, &[*a], depth),
            Node::Contains(a, b) => self.call(Function::Contains, &[*a, *b], depth),
            Node::Prefix(a, b) => self.call(Function::Prefix, &[*a, *b], depth),
            Node::Suffix(a, b) => self.call(Function::Suffix, &[*a, *b], depth),
            Node::Is(ctor, a) => self.is(*ctor, *a, depth),
            Node::Construct(data, ctor, args) if args.is_empty() => {
                let name = self.pool.data(*data).ctors[*ctor as usize].name.clone();
                self.dialect.value(&Value::Str(name))
            }
            Node::Matches(..) => Err("regular expressions"),
            Node::Construct(..) | Node::Select { .. } => Err("records and options"),
            Node::Exists(..) | Node::Lambda(..) => Err("quantifiers"),
            Node::Elements(..) | Node::Apply(..) => Err("collections"),
            Node::Call(..) => Err("functions that call themselves"),
        }
    }

    fn value(&self, value: &Value) -> Result<String, &'static str> {
        match value {
            Value::Data(data) if data.args.is_empty() => {
                let name = self.pool.data(data.data).ctors[data.ctor as usize].name.clone();
                self.dialect.value(&Value::Str(name))
            }
            Value::Data(_) => Err("records and options"),
            value => self.dialect.value(value),
        }
    }

    /// An enum value is its name.
    fn is(&self, ctor: u32, arg: Term, depth: usize) -> Result<String, &'static str> {
        let Sort::Data(data) = self.pool.sort(arg) else { return Err("data types") };
        let info = self.pool.data(data);
        if info.kind != DataKind::Enum || info.ctors.iter().any(|ctor| !ctor.fields.is_empty()) {
            return Err("records and options");
        }
        let name = self.dialect.value(&Value::Str(info.ctors[ctor as usize].name.clone()))?;
        Ok(format!("({} == {name})", self.write(arg, depth + 1)?))
    }

    fn joined(&self, list: &[Term], op: &str, depth: usize) -> Result<String, &'static str> {
        let parts: Vec<String> =
            list.iter().map(|&part| self.write(part, depth + 1)).collect::<Result<_, _>>()?;
        Ok(format!("({})", parts.join(&format!(" {op} "))))
    }

    fn call(&self, function: Function, args: &[Term], depth: usize) -> Result<String, &'static str> {
        let args: Vec<String> =
            args.iter().map(|&arg| self.write(arg, depth + 1)).collect::<Result<_, _>>()?;
        self.dialect.call(function, &args)
    }
}

/// `text` in quotes, with every character that is not plain ASCII escaped by `escape`.
#[must_use]
pub fn quoted(text: &str, escape: impl Fn(char) -> String) -> String {
    let plain = |c: char| matches!(c, ' '..='~') && c != '"' && c != '\\';
    let inner: String = text.chars().map(|c| if plain(c) { c.to_string() } else { escape(c) }).collect();
    format!("\"{inner}\"")
}
