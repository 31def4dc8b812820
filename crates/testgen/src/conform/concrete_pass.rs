//! The search state by state as one of the searches of a comparison: a difference counts only if a trace shows it.
//!
//! *Promises.* A difference that no replay confirms is no failure, but the models are not said to conform then either.

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_symex::Ctx;

use super::explicit::{ChangedSwitch, Enumeration, EnumerationResult, PlanCosts, ReachedBeliefs};
use super::portfolio::PortfolioWatch;
use super::product::{InputCompletion, ModelProduct, ProductStep};
use super::search::SearchEffort;
use super::unshown::UnshownDifferences;
use super::witness::{ConformWitness, NoWitness, replayed_trace, witness};
use super::{ConformAnswer, ConformDoubt, ConformOptions, ConformProof, SearchEngine};

/// The number of concrete states kept for one symbolic state of the bounds. Chosen by feel: concrete states are small
/// beside symbolic ones.
const CONCRETE_STATES: usize = 20;
/// The length of a witness above which its values are those of the concrete search, and no condition is computed. In
/// steps. Chosen by feel: the condition of a longer one takes the solver longer than the comparison took.
const MAX_EXPLAINED: usize = 24;
/// The number of states of one system that a search near reached places may number. Chosen by feel, for their memory.
const MAX_NEAR_STATES: usize = 200_000;
/// The number of differences without a trace that are tolerated before the search gives up. Chosen by feel: where so
/// many fail to replay, the next will too.
const MAX_UNSHOWN: usize = 16;

/// A search state by state with the differences it met that no trace shows; a further turn resumes it.
pub(super) struct ConcretePass<'s> {
    search: Enumeration<'s>,
    /// The differences without a trace.
    unshown: UnshownDifferences,
}

/// The way in which a turn of a search state by state ended.
pub(super) enum ConcreteEnd {
    /// It has this answer; after a failure, the next turn looks for another.
    Answer(ConformAnswer),
    /// The number of evaluations was reached.
    Turn,
    /// Messages cannot be listed, a limit was reached, or too many differences have no trace.
    GaveUp,
}

impl<'s> ConcretePass<'s> {
    /// Makes a search state by state, where that is possible and wanted.
    pub fn new(cx: &Ctx<'_>, product: &ModelProduct<'s>, options: &ConformOptions) -> Option<Self> {
        let (imp, spec) = (product.imp.sts, product.spec.sts);
        let bounds = options.bounds;
        // The search state by state has no bound on its depth and no restricted completion: what it finds would answer
        // another question than the one that was asked.
        let possible = options.engine == SearchEngine::InTurns
            && bounds.max_depth == u32::MAX
            && product.completion != InputCompletion::Restricted;
        if !possible {
            return None;
        }
        let gates: Vec<_> = product.ports.iter().map(|port| (port.spec, port.imp)).collect();
        let meaning = (product.relation, product.completion, product.inputs);
        let states = bounds.max_states.saturating_mul(CONCRETE_STATES);
        let search = Enumeration::new(cx.pool, imp, spec, &gates, meaning, states)?.with_halt(&cx.halt());
        Some(Self { search, unshown: UnshownDifferences::default() })
    }

    /// The effort so far.
    pub fn effort(&self) -> SearchEffort {
        self.search.effort
    }

    /// Continues up to this many evaluations in all.
    pub fn turn(
        &mut self,
        cx: &mut Ctx<'_>,
        product: &ModelProduct<'_>,
        evaluations: usize,
        watch: PortfolioWatch<'_>,
    ) -> ConcreteEnd {
        while self.unshown.count < MAX_UNSHOWN {
            let mut asked = false;
            let mut stop = |effort: &SearchEffort| {
                asked |= watch(effort).is_break();
                asked || cx.halt_reason().is_some()
            };
            let found = self.search.run_search(cx.pool, evaluations, &mut stop);
            let depth = self.unshown.sure_depth(self.search.effort.depth);
            let answer = match found {
                Some(EnumerationResult::Conforms) => self.exhausted_answer(),
                Some(EnumerationResult::Fails(trace)) => {
                    let steps = trace.len();
                    match (shown_by(cx, product, trace), cx.halt_reason()) {
                        (Ok(witness), _) => ConformAnswer::Fails(Box::new(witness)),
                        (Err(why), halted) => {
                            // A difference without a confirmed trace is not reported; it only limits the depth up to
                            // which there is surely none.
                            self.unshown.add(why, steps);
                            let Some(halted) = halted else { continue };
                            let depth = self.unshown.sure_depth(depth);
                            ConformAnswer::Unknown(ConformDoubt::Halted(halted, depth))
                        }
                    }
                }
                Some(EnumerationResult::GaveUp) => return ConcreteEnd::GaveUp,
                None if asked => ConformAnswer::Unknown(ConformDoubt::Stopped),
                None => match cx.halt_reason() {
                    Some(halted) => ConformAnswer::Unknown(ConformDoubt::Halted(halted, depth)),
                    None => return ConcreteEnd::Turn,
                },
            };
            return ConcreteEnd::Answer(answer);
        }
        ConcreteEnd::GaveUp
    }

    /// Returns the answer of a search that has no state left to explore.
    fn exhausted_answer(&self) -> ConformAnswer {
        match self.unshown.doubt() {
            Some(doubt) => ConformAnswer::Unknown(doubt),
            None if self.search.is_represented() => ConformAnswer::Conforms(ConformProof::Represented),
            None => ConformAnswer::Conforms(ConformProof::Enumerated),
        }
    }
}

/// Returns a difference near the places at which `changes` matter, of those that were `reached` beforehand; `None` if
/// none was found, which says nothing.
pub(crate) fn difference_near(
    cx: &mut Ctx<'_>,
    product: &ModelProduct<'_>,
    (reached, plan): (&ReachedBeliefs, &PlanCosts),
    changes: &[ChangedSwitch<'_>],
    watch: PortfolioWatch<'_>,
) -> Option<ConformWitness> {
    let gates: Vec<_> = product.ports.iter().map(|port| (port.spec, port.imp)).collect();
    let meaning = (product.relation, product.completion, product.inputs);
    let (imp, spec) = (product.imp.sts, product.spec.sts);
    let halt = cx.halt();
    let search = Enumeration::sampled(imp, spec, &gates, meaning, MAX_NEAR_STATES)?;
    let mut search = search.with_halt(&halt).with_diverged_first(plan);
    let mut unconfirmed = 0;
    let places = reached.places(cx.pool, spec, changes);
    // None at hand: one place is looked for.
    let found =
        if places.is_empty() { reached.seek_place(cx.pool, spec, changes, (plan, &halt)) } else { None };
    for place in places.into_iter().chain(found.as_deref()) {
        // A place that the mutant does not reach by this trace is left out; so is what cannot be evaluated.
        if !search.begin_at(cx.pool, place).unwrap_or(false) {
            continue;
        }
        let until = search.end_of_place();
        let mut is_over = false;
        let mut stop = |effort: &SearchEffort| {
            is_over |= watch(effort).is_break() || halt.halt_reason().is_some();
            is_over
        };
        while let Some(EnumerationResult::Fails(trace)) = search.run_search(cx.pool, until, &mut stop) {
            // Few values were tried, so the specification may send what the implementation seemed to send alone.
            match replayed_trace(cx, product, trace) {
                Ok(witness) => return Some(witness),
                Err(_) => unconfirmed += 1,
            }
        }
        if is_over || unconfirmed > MAX_UNSHOWN {
            return None;
        }
    }
    None
}

/// Returns the witness along the steps of `trace`; `trace` itself where it is long, or where the symbolic steps give no
/// witness.
///
/// # Errors
/// If the replay does not confirm it.
fn shown_by(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: Trace) -> Result<ConformWitness, NoWitness> {
    let step = |label: &Label| match label {
        Label::Input(gate, _) | Label::Output(gate, _) => {
            product.ports.iter().position(|port| port.spec == *gate).map(ProductStep::Port)
        }
        Label::Quiescence => Some(ProductStep::Delta),
        Label::Delay(_) => None,
    };
    let steps: Option<Vec<ProductStep>> = trace.labels.iter().map(step).collect();
    // A witness along symbolic steps has chosen values that explain it; the concrete trace is the fallback, and both
    // are replayed on both models before they count.
    let along = steps
        .filter(|steps| steps.len() <= MAX_EXPLAINED)
        .and_then(|steps| witness(cx, product, &steps).ok());
    along.map_or_else(|| replayed_trace(cx, product, trace), Ok)
}
