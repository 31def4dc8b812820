//! Shortest separating words for all pairs of states.
//!
//! Pairs separated by one input come first; a pair that an input leads to a
//! separated pair is separated by one symbol more. Walking this backwards over
//! predecessors visits each pair and input once: `O(k · n²)` \[Gill62].

use ioxide_model::index::Idx;

use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// The entry of a pair that no word separates yet.
const OPEN: u32 = u32::MAX;

/// For every two states of a minimal machine the first input of a shortest
/// separating word; the rest follows from the pair that input leads to.
#[derive(Clone, Debug)]
pub struct SeparatingWords {
    n: usize,
    first: Vec<u32>,
    length: Vec<u16>,
}

impl SeparatingWords {
    /// Computes the words of all pairs.
    #[must_use]
    pub fn new(spec: &SuiteModel) -> Self {
        let n = spec.n_states();
        let mut words = Self { n, first: vec![OPEN; n * n], length: vec![0; n * n] };
        let mut level = words.record_one_input_pairs(spec);
        let inverse = Predecessors::new(spec);
        let mut length = 1;
        while !level.is_empty() {
            length += 1;
            let mut next = Vec::new();
            // Backwards: whoever leads into a pair of this level is separated by one symbol more, unless by fewer
            // already.
            for &(c, d) in &level {
                for x in 0..spec.n_inputs() {
                    for &a in inverse.predecessors(x, c) {
                        for &b in inverse.predecessors(x, d) {
                            if words.record_pair(a, b, x, length) {
                                next.push((a, b));
                            }
                        }
                    }
                }
            }
            level = next;
        }
        words
    }

    fn record_one_input_pairs(&mut self, spec: &SuiteModel) -> Vec<(u32, u32)> {
        let mut level = Vec::new();
        for a in spec.states() {
            for b in spec.states().take(a.index()) {
                let split = spec.inputs().find(|&x| spec.output(a, x) != spec.output(b, x));
                if let Some(x) = split {
                    self.record_pair(a.index() as u32, b.index() as u32, x.index(), 1);
                    level.push((a.index() as u32, b.index() as u32));
                }
            }
        }
        level
    }

    /// Notes `input` for the pair unless it has one; returns whether it was new.
    fn record_pair(&mut self, a: u32, b: u32, input: usize, length: u16) -> bool {
        let (a, b) = (a as usize, b as usize);
        if self.first[a * self.n + b] != OPEN {
            return false;
        }
        self.first[a * self.n + b] = input as u32;
        self.first[b * self.n + a] = input as u32;
        self.length[a * self.n + b] = length;
        self.length[b * self.n + a] = length;
        true
    }

    /// Returns the length of a shortest word that separates `a` and `b`; 0 if they are the same state.
    #[must_use]
    pub fn distance(&self, a: StateId, b: StateId) -> usize {
        usize::from(self.length[a.index() * self.n + b.index()])
    }

    /// A shortest word that separates `a` and `b`; empty if they are the same state.
    #[must_use]
    pub fn separating_word(&self, spec: &SuiteModel, a: StateId, b: StateId) -> Word {
        let mut word = Word::new();
        self.append_word(spec, [a, b], &mut word);
        word
    }

    /// Appends to `word` a shortest one that separates a pair.
    pub(crate) fn append_word(&self, spec: &SuiteModel, pair: [StateId; 2], word: &mut Word) {
        let [mut a, mut b] = pair;
        // Each step leads to a pair whose word is one symbol shorter, so this ends; a pair without a word does not
        // occur in a minimal machine.
        while a != b {
            debug_assert_ne!(
                self.first[a.index() * self.n + b.index()],
                OPEN,
                "a minimal machine separates all pairs"
            );
            let input = InputId::from(self.first[a.index() * self.n + b.index()]);
            word.push(input);
            if spec.output(a, input) != spec.output(b, input) {
                break;
            }
            (a, b) = (spec.next(a, input), spec.next(b, input));
        }
    }
}

struct Predecessors {
    n: usize,
    start: Vec<u32>,
    states: Vec<u32>,
}

impl Predecessors {
    /// Indexes the transitions of `spec` by input and target, with a counting sort.
    pub fn new(spec: &SuiteModel) -> Self {
        let n = spec.n_states();
        let slot = |s, x: InputId| x.index() * n + spec.next(s, x).index();
        let edges = || spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x)));
        let mut start = vec![0; n * spec.n_inputs() + 1];
        edges().for_each(|(s, x)| start[slot(s, x) + 1] += 1);
        let mut sum = 0;
        for entry in &mut start {
            sum += *entry;
            *entry = sum;
        }
        let mut free = start.clone();
        let mut states = vec![0; n * spec.n_inputs()];
        for (s, x) in edges() {
            let place = &mut free[slot(s, x)];
            states[*place as usize] = s.index() as u32;
            *place += 1;
        }
        Self { n, start, states }
    }

    /// The states from which `input` leads to `state`.
    fn predecessors(&self, input: usize, state: u32) -> &[u32] {
        let slot = input * self.n + state as usize;
        &self.states[self.start[slot] as usize..self.start[slot + 1] as usize]
    }
}
