//! Equivalence classes: the cells into which the guards of a gate cut the values of its fields.
//!
//! Every comparison in a guard of the gate, of whichever switch, splits the values into those for which
//! it holds and the others. A fault often sits in a small cell that an even draw rarely meets, so now
//! and then the values are drawn from one side of a comparison chosen at random.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::term::Term;
use ioxide_symex::Ctx;

use super::ValueRequest;
use super::hints::is_comparison;

/// Returns the guard of `request` with one side of a comparison, if there is one about the fields.
pub(super) fn narrow_guard(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &ValueRequest<'_>,
) -> Option<Term> {
    let atom = *atoms(cx, request).choose(rng)?;
    let side = if rng.random() { atom } else { cx.pool.not(atom) };
    Some(cx.pool.and([request.guard, side]))
}

/// The comparisons about fields in all guards of the gate, each once.
fn atoms(cx: &Ctx<'_>, request: &ValueRequest<'_>) -> Vec<Term> {
    let fields = &cx.sts.gates[request.gate].fields;
    let mut found = Vec::new();
    for switch in cx.sts.switches.iter().filter(|switch| switch.gate == request.gate) {
        for term in cx.pool.subterms(&[switch.guard], |term| !cx.pool.is_ground(term)) {
            let vars = cx.pool.free_vars(term);
            let is_about_fields = vars.iter().any(|var| fields.contains(var));
            let is_closed = vars.iter().all(|&var| fields.contains(&var) || request.state.get(var).is_some());
            if is_comparison(cx.pool, term) && is_about_fields && is_closed && !found.contains(&term) {
                found.push(term);
            }
        }
    }
    found
}
