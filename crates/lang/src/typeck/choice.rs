//! Typing of `if`, `match`, `exists` and `forall`.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::pattern::PatternCase;
use super::{BoundName, Checker, SortRole};
use crate::ast::{Expr, ExprKind, MatchArm, Name, Quantifier};
use crate::sink::Reported;

impl Checker<'_, '_> {
    /// `if c then a else if d then b else e`, the cases tried in order.
    pub(super) fn check_conditional(
        &mut self,
        arms: &[(Expr, Expr)],
        otherwise: &Expr,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        let conditions: Vec<Result<Term, Reported>> = arms
            .iter()
            .map(|(condition, _)| self.check(condition, Sort::Bool, SortRole::Condition))
            .collect();
        let exprs: Vec<&Expr> = arms.iter().map(|(_, value)| value).chain([otherwise]).collect();
        // A condition with an error counts as true for the obligations; the error is reported anyway.
        let reached = conditions.iter().map(|condition| condition.ok()).chain([None]).collect::<Vec<_>>();
        let values = self.check_cases(&exprs, &reached, hint)?;
        let conditions: Vec<Term> = conditions.into_iter().collect::<Result<_, _>>()?;
        Ok(self.first_case(&conditions, &values))
    }

    /// Returns the value of the first case whose condition holds; the last case has no condition.
    fn first_case(&mut self, conditions: &[Term], values: &[Term]) -> Term {
        let (&last, before) = values.split_last().expect("a choice has a case");
        conditions
            .iter()
            .zip(before)
            .rev()
            .fold(last, |other, (&condition, &value)| self.pool.ite(condition, value, other))
    }

    /// Returns the terms of the cases of a choice, all of one sort; the obligations of each count only if its condition
    /// holds and none before it does.
    fn check_cases(
        &mut self,
        exprs: &[&Expr],
        conditions: &[Option<Term>],
        hint: Option<Sort>,
    ) -> Result<Vec<Term>, Reported> {
        let (terms, obligations) = self.alike_apart(exprs, hint, false);
        self.oblige_cases(conditions, obligations);
        terms
    }

    fn oblige_cases(&mut self, conditions: &[Option<Term>], mut obligations: Vec<Vec<Term>>) {
        if obligations.iter().all(Vec::is_empty) {
            return;
        }
        // The case counts only if its own condition holds (here) and none before it did (`oblige_in_turn`).
        let mut passed = Vec::with_capacity(conditions.len());
        for (condition, own) in conditions.iter().zip(&mut obligations) {
            let condition = condition.unwrap_or_else(|| self.pool.tt());
            own.iter_mut().for_each(|obligation| *obligation = self.pool.implies(condition, *obligation));
            passed.push(self.pool.not(condition));
        }
        self.oblige_in_turn(&passed, obligations);
    }

    /// `match e { pattern => value, ... }`.
    pub(super) fn match_expr(
        &mut self,
        scrutinee: &Expr,
        arms: &[MatchArm],
        span: Span,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        let value = self.infer(scrutinee, None)?;
        let sort = self.pool.sort(value);
        let cases: Vec<Result<PatternCase, Reported>> =
            arms.iter().map(|arm| self.case(&arm.pattern, sort, scrutinee.span)).collect();
        let cases: Vec<PatternCase> = cases.into_iter().collect::<Result<_, _>>()?;
        self.check_reachable(arms, &cases)?;
        self.check_complete(&cases, sort, span)?;
        let conditions: Vec<Term> = cases.iter().map(|case| self.case_condition(case, value)).collect();
        let values = self.arm_values(arms, &cases, &conditions, (value, scrutinee), hint)?;
        // The cases are complete, so the last one needs no condition.
        let before = &conditions[..conditions.len() - 1];
        Ok(self.first_case(before, &values))
    }

    /// The values of the arms. Names bound by patterns are bound while their arm is read.
    fn arm_values(
        &mut self,
        arms: &[MatchArm],
        cases: &[PatternCase],
        conditions: &[Term],
        (value, scrutinee): (Term, &Expr),
        hint: Option<Sort>,
    ) -> Result<Vec<Term>, Reported> {
        // Without names, all arms can be typed together, those first that tell the sort of the others. With
        // names each arm is typed alone, in the order of the text, because its names are bound for it only.
        let binds = arms.iter().any(|arm| arm.pattern.names().next().is_some());
        let exprs: Vec<&Expr> = arms.iter().map(|arm| &arm.value).collect();
        if !binds {
            let conditions: Vec<Option<Term>> = conditions.iter().copied().map(Some).collect();
            return self.check_cases(&exprs, &conditions, hint);
        }
        let mut values = Vec::with_capacity(arms.len());
        let mut obligations = Vec::with_capacity(arms.len());
        let mut sort = hint;
        for (arm, case) in arms.iter().zip(cases) {
            let bound = self.bind_pattern(&arm.pattern, case, value, scrutinee);
            let mark = self.obligations.len();
            let term = self.infer(&arm.value, sort);
            obligations.push(self.obligations.split_off(mark));
            self.bound.truncate(bound);
            let term = term?;
            sort = sort.or(Some(self.pool.sort(term).base()));
            values.push((term, arm.value.span));
        }
        let conditions: Vec<Option<Term>> = conditions.iter().copied().map(Some).collect();
        self.oblige_cases(&conditions, obligations);
        let is_real = values.iter().any(|(term, _)| self.pool.sort(*term) == Sort::Real);
        let all: Vec<Term> = values.iter().map(|(term, _)| *term).collect();
        let first = self.pool.sort(values[0].0).base();
        let sort = if is_real { Sort::Real } else { self.common_sort(&all).unwrap_or(first) };
        let terms: Vec<Result<Term, Reported>> =
            values.iter().map(|(term, span)| self.coerce(*term, *span, sort, SortRole::Arm)).collect();
        terms.into_iter().collect()
    }

    fn check_reachable(&mut self, arms: &[MatchArm], cases: &[PatternCase]) -> Result<(), Reported> {
        let mut seen: FxHashMap<&PatternCase, Span> = FxHashMap::default();
        let mut any: Option<Span> = None;
        for (arm, case) in arms.iter().zip(cases) {
            let span = arm.pattern.span;
            // Only what is certain without a solver: the same pattern again, or anything behind one that
            // takes everything.
            if let Some(earlier) = any.or_else(|| seen.get(case).copied()) {
                return Err(self.sink.error(|| {
                    Diagnostic::new(Code::UnreachableArm, span, "this case can never be taken")
                        .label(earlier, "this case takes its values")
                        .help("remove it")
                }));
            }
            if *case == PatternCase::Any {
                any = Some(span);
            }
            if *case == PatternCase::AtLeast(0) {
                any = Some(span);
            }
            seen.insert(case, span);
        }
        Ok(())
    }

    fn check_complete(&mut self, cases: &[PatternCase], sort: Sort, span: Span) -> Result<(), Reported> {
        if cases.contains(&PatternCase::Any) {
            return Ok(());
        }
        let missing: Vec<String> = match sort {
            Sort::Data(data) => {
                let ctors = self.pool.data(data).ctors.iter().enumerate();
                let named: FxHashSet<&PatternCase> = cases.iter().collect();
                let is_missing =
                    |at: usize| !named.contains(&PatternCase::Ctor(u32::try_from(at).unwrap_or(0)));
                ctors.filter(|(at, _)| is_missing(*at)).map(|(_, ctor)| ctor.name.to_string()).collect()
            }
            Sort::Bool => {
                let is_missing = |b: &bool| !cases.contains(&PatternCase::Value(Value::Bool(*b)));
                [true, false].into_iter().filter(is_missing).map(|b| b.to_string()).collect()
            }
            Sort::Range { lo, hi } => {
                let n_values = i128::from(hi) - i128::from(lo) + 1;
                let in_range = |case: &&PatternCase| match case {
                    PatternCase::Value(Value::Int(n)) => n.to_i64().is_some_and(|n| lo <= n && n <= hi),
                    _ => false,
                };
                // Patterns are all different by now, so counting them is enough.
                if cases.iter().filter(in_range).count() as i128 == n_values {
                    vec![]
                } else {
                    vec!["_".into()]
                }
            }
            Sort::Collection(_) => missing_lists(cases),
            Sort::Int | Sort::Real | Sort::Str => vec!["_".into()],
        };
        if missing.is_empty() && !cases.is_empty() {
            return Ok(());
        }
        Err(self.sink.error(|| {
            let shown: Vec<&str> = missing.iter().take(5).map(String::as_str).collect();
            let more = if missing.len() > 5 { ", ..." } else { "" };
            let message = format!("the match lacks a case for `{}`{more}", shown.join("`, `"));
            Diagnostic::new(Code::MissingArm, span, message)
                .help("end it with `_ => ...` for all other values")
        }))
    }

    /// `exists i in lo..hi: body`, both bounds constant and included.
    pub(super) fn check_quantifier(
        &mut self,
        quantifier: Quantifier,
        var: &Name,
        bounds: [&Expr; 2],
        body: &Expr,
    ) -> Result<Term, Reported> {
        let [lo, hi] = bounds.map(|bound| self.bound_value(bound));
        if let (Ok(lo), Ok(hi)) = (lo, hi)
            // In the goals of a system the index may have to be a constant; then every number is written out.
            && let Some(written) = self.written_out(quantifier, var, (lo, hi), body)
        {
            return written;
        }
        // With a wrong bound the body is checked all the same, for its own errors.
        let sort = match (lo, hi) {
            (Ok(lo), Ok(hi)) if lo <= hi => Sort::Range { lo, hi },
            _ => Sort::Int,
        };
        let mark = self.obligations.len();
        let quantified = self.quantify(quantifier, var, sort, body);
        let (lo, hi, quantified) = (lo?, hi?, quantified?);
        // Over nothing the body is never evaluated, so it obliges nothing.
        if lo > hi {
            self.obligations.truncate(mark);
            return Ok(self.pool.bool(quantifier == Quantifier::Forall));
        }
        Ok(quantified)
    }

    /// A quantifier over all values of `sort`.
    pub(super) fn quantify(
        &mut self,
        quantifier: Quantifier,
        var: &Name,
        sort: Sort,
        body: &Expr,
    ) -> Result<Term, Reported> {
        self.warn_if_hidden(var);
        let (bound, term) = self.pool.declare_term(&var.text, sort);
        self.bound.push(BoundName { name: var.text.clone(), term, part_of: None });
        let mark = self.obligations.len();
        let condition = self.check(body, Sort::Bool, SortRole::Condition);
        self.bound.pop();
        // The body is asked of every value, so it has to be defined for each of them.
        for index in mark..self.obligations.len() {
            self.obligations[index] = self.pool.forall(&[bound], self.obligations[index]);
        }
        let condition = condition?;
        Ok(match quantifier {
            Quantifier::Exists => self.pool.exists(&[bound], condition),
            Quantifier::Forall => self.pool.forall(&[bound], condition),
        })
    }

    /// Returns the basic type that `of` names, as in `exists k in int: p`; `None` if it names a value, or something
    /// else.
    pub(super) fn basic_type(&self, of: &Expr) -> Option<Sort> {
        let ExprKind::Name(name) = &of.kind else { return None };
        let sort = match name.as_str() {
            "bool" => Sort::Bool,
            "int" => Sort::Int,
            "real" => Sort::Real,
            "string" => Sort::Str,
            _ => return None,
        };
        let is_bound = self.bound.iter().any(|bound| bound.name == *name);
        let is_field = self.message.as_ref().is_some_and(|message| message.fields.get(name).is_some());
        let is_value =
            is_bound || is_field || self.params.contains_key(name) || self.values.get(name).is_some();
        (!is_value).then_some(sort)
    }

    /// Warns that a bound name hides another one.
    pub(super) fn warn_if_hidden(&mut self, name: &Name) {
        let hidden = self.values.get(&name.text).map(|entry| entry.span);
        let field =
            self.message.as_ref().and_then(|message| message.fields.get(&name.text)).map(|field| field.span);
        if let Some(hidden) = field.or(hidden) {
            let message = format!("`{}` hides another `{0}`", name.text);
            self.sink.push(Diagnostic::new(Code::Shadowing, name.span, message).label(hidden, "hidden here"));
        }
    }
}

/// Returns patterns for the lists that no case matches: the lengths below the least that some `[.., ..rest]` matches,
/// or `_` if there is no such case.
fn missing_lists(cases: &[PatternCase]) -> Vec<String> {
    let open = cases
        .iter()
        .filter_map(|case| if let PatternCase::AtLeast(n) = case { Some(*n) } else { None })
        .min();
    let Some(open) = open else { return vec!["_".into()] };
    let lengths = (0..open).filter(|n| !cases.contains(&PatternCase::Exactly(*n)));
    lengths.map(|n| format!("[{}]", vec!["_"; n].join(", "))).collect()
}
