//! A switch in the words of the modelling language: message, guard, updates, resets.
//!
//! A guard that says `field == term` for a field of the gate is read as a *pin*, and is
//! written inside the message: `!outX(p: x)` instead of `!outX(p)` when `p == x`. The
//! meaning is the same; the guard shows only the conjuncts that are not pins.
//!
//! *Promises* that message, guard and range together say what the switch's guard says: a
//! conjunct is in exactly one of the three.

use ioxide_model::sts::{GateKind, Model, Switch};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};

use crate::control_characters::show_control_characters;

/// A switch in words; every text is on one line and has no hidden characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchText {
    /// Its stable name.
    pub label: String,
    /// Mark, gate and fields: `?inX(p)`, `!outX(p: x)`, `τ`.
    pub message: String,
    /// The conjuncts of the guard that are not pins and not range obligations.
    pub guard: Vec<String>,
    /// The conjuncts of the guard that only keep updated variables in their ranges.
    pub range: Vec<String>,
    /// Variable and new value, in order.
    pub updates: Vec<(String, String)>,
    /// The clocks set to 0.
    pub resets: Vec<String>,
}

/// `switch` of `model` in words.
#[must_use]
pub fn describe_switch(model: &Model, switch: &Switch) -> SwitchText {
    let pool = &model.pool;
    let range_check = switch.range_check.map(|term| pool.conjuncts(term)).unwrap_or_default();
    let (range, rest): (Vec<Term>, Vec<Term>) =
        pool.conjuncts(switch.guard).into_iter().partition(|conjunct| range_check.contains(conjunct));
    let (pins, guard) = split_pins(pool, &model.sts.gates[switch.gate].fields, rest);
    SwitchText {
        label: show_control_characters(&switch.label),
        message: message_text(model, switch, &pins),
        guard: guard.iter().map(|&conjunct| show_conjunct(pool, conjunct, guard.len())).collect(),
        range: range.iter().map(|&conjunct| show_conjunct(pool, conjunct, range.len())).collect(),
        updates: switch
            .update
            .iter()
            .map(|&(var, value)| (var_name(pool, var), term_text(pool, value)))
            .collect(),
        resets: switch.resets.iter().map(|&clock| var_name(pool, clock)).collect(),
    }
}

/// The name of a variable, safe to show.
#[must_use]
pub fn var_name(pool: &TermPool, var: VarId) -> String {
    show_control_characters(&pool.var_info(var).name)
}

/// A term as people write it, safe to show.
#[must_use]
pub fn term_text(pool: &TermPool, term: Term) -> String {
    show_control_characters(&pool.show(term).to_string())
}

/// Returns the word of the modelling language for the kind of a gate.
#[must_use]
pub fn kind_word(kind: GateKind) -> &'static str {
    match kind {
        GateKind::Internal => "internal",
        GateKind::Input => "input",
        GateKind::Observed => "observed input",
        GateKind::Output => "output",
    }
}

/// A field and the term it must equal.
struct FieldPin {
    field: VarId,
    value: String,
}

/// The pins among `conjuncts`, at most one per field, and the other conjuncts.
fn split_pins(pool: &TermPool, fields: &[VarId], conjuncts: Vec<Term>) -> (Vec<FieldPin>, Vec<Term>) {
    let mut pins: Vec<FieldPin> = Vec::new();
    let mut rest = Vec::new();
    for conjunct in conjuncts {
        match to_pin(pool, fields, conjunct) {
            Some(pin) if pins.iter().all(|other| other.field != pin.field) => pins.push(pin),
            _ => rest.push(conjunct),
        }
    }
    (pins, rest)
}

/// `conjunct` as `field == term` where the term mentions no field, or as a Boolean field.
fn to_pin(pool: &TermPool, fields: &[VarId], conjunct: Term) -> Option<FieldPin> {
    let field = |term: Term| match pool.node(term) {
        TermNode::Var(var) if fields.contains(var) => Some(*var),
        _ => None,
    };
    let free = |term: Term| pool.free_vars(term).iter().all(|var| !fields.contains(var));
    match pool.node(conjunct) {
        TermNode::Eq(a, b) => [(*a, *b), (*b, *a)]
            .into_iter()
            .filter(|&(_, value)| free(value))
            .find_map(|(side, value)| Some(FieldPin { field: field(side)?, value: term_text(pool, value) })),
        TermNode::Not(inner) => Some(FieldPin { field: field(*inner)?, value: "false".into() }),
        TermNode::Var(_) => Some(FieldPin { field: field(conjunct)?, value: "true".into() }),
        _ => None,
    }
}

fn message_text(model: &Model, switch: &Switch, pins: &[FieldPin]) -> String {
    let gate = &model.sts.gates[switch.gate];
    let mark = match gate.kind {
        GateKind::Internal => return "τ".into(),
        GateKind::Input | GateKind::Observed => '?',
        GateKind::Output => '!',
    };
    let field = |&field: &VarId| {
        let name = var_name(&model.pool, field);
        match pins.iter().find(|pin| pin.field == field) {
            Some(pin) => format!("{name}: {}", pin.value),
            None => name,
        }
    };
    let fields: Vec<String> = gate.fields.iter().map(field).collect();
    if fields.is_empty() {
        format!("{mark}{}", show_control_characters(&gate.name))
    } else {
        format!("{mark}{}({})", show_control_characters(&gate.name), fields.join(", "))
    }
}

/// A conjunct that will stand beside `n - 1` others with `&&` between them.
fn show_conjunct(pool: &TermPool, conjunct: Term, n: usize) -> String {
    let text = term_text(pool, conjunct);
    match pool.node(conjunct) {
        TermNode::Or(_) | TermNode::Ite(..) | TermNode::Exists(..) if n > 1 => format!("({text})"),
        TermNode::Not(inner) if n > 1 && matches!(pool.node(*inner), TermNode::Exists(..)) => {
            format!("({text})")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::sort::Sort;
    use ioxide_model::sts::GateKind;

    use super::*;
    use crate::samples::SampleModelBuilder;

    #[test]
    fn an_equality_on_a_field_is_a_pin_and_the_rest_a_guard() {
        check(|b, p, x| b.pool().eq(p, x), "!out(p: x, q)", &[]);
        check(|b, p, x| b.pool().eq(x, p), "!out(p: x, q)", &[]);
        check(|b, p, x| b.pool().lt(p, x), "!out(p, q)", &["p < x"]);
        check(
            |b, p, x| {
                let one = b.pool().int(1);
                let next = b.pool().add2(x, one);
                let (pin, above) = (b.pool().eq(p, next), b.pool().gt(x, one));
                b.pool().and2(pin, above)
            },
            "!out(p: x + 1, q)",
            &["x > 1"],
        );
    }

    #[test]
    fn a_second_equality_or_one_with_fields_inside_stays_in_the_guard() {
        check(
            |b, p, x| {
                let two = b.pool().int(2);
                let (first, second) = (b.pool().eq(p, x), b.pool().eq(p, two));
                b.pool().and2(first, second)
            },
            "!out(p: x, q)",
            &["p == 2"],
        );
        check(
            |b, p, _| {
                let double = b.pool().add2(p, p);
                b.pool().eq(p, double)
            },
            "!out(p, q)",
            &["p == 2 * p"],
        );
    }

    #[test]
    fn a_boolean_field_is_pinned_by_itself_or_its_negation() {
        let mut b = SampleModelBuilder::new("m", "s");
        let ok = b.gate("out", GateKind::Output, &[("ok", Sort::Bool)]);
        let field = b.field(ok, 0);
        let not = b.pool().not(field);
        b.switch("a", "s", ok, field, "s");
        b.switch("b", "s", ok, not, "s");
        let model = b.build();
        let texts: Vec<String> =
            model.sts.switches.iter().map(|switch| describe_switch(&model, switch).message).collect();
        assert_eq!(texts, ["!out(ok: true)", "!out(ok: false)"]);
    }

    #[test]
    fn a_disjunction_beside_another_conjunct_is_in_parentheses() {
        check(
            |b, p, x| {
                let (less, more) = (b.pool().lt(p, x), b.pool().gt(p, x));
                b.pool().or2(less, more)
            },
            "!out(p, q)",
            &["p < x || x < p"],
        );
        check(
            |b, p, x| {
                let ten = b.pool().int(10);
                let (less, more, small) = (b.pool().lt(p, x), b.pool().gt(p, x), b.pool().lt(x, ten));
                let either = b.pool().or2(less, more);
                b.pool().and2(either, small)
            },
            "!out(p, q)",
            &["x < 10", "(p < x || x < p)"],
        );
    }

    #[test]
    fn range_obligations_stand_apart() {
        let mut b = SampleModelBuilder::new("m", "s");
        let gate = b.gate("go", GateKind::Input, &[]);
        let x = b.var("x", Sort::Range { lo: 0, hi: 3 }, Some(0));
        let (one, three) = (b.pool().int(1), b.pool().int(3));
        let next = b.pool().add2(x, one);
        let (range, written) = (b.pool().le(next, three), b.pool().ge(x, one));
        let guard = b.pool().and2(range, written);
        b.switch("a", "s", gate, guard, "s").set("x", next).range_check(range);
        let model = b.build();
        let text = describe_switch(&model, model.sts.switches.iter().next().unwrap());
        assert_eq!(text.guard, ["x >= 1"]);
        assert_eq!(text.range, [term_text(&model.pool, range)]);
        assert_eq!(text.updates, [("x".to_owned(), "x + 1".to_owned())]);
    }

    #[track_caller]
    fn check(guard: impl FnOnce(&mut SampleModelBuilder, Term, Term) -> Term, message: &str, rest: &[&str]) {
        let mut b = SampleModelBuilder::new("m", "s");
        let gate = b.gate("out", GateKind::Output, &[("p", Sort::Int), ("q", Sort::Int)]);
        let (p, x) = (b.field(gate, 0), b.var("x", Sort::Int, Some(0)));
        let guard = guard(&mut b, p, x);
        b.switch("a", "s", gate, guard, "s");
        let model = b.build();
        let text = describe_switch(&model, model.sts.switches.iter().next().unwrap());
        assert_eq!(text.message, message);
        assert_eq!(text.guard, rest);
    }
}
