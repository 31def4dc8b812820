//! Translation of terms to Z3 expressions, each once per context, without recursion.

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use super::context::{BinaryOp, NaryOp, UnaryOp, Z3Ast, Z3Context};
use crate::regex::{self, RegexTree};
use crate::smtlib::SmtInexpressible;
use crate::smtlib::write::escape_string;
use crate::solver::UnknownReason;

/// The translations made so far.
#[derive(Debug, Default)]
pub(super) struct TranslationMemo {
    terms: FxHashMap<Term, TranslatedTerm>,
    vars: FxHashMap<VarId, Z3Ast>,
    domains: FxHashMap<VarId, Z3Ast>,
}

/// The depth beyond which terms are refused: Z3 gets slow on them, and may run out of stack. Chosen by feel.
const MAX_DEPTH: u32 = 5_000;

/// The expression of a term; `linear` says that it is linear arithmetic over integers and truth values.
#[derive(Clone, Copy, Debug)]
struct TranslatedTerm {
    ast: Z3Ast,
    linear: bool,
    depth: u32,
}

impl TranslationMemo {
    /// Returns the number of translated terms.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The Z3 constant of `var`.
    pub(super) fn variable_constant(
        &mut self,
        context: &Z3Context,
        var: VarId,
        sort: Sort,
    ) -> Result<Z3Ast, UnknownReason> {
        if let Some(&ast) = self.vars.get(&var) {
            return Ok(ast);
        }
        let ast = context.constant(var.index(), sort)?;
        self.vars.insert(var, ast);
        Ok(ast)
    }

    /// Returns the range constraint of `var`; `None` if its sort has no range.
    pub(super) fn domain_constraint(
        &mut self,
        context: &Z3Context,
        var: VarId,
        sort: Sort,
    ) -> Result<Option<Z3Ast>, UnknownReason> {
        let Sort::Range { lo, hi } = sort else { return Ok(None) };
        if let Some(&ast) = self.domains.get(&var) {
            return Ok(Some(ast));
        }
        let constant = self.variable_constant(context, var, sort)?;
        let above = context.binary(BinaryOp::Le, context.int(lo)?, constant)?;
        let below = context.binary(BinaryOp::Le, constant, context.int(hi)?)?;
        let ast = context.nary(NaryOp::And, &[above, below])?;
        self.domains.insert(var, ast);
        Ok(Some(ast))
    }

    /// Returns the expression of `term`, and true if it is linear integer arithmetic.
    pub(super) fn translate(
        &mut self,
        context: &Z3Context,
        pool: &TermPool,
        term: Term,
    ) -> Result<(Z3Ast, bool), UnknownReason> {
        // Children come before their parents, and what is translated already is not entered.
        for sub in pool.subterms(&[term], |sub| !self.terms.contains_key(&sub)) {
            if !self.terms.contains_key(&sub) {
                let entry = self.translate_one(context, pool, sub)?;
                self.terms.insert(sub, entry);
            }
        }
        let entry = self.lookup_translation(term)?;
        Ok((entry.ast, entry.linear))
    }

    fn lookup_translation(&self, term: Term) -> Result<TranslatedTerm, UnknownReason> {
        self.terms
            .get(&term)
            .copied()
            .ok_or_else(|| UnknownReason::Error("a subterm was not translated".into()))
    }

    fn translate_one(
        &mut self,
        context: &Z3Context,
        pool: &TermPool,
        term: Term,
    ) -> Result<TranslatedTerm, UnknownReason> {
        let children = pool
            .node(term)
            .children()
            .map(|child| self.lookup_translation(child))
            .collect::<Result<Vec<_>, _>>()?;
        // Kept with the term: deciding it again would walk all of it for every assertion.
        let linear = children.iter().all(|child| child.linear) && is_linear(pool, term);
        let depth = children.iter().map(|child| child.depth + 1).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            return Err(UnknownReason::Error(format!(
                "a fact is nested more than {MAX_DEPTH} deep, too deep for Z3"
            )));
        }
        let asts: Vec<Z3Ast> = children.iter().map(|child| child.ast).collect();
        Ok(TranslatedTerm { ast: self.apply_operator(context, pool, term, &asts)?, linear, depth })
    }

    /// The expression of `term` over those of its children.
    fn apply_operator(
        &mut self,
        context: &Z3Context,
        pool: &TermPool,
        term: Term,
        asts: &[Z3Ast],
    ) -> Result<Z3Ast, UnknownReason> {
        let binary = |operator| context.binary(operator, asts[0], asts[1]);
        match pool.node(term) {
            TermNode::Value(value) => constant_term(context, value),
            TermNode::Var(var) => self.variable_constant(context, *var, pool.var_info(*var).sort),
            TermNode::Not(_) => context.not(asts[0]),
            TermNode::And(_) => context.nary(NaryOp::And, asts),
            TermNode::Or(_) => context.nary(NaryOp::Or, asts),
            TermNode::Eq(..) => binary(BinaryOp::Eq),
            TermNode::Lt(..) => binary(BinaryOp::Lt),
            TermNode::Le(..) => binary(BinaryOp::Le),
            TermNode::Ite(..) => context.ite(asts[0], asts[1], asts[2]),
            TermNode::Add(_) => context.nary(NaryOp::Add, asts),
            TermNode::Mul(_) => context.nary(NaryOp::Mul, asts),
            TermNode::Div(_, divisor) => {
                // Division by zero is 0 and the remainder is the dividend, as in the evaluator; Z3 would choose any
                // value.
                let zero = context.int(0)?;
                Z3Division { divisor: (*divisor, asts[1]), zero, quotient: binary(BinaryOp::Div)? }
                    .make_total(context, pool, zero)
            }
            TermNode::Rem(_, divisor) => {
                let zero = context.int(0)?;
                Z3Division { divisor: (*divisor, asts[1]), zero, quotient: binary(BinaryOp::Mod)? }
                    .make_total(context, pool, asts[0])
            }
            TermNode::RealDiv(_, divisor) => {
                let zero = context.make_number("0", Sort::Real)?;
                Z3Division { divisor: (*divisor, asts[1]), zero, quotient: binary(BinaryOp::Div)? }
                    .make_total(context, pool, zero)
            }
            TermNode::ToReal(_) => context.unary(UnaryOp::ToReal, asts[0]),
            TermNode::Floor(_) => context.unary(UnaryOp::ToInt, asts[0]),
            TermNode::Concat(_) => context.nary(NaryOp::Concat, asts),
            TermNode::Length(_) => context.unary(UnaryOp::Length, asts[0]),
            TermNode::Contains(..) => binary(BinaryOp::Contains),
            TermNode::Prefix(..) => binary(BinaryOp::Prefix),
            TermNode::Suffix(..) => binary(BinaryOp::Suffix),
            TermNode::TextLe(..) => binary(BinaryOp::TextLe),
            TermNode::Matches(_, pattern) => {
                let re = regex::read_pattern(pool, &pool.pattern_info(*pattern).text)
                    .map_err(SmtInexpressible::from)?;
                context.binary(BinaryOp::InRegex, asts[0], translate_regex(context, &re)?)
            }
            TermNode::Exists(vars, _) => self.translate_exists(context, pool, vars, asts[0]),
            TermNode::Construct(..) | TermNode::Is(..) | TermNode::Select { .. } | TermNode::Elements(..) => {
                Err(UnknownReason::Error("data terms must be made scalar before Z3 sees them".into()))
            }
            TermNode::Apply(..) | TermNode::Lambda(..) | TermNode::Call(..) => Err(UnknownReason::Error(
                "operations on collections must be resolved before Z3 sees them".into(),
            )),
        }
    }

    fn translate_exists(
        &mut self,
        context: &Z3Context,
        pool: &TermPool,
        vars: &[VarId],
        body: Z3Ast,
    ) -> Result<Z3Ast, UnknownReason> {
        let mut parts = vec![body];
        let mut bound = Vec::with_capacity(vars.len());
        for &var in vars {
            let sort = pool.var_info(var).sort;
            // Z3 binds the constant itself. A bound variable of a range carries its limits into the body, as
            // declarations do outside.
            bound.push(self.variable_constant(context, var, sort)?);
            parts.extend(self.domain_constraint(context, var, sort)?);
        }
        let body = if let [only] = *parts { only } else { context.nary(NaryOp::And, &parts)? };
        context.exists(&bound, body)
    }
}

/// A quotient or remainder of Z3, which has an arbitrary value at divisor zero.
struct Z3Division {
    divisor: (Term, Z3Ast),
    /// The zero of the divisor's sort.
    zero: Z3Ast,
    quotient: Z3Ast,
}

impl Z3Division {
    /// Returns the division made total: `otherwise` if the divisor is zero.
    fn make_total(
        self,
        context: &Z3Context,
        pool: &TermPool,
        otherwise: Z3Ast,
    ) -> Result<Z3Ast, UnknownReason> {
        let (divisor, divisor_ast) = self.divisor;
        if pool.as_value(divisor).and_then(Value::to_rational).is_some_and(|n| !n.is_zero()) {
            return Ok(self.quotient);
        }
        let is_zero = context.binary(BinaryOp::Eq, divisor_ast, self.zero)?;
        context.ite(is_zero, otherwise, self.quotient)
    }
}

/// Returns a value as a term of Z3.
fn constant_term(context: &Z3Context, value: &Value) -> Result<Z3Ast, UnknownReason> {
    match value {
        Value::Bool(b) => context.bool(*b),
        Value::Int(n) => match n.to_i64() {
            Some(small) => context.int(small),
            None => context.make_number(&n.to_string(), Sort::Int),
        },
        // As a fraction: decimals would be rounded.
        Value::Real(n) => context.make_number(&format!("{}/{}", n.numer(), n.denom()), Sort::Real),
        Value::Str(text) => context.string(&escape_string(text)?),
        Value::Data(_) | Value::Collection(_) => {
            Err(UnknownReason::Error("data terms must be made scalar before Z3 sees them".into()))
        }
    }
}

/// Returns the Z3 regular expression; recursion is bounded by the pattern parser.
fn translate_regex(context: &Z3Context, re: &RegexTree) -> Result<Z3Ast, UnknownReason> {
    let text = |text: &str| context.string(&escape_string(text)?);
    let all = |list: &[RegexTree]| {
        list.iter().map(|re| translate_regex(context, re)).collect::<Result<Vec<_>, _>>()
    };
    match re {
        RegexTree::Text(literal) => context.unary(UnaryOp::Regex, text(literal)?),
        RegexTree::Chars(ranges) => {
            let range = |&(lo, hi): &(char, char)| {
                context.binary(BinaryOp::CharRange, text(&lo.to_string())?, text(&hi.to_string())?)
            };
            regex_union(context, &ranges.iter().map(range).collect::<Result<Vec<_>, _>>()?)
        }
        RegexTree::Concat(list) => match *all(list)? {
            [] => context.unary(UnaryOp::Regex, text("")?),
            [only] => Ok(only),
            ref parts => context.nary(NaryOp::RegexConcat, parts),
        },
        RegexTree::Union(list) => regex_union(context, &all(list)?),
        RegexTree::Repeat { inner, min, max } => {
            regex_repeat(context, translate_regex(context, inner)?, *min, *max)
        }
    }
}

fn regex_union(context: &Z3Context, parts: &[Z3Ast]) -> Result<Z3Ast, UnknownReason> {
    match *parts {
        [] => context.regex_nothing(),
        [only] => Ok(only),
        _ => context.nary(NaryOp::RegexUnion, parts),
    }
}

fn regex_repeat(
    context: &Z3Context,
    inner: Z3Ast,
    min: u32,
    max: Option<u32>,
) -> Result<Z3Ast, UnknownReason> {
    match (min, max) {
        // Repeated no time: only the empty text. Z3 reads a loop with the upper bound 0 as one without.
        (_, Some(0)) => context.unary(UnaryOp::Regex, context.string("")?),
        (_, Some(max)) => context.regex_loop(inner, min, max),
        (0, None) => context.unary(UnaryOp::Star, inner),
        // At least `min` times: that many, then any number more.
        (min, None) => {
            let first = context.regex_loop(inner, min, min)?;
            let rest = context.unary(UnaryOp::Star, inner)?;
            context.nary(NaryOp::RegexConcat, &[first, rest])
        }
    }
}

/// Returns whether the operator at the top of `term` belongs to linear integer arithmetic.
fn is_linear(pool: &TermPool, term: Term) -> bool {
    let constant = |t: Term| pool.as_value(t).is_some();
    // One factor may vary. Lengths and floors are whole numbers of terms that are not.
    let whole = matches!(pool.sort(term).base(), Sort::Bool | Sort::Int);
    let operator = match pool.node(term) {
        TermNode::Mul(list) => list.iter().filter(|&&factor| !constant(factor)).count() <= 1,
        TermNode::Div(_, b) | TermNode::Rem(_, b) => constant(*b),
        TermNode::Exists(..) | TermNode::Length(_) | TermNode::Floor(_) => false,
        _ => true,
    };
    whole && operator
}
