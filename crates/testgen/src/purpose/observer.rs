//! Purposes from observers: the product of the model and a small automaton over its messages.
//!
//! The product has a location for every pair of a location and a stage, one for hit and one for miss. A switch is split
//! by the rules that watch its gate, of which the first that fits counts; where none does, the stage stays. The
//! variables and clocks of the observer are variables and clocks of the product. The path condition of the product is
//! that of the purpose, since fields are numbered alike.
//!
//! A path contains no silence, so an observer that waits for silence gives no purpose; a [game](crate::tester::game)
//! can.

use ioxide_model::goal::{ObservedEvent, Observer, ObserverRule, ObserverTarget};
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sts::{Clock, GateId, LocId, StateVar, Sts, Switch, SwitchId, Switches};
use ioxide_model::term::Term;
use ioxide_symex::{Ctx, ExploreLimits, quiescence_condition};

use super::goal::{GoalState, NoPurpose, find_purpose};
use super::{PurposeStep, TestPurpose};

/// Returns the purpose that leads `observer` to hit.
pub(super) fn purpose(
    cx: &mut Ctx<'_>,
    name: &str,
    observer: &Observer,
    limits: ExploreLimits,
) -> Result<TestPurpose, NoPurpose> {
    if observer.rules.iter().any(|rule| rule.on == ObservedEvent::Quiet) {
        return Err(NoPurpose::Silence);
    }
    let product = ObserverProduct::new(cx, observer);
    let tt = cx.pool.tt();
    let mut inner = cx.with_system(&product.sts);
    let wanted = GoalState { location: Some(product.hit), rest: &[], when: tt };
    let purpose = find_purpose(&mut inner, name, &wanted, limits)?;
    let original = |step: PurposeStep| PurposeStep { switch: product.origin[step.switch], facts: step.facts };
    Ok(TestPurpose { steps: purpose.steps.into_iter().map(original).collect(), ..purpose })
}

/// A model and an observer of it, as one system.
pub(crate) struct ObserverProduct {
    pub(crate) sts: Sts,
    /// The switch of the model that each switch of the product comes from.
    origin: IndexVec<SwitchId, SwitchId>,
    /// The location in which the observer has hit.
    pub(crate) hit: LocId,
    miss: LocId,
}

impl ObserverProduct {
    /// Composes the model of `cx` with `observer`: one copy of its locations for each stage, and a location for a hit.
    pub(crate) fn new(cx: &mut Ctx<'_>, observer: &Observer) -> Self {
        let model = cx.sts;
        let mut sts = Sts { switches: Switches::default(), goals: Vec::new(), ..model.clone() };
        let n_locations = model.locations.len();
        let span = model.locations[model.initial].span;
        sts.vars.extend(observer.vars.iter().map(|&(var, init)| StateVar { var, init: Some(init), span }));
        sts.clocks.extend(observer.clocks.iter().map(|&var| Clock { var, span }));
        sts.locations = (0..observer.stages.len()).flat_map(|_| model.locations.iter().cloned()).collect();
        let hit = sts.locations.push(model.locations[model.initial].clone());
        let miss = sts.locations.push(model.locations[model.initial].clone());
        let mut product = Self { sts, origin: IndexVec::new(), hit, miss };
        let place = |stage: usize, loc: LocId| LocId::new(stage * n_locations + loc.index());
        for stage in 0..observer.stages.len() {
            for (id, switch) in model.switches.iter_enumerated() {
                let source = place(stage, switch.source);
                // The rules of the stage split a switch into cases that exclude each other: one for each rule, and one
                // in which none applies.
                for (guard, rule) in cases(cx, observer, stage, switch) {
                    let target = match rule.map_or(ObserverTarget::Stage(stage), |rule| rule.to) {
                        ObserverTarget::Stage(next) => place(next, switch.target),
                        ObserverTarget::Hit => hit,
                        ObserverTarget::Miss => miss,
                    };
                    let mut split = Switch { source, guard, target, ..switch.clone() };
                    if let Some(rule) = rule {
                        split.update.extend(rule.update.iter().copied());
                        split.resets.extend(rule.resets.iter().copied());
                    }
                    product.sts.switches.push(split);
                    product.origin.push(id);
                }
            }
        }
        product
    }
}

/// Returns the moves of the observer on silence: switches of the product with the internal gate, each under the
/// condition that its location is quiescent.
pub(crate) fn silences(cx: &mut Ctx<'_>, product: &ObserverProduct, observer: &Observer) -> Vec<Switch> {
    let n_locations = cx.sts.locations.len();
    let mut found = Vec::new();
    for stage in 0..observer.stages.len() {
        for loc in cx.sts.locations.ids() {
            let source = LocId::new(stage * n_locations + loc.index());
            let mut rest = quiescence_condition(cx, loc);
            for rule in
                observer.rules.iter().filter(|rule| rule.from == stage && rule.on == ObservedEvent::Quiet)
            {
                let target = match rule.to {
                    ObserverTarget::Stage(next) => LocId::new(next * n_locations + loc.index()),
                    ObserverTarget::Hit => product.hit,
                    ObserverTarget::Miss => product.miss,
                };
                let guard = cx.pool.and([rest, rule.when]);
                found.push(silence(rule, source, guard, target));
                let otherwise = cx.pool.not(rule.when);
                rest = cx.pool.and([rest, otherwise]);
            }
        }
    }
    found
}

/// Returns the switch that a rule for silence becomes in the product with the model.
fn silence(rule: &ObserverRule, source: LocId, guard: Term, target: LocId) -> Switch {
    Switch {
        label: "silence".into(),
        source,
        gate: GateId::new(0),
        guard,
        update: rule.update.clone(),
        resets: rule.resets.clone(),
        target,
        span: rule.span,
        doc: String::new(),
        reqs: Vec::new(),
        weight: 1,
        range_check: None,
    }
}

/// Returns the guards under which `switch` moves the observer at `stage`, each with its rule; without a rule the stage
/// stays.
fn cases<'o>(
    cx: &mut Ctx<'_>,
    observer: &'o Observer,
    stage: usize,
    switch: &Switch,
) -> Vec<(Term, Option<&'o ObserverRule>)> {
    let mut cases = Vec::new();
    let mut rest = switch.guard;
    let seen = ObservedEvent::Message(switch.gate);
    for rule in observer.rules.iter().filter(|rule| rule.from == stage && rule.on == seen) {
        cases.push((cx.pool.and([rest, rule.when]), Some(rule)));
        let otherwise = cx.pool.not(rule.when);
        rest = cx.pool.and([rest, otherwise]);
    }
    cases.push((rest, None));
    cases
}
