//! Guards as expressions of programming languages.
//!
//! An [`ExprDialect`] supplies the syntax of a language for the operators of terms; an operator it cannot express
//! (quantifiers, records, patterns) is refused by name rather than written wrongly. Integers stay exact in Python and
//! up to 128 bits in Rust; reals are fractions in Python and floating-point numbers in Rust and TTCN-3.

use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use super::LanguageGap;

/// The depth of nesting beyond which terms are refused. Chosen by feel: terms are written by recursion, and people
/// write far less.
const MAX_DEPTH: usize = 200;

/// The syntax of expressions in one language. Errors name the construct that the language lacks.
pub trait ExprDialect {
    /// Writes a variable.
    fn var(&self, pool: &TermPool, var: VarId) -> Result<String, LanguageGap>;
    /// Writes a constant.
    fn value(&self, value: &Value) -> Result<String, LanguageGap>;
    /// Returns the operators for conjunction and disjunction.
    fn connective(&self) -> (&'static str, &'static str);
    /// Negates an expression that is atomic or in parentheses.
    fn not(&self, inner: &str) -> String;
    /// Writes a conditional expression.
    fn ite(&self, cond: &str, then: &str, other: &str) -> Result<String, LanguageGap>;
    /// Writes a call of a function of the language or of the test's own runtime.
    fn call(&self, function: CallName, args: &[String]) -> Result<String, LanguageGap>;
}

/// An operator that is written as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallName {
    /// Euclidean quotient.
    Div,
    /// Euclidean remainder.
    Rem,
    /// Quotient of reals, 0 for division by zero.
    Quotient,
    /// An integer as a real.
    ToReal,
    /// The greatest integer that is not above the argument.
    Floor,
    /// Concatenation of strings.
    Concat,
    /// Number of characters.
    Length,
    /// True if the first string contains the second.
    Contains,
    /// True if the second string starts with the first.
    Prefix,
    /// True if the second string ends with the first.
    Suffix,
    /// True if the first string is the second or comes before it.
    TextLe,
}

/// Returns `term` as an expression of the language.
///
/// # Errors
/// If the language cannot express `term`: the construct it lacks.
pub fn write_expression(
    pool: &TermPool,
    dialect: &dyn ExprDialect,
    term: Term,
) -> Result<String, LanguageGap> {
    ExprWriter { pool, dialect }.write_term(term, 0)
}

struct ExprWriter<'a> {
    pool: &'a TermPool,
    dialect: &'a dyn ExprDialect,
}

impl ExprWriter<'_> {
    /// Returns an expression that binds as tightly as an atom.
    fn write_term(&self, term: Term, depth: usize) -> Result<String, LanguageGap> {
        if depth > MAX_DEPTH {
            return Err(LanguageGap("expressions of any depth"));
        }
        let one = |term: &Term| self.write_term(*term, depth + 1);
        let (and, or) = self.dialect.connective();
        let infix = |a: &Term, op: &str, b: &Term| Ok(format!("({} {op} {})", one(a)?, one(b)?));
        match self.pool.node(term) {
            TermNode::Value(value) => self.write_value(value),
            TermNode::Var(var) => self.dialect.var(self.pool, *var),
            TermNode::Not(a) => Ok(self.dialect.not(&one(a)?)),
            TermNode::And(list) => self.join_terms(list, and, depth),
            TermNode::Or(list) => self.join_terms(list, or, depth),
            TermNode::Eq(a, b) => infix(a, "==", b),
            TermNode::Lt(a, b) => infix(a, "<", b),
            TermNode::Le(a, b) => infix(a, "<=", b),
            TermNode::Add(list) => self.join_terms(list, "+", depth),
            TermNode::Mul(list) => self.join_terms(list, "*", depth),
            TermNode::Ite(c, a, b) => self.dialect.ite(&one(c)?, &one(a)?, &one(b)?),
            TermNode::Div(a, b) => self.write_call(CallName::Div, &[*a, *b], depth),
            TermNode::Rem(a, b) => self.write_call(CallName::Rem, &[*a, *b], depth),
            TermNode::RealDiv(a, b) => self.write_call(CallName::Quotient, &[*a, *b], depth),
            TermNode::ToReal(a) => self.write_call(CallName::ToReal, &[*a], depth),
            TermNode::Floor(a) => self.write_call(CallName::Floor, &[*a], depth),
            TermNode::Concat(list) => self.write_call(CallName::Concat, list, depth),
            TermNode::Length(a) => self.write_call(CallName::Length, &[*a], depth),
            TermNode::Contains(a, b) => self.write_call(CallName::Contains, &[*a, *b], depth),
            TermNode::Prefix(a, b) => self.write_call(CallName::Prefix, &[*a, *b], depth),
            TermNode::Suffix(a, b) => self.write_call(CallName::Suffix, &[*a, *b], depth),
            TermNode::TextLe(a, b) => self.write_call(CallName::TextLe, &[*a, *b], depth),
            TermNode::Is(ctor, a) => self.write_constructor_test(*ctor, *a, depth),
            TermNode::Construct(data, ctor, args) if args.is_empty() => {
                let name = self.pool.data(*data).ctors[*ctor as usize].name.clone();
                self.dialect.value(&Value::Str(name))
            }
            TermNode::Matches(..) => Err(LanguageGap("regular expressions")),
            TermNode::Construct(..) | TermNode::Select { .. } => Err(LanguageGap("records and options")),
            TermNode::Exists(..) | TermNode::Lambda(..) => Err(LanguageGap("quantifiers")),
            TermNode::Elements(..) | TermNode::Apply(..) => Err(LanguageGap("collections")),
            TermNode::Call(..) => Err(LanguageGap("functions that call themselves")),
        }
    }

    fn write_value(&self, value: &Value) -> Result<String, LanguageGap> {
        match value {
            Value::Data(data) if data.args.is_empty() => {
                let name = self.pool.data(data.data).ctors[data.ctor as usize].name.clone();
                self.dialect.value(&Value::Str(name))
            }
            Value::Data(_) => Err(LanguageGap("records and options")),
            value => self.dialect.value(value),
        }
    }

    /// Writes a constructor test as a comparison of names, since an enum value is written as its name.
    fn write_constructor_test(&self, ctor: u32, arg: Term, depth: usize) -> Result<String, LanguageGap> {
        let Sort::Data(data) = self.pool.sort(arg) else { return Err(LanguageGap("data types")) };
        let info = self.pool.data(data);
        if info.kind != DataKind::Enum || info.ctors.iter().any(|ctor| !ctor.fields.is_empty()) {
            return Err(LanguageGap("records and options"));
        }
        let name = self.dialect.value(&Value::Str(info.ctors[ctor as usize].name.clone()))?;
        Ok(format!("({} == {name})", self.write_term(arg, depth + 1)?))
    }

    fn join_terms(&self, list: &[Term], op: &str, depth: usize) -> Result<String, LanguageGap> {
        let parts: Vec<String> =
            list.iter().map(|&part| self.write_term(part, depth + 1)).collect::<Result<_, _>>()?;
        Ok(format!("({})", parts.join(&format!(" {op} "))))
    }

    fn write_call(&self, function: CallName, args: &[Term], depth: usize) -> Result<String, LanguageGap> {
        let args: Vec<String> =
            args.iter().map(|&arg| self.write_term(arg, depth + 1)).collect::<Result<_, _>>()?;
        self.dialect.call(function, &args)
    }
}

/// `text` in quotes, with every character that is not plain ASCII escaped by `escape`.
#[must_use]
pub fn quote_with(text: &str, escape: impl Fn(char) -> String) -> String {
    let plain = |c: char| matches!(c, ' '..='~') && c != '"' && c != '\\';
    let inner: String = text.chars().map(|c| if plain(c) { c.to_string() } else { escape(c) }).collect();
    format!("\"{inner}\"")
}
