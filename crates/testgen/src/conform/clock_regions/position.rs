//! The clocks of a member, as positions among marked instants.
//!
//! What a clock allows depends on its whole part, on whether it is whole, and on the order in which clocks become whole
//! next. So a clock is its whole part and a position of its fraction. The fractions of *marks*, instants that are known
//! (because the tester saw a message then, or because the implementation reset a clock), cut the numbers from 0 to 1
//! into slots: slot 0 is the fraction 0, slot `2i` that of mark `i`, and slot `2i + 1` everything between mark `i` and
//! the next. Clocks between marks have ranks, the order of their fractions.

/// The slot of the fraction 0: of a clock that is whole now.
const NOW: u16 = 0;

/// A clock, in units of which all constants that it is compared with are multiples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ClockPosition {
    /// Above every constant, or never read again.
    Beyond,
    /// At most the greatest constant.
    Within {
        /// The whole part.
        whole: u16,
        /// The slot of the fraction.
        slot: u16,
        /// The number of different lesser fractions in a slot between marks; 0 elsewhere.
        rank: u16,
    },
}

use ClockPosition::{Beyond, Within};

/// A clock that was reset now.
pub(super) const RESET: ClockPosition = Within { whole: 0, slot: NOW, rank: 0 };

/// The positions of all clocks of a member.
pub(super) type ClockPositions = Vec<ClockPosition>;

/// The slot between the last of `marks` marks and the next whole number.
fn last_slot(marks: u16) -> u16 {
    2 * marks + 1
}

/// The slot of the mark number `mark`, from 1.
pub(super) fn slot_of_mark(mark: u16) -> u16 {
    2 * mark
}

/// Returns the clock as a number of half units: all clocks of one number allow the same.
pub(super) fn half_units(clock: ClockPosition, limit: u16) -> u32 {
    match clock {
        Beyond => 2 * u32::from(limit) + 1,
        Within { whole, slot, .. } => 2 * u32::from(whole) + u32::from(slot != NOW),
    }
}

/// Brings positions into their only form: clocks above their limits are beyond, and ranks have no gaps.
pub(super) fn settle(mut clocks: ClockPositions, limits: &[u16]) -> ClockPositions {
    debug_assert_eq!(clocks.len(), limits.len(), "every clock has a limit");
    for (clock, &limit) in clocks.iter_mut().zip(limits) {
        if let Within { whole, slot, .. } = *clock
            && (whole > limit || whole == limit && slot != NOW)
        {
            *clock = Beyond;
        }
    }
    let before = clocks.clone();
    for clock in &mut clocks {
        if let Within { slot, rank, .. } = clock {
            // Ranks are compared with those before, not with ranks that are already changed: hence the copy.
            *rank = if slot.is_multiple_of(2) { 0 } else { count_ranks(&before, *slot, *rank) };
        }
    }
    clocks
}

/// The number of different ranks below `rank` in `slot`.
fn count_ranks(clocks: &[ClockPosition], slot: u16, rank: u16) -> u16 {
    let in_slot = clocks.iter().filter_map(|clock| match *clock {
        Within { slot: other, rank: lesser, .. } if other == slot && lesser < rank => Some(lesser),
        _ => None,
    });
    let mut ranks: Vec<u16> = in_slot.collect();
    ranks.sort_unstable();
    ranks.dedup();
    u16::try_from(ranks.len()).unwrap_or(u16::MAX)
}

/// The number of different fractions in `slot`.
fn count_fractions(clocks: &[ClockPosition], slot: u16) -> u16 {
    count_ranks(clocks, slot, u16::MAX)
}

/// Returns whether some clock is in `slot`.
pub(super) fn is_occupied(clocks: &[ClockPosition], slot: u16) -> bool {
    clocks.iter().any(|clock| matches!(*clock, Within { slot: other, .. } if other == slot))
}

/// Returns the positions a moment later, when the instant that was now is the first mark.
pub(super) fn mark_now(clocks: &[ClockPosition]) -> ClockPositions {
    let shifted = |clock: &ClockPosition| match *clock {
        // Slot 0 becomes that of mark 1, and every mark its successor.
        Within { whole, slot, rank } => Within { whole, slot: slot + 2, rank },
        Beyond => Beyond,
    };
    clocks.iter().map(shifted).collect()
}

/// Returns the next positions as time passes, as long as no mark is a whole number of units ago; `None` if they do not
/// change before.
pub(super) fn step_between_marks(clocks: &[ClockPosition], marks: u16) -> Option<ClockPositions> {
    if is_occupied(clocks, NOW) {
        // Clocks that were whole are the least of those that were so since the last mark.
        let passed = |clock: &ClockPosition| match *clock {
            Within { whole, slot: NOW, .. } => Within { whole, slot: 1, rank: 0 },
            Within { whole, slot: 1, rank } => Within { whole, slot: 1, rank: rank + 1 },
            other => other,
        };
        return Some(clocks.iter().map(passed).collect());
    }
    // The clocks with the greatest fraction become whole first, all at once; clocks at or before the last mark are
    // later.
    let last = last_slot(marks);
    let greatest = count_fractions(clocks, last).checked_sub(1)?;
    let wrapped = |clock: &ClockPosition| match *clock {
        Within { whole, slot, rank } if slot == last && rank == greatest => {
            Within { whole: whole + 1, slot: NOW, rank: 0 }
        }
        other => other,
    };
    Some(clocks.iter().map(wrapped).collect())
}

/// Returns the positions at the instant at which the last mark is a whole number of units ago, and is no mark any more;
/// `None` if other clocks are whole before.
pub(super) fn reach_last_mark(clocks: &[ClockPosition], marks: u16) -> Option<ClockPositions> {
    if is_occupied(clocks, NOW) || is_occupied(clocks, last_slot(marks)) {
        return None;
    }
    let at_mark = |clock: &ClockPosition| match *clock {
        Within { whole, slot, .. } if slot == slot_of_mark(marks) => {
            Within { whole: whole + 1, slot: NOW, rank: 0 }
        }
        other => other,
    };
    Some(clocks.iter().map(at_mark).collect())
}

/// Returns the positions without the mark number `mark`, and the number of fractions that it could have been before,
/// after or equal to.
pub(super) fn forget_mark(clocks: &[ClockPosition], mark: u16) -> (ClockPositions, u16) {
    let slot_of = slot_of_mark(mark);
    let before = count_fractions(clocks, slot_of - 1);
    let at = u16::from(is_occupied(clocks, slot_of));
    let joined = |clock: &ClockPosition| match *clock {
        // The slots before and after the mark become one: ranks go on from those before, with the mark's own fraction
        // between.
        Within { whole, slot, .. } if slot == slot_of => Within { whole, slot: slot_of - 1, rank: before },
        Within { whole, slot, rank } if slot == slot_of + 1 => {
            Within { whole, slot: slot_of - 1, rank: before + at + rank }
        }
        Within { whole, slot, rank } if slot > slot_of => Within { whole, slot: slot - 2, rank },
        other => other,
    };
    let fractions = before + at + count_fractions(clocks, slot_of + 1);
    (clocks.iter().map(joined).collect(), fractions)
}

/// Returns the positions of the clocks among themselves, without any marks.
pub(super) fn forget_all_marks(clocks: &[ClockPosition]) -> ClockPositions {
    let last_mark = clocks.iter().map(|clock| match *clock {
        Within { slot, .. } => slot / 2,
        Beyond => 0,
    });
    let last_mark = last_mark.max().unwrap_or(0);
    // A mark behind the last clock tells nothing, so only as many as the clocks can show are forgotten.
    (1..=last_mark).rev().fold(clocks.to_vec(), |clocks, mark| forget_mark(&clocks, mark).0)
}
