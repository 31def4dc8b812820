//! The machines and tables of the thesis, and random reductions.

mod system;

use ioxide_model::index::Idx;
use ioxide_test_support::is_full_run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::{InputId, MachineNames, OutputId, StateId};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::{align_names, reduction_witness};
use ioxide_fsm::read;
use ioxide_fsm::reduce::adaptive::{AdaptiveCounting, TestedWord};
use ioxide_fsm::reduce::{
    AdaptiveCase, BoundedResponse, CountingPlan, CountingVariant, LiveMachine, PlayedMachine, RDistinguish,
    ReductionVerdict, Repeated, characterising_cases, deterministic_cover, nonadaptive_words,
    on_demand_counting, preset_counting, state_counting, walk_through,
};
use ioxide_fsm::word::{IoWord, Word, compare_shortlex, show_io, show_word};

fn machine(rows: &str) -> Observable {
    let text: Vec<&str> = rows.split(',').collect();
    Observable::check(Nfsm::from_listing(&read::read_table(&text.join("\n")).unwrap())).unwrap()
}

/// `second` with the ids of `first`.
fn like(first: &Observable, second: Observable) -> Observable {
    Observable::check(align_names(first.names(), second.as_nfsm()).unwrap()).unwrap()
}

/// The example of Figure 2.1.
fn m_e() -> Observable {
    machine(
        "s1 a 0 s2,s1 a 1 s3,s1 b 0 s2,s2 a 1 s2,s2 b 1 s3,s3 a 0 s4,s3 a 1 s2,s3 b 0 s3,s4 a 0 s4,s4 b 1 s2",
    )
}

/// The running example of Figure 5.1: model and system.
fn m_a() -> (Observable, Observable) {
    let model =
        machine("s1 a 0 s3,s1 a 1 s1,s1 b 0 s2,s2 a 0 s3,s2 a 2 s2,s2 b 1 s1,s3 a 1 s3,s3 b 1 s1,s3 b 2 s3");
    let system = machine("t1 a 1 t1,t1 b 0 t2,t2 a 0 t3,t2 a 2 t2,t2 b 1 t1,t3 a 1 t3,t3 b 2 t3");
    let system = like(&model, system);
    (model, system)
}

/// The counterexample of Figure 6.1: model and system.
fn m_f() -> (Observable, Observable) {
    let model = machine("s1 a 0 s2,s1 a 1 s2,s2 a 2 s2");
    let system = like(&model, machine("t1 a 0 t2,t1 a 1 t2,t2 a 2 t1"));
    (model, system)
}

fn word(machine: &Observable, text: &str) -> Word {
    text.chars().map(|c| machine.names().input(&c.to_string()).unwrap()).collect()
}

/// Each single input as a case, as the thesis has it.
fn plan(model: &Observable, cover: &[&str], bound: usize) -> CountingPlan {
    let cases = model.inputs().map(|input| AdaptiveCase::from_word(&[input])).collect();
    CountingPlan {
        cover: cover.iter().map(|text| word(model, text)).collect(),
        cases,
        bound,
        max_words: usize::MAX,
        keeps_bounds: false,
    }
}

fn compact(machine: &Observable, words: &[Word]) -> String {
    let show = |word: &Word| show_word(machine.names(), word).replace(' ', "");
    words.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn io(machine: &Observable, traces: &[IoWord]) -> String {
    let show = |trace: &IoWord| {
        let (x, y): (Vec<_>, Vec<_>) = trace
            .iter()
            .map(|&(x, y)| (machine.names().inputs[x].as_str(), machine.names().outputs[y].as_str()))
            .unzip();
        format!("{}/{}", x.concat(), y.concat())
    };
    traces.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_responses_of_table_2_1() {
    let m = m_e();
    let rows = [
        ("s1", "aa", "aa/01 aa/10 aa/11"),
        ("s1", "ab", "ab/01 ab/10"),
        ("s2", "ba", "ba/10 ba/11"),
        ("s3", "aa", "aa/00 aa/11"),
        ("s3", "ab", "ab/01 ab/11"),
        ("s3", "ba", "ba/00 ba/01"),
        ("s4", "bb", "bb/11"),
    ];
    for (state, input, expected) in rows {
        let state = m.states().find(|&s| m.names().states[s] == state).unwrap();
        assert_eq!(io(&m, &AdaptiveCase::from_word(&word(&m, input)).responses(&m, state)), expected);
    }
}

#[test]
fn the_covers_of_the_examples() {
    let cover = |m: &Observable| {
        let words: Vec<Word> = deterministic_cover(m).into_iter().map(|(_, word)| word).collect();
        compact(m, &words)
    };
    assert_eq!(cover(&m_a().0), "ε b");
    assert_eq!(cover(&m_f().0), "ε a");
    let m = m_e();
    let states: Vec<&str> =
        deterministic_cover(&m).iter().map(|&(state, _)| m.names().states[state].as_str()).collect();
    assert_eq!(states, ["s1", "s2", "s3"]);
}

#[test]
fn bb_tells_all_states_of_the_first_example_apart() {
    let m = m_e();
    let bb = AdaptiveCase::from_word(&word(&m, "bb"));
    let distinguish = RDistinguish::new(&m);
    for (a, b) in distinguish.pairs() {
        assert!(bb.r_distinguishes(&m, a, b));
        assert!(distinguish.level(a, b).is_some());
    }
    let cases = characterising_cases(&m);
    assert!(distinguish.pairs().all(|(a, b)| cases.iter().any(|case| case.r_distinguishes(&m, a, b))));
}

/// The case of Figure 5.2 and those of Figure 5.3.
#[test]
fn the_answers_to_adaptive_cases() {
    let (m, _) = m_a();
    let input = |name: &str| m.names().input(name).unwrap();
    let output = |name: &str| m.names().output(name).unwrap();
    let apply = |name: &str, then: Vec<(OutputId, AdaptiveCase)>| AdaptiveCase::Apply {
        input: input(name),
        then,
        otherwise: Box::new(AdaptiveCase::Stop),
    };
    let sigma = apply(
        "a",
        vec![
            (output("0"), apply("b", vec![(output("1"), apply("b", vec![]))])),
            (output("1"), apply("a", vec![])),
        ],
    );
    let state = |i: usize| StateId::new([0, 2, 1][i]);
    assert_eq!(m.names().states[state(1)], "s2");
    let answers = |i: usize, case: &AdaptiveCase| {
        let mut traces: Vec<String> =
            case.responses(&m, state(i)).iter().map(|t| io(&m, std::slice::from_ref(t))).collect();
        traces.sort();
        traces.join(" ")
    };
    assert_eq!(answers(0, &sigma), "aa/10 aa/11 ab/02 abb/010");
    assert_eq!(answers(1, &sigma), "a/2 ab/02 abb/010");
    assert_eq!(answers(2, &sigma), "aa/11");
    let sigma_1 = apply("a", vec![(output("0"), apply("a", vec![]))]);
    let sigma_2 = apply("b", vec![(output("1"), apply("b", vec![]))]);
    assert_eq!((answers(2, &sigma_1), answers(2, &sigma_2)), ("a/1".into(), "b/2 bb/10".into()));
    assert_eq!((answers(0, &sigma_1), answers(0, &sigma_2)), ("a/1 aa/01".into(), "b/0".into()));
}

#[test]
fn the_running_example_is_tested_as_in_the_thesis() {
    let (model, system) = m_a();
    let plan = plan(&model, &["", "b"], 3);
    for variant in [CountingVariant::Original, CountingVariant::Refined] {
        let report = state_counting(&model, &mut PlayedMachine(&system), &plan, variant).unwrap();
        assert_eq!(report.verdict(), ReductionVerdict::Pass);
        assert_eq!(report.iterations, 3);
        assert_eq!(compact(&model, &report.tested), "ε b a ba bb baa bab");
    }
    let mut fixed: Vec<Word> = nonadaptive_words(&model, &plan).collect();
    fixed.sort_by(|a, b| compare_shortlex(a, b));
    assert_eq!(compact(&model, &fixed), "ε a b aa ab ba bb baa bab bba bbb");
}

/// Table 5.1, computed after the iteration in which each word is tested.
#[test]
fn the_lower_bounds_of_table_5_1() {
    let (model, system) = m_a();
    let plan = plan(&model, &["", "b"], 3);
    let mut sut = PlayedMachine(&system);
    let mut counting = AdaptiveCounting::new(&model, &mut sut, &plan, CountingVariant::Refined);
    let expected =
        ["ε:2 b/0:2", "a/1:4 ba/00:3 ba/02:4 bb/01:4", "baa/001:4 baa/020:4 baa/022:5 bab/002:4 bab/021:5"];
    let mut current: Vec<TestedWord> =
        plan.cover.iter().map(|word| TestedWord { word: word.clone(), nodes: Vec::new() }).collect();
    for row in expected {
        counting.apply_tests(&mut current).unwrap();
        let mut bounds: Vec<String> = Vec::new();
        for item in &current {
            for (trace, bound) in counting.lower_bounds(&item.word) {
                let shown = if trace.is_empty() { "ε".to_owned() } else { io(&model, &[trace]) };
                bounds.push(format!("{shown}:{bound}"));
            }
        }
        assert_eq!(bounds.join(" "), row);
        current = counting.extend_open_words(current);
    }
    assert!(current.is_empty());
    let plan = CountingPlan { keeps_bounds: true, ..plan.clone() };
    let report =
        state_counting(&model, &mut PlayedMachine(&system), &plan, CountingVariant::Refined).unwrap();
    let kept = report.rounds.iter().map(|round| {
        let show = |it: &BoundedResponse| match &it.trace[..] {
            [] => format!("ε:{}", it.lower_bound),
            trace => format!("{}:{}", io(&model, &[trace.to_vec()]), it.lower_bound),
        };
        round.iter().map(show).collect::<Vec<_>>().join(" ")
    });
    assert!(kept.eq(expected), "{report:?}");
    let class = |text: &str| counting.behaviours(&word(&model, text))[0].1;
    assert_eq!(class(""), class("bb"));
    assert_ne!(class(""), class("b"));
    assert_ne!(class("b"), class("ba"));
}

#[test]
fn the_original_algorithm_misses_what_the_refined_one_finds() {
    let (model, system) = m_f();
    let plan = plan(&model, &["", "a"], 2);
    let original =
        state_counting(&model, &mut PlayedMachine(&system), &plan, CountingVariant::Original).unwrap();
    assert_eq!(original.verdict(), ReductionVerdict::Pass, "the published algorithm is wrong here");
    assert_eq!(compact(&model, &original.tested), "ε a");
    let refined =
        state_counting(&model, &mut PlayedMachine(&system), &plan, CountingVariant::Refined).unwrap();
    assert_eq!(compact(&model, &refined.tested), "ε a aa");
    assert_eq!(io(&model, &refined.failures), "aaa/020 aaa/021 aaa/120 aaa/121");
    let witness = reduction_witness(&model, &system).unwrap();
    assert_eq!(show_io(model.names(), &witness), "a/0 a/2 a/0");
}

#[test]
fn a_bound_below_the_model_is_refused() {
    let (model, _) = m_a();
    assert!(matches!(
        CountingPlan::new(&model, 2),
        Err(MachineRefusal::BoundTooSmall { bound: 2, states: 3 })
    ));
    let partial = machine("s a 0 t,t b 0 s");
    assert!(matches!(CountingPlan::new(&partial, 5), Err(MachineRefusal::NotComplete { .. })));
}

/// A complete observable machine with random answers.
fn random_model(rng: &mut ChaCha8Rng, states: usize, inputs: usize, outputs: usize, more: f64) -> Observable {
    let mut rows = Vec::new();
    for (s, x) in (0..states).flat_map(|s| (0..inputs).map(move |x| (s, x))) {
        let sure = rng.random_range(0..outputs);
        for y in 0..outputs {
            if y == sure || rng.random_bool(more) {
                let next = StateId::new(rng.random_range(0..states));
                rows.push((StateId::new(s), InputId::new(x), OutputId::new(y), next));
            }
        }
    }
    let names = MachineNames::from_numbers(states, inputs, outputs);
    Observable::check(Nfsm::new(names, StateId::new(0), rows)).unwrap()
}

/// A system near `model`: answers dropped, sometimes one redirected or changed.
fn random_system(rng: &mut ChaCha8Rng, model: &Observable, states: usize) -> Observable {
    let n = model.n_states();
    let outputs = model.names().outputs.len();
    let mut rows = Vec::new();
    for (s, x) in (0..states).flat_map(|s| model.inputs().map(move |x| (s, x))) {
        let answers = model.answers(StateId::new(s % n), x);
        let kept = rng.random_range(0..answers.len());
        for (i, &(y, next)) in answers.iter().enumerate() {
            if i == kept || rng.random_bool(0.5) {
                let copies = 1 + (states - 1 - next.index()) / n;
                let next = next.index() + n * rng.random_range(0..copies);
                rows.push((StateId::new(s), x, y, StateId::new(next)));
            }
        }
    }
    if rng.random_bool(0.7) {
        let at = rng.random_range(0..rows.len());
        if rng.random_bool(0.7) {
            rows[at].3 = StateId::new(rng.random_range(0..states));
        } else {
            let fresh = OutputId::new(rng.random_range(0..outputs));
            let (s, x) = (rows[at].0, rows[at].1);
            if !rows.iter().any(|row| (row.0, row.1, row.2) == (s, x, fresh)) {
                rows[at].2 = fresh;
            }
        }
    }
    let names =
        MachineNames { states: MachineNames::from_numbers(states, 0, 0).states, ..model.names().clone() };
    Observable::check(Nfsm::new(names, StateId::new(0), rows)).unwrap()
}

#[test]
fn only_the_original_algorithm_misses_failures() {
    const FEW_WORDS: usize = 60;
    let count = if is_full_run() { 100_000 } else { 3_000 };
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut tried, mut wrong, mut missed) = (0, 0, 0);
    for round in 0..count {
        let states = 1 + round % 4;
        let model = random_model(&mut rng, states, 1 + round % 2, 3, 0.3);
        let bound = states + round % 3 % 2;
        let system = random_system(&mut rng, &model, bound);
        let mut plan = CountingPlan::new(&model, bound).unwrap();
        plan.max_words = 4 * FEW_WORDS;
        let fixed: Vec<Word> = nonadaptive_words(&model, &plan).take(FEW_WORDS).collect();
        if fixed.len() == FEW_WORDS {
            continue;
        }
        let conforms = reduction_witness(&model, &system).is_none();
        let expected = if conforms { ReductionVerdict::Pass } else { ReductionVerdict::Fail };
        let verdict =
            |variant| state_counting(&model, &mut PlayedMachine(&system), &plan, variant).unwrap().verdict();
        assert_eq!(verdict(CountingVariant::Refined), expected, "refined, round {round}");
        assert_eq!(verdict(CountingVariant::PerResponse), expected, "per response, round {round}");
        let on_demand = on_demand_counting(&model, &mut PlayedMachine(&system), &plan).unwrap();
        assert!(on_demand.gave_up || on_demand.verdict() == expected, "on demand, round {round}");
        let preset = preset_counting(&model, &mut PlayedMachine(&system), &plan).unwrap();
        assert_eq!(preset.verdict(), expected, "non-adaptive, round {round}");
        assert_eq!(passes_fixed(&model, &system, &plan, &fixed), conforms, "non-adaptive, round {round}");
        tried += 1;
        wrong += usize::from(!conforms);
        missed += usize::from(verdict(CountingVariant::Original) != expected);
    }
    assert!(wrong > tried / 5, "{wrong} of {tried} systems are wrong");
    assert!(missed > 0, "the original algorithm missed none of {wrong}");
}

fn passes_fixed(model: &Observable, system: &Observable, plan: &CountingPlan, words: &[Word]) -> bool {
    let cases = if plan.cases.is_empty() { vec![AdaptiveCase::Stop] } else { plan.cases.clone() };
    words.iter().all(|word| {
        cases.iter().all(|case| {
            let test = AdaptiveCase::after_word(word, case.clone());
            let allowed = |answer: &IoWord| {
                answer
                    .iter()
                    .try_fold(model.initial(), |state, &(x, y)| model.state_after(state, x, y))
                    .is_some()
            };
            test.responses(system, system.initial()).iter().all(allowed)
        })
    })
}

/// A machine that is run step by step, its choices rolled by a seeded generator.
struct Rolling<'m> {
    machine: &'m Observable,
    state: StateId,
    rng: ChaCha8Rng,
}

impl LiveMachine for Rolling<'_> {
    type Error = std::convert::Infallible;

    fn reset(&mut self) -> Result<(), Self::Error> {
        self.state = self.machine.initial();
        Ok(())
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error> {
        let answers = self.machine.answers(self.state, input);
        let (output, next) = answers[self.rng.random_range(0..answers.len())];
        self.state = next;
        Ok(output)
    }
}

#[test]
fn a_live_system_is_tested_by_repetition() {
    let (model, system) = m_a();
    let live = Rolling { machine: &system, state: system.initial(), rng: ChaCha8Rng::seed_from_u64(3) };
    let plan = plan(&model, &["", "b"], 3);
    let report =
        state_counting(&model, &mut Repeated::new(live, 60), &plan, CountingVariant::Refined).unwrap();
    let known = state_counting(&model, &mut PlayedMachine(&system), &plan, CountingVariant::Refined).unwrap();
    assert_eq!(report, known);
}

/// The number of inputs of random walks up to the first answer that `model` does not allow.
fn random_walks(rng: &mut ChaCha8Rng, model: &Observable, system: &Observable) -> usize {
    let mut inputs = 0;
    loop {
        let (mut state, mut there) = (model.initial(), system.initial());
        for _ in 0..5 * model.n_states() {
            let input = InputId::new(rng.random_range(0..model.inputs().count()));
            let answers = system.answers(there, input);
            let (output, next) = answers[rng.random_range(0..answers.len())];
            inputs += 1;
            there = next;
            match model.state_after(state, input, output) {
                Some(after) => state = after,
                None => return inputs,
            }
        }
    }
}

#[test]
fn walks_find_faults_and_never_blame() {
    let rounds = if is_full_run() { 400 } else { 60 };
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let (mut walked, mut random, mut conforming) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds {
        let states = 20;
        let model = random_model(&mut rng, states, 3, 3, 0.1);
        let system = random_system(&mut rng, &model, states);
        let report = walk_through(&model, &mut PlayedMachine(&system), 20_000, round).unwrap();
        if reduction_witness(&model, &system).is_none() {
            conforming += 1;
            assert_eq!((report.failure, report.symbols), (None, 20_000), "round {round}");
            continue;
        }
        let Some(failure) = report.failure else { continue };
        // The trace is one of the system, and its last step is the first that the model does not allow.
        let end = |machine: &Observable, trace: &IoWord| {
            trace.iter().try_fold(machine.initial(), |state, &(x, y)| machine.state_after(state, x, y))
        };
        assert!(end(&system, &failure).is_some() && end(&model, &failure).is_none(), "round {round}");
        assert!(end(&model, &failure[..failure.len() - 1].to_vec()).is_some(), "round {round}");
        walked.push(report.symbols);
        random.push(random_walks(&mut rng, &model, &system));
    }
    walked.sort_unstable();
    random.sort_unstable();
    let median = |row: &[usize]| row[row.len() / 2];
    assert!(conforming > 0 && walked.len() > conforming, "{conforming} {}", walked.len());
    assert!(median(&walked) <= median(&random), "{} against {}", median(&walked), median(&random));
}
