//! The nearest name, as a suggestion for a misspelt one.

use ioxide_model::diag::Diagnostic;
use ioxide_model::suggest::nearest_name;

use crate::ast::Name;

/// Adds the candidate nearest to `name` as help and fix, if one is near enough.
pub(crate) fn suggest_nearest<'a>(
    diagnostic: Diagnostic,
    name: &Name,
    candidates: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    match nearest_name(&name.text, candidates) {
        Some(best) => diagnostic.help(format!("did you mean `{best}`?")).fix(name.span, best),
        None => diagnostic,
    }
}
