//! The replay of a plan: the inputs of a recorded trace, with a look for every observation.

use std::collections::BTreeSet;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::{Ctx, Monitor};

use super::instant::nanoseconds;
use super::{Tester, TesterMove, TesterStop};

/// One move of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlannedMove {
    /// Give this input.
    Send(Label),
    /// Give this input so many seconds after the last message.
    SendAfter(Rational, Label),
    /// Observe the system.
    Look,
    /// Observe the system for so many seconds.
    LookFor(Rational),
}

/// The treatment of a planned input that the specification does not mention at its turn.
///
/// It occurs if the system answers otherwise than when the plan was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmentioned {
    /// Leave it out and go on.
    Skip,
    /// End the run: the plan no longer fits.
    Stop,
}

/// Returns the moves that made `trace`.
#[must_use]
pub fn plan_of(sts: &Sts, trace: &Trace) -> Vec<PlannedMove> {
    let mut plan = Vec::new();
    let mut waited: Option<Rational> = None;
    for label in &trace.labels {
        let is_ours = |gate: GateId| sts.gates[gate].kind == GateKind::Input;
        match (label, &waited) {
            (Label::Delay(time), before) => {
                waited = Some(before.as_ref().map_or_else(|| time.clone(), |before| before + time));
                continue;
            }
            (Label::Input(gate, _), None) if is_ours(*gate) => plan.push(PlannedMove::Send(label.clone())),
            (Label::Input(gate, _), Some(waited)) if is_ours(*gate) => {
                plan.push(PlannedMove::SendAfter(waited.clone(), label.clone()));
            }
            (Label::Input(..) | Label::Output(..) | Label::Quiescence, _) => plan.push(PlannedMove::Look),
        }
        waited = None;
    }
    plan.extend(waited.map(PlannedMove::LookFor));
    // What happened after the last label is seen only by whoever looks.
    let ends_in_input = matches!(trace.labels.last(), Some(Label::Input(gate, _)) if sts.gates[*gate].kind == GateKind::Input);
    if trace.breakdown.is_some() || ends_in_input {
        plan.push(PlannedMove::Look);
    }
    plan
}

/// A tester that makes the moves of a plan, one after the other.
#[derive(Clone, Debug)]
pub struct ReplayTester {
    plan: Vec<PlannedMove>,
    at: usize,
    /// The positions of looks whose observation came early in this run, before an input.
    seen: BTreeSet<usize>,
    /// The length of the trace when the last input was given, before which the system may have sent an output.
    given: Option<usize>,
    unmentioned: Unmentioned,
    name: Option<String>,
}

impl ReplayTester {
    /// Makes a tester that follows `plan`.
    #[must_use]
    pub fn new(plan: Vec<PlannedMove>, unmentioned: Unmentioned) -> Self {
        Self { plan, at: 0, seen: BTreeSet::new(), given: None, unmentioned, name: None }
    }

    /// Names the tester for the goal of its runs.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }
}

impl Tester for ReplayTester {
    fn start(&mut self, _seed: u64) {
        (self.at, self.given) = (0, None);
        self.seen.clear();
    }

    fn goal(&self) -> Option<String> {
        self.name.clone()
    }

    fn next(&mut self, cx: &mut Ctx<'_>, after: &Monitor, history: &Trace) -> TesterMove {
        self.give_again(history);
        while let Some(planned) = self.plan.get(self.at) {
            self.at += 1;
            match planned {
                PlannedMove::Look if self.seen.contains(&(self.at - 1)) => (),
                PlannedMove::Look => return TesterMove::Observe,
                PlannedMove::LookFor(time) => return TesterMove::ObserveFor(nanoseconds(time)),
                PlannedMove::SendAfter(wait, label) => {
                    return TesterMove::StimulateAfter(wait.clone(), label.clone());
                }
                PlannedMove::Send(label) if after.accepts(cx, label) => {
                    self.given = Some(history.len());
                    return TesterMove::Stimulate(label.clone());
                }
                // What is under way is settled first.
                PlannedMove::Send(_) if after.under_way() > 0 => {
                    self.at -= 1;
                    return TesterMove::Observe;
                }
                PlannedMove::Send(_) if self.unmentioned == Unmentioned::Skip => (),
                PlannedMove::Send(label) => {
                    let text = format!("{} is not possible here this time", label.show(cx.pool, cx.sts));
                    return TesterMove::Stop(TesterStop::GoalMissed(text));
                }
            }
        }
        TesterMove::Stop(TesterStop::GoalMet("the plan was carried out".into()))
    }
}

impl ReplayTester {
    /// Repeats an input that an output of the system preceded, so that it was not given; the observation need not be
    /// looked for later.
    fn give_again(&mut self, history: &Trace) {
        let Some(before) = self.given.take() else { return };
        let Some(PlannedMove::Send(label)) = self.plan.get(self.at - 1) else { return };
        if history.len() > before && !history.labels[before..].contains(label) {
            self.at -= 1;
            let is_due = |at: &usize| self.plan[*at] == PlannedMove::Look && !self.seen.contains(at);
            let next_look = (self.at..self.plan.len()).find(is_due);
            self.seen.extend(next_look);
        }
    }
}
