//! Steps that several parts take at once.

use std::sync::Arc;

use super::{Composer, PartId, PartMove, PartSwitch};
use crate::index::Idx;
use crate::sort::Sort;
use crate::source::Span;
use crate::sts::{GateId, LocId, Sts, Switch};
use crate::term::{Substitution, Term, TermPool, VarId};
use crate::value::Value;

/// Values that are tried for a field of a hidden meeting that no sender pins.
const MAX_VALUES: usize = 256;
/// Switches that one meeting may have.
const MAX_SWITCHES: usize = 100_000;

/// Parts that take a step together.
#[derive(Clone, Debug)]
pub struct Synchronisation {
    /// The message that is seen; [`Sts::TAU`](crate::sts::Sts::TAU) if it is hidden.
    pub gate: GateId,
    /// What the parts share: the fields of `gate`, or variables of their own if it is hidden.
    pub fields: Vec<VarId>,
    /// Fields with one value here.
    pub given: Vec<(VarId, Value)>,
    /// Values that fields do not have here.
    pub excluded: Vec<(VarId, Value)>,
    /// Who meets.
    pub members: Vec<SyncMember>,
    /// Where it is written; the place of the first part's switch if none is given.
    pub span: Option<Span>,
}

impl Default for Synchronisation {
    /// A hidden meeting of nobody.
    fn default() -> Self {
        Self {
            gate: Sts::TAU,
            fields: Vec::new(),
            given: Vec::new(),
            excluded: Vec::new(),
            members: Vec::new(),
            span: None,
        }
    }
}

/// A part that meets, at one of its messages.
#[derive(Clone, Debug)]
pub struct SyncMember {
    /// The part.
    pub part: PartId,
    /// Its message.
    pub gate: GateId,
    /// Where the values of the message's fields come from, in their order.
    pub fields: Vec<SyncFieldSource>,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug)]
pub enum SyncFieldSource {
    /// It is shared with the others.
    Shared(VarId),
    /// It has this value.
    Value(Value),
}

/// Why parts cannot meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenField {
    /// The meeting is hidden, and nobody says what the value of this field is: neither is it pinned, nor has it few
    /// values. It is stored by a part, so it cannot be left out either.
    Unpinned {
        /// The field.
        field: String,
        /// The switch that leaves it open.
        span: Span,
    },
    /// There would be more than so many switches.
    TooMany(usize),
}

impl Composer {
    /// Lets parts meet: adds a switch for every choice of one switch of each member.
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
            choices = choices
                .into_iter()
                .flat_map(|choice| fits.iter().map(move |&at| choice.iter().copied().chain([at]).collect()))
                .collect();
        }
        choices.into_iter().try_for_each(|choice| self.meet_by(meeting, &choice))
    }

    /// The internal steps of a part are steps of the system.
    ///
    /// # Errors
    /// Never: internal steps have no fields.
    pub fn internal(&mut self, part: PartId) -> Result<(), OpenField> {
        let members = vec![SyncMember { part, gate: Sts::TAU, fields: Vec::new() }];
        self.meet(&Synchronisation { gate: Sts::TAU, members, ..Synchronisation::default() })
    }

    /// The switch for one switch of each member.
    fn meet_by(&mut self, meeting: &Synchronisation, choice: &[usize]) -> Result<(), OpenField> {
        let mut joint = JointSwitch::default();
        for (member, &at) in meeting.members.iter().zip(choice) {
            let part = &self.imported[member.part];
            let (fields, switch) = (&part.gates[member.gate.index()], part.switches[at].clone());
            let names = sources(&mut self.pool, fields, &member.fields);
            let name = &self.composition.parts[member.part].name;
            joint.moves.push(PartMove { part: member.part, switch: switch.label.clone() });
            joint.add(&mut self.pool, name, &switch, &names);
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
        if meeting.gate != Sts::TAU {
            self.push(meeting, joint);
            return Ok(());
        }
        for joint in closed(&mut self.pool, &meeting.fields, joint, meeting.span)? {
            self.push(meeting, joint);
        }
        Ok(())
    }

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

/// Switches that are taken together, while they are put together.
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
    fn add(&mut self, pool: &mut TermPool, part: &str, switch: &PartSwitch, names: &Substitution) {
        let sign = if self.label.is_empty() { "" } else { "+" };
        self.label.push_str(&format!("{sign}{part}.{}", switch.label));
        self.guards.push(pool.substitute(switch.guard, names));
        for &(var, term) in &switch.update {
            self.update.push((var, pool.substitute(term, names)));
        }
        self.resets.extend(&switch.resets);
        self.reqs
            .extend(switch.reqs.iter().filter(|req| !self.reqs.contains(req)).cloned().collect::<Vec<_>>());
        self.weight = self.weight.max(switch.weight);
        if self.span.is_none() {
            self.span = Some(switch.span);
            self.doc.clone_from(&switch.doc);
        }
    }

    /// What a part takes lies in the range it has for it, which may be smaller than that of the sender.
    fn in_domain(&mut self, pool: &mut TermPool, field: VarId, source: &SyncFieldSource) {
        let sort = pool.var_info(field).sort;
        let term = match source {
            SyncFieldSource::Shared(shared) if pool.var_info(*shared).sort == sort => return,
            SyncFieldSource::Shared(shared) => pool.var(*shared),
            SyncFieldSource::Value(value) => pool.value(value.clone()),
        };
        self.guards.push(pool.domain_fact(sort, term));
    }

    fn substituted(&self, pool: &mut TermPool, names: &Substitution) -> Self {
        let mut new = self.clone();
        new.guards.iter_mut().for_each(|guard| *guard = pool.substitute(*guard, names));
        new.update.iter_mut().for_each(|(_, term)| *term = pool.substitute(*term, names));
        new
    }
}

/// The fields of a part's message replaced by what is shared, or given.
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

/// `joint` without the fields `open`, which nobody sees: each is what a guard says it equals, or quantified where no
/// update reads it, or each of its values.
fn closed(
    pool: &mut TermPool,
    open: &[VarId],
    joint: JointSwitch,
    span: Option<Span>,
) -> Result<Vec<JointSwitch>, OpenField> {
    let mut all = vec![joint];
    for &field in open {
        let mut next = Vec::with_capacity(all.len());
        for joint in all {
            next.extend(without(pool, field, joint, span)?);
        }
        if next.len() > MAX_SWITCHES {
            return Err(OpenField::TooMany(MAX_SWITCHES));
        }
        all = next;
    }
    Ok(all)
}

fn without(
    pool: &mut TermPool,
    field: VarId,
    mut joint: JointSwitch,
    span: Option<Span>,
) -> Result<Vec<JointSwitch>, OpenField> {
    let guard = pool.and(joint.guards.iter().copied());
    joint.guards = pool.conjuncts(guard);
    let reads = |pool: &TermPool, term: Term| pool.mentions(term, field);
    if !joint.guards.iter().chain(joint.update.iter().map(|(_, term)| term)).any(|&term| reads(pool, term)) {
        return Ok(vec![joint]);
    }
    let sort = pool.var_info(field).sort;
    let solved = joint.guards.clone().into_iter().find_map(|guard| pool.solved_for(field, guard));
    if let Some(value) = solved {
        let names: Substitution = [(field, value)].into_iter().collect();
        let mut joint = joint.substituted(pool, &names);
        joint.guards.push(pool.domain_fact(sort, value));
        return Ok(vec![joint]);
    }
    if !joint.update.iter().any(|(_, term)| reads(pool, *term)) {
        let (about, others): (Vec<Term>, Vec<Term>) =
            joint.guards.iter().partition(|&&guard| reads(pool, guard));
        let about = pool.and(about);
        let some = pool.exists(&[field], about);
        joint.guards = others;
        joint.guards.push(some);
        return Ok(vec![joint]);
    }
    let values = few_values(pool, sort);
    let Some(values) = values else {
        let field = pool.var_info(field).name.to_string();
        return Err(OpenField::Unpinned { field, span: joint.span.or(span).expect("a member has a place") });
    };
    Ok(values.into_iter().map(|value| each(pool, field, &joint, value)).collect())
}

fn few_values(pool: &TermPool, sort: Sort) -> Option<Vec<Value>> {
    pool.finite_domain(sort).filter(|values| values.len() <= MAX_VALUES)
}

/// `joint` with this value of `field`.
fn each(pool: &mut TermPool, field: VarId, joint: &JointSwitch, value: Value) -> JointSwitch {
    let shown = pool.show_value(&value);
    let name = pool.var_info(field).name.clone();
    let term = pool.value(value);
    let names: Substitution = [(field, term)].into_iter().collect();
    let mut joint = joint.substituted(pool, &names);
    joint.label = format!("{}({name}: {shown})", joint.label);
    joint
}
