//! Models for the tests of this crate.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::value::Value;
use ioxide_record::clock::{RunClock, StoppedClock};
use ioxide_record::event::Event;
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::layers::cache::CacheLayer;
use ioxide_smt::layers::witness::WitnessLayer;
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{Criterion, PurposeSet, coverage};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_testgen::tester::tour::TourTester;
use ioxide_wire::adapter::model::ModelAdapter;

use crate::campaign::{CampaignConfig, CampaignOutcome, campaign};
use crate::run::RunSetup;

/// The model `text` writes.
#[track_caller]
pub(crate) fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// A model of the examples folder, by its path in there.
#[track_caller]
pub(crate) fn example(path: &str) -> Model {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    model(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// A small vending machine: pays back too much money, serves tea or coffee as it likes.
pub(crate) const VENDING: &str = "
model Vending {
    input  coin(n: int)
    output tea
    output coffee(sugar: 0..3)
    output change(n: int)

    var paid: int = 0

    state idle {
        pay: on coin when 0 < n < 10 { paid = n } -> paid_up
    }
    state paid_up {
        change: emit change(n: paid - 2) when paid > 2 -> serving
        exact: internal when paid <= 2 -> serving
    }
    state serving {
        tea: emit tea { paid = 0 } -> idle
        coffee: emit coffee { paid = 0 } -> idle
    }
}";

/// The message `gate(values)`.
#[track_caller]
pub(crate) fn message(model: &Model, gate: &str, values: &[i64]) -> Label {
    let gate = model.sts.gate_named(gate).unwrap_or_else(|| panic!("no gate {gate}"));
    let values = values.iter().copied().map(Value::int).collect();
    Label::message(&model.sts, gate, values).expect("not internal")
}

/// Calls `body` with a context over `model`.
pub(crate) fn with_cx<T>(mut model: Model, body: impl FnOnce(Ctx<'_>) -> T) -> T {
    let mut solver = BruteSolver::new();
    body(Ctx::new(&mut model, &mut solver))
}

/// A clock that counts how often it is asked: for tests of what is told only where events have times.
#[derive(Default)]
pub(crate) struct CountingClock(u64);

impl RunClock for CountingClock {
    fn now_ns(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// The solver of tests.
pub(crate) fn new_solver() -> Box<dyn Solver> {
    Box::new(BruteSolver::new())
}

/// The events and the outcome of a campaign of the random tester against a model.
pub(crate) fn test(
    spec: &Model,
    sut: &Model,
    steps: usize,
    config: &CampaignConfig,
) -> (Vec<Event>, CampaignOutcome) {
    let mut events = Vec::new();
    let outcome = test_into(spec, sut, steps, config, &mut events).unwrap();
    (events, outcome)
}

/// Runs a campaign as [`test`] does, reported to `reporter`.
pub(crate) fn test_into(
    spec: &Model,
    sut: &Model,
    steps: usize,
    config: &CampaignConfig,
    reporter: &mut dyn Reporter,
) -> io::Result<CampaignOutcome> {
    let mut tester = RandomTester::new(RandomConfig { steps, ..RandomConfig::default() }, config.seed);
    test_by(spec, sut, &mut tester, config, reporter)
}

/// Runs a campaign as [`test_into`] does, with any tester.
pub(crate) fn test_by(
    spec: &Model,
    sut: &Model,
    tester: &mut dyn Tester,
    config: &CampaignConfig,
    reporter: &mut dyn Reporter,
) -> io::Result<CampaignOutcome> {
    let mut clock = StoppedClock;
    let sink = EventSink::new(reporter, &mut clock);
    on_bench(spec, sut, config.seed, |bench| campaign(bench, tester, config, &sink))
}

/// Enumeration behind a cache and witnesses, which start afresh with every pool: every run begins with the terms of the
/// first, and terms that were made since mean something else in it.
struct WitnessSolver {
    layers: CacheLayer<WitnessLayer<BruteSolver>>,
    /// The identity of the pool of the questions so far.
    pool: Option<u64>,
}

impl WitnessSolver {
    /// Makes a solver that has seen no pool yet.
    fn new() -> Self {
        Self { layers: CacheLayer::new(WitnessLayer::new(BruteSolver::new()), 1 << 10), pool: None }
    }

    fn layers_for(&mut self, pool: &TermPool) -> &mut dyn Solver {
        if self.pool != Some(pool.id()) {
            *self = Self { pool: Some(pool.id()), ..Self::new() };
        }
        &mut self.layers
    }
}

impl Solver for WitnessSolver {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        self.layers_for(pool).check(pool, facts)
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        self.layers_for(pool).decide(pool, facts)
    }
}

/// Calls `body` with `spec` on one side and `sut` played on the other.
pub(crate) fn on_bench<T>(
    spec: &Model,
    sut: &Model,
    seed: u64,
    body: impl FnOnce(&mut RunSetup<'_, '_>) -> T,
) -> T {
    let (mut spec_own, mut sut_own) = (spec.clone(), sut.clone());
    // Plans for smaller runs ask a lot; enumeration answers what the witnesses of earlier answers leave open.
    let mut spec_solver = WitnessSolver::new();
    let mut sut_solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut spec_own, &mut spec_solver);
    let sut_cx = Ctx::new(&mut sut_own, &mut sut_solver);
    let mut adapter = ModelAdapter::new(spec, sut_cx, seed).unwrap();
    let stop = AtomicBool::new(false);
    body(&mut RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop })
}

/// The tester of switch coverage over `spec`, and `spec` with the terms it needs.
pub(crate) fn cover(spec: &Model, rounds: CoverRounds) -> (CoverTester, Model) {
    let (set, spec) = purposes(spec, Criterion::Switches);
    (CoverTester::new(&set, rounds, PurposeOrder::LongestFirst), spec)
}

/// As [`cover`], in few long runs.
pub(crate) fn tour(spec: &Model, rounds: CoverRounds) -> (TourTester, Model) {
    let (set, spec) = purposes(spec, Criterion::Switches);
    (TourTester::new(&set, rounds, LIMITS), spec)
}

/// Symbolic states looked at.
pub(crate) const LIMITS: ExploreLimits = ExploreLimits { max_states: 2_000, max_depth: u32::MAX };

/// The purposes of `criterion`, and `spec` with the terms they need.
pub(crate) fn purposes(spec: &Model, criterion: Criterion) -> (PurposeSet, Model) {
    let mut own = spec.clone();
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut own, &mut solver);
    let set = coverage(&mut cx, criterion, LIMITS, &mut |_| ControlFlow::Continue(()));
    (set, own)
}
