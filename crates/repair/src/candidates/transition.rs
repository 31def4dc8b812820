//! Changes of a transition: guard, pins, message, updates, resets, target, source; or none of it at all.

use ioxide_lang::ast::{
    CmpOp, DirectionDecl, Expr, ExprKind, Name, StateDecl, TransitionDecl, UpdateKind, Verb,
};
use ioxide_model::name::source_name;
use ioxide_model::source::Span;
use rustc_hash::FxHashSet;

use super::assignment::{AssignableValue, new_assignments, values_for};
use super::expression::{RewriteContext, neighbours, rewrites};
use super::{EditCandidate, Rewrite, choice_bits};
use crate::failure::FailurePoint;
use crate::samples::GuardSamples;
use crate::scope::{ModelScope, TransitionPlace, TypedName, UNUSED_BITS, expressions_of, note_names, walk};

/// The greatest number of conditions that are tried as a guard of one transition. Chosen by feel.
const MAX_CONDITIONS: usize = 100;
/// The greatest number of other values that are tried for a pin. Chosen by feel.
const MAX_VALUES: usize = 24;

/// Adds every change of the transition at `place`.
pub(super) fn changes(
    scope: &ModelScope<'_>,
    (failure, samples): (&FailurePoint, &GuardSamples),
    place: TransitionPlace<'_>,
    found: &mut Vec<EditCandidate>,
) {
    let site = Site::new(scope, failure, place);
    // The order of these calls is the order of candidates that cost the same: the sort by cost is stable, and
    // the search may be stopped at any candidate.
    let from = found.len();
    let is_seen = site.is_seen();
    if !is_seen && place.transition.verb == Verb::On {
        // No run shows what becomes of an input that was not given.
        site.shared_bounds(found);
        site.messages(found);
        return;
    }
    site.guards(found);
    site.separators(samples, found);
    site.shared_bounds(found);
    site.pins(found);
    site.messages(found);
    // What a transition changes matters only where it is taken.
    if is_seen {
        site.updates(found);
        site.clocks(found);
        site.targets(found);
    }
    // What stands in the wrong state is not made right by changing it there.
    if site.is_misplaced() {
        found[from..].iter_mut().for_each(|candidate| candidate.bits += 0.5);
    }
    site.sources(found);
    site.removal(found);
}

/// Adds the changes by which a transition of another state comes to the states of the failure.
pub(super) fn elsewhere(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    place: TransitionPlace<'_>,
    found: &mut Vec<EditCandidate>,
) {
    let gate = place.transition.gate.as_ref();
    // An input of another state explains neither an output nor silence here, and one more output does not
    // explain silence. An internal step may: it leads out of the states of the failure.
    let is_wanted = match (&failure.observed_gate, place.transition.verb) {
        (Some(observed), Verb::Emit) => gate.is_some_and(|gate| gate.text == *observed),
        (_, Verb::Internal) => true,
        (_, Verb::On | Verb::Emit | Verb::Quiet) => false,
    };
    if !is_wanted {
        return;
    }
    let site = Site::new(scope, failure, place);
    site.sources(found);
}

/// A transition that is changed.
struct Site<'a> {
    scope: &'a ModelScope<'a>,
    failure: &'a FailurePoint,
    place: TransitionPlace<'a>,
    name: String,
    /// The names beside those of the model: the fields of its message, and what its guard binds.
    fields: Vec<TypedName>,
    /// Those of them that it does not use.
    unused: Vec<String>,
}

impl<'a> Site<'a> {
    fn new(scope: &'a ModelScope<'a>, failure: &'a FailurePoint, place: TransitionPlace<'a>) -> Self {
        let fields = scope.names_of(place.transition);
        let mut used = FxHashSet::default();
        expressions_of(place.transition).into_iter().for_each(|expr| note_names(expr, &mut used));
        let unused =
            fields.iter().map(|field| field.name.clone()).filter(|name| !used.contains(name)).collect();
        Self { scope, failure, place, name: scope.name_of(place), fields, unused }
    }
}

impl Site<'_> {
    /// The transition itself.
    fn transition(&self) -> &TransitionDecl {
        self.place.transition
    }

    /// Returns whether its message may be in the run of the failure; true if it has none.
    fn is_seen(&self) -> bool {
        let gate = self.transition().gate.as_ref();
        gate.is_none_or(|gate| self.failure.may_have_seen(&gate.text))
    }

    /// The names and values that its expressions may use.
    fn cx(&self) -> RewriteContext<'_> {
        RewriteContext {
            scope: self.scope,
            failure: self.failure,
            fields: &self.fields,
            unused: &self.unused,
        }
    }

    /// Adds a candidate of these rewrites, which belong together.
    fn add(&self, found: &mut Vec<EditCandidate>, rewrites: Vec<Rewrite>, reason: String) {
        found.push(self.scope.candidate(rewrites, reason));
    }

    /// Adds the rewrites of one expression.
    fn add_all(&self, found: &mut Vec<EditCandidate>, all: Vec<Rewrite>, expr: &Expr, role: &str) {
        for rewrite in all {
            let changed = self.changed_text(expr, &rewrite);
            let reason = format!("{}: {role} is `{changed}`", self.name);
            self.add(found, vec![rewrite], reason);
        }
    }

    /// Returns the text of `expr` after `rewrite`, on one line.
    fn changed_text(&self, expr: &Expr, rewrite: &Rewrite) -> String {
        // Made of the source, not printed from the tree: the reason shows what the user wrote, with one part
        // replaced.
        let (start, end) = (expr.span.start as usize, expr.span.end as usize);
        let before = self.scope.text.get(start..rewrite.start).unwrap_or("");
        let behind = self.scope.text.get(rewrite.end..end).unwrap_or("");
        let text = format!("{before}{}{behind}", rewrite.text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Adds changes of the guard: inside of it, without it, its negation, and further conditions.
    fn guards(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        if let Some(guard) = &transition.guard {
            self.add_all(found, rewrites(self.cx(), guard, Some("bool")), guard, "the guard");
            self.removed_guard(found, guard);
            let own = self.scope.slice(guard.span);
            if !matches!(guard.kind, ExprKind::Not(_)) {
                let reason = format!("{}: the guard is negated", self.name);
                self.add(found, vec![Rewrite::of(guard.span, format!("!({own})"), 3.0)], reason);
            }
        }
        // The type of a matched value is not known here; the front end refuses the rewrites of another one.
        for binding in &transition.lets {
            let all = rewrites(self.cx(), &binding.value, None);
            self.add_all(found, all, &binding.value, "the matched value");
        }
        let conditions = self.conditions();
        // Half the logarithm of the number of choices, as at other places with long lists: with the whole of
        // it, a long list would make each of its conditions dearer still.
        let bits = 4.0 + choice_bits(conditions.len()) / 2.0;
        for (condition, extra) in conditions {
            // The first way makes the guard narrower, the second one wider.
            for (rewrite, when) in
                self.with_condition(&condition, bits + extra).into_iter().zip(["only", "also"])
            {
                let reason = format!("{}: {when} if `{condition}`", self.name);
                self.add(found, vec![rewrite], reason);
            }
        }
    }

    /// Adds conditions that hold at every step at which the input was answered as the model says, and at no other.
    fn separators(&self, samples: &GuardSamples, found: &mut Vec<EditCandidate>) {
        if self.transition().verb != Verb::On {
            return;
        }
        let number = |text: &str| text.parse::<i64>().ok();
        let literals = self.scope.literals.get("int").map_or(&[][..], Vec::as_slice);
        let literals = literals.iter().filter_map(|text| Some((text.clone(), number(text)?)));
        let consts = self.scope.numbers.iter().cloned();
        let constants: Vec<(String, i64)> = consts.chain(literals).collect();
        for it in samples.separators(self.scope.file, self.transition().span, &constants) {
            let reason = format!("{}: only if `{}`", self.name, it.condition);
            // The narrower guard only: nothing was seen that it would have to let through besides.
            if let Some(rewrite) = self.with_condition(&it.condition, 5.0 + it.bits).into_iter().next() {
                self.add(found, vec![rewrite], reason);
            }
        }
    }

    /// Moves a bound in all guards of the state that compare the same expression with it: cases that complete each
    /// other, such as `n < 3` and `n >= 3`, are changed together.
    fn shared_bounds(&self, found: &mut Vec<EditCandidate>) {
        let (Some(state), Some(guard)) = (self.place.state, &self.transition().guard) else { return };
        for (expr, literal) in self.bounds_of(guard) {
            let own = (self.scope.slice(expr), self.scope.slice(literal));
            let mut all: Vec<Span> = Vec::new();
            for other in state.transitions.iter().filter_map(|other| other.guard.as_ref()) {
                let same = self.bounds_of(other).into_iter();
                let same = same.filter(|(expr, it)| (self.scope.slice(*expr), self.scope.slice(*it)) == own);
                all.extend(same.map(|(_, literal)| literal));
            }
            // This runs for every transition of the state, but the candidate is made once: for the one whose
            // bound comes first in the text.
            if all.len() < 2 || all.first() != Some(&literal) {
                continue;
            }
            let seen = self.failure.values_of("int").cloned();
            let mut texts: Vec<String> = neighbours(own.1).into_iter().chain(seen).collect();
            texts.retain(|text| text != own.1);
            for text in texts {
                // Each bound costs something, although they are one decision: the more bounds move together,
                // the dearer the candidate.
                let rewrites = all.iter().map(|span| Rewrite::of(*span, text.clone(), 1.5)).collect();
                let reason =
                    format!("`{}` is compared with `{text}` everywhere in `{}`", own.0, state.name.text);
                self.add(found, rewrites, reason);
            }
        }
    }

    /// Returns the expressions that a guard compares with a number, and the places of both.
    fn bounds_of(&self, guard: &Expr) -> Vec<(Span, Span)> {
        let mut found = Vec::new();
        walk(guard, &mut |part| {
            if let ExprKind::Compare(first, rest) = &part.kind
                && let [(_, second)] = &rest[..]
            {
                match (&first.kind, &second.kind) {
                    (_, ExprKind::Number(_)) => found.push((first.span, second.span)),
                    (ExprKind::Number(_), _) => found.push((second.span, first.span)),
                    _ => (),
                }
            }
        });
        found
    }

    fn removed_guard(&self, found: &mut Vec<EditCandidate>, guard: &Expr) {
        // `when` and the space around it go too; a pattern in front of the guard keeps its `when`.
        let end = guard.span.end as usize;
        // The syntax tree has no span for the word before the guard, so it is found in the text. With a
        // comment there, the suffix is not found and there is no candidate.
        let before = self.scope.text.get(..guard.span.start as usize).unwrap_or("").trim_end();
        let word = if self.transition().lets.is_empty() { "when" } else { "&&" };
        let Some(head) = before.strip_suffix(word) else { return };
        let rewrite = Rewrite { start: head.trim_end().len(), end, text: String::new(), bits: 4.0 };
        self.add(found, vec![rewrite], format!("{}: without its guard", self.name));
    }

    /// The conditions that a guard may lack: those of the rest of the model and their opposites, and comparisons with
    /// values that were seen. Each with the bits that it costs beyond the choice.
    fn conditions(&self) -> Vec<(String, f64)> {
        let mut all: Vec<(String, f64)> = Vec::new();
        let mut add = |text: String, bits: f64| {
            if all.len() < MAX_CONDITIONS && !all.iter().any(|(known, _)| *known == text) {
                all.push((text, bits));
            }
        };
        // The order of the sources matters: the list is cut off at MAX_CONDITIONS, and a condition that two
        // sources give keeps the price of the first.
        for sibling in self.siblings() {
            let Some(guard) = &sibling.guard else { continue };
            let written = self.scope.written(guard, &self.scope.names_of(sibling));
            if self.scope.is_in_scope(&written, &self.fields) {
                add(self.opposite(guard), 0.0);
                add(written.text, 0.5);
            }
        }
        let atoms = self.scope.atoms.iter().filter(|atom| self.scope.is_in_scope(atom, &self.fields));
        for atom in atoms {
            add(atom.text.clone(), 1.0);
            add(negated(&atom.text), 1.0);
        }
        // The same comparison with another sign.
        for (left, sign, right, written) in &self.scope.compared {
            if self.scope.is_in_scope(written, &self.fields) {
                for other in ["<", "<=", ">", ">=", "!=", "=="].iter().filter(|other| *other != sign) {
                    add(format!("{left} {other} {right}"), 1.5);
                }
            }
        }
        for (text, bits) in self.comparisons() {
            add(text, bits);
        }
        all
    }

    /// The transitions beside this one, by which its guard may be the opposite of another.
    fn siblings(&self) -> Vec<&TransitionDecl> {
        let Some(state) = self.place.state else {
            return self.scope.transitions().map(|place| place.transition).collect();
        };
        state.transitions.iter().filter(|other| other.span != self.transition().span).collect()
    }

    /// Returns the opposite of a guard: with the other sign if it is one comparison.
    fn opposite(&self, guard: &Expr) -> String {
        if let ExprKind::Compare(first, rest) = &guard.kind
            && let [(sign, second)] = &rest[..]
        {
            let sign = match sign {
                CmpOp::Eq => "!=",
                CmpOp::Ne => "==",
                CmpOp::Lt => ">=",
                CmpOp::Le => ">",
                CmpOp::Gt => "<=",
                CmpOp::Ge => "<",
            };
            return format!("{} {sign} {}", self.scope.slice(first.span), self.scope.slice(second.span));
        }
        if let ExprKind::Not(inner) = &guard.kind {
            return self.scope.slice(inner.span).to_owned();
        }
        negated(self.scope.slice(guard.span))
    }

    /// Comparisons of numbers and values of enums in scope with what was seen at the failure.
    fn comparisons(&self) -> Vec<(String, f64)> {
        let mut all = Vec::new();
        let names = self.fields.iter().chain(&self.scope.vars);
        for TypedName { name, ty } in names {
            let written = source_name(name).into_owned();
            match ty.as_str() {
                "int" => {
                    let literals = self.scope.literals.get("int").map_or(&[][..], Vec::as_slice);
                    // At most twelve values, each tried with six signs. No reason for the number is recorded.
                    for value in self.failure.values_of("int").chain(literals).take(12) {
                        for sign in ["==", "!=", "<", "<=", ">", ">="] {
                            all.push((format!("{written} {sign} {value}"), 3.0));
                        }
                    }
                    let others = self.fields.iter().chain(&self.scope.vars).filter(|other| other.ty == "int");
                    for other in others.filter(|other| other.name != *name) {
                        for sign in ["==", "!=", "<", "<="] {
                            all.push((format!("{written} {sign} {}", source_name(&other.name)), 3.0));
                        }
                    }
                }
                "bool" => {
                    all.push((written.clone(), 2.0));
                    all.push((format!("!{written}"), 2.0));
                }
                other => {
                    let values = self.scope.variants.iter().filter(|variant| variant.ty == other);
                    for value in values {
                        for sign in ["==", "!="] {
                            all.push((format!("{written} {sign} {}", source_name(&value.name)), 2.0));
                        }
                    }
                }
            }
        }
        all
    }

    /// Returns the ways to add a condition to the guard: as a part of a conjunction, or as another case.
    fn with_condition(&self, condition: &str, bits: f64) -> Vec<Rewrite> {
        let transition = self.transition();
        // `||` and `=>` bind less tightly than `&&`. Brackets that are not needed, as around a text that
        // contains one of them, do no harm.
        let is_whole = !condition.contains("&&") && !condition.contains("||") && !condition.contains("=>");
        let part = if is_whole { condition.to_owned() } else { format!("({condition})") };
        match (&transition.guard, transition.lets.last()) {
            (Some(guard), _) => {
                let own = self.scope.slice(guard.span);
                // These kinds bind at least as tightly as `&&`. A kind that is missing in this list gets
                // brackets that it does not need.
                let needs_brackets = !matches!(
                    guard.kind,
                    ExprKind::Compare(..)
                        | ExprKind::And(_)
                        | ExprKind::Name(_)
                        | ExprKind::Not(_)
                        | ExprKind::Method(..)
                );
                let bracketed = if needs_brackets { format!("({own})") } else { own.to_owned() };
                let either = match guard.kind {
                    ExprKind::And(_) => format!("({own}) || {part}"),
                    _ => format!("{bracketed} || {part}"),
                };
                vec![
                    Rewrite::of(guard.span, format!("{bracketed} && {part}"), bits),
                    Rewrite::of(guard.span, either, bits + 1.0),
                ]
            }
            // A pattern without a guard: the condition follows its value, where the grammar puts `&&`.
            (None, Some(binding)) => {
                let at = binding.value.span.end as usize;
                vec![Rewrite { start: at, end: at, text: format!(" && {part}"), bits }]
            }
            (None, None) => {
                let at = self.scope.head_end(transition);
                vec![Rewrite { start: at, end: at, text: format!(" when {condition}"), bits }]
            }
        }
    }

    /// Adds changes of pins: other values, one left out, two exchanged.
    fn pins(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        for (at, pin) in transition.pins.iter().enumerate() {
            let field = self.fields.iter().find(|field| field.name == pin.field.text);
            let ty = field.map(|field| field.ty.as_str());
            let role = format!("`{}`", pin.field.text);
            let mut all = rewrites(self.cx(), &pin.value, ty);
            let own = self.scope.slice(pin.value.span);
            let gate = transition.gate.as_ref().map(|gate| gate.text.clone()).unwrap_or_default();
            let elsewhere = self.scope.pinned.get(&(gate, pin.field.text.clone()));
            let others = elsewhere.into_iter().flatten().filter(|other| other.text != own);
            all.extend(
                others.take(MAX_VALUES).map(|other| Rewrite::of(pin.value.span, other.text.clone(), 3.0)),
            );
            if let Some(ty) = ty {
                let seen: Vec<&String> = self.failure.values_of(ty).take(8).collect();
                all.extend(seen.into_iter().map(|text| Rewrite::of(pin.value.span, text.clone(), 6.0)));
            }
            self.add_all(found, all, &pin.value, &role);
            self.removed_pin(found, at);
        }
        self.swapped_pins(found);
    }

    /// Leaves out one pin: its field may have any value.
    fn removed_pin(&self, found: &mut Vec<EditCandidate>, at: usize) {
        let pins = &self.transition().pins;
        // With the pin goes the comma on one side of it: the one behind, or for the last pin the one before.
        // A single pin takes its brackets with it.
        let (start, end) = match (pins.get(at + 1), at) {
            (Some(next), _) => (pins[at].field.span.start as usize, next.field.span.start as usize),
            (None, 0) => {
                let Some(gate) = &self.transition().gate else { return };
                (gate.span.end as usize, self.scope.head_end(self.transition()))
            }
            (None, _) => (pins[at - 1].value.span.end as usize, pins[at].value.span.end as usize),
        };
        let rewrite = Rewrite { start, end, text: String::new(), bits: 6.0 };
        let reason = format!("{}: `{}` may have any value", self.name, pins[at].field.text);
        self.add(found, vec![rewrite], reason);
    }

    /// Swaps the values of two pins.
    fn swapped_pins(&self, found: &mut Vec<EditCandidate>) {
        let pins = &self.transition().pins;
        for (at, one) in pins.iter().enumerate() {
            for other in &pins[at + 1..] {
                let [a, b] = [one, other].map(|pin| self.scope.slice(pin.value.span));
                if a != b {
                    let reason =
                        format!("{}: `{}` and `{}` swapped", self.name, one.field.text, other.field.text);
                    let swap =
                        vec![Rewrite::of(one.value.span, b, 1.5), Rewrite::of(other.value.span, a, 1.5)];
                    self.add(found, swap, reason);
                }
            }
        }
    }

    /// Another message of the same direction with the same types of fields, or any if no field is named.
    fn messages(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        let Some(gate) = &transition.gate else { return };
        let Some(own) = self.scope.message(&gate.text) else { return };
        let direction = |it: DirectionDecl| it == DirectionDecl::Output;
        let others: Vec<_> = self
            .scope
            .messages
            .iter()
            .filter(|other| other.name != own.name && direction(other.direction) == direction(own.direction))
            .collect();
        let bits = 3.0 + choice_bits(others.len()) / 2.0;
        for other in others {
            let renamed = source_name(&other.name).into_owned();
            let is_seen = self.failure.observed_gate.as_ref() == Some(&other.name);
            let bits = if is_seen { 2.5 } else { bits } - self.scope.unused_bits(&other.name);
            let has_same_fields = transition
                .pins
                .iter()
                .all(|pin| other.fields.iter().any(|field| field.name == pin.field.text));
            let reason = format!("{}: the message is `{}`", self.name, other.name);
            if has_same_fields {
                self.add(found, vec![Rewrite::of(gate.span, renamed, bits)], reason);
                continue;
            }
            // Fields of the same types in the same order: only their names change.
            let types =
                |fields: &[TypedName]| fields.iter().map(|field| field.ty.clone()).collect::<Vec<_>>();
            if types(&own.fields) == types(&other.fields) {
                let rename = |name: &Name| {
                    let at = own.fields.iter().position(|field| field.name == name.text)?;
                    Some(Rewrite::of(name.span, source_name(&other.fields[at].name), 0.5))
                };
                let pins = transition.pins.iter().filter_map(|pin| rename(&pin.field));
                let all = std::iter::once(Rewrite::of(gate.span, renamed, bits)).chain(pins).collect();
                self.add(found, all, reason);
            } else if transition.verb == Verb::Emit && is_seen {
                // The fields do not fit, but the message was seen. It is sent with any values, because no expression
                // for them is known: a much weaker model, which costs more.
                let rewrite = Rewrite {
                    start: gate.span.start as usize,
                    end: self.scope.head_end(transition),
                    text: renamed,
                    bits: bits + 3.0,
                };
                self.add(found, vec![rewrite], reason);
            }
        }
    }

    /// Adds changes of updates: one left out, another value, another variable, one more.
    fn updates(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        for (at, update) in transition.updates.iter().enumerate() {
            self.removed_update(found, at);
            match &update.kind {
                UpdateKind::Assign(name, value) => {
                    let ty = self.scope.type_of_name(&name.text, &[]);
                    let mut all = rewrites(self.cx(), value, ty.as_deref());
                    let own = self.scope.slice(value.span);
                    let others = self.values_for(&name.text).into_iter();
                    let others = others.filter(|other| other.text != own);
                    all.extend(others.map(|it| Rewrite::of(value.span, it.text, 3.0 + it.bits)));
                    self.add_all(found, all, value, &format!("the new `{}`", name.text));
                    self.other_targets(found, name, ty.as_deref());
                }
                UpdateKind::Put(name, key, value) => {
                    let role = format!("a part of `{}`", name.text);
                    for expr in [key, value] {
                        self.add_all(found, rewrites(self.cx(), expr, None), expr, &role);
                    }
                }
                UpdateKind::Reset(_) => (),
            }
        }
        for (name, value, bits) in self.new_assignments() {
            let reason = format!("{}: also `{name} = {value}`", self.name);
            let rewrite = self.with_update(&format!("{} = {value}", source_name(&name)), bits);
            self.add(found, vec![rewrite], reason);
        }
    }

    /// Assigns the value to another variable of the same type.
    fn other_targets(&self, found: &mut Vec<EditCandidate>, name: &Name, ty: Option<&str>) {
        let is_assigned = |other: &str| {
            self.transition().updates.iter().any(|update| match &update.kind {
                UpdateKind::Assign(own, _) | UpdateKind::Put(own, ..) => own.text == other,
                UpdateKind::Reset(_) => false,
            })
        };
        let vars = self.scope.vars.iter().filter(|var| Some(&*var.ty) == ty && !is_assigned(&var.name));
        let others: Vec<&TypedName> = vars.collect();
        let bits = 3.0 + choice_bits(others.len()) / 2.0;
        for var in others {
            let reason = format!("{}: it assigns to `{}` in place of `{}`", self.name, var.name, name.text);
            let bits = if self.scope.unassigned.contains(&var.name) { bits - UNUSED_BITS } else { bits };
            self.add(found, vec![Rewrite::of(name.span, source_name(&var.name), bits)], reason);
        }
    }

    fn removed_update(&self, found: &mut Vec<EditCandidate>, at: usize) {
        let updates = &self.transition().updates;
        let own = self.scope.slice(updates[at].span).split_whitespace().collect::<Vec<_>>().join(" ");
        // As for pins: the comma behind the update goes too, for the last one the comma before, for the only
        // one the whole block.
        let (start, end) = match (updates.get(at + 1), at) {
            (Some(next), _) => (updates[at].span.start as usize, next.span.start as usize),
            (None, 0) => self.scope.update_block(self.transition()),
            (None, _) => (updates[at - 1].span.end as usize, updates[at].span.end as usize),
        };
        if self.scope.text.get(start..end).unwrap_or("//").contains("//") {
            return;
        }
        let rewrite = Rewrite { start, end, text: String::new(), bits: 2.5 };
        self.add(found, vec![rewrite], format!("{}: without `{own}`", self.name));
    }

    /// Returns an addition to the updates.
    fn with_update(&self, update: &str, bits: f64) -> Rewrite {
        let transition = self.transition();
        match transition.updates.last() {
            Some(last) => {
                let at = last.span.end as usize;
                Rewrite { start: at, end: at, text: format!(", {update}"), bits }
            }
            None => {
                let at = self.scope.guard_end(transition);
                Rewrite { start: at, end: at, text: format!(" {{ {update} }}"), bits }
            }
        }
    }

    /// The assignments that the transition may lack.
    fn new_assignments(&self) -> Vec<(String, String, f64)> {
        new_assignments(self.scope, self.failure, self.transition(), &self.fields)
    }

    /// The values that may be assigned to a variable.
    fn values_for(&self, name: &str) -> Vec<AssignableValue> {
        values_for(self.scope, self.failure, name, &self.fields)
    }

    /// Adds resets of clocks that it does not reset, also in the place of one that it does.
    fn clocks(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        let resets = |clock: &str| {
            transition
                .updates
                .iter()
                .any(|update| matches!(&update.kind, UpdateKind::Reset(it) if it.text == clock))
        };
        for clock in &self.scope.clocks {
            if !resets(clock) {
                let reason = format!("{}: also `reset {clock}`", self.name);
                let update = format!("reset {}", source_name(clock));
                self.add(found, vec![self.with_update(&update, 3.0)], reason);
                for update in &transition.updates {
                    if let UpdateKind::Reset(name) = &update.kind {
                        let reason = format!("{}: `reset {clock}` in place of `{}`", self.name, name.text);
                        self.add(found, vec![Rewrite::of(name.span, source_name(clock), 2.5)], reason);
                    }
                }
            }
        }
    }

    /// Adds every other state as the target.
    fn targets(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        let here = self.place.state.map(|state| state.name.text.as_str());
        let now = transition.target.as_ref().map(|target| target.text.as_str()).or(here);
        let others: Vec<_> =
            self.scope.states.iter().filter(|state| Some(state.name.text.as_str()) != now).collect();
        let bits = 2.0 + choice_bits(others.len()) / 2.0;
        for state in others {
            let name = source_name(&state.name.text).into_owned();
            let rewrite = match &transition.target {
                Some(target) => Rewrite::of(target.span, name, bits),
                None => {
                    let at = transition.span.end as usize;
                    Rewrite { start: at, end: at, text: format!(" -> {name}"), bits }
                }
            };
            let rewrite =
                Rewrite { bits: rewrite.bits - self.scope.unused_bits(&state.name.text), ..rewrite };
            self.add(found, vec![rewrite], format!("{}: it leads to `{}`", self.name, state.name.text));
        }
    }

    /// Moves the transition to a state of the failure, or away from where it is.
    fn sources(&self, found: &mut Vec<EditCandidate>) {
        let transition = self.transition();
        let Some(own) = self.place.state else { return };
        // An attribute or doc comment would have to move too; its place is not known well enough.
        if !transition.meta.docs.is_empty() || !transition.meta.attrs.is_empty() {
            return;
        }
        let others: Vec<_> =
            self.scope.states.iter().filter(|state| state.name.span != own.name.span).collect();
        let bits = 5.0 + choice_bits(others.len()) / 2.0;
        for state in others {
            let target = transition
                .target
                .as_ref()
                // Without a target, a transition stays in its state. Moved elsewhere it has to name it, or it
                // would change its target as well.
                .map_or_else(|| format!(" -> {}", source_name(&own.name.text)), |_| String::new());
            let text = format!("{}{target}", self.scope.slice(transition.span));
            let Some(insertion) = self.scope.insertion(state, &text) else { continue };
            let (start, end) = self.scope.line_of(transition);
            let bits = (bits - self.fitness_of_source(own, state)).max(1.5);
            // One decision, two places: the removal carries the price and the insertion is free.
            let removal = Rewrite { start, end, text: String::new(), bits };
            let reason = format!("{} starts at `{}`", self.name, state.name.text);
            self.add(found, vec![removal, Rewrite { bits: 0.0, ..insertion }], reason);
        }
    }

    /// Returns the bits that speak for `other` as the source: states mostly take inputs or send outputs, transitions of
    /// one state lead to the same places, and a state without transitions has lost one. The weights are chosen by feel.
    fn fitness_of_source(&self, own: &StateDecl, other: &StateDecl) -> f64 {
        let transition = self.transition();
        let target_of = |it: &TransitionDecl, state: &StateDecl| {
            it.target.as_ref().map_or_else(|| state.name.text.clone(), |target| target.text.clone())
        };
        let target = target_of(transition, own);
        let is_alike = |it: &&TransitionDecl| it.verb == transition.verb;
        let gate = transition.gate.as_ref().map(|gate| &gate.text);
        let there = &other.transitions;
        let alike = there.iter().filter(is_alike).count();
        let mut bits = 0.0;
        if there.is_empty() {
            bits += 2.0;
        } else if alike == there.len() {
            bits += 1.0;
        } else if alike == 0 {
            bits -= 1.5;
        }
        if there.iter().filter(is_alike).any(|it| target_of(it, other) == target) {
            bits += 1.5;
        }
        let has_gate =
            there.iter().filter(is_alike).any(|it| it.gate.as_ref().map(|gate| &gate.text) == gate);
        bits += if has_gate { -0.5 } else { 0.5 };
        bits + if self.is_misplaced() { 3.5 } else { 0.0 }
    }

    /// Returns whether no other transition of the state is of this kind, and another state has only such ones.
    fn is_misplaced(&self) -> bool {
        let (Some(own), verb) = (self.place.state, self.transition().verb) else { return false };
        let mut others = own.transitions.iter().filter(|it| it.span != self.transition().span).peekable();
        let is_alone = others.peek().is_some() && others.all(|it| it.verb != verb);
        let is_at_home = |state: &&StateDecl| {
            state.name.span != own.name.span
                && !state.transitions.is_empty()
                && state.transitions.iter().all(|it| it.verb == verb)
        };
        is_alone && self.scope.states.iter().any(is_at_home)
    }

    /// Adds the candidate without the transition.
    fn removal(&self, found: &mut Vec<EditCandidate>) {
        let (start, end) = self.scope.line_of(self.transition());
        let removal = Rewrite { start, end, text: String::new(), bits: 5.0 };
        self.add(found, vec![removal], format!("{} is left out", self.name));
    }
}

/// Returns the negation of a condition.
fn negated(text: &str) -> String {
    match text.strip_prefix('!') {
        Some(inner) if !inner.contains(' ') => inner.to_owned(),
        _ if text.contains(' ') => format!("!({text})"),
        _ => format!("!{text}"),
    }
}
