//! Mutants with other initial values.

use ioxide_model::sts::Model;
use ioxide_model::term::Term;
use ioxide_model::value::Value;

use super::rewrite::{RewriteRule, rewritten};
use super::switches::controls;
use super::{Edit, Mutant, MutationChange, MutationOperator};

/// Returns the mutants in which a variable, with a name that is wanted, starts with a neighbour of its initial value.
pub(super) fn other_starts(model: &mut Model, is_wanted: impl Fn(&str) -> bool) -> Vec<Mutant> {
    let controls = controls(&model.sts);
    let mut found = Vec::new();
    for var in &model.sts.vars {
        let info = model.pool.var_info(var.var);
        let (name, sort) = (info.name.clone(), info.sort);
        let Some(init) = var.init.filter(|_| !controls.contains(&var.var) && is_wanted(&name)) else {
            continue;
        };
        let near = match model.pool.as_value(init) {
            Some(Value::Bool(_)) => vec![model.pool.not(init)],
            _ => rewritten(&mut model.pool, init, RewriteRule::Constant),
        };
        let fits = |value: &Term| model.pool.as_value(*value).is_none_or(|it| model.pool.has_sort(it, sort));
        let near: Vec<Term> = near.into_iter().filter(fits).collect();
        for (at, value) in near.into_iter().enumerate() {
            let id = format!("{name}-{}-{}", MutationOperator::Initial.name(), at + 1);
            let edit =
                Edit { operator: MutationOperator::Initial, change: MutationChange::Initial(var.var, value) };
            found.push(Mutant { id, edits: vec![edit] });
        }
    }
    found
}
