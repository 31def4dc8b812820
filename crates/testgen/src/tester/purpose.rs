//! The purpose-guided tester: follows the path of one purpose, choosing values on the way.
//!
//! \[BT19] Algorithm 1, branch by branch. The values observed so far are substituted in the path condition η, so a
//! value is chosen as late as possible and depends on earlier outputs. Where the solver does not decide whether η is
//! satisfiable, the guard of the current switch alone decides what is sent (lines 13 to 22). Off the path, or where η
//! has become unsatisfiable, the run is inconclusive; whether it fails is up to the monitor.
//!
//! Three things are added to the algorithm: silence is observed like any output, it can be a step of the purpose, and
//! after the last step the tester looks once more, or the effect of a last input would never be observed.

mod shown;

use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverDecision, UnknownReason};
use ioxide_symex::{Belief, Ctx, Monitor};

use self::shown::order_of_use;
use super::instant::{at_most, nanoseconds};
use super::{Tester, TesterMove, TesterStop};
use crate::data::patterned::{PatternedRequest, pick_patterned};
use crate::data::{PickedValues, pick_symbolic, pick_uniform};
use crate::purpose::{TestPurpose, holds_for_any_answer};

/// The number of silences that an observed input may take. Chosen by feel: somebody else sends it, in their own time;
/// then the run ends without a verdict.
const MAX_SILENCES: usize = 3;

/// The reason why the next input of a purpose cannot be given.
#[derive(Debug, Error)]
enum NoNextInput {
    #[error("the rest of the purpose is impossible")]
    Impossible,
    #[error("no values continue the path of the purpose")]
    NoValues,
    #[error("no values were found that continue the path of the purpose: {0}")]
    NotFound(UnknownReason),
    /// Values for the current switch were found, but they make the rest impossible.
    #[error("these values leave the path of the purpose ({0})")]
    LedOff(UnknownReason),
}

/// The rule by which the values of inputs are chosen among those that lead on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputChoice {
    /// By patterns of equality in turn, values at random.
    #[default]
    Patterns,
    /// Whole numbers from 0 up to this many, uniformly; other sorts at random. Impossible values are drawn again
    /// (\[BT19] sec. 6).
    Uniform(i64),
}

/// Follows one purpose.
#[derive(Clone, Debug)]
pub struct PurposeGuided {
    purpose: TestPurpose,
    rng: ChaCha8Rng,
    /// The number of runs before this one: data is varied from run to run.
    round: usize,
    is_first: bool,
    choice: InputChoice,
    /// True if values and times are preferred with which the path can be followed whatever the system answers.
    for_any_answer: bool,
    /// The messages whose values are tried before others.
    examples: Vec<Label>,
    progress: PurposeProgress,
}

/// The progress of a run.
#[derive(Clone, Debug)]
struct PurposeProgress {
    /// The number of labels of the history taken into account.
    seen: usize,
    /// The number of steps of the path taken.
    at: usize,
    /// The values of the fields of those steps.
    known: Substitution,
    /// The same values as a list, to choose others near them.
    values: Vec<Value>,
    /// Seconds since the last message.
    waited: Rational,
    /// The number of silences since the last step.
    silences: usize,
    /// In a timed model, the number of seconds after the last message at which a silence is over that was asked for.
    quiet_until: Option<Rational>,
    /// True if the look at the end has been asked for.
    looked: bool,
    /// The reason why the path cannot be followed any more; `None` while it can.
    off: Option<String>,
}

impl Default for PurposeProgress {
    /// The start of a run.
    fn default() -> Self {
        Self {
            seen: 0,
            at: 0,
            known: Substitution::new(),
            values: Vec::new(),
            waited: Rational::ZERO,
            silences: 0,
            quiet_until: None,
            looked: false,
            off: None,
        }
    }
}

impl PurposeGuided {
    /// Makes a tester that follows `purpose`.
    #[must_use]
    pub fn new(purpose: TestPurpose, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self {
            purpose,
            rng,
            round: 0,
            is_first: true,
            choice: InputChoice::default(),
            for_any_answer: false,
            examples: Vec::new(),
            progress: PurposeProgress::default(),
        }
    }

    /// Sets the messages whose values are tried before others, the best first. Those of the same gate come first, then
    /// those that have a value of the sort of every field.
    #[must_use]
    pub fn with_examples(mut self, examples: Vec<Label>) -> Self {
        self.examples = examples;
        self
    }

    /// Sets how values are chosen from now on.
    pub fn choose(&mut self, choice: InputChoice) {
        self.choice = choice;
    }

    /// Prefers values and times, if there are any, with which the path can be followed whatever the system answers.
    pub fn prefer_any_answer(&mut self) {
        self.for_any_answer = true;
    }

    /// The purpose it follows.
    #[must_use]
    pub fn purpose(&self) -> &TestPurpose {
        &self.purpose
    }

    /// Starts a new run; `round` is the number of earlier runs of this purpose.
    pub fn restart(&mut self, seed: u64, round: usize) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.round = round;
        self.is_first = false;
        self.progress = PurposeProgress::default();
    }

    /// Makes the tester for a purpose that starts after `seen` labels of a run.
    #[must_use]
    pub fn from_here(mut self, seen: usize, round: usize) -> Self {
        self.round = round;
        self.progress.seen = seen;
        self
    }

    /// Takes the labels since the last move into account; returns whether the run is still on the path.
    pub fn follow_trace(&mut self, cx: &mut Ctx<'_>, trace: &Trace) -> bool {
        self.catch_up(cx, trace);
        self.progress.off.is_none()
    }

    /// Takes the labels since the last move into account.
    fn catch_up(&mut self, cx: &mut Ctx<'_>, trace: &Trace) {
        while self.progress.off.is_none()
            && let Some(label) = trace.labels.get(self.progress.seen)
        {
            self.progress.seen += 1;
            // Before the label: an internal step of the path may have come first, and the label is compared
            // with the step behind it.
            self.skip_internal(cx);
            if self.progress.at == self.purpose.steps.len() {
                continue;
            }
            match label {
                Label::Input(gate, values) | Label::Output(gate, values) => {
                    self.message(cx, *gate, values, label);
                }
                Label::Quiescence => self.silence(cx),
                Label::Delay(time) => {
                    self.progress.waited = &self.progress.waited + time;
                    // Up to a message it is only the time of that message.
                    if self.progress.seen == trace.len() {
                        self.silence(cx);
                    }
                }
            }
        }
        self.skip_internal(cx);
    }

    /// Skips internal steps of the path, which cannot be observed.
    fn skip_internal(&mut self, cx: &Ctx<'_>) {
        while self.expected_switch(cx).is_some_and(|(_, kind)| kind == GateKind::Internal) {
            self.progress.at += 1;
        }
    }

    /// The next step of the path; `None` at the end.
    fn expected_step(&self) -> Option<PathStep> {
        Some(self.purpose.steps.get(self.progress.at)?.step)
    }

    /// The next switch of the path, and the kind of its gate; `None` at the end and where silence is next.
    fn expected_switch(&self, cx: &Ctx<'_>) -> Option<(SwitchId, GateKind)> {
        let id = self.expected_step()?.switch()?;
        Some((id, cx.sts.kind_of(&cx.sts.switches[id])))
    }

    /// Takes a message into account that was sent or observed (lines 30 to 40).
    fn message(&mut self, cx: &mut Ctx<'_>, gate: GateId, values: &[Value], label: &Label) {
        let Some((id, _)) = self.expected_switch(cx) else {
            let seen = label.show(cx.pool, cx.sts);
            self.progress.off = Some(format!("got {seen}, but the purpose expects silence"));
            return;
        };
        // A copy: if the message turns out to be off the path, the values of the path so far stay as they
        // are.
        let mut known = self.progress.known.clone();
        for (field, value) in self.fields(cx, id).into_iter().zip(values) {
            known.set(field, cx.pool.value(value.clone()));
        }
        if cx.sts.is_timed() {
            let (delay, waited) = (self.delay(cx), self.progress.waited.clone());
            known.set(delay, cx.pool.value(Value::Real(waited)));
        }
        let is_on_path = cx.sts.switches[id].gate == gate && {
            // The steps up to this one only. `finish_step` asks for all of η, because that is another reason
            // for leaving the path.
            let so_far = self.prefix(self.progress.at + 1);
            decide_facts(cx, &so_far, &known) != SolverDecision::Unsat
        };
        if !is_on_path {
            let (seen, switch) = (label.show(cx.pool, cx.sts), &cx.sts.switches[id].label);
            self.progress.off = Some(format!("got {seen}, but the purpose expects `{switch}`"));
            return;
        }
        self.progress.values.extend_from_slice(values);
        let seen = label.show(cx.pool, cx.sts);
        self.finish_step(cx, known, &seen);
    }

    /// Goes on to the next step; `known` has the values of this one, in which `seen` was observed.
    fn finish_step(&mut self, cx: &mut Ctx<'_>, known: Substitution, seen: &str) {
        self.progress.known = known;
        self.progress.at += 1;
        self.progress.silences = 0;
        self.progress.waited = Rational::ZERO;
        self.progress.quiet_until = None;
        let all = self.all_facts();
        if decide_facts(cx, &all, &self.progress.known.clone()) == SolverDecision::Unsat {
            self.progress.off = Some(format!("after {seen} the rest of the purpose is impossible"));
        }
    }

    /// Takes silence into account where the purpose has it as a step. In a timed model it lasts until the instant that
    /// was chosen; a wait that ends before is none.
    fn expected_silence(&mut self, cx: &mut Ctx<'_>) {
        let mut known = self.progress.known.clone();
        if cx.sts.is_timed() {
            let waited = self.progress.waited.clone();
            if self.progress.quiet_until.as_ref().is_none_or(|until| waited < *until) {
                return;
            }
            let delay = self.delay(cx);
            known.set(delay, cx.pool.value(Value::Real(waited)));
        }
        let so_far = self.prefix(self.progress.at + 1);
        if decide_facts(cx, &so_far, &known) == SolverDecision::Unsat {
            let reason =
                "the system was silent where the model must send something on the path of the purpose";
            self.progress.off = Some(reason.into());
            return;
        }
        self.finish_step(cx, known, "this silence");
    }

    /// Observes the silence of the next step. In a timed model it lasts until nothing changes by time alone, or for a
    /// time after which the rest of the purpose is possible.
    fn observe_silence(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> TesterMove {
        if !cx.sts.is_timed() {
            return TesterMove::Observe;
        }
        let waited = self.progress.waited.clone();
        let until = match self.progress.quiet_until.take() {
            Some(until) if until > waited => until,
            _ => {
                let horizon = monitor.time_horizon(cx) + &waited;
                self.choose_silence(cx, &horizon)
            }
        };
        self.progress.quiet_until = Some(until.clone());
        // At least the shortest time there is, so that it ends even where the rest is rounded to nothing.
        TesterMove::ObserveFor(nanoseconds(&(&until - &waited)).max(Duration::from_nanos(1)))
    }

    /// Returns the time after the last message at which the next silence is over: `horizon`, unless the purpose needs a
    /// shorter one.
    fn choose_silence(&mut self, cx: &mut Ctx<'_>, horizon: &Rational) -> Rational {
        let delay = self.delay(cx);
        let mut known = self.progress.known.clone();
        let all = self.all_facts();
        // The horizon first: silence up to there covers every instant that the model can still tell apart. A
        // shorter one is solved for only if the purpose excludes it.
        known.set(delay, cx.pool.value(Value::Real(horizon.clone())));
        if decide_facts(cx, &all, &known) != SolverDecision::Unsat {
            return horizon.clone();
        }
        let mut facts: Vec<Term> =
            all.into_iter().map(|fact| cx.pool.substitute(fact, &self.progress.known)).collect();
        let (var, waited) = (cx.pool.var(delay), cx.pool.value(Value::Real(self.progress.waited.clone())));
        facts.push(cx.pool.lt(waited, var));
        facts.push(at_most(cx, delay, horizon));
        match pick_symbolic(cx, &mut self.rng, &[delay], &facts) {
            PickedValues::Values(values) => {
                values.first().and_then(Value::as_real).cloned().unwrap_or_else(|| horizon.clone())
            }
            PickedValues::Impossible | PickedValues::Unknown(_) => horizon.clone(),
        }
    }

    /// Takes silence into account: it leaves the path where an output is expected, not where an input is.
    fn silence(&mut self, cx: &mut Ctx<'_>) {
        if self.expected_step() == Some(PathStep::Quiet) {
            return self.expected_silence(cx);
        }
        let Some((id, kind)) = self.expected_switch(cx) else { return };
        self.progress.silences += 1;
        // Silence before an input is the tester's own, and one silence is enough where an output is due: the
        // run decides how long it must last.
        let patience = match kind {
            GateKind::Output | GateKind::Internal => 0,
            GateKind::Observed => MAX_SILENCES,
            GateKind::Input => return,
        };
        if self.progress.silences > patience {
            let switch = &cx.sts.switches[id].label;
            self.progress.off = Some(format!("the system was silent where the purpose expects `{switch}`"));
        }
    }

    /// Gives the input of `id` (lines 5 to 24).
    fn stimulate(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, id: SwitchId) -> TesterMove {
        let all = self.preferred_facts(cx);
        let wait = if cx.sts.is_timed() { self.choose_instant(cx, monitor, &all) } else { None };
        // After `choose_instant`, which has set the delay of this step in it.
        let known = self.progress.known.clone();
        let so_far = self.prefix(self.progress.at + 1);
        let values = match decide_facts(cx, &all, &known) {
            // η can be satisfied, so the values are chosen such that it still can afterwards.
            SolverDecision::Sat => self.values(cx, id, &all),
            SolverDecision::Unsat => Err(NoNextInput::Impossible),
            // Lines 13 to 22: the guard of this switch alone, then another look at η with the values that were found.
            SolverDecision::Unknown(why) => self.values(cx, id, &so_far).and_then(|values| {
                let mut known = known;
                for (field, value) in self.fields(cx, id).into_iter().zip(&values) {
                    known.set(field, cx.pool.value(value.clone()));
                }
                match decide_facts(cx, &all, &known) {
                    SolverDecision::Unsat => Err(NoNextInput::LedOff(why)),
                    SolverDecision::Sat | SolverDecision::Unknown(_) => Ok(values),
                }
            }),
        };
        let label = values.map(|values| Label::message(cx.sts, cx.sts.switches[id].gate, values));
        match label {
            Ok(Some(label)) => match wait {
                Some(wait) => TesterMove::StimulateAfter(&wait - &self.progress.waited, label),
                None => TesterMove::Stimulate(label),
            },
            Ok(None) => TesterMove::Observe,
            Err(why) => TesterMove::Stop(TesterStop::Inconclusive(why.to_string())),
        }
    }

    /// η, for the input that is given now: with the condition that the rest can be followed whatever the system answers
    /// if that is preferred, and possible.
    fn preferred_facts(&self, cx: &mut Ctx<'_>) -> Vec<Term> {
        let all = self.all_facts();
        if !self.for_any_answer {
            return all;
        }
        let end = cx.pool.and(self.purpose.end.iter().copied());
        let next = self.progress.at + 1;
        let Some(mut rest) = holds_for_any_answer(cx, &self.purpose.steps, next, end) else { return all };
        // Unknown initial values are up to the system too: all that fit what was seen count.
        let so_far = self.prefix(next);
        let unknown: Vec<VarId> =
            cx.sts.vars.iter().filter(|var| var.init.is_none()).map(|var| var.var).collect();
        if !unknown.is_empty() {
            let unknown: Vec<VarId> = unknown.into_iter().map(|var| cx.pool.indexed_var(var, 0)).collect();
            let spoiled = cx.pool.not(rest);
            let spoiled = cx.pool.and(so_far.iter().copied().chain([spoiled]));
            let spoiled = cx.pool.exists(&unknown, spoiled);
            rest = cx.pool.not(spoiled);
        }
        let preferred: Vec<Term> = so_far.into_iter().chain([rest]).collect();
        match decide_facts(cx, &preferred, &self.progress.known) {
            SolverDecision::Sat => preferred,
            SolverDecision::Unsat | SolverDecision::Unknown(_) => all,
        }
    }

    /// Chooses and records the time of the input after the last message: at once in the first run if that is possible,
    /// at another instant that leads on in the others.
    fn choose_instant(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, all: &[Term]) -> Option<Rational> {
        let delay = self.delay(cx);
        let horizon = monitor.time_horizon(cx) + &self.progress.waited;
        let (var, waited) = (cx.pool.var(delay), cx.pool.value(Value::Real(self.progress.waited.clone())));
        let mut facts: Vec<Term> =
            all.iter().map(|&fact| cx.pool.substitute(fact, &self.progress.known)).collect();
        facts.push(cx.pool.le(waited, var));
        facts.push(at_most(cx, delay, &horizon));
        let mut at_once = facts.clone();
        // At once first: waiting costs real time, and most purposes do not need it.
        at_once.push(cx.pool.eq(var, waited));
        let wait = if self.round == 0 && cx.decide(&at_once) == SolverDecision::Sat {
            self.progress.waited.clone()
        } else {
            match pick_symbolic(cx, &mut self.rng, &[delay], &facts) {
                PickedValues::Values(values) => values.first()?.as_real()?.clone(),
                PickedValues::Impossible | PickedValues::Unknown(_) => self.progress.waited.clone(),
            }
        };
        // Preliminary: the values are chosen for this instant. When the input is observed, `message` sets the
        // delay that was measured.
        self.progress.known.set(delay, cx.pool.value(Value::Real(wait.clone())));
        Some(wait)
    }

    /// The variable for the delay of the next step, numbered as in the path condition.
    fn delay(&self, cx: &mut Ctx<'_>) -> VarId {
        let depth = u32::try_from(self.progress.at + 1).unwrap_or(u32::MAX);
        cx.pool.indexed_var(cx.delay, depth)
    }

    /// Returns values for the fields of `id` such that `facts` are satisfiable.
    fn values(&mut self, cx: &mut Ctx<'_>, id: SwitchId, facts: &[Term]) -> Result<Vec<Value>, NoNextInput> {
        let facts: Vec<Term> =
            facts.iter().map(|&fact| cx.pool.substitute(fact, &self.progress.known)).collect();
        let fields = self.fields(cx, id);
        if let Some(values) = self.values_of_example(cx, id, &fields, &facts) {
            return Ok(values);
        }
        let picked = match self.choice {
            InputChoice::Patterns => self.pick_patterned(cx, &fields, &facts),
            InputChoice::Uniform(n) => pick_uniform(cx, &mut self.rng, &fields, &facts, n),
        };
        match picked {
            PickedValues::Values(values) => Ok(values),
            PickedValues::Impossible => Err(NoNextInput::NoValues),
            PickedValues::Unknown(why) => Err(NoNextInput::NotFound(why)),
        }
    }

    /// Returns the values of the first example that leads on; `None` if none does.
    fn values_of_example(
        &self,
        cx: &mut Ctx<'_>,
        id: SwitchId,
        fields: &[VarId],
        facts: &[Term],
    ) -> Option<Vec<Value>> {
        let own_gate = cx.sts.switches[id].gate;
        let is_own = |label: &&Label| matches!(label, Label::Input(gate, _) if *gate == own_gate);
        let (own, others): (Vec<&Label>, Vec<&Label>) = self.examples.iter().partition(is_own);
        own.into_iter().chain(others).find_map(|example| {
            let (Label::Input(_, args) | Label::Output(_, args)) = example else { return None };
            let values = match_sorts(cx, fields, args)?;
            let mut chosen = Substitution::new();
            for (field, value) in fields.iter().zip(&values) {
                chosen.set(*field, cx.pool.value(value.clone()));
            }
            (decide_facts(cx, facts, &chosen) == SolverDecision::Sat).then_some(values)
        })
    }

    /// Returns values by patterns of equality, the fields in the order in which the path uses them.
    fn pick_patterned(&mut self, cx: &mut Ctx<'_>, fields: &[VarId], facts: &[Term]) -> PickedValues {
        let order = order_of_use(cx.pool, fields, &self.purpose.steps[self.progress.at + 1..]);
        let in_use: Vec<VarId> = order.iter().map(|&at| fields[at]).collect();
        let (beside, first) = (&self.progress.values[..], self.round);
        let wish = PatternedRequest { fields: &in_use, facts, beside, first };
        match pick_patterned(cx, &mut self.rng, &wish) {
            PickedValues::Values(found) => {
                let mut values: Vec<(usize, Value)> = order.into_iter().zip(found).collect();
                // Back from the order of use to the order of the fields.
                values.sort_by_key(|&(at, _)| at);
                PickedValues::Values(values.into_iter().map(|(_, value)| value).collect())
            }
            other => other,
        }
    }

    /// The fields of the step `id`, numbered as in the path condition.
    fn fields(&self, cx: &mut Ctx<'_>, id: SwitchId) -> Vec<VarId> {
        let depth = u32::try_from(self.progress.at + 1).unwrap_or(u32::MAX);
        let gate = cx.sts.switches[id].gate;
        cx.sts.gates[gate].fields.iter().map(|&field| cx.pool.indexed_var(field, depth)).collect()
    }

    /// The path condition of the first `steps` steps.
    fn prefix(&self, steps: usize) -> Vec<Term> {
        self.purpose.steps[..steps].iter().flat_map(|step| step.facts.iter().copied()).collect()
    }

    /// η: the whole path condition, and the facts that must hold at the end.
    fn all_facts(&self) -> Vec<Term> {
        let mut facts = self.prefix(self.purpose.steps.len());
        facts.extend_from_slice(&self.purpose.end);
        facts
    }

    /// Returns whether the path was followed to its end; an undecided path is missed.
    fn stop_reason(&self, cx: &mut Ctx<'_>, monitor: &Monitor) -> TesterStop {
        let name = &self.purpose.name;
        if *monitor.belief() == Belief::Unspecified {
            return TesterStop::Inconclusive("the model does not specify this observation".into());
        }
        match decide_facts(cx, &self.all_facts(), &self.progress.known) {
            SolverDecision::Sat => TesterStop::GoalMet(format!("purpose `{name}` was executed")),
            SolverDecision::Unsat => TesterStop::GoalMissed(format!("purpose `{name}` was not executed")),
            SolverDecision::Unknown(why) => {
                TesterStop::Inconclusive(format!("whether purpose `{name}` was executed is not known: {why}"))
            }
        }
    }

    /// Returns the move after the last switch: one more look, then the end.
    fn last_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        let is_quiet = trace.ends_in_silence();
        if self.progress.looked || is_quiet {
            return TesterMove::Stop(self.stop_reason(cx, monitor));
        }
        self.progress.looked = true;
        TesterMove::Observe
    }
}

/// Returns for each field the first of `values` that has its sort and is not taken by a field before it; `None` if a
/// field gets none, or there are no fields.
fn match_sorts(cx: &Ctx<'_>, fields: &[VarId], values: &[Value]) -> Option<Vec<Value>> {
    let mut left: Vec<&Value> = values.iter().collect();
    let mut next_of = |field: &VarId| {
        let sort = cx.pool.var_info(*field).sort;
        let at = left.iter().position(|value| cx.pool.has_sort(value, sort))?;
        Some(left.remove(at).clone())
    };
    let matched: Option<Vec<Value>> = fields.iter().map(&mut next_of).collect();
    matched.filter(|matched| !matched.is_empty())
}

/// Decides whether `facts` are satisfiable with the values of `known`.
fn decide_facts(cx: &mut Ctx<'_>, facts: &[Term], known: &Substitution) -> SolverDecision {
    let facts: Vec<Term> = facts.iter().map(|&fact| cx.pool.substitute(fact, known)).collect();
    cx.decide(&facts)
}

impl Tester for PurposeGuided {
    fn start(&mut self, seed: u64) {
        let round = if self.is_first { 0 } else { self.round + 1 };
        self.restart(seed, round);
    }

    fn goal(&self) -> Option<String> {
        Some(format!("purpose {}", self.purpose.name))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.catch_up(cx, trace);
        if let Some(reason) = &self.progress.off {
            return TesterMove::Stop(TesterStop::GoalMissed(reason.clone()));
        }
        match self.expected_switch(cx) {
            None if self.expected_step().is_some() => self.observe_silence(cx, monitor),
            None => self.last_move(cx, monitor, trace),
            Some((id, GateKind::Input)) => self.stimulate(cx, monitor, id),
            Some((_, GateKind::Output | GateKind::Observed | GateKind::Internal)) => TesterMove::Observe,
        }
    }
}
