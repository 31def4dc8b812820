//! The inputs of a run that have to do with the failing one: those that name the same thing.
//!
//! Most faults concern one item, and most messages name theirs: by its key, the id that the system gave it, or its
//! text. So the inputs that share a value with the failing one, or whose replies do, are a candidate, and so are
//! those that share one with these, and so on. A value that many messages have (a priority, a small amount) names
//! nothing and does not count. This is a guess, and a wrong one costs a run.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;

/// The share of the inputs that may have a value which names a thing, as a divisor. Chosen by feel: with 16 keys a
/// key is in one input of 16, and a truth value or one of three priorities in every second or third.
const NAME_SHARE: usize = 4;
/// The number of inputs that may have such a value in any case: in a short run every value is in a great share of them.
const LEAST_UNCOMMON: usize = 3;

/// Returns the values of each input of `trace` with those of the messages up to the next one.
pub(super) fn values_by_input(sts: &Sts, trace: &Trace) -> Vec<BTreeSet<Value>> {
    let mut values: Vec<BTreeSet<Value>> = Vec::new();
    for label in &trace.labels {
        if is_own_input(sts, label) {
            values.push(BTreeSet::new());
        }
        if let (Some(latest), Label::Input(_, args) | Label::Output(_, args)) = (values.last_mut(), label) {
            args.iter().for_each(|value| collect_parts(value, latest));
        }
    }
    values
}

/// Returns the inputs of `trace` that share a value which names something with the failing one: that one first, then
/// the latest ones.
pub(super) fn inputs_of(sts: &Sts, trace: &Trace) -> Vec<Label> {
    let inputs: Vec<&Label> = trace.labels.iter().filter(|label| is_own_input(sts, label)).collect();
    let related = segments(&values_by_input(sts, trace)).into_iter().next().unwrap_or_default();
    let related = related.into_iter().rev().map(|at| inputs[at].clone());
    inputs.last().map(|failing| (*failing).clone()).into_iter().chain(related).collect()
}

/// Returns whether a label is an input that the tester sends.
pub(super) fn is_own_input(sts: &Sts, label: &Label) -> bool {
    matches!(label, Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Input)
}

/// Adds a value, and the parts of which it consists.
fn collect_parts(value: &Value, values: &mut BTreeSet<Value>) {
    match value {
        Value::Bool(_) => return,
        Value::Data(data) => data.args.iter().for_each(|part| collect_parts(part, values)),
        Value::Collection(items) => items.parts().for_each(|part| collect_parts(part, values)),
        Value::Int(_) | Value::Real(_) | Value::Str(_) => (),
    }
    values.insert(value.clone());
}

/// Returns sets of inputs before the last one, in order: those that share a value that names something with the last
/// one, and those that do so over other inputs. `values` has the values of each input and of its replies.
pub(super) fn segments(values: &[BTreeSet<Value>]) -> Vec<Vec<usize>> {
    let Some((failing, before)) = values.split_last() else { return Vec::new() };
    let mut counts: BTreeMap<&Value, usize> = BTreeMap::new();
    for value in before.iter().flatten() {
        *counts.entry(value).or_default() += 1;
    }
    let most = (values.len() / NAME_SHARE).max(LEAST_UNCOMMON);
    let names_thing = |value: &Value| counts.get(value).is_some_and(|count| *count <= most);
    let related_to = |known: &BTreeSet<Value>| -> Vec<usize> {
        let is_related = |at: &usize| before[*at].intersection(known).any(names_thing);
        (0..before.len()).filter(is_related).collect()
    };
    let direct = related_to(failing);
    // The values of related inputs name things too; each round knows more of them, until none is added.
    let mut closed = direct.clone();
    loop {
        let of_inputs = closed.iter().flat_map(|at| &before[*at]);
        let known: BTreeSet<Value> = failing.iter().chain(of_inputs).cloned().collect();
        let next = related_to(&known);
        debug_assert!(next.len() >= closed.len(), "more values relate more inputs");
        if next.len() == closed.len() {
            break;
        }
        closed = next;
    }
    // A set of all inputs leaves nothing out.
    let mut sets = vec![direct, closed];
    sets.dedup();
    sets.retain(|set| set.len() < before.len());
    sets
}

#[cfg(test)]
mod tests {
    use ioxide_model::collection::CollectionValue;

    use super::*;

    fn numbers(values: &[i64]) -> BTreeSet<Value> {
        values.iter().map(|n| Value::Int((*n).into())).collect()
    }

    #[test]
    fn inputs_of_the_same_item_are_related() {
        // Items 100, 200 and 300; 1 is an amount that all of them have.
        let run = [[100, 1], [200, 1], [300, 1], [100, 1], [200, 1], [300, 1], [200, 1]];
        let values: Vec<BTreeSet<Value>> = run.iter().map(|values| numbers(values)).collect();
        assert_eq!(segments(&values), [vec![1, 4]]);
    }

    #[test]
    fn inputs_are_related_over_others() {
        // A ticket 7 was made for the item 200, and it is the ticket that fails.
        let run: [&[i64]; 5] = [&[100], &[200], &[200, 7], &[300], &[7]];
        let values: Vec<BTreeSet<Value>> = run.iter().map(|values| numbers(values)).collect();
        assert_eq!(segments(&values), [vec![2], vec![1, 2]]);
    }

    #[test]
    fn parts_of_records_and_lists_name_things_too() {
        let mut values = BTreeSet::new();
        let sort = ioxide_model::term::TermPool::new().list_of(ioxide_model::sort::Sort::Int);
        let list = CollectionValue::list(sort, [Value::Int(5.into())]);
        collect_parts(&Value::Collection(list), &mut values);
        assert!(values.contains(&Value::Int(5.into())));
    }
}
