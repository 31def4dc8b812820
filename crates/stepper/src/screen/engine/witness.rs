//! Witnesses: values that satisfy a path condition, on request.

use ioxide_explorer::walk::error::WalkError;
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::{Belief, Ctx, SymState};

use super::super::moves;
use super::super::scene::{WalkMode, clip};
use super::super::state::{ModelReply, MoveReport, MoveTone, Overlay, PathWitness};
use super::{MAX_PLACES, WalkEngine};

impl WalkEngine<'_> {
    /// Shows values that satisfy the path condition of the walk.
    pub(super) fn solve(&mut self) -> ModelReply {
        match self.mode {
            WalkMode::Symbolic => self.solve_along(),
            WalkMode::Concrete => self.solve_belief(),
        }
    }

    fn solve_along(&mut self) -> ModelReply {
        let labels = match self.along.witness(&mut self.walk.cx) {
            Ok(labels) => labels,
            Err(why) => return ModelReply::Told(MoveReport::line(MoveTone::Bad, why.to_string())),
        };
        let cx = &self.walk.cx;
        let mut lines: Vec<String> = labels
            .iter()
            .zip(1..)
            .map(|(label, i)| format!("{i:>3} {}", moves::label_text(cx, label)))
            .collect();
        if lines.is_empty() {
            lines.push("no message is needed to get here".into());
        }
        let is_walk = !labels.is_empty();
        self.witness = labels;
        ModelReply::Show(Overlay::Witness(PathWitness { lines, top: 0, is_walk }))
    }

    fn solve_belief(&mut self) -> ModelReply {
        let Belief::Symbolic(states) = self.walk.monitor().belief().clone() else {
            return ModelReply::Told(MoveReport::line(
                MoveTone::Note,
                "every value is known; m switches to unknown values",
            ));
        };
        let mut lines = Vec::new();
        for state in states.iter().take(MAX_PLACES) {
            let location = self.walk.cx.sts.locations[state.loc].name.to_string();
            let values = values_of(&mut self.walk.cx, state).unwrap_or_else(|why| why.to_string());
            lines.push(clip(format!("{location}  {values}")));
        }
        ModelReply::Show(Overlay::Witness(PathWitness { lines, top: 0, is_walk: false }))
    }
}

/// Returns values of variables and clocks that satisfy the path condition of `state`.
fn values_of(cx: &mut Ctx<'_>, state: &SymState) -> Result<String, WalkError> {
    let valuation = match cx.check(state.path.facts()) {
        SolverAnswer::Sat(valuation) => valuation,
        SolverAnswer::Unsat => return Err(WalkError::PathRefuted),
        SolverAnswer::Unknown(why) => return Err(WalkError::PathUndecided(why)),
    };
    let mut shown = Vec::new();
    for (var, term) in state.store.iter(cx.sts) {
        let mut known = valuation.clone();
        for free in cx.pool.free_vars(term) {
            if known.get(free).is_none() {
                known.set(free, cx.pool.default_value(cx.pool.var_info(free).sort));
            }
        }
        let value =
            cx.pool.eval(term, &known).map_or_else(|_| "?".to_owned(), |value| cx.pool.show_value(&value));
        shown.push(format!("{} = {value}", cx.pool.var_info(var).name));
    }
    Ok(shown.join(", "))
}
