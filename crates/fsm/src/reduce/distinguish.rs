//! Reliable distinguishability and adaptive characterising sets.
//!
//! Two states are *r-distinguishable* if some input gives them no common
//! output, or common outputs only into pairs that are r-distinguishable
//! already \[Sachtleben18, Def. 2.3.3]. An adaptive characterising set holds for
//! every such pair a case that distinguishes it [Def. 5.3.5].
//!
//! Cases are built for one pair at a time; where inputs are equally good for
//! that pair, the one that serves most other pairs is taken, so that few cases
//! are needed.

use ioxide_model::index::Idx;

use super::AdaptiveCase;
use crate::mealy::{InputId, OutputId, StateId};
use crate::nfsm::Observable;

/// The r-distinguishable pairs of states of a machine, each with the number of steps it takes.
#[derive(Clone, Debug)]
pub struct RDistinguish<'m> {
    machine: &'m Observable,
    /// The least `k` such that the pair is r(k)-distinguishable.
    level: Vec<Option<u32>>,
}

impl<'m> RDistinguish<'m> {
    /// Computes the levels of all pairs, lowest first.
    #[must_use]
    pub fn new(machine: &'m Observable) -> Self {
        let n = machine.n_states();
        let mut this = Self { machine, level: vec![None; n * n] };
        // A fixed point from below: a pair gets level `k` if some input leads it, by every common output, to lower
        // levels.
        for level in 1.. {
            let found: Vec<(StateId, StateId)> = this
                .pairs()
                .filter(|&(a, b)| this.level(a, b).is_none())
                .filter(|&(a, b)| machine.inputs().any(|x| this.lowers_level(a, b, x)))
                .collect();
            if found.is_empty() {
                break;
            }
            for (a, b) in found {
                this.level[a.index() * n + b.index()] = Some(level);
                this.level[b.index() * n + a.index()] = Some(level);
            }
        }
        this
    }

    /// Returns the least number of steps that r-distinguish the two states; `None` if nothing does.
    #[must_use]
    pub fn level(&self, a: StateId, b: StateId) -> Option<u32> {
        self.level[a.index() * self.machine.n_states() + b.index()]
    }

    /// All unordered pairs of different states.
    pub fn pairs(&self) -> impl Iterator<Item = (StateId, StateId)> + use<'m> {
        let machine = self.machine;
        machine.states().flat_map(move |a| machine.states().take(a.index()).map(move |b| (b, a)))
    }

    /// Returns whether both states answer `input` and every output that both can give leads to a pair of lower level;
    /// true if they have no output in common.
    fn lowers_level(&self, a: StateId, b: StateId, input: InputId) -> bool {
        let is_answered = |state| !self.machine.answers(state, input).is_empty();
        let level = self.level(a, b).unwrap_or(u32::MAX);
        is_answered(a)
            && is_answered(b)
            && self
                .common_outputs(a, b, input)
                .all(|(_, next)| self.level(next.0, next.1).is_some_and(|below| below < level))
    }

    fn common_outputs(
        &self,
        a: StateId,
        b: StateId,
        input: InputId,
    ) -> impl Iterator<Item = (OutputId, (StateId, StateId))> {
        let step = move |&(output, next_a): &(OutputId, StateId)| {
            self.machine.state_after(b, input, output).map(|next_b| (output, (next_a, next_b)))
        };
        self.machine.answers(a, input).iter().filter_map(step)
    }

    /// A case that distinguishes `lead`, and as many of `others` as it happens to.
    #[must_use]
    pub fn separating_case(&self, lead: (StateId, StateId), others: &[(StateId, StateId)]) -> AdaptiveCase {
        let serves = |x: &InputId| others.iter().filter(|&&(a, b)| self.lowers_level(a, b, *x)).count();
        let inputs = self.machine.inputs().filter(|&x| self.lowers_level(lead.0, lead.1, x));
        let Some(input) = inputs.max_by_key(|x| (serves(x), std::cmp::Reverse(*x))) else {
            return AdaptiveCase::Stop;
        };
        // The lead decides the input, the others only break ties; those that this input serves too go along, and the
        // case below each output is built for them as well.
        let served: Vec<_> =
            others.iter().copied().filter(|&(a, b)| self.lowers_level(a, b, input)).collect();
        let mut pairs: Vec<(OutputId, (StateId, StateId))> =
            self.common_outputs(lead.0, lead.1, input).collect();
        let n_lead = pairs.len();
        pairs.extend(served.iter().flat_map(|&(a, b)| self.common_outputs(a, b, input)));
        let mut outputs: Vec<OutputId> = pairs.iter().map(|&(output, _)| output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        let below = |output| {
            let here: Vec<_> = pairs.iter().filter(|&&(y, _)| y == output).map(|&(_, pair)| pair).collect();
            let leads = pairs[..n_lead].iter().find(|&&(y, _)| y == output).map(|&(_, pair)| pair);
            (output, self.separating_case(leads.unwrap_or(here[0]), &here))
        };
        let then = outputs.into_iter().map(below).collect();
        AdaptiveCase::Apply { input, then, otherwise: Box::new(AdaptiveCase::Stop) }
    }
}

/// An adaptive characterising set of `machine`.
#[must_use]
pub fn characterising_cases(machine: &Observable) -> Vec<AdaptiveCase> {
    let distinguish = RDistinguish::new(machine);
    let mut open: Vec<(StateId, StateId)> =
        distinguish.pairs().filter(|&(a, b)| distinguish.level(a, b).is_some()).collect();
    // Hard pairs first: their long cases distinguish many easy pairs on the way.
    open.sort_by_key(|&(a, b)| std::cmp::Reverse(distinguish.level(a, b)));
    let mut cases = Vec::new();
    while let Some(&lead) = open.first() {
        let case = distinguish.separating_case(lead, &open);
        let before = open.len();
        open.retain(|&(a, b)| !case.r_distinguishes(machine, a, b));
        debug_assert!(open.len() < before, "a case tells its lead apart");
        if open.len() == before {
            break;
        }
        cases.push(case);
    }
    cases
}
