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
    CanonicalNames, ProductMatch, SeenProducts, Widening, canonical, concretise, decided_cases, is_too_large,
};
use super::side::SideMember;

/// The number of members with unknown values above which a symbolic search does not explore a state. Chosen by feel:
/// the cases of a step grow exponentially with them.
const MAX_MEMBERS: usize = 14;
/// The number of members above which it does not in a timed product: every member has its own zones.
const MAX_TIMED_MEMBERS: usize = 5;
/// The number of product states above which a search gives up that has left out a crowded state: it proves nothing any
/// more, but a difference near the start is often found beside it.
const MAX_BESIDE_A_CROWD: usize = 100;

/// The number of new terms above which a search gives up: conditions that grow with every step have no end of their
/// own.
const MAX_NEW_TERMS: usize = 2_000_000;

/// The bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBounds {
    /// The greatest number of product states.
    pub max_states: usize,
    /// The greatest number of steps from the start.
    pub max_depth: u32,
}

impl Default for SearchBounds {
    /// As deep as it goes, up to 20,000 product states.
    fn default() -> Self {
        Self { max_states: 20_000, max_depth: u32::MAX }
    }
}

/// The treatment of product states that were seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProductRevisit {
    /// They are explored again: the search is a tree.
    Always,
    /// They are not explored again; and states may be widened.
    Never(Widening),
    /// They are not explored again, and states are split into concrete ones, which must have small domains.
    Concrete,
}

/// The way in which a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchEnd {
    /// Every product state was explored, and none is unsafe.
    Exhausted,
    /// These steps may end in a forbidden one.
    Unsafe(Vec<ProductStep>),
    /// States at the greatest depth were not explored.
    Depth,
    /// There are more states than the bound.
    States,
    /// The cost limit of the run was reached.
    Turn,
    /// A step has too many cases, internal steps do not end, states with too many members were left out, or too many
    /// terms were made.
    Cases,
    /// States with values that are too large to be computed with were not explored.
    TooLarge,
    /// The watcher stopped the search.
    Stopped,
    /// The time limit or an interrupt ended the search.
    Halted(Halted),
}

/// The effort of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchEffort {
    /// The number of product states explored.
    pub states: usize,
    /// The number of states of the precomputed specification graph that were passed without a step.
    pub passed: usize,
    /// The greatest number of steps from the start.
    pub depth: u32,
    /// The number of steps that led to a state seen before.
    pub merged: usize,
    /// The number of steps that the solver did not decide; they were taken in doubt.
    pub doubts: usize,
}

/// The precomputed graph of the specification, with the places where the search leaves it.
pub(crate) struct Shortcut<'g> {
    pub graph: &'g SpecGraph,
    /// Returns whether the mutation can matter in a state of the graph.
    pub touches: Box<dyn Fn(&ProductState) -> bool + 'g>,
    /// Returns whether the mutation can matter for a step.
    pub concerns: Box<dyn Fn(ProductStep) -> bool + 'g>,
}

/// The result of a search, for a graph.
pub(crate) struct SearchRemains {
    /// The product states, in order of discovery.
    pub pairs: Vec<ProductState>,
    /// The canonical forms of the states.
    pub seen: SeenProducts,
    pub names: CanonicalNames,
    pub edges: Vec<(usize, ProductStep, usize)>,
}

/// A state to explore.
#[derive(Clone)]
enum SearchItem {
    /// A product state.
    Pair(ProductState),
    /// A state of the specification graph that both sides are in.
    Diagonal(usize),
}

/// The origin of a node: the number of steps to it, and the last step with the node before it.
#[derive(Clone, Copy)]
struct ReachedBy {
    depth: u32,
    parent: Option<(usize, ProductStep)>,
}

struct SearchNode {
    item: SearchItem,
    by: ReachedBy,
}

/// A search in progress. A run after [`SearchEnd::Unsafe`] looks for the next unsafe state.
pub(crate) struct ProductSearch<'p, 's> {
    product: &'p ModelProduct<'s>,
    shortcut: Option<Shortcut<'p>>,
    revisit: ProductRevisit,
    /// The bounds, which may be raised between two runs.
    pub bounds: SearchBounds,
    /// The cost limit of the next run, in evaluations of guards.
    pub budget: usize,
    /// The cost of all runs, in evaluations of guards.
    pub spent: usize,
    names: CanonicalNames,
    seen: SeenProducts,
    on_graph: Vec<bool>,
    nodes: Vec<SearchNode>,
    frontier: VecDeque<usize>,
    /// The unsafe steps found and not yet returned.
    found: VecDeque<Vec<ProductStep>>,
    /// Every edge between product states; `None` if edges are not collected.
    pub edges: Option<Vec<(usize, ProductStep, usize)>>,
    pub effort: SearchEffort,
    /// True if states were widened: an unsafe one may be unreachable.
    pub widened: bool,
    cut: bool,
    /// The number of steps up to which everything was looked at: a state after this many was left out, or explored in
    /// part.
    sure_depth: u32,
    /// True if a state has a value that is too large to be computed with.
    too_large: bool,
    /// True if states with too many members were not explored.
    crowded: bool,
    /// True if a state was explored in part only, since a step has too many cases or time was over: it is not explored
    /// again, so the search proves nothing any more.
    partial: bool,
}

/// In a timed product, returns the pair once for each member of the implementation: a failure of one of them is a
/// failure of the implementation, and the zones of several need not be distinguished.
fn one_by_one(product: &ModelProduct<'_>, state: ProductState) -> Vec<ProductState> {
    if !product.is_timed() || state.imp.len() == 1 {
        return vec![state];
    }
    let alone = |member: &SideMember| ProductState { imp: vec![member.clone()], ..state.clone() };
    state.imp.iter().map(alone).collect()
}

impl<'p, 's> ProductSearch<'p, 's> {
    /// Makes a search that has not begun, without a shortcut and without a budget.
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
            budget: usize::MAX,
            spent: 0,
            names,
            seen: SeenProducts::new(product.spec_cover()),
            on_graph: Vec::new(),
            nodes: Vec::new(),
            frontier: VecDeque::new(),
            found: VecDeque::new(),
            edges: None,
            effort: SearchEffort::default(),
            widened: false,
            cut: false,
            sure_depth: u32::MAX,
            too_large: false,
            crowded: false,
            partial: false,
        }
    }

    /// Uses the precomputed graph of the specification where the mutation does not matter.
    pub fn with_shortcut(mut self, shortcut: Shortcut<'p>) -> Self {
        self.on_graph = vec![false; shortcut.graph.len()];
        self.shortcut = Some(shortcut);
        self
    }

    /// Explores until an unsafe state is found, nothing is left or the cost limit is reached.
    pub fn run_search(
        &mut self,
        cx: &mut Ctx<'_>,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> SearchEnd {
        let before = price(cx, self.effort.states);
        let end = self.run_from(cx, before, watch);
        self.spent += price(cx, self.effort.states) - before;
        end
    }

    /// Explores as [`run_search`](Self::run_search) does, where all work so far has cost `before`.
    fn run_from(
        &mut self,
        cx: &mut Ctx<'_>,
        before: usize,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> SearchEnd {
        // Terms are never freed, so what a run may add is bounded, not what there is.
        let most_terms = cx.pool.len() + MAX_NEW_TERMS;
        if self.nodes.is_empty() && self.start_search(cx).is_err() {
            return self.broken_off(cx, 0);
        }
        // Left from the last expansion of the run before.
        if let Some(steps) = self.found.pop_front() {
            return SearchEnd::Unsafe(steps);
        }
        while let Some(at) = self.frontier.pop_front() {
            if let Some(halted) = cx.halt_reason() {
                self.frontier.push_front(at);
                return SearchEnd::Halted(halted);
            }
            if self.nodes[at].by.depth >= self.bounds.max_depth {
                self.cut = true;
                continue;
            }
            // Put back: the next run may have a higher bound and goes on here.
            if self.nodes.len() > self.bounds.max_states {
                self.frontier.push_front(at);
                return SearchEnd::States;
            }
            if self.expand(cx, at).is_err() {
                // Some of its cases were followed, others not: from here on nothing is proven.
                return self.broken_off(cx, self.nodes[at].by.depth);
            }
            self.effort.depth = self.effort.depth.max(self.nodes[at].by.depth);
            if let Some(steps) = self.found.pop_front() {
                return SearchEnd::Unsafe(steps);
            }
            // A state was left out, so there will be no proof; a failure beside it is looked for only so long.
            let is_hopeless = self.crowded && self.nodes.len() > MAX_BESIDE_A_CROWD;
            if is_hopeless || cx.pool.len() > most_terms {
                return SearchEnd::Cases;
            }
            if watch(&self.effort).is_break() {
                return SearchEnd::Stopped;
            }
            if self.budget < usize::MAX && price(cx, self.effort.states) - before >= self.budget {
                return SearchEnd::Turn;
            }
        }
        if self.crowded || self.partial {
            // In this order: what makes a proof impossible comes before what only bounds it.
            SearchEnd::Cases
        } else if self.too_large {
            SearchEnd::TooLarge
        } else if self.cut {
            SearchEnd::Depth
        } else {
            SearchEnd::Exhausted
        }
    }

    /// Returns the number of steps up to which every trace was looked at, by what was explored so far.
    pub fn sure_depth(&self) -> u32 {
        // Breadth first: where a state after `depth` steps is explored, every shorter trace has been.
        let is_bounded = self.frontier.is_empty() && self.cut;
        let depth = if is_bounded { self.bounds.max_depth } else { self.effort.depth };
        depth.min(self.sure_depth)
    }

    /// Leaves out a state after `depth` steps, or a part of what follows it.
    fn leave_out(&mut self, depth: u32) {
        self.sure_depth = self.sure_depth.min(depth);
    }

    /// Returns the end of a run in which a state after `depth` steps was explored in part only.
    fn broken_off(&mut self, cx: &Ctx<'_>, depth: u32) -> SearchEnd {
        self.partial = true;
        self.leave_out(depth);
        cx.halt_reason().map_or(SearchEnd::Cases, SearchEnd::Halted)
    }

    /// Returns the product states and edges, for a graph.
    pub fn into_parts(self) -> SearchRemains {
        let pair = |node: SearchNode| match node.item {
            SearchItem::Pair(pair) => Some(pair),
            SearchItem::Diagonal(_) => None,
        };
        let pairs = self.nodes.into_iter().filter_map(pair).collect();
        SearchRemains { pairs, seen: self.seen, names: self.names, edges: self.edges.unwrap_or_default() }
    }

    fn start_search(&mut self, cx: &mut Ctx<'_>) -> Result<(), TooMany> {
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

    /// Explores the steps of a node.
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
        state: &ProductState,
        steps: &[ProductStep],
    ) -> Result<(), TooMany> {
        let depth = self.nodes[at].by.depth;
        for &step in steps {
            for next in self.product.after_step(cx, state, step)? {
                match next {
                    ProductNext::Fail { doubt } => {
                        self.effort.doubts += usize::from(doubt);
                        let steps = self.trace(at, step);
                        // Cases of one step lead to the same steps; one witness of them is enough.
                        if !self.found.contains(&steps) {
                            self.found.push_back(steps);
                        }
                    }
                    ProductNext::Pair { state: pair, doubt } => {
                        self.reach(cx, pair, doubt, ReachedBy { depth: depth + 1, parent: Some((at, step)) })
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows the edges of the graph; takes the steps that the mutation concerns in the product.
    fn expand_diagonal(&mut self, cx: &mut Ctx<'_>, at: usize, node: usize) -> Result<(), TooMany> {
        let Some(shortcut) = &self.shortcut else { return Ok(()) };
        let pair = shortcut.graph.pair(node);
        // Where the mutation changes nothing, model and mutant move together: the graph of the model alone, computed
        // once for all mutants, has the answer.
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

    /// Splits `state` into cases and goes on from each of them, unless a value is too large.
    fn reach(&mut self, cx: &mut Ctx<'_>, state: ProductState, doubt: bool, by: ReachedBy) {
        if is_too_large(cx, &state) {
            self.too_large = true;
            self.leave_out(by.depth);
            return;
        }
        // From the cheapest cut to the dearest: members, clocks beyond their bounds, items of collections, values of
        // small domains. What is left is looked up as one state.
        for (pair, doubt) in one_by_one(self.product, state)
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

    /// Goes on from `state`, in which the presence of every item of a collection is decided; leaves out a state with
    /// too many members.
    fn reach_case(&mut self, cx: &mut Ctx<'_>, state: ProductState, doubt: bool, by: ReachedBy) {
        let pair = canonical(cx, &mut self.names, state);
        if self.revisit != ProductRevisit::Concrete && self.is_crowd(cx, &pair) {
            self.crowded = true;
            self.leave_out(by.depth);
            return;
        }
        // Both sides are in the same states: as long as the mutation is not reached, the graph of the specification has
        // the steps already.
        if pair.is_diagonal()
            && let Some(shortcut) = &self.shortcut
            && let Some(node) = shortcut.graph.find_state(cx, &pair)
        {
            self.effort.merged += 1;
            self.reach_graph(node, by);
            return;
        }
        let widening = match self.revisit {
            ProductRevisit::Concrete => {
                match concretise(cx, &self.names, &pair, doubt) {
                    Some(pairs) => {
                        pairs.into_iter().for_each(|pair| self.visit(cx, pair, by, Widening::Never))
                    }
                    None => {
                        self.cut = true;
                        self.leave_out(by.depth);
                    }
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

    /// Returns whether `state` has more members than are explored.
    fn is_crowd(&self, cx: &Ctx<'_>, state: &ProductState) -> bool {
        let members = state.imp.iter().chain(&state.spec);
        if self.product.is_timed() {
            return members.count() > MAX_TIMED_MEMBERS;
        }
        // Members without unknown values cost no questions, however many they are.
        members.filter(|member| member.store.terms().iter().any(|&term| !cx.pool.is_ground(term))).count()
            > MAX_MEMBERS
    }

    /// Records a state and goes on from it, unless it is covered.
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
        // The number under which `push` will put it, if it is new.
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
        debug_assert!(to <= number, "states are numbered in the order in which they are pushed");
        if let (Some(edges), Some((from, step))) = (&mut self.edges, by.parent) {
            edges.push((from, step, to));
        }
    }

    /// Adds a node and queues it; returns its number.
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
