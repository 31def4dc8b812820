//! Many different valuations of the same facts, the same for the same seed.
//!
//! Solvers repeat themselves whatever their seed, so the diversity is put in here. A
//! *random* run takes one valuation from the solver and walks on from there: in a random
//! direction, to a random point where all facts still hold (hit and run), in our own
//! evaluator. Where that does not move, the solver is asked again with a bundle of random
//! half-spaces, one dropped per failure. *Boundary* values sit at the bounds of variables
//! and at the constants of the facts. *Patterns* are the ways in which variables can be
//! equal to each other (set partitions), one valuation for each that is possible.
//!
//! *Promises* that every valuation satisfies the facts, and that no two agree on all the
//! wanted variables.

#[doc(hidden)]
pub mod patterns;
mod walk;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

use self::patterns::Patterns;
use crate::layers::interval::variable_bounds;
use crate::solver::{Solver, SolverAnswer};

/// The kinds of valuations to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiversePolicy {
    /// Valuations spread over all that are possible.
    Random,
    /// Valuations at the edges: least and greatest values, and those around constants of the facts.
    Boundary,
    /// One valuation for every way the variables can be equal to each other.
    Patterns,
}

/// The number of steps that a walk tries before the solver is asked again. These numbers were chosen by feel: they
/// decide how different the valuations are and how often the solver is asked, never whether a valuation is right.
const MAX_WALK_STEPS: usize = 40;
/// The number of steps between two valuations, so that they are not close to each other.
const MIN_WALK_STEPS: usize = 4;
/// The number of valuations after which a walk restarts elsewhere, since it mixes slowly along equations.
const VALUATIONS_PER_WALK: usize = 16;
/// The number of half-spaces that cut a random region out. Chosen by feel.
const HALF_SPACES: usize = 6;
/// The distances from their other bound, or from zero, within which unbounded numbers are looked for: the
/// sizes of numbers that people write, so that each gets its share of the values. Chosen by feel.
const SPREADS: [i64; 5] = [10, 100, 1_000, 10_000, 1_000_000];

/// A source of different valuations.
#[derive(Debug)]
pub struct DiverseValuations {
    facts: Vec<Term>,
    vars: Vec<VarId>,
    policy: DiversePolicy,
    rng: ChaCha8Rng,
    /// The values of the wanted variables in the valuations returned so far.
    given: FxHashSet<Vec<Value>>,
    /// The current point of the walk, and with `other` a second one: linear equations hold on the line through both.
    at: Option<Valuation>,
    other: Option<Valuation>,
    /// The facts still to be tried, for the policies that enumerate them.
    plan: Option<DiversePlan>,
}

#[derive(Debug)]
enum DiversePlan {
    /// Facts to add, each for one valuation.
    Goals(Vec<Term>),
    Patterns(Patterns),
}

impl DiverseValuations {
    /// Makes a source of valuations of `facts` that differ on `vars`.
    #[must_use]
    pub fn new(pool: &TermPool, facts: &[Term], vars: &[VarId], policy: DiversePolicy, seed: u64) -> Self {
        let plan =
            (policy == DiversePolicy::Patterns).then(|| DiversePlan::Patterns(Patterns::new(pool, vars)));
        Self {
            facts: facts.to_vec(),
            vars: vars.to_vec(),
            policy,
            rng: ChaCha8Rng::seed_from_u64(seed),
            given: FxHashSet::default(),
            at: None,
            other: None,
            plan,
        }
    }

    /// Returns the next valuation, over the free variables of the facts and the wanted ones. `None` if there is no
    /// further one, or if none was found although there may be others.
    pub fn next(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        let found = match self.policy {
            DiversePolicy::Random => self.next_random(pool, solver),
            DiversePolicy::Boundary => self.next_boundary(pool, solver),
            DiversePolicy::Patterns => self.next_pattern(pool, solver),
        }?;
        self.given.insert(self.wanted_values(&found));
        Some(found)
    }

    fn wanted_values(&self, valuation: &Valuation) -> Vec<Value> {
        self.vars.iter().filter_map(|&var| valuation.get(var).cloned()).collect()
    }

    fn is_new(&self, valuation: &Valuation) -> bool {
        !self.given.contains(&self.wanted_values(valuation))
    }

    /// Asks for a valuation of the facts and `more`; variables that none of them mentions get plain values.
    fn ask_solver(&self, pool: &mut TermPool, solver: &mut dyn Solver, more: &[Term]) -> Option<Valuation> {
        let facts = [&self.facts[..], more].concat();
        let SolverAnswer::Sat(mut valuation) = solver.check(pool, &facts) else { return None };
        for &var in &self.vars {
            // No fact mentions the variable, so any value will do.
            if valuation.get(var).is_none() {
                valuation.set(var, pool.default_value(pool.var_info(var).sort));
            }
        }
        Some(valuation)
    }

    fn next_random(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        if self.at.is_none() {
            self.at = self.ask_random_region(pool, solver).or_else(|| self.ask_solver(pool, solver, &[]));
            let start = self.at.clone()?;
            // A second point, far from the first if possible. Where equations leave only a line, most directions break
            // them; the one through two solutions does not.
            self.other = self.ask_random_region(pool, solver).filter(|other| *other != start);
            if self.is_new(&start) {
                return Some(start);
            }
        }
        // A walk is much cheaper than the solver, so it goes first, except where it is time to begin elsewhere.
        if !self.given.len().is_multiple_of(VALUATIONS_PER_WALK)
            && let Some(found) = self.walk_to_new(pool)
        {
            return Some(found);
        }
        // Somewhere else, or at least somewhere new.
        let elsewhere = self.ask_random_region(pool, solver).filter(|found| self.is_new(found));
        let found = match elsewhere {
            Some(found) => found,
            None => self.walk_to_new(pool).or_else(|| self.ask_different(pool, solver))?,
        };
        // The last point stays as the second one of a line.
        self.other = self.at.replace(found.clone());
        Some(found)
    }

    /// Walks up to [`MAX_WALK_STEPS`] steps, at least [`MIN_WALK_STEPS`] if it can, to a valuation that is new on the
    /// wanted variables.
    fn walk_to_new(&mut self, pool: &TermPool) -> Option<Valuation> {
        let mut n_steps = 0;
        for _ in 0..MAX_WALK_STEPS {
            let at = self.at.as_ref()?;
            let places = (at, self.other.as_ref());
            let Some(next) = walk::random_step(pool, &self.facts, &self.vars, places, &mut self.rng) else {
                continue;
            };
            n_steps += 1;
            let done = n_steps >= MIN_WALK_STEPS && self.is_new(&next);
            self.at = Some(next.clone());
            if done {
                return Some(next);
            }
        }
        self.at.clone().filter(|at| self.is_new(at))
    }

    /// A valuation in a random region: half-spaces through random points, dropped until one fits.
    fn ask_random_region(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        let mut bundle: Vec<Term> = (0..HALF_SPACES).filter_map(|_| self.random_half_space(pool)).collect();
        while !bundle.is_empty() {
            if let Some(found) = self.ask_solver(pool, solver, &bundle) {
                return Some(found);
            }
            // Fewer half-spaces cut out a larger region; with none left the caller asks without.
            bundle.pop();
        }
        None
    }

    /// A random variable above or below a random value within its bounds.
    fn random_half_space(&mut self, pool: &mut TermPool) -> Option<Term> {
        let numeric = |var: &VarId| pool.var_info(*var).sort.is_numeric();
        let numbers: Vec<VarId> = self.vars.iter().copied().filter(numeric).collect();
        if numbers.is_empty() {
            return None;
        }
        let var = numbers[self.rng.random_range(0..numbers.len())];
        // Only bounds that the facts state directly; without one, a spread of a random size around the other.
        let (lo, hi) = variable_bounds(pool, &self.facts, &[var])[0];
        let spread = SPREADS[self.rng.random_range(0..SPREADS.len())];
        let lo = lo.unwrap_or_else(|| hi.unwrap_or(spread).saturating_sub(2 * spread));
        let hi = hi.unwrap_or_else(|| lo.saturating_add(2 * spread));
        let at = if lo < hi { self.rng.random_range(lo..=hi) } else { lo };
        let term = pool.var(var);
        let at = pool.number(at.into(), pool.sort(term).base());
        Some(if self.rng.random_range(0..2) == 0 { pool.le(term, at) } else { pool.le(at, term) })
    }

    /// Asks for a valuation that differs on some wanted variable from every one returned before.
    fn ask_different(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        let mut given: Vec<Vec<Value>> = self.given.iter().cloned().collect();
        // In an order of its own: that of a hash set would make the question, and so the answer, differ between runs.
        given.sort_unstable();
        let mut facts = Vec::with_capacity(given.len());
        for values in given {
            let differs: Vec<Term> = self
                .vars
                .iter()
                .zip(values)
                .map(|(&var, value)| {
                    let (var, value) = (pool.var(var), pool.value(value));
                    pool.ne(var, value)
                })
                .collect();
            facts.push(pool.or(differs));
        }
        self.ask_solver(pool, solver, &facts)
    }

    fn next_boundary(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        if self.plan.is_none() {
            let mut goals = boundary_goals(pool, &self.facts, &self.vars);
            // Shuffled, so that a caller who wants a few valuations does not get those of the first variable alone.
            goals.shuffle(&mut self.rng);
            self.plan = Some(DiversePlan::Goals(goals));
        }
        while let Some(DiversePlan::Goals(goals)) = &mut self.plan
            && let Some(goal) = goals.pop()
        {
            if let Some(found) = self.ask_solver(pool, solver, &[goal]).filter(|found| self.is_new(found)) {
                return Some(found);
            }
        }
        None
    }

    fn next_pattern(&mut self, pool: &mut TermPool, solver: &mut dyn Solver) -> Option<Valuation> {
        while let Some(DiversePlan::Patterns(patterns)) = &mut self.plan
            && let Some(facts) = patterns.next_partition(pool)
        {
            if let Some(found) = self.ask_solver(pool, solver, &facts).filter(|found| self.is_new(found)) {
                return Some(found);
            }
        }
        None
    }
}

/// Facts that put one variable at an edge: its bounds, constants of the facts and their neighbours.
fn boundary_goals(pool: &mut TermPool, facts: &[Term], vars: &[VarId]) -> Vec<Term> {
    let constants = whole_constants(pool, facts);
    let bounds = variable_bounds(pool, facts, vars);
    let mut goals = Vec::new();
    for (&var, (lo, hi)) in vars.iter().zip(bounds) {
        let sort = pool.var_info(var).sort;
        let term = pool.var(var);
        let mut add = |pool: &mut TermPool, value| {
            let value = pool.value(value);
            let goal = pool.eq(term, value);
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        };
        if !sort.is_numeric() {
            for value in pool.finite_domain(sort).unwrap_or_default() {
                add(pool, value);
            }
            continue;
        }
        let around = constants.iter().flat_map(|&n| [n.saturating_sub(1), n, n.saturating_add(1)]);
        let inside = |n: &i64| lo.is_none_or(|lo| lo <= *n) && hi.is_none_or(|hi| *n <= hi);
        let edges: Vec<i64> = lo.into_iter().chain(hi).chain(around).chain([0]).filter(inside).collect();
        for n in edges {
            let value = if sort == Sort::Real { Value::Real(n.into()) } else { Value::int(n) };
            add(pool, value);
        }
    }
    goals
}

/// The whole numbers that occur in `facts`, each once, in order.
fn whole_constants(pool: &TermPool, facts: &[Term]) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::new();
    for sub in pool.subterms(facts, |_| true) {
        if let TermNode::Value(value) = pool.node(sub)
            && let Some(n) = value.to_rational()
        {
            found.extend(n.floor().to_i64());
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
