//! The search that respects instants, for linearizability.
//!
//! Only returns matter: an operation that has not returned can be placed later. At the return of an operation that is
//! not placed yet, other running operations may be placed first, then this one; then the next return is looked at.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{
    FailedSearch, SearchGoal, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause,
};
use crate::space::{BeliefId, OperationClassId, StateSpace};

/// The greatest number of operations that run at the same time and return: the bits of a set.
const MAX_RUNNING: usize = 128;

/// A return, and the operations that run then.
pub(super) struct ReturnEvent {
    pub(super) operation: usize,
    pub(super) slot: u8,
    pub(super) position: u32,
    /// The other operations that were called before it and return after it, with their slots, first return first.
    pub(super) running: Vec<(usize, u8)>,
}

/// Open operations with the same messages.
pub(super) struct OpenOperations {
    pub(super) class: OperationClassId,
    /// The positions of their calls with the operations, in order.
    pub(super) calls: Vec<(u32, usize)>,
}

/// An operation that was placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placement {
    Returned(usize),
    /// The next of the open operations with this number.
    Open(usize),
    /// An operation that overwrites the state, in front of the overwriting one at this place of the order.
    Hidden(usize, usize),
}

/// An overwriting operation that was placed.
#[derive(Clone, Copy)]
struct PlacedOverwrite {
    /// Its place in the order.
    place: usize,
    /// The position of the return at which it was placed.
    position: u32,
    /// True if it was placed before its own return.
    is_early: bool,
}

/// The differences between configurations with the same event, placed operations and belief.
#[derive(Clone, PartialEq, Eq)]
struct ReachedWith {
    /// The number of each of the open operations that are placed.
    used: Box<[u32]>,
    /// The position at which an overwriting operation was placed last; 0 if there is none.
    overwritten: u32,
    /// True if the last placed operation is an overwriting one that has not returned, so that no other may follow.
    is_bound: bool,
}

impl ReachedWith {
    /// Returns whether everything that is possible after `other` is possible here.
    fn can_do_as_much_as(&self, other: &Self) -> bool {
        self.used.iter().zip(&*other.used).all(|(mine, theirs)| mine <= theirs)
            && self.overwritten >= other.overwritten
            && self.is_bound <= other.is_bound
    }
}

/// A choice point: a return whose operation is not placed yet.
struct SearchFrame {
    event: usize,
    placed: u128,
    /// The choices left, the best last.
    choices: Vec<SearchChoice>,
    /// The length of the order at this point.
    order_len: usize,
}

#[derive(Clone, Copy)]
struct SearchChoice {
    placement: Placement,
    slot: Option<u8>,
    next: BeliefId,
}

/// Configurations with the same event, placed operations and belief, which differ in the open operations used.
type ConfigurationKey = (u32, u128, BeliefId);

/// The search.
pub(super) struct InstantSearch<'s, 'c, 'm> {
    space: &'s mut StateSpace<'c, 'm>,
    operations: &'s [SearchedOperation],
    goal: SearchGoal,
    returns: Vec<ReturnEvent>,
    open: Vec<OpenOperations>,
    /// The number of each of the open operations that are placed.
    used: Vec<u32>,
    order: Vec<Placement>,
    /// The overwriting operations in the order.
    overwrites: Vec<PlacedOverwrite>,
    /// For every configuration seen, the best ways in which it was reached.
    seen: FxHashMap<ConfigurationKey, Vec<ReachedWith>>,
    furthest: Option<(usize, Vec<usize>, BeliefId)>,
    ends: BTreeSet<BeliefId>,
}

/// The end of a descent.
enum Descent {
    /// All returns are passed, with this belief.
    End(BeliefId),
    /// A choice has to be made; the frame was pushed.
    Choice(SearchFrame),
    /// This was seen before.
    Seen,
}

impl<'s, 'c, 'm> InstantSearch<'s, 'c, 'm> {
    /// Makes a search before the first return. Fails if too many operations run at the same time.
    pub(super) fn new(
        space: &'s mut StateSpace<'c, 'm>,
        operations: &'s [SearchedOperation],
        goal: SearchGoal,
    ) -> Result<Self, UnknownCause> {
        let returns = list_returns(operations)?;
        let open = list_open(operations, |_| true);
        let used = vec![0; open.len()];
        Ok(Self {
            space,
            operations,
            goal,
            returns,
            open,
            used,
            order: Vec::new(),
            overwrites: Vec::new(),
            seen: FxHashMap::default(),
            furthest: None,
            ends: BTreeSet::new(),
        })
    }

    pub(super) fn into_ends(self) -> BTreeSet<BeliefId> {
        self.ends
    }

    /// Searches depth first from the states `start` on, up to one order or through all of them, as the goal
    /// of the search says; `work` counts what was done against `limits`.
    pub(super) fn run(
        &mut self,
        start: BeliefId,
        limits: &SearchLimits,
        work: &mut SearchWork,
    ) -> Result<SearchOutcome, UnknownCause> {
        let mut stack: Vec<SearchFrame> = Vec::new();
        let mut descent = self.descend(0, 0, start, limits, work)?;
        loop {
            match descent {
                // All ends are wanted, not only one order: the search goes on as if this one had failed.
                Descent::End(belief) if self.goal == SearchGoal::Ends => {
                    self.ends.insert(belief);
                }
                Descent::End(_) => return Ok(SearchOutcome::Order(self.placed_operations())),
                Descent::Choice(frame) => stack.push(frame),
                Descent::Seen => {}
            }
            let Some(frame) = stack.last_mut() else { return Ok(self.report_failure()) };
            let (event, placed, order_len) = (frame.event, frame.placed, frame.order_len);
            let choice = frame.choices.pop();
            self.undo_placements(order_len);
            let Some(SearchChoice { placement, slot, next }) = choice else {
                stack.pop();
                descent = Descent::Seen;
                continue;
            };
            self.place_operation(placement, event);
            if next == BeliefId::UNSPECIFIED {
                return Ok(SearchOutcome::Unspecified(self.placed_operations()));
            }
            let placed = slot.map_or(placed, |slot| placed | 1 << slot);
            descent = self.descend(event, placed, next, limits, work)?;
        }
    }

    /// Places an operation at the return number `event`.
    fn place_operation(&mut self, placement: Placement, event: usize) {
        let class = match placement {
            Placement::Open(at) => {
                self.used[at] += 1;
                Some(self.open[at].class)
            }
            Placement::Returned(operation) => Some(self.operations[operation].class),
            // What follows it at once has overwritten the state already.
            Placement::Hidden(..) => None,
        };
        if class.is_some_and(|class| self.space.is_overwriting(class)) {
            let ReturnEvent { operation, position, .. } = self.returns[event];
            let is_early = placement != Placement::Returned(operation);
            self.overwrites.push(PlacedOverwrite { place: self.order.len(), position, is_early });
        }
        self.order.push(placement);
    }

    /// Returns whether the last placed operation is an overwriting one that has not returned. Another overwriting one
    /// need not follow it: without the first the state would be the same, and it could be placed later all the same.
    fn is_bound(&self) -> bool {
        self.overwrites.last().is_some_and(|last| last.is_early && last.place + 1 == self.order.len())
    }

    /// Takes back every placement after the first `len`.
    fn undo_placements(&mut self, len: usize) {
        for placement in self.order.drain(len..) {
            if let Placement::Open(at) = placement {
                self.used[at] -= 1;
            }
        }
        while self.overwrites.last().is_some_and(|last| last.place >= len) {
            self.overwrites.pop();
        }
    }

    /// Passes every return whose operation is placed, up to one where a choice has to be made.
    fn descend(
        &mut self,
        mut event: usize,
        mut placed: u128,
        belief: BeliefId,
        limits: &SearchLimits,
        work: &mut SearchWork,
    ) -> Result<Descent, UnknownCause> {
        loop {
            let Some(returned) = self.returns.get(event) else { return Ok(Descent::End(belief)) };
            if placed & 1 << returned.slot != 0 {
                // Its slot is free for the operations called from here on.
                placed &= !(1 << returned.slot);
                event += 1;
                continue;
            }
            // Pure operations that fit are placed at once, the one that returns here included.
            let mine = (returned.operation, returned.slot);
            let unplaced = |&(_, slot): &(usize, u8)| placed & 1 << slot == 0;
            let running: Vec<(usize, u8)> =
                returned.running.iter().copied().filter(unplaced).chain([mine]).collect();
            let before = placed;
            for (operation, slot) in running {
                let class = self.operations[operation].class;
                if self.space.is_pure(class) && self.space.step(belief, class) == belief {
                    placed |= 1 << slot;
                    self.order.push(Placement::Returned(operation));
                }
            }
            if placed != before {
                continue;
            }
            work.count_configuration(limits)?;
            work.check_memory(|| self.space.memory() + self.memory(), limits)?;
            if !self.is_new(event, placed, belief) {
                return Ok(Descent::Seen);
            }
            self.note_progress(event, belief);
            let choices = self.list_choices(event, placed, belief);
            return Ok(Descent::Choice(SearchFrame { event, placed, choices, order_len: self.order.len() }));
        }
    }

    /// Returns roughly the number of bytes that the memo takes.
    fn memory(&self) -> usize {
        self.seen.len() * (144 + self.used.len() * size_of::<u32>())
    }

    /// Records a configuration; false if one that can do at least as much was seen.
    fn is_new(&mut self, event: usize, placed: u128, belief: BeliefId) -> bool {
        let event = u32::try_from(event).expect("fewer than 2^32 events");
        let overwritten = self.overwrites.last().map_or(0, |last| last.position);
        let reached = ReachedWith { used: self.used.clone().into(), overwritten, is_bound: self.is_bound() };
        // [Lowe17]'s memo: the same operations placed and the same belief have the same future, but for what
        // `ReachedWith` compares. The list keeps only entries none of which can do as much as another.
        let known = self.seen.entry((event, placed, belief)).or_default();
        if known.iter().any(|other| other.can_do_as_much_as(&reached)) {
            return false;
        }
        known.retain(|other| !reached.can_do_as_much_as(other));
        known.push(reached);
        true
    }

    /// Returns what can be placed next, the best last: the operation that returns here, then what lets it follow.
    fn list_choices(&mut self, event: usize, placed: u128, belief: BeliefId) -> Vec<SearchChoice> {
        let ReturnEvent { operation, slot, position, .. } = self.returns[event];
        let mine = self.operations[operation].class;
        let (mut helpful, mut others) = (Vec::new(), Vec::new());
        let mut candidates = Vec::new();
        for &(other, slot) in &self.returns[event].running {
            if placed & 1 << slot == 0 {
                candidates.push((Placement::Returned(other), Some(slot), self.operations[other].class));
            }
        }
        for (at, open) in self.open.iter().enumerate() {
            // Calls are sorted, and open operations of one class are interchangeable: if the next one was called,
            // it is taken.
            let has_more = open.calls.get(self.used[at] as usize).is_some_and(|call| call.0 < position);
            if has_more {
                candidates.push((Placement::Open(at), None, open.class));
            }
        }
        let is_bound = self.is_bound();
        let mine_overwrites = self.space.is_overwriting(mine);
        let is_other =
            |&(_, _, class): &(Placement, Option<u8>, OperationClassId)| !self.space.is_overwriting(class);
        let has_others = candidates.iter().any(is_other);
        for (placement, slot, class) in candidates {
            let overwrites = self.space.is_overwriting(class);
            // It would be overwritten at once, and can wait (see `is_bound`).
            if overwrites && (is_bound || mine_overwrites && !has_others) {
                continue;
            }
            let next = self.space.step(belief, class);
            let is_open = matches!(placement, Placement::Open(_));
            // An open operation without effect needs no place.
            if !self.may_go_to(next) || (is_open && next == belief) {
                continue;
            }
            let choice = SearchChoice { placement, slot, next };
            // After a helpful choice the operation that returns here can follow at once; the others need a third in
            // between.
            let helps = self.space.step(next, mine);
            if self.may_go_to(helps) {
                helpful.push(choice);
            } else if !overwrites || has_others {
                others.push(choice);
            }
        }
        // The stack of choices is read from its end.
        others.reverse();
        helpful.reverse();
        others.append(&mut helpful);
        let next = self.space.step(belief, mine);
        if !self.may_go_to(next) {
            return others;
        }
        let call = self.operations[operation].call;
        let later = self.overwrites.last().filter(|last| mine_overwrites && last.position > call);
        if let Some(last) = later {
            // The overwriting operation was placed when this one was running.
            let placement = Placement::Hidden(operation, last.place);
            others.push(SearchChoice { placement, slot: Some(slot), next: belief });
        }
        if !(is_bound && mine_overwrites) {
            others.push(SearchChoice { placement: Placement::Returned(operation), slot: Some(slot), next });
        }
        others
    }

    fn may_go_to(&self, belief: BeliefId) -> bool {
        match belief {
            BeliefId::EMPTY => false,
            BeliefId::UNSPECIFIED => self.goal == SearchGoal::OrderOrUnspecified,
            _ => true,
        }
    }

    fn note_progress(&mut self, event: usize, belief: BeliefId) {
        let is_further = self.furthest.as_ref().is_none_or(|(furthest, ..)| event > *furthest);
        if is_further && self.goal != SearchGoal::Ends {
            // Copying the order at every step of a long history would be quadratic; it is made up for by the few
            // events at which a search stops.
            let order = if self.is_dead_end(event, belief) { self.placed_operations() } else { Vec::new() };
            self.furthest = Some((event, order, belief));
        }
    }

    /// Returns whether the operation that returns at `event` does not fit at once.
    fn is_dead_end(&mut self, event: usize, belief: BeliefId) -> bool {
        let class = self.operations[self.returns[event].operation].class;
        let next = self.space.step(belief, class);
        !self.may_go_to(next)
    }

    fn report_failure(&mut self) -> SearchOutcome {
        let Some((event, order, belief)) = self.furthest.take() else {
            return SearchOutcome::Order(Vec::new());
        };
        SearchOutcome::NoOrder(FailedSearch { order, belief, stuck: self.returns[event].operation })
    }

    /// Returns the order so far. The n-th of interchangeable open operations is the one that was called n-th.
    fn placed_operations(&self) -> Vec<usize> {
        let mut used = vec![0; self.open.len()];
        let mut hidden: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for placement in &self.order {
            if let Placement::Hidden(operation, before) = *placement {
                hidden.entry(before).or_default().push(operation);
            }
        }
        let mut placed = Vec::new();
        for (place, placement) in self.order.iter().enumerate() {
            placed.extend(hidden.remove(&place).unwrap_or_default());
            match *placement {
                Placement::Returned(operation) => placed.push(operation),
                Placement::Open(at) => {
                    used[at] += 1;
                    placed.push(self.open[at].calls[used[at] - 1].1);
                }
                Placement::Hidden(..) => (),
            }
        }
        placed
    }
}

/// Returns the returns in order, with what runs then; every operation has a slot that no other one running has.
pub(super) fn list_returns(operations: &[SearchedOperation]) -> Result<Vec<ReturnEvent>, UnknownCause> {
    let mut events: Vec<(u32, bool, usize)> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        if let Some(ret) = operation.ret {
            events.push((operation.call, false, at));
            events.push((ret, true, at));
        }
    }
    // Slots are given out again when an operation has returned, so the set of placed ones has as many bits as
    // operations run at the same time, not as many as there are.
    events.sort_unstable();
    let mut running: Vec<(usize, u8)> = Vec::new();
    let mut returns = Vec::new();
    for (position, is_return, operation) in events {
        if !is_return {
            let is_free = |slot: &u8| running.iter().all(|(_, taken)| taken != slot);
            let slot =
                (0..MAX_RUNNING as u8).find(is_free).ok_or(UnknownCause::TooManyRunning(MAX_RUNNING))?;
            running.push((operation, slot));
            continue;
        }
        let Some(at) = running.iter().position(|(other, _)| *other == operation) else { continue };
        let (_, slot) = running.remove(at);
        let mut others = running.clone();
        others.sort_by_key(|(other, _)| operations[*other].ret);
        returns.push(ReturnEvent { operation, slot, position, running: others });
    }
    debug_assert!(running.is_empty(), "what was called returns");
    Ok(returns)
}

/// Returns the open operations that `is_wanted` accepts by their messages, those called first in front.
pub(super) fn list_open(
    operations: &[SearchedOperation],
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<OpenOperations> {
    let mut open: Vec<OpenOperations> = Vec::new();
    let mut at_of: FxHashMap<OperationClassId, usize> = FxHashMap::default();
    let is_open = |(at, operation): &(usize, &SearchedOperation)| operation.ret.is_none() && is_wanted(*at);
    for (at, operation) in operations.iter().enumerate().filter(is_open) {
        let position = *at_of.entry(operation.class).or_insert_with(|| {
            open.push(OpenOperations { class: operation.class, calls: Vec::new() });
            open.len() - 1
        });
        open[position].calls.push((operation.call, at));
    }
    open.iter_mut().for_each(|open| open.calls.sort_unstable());
    open
}
