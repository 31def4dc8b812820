//! A cache of answers by the set of facts, whatever their order.
//!
//! The key is the sum of 128-bit hashes of the facts, each once. Terms are dense ids of
//! one pool, so the hash only has to spread them: two sets collide with a chance of
//! about n² / 2¹²⁹ for n questions. Open questions are asked again.

use ioxide_model::index::Idx;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;
use rustc_hash::FxHashMap;

use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::{AnswerCounts, SolverTally};

/// The caching layer.
#[derive(Debug)]
pub struct CacheLayer<S> {
    inner: S,
    capacity: usize,
    young: FxHashMap<u128, CachedAnswer>,
    /// The entries from before the cache was last full; a hit makes one young again.
    old: FxHashMap<u128, CachedAnswer>,
    answers: AnswerCounts,
}

#[derive(Clone, Debug)]
enum CachedAnswer {
    /// Satisfiable; with a valuation if one was asked for.
    Sat(Option<Valuation>),
    Unsat,
}

impl<S: Solver> CacheLayer<S> {
    /// Makes a cache of at most twice `capacity` answers of `inner`, the most recent ones.
    pub fn new(inner: S, capacity: usize) -> Self {
        let (young, old) = Default::default();
        Self { inner, capacity, young, old, answers: AnswerCounts::default() }
    }

    /// Returns a remembered answer, if there is one, and keeps it for another generation.
    fn lookup(&mut self, key: u128) -> Option<CachedAnswer> {
        if let Some(known) = self.young.get(&key) {
            return Some(known.clone());
        }
        let known = self.old.remove(&key)?;
        self.insert_answer(key, known.clone());
        Some(known)
    }

    fn insert_answer(&mut self, key: u128, known: CachedAnswer) {
        // Two generations instead of a list of uses: entries that were not asked for since the last turn are dropped at
        // once.
        if self.young.len() >= self.capacity {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, known);
    }
}

impl<S: Solver> Solver for CacheLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let key = cache_key(facts);
        match self.lookup(key) {
            Some(CachedAnswer::Sat(Some(valuation))) => {
                return self.answers.count_answer(SolverAnswer::Sat(valuation));
            }
            Some(CachedAnswer::Unsat) => return self.answers.count_answer(SolverAnswer::Unsat),
            Some(CachedAnswer::Sat(None)) | None => (),
        }
        let answer = self.inner.check(pool, facts);
        match &answer {
            SolverAnswer::Sat(valuation) => {
                self.insert_answer(key, CachedAnswer::Sat(Some(valuation.clone())))
            }
            SolverAnswer::Unsat => self.insert_answer(key, CachedAnswer::Unsat),
            SolverAnswer::Unknown(_) => (),
        }
        answer
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        let key = cache_key(facts);
        match self.lookup(key) {
            Some(CachedAnswer::Sat(_)) => return self.answers.count_decision(SolverDecision::Sat),
            Some(CachedAnswer::Unsat) => return self.answers.count_decision(SolverDecision::Unsat),
            None => (),
        }
        let decision = self.inner.decide(pool, facts);
        match &decision {
            SolverDecision::Sat => self.insert_answer(key, CachedAnswer::Sat(None)),
            SolverDecision::Unsat => self.insert_answer(key, CachedAnswer::Unsat),
            SolverDecision::Unknown(_) => (),
        }
        decision
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer("cache", self.answers);
        self.inner.add_to_tally(tally);
    }
}

/// Returns the key of `facts`, which must be different from each other; their order does not matter.
fn cache_key(facts: &[Term]) -> u128 {
    // A sum does not depend on the order; repeated facts would count twice, which the layer above rules out.
    facts.iter().fold(0, |sum, fact| sum.wrapping_add(mix_bits(fact.index() as u64)))
}

/// Returns 128 well-mixed bits of a small number: two rounds of a multiply-xorshift mixer with different odd constants.
fn mix_bits(n: u64) -> u128 {
    let mix = |n: u64, a: u64, b: u64| {
        let n = (n ^ (n >> 32)).wrapping_mul(a);
        let n = (n ^ (n >> 29)).wrapping_mul(b);
        n ^ (n >> 32)
    };
    let high = mix(n.wrapping_add(0x9e37_79b9_7f4a_7c15), 0xd6e8_feb8_6659_fd93, 0xcaf6_49a9_9c91_7a35);
    let low = mix(n.wrapping_add(0x6a09_e667_f3bc_c909), 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db);
    (u128::from(high) << 64) | u128::from(low)
}
