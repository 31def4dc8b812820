//! Adaptive test cases: trees that choose the next input by the last output.
//!
//! A case is nothing, or an input and a case for each output; outputs without
//! one end it \[Sachtleben18, Def. 5.3.1]. The answers a state can give to a
//! case are `IO(M, s, σ)` [Def. 5.3.2].

use crate::mealy::{InputId, MachineNames, OutputId, StateId};
use crate::nfsm::Observable;
use crate::word::IoWord;

/// An adaptive test case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdaptiveCase {
    /// Nothing more is applied.
    Stop,
    /// An input, and the case after each output.
    Apply {
        /// The input to apply.
        input: InputId,
        /// The cases of single outputs, by output.
        then: Vec<(OutputId, AdaptiveCase)>,
        /// The case of all other outputs.
        otherwise: Box<AdaptiveCase>,
    },
}

impl AdaptiveCase {
    /// The case that applies `word` whatever the outputs.
    #[must_use]
    pub fn from_word(word: &[InputId]) -> Self {
        Self::after_word(word, Self::Stop)
    }

    /// `word` whatever the outputs, then `case`.
    #[must_use]
    pub fn after_word(word: &[InputId], case: Self) -> Self {
        word.iter().rev().fold(case, |rest, &input| Self::Apply {
            input,
            then: Vec::new(),
            otherwise: Box::new(rest),
        })
    }

    /// The inputs of `trace` as long as its outputs are given, then `case`.
    #[must_use]
    pub fn after_trace(trace: &[(InputId, OutputId)], case: Self) -> Self {
        trace.iter().rev().fold(case, |rest, &(input, output)| Self::Apply {
            input,
            then: vec![(output, rest)],
            otherwise: Box::new(Self::Stop),
        })
    }

    /// The case after `output`.
    #[must_use]
    pub fn case_after(&self, output: OutputId) -> &Self {
        match self {
            Self::Stop => self,
            Self::Apply { then, otherwise, .. } => {
                then.binary_search_by_key(&output, |&(y, _)| y).map_or(otherwise, |at| &then[at].1)
            }
        }
    }

    /// The input to apply now, if there is one.
    #[must_use]
    pub fn input(&self) -> Option<InputId> {
        match self {
            Self::Stop => None,
            Self::Apply { input, .. } => Some(*input),
        }
    }

    /// `IO(machine, state, self)`: every answer `state` can give, in order.
    #[must_use]
    pub fn responses(&self, machine: &Observable, state: StateId) -> Vec<IoWord> {
        let mut all = Vec::new();
        let mut trace = IoWord::new();
        self.collect_responses(machine, state, &mut trace, &mut all);
        all
    }

    fn collect_responses(
        &self,
        machine: &Observable,
        state: StateId,
        trace: &mut IoWord,
        all: &mut Vec<IoWord>,
    ) {
        let Some(input) = self.input() else { return all.push(trace.clone()) };
        for &(output, next) in machine.answers(state, input) {
            trace.push((input, output));
            self.case_after(output).collect_responses(machine, next, trace, all);
            trace.pop();
        }
    }

    /// The case in the names of the machine, as `a (0: b, 1: a b)`: after `a` the output decides what follows.
    #[must_use]
    pub fn show(&self, names: &MachineNames) -> String {
        let Self::Apply { input, then, otherwise } = self else { return "(nothing)".to_owned() };
        let applied = &names.inputs[*input];
        let mut branches: Vec<String> = then
            .iter()
            .filter(|(_, case)| *case != Self::Stop)
            .map(|(output, case)| format!("{}: {}", names.outputs[*output], case.show(names)))
            .collect();
        if **otherwise != Self::Stop {
            // One way for all outputs needs no list.
            if then.is_empty() {
                return format!("{applied} {}", otherwise.show(names));
            }
            branches.push(format!("else: {}", otherwise.show(names)));
        }
        if branches.is_empty() { applied.clone() } else { format!("{applied} ({})", branches.join(", ")) }
    }

    /// Returns whether the two states share no answer to this case, so that it separates them in every reduction of
    /// the machine.
    #[must_use]
    pub fn r_distinguishes(&self, machine: &Observable, a: StateId, b: StateId) -> bool {
        let Some(input) = self.input() else { return false };
        machine.answers(a, input).iter().all(|&(output, next_a)| {
            machine
                .state_after(b, input, output)
                .is_none_or(|next_b| self.case_after(output).r_distinguishes(machine, next_a, next_b))
        })
    }
}
