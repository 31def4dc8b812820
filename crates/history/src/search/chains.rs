//! The search that respects the order of each client only, for sequential consistency.
//!
//! A configuration is the number of operations placed of every client, and the belief. An open operation is the last of
//! its client and may stay unplaced.

use rustc_hash::FxHashSet;

use super::{
    FailedSearch, SearchGoal, SearchLimits, SearchOutcome, SearchWork, SearchedOperation, UnknownCause,
};
use crate::space::{BeliefId, StateSpace};

/// A choice point.
struct ChainFrame {
    order_len: usize,
    /// The clients whose next operation can be placed, with the belief after it; the best last.
    choices: Vec<(usize, BeliefId)>,
}

/// The search.
pub(super) struct ChainSearch<'s, 'c, 'm> {
    space: &'s mut StateSpace<'c, 'm>,
    operations: &'s [SearchedOperation],
    goal: SearchGoal,
    /// The operations of every client, in order.
    chains: Vec<Vec<usize>>,
    placed: Vec<u32>,
    /// The clients in the order in which their operations are placed.
    order: Vec<usize>,
    seen: FxHashSet<(Box<[u32]>, BeliefId)>,
    furthest: Option<(Vec<usize>, BeliefId, usize)>,
}

impl<'s, 'c, 'm> ChainSearch<'s, 'c, 'm> {
    /// Makes a search that has placed no operation. The operations of a client form a chain, in the order of their
    /// calls.
    pub(super) fn new(
        space: &'s mut StateSpace<'c, 'm>,
        operations: &'s [SearchedOperation],
        goal: SearchGoal,
    ) -> Self {
        let mut by_client: Vec<(u32, u32, usize)> =
            operations.iter().enumerate().map(|(at, it)| (it.client, it.call, at)).collect();
        by_client.sort_unstable();
        let chunks = by_client.chunk_by(|one, other| one.0 == other.0);
        let chains: Vec<Vec<usize>> = chunks.map(|chunk| chunk.iter().map(|it| it.2).collect()).collect();
        let placed = vec![0; chains.len()];
        Self {
            space,
            operations,
            goal,
            chains,
            placed,
            order: Vec::new(),
            seen: FxHashSet::default(),
            furthest: None,
        }
    }

    /// Searches for an order, depth first, from the states `start` on; `work` counts what was done against
    /// `limits`.
    pub(super) fn run(
        mut self,
        start: BeliefId,
        limits: &SearchLimits,
        work: &mut SearchWork,
    ) -> Result<SearchOutcome, UnknownCause> {
        let mut stack: Vec<ChainFrame> = Vec::new();
        let mut belief = start;
        loop {
            self.place_pure(belief);
            if self.is_complete() {
                return Ok(SearchOutcome::Order(self.placed_operations()));
            }
            work.count_configuration(limits)?;
            work.check_memory(|| self.space.memory() + self.memory(), limits)?;
            // [Lowe17]: with the same operations placed and the same belief, everything that can follow was tried
            // before.
            if self.seen.insert((self.placed.clone().into(), belief)) {
                self.note_progress(belief);
                let choices = self.list_choices(belief);
                stack.push(ChainFrame { order_len: self.order.len(), choices });
            }
            // Back to the last choice that is left.
            belief = loop {
                let Some(frame) = stack.last_mut() else { return Ok(self.report_failure()) };
                let (order_len, choice) = (frame.order_len, frame.choices.pop());
                self.undo_placements(order_len);
                let Some((client, next)) = choice else {
                    stack.pop();
                    continue;
                };
                self.place_next(client);
                if next == BeliefId::UNSPECIFIED {
                    return Ok(SearchOutcome::Unspecified(self.placed_operations()));
                }
                break next;
            };
        }
    }

    /// Returns roughly the number of bytes that the memo takes.
    fn memory(&self) -> usize {
        self.seen.len() * (64 + self.placed.len() * size_of::<u32>())
    }

    fn place_next(&mut self, client: usize) {
        self.placed[client] += 1;
        self.order.push(client);
    }

    fn undo_placements(&mut self, len: usize) {
        for client in self.order.drain(len..) {
            self.placed[client] -= 1;
        }
    }

    /// Returns the next operation of a client, if there is one.
    fn next_operation(&self, client: usize) -> Option<&SearchedOperation> {
        self.chains[client].get(self.placed[client] as usize).map(|&at| &self.operations[at])
    }

    /// Places operations that change no state as long as some fit.
    fn place_pure(&mut self, belief: BeliefId) {
        let mut client = 0;
        while client < self.chains.len() {
            let class = self.next_operation(client).map(|operation| operation.class);
            match class {
                // An operation that changes nothing can be moved forward to here in every order, so no other place need
                // be tried.
                Some(class) if self.space.is_pure(class) && self.space.step(belief, class) == belief => {
                    self.place_next(client)
                }
                _ => client += 1,
            }
        }
    }

    /// Returns whether every operation that returned is placed.
    fn is_complete(&self) -> bool {
        (0..self.chains.len()).all(|client| self.next_operation(client).is_none_or(|next| next.ret.is_none()))
    }

    fn list_choices(&mut self, belief: BeliefId) -> Vec<(usize, BeliefId)> {
        let (mut open, mut returned) = (Vec::new(), Vec::new());
        for client in 0..self.chains.len() {
            let Some(&SearchedOperation { class, ret, .. }) = self.next_operation(client) else { continue };
            let next = self.space.step(belief, class);
            let may_go = next != BeliefId::EMPTY
                && (next != BeliefId::UNSPECIFIED || self.goal == SearchGoal::OrderOrUnspecified);
            match ret {
                _ if !may_go => {}
                // An open operation without effect needs no place.
                None if next == belief => {}
                None => open.push((client, next)),
                Some(ret) => returned.push((ret, client, next)),
            }
        }
        // The order in which operations returned is the best guess; the best choice is the last.
        returned.sort_unstable_by(|one, other| other.cmp(one));
        open.extend(returned.into_iter().map(|(_, client, next)| (client, next)));
        open
    }

    fn note_progress(&mut self, belief: BeliefId) {
        let is_further = self.furthest.as_ref().is_none_or(|(order, ..)| self.order.len() > order.len());
        if !is_further {
            return;
        }
        let next = |client| {
            let at = self.chains.get::<usize>(client)?.get(self.placed[client] as usize)?;
            self.operations[*at].ret.map(|ret| (ret, *at))
        };
        if let Some((_, stuck)) = (0..self.chains.len()).filter_map(next).min() {
            self.furthest = Some((self.order.clone(), belief, stuck));
        }
    }

    fn report_failure(&mut self) -> SearchOutcome {
        match self.furthest.take() {
            None => SearchOutcome::Order(Vec::new()),
            Some((order, belief, stuck)) => {
                let order = self.operations_of(&order);
                SearchOutcome::NoOrder(FailedSearch { order, belief, stuck })
            }
        }
    }

    fn placed_operations(&self) -> Vec<usize> {
        self.operations_of(&self.order)
    }

    fn operations_of(&self, clients: &[usize]) -> Vec<usize> {
        let mut placed = vec![0; self.chains.len()];
        let next = |&client: &usize| {
            placed[client] += 1;
            self.chains[client][placed[client] - 1]
        };
        clients.iter().map(next).collect()
    }
}
