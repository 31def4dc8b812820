//! The parts that invariants are made of: numbers, sizes and simple conditions of a state, and reachable states that
//! show which invariants are wrong.

use ioxide_model::index::IndexVec;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::LocId;
use ioxide_model::term::{Term, TermNode, TermOp, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};
use ioxide_smt::solver::SolverAnswer;

use crate::concrete_run::evaluate;
use crate::cx::Ctx;
use crate::explore::Exploration;

/// The greatest number of reachable states per location that are made concrete. Chosen by feel: most wrong templates
/// fail in the first ten.
const MAX_SAMPLES: usize = 40;
/// The greatest number of constructors of a type that is told apart by constructor. Chosen by feel.
const MAX_CONSTRUCTORS: usize = 12;

/// Reachable states by location: the values of their variables and clocks.
pub(super) type StateSamples = IndexVec<LocId, Vec<Valuation>>;

/// Returns concrete states among those that `exploration` reached.
pub(super) fn sample_states(cx: &mut Ctx<'_>, exploration: &Exploration) -> StateSamples {
    let mut samples: StateSamples = IndexVec::from_elem(Vec::new(), cx.sts.locations.len());
    for state in &exploration.graph.nodes {
        if samples[state.loc].len() >= MAX_SAMPLES || cx.halt_reason().is_some() {
            continue;
        }
        let valuation = if state.path.facts().is_empty() {
            Valuation::new()
        } else {
            // A state in doubt may not exist: only one that is shown to be possible is a sample.
            let SolverAnswer::Sat(valuation) = cx.check(state.path.facts()) else { continue };
            valuation
        };
        let mut values = Valuation::new();
        for (var, term) in state.store.iter(cx.sts) {
            // A value that has no result here is left out; templates about it then find no witness against them in
            // this sample.
            let Some(value) = evaluate(cx, term, &valuation) else { continue };
            values.set(var, value);
        }
        samples[state.loc].push(values);
    }
    samples
}

/// Returns the whole numbers of a state: variables, fields of records, lengths of texts and sizes of collections.
pub(super) fn whole_numbers(cx: &mut Ctx<'_>) -> Vec<Term> {
    let vars: Vec<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    let mut found = Vec::new();
    for var in vars {
        let term = cx.pool.var(var);
        let sort = cx.pool.var_info(var).sort;
        add_whole_numbers(cx, term, sort, &mut found);
    }
    found
}

fn add_whole_numbers(cx: &mut Ctx<'_>, term: Term, sort: Sort, found: &mut Vec<Term>) {
    match sort {
        Sort::Int | Sort::Range { .. } => found.push(term),
        Sort::Str => found.push(cx.pool.length(term)),
        Sort::Collection(_) => found.push(cx.pool.operate(TermOp::Size, vec![term])),
        Sort::Data(data) => {
            let ctors = &cx.pool.data(data).ctors;
            // Only records: the fields of a case exist in some states alone.
            let [only] = &ctors[..] else { return };
            let sorts: Vec<Sort> = only.fields.iter().map(|field| field.sort).collect();
            // Records in records are left out: their numbers are rarely related.
            for (at, sort) in (0..).zip(sorts) {
                if matches!(sort, Sort::Int | Sort::Range { .. }) {
                    let field = cx.pool.select(0, at, term);
                    found.push(field);
                }
            }
        }
        Sort::Bool | Sort::Real => (),
    }
}

/// Returns the real numbers of a state: variables and clocks.
pub(super) fn real_numbers(cx: &mut Ctx<'_>) -> Vec<Term> {
    let vars: Vec<VarId> = cx.sts.stored_vars().collect();
    let is_real = |var: &VarId| cx.pool.var_info(*var).sort == Sort::Real;
    let reals: Vec<VarId> = vars.into_iter().filter(is_real).collect();
    reals.into_iter().map(|var| cx.pool.var(var)).collect()
}

/// Returns conditions on a state that have no numbers of their own: Boolean variables, the choices of enums and
/// options, and the conditions of guards and claims that read no message.
pub(super) fn conditions(cx: &mut Ctx<'_>, claims: &[Term]) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for &claim in claims {
        add_conditions(cx, claim, &mut found);
    }
    let vars: Vec<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    for var in vars {
        let term = cx.pool.var(var);
        match cx.pool.var_info(var).sort {
            Sort::Bool => found.push(term),
            Sort::Data(data) => {
                let ctors = cx.pool.data(data).ctors.iter();
                let plain: Vec<bool> = ctors.map(|ctor| ctor.fields.is_empty()).collect();
                if plain.len() > MAX_CONSTRUCTORS || plain.len() < 2 {
                    continue;
                }
                for (ctor, is_plain) in (0..).zip(plain) {
                    // A case without fields is a value, so equality says the same and solvers know it better.
                    let condition = if is_plain {
                        let value = DataValue { data, ctor, args: std::sync::Arc::default() };
                        let value = cx.pool.value(Value::Data(value));
                        cx.pool.eq(term, value)
                    } else {
                        cx.pool.is(ctor, term)
                    };
                    found.push(condition);
                }
            }
            _ => (),
        }
    }
    let guards: Vec<Term> = cx.sts.switches.iter().map(|switch| switch.guard).collect();
    for guard in guards {
        add_conditions(cx, guard, &mut found);
    }
    // Claims first, then variables, then guards: the order is kept, as the callers cut the list off.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|&term| seen.insert(term));
    found
}

/// Adds the atomic conditions in `formula` that read only variables and clocks.
fn add_conditions(cx: &Ctx<'_>, formula: Term, found: &mut Vec<Term>) {
    let stored: Vec<VarId> = cx.sts.stored_vars().collect();
    for sub in cx.pool.subterms(&[formula], |_| true) {
        let is_atom = matches!(
            cx.pool.node(sub),
            TermNode::Var(_) | TermNode::Eq(..) | TermNode::Lt(..) | TermNode::Le(..) | TermNode::Is(..)
        );
        let reads_state = || {
            let vars = cx.pool.free_vars(sub);
            !vars.is_empty() && vars.iter().all(|var| stored.contains(var)) && !cx.pool.is_open(sub)
        };
        if is_atom && cx.pool.sort(sub) == Sort::Bool && reads_state() {
            found.push(sub);
        }
    }
}

/// Returns the whole numbers that stand in the model and in `claims`, their neighbours, and the sums of a bound and a
/// step; small ones first.
pub(super) fn constants_of_claims(
    cx: &Ctx<'_>,
    claims: &[Term],
    samples: &StateSamples,
    most: usize,
) -> Vec<i64> {
    let numbers_in = |roots: &[Term]| {
        let subterms = cx.pool.subterms(roots, |_| true);
        let value = |term: &Term| cx.pool.as_value(*term).and_then(Value::to_rational);
        subterms
            .iter()
            .filter_map(value)
            .filter_map(|value: Rational| value.floor().to_i64())
            .collect::<Vec<_>>()
    };
    let guards: Vec<Term> =
        cx.sts.switches.iter().map(|switch| switch.guard).chain(claims.to_vec()).collect();
    let inits: Vec<Term> = cx.sts.vars.iter().filter_map(|var| var.init).collect();
    let updates: Vec<Term> =
        cx.sts.switches.iter().flat_map(|switch| switch.update.iter().map(|(_, term)| *term)).collect();
    let (bounds, steps) = (numbers_in(&guards), numbers_in(&updates));
    let mut found = vec![0, 1, -1];
    for &bound in bounds.iter().chain(&steps).chain(&numbers_in(&inits)) {
        found.extend([bound, bound.saturating_sub(1), bound.saturating_add(1)]);
    }
    for &bound in &bounds {
        found.extend(steps.iter().map(|&step| bound.saturating_add(step)));
        // A field with a bound of its own is a step too: `1 <= p <= 10` and `x + p`.
        found.extend(bounds.iter().map(|&other| bound.saturating_add(other)));
    }
    let sampled = samples.iter().flatten().flat_map(|sample| sample.iter());
    let sampled: Vec<i64> =
        sampled.filter_map(|(_, value)| value.as_int().and_then(|n| n.to_i64())).collect();
    found.extend(sampled.iter().min().into_iter().chain(sampled.iter().max()));
    // Small numbers are the likeliest bounds, and the order does not depend on the model's text.
    found.sort_unstable_by_key(|n| (n.unsigned_abs(), *n));
    found.dedup();
    found.truncate(most);
    found
}
