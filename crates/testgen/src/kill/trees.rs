//! Adaptive tests that kill mutants: for models with choices, where a trace kills only if the system follows it.
//!
//! Mutants are handled in order: one that an earlier test kills for sure, or with a chance of at least a half, needs no
//! test of its own.

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Sts;
use ioxide_model::term::TermPool;

use crate::conform::InputCompletion;
use crate::conform::explicit::{AdaptiveTest, EnumerationBudget, adaptive_test};

/// The limits of the enumeration for one mutant. In states, and in guards evaluated. Chosen by feel: a mutant beyond
/// it keeps its plain trace.
const MUTANT_BUDGET: EnumerationBudget = EnumerationBudget { states: 100_000, steps: 2_000_000 };
/// The chance from which on a test suffices to kill a mutant. Chosen by feel: two runs find it more often than not,
/// and a better tree is seldom worth the search.
const MIN_KILL_CHANCE: f64 = 0.5;

/// A test and the mutants it kills.
#[derive(Clone, Debug)]
pub struct KillingTree {
    /// The test.
    pub test: AdaptiveTest,
    /// The mutants it kills.
    pub kills: Vec<TreeKill>,
}

/// A mutant that a test kills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeKill {
    /// The position of the mutant.
    pub mutant: usize,
    /// True if every run kills the mutant.
    pub is_forced: bool,
    /// The probability that a run kills the mutant, if choices are fair.
    pub chance: f64,
}

impl TreeKill {
    /// Returns the number of runs that kill the mutant with probability `wanted`, if choices are fair.
    #[must_use]
    pub fn repetitions(&self, wanted: f64) -> u64 {
        if self.is_forced || self.chance >= 1.0 {
            return 1;
        }
        let runs = ((1.0 - wanted).ln() / (1.0 - self.chance).ln()).ceil();
        // The number saturates: a chance that small would take too many repetitions anyway.
        if runs.is_finite() { runs as u64 } else { u64::MAX }
    }
}

/// Returns tests for `mutants`, and the mutants without one (the state space is too large, or no difference from the
/// model exists). `watch` gets the number of mutants done, and ends the search if it returns true: the rest is without
/// a test.
pub fn killing_trees(
    pool: &TermPool,
    spec: &Sts,
    mutants: &[(usize, &Sts)],
    completion: InputCompletion,
    watch: &mut dyn FnMut(usize) -> bool,
) -> (Vec<KillingTree>, Vec<usize>) {
    let (mut trees, mut without): (Vec<KillingTree>, Vec<usize>) = (Vec::new(), Vec::new());
    for (looked, &(at, mutant)) in mutants.iter().enumerate() {
        if watch(looked) {
            without.extend(mutants[looked..].iter().map(|(at, _)| *at));
            break;
        }
        let kill = |tree: &KillingTree| {
            let (is_forced, chance) = tree.test.effect_on(pool, mutant, completion, MUTANT_BUDGET)?;
            (chance >= MIN_KILL_CHANCE).then_some(TreeKill { mutant: at, is_forced, chance })
        };
        if let Some((tree, kill)) = trees.iter_mut().find_map(|tree| kill(tree).map(|kill| (tree, kill))) {
            tree.kills.push(kill);
            continue;
        }
        match adaptive_test(pool, mutant, spec, (ConformanceRelation::Ioco, completion), MUTANT_BUDGET) {
            Some(test) => {
                let kill = TreeKill { mutant: at, is_forced: test.is_forced, chance: test.chance };
                trees.push(KillingTree { test, kills: vec![kill] });
            }
            None => without.push(at),
        }
    }
    (trees, without)
}
