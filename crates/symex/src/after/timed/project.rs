//! Instants that do not count any more are projected away, so that a long run costs no more than a short one.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Node, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;

use super::super::single::Belief;
use crate::cx::Ctx;
use crate::state::{Path, Store, SymState};

/// The belief with the instants projected away that no clock mentions and that are not `since`.
pub(super) fn projected(cx: &mut Ctx<'_>, belief: Belief, since: Term) -> Belief {
    let Belief::Symbolic(states) = belief else { return belief };
    Belief::Symbolic(states.into_iter().map(|state| projected_state(cx, state, since)).collect())
}

fn projected_state(cx: &mut Ctx<'_>, state: SymState, since: Term) -> SymState {
    let mut kept = cx.pool.free_vars_of(state.store.terms());
    kept.extend(cx.pool.free_vars(since));
    let mut gone: Vec<VarId> = cx.pool.free_vars_of(state.path.facts());
    gone.retain(|&var| !kept.contains(&var) && is_instant(cx, var));
    if gone.is_empty() {
        return state;
    }
    let all = cx.pool.and(state.path.facts().iter().copied());
    let some = cx.pool.exists(&gone, all);
    let some = eliminate(cx.pool, some);
    if cx.pool.has_quantifier(some) {
        return state;
    }
    let path = tightest(cx, &Path::default().with(cx, some));
    SymState { store: Store::new(state.store.terms().to_vec()), path, ..state }
}

/// Whether `var` is a numbered instant.
fn is_instant(cx: &mut Ctx<'_>, var: VarId) -> bool {
    let name = &cx.pool.var_info(var).name;
    let number = name.rsplit('@').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| cx.pool.indexed(cx.instant, number) == var)
}

/// `path` with only the tightest of several bounds on the same difference.
fn tightest(cx: &mut Ctx<'_>, path: &Path) -> Path {
    let mut bounds: Vec<(Term, Bound)> = Vec::new();
    let mut others = Vec::new();
    for &fact in path.facts() {
        let Some((difference, bound)) = bound(cx, fact) else {
            others.push(fact);
            continue;
        };
        match bounds.iter_mut().find(|(other, _)| *other == difference) {
            Some((_, known)) if *known >= bound => (),
            Some((_, known)) => *known = bound,
            None => bounds.push((difference, bound)),
        }
    }
    others.into_iter().chain(bounds.into_iter().map(|(_, bound)| bound.fact)).collect()
}

/// How tight a bound is: the higher, the tighter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    /// The constant `c` of `difference + c <= 0`.
    offset: Rational,
    is_strict: bool,
    fact: Term,
}

/// `fact` as a bound on a difference without constant part.
fn bound(cx: &mut Ctx<'_>, fact: Term) -> Option<(Term, Bound)> {
    let (a, b, is_strict) = match *cx.pool.node(fact) {
        Node::Le(a, b) => (a, b, false),
        Node::Lt(a, b) => (a, b, true),
        _ => return None,
    };
    let sum = cx.pool.sub(a, b);
    let vars = cx.pool.free_vars(sum);
    let mut zeros = Valuation::new();
    for var in vars {
        if cx.pool.var_info(var).sort != Sort::Real {
            return None;
        }
        zeros.set(var, Value::Real(Rational::ZERO));
    }
    let offset = cx.pool.eval(sum, &zeros).ok()?.as_real()?.clone();
    let constant = cx.pool.value(Value::Real(offset.clone()));
    let difference = cx.pool.sub(sum, constant);
    Some((difference, Bound { offset, is_strict, fact }))
}
