//! Live variables: those whose values can still matter at a location.
//!
//! The classical backward analysis on the switches: a variable is live where a guard reads
//! it, or an update reads it for a variable that is live at the target, or it is live at the
//! target and not overwritten. States that agree on location and live variables allow the
//! same behaviour, so exploration may merge them.
//!
//! A system made of parts has one location; there the locations of its parts take this role, as only the switches of a
//! part change its variables. The location of a part is always live.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use crate::cx::Ctx;
use crate::state::SymState;

/// The live variables and clocks of every location.
#[derive(Clone, Debug)]
pub struct LiveVars {
    live: IndexVec<LocId, FxHashSet<VarId>>,
    /// The live variables by the locations of parts, in a system made of parts.
    parts: Option<LiveParts>,
}

/// The live variables of every location of every part.
#[derive(Clone, Debug)]
struct LiveParts {
    /// The part that a variable belongs to.
    owner: FxHashMap<VarId, usize>,
    controls: Vec<Option<VarId>>,
    /// The live variables, by part and location.
    live: Vec<Vec<BTreeSet<VarId>>>,
    always: Vec<VarId>,
}

/// The location of each part of a system; `None` if it is not known.
pub struct PartPlaces(Vec<Option<usize>>);

impl LiveVars {
    /// Computes the least fixed point over the switches of `sts`; the variables `always` are live everywhere.
    #[must_use]
    pub fn compute(pool: &TermPool, sts: &Sts, always: &[VarId]) -> Self {
        let parts = LiveParts::compute(pool, sts, always);
        let mut live = IndexVec::from_elem(FxHashSet::default(), sts.locations.len());
        let mut into: IndexVec<LocId, Vec<&Switch>> = IndexVec::from_elem(Vec::new(), sts.locations.len());
        let mut open: Vec<(LocId, VarId)> =
            sts.locations.ids().flat_map(|loc| always.iter().map(move |&var| (loc, var))).collect();
        for switch in &sts.switches {
            into[switch.target].push(switch);
            let read = pool.free_vars(switch.guard).into_iter().map(|var| (switch.source, var));
            open.extend(read.filter(|(_, var)| !sts.gates[switch.gate].fields.contains(var)));
        }
        // A worklist: each pair of location and variable is handled once, so this is linear in their number times the
        // switches into a location.
        while let Some((loc, var)) = open.pop() {
            if !live[loc].insert(var) {
                continue;
            }
            for switch in &into[loc] {
                let needed = needed_before(pool, sts, switch, var).into_iter();
                let new = needed.filter(|var| !live[switch.source].contains(var));
                open.extend(new.map(|var| (switch.source, var)));
            }
        }
        Self { live, parts }
    }

    /// Returns the result in which every variable is live everywhere.
    #[must_use]
    pub fn all_live(sts: &Sts) -> Self {
        let vars: FxHashSet<VarId> = sts.stored_vars().collect();
        Self { live: IndexVec::from_elem(vars, sts.locations.len()), parts: None }
    }

    /// Returns whether the value of `var` can matter at `loc`.
    #[must_use]
    pub fn is_live(&self, loc: LocId, var: VarId) -> bool {
        self.live[loc].contains(&var)
    }

    /// Returns the locations of the parts in `state`; empty unless the system is made of parts.
    #[must_use]
    pub fn part_places(&self, cx: &Ctx<'_>, state: &SymState) -> PartPlaces {
        let Some(parts) = &self.parts else { return PartPlaces(Vec::new()) };
        let mut places = vec![None; parts.controls.len()];
        for (var, term) in state.store.iter(cx.sts) {
            if let Some(&part) = parts.owner.get(&var)
                && parts.controls[part] == Some(var)
            {
                places[part] = cx.pool.as_value(term).and_then(location_index);
            }
        }
        for (at, control) in parts.controls.iter().enumerate() {
            // A part without locations is always at its only one.
            if control.is_none() {
                places[at] = Some(0);
            }
        }
        PartPlaces(places)
    }

    /// Returns whether the value of `var` can matter at `loc`, with the parts at these locations.
    #[must_use]
    pub fn is_live_in(&self, places: &PartPlaces, loc: LocId, var: VarId) -> bool {
        if !self.is_live(loc, var) {
            return false;
        }
        let Some(parts) = &self.parts else { return true };
        let Some(&part) = parts.owner.get(&var) else { return true };
        let is_always = parts.controls[part] == Some(var) || parts.always.contains(&var);
        match places.0.get(part).copied().flatten() {
            Some(at) if !is_always => parts.live[part].get(at).is_none_or(|live| live.contains(&var)),
            _ => true,
        }
    }
}

impl LiveParts {
    /// Computes the live variables of every location of every part; `None` if there are no parts.
    fn compute(pool: &TermPool, sts: &Sts, always: &[VarId]) -> Option<Self> {
        let composition = sts.composition.as_ref()?;
        let vars = |(at, part): (usize, &ioxide_model::compose::PartSystem)| {
            part.vars.iter().map(move |&var| (var, at)).collect::<Vec<_>>()
        };
        let mut found = Self {
            owner: composition.parts.iter().enumerate().flat_map(vars).collect(),
            controls: composition.parts.iter().map(|part| part.control).collect(),
            live: composition
                .parts
                .iter()
                .map(|part| vec![BTreeSet::new(); part.places.len().max(1)])
                .collect(),
            always: always.to_vec(),
        };
        let moves: Vec<PartMoves> =
            sts.switches.iter().map(|switch| found.part_moves(pool, sts, switch)).collect();
        // Chaotic iteration: parts meet in switches, so a variable of one may become live through another. Sets only
        // grow, so it ends.
        while moves.iter().fold(false, |changed, moved| found.add_needed(moved) | changed) {}
        Some(found)
    }

    /// Returns the source and target of every part that takes `switch`, and the variables it reads.
    fn part_moves(&self, pool: &TermPool, sts: &Sts, switch: &Switch) -> PartMoves {
        let mut ends: Vec<Option<(usize, usize)>> =
            self.controls.iter().map(|control| control.is_none().then_some((0, 0))).collect();
        for fact in pool.conjuncts(switch.guard) {
            if let Some((part, at)) = self.is_at(pool, fact) {
                ends[part] = Some((at, at));
            }
        }
        for &(var, term) in &switch.update {
            if let Some(&part) = self.owner.get(&var)
                && self.controls[part] == Some(var)
                && let (Some(ends), Some(to)) =
                    (&mut ends[part], pool.as_value(term).and_then(location_index))
            {
                ends.1 = to;
            }
        }
        let fields = &sts.gates[switch.gate].fields;
        let read = |term: Term| -> Vec<VarId> {
            pool.free_vars(term).into_iter().filter(|var| !fields.contains(var)).collect()
        };
        let updates = switch.update.iter().map(|&(var, term)| (var, read(term)));
        let resets = switch.resets.iter().map(|&clock| (clock, Vec::new()));
        PartMoves { ends, guard: read(switch.guard), updates: updates.chain(resets).collect() }
    }

    /// Returns the part and the location that `fact` says the part is at.
    fn is_at(&self, pool: &TermPool, fact: Term) -> Option<(usize, usize)> {
        let TermNode::Eq(a, b) = *pool.node(fact) else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(var, value)| {
            let TermNode::Var(var) = *pool.node(var) else { return None };
            let part = *self.owner.get(&var)?;
            let at = pool.as_value(value).and_then(location_index)?;
            (self.controls[part] == Some(var)).then_some((part, at))
        })
    }

    /// Adds the variables that must be known before a step; returns whether any was new.
    fn add_needed(&mut self, moved: &PartMoves) -> bool {
        // Backwards over one step: what the guard reads, and what the live values after it are computed from.
        let mut needed = moved.guard.clone();
        for (part, ends) in moved.ends.iter().enumerate() {
            let Some((_, to)) = *ends else { continue };
            for &var in &self.live[part][to] {
                match moved.updates.get(&var) {
                    Some(reads) => needed.extend(reads),
                    None => needed.push(var),
                }
            }
        }
        // What is always live, or belongs to no part, is needed whatever the locations.
        for (var, reads) in &moved.updates {
            if self.always.contains(var) || !self.owner.contains_key(var) {
                needed.extend(reads);
            }
        }
        let mut changed = false;
        for var in needed {
            let Some(&part) = self.owner.get(&var) else { continue };
            match moved.ends[part] {
                Some((from, _)) => changed |= self.live[part][from].insert(var),
                // Read although nothing says where the part is: it matters everywhere.
                None => changed = self.live[part].iter_mut().fold(changed, |c, live| live.insert(var) | c),
            }
        }
        changed
    }
}

/// The effect of a switch on the parts.
struct PartMoves {
    /// The source and target location of each part; `None` if the guard does not fix the source.
    ends: Vec<Option<(usize, usize)>>,
    /// The variables that the guard reads.
    guard: Vec<VarId>,
    /// The variables that the new value of each updated variable depends on.
    updates: BTreeMap<VarId, Vec<VarId>>,
}

/// Returns the position of the location that a value of a control variable stands for.
fn location_index(value: &Value) -> Option<usize> {
    match value {
        Value::Data(value) => usize::try_from(value.ctor).ok(),
        _ => None,
    }
}

/// Returns the variables that must be known before `switch` if `var` must be known after it.
fn needed_before(pool: &TermPool, sts: &Sts, switch: &Switch, var: VarId) -> Vec<VarId> {
    let fields = &sts.gates[switch.gate].fields;
    match switch.update.iter().find(|(target, _)| *target == var) {
        Some((_, term)) => pool.free_vars(*term).into_iter().filter(|var| !fields.contains(var)).collect(),
        None if switch.resets.contains(&var) => Vec::new(),
        None => vec![var],
    }
}
