//! All values a switch can be taken with: by evaluation where the domains are small, else
//! one after the other from the solver.

use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::{Ctx, SwitchOffer};

use super::NotFinite;

/// Combinations that are tried one by one rather than asked for. Chosen by feel: trying is exact and needs no solver,
/// but takes time with each pair of classes.
const MAX_TRIED: usize = 50_000;

/// The values of the fields of `offer`, sorted, at most `limit` of them.
pub(super) fn values(
    cx: &mut Ctx<'_>,
    offer: &SwitchOffer,
    limit: usize,
) -> Result<Vec<Vec<Value>>, NotFinite> {
    let mut found = match domains(cx, offer) {
        Some(domains) => filter_combinations(cx, offer, &domains)?,
        None => enumerate_by_solver(cx, offer, limit)?,
    };
    if found.len() > limit {
        return Err(NotFinite::TooManyValues { gate: gate_name(cx, offer), limit });
    }
    // Sorted, so that both ways give the same list.
    found.sort();
    Ok(found)
}

fn gate_name(cx: &Ctx<'_>, offer: &SwitchOffer) -> String {
    cx.sts.gates[offer.gate].name.to_string()
}

/// The domains of the fields, unless there are too many combinations to try.
fn domains(cx: &Ctx<'_>, offer: &SwitchOffer) -> Option<Vec<Vec<Value>>> {
    let mut size = 1usize;
    let mut all = Vec::new();
    for &field in &cx.sts.gates[offer.gate].fields {
        let domain = cx.pool.finite_domain(cx.pool.var_info(field).sort)?;
        size = size.saturating_mul(domain.len());
        if size > MAX_TRIED {
            return None;
        }
        all.push(domain);
    }
    Some(all)
}

/// The combinations of `domains` that make the condition of `offer` true.
fn filter_combinations(
    cx: &Ctx<'_>,
    offer: &SwitchOffer,
    domains: &[Vec<Value>],
) -> Result<Vec<Vec<Value>>, NotFinite> {
    let fields = &cx.sts.gates[offer.gate].fields;
    let size = domains.iter().map(Vec::len).product::<usize>();
    let mut found = Vec::new();
    for code in 0..size {
        let values = combination(domains, code);
        let valuation: Valuation = fields.iter().copied().zip(values.iter().cloned()).collect();
        match cx.pool.holds(offer.when, &valuation) {
            Ok(true) => found.push(values),
            Ok(false) => (),
            Err(_) => return Err(NotFinite::NoValue { what: gate_name(cx, offer) }),
        }
    }
    Ok(found)
}

/// Combination number `code`, counting with the first field fastest.
fn combination(domains: &[Vec<Value>], mut code: usize) -> Vec<Value> {
    let digit = |domain: &Vec<Value>| {
        let value = domain[code % domain.len()].clone();
        code /= domain.len();
        value
    };
    domains.iter().map(digit).collect()
}

/// Values the solver finds, each excluded afterwards, until there are no more or too many.
fn enumerate_by_solver(
    cx: &mut Ctx<'_>,
    offer: &SwitchOffer,
    limit: usize,
) -> Result<Vec<Vec<Value>>, NotFinite> {
    let mut found: Vec<Vec<Value>> = Vec::new();
    let mut facts = vec![offer.when];
    // One more than the limit is looked for, by which the caller sees that there are too many.
    while found.len() <= limit {
        let valuation = match cx.check(&facts) {
            SolverAnswer::Sat(valuation) => valuation,
            SolverAnswer::Unsat => break,
            // Whoever has no time left decides nothing.
            SolverAnswer::Unknown(_) => {
                let undecided = NotFinite::Undecided { what: gate_name(cx, offer) };
                return Err(cx.halt_reason().map_or(undecided, NotFinite::Halted));
            }
        };
        let value = |field| match valuation.get(field) {
            Some(value) => value.clone(),
            None => cx.pool.default_value(cx.pool.var_info(field).sort),
        };
        let values: Vec<Value> = cx.sts.gates[offer.gate].fields.iter().copied().map(value).collect();
        facts.push(other_than(cx, offer, &values));
        found.push(values);
    }
    Ok(found)
}

/// The fact that the fields do not have exactly these values.
fn other_than(cx: &mut Ctx<'_>, offer: &SwitchOffer, values: &[Value]) -> Term {
    let sts = cx.sts;
    let mut equal = Vec::new();
    for (&field, value) in sts.gates[offer.gate].fields.iter().zip(values) {
        let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
        equal.push(cx.pool.eq(field, value));
    }
    let same = cx.pool.and(equal);
    cx.pool.not(same)
}
