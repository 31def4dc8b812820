//! Remembers answers by the set of facts, whatever their order.
//!
//! The key is the sum of 128-bit hashes of the facts, each once. Terms are dense ids of
//! one pool, so the hash only has to spread them: two sets collide with a chance of
//! about n² / 2¹²⁹ for n questions. Open questions are asked again.

use ioxide_model::index::Idx;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;
use rustc_hash::FxHashMap;

use crate::solver::{Answer, Decision, Solver};
use crate::tally::{Answers, Tally};

/// The layer.
#[derive(Debug)]
pub struct Cache<S> {
    inner: S,
    capacity: usize,
    young: FxHashMap<u128, Known>,
    /// Entries from before the last time the cache was full; a hit makes one young again.
    old: FxHashMap<u128, Known>,
    answers: Answers,
}

#[derive(Clone, Debug)]
enum Known {
    /// With a valuation, if someone asked for one.
    Sat(Option<Valuation>),
    Unsat,
}

impl<S: Solver> Cache<S> {
    /// Remembers up to twice `capacity` answers of `inner`, the recent ones.
    pub fn new(inner: S, capacity: usize) -> Self {
        let (young, old) = Default::default();
        Self { inner, capacity, young, old, answers: Answers::default() }
    }

    fn look(&mut self, key: u128) -> Option<Known> {
        if let Some(known) = self.young.get(&key) {
            return Some(known.clone());
        }
        let known = self.old.remove(&key)?;
        self.keep(key, known.clone());
        Some(known)
    }

    fn keep(&mut self, key: u128, known: Known) {
        if self.young.len() >= self.capacity {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, known);
    }
}

impl<S: Solver> Solver for Cache<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> Answer {
        let key = key(facts);
        match self.look(key) {
            Some(Known::Sat(Some(valuation))) => return self.answers.note(Answer::Sat(valuation)),
            Some(Known::Unsat) => return self.answers.note(Answer::Unsat),
            Some(Known::Sat(None)) | None => (),
        }
        let answer = self.inner.check(pool, facts);
        match &answer {
            Answer::Sat(valuation) => self.keep(key, Known::Sat(Some(valuation.clone()))),
            Answer::Unsat => self.keep(key, Known::Unsat),
            Answer::Unknown(_) => (),
        }
        answer
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> Decision {
        let key = key(facts);
        match self.look(key) {
            Some(Known::Sat(_)) => return self.answers.note_decision(Decision::Sat),
            Some(Known::Unsat) => return self.answers.note_decision(Decision::Unsat),
            None => (),
        }
        let decision = self.inner.decide(pool, facts);
        match &decision {
            Decision::Sat => self.keep(key, Known::Sat(None)),
            Decision::Unsat => self.keep(key, Known::Unsat),
            Decision::Unknown(_) => (),
        }
        decision
    }

    fn tally(&self, tally: &mut Tally) {
        tally.add("cache", self.answers);
        self.inner.tally(tally);
    }
}

/// The same for every order of `facts`, which are different from each other.
fn key(facts: &[Term]) -> u128 {
    facts.iter().fold(0, |sum, fact| sum.wrapping_add(spread(fact.index() as u64)))
}

/// 128 well-mixed bits of a small number: two rounds of a multiply-xorshift mixer with
/// different odd constants.
fn spread(n: u64) -> u128 {
    let mix = |n: u64, a: u64, b: u64| {
        let n = (n ^ (n >> 32)).wrapping_mul(a);
        let n = (n ^ (n >> 29)).wrapping_mul(b);
        n ^ (n >> 32)
    };
    let high = mix(n.wrapping_add(0x9e37_79b9_7f4a_7c15), 0xd6e8_feb8_6659_fd93, 0xcaf6_49a9_9c91_7a35);
    let low = mix(n.wrapping_add(0x6a09_e667_f3bc_c909), 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db);
    (u128::from(high) << 64) | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;
    use crate::solver::Why;
    use ioxide_model::sort::Sort;

    #[test]
    fn the_order_of_facts_does_not_matter_and_open_questions_are_asked_again() {
        let mut pool = TermPool::new();
        let (_, a) = pool.fresh("a", Sort::Bool);
        let (_, b) = pool.fresh("b", Sort::Bool);
        let script = [Answer::Unknown(Why::Time), Answer::Unsat];
        let mut cache = Cache::new(Scripted::new(script), 10);
        assert_eq!(cache.check(&mut pool, &[a, b]), Answer::Unknown(Why::Time));
        assert_eq!(cache.check(&mut pool, &[a, b]), Answer::Unsat);
        assert_eq!(cache.check(&mut pool, &[b, a]), Answer::Unsat);
        assert_eq!(cache.decide(&mut pool, &[b, a]), Decision::Unsat);
        assert_eq!(cache.decide(&mut pool, &[b]), Decision::Unknown(Why::NoSolver));
    }

    #[test]
    fn old_answers_are_forgotten_first() {
        let mut pool = TermPool::new();
        let vars: Vec<Term> = (0..6).map(|_| pool.fresh("v", Sort::Bool).1).collect();
        let mut cache = Cache::new(Scripted::new([const { Answer::Unsat }; 6]), 2);
        for &var in &vars {
            assert_eq!(cache.check(&mut pool, &[var]), Answer::Unsat);
        }
        assert_eq!(cache.check(&mut pool, &[vars[0]]), Answer::Unknown(Why::NoSolver));
        assert_eq!(cache.check(&mut pool, &[vars[5]]), Answer::Unsat);
    }
}
