//! Answers about lists of unknown length, sets and maps against enumeration of small values.
//!
//! Random facts over a list, a set, a map and two numbers. What is satisfied is checked by evaluation; what is refuted,
//! no small value satisfies; and where nothing is known beyond a length, no value up to that length satisfies the facts
//! either.
//!
//! `IOXIDE_QUESTIONS=10000 cargo test -p ioxide-smt --test it collections:: -- --nocapture` is a campaign.

use ioxide_model::collection::CollectionValue;
use ioxide_model::sort::{CollectionId, Sort};
use ioxide_model::term::{Term, TermOp, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver, SolverAnswer, UnknownReason};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_test_support::test_count;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Longer lists are not enumerated.
const LONGEST: usize = 4;
const BIT: Sort = Sort::Range { lo: 0, hi: 1 };

struct Facts {
    pool: TermPool,
    rng: ChaCha8Rng,
    list: (VarId, Term, CollectionId),
    set: (VarId, Term, CollectionId),
    map: (VarId, Term, CollectionId),
    number: (VarId, Term),
    item: (VarId, Term),
}

impl Facts {
    fn new(seed: u64) -> Self {
        let mut pool = TermPool::new();
        let (list, set, map) = (pool.list_of(BIT), pool.set_of(BIT), pool.map_of(BIT, BIT));
        let mut var = |name: &str, id: CollectionId| {
            let (var, term) = pool.declare_term(name, Sort::Collection(id));
            (var, term, id)
        };
        let (list, set, map) = (var("xs", list), var("s", set), var("m", map));
        let (number, item) =
            (pool.declare_term("n", Sort::Range { lo: 0, hi: 2 }), pool.declare_term("e", BIT));
        Self { pool, rng: ChaCha8Rng::seed_from_u64(seed), list, set, map, number, item }
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.rng.random_range(0..sides)
    }

    fn item(&mut self) -> Term {
        match self.roll(3) {
            0 => self.item.1,
            one => self.pool.int(i64::from(one) - 1),
        }
    }

    /// An item to look for, perhaps one that no collection can have.
    fn asked(&mut self) -> Term {
        match self.roll(4) {
            0 => self.number(1),
            1 => {
                let outside = [-1, 2, 5][self.roll(3) as usize];
                self.pool.int(outside)
            }
            _ => self.item(),
        }
    }

    fn number(&mut self, depth: u32) -> Term {
        let args = match self.roll(if depth == 0 { 2 } else { 8 }) {
            0 => return self.number.1,
            1 => {
                let constant = i64::from(self.roll(5));
                return self.pool.int(constant);
            }
            2 => (TermOp::Size, vec![self.list(depth - 1)]),
            3 => (TermOp::Sum, vec![self.list(depth - 1)]),
            4 => (TermOp::IndexOf, vec![self.list(depth - 1), self.asked()]),
            5 => (TermOp::Size, vec![self.set(depth - 1)]),
            6 => (TermOp::At, vec![self.list(depth - 1), self.number(0)]),
            _ => (TermOp::At, vec![self.map(depth - 1), self.asked()]),
        };
        self.pool.operate(args.0, args.1)
    }

    fn list(&mut self, depth: u32) -> Term {
        let (op, args) = match self.roll(if depth == 0 { 1 } else { 8 }) {
            0 | 1 => return self.list.1,
            2 => (TermOp::Append, vec![self.list(depth - 1), self.list(depth - 1)]),
            3 => (TermOp::Slice, vec![self.list(depth - 1), self.number(0), self.number(0)]),
            4 => (TermOp::Reverse, vec![self.list(depth - 1)]),
            5 => (TermOp::Sorted, vec![self.list(depth - 1)]),
            6 => (TermOp::Without, vec![self.list(depth - 1), self.asked()]),
            _ => (TermOp::Keys, vec![self.set(depth - 1)]),
        };
        self.pool.operate(op, args)
    }

    fn set(&mut self, depth: u32) -> Term {
        let (op, args) = match self.roll(if depth == 0 { 1 } else { 6 }) {
            0 | 1 => return self.set.1,
            2 => (TermOp::Union, vec![self.set(depth - 1), self.set(depth - 1)]),
            3 => (TermOp::Minus, vec![self.set(depth - 1), self.set(depth - 1)]),
            4 => (TermOp::Without, vec![self.set(depth - 1), self.asked()]),
            _ => (TermOp::ToSet, vec![self.list(depth - 1)]),
        };
        self.pool.operate(op, args)
    }

    fn map(&mut self, depth: u32) -> Term {
        let (op, args) = match self.roll(if depth == 0 { 1 } else { 3 }) {
            0 => return self.map.1,
            1 => (TermOp::Put, vec![self.map(depth - 1), self.item(), self.item()]),
            _ => (TermOp::Without, vec![self.map(depth - 1), self.asked()]),
        };
        self.pool.operate(op, args)
    }

    fn fact(&mut self) -> Term {
        let pair = |facts: &mut Self| (facts.number(2), facts.number(1));
        let fact = match self.roll(9) {
            0 | 1 => {
                let (a, b) = pair(self);
                self.pool.lt(a, b)
            }
            2 => {
                let (a, b) = pair(self);
                self.pool.eq(a, b)
            }
            3 => {
                let (of, item) = (self.list(2), self.asked());
                self.pool.operate(TermOp::Has, vec![of, item])
            }
            4 => {
                let (of, item) = (self.map(2), self.asked());
                self.pool.operate(TermOp::Has, vec![of, item])
            }
            5 => {
                let sets = vec![self.set(1), self.set(2)];
                self.pool.operate(TermOp::Within, sets)
            }
            6 => {
                let (a, b) = (self.list(2), self.list(1));
                self.pool.eq(a, b)
            }
            7 => {
                let (a, b) = (self.map(2), self.map(1));
                self.pool.eq(a, b)
            }
            _ => {
                let of = self.list(1);
                let (var, item) = self.pool.declare_term("i", BIT);
                let number = self.number(1);
                let body = self.pool.lt(item, number);
                self.pool.for_some_member(var, of, body)
            }
        };
        if self.roll(3) == 0 { self.pool.not(fact) } else { fact }
    }
}

/// All lists of bits of this length.
fn rows(length: usize) -> impl Iterator<Item = Vec<Value>> {
    (0..1_i64 << length).map(move |bits| (0..length).map(|at| Value::int(bits >> at & 1)).collect())
}

/// All sets of bits, as what they hold; and all maps, as their keys and values.
fn maps() -> Vec<Vec<(Value, Value)>> {
    let values = [None, Some(0), Some(1)];
    let both = values.iter().flat_map(|one| values.iter().map(move |other| [*one, *other]));
    let entries = |both: [Option<i64>; 2]| {
        let entry = |(key, value): (i64, Option<i64>)| value.map(|v| (Value::int(key), Value::int(v)));
        (0..).zip(both).filter_map(entry).collect()
    };
    both.map(entries).collect()
}

/// Returns the least length of the longest collection with which the facts hold; `None` if no short ones suffice.
fn shortest(facts: &Facts, asked: &[Term]) -> Option<usize> {
    let used = facts.pool.free_vars_of(asked);
    let sets: Vec<Vec<Value>> = vec![vec![], vec![0], vec![1], vec![0, 1]]
        .into_iter()
        .map(|set| set.into_iter().map(Value::int).collect())
        .collect();
    // What is not asked about is tried once.
    let some = |var: VarId, all: usize| if used.contains(&var) { all } else { 1 };
    let maps = maps();
    let mut best: Option<usize> = None;
    for length in 0..=if used.contains(&facts.list.0) { LONGEST } else { 0 } {
        for row in rows(length) {
            for set in &sets[..some(facts.set.0, sets.len())] {
                for map in &maps[..some(facts.map.0, maps.len())] {
                    let longest = length.max(set.len()).max(map.len());
                    if best.is_some_and(|best| best <= longest) {
                        continue;
                    }
                    for number in 0..some(facts.number.0, 3) {
                        for item in 0..some(facts.item.0, 2) {
                            let values = Valuation::from_iter([
                                (
                                    facts.list.0,
                                    Value::Collection(CollectionValue::list(facts.list.2, row.clone())),
                                ),
                                (
                                    facts.set.0,
                                    Value::Collection(CollectionValue::set(facts.set.2, set.clone())),
                                ),
                                (
                                    facts.map.0,
                                    Value::Collection(CollectionValue::map(facts.map.2, map.clone())),
                                ),
                                (facts.number.0, Value::int(number as i64)),
                                (facts.item.0, Value::int(item as i64)),
                            ]);
                            if asked.iter().all(|&fact| facts.pool.holds(fact, &values) == Ok(true)) {
                                best = Some(longest);
                            }
                        }
                    }
                }
            }
        }
    }
    best
}

#[test]
fn answers_about_collections_agree_with_enumeration() {
    let n = test_count("IOXIDE_QUESTIONS", 60, 2_000);
    let (mut found, mut refuted, mut beyond, mut open) = (0, 0, 0, 0);
    for seed in 0..n {
        let mut facts = Facts::new(seed);
        let asked: Vec<Term> = (0..1 + facts.roll(3)).map(|_| facts.fact()).collect();
        let answer = build_stack(&SolverConfig::default()).check(&mut facts.pool, &asked);
        let shown = || asked.iter().map(|&fact| facts.pool.show(fact).to_string()).collect::<Vec<_>>();
        let shortest = shortest(&facts, &asked);
        match answer {
            SolverAnswer::Sat(values) => {
                found += 1;
                let values: Valuation = facts
                    .pool
                    .free_vars_of(&asked)
                    .into_iter()
                    .map(|var| {
                        let default = || facts.pool.default_value(facts.pool.var_info(var).sort);
                        (var, values.get(var).cloned().unwrap_or_else(default))
                    })
                    .collect();
                let holds = asked.iter().all(|&fact| facts.pool.holds(fact, &values) == Ok(true));
                assert!(holds, "seed {seed}: {values:?} for {:?}", shown());
            }
            SolverAnswer::Unsat => {
                refuted += 1;
                assert_eq!(shortest, None, "seed {seed}: refuted {:?}", shown());
            }
            SolverAnswer::Unknown(UnknownReason::Beyond(length)) => {
                beyond += 1;
                let is_beyond = shortest.is_none_or(|shortest| shortest > length);
                assert!(is_beyond, "seed {seed}: {shortest:?} within {length} for {:?}", shown());
            }
            SolverAnswer::Unknown(_) => open += 1,
        }
    }
    println!("{found} satisfied, {refuted} refuted, {beyond} known up to a length, {open} open");
    assert!(n < 100 || found > 20 && refuted > 5, "{found} {refuted}");
    assert!(open * 10 <= n, "{open} open");
}
