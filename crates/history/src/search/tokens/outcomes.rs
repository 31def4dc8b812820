//! The results of operations in states with tokens, each computed once.
//!
//! A state with tokens is kept in its canonical form: the tokens are numbered by where they first stand in it. So
//! states that differ in the names of their tokens alone are one.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::value::Value;

use super::{END, TokenSearch};
use crate::space::{OperationClass, OperationClassId};
use crate::token::{ShownValues, match_values, replace_tokens, token_value, tokens_of};

/// A result of an operation in a canonical state.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Outcome {
    pub(super) state: u32,
    /// For every token of the new state the one of the old state that it was; the new token of a storer is the number
    /// of tokens of the old state.
    pub(super) kept: Vec<u32>,
    /// The values that were shown of tokens of the old state, by token and field.
    pub(super) shown: Vec<((u32, usize), Value)>,
}

/// Remembers whether a token that comes directly before an operation can come directly after it.
#[derive(Clone, Copy)]
pub(super) struct Commuting {
    /// Whatever happens with the token first happens with the operation first too.
    pub(super) always: bool,
    /// Some of it does.
    pub(super) ever: bool,
}

impl TokenSearch<'_, '_, '_> {
    /// Returns the results of an operation of this class in a canonical state.
    pub(super) fn outcomes_of(&mut self, state: u32, class: OperationClassId) -> Rc<[Outcome]> {
        if let Some(known) = self.outcomes.get(&(state, class)) {
            return Rc::clone(known);
        }
        let OperationClass { input, output } = self.space.class(class).clone();
        let mut found = Vec::new();
        // The model answers with tokens in the places of carried values; where the answer that was seen has a value,
        // the token is that value.
        for (answer, states) in self.space.answered_steps(state, &input) {
            let shown = match &output {
                None => Some(ShownValues::default()),
                Some(output) => match_labels(&answer, output),
            };
            let Some(shown) = shown else { continue };
            let mut shown: Vec<((u32, usize), Value)> = shown.into_iter().collect();
            shown.sort();
            for number in states {
                let after = self.space.state_of(number).clone();
                let (state, kept) = self.canonical(after);
                found.push(Outcome { state, kept, shown: shown.clone() });
            }
        }
        found.sort();
        found.dedup();
        let found: Rc<[Outcome]> = found.into();
        self.memo_bytes += count_bytes(&found);
        self.outcomes.insert((state, class), Rc::clone(&found));
        found
    }

    /// Returns the results of storing a new token in a canonical state.
    pub(super) fn storing_outcomes(&mut self, state: u32) -> Rc<[Outcome]> {
        if let Some(known) = self.storing.get(&state) {
            return Rc::clone(known);
        }
        let count = tokens_of(self.space.sts(), self.space.state_of(state)).len();
        let number = u32::try_from(count).unwrap_or(END);
        let mut found = Vec::new();
        if let Some(input) = self.class.token_input(number, self.space) {
            let class = self.space.intern_class(OperationClass { input, output: self.class.output.clone() });
            for after in self.space.states_after(state, class) {
                let after = self.space.state_of(after).clone();
                let (state, kept) = self.canonical(after);
                found.push(Outcome { state, kept, shown: Vec::new() });
            }
        }
        found.sort();
        found.dedup();
        let found: Rc<[Outcome]> = found.into();
        self.memo_bytes += count_bytes(&found);
        self.storing.insert(state, Rc::clone(&found));
        found
    }

    /// Returns the number of the canonical form of a state, and which of its tokens those of that form are.
    pub(super) fn canonical(&mut self, state: ConcreteState) -> (u32, Vec<u32>) {
        let kept = tokens_of(self.space.sts(), &state);
        // Canonical already, as most states are: nothing to rename.
        if kept.iter().enumerate().all(|(at, &token)| at == token as usize) {
            return (self.space.number_of(state), kept);
        }
        let numbers: FxHashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let renamed = replace_tokens(self.space.sts(), &state, &|token, field, held| {
            token_value(held.base_sort(), numbers[&token], field).unwrap_or_else(|| held.clone())
        });
        (self.space.number_of(renamed), kept)
    }

    /// Returns whether a token that comes before an operation of this class in a state can come after it.
    pub(super) fn commuting(&mut self, state: u32, class: OperationClassId) -> Commuting {
        if let Some(&known) = self.commuting.get(&(state, class)) {
            return known;
        }
        // The two orders are compared by what they leave behind: the state, which of the tokens before are in it, and
        // what was shown of them. Tokens of the second step are traced back through the first one.
        let through = |kept: &[u32], token: u32| kept[token as usize];
        let mut first = Vec::new();
        for stored in self.storing_outcomes(state).iter() {
            for after in self.outcomes_of(stored.state, class).iter() {
                let kept = after.kept.iter().map(|&token| through(&stored.kept, token)).collect();
                let shown = after.shown.iter();
                let shown = shown
                    .map(|((token, field), value)| ((through(&stored.kept, *token), *field), value.clone()));
                first.push(Outcome { state: after.state, kept, shown: shown.collect() });
            }
        }
        let count = tokens_of(self.space.sts(), self.space.state_of(state)).len();
        let new = u32::try_from(count).unwrap_or(END);
        let mut second = Vec::new();
        for after in self.outcomes_of(state, class).iter() {
            for stored in self.storing_outcomes(after.state).iter() {
                // A token that the operation did not leave in the state is the one that was stored after it.
                let old = |&token: &u32| after.kept.get(token as usize).copied().unwrap_or(new);
                let kept = stored.kept.iter().map(old).collect();
                second.push(Outcome { state: stored.state, kept, shown: after.shown.clone() });
            }
        }
        first.iter_mut().chain(&mut second).for_each(|outcome| outcome.shown.sort());
        let always = first.iter().all(|outcome| second.contains(outcome));
        let ever = first.iter().any(|outcome| second.contains(outcome));
        // `all` is true of no outcome at all, too; then nothing commutes, as `ever` shows.
        let commuting = Commuting { always: always && ever, ever };
        self.commuting.insert((state, class), commuting);
        commuting
    }
}

/// Returns roughly the number of bytes that results take, with their entry in a table.
fn count_bytes(found: &[Outcome]) -> usize {
    let lists = |outcome: &Outcome| size_of_val(&*outcome.kept) + size_of_val(&*outcome.shown);
    64 + size_of_val(found) + found.iter().map(lists).sum::<usize>()
}

/// Returns the values that an answer shows of tokens in what the model answers; `None` if they are different answers.
fn match_labels(allowed: &Label, seen: &Label) -> Option<ShownValues> {
    match (allowed, seen) {
        (Label::Output(gate, allowed), Label::Output(other, seen)) if gate == other => {
            match_values(allowed, seen)
        }
        _ => None,
    }
}
