//! Soundness behind a slow connection: inputs are only written, messages wait in queues, come in batches, and
//! silence may be called while something is under way.

use std::collections::VecDeque;

use ioxide_record::clock::StoppedClock;
use ioxide_wire::adapter::model::ModelAdapter;
use ioxide_wire::adapter::{ArrivedOutput, InputReceipt, SentInput};

use super::*;
use ioxide_test_support::test_count;

/// The reliability of observed silence: known to be quiescence, or possibly too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    Known,
    /// A short wait may end too early, a long one does not.
    TooEarly,
}

/// A played model at the other end of two queues.
struct Slow<'m> {
    inner: ModelAdapter<'m>,
    to_system: VecDeque<Label>,
    to_tester: VecDeque<ArrivedOutput>,
    silence: Silence,
    rng: ChaCha8Rng,
}

impl Slow<'_> {
    /// Something moves: an input arrives, or the system says something.
    fn go_on(&mut self) -> Result<(), AdapterError> {
        if self.rng.random_ratio(1, 2)
            && let Some(input) = self.to_system.pop_front()
        {
            self.inner.send(&input)?;
        } else if self.rng.random_ratio(1, 2)
            && let Observation::Output(label) = self.inner.observe(Duration::ZERO)?
        {
            self.to_tester.push_back(label);
        }
        Ok(())
    }

    /// Everything arrives, and the system says what it has to say.
    fn settle(&mut self) -> Result<(), AdapterError> {
        while let Some(input) = self.to_system.pop_front() {
            self.inner.send(&input)?;
            while self.to_tester.len() < 3
                && self.rng.random_ratio(1, 2)
                && let Observation::Output(label) = self.inner.observe(Duration::ZERO)?
            {
                self.to_tester.push_back(label);
            }
        }
        if self.to_tester.is_empty()
            && let Observation::Output(label) = self.inner.observe(Duration::ZERO)?
        {
            self.to_tester.push_back(label);
        }
        Ok(())
    }
}

impl Adapter for Slow<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        (self.to_system, self.to_tester) = (VecDeque::new(), VecDeque::new());
        self.inner.reset()
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        self.to_system.push_back(input.clone());
        self.go_on()?;
        Ok(SentInput::default())
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn is_synchronous(&self) -> bool {
        self.silence == Silence::Known
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.go_on()?;
        Ok(if self.rng.random_ratio(1, 3) { self.to_tester.pop_front() } else { None })
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        for _ in 0..self.rng.random_range(0..3u32) {
            self.go_on()?;
        }
        let is_short = patience <= RunConfig::default().patience.default_time();
        let is_hasty = self.silence == Silence::TooEarly && is_short && self.rng.random_ratio(1, 3);
        if is_hasty && self.to_tester.is_empty() {
            return Ok(Observation::Quiet);
        }
        if self.to_tester.is_empty() {
            self.settle()?;
        }
        Ok(self.to_tester.pop_front().into())
    }
}

/// Some runs of `tester` against `sut` behind queues; the traces that fail.
fn failures(
    spec: &Model,
    sut: &Model,
    tester: &mut dyn Tester,
    seed: u64,
    silence: Silence,
) -> (u64, Vec<Trace>) {
    let (mut spec_own, mut sut_own) = (spec.clone(), sut.clone());
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let inner = ModelAdapter::new(spec, Ctx::new(&mut sut_own, &mut b), seed).unwrap();
    let rng = ChaCha8Rng::seed_from_u64(seed);
    let mut adapter = Slow { inner, to_system: VecDeque::new(), to_tester: VecDeque::new(), silence, rng };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut failed = Vec::new();
    let mut runs = 0;
    while runs < 10 && !tester.is_done() {
        // Times learnt in one run do not make the next one slower: silence is short again.
        // However slow this machine is, a silence can be taken back.
        let config = RunConfig { confirm: 100_000, ..RunConfig::default() };
        let (mut silent, mut clock) = (SilentReporter, StoppedClock);
        let sink = EventSink::new(&mut silent, &mut clock);
        let mut coverage = Coverage::new(&spec.sts);
        let id = RunId { run: runs, seed: seed.wrapping_add(runs) };
        let finished = run(&mut bench, tester, &config, id, &mut coverage, &sink).unwrap();
        match finished.end {
            RunEnd::Verdict(Verdict::Fail, _) => failed.push(finished.trace),
            RunEnd::Verdict(..) => (),
            other => panic!("seed {seed}: {other:?}"),
        }
        runs += 1;
    }
    (runs, failed)
}

/// Returns whether `model` has the trace `trace` if every input was taken where it stands or later.
fn allows_later(model: &Model, trace: &Trace) -> bool {
    let start = closed(model, [initial_state(&model.pool, &model.sts).unwrap()]);
    let mut worlds = BTreeSet::from([(start, Vec::<Label>::new())]);
    for label in &trace.labels {
        let mut next = BTreeSet::new();
        for (states, mut waiting) in taking(model, worlds) {
            match label {
                Label::Input(..) => {
                    waiting.push(label.clone());
                    next.insert((states, waiting));
                }
                Label::Quiescence if !waiting.is_empty() => (),
                _ => drop(next.insert((step(model, &states, label), waiting))),
            }
        }
        worlds = next.into_iter().filter(|(states, _)| !states.is_empty()).collect();
    }
    !worlds.is_empty()
}

type Worlds = BTreeSet<(BTreeSet<ConcreteState>, Vec<Label>)>;

/// `worlds` and those in which more of the waiting inputs were taken.
fn taking(model: &Model, worlds: Worlds) -> Worlds {
    let mut all = Worlds::new();
    for (mut states, mut waiting) in worlds {
        loop {
            all.insert((states.clone(), waiting.clone()));
            if waiting.is_empty() {
                break;
            }
            let input = waiting.remove(0);
            states = step(model, &states, &input);
        }
    }
    all
}

#[test]
fn no_tester_fails_a_system_that_conforms_and_sits_behind_a_slow_connection() {
    let wanted = test_count("IOXIDE_RUNS", 300, 15_000);
    let (mut runs, mut right, mut wrong, mut found, mut found_at_once) = (0, 0u64, 0u64, 0u64, 0u64);
    for seed in 1_000.. {
        let recipe = Recipe::random(seed);
        let sut = [recipe.clone(), recipe.mutated(seed), recipe.mutated(seed).mutated(seed + 1)];
        let (spec, sut) = (model(&recipe.text()), model(&sut[seed as usize % 3].text()));
        let is_right = conforms(&sut, &spec);
        let silence = if seed % 2 == 0 { Silence::Known } else { Silence::TooEarly };
        let (mut tester, spec) = any_tester(&spec, seed);
        let (n, failed) = failures(&spec, &sut, &mut *tester, seed, silence);
        for trace in &failed {
            assert!(!is_right, "seed {seed}: a conforming system failed: {trace:?}");
            assert!(!allows_later(&spec, trace), "seed {seed}: some order is allowed: {trace:?}");
        }
        runs += n;
        right += u64::from(is_right);
        wrong += u64::from(!is_right);
        found += u64::from(!failed.is_empty());
        if !is_right && silence == Silence::Known {
            let (mut tester, spec) = any_tester(&spec, seed);
            let config =
                CampaignConfig { runs: 10, seed, replays: 0, shrink: None, ..CampaignConfig::default() };
            let outcome = test_by(&spec, &sut, &mut *tester, &config, &mut SilentReporter).unwrap();
            found_at_once += u64::from(!outcome.failures.is_empty()) * 2;
        }
        if runs >= wanted {
            break;
        }
    }
    println!(
        "{runs} runs, {right} conforming systems, {found} of {wrong} wrong ones found behind queues, about \
         {found_at_once} without"
    );
    assert!(8 * right > wrong && 8 * wrong > right, "{right} {wrong}");
    assert!(4 * found > wrong, "{found} of {wrong} wrong systems were found");
}

/// Asks after every input whether it was taken, by a message that is answered like no other, and waits for that.
struct Syncing<T>(T);

impl<T: Tester> Tester for Syncing<T> {
    fn start(&mut self, seed: u64) {
        self.0.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        let sync = cx.sts.gate_named("sync").expect("the model has it");
        let synced = cx.sts.gate_named("synced").expect("the model has it");
        let last = trace.labels.iter().rev().find_map(|label| match label {
            Label::Input(gate, _) => Some(*gate),
            Label::Output(gate, _) if *gate == synced => Some(*gate),
            _ => None,
        });
        match last {
            Some(gate) if gate == sync => TesterMove::Observe,
            Some(gate) if gate != synced => TesterMove::Stimulate(Label::Input(sync, Vec::new())),
            _ => match self.0.next(cx, monitor, trace) {
                TesterMove::Stimulate(Label::Input(gate, _)) if gate == sync => TesterMove::Observe,
                next => next,
            },
        }
    }
}

/// A model that answers `sync` by `synced` wherever it is, and does nothing else meanwhile.
fn with_sync(text: &str) -> String {
    let states = text.matches("state s").count();
    let mut text = text.replacen("input b", "input b input sync output synced", 1);
    for i in 0..states {
        text = text.replacen(&format!("state s{i} {{"), &format!("state s{i} {{ on sync -> w{i}"), 1);
    }
    let waits: String = (0..states).map(|i| format!("state w{i} {{ emit synced -> s{i} }}\n")).collect();
    text.trim_end().trim_end_matches('}').to_owned() + &waits + "}"
}

#[test]
fn a_message_that_is_answered_like_no_other_blames_nobody_and_wins_detection_back() {
    use ioxide_testgen::tester::random::{Interaction, RandomConfig, RandomTester};
    let systems = test_count("IOXIDE_SYSTEMS", 4, 400);
    let config = || RandomConfig { steps: 60, interaction: Interaction::InputEager };
    let (mut wrong, mut at_once, mut queued, mut synced) = (0u64, 0u64, 0u64, 0u64);
    for seed in 20_000..20_000 + systems {
        let (recipe, mutant) = (Recipe::random(seed), Recipe::random(seed).mutated(seed));
        let (spec, sut) = (model(&recipe.text()), model(&mutant.text()));
        let is_right = conforms(&sut, &spec);
        let (_, failed) = failures(&spec, &sut, &mut RandomTester::new(config(), seed), seed, Silence::Known);
        let (asks, answers) = (model(&with_sync(&recipe.text())), model(&with_sync(&mutant.text())));
        let mut asking = Syncing(RandomTester::new(config(), seed));
        let (_, failed_asked) = failures(&asks, &answers, &mut asking, seed, Silence::Known);
        if is_right {
            assert!(failed.is_empty() && failed_asked.is_empty(), "seed {seed}: a conforming system failed");
            continue;
        }
        let campaign =
            CampaignConfig { runs: 10, seed, replays: 0, shrink: None, ..CampaignConfig::default() };
        let outcome =
            test_by(&spec, &sut, &mut RandomTester::new(config(), seed), &campaign, &mut SilentReporter)
                .unwrap();
        wrong += 1;
        at_once += u64::from(!outcome.failures.is_empty());
        queued += u64::from(!failed.is_empty());
        synced += u64::from(!failed_asked.is_empty());
    }
    println!(
        "of {wrong} wrong systems: {at_once} found with confirmed inputs, {queued} behind queues, {synced} \
         there with a message that settles them"
    );
    assert!(wrong > 0 && queued + synced > 0, "{wrong} {queued} {synced}");
}
