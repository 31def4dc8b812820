//! Mutants as texts: the changed parts of a transition, printed into the text of the model.

use ioxide_lang::ast::{ItemKind, ModelDecl, StateDecl, TransitionDecl};
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::{Model, Switch, SwitchId};
use ioxide_testgen::mutate::{Mutant, MutationChange, MutationOperator};

/// A replacement of bytes.
type Replacement = (usize, usize, String);

/// Returns the text of the mutant; `None` if it cannot be written or does not compile.
pub fn written(model: &mut Model, text: &str, mutant: &Mutant) -> Option<String> {
    let mut sources = Sources::new();
    let file = sources.add("original.iox", text);
    let tree = ioxide_lang::parse(&sources, file).0;
    let decl = tree.model.as_ref()?;
    let mut made: Vec<Replacement> = Vec::new();
    for edit in &mutant.edits {
        match &edit.change {
            MutationChange::Initial(var, value) => {
                let name = model.pool.var_info(*var).name.clone();
                let init = decl.items.iter().find_map(|item| match &item.kind {
                    ItemKind::Var(it) if it.name.text == *name => it.init.as_ref(),
                    _ => None,
                })?;
                made.push((
                    init.span.start as usize,
                    init.span.end as usize,
                    model.pool.show(*value).to_string(),
                ));
            }
            MutationChange::Behind(_) => return None,
            MutationChange::Switch(id, after) => {
                made.extend(changed_switch(model, text, decl, (edit.operator, *id, after))?);
            }
        }
    }
    let wrong = replaced(text, made)?;
    compiles(&wrong).then_some(wrong)
}

fn replaced(text: &str, mut made: Vec<Replacement>) -> Option<String> {
    made.sort();
    let (mut out, mut at) = (String::new(), 0);
    for (start, end, new) in made {
        out.push_str(text.get(at..start)?);
        out.push_str(&new);
        at = end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

fn compiles(text: &str) -> bool {
    let mut sources = Sources::new();
    let file: FileId = sources.add("wrong.iox", text);
    ioxide_lang::load(&sources, file, &ioxide_lang::LoadOptions::default()).model.is_some()
}

/// Returns the replacements that make a switch another one.
fn changed_switch(
    model: &mut Model,
    text: &str,
    decl: &ModelDecl,
    (operator, id, after): (MutationOperator, SwitchId, &Switch),
) -> Option<Vec<Replacement>> {
    let before = model.sts.switches[id].clone();
    // A transition of `any` is several switches.
    if model.sts.switches.iter().filter(|other| other.span == before.span).count() > 1 {
        return None;
    }
    let (state, transition) = find_transition(decl, &before)?;
    let (start, end) = (transition.span.start as usize, transition.span.end as usize);
    let own = text.get(start..end)?;
    Some(match operator {
        MutationOperator::Delete => vec![(start, end, String::new())],
        MutationOperator::Source => {
            let name = model.sts.locations[after.source].name.clone();
            let to = states_of(decl).find(|other| other.name.text == *name)?;
            let target =
                if transition.target.is_some() { String::new() } else { format!(" -> {}", state.name.text) };
            let open = to.name.span.end as usize + text.get(to.name.span.end as usize..)?.find('{')? + 1;
            vec![(start, end, String::new()), (open, open, format!("\n        {own}{target}\n"))]
        }
        MutationOperator::Target => {
            let name = &model.sts.locations[after.target].name;
            match &transition.target {
                Some(target) => {
                    vec![(target.span.start as usize, target.span.end as usize, name.to_string())]
                }
                None => vec![(end, end, format!(" -> {name}"))],
            }
        }
        _ => vec![(start, end, switch_text(model, text, transition, &before, after))],
    })
}

fn states_of(decl: &ModelDecl) -> impl Iterator<Item = &StateDecl> {
    decl.items.iter().filter_map(|item| match &item.kind {
        ItemKind::State(state) => Some(state),
        _ => None,
    })
}

fn find_transition<'a>(decl: &'a ModelDecl, switch: &Switch) -> Option<(&'a StateDecl, &'a TransitionDecl)> {
    let is_same = |transition: &&TransitionDecl| {
        transition.span.start <= switch.span.end && switch.span.start <= transition.span.end
    };
    states_of(decl).find_map(|state| Some((state, state.transitions.iter().find(is_same)?)))
}

/// Returns the transition with the parts that differ printed, the others as they are written.
fn switch_text(
    model: &mut Model,
    text: &str,
    transition: &TransitionDecl,
    before: &Switch,
    after: &Switch,
) -> String {
    let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or("").to_owned();
    let label = transition.label.as_ref().map(|label| format!("{}: ", label.written())).unwrap_or_default();
    let [old, new] = [before, after].map(|switch| written_guard(model, switch));
    let gate = &model.sts.gates[after.gate];
    let name = transition.gate.as_ref().map(|_| format!(" {}", gate.name)).unwrap_or_default();
    let head = format!("{label}{}{name}", transition.verb.word());
    let (mut pins, mut guard) = (String::new(), String::new());
    if old == new && before.gate == after.gate {
        if let (Some(first), Some(last)) = (transition.pins.first(), transition.pins.last()) {
            pins = format!("({})", slice(first.field.span.start, last.value.span.end));
        }
        let from = transition.lets.first().map(|binding| binding.pattern.span.start);
        let to = transition.lets.last().map(|binding| binding.value.span.end);
        let own = transition.guard.as_ref().map(|guard| slice(guard.span.start, guard.span.end));
        guard = match (from, to, own) {
            (Some(from), Some(to), own) => {
                format!(
                    " when let {}{}",
                    slice(from, to),
                    own.map(|own| format!(" && {own}")).unwrap_or_default()
                )
            }
            (_, _, Some(own)) => format!(" when {own}"),
            _ => String::new(),
        };
    } else if !model.pool.is_true(new) {
        (pins, guard) = split_pins(model, after, new);
    }
    let updates = if before.update == after.update && before.resets == after.resets {
        let both = transition.updates.first().zip(transition.updates.last());
        both.map(|(first, last)| format!(" {{ {} }}", slice(first.span.start, last.span.end)))
            .unwrap_or_default()
    } else {
        printed_updates(model, after)
    };
    let target =
        transition.target.as_ref().map(|target| format!(" -> {}", target.written())).unwrap_or_default();
    format!("{head}{pins}{guard}{updates}{target}")
}

/// Returns the guard without the condition that updated values are in their ranges.
fn written_guard(model: &mut Model, switch: &Switch) -> ioxide_model::term::Term {
    match switch.range_check {
        Some(check) => model.pool.conjuncts_beyond(switch.guard, check),
        None => switch.guard,
    }
}

/// Returns the fields that a guard fixes as pins, and the rest of it as a guard.
fn split_pins(model: &mut Model, switch: &Switch, guard: ioxide_model::term::Term) -> (String, String) {
    let fields = model.sts.gates[switch.gate].fields.clone();
    let mut left = fields.clone();
    let (mut pins, mut rest) = (Vec::new(), Vec::new());
    for fact in model.pool.conjuncts(guard) {
        let fixed = left.iter().position(|&field| {
            let value = model.pool.solved_for(field, fact);
            value.is_some_and(|value| !model.pool.free_vars(value).iter().any(|var| fields.contains(var)))
        });
        match fixed {
            Some(at) => {
                let field = left.remove(at);
                let value = model.pool.solved_for(field, fact).unwrap_or(fact);
                pins.push(format!("{}: {}", model.pool.var_info(field).name, model.pool.show(value)));
            }
            None => rest.push(fact),
        }
    }
    let rest = model.pool.and(rest);
    let guard =
        if model.pool.is_true(rest) { String::new() } else { format!(" when {}", model.pool.show(rest)) };
    (if pins.is_empty() { String::new() } else { format!("({})", pins.join(", ")) }, guard)
}

fn printed_updates(model: &Model, switch: &Switch) -> String {
    let assigned = switch
        .update
        .iter()
        .map(|(var, term)| format!("{} = {}", model.pool.var_info(*var).name, model.pool.show(*term)));
    let reset = switch.resets.iter().map(|clock| format!("reset {}", model.pool.var_info(*clock).name));
    let all: Vec<String> = assigned.chain(reset).collect();
    if all.is_empty() { String::new() } else { format!(" {{ {} }}", all.join(", ")) }
}
