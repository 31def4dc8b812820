//! Changes of declarations: initial values, constants, functions.

use ioxide_lang::ast::{ItemKind, VarDecl};

use super::expression::{RewriteContext, rewrites};
use super::{EditCandidate, Rewrite, choice_bits};
use crate::failure::FailurePoint;
use crate::scope::{ModelScope, TypedName, note_names};
use rustc_hash::FxHashSet;

/// Adds the changes of initial values, constants and functions.
pub(super) fn changes(scope: &ModelScope<'_>, failure: &FailurePoint, found: &mut Vec<EditCandidate>) {
    for item in &scope.model.items {
        match &item.kind {
            ItemKind::Var(decl) => initial_values(scope, failure, decl, found),
            ItemKind::Const(decl) => {
                let cx = RewriteContext { scope, failure, fields: &[], unused: &[] };
                let ty = scope.type_of(&decl.value, &[]);
                let all = rewrites(cx, &decl.value, ty.as_deref());
                add_all(scope, all, &format!("the constant `{}`", decl.name.text), found);
            }
            ItemKind::Fn(decl) => {
                let params = decl.params.iter();
                let params: Vec<TypedName> = params
                    .map(|param| TypedName { name: param.name.text.clone(), ty: scope.type_text(&param.ty) })
                    .collect();
                let mut used = FxHashSet::default();
                note_names(&decl.body, &mut used);
                let unused =
                    params.iter().map(|param| param.name.clone()).filter(|name| !used.contains(name));
                let unused: Vec<String> = unused.collect();
                let cx = RewriteContext { scope, failure, fields: &params, unused: &unused };
                let all = rewrites(cx, &decl.body, Some(&scope.type_text(&decl.result)));
                add_all(scope, all, &format!("the function `{}`", decl.name.text), found);
            }
            ItemKind::Message(_)
            | ItemKind::Clock(_)
            | ItemKind::Type(_)
            | ItemKind::Enum(_)
            | ItemKind::Record(_)
            | ItemKind::State(_)
            | ItemKind::Any(_)
            | ItemKind::Transition(_)
            | ItemKind::Purpose(_)
            | ItemKind::Property(_)
            | ItemKind::Response(_)
            | ItemKind::Test(_) => (),
        }
    }
}

fn initial_values(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    decl: &VarDecl,
    found: &mut Vec<EditCandidate>,
) {
    let Some(init) = &decl.init else { return };
    let ty = scope.type_text(&decl.ty);
    let cx = RewriteContext { scope, failure, fields: &[], unused: &[] };
    let mut all = rewrites(cx, init, Some(&ty));
    let own = scope.slice(init.span);
    let seen: Vec<&String> = failure.values_of(&ty).filter(|text| *text != own).collect();
    let bits = 3.0 + choice_bits(seen.len()) / 2.0;
    let plain = |text: &str| text.trim_start_matches('(').trim_end_matches(')').to_owned();
    all.extend(seen.into_iter().map(|text| Rewrite::of(init.span, text.clone(), bits)));
    // Brackets around a negative number are for the middle of an expression.
    let negative =
        all.iter_mut().filter(|it| it.text.starts_with("(-") && it.start == init.span.start as usize);
    negative.for_each(|rewrite| rewrite.text = plain(&rewrite.text));
    // One value at the start explains little: it is gone after the first assignment.
    all.iter_mut().for_each(|rewrite| rewrite.bits += 1.0);
    add_all(scope, all, &format!("the initial value of `{}`", decl.name.text), found);
}

fn add_all(scope: &ModelScope<'_>, all: Vec<Rewrite>, role: &str, found: &mut Vec<EditCandidate>) {
    for rewrite in all {
        let text =
            if rewrite.text.is_empty() { "a part less".to_owned() } else { format!("`{}`", rewrite.text) };
        let reason = format!("{role}: {text}");
        found.push(scope.candidate(vec![rewrite], reason));
    }
}
