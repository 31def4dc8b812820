//! Labels: one observable step of a trace.

use crate::name::source_name;
use crate::number::Rational;
use crate::sts::{GateId, GateKind, Sts};
use crate::term::TermPool;
use crate::value::Value;

/// The name of the empty answer: quiescence right after an input.
pub const SILENCE: &str = "δ";

/// An observation at the boundary of a system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// A message to the system, from the tester or from another party.
    Input(GateId, Vec<Value>),
    /// A message from the system.
    Output(GateId, Vec<Value>),
    /// Quiescence (δ): the system stays silent until it receives an input.
    Quiescence,
    /// Time that passes without a message, in seconds.
    Delay(Rational),
}

impl Label {
    /// The message `gate(values)` with the direction the gate has; `None` for the internal gate.
    #[must_use]
    pub fn message(sts: &Sts, gate: GateId, values: Vec<Value>) -> Option<Self> {
        match sts.gates[gate].kind {
            GateKind::Internal => None,
            GateKind::Input | GateKind::Observed => Some(Self::Input(gate, values)),
            GateKind::Output => Some(Self::Output(gate, values)),
        }
    }

    /// Returns the label as text: `?coin(n: 3)`, `!tea`, `δ`, `+1.5s`.
    #[must_use]
    pub fn show(&self, pool: &TermPool, sts: &Sts) -> String {
        let message = |mark: char, gate: &GateId, values: &[Value]| {
            let gate = &sts.gates[*gate];
            let field = |(var, value)| format!("{}: {}", pool.var_info(var).name, pool.show_value(value));
            let fields: Vec<String> = gate.fields.iter().copied().zip(values).map(field).collect();
            if fields.is_empty() {
                format!("{mark}{}", gate.name)
            } else {
                format!("{mark}{}({})", gate.name, fields.join(", "))
            }
        };
        match self {
            Self::Input(gate, values) => message('?', gate, values),
            Self::Output(gate, values) => message('!', gate, values),
            Self::Quiescence => "δ".into(),
            Self::Delay(time) => format!("+{}s", readable(time)),
        }
    }
}

/// Returns the name of a message as the text of a model declares it: in backquotes if it needs them. The language has
/// one name for one message, so an output that is called like an input has `_out` behind it.
#[must_use]
pub fn source_message_name(sts: &Sts, gate: GateId) -> String {
    let own = &sts.gates[gate];
    let mut name = own.name.to_string();
    let is_taken = |name: &str| {
        let mut others = sts.gates.iter_enumerated().filter(|(id, _)| *id != gate);
        others.any(|(_, other)| *other.name == *name)
    };
    while own.kind == GateKind::Output && is_taken(&name) {
        name.push_str("_out");
    }
    source_name(&name).into_owned()
}

/// Returns a message as the text of a model has it behind `on` and `emit`; empty for silence and delays.
#[must_use]
pub fn source_message(pool: &TermPool, sts: &Sts, label: &Label) -> String {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { return String::new() };
    let field = |(&var, value): (_, &Value)| {
        format!("{}: {}", source_name(&pool.var_info(var).name), pool.show_value(value))
    };
    let fields: Vec<String> = sts.gates[*gate].fields.iter().zip(values).map(field).collect();
    let name = source_message_name(sts, *gate);
    if fields.is_empty() { name } else { format!("{name}({})", fields.join(", ")) }
}

/// Returns the name of an input: the message as people write it, without a mark for its direction.
#[must_use]
pub fn input_name(pool: &TermPool, sts: &Sts, label: &Label) -> String {
    label.show(pool, sts).trim_start_matches(['?', '!']).to_owned()
}

/// Returns the name of an answer: its messages, or [`SILENCE`].
#[must_use]
pub fn answer_name(pool: &TermPool, sts: &Sts, answer: &[Label]) -> String {
    match answer {
        [] => SILENCE.to_owned(),
        _ => answer.iter().map(|label| input_name(pool, sts, label)).collect::<Vec<_>>().join(", "),
    }
}

/// Returns seconds as text, cut to six decimals.
#[must_use]
pub fn readable(time: &Rational) -> String {
    let million = Rational::from(1_000_000);
    let cut = Rational::from((time * &million).floor()).div(&million);
    cut.to_string().trim_end_matches(".0").to_owned()
}

/// Returns the only switch in `explaining`, the switches that explain a label; `None` if there are several, or none.
///
/// Coverage, testers and reports all mean this by *certain*; where several explain a label each was *possibly* taken.
#[must_use]
pub fn certain_switch<S>(explaining: &[S]) -> Option<&S> {
    if let [only] = explaining { Some(only) } else { None }
}
