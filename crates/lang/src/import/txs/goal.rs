//! Test purposes as observers: a goal follows the messages, `HIT` is hit, `MISS` or a message it does not allow is
//! miss.
//!
//! A goal is built as a part is. Its locations are the stages of the observer, so the observations must determine its
//! location: no internal steps, and no two different steps that fit the same message. Channels that the purpose does
//! not list, and silence where it has no `QSTEP`, leave it where it is.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::goal::{Goal, GoalKind, ObservedEvent, Observer, ObserverRule, ObserverTarget};
use ioxide_model::index::Idx;
use ioxide_model::sts::{GateId, LocId, Model, Sts, Switch};
use ioxide_model::term::{Substitution, Term, TermImport};

use super::channels::Communication;
use super::control::{ControlState, Stepper};
use super::impossible::is_impossible;
use super::part::{BuiltPart, PartBuilder, TxsPartMessage};
use super::system::{ModelOutside, TxsMeaning};
use super::tree::{BehaviourId, PurposeDef};
use super::typing::Scope;
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};

/// Adds the goals of `purpose` to `model`.
pub(super) fn add_goals(
    meaning: &TxsMeaning<'_>,
    purpose: &PurposeDef,
    model: &mut Model,
    sink: &mut FindingSink,
) {
    for goal in &purpose.goals {
        if let Ok(observer) = observer_of_goal(meaning, purpose, goal, model, sink) {
            let (name, _) = goal;
            model.sts.goals.push(Goal {
                name: format!("{}.{}", purpose.name.text, name.text).into(),
                kind: GoalKind::Observer(observer),
                span: name.span,
                doc: String::new(),
                reqs: Vec::new(),
                frame: ioxide_model::goal::GoalFrame::default(),
            });
        }
    }
}

/// Returns the observer of one goal of a purpose.
fn observer_of_goal(
    meaning: &TxsMeaning<'_>,
    purpose: &PurposeDef,
    (name, body): &(Name, BehaviourId),
    model: &mut Model,
    sink: &mut FindingSink,
) -> Result<Observer, Reported> {
    let mut outside = ModelOutside::new(meaning.interface, &purpose.inputs, &purpose.outputs);
    let start = ControlState::At(*body, Scope::new(), outside.wiring.clone());
    let kinds = outside.kinds.clone();
    let stepper = Stepper::new(meaning, &mut outside.channels, 0, meaning.pool.clone());
    // A goal is a part: the same locations, variables and limits.
    let built = match PartBuilder::new(stepper, &name.text, name.span, &kinds).build(start) {
        Ok(built) => built,
        Err(why) => return Err(why.report(name.span, sink)),
    };
    let mut watched = Vec::with_capacity(kinds.len());
    for (said, &gate) in &built.said {
        let TxsPartMessage::On(Communication { seen, hidden, exit: None }) = said else { continue };
        if seen.is_empty() || !hidden.is_empty() {
            continue;
        }
        let channel = outside.channels.joint_channel(seen);
        let known = model.sts.gate_named(&outside.channels.all[channel].name);
        let Some(known) = known else {
            let message = format!("the model has no channel `{}`", outside.channels.all[channel].name);
            return Err(sink.error(|| Diagnostic::new(Code::UnknownGate, purpose.name.span, message)));
        };
        watched.push((gate, known));
    }
    let mut goal = GoalSystem { built, watched };
    goal.check_expressible(name, sink)?;
    Ok(goal.import_observer(model))
}

/// A goal as a transition system, and the messages of the model that it observes.
struct GoalSystem {
    built: BuiltPart,
    watched: Vec<(GateId, GateId)>,
}

impl GoalSystem {
    fn is_message(&self, gate: GateId, said: &TxsPartMessage) -> bool {
        self.built.said.get(said) == Some(&gate)
    }

    /// Returns the verdict of `switch`; `None` if it does not end the goal.
    fn verdict_of(&self, switch: &Switch) -> Option<ObserverTarget> {
        if self.is_message(switch.gate, &TxsPartMessage::Hit) {
            return Some(ObserverTarget::Hit);
        }
        self.is_message(switch.gate, &TxsPartMessage::Miss).then_some(ObserverTarget::Miss)
    }

    fn observed_event(&self, switch: &Switch) -> Option<ObservedEvent> {
        if self.is_message(switch.gate, &TxsPartMessage::Quiet) {
            return Some(ObservedEvent::Quiet);
        }
        self.watched
            .iter()
            .find(|(gate, _)| *gate == switch.gate)
            .map(|(_, known)| ObservedEvent::Message(*known))
    }

    /// Refuses a goal that no observer can express.
    fn check_expressible(&mut self, name: &Name, sink: &mut FindingSink) -> Result<(), Reported> {
        let sts = &self.built.model.sts;
        if let Some(var) = sts.vars.iter().find(|var| var.init.is_none()) {
            return Err(sink.error(|| {
                Diagnostic::new(Code::TxsGoal, var.span, "a goal cannot start with a value that is not known")
                    .help("write a value in place of `ANY`")
            }));
        }
        for switch in &sts.switches {
            // An observer judges after a message, so it cannot say its verdict before the first one.
            let start = self.verdict_of(switch).is_some() && switch.source == sts.initial;
            let message = if start {
                "a goal cannot be reached before the first message"
            } else if switch.gate == Sts::TAU
                || self.verdict_of(switch).is_none() && self.observed_event(switch).is_none()
            {
                "a goal cannot take internal steps: it follows visible messages"
            } else {
                continue;
            };
            return Err(sink.error(|| {
                Diagnostic::new(Code::TxsGoal, switch.span, message).label(name.span, "of this goal")
            }));
        }
        // Every pair that starts alike: an observer takes the first rule that fits, where the goal would try
        // both.
        let switches: Vec<Switch> = sts.switches.iter().cloned().collect();
        for (at, one) in switches.iter().enumerate() {
            let same = |other: &&Switch| other.source == one.source && other.gate == one.gate;
            for other in switches[..at].iter().filter(same) {
                let both = self.built.model.pool.and2(one.guard, other.guard);
                let differ = one.target != other.target || one.update != other.update;
                if differ && !is_impossible(&self.built.model.pool, both) {
                    return Err(sink.error(|| {
                        Diagnostic::new(
                            Code::TxsGoal,
                            one.span,
                            "two steps of a goal may fit the same message",
                        )
                        .label(other.span, "the other step")
                        .help(
                            "make their conditions exclude each other, as in `[[ x > 3 ]]` and `[[ \
                             not(x > 3) ]]`",
                        )
                    }));
                }
            }
        }
        Ok(())
    }

    /// Copies the automaton of the goal into the pool of `model`, with rules for the messages that the goal watches.
    fn import_observer(&mut self, model: &mut Model) -> Observer {
        let rules = self.rules();
        let BuiltPart { model: goal, .. } = &self.built;
        let stages = goal.sts.locations.iter().map(|location| location.name.clone()).collect();
        let mut import = match TermImport::new(&mut model.pool, &goal.pool) {
            Ok(import) => import,
            Err(clash) => unreachable!("one text has one type `{}`", clash.0),
        };
        // The fields of both messages are the same values: the rules speak of those of the model.
        for &(gate, known) in &self.watched {
            let fields = goal.sts.gates[gate].fields.iter().zip(&model.sts.gates[known].fields);
            fields.for_each(|(&field, &image)| import.bind(field, image));
        }
        let mut vars = Vec::with_capacity(goal.sts.vars.len());
        for var in &goal.sts.vars {
            if let Some(init) = var.init {
                vars.push((import.var(var.var), import.term(init)));
            }
        }
        let mut imported = Vec::with_capacity(rules.len());
        for mut rule in rules {
            rule.when = import.term(rule.when);
            for (var, term) in &mut rule.update {
                (*var, *term) = (import.var(*var), import.term(*term));
            }
            imported.push(rule);
        }
        Observer { stages, vars, clocks: Vec::new(), rules: imported }
    }

    /// Returns the rules of the observer, in the terms of the goal.
    fn rules(&mut self) -> Vec<ObserverRule> {
        let switches: Vec<Switch> = self.built.model.sts.switches.iter().cloned().collect();
        let mut rules = Vec::new();
        for switch in &switches {
            if let Some(on) = self.observed_event(switch) {
                self.rules_for(switch, on, &switches, &mut rules);
            }
        }
        let tt = self.built.model.pool.tt();
        // Behind the rules of the steps: a message of the purpose for which no step fits is a miss.
        for (from, location) in self.built.model.sts.locations.iter_enumerated() {
            for &(_, known) in &self.watched {
                rules.push(ObserverRule {
                    from: from.index(),
                    on: ObservedEvent::Message(known),
                    when: tt,
                    update: Vec::new(),
                    resets: Vec::new(),
                    to: ObserverTarget::Miss,
                    span: location.span,
                });
            }
        }
        rules
    }

    /// Adds the rule of a step, after rules for the verdicts of the location it leads to.
    fn rules_for(
        &mut self,
        switch: &Switch,
        on: ObservedEvent,
        all: &[Switch],
        rules: &mut Vec<ObserverRule>,
    ) {
        let rule = |when: Term, to: ObserverTarget| ObserverRule {
            from: switch.source.index(),
            on,
            when,
            update: switch.update.clone(),
            resets: Vec::new(),
            to,
            span: switch.span,
        };
        // `HIT` and `MISS` are no messages. A location that has one decides at once, so its condition is
        // asked with the values that the step leaves.
        let after: Substitution = switch.update.iter().copied().collect();
        let target: LocId = switch.target;
        for end in all.iter().filter(|end| end.source == target) {
            let Some(verdict) = self.verdict_of(end) else { continue };
            let pool = &mut self.built.model.pool;
            let condition = pool.substitute(end.guard, &after);
            rules.push(rule(pool.and2(switch.guard, condition), verdict));
        }
        // Last: the verdicts of the target come before the plain step.
        rules.push(rule(switch.guard, ObserverTarget::Stage(target.index())));
    }
}
