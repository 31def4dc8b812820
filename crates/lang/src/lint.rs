//! Findings that need no solver: unused names, unreachable states, hidden names.

use std::fmt::{self, Write};
use std::rc::Rc;

use ioxide_model::code::Code;
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::index::IndexVec;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateKind, LocId, Sts};
use ioxide_model::term::{Term, TermNode};
use rustc_hash::FxHashSet;

use crate::ast::{ExprKind, FieldDecl, ItemKind, ModelDecl, ModelItem, TransitionDecl, UpdateKind};
use crate::resolve::NameTable;
use crate::typeck::{Checker, GateItem, ValueItem};

/// Returns warnings about `decl`, which has a meaning but looks wrong.
pub(crate) fn check_model(decl: &ModelDecl, sts: &Sts, cx: &Checker<'_, '_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    unused_values(cx, &mut found);
    unused_messages(&cx.gates, &mut found);
    report_unused(&cx.functions, Code::UnusedFunction, "function", "is never called", &mut found);
    report_unused(&cx.types, Code::UnusedType, "type", "is never used", &mut found);
    unreachable_states(sts, &mut found);
    nonlinear(sts, cx, &mut found);
    // Labels are optional. A missing one is worth a word only in a model that uses them.
    let has_labels = decl.items.iter().flat_map(transitions_of).any(|transition| transition.label.is_some());
    for item in &decl.items {
        check_item(item, cx, &mut found);
        for transition in transitions_of(item) {
            check_transition(transition, cx, has_labels, &mut found);
        }
    }
    found
}

fn unused_values(cx: &Checker<'_, '_>, found: &mut Vec<Diagnostic>) {
    for (name, entry) in cx.values.iter().filter(|(_, entry)| !entry.used) {
        let (code, message) = match entry.item {
            ValueItem::Var(_) => (Code::UnusedVariable, format!("variable `{name}` is never read")),
            ValueItem::Clock(_) => (Code::UnusedClock, format!("clock `{name}` is never read")),
            ValueItem::Const(_) => (Code::UnusedConstant, format!("constant `{name}` is never used")),
            _ => continue,
        };
        found
            .push(Diagnostic::new(code, entry.span, message).help("remove it, or use it where it was meant"));
    }
}

fn report_unused<T>(
    table: &NameTable<'_, T>,
    code: Code,
    what: &str,
    how: &str,
    found: &mut Vec<Diagnostic>,
) {
    for (name, entry) in table.iter().filter(|(_, entry)| !entry.used) {
        let message = format!("{what} `{name}` {how}");
        found
            .push(Diagnostic::new(code, entry.span, message).help("remove it, or use it where it was meant"));
    }
}

/// Warns of inputs that no transition takes, which look forgotten, and hints at outputs that none emits, which must
/// never occur.
fn unused_messages(gates: &NameTable<'_, Rc<GateItem>>, found: &mut Vec<Diagnostic>) {
    for (name, entry) in gates.iter().filter(|(_, entry)| !entry.used) {
        found.push(match entry.item.kind {
            // An output without a transition has a meaning: whenever it comes, it is a failure.
            GateKind::Output => Diagnostic {
                severity: Severity::Hint,
                ..Diagnostic::new(Code::UnusedGate, entry.span, format!("output `{name}` must never come"))
                    .note("no transition emits it, so it is a failure whenever it is seen")
                    .help("leave it if that is meant; add a transition if it may come")
            },
            GateKind::Input | GateKind::Observed | GateKind::Internal => {
                let message = format!("input `{name}` is never taken");
                Diagnostic::new(Code::UnusedGate, entry.span, message)
                    .help("add a transition that takes it, or remove it")
            }
        });
    }
}

/// States that no sequence of switches reaches, guards ignored.
fn unreachable_states(sts: &Sts, found: &mut Vec<Diagnostic>) {
    let mut targets: IndexVec<LocId, Vec<LocId>> = IndexVec::from_elem(Vec::new(), sts.locations.len());
    for switch in &sts.switches {
        targets[switch.source].push(switch.target);
    }
    let mut reached: IndexVec<LocId, bool> = IndexVec::from_elem(false, sts.locations.len());
    let mut open = vec![sts.initial];
    while let Some(loc) = open.pop() {
        if !std::mem::replace(&mut reached[loc], true) {
            open.extend(&targets[loc]);
        }
    }
    let initial = &sts.locations[sts.initial];
    for (_, location) in sts.locations.iter_enumerated().filter(|(id, _)| !reached[*id]) {
        let message = format!("no path of transitions reaches state `{}`", location.name);
        found.push(
            Diagnostic::new(Code::UnreachableState, location.span, message)
                .note(format!("the initial state is the first one, `{}`", initial.name))
                .help("give a transition this target, or remove the state"),
        );
    }
}

/// Switches with products of unknowns or unknown divisors; copies of one text once.
fn nonlinear(sts: &Sts, cx: &Checker<'_, '_>, found: &mut Vec<Diagnostic>) {
    // Terms are shared between switches: each is walked once, and reported at the first switch that has it.
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut reported: FxHashSet<Span> = FxHashSet::default();
    for switch in &sts.switches {
        let mut open: Vec<Term> = switch.update.iter().map(|&(_, term)| term).chain([switch.guard]).collect();
        while let Some(term) = open.pop() {
            if !seen.insert(term) {
                continue;
            }
            let node = cx.pool.node(term);
            if is_nonlinear(node, cx) && reported.insert(switch.span) {
                let message = format!("`{}` may be too hard for the solver", shorten_term(cx, term));
                found.push(
                    Diagnostic::new(Code::Nonlinear, switch.span, message)
                        .note("it multiplies or divides by a value that is not constant"),
                );
            }
            open.extend(node.children());
        }
    }
}

/// Returns the start of `term` as text; shared subterms could make the whole of it very long.
fn shorten_term(cx: &Checker<'_, '_>, term: Term) -> String {
    let mut start = TextHead { text: String::new(), room: 60 };
    if write!(start, "{}", cx.pool.show(term)).is_err() {
        start.text.push_str("...");
    }
    start.text
}

/// A writer that fails once its room is used up.
struct TextHead {
    text: String,
    room: usize,
}

impl Write for TextHead {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let n_chars = piece.chars().count();
        self.text.extend(piece.chars().take(self.room));
        // An error stops the printing: the rest of a long term is never made.
        self.room = self.room.checked_sub(n_chars).ok_or(fmt::Error)?;
        Ok(())
    }
}

fn is_nonlinear(node: &TermNode, cx: &Checker<'_, '_>) -> bool {
    let is_unknown = |term: &&Term| !cx.pool.is_ground(**term);
    match node {
        TermNode::Mul(list) => list.iter().filter(is_unknown).count() > 1,
        TermNode::Div(_, by) | TermNode::Rem(_, by) | TermNode::RealDiv(_, by) => is_unknown(&by),
        _ => false,
    }
}

fn check_item(item: &ModelItem, cx: &Checker<'_, '_>, found: &mut Vec<Diagnostic>) {
    match &item.kind {
        ItemKind::Any(transitions) if transitions.is_empty() => {
            let message = "this `any` has no transitions";
            found.push(Diagnostic::new(Code::EmptyAny, item.span, message).help("remove it"));
        }
        ItemKind::Message(message) => report_hidden(&message.fields, "field", cx, |_| true, found),
        // Functions cannot read variables, so a parameter of the same name is not misleading.
        ItemKind::Fn(decl) => {
            let misleads = |item| matches!(item, ValueItem::Const(_) | ValueItem::Variant(..));
            report_hidden(&decl.params, "parameter", cx, misleads, found);
        }
        _ => {}
    }
}

/// Warns about fields that hide a value of the model with the same name.
fn report_hidden(
    fields: &[FieldDecl],
    what: &str,
    cx: &Checker<'_, '_>,
    misleads: impl Fn(ValueItem) -> bool,
    found: &mut Vec<Diagnostic>,
) {
    for field in fields {
        let name = &field.name;
        let Some(entry) = cx.values.get(&name.text).filter(|entry| misleads(entry.item)) else { continue };
        let other = match entry.item {
            ValueItem::Var(_) => "variable",
            ValueItem::Clock(_) => "clock",
            ValueItem::Const(_) => "constant",
            _ => "value",
        };
        let message = format!("{what} `{}` hides the {other} of the same name", name.text);
        found.push(
            Diagnostic::new(Code::Shadowing, name.span, message)
                .label(entry.span, format!("this {other}"))
                .help("rename one of them"),
        );
    }
}

/// Returns the transitions that an item declares.
fn transitions_of(item: &ModelItem) -> &[TransitionDecl] {
    match &item.kind {
        ItemKind::State(state) => &state.transitions,
        ItemKind::Any(transitions) => transitions,
        ItemKind::Transition(transition) => std::slice::from_ref(transition),
        _ => &[],
    }
}

fn check_transition(
    transition: &TransitionDecl,
    cx: &Checker<'_, '_>,
    has_labels: bool,
    found: &mut Vec<Diagnostic>,
) {
    if has_labels && transition.label.is_none() {
        found.push(
            Diagnostic::new(Code::MissingLabel, transition.verb_span, "this transition has no label")
                .note("other transitions of the model have one")
                .help("write `label: ` before it"),
        );
    }
    let gate = transition.gate.as_ref().and_then(|gate| cx.gates.get(&gate.text));
    for update in &transition.updates {
        let UpdateKind::Assign(target, value) = &update.kind else { continue };
        // A name on the right may be a field of the message that hides the variable: then something is
        // assigned.
        let is_field = gate.is_some_and(|gate| gate.item.fields.contains_key(&target.text));
        if !is_field && matches!(&value.kind, ExprKind::Name(name) if *name == target.text) {
            let message = format!("`{}` keeps its value anyway", target.text);
            found.push(
                Diagnostic::new(Code::SelfAssignment, update.span, message).help("remove the assignment"),
            );
        }
    }
}
