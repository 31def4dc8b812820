//! A system with time as a machine: its last input is to wait, and delays are part of its answers.

use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_model::index::Idx;
use ioxide_model::label::{Label, answer_name};
use thiserror::Error;

use crate::messages::Messages;

/// More outputs than this after one input are taken to be endless. Chosen by feel.
const MAX_ANSWERS: usize = 1000;

/// A system with a clock, on which time passes as the system offers it.
pub trait TimedSystem {
    /// The error of the connection to the system.
    type Error;

    /// Brings the system to its initial state; its clock then shows zero.
    ///
    /// # Errors
    /// If the system has no reset.
    fn reset(&mut self) -> Result<(), Self::Error>;

    /// Sends `input`; returns the outputs that came before it.
    ///
    /// # Errors
    /// If the system cannot be queried.
    fn send(&mut self, input: &Label) -> Result<Vec<Label>, Self::Error>;

    /// Returns the next output, if one is observed before the clock shows `until`.
    ///
    /// # Errors
    /// If the system cannot be queried.
    fn next_output(&mut self, until: Duration) -> Result<Option<Label>, Self::Error>;

    /// Returns the time on the clock.
    fn now(&self) -> Duration;

    /// Notes that waiting is the current input, for counters of inputs.
    fn count_wait(&mut self) {}
}

/// The reason why a system with time does not answer as a machine.
#[derive(Clone, Debug, Error)]
pub enum TimedError<E> {
    /// The system cannot be asked, or the session is stopped.
    #[error("the system cannot be queried")]
    System(E),
    /// Outputs do not end.
    #[error("more than {MAX_ANSWERS} outputs came without a pause")]
    Endless,
    /// These are the outputs before the first input, and others than before.
    #[error("the system sends different messages before the first input: this time {0}")]
    Greeting(String),
}

impl<E> From<E> for TimedError<E> {
    fn from(error: E) -> Self {
        Self::System(error)
    }
}

/// The times of learning time-outs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedSettings {
    /// The time to wait for outputs without an input.
    pub wait: Duration,
    /// The greatest difference of two delays that count as the same.
    pub tolerance: Duration,
    /// The time without an output after which an answer is complete.
    pub settle: Duration,
    /// True if every input has exactly one answer, which is waited for however late it is: then no answer of a slow
    /// system is taken for that of the next input.
    pub one_answer: bool,
}

/// An answer: the outputs, and their delay if no input caused them.
#[derive(Clone, Debug)]
pub struct TimedAnswer {
    /// The messages.
    pub outputs: Vec<Label>,
    /// The time without an output before the first one; `None` for the answer to an input, and for silence.
    pub after: Option<Duration>,
}

/// The answers of a system with time, by id.
#[derive(Clone, Debug, Default)]
pub struct TimedAnswers {
    /// The names of inputs and answers; the last input is to wait.
    pub names: MachineNames,
    /// The answers, by id.
    pub answers: Vec<TimedAnswer>,
}

impl TimedAnswers {
    /// Returns the delay after which this answer comes without an input.
    #[must_use]
    pub fn delay(&self, output: OutputId) -> Option<Duration> {
        self.answers.get(output.index())?.after
    }

    /// Returns the messages of this answer.
    #[must_use]
    pub fn labels(&self, output: OutputId) -> &[Label] {
        self.answers.get(output.index()).map_or(&[], |answer| &answer.outputs)
    }

    /// Returns the names of the answers that come without an input.
    #[must_use]
    pub fn timeout_names(&self) -> Vec<&String> {
        let named = self.names.outputs.iter_enumerated();
        named.filter(|(output, _)| self.delay(*output).is_some()).map(|(_, name)| name).collect()
    }
}

/// A system with time, and the answers that were seen.
pub(super) struct TimedMachine<'a, E> {
    messages: &'a Messages,
    system: &'a mut dyn TimedSystem<Error = E>,
    labels: Vec<Label>,
    pub(super) settings: TimedSettings,
    pub(super) seen: TimedAnswers,
    /// The instant of the last message, from which delays are measured.
    last_message: Duration,
}

impl<'a, E> TimedMachine<'a, E> {
    /// The machine of `system`, of which nothing was seen yet.
    pub(super) fn new(
        messages: &'a Messages,
        system: &'a mut dyn TimedSystem<Error = E>,
        settings: TimedSettings,
    ) -> Self {
        // The last input is to wait: `labels` has no entry for it, by which `give_input` knows it.
        let inputs = messages.inputs.keys().cloned().chain(["wait".to_owned()]).collect();
        let names = MachineNames { inputs, ..MachineNames::default() };
        let labels = messages.inputs.values().cloned().collect();
        let seen = TimedAnswers { names, answers: Vec::new() };
        Self { messages, system, labels, settings, seen, last_message: Duration::ZERO }
    }

    /// Adds the outputs that follow without a pause.
    fn collect_rest(&mut self, outputs: &mut Vec<Label>) -> Result<(), TimedError<E>> {
        while outputs.len() < MAX_ANSWERS {
            match self.listen_for(self.settings.settle)? {
                Some(label) => outputs.push(label),
                None => return Ok(()),
            }
        }
        Err(TimedError::Endless)
    }

    /// Returns the next output, if it comes within `time`.
    fn listen_for(&mut self, time: Duration) -> Result<Option<Label>, TimedError<E>> {
        let label = self.system.next_output(self.system.now() + time)?;
        if label.is_some() {
            self.last_message = self.system.now();
        }
        Ok(label)
    }

    fn intern_answer(&mut self, answer: TimedAnswer) -> OutputId {
        let is_close = |known: &TimedAnswer| match (known.after, answer.after) {
            (Some(a), Some(b)) => a.abs_diff(b) <= self.settings.tolerance,
            (a, b) => a == b,
        };
        // The first delay that was seen names the class, so that classes do not drift as delays vary.
        let known =
            self.seen.answers.iter().position(|known| known.outputs == answer.outputs && is_close(known));
        if let Some(at) = known {
            return OutputId::new(at);
        }
        let outputs = answer_name(&self.messages.model.pool, &self.messages.model.sts, &answer.outputs);
        let name = match answer.after {
            Some(after) => format!("{outputs} after {} ms", after.as_millis()),
            None => outputs,
        };
        self.seen.answers.push(answer);
        self.seen.names.outputs.push(name)
    }

    /// Waits for outputs without an input, for at most the time to wait.
    fn wait_for_outputs(&mut self) -> Result<TimedAnswer, TimedError<E>> {
        self.system.count_wait();
        // From the last message on, not from now: a timer that it started runs for some time already.
        let start = self.last_message;
        let Some(first) = self.listen_for(self.settings.wait)? else {
            self.last_message = self.system.now();
            return Ok(TimedAnswer { outputs: Vec::new(), after: None });
        };
        let after = Some(self.last_message.saturating_sub(start));
        let mut outputs = vec![first];
        self.collect_rest(&mut outputs)?;
        Ok(TimedAnswer { outputs, after })
    }

    fn give_input(&mut self, input: InputId) -> Result<TimedAnswer, TimedError<E>> {
        let Some(label) = self.labels.get(input.index()) else { return self.wait_for_outputs() };
        let mut outputs = self.system.send(label)?;
        self.last_message = self.system.now();
        if !self.settings.one_answer {
            self.collect_rest(&mut outputs)?;
        } else if outputs.is_empty() {
            outputs.extend(self.listen_for(self.settings.wait)?);
        }
        Ok(TimedAnswer { outputs, after: None })
    }

    /// Returns the delay until an output comes without an input, if `input` is sent when `pause` is over after `way`;
    /// `None` if an output comes in the pause, or never.
    pub(super) fn measure_delay(
        &mut self,
        way: &[InputId],
        pause: Duration,
        input: InputId,
    ) -> Result<Option<Duration>, TimedError<E>> {
        self.reset()?;
        for &input in way {
            self.give_input(input)?;
        }
        // The pause begins when the last answer is complete, as it does for the learner.
        if self.listen_for(pause)?.is_some() {
            return Ok(None);
        }
        self.give_input(input)?;
        Ok(self.wait_for_outputs()?.after)
    }
}

impl<E> LiveMachine for TimedMachine<'_, E> {
    type Error = TimedError<E>;

    fn reset(&mut self) -> Result<(), TimedError<E>> {
        self.system.reset()?;
        self.last_message = self.system.now();
        let mut outputs = Vec::new();
        if !self.messages.preamble.is_empty() {
            self.collect_rest(&mut outputs)?;
        }
        // Checked at every reset: a greeting that differs would move into the answer to the first input.
        if outputs == self.messages.preamble {
            return Ok(());
        }
        let model = &self.messages.model;
        Err(TimedError::Greeting(answer_name(&model.pool, &model.sts, &outputs)))
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, TimedError<E>> {
        let answer = self.give_input(input)?;
        Ok(self.intern_answer(answer))
    }
}
