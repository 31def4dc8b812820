//! The message to blame when no order explains the trace.
//!
//! Messages of several connections cross, so a message that fits nowhere is held until one that was sent before it
//! arrives. If that never happens, the label seen last is often innocent: a right answer on another connection, an
//! input, silence. To blame is the first label after which no continuation of the trace is allowed: a held message if
//! nothing that is still under way can make room for it, else the label that ended its last chance.
//!
//! *Promises.* Only the choice among the labels of a forbidden trace is made here, never a verdict.

use ioxide_model::label::Label;
use ioxide_model::sts::GateKind;

use super::belief::{Belief, CourseBelief};
use super::course::{EventCourse, take_waiting};
use super::{Forbidden, Monitor};
use crate::cx::Ctx;
use crate::orders::{WaitingLabel, close_orders};
use crate::state::SymState;
use crate::step::{SwitchStep, take_switch};

/// The number of outputs still under way that are tried in front of a held message; chosen by feel: a connection
/// rarely owes more than one.
const MAX_OUTPUTS: usize = 4;
/// The number of courses, and of states of one, that are tried; beyond it the question is left open. Chosen by feel:
/// it only decides which label is named as the wrong one, never whether there is one.
const MAX_TRIED: usize = 200;

impl Monitor {
    /// Returns the refusal of the label to blame, given that of `label`, with which the trace ended. The courses are
    /// those before `label`.
    pub(super) fn blame_label(
        &self,
        cx: &mut Ctx<'_>,
        label: &Label,
        refused: Box<Forbidden>,
    ) -> Box<Forbidden> {
        if !self.is_unexplained() {
            return refused;
        }
        let Some((course, held)) = self.first_unexplained() else { return refused };
        let instead = match (label, refused.held) {
            // A message that nothing explains, whatever comes, was wrong when it came.
            (Label::Input(..) | Label::Output(..), None)
                if self.has_prospect(cx, course, held) == Some(false) =>
            {
                course.first_refusal(cx, self.relation)
            }
            // One that is missing would have explained it.
            (Label::Quiescence, Some(_)) if self.has_prospect(cx, course, held) == Some(true) => {
                course.state.clone().observe(cx, label, self.relation).err()
            }
            _ => None,
        };
        let courses = refused.courses;
        instead.map_or(refused, |instead| Box::new(Forbidden { courses, ..*instead }))
    }

    /// Returns the refusal of the first message that is not explained; `None` if no course holds one.
    pub(super) fn first_refusal(&self, cx: &mut Ctx<'_>) -> Option<Box<Forbidden>> {
        let (course, _) = self.first_unexplained()?;
        let refused = course.first_refusal(cx, self.relation);
        refused.map(|refused| Box::new(Forbidden { courses: self.courses.len(), ..*refused }))
    }

    /// Returns the course that explains the most messages, and the first one that it does not explain. Of several such
    /// courses it is the one that explains the trace the longest.
    fn first_unexplained(&self) -> Option<(&EventCourse, &WaitingLabel)> {
        let holding = self.courses.iter().filter_map(|course| Some((course, course.first_held()?)));
        holding.min_by_key(|(course, held)| (course.count_held(), std::cmp::Reverse(held.id)))
    }

    /// Returns whether outputs that may still be under way could make room for `held`; `None` if that is not decided.
    fn has_prospect(&self, cx: &mut Ctx<'_>, course: &EventCourse, held: &WaitingLabel) -> Option<bool> {
        if cx.sts.is_timed() {
            return None;
        }
        let doubts = course.state.count_doubts();
        let mut courses = vec![course.clone()];
        // Breadth first over the outputs that may still come: after each of them, does the held message fit?
        for _ in 0..=MAX_OUTPUTS {
            courses = self.with_waiting_taken(cx, courses)?;
            if courses
                .iter()
                .any(|course| course.state.count_doubts() > doubts || course.state.lost_states().is_some())
            {
                return None;
            }
            if courses.iter().any(|course| !course.waits_for(held.id)) {
                return Some(true);
            }
            let mut next = Vec::new();
            for course in &courses {
                next.extend(self.after_one_more(cx, course)?);
            }
            if next.is_empty() {
                return Some(false);
            }
            courses = next;
        }
        None
    }

    /// Returns the courses in which any number of the waiting labels have happened; `None` if there are too many.
    fn with_waiting_taken(&self, cx: &mut Ctx<'_>, courses: Vec<EventCourse>) -> Option<Vec<EventCourse>> {
        let happen =
            |belief: &CourseBelief, label: &WaitingLabel| take_waiting(cx, belief, label, self.relation);
        // Where paths matter is the monitor, not this look ahead.
        let closed = close_orders(courses, MAX_TRIED, happen, |_, _| false);
        closed.is_all.then_some(closed.orders)
    }

    /// Returns the courses after one output, of any value, that may come by a connection on which nothing is held;
    /// `None` if there are too many states, or the solver leaves one open.
    fn after_one_more(&self, cx: &mut Ctx<'_>, course: &EventCourse) -> Option<Vec<EventCourse>> {
        let sts = cx.sts;
        let states = symbolic_states(cx, course.state.belief())?;
        let mut next: Vec<EventCourse> = Vec::new();
        for state in states.iter().take(MAX_TRIED) {
            for (id, switch) in sts.switches_from(state.loc) {
                let is_seen = matches!(sts.kind_of(switch), GateKind::Output | GateKind::Observed);
                if !is_seen || self.wiring.as_ref().is_some_and(|wiring| !wiring.is_free(id, course)) {
                    continue;
                }
                match take_switch(cx, state, id) {
                    SwitchStep::Taken(after) => next.extend(course.with_state(cx, after)),
                    SwitchStep::Refuted => (),
                    SwitchStep::Doubtful(..) => return None,
                }
            }
        }
        // "No room" must rest on all of them; with some left out the answer is "not decided".
        (states.len() <= MAX_TRIED && next.len() <= MAX_TRIED).then_some(next)
    }
}

/// Returns the states of a belief in symbolic form; `None` if everything is allowed or a value is missing.
fn symbolic_states(cx: &mut Ctx<'_>, belief: &Belief) -> Option<Vec<SymState>> {
    match belief {
        Belief::Unspecified => None,
        Belief::Concrete(states) => states.iter().map(|state| SymState::from_concrete(cx, state)).collect(),
        Belief::Symbolic(states) => Some(states.clone()),
    }
}
