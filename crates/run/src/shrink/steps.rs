//! Passes that leave moves out.

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::PlannedMove;

use super::order::message;
use super::values::{is_bound, with_value};
use super::{BudgetSpent, CandidateFate, ShrinkSearch};

/// Neighbouring moves that are left out together. Chosen by feel: each is a run.
const MAX_BLOCK: usize = 6;
/// Moves of a plan of which every two are left out together; longer plans have too many. Twenty moves have 190 pairs,
/// each of which is a run; chosen by feel.
const MAX_PAIRED: usize = 20;

/// Leaves out the looks that saw silence, but the last: waiting for it takes most of the time of a run.
pub(super) fn silences(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    if search.setup.cx.sts.is_timed() {
        return Ok(());
    }
    // Without delays there is a move for every label.
    let labels = search.best.trace.labels.iter().map(Some).chain(std::iter::repeat(None));
    let last = search.best.plan.len().saturating_sub(1);
    let moves = search.best.plan.iter().enumerate().zip(labels);
    let rest = moves.filter(|((at, _), label)| *at == last || *label != Some(&Label::Quiescence));
    let rest = rest.map(|((_, planned), _)| planned.clone()).collect();
    search.offer(rest).map(|_| ())
}

/// Leaves out ever smaller chunks, down to two moves.
pub(super) fn halves(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut chunk = search.best.plan.len().div_ceil(2);
    while chunk > 1 {
        let mut from = 0;
        while from < search.best.plan.len() {
            let to = (from + chunk).min(search.best.plan.len());
            match search.offer(without(&search.best.plan, from..to))? {
                CandidateFate::Taken => (),
                CandidateFate::Refused => from = to,
            }
        }
        chunk /= 2;
    }
    Ok(())
}

/// Leaves out every single move; those at the end first, for they stand on the others.
pub(super) fn singles(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    windows(search, 1)
}

/// Leaves out neighbouring moves that must go together, such as an input and its answer.
pub(super) fn blocks(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    (2..=MAX_BLOCK).try_for_each(|size| windows(search, size))
}

/// Leaves out so many neighbouring moves, everywhere.
fn windows(search: &mut ShrinkSearch<'_, '_, '_, '_>, size: usize) -> Result<(), BudgetSpent> {
    let mut left = search.best.plan.len();
    while left >= size {
        let from = left - size;
        if search.offer(without(&search.best.plan, from..left))? == CandidateFate::Taken {
            // What came after the gap may not be needed any more.
            left = search.best.plan.len();
        } else {
            left -= 1;
        }
    }
    Ok(())
}

/// Leaves out any two moves that are no neighbours: a lock and its unlock, an input and its late answer.
pub(super) fn pairs(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut changes = search.changes + 1;
    while changes != search.changes {
        changes = search.changes;
        every_pair(search)?;
    }
    Ok(())
}

fn every_pair(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut second = 2;
    while second < search.best.plan.len() && search.best.plan.len() <= MAX_PAIRED {
        let mut first = 0;
        while first + 1 < second && second < search.best.plan.len() {
            let rest = without(&without(&search.best.plan, second..second + 1), first..first + 1);
            if search.offer(rest)? == CandidateFate::Refused {
                first += 1;
            }
        }
        second += 1;
    }
    Ok(())
}

/// Makes a number smaller by one and leaves out one or two moves: so many repetitions as a number says.
pub(super) fn fewer_for_less(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut at = 0;
    while at < search.best.plan.len() && search.best.plan.len() <= MAX_PAIRED {
        for field in 0..n_values(&search.best.plan[at]) {
            while fewer_for_one_less(search, at, field)? == CandidateFate::Taken {}
        }
        at += 1;
    }
    Ok(())
}

fn fewer_for_one_less(
    search: &mut ShrinkSearch<'_, '_, '_, '_>,
    at: usize,
    field: usize,
) -> Result<CandidateFate, BudgetSpent> {
    let Some(less) = search.best.plan.get(at).and_then(|planned| one_less(planned, field)) else {
        return Ok(CandidateFate::Refused);
    };
    for size in 1..=2 {
        for from in (0..=search.best.plan.len().saturating_sub(size)).rev() {
            let gap = from..from + size;
            if gap.contains(&at) {
                continue;
            }
            let mut plan = search.best.plan.clone();
            plan[at] = less.clone();
            if search.offer(without(&plan, gap))? == CandidateFate::Taken {
                return Ok(CandidateFate::Taken);
            }
        }
    }
    Ok(CandidateFate::Refused)
}

/// The same move with this number nearer to zero by one.
fn one_less(planned: &PlannedMove, field: usize) -> Option<PlannedMove> {
    if is_bound(planned, field) {
        return None;
    }
    let Some(Label::Input(_, values)) = message(planned) else { return None };
    let Value::Int(n) = values.get(field)? else { return None };
    let one = Int::from(1);
    match (n.is_zero(), n.is_negative()) {
        (true, _) => None,
        (false, true) => Some(with_value(planned, field, Value::Int(n + &one))),
        (false, false) => Some(with_value(planned, field, Value::Int(n - &one))),
    }
}

fn n_values(planned: &PlannedMove) -> usize {
    match message(planned) {
        Some(Label::Input(_, values)) => values.len(),
        _ => 0,
    }
}

/// The plan without these moves.
pub(super) fn without(plan: &[PlannedMove], gap: std::ops::Range<usize>) -> Vec<PlannedMove> {
    [&plan[..gap.start], &plan[gap.end..]].concat()
}
