//! Model mutation: small changes of a model, each a fault a system might have.
//!
//! \[AT15] sec. 1: a mutant is the model with one fault injected; a test that distinguishes the mutant from
//! the model finds systems with that fault. The operators work on the core model, so every front end profits: guards
//! (made true, negated, relations, constants, variables, and/or, conditions left out, other arithmetic), assignments
//! (left out, added, changed), collections (the wrong end, one off, lost changes, duplicates), initial values, clocks
//! (not reset, reset too often, confused), and switches (target, source, message, left out). Bounds of clocks are parts
//! of guards: relations make them strict or not, constants move them. Faults of time are those of mutation for timed
//! automata.
//!
//! *Promises.* Ids are stable: switch, operator, number (`r7-guard-rel-2`). No mutant is the model
//! itself or equal to another by its terms. The same model gives the same mutants in the same order.

mod behind;
mod collection;
mod initial;
mod rewrite;
mod select;
mod show;
mod switches;

use std::str::FromStr;

use rustc_hash::FxHashSet;

use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, LocId, Model, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermPool, VarId};

pub use self::select::{
    MAX_MUTANTS, MutantSelection, Sample, TooManyMutants, find_mutant, mutated_system, select,
};
pub use self::show::{show_initial, show_switch};

/// A kind of change: a mutation operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutationOperator {
    /// The guard is always true.
    GuardTrue,
    /// The guard is negated.
    GuardNegate,
    /// A relation of the guard is another one.
    GuardRelation,
    /// A constant of the guard is a neighbour of it.
    GuardConstant,
    /// A variable of the guard is another one of its sort.
    GuardVariable,
    /// `and` is `or`, and the other way round.
    GuardAndOr,
    /// A part of a conjunction or disjunction is left out.
    GuardDrop,
    /// An assignment is left out.
    AssignDelete,
    /// An assignment is added.
    AssignAdd,
    /// The assigned value is another one.
    AssignMutate,
    /// A collection is handled wrongly, in the guard or in an assignment: the wrong end, one off, a lost or
    /// forgotten change, a duplicate, the wrong key.
    Collection,
    /// A sum is a difference, or a part of it is left out; a product of two is a sum, a quotient is a remainder or a
    /// remainder a quotient.
    Arithmetic,
    /// A clock is not reset.
    ResetDelete,
    /// A clock is reset that should run on.
    ResetAdd,
    /// One clock is mistaken for another, in the guard or in a reset.
    Clock,
    /// The switch leads to another location.
    Target,
    /// The switch starts at another location.
    Source,
    /// The switch has another message of the same direction.
    Gate,
    /// The switch is left out.
    Delete,
    /// A variable has another value at start.
    Initial,
}

impl MutationOperator {
    /// Every operator, in the order mutants are made.
    pub const ALL: [Self; 20] = [
        Self::GuardTrue,
        Self::GuardNegate,
        Self::GuardRelation,
        Self::GuardConstant,
        Self::GuardVariable,
        Self::GuardAndOr,
        Self::GuardDrop,
        Self::AssignDelete,
        Self::AssignAdd,
        Self::AssignMutate,
        Self::Collection,
        Self::Arithmetic,
        Self::ResetDelete,
        Self::ResetAdd,
        Self::Clock,
        Self::Target,
        Self::Source,
        Self::Gate,
        Self::Delete,
        Self::Initial,
    ];

    /// The operators used by default: all but [`AssignAdd`](Self::AssignAdd), whose mutants are mostly equivalent,
    /// [`Arithmetic`](Self::Arithmetic), which [`AssignMutate`](Self::AssignMutate) mostly covers, and
    /// [`Initial`](Self::Initial), whose mutants are mostly found by the first tests of any suite.
    pub const DEFAULT: [Self; 17] = [
        Self::GuardTrue,
        Self::GuardNegate,
        Self::GuardRelation,
        Self::GuardConstant,
        Self::GuardVariable,
        Self::GuardAndOr,
        Self::GuardDrop,
        Self::AssignDelete,
        Self::AssignMutate,
        Self::Collection,
        Self::ResetDelete,
        Self::ResetAdd,
        Self::Clock,
        Self::Target,
        Self::Source,
        Self::Gate,
        Self::Delete,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GuardTrue => "guard-true",
            Self::GuardNegate => "guard-neg",
            Self::GuardRelation => "guard-rel",
            Self::GuardConstant => "guard-const",
            Self::GuardVariable => "guard-var",
            Self::GuardAndOr => "guard-and-or",
            Self::GuardDrop => "guard-drop",
            Self::AssignDelete => "assign-del",
            Self::AssignAdd => "assign-add",
            Self::AssignMutate => "assign-mut",
            Self::Collection => "collection",
            Self::Arithmetic => "arithmetic",
            Self::ResetDelete => "reset-del",
            Self::ResetAdd => "reset-add",
            Self::Clock => "clock",
            Self::Target => "target",
            Self::Source => "source",
            Self::Gate => "gate",
            Self::Delete => "delete",
            Self::Initial => "initial",
        }
    }
}

/// There is no operator of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOperator(pub String);

impl FromStr for MutationOperator {
    type Err = UnknownOperator;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| UnknownOperator(text.to_owned()))
    }
}

/// A mutant: a model with changes.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its stable name.
    pub id: String,
    /// The changes: one, or two at different places for second-order mutants.
    pub edits: Vec<Edit>,
}

/// One change.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The operator that made it.
    pub operator: MutationOperator,
    /// The place of the change, with its new content.
    pub change: MutationChange,
}

/// The place of a change, with its new content.
#[derive(Clone, Debug)]
pub enum MutationChange {
    /// A changed switch; one that is left out has the guard false.
    Switch(SwitchId, Box<Switch>),
    /// The changed initial value of a variable.
    Initial(VarId, Term),
    /// A change of a model that is seen through a channel.
    Behind(Box<ChangeBehindChannel>),
}

/// A change of one switch of a model that is seen through a channel.
#[derive(Clone, Debug)]
pub struct ChangeBehindChannel {
    /// The switch of the model before the change, as text.
    pub before: String,
    /// The switch after the change.
    pub after: String,
    /// The label of the switch.
    pub label: String,
    /// The place of the switch.
    pub span: Span,
    /// The changed switches of the composed system.
    pub switches: Vec<(SwitchId, Switch)>,
}

impl Edit {
    /// The changed switch with its new content; `None` for another initial value, and for a change that is seen through
    /// a channel.
    #[must_use]
    pub fn switch(&self) -> Option<(SwitchId, &Switch)> {
        match &self.change {
            MutationChange::Switch(id, after) => Some((*id, after)),
            MutationChange::Initial(..) | MutationChange::Behind(_) => None,
        }
    }

    /// The changed switches with their new content.
    fn switches(&self) -> impl Iterator<Item = (SwitchId, &Switch)> {
        let behind = match &self.change {
            MutationChange::Behind(change) => &change.switches[..],
            MutationChange::Switch(..) | MutationChange::Initial(..) => &[],
        };
        self.switch().into_iter().chain(behind.iter().map(|(id, after)| (*id, after)))
    }

    /// Returns the place of the change: the switch, or the variable.
    fn place(&self) -> (Option<SwitchId>, Option<VarId>) {
        match &self.change {
            MutationChange::Switch(id, _) => (Some(*id), None),
            MutationChange::Initial(var, _) => (None, Some(*var)),
            MutationChange::Behind(change) => (change.switches.first().map(|(id, _)| *id), None),
        }
    }
}

impl Mutant {
    /// The changed switches.
    pub fn switches(&self) -> impl Iterator<Item = (SwitchId, &Switch)> {
        self.edits.iter().flat_map(Edit::switches)
    }

    /// Returns whether the mutant starts with other values.
    #[must_use]
    pub fn starts_otherwise(&self) -> bool {
        self.edits.iter().any(|edit| matches!(edit.change, MutationChange::Initial(..)))
    }

    /// Returns the mutated system.
    #[must_use]
    pub fn apply(&self, sts: &Sts) -> Sts {
        let mut mutated = sts.clone();
        for edit in &self.edits {
            match &edit.change {
                MutationChange::Switch(id, after) => mutated.switches[*id] = (**after).clone(),
                MutationChange::Behind(change) => {
                    for (id, after) in &change.switches {
                        mutated.switches[*id] = after.clone();
                    }
                }
                MutationChange::Initial(var, value) => {
                    // By variable, not by position: the order of variables is no part of an edit.
                    let changed = mutated.vars.iter_mut().filter(|it| it.var == *var);
                    changed.for_each(|it| it.init = Some(*value));
                }
            }
        }
        mutated
    }
}

/// Returns every first-order mutant of `model` by `operators`, in the order of switches and operators, then of initial
/// values.
pub fn mutants(model: &mut Model, operators: &[MutationOperator]) -> Vec<Mutant> {
    let ids: Vec<SwitchId> = model.sts.switches.ids().collect();
    let mut found: Vec<Mutant> = ids.into_iter().flat_map(|id| mutants_of(model, operators, id)).collect();
    if operators.contains(&MutationOperator::Initial) {
        found.extend(initial::other_starts(model, |_| true));
    }
    found
}

/// The mutants of one switch, in the order of operators.
fn mutants_of(model: &mut Model, operators: &[MutationOperator], id: SwitchId) -> Vec<Mutant> {
    let mut found = Vec::new();
    // The original is known from the start, so no mutant is the model itself.
    let mut known: FxHashSet<SwitchForm> = [form(&model.sts.switches[id])].into_iter().collect();
    for operator in MutationOperator::ALL.into_iter().filter(|it| operators.contains(it)) {
        let label = model.sts.switches[id].label.clone();
        let mut number = 0;
        for after in switches::apply_operator(model, id, operator) {
            // Counted before doubles are left out: the number of a mutant does not depend on the operators that
            // came before.
            number += 1;
            if known.insert(form(&after)) {
                let edits = vec![Edit { operator, change: MutationChange::Switch(id, Box::new(after)) }];
                found.push(Mutant { id: format!("{label}-{}-{number}", operator.name()), edits });
            }
        }
    }
    found
}

/// Returns `switch` with `term` assigned to `var`, or with nothing assigned to it, and the condition on ranges that
/// goes with that.
pub(crate) fn with_assignment(
    pool: &mut TermPool,
    switch: &Switch,
    var: VarId,
    term: Option<Term>,
) -> Switch {
    switches::with_assignment(pool, switch, var, term)
}

/// The variables that hold the locations of parts: they are control, not data.
pub(crate) fn control_variables(sts: &Sts) -> Vec<VarId> {
    switches::controls(sts)
}

/// The parts by which two switches are compared.
type SwitchForm = (LocId, GateId, Term, Vec<(VarId, Term)>, Vec<VarId>, LocId);

/// Returns the form by which switches are compared: the order of updates and resets does not matter.
fn form(switch: &Switch) -> SwitchForm {
    // All assignments read the values before the switch, so their order has no meaning.
    let mut update = switch.update.clone();
    update.sort_unstable();
    let mut resets = switch.resets.clone();
    resets.sort_unstable();
    (switch.source, switch.gate, switch.guard, update, resets, switch.target)
}
