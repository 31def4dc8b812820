//! Breadth-first search through a product for a step the specification forbids.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use ioxide_smt::halt::Halted;
use ioxide_symex::Ctx;

use super::branch::TooMany;
use super::graph::SpecGraph;
use super::price::price;
use super::private::known_values;
use super::product::{ModelProduct, ProductNext, ProductState, ProductStep};
use super::region::{
    CanonicalNames, ProductMatch, SeenProducts, Widening, canonical, concretised, decided_cases, is_too_large,
};
use super::side::SideMember;

/// Members of both sides with unknown values beyond which a symbolic search does not look into a state.
const CROWD: usize = 14;
/// The same where there are clocks: every member has zones of its own.
const CROWD_IN_TIME: usize = 5;
/// Product states beyond which a search gives up that has left out a crowd: it proves nothing any more, but what is
/// forbidden near the start is often found beside the crowd.
const MAX_BESIDE_A_CROWD: usize = 100;

/// New terms beyond which a search gives up: conditions that grow with every step have no end of their own.
const MAX_NEW_TERMS: usize = 2_000_000;

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBounds {
    /// At most this many product states.
    pub max_states: usize,
    /// At most this many steps.
    pub max_depth: u32,
}

impl Default for SearchBounds {
    /// As deep as it goes, up to 20,000 product states.
    fn default() -> Self {
        Self { max_states: 20_000, max_depth: u32::MAX }
    }
}

/// Whether product states that were seen before are looked into again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProductRevisit {
    /// Yes: the search is a tree.
    Always,
    /// No; and states may be widened.
    Never(Widening),
    /// No, and they are taken apart into concrete ones, which must have small domains.
    Concrete,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchEnd {
    /// Every product state was looked at, and none is unsafe.
    Exhausted,
    /// These steps may end in something forbidden.
    Unsafe(Vec<ProductStep>),
    /// States at this depth were not looked into.
    Depth,
    /// There were too many states.
    States,
    /// The turn is over.
    Turn,
    /// A step has too many cases, or internal steps do not end.
    Cases,
    /// States with values that grow beyond what is computed were not looked into.
    TooLarge,
    /// The watcher asked for it.
    Stopped,
    /// The command has to end.
    Halted(Halted),
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchEffort {
    /// Product states looked at.
    pub states: usize,
    /// States of the precomputed specification graph that were passed without a step.
    pub passed: usize,
    /// The greatest number of steps from the start.
    pub depth: u32,
    /// Steps that led to a state seen before.
    pub merged: usize,
    /// Steps the solver could not decide; they were taken in doubt.
    pub doubts: usize,
}

/// Where the search may leave the precomputed graph of the specification.
pub(crate) struct Shortcut<'g> {
    pub graph: &'g SpecGraph,
    /// Whether the mutation can matter in a state of the graph.
    pub touches: Box<dyn Fn(&ProductState) -> bool + 'g>,
    /// Whether the mutation can matter for a step.
    pub concerns: Box<dyn Fn(ProductStep) -> bool + 'g>,
}

/// What a search leaves behind.
pub(crate) struct SearchRemains {
    /// The product states, in order of discovery.
    pub pairs: Vec<ProductState>,
    /// Their forms.
    pub seen: SeenProducts,
    pub names: CanonicalNames,
    pub edges: Vec<(usize, ProductStep, usize)>,
}

/// A state to look at.
#[derive(Clone)]
enum SearchItem {
    /// A product state.
    Pair(ProductState),
    /// Both sides are in this state of the specification graph.
    Diagonal(usize),
}

/// How a node was reached: after so many steps, the last of them from another node.
#[derive(Clone, Copy)]
struct ReachedBy {
    depth: u32,
    parent: Option<(usize, ProductStep)>,
}

struct SearchNode {
    item: SearchItem,
    by: ReachedBy,
}

/// A search in progress. Going on after [`SearchEnd::Unsafe`] looks for the next unsafe state.
pub(crate) struct ProductSearch<'p, 's> {
    product: &'p ModelProduct<'s>,
    shortcut: Option<Shortcut<'p>>,
    revisit: ProductRevisit,
    /// May be raised between two runs.
    pub bounds: SearchBounds,
    /// What the next run may cost, in evaluations of guards.
    pub purse: usize,
    /// What all runs have cost.
    pub spent: usize,
    names: CanonicalNames,
    seen: SeenProducts,
    on_graph: Vec<bool>,
    nodes: Vec<SearchNode>,
    frontier: VecDeque<usize>,
    /// Unsafe steps found and not yet handed out.
    found: VecDeque<Vec<ProductStep>>,
    /// Every edge between product states, where they are wanted.
    pub edges: Option<Vec<(usize, ProductStep, usize)>>,
    pub effort: SearchEffort,
    /// States were widened: an unsafe one may be out of reach.
    pub widened: bool,
    cut: bool,
    /// Values of some state are too large.
    too_large: bool,
    /// States with many members were not looked into.
    crowded: bool,
}

/// In time, the states of the implementation one by one: what one of them can do wrong, the implementation can, and
/// the zones of several need not be told apart.
fn one_by_one(product: &ModelProduct<'_>, pair: ProductState) -> Vec<ProductState> {
    if !product.is_timed() || pair.imp.len() == 1 {
        return vec![pair];
    }
    let alone = |member: &SideMember| ProductState { imp: vec![member.clone()], ..pair.clone() };
    pair.imp.iter().map(alone).collect()
}

impl<'p, 's> ProductSearch<'p, 's> {
    pub fn new(
        product: &'p ModelProduct<'s>,
        revisit: ProductRevisit,
        bounds: SearchBounds,
        names: CanonicalNames,
    ) -> Self {
        Self {
            product,
            shortcut: None,
            revisit,
            bounds,
            purse: usize::MAX,
            spent: 0,
            names,
            seen: SeenProducts::default(),
            on_graph: Vec::new(),
            nodes: Vec::new(),
            frontier: VecDeque::new(),
            found: VecDeque::new(),
            edges: None,
            effort: SearchEffort::default(),
            widened: false,
            cut: false,
            too_large: false,
            crowded: false,
        }
    }

    /// Uses the precomputed graph of the specification where the mutation does not matter.
    pub fn with_shortcut(mut self, shortcut: Shortcut<'p>) -> Self {
        self.on_graph = vec![false; shortcut.graph.len()];
        self.shortcut = Some(shortcut);
        self
    }

    /// Looks until something unsafe is found, nothing is left or the turn is over.
    pub fn run(
        &mut self,
        cx: &mut Ctx<'_>,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> SearchEnd {
        let before = price(cx, self.effort.states);
        let end = self.run_from(cx, before, watch);
        self.spent += price(cx, self.effort.states) - before;
        end
    }

    /// As [`run`](Self::run), where all that was done until now has cost `before`.
    fn run_from(
        &mut self,
        cx: &mut Ctx<'_>,
        before: usize,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> SearchEnd {
        let most_terms = cx.pool.len() + MAX_NEW_TERMS;
        if self.nodes.is_empty() && self.start(cx).is_err() {
            return SearchEnd::Cases;
        }
        if let Some(steps) = self.found.pop_front() {
            return SearchEnd::Unsafe(steps);
        }
        while let Some(at) = self.frontier.pop_front() {
            if let Some(halted) = cx.halted() {
                self.frontier.push_front(at);
                return SearchEnd::Halted(halted);
            }
            if self.nodes[at].by.depth >= self.bounds.max_depth {
                self.cut = true;
                continue;
            }
            if self.nodes.len() > self.bounds.max_states {
                self.frontier.push_front(at);
                return SearchEnd::States;
            }
            if self.expand(cx, at).is_err() {
                return cx.halted().map_or(SearchEnd::Cases, SearchEnd::Halted);
            }
            self.effort.depth = self.effort.depth.max(self.nodes[at].by.depth);
            if let Some(steps) = self.found.pop_front() {
                return SearchEnd::Unsafe(steps);
            }
            let is_hopeless = self.crowded && self.nodes.len() > MAX_BESIDE_A_CROWD;
            if is_hopeless || cx.pool.len() > most_terms {
                return SearchEnd::Cases;
            }
            if watch(&self.effort).is_break() {
                return SearchEnd::Stopped;
            }
            if self.purse < usize::MAX && price(cx, self.effort.states) - before >= self.purse {
                return SearchEnd::Turn;
            }
        }
        match () {
            () if self.crowded => SearchEnd::Cases,
            () if self.too_large => SearchEnd::TooLarge,
            () if self.cut => SearchEnd::Depth,
            () => SearchEnd::Exhausted,
        }
    }

    /// What was found, for a graph made of it.
    pub fn into_parts(self) -> SearchRemains {
        let pair = |node: SearchNode| match node.item {
            SearchItem::Pair(pair) => Some(pair),
            SearchItem::Diagonal(_) => None,
        };
        let pairs = self.nodes.into_iter().filter_map(pair).collect();
        SearchRemains { pairs, seen: self.seen, names: self.names, edges: self.edges.unwrap_or_default() }
    }

    fn start(&mut self, cx: &mut Ctx<'_>) -> Result<(), TooMany> {
        if let Some(shortcut) = &self.shortcut
            && let Some(root) = shortcut.graph.root()
        {
            self.on_graph[root] = true;
            self.push(SearchItem::Diagonal(root), ReachedBy { depth: 0, parent: None });
            return Ok(());
        }
        for (pair, doubt) in self.product.initial(cx)? {
            self.reach(cx, pair, doubt, ReachedBy { depth: 0, parent: None });
        }
        Ok(())
    }

    fn expand(&mut self, cx: &mut Ctx<'_>, at: usize) -> Result<(), TooMany> {
        match self.nodes[at].item.clone() {
            SearchItem::Pair(pair) => {
                self.effort.states += 1;
                let steps = self.product.steps();
                self.expand_pair(cx, at, &pair, &steps)
            }
            SearchItem::Diagonal(node) => self.expand_diagonal(cx, at, node),
        }
    }

    fn expand_pair(
        &mut self,
        cx: &mut Ctx<'_>,
        at: usize,
        pair: &ProductState,
        steps: &[ProductStep],
    ) -> Result<(), TooMany> {
        let depth = self.nodes[at].by.depth;
        for &step in steps {
            for next in self.product.after(cx, pair, step)? {
                match next {
                    ProductNext::Fail { doubt } => {
                        self.effort.doubts += usize::from(doubt);
                        let steps = self.trace(at, step);
                        if !self.found.contains(&steps) {
                            self.found.push_back(steps);
                        }
                    }
                    ProductNext::Pair { pair, doubt } => {
                        self.reach(cx, pair, doubt, ReachedBy { depth: depth + 1, parent: Some((at, step)) })
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows the edges of the graph; takes the steps the mutation concerns in the product.
    fn expand_diagonal(&mut self, cx: &mut Ctx<'_>, at: usize, node: usize) -> Result<(), TooMany> {
        let Some(shortcut) = &self.shortcut else { return Ok(()) };
        let pair = shortcut.graph.pair(node);
        let touched = (shortcut.touches)(pair);
        let concerns = |step: ProductStep| touched && (shortcut.concerns)(step);
        let follow = shortcut.graph.edges(node).iter().copied().filter(|(step, _)| !concerns(*step));
        let follow: Vec<(ProductStep, usize)> = follow.collect();
        let steps: Vec<ProductStep> =
            self.product.steps().into_iter().filter(|&step| concerns(step)).collect();
        let pair = pair.clone();
        if steps.is_empty() {
            self.effort.passed += 1;
        } else {
            self.effort.states += 1;
            self.expand_pair(cx, at, &pair, &steps)?;
        }
        let depth = self.nodes[at].by.depth + 1;
        for (step, to) in follow {
            self.reach_graph(to, ReachedBy { depth, parent: Some((at, step)) });
        }
        Ok(())
    }

    fn reach_graph(&mut self, to: usize, by: ReachedBy) {
        if !self.on_graph[to] {
            self.on_graph[to] = true;
            self.push(SearchItem::Diagonal(to), by);
        }
    }

    /// Goes on from `pair`; a crowd of symbolic states is left to a search state by state.
    fn reach(&mut self, cx: &mut Ctx<'_>, pair: ProductState, doubt: bool, by: ReachedBy) {
        if is_too_large(cx, &pair) {
            self.too_large = true;
            return;
        }
        for (pair, doubt) in one_by_one(self.product, pair)
            .into_iter()
            .flat_map(|pair| self.product.limits.split(cx, pair, doubt))
            .collect::<Vec<_>>()
        {
            for (pair, doubt) in decided_cases(cx, &self.names, pair, doubt) {
                for (pair, doubt) in known_values(cx, &mut self.names, pair, doubt) {
                    self.reach_case(cx, pair, doubt, by);
                }
            }
        }
    }

    /// As [`reach`](Self::reach), where every item of a collection is there or not.
    fn reach_case(&mut self, cx: &mut Ctx<'_>, pair: ProductState, doubt: bool, by: ReachedBy) {
        let pair = canonical(cx, &mut self.names, pair);
        if self.revisit != ProductRevisit::Concrete && self.is_crowd(cx, &pair) {
            self.crowded = true;
            return;
        }
        if pair.is_diagonal()
            && let Some(shortcut) = &self.shortcut
            && let Some(node) = shortcut.graph.find(cx, &pair)
        {
            self.effort.merged += 1;
            self.reach_graph(node, by);
            return;
        }
        let widening = match self.revisit {
            ProductRevisit::Concrete => {
                match concretised(cx, &self.names, &pair, doubt) {
                    Some(pairs) => {
                        pairs.into_iter().for_each(|pair| self.visit(cx, pair, by, Widening::Never))
                    }
                    None => self.cut = true,
                }
                return;
            }
            ProductRevisit::Never(widening) => widening,
            ProductRevisit::Always => {
                self.push(SearchItem::Pair(pair), by);
                return;
            }
        };
        self.visit(cx, (pair, doubt), by, widening);
    }

    /// Whether `pair` has more members than are looked into.
    fn is_crowd(&self, cx: &Ctx<'_>, pair: &ProductState) -> bool {
        let members = pair.imp.iter().chain(&pair.spec);
        if self.product.is_timed() {
            return members.count() > CROWD_IN_TIME;
        }
        // Members without unknown values cost no questions, however many they are.
        members.filter(|member| member.store.terms().iter().any(|&term| !cx.pool.is_ground(term))).count()
            > CROWD
    }

    /// Remembers a state and goes on from it, unless it is covered.
    fn visit(
        &mut self,
        cx: &mut Ctx<'_>,
        (pair, doubt): (ProductState, bool),
        by: ReachedBy,
        widening: Widening,
    ) {
        // A state that may not exist must not stand for others.
        if doubt {
            self.effort.doubts += 1;
            self.push(SearchItem::Pair(pair), by);
            return;
        }
        let number = self.nodes.len();
        let to = match self.seen.visit(cx, &mut self.names, pair, number, widening) {
            ProductMatch::New(pair) => self.push(SearchItem::Pair(pair), by),
            ProductMatch::Widened(pair) => {
                self.widened = true;
                self.push(SearchItem::Pair(pair), by)
            }
            ProductMatch::Covered(known) => {
                self.effort.merged += 1;
                known
            }
        };
        if let (Some(edges), Some((from, step))) = (&mut self.edges, by.parent) {
            edges.push((from, step, to));
        }
    }

    fn push(&mut self, item: SearchItem, by: ReachedBy) -> usize {
        self.nodes.push(SearchNode { item, by });
        self.frontier.push_back(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The steps to `at`, then `last`.
    fn trace(&self, at: usize, last: ProductStep) -> Vec<ProductStep> {
        let mut steps = vec![last];
        let mut at = at;
        while let Some((parent, step)) = self.nodes[at].by.parent {
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        steps
    }
}
