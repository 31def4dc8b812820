//! Distinguishing states adaptively: the next input depends on the answers so far.
//!
//! A decision holds the states that are still possible and where each would be now. A word is chosen that says most
//! for its cost, where states that would meet without having been distinguished count as another run. Decisions are
//! made when they are needed and kept until beliefs have changed. This is the greedy construction of adaptive
//! distinguishing sequences \[LeeYannakakis94] on a machine with gaps.

use ioxide_fsm::mealy::{InputId, OutputId, StateId};
use ioxide_fsm::word::Word;
use ioxide_model::index::Idx;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::LearnerFold;
use crate::tree::ObservationTree;

/// The cost of another run besides the symbols of its word, in symbols. A reset takes longer than an input in most
/// systems; chosen by feel.
const RUN_COST: f64 = 6.0;

/// A state that is still possible: its weight, and the state it would be in now.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StateToken {
    weight: f64,
    now: StateId,
}

#[derive(Debug)]
struct AdaptiveDecision {
    tokens: Vec<StateToken>,
    /// The inputs that are decided on already; empty until a word is chosen.
    plan: Word,
    /// The decision after each answer; `None` until an answer was first looked up.
    after: Option<Vec<(OutputId, usize)>>,
}

/// Decisions that distinguish all states, made on demand.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    arena: Vec<AdaptiveDecision>,
    machine: BelievedMachine,
    pairs: PairWords,
    groups: TokenGroups,
}

/// A place in the decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionPlace(usize);

impl Decisions {
    /// Discards all decisions and begins again with the machine that `fold` believes.
    pub fn rebuild(&mut self, fold: &LearnerFold, tree: &ObservationTree) {
        self.machine = BelievedMachine::new(fold, tree);
        self.pairs = PairWords::new(&self.machine, fold, tree);
        let token = |now: StateId| StateToken { weight: self.machine.weights[now.index()], now };
        let tokens = fold.states().map(token).collect();
        self.arena.clear();
        self.arena.push(AdaptiveDecision { tokens, plan: Word::new(), after: None });
    }

    /// The place before the first input.
    pub fn begin(&self) -> DecisionPlace {
        DecisionPlace(0)
    }

    /// Returns the next input; `None` if at most one state is left or no word separates the states that are.
    pub fn next_input(&mut self, at: DecisionPlace) -> Option<InputId> {
        let decision = self.arena.get(at.0).filter(|decision| decision.tokens.len() > 1)?;
        if decision.plan.is_empty() {
            let word = self.choose_word(at)?;
            self.arena[at.0].plan = word;
        }
        Some(self.arena[at.0].plan[0])
    }

    /// Returns the place after `output` to the input of `at`; `None` if no state was expected to give that output.
    pub fn place_after(&mut self, at: DecisionPlace, output: OutputId) -> Option<DecisionPlace> {
        if self.arena[at.0].after.is_none() {
            self.expand_place(at);
        }
        let after = self.arena[at.0].after.as_ref()?;
        after.iter().find(|(expected, _)| *expected == output).map(|&(_, next)| DecisionPlace(next))
    }

    fn expand_place(&mut self, at: DecisionPlace) {
        let decision = &self.arena[at.0];
        let (input, rest) = (decision.plan[0], decision.plan[1..].to_vec());
        let mut groups: Vec<(OutputId, Vec<StateToken>)> = Vec::new();
        for &token in &decision.tokens {
            let Some((output, now)) = self.machine.believed_move(token.now, input) else { continue };
            let token = StateToken { now, ..token };
            match groups.iter_mut().find(|(known, _)| *known == output) {
                Some((_, tokens)) => tokens.push(token),
                None => groups.push((output, vec![token])),
            }
        }
        // A word that has distinguished nothing yet goes on; after one that has, the choice is made again.
        let is_split = groups.len() > 1;
        let mut after = Vec::new();
        for (output, tokens) in groups {
            let plan = if is_split { Word::new() } else { rest.clone() };
            after.push((output, self.arena.len()));
            self.arena.push(AdaptiveDecision { tokens, plan, after: None });
        }
        self.arena[at.0].after = Some(after);
    }

    /// Returns the word with most bits of information per expected symbol; `None` if no word separates the states.
    fn choose_word(&mut self, at: DecisionPlace) -> Option<Word> {
        let tokens = &self.arena[at.0].tokens;
        let mut best: Option<(f64, Word)> = None;
        let singles = (0..self.machine.n_inputs).map(|input| vec![InputId::new(input)]);
        for word in singles.chain(self.pairs.separating_words(&self.machine, tokens)) {
            let value = self.groups.information_per_symbol(&self.machine, tokens, &word);
            if value > best.as_ref().map_or(0.0, |(best, _)| *best) {
                best = Some((value, word));
            }
        }
        best.map(|(_, word)| word)
    }
}

/// The machine that is believed, with gaps, as it was when decisions began.
#[derive(Debug, Default)]
struct BelievedMachine {
    n_states: usize,
    n_inputs: usize,
    n_outputs: usize,
    table: Vec<Option<(OutputId, StateId)>>,
    /// The weight of each state: the square root of one plus the number of moves believed to lead to it.
    weights: Vec<f64>,
}

impl BelievedMachine {
    /// Copies the current belief: the output and the likeliest target of every move that was asked.
    fn new(fold: &LearnerFold, tree: &ObservationTree) -> Self {
        let steps = || (0..).map_while(|number| fold.step_number(number));
        let edge = |step| {
            let entry = fold.move_at(step);
            Some((tree.output(entry.node?), entry.to?))
        };
        let table: Vec<Option<(OutputId, StateId)>> = steps().map(edge).collect();
        debug_assert_eq!(table.len(), fold.n_states() * tree.n_inputs(), "`step` finds a move by its number");
        let mut reached = vec![1.0_f64; fold.n_states()];
        for &(_, to) in table.iter().flatten() {
            reached[to.index()] += 1.0;
        }
        let n_outputs = table.iter().flatten().map(|(output, _)| output.index() + 1).max().unwrap_or(0);
        // States that many moves lead to are likelier targets of the next one; the root keeps rare states in the game.
        let weights = reached.into_iter().map(f64::sqrt).collect();
        Self { n_states: fold.n_states(), n_inputs: tree.n_inputs(), n_outputs, table, weights }
    }

    /// Returns the inputs in the order of their ids.
    fn inputs(&self) -> impl Iterator<Item = InputId> + use<> {
        (0..self.n_inputs).map(InputId::new)
    }

    /// Returns the output and the next state, `None` where nothing is believed yet.
    #[inline]
    fn believed_move(&self, state: StateId, input: InputId) -> Option<(OutputId, StateId)> {
        self.table[state.index() * self.n_inputs + input.index()]
    }
}

/// Scratch for groups of tokens that have given the same answers.
#[derive(Debug, Default)]
struct TokenGroups {
    now: Vec<(u32, StateId, f64)>,
    /// The group of tokens of an earlier group that give an output, and when that was noted.
    places: Vec<(u32, u32)>,
    clock: u32,
}

impl TokenGroups {
    /// Returns the bits of information that `word` gives about `tokens` per symbol it is expected to cost; 0 if it
    /// separates nothing.
    fn information_per_symbol(
        &mut self,
        machine: &BelievedMachine,
        tokens: &[StateToken],
        word: &[InputId],
    ) -> f64 {
        self.now.clear();
        self.now.extend(tokens.iter().map(|token| (0, token.now, token.weight)));
        let mut n_groups = 1;
        for &input in word {
            n_groups = self.advance_tokens(machine, input, n_groups);
        }
        if n_groups < 2 {
            return 0.0;
        }
        self.now.sort_unstable_by_key(|&(group, state, _)| (group, state));
        let total: f64 = tokens.iter().map(|token| token.weight).sum();
        let mut bits = 0.0;
        for group in self.now.chunk_by(|a, b| a.0 == b.0) {
            let share = group.iter().map(|(_, _, weight)| weight).sum::<f64>() / total;
            // Shannon's entropy of the answer: the expected number of halvings of what is possible.
            bits -= share * share.log2();
        }
        let places = self.now.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let alone: f64 = places.filter(|same| same.len() == 1).map(|same| same[0].2).sum();
        // The share that is not alone in its place: states that met there cannot be distinguished in this run, and need
        // another.
        let lost = 1.0 - alone / total;
        bits / (word.len() as f64 + RUN_COST * lost)
    }

    /// Moves all tokens on by `input` and drops those whose answer is not known; returns the number of groups.
    fn advance_tokens(&mut self, machine: &BelievedMachine, input: InputId, n_groups: u32) -> u32 {
        // Entries of earlier steps are told by their clock, so the table needs no clearing.
        self.clock += 1;
        let size = n_groups as usize * machine.n_outputs;
        if self.places.len() < size {
            self.places.resize(size, (0, 0));
        }
        let (places, clock) = (&mut self.places, self.clock);
        let mut fresh = 0;
        self.now.retain_mut(|(group, state, _)| {
            let Some((output, next)) = machine.believed_move(*state, input) else { return false };
            let place = &mut places[*group as usize * machine.n_outputs + output.index()];
            if place.1 != clock {
                *place = (fresh, clock);
                fresh += 1;
            }
            (*group, *state) = (place.0, next);
            true
        });
        fresh
    }
}

/// For every two states a word that is believed to distinguish them.
#[derive(Debug, Default)]
struct PairWords {
    n_states: usize,
    /// The first input of the word, by pair.
    first: Vec<Option<InputId>>,
    /// The whole word, for pairs that only the tree distinguishes.
    known: FxHashMap<(StateId, StateId), Word>,
}

impl PairWords {
    /// Finds a shortest word for every two states that `machine` distinguishes.
    fn new(machine: &BelievedMachine, fold: &LearnerFold, tree: &ObservationTree) -> Self {
        let n_states = machine.n_states;
        let mut pairs =
            Self { n_states, first: vec![None; n_states * n_states], known: FxHashMap::default() };
        let mut open: Vec<(StateId, StateId)> =
            fold.states().flat_map(|a| (0..a.index()).map(move |b| (a, StateId::new(b)))).collect();
        // Round by round, as in the minimisation of Moore: first the pairs that one input distinguishes, then those
        // from which an input leads to a pair of an earlier round. So the word of a pair is a shortest one.
        loop {
            let found: Vec<(StateId, StateId, InputId)> = open
                .iter()
                .filter_map(|&(a, b)| Some((a, b, pairs.separating_input(machine, a, b)?)))
                .collect();
            if found.is_empty() {
                break;
            }
            for &(a, b, input) in &found {
                pairs.first[a.index() * n_states + b.index()] = Some(input);
                pairs.first[b.index() * n_states + a.index()] = Some(input);
            }
            open.retain(|&(a, b)| pairs.first[a.index() * n_states + b.index()].is_none());
        }
        // Left over are pairs whose difference lies behind moves that are not believed yet. The basis nodes are apart,
        // so the tree has a word for them.
        for (a, b) in open {
            if let Some(word) = tree.separating_word(fold.basis[a], fold.basis[b]) {
                pairs.known.insert((a, b), word);
            }
        }
        pairs
    }

    /// An input that distinguishes `a` and `b`, or leads to two states that are distinguished.
    fn separating_input(&self, machine: &BelievedMachine, a: StateId, b: StateId) -> Option<InputId> {
        let mut way = None;
        for input in machine.inputs() {
            let (Some(from_a), Some(from_b)) =
                (machine.believed_move(a, input), machine.believed_move(b, input))
            else {
                continue;
            };
            if from_a.0 != from_b.0 {
                return Some(input);
            }
            if way.is_none() && self.first[from_a.1.index() * self.n_states + from_b.1.index()].is_some() {
                way = Some(input);
            }
        }
        way
    }

    fn separating_word(&self, machine: &BelievedMachine, a: StateId, b: StateId) -> Option<Word> {
        let (mut x, mut y) = (a, b);
        let mut word = Word::new();
        while let Some(input) = self.first[x.index() * self.n_states + y.index()] {
            word.push(input);
            match (machine.believed_move(x, input), machine.believed_move(y, input)) {
                (Some(after_x), Some(after_y)) if after_x.0 == after_y.0 => (x, y) = (after_x.1, after_y.1),
                _ => break,
            }
        }
        if word.is_empty() { self.known.get(&(a.max(b), a.min(b))).cloned() } else { Some(word) }
    }

    /// Words that distinguish neighbours among `tokens`.
    fn separating_words(&self, machine: &BelievedMachine, tokens: &[StateToken]) -> Vec<Word> {
        let mut states: Vec<StateId> = tokens.iter().map(|token| token.now).collect();
        states.sort_unstable();
        states.dedup();
        let mut seen = FxHashSet::default();
        let mut words = Vec::new();
        // Not all pairs: neighbours, and the first with all, are as many words as states and reach every state.
        let neighbours = states.windows(2).map(|two| (two[0], two[1]));
        let firsts = states.iter().skip(2).map(|&state| (states[0], state));
        for word in neighbours.chain(firsts).filter_map(|(a, b)| self.separating_word(machine, a, b)) {
            if word.len() > 1 && seen.insert(word.clone()) {
                words.push(word);
            }
        }
        words
    }
}
