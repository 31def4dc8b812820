//! Learning as the page sees it: the whole state every time, so that a page can join or come back. The picture is
//! requested on its own, by the number in the view.

use ioxide_learn::drawing::Counterexample;
use serde::Serialize;

use super::{VERSION, bounded_text};
use crate::learning::{BoardState, LearningEnd, LearningPhase};

/// Learning under way, or ended.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LearningView {
    version: u32,
    system: String,
    model: String,
    /// The kind of the learned model, in words.
    kind: String,
    inputs: usize,
    suite: String,
    most_extra: usize,
    phase: LearningStep,
    /// The number of extra states of the suite that is applied.
    extra: usize,
    /// The number of tests or walks done.
    done: usize,
    of: usize,
    /// The time the remaining tests or walks will take, in milliseconds, if they find no counterexample.
    left_ms: Option<u128>,
    hypotheses: usize,
    states: usize,
    /// The number of resets of the system in this session.
    resets: u64,
    symbols: u64,
    /// Inputs per second over the last seconds; after the end, over the whole time.
    per_second: f64,
    elapsed_ms: u128,
    /// The guarantee for the hypothesis so far; empty if there is none.
    guarantee: String,
    /// The number of the picture; 0 if there is none yet.
    picture: usize,
    counterexample: Option<CounterexampleView>,
    /// The runs in which the system contradicts itself; empty if there are none.
    disagreement: Vec<String>,
    notes: Vec<String>,
    end: Option<LearningEndView>,
}

/// The activity of the learner, without its figures.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
enum LearningStep {
    Asking,
    Testing,
    Walking,
    Drafting,
    Timers,
    Over,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct CounterexampleView {
    hypothesis: usize,
    steps: Vec<AnsweredView>,
    believed: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct AnsweredView {
    input: String,
    answer: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LearningEndView {
    has_model: bool,
    lines: Vec<String>,
    out: Option<String>,
}

impl LearningView {
    /// Returns the view of `state`, with the numbers of resets and inputs so far.
    pub(crate) fn new(state: &mut BoardState, (resets, symbols): (u64, u64)) -> Self {
        let (phase, extra, done, of) = match state.phase {
            LearningPhase::Asking => (LearningStep::Asking, 0, 0, 0),
            LearningPhase::Testing { extra, done, of } => (LearningStep::Testing, extra, done, of),
            LearningPhase::Walking { done, of } => (LearningStep::Walking, 0, done, of),
            LearningPhase::Drafting => (LearningStep::Drafting, 0, 0, 0),
            LearningPhase::Timers => (LearningStep::Timers, 0, 0, 0),
            LearningPhase::Over => (LearningStep::Over, 0, 0, 0),
        };
        let per_second = state.inputs_per_second(symbols);
        let subject = &state.subject;
        Self {
            version: VERSION,
            system: bounded_text(&subject.system),
            model: bounded_text(&subject.model),
            kind: bounded_text(&subject.kind),
            inputs: subject.inputs,
            suite: bounded_text(&subject.suite),
            most_extra: subject.most_extra,
            phase,
            extra,
            done,
            of,
            left_ms: state.estimated_time_left().map(|left| left.as_millis()),
            hypotheses: state.hypotheses,
            states: state.states,
            resets,
            symbols,
            per_second,
            elapsed_ms: state.elapsed().as_millis(),
            guarantee: bounded_text(&state.guarantee),
            picture: state.drawn,
            counterexample: state
                .counterexample
                .as_ref()
                .map(|(number, found)| counterexample_view(*number, found)),
            disagreement: text_lines(&state.disagreement),
            notes: state.notes.iter().map(|note| bounded_text(note)).collect(),
            end: state.end.as_ref().map(end_view),
        }
    }
}

fn counterexample_view(hypothesis: usize, counterexample: &Counterexample) -> CounterexampleView {
    let step = |(input, answer): &(String, String)| AnsweredView {
        input: bounded_text(input),
        answer: bounded_text(answer),
    };
    CounterexampleView {
        hypothesis,
        steps: counterexample.steps.iter().map(step).collect(),
        believed: bounded_text(&counterexample.believed),
    }
}

fn end_view(end: &LearningEnd) -> LearningEndView {
    LearningEndView {
        has_model: end.has_model,
        lines: end.lines.iter().map(|line| bounded_text(line)).collect(),
        out: end.out.as_deref().map(bounded_text),
    }
}

fn text_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| bounded_text(line.trim())).filter(|line| !line.is_empty()).collect()
}
