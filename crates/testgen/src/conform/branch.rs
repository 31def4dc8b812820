//! Case distinction: the conditions that hold under a path condition.
//!
//! A product state stands for states whose sides have *all* their members, so wherever a guard holds for some values
//! and not for others, the state is split in two. Facts on the path decide most guards without a query.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

/// The greatest number of cases of one step. Chosen by feel: beyond it the step counts as too large, and the
/// comparison as undecided.
const MAX_CASES: usize = 256;

/// A case of a step: a path condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchCase {
    pub path: Vec<Term>,
    /// True if the solver did not show that the case exists.
    pub doubt: bool,
}

/// A step has too many cases to look at them one by one, or there is no time left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// The cases that `guards` distinguish within `case`, with the truth of each guard.
///
/// # Errors
/// If there are too many, or no time is left.
pub(crate) fn cases(
    cx: &mut Ctx<'_>,
    case: &BranchCase,
    guards: &[Term],
) -> Result<Vec<(BranchCase, Vec<bool>)>, TooMany> {
    let mut open = vec![(case.clone(), Vec::with_capacity(guards.len()))];
    for &guard in guards {
        if cx.halt_reason().is_some() {
            return Err(TooMany);
        }
        let mut next = Vec::with_capacity(open.len());
        // Cases about clocks stay conjunctions, so that they are zones; for others one fork into true and false is
        // enough.
        let in_time = speaks_of_reals(cx, guard);
        for (case, truths) in open {
            let with = |truth: bool| [&truths[..], &[truth]].concat();
            for truth in [true, false] {
                let parts = if in_time { convex(cx, &case, guard, truth) } else { Vec::new() };
                next.extend(parts.into_iter().map(|case| (case, with(truth))));
            }
            if !in_time {
                let (yes, no) = fork(cx, case, guard);
                next.extend(yes.map(|case| (case, with(true))));
                next.extend(no.map(|case| (case, with(false))));
            }
        }
        if next.len() > MAX_CASES {
            return Err(TooMany);
        }
        open = next;
    }
    Ok(open)
}

/// Returns whether `guard` has a comparison of real numbers.
fn speaks_of_reals(cx: &Ctx<'_>, guard: Term) -> bool {
    let is_real = |term: &Term| match *cx.pool.node(*term) {
        TermNode::Le(a, _) | TermNode::Lt(a, _) | TermNode::Eq(a, _) => cx.pool.sort(a) == Sort::Real,
        _ => false,
    };
    cx.pool.subterms(&[guard], |term| !cx.pool.is_ground(term)).iter().any(is_real)
}

/// The parts of `case` in which `guard` is true or not, each a conjunction: what is known of clocks stays a zone.
pub(crate) fn convex(cx: &mut Ctx<'_>, case: &BranchCase, guard: Term, truth: bool) -> Vec<BranchCase> {
    if let Some(known) = known_truth(cx, &case.path, guard) {
        return if known == truth { vec![case.clone()] } else { Vec::new() };
    }
    match (cx.pool.node(guard).clone(), truth) {
        (TermNode::Not(inner), _) => convex(cx, case, inner, !truth),
        (TermNode::And(parts), true) | (TermNode::Or(parts), false) => {
            let mut open = vec![case.clone()];
            for &part in &parts {
                open = open.iter().flat_map(|case| convex(cx, case, part, truth)).collect();
            }
            open
        }
        // A disjunction becomes disjoint parts: the first holds; or not the first, but the second; and so on. Parts
        // that overlap would be followed twice, and their number would grow with every step.
        (TermNode::And(parts), false) | (TermNode::Or(parts), true) => {
            let (mut found, mut rest) = (Vec::new(), vec![case.clone()]);
            for &part in &parts {
                found.extend(rest.iter().flat_map(|case| convex(cx, case, part, truth)).collect::<Vec<_>>());
                rest = rest.iter().flat_map(|case| convex(cx, case, part, !truth)).collect();
            }
            found
        }
        // A clock that is not 5 is before or after it: each is convex, "not 5" is not.
        (TermNode::Eq(a, b), false) if cx.pool.sort(a) == Sort::Real => {
            let sides = [cx.pool.lt(a, b), cx.pool.lt(b, a)];
            sides.into_iter().filter_map(|side| assume(cx, case, side)).collect()
        }
        (_, true) => assume(cx, case, guard).into_iter().collect(),
        (_, false) => {
            let negated = cx.pool.not(guard);
            assume(cx, case, negated).into_iter().collect()
        }
    }
}

/// Returns the case in which `guard` holds and the one in which it does not, where they exist.
pub(crate) fn fork(
    cx: &mut Ctx<'_>,
    case: BranchCase,
    guard: Term,
) -> (Option<BranchCase>, Option<BranchCase>) {
    match known_truth(cx, &case.path, guard) {
        Some(true) => return (Some(case), None),
        Some(false) => return (None, Some(case)),
        None => (),
    }
    // Guards mostly hold, so the negation is asked first: if it is excluded, the case stays as it is, without a new
    // fact.
    let negated = cx.pool.not(guard);
    let no = assume(cx, &case, negated);
    let yes = match no {
        None => Some(case),
        Some(_) => assume(cx, &case, guard),
    };
    (yes, no)
}

/// `case` with `fact` added, unless a proof excludes it.
pub(crate) fn assume(cx: &mut Ctx<'_>, case: &BranchCase, fact: Term) -> Option<BranchCase> {
    let mut path = case.path.clone();
    for conjunct in cx.pool.conjuncts(fact) {
        if !path.contains(&conjunct) {
            path.push(conjunct);
        }
    }
    match cx.decide(&path) {
        SolverDecision::Unsat => None,
        SolverDecision::Sat => Some(BranchCase { path, doubt: case.doubt }),
        SolverDecision::Unknown(_) => Some(BranchCase { path, doubt: true }),
    }
}

/// The truth of `guard` if it is a constant or follows from single conjuncts of the path.
fn known_truth(cx: &mut Ctx<'_>, path: &[Term], guard: Term) -> Option<bool> {
    if let Some(value) = cx.pool.as_value(guard) {
        return value.as_bool();
    }
    let conjuncts = cx.pool.conjuncts(guard);
    if conjuncts.iter().all(|conjunct| path.contains(conjunct)) {
        return Some(true);
    }
    let excluded = |cx: &mut Ctx<'_>, conjunct| {
        let negated = cx.pool.not(conjunct);
        path.contains(&negated)
    };
    let negated = cx.pool.not(guard);
    if path.contains(&negated) || conjuncts.into_iter().any(|conjunct| excluded(cx, conjunct)) {
        return Some(false);
    }
    None
}
