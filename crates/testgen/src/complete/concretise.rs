//! Words of input classes as messages with values.
//!
//! Values are drawn step by step. Unless the abstraction is conditional that always works: a word of it can be executed
//! in every store. That the system gave *another* answer of the model shows only if the two differ for the values of
//! the test, so every step has its *rivals*: the answers to the same input class that are surely different from the
//! right one ([`rivals`](super::rivals)). A word comes with as many different choices of values as it takes until each
//! rival differs from the right answer in one of them; where drawing does not find such values the solver is asked for
//! the whole word.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

use ioxide_model::label::Label;
use ioxide_model::term::{Substitution, Term};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::Ctx;

use super::react::OutputTerms;
use super::rivals::{difference, has_gates_of};
use super::{Abstraction, AnswerNames, ClassOutcome};
use crate::data::{PickedValues, ValueRequest, pick};

/// Choices of values drawn for a word before the solver is asked. Chosen by feel: a draw takes a fraction of the time
/// of a question about a whole word.
const DRAWS_BEFORE_SOLVER: usize = 3;
/// The number of the first copy of a field in a word. Above the numbers that steps of a model have, so that copies
/// meet no other variable; any such number does.
const FIRST_COPY: u32 = 100_000;

/// A word with as many choices of values as it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcreteWord {
    /// The inputs, once for every choice of values.
    pub tests: Vec<Vec<Label>>,
    /// The number of pairs of a step and a rival for which no values were found that distinguish the two.
    pub missed: usize,
}

/// Finds values for words of input classes.
pub struct Concretiser<'a> {
    abstraction: &'a Abstraction,
    /// Condition class, input class and answer: the wrong answers that some test distinguishes from the right one.
    told: BTreeSet<(usize, usize, usize)>,
    /// The least number of choices of values for every word.
    values: usize,
    /// Words without values, shortest ones: no word that begins with one of them has values. In a suite thousands of
    /// words begin alike.
    impossible: FxHashSet<Vec<usize>>,
    rng: ChaCha8Rng,
}

/// The answer of the solver about the values of a word.
enum AskedValues {
    Test(Vec<Label>),
    Impossible,
    Unknown,
}

impl AskedValues {
    /// Returns the test, if there is one.
    fn test(self) -> Option<Vec<Label>> {
        match self {
            Self::Test(test) => Some(test),
            Self::Impossible | Self::Unknown => None,
        }
    }
}

/// A step of a word: the condition class before it, the input class and its outcomes.
struct WordPlace<'a> {
    state: usize,
    input: usize,
    outcomes: &'a [ClassOutcome],
}

impl<'a> Concretiser<'a> {
    /// Makes words of `abstraction` concrete, with at least `values` choices of values each.
    #[must_use]
    pub fn new(abstraction: &'a Abstraction, values: usize, seed: u64) -> Self {
        let (values, rng) = (values.max(1), ChaCha8Rng::seed_from_u64(seed));
        Self { abstraction, told: BTreeSet::new(), values, impossible: FxHashSet::default(), rng }
    }

    /// Returns `word` with values; `None` if none were found, so that it may not be executable.
    pub fn concretise_word(&mut self, cx: &mut Ctx<'_>, word: &[usize]) -> Option<ConcreteWord> {
        if (1..=word.len()).any(|n| self.impossible.contains(&word[..n])) {
            return None;
        }
        // A word is followed by the first outcome of each step. Where there are several, they are choices on which
        // nothing later depends.
        let places = self.places(word)?;
        let mut open = self.goals(&places);
        let mut found = ConcreteWord::default();
        // The first `values` draws are wanted in any case; the ones beyond are kept only if they settle a goal.
        for attempt in 0..self.values.max(DRAWS_BEFORE_SOLVER) {
            if attempt >= self.values && open.is_empty() {
                break;
            }
            let Some(test) = self.draw_values(cx, &places).or_else(|| self.solve_any(cx, word, &places))
            else {
                break;
            };
            let left = self.open_after(cx, &places, &test, &open);
            let is_new = !found.tests.contains(&test);
            if is_new && (attempt < self.values || left.len() < open.len()) {
                found.tests.push(test);
                open = left;
            }
        }
        if found.tests.is_empty() {
            return None;
        }
        // One question per goal that drawing did not settle. Its answer often settles others, so they are looked at
        // again; a goal without an answer is given up, so the list gets shorter in every round.
        while let Some(goal) = open.first().copied() {
            let asked = self.solve_word(cx, &places, Some(goal)).test();
            let before = open.len();
            if let Some(test) = asked {
                open = self.open_after(cx, &places, &test, &open);
                if open.len() < before {
                    found.tests.push(test);
                    continue;
                }
            }
            open.remove(0);
            found.missed += 1;
        }
        found.tests.iter().for_each(|test| self.record_distinguished(cx, &places, test));
        Some(found)
    }

    /// Returns values for `word` such that at its last step `answer` differs from the right one; `None` if none were
    /// found.
    pub fn telling(&mut self, cx: &mut Ctx<'_>, word: &[usize], answer: usize) -> Option<Vec<Label>> {
        let places = self.places(word)?;
        let test = self.solve_word(cx, &places, Some((places.len().checked_sub(1)?, answer))).test()?;
        self.record_distinguished(cx, &places, &test);
        Some(test)
    }

    /// Returns whether some test so far distinguishes `answer` from the right one in these classes.
    #[must_use]
    pub fn has_told(&self, state: usize, input: usize, answer: usize) -> bool {
        self.told.contains(&(state, input, answer))
    }

    /// Records the answers that `test` distinguishes from the right ones.
    fn record_distinguished(&mut self, cx: &Ctx<'_>, places: &[WordPlace<'a>], test: &[Label]) {
        let answers = |place: &WordPlace<'a>| 0..self.abstraction.answers[place.input].all.len();
        let all: Vec<(usize, usize)> = places
            .iter()
            .enumerate()
            .flat_map(|(step, place)| answers(place).map(move |answer| (step, answer)))
            .collect();
        let alike = self.open_after(cx, places, test, &all);
        // What is not alike is distinguished, also where it was no goal of this word: later words need not ask for it.
        for goal in all.into_iter().filter(|goal| !alike.contains(goal)) {
            self.told.insert((places[goal.0].state, places[goal.0].input, goal.1));
        }
    }

    /// The steps of `word`; `None` if one of them has no outcome.
    fn places(&self, word: &[usize]) -> Option<Vec<WordPlace<'a>>> {
        let mut state = self.abstraction.initial;
        let mut places = Vec::new();
        for &input in word {
            let outcomes = self.abstraction.outcomes(state, input);
            places.push(WordPlace { state, input, outcomes });
            state = outcomes.first()?.target;
        }
        Some(places)
    }

    /// The steps and rivals with the messages of the right answer: their values alone distinguish them.
    fn goals(&self, places: &[WordPlace<'a>]) -> Vec<(usize, usize)> {
        let mut goals = Vec::new();
        for (step, place) in places.iter().enumerate() {
            let answers = &self.abstraction.answers[place.input];
            let right = answers.answer_number(&place.outcomes[0].outputs).unwrap_or(0);
            for (number, rival) in answers.all.iter().enumerate() {
                // An answer with other messages shows without any choice of values, and one of the group of the right
                // answer counts as right.
                let is_like = has_gates_of(&place.outcomes[0].outputs, rival);
                if is_like && answers.groups[number] != answers.groups[right] {
                    goals.push((step, number));
                }
            }
        }
        goals
    }

    /// Values drawn step by step.
    fn draw_values(&mut self, cx: &mut Ctx<'_>, places: &[WordPlace<'a>]) -> Option<Vec<Label>> {
        let mut state = self.abstraction.start.values.clone();
        let mut test = Vec::new();
        for place in places {
            let class = &self.abstraction.inputs[place.input];
            let wish = ValueRequest { gate: class.gate, guard: class.when, state: &state };
            let PickedValues::Values(values) = pick(cx, &mut self.rng, &wish) else { return None };
            state = store_after(cx, &state, class.gate, &values, &place.outcomes[0])?;
            test.push(Label::Input(class.gate, values));
        }
        Some(test)
    }

    /// The pairs of `open` that `test` does not distinguish.
    fn open_after(
        &self,
        cx: &Ctx<'_>,
        places: &[WordPlace<'a>],
        test: &[Label],
        open: &[(usize, usize)],
    ) -> Vec<(usize, usize)> {
        let mut state = self.abstraction.start.values.clone();
        let mut left = Vec::new();
        for (step, (place, label)) in places.iter().zip(test).enumerate() {
            let Label::Input(gate, values) = label else { continue };
            let fields = field_values(cx, *gate, values);
            let same = |&&(at, rival): &&(usize, usize)| {
                at == step && {
                    let rival = &self.abstraction.answers[place.input].all[rival];
                    // Alike for one outcome is not distinguished: the system may have chosen that one.
                    place
                        .outcomes
                        .iter()
                        .any(|outcome| is_equal(cx, &outcome.outputs, rival, &fields, &state))
                }
            };
            left.extend(open.iter().filter(same));
            match store_after(cx, &state, *gate, values, &place.outcomes[0]) {
                Some(next) => state = next,
                // A store that cannot be computed shows nothing.
                None => return open.to_vec(),
            }
        }
        left
    }

    /// Asks the solver for values of `word`. If there are none, the shortest beginning without values is kept.
    fn solve_any(
        &mut self,
        cx: &mut Ctx<'_>,
        word: &[usize],
        places: &[WordPlace<'a>],
    ) -> Option<Vec<Label>> {
        match self.solve_word(cx, places, None) {
            AskedValues::Test(test) => return Some(test),
            AskedValues::Unknown => return None,
            AskedValues::Impossible => (),
        }
        // The beginning of a word that has values has values, so the shortest one without is found by bisection: up to
        // `possible` inputs have values, or are not known to have none; `impossible` inputs have none.
        let (mut possible, mut impossible) = (0, word.len());
        while possible + 1 < impossible {
            let middle = usize::midpoint(possible, impossible);
            match self.solve_word(cx, &places[..middle], None) {
                AskedValues::Impossible => impossible = middle,
                AskedValues::Test(_) | AskedValues::Unknown => possible = middle,
            }
        }
        self.impossible.insert(word[..impossible].to_vec());
        None
    }

    /// Asks the solver for values of the whole word, such that the rival of `goal` differs, if there is a goal.
    fn solve_word(
        &self,
        cx: &mut Ctx<'_>,
        places: &[WordPlace<'a>],
        goal: Option<(usize, usize)>,
    ) -> AskedValues {
        // The whole word as one formula, step by step as in bounded model checking: `names` are the values of the
        // variables before the step, in terms over the fields of the inputs so far.
        let mut names = Substitution::new();
        for (var, value) in self.abstraction.start.values.iter() {
            names.set(var, cx.pool.value(value.clone()));
        }
        let mut facts = Vec::new();
        let mut copies = Vec::new();
        let sts = cx.sts;
        for (step, place) in places.iter().enumerate() {
            let class = &self.abstraction.inputs[place.input];
            let number = FIRST_COPY + u32::try_from(step).unwrap_or(u32::MAX - FIRST_COPY);
            let fields = &sts.gates[class.gate].fields;
            let vars: Vec<_> = fields.iter().map(|&field| cx.pool.indexed_var(field, number)).collect();
            for (&field, &var) in fields.iter().zip(&vars) {
                names.set(field, cx.pool.var(var));
            }
            facts.push(cx.pool.substitute(class.when, &names));
            if let Some((at, rival)) = goal
                && at == step
            {
                let rival = &self.abstraction.answers[place.input].all[rival];
                // Different from every outcome, not only from the first: whichever the system chooses, the rival is
                // none of them.
                for outcome in place.outcomes {
                    let differs = difference(cx, &outcome.outputs, rival);
                    facts.push(cx.pool.substitute(differs, &names));
                }
            }
            let mut next = Substitution::new();
            for (var, term) in place.outcomes[0].store.iter(cx.sts) {
                next.set(var, cx.pool.substitute(term, &names));
            }
            names = next;
            copies.push((class.gate, vars));
        }
        let found = match cx.check(&facts) {
            SolverAnswer::Sat(found) => found,
            SolverAnswer::Unsat => return AskedValues::Impossible,
            SolverAnswer::Unknown(_) => return AskedValues::Unknown,
        };
        let value = |var| {
            // A field that no fact mentions may have any value.
            found.get(var).cloned().unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort))
        };
        let label = |(gate, vars): (_, Vec<_>)| Label::Input(gate, vars.into_iter().map(value).collect());
        AskedValues::Test(copies.into_iter().map(label).collect())
    }
}

/// A walk through the abstraction in step with a system that answers.
pub struct ClassWalk<'a> {
    abstraction: &'a Abstraction,
    state: usize,
    store: Valuation,
    rng: ChaCha8Rng,
}

impl<'a> ClassWalk<'a> {
    /// A walk that begins at the start.
    #[must_use]
    pub fn new(abstraction: &'a Abstraction, seed: u64) -> Self {
        let store = abstraction.start.values.clone();
        Self { abstraction, state: abstraction.initial, store, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Goes back to the start.
    pub fn restart(&mut self) {
        self.state = self.abstraction.initial;
        self.store = self.abstraction.start.values.clone();
    }

    /// Returns values of the class `input` in the current store; `None` if there are none, or the solver does not
    /// decide.
    pub fn draw(&mut self, cx: &mut Ctx<'_>, input: usize) -> Option<Vec<Value>> {
        let class = &self.abstraction.inputs[input];
        let wish = ValueRequest { gate: class.gate, guard: class.when, state: &self.store };
        match pick(cx, &mut self.rng, &wish) {
            PickedValues::Values(values) => Some(values),
            PickedValues::Impossible | PickedValues::Unknown(_) => None,
        }
    }

    /// Follows the first outcome whose answer is `outputs`, and returns the name of that answer in the machine; `None`
    /// if no outcome has it.
    pub fn follow_answer(
        &mut self,
        cx: &Ctx<'_>,
        input: usize,
        values: &[Value],
        outputs: &[Label],
    ) -> Option<String> {
        let gate = self.abstraction.inputs[input].gate;
        let fields = field_values(cx, gate, values);
        let outcomes = self.abstraction.outcomes(self.state, input);
        let is_it = |outcome: &&ClassOutcome| is_said(cx, &outcome.outputs, outputs, &fields, &self.store);
        let outcome = outcomes.iter().find(is_it)?;
        let name = self.abstraction.answer_name(cx, input, &outcome.outputs, AnswerNames::Each);
        self.store = store_after(cx, &self.store, gate, values, outcome)?;
        self.state = outcome.target;
        Some(name)
    }
}

/// Returns whether `outputs` is the answer `expected` for these values; of a message with a free field only the gate
/// counts.
fn is_said(
    cx: &Ctx<'_>,
    expected: &[OutputTerms],
    outputs: &[Label],
    fields: &Valuation,
    store: &Valuation,
) -> bool {
    let same = |(message, label): (&OutputTerms, &Label)| match label {
        Label::Output(gate, values) if *gate == message.gate => {
            let value = |&term: &Term| cx.pool.eval(term, &(fields, store)).ok();
            message.is_loose || message.values.iter().map(value).eq(values.iter().cloned().map(Some))
        }
        _ => false,
    };
    expected.len() == outputs.len() && expected.iter().zip(outputs).all(same)
}

/// The values of the fields of `gate` as an assignment.
pub(super) fn field_values(cx: &Ctx<'_>, gate: ioxide_model::sts::GateId, values: &[Value]) -> Valuation {
    cx.sts.gates[gate].fields.iter().copied().zip(values.iter().cloned()).collect()
}

/// The store after an outcome.
pub fn store_after(
    cx: &Ctx<'_>,
    state: &Valuation,
    gate: ioxide_model::sts::GateId,
    values: &[Value],
    outcome: &ClassOutcome,
) -> Option<Valuation> {
    let fields = field_values(cx, gate, values);
    let value = |(var, term)| Some((var, cx.pool.eval(term, &(&fields, state)).ok()?));
    outcome.store.iter(cx.sts).map(value).collect()
}

/// Returns whether two answers are equal for these values; of messages with free fields only the gates count.
pub fn is_equal(
    cx: &Ctx<'_>,
    outputs: &[OutputTerms],
    other: &[OutputTerms],
    fields: &Valuation,
    state: &Valuation,
) -> bool {
    let value = |&term: &Term| cx.pool.eval(term, &(fields, state)).ok();
    let same = |(a, b): (&OutputTerms, &OutputTerms)| {
        a.is_loose || b.is_loose || a.values.iter().zip(&b.values).all(|(x, y)| value(x) == value(y))
    };
    has_gates_of(outputs, other) && outputs.iter().zip(other).all(same)
}
