//! The way of one state along a word, for comparing many others with it.

use crate::mealy::{InputId, OutputId, Spec, StateId};

/// What becomes of two states under a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// They answer differently, first at the symbol of this number, from 1.
    Separated(usize),
    /// They are in one state, having answered alike.
    Met,
    /// Neither.
    Open,
}

/// A state's answers to a word, and the states it passes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    steps: Vec<(InputId, OutputId, StateId)>,
}

impl Way {
    /// Makes this the way of `state` along `word`.
    pub(crate) fn follow(&mut self, spec: &Spec, state: StateId, word: &[InputId]) {
        let mut at = state;
        self.steps.clear();
        self.steps.extend(word.iter().map(|&input| {
            let output = spec.output(at, input);
            at = spec.next(at, input);
            (input, output, at)
        }));
    }

    /// What becomes of `other` along the word, which is not the state of this way.
    #[inline]
    pub(crate) fn meeting(&self, spec: &Spec, other: StateId) -> Meeting {
        let mut at = other;
        for (i, &(input, output, here)) in self.steps.iter().enumerate() {
            if spec.output(at, input) != output {
                return Meeting::Separated(i + 1);
            }
            at = spec.next(at, input);
            if at == here {
                return Meeting::Met;
            }
        }
        Meeting::Open
    }

    /// After how many symbols `other` answers differently, 0 if it does not.
    #[inline]
    pub(crate) fn end(&self, spec: &Spec, other: StateId) -> usize {
        match self.meeting(spec, other) {
            Meeting::Separated(end) => end,
            Meeting::Met | Meeting::Open => 0,
        }
    }
}
