//! Choices in a belief: the switches that can be taken, the conditions on their fields, and values on request.

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::{Belief, Ctx, list_offers, symbolic_offers};

use super::error::WalkError;

/// The number of states whose offers are collected; a larger belief offers what its first states offer. Chosen by
/// feel: each may cost questions, and a click waits for them.
pub const MAX_OFFERING_STATES: usize = 64;

/// A switch that can be taken now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchChoice {
    /// The switch.
    pub switch: SwitchId,
    /// The gate of the switch.
    pub gate: GateId,
    /// The conditions that the values must satisfy; the last is the one on the fields.
    pub facts: Vec<Term>,
    /// True if the solver has neither shown nor refuted that such values exist.
    pub is_doubtful: bool,
}

impl SwitchChoice {
    /// Returns the condition on the fields.
    #[must_use]
    pub fn field_condition(&self) -> Option<Term> {
        self.facts.last().copied()
    }

    /// Returns the message, if the condition fixes every field to a constant and requires nothing else.
    #[must_use]
    pub fn fixed_label(&self, cx: &Ctx<'_>) -> Option<Label> {
        let conjuncts = cx.pool.conjuncts(self.field_condition()?);
        let fields = &cx.sts.gates[self.gate].fields;
        let value =
            |&field: &VarId| conjuncts.iter().find_map(|&conjunct| cx.pool.value_given(conjunct, field));
        let values = fields.iter().map(value).collect::<Option<Vec<Value>>>()?;
        let is_all = conjuncts.iter().all(|&c| cx.pool.is_true(c)) || conjuncts.len() == fields.len();
        Label::message(cx.sts, self.gate, values).filter(|_| is_all)
    }

    /// Returns a message that takes the switch, with the given field values where there are some.
    ///
    /// # Errors
    /// If no values fit, or the solver cannot tell.
    pub fn label_with(&self, cx: &mut Ctx<'_>, given: &[Option<Value>]) -> Result<Label, WalkError> {
        let mut facts = self.facts.clone();
        for (&field, value) in cx.sts.gates[self.gate].fields.iter().zip(given) {
            let Some(value) = value else { continue };
            let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
            facts.push(cx.pool.eq(field, value));
        }
        let valuation = match cx.check(&facts) {
            SolverAnswer::Sat(valuation) => valuation,
            SolverAnswer::Unsat => return Err(WalkError::Impossible),
            SolverAnswer::Unknown(why) => return Err(WalkError::Undecided(why)),
        };
        self.label_from_valuation(cx, &valuation).ok_or(WalkError::Internal)
    }

    /// Returns up to `n` messages that take the switch with different values: first boundary values, then random ones.
    /// The same seed gives the same messages.
    pub fn examples(&self, cx: &mut Ctx<'_>, n: usize, seed: u64) -> Vec<Label> {
        let fields = cx.sts.gates[self.gate].fields.clone();
        if fields.is_empty() {
            return Label::message(cx.sts, self.gate, Vec::new()).into_iter().collect();
        }
        let mut found: Vec<Label> = Vec::new();
        for (policy, up_to) in [(DiversePolicy::Boundary, n.div_ceil(2)), (DiversePolicy::Random, n)] {
            let mut source = DiverseValuations::new(cx.pool, &self.facts, &fields, policy, seed);
            for _ in 0..2 * n {
                if found.len() >= up_to {
                    break;
                }
                let Some(valuation) = source.next(cx.pool, cx.solver) else { break };
                let label = self.label_from_valuation(cx, &valuation);
                found.extend(label.into_iter().filter(|label| !found.contains(label)).collect::<Vec<_>>());
            }
        }
        found
    }

    /// Returns the message with the values of `valuation`, and default values for the fields it lacks.
    fn label_from_valuation(&self, cx: &Ctx<'_>, valuation: &Valuation) -> Option<Label> {
        let value = |field| match valuation.get(field) {
            Some(value) => value.clone(),
            None => cx.pool.default_value(cx.pool.var_info(field).sort),
        };
        let values = cx.sts.gates[self.gate].fields.iter().copied().map(value).collect();
        Label::message(cx.sts, self.gate, values)
    }
}

/// Returns the observable switches that can be taken now, inputs first, each switch and condition once.
pub fn possible_choices(cx: &mut Ctx<'_>, belief: &Belief) -> Vec<SwitchChoice> {
    let visible = |kind| kind != GateKind::Internal;
    let mut found: Vec<SwitchChoice> = Vec::new();
    let mut add = |choice: SwitchChoice| {
        if !found.contains(&choice) {
            found.push(choice);
        }
    };
    match belief {
        Belief::Concrete(states) => {
            for state in states.iter().take(MAX_OFFERING_STATES) {
                for offer in list_offers(cx, state, visible) {
                    let (switch, gate, is_doubtful) = (offer.switch, offer.gate, offer.doubt.is_some());
                    add(SwitchChoice { switch, gate, facts: vec![offer.when], is_doubtful });
                }
            }
        }
        Belief::Symbolic(states) => {
            for state in states.iter().take(MAX_OFFERING_STATES) {
                for offer in symbolic_offers(cx, state, visible) {
                    let facts = state.path.facts().iter().copied().chain([offer.when]).collect();
                    let (switch, gate, is_doubtful) = (offer.switch, offer.gate, offer.doubt.is_some());
                    add(SwitchChoice { switch, gate, facts, is_doubtful });
                }
            }
        }
        Belief::Unspecified => (),
    }
    found.sort_by_key(|choice| (cx.sts.gates[choice.gate].kind, choice.switch));
    found
}
