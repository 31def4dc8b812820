//! Bounds on differences of instants: of several on the same difference, only the tightest is kept.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use crate::cx::Ctx;

/// `facts` with only the tightest of several bounds on the same difference of real numbers.
pub fn keep_tightest(cx: &mut Ctx<'_>, facts: &[Term]) -> Vec<Term> {
    let mut bounds: Vec<(Term, BoundTightness)> = Vec::new();
    let mut others = Vec::new();
    for &fact in facts {
        let Some((difference, bound)) = as_bound(cx, fact) else {
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

/// The tightness of a bound: the greater, the tighter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BoundTightness {
    /// The constant `c` of `difference + c <= 0`.
    offset: Rational,
    is_strict: bool,
    fact: Term,
}

/// Returns `fact` as a bound on a difference without constant part; `None` if it is none.
fn as_bound(cx: &mut Ctx<'_>, fact: Term) -> Option<(Term, BoundTightness)> {
    let (a, b, is_strict) = match *cx.pool.node(fact) {
        TermNode::Le(a, b) => (a, b, false),
        TermNode::Lt(a, b) => (a, b, true),
        _ => return None,
    };
    if cx.pool.sort(a) != Sort::Real {
        return None;
    }
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
    Some((difference, BoundTightness { offset, is_strict, fact }))
}
