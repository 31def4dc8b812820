//! A case as a listing: state by state, one arc a line.

use std::fmt::Write as _;

use ioxide_testgen::case::TestCase;

use super::CaseView;

/// The listing.
#[must_use]
pub fn case_listing(view: &CaseView<'_>) -> String {
    let (case, sts) = (view.case, &view.model.sts);
    let mut out = format!("{}\n", view.title());
    if let Some(timeout) = &case.timeout {
        let _ = writeln!(out, "TM = {timeout} s");
    }
    for (n, state) in case.states.iter().enumerate() {
        let _ = match state.loc {
            Some(loc) => writeln!(out, "\n{} at {}", TestCase::state_name(n), sts.locations[loc].name),
            None => writeln!(out, "\n{}", TestCase::state_name(n)),
        };
        for arc in &state.arcs {
            let _ = write!(
                out,
                "  {:<4} {:<14} {}",
                arc.rule.word(),
                view.target_name(arc),
                view.message_text(arc)
            );
            let _ = writeln!(out, "\n       when {}", view.guard_text(arc.guard));
            if let Some(stimulus) = &arc.witness {
                let values = view.fields(arc).zip(&stimulus.values);
                let values: Vec<String> = values
                    .map(|((name, _), value)| format!("{name}: {}", view.model.pool.show_value(value)))
                    .collect();
                let fits = if stimulus.always { "" } else { ", if the observations allow it" };
                let _ = writeln!(out, "       send ({}) after {} s{fits}", values.join(", "), stimulus.delay);
            }
        }
    }
    let _ = writeln!(out, "\n{} arcs, {} off the path", case.n_arcs(), case.n_off_path());
    out
}
