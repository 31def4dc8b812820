//! Assignments that read what a neighbour changes.
//!
//! Neighbouring assignments happen at once (Fig. 2 of [AT15]), so `n := n + 1; m := n` gives `m` the old `n`. Who writes
//! a comma knows; otherwise it is told, except in bodies as the paper has them, where nothing else could be meant.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::body::Separator;
use crate::ast::{Expr, ExprKind, Name, Update, UpdateKind};
use crate::resolve::each_child;

/// A finding, and what stands before the assignment it is about.
pub(super) type Doubt = (Separator, Diagnostic);

/// Whether `doubt` is worth telling; `is_plain` says that the body is as the paper has it.
pub(super) fn is_told((separator, _): &Doubt, is_plain: bool) -> bool {
    match separator {
        Separator::Comma => false,
        Separator::Nothing => !is_plain,
        Separator::Semicolon => true,
    }
}

/// What the last of the neighbours in `group` reads that those before it change; `separator` stands before it.
pub(super) fn doubt(group: &[Update], separator: Separator) -> Option<Doubt> {
    let (last, earlier) = group.split_last()?;
    let read: Vec<&Expr> = match &last.kind {
        UpdateKind::Assign(_, value) => vec![value],
        UpdateKind::Put(_, key, value) => vec![key, value],
        UpdateKind::Reset(_) => Vec::new(),
    };
    let changed = earlier.iter().map(|update| target(&update.kind));
    let (name, place) = changed.into_iter().find_map(|name| Some((name, reads(&read, &name.text)?)))?;
    Some((separator, finding(name, place, last.span)))
}

fn target(kind: &UpdateKind) -> &Name {
    let (UpdateKind::Assign(name, _) | UpdateKind::Put(name, ..) | UpdateKind::Reset(name)) = kind;
    name
}

/// Where `exprs` mention `name`.
fn reads(exprs: &[&Expr], name: &str) -> Option<Span> {
    let mut open: Vec<&Expr> = exprs.to_vec();
    while let Some(expr) = open.pop() {
        if matches!(&expr.kind, ExprKind::Name(other) if other == name) {
            return Some(expr.span);
        }
        each_child(expr, &mut |child| open.push(child));
    }
    None
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
