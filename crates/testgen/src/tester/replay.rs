//! Replays a plan: the inputs of a recorded trace, with a look wherever something was seen.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::{After, Ctx};

use super::instant::nanoseconds;
use super::{Move, Stop, Tester};

/// One move of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Give this input.
    Send(Label),
    /// Give this input so many seconds after the last message.
    SendAfter(Rational, Label),
    /// Look what happens.
    Look,
    /// Look what happens for so many seconds.
    LookFor(Rational),
}

/// What to do with a planned input the specification does not mention at its turn.
///
/// It happens when the system answers otherwise than it did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmentioned {
    /// Leave it out and go on.
    Skip,
    /// End the run: the plan no longer fits.
    Stop,
}

/// The moves that made `trace`.
#[must_use]
pub fn plan_of(sts: &Sts, trace: &Trace) -> Vec<Planned> {
    let mut plan = Vec::new();
    let mut waited: Option<Rational> = None;
    for label in &trace.labels {
        let is_ours = |gate: GateId| sts.gates[gate].kind == GateKind::Input;
        match (label, &waited) {
            (Label::Delay(time), before) => {
                waited = Some(before.as_ref().map_or_else(|| time.clone(), |before| before.add(time)));
                continue;
            }
            (Label::Input(gate, _), None) if is_ours(*gate) => plan.push(Planned::Send(label.clone())),
            (Label::Input(gate, _), Some(waited)) if is_ours(*gate) => {
                plan.push(Planned::SendAfter(waited.clone(), label.clone()));
            }
            (Label::Input(..) | Label::Output(..) | Label::Quiescence, _) => plan.push(Planned::Look),
        }
        waited = None;
    }
    plan.extend(waited.map(Planned::LookFor));
    plan
}

/// Makes the moves of a plan, one after the other.
#[derive(Clone, Debug)]
pub struct Replay {
    plan: Vec<Planned>,
    at: usize,
    unmentioned: Unmentioned,
    name: Option<String>,
}

impl Replay {
    /// A tester that follows `plan`.
    #[must_use]
    pub fn new(plan: Vec<Planned>, unmentioned: Unmentioned) -> Self {
        Self { plan, at: 0, unmentioned, name: None }
    }

    /// The same tester, its runs told by this name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }
}

impl Tester for Replay {
    fn start(&mut self, _seed: u64) {
        self.at = 0;
    }

    fn goal(&self) -> Option<String> {
        self.name.clone()
    }

    fn next(&mut self, cx: &mut Ctx<'_>, after: &After, _history: &Trace) -> Move {
        while let Some(planned) = self.plan.get(self.at) {
            self.at += 1;
            match planned {
                Planned::Look => return Move::Observe,
                Planned::LookFor(time) => return Move::ObserveFor(nanoseconds(time)),
                Planned::SendAfter(wait, label) => return Move::StimulateAfter(wait.clone(), label.clone()),
                Planned::Send(label) if after.accepts(cx, label) => return Move::Stimulate(label.clone()),
                Planned::Send(_) if self.unmentioned == Unmentioned::Skip => (),
                Planned::Send(label) => {
                    let text = format!("{} is not possible here this time", label.show(cx.pool, cx.sts));
                    return Move::Stop(Stop::GoalMissed(text));
                }
            }
        }
        Move::Stop(Stop::GoalMet("the plan was carried out".into()))
    }
}
