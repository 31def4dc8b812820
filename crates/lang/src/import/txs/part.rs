//! A behaviour as a transition system: control states are locations, names are variables.
//!
//! A variable belongs to a path in the tree of control (left, right, ...), a name and a sort: every value of that name
//! at that path is stored in it, whichever process bound it. A variable that a location does not read has the default
//! value of its sort, so equal states are equal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, Model, StateVar, Sts, Switch};
use ioxide_model::term::{RecursiveFunction, Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;

use super::channels::{ChannelId, ChannelWiring, Communication};
use super::control::{ControlAct, ControlState, Stepper, path_of_side};
use super::tree::BehaviourId;
use super::typing::{is_any, mentions_any};
use crate::sink::{FindingSink, Reported};

/// The greatest number of compositions of one part. Chosen by feel: a process that makes more has no end, or none that
/// testing would come to.
const MAX_PLACES: usize = 5_000;
/// The same where processes create processes, for each level of nesting up to which they are unfolded. Chosen by feel:
/// with the usual depth it is some seconds of work, and far beyond what people let run in parallel.
const GROWN_PLACES_PER_LEVEL: usize = 25;
/// The greatest number of locations of one part. Chosen by feel: those that are no compositions stand in the text, each
/// for one way in which the channels are passed on.
const MAX_ALL_PLACES: usize = 100_000;
/// The greatest number of steps of one part. Chosen by feel: far beyond the largest automata that people generate.
const MAX_PART_STEPS: usize = 500_000;
/// The greatest number of messages on several channels at once beyond these limits. Chosen by feel: each is a message
/// of the model.
const MAX_SETS_BEYOND: usize = 64;
/// The name of what is beyond these limits.
const BEYOND: &str = "not unfolded";

/// The meaning of a message of a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TxsPartMessage {
    On(Communication),
    Hit,
    Miss,
    Quiet,
}

/// A part: its transition system, and the meanings of its messages.
pub(super) struct BuiltPart {
    pub(super) model: Model,
    pub(super) said: BTreeMap<TxsPartMessage, GateId>,
    used: BTreeSet<GateId>,
    /// The call at which unfolding was cut off, if it was.
    pub(super) cut: Option<Span>,
}

impl BuiltPart {
    /// Returns the gate of `said`; `None` if no switch uses it.
    pub(super) fn says(&self, said: &TxsPartMessage) -> Option<GateId> {
        self.said.get(said).copied().filter(|gate| self.used.contains(gate))
    }

    /// Returns the gate of a communication; `None` if no switch uses it.
    pub(super) fn gate_on(&self, communication: &Communication) -> Option<GateId> {
        self.says(&TxsPartMessage::On(communication.clone()))
    }

    /// Returns the communications of the part.
    pub(super) fn communications(&self) -> impl Iterator<Item = &Communication> {
        let used = self.said.iter().filter(|(_, gate)| self.used.contains(gate));
        used.filter_map(|(said, _)| if let TxsPartMessage::On(on) = said { Some(on) } else { None })
    }
}

/// The state of building one part.
pub(super) struct PartBuilder<'a> {
    stepper: Stepper<'a>,
    sts: Sts,
    slots: BTreeMap<(String, String, Sort), VarId>,
    said: BTreeMap<TxsPartMessage, GateId>,
    /// The directions of the channels of the interface.
    kinds: ChannelKinds,
    /// For a behaviour the channels in scope, and those among them that it mentions.
    wirings: BTreeMap<BehaviourId, (ChannelWiring, ChannelWiring)>,
    places: BTreeMap<ControlState, LocId>,
    n_compositions: usize,
    open: VecDeque<(LocId, ControlState)>,
    names: BTreeMap<String, usize>,
    labels: BTreeMap<String, usize>,
    /// True if processes without bound are unfolded up to the limits instead of refused.
    is_cut: bool,
    /// The location that stands for everything beyond the limits, if something is.
    beyond: Option<LocId>,
}

/// The reason why there is no part.
pub(super) enum NoPart {
    TooMany,
    /// A call that creates processes without bound before anything happens.
    Endless(Span),
    /// A call that creates processes without bound, as something happens.
    Grows(Span),
    /// A communication on inputs and outputs at once.
    BothWays(Span),
    /// The errors of expressions with the values that occur.
    Wrong(Vec<Diagnostic>),
    /// A step whose condition or new values depend on `ANY`.
    UsesAny(Span),
    /// The initial values cannot be computed.
    Broken,
}

impl<'a> PartBuilder<'a> {
    /// Makes a builder of the part called `name`, with the channels of the interface and their directions.
    pub(super) fn new(stepper: Stepper<'a>, name: &str, span: Span, outside: &ChannelKinds) -> Self {
        let sts = Sts::new(name, name, span);
        let mut builder = Self {
            stepper,
            sts,
            slots: BTreeMap::new(),
            said: BTreeMap::new(),
            kinds: outside.clone(),
            wirings: BTreeMap::new(),
            places: BTreeMap::new(),
            n_compositions: 0,
            open: VecDeque::new(),
            names: BTreeMap::new(),
            labels: BTreeMap::new(),
            is_cut: false,
            beyond: None,
        };
        for (&channel, &kind) in outside {
            builder.gate_for(&TxsPartMessage::On(Communication::on_channel(channel)), kind, span);
        }
        builder
    }

    /// Unfolds processes without bound up to the limits; what is beyond them is unknown.
    pub(super) fn with_cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    /// Builds the part that starts as `control`.
    pub(super) fn build(mut self, control: ControlState) -> Result<BuiltPart, NoPart> {
        match self.unfold(control) {
            // What may grow, and was unfolded, is what has no end.
            Err(NoPart::TooMany | NoPart::Endless(_)) if self.stepper.grown.is_some() => {
                Err(self.stepper.grown.map_or(NoPart::Broken, NoPart::Grows))
            }
            Err(why) => Err(why),
            Ok(()) => {
                let cut = self.beyond.and(self.stepper.grown);
                self.sts.unfolded_depth = self.beyond.map(|_| self.stepper.max_depth);
                let used = self.sts.switches.iter().map(|switch| switch.gate).collect();
                Ok(BuiltPart {
                    model: Model { pool: self.stepper.pool, sts: self.sts },
                    said: self.said,
                    used,
                    cut,
                })
            }
        }
    }

    /// Adds all locations and switches that `control` leads to, and the variables.
    fn unfold(&mut self, control: ControlState) -> Result<(), NoPart> {
        let start = self.stepper.open_compositions(control, "")?;
        let mut values = Vec::new();
        let start = self.store_names(start, "", &mut values);
        let name = self.place_name(&start);
        self.sts.locations[LocId::new(0)].name = self.unique_name(&name).into();
        self.places.insert(start.clone(), LocId::new(0));
        self.open.push_back((LocId::new(0), start));
        // Breadth first, so that a cut leaves out what is farthest from the start.
        while let Some((place, control)) = self.open.pop_front() {
            self.leave(place, &control)?;
        }
        self.add_unknown_steps()?;
        self.variables(&values)
    }

    /// Lets every message be possible or not in the location beyond the limits: the guards are calls of functions that
    /// are not defined. Neither evaluation nor a solver decides them, so nothing is allowed, forbidden or proved there.
    fn add_unknown_steps(&mut self) -> Result<(), NoPart> {
        let Some(beyond) = self.beyond else { return Ok(()) };
        let span = self.sts.locations[beyond].span;
        for seen in self.sets_beyond(span)? {
            let Some(kind) = kind_of(&seen, &self.kinds) else { continue };
            let on = Communication { seen, ..Communication::default() };
            let gate = self.gate_for(&TxsPartMessage::On(on), kind, span);
            let guard = self.unknown_condition(gate);
            self.add_switch((beyond, beyond), gate, guard, Vec::new(), span);
        }
        Ok(())
    }

    /// Returns the sets of channels on which something may be said beyond the limits: each channel of the interface,
    /// and those that are used at once. Further processes say what those before them said, alone or together, so these
    /// are the unions of sets that were found.
    fn sets_beyond(&self, span: Span) -> Result<BTreeSet<BTreeSet<ChannelId>>, NoPart> {
        let joint = self.said.keys().filter_map(|said| match said {
            TxsPartMessage::On(on) if on.is_joint() && !on.seen.is_empty() => Some(on.seen.clone()),
            _ => None,
        });
        let joint: BTreeSet<BTreeSet<ChannelId>> = joint.collect();
        let mut unions = joint.clone();
        let mut open: Vec<BTreeSet<ChannelId>> = joint.iter().cloned().collect();
        while let Some(set) = open.pop() {
            for other in &joint {
                let union: BTreeSet<ChannelId> = set.union(other).copied().collect();
                if unions.insert(union.clone()) {
                    open.push(union);
                }
            }
            if unions.len() > MAX_SETS_BEYOND {
                return Err(NoPart::Grows(span));
            }
        }
        unions.extend(self.kinds.keys().map(|&channel| BTreeSet::from([channel])));
        Ok(unions)
    }

    /// Returns a condition over the fields of a message that nothing decides.
    fn unknown_condition(&mut self, gate: GateId) -> Term {
        let pool = &mut self.stepper.pool;
        let Gate { name, fields, .. } = &self.sts.gates[gate];
        let mut params = Vec::with_capacity(fields.len());
        for &field in fields {
            let (name, sort) = (pool.var_info(field).name.clone(), pool.var_info(field).sort);
            params.push(pool.declare(&name, sort));
        }
        let id = pool.declare_function(RecursiveFunction {
            name: format!("{BEYOND}:{name}").into(),
            params,
            result: Sort::Bool,
            body: None,
            descends: Vec::new(),
        });
        let args = fields.iter().map(|&field| pool.var(field)).collect();
        pool.call(id, args)
    }

    /// Returns the location that stands for everything beyond the limits.
    fn place_beyond(&mut self, span: Span) -> LocId {
        if let Some(known) = self.beyond {
            return known;
        }
        let name = self.unique_name(BEYOND).into();
        let doc = "everything beyond the limits of unfolding".into();
        let id = self.sts.locations.push(Location { name, span, doc });
        self.beyond = Some(id);
        id
    }

    /// Adds the switches that leave one location.
    fn leave(&mut self, place: LocId, control: &ControlState) -> Result<(), NoPart> {
        // The terms here are variables, each that of a name which the behaviour still reads.
        let before = live(control);
        for step in self.stepper.steps(control, "")? {
            if self.stepper.pool.is_false(step.guard) {
                continue;
            }
            let Some(gate) = self.gate_of_act(&step.act, step.span)? else { continue };
            let next = self.stepper.open_compositions(step.next, "")?;
            let mut update = Vec::new();
            let next = self.store_names(next, "", &mut update);
            // After the names were stored: the updates, too, speak of the fields of the plain channels until
            // here.
            let guard = self.rename_fields(&step.act, step.guard, &mut update);
            self.check_known(guard, &update, step.span)?;
            let pool = &mut self.stepper.pool;
            let after = live(&next);
            // Names that are not read any more get their default value: otherwise states that behave alike would differ
            // in what they once held.
            for &term in before.difference(&after) {
                if let Some(var) = as_var(pool, term) {
                    let plain = pool.default_value(pool.var_info(var).sort);
                    update.push((var, pool.value(plain)));
                }
            }
            // A variable that keeps its value is not mentioned.
            update.retain(|&(var, term)| as_var(pool, term) != Some(var));
            let target = self.arrive(next, step.span)?;
            if self.sts.switches.len() >= MAX_PART_STEPS {
                return Err(NoPart::TooMany);
            }
            self.add_switch((place, target), gate, guard, update, step.span);
        }
        Ok(())
    }

    /// Refuses a step that uses `ANY`: a transition has no values that may be any. What nothing reads afterwards is not
    /// part of it.
    fn check_known(&self, guard: Term, update: &[(VarId, Term)], span: Span) -> Result<(), NoPart> {
        let pool = &self.stepper.pool;
        let mut terms = std::iter::once(guard).chain(update.iter().map(|(_, term)| *term));
        let is_known = !self.stepper.spec.has_any || !terms.any(|term| mentions_any(pool, term));
        if is_known { Ok(()) } else { Err(NoPart::UsesAny(span)) }
    }

    /// Adds a switch between two locations.
    fn add_switch(
        &mut self,
        (source, target): (LocId, LocId),
        gate: GateId,
        guard: Term,
        update: Vec<(VarId, Term)>,
        span: Span,
    ) {
        let label = format!("{}:{}", self.sts.locations[source].name, self.sts.gates[gate].name);
        self.sts.switches.push(Switch {
            label: number_name(&mut self.labels, &label).into(),
            source,
            gate,
            guard,
            update,
            resets: Vec::new(),
            target,
            span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }

    /// Rewrites the guard and update of a step on several channels at once over the fields of the joint message;
    /// returns the guard.
    fn rename_fields(&mut self, act: &ControlAct, guard: Term, update: &mut [(VarId, Term)]) -> Term {
        let ControlAct::On(communication) = act else { return guard };
        if !communication.is_joint() {
            return guard;
        }
        let renaming = self.stepper.renaming(communication);
        let pool = &mut self.stepper.pool;
        update.iter_mut().for_each(|(_, term)| *term = pool.substitute(*term, &renaming));
        pool.substitute(guard, &renaming)
    }

    /// Returns the location of a state of control; a new one is added and remembered for unfolding.
    fn arrive(&mut self, control: ControlState, span: Span) -> Result<LocId, NoPart> {
        if let Some(&known) = self.places.get(&control) {
            return Ok(known);
        }
        let depth = depth_of(&control);
        self.n_compositions += usize::from(depth > 0);
        // What comes and goes has few places, so one that has no end is found before it has cost much.
        let most_grown = GROWN_PLACES_PER_LEVEL.saturating_mul(self.stepper.max_depth);
        let most = if self.stepper.grown.is_some() { most_grown } else { MAX_PLACES };
        let is_too_deep = self.stepper.grown.is_some() && depth > self.stepper.max_depth;
        if is_too_deep || self.n_compositions > most || self.places.len() >= MAX_ALL_PLACES {
            return match self.stepper.grown {
                Some(call) if self.is_cut => Ok(self.place_beyond(call)),
                _ => Err(NoPart::TooMany),
            };
        }
        let name = self.place_name(&control);
        let name = self.unique_name(&name).into();
        let id = self.sts.locations.push(Location { name, span, doc: String::new() });
        self.places.insert(control.clone(), id);
        self.open.push_back((id, control));
        Ok(id)
    }

    /// Returns `control` with the term of every name stored in a variable of its path; the new values of the variables
    /// are added to `update`.
    fn store_names(
        &mut self,
        control: ControlState,
        path: &str,
        update: &mut Vec<(VarId, Term)>,
    ) -> ControlState {
        let mut inner = |builder: &mut Self, control: Box<ControlState>, side: char| {
            Box::new(builder.store_names(*control, &path_of_side(path, side), update))
        };
        match control {
            ControlState::Ended => ControlState::Ended,
            ControlState::Parallel(sharing, left, right) => {
                ControlState::Parallel(sharing, inner(self, left, 'l'), inner(self, right, 'r'))
            }
            ControlState::Hide(channels, body) => ControlState::Hide(channels, inner(self, body, 'l')),
            ControlState::Enable(left, right) => {
                ControlState::Enable(inner(self, left, 'l'), inner(self, right, 'r'))
            }
            ControlState::Disable(left, right) => {
                ControlState::Disable(inner(self, left, 'l'), inner(self, right, 'r'))
            }
            ControlState::Interrupt(left, right) => {
                ControlState::Interrupt(inner(self, left, 'l'), inner(self, right, 'r'))
            }
            ControlState::At(id, scope, wiring) => {
                // Only names that the rest of the behaviour reads are part of the state. A process that
                // received a value and forgot it is where it was before.
                let free = &self.stepper.spec.behaviours[id].free;
                let mut kept = BTreeMap::new();
                for (name, term) in scope.into_iter().filter(|(name, _)| free.vars.contains(name)) {
                    let slot = self.slot(path, &name, term);
                    update.push((slot, term));
                    kept.insert(name, self.stepper.pool.var(slot));
                }
                ControlState::At(id, kept, self.free_channels(id, wiring))
            }
        }
    }

    /// Returns the channels that the behaviour mentions. What was found last is kept: the many ways into a state lead
    /// from one table to one table.
    fn free_channels(&mut self, id: BehaviourId, wiring: ChannelWiring) -> ChannelWiring {
        match self.wirings.get(&id) {
            Some((from, restricted)) if from.is_copy_of(&wiring) => restricted.clone(),
            _ => {
                let restricted = wiring.restricted_to(&self.stepper.spec.behaviours[id].free.channels);
                self.wirings.insert(id, (wiring, restricted.clone()));
                restricted
            }
        }
    }

    /// The variable for `name` at `path`, for values of the sort of `term`.
    fn slot(&mut self, path: &str, name: &str, term: Term) -> VarId {
        // The sort is part of the key: another process at the same path may use the same name for a value of
        // another sort.
        let sort = self.stepper.pool.sort(term).base();
        let pool = &mut self.stepper.pool;
        let shown = if path.is_empty() { name.to_owned() } else { format!("{name}'{path}") };
        *self
            .slots
            .entry((path.to_owned(), name.to_owned(), sort))
            .or_insert_with(|| pool.declare(&shown, sort))
    }

    /// Declares the variables with their initial values.
    fn variables(&mut self, values: &[(VarId, Term)]) -> Result<(), NoPart> {
        let span = self.sts.locations[LocId::new(0)].span;
        let values: BTreeMap<VarId, Term> = values.iter().rev().copied().collect();
        let pool = &mut self.stepper.pool;
        for &var in self.slots.values() {
            let value = match values.get(&var) {
                Some(term) if self.stepper.spec.has_any && is_any(pool, *term) => None,
                Some(term) if self.stepper.spec.has_any && mentions_any(pool, *term) => {
                    return Err(NoPart::UsesAny(span));
                }
                Some(term) => Some(pool.eval(*term, &Valuation::new()).map_err(|_| NoPart::Broken)?),
                None => Some(pool.default_value(pool.var_info(var).sort)),
            };
            let init = value.map(|value| pool.value(value));
            self.sts.vars.push(StateVar { var, init, span });
        }
        Ok(())
    }

    // Messages.

    /// Returns the message of an action; `None` for an exit that no behaviour accepts.
    fn gate_of_act(&mut self, act: &ControlAct, span: Span) -> Result<Option<GateId>, NoPart> {
        let said = match act {
            ControlAct::On(communication) if communication.is_internal() => return Ok(Some(Sts::TAU)),
            // The exits of parts are of interest only to one that says something with it.
            ControlAct::On(communication)
                if communication.is_plain_exit() && !self.stepper.spec.has_joint_exit =>
            {
                return Ok(None);
            }
            ControlAct::On(communication) => TxsPartMessage::On(communication.clone()),
            ControlAct::Hit => TxsPartMessage::Hit,
            ControlAct::Miss => TxsPartMessage::Miss,
            ControlAct::Quiet => TxsPartMessage::Quiet,
        };
        let kind = self.direction_of(act).ok_or(NoPart::BothWays(span))?;
        Ok(Some(self.gate_for(&said, kind, span)))
    }

    /// Returns the direction of an action; `None` if some channels of a communication are inputs and others outputs.
    fn direction_of(&self, act: &ControlAct) -> Option<GateKind> {
        let ControlAct::On(communication) = act else { return Some(GateKind::Output) };
        kind_of(&communication.seen, &self.kinds)
    }

    fn gate_for(&mut self, said: &TxsPartMessage, kind: GateKind, span: Span) -> GateId {
        if let Some(&known) = self.said.get(said) {
            return known;
        }
        let (name, fields) = match said {
            TxsPartMessage::On(communication) => (
                self.stepper.channels.communication_name(communication),
                self.stepper.message_fields(communication),
            ),
            TxsPartMessage::Hit => ("HIT".into(), Vec::new()),
            TxsPartMessage::Miss => ("MISS".into(), Vec::new()),
            TxsPartMessage::Quiet => ("QSTEP".into(), Vec::new()),
        };
        let gate = self.sts.gates.push(Gate { name: name.into(), kind, fields, span, doc: String::new() });
        self.said.insert(said.clone(), gate);
        gate
    }

    // Names.

    /// Returns the name of a location: the process it is in; for compositions, those of all sides.
    fn place_name(&self, control: &ControlState) -> String {
        let both = |a: &ControlState, sign: &str, b: &ControlState| {
            format!("{}{sign}{}", self.place_name(a), self.place_name(b))
        };
        match control {
            ControlState::Ended => "stop".into(),
            ControlState::At(id, ..) => match self.stepper.spec.behaviours[*id].owner {
                Some(owner) => self.stepper.spec.processes[owner].shown.clone(),
                None => self.sts.name.to_string(),
            },
            ControlState::Parallel(_, left, right) => both(left, "|", right),
            ControlState::Hide(_, body) => self.place_name(body),
            ControlState::Enable(left, right) => both(left, ">>", right),
            ControlState::Disable(left, _) | ControlState::Interrupt(left, _) => self.place_name(left),
        }
    }

    /// Returns `name`, with a number behind it if it is taken.
    fn unique_name(&mut self, name: &str) -> String {
        number_name(&mut self.names, name)
    }
}

/// The directions of channels.
pub(super) type ChannelKinds = BTreeMap<ChannelId, GateKind>;

/// Returns the direction of a communication on these channels at once; `None` if some are inputs and others outputs.
pub(super) fn kind_of(plain: &BTreeSet<ChannelId>, kinds: &ChannelKinds) -> Option<GateKind> {
    let kinds: Vec<GateKind> = plain.iter().filter_map(|channel| kinds.get(channel).copied()).collect();
    let first = kinds.first().copied().unwrap_or(GateKind::Output);
    kinds.iter().all(|kind| *kind == first).then_some(first)
}

/// Returns `name` the first time, `name.2` the second.
fn number_name(known: &mut BTreeMap<String, usize>, name: &str) -> String {
    let n = known.entry(name.to_owned()).or_insert(0);
    *n += 1;
    if *n == 1 { name.to_owned() } else { format!("{name}.{n}") }
}

/// Returns the nesting depth of compositions.
fn depth_of(control: &ControlState) -> usize {
    match control {
        ControlState::Ended | ControlState::At(..) => 0,
        ControlState::Hide(_, body) => 1 + depth_of(body),
        ControlState::Parallel(_, left, right)
        | ControlState::Enable(left, right)
        | ControlState::Disable(left, right)
        | ControlState::Interrupt(left, right) => 1 + depth_of(left).max(depth_of(right)),
    }
}

/// Returns the terms of the names in scope.
fn live(control: &ControlState) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    let mut open = vec![control];
    while let Some(control) = open.pop() {
        match control {
            ControlState::Ended => {}
            ControlState::At(_, scope, _) => found.extend(scope.values().copied()),
            ControlState::Hide(_, body) => open.push(body),
            ControlState::Parallel(_, left, right)
            | ControlState::Enable(left, right)
            | ControlState::Disable(left, right)
            | ControlState::Interrupt(left, right) => open.extend([&**left, &**right]),
        }
    }
    found
}

fn as_var(pool: &TermPool, term: Term) -> Option<VarId> {
    match pool.node(term) {
        ioxide_model::term::TermNode::Var(var) => Some(*var),
        _ => None,
    }
}

impl NoPart {
    /// Reports the reason.
    pub(super) fn report(self, span: Span, sink: &mut FindingSink) -> Reported {
        let unknown = || Diagnostic::new(Code::NotConstant, span, "its initial values cannot be computed");
        let diagnostic = match self {
            Self::TooMany => Diagnostic::new(
                Code::TooManySwitches,
                span,
                format!(
                    "a sequential part of this has more than {MAX_PLACES} composed places or {MAX_PART_STEPS} steps"
                ),
            )
            .note("parallel composition below `>->`, `>>>`, `[>>` or `[><` is written out place by place")
            .help("let the parallel composition be outermost"),
            Self::Endless(call) => Diagnostic::new(
                Code::UnboundedProcesses,
                call,
                "this call creates processes without bound, or too many of them",
            )
            .note("its condition is not decided by values that are known when it is made"),
            Self::Grows(call) => Diagnostic::new(
                Code::UnboundedProcesses,
                call,
                "this call creates a process again and again, without bound",
            )
            .note("it is inside a composition that is still there when it is made again")
            .help(
                "let the process call itself at the end of a sequence, write out how many run in parallel, or \
                 let another process bound them",
            ),
            Self::BothWays(place) => both_ways(place),
            Self::UsesAny(place) => uses_any(place),
            Self::Wrong(findings) => {
                findings.into_iter().for_each(|finding| sink.push(finding));
                return sink.reported_before(unknown);
            }
            Self::Broken => unknown(),
        };
        sink.error(|| diagnostic)
    }
}

/// Returns the finding about a step that uses a value that may be any.
fn uses_any(span: Span) -> Diagnostic {
    Diagnostic::new(Code::TxsNotRead, span, "what happens here depends on `ANY`")
        .note("`ANY` is read as a value at the start, as one that is sent, and where nothing reads it")
        .help("receive the value with `?`, or write one")
}

/// Returns the finding about a communication on inputs and outputs at once.
pub(super) fn both_ways(span: Span) -> Diagnostic {
    Diagnostic::new(Code::TxsNotRead, span, "this communication is on an input and an output at once")
        .note("a message is sent by the tester or by the system")
        .help("let the system answer in a second step")
}
