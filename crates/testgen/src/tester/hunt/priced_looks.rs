//! Looks on systems where they take time, and the time they may take.
//!
//! A look costs whatever passes until a message comes, or until silence is certain. A reply that is due costs as
//! much as any other step. But where the model allows nothing but silence, a look can only show an output that is
//! one too many; on a system behind a socket it takes as long as the slowest reply many times over, while an input
//! and its reply take a moment. The same holds for outputs that nobody asked for: waiting for the next one takes
//! time, and it is read when it comes anyway, before the next input is sent. So a look whose expected time is large
//! is *costly*: it is taken at the first visits of a situation and then ever more seldom, and all costly looks
//! together take at most a fifth of the time. Little is lost by that. An output that is one too many is also seen
//! before the next reply. A reply that is due is awaited wherever the model accepts no other input, where replies
//! are usually quick, and at the end of every run.
//!
//! *Promises.* There is no clock here: whoever carries out the moves says how long they took. With nominal times the
//! same seed makes the same moves however fast the system is.

use std::time::Duration;

use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId};
use ioxide_model::trace::Trace;

/// The part of the time that costly looks may take: one part in this many. Chosen by feel: fewer looks miss outputs
/// that are too many for longer, more take time from inputs.
pub const TIME_SHARE: u32 = 5;
/// A look is costly if it is expected to take this many times as long as other moves. Chosen by feel: twice as long is
/// within what replies vary by.
const COSTLY_FACTOR: u32 = 4;
/// The factor between the numbers of visits at which a costly look is taken in one situation. Chosen by feel: at most
/// seven looks in five thousand visits.
const VISITS_FACTOR: u64 = 4;
/// The time of the first silence, before one was seen: the longest that a run waits for before it has seen replies.
const FIRST_SILENCE: Duration = Duration::from_millis(300);

/// Where a look is taken: the locations of the belief and the kind of the last message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LookSituation {
    locations: Vec<LocId>,
    last_message: Option<GateId>,
}

impl LookSituation {
    /// The situation after `trace`, at `locations`.
    pub fn new(locations: Vec<LocId>, trace: &Trace) -> Self {
        let last_message = trace.labels.iter().rev().find_map(|label| match label {
            Label::Input(gate, _) | Label::Output(gate, _) => Some(*gate),
            Label::Quiescence | Label::Delay(_) => None,
        });
        Self { locations, last_message }
    }
}

/// The experience with looks in one situation.
#[derive(Clone, Copy, Debug)]
struct KnownLooks {
    /// The visits at which a look was costly.
    visits: u64,
    /// The number of visits at which the next costly look is taken.
    next_look: u64,
    /// The usual time of a look; `None` before the first.
    time: Option<Duration>,
}

impl Default for KnownLooks {
    fn default() -> Self {
        Self { visits: 0, next_look: 1, time: None }
    }
}

/// The looks of all runs and the time they took.
#[derive(Clone, Debug)]
pub struct PricedLooks {
    /// The looks by situation; looked up, never iterated.
    situations: FxHashMap<LookSituation, KnownLooks>,
    /// The situation of the look under way.
    pending: Option<LookSituation>,
    /// True if the next look was chosen although it is costly. What takes long because the machine is busy is no
    /// such look.
    is_chosen: bool,
    /// The time of all moves, and the part of it that costly looks took.
    total: Duration,
    costly: Duration,
    /// The number of the other moves.
    moves: u32,
    /// The time of the last look that ended in silence.
    silence: Duration,
}

impl Default for PricedLooks {
    fn default() -> Self {
        Self {
            situations: FxHashMap::default(),
            pending: None,
            is_chosen: false,
            total: Duration::ZERO,
            costly: Duration::ZERO,
            moves: 0,
            silence: FIRST_SILENCE,
        }
    }
}

impl PricedLooks {
    /// Notes the next move: a look in this situation, or another one.
    pub fn begin_move(&mut self, look: Option<LookSituation>) {
        self.pending = look;
    }

    /// Notes that the move took `time`; `is_silent` if it was a look and nothing came.
    pub fn end_move(&mut self, time: Duration, is_silent: bool) {
        self.total = self.total.saturating_add(time);
        debug_assert!(self.costly <= self.total, "costly looks are part of all moves");
        let (look, is_chosen) = (self.pending.take(), std::mem::take(&mut self.is_chosen));
        if look.is_some() && is_silent {
            self.silence = time;
        }
        // A reply that came is a move like any other, also if the machine was slow: only silences and looks that were
        // chosen in spite of their price are charged to the share of costly looks.
        if look.is_some() && (is_silent || is_chosen) {
            self.costly = self.costly.saturating_add(time);
        } else {
            self.moves = self.moves.saturating_add(1);
        }
        if let Some(situation) = look {
            let known = self.situations.entry(situation).or_default();
            // A quick look counts at once, a slow one by half: what was slow for a moment is looked at again.
            known.time = Some(known.time.map_or(time, |before| time.min((before + time) / 2)));
        }
    }

    /// Returns whether a look is expected to cost more than other moves; `may_speak` if an output is possible.
    pub fn is_look_costly(&self, situation: &LookSituation, may_speak: bool) -> bool {
        self.is_costly(self.expected_time(situation, may_speak))
    }

    /// Counts a visit of a situation where a look is costly, and returns whether it is worth its time now: it was
    /// not taken here often, and there is time for it.
    pub fn is_look_due(&mut self, situation: &LookSituation, may_speak: bool) -> bool {
        let expected = self.expected_time(situation, may_speak);
        let is_affordable = self.costly.saturating_add(expected) <= self.total / TIME_SHARE;
        let known = self.situations.entry(situation.clone()).or_default();
        known.visits += 1;
        let is_due = is_affordable && known.visits >= known.next_look;
        if is_due {
            // Geometric distances: the first visits are looked at, later ones ever more seldom, but never none at all.
            known.next_look = known.visits.saturating_mul(VISITS_FACTOR);
            self.is_chosen = true;
        }
        is_due
    }

    /// Returns the time that a look is expected to take: as long as those before it, or as a silence where nothing else
    /// is possible. A reply is expected at once.
    fn expected_time(&self, situation: &LookSituation, may_speak: bool) -> Duration {
        let known = self.situations.get(situation).and_then(|known| known.time);
        match known {
            Some(time) if may_speak => time,
            _ if may_speak => Duration::ZERO,
            _ => self.silence,
        }
    }

    fn is_costly(&self, time: Duration) -> bool {
        // The average of the moves that are not costly; before the first one, any time at all is costly.
        let usual = self.total.saturating_sub(self.costly).checked_div(self.moves);
        time > usual.unwrap_or_default().saturating_mul(COSTLY_FACTOR)
    }
}
