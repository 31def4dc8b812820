//! The scripted tester: the tests that are written with a model.
//!
//! `send` gives an input whose values the test fixes or leaves to chance; `expect` looks and compares; `quiet` looks
//! for silence. An observation that the specification allows but the test does not expect makes a run inconclusive:
//! only the monitor says Fail. After the last step there is one more look if the last step was an input.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use ioxide_model::goal::{Goal, GoalKind, TestStep, TestStepKind};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind};
use ioxide_model::term::Term;
use ioxide_model::trace::Trace;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, Monitor, SwitchStep, take_switch};

use super::{Tester, TesterMove, TesterStop};
use crate::data::{PickedValues, ValueRequest, pick, pick_symbolic};

/// The number of silences that an expected observed input may take. As for purposes.
const MAX_SILENCES: usize = 3;

/// A test written with the model.
#[derive(Clone, Debug)]
struct WrittenTest {
    name: Arc<str>,
    steps: Vec<TestStep>,
}

/// Executes written tests, one per run.
#[derive(Clone, Debug)]
pub struct ScriptTester {
    scripts: Vec<WrittenTest>,
    rng: ChaCha8Rng,
    /// The first run of this worker, and the number of workers: run k executes test k, counted around.
    share: (usize, usize),
    /// The number of runs begun by this worker.
    runs: usize,
    /// The number of executions of every test.
    times: usize,
    progress: ScriptProgress,
}

#[derive(Clone, Debug, Default)]
struct ScriptProgress {
    /// The number of steps done.
    at: usize,
    /// The number of labels of the history taken into account.
    seen: usize,
    silences: usize,
    /// The time in seconds that has passed in this step, if it is a `quiet`.
    waited: Option<Rational>,
    looked: bool,
    off: Option<String>,
}

impl ScriptTester {
    /// Makes a tester for the written tests among `goals`, each executed `times` times.
    #[must_use]
    pub fn new(goals: &[Goal], times: usize) -> Self {
        let script = |goal: &Goal| match &goal.kind {
            GoalKind::Test(steps) => Some(WrittenTest { name: Arc::clone(&goal.name), steps: steps.clone() }),
            _ => None,
        };
        let scripts = goals.iter().filter_map(script).collect();
        let rng = ChaCha8Rng::seed_from_u64(0);
        Self { scripts, rng, share: (0, 1), runs: 0, times, progress: ScriptProgress::default() }
    }

    /// Returns the number of runs of all workers: every test as often as it is executed.
    #[must_use]
    pub fn n_runs(&self) -> usize {
        self.scripts.len().saturating_mul(self.times)
    }

    /// Returns the test of the current run; `None` before the first run, or without tests.
    fn script(&self) -> Option<&WrittenTest> {
        let at = self.run_number(self.runs.checked_sub(1)?);
        self.scripts.get(at.checked_rem(self.scripts.len())?)
    }

    /// The number, in all runs, of the run that this worker does after `before` others.
    fn run_number(&self, before: usize) -> usize {
        let (first, step) = self.share;
        before.saturating_mul(step).saturating_add(first)
    }

    fn current_step(&self) -> Option<TestStepKind> {
        Some(self.script()?.steps.get(self.progress.at)?.kind.clone())
    }

    /// Compares the labels since the last move with the test.
    fn catch_up(&mut self, cx: &Ctx<'_>, trace: &Trace) {
        while self.progress.off.is_none()
            && let Some(label) = trace.labels.get(self.progress.seen)
        {
            self.progress.seen += 1;
            let step = self.current_step();
            let is_last = self.progress.seen == trace.len();
            self.progress.off = match (&step, label) {
                // A delay before a message is the time that the message took; only at the end of the trace is it
                // silence.
                (Some(TestStepKind::Expect(gate, _)), Label::Delay(_)) if is_last => {
                    self.count_silence(cx, *gate)
                }
                (Some(TestStepKind::Quiet(wanted)), Label::Delay(time)) => {
                    self.count_delay(wanted.as_ref(), time)
                }
                // The order of the arms matters: a label is compared with the step only after all that may be passed
                // over.
                (_, Label::Delay(_)) | (None, _) => None,
                (Some(step), label) if matches(cx, step, label) => self.advance(),
                (Some(TestStepKind::Send(..)), Label::Quiescence) => None,
                (Some(TestStepKind::Expect(gate, _)), Label::Quiescence) => self.count_silence(cx, *gate),
                (Some(step), label) => {
                    let (seen, wanted) = (label.show(cx.pool, cx.sts), step_text(cx, step));
                    Some(format!("{seen} arrived where the test expects `{wanted}`"))
                }
            };
        }
    }

    /// Goes on to the next step; returns no reason to stop.
    fn advance(&mut self) -> Option<String> {
        self.progress.at += 1;
        self.progress.silences = 0;
        self.progress.waited = None;
        None
    }

    /// Counts a delay in a `quiet` of a timed model, which is over after `wanted` seconds.
    fn count_delay(&mut self, wanted: Option<&Rational>, time: &Rational) -> Option<String> {
        let waited = self.progress.waited.as_ref().map_or_else(|| time.clone(), |before| before + time);
        if wanted.is_none_or(|wanted| waited >= *wanted) {
            return self.advance();
        }
        self.progress.waited = Some(waited);
        None
    }

    /// Counts a silence where a message is expected; returns the reason to stop, which an observed input gives only
    /// after several.
    fn count_silence(&mut self, cx: &Ctx<'_>, gate: GateId) -> Option<String> {
        self.progress.silences += 1;
        let may_be_late = cx.sts.gates[gate].kind == GateKind::Observed;
        let patience = if may_be_late { MAX_SILENCES } else { 0 };
        let name = &cx.sts.gates[gate].name;
        (self.progress.silences > patience).then(|| format!("silence where the test expects `{name}`"))
    }

    /// Returns the move that gives an input of `gate` that the test and the specification allow.
    fn send(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, gate: GateId, when: Term) -> TesterMove {
        let mut owed = None;
        for wish in preferred_values(cx, monitor, gate, when) {
            match wish.pick(cx, &mut self.rng, gate) {
                PickedValues::Values(values) => {
                    return Label::message(cx.sts, gate, values)
                        .map_or(TesterMove::Observe, TesterMove::Stimulate);
                }
                // Another state of the belief may take the input, so the reason is kept and the next one is tried.
                PickedValues::Impossible => (),
                PickedValues::Unknown(why) => owed = Some(why),
            }
        }
        let name = &cx.sts.gates[gate].name;
        TesterMove::Stop(TesterStop::Inconclusive(match owed {
            Some(why) => format!("no values for `send {name}` were found: {why}"),
            None => format!("the model has no transition for `send {name}` here"),
        }))
    }

    fn last_move(&mut self, trace: &Trace) -> TesterMove {
        let is_input = matches!(trace.labels.last(), Some(Label::Input(..)));
        if is_input && !self.progress.looked {
            self.progress.looked = true;
            return TesterMove::Observe;
        }
        let name = self.script().map_or("", |script| &*script.name);
        TesterMove::Stop(TesterStop::GoalMet(format!("test `{name}` was executed")))
    }
}

/// The condition for the choice of values.
enum ValueChoice {
    Concrete(Term, Valuation),
    Symbolic(Vec<Term>, u32),
}

impl ValueChoice {
    /// Picks values for a message that satisfy the condition of the step.
    fn pick(&self, cx: &mut Ctx<'_>, rng: &mut ChaCha8Rng, gate: GateId) -> PickedValues {
        match self {
            Self::Concrete(guard, state) => pick(cx, rng, &ValueRequest { gate, guard: *guard, state }),
            Self::Symbolic(facts, depth) => {
                let fields = cx.sts.gates[gate].fields.clone();
                let fields: Vec<_> =
                    fields.into_iter().map(|field| cx.pool.indexed_var(field, *depth)).collect();
                pick_symbolic(cx, rng, &fields, facts)
            }
        }
    }
}

/// Returns the conditions for values of an input of `gate`, one for every switch of the belief that takes it.
fn preferred_values(cx: &mut Ctx<'_>, monitor: &Monitor, gate: GateId, when: Term) -> Vec<ValueChoice> {
    let sts = cx.sts;
    let from = |loc| sts.switches_from(loc).filter(move |(_, switch)| switch.gate == gate);
    let mut found = Vec::new();
    match monitor.belief() {
        Belief::Concrete(states) => {
            for state in states {
                for (_, switch) in from(state.loc) {
                    found
                        .push(ValueChoice::Concrete(cx.pool.and([switch.guard, when]), state.values.clone()));
                }
            }
        }
        Belief::Symbolic(states) => {
            for state in states {
                for (id, _) in from(state.loc) {
                    // The condition of the test is about fields as the model names them; in the path they carry the
                    // number of the step.
                    let SwitchStep::Taken(next) = take_switch(cx, state, id) else { continue };
                    let numbered = sts.gates[gate].fields.iter().map(|&field| {
                        let indexed = cx.pool.indexed_var(field, next.depth);
                        (field, cx.pool.var(indexed))
                    });
                    let numbered = numbered.collect();
                    let mut facts = next.path.facts().to_vec();
                    facts.push(cx.pool.substitute(when, &numbered));
                    found.push(ValueChoice::Symbolic(facts, next.depth));
                }
            }
        }
        Belief::Unspecified => (),
    }
    found
}

/// Returns whether `label` is an event of `step`.
fn matches(cx: &Ctx<'_>, step: &TestStepKind, label: &Label) -> bool {
    match (step, label) {
        (TestStepKind::Quiet(_), Label::Quiescence) => true,
        (
            TestStepKind::Send(gate, when) | TestStepKind::Expect(gate, when),
            Label::Input(seen, values) | Label::Output(seen, values),
        ) => gate == seen && is_match(cx, *gate, *when, values),
        _ => false,
    }
}

fn is_match(cx: &Ctx<'_>, gate: GateId, when: Term, values: &[Value]) -> bool {
    let fields: Valuation = cx.sts.gates[gate].fields.iter().copied().zip(values.iter().cloned()).collect();
    cx.pool.holds(when, &fields).unwrap_or(false)
}

/// A step as people write it.
fn step_text(cx: &Ctx<'_>, step: &TestStepKind) -> String {
    let with = |verb: &str, gate: GateId, when: Term| {
        let name = &cx.sts.gates[gate].name;
        if cx.pool.conjuncts(when).is_empty() {
            format!("{verb} {name}")
        } else {
            format!("{verb} {name} when {}", cx.pool.show(when))
        }
    };
    match step {
        TestStepKind::Send(gate, when) => with("send", *gate, *when),
        TestStepKind::Expect(gate, when) => with("expect", *gate, *when),
        TestStepKind::Quiet(_) => "quiet".into(),
    }
}

/// Converts seconds, rounded up to milliseconds; negative ones are 0, very long ones are cut.
fn duration(seconds: &Rational) -> Duration {
    let milliseconds = (seconds * Rational::from(1000)).ceil().to_i64().unwrap_or(i64::MAX);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}

impl Tester for ScriptTester {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.runs += 1;
        self.progress = ScriptProgress::default();
    }

    fn goal(&self) -> Option<String> {
        Some(format!("test {}", self.script()?.name))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.catch_up(cx, trace);
        if let Some(reason) = &self.progress.off {
            return TesterMove::Stop(TesterStop::Inconclusive(reason.clone()));
        }
        match self.current_step() {
            None => self.last_move(trace),
            Some(TestStepKind::Send(gate, when)) => self.send(cx, monitor, gate, when),
            Some(TestStepKind::Expect(..) | TestStepKind::Quiet(None)) => TesterMove::Observe,
            Some(TestStepKind::Quiet(Some(seconds))) => TesterMove::ObserveFor(duration(&seconds)),
        }
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.share = (worker, jobs.max(1));
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn is_done(&self) -> bool {
        self.run_number(self.runs) >= self.n_runs()
    }
}
