//! Terms as Z3 expressions, each translated once per context, without recursion.

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Node, Term, TermPool, VarId};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use super::context::{Ast, Binary, Context, Many, Unary};
use crate::regex::{self, Re};
use crate::smtlib::write::escape;
use crate::solver::Why;

/// What was translated already.
#[derive(Debug, Default)]
pub(super) struct Memo {
    terms: FxHashMap<Term, Entry>,
    vars: FxHashMap<VarId, Ast>,
    domains: FxHashMap<VarId, Ast>,
}

/// Z3 gets slow on deeper terms, and may run out of stack.
const MAX_DEPTH: u32 = 5_000;

/// An expression, and whether it is linear arithmetic over integers and truth values.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ast: Ast,
    linear: bool,
    depth: u32,
}

impl Memo {
    /// How many terms are known.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The Z3 constant of `var`.
    pub(super) fn constant(&mut self, context: &Context, var: VarId, sort: Sort) -> Result<Ast, Why> {
        if let Some(&ast) = self.vars.get(&var) {
            return Ok(ast);
        }
        let ast = context.constant(var.index(), sort)?;
        self.vars.insert(var, ast);
        Ok(ast)
    }

    /// What the sort of `var` says about it, if it says something.
    pub(super) fn domain(&mut self, context: &Context, var: VarId, sort: Sort) -> Result<Option<Ast>, Why> {
        let Sort::Range { lo, hi } = sort else { return Ok(None) };
        if let Some(&ast) = self.domains.get(&var) {
            return Ok(Some(ast));
        }
        let constant = self.constant(context, var, sort)?;
        let above = context.binary(Binary::Le, context.int(lo)?, constant)?;
        let below = context.binary(Binary::Le, constant, context.int(hi)?)?;
        let ast = context.many(Many::And, &[above, below])?;
        self.domains.insert(var, ast);
        Ok(Some(ast))
    }

    /// The expression of `term`, and whether it is linear integer arithmetic.
    pub(super) fn translate(
        &mut self,
        context: &Context,
        pool: &TermPool,
        term: Term,
    ) -> Result<(Ast, bool), Why> {
        for sub in pool.subterms(&[term], |sub| !self.terms.contains_key(&sub)) {
            if !self.terms.contains_key(&sub) {
                let entry = self.entry(context, pool, sub)?;
                self.terms.insert(sub, entry);
            }
        }
        let entry = self.known(term)?;
        Ok((entry.ast, entry.linear))
    }

    fn known(&self, term: Term) -> Result<Entry, Why> {
        self.terms.get(&term).copied().ok_or_else(|| Why::Error("a subterm was not translated".into()))
    }

    fn entry(&mut self, context: &Context, pool: &TermPool, term: Term) -> Result<Entry, Why> {
        let children =
            pool.node(term).children().map(|child| self.known(child)).collect::<Result<Vec<_>, _>>()?;
        let linear = children.iter().all(|child| child.linear) && is_linear(pool, term);
        let depth = children.iter().map(|child| child.depth + 1).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(Why::Error(format!("a fact is nested more than {MAX_DEPTH} deep, too deep for Z3")));
        }
        let asts: Vec<Ast> = children.iter().map(|child| child.ast).collect();
        Ok(Entry { ast: self.apply(context, pool, term, &asts)?, linear, depth })
    }

    /// The expression of `term` over those of its children.
    fn apply(&mut self, context: &Context, pool: &TermPool, term: Term, asts: &[Ast]) -> Result<Ast, Why> {
        let binary = |operator| context.binary(operator, asts[0], asts[1]);
        match pool.node(term) {
            Node::Value(value) => constant(context, value),
            Node::Var(var) => self.constant(context, *var, pool.var_info(*var).sort),
            Node::Not(_) => context.not(asts[0]),
            Node::And(_) => context.many(Many::And, asts),
            Node::Or(_) => context.many(Many::Or, asts),
            Node::Eq(..) => binary(Binary::Eq),
            Node::Lt(..) => binary(Binary::Lt),
            Node::Le(..) => binary(Binary::Le),
            Node::Ite(..) => context.ite(asts[0], asts[1], asts[2]),
            Node::Add(_) => context.many(Many::Add, asts),
            Node::Mul(_) => context.many(Many::Mul, asts),
            Node::Div(_, divisor) => {
                let zero = context.int(0)?;
                total(context, pool, *divisor, asts[1], zero, zero, binary(Binary::Div)?)
            }
            Node::Rem(_, divisor) => {
                let zero = context.int(0)?;
                total(context, pool, *divisor, asts[1], zero, asts[0], binary(Binary::Mod)?)
            }
            Node::RealDiv(_, divisor) => {
                let zero = context.number("0", Sort::Real)?;
                total(context, pool, *divisor, asts[1], zero, zero, binary(Binary::Div)?)
            }
            Node::ToReal(_) => context.unary(Unary::ToReal, asts[0]),
            Node::Floor(_) => context.unary(Unary::ToInt, asts[0]),
            Node::Concat(_) => context.many(Many::Concat, asts),
            Node::Length(_) => context.unary(Unary::Length, asts[0]),
            Node::Contains(..) => binary(Binary::Contains),
            Node::Prefix(..) => binary(Binary::Prefix),
            Node::Suffix(..) => binary(Binary::Suffix),
            Node::Matches(_, pattern) => {
                let re = regex::read(&pool.pattern_info(*pattern).text).map_err(Why::Error)?;
                context.binary(Binary::InRegex, asts[0], regular(context, &re)?)
            }
            Node::Exists(vars, _) => self.exists(context, pool, vars, asts[0]),
            Node::Construct(..) | Node::Is(..) | Node::Select { .. } | Node::Elements(..) => {
                Err(Why::Error("data terms must be made scalar before Z3 sees them".into()))
            }
            Node::Apply(..) | Node::Lambda(..) | Node::Call(..) => {
                Err(Why::Error("operations on collections must be resolved before Z3 sees them".into()))
            }
        }
    }

    fn exists(&mut self, context: &Context, pool: &TermPool, vars: &[VarId], body: Ast) -> Result<Ast, Why> {
        let mut parts = vec![body];
        let mut bound = Vec::with_capacity(vars.len());
        for &var in vars {
            let sort = pool.var_info(var).sort;
            bound.push(self.constant(context, var, sort)?);
            parts.extend(self.domain(context, var, sort)?);
        }
        let body = if let [only] = *parts { only } else { context.many(Many::And, &parts)? };
        context.exists(&bound, body)
    }
}

/// Z3 leaves division by zero open; here it is `otherwise`.
fn total(
    context: &Context,
    pool: &TermPool,
    divisor: Term,
    divisor_ast: Ast,
    zero: Ast,
    otherwise: Ast,
    quotient: Ast,
) -> Result<Ast, Why> {
    if pool.as_value(divisor).and_then(Value::to_rational).is_some_and(|n| !n.is_zero()) {
        return Ok(quotient);
    }
    let is_zero = context.binary(Binary::Eq, divisor_ast, zero)?;
    context.ite(is_zero, otherwise, quotient)
}

fn constant(context: &Context, value: &Value) -> Result<Ast, Why> {
    match value {
        Value::Bool(b) => context.bool(*b),
        Value::Int(n) => match n.to_i64() {
            Some(small) => context.int(small),
            None => context.number(&n.to_string(), Sort::Int),
        },
        Value::Real(n) => context.number(&format!("{}/{}", n.numer(), n.denom()), Sort::Real),
        Value::Str(text) => context.string(&escape(text).map_err(Why::Error)?),
        Value::Data(_) | Value::Collection(_) => {
            Err(Why::Error("data terms must be made scalar before Z3 sees them".into()))
        }
    }
}

/// The regular expression as Z3 writes it; depth is bounded by the pattern parser.
fn regular(context: &Context, re: &Re) -> Result<Ast, Why> {
    let text = |text: &str| context.string(&escape(text).map_err(Why::Error)?);
    let all = |list: &[Re]| list.iter().map(|re| regular(context, re)).collect::<Result<Vec<_>, _>>();
    match re {
        Re::Text(literal) => context.unary(Unary::Regex, text(literal)?),
        Re::Chars(ranges) => {
            let range = |&(lo, hi): &(char, char)| {
                context.binary(Binary::CharRange, text(&lo.to_string())?, text(&hi.to_string())?)
            };
            union(context, &ranges.iter().map(range).collect::<Result<Vec<_>, _>>()?)
        }
        Re::Concat(list) => match *all(list)? {
            [] => context.unary(Unary::Regex, text("")?),
            [only] => Ok(only),
            ref parts => context.many(Many::RegexConcat, parts),
        },
        Re::Union(list) => union(context, &all(list)?),
        Re::Repeat { inner, min, max } => repeat(context, regular(context, inner)?, *min, *max),
    }
}

fn union(context: &Context, parts: &[Ast]) -> Result<Ast, Why> {
    match *parts {
        [] => context.regex_nothing(),
        [only] => Ok(only),
        _ => context.many(Many::RegexUnion, parts),
    }
}

fn repeat(context: &Context, inner: Ast, min: u32, max: Option<u32>) -> Result<Ast, Why> {
    match (min, max) {
        (_, Some(0)) => context.unary(Unary::Regex, context.string("")?),
        (_, Some(max)) => context.regex_loop(inner, min, max),
        (0, None) => context.unary(Unary::Star, inner),
        (min, None) => {
            let first = context.regex_loop(inner, min, min)?;
            let rest = context.unary(Unary::Star, inner)?;
            context.many(Many::RegexConcat, &[first, rest])
        }
    }
}

/// Whether the operator at the top of `term` belongs to linear integer arithmetic.
fn is_linear(pool: &TermPool, term: Term) -> bool {
    let constant = |t: Term| pool.as_value(t).is_some();
    let whole = matches!(pool.sort(term).base(), Sort::Bool | Sort::Int);
    let operator = match pool.node(term) {
        Node::Mul(list) => list.iter().filter(|&&factor| !constant(factor)).count() <= 1,
        Node::Div(_, b) | Node::Rem(_, b) => constant(*b),
        Node::Exists(..) | Node::Length(_) | Node::Floor(_) => false,
        _ => true,
    };
    whole && operator
}
