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
pub(super) struct TestPool {
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
    pub fn len(&self) -> usize {
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
fn novel_share(tree: &ObservationTree, word: &[InputId]) -> f64 {
    let mut node = tree.root();
    for (known, &input) in word.iter().enumerate() {
        match tree.child(node, input) {
            Some(kid) => node = kid,
            None => return (word.len() - known) as f64 / (word.len() + 1) as f64,
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use ioxide_fsm::mealy::OutputId;
    use ioxide_model::index::Idx;
    use rand::SeedableRng;

    use super::*;

    fn word(inputs: &[usize]) -> Vec<InputId> {
        inputs.iter().map(|&input| InputId::new(input)).collect()
    }

    #[test]
    fn every_test_is_drawn_once_and_new_ones_come_sooner() {
        let mut tree = ObservationTree::new(10);
        let mut pool = TestPool::default();
        // Tests 0 to 49 are known but for their last symbol, tests 50 to 99 are new.
        for first in 0..100 {
            let test = word(&[first / 10, first % 10, 0, 0]);
            if first < 50 {
                let known: Vec<_> = test[..3].iter().map(|&input| (input, OutputId::new(0))).collect();
                tree.insert_run(&known).unwrap();
            }
            pool.push(&test);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut order = pool.draw_tests(30, &tree, &mut rng);
        assert!(order.iter().filter(|&&test| test >= 50).count() > 25, "{order:?}");
        order.extend(pool.draw_tests(1_000, &tree, &mut rng));
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_known_is_not_novel() {
        let mut tree = ObservationTree::new(2);
        tree.insert_run(&[(InputId::new(0), OutputId::new(0)), (InputId::new(1), OutputId::new(0))]).unwrap();
        let shares = [&[0, 1][..], &[0, 1, 1], &[1, 1, 1]].map(|inputs| novel_share(&tree, &word(inputs)));
        assert_eq!(shares, [0.0, 0.25, 0.75]);
    }
}
