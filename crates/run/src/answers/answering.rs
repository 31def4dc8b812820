//! A live system that is asked for whole answers: reset, one input, all outputs that answer it.

use std::time::Duration;

use ioxide_model::label::{Label, answer_name};
use ioxide_model::sts::Model;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::AnswerWait;
use ioxide_wire::adapter::{Adapter, Observation};

use super::{AnswerError, FirstReply, check_answer_size, check_halt, collect_until_silence};

/// Resets the system and returns its outputs before the first input, up to the first silence.
///
/// # Errors
/// If the connection fails, the time is over, or the outputs have no end.
pub fn collect_greeting(
    adapter: &mut dyn Adapter,
    patience: Duration,
    halt: &Halt,
) -> Result<Vec<Label>, AnswerError> {
    adapter.reset()?;
    let mut said = Vec::new();
    collect_until_silence(adapter, patience, halt, &mut said)?;
    Ok(said)
}

/// A system behind an adapter.
pub struct AnsweringSystem<'a> {
    model: &'a Model,
    adapter: &'a mut dyn Adapter,
    preamble: &'a [Label],
    wait: AnswerWait,
    patience: Duration,
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

impl<'a> AnsweringSystem<'a> {
    /// The system behind `adapter`, which sends `preamble` before its first input; its answers end as `wait` says, and
    /// it is silent after `patience`.
    pub fn new(
        model: &'a Model,
        preamble: &'a [Label],
        wait: AnswerWait,
        (adapter, patience): (&'a mut dyn Adapter, Duration),
        halt: &'a Halt,
    ) -> Self {
        Self {
            model,
            adapter,
            preamble,
            wait,
            patience,
            end: None,
            is_over: false,
            first_reply: FirstReply::default(),
            halt,
            resets: 0,
            inputs: 0,
        }
    }

    /// Makes the end of the system an answer, if the model has a message for it; silence follows it.
    #[must_use]
    pub fn with_end_as_answer(mut self) -> Self {
        let mut gates = self.model.sts.gates.iter_enumerated();
        let end = gates.find(|(_, gate)| gate.tells_the_end() && gate.fields.is_empty());
        self.end = end.map(|(id, _)| Label::Output(id, Vec::new()));
        self
    }

    /// Resets the system and checks that it begins as it should.
    ///
    /// # Errors
    /// If it cannot be reset, the time is over, or it sends something else than its preamble.
    pub fn reset(&mut self) -> Result<(), AnswerError> {
        check_halt(self.halt)?;
        self.resets += 1;
        self.is_over = false;
        self.adapter.reset()?;
        let mut said = Vec::new();
        // Without a preamble nothing is waited for: a reset would cost a silence every time.
        if !self.preamble.is_empty() {
            self.collect_outputs(&mut said, AnswerWait::Quiescence)?;
        }
        if said == self.preamble {
            Ok(())
        } else {
            Err(AnswerError::Preamble(answer_name(&self.model.pool, &self.model.sts, &said)))
        }
    }

    /// Sends `input` and returns all outputs that answer it.
    ///
    /// # Errors
    /// If the system cannot be queried, the time is over, or its outputs have no end.
    pub fn ask(&mut self, input: &Label) -> Result<Vec<Label>, AnswerError> {
        check_halt(self.halt)?;
        self.inputs += 1;
        let mut said = Vec::new();
        // A system that has ended answers everything with silence until it is reset.
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
    fn exchange(&mut self, input: &Label, outputs: &mut Vec<Label>) -> Result<(), AnswerError> {
        // Outputs that come late belong to no answer of a machine: with this one they are seen.
        while let Some(late) = self.adapter.poll()? {
            outputs.push(late.label);
            check_answer_size(outputs)?;
        }
        let sent = self.adapter.send(input)?;
        let early = !sent.earlier.is_empty();
        outputs.extend(sent.earlier.into_iter().map(|output| output.label));
        // Where every input has one answer, an output that came before the confirmation is that answer.
        if !early || self.wait == AnswerWait::Quiescence {
            self.collect_outputs(outputs, self.wait)?;
        }
        Ok(())
    }

    /// Adds outputs until the answer is complete.
    fn collect_outputs(&mut self, outputs: &mut Vec<Label>, wait: AnswerWait) -> Result<(), AnswerError> {
        if let Some(first) = self.first_reply.wait_for_reply(self.adapter, self.halt)? {
            outputs.push(first);
            if wait == AnswerWait::Output {
                return Ok(());
            }
        }
        match wait {
            AnswerWait::Quiescence => collect_until_silence(self.adapter, self.patience, self.halt, outputs),
            AnswerWait::Output => {
                check_halt(self.halt)?;
                if let Observation::Output(output) = self.adapter.observe(self.patience)? {
                    outputs.push(output.label);
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;
    use ioxide_model::sts::GateId;
    use ioxide_wire::adapter::{AdapterError, ArrivedOutput, SentInput};

    use super::super::MAX_ANSWERS;
    use super::*;
    use crate::samples::model;

    /// A system that says `label` `times` times after each reset, and nothing else.
    struct TalkingSystem {
        label: Label,
        times: usize,
        left: usize,
        /// True if the outputs are there before anybody waits.
        is_polled: bool,
    }

    impl TalkingSystem {
        /// Makes the system; it sends nothing before its first reset.
        fn new(label: Label, times: usize) -> Self {
            Self { label, times, left: 0, is_polled: false }
        }

        /// Makes the outputs come at once.
        fn answer_polls(self) -> Self {
            Self { is_polled: true, ..self }
        }
    }

    impl Adapter for TalkingSystem {
        fn reset(&mut self) -> Result<(), AdapterError> {
            self.left = self.times;
            Ok(())
        }

        fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
            Ok(SentInput::default())
        }

        fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
            let is_there = self.is_polled && self.left > 0;
            self.left -= usize::from(is_there);
            Ok(is_there.then(|| self.label.clone().into()))
        }

        fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
            if self.left == 0 {
                return Ok(Observation::Quiet);
            }
            self.left -= 1;
            Ok(Observation::Output(self.label.clone().into()))
        }
    }

    /// Defect: a greeting without end, and late outputs without end, were cut off and taken for whole.
    #[test]
    fn what_has_no_end_is_an_error() {
        let hello = Label::Output(GateId::new(0), Vec::new());
        let halt = Halt::default();
        let model = model("model Hello {\n output hello\n state s {\n t: emit hello -> s\n }\n}\n");
        for (times, is_whole) in [(MAX_ANSWERS, true), (MAX_ANSWERS + 1, false)] {
            let check = |said: Result<Vec<Label>, AnswerError>| match said {
                Ok(said) => assert!(is_whole && said.len() == times, "{times}"),
                Err(error) => assert!(!is_whole && matches!(error, AnswerError::Endless), "{times}: {error}"),
            };
            let mut system = TalkingSystem::new(hello.clone(), times);
            check(collect_greeting(&mut system, Duration::ZERO, &halt));
            let mut system = TalkingSystem::new(hello.clone(), times).answer_polls();
            assert!(system.reset().is_ok());
            let adapter: &mut dyn Adapter = &mut system;
            let mut live =
                AnsweringSystem::new(&model, &[], AnswerWait::Output, (adapter, Duration::ZERO), &halt);
            check(live.ask(&hello));
        }
    }
}
