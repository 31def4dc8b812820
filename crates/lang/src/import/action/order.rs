//! Assignments that read what a neighbour changes.
//!
//! Neighbouring assignments happen at once (Fig. 2 of [AT15]), so `n := n + 1; m := n` gives `m` the old `n`. Who writes
//! a comma knows; otherwise it is told, except in bodies as the paper has them, where nothing else could be meant.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use rustc_hash::FxHashMap;

use super::body::Separator;
use crate::ast::{Expr, ExprKind, Name, Update, UpdateKind};
use crate::resolve::each_child;

/// A finding, and what stands before the assignment it is about.
pub(super) type OrderDoubt = (Separator, Diagnostic);

/// Whether `doubt` is worth telling; `is_plain` says that the body is as the paper has it.
pub(super) fn is_told((separator, _): &OrderDoubt, is_plain: bool) -> bool {
    match separator {
        Separator::Comma => false,
        Separator::Nothing => !is_plain,
        Separator::Semicolon => true,
    }
}

/// What the neighbours so far change.
#[derive(Default)]
pub(super) struct ChangedNames {
    names: FxHashMap<String, Name>,
}

impl ChangedNames {
    /// Takes in one more of them.
    pub(super) fn add(&mut self, update: &Update) {
        let name = target(&update.kind);
        self.names.entry(name.text.clone()).or_insert_with(|| name.clone());
    }

    /// What `next` reads that those before it change; `separator` stands before it.
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
        Some((separator, finding(name, place, next.span)))
    }
}

fn target(kind: &UpdateKind) -> &Name {
    let (UpdateKind::Assign(name, _) | UpdateKind::Put(name, ..) | UpdateKind::Reset(name)) = kind;
    name
}

fn finding(name: &Name, place: Span, update: Span) -> Diagnostic {
    let message = format!("this reads `{}` as it was before", name.text);
    let before = Span { end: update.start, ..update };
    Diagnostic::new(Code::OldValueRead, place, message)
        .label(name.span, "changed here, at the same time")
        .help("write `then` between the two to read the new value")
        .help("write a comma between the two if the old value is meant")
        .fix(before, "then ")
}
