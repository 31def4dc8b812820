//! Register automata: what is learned is the system, for three well-known ones and for random ones.
//!
//! CI learns a share; `IOXIDE_LEARN_REGISTERS=1000 cargo test -p ioxide-learn --release --test it register::` learns
//! all.

mod place;
mod tree;

use std::convert::Infallible;
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_learn::observer::LearningEffort;
use ioxide_learn::register::compare::find_separating_word;
use ioxide_learn::register::guards::guard_machine;
use ioxide_learn::register::learner::{DataLearnError, DataLearner, DataObserver};
use ioxide_learn::register::machine::{
    AnswerField, DataStep, DataSystem, LocationId, RegisterLocation, RegisterMachine,
};
use ioxide_learn::register::oracle::{
    DataExamination, DataGuarantee, DataLearned, UnrolledMachine, learn_data,
};
use ioxide_learn::register::place::{
    AnswerValue, DataAnswer, DataInput, InputSignature, Theory, ValuePlace, ValuePoint,
};
use ioxide_model::index::{Idx, IndexVec};
use ioxide_test_support::test_count;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn how_many() -> u64 {
    test_count("IOXIDE_LEARN_REGISTERS", 30, 600)
}

/// A system written by hand: it holds values, and says yes or no.
struct Holder {
    held: Vec<ValuePoint>,
    accept: fn(&mut Vec<ValuePoint>, &DataInput) -> bool,
}

impl DataSystem for Holder {
    type Error = Infallible;

    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Infallible> {
        self.held.clear();
        let mut is_over = false;
        let mut answers = Vec::new();
        for input in word {
            is_over = is_over || !(self.accept)(&mut self.held, input);
            answers.push(DataAnswer { shape: OutputId::new(usize::from(is_over)), values: Vec::new() });
        }
        Ok(answers)
    }
}

/// `push` and `pop` of a value: a pop is right if it names the last value; at most two are held.
fn stack(held: &mut Vec<ValuePoint>, input: &DataInput) -> bool {
    let value = input.values[0];
    match input.gate.index() {
        0 if held.len() < 2 => {
            held.push(value);
            true
        }
        0 => false,
        _ => held.pop() == Some(value),
    }
}

/// `offer` and `poll` of a value: a poll is right if it names the smallest value; at most three are held.
fn priority_queue(held: &mut Vec<ValuePoint>, input: &DataInput) -> bool {
    let value = input.values[0];
    match input.gate.index() {
        0 if held.len() < 3 => {
            held.push(value);
            held.sort_unstable();
            true
        }
        0 => false,
        _ => !held.is_empty() && held.remove(0) == value,
    }
}

/// `register`, `login` and `logout`; nothing that is refused changes anything.
struct Login;

impl DataSystem for Login {
    type Error = Infallible;

    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Infallible> {
        let (mut known, mut is_in) = (None, false);
        let mut step = |input: &DataInput| {
            let is_done = match input.gate.index() {
                0 if known.is_none() => {
                    known = Some(input.values.clone());
                    true
                }
                1 if !is_in && known.as_ref() == Some(&input.values) => {
                    is_in = true;
                    true
                }
                2 if is_in => {
                    is_in = false;
                    true
                }
                _ => false,
            };
            DataAnswer { shape: OutputId::new(usize::from(!is_done)), values: Vec::new() }
        };
        Ok(word.iter().map(&mut step).collect())
    }
}

fn signature(theory: Theory, arity: &[usize]) -> InputSignature {
    InputSignature { theory, constants: Vec::new(), arity: arity.to_vec(), made: vec![0; arity.len()] }
}

fn examination(seed: u64) -> DataExamination {
    DataExamination { method: SuiteMethod::S, extra: 1, values: 3, walks: 0, walk_length: 0, seed }
}

/// Learns until nothing is found; what it cost until the last hypothesis, and in all.
fn learned<S>(
    system: S,
    signature: InputSignature,
    seed: u64,
) -> (DataLearned, LearningEffort, LearningEffort)
where
    S: DataSystem,
    S::Error: std::fmt::Debug,
{
    learned_with(system, signature, &examination(seed))
}

fn learned_with<S>(
    system: S,
    signature: InputSignature,
    examination: &DataExamination,
) -> (DataLearned, LearningEffort, LearningEffort)
where
    S: DataSystem,
    S::Error: std::fmt::Debug,
{
    let mut observer = DataObserver::new(system, signature);
    let mut last = LearningEffort::default();
    let learned = learn_data(&mut observer, examination, &[], &mut |stage, _, observer| {
        if matches!(stage, ioxide_learn::register::oracle::DataStage::Hypothesis { .. }) {
            last = observer.effort;
        }
        ControlFlow::Continue(())
    });
    (learned.expect("a machine"), last, observer.effort)
}

/// Returns whether the machine answers all words of `length` inputs over these values as the system does.
fn is_right<S: DataSystem>(
    system: &mut S,
    machine: &RegisterMachine,
    values: &[ValuePoint],
    length: usize,
) -> bool
where
    S::Error: std::fmt::Debug,
{
    let words = words(&machine.signature, values, length);
    words.into_iter().all(|word| {
        let mut played = machine;
        let Ok(said) = played.run(&word);
        system.run(&word).expect("a system answers") == said
    })
}

/// All words of this length over `values` and what was made up before.
fn words(signature: &InputSignature, values: &[ValuePoint], length: usize) -> Vec<Vec<DataInput>> {
    let mut words: Vec<(Vec<DataInput>, Vec<ValuePoint>)> = vec![(Vec::new(), values.to_vec())];
    for _ in 0..length {
        let mut longer = Vec::new();
        for (word, known) in &words {
            for gate in signature.gates() {
                for row in ioxide_fsm::word::words_of_length(known.len(), signature.arity[gate.index()]) {
                    let mut values: Vec<ValuePoint> = row.iter().map(|at| known[at.index()]).collect();
                    let first = 1000 + ValuePoint::try_from(known.len()).expect("few");
                    let made: Vec<ValuePoint> = (first..).take(signature.made[gate.index()]).collect();
                    values.extend(&made);
                    let word = [&word[..], &[DataInput { gate, values }]].concat();
                    longer.push((word, [&known[..], &made].concat()));
                }
            }
        }
        words = longer;
    }
    words.into_iter().map(|(word, _)| word).collect()
}

#[test]
fn the_three_of_the_reference_take_fewer_resets() {
    // Ten seeds with all random ones; two are enough to notice that something broke.
    let n_seeds = if how_many() < 1000 { 2 } else { 10 };
    let seeds = 1..=n_seeds;
    let mean = |total: u64| total / n_seeds;
    let mut until_right = [0, 0, 0];
    for seed in seeds {
        let (login, effort, all) = learned(Login, signature(Theory::Equality, &[2, 2, 0]), seed);
        assert!(is_right(&mut Login, &login.machine, &[1, 2], 4));
        eprintln!("login: {effort:?}, with the tests that find nothing {all:?}: {:?}", login.guarantee);
        until_right[0] += effort.resets;
        let holder = |accept| Holder { held: Vec::new(), accept };
        let (machine, effort, all) = learned(holder(stack), signature(Theory::Equality, &[1, 1]), seed);
        assert!(is_right(&mut holder(stack), &machine.machine, &[1, 2, 3], 5));
        eprintln!("stack: {effort:?}, {all:?}: {:?}", machine.guarantee);
        until_right[1] += effort.resets;
        let (machine, effort, all) = learned(holder(priority_queue), signature(Theory::Order, &[1, 1]), seed);
        assert!(is_right(&mut holder(priority_queue), &machine.machine, &[1, 2, 3], 6));
        eprintln!("priority queue: {effort:?}, {all:?}: {:?}", machine.guarantee);
        until_right[2] += effort.resets;
    }
    eprintln!("mean resets until right: {:?}", until_right.map(mean));
    assert!(mean(until_right[0]) < 1608, "login: {}", mean(until_right[0]));
    assert!(mean(until_right[1]) < 575, "stack: {}", mean(until_right[1]));
    assert!(mean(until_right[2]) < 876, "priority queue: {}", mean(until_right[2]));
}

/// `login` hands out a token, `use` and `logout` must give it back; two may be in at a time.
struct Tokens;

impl DataSystem for Tokens {
    type Error = Infallible;

    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Infallible> {
        let mut live: Vec<ValuePoint> = Vec::new();
        let mut step = |input: &DataInput| {
            let token = input.values[0];
            let place = live.iter().position(|&it| it == token);
            let (shape, values) = match (input.gate.index(), place) {
                (0, _) if live.len() < 2 => {
                    live.push(token);
                    (1, vec![AnswerValue::Point(token)])
                }
                (1, Some(_)) => (2, Vec::new()),
                (2, Some(at)) => {
                    live.remove(at);
                    (2, Vec::new())
                }
                _ => (0, Vec::new()),
            };
            DataAnswer { shape: OutputId::new(shape), values }
        };
        Ok(word.iter().map(&mut step).collect())
    }
}

#[test]
fn what_a_system_makes_up_is_stored_and_compared() {
    let signature = InputSignature {
        theory: Theory::Equality,
        constants: Vec::new(),
        arity: vec![0, 1, 1],
        made: vec![1, 0, 0],
    };
    for seed in 1..=5 {
        let (learned, effort, all) = learned(Tokens, signature.clone(), seed);
        eprintln!("tokens: {effort:?}, {all:?}: {:?}", learned.guarantee);
        assert!(is_right(&mut Tokens, &learned.machine, &[1, 2], 5), "seed {seed}");
        assert_eq!((learned.machine.locations.len(), learned.machine.n_registers()), (3, 2), "seed {seed}");
        let guarded = guard_machine(&learned.machine);
        assert_eq!(find_separating_word(&signature, &learned.machine, &guarded), None);
    }
}

/// A random automaton.
fn machine(rng: &mut ChaCha8Rng) -> RegisterMachine {
    let theory = if rng.random_bool(0.5) { Theory::Equality } else { Theory::Order };
    let constants = if rng.random_bool(0.3) { vec![0] } else { Vec::new() };
    let n_gates = rng.random_range(1..=2);
    let arity: Vec<usize> = (0..n_gates).map(|gate| rng.random_range(usize::from(gate == 0)..=2)).collect();
    let makes = theory == Theory::Equality && rng.random_bool(0.5);
    let made = arity.iter().map(|_| usize::from(makes && rng.random_bool(0.6))).collect();
    machine_over(rng, InputSignature { theory, constants, arity, made })
}

/// A random automaton that makes a value up for every input; inputs have no other values, or give one back.
fn making_machine(rng: &mut ChaCha8Rng) -> RegisterMachine {
    let n_gates = rng.random_range(1..=2);
    let arity: Vec<usize> = (0..n_gates).map(|_| rng.random_range(0..=1)).collect();
    let made = vec![1; n_gates];
    machine_over(rng, InputSignature { theory: Theory::Equality, constants: Vec::new(), arity, made })
}

/// Every region of every location leads somewhere, with registers that the target can hold.
fn machine_over(rng: &mut ChaCha8Rng, signature: InputSignature) -> RegisterMachine {
    let n_locations = rng.random_range(1..=5);
    // How the registers of each location compare with the constants and each other.
    let patterns: Vec<Vec<ValuePlace>> = (0..n_locations)
        .map(|at| {
            let n = if at == 0 { 0 } else { rng.random_range(1..=2) };
            let mut values: Vec<ValuePoint> =
                (0..n).map(|_| rng.random_range(-1000..1000)).filter(|&v| v != 0).collect();
            values.sort_unstable();
            values.dedup();
            signature.comparison_pattern(&values)
        })
        .collect();
    let mut locations = IndexVec::new();
    for pattern in &patterns {
        let mut location = RegisterLocation { n_registers: pattern.len(), ..RegisterLocation::default() };
        let mut known = signature.constants.clone();
        signature.values_at(&mut known, &[], pattern);
        for gate in signature.gates() {
            for region in signature.regions(known.len(), gate) {
                let step = random_step(rng, &signature, &patterns, &known, &region);
                location.steps.insert(region, step);
            }
        }
        locations.push(location);
    }
    RegisterMachine { signature, locations }
}

fn random_step(
    rng: &mut ChaCha8Rng,
    signature: &InputSignature,
    patterns: &[Vec<ValuePlace>],
    known: &[ValuePoint],
    (gate, places): &(InputId, Vec<ValuePlace>),
) -> DataStep {
    let mut known = known.to_vec();
    signature.values_at(&mut known, &[], places);
    let n_constants = signature.constants.len();
    // The last values are made up, or not: then they are nowhere.
    let n_made = signature.made[gate.index()];
    let makes = n_made > 0 && rng.random_bool(0.6);
    if !makes {
        known.truncate(known.len() - n_made);
    }
    let mut choices = Vec::new();
    for (target, pattern) in patterns.iter().enumerate() {
        let mut sources: Vec<usize> = (n_constants..known.len()).collect();
        for _ in 0..4 {
            sources.shuffle(rng);
            let registers: Vec<usize> = sources.iter().copied().take(pattern.len()).collect();
            let values: Vec<ValuePoint> = registers.iter().map(|&source| known[source]).collect();
            if registers.len() == pattern.len() && signature.comparison_pattern(&values) == *pattern {
                choices.push((LocationId::new(target), registers));
                break;
            }
        }
    }
    // Rather not back to where nothing is remembered.
    let other = choices[1..].choose(rng).or(choices.first());
    let (target, registers) = other.cloned().expect("the first location needs nothing");
    let told = match rng.random_range(0..4) {
        _ if makes => (known.len() - n_made..known.len()).map(AnswerField::Source).collect(),
        0 if !known.is_empty() => vec![AnswerField::Source(rng.random_range(0..known.len()))],
        1 => vec![AnswerField::Literal(rng.random_range(0..2))],
        _ => Vec::new(),
    };
    DataStep {
        shape: OutputId::new(usize::from(!told.is_empty()) * 2 + rng.random_range(0..2)),
        told,
        target,
        registers,
    }
}

/// Learns `system` with an oracle that knows it.
fn learned_perfectly(system: &RegisterMachine) -> (RegisterMachine, LearningEffort) {
    let mut observer = DataObserver::new(system, system.signature.clone());
    let mut learner = DataLearner::new(&observer.tree);
    loop {
        let learned = learner.hypothesis(&mut observer).expect("a machine answers");
        let Some(word) = find_separating_word(&system.signature, &learned, system) else {
            return (learned, observer.effort);
        };
        learner.learn_from_counterexample(&mut observer, &learned, &word).expect("a machine answers");
    }
}

#[test]
fn random_ones_are_learned_with_a_perfect_oracle() {
    let (mut with_registers, mut resets) = (0, 0);
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let system = machine(&mut rng);
        let (learned, effort) = learned_perfectly(&system);
        assert!(learned.locations.len() <= configurations(&system), "seed {seed}");
        assert!(is_right(&mut &system, &learned, &[0, 5, 9], 2), "seed {seed}");
        with_registers += u64::from(learned.n_registers() > 0);
        resets += effort.resets;
    }
    assert!(with_registers * 3 > how_many(), "{with_registers} have registers");
    eprintln!("{} automata, {with_registers} with registers, {resets} resets", how_many());
}

/// Values that nobody else knows: what is stored, compared and told again was made up by the system itself.
///
/// Suites are over two values here. With three, and three that are made up, one of them can have 13,000 tests: all 60
/// take seven seconds when they are optimised, and minutes when they are not.
#[test]
fn automata_that_only_make_values_up_are_learned() {
    let (mut with_registers, mut promised) = (0, 0);
    for seed in 0..how_many() {
        let system = making_machine(&mut ChaCha8Rng::seed_from_u64(4_000_000 + seed));
        let (learned, _) = learned_perfectly(&system);
        assert!(learned.locations.len() <= configurations(&system), "seed {seed}");
        assert!(is_right(&mut &system, &learned, &[1, 2], 3), "seed {seed}");
        with_registers += u64::from(learned.n_registers() > 0);
        if seed % 4 == 0 {
            let few = DataExamination { values: 2, ..examination(seed) };
            let (found, ..) = learned_with(&system, system.signature.clone(), &few);
            let is_within = is_kept(&system, &found, seed);
            promised += u64::from(is_within.is_some());
        }
    }
    assert!(with_registers * 4 > how_many(), "{with_registers} have registers");
    assert!(promised * 5 > how_many(), "{promised} have a guarantee");
}

/// Locations of `machine`: in its form, no two with different patterns are one.
fn configurations(machine: &RegisterMachine) -> usize {
    machine.locations.len()
}

/// Looks whether what is promised of `learned` holds: whether the system is within the bound, if something is promised.
fn is_kept(system: &RegisterMachine, learned: &DataLearned, seed: u64) -> Option<bool> {
    let DataGuarantee::Complete { values, states, extra } = learned.guarantee else { return None };
    let n_states = |machine| UnrolledMachine::new(machine, values).expect("small").n_states();
    assert_eq!(n_states(&learned.machine), states);
    let is_within = n_states(system) <= states + extra;
    assert!(!is_within || is_same_on_few(system, &learned.machine, values), "seed {seed}");
    Some(is_within)
}

#[test]
fn a_guarantee_over_few_values_is_kept() {
    let (mut wrong, mut within) = (0, 0);
    for seed in 0..how_many() / 3 {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        let system = machine(&mut rng);
        let (learned, ..) = learned(&system, system.signature.clone(), seed);
        let Some(is_within) = is_kept(&system, &learned, seed) else { continue };
        within += u64::from(is_within);
        wrong += u64::from(find_separating_word(&system.signature, &learned.machine, &system).is_some());
    }
    assert!(wrong * 15 < how_many() && within * 5 > how_many(), "{wrong} wrong, {within} within the bound");
}

/// Returns whether two machines are equivalent on inputs over a few values, by visiting all pairs of configurations.
fn is_same_on_few(one: &RegisterMachine, other: &RegisterMachine, n_values: usize) -> bool {
    let mut domain = one.signature.constants.clone();
    let n = ValuePoint::try_from(n_values).expect("few");
    // With an order, as many on each side of the constant; without, this many in all.
    domain.extend((1..=n).map(|at| at * 10));
    if one.signature.theory == Theory::Order && !one.signature.constants.is_empty() {
        domain.extend((1..=n).map(|at| at * -10));
    }
    let mut seen = vec![(one.start(), other.start(), 0)];
    let mut at = 0;
    while at < seen.len() {
        let (here, there, n_made) = seen[at].clone();
        // What was made up can be given back; what will be is not known to anybody.
        let known =
            [&domain[..], &(0..n_made).map(|made| 10_000 + made).collect::<Vec<ValuePoint>>()].concat();
        for gate in one.signature.gates() {
            for row in ioxide_fsm::word::words_of_length(known.len(), one.signature.arity[gate.index()]) {
                let mut values: Vec<ValuePoint> = row.iter().map(|at| known[at.index()]).collect();
                let made = 10_000 + n_made;
                values.extend((0..one.signature.made[gate.index()]).map(|_| made));
                let input = DataInput { gate, values };
                let (a, b) = (one.step(&here, &input), other.step(&there, &input));
                let (Some((said, a)), Some((heard, b))) = (a, b) else { return false };
                if said != heard {
                    return false;
                }
                let next = (a, b, n_made + ValuePoint::from(said.values.contains(&AnswerValue::Point(made))));
                if next.2 <= n && !seen.contains(&next) {
                    seen.push(next);
                }
            }
        }
        at += 1;
    }
    true
}

/// The comparison says the same as looking at all short words over few values.
#[test]
fn comparing_finds_what_enumeration_finds() {
    let mut different = 0;
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(2_000_000 + seed);
        let one = machine(&mut rng);
        let mut other = one.clone();
        let at = LocationId::new(rng.random_range(0..other.locations.len()));
        if let Some(step) = other.locations[at].steps.values_mut().choose_one(&mut rng) {
            step.shape = OutputId::new(step.shape.index() ^ 1);
        }
        let found = find_separating_word(&one.signature, &one, &other);
        if let Some(word) = &found {
            let (mut a, mut b) = (&one, &other);
            let (Ok(a), Ok(b)) = (a.run(word), b.run(word));
            assert_ne!(a, b, "seed {seed}");
            different += 1;
        }
        // Two values and a constant compare in no other way than some of these do.
        let is_short = !one.signature.arity.contains(&2);
        let same = is_right(&mut &one, &other, &[-9, -5, 0, 5, 9][..if is_short { 5 } else { 3 }], 2);
        assert!(same || found.is_some(), "seed {seed}");
        assert!(found.is_none_or(|word| word.len() > 2) || !same || !is_short, "seed {seed}");
    }
    assert!(different > how_many() / 3, "{different} differ");
}

/// One item of an iterator by chance.
trait ChooseOne: Iterator + Sized {
    fn choose_one(self, rng: &mut ChaCha8Rng) -> Option<Self::Item> {
        let mut all: Vec<Self::Item> = self.collect();
        let n = all.len();
        (n > 0).then(|| all.swap_remove(rng.random_range(0..n)))
    }
}

impl<I: Iterator> ChooseOne for I {}

#[test]
fn a_system_that_compares_otherwise_is_noticed() {
    /// Takes even values only.
    struct Even;
    impl DataSystem for Even {
        type Error = Infallible;
        fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Infallible> {
            let said = |input: &DataInput| DataAnswer {
                shape: OutputId::new(usize::try_from(input.values[0].rem_euclid(2)).unwrap_or(0)),
                values: Vec::new(),
            };
            Ok(word.iter().map(said).collect())
        }
    }
    let mut observer = DataObserver::new(Even, signature(Theory::Equality, &[1]));
    let put = |value| DataInput { gate: InputId::new(0), values: vec![value] };
    observer.ask_word(&[put(2), put(4)]).expect("even");
    let ended = observer.ask_word(&[put(3), put(4), put(6)]);
    assert!(matches!(ended, Err(DataLearnError::Disagrees(_))));
}

#[test]
fn guards_are_few_and_say_the_same() {
    let few = |machine: &RegisterMachine, locations: usize, branches: usize| {
        let guarded = guard_machine(machine);
        assert_eq!(find_separating_word(&machine.signature, machine, &guarded), None);
        assert_eq!((guarded.locations.len(), guarded.n_branches()), (locations, branches));
    };
    let (login, ..) = learned(Login, signature(Theory::Equality, &[2, 2, 0]), 1);
    few(&login.machine, 3, 11);
    let holder = |accept| Holder { held: Vec::new(), accept };
    let (held, ..) = learned(holder(stack), signature(Theory::Equality, &[1, 1]), 1);
    few(&held.machine, 4, 10);
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(3_000_000 + seed);
        let machine = machine(&mut rng);
        assert_eq!(
            find_separating_word(&machine.signature, &machine, &guard_machine(&machine)),
            None,
            "seed {seed}"
        );
    }
}
