//! The output of the plain stepper: the belief and the choices.

use std::io::{self, Write};

use ioxide_explorer::walk::ModelWalk;
use ioxide_explorer::walk::choices::SwitchChoice;
use ioxide_model::concrete::ConcreteState;
use ioxide_model::sts::GateKind;
use ioxide_symex::{Belief, Ctx, SymState};

/// States of a belief shown before the rest is only counted. Chosen by feel: more is not read.
const MAX_SHOWN: usize = 12;

/// Writes the states the model may be in, the first [`MAX_SHOWN`] of them.
pub(crate) fn belief(cx: &Ctx<'_>, belief: &Belief, out: &mut impl Write) -> io::Result<()> {
    let total = match belief.count_states() {
        None => {
            return writeln!(
                out,
                "the model has no transition for the last input, so everything is allowed; `undo` goes back"
            );
        }
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
                writeln!(out, "  {}", symbolic_text(cx, state))?;
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
fn concrete(cx: &Ctx<'_>, state: &ConcreteState) -> String {
    let value = |(var, value)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value));
    let values: Vec<String> =
        state.values.iter().filter(|(var, _)| cx.sts.is_data(*var)).map(value).collect();
    format!("{}  {}", state.place_text(cx.sts), values.join(", ")).trim_end().to_owned()
}

/// `q1  fee = fee@0 where fee@0 > 0`.
fn symbolic_text(cx: &Ctx<'_>, state: &SymState) -> String {
    let values = state.value_texts(cx);
    let facts: Vec<String> = state.path.facts().iter().map(|fact| cx.pool.show(*fact).to_string()).collect();
    let path = if facts.is_empty() { String::new() } else { format!(" where {}", facts.join(" && ")) };
    format!("{}  {}{path}", state.location_text(cx), values.join(", "))
}

/// Writes the choices by number, and whether silence is allowed.
pub(crate) fn menu(
    walk: &mut ModelWalk<'_>,
    choices: &[SwitchChoice],
    out: &mut impl Write,
) -> io::Result<()> {
    let cx = &walk.cx;
    for (i, choice) in choices.iter().enumerate() {
        let switch = &cx.sts.switches[choice.switch];
        let gate = &cx.sts.gates[choice.gate];
        let mark = if gate.kind == GateKind::Output { '!' } else { '?' };
        let fields: Vec<String> =
            gate.fields.iter().map(|field| cx.pool.var_info(*field).name.to_string()).collect();
        let fields = if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) };
        let guard = choice.field_condition().unwrap_or(switch.guard);
        let guard =
            if cx.pool.is_true(guard) { String::new() } else { format!("  when {}", cx.pool.show(guard)) };
        let target = &cx.sts.locations[switch.target].name;
        writeln!(out, "{:>4}  {mark}{}{fields}{guard}  [{} -> {target}]", i + 1, gate.name, switch.label)?;
    }
    if walk.may_be_silent() {
        writeln!(out, "      quiet  silence is allowed")?;
    }
    Ok(())
}
