//! The choice of the search: symbolic where domains are large, state by state where there are few states.
//!
//! Which of the two is faster is not known beforehand, so they take short turns that cost about the same: the answer
//! comes within about twice the time of the better one. Turns are counted in evaluations of guards, not in seconds (see
//! [`price`](super::price)), so the same question gets the same answer. If neither decides within the states of the
//! first pass, the search is widened; after that both go as far as the bounds allow.

use std::ops::ControlFlow;

use ioxide_symex::Ctx;

use super::clock_regions::RegionPass;
use super::concrete_pass::{ConcreteEnd, ConcretePass};
use super::product::ModelProduct;
use super::region::{CanonicalNames, Widening};
use super::search::{ProductRevisit, ProductSearch, SearchBounds, SearchEffort, SearchEnd, Shortcut};
use super::unshown::UnshownDifferences;
use super::witness::witness;
use super::{ConformAnswer, ConformDoubt, ConformOptions, ConformProof, Conformance, Merging};

/// The number of symbolic product states of the first pass, before widening is tried. Chosen by feel: a small search
/// should end without widening, which loses the shortest witness.
const FIRST_PASS_STATES: usize = 500;
/// The number of symbolic product states of the second pass, before states are split into concrete ones. Chosen by
/// feel: where widening has not closed the search by then, it seldom does.
const SECOND_PASS_STATES: usize = 4_000;
/// The number of evaluations of guards in one turn. Chosen by feel: short turns, so that the way that is going to
/// succeed is never far behind.
const EVALUATIONS_PER_TURN: usize = 1_000;
/// The number of guards evaluated in about the time of exploring one symbolic product state, queries included. A
/// rough figure: it only decides how evenly the two ways share the time.
pub(super) const EVALUATIONS_PER_STATE: usize = 400;
/// The number of product states of one shape before they are widened. Chosen by feel: fewer widen loops that would
/// have ended, more explore endless ones for longer.
const MAX_ALIKE_STATES: usize = 4;
/// The number of unsafe states without a trace that are tolerated before a search gives up. Chosen by feel: each
/// costs a query for a trace that does not exist.
const MAX_SPURIOUS: usize = 64;

pub(super) type PortfolioWatch<'w> = &'w mut dyn FnMut(&SearchEffort) -> ControlFlow<()>;

/// The number of steps of the search by regions before any other search, where internal steps happen at unseen
/// instants. A fifth of a second on the machine of the measurements: random pairs that it decides take a tenth of that.
const FIRST_REGION_STEPS: usize = 200_000;

/// Searches by regions where clocks and internal steps meet, then by the other searches; where they leave a timed
/// product open, by regions as far as the bounds go.
pub(crate) fn decide<'p>(
    cx: &mut Ctx<'_>,
    product: &'p ModelProduct<'_>,
    options: &ConformOptions,
    shortcut: &mut dyn FnMut() -> Option<Shortcut<'p>>,
    names: &CanonicalNames,
    watch: PortfolioWatch<'_>,
) -> Conformance {
    let steps = options.bounds.max_states.saturating_mul(EVALUATIONS_PER_STATE);
    let mut regions = RegionPass::new(cx, product, options);
    // Zones are better where every instant is seen. Unseen ones leave infinitely many zones, but finitely many regions.
    if let Some(pass) = regions.as_mut().filter(|_| product.has_unseen_instants())
        && let Some(found) = pass.turn(cx, options, steps.min(FIRST_REGION_STEPS), watch)
    {
        return found;
    }
    let found = decide_in_turns(cx, product, options, shortcut, names, watch);
    if is_final(&found.answer) {
        return found;
    }
    regions.and_then(|mut pass| pass.turn(cx, options, steps, watch)).unwrap_or(found)
}

/// Searches symbolically and state by state in turns, then widened, then as far as the bounds go.
fn decide_in_turns<'p>(
    cx: &mut Ctx<'_>,
    product: &'p ModelProduct<'_>,
    options: &ConformOptions,
    shortcut: &mut dyn FnMut() -> Option<Shortcut<'p>>,
    names: &CanonicalNames,
    watch: PortfolioWatch<'_>,
) -> Conformance {
    let bounds = options.bounds;
    let near = bounds.max_states.min(FIRST_PASS_STATES);
    let mut pass = |revisit| SymbolicPass::new(product, revisit, bounds, names, shortcut());
    if options.merging == Merging::Never {
        return pass(ProductRevisit::Always).run_pass(cx, near, watch);
    }
    // First both searches in turns: most differences are near, and which search finds them sooner is not known before.
    let mut race = SearchRace { product, concrete: ConcretePass::new(cx, product, options), spent: 0 };
    let mut symbolic = pass(ProductRevisit::Never(Widening::Never));
    let last = match race.run_race(cx, &mut symbolic, near, watch) {
        SearchWinner::Concrete(found) => return found,
        SearchWinner::Symbolic(verdict) if is_final(&verdict.answer) => return verdict,
        SearchWinner::Symbolic(verdict) => verdict,
    };
    let is_undecided = matches!(&last.answer, ConformAnswer::Unknown(ConformDoubt::Undecided { .. }));
    if is_undecided && race.concrete.is_none() {
        return last;
    }
    // Then with widening, which forgets facts until states recur. It can prove conformance of endless products, but a
    // difference that it finds may not exist, so only its proof counts.
    let mut wide = pass(ProductRevisit::Never(Widening::Beyond(MAX_ALIKE_STATES)));
    wide.search.bounds.max_depth = u32::MAX;
    match race.run_race(cx, &mut wide, near, watch) {
        SearchWinner::Concrete(found) => return found,
        SearchWinner::Symbolic(widened) if matches!(widened.answer, ConformAnswer::Conforms(_)) => {
            return widened;
        }
        SearchWinner::Symbolic(_) => (),
    }
    // If values can be listed, the search state by state gets the rest of the budget: it leaves nothing undecided.
    let listed = race.concrete.is_some();
    let all = bounds.max_states.saturating_mul(EVALUATIONS_PER_STATE);
    if let Some(found) = turn(cx, product, &mut race.concrete, all, watch) {
        return found;
    }
    let last = if !listed && can_continue(&last) {
        symbolic.run_pass(cx, bounds.max_states.min(SECOND_PASS_STATES), watch)
    } else {
        last
    };
    if is_final(&last.answer) {
        return last;
    }
    if !listed && !matches!(last.answer, ConformAnswer::Unknown(ConformDoubt::Depth(_))) {
        // Small domains one by one, for facts that the solver does not decide symbolically.
        let apart = pass(ProductRevisit::Concrete).run_pass(cx, bounds.max_states, watch);
        if !matches!(apart.answer, ConformAnswer::Unknown(_)) {
            return apart;
        }
    }
    if can_continue(&last) { symbolic.run_pass(cx, bounds.max_states, watch) } else { last }
}

/// Two searches for one answer.
struct SearchRace<'p, 's> {
    product: &'p ModelProduct<'s>,
    /// The search state by state; `None` if it is impossible or gave up.
    concrete: Option<ConcretePass<'s>>,
    /// The cost of the symbolic passes so far, in evaluations of guards.
    spent: usize,
}

/// The search that ended first.
enum SearchWinner {
    /// The symbolic pass ended with this answer.
    Symbolic(Conformance),
    /// The search state by state decided.
    Concrete(Conformance),
}

impl SearchRace<'_, '_> {
    /// Runs `pass` up to `states` states, and the search state by state beside it at the same cost.
    fn run_race(
        &mut self,
        cx: &mut Ctx<'_>,
        pass: &mut SymbolicPass<'_, '_>,
        states: usize,
        watch: PortfolioWatch<'_>,
    ) -> SearchWinner {
        loop {
            let before = pass.search.spent;
            // Equal cost for both: neither can be much slower than twice the faster one.
            let ended = pass.turn(cx, states, EVALUATIONS_PER_TURN, watch);
            self.spent += pass.search.spent - before;
            if let Some(verdict) = ended {
                return SearchWinner::Symbolic(verdict);
            }
            if let Some(found) = turn(cx, self.product, &mut self.concrete, self.spent, watch) {
                return SearchWinner::Concrete(found);
            }
        }
    }
}

/// Returns whether no other search could give a better answer.
pub(super) fn is_final(answer: &ConformAnswer) -> bool {
    !matches!(
        answer,
        ConformAnswer::Unknown(
            ConformDoubt::States(_)
                | ConformDoubt::Depth(_)
                | ConformDoubt::Cases(_)
                | ConformDoubt::TooLarge(_)
                | ConformDoubt::Undecided { .. }
        )
    )
}

/// Returns whether a search ended only because of the number of its states.
fn can_continue(verdict: &Conformance) -> bool {
    matches!(verdict.answer, ConformAnswer::Unknown(ConformDoubt::States(_)))
}

/// Continues state by state up to so many evaluations in all; `None` if that gave no answer. A search that gave up is
/// dropped.
fn turn(
    cx: &mut Ctx<'_>,
    product: &ModelProduct<'_>,
    concrete: &mut Option<ConcretePass<'_>>,
    evaluations: usize,
    watch: PortfolioWatch<'_>,
) -> Option<Conformance> {
    let pass = concrete.as_mut()?;
    match pass.turn(cx, product, evaluations, watch) {
        ConcreteEnd::Answer(answer) => Some(Conformance { answer, effort: pass.effort() }),
        ConcreteEnd::Turn => None,
        ConcreteEnd::GaveUp => {
            *concrete = None;
            None
        }
    }
}

/// A symbolic search with the unsafe states it met; a further run resumes it.
pub(super) struct SymbolicPass<'p, 's> {
    product: &'p ModelProduct<'s>,
    search: ProductSearch<'p, 's>,
    /// The unsafe states without a trace.
    unshown: UnshownDifferences,
}

impl<'p, 's> SymbolicPass<'p, 's> {
    /// Makes a search that has not begun; with `shortcut` it follows the graph of the specification where the systems
    /// agree.
    pub(super) fn new(
        product: &'p ModelProduct<'s>,
        revisit: ProductRevisit,
        bounds: SearchBounds,
        names: &CanonicalNames,
        shortcut: Option<Shortcut<'p>>,
    ) -> Self {
        let search = ProductSearch::new(product, revisit, bounds, names.clone());
        let search = match shortcut {
            Some(shortcut) => search.with_shortcut(shortcut),
            None => search,
        };
        Self { product, search, unshown: UnshownDifferences::default() }
    }

    /// Continues up to this many states; after a failure, to the next one.
    pub(super) fn run_pass(
        &mut self,
        cx: &mut Ctx<'_>,
        max_states: usize,
        watch: PortfolioWatch<'_>,
    ) -> Conformance {
        loop {
            if let Some(verdict) = self.turn(cx, max_states, usize::MAX, watch) {
                return verdict;
            }
        }
    }

    /// Continues as [`run_pass`](Self::run_pass) does, for about this many evaluations; `None` if more is left to
    /// explore.
    fn turn(
        &mut self,
        cx: &mut Ctx<'_>,
        max_states: usize,
        evaluations: usize,
        watch: PortfolioWatch<'_>,
    ) -> Option<Conformance> {
        // A resumed search keeps its states and gets the new limits.
        self.search.bounds.max_states = max_states;
        self.search.budget = evaluations;
        let answer = self.finish_turn(cx, watch)?;
        Some(Conformance { answer, effort: self.search.effort })
    }

    /// Runs the search to its end or to the end of the turn; an unsafe state counts only if a trace shows it.
    fn finish_turn(&mut self, cx: &mut Ctx<'_>, watch: PortfolioWatch<'_>) -> Option<ConformAnswer> {
        while self.unshown.count < MAX_SPURIOUS {
            let end = self.search.run_search(cx, watch);
            let depth = self.unshown.sure_depth(self.search.sure_depth());
            let doubt = match end {
                SearchEnd::Turn => return None,
                SearchEnd::Unsafe(steps) => match witness(cx, self.product, &steps) {
                    Ok(witness) => return Some(ConformAnswer::Fails(Box::new(witness))),
                    Err(why) => {
                        // Widened or doubtful states can be unsafe without a run that fails: no failure, but no
                        // proof either.
                        self.unshown.add(why, steps.len());
                        continue;
                    }
                },
                SearchEnd::Exhausted => return Some(self.exhausted_answer()),
                // The bound was reached, but below it something may be wrong: that is what is not known.
                SearchEnd::Depth => {
                    let bound = self.search.bounds.max_depth;
                    self.unshown.doubt_within(bound).unwrap_or(ConformDoubt::Depth(depth))
                }
                SearchEnd::States => ConformDoubt::States(depth),
                SearchEnd::Cases => ConformDoubt::Cases(depth),
                SearchEnd::TooLarge => ConformDoubt::TooLarge(depth),
                SearchEnd::Stopped => ConformDoubt::Stopped,
                SearchEnd::Halted(halted) => ConformDoubt::Halted(halted, depth),
            };
            return Some(ConformAnswer::Unknown(doubt));
        }
        let depth = self.unshown.sure_depth(self.search.sure_depth());
        Some(ConformAnswer::Unknown(match self.unshown.doubt() {
            Some(ConformDoubt::Undecided { why, .. }) => ConformDoubt::Undecided { why, depth },
            _ => {
                let why = "many states may be unsafe, and no trace shows one".into();
                ConformDoubt::Undecided { why, depth }
            }
        }))
    }

    /// Returns the answer of a search that has no state left to explore.
    fn exhausted_answer(&self) -> ConformAnswer {
        match self.unshown.doubt() {
            // Nothing left to explore is a proof only if no unsafe state was left without a trace.
            Some(doubt) => ConformAnswer::Unknown(doubt),
            None if self.search.widened => ConformAnswer::Conforms(ConformProof::Widened),
            None => ConformAnswer::Conforms(ConformProof::Exhausted),
        }
    }
}
