//! What can come next in a belief: switches, the values they can be taken with, and values on request.

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::{Belief, Ctx, offers, symbolic_offers};

/// States whose offers are collected; a belief of more states offers what these offer.
pub const MAX_STATES: usize = 64;

/// A switch that can be taken now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchChoice {
    /// The switch.
    pub switch: SwitchId,
    /// Its gate.
    pub gate: GateId,
    /// What the field values have to satisfy; the last is about the fields.
    pub facts: Vec<Term>,
    /// Nothing shows that there are such values, and nothing refutes it.
    pub is_doubtful: bool,
}

impl SwitchChoice {
    /// The condition on the fields.
    #[must_use]
    pub fn when(&self) -> Option<Term> {
        self.facts.last().copied()
    }

    /// The message, if the condition leaves only one: every field has a constant, and nothing else is asked.
    #[must_use]
    pub fn fixed(&self, cx: &Ctx<'_>) -> Option<Label> {
        let conjuncts = cx.pool.conjuncts(self.when()?);
        let fields = &cx.sts.gates[self.gate].fields;
        let value =
            |&field: &VarId| conjuncts.iter().find_map(|&conjunct| cx.pool.value_given(conjunct, field));
        let values = fields.iter().map(value).collect::<Option<Vec<Value>>>()?;
        let is_all = conjuncts.iter().all(|&c| cx.pool.is_true(c)) || conjuncts.len() == fields.len();
        Label::message(cx.sts, self.gate, values).filter(|_| is_all)
    }

    /// A message that takes the switch, with the given field values where there are some.
    ///
    /// # Errors
    /// If no values fit, or the solver does not say; for people.
    pub fn label(&self, cx: &mut Ctx<'_>, given: &[Option<Value>]) -> Result<Label, String> {
        let mut facts = self.facts.clone();
        for (&field, value) in cx.sts.gates[self.gate].fields.iter().zip(given) {
            let Some(value) = value else { continue };
            let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
            facts.push(cx.pool.eq(field, value));
        }
        let valuation = match cx.check(&facts) {
            SolverAnswer::Sat(valuation) => valuation,
            SolverAnswer::Unsat => return Err("no values make this possible".into()),
            SolverAnswer::Unknown(why) => return Err(format!("{why}; write the values yourself")),
        };
        self.with(cx, &valuation).ok_or_else(|| "an internal step is not observed".into())
    }

    /// Up to `n` messages that take the switch, with values that differ: first those at the edges of
    /// what is allowed, then values from in between. The same for the same seed.
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
                let label = self.with(cx, &valuation);
                found.extend(label.into_iter().filter(|label| !found.contains(label)).collect::<Vec<_>>());
            }
        }
        found
    }

    /// The message with the values of `valuation`, plain ones where it says nothing.
    fn with(&self, cx: &Ctx<'_>, valuation: &Valuation) -> Option<Label> {
        let value = |field| match valuation.get(field) {
            Some(value) => value.clone(),
            None => cx.pool.default_value(cx.pool.var_info(field).sort),
        };
        let values = cx.sts.gates[self.gate].fields.iter().copied().map(value).collect();
        Label::message(cx.sts, self.gate, values)
    }
}

/// The messages that can come now, inputs first, each switch and condition once.
pub fn choices(cx: &mut Ctx<'_>, belief: &Belief) -> Vec<SwitchChoice> {
    let visible = |kind| kind != GateKind::Internal;
    let mut found: Vec<SwitchChoice> = Vec::new();
    let mut add = |choice: SwitchChoice| {
        if !found.contains(&choice) {
            found.push(choice);
        }
    };
    match belief {
        Belief::Concrete(states) => {
            for state in states.iter().take(MAX_STATES) {
                for offer in offers(cx, state, visible) {
                    let (switch, gate, is_doubtful) = (offer.switch, offer.gate, offer.doubt.is_some());
                    add(SwitchChoice { switch, gate, facts: vec![offer.when], is_doubtful });
                }
            }
        }
        Belief::Symbolic(states) => {
            for state in states.iter().take(MAX_STATES) {
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
