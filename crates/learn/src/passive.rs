//! A machine from recorded runs, without a system to ask.
//!
//! State merging with evidence, blue fringe \[LPP98] on Mealy machines: the runs form a tree; states already found are
//! *red*, their children *blue*. A blue node is merged with the red state whose answers agree with it most often,
//! counted after folding the two subtrees; one that agrees with none becomes red. What was never seen stays open:
//! the machine has no answer there.
//!
//! The order of RPNI (the first word first, the first state that fits) is there for comparison. To choose between them
//! by runs that are held out was tried, and is worse: with few runs it chooses wrongly, with many they hardly differ.
//!
//! *Promises.* The machine agrees with every run, or the runs contradict each other. Every answer has the number of
//! times it was seen.

use ioxide_fsm::mealy::{InputId, Mealy, OutputId};
use ioxide_fsm::word::IoWord;
use ioxide_model::index::Idx;

use crate::observer::Disagreement;

/// A machine and how often each of its answers was seen.
#[derive(Clone, Debug)]
pub struct MergedMachine {
    /// The machine; it has no answer where none was seen.
    pub machine: Mealy,
    /// The number of times the runs took each move, state by state and input by input; 0 where there is no answer.
    pub support: Vec<u64>,
}

impl MergedMachine {
    /// Returns the number of `runs` whose answers the machine gives to the end.
    #[must_use]
    pub fn count_agreeing(&self, runs: &[IoWord]) -> usize {
        let agrees = |run: &&IoWord| {
            let word: Vec<InputId> = run.iter().map(|&(input, _)| input).collect();
            let seen = run.iter().map(|&(_, output)| output);
            self.machine.run(&word).into_iter().eq(seen)
        };
        runs.iter().filter(agrees).count()
    }
}

#[derive(Clone, Copy, Debug)]
struct MergeArc {
    output: OutputId,
    to: usize,
    seen: u64,
}

/// The tree of runs, folded further and further.
struct RunFolding {
    n_inputs: usize,
    arcs: Vec<Option<MergeArc>>,
    /// The log of the current merge: each slot it changed, with the former arc.
    changes: Vec<(usize, Option<MergeArc>)>,
}

/// The order in which states are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOrder {
    /// The blue node that most runs go through, with the red state that most answers agree with.
    Evidence,
    /// The blue node with the first word, with the first red state that fits: RPNI.
    Canonical,
}

/// Makes a machine with `n_inputs` inputs from `runs`.
///
/// # Errors
/// If two runs contradict each other.
pub fn merge_runs(n_inputs: usize, runs: &[IoWord]) -> Result<MergedMachine, Box<Disagreement>> {
    merge_runs_by(n_inputs, runs, MergeOrder::Evidence)
}

/// Makes a machine with `n_inputs` inputs from `runs`, merged in this order.
///
/// # Errors
/// If two runs contradict each other.
pub fn merge_runs_by(
    n_inputs: usize,
    runs: &[IoWord],
    order: MergeOrder,
) -> Result<MergedMachine, Box<Disagreement>> {
    let mut folding = RunFolding { n_inputs, arcs: vec![None; n_inputs], changes: Vec::new() };
    for run in runs {
        folding.add_run(run)?;
    }
    // The red-blue framework: red states are final, blue nodes are their children outside. Each round merges a blue
    // node into a red state, or makes it red.
    let mut red = vec![0];
    while let Some((from, input)) = folding.next_blue_node(&red, order) {
        let slot = from * n_inputs + input;
        let Some(arc) = folding.arcs[slot] else { break };
        match folding.choose_red_state(&red, slot, arc, order) {
            Some(state) => {
                folding.try_merge(slot, arc, state);
                folding.changes.clear();
            }
            None => red.push(arc.to),
        }
    }
    Ok(folding.build_machine(&red))
}

impl RunFolding {
    fn add_run(&mut self, run: &IoWord) -> Result<(), Box<Disagreement>> {
        let mut at = 0;
        for (i, &(input, output)) in run.iter().enumerate() {
            let slot = at * self.n_inputs + input.index();
            at = match &mut self.arcs[slot] {
                Some(arc) if arc.output == output => {
                    arc.seen += 1;
                    arc.to
                }
                Some(arc) => {
                    let now = run[..=i].to_vec();
                    let mut before = now.clone();
                    before[i].1 = arc.output;
                    return Err(Box::new(Disagreement { before, now }));
                }
                None => {
                    let to = self.arcs.len() / self.n_inputs;
                    self.arcs[slot] = Some(MergeArc { output, to, seen: 1 });
                    self.arcs.resize(self.arcs.len() + self.n_inputs, None);
                    to
                }
            };
        }
        Ok(())
    }

    /// The next blue node in this order, by the move that leads to it.
    fn next_blue_node(&self, red: &[usize], order: MergeOrder) -> Option<(usize, usize)> {
        let moves = red.iter().flat_map(|&from| (0..self.n_inputs).map(move |input| (from, input)));
        let blue =
            moves.filter_map(|(from, input)| Some((from, input, self.arcs[from * self.n_inputs + input]?)));
        let mut blue = blue.filter(|(_, _, arc)| !red.contains(&arc.to));
        if order == MergeOrder::Canonical {
            // Red states are found shortest word first, so the first move of the first of them has the first word.
            return blue.next().map(|(from, input, _)| (from, input));
        }
        // Of equals the first.
        let most = blue.reduce(|best, other| if other.2.seen > best.2.seen { other } else { best });
        most.map(|(from, input, _)| (from, input))
    }

    /// Returns the red state to merge with in this order; `None` if every red state contradicts an answer.
    fn choose_red_state(
        &mut self,
        red: &[usize],
        slot: usize,
        arc: MergeArc,
        order: MergeOrder,
    ) -> Option<usize> {
        let mut best: Option<(u64, usize)> = None;
        for &state in red {
            // Try and take back, with a log of changes: copying the tree for every candidate would be quadratic.
            let evidence = self.try_merge(slot, arc, state);
            self.undo_merge();
            if let Some(evidence) = evidence.filter(|&found| best.is_none_or(|(most, _)| found > most)) {
                best = Some((evidence, state));
                if order == MergeOrder::Canonical {
                    break;
                }
            }
        }
        best.map(|(_, state)| state)
    }

    /// Leads the move to `state` and folds the subtree behind it; returns the number of answers that agreed, `None`
    /// at the first that did not.
    fn try_merge(&mut self, slot: usize, arc: MergeArc, state: usize) -> Option<u64> {
        self.set_arc(slot, Some(MergeArc { to: state, ..arc }));
        let mut open = vec![(state, arc.to)];
        let mut evidence = 0;
        while let Some((into, from)) = open.pop() {
            for input in 0..self.n_inputs {
                let (slot, other) = (into * self.n_inputs + input, from * self.n_inputs + input);
                match (self.arcs[slot], self.arcs[other]) {
                    (_, None) => (),
                    // The red side has no answer there: it takes over the whole subtree.
                    (None, moved) => self.set_arc(slot, moved),
                    (Some(mine), Some(theirs)) if mine.output == theirs.output => {
                        evidence += 1;
                        self.set_arc(slot, Some(MergeArc { seen: mine.seen + theirs.seen, ..mine }));
                        open.push((mine.to, theirs.to));
                    }
                    (Some(_), Some(_)) => return None,
                }
            }
        }
        Some(evidence)
    }

    fn set_arc(&mut self, slot: usize, arc: Option<MergeArc>) {
        self.changes.push((slot, self.arcs[slot]));
        self.arcs[slot] = arc;
    }

    fn undo_merge(&mut self) {
        while let Some((slot, before)) = self.changes.pop() {
            self.arcs[slot] = before;
        }
    }

    fn build_machine(&self, red: &[usize]) -> MergedMachine {
        debug_assert!(self.changes.is_empty(), "no merge is under way");
        let number = |state: usize| red.iter().position(|&known| known == state).unwrap_or(0);
        let mut table = Vec::new();
        let mut support = Vec::new();
        for &state in red {
            for input in 0..self.n_inputs {
                let arc = self.arcs[state * self.n_inputs + input];
                table.push(arc.map(|arc| (number(arc.to), arc.output.index())));
                support.push(arc.map_or(0, |arc| arc.seen));
            }
        }
        let n_outputs = table.iter().flatten().map(|&(_, output)| output + 1).max().unwrap_or(1);
        let machine = Mealy::from_table(red.len(), self.n_inputs, n_outputs, &table)
            .expect("moves of red states lead to red states");
        MergedMachine { machine, support }
    }
}
