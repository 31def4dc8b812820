//! The typing of value expressions, which become terms.
//!
//! Names are looked up in a [`Scope`], then among the functions. If several functions share a name, the sorts of the
//! arguments and the wanted sort choose.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{DataId, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{Substitution, Term, TermNode, TermOp, TermPool};
use ioxide_model::value::{DataValue, Value};

use super::overload::{PossibleSorts, choose_by_result, common_sorts, operand_sort, sorts_in_scope};
use super::tree::{FormulaKind, TxsExpr, TxsOperator, ValueBinding};
use super::words::{Callable, CallableKind, FunctionMeaning, LibraryFn, Vocabulary};
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};
use crate::{suggest, typeck};

/// The word for a value that may be any of its sort. It is a variable of this name in terms, and no name in a text.
pub(super) const ANY: &str = "ANY";

/// The terms of names in scope.
pub(super) type Scope = BTreeMap<String, Term>;

/// The state of typing expressions in a pool.
pub(super) struct Typing<'t> {
    pub(super) words: &'t Vocabulary,
    pub(super) pool: &'t mut TermPool,
    pub(super) sink: &'t mut FindingSink,
}

impl Typing<'_> {
    /// `formula` as a term of `sort`.
    pub(super) fn check(&mut self, formula: &TxsExpr, sort: Sort, scope: &Scope) -> Result<Term, Reported> {
        let term = self.infer(formula, Some(sort), scope)?;
        let found = self.pool.sort(term).base();
        if found == sort.base() {
            return Ok(term);
        }
        let (wanted, found) = (self.sort_name(sort), self.sort_name(found));
        Err(self.sink.error(|| {
            Diagnostic::new(
                Code::TypeMismatch,
                formula.span,
                format!("`{wanted}` is needed here, this is `{found}`"),
            )
        }))
    }

    /// Returns the name of `sort` in the text.
    pub(super) fn sort_name(&self, sort: Sort) -> String {
        let named = self.words.sorts.iter().find(|(_, known)| **known == sort);
        named.map_or_else(|| self.pool.show_sort(sort), |(name, _)| name.clone())
    }

    /// Returns `formula` as a term; `want` chooses if a choice is left.
    pub(super) fn infer(
        &mut self,
        formula: &TxsExpr,
        want: Option<Sort>,
        scope: &Scope,
    ) -> Result<Term, Reported> {
        let term = self.type_formula(formula, want, scope)?;
        // At every level, not only at the outermost one: functions are written into their calls, so a short
        // text may double a term with each level.
        if typeck::has_sane_size(self.pool, term) {
            return Ok(term);
        }
        Err(self
            .sink
            .error(|| Diagnostic::new(Code::TooLarge, formula.span, "this expression becomes too large")))
    }

    fn type_formula(
        &mut self,
        formula: &TxsExpr,
        want: Option<Sort>,
        scope: &Scope,
    ) -> Result<Term, Reported> {
        match &formula.kind {
            FormulaKind::Number(text) => match text.parse() {
                Ok(n) => Ok(self.pool.value(Value::Int(n))),
                Err(_) => self.report_error(Code::BadNumber, formula.span, "this number cannot be read"),
            },
            FormulaKind::Text(text) => Ok(self.pool.value(Value::str(text))),
            FormulaKind::Bool(b) => Ok(self.pool.bool(*b)),
            FormulaKind::Regex(_) => self.report_error(
                Code::TypeMismatch,
                formula.span,
                "a regular expression is an argument of `strinre` only",
            ),
            FormulaKind::Apply(name, args) => self.check_application(name, args, formula.span, want, scope),
            FormulaKind::Minus(inner) => {
                let inner = self.check(inner, Sort::Int, scope)?;
                Ok(self.pool.neg(inner))
            }
            FormulaKind::Chain(first, rest) => self.check_chain(first, rest, scope),
            FormulaKind::If(parts) => self.check_choice(parts, want, scope),
            FormulaKind::Let(groups, body) => {
                let scope = self.bind(groups, scope)?;
                self.infer(body, want, &scope)
            }
            FormulaKind::Typed(inner, sort) => {
                let sort = self.words.sort(sort, self.sink)?;
                self.check(inner, sort, scope)
            }
            FormulaKind::Any => match want {
                Some(sort) => {
                    let var = self.pool.declare(ANY, sort.base());
                    Ok(self.pool.var(var))
                }
                None => {
                    self.report_error(Code::CannotInfer, formula.span, "the type of this value is not known")
                }
            },
            FormulaKind::Unset(sort) => {
                let Some(sort) = sort else {
                    return self.report_error(
                        Code::CannotInfer,
                        formula.span,
                        "the type of this variable is not known",
                    );
                };
                let sort = self.words.sort(sort, self.sink)?;
                let value = self.pool.default_value(sort);
                Ok(self.pool.value(value))
            }
        }
    }

    fn report_error<T>(&mut self, code: Code, span: Span, message: &str) -> Result<T, Reported> {
        Err(self.sink.error(|| Diagnostic::new(code, span, message)))
    }

    /// Returns the term of `IF .. THEN .. ELSE ..`; both values have the sort of the first.
    fn check_choice(
        &mut self,
        parts: &[TxsExpr; 3],
        want: Option<Sort>,
        scope: &Scope,
    ) -> Result<Term, Reported> {
        let [condition, then, other] = parts;
        // Looked at now and used last, so that an error in the condition does not hide those in the values.
        let condition = self.check(condition, Sort::Bool, scope);
        let want = want.or_else(|| self.only_common_sort(then, other, scope));
        let then = self.infer(then, want, scope)?;
        let sort = self.pool.sort(then).base();
        let other = self.check(other, sort, scope)?;
        Ok(self.pool.ite(condition?, then, other))
    }

    /// Returns `scope` with the bound names added.
    pub(super) fn bind(&mut self, groups: &[Vec<ValueBinding>], scope: &Scope) -> Result<Scope, Reported> {
        let mut scope = scope.clone();
        for group in groups {
            let mut new = Vec::with_capacity(group.len());
            for ValueBinding { var, value } in group {
                let term = match &var.sort {
                    Some(sort) => {
                        let sort = self.words.sort(sort, self.sink)?;
                        self.check(value, sort, &scope)?
                    }
                    None => self.infer(value, None, &scope)?,
                };
                // The names of one group see those of the groups before it, but not each other.
                new.push((var.name.text.clone(), term));
            }
            scope.extend(new);
        }
        Ok(scope)
    }

    // Operators.

    /// Returns the term of operands with operators between them, taken from the left.
    fn check_chain(
        &mut self,
        first: &TxsExpr,
        rest: &[(TxsOperator, TxsExpr)],
        scope: &Scope,
    ) -> Result<Term, Reported> {
        let want = rest.first().and_then(|(operator, right)| {
            operand_sort(operator.sign).or_else(|| self.only_common_sort(first, right, scope))
        });
        let mut left = self.infer(first, want, scope)?;
        for (operator, right) in rest {
            left = self.check_operation(left, *operator, right, scope)?;
        }
        Ok(left)
    }

    /// Applies an operator to a term and an expression, which must have the sort that the operator needs.
    fn check_operation(
        &mut self,
        left: Term,
        operator: TxsOperator,
        right: &TxsExpr,
        scope: &Scope,
    ) -> Result<Term, Reported> {
        let found = self.pool.sort(left).base();
        let sort = operand_sort(operator.sign).unwrap_or(found);
        if found != sort {
            let (wanted, found) = (self.sort_name(sort), self.sort_name(found));
            return Err(self.sink.error(|| {
                let message =
                    format!("`{}` needs values of `{wanted}`, but its left side is `{found}`", operator.sign);
                Diagnostic::new(Code::TypeMismatch, operator.span, message)
                    .note("all operators have one level and group to the left: `a + b * c` is `(a + b) * c`")
            }));
        }
        let right = self.check(right, sort, scope)?;
        let pool = &mut *self.pool;
        Ok(match operator.sign {
            "==" => pool.eq(left, right),
            "<>" | "\\|/" => pool.ne(left, right),
            "/\\" => pool.and2(left, right),
            "\\/" => pool.or2(left, right),
            "=>" => pool.implies(left, right),
            "++" => pool.concat([left, right]),
            "+" => pool.add2(left, right),
            "-" => pool.sub(left, right),
            "*" => pool.mul2(left, right),
            "/" => pool.div(left, right),
            "%" => pool.rem(left, right),
            "<" | "<-" => pool.lt(left, right),
            "<=" => pool.le(left, right),
            ">" => pool.gt(left, right),
            _ => pool.ge(left, right),
        })
    }

    // Names and calls.

    /// Resolves a name with arguments: a variable, a constructor, a library function or a defined one.
    fn check_application(
        &mut self,
        name: &Name,
        args: &[TxsExpr],
        span: Span,
        want: Option<Sort>,
        scope: &Scope,
    ) -> Result<Term, Reported> {
        // Variables hide functions without arguments.
        if args.is_empty()
            && let Some(&term) = scope.get(&name.text)
        {
            return Ok(term);
        }
        if name.text == "strinre" {
            return self.check_regex(name, args, scope);
        }
        let words = self.words;
        let all: &[Callable] = words.callables.get(&name.text).map_or(&[], Vec::as_slice);
        let mut fitting = words.fitting(name, &vec![None; args.len()]);
        if fitting.is_empty() {
            return self.no_function(name, args.len(), all, scope);
        }
        if fitting.len() > 1 {
            let sorts = self.possible_sorts(args, scope);
            fitting = words.fitting(name, &sorts);
            choose_by_result(&mut fitting, want);
        }
        if let [only] = *fitting {
            let terms: Vec<Result<Term, Reported>> =
                args.iter().zip(&only.params).map(|(arg, &sort)| self.check(arg, sort, scope)).collect();
            let terms: Result<Vec<Term>, Reported> = terms.into_iter().collect();
            return self.call_term(only.kind, terms?, name);
        }
        // What is wrong with an argument is reported first: it may be the reason.
        let terms: Result<Vec<Term>, Reported> =
            args.iter().map(|arg| self.infer(arg, None, scope)).collect();
        let sorts: Vec<Sort> = terms?.iter().map(|&term| self.pool.sort(term).base()).collect();
        if fitting.is_empty() {
            return self.no_overload(name, &sorts, all);
        }
        Err(self.sink.error(|| {
            let message = format!("it is unclear which `{}` is meant here", name.text);
            Diagnostic::new(Code::CannotInfer, span, message).help("write the type: `(fromString(s) :: Int)`")
        }))
    }

    /// Returns the sorts that each of `formulas` may have.
    pub(super) fn possible_sorts(&self, formulas: &[TxsExpr], scope: &Scope) -> Vec<PossibleSorts> {
        let scope = sorts_in_scope(scope, |term| self.pool.sort(term).base());
        formulas.iter().map(|formula| self.words.possible_sorts(formula, &scope)).collect()
    }

    /// Returns the only sort that both expressions may have; `None` if it is not needed to choose a function.
    fn only_common_sort(&self, one: &TxsExpr, other: &TxsExpr, scope: &Scope) -> Option<Sort> {
        // A name that stands for one thing needs no help, and is most of what people write.
        let FormulaKind::Apply(name, args) = &one.kind else { return None };
        let known = self.words.callables.get(&name.text).map_or(0, Vec::len);
        if known < 2 || args.is_empty() && scope.contains_key(&name.text) {
            return None;
        }
        let scope = sorts_in_scope(scope, |term| self.pool.sort(term).base());
        let sorts =
            common_sorts(self.words.possible_sorts(one, &scope), self.words.possible_sorts(other, &scope))?;
        sorts.first().copied().filter(|_| sorts.len() == 1)
    }

    /// `strinre(s, REGEX('...'))`
    fn check_regex(&mut self, name: &Name, args: &[TxsExpr], scope: &Scope) -> Result<Term, Reported> {
        let [text, pattern] = args else {
            return self.report_error(
                Code::ArgumentCount,
                name.span,
                "`strinre` has a text and a regular expression",
            );
        };
        let term = self.check(text, Sort::Str, scope);
        let FormulaKind::Regex(written) = &pattern.kind else {
            return self.report_error(
                Code::NotConstant,
                pattern.span,
                "a regular expression is written here: `REGEX('...')`",
            );
        };
        match self.pool.pattern(written) {
            Ok(id) => Ok(self.pool.matches(term?, id)),
            Err(why) => self.report_error(
                Code::BadRegex,
                pattern.span,
                &format!("not a regular expression: {}", why.0),
            ),
        }
    }

    fn no_function(
        &mut self,
        name: &Name,
        n_args: usize,
        all: &[Callable],
        scope: &Scope,
    ) -> Result<Term, Reported> {
        let words = self.words;
        Err(self.sink.missing(&name.text, || {
            if let Some(one) = all.first() {
                let message = format!("`{}` has {} arguments, not {n_args}", name.text, one.params.len());
                return Diagnostic::new(Code::ArgumentCount, name.span, message);
            }
            if matches!(name.text.as_str(), "toXml" | "fromXml") {
                let message = format!("`{}` is not read", name.text);
                return Diagnostic::new(Code::TxsNotRead, name.span, message).help(
                    "send the values themselves, or `toString` of them; the project file defines how they are written",
                );
            }
            let names = scope.keys().chain(words.callables.keys()).map(String::as_str);
            let (code, what) = if n_args == 0 {
                (Code::UnknownName, "variable, constant or constructor")
            } else {
                (Code::UnknownFunction, "function or constructor")
            };
            let message = format!("there is no {what} `{}` here", name.text);
            suggest::suggest_nearest(Diagnostic::new(code, name.span, message), name, names)
        }))
    }

    fn no_overload(&mut self, name: &Name, sorts: &[Sort], all: &[Callable]) -> Result<Term, Reported> {
        let shown =
            |sorts: &[Sort]| sorts.iter().map(|&sort| self.sort_name(sort)).collect::<Vec<_>>().join(", ");
        let found = shown(sorts);
        let known: Vec<String> =
            all.iter().map(|one| format!("`{}({})`", name.text, shown(&one.params))).collect();
        Err(self.sink.error(|| {
            let message = format!("there is no function `{}({found})`", name.text);
            Diagnostic::new(Code::TypeMismatch, name.span, message)
                .help(format!("there is {}", known.join(", ")))
        }))
    }

    /// Returns the term of a call whose arguments have the right sorts.
    fn call_term(&mut self, kind: CallableKind, args: Vec<Term>, name: &Name) -> Result<Term, Reported> {
        Ok(match kind {
            CallableKind::Construct(data, ctor) => self.pool.construct(data, ctor, args),
            CallableKind::Is(ctor) => self.pool.is(ctor, args[0]),
            CallableKind::Select(ctor, field) => self.pool.select(ctor, field, args[0]),
            CallableKind::Library(function) => self.library_term(function, &args),
            CallableKind::Defined(at) => match &self.words.meanings[at] {
                // A function that does not call itself is written into its call, so no engine has to know it.
                FunctionMeaning::Plain(params, body) => {
                    let names: Substitution = params.iter().copied().zip(args).collect();
                    self.pool.substitute(*body, &names)
                }
                FunctionMeaning::Recursive(id) => self.pool.call(*id, args),
                FunctionMeaning::Broken(why) => return Err(*why),
                // Definitions come behind those they call, so this happens only inside of a circle, which was
                // reported.
                FunctionMeaning::Later => {
                    return Err(self.sink.reported_before(|| {
                        let message = format!("`{}` is used before it is defined", name.text);
                        Diagnostic::new(Code::CyclicDefinition, name.span, message)
                    }));
                }
            },
        })
    }

    /// Returns the term of a call to a function that every specification has.
    fn library_term(&mut self, function: LibraryFn, args: &[Term]) -> Term {
        let pool = &mut *self.pool;
        let first = args[0];
        match function {
            LibraryFn::Not => pool.not(first),
            LibraryFn::Abs => {
                let (zero, negated) = (pool.int(0), pool.neg(first));
                let is_negative = pool.lt(first, zero);
                pool.ite(is_negative, negated, first)
            }
            LibraryFn::Len => pool.length(first),
            LibraryFn::At => {
                let (zero, one, empty) = (pool.int(0), pool.int(1), pool.value(Value::str("")));
                let is_before = pool.lt(args[1], zero);
                let part = pool.operate(TermOp::Substring, vec![first, args[1], one]);
                pool.ite(is_before, empty, part)
            }
            LibraryFn::Take => {
                let (text, n) = text_and_number(pool, args);
                let zero = pool.int(0);
                pool.operate(TermOp::Substring, vec![text, zero, n])
            }
            LibraryFn::Drop => {
                let (text, n) = text_and_number(pool, args);
                let length = pool.length(text);
                pool.operate(TermOp::Substring, vec![text, n, length])
            }
            LibraryFn::IntToString => pool.operate(TermOp::FromInt, vec![first]),
            LibraryFn::IntFromString => pool.operate(TermOp::ToInt, vec![first]),
            LibraryFn::BoolToString => {
                let (yes, no) = (pool.value(Value::str("True")), pool.value(Value::str("False")));
                pool.ite(first, yes, no)
            }
            LibraryFn::BoolFromString => {
                let yes = pool.value(Value::str("True"));
                pool.eq(first, yes)
            }
            LibraryFn::Same => first,
            LibraryFn::EnumToString(data) => {
                by_ctor(pool, data, |pool, at, name| (pool.is(at, first), pool.value(Value::str(name))))
            }
            LibraryFn::EnumFromString(data) => by_ctor(pool, data, |pool, at, name| {
                let name = pool.value(Value::str(name));
                let value =
                    pool.value(Value::Data(DataValue { data, ctor: at, args: std::sync::Arc::default() }));
                (pool.eq(first, name), value)
            }),
        }
    }
}

/// The text and the number of `take` and `drop`, whose order is free.
fn text_and_number(pool: &TermPool, args: &[Term]) -> (Term, Term) {
    if pool.sort(args[0]) == Sort::Str { (args[0], args[1]) } else { (args[1], args[0]) }
}

/// A choice by constructor: the value of the first whose condition holds, else that of the last.
fn by_ctor(
    pool: &mut TermPool,
    data: DataId,
    mut one: impl FnMut(&mut TermPool, u32, &str) -> (Term, Term),
) -> Term {
    let names: Vec<_> = pool.data(data).ctors.iter().map(|ctor| ctor.name.clone()).collect();
    let mut result = None;
    // From the last to the first, each around those behind it. The last needs no condition: it is what is
    // left.
    for (at, name) in (0u32..).zip(names).collect::<Vec<_>>().into_iter().rev() {
        let (condition, value) = one(pool, at, &name);
        result = Some(match result {
            None => value,
            Some(other) => pool.ite(condition, value, other),
        });
    }
    result.expect("a type has a constructor")
}

/// Returns whether `term` is a value that may be any of its sort.
pub(super) fn is_any(pool: &TermPool, term: Term) -> bool {
    matches!(pool.node(term), TermNode::Var(var) if *pool.var_info(*var).name == *ANY)
}

/// Returns whether a value that may be any of its sort is part of `term`.
pub(super) fn mentions_any(pool: &TermPool, term: Term) -> bool {
    pool.free_vars(term).into_iter().any(|var| *pool.var_info(var).name == *ANY)
}

/// Adds the functions that `formula` applies, each with its number of arguments.
pub(super) fn collect_applied(formula: &TxsExpr, found: &mut BTreeSet<(String, usize)>) {
    match &formula.kind {
        FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Regex(_) => {}
        FormulaKind::Bool(_) | FormulaKind::Unset(_) | FormulaKind::Any => {}
        FormulaKind::Apply(name, args) => {
            found.insert((name.text.clone(), args.len()));
            args.iter().for_each(|arg| collect_applied(arg, found));
        }
        FormulaKind::Minus(inner) | FormulaKind::Typed(inner, _) => collect_applied(inner, found),
        FormulaKind::Chain(first, rest) => {
            collect_applied(first, found);
            rest.iter().for_each(|(_, next)| collect_applied(next, found));
        }
        FormulaKind::If(parts) => parts.iter().for_each(|part| collect_applied(part, found)),
        FormulaKind::Let(groups, body) => {
            groups.iter().flatten().for_each(|binding| collect_applied(&binding.value, found));
            collect_applied(body, found);
        }
    }
}
