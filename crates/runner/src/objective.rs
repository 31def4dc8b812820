//! Observation objectives: the traces after which an observation is judged.
//!
//! 002's ioco_F asks of a set F of suspension traces that, after each of them, the system does
//! only what the specification allows. F is all traces unless a goal of the model narrows it:
//!
//! | goal | a trace is in F while |
//! | --- | --- |
//! | observer | the observer has not said miss |
//! | path | what was seen can be the beginning of the path, or goes on after its end |
//! | reach | the specification may be where the goal wants it |
//!
//! *Promises.* Outside F nothing is a failure. Where it cannot be decided whether a trace is in F,
//! it is not.

use std::sync::Arc;

use ioxide_model::goal::{Goal, GoalKind, Observer, ObserverTarget};
use ioxide_model::label::Label;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_symex::{Belief, Ctx, explaining};

/// A set of traces.
#[derive(Clone, Debug)]
pub struct Objective {
    /// Its name in the model.
    pub name: Arc<str>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Observer(Observer),
    Path(Vec<SwitchId>),
    Reach { location: Option<LocId>, when: Term },
}

impl Objective {
    /// The traces `goal` is about; `None` for an invariant or a written test.
    #[must_use]
    pub fn of(goal: &Goal) -> Option<Self> {
        let kind = match &goal.kind {
            GoalKind::Observer(observer) => Kind::Observer(observer.clone()),
            GoalKind::Path(path) => Kind::Path(path.clone()),
            GoalKind::Reach { location, when } => Kind::Reach { location: *location, when: *when },
            GoalKind::Always(_) | GoalKind::Sometimes(_) | GoalKind::Test(_) => return None,
        };
        Some(Self { name: Arc::clone(&goal.name), kind })
    }
}

/// Watches a trace grow.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The stage of an observer, or the steps of a path taken.
    at: usize,
    has_left: bool,
}

impl Watch {
    /// Whether the trace so far is in `objective`.
    #[must_use]
    pub fn is_inside(&self, cx: &Ctx<'_>, objective: &Objective, belief: &Belief) -> bool {
        match &objective.kind {
            Kind::Observer(_) | Kind::Path(_) => !self.has_left,
            Kind::Reach { location, when } => is_there(cx, *location, *when, belief),
        }
    }

    /// The trace grows by `label`; `before` is what the specification may have been in.
    pub fn advance(&mut self, cx: &Ctx<'_>, objective: &Objective, before: &Belief, label: &Label) {
        match &objective.kind {
            Kind::Observer(observer) => self.observe(cx, observer, label),
            Kind::Path(path) => self.follow(cx, path, before, label),
            Kind::Reach { .. } => (),
        }
    }

    fn observe(&mut self, cx: &Ctx<'_>, observer: &Observer, label: &Label) {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { return };
        let fields = cx.sts.gates[*gate].fields.iter().copied();
        let fields: Valuation = fields.zip(values.iter().cloned()).collect();
        let fits = |when: Term| cx.pool.holds(when, &fields).unwrap_or(false);
        let mut rules = observer.rules.iter().filter(|rule| rule.from == self.at && rule.gate == *gate);
        match rules.find(|rule| fits(rule.when)).map(|rule| rule.to) {
            Some(ObserverTarget::Stage(stage)) => self.at = stage,
            Some(ObserverTarget::Miss) => self.has_left = true,
            Some(ObserverTarget::Hit) | None => (),
        }
    }

    fn follow(&mut self, cx: &Ctx<'_>, path: &[SwitchId], before: &Belief, label: &Label) {
        if matches!(label, Label::Quiescence | Label::Delay(_)) {
            return;
        }
        if let Some(expected) = path.get(self.at) {
            self.has_left |= !explaining(cx, before, label).contains(expected);
            self.at += 1;
        }
    }
}

fn is_there(cx: &Ctx<'_>, location: Option<LocId>, when: Term, belief: &Belief) -> bool {
    match belief {
        Belief::Concrete(states) => states.iter().any(|state| {
            location.is_none_or(|wanted| wanted == state.loc)
                && cx.pool.holds(when, &state.values).unwrap_or(false)
        }),
        Belief::Symbolic(_) | Belief::Unspecified => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{CampaignConfig, Counts, OnFailure};
    use crate::run::RunConfig;
    use crate::samples::{VENDING, model, test};

    const GOALS: &str = "
        purpose big { state start { on coin when n > 5 -> miss } }
        purpose serving: reach serving
        purpose sweet: pay, change, coffee
        state idle {";

    /// The runs by outcome, judged within the objective `name`, of a system that gives too much change.
    fn counts(name: Option<&str>, sut: &str) -> Counts {
        let spec = model(&VENDING.replace("state idle {", GOALS));
        let goal = name.map(|name| spec.sts.goals.iter().find(|goal| *goal.name == *name).unwrap());
        let objective = goal.map(|goal| Arc::new(Objective::of(goal).unwrap()));
        let config = CampaignConfig {
            runs: 60,
            on_failure: OnFailure::GoOn,
            shrink: None,
            run: RunConfig { objective, ..RunConfig::default() },
            ..CampaignConfig::default()
        };
        test(&spec, &model(sut), 20, &config).1.counts
    }

    #[test]
    fn outside_the_objective_nothing_is_a_failure() {
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert_eq!(counts(None, &generous).failed, 60);
        // Wrong only where more than 5 was paid: there the observer says miss, nothing is judged.
        let only_big = VENDING.replace("paid - 2", "if paid > 5 then paid - 1 else paid - 2");
        assert!(counts(None, &only_big).failed > 50);
        let within = counts(Some("big"), &only_big);
        assert_eq!(within.failed, 0);
        assert!(within.inconclusive > 50);
        assert!(counts(Some("big"), &generous).failed > 0);
    }

    #[test]
    fn a_place_to_reach_judges_what_happens_there() {
        // Too much change is given before `serving`; what is served there is right.
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert_eq!(counts(Some("serving"), &generous).failed, 0);
        let sweet = VENDING.replace("coffee: emit coffee {", "coffee: emit change(n: 7) {");
        assert!(counts(Some("serving"), &sweet).failed > 0);
    }

    #[test]
    fn a_path_judges_its_beginnings_and_what_follows() {
        let generous = VENDING.replace("paid - 2", "paid - 1");
        assert!(counts(Some("sweet"), &generous).failed > 0, "after `pay` only change is allowed");
        // Wrong in the second round only: on the path if coffee was served in the first.
        let spoiled = VENDING
            .replace("var paid: int = 0", "var paid: int = 0 var served: int = 0")
            .replace(
                "emit tea { paid = 0 }",
                "emit tea { paid = 0, served = if served == 0 then 1 else served }",
            )
            .replace(
                "emit coffee { paid = 0 }",
                "emit coffee { paid = 0, served = if served == 0 then 2 else served }",
            )
            .replace("paid - 2)", "if served == 1 then paid - 1 else paid - 2)");
        assert!(counts(None, &spoiled).failed > 0);
        assert_eq!(counts(Some("sweet"), &spoiled).failed, 0);
    }
}
