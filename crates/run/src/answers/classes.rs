//! A live system as state counting on the machine of classes sees it.
//!
//! The inputs of the machine are classes, so values are drawn in the state that the model is in by then; an answer
//! of the system is the answer of the machine whose terms have its values there.

use std::collections::BTreeMap;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_model::index::Idx;
use ioxide_model::label::{Label, answer_name};
use ioxide_model::sts::Model;
use ioxide_smt::halt::Halt;
use ioxide_symex::Ctx;
use ioxide_testgen::complete::Abstraction;
use ioxide_testgen::complete::concretise::ClassWalk;
use ioxide_wire::adapter::Adapter;

use super::{AnswerError, FirstReply, collect_until_silence};

/// A system whose inputs are classes.
pub struct ClassSystem<'a, 'm> {
    model: &'a Model,
    cx: &'a mut Ctx<'m>,
    found: &'a Abstraction,
    walk: ClassWalk<'a>,
    adapter: &'a mut dyn Adapter,
    patience: Duration,
    halt: &'a Halt,
    names: MachineNames,
    inputs_of: Vec<usize>,
    unknown: BTreeMap<String, OutputId>,
    first_reply: FirstReply,
    /// The answer that the model does not allow, once it was observed.
    lost: Option<OutputId>,
    /// The number of resets.
    pub n_resets: u64,
    /// The number of inputs sent.
    pub n_inputs: u64,
}

impl<'a, 'm> ClassSystem<'a, 'm> {
    /// The system behind `adapter`, in the `names` of the machine that `abstraction` makes of the model.
    pub fn new(
        (model, cx): (&'a Model, &'a mut Ctx<'m>),
        abstraction: &'a Abstraction,
        names: &MachineNames,
        (adapter, patience): (&'a mut dyn Adapter, Duration),
        halt: &'a Halt,
        seed: u64,
    ) -> Self {
        let number =
            |name: &String| abstraction.inputs.iter().position(|input| input.name == *name).unwrap_or(0);
        let inputs_of = names.inputs.iter().map(number).collect();
        let walk = ClassWalk::new(abstraction, seed);
        let (names, unknown) = (names.clone(), BTreeMap::new());
        Self {
            model,
            cx,
            found: abstraction,
            walk,
            adapter,
            patience,
            halt,
            names,
            inputs_of,
            unknown,
            first_reply: FirstReply::default(),
            lost: None,
            n_resets: 0,
            n_inputs: 0,
        }
    }

    /// Returns the names of the machine, and behind them those of the answers it does not have.
    #[must_use]
    pub fn names(&self) -> &MachineNames {
        &self.names
    }

    /// The id of an answer by name, those the machine does not have behind those it has.
    fn output_id(&mut self, name: &str) -> OutputId {
        if let Some(id) = self.names.output(name) {
            return id;
        }
        let names = &mut self.names;
        let entry = self.unknown.entry(name.to_owned());
        *entry.or_insert_with_key(|name| names.outputs.push(name.clone()))
    }
}

impl LiveMachine for ClassSystem<'_, '_> {
    type Error = AnswerError;

    fn reset(&mut self) -> Result<(), AnswerError> {
        self.n_resets += 1;
        self.lost = None;
        self.walk.restart();
        self.adapter.reset()?;
        let mut said = Vec::new();
        if !self.found.preamble.is_empty() {
            said.extend(self.first_reply.wait_for_reply(self.adapter, self.halt)?);
            collect_until_silence(self.adapter, self.patience, self.halt, &mut said)?;
        }
        if said == self.found.preamble {
            Ok(())
        } else {
            Err(AnswerError::Preamble(answer_name(&self.model.pool, &self.model.sts, &said)))
        }
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, AnswerError> {
        // Behind a wrong answer the model has no state in which values could be drawn. Every further input
        // gets the same answer, and the system is not asked.
        if let Some(lost) = self.lost {
            return Ok(lost);
        }
        let Some(values) = self.walk.draw(self.cx, self.inputs_of[input.index()]) else {
            return Err(AnswerError::NoValues);
        };
        self.n_inputs += 1;
        let gate = self.found.inputs[self.inputs_of[input.index()]].gate;
        let sent = self.adapter.send(&Label::Input(gate, values.clone()))?;
        // What came while the input was sent stands first.
        let mut said: Vec<Label> = sent.earlier.into_iter().map(|output| output.label).collect();
        said.extend(self.first_reply.wait_for_reply(self.adapter, self.halt)?);
        collect_until_silence(self.adapter, self.patience, self.halt, &mut said)?;
        let input = self.inputs_of[input.index()];
        match self.walk.follow_answer(self.cx, input, &values, &said) {
            Some(name) => Ok(self.output_id(&name)),
            None => {
                let name = answer_name(&self.model.pool, &self.model.sts, &said);
                // Marked, because the same messages may be a right answer elsewhere.
                let id = self.output_id(&format!("{name} (wrong)"));
                self.lost = Some(id);
                Ok(id)
            }
        }
    }
}
