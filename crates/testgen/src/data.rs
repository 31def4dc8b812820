//! Values for the fields of a message, varied and reproducible by seed.
//!
//! \[FTW05]'s algorithm and \[BT19]'s `getValues` leave the choice open; a solver's first answer is a dull one. Values
//! are chosen as late as possible, so that they can depend on earlier observations.
//!
//! *Distribution.* Now and then the values come from one equivalence class: one side of a comparison that some guard of
//! the gate makes. Fields that an equation fixes get that value. If the rest has few combinations, each one that is
//! allowed is equally likely, half of the time. Else fields of one sort are grouped at random (each field joins an
//! earlier group or starts a new one), so that every pattern of equal and different fields comes up. A group's value is
//! in a relation to something known (equal, one off, a sum, a difference; known are values of the run and of the state,
//! constants of the guard and of the model), small, at the edge of a machine word, or of any magnitude; texts too,
//! and where the guard has a pattern, by a walk through it, or as long as the guard allows. A field that is looked up
//! in a collection is mostly a key that is there, and always if the guard demands it. One time in four a field is moved
//! to the edge of a comparison. Values that the guard rejects are drawn again. If no draw fits, and mostly where the
//! guard equates fields with terms over each other, the solver is asked for diverse valuations: spread most of the
//! time, at the bounds, or by patterns of equality.
//!
//! *Promises.* [`PickedValues::Impossible`] is a proof; [`PickedValues::Unknown`] is neither yes nor no.

mod class;
mod collection;
mod edge;
mod fixed_fields;
mod hints;
mod inner_texts;
mod keys;
mod members;
mod number;
pub mod patterned;
mod random;
mod text;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use ioxide_model::sort::Sort;
use ioxide_model::sts::GateId;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::solver::{SolverAnswer, SolverDecision, UnknownReason};
use ioxide_symex::Ctx;

pub use self::hints::{
    Hints, ModelLexicon, SeenValues, ValueWeights, comparisons_of, is_comparison, is_wide,
};
pub(crate) use self::keys::draw_keys;
pub use self::keys::{KeyUse, UsedKeys};
use self::members::MemberDemands;
use self::random::ValueDraw;
pub use self::random::any_value;

/// The greatest number of combinations that are all tried. Chosen by feel: evaluating a guard is far cheaper than a
/// question to the solver.
const MAX_COMBINATIONS: usize = 512;
/// The number of random draws before the solver is asked. Chosen by feel: fewer ask the solver for guards that
/// drawing satisfies, more waste draws on narrow ones.
const DRAWS_BEFORE_SOLVER: usize = 48;
/// The number of random draws before all combinations are tried. Chosen by feel: a guard that most values satisfy
/// needs no list.
const DRAWS_BEFORE_LISTING: usize = 8;

/// The greatest number of valuations the solver is asked for; the last one found is taken. Chosen by feel: the solver
/// likes zeros, and the first valuation is often the same every time.
const MAX_VALUATIONS: usize = 5;

/// A request for field values of `gate` that satisfy `guard` in a state.
#[derive(Clone, Copy, Debug)]
pub struct ValueRequest<'w> {
    /// The gate whose fields get values.
    pub gate: GateId,
    /// A formula over the fields and the variables of the state.
    pub guard: Term,
    /// The values of the state.
    pub state: &'w Valuation,
}

/// The answer to a request for values.
#[must_use = "a query without an answer proves nothing"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickedValues {
    /// One value per field, in order; the guard holds with them.
    Values(Vec<Value>),
    /// No values satisfy the guard.
    Impossible,
    /// None were found, and nothing shows that there are none.
    Unknown(UnknownReason),
}

/// Chooses values for `request` by the guard and the state alone.
pub fn pick(cx: &mut Ctx<'_>, rng: &mut ChaCha8Rng, request: &ValueRequest<'_>) -> PickedValues {
    pick_hinted(cx, rng, request, &Hints::default())
}

/// Chooses values for `request` with `hints`; one time in six from one equivalence class, if that is possible.
pub fn pick_hinted(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &ValueRequest<'_>,
    hints: &Hints<'_>,
) -> PickedValues {
    // The share of narrow classes. Chosen by feel: they are for values that random draws hardly meet, and most draws
    // should still be free.
    if rng.random_ratio(1, 6)
        && let Some(guard) = class::narrow_guard(cx, rng, request)
        && let PickedValues::Values(values) = pick_any(cx, rng, &ValueRequest { guard, ..*request }, hints)
    {
        return PickedValues::Values(values);
    }
    pick_any(cx, rng, request, hints)
}

/// Chooses values for `request` from all classes.
fn pick_any(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    request: &ValueRequest<'_>,
    hints: &Hints<'_>,
) -> PickedValues {
    let fields = &cx.sts.gates[request.gate].fields;
    // From cheap to dear: what the guard fixes, draws, a complete list of small domains, the solver. Only the list and
    // the solver can prove that there are no values.
    let Some(fixed) = fixed_fields::fixed_fields(cx.pool, fields, request) else {
        return PickedValues::Impossible;
    };
    let open: Vec<VarId> = fields.iter().copied().filter(|&field| fixed.get(field).is_none()).collect();
    if fixed_fields::is_refuted(cx.pool, &open, &fixed, request) {
        return PickedValues::Impossible;
    }
    if open.is_empty() && fixed_fields::fits(cx.pool, fields, &fixed, request) == Some(true) {
        return PickedValues::Values(in_order(fields, &fixed));
    }
    let MemberDemands::Some(members) = MemberDemands::collect(cx.pool, &open, request) else {
        return PickedValues::Impossible;
    };
    let draft = ValueDraw::new(cx.pool, &open, request, hints, members);
    let split = FieldSplit { fields, open: &open, fixed: &fixed };
    // Draws crowd where few values fit; the solver spreads them.
    if draft.is_tied()
        && rng.random_ratio(5, 6)
        && let PickedValues::Values(values) = ask_solver(cx, rng, split, request)
    {
        return PickedValues::Values(values);
    }
    // A list of all combinations has more misses than hits, so keys are drawn.
    let draws = if rng.random_ratio(1, 2) || draft.has_keys() { DRAWS_BEFORE_LISTING } else { 0 };
    if let Some(values) = draw_fitting(cx, rng, split, &draft, draws) {
        return PickedValues::Values(values);
    }
    // A complete list also gives every combination the same chance, which neither draws nor the solver do.
    match fixed_fields::all_combinations(cx.pool, &open, &fixed, request, MAX_COMBINATIONS) {
        Some(all) if all.is_empty() => return PickedValues::Impossible,
        Some(mut all) => {
            let chosen = rng.random_range(0..all.len());
            return PickedValues::Values(in_order(fields, &all.swap_remove(chosen)));
        }
        None => (),
    }
    if let Some(values) = draw_fitting(cx, rng, split, &draft, DRAWS_BEFORE_SOLVER) {
        return PickedValues::Values(values);
    }
    ask_solver(cx, rng, split, request)
}

/// The fields of a message: those that can have one value only, with that value, and those that are open.
#[derive(Clone, Copy)]
struct FieldSplit<'f> {
    fields: &'f [VarId],
    open: &'f [VarId],
    fixed: &'f Valuation,
}

/// Returns the first of so many draws that fits.
fn draw_fitting(
    cx: &Ctx<'_>,
    rng: &mut ChaCha8Rng,
    split: FieldSplit<'_>,
    draft: &ValueDraw<'_>,
    draws: usize,
) -> Option<Vec<Value>> {
    (0..draws).find_map(|_| {
        let drawn = draft.draw(cx.pool, rng, split.open, split.fixed);
        let fits = fixed_fields::fits(cx.pool, split.fields, &drawn, draft.wish) == Some(true);
        fits.then(|| in_order(split.fields, &drawn))
    })
}

/// Chooses values for `fields` such that `facts` hold for some values of all other variables.
///
/// This is for symbolic beliefs: the facts may mention unknowns.
pub fn pick_symbolic(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    fields: &[VarId],
    facts: &[Term],
) -> PickedValues {
    if let Some(found) = pick_diverse(cx, rng, fields, facts) {
        return PickedValues::Values(complete_values(cx, rng, fields, &found));
    }
    match cx.check(facts) {
        SolverAnswer::Sat(found) => PickedValues::Values(complete_values(cx, rng, fields, &found)),
        SolverAnswer::Unsat => PickedValues::Impossible,
        SolverAnswer::Unknown(why) => PickedValues::Unknown(why),
    }
}

/// Chooses values for `fields` such that `facts` can hold: whole numbers uniformly from 0 to `n` - 1, else as
/// [`pick_symbolic`] does if no draw fits.
pub fn pick_uniform(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    fields: &[VarId],
    facts: &[Term],
    n: i64,
) -> PickedValues {
    for _ in 0..DRAWS_BEFORE_SOLVER {
        let mut values = Vec::with_capacity(fields.len());
        for &field in fields {
            let sort = cx.pool.var_info(field).sort;
            values.push(match sort {
                Sort::Int => Value::int(rng.random_range(0..n.max(1))),
                _ => any_value(cx.pool, rng, sort, &[]),
            });
        }
        let known: Substitution =
            fields.iter().zip(&values).map(|(&field, v)| (field, cx.pool.value(v.clone()))).collect();
        // The facts may have other unknowns, so that evaluation does not do.
        let facts: Vec<Term> = facts.iter().map(|&fact| cx.pool.substitute(fact, &known)).collect();
        if cx.decide(&facts) == SolverDecision::Sat {
            return PickedValues::Values(values);
        }
    }
    pick_symbolic(cx, rng, fields, facts)
}

/// Returns one of the first few valuations of a diverse sequence, by a policy chosen at random.
fn pick_diverse(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    fields: &[VarId],
    facts: &[Term],
) -> Option<Valuation> {
    if fields.is_empty() {
        return None;
    }
    let policy = match rng.random_range(0..20u32) {
        0 => DiversePolicy::Boundary,
        1 => DiversePolicy::Patterns,
        _ => DiversePolicy::Random,
    };
    let mut source = DiverseValuations::new(cx.pool, facts, fields, policy, rng.random());
    let mut found = None;
    // The first valuation is the solver's own, always the same.
    for _ in 0..rng.random_range(2..=MAX_VALUATIONS) {
        match source.next(cx.pool, cx.solver) {
            Some(valuation) => found = Some(valuation),
            None => break,
        }
    }
    found
}

fn ask_solver(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    FieldSplit { fields, open, fixed }: FieldSplit<'_>,
    request: &ValueRequest<'_>,
) -> PickedValues {
    let known: Substitution =
        request.state.iter().chain(fixed.iter()).map(|(var, v)| (var, cx.pool.value(v.clone()))).collect();
    let when = cx.pool.substitute(request.guard, &known);
    match pick_symbolic(cx, rng, open, &[when]) {
        PickedValues::Values(found) => {
            let mut all = fixed.clone();
            open.iter().zip(found).for_each(|(&field, value)| all.set(field, value));
            PickedValues::Values(in_order(fields, &all))
        }
        other => other,
    }
}

/// Returns the values of `fields` in `found`; a field without one gets a random value.
fn complete_values(cx: &Ctx<'_>, rng: &mut ChaCha8Rng, fields: &[VarId], found: &Valuation) -> Vec<Value> {
    let value = |&field: &VarId| match found.get(field) {
        Some(value) => value.clone(),
        None => any_value(cx.pool, rng, cx.pool.var_info(field).sort, &[]),
    };
    fields.iter().map(value).collect()
}

fn in_order(fields: &[VarId], values: &Valuation) -> Vec<Value> {
    fields.iter().filter_map(|&field| values.get(field).cloned()).collect()
}
