//! The way of one state along a word, for comparing many others with it.

use crate::mealy::{InputId, OutputId, StateId, SuiteModel};

/// The outcome of applying a word to two different states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairOutcome {
    /// The states answer differently, first at the symbol of this number, counted from 1.
    Separated(usize),
    /// The states meet in one state, having answered alike.
    Met,
    /// The states answer alike and end in different states.
    Open,
}

/// A state's answers to a word, and the states it passes.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordPassage {
    steps: Vec<(InputId, OutputId, StateId)>,
}

impl WordPassage {
    /// Makes this the way of `state` along `word`.
    pub(crate) fn follow(&mut self, spec: &SuiteModel, state: StateId, word: &[InputId]) {
        let mut at = state;
        self.steps.clear();
        self.steps.extend(word.iter().map(|&input| {
            let output = spec.output(at, input);
            at = spec.next(at, input);
            (input, output, at)
        }));
    }

    /// Compares `other`, which must not be the state followed, with it along the word.
    #[inline]
    pub(crate) fn compare_with(&self, spec: &SuiteModel, other: StateId) -> PairOutcome {
        // Two states that met stay together: looking further would be in vain.
        let mut at = other;
        for (i, &(input, output, here)) in self.steps.iter().enumerate() {
            if spec.output(at, input) != output {
                return PairOutcome::Separated(i + 1);
            }
            at = spec.next(at, input);
            if at == here {
                return PairOutcome::Met;
            }
        }
        PairOutcome::Open
    }

    /// Returns the number of symbols after which `other` answers differently, 0 if it does not.
    #[inline]
    pub(crate) fn separation_length(&self, spec: &SuiteModel, other: StateId) -> usize {
        match self.compare_with(spec, other) {
            PairOutcome::Separated(end) => end,
            PairOutcome::Met | PairOutcome::Open => 0,
        }
    }
}
