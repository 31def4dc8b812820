//! The specification explored once, for all its mutants (\[AT15] sec. 4.1).
//!
//! The product of a specification with itself, completed nowhere: every state of it has the
//! same members on both sides. As long as the mutated switch cannot be taken, the mutant and
//! the specification walk through this graph together (\[AT15] sec. 4.4).

use std::ops::ControlFlow;

use ioxide_model::relation::ConformanceRelation;
use ioxide_symex::Ctx;

use super::InputRule;
use super::beyond::ClockLimits;
use super::product::{InputCompletion, ModelProduct, ProductState, ProductStep};
use super::region::{CanonicalNames, SeenProducts, Widening};
use super::search::{ProductRevisit, ProductSearch, SearchBounds, SearchEffort, SearchEnd, SearchRemains};
use super::side::{SideSystem, liveness};

/// The symbolic behaviour of a specification, merged to a finite graph.
#[derive(Clone, Debug)]
pub struct SpecGraph {
    pairs: Vec<ProductState>,
    edges: Vec<Vec<(ProductStep, usize)>>,
    seen: SeenProducts,
    pub(crate) names: CanonicalNames,
    deterministic: bool,
    /// The limits above which values of clocks are not distinguished.
    pub(crate) limits: ClockLimits,
}

impl SpecGraph {
    /// Explores the system of `cx`; `None` if the search does not end within `bounds`, an initial value is unknown, or
    /// the solver leaves a step undecided.
    pub fn new(
        cx: &mut Ctx<'_>,
        bounds: SearchBounds,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Option<Self> {
        let sts = cx.sts;
        if sts.has_unknowns() {
            return None;
        }
        let live = liveness(cx, sts);
        let names = CanonicalNames::new(cx, sts, sts);
        let ports = super::ports::ports(cx, sts, sts).ok()?;
        let (imp, spec) = (SideSystem::new(cx, sts, live.clone()), SideSystem::new(cx, sts, live.clone()));
        let limits = ClockLimits::new(cx, sts, sts);
        let (completion, relation) = (InputCompletion::None, ConformanceRelation::Ioco);
        // The specification against itself: on the diagonal both sides are equal, so this is its own graph, in the
        // canonical form in which products with mutants can be looked up.
        let product = ModelProduct {
            imp,
            spec,
            ports,
            completion,
            relation,
            inputs: InputRule::Free,
            limits: limits.clone(),
        };
        let mut search = ProductSearch::new(&product, ProductRevisit::Never(Widening::Never), bounds, names);
        search.edges = Some(Vec::new());
        let end = search.run_search(cx, watch);
        // An incomplete graph, or one with states that may not exist, would make shortcuts of later searches unsound.
        if end != SearchEnd::Exhausted || search.effort.doubts > 0 {
            return None;
        }
        let SearchRemains { pairs, seen, names, edges: found } = search.into_parts();
        if !pairs.iter().all(ProductState::is_diagonal) {
            return None;
        }
        let mut edges: Vec<Vec<(ProductStep, usize)>> = vec![Vec::new(); pairs.len()];
        for (from, step, to) in found {
            if !edges[from].contains(&(step, to)) {
                edges[from].push((step, to));
            }
        }
        let deterministic = pairs.iter().all(|pair| pair.spec.len() == 1);
        Some(Self { pairs, edges, seen, names, deterministic, limits })
    }

    /// Returns the number of its states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether it has no state; it always has one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns whether the specification is in one state after every trace.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// The initial product state; `None` if the graph is empty.
    pub(crate) fn root(&self) -> Option<usize> {
        (!self.pairs.is_empty()).then_some(0)
    }

    /// The product state of a node.
    pub(crate) fn pair(&self, node: usize) -> &ProductState {
        &self.pairs[node]
    }

    /// The steps from a node.
    pub(crate) fn edges(&self, node: usize) -> &[(ProductStep, usize)] {
        &self.edges[node]
    }

    /// Returns the state that stands for `state`, if there is one.
    pub(crate) fn find_state(&self, cx: &mut Ctx<'_>, state: &ProductState) -> Option<usize> {
        self.seen.covering(cx, &self.names, state)
    }
}
