//! A live system as state counting sees it: reset, one input, the whole answer.
//!
//! Answers that the machine does not have get names of their own behind those it has, so that they are reported and
//! never allowed.

use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_learn::messages::NamedAnswers;
use ioxide_learn::system::{CopyLost, MessageSystem};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_run::answers::{AnswerError, AnsweringSystem};
use ioxide_smt::halt::{Halt, Halted};
use ioxide_testgen::tester::suite::AnswerWait;
use ioxide_wire::adapter::{Adapter, AdapterError};

use crate::exit::{CliError, ExitStatus};
use crate::machine::Messages;

/// The help on a system that cannot be tested.
const CHECK: &str = "no verdict: check that the system starts and uses the adapter protocol";

/// The reason why a test of a live system ended without an answer.
pub enum LiveTestError {
    /// The command ends: a file cannot be written, or a copy of the system was lost.
    Stop(Box<CliError>),
    /// The system was not asked to the end.
    Answer(AnswerError),
}

impl LiveTestError {
    /// Returns the error as the end of a command; `greeting` makes the one of outputs before the first input.
    pub fn into_stop(self, greeting: impl FnOnce(String) -> CliError) -> CliError {
        match self {
            Self::Stop(stop) => *stop,
            Self::Answer(error) => answer_error(error, greeting),
        }
    }
}

impl From<AdapterError> for LiveTestError {
    fn from(error: AdapterError) -> Self {
        Self::Answer(error.into())
    }
}

impl From<AnswerError> for LiveTestError {
    fn from(error: AnswerError) -> Self {
        Self::Answer(error)
    }
}

/// Returns the error as the end of a command; `greeting` makes the one of outputs before the first input.
pub fn answer_error(error: AnswerError, greeting: impl FnOnce(String) -> CliError) -> CliError {
    let text = error.to_string();
    match error {
        AnswerError::Preamble(said) => greeting(said),
        AnswerError::Adapter(AdapterError::Interrupted) | AnswerError::Halted(Halted::Interrupted) => {
            CliError::new(ExitStatus::Interrupted, "interrupted")
        }
        AnswerError::Adapter(_) | AnswerError::Ended(_) => {
            CliError::new(ExitStatus::Infrastructure, text).help(CHECK)
        }
        AnswerError::Endless => CliError::new(ExitStatus::Inconclusive, text)
            .help("a machine answers an input with finitely many outputs"),
        AnswerError::NoValues => CliError::new(ExitStatus::Inconclusive, text).help("use another `--solver`"),
        AnswerError::Halted(Halted::Time) => {
            CliError::new(ExitStatus::Inconclusive, format!("unknown: {text}")).help("raise `--time-limit`")
        }
    }
}

impl From<CopyLost> for LiveTestError {
    fn from(lost: CopyLost) -> Self {
        let stop = CliError::new(ExitStatus::Infrastructure, lost.to_string());
        Self::Stop(Box::new(stop.help("ask one system at a time: leave `--jobs` out")))
    }
}

/// A live system in the names of a machine.
pub struct LiveSystem<'a> {
    model: &'a Model,
    system: AnsweringSystem<'a>,
    labels: Vec<Label>,
    answers: NamedAnswers,
}

impl<'a> LiveSystem<'a> {
    /// The system behind `adapter`, in the `names` of a machine that stand for `messages`.
    pub fn new(
        messages: &'a Messages,
        wait: AnswerWait,
        names: &MachineNames,
        adapter: &'a mut dyn Adapter,
        patience: Duration,
        halt: &'a Halt,
    ) -> Result<Self, CliError> {
        let label = |name: &String| {
            let unknown = || format!("input `{name}` of the machine is not a message of the model");
            messages.inputs.get(name).cloned().ok_or_else(|| CliError::new(ExitStatus::Model, unknown()))
        };
        let labels = names.inputs.iter().map(label).collect::<Result<_, _>>()?;
        let Messages { model, preamble, .. } = messages;
        let system = AnsweringSystem::new(model, preamble, wait, (adapter, patience), halt);
        Ok(Self { model, system, labels, answers: NamedAnswers::new(names.clone()) })
    }

    /// Makes the end of the system an answer, if the model has a message for it; silence follows it.
    pub fn with_end_as_answer(self) -> Self {
        Self { system: self.system.with_end_as_answer(), ..self }
    }

    /// Returns the names of the machine, and of the answers it does not have.
    pub fn names(&self) -> &MachineNames {
        self.answers.names()
    }

    /// Returns the system, which counts resets and inputs.
    pub fn system(&self) -> &AnsweringSystem<'a> {
        &self.system
    }
}

impl MessageSystem for LiveSystem<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        Ok(self.system.reset()?)
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, LiveTestError> {
        Ok(self.system.ask(input)?)
    }
}

impl LiveMachine for LiveSystem<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        MessageSystem::reset(self)
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, LiveTestError> {
        let said = self.system.ask(&self.labels[ioxide_model::index::Idx::index(input)])?;
        Ok(self.answers.intern_answer(self.model, said))
    }
}
