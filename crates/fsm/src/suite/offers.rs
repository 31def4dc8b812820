//! Choosing words for a node of the fold, greedily and in several ways.
//!
//! Each word on offer separates the node from some open roots, at a price: the
//! symbols that the node still lacks, and those that the roots do. A plan takes
//! the offer of the best value for what is open until nothing is; the cheapest
//! of a few plans is chosen. The tables are used again from node to node.

use super::fold::{FoldId, SuiteFold};
use crate::mealy::{InputId, StateId};

/// A word offered for a node, with the parts of its cost that do not depend on other choices.
#[derive(Clone, Copy)]
struct WordOffer {
    /// The number of symbols of the word that are defined at the node, and the cost of starting the rest.
    defined: usize,
    access: usize,
}

impl WordOffer {
    /// Returns the cost of a use of the word; the symbols that roots lack are shared by `weight` nodes.
    fn cost(&self, used: OfferUse, weight: f64) -> f64 {
        let end = used.end as usize;
        let own = if end > self.defined { end - self.defined + self.access } else { 0 };
        own as f64 + f64::from(used.owed) / weight + 0.01
    }
}

/// A root that a word separates a node from.
#[derive(Clone, Copy)]
pub(super) struct RootSeparation {
    /// Its place among the open roots.
    pub(super) open: u32,
    /// The number of symbols after which the word separates.
    pub(super) end: u16,
    /// The cost of defining that much of the word at the root; 0 if it is defined.
    pub(super) owed: u16,
}

/// The words offered for a node, with the open roots they separate it from.
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
    /// The end of its roots among those of the selection.
    roots_end: usize,
}

/// A selection of offers.
#[derive(Default)]
struct OfferSelection {
    choices: Vec<OfferChoice>,
    roots: Vec<RootSeparation>,
}

impl OfferSelection {
    /// Returns the cost of all choices, plus `access` for each word after the first.
    fn total(&self, access: f64) -> f64 {
        let further = self.choices.len().saturating_sub(1) as f64 * access;
        self.choices.iter().map(|choice| choice.cost).sum::<f64>() + further
    }
}

/// The parameters of a choice of words.
pub(super) struct OfferPrices {
    /// The number of open roots.
    pub(super) n_open: usize,
    /// The number of leading offers that form a harmonised identifier.
    pub(super) n_harmonised: usize,
    /// The number of nodes that share the cost of symbols that roots lack.
    pub(super) uses: f64,
    /// The cost of each further word besides its symbols.
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
    pub(super) fn choose(&mut self, prices: &OfferPrices) {
        let OfferPrices { n_harmonised, access, .. } = *prices;
        let n = self.offers.offers.len();
        self.offers.plan(&mut self.left, &mut self.best, n, access, prices);
        if self.best.choices.len() < 2 {
            return;
        }
        for (n, overhead) in [(n, 0.0), (n_harmonised, access)] {
            self.offers.plan(&mut self.left, &mut self.other, n, overhead, prices);
            if self.other.total(access) < self.best.total(access) {
                std::mem::swap(&mut self.best, &mut self.other);
            }
        }
    }

    /// The words chosen, each with the roots it separates the node from.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (CutWord, &[RootSeparation])> {
        let mut start = 0;
        self.best.choices.iter().map(move |choice| {
            let roots = &self.best.roots[start..choice.roots_end];
            start = choice.roots_end;
            (choice.cut, roots)
        })
    }
}

/// The effect of an offer on some roots: their number, the longest prefix they need, and the symbols they lack.
#[derive(Clone, Copy, Default)]
struct OfferUse {
    gain: u32,
    end: u32,
    owed: u32,
}

impl OfferUse {
    fn count(&mut self, root: RootSeparation) {
        self.gain += 1;
        self.end = self.end.max(u32::from(root.end));
        self.owed += u32::from(root.owed);
    }
}

/// The effect of an offer on the open roots where its word is defined, and on all of them.
#[derive(Clone, Copy, Default)]
struct OfferUses {
    free: OfferUse,
    all: OfferUse,
}

impl OfferUses {
    fn count(&mut self, root: RootSeparation) {
        self.all.count(root);
        if root.owed == 0 {
            self.free.count(root);
        }
    }
}

/// The roots that a use of a word takes into account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RootReach {
    /// The roots at which the word is defined already.
    Free,
    /// All roots that the word separates the node from.
    All,
}

impl Offers {
    pub(super) fn clear(&mut self) {
        self.offers.clear();
        self.left.roots.clear();
        self.left.ends.clear();
        self.left.uses.clear();
    }

    /// Adds `word`; `separation` returns the number of symbols after which it separates the node from another state,
    /// 0 for never, and the cost of defining them at the root of that state.
    pub(super) fn push(
        &mut self,
        fold: &SuiteFold<'_>,
        node: FoldId,
        word: &[InputId],
        open: &[StateId],
        mut separation: impl FnMut(StateId) -> (u16, usize),
    ) {
        let (defined, at) = fold.walk(node, word);
        self.offers.push(WordOffer { defined, access: fold.access(at) });
        let mut uses = OfferUses::default();
        for (place, &other) in (0..).zip(open) {
            let (end, owed) = separation(other);
            if end > 0 {
                let owed = u16::try_from(owed).unwrap_or(u16::MAX);
                let root = RootSeparation { open: place, end, owed };
                self.left.roots.push(root);
                uses.count(root);
            }
        }
        self.left.ends.push(self.left.roots.len());
        self.left.uses.push(uses);
    }

    /// Returns whether every word is defined at every root that it separates the node from.
    pub(super) fn owe_nothing(&self) -> bool {
        self.left.uses.iter().all(|uses| uses.all.owed == 0)
    }

    /// Plans greedily among the first `n` offers: takes the offer of the best value for the open roots until none is
    /// open.
    ///
    /// `overhead` is the assumed cost of each further word besides its symbols.
    fn plan(
        &self,
        left: &mut OffersLeft,
        plan: &mut OfferSelection,
        n: usize,
        overhead: f64,
        prices: &OfferPrices,
    ) {
        left.restart(&self.left, n, prices.n_open);
        plan.choices.clear();
        plan.roots.clear();
        while let Some((i, reach)) = self.best(&left.uses, prices.uses, overhead) {
            let whole = left.take(i, reach, &mut plan.roots);
            let cut = CutWord { word: i, end: whole.end as usize };
            let cost = self.offers[i].cost(whole, prices.uses);
            plan.choices.push(OfferChoice { cut, cost, roots_end: plan.roots.len() });
            if plan.roots.len() == prices.n_open {
                break;
            }
            left.keep_open();
        }
    }

    /// Returns the offer that separates most open roots per cost, and the roots it takes into account; `None` if no
    /// offer separates any.
    fn best(&self, uses: &[OfferUses], weight: f64, overhead: f64) -> Option<(usize, RootReach)> {
        let mut best: Option<(f64, usize, RootReach)> = None;
        for (i, OfferUses { free, all }) in uses.iter().enumerate() {
            for (used, reach) in [(free, RootReach::Free), (all, RootReach::All)] {
                if used.gain == 0 || (reach == RootReach::All && all.gain == free.gain) {
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

/// The offers restricted to the roots that are still open.
#[derive(Default)]
struct OffersLeft {
    open: Vec<bool>,
    /// The open roots that each offer separates the node from, one offer after the other.
    roots: Vec<RootSeparation>,
    /// For each offer the end of its roots in `roots`.
    ends: Vec<usize>,
    /// The effect of each offer on its roots.
    uses: Vec<OfferUses>,
}

impl OffersLeft {
    /// Resets to the first `n` offers of `all`, with all roots open.
    fn restart(&mut self, all: &Self, n: usize, n_open: usize) {
        self.open.clear();
        self.open.resize(n_open, true);
        let n_roots = n.checked_sub(1).map_or(0, |last| all.ends[last]);
        self.roots.clear();
        self.roots.extend_from_slice(&all.roots[..n_roots]);
        self.ends.clear();
        self.ends.extend_from_slice(&all.ends[..n]);
        self.uses.clear();
        self.uses.extend_from_slice(&all.uses[..n]);
    }

    /// Closes the roots that offer `i` takes care of and adds them to `taken`.
    fn take(&mut self, i: usize, reach: RootReach, taken: &mut Vec<RootSeparation>) -> OfferUse {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        for root in &self.roots[start..self.ends[i]] {
            if reach == RootReach::All || root.owed == 0 {
                self.open[root.open as usize] = false;
                taken.push(*root);
            }
        }
        if reach == RootReach::All { self.uses[i].all } else { self.uses[i].free }
    }

    /// Drops the roots that are no longer open.
    fn keep_open(&mut self) {
        let (mut kept, mut start) = (0, 0);
        for (end, uses) in self.ends.iter_mut().zip(&mut self.uses) {
            *uses = OfferUses::default();
            for at in start..*end {
                let root = self.roots[at];
                if self.open[root.open as usize] {
                    self.roots[kept] = root;
                    kept += 1;
                    uses.count(root);
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.roots.truncate(kept);
    }
}
