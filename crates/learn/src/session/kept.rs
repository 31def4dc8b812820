//! A system with names for its inputs and answers: a machine that can be learned, whose every answer is kept.

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use ioxide_model::index::Idx;
use ioxide_model::label::{Label, input_name};

use crate::copies::{LabelWord, WorkerPool};
use crate::messages::{DataRun, Messages, NamedAnswers};
use crate::observer::Disagreement;
use crate::recorded::RecordedError;
use crate::system::{CopyLost, KeptSystem, MessageSystem};
use crate::tree::ObservationTree;

/// A system with names for its inputs and answers, whose every answer is kept.
pub(super) struct KeptMachine<'k, 'p, E> {
    system: KeptSystem<'k, E>,
    /// Copies of the system.
    pool: Option<WorkerPool<'p, LabelWord, E>>,
    messages: &'k Messages,
    /// The message of each input.
    labels: Vec<Label>,
    pub(super) answers: NamedAnswers,
}

impl<'k, 'p, E> KeptMachine<'k, 'p, E> {
    /// The machine of a system with the inputs of `messages`, of which nothing was answered yet.
    pub(super) fn new(
        system: KeptSystem<'k, E>,
        pool: Option<WorkerPool<'p, LabelWord, E>>,
        messages: &'k Messages,
    ) -> Self {
        // Inputs are numbered in the order of their names, as the session file and earlier versions have them.
        let inputs = messages.inputs.keys().cloned().collect();
        let answers = NamedAnswers::new(MachineNames { inputs, ..MachineNames::default() });
        Self { system, pool, messages, labels: messages.inputs.values().cloned().collect(), answers }
    }

    /// Returns the names of inputs and answers so far.
    pub(super) fn names(&self) -> &MachineNames {
        self.answers.names()
    }

    /// Returns a run in the names of the machine, up to the first input that is not learned with.
    pub(super) fn name_run(&mut self, run: &DataRun) -> IoWord {
        let model = &self.messages.model;
        let mut word = IoWord::new();
        for (input, said) in run {
            let name = input_name(&model.pool, &model.sts, input);
            let Some(input) = self.messages.inputs.keys().position(|known| *known == name) else { break };
            word.push((InputId::new(input), self.answers.intern_answer(model, said.clone())));
        }
        word
    }

    /// Returns recorded runs in the names of the machine; two that contradict each other are an error.
    pub(super) fn name_recorded(&mut self, recorded: &[DataRun]) -> Result<Vec<IoWord>, RecordedError> {
        let mut tree = ObservationTree::new(self.labels.len());
        let mut runs = Vec::new();
        for run in recorded {
            let run = self.name_run(run);
            tree.insert_run(&run).map_err(|node| {
                let before = tree.trace(node);
                let now = run[..before.len()].to_vec();
                RecordedError::contradiction(self.answers.names(), &Disagreement { before, now })
            })?;
            runs.push(run);
        }
        Ok(runs)
    }
}

impl<E: From<CopyLost> + Send> LiveMachine for KeptMachine<'_, '_, E> {
    type Error = E;

    fn reset(&mut self) -> Result<(), E> {
        self.system.reset()
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, E> {
        let said = self.system.send_input(&self.labels[input.index()])?;
        Ok(self.answers.intern_answer(&self.messages.model, said))
    }

    fn width(&self) -> usize {
        1 + self.pool.as_ref().map_or(0, WorkerPool::size)
    }

    fn ask_all(&mut self, words: &[Word]) -> Result<Vec<IoWord>, E> {
        let Some(pool) = &self.pool else { return Ok(Vec::new()) };
        let labels =
            |word: &Word| LabelWord(word.iter().map(|&it| self.labels[it.index()].clone()).collect());
        let questions: Vec<LabelWord> = words.iter().map(labels).collect();
        let runs = self.system.ask_with_copies(|own, keep| pool.ask_all(&questions, own, keep))?;
        // Named here, in the order of the words, so that ids do not depend on which copy answered first.
        let mut named = Vec::new();
        for (word, run) in words.iter().zip(runs) {
            let answers =
                run.into_iter().map(|(_, said)| self.answers.intern_answer(&self.messages.model, said));
            named.push(word.iter().copied().zip(answers).collect());
        }
        Ok(named)
    }
}
