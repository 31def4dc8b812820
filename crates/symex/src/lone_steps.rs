//! Internal steps that may come first: partial-order reduction of the states after a trace.
//!
//! Parts of a system that take internal steps independently of each other are, after one trace, in every mixture of
//! states before and after them. Most mixtures show nothing that the state after the steps does not show.
//!
//! *Definition.* An internal switch `t` that can be taken in a state is *lone* there if there is a set `T` of switches
//! with `t` in it such that
//!
//! 1. every switch that reads or writes what `t` writes, or writes what `t` reads, is in `T`;
//! 2. every other switch of `T` has a conjunct of its guard that is false in the state, and every switch whose update
//!    can make this conjunct true is in `T`.
//!
//! (A stubborn set with one enabled switch, which is invisible; Valmari, "Stubborn sets for reduced state space
//! generation", 1991, and condition C4 of Gerth, Kuiper, Peled and Penczek, "A partial order approach to branching time
//! logic model checking", 1999.) In a model with several locations all switches read the location, so there only the
//! one switch that can be taken at all is lone.
//!
//! *Claim.* If `t` is lone in `s` and leads to `s'`, the two have the same suspension traces, with inputs that stable
//! states ignore or without, and after each of them the same outputs, silence, mentioned and refused inputs; so `s'`
//! may stand for both.
//!
//! *Proof.* Take a run from `s`. The first switch of `T` in it is `t`: by 2, another one needs a conjunct that only
//! switches of `T` make true, and none was taken before. Until then, by 1, nothing changes what `t` reads and nothing
//! reads or writes what `t` writes; so `t` stays possible and can be moved to the front: the run is one from `s'`, with
//! the same messages and from `t` on the same states. A run without `t` is one of `s'` as well, each state of it with
//! the effect of `t` added, and the outputs and inputs possible in each state are possible there. What is observed of a
//! state as a whole, silence and refusal and the ignoring of an input, is observed of states without internal steps
//! only; `t` is possible in every state of a run before it is taken, so in a run with such an observation `t` comes
//! before it. Conversely, every run of `s'` is one of `s` with `t` in front.
//!
//! *Cycles.* Lone steps may lead in a circle. Then one state of the circle stands for all, with all of its steps: they
//! have the same suspension traces, and none of them is silent. Whoever follows lone steps must keep this state
//! unstable, and must not leave out its other steps ([`settle`](LoneSteps::settle)).
//!
//! States that are left out are reached by some run and matter to whoever looks at the states themselves (coverage,
//! properties, explanations); the monitor does not use this.

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::sts::{GateKind, Sts, Switch, SwitchId};
use ioxide_model::term::{EvalError, Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;

/// The switches of a system by what they read and write.
#[derive(Clone, Debug)]
pub struct LoneSteps {
    is_partial: bool,
    internal: Vec<SwitchId>,
    readers: FxHashMap<VarId, Vec<SwitchId>>,
    writers: FxHashMap<VarId, Vec<SwitchId>>,
    /// The conjuncts of each guard that read variables only.
    conjuncts: FxHashMap<SwitchId, Vec<Term>>,
    /// The switches that can make a conjunct true.
    enablers: FxHashMap<Term, Vec<SwitchId>>,
    /// The number of guards evaluated so far.
    pub evaluated: usize,
}

/// The status of a switch in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SwitchStatus {
    Enabled,
    /// Not known: it has fields, or its guard cannot be evaluated.
    Open,
    /// Not by these conjuncts.
    Disabled(Vec<Term>),
}

impl LoneSteps {
    /// Indexes `sts`; `None` if it has no internal switches, or clocks, with which every step takes place at an
    /// instant.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts) -> Option<Self> {
        let is_internal = |switch: &Switch| sts.kind_of(switch) == GateKind::Internal;
        let of_kind = sts.switches.iter_enumerated().filter(|(_, switch)| is_internal(switch));
        let internal: Vec<SwitchId> = of_kind.map(|(id, _)| id).collect();
        if internal.is_empty() || sts.is_timed() {
            return None;
        }
        let mut index = Self {
            // With one location, the locations of the parts are variables of the composed system, and parts can be
            // independent. With several, every switch reads the location, so no two are.
            is_partial: sts.locations.len() == 1,
            internal,
            readers: FxHashMap::default(),
            writers: FxHashMap::default(),
            conjuncts: FxHashMap::default(),
            enablers: FxHashMap::default(),
            evaluated: 0,
        };
        sts.switches.iter_enumerated().for_each(|(id, switch)| index.add_switch(pool, sts, id, switch));
        Some(index)
    }

    fn add_switch(&mut self, pool: &TermPool, sts: &Sts, id: SwitchId, switch: &Switch) {
        let fields = &sts.gates[switch.gate].fields;
        for var in read_variables(pool, switch) {
            self.readers.entry(var).or_default().push(id);
        }
        for &(var, _) in &switch.update {
            self.writers.entry(var).or_default().push(id);
        }
        let mut conjuncts = pool.conjuncts(switch.guard);
        // The state does not decide a conjunct about a field, so it cannot be the false conjunct of condition 2.
        conjuncts.retain(|&term| !pool.free_vars(term).iter().any(|var| fields.contains(var)));
        self.conjuncts.insert(id, conjuncts);
    }

    /// Follows lone steps from `state` until there is none; in a circle, to its least state. `None` if there are more
    /// than `limit`.
    ///
    /// # Errors
    /// If an update cannot be evaluated.
    pub fn settle(
        &mut self,
        pool: &TermPool,
        sts: &Sts,
        state: ConcreteState,
        limit: usize,
    ) -> Result<Option<ConcreteState>, EvalError> {
        let mut passed = vec![state];
        let mut seen: FxHashSet<ConcreteState> = passed.iter().cloned().collect();
        while passed.len() <= limit {
            let here = &passed[passed.len() - 1];
            let Some(id) = self.lone_switch(pool, sts, here) else {
                return Ok(passed.pop());
            };
            let next = concrete::successor(pool, sts, here, &sts.switches[id], &[])?;
            if !seen.insert(next.clone()) {
                // A circle: its least state is chosen, so that every way into it ends in the same one.
                let begin = passed.iter().position(|state| *state == next).unwrap_or(0);
                return Ok(passed[begin..].iter().min().cloned());
            }
            passed.push(next);
        }
        Ok(None)
    }

    /// Returns a lone switch of `state`, the first one in order of declaration.
    pub fn lone_switch(&mut self, pool: &TermPool, sts: &Sts, state: &ConcreteState) -> Option<SwitchId> {
        let mut search = LoneSearch { index: self, pool, sts, state, known: FxHashMap::default() };
        let internal = search.index.internal.clone();
        let mut here = internal.into_iter().filter(|&id| sts.switches[id].source == state.loc);
        here.find(|&id| search.status(id) == SwitchStatus::Enabled && search.is_lone(id))
    }

    /// Returns the switches whose update can make `conjunct` true where it is false.
    fn enablers_of(&mut self, pool: &TermPool, sts: &Sts, conjunct: Term) -> Vec<SwitchId> {
        if let Some(known) = self.enablers.get(&conjunct) {
            return known.clone();
        }
        let vars = pool.free_vars(conjunct);
        let mut found: Vec<SwitchId> =
            vars.iter().filter_map(|var| self.writers.get(var)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&id| can_make_true(pool, &sts.switches[id], conjunct));
        self.enablers.insert(conjunct, found.clone());
        found
    }
}

/// The search for a lone switch in one state.
struct LoneSearch<'s> {
    index: &'s mut LoneSteps,
    pool: &'s TermPool,
    sts: &'s Sts,
    state: &'s ConcreteState,
    known: FxHashMap<SwitchId, SwitchStatus>,
}

impl LoneSearch<'_> {
    fn status(&mut self, id: SwitchId) -> SwitchStatus {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.index.evaluated += 1;
        let switch = &self.sts.switches[id];
        let conjuncts = &self.index.conjuncts[&id];
        let truth = |term: &Term| self.pool.holds(*term, &self.state.values);
        let status = if switch.source != self.state.loc {
            // Only with several locations, where `is_only_step` does not ask for the conjunct.
            SwitchStatus::Disabled(Vec::new())
        } else {
            let refuting: Vec<Term> =
                conjuncts.iter().copied().filter(|term| truth(term) == Ok(false)).collect();
            let has_fields = !self.sts.gates[switch.gate].fields.is_empty();
            if !refuting.is_empty() {
                SwitchStatus::Disabled(refuting)
            } else if has_fields || conjuncts.iter().any(|term| truth(term).is_err()) {
                SwitchStatus::Open
            } else {
                SwitchStatus::Enabled
            }
        };
        self.known.insert(id, status.clone());
        status
    }

    fn is_lone(&mut self, id: SwitchId) -> bool {
        if self.index.is_partial { self.has_stubborn_set(id) } else { self.is_only_step(id) }
    }

    /// Returns whether no other switch can be taken.
    fn is_only_step(&mut self, id: SwitchId) -> bool {
        let others: Vec<SwitchId> = self.sts.switches_from(self.state.loc).map(|(other, _)| other).collect();
        others.into_iter().all(|other| other == id || matches!(self.status(other), SwitchStatus::Disabled(_)))
    }

    /// Returns whether a set `T` of the definition is found for `id`, without going back on a choice.
    fn has_stubborn_set(&mut self, id: SwitchId) -> bool {
        let mut set: FxHashSet<SwitchId> = [id].into_iter().collect();
        let mut open = self.dependents(id);
        while let Some(next) = open.pop() {
            if !set.insert(next) {
                continue;
            }
            // Condition 2: another switch of T must be disabled, whatever the values of its fields. One with an open
            // status may be possible for some of them.
            let SwitchStatus::Disabled(refuting) = self.status(next) else { return false };
            let Some(enablers) = self.fewest_enablers(&set, &refuting) else { return false };
            // For one false conjunct only. The choice is never revised, so a set may be missed.
            open.extend(enablers);
        }
        true
    }

    /// Returns the switches that have to join `set` for one of the conjuncts to stay false: the fewest, and none that
    /// can be taken.
    fn fewest_enablers(&mut self, set: &FxHashSet<SwitchId>, refuting: &[Term]) -> Option<Vec<SwitchId>> {
        let mut best: Option<Vec<SwitchId>> = None;
        for &conjunct in refuting {
            let mut enablers = self.index.enablers_of(self.pool, self.sts, conjunct);
            enablers.retain(|id| !set.contains(id));
            // An enabler that can be taken would have to be in T, where it breaks condition 2.
            let are_disabled =
                enablers.iter().all(|&id| matches!(self.status(id), SwitchStatus::Disabled(_)));
            if are_disabled && best.as_ref().is_none_or(|best| enablers.len() < best.len()) {
                best = Some(enablers);
            }
        }
        best
    }

    /// Returns the switches that read or write what `id` writes, or write what it reads.
    fn dependents(&self, id: SwitchId) -> Vec<SwitchId> {
        let switch = &self.sts.switches[id];
        let of =
            |map: &FxHashMap<VarId, Vec<SwitchId>>, var: VarId| map.get(&var).cloned().unwrap_or_default();
        let mut found = Vec::new();
        // Condition 1. Two switches that write the same variable depend on each other even if neither reads it.
        for &(var, _) in &switch.update {
            found.extend(of(&self.index.readers, var));
            found.extend(of(&self.index.writers, var));
        }
        for var in read_variables(self.pool, switch) {
            found.extend(of(&self.index.writers, var));
        }
        found
    }
}

/// Returns the variables and fields that a switch reads.
fn read_variables(pool: &TermPool, switch: &Switch) -> Vec<VarId> {
    let terms: Vec<Term> = switch.update.iter().map(|(_, term)| *term).chain([switch.guard]).collect();
    pool.free_vars_of(&terms).into_iter().collect()
}

/// Returns whether `conjunct` may be true after `switch`; what the switch leaves as it is may have any value.
fn can_make_true(pool: &TermPool, switch: &Switch, conjunct: Term) -> bool {
    let constant = |&(var, term): &(VarId, Term)| Some((var, pool.as_value(term)?.clone()));
    let written: Valuation = switch.update.iter().filter_map(constant).collect();
    // Only constants are evaluated. An unknown value counts as "may be true", which only makes T larger.
    pool.holds(conjunct, &written) != Ok(false)
}
