//! The belief in a timed model: the silence a system may keep, and the instants of its messages.
//!
//! Sem(G) of \[BLLN23] sec. 4 on the fly. A trace alternates messages and delays. A state may let time pass as long as
//! some output or internal step, or a message somebody else sends, is still possible at or after that instant, or if it
//! was quiescent when it was entered; a state that lets a deadline pass leaves the belief, whatever comes next. An
//! input the tester holds back excuses nothing. Quiescence takes no time: the states that remain are those that were
//! quiescent when they were entered, by the last message or by an internal step since.
//!
//! *Tolerance.* A message is seen at most `latency` after it was sent, an input reaches the system at most
//! `latency` after it was given, and instants are read to within `resolution`. Then the true instant of a
//! message is a variable with bounds, clocks are differences of such variables, and instants no clock
//! mentions any more are projected away. Within twice the latency after an input, an output may have
//! been sent before the input arrived: the courses of the monitor hold both.
//!
//! *Promises.* With no tolerance and known values nothing is asked of the solver but whether a
//! guard can hold later. A delay in parts means the same as in one piece. Wider tolerance never forbids
//! what a narrower one allows.

mod elapse;
mod project;
mod read;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateKind, LocId};
use ioxide_model::term::Term;
use ioxide_model::value::Value;

pub use self::elapse::may_wait;
use self::elapse::{PassedSilence, elapse};
use self::project::project_instants;
use self::read::as_read;
use super::belief::{Belief, HeldBelief, NextBelief, by_label};
use super::{AllowedLabel, Forbidden, explain};
use crate::cx::Ctx;
use crate::state::SymState;

/// The tolerance of observed instants, in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// The longest time a message travels, to the system or from it.
    pub latency: Rational,
    /// The resolution to which instants are read.
    pub resolution: Rational,
    /// The longest time between the start of the system and its report, if that is longer than the latency.
    pub start: Rational,
}

impl Default for Tolerance {
    /// Returns the tolerance of exact observation: all zero.
    fn default() -> Self {
        Self { latency: Rational::ZERO, resolution: Rational::ZERO, start: Rational::ZERO }
    }
}

impl Tolerance {
    /// Returns whether instants are observed exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.latency.is_zero() && self.resolution.is_zero()
    }

    /// Returns the longest time after which the end of a silence is seen.
    fn longest_lag(&self) -> Rational {
        &self.latency + &self.resolution
    }
}

/// The knowledge about time.
#[derive(Clone, Debug, PartialEq)]
struct TimeKnowledge {
    tolerance: Tolerance,
    /// Seconds since the start, as observed.
    now: Rational,
    /// The belief just after the last message.
    entry: Belief,
    since: Instant,
    /// The number of instants that have a variable.
    named: u32,
    /// The observed instants of those with a variable.
    read: Vec<Rational>,
}

/// The instant of an event.
#[derive(Clone, Debug, PartialEq)]
struct Instant {
    /// Seconds since the start: a number, or a variable with bounds in the paths of the belief.
    at: Term,
    latest: Rational,
}

impl TimeKnowledge {
    /// Makes the knowledge at the start, in the states `entry`. If observation is not exact, the start itself is a
    /// variable with bounds.
    fn new(cx: &mut Ctx<'_>, tolerance: Tolerance, entry: Belief) -> Self {
        let at = cx.pool.value(Value::Real(Rational::ZERO));
        let since = Instant { at, latest: Rational::ZERO };
        let mut time = Self { tolerance, now: Rational::ZERO, entry, since, named: 0, read: Vec::new() };
        if !time.tolerance.is_exact() {
            time.start_about_now(cx);
        }
        time
    }

    /// Replaces the start by a variable with bounds: its report was seen as late as any message.
    fn start_about_now(&mut self, cx: &mut Ctx<'_>) {
        let (earliest, latest) = self.instant_bounds(false);
        let earliest = earliest.min(-&self.tolerance.start);
        let var = cx.pool.indexed_var(cx.instant, 1);
        let at = cx.pool.var(var);
        let (low, high) = (cx.pool.value(Value::Real(earliest)), cx.pool.value(Value::Real(latest.clone())));
        let bounds = [cx.pool.le(low, at), cx.pool.le(at, high)];
        let bounds = cx.pool.and(bounds);
        let states: Vec<SymState> = match &self.entry {
            Belief::Concrete(states) => {
                states.iter().filter_map(|state| SymState::from_concrete(cx, state)).collect()
            }
            Belief::Symbolic(states) => states.clone(),
            Belief::Unspecified => return,
        };
        let bounded = |state: SymState| SymState { path: state.path.with_fact(cx, bounds), ..state };
        self.entry = Belief::Symbolic(states.into_iter().map(bounded).collect());
        (self.since, self.named, self.read) = (Instant { at, latest }, 1, vec![Rational::ZERO]);
    }

    /// Returns the bounds of the true instant of a message observed now; `is_given` for an input of the tester.
    fn instant_bounds(&self, is_given: bool) -> (Rational, Rational) {
        let (lag, resolution) = (self.tolerance.longest_lag(), &self.tolerance.resolution);
        if is_given {
            (&self.now - resolution, &self.now + &lag)
        } else {
            (&self.now - &lag, &self.now + resolution)
        }
    }
}

/// The effect of a message on the belief.
struct TimedAfter {
    /// The belief at the instant of the message.
    before: Belief,
    next: NextBelief,
    since: Instant,
    named: u32,
}

impl TimedAfter {
    /// Returns whether no state may have been silent until the input `label` came.
    fn is_too_silent(&self, label: &Label) -> bool {
        matches!(label, Label::Input(..)) && self.before.is_empty()
    }
}

/// The belief after one order of events in a model with clocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedCourse {
    pub(super) held_belief: HeldBelief,
    time: TimeKnowledge,
}

impl TimedCourse {
    /// Makes the belief at start; instants are observed within `tolerance`.
    pub(super) fn new(cx: &mut Ctx<'_>, tolerance: Tolerance, held_belief: HeldBelief) -> Self {
        let time = TimeKnowledge::new(cx, tolerance, held_belief.belief.clone());
        Self { held_belief, time }
    }

    fn is_unspecified(&self) -> bool {
        self.held_belief.belief == Belief::Unspecified
    }

    /// Returns the seconds since the start, as observed.
    pub(super) fn now(&self) -> &Rational {
        &self.time.now
    }

    /// The states just after the last message.
    pub(super) fn entry_belief(&self) -> &Belief {
        if self.is_unspecified() { &self.held_belief.belief } else { &self.time.entry }
    }

    /// Moves the states just after the last message to the locations that `target` gives for their own.
    pub(super) fn relocate_entry(&mut self, target: &dyn Fn(LocId) -> LocId) {
        self.time.entry.relocate(target);
    }

    /// Returns whether instants are observed exactly.
    pub(super) fn is_exact(&self) -> bool {
        self.time.tolerance.is_exact()
    }

    /// Returns whether an event `by` seconds from now is too late to have happened before an input given at `given`
    /// arrived; if `is_held`, before a message seen then was sent.
    pub(super) fn has_expired(&self, given: &Rational, is_held: bool, by: &Rational) -> bool {
        let Tolerance { resolution, .. } = &self.time.tolerance;
        let lag = self.time.tolerance.longest_lag();
        // An input may travel for one lag, and what the system sent before it arrived for another; a message that was
        // seen has travelled already, and its instant was read to within the resolution.
        let travels = if is_held { &lag + resolution } else { &lag + &lag };
        &self.time.now + by > given + &travels
    }

    /// Sets the observed instant back to `given`.
    pub(super) fn turn_back(&mut self, given: &Rational) {
        self.time.now = given.clone();
    }

    /// Lets time pass up to a message, which is judged together with its instant.
    pub(super) fn advance_time(&mut self, cx: &mut Ctx<'_>, by: &Rational) {
        self.time.now = &self.time.now + by;
        // The last message may still be to come: then nothing is known of the time after it.
        if self.is_unspecified() || self.time.now < self.time.since.latest {
            return;
        }
        let to = cx.pool.value(Value::Real(self.time.now.clone()));
        let (next, _) = elapse(cx, &self.time, to, None, &[]);
        self.held_belief.add_doubts(&next);
        self.held_belief.belief = next.belief;
    }

    /// Moves on by one label; if it is forbidden, the belief stays as it was.
    pub(super) fn observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        match label {
            Label::Delay(by) => self.wait_for(cx, by, label),
            _ if self.is_unspecified() => Ok(AllowedLabel::Unspecified),
            Label::Quiescence => self.observe_quiescence(cx, label),
            Label::Input(..) | Label::Output(..) => self.observe_message(cx, label, relation),
        }
    }

    /// Returns whether the specification allows this label now; for an input, whether it mentions it.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        self.take_message(cx, label, relation).is_some_and(|taken| taken.next.is_possible(label))
    }

    /// Returns whether no state may have been silent until an input that is given now.
    pub(super) fn is_overdue(&self, cx: &mut Ctx<'_>) -> bool {
        if self.is_unspecified() {
            return false;
        }
        let (earliest, latest) = self.time.instant_bounds(true);
        let (since, facts, _) = make_instant(cx, &self.time, earliest, latest);
        let (arrived, _) = elapse(cx, &self.time, since.at, Some(PassedSilence::Until(since.at)), &facts);
        arrived.belief.is_empty()
    }

    /// Lets a message happen now that was given or seen at `given`, and returns whether its instant allows that.
    pub(super) fn observe_waiting(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        given: &Rational,
        relation: ConformanceRelation,
    ) -> bool {
        if self.is_unspecified() {
            return true;
        }
        // It keeps the instant at which it was given.
        let now = std::mem::replace(&mut self.time.now, given.clone());
        let taken = self.take_message(cx, label, relation);
        let is_possible = taken.is_some_and(|taken| {
            self.held_belief.add_doubts(&taken.next);
            match (taken.before.is_empty(), taken.next.is_unspecified(label)) {
                // An input that comes when time cannot pass is out of the order only if something waited for it.
                (true, _) => false,
                (false, true) => {
                    self.held_belief.give_up_belief();
                    true
                }
                (false, false) if taken.next.belief.is_empty() => false,
                (false, false) => {
                    self.enter_belief(cx, label, taken);
                    true
                }
            }
        });
        self.time.now = now;
        is_possible
    }

    /// Moves on by `by` seconds without a message; if that is forbidden, time stays where it was.
    fn wait_for(
        &mut self,
        cx: &mut Ctx<'_>,
        by: &Rational,
        label: &Label,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        let before = self.time.now.clone();
        self.time.now = &before + by;
        if self.is_unspecified() {
            return Ok(AllowedLabel::Unspecified);
        }
        let waited = self.check_silence(cx, label);
        if waited.is_err() {
            self.time.now = before;
        }
        waited
    }

    /// Checks the silence since the last message, up to now.
    fn check_silence(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<AllowedLabel, Box<Forbidden>> {
        let time = &self.time;
        if time.now < time.since.latest {
            return Ok(AllowedLabel::Allowed);
        }
        // What the system sent within the last lag may not have been seen yet: only before that it is known to be
        // silent.
        let silent = &time.now - &time.tolerance.longest_lag();
        let silent = (silent >= time.since.latest).then(|| cx.pool.value(Value::Real(silent)));
        let to = cx.pool.value(Value::Real(time.now.clone()));
        let (next, _) = elapse(cx, time, to, silent.map(PassedSilence::Until), &[]);
        self.held_belief.add_doubts(&next);
        if next.belief.is_empty() {
            return Err(self.nothing_left(cx, label));
        }
        self.held_belief.belief = next.belief;
        Ok(AllowedLabel::Allowed)
    }

    /// Moves on by quiescence: an internal step may have entered a quiescent state since the last message.
    fn observe_quiescence(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        let resolution = self.time.tolerance.resolution.clone();
        let (earliest, latest) = (&self.time.now - &resolution, &self.time.now + &resolution);
        let (since, facts, named) = make_instant(cx, &self.time, earliest, latest);
        let silence = Some(PassedSilence::WithoutEnd);
        let (next, named_on_the_way) = elapse(cx, &self.time, since.at, silence, &facts);
        self.held_belief.add_doubts(&next);
        if next.belief.is_empty() {
            return Err(self.nothing_left(cx, label));
        }
        let named = named.max(named_on_the_way);
        self.enter_belief(cx, label, TimedAfter { before: next.belief.clone(), next, since, named });
        Ok(AllowedLabel::Allowed)
    }

    /// Moves on by a message, given or seen.
    fn observe_message(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        let Some(taken) = self.take_message(cx, label, relation) else {
            return Ok(AllowedLabel::Unspecified);
        };
        self.held_belief.add_doubts(&taken.next);
        if taken.is_too_silent(label) {
            // It is the silence before the input that is wrong, not the input.
            let silence = Label::Delay(&self.time.now - &self.time.since.latest);
            return Err(self.nothing_left(cx, &silence));
        }
        if taken.next.is_unspecified(label) {
            self.held_belief.give_up_belief();
            return Ok(AllowedLabel::Unspecified);
        }
        if taken.next.belief.is_empty() {
            return Err(self.explain_forbidden(cx, label, &taken));
        }
        self.enter_belief(cx, label, taken);
        Ok(AllowedLabel::Allowed)
    }

    /// Explains why a message is forbidden.
    fn explain_forbidden(&self, cx: &mut Ctx<'_>, label: &Label, taken: &TimedAfter) -> Box<Forbidden> {
        let mut read = self.observed_instants(cx);
        let now = cx.pool.value(Value::Real(self.time.now.clone()));
        for var in cx.pool.free_vars(taken.since.at) {
            read.set(var, now);
        }
        let forbidden = explain::explain_forbidden(cx, &self.time.entry, &taken.before, label);
        Box::new(as_read(cx, forbidden, &read))
    }

    /// Explains why no state is left after `label`, which is not a message.
    pub(super) fn nothing_left(&self, cx: &mut Ctx<'_>, label: &Label) -> Box<Forbidden> {
        let read = self.observed_instants(cx);
        let forbidden = explain::explain_forbidden(cx, &self.time.entry, &self.time.entry, label);
        Box::new(as_read(cx, forbidden, &read))
    }

    /// Returns the effect of a message on the belief; `None` if everything is allowed.
    fn take_message(
        &self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Option<TimedAfter> {
        if self.is_unspecified() {
            return None;
        }
        let (earliest, latest) = self.time.instant_bounds(is_given(cx, label));
        let (since, facts, named) = make_instant(cx, &self.time, earliest, latest);
        // In this order of events the system sent nothing between the last message and this one, so a state that had to
        // speak before an input is not among those that the input finds. An output needs no such fact: a state that
        // sends it at this instant could wait for it. And where an output was on its way when the input was given, the
        // order in which it came first is another course.
        let silence = matches!(label, Label::Input(..)).then_some(PassedSilence::Until(since.at));
        let (arrived, named_on_the_way) = elapse(cx, &self.time, since.at, silence, &facts);
        let named = named.max(named_on_the_way);
        let mut next = by_label(cx, &arrived.belief, label, relation);
        next.doubts += arrived.doubts;
        next.lost = next.lost.or(arrived.lost);
        Some(TimedAfter { before: arrived.belief, next, since, named })
    }

    /// Makes the belief after `label` the current one.
    fn enter_belief(&mut self, cx: &mut Ctx<'_>, label: &Label, taken: TimedAfter) {
        // Only differences of instants that clocks still hold matter: without this a long run would keep them all.
        self.held_belief.belief = project_instants(cx, taken.next.belief, taken.since.at);
        self.held_belief.close_internally(cx);
        self.held_belief.step_paths(cx, label, &taken.before);
        let time = &mut self.time;
        time.entry = self.held_belief.belief.clone();
        time.since = taken.since;
        time.named = taken.named;
        let now = time.now.clone();
        let named = usize::try_from(taken.named).unwrap_or(usize::MAX);
        if time.read.len() < named {
            time.read.resize(named, now);
        }
    }
}

/// Returns whether `label` is an input of the tester.
pub(super) fn is_given(cx: &Ctx<'_>, label: &Label) -> bool {
    match label {
        Label::Input(gate, _) => cx.sts.gates[*gate].kind == GateKind::Input,
        Label::Output(..) | Label::Quiescence | Label::Delay(_) => false,
    }
}

/// Returns an instant within bounds, not before the last one: a number if it is exact, else a new variable with facts;
/// also the number of instants that have a variable then.
fn make_instant(
    cx: &mut Ctx<'_>,
    time: &TimeKnowledge,
    earliest: Rational,
    latest: Rational,
) -> (Instant, Vec<Term>, u32) {
    if time.tolerance.is_exact() {
        let at = cx.pool.value(Value::Real(latest.clone()));
        return (Instant { at, latest }, Vec::new(), time.named);
    }
    let named = time.named + 1;
    let var = cx.pool.indexed_var(cx.instant, named);
    let at = cx.pool.var(var);
    let (low, high) = (cx.pool.value(Value::Real(earliest)), cx.pool.value(Value::Real(latest.clone())));
    let facts = vec![cx.pool.le(low, at), cx.pool.le(at, high), cx.pool.le(time.since.at, at)];
    (Instant { at, latest }, facts, named)
}
