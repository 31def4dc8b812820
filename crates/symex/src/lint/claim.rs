//! Properties as claims that something bad never happens, by location.

use std::collections::BTreeMap;

use ioxide_model::goal::{Goal, GoalFrame, GoalKind};
use ioxide_model::sts::{LocId, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term};

use crate::cx::Ctx;
use crate::induction::SafetyClaim;
use crate::quiescence::after_waiting;
use crate::state::{advance_substitution, switch_effect};

/// A property as a claim about states, or about steps.
#[derive(Clone, Debug, Default)]
pub(super) struct GoalClaim {
    /// The bad conditions by location; for a claim about steps, over the message and the delay too.
    pub safety: SafetyClaim,
    /// For a claim about steps: the bad condition of every switch.
    by_switch: Vec<(SwitchId, LocId, Term)>,
}

impl GoalClaim {
    /// Makes a claim about states.
    pub(super) fn about_states(bad: BTreeMap<LocId, Term>) -> Self {
        Self { safety: SafetyClaim { bad }, by_switch: Vec::new() }
    }

    /// Returns the bad conditions of `loc`, each with the step that it is about.
    pub(super) fn parts_at(&self, loc: LocId) -> Vec<(Option<SwitchId>, Term)> {
        if !self.by_switch.is_empty() {
            let here = self.by_switch.iter().filter(|(_, at, _)| *at == loc);
            return here.map(|&(id, _, term)| (Some(id), term)).collect();
        }
        self.safety.bad.get(&loc).map(|&term| (None, term)).into_iter().collect()
    }

    /// Returns the claim as an invariant of every location; `None` if it is about more than states.
    pub(super) fn as_invariant(&self, cx: &mut Ctx<'_>) -> Option<BTreeMap<LocId, Term>> {
        let stored: Vec<_> = cx.sts.stored_vars().collect();
        let reads_more = |term: &Term| cx.pool.free_vars(*term).iter().any(|var| !stored.contains(var));
        if !self.by_switch.is_empty() || self.safety.bad.values().any(reads_more) {
            return None;
        }
        Some(self.safety.bad.iter().map(|(&loc, &bad)| (loc, cx.pool.not(bad))).collect())
    }

    /// Returns the bad condition of the location at the end of `path`.
    pub(super) fn bad_anywhere(&self, cx: &mut Ctx<'_>, path: &[SwitchId]) -> Term {
        let end = path.last().map_or(cx.sts.initial, |&id| cx.sts.switches[id].target);
        self.safety.bad.get(&end).copied().unwrap_or_else(|| cx.pool.ff())
    }
}

/// Returns the claim of `always` and `assume`; of `sometimes`, the claim that it never holds.
pub(super) fn claim_of_goal(cx: &mut Ctx<'_>, goal: &Goal) -> GoalClaim {
    let (formula, is_wanted) = match goal.kind {
        GoalKind::Always(term) | GoalKind::Assume(term) => (term, false),
        GoalKind::Sometimes(term) => (term, true),
        _ => return GoalClaim::default(),
    };
    // `sometimes` is met by a state in which its formula holds, so that state is what the search looks for.
    let bad = if is_wanted { formula } else { cx.pool.not(formula) };
    if goal.frame.next.is_empty() {
        let locations: Vec<LocId> = cx.sts.locations.ids().collect();
        let at = |loc| (loc, at_location(cx, bad, &goal.frame, loc));
        return GoalClaim::about_states(locations.into_iter().map(at).collect());
    }
    claim_about_steps(cx, bad, &goal.frame)
}

/// Returns the claim that `id` is never enabled.
pub(super) fn claim_of_switch(cx: &mut Ctx<'_>, id: SwitchId) -> GoalClaim {
    let switch = &cx.sts.switches[id];
    let bad = after_waiting(cx, switch.guard);
    GoalClaim::about_states([(switch.source, bad)].into())
}

/// Returns `formula` in `loc`: places as constants.
fn at_location(cx: &mut Ctx<'_>, formula: Term, frame: &GoalFrame, loc: LocId) -> Term {
    let place = |&(var, at)| (var, cx.pool.bool(at == loc));
    let names: Substitution = frame.places.iter().map(place).collect();
    cx.pool.substitute(formula, &names)
}

fn claim_about_steps(cx: &mut Ctx<'_>, bad: Term, frame: &GoalFrame) -> GoalClaim {
    let mut claim = GoalClaim::default();
    let ids: Vec<SwitchId> = cx.sts.switches.iter_enumerated().map(|(id, _)| id).collect();
    for id in ids {
        let switch = &cx.sts.switches[id];
        let guard = after_waiting(cx, switch.guard);
        let later = later_values(cx, switch, frame);
        let here = at_location(cx, bad, frame, switch.source);
        let broken = cx.pool.substitute(here, &later);
        let broken = cx.pool.and([guard, broken]);
        // A step that cannot break the property has no part in the claim.
        if !cx.pool.is_false(broken) {
            claim.by_switch.push((id, switch.source, broken));
            let known = claim.safety.bad.get(&switch.source).copied();
            let all = cx.pool.or(known.into_iter().chain([broken]));
            claim.safety.bad.insert(switch.source, all);
        }
    }
    claim
}

/// Returns the substitution of the variables for later values by what `switch` assigns.
fn later_values(cx: &mut Ctx<'_>, switch: &Switch, frame: &GoalFrame) -> Substitution {
    let effect = switch_effect(cx.pool, switch);
    let mut waited = Substitution::new();
    if cx.sts.is_timed() {
        let delay = cx.pool.var(cx.delay);
        advance_substitution(cx.pool, cx.sts, &mut waited, delay);
    }
    let mut later = Substitution::new();
    for &(next, var) in &frame.next {
        let place = frame.places.iter().find(|(place, _)| *place == var);
        let value = match (place, effect.get(var)) {
            (Some(&(_, loc)), _) => cx.pool.bool(switch.target == loc),
            // Assigned terms read the values before the step, and clocks have advanced by then.
            (None, Some(term)) => cx.pool.substitute(term, &waited),
            (None, None) => waited.get(var).unwrap_or_else(|| cx.pool.var(var)),
        };
        later.set(next, value);
    }
    later
}
