//! Short runs planned with the model: the shortest ways to the transition that failed.
//!
//! Deleting from a long run finds a local minimum. The model knows more: which transition the last input took, and
//! which one the system should have taken instead of what it did. A breadth-first search over the symbolic states finds
//! the shortest paths that end with these two; each is tried on the system once, shortest first, before anything is
//! deleted. A fault that needs more than that (a third item, a certain value) does not show there, and is left to
//! deletion.
//!
//! *Limits.* The search looks at [`MAX_STATES`] symbolic states and tries [`MAX_PATHS`] paths.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_symex::{Belief, Ctx, Monitor, SymState, Tolerance, explaining_switches, take_switch};
use ioxide_testgen::purpose::TestPurpose;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::purpose::PurposeGuided;

use super::failure_sign::FailureSign;
use super::rerun::run_tester;
use super::search::{BudgetSpent, ShrinkSearch};

/// The number of symbolic states that the search looks at; chosen by feel, well under a second on the examples.
const MAX_STATES: usize = 400;
/// The number of paths that are tried on the system. Chosen by feel: each is a run, and the shortest is the most
/// likely one.
const MAX_PATHS: usize = 3;
/// The longest time that the search takes, whatever is left. Chosen by feel: the user waits.
const MAX_TIME: Duration = Duration::from_secs(3);
/// The share of the time left that the search takes at most. Chosen by feel: a tenth, as the search may be in vain.
const TIME_SHARE: u32 = 10;
/// The number of times a path is tried: its values are chosen again each time.
const TRIES_PER_PATH: u64 = 2;

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
    let Some(situation) = FailureSituation::of(search.setup.cx, tolerance, &trace, sign) else {
        return Ok(());
    };
    let left = search.time_left().map_or(MAX_TIME, |left| left / TIME_SHARE);
    let until = Instant::now() + left.min(MAX_TIME);
    let longest = search.best.plan.len();
    for path in situation.shortest_paths(search.setup.cx, longest, until) {
        let Ok(purpose) = TestPurpose::from_path(search.setup.cx, "the failing transition".into(), &path)
        else {
            continue;
        };
        for seed in 0..TRIES_PER_PATH {
            if search.early().is_some() {
                return Err(BudgetSpent);
            }
            search.spend()?;
            let mut tester = PurposeGuided::new(purpose.clone(), seed);
            tester.start(seed);
            let finished = run_tester(search.setup, &search.config, &mut tester);
            finished.iter().for_each(|finished| search.record_price(finished));
            if search.keep_if_smaller(finished) {
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

    /// Returns the shortest paths from the initial state that end in the situation, each shorter than `longest`.
    fn shortest_paths(&self, cx: &mut Ctx<'_>, longest: usize, until: Instant) -> Vec<Vec<SwitchId>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let start = SymState::initial(cx);
        // After the last input only what the system does by itself may follow.
        let mut queue = VecDeque::from([(start, Vec::new(), false)]);
        let mut n_states = 0;
        while let Some((state, path, is_last)) = queue.pop_front() {
            n_states += 1;
            if n_states > MAX_STATES || found.len() == MAX_PATHS || Instant::now() >= until {
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
