//! The moves of a run that [drifts](super::super::drift).

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::IndexedRandom;

use ioxide_model::concrete::{ConcreteState, field_values, is_enabled};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Monitor};

use super::super::drift::{DriftPlan, LabelBudget};
use super::{RandomWalks, SHORT_WALK, outline};
use crate::data::{Hints, ModelLexicon, PickedValues, ValueRequest, ValueWeights, pick_hinted};
use crate::tester::stimulus::BorrowedBelief;
use crate::tester::{TesterMove, labels_of_a_look};

/// The number of values drawn, of which those that move the variable the farthest are taken. Chosen by feel: the ends
/// of ranges are tried besides.
const DRAWN_VALUES: usize = 16;
/// One input in this many is another one, whose answer may show where the variable is. Chosen by feel: an input without
/// an answer shows nothing by itself.
const PROBE_ONE_IN: u32 = 8;
/// The number of messages without progress after which a plan ends. Chosen by feel: a queue that is full stays full.
const MAX_WITHOUT_PROGRESS: usize = 16;
/// The number of labels within which the input of the plan must become possible. Chosen by feel: a login or two.
const MAX_LABELS_UNTIL_POSSIBLE: usize = 48;
/// A probe that takes back one part in this many of the way is not sent again in this run. Chosen by feel: a smaller
/// part is made good by the next few messages.
const UNDONE_ONE_IN: i64 = 16;
/// The number of labels that a run goes on where the drift has led it. Chosen by feel, as for purposes.
const GO_ON: usize = 48;

/// The drift under way.
#[derive(Clone, Debug)]
pub(super) struct DriftRun {
    /// The number of the plan.
    at: usize,
    plan: DriftPlan,
    /// The number of labels that it may take.
    allowance: usize,
    /// The amount to pass; `None` before the first message.
    mark: Option<i64>,
    /// The most that one message moves the variable.
    gain: i64,
    /// The values that are sent again and again, if they are held.
    held: Option<Vec<Value>>,
    /// The farthest amount so far, and the number of messages since.
    farthest: Option<i64>,
    without_progress: usize,
    /// The last probe, and the amount before it.
    probe: Option<(SwitchId, i64)>,
    /// The probes that take the variable back.
    undoing: BTreeSet<SwitchId>,
    /// The number of labels at the last message of the plan.
    last_sent: usize,
}

impl RandomWalks {
    /// Begins a drift if one is due; returns whether it did.
    pub(super) fn begin_drift(&mut self, cx: &Ctx<'_>, budget: LabelBudget) -> bool {
        // Every second walk is another one: what a plan does not think of must have its turn.
        if self.was_drift {
            self.was_drift = false;
            return false;
        }
        let Some((at, plan, allowance)) = self.drift.next(cx.pool, cx.sts, budget) else { return false };
        self.was_drift = true;
        self.run.drift = Some(Box::new(DriftRun {
            at,
            plan,
            allowance,
            mark: None,
            gain: 1,
            held: None,
            farthest: None,
            without_progress: 0,
            probe: None,
            undoing: BTreeSet::new(),
            last_sent: 0,
        }));
        self.run.length = budget.left.max(1);
        true
    }

    /// Returns the next move of the drift under way; `None` once it is over.
    pub(super) fn drift_move(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
    ) -> Option<TesterMove> {
        let mut drift = self.run.drift.take()?;
        let next = self.next_of_drift(cx, monitor, trace, &mut drift);
        match next {
            Some(_) => self.run.drift = Some(drift),
            None => {
                // A plan that did not get past its mark led nowhere, and is not tried again; one that did aims at the
                // next mark.
                let passed =
                    drift.farthest.is_some_and(|amount| drift.mark.is_some_and(|mark| amount >= mark));
                self.drift.record(drift.at, drift.mark.filter(|_| passed));
                self.drift.spend(trace.len());
                let more = if passed { GO_ON } else { SHORT_WALK };
                self.run.length = self.run.length.min(trace.len() + more);
            }
        }
        next
    }

    fn next_of_drift(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
        drift: &mut DriftRun,
    ) -> Option<TesterMove> {
        let Belief::Concrete(states) = monitor.belief() else { return None };
        let belief = BorrowedBelief::from_monitor(monitor)?;
        let source = cx.sts.switches[drift.plan.switch].source;
        let state = states.iter().find(|state| state.loc == source);
        // Answers come first: an unread one may be the one that shows the fault.
        if belief.may_speak(cx.pool, cx.sts)
            && !trace.ends_in_silence()
            && (state.is_none() || self.wants_reply(cx, &belief, trace))
        {
            return Some(TesterMove::Observe);
        }
        if trace.len() > drift.last_sent + MAX_LABELS_UNTIL_POSSIBLE {
            return None;
        }
        // The input of the plan is not possible here: the walk goes on until it is, within a limit.
        let Some(state) = state else { return self.choose_stimulus(cx, monitor, &belief) };
        let amount = drift.plan.amount(state.values.get(drift.plan.var)?);
        drift.notice(amount);
        if drift.is_over(amount) {
            return None;
        }
        if drift.mark.is_some()
            && self.rng.random_ratio(1, PROBE_ONE_IN)
            && let Some((id, probe)) = self.choose_probe(cx, monitor, &belief, drift)
        {
            drift.probe = Some((id, amount));
            return Some(probe);
        }
        let values = self.drift_values(cx, state, drift)?;
        if drift.mark.is_none() {
            self.aim(cx, state, drift, &values)?;
        }
        drift.last_sent = trace.len();
        let label = Label::message(cx.sts, cx.sts.switches[drift.plan.switch].gate, values)?;
        let next = if cx.sts.is_timed() {
            TesterMove::StimulateAfter(Rational::ZERO, label)
        } else {
            TesterMove::Stimulate(label)
        };
        self.record_sent(cx, monitor, drift.plan.switch, &next);
        Some(next)
    }

    /// Sets the mark of the drift by what one message gains; `None` if no mark is within reach.
    fn aim(
        &mut self,
        cx: &Ctx<'_>,
        state: &ConcreteState,
        drift: &mut DriftRun,
        values: &[Value],
    ) -> Option<()> {
        let start = drift.plan.amount(state.values.get(drift.plan.var)?);
        drift.gain = match self.amount_after(cx, state, &drift.plan, values) {
            Some(after) => after.saturating_sub(start),
            None => 1,
        };
        let labels_of_a_send = 2 * labels_of_a_look(cx.sts);
        // A probe and its answer now and then.
        let sends = drift.allowance / labels_of_a_send * 7 / 8;
        let sends = i64::try_from(sends).unwrap_or(i64::MAX);
        let sort = cx.pool.var_info(drift.plan.var).sort;
        let mark = (drift.gain > 0).then(|| drift.plan.choose_mark(sort, start, drift.gain, sends))??;
        // Past the mark, not at it.
        drift.mark = Some(mark.saturating_add(drift.gain.saturating_mul(2)));
        Some(())
    }

    /// Returns the values that move the variable the farthest: those held, or the best of several.
    fn drift_values(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &ConcreteState,
        drift: &mut DriftRun,
    ) -> Option<Vec<Value>> {
        let switch = &cx.sts.switches[drift.plan.switch];
        if let Some(held) = &drift.held
            && is_enabled(cx.pool, cx.sts, state, switch, held) == Ok(true)
        {
            return Some(held.clone());
        }
        let mut best: Option<(i64, Vec<Value>)> = None;
        for _ in 0..DRAWN_VALUES {
            let Some(drawn) = self.draw_for_drift(cx, state, drift.plan.switch) else { break };
            for values in ends_of_ranges(cx, drift.plan.switch, drawn) {
                if is_enabled(cx.pool, cx.sts, state, switch, &values) != Ok(true) {
                    continue;
                }
                let after = self.amount_after(cx, state, &drift.plan, &values).unwrap_or(0);
                if best.as_ref().is_none_or(|(amount, _)| after > *amount) {
                    best = Some((after, values));
                }
            }
            let is_choice = drift.plan.update.is_some() && !cx.sts.gates[switch.gate].fields.is_empty();
            // A collection grows by any new item: the first that makes it grow will do.
            let is_number = cx.pool.var_info(drift.plan.var).sort.is_numeric();
            let here = state.values.get(drift.plan.var).map_or(0, |value| drift.plan.amount(value));
            if !is_choice || !is_number && best.as_ref().is_some_and(|(amount, _)| *amount > here) {
                break;
            }
        }
        let (_, values) = best?;
        // Items of a set or keys of a map must differ; a number moves the farthest if the values stay.
        if cx.pool.var_info(drift.plan.var).sort.is_numeric() {
            drift.held = Some(values.clone());
        }
        Some(values)
    }

    fn draw_for_drift(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &ConcreteState,
        id: SwitchId,
    ) -> Option<Vec<Value>> {
        let switch = &cx.sts.switches[id];
        let lexicon = self.lexicon.get_or_insert_with(|| ModelLexicon::collect(cx));
        let atoms = lexicon.atoms(cx, id).to_vec();
        let hints = Hints {
            recent: self.run.seen.values(),
            constants: lexicon.constants(),
            atoms: &atoms,
            weights: ValueWeights::default(),
            ..Hints::default()
        };
        let request = ValueRequest { gate: switch.gate, guard: switch.guard, state: &state.values };
        match pick_hinted(cx, &mut self.rng, &request, &hints) {
            PickedValues::Values(values) => Some(values),
            PickedValues::Impossible | PickedValues::Unknown(_) => None,
        }
    }

    /// Returns the amount of the variable after a message with these values; `None` if the answer decides it.
    fn amount_after(
        &self,
        cx: &Ctx<'_>,
        state: &ConcreteState,
        plan: &DriftPlan,
        values: &[Value],
    ) -> Option<i64> {
        let fields = field_values(cx.sts, &cx.sts.switches[plan.switch], values);
        let after = cx.pool.eval(plan.update?, &(&fields, &state.values)).ok()?;
        Some(plan.amount(&after))
    }

    /// Returns another input, which may show where the variable is.
    fn choose_probe(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        belief: &BorrowedBelief<'_>,
        drift: &DriftRun,
    ) -> Option<(SwitchId, TesterMove)> {
        let mut others = belief.inputs(cx.sts);
        others.retain(|id| *id != drift.plan.switch && !drift.undoing.contains(id));
        let id = *others.choose(&mut self.rng)?;
        let chosen = self.choose_values(cx, monitor, belief, id)?;
        self.count_tried(outline(monitor), id);
        self.record_sent(cx, monitor, id, &chosen);
        Some((id, chosen))
    }
}

impl DriftRun {
    /// Takes the amount before the next message into account.
    fn notice(&mut self, amount: i64) {
        // A probe such as `reset` or `remove` takes the variable back to its start; with it the mark would never be
        // passed.
        if let Some((id, before)) = self.probe.take() {
            let undone = before.saturating_sub(amount);
            if undone > self.gain.saturating_mul(2).max(before / UNDONE_ONE_IN) {
                self.undoing.insert(id);
            }
        }
        if self.farthest.is_none_or(|farthest| amount > farthest) {
            (self.farthest, self.without_progress) = (Some(amount), 0);
        } else {
            self.without_progress += 1;
        }
    }

    fn is_over(&self, amount: i64) -> bool {
        self.mark.is_some_and(|mark| amount >= mark) || self.without_progress > MAX_WITHOUT_PROGRESS
    }
}

/// Returns `values`, and `values` with each field of a range at one of its ends.
fn ends_of_ranges(cx: &Ctx<'_>, id: SwitchId, values: Vec<Value>) -> Vec<Vec<Value>> {
    let fields = &cx.sts.gates[cx.sts.switches[id].gate].fields;
    let mut all = vec![values];
    for (at, &field) in fields.iter().enumerate() {
        if let Sort::Range { lo, hi } = cx.pool.var_info(field).sort {
            for end in [hi, lo] {
                let mut moved = all[0].clone();
                moved[at] = Value::int(end);
                all.push(moved);
            }
        }
    }
    all
}
