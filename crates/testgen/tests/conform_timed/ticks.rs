//! Conformance in time by enumeration of ticks: the definition, word by word.

#![allow(dead_code, reason = "not every test uses everything here")]

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

/// What enumeration found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A difference after so many steps, and none before.
    Difference(usize),
    /// None in so many steps.
    NoneWithin(usize),
    /// None, however far one looks.
    NoneAtAll,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Tester,
    SomebodyElse,
    System,
}

/// A machine that moves in ticks.
pub trait InTicks {
    type State: Copy + Ord + Hash;

    /// All times from here on are alike.
    fn beyond(&self) -> u16;
    /// The states at start.
    fn start(&self) -> Vec<Self::State>;
    /// Messages with all values: who moves, by number.
    fn messages(&self) -> &[Side];
    /// The state so many ticks later.
    fn later(&self, state: Self::State, ticks: u16) -> Self::State;
    /// The states after a message now.
    fn taken(&self, state: Self::State, message: usize) -> Vec<Self::State>;
    /// The states after an internal step now.
    fn internal(&self, state: Self::State) -> Vec<Self::State>;
}

type States<M> = BTreeSet<<M as InTicks>::State>;

/// Whether a message of such a side, or an internal step, is possible now.
fn can<M: InTicks>(machine: &M, state: M::State, wanted: &[Side]) -> bool {
    let messages = machine.messages().iter().enumerate();
    !machine.internal(state).is_empty()
        || messages
            .filter(|(_, side)| wanted.contains(side))
            .any(|(at, _)| !machine.taken(state, at).is_empty())
}

/// The states a machine may be in after `delay`, as they were entered, and when.
fn elapsed<M: InTicks>(machine: &M, entry: &States<M>, delay: u16) -> Vec<(u16, M::State)> {
    let mut found: Vec<(u16, M::State)> = entry.iter().map(|&state| (0, state)).collect();
    let mut next = 0;
    while let Some(&(since, state)) = found.get(next) {
        next += 1;
        for at in since..=delay {
            for entered in machine.internal(machine.later(state, at - since)) {
                if !found.contains(&(at, entered)) {
                    found.push((at, entered));
                }
            }
        }
    }
    found
}

/// Whether nothing can come from `state` any more unless the tester sends something.
fn is_quiet<M: InTicks>(machine: &M, state: M::State) -> bool {
    (0..=machine.beyond()).all(|at| !can(machine, machine.later(state, at), &[Side::System]))
}

/// Whether `state`, just entered, may send nothing for so long.
fn may_wait<M: InTicks>(machine: &M, state: M::State, ticks: u16) -> bool {
    let excuses = [Side::System, Side::SomebodyElse];
    ticks == 0
        || (ticks..=ticks + machine.beyond()).any(|at| can(machine, machine.later(state, at), &excuses))
        || is_quiet(machine, state)
}

/// The states after internal steps that take no time.
fn closed<M: InTicks>(machine: &M, states: States<M>) -> States<M> {
    elapsed(machine, &states, 0).into_iter().map(|(_, state)| state).collect()
}

fn after<M: InTicks>(machine: &M, entry: &States<M>, delay: u16, message: usize) -> States<M> {
    let mut next = States::<M>::new();
    for (since, state) in elapsed(machine, entry, delay) {
        next.extend(machine.taken(machine.later(state, delay - since), message));
    }
    closed(machine, next)
}

/// As [`after`] for an implementation, which waits only where it may and ignores inputs it does not take.
fn completed<M: InTicks>(machine: &M, entry: &States<M>, delay: u16, message: usize) -> States<M> {
    let mut next = States::<M>::new();
    for (since, state) in elapsed(machine, entry, delay) {
        if !may_wait(machine, state, delay - since) {
            continue;
        }
        let there = machine.later(state, delay - since);
        let reached = machine.taken(there, message);
        if reached.is_empty() && machine.internal(there).is_empty() {
            next.insert(there);
        }
        next.extend(reached);
    }
    closed(machine, next)
}

fn waits<M: InTicks>(machine: &M, entry: &States<M>, delay: u16) -> bool {
    elapsed(machine, entry, delay).into_iter().any(|(since, state)| may_wait(machine, state, delay - since))
}

/// The first difference between what `imp` does and what `spec` allows, within `depth` steps; a level with more
/// than `budget` pairs of beliefs is the last.
pub fn compare<M: InTicks>(imp: &M, spec: &M, depth: usize, budget: usize) -> Found {
    let start = |machine: &M| closed(machine, machine.start().into_iter().collect());
    let mut layer = vec![(start(imp), start(spec))];
    let mut seen: HashSet<(States<M>, States<M>)> = HashSet::new();
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
        if next.is_empty() {
            return Found::NoneAtAll;
        }
        layer = next;
    }
    Found::NoneWithin(depth)
}

struct Difference;

fn steps<M: InTicks>(
    imp: &M,
    spec: &M,
    left: &States<M>,
    right: &States<M>,
    next: &mut Vec<(States<M>, States<M>)>,
) -> Result<(), Difference> {
    let quiet = |machine: &M, states: &States<M>| -> States<M> {
        states.iter().copied().filter(|&state| is_quiet(machine, state)).collect()
    };
    let (quiet_left, quiet_right) = (quiet(imp, left), quiet(spec, right));
    if !quiet_left.is_empty() {
        if quiet_right.is_empty() {
            return Err(Difference);
        }
        next.push((quiet_left, quiet_right));
    }
    for delay in 0..=imp.beyond().max(spec.beyond()) {
        if delay > 0 && waits(imp, left, delay) && !waits(spec, right, delay) {
            return Err(Difference);
        }
        for (message, side) in imp.messages().iter().enumerate() {
            let is_input = *side != Side::System;
            let reached = match is_input {
                true => completed(imp, left, delay, message),
                false => after(imp, left, delay, message),
            };
            if reached.is_empty() {
                continue;
            }
            let allowed = after(spec, right, delay, message);
            match (allowed.is_empty(), is_input) {
                (true, false) => return Err(Difference),
                (true, true) => (),
                (false, _) => next.push((reached, allowed)),
            }
        }
    }
    Ok(())
}
