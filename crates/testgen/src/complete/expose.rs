//! Words that reveal the value of a variable.
//!
//! A system that computes a wrong value for a variable, and keeps its control right, shows it only where the variable
//! is sent. From every condition class the shortest word is sought on which some answer depends on the value that the
//! variable has there, directly or through other variables.

use std::collections::{BTreeSet, VecDeque};

use ioxide_model::term::VarId;
use ioxide_symex::Ctx;

use super::{Abstraction, ClassOutcome};

/// The greatest length of a word.
const MAX_LENGTH: usize = 12;

/// Returns, for every condition class, the variables that can be revealed, each with a shortest word; a word that
/// reveals several is listed with each of them.
pub(super) fn showing_words(cx: &Ctx<'_>, abstraction: &Abstraction) -> Vec<Vec<(VarId, Vec<usize>)>> {
    let vars: Vec<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    let of = |state: usize| {
        let word = |&var: &VarId| Some((var, shortest(cx, abstraction, state, var)?));
        vars.iter().filter_map(word).collect()
    };
    (0..abstraction.states.len()).map(of).collect()
}

/// The shortest word from `state` on which an answer depends on `var`.
fn shortest(cx: &Ctx<'_>, abstraction: &Abstraction, state: usize, var: VarId) -> Option<Vec<usize>> {
    let first = (state, BTreeSet::from([var]));
    let mut seen = BTreeSet::from([first.clone()]);
    let mut todo = VecDeque::from([(first, Vec::new())]);
    while let Some(((state, marked), word)) = todo.pop_front() {
        if word.len() >= MAX_LENGTH {
            return None;
        }
        for input in 0..abstraction.inputs.len() {
            let Some(outcome) = abstraction.outcomes(state, input).first() else { continue };
            let mut longer: Vec<usize> = word.clone();
            longer.push(input);
            if shows(cx, outcome, &marked) {
                return Some(longer);
            }
            let next = (outcome.target, marked_after(cx, outcome, &marked));
            if !next.1.is_empty() && seen.insert(next.clone()) {
                todo.push_back((next, longer));
            }
        }
    }
    None
}

fn shows(cx: &Ctx<'_>, outcome: &ClassOutcome, marked: &BTreeSet<VarId>) -> bool {
    let depends = |&term: &_| marked.iter().any(|&var| cx.pool.mentions(term, var));
    outcome.said.iter().filter(|said| !said.is_loose).any(|said| said.values.iter().any(depends))
}

/// The variables whose values after the outcome depend on a marked one.
fn marked_after(cx: &Ctx<'_>, outcome: &ClassOutcome, marked: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    let depends = |&&(_, term): &&(VarId, _)| marked.iter().any(|&var| cx.pool.mentions(term, var));
    outcome.store.iter().filter(depends).map(|&(var, _)| var).collect()
}
