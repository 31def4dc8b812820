//! The cases of a state in which the presence of items, or the equality of keys, is open.
//!
//! In terms such items are kept with the condition of their presence. A search decides them: in each case every item is
//! present or absent and all keys differ, so collections have lengths, and equal states have equal terms.

use ioxide_model::sort::Sort;
use ioxide_model::term::Term;
use ioxide_smt::solver::SolverDecision;

use crate::cx::Ctx;
use crate::leaves::{apply_decision, find_undecided};
use crate::state::{Store, SymState};

/// The greatest number of cases of a state; beyond it, conditions stay undecided. Chosen by feel: undecided
/// conditions are sound, but states with them are seldom merged.
const MAX_CASES: usize = 64;

/// A case of a state.
pub(crate) enum StateCase {
    /// A case that exists.
    State(SymState),
    /// A case that is neither refuted nor shown to exist.
    Doubtful(SymState),
}

/// Returns the cases of `state`, which must exist.
pub(crate) fn split_cases(cx: &mut Ctx<'_>, state: SymState) -> Vec<StateCase> {
    let mut done = Vec::new();
    let mut open = vec![StateCase::State(state)];
    while let Some(case) = open.pop() {
        let (StateCase::State(state) | StateCase::Doubtful(state)) = &case;
        let stored = sorted_store(cx, state);
        let full = done.len() + open.len() >= MAX_CASES;
        let question = find_undecided(cx.pool, stored.iter().copied(), state.path.facts());
        // A case that is not split further is still right; only fewer states are recognised by it.
        let Some(question) = question.filter(|_| !full) else {
            done.push(case);
            continue;
        };
        let doubt = matches!(case, StateCase::Doubtful(_));
        for truth in [false, true] {
            let fact = if truth { question.condition } else { cx.pool.not(question.condition) };
            let path = state.path.with_fact(cx, fact);
            let decision = cx.decide(path.facts());
            // An undecided case is kept and marked as doubtful: it may not exist, so it must not stand for others.
            if decision == SolverDecision::Unsat {
                continue;
            }
            let store = Store::new(apply_decision(cx.pool, stored.iter().copied(), question, truth));
            let next = SymState { store, path, ..state.clone() };
            open.push(match decision {
                SolverDecision::Sat if !doubt => StateCase::State(next),
                _ => StateCase::Doubtful(next),
            });
        }
    }
    done
}

fn sorted_store(cx: &Ctx<'_>, state: &SymState) -> Vec<(Term, Sort)> {
    state.store.iter(cx.sts).map(|(var, term)| (term, cx.pool.var_info(var).sort)).collect()
}
