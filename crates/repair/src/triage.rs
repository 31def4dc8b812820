//! Evidence about a failure, for the model's side and for the system's: facts of the record, never a verdict.
//!
//! A transition that was taken many times as the model says speaks against an error of the model there. The same
//! difference in every failing run speaks for one that is systematic, in one of the two. An input of the same state
//! that behaves as the model says narrows it down to what the inputs do not share.

use ioxide_model::counted::count_noun;
use ioxide_model::label::certain_switch;
use ioxide_model::sts::{GateKind, LocId, Sts};
use ioxide_record::event::{EventKind, Explanation, LabelKind, StepRecord};
use ioxide_record::format::Record;

/// The number of other inputs that are named. Chosen by feel: the point is made with two.
const MAX_SIBLINGS: usize = 2;

/// A fact about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriageFact {
    /// The input before the failure was answered as the model says in other places.
    AnsweredElsewhere {
        /// The transition of the input.
        transition: String,
        /// The number of times that it was taken and what followed was allowed.
        times: usize,
        /// The number of runs in which that happened.
        runs: usize,
    },
    /// The input before the failure was never answered as the model says.
    NeverAnswered {
        /// The transition of the input.
        transition: String,
        /// The number of times that it was taken.
        times: usize,
    },
    /// An output that the model allowed at the failure was seen elsewhere.
    AllowedElsewhere {
        /// The transition of the output.
        transition: String,
        /// The number of times that it was taken.
        times: usize,
    },
    /// Failing runs differ from the model in this way.
    Difference {
        /// The output that was seen, and the one that was expected.
        text: String,
        /// The number of failing runs with this difference, and of all.
        runs: usize,
        /// The number of failing runs.
        of: usize,
    },
    /// Another input of the same state was answered as the model says.
    Sibling {
        /// The transition of the input.
        transition: String,
        /// The number of times that it was taken and what followed was allowed.
        times: usize,
    },
}

impl TriageFact {
    /// Returns the kind of fact, as programs read it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AnsweredElsewhere { .. } => "answered-elsewhere",
            Self::NeverAnswered { .. } => "never-answered",
            Self::AllowedElsewhere { .. } => "allowed-elsewhere",
            Self::Difference { .. } => "difference",
            Self::Sibling { .. } => "sibling",
        }
    }

    /// Returns the fact as a sentence.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::AnsweredElsewhere { transition, times, runs } => {
                let (times, runs) = (count_noun(*times, "time"), count_noun(*runs, "run"));
                format!("`{transition}` was taken {times} in {runs} with an answer that the model allows")
            }
            Self::NeverAnswered { transition, times } => {
                let times = count_noun(*times, "time");
                format!("`{transition}` was taken {times} and never answered as the model says")
            }
            Self::AllowedElsewhere { transition, times } => {
                format!(
                    "`{transition}`, which was expected, was seen {} elsewhere",
                    count_noun(*times, "time")
                )
            }
            Self::Difference { text, runs, of: 1 } if *runs == 1 => format!("one run failed: {text}"),
            Self::Difference { text, runs, of } if runs == of => {
                format!("all {of} failing runs differ in the same way: {text}")
            }
            Self::Difference { text, runs, of } => {
                format!("{runs} of {of} failing runs differ in this way: {text}")
            }
            Self::Sibling { transition, times } => {
                let times = count_noun(*times, "time");
                format!("`{transition}`, from the same state, was answered {times} as the model says")
            }
        }
    }
}

/// Returns the evidence about the first failure of `record`, a record of runs against the system `sts`.
#[must_use]
pub fn triage(sts: &Sts, record: &Record) -> Vec<TriageFact> {
    let runs = told_runs(record);
    let Some(failed) = runs.iter().find(|run| run.failure.is_some()) else { return Vec::new() };
    let Some(explanation) = &failed.failure else { return Vec::new() };
    let mut facts = Vec::new();
    // First the difference, then what the same input did elsewhere, then what narrows it down.
    facts.push(shared_difference(&runs, explanation));
    let input = failed.last_input();
    if let Some(input) = &input {
        facts.push(answered(&runs, input));
    }
    facts.extend(allowed_elsewhere(&runs, explanation));
    if let Some(input) = &input {
        facts.extend(siblings(sts, &runs, input));
    }
    facts
}

/// A run as its record tells it.
struct ToldRun<'r> {
    steps: Vec<&'r StepRecord>,
    /// The explanation of its failure; `None` if it did not fail by a message or by silence.
    failure: Option<&'r Explanation>,
}

impl ToldRun<'_> {
    /// Returns the transition of the last input before the failure, if it is certain.
    fn last_input(&self) -> Option<String> {
        let inputs = self.steps.iter().rev().find(|step| step.label.kind == LabelKind::Input)?;
        certain_switch(&inputs.switches).cloned()
    }

    /// Returns how often a transition was taken for certain, and how often the next observation was allowed.
    fn count_answers(&self, transition: &str) -> (usize, usize) {
        let is_taken =
            |step: &&StepRecord| certain_switch(&step.switches).is_some_and(|switch| switch == transition);
        let taken = self.steps.iter().enumerate().filter(|(_, step)| is_taken(step));
        let (mut times, mut answered) = (0, 0);
        // Only certain switches are counted. A step that two transitions explain is evidence for neither.
        for (at, _) in taken {
            times += 1;
            // The label after the last one is the one that failed; it is the last step of a failing run.
            let next = at + 1;
            let has_next = next < self.steps.len();
            let is_failure = self.failure.is_some() && next + 1 == self.steps.len();
            answered += usize::from(has_next && !is_failure);
        }
        (times, answered)
    }
}

fn told_runs(record: &Record) -> Vec<ToldRun<'_>> {
    let mut runs: Vec<ToldRun<'_>> = Vec::new();
    for event in &record.events {
        match &event.event {
            EventKind::RunStarted(_) => runs.push(ToldRun { steps: Vec::new(), failure: None }),
            EventKind::Stimulus(step) | EventKind::Observation(step) => {
                if let Some(run) = runs.last_mut() {
                    run.steps.push(step);
                }
            }
            EventKind::Verdict(told) => {
                // A breakdown is no difference from what the model allows, so such a run counts as one
                // without a failure.
                let is_forbidden = told.kind.as_deref() == Some("forbidden");
                if let Some(run) = runs.last_mut().filter(|_| is_forbidden) {
                    run.failure = told.explanation.as_ref();
                }
            }
            _ => (),
        }
    }
    runs
}

/// Returns the difference that an explanation tells, without values: they vary.
fn difference_text(explanation: &Explanation) -> String {
    let name = |label: &str| label.split('(').next().unwrap_or(label).to_owned();
    let observed = name(&explanation.observed);
    let mut allowed: Vec<String> = explanation.allowed.iter().map(|it| name(&it.label)).collect();
    allowed.dedup();
    let mut fields: Vec<&str> =
        explanation.allowed.iter().flat_map(|it| &it.differences).map(|it| it.field.as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    let is_same_message = allowed.contains(&observed);
    match (is_same_message && !fields.is_empty(), allowed.is_empty()) {
        (true, _) => format!("`{observed}` with another `{}`", fields.join("`, `")),
        (false, true) => format!("`{observed}` where nothing was expected"),
        (false, false) => format!("`{observed}` in place of `{}`", allowed.join("` or `")),
    }
}

fn shared_difference(runs: &[ToldRun<'_>], explanation: &Explanation) -> TriageFact {
    let text = difference_text(explanation);
    let failures: Vec<String> = runs.iter().filter_map(|run| run.failure).map(difference_text).collect();
    let same = failures.iter().filter(|other| **other == text).count();
    TriageFact::Difference { text, runs: same, of: failures.len() }
}

/// Returns how often the transition of the last input was answered as the model says, or that it never was.
fn answered(runs: &[ToldRun<'_>], transition: &str) -> TriageFact {
    let counts: Vec<(usize, usize)> = runs.iter().map(|run| run.count_answers(transition)).collect();
    let times: usize = counts.iter().map(|(taken, _)| taken).sum();
    let answered: usize = counts.iter().map(|(_, answered)| answered).sum();
    let transition = transition.to_owned();
    // Without any good answer, `times` counts all tries; otherwise only the good answers are told.
    if answered == 0 {
        return TriageFact::NeverAnswered { transition, times };
    }
    let runs = counts.iter().filter(|(_, answered)| *answered > 0).count();
    TriageFact::AnsweredElsewhere { transition, times: answered, runs }
}

fn allowed_elsewhere(runs: &[ToldRun<'_>], explanation: &Explanation) -> Option<TriageFact> {
    let expected = explanation.allowed.iter().find_map(|it| it.switch.clone())?;
    let steps = runs.iter().flat_map(|run| &run.steps);
    let times = steps.filter(|step| certain_switch(&step.switches) == Some(&expected)).count();
    (times > 0).then_some(TriageFact::AllowedElsewhere { transition: expected, times })
}

/// Returns the other inputs of the same location that were answered as the model says, the most frequent
/// first.
fn siblings(sts: &Sts, runs: &[ToldRun<'_>], input: &str) -> Vec<TriageFact> {
    let Some(own) = sts.switch_named(input).map(|id| &sts.switches[id]) else { return Vec::new() };
    let source: LocId = own.source;
    let others = sts
        .switches_from(source)
        .map(|(_, switch)| switch)
        .filter(|switch| sts.kind_of(switch) == GateKind::Input && switch.gate != own.gate);
    let counted = others.map(|switch| {
        let times: usize = runs.iter().map(|run| run.count_answers(&switch.label).1).sum();
        (switch.label.to_string(), times)
    });
    let mut counted: Vec<(String, usize)> = counted.filter(|(_, times)| *times > 0).collect();
    // By name among equals, so that the same record gives the same text.
    counted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    counted.truncate(MAX_SIBLINGS);
    counted.into_iter().map(|(transition, times)| TriageFact::Sibling { transition, times }).collect()
}
