//! The meaning of names that several functions share, by the sorts of their arguments and of their value.
//!
//! Upwards, the sorts that an expression may have: those of all functions whose parameters fit what the arguments may
//! be. Downwards, the sort that is needed chooses among them. This looks at signatures only, so it works before any
//! function has a meaning.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::sort::Sort;

use super::tree::{FormulaKind, TxsExpr, ValueBinding};
use super::typing::Scope;
use super::words::{Callable, CallableKind, Vocabulary};
use crate::ast::Name;

/// The sorts that an expression may have; `None` if it may have any.
pub(super) type PossibleSorts = Option<BTreeSet<Sort>>;

/// The possible sorts of names in scope.
pub(super) type SortScope = BTreeMap<String, PossibleSorts>;

/// Returns the sorts of the terms in `scope`.
pub(super) fn sorts_in_scope(scope: &Scope, sort_of: impl Fn(ioxide_model::term::Term) -> Sort) -> SortScope {
    scope.iter().map(|(name, &term)| (name.clone(), Some([sort_of(term)].into()))).collect()
}

/// Returns the sorts that two expressions may have if they have the same one.
pub(super) fn common_sorts(one: PossibleSorts, other: PossibleSorts) -> PossibleSorts {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(&other).copied().collect()),
        (one, other) => one.or(other),
    }
}

/// Returns whether an expression may have this sort.
pub(super) fn may_be(sorts: &PossibleSorts, sort: Sort) -> bool {
    sorts.as_ref().is_none_or(|sorts| sorts.contains(&sort.base()))
}

/// Returns the sort that the operands of an operator have; `None` if they only have the same one.
pub(super) fn operand_sort(sign: &str) -> Option<Sort> {
    match sign {
        "==" | "<>" => None,
        "/\\" | "\\/" | "\\|/" | "=>" => Some(Sort::Bool),
        "++" => Some(Sort::Str),
        _ => Some(Sort::Int),
    }
}

fn result_sort(sign: &str) -> Sort {
    match sign {
        "++" => Sort::Str,
        "+" | "-" | "*" | "/" | "%" => Sort::Int,
        _ => Sort::Bool,
    }
}

impl Vocabulary {
    /// Returns the functions called `name` that take arguments of these possible sorts.
    pub(super) fn fitting<'v>(&'v self, name: &Name, args: &[PossibleSorts]) -> Vec<&'v Callable> {
        let fits = |callable: &&Callable| {
            callable.params.len() == args.len()
                && callable.params.iter().zip(args).all(|(&sort, found)| may_be(found, sort))
        };
        self.callables.get(&name.text).into_iter().flatten().filter(fits).collect()
    }

    /// Returns the sorts that `formula` may have.
    pub(super) fn possible_sorts(&self, formula: &TxsExpr, scope: &SortScope) -> PossibleSorts {
        match &formula.kind {
            FormulaKind::Number(_) | FormulaKind::Minus(_) => Some([Sort::Int].into()),
            FormulaKind::Text(_) => Some([Sort::Str].into()),
            FormulaKind::Bool(_) => Some([Sort::Bool].into()),
            FormulaKind::Regex(_) => None,
            FormulaKind::Apply(name, args) => self.possible_results(name, args, scope),
            FormulaKind::Chain(_, rest) => rest.last().map(|(last, _)| [result_sort(last.sign)].into()),
            FormulaKind::If(parts) => {
                let [_, then, other] = &**parts;
                common_sorts(self.possible_sorts(then, scope), self.possible_sorts(other, scope))
            }
            FormulaKind::Let(groups, body) => self.possible_sorts(body, &self.bound_sorts(groups, scope)),
            FormulaKind::Typed(_, sort) | FormulaKind::Unset(Some(sort)) => {
                self.sorts.get(&sort.text).map(|sort| [*sort].into())
            }
            FormulaKind::Unset(None) | FormulaKind::Any => None,
        }
    }

    fn possible_results(&self, name: &Name, args: &[TxsExpr], scope: &SortScope) -> PossibleSorts {
        if args.is_empty()
            && let Some(sorts) = scope.get(&name.text)
        {
            return sorts.clone();
        }
        if name.text == "strinre" {
            return Some([Sort::Bool].into());
        }
        let found = self.fitting_calls(name, args, scope);
        // Nothing fits: this is reported where the name is typed, and not where its value is used.
        (!found.is_empty()).then(|| found.iter().map(|callable| callable.result.base()).collect())
    }

    /// Returns the functions that a call may mean. The arguments are looked at only if their number leaves a choice.
    fn fitting_calls<'v>(&'v self, name: &Name, args: &[TxsExpr], scope: &SortScope) -> Vec<&'v Callable> {
        let by_number = self.fitting(name, &vec![None; args.len()]);
        if by_number.len() < 2 {
            return by_number;
        }
        let sorts: Vec<PossibleSorts> = args.iter().map(|arg| self.possible_sorts(arg, scope)).collect();
        self.fitting(name, &sorts)
    }

    fn bound_sorts(&self, groups: &[Vec<ValueBinding>], scope: &SortScope) -> SortScope {
        let mut scope = scope.clone();
        for group in groups {
            let sorts = |binding: &ValueBinding| match &binding.var.sort {
                Some(sort) => self.sorts.get(&sort.text).map(|sort| [*sort].into()),
                None => self.possible_sorts(&binding.value, &scope),
            };
            let new: Vec<(String, PossibleSorts)> =
                group.iter().map(|binding| (binding.var.name.text.clone(), sorts(binding))).collect();
            scope.extend(new);
        }
        scope
    }

    /// Adds the functions of the text that `formula` calls if a value of the sort `want` is needed.
    pub(super) fn add_calls(
        &self,
        formula: &TxsExpr,
        want: Option<Sort>,
        scope: &SortScope,
        found: &mut BTreeSet<usize>,
    ) {
        match &formula.kind {
            FormulaKind::Number(_) | FormulaKind::Text(_) | FormulaKind::Regex(_) => {}
            FormulaKind::Bool(_) | FormulaKind::Unset(_) | FormulaKind::Any => {}
            FormulaKind::Apply(name, args) => self.add_applied(name, args, want, scope, found),
            FormulaKind::Minus(inner) => self.add_calls(inner, Some(Sort::Int), scope, found),
            FormulaKind::Typed(inner, sort) => {
                self.add_calls(inner, self.sorts.get(&sort.text).copied(), scope, found);
            }
            FormulaKind::Chain(first, rest) => {
                self.add_calls(
                    first,
                    rest.first().and_then(|(sign, _)| operand_sort(sign.sign)),
                    scope,
                    found,
                );
                for (operator, right) in rest {
                    self.add_calls(right, operand_sort(operator.sign), scope, found);
                }
            }
            FormulaKind::If(parts) => {
                let [condition, then, other] = &**parts;
                self.add_calls(condition, Some(Sort::Bool), scope, found);
                [then, other].into_iter().for_each(|part| self.add_calls(part, want, scope, found));
            }
            FormulaKind::Let(groups, body) => {
                for (at, group) in groups.iter().enumerate() {
                    let before = self.bound_sorts(&groups[..at], scope);
                    for ValueBinding { var, value } in group {
                        let want = var.sort.as_ref().and_then(|sort| self.sorts.get(&sort.text).copied());
                        self.add_calls(value, want, &before, found);
                    }
                }
                self.add_calls(body, want, &self.bound_sorts(groups, scope), found);
            }
        }
    }

    fn add_applied(
        &self,
        name: &Name,
        args: &[TxsExpr],
        want: Option<Sort>,
        scope: &SortScope,
        found: &mut BTreeSet<usize>,
    ) {
        if args.is_empty() && scope.contains_key(&name.text) {
            return;
        }
        let mut fitting = self.fitting_calls(name, args, scope);
        choose_by_result(&mut fitting, want);
        for callable in &fitting {
            if let CallableKind::Defined(at) = callable.kind {
                found.insert(at);
            }
        }
        let only = if let [only] = *fitting { Some(only) } else { None };
        for (at, arg) in args.iter().enumerate() {
            self.add_calls(arg, only.map(|only| only.params[at]), scope, found);
        }
    }
}

/// Keeps the functions whose value has the sort `want`, if there are some.
pub(super) fn choose_by_result(fitting: &mut Vec<&Callable>, want: Option<Sort>) {
    let gives = |callable: &&Callable| Some(callable.result.base()) == want.map(Sort::base);
    if fitting.len() > 1 && fitting.iter().any(gives) {
        fitting.retain(gives);
    }
}
