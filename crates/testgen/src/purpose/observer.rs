//! Purposes from observers: the product of the model and a small automaton over its messages.
//!
//! The product has a location for every pair of a location and a stage, and one for hit and
//! for miss at every location. A switch is split by the rules that watch its gate, the first
//! that fits counts, and stays in its stage where none does. The product's path condition is
//! the purpose's, for fields are numbered alike.

use ioxide_model::goal::{Observer, ObserverTarget};
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sts::{LocId, Sts, Switch, SwitchId};
use ioxide_symex::{Ctx, Limits};

use super::goal::{NoPurpose, Wanted, found};
use super::{Purpose, PurposeStep};

/// The purpose that makes `observer` say hit.
pub(super) fn purpose(
    cx: &mut Ctx<'_>,
    name: &str,
    observer: &Observer,
    limits: Limits,
) -> Result<Purpose, NoPurpose> {
    let product = Product::new(cx, observer);
    let tt = cx.pool.tt();
    let mut inner = cx.over(&product.sts);
    let wanted = Wanted { location: Some(product.hit), rest: &[], when: tt };
    let purpose = found(&mut inner, name, &wanted, limits)?;
    let original = |step: PurposeStep| PurposeStep { switch: product.origin[step.switch], facts: step.facts };
    Ok(Purpose { steps: purpose.steps.into_iter().map(original).collect(), ..purpose })
}

struct Product {
    sts: Sts,
    /// The switch of the model each switch of the product comes from.
    origin: IndexVec<SwitchId, SwitchId>,
    /// Where the observer has said hit.
    hit: LocId,
}

impl Product {
    fn new(cx: &mut Ctx<'_>, observer: &Observer) -> Self {
        let model = cx.sts;
        let mut sts = Sts { switches: IndexVec::new(), goals: Vec::new(), ..model.clone() };
        let n_locations = model.locations.len();
        sts.locations = (0..observer.stages.len()).flat_map(|_| model.locations.iter().cloned()).collect();
        let hit = sts.locations.push(model.locations[model.initial].clone());
        let miss = sts.locations.push(model.locations[model.initial].clone());
        let mut product = Self { sts, origin: IndexVec::new(), hit };
        let place = |stage: usize, loc: LocId| LocId::new(stage * n_locations + loc.index());
        for stage in 0..observer.stages.len() {
            for (id, switch) in model.switches.iter_enumerated() {
                let source = place(stage, switch.source);
                for (guard, to) in cases(cx, observer, stage, switch) {
                    let target = match to {
                        ObserverTarget::Stage(next) => place(next, switch.target),
                        ObserverTarget::Hit => hit,
                        ObserverTarget::Miss => miss,
                    };
                    product.sts.switches.push(Switch { source, guard, target, ..switch.clone() });
                    product.origin.push(id);
                }
            }
        }
        product
    }
}

/// The guards under which `switch` moves the observer at `stage`, and where to.
fn cases(
    cx: &mut Ctx<'_>,
    observer: &Observer,
    stage: usize,
    switch: &Switch,
) -> Vec<(ioxide_model::term::Term, ObserverTarget)> {
    let mut cases = Vec::new();
    let mut rest = switch.guard;
    for rule in observer.rules.iter().filter(|rule| rule.from == stage && rule.gate == switch.gate) {
        cases.push((cx.pool.and([rest, rule.when]), rule.to));
        let otherwise = cx.pool.not(rule.when);
        rest = cx.pool.and([rest, otherwise]);
    }
    cases.push((rest, ObserverTarget::Stage(stage)));
    cases
}
