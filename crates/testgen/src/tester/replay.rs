//! The replay of a plan: the inputs of a recorded trace, with a look for every observation.
//!
//! An input whose value came from the system is planned with a [`ReplyReference`] to the reply that gave it, and gets
//! the value that this reply has in the new run: another UUID, another number.

mod flow;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, Monitor};

pub use self::flow::{FieldId, FlowKind, ReplyFlow};
pub use self::reference::{
    ReplyId, ReplyOrder, ReplyPart, ReplyReference, ValuePath, bind_references, is_same_by_meaning, leaf_at,
    leaves_of, with_leaf, without_delays,
};

use self::reference::{GivenInputs, ReferenceFinder, repoint};
use super::instant::nanoseconds;
use super::{Tester, TesterMove, TesterStop};

/// The number of looks for a reply that an input needs; chosen by feel.
const MAX_LOOKS_FOR_REPLY: u32 = 2;
/// The number of looks after the plan while the system still has to say something; chosen by feel.
const MAX_LAST_LOOKS: u32 = 8;

/// One move of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlannedMove {
    /// Give this input.
    Send(PlannedInput),
    /// Give this input this many seconds after the last message.
    SendAfter(Rational, PlannedInput),
    /// Observe the system.
    Observe,
    /// Observe the system for this many seconds.
    ObserveFor(Rational),
}

/// An input of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlannedInput {
    /// The message; where a reference stands, with the value of the run that the plan was made from.
    pub label: Label,
    /// The number of the input in the run that the plan was made from: what references to the replies after it name.
    pub number: usize,
    /// The values that come from replies, in the order of their places.
    pub references: Vec<ReplyReference>,
}

impl PlannedInput {
    /// Returns whether this field, or a part of it, comes from a reply.
    #[must_use]
    pub fn is_bound(&self, field: usize) -> bool {
        self.references.iter().any(|reference| reference.place[0] == field)
    }
}

impl From<Label> for PlannedInput {
    /// An input with literal values, the first one of its plan.
    fn from(label: Label) -> Self {
        Self { label, number: 0, references: Vec::new() }
    }
}

impl PlannedMove {
    /// Returns the input that the move gives; `None` for a look.
    #[must_use]
    pub fn input(&self) -> Option<&PlannedInput> {
        match self {
            Self::Send(input) | Self::SendAfter(_, input) => Some(input),
            Self::Observe | Self::ObserveFor(_) => None,
        }
    }

    /// Returns the input that the move gives, to change it; `None` for a look.
    #[must_use]
    pub fn input_mut(&mut self) -> Option<&mut PlannedInput> {
        match self {
            Self::Send(input) | Self::SendAfter(_, input) => Some(input),
            Self::Observe | Self::ObserveFor(_) => None,
        }
    }
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

/// Returns the moves that made `trace`, all values of inputs being literals.
#[must_use]
pub fn plan_of(sts: &Sts, trace: &Trace) -> Vec<PlannedMove> {
    plan_with(sts, trace, None)
}

/// Returns the moves that made `trace`; values of inputs that came from the system are references.
#[must_use]
pub fn plan_by_meaning(flow: &ReplyFlow, sts: &Sts, trace: &Trace) -> Vec<PlannedMove> {
    plan_with(sts, trace, Some(ReferenceFinder::new(flow)))
}

fn plan_with(sts: &Sts, trace: &Trace, mut finder: Option<ReferenceFinder<'_>>) -> Vec<PlannedMove> {
    let mut plan = Vec::new();
    let mut waited: Option<Rational> = None;
    let mut number = 0;
    for (step, label) in trace.labels.iter().enumerate() {
        let is_ours = |gate: GateId| sts.gates[gate].kind == GateKind::Input;
        match label {
            Label::Delay(time) => {
                // Several delays in a row are one wait: nothing was given or observed between them.
                waited = Some(waited.as_ref().map_or_else(|| time.clone(), |before| before + time));
                continue;
            }
            Label::Input(gate, values) if is_ours(*gate) => {
                let references = finder.as_mut().map_or_else(Vec::new, |finder| finder.input(*gate, values));
                let input = PlannedInput { label: label.clone(), number, references };
                number += 1;
                plan.push(match waited.take() {
                    None => PlannedMove::Send(input),
                    Some(waited) => PlannedMove::SendAfter(waited, input),
                });
            }
            // An observed input is sent by somebody else: the plan can only look for it.
            Label::Input(gate, values) | Label::Output(gate, values) => {
                if let Some(finder) = &mut finder {
                    finder.reply(*gate, values, step);
                }
                plan.push(PlannedMove::Observe);
            }
            Label::Quiescence => plan.push(PlannedMove::Observe),
        }
        waited = None;
    }
    plan.extend(waited.map(PlannedMove::ObserveFor));
    // The effect of the last label shows only if the system is observed.
    let ends_in_input = match trace.labels.last() {
        Some(Label::Input(gate, _)) => sts.gates[*gate].kind == GateKind::Input,
        _ => false,
    };
    if trace.breakdown.is_some() || ends_in_input {
        plan.push(PlannedMove::Observe);
    }
    plan
}

/// Returns the plan with references for those to replies that it does not lead to any more: another reply with the same
/// value, else the last one of the same kind before, else the last one that the model compares with the same field,
/// else none. `trace` is the run that the plan was made from; inputs may have another order than there.
#[must_use]
pub fn without_lost_references(
    flow: &ReplyFlow,
    sts: &Sts,
    trace: &Trace,
    mut plan: Vec<PlannedMove>,
) -> Vec<PlannedMove> {
    let is_lost_in =
        |given: &BTreeSet<usize>, of: &ReplyId| of.after.is_some_and(|number| !given.contains(&number));
    let mut given = BTreeSet::new();
    let has_lost = plan.iter().filter_map(PlannedMove::input).any(|input| {
        let has_lost = input.references.iter().any(|reference| is_lost_in(&given, &reference.reply));
        given.insert(input.number);
        has_lost
    });
    if !has_lost {
        return plan;
    }
    let finder = ReferenceFinder::of_trace(flow, sts, trace);
    // From here on the inputs are walked through in the order of the plan, so that `given` holds those before the
    // current one: a reply to a later input is as lost as one to an input that is gone.
    let mut renamed = BTreeMap::new();
    let mut given = BTreeSet::new();
    for input in plan.iter_mut().filter_map(PlannedMove::input_mut) {
        let PlannedInput { label, number, references } = input;
        let is_lost = |of: &ReplyId| is_lost_in(&given, of);
        references.retain_mut(|reference| {
            !is_lost(&reference.reply) || repoint(&finder, reference, label, &is_lost, &mut renamed)
        });
        given.insert(*number);
    }
    plan
}

/// Returns the plan with integers as distances from the latest reply before them that the model compares them with and
/// that is near: the revision before the current one rather than the revision that was read first. `None` if that
/// changes nothing; `trace` is the run that the plan was made from.
#[must_use]
pub fn with_distances(
    flow: &ReplyFlow,
    sts: &Sts,
    trace: &Trace,
    plan: &[PlannedMove],
) -> Option<Vec<PlannedMove>> {
    let finder = ReferenceFinder::of_trace(flow, sts, trace);
    let mut plan = plan.to_vec();
    let mut is_changed = false;
    for input in plan.iter_mut().filter_map(PlannedMove::input_mut) {
        let PlannedInput { label: Label::Input(gate, values), number, references } = input else { continue };
        for reference in finder.distances(*gate, values, *number) {
            let place = references.iter().position(|known| known.place == reference.place);
            match place {
                Some(at) if references[at] == reference => continue,
                Some(at) => references[at] = reference,
                None => references.push(reference),
            }
            is_changed = true;
        }
        // `bind_references` replaces parts of texts from the last to the first and relies on this order.
        references.sort_by(|a, b| a.place.cmp(&b.place));
    }
    is_changed.then_some(plan)
}

/// Returns the inputs of `trace` that have values from replies, with their positions.
#[must_use]
pub fn references_in(flow: &ReplyFlow, sts: &Sts, trace: &Trace) -> Vec<(usize, PlannedInput)> {
    let is_ours =
        |label: &Label| matches!(label, Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Input);
    let steps = trace.labels.iter().enumerate().filter(|(_, label)| is_ours(label)).map(|(step, _)| step);
    let plan = plan_by_meaning(flow, sts, trace);
    let inputs = plan.into_iter().filter_map(|planned| planned.input().cloned());
    steps.zip(inputs).filter(|(_, input)| !input.references.is_empty()).collect()
}

/// Returns the values of a message that is expected after `trace`, its fields being `values`, that came from replies.
#[must_use]
pub fn references_in_expected(
    flow: &ReplyFlow,
    sts: &Sts,
    trace: &Trace,
    gate: GateId,
    values: &[Value],
) -> Vec<ReplyReference> {
    let mut finder = ReferenceFinder::of_trace(flow, sts, trace);
    finder.input(gate, values)
}

/// An input that was given.
#[derive(Clone, Debug)]
struct Given {
    /// The length of the trace at that time.
    before: usize,
    label: Label,
}

/// A tester that makes the moves of a plan, one after the other.
#[derive(Clone, Debug)]
pub struct ReplayTester {
    plan: Vec<PlannedMove>,
    at: usize,
    /// The positions of looks whose observation came early in this run, before an input.
    seen: BTreeSet<usize>,
    /// The last input that was given, before which the system may have sent an output.
    given: Option<Given>,
    /// The position of an input whose reply is awaited, and the number of looks for it.
    awaited: (usize, u32),
    /// The number of looks that were made after the plan.
    last_looks: u32,
    /// True if the last input of the plan was left out in this run: what it led to does not come.
    is_left_out: bool,
    /// True if the system was looked at since the last input that was given.
    has_looked: bool,
    /// The positions in the trace at which the inputs were given.
    inputs: GivenInputs,
    unmentioned: Unmentioned,
    name: Option<String>,
}

impl ReplayTester {
    /// Makes a tester that follows `plan`.
    #[must_use]
    pub fn new(plan: Vec<PlannedMove>, unmentioned: Unmentioned) -> Self {
        Self {
            plan,
            at: 0,
            seen: BTreeSet::new(),
            given: None,
            awaited: (0, 0),
            last_looks: 0,
            is_left_out: false,
            has_looked: true,
            inputs: GivenInputs::new(),
            unmentioned,
            name: None,
        }
    }

    /// Names the tester for the goal of its runs.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }
}

impl Tester for ReplayTester {
    fn start(&mut self, _seed: u64) {
        (self.at, self.given, self.awaited, self.last_looks) = (0, None, (0, 0), 0);
        (self.is_left_out, self.has_looked) = (false, true);
        self.seen.clear();
        self.inputs.clear();
    }

    fn goal(&self) -> Option<String> {
        self.name.clone()
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.give_again(trace);
        while let Some(planned) = self.plan.get(self.at) {
            self.at += 1;
            let (wait, input) = match planned {
                PlannedMove::Observe if self.seen.contains(&(self.at - 1)) => continue,
                PlannedMove::Observe if self.is_needless_look(cx, monitor) => continue,
                PlannedMove::Observe => {
                    self.has_looked = true;
                    return TesterMove::Observe;
                }
                PlannedMove::ObserveFor(time) => return TesterMove::ObserveFor(nanoseconds(time)),
                PlannedMove::SendAfter(wait, input) => (Some(wait.clone()), input.clone()),
                PlannedMove::Send(input) => (None, input.clone()),
            };
            match self.give(cx, monitor, trace, wait, &input) {
                Ok(planned) => return planned,
                Err(why) if self.unmentioned == Unmentioned::Stop => {
                    return TesterMove::Stop(TesterStop::Inconclusive(why));
                }
                Err(_) => self.is_left_out = true,
            }
        }
        // What came in another order than when the plan was recorded may still be to come.
        if self.last_looks < MAX_LAST_LOOKS && is_output_due(cx, monitor) {
            self.last_looks += 1;
            return TesterMove::Observe;
        }
        TesterMove::Stop(TesterStop::GoalMet("the plan was carried out".into()))
    }
}

/// Returns whether the specification does not allow the system to be silent now; false in timed models, where deadlines
/// say so.
fn is_output_due(cx: &mut Ctx<'_>, monitor: &Monitor) -> bool {
    !cx.sts.is_timed() && monitor.clone().observe(cx, &Label::Quiescence).is_err()
}

impl ReplayTester {
    /// Returns the move that gives an input of the plan, or a look if something must come before it; an error says why
    /// the input cannot be given.
    fn give(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
        wait: Option<Rational>,
        input: &PlannedInput,
    ) -> Result<TesterMove, String> {
        // The references are bound before the specification is asked: whether an input is accepted depends on its
        // values.
        match (wait, self.bind(cx, trace, input)) {
            (Some(wait), Some(label)) => {
                self.note_given(input, trace);
                Ok(TesterMove::StimulateAfter(wait, label))
            }
            (None, Some(label)) if monitor.accepts(cx, &label) => {
                self.note_given(input, trace);
                self.given = Some(Given { before: trace.len(), label: label.clone() });
                Ok(TesterMove::Stimulate(label))
            }
            // What is under way is settled first.
            (None, _) if monitor.under_way() > 0 => {
                self.at -= 1;
                Ok(TesterMove::Observe)
            }
            // A reply that it needs may come later than it did when the plan was recorded. The position goes back,
            // so that the same input is bound again after the look.
            (_, None) if self.is_reply_possible(cx, monitor) && self.may_await_reply() => {
                self.at -= 1;
                self.take_next_look();
                Ok(TesterMove::Observe)
            }
            (_, Some(label)) => {
                Err(format!("{} is not possible here this time", label.show(cx.pool, cx.sts)))
            }
            (_, None) => {
                let label = input.label.show(cx.pool, cx.sts);
                let missing = input.references.iter().map(|reference| reference.show(cx.pool, cx.sts));
                let missing: Vec<String> = missing.collect();
                Err(format!("no value for {label}: the replies lack {}", missing.join(", or ")))
            }
        }
    }

    /// Returns the input with the values that the replies of this run gave; `None` if one is missing.
    fn bind(&self, cx: &mut Ctx<'_>, trace: &Trace, input: &PlannedInput) -> Option<Label> {
        let PlannedInput { label, references, .. } = input;
        let bind_in = |order| bind_references(cx.pool, cx.sts, label, references, &self.inputs, trace, order);
        let bound = bind_in(ReplyOrder::AsRecorded);
        // Of what happens at once, a reply may have come before an input that it followed when the plan was recorded.
        let was_awaited = self.awaited == (self.at, MAX_LOOKS_FOR_REPLY);
        bound.or_else(|| was_awaited.then(|| bind_in(ReplyOrder::Any)).flatten())
    }

    fn note_given(&mut self, input: &PlannedInput, trace: &Trace) {
        self.inputs.insert(input.number, trace.len());
        (self.is_left_out, self.has_looked) = (false, false);
    }

    /// Repeats an input that an output of the system preceded, so that it was not given; the observation need not be
    /// looked for later.
    fn give_again(&mut self, trace: &Trace) {
        let Some(Given { before, label }) = self.given.take() else { return };
        if trace.len() > before && !trace.labels[before..].contains(&label) {
            self.at -= 1;
            self.take_next_look();
        }
    }

    /// Returns whether the next look of the plan is for what an input led to that was left out, so that it would only
    /// wait for silence: on a live system that takes most of the time of a try.
    fn is_needless_look(&self, cx: &mut Ctx<'_>, monitor: &Monitor) -> bool {
        let is_skipped = self.unmentioned == Unmentioned::Skip && self.is_left_out && self.has_looked;
        is_skipped && !cx.sts.is_timed() && !is_output_due(cx, monitor)
    }

    /// Returns whether the system may still say something that an input needs. Where inputs are left out, a reply that
    /// is not due is not waited for.
    fn is_reply_possible(&self, cx: &mut Ctx<'_>, monitor: &Monitor) -> bool {
        self.unmentioned == Unmentioned::Stop || cx.sts.is_timed() || is_output_due(cx, monitor)
    }

    /// Notes that the next look of the plan is made now, or was made by the way.
    fn take_next_look(&mut self) {
        let is_due = |at: &usize| self.plan[*at] == PlannedMove::Observe && !self.seen.contains(at);
        let next_look = (self.at..self.plan.len()).find(is_due);
        self.seen.extend(next_look);
    }

    /// Returns whether the current input may wait for a reply, at most [`MAX_LOOKS_FOR_REPLY`] times; counts it.
    fn may_await_reply(&mut self) -> bool {
        let looks = if self.awaited.0 == self.at { self.awaited.1 } else { 0 };
        self.awaited = (self.at, looks + 1);
        looks < MAX_LOOKS_FOR_REPLY
    }
}
