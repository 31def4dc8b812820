//! Files of finite state machines, and models that are machines.

use ioxide_fsm::mealy::MachineListing;
use ioxide_fsm::read::MachineFormat;
use ioxide_lang::machine_form;
pub use ioxide_learn::messages::Messages;
use ioxide_model::label::{Label, SILENCE};
use ioxide_model::source::Sources;
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_symex::Ctx;
use ioxide_testgen::abstraction::{self, FlattenLimits, NotFinite};
use ioxide_testgen::tester::suite::AnswerWait;

use crate::exit::{CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::{limit, load};

/// A machine, and the messages that its names stand for.
pub struct NamedMachine {
    /// The machine in names.
    pub listing: MachineListing,
    /// The end of an answer: its first output, or silence.
    pub wait: AnswerWait,
    source: MachineSource,
}

/// The source of a machine.
enum MachineSource {
    /// A text of its own; inputs and outputs are messages without data.
    Text(String),
    /// A model that was flattened.
    Model(Box<Messages>),
}

impl NamedMachine {
    /// The machine at `path`; a model is flattened.
    pub fn load(path: &str, set: &[String], request: &SolverRequest<'_>) -> Result<Self, CliError> {
        let Some(form) = machine_form(path) else { return Self::flatten(path, set, request) };
        if !set.is_empty() {
            // A machine has no constants; the front end says so.
            load::load_model(path, set)?;
        }
        Ok(Self {
            listing: listing(path, form)?,
            wait: AnswerWait::Output,
            source: MachineSource::Text(path.to_owned()),
        })
    }

    /// Loads a model and turns it into a machine, if it is finite.
    fn flatten(path: &str, set: &[String], request: &SolverRequest<'_>) -> Result<Self, CliError> {
        let (_, mut model) = load::load_model(path, set)?;
        let mut solver = request.make()?;
        let _stage = limit::stage("flattening the model");
        let flat = abstraction::flatten(&mut Ctx::new(&mut model, &mut *solver), &FlattenLimits::default())
            .map_err(|reason| match reason {
            NotFinite::Halted(_) => {
                let status = limit::halted_status(&request.halt, ExitStatus::Inconclusive);
                CliError::new(status, format!("`{path}` is not flattened: {reason}")).help(reason.help())
            }
            _ => CliError::new(ExitStatus::Model, format!("`{path}` is not a finite machine: {reason}"))
                .help(reason.help()),
        })?;
        let source = Messages { model, inputs: flat.inputs, preamble: flat.preamble };
        Ok(Self {
            listing: flat.listing,
            wait: AnswerWait::Quiescence,
            source: MachineSource::Model(Box::new(source)),
        })
    }

    /// Returns the messages that the names stand for; those of a machine in a text are made by loading it as a model,
    /// which may be large.
    pub fn messages(&self) -> Result<Messages, CliError> {
        let path = match &self.source {
            MachineSource::Model(messages) => return Ok(Messages::clone(messages)),
            MachineSource::Text(path) => path,
        };
        let (_, model) = load::load_model(path, &[])?;
        let gates = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
        let inputs = gates.map(|(id, gate)| (gate.name.to_string(), Label::Input(id, Vec::new()))).collect();
        Ok(Messages { model, inputs, preamble: Vec::new() })
    }

    /// Returns the messages of a flattened model; `None` for a machine from a text, whose messages are its names.
    pub fn flat(&self) -> Option<&Messages> {
        match &self.source {
            MachineSource::Text(_) => None,
            MachineSource::Model(messages) => Some(messages),
        }
    }

    /// Returns the answer of a partial machine to an input that it ignores.
    pub fn ignoring(&self) -> &'static str {
        match self.wait {
            AnswerWait::Output => "none",
            AnswerWait::Quiescence => SILENCE,
        }
    }
}

/// The machine at `path`.
fn listing(path: &str, form: MachineFormat) -> Result<MachineListing, CliError> {
    let mut sources = Sources::new();
    let file = sources.add(path, load::read_model(path)?);
    limit::reading(|| ioxide_lang::load_machine(&sources, file, form))
        .map_err(|wrong| load::model_error(&sources, &wrong))
}

/// Teaches `spec` the outputs without data that only the played model `sut` has, so that they can be
/// named when they come; no transition allows them.
pub fn declare_outputs(spec: &mut Model, sut: &SystemUnderTest) {
    let SystemUnderTest::Model(played) = sut else { return };
    let is_plain = |gate: &&Gate| gate.kind == GateKind::Output && gate.fields.is_empty();
    for gate in played.sts.gates.iter().filter(is_plain) {
        let is_it = |known: &Gate| known.kind == GateKind::Output && known.name == gate.name;
        if !spec.sts.gates.iter().any(is_it) {
            spec.sts.gates.push(gate.clone());
        }
    }
}
