//! What the stepper shows: the belief, the choices, and why something is forbidden.

use std::io::{self, Write};

use ioxide_model::concrete::State;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use ioxide_report::terminal::explanation;
use ioxide_runner::explain::explanation as explain;
use ioxide_smt::solver::Answer;
use ioxide_symex::{After, Belief, Ctx, Forbidden, SymState, offers, symbolic_offers};

/// States of a belief shown before the rest is only counted.
const MAX_SHOWN: usize = 12;

/// A switch that can be taken now.
#[derive(Clone, Debug)]
pub struct Choice {
    pub switch: SwitchId,
    pub gate: GateId,
    /// What the field values have to satisfy.
    facts: Vec<Term>,
}

impl Choice {
    /// A message that takes the switch, with the given field values where there are some.
    pub fn label(&self, cx: &mut Ctx<'_>, given: &[Option<Value>]) -> Result<Label, String> {
        let fields = cx.sts.gates[self.gate].fields.clone();
        let mut facts = self.facts.clone();
        for (&field, value) in fields.iter().zip(given) {
            let Some(value) = value else { continue };
            let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
            facts.push(cx.pool.eq(field, value));
        }
        let valuation = match cx.check(&facts) {
            Answer::Sat(valuation) => valuation,
            Answer::Unsat => return Err("no values make this possible".into()),
            Answer::Unknown(why) => return Err(format!("{why}; write the values yourself")),
        };
        let value = |field| match valuation.get(field) {
            Some(value) => value.clone(),
            None => cx.pool.default_value(cx.pool.var_info(field).sort),
        };
        let values = fields.into_iter().map(value).collect();
        Label::message(cx.sts, self.gate, values).ok_or_else(|| "an internal step is not observed".into())
    }
}

/// The messages that can come now, inputs first.
pub fn choices(cx: &mut Ctx<'_>, belief: &Belief) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    let visible = |kind| kind != GateKind::Internal;
    match belief {
        Belief::Concrete(states) => {
            for state in states.iter().take(MAX_SHOWN) {
                let offers = offers(cx, state, visible);
                found.extend(offers.into_iter().map(|offer| Choice {
                    switch: offer.switch,
                    gate: offer.gate,
                    facts: vec![offer.when],
                }));
            }
        }
        Belief::Symbolic(states) => {
            for state in states.iter().take(MAX_SHOWN) {
                let offers = symbolic_offers(cx, state, visible);
                found.extend(offers.into_iter().map(|offer| Choice {
                    switch: offer.switch,
                    gate: offer.gate,
                    facts: state.path.facts().iter().copied().chain([offer.when]).collect(),
                }));
            }
        }
        Belief::Unspecified => (),
    }
    let mut unique: Vec<Choice> = Vec::new();
    for choice in found {
        if !unique.iter().any(|other| other.switch == choice.switch && other.facts == choice.facts) {
            unique.push(choice);
        }
    }
    unique.sort_by_key(|choice| (cx.sts.gates[choice.gate].kind, choice.switch));
    unique
}

/// Where the model may be.
pub fn belief(cx: &Ctx<'_>, belief: &Belief, out: &mut impl Write) -> io::Result<()> {
    let total = match belief.size() {
        None => return writeln!(out, "the model says nothing any more; `undo` goes back"),
        Some(1) => 1,
        Some(n) => {
            writeln!(out, "the model may be in one of {n} states:")?;
            n
        }
    };
    match belief {
        Belief::Concrete(states) => {
            for state in states.iter().take(MAX_SHOWN) {
                writeln!(out, "  {}", concrete(cx, state))?;
            }
        }
        Belief::Symbolic(states) => {
            for state in states.iter().take(MAX_SHOWN) {
                writeln!(out, "  {}", symbolic(cx, state))?;
            }
        }
        Belief::Unspecified => (),
    }
    if total > MAX_SHOWN {
        writeln!(out, "  … and {} more", total - MAX_SHOWN)?;
    }
    Ok(())
}

/// `idle  x = 3`.
fn concrete(cx: &Ctx<'_>, state: &State) -> String {
    let value = |(var, value)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value));
    let values: Vec<String> = state.values.iter().map(value).collect();
    format!("{}  {}", cx.sts.locations[state.loc].name, values.join(", ")).trim_end().to_owned()
}

/// `q1  fee = fee@0 where fee@0 > 0`.
fn symbolic(cx: &Ctx<'_>, state: &SymState) -> String {
    let value = |(var, term)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show(term));
    let values: Vec<String> = state.store.iter(cx.sts).map(value).collect();
    let facts: Vec<String> = state.path.facts().iter().map(|fact| cx.pool.show(*fact).to_string()).collect();
    let path = if facts.is_empty() { String::new() } else { format!(" where {}", facts.join(" && ")) };
    format!("{}  {}{path}", cx.sts.locations[state.loc].name, values.join(", "))
}

/// What can happen now.
pub fn menu(cx: &mut Ctx<'_>, after: &After, choices: &[Choice], out: &mut impl Write) -> io::Result<()> {
    for (i, choice) in choices.iter().enumerate() {
        let switch = &cx.sts.switches[choice.switch];
        let gate = &cx.sts.gates[choice.gate];
        let mark = if gate.kind == GateKind::Output { '!' } else { '?' };
        let fields: Vec<String> =
            gate.fields.iter().map(|field| cx.pool.var_info(*field).name.to_string()).collect();
        let fields = if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
        let guard = choice.facts.last().copied().unwrap_or(switch.guard);
        let guard =
            if cx.pool.is_true(guard) { String::new() } else { format!("  when {}", cx.pool.show(guard)) };
        let target = &cx.sts.locations[switch.target].name;
        writeln!(out, "{:>4}  {mark}{}{fields}{guard}  [{} -> {target}]", i + 1, gate.name, switch.label)?;
    }
    if after.accepts(cx, &Label::Quiescence) {
        writeln!(out, "      quiet  silence is allowed")?;
    }
    Ok(())
}

/// Why a message was not possible.
pub fn forbidden(cx: &mut Ctx<'_>, forbidden: &Forbidden, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "forbidden")?;
    explanation(&explain(cx, forbidden), out)
}
