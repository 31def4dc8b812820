//! An estimate of the number of steps until a switch can be taken, from any state.
//!
//! The additive heuristic of planning (Bonet and Geffner, "Planning as heuristic search", 2001): a condition that holds
//! costs nothing, any other one a step more than the cheapest switch after which it may hold, and a switch costs what
//! the conjuncts of its guard cost together.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::sts::{GateKind, LocId, Sts};
use ioxide_model::term::{Substitution, Term, TermPool, VarId};

/// The cost of what no switch leads to. Sums of it stay below the greatest number.
const UNREACHED: u32 = 1_000_000;

/// A part of what a switch needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlanCondition {
    At(LocId),
    Holds(Term),
}

/// A switch with the numbers of its conditions.
#[derive(Clone, Debug)]
struct PlannedSwitch {
    /// The conditions under which it can be taken, with some message.
    needs: Vec<usize>,
    /// Those that may hold after it and that it has to do with.
    achieves: Vec<usize>,
    /// The variables that its guard reads, those of conditions on the message included.
    reads: Vec<VarId>,
    is_output: bool,
}

/// The switches of a system with their conditions.
#[derive(Clone, Debug)]
pub(crate) struct PlanCosts {
    conditions: Vec<PlanCondition>,
    /// The variables that each condition mentions.
    mentioned: Vec<Vec<VarId>>,
    switches: Vec<PlannedSwitch>,
}

/// The costs of all conditions in one state.
pub(crate) struct StateCosts(Vec<u32>);

impl PlanCosts {
    /// Finds what the switches of `sts` need and achieve.
    pub fn new(pool: &mut TermPool, sts: &Sts) -> Self {
        let vars: BTreeSet<VarId> = sts.vars.iter().map(|var| var.var).collect();
        let of_state =
            |pool: &TermPool, term: Term| pool.free_vars(term).iter().all(|var| vars.contains(var));
        let mut all: BTreeSet<PlanCondition> = BTreeSet::new();
        for switch in &sts.switches {
            all.insert(PlanCondition::At(switch.source));
            let conjuncts = pool.conjuncts(switch.guard).into_iter();
            all.extend(conjuncts.filter(|&term| of_state(pool, term)).map(PlanCondition::Holds));
        }
        let conditions: Vec<PlanCondition> = all.into_iter().collect();
        let number = |condition: &PlanCondition| conditions.binary_search(condition).ok();
        let mentioned: Vec<Vec<VarId>> = conditions
            .iter()
            .map(|condition| match condition {
                PlanCondition::At(_) => Vec::new(),
                PlanCondition::Holds(term) => pool.free_vars(*term),
            })
            .collect();
        let mut switches = Vec::with_capacity(sts.switches.len());
        for switch in &sts.switches {
            let conjuncts = pool.conjuncts(switch.guard);
            let at = number(&PlanCondition::At(switch.source));
            let needs = conjuncts.iter().filter_map(|&term| number(&PlanCondition::Holds(term))).chain(at);
            let needs = needs.collect();
            let reads = pool.free_vars(switch.guard).into_iter().filter(|var| vars.contains(var)).collect();
            let effect: Substitution = switch.update.iter().copied().collect();
            let assigns = |var: &VarId| switch.update.iter().any(|(it, _)| it == var);
            let mut achieves = Vec::new();
            for (at, condition) in conditions.iter().enumerate() {
                let may_hold = match condition {
                    PlanCondition::At(loc) => *loc == switch.target,
                    PlanCondition::Holds(term) => {
                        mentioned[at].iter().any(assigns) && {
                            let after = pool.substitute(*term, &effect);
                            !pool.is_false(after)
                        }
                    }
                };
                achieves.extend(may_hold.then_some(at));
            }
            let is_output = sts.kind_of(switch) == GateKind::Output;
            switches.push(PlannedSwitch { needs, achieves, reads, is_output });
        }
        Self { conditions, mentioned, switches }
    }

    /// Returns the costs of all conditions in `state`.
    pub fn in_state(&self, pool: &TermPool, state: &ConcreteState) -> StateCosts {
        let holds = |condition: &PlanCondition| match condition {
            PlanCondition::At(loc) => state.loc == *loc,
            // What cannot be evaluated is taken to hold: it says nothing about the distance.
            PlanCondition::Holds(term) => pool.holds(*term, &state.values) != Ok(false),
        };
        let costs = self.conditions.iter().map(|it| if holds(it) { 0 } else { UNREACHED });
        let mut costs = StateCosts(costs.collect());
        let mut is_changed = true;
        // Costs only fall, so this ends.
        while is_changed {
            is_changed = false;
            for switch in &self.switches {
                let next = costs.sum(switch.needs.iter().copied()).saturating_add(1);
                for &at in switch.achieves.iter().filter(|_| next < UNREACHED) {
                    if next < costs.0[at] {
                        costs.0[at] = next;
                        is_changed = true;
                    }
                }
            }
        }
        costs
    }

    /// Returns the cost of the cheapest switch that reads one of `vars`, without the conditions that mention them; an
    /// output shows at once what it reads, so others cost one more.
    pub fn cost_of_reading(&self, costs: &StateCosts, vars: &[VarId]) -> u32 {
        let is_one = |var: &VarId| vars.contains(var);
        let readers = self.switches.iter().filter(|switch| switch.reads.iter().any(is_one));
        let cost = |switch: &PlannedSwitch| {
            let others = switch.needs.iter().copied().filter(|&at| !self.mentioned[at].iter().any(is_one));
            costs.sum(others).saturating_add(u32::from(!switch.is_output))
        };
        readers.map(cost).min().unwrap_or(UNREACHED)
    }
}

impl StateCosts {
    fn sum(&self, conditions: impl Iterator<Item = usize>) -> u32 {
        conditions.fold(0, |sum, at| sum.saturating_add(self.0[at]).min(UNREACHED))
    }

    /// Returns the cost of all `conditions` together that are known, and nothing for others.
    pub fn of(&self, plan: &PlanCosts, loc: LocId, conjuncts: &[Term]) -> u32 {
        let number = |condition: &PlanCondition| plan.conditions.binary_search(condition).ok();
        let known = conjuncts.iter().filter_map(|&term| number(&PlanCondition::Holds(term)));
        self.sum(known.chain(number(&PlanCondition::At(loc))))
    }
}
