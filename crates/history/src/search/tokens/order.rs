//! From tokens to operations: which operations can the tokens be, and in which order does that put all of them?

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{PlacedElement, TokenConfiguration, TokenSearch, is_bound};
use crate::search::SearchedOperation;
use crate::space::BeliefId;

impl TokenSearch<'_, '_, '_> {
    /// Assigns a storer to every free token, those that return first in front; `None` if that is not possible, or a
    /// storer is left that no later token can be.
    pub(super) fn assign(&self, configuration: &TokenConfiguration) -> Option<Vec<usize>> {
        let now = self.return_position(configuration.event);
        let mut waiting: BinaryHeap<Reverse<(u32, usize)>> = BinaryHeap::new();
        let storers = self.class.storers.iter().enumerate().skip(configuration.first);
        let mut storers = storers.peekable();
        let mut release = |waiting: &mut BinaryHeap<Reverse<(u32, usize)>>, until: u32| {
            while let Some((at, storer)) = storers.next_if(|(_, storer)| storer.call < until) {
                if !is_bound(configuration, at) {
                    waiting.push(Reverse((storer.ret, at)));
                }
            }
        };
        let mut assigned = Vec::with_capacity(configuration.free.len());
        for token in &configuration.free {
            release(&mut waiting, token.hi);
            let Reverse((ret, at)) = waiting.pop()?;
            // What returns first has missed its tokens, and all later ones begin later.
            if ret <= token.lo {
                return None;
            }
            assigned.push(at);
        }
        release(&mut waiting, now);
        let is_lost = waiting.peek().is_some_and(|Reverse((ret, _))| *ret <= configuration.next_lo);
        (!is_lost).then_some(assigned)
    }

    /// Returns the operations of a configuration in order, with storers for its tokens.
    pub(super) fn list_order(&self, configuration: &TokenConfiguration, assigned: &[usize]) -> Vec<usize> {
        let free = configuration.free.iter().map(|token| token.serial);
        let mut storer_of: FxHashMap<u32, usize> = free.zip(assigned.iter().copied()).collect();
        let mut elements = Vec::new();
        let mut next = configuration.last.as_ref();
        while let Some(element) = next {
            match element.placed {
                PlacedElement::Binding { serial, storer } => drop(storer_of.insert(serial, storer)),
                placed => elements.push(placed),
            }
            next = element.before.as_ref();
        }
        elements.reverse();
        let mut used = vec![0; self.open.len()];
        let mut others: Vec<usize> = Vec::new();
        // The storers, each with the number of other operations in front of it.
        let mut stored: Vec<(usize, usize)> = Vec::new();
        for placed in elements {
            match placed {
                PlacedElement::Operation(operation) => others.push(operation),
                PlacedElement::Open(at) => {
                    others.push(self.open[at].calls[used[at]].1);
                    used[at] += 1;
                }
                PlacedElement::Token { serial, .. } => {
                    stored.extend(storer_of.get(&serial).map(|&storer| (storer, others.len())));
                }
                PlacedElement::Binding { .. } => (),
            }
        }
        // A token commutes with what was called after it had returned; those in front of it move with it.
        let mut limit = others.len();
        for (storer, place) in stored.iter_mut().rev() {
            let ret = self.class.storers[*storer].ret;
            let later = others.iter().position(|&at| self.operations[at].call >= ret);
            *place = later.unwrap_or(*place).min(*place).min(limit);
            limit = *place;
        }
        let mut order = Vec::with_capacity(others.len() + stored.len());
        let mut stored = stored.into_iter().peekable();
        for (at, operation) in others.iter().enumerate() {
            while let Some((storer, _)) = stored.next_if(|(_, place)| *place <= at) {
                order.push(self.class.storers[storer].operation);
            }
            order.push(*operation);
        }
        order.extend(stored.map(|(storer, _)| self.class.storers[storer].operation));
        order
    }

    /// Returns the order of a configuration if the model allows it and it respects time.
    pub(super) fn checked_order(
        &mut self,
        configuration: &TokenConfiguration,
        assigned: &[usize],
    ) -> Option<Vec<usize>> {
        let order = self.list_order(configuration, assigned);
        let mut latest = 0;
        for &at in &order {
            let SearchedOperation { call, ret, .. } = self.operations[at];
            if ret.is_some_and(|ret| ret < latest) {
                return None;
            }
            latest = latest.max(call);
        }
        self.follow(&order).map(|_| order)
    }

    /// Returns the belief after an order, if the model allows it.
    pub(super) fn follow(&mut self, order: &[usize]) -> Option<BeliefId> {
        let mut belief = self.start;
        for &at in order {
            belief = self.space.step(belief, self.operations[at].class);
            if matches!(belief, BeliefId::EMPTY | BeliefId::UNSPECIFIED) {
                return None;
            }
        }
        Some(belief)
    }
}
