//! Purposes from observers: the product of the model and a small automaton over its messages.
//!
//! The product has a location for every pair of a location and a stage, one for hit and one for miss. A switch is split
//! by the rules that watch its gate, of which the first that fits counts; where none does, the stage stays. The
//! variables and clocks of the observer are variables and clocks of the product. The path condition of the product is
//! that of the purpose, since fields are numbered alike.
//!
//! Silence is a switch of the product too, with the internal gate: it is possible where the model is quiescent. In a
//! timed model it is time that passes without a message, and possible as long as the model may wait. The product has a
//! clock since the last message, because quiescence counts from there.

use ioxide_model::goal::{ObservedEvent, Observer, ObserverRule, ObserverTarget, PathStep};
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Clock, GateId, GateKind, LocId, StateVar, Sts, Switch, SwitchId, Switches};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, ExploreLimits, can_react, quiescence_condition};

use super::goal::{GoalState, NoPurpose, find_purpose};
use super::{PurposeStep, TestPurpose};

/// Returns the purpose that leads `observer` to hit.
pub(super) fn purpose(
    cx: &mut Ctx<'_>,
    name: &str,
    observer: &Observer,
    limits: ExploreLimits,
) -> Result<TestPurpose, NoPurpose> {
    let mut product = ObserverProduct::new(cx, observer);
    // Added behind the other switches, because their conditions read the clock of the product.
    for silence in silences(cx, &product, observer) {
        product.sts.switches.push(silence);
        product.origin.push(PathStep::Quiet);
    }
    let tt = cx.pool.tt();
    let mut inner = cx.with_system(&product.sts);
    let wanted = GoalState { location: Some(product.hit), rest: &[], when: tt };
    let purpose = find_purpose(&mut inner, name, &wanted, limits)?;
    // The purpose is about the model, so each switch of the product becomes the step that it comes from.
    let original = |step: PurposeStep| {
        let origin = step.step.switch().map_or(step.step, |switch| product.origin[switch]);
        PurposeStep { step: origin, facts: step.facts }
    };
    Ok(TestPurpose { steps: purpose.steps.into_iter().map(original).collect(), ..purpose })
}

/// A model and an observer of it, as one system.
pub(crate) struct ObserverProduct {
    pub(crate) sts: Sts,
    /// The step of the model that each switch of the product comes from.
    origin: IndexVec<SwitchId, PathStep>,
    /// In a timed model, the clock since the last message, if the observer waits for silence.
    since: Option<VarId>,
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
        let has_silence = observer.rules.iter().any(|rule| rule.on == ObservedEvent::Quiet);
        let since = (model.is_timed() && has_silence).then(|| cx.pool.declare("since", Sort::Real));
        sts.clocks.extend(since.map(|var| Clock { var, span }));
        let mut product = Self { sts, origin: IndexVec::new(), since, hit, miss };
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
                    // Internal switches reset it too: `silence_condition` uses it to compute the clocks at
                    // the entry of a location.
                    split.resets.extend(since);
                    product.sts.switches.push(split);
                    product.origin.push(PathStep::Take(id));
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
            let mut rest = silence_condition(cx, product, loc);
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

/// Returns the condition under which the model may be silent at `loc`: it is quiescent; in a timed model, it was when
/// the last message entered the location, or a message can still come.
fn silence_condition(cx: &mut Ctx<'_>, product: &ObserverProduct, loc: LocId) -> Term {
    let quiet = quiescence_condition(cx, loc);
    let Some(since) = product.since else { return quiet };
    let since = cx.pool.var(since);
    let mut entered = Substitution::new();
    for clock in &cx.sts.clocks {
        let now = cx.pool.var(clock.var);
        entered.set(clock.var, cx.pool.sub(now, since));
    }
    let mut excuses = vec![cx.pool.substitute(quiet, &entered)];
    let sts = cx.sts;
    for (_, switch) in sts.switches_from(loc).filter(|(_, switch)| sts.kind_of(switch) != GateKind::Input) {
        excuses.push(can_react(cx, switch));
    }
    let excuse = cx.pool.or(excuses);
    let excuse = eliminate(cx.pool, excuse);
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    let waited = cx.pool.lt(zero, since);
    cx.pool.and([waited, excuse])
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
