//! The cost of a symbolic search, in evaluations of guards.
//!
//! The price is counted, not timed: two searches that take turns by it give the same answer on every machine. The
//! factors were measured on counters, sums and the Redis subset and need to be right only within a small factor.

use ioxide_smt::tally::SolverTally;
use ioxide_symex::Ctx;

/// The price of exploring a product state. All prices are in evaluations of a guard and rough: they only decide whose
/// turn is over, never an answer.
const STATE_PRICE: usize = 30;
/// The price of a new term, measured as the module says.
const TERM_PRICE: usize = 20;
/// The price of a query, whichever layer answers it, measured as the module says.
const QUERY_PRICE: usize = 35;
/// The additional price of a query that reaches the back-end, measured as the module says.
const BACK_END_PRICE: usize = 800;

/// Returns the price of all work in `cx` so far, the exploration of `states` product states included.
pub(super) fn price(cx: &Ctx<'_>, states: usize) -> usize {
    let mut tally = SolverTally::default();
    cx.solver.add_to_tally(&mut tally);
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let asked = count(tally.questions).saturating_mul(QUERY_PRICE);
    let innermost = tally.lines.last().map_or(0, |line| count(line.answers.total()));
    let answered = innermost.saturating_mul(BACK_END_PRICE);
    (states * STATE_PRICE + cx.pool.len() * TERM_PRICE).saturating_add(asked).saturating_add(answered)
}
