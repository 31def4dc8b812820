//! Mutants for programs: their changes, and the lines of the source where these stand.

use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_testgen::mutate::{Edit, Mutant, MutationChange, MutationOperator};
use serde_json::{Value as Json, json};

/// Returns the list of mutants, with the place of each change.
#[must_use]
pub fn mutants_json(sources: &Sources, model: &Model, mutants: &[Mutant]) -> Json {
    let edit = |edit: &Edit| {
        let (switch, variable) = match &edit.change {
            MutationChange::Initial(var, _) => (None, Some(model.pool.var_info(*var).name.to_string())),
            MutationChange::Switch(id, _) => (Some(model.sts.switches[*id].label.to_string()), None),
            MutationChange::Behind(change) => (Some(change.label.clone()), None),
        };
        json!({
            "switch": switch,
            "variable": variable,
            "operator": edit.operator.name(),
            "line": source_line(sources, model, edit),
            "before": edit.show_before(model),
            "after": (edit.operator != MutationOperator::Delete).then(|| edit.show_after(model)),
        })
    };
    let mutant = |mutant: &Mutant| {
        let edits: Vec<Json> = mutant.edits.iter().map(edit).collect();
        json!({ "id": mutant.id, "edits": edits })
    };
    json!({ "version": 1, "mutants": mutants.iter().map(mutant).collect::<Vec<_>>() })
}

/// Returns the line of the source where the changed switch or variable stands, 0 if it stands nowhere.
#[must_use]
pub fn source_line(sources: &Sources, model: &Model, edit: &Edit) -> usize {
    let span = match &edit.change {
        MutationChange::Switch(id, _) => Some(model.sts.switches[*id].span),
        MutationChange::Initial(var, _) => model.sts.vars.iter().find(|it| it.var == *var).map(|it| it.span),
        MutationChange::Behind(change) => Some(change.span),
    };
    let Some(span) = span else { return 0 };
    if sources.slice(span).is_empty() { 0 } else { sources.line_column(span).line }
}
