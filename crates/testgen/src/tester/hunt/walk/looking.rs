//! The choice between sending and looking, by what a look costs.

use std::time::Duration;

use rand::RngExt;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_symex::{Ctx, Monitor};

use super::super::priced_looks::LookSituation;
use super::RandomWalks;
use crate::tester::TesterMove;
use crate::tester::random::Interaction;
use crate::tester::stimulus::BorrowedBelief;

/// The percentage of moves at which an eager walk sends where it could also look. Chosen by feel: a few looks keep it
/// from running into an answer it never reads.
const EAGER_PERCENT: u32 = 90;
/// The percentage of moves at which a look is taken where no output is possible and looks cost nothing. Chosen by feel:
/// outputs that the model excludes are faults, but seldom ones.
const IDLE_LOOK_PERCENT: u32 = 8;

/// The number of inputs under way from which on an input with a reply is sent: one less than may be under way at
/// once, so that none has to be settled by silence.
const SETTLE_FROM: usize = 7;

/// The worth of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LookWorth {
    /// A message may come, as soon as any: the preferences decide.
    Message,
    /// Nothing may come, and looks cost nothing.
    Free,
    /// It costs time, and is worth it.
    Due,
    /// It is not worth the time.
    TooCostly,
}

impl RandomWalks {
    /// Returns whether to send rather than to look, at random.
    pub(super) fn should_send(&mut self, cx: &Ctx<'_>, belief: &BorrowedBelief<'_>, trace: &Trace) -> bool {
        let eagerness = self.run.preferences.as_ref().map_or(50, |preferences| preferences.eager);
        let eager = match self.interaction {
            Interaction::Fair => eagerness,
            Interaction::InputEager => eagerness.max(EAGER_PERCENT),
        };
        // After silence nothing comes without an input: looking again would show the same.
        let percent = if trace.ends_in_silence() {
            100
        } else {
            match self.weigh_look(cx, belief, trace) {
                // A reply says that the inputs before it were taken, so it is worth more than another input.
                LookWorth::Message if std::mem::take(&mut self.is_settling) => 0,
                LookWorth::Message => eager,
                LookWorth::Free => 100 - IDLE_LOOK_PERCENT,
                LookWorth::Due => 0,
                LookWorth::TooCostly => 100,
            }
        };
        self.rng.random_range(0..100) < percent
    }

    /// Returns whether a look for a reply is worth its time, half of the time where it is cheap.
    pub(super) fn wants_reply(&mut self, cx: &Ctx<'_>, belief: &BorrowedBelief<'_>, trace: &Trace) -> bool {
        match self.weigh_look(cx, belief, trace) {
            LookWorth::Message | LookWorth::Free => self.rng.random_ratio(1, 2),
            LookWorth::Due => true,
            LookWorth::TooCostly => false,
        }
    }

    fn weigh_look(&mut self, cx: &Ctx<'_>, belief: &BorrowedBelief<'_>, trace: &Trace) -> LookWorth {
        let may_speak = belief.may_speak(cx.pool, cx.sts);
        let Some(looks) = &mut self.looks else {
            return if may_speak { LookWorth::Message } else { LookWorth::Free };
        };
        let situation = LookSituation::new(belief.locations(), trace);
        // With clocks, a message that takes long is what the model says: its instant is looked at too.
        if may_speak && (cx.sts.is_timed() || !looks.is_look_costly(&situation, true)) {
            LookWorth::Message
        } else if looks.is_look_due(&situation, may_speak) {
            LookWorth::Due
        } else {
            LookWorth::TooCostly
        }
    }

    /// Returns whether the look at the end of a run is worth its time: a message may come, or it costs nothing, or
    /// there is time for it.
    pub(in super::super) fn is_last_look_worth(
        &mut self,
        cx: &Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
    ) -> bool {
        let Some(belief) = BorrowedBelief::from_monitor(monitor) else { return true };
        // What is due must come before the run may pass, however long it takes.
        belief.may_speak(cx.pool, cx.sts) || self.weigh_look(cx, &belief, trace) != LookWorth::TooCostly
    }

    /// Takes the next label off the way to a rare state; looks that would only cost time are left out.
    pub(super) fn take_step_of_way(
        &mut self,
        cx: &Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
    ) -> Option<Label> {
        loop {
            let label = self.run.way.pop_front()?;
            if matches!(label, Label::Input(..)) || !self.is_costly_on_way(cx, monitor, trace) {
                return Some(label);
            }
        }
    }

    /// Returns whether a look is costly here and not needed: an input could be sent instead.
    fn is_costly_on_way(&self, cx: &Ctx<'_>, monitor: &Monitor, trace: &Trace) -> bool {
        let (Some(looks), Some(belief)) = (&self.looks, BorrowedBelief::from_monitor(monitor)) else {
            return false;
        };
        let may_speak = belief.may_speak(cx.pool, cx.sts);
        !cx.sts.is_timed()
            && !belief.inputs(cx.sts).is_empty()
            && looks.is_look_costly(&LookSituation::new(belief.locations(), trace), may_speak)
    }

    /// Leaves in `candidates` those that are answered, if so many inputs are under way that silence would have to
    /// settle them, and looks cost time. On a connection that keeps the order, the reply to the last input shows
    /// that all inputs before it were taken. Inputs whose reply nothing else causes come first: it leaves no doubt
    /// which input it answers.
    pub(super) fn prefer_settling(&mut self, sts: &Sts, monitor: &Monitor, candidates: &mut Vec<SwitchId>) {
        self.is_settling = self.looks.is_some() && !sts.is_timed() && monitor.under_way() >= SETTLE_FROM;
        if !self.is_settling {
            return;
        }
        let answered = |id: &SwitchId| !reply_gates(sts, *id).is_empty();
        let unique = |id: &SwitchId| answered(id) && has_unique_reply(sts, *id);
        // In order of preference; candidates stay as they are if none of them is answered.
        let settling: [Vec<SwitchId>; 2] = [
            candidates.iter().copied().filter(unique).collect(),
            candidates.iter().copied().filter(answered).collect(),
        ];
        if let Some(found) = settling.into_iter().find(|found| !found.is_empty()) {
            *candidates = found;
        }
    }

    /// Returns whether looks cost time.
    pub(in super::super) fn looks_cost_time(&self) -> bool {
        self.looks.is_some()
    }

    /// Notes the move that is made next, in whichever phase of the hunt.
    pub(in super::super) fn begin_move(&mut self, monitor: &Monitor, trace: &Trace, next: &TesterMove) {
        let Some(looks) = &mut self.looks else { return };
        let is_look = matches!(next, TesterMove::Observe | TesterMove::ObserveFor(_));
        let belief = BorrowedBelief::from_monitor(monitor).filter(|_| is_look);
        looks.begin_move(belief.map(|belief| LookSituation::new(belief.locations(), trace)));
    }

    /// Notes how long the last move took; `is_silent` if it was a look and nothing came.
    pub(in super::super) fn end_move(&mut self, time: Duration, is_silent: bool) {
        if let Some(looks) = &mut self.looks {
            looks.end_move(time, is_silent);
        }
    }
}

/// Returns the outputs that may follow the input of `id` at once; none if something else may happen before them.
fn reply_gates(sts: &Sts, id: SwitchId) -> Vec<GateId> {
    let replies: Vec<_> = sts.switches_from(sts.switches[id].target).map(|(_, switch)| switch).collect();
    if replies.iter().all(|reply| sts.kind_of(reply) == GateKind::Output) {
        replies.into_iter().map(|reply| reply.gate).collect()
    } else {
        Vec::new()
    }
}

/// Returns whether the replies to the input of `id` follow no other input, in whichever state.
fn has_unique_reply(sts: &Sts, id: SwitchId) -> bool {
    let (gate, replies) = (sts.switches[id].gate, reply_gates(sts, id));
    let emits = |loc| sts.switches_from(loc).any(|(_, switch)| replies.contains(&switch.gate));
    sts.switches.iter().all(|switch| switch.gate == gate || !emits(switch.target)) && !emits(sts.initial)
}
