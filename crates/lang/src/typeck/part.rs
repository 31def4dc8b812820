//! Typing of references to parts in the goals of a system: `client[i].draft`, `server.at(busy)`.
//!
//! An index that is no constant chooses among the instances; quantifiers over a range are written out, so
//! in `forall i in 1..3: client[i].at(idle)` it is one.

use std::rc::Rc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::{DataValue, Value};

use super::{BoundName, Checker, ObligationCause, SortRole};
use crate::ast::{Expr, ExprKind, Name, Quantifier};
use crate::sink::Reported;
use crate::suggest;

/// The greatest number of values of a quantifier that is written out. Chosen by feel: every value is a copy of the
/// body; larger domains stay quantifiers.
const MAX_WRITTEN_OUT: i64 = 1000;

/// The names that can be read of one part.
#[derive(Clone, Debug)]
pub(crate) struct PartNames {
    pub(crate) family: String,
    pub(crate) index: Option<i64>,
    /// The variable for its location; `None` if it has only one.
    pub(crate) control: Option<VarId>,
    pub(crate) places: Vec<String>,
    pub(crate) vars: Vec<(String, VarId)>,
    pub(crate) clocks: Vec<(String, VarId)>,
}

/// A reference to a part.
struct PartPath<'e> {
    family: &'e str,
    span: Span,
    index: Option<&'e Expr>,
    /// The names behind it, for parts of parts.
    inner: String,
}

impl Checker<'_, '_> {
    /// Returns the part that `expr` names; `None` if it names none.
    fn part_path<'e>(&self, expr: &'e Expr) -> Option<PartPath<'e>> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let is_part = self.parts.iter().any(|part| part.family == *name);
                // What is bound closer hides a part of the same name, as it hides variables.
                let is_other = self.bound.iter().any(|bound| bound.name == *name)
                    || self.params.contains_key(name)
                    || self.message.as_ref().is_some_and(|message| message.fields.contains_key(name));
                let path = PartPath { family: name, span: expr.span, index: None, inner: String::new() };
                (is_part && !is_other).then_some(path)
            }
            ExprKind::Index(receiver, key) => {
                let path = self.part_path(receiver)?;
                // The first index may be any expression, which chooses among instances. Deeper ones are part
                // of a variable's name, so they must be numbers.
                match (&key.kind, path.inner.is_empty()) {
                    (_, true) if path.index.is_none() => Some(PartPath { index: Some(key), ..path }),
                    (ExprKind::Number(at), false) => {
                        Some(PartPath { inner: format!("{}[{at}]", path.inner), ..path })
                    }
                    _ => None,
                }
            }
            ExprKind::Field(receiver, name) => {
                let path = self.part_path(receiver)?;
                let dot = if path.inner.is_empty() { "" } else { "." };
                Some(PartPath { inner: format!("{}{dot}{}", path.inner, name.text), ..path })
            }
            _ => None,
        }
    }

    /// Types `part.name`; `None` if the receiver is no part.
    pub(super) fn part_field(&mut self, receiver: &Expr, name: &Name) -> Option<Result<Term, Reported>> {
        let path = self.part_path(receiver)?;
        let dot = if path.inner.is_empty() { "" } else { "." };
        let full = format!("{}{dot}{}", path.inner, name.text);
        let parts = Rc::clone(&self.parts);
        let has = |part: &PartNames| {
            let mut all = part.vars.iter().chain(&part.clocks);
            all.any(|(var, _)| {
                // Also the beginning of a longer name: more fields or indices may follow.
                *var == full || var.starts_with(&format!("{full}.")) || var.starts_with(&format!("{full}["))
            })
        };
        let mut family = parts.iter().filter(|part| part.family == path.family);
        if !family.any(has) {
            // It may be a field of a record that the part has.
            // Right behind the part it can only be a variable of it, so that is an error.
            return path.inner.is_empty().then(|| Err(self.no_variable(path.family, &full, name)));
        }
        Some(self.of_instances(&path, |cx, part| {
            if let Some((_, var)) = part.vars.iter().find(|(var, _)| *var == full)
                && cx.place.reads_variables()
            {
                return Ok(cx.pool.var(*var));
            }
            if let Some((_, clock)) = part.clocks.iter().find(|(clock, _)| *clock == full)
                && cx.place.reads_clocks()
            {
                return Ok(cx.pool.var(*clock));
            }
            let place = cx.place.describe();
            Err(cx.sink.error(|| {
                let message = format!("`{full}` of a part cannot be read in {place}");
                Diagnostic::new(Code::NotInScope, name.span, message).help(
                    "tests and observers see messages; properties and `reach` read the variables of parts",
                )
            }))
        }))
    }

    fn no_variable(&mut self, family: &str, full: &str, name: &Name) -> Reported {
        let parts = Rc::clone(&self.parts);
        let names = parts.iter().filter(|part| part.family == family);
        let names = names.flat_map(|part| part.vars.iter().chain(&part.clocks)).map(|(var, _)| var.as_str());
        self.sink.error(|| {
            let message = format!("the part `{family}` has no variable `{full}`");
            let diagnostic = Diagnostic::new(Code::UnknownName, name.span, message);
            suggest::suggest_nearest(diagnostic, name, names)
                .help(format!("where the part is, is written `{family}.at(state)`"))
        })
    }

    /// Types `part.at(state)`; `None` if the receiver is no part.
    pub(super) fn part_at(
        &mut self,
        receiver: &Expr,
        name: &Name,
        args: &[Expr],
    ) -> Option<Result<Term, Reported>> {
        if name.text != "at" {
            return None;
        }
        let path = self.part_path(receiver)?;
        let [Expr { kind: ExprKind::Name(state), span }] = args else {
            return Some(Err(self.sink.error(|| {
                Diagnostic::new(Code::UnknownState, name.span, "`at` needs the name of a state of the part")
                    .help(format!("write `{}.at(idle)`", path.family))
            })));
        };
        let control = format!("{}.state", path.inner);
        Some(self.of_instances(&path, |cx, part| {
            // A part that is a system itself keeps the places of its parts in its variables.
            let inner = part.vars.iter().find(|(var, _)| *var == control).map(|(_, var)| *var);
            let (var, places) = match inner.filter(|_| !path.inner.is_empty()) {
                Some(var) => (Some(var), cx.places_of(var)),
                None => (part.control, part.places.clone()),
            };
            let Some(at) = places.iter().position(|place| place == state) else {
                return Err(cx.no_place(&path, state, *span, &places));
            };
            Ok(match var.map(|var| (var, cx.pool.var_info(var).sort)) {
                Some((var, Sort::Data(data))) => {
                    let ctor = u32::try_from(at).unwrap_or(u32::MAX);
                    let value = Value::Data(DataValue { data, ctor, args: std::sync::Arc::default() });
                    let (var, value) = (cx.pool.var(var), cx.pool.value(value));
                    cx.pool.eq(var, value)
                }
                // A part with one location is always there.
                _ => cx.pool.tt(),
            })
        }))
    }

    fn places_of(&self, control: VarId) -> Vec<String> {
        match self.pool.var_info(control).sort {
            Sort::Data(data) => self.pool.data(data).ctors.iter().map(|ctor| ctor.name.to_string()).collect(),
            _ => Vec::new(),
        }
    }

    fn no_place(&mut self, path: &PartPath<'_>, state: &str, span: Span, places: &[String]) -> Reported {
        self.sink.error(|| {
            let message = format!("the part `{}` has no state `{state}`", path.family);
            let diagnostic = Diagnostic::new(Code::UnknownState, span, message);
            let name = Name { text: state.to_owned(), span };
            suggest::suggest_nearest(diagnostic, &name, places.iter().map(String::as_str))
        })
    }

    /// Returns the term of `of` for the instance that `path` names; if the index is no constant, a choice among the
    /// instances.
    fn of_instances(
        &mut self,
        path: &PartPath<'_>,
        mut of: impl FnMut(&mut Self, &PartNames) -> Result<Term, Reported>,
    ) -> Result<Term, Reported> {
        let parts = Rc::clone(&self.parts);
        let family: Vec<&PartNames> = parts.iter().filter(|part| part.family == path.family).collect();
        let Some(index) = path.index else {
            return match family[..] {
                [part] if part.index.is_none() => of(self, part),
                _ => Err(self.needs_index(path, "an array: name the instance")),
            };
        };
        if family.iter().any(|part| part.index.is_none()) {
            return Err(self.needs_index(path, "one part, not an array"));
        }
        let index = self.check(index, Sort::Int, SortRole::Key)?;
        let mut chosen: Option<Term> = None;
        let mut is_one = Vec::with_capacity(family.len());
        // From the last to the first, so that the first instance is asked first. The last needs no condition,
        // because the obligation below excludes all other indices.
        for part in family.into_iter().rev() {
            let at = self.pool.int(part.index.unwrap_or_default());
            let here = self.pool.eq(index, at);
            is_one.push(here);
            // With a constant index only one instance is left, and only its names are looked up.
            if self.pool.is_false(here) {
                continue;
            }
            let term = of(self, part)?;
            chosen = Some(match chosen {
                Some(other) => self.pool.ite(here, term, other),
                None => term,
            });
        }
        let Some(chosen) = chosen else {
            return Err(self.needs_index(path, "an array without such an instance"));
        };
        let is_one = self.pool.or(is_one);
        self.oblige(is_one, ObligationCause::Item(path.span));
        Ok(chosen)
    }

    fn needs_index(&mut self, path: &PartPath<'_>, what: &str) -> Reported {
        self.sink
            .error(|| Diagnostic::new(Code::UnknownPart, path.span, format!("`{}` is {what}", path.family)))
    }

    /// Writes a quantifier over a range out as all its cases; `None` outside the goals of a system, or if there are too
    /// many.
    pub(super) fn written_out(
        &mut self,
        quantifier: Quantifier,
        var: &Name,
        (lo, hi): (i64, i64),
        body: &Expr,
    ) -> Option<Result<Term, Reported>> {
        if self.parts.is_empty() || hi.checked_sub(lo).is_none_or(|n| n >= MAX_WRITTEN_OUT) {
            return None;
        }
        let mut cases = Vec::new();
        for at in lo..=hi {
            let term = self.pool.int(at);
            self.bound.push(BoundName { name: var.text.clone(), term, part_of: None });
            let case = self.check(body, Sort::Bool, SortRole::Condition);
            self.bound.pop();
            match case {
                Ok(case) => cases.push(case),
                Err(why) => return Some(Err(why)),
            }
        }
        Some(Ok(match quantifier {
            Quantifier::Exists => self.pool.or(cases),
            Quantifier::Forall => self.pool.and(cases),
        }))
    }
}
