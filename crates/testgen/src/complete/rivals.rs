//! Pairs of answers that can always be distinguished, and pairs that may have equal values by chance.
//!
//! A system that gives another answer of the model than the right one is noticed only if the two have different values.
//! Two answers to an input class are *surely different* in a condition class if in every store the tester can choose an
//! input of the class for which they differ. Other answers are one answer for the machine of classes, so that no word
//! of a suite relies on a difference that may not show; tests distinguish them where the values allow it.

use std::collections::BTreeSet;

use ioxide_model::term::Term;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::Ctx;

use super::react::OutputTerms;
use super::refine::{ClassTruth, holds};
use super::{Abstraction, ClassStep, names};

/// The answers to one input class.
#[derive(Clone, Debug, Default)]
pub struct ClassAnswers {
    /// The different answers, in terms.
    pub all: Vec<Vec<OutputTerms>>,
    /// The number of the group of each answer; answers of different groups are surely different.
    pub groups: Vec<usize>,
    /// Condition classes, each with a wrong answer that may, but need not, differ from the right one there.
    pub fragile: Vec<(usize, usize)>,
}

impl ClassAnswers {
    /// The number of the answer `outputs`; `None` if it is no answer to the class.
    #[must_use]
    pub fn answer_number(&self, outputs: &[OutputTerms]) -> Option<usize> {
        self.all.iter().position(|known| known == outputs)
    }

    /// Merges the groups of two classes under the smaller number.
    fn join(&mut self, a: usize, b: usize) {
        let (keep, drop) = (self.groups[a].min(self.groups[b]), self.groups[a].max(self.groups[b]));
        self.groups.iter_mut().filter(|group| **group == drop).for_each(|group| *group = keep);
    }
}

/// Groups the answers to every input class.
pub(super) fn group_answers(cx: &mut Ctx<'_>, abstraction: &Abstraction) -> Vec<ClassAnswers> {
    (0..abstraction.inputs.len()).map(|input| of_class(cx, abstraction, input)).collect()
}

fn of_class(cx: &mut Ctx<'_>, abstraction: &Abstraction, input: usize) -> ClassAnswers {
    let states = 0..abstraction.states.len();
    let all: BTreeSet<Vec<OutputTerms>> = states
        .flat_map(|state| abstraction.outcomes(state, input))
        .map(|outcome| outcome.outputs.clone())
        .collect();
    let all: Vec<_> = all.into_iter().collect();
    let mut answers = ClassAnswers { groups: (0..all.len()).collect(), all, fragile: Vec::new() };
    for state in 0..abstraction.states.len() {
        let ClassStep::Taken(outcomes) = &abstraction.steps[state][input] else { continue };
        let right: Vec<usize> =
            outcomes.iter().filter_map(|outcome| answers.answer_number(&outcome.outputs)).collect();
        // Whichever of several the system gives is right.
        right.windows(2).for_each(|pair| answers.join(pair[0], pair[1]));
        for &one in &right {
            for other in (0..answers.all.len()).filter(|other| !right.contains(other)) {
                compare(cx, abstraction, (state, input), &mut answers, one, other);
            }
        }
    }
    answers
}

/// Joins two answers that are not surely different where `one` is right.
fn compare(
    cx: &mut Ctx<'_>,
    abstraction: &Abstraction,
    (state, input): (usize, usize),
    answers: &mut ClassAnswers,
    one: usize,
    other: usize,
) {
    let class = &abstraction.inputs[input];
    let differs = difference(cx, &answers.all[one], &answers.all[other]);
    if cx.pool.is_true(differs) {
        return;
    }
    let both = cx.pool.and([class.when, differs]);
    let sts = cx.sts;
    let possible = cx.pool.exists(&sts.gates[class.gate].fields, both);
    // The tester chooses the input, so for every store it must have one input of the class on which the answers
    // differ. The quantifier is eliminated first: the solver decides the rest without alternation.
    let possible = eliminate(cx.pool, possible);
    let some = cx.pool.exists(&sts.gates[class.gate].fields, class.when);
    let mut facts = abstraction.states[state].facts.clone();
    facts.push(eliminate(cx.pool, some));
    match holds(cx, &facts, possible) {
        ClassTruth::All => return,
        // Never different: both are one answer, and no test could notice. Sometimes different, or not decided:
        // they are one answer for the machine, and tests try the difference where they can.
        ClassTruth::None => (),
        ClassTruth::Some | ClassTruth::Unknown => answers.fragile.push((state, other)),
    }
    answers.join(one, other);
}

/// The condition under which two answers differ; messages with free fields differ by their gates only.
pub(super) fn difference(cx: &mut Ctx<'_>, outputs: &[OutputTerms], other: &[OutputTerms]) -> Term {
    if !has_gates_of(outputs, other) {
        return cx.pool.tt();
    }
    let mut equal = Vec::new();
    for (a, b) in outputs.iter().zip(other).filter(|(a, b)| !a.is_loose && !b.is_loose) {
        for (&x, &y) in a.values.iter().zip(&b.values) {
            equal.push(cx.pool.eq(x, y));
        }
    }
    let same = cx.pool.and(equal);
    cx.pool.not(same)
}

/// Returns whether both answers have the same gates in the same order.
pub(super) fn has_gates_of(outputs: &[OutputTerms], other: &[OutputTerms]) -> bool {
    outputs.len() == other.len() && outputs.iter().zip(other).all(|(a, b)| a.gate == b.gate)
}

/// The name of a group of answers.
pub(super) fn group_name(cx: &Ctx<'_>, answers: &ClassAnswers, group: usize) -> String {
    let members = answers.all.iter().zip(&answers.groups).filter(|(_, own)| **own == group);
    let names: BTreeSet<String> = members.map(|(outputs, _)| names::answer_name(cx, outputs)).collect();
    names.into_iter().collect::<Vec<_>>().join(" ~ ")
}
