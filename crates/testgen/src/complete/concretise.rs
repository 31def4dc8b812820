//! Words of input classes as messages with values.
//!
//! Values are drawn step by step, which always works: a word of the abstraction can be executed in every store. That
//! the system gave *another* answer of the model shows only if the two differ for the values of the test, so every
//! step has its *rivals*: the other answers that the model gives to the same input class somewhere. A word comes with
//! as many different choices of values as it takes until each rival differs from the right answer in one of them;
//! where drawing does not find such values the solver is asked for the whole word. A rival that cannot be told apart
//! on a word is counted.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use ioxide_model::label::Label;
use ioxide_model::term::{Substitution, Term};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::Answer;
use ioxide_symex::Ctx;

use super::react::SaidMessage;
use super::{Abstraction, ClassOutcome};
use crate::data::{Pick, Wish, pick};

/// Choices of values drawn for a word before the solver is asked.
const DRAWS: usize = 3;
/// The number of the first copy of a field in a word.
const FIRST_COPY: u32 = 100_000;

/// A word with values, in as many ways as it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcreteWord {
    /// The inputs, once for every choice of values.
    pub tests: Vec<Vec<Label>>,
    /// Pairs of a step and a rival.
    pub rivals: usize,
    /// Those of them that no values tell apart, or none were found.
    pub alike: usize,
}

/// Finds values for words.
pub struct Concretiser<'a> {
    abstraction: &'a Abstraction,
    rivals: Vec<Vec<Vec<SaidMessage>>>,
    /// At least so many choices of values for every word.
    values: usize,
    rng: ChaCha8Rng,
}

/// A step of a word, in the store before it.
struct Place<'a> {
    input: usize,
    outcomes: &'a [ClassOutcome],
}

impl<'a> Concretiser<'a> {
    /// For words of `abstraction`, with at least `values` choices of values each.
    #[must_use]
    pub fn new(abstraction: &'a Abstraction, values: usize, seed: u64) -> Self {
        let rivals = (0..abstraction.inputs.len()).map(|input| answers(abstraction, input)).collect();
        Self { abstraction, rivals, values: values.max(1), rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// `word` with values; nothing if a value was not found.
    pub fn word(&mut self, cx: &mut Ctx<'_>, word: &[usize]) -> Option<ConcreteWord> {
        let places = self.places(word)?;
        let goals = self.goals(&places);
        let mut found = ConcreteWord { rivals: goals.len(), ..ConcreteWord::default() };
        let mut open = goals;
        for attempt in 0..self.values.max(DRAWS) {
            if attempt >= self.values && open.is_empty() {
                break;
            }
            let test = self.drawn(cx, &places)?;
            let left = self.open_after(cx, &places, &test, &open);
            let is_new = !found.tests.contains(&test);
            if is_new && (attempt < self.values || left.len() < open.len()) {
                found.tests.push(test);
                open = left;
            }
        }
        while let Some(goal) = open.first().copied() {
            let asked = self.asked(cx, &places, goal);
            let before = open.len();
            if let Some(test) = asked {
                open = self.open_after(cx, &places, &test, &open);
                if open.len() < before {
                    found.tests.push(test);
                    continue;
                }
            }
            open.remove(0);
            found.alike += 1;
        }
        Some(found)
    }

    /// The steps of `word`.
    fn places(&self, word: &[usize]) -> Option<Vec<Place<'a>>> {
        let mut state = self.abstraction.initial;
        let mut places = Vec::new();
        for &input in word {
            let outcomes = self.abstraction.outcomes(state, input);
            state = outcomes.first()?.target;
            places.push(Place { input, outcomes });
        }
        Some(places)
    }

    /// The steps and rivals that could be taken for the right answer.
    fn goals(&self, places: &[Place<'a>]) -> Vec<(usize, usize)> {
        let mut goals = Vec::new();
        for (step, place) in places.iter().enumerate() {
            for (number, rival) in self.rivals[place.input].iter().enumerate() {
                let is_right = place.outcomes.iter().any(|outcome| outcome.said == *rival);
                let is_like = place.outcomes.iter().any(|outcome| has_gates_of(&outcome.said, rival));
                if is_like && !is_right {
                    goals.push((step, number));
                }
            }
        }
        goals
    }

    /// Values drawn step by step.
    fn drawn(&mut self, cx: &mut Ctx<'_>, places: &[Place<'a>]) -> Option<Vec<Label>> {
        let mut state = self.abstraction.start.values.clone();
        let mut test = Vec::new();
        for place in places {
            let class = &self.abstraction.inputs[place.input];
            let wish = Wish { gate: class.gate, guard: class.when, state: &state };
            let Pick::Values(values) = pick(cx, &mut self.rng, &wish) else { return None };
            state = after(cx, &state, class.gate, &values, &place.outcomes[0])?;
            test.push(Label::Input(class.gate, values));
        }
        Some(test)
    }

    /// Those of `open` that `test` does not tell apart.
    fn open_after(
        &self,
        cx: &Ctx<'_>,
        places: &[Place<'a>],
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
                    let rival = &self.rivals[place.input][rival];
                    place.outcomes.iter().any(|outcome| is_equal(cx, &outcome.said, rival, &fields, &state))
                }
            };
            left.extend(open.iter().filter(same));
            match after(cx, &state, *gate, values, &place.outcomes[0]) {
                Some(next) => state = next,
                None => return open.to_vec(),
            }
        }
        left
    }

    /// Values for the whole word such that one rival differs, from the solver.
    fn asked(&self, cx: &mut Ctx<'_>, places: &[Place<'a>], goal: (usize, usize)) -> Option<Vec<Label>> {
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
            let vars: Vec<_> = fields.iter().map(|&field| cx.pool.indexed(field, number)).collect();
            for (&field, &var) in fields.iter().zip(&vars) {
                names.set(field, cx.pool.var(var));
            }
            facts.push(cx.pool.substitute(class.when, &names));
            if step == goal.0 {
                let rival = &self.rivals[place.input][goal.1];
                for outcome in place.outcomes {
                    let differs = difference(cx, &outcome.said, rival);
                    facts.push(cx.pool.substitute(differs, &names));
                }
            }
            let mut next = Substitution::new();
            for &(var, term) in &place.outcomes[0].store {
                next.set(var, cx.pool.substitute(term, &names));
            }
            names = next;
            copies.push((class.gate, vars));
        }
        let Answer::Sat(found) = cx.check(&facts) else { return None };
        let value = |var| {
            found.get(var).cloned().unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort))
        };
        let label = |(gate, vars): (_, Vec<_>)| Label::Input(gate, vars.into_iter().map(value).collect());
        Some(copies.into_iter().map(label).collect())
    }
}

/// The different answers to `input` in any condition class.
fn answers(abstraction: &Abstraction, input: usize) -> Vec<Vec<SaidMessage>> {
    let states = 0..abstraction.states.len();
    let mut found: Vec<Vec<SaidMessage>> = states
        .flat_map(|state| abstraction.outcomes(state, input).iter().map(|outcome| outcome.said.clone()))
        .collect();
    found.sort();
    found.dedup();
    found
}

fn has_gates_of(said: &[SaidMessage], other: &[SaidMessage]) -> bool {
    said.len() == other.len() && said.iter().zip(other).all(|(a, b)| a.gate == b.gate)
}

fn field_values(cx: &Ctx<'_>, gate: ioxide_model::sts::GateId, values: &[Value]) -> Valuation {
    cx.sts.gates[gate].fields.iter().copied().zip(values.iter().cloned()).collect()
}

/// The store after an outcome.
pub(super) fn after(
    cx: &Ctx<'_>,
    state: &Valuation,
    gate: ioxide_model::sts::GateId,
    values: &[Value],
    outcome: &ClassOutcome,
) -> Option<Valuation> {
    let fields = field_values(cx, gate, values);
    let value = |&(var, term): &(_, Term)| Some((var, cx.pool.eval(term, &(&fields, state)).ok()?));
    outcome.store.iter().map(value).collect()
}

/// Whether two answers are the same for these values; what the system may choose is taken to be the same.
pub(super) fn is_equal(
    cx: &Ctx<'_>,
    said: &[SaidMessage],
    other: &[SaidMessage],
    fields: &Valuation,
    state: &Valuation,
) -> bool {
    let value = |&term: &Term| cx.pool.eval(term, &(fields, state)).ok();
    let same = |(a, b): (&SaidMessage, &SaidMessage)| {
        a.is_loose || b.is_loose || a.values.iter().zip(&b.values).all(|(x, y)| value(x) == value(y))
    };
    has_gates_of(said, other) && said.iter().zip(other).all(same)
}

/// The condition under which two answers differ.
fn difference(cx: &mut Ctx<'_>, said: &[SaidMessage], other: &[SaidMessage]) -> Term {
    if !has_gates_of(said, other) {
        return cx.pool.tt();
    }
    let mut equal = Vec::new();
    for (a, b) in said.iter().zip(other).filter(|(a, b)| !a.is_loose && !b.is_loose) {
        for (&x, &y) in a.values.iter().zip(&b.values) {
            equal.push(cx.pool.eq(x, y));
        }
    }
    let same = cx.pool.and(equal);
    cx.pool.not(same)
}
