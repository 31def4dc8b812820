//! Short runs planned with the model: the shortest ways to the transition that failed.
//!
//! Deleting from a long run finds a local minimum. The model knows more: which transition the last input took, and
//! which one the system should have taken instead of what it did. A breadth-first search over the symbolic states finds
//! the shortest paths that end with these two; each is tried on the system, shortest first, before anything is deleted:
//! with the values of the inputs that have to do with the failing one ([`related`]), then with others. A fault that
//! needs more than that (a third item, a value of another input) does not show there, and is left to deletion.
//!
//! *Limits.* The search looks at [`MAX_SEARCHED_STATES`] symbolic states and tries [`MAX_PATHS`] paths.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};

use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_symex::{Belief, Ctx, Monitor, SymState, Tolerance, explaining_switches, take_switch};
use ioxide_testgen::purpose::TestPurpose;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::purpose::PurposeGuided;

use super::failure_sign::FailureSign;
use super::related;
use super::rerun::run_tester;
use super::search::{BudgetSpent, ShrinkSearch, TryOutcome};
use crate::clock::halt::halt_at;

/// The number of symbolic states that the search looks at; chosen by feel, well under a second on the examples.
const MAX_SEARCHED_STATES: usize = 400;
/// The number of paths that are tried on the system. Chosen by feel: each is a run, and the shortest is the most
/// likely one.
const MAX_PATHS: usize = 3;
/// The longest time that the search takes, whatever is left. Chosen by feel: the user waits.
const MAX_TIME: Duration = Duration::from_secs(3);
/// The share of the time left that the search takes at most. Chosen by feel: a tenth, as the search may be in vain.
const TIME_SHARE: u32 = 10;
/// The number of times a path is tried with values that the run does not suggest; chosen by feel, as each is a run.
const OTHER_TRIES: usize = 1;
/// The share of the time left that tries of paths take at most, as a divisor. Chosen by feel: where a restart takes a
/// second they would otherwise take most of the time, and a fault that needs a certain value shows in none of them.
const TRIES_SHARE: u32 = 6;

/// The end of a path that leads to the failure.
#[derive(Debug)]
pub(super) struct FailureSituation {
    /// The switches that the last input before the failure may have taken.
    pub(super) last_inputs: BTreeSet<SwitchId>,
    /// The switches that the system should have taken then; empty if any observation tells.
    pub(super) expected: BTreeSet<SwitchId>,
}

/// Tries the shortest runs that lead to the situation in which the best run failed.
pub(super) fn planned_runs(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let trace = search.best.trace.clone();
    let (sign, tolerance) = (search.sign, search.config.tolerance.clone());
    let left = search.time_left().map_or(MAX_TIME, |left| left / TIME_SHARE);
    // A single step of a timed model can take longer than that, so the solver has to know the deadline, too.
    let halt = halt_at(Instant::now() + left.min(MAX_TIME));
    let longest = search.best.plan.len();
    let purposes = search.setup.cx.run_within(&halt, |cx| {
        let situation = FailureSituation::of(cx, tolerance, &trace, sign);
        situation.map_or_else(Vec::new, |situation| situation.shortest_purposes(cx, longest))
    });
    let examples = related::inputs_of(search.setup.cx.sts, &trace);
    let least_left = search.time_left().map(|left| left - left / TRIES_SHARE);
    for purpose in purposes {
        // First with the values of the messages that have to do with the failing one, then with others.
        let choices = std::iter::once(&examples[..]).chain(std::iter::repeat_n(&[][..], OTHER_TRIES));
        for (seed, examples) in (0..).zip(choices) {
            if search.cut_off_reason().is_some() {
                return Err(BudgetSpent);
            }
            // The share is spent; deletion gets the rest.
            if least_left.is_some_and(|least| search.time_left() < Some(least)) {
                return Ok(());
            }
            search.spend()?;
            let mut tester = PurposeGuided::new(purpose.clone(), seed).with_examples(examples.to_vec());
            tester.start(seed);
            let finished = run_tester(search.setup, &search.config, &mut tester);
            finished.iter().for_each(|finished| search.record_price(finished));
            if search.accept_if_smaller(finished) == TryOutcome::Smaller {
                break;
            }
        }
    }
    Ok(())
}

impl FailureSituation {
    /// Returns the situation at the end of a failing run; `None` if no input came before the failure, or the run cannot
    /// be followed label by label (inputs and outputs may have crossed).
    pub(super) fn of(
        cx: &mut Ctx<'_>,
        tolerance: Tolerance,
        trace: &Trace,
        sign: FailureSign,
    ) -> Option<Self> {
        let Trace { labels, forbidden_at, .. } = trace;
        let mut monitor = Monitor::with_tolerance(cx, tolerance);
        let mut last_inputs = BTreeSet::new();
        // The labels before the failing one. A breakdown has no label of its own, so there all labels are before it.
        let end = match forbidden_at {
            Some(at) => *at,
            None if sign.is_breakdown() => labels.len(),
            None => labels.len().checked_sub(1)?,
        };
        for label in labels.get(..end)? {
            if let Label::Input(gate, _) = label
                && cx.sts.gates[*gate].kind == GateKind::Input
            {
                last_inputs = explaining_switches(cx, monitor.belief(), label).into_iter().collect();
            }
            // After the switches were asked for: they start in the states before the label.
            monitor.observe(cx, label).ok()?;
        }
        let locations: BTreeSet<LocId> = match monitor.belief() {
            Belief::Concrete(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Unspecified => return None,
        };
        let is_expected = |id: SwitchId| {
            let gate = cx.sts.switches[id].gate;
            let is_output = cx.sts.gates[gate].kind == GateKind::Output;
            is_output && !matches!(sign, FailureSign::Message(seen) if seen != gate)
        };
        let from = locations.iter().flat_map(|&loc| cx.sts.switches.from(loc).map(|(id, _)| id));
        let expected: BTreeSet<SwitchId> = from.filter(|&id| is_expected(id)).collect();
        (!last_inputs.is_empty()).then_some(Self { last_inputs, expected })
    }

    /// Returns purposes that follow the shortest paths to the situation, each shorter than `longest`.
    fn shortest_purposes(&self, cx: &mut Ctx<'_>, longest: usize) -> Vec<TestPurpose> {
        let paths = self.shortest_paths(cx, longest);
        let purpose_of = |path: Vec<SwitchId>| {
            TestPurpose::from_path(cx, "the failing transition".into(), &PathStep::taking(&path)).ok()
        };
        paths.into_iter().filter_map(purpose_of).collect()
    }

    /// Returns the shortest paths from the initial state that end in the situation, each shorter than `longest`.
    fn shortest_paths(&self, cx: &mut Ctx<'_>, longest: usize) -> Vec<Vec<SwitchId>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let start = SymState::initial(cx);
        // After the last input only what the system does by itself may follow.
        let mut queue = VecDeque::from([(start, Vec::new(), false)]);
        let mut n_states = 0;
        while let Some((state, path, is_last)) = queue.pop_front() {
            n_states += 1;
            if n_states > MAX_SEARCHED_STATES || found.len() == MAX_PATHS || cx.halt_reason().is_some() {
                break;
            }
            let switches: Vec<SwitchId> = cx.sts.switches.from(state.loc).map(|(id, _)| id).collect();
            for id in switches {
                let kind = cx.sts.kind_of(&cx.sts.switches[id]);
                if is_last && kind.is_input() || path.len() + 1 >= longest {
                    continue;
                }
                let Some(next) = take_switch(cx, &state, id).into_state() else { continue };
                let path: Vec<SwitchId> = path.iter().copied().chain([id]).collect();
                let is_end = is_last && self.expected.contains(&id);
                let is_final_input = !is_last && self.last_inputs.contains(&id);
                if is_end || is_final_input && self.expected.is_empty() {
                    found.push(path);
                    continue;
                }
                if is_final_input {
                    queue.push_back((next.clone(), path.clone(), true));
                }
                let may_go_on = !is_last || kind == GateKind::Internal;
                if may_go_on && seen.insert((next.loc, next.store.clone(), is_last)) {
                    queue.push_back((next, path, is_last));
                }
            }
        }
        found
    }
}
