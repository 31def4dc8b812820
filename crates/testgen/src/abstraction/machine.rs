//! A machine as a transition system: an input leads to a place between, an output from there on.
//!
//! The same shape as the DOT importer gives its machines, for the texts it does not read.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_fsm::mealy::{Listing, Row};
use ioxide_model::index::IndexVec;
use ioxide_model::source::Span;
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, Model, Sts, Switch};
use ioxide_model::term::{Term, TermPool};

/// The model of a machine called `name`; every place of it is `span`.
///
/// Transitions of one state with the same input share the place after it, so that a
/// nondeterministic machine has one input switch and several output switches there.
#[must_use]
pub fn model_of(listing: &Listing, name: &str, span: Span) -> Model {
    let mut pool = TermPool::new();
    let guard = pool.tt();
    let mut sts = Sts::new(name, &listing.initial, span);
    sts.locations = IndexVec::new();
    let (states, gates) = (BTreeMap::new(), BTreeMap::new());
    let (between, seen) = (BTreeMap::new(), BTreeSet::new());
    let mut builder = Builder { sts, guard, span, states, gates, between, seen };
    for state in &listing.states {
        builder.state(state);
    }
    builder.sts.initial = builder.state(&listing.initial);
    for row in &listing.rows {
        builder.transition(row);
    }
    Model { pool, sts: builder.sts }
}

struct Builder<'l> {
    sts: Sts,
    guard: Term,
    span: Span,
    states: BTreeMap<&'l str, LocId>,
    gates: BTreeMap<(GateKind, &'l str), GateId>,
    between: BTreeMap<(LocId, GateId), LocId>,
    seen: BTreeSet<(LocId, GateId, LocId)>,
}

impl<'l> Builder<'l> {
    fn state(&mut self, name: &'l str) -> LocId {
        if let Some(&state) = self.states.get(name) {
            return state;
        }
        let state = self.location(name);
        self.states.insert(name, state);
        state
    }

    fn location(&mut self, name: &str) -> LocId {
        self.sts.locations.push(Location { name: name.into(), span: self.span, doc: String::new() })
    }

    fn gate(&mut self, name: &'l str, kind: GateKind) -> GateId {
        let (sts, span) = (&mut self.sts, self.span);
        *self.gates.entry((kind, name)).or_insert_with(|| {
            sts.gates.push(Gate { name: name.into(), kind, fields: Vec::new(), span, doc: String::new() })
        })
    }

    fn transition(&mut self, row: &'l Row) {
        let (from, to) = (self.state(&row.from), self.state(&row.to));
        let (input, output) =
            (self.gate(&row.input, GateKind::Input), self.gate(&row.output, GateKind::Output));
        let label = format!("{}/{}", row.from, row.input);
        let between = match self.between.get(&(from, input)) {
            Some(&between) => between,
            None => {
                let between = self.location(&label);
                self.between.insert((from, input), between);
                self.switch(&label, from, input, between);
                between
            }
        };
        if self.seen.insert((between, output, to)) {
            self.switch(&format!("{label}/{}/{}", row.output, row.to), between, output, to);
        }
    }

    fn switch(&mut self, label: &str, source: LocId, gate: GateId, target: LocId) {
        self.sts.switches.push(Switch {
            label: label.into(),
            source,
            gate,
            guard: self.guard,
            update: Vec::new(),
            resets: Vec::new(),
            target,
            span: self.span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }
}
