//! The choices of the search: the next element is a running operation, an open one, or a token.

use std::collections::BTreeMap;

use ioxide_model::value::Value;

use super::outcomes::Outcome;
use super::{END, TokenConfiguration, TokenSearch, is_bound, token_before};
use crate::space::OperationClassId;

/// A choice: what is placed next, how, and which tokens are then bound.
pub(super) struct TokenChoice {
    pub(super) placed: NextElement,
    pub(super) outcome: usize,
    pub(super) bindings: Vec<(u32, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NextElement {
    Running(usize, u8),
    Open(usize),
    Token,
}

impl TokenSearch<'_, '_, '_> {
    /// Returns what can be placed next, the best last.
    pub(super) fn list_choices(&mut self, configuration: &TokenConfiguration) -> Vec<TokenChoice> {
        let now = self.return_position(configuration.event);
        let mine = self.returns.get(configuration.event).map(|returned| (returned.operation, returned.slot));
        let mut candidates: Vec<(NextElement, OperationClassId)> = Vec::new();
        if let Some(returned) = self.returns.get(configuration.event) {
            for &(operation, slot) in &returned.running {
                if configuration.placed & 1 << slot == 0 {
                    candidates
                        .push((NextElement::Running(operation, slot), self.operations[operation].class));
                }
            }
        }
        for (at, open) in self.open.iter().enumerate() {
            if open.calls.get(configuration.used[at] as usize).is_some_and(|call| call.0 < now) {
                candidates.push((NextElement::Open(at), open.class));
            }
        }
        let mine_class = mine.map(|(operation, _)| self.operations[operation].class);
        let token_state = token_before(configuration);
        let (mut helpful, mut others) = (Vec::new(), Vec::new());
        for (candidate, class) in candidates {
            // The order with the token after it is tried as well.
            if token_state.is_some_and(|state| self.commuting(state, class).always) {
                continue;
            }
            let is_open = matches!(candidate, NextElement::Open(_));
            for (outcome, after) in self.outcomes_of(configuration.state, class).iter().enumerate() {
                // An open operation without effect needs no place.
                if is_open
                    && after.state == configuration.state
                    && after.kept.len() == configuration.named.len()
                {
                    continue;
                }
                let helps = mine_class.is_some_and(|mine| !self.outcomes_of(after.state, mine).is_empty());
                for bindings in self.list_bindings(configuration, after) {
                    let choice = TokenChoice { placed: candidate, outcome, bindings };
                    if helps { helpful.push(choice) } else { others.push(choice) }
                }
            }
        }
        // The stack of choices is read from its end.
        others.reverse();
        helpful.reverse();
        if configuration.free.len() < self.list_pending(configuration, now).count() {
            for (outcome, after) in self.storing_outcomes(configuration.state).iter().enumerate() {
                let helps = mine_class.is_none_or(|mine| !self.outcomes_of(after.state, mine).is_empty());
                let choice = TokenChoice { placed: NextElement::Token, outcome, bindings: Vec::new() };
                if helps { helpful.push(choice) } else { others.push(choice) }
            }
        }
        others.append(&mut helpful);
        if let (Some((operation, slot)), Some(class)) = (mine, mine_class)
            && !token_state.is_some_and(|state| self.commuting(state, class).always)
        {
            for (outcome, after) in self.outcomes_of(configuration.state, class).iter().enumerate() {
                for bindings in self.list_bindings(configuration, after) {
                    others.push(TokenChoice {
                        placed: NextElement::Running(operation, slot),
                        outcome,
                        bindings,
                    });
                }
            }
        }
        others
    }

    /// Returns the storers that were called before `until` and are not bound.
    pub(super) fn list_pending<'a>(
        &'a self,
        configuration: &'a TokenConfiguration,
        until: u32,
    ) -> impl Iterator<Item = usize> + 'a {
        let called = configuration.first..self.class.storers.len();
        let called = called.take_while(move |&at| self.class.storers[at].call < until);
        called.filter(|&at| !is_bound(configuration, at))
    }

    /// Returns every way to bind the tokens whose values are shown.
    pub(super) fn list_bindings(
        &self,
        configuration: &TokenConfiguration,
        outcome: &Outcome,
    ) -> Vec<Vec<(u32, usize)>> {
        let mut shown: BTreeMap<u32, Vec<(usize, &Value)>> = BTreeMap::new();
        for ((token, field), value) in &outcome.shown {
            shown.entry(configuration.named[*token as usize]).or_default().push((*field, value));
        }
        let mut ways: Vec<Vec<(u32, usize)>> = vec![Vec::new()];
        for (serial, values) in shown {
            let token = configuration.free.iter().find(|token| token.serial == serial);
            let fits = |at: &usize| {
                let storer = &self.class.storers[*at];
                token.is_some_and(|token| storer.call < token.hi && token.lo < storer.ret)
                    && values.iter().all(|&(field, value)| storer.values[field] == *value)
            };
            let fitting: Vec<usize> = self.list_pending(configuration, END).filter(fits).collect();
            let extended = |way: Vec<(u32, usize)>| {
                let left = fitting.iter().filter(|at| way.iter().all(|(_, other)| other != *at));
                left.map(|&at| [&way[..], &[(serial, at)]].concat()).collect::<Vec<_>>()
            };
            ways = ways.into_iter().flat_map(extended).collect();
        }
        ways
    }
}
