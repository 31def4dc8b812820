//! The specification unrolled along a path, and a monitor over it.
//!
//! Runs that have not come to the location where the path starts are in copies of the locations;
//! from there the path has a location for each of its switches. A switch that is not the path's next one
//! leads to `left`, the last one to `end`. Where the path has silence as a step, every switch leads to `left`, and
//! a run goes on when silence is observed. So the unrolled system does what the specification does as long as a
//! run is on the path, and its belief says where on the path the specification may be.

use ioxide_model::goal::PathStep;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, Switch, Switches};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{AllowedLabel, Belief, Ctx, Monitor, Tolerance};

use super::any_sat;

/// The positions on a path at which the specification may be.
#[derive(Clone, Debug)]
pub(super) struct PathWatch {
    unrolled: UnrolledPath,
    monitor: Monitor,
    /// The time that has passed since the last label other than a delay; the next one decides whether it was silence.
    pending: Rational,
    has_left: bool,
}

impl PathWatch {
    /// Returns a watch that has seen nothing yet.
    pub(super) fn new(cx: &mut Ctx<'_>, path: &[PathStep], tolerance: Tolerance) -> Self {
        let unrolled = UnrolledPath::new(cx.sts, path);
        let monitor = Monitor::with_tolerance(&mut cx.with_system(&unrolled.sts), tolerance);
        Self { unrolled, monitor, pending: Rational::ZERO, has_left: false }
    }

    /// Moves on by one label.
    pub(super) fn advance(&mut self, cx: &mut Ctx<'_>, label: &Label) {
        if let Label::Delay(time) = label {
            self.pending = &self.pending + time;
            self.notice_silence(cx);
            return;
        }
        let mut cx = cx.with_system(&self.unrolled.sts);
        let waited = std::mem::replace(&mut self.pending, Rational::ZERO);
        if !waited.is_zero() {
            if is_seen(cx.sts, label) {
                self.monitor.advance_time(&mut cx, &waited)
            } else {
                self.has_left |= self.monitor.observe(&mut cx, &Label::Delay(waited)).is_err()
            }
        }
        // An input that no state on the path takes, and a label that none allows, end every run on it.
        self.has_left |= !matches!(self.monitor.observe(&mut cx, label), Ok(AllowedLabel::Allowed));
        if *label == Label::Quiescence {
            self.pass_silences();
        }
    }

    /// Takes a delay as silence if the path has silences and nothing changes by time alone any more.
    fn notice_silence(&mut self, cx: &mut Ctx<'_>) {
        if self.unrolled.silences.is_empty() {
            return;
        }
        let mut cx = cx.with_system(&self.unrolled.sts);
        if self.pending < self.monitor.time_horizon(&mut cx) {
            return;
        }
        let waited = std::mem::replace(&mut self.pending, Rational::ZERO);
        self.has_left |= self.monitor.observe(&mut cx, &Label::Delay(waited)).is_err();
        if self.monitor.observe(&mut cx, &Label::Quiescence).is_ok() {
            self.pass_silences();
        }
    }

    /// Moves the runs that wait for silence on: it was observed.
    fn pass_silences(&mut self) {
        let silences = &self.unrolled.silences;
        let after =
            |loc: LocId| silences.iter().find(|(before, _)| *before == loc).map_or(loc, |&(_, next)| next);
        self.monitor.relocate(&after);
    }

    /// Returns the state of the watch: the monitor, the pending time, and whether the path was left.
    pub(super) fn watch_state(&self) -> (&Monitor, &Rational, bool) {
        (&self.monitor, &self.pending, self.has_left)
    }

    /// Returns whether no run of the specification with this trace is on the path.
    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    /// Returns whether some run has not left the path; `None` if that is not known.
    pub(super) fn is_on(&self, cx: &mut Ctx<'_>) -> Option<bool> {
        let left = self.unrolled.left;
        self.may_be(cx, |loc| loc != left)
    }

    /// Returns whether some run has come to the end of the path; false if that is not known.
    pub(super) fn is_at_end(&self, cx: &mut Ctx<'_>) -> bool {
        let end = self.unrolled.end;
        self.may_be(cx, |loc| loc == end) == Some(true)
    }

    fn may_be(&self, cx: &mut Ctx<'_>, is_wanted: impl Fn(LocId) -> bool) -> Option<bool> {
        let found = match self.monitor.belief() {
            Belief::Concrete(states) => Some(states.iter().any(|state| is_wanted(state.loc))),
            Belief::Symbolic(states) => {
                let wanted = states.iter().filter(|state| is_wanted(state.loc));
                any_sat(
                    wanted
                        .map(|state| cx.decide(state.path.facts()))
                        .collect::<Vec<SolverDecision>>()
                        .into_iter(),
                )
            }
            Belief::Unspecified => Some(false),
        };
        // Where internal steps were cut, a state on the path may be lacking.
        found.filter(|&found| found || self.monitor.lost_states().is_none())
    }
}

/// Returns whether `label` is a message that the tester did not send: an output, or an observed input.
fn is_seen(sts: &Sts, label: &Label) -> bool {
    match label {
        Label::Output(..) => true,
        Label::Input(gate, _) => sts.gates[*gate].kind == GateKind::Observed,
        Label::Quiescence | Label::Delay(_) => false,
    }
}

#[derive(Clone, Debug)]
struct UnrolledPath {
    sts: Sts,
    /// The location of runs that have left the path.
    left: LocId,
    /// The location of runs that have followed the path to its end.
    end: LocId,
    /// The locations of runs that wait for silence, each with the location after it.
    silences: Vec<(LocId, LocId)>,
}

impl UnrolledPath {
    /// Copies `model` and adds one location for each position on `path`: switches that leave the path lead to `left`,
    /// its last one leads to `end`.
    fn new(model: &Sts, path: &[PathStep]) -> Self {
        let mut sts = Sts { switches: Switches::default(), goals: Vec::new(), ..model.clone() };
        let spare = model.locations[model.initial].clone();
        let first = sts.locations.push(spare.clone());
        let place = |position: usize| LocId::new(first.index() + position);
        (1..path.len()).for_each(|_| _ = sts.locations.push(spare.clone()));
        let (left, end) = (sts.locations.push(spare.clone()), sts.locations.push(spare));
        // Silence does not move, so a path begins where its first switch does.
        let start = path.iter().find_map(|step| step.switch()).map(|id| model.switches[id].source);
        let before = |loc: LocId| if Some(loc) == start { place(0) } else { loc };
        for switch in model.switches.iter().filter(|switch| Some(switch.source) != start) {
            let target = before(switch.target);
            sts.switches.push(Switch { target, ..switch.clone() });
        }
        let mut silences = Vec::new();
        let mut here = start;
        for (position, &step) in path.iter().enumerate() {
            let Some(loc) = here else { break };
            let source = place(position);
            let next = if position + 1 == path.len() { end } else { place(position + 1) };
            for (id, switch) in model.switches_from(loc) {
                let target = if step == PathStep::Take(id) { next } else { left };
                sts.switches.push(Switch { source, target, ..switch.clone() });
            }
            match step {
                PathStep::Take(id) => here = Some(model.switches[id].target),
                PathStep::Quiet => silences.push((source, next)),
            }
        }
        sts.initial = if path.is_empty() { end } else { before(model.initial) };
        Self { sts, left, end, silences }
    }
}
