//! The specification explored once, for all its mutants (003 sec. 4.1).
//!
//! The product of a specification with itself, completed nowhere: every state of it has the
//! same members on both sides. As long as the mutated switch cannot be taken, the mutant and
//! the specification walk through this graph together (003 sec. 4.4).

use std::ops::ControlFlow;

use ioxide_model::relation::Relation;
use ioxide_symex::Ctx;

use super::InputRule;
use super::beyond::ClockLimits;
use super::product::{Completion, Pair, Product, Step};
use super::region::{Names, Seen, Widening};
use super::search::{Bounds, Effort, End, Parts, Revisit, Search};
use super::side::{Side, liveness};

/// The symbolic behaviour of a specification, merged to a finite graph.
#[derive(Clone, Debug)]
pub struct SpecGraph {
    pairs: Vec<Pair>,
    edges: Vec<Vec<(Step, usize)>>,
    seen: Seen,
    pub(crate) names: Names,
    deterministic: bool,
    /// Beyond these, clocks are not told apart.
    pub(crate) limits: ClockLimits,
}

impl SpecGraph {
    /// Explores the system of `cx`; `None` if it does not come to an end within `bounds`.
    pub fn new(
        cx: &mut Ctx<'_>,
        bounds: Bounds,
        watch: &mut dyn FnMut(&Effort) -> ControlFlow<()>,
    ) -> Option<Self> {
        let sts = cx.sts;
        if sts.has_unknowns() {
            return None;
        }
        let live = liveness(cx, sts);
        let names = Names::new(cx, sts, sts);
        let ports = super::ports::ports(cx, sts, sts).ok()?;
        let (imp, spec) = (Side::new(cx, sts, live.clone()), Side::new(cx, sts, live.clone()));
        let limits = ClockLimits::new(cx, sts, sts);
        let (completion, relation) = (Completion::None, Relation::Ioco);
        let product = Product {
            imp,
            spec,
            ports,
            completion,
            relation,
            inputs: InputRule::Free,
            limits: limits.clone(),
        };
        let mut search = Search::new(&product, Revisit::Never(Widening::Never), bounds, names);
        search.edges = Some(Vec::new());
        let end = search.run(cx, watch);
        if end != End::Exhausted || search.effort.doubts > 0 {
            return None;
        }
        let Parts { pairs, seen, names, edges: found } = search.into_parts();
        if !pairs.iter().all(Pair::is_diagonal) {
            return None;
        }
        let mut edges: Vec<Vec<(Step, usize)>> = vec![Vec::new(); pairs.len()];
        for (from, step, to) in found {
            if !edges[from].contains(&(step, to)) {
                edges[from].push((step, to));
            }
        }
        let deterministic = pairs.iter().all(|pair| pair.spec.len() == 1);
        Some(Self { pairs, edges, seen, names, deterministic, limits })
    }

    /// How many states it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether it has no state; it always has one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether the specification is in one state after every trace.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    pub(crate) fn root(&self) -> Option<usize> {
        (!self.pairs.is_empty()).then_some(0)
    }

    pub(crate) fn pair(&self, node: usize) -> &Pair {
        &self.pairs[node]
    }

    pub(crate) fn edges(&self, node: usize) -> &[(Step, usize)] {
        &self.edges[node]
    }

    /// The state that stands for `pair`.
    pub(crate) fn find(&self, cx: &mut Ctx<'_>, pair: &Pair) -> Option<usize> {
        self.seen.covering(cx, &self.names, pair)
    }
}
