//! Transitions that are missing: the message that was seen, an input that was refused, or a step without a message.
//!
//! After an input that no state of the belief takes everything is allowed, so that no run fails for it. A run shows a
//! missing input where another state of the belief takes it, or a part of a system has to: the states that would have
//! explained what follows are gone.

use ioxide_lang::ast::{DirectionDecl, StateDecl, TransitionDecl, Verb};
use ioxide_lang::lexeme::{LexemeKind, lexemes};
use ioxide_model::name::source_name;

use super::assignment::new_assignments;
use super::{AddedTransition, EditCandidate, Rewrite, choice_bits};
use crate::failure::FailurePoint;
use crate::scope::{MessageInfo, ModelScope, TypedName};

/// The greatest number of combinations of values that are tried for the fields of a missing message. Chosen by feel.
const MAX_PINS: usize = 12;
/// The greatest number of ways in which one added transition is made stronger. Chosen by feel.
const MAX_STRONGER: usize = 150;
/// The bits of an output that a state lacks and that is sent as another one of it. Chosen by feel: it explains more
/// than one with values that were seen.
const ANALOGOUS_BITS: f64 = 5.0;
/// The bits of an input that a state lacks. Chosen by feel, as those of an output: such a model is incomplete.
const MISSING_INPUT_BITS: f64 = 7.0;
/// The bits of an input that a part of a system lacks and that no run can show. Chosen by feel: there are more of them.
const UNSEEN_INPUT_BITS: f64 = 9.0;
/// The bits of another transition for an input that the state takes. Chosen by feel: mostly its guard is wrong.
const OTHER_CASE_BITS: f64 = 1.0;

impl ModelScope<'_> {
    /// Returns the insertion of a transition into a state.
    pub(super) fn insertion(&self, state: &StateDecl, text: &str) -> Option<Rewrite> {
        let (at, before) = self.insertion_at(state)?;
        Some(Rewrite { start: at, end: at, text: format!("{before}{text}"), bits: 0.0 })
    }
}

/// Adds the transitions that may be missing where the failure was.
pub(super) fn transitions(scope: &ModelScope<'_>, failure: &FailurePoint, found: &mut Vec<EditCandidate>) {
    for state in scope.states.iter().filter(|state| failure.is_at(&state.name.text)) {
        outputs(scope, failure, state, found);
        analogous_outputs(scope, failure, state, found);
        internal_steps(scope, state, found);
    }
}

/// Adds the output that was seen, with the values that it had, to any state.
fn outputs(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    state: &StateDecl,
    found: &mut Vec<EditCandidate>,
) {
    let Some(message) = failure.observed_gate.as_ref().and_then(|gate| scope.message(gate)) else { return };
    let targets = ordered_targets(scope, state, Verb::Emit);
    for (pins, pin_bits) in pin_texts(scope, failure, message) {
        // The price grows with the place in the list of targets, so their order is kept and none is left out.
        for (rank, target) in targets.iter().enumerate() {
            let head = format!("emit {}{pins}", source_name(&message.name));
            let bits = 7.0 + pin_bits + choice_bits(rank + 1);
            let shown = format!("`{}` may also send `{}{pins}`", state.name.text, message.name);
            add(scope, (state, Verb::Emit), (&message.name, head, target), (bits, shown), found);
        }
    }
}

/// Adds the output that was seen as another one of the state is sent: the same guard, updates and target, with a value
/// of an enum that no transition of the state asks for in the place of the one that the other asks for. And as another
/// state sends it.
fn analogous_outputs(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    state: &StateDecl,
    found: &mut Vec<EditCandidate>,
) {
    let Some(message) = failure.observed_gate.as_ref().and_then(|gate| scope.message(gate)) else { return };
    let mut texts: Vec<String> = Vec::new();
    for model in state.transitions.iter().filter(|it| it.verb == Verb::Emit) {
        let (from, to) = (scope.head_end(model), model.span.end as usize);
        let rest = scope.text.get(from..to).unwrap_or("");
        let bound = &scope.names_of(model)[scope.fields_of(model).len()..];
        let pins = pins_of_bound(message, bound);
        for rest in scope.with_free_values(state, rest) {
            let text = format!("emit {}{pins}{rest}", source_name(&message.name));
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    // The same message as another state sends it.
    let others = scope.states.iter().filter(|other| other.name.text != state.name.text);
    let same = others
        .flat_map(|other| &other.transitions)
        .filter(|it| it.verb == Verb::Emit && it.gate.as_ref().is_some_and(|gate| gate.text == message.name));
    for model in same {
        let text = scope.text.get(model.verb_span.start as usize..model.span.end as usize).unwrap_or("");
        if !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    let bits = ANALOGOUS_BITS - scope.unused_bits(&message.name) + choice_bits(texts.len()) / 2.0;
    for text in texts {
        let Some(insertion) = scope.insertion(state, &text) else { continue };
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = format!("`{}` lacks `{shown}`", state.name.text);
        found.push(scope.candidate(vec![Rewrite { bits, ..insertion }], reason));
    }
}

/// Returns pins by which the fields of a message have the values of bound names of their types.
fn pins_of_bound(message: &MessageInfo, bound: &[TypedName]) -> String {
    let mut left: Vec<&TypedName> = bound.iter().collect();
    let pins = message.fields.iter().filter_map(|field| {
        let at = left.iter().position(|name| name.ty == field.ty)?;
        Some(format!("{}: {}", source_name(&field.name), source_name(&left.remove(at).name)))
    });
    let pins: Vec<String> = pins.collect();
    if pins.is_empty() { String::new() } else { format!("({})", pins.join(", ")) }
}

impl ModelScope<'_> {
    /// Returns the text of a part of a transition with each value of an enum that no transition of `state` mentions in
    /// the place of one that the text mentions; the text itself if it mentions none.
    fn with_free_values(&self, state: &StateDecl, text: &str) -> Vec<String> {
        let mentioned = |text: &str| -> Vec<String> {
            let names = lexemes(text).into_iter().filter(|it| it.kind == LexemeKind::Name);
            names.filter_map(|it| Some(text.get(it.start as usize..it.end as usize)?.to_owned())).collect()
        };
        let here = mentioned(self.slice(state.span));
        // A value with as many parts as the other binds as many names.
        let plain = self.variants.iter().map(|it| (&it.name, &it.ty, 0));
        let made = self.constructors.iter().map(|it| (&it.name, &it.result, it.params.len()));
        let values: Vec<(&String, &String, usize)> = plain.chain(made).collect();
        let own: Vec<String> = mentioned(text);
        let mut found = Vec::new();
        for (name, ty, n) in values.iter().filter(|(name, ..)| own.contains(name)) {
            let is_free = |other: &&(&String, &String, usize)| {
                other.1 == *ty && other.2 == *n && !here.contains(other.0)
            };
            found.extend(values.iter().filter(is_free).map(|other| with_word(text, name, other.0)));
        }
        if found.is_empty() && !values.iter().any(|(name, ..)| own.contains(name)) {
            found.push(text.to_owned());
        }
        found
    }
}

/// Returns a text with another word in the place of one.
fn with_word(text: &str, old: &str, new: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for lexeme in lexemes(text) {
        let (start, end) = (lexeme.start as usize, lexeme.end as usize);
        if lexeme.kind == LexemeKind::Name && text.get(start..end) == Some(old) {
            out.push_str(text.get(from..start).unwrap_or(""));
            out.push_str(new);
            from = end;
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}

/// Adds steps without a message to the other states.
fn internal_steps(scope: &ModelScope<'_>, state: &StateDecl, found: &mut Vec<EditCandidate>) {
    for target in ordered_targets(scope, state, Verb::Internal) {
        // A step without a message into the same state and without updates changes nothing.
        if target != state.name.text {
            let bits = 10.0 + choice_bits(scope.states.len());
            let shown = format!("`{}` may go on unseen", state.name.text);
            add(scope, (state, Verb::Internal), ("", "internal".into(), &target), (bits, shown), found);
        }
    }
}

/// Adds the inputs that were given on the way and that a state does not take, or not always: to any state, or as a
/// step that changes nothing.
pub(super) fn inputs(scope: &ModelScope<'_>, failure: &FailurePoint, found: &mut Vec<EditCandidate>) {
    for &state in &scope.states {
        let mut known: Vec<&str> = Vec::new();
        for (distance, input) in failure.inputs_at(&state.name.text).enumerate() {
            if !known.contains(&&*input.gate)
                && let Some(message) = scope.message(&input.gate)
            {
                known.push(&input.gate);
                let bits = MISSING_INPUT_BITS + (1.0 + distance as f64).log2() / 2.0;
                missing_input(scope, failure, (state, message), bits, found);
            }
        }
        if failure.has_parts && failure.is_at(&state.name.text) {
            // Messages between parts are not seen: any of them may be refused.
            for message in scope.messages.iter().filter(|it| it.direction != DirectionDecl::Output) {
                if !known.contains(&&*message.name) && taking(state, message).next().is_none() {
                    missing_input(scope, failure, (state, message), UNSEEN_INPUT_BITS, found);
                }
            }
        }
    }
}

/// Adds the transitions by which `state` takes `message`.
fn missing_input(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    (state, message): (&StateDecl, &MessageInfo),
    bits: f64,
    found: &mut Vec<EditCandidate>,
) {
    // A state that takes it already may lack a case.
    let again = if taking(state, message).next().is_some() { OTHER_CASE_BITS } else { 0.0 };
    let head = format!("on {}", source_name(&message.name));
    for (rank, target) in ordered_targets(scope, state, Verb::On).into_iter().enumerate() {
        let sends_observed = scope.states.iter().filter(|it| it.name.text == target).any(|it| {
            let mut outputs = it.transitions.iter().filter(|it| it.verb == Verb::Emit);
            outputs.any(|it| it.gate.as_ref().map(|gate| &gate.text) == failure.observed_gate.as_ref())
        });
        let fits = if failure.observed_gate.is_some() && sends_observed { -1.0 } else { 0.0 };
        let bits = bits + again + fits + choice_bits(rank + 1) / 2.0;
        let shown = format!("`{}` also takes `{}`", state.name.text, message.name);
        add(scope, (state, Verb::On), (&message.name, head.clone(), &target), (bits, shown), found);
    }
}

/// Returns the transitions by which `state` takes `message`.
fn taking<'a>(state: &'a StateDecl, message: &MessageInfo) -> impl Iterator<Item = &'a TransitionDecl> {
    let inputs = state.transitions.iter().filter(|it| it.verb == Verb::On);
    inputs.filter(move |it| it.gate.as_ref().is_some_and(|gate| gate.text == message.name))
}

/// Adds a candidate with a new transition in `state`: `head` up to its target, then the target.
fn add(
    scope: &ModelScope<'_>,
    (state, verb): (&StateDecl, Verb),
    (gate, head, target): (&str, String, &str),
    (bits, shown): (f64, String),
    found: &mut Vec<EditCandidate>,
) {
    let stays = verb == Verb::On && target == state.name.text;
    let tail = if stays { String::new() } else { format!(" -> {}", source_name(target)) };
    let Some(insertion) = scope.insertion(state, &format!("{head}{tail}")) else { return };
    let reason = match (verb, stays) {
        (_, true) => format!("{shown} and stays"),
        (Verb::On, false) => format!("{shown} and goes to `{target}`"),
        _ => format!("{shown} and be in `{target}`"),
    };
    let mut candidate = scope.candidate(vec![Rewrite { bits, ..insertion }], reason);
    let (gate, state) = (gate.to_owned(), state.name.text.clone());
    candidate.added = Some(AddedTransition { gate, state, verb, head, tail });
    found.push(candidate);
}

/// Returns the names of all states: first those that transitions of this kind lead to from here, then from elsewhere.
fn ordered_targets(scope: &ModelScope<'_>, state: &StateDecl, verb: Verb) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let of = |transitions: &[TransitionDecl], own: &StateDecl| -> Vec<String> {
        let same = transitions.iter().filter(|transition| transition.verb == verb);
        same.map(|it| it.target.as_ref().map_or(own.name.text.clone(), |target| target.text.clone()))
            .collect()
    };
    let near = of(&state.transitions, state);
    let far = scope.states.iter().flat_map(|other| of(&other.transitions, other));
    let all = scope.states.iter().map(|other| other.name.text.clone());
    for name in near.into_iter().chain(far).chain(all) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the pins with which a message had the values that were seen, and their costs.
fn pin_texts(scope: &ModelScope<'_>, failure: &FailurePoint, message: &MessageInfo) -> Vec<(String, f64)> {
    let mut all: Vec<(Vec<String>, f64)> = vec![(Vec::new(), 0.0)];
    for (at, field) in message.fields.iter().enumerate() {
        // With fewer values than fields, the values belong to another message.
        let Some(value) = failure.observed_values.get(at) else { return Vec::new() };
        let options = pin_options(scope, failure, (message, field), value);
        let mut next = Vec::new();
        for (pins, bits) in &all {
            for (option, more) in &options {
                let mut pins = pins.clone();
                pins.push(format!("{}: {option}", source_name(&field.name)));
                next.push((pins, bits + more));
            }
        }
        // A beam: after each field only the cheapest combinations go on, otherwise their number is the
        // product over all fields.
        next.sort_by(|a, b| a.1.total_cmp(&b.1));
        next.truncate(MAX_PINS);
        all = next;
    }
    let text =
        |pins: Vec<String>| if pins.is_empty() { String::new() } else { format!("({})", pins.join(", ")) };
    let mut texts: Vec<(String, f64)> = all.into_iter().map(|(pins, bits)| (text(pins), bits)).collect();
    // The message with any values costs as much as a literal for one field: it explains more than was seen.
    if !message.fields.is_empty() {
        texts.push((String::new(), 3.0));
    }
    texts
}

/// Returns the expressions that have the value that a field had, as far as they can be seen.
fn pin_options(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    (message, field): (&MessageInfo, &TypedName),
    value: &str,
) -> Vec<(String, f64)> {
    let mut options: Vec<(String, f64)> = Vec::new();
    let mut add = |text: String, bits: f64| {
        if !options.iter().any(|(known, _)| *known == text) {
            options.push((text, bits));
        }
    };
    let holds = scope.vars.iter().filter(|var| var.ty == field.ty && failure.has_value(&var.name, value));
    for var in holds {
        add(source_name(&var.name).into_owned(), 1.0);
    }
    // At most four, because each is multiplied by the options of the other fields. No reason for the number
    // is recorded.
    for written in scope.pinned.get(&(message.name.clone(), field.name.clone())).into_iter().flatten().take(4)
    {
        add(written.text.clone(), 1.5);
    }
    add(value.to_owned(), 3.0);
    options
}

/// Returns a candidate that adds a transition with a guard or an assignment more.
pub(crate) fn strengthened(
    scope: &ModelScope<'_>,
    failure: &FailurePoint,
    base: &EditCandidate,
) -> Vec<EditCandidate> {
    let Some(added) = &base.added else { return Vec::new() };
    let Some(state) = scope.states.iter().find(|state| state.name.text == added.state) else {
        return Vec::new();
    };
    let fields = scope.message(&added.gate).map_or(&[][..], |message| &message.fields);
    let mut found = Vec::new();
    let mut add = |head: String, bits: f64, reason: String| {
        let Some(insertion) = scope.insertion(state, &format!("{head}{}", added.tail)) else { return };
        let mut candidate = scope.candidate(vec![insertion], reason);
        candidate.bits = base.bits + bits;
        candidate.added = Some(AddedTransition { head, ..added.clone() });
        found.push(candidate);
    };
    // An addition that already has a guard or updates is not made stronger in the same way again.
    if !added.head.contains(" when ") && !added.head.contains('{') {
        for (condition, bits) in guards_of(scope, state, added, fields) {
            let reason = format!("{}, if `{condition}`", base.reason);
            add(format!("{} when {condition}", added.head), bits, reason);
        }
    }
    if !added.head.contains('{')
        && let Some(any) = state.transitions.first()
    {
        // `new_assignments` leaves out the variables that its transition assigns. The new one assigns none yet, so a
        // neighbour without its updates stands for it.
        let bare = TransitionDecl { updates: Vec::new(), ..any.clone() };
        for (name, value, bits) in new_assignments(scope, failure, &bare, fields) {
            let update = format!("{} = {value}", source_name(&name));
            let reason = format!("{}, with `{update}`", base.reason);
            add(format!("{} {{ {update} }}", added.head), bits - 1.0, reason);
        }
    }
    found.truncate(MAX_STRONGER);
    found
}

/// Returns the conditions that the guard of a new transition may be: the opposite of its siblings', and the model's.
fn guards_of(
    scope: &ModelScope<'_>,
    state: &StateDecl,
    added: &AddedTransition,
    fields: &[TypedName],
) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = Vec::new();
    let mut add = |text: String, bits: f64| {
        if !all.iter().any(|(known, _)| *known == text) {
            all.push((text, bits));
        }
    };
    let guards: Vec<String> = state
        .transitions
        .iter()
        .filter(|sibling| sibling.verb == added.verb)
        // An input leaves the cases of other inputs alone; outputs exclude each other.
        .filter(|sibling| {
            added.verb != Verb::On || sibling.gate.as_ref().is_some_and(|gate| gate.text == added.gate)
        })
        .filter_map(|sibling| sibling.guard.as_ref())
        .map(|guard| scope.written(guard, &[]))
        .filter(|written| scope.is_in_scope(written, fields))
        .map(|written| written.text)
        .collect();
    // The guesses from the surroundings come first, because the caller cuts the list off.
    // Cases that compare the same with one value each: the value of the type that no case has.
    for (left, ty) in scope.vars.iter().map(|var| (source_name(&var.name), &var.ty)) {
        let is_case = |value: &str| guards.iter().any(|guard| *guard == format!("{left} == {value}"));
        let values = scope.variants.iter().filter(|value| value.ty == *ty);
        let values: Vec<_> = values.map(|value| source_name(&value.name)).collect();
        let n_cases = values.iter().filter(|value| is_case(value)).count();
        if n_cases > 0 && n_cases == guards.len() {
            for value in values.iter().filter(|value| !is_case(value)) {
                add(format!("{left} == {value}"), 1.5);
            }
        }
    }
    if guards.len() > 1 {
        let all: Vec<String> = guards.iter().map(|guard| format!("!({guard})")).collect();
        add(all.join(" && "), 2.0);
    }
    guards.iter().for_each(|guard| add(format!("!({guard})"), 2.0));
    for atom in scope.atoms.iter().filter(|atom| scope.is_in_scope(atom, fields)) {
        add(atom.text.clone(), 3.0);
        add(format!("!({})", atom.text), 3.5);
    }
    all
}
