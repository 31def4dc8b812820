//! Looks where no output is possible, on systems where a look costs time.
//!
//! Where the model allows nothing but silence a look can only show an output that is one too many. On a system that is
//! heard through a socket such a look takes as long as the longest answer many times over, while an input and its
//! answer take a moment: looked at now and then, a quick system would be waited for nearly all the time. An output that
//! is too much is also seen before the answer to the next input, so little is lost by looking rarely: the first times
//! in a situation, and then ever more seldom.
//!
//! *Promises.* Decided by counting, never by a clock: the same seed makes the same moves however fast the system is.

use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId};
use ioxide_model::trace::Trace;

/// The number of first visits of a situation at which a look is due; one look in twelve that are due is taken. Twelve
/// looks or so in five thousand visits: with ten situations, 50 ms for a silence and 0.3 ms for an answer a fifth of
/// the time goes to silence.
const FIRST_VISITS: u64 = 16;

/// Where a look was taken: the locations of the belief and the kind of the last message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct IdleSituation {
    locations: Vec<LocId>,
    last_message: Option<GateId>,
}

impl IdleSituation {
    /// The situation after `trace`, at `locations`.
    pub(super) fn new(locations: Vec<LocId>, trace: &Trace) -> Self {
        let last_message = trace.labels.iter().rev().find_map(|label| match label {
            Label::Input(gate, _) | Label::Output(gate, _) => Some(*gate),
            Label::Quiescence | Label::Delay(_) => None,
        });
        Self { locations, last_message }
    }
}

/// The visits of situations where no output was possible.
#[derive(Clone, Debug, Default)]
pub(super) struct IdleLooks {
    /// The numbers of visits by situation; looked up, never iterated.
    visits: FxHashMap<IdleSituation, u64>,
}

impl IdleLooks {
    /// Counts a visit and returns whether a look may be worth its time: at the first visits, and later at a share of
    /// them that halves as often as their number doubles.
    pub(super) fn is_look_due(&mut self, situation: IdleSituation) -> bool {
        let visits = self.visits.entry(situation).or_default();
        *visits += 1;
        visits.is_multiple_of((*visits / FIRST_VISITS + 1).next_power_of_two())
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;

    use super::*;

    #[test]
    fn looks_become_rare_in_a_situation_that_was_visited_often() {
        let mut looks = IdleLooks::default();
        let situation = |gate| {
            IdleSituation::new(
                vec![LocId::new(0)],
                &Trace::from_iter([Label::Input(GateId::new(gate), Vec::new())]),
            )
        };
        let mut count = |n: usize| (0..n).filter(|_| looks.is_look_due(situation(0))).count();
        let (first, second, later) = (count(100), count(900), count(9_000));
        assert!(first >= 16 && second < 900 / 8 && later < 9_000 / 64, "{first}, {second}, {later}");
        assert!(later > 0, "it is never given up");
        assert!(looks.is_look_due(situation(1)), "a new situation");
    }
}
