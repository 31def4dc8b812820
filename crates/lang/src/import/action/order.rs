//! Warnings about assignments that read a variable which a neighbour changes.
//!
//! Neighbouring assignments happen at once (Fig. 2 of \[AT15]), so `n := n + 1; m := n` gives `m` the old `n`. A comma
//! shows that the author knows; otherwise there is a warning, except in bodies of the paper's form, where nothing else
//! could be meant.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use super::body::Separator;
use crate::ast::{Expr, ExprKind, Name, Update, UpdateKind};
use crate::resolve::each_child;

/// A finding, with the separator before the assignment it is about.
pub(super) type OrderDoubt = (Separator, Diagnostic);

/// Returns whether to report the finding; `is_plain` is true for a body of the paper's form.
pub(super) fn is_told((separator, _): &OrderDoubt, is_plain: bool) -> bool {
    match separator {
        Separator::Comma => false,
        Separator::Nothing => !is_plain,
        Separator::Semicolon => true,
    }
}

/// The variables that the neighbouring assignments so far change.
#[derive(Default)]
pub(super) struct ChangedNames {
    names: FxHashMap<String, Name>,
}

impl ChangedNames {
    /// Adds the variable that `update` changes.
    pub(super) fn add(&mut self, update: &Update) {
        let name = changed_name(&update.kind);
        self.names.entry(name.text.clone()).or_insert_with(|| name.clone());
    }

    /// Returns a finding if `next` reads a variable that an assignment before it changes; `separator` stands before
    /// `next`.
    pub(super) fn doubt(&self, next: &Update, separator: Separator) -> Option<OrderDoubt> {
        let mut open: Vec<&Expr> = match &next.kind {
            UpdateKind::Assign(_, value) => vec![value],
            UpdateKind::Put(_, key, value) => vec![key, value],
            UpdateKind::Reset(_) => Vec::new(),
        };
        let mut found: Option<(&Name, Span)> = None;
        while let Some(expr) = open.pop() {
            if let ExprKind::Name(name) = &expr.kind
                && let Some(changed) = self.names.get(name.as_str())
                // Of several, the one that is changed first.
                && found.is_none_or(|(earlier, _)| changed.span.start < earlier.span.start)
            {
                found = Some((changed, expr.span));
            }
            each_child(expr, &mut |child| open.push(child));
        }
        let (name, place) = found?;
        Some((separator, old_value_finding(name, place, next.span)))
    }
}

/// Returns the variable or clock that an update changes.
fn changed_name(kind: &UpdateKind) -> &Name {
    let (UpdateKind::Assign(name, _) | UpdateKind::Put(name, ..) | UpdateKind::Reset(name)) = kind;
    name
}

/// Returns the finding that `place` reads the old value of `name`, with both ways to say what is meant.
fn old_value_finding(name: &Name, place: Span, update: Span) -> Diagnostic {
    let message = format!("this reads `{}` as it was before", name.text);
    let before = Span { end: update.start, ..update };
    Diagnostic::new(Code::OldValueRead, place, message)
        .label(name.span, "changed here, at the same time")
        .help("write `then` between the two to read the new value")
        .help("write a comma between the two if the old value is meant")
        .fix(before, "then ")
}
