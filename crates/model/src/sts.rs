//! Symbolic transition systems: the one core model under every dialect.
//!
//! Locations joined by switches; a switch has a gate with typed fields, a guard over
//! variables, fields and clocks, a simultaneous update, clock resets. The definitions of
//! the sources are restrictions of this one: \[FTW05] Def. 10 (no clocks), \[BT19] Def. 3 (no
//! internal switches either), \[BLLN23] Def. 1 (clocks, unknown initial values, observed inputs),
//! \[AT15] Def. 2.1 (one location), \[Sachtleben18] (no data).
//!
//! *Invariants.* Gate 0 is the internal gate (tau) and has no fields. The fields of a
//! gate are variables shared by all its switches. A guard mentions variables, clocks and
//! the fields of its own gate only. Every switch knows its span.

mod switches;

use std::sync::Arc;

pub use self::switches::Switches;
use crate::compose::Composition;
use crate::goal::Goal;
use crate::index::{Idx, IndexVec};
use crate::sort::Sort;
use crate::source::Span;
use crate::term::{Term, TermPool, VarId};
use crate::value::Value;

crate::index! { /// A location of an [`Sts`].
pub struct LocId; }
crate::index! { /// A gate of an [`Sts`].
pub struct GateId; }
crate::index! { /// A switch of an [`Sts`].
pub struct SwitchId; }

/// A specification: a transition system and the pool its terms live in.
#[derive(Clone, Debug)]
pub struct Model {
    /// The terms, variables and data types.
    pub pool: TermPool,
    /// The transition system.
    pub sts: Sts,
}

/// A symbolic transition system.
#[derive(Clone, Debug)]
pub struct Sts {
    /// The name of the model.
    pub name: Arc<str>,
    /// The documentation comment of its author.
    pub doc: String,
    /// State variables, in order of declaration.
    pub vars: Vec<StateVar>,
    /// Clocks: real variables that start at 0 and advance together.
    pub clocks: Vec<Clock>,
    /// Gates; the first is internal.
    pub gates: IndexVec<GateId, Gate>,
    /// Locations.
    pub locations: IndexVec<LocId, Location>,
    /// The initial location.
    pub initial: LocId,
    /// Switches, in order of appearance.
    pub switches: Switches,
    /// Purposes, invariants and tests written with the model.
    pub goals: Vec<Goal>,
    /// The parts, if the system is made of parts.
    pub composition: Option<Arc<Composition>>,
    /// The depth of nested processes up to which an endless model is unfolded; `None` if all of it is here. Guards
    /// behind it are functions without a body, which nothing decides.
    pub unfolded_depth: Option<usize>,
}

/// A state variable.
#[derive(Clone, Debug)]
pub struct StateVar {
    /// Name and sort.
    pub var: VarId,
    /// A ground term, or `None` if the value at start is unknown.
    pub init: Option<Term>,
    /// The place of its declaration.
    pub span: Span,
}

/// A clock, in seconds.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Name; the sort is real.
    pub var: VarId,
    /// The place of its declaration.
    pub span: Span,
}

/// The direction of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateKind {
    /// Internal (tau): not observable.
    Internal,
    /// An input that the tester sends.
    Input,
    /// An input that another party sends; the tester only observes it (\[BLLN23]'s uncontrollable channels).
    Observed,
    /// An output of the system.
    Output,
}

impl GateKind {
    /// Returns whether the system receives at this gate, from the tester or from another party.
    #[must_use]
    pub fn is_input(self) -> bool {
        matches!(self, Self::Input | Self::Observed)
    }
}

/// A message: name, direction, named typed fields.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Its name.
    pub name: Arc<str>,
    /// The direction.
    pub kind: GateKind,
    /// One variable per field; name and sort are the variable's.
    pub fields: Vec<VarId>,
    /// The place of its declaration.
    pub span: Span,
    /// The documentation comment of its author.
    pub doc: String,
}

impl Gate {
    /// Returns whether this output may stand for the end of a system or of the connection to it: `ended` with at most
    /// one field (the status), or `closed` without fields.
    #[must_use]
    pub fn tells_the_end(&self) -> bool {
        let has_room = match &*self.name {
            "closed" => self.fields.is_empty(),
            "ended" => self.fields.len() <= 1,
            _ => false,
        };
        has_room && self.kind == GateKind::Output
    }
}

/// A place of control.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name.
    pub name: Arc<str>,
    /// The place of its declaration.
    pub span: Span,
    /// The documentation comment of its author.
    pub doc: String,
}

/// A guarded edge between locations.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its stable name: the label written, or one made from its place.
    pub label: Arc<str>,
    /// The source location.
    pub source: LocId,
    /// The gate, with the message sent or received.
    pub gate: GateId,
    /// The condition under which it can be taken, range obligations of the update included.
    pub guard: Term,
    /// New values, all computed from the old ones; variables not mentioned keep theirs.
    pub update: Vec<(VarId, Term)>,
    /// Clocks set to 0.
    pub resets: Vec<VarId>,
    /// The target location.
    pub target: LocId,
    /// The place of its declaration.
    pub span: Span,
    /// The documentation comment of its author.
    pub doc: String,
    /// Requirements it traces to.
    pub reqs: Vec<Arc<str>>,
    /// The relative preference of a random tester for it; 1 is normal.
    pub weight: u32,
    /// The conjuncts of the guard that keep updated variables in their ranges and that the guard as written lacks, for
    /// the lint that reports them; `None` if there are none.
    pub range_check: Option<Term>,
}

impl Sts {
    /// The internal gate.
    pub const TAU: GateId = GateId(0);

    /// Returns the variables that a state has values for, in the order of every store: state variables as declared,
    /// then clocks.
    pub fn stored_vars(&self) -> impl Iterator<Item = VarId> + '_ {
        self.vars.iter().map(|var| var.var).chain(self.clocks.iter().map(|clock| clock.var))
    }

    /// Makes a system with the internal gate, one location, and nothing else.
    #[must_use]
    pub fn new(name: &str, initial: &str, span: Span) -> Self {
        let internal = Gate {
            name: "internal".into(),
            kind: GateKind::Internal,
            fields: Vec::new(),
            span,
            doc: String::new(),
        };
        let location = Location { name: initial.into(), span, doc: String::new() };
        Self {
            name: name.into(),
            doc: String::new(),
            vars: Vec::new(),
            clocks: Vec::new(),
            gates: [internal].into_iter().collect(),
            locations: [location].into_iter().collect(),
            initial: LocId::new(0),
            switches: Switches::default(),
            goals: Vec::new(),
            composition: None,
            unfolded_depth: None,
        }
    }

    /// The switches that start at `loc`, in order.
    pub fn switches_from(&self, loc: LocId) -> impl Iterator<Item = (SwitchId, &Switch)> {
        self.switches.from(loc)
    }

    /// Returns the direction of the gate of `switch`.
    #[must_use]
    pub fn kind_of(&self, switch: &Switch) -> GateKind {
        self.gates[switch.gate].kind
    }

    /// The gate named `name`.
    #[must_use]
    pub fn gate_named(&self, name: &str) -> Option<GateId> {
        self.gates.iter_enumerated().find(|(_, gate)| &*gate.name == name).map(|(id, _)| id)
    }

    /// The location named `name`.
    #[must_use]
    pub fn location_named(&self, name: &str) -> Option<LocId> {
        self.locations.iter_enumerated().find(|(_, location)| &*location.name == name).map(|(id, _)| id)
    }

    /// The switch labelled `label`.
    #[must_use]
    pub fn switch_named(&self, label: &str) -> Option<SwitchId> {
        self.switches.iter_enumerated().find(|(_, switch)| &*switch.label == label).map(|(id, _)| id)
    }

    /// Returns the place of a state as text: the name of its location, or the locations of the parts of the system.
    #[must_use]
    pub fn place_text(&self, loc: LocId, value: impl Fn(VarId) -> Option<Value>) -> String {
        let parts = self.composition.as_ref().map(|composition| composition.places_text(value));
        parts.filter(|place| !place.is_empty()).unwrap_or_else(|| self.locations[loc].name.to_string())
    }

    /// Returns whether `var` holds data, not the location of a part.
    #[must_use]
    pub fn is_data(&self, var: VarId) -> bool {
        let Some(composition) = &self.composition else { return true };
        composition.parts.iter().all(|part| part.control != Some(var))
    }

    /// Returns whether every behaviour is allowed from a state with these values; false unless the system declares an
    /// open location.
    #[must_use]
    pub fn is_open(&self, value: impl Fn(VarId) -> Option<Value>) -> bool {
        let open = self.composition.as_ref().and_then(|composition| composition.open_value());
        open.is_some_and(|(var, ctor)| matches!(value(var), Some(Value::Data(data)) if data.ctor == ctor))
    }

    /// Returns whether `switch` was added only to complete an underspecified part and so is no test goal.
    #[must_use]
    pub fn is_completion(&self, switch: &Switch) -> bool {
        let Some(composition) = &self.composition else { return false };
        let moves = composition.moves.get(&switch.label).into_iter().flatten();
        moves.into_iter().any(|step| composition.is_completion(step))
    }

    /// Returns whether `switch` can be observed and is a test goal: neither internal nor a completion.
    #[must_use]
    pub fn is_seen(&self, switch: &Switch) -> bool {
        self.kind_of(switch) != GateKind::Internal && !self.is_completion(switch)
    }

    /// Returns whether the model has clocks.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// Returns whether some variable has no initial value.
    #[must_use]
    pub fn has_unknowns(&self) -> bool {
        self.vars.iter().any(|var| var.init.is_none())
    }
}

impl Model {
    /// The sort of a field of a gate.
    #[must_use]
    pub fn field_sort(&self, field: VarId) -> Sort {
        self.pool.var_info(field).sort
    }
}
