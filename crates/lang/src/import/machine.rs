//! Finite state machines as models: DOT, KISS2 and tables, as `ioxide_fsm` reads them.
//!
//! A transition from `s` to `t` that answers `in` with `out` becomes two switches: the input leads from
//! `s` to an intermediate location named `s/in`, the output from there to `t`. Transitions of one state
//! with the same input share the intermediate location, so a nondeterministic machine has one input
//! switch and several output switches there.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use ioxide_fsm::error::{ReadError, ReadErrorKind};
use ioxide_fsm::mealy::TransitionRow;
use ioxide_fsm::read::{MachineFormat, MachineText, TextPlace, read_with_places};
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::IndexVec;
use ioxide_model::source::{FileId, SourceFile, Span};
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, Model, Sts, Switch};
use ioxide_model::term::{Term, TermPool};
use rustc_hash::FxBuildHasher;

use crate::sink::{FindingSink, Reported};
use crate::{LoadOptions, lower, stem};

/// Returns the model of the machine in `source`, named after the source unless the text names it.
pub(crate) fn load_machine(
    source: &SourceFile,
    file: FileId,
    form: MachineFormat,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let reading = match read_machine(&source.text, file, form) {
        Ok(reading) => reading,
        Err(wrong) => {
            wrong.into_iter().for_each(|diagnostic| sink.push(diagnostic));
            let message = "this text is not a machine";
            return Err(
                sink.reported_before(|| Diagnostic::new(Code::BadMachine, Span::new(file, 0, 0), message))
            );
        }
    };
    let start = Span::new(file, 0, 0);
    for (name, _) in &options.overrides {
        sink.error(|| lower::unknown_constant(name, start, std::iter::empty()));
    }
    Ok(build_model(&reading, stem(&source.name), start))
}

/// Reads the machine in `text`; the errors are the findings if it cannot be read.
pub(crate) fn read_machine(
    text: &str,
    file: FileId,
    form: MachineFormat,
) -> Result<MachineText, Vec<Diagnostic>> {
    let said = |error| match form {
        MachineFormat::Table => read_error_finding(error, file)
            .note("`.txt` is read as a table of a machine; models in the language of ioxide end in `.iox`"),
        MachineFormat::Dot | MachineFormat::Kiss2 | MachineFormat::Numbers => read_error_finding(error, file),
    };
    read_with_places(form, text).map_err(|wrong| wrong.into_iter().map(said).collect())
}

/// Returns the finding for an error of a reader of machines.
fn read_error_finding(error: ReadError, file: FileId) -> Diagnostic {
    let code = match error.kind {
        ReadErrorKind::Syntax => Code::BadMachine,
        ReadErrorKind::Label => Code::BadMealyLabel,
        ReadErrorKind::Empty => Code::NoInitialState,
    };
    let diagnostic = Diagnostic::new(code, span_of(file, &error.place), error.message);
    match error.hint {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    }
}

/// Returns a place in the text as a span.
fn span_of(file: FileId, place: &TextPlace) -> Span {
    Span::new(file, place.start, place.end)
}

/// Builds the model of a machine: between an input and its output lies a location of its own.
fn build_model(text: &MachineText, name: &str, start: Span) -> Model {
    let listing = &text.listing;
    let mut pool = TermPool::new();
    let guard = pool.tt();
    let mut sts = Sts::new(text.name.as_deref().unwrap_or(name), &listing.initial, start);
    sts.locations = IndexVec::new();
    let mut builder = MachineTextBuilder {
        sts,
        guard,
        states: IndexMap::default(),
        gates: IndexMap::default(),
        between: IndexMap::default(),
        seen: IndexSet::default(),
    };
    for (state, place) in listing.states.iter().zip(&text.states) {
        builder.state_named(state, span_of(start.file, place));
    }
    for (row, place) in listing.rows.iter().zip(&text.rows) {
        builder.add_transition(row, span_of(start.file, place));
    }
    builder.sts.initial = builder.state_named(&listing.initial, start);
    Model { pool, sts: builder.sts }
}

struct MachineTextBuilder<'l> {
    sts: Sts,
    guard: Term,
    states: IndexMap<&'l str, LocId, FxBuildHasher>,
    gates: IndexMap<(GateKind, &'l str), GateId, FxBuildHasher>,
    /// The location between a state's input and its outputs.
    between: IndexMap<(LocId, GateId), LocId, FxBuildHasher>,
    seen: IndexSet<(LocId, GateId, LocId), FxBuildHasher>,
}

impl<'l> MachineTextBuilder<'l> {
    fn state_named(&mut self, name: &'l str, span: Span) -> LocId {
        if let Some(&state) = self.states.get(name) {
            return state;
        }
        let state = self.add_location(name, span);
        self.states.insert(name, state);
        state
    }

    /// Adds a location and returns its id.
    fn add_location(&mut self, name: &str, span: Span) -> LocId {
        self.sts.locations.push(Location { name: name.into(), span, doc: String::new() })
    }

    /// Adds the two switches of a row, input and output, with the location between them.
    fn add_transition(&mut self, row: &'l TransitionRow, span: Span) {
        let (from, to) = (self.state_named(&row.from, span), self.state_named(&row.to, span));
        let input = self.gate_named(&row.input, GateKind::Input, span);
        let output = self.gate_named(&row.output, GateKind::Output, span);
        let label = format!("{}/{}", row.from, row.input);
        let between = match self.between.get(&(from, input)) {
            Some(&between) => between,
            None => {
                let between = self.add_location(&label, span);
                self.between.insert((from, input), between);
                self.add_switch(label.as_str().into(), from, input, between, span);
                between
            }
        };
        if self.seen.insert((between, output, to)) {
            let label = format!("{label}/{}/{}", row.output, row.to);
            self.add_switch(label.into(), between, output, to, span);
        }
    }

    /// Returns the gate with this name and direction; it is added when it is first seen.
    fn gate_named(&mut self, name: &'l str, kind: GateKind, span: Span) -> GateId {
        let sts = &mut self.sts;
        *self.gates.entry((kind, name)).or_insert_with(|| {
            sts.gates.push(Gate { name: name.into(), kind, fields: Vec::new(), span, doc: String::new() })
        })
    }

    /// Adds a switch without condition and update.
    fn add_switch(&mut self, label: Arc<str>, source: LocId, gate: GateId, target: LocId, span: Span) {
        self.sts.switches.push(Switch {
            label,
            source,
            gate,
            guard: self.guard,
            update: Vec::new(),
            resets: Vec::new(),
            target,
            span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }
}
