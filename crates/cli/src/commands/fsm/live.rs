//! A live system as state counting sees it: reset, one input, the whole answer.
//!
//! Answers that the machine does not have get names of their own behind those it has, so that they are reported and
//! never allowed.

use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_learn::messages::NamedAnswers;
use ioxide_learn::system::{CopyLost, MessageSystem};
use ioxide_model::label::{Label, answer_name};
use ioxide_model::sts::Model;
use ioxide_run::answers::{AnswerError, FirstReply, check_answer_size, check_halt, collect_until_silence};
use ioxide_smt::halt::{Halt, Halted};
use ioxide_testgen::tester::suite::AnswerWait;
use ioxide_wire::adapter::{Adapter, AdapterError, Observation};

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

/// A system behind an adapter.
pub struct LiveSystem<'a> {
    model: &'a Model,
    adapter: &'a mut dyn Adapter,
    labels: Vec<Label>,
    preamble: &'a [Label],
    wait: AnswerWait,
    patience: Duration,
    answers: NamedAnswers,
    /// The label that stands for the end of the system, where its end is an answer.
    end: Option<Label>,
    /// The system has ended.
    is_over: bool,
    first_reply: FirstReply,
    /// The time limit and the interrupt, which end the test.
    halt: &'a Halt,
    /// The number of resets.
    pub resets: u64,
    /// The number of inputs sent.
    pub inputs: u64,
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
            let unknown = || format!("input `{name}` of the machine is no message of the model");
            messages.inputs.get(name).cloned().ok_or_else(|| CliError::new(ExitStatus::Model, unknown()))
        };
        let labels = names.inputs.iter().map(label).collect::<Result<_, _>>()?;
        Ok(Self {
            model: &messages.model,
            adapter,
            labels,
            preamble: &messages.preamble,
            wait,
            patience,
            answers: NamedAnswers::new(names.clone()),
            end: None,
            is_over: false,
            first_reply: FirstReply::default(),
            halt,
            resets: 0,
            inputs: 0,
        })
    }

    /// Makes the end of the system an answer, if the model has a message for it; silence follows it.
    pub fn ending(mut self) -> Self {
        let mut gates = self.model.sts.gates.iter_enumerated();
        let end = gates.find(|(_, gate)| gate.tells_the_end() && gate.fields.is_empty());
        self.end = end.map(|(id, _)| Label::Output(id, Vec::new()));
        self
    }

    /// Resets the system and returns its outputs before the first input, up to the first silence.
    pub fn greeting(
        adapter: &mut dyn Adapter,
        patience: Duration,
        halt: &Halt,
    ) -> Result<Vec<Label>, AnswerError> {
        adapter.reset()?;
        let mut said = Vec::new();
        collect_until_silence(adapter, patience, halt, &mut said)?;
        Ok(said)
    }

    /// Sends `input`, which need not be one of those it was made with, and returns all outputs that answer it.
    fn ask(&mut self, input: &Label) -> Result<Vec<Label>, AnswerError> {
        check_halt(self.halt)?;
        self.inputs += 1;
        let mut said = Vec::new();
        if !self.is_over {
            match (self.exchange(input, &mut said), self.end.clone()) {
                (Err(AnswerError::Ended(_)), Some(end)) => {
                    self.is_over = true;
                    said.push(end);
                }
                (exchanged, _) => exchanged?,
            }
        }
        Ok(said)
    }

    /// Sends `input` and adds the outputs that answer it; late ones of earlier inputs come first.
    fn exchange(&mut self, input: &Label, said: &mut Vec<Label>) -> Result<(), AnswerError> {
        // Outputs that come late belong to no answer of a machine: with this one they are seen.
        while let Some(late) = self.adapter.poll()? {
            said.push(late.label);
            check_answer_size(said)?;
        }
        let sent = self.adapter.send(input)?;
        let early = !sent.earlier.is_empty();
        said.extend(sent.earlier.into_iter().map(|output| output.label));
        if !early || self.wait == AnswerWait::Quiescence {
            self.collect_outputs(said, self.wait)?;
        }
        Ok(())
    }

    /// The names of the machine, and of the answers it does not have.
    pub fn names(&self) -> &MachineNames {
        self.answers.names()
    }

    /// Returns the name under which an answer is known.
    fn name(&self, said: &[Label]) -> String {
        answer_name(&self.model.pool, &self.model.sts, said)
    }

    /// Adds outputs until the answer is complete.
    fn collect_outputs(&mut self, said: &mut Vec<Label>, wait: AnswerWait) -> Result<(), AnswerError> {
        if let Some(first) = self.first_reply.wait_for_reply(self.adapter, self.halt)? {
            said.push(first);
            if wait == AnswerWait::Output {
                return Ok(());
            }
        }
        match wait {
            AnswerWait::Quiescence => collect_until_silence(self.adapter, self.patience, self.halt, said),
            AnswerWait::Output => {
                check_halt(self.halt)?;
                if let Observation::Output(output) = self.adapter.observe(self.patience)? {
                    said.push(output.label);
                }
                Ok(())
            }
        }
    }
}

impl MessageSystem for LiveSystem<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        check_halt(self.halt)?;
        self.resets += 1;
        self.is_over = false;
        self.adapter.reset()?;
        let mut said = Vec::new();
        if !self.preamble.is_empty() {
            self.collect_outputs(&mut said, AnswerWait::Quiescence)?;
        }
        if said == self.preamble { Ok(()) } else { Err(AnswerError::Preamble(self.name(&said)).into()) }
    }

    fn send_input(&mut self, input: &Label) -> Result<Vec<Label>, LiveTestError> {
        Ok(self.ask(input)?)
    }
}

impl LiveMachine for LiveSystem<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        MessageSystem::reset(self)
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, LiveTestError> {
        let label = self.labels[ioxide_model::index::Idx::index(input)].clone();
        let said = self.ask(&label)?;
        Ok(self.answers.intern_answer(self.model, said))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ioxide_model::index::Idx;
    use ioxide_model::sts::GateId;
    use ioxide_run::answers::MAX_ANSWERS;

    use super::*;
    use crate::test_systems::{TalkingSystem, model};

    /// Returns how many outputs there are, or the error that there are too many.
    fn count_outputs(said: Result<Vec<Label>, impl Into<LiveTestError>>) -> Result<usize, String> {
        let unexpected = |said: String| CliError::usage(said);
        said.map(|said| said.len()).map_err(|error| error.into().into_stop(unexpected).message().to_owned())
    }

    /// Defect: a greeting without end, and late outputs without end, were cut off and taken for whole.
    #[test]
    fn what_has_no_end_is_an_error() {
        let hello = Label::Output(GateId::new(0), Vec::new());
        let halt = Halt::default();
        let too_many = || Err(format!("more than {MAX_ANSWERS} outputs came without an input"));
        let messages = Messages {
            model: model("model Hello {\n output hello\n state s {\n t: emit hello -> s\n }\n}\n"),
            inputs: BTreeMap::new(),
            preamble: Vec::new(),
        };
        for (times, expected) in [(MAX_ANSWERS, Ok(MAX_ANSWERS)), (MAX_ANSWERS + 1, too_many())] {
            let mut system = TalkingSystem::new(hello.clone(), times);
            let greeting = LiveSystem::greeting(&mut system, Duration::ZERO, &halt);
            assert_eq!(count_outputs(greeting), expected);
            let mut system = TalkingSystem::new(hello.clone(), times).polled();
            assert!(system.reset().is_ok());
            let names = MachineNames::default();
            let live =
                LiveSystem::new(&messages, AnswerWait::Output, &names, &mut system, Duration::ZERO, &halt);
            let mut live = live.unwrap_or_else(|stop| panic!("{}", stop.message()));
            assert_eq!(count_outputs(live.send_input(&hello)), expected);
        }
    }
}
