//! The judgement of one model by recorded runs.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model, Sts};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_run::judge::{judge_onwards, judge_watching};
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::Solver;
use ioxide_symex::{Belief, Ctx, Monitor, SwitchOffer, list_offers};
use rustc_hash::FxHashSet;

use crate::RepairError;
use crate::failure::{FailureCollector, FailurePoint};
use crate::runs::DecodedRun;

/// The bits that a value costs that the model leaves open. Chosen by feel: about one of ten usual values.
const OPEN_VALUE_BITS: f64 = 4.0;
/// The bits that an observation costs of which the model says nothing, where the same message was seen like that
/// before. Chosen by feel: what is repeated is no news, and still more than what a model predicts.
const REPEATED_BITS: f64 = 0.25;
/// The number of states of a belief that count for the prediction of an observation. Chosen by feel.
const MAX_STATES: usize = 8;
/// The number of steps of one run that are predicted. Chosen by feel: later ones repeat what the first have shown.
const MAX_PREDICTED: usize = 200;

/// The judgement of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunJudgement {
    /// The position of the label at which the run became impossible; `None` if all are allowed.
    pub(crate) forbidden_at: Option<usize>,
    /// True if nothing is known from some label on.
    pub(crate) is_unknown: bool,
    /// The number of labels up to the first input that the model does not mention, with that one.
    pub(crate) unspecified_at: Option<usize>,
    /// The number of labels.
    pub(crate) steps: usize,
    /// The number of labels that were judged to know this.
    pub(crate) replayed: usize,
}

impl RunJudgement {
    pub(crate) fn is_forbidden(&self) -> bool {
        self.forbidden_at.is_some()
    }
}

/// Judges a run.
pub(crate) fn judge_run(
    model: &mut Model,
    solver: &mut dyn Solver,
    run: &DecodedRun<'_>,
    halt: &Halt,
) -> Result<RunJudgement, RepairError> {
    judge_with(model, solver, (run, halt), None, &mut |_, _, _, _| ControlFlow::Continue(()))
}

/// Judges a run and returns its failure; `None` if there is none, or none was found under `halt`.
pub(crate) fn failure_of(
    model: &mut Model,
    solver: &mut dyn Solver,
    run: &DecodedRun<'_>,
    halt: &Halt,
) -> Result<Option<FailurePoint>, RepairError> {
    let mut collector = FailureCollector::default();
    let mut labels: Vec<Label> = Vec::new();
    let judged = judge_with(model, solver, (run, halt), None, &mut |_, monitor, label, _| {
        collector.note(monitor, label);
        labels.push(label.clone());
        ControlFlow::Continue(())
    })?;
    let cx = Ctx::new(model, solver);
    Ok(judged.is_forbidden().then(|| collector.into_failure(&cx, &labels)))
}

/// The bits that the observations of runs cost where the model is known: the less it predicts, the more.
#[derive(Clone, Debug, Default)]
pub(crate) struct PredictionCost {
    /// The bits so far.
    pub(crate) bits: f64,
    /// True if the model says nothing about some observation.
    pub(crate) is_silent: bool,
    /// The messages about which it said nothing; `None` is silence.
    unspecified: FxHashSet<Option<GateId>>,
    /// The fields that the wrong model leaves open as well, and that were seen before.
    known_open: FxHashSet<OpenFieldPlace>,
}

/// A field of a message that a model leaves open: the message, and the position of the field.
pub(crate) type OpenFieldPlace = (GateId, usize);

/// Returns the fields that some transition of `model` leaves open.
pub(crate) fn fields_left_open(model: &Model) -> FxHashSet<OpenFieldPlace> {
    let mut found = FxHashSet::default();
    for switch in &model.sts.switches {
        let is_output = model.sts.gates[switch.gate].kind == GateKind::Output;
        let open = if is_output {
            open_fields(&model.pool, &model.sts, switch.gate, switch.guard)
        } else {
            Vec::new()
        };
        found.extend(open.into_iter().map(|field| (switch.gate, field)));
    }
    found
}

impl PredictionCost {
    /// Adds the observations of a run; returns whether all of them were added, and `halt` did not come first. `usual`
    /// are the fields that the wrong model leaves open.
    pub(crate) fn add_run(
        &mut self,
        model: &mut Model,
        solver: &mut dyn Solver,
        (run, usual): (&DecodedRun<'_>, &FxHashSet<OpenFieldPlace>),
        halt: &Halt,
    ) -> Result<bool, RepairError> {
        let mut predicted = 0;
        let judged = judge_with(model, solver, (run, halt), None, &mut |cx, monitor, label, at| {
            if at < MAX_PREDICTED {
                self.add_observation(cx, (monitor.belief(), usual), label);
                predicted = at + 1;
            }
            ControlFlow::Continue(())
        })?;
        // The judgement ends where everything is allowed; what was seen afterwards is not predicted either.
        if judged.unspecified_at.is_some() {
            let unpredicted = run.labels().iter().take(MAX_PREDICTED).skip(predicted);
            let of_run: f64 = unpredicted.map(|label| self.unpredicted_bits(&model.sts, label)).sum();
            self.bits += of_run;
        }
        self.is_silent |= judged.unspecified_at.is_some();
        Ok(!judged.is_unknown)
    }

    /// Adds the bits of `label` after `belief`: the logarithm of the number of observations that were as likely.
    fn add_observation(
        &mut self,
        cx: &mut Ctx<'_>,
        (belief, usual): (&Belief, &FxHashSet<OpenFieldPlace>),
        label: &Label,
    ) {
        let seen = match label {
            Label::Output(gate, values) => Some((*gate, &values[..])),
            Label::Quiescence => None,
            Label::Input(..) | Label::Delay(_) => return,
        };
        self.bits += match belief {
            Belief::Concrete(states) => {
                let prediction = Prediction::new(cx, states, seen);
                let of_values: f64 = prediction.open.iter().map(|it| self.open_bits(*it, usual)).sum();
                (prediction.choices as f64).log2() + of_values
            }
            Belief::Unspecified => self.unpredicted_bits(cx.sts, label),
            // The offers of a symbolic state are not known without the solver. They are free for every
            // candidate alike.
            Belief::Symbolic(_) => 0.0,
        };
    }

    /// Returns the bits of a value that is left open. Where the wrong model leaves it open too, an edit is not to blame
    /// for it: it costs no more than the message would if nothing were said about it.
    fn open_bits(&mut self, field: OpenFieldPlace, usual: &FxHashSet<OpenFieldPlace>) -> f64 {
        if usual.contains(&field) && !self.known_open.insert(field) { REPEATED_BITS } else { OPEN_VALUE_BITS }
    }

    /// Returns the bits of an observation about which nothing is predicted: any message of the system is as likely, and
    /// one that was seen before is no news.
    fn unpredicted_bits(&mut self, sts: &Sts, label: &Label) -> f64 {
        let gate = match label {
            Label::Output(gate, _) => Some(*gate),
            Label::Quiescence => None,
            Label::Input(..) | Label::Delay(_) => return 0.0,
        };
        if !self.unspecified.insert(gate) {
            return REPEATED_BITS;
        }
        let n_outputs = sts.gates.iter().filter(|gate| gate.kind == GateKind::Output).count();
        let n_fields = gate.map_or(0, |gate| sts.gates[gate].fields.len());
        ((n_outputs + 1) as f64).log2() + OPEN_VALUE_BITS * n_fields as f64
    }
}

/// Judges a run, from `start` on if that is given: the monitor before a label, and the position of that label. Ends
/// where `watch`, which is called before each label, says to break.
pub(crate) fn judge_with(
    model: &mut Model,
    solver: &mut dyn Solver,
    (run, halt): (&DecodedRun<'_>, &Halt),
    start: Option<(Monitor, usize)>,
    watch: &mut dyn FnMut(&mut Ctx<'_>, &Monitor, &Label, usize) -> ControlFlow<()>,
) -> Result<RunJudgement, RepairError> {
    let read = run.labels_for(model)?;
    let mut cx = Ctx::new(model, solver);
    // Most candidates are refused, and nobody reads why.
    cx.leave_out_explanations();
    let labels = &read.trace.labels;
    let from = start.as_ref().map_or(0, |(_, from)| *from);
    let judged = cx.run_within(halt, |cx| {
        let watch = &mut |cx: &mut Ctx<'_>, monitor: &Monitor, at: usize| watch(cx, monitor, &labels[at], at);
        match start {
            Some(start) => judge_onwards(cx, &read.trace, &read.config, start, watch),
            None => judge_watching(cx, &read.trace, &read.config, watch),
        }
    });
    Ok(RunJudgement {
        forbidden_at: judged.forbidden.is_some().then(|| judged.steps.saturating_sub(1)),
        is_unknown: judged.unknown.is_some(),
        unspecified_at: judged.unspecified,
        steps: labels.len(),
        replayed: judged.steps.saturating_sub(from),
    })
}

/// The prediction of the next observation by a model that may be in some states.
struct Prediction {
    /// The number of observations that are as likely.
    choices: usize,
    /// The fields of the observed message that are left open.
    open: Vec<OpenFieldPlace>,
}

impl Prediction {
    /// Returns what is said in one of `states` before `seen`; `None` is silence.
    fn new(cx: &mut Ctx<'_>, states: &BTreeSet<ConcreteState>, seen: Option<(GateId, &[Value])>) -> Self {
        let mut is_silence_possible = false;
        let mut known = FxHashSet::default();
        let mut offers: Vec<SwitchOffer> = Vec::new();
        for state in states.iter().take(MAX_STATES) {
            let here = list_offers(cx, state, |kind| matches!(kind, GateKind::Output | GateKind::Internal));
            is_silence_possible |= here.is_empty();
            let outputs = here.into_iter().filter(|offer| cx.sts.gates[offer.gate].kind == GateKind::Output);
            // Two states that offer the same message under the same condition predict one observation, not two.
            offers.extend(outputs.filter(|offer| known.insert((offer.gate, offer.when))));
        }
        let choices = (offers.len() + usize::from(is_silence_possible)).max(1);
        let Some((gate, values)) = seen else { return Self { choices, open: Vec::new() } };
        // Only what offers these values has predicted them: another offer of the message says nothing about them.
        let own: Vec<&SwitchOffer> =
            offers.iter().filter(|offer| offer.gate == gate && may_offer(cx, offer, values)).collect();
        let open = own.into_iter().map(|offer| open_fields(cx.pool, cx.sts, gate, offer.when));
        let fewest = open.min_by_key(Vec::len).unwrap_or_default();
        Self { choices, open: fewest.into_iter().map(|field| (gate, field)).collect() }
    }
}

/// Returns whether an offer is of a message with these values, as far as evaluation decides it.
fn may_offer(cx: &mut Ctx<'_>, offer: &SwitchOffer, values: &[Value]) -> bool {
    let mut known = Substitution::default();
    for (&field, value) in cx.sts.gates[offer.gate].fields.iter().zip(values) {
        known.set(field, cx.pool.value(value.clone()));
    }
    let here = cx.pool.substitute(offer.when, &known);
    here != cx.pool.ff()
}

/// Returns the positions of the fields of a message that a condition does not fix.
fn open_fields(pool: &TermPool, sts: &Sts, gate: GateId, when: Term) -> Vec<usize> {
    let fields = &sts.gates[gate].fields;
    let mut facts = Vec::new();
    let mut todo = vec![when];
    while let Some(term) = todo.pop() {
        match pool.node(term) {
            TermNode::And(list) => todo.extend(list.iter().copied()),
            _ => facts.push(term),
        }
    }
    // Equal to a ground term or to one of variables, or a Boolean by its sign. A field that a range narrows down to one
    // value counts as open; the bits are a ranking, no proof.
    let is_other = |term: Term| fields.iter().all(|&field| !pool.free_vars(term).contains(&field));
    let is_fixed = |field: VarId| {
        facts.iter().any(|&fact| match *pool.node(fact) {
            TermNode::Eq(a, b) => [(a, b), (b, a)].into_iter().any(|(one, other)| {
                matches!(pool.node(one), TermNode::Var(var) if *var == field) && is_other(other)
            }),
            TermNode::Not(inner) => matches!(pool.node(inner), TermNode::Var(var) if *var == field),
            TermNode::Var(var) => var == field,
            _ => false,
        })
    };
    fields.iter().enumerate().filter(|(_, field)| !is_fixed(**field)).map(|(at, _)| at).collect()
}
