//! The system under test as state counting sees it.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::AdaptiveCase;
use crate::mealy::{InputId, OutputId};
use crate::nfsm::Observable;
use crate::word::{IoWord, Word};

/// A system that can be reset and given adaptive test cases.
pub trait AdaptiveSystem {
    /// The error of the connection to the system.
    type Error;

    /// All answers to `case` from reset, applied as often as it takes to see them all.
    fn observe(&mut self, case: &AdaptiveCase) -> Result<Vec<IoWord>, Self::Error>;

    /// The trace of one run from reset: `next` gives each input, by the trace so far, until it gives none. `seed`
    /// decides what a machine answers that may choose.
    fn run(
        &mut self,
        seed: u64,
        next: &mut dyn FnMut(&IoWord) -> Option<InputId>,
    ) -> Result<IoWord, Self::Error>;
}

/// A machine as system: all its answers are known at once.
#[derive(Clone, Copy, Debug)]
pub struct PlayedMachine<'m>(pub &'m Observable);

impl AdaptiveSystem for PlayedMachine<'_> {
    type Error = Infallible;

    fn observe(&mut self, case: &AdaptiveCase) -> Result<Vec<IoWord>, Infallible> {
        Ok(case.responses(self.0, self.0.initial()))
    }

    fn run(
        &mut self,
        seed: u64,
        next: &mut dyn FnMut(&IoWord) -> Option<InputId>,
    ) -> Result<IoWord, Infallible> {
        let (mut trace, mut state, mut draw) = (IoWord::new(), self.0.initial(), seed);
        while let Some(input) = next(&trace) {
            let answers = self.0.answers(state, input);
            // A linear congruential generator with Knuth's constants for MMIX. The same seed gives the same
            // run on every machine; the high bits are taken, because the low ones repeat soon.
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (draw >> 33) % answers.len().max(1) as u64;
            // A state without an answer to this input ends the run.
            let Some(&(output, to)) = usize::try_from(at).ok().and_then(|at| answers.get(at)) else { break };
            trace.push((input, output));
            state = to;
        }
        Ok(trace)
    }
}

/// A running system, one step at a time.
pub trait LiveMachine {
    /// The error of the connection to the system.
    type Error;

    /// Brings the system to its initial state.
    fn reset(&mut self) -> Result<(), Self::Error>;
    /// Gives one input and waits for its output.
    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error>;

    /// Returns the number of words that can be answered at the same time: more than 1 if there are copies of the
    /// system.
    fn width(&self) -> usize {
        1
    }

    /// The answers to `words`, each from the initial state, as many at a time as there are copies.
    fn ask_all(&mut self, words: &[Word]) -> Result<Vec<IoWord>, Self::Error> {
        let mut runs = Vec::new();
        for word in words {
            self.reset()?;
            let answered = word.iter().map(|&input| Ok((input, self.step(input)?)));
            runs.push(answered.collect::<Result<IoWord, Self::Error>>()?);
        }
        Ok(runs)
    }
}

/// A running system under the complete testing assumption: a case applied
/// `repetitions` times has shown all its answers.
///
/// A run of a longer case is a run of every case it passes through, so what
/// was seen is not asked again: a case is applied only as often as it takes
/// to make up the number.
#[derive(Clone, Debug)]
pub struct Repeated<L> {
    live: L,
    repetitions: usize,
    runs: RunTree,
}

impl<L: LiveMachine> Repeated<L> {
    /// `live`, with every case applied `repetitions` times, at least once.
    #[must_use]
    pub fn new(live: L, repetitions: usize) -> Self {
        Self { live, repetitions: repetitions.max(1), runs: RunTree::default() }
    }

    /// The system.
    pub fn live(&self) -> &L {
        &self.live
    }

    fn run_once(&mut self, case: &AdaptiveCase) -> Result<(), L::Error> {
        self.live.reset()?;
        let mut trace = IoWord::new();
        let mut case = case;
        while let Some(input) = case.input() {
            let output = self.live.step(input)?;
            trace.push((input, output));
            case = case.case_after(output);
        }
        self.runs.add_run(&trace);
        Ok(())
    }
}

impl<L: LiveMachine> AdaptiveSystem for Repeated<L> {
    type Error = L::Error;

    fn observe(&mut self, case: &AdaptiveCase) -> Result<Vec<IoWord>, L::Error> {
        while self.runs.n_runs(0, case) < self.repetitions {
            self.run_once(case)?;
        }
        let mut traces = Vec::new();
        self.runs.collect_answers(0, case, &mut IoWord::new(), &mut traces);
        Ok(traces)
    }

    fn run(
        &mut self,
        _seed: u64,
        next: &mut dyn FnMut(&IoWord) -> Option<InputId>,
    ) -> Result<IoWord, L::Error> {
        self.live.reset()?;
        let mut trace = IoWord::new();
        while let Some(input) = next(&trace) {
            let output = self.live.step(input)?;
            trace.push((input, output));
        }
        // What a walk has shown need not be asked again.
        self.runs.add_run(&trace);
        Ok(trace)
    }
}

/// All runs so far, as a tree; node 0 is the start.
#[derive(Clone, Debug, Default)]
struct RunTree {
    /// For each node its children by input and output.
    next: Vec<BTreeMap<(InputId, OutputId), usize>>,
    /// For each node the number of runs that passed through it or ended there.
    through: Vec<usize>,
}

impl RunTree {
    fn add_run(&mut self, trace: &IoWord) {
        let mut node = 0;
        self.count_pass(node);
        for &step in trace {
            let new = self.next.len();
            node = *self.next[node].entry(step).or_insert(new);
            self.count_pass(node);
        }
    }

    fn count_pass(&mut self, node: usize) {
        if node == self.next.len() {
            self.next.push(BTreeMap::new());
            self.through.push(0);
        }
        self.through[node] += 1;
    }

    /// Returns the number of runs that followed `case` to its end from `node`.
    fn n_runs(&self, node: usize, case: &AdaptiveCase) -> usize {
        let Some(input) = case.input() else { return self.through.get(node).copied().unwrap_or(0) };
        self.children_after(node, input)
            .map(|(output, next)| self.n_runs(next, case.case_after(output)))
            .sum()
    }

    /// Appends to `all` the traces of these runs, ordered by output at each step.
    fn collect_answers(&self, node: usize, case: &AdaptiveCase, trace: &mut IoWord, all: &mut Vec<IoWord>) {
        let Some(input) = case.input() else { return all.push(trace.clone()) };
        for (output, next) in self.children_after(node, input) {
            trace.push((input, output));
            self.collect_answers(next, case.case_after(output), trace, all);
            trace.pop();
        }
    }

    fn children_after(&self, node: usize, input: InputId) -> impl Iterator<Item = (OutputId, usize)> + '_ {
        let next = self.next.get(node).into_iter().flatten();
        next.filter(move |((given, _), _)| *given == input).map(|(&(_, output), &next)| (output, next))
    }
}
