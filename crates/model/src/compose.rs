//! Systems made of parts: composition by rendezvous, without a product of locations.
//!
//! The composition of transition systems is a transition system whose states are vectors of the
//! states of its parts; a *meeting* is a step that several parts take at once, with equal
//! values in the fields they share. Control is data here: each part gets a variable that says
//! where it is, the system has one location, and a switch of the system is one switch of each part
//! that meets, guarded by where they start. So the size of the system is the sum of its parts (and the
//! product of the switches of one meeting), and vectors exist only where an engine has come to them. As
//! the variables hold constants on every path, guards about them are decided by evaluation.
//!
//! - A message of one part that is connected to no other is a meeting of one.
//! - Clocks run together, as the clocks of any system do. The system is quiescent where no meeting
//!   with an output, or hidden, is enabled: a sender whose receiver does not listen waits.
//! - A hidden meeting is internal. The values of its fields are those the senders pin; a field that is
//!   only compared is quantified, one of few values is tried for each, anything else is
//!   [refused](OpenField).
//!
//! *Invariants.* Variables of a part are changed by its own switches only. The label of a switch joins
//! the labels of the switches that meet, each behind the name of its part.

mod channel;
mod synchronise;
mod through;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use channel::{CarriedMessage, Channel, ChannelDelay, Discipline};
pub use synchronise::{OpenField, SyncFieldSource, SyncMember, Synchronisation};
pub use through::{NotSeenThrough, SeenThrough, see_through};

use crate::index::{Idx, IndexVec};
use crate::sort::{Constructor, DataId, DataKind, DataSort, Sort};
use crate::source::Span;
use crate::sts::{Clock, Gate, GateId, GateKind, LocId, Model, StateVar, Sts, Switch};
use crate::term::{DataClash, TermImport};
use crate::term::{Term, TermPool, VarId};
use crate::value::{DataValue, Value};

crate::index! { /// A part of a composed system.
pub struct PartId; }

/// The parts of a composed system, with the part-level origin of its switches and messages.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// The parts.
    pub parts: IndexVec<PartId, PartSystem>,
    /// The steps of the parts behind every switch, by the label of the switch.
    pub moves: BTreeMap<Arc<str>, Vec<PartMove>>,
    /// The location of a part from which every behaviour is allowed, if there is such a location.
    pub open: Option<OpenLocation>,
    /// The part and the message of that part behind every message of the system.
    pub messages: BTreeMap<GateId, PartMessage>,
    /// The model without the channel, if this is a model that is seen through one.
    pub seen_through: Option<Arc<SeenThrough>>,
}

/// The location of a part from which every behaviour is allowed, with the switches that complete the part by it.
///
/// It is known by its position: the model may have a location of any name.
#[derive(Clone, Debug)]
pub struct OpenLocation {
    /// The part.
    pub part: PartId,
    /// The location of the part's model.
    pub place: LocId,
    /// The labels of the part's switches to and from the location, which are no test goals. No other switch of the
    /// part has one of these labels.
    pub completions: BTreeSet<Arc<str>>,
}

/// A message of the system as a message of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartMessage {
    /// The name of the part, or of the array of parts.
    pub family: Arc<str>,
    /// The name of the message in the part.
    pub message: Arc<str>,
    /// The instance of the part that the message belongs to.
    pub owner: MessageOwner,
}

/// The instance of a part that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOwner {
    /// The only instance: the part is no array.
    Only,
    /// The instance with this index.
    Instance(i64),
    /// The instance whose index is the value of the message's first field.
    FirstField,
}

/// A part.
#[derive(Clone, Debug)]
pub struct PartSystem {
    /// Its name, such as `client[2]`.
    pub name: Arc<str>,
    /// The name it shares with the other instances of its array, such as `client`.
    pub family: Arc<str>,
    /// The index of the instance in its array; `None` if the part is no array.
    pub index: Option<i64>,
    /// The variable that holds the current location; `None` if the part has fewer than two locations.
    pub control: Option<VarId>,
    /// The names of its locations, by the constructor position of the value of `control`.
    pub places: Vec<Arc<str>>,
    /// True for the locations without switches, by the same position: the part ends there.
    pub is_end: Vec<bool>,
    /// The labels of its own switches.
    pub switches: Vec<Arc<str>>,
    /// The messages that its own switches offer or wait for.
    pub offers: Vec<PartOffer>,
    /// Its variables and clocks, `control` included: in the same order in every instance of a model.
    pub vars: Vec<VarId>,
}

/// A switch of a part with a message.
#[derive(Clone, Debug)]
pub struct PartOffer {
    /// The label of the switch.
    pub switch: Arc<str>,
    /// The name of the message in the part.
    pub message: Arc<str>,
    /// The position of its location.
    pub place: usize,
    /// True if the part receives the message.
    pub is_input: bool,
    /// The place of its declaration.
    pub span: Span,
}

/// The share of one part in a switch of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartMove {
    /// The part.
    pub part: PartId,
    /// Its own switch, by label.
    pub switch: Arc<str>,
}

/// Returns the messages that the switches of a part offer or wait for.
fn offers_of(sts: &Sts) -> Vec<PartOffer> {
    let seen = sts.switches.iter().filter(|switch| sts.kind_of(switch) != GateKind::Internal);
    let offer = |switch: &Switch| PartOffer {
        switch: switch.label.clone(),
        message: sts.gates[switch.gate].name.clone(),
        place: switch.source.index(),
        is_input: sts.kind_of(switch).is_input(),
        span: switch.span,
    };
    seen.map(offer).collect()
}

impl Composition {
    /// Returns the control variable and the constructor that stand for the [open](Self::open) location; `None` if there
    /// is none.
    #[must_use]
    pub fn open_value(&self) -> Option<(VarId, u32)> {
        let OpenLocation { part, place, .. } = self.open.as_ref()?;
        Some((self.parts[*part].control?, u32::try_from(place.index()).ok()?))
    }

    /// Returns whether `step` was added only to complete an underspecified part.
    #[must_use]
    pub fn is_completion(&self, step: &PartMove) -> bool {
        let is_it = |open: &OpenLocation| open.part == step.part && open.completions.contains(&step.switch);
        self.open.as_ref().is_some_and(is_it)
    }

    /// Returns the message of the system that is `message` of one instance of `family`, if there is one. A message of
    /// the instance alone comes before one that names the instance in its first field.
    #[must_use]
    pub fn message_of(&self, family: &str, index: Option<i64>, message: &str) -> Option<GateId> {
        let named = |of: &PartMessage| *of.family == *family && *of.message == *message;
        let owned = |owner: MessageOwner| match (owner, index) {
            // The least number wins below.
            (MessageOwner::Only, None) => Some(0),
            (MessageOwner::Instance(at), Some(index)) if at == index => Some(0),
            // An instance with a message of its own does not speak by that of all.
            (MessageOwner::FirstField, Some(_)) => Some(1),
            _ => None,
        };
        let found = self.messages.iter().filter(|(_, of)| named(of));
        let found = found.filter_map(|(&gate, of)| Some((owned(of.owner)?, gate)));
        found.min().map(|(_, gate)| gate)
    }

    /// Returns the locations of the parts as text, such as `server: idle, client[1]: waiting`; parts without a control
    /// variable are left out.
    #[must_use]
    pub fn places_text(&self, value: impl Fn(VarId) -> Option<Value>) -> String {
        let here = |part: &PartSystem| match value(part.control?) {
            Some(Value::Data(value)) => {
                Some(format!("{}: {}", part.name, part.places.get(value.ctor as usize)?))
            }
            _ => None,
        };
        let all: Vec<String> = self.parts.iter().filter_map(here).collect();
        all.join(", ")
    }
}

/// A system under composition.
pub struct Composer {
    pool: TermPool,
    sts: Sts,
    composition: Composition,
    imported: IndexVec<PartId, ImportedPart>,
}

/// A part whose variables and terms are in the pool of the system.
struct ImportedPart {
    /// The fields of each of its messages, by gate.
    gates: Vec<Vec<VarId>>,
    switches: Vec<PartSwitch>,
}

/// A switch of a part in the pool of the system: the guard also tests the source location, the update also sets the
/// target.
#[derive(Clone)]
struct PartSwitch {
    label: Arc<str>,
    gate: GateId,
    guard: Term,
    update: Vec<(VarId, Term)>,
    resets: Vec<VarId>,
    span: Span,
    doc: String,
    reqs: Vec<Arc<str>>,
    weight: u32,
}

impl Composer {
    /// A system without parts.
    #[must_use]
    pub fn new(name: &str, span: Span) -> Self {
        Self {
            pool: TermPool::new(),
            sts: Sts::new(name, name, span),
            composition: Composition::default(),
            imported: IndexVec::new(),
        }
    }

    /// Adds `model` as the part `family`, or as the instance of `family` with this index. Its switches occur in the
    /// system only after its messages [meet](Self::meet).
    ///
    /// # Errors
    /// If a type of `model` differs from a type of another part with the same name.
    pub fn add_part(&mut self, family: &str, index: Option<i64>, model: &Model) -> Result<PartId, DataClash> {
        let Model { pool, sts } = model;
        let name = &index.map_or_else(|| family.to_owned(), |at| format!("{family}[{at}]"));
        // Before the import, which compares types by name: a type of the model that is called like the type
        // of its places is found there.
        let control = self.control(name, family, sts);
        let mut import = TermImport::new(&mut self.pool, pool)?;
        let mut vars = Vec::with_capacity(sts.vars.len());
        for var in &sts.vars {
            let image = declare_image(&mut import, pool, name, var.var);
            let init = var.init.map(|term| import.term(term));
            vars.push(StateVar { var: image, init, span: var.span });
        }
        let clocks: Vec<Clock> = sts
            .clocks
            .iter()
            .map(|clock| Clock { var: declare_image(&mut import, pool, name, clock.var), span: clock.span })
            .collect();
        let gates: Vec<Vec<VarId>> = sts
            .gates
            .iter()
            .map(|gate| gate.fields.iter().map(|&field| import.var(field)).collect())
            .collect();
        let switches =
            sts.switches.iter().map(|switch| import_switch(&mut import, control, switch)).collect();
        if let Some((var, data)) = control {
            let init = Some(self.pool.value(place_value(data, sts.initial)));
            // Before the variables of the part itself, as in `own` below.
            self.sts.vars.push(StateVar { var, init, span: sts.locations[sts.initial].span });
        }
        let own = vars.iter().map(|var| var.var).chain(clocks.iter().map(|clock| clock.var));
        let own = control.map(|(var, _)| var).into_iter().chain(own).collect();
        self.sts.vars.extend(vars);
        self.sts.clocks.extend(clocks);
        self.composition.parts.push(PartSystem {
            name: name.as_str().into(),
            family: family.into(),
            index,
            control: control.map(|(var, _)| var),
            places: sts.locations.iter().map(|location| location.name.clone()).collect(),
            is_end: sts.locations.ids().map(|at| sts.switches_from(at).next().is_none()).collect(),
            switches: sts.switches.iter().map(|switch| switch.label.clone()).collect(),
            offers: offers_of(sts),
            vars: own,
        });
        Ok(self.imported.push(ImportedPart { gates, switches }))
    }

    /// Declares the variable for the location of the part `name`, and its type; returns `None` if the part has fewer
    /// than two locations.
    fn control(&mut self, name: &str, family: &str, sts: &Sts) -> Option<(VarId, DataId)> {
        if sts.locations.len() < 2 {
            return None;
        }
        let ctor = |name: &Arc<str>| Constructor { name: name.clone(), fields: Vec::new() };
        let ctors = sts.locations.iter().map(|location| ctor(&location.name)).collect();
        let data = DataSort { name: format!("{family}.state").into(), kind: DataKind::Enum, ctors };
        // The instances of an array have one type for their places.
        let known = self.pool.data_types().find(|(_, other)| **other == data).map(|(id, _)| id);
        let data = known.unwrap_or_else(|| self.pool.declare_data(data));
        Some((self.pool.declare(&format!("{name}.state"), Sort::Data(data)), data))
    }

    /// The sort of a field of a message of a part.
    #[must_use]
    pub fn field_sort(&self, part: PartId, gate: GateId, field: usize) -> Sort {
        self.pool.var_info(self.imported[part].gates[gate.index()][field]).sort
    }

    /// Returns the text of `sort`.
    #[must_use]
    pub fn show_sort(&self, sort: Sort) -> String {
        self.pool.show_sort(sort)
    }

    /// Declares a variable for a field that parts share.
    pub fn field(&mut self, name: &str, sort: Sort) -> VarId {
        self.pool.declare(name, sort)
    }

    /// Adds a message of the system with these [fields](Self::field).
    pub fn gate(&mut self, name: &str, kind: GateKind, fields: Vec<VarId>, span: Span, doc: &str) -> GateId {
        self.sts.gates.push(Gate { name: name.into(), kind, fields, span, doc: doc.to_owned() })
    }

    /// Records the message of a part that `gate` stands for.
    pub fn belongs(&mut self, gate: GateId, of: PartMessage) {
        self.composition.messages.insert(gate, of);
    }

    /// Returns the pool of the system's terms.
    pub fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    /// Declares that every behaviour is allowed while a part is at this location.
    pub fn open(&mut self, location: OpenLocation) {
        self.composition.open = Some(location);
    }

    /// Returns the composed system.
    #[must_use]
    pub fn finish(self) -> Model {
        let Self { pool, mut sts, composition, .. } = self;
        sts.composition = Some(Arc::new(composition));
        Model { pool, sts }
    }
}

/// Declares the image of `var` under its name prefixed with that of its part.
fn declare_image(import: &mut TermImport<'_>, from: &TermPool, part: &str, var: VarId) -> VarId {
    let info = from.var_info(var);
    let sort = import.sort(info.sort);
    let image = import.pool().declare(&format!("{part}.{}", info.name), sort);
    import.bind(var, image);
    image
}

/// Returns a switch of a part with its terms in the pool of the system; `control` is the variable for the location of
/// the part.
fn import_switch(
    import: &mut TermImport<'_>,
    control: Option<(VarId, DataId)>,
    switch: &Switch,
) -> PartSwitch {
    let mut guard = import.term(switch.guard);
    let mut update: Vec<(VarId, Term)> = Vec::with_capacity(switch.update.len() + 1);
    for &(var, term) in &switch.update {
        update.push((import.var(var), import.term(term)));
    }
    if let Some((var, data)) = control {
        // The location of the part is data: its switches require their source in the guard and set their target in the
        // update.
        guard = guard_at(import.pool(), var, data, switch.source, guard);
        if switch.source != switch.target {
            update.push((var, import.pool().value(place_value(data, switch.target))));
        }
    }
    PartSwitch {
        label: switch.label.clone(),
        gate: switch.gate,
        guard,
        update,
        resets: switch.resets.iter().map(|&clock| import.var(clock)).collect(),
        span: switch.span,
        doc: switch.doc.clone(),
        reqs: switch.reqs.clone(),
        weight: switch.weight,
    }
}

/// Returns `guard` conjoined with the fact that the part is at `loc`.
fn guard_at(pool: &mut TermPool, control: VarId, data: DataId, loc: LocId, guard: Term) -> Term {
    let control = pool.var(control);
    let here = pool.value(place_value(data, loc));
    let here = pool.eq(control, here);
    pool.and([here, guard])
}

/// The value of a control variable at `loc`.
fn place_value(data: DataId, loc: LocId) -> Value {
    let ctor = u32::try_from(loc.index()).unwrap_or(u32::MAX);
    Value::Data(DataValue { data, ctor, args: Arc::default() })
}
