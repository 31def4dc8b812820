//! Pairs of edits: two candidates that explain different runs, and second edits at the failures that a first one
//! leaves.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

use ioxide_smt::halt::Halt;
use ioxide_smt::solver::Solver;

use super::{EditedCandidate, SampleOutcome, Search, SearchBase, SearchStart, candidates_of};
use crate::batch::BATCH_SIZE;
use crate::candidates::EditCandidate;
use crate::edit::TextEdit;
use crate::evaluate::failure_of;
use crate::failure::FailurePoint;

/// The number of candidates that explain the same runs and are combined with others. Chosen by feel.
const MAX_OF_CLASS: usize = 60;
/// The number of classes of starts that a second edit is looked for. Chosen by feel.
const MAX_CLASSES: usize = 24;
/// The share of the time left in which classes are made, in percent. Chosen by feel.
const CLASSES_SHARE: u32 = 25;
/// The number of kinds of failures after a start that second edits are read off. Chosen by feel: of two errors one is
/// left.
const MAX_KINDS_LEFT: usize = 2;
/// The number of pairs that are tried because their second edit helped after another start. Chosen by feel.
const MAX_TRANSFERS: usize = 400;
/// The number of pairs that are judged although one edit is enough. Chosen by feel: a cheap pair may explain the runs
/// better than a dear single edit.
const MAX_PAIRS_BESIDE: usize = 800;
/// The bits that a second edit costs beyond its own. Chosen by feel.
const SECOND_EDIT_BITS: f64 = 2.0;

/// First edits after which the runs fail at the same places: a second edit that helps after one of them mostly helps
/// after the others.
struct StartClass {
    base: SearchBase,
    /// The edits of the first member, which `base` is made of.
    edits: Vec<TextEdit>,
    others: Vec<EditCandidate>,
}

impl Search<'_> {
    /// Makes two edits at once: pairs of candidates, each of which explains runs that the other does not, the cheapest
    /// pairs first. A run ends at its first failure, so two errors of a model mostly show in different runs.
    pub(super) fn combine(
        &mut self,
        base: &SearchBase,
        starts: &[SearchStart],
        share: Option<&Halt>,
        solver: &mut dyn Solver,
    ) {
        let whole = self.whole_sample();
        let mut classes: BTreeMap<u64, Vec<&SearchStart>> = BTreeMap::new();
        for start in starts.iter().filter(|start| start.outcome.explained != 0) {
            classes.entry(start.outcome.explained).or_default().push(start);
        }
        // Members of a class explain the same runs, so only the cheapest of them are worth a pair.
        for members in classes.values_mut() {
            members.sort_by(|a, b| a.node.bits.total_cmp(&b.node.bits));
            members.truncate(MAX_OF_CLASS);
        }
        let mut pairs: Vec<(&SearchStart, &SearchStart)> = Vec::new();
        for (mask, members) in &classes {
            // Only pairs that explain the whole sample together. The range leaves out pairs seen from the
            // other side, and pairs within one class, which explain no more than one of the two.
            let others = classes
                .range((Bound::Excluded(*mask), Bound::Unbounded))
                .filter(|(other, _)| *other | mask == whole);
            for other in others.flat_map(|(_, others)| others) {
                pairs.extend(members.iter().map(|member| (*member, *other)));
            }
        }
        pairs.sort_by(|a, b| (a.0.node.bits + a.1.node.bits).total_cmp(&(b.0.node.bits + b.1.node.bits)));
        if !self.solutions.is_empty() {
            pairs.truncate(MAX_PAIRS_BESIDE);
        }
        let both = |(one, other): &(&SearchStart, &SearchStart)| {
            let candidate = one.candidate.with(&other.candidate)?;
            Some(EditCandidate { bits: candidate.bits + SECOND_EDIT_BITS, ..candidate })
        };
        for some in pairs.chunks(BATCH_SIZE) {
            if self.is_halted() {
                return;
            }
            if let Some(halted) = share.and_then(Halt::halt_reason) {
                self.left_out = Some(halted);
                return;
            }
            for edited in self.sift(base, some.iter().filter_map(both).collect(), share, solver) {
                self.judge_candidate(base, edited, solver);
            }
        }
    }

    /// Looks for second edits after those that explain something: at the failures that are left, the cheapest pairs
    /// first, each class of starts once.
    pub(super) fn expand_starts(
        &mut self,
        base: &SearchBase,
        starts: Vec<SearchStart>,
        solver: &mut dyn Solver,
    ) {
        let classes = self.classes_of(base, starts, solver);
        let mut pairs: Vec<(usize, EditCandidate)> = Vec::new();
        for (number, (class, failures)) in classes.iter().enumerate() {
            let later = later_bits(number);
            let found = candidates_of(&class.base, failures).into_iter();
            pairs.extend(
                found.map(|it| (number, EditCandidate { bits: it.bits + SECOND_EDIT_BITS + later, ..it })),
            );
        }
        pairs.sort_by(|a, b| {
            let bits =
                |(number, second): &(usize, EditCandidate)| classes[*number].0.base.node.bits + second.bits;
            bits(a).total_cmp(&bits(b))
        });
        // What leaves an input open explains everything: that is no reason not to look further.
        if !self.solutions.iter().all(|solution| solution.is_silent) {
            pairs.truncate(MAX_PAIRS_BESIDE);
        }
        let mut transfers = 0;
        for some in pairs.chunks(BATCH_SIZE) {
            for (number, edited) in self.sift_pairs(&classes, some, solver) {
                if self.is_halted() {
                    return;
                }
                let class = &classes[number].0;
                let n_solutions = self.solutions.len();
                let second = edited.candidate.clone();
                self.judge_candidate(&class.base, edited, solver);
                let is_solved = self.solutions[n_solutions..].iter().any(|solution| !solution.is_silent);
                // What helps after one of the class is tried after the others.
                let Some(second) = second.moved_back(&class.edits).filter(|_| is_solved) else { continue };
                let others = class.others.iter().filter_map(|other| other.with(&second));
                let others: Vec<EditCandidate> = others.take(MAX_TRANSFERS - transfers).collect();
                transfers += others.len();
                for some in others.chunks(BATCH_SIZE) {
                    for edited in self.sift(base, some.to_vec(), None, solver) {
                        self.judge_candidate(base, edited, solver);
                    }
                }
            }
            if self.is_halted() {
                return;
            }
        }
    }

    /// Returns the second edits that may help after the first ones of their classes, in their order.
    fn sift_pairs(
        &mut self,
        classes: &[(StartClass, Vec<FailurePoint>)],
        pairs: &[(usize, EditCandidate)],
        solver: &mut dyn Solver,
    ) -> Vec<(usize, EditedCandidate)> {
        let mut by_class: BTreeMap<usize, Vec<EditCandidate>> = BTreeMap::new();
        for (number, second) in pairs {
            let later = later_bits(*number);
            let second = EditCandidate { bits: second.bits - later, ..second.clone() };
            by_class.entry(*number).or_default().push(second);
        }
        let mut found: Vec<(usize, EditedCandidate)> = Vec::new();
        for (number, seconds) in by_class {
            let sifted = self.sift(&classes[number].0.base, seconds, None, solver);
            found.extend(sifted.into_iter().map(|edited| (number, edited)));
        }
        let bits = |(number, edited): &(usize, EditedCandidate)| {
            classes[*number].0.base.node.bits + edited.candidate.bits + later_bits(*number)
        };
        found.sort_by(|a, b| bits(a).total_cmp(&bits(b)));
        found
    }

    /// Returns the classes of the starts, those that explain the most first, each with the failures that are left.
    fn classes_of(
        &mut self,
        base: &SearchBase,
        starts: Vec<SearchStart>,
        solver: &mut dyn Solver,
    ) -> Vec<(StartClass, Vec<FailurePoint>)> {
        let mut groups: BTreeMap<SampleOutcome, Vec<SearchStart>> = BTreeMap::new();
        for start in starts {
            groups.entry(start.outcome.clone()).or_default().push(start);
        }
        let mut groups: Vec<(SampleOutcome, Vec<SearchStart>)> = groups.into_iter().collect();
        groups
            .iter_mut()
            .for_each(|(_, members)| members.sort_by(|a, b| a.node.bits.total_cmp(&b.node.bits)));
        groups.sort_by_cached_key(|(outcome, members)| {
            // What leaves an input open explains every run from there on, but corrects nothing.
            let progress = outcome.progress(&base.forbidden_at, &self.sample);
            let least = members[0].node.bits;
            (
                outcome.is_silent,
                Reverse(outcome.explained.count_ones()),
                Reverse(progress),
                (least * 16.0) as u64,
            )
        });
        let mut classes = Vec::new();
        // Where there are many runs, each class takes long: most of the time is for the second edits.
        let share = self.halt.time_left().map(|left| (self.request.halt_after)(left * CLASSES_SHARE / 100));
        for (_, members) in groups.into_iter().take(MAX_CLASSES) {
            if self.is_halted() || share.as_ref().is_some_and(|share| share.halt_reason().is_some()) {
                break;
            }
            let mut members = members.into_iter();
            let Some(first) = members.next() else { continue };
            self.compiled += 1;
            let Some((mut model, _)) = (self.request.load)(&first.node.sources, &[]) else { continue };
            let made = SearchBase::new(first.node, &mut model, solver, &self.runs, &self.halt);
            let Ok((class_base, judged)) = made else { continue };
            let mut left: Vec<usize> =
                self.sample.iter().copied().filter(|&at| judged[at].is_forbidden()).collect();
            left.sort_by_key(|&at| judged[at].forbidden_at);
            let mut failures: Vec<FailurePoint> = Vec::new();
            for at in left {
                let failure = failure_of(&mut model, solver, &self.runs[at], &self.halt);
                if let Ok(Some(failure)) = failure
                    && !failures.iter().any(|known| known.is_same_kind(&failure))
                {
                    failures.push(failure);
                }
                if failures.len() >= MAX_KINDS_LEFT {
                    break;
                }
            }
            let others = members.take(MAX_OF_CLASS).map(|it| it.candidate).collect();
            classes.push((StartClass { base: class_base, edits: first.candidate.edits, others }, failures));
        }
        classes
    }
}

/// Returns the bits of second edits after the class of this number: those that explain the most come first, and a
/// little is in favour of them.
fn later_bits(number: usize) -> f64 {
    (1.0 + number as f64).log2()
}
