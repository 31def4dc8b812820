//! The operations that store carried values: what a token may stand for.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::value::Value;

use super::END;
use crate::search::SearchedOperation;
use crate::space::{OperationClass, StateSpace};
use crate::token::{MAX_FIELDS, has_token, token_value};

/// An operation that stores carried values.
pub(super) struct Storer {
    pub(super) operation: usize,
    pub(super) call: u32,
    /// [`END`] if it is open.
    pub(super) ret: u32,
    /// Its carried values.
    pub(super) values: Vec<Value>,
}

/// The operations that tokens stand for: those with the same messages but for the carried values.
pub(super) struct StorerClass {
    pub(super) input: Label,
    pub(super) output: Option<Label>,
    /// The positions of the carried fields.
    pub(super) fields: Vec<usize>,
    /// The operations, by their calls.
    pub(super) storers: Vec<Storer>,
}

impl StorerClass {
    /// Returns the input of the storers with a token for the carried values.
    pub(super) fn token_input(&self, number: u32, space: &StateSpace<'_, '_>) -> Option<Label> {
        let Label::Input(gate, values) = &self.input else { return None };
        let mut values = values.clone();
        for (field, &at) in self.fields.iter().enumerate() {
            values[at] = token_value(space.field_sort(*gate, at), number, field)?;
        }
        Some(Label::Input(*gate, values))
    }
}

/// Returns the largest class of operations that differ in carried values alone; `None` if there is none, or if values
/// of the history look like tokens.
pub(super) fn find_storers(
    space: &mut StateSpace<'_, '_>,
    operations: &[SearchedOperation],
) -> Option<StorerClass> {
    let carried = &space.model().carried;
    if carried.is_empty() {
        return None;
    }
    let mut classes: BTreeMap<(Label, Option<Label>), Vec<usize>> = BTreeMap::new();
    for (at, operation) in operations.iter().enumerate() {
        let OperationClass { input, output } = space.class(operation.class);
        if [Some(input), output.as_ref()].into_iter().flatten().any(has_tokens) {
            return None;
        }
        let Label::Input(gate, values) = input else { continue };
        let fields = carried.slots_of(*gate);
        if fields.is_empty() || fields.len() > MAX_FIELDS {
            continue;
        }
        let mut values = values.clone();
        // The first of the values stands for all of them.
        fields.iter().for_each(|&field| values[field] = Value::Bool(false));
        let acknowledged = || carried.acknowledgement(*gate).map(|output| Label::Output(output, Vec::new()));
        let output = output.clone().or_else(acknowledged);
        classes.entry((Label::Input(*gate, values), output)).or_default().push(at);
    }
    let ((input, output), members) = classes.into_iter().max_by_key(|(_, members)| members.len())?;
    let Label::Input(gate, _) = &input else { return None };
    let fields = carried.slots_of(*gate).to_vec();
    if members.len() < 2 {
        return None;
    }
    let mut storers: Vec<Storer> = Vec::new();
    for at in members {
        let SearchedOperation { class, call, ret, .. } = operations[at];
        let Label::Input(_, values) = &space.class(class).input else { continue };
        let values = fields.iter().map(|&field| values[field].clone()).collect();
        storers.push(Storer { operation: at, call, ret: ret.unwrap_or(END), values });
    }
    storers.sort_by_key(|storer| storer.call);
    Some(StorerClass { input, output, fields, storers })
}

/// Returns whether a message has values that are tokens.
fn has_tokens(label: &Label) -> bool {
    match label {
        Label::Input(_, values) | Label::Output(_, values) => values.iter().any(has_token),
        Label::Quiescence | Label::Delay(_) => false,
    }
}
