//! A walk before state counting: what reveals most is tried first.
//!
//! State counting goes through its words in the order of their length, each from reset, so it spends its first symbols
//! on short words over and over, and it meets a fault deep in the machine late. A walk goes on where it is. It always
//! gives the input that was tried least in the state of the model, or goes the shortest way to a state with an input
//! that was tried less often than all others. A wrong output is a failure at once, a wrong state with high probability
//! soon after.
//!
//! *Promises* nothing about a system that passes: only the words of state counting do.

use std::collections::VecDeque;

use ioxide_model::index::{Idx, IndexVec};

use super::AdaptiveSystem;
use crate::mealy::{InputId, StateId};
use crate::nfsm::Observable;
use crate::word::{IoWord, Word};

/// The greatest number of inputs between two resets, for every state of the model. Chosen by feel: a reset costs about
/// as much as an input of most systems, and brings a walk back that is lost in a corner of a system.
const INPUTS_PER_STATE: usize = 20;

/// The walks that were done before state counting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkReport {
    /// The trace that the model does not allow, if one was seen; it ends the walks.
    pub failure: Option<IoWord>,
    /// The number of walks, each from reset.
    pub walks: usize,
    /// The number of inputs given.
    pub symbols: usize,
}

/// Walks through `system` for `symbols` inputs, or up to the first failure; `seed` decides among inputs tried equally
/// often, and the choices of a machine that is played.
///
/// # Errors
/// If the connection to the system fails.
pub fn walk_through<S: AdaptiveSystem>(
    model: &Observable,
    system: &mut S,
    symbols: usize,
    seed: u64,
) -> Result<WalkReport, S::Error> {
    let mut chooser = WalkChooser::new(model, seed);
    let mut report = WalkReport::default();
    let longest = INPUTS_PER_STATE.saturating_mul(model.n_states()).max(1);
    while report.failure.is_none() && report.symbols < symbols {
        let mut left = longest.min(symbols - report.symbols);
        let mut followed = FollowedTrace { state: Some(model.initial()), seen: 0 };
        let trace = system.run(chooser.draw(), &mut |trace: &IoWord| {
            let state = followed.catch_up(model, trace)?;
            left = left.checked_sub(1)?;
            chooser.choose(state)
        })?;
        // A machine without inputs, or a system that gives none of its answers.
        if trace.is_empty() {
            break;
        }
        report.walks += 1;
        report.symbols += trace.len();
        if followed.catch_up(model, &trace).is_none() {
            report.failure = Some(shorten(model, system, trace, chooser.draw())?);
        }
    }
    Ok(report)
}

/// Returns a shorter trace that the model does not allow, if the end of `trace` fails again after a shortest way to
/// where it began.
fn shorten<S: AdaptiveSystem>(
    model: &Observable,
    system: &mut S,
    trace: IoWord,
    seed: u64,
) -> Result<IoWord, S::Error> {
    let ways = shortest_ways(model);
    let mut states = vec![model.initial()];
    for &(input, output) in &trace {
        // Nothing is added for the last step, which the model does not allow.
        states.extend(model.state_after(states[states.len() - 1], input, output));
    }
    // The last step is the wrong one; before it the model has a state at every position.
    let mut kept = 1;
    // The end doubles, so the number of runs is logarithmic in the length of the trace, and short ends come
    // first.
    while kept < trace.len() {
        let begin = trace.len() - kept;
        let end = trace[begin..].iter().map(|&(input, _)| input);
        let word: Word = ways[states[begin]].iter().flatten().copied().chain(end).collect();
        if ways[states[begin]].is_some() && word.len() < trace.len() {
            let ran = system.run(seed, &mut |so_far: &IoWord| word.get(so_far.len()).copied())?;
            if let Some(shorter) = forbidden_prefix(model, &ran) {
                return Ok(shorter);
            }
        }
        kept *= 2;
    }
    Ok(trace)
}

/// Returns the shortest prefix of `trace` that `model` does not allow; `None` if it allows all of it.
fn forbidden_prefix(model: &Observable, trace: &IoWord) -> Option<IoWord> {
    let mut followed = FollowedTrace { state: Some(model.initial()), seen: 0 };
    (1..=trace.len()).map(|n| trace[..n].to_vec()).find(|prefix| followed.catch_up(model, prefix).is_none())
}

/// Returns the shortest inputs that may lead to each state, if some do.
fn shortest_ways(model: &Observable) -> IndexVec<StateId, Option<Word>> {
    let mut ways = IndexVec::<StateId, Option<Word>>::from_elem(None, model.n_states());
    ways[model.initial()] = Some(Word::new());
    let mut queue: VecDeque<(StateId, Word)> = [(model.initial(), Word::new())].into();
    while let Some((at, way)) = queue.pop_front() {
        for input in model.inputs() {
            for &(_, next) in model.answers(at, input) {
                if ways[next].is_none() {
                    let longer = [way.as_slice(), &[input]].concat();
                    ways[next] = Some(longer.clone());
                    queue.push_back((next, longer));
                }
            }
        }
    }
    ways
}

/// The state of the model after a trace that grows.
struct FollowedTrace {
    /// The state; `None` if the model does not allow the trace.
    state: Option<StateId>,
    /// The number of steps taken into account.
    seen: usize,
}

impl FollowedTrace {
    /// Returns the state after `trace`; `None` if the model does not allow it.
    fn catch_up(&mut self, model: &Observable, trace: &IoWord) -> Option<StateId> {
        for &(input, output) in &trace[self.seen..] {
            self.state = model.state_after(self.state?, input, output);
        }
        self.seen = trace.len();
        self.state
    }
}

/// Chooses inputs by how often each was tried in each state of the model.
struct WalkChooser<'m> {
    model: &'m Observable,
    /// The number of tries, by state and input.
    tries: IndexVec<StateId, Vec<u32>>,
    seed: u64,
}

impl<'m> WalkChooser<'m> {
    pub fn new(model: &'m Observable, seed: u64) -> Self {
        let tries = IndexVec::from_elem(vec![0; model.inputs().count()], model.n_states());
        Self { model, tries, seed }
    }

    /// Draws a number (Knuth's MMIX generator).
    fn draw(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.seed >> 33
    }

    /// Returns the input to give in `state`: towards the nearest one that was tried least of all that can be reached.
    fn choose(&mut self, state: StateId) -> Option<InputId> {
        let (first, least) = self.nearest_untried(state)?;
        let input = match first {
            Some(input) => input,
            None => {
                let tries = &self.tries[state];
                let equal: Vec<InputId> =
                    self.model.inputs().filter(|input| tries[input.index()] == least).collect();
                let at = self.draw() % equal.len().max(1) as u64;
                *equal.get(usize::try_from(at).unwrap_or(0))?
            }
        };
        self.tries[state][input.index()] += 1;
        Some(input)
    }

    /// Returns the first input of a shortest way to a state with an input tried least of all, and how often that was
    /// tried; no first input if `state` is such a state itself.
    fn nearest_untried(&self, state: StateId) -> Option<(Option<InputId>, u32)> {
        let least_at = |state: StateId| self.tries[state].iter().copied().min();
        let mut best: Option<(Option<InputId>, u32)> = least_at(state).map(|least| (None, least));
        let mut seen = IndexVec::<StateId, bool>::from_elem(false, self.model.n_states());
        seen[state] = true;
        let mut queue: VecDeque<(StateId, Option<InputId>)> = [(state, None)].into();
        while let Some((at, first)) = queue.pop_front() {
            // Nothing was tried less often than never.
            if best.is_some_and(|(_, least)| least == 0) {
                break;
            }
            for input in self.model.inputs() {
                for &(_, next) in self.model.answers(at, input) {
                    if std::mem::replace(&mut seen[next], true) {
                        continue;
                    }
                    let first = first.or(Some(input));
                    // Strictly less: among equals the nearest wins, because the search is breadth first.
                    if least_at(next) < best.map(|(_, least)| least) {
                        best = least_at(next).map(|least| (first, least));
                    }
                    queue.push_back((next, first));
                }
            }
        }
        best
    }
}
