//! Files of finite state machines, and models that are machines.

use std::collections::BTreeMap;
use std::path::Path;

use ioxide_fsm::mealy::Listing;
use ioxide_fsm::read::{Form, read};
use ioxide_model::label::Label;
use ioxide_model::source::{Sources, Span};
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_symex::Ctx;
use ioxide_testgen::abstraction::{self, Limits, SILENCE, input_name, model_of};
use ioxide_testgen::tester::suite::Wait;

use crate::args::SolverArgs;
use crate::exit::{ExitStatus, Stop};
use crate::system::System;
use crate::{load, solver};

/// A machine, and the model its names stand for.
pub struct Machine {
    /// The machine in names.
    pub listing: Listing,
    /// The model: inputs and outputs as messages.
    pub model: Model,
    /// What an input of the machine is in the model.
    pub inputs: BTreeMap<String, Label>,
    /// What the model says before the first input.
    pub preamble: Vec<Label>,
    /// When an answer is complete.
    pub wait: Wait,
}

impl Machine {
    /// The machine at `path`; a model is flattened.
    pub fn load(path: &str, set: &[String], solver: &SolverArgs) -> Result<Self, Stop> {
        match form(path) {
            Some(form) => Self::read(path, form),
            None => Self::flatten(path, set, solver),
        }
    }

    fn read(path: &str, form: Form) -> Result<Self, Stop> {
        let listing = listing(path, form)?;
        let (_, model) = load::model(path, &[])?;
        let is_input = |kind: GateKind| kind == GateKind::Input;
        let gates = model.sts.gates.iter_enumerated().filter(|(_, gate)| is_input(gate.kind));
        let inputs = gates.map(|(id, gate)| (gate.name.to_string(), Label::Input(id, Vec::new()))).collect();
        Ok(Self { listing, model, inputs, preamble: Vec::new(), wait: Wait::Output })
    }

    fn flatten(path: &str, set: &[String], wanted: &SolverArgs) -> Result<Self, Stop> {
        let (_, mut model) = load::model(path, set)?;
        let mut solver = solver::make(wanted)?;
        let flat = abstraction::flatten(&mut Ctx::new(&mut model, &mut *solver), &Limits::default())
            .map_err(|reason| {
                Stop::new(ExitStatus::Model, format!("`{path}` is no finite machine: {reason}"))
                    .help(reason.help())
            })?;
        let (inputs, preamble) = (flat.inputs, flat.preamble);
        Ok(Self { listing: flat.listing, model, inputs, preamble, wait: Wait::Quiescence })
    }

    /// How a partial machine answers an input it does not mention, if it ignores it.
    pub fn ignoring(&self) -> &'static str {
        match self.wait {
            Wait::Output => "none",
            Wait::Quiescence => SILENCE,
        }
    }

    /// The name of `label`, an input of the model.
    pub fn name_of(&self, label: &Label) -> String {
        input_name(&self.model.pool, &self.model.sts, label)
    }
}

/// The form of the machine that files like `path` hold; models have none.
pub fn form(path: &str) -> Option<Form> {
    Form::of_extension(Path::new(path).extension()?.to_str()?)
}

/// The machine at `path`.
pub fn listing(path: &str, form: Form) -> Result<Listing, Stop> {
    read(form, &load::read(path)?).map_err(|error| Stop::new(ExitStatus::Model, format!("`{path}`: {error}")))
}

/// The machine at `path`, of a form the front end does not know, as a model.
pub fn model(path: &str, form: Form) -> Result<(Sources, Model), Stop> {
    let mut sources = Sources::new();
    let file = sources.add(path, load::read(path)?);
    let name = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("Machine");
    let model = model_of(&listing(path, form)?, name, Span::new(file, 0, 0));
    Ok((sources, model))
}

/// Teaches `spec` the outputs without data that only the played model `sut` has, so that they can be
/// named when they come; no transition allows them.
pub fn know_outputs(spec: &mut Model, sut: &System) {
    let System::Model(played) = sut else { return };
    let is_plain = |gate: &&Gate| gate.kind == GateKind::Output && gate.fields.is_empty();
    for gate in played.sts.gates.iter().filter(is_plain) {
        let is_it = |known: &Gate| known.kind == GateKind::Output && known.name == gate.name;
        if !spec.sts.gates.iter().any(is_it) {
            spec.sts.gates.push(gate.clone());
        }
    }
}
