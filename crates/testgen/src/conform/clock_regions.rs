//! The comparison of models with clocks by regions (Alur and Dill), for models whose internal steps happen at instants
//! that nobody sees.
//!
//! Where internal steps reset clocks, the specification may be in infinitely many states after one trace. Which ones
//! depends on the order of fractions alone: so the search follows one state of the implementation, whose clocks were
//! reset at instants that are known, and the set of states of the specification as a set of regions relative to these
//! instants (see [`position`]). A set of regions is exact, so both answers are: a difference is one, and when nothing
//! is left to explore there is none. Known instants that no longer tell regions apart are forgotten, and equal pairs
//! are explored once. The number of pairs can grow without end (the question is undecidable in general), so the search
//! has a limit.
//!
//! It is for models whose values and messages can be listed, and whose clocks are compared with constants.

mod member;
mod position;
mod search;
mod trace;
mod unit;

use std::hash::Hash;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::GateId;
use ioxide_model::term::TermPool;
use ioxide_symex::Ctx;

use self::member::RegionSide;
use self::search::{RegionEnd, RegionSearch};
pub(crate) use self::unit::common_unit;
use super::product::ModelProduct;
use super::search::SearchEffort;
use super::witness::replayed_trace;
use super::{ConformAnswer, ConformDoubt, ConformOptions, ConformProof, Conformance, Merging, SearchEngine};

/// The greatest number of units that a clock may be compared with. Chosen by feel: time passes in half units, so more
/// of them take longer than zones do.
const MAX_UNITS: i64 = 2_000;

/// The reason why a step was not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegionStop {
    /// A value cannot be evaluated, or messages cannot be listed.
    Impossible,
    /// The limit of this turn was reached.
    Turn,
}

/// Things with numbers, in the order in which they were met.
#[derive(Debug)]
struct Numbered<T> {
    all: Vec<T>,
    numbers: FxHashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn number_of(&mut self, thing: T) -> usize {
        if let Some(&known) = self.numbers.get(&thing) {
            return known;
        }
        self.all.push(thing.clone());
        self.numbers.insert(thing, self.all.len() - 1);
        self.all.len() - 1
    }

    fn get(&self, number: usize) -> &T {
        &self.all[number]
    }
}

/// The messages met so far, in the gates of the specification, and the pool of their terms.
struct MetMessages<'m> {
    pool: &'m TermPool,
    labels: &'m mut Numbered<Label>,
}

/// A search by regions; a further turn resumes it.
pub(super) struct RegionPass<'p, 's> {
    product: &'p ModelProduct<'s>,
    search: RegionSearch<'p>,
}

impl<'p, 's> RegionPass<'p, 's> {
    /// Makes a search by regions; `None` if the models have no clocks, or a clock that is not compared with constants,
    /// or if another search is wanted.
    pub fn new(cx: &mut Ctx<'_>, product: &'p ModelProduct<'s>, options: &ConformOptions) -> Option<Self> {
        let is_wanted = options.engine == SearchEngine::InTurns && options.merging == Merging::Covered;
        if !product.is_timed() || !is_wanted {
            return None;
        }
        // With a unit of which all constants are multiples, guards change at whole and half numbers only.
        let unit = common_unit(cx, [product.imp.sts, product.spec.sts])?;
        let [imp, spec] = product.limits.all()?;
        let (imp, spec) = (in_units(&imp, &unit)?, in_units(&spec, &unit)?);
        // Labels have the gates of the specification on both sides, so that equal labels have equal numbers. A gate
        // that the implementation lacks is one that it never uses.
        let ours: Vec<(GateId, GateId)> =
            product.ports.iter().filter_map(|port| Some((port.spec, port.imp?))).collect();
        let theirs = product.ports.iter().map(|port| (port.spec, port.spec));
        let imp = RegionSide::new(&product.imp, ours, imp, &unit);
        let spec = RegionSide::new(&product.spec, theirs, spec, &unit);
        let search = RegionSearch::new(imp, spec, (product.relation, product.completion), unit, cx.halt());
        Some(Self { product, search })
    }

    /// Continues for about this many steps in all; `None` if that gave no answer.
    pub fn turn(
        &mut self,
        cx: &mut Ctx<'_>,
        options: &ConformOptions,
        steps: usize,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Option<Conformance> {
        let bounds = options.bounds;
        let max_depth = bounds.max_depth;
        let halt = cx.halt();
        let mut is_stopped = false;
        let mut stop = |effort: &SearchEffort| {
            is_stopped |= watch(effort).is_break();
            is_stopped || halt.halt_reason().is_some()
        };
        let end = self.search.run_search(cx.pool, (steps, max_depth), &mut stop);
        let depth = self.search.effort.depth;
        let answer = match end {
            RegionEnd::Exhausted => ConformAnswer::Conforms(ConformProof::Regions),
            // What no replay confirms is no difference, and nothing is proven any more.
            RegionEnd::Fails(trace) => {
                ConformAnswer::Fails(Box::new(replayed_trace(cx, self.product, trace).ok()?))
            }
            RegionEnd::Depth => ConformAnswer::Unknown(ConformDoubt::Depth(max_depth)),
            RegionEnd::Turn if is_stopped => ConformAnswer::Unknown(ConformDoubt::Stopped),
            RegionEnd::Turn => ConformAnswer::Unknown(ConformDoubt::Halted(halt.halt_reason()?, depth)),
            RegionEnd::Impossible => return None,
        };
        Some(Conformance { answer, effort: self.search.effort })
    }
}

/// The limits of clocks in units; `None` if one is too many.
fn in_units(limits: &[Rational], unit: &Rational) -> Option<Vec<u16>> {
    let units = |limit: &Rational| {
        let units = limit.div(unit).ceil().to_i64()?;
        if units <= MAX_UNITS { u16::try_from(units).ok() } else { None }
    };
    limits.iter().map(units).collect()
}
