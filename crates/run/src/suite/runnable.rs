//! A suite on disk as tests that can be run against a system.
//!
//! The names of a suite become labels of a model. The header says when the answer to an input is complete and how often
//! the tests are run; a suite that does not say so waits for silence and runs once.

use std::io::BufRead;
use std::sync::Arc;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_record::value::{WireMessage, label_from_json};
use ioxide_testgen::tester::replay::plan_of;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteTester};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::{SuiteError, SuiteReader, SuiteTest};

/// The header field that names the end of an answer.
pub const ANSWERS_FIELD: &str = "answers";
/// The header field with the number of times a suite is run.
pub const REPEAT_FIELD: &str = "repeat";
/// The value of [`ANSWERS_FIELD`] for machines, which answer every input once.
const ONE_ANSWER: &str = "one";

/// Returns the value of [`ANSWERS_FIELD`] for `wait`.
#[must_use]
pub fn answers_word(wait: AnswerWait) -> &'static str {
    match wait {
        AnswerWait::Output => ONE_ANSWER,
        AnswerWait::Quiescence => "until silence",
    }
}

/// The tests of a suite, as a model knows them.
#[derive(Clone, Debug)]
pub struct RunnableSuite {
    /// The header of the suite: its maker and settings.
    pub about: Map<String, Json>,
    tests: LabelTests,
    wait: AnswerWait,
    repeat: usize,
}

/// The reason why a suite cannot be run.
#[derive(Debug, Error)]
pub enum UnrunnableSuite {
    /// It is no suite, or a damaged one.
    #[error(transparent)]
    Format(#[from] SuiteError),
    /// A test cannot be read, or the model does not know one of its messages.
    #[error("test {number}: {reason}")]
    Test {
        /// The number of the test, from 1.
        number: usize,
        /// The problem with the test.
        reason: String,
    },
}

impl RunnableSuite {
    /// Reads the suite that `reader` has, for `model`.
    ///
    /// # Errors
    /// If it is no suite, or not one of this model.
    pub fn read(reader: impl BufRead, model: &Model) -> Result<Self, UnrunnableSuite> {
        let reader = SuiteReader::new(reader)?;
        let about = reader.header().about.clone();
        let mut tests = LabelTests::default();
        for (at, test) in reader.enumerate() {
            let add =
                test.map_err(|error| error.to_string()).and_then(|test| add_test(&mut tests, model, &test));
            add.map_err(|reason| UnrunnableSuite::Test { number: at + 1, reason })?;
        }
        let wait = match about.get(ANSWERS_FIELD).and_then(Json::as_str) {
            Some(ONE_ANSWER) => AnswerWait::Output,
            _ => AnswerWait::Quiescence,
        };
        let repeat = about.get(REPEAT_FIELD).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        Ok(Self { about, tests, wait, repeat: repeat.unwrap_or(1) })
    }

    /// True if the suite has no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the tester that runs the tests.
    #[must_use]
    pub fn into_tester(self) -> SuiteTester {
        SuiteTester::new(Arc::new(self.tests), self.wait, self.repeat)
    }
}

/// Adds a test, its labels as `model` knows them.
fn add_test(tests: &mut LabelTests, model: &Model, test: &SuiteTest) -> Result<(), String> {
    match test {
        SuiteTest::Word(names) => {
            let message = |name: &String| WireMessage { label: name.clone(), args: Map::new() };
            let is_input = |kind| kind == GateKind::Input;
            let label = |name| label_from_json(model, &message(name), is_input);
            let word: Result<Vec<Label>, _> = names.iter().map(label).collect();
            tests.push_word(word.map_err(|error| error.to_string())?);
        }
        SuiteTest::Trace(test) => {
            let trace = test.trace(model).map_err(|error| error.to_string())?;
            if trace.labels.iter().all(|label| matches!(label, Label::Input(..))) {
                tests.push_word(trace.labels)
            } else {
                tests.push_plan(plan_of(&model.sts, &trace))
            }
        }
    }
    Ok(())
}
