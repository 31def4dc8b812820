//! Typing of names, literals and operators.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::value::Value;

use super::{Checker, ExprContext, SortRole, ValueItem, option_payload};
use crate::ast::{AddOp, CmpOp, Expr, ExprKind, MulOp, Name};
use crate::literal::{self, NumberLiteral};
use crate::sink::Reported;
use crate::suggest;

/// The number of factors after which a product of constants is checked for its size. Chosen by feel: often enough
/// that no product grows beyond what is computed before it is noticed.
const FACTORS_AT_ONCE: usize = 32;

impl Checker<'_, '_> {
    /// Returns the term of `expr`. `hint` is the sort that the context would like; it only decides the types of
    /// literals that have none of their own, such as `none`, and the caller checks the result.
    pub(crate) fn infer(&mut self, expr: &Expr, hint: Option<Sort>) -> Result<Term, Reported> {
        // Only a literal is compared part by part; what another expression computes from its parts has to be defined.
        self.is_compared &= is_literal(expr) || matches!(expr.kind, ExprKind::Paren(_) | ExprKind::Call(..));
        match &expr.kind {
            ExprKind::Error(why) => Err(*why),
            ExprKind::Bool(b) => Ok(self.pool.bool(*b)),
            ExprKind::Number(text) => self.check_number(text, expr.span),
            ExprKind::Str(text) => Ok(self.pool.value(Value::str(text))),
            ExprKind::None => self.check_none(expr.span, hint),
            ExprKind::Some(inner) => self.check_some(inner, hint),
            ExprKind::Name(name) => self.resolve_name(name, expr.span),
            ExprKind::Paren(inner) => self.infer(inner, hint),
            ExprKind::Not(inner) => {
                let inner = self.check(inner, Sort::Bool, SortRole::Operand("!"))?;
                Ok(self.pool.not(inner))
            }
            ExprKind::Neg(inner) => {
                let inner = self.numeric(inner, "-")?;
                Ok(self.pool.neg(inner))
            }
            ExprKind::Sum(first, rest) => self.check_sum(first, rest, expr.span, hint),
            ExprKind::Product(first, rest) => self.check_product(first, rest, expr.span),
            ExprKind::Compare(first, rest) => self.check_comparisons(first, rest),
            ExprKind::Is(value, case) => self.check_case_test(value, case),
            ExprKind::Range(lo, hi) => self.range_items(lo, hi, expr.span),
            ExprKind::And(list) => self.check_and(list),
            ExprKind::Or(list) => self.check_or(list),
            ExprKind::Implies(list) => self.check_implies(list),
            ExprKind::If(arms, otherwise) => self.check_conditional(arms, otherwise, hint),
            ExprKind::Match(scrutinee, arms) => self.match_expr(scrutinee, arms, expr.span, hint),
            ExprKind::Quantified { quantifier, var, lo, hi, body } => {
                self.check_quantifier(*quantifier, var, [lo, hi], body)
            }
            ExprKind::Over { word, var, of, body } => self.check_over(*word, var, of, body),
            ExprKind::Comprehension { set, item, var, of, keep } => {
                self.check_comprehension(*set, item, (var, of), keep.as_deref(), hint)
            }
            ExprKind::List(items) => self.list_literal(items, expr.span, hint),
            ExprKind::Set(items) => self.set_literal(items, expr.span, hint),
            ExprKind::Map(entries) => self.map_literal(entries, expr.span, hint),
            ExprKind::Index(receiver, key) => self.check_index(receiver, key),
            ExprKind::Call(name, args) => self.check_call(name, args, expr.span),
            ExprKind::Method(receiver, name, args) => self.check_method(receiver, name, args, expr.span),
            ExprKind::Field(receiver, name) => self.check_field(receiver, name),
        }
    }

    fn check_number(&mut self, text: &str, span: Span) -> Result<Term, Reported> {
        match literal::parse_number(text) {
            Ok(NumberLiteral::Int(n)) => Ok(self.pool.value(Value::Int(n))),
            Ok(NumberLiteral::Real(r)) => Ok(self.pool.value(Value::Real(r))),
            Err(wrong) => Err(self.sink.report(wrong.diagnostic(text, span))),
        }
    }

    fn check_none(&mut self, span: Span, hint: Option<Sort>) -> Result<Term, Reported> {
        if let Some(Sort::Data(data)) = hint
            && option_payload(self.pool.data(data)).is_some()
        {
            return Ok(self.pool.construct(data, 0, []));
        }
        let wanted = hint.map(|sort| self.pool.show_sort(sort));
        Err(self.sink.error(|| match wanted {
            Some(wanted) => {
                Diagnostic::new(Code::TypeMismatch, span, format!("expected {wanted}, found `none`"))
                    .help(format!("only a value of type `{wanted}?` may be missing"))
            }
            None => Diagnostic::new(Code::CannotInfer, span, "the type of this `none` is not known")
                .help("compare it with a variable, or give it to one"),
        }))
    }

    fn check_some(&mut self, inner: &Expr, hint: Option<Sort>) -> Result<Term, Reported> {
        let is_compared = self.takes_comparison();
        // The wanted option tells the sort of the value: its range obliges here.
        let payload = match hint {
            Some(Sort::Data(data)) => option_payload(self.pool.data(data)),
            _ => None,
        };
        let (term, sort) = match payload {
            Some(sort) => (self.literal_part(is_compared, inner, sort, SortRole::Payload)?, sort),
            None => {
                let term = self.infer(inner, None)?;
                (term, self.pool.sort(term).base())
            }
        };
        let option = self.option_of(sort);
        Ok(self.pool.construct(option, 1, [term]))
    }

    // Names.

    /// Resolves a name: bound ones first, then parameters, fields, and what the model declares. A field is not asked
    /// about in its own pin if the model declares the name: a field is always equal to itself.
    fn resolve_name(&mut self, name: &str, span: Span) -> Result<Term, Reported> {
        if let Some(bound) = self.bound.iter().rev().find(|bound| bound.name == name) {
            return Ok(bound.term);
        }
        if let Some(&var) = self.params.get(name) {
            return Ok(self.pool.var(var));
        }
        let means_outside = self.pinned.as_deref() == Some(name) && self.values.get(name).is_some();
        let field = self.message.as_ref().and_then(|message| message.fields.get(name));
        if let Some(field) = field.filter(|_| !means_outside) {
            return field.var.map(|var| self.pool.var(var));
        }
        // In `n = n + 1` the variable is read for its own update only, and may still be unused.
        let counts = self.assigned.as_deref() != Some(name);
        let entry = if counts { self.values.use_name(name) } else { self.values.get_mut(name) };
        let Some(entry) = entry else {
            return Err(self.unknown_name(name, span));
        };
        let declared = entry.span;
        match entry.item {
            ValueItem::Broken(why) => Err(why),
            ValueItem::LaterConst => Err(self.used_too_early(name, span)),
            ValueItem::Const(term) => Ok(term),
            ValueItem::Variant(data, ctor) => self.plain_variant(data, ctor, span),
            ValueItem::Var(var) if self.place.reads_variables() => Ok(self.pool.var(var)),
            ValueItem::Clock(var) if self.place.reads_clocks() => Ok(self.pool.var(var)),
            ValueItem::Var(_) | ValueItem::LaterVar => Err(self.not_in_scope(name, span, declared)),
            ValueItem::Clock(_) | ValueItem::LaterClock => {
                let place = self.place.describe();
                Err(self.sink.error(|| {
                    let message = format!("clock `{name}` cannot be read in {place}");
                    Diagnostic::new(Code::ClockOutsideGuard, span, message)
                        .label(declared, "a clock")
                        .help("clocks are compared in guards: `when w <= 1s`")
                }))
            }
        }
    }

    fn not_in_scope(&mut self, name: &str, span: Span, declared: Span) -> Reported {
        let place = self.place;
        self.sink.error(|| {
            let code = if place == ExprContext::Constant { Code::NotConstant } else { Code::NotInScope };
            let message = format!("variable `{name}` cannot be read in {}", place.describe());
            let diagnostic = Diagnostic::new(code, span, message).label(declared, "a variable");
            match place {
                ExprContext::Function => {
                    diagnostic.help(format!("pass it as an argument: add a parameter for `{name}`"))
                }
                ExprContext::Message => diagnostic.help(
                    "only fields of the message, constants and an observer's own variables are known there",
                ),
                _ => diagnostic.help("use a `const`"),
            }
        })
    }

    fn unknown_name(&mut self, name: &str, span: Span) -> Reported {
        let place = self.place;
        let Self { values, gates, states, functions, message, params, bound, sink, .. } = self;
        sink.missing(name, || {
            let name = Name { text: name.to_owned(), span };
            let owner = gates.iter().find(|(_, gate)| gate.item.fields.contains_key(&name.text));
            if let Some((gate, entry)) = owner
                && place == ExprContext::Constant
            {
                let text = format!("field `{}` of message `{gate}` is not constant", name.text);
                return Diagnostic::new(Code::NotConstant, span, text)
                    .label(entry.span, "declared with this message");
            }
            if let Some((gate, entry)) = owner {
                let text = format!("field `{}` of message `{gate}` cannot be read here", name.text);
                return Diagnostic::new(Code::NotInScope, span, text)
                    .label(entry.span, "declared with this message")
                    .help(
                        "a field is only known in transitions with its message; store the value in a variable",
                    );
            }
            let diagnostic =
                Diagnostic::new(Code::UnknownName, span, format!("there is no name `{}`", name.text));
            if functions.get(&name.text).is_some() {
                return diagnostic.note(format!("`{}` is a function: call it with `(...)`", name.text));
            }
            if states.get(&name.text).is_some() {
                return diagnostic.note(format!("`{}` is a state; states are not values", name.text));
            }
            if let Some(word) =
                ["true", "false", "none"].into_iter().find(|word| word.eq_ignore_ascii_case(&name.text))
            {
                return diagnostic.help(format!("did you mean `{word}`?")).fix(span, word);
            }
            let fields = message.iter().flat_map(|message| message.fields.keys()).map(String::as_str);
            let mut local: Vec<&str> = params.keys().map(String::as_str).collect();
            local.sort_unstable();
            let bound = bound.iter().map(|bound| bound.name.as_str());
            let candidates = fields.chain(bound).chain(local).chain(values.names());
            suggest::suggest_nearest(diagnostic, &name, candidates)
        })
    }

    // Arithmetic.

    /// The term of `expr`, which must be a number.
    fn numeric(&mut self, expr: &Expr, sign: &str) -> Result<Term, Reported> {
        let term = self.infer(expr, None)?;
        let sort = self.pool.sort(term);
        if sort.is_numeric() {
            return Ok(term);
        }
        Err(self.not_a_number(expr.span, sort, sign))
    }

    fn not_a_number(&mut self, span: Span, found: Sort, sign: &str) -> Reported {
        let found_text = self.pool.show_sort(found);
        let is_option = matches!(found, Sort::Data(data) if option_payload(self.pool.data(data)).is_some());
        self.sink.error(|| {
            let message = format!("`{sign}` needs numbers, this is {found_text}");
            let diagnostic = Diagnostic::new(Code::TypeMismatch, span, message)
                .caret(format!("expected a number, found {found_text}"));
            if is_option {
                diagnostic.help("the value may be missing: `match value { none => 0, some(x) => x }`")
            } else {
                diagnostic
            }
        })
    }

    /// Returns the term of a sum; `+` also joins texts and collections.
    fn check_sum(
        &mut self,
        first: &Expr,
        rest: &[(AddOp, Expr)],
        span: Span,
        hint: Option<Sort>,
    ) -> Result<Term, Reported> {
        // Other hints do not reach the operands: `1 + 2` is an `int`, also where a `real` is wanted.
        let hint = hint.filter(|&sort| matches!(sort, Sort::Collection(_)));
        let hint = match hint {
            Some(hint) => Some(hint),
            None => self.literal_hint(first, rest)?,
        };
        let first_term = self.infer(first, hint);
        if let Ok(term) = first_term {
            if let Some(of) = self.pool.collection_of(self.pool.sort(term)) {
                return self.collection_sum(term, of.kind, rest, span);
            }
            if self.pool.sort(term) == Sort::Str {
                return self.concatenation(term, rest, span);
            }
        }
        if let Err(reported) = first_term {
            // Its sort decides what `+` means, so the others are only read for findings of their own.
            for (_, operand) in rest {
                let _ = self.infer(operand, None);
            }
            return Err(reported);
        }
        let mut terms = vec![first_term.and_then(|term| self.require_number(term, first.span, "+"))];
        for (op, operand) in rest {
            let term = self.numeric(operand, if *op == AddOp::Add { "+" } else { "-" });
            terms.push(term.map(|term| if *op == AddOp::Add { term } else { self.pool.neg(term) }));
        }
        let mut terms: Vec<Term> = terms.into_iter().collect::<Result<_, _>>()?;
        if terms.iter().any(|&term| self.pool.sort(term) == Sort::Real) {
            terms.iter_mut().for_each(|term| *term = self.as_real(*term));
        }
        Ok(self.pool.add(terms))
    }

    /// Returns the sort of the leading literal in `[1] + xs`: that of the first operand that is no literal. `None` if
    /// the sum starts with no literal, or has literals only.
    fn literal_hint(&mut self, first: &Expr, rest: &[(AddOp, Expr)]) -> Result<Option<Sort>, Reported> {
        let is_literal = |expr: &Expr| {
            matches!(&without_brackets(expr).kind, ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_))
        };
        let other = rest.iter().map(|(_, expr)| expr).find(|expr| !is_literal(expr));
        let Some(other) = other.filter(|_| is_literal(first)) else { return Ok(None) };
        let mark = self.obligations.len();
        let term = self.infer(other, None)?;
        // It is read again where it stands.
        self.obligations.truncate(mark);
        Ok(Some(self.pool.sort(term)).filter(|sort| matches!(sort, Sort::Collection(_))))
    }

    fn require_number(&mut self, term: Term, span: Span, sign: &str) -> Result<Term, Reported> {
        let sort = self.pool.sort(term);
        if !sort.is_numeric() {
            return Err(self.not_a_number(span, sort, sign));
        }
        Ok(term)
    }

    /// `s + t`: strings one after the other.
    fn concatenation(&mut self, first: Term, rest: &[(AddOp, Expr)], span: Span) -> Result<Term, Reported> {
        let mut terms = vec![Ok(first)];
        for (op, operand) in rest {
            let term = self.check(operand, Sort::Str, SortRole::Operand("+"));
            if *op == AddOp::Sub {
                return Err(self.not_a_number(span, Sort::Str, "-"));
            }
            terms.push(term);
        }
        let terms: Vec<Term> = terms.into_iter().collect::<Result<_, _>>()?;
        let term = self.pool.concat(terms);
        self.check_term_size(term, span)
    }

    fn as_real(&mut self, term: Term) -> Term {
        if self.pool.sort(term) == Sort::Real { term } else { self.pool.to_real(term) }
    }

    /// Types a product from the left; runs of factors become one product.
    fn check_product(&mut self, first: &Expr, rest: &[(MulOp, Expr)], span: Span) -> Result<Term, Reported> {
        let first = self.numeric(first, "*");
        let mut operands = Vec::with_capacity(rest.len());
        for (op, operand) in rest {
            let sign = match op {
                MulOp::Mul => "*",
                MulOp::Div => "/",
                MulOp::Rem => "%",
            };
            operands.push((*op, self.numeric(operand, sign), operand.span));
        }
        let mut factors = vec![first?];
        for (op, term, place) in operands {
            let term = term?;
            if op == MulOp::Mul && factors.len() < FACTORS_AT_ONCE {
                factors.push(term);
                continue;
            }
            // A division ends the run of factors: `a * b / c * d` groups from the left. So does the limit, at
            // which the product is checked.
            let left = self.multiply(std::mem::take(&mut factors));
            let left = self.check_term_size(left, span)?;
            factors.push(self.divide(op, left, term, place)?);
        }
        let product = self.multiply(factors);
        self.check_term_size(product, span)
    }

    /// Returns the product; if one factor is real, all become real.
    fn multiply(&mut self, mut factors: Vec<Term>) -> Term {
        if factors.iter().any(|&term| self.pool.sort(term) == Sort::Real) {
            factors.iter_mut().for_each(|term| *term = self.as_real(*term));
        }
        if let [only] = factors[..] { only } else { self.pool.mul(factors) }
    }

    /// Returns a quotient, remainder or product; a divisor that is always zero is warned about.
    fn divide(&mut self, op: MulOp, left: Term, right: Term, span: Span) -> Result<Term, Reported> {
        let is_real = [left, right].iter().any(|&term| self.pool.sort(term) == Sort::Real);
        if op != MulOp::Mul
            && self.pool.as_value(right).and_then(Value::to_rational).is_some_and(|n| n.is_zero())
        {
            self.sink.push(
                Diagnostic::new(Code::DivisorMayBeZero, span, "the divisor is always zero")
                    .note("division is total: `x / 0` is 0 and `x % 0` is x"),
            );
        }
        match op {
            MulOp::Mul => Ok(self.multiply(vec![left, right])),
            MulOp::Div if is_real => {
                let (left, right) = (self.as_real(left), self.as_real(right));
                Ok(self.pool.real_div(left, right))
            }
            MulOp::Div => Ok(self.pool.div(left, right)),
            MulOp::Rem if is_real => {
                Err(self.report_mismatch(span, Sort::Int, Sort::Real, SortRole::Operand("%")))
            }
            MulOp::Rem => Ok(self.pool.rem(left, right)),
        }
    }

    // Comparison.

    /// Returns the term of a chain of comparisons: all of them must hold.
    fn check_comparisons(&mut self, first: &Expr, rest: &[(CmpOp, Expr)]) -> Result<Term, Reported> {
        let exprs: Vec<&Expr> = std::iter::once(first).chain(rest.iter().map(|(_, expr)| expr)).collect();
        // All operands of a chain have one sort, and each is typed once although it is compared twice.
        let (terms, obligations) = self.alike_apart(&exprs, None, true);
        self.obligations.extend(obligations.into_iter().flatten());
        let terms = terms?;
        let mut parts = Vec::with_capacity(rest.len());
        for (index, (op, expr)) in rest.iter().enumerate() {
            let place = exprs[index].span.to(expr.span);
            parts.push(self.compare_terms(*op, terms[index], terms[index + 1], place)?);
        }
        Ok(self.pool.and(parts))
    }

    /// Returns the term of one comparison; numbers and strings have an order.
    fn compare_terms(&mut self, op: CmpOp, a: Term, b: Term, span: Span) -> Result<Term, Reported> {
        let sort = self.pool.sort(a).base();
        let ordered = !matches!(op, CmpOp::Eq | CmpOp::Ne);
        if ordered && sort == Sort::Str {
            return Ok(match op {
                CmpOp::Lt => self.pool.text_lt(a, b),
                CmpOp::Gt => self.pool.text_lt(b, a),
                CmpOp::Ge => self.pool.text_le(b, a),
                CmpOp::Le | CmpOp::Eq | CmpOp::Ne => self.pool.text_le(a, b),
            });
        }
        if ordered && !sort.is_numeric() {
            let shown = self.pool.show_sort(sort);
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::NotComparable, span, format!("values of type {shown} have no order"))
                    .help("only numbers and strings can be compared with `<`, `<=`, `>` and `>=`")
            }));
        }
        Ok(match op {
            CmpOp::Eq => self.pool.eq(a, b),
            CmpOp::Ne => self.pool.ne(a, b),
            CmpOp::Lt => self.pool.lt(a, b),
            CmpOp::Le => self.pool.le(a, b),
            CmpOp::Gt => self.pool.gt(a, b),
            CmpOp::Ge => self.pool.ge(a, b),
        })
    }

    /// The terms of `exprs`, all of one base sort: `int` becomes `real` if one of them is
    /// `real`, and `none` and `some` take their type from the others.
    pub(crate) fn check_alike(&mut self, exprs: &[&Expr], hint: Option<Sort>) -> Result<Vec<Term>, Reported> {
        let (terms, obligations) = self.alike_apart(exprs, hint, false);
        self.obligations.extend(obligations.into_iter().flatten());
        terms
    }

    /// Returns the terms of [`alike`](Self::check_alike), with the obligations of each expression apart; literals among
    /// `exprs` may be only compared (see [`check_compared`](Self::check_compared)).
    pub(super) fn alike_apart(
        &mut self,
        exprs: &[&Expr],
        hint: Option<Sort>,
        is_compared: bool,
    ) -> (Result<Vec<Term>, Reported>, Vec<Vec<Term>>) {
        // Each expression is looked at once, first those that say what the others mean.
        let is_none = |expr: &Expr| match &without_brackets(expr).kind {
            ExprKind::None => true,
            ExprKind::List(items) | ExprKind::Set(items) => items.is_empty(),
            _ => false,
        };
        let mut order: Vec<usize> = (0..exprs.len()).collect();
        order.sort_by_key(|&at| (is_literal(without_brackets(exprs[at])), is_none(exprs[at])));
        let mut hint = hint;
        let mut found: Vec<Option<Result<Term, Reported>>> = vec![None; exprs.len()];
        let mut obligations: Vec<Vec<Term>> = vec![Vec::new(); exprs.len()];
        for at in order {
            let mark = self.obligations.len();
            self.is_compared = is_compared;
            let term = self.infer(exprs[at], hint);
            self.is_compared = false;
            found[at] = Some(term);
            obligations[at] = self.obligations.split_off(mark);
            hint = hint.or_else(|| term.ok().map(|term| self.pool.sort(term).base()));
        }
        let terms = found.into_iter().flatten().collect::<Result<Vec<Term>, Reported>>();
        (terms.and_then(|terms| self.one_sort(terms, exprs)), obligations)
    }

    fn one_sort(&mut self, mut terms: Vec<Term>, exprs: &[&Expr]) -> Result<Vec<Term>, Reported> {
        if terms.iter().any(|&term| self.pool.sort(term) == Sort::Real) {
            for term in &mut terms {
                if self.pool.sort(*term).base() == Sort::Int {
                    *term = self.pool.to_real(*term);
                }
            }
        }
        let Some(&first) = terms.first() else { return Ok(terms) };
        let first = self.pool.sort(first).base();
        let other = terms.iter().position(|&term| self.pool.sort(term).base() != first);
        let Some(other) = other else { return Ok(terms) };
        if let Some(sort) = self.common_sort(&terms) {
            let spans = exprs.iter().map(|expr| expr.span);
            let all = terms.into_iter().zip(spans);
            return all.map(|(term, span)| self.coerce(term, span, sort, SortRole::Item)).collect();
        }
        let (a, b) = (self.pool.show_sort(first), self.pool.show_sort(self.pool.sort(terms[other])));
        Err(self.sink.error(|| {
            Diagnostic::new(Code::TypeMismatch, exprs[other].span, format!("expected {a}, found {b}"))
                .label(exprs[0].span, format!("this is {a}"))
        }))
    }

    // Logic, evaluated from the left as far as needed.

    /// Returns the conjunction; an obligation of an operand counts only if those before it hold.
    fn check_and(&mut self, list: &[Expr]) -> Result<Term, Reported> {
        let terms = self.check_operands(list, "&&", |_, term| term)?;
        for (part, &term) in list.iter().zip(&terms) {
            self.pool.note_written(term, &crate::format::expr::expr_text(part));
        }
        Ok(self.pool.and(terms))
    }

    /// Returns the disjunction; an obligation of an operand counts only if those before it fail.
    fn check_or(&mut self, list: &[Expr]) -> Result<Term, Reported> {
        let terms = self.check_operands(list, "||", TermPool::not)?;
        Ok(self.pool.or(terms))
    }

    /// Returns the implication, grouped from the right.
    fn check_implies(&mut self, list: &[Expr]) -> Result<Term, Reported> {
        let mut terms = self.check_operands(list, "=>", |_, term| term)?;
        let Some(last) = terms.pop() else { return Ok(self.pool.tt()) };
        Ok(terms.into_iter().rev().fold(last, |right, left| self.pool.implies(left, right)))
    }

    /// Returns the operands of a chain; the obligations of each count only if every operand before it leaves the result
    /// open, as the formula of `passes` says.
    fn check_operands(
        &mut self,
        list: &[Expr],
        sign: &str,
        passes: impl Fn(&mut TermPool, Term) -> Term,
    ) -> Result<Vec<Term>, Reported> {
        let mut terms = Vec::with_capacity(list.len());
        let mut obligations = Vec::with_capacity(list.len());
        for expr in list {
            let mark = self.obligations.len();
            terms.push(self.check(expr, Sort::Bool, SortRole::Operand(sign)));
            obligations.push(self.obligations.split_off(mark));
        }
        let terms: Vec<Term> = terms.into_iter().collect::<Result<_, _>>()?;
        // Without obligations, the formulas of what was passed are not needed.
        if obligations.iter().any(|own| !own.is_empty()) {
            let passed: Vec<Term> = terms.iter().map(|&term| passes(&mut self.pool, term)).collect();
            self.oblige_in_turn(&passed, obligations);
        }
        Ok(terms)
    }

    /// Adds the obligations of parts that are evaluated in turn: those of a part count if all parts before it were
    /// `passed`. The formula is linear in the size of its inputs.
    pub(super) fn oblige_in_turn(&mut self, passed: &[Term], obligations: Vec<Vec<Term>>) {
        let mut later: Option<Term> = None;
        let mut pending: Vec<Term> = Vec::new();
        // From the last to the first, so that each condition is written once: `p1 => o2 && (p2 => o3 &&
        // ...)`. From the front, every obligation would repeat all conditions before it.
        for (&passed, own) in passed.iter().zip(obligations).rev() {
            if later.is_some() {
                pending.push(passed);
            }
            if own.is_empty() {
                continue;
            }
            let rest = later.map(|later| {
                let before = self.pool.and(pending.drain(..));
                self.pool.implies(before, later)
            });
            later = Some(self.pool.and(own.into_iter().chain(rest)));
        }
        if let Some(later) = later {
            let before = self.pool.and(pending);
            let obligation = self.pool.implies(before, later);
            self.obligations.extend((!self.pool.is_true(obligation)).then_some(obligation));
        }
    }
}

/// Returns whether `expr` is a literal that takes its type from what it is compared with.
fn is_literal(expr: &Expr) -> bool {
    matches!(
        &expr.kind,
        ExprKind::None | ExprKind::Some(_) | ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_)
    )
}

/// `expr` without brackets around it.
fn without_brackets(mut expr: &Expr) -> &Expr {
    while let ExprKind::Paren(inner) = &expr.kind {
        expr = inner;
    }
    expr
}
