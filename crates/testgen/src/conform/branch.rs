//! Case distinction: which of some conditions hold, under what is known already.
//!
//! A product state stands for states whose sides have *all* their members, so wherever a
//! guard holds for some values and not for others, the state is split in two. What is
//! known already decides most guards without a question.

use ioxide_model::term::Term;
use ioxide_smt::solver::Decision;
use ioxide_symex::Ctx;

/// At most this many cases come out of one step.
const MAX_CASES: usize = 256;

/// What is assumed in one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub path: Vec<Term>,
    /// The solver did not show that the case exists.
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
    case: &Case,
    guards: &[Term],
) -> Result<Vec<(Case, Vec<bool>)>, TooMany> {
    let mut open = vec![(case.clone(), Vec::with_capacity(guards.len()))];
    for &guard in guards {
        if cx.halted().is_some() {
            return Err(TooMany);
        }
        let mut next = Vec::with_capacity(open.len());
        for (case, truths) in open {
            let (yes, no) = fork(cx, case, guard);
            let with = |truth: bool| [&truths[..], &[truth]].concat();
            next.extend(yes.map(|case| (case, with(true))));
            next.extend(no.map(|case| (case, with(false))));
        }
        if next.len() > MAX_CASES {
            return Err(TooMany);
        }
        open = next;
    }
    Ok(open)
}

/// The case where `guard` holds and the one where it does not, as far as there are such.
pub(crate) fn fork(cx: &mut Ctx<'_>, case: Case, guard: Term) -> (Option<Case>, Option<Case>) {
    match known(cx, &case.path, guard) {
        Some(true) => return (Some(case), None),
        Some(false) => return (None, Some(case)),
        None => (),
    }
    let negated = cx.pool.not(guard);
    let no = assume(cx, &case, negated);
    let yes = match no {
        None => Some(case),
        Some(_) => assume(cx, &case, guard),
    };
    (yes, no)
}

/// `case` with `fact` added, unless a proof excludes it.
pub(crate) fn assume(cx: &mut Ctx<'_>, case: &Case, fact: Term) -> Option<Case> {
    let mut path = case.path.clone();
    for conjunct in cx.pool.conjuncts(fact) {
        if !path.contains(&conjunct) {
            path.push(conjunct);
        }
    }
    match cx.decide(&path) {
        Decision::Unsat => None,
        Decision::Sat => Some(Case { path, doubt: case.doubt }),
        Decision::Unknown(_) => Some(Case { path, doubt: true }),
    }
}

/// The truth of `guard` if it is a constant or a conjunct of the path says it.
fn known(cx: &mut Ctx<'_>, path: &[Term], guard: Term) -> Option<bool> {
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
