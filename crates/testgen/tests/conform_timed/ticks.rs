//! Conformance in time by enumeration of ticks: the definition, word by word.

use std::collections::{BTreeSet, HashSet};

use super::machine::{BEYOND, Machine, State, Verb, fields};

/// What enumeration found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A difference after so many steps, and none before.
    Difference(usize),
    /// None in so many steps.
    NoneWithin(usize),
}

type States = BTreeSet<State>;

/// The states a machine may be in after `delay`, with the state they were entered in and when.
fn elapsed(machine: &Machine, entry: &States, delay: u16) -> Vec<(u16, State)> {
    let mut found: Vec<(u16, State)> = entry.iter().map(|&state| (0, state)).collect();
    let mut next = 0;
    while let Some(&(since, state)) = found.get(next) {
        next += 1;
        for at in since..=delay {
            let there = state.after(at - since);
            for switch in machine.enabled(there, Verb::Tau, 0) {
                let entered = (at, switch.taken(there, 0));
                if !found.contains(&entered) {
                    found.push(entered);
                }
            }
        }
    }
    found
}

const REACTIONS: [Verb; 3] = [Verb::Y, Verb::Z, Verb::Tau];
const EXCUSES: [Verb; 4] = [Verb::O, Verb::Y, Verb::Z, Verb::Tau];

/// Whether nothing can come from `state` any more unless the tester sends something.
fn is_quiet(machine: &Machine, state: State) -> bool {
    (0..=BEYOND).all(|at| !machine.can(state.after(at), &REACTIONS))
}

/// Whether `state`, just entered, may send nothing for so long.
fn may_wait(machine: &Machine, state: State, ticks: u16) -> bool {
    ticks == 0
        || (ticks..=ticks + BEYOND).any(|at| machine.can(state.after(at), &EXCUSES))
        || is_quiet(machine, state)
}

/// The states after internal steps that take no time.
fn closed(machine: &Machine, states: States) -> States {
    elapsed(machine, &states, 0).into_iter().map(|(_, state)| state).collect()
}

fn after(machine: &Machine, entry: &States, delay: u16, verb: Verb, field: u16) -> States {
    let mut next = States::new();
    for (since, state) in elapsed(machine, entry, delay) {
        let there = state.after(delay - since);
        next.extend(machine.enabled(there, verb, field).map(|switch| switch.taken(there, field)));
    }
    closed(machine, next)
}

/// As [`after`] for an implementation, which waits only where it may and ignores inputs it does not take.
fn completed(machine: &Machine, entry: &States, delay: u16, verb: Verb, field: u16) -> States {
    let mut next = States::new();
    for (since, state) in elapsed(machine, entry, delay) {
        if !may_wait(machine, state, delay - since) {
            continue;
        }
        let there = state.after(delay - since);
        let reached: Vec<State> =
            machine.enabled(there, verb, field).map(|switch| switch.taken(there, field)).collect();
        if reached.is_empty() && !machine.can(there, &[Verb::Tau]) {
            next.insert(there);
        }
        next.extend(reached);
    }
    closed(machine, next)
}

fn waits(machine: &Machine, entry: &States, delay: u16) -> bool {
    elapsed(machine, entry, delay).into_iter().any(|(since, state)| may_wait(machine, state, delay - since))
}

/// The first difference between what `imp` does and what `spec` allows, within `depth` steps.
pub fn compare(imp: &Machine, spec: &Machine, depth: usize, budget: usize) -> Found {
    let start = |machine: &Machine| closed(machine, machine.start().into_iter().collect());
    let mut layer = vec![(start(imp), start(spec))];
    let mut seen: HashSet<(States, States)> = HashSet::new();
    for at in 0..depth {
        let mut next = Vec::new();
        for (left, right) in &layer {
            if steps(imp, spec, left, right, &mut next).is_err() {
                return Found::Difference(at + 1);
            }
        }
        next.retain(|pair| seen.insert(pair.clone()));
        if next.len() > budget {
            return Found::NoneWithin(at + 1);
        }
        layer = next;
    }
    Found::NoneWithin(depth)
}

struct Difference;

fn steps(
    imp: &Machine,
    spec: &Machine,
    left: &States,
    right: &States,
    next: &mut Vec<(States, States)>,
) -> Result<(), Difference> {
    let quiet = |machine: &Machine, states: &States| -> States {
        states.iter().copied().filter(|&state| is_quiet(machine, state)).collect()
    };
    let (quiet_left, quiet_right) = (quiet(imp, left), quiet(spec, right));
    if !quiet_left.is_empty() {
        if quiet_right.is_empty() {
            return Err(Difference);
        }
        next.push((quiet_left, quiet_right));
    }
    for delay in 0..=BEYOND {
        if delay > 0 && waits(imp, left, delay) && !waits(spec, right, delay) {
            return Err(Difference);
        }
        for verb in [Verb::Y, Verb::Z, Verb::A, Verb::O] {
            for field in fields(verb) {
                let reached = match verb.is_input() {
                    true => completed(imp, left, delay, verb, field),
                    false => after(imp, left, delay, verb, field),
                };
                if reached.is_empty() {
                    continue;
                }
                let allowed = after(spec, right, delay, verb, field);
                match (allowed.is_empty(), verb.is_input()) {
                    (true, false) => return Err(Difference),
                    (true, true) => (),
                    (false, _) => next.push((reached, allowed)),
                }
            }
        }
    }
    Ok(())
}
