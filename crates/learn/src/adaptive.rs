//! Telling states apart adaptively: which input to give next, by what was answered so far.
//!
//! A decision holds the states that are still possible and where each would be now. A word is chosen that says most
//! for its cost, where states that would meet without having been told apart count as another run. Decisions are
//! made when they are needed and kept until beliefs have changed. This is the greedy construction of adaptive
//! distinguishing sequences [LeeYannakakis94] on a machine with gaps.
//!
//! [LeeYannakakis94]: D. Lee, M. Yannakakis, "Testing Finite-State Machines: State Identification and Verification",
//! IEEE Transactions on Computers 43(3), 1994.

use ioxide_fsm::mealy::{InputId, OutputId, StateId};
use ioxide_fsm::word::Word;
use ioxide_model::index::Idx;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::Fold;
use crate::tree::{ObservationTree, TreeNode};

/// What another run costs beside the symbols of a word.
const RUN_COST: f64 = 6.0;

/// A state that is still possible: how likely it is, and where it would be now.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Token {
    weight: f64,
    now: TreeNode,
}

type Tokens = Vec<Token>;

#[derive(Debug)]
struct Decision {
    tokens: Tokens,
    /// Inputs that are decided on already.
    plan: Word,
    /// What follows each answer; empty until the decision was used.
    after: Option<Vec<(OutputId, usize)>>,
}

/// Decisions for sets of states, made on demand.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    arena: Vec<Decision>,
    pairs: PairWords,
    /// How likely each state is: by how many moves are believed to lead there.
    weights: Vec<f64>,
}

/// A place in the decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question(usize);

impl Decisions {
    /// Forgets everything: beliefs have changed.
    pub fn renew(&mut self, fold: &Fold, tree: &ObservationTree) {
        self.arena.clear();
        self.pairs = PairWords::new(fold, tree);
        self.weights = vec![1.0; fold.n_states()];
        for to in
            fold.states().flat_map(|state| fold.inputs().filter_map(move |input| fold.at((state, input)).to))
        {
            self.weights[to.index()] += 1.0;
        }
        self.weights.iter_mut().for_each(|weight| *weight = weight.sqrt());
    }

    /// How to tell all states apart.
    pub fn begin(&mut self, fold: &Fold) -> Question {
        if self.arena.is_empty() {
            let token =
                |state: StateId| Token { weight: self.weights[state.index()], now: fold.basis[state] };
            let tokens = fold.states().take(self.weights.len()).map(token).collect();
            self.arena.push(Decision { tokens, plan: Word::new(), after: None });
        }
        Question(0)
    }

    /// The next input, unless nothing is left to tell apart.
    pub fn input(&mut self, fold: &Fold, tree: &ObservationTree, at: Question) -> Option<InputId> {
        let decision = &self.arena[at.0];
        if decision.tokens.len() < 2 {
            return None;
        }
        if decision.plan.is_empty() {
            let word = self.choose(fold, tree, &decision.tokens)?;
            self.arena[at.0].plan = word;
        }
        Some(self.arena[at.0].plan[0])
    }

    /// Where `output` to the input leads, unless no state was expected to give it.
    pub fn after(
        &mut self,
        fold: &Fold,
        tree: &ObservationTree,
        at: Question,
        output: OutputId,
    ) -> Option<Question> {
        if self.arena[at.0].after.is_none() {
            self.expand(fold, tree, at);
        }
        let after = self.arena[at.0].after.as_ref()?;
        after.iter().find(|(expected, _)| *expected == output).map(|&(_, next)| Question(next))
    }

    fn expand(&mut self, fold: &Fold, tree: &ObservationTree, at: Question) {
        let decision = &self.arena[at.0];
        let (input, rest) = (decision.plan[0], decision.plan[1..].to_vec());
        let mut groups: Vec<(OutputId, Tokens)> = Vec::new();
        for &token in &decision.tokens {
            let Some((output, now)) = fold.step(tree, token.now, input) else { continue };
            let token = Token { now, ..token };
            match groups.iter_mut().find(|(known, _)| *known == output) {
                Some((_, tokens)) => tokens.push(token),
                None => groups.push((output, vec![token])),
            }
        }
        // A word that has told nothing yet goes on; one that has is chosen anew.
        let is_split = groups.len() > 1;
        let mut after = Vec::new();
        for (output, tokens) in groups {
            let plan = if is_split { Word::new() } else { rest.clone() };
            after.push((output, self.arena.len()));
            self.arena.push(Decision { tokens, plan, after: None });
        }
        self.arena[at.0].after = Some(after);
    }

    /// The word that says most for its cost.
    fn choose(&self, fold: &Fold, tree: &ObservationTree, tokens: &[Token]) -> Option<Word> {
        let mut best: Option<(f64, Word)> = None;
        let mut consider = |word: &[InputId]| {
            let value = value(fold, tree, tokens, word);
            if value > best.as_ref().map_or(0.0, |(best, _)| *best) {
                best = Some((value, word.to_vec()));
            }
        };
        for input in fold.inputs() {
            consider(&[input]);
        }
        for word in self.pairs.words(fold, tokens) {
            consider(&word);
        }
        best.map(|(_, word)| word)
    }
}

/// How many bits `word` says about `tokens` for each symbol it is expected to cost.
fn value(fold: &Fold, tree: &ObservationTree, tokens: &[Token], word: &[InputId]) -> f64 {
    // Tokens by the answers they have given, and where they are; what is not known is in no group.
    let mut now: Vec<(u32, TreeNode, f64)> =
        tokens.iter().map(|token| (0, token.now, token.weight)).collect();
    let mut groups: Vec<(u32, OutputId)> = Vec::new();
    for &input in word {
        groups.clear();
        now.retain_mut(|(group, token, _)| {
            let Some((output, next)) = fold.step(tree, *token, input) else { return false };
            let key = (*group, output);
            let place = groups.iter().position(|known| *known == key).unwrap_or_else(|| {
                groups.push(key);
                groups.len() - 1
            });
            (*group, *token) = (u32::try_from(place).unwrap_or(u32::MAX), next);
            true
        });
    }
    if groups.len() < 2 {
        return 0.0;
    }
    now.sort_unstable_by_key(|&(group, token, _)| (group, token));
    let total: f64 = tokens.iter().map(|token| token.weight).sum();
    let mut bits = 0.0;
    for group in now.chunk_by(|a, b| a.0 == b.0) {
        let share = group.iter().map(|(_, _, weight)| weight).sum::<f64>() / total;
        bits -= share * share.log2();
    }
    let places = now.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let alone: f64 = places.filter(|same| same.len() == 1).map(|same| same[0].2).sum();
    let lost = 1.0 - alone / total;
    bits / (word.len() as f64 + RUN_COST * lost)
}

/// For every two states a word that is believed to tell them apart.
#[derive(Debug, Default)]
struct PairWords {
    n_states: usize,
    /// The first input of the word, by pair.
    first: Vec<Option<InputId>>,
    /// The whole word, for pairs that only the tree tells apart.
    known: FxHashMap<(StateId, StateId), Word>,
}

impl PairWords {
    fn new(fold: &Fold, tree: &ObservationTree) -> Self {
        let n_states = fold.n_states();
        let mut pairs =
            Self { n_states, first: vec![None; n_states * n_states], known: FxHashMap::default() };
        let mut open: Vec<(StateId, StateId)> =
            fold.states().flat_map(|a| (0..a.index()).map(move |b| (a, StateId::new(b)))).collect();
        loop {
            let found: Vec<(StateId, StateId, InputId)> =
                open.iter().filter_map(|&(a, b)| Some((a, b, pairs.separating(fold, tree, a, b)?))).collect();
            if found.is_empty() {
                break;
            }
            for &(a, b, input) in &found {
                pairs.first[a.index() * n_states + b.index()] = Some(input);
                pairs.first[b.index() * n_states + a.index()] = Some(input);
            }
            open.retain(|&(a, b)| pairs.first[a.index() * n_states + b.index()].is_none());
        }
        for (a, b) in open {
            if let Some(word) = tree.witness(fold.basis[a], fold.basis[b]) {
                pairs.known.insert((a, b), word);
            }
        }
        pairs
    }

    /// An input that tells `a` and `b` apart, or leads to two states that are told apart.
    fn separating(&self, fold: &Fold, tree: &ObservationTree, a: StateId, b: StateId) -> Option<InputId> {
        let mut way = None;
        for input in fold.inputs() {
            let (from_a, from_b) = (fold.at((a, input)), fold.at((b, input)));
            let (Some(x), Some(y)) = (from_a.node, from_b.node) else { continue };
            if tree.output(x) != tree.output(y) {
                return Some(input);
            }
            let (Some(x), Some(y)) = (from_a.to, from_b.to) else { continue };
            if way.is_none() && self.first[x.index() * self.n_states + y.index()].is_some() {
                way = Some(input);
            }
        }
        way
    }

    fn word(&self, fold: &Fold, a: StateId, b: StateId) -> Option<Word> {
        let (mut x, mut y) = (a, b);
        let mut word = Word::new();
        while let Some(input) = self.first[x.index() * self.n_states + y.index()] {
            word.push(input);
            match (fold.at((x, input)).to, fold.at((y, input)).to) {
                (Some(next_x), Some(next_y)) if next_x != next_y && word.len() < self.first.len() => {
                    (x, y) = (next_x, next_y);
                }
                _ => break,
            }
        }
        match word.is_empty() {
            true => self.known.get(&(a.max(b), a.min(b))).cloned(),
            false => Some(word),
        }
    }

    /// Words that tell neighbours among `tokens` apart.
    fn words(&self, fold: &Fold, tokens: &[Token]) -> Vec<Word> {
        let mut states: Vec<StateId> = tokens.iter().filter_map(|token| fold.state_of(token.now)).collect();
        states.sort_unstable();
        states.dedup();
        // States that have joined the basis since are in the next edition.
        states.retain(|state| state.index() < self.n_states);
        let mut seen = FxHashSet::default();
        let mut words = Vec::new();
        let neighbours = states.windows(2).map(|two| (two[0], two[1]));
        let firsts = states.iter().skip(2).map(|&state| (states[0], state));
        for word in neighbours.chain(firsts).filter_map(|(a, b)| self.word(fold, a, b)) {
            if word.len() > 1 && seen.insert(word.clone()) {
                words.push(word);
            }
        }
        words
    }
}
