//! One test run: the tester moves, the adapter acts, the monitor judges, events are told.
//!
//! 002's on-the-fly algorithm. There is one loop for every kind of test; they differ in
//! the tester. An output that is already there comes before an input that is only meant to
//! be sent. Outputs that arrive while an input is on its way may have come before or after it;
//! only if the specification allows no order of them is it a failure.
//!
//! In a timed model (001) time is part of what is seen: a message comes with the delay before it, and silence is a
//! delay. Time is that of the system, if it lets itself be told how late it is, or of this machine, with a stated
//! tolerance. An input whose instant has passed before it was sent is not sent: the tester is too late.
//!
//! *Promises.* Fail comes from the monitor and from nothing else. Trouble with the adapter
//! is an error of the run, never a verdict. Every label is told before the next move.

mod pace;
mod timed;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_symex::{After, Belief, Ctx, Forbidden, Observed, Tolerance, explaining};
use ioxide_testgen::tester::{Finding, Move, Stop, Tester};

use self::pace::Pace;
use crate::adapter::{Adapter, AdapterError, Observation};
use crate::clock::latency::Latencies;
use crate::clock::patience::Patience;
use crate::clock::{duration, seconds};
use crate::coverage::Coverage;
use crate::event::{
    EventKind, FindingTold, LabelTold, Outcome, RunFinished, RunStarted, StepTold, ToleranceTold, Trouble,
    VerdictTold,
};
use crate::explain::{explanation, signature, timed_finding};
use crate::line::cut;
use crate::objective::{Objective, Watch};
use crate::reporter::Teller;

/// Characters told of a message as it was on the wire.
const MAX_RAW: usize = 2_000;

/// What a run needs besides a tester.
pub struct Bench<'b, 'm> {
    /// The specification and a solver.
    pub cx: &'b mut Ctx<'m>,
    /// The system under test.
    pub adapter: &'b mut dyn Adapter,
    /// Set by whoever wants the run to end after its current step.
    pub stop: &'b AtomicBool,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// How long silence must last to count as quiescence.
    pub patience: Patience,
    /// The traces after which observations are judged; all of them if `None`.
    pub objective: Option<Arc<Objective>>,
    /// How far instants on the clock of this machine may be from the true ones; virtual time is exact.
    pub tolerance: Tolerance,
    /// Labels after which the run ends whatever the tester wants.
    pub max_steps: usize,
}

impl Default for RunConfig {
    /// A fifth of a second, a tenth of a second for messages on their way, a million labels.
    fn default() -> Self {
        let patience = Patience::new(Duration::from_millis(200));
        let latency = seconds(Duration::from_millis(100));
        let tolerance = Tolerance { latency, ..Tolerance::default() };
        Self { patience, objective: None, tolerance, max_steps: 1_000_000 }
    }
}

/// Which run it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunId {
    /// Its number.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was seen.
    pub trace: Trace,
    /// How it ended.
    pub end: End,
    /// How many answers the solver owed.
    pub doubts: usize,
    /// What a failure has in common with others of its kind.
    pub signature: Option<String>,
    /// How long outputs took, as far as the clock of the events shows.
    pub latencies: Latencies,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum End {
    /// With this verdict, for this reason.
    Verdict(Verdict, String),
    /// Trouble with the system or the way to it.
    Error(AdapterError),
    /// Somebody stopped it.
    Interrupted,
}

impl End {
    /// The kind of end.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Verdict(verdict, _) => (*verdict).into(),
            Self::Error(_) => Outcome::Error,
            Self::Interrupted => Outcome::Interrupted,
        }
    }
}

/// Runs one test on a freshly reset system.
///
/// # Errors
/// If an event cannot be told.
pub fn run(
    bench: &mut Bench<'_, '_>,
    tester: &mut dyn Tester,
    config: &RunConfig,
    id: RunId,
    coverage: &mut Coverage,
    teller: &Teller<'_>,
) -> io::Result<Finished> {
    tester.start(id.seed);
    let goal = tester.goal().unwrap_or_default();
    let trouble = bench.adapter.reset().err();
    let pace = Pace::start(bench.cx.sts.is_timed(), bench.adapter);
    let tolerance = match pace {
        Pace::Wall(_) => config.tolerance.clone(),
        Pace::Untimed | Pace::Virtual(_) => Tolerance::default(),
    };
    let told = (!tolerance.is_exact()).then(|| ToleranceTold::from(&tolerance));
    let (run, seed) = (id.run, id.seed);
    teller.tell(EventKind::RunStarted(RunStarted { run, seed, goal, tolerance: told }))?;
    let after = After::with_tolerance(bench.cx, tolerance);
    let mut walk = Walk {
        bench,
        config,
        pace,
        at: Duration::ZERO,
        after,
        raw: None,
        trace: Trace::default(),
        watch: Watch::default(),
        signature: None,
        latencies: Latencies::default(),
        told_at: 0,
        coverage,
        teller,
    };
    let ended = match trouble {
        Some(error) => Ended::Trouble(error),
        None => walk.go(tester)?,
    };
    let finding = tester.finding(walk.bench.cx, &walk.trace);
    let end = match ended {
        Ended::Stopped(Stop::GoalMet(reason)) => End::Verdict(Verdict::Pass, reason),
        Ended::Stopped(Stop::GoalMissed(reason)) => End::Verdict(Verdict::Inconclusive, reason),
        Ended::Forbidden(forbidden) => walk.fail(&forbidden, finding.as_ref())?,
        Ended::Trouble(AdapterError::Interrupted) => End::Interrupted,
        Ended::Outside(label) => End::Verdict(Verdict::Inconclusive, walk.outside(&label)),
        Ended::Trouble(error) => End::Error(error),
        Ended::Interrupted => End::Interrupted,
    };
    walk.finish(end, finding.as_ref(), id)
}

/// A run under way.
struct Walk<'w, 'b, 'm, 'r> {
    bench: &'w mut Bench<'b, 'm>,
    config: &'w RunConfig,
    pace: Pace,
    /// The instant up to which time was told.
    at: Duration,
    after: After,
    /// The next message to tell, as it was on the wire.
    raw: Option<String>,
    trace: Trace,
    watch: Watch,
    signature: Option<String>,
    latencies: Latencies,
    /// When the last step was told.
    told_at: u64,
    coverage: &'w mut Coverage,
    teller: &'w Teller<'r>,
}

/// Why the loop was left.
enum Ended {
    Stopped(Stop),
    Forbidden(Box<Forbidden>),
    /// A label the specification forbids, after a trace that is not to be judged.
    Outside(Label),
    Trouble(AdapterError),
    Interrupted,
}

/// Why a step is the last one, if it is.
type Step = Result<(), Ended>;

impl Walk<'_, '_, '_, '_> {
    fn go(&mut self, tester: &mut dyn Tester) -> io::Result<Ended> {
        loop {
            if self.bench.stop.load(Ordering::Relaxed) {
                return Ok(Ended::Interrupted);
            }
            if self.trace.len() >= self.config.max_steps {
                let reason = format!("the limit of {} steps was reached", self.config.max_steps);
                return Ok(Ended::Stopped(Stop::GoalMissed(reason)));
            }
            let step = match tester.next(self.bench.cx, &self.after, &self.trace) {
                Move::Stimulate(label) if self.pace == Pace::Untimed => self.stimulate(&label)?,
                Move::Stimulate(label) => self.stimulate_after(&Rational::ZERO, &label)?,
                Move::StimulateAfter(wait, label) => self.stimulate_after(&wait, &label)?,
                Move::Observe if self.pace == Pace::Untimed => self.observe(Duration::ZERO)?,
                Move::Observe => {
                    let horizon = self.after.horizon(self.bench.cx).add(&self.lag());
                    self.look(duration(&horizon))?
                }
                Move::ObserveFor(time) if self.pace == Pace::Untimed => self.observe(time)?,
                Move::ObserveFor(time) => self.look(time)?,
                Move::Stop(stop) => return Ok(Ended::Stopped(stop)),
            };
            if let Err(ended) = step {
                return Ok(ended);
            }
        }
    }

    /// Gives an input, unless the system was quicker: then the tester may think again.
    fn stimulate(&mut self, label: &Label) -> io::Result<Step> {
        match self.bench.adapter.poll() {
            Ok(None) => (),
            Ok(Some(quicker)) => {
                self.note_raw();
                return self.judge(&quicker);
            }
            Err(error) => return Ok(Err(Ended::Trouble(error))),
        }
        let sent = match self.bench.adapter.send(label) {
            Ok(sent) => sent,
            Err(error) => return self.unsent(label, error),
        };
        if sent.earlier.is_empty() {
            self.raw = sent.raw;
            return self.judge(label);
        }
        self.judge_racing(&sent.earlier, label)
    }

    /// Judges an input and the outputs that came while it was on its way.
    ///
    /// Whether the system took the input before or after them is not known: an adapter may confirm late.
    /// So the belief becomes that of every order the specification allows. The order told is the one
    /// reported if it is allowed. If none is, the outputs follow the input, so that the trace holds all.
    fn judge_racing(&mut self, outputs: &[Label], input: &Label) -> io::Result<Step> {
        let with_input_at = |at: usize| {
            let mut labels = outputs.to_vec();
            labels.insert(at, input.clone());
            labels
        };
        let mut orders = Vec::new();
        for at in (0..=outputs.len()).rev() {
            let labels = with_input_at(at);
            orders.extend(self.observed(&labels).map(|after| (labels, after)));
        }
        let told = orders.first().map_or_else(|| with_input_at(0), |(labels, _)| labels.clone());
        for label in &told {
            let step = self.judge(label)?;
            if step.is_err() {
                return Ok(step);
            }
        }
        for (_, other) in orders.into_iter().skip(1) {
            self.after.join(other);
        }
        Ok(Ok(()))
    }

    /// The monitor after `labels`, if none of them is forbidden.
    fn observed(&mut self, labels: &[Label]) -> Option<After> {
        let mut after = self.after.clone();
        for label in labels {
            after.observe(self.bench.cx, label).ok()?;
        }
        Some(after)
    }

    /// An input whose receipt was not confirmed: unless the system refused it, it is part of what happened
    /// (it may be what broke the system), so it is told, and a replay gives it again.
    fn unsent(&mut self, label: &Label, error: AdapterError) -> io::Result<Step> {
        if !matches!(error, AdapterError::Refused(_)) {
            // Whatever the monitor thinks of an input, it is never forbidden.
            let _ = self.judge(label)?;
        }
        Ok(Err(Ended::Trouble(error)))
    }

    /// Looks; silence lasts as long as it must here, and at least this long.
    fn observe(&mut self, at_least: Duration) -> io::Result<Step> {
        let patience = self.patience().max(at_least);
        match self.bench.adapter.observe(patience) {
            Ok(Observation::Output(label)) => {
                self.note_raw();
                self.judge(&label)
            }
            Ok(Observation::Quiet) => self.judge(&Label::Quiescence),
            Err(error) => Ok(Err(Ended::Trouble(error))),
        }
    }

    /// Remembers what the message that just came was on the wire.
    fn note_raw(&mut self) {
        self.raw = self.bench.adapter.raw().map(str::to_owned);
    }

    /// How long silence must last now.
    fn patience(&self) -> Duration {
        let is_message = |label: &&Label| matches!(label, Label::Input(..) | Label::Output(..));
        let last = self.trace.labels.iter().rev().find(is_message);
        match self.after.belief() {
            Belief::Concrete(states) => self.config.patience.here(last, states.iter().map(|state| state.loc)),
            Belief::Symbolic(states) => self.config.patience.here(last, states.iter().map(|state| state.loc)),
            Belief::Unspecified => self.config.patience.here(last, []),
        }
    }

    /// Counts how long an output took since the last step.
    fn count_latency(&mut self, label: &Label, told_at: u64) {
        if let Label::Output(gate, _) = label
            && told_at > self.told_at
        {
            let taken = Duration::from_nanos(told_at - self.told_at);
            self.latencies.add(*gate, taken, self.patience());
        }
        if !matches!(label, Label::Delay(_)) {
            self.told_at = told_at;
        }
    }

    /// Moves the monitor on by one label and tells the step.
    fn judge(&mut self, label: &Label) -> io::Result<Step> {
        let switches = explaining(self.bench.cx, self.after.belief(), label);
        let is_inside = self.is_inside();
        self.advance_watch(label);
        let judged = self.after.observe(self.bench.cx, label);
        self.coverage.count(&switches);
        self.told(label, &switches)?;
        Ok(match judged {
            Ok(Observed::Allowed | Observed::Unspecified) => Ok(()),
            Err(forbidden) if is_inside => Err(Ended::Forbidden(forbidden)),
            Err(_) => Err(Ended::Outside(label.clone())),
        })
    }

    /// Tells a step, which becomes part of the trace.
    fn told(&mut self, label: &Label, switches: &[SwitchId]) -> io::Result<()> {
        self.trace.labels.push(label.clone());
        let sts = self.bench.cx.sts;
        let raw = match label {
            Label::Input(..) | Label::Output(..) => self.raw.take().map(|raw| cut(&raw, MAX_RAW)),
            Label::Quiescence | Label::Delay(_) => None,
        };
        let step = StepTold {
            step: self.trace.len(),
            label: LabelTold { raw, ..LabelTold::new(self.bench.cx.pool, sts, label) },
            belief: self.after.belief().size(),
            switches: switches.iter().map(|&id| sts.switches[id].label.to_string()).collect(),
        };
        let is_ours = |gate: GateId| sts.gates[gate].kind == GateKind::Input;
        let told_at = self.teller.tell(match label {
            Label::Input(gate, _) if is_ours(*gate) => EventKind::Stimulus(step),
            Label::Input(..) | Label::Output(..) | Label::Quiescence | Label::Delay(_) => {
                EventKind::Observation(step)
            }
        })?;
        self.count_latency(label, told_at);
        Ok(())
    }

    /// Whether what comes now is judged.
    fn is_inside(&self) -> bool {
        let objective = self.config.objective.as_ref();
        objective.is_none_or(|objective| self.watch.is_inside(self.bench.cx, objective, self.after.belief()))
    }

    fn advance_watch(&mut self, label: &Label) {
        if let Some(objective) = &self.config.objective {
            self.watch.advance(self.bench.cx, objective, self.after.belief(), label);
        }
    }

    fn outside(&self, label: &Label) -> String {
        let seen = label.show(self.bench.cx.pool, self.bench.cx.sts);
        let name = self.config.objective.as_ref().map_or("", |objective| &*objective.name);
        format!("the specification does not allow {seen} here, but this is outside the objective `{name}`")
    }

    fn fail(&mut self, forbidden: &Forbidden, finding: Option<&Finding>) -> io::Result<End> {
        let explanation = explanation(self.bench.cx, forbidden);
        let judged = timed_finding(self.bench.cx, forbidden, &self.trace);
        let finding = match (finding.map(FindingTold::from), judged) {
            // The part of a guard that does not hold says more than the whole guard of an arc.
            (Some(guided), Some(FindingTold { because: Some(part), .. })) => {
                Some(FindingTold { because: Some(part), ..guided })
            }
            (guided, judged) => guided.or(judged),
        };
        let reason = match &forbidden.label {
            Label::Delay(_) => "the specification does not allow so long a silence here".into(),
            _ => format!("the specification does not allow {} here", explanation.observed),
        };
        self.signature = Some(signature(self.bench.cx, forbidden));
        let told = VerdictTold {
            verdict: Verdict::Fail.into(),
            reason: reason.clone(),
            explanation: Some(explanation),
            signature: self.signature.clone(),
            finding,
            last_words: self.bench.adapter.last_words(),
        };
        self.teller.tell(EventKind::Verdict(told))?;
        Ok(End::Verdict(Verdict::Fail, reason))
    }

    fn finish(self, end: End, finding: Option<&Finding>, id: RunId) -> io::Result<Finished> {
        match &end {
            End::Verdict(Verdict::Fail, _) | End::Interrupted => (),
            End::Verdict(verdict, reason) => {
                let told = VerdictTold {
                    verdict: (*verdict).into(),
                    reason: reason.clone(),
                    explanation: None,
                    signature: None,
                    finding: finding.map(FindingTold::from),
                    last_words: String::new(),
                };
                self.teller.tell(EventKind::Verdict(told))?;
            }
            End::Error(error) => {
                let last_words = self.bench.adapter.last_words();
                self.teller.tell(EventKind::Trouble(Trouble { error: error.to_string(), last_words }))?;
            }
        }
        let (outcome, steps, doubts) = (end.outcome(), self.trace.len(), self.after.doubts());
        self.teller.tell(EventKind::RunFinished(RunFinished { run: id.run, outcome, steps, doubts }))?;
        Ok(Finished { trace: self.trace, end, doubts, signature: self.signature, latencies: self.latencies })
    }
}

#[cfg(test)]
mod tests;
