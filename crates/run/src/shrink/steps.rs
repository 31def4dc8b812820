//! Edits that leave moves out.

use std::ops::Range;

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::PlannedMove;

use super::edit::{EditClass, PlanEdit, QueuedEdit};
use super::order::message_of_move;
use super::values::{is_bound, with_value};

/// Neighbouring moves that are left out together. Chosen by feel: each is a run.
const MAX_BLOCK: usize = 6;
/// Moves of a plan of which every two are left out together; longer plans have too many. Twenty moves have 190 pairs,
/// each of which is a run; chosen by feel.
const MAX_PAIRED: usize = 20;

/// Returns the edits that leave moves of `plan` out; `silent` says which moves saw silence.
pub(super) fn edits(plan: &[PlannedMove], silent: &[bool]) -> Vec<QueuedEdit> {
    let mut edits = silences(plan, silent);
    // From large cuts to small ones: a large cut that still fails saves many runs. The order in which they are tried is
    // decided by the price of their class (`price`).
    edits.extend(chunks(plan.len()));
    edits.extend(segment_edits(plan));
    edits.extend((1..=MAX_BLOCK).flat_map(|size| windows(plan.len(), size)));
    if plan.len() <= MAX_PAIRED {
        edits.extend(move_pairs(plan.len()));
        edits.extend(fewer_for_less(plan));
    }
    edits
}

/// Returns the cut of `gap`, whose place is its distance from the end of a plan with `n` moves.
fn cut(class: EditClass, gap: Range<usize>, n: usize) -> QueuedEdit {
    QueuedEdit { class, place: n - gap.end, edit: PlanEdit::Cut(gap) }
}

/// Leaves out the looks that saw silence, but the last: waiting for it takes most of the time of a run.
fn silences(plan: &[PlannedMove], silent: &[bool]) -> Vec<QueuedEdit> {
    let last = plan.len().saturating_sub(1);
    let is_left = |at: usize| at == last || !silent.get(at).copied().unwrap_or(false);
    let rest: Vec<PlannedMove> =
        plan.iter().enumerate().filter(|(at, _)| is_left(*at)).map(|(_, planned)| planned.clone()).collect();
    let is_shorter = rest.len() < plan.len();
    let edit = QueuedEdit { class: EditClass::Silences, place: 0, edit: PlanEdit::Replace(rest) };
    is_shorter.then_some(edit).into_iter().collect()
}

/// Leaves out pieces, ever smaller ones, down to two moves.
fn chunks(n: usize) -> Vec<QueuedEdit> {
    let sizes =
        std::iter::successors(Some(n.div_ceil(2)), |size| Some(size / 2)).take_while(|size| *size > 1);
    let of_size = |size: usize| {
        let class = EditClass::Chunk(size.ilog2());
        (0..n).step_by(size).map(move |from| cut(class, from..(from + size).min(n), n))
    };
    sizes.flat_map(of_size).collect()
}

/// Returns the places of every input with the looks after it.
pub(super) fn segments(plan: &[PlannedMove]) -> Vec<Range<usize>> {
    let is_input = |at: &usize| plan[*at].input().is_some();
    let starts: Vec<usize> = (0..plan.len()).filter(is_input).collect();
    // A segment goes up to the next input; looks before the first input belong to none.
    let ends = starts.iter().skip(1).copied().chain([plan.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Leaves out one input with its answers, or two: a lock and its unlock.
fn segment_edits(plan: &[PlannedMove]) -> Vec<QueuedEdit> {
    let segments = segments(plan);
    let mut edits: Vec<QueuedEdit> =
        segments.iter().map(|gap| cut(EditClass::Segment, gap.clone(), plan.len())).collect();
    if segments.len() <= MAX_PAIRED {
        for (at, second) in segments.iter().enumerate() {
            edits.extend(segments[..at].iter().map(|first| QueuedEdit {
                class: EditClass::SegmentPair,
                place: plan.len() - second.end,
                edit: PlanEdit::CutTwo(first.clone(), second.clone()),
            }));
        }
    }
    edits
}

/// Leaves out this many neighbouring moves, everywhere.
fn windows(n: usize, size: usize) -> Vec<QueuedEdit> {
    let class = if size == 1 { EditClass::Single } else { EditClass::Block(size) };
    (size..=n).map(|end| cut(class, end - size..end, n)).collect()
}

/// Leaves out any two moves that are no neighbours: an input and its late answer.
fn move_pairs(n: usize) -> Vec<QueuedEdit> {
    let pair = |first: usize, second: usize| QueuedEdit {
        class: EditClass::MovePair,
        place: n - second - 1,
        edit: PlanEdit::CutTwo(first..first + 1, second..second + 1),
    };
    // Neighbours are left out by `windows` already.
    (2..n).flat_map(|second| (0..second - 1).map(move |first| pair(first, second))).collect()
}

/// Makes a number smaller by one and leaves out one or two moves: as many repetitions as a number says.
fn fewer_for_less(plan: &[PlannedMove]) -> Vec<QueuedEdit> {
    let mut edits = Vec::new();
    for (at, planned) in plan.iter().enumerate() {
        for less in (0..n_values(planned)).filter_map(|field| one_less(planned, field)) {
            for size in 1..=2 {
                for end in (size..=plan.len()).filter(|end| !(end - size..*end).contains(&at)) {
                    let edit = PlanEdit::SetAndCut { at, planned: less.clone(), gap: end - size..end };
                    let place = plan.len() - end;
                    edits.push(QueuedEdit { class: EditClass::FewerForLess, place, edit });
                }
            }
        }
    }
    edits
}

/// The same move with this number nearer to zero by one.
fn one_less(planned: &PlannedMove, field: usize) -> Option<PlannedMove> {
    // A value that refers to an earlier reply is another one in every run, and has no next smaller one.
    if is_bound(planned, field) {
        return None;
    }
    let Some(Label::Input(_, values)) = message_of_move(planned) else { return None };
    let Value::Int(n) = values.get(field)? else { return None };
    let one = Int::from(1);
    match (n.is_zero(), n.is_negative()) {
        (true, _) => None,
        (false, true) => Some(with_value(planned, field, Value::Int(n + &one))),
        (false, false) => Some(with_value(planned, field, Value::Int(n - &one))),
    }
}

fn n_values(planned: &PlannedMove) -> usize {
    match message_of_move(planned) {
        Some(Label::Input(_, values)) => values.len(),
        _ => 0,
    }
}

/// The plan without these moves.
pub(super) fn without(plan: &[PlannedMove], gap: Range<usize>) -> Vec<PlannedMove> {
    [&plan[..gap.start], &plan[gap.end..]].concat()
}
