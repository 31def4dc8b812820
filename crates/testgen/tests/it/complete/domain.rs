//! All systems of a fault domain: every table of answers and targets over the classes, with the store of the model.
//!
//! A system is wrong if it gives, somewhere on a way on which all was right, an answer that differs from the right
//! one for some values. Every wrong one must fail a test with its concrete values, and no other may.

use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::label::Label;
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::SolverDecision;
use ioxide_test_support::is_full_run;
use ioxide_testgen::complete::concretise::{is_equal, store_after};
use ioxide_testgen::complete::react::OutputTerms;
use ioxide_testgen::complete::suite::CompleteSuite;
use ioxide_testgen::complete::{Abstraction, InputClass};

use super::*;

/// An answer and a target for every state and input class.
type System = Vec<Vec<(usize, usize)>>;

struct Domain<'a> {
    abstraction: &'a Abstraction,
    /// By test and step: the input class, and for each answer whether it has the values of the right one.
    runs: Vec<Vec<(usize, Vec<bool>)>>,
    /// The answers a system may give, by input class; the last is one the model never gives.
    answers: Vec<Vec<Vec<OutputTerms>>>,
    /// By condition class, input class and answer: whether it differs from the right one for some values.
    differs: Vec<Vec<Vec<bool>>>,
}

impl<'a> Domain<'a> {
    fn new(cx: &mut Ctx<'_>, suite: &'a CompleteSuite) -> Self {
        let abstraction = &suite.abstraction;
        let answers: Vec<_> = abstraction.answers.iter().map(|answers| answers.all.clone()).collect();
        let mut differs = Vec::new();
        for state in 0..abstraction.states.len() {
            let mut row = Vec::new();
            for (input, answers) in answers.iter().enumerate() {
                row.push(
                    answers.iter().map(|answer| differs_at(cx, abstraction, state, input, answer)).collect(),
                );
            }
            differs.push(row);
        }
        let runs = suite.tests.iter().map(|test| looked_at(cx, abstraction, &answers, test)).collect();
        Self { abstraction, runs, answers, differs }
    }

    /// Returns whether the system gives a wrong answer on a way on which all was right: one that is surely different
    /// from the right one, or else one that differs for some values.
    fn is_wrong(&self, system: &System, surely: bool) -> bool {
        let mut pairs = vec![(self.abstraction.initial, 0)];
        let mut next = 0;
        while let Some(&(state, own)) = pairs.get(next) {
            next += 1;
            for (input, &(answer, target)) in system[own].iter().enumerate() {
                let Some(outcome) = self.abstraction.outcomes(state, input).first() else { continue };
                let answers = &self.abstraction.answers[input];
                let right = answers.groups[answers.answer_number(&outcome.outputs).unwrap()];
                let differs = if surely {
                    answers.groups.get(answer) != Some(&right)
                } else {
                    self.differs[state][input].get(answer).copied().unwrap_or(true)
                };
                if differs {
                    return true;
                }
                if !pairs.contains(&(outcome.target, target)) {
                    pairs.push((outcome.target, target));
                }
            }
        }
        false
    }

    /// Returns whether the system fails a test.
    fn fails(&self, system: &System) -> bool {
        self.runs.iter().any(|run| {
            let mut own = 0;
            run.iter().any(|(input, same)| {
                let (answer, target) = system[own][*input];
                own = target;
                !same.get(answer).copied().unwrap_or(false)
            })
        })
    }

    /// Returns the number of systems with `states` states, every answer of the model and one wrong answer included.
    fn count(&self, states: usize) -> u128 {
        let entries = |answers: &Vec<_>| u128::try_from((answers.len() + 1) * states).unwrap();
        self.answers.iter().map(entries).product::<u128>().pow(u32::try_from(states).unwrap())
    }

    /// System number `code`.
    fn system(&self, states: usize, mut code: u128) -> System {
        let mut entry = |answers: usize| {
            let all = u128::try_from((answers + 1) * states).unwrap();
            let digit = usize::try_from(code % all).unwrap();
            code /= all;
            (digit / states, digit % states)
        };
        (0..states).map(|_| self.answers.iter().map(|answers| entry(answers.len())).collect()).collect()
    }

    /// The system that is the model itself.
    fn model(&self) -> System {
        let entry = |state: usize, input: usize| {
            let Some(outcome) = self.abstraction.outcomes(state, input).first() else { return (0, 0) };
            let answer = self.answers[input].iter().position(|answer| *answer == outcome.outputs);
            (answer.unwrap_or(0), outcome.target)
        };
        let row =
            |state: usize| (0..self.abstraction.inputs.len()).map(|input| entry(state, input)).collect();
        (0..self.abstraction.states.len()).map(row).collect()
    }
}

/// The steps of a test with its values: the input class, and for each answer whether it has the values of the right
/// one.
fn looked_at(
    cx: &Ctx<'_>,
    abstraction: &Abstraction,
    answers: &[Vec<Vec<OutputTerms>>],
    test: &[Label],
) -> Vec<(usize, Vec<bool>)> {
    let mut state = abstraction.initial;
    let mut store = abstraction.start.values.clone();
    let mut run = Vec::new();
    for label in test {
        let Label::Input(gate, values) = label else { continue };
        let fields: Valuation =
            cx.sts.gates[*gate].fields.iter().copied().zip(values.iter().cloned()).collect();
        let holds = |class: &InputClass| {
            class.gate == *gate && cx.pool.holds(class.when, &(&fields, &store)) == Ok(true)
        };
        let input = abstraction.inputs.iter().position(holds).expect("a class has the input");
        let outcome = &abstraction.outcomes(state, input)[0];
        let same = |given: &Vec<OutputTerms>| is_equal(cx, &outcome.outputs, given, &fields, &store);
        run.push((input, answers[input].iter().map(same).collect()));
        store = store_after(cx, &store, *gate, values, outcome).expect("updates have values");
        state = outcome.target;
    }
    run
}

/// Returns whether `answer` differs from the right one in some store and for some input of the classes.
fn differs_at(
    cx: &mut Ctx<'_>,
    abstraction: &Abstraction,
    state: usize,
    input: usize,
    answer: &[OutputTerms],
) -> bool {
    let Some(outcome) = abstraction.outcomes(state, input).first() else { return false };
    let same_gates = outcome.outputs.len() == answer.len()
        && outcome.outputs.iter().zip(answer).all(|(a, b)| a.gate == b.gate);
    if !same_gates {
        return true;
    }
    let mut equal = Vec::new();
    for (a, b) in outcome.outputs.iter().zip(answer) {
        for (&x, &y) in a.values.iter().zip(&b.values) {
            equal.push(cx.pool.eq(x, y));
        }
    }
    let equal = cx.pool.and(equal);
    let mut facts = abstraction.states[state].facts.clone();
    facts.push(abstraction.inputs[input].when);
    facts.push(cx.pool.not(equal));
    cx.decide(&facts) == SolverDecision::Sat
}

/// Returns whether the system is surely wrong, and checks that the tests fail it then, and fail no right system.
fn is_surely_wrong(domain: &Domain<'_>, system: &System) -> bool {
    let (surely, perhaps) = (domain.is_wrong(system, true), domain.is_wrong(system, false));
    let fails = domain.fails(system);
    assert!(!surely || fails, "a wrong system passes: {system:?}");
    assert!(!fails || perhaps, "a right system fails: {system:?}");
    surely
}

/// Checks all systems; returns the numbers of wrong and of right ones.
fn check(text: &str, config: &CompleteConfig) -> (usize, usize) {
    with(text, |cx| {
        let suite = complete_suite(cx, config).unwrap();
        assert!(suite.claim.is_whole(), "{:#?}", suite.claim);
        let domain = Domain::new(cx, &suite);
        let states = suite.claim.bound;
        let model = domain.model();
        assert!(!domain.is_wrong(&model, false) && !domain.fails(&model), "the model passes its own suite");
        let (mut wrong, mut right) = (0, 0);
        for code in 0..domain.count(states) {
            let is_wrong = is_surely_wrong(&domain, &domain.system(states, code));
            wrong += usize::from(is_wrong);
            right += usize::from(!is_wrong);
        }
        (wrong, right)
    })
}

/// Checks systems near the model: a few entries changed, up to `extra` states copied first.
fn check_near(text: &str, config: &CompleteConfig, mutants: usize) -> (usize, usize) {
    use rand::{RngExt, SeedableRng};
    with(text, |cx| {
        let suite = complete_suite(cx, config).unwrap();
        let domain = Domain::new(cx, &suite);
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(config.seed);
        let (mut wrong, mut right) = (0, 0);
        for _ in 0..mutants {
            let mut system = domain.model();
            let slack = suite.claim.bound.saturating_sub(system.len());
            for _ in 0..rng.random_range(0..=slack) {
                let copy = system[rng.random_range(0..system.len())].clone();
                system.push(copy);
            }
            for _ in 0..rng.random_range(1..=2 + slack) {
                let (state, input) =
                    (rng.random_range(0..system.len()), rng.random_range(0..domain.answers.len()));
                let entry = if rng.random_ratio(3, 4) {
                    (system[state][input].0, rng.random_range(0..system.len()))
                } else {
                    (rng.random_range(0..=domain.answers[input].len()), system[state][input].1)
                };
                system[state][input] = entry;
            }
            let is_wrong = is_surely_wrong(&domain, &system);
            wrong += usize::from(is_wrong);
            right += usize::from(!is_wrong);
        }
        (wrong, right)
    })
}

/// A lock with a code of any size: two states, three input classes.
const LOCK: &str = "model Lock { input code(n: int) input close output opened(n: int) output shut(n: int)
    var last: int = 0 var tries: int = 0
    state locked {
        good: on code when n > 99 { last = n } -> open_now
        bad: on code when n <= 99 { last = n, tries = tries + 1 } -> say_shut
        again: on close -> say_shut
    }
    state free { over: on code { last = n } -> say_open  lock: on close { tries = 0 } -> say_shut }
    state open_now { a: emit opened(n: last) -> free }
    state say_open { b: emit opened(n: last + 1) -> free }
    state say_shut { c: emit shut(n: tries) -> locked } }";

/// Mutants of every model of a campaign.
fn mutants() -> usize {
    if is_full_run() { 100_000 } else { 5_000 }
}

#[test]
fn every_wrong_system_of_the_domain_fails_and_no_other() {
    for method in [SuiteMethod::H, SuiteMethod::W, SuiteMethod::Hsi, SuiteMethod::S] {
        let config = CompleteConfig { method, ..CompleteConfig::default() };
        let (wrong, right) = check(LOCK, &config);
        assert!(wrong > 40_000 && right >= 2, "{}: {wrong} wrong, {right} right", method.name());
    }
}

#[test]
fn extra_states_are_part_of_the_domain() {
    for extra in 1..=2 {
        let config = CompleteConfig { extra, ..CompleteConfig::default() };
        let (wrong, right) = check_near(LOCK, &config, mutants());
        assert!(wrong > 1_000 && right > 10, "{wrong} {right}");
    }
}

#[test]
fn larger_models_have_no_wrong_system_that_passes() {
    for (text, boundary) in [(RELAY, 0), (JAR, 0), (LOCK, 1)] {
        let config = CompleteConfig { boundary, ..CompleteConfig::default() };
        let (wrong, _) = check_near(text, &config, mutants());
        assert!(wrong > mutants() / 3, "{wrong}");
    }
}
