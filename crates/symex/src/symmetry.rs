//! Interchangeable parts: instances of an array that nothing distinguishes.
//!
//! Two instances are interchangeable if swapping them maps the system onto itself: their variables have the same sorts
//! and values at start, and every switch with the variables, the index and the messages of the two swapped is a switch
//! of the system too. A constant of one instance, or an index that another part stores, breaks that, so nothing needs
//! to be said about them. States that differ by a permutation of interchangeable instances then allow the same
//! behaviour up to that permutation, and a search may keep one of them.
//!
//! *Promises.* [`Symmetry::canonical_state`] gives a permutation of the state it is given. Unknown values do not decide
//! the order of instances: that merges less, never more.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use ioxide_model::compose::{Composition, MessageOwner, PartId, PartSystem};
use ioxide_model::sts::{GateId, LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use crate::cx::Ctx;
use crate::state::{Store, SymState};

/// The interchangeable parts of a system.
#[derive(Clone, Debug, Default)]
pub struct Symmetry {
    /// The groups of interchangeable instances, each instance as the positions of its variables in a store.
    pub groups: Vec<Vec<Vec<usize>>>,
    /// The images of the switches under each swap of two instances.
    swaps: Vec<BTreeMap<SwitchId, SwitchId>>,
}

/// The content of a switch, for comparison.
#[derive(PartialEq, Eq, Hash)]
struct SwitchShape {
    ends: (LocId, LocId),
    gate: GateId,
    guard: Vec<Term>,
    update: Vec<(VarId, Term)>,
    resets: Vec<VarId>,
}

impl Symmetry {
    /// Finds the parts of `sts` that can be swapped and leave `terms` as they are.
    pub fn find(pool: &mut TermPool, sts: &Sts, terms: &[Term]) -> Self {
        let mut found = Self::default();
        let Some(composition) = &sts.composition else { return found };
        let mut families: BTreeMap<&str, Vec<PartId>> = BTreeMap::new();
        for (id, part) in composition.parts.iter_enumerated().filter(|(_, part)| part.index.is_some()) {
            families.entry(&part.family).or_default().push(id);
        }
        let mut shapes: Option<FxHashMap<SwitchShape, SwitchId>> = None;
        for mut instances in families.into_values() {
            // Being interchangeable is an equivalence: those like the first form a group, the others are tried among
            // themselves.
            while instances.len() > 1 {
                let first = instances.remove(0);
                let shapes = shapes.get_or_insert_with(|| shapes_of(pool, sts));
                let mut group = vec![first];
                instances.retain(|&other| {
                    let pair = (&composition.parts[first], &composition.parts[other]);
                    let swap = InstanceSwap::new(pool, sts, composition, pair);
                    // The proof: every switch has an image under the swap, so it maps the system onto itself.
                    let images = swap.and_then(|swap| swap.switch_images(pool, sts, shapes, terms));
                    let is_alike = images.is_some();
                    found.swaps.extend(images);
                    group.extend(is_alike.then_some(other));
                    !is_alike
                });
                found.add_group(sts, composition, &group);
            }
        }
        found
    }

    fn add_group(&mut self, sts: &Sts, composition: &Composition, group: &[PartId]) {
        let places: BTreeMap<VarId, usize> = sts.stored_vars().zip(0..).collect();
        let block = |&part: &PartId| composition.parts[part].vars.iter().map(|var| places[var]).collect();
        if group.len() > 1 {
            self.groups.push(group.iter().map(block).collect());
        }
    }

    /// Returns whether no two parts can be swapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the number of instances that can be swapped with another one.
    #[must_use]
    pub fn count_interchangeable(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Returns `switches` and all their images under swaps of instances.
    #[must_use]
    pub fn close_under_swaps(&self, switches: &BTreeSet<SwitchId>) -> BTreeSet<SwitchId> {
        let mut all = switches.clone();
        let mut todo: Vec<SwitchId> = all.iter().copied().collect();
        while let Some(switch) = todo.pop() {
            // Swaps with the first of a group generate all permutations of it, so closing under them is enough.
            let images = self.swaps.iter().filter_map(|swap| swap.get(&switch).copied());
            todo.extend(images.filter(|&image| all.insert(image)).collect::<Vec<_>>());
        }
        all
    }

    /// Returns `state` with interchangeable instances sorted by their known values.
    pub(crate) fn canonical_state(&self, cx: &Ctx<'_>, state: &SymState) -> SymState {
        let mut terms = state.store.terms().to_vec();
        for group in &self.groups {
            let mut blocks: Vec<Vec<Term>> =
                group.iter().map(|block| block.iter().map(|&at| terms[at]).collect()).collect();
            // Stable, and unknown values are all alike: instances that only they distinguish stay where they are.
            blocks.sort_by_key(|block| {
                block.iter().map(|&term| cx.pool.is_ground(term).then_some(term)).collect::<Vec<_>>()
            });
            for (places, block) in group.iter().zip(blocks) {
                places.iter().zip(block).for_each(|(&at, term)| terms[at] = term);
            }
        }
        SymState { store: Store::new(terms), ..state.clone() }
    }
}

fn shapes_of(pool: &TermPool, sts: &Sts) -> FxHashMap<SwitchShape, SwitchId> {
    let shape = |(id, switch): (SwitchId, &Switch)| {
        let guard = pool.conjuncts(switch.guard);
        (SwitchShape::new(switch, switch.gate, guard, switch.update.clone(), switch.resets.clone()), id)
    };
    sts.switches.iter_enumerated().map(shape).collect()
}

impl SwitchShape {
    /// Makes the shape of `switch` with these (renamed) contents, sorted.
    fn new(
        switch: &Switch,
        gate: GateId,
        mut guard: Vec<Term>,
        mut update: Vec<(VarId, Term)>,
        mut resets: Vec<VarId>,
    ) -> Self {
        // Shapes are compared as sets: the order of conjuncts and assignments means nothing.
        guard.sort_unstable();
        update.sort_unstable();
        resets.sort_unstable();
        Self { ends: (switch.source, switch.target), gate, guard, update, resets }
    }
}

/// The swap of two instances.
struct InstanceSwap<'a> {
    composition: &'a Composition,
    family: &'a str,
    indices: (i64, i64),
    vars: BTreeMap<VarId, VarId>,
}

impl<'a> InstanceSwap<'a> {
    /// Makes the swap of two instances; `None` if their variables differ in number, sort or initial value.
    fn new(
        pool: &TermPool,
        sts: &Sts,
        composition: &'a Composition,
        (one, other): (&'a PartSystem, &'a PartSystem),
    ) -> Option<Self> {
        let start = |var: VarId| sts.vars.iter().find(|known| known.var == var).map(|known| known.init);
        let is_alike = |(&a, &b): (&VarId, &VarId)| {
            pool.var_info(a).sort == pool.var_info(b).sort && start(a) == start(b)
        };
        let pairs = || one.vars.iter().zip(&other.vars);
        if one.vars.len() != other.vars.len() || !pairs().all(is_alike) {
            return None;
        }
        let vars = pairs().flat_map(|(&a, &b)| [(a, b), (b, a)]).collect();
        Some(Self { composition, family: &one.family, indices: (one.index?, other.index?), vars })
    }

    /// Returns the image of every switch; `None` if one is no switch of the system, or one of `terms` changes.
    fn switch_images(
        &self,
        pool: &mut TermPool,
        sts: &Sts,
        shapes: &FxHashMap<SwitchShape, SwitchId>,
        terms: &[Term],
    ) -> Option<BTreeMap<SwitchId, SwitchId>> {
        let names = self.swap_substitution(pool, &[]);
        let stays = |pool: &mut TermPool, term: Term| {
            // Conjunct by conjunct, as a swap may reorder a conjunction that means the same.
            let mut image = pool.conjuncts(term);
            image.iter_mut().for_each(|part| *part = pool.substitute(*part, &names));
            let mut before = pool.conjuncts(term);
            image.sort_unstable();
            before.sort_unstable();
            image == before
        };
        if !terms.iter().all(|&term| stays(pool, term)) {
            return None;
        }
        let mut images = BTreeMap::new();
        for (id, switch) in sts.switches.iter_enumerated() {
            let shape = self.switch_image(pool, sts, switch)?;
            images.insert(id, *shapes.get(&shape)?);
        }
        Some(images)
    }

    fn swap_substitution(&self, pool: &mut TermPool, fields: &[(VarId, VarId)]) -> Substitution {
        let vars = self.vars.iter().map(|(&from, &to)| (from, to));
        vars.chain(fields.iter().copied()).map(|(from, to)| (from, pool.var(to))).collect()
    }

    fn switch_image(&self, pool: &mut TermPool, sts: &Sts, switch: &Switch) -> Option<SwitchShape> {
        let (gate, index) = self.gate_image(switch.gate)?;
        let (from, to) = (&sts.gates[switch.gate].fields, &sts.gates[gate].fields);
        if from.len() != to.len() || sts.gates[gate].kind != sts.gates[switch.gate].kind {
            return None;
        }
        let fields: Vec<(VarId, VarId)> = from.iter().copied().zip(to.iter().copied()).collect();
        let names = self.swap_substitution(pool, &fields);
        // A message of all instances names its instance in its first field; the swap exchanges these numbers too.
        let index = from.first().copied().filter(|_| index);
        let mut guard = Vec::new();
        for fact in pool.conjuncts(switch.guard) {
            let fact = self.with_index(pool, index, fact);
            guard.push(pool.substitute(fact, &names));
        }
        let swapped = |var: VarId| self.vars.get(&var).copied().unwrap_or(var);
        let mut update = Vec::with_capacity(switch.update.len());
        for &(var, term) in &switch.update {
            update.push((swapped(var), pool.substitute(term, &names)));
        }
        let resets = switch.resets.iter().map(|&clock| swapped(clock)).collect();
        Some(SwitchShape::new(switch, gate, guard, update, resets))
    }

    /// Returns the image of a message, and true if its first field is the index of the instance.
    fn gate_image(&self, gate: GateId) -> Option<(GateId, bool)> {
        let own = self.composition.messages.get(&gate).filter(|of| *of.family == *self.family);
        let Some(of) = own else { return Some((gate, false)) };
        match of.owner {
            MessageOwner::Only => Some((gate, false)),
            MessageOwner::FirstField => Some((gate, true)),
            MessageOwner::Instance(at) => {
                let image = self.composition.messages.iter().find(|(_, other)| {
                    other.family == of.family
                        && other.message == of.message
                        && other.owner == MessageOwner::Instance(self.swap_index(at))
                });
                image.map(|(&gate, _)| (gate, false))
            }
        }
    }

    fn swap_index(&self, index: i64) -> i64 {
        match self.indices {
            (one, other) if index == one => other,
            (one, other) if index == other => one,
            _ => index,
        }
    }

    /// Returns `fact` with the index swapped if it equates the index field with a constant; else `fact`.
    fn with_index(&self, pool: &mut TermPool, index: Option<VarId>, fact: Term) -> Term {
        let (Some(index), TermNode::Eq(a, b)) = (index, pool.node(fact).clone()) else { return fact };
        let pinned = |var: Term, value: Term| match (pool.node(var), pool.node(value)) {
            (TermNode::Var(var), TermNode::Value(Value::Int(value))) if *var == index => value.to_i64(),
            _ => None,
        };
        match pinned(a, b).or_else(|| pinned(b, a)) {
            Some(at) => {
                let (var, value) = (pool.var(index), pool.int(self.swap_index(at)));
                pool.eq(var, value)
            }
            None => fact,
        }
    }
}
