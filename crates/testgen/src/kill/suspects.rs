//! The mutants that a system may still be, and the nearest experiment that distinguishes one of them from the model.
//!
//! Every mutant that some trace kills is a suspect. The observations of a run lead each of them to a set of states; a
//! suspect that cannot show an observation is *ruled out*: the system is not that mutant. Where a test ends, or the
//! system took another way, the product of the model and a suspect is searched from the current states of both (\[AT15]
//! sec. 3 from another start), so that a choice of the system does not waste the run. A suspect that may choose, and
//! chose as the model does, is tried a few times.
//!
//! *Promises.* A suspect is ruled out only by an observation, which it cannot show in any order in which the labels may
//! have happened. No verdict comes from here: Fail is the monitor's alone.

mod course;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::Idx as _;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch};
use ioxide_model::term::Term;
use ioxide_model::trace::Trace;
use ioxide_symex::{Belief, Ctx, Monitor};

use self::course::SuspectCourse;
use crate::conform::{ConformAnswer, ConformOptions, SearchBounds, conform};
use crate::mutate::Mutant;

/// The greatest number of experiments with one suspect. Chosen by feel: a suspect that may choose as the model does
/// is given a few chances to choose otherwise.
const MAX_TRIES: u32 = 5;
/// The number of suspects for which an experiment is looked for at one point of a run. Chosen by feel: every look is
/// a search, and the tester waits for it in the middle of a run.
const MAX_LOOKED: usize = 4;
/// The bounds of the search for one experiment. Chosen by feel: small, as the search runs between two messages of a
/// live system; what is not found here is tried from the start.
const EXPERIMENT_BOUNDS: SearchBounds = SearchBounds { max_states: 150, max_depth: 16 };
/// The number of states above which a belief is too large to search from. Chosen by feel: the search starts with an
/// internal choice among them, and each multiplies its cases.
const MAX_SEARCHED_BELIEF: usize = 8;

/// The suspects, by number of the mutant.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    all: BTreeMap<usize, Suspect>,
    /// The number of labels of the run taken into account; `None` before its first move.
    seen: Option<usize>,
}

#[derive(Clone, Debug)]
struct Suspect {
    system: Arc<Sts>,
    /// The locations in which the mutant differs from the model.
    places: BTreeSet<LocId>,
    /// The states it may be in after the labels of the run.
    course: SuspectCourse,
    fate: SuspectFate,
    /// The number of experiments carried out.
    tries: u32,
    /// The number of searches from within a run that found no experiment.
    fruitless: u32,
}

/// The state of knowledge about a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SuspectFate {
    /// The system may be this mutant.
    Open,
    /// The system showed an observation that this mutant cannot show.
    RuledOut,
}

impl Suspects {
    /// Makes suspects of the mutants of `spec` with these numbers.
    #[must_use]
    pub fn new<'m>(spec: &Sts, mutants: impl IntoIterator<Item = (usize, &'m Mutant)>) -> Self {
        let suspect = |mutant: &Mutant| {
            let before = mutant.switches().map(|(id, _)| spec.switches[id].source);
            let after = mutant.switches().map(|(_, after)| after.source);
            let start = mutant.starts_otherwise().then_some(spec.initial);
            Suspect {
                system: Arc::new(mutant.apply(spec)),
                places: before.chain(after).chain(start).collect(),
                course: SuspectCourse::default(),
                fate: SuspectFate::Open,
                tries: 0,
                fruitless: 0,
            }
        };
        let all = mutants.into_iter().map(|(at, mutant)| (at, suspect(mutant))).collect();
        Self { all, seen: None }
    }

    /// Returns the number of suspects that are ruled out, and the number of all.
    #[must_use]
    pub fn ruled_out(&self) -> (usize, usize) {
        let out = self.all.values().filter(|suspect| suspect.fate == SuspectFate::RuledOut).count();
        (out, self.all.len())
    }

    /// Returns whether suspect `at` is neither ruled out nor tried often enough.
    #[must_use]
    pub fn is_open(&self, at: usize) -> bool {
        self.all.get(&at).is_some_and(Suspect::is_open)
    }

    /// Returns whether some suspect is neither ruled out nor tried often enough.
    #[must_use]
    pub fn is_any_open(&self) -> bool {
        self.all.values().any(Suspect::is_open)
    }

    /// Keeps the share of `worker` among `jobs` workers.
    pub(super) fn keep_share(&mut self, worker: usize, jobs: usize) {
        let mut number = 0;
        self.all.retain(|_, _| {
            number += 1;
            (number - 1) % jobs.max(1) == worker
        });
    }

    /// Adopts the suspects of another worker, and those that it ruled out.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (&at, theirs) in &other.all {
            let mine = self.all.entry(at).or_insert_with(|| theirs.clone());
            if theirs.fate == SuspectFate::RuledOut {
                mine.fate = SuspectFate::RuledOut;
            }
        }
    }

    pub(super) fn start_run(&mut self) {
        self.seen = None;
    }

    /// Counts an experiment with suspect `at`.
    pub(super) fn count_experiment(&mut self, at: usize) {
        if let Some(suspect) = self.all.get_mut(&at) {
            suspect.tries += 1;
        }
    }

    /// Follows the labels since the last move in every suspect that is not ruled out.
    pub fn follow_trace(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) {
        let from = self.seen.replace(trace.len());
        let labels = &trace.labels[from.unwrap_or(0).min(trace.len())..];
        for suspect in self.all.values_mut().filter(|suspect| suspect.fate == SuspectFate::Open) {
            if from.is_none() {
                suspect.course = SuspectCourse::start(cx, &suspect.system);
            }
            // Labels may have crossed: they happened in an order that is not known, and the course must allow for all.
            if monitor.is_crossed() {
                suspect.course.doubt();
            }
            for (at, label) in labels.iter().enumerate() {
                // What was seen since then may have come first, and an input under way may be taken later.
                let is_settled = at + 1 == labels.len() && monitor.under_way() == 0;
                suspect.follow_label(cx, label, is_settled);
            }
        }
    }

    /// Returns the nearest experiment from here: the suspect, and the labels before the look that distinguishes it. If
    /// none is found at the start of a run, that counts as a try.
    pub(super) fn route(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<(usize, Vec<Label>)> {
        let is_start = self.seen == Some(0);
        let Belief::Concrete(belief) = monitor.belief() else { return None };
        let mut near: Vec<usize> =
            self.all.iter().filter(|(_, it)| it.is_open()).map(|(&at, _)| at).collect();
        // A cheap estimate chooses the few suspects that are worth a search.
        near.sort_by_key(|at| self.all[at].distance(belief));
        let mut best: Option<(usize, Vec<Label>)> = None;
        for at in near.into_iter().take(MAX_LOOKED) {
            let suspect = &self.all[&at];
            match experiment(cx, belief, suspect) {
                Some(labels) if best.as_ref().is_none_or(|(_, best)| labels.len() < best.len()) => {
                    best = Some((at, labels));
                }
                Some(_) => (),
                // From the start of a run nothing is lost by earlier choices of the system: if there is no experiment,
                // another run will not find one either, and it counts as a try. Within a run it only lowers the rank.
                None if is_start => self.count_experiment(at),
                None => self.all.get_mut(&at).into_iter().for_each(|suspect| suspect.fruitless += 1),
            }
        }
        best
    }
}

impl Suspect {
    fn is_open(&self) -> bool {
        self.fate == SuspectFate::Open && self.tries < MAX_TRIES
    }

    /// Follows a label; an input was taken already if that `is_settled`.
    fn follow_label(&mut self, cx: &mut Ctx<'_>, label: &Label, is_settled: bool) {
        match label {
            Label::Input(gate, _) => {
                let is_seen = self.system.gates[*gate].kind != GateKind::Input;
                self.course.follow_input(cx, &self.system, label, is_settled || is_seen);
            }
            Label::Output(..) | Label::Quiescence | Label::Delay(_) => {
                if self.course.follow_observation(cx, &self.system, label) {
                    self.fate = SuspectFate::RuledOut;
                }
            }
        }
    }

    /// Returns an estimate of the distance to an experiment, least first: fewer tries, other states than the model's,
    /// at a location that differs.
    fn distance(&self, belief: &BTreeSet<ConcreteState>) -> (u32, bool, bool) {
        let is_there = belief.iter().any(|state| self.places.contains(&state.loc));
        (self.tries + self.fruitless, self.course.states() == belief, !is_there)
    }
}

/// Returns the labels before the look that distinguishes `suspect` from the model, from the current states of both;
/// `None` if the search within its bounds finds none.
fn experiment(cx: &mut Ctx<'_>, belief: &BTreeSet<ConcreteState>, suspect: &Suspect) -> Option<Vec<Label>> {
    let spec = start_in(cx, cx.sts, belief)?;
    let system = start_in(cx, &suspect.system, suspect.course.states())?;
    let options = ConformOptions { bounds: EXPERIMENT_BOUNDS, ..ConformOptions::default() };
    let verdict =
        conform(&mut cx.with_system(&spec), &system, &options, &mut |_| ControlFlow::Continue(())).ok()?;
    let ConformAnswer::Fails(witness) = verdict.answer else { return None };
    let mut labels = witness.trace.labels;
    // The last label is the observation in which both differ: it is looked for, not sent.
    labels.pop();
    Some(labels)
}

/// Returns `sts` started in `states`: in the only one, or by an internal choice among them; `None` if there are none or
/// too many.
fn start_in(cx: &mut Ctx<'_>, sts: &Sts, states: &BTreeSet<ConcreteState>) -> Option<Sts> {
    if states.is_empty() || states.len() > MAX_SEARCHED_BELIEF {
        return None;
    }
    let mut here = Sts { goals: Vec::new(), ..sts.clone() };
    if let (Some(only), 1) = (states.first(), states.len()) {
        here.initial = only.loc;
        for var in &mut here.vars {
            var.init = only.values.get(var.var).map(|value| cx.pool.value(value.clone()));
        }
        return Some(here);
    }
    // Several states: a new initial location, with an internal switch into each of them.
    let start = here.locations[here.initial].clone();
    let span = start.span;
    here.initial = here.locations.push(start);
    for state in states {
        let value = |var| Some((var, cx.pool.value(state.values.get(var)?.clone())));
        let update: Vec<(_, Term)> = sts.vars.iter().map(|var| var.var).filter_map(value).collect();
        here.switches.push(Switch {
            label: "here".into(),
            source: here.initial,
            gate: GateId::new(0),
            guard: cx.pool.tt(),
            update,
            resets: Vec::new(),
            target: state.loc,
            span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }
    Some(here)
}
