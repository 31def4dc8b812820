//! The monitor: the states a specification may be in after the observed trace.
//!
//! \[FTW05] Def. 16's set C, \[BT19] Alg. 1's C, \[BLLN23]'s execution relation, for testers that do not share an
//! instant with the system. An input that was written is *under way* until the system takes it, which cannot be
//! observed. So the monitor believes **courses** of events: each is one order in which the labels may have happened,
//! with the belief after it and the inputs it has not taken yet (ioco in a queue context: Huo and Petrenko,
//! "Transition covering tests for systems with queues", 2009; Noroozi et al., "Synchrony and asynchrony in conformance
//! testing", 2015). Inputs of one lane are taken in the order they were sent; quiescence, or the confirmation of an
//! input, settles what is under way. If every input is confirmed at once, there is one course.
//!
//! | observation | a course goes on if |
//! | --- | --- |
//! | an output | it may follow the inputs taken so far, or some more of them |
//! | an answer of one of several lanes | the same, or if an outstanding answer was sent first: this one is held |
//! | a message of one of several connections | the same, or if another connection may still deliver an earlier one |
//! | the end of a connection | the same; inputs under way on it were taken, or are lost |
//! | time that passes | nothing it waits for must have happened long ago, by the stated latency |
//! | silence | every input was taken, no message is held, and the state reached is quiescent |
//!
//! *Promises.* An observation is [`Forbidden`] only if every course forbids it. If a belief may lack states (internal
//! steps cut at the limit, too many courses), [`Monitor::lost_states`] says so, and nothing is forbidden from there on.
//! After an input the specification does not mention, a course allows everything.

mod belief;
mod blame;
mod concrete;
mod course;
mod explain;
mod paths;
mod symbolic;
mod timed;
mod wiring;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::LocId;
use ioxide_smt::halt::Halted;

use self::belief::CourseBelief;
use self::course::{EventCourse, take_waiting};
use self::timed::TimedCourse;
use crate::cx::Ctx;
use crate::orders::{Arrival, Crossing, WaitingLabel, close_orders};

pub use self::belief::Belief;
pub use self::explain::{Forbidden, SwitchBlock, SwitchRefusal};
pub use self::paths::PathItem;
pub use self::timed::{Tolerance, may_wait};
pub use self::wiring::{ConnectionWiring, MessageRoute};

/// The greatest number of courses that are followed; an excess is reported, never silently cut. Chosen by feel: four
/// unconfirmed inputs on lanes of their own have 65. Fewer lose verdicts sooner, more take time with every label.
const MAX_COURSES: usize = 256;
/// The number of steps of one search for states after which it asks whether it is to stop. Chosen by feel: a step takes
/// microseconds, and the searches of most labels have fewer.
const STEPS_PER_HALT_CHECK: usize = 64;

/// The judgement of a label that is not forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedLabel {
    /// The belief has moved on.
    Allowed,
    /// The specification does not mention this input: nothing after it can be wrong.
    Unspecified,
    /// No believed state allows it, but the belief is not complete: nothing is known from here on.
    Unknown,
}

/// The reason why a belief may lack states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostStates {
    /// There are more states than the limit, held here.
    States(usize),
    /// An update could not be computed.
    Update,
    /// There are more courses than the limit, held here.
    Courses(usize),
    /// An input must have been taken by now, but its instant does not allow it.
    Overdue,
    /// The search for states or courses was stopped.
    Stopped(Halted),
}

impl fmt::Display for LostStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(n) => write!(f, "the model may be in more than {n} states"),
            Self::Update => f.write_str("an update could not be computed"),
            Self::Courses(n) => write!(f, "the pending messages have more than {n} possible orders"),
            Self::Overdue => f.write_str("an input was pending for longer than the stated latency"),
            Self::Stopped(halted) => write!(f, "{halted} before all states of the model were found"),
        }
    }
}

/// Asks now and then whether a search is to stop. A short search never asks, so what it finds does not depend on the
/// time.
#[derive(Default)]
struct HaltCheck {
    /// The number of steps so far.
    steps: usize,
    halted: Option<Halted>,
}

impl HaltCheck {
    /// Counts a step; returns whether the search was stopped.
    fn is_halted(&mut self, cx: &Ctx<'_>) -> bool {
        self.steps += 1;
        if self.halted.is_none() && self.steps.is_multiple_of(STEPS_PER_HALT_CHECK) {
            self.halted = cx.halt_reason();
        }
        self.halted.is_some()
    }

    /// Returns what is missing because the search was stopped.
    fn stopped(&self) -> Option<LostStates> {
        self.halted.map(LostStates::Stopped)
    }
}

/// The identity of an input that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentId(u64);

/// The monitor of one model: keeps the states after the observed trace, and judges which labels are forbidden.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    /// The possible orders of events, those with the fewest waiting labels first; never empty.
    courses: Vec<EventCourse>,
    relation: ConformanceRelation,
    sent: u64,
    /// The reason why courses, or states of courses that were given up, are missing.
    lost: Option<LostStates>,
    /// True once a message was held back in some course, which may be gone since.
    has_crossed: bool,
    /// The connection of every message, if there are several connections.
    wiring: Option<Arc<ConnectionWiring>>,
    /// The items that were taken from the paths: they lie on every explanation.
    certain: BTreeSet<PathItem>,
}

impl Monitor {
    /// Makes a monitor in the initial states; instants are observed exactly.
    pub fn new(cx: &mut Ctx<'_>) -> Self {
        Self::with_tolerance(cx, Tolerance::default())
    }

    /// Makes a monitor in the initial states; instants are observed within `tolerance`.
    pub fn with_tolerance(cx: &mut Ctx<'_>, tolerance: Tolerance) -> Self {
        let courses = vec![EventCourse::new(CourseBelief::new(cx, tolerance))];
        let relation = ConformanceRelation::default();
        let certain = BTreeSet::new();
        Self { courses, relation, sent: 0, lost: None, has_crossed: false, wiring: None, certain }
    }

    /// Makes the monitor judge by `relation`.
    #[must_use]
    pub fn with_relation(self, relation: ConformanceRelation) -> Self {
        Self { relation, ..self }
    }

    /// Sets the connections by which messages arrive.
    #[must_use]
    pub fn with_wiring(self, wiring: Option<Arc<ConnectionWiring>>) -> Self {
        Self { wiring, ..self }
    }

    /// Returns the states to plan by: those after the observed trace on the course with the fewest waiting labels.
    #[must_use]
    pub fn belief(&self) -> &Belief {
        self.first_belief().belief()
    }

    /// Returns the number of states after the observed trace, over all courses; `None` if one allows everything.
    #[must_use]
    pub fn count_states(&self) -> Option<usize> {
        self.courses.iter().map(|course| course.state.belief().count_states()).sum()
    }

    /// Returns the number of inputs that may not have been taken yet.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.courses.iter().map(EventCourse::count_pending_inputs).max().unwrap_or(0)
    }

    /// Returns the number of orders of messages under way that explain the trace.
    #[must_use]
    pub fn count_orders(&self) -> usize {
        self.courses.len()
    }

    /// Returns whether messages may have been sent in another order than they were seen in: they come by several
    /// connections, or one was held back. Once true, it stays so: the specification may allow one order only, but who
    /// follows another system must not take that order for granted.
    #[must_use]
    pub fn is_crossed(&self) -> bool {
        self.wiring.is_some() || self.has_crossed
    }

    /// Returns whether every order holds a message back: only a message still to come can explain the trace.
    #[must_use]
    pub fn is_unexplained(&self) -> bool {
        self.courses.iter().all(EventCourse::has_held)
    }

    /// Returns the number of the label given or held last.
    #[must_use]
    pub fn last_label_number(&self) -> u64 {
        self.sent
    }

    /// Returns the number of questions that the solver left open.
    #[must_use]
    pub fn count_doubts(&self) -> usize {
        self.courses.iter().map(|course| course.state.count_doubts()).max().unwrap_or(0)
    }

    /// Returns the reason why the belief may lack states, if it may.
    #[must_use]
    pub fn lost_states(&self) -> Option<LostStates> {
        self.lost.or_else(|| self.courses.iter().find_map(|course| course.state.lost_states()))
    }

    /// Returns the seconds since the start, as observed; `None` if the model has no clocks.
    #[must_use]
    pub fn now(&self) -> Option<&Rational> {
        self.first_belief().as_timed().map(TimedCourse::now)
    }

    /// Returns a delay from now, in seconds, after which no guard changes any more by time alone: a tester that waited
    /// so long without a message has observed quiescence.
    pub fn time_horizon(&self, cx: &mut Ctx<'_>) -> Rational {
        // Without clocks nothing changes by time alone.
        self.first_belief().as_timed().map_or(Rational::ONE, |course| course.time_horizon(cx))
    }

    /// Returns whether the specification allows this label now, or mentions it if it is an input, on every course.
    pub fn accepts(&self, cx: &mut Ctx<'_>, label: &Label) -> bool {
        let relation = self.relation;
        self.courses.iter().all(|course| course.accepts(cx, label, relation))
    }

    /// Returns whether, on a course on which nothing is under way, the system had to speak before an input that is
    /// given now: what it sent may not have been seen yet, and if it sent nothing, that is soon forbidden.
    pub fn is_overdue(&self, cx: &mut Ctx<'_>) -> bool {
        let settled = self.courses.iter().filter(|course| course.is_settled());
        settled.filter_map(|course| course.state.as_timed()).any(|course| course.is_overdue(cx))
    }

    /// Moves on by one label that happened just now: an input is taken, an output was the next thing sent. If instants
    /// are observed within a tolerance, an input is only given now.
    ///
    /// # Errors
    /// If the specification forbids the label, with the reason for every state it may be in.
    /// The belief stays as it was.
    pub fn observe(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<AllowedLabel, Box<Forbidden>> {
        // The fast path: with one settled course and exact instants, an input given now is taken now.
        let is_certain =
            self.courses.len() == 1 && self.courses[0].is_settled() && self.first_belief().is_exact();
        match label {
            Label::Input(..) if timed::is_given(cx, label) && !is_certain => {
                let id = self.record_sent(cx, label, 0);
                if self.first_belief().is_exact() {
                    self.confirm_taken(id);
                }
                Ok(self.allowed_label())
            }
            Label::Input(..) | Label::Output(..) => self.observe_arrival(cx, label, Arrival::Direct),
            Label::Quiescence => {
                let observed = self.step_courses(cx, label, EventCourse::is_settled);
                observed.map_err(|refused| self.blame_label(cx, label, refused))
            }
            Label::Delay(by) => self.step_courses(cx, label, |course| !course.has_expired(by)),
        }
    }

    /// Moves every possible state to the location that `target` gives for its own. This is for those who unroll a
    /// specification and know from an observation that its copies have changed; the new locations must allow the same.
    pub fn relocate(&mut self, target: &dyn Fn(LocId) -> LocId) {
        self.courses.iter_mut().for_each(|course| course.state.relocate(target));
    }

    /// Records that an input was sent on `lane`. The instant at which the system takes it is open until it is confirmed
    /// or the system is silent.
    pub fn record_sent(&mut self, cx: &mut Ctx<'_>, label: &Label, lane: u32) -> SentId {
        let waiting = self.make_waiting(label, lane);
        let id = SentId(waiting.id);
        self.courses.iter_mut().for_each(|course| course.push(waiting.clone()));
        self.close_courses(cx);
        id
    }

    /// Records that an input has been taken, and with it every earlier input of its lane.
    pub fn confirm_taken(&mut self, id: SentId) {
        if self.courses.iter().all(|course| course.waits_for(id.0)) {
            // Nothing explains how it can have been taken: its instant does not allow it.
            self.lost = self.lost.or(Some(LostStates::Overdue));
            self.give_up_belief();
        }
        // Earlier inputs of the lane are taken with it: in no course does a label happen before those in front of it.
        self.courses.retain(|course| !course.waits_for(id.0));
        debug_assert!(!self.courses.is_empty(), "a monitor follows at least one course");
    }

    /// Drops the orders that still hold a message seen no later than `mark`: every message sent before it has arrived
    /// by now.
    ///
    /// # Errors
    /// If no order explains it.
    pub fn expire_held(&mut self, cx: &mut Ctx<'_>, mark: u64) -> Result<AllowedLabel, Box<Forbidden>> {
        if !self.courses.iter().all(|course| course.holds_since(mark)) {
            self.courses.retain(|course| !course.holds_since(mark));
            return Ok(AllowedLabel::Allowed);
        }
        let refused = self.first_refusal(cx);
        self.report_refusal(refused)
    }

    /// Closes the lanes that are `gone`: an input under way on them was taken, or is lost.
    pub fn close_lanes(&mut self, cx: &mut Ctx<'_>, gone: impl Fn(u32) -> bool) {
        // Both fates of an input under way are believed: the old courses take it, these lose it.
        let lossy: Vec<EventCourse> = self.courses.iter().map(|course| course.without_lanes(&gone)).collect();
        self.courses.extend(lossy);
        self.close_courses(cx);
    }

    /// Returns whether some course allows everything: nothing can be forbidden any more.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.courses.iter().any(|course| *course.state.belief() == Belief::Unspecified)
    }

    /// Moves on by a message that arrived by this route.
    ///
    /// # Errors
    /// As [`observe`](Self::observe).
    pub fn observe_arrival(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        arrival: Arrival,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        match arrival {
            Arrival::Direct => {
                let observed = self.step_courses(cx, label, EventCourse::is_timely);
                observed.map_err(|refused| self.blame_label(cx, label, refused))
            }
            Arrival::Answer { .. } => {
                let held = self.courses_holding(label, arrival, |_| true);
                let before = self.courses.clone();
                let may = |course: &EventCourse| course.is_timely() && course.may_happen_next(arrival);
                let observed = self.step_courses(cx, label, may);
                match (observed, held.is_empty()) {
                    (Ok(observed), true) => self.settle_orders(cx, before, observed),
                    (Err(refused), true) => Err(self.blame_label(cx, label, refused)),
                    (observed, false) => {
                        if observed.is_err() {
                            self.courses.clear();
                        }
                        self.courses.extend(held);
                        self.close_courses(cx);
                        Ok(observed.unwrap_or(AllowedLabel::Allowed))
                    }
                }
            }
            Arrival::Crossing(crossing) => self.observe_crossing(cx, label, crossing),
        }
    }

    /// Moves on by a message of one of several connections: it was sent next, or after one that another connection has
    /// not delivered yet.
    fn observe_crossing(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        crossing: Crossing,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        let Crossing { connection, lane, others, is_end, .. } = crossing;
        let arrival = Arrival::Crossing(crossing);
        let wiring = self.wiring.clone();
        // The message is held only where another connection may still deliver an earlier one; elsewhere it must
        // have been sent next, which `step_courses` checks below.
        let may_owe = |course: &EventCourse| {
            others > 0 || wiring.as_ref().is_none_or(|wiring| wiring.may_owe_message(cx, course, connection))
        };
        let holding = self.courses_holding(label, arrival, may_owe);
        let may = |course: &EventCourse| course.is_timely() && course.may_happen_next(arrival);
        let observed = self.step_courses(cx, label, may);
        let observed = match observed {
            Err(refused) if holding.is_empty() => return Err(self.blame_label(cx, label, refused)),
            Err(_) => {
                self.courses.clear();
                AllowedLabel::Allowed
            }
            Ok(observed) => observed,
        };
        self.courses.extend(holding);
        match (is_end, wiring) {
            // A closed connection takes no more inputs, so what is under way on its lanes was taken or is lost.
            (true, Some(wiring)) => self.close_lanes(cx, |lane| wiring.is_of(lane, connection)),
            (true, None) => self.close_lanes(cx, |other| other == lane),
            (false, _) => self.close_courses(cx),
        }
        Ok(observed)
    }

    /// Ends the orders that still hold a message, as nothing else is under way. If all do, the message is forbidden and
    /// the courses are reset to `before`.
    fn settle_orders(
        &mut self,
        cx: &mut Ctx<'_>,
        before: Vec<EventCourse>,
        observed: AllowedLabel,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        if !self.courses.iter().all(EventCourse::has_held) {
            self.courses.retain(|course| !course.has_held());
            return Ok(observed);
        }
        let refused = self.first_refusal(cx);
        self.courses = before;
        self.report_refusal(refused)
    }

    /// Reports that no course goes on; the judgement is [`AllowedLabel::Unknown`] if no reason is known.
    fn report_refusal(&mut self, refused: Option<Box<Forbidden>>) -> Result<AllowedLabel, Box<Forbidden>> {
        if refused.is_none() {
            self.lost = self.lost.or(Some(LostStates::Overdue));
        }
        self.or_unknown(refused.map_or(Ok(AllowedLabel::Unknown), Err))
    }

    /// Returns the states the specification may be in and the outputs they allow, with no refusals.
    pub fn expected_outputs(&self, cx: &mut Ctx<'_>) -> Forbidden {
        Forbidden {
            refusals: Vec::new(),
            courses: self.courses.len(),
            ..self.first_belief().expected_outputs(cx)
        }
    }

    /// Lets time pass up to a message, which is judged together with its instant.
    pub fn advance_time(&mut self, cx: &mut Ctx<'_>, by: &Rational) {
        for course in &mut self.courses {
            course.state.advance_time(cx, by);
        }
    }

    /// Returns the belief of the first course, which reports and plans use.
    fn first_belief(&self) -> &CourseBelief {
        &self.courses[0].state
    }

    /// Makes a waiting label with the next number and the current instant.
    fn make_waiting(&mut self, label: &Label, lane: u32) -> WaitingLabel {
        self.sent += 1;
        let given = self.now().cloned();
        WaitingLabel { id: self.sent, lane, label: label.clone(), is_held: false, given }
    }

    /// Returns the judgement of a label that some course allows.
    fn allowed_label(&self) -> AllowedLabel {
        match self.belief() {
            Belief::Unspecified => AllowedLabel::Unspecified,
            Belief::Concrete(_) | Belief::Symbolic(_) => AllowedLabel::Allowed,
        }
    }

    /// Moves every course that `may` go on by `label`, and drops the others.
    fn step_courses(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        may: impl Fn(&EventCourse) -> bool,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        // The usual case needs no copy of the belief: one course, nothing waits.
        if let [course] = &mut self.courses[..]
            && course.is_settled()
        {
            let observed = course.state.observe(cx, label, self.relation);
            return self.or_unknown(observed);
        }
        let mut survivors = Vec::new();
        let mut refused = None;
        for course in self.courses.iter().filter(|course| may(course)) {
            let mut next = course.clone();
            if next.state.try_observe(cx, label, self.relation) {
                survivors.push(next);
            } else {
                // What it lacks might have allowed it.
                self.lost = self.lost.or(next.state.lost_states());
                refused.get_or_insert(course);
            }
        }
        if !survivors.is_empty() {
            self.courses = survivors;
            self.close_courses(cx);
            return Ok(self.allowed_label());
        }
        let courses = self.courses.len();
        // Only now is a refusal a verdict, and worth an explanation.
        let refused = refused.and_then(|course| course.clone().state.observe(cx, label, self.relation).err());
        let refused = refused.map(|forbidden| Box::new(Forbidden { courses, ..*forbidden }));
        let refused = refused.or_else(|| self.first_refusal(cx));
        self.report_refusal(refused)
    }

    /// Replaces a refusal by [`AllowedLabel::Unknown`] if states or courses are missing.
    fn or_unknown(
        &mut self,
        observed: Result<AllowedLabel, Box<Forbidden>>,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        match (&observed, self.lost_states()) {
            (Ok(AllowedLabel::Allowed), _) | (_, None) => observed,
            (_, lost) => {
                self.lost = lost;
                self.give_up_belief();
                Ok(AllowedLabel::Unknown)
            }
        }
    }

    /// Gives up the belief: from now on everything is allowed.
    fn give_up_belief(&mut self) {
        // One course that allows everything stands for all; `courses` must not become empty.
        self.courses.truncate(1);
        self.courses.iter_mut().for_each(EventCourse::give_up_belief);
    }

    /// Returns the courses in which this message waits for one that was sent before it and may still come.
    fn courses_holding(
        &mut self,
        label: &Label,
        arrival: Arrival,
        mut may_owe: impl FnMut(&EventCourse) -> bool,
    ) -> Vec<EventCourse> {
        if !arrival.may_overtake() {
            return Vec::new();
        }
        let mut held = self.make_waiting(label, arrival.lane());
        held.is_held = true;
        let may_hold =
            |course: &&EventCourse| course.is_timely() && course.may_hold(arrival) && may_owe(course);
        let courses: Vec<EventCourse> =
            self.courses.iter().filter(may_hold).map(|course| course.with_waiting(held.clone())).collect();
        self.has_crossed |= !courses.is_empty();
        courses
    }

    /// Adds every course in which more of the waiting labels have happened.
    fn close_courses(&mut self, cx: &mut Ctx<'_>) {
        let relation = self.relation;
        let mut check = HaltCheck::default();
        let happen = |belief: &CourseBelief, label: &WaitingLabel| {
            // Without these courses the belief lacks some, which is reported below.
            if check.is_halted(cx) { None } else { take_waiting(cx, belief, label, relation) }
        };
        let closed =
            close_orders(std::mem::take(&mut self.courses), MAX_COURSES, happen, CourseBelief::join_paths);
        self.lost = self.lost.or(check.stopped());
        if !closed.is_all {
            self.lost = self.lost.or(Some(LostStates::Courses(MAX_COURSES)));
        }
        self.courses = closed.orders;
        // Reports and plans use the first course: the one that leaves the least open.
        self.courses.sort_by_key(EventCourse::count_waiting);
        debug_assert!(!self.courses.is_empty(), "a monitor follows at least one course");
    }
}
