//! Tries every input of a model on a system, each in a state that accepts it.
//!
//! A run of its own for every input: along a shortest path of the model to a state that accepts the input, then the
//! input, then everything that comes until silence. Then all of it once more, backwards: a system that replies
//! otherwise than before may not have been reset.
//!
//! *Promises.* The runs are those of a test, so a slow reply is waited for and a message that crosses an input is no
//! mistake. What the model alone decides is told apart from a message that cannot be read or a system that ends.

mod checks;

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Sts, SwitchId};
use ioxide_model::trace::{Breakdown, Trace};
use ioxide_model::verdict::Verdict;
use ioxide_record::event::{Event, EventKind, Explanation};
use ioxide_record::reporter::EventSink;
use ioxide_symex::{Ctx, ExploreLimits, Monitor};
use ioxide_testgen::purpose::{Criterion, PurposeItem, PurposeSet, TestPurpose, WhyUnreached, coverage};
use ioxide_testgen::tester::purpose::PurposeGuided;
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};
use ioxide_wire::adapter::AdapterError;

pub use self::checks::show_time;
use crate::clock::MonotonicClock;
use crate::coverage::Coverage;
use crate::run::{RunConfig, RunEnd, RunId, RunResult, RunSetup, run};

/// The number of symbolic states that are explored for paths. Chosen by feel: paths to most inputs are short, and the
/// system waits.
const MAX_EXPLORED_STATES: usize = 5_000;
/// The time for the search of paths. Chosen by feel: the check should end soon, and most paths are found at once.
const SEARCH_TIME: Duration = Duration::from_secs(10);
/// The number of walks to one input, each with other values. Chosen by feel: a system that chooses may go another way
/// twice.
const MAX_WALKS: u64 = 3;
/// The number of messages after one input that are looked at. Chosen by feel: it ends a system that never stops
/// sending.
const MAX_REPLIES: usize = 100;
/// The number of labels of one walk. Chosen by feel: far longer than a path of the search.
const MAX_LABELS: usize = 10_000;

/// An input of the model, and the result of its walk.
#[derive(Clone, Debug)]
pub struct InputCheck {
    /// The kind of the input.
    pub gate: GateId,
    /// The result of the walk.
    pub result: InputResult,
}

/// The result of the walk to an input.
#[derive(Clone, Debug)]
pub enum InputResult {
    /// It was sent, and the model allows everything that was observed.
    Sent(SentCheck),
    /// No path to a state that accepts it is known.
    NoPath(WhyUnreached),
    /// The walk ended before it was sent, for this reason: the system chose another way, or the protocol cannot write
    /// the values.
    NotReached(String),
    /// The model forbids what was observed.
    Forbidden(Box<Explanation>),
    /// The system broke down, with this reason.
    Broken(Breakdown, String),
    /// There was trouble on the way to the system.
    Error(AdapterError),
    /// The check was interrupted.
    Interrupted,
}

/// An input that was sent, and the replies to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCheck {
    /// The input with its values.
    pub input: Label,
    /// The number of inputs that led to the state in which it was sent.
    pub inputs_before: usize,
    /// The messages until silence.
    pub replies: Vec<Label>,
    /// The longest time that a reply of the walk took; `None` if there was none.
    pub slowest: Option<Duration>,
}

/// The results of the check.
#[derive(Clone, Debug)]
pub struct InputChecks {
    /// One result for every input of the model, in the order of the model.
    pub inputs: Vec<InputCheck>,
    /// The first input whose replies differed the second time; `None` if all were the same.
    pub differing: Option<DifferingReplies>,
}

/// An input whose replies were not the same after a reset.
#[derive(Clone, Debug)]
pub struct DifferingReplies {
    /// The input.
    pub input: Label,
    /// The replies to it at first.
    pub before: Vec<Label>,
    /// The result of the repetition.
    pub again: InputResult,
}

/// Tries every input of the model. The values of `examples` are tried before others.
///
/// The check ends at an error or an interruption: the inputs that remain have no result.
///
/// # Errors
/// Never: events are kept in memory.
pub fn check_inputs(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    examples: &[Label],
) -> io::Result<InputChecks> {
    let config = RunConfig { max_steps: MAX_LABELS, ..config.clone() };
    let limits = ExploreLimits { max_states: MAX_EXPLORED_STATES, max_depth: u32::MAX };
    let started = Instant::now();
    // One search for all inputs, cut off by time: what it did not reach is reported as such, and is no error.
    let set = coverage(setup.cx, Criterion::Gates, limits, &mut |_| {
        if started.elapsed() < SEARCH_TIME { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let gates = setup.cx.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
    let gates: Vec<GateId> = gates.map(|(id, _)| id).collect();
    let mut check = InputWalks { setup, config: &config, examples, runs: 0 };
    let (mut inputs, mut walked) = (Vec::new(), Vec::new());
    for gate in gates {
        // The shortest path there is; the search may have found a longer one on its way to something else.
        let at_once = path_from_start(check.setup.cx, gate);
        let path = at_once.map_or_else(|| path_to(check.setup.cx.sts, &set, gate), Ok);
        let result = match path {
            Ok(purpose) => {
                let (result, seed) = check.walk_until_sent(gate, &purpose)?;
                if let InputResult::Sent(sent) = &result {
                    walked.push((gate, purpose, seed, sent.clone()));
                }
                result
            }
            Err(why) => InputResult::NoPath(why),
        };
        // A refused input is a result about this input. Any other error would meet the remaining ones too.
        let is_over = matches!(&result, InputResult::Error(error) if !matches!(error, AdapterError::Refused(_)))
            || matches!(result, InputResult::Interrupted);
        inputs.push(InputCheck { gate, result });
        if is_over {
            return Ok(InputChecks { inputs, differing: None });
        }
    }
    let differing = check.repeat_backwards(walked)?;
    Ok(InputChecks { inputs, differing })
}

/// Returns the purpose of a single step, if the initial state accepts inputs of kind `gate`.
fn path_from_start(cx: &mut Ctx<'_>, gate: GateId) -> Option<TestPurpose> {
    let start = cx.sts.initial;
    let switches = cx.sts.switches.iter_enumerated();
    let first = switches.filter(|(_, switch)| switch.gate == gate && switch.source == start);
    let first: Vec<SwitchId> = first.map(|(id, _)| id).collect();
    let name = cx.sts.gates[gate].name.to_string();
    first
        .into_iter()
        .find_map(|switch| TestPurpose::from_path(cx, name.clone(), &[PathStep::Take(switch)]).ok())
}

/// Returns the purpose that ends with the first input of kind `gate` on a path of `set`.
fn path_to(sts: &Sts, set: &PurposeSet, gate: GateId) -> Result<TestPurpose, WhyUnreached> {
    let cut = |purpose: &TestPurpose| {
        let has_gate = |switch: SwitchId| sts.switches[switch].gate == gate;
        let end = purpose.path().position(|step| step.switch().is_some_and(has_gate))?;
        let steps = purpose.steps[..=end].to_vec();
        Some(TestPurpose { name: sts.gates[gate].name.to_string(), steps, end: Vec::new(), doubt: None })
    };
    let found = set.purposes.iter().filter_map(cut).min_by_key(|purpose| purpose.steps.len());
    found.ok_or_else(|| {
        let unreached = set.unreached.iter().find(|one| one.item == PurposeItem::Gate(gate));
        unreached.map_or(WhyUnreached::Full, |one| one.why.clone())
    })
}

/// The walks under way.
struct InputWalks<'w, 'b, 'm> {
    setup: &'w mut RunSetup<'b, 'm>,
    config: &'w RunConfig,
    examples: &'w [Label],
    runs: u64,
}

impl InputWalks<'_, '_, '_> {
    /// Walks along `purpose` until its last input was sent, a few times if the system goes another way; also returns
    /// the seed of the last walk.
    fn walk_until_sent(&mut self, gate: GateId, purpose: &TestPurpose) -> io::Result<(InputResult, u64)> {
        let mut last = (InputResult::Interrupted, 0);
        for seed in 1..=MAX_WALKS {
            // Another seed gives other values and other choices; the path stays.
            last = (self.walk_once(gate, purpose, seed)?, seed);
            if !matches!(last.0, InputResult::NotReached(_)) {
                break;
            }
        }
        Ok(last)
    }

    fn walk_once(&mut self, gate: GateId, purpose: &TestPurpose, seed: u64) -> io::Result<InputResult> {
        self.runs += 1;
        let guide = PurposeGuided::new(purpose.clone(), seed).with_examples(self.examples.to_vec());
        let mut tester = ListeningTester { guide, gate, sent_at: None };
        let mut covered = Coverage::new(self.setup.cx.sts);
        let (mut events, mut clock) = (Vec::<Event>::new(), MonotonicClock::start());
        let id = RunId { run: self.runs, seed };
        let sink = EventSink::new(&mut events, &mut clock);
        let finished = run(self.setup, &mut tester, self.config, id, &mut covered, &sink)?;
        let n_inputs = count_inputs(self.setup.cx.sts, purpose);
        Ok(judge_walk(finished, gate, n_inputs, &events))
    }

    /// Walks to every input again, backwards, as what one input does another may undo.
    fn repeat_backwards(
        &mut self,
        walked: Vec<(GateId, TestPurpose, u64, SentCheck)>,
    ) -> io::Result<Option<DifferingReplies>> {
        for (gate, purpose, seed, sent) in walked.into_iter().rev() {
            // The same seed, so that the same inputs are sent.
            let again = self.walk_once(gate, &purpose, seed)?;
            let is_same = matches!(&again, InputResult::Sent(now) if are_same(&now.replies, &sent.replies));
            if !is_same {
                return Ok(Some(DifferingReplies { input: sent.input, before: sent.replies, again }));
            }
        }
        Ok(None)
    }
}

/// Returns whether both have the same messages. Those of different connections have no order.
fn are_same(one: &[Label], other: &[Label]) -> bool {
    // As multisets: each message of one side is used up by one of the other.
    let mut left: Vec<&Label> = other.iter().collect();
    let is_in_both = |label: &Label| left.iter().position(|it| *it == label).map(|at| left.swap_remove(at));
    one.len() == other.len() && one.iter().map(is_in_both).all(|found| found.is_some())
}

fn count_inputs(sts: &Sts, purpose: &TestPurpose) -> usize {
    purpose.switches().filter(|&switch| sts.kind_of(&sts.switches[switch]) == GateKind::Input).count()
}

/// Returns the result of a walk of `n_inputs` inputs, of which the last has the kind `gate`.
fn judge_walk(finished: RunResult, gate: GateId, n_inputs: usize, events: &[Event]) -> InputResult {
    let sent = find_sent(&finished, gate, n_inputs);
    match finished.end {
        RunEnd::Verdict(Verdict::Pass, reason) | RunEnd::Verdict(Verdict::Inconclusive, reason) => {
            sent.map_or(InputResult::NotReached(reason), InputResult::Sent)
        }
        RunEnd::Verdict(Verdict::Fail, reason) => match finished.trace.breakdown {
            Some(how) => InputResult::Broken(how, reason),
            None => match find_explanation(events) {
                Some(explanation) => InputResult::Forbidden(Box::new(explanation)),
                None => InputResult::NotReached(reason),
            },
        },
        RunEnd::Error(error) => InputResult::Error(error),
        RunEnd::Interrupted => InputResult::Interrupted,
    }
}

/// Returns the last input of the walk with the replies to it; `None` if it was not sent.
fn find_sent(finished: &RunResult, gate: GateId, n_inputs: usize) -> Option<SentCheck> {
    let labels = &finished.trace.labels;
    let inputs = labels.iter().enumerate().filter(|(_, label)| matches!(label, Label::Input(..)));
    // The input counts as reached only at the end of the path: one of the same kind may occur on the way.
    let (at, input) = inputs.take(n_inputs).filter(|(_, label)| is_of(label, gate)).last()?;
    let replies = labels[at + 1..].iter().filter(|label| matches!(label, Label::Output(..))).cloned();
    let longest = |histogram: &crate::clock::latency::Histogram| histogram.quantile(1, 1);
    Some(SentCheck {
        input: input.clone(),
        inputs_before: n_inputs.saturating_sub(1),
        replies: replies.collect(),
        slowest: finished.latencies.gates().filter_map(|(_, histogram)| longest(histogram)).max(),
    })
}

fn is_of(label: &Label, gate: GateId) -> bool {
    matches!(label, Label::Input(of, _) if *of == gate)
}

fn find_explanation(events: &[Event]) -> Option<Explanation> {
    events.iter().rev().find_map(|event| match &event.event {
        EventKind::Verdict(verdict) => verdict.explanation.clone(),
        _ => None,
    })
}

/// Follows a path, and then listens until the system is silent.
struct ListeningTester {
    guide: PurposeGuided,
    /// The kind of the last input of the path.
    gate: GateId,
    /// The length of the trace when the path was at its end.
    sent_at: Option<usize>,
}

impl Tester for ListeningTester {
    fn start(&mut self, seed: u64) {
        self.guide.start(seed);
        self.sent_at = None;
    }

    fn goal(&self) -> Option<String> {
        self.guide.goal()
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        let next = self.guide.next(cx, monitor, trace);
        if !matches!(next, TesterMove::Stop(TesterStop::GoalMet(_))) {
            return next;
        }
        debug_assert!(
            trace.labels.iter().any(|label| is_of(label, self.gate)),
            "the path ends with the input"
        );
        let sent_at = *self.sent_at.get_or_insert(trace.len());
        // The guide has looked once. In a timed model a delay is no end of the replies, but the guide stops there too.
        if trace.ends_in_silence() || trace.len() - sent_at >= MAX_REPLIES {
            return next;
        }
        TesterMove::Observe
    }
}

#[cfg(test)]
mod tests;
