//! Mutants of a model that is seen through a channel: the model is changed, the channel is not.
//!
//! A change is made in the model as it is without the channel. The transitions that it concerns are then seen through
//! the channel again: the changed one, and those that stand for inputs which the model leaves open, as these may be
//! others now. Where their composition with the channel differs, the composed system is changed.
//!
//! *Promises.* The changed system is the one that [`see_through`] makes of the changed model, up to transitions that
//! are never taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ioxide_model::compose::{SeenThrough, see_through};
use ioxide_model::index::Idx as _;
use ioxide_model::sts::{Clock, Gate, GateId, LocId, Model, StateVar, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermImport, TermPool, VarId};

use super::{ChangeBehindChannel, Edit, Mutant, MutationChange};

/// The switches of a composed system that a switch of the model takes part in, by the label of that switch.
type ComposedSwitches<T> = BTreeMap<Arc<str>, Vec<T>>;

/// Returns the mutants of `model`, seen through a channel, that the `inner` mutants of the model itself make. A mutant
/// that cannot be seen through the channel, or not told apart from the model, is left out.
pub(super) fn see_mutants(
    model: &mut Model,
    seen: &SeenThrough,
    inner: &Model,
    mutants: Vec<Mutant>,
) -> Vec<Mutant> {
    let mut view = ChannelView::new(model, seen, inner);
    mutants.into_iter().filter_map(|mutant| view.see(model, mutant)).collect()
}

/// A model with its composition.
struct ChannelView<'a> {
    seen: &'a SeenThrough,
    inner: &'a Model,
    known: ComposedSwitches<SwitchId>,
    /// Switches of the composed system that are never taken: room for those that only mutants have.
    spare: Vec<SwitchId>,
}

impl<'a> ChannelView<'a> {
    fn new(model: &Model, seen: &'a SeenThrough, inner: &'a Model) -> Self {
        let known = by_part_switch(seen, &model.sts, |id, _| id);
        let is_spare = |switch: &Switch| model.pool.is_false(switch.guard);
        let spare = model.sts.switches.iter_enumerated().filter(|(_, switch)| is_spare(switch));
        let spare = spare.map(|(id, _)| id).collect();
        Self { seen, inner, known, spare }
    }

    /// Returns the mutant of the composed system that a mutant of the model makes; `None` if there is none.
    fn see(&mut self, model: &mut Model, mutant: Mutant) -> Option<Mutant> {
        let changes: Vec<(SwitchId, &Switch)> = mutant.switches().collect();
        // All at once, as two changes may concern one input; they are listed with the first edit.
        let mut switches = self.changed_switches(model, &changes)?;
        if switches.is_empty() && !mutant.starts_otherwise() {
            return None;
        }
        let mut edits = Vec::with_capacity(mutant.edits.len());
        for edit in &mutant.edits {
            let (before, after) = (edit.show_before(self.inner), edit.show_after(self.inner));
            let change = match &edit.change {
                MutationChange::Initial(var, value) => self.initial(model, *var, *value)?,
                MutationChange::Switch(id, _) => {
                    let known = &self.inner.sts.switches[*id];
                    let (label, span) = (known.label.to_string(), known.span);
                    let switches = std::mem::take(&mut switches);
                    MutationChange::Behind(Box::new(ChangeBehindChannel {
                        before,
                        after,
                        label,
                        span,
                        switches,
                    }))
                }
                MutationChange::Behind(_) => return None,
            };
            edits.push(Edit { operator: edit.operator, change });
        }
        Some(Mutant { id: mutant.id, edits })
    }

    /// Returns the change of an initial value in the composed system.
    fn initial(&self, model: &mut Model, var: VarId, value: Term) -> Option<MutationChange> {
        let composition = model.sts.composition.clone()?;
        let part = &composition.parts[self.seen.part];
        let at = self.inner.sts.vars.iter().position(|it| it.var == var)?;
        // The variable that holds the location comes first.
        let image = *part.vars.get(at + usize::from(part.control.is_some()))?;
        let mut import = TermImport::new(&mut model.pool, &self.inner.pool).ok()?;
        Some(MutationChange::Initial(image, import.term(value)))
    }

    /// Returns the switches of the composed system that differ after changes of the model; `None` if the changed model
    /// cannot be seen through the channel.
    fn changed_switches(
        &mut self,
        model: &mut Model,
        changes: &[(SwitchId, &Switch)],
    ) -> Option<Vec<(SwitchId, Switch)>> {
        let befores = changes.iter().map(|(id, _)| &self.inner.sts.switches[*id]);
        let touched = befores.clone().chain(changes.iter().map(|(_, after)| *after));
        let places: Vec<(GateId, LocId)> = touched.map(|switch| (switch.gate, switch.source)).collect();
        let part = small_model(self.inner, changes, &places)?;
        let composed = see_through(&part, &self.seen.channel).ok()?;
        let completions = places.iter().filter_map(|place| self.seen.completions.get(place)).cloned();
        let labels: BTreeSet<Arc<str>> = completions.chain(befores.map(|it| it.label.clone())).collect();
        let mut n_spare = 0;
        let mut import = ComposedNames::new(model, &composed)?;
        let mut new = by_part_switch(self.seen, &composed.sts, |_, switch| switch.clone());
        let mut differing = Vec::new();
        for label in labels {
            let images: Vec<Switch> =
                new.remove(&label).unwrap_or_default().iter().map(|it| import.switch(it)).collect();
            let mut old = self.known.get(&label).cloned().unwrap_or_default();
            for image in images {
                // Those of one name are compared, where there are some.
                let same_name = old.iter().position(|&id| import.sts.switches[id].label == image.label);
                let id = match same_name.or_else(|| (!old.is_empty()).then_some(0)) {
                    Some(at) => old.remove(at),
                    None => self.spare_switch(&mut import, &mut n_spare),
                };
                if !is_same(&import.sts.switches[id], &image) {
                    differing.push((id, image));
                }
            }
            for id in old {
                let never = import.import.pool().ff();
                differing.push((id, Switch { guard: never, ..import.sts.switches[id].clone() }));
            }
        }
        Some(differing)
    }

    /// Returns the spare switch number `n`, and counts it.
    fn spare_switch(&mut self, names: &mut ComposedNames<'_>, n: &mut usize) -> SwitchId {
        *n += 1;
        if let Some(&known) = self.spare.get(*n - 1) {
            return known;
        }
        let guard = names.import.pool().ff();
        let only = names.sts.initial;
        let id = names.sts.switches.push(Switch {
            label: format!("never-{n}").into(),
            source: only,
            gate: Sts::TAU,
            guard,
            update: Vec::new(),
            resets: Vec::new(),
            target: only,
            span: names.sts.locations[only].span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
        self.spare.push(id);
        id
    }
}

/// Returns the switches of a composed system that a switch of the model takes part in, by its label.
fn by_part_switch<T>(
    seen: &SeenThrough,
    sts: &Sts,
    of: impl Fn(SwitchId, &Switch) -> T,
) -> ComposedSwitches<T> {
    let mut found: ComposedSwitches<T> = BTreeMap::new();
    let Some(composition) = &sts.composition else { return found };
    for (id, switch) in sts.switches.iter_enumerated() {
        let moves = composition.moves.get(&switch.label).into_iter().flatten();
        for step in moves.filter(|step| step.part == seen.part) {
            found.entry(step.switch.clone()).or_default().push(of(id, switch));
        }
    }
    found
}

/// Returns the model with changed switches, in a pool of its own; of the other switches only those are possible that
/// decide about the inputs at `places`. The rest of the composition is not looked at.
fn small_model(inner: &Model, changes: &[(SwitchId, &Switch)], places: &[(GateId, LocId)]) -> Option<Model> {
    let mut pool = TermPool::new();
    let mut import = TermImport::new(&mut pool, &inner.pool).ok()?;
    let mut sts = inner.sts.clone();
    rename_declarations(&mut import, &mut sts);
    for at in 0..sts.switches.len() {
        let id = SwitchId::new(at);
        let change = changes.iter().find(|(changed, _)| *changed == id);
        let switch = change.map_or(&inner.sts.switches[id], |(_, after)| after);
        let is_needed = change.is_some() || places.contains(&(switch.gate, switch.source));
        sts.switches[id] = if is_needed {
            import_switch(&mut import, switch)
        } else {
            let never = import.pool().ff();
            let (update, resets) = (Vec::new(), Vec::new());
            Switch { guard: never, update, resets, range_check: None, ..switch.clone() }
        };
    }
    sts.goals.clear();
    Some(Model { pool, sts })
}

/// Gives the declarations of `sts` variables of another pool.
fn rename_declarations(import: &mut TermImport<'_>, sts: &mut Sts) {
    for var in &mut sts.vars {
        let init = var.init.map(|term| import.term(term));
        *var = StateVar { var: import.var(var.var), init, span: var.span };
    }
    for clock in &mut sts.clocks {
        *clock = Clock { var: import.var(clock.var), span: clock.span };
    }
    for gate in sts.gates.iter_mut() {
        let fields = gate.fields.iter().map(|&field| import.var(field)).collect();
        *gate = Gate { fields, ..gate.clone() };
    }
}

fn import_switch(import: &mut TermImport<'_>, switch: &Switch) -> Switch {
    let update = switch.update.iter().map(|&(var, term)| (import.var(var), import.term(term))).collect();
    let resets = switch.resets.iter().map(|&clock| import.var(clock)).collect();
    let range_check = switch.range_check.map(|term| import.term(term));
    Switch { guard: import.term(switch.guard), update, resets, range_check, ..switch.clone() }
}

/// Two compositions of one shape: what the second one declares has the names of the first.
struct ComposedNames<'p> {
    import: TermImport<'p>,
    sts: &'p mut Sts,
}

impl<'p> ComposedNames<'p> {
    fn new(model: &'p mut Model, other: &'p Model) -> Option<Self> {
        let Model { pool, sts } = model;
        let mut import = TermImport::new(pool, &other.pool).ok()?;
        let theirs = other.sts.vars.iter().map(|it| it.var).chain(other.sts.clocks.iter().map(|it| it.var));
        let ours = sts.vars.iter().map(|it| it.var).chain(sts.clocks.iter().map(|it| it.var));
        for (other, var) in theirs.zip(ours) {
            import.bind(other, var);
        }
        for (other, gate) in other.sts.gates.iter().zip(sts.gates.iter()) {
            for (&other, &field) in other.fields.iter().zip(&gate.fields) {
                import.bind(other, field);
            }
        }
        Some(Self { import, sts })
    }

    fn switch(&mut self, switch: &Switch) -> Switch {
        import_switch(&mut self.import, switch)
    }
}

fn is_same(one: &Switch, other: &Switch) -> bool {
    let facts = |switch: &Switch| {
        (
            switch.gate,
            switch.guard,
            switch.update.clone(),
            switch.resets.clone(),
            switch.source,
            switch.target,
        )
    };
    facts(one) == facts(other)
}
