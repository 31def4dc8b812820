//! Random machines as systems: what is learned is the system, with a perfect oracle and with complete suites.
//!
//! CI learns a share; `IOXIDE_LEARN_MACHINES=10000 cargo test -p ioxide-learn --release --test it random::` learns all.

use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, SuiteModel};
use ioxide_fsm::product::difference;
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::IoWord;
use ioxide_learn::learner::Learner;
use ioxide_learn::observer::{LearnError, SystemObserver};
use ioxide_learn::oracle::{
    HypothesisTest, LearnedGuarantee, LearnedMachine, LearningStage, OracleSuites, ask_reference_suite, learn,
};
use ioxide_learn::played::PlayedMealy;
use ioxide_learn::several::{Drafting, draft_machine};
use ioxide_learn::tree::ObservationTree;
use ioxide_model::index::Idx;
use ioxide_test_support::test_count;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn how_many() -> u64 {
    test_count("IOXIDE_LEARN_MACHINES", 150, 5_000)
}

/// A minimal machine with up to `most` states; some have few outputs, some many moves that stay.
fn machine(rng: &mut ChaCha8Rng, most: usize) -> Mealy {
    let states = rng.random_range(1..=most);
    let (inputs, outputs) = (rng.random_range(1..=4), rng.random_range(1..=3));
    let stays = rng.random_range(0..=80);
    let mut table = Vec::new();
    for from in 0..states {
        for _ in 0..inputs {
            let next = if rng.random_range(0..100) < stays { from } else { rng.random_range(0..states) };
            table.push(Some((next, rng.random_range(0..outputs))));
        }
    }
    let machine = Mealy::from_table(states, inputs, outputs, &table).expect("a machine");
    SuiteModel::from_reduced(&machine).expect("complete").to_mealy()
}

/// Learns `system` with an oracle that knows it.
fn with_perfect_oracle(system: &Mealy) -> Mealy {
    let mut observer = SystemObserver::new(PlayedMealy::new(system), system.n_inputs(), Vec::new());
    let mut learner = Learner::new(&observer.tree);
    loop {
        let machine = learner.hypothesis(&mut observer).expect("a machine answers");
        let Some(word) = difference(&machine, system) else { return machine };
        observer.ask_word(&word).expect("a machine answers");
        learner.learn_from_counterexample(&mut observer, &word).expect("a machine answers");
    }
}

fn examination(suites: impl Into<OracleSuites>, extra: usize, seed: u64) -> HypothesisTest {
    HypothesisTest { suites: suites.into(), extra: Some(extra), walks: 0, walk_length: 0, seed }
}

fn with_suites(system: &Mealy, examination: &HypothesisTest) -> LearnedMachine {
    let mut observer = SystemObserver::new(PlayedMealy::new(system), system.n_inputs(), Vec::new());
    learn(&mut observer, examination, &mut |_, _, _| ControlFlow::Continue(())).expect("a machine answers")
}

#[test]
fn a_perfect_oracle_leads_to_the_system() {
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let system = machine(&mut rng, 30);
        let learned = with_perfect_oracle(&system);
        assert_eq!(difference(&learned, &system), None, "seed {seed}");
        assert_eq!(learned.n_states(), system.n_states(), "seed {seed}");
    }
}

#[test]
fn a_guarantee_is_kept() {
    let methods = [SuiteMethod::S, SuiteMethod::Spyh, SuiteMethod::H, SuiteMethod::Hsi, SuiteMethod::Wp];
    let methods: Vec<_> = methods.into_iter().map(OracleSuites::Of).chain([OracleSuites::Mixed]).collect();
    let mut wrong = 0;
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        let system = machine(&mut rng, 8);
        let method = methods[usize::try_from(seed).unwrap_or(0) % methods.len()];
        let extra = rng.random_range(0..3);
        let learned = with_suites(&system, &examination(method, extra, seed));
        assert_eq!(
            learned.guarantee,
            LearnedGuarantee::Complete { states: learned.machine.n_states(), extra }
        );
        let differs = difference(&learned.machine, &system).is_some();
        assert!(!differs || system.n_states() > learned.machine.n_states() + extra, "seed {seed}");
        wrong += u64::from(differs);
    }
    assert!(wrong < how_many() / 2, "{wrong} machines were not found");
}

/// Whoever watches is told the truth: a suite that was passed promises as much of the machine at that moment, and what
/// spoke against a hypothesis is what the system says, and not what was believed.
#[test]
fn what_is_told_on_the_way_is_true() {
    let (mut promises, mut surprises) = (0, 0);
    for seed in 0..how_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(6_000_000 + seed);
        let system = machine(&mut rng, 8);
        let mut observer = SystemObserver::new(PlayedMealy::new(&system), system.n_inputs(), Vec::new());
        let mut last = None;
        let plan = examination(SuiteMethod::S, rng.random_range(0..3), seed);
        learn(&mut observer, &plan, &mut |stage, learner, observer| {
            if let LearningStage::Passed { states, extra } = stage {
                let machine = learner.machine(&observer.tree);
                assert_eq!(machine.n_states(), states, "seed {seed}");
                let is_within = system.n_states() <= states + extra;
                assert!(!is_within || difference(&machine, &system).is_none(), "seed {seed}");
                promises += 1;
            }
            if learner.last_surprise() != last.as_ref() {
                last = learner.last_surprise().cloned();
                let found = last.as_ref().expect("a surprise is never taken back");
                let (mut played, mut said) = (PlayedMealy::new(&system), IoWord::new());
                let Ok(()) = played.reset();
                for &(input, _) in &found.seen {
                    let Ok(output) = played.step(input);
                    said.push((input, output));
                }
                assert_eq!(found.seen, said, "seed {seed}");
                assert_ne!(found.seen.last().map(|it| it.1), Some(found.believed), "seed {seed}");
                surprises += 1;
            }
            ControlFlow::Continue(())
        })
        .expect("a machine answers");
    }
    assert!(promises >= how_many() && surprises >= how_many(), "{promises} promises, {surprises} surprises");
}

#[test]
fn sinks_are_not_asked_and_the_machine_is_the_same() {
    // Closed after the second input, for ever.
    let table = [Some((1, 0)), Some((2, 2)), Some((0, 1)), Some((2, 2)), Some((2, 2)), Some((2, 2))];
    let system = Mealy::from_table(3, 2, 3, &table).expect("a machine");
    let cost = |closed: Vec<OutputId>| {
        let mut observer = SystemObserver::new(PlayedMealy::new(&system), 2, closed);
        let plan = examination(SuiteMethod::S, 2, 1);
        let learned =
            learn(&mut observer, &plan, &mut |_, _, _| ControlFlow::Continue(())).expect("a machine answers");
        assert_eq!(difference(&learned.machine, &system), None);
        observer.effort.total()
    };
    assert!(cost(vec![OutputId::new(2)]) * 2 < cost(Vec::new()));
}

/// A session that is cut anywhere and taken up again ends in the same machine, and asks no run twice.
#[test]
fn a_session_is_resumed_anywhere() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let system = machine(&mut rng, 12);
    let plan = examination(SuiteMethod::S, 1, 9);
    let whole = with_suites(&system, &plan);
    for cut in [1, 7, 40, 200] {
        let mut first = SystemObserver::new(
            Breaking { played: PlayedMealy::new(&system), left: cut },
            system.n_inputs(),
            Vec::new(),
        );
        let broken = learn(&mut first, &plan, &mut |_, _, _| ControlFlow::Continue(()));
        let is_cut = broken.is_err();
        let asked = first.effort.resets;
        let mut second = SystemObserver::new(PlayedMealy::new(&system), system.n_inputs(), Vec::new());
        second.restart(first.tree);
        let resumed =
            learn(&mut second, &plan, &mut |_, _, _| ControlFlow::Continue(())).expect("a machine answers");
        assert_eq!(resumed.machine, whole.machine, "cut after {cut}");
        let mut alone = SystemObserver::new(PlayedMealy::new(&system), system.n_inputs(), Vec::new());
        learn(&mut alone, &plan, &mut |_, _, _| ControlFlow::Continue(())).expect("a machine answers");
        // The run that was cut is the only one that is made again.
        assert!(asked + second.effort.resets <= alone.effort.resets + u64::from(is_cut), "cut after {cut}");
    }
}

/// A system that breaks after this many inputs.
struct Breaking<'m> {
    played: PlayedMealy<'m>,
    left: u64,
}

impl LiveMachine for Breaking<'_> {
    type Error = &'static str;

    fn reset(&mut self) -> Result<(), Self::Error> {
        let Ok(()) = self.played.reset();
        Ok(())
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error> {
        self.left = self.left.checked_sub(1).ok_or("broken")?;
        let Ok(output) = self.played.step(input);
        Ok(output)
    }
}

/// A system whose answer to one input changes after a while.
struct Turning<'m> {
    played: PlayedMealy<'m>,
    left: u64,
}

impl LiveMachine for Turning<'_> {
    type Error = std::convert::Infallible;

    fn reset(&mut self) -> Result<(), Self::Error> {
        self.played.reset()
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error> {
        self.left = self.left.saturating_sub(1);
        let output = self.played.step(input)?;
        Ok(if self.left == 0 { OutputId::new(output.index() + 1) } else { output })
    }
}

#[test]
fn a_system_that_changes_its_mind_is_noticed() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let system = machine(&mut rng, 20);
    let live = Turning { played: PlayedMealy::new(&system), left: 200 };
    let mut observer = SystemObserver::new(live, system.n_inputs(), Vec::new());
    let ended =
        learn(&mut observer, &examination(SuiteMethod::S, 2, 1), &mut |_, _, _| ControlFlow::Continue(()));
    let Err(LearnError::Disagrees(found)) = ended else { panic!("not noticed") };
    let inputs = |run: &[(InputId, OutputId)]| run.iter().map(|step| step.0).collect::<Vec<_>>();
    assert_eq!(inputs(&found.before), inputs(&found.now));
    assert_ne!(found.before.last(), found.now.last());
    assert!(observer.effort.symbols >= 200 && observer.tree.len() > 50, "what was seen is kept");
}

#[test]
fn a_tree_without_a_word_keeps_the_rest() {
    let (a, b, zero) = (InputId::new(0), InputId::new(1), OutputId::new(0));
    let mut tree = ObservationTree::new(2);
    tree.insert_run(&[(a, zero), (b, zero)]).expect("new");
    tree.insert_run(&[(b, zero)]).expect("new");
    let kept = tree.without_inputs(&[a]);
    assert_eq!(kept.node_after(kept.root(), &[a]), None);
    assert!(kept.node_after(kept.root(), &[b]).is_some());
}

/// A system of which there are copies, answered in turn; counts what each is asked.
struct Copied<'m> {
    played: PlayedMealy<'m>,
    asked_ahead: usize,
}

impl LiveMachine for Copied<'_> {
    type Error = std::convert::Infallible;

    fn reset(&mut self) -> Result<(), Self::Error> {
        self.played.reset()
    }

    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error> {
        self.played.step(input)
    }

    fn width(&self) -> usize {
        4
    }

    fn ask_all(&mut self, words: &[Vec<InputId>]) -> Result<Vec<IoWord>, Self::Error> {
        self.asked_ahead += words.len();
        self.played.ask_all(words)
    }
}

#[test]
fn copies_of_a_system_lead_to_the_same_machine() {
    let (mut ahead, mut resets) = (0, 0);
    for seed in 0..20 {
        let system = machine(&mut ChaCha8Rng::seed_from_u64(3_000_000 + seed), 10);
        let plan = examination(SuiteMethod::S, 1, seed);
        let alone = with_suites(&system, &plan);
        let live = Copied { played: PlayedMealy::new(&system), asked_ahead: 0 };
        let mut observer = SystemObserver::new(live, system.n_inputs(), Vec::new());
        let together =
            learn(&mut observer, &plan, &mut |_, _, _| ControlFlow::Continue(())).expect("a machine answers");
        assert_eq!(together.machine, alone.machine, "seed {seed}");
        ahead += observer.live.asked_ahead as u64;
        resets += observer.effort.resets;
    }
    assert!(ahead * 2 > resets, "{ahead} of {resets} runs were made by copies");
}

/// An earlier version that differs in one answer saves more than it costs.
#[test]
fn a_reference_helps() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(4_000_000 + seed);
        let old = machine(&mut rng, 25);
        let mut table: Vec<Option<(usize, usize)>> = old
            .states()
            .flat_map(|state| old.inputs().map(move |input| (state, input)))
            .map(|(state, input)| old.edge(state, input).map(|edge| (edge.next.index(), edge.output.index())))
            .collect();
        let changed = rng.random_range(0..table.len());
        table[changed] = table[changed].map(|(next, output)| (next, (output + 1) % 3));
        let new = Mealy::from_table(old.n_states(), old.n_inputs(), 3, &table).expect("a machine");
        let new = SuiteModel::from_reduced(&new).expect("complete").to_mealy();
        let reference = SuiteModel::from_reduced(&old).expect("complete");
        for is_given in [false, true] {
            let mut observer = SystemObserver::new(PlayedMealy::new(&new), new.n_inputs(), Vec::new());
            if is_given {
                let inputs: Vec<Option<InputId>> = new.inputs().map(Some).collect();
                ask_reference_suite(&mut observer, &reference, &inputs).expect("a machine answers");
            }
            let mut found = None;
            learn(&mut observer, &examination(SuiteMethod::S, 2, seed), &mut |stage, learner, observer| {
                let is_new = matches!(stage, LearningStage::Hypothesis { .. });
                if is_new && difference(&learner.machine(&observer.tree), &new).is_none() {
                    found = Some(observer.effort.total());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })
            .expect("a machine answers");
            *(if is_given { &mut with } else { &mut without }) += found.unwrap_or(observer.effort.total());
        }
    }
    assert!(with < without, "{with} with a reference, {without} without");
    eprintln!("{with} with a reference, {without} without");
}

/// Every way of every state is found, for random machines that answer some inputs in two ways.
#[test]
fn a_system_that_answers_in_several_ways_is_drafted() {
    struct Dice {
        ways: Vec<Vec<(usize, usize)>>,
        n_inputs: usize,
        at: usize,
        rng: ChaCha8Rng,
    }
    impl LiveMachine for Dice {
        type Error = std::convert::Infallible;
        fn reset(&mut self) -> Result<(), Self::Error> {
            self.at = 0;
            Ok(())
        }
        fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error> {
            let ways = &self.ways[self.at * self.n_inputs + input.index()];
            let (to, output) = ways[self.rng.random_range(0..ways.len())];
            self.at = to;
            Ok(OutputId::new(output))
        }
    }
    let mut right = 0;
    for seed in 0..30 {
        let mut rng = ChaCha8Rng::seed_from_u64(5_000_000 + seed);
        let (states, n_inputs) = (rng.random_range(1..=4), rng.random_range(1..=3));
        let mut way = |output: usize| (rng.random_range(0..states), output);
        let ways: Vec<Vec<(usize, usize)>> = (0..states * n_inputs)
            .map(|at| if at % 3 == 0 { vec![way(0), way(1)] } else { vec![way(2 + at % 2)] })
            .collect();
        let mut live = Dice { ways: ways.clone(), n_inputs, at: 0, rng };
        let drafting = Drafting { repetitions: 12, walks: 300, walk_length: 12, seed };
        let (found, effort) =
            draft_machine(&mut live, n_inputs, &[], &drafting, &mut |_, _| ControlFlow::Continue(()))
                .expect("it answers");
        assert!(effort.resets > 0 && found.n_states > 0);
        // Second opinion: all runs of the system and of the draft, side by side.
        let mut open = vec![(0, 0)];
        let mut seen = open.clone();
        let mut is_same = true;
        while let Some((real, drafted)) = open.pop() {
            for input in 0..n_inputs {
                let all = &ways[real * n_inputs + input];
                let drafted_ways =
                    found.ways.iter().filter(|it| (it.from, it.input.index()) == (drafted, input));
                is_same &= drafted_ways.count() == all.len();
                for &(to, output) in all {
                    match found.state_after(drafted, InputId::new(input), OutputId::new(output)) {
                        Some(next) if !seen.contains(&(to, next)) => {
                            seen.push((to, next));
                            open.push((to, next));
                        }
                        Some(_) => (),
                        None => is_same = false,
                    }
                }
            }
        }
        right += u32::from(is_same);
    }
    assert!(right >= 28, "{right} of 30 are right");
}
