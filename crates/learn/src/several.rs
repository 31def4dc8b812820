//! A system that answers one input in several ways, drafted as a machine that may.
//!
//! The machine is *observable*: an input and its answer lead to one state. Every question is repeated, so that an
//! answer that comes in a share of `p` of all cases is missed with probability `(1 - p)^n` after `n` repetitions.
//! States are distinguished by the sets of answers to a few words, as in tables of L* \[Angluin87]; walks look for a
//! run that the draft does not have, and its endings become such words.
//!
//! *Promises.* The draft has every run of the last round of walks, unless the watch broke off. Nothing is promised
//! beyond: a rare answer may have been missed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::observer::LearningEffort;

/// Runs for one question, in multiples of the repetitions: a rare way to a state is not waited for longer. Chosen by
/// feel.
const MAX_ATTEMPTS_FACTOR: u32 = 8;

/// The parameters of drafting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drafting {
    /// The number of times every question is asked.
    pub repetitions: u32,
    /// The number of walks in a round, which look for runs that the draft does not have.
    pub walks: usize,
    /// The number of inputs of a walk.
    pub walk_length: usize,
    /// Seed of the walks.
    pub seed: u64,
}

/// A transition of a draft: one way in which an input is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnswerWay {
    /// The state.
    pub from: usize,
    /// The input.
    pub input: InputId,
    /// One of its answers.
    pub output: OutputId,
    /// The next state.
    pub to: usize,
    /// The number of times the answer was seen behind the trace by which the state was found.
    pub seen: u64,
}

/// A machine that answers in several ways; it starts in state 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeveralDraft {
    /// The number of states.
    pub n_states: usize,
    /// All transitions, by state.
    pub ways: Vec<AnswerWay>,
    /// True if the watch broke off before all random tests were run.
    pub is_stopped: bool,
}

impl SeveralDraft {
    /// Returns the state after `input` is answered by `output` in `state`; `None` if that was not seen.
    #[must_use]
    pub fn state_after(&self, state: usize, input: InputId, output: OutputId) -> Option<usize> {
        let mut ways = self.ways.iter();
        ways.find(|way| (way.from, way.input, way.output) == (state, input, output)).map(|way| way.to)
    }

    /// Returns the number of pairs of a state and an input that is answered in several ways there.
    #[must_use]
    pub fn n_choices(&self) -> usize {
        let places: Vec<(usize, InputId)> = self.ways.iter().map(|way| (way.from, way.input)).collect();
        let once: BTreeSet<(usize, InputId)> = places.iter().copied().collect();
        once.iter().filter(|&place| places.iter().filter(|other| *other == place).count() > 1).count()
    }
}

#[derive(Clone, Debug, Default)]
struct CountedAnswer {
    kids: BTreeMap<(InputId, OutputId), (usize, u64)>,
}

/// Drafts a machine of a system that may answer in several ways; `earlier` are runs that were seen before.
///
/// # Errors
/// If the system cannot be queried.
pub fn draft_machine<L: LiveMachine>(
    live: &mut L,
    n_inputs: usize,
    earlier: &[IoWord],
    drafting: &Drafting,
    watch: &mut dyn FnMut(usize, LearningEffort) -> ControlFlow<()>,
) -> Result<(SeveralDraft, LearningEffort), L::Error> {
    let rng = ChaCha8Rng::seed_from_u64(drafting.seed);
    let words = (0..n_inputs).map(|input| vec![InputId::new(input)]).collect();
    let mut table = AnswerTable {
        live,
        n_inputs,
        drafting,
        rng,
        nodes: vec![CountedAnswer::default()],
        words,
        effort: LearningEffort::default(),
    };
    for run in earlier {
        table.record_run(run);
    }
    loop {
        let mut draft = table.build_machine()?;
        draft.is_stopped = watch(draft.n_states, table.effort).is_break();
        if draft.is_stopped || !table.walk_until_surprise(&mut draft, watch)? {
            return Ok((draft, table.effort));
        }
    }
}

struct AnswerTable<'t, L> {
    live: &'t mut L,
    n_inputs: usize,
    drafting: &'t Drafting,
    rng: ChaCha8Rng,
    /// Everything that was seen, counted.
    nodes: Vec<CountedAnswer>,
    /// Words whose answers distinguish states.
    words: Vec<Word>,
    effort: LearningEffort,
}

/// The answers to every word.
type WordAnswers = Vec<BTreeSet<Vec<OutputId>>>;

impl<L: LiveMachine> AnswerTable<'_, L> {
    fn record_run(&mut self, run: &[(InputId, OutputId)]) {
        let mut at = 0;
        for &step in run {
            let fresh = self.nodes.len();
            let (kid, seen) = self.nodes[at].kids.entry(step).or_insert((fresh, 0));
            *seen += 1;
            at = *kid;
            if at == fresh {
                self.nodes.push(CountedAnswer::default());
            }
        }
    }

    fn find_node(&self, trace: &[(InputId, OutputId)]) -> Option<usize> {
        trace.iter().try_fold(0, |at, step| self.nodes[at].kids.get(step).map(|&(kid, _)| kid))
    }

    fn run_word(&mut self, inputs: impl Iterator<Item = InputId>) -> Result<IoWord, L::Error> {
        self.live.reset()?;
        self.effort.resets += 1;
        let mut run = IoWord::new();
        for input in inputs {
            let output = self.live.step(input)?;
            self.effort.symbols += 1;
            run.push((input, output));
        }
        self.record_run(&run);
        Ok(run)
    }

    /// Returns whether `word` was asked at `node` as often as wanted, and its rest behind every answer seen there.
    fn is_known(&self, node: usize, word: &[InputId]) -> bool {
        let Some((&first, rest)) = word.split_first() else { return true };
        let ways = || self.nodes[node].kids.iter().filter(|((input, _), _)| *input == first);
        let seen: u64 = ways().map(|(_, (_, seen))| seen).sum();
        // Behind every answer seen, not only the last one: the rest of the word may be answered differently there.
        seen >= u64::from(self.drafting.repetitions) && ways().all(|(_, (kid, _))| self.is_known(*kid, rest))
    }

    fn answers_to(&self, node: usize, word: &[InputId]) -> BTreeSet<Vec<OutputId>> {
        let Some((&first, rest)) = word.split_first() else { return BTreeSet::from([Vec::new()]) };
        let mut all = BTreeSet::new();
        for (&(_, output), &(kid, _)) in
            self.nodes[node].kids.iter().filter(|((input, _), _)| *input == first)
        {
            all.extend(self.answers_to(kid, rest).into_iter().map(|rest| [&[output][..], &rest].concat()));
        }
        all
    }

    /// The answers to all words behind `trace`, asked until they are known or patience is over.
    fn ask_signature(&mut self, trace: &[(InputId, OutputId)]) -> Result<WordAnswers, L::Error> {
        let mut signs = WordAnswers::new();
        for at in 0..self.words.len() {
            let word = self.words[at].clone();
            // The run may take another way than `trace`; after this many attempts it is not waited for any longer.
            let mut left = self.drafting.repetitions.saturating_mul(MAX_ATTEMPTS_FACTOR);
            while left > 0 && !self.find_node(trace).is_some_and(|node| self.is_known(node, &word)) {
                left -= 1;
                self.run_word(trace.iter().map(|&(input, _)| input).chain(word.iter().copied()))?;
            }
            signs.push(self.find_node(trace).map_or_else(BTreeSet::new, |node| self.answers_to(node, &word)));
        }
        Ok(signs)
    }

    /// The machine: one state for every set of answers, found from the first one on.
    fn build_machine(&mut self) -> Result<SeveralDraft, L::Error> {
        let mut states: Vec<(IoWord, WordAnswers)> = vec![(IoWord::new(), self.ask_signature(&[])?)];
        let mut ways = Vec::new();
        let mut from = 0;
        while from < states.len() {
            let trace = states[from].0.clone();
            let Some(node) = self.find_node(&trace) else { break };
            for ((input, output), (_, seen)) in self.nodes[node].kids.clone() {
                let longer = [&trace[..], &[(input, output)]].concat();
                let signs = self.ask_signature(&longer)?;
                // States are told by the *sets* of answers: a set that was seen too seldom looks like another state,
                // which is why this is a draft and promises nothing.
                let known = states.iter().position(|(_, known)| *known == signs);
                let to = known.unwrap_or(states.len());
                if known.is_none() {
                    states.push((longer, signs));
                }
                ways.push(AnswerWay { from, input, output, to, seen });
            }
            from += 1;
        }
        Ok(SeveralDraft { n_states: states.len(), ways, is_stopped: false })
    }

    /// Walks until there is a run that the draft does not have; returns whether there was one.
    fn walk_until_surprise(
        &mut self,
        draft: &mut SeveralDraft,
        watch: &mut dyn FnMut(usize, LearningEffort) -> ControlFlow<()>,
    ) -> Result<bool, L::Error> {
        for _ in 0..self.drafting.walks {
            let length = self.drafting.walk_length;
            let word: Word =
                (0..length).map(|_| InputId::new(self.rng.random_range(0..self.n_inputs))).collect();
            let run = self.run_word(word.into_iter())?;
            let mut state = 0;
            for (at, &(input, output)) in run.iter().enumerate() {
                match draft.state_after(state, input, output) {
                    Some(next) => state = next,
                    None => {
                        self.add_word_from(&run[..=at]);
                        return Ok(true);
                    }
                }
            }
            if watch(draft.n_states, self.effort).is_break() {
                draft.is_stopped = true;
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// The shortest ending of `run` that is no word yet becomes one.
    fn add_word_from(&mut self, run: &[(InputId, OutputId)]) {
        let inputs: Word = run.iter().map(|&(input, _)| input).collect();
        // The run shows two states that were taken for one; a suffix of its inputs distinguishes them, the shortest is
        // tried first. Words only get more, so this ends.
        let mut endings = (0..inputs.len()).rev().map(|from| inputs[from..].to_vec());
        if let Some(ending) = endings.find(|ending| !self.words.contains(ending)) {
            self.words.push(ending);
        }
    }
}
