//! Patterns: the condition that a value matches, and the names bound to its parts.
//!
//! The arms of `match` and `let` in front of a guard have the same meaning. A part of a parameter of the function being
//! defined is recorded as such: a function may call itself on it.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{CollectionKind, DataId, DataKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{Term, TermOp};
use ioxide_model::value::Value;

use super::{BoundName, Checker, ParameterPart, SortRole, ValueItem};
use crate::ast::{Expr, ExprKind, LetExpr, Name, PatternExpr, PatternKind};
use crate::sink::Reported;
use crate::suggest;

/// The condition of a pattern on the value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum PatternCase {
    Any,
    Ctor(u32),
    Value(Value),
    /// A list of exactly this many items.
    Exactly(usize),
    /// A list of at least this many items.
    AtLeast(usize),
}

impl Checker<'_, '_> {
    /// Returns the condition of `pattern` on a value of `sort`.
    pub(super) fn case(
        &mut self,
        pattern: &PatternExpr,
        sort: Sort,
        scrutinee: Span,
    ) -> Result<PatternCase, Reported> {
        let data = match sort {
            Sort::Data(data) => Some((data, self.pool.data(data).kind)),
            _ => None,
        };
        let is_list = self.pool.collection_of(sort).is_some_and(|of| of.kind == CollectionKind::List);
        match (&pattern.kind, data) {
            (PatternKind::Any, _) => Ok(PatternCase::Any),
            (PatternKind::None, Some((_, DataKind::Option))) => Ok(PatternCase::Ctor(0)),
            (PatternKind::Some(_), Some((_, DataKind::Option))) => Ok(PatternCase::Ctor(1)),
            // For an enum a name is a case, for anything else a constant. It never binds, so a misspelt case
            // is an error and not a pattern that matches everything.
            (PatternKind::Name(name), Some((data, DataKind::Enum))) => {
                self.variant_case(name, pattern.span, data, None)
            }
            (PatternKind::Case(name, parts), Some((data, DataKind::Enum))) => {
                self.variant_case(name, pattern.span, data, Some(parts.len()))
            }
            (PatternKind::List(items, None), _) if is_list => Ok(PatternCase::Exactly(items.len())),
            (PatternKind::List(items, Some(_)), _) if is_list => Ok(PatternCase::AtLeast(items.len())),
            (PatternKind::Name(name), None) => self.constant_case(name, pattern.span, sort, scrutinee),
            // The base sort: a literal outside the range is allowed and matches nothing.
            (PatternKind::Literal(literal), _) => {
                self.constant_value(literal, sort.base(), SortRole::Arm).map(PatternCase::Value)
            }
            _ => Err(self.wrong_pattern(pattern.span, sort, scrutinee)),
        }
    }

    fn wrong_pattern(&mut self, span: Span, sort: Sort, scrutinee: Span) -> Reported {
        let shown = self.pool.show_sort(sort);
        self.sink.error(|| {
            Diagnostic::new(Code::TypeMismatch, span, format!("this pattern does not fit {shown}"))
                .label(scrutinee, format!("this is {shown}"))
        })
    }

    fn variant_case(
        &mut self,
        name: &str,
        span: Span,
        data: DataId,
        parts: Option<usize>,
    ) -> Result<PatternCase, Reported> {
        let found = match self.values.use_name(name).map(|entry| entry.item) {
            Some(ValueItem::Variant(owner, ctor)) if owner == data => Some(ctor),
            _ => None,
        };
        let Some(ctor) = found else {
            return Err(self.unknown_variant(name, span, data));
        };
        let fields = &self.pool.data(data).ctors[ctor as usize].fields;
        if parts.unwrap_or(0) == fields.len() || (parts.is_none() && fields.is_empty()) {
            return Ok(PatternCase::Ctor(ctor));
        }
        let names: Vec<String> = fields.iter().map(|field| field.name.to_string()).collect();
        let wanted = if names.is_empty() { name.to_owned() } else { format!("{name}({})", names.join(", ")) };
        Err(self.sink.error(|| {
            let message = format!("the case `{name}` has {} fields", names.len());
            Diagnostic::new(Code::ArgumentCount, span, message)
                .help(format!("write `{wanted}`, with `_` for what is not needed"))
        }))
    }

    fn unknown_variant(&mut self, name: &str, span: Span, data: DataId) -> Reported {
        let Self { pool, sink, .. } = self;
        sink.error(|| {
            let data = pool.data(data);
            let message = format!("enum `{}` has no value `{name}`", data.name);
            let name = Name { text: name.to_owned(), span };
            let names = data.ctors.iter().map(|ctor| &*ctor.name);
            suggest::suggest_nearest(Diagnostic::new(Code::UnknownName, span, message), &name, names)
                .help("use `_` for all other values")
        })
    }

    /// A constant as a pattern; a plain name does not bind.
    fn constant_case(
        &mut self,
        name: &str,
        span: Span,
        sort: Sort,
        scrutinee: Span,
    ) -> Result<PatternCase, Reported> {
        match self.values.use_name(name).map(|entry| entry.item) {
            Some(ValueItem::Const(term)) => {
                let term = self.coerce(term, span, sort.base(), SortRole::Arm)?;
                match self.pool.as_value(term) {
                    Some(value) => Ok(PatternCase::Value(value.clone())),
                    None => Err(self.not_a_constant(name, span, sort, scrutinee)),
                }
            }
            Some(ValueItem::Broken(why)) => Err(why),
            Some(ValueItem::LaterConst) => Err(self.used_too_early(name, span)),
            _ => Err(self.not_a_constant(name, span, sort, scrutinee)),
        }
    }

    fn not_a_constant(&mut self, name: &str, span: Span, sort: Sort, scrutinee: Span) -> Reported {
        let shown = self.pool.show_sort(sort);
        self.sink.error(|| {
            Diagnostic::new(Code::UnknownName, span, format!("`{name}` is not a constant"))
                .label(scrutinee, format!("this is {shown}"))
                .help("use `_` for all other values")
        })
    }

    /// Returns the formula that `value` matches `case`.
    pub(super) fn case_condition(&mut self, case: &PatternCase, value: Term) -> Term {
        match case {
            PatternCase::Any => self.pool.tt(),
            PatternCase::Ctor(ctor) => self.made_by(*ctor, value),
            PatternCase::Value(constant) => {
                let constant = self.pool.value(constant.clone());
                self.pool.eq(value, constant)
            }
            PatternCase::Exactly(n) | PatternCase::AtLeast(n) => {
                let size = self.pool.operate(TermOp::Size, vec![value]);
                let n = self.pool.int(i64::try_from(*n).unwrap_or(i64::MAX));
                if matches!(case, PatternCase::Exactly(_)) {
                    self.pool.eq(size, n)
                } else {
                    self.pool.le(n, size)
                }
            }
        }
    }

    /// Types `x is Case`.
    pub(super) fn check_case_test(&mut self, value: &Expr, case: &Name) -> Result<Term, Reported> {
        let term = self.infer(value, None)?;
        let sort = self.pool.sort(term);
        let data = match sort {
            Sort::Data(data) if self.pool.data(data).kind != DataKind::Record => data,
            _ => {
                let shown = self.pool.show_sort(sort);
                return Err(self.sink.error(|| {
                    let message = format!("`is` asks for the case of an enum or option, this is {shown}");
                    Diagnostic::new(Code::TypeMismatch, value.span, message)
                        .caret(format!("this is {shown}"))
                        .help("compare values with `==`")
                }));
            }
        };
        // The cases of options are words of the language and in no table of names.
        let ctor = if self.pool.data(data).kind == DataKind::Option {
            let ctors = &self.pool.data(data).ctors;
            let known = ctors.iter().position(|ctor| *ctor.name == *case.text);
            known.and_then(|at| u32::try_from(at).ok())
        } else {
            match self.values.use_name(&case.text).map(|entry| entry.item) {
                Some(ValueItem::Variant(owner, ctor)) if owner == data => Some(ctor),
                _ => None,
            }
        };
        match ctor {
            Some(ctor) => Ok(self.made_by(ctor, term)),
            None => Err(self.unknown_case(case, data)),
        }
    }

    fn unknown_case(&mut self, case: &Name, data: DataId) -> Reported {
        let Self { pool, sink, .. } = self;
        sink.error(|| {
            let data = pool.data(data);
            let message = format!("`{}` has no case `{}`", data.name, case.text);
            let names = data.ctors.iter().map(|ctor| &*ctor.name);
            suggest::suggest_nearest(Diagnostic::new(Code::UnknownName, case.span, message), case, names)
        })
    }

    /// Returns the formula that `value` was made by `ctor`, in the form that `==` and `!=` give, so that both ways to
    /// ask give the same term.
    fn made_by(&mut self, ctor: u32, value: Term) -> Term {
        let Sort::Data(data) = self.pool.sort(value) else { return self.pool.is(ctor, value) };
        let kind = self.pool.data(data).kind;
        let plain = self.pool.data(data).ctors[ctor as usize].fields.is_empty();
        // An option is `some` exactly if it is not `none`, which is the term that people write as `x !=
        // none`.
        match (kind, ctor) {
            (DataKind::Enum, _) if plain => {
                let other = self.pool.construct(data, ctor, []);
                self.pool.eq(value, other)
            }
            (DataKind::Option, 0) => {
                let other = self.pool.construct(data, ctor, []);
                self.pool.eq(value, other)
            }
            (DataKind::Option, _) => {
                let none = self.pool.construct(data, 0, []);
                self.pool.ne(value, none)
            }
            (DataKind::Record, _) => self.pool.tt(),
            (DataKind::Enum, _) => self.pool.is(ctor, value),
        }
    }

    /// Binds the names of `pattern` to parts of `value`, the term of `of`; returns the number of names bound before.
    pub(super) fn bind_pattern(
        &mut self,
        pattern: &PatternExpr,
        case: &PatternCase,
        value: Term,
        of: &Expr,
    ) -> usize {
        let before = self.bound.len();
        // `[..rest]` takes nothing away: its rest is the value itself.
        let is_whole = matches!(&pattern.kind, PatternKind::List(names, _) if names.is_empty());
        let is_proper = !is_whole || self.proper_part(of).is_some();
        let part_of = self.part_inside(of).map(|param| ParameterPart { param, is_proper });
        let parts: Vec<(&Name, Term)> = match (&pattern.kind, case) {
            (PatternKind::Some(name), _) => vec![(name, self.pool.select(1, 0, value))],
            (PatternKind::Case(_, names), PatternCase::Ctor(ctor)) => {
                (0..).zip(names).map(|(field, name)| (name, self.pool.select(*ctor, field, value))).collect()
            }
            (PatternKind::List(names, rest), _) => self.list_parts(names, rest.as_ref(), value),
            _ => Vec::new(),
        };
        for (name, term) in parts {
            if name.text != "_" {
                self.warn_if_hidden(name);
                self.bound.push(BoundName { name: name.text.clone(), term, part_of });
            }
        }
        before
    }

    fn list_parts<'n>(
        &mut self,
        names: &'n [Name],
        rest: Option<&'n Name>,
        value: Term,
    ) -> Vec<(&'n Name, Term)> {
        // Without obligations: the condition of the pattern says that the items are there.
        let mut parts = Vec::with_capacity(names.len() + 1);
        for (at, name) in (0..).zip(names) {
            let at = self.pool.int(at);
            parts.push((name, self.pool.operate(TermOp::At, vec![value, at])));
        }
        if let Some(rest) = rest {
            let from = self.pool.int(i64::try_from(names.len()).unwrap_or(i64::MAX));
            let size = self.pool.operate(TermOp::Size, vec![value]);
            parts.push((rest, self.pool.operate(TermOp::Slice, vec![value, from, size])));
        }
        parts
    }

    /// Returns the parameter of which the parts of `expr` are proper parts: `expr` is the parameter, a part of it, or a
    /// field of one.
    pub(super) fn part_inside(&self, expr: &Expr) -> Option<usize> {
        self.defining.as_ref()?;
        match &expr.kind {
            ExprKind::Paren(inner) => self.part_inside(inner),
            ExprKind::Field(inner, _) => self.part_inside(inner),
            // A bound name hides a parameter of the same name, so it is asked first, and from the innermost
            // on.
            ExprKind::Name(name) => match self.bound.iter().rev().find(|bound| bound.name == *name) {
                Some(bound) => bound.part_of.map(|part| part.param),
                None => self.param_order.iter().position(|param| param == name),
            },
            _ => None,
        }
    }

    /// Returns the parameter that `expr` itself is a proper part of.
    pub(super) fn proper_part(&self, expr: &Expr) -> Option<usize> {
        match &expr.kind {
            ExprKind::Paren(inner) => self.proper_part(inner),
            // Whichever branch is taken.
            ExprKind::If(arms, otherwise) => {
                // All branches have to be parts of the same parameter.
                let part = self.proper_part(otherwise)?;
                arms.iter().all(|(_, value)| self.proper_part(value) == Some(part)).then_some(part)
            }
            ExprKind::Name(name) => {
                let part = self.bound.iter().rev().find(|bound| bound.name == *name)?.part_of?;
                part.is_proper.then_some(part.param)
            }
            _ => None,
        }
    }

    /// Returns the conditions of `let`s in front of a guard. The names stay bound until the caller drops them.
    pub(crate) fn check_lets(&mut self, lets: &[LetExpr]) -> Result<Vec<Term>, Reported> {
        let mut conditions = Vec::with_capacity(lets.len());
        let mut complete = Ok(());
        for it in lets {
            match self.one_let(it) {
                Ok(condition) => conditions.push(condition),
                Err(why) => {
                    // What it names has an error already.
                    it.pattern.names().for_each(|name| self.sink.excuse(&name.text, why));
                    complete = Err(why);
                }
            }
        }
        complete.map(|()| conditions)
    }

    fn one_let(&mut self, it: &LetExpr) -> Result<Term, Reported> {
        let value = self.infer(&it.value, None)?;
        let sort = self.pool.sort(value);
        let case = self.case(&it.pattern, sort, it.value.span)?;
        let condition = self.case_condition(&case, value);
        self.bind_pattern(&it.pattern, &case, value, &it.value);
        Ok(condition)
    }
}
