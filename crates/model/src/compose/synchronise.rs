//! Synchronisation: switches that several parts take together.

use std::sync::Arc;

use super::{Composer, PartId, PartMove, PartSwitch};
use crate::index::Idx;
use crate::sort::Sort;
use crate::source::Span;
use crate::sts::{GateId, LocId, Sts, Switch};
use crate::term::{Substitution, Term, TermPool, VarId};
use crate::value::Value;

/// The greatest number of values tried for a field of a hidden meeting that no sender pins. Chosen by feel: it bounds
/// the memory.
const MAX_VALUES: usize = 256;
/// The greatest number of switches of one meeting. Chosen by feel: it bounds the memory.
const MAX_SWITCHES: usize = 100_000;

/// A meeting: parts that take a step together.
#[derive(Clone, Debug)]
pub struct Synchronisation {
    /// The message of the system; [`Sts::TAU`](crate::sts::Sts::TAU) if the meeting is hidden.
    pub gate: GateId,
    /// The variables that the parts share: the fields of `gate`, or variables of the meeting's own if it is hidden.
    pub fields: Vec<VarId>,
    /// Further variables that the parts share and nobody else sees, also if the meeting itself is seen.
    pub hidden: Vec<VarId>,
    /// Fields fixed to one value in this meeting.
    pub given: Vec<(VarId, Value)>,
    /// Values that fields must not have in this meeting.
    pub excluded: Vec<(VarId, Value)>,
    /// The parts that take the step, each at one of its messages.
    pub members: Vec<SyncMember>,
    /// The place of a meeting without members; otherwise its switches have the place of the first member's switch.
    pub span: Option<Span>,
}

impl Default for Synchronisation {
    /// Returns a hidden meeting without members.
    fn default() -> Self {
        Self {
            gate: Sts::TAU,
            fields: Vec::new(),
            hidden: Vec::new(),
            given: Vec::new(),
            excluded: Vec::new(),
            members: Vec::new(),
            span: None,
        }
    }
}

/// A part that takes part in a meeting, at one of its messages.
#[derive(Clone, Debug)]
pub struct SyncMember {
    /// The part.
    pub part: PartId,
    /// Its message.
    pub gate: GateId,
    /// The sources of the message's fields, in order.
    pub fields: Vec<SyncFieldSource>,
}

/// The source of the value of a field.
#[derive(Clone, Debug)]
pub enum SyncFieldSource {
    /// A variable shared with the other members.
    Shared(VarId),
    /// A constant.
    Value(Value),
}

/// The reason why a meeting has no switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenField {
    /// No member pins the value of this hidden field, it has too many values to try each, and an update
    /// reads it, so that it cannot be quantified away.
    Unpinned {
        /// The field.
        field: String,
        /// The place of the first member's switch.
        span: Span,
    },
    /// The meeting needs more than this many switches.
    TooMany(usize),
}

impl Composer {
    /// Adds a switch for every choice of one switch of each member.
    ///
    /// # Errors
    /// If the meeting is hidden and the value of a field is open, or if there are too many switches.
    pub fn meet(&mut self, meeting: &Synchronisation) -> Result<(), OpenField> {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for member in &meeting.members {
            let switches = &self.imported[member.part].switches;
            let fits: Vec<usize> =
                (0..switches.len()).filter(|&at| switches[at].gate == member.gate).collect();
            if choices.len().saturating_mul(fits.len()) > MAX_SWITCHES {
                return Err(OpenField::TooMany(MAX_SWITCHES));
            }
            // The product of the switches of all members; bounded above, before it is made.
            choices = choices
                .into_iter()
                .flat_map(|choice| fits.iter().map(move |&at| choice.iter().copied().chain([at]).collect()))
                .collect();
        }
        choices.into_iter().try_for_each(|choice| self.meet_by(meeting, &choice))
    }

    /// Adds the internal steps of a part to the system.
    ///
    /// # Errors
    /// Never: internal steps have no fields.
    pub fn internal(&mut self, part: PartId) -> Result<(), OpenField> {
        let members = vec![SyncMember { part, gate: Sts::TAU, fields: Vec::new() }];
        self.meet(&Synchronisation { gate: Sts::TAU, members, ..Synchronisation::default() })
    }

    /// Adds the switch in which each member takes its switch of `choice`; in a hidden meeting, one for each value of an
    /// open field.
    fn meet_by(&mut self, meeting: &Synchronisation, choice: &[usize]) -> Result<(), OpenField> {
        let mut joint = JointSwitch::default();
        for (member, &at) in meeting.members.iter().zip(choice) {
            let part = &self.imported[member.part];
            let (fields, switch) = (&part.gates[member.gate.index()], part.switches[at].clone());
            let names = sources(&mut self.pool, fields, &member.fields);
            let name = &self.composition.parts[member.part].name;
            joint.moves.push(PartMove { part: member.part, switch: switch.label.clone() });
            joint.add_switch(&mut self.pool, name, &switch, &names);
            for (&field, source) in fields.iter().zip(&member.fields) {
                joint.in_domain(&mut self.pool, field, source);
            }
        }
        for (field, value) in &meeting.given {
            let (field, value) = (self.pool.var(*field), self.pool.value(value.clone()));
            joint.guards.push(self.pool.eq(field, value));
        }
        for (field, value) in &meeting.excluded {
            let (field, value) = (self.pool.var(*field), self.pool.value(value.clone()));
            joint.guards.push(self.pool.ne(field, value));
        }
        // What can be seen keeps its fields. What is hidden has none, so each of them must be said by some term.
        let is_hidden = meeting.gate == Sts::TAU;
        let fields = meeting.fields.iter().filter(|_| is_hidden);
        let open: Vec<VarId> = fields.chain(&meeting.hidden).copied().collect();
        for joint in eliminate_fields(&mut self.pool, &open, joint, meeting.span)? {
            self.push(meeting, joint);
        }
        Ok(())
    }

    /// Adds the switch that the members take together, unless its guard can never hold.
    fn push(&mut self, meeting: &Synchronisation, joint: JointSwitch) {
        let guard = self.pool.and(joint.guards);
        if self.pool.is_false(guard) {
            return;
        }
        let label: Arc<str> = joint.label.into();
        self.composition.moves.entry(label.clone()).or_insert(joint.moves);
        let only = LocId::new(0);
        self.sts.switches.push(Switch {
            label,
            source: only,
            gate: meeting.gate,
            guard,
            update: joint.update,
            resets: joint.resets,
            target: only,
            span: joint.span.or(meeting.span).unwrap_or(self.sts.locations[only].span),
            doc: joint.doc,
            reqs: joint.reqs,
            weight: joint.weight,
            range_check: None,
        });
    }
}

/// A switch of the system, composed of one switch of each member.
#[derive(Clone, Default)]
struct JointSwitch {
    label: String,
    moves: Vec<PartMove>,
    guards: Vec<Term>,
    update: Vec<(VarId, Term)>,
    resets: Vec<VarId>,
    span: Option<Span>,
    doc: String,
    reqs: Vec<Arc<str>>,
    weight: u32,
}

impl JointSwitch {
    /// Joins the switch of one more part: its guard, updates and resets, in the names of the meeting.
    fn add_switch(&mut self, pool: &mut TermPool, part: &str, switch: &PartSwitch, names: &Substitution) {
        let sign = if self.label.is_empty() { "" } else { "+" };
        self.label.push_str(&format!("{sign}{part}.{}", switch.label));
        self.guards.push(pool.substitute(switch.guard, names));
        for &(var, term) in &switch.update {
            self.update.push((var, pool.substitute(term, names)));
        }
        self.resets.extend(&switch.resets);
        self.reqs
            .extend(switch.reqs.iter().filter(|req| !self.reqs.contains(req)).cloned().collect::<Vec<_>>());
        // The meeting is as likely as its likeliest member: a rare one would otherwise make all meetings rare.
        self.weight = self.weight.max(switch.weight);
        if self.span.is_none() {
            self.span = Some(switch.span);
            self.doc.clone_from(&switch.doc);
        }
    }

    /// Adds the guard that the value lies in the range of the member's own field, which may be smaller than the
    /// sender's.
    fn in_domain(&mut self, pool: &mut TermPool, field: VarId, source: &SyncFieldSource) {
        let sort = pool.var_info(field).sort;
        let term = match source {
            SyncFieldSource::Shared(shared) if pool.var_info(*shared).sort == sort => return,
            SyncFieldSource::Shared(shared) => pool.var(*shared),
            SyncFieldSource::Value(value) => pool.value(value.clone()),
        };
        self.guards.push(pool.domain_fact(sort, term));
    }

    /// Returns the switch with terms put in for names.
    fn substitute(&self, pool: &mut TermPool, names: &Substitution) -> Self {
        let mut new = self.clone();
        new.guards.iter_mut().for_each(|guard| *guard = pool.substitute(*guard, names));
        new.update.iter_mut().for_each(|(_, term)| *term = pool.substitute(*term, names));
        new
    }
}

/// Returns the substitution of the fields of a part's message by their sources.
fn sources(pool: &mut TermPool, fields: &[VarId], from: &[SyncFieldSource]) -> Substitution {
    let mut names = Substitution::new();
    for (&field, source) in fields.iter().zip(from) {
        let term = match source {
            SyncFieldSource::Shared(shared) => pool.var(*shared),
            SyncFieldSource::Value(value) => pool.value(value.clone()),
        };
        names.set(field, term);
    }
    names
}

/// Eliminates the fields `open` of a hidden meeting: each is replaced by the term that a guard equates it with, or
/// quantified if no update reads it, or replaced by each of its values in a switch of its own.
fn eliminate_fields(
    pool: &mut TermPool,
    open: &[VarId],
    joint: JointSwitch,
    span: Option<Span>,
) -> Result<Vec<JointSwitch>, OpenField> {
    let mut all = vec![joint];
    for &field in open {
        let mut next = Vec::with_capacity(all.len());
        for joint in all {
            next.extend(eliminate_field(pool, field, joint, span)?);
        }
        if next.len() > MAX_SWITCHES {
            return Err(OpenField::TooMany(MAX_SWITCHES));
        }
        all = next;
    }
    Ok(all)
}

fn eliminate_field(
    pool: &mut TermPool,
    field: VarId,
    mut joint: JointSwitch,
    span: Option<Span>,
) -> Result<Vec<JointSwitch>, OpenField> {
    let guard = pool.and(joint.guards.iter().copied());
    // A switch that is never taken has no value to say: the equation that pins it is gone with the rest of the guard.
    if pool.is_false(guard) {
        return Ok(Vec::new());
    }
    joint.guards = pool.conjuncts(guard);
    let reads = |pool: &TermPool, term: Term| pool.mentions(term, field);
    if !joint.guards.iter().chain(joint.update.iter().map(|(_, term)| term)).any(|&term| reads(pool, term)) {
        return Ok(vec![joint]);
    }
    let sort = pool.var_info(field).sort;
    // First choice: a guard says what the value is, as where one side sends it. It costs nothing and keeps one
    // switch.
    let solved = joint.guards.clone().into_iter().find_map(|guard| pool.solved_for(field, guard));
    if let Some(value) = solved {
        let names: Substitution = [(field, value)].into_iter().collect();
        let mut joint = joint.substitute(pool, &names);
        joint.guards.push(pool.domain_fact(sort, value));
        return Ok(vec![joint]);
    }
    // Nobody keeps the value: it is enough that there is one.
    if !joint.update.iter().any(|(_, term)| reads(pool, *term)) {
        let (about, others): (Vec<Term>, Vec<Term>) =
            joint.guards.iter().partition(|&&guard| reads(pool, guard));
        let about = pool.and(about);
        let some = pool.exists(&[field], about);
        joint.guards = others;
        joint.guards.push(some);
        return Ok(vec![joint]);
    }
    // A part stores the value and no part determines it: one switch for each value, if they are few.
    let values = few_values(pool, sort);
    let Some(values) = values else {
        let field = pool.var_info(field).name.to_string();
        return Err(OpenField::Unpinned { field, span: joint.span.or(span).expect("a member has a place") });
    };
    Ok(values.into_iter().map(|value| with_field_value(pool, field, &joint, value)).collect())
}

fn few_values(pool: &TermPool, sort: Sort) -> Option<Vec<Value>> {
    pool.finite_domain(sort).filter(|values| values.len() <= MAX_VALUES)
}

/// Returns `joint` with `value` for `field`, which its label then names.
fn with_field_value(pool: &mut TermPool, field: VarId, joint: &JointSwitch, value: Value) -> JointSwitch {
    let shown = pool.show_value(&value);
    let name = pool.var_info(field).name.clone();
    let term = pool.value(value);
    let names: Substitution = [(field, term)].into_iter().collect();
    let mut joint = joint.substitute(pool, &names);
    joint.label = format!("{}({name}: {shown})", joint.label);
    joint
}
