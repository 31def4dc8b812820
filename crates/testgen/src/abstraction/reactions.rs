//! The reactions of a state until quiescence (\[FTW05] Def. 15): every sequence of outputs with the quiescent state
//! that it ends in.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::GateKind;
use ioxide_symex::{Ctx, list_offers};

use super::values::values;
use super::{FlattenLimits, NotFinite};

/// Outputs in order, and the quiescent state after them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QuiescentReply {
    pub(super) outputs: Vec<Label>,
    pub(super) state: ConcreteState,
}

/// One output or internal step.
struct Reaction {
    label: Option<Label>,
    state: ConcreteState,
}

/// The answers of states, each computed once.
pub(super) struct StateReplies<'l> {
    limits: &'l FlattenLimits,
    known: BTreeMap<ConcreteState, Rc<[QuiescentReply]>>,
}

/// The states between an input and now, with the number of outputs before each.
type ReactionStates = Vec<(ConcreteState, usize)>;

impl<'l> StateReplies<'l> {
    /// Makes an empty memory.
    pub(super) fn new(limits: &'l FlattenLimits) -> Self {
        Self { limits, known: BTreeMap::new() }
    }

    /// Returns every answer of `state`, sorted; the only answer of a quiescent state is empty and leads to the state
    /// itself.
    pub(super) fn replies_in(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &ConcreteState,
    ) -> Result<Rc<[QuiescentReply]>, NotFinite> {
        self.replies_along(cx, state, &mut ReactionStates::new(), 0)
    }

    /// Returns the answers as [`replies_in`](Self::replies_in) does, `outputs` outputs after the first state of `way`.
    fn replies_along(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &ConcreteState,
        way: &mut ReactionStates,
        n_outputs: usize,
    ) -> Result<Rc<[QuiescentReply]>, NotFinite> {
        if let Some(known) = self.known.get(state) {
            return Ok(Rc::clone(known));
        }
        self.refuse_endless(cx, state, way, n_outputs)?;
        way.push((state.clone(), n_outputs));
        let mut answers = BTreeSet::new();
        let reactions = self.reactions(cx, state)?;
        if reactions.is_empty() {
            answers.insert(QuiescentReply { outputs: Vec::new(), state: state.clone() });
        }
        // The recursion is as deep as a reaction is long, which `refuse_endless` bounds.
        for Reaction { label, state } in reactions {
            let rest = self.replies_along(cx, &state, way, n_outputs + usize::from(label.is_some()))?;
            let whole = |answer: &QuiescentReply| QuiescentReply {
                outputs: label.iter().chain(&answer.outputs).cloned().collect(),
                state: answer.state.clone(),
            };
            answers.extend(rest.iter().map(whole));
            if answers.len() > self.limits.values {
                let location = location(cx, &state);
                return Err(NotFinite::TooManyReactions { location, limit: self.limits.values });
            }
        }
        way.pop();
        let answers: Rc<[QuiescentReply]> = answers.into_iter().collect();
        // Only complete answers are remembered: while `way` is walked, those of the states on it are not known yet.
        self.known.insert(state.clone(), Rc::clone(&answers));
        Ok(answers)
    }

    fn refuse_endless(
        &self,
        cx: &Ctx<'_>,
        state: &ConcreteState,
        way: &ReactionStates,
        n_outputs: usize,
    ) -> Result<(), NotFinite> {
        let location = || location(cx, state);
        // The same state with more outputs behind it: it can go round and send for ever. Without more
        // outputs, the round is of internal steps alone.
        match way.iter().find(|(before, _)| before == state) {
            Some(&(_, then)) if then < n_outputs => Err(NotFinite::EndlessOutputs { location: location() }),
            Some(_) => Err(NotFinite::Divergence { location: location() }),
            None if way.len() >= self.limits.reactions => {
                Err(NotFinite::TooManyReactions { location: location(), limit: self.limits.reactions })
            }
            None => Ok(()),
        }
    }

    /// Every output and internal step of `state`.
    fn reactions(&self, cx: &mut Ctx<'_>, state: &ConcreteState) -> Result<Vec<Reaction>, NotFinite> {
        let sts = cx.sts;
        let mut found = Vec::new();
        for offer in list_offers(cx, state, |kind| matches!(kind, GateKind::Output | GateKind::Internal)) {
            let switch = &sts.switches[offer.switch];
            for values in values(cx, &offer, self.limits.values)? {
                let state = concrete::successor(cx.pool, sts, state, switch, &values)
                    .map_err(|_| NotFinite::NoValue { what: switch.label.to_string() })?;
                found.push(Reaction { label: Label::message(sts, offer.gate, values), state });
            }
        }
        Ok(found)
    }
}

/// The name of the location of a state.
fn location(cx: &Ctx<'_>, state: &ConcreteState) -> String {
    cx.sts.locations[state.loc].name.to_string()
}
