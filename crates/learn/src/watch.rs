//! Progress of a session as typed events, for observers.

use std::fmt;

use ioxide_model::counted::count_noun;

use crate::drawing::{Counterexample, HypothesisDrawing};
use crate::observer::LearningEffort;
use crate::oracle::LearningStage;
use crate::register::oracle::DataStage;
use crate::votes::confidence;

/// Watches a session, and may stop it. By default nothing is watched and nothing stops.
pub trait LearningWatcher {
    /// Receives an event.
    fn notify(&mut self, _event: LearningEvent) {}

    /// Returns whether counterexamples and the last machine are wanted: they cost time.
    fn wants_details(&self) -> bool {
        false
    }

    /// Returns whether hypothesis `number` is wanted as a drawing now.
    fn wants_drawing(&mut self, _number: usize) -> bool {
        false
    }

    /// Returns whether the session is to stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A step of a session.
#[derive(Clone, Debug)]
pub enum LearningEvent {
    /// Learning begins.
    Begun {
        /// The number of inputs.
        inputs: usize,
        /// The greatest number of extra states that are tested for.
        most_extra: usize,
    },
    /// A stage of learning a machine.
    Machine {
        /// The number of the hypothesis, from 1.
        number: usize,
        /// The stage.
        stage: LearningStage,
        /// The effort so far.
        effort: LearningEffort,
    },
    /// A stage of learning a machine with values.
    Values {
        /// The number of the hypothesis, from 1.
        number: usize,
        /// The stage.
        stage: DataStage,
        /// The effort so far.
        effort: LearningEffort,
    },
    /// A draft with choices was made.
    Drafted {
        /// The number of the draft, as a hypothesis.
        number: usize,
        /// The number of its states.
        states: usize,
        /// The effort so far.
        effort: LearningEffort,
    },
    /// The moves that start a timer are looked for.
    FindsTimers,
    /// This is guaranteed now, in words.
    Guaranteed(String),
    /// The hypothesis with this number was refuted.
    Refuted(usize, Counterexample),
    /// A hypothesis.
    Drawn(HypothesisDrawing),
    /// A hypothesis is too large to be drawn on the way.
    TooLargeToDraw,
    /// Two runs contradict each other.
    Contradicted(String),
    /// The system answers in several ways, as these two runs show, and is drafted with choices.
    DraftsChoices(String),
    /// Something that people should know.
    Noted(LearningNote),
}

/// A note on what was found out on the way; its text is for people.
#[derive(Clone, Debug, PartialEq)]
pub enum LearningNote {
    /// The usual of several answers is believed.
    Majority {
        /// The number of inputs that it answers.
        inputs: usize,
        /// The usual answer.
        answer: String,
        /// The number of times it was given.
        count: u32,
        /// The number of repetitions.
        of: u32,
    },
    /// The usual of several answers is believed, where inputs have values.
    MajorityOfValues {
        /// The number of inputs that it answers.
        inputs: usize,
        /// The number of times it was given.
        count: u32,
        /// The number of repetitions.
        of: u32,
    },
    /// Answers fit no machine, so all of them are asked again.
    AsksAllAgain,
    /// The values of a field are made up by the system, as two runs show.
    MakesUp {
        /// The field.
        field: String,
        /// The two runs.
        runs: String,
    },
    /// The values of a field are made up: one makes a difference when it is given back.
    GivenBackMatters {
        /// The field.
        field: String,
        /// The value.
        value: String,
    },
    /// Values are compared by order, as two runs show.
    ComparesByOrder {
        /// The two runs.
        runs: String,
    },
    /// Values are compared with a constant, found by halving between two runs.
    ComparesWith {
        /// The constant.
        constant: i64,
        /// The two runs.
        runs: String,
    },
}

impl fmt::Display for LearningNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: u32, of: u32| confidence(count, of) * 100.0;
        match self {
            Self::Majority { inputs, answer, count, of } => write!(
                f,
                "after {} the system answers in several ways; {count} of {of} times it was {answer}, which is accepted \
                 (confidence {:.1}% that it is the usual one)",
                count_noun(*inputs, "input"),
                percent(*count, *of)
            ),
            Self::MajorityOfValues { inputs, count, of } => write!(
                f,
                "after {} the system answers the same values in several ways; {count} of {of} times alike; \
                 ioxide uses that answer (confidence {:.1}% that it is the usual one)",
                count_noun(*inputs, "input"),
                percent(*count, *of)
            ),
            Self::AsksAllAgain => {
                f.write_str("no machine fits the answers, so one of them was wrong: every query is repeated")
            }
            Self::MakesUp { field, runs } => {
                write!(f, "the system creates `{field}`; learning again with that\n{runs}")
            }
            Self::GivenBackMatters { field, value } => write!(
                f,
                "the system creates `{field}`: sending {value} back makes a difference; learning again with that"
            ),
            Self::ComparesByOrder { runs } => write!(
                f,
                "comparing values for equality does not explain the replies; learning again with order\n{runs}"
            ),
            Self::ComparesWith { constant, runs } => write!(
                f,
                "it compares with {constant}, found by halving between two runs; learned again with it\n{runs}"
            ),
        }
    }
}

/// The counterexamples that were reported to a watcher, so that each is reported once.
#[derive(Clone, Debug)]
pub(crate) struct ReportedOnce<T>(Option<T>);

impl<T: Clone + PartialEq> ReportedOnce<T> {
    /// None was told.
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Reports a counterexample to `watcher`, unless it was reported before; it refuted the hypothesis before `number`.
    pub(crate) fn tell(
        &mut self,
        watcher: &mut dyn LearningWatcher,
        number: usize,
        found: Option<&T>,
        show: impl FnOnce(&T) -> Counterexample,
    ) {
        if !watcher.wants_details() || found == self.0.as_ref() {
            return;
        }
        self.0 = found.cloned();
        if let Some(found) = found {
            watcher.notify(LearningEvent::Refuted(number.saturating_sub(1), show(found)));
        }
    }
}
