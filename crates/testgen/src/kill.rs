//! Deciding mutants: killed with a trace, equivalent with a proof, or unknown with the reason.
//!
//! Every mutant is compared with the model it comes from (see [`conform`](crate::conform)), with
//! the optimisations of \[AT15] sec. 4 that change no answer, each of which can be switched off to measure it. Before
//! the product is searched, cheap filters look for changes that cannot be observed.
//!
//! *Promises.* "Equivalent" comes with a proof, "killed" with a trace that was replayed. An analysis
//! may be cloned together with the model it was made of: workers share what was computed once.

mod agreement;
mod cheap;
pub mod fingerprint;
mod inductive;
pub mod known_witnesses;
pub mod matrix;
pub mod mutant_runner;
pub mod outcome;
pub mod score;
mod simulation;
pub mod standing;
pub mod suite;
pub mod suspects;
pub mod tester;
pub mod trees;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, LocId, StateVar, Sts, Switch};
use ioxide_model::term::{Term, TermPool};
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Invariants};

use crate::conform::explicit::{ChangedSwitch, PlanCosts, ReachedBeliefs};
use crate::conform::{
    CanonicalNames, ClockLimits, ConformAnswer, ConformDoubt, ConformOptions, ConformProof, ConformWitness,
    Conformance, InputCompletion, InputRule, Liveness, Merging, ModelProduct, ProductState, ProductStep,
    SearchBounds, SearchEffort, SearchEngine, Shortcut, SideSystem, SpecGraph, SystemIndex, decide,
    difference_near, is_within, join_liveness, liveness, ports,
};
use crate::mutate::Mutant;

use self::agreement::InputAgreement;
pub(crate) use self::cheap::is_deterministic;
use self::simulation::{RelationTerms, SimulationSearch};

/// The version of the analysis, raised whenever answers may change: decisions of another version are not reused.
pub const ANALYSIS_VERSION: u32 = 9;

/// The number of symbolic states above which a specification is not explored beforehand. Chosen by feel: the graph is
/// made once for all mutants, but has to fit into memory.
const MAX_GRAPH: usize = 10_000;
/// The number above which it is not if a variable has an infinite domain or there are clocks: most such models have
/// infinitely many states.
const MAX_OPEN_GRAPH: usize = 1_000;

/// A step of \[AT15] sec. 4 that makes deciding faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Optimisation {
    /// The specification is explored once for all mutants (sec. 4.1).
    Precompute,
    /// Product states that an earlier one stands for are not explored (sec. 4.2).
    EarlyStop,
    /// No step is taken in the product until the mutated switch can be taken (sec. 4.4).
    MutationAnalysis,
    /// A guard of an input that was only weakened is decided by one query (sec. 4.5).
    InputWeakening,
    /// Changes that cannot be observed are decided without a search.
    CheapFilters,
    /// A search state by state takes turns with the symbolic one.
    Enumeration,
    /// A difference is first looked for near places, reached beforehand, at which the change matters.
    ReachedPlaces,
    /// A change that makes no difference in any state that satisfies the invariants is decided without a search.
    Induction,
    /// A change that leaves other values only where nothing shows them is decided without a search.
    Simulation,
}

impl Optimisation {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Precompute,
        Self::EarlyStop,
        Self::MutationAnalysis,
        Self::InputWeakening,
        Self::CheapFilters,
        Self::Enumeration,
        Self::ReachedPlaces,
        Self::Induction,
        Self::Simulation,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Precompute => "precompute",
            Self::EarlyStop => "early-stop",
            Self::MutationAnalysis => "mutation-analysis",
            Self::InputWeakening => "input-weakening",
            Self::CheapFilters => "cheap-filters",
            Self::Enumeration => "enumeration",
            Self::ReachedPlaces => "reached-places",
            Self::Induction => "induction",
            Self::Simulation => "simulation",
        }
    }
}

/// The number of product states that are explored before differences are looked for near places reached beforehand.
/// Chosen by feel: small models are through by then.
const STATES_BEFORE_PLACES: usize = 16;
/// The number of messages that are tried in these states. Chosen by feel: a tenth of a second for the solver. Models
/// with a hundred messages see little of a search in breadth.
const MESSAGES_BEFORE_PLACES: usize = 200;

/// The text that names no optimisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOptimisation(pub String);

impl fmt::Display for UnknownOptimisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Optimisation::ALL.map(Optimisation::name).join(", ");
        write!(f, "unknown optimisation `{}`; there are {names}", self.0)
    }
}

impl std::error::Error for UnknownOptimisation {}

impl FromStr for Optimisation {
    type Err = UnknownOptimisation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| UnknownOptimisation(text.to_owned()))
    }
}

/// The configuration by which mutants are decided.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KillConfig {
    /// The bounds of the search for one mutant.
    pub bounds: SearchBounds,
    /// The optimisations that are switched off.
    pub off: BTreeSet<Optimisation>,
    /// The treatment of inputs that a mutant does not mention. The restricted completion of \[AT15] sec. 4.3 makes a
    /// search shorter, but it changes answers: models that do not conform to themselves seem to.
    pub completion: InputCompletion,
}

impl KillConfig {
    /// Returns whether an optimisation is on.
    fn uses(&self, optimisation: Optimisation) -> bool {
        !self.off.contains(&optimisation)
    }
}

/// The analysis of a model that all its mutants share.
#[derive(Clone, Debug)]
pub struct MutationAnalysis {
    config: KillConfig,
    graph: Option<SpecGraph>,
    live: Liveness,
    index: SystemIndex,
    /// True if the specification is in one state after every trace.
    deterministic: bool,
    /// True if mutants may have to be shown to be equivalent without a search.
    needs_induction: bool,
    /// Invariants of the specification, in terms of its pool; found for the first mutant that needs them.
    invariants: OnceLock<Invariants>,
    /// The agreement of the states after one trace on inputs, shared by all workers; found for the first mutant that
    /// needs it.
    agreement: Arc<OnceLock<InputAgreement>>,
    /// The terms of relations between states, in terms of the pool; made for the first mutant that needs them.
    relation_terms: OnceLock<RelationTerms>,
    /// The estimates of ways in the specification, in terms of its pool; made for the first mutant that needs them.
    plan: OnceLock<PlanCosts>,
    /// The signal that ends all work; that of a mutant may come earlier.
    halt: Halt,
    /// The places that the specification reaches, shared by all workers; explored for the first mutant that needs them.
    reached: Arc<OnceLock<ReachedBeliefs>>,
}

impl MutationAnalysis {
    /// Prepares to decide mutants of the system of `cx`.
    pub fn new(cx: &mut Ctx<'_>, config: &KillConfig) -> Self {
        Self::new_watched(cx, config, &mut |_| ControlFlow::Continue(()))
    }

    /// Prepares as [`new`](Self::new) does; `watch` sees the exploration of the specification and may end it: mutants
    /// are then decided without the graph.
    pub fn new_watched(
        cx: &mut Ctx<'_>,
        config: &KillConfig,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Self {
        let is_finite =
            |pool: &TermPool, var: &StateVar| pool.finite_domain(pool.var_info(var.var).sort).is_some();
        let is_open = cx.sts.is_timed() || !cx.sts.vars.iter().all(|var| is_finite(cx.pool, var));
        let most = if is_open { MAX_OPEN_GRAPH } else { MAX_GRAPH };
        let bounds = SearchBounds { max_states: config.bounds.max_states.min(most), max_depth: u32::MAX };
        // Explored once: every mutant shares all of the specification but the changed switch (sec. 4.1).
        let graph =
            config.uses(Optimisation::Precompute).then(|| SpecGraph::new(cx, bounds, watch)).flatten();
        let deterministic = match &graph {
            Some(graph) => graph.is_deterministic(),
            None => is_deterministic(cx),
        };
        let sts = cx.sts;
        let (live, index) = (liveness(cx, sts), SystemIndex::new(cx, sts));
        // A finite model with a graph is soon searched through. The graph of another one stands for more states than
        // there are, in which a search may find differences that no run shows.
        let needs_induction = (is_open || graph.is_none()) && (deterministic || !sts.is_timed());
        let (reached, agreement) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        Self {
            config: config.clone(),
            graph,
            live,
            index,
            deterministic,
            needs_induction,
            invariants: OnceLock::new(),
            agreement,
            relation_terms: OnceLock::new(),
            plan: OnceLock::new(),
            halt: cx.halt(),
            reached,
        }
    }

    /// The number of states of the precomputed graph, if there is one.
    #[must_use]
    pub fn graph_size(&self) -> Option<usize> {
        self.graph.as_ref().map(SpecGraph::len)
    }

    /// The treatment of inputs that a mutant does not mention.
    pub(crate) fn completion(&self) -> InputCompletion {
        self.config.completion
    }

    /// Decides `mutant`, whose terms are in the pool of `cx`.
    pub fn decide(
        &self,
        cx: &mut Ctx<'_>,
        mutant: &Mutant,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Conformance {
        let without_search = |answer| Conformance { answer, effort: SearchEffort::default() };
        let imp = mutant.apply(cx.sts);
        if let Some(proof) = self.without_search(cx, mutant, &imp) {
            return without_search(ConformAnswer::Conforms(proof));
        }
        let spec = cx.sts;
        let Ok(ports) = ports(cx, &imp, spec) else {
            return without_search(ConformAnswer::Unknown(ConformDoubt::Unsupported(
                "the messages differ".into(),
            )));
        };
        let touched = TouchedParts::new(&imp, spec, mutant);
        let live = if reads_no_more(cx, mutant) { self.live.clone() } else { liveness(cx, &imp) };
        let limits = ClockLimits::new(cx, &imp, spec);
        // The graph is that of the specification alone. Until the change is reached, both systems are in its states
        // if the conditions of `may_follow` hold.
        let may_follow = !mutant.starts_otherwise() && self.may_follow(&live, &touched);
        let graph = self.graph.as_ref().filter(|graph| may_follow && graph.limits == limits);
        // Both sides keep the variables that either reads, or equal states would have different terms.
        let live = join_liveness(live, &self.live);
        let names = graph.map_or_else(|| CanonicalNames::new(cx, &imp, spec), |graph| graph.names.clone());
        let left =
            SideSystem::with_changes(cx, &imp, live.clone(), &self.index, touched.locations.iter().copied());
        let right = SideSystem::with_changes(cx, spec, live, &self.index, []);
        // A graph has all states after a trace, and is looked at by their locations.
        let (left, right) = match (graph, self.completion()) {
            (Some(_), _) | (_, InputCompletion::Restricted) => (left, right),
            (None, _) => (left.with_lone_steps(cx), right.with_lone_steps(cx)),
        };
        let (completion, relation) = (self.completion(), ConformanceRelation::Ioco);
        let product = ModelProduct {
            imp: left,
            spec: right,
            ports,
            completion,
            relation,
            inputs: InputRule::Free,
            limits,
        };
        let analysed = self.config.uses(Optimisation::MutationAnalysis);
        let mut shortcut = || graph.map(|graph| touched.shortcut(graph, &product, analysed));
        if self.needs_induction || self.may_search_near(mutant) {
            // Most differences are near the start, where the search in breadth finds the shortest one at once. What it
            // does not find there may be far away, where it never gets, or nowhere.
            let mut is_cut = false;
            let n_first =
                (MESSAGES_BEFORE_PLACES / product.ports.len().max(1)).clamp(1, STATES_BEFORE_PLACES);
            let mut first_states = |effort: &SearchEffort| {
                is_cut = effort.states >= n_first;
                if is_cut { ControlFlow::Break(()) } else { watch(effort) }
            };
            let first = decide(cx, &product, &self.options(), &mut shortcut, &names, &mut first_states);
            if !matches!(first.answer, ConformAnswer::Unknown(_)) {
                return first;
            }
            // Most mutants can be killed, and looking for a difference near a place costs less than the questions of a
            // proof.
            if self.may_search_near(mutant)
                && let Some(witness) = self.find_near(cx, &product, mutant, watch)
            {
                return without_search(ConformAnswer::Fails(Box::new(witness)));
            }
            if self.is_shown_by_induction(cx, mutant, &imp, watch) {
                return without_search(ConformAnswer::Conforms(ConformProof::Inductive));
            }
            if self.is_shown_by_simulation(cx, mutant, &imp, watch) {
                return without_search(ConformAnswer::Conforms(ConformProof::Simulated));
            }
            if !is_cut && graph.is_none() {
                // It ended at a bound of its own, where it would end again.
                return first;
            }
        }
        let verdict = decide(cx, &product, &self.options(), &mut shortcut, &names, watch);
        match verdict.answer {
            // A state of the graph may stand for more than the mutant reaches: what looked unsafe there is
            // looked at again without it.
            ConformAnswer::Unknown(
                ConformDoubt::Undecided { .. } | ConformDoubt::Length(_) | ConformDoubt::Cases(_),
            ) if graph.is_some() => decide(cx, &product, &self.options(), &mut || None, &names, watch),
            _ => verdict,
        }
    }

    /// Returns how much of what all mutants share has been computed; a mutant that waited for some of it may have run
    /// out of its own time.
    pub(crate) fn count_shared(&self) -> usize {
        let known = [
            self.invariants.get().is_some(),
            self.agreement.get().is_some(),
            self.relation_terms.get().is_some(),
            self.plan.get().is_some(),
            self.reached.get().is_some(),
        ];
        known.into_iter().filter(|known| *known).count()
    }

    /// Returns whether differences of `mutant` are looked for near places reached beforehand. With a graph that is not
    /// needed; with a bound on the depth or under another completion, a difference there would answer another question;
    /// and no place shows another initial value.
    fn may_search_near(&self, mutant: &Mutant) -> bool {
        self.graph.is_none()
            && self.config.uses(Optimisation::ReachedPlaces)
            && self.config.bounds.max_depth == u32::MAX
            && self.config.completion == InputCompletion::Angelic
            && !mutant.starts_otherwise()
    }

    /// Returns whether `imp`, the system of `mutant`, is shown to conform by induction, without a search; always false
    /// for models that are small enough to be searched through.
    pub fn is_shown_by_induction(
        &self,
        cx: &mut Ctx<'_>,
        mutant: &Mutant,
        imp: &Sts,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> bool {
        let [edit] = &mutant.edits[..] else { return false };
        if !self.needs_induction || !self.config.uses(Optimisation::Induction) {
            return false;
        }
        let Some(agreement) = self.input_agreement(cx, watch) else { return false };
        let Some(invariants) = self.invariants(cx, watch) else { return false };
        inductive::is_unseen(cx, invariants, agreement, edit, imp)
    }

    /// Returns whether a simulation of `imp`, the system of `mutant`, by the specification is found; always false for
    /// models that are small enough to be searched through.
    pub fn is_shown_by_simulation(
        &self,
        cx: &mut Ctx<'_>,
        mutant: &Mutant,
        imp: &Sts,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> bool {
        let is_wanted = self.needs_induction && self.config.uses(Optimisation::Simulation);
        let [edit] = &mutant.edits[..] else { return false };
        let Some((changed, _)) = edit.switch().filter(|_| is_wanted && !cx.sts.is_timed()) else {
            return false;
        };
        let Some(agreement) = self.input_agreement(cx, watch) else { return false };
        let Some(invariants) = self.invariants(cx, watch) else { return false };
        let terms = self.relation_terms.get_or_init(|| RelationTerms::new(cx));
        SimulationSearch::new(invariants, agreement, terms, (imp, changed)).run(cx)
    }

    /// Returns the invariants of the specification; `None` if `watch` ends the search for them.
    fn invariants(
        &self,
        cx: &mut Ctx<'_>,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Option<&Invariants> {
        if self.invariants.get().is_none() {
            // The first mutant that needs them has a limit of its own, which would leave all others without.
            let found = cx.run_only_within(&self.halt, |cx| inductive::find_invariants(cx, watch))?;
            return Some(self.invariants.get_or_init(|| found));
        }
        self.invariants.get()
    }

    /// Returns what the states after one trace agree on; `None` if `watch` ends the search for it.
    fn input_agreement(
        &self,
        cx: &mut Ctx<'_>,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Option<InputAgreement> {
        if self.deterministic {
            return Some(InputAgreement::Everywhere);
        }
        if let Some(known) = self.agreement.get() {
            return Some(*known);
        }
        let invariants = self.invariants(cx, watch)?;
        let find = |cx: &mut Ctx<'_>| InputAgreement::find(cx, invariants);
        Some(*self.agreement.get_or_init(|| cx.run_only_within(&self.halt, find)))
    }

    /// Looks for a difference near the places at which the change matters.
    fn find_near(
        &self,
        cx: &mut Ctx<'_>,
        product: &ModelProduct<'_>,
        mutant: &Mutant,
        watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
    ) -> Option<ConformWitness> {
        let reached = self.reached.get_or_init(|| {
            let halt = &self.halt;
            ReachedBeliefs::collect(cx.pool, product.spec.sts, &|| halt.halt_reason().is_some())
        });
        let changes: Vec<_> = mutant.switches().map(|(id, after)| ChangedSwitch { id, after }).collect();
        let plan = self.plan.get_or_init(|| PlanCosts::new(cx.pool, product.spec.sts));
        difference_near(cx, product, (reached, plan), &changes, watch)
    }

    fn without_search(&self, cx: &mut Ctx<'_>, mutant: &Mutant, imp: &Sts) -> Option<ConformProof> {
        let [edit] = &mutant.edits[..] else { return None };
        // A nondeterministic specification, completed, need not conform to itself.
        let itself = self.deterministic || self.completion() == InputCompletion::Restricted;
        if itself
            && self.config.uses(Optimisation::CheapFilters)
            && let Some(proof) = cheap::unseen(cx, edit, imp)
        {
            return Some(proof);
        }
        (self.config.uses(Optimisation::InputWeakening)
            && self.deterministic
            && cheap::is_guard_weakened(cx, edit))
        .then_some(ConformProof::InputWeakened)
    }

    /// Returns whether mutant and specification can follow the precomputed graph together: it has the values that the
    /// mutant reads, internal switches are unchanged, and the specification, completed, conforms to itself.
    fn may_follow(&self, live: &Liveness, touched: &TouchedParts) -> bool {
        is_within(live, &self.live)
            && !touched.internal
            && (self.deterministic || self.completion() == InputCompletion::Restricted)
    }

    /// Returns the options of a comparison with one mutant.
    fn options(&self) -> ConformOptions {
        let uses = |optimisation| self.config.uses(optimisation);
        let merging = if uses(Optimisation::EarlyStop) { Merging::Covered } else { Merging::Never };
        let engine =
            if uses(Optimisation::Enumeration) { SearchEngine::InTurns } else { SearchEngine::Symbolic };
        let (completion, bounds) = (self.completion(), self.config.bounds);
        ConformOptions { completion, bounds, merging, engine, ..ConformOptions::default() }
    }
}

/// Returns whether the changed switches show that the mutant reads no variable where the specification does not: live
/// variables may be dead, but no others are live.
fn reads_no_more(cx: &Ctx<'_>, mutant: &Mutant) -> bool {
    let no_more = |new: Term, old: Term| {
        let old = cx.pool.free_vars(old);
        cx.pool.free_vars(new).iter().all(|var| old.contains(var))
    };
    mutant.switches().all(|(id, after)| {
        let before = &cx.sts.switches[id];
        let targets = |switch: &Switch| switch.update.iter().map(|(var, _)| *var).collect::<Vec<_>>();
        before.source == after.source
            && before.target == after.target
            && targets(before) == targets(after)
            && before.resets == after.resets
            && before.update.iter().zip(&after.update).all(|((_, old), (_, new))| no_more(*new, *old))
            && no_more(after.guard, before.guard)
    })
}

/// The parts of a system in which a mutation can matter.
pub(crate) struct TouchedParts {
    pub locations: BTreeSet<LocId>,
    gates: BTreeSet<GateId>,
    observable: bool,
    /// True if an internal switch is changed: the states reached by internal steps may differ anywhere.
    pub internal: bool,
    /// True if a switch is changed on which the permission to wait depends: an output, an observed input or an internal
    /// one.
    excuses: bool,
    /// True if internal steps may lead to a changed location while time passes.
    unseen: bool,
}

impl TouchedParts {
    /// Collects the locations and gates of the changed switches, as they are in the mutant `imp` and in `spec`.
    pub fn new(imp: &Sts, spec: &Sts, mutant: &Mutant) -> Self {
        let (locations, gates) = (BTreeSet::new(), BTreeSet::new());
        let is_internal = |switch: &Switch| spec.kind_of(switch) == GateKind::Internal;
        let unseen = spec.is_timed() && spec.switches.iter().any(is_internal);
        let (observable, internal, excuses) = (false, false, false);
        let mut touched = Self { locations, gates, observable, internal, excuses, unseen };
        for (id, _) in mutant.switches() {
            for sts in [imp, spec] {
                let switch = &sts.switches[id];
                touched.locations.insert(switch.source);
                touched.gates.insert(switch.gate);
                touched.observable |= !sts.kind_of(switch).is_input();
                touched.internal |= sts.kind_of(switch) == GateKind::Internal;
                touched.excuses |= sts.kind_of(switch) != GateKind::Input;
            }
        }
        touched
    }

    /// Returns the graph of the specification with the places that the mutation concerns.
    fn shortcut<'g>(
        &'g self,
        graph: &'g SpecGraph,
        product: &'g ModelProduct<'_>,
        analysed: bool,
    ) -> Shortcut<'g> {
        let touches = move |state: &ProductState| {
            !analysed || self.unseen || state.spec.iter().any(|member| self.locations.contains(&member.loc))
        };
        let concerns = move |step: ProductStep| match step {
            _ if !analysed => true,
            ProductStep::Delta => self.observable,
            ProductStep::Wait => self.excuses,
            ProductStep::Port(at) => self.gates.contains(&product.ports[at].spec),
        };
        Shortcut { graph, touches: Box::new(touches), concerns: Box::new(concerns) }
    }
}
