//! Choosing words for a node of the graph, greedily and in several ways.
//!
//! Each word on offer separates the node from some open states, at a price: the
//! symbols that the node still lacks, and those that the access nodes of the other states do. A plan takes
//! the offer of the best value for what is open until nothing is; the cheapest
//! of a few plans is chosen. The tables are used again from node to node.

use super::convergence::{ConvergenceGraph, WordClassId};
use crate::mealy::{InputId, StateId};

/// A word offered for a node, with the parts of its cost that do not depend on other choices.
#[derive(Clone, Copy)]
struct WordOffer {
    /// The number of symbols of the word that are defined at the node, and the cost of starting the rest.
    defined: usize,
    access: usize,
}

impl WordOffer {
    /// Returns the cost of a use of the word; the symbols that access nodes lack are shared by `weight` nodes.
    fn cost(&self, used: OfferUse, weight: f64) -> f64 {
        let end = used.end as usize;
        let own = if end > self.defined { end - self.defined + self.access } else { 0 };
        // The last summand keeps a word that costs nothing from having infinite value; small enough to decide only
        // between words that are otherwise free.
        own as f64 + f64::from(used.missing_cost) / weight + 0.01
    }
}

/// A state that a word separates a node from.
#[derive(Clone, Copy)]
pub(super) struct StateSeparation {
    /// The place of the state among the open ones.
    pub(super) open: u32,
    /// The number of symbols after which the word separates.
    pub(super) end: u16,
    /// The cost of defining that much of the word at the access node of the state; 0 if it is defined.
    pub(super) missing_cost: u16,
}

/// The words offered for a node, with the open states they separate it from.
#[derive(Default)]
pub(super) struct Offers {
    offers: Vec<WordOffer>,
    left: OffersLeft,
}

/// A word, by its number among the offers, cut after its last use.
#[derive(Clone, Copy)]
pub(super) struct CutWord {
    pub(super) word: usize,
    pub(super) end: usize,
}

/// An offer taken.
#[derive(Clone, Copy)]
struct OfferChoice {
    cut: CutWord,
    cost: f64,
    /// The end of its separations among those of the selection.
    separations_end: usize,
}

/// A selection of offers.
#[derive(Default)]
struct OfferSelection {
    choices: Vec<OfferChoice>,
    separations: Vec<StateSeparation>,
}

impl OfferSelection {
    /// Returns the cost of all choices, plus `access` for each word after the first.
    fn total_cost(&self, access: f64) -> f64 {
        let further = self.choices.len().saturating_sub(1) as f64 * access;
        self.choices.iter().map(|choice| choice.cost).sum::<f64>() + further
    }
}

/// The parameters of a choice of words.
pub(super) struct OfferPrices {
    /// The number of open states.
    pub(super) n_open: usize,
    /// The number of leading offers that form a harmonised identifier.
    pub(super) n_harmonised: usize,
    /// The number of nodes that share the cost of symbols that access nodes lack.
    pub(super) uses: f64,
    /// The cost of each further word in addition to its symbols.
    pub(super) access: f64,
}

/// The chooser of words: the offers, and tables that are reused from node to node.
#[derive(Default)]
pub(super) struct WordChooser {
    pub(super) offers: Offers,
    left: OffersLeft,
    best: OfferSelection,
    other: OfferSelection,
}

impl WordChooser {
    /// Chooses the cheapest of a few plans.
    pub(super) fn choose_cheapest_plan(&mut self, prices: &OfferPrices) {
        let OfferPrices { n_harmonised, access, .. } = *prices;
        let n = self.offers.offers.len();
        self.offers.plan_greedily(&mut self.left, &mut self.best, n, access, prices);
        // One word that separates everything, chosen at the full price of a further word: no plan with more is cheaper.
        if self.best.choices.len() < 2 {
            return;
        }
        // Greed with and without the price of a further word errs in different directions; harmonised words alone are
        // more expensive here, and cheaper later because the access nodes have them.
        for (n, overhead) in [(n, 0.0), (n_harmonised, access)] {
            self.offers.plan_greedily(&mut self.left, &mut self.other, n, overhead, prices);
            if self.other.total_cost(access) < self.best.total_cost(access) {
                std::mem::swap(&mut self.best, &mut self.other);
            }
        }
    }

    /// The words chosen, each with the states it separates the node from.
    pub(super) fn chosen_words(&self) -> impl Iterator<Item = (CutWord, &[StateSeparation])> {
        let mut start = 0;
        self.best.choices.iter().map(move |choice| {
            let separations = &self.best.separations[start..choice.separations_end];
            start = choice.separations_end;
            (choice.cut, separations)
        })
    }
}

/// The effect of an offer on some states: their number, the longest prefix they need, and the symbols their access
/// nodes lack.
#[derive(Clone, Copy, Default)]
struct OfferUse {
    gain: u32,
    end: u32,
    missing_cost: u32,
}

impl OfferUse {
    fn add_state(&mut self, separation: StateSeparation) {
        self.gain += 1;
        self.end = self.end.max(u32::from(separation.end));
        self.missing_cost += u32::from(separation.missing_cost);
    }
}

/// The effect of an offer on the open states where its word is defined, and on all of them.
#[derive(Clone, Copy, Default)]
struct OfferUses {
    free: OfferUse,
    all: OfferUse,
}

impl OfferUses {
    fn add_state(&mut self, separation: StateSeparation) {
        self.all.add_state(separation);
        if separation.missing_cost == 0 {
            self.free.add_state(separation);
        }
    }
}

/// The states that a use of a word takes into account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeparationScope {
    /// The states at whose access nodes the word is defined already.
    Free,
    /// All states that the word separates the node from.
    All,
}

impl Offers {
    /// Forgets all offers.
    pub(super) fn clear(&mut self) {
        self.offers.clear();
        self.left.separations.clear();
        self.left.ends.clear();
        self.left.uses.clear();
    }

    /// Adds `word`; `separate` returns the number of symbols after which it separates the node from another state,
    /// 0 for never, and the cost of defining them at the access node of that state.
    pub(super) fn push_offer(
        &mut self,
        graph: &ConvergenceGraph<'_>,
        node: WordClassId,
        word: &[InputId],
        open: &[StateId],
        mut separate: impl FnMut(StateId) -> (u16, usize),
    ) {
        let (defined, at) = graph.walk_defined(node, word);
        self.offers.push(WordOffer { defined, access: graph.access_cost(at) });
        let mut uses = OfferUses::default();
        for (place, &other) in (0..).zip(open) {
            let (end, missing_cost) = separate(other);
            if end > 0 {
                let missing_cost = u16::try_from(missing_cost).unwrap_or(u16::MAX);
                let separation = StateSeparation { open: place, end, missing_cost };
                self.left.separations.push(separation);
                uses.add_state(separation);
            }
        }
        self.left.ends.push(self.left.separations.len());
        self.left.uses.push(uses);
    }

    /// Returns whether every word is defined at the access node of every state that it separates the node
    /// from.
    pub(super) fn are_all_defined(&self) -> bool {
        self.left.uses.iter().all(|uses| uses.all.missing_cost == 0)
    }

    /// Plans greedily among the first `n` offers: takes the offer of the best value for the open states until none is
    /// open.
    ///
    /// `overhead` is the assumed cost of each further word in addition to its symbols.
    fn plan_greedily(
        &self,
        left: &mut OffersLeft,
        plan: &mut OfferSelection,
        n: usize,
        overhead: f64,
        prices: &OfferPrices,
    ) {
        left.restart(&self.left, n, prices.n_open);
        plan.choices.clear();
        plan.separations.clear();
        while let Some((i, reach)) = self.best_offer(&left.uses, prices.uses, overhead) {
            let used = left.take_offer(i, reach, &mut plan.separations);
            let cut = CutWord { word: i, end: used.end as usize };
            let cost = self.offers[i].cost(used, prices.uses);
            plan.choices.push(OfferChoice { cut, cost, separations_end: plan.separations.len() });
            debug_assert!(plan.separations.len() <= prices.n_open, "a state is closed once");
            if plan.separations.len() == prices.n_open {
                break;
            }
            left.drop_closed();
        }
    }

    /// Returns the offer that separates most open states per cost, and the states it takes into account; `None` if no
    /// offer separates any.
    fn best_offer(&self, uses: &[OfferUses], weight: f64, overhead: f64) -> Option<(usize, SeparationScope)> {
        let mut best: Option<(f64, usize, SeparationScope)> = None;
        // Each word is weighed twice: for what it separates without touching an access node, and for all it separates.
        for (i, OfferUses { free, all }) in uses.iter().enumerate() {
            for (used, reach) in [(free, SeparationScope::Free), (all, SeparationScope::All)] {
                if used.gain == 0 || (reach == SeparationScope::All && all.gain == free.gain) {
                    continue;
                }
                let value = f64::from(used.gain) / (self.offers[i].cost(*used, weight) + overhead);
                if best.is_none_or(|(best, _, _)| value > best) {
                    best = Some((value, i, reach));
                }
            }
        }
        best.map(|(_, i, reach)| (i, reach))
    }
}

/// The offers restricted to the states that are still open.
#[derive(Default)]
struct OffersLeft {
    open: Vec<bool>,
    /// The open states that each offer separates the node from, one offer after the other.
    separations: Vec<StateSeparation>,
    /// For each offer the end of its separations in `separations`.
    ends: Vec<usize>,
    /// The effect of each offer on its separations.
    uses: Vec<OfferUses>,
}

impl OffersLeft {
    /// Resets to the first `n` offers of `all`, with all states open.
    fn restart(&mut self, all: &Self, n: usize, n_open: usize) {
        self.open.clear();
        self.open.resize(n_open, true);
        let n_separations = n.checked_sub(1).map_or(0, |last| all.ends[last]);
        self.separations.clear();
        self.separations.extend_from_slice(&all.separations[..n_separations]);
        self.ends.clear();
        self.ends.extend_from_slice(&all.ends[..n]);
        self.uses.clear();
        self.uses.extend_from_slice(&all.uses[..n]);
    }

    /// Closes the states that offer `i` takes care of and adds them to `taken`.
    fn take_offer(&mut self, i: usize, reach: SeparationScope, taken: &mut Vec<StateSeparation>) -> OfferUse {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        for separation in &self.separations[start..self.ends[i]] {
            if reach == SeparationScope::All || separation.missing_cost == 0 {
                self.open[separation.open as usize] = false;
                taken.push(*separation);
            }
        }
        if reach == SeparationScope::All { self.uses[i].all } else { self.uses[i].free }
    }

    /// Drops the states that are no longer open.
    fn drop_closed(&mut self) {
        // In place and in one pass, `kept` never overtakes `at`: `ends[i]` is read as the start of offer `i + 1` before
        // it is overwritten.
        let (mut kept, mut start) = (0, 0);
        for (end, uses) in self.ends.iter_mut().zip(&mut self.uses) {
            *uses = OfferUses::default();
            for at in start..*end {
                let separation = self.separations[at];
                if self.open[separation.open as usize] {
                    self.separations[kept] = separation;
                    kept += 1;
                    uses.add_state(separation);
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.separations.truncate(kept);
    }
}
