//! The unit of time of two models: the greatest number of which all constants that clocks are compared with are
//! multiples.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Sts;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use crate::conform::beyond::span;

/// Returns the unit of all `systems`, whose clocks have limits; `None` if a comparison has none.
pub(crate) fn common_unit(cx: &mut Ctx<'_>, systems: [&Sts; 2]) -> Option<Rational> {
    let mut unit = Rational::ZERO;
    for sts in systems {
        for clock in &sts.clocks {
            for switch in &sts.switches {
                unit = unit_in(cx, switch.guard, clock.var, unit)?;
            }
        }
    }
    // Clocks that are compared with 0 alone have any unit.
    Some(if unit.is_zero() { Rational::ONE } else { unit })
}

/// Returns the greatest unit that divides `unit` and the constants that `guard` compares `clock` with.
fn unit_in(cx: &mut Ctx<'_>, guard: Term, clock: VarId, mut unit: Rational) -> Option<Rational> {
    for term in cx.pool.subterms(&[guard], |_| true) {
        let (TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b)) = *cx.pool.node(term) else {
            continue;
        };
        // A comparison without the clock does not change while time passes.
        if !cx.pool.mentions(term, clock) {
            continue;
        }
        let difference = cx.pool.sub(a, b);
        let (_, _, factor) = span(cx, difference, clock)?;
        let mut steps = Vec::new();
        collect_steps(cx, difference, clock, &Rational::ONE, &mut steps)?;
        for step in steps {
            // The comparison changes where the rest of it is a multiple of the factor of the clock.
            unit = greatest_divisor(&unit, &step.div(&factor));
        }
    }
    Some(unit)
}

/// Collects the constants of `by * term`, and the factors of its variables, which are whole numbers, but for `clock`.
fn collect_steps(
    cx: &Ctx<'_>,
    term: Term,
    clock: VarId,
    by: &Rational,
    steps: &mut Vec<Rational>,
) -> Option<()> {
    match cx.pool.node(term) {
        TermNode::Value(value) => steps.push(by * &value.to_rational()?),
        TermNode::Var(var) if *var == clock => (),
        TermNode::Var(var) if matches!(cx.pool.var_info(*var).sort, Sort::Range { .. }) => {
            steps.push(by.clone());
        }
        TermNode::ToReal(inner) => collect_steps(cx, *inner, clock, by, steps)?,
        TermNode::Add(parts) => {
            for &part in parts {
                collect_steps(cx, part, clock, by, steps)?;
            }
        }
        TermNode::Mul(parts) if parts.len() == 2 => {
            let factor = cx.pool.as_value(parts[0]).and_then(Value::to_rational)?;
            collect_steps(cx, parts[1], clock, &(by * &factor), steps)?;
        }
        _ => return None,
    }
    Some(())
}

/// The greatest number of which both are multiples; that of 0 and a number is the number.
fn greatest_divisor(a: &Rational, b: &Rational) -> Rational {
    let (left, right) = (a.numer() * b.denom(), b.numer() * a.denom());
    let divisor = left.gcd(&right).abs();
    Rational::from(divisor).div(&Rational::from(a.denom() * b.denom()))
}
