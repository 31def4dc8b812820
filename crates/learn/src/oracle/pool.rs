//! The tests of a suite, drawn by chance with a preference for what is new.
//!
//! Of a few tests drawn by chance the one is taken whose cost buys most answers that are not in the tree. Tests of one
//! place fail together, so chance alone is better than the order of the suite; tests that mostly repeat what is known
//! cost as much as others and find less. Novelty alone goes to the same few places again and again, hence few.
//!
//! *Promise.* Every test is drawn exactly once.

use ioxide_fsm::mealy::InputId;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::tree::ObservationTree;

/// Tests among which the newest is taken; chosen by feel, see above for why it is small.
const CANDIDATES_PER_DRAW: usize = 4;

/// The words of a suite in one buffer, and the numbers of those not drawn yet.
#[derive(Default)]
pub struct TestPool {
    symbols: Vec<InputId>,
    ends: Vec<usize>,
    left: Vec<usize>,
}

impl TestPool {
    /// Adds a test that was not used yet.
    pub fn push(&mut self, word: &[InputId]) {
        self.symbols.extend(word);
        self.left.push(self.ends.len());
        self.ends.push(self.symbols.len());
    }

    /// Returns the number of tests, drawn or not.
    pub fn count_tests(&self) -> usize {
        self.ends.len()
    }

    pub fn test_word(&self, test: usize) -> &[InputId] {
        let start = if test == 0 { 0 } else { self.ends[test - 1] };
        &self.symbols[start..self.ends[test]]
    }

    /// Draws up to `n` tests, by what is new to `tree`, and returns their numbers.
    pub fn draw_tests(&mut self, n: usize, tree: &ObservationTree, rng: &mut ChaCha8Rng) -> Vec<usize> {
        (0..n).map_while(|_| self.draw_one(tree, rng)).collect()
    }

    fn draw_one(&mut self, tree: &ObservationTree, rng: &mut ChaCha8Rng) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        // With replacement: a test that comes up twice competes with itself, which does no harm.
        for _ in 0..CANDIDATES_PER_DRAW.min(self.left.len()) {
            let at = rng.random_range(0..self.left.len());
            let share = novel_share(tree, self.test_word(self.left[at]));
            if best.is_none_or(|(most, _)| share > most) {
                best = Some((share, at));
            }
        }
        // The order of `left` means nothing, so the last may take the place of the one that goes.
        best.map(|(_, at)| self.left.swap_remove(at))
    }
}

/// The share of the cost of `word`, a reset and its symbols, that buys new answers.
pub fn novel_share(tree: &ObservationTree, word: &[InputId]) -> f64 {
    let mut node = tree.root();
    for (known, &input) in word.iter().enumerate() {
        match tree.child(node, input) {
            Some(kid) => node = kid,
            None => return (word.len() - known) as f64 / (word.len() + 1) as f64,
        }
    }
    0.0
}
