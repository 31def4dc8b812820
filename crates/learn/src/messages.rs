//! The messages behind the names of a machine, and the names of what a system answers.

use std::collections::BTreeMap;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_model::label::{Label, answer_name};
use ioxide_model::sts::Model;

/// A run: inputs with their values, each with the outputs that answered it.
pub type DataRun = Vec<(Label, Vec<Label>)>;

/// The messages that the names of a machine stand for.
#[derive(Clone, Debug)]
pub struct Messages {
    /// The model that knows them.
    pub model: Model,
    /// The label of each input of the machine, by name.
    pub inputs: BTreeMap<String, Label>,
    /// The outputs of the model before the first input.
    pub preamble: Vec<Label>,
}

/// The answers of a system, with their names and ids in a machine.
#[derive(Clone, Debug, Default)]
pub struct NamedAnswers {
    names: MachineNames,
    ids: BTreeMap<String, OutputId>,
    labels: BTreeMap<OutputId, Vec<Label>>,
}

impl NamedAnswers {
    /// No answers yet, in the `names` of a machine.
    #[must_use]
    pub fn new(names: MachineNames) -> Self {
        let ids = names.outputs.iter_enumerated().map(|(id, name)| (name.clone(), id)).collect();
        Self { names, ids, labels: BTreeMap::new() }
    }

    /// Returns the names of the machine, and behind them those of the answers it does not have.
    #[must_use]
    pub fn names(&self) -> &MachineNames {
        &self.names
    }

    /// Returns the messages of every answer that was observed.
    #[must_use]
    pub fn labels(&self) -> &BTreeMap<OutputId, Vec<Label>> {
        &self.labels
    }

    /// Returns the id of the input called `name`, a new one if the machine does not have it.
    pub fn input_id(&mut self, name: String) -> InputId {
        self.names.input(&name).unwrap_or_else(|| self.names.inputs.push(name))
    }

    /// Returns the id of the answer called `name`, a new one if the machine does not have it.
    pub fn output_id(&mut self, name: &str) -> OutputId {
        let names = &mut self.names;
        let entry = self.ids.entry(name.to_owned());
        *entry.or_insert_with_key(|name| names.outputs.push(name.clone()))
    }

    /// Returns the id of the answer with these outputs, which is kept.
    pub fn intern_answer(&mut self, model: &Model, outputs: Vec<Label>) -> OutputId {
        let output = self.output_id(&answer_name(&model.pool, &model.sts, &outputs));
        self.labels.entry(output).or_insert(outputs);
        output
    }
}
