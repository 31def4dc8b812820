//! Conformance of two models: is everything one does allowed by the other?
//!
//! sioco (\[AT15] sec. 3, after \[FTW05]): an implementation conforms if, after every suspension trace
//! of the specification, each output it gives and each silence it keeps is one the
//! specification has. The symbolic product of the two is searched breadth first, so the
//! first unsafe state gives a shortest witness; product states that an earlier one stands for
//! are not looked into, so finite models, and many infinite ones, come to an end with a proof. Where there are few
//! states, a search state by state takes turns with it (see `portfolio`).
//!
//! *Promises.* "Conforms" only if every product state was looked at, symbolic or concrete, or a widened search found
//! nothing unsafe. A witness has been replayed on both models. Everything else is *unknown*,
//! with the reason and the depth up to which there is no difference. That depth ends before whatever is undecided: a
//! suspected difference without a trace, a state that was left out, a step with too many cases.
//! Under uioco (see [`ConformanceRelation`]) an input counts as specified only where no state the specification
//! may stay in refuses it; what follows other inputs is not looked at.
//! *Differs* from the paper in splitting product states by cases (see `product`), in merging by
//! inclusion and widening, and in searching breadth first.

mod beyond;
mod branch;
mod clock_regions;
mod concrete_pass;
mod differences;
mod elapse;
pub mod explicit;
mod graph;
pub mod import;
mod portfolio;
mod ports;
mod price;
mod private;
mod product;
mod region;
mod replayed_states;
mod search;
mod side;
mod unshown;
mod witness;

use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Sts;
use ioxide_smt::halt::Halted;
use ioxide_symex::Ctx;

pub use self::differences::{ModelDifferences, differences};
pub use self::graph::SpecGraph;
pub use self::ports::PortMismatch;
pub use self::product::InputCompletion;
pub use self::search::{SearchBounds, SearchEffort};
pub use self::witness::ConformWitness;

pub(crate) use self::beyond::ClockLimits;
pub(crate) use self::clock_regions::common_unit;
pub(crate) use self::concrete_pass::difference_near;
pub(crate) use self::portfolio::decide;
pub(crate) use self::ports::ports;
pub(crate) use self::product::{ModelProduct, ProductNext, ProductState, ProductStep};
pub(crate) use self::region::CanonicalNames;
pub(crate) use self::replayed_states::{ReplayedStates, concrete_after, concrete_start, follow_label};
pub(crate) use self::search::Shortcut;
pub(crate) use self::side::{
    Liveness, SideMember, SideSystem, SystemIndex, is_within, join_liveness, liveness,
};

/// The options of a comparison of two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConformOptions {
    /// The conformance relation.
    pub relation: ConformanceRelation,
    /// The treatment of inputs that the implementation does not mention.
    pub completion: InputCompletion,
    /// The bounds of the search.
    pub bounds: SearchBounds,
    /// The treatment of product states that were seen before.
    pub merging: Merging,
    /// The engine that searches.
    pub engine: SearchEngine,
    /// The meaning of an input that only the implementation takes.
    pub inputs: InputRule,
}

impl Default for ConformOptions {
    /// ioco, angelic completion, merging, both searches.
    fn default() -> Self {
        Self {
            relation: ConformanceRelation::Ioco,
            completion: InputCompletion::Angelic,
            bounds: SearchBounds::default(),
            merging: Merging::Covered,
            engine: SearchEngine::InTurns,
            inputs: InputRule::Free,
        }
    }
}

/// The meaning of an input that only the implementation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputRule {
    /// No difference: an input that the specification leaves open is up to the implementation.
    Free,
    /// A difference, as an output would be: the suspension traces of one are to be among those of the other. For models
    /// without clocks, and without completion.
    Compared,
}

/// The engine that searches the product of two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEngine {
    /// The symbolic search and one state by state, in turns.
    InTurns,
    /// The symbolic search alone.
    Symbolic,
}

/// The treatment of product states that were seen before (\[AT15] sec. 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// Explores them again: every search is cut at its depth.
    Never,
    /// Leaves them out where an earlier state stands for them.
    Covered,
}

/// The answer of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConformAnswer {
    /// The specification allows everything that the implementation does.
    Conforms(ConformProof),
    /// The implementation does something that the specification forbids.
    Fails(Box<ConformWitness>),
    /// Neither conformance nor a difference was shown.
    Unknown(ConformDoubt),
}

/// The proof that an implementation conforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConformProof {
    /// Every product state was looked at.
    Exhausted,
    /// Every concrete state of the product was looked at.
    Enumerated,
    /// Every concrete state of the product was looked at, with some values of a field in place of all others that
    /// neither model distinguishes from them.
    Represented,
    /// Every pair of states was looked at, with one instant in place of all others that no guard tells apart from it.
    Regions,
    /// A widened search, which explores a superset of the reachable states, found no difference.
    Widened,
    /// The changed switches do the same as before.
    SameSwitches,
    /// The guard of an input was weakened where the specification leaves it open (\[AT15] sec. 4.5).
    InputWeakened,
    /// The change cannot be observed: the assigned values are never read.
    DeadAssignment,
    /// In every state that satisfies the invariants of the specification, the changed switch does only what the
    /// specification does.
    Inductive,
    /// The specification simulates the mutant: values differ only where nothing shows them.
    Simulated,
}

/// The reason why neither conformance nor a difference was shown. A depth is a number of steps within which there is
/// certainly no difference: everything up to it was looked at and decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConformDoubt {
    /// There is no difference within this depth, the bound of the search; deeper states were not explored.
    Depth(u32),
    /// There are more product states than the bound; there is no difference within this depth.
    States(u32),
    /// A step has too many cases, or internal steps do not end; there is no difference within this depth.
    Cases(u32),
    /// There is no difference for collections in messages up to this length; longer ones were not explored.
    Length(usize),
    /// A difference may exist, but no trace shows it.
    Undecided {
        /// The reason, for people.
        why: String,
        /// The depth.
        depth: u32,
    },
    /// The models are beyond what is compared; the text is for people.
    Unsupported(String),
    /// Values grow beyond what is computed; there is no difference within this depth.
    TooLarge(u32),
    /// The search was interrupted.
    Stopped,
    /// The time limit or an interrupt ended the search; there is no difference within this depth.
    Halted(Halted, u32),
}

impl fmt::Display for ConformProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exhausted => "every pair of states was checked",
            Self::Enumerated => "every pair of states was checked, value by value",
            Self::Represented => {
                "every pair of states was checked; values that make no difference are checked once"
            }
            Self::Regions => {
                "every pair of states was checked; instants that make no difference are checked once"
            }
            Self::Widened => "a search that also covers impossible cases found no difference",
            Self::SameSwitches => "the changed transitions do the same as before",
            Self::InputWeakened => {
                "the change accepts more inputs only where the model does not specify them"
            }
            Self::DeadAssignment => "the assigned values are never read",
            Self::Inductive => {
                "by induction: wherever the invariants hold, the changed transition does only what the model does"
            }
            Self::Simulated => "by induction: values differ only where nothing shows the difference",
        })
    }
}

impl fmt::Display for ConformDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing is said of no steps at all.
        let sure = |depth: &u32| match depth {
            0 => String::new(),
            depth => format!("; no difference up to depth {depth}"),
        };
        match self {
            Self::Depth(depth) => write!(f, "no difference up to depth {depth}"),
            Self::States(depth) => write!(f, "too many pairs of states{}", sure(depth)),
            Self::Cases(depth) => {
                write!(f, "a step has too many cases, or internal steps do not end{}", sure(depth))
            }
            Self::Length(length) => {
                let items = if *length == 1 { "item" } else { "items" };
                write!(
                    f,
                    "no difference for collections of up to {length} {items} in a message; longer ones were not checked"
                )
            }
            Self::Undecided { why, depth } => write!(f, "not decided: {why}{}", sure(depth)),
            Self::Unsupported(text) => f.write_str(text),
            Self::TooLarge(depth) => write!(f, "values become too large to compute{}", sure(depth)),
            Self::Stopped => f.write_str("interrupted"),
            Self::Halted(halted, depth) => write!(f, "{halted}{}", sure(depth)),
        }
    }
}

/// An answer with the effort of its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conformance {
    /// The answer.
    pub answer: ConformAnswer,
    /// The effort of the search.
    pub effort: SearchEffort,
}

/// Decides whether `imp` conforms to the system of `cx`. The terms of both live in the pool of `cx`, and
/// the specification has every visible gate of the implementation; [`import`] sees to both.
///
/// # Errors
/// If their messages differ.
pub fn conform(
    cx: &mut Ctx<'_>,
    imp: &Sts,
    options: &ConformOptions,
    watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
) -> Result<Conformance, PortMismatch> {
    let product = product(cx, imp, options)?;
    if let Some(doubt) = unsupported_reason(&product) {
        return Ok(Conformance { answer: ConformAnswer::Unknown(doubt), effort: SearchEffort::default() });
    }
    // One set of names for both systems: product states are compared by their terms, so equal values must have
    // equal names.
    let names = CanonicalNames::new(cx, product.imp.sts, product.spec.sts);
    Ok(decide(cx, &product, options, &mut || None, &names, watch))
}

/// Returns the reason why two models cannot be compared; `None` if they can.
fn unsupported_reason(product: &ModelProduct<'_>) -> Option<ConformDoubt> {
    let traces = product.inputs == InputRule::Compared;
    let text = "traces of models with clocks are compared by `conform` only";
    (traces && product.is_timed()).then(|| ConformDoubt::Unsupported(text.into()))
}

/// The product of `imp` and the system of `cx`.
fn product<'s, 'c: 's>(
    cx: &mut Ctx<'c>,
    imp: &'s Sts,
    options: &ConformOptions,
) -> Result<ModelProduct<'s>, PortMismatch> {
    let spec = cx.sts;
    let ports = ports(cx, imp, spec)?;
    // Variables that nobody reads any more are left out of product states, so that states which differ in nothing else
    // are one.
    let (live_imp, live_spec) = (liveness(cx, imp), liveness(cx, spec));
    let (imp, spec) = (SideSystem::new(cx, imp, live_imp), SideSystem::new(cx, spec, live_spec));
    // The restricted completion compares states, not what they show.
    let (imp, spec) = match options.completion {
        InputCompletion::Restricted => (imp, spec),
        _ => (imp.with_lone_steps(cx), spec.with_lone_steps(cx)),
    };
    let limits = ClockLimits::new(cx, imp.sts, spec.sts);
    let ConformOptions { completion, relation, inputs, .. } = *options;
    Ok(ModelProduct { imp, spec, ports, completion, relation, inputs, limits })
}
