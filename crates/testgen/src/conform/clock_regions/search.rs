//! Pairs of one state of the implementation and all states of the specification after the same trace, breadth first.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;

use super::member::{MemberId, RegionSide, TimedLabelId};
use super::trace::trace_along;
use super::{MetMessages, Numbered, RegionStop};
use crate::conform::product::InputCompletion;
use crate::conform::search::SearchEffort;

/// The number of steps of members between two looks at the function that may stop the search. Chosen by feel: often
/// enough for an interrupt to be noticed at once.
const STEPS_PER_LOOK: usize = 10_000;

/// A set of members of the specification, in order.
type RegionBelief = Rc<[MemberId]>;

/// A state of the implementation with the states of the specification after the same trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RegionPair {
    imp: MemberId,
    spec: RegionBelief,
    /// The number of instants that are remembered, not counting this one.
    marks: u16,
    /// True if this instant is any one between those at which a mark is a whole number of units ago.
    is_between: bool,
}

/// A step of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionStep {
    /// A message.
    Message(TimedLabelId),
    /// Silence without end.
    Silence,
    /// An internal step of the implementation.
    Internal,
    /// Time passes, but not as long as until the last mark is a whole number of units ago.
    PassBetween,
    /// Time passes until then.
    PassToMark,
}

impl RegionStep {
    /// Returns whether the step is one of a trace: the others take no part in its length.
    fn is_observed(self) -> bool {
        matches!(self, Self::Message(_) | Self::Silence)
    }
}

/// A pair that was reached.
struct RegionNode {
    pair: RegionPair,
    depth: u32,
    parent: Option<(usize, RegionStep)>,
    /// The marks that were forgotten here, one after the other.
    forgotten: Vec<u16>,
}

/// The way in which a turn of the search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegionEnd {
    /// Every pair was explored, and there is no difference.
    Exhausted,
    /// The last label of this trace is one that only the implementation has.
    Fails(Trace),
    /// Pairs at the greatest depth were not explored.
    Depth,
    /// The limit of the turn was reached, or the search was stopped.
    Turn,
    /// Something cannot be evaluated or listed.
    Impossible,
}

/// The reason why the expansion of a pair ended early.
enum ExpandEnd {
    Stop(RegionStop),
    /// The implementation makes this step alone.
    Difference(RegionStep),
}

impl From<RegionStop> for ExpandEnd {
    fn from(stop: RegionStop) -> Self {
        Self::Stop(stop)
    }
}

/// A function that may stop a search.
pub(super) type StopSearch<'f> = &'f mut dyn FnMut(&SearchEffort) -> bool;

/// A search in progress; a further run resumes it.
pub(super) struct RegionSearch<'s> {
    imp: RegionSide<'s>,
    spec: RegionSide<'s>,
    relation: ConformanceRelation,
    completion: InputCompletion,
    unit: Rational,
    labels: Numbered<Label>,
    nodes: Vec<RegionNode>,
    seen: FxHashSet<RegionPair>,
    /// The pairs that are not explored, after as many labels as the search has come to.
    here: Vec<usize>,
    /// Those after one label more.
    next: Vec<usize>,
    /// The number of steps of members so far.
    spent: usize,
    /// The number of steps at which the turn ends.
    limit: usize,
    halt: Halt,
    pub effort: SearchEffort,
}

impl<'s> RegionSearch<'s> {
    /// Makes a search that has not begun.
    pub fn new(
        imp: RegionSide<'s>,
        spec: RegionSide<'s>,
        (relation, completion): (ConformanceRelation, InputCompletion),
        unit: Rational,
        halt: Halt,
    ) -> Self {
        Self {
            imp,
            spec,
            relation,
            completion,
            unit,
            labels: Numbered::default(),
            nodes: Vec::new(),
            seen: FxHashSet::default(),
            here: Vec::new(),
            next: Vec::new(),
            spent: 0,
            limit: 0,
            halt,
            effort: SearchEffort::default(),
        }
    }

    /// Continues until a difference is found, about `steps` steps in all were made, or `stop` returns true.
    pub fn run_search(
        &mut self,
        pool: &TermPool,
        (steps, max_depth): (usize, u32),
        stop: StopSearch<'_>,
    ) -> RegionEnd {
        // The limit counts from the beginning: a turn continues what the turns before have spent.
        self.limit = steps;
        let started = if self.nodes.is_empty() { self.start(pool) } else { Ok(()) };
        if let Err(stopped) = started {
            return stopped.into();
        }
        let mut looked = self.spent;
        while let Some(at) = self.next_to_explore(max_depth) {
            match self.expand(pool, at) {
                Ok(()) => self.effort.states += 1,
                Err(ExpandEnd::Difference(step)) => {
                    return RegionEnd::Fails(trace_along(&self.path_to(at, step), &self.labels, &self.unit));
                }
                // Explored again by the next turn: what was reached already is known then, and costs little.
                Err(ExpandEnd::Stop(stopped)) => {
                    self.here.push(at);
                    return stopped.into();
                }
            }
            if self.spent - looked >= STEPS_PER_LOOK {
                looked = self.spent;
                if stop(&self.effort) {
                    return RegionEnd::Turn;
                }
            }
        }
        if self.here.is_empty() && self.next.is_empty() { RegionEnd::Exhausted } else { RegionEnd::Depth }
    }

    /// Returns the next pair; `None` if there is none up to this depth.
    fn next_to_explore(&mut self, max_depth: u32) -> Option<usize> {
        if self.here.is_empty() && self.effort.depth < max_depth && !self.next.is_empty() {
            // Every pair after this many labels was explored: longer traces are next, so the first difference has the
            // fewest labels.
            self.here = std::mem::take(&mut self.next);
            self.here.reverse();
            self.effort.depth += 1;
        }
        let is_deep = self.effort.depth >= max_depth;
        if is_deep { None } else { self.here.pop() }
    }

    fn start(&mut self, pool: &TermPool) -> Result<(), RegionStop> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let imp = self.imp.initial_members(met)?;
        let spec = self.spec.initial_members(met)?;
        // One belief for all initial states of the implementation: the tester does not see which of them it is in.
        let spec = self.close_now(pool, spec)?;
        for imp in imp {
            self.reach(RegionPair { imp, spec: spec.clone(), marks: 0, is_between: false }, None);
        }
        Ok(())
    }

    /// Adds a pair, unless it was reached before.
    fn reach(&mut self, pair: RegionPair, parent: Option<(usize, RegionStep)>) {
        let (pair, forgotten) = self.forget_marks(pair);
        if !self.seen.insert(pair.clone()) {
            self.effort.merged += 1;
            return;
        }
        let is_observed = parent.is_some_and(|(_, step)| step.is_observed());
        let depth = parent.map_or(0, |(at, _)| self.nodes[at].depth) + u32::from(is_observed);
        debug_assert_eq!(
            depth,
            self.effort.depth + u32::from(is_observed),
            "only pairs of this depth are explored"
        );
        // Invariant: `here` has pairs of the depth of the search, `next` those of one label more. Internal steps and
        // the passing of time are no labels, so they stay at this depth.
        let open = if is_observed { &mut self.next } else { &mut self.here };
        open.push(self.nodes.len());
        self.nodes.push(RegionNode { pair, depth, parent, forgotten });
    }

    /// The steps to a pair, each with the marks that were forgotten after it, and `last` after it.
    fn path_to(&self, mut at: usize, last: RegionStep) -> Vec<(RegionStep, &[u16])> {
        let mut path: Vec<(RegionStep, &[u16])> = vec![(last, &[])];
        while let Some((before, step)) = self.nodes[at].parent {
            path.push((step, &self.nodes[at].forgotten));
            at = before;
        }
        path.reverse();
        path
    }

    fn expand(&mut self, pool: &TermPool, at: usize) -> Result<(), ExpandEnd> {
        // Outputs and silence first: these can be differences, and then nothing else has to be computed.
        let pair = self.nodes[at].pair.clone();
        self.expand_outputs(pool, at, &pair)?;
        self.expand_silence(at, &pair)?;
        self.expand_inputs(pool, at, &pair)?;
        self.expand_internal(pool, at, &pair)?;
        if pair.is_between && pair.marks > 0 {
            self.pass_to_mark(pool, at, &pair)
        } else {
            self.pass_between(pool, at, &pair)
        }
    }

    fn expand_outputs(&mut self, pool: &TermPool, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        for (label, imp) in self.imp.outputs(met, pair.imp)? {
            let spec = self.after_label(pool, &pair.spec, label)?;
            let step = RegionStep::Message(label);
            if spec.is_empty() {
                return Err(ExpandEnd::Difference(step));
            }
            self.reach(RegionPair { imp, spec, is_between: false, ..pair.clone() }, Some((at, step)));
        }
        Ok(())
    }

    /// Silence without end keeps the states that were quiescent when they were entered.
    fn expand_silence(&mut self, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        if !self.imp.is_rested(pair.imp) {
            return Ok(());
        }
        // A filtered belief keeps its order, and stays closed: whoever was quiescent makes no internal step.
        let spec: RegionBelief = pair.spec.iter().copied().filter(|&it| self.spec.is_rested(it)).collect();
        if spec.is_empty() {
            return Err(ExpandEnd::Difference(RegionStep::Silence));
        }
        self.reach(RegionPair { spec, is_between: false, ..pair.clone() }, Some((at, RegionStep::Silence)));
        Ok(())
    }

    fn expand_inputs(&mut self, pool: &TermPool, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let mut inputs = Vec::new();
        for &member in pair.spec.iter() {
            self.spec.collect_inputs(met, member, &mut inputs)?;
        }
        // Only inputs that the specification mentions count: after others anything is allowed.
        inputs.sort_unstable();
        inputs.dedup();
        for label in inputs {
            // Under uioco an input counts only where no state of the specification refuses it.
            if self.relation == ConformanceRelation::Uioco && self.is_refused(pool, &pair.spec, label)? {
                continue;
            }
            let spec = self.after_label(pool, &pair.spec, label)?;
            for imp in self.accept_input(pool, pair.imp, label)? {
                let next = RegionPair { imp, spec: spec.clone(), is_between: false, ..pair.clone() };
                self.reach(next, Some((at, RegionStep::Message(label))));
            }
        }
        Ok(())
    }

    /// Returns whether a state of the specification without internal steps does not take an input.
    fn is_refused(
        &mut self,
        pool: &TermPool,
        spec: &RegionBelief,
        label: TimedLabelId,
    ) -> Result<bool, RegionStop> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        for &member in spec.iter() {
            if self.spec.after_label(met, member, label)?.is_empty()
                && self.spec.internal_steps(met, member)?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The states of the implementation after an input, which it ignores where it can make no step.
    fn accept_input(
        &mut self,
        pool: &TermPool,
        imp: MemberId,
        label: TimedLabelId,
    ) -> Result<Vec<MemberId>, RegionStop> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let next = self.imp.after_label(met, imp, label)?;
        let is_stuck = next.is_empty() && self.imp.internal_steps(met, imp)?.is_empty();
        if is_stuck && self.completion != InputCompletion::None {
            return Ok(vec![self.imp.enter_again(met, imp)?]);
        }
        Ok(next.to_vec())
    }

    fn expand_internal(&mut self, pool: &TermPool, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let found = self.imp.internal_steps(met, pair.imp)?;
        for &imp in found.iter() {
            // A clock that was reset now makes this instant one to be remembered.
            let is_between = pair.is_between && !self.imp.has_clock_now(imp);
            self.reach(RegionPair { imp, is_between, ..pair.clone() }, Some((at, RegionStep::Internal)));
        }
        Ok(())
    }

    /// Time passes for less than until the last mark is a whole number of units ago, however long: where no guard
    /// changes in between for the implementation, one pair stands for all these instants.
    fn pass_between(&mut self, pool: &TermPool, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        let marks = pair.marks + 1;
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let Some(imp) = self.imp.after_now(met, pair.imp)? else { return Ok(()) };
        let mut spec = Vec::with_capacity(pair.spec.len());
        for &member in pair.spec.iter() {
            self.spent += 1;
            spec.extend(self.spec.after_now(met, member)?);
        }
        let spec = self.close_between(pool, spec, marks)?;
        self.reach_later(at, RegionStep::PassBetween, RegionPair { imp, spec, marks, is_between: true })
    }

    fn pass_to_mark(&mut self, pool: &TermPool, at: usize, pair: &RegionPair) -> Result<(), ExpandEnd> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let Some(imp) = self.imp.at_last_mark(met, pair.imp, pair.marks)? else { return Ok(()) };
        let mut spec = Vec::with_capacity(pair.spec.len());
        for &member in pair.spec.iter() {
            self.spent += 1;
            spec.extend(self.spec.at_last_mark(met, member, pair.marks)?);
        }
        let spec = self.close_now(pool, spec)?;
        // The last mark is now, which is slot 0: one mark less, and the others keep their numbers.
        let later = RegionPair { imp, spec, marks: pair.marks - 1, is_between: false };
        self.reach_later(at, RegionStep::PassToMark, later)
    }

    /// Adds a pair after time has passed, for which the specification must have been able to wait too.
    fn reach_later(&mut self, at: usize, step: RegionStep, pair: RegionPair) -> Result<(), ExpandEnd> {
        if pair.spec.is_empty() {
            return Err(ExpandEnd::Difference(step));
        }
        self.reach(pair, Some((at, step)));
        Ok(())
    }

    /// The states of the specification after a message now.
    fn after_label(
        &mut self,
        pool: &TermPool,
        spec: &RegionBelief,
        label: TimedLabelId,
    ) -> Result<RegionBelief, RegionStop> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let mut found = Vec::new();
        for &member in spec.iter() {
            self.spent += 1;
            found.extend(self.spec.after_label(met, member, label)?.iter());
        }
        self.close_now(pool, found)
    }

    /// Returns the states of the specification closed under internal steps now.
    fn close_now(&mut self, pool: &TermPool, members: Vec<MemberId>) -> Result<RegionBelief, RegionStop> {
        self.close(pool, members, None)
    }

    /// Returns the states of the specification closed under internal steps and time, up to the last of `marks` marks.
    fn close_between(
        &mut self,
        pool: &TermPool,
        members: Vec<MemberId>,
        marks: u16,
    ) -> Result<RegionBelief, RegionStop> {
        self.close(pool, members, Some(marks))
    }

    fn close(
        &mut self,
        pool: &TermPool,
        members: Vec<MemberId>,
        marks: Option<u16>,
    ) -> Result<RegionBelief, RegionStop> {
        let met = &mut MetMessages { pool, labels: &mut self.labels };
        let mut closure: BTreeSet<MemberId> = members.into_iter().collect();
        let mut open: Vec<MemberId> = closure.iter().copied().collect();
        while let Some(member) = open.pop() {
            self.spent += 1;
            let is_due = self.spent.is_multiple_of(STEPS_PER_LOOK);
            if self.spent > self.limit || is_due && self.halt.halt_reason().is_some() {
                return Err(RegionStop::Turn);
            }
            let internal = self.spec.internal_steps(met, member)?;
            let later = match marks {
                Some(marks) => self.spec.next_between_marks(met, member, marks)?,
                None => None,
            };
            for next in internal.iter().copied().chain(later) {
                if closure.insert(next) {
                    open.push(next);
                }
            }
        }
        Ok(closure.into_iter().collect())
    }

    /// Returns the pair without the marks that tell nothing: no clock of the implementation was reset there, and with a
    /// state of the specification it may be in all others that differ from it in their order with the mark only.
    fn forget_marks(&mut self, mut pair: RegionPair) -> (RegionPair, Vec<u16>) {
        let mut forgotten = Vec::new();
        // From the last to the first, so that the numbers of the marks still to be looked at do not change.
        for mark in (1..=pair.marks).rev() {
            if self.imp.has_clock_at_mark(pair.imp, mark) {
                continue;
            }
            if let Some(spec) = self.without_mark(&pair.spec, mark) {
                let (imp, _) = self.imp.without_mark(pair.imp, mark);
                pair = RegionPair { imp, spec, marks: pair.marks - 1, ..pair };
                forgotten.push(mark);
            }
        }
        (pair, forgotten)
    }

    /// Returns the states of the specification without a mark; `None` if it tells some of them apart.
    fn without_mark(&mut self, spec: &RegionBelief, mark: u16) -> Option<RegionBelief> {
        let mut counts: FxHashMap<MemberId, (u32, u32)> = FxHashMap::default();
        for &member in spec.iter() {
            self.spent += 1;
            let (joined, fractions) = self.spec.without_mark(member, mark);
            // Exact only if the belief has the joined state with *every* place of the mark: then the mark says nothing.
            // `n` fractions leave `n` places at them and `n + 1` around them. The mark may be at any of the fractions,
            // between two of them, or before or after all.
            counts.entry(joined).or_insert((0, 2 * u32::from(fractions) + 1)).0 += 1;
        }
        if counts.values().any(|(found, all)| found != all) {
            return None;
        }
        let mut spec: Vec<MemberId> = counts.into_keys().collect();
        spec.sort_unstable();
        Some(spec.into())
    }
}

impl From<RegionStop> for RegionEnd {
    fn from(stop: RegionStop) -> Self {
        match stop {
            RegionStop::Impossible => Self::Impossible,
            RegionStop::Turn => Self::Turn,
        }
    }
}
