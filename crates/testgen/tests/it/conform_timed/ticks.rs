//! Conformance in time by enumeration of ticks: the definition, word by word.

#![allow(dead_code, reason = "not every test uses everything here")]

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

/// The result of enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A difference after this many steps, and none before.
    Difference(usize),
    /// No difference in this many steps.
    NoneWithin(usize),
    /// No difference at any depth.
    NoneAtAll,
}

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Tester,
    SomebodyElse,
    System,
}

/// A machine that moves in ticks.
pub trait InTicks {
    type State: Copy + Ord + Hash;

    /// The number of ticks from which on all times are alike.
    fn beyond(&self) -> u16;
    /// The states at start.
    fn start(&self) -> Vec<Self::State>;
    /// The sender of each message, a message being a gate with values.
    fn messages(&self) -> &[Side];
    /// The state this many ticks later.
    fn later(&self, state: Self::State, ticks: u16) -> Self::State;
    /// The states after a message now.
    fn taken(&self, state: Self::State, message: usize) -> Vec<Self::State>;
    /// The states after an internal step now.
    fn internal(&self, state: Self::State) -> Vec<Self::State>;
    /// True if there are internal steps somewhere.
    fn has_internal(&self) -> bool;
}

type States<M> = BTreeSet<<M as InTicks>::State>;

/// Returns whether a message of one of these senders, or an internal step, is possible now.
fn can<M: InTicks>(machine: &M, state: M::State, wanted: &[Side]) -> bool {
    let messages = machine.messages().iter().enumerate();
    !machine.internal(state).is_empty()
        || messages
            .filter(|(_, side)| wanted.contains(side))
            .any(|(at, _)| !machine.taken(state, at).is_empty())
}

/// The states a machine may be in after some delay, as they were entered, and how long ago, up to [`InTicks::beyond`].
///
/// A tick makes the next set from the last one alone, so delays need not be tried once a set comes again, however
/// often internal steps have reset the clocks by then.
type Entered<M> = BTreeSet<(u16, <M as InTicks>::State)>;

/// Adds the states that internal steps enter now.
fn with_internal<M: InTicks>(machine: &M, mut entered: Entered<M>) -> Entered<M> {
    let mut open: Vec<_> = entered.iter().copied().collect();
    while let Some((age, state)) = open.pop() {
        for next in machine.internal(machine.later(state, age)) {
            if entered.insert((0, next)) {
                open.push((0, next));
            }
        }
    }
    entered
}

/// Returns the entered states before any delay.
fn entered<M: InTicks>(machine: &M, states: &States<M>) -> Entered<M> {
    with_internal(machine, states.iter().map(|&state| (0, state)).collect())
}

/// Returns the entered states one tick later.
fn ticked<M: InTicks>(machine: &M, entered: &Entered<M>) -> Entered<M> {
    let older = |age: u16| (age + 1).min(machine.beyond());
    with_internal(machine, entered.iter().map(|&(age, state)| (older(age), state)).collect())
}

/// Returns whether no output and no internal step can come from `state` any more without an input.
fn is_quiet<M: InTicks>(machine: &M, state: M::State) -> bool {
    (0..=machine.beyond()).all(|at| !can(machine, machine.later(state, at), &[Side::System]))
}

/// Returns whether `state`, just entered, may send nothing for this many ticks.
fn may_wait<M: InTicks>(machine: &M, state: M::State, ticks: u16) -> bool {
    let excuses = [Side::System, Side::SomebodyElse];
    ticks == 0
        || (ticks..=ticks + machine.beyond()).any(|at| can(machine, machine.later(state, at), &excuses))
        || is_quiet(machine, state)
}

/// The states after internal steps that take no time.
fn closed<M: InTicks>(machine: &M, states: &States<M>) -> States<M> {
    entered(machine, states).into_iter().map(|(_, state)| state).collect()
}

/// Returns the states after a message. A state that had to speak before it is in no trace that goes on with it, so it
/// counts only if it may have waited; its own output is its excuse.
fn after<M: InTicks>(machine: &M, entered: &Entered<M>, message: usize) -> States<M> {
    let mut next = States::<M>::new();
    for &(age, state) in entered.iter().filter(|&&(age, state)| may_wait(machine, state, age)) {
        next.extend(machine.taken(machine.later(state, age), message));
    }
    closed(machine, &next)
}

/// Returns the states as [`after`] does, for an implementation, which waits only where it may and ignores inputs it
/// does not accept.
fn completed<M: InTicks>(machine: &M, entered: &Entered<M>, message: usize) -> States<M> {
    let mut next = States::<M>::new();
    for &(age, state) in entered {
        if !may_wait(machine, state, age) {
            continue;
        }
        let there = machine.later(state, age);
        let reached = machine.taken(there, message);
        if reached.is_empty() && machine.internal(there).is_empty() {
            next.insert(there);
        }
        next.extend(reached);
    }
    closed(machine, &next)
}

fn waits<M: InTicks>(machine: &M, entered: &Entered<M>) -> bool {
    entered.iter().any(|&(age, state)| may_wait(machine, state, age))
}

/// The first difference between what `imp` does and what `spec` allows, within `depth` steps; a level with more
/// than `budget` pairs of beliefs is the last.
pub fn compare<M: InTicks>(imp: &M, spec: &M, depth: usize, budget: usize) -> Found {
    let start = |machine: &M| closed(machine, &machine.start().into_iter().collect());
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
    let (mut now_left, mut now_right) = (entered(imp, left), entered(spec, right));
    let mut seen = HashSet::new();
    while seen.insert((now_left.clone(), now_right.clone())) {
        let is_later = seen.len() > 1;
        if is_later && waits(imp, &now_left) && !waits(spec, &now_right) {
            return Err(Difference);
        }
        // Without internal steps no state is entered while time passes: once is enough.
        if !is_later || imp.has_internal() || spec.has_internal() {
            quiescence(imp, spec, &now_left, &now_right, next)?;
        }
        messages(imp, spec, &now_left, &now_right, next)?;
        (now_left, now_right) = (ticked(imp, &now_left), ticked(spec, &now_right));
    }
    Ok(())
}

/// The states in which, since they were entered, nothing could come without an input.
fn rested<M: InTicks>(machine: &M, entered: &Entered<M>) -> States<M> {
    let quiet = entered.iter().filter(|&&(_, state)| is_quiet(machine, state));
    quiet.map(|&(age, state)| machine.later(state, age)).collect()
}

/// Quiescence after one delay.
fn quiescence<M: InTicks>(
    imp: &M,
    spec: &M,
    left: &Entered<M>,
    right: &Entered<M>,
    next: &mut Vec<(States<M>, States<M>)>,
) -> Result<(), Difference> {
    let (quiet_left, quiet_right) = (rested(imp, left), rested(spec, right));
    match (quiet_left.is_empty(), quiet_right.is_empty()) {
        (true, _) => (),
        (false, true) => return Err(Difference),
        (false, false) => next.push((quiet_left, quiet_right)),
    }
    Ok(())
}

/// All messages after one delay.
fn messages<M: InTicks>(
    imp: &M,
    spec: &M,
    left: &Entered<M>,
    right: &Entered<M>,
    next: &mut Vec<(States<M>, States<M>)>,
) -> Result<(), Difference> {
    for (message, side) in imp.messages().iter().enumerate() {
        let is_input = *side != Side::System;
        let reached = if is_input { completed(imp, left, message) } else { after(imp, left, message) };
        if reached.is_empty() {
            continue;
        }
        let allowed = after(spec, right, message);
        match (allowed.is_empty(), is_input) {
            (true, false) => return Err(Difference),
            (true, true) => (),
            (false, _) => next.push((reached, allowed)),
        }
    }
    Ok(())
}
