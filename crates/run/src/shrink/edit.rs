//! Edits: the single changes that make a smaller candidate of a plan, and the order in which they are tried.
//!
//! All edits of the best plan stand in queues, one for each [class](EditClass). Of the classes whose turn it is, the
//! queue whose next edit promises most per second ([`price`](super::price)) goes next. Within a class edits go from the
//! end of the plan to its beginning, since later moves stand on earlier ones; after one was taken the sweep goes on
//! where it was and not from the end again.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::PlannedMove;

use super::price::{EditChances, TryPrices};
use super::steps::without;
use super::values::{replaced, with_value};

/// The worth of a simpler value, in moves that are left out. Chosen by feel: a shorter run helps more than a simpler
/// one. It decides only the order in which candidates are tried.
const WORTH_OF_VALUE: f64 = 0.1;

/// A kind of change, whose chances are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum EditClass {
    /// Ways of the run between two like states are left out.
    Shortcut,
    /// All inputs that share no value with the failing one are left out.
    Related,
    /// All looks that saw silence but the last are left out.
    Silences,
    /// A piece of this many moves, by the logarithm of their number.
    Chunk(u32),
    /// An input with what is seen until the next one.
    Segment,
    /// Two of them.
    SegmentPair,
    /// One move.
    Single,
    /// An input comes at once rather than after a while.
    Sooner,
    /// All inputs do.
    AllSooner,
    /// One value is simpler.
    Value,
    /// A value is simpler wherever it occurs.
    ValueEverywhere,
    /// So many neighbouring moves.
    Block(usize),
    /// A segment, while integers keep their distance from the replies that are left.
    Distance,
    /// A number is smaller by one, and some moves are left out.
    FewerForLess,
    /// Two moves that are no neighbours.
    MovePair,
}

impl EditClass {
    /// The guess of the chance that the first edit of the class is taken; chosen by feel.
    pub(super) fn first_guess(self) -> f64 {
        match self {
            Self::Silences => 0.8,
            Self::Shortcut | Self::Related | Self::Value | Self::Sooner | Self::AllSooner => 0.5,
            Self::Chunk(_) | Self::Segment => 0.4,
            Self::Single | Self::ValueEverywhere => 0.2,
            Self::Block(_) | Self::SegmentPair | Self::Distance => 0.1,
            Self::FewerForLess => 0.05,
            Self::MovePair => 0.02,
        }
    }

    /// Returns whether a run is 1-minimal only if no edit of this class makes it smaller.
    pub(super) fn is_essential(self) -> bool {
        matches!(self, Self::Single | Self::Value | Self::Sooner)
    }

    /// Returns the turn of the class: those that find more than single changes do come when single changes find nothing
    /// more, since there are many of them and few are taken.
    fn turn(self) -> u8 {
        match self {
            Self::Shortcut
            | Self::Related
            | Self::Silences
            | Self::Chunk(_)
            | Self::Segment
            | Self::Single => 0,
            Self::Sooner | Self::AllSooner | Self::Value | Self::ValueEverywhere => 0,
            Self::Distance | Self::Block(_) | Self::SegmentPair => 1,
            Self::FewerForLess | Self::MovePair => 2,
        }
    }
}

/// A change of a plan.
#[derive(Clone, Debug)]
pub(super) enum PlanEdit {
    /// Leaves these moves out.
    Cut(Range<usize>),
    /// Leaves moves out in two places, the first one before the second.
    CutTwo(Range<usize>, Range<usize>),
    /// Puts this value into a field of the input at this place.
    Value { at: usize, field: usize, value: Value },
    /// Puts one literal for another everywhere.
    ValueEverywhere { from: Value, to: Value },
    /// Puts another move at this place and leaves moves out.
    SetAndCut { at: usize, planned: PlannedMove, gap: Range<usize> },
    /// Takes another plan.
    Replace(Vec<PlannedMove>),
}

impl PlanEdit {
    /// Returns the changed plan.
    pub(super) fn apply(&self, plan: &[PlannedMove]) -> Vec<PlannedMove> {
        match self {
            Self::Cut(gap) => without(plan, gap.clone()),
            // The later place first, so that the earlier one stays where it is.
            Self::CutTwo(first, second) => without(&without(plan, second.clone()), first.clone()),
            Self::Value { at, field, value } => {
                let mut plan = plan.to_vec();
                plan[*at] = with_value(&plan[*at], *field, value.clone());
                plan
            }
            Self::ValueEverywhere { from, to } => {
                plan.iter().map(|planned| replaced(planned, from, to)).collect()
            }
            Self::SetAndCut { at, planned, gap } => {
                let mut plan = plan.to_vec();
                plan[*at] = planned.clone();
                without(&plan, gap.clone())
            }
            Self::Replace(plan) => plan.clone(),
        }
    }

    /// Returns the number of moves of the changed plan, and of those in it that see silence as they did; `silent` says
    /// it of every move of a plan.
    fn moves_left(&self, silent: &[bool]) -> (usize, usize) {
        let of = |range: &Range<usize>| {
            let silences = silent.get(range.clone()).unwrap_or(&[]).iter().filter(|is| **is).count();
            (range.len(), silences)
        };
        let (n, silences) = of(&(0..silent.len()));
        let (cut, cut_silences) = match self {
            Self::Cut(gap) | Self::SetAndCut { gap, .. } => of(gap),
            Self::CutTwo(first, second) => {
                let ((a, b), (c, d)) = (of(first), of(second));
                (a + c, b + d)
            }
            Self::Value { .. } | Self::ValueEverywhere { .. } => (0, 0),
            Self::Replace(plan) => {
                let cut = n.saturating_sub(plan.len());
                // Nobody knows which moves of another plan see silence: as large a share as in this one.
                (cut, silences * cut / n.max(1))
            }
        };
        (n - cut, silences.saturating_sub(cut_silences))
    }
}

/// An edit in its queue.
#[derive(Clone, Debug)]
pub(super) struct QueuedEdit {
    /// The kind of change.
    pub(super) class: EditClass,
    /// The place of the edit in a sweep: its distance from the end of the plan, or for values from its beginning.
    pub(super) place: usize,
    /// The change.
    pub(super) edit: PlanEdit,
}

/// The edits of one plan that were not tried yet.
#[derive(Debug)]
pub(super) struct EditQueues {
    queues: BTreeMap<EditClass, VecDeque<QueuedEdit>>,
    /// True for each move of the plan that saw silence.
    silent: Vec<bool>,
}

impl EditQueues {
    /// Queues `edits` of a plan; every class begins at its place in `sweeps`, where the last edit was taken.
    pub(super) fn new(
        edits: Vec<QueuedEdit>,
        silent: Vec<bool>,
        sweeps: &BTreeMap<EditClass, usize>,
    ) -> Self {
        let mut queues: BTreeMap<EditClass, VecDeque<QueuedEdit>> = BTreeMap::new();
        for edit in edits {
            queues.entry(edit.class).or_default().push_back(edit);
        }
        for (class, queue) in &mut queues {
            queue.make_contiguous().sort_by_key(|edit| edit.place);
            let from = sweeps.get(class).copied().unwrap_or(0);
            let at = queue.iter().position(|edit| edit.place >= from).unwrap_or(0);
            // The sweep goes on where it was. What is before that place comes when it has been round.
            queue.rotate_left(at);
        }
        Self { queues, silent }
    }

    /// Takes the edit that promises most per second; `None` if none is left.
    pub(super) fn pop_best(&mut self, chances: &EditChances, prices: &TryPrices) -> Option<QueuedEdit> {
        let mut best: Option<(f64, EditClass)> = None;
        let waiting = || self.queues.iter().filter_map(|(class, queue)| Some((class, queue.front()?)));
        // Later turns wait until the earlier ones are empty.
        let turn = waiting().map(|(class, _)| class.turn()).min()?;
        for (class, next) in waiting().filter(|(class, _)| class.turn() == turn) {
            let (n_moves, n_silences) = next.edit.moves_left(&self.silent);
            let fewer = self.silent.len().saturating_sub(n_moves) as f64;
            let gain = match class {
                // It makes every later try cheaper, as if nothing of the run were left.
                EditClass::AllSooner => self.silent.len() as f64,
                _ if fewer == 0.0 => WORTH_OF_VALUE,
                _ => fewer,
            };
            let worth = chances.chance(*class) * gain / prices.estimate(n_moves, n_silences);
            // Strictly more: of equals the first class in order, so that the same run is shrunk in the same way.
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, *class));
            }
        }
        self.queues.get_mut(&best?.1)?.pop_front()
    }

    /// Takes the edits without which a run is not 1-minimal.
    pub(super) fn take_essential(&mut self) -> Vec<QueuedEdit> {
        let essential = self.queues.iter_mut().filter(|(class, _)| class.is_essential());
        essential.flat_map(|(_, queue)| std::mem::take(queue)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::spent::TimeSpent;

    fn cut(class: EditClass, place: usize, gap: Range<usize>) -> QueuedEdit {
        QueuedEdit { class, place, edit: PlanEdit::Cut(gap) }
    }

    fn gaps(mut queues: EditQueues, prices: &TryPrices) -> Vec<Range<usize>> {
        let chances = EditChances::default();
        let gap = |edit: QueuedEdit| match edit.edit {
            PlanEdit::Cut(gap) => gap,
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| queues.pop_best(&chances, prices).map(gap)).collect()
    }

    #[test]
    fn a_candidate_without_silences_goes_first_where_silence_is_dear() {
        let edits = || vec![cut(EditClass::Chunk(1), 0, 0..2), cut(EditClass::Segment, 0, 3..4)];
        let silent = vec![false, false, false, true];
        let free = TryPrices::default();
        let queues = EditQueues::new(edits(), silent.clone(), &BTreeMap::new());
        assert_eq!(gaps(queues, &free), [0..2, 3..4], "two moves are more than one");
        let mut dear = TryPrices::default();
        let ms = Duration::from_millis;
        dear.record_run(
            TimeSpent { restarts: ms(1), silence: ms(1_000), replies: ms(1), ..TimeSpent::default() },
            2,
            1,
        );
        let queues = EditQueues::new(edits(), silent, &BTreeMap::new());
        assert_eq!(gaps(queues, &dear), [3..4, 0..2], "but a second is more than a move");
    }

    #[test]
    fn a_sweep_goes_on_where_an_edit_was_taken() {
        let edits = (0..4).map(|at| cut(EditClass::Single, 3 - at, at..at + 1)).collect();
        let sweeps = BTreeMap::from([(EditClass::Single, 2)]);
        let queues = EditQueues::new(edits, vec![false; 4], &sweeps);
        assert_eq!(gaps(queues, &TryPrices::default()), [1..2, 0..1, 3..4, 2..3]);
    }
}
