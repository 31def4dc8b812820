//! Every place where two models differ, not only the first.
//!
//! A place is the set of states that both may be in, with the message or the silence that only the implementation has
//! there. Beyond a difference the implementation is not followed, since the specification leaves all open there; beside
//! it the search goes on. One shortest trace stands for a place.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::Ctx;

use super::concrete_pass::{ConcreteEnd, ConcretePass};
use super::portfolio::{EVALUATIONS_PER_STATE, PortfolioWatch, SymbolicPass, is_final};
use super::product::{InputCompletion, ModelProduct};
use super::region::{CanonicalNames, Widening};
use super::replayed_states::{concrete_start, follow_label};
use super::search::{ProductRevisit, SearchEffort};
use super::witness::ConformWitness;
use super::{ConformAnswer, ConformDoubt, ConformOptions, PortMismatch, product, unsupported_reason};

/// The number of symbolic product states before a search state by state is tried instead. Chosen by feel, as the
/// first pass of a plain comparison.
const SYMBOLIC_FIRST: usize = 500;

/// The differences between two models.
#[derive(Clone, Debug)]
pub struct ModelDifferences {
    /// One shortest trace for every place, ordered by length.
    pub witnesses: Vec<ConformWitness>,
    /// The reason why there may be more differences; `None` if these are all.
    pub rest: Option<ConformDoubt>,
    /// The effort of the search.
    pub effort: SearchEffort,
}

/// Returns the places where `imp` does something that the system of `cx` forbids, at most `limit`.
///
/// # Errors
/// If their messages differ.
pub fn differences(
    cx: &mut Ctx<'_>,
    imp: &Sts,
    options: &ConformOptions,
    limit: usize,
    watch: PortfolioWatch<'_>,
) -> Result<ModelDifferences, PortMismatch> {
    let product = product(cx, imp, options)?;
    let mut found = CollectedDifferences { places: BTreeSet::new(), witnesses: Vec::new(), limit };
    if let Some(doubt) = unsupported_reason(&product) {
        return Ok(found.into_differences(Some(doubt), SearchEffort::default()));
    }
    let names = CanonicalNames::new(cx, product.imp.sts, product.spec.sts);
    // A widened state also stands for states that cannot be reached, so a difference in it may be none. What is wanted
    // here is a list of differences rather than a proof that there is none, so nothing is widened.
    let revisit = ProductRevisit::Never(Widening::Never);
    let mut pass = SymbolicPass::new(&product, revisit, options.bounds, &names, None);
    // As for a plain comparison: a short symbolic search, then one state by state, then the rest of the symbolic one.
    // What a pass has found stays found, so the last one continues where the first stopped.
    let near = options.bounds.max_states.min(SYMBOLIC_FIRST);
    let (rest, effort) = found.symbolically(cx, &product, &mut pass, near, watch);
    let is_open = rest.as_ref().is_some_and(|doubt| !is_final(&ConformAnswer::Unknown(doubt.clone())));
    if !is_open || found.is_full() {
        return Ok(found.into_differences(rest, effort));
    }
    if let Some((rest, effort)) = found.one_by_one(cx, &product, options, watch) {
        return Ok(found.into_differences(rest, effort));
    }
    let (rest, effort) = found.symbolically(cx, &product, &mut pass, options.bounds.max_states, watch);
    Ok(found.into_differences(rest, effort))
}

/// A place: the gate of the last message, `None` for silence or a delay, and the states that the implementation and the
/// specification may be in before it.
type DifferencePlace = (Option<GateId>, BTreeSet<String>, BTreeSet<String>);

struct CollectedDifferences {
    places: BTreeSet<DifferencePlace>,
    witnesses: Vec<ConformWitness>,
    limit: usize,
}

impl CollectedDifferences {
    fn into_differences(mut self, rest: Option<ConformDoubt>, effort: SearchEffort) -> ModelDifferences {
        self.witnesses.sort_by_key(|witness| witness.trace.len());
        ModelDifferences { witnesses: self.witnesses, rest, effort }
    }

    fn is_full(&self) -> bool {
        self.witnesses.len() >= self.limit
    }

    /// Returns the doubt that is left when the limit of differences is reached.
    fn too_many_doubt(&self) -> ConformDoubt {
        let why = format!("there may be more than {} differences", self.limit);
        ConformDoubt::Undecided { why, depth: 0 }
    }

    /// Returns the doubt that is left when the limit of differences or of time is reached; `None` before that.
    ///
    /// A search that finds one difference after the other, all at places that are known, never looks at the clock
    /// itself: models that differ in every state of a counter have as many differences as there are numbers.
    fn end_doubt(&self, cx: &Ctx<'_>) -> Option<ConformDoubt> {
        if self.is_full() {
            return Some(self.too_many_doubt());
        }
        cx.halt_reason().map(|halted| ConformDoubt::Halted(halted, 0))
    }

    /// Keeps `witness` if its place is new.
    fn keep_witness(&mut self, cx: &mut Ctx<'_>, product: &ModelProduct<'_>, witness: ConformWitness) {
        // Several traces lead to one place; the first that is found is a shortest one, since both searches are breadth
        // first.
        if self.places.insert(difference_place(cx, product, &witness.trace)) {
            self.witnesses.push(witness);
        }
    }

    /// Continues the symbolic search, up to this many states in all, and keeps every difference it finds. Returns the
    /// doubt that is left; `None` if there are no further differences.
    fn symbolically(
        &mut self,
        cx: &mut Ctx<'_>,
        product: &ModelProduct<'_>,
        pass: &mut SymbolicPass<'_, '_>,
        states: usize,
        watch: PortfolioWatch<'_>,
    ) -> (Option<ConformDoubt>, SearchEffort) {
        loop {
            let verdict = pass.run_pass(cx, states, watch);
            match verdict.answer {
                ConformAnswer::Conforms(_) => return (None, verdict.effort),
                ConformAnswer::Unknown(doubt) => return (Some(doubt), verdict.effort),
                ConformAnswer::Fails(witness) => self.keep_witness(cx, product, *witness),
            }
            if let Some(doubt) = self.end_doubt(cx) {
                return (Some(doubt), verdict.effort);
            }
        }
    }

    /// Explores everything state by state; `None` if that is impossible or does not come to an end.
    fn one_by_one(
        &mut self,
        cx: &mut Ctx<'_>,
        product: &ModelProduct<'_>,
        options: &ConformOptions,
        watch: PortfolioWatch<'_>,
    ) -> Option<(Option<ConformDoubt>, SearchEffort)> {
        let mut pass = ConcretePass::new(cx, product, options)?;
        let steps = options.bounds.max_states.saturating_mul(EVALUATIONS_PER_STATE);
        loop {
            let ConcreteEnd::Answer(answer) = pass.turn(cx, product, steps, watch) else { return None };
            match answer {
                ConformAnswer::Conforms(_) => return Some((None, pass.effort())),
                ConformAnswer::Unknown(doubt) => return Some((Some(doubt), pass.effort())),
                ConformAnswer::Fails(witness) => self.keep_witness(cx, product, *witness),
            }
            if let Some(doubt) = self.end_doubt(cx) {
                return Some((Some(doubt), pass.effort()));
            }
        }
    }
}

/// Returns the place before the last label of `trace`.
fn difference_place(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: &Trace) -> DifferencePlace {
    let Some((last, before)) = trace.labels.split_last() else { return DifferencePlace::default() };
    let gate = match last {
        Label::Input(gate, _) | Label::Output(gate, _) => Some(*gate),
        Label::Quiescence | Label::Delay(_) => None,
    };
    let (imp, spec) = (product.imp.sts, product.spec.sts);
    // Labels of a witness are in the gates of the specification; the implementation numbers its own.
    let ours: Option<Vec<Label>> = before.iter().map(|label| product.label_of_imp(label)).collect();
    let ours = places(cx, imp, &ours.unwrap_or_default(), product.completion);
    (gate, ours, places(cx, spec, before, InputCompletion::None))
}

/// The states that a system may be in after `labels`; the labels themselves where its states are not known.
fn places(cx: &mut Ctx<'_>, sts: &Sts, labels: &[Label], completion: InputCompletion) -> BTreeSet<String> {
    let mut after = concrete_start(cx, sts);
    for label in labels {
        after = follow_label(cx, sts, &after, label, completion);
    }
    // Without the whole set of states the trace itself is the place: no two differences are then merged by mistake.
    if after.states.is_empty() || !after.is_all {
        return labels.iter().map(|label| label.show(cx.pool, sts)).collect();
    }
    after.states.iter().map(|state: &ConcreteState| state.place_text(sts)).collect()
}
