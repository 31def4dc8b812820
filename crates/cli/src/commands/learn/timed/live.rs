//! A live system with time, in virtual time where it offers that, else on the clock of this machine.

use std::time::{Duration, Instant};

use ioxide_explorer::learning::LearningMeter;
use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_runner::adapter::Adapter;
use ioxide_smt::halt::Halt;
use ioxide_testgen::abstraction::answer_name;

use crate::commands::fsm::live::LiveTestError;
use crate::exit::{CliError, ExitStatus};
use crate::machine::Messages;

/// More outputs than this after one input are taken to be endless.
const MAX_ANSWERS: usize = 1000;

/// An answer: the outputs, and their delay if no input caused them.
#[derive(Clone, Debug)]
pub struct TimedAnswer {
    /// The messages.
    pub said: Vec<Label>,
    /// The time without an output before the first one; `None` for the answer to an input, and for silence.
    pub after: Option<Duration>,
}

/// A system, the clock, and the answers that were seen.
pub struct TimedLive<'a> {
    messages: &'a Messages,
    adapter: &'a mut dyn Adapter,
    labels: Vec<Label>,
    halt: &'a Halt,
    wait: Duration,
    /// The greatest difference of two delays that count as the same.
    pub tolerance: Duration,
    settle: Duration,
    /// The instant at which the run began, on the clock of this machine.
    begun: Instant,
    /// The virtual time that has passed in the run.
    passed: Duration,
    /// The names of inputs and answers; the last input is to wait.
    pub names: MachineNames,
    /// The answers, by id.
    pub answers: Vec<TimedAnswer>,
    /// The meter that counts resets and inputs for the page.
    pub meter: LearningMeter,
}

impl<'a> TimedLive<'a> {
    /// The system behind `adapter`.
    pub fn new(
        messages: &'a Messages,
        adapter: &'a mut dyn Adapter,
        labels: Vec<Label>,
        names: impl Iterator<Item = String>,
        halt: &'a Halt,
    ) -> Self {
        let names =
            MachineNames { inputs: names.chain(["wait".to_owned()]).collect(), ..MachineNames::default() };
        let (wait, tolerance, settle) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let (begun, passed, answers) = (Instant::now(), Duration::ZERO, Vec::new());
        let meter = LearningMeter::default();
        Self {
            messages,
            adapter,
            labels,
            halt,
            wait,
            tolerance,
            settle,
            begun,
            passed,
            names,
            answers,
            meter,
        }
    }

    /// Sets the time to wait for outputs without an input, the tolerance of delays, and the pause that completes an
    /// answer.
    pub fn with_times(self, wait: Duration, tolerance: Duration, settle: Duration) -> Self {
        Self { wait, tolerance, settle, ..self }
    }

    /// Returns the delay after which this answer comes without an input.
    pub fn delay(&self, output: OutputId) -> Option<Duration> {
        self.answers.get(output.index())?.after
    }

    fn now(&self) -> Duration {
        if self.adapter.has_virtual_time() { self.passed } else { self.begun.elapsed() }
    }

    /// Returns the next message, if one is observed before the instant `until` of the run.
    fn next_output(&mut self, until: Duration) -> Result<Option<Label>, LiveTestError> {
        if let Some(halted) = self.halt.halt_reason() {
            return Err(LiveTestError::Halted(halted));
        }
        if self.adapter.has_virtual_time() {
            let passed = self.adapter.advance(until)?;
            self.passed = passed.now;
            return Ok(passed.message.map(|output| output.label));
        }
        Ok(self.adapter.observe(until.saturating_sub(self.now()))?.label())
    }

    /// Adds the outputs that follow without a pause.
    fn collect_rest(&mut self, said: &mut Vec<Label>) -> Result<(), LiveTestError> {
        while said.len() < MAX_ANSWERS {
            let until = self.now() + self.settle;
            match self.next_output(until)? {
                Some(label) => said.push(label),
                None => return Ok(()),
            }
        }
        let message = format!("more than {MAX_ANSWERS} outputs came without a pause");
        let stop = CliError::new(ExitStatus::Inconclusive, message);
        Err(LiveTestError::Stop(Box::new(
            stop.help("lower `--quiescence-ms`: a pause must be longer than that"),
        )))
    }

    fn intern_answer(&mut self, answer: TimedAnswer) -> OutputId {
        let is_close = |known: &TimedAnswer| match (known.after, answer.after) {
            (Some(a), Some(b)) => a.abs_diff(b) <= self.tolerance,
            (a, b) => a == b,
        };
        let known = self.answers.iter().position(|known| known.said == answer.said && is_close(known));
        if let Some(at) = known {
            return OutputId::new(at);
        }
        let said = answer_name(&self.messages.model.pool, &self.messages.model.sts, &answer.said);
        let name = match answer.after {
            Some(after) => format!("{said} after {} ms", after.as_millis()),
            None => said,
        };
        self.answers.push(answer);
        self.names.outputs.push(name)
    }

    /// Waits for outputs without an input, for at most the time to wait.
    fn wait_for_outputs(&mut self) -> Result<TimedAnswer, LiveTestError> {
        let start = self.now();
        let first = self.next_output(start + self.wait)?;
        // What came before was listened to for a while: a timer that it started runs for so long already.
        let after = first.as_ref().map(|_| self.now().saturating_sub(start) + self.settle);
        let mut said: Vec<Label> = first.into_iter().collect();
        if !said.is_empty() {
            self.collect_rest(&mut said)?;
        }
        Ok(TimedAnswer { said, after })
    }

    fn give_input(&mut self, input: InputId) -> Result<TimedAnswer, LiveTestError> {
        self.meter.count(0, 1);
        let Some(label) = self.labels.get(input.index()).cloned() else { return self.wait_for_outputs() };
        let sent = self.adapter.send(&label)?;
        let mut said: Vec<Label> = sent.earlier.into_iter().map(|output| output.label).collect();
        self.collect_rest(&mut said)?;
        Ok(TimedAnswer { said, after: None })
    }

    /// Returns the delay until an output comes without an input, if `input` is sent when `pause` is over after `way`;
    /// `None` if an output comes in the pause, or never.
    pub fn delay_until_output(
        &mut self,
        way: &[InputId],
        pause: Duration,
        input: InputId,
    ) -> Result<Option<Duration>, LiveTestError> {
        self.reset()?;
        for &input in way {
            self.give_input(input)?;
        }
        let until = self.now() + pause;
        if self.next_output(until)?.is_some() {
            return Ok(None);
        }
        self.give_input(input)?;
        self.meter.count(0, 1);
        Ok(self.wait_for_outputs()?.after)
    }
}

impl LiveMachine for TimedLive<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        self.adapter.reset()?;
        self.meter.count(1, 0);
        (self.begun, self.passed) = (Instant::now(), Duration::ZERO);
        let mut said = Vec::new();
        if !self.messages.preamble.is_empty() {
            self.collect_rest(&mut said)?;
        }
        if said == self.messages.preamble {
            Ok(())
        } else {
            let model = &self.messages.model;
            Err(LiveTestError::Preamble(answer_name(&model.pool, &model.sts, &said)))
        }
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, LiveTestError> {
        let answer = self.give_input(input)?;
        Ok(self.intern_answer(answer))
    }
}
