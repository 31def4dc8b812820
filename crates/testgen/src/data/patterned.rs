//! Values by patterns of equality: the fields of a message that are equal, one pattern after another.
//!
//! A fault that depends on `a == b` is not found by a solver's first answer nor soon by values drawn from a wide range,
//! but enumerating the patterns finds it. Patterns in which some fields are equal and some differ come first: with all
//! equal a mix-up of fields is not seen, with all different no branch on equality is taken. Then all different, then
//! all equal. Within a pattern, values are drawn at random: near values seen before a third of the time, else any of
//! the sort.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

use super::{PickedValues, any_value, pick_symbolic};

/// The number of fields above which patterns are sampled instead of enumerated. The patterns of six fields are the
/// 203 partitions of a set of six; those of seven are 877.
const MAX_FIELDS: usize = 6;
/// The number of random draws for a pattern before the solver is asked. Chosen by feel: a pattern is already a strong
/// hint, so fewer than for plain values.
const DRAWS_BEFORE_SOLVER: usize = 6;
/// The number of draws of a value that differs from those of the other groups. Chosen by feel: a small range may have
/// no other value.
const MAX_TRIES: usize = 16;
/// The greatest number of patterns tried for one message. Chosen by feel: each may cost a question to the solver, and
/// the tester waits.
const MAX_PATTERNS: usize = 8;
/// The greatest number of valuations of the solver that are skipped. Chosen by feel: skipping more varies more, and
/// costs a question each.
const MAX_SPREAD: usize = 3;

/// A request for values by a pattern of equality.
#[derive(Clone, Copy, Debug)]
pub struct PatternedRequest<'w> {
    /// The fields that get values.
    pub fields: &'w [VarId],
    /// The facts that must be satisfiable with the chosen values, for some values of all other variables.
    pub facts: &'w [Term],
    /// Values seen before.
    pub beside: &'w [Value],
    /// The number of the pattern to try first, modulo the number of patterns.
    pub first: usize,
}

/// Chooses values for the fields: of the wanted pattern, or of the next one that is possible.
pub fn pick_patterned(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &PatternedRequest<'_>,
) -> PickedValues {
    if request.fields.is_empty() {
        return pick_symbolic(cx, rng, request.fields, request.facts);
    }
    let patterns = patterns(cx, rng, request.fields);
    for k in 0..patterns.len().min(MAX_PATTERNS) {
        // The caller counts `first` up from message to message, so all patterns come up in turn.
        let pattern = &patterns[(request.first + k) % patterns.len()];
        let drawn = draw(cx, rng, request, pattern).or_else(|| solve_pattern(cx, rng, request, pattern));
        if let Some(values) = drawn {
            return PickedValues::Values(values);
        }
    }
    pick_symbolic(cx, rng, request.fields, request.facts)
}

/// A block number for every field: fields of one block are equal.
type EqualityPattern = Vec<usize>;

/// The patterns of `fields`, mixed ones first; some at random where there are too many.
fn patterns(cx: &Ctx<'_>, rng: &mut ChaCha8Rng, fields: &[VarId]) -> Vec<EqualityPattern> {
    if fields.len() > MAX_FIELDS {
        return (0..MAX_PATTERNS).map(|_| sample_pattern(cx, rng, fields)).collect();
    }
    let sort = |at: usize| cx.pool.var_info(fields[at]).sort.base();
    let mut all: Vec<EqualityPattern> = vec![Vec::new()];
    for at in 0..fields.len() {
        let mut longer = Vec::new();
        for pattern in &all {
            let n_blocks = pattern.iter().max().map_or(0, |most| most + 1);
            // Restricted growth strings: a field joins an earlier block or opens the next one, so every partition
            // occurs once.
            for block in 0..=n_blocks {
                let fits = |(other, &b): (usize, &usize)| b != block || sort(other) == sort(at);
                if pattern.iter().enumerate().all(fits) {
                    longer.push([&pattern[..], &[block]].concat());
                }
            }
        }
        all = longer;
    }
    let most = all.iter().map(n_blocks).max().unwrap_or(0);
    let least = all.iter().map(n_blocks).min().unwrap_or(0);
    // Patterns with both equal and different fields first: they show faults that neither all-equal nor all-different
    // values show.
    all.sort_by_key(|pattern| match n_blocks(pattern) {
        n if n == most => 1,
        n if n == least => 2,
        _ => 0,
    });
    all
}

/// Draws a pattern: every field joins one of the blocks of its sort with a probability drawn for the pattern, or begins
/// a new one.
fn sample_pattern(cx: &Ctx<'_>, rng: &mut ChaCha8Rng, fields: &[VarId]) -> EqualityPattern {
    // In eighths: none, a few, some or most of the fields join another, so that both ends of the range come up too.
    let joins = [0, 1, 3, 6][rng.random_range(0..4usize)];
    let mut sorts: Vec<Sort> = Vec::new();
    let mut pattern = EqualityPattern::with_capacity(fields.len());
    for &field in fields {
        let sort = cx.pool.var_info(field).sort.base();
        let same: Vec<usize> = (0..sorts.len()).filter(|&block| sorts[block] == sort).collect();
        let joined = same.choose(rng).copied().filter(|_| rng.random_range(0..8) < joins);
        pattern.push(joined.unwrap_or_else(|| {
            sorts.push(sort);
            sorts.len() - 1
        }));
    }
    pattern
}

fn n_blocks(pattern: &EqualityPattern) -> usize {
    pattern.iter().max().map_or(0, |most| most + 1)
}

/// Draws values of the pattern for which the facts are satisfiable; `None` if no draw fits.
fn draw(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &PatternedRequest<'_>,
    pattern: &EqualityPattern,
) -> Option<Vec<Value>> {
    let mut interesting = constants(cx, request.facts);
    interesting.extend_from_slice(request.beside);
    for _ in 0..DRAWS_BEFORE_SOLVER {
        let Some(values) = random(cx, rng, request.fields, pattern, &interesting) else { continue };
        let known: Substitution = request
            .fields
            .iter()
            .zip(&values)
            .map(|(&field, value)| (field, cx.pool.value(value.clone())))
            .collect();
        let facts: Vec<Term> = request.facts.iter().map(|&fact| cx.pool.substitute(fact, &known)).collect();
        if cx.decide(&facts) == SolverDecision::Sat {
            return Some(values);
        }
    }
    None
}

/// Draws one value per block, different for different blocks; `None` if no draw fits.
fn random(
    cx: &Ctx<'_>,
    rng: &mut ChaCha8Rng,
    fields: &[VarId],
    pattern: &EqualityPattern,
    interesting: &[Value],
) -> Option<Vec<Value>> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut values = Vec::with_capacity(fields.len());
    for (&field, &block) in fields.iter().zip(pattern) {
        let sort = cx.pool.var_info(field).sort;
        // Blocks are numbered in the order in which they open, so this is the first field of a new one.
        if block == blocks.len() {
            let mut draws = (0..MAX_TRIES).map(|_| any_value(cx.pool, rng, sort, interesting));
            let fresh = draws.find(|value| !blocks.contains(value))?;
            blocks.push(fresh);
        }
        let value = blocks.get(block)?.clone();
        // Fields of one base sort may have different ranges.
        if !cx.pool.has_sort(&value, sort) {
            return None;
        }
        values.push(value);
    }
    Some(values)
}

/// Asks the solver for values that satisfy the facts and the pattern, spread over all solutions.
fn solve_pattern(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &PatternedRequest<'_>,
    pattern: &EqualityPattern,
) -> Option<Vec<Value>> {
    let mut facts = request.facts.to_vec();
    for b in 0..pattern.len() {
        for a in 0..b {
            let (x, y) = (cx.pool.var(request.fields[a]), cx.pool.var(request.fields[b]));
            if cx.pool.sort(x).base() != cx.pool.sort(y).base() {
                continue;
            }
            facts.push(if pattern[a] == pattern[b] { cx.pool.eq(x, y) } else { cx.pool.ne(x, y) });
        }
    }
    let found = DiverseValuations::new(cx.pool, &facts, request.fields, DiversePolicy::Random, rng.random());
    let found = spread(cx, rng, found)?;
    let value = |&field: &VarId| match found.get(field) {
        Some(value) => value.clone(),
        None => cx.pool.default_value(cx.pool.var_info(field).sort),
    };
    Some(request.fields.iter().map(value).collect())
}

/// Returns one of the first few valuations of `source`, drawn at random; `None` if it has none.
fn spread(cx: &mut Ctx<'_>, rng: &mut ChaCha8Rng, mut source: DiverseValuations) -> Option<Valuation> {
    let mut found = source.next(cx.pool, cx.solver)?;
    for _ in 0..rng.random_range(0..MAX_SPREAD) {
        match source.next(cx.pool, cx.solver) {
            Some(other) => found = other,
            None => break,
        }
    }
    Some(found)
}

/// The constants that occur in `facts`.
fn constants(cx: &Ctx<'_>, facts: &[Term]) -> Vec<Value> {
    let constant =
        |term| if let TermNode::Value(value) = cx.pool.node(term) { Some(value.clone()) } else { None };
    cx.pool.subterms(facts, |_| true).into_iter().filter_map(constant).collect()
}
