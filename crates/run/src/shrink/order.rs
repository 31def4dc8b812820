//! The one order that shrinking follows, by which a plan is smaller than another.
//!
//! Shortlex, as in Hypothesis: a plan with fewer moves is smaller; of two with as many, the first move in which they
//! differ decides. A look is smaller than an input, an input at once smaller than one after a while, and of two inputs
//! with the same message the one whose first different value is simpler. Simple is near to zero, short, early in the
//! alphabet or in the declaration; a literal is simpler than a reference to a reply, and all references are alike.
//!
//! *Promises.* The order is total up to the length of waits, which a clock never repeats exactly, and well-founded:
//! a search from smaller to smaller plans ends; also if [runs that wait less](is_sooner) are taken in between,
//! since each of them waits for less than half as long.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use ioxide_model::collection::CollectionValue;
use ioxide_model::label::Label;
use ioxide_model::number::{Int, Rational};
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::{PlannedInput, PlannedMove};

/// Compares two plans; `Less` if `a` is smaller.
pub(super) fn compare(a: &[PlannedMove], b: &[PlannedMove]) -> Ordering {
    let moves = || a.iter().zip(b).map(|(a, b)| moves(a, b)).find(|order| order.is_ne());
    a.len().cmp(&b.len()).then_with(|| moves().unwrap_or(Ordering::Equal))
}

/// Returns whether `a` has the moves of `b`, or smaller ones, and waits for less than half as long, where `b` waits for
/// more than a second: on a real clock every input comes a moment after the last message, so that no order of moves can
/// tell an input at once from one after a while.
pub(super) fn is_sooner(a: &[PlannedMove], b: &[PlannedMove]) -> bool {
    let (waits, others) = (total_wait(a), total_wait(b));
    let is_sooner = others > Rational::from(1) && &waits + &waits < others;
    is_sooner && compare(&without_waits(a), &without_waits(b)) != Ordering::Greater
}

/// Returns the seconds before the inputs of a plan.
fn total_wait(plan: &[PlannedMove]) -> Rational {
    plan.iter().fold(Rational::from(0), |sum, planned| match planned {
        PlannedMove::SendAfter(wait, _) => &sum + wait,
        PlannedMove::Send(_) | PlannedMove::Observe | PlannedMove::ObserveFor(_) => sum,
    })
}

/// Returns the plan with every input at once.
pub(super) fn without_waits(plan: &[PlannedMove]) -> Vec<PlannedMove> {
    let at_once = |planned: &PlannedMove| match planned {
        PlannedMove::SendAfter(_, input) => PlannedMove::Send(input.clone()),
        other => other.clone(),
    };
    plan.iter().map(at_once).collect()
}

/// Orders moves by how simple they are: looking before sending.
fn moves(a: &PlannedMove, b: &PlannedMove) -> Ordering {
    let kind = |planned: &PlannedMove| match planned {
        PlannedMove::Observe => 0,
        PlannedMove::ObserveFor(_) => 1,
        PlannedMove::Send(_) => 2,
        PlannedMove::SendAfter(..) => 3,
    };
    kind(a).cmp(&kind(b)).then_with(|| match (a.input(), b.input()) {
        (Some(a), Some(b)) => compare_inputs(a, b),
        _ => Ordering::Equal,
    })
}

/// Returns the message that a move sends; `None` if it only observes.
pub(super) fn message_of_move(planned: &PlannedMove) -> Option<&Label> {
    match planned {
        PlannedMove::Send(input) | PlannedMove::SendAfter(_, input) => Some(&input.label),
        PlannedMove::Observe | PlannedMove::ObserveFor(_) => None,
    }
}

/// Orders inputs by message, then by how simple their values are, field by field.
fn compare_inputs(a: &PlannedInput, b: &PlannedInput) -> Ordering {
    match (&a.label, &b.label) {
        (Label::Input(gate, values), Label::Input(other, others)) => gate.cmp(other).then_with(|| {
            let fields = values.iter().zip(others).enumerate().map(|(at, (x, y))| {
                match (a.is_bound(at), b.is_bound(at)) {
                    (false, false) => simplicity(x, y),
                    // The value of a reference is another one in every run.
                    (true, true) => Ordering::Equal,
                    (is_bound, other) => is_bound.cmp(&other),
                }
            });
            values.len().cmp(&others.len()).then_with(|| first_difference(fields))
        }),
        // Nobody sends anything but inputs.
        _ => Ordering::Equal,
    }
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Returns the plan without what differs between runs of the same meaning: the values of references, the numbers of
/// inputs, the steps at which replies came, and waits of at most `least_wait` seconds, which a real clock adds by
/// itself.
pub(super) fn meaning(plan: &[PlannedMove], least_wait: &Rational) -> Vec<PlannedMove> {
    let mut plan = plan.to_vec();
    for planned in &mut plan {
        *planned = match planned {
            PlannedMove::SendAfter(wait, input) if *wait <= *least_wait => PlannedMove::Send(input.clone()),
            PlannedMove::SendAfter(wait, input) => {
                PlannedMove::SendAfter(round_wait(wait, least_wait), input.clone())
            }
            PlannedMove::ObserveFor(time) => PlannedMove::ObserveFor(round_wait(time, least_wait)),
            PlannedMove::Send(_) | PlannedMove::Observe => continue,
        };
    }
    let numbers: BTreeMap<usize, usize> =
        plan.iter().filter_map(PlannedMove::input).map(|input| input.number).zip(0..).collect();
    for input in plan.iter_mut().filter_map(PlannedMove::input_mut) {
        input.number = 0;
        let PlannedInput { label, references, .. } = input;
        // From the last to the first, so that the bytes of earlier parts of a text stay where they are.
        for reference in references.iter_mut().rev() {
            // A reply that the plan does not lead to keeps its number, which is not a number of an input here.
            let after =
                reference.reply.after.map(|number| numbers.get(&number).copied().unwrap_or(usize::MAX));
            (reference.reply.after, reference.step) = (after, 0);
            let span = reference.span.take();
            let Label::Input(_, values) = label else { continue };
            let value = &mut values[reference.place[0]];
            *value = match (span, &*value) {
                // The text around the part that is replaced is a literal.
                (Some(span), Value::Str(text)) if reference.place.len() == 1 => {
                    Value::str(&format!("{}\u{0}{}", &text[..span.start], &text[span.end..]))
                }
                _ => Value::Bool(false),
            };
        }
    }
    plan
}

/// Returns a wait rounded to a multiple of `least_wait`; as it is if that is zero.
fn round_wait(wait: &Rational, least_wait: &Rational) -> Rational {
    if *least_wait <= Rational::ZERO {
        return wait.clone();
    }
    &Rational::from(wait.div(least_wait).floor()) * least_wait
}

fn all_values(a: &[Value], b: &[Value]) -> Ordering {
    let first = || a.iter().zip(b).map(|(a, b)| simplicity(a, b)).find(|order| order.is_ne());
    a.len().cmp(&b.len()).then_with(|| first().unwrap_or(Ordering::Equal))
}

/// Compares two values of the same sort; `Less` if `a` is simpler.
pub(super) fn simplicity(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => distance_key(a).cmp(&distance_key(b)),
        (Value::Real(a), Value::Real(b)) => {
            let key = |r: &Rational| (r.denom().clone(), distance_key(r.numer()));
            key(a).cmp(&key(b))
        }
        (Value::Str(a), Value::Str(b)) => {
            let key = |text: &str| (text.chars().count(), text.chars().map(letter).collect::<Vec<_>>());
            key(a).cmp(&key(b))
        }
        (Value::Data(a), Value::Data(b)) => {
            let size = |data| value_size(&Value::Data(data));
            size(a.clone())
                .cmp(&size(b.clone()))
                .then(a.ctor.cmp(&b.ctor))
                .then_with(|| all_values(&a.args, &b.args))
        }
        (Value::Collection(x), Value::Collection(y)) => {
            let parts = |items: &CollectionValue| items.parts().cloned().collect::<Vec<_>>();
            (x.len(), value_size(a))
                .cmp(&(y.len(), value_size(b)))
                .then_with(|| all_values(&parts(x), &parts(y)))
        }
        _ => a.cmp(b),
    }
}

/// Returns the distance from zero as a key; of two opposite numbers, the positive one comes first.
fn distance_key(n: &Int) -> (Int, bool) {
    (n.abs(), n.is_negative())
}

/// Letters before everything else, `a` first.
fn letter(c: char) -> (u8, char) {
    let class = match c {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        ' '..='~' => 3,
        _ => 4,
    };
    (class, c)
}

/// Returns the number of values that a value consists of, itself included.
fn value_size(value: &Value) -> usize {
    match value {
        Value::Data(data) => 1 + data.args.iter().map(value_size).sum::<usize>(),
        Value::Collection(items) => 1 + items.parts().map(value_size).sum::<usize>(),
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => 1,
    }
}
