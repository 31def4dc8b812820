//! Recorded runs: those that a machine is made of, and those that a session need not ask.
//!
//! A run is cut into inputs, each with all outputs up to the next one. Outputs before the first input are left out, and
//! so is the last input, unless silence shows that its answer is complete.

use std::collections::BTreeMap;

use ioxide_fsm::mealy::{InputId, MachineNames};
use ioxide_fsm::word::{IoWord, show_io};
use ioxide_model::counted::count_noun;
use ioxide_model::label::{Label, input_name};
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use thiserror::Error;

use crate::messages::{DataRun, Messages, NamedAnswers};
use crate::observer::Disagreement;
use crate::passive::{MergedMachine, merge_runs};

/// The reason why no machine is made of recorded runs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordedError {
    /// There is nothing to make it of.
    #[error("no recorded run has an input")]
    NoInput,
    /// The same inputs are answered in two ways.
    #[error("the runs contradict each other\n  one:     {one}\n  another: {another}")]
    Contradiction {
        /// One run.
        one: String,
        /// Another one.
        another: String,
    },
}

impl RecordedError {
    /// Two runs that contradict each other, in `names`.
    #[must_use]
    pub fn contradiction(names: &MachineNames, found: &Disagreement) -> Self {
        Self::Contradiction { one: show_io(names, &found.before), another: show_io(names, &found.now) }
    }
}

/// A machine made of recorded runs.
#[derive(Debug)]
pub struct RecordedResult {
    /// The machine, with how often each move was seen.
    pub machine: MergedMachine,
    /// The names of its inputs and answers, and the messages behind them.
    pub answers: NamedAnswers,
    /// The messages behind the names of inputs.
    pub messages: Messages,
    /// The number of runs it was made of.
    pub n_runs: usize,
    /// The number of runs that were held out.
    pub n_held_out: usize,
    /// The number of these that the machine explains.
    pub n_explained: usize,
}

impl RecordedResult {
    /// Makes a machine of `traces`, without `hold_out` percent of them, which it is checked with.
    ///
    /// # Errors
    /// If no trace has an input, or two contradict each other.
    pub fn learn(model: Model, traces: &[Trace], hold_out: u8) -> Result<Self, RecordedError> {
        let mut reader =
            TraceMachineReader { model: &model, inputs: BTreeMap::new(), answers: NamedAnswers::default() };
        let mut runs: Vec<IoWord> = traces.iter().map(|trace| reader.read_trace(trace)).collect();
        runs.retain(|run| !run.is_empty());
        if runs.is_empty() {
            return Err(RecordedError::NoInput);
        }
        let TraceMachineReader { inputs, answers, .. } = reader;
        let (kept, held) = hold_out_runs(runs, hold_out);
        let names = answers.names();
        let machine = merge_runs(names.inputs.len(), &kept)
            .map_err(|found| RecordedError::contradiction(names, &found))?;
        let n_explained = machine.count_agreeing(&held);
        let messages = Messages { model, inputs, preamble: Vec::new() };
        Ok(Self { machine, answers, messages, n_runs: kept.len(), n_held_out: held.len(), n_explained })
    }

    /// Returns the origin of the machine, one sentence for each fact.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        let mut facts = vec![format!(
            "{} from {}; unseen behaviour is left out",
            count_noun(self.machine.machine.n_states() as u64, "state"),
            count_noun(self.n_runs as u64, "run"),
        )];
        if self.n_held_out > 0 {
            facts.push(format!(
                "{} of {} that were kept back are explained",
                self.n_explained,
                count_noun(self.n_held_out as u64, "run")
            ));
        }
        facts
    }
}

/// Returns a trace as inputs and answers, up to the first answer that may not be complete: it is with silence behind
/// it, or with one output where that is all there ever is. `preamble` is what the system says before the first input.
#[must_use]
pub fn certain_prefix(trace: &Trace, one_answer: bool, preamble: &[Label]) -> DataRun {
    let mut labels = &trace.labels[..];
    let mut run = DataRun::new();
    let is_said = |label: &&Label| matches!(label, Label::Output(..));
    let greeting = labels.iter().take_while(is_said).count();
    // A system that greeted otherwise may have been in another state: none of its answers is used.
    if labels[..greeting] != *preamble {
        return run;
    }
    labels = &labels[greeting..];
    while let Some((first, rest)) = labels.split_first() {
        if matches!(first, Label::Quiescence | Label::Delay(_)) {
            labels = rest;
            continue;
        }
        let Label::Input(..) = first else { break };
        let said: Vec<Label> = rest.iter().take_while(is_said).cloned().collect();
        let is_quiet = rest.get(said.len()) == Some(&Label::Quiescence);
        if !(is_quiet || one_answer && said.len() == 1) {
            break;
        }
        labels = &rest[said.len()..];
        run.push((first.clone(), said));
    }
    run
}

/// Returns the runs to learn from and those to check with: every n-th is held out.
pub fn hold_out_runs(runs: Vec<IoWord>, percent: u8) -> (Vec<IoWord>, Vec<IoWord>) {
    let share = usize::from(percent);
    // Spread over all runs, so that runs of one kind, which tend to follow each other, are not all held out.
    let is_held = |i: usize| (i + 1) * share / 100 > i * share / 100;
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for (i, run) in runs.into_iter().enumerate() {
        if is_held(i) { held.push(run) } else { kept.push(run) }
    }
    (kept, held)
}

/// Reads traces as runs of a machine, with names for the inputs and answers that occur.
struct TraceMachineReader<'m> {
    model: &'m Model,
    inputs: BTreeMap<String, Label>,
    answers: NamedAnswers,
}

impl TraceMachineReader<'_> {
    fn read_trace(&mut self, trace: &Trace) -> IoWord {
        let mut run: Vec<(InputId, Vec<Label>)> = Vec::new();
        for label in &trace.labels {
            match label {
                Label::Input(..) => run.push((self.intern_input(label), Vec::new())),
                Label::Output(..) => {
                    // Outputs before the first input have no input that they answer.
                    if let Some((_, said)) = run.last_mut() {
                        said.push(label.clone());
                    }
                }
                Label::Quiescence | Label::Delay(_) => (),
            }
        }
        // Whether more would have come at the end is known only after silence.
        if trace.labels.last() != Some(&Label::Quiescence) {
            run.pop();
        }
        run.into_iter().map(|(input, said)| (input, self.answers.intern_answer(self.model, said))).collect()
    }

    fn intern_input(&mut self, label: &Label) -> InputId {
        let name = input_name(&self.model.pool, &self.model.sts, label);
        self.inputs.entry(name.clone()).or_insert_with(|| label.clone());
        self.answers.input_id(name)
    }
}
