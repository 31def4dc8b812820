mod dying;
mod minimal;
mod orders;
mod references;
mod slices;

use std::cmp::Ordering as Order;

use ioxide_model::label::Label;
use ioxide_model::sort::{Constructor, DataField, DataKind, DataSort, Sort};
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_record::event::{EventKind, RunOutcome};
use ioxide_testgen::tester::replay::{PlannedMove, Unmentioned};
use ioxide_wire::adapter::{AdapterError, AwaitedPart};

use super::rerun::run_again;
use super::*;
use crate::campaign::{CampaignConfig, FailureGroup};
use crate::samples::{VENDING, message, model, on_bench, test};

/// A meter with a limit; every question is answered.
const METER: &str = "
model Meter {
    input limit(n: 0..50)
    input step
    input open
    input close
    input check
    output ok
    output bad

    var limit: int = 50
    var count: int = 0
    var opened: int = 0

    state idle {
        on limit { limit = n, count = 0 } -> idle
        on step { count = count + 1 } -> idle
        on open { opened = opened + 1 } -> idle
        on close { opened = opened - 1 } -> idle
        on check -> asked
    }
    state asked { answer: emit ok -> idle }
}";

/// The meter whose answer is `bad` where `fault` holds.
fn faulty(fault: &str) -> Model {
    let answer = format!("answer: emit ok when !({fault}) -> idle  wrong: emit bad when {fault} -> idle");
    model(&METER.replace("answer: emit ok -> idle", &answer))
}

/// The smallest failing run from a run with these inputs, each `gate` or `gate n`, the last one answered.
#[track_caller]
fn shrunk(sut: &Model, inputs: &str) -> (Vec<String>, ShrunkRun) {
    shrunk_within(sut, inputs, ShrinkConfig::default())
}

#[track_caller]
fn shrunk_within(sut: &Model, inputs: &str, budget: ShrinkConfig) -> (Vec<String>, ShrunkRun) {
    let spec = model(METER);
    let input = |text: &str| {
        let mut words = text.split_whitespace();
        let gate = words.next().expect("a gate");
        PlannedMove::Send(
            message(&spec, gate, &words.map(|n| n.parse().expect("a number")).collect::<Vec<_>>()).into(),
        )
    };
    let plan: Vec<PlannedMove> = inputs.split(',').map(input).chain([PlannedMove::Observe]).collect();
    let config = RunConfig::default();
    let smaller = on_bench(&spec, sut, 1, |bench| {
        let first = run_again(bench, &config, &plan, Unmentioned::Stop).expect("it runs");
        let sign = FailureSign::of(&first).expect("it fails");
        let again = repeat(bench, &config, &first.trace, sign, 2);
        let confirmed = again.confirmed(&first.trace).expect("it failed again");
        shrink(bench, &config, &confirmed, &budget, None, &mut |_| ())
    });
    let shown = smaller.trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect();
    (shown, smaller)
}

#[test]
fn moves_are_left_out_again_after_values_became_simpler() {
    // Every step is needed as long as the limit is 9.
    let sut = faulty("limit < 50 && count >= limit");
    let (shown, smaller) =
        shrunk(&sut, "open,limit 9,step,step,step,step,close,step,step,step,step,step,check");
    assert_eq!(shown, ["?limit(n: 0)", "?check", "!bad"]);
    assert!(smaller.minimal);
}

#[test]
fn moves_that_must_go_together_go_together() {
    let sut = faulty("opened == 0 && count > 0");
    let (shown, _) = shrunk(&sut, "open,limit 3,limit 4,step,close,check");
    assert_eq!(shown, ["?step", "?check", "!bad"]);
}

#[test]
fn as_many_moves_as_a_number_says_become_fewer() {
    let sut = faulty("limit > 0 && count == limit");
    let (shown, smaller) = shrunk(&sut, "limit 5,step,step,step,step,step,check");
    assert_eq!(shown, ["?limit(n: 1)", "?step", "?check", "!bad"]);
    assert!(smaller.minimal);
}

#[test]
fn a_search_without_time_ends_early_and_says_so() {
    let sut = faulty("limit < 50 && count >= limit");
    let budget = ShrinkConfig { time: Some(Duration::ZERO), ..ShrinkConfig::default() };
    let (shown, smaller) = shrunk_within(&sut, "limit 3,step,step,step,check", budget);
    assert_eq!((smaller.minimal, smaller.early, smaller.attempts), (false, Some(ShrinkCutOff::Time), 0));
    assert_eq!(shown.len(), 6);
    let (_, smaller) = shrunk(&sut, "limit 3,step,step,step,check");
    assert_eq!((smaller.minimal, smaller.early), (true, None));
}

#[test]
fn what_is_not_tried_to_the_end_is_not_called_minimal() {
    let sut = faulty("limit < 50 && count >= limit");
    let (smallest, whole) = shrunk(&sut, "limit 3,step,step,step,check");
    assert_eq!(smallest, ["?limit(n: 0)", "?check", "!bad"]);
    let (mut is_found_at, mut is_minimal_at) = (None, None);
    for attempts in 0..=whole.attempts {
        let budget = ShrinkConfig { attempts, ..ShrinkConfig::default() };
        let (shown, smaller) = shrunk_within(&sut, "limit 3,step,step,step,check", budget);
        assert!(smaller.attempts <= attempts);
        assert!(!smaller.minimal || shown == smallest);
        assert!(smaller.minimal || is_minimal_at.is_none(), "{attempts}");
        is_found_at = is_found_at.or((shown == smallest).then_some(attempts));
        is_minimal_at = is_minimal_at.or(smaller.minimal.then_some(attempts));
    }
    let (found_at, minimal_at) = (is_found_at.expect("found"), is_minimal_at.expect("minimal"));
    // What leaving out one of its inputs gives may have been tried before it was found.
    assert!(minimal_at >= found_at, "{found_at} {minimal_at}");
}

/// Returns the events and the first failure of a campaign on a vending machine that changes with its resets.
fn changing(first: &str, later: &str) -> (Vec<EventKind>, FailureGroup) {
    use crate::campaign::campaign;
    use ioxide_smt::brute::BruteSolver;
    use ioxide_symex::Ctx;
    use ioxide_wire::adapter::model::ModelAdapter;
    use std::sync::atomic::AtomicBool;
    let spec = model(VENDING);
    let (mut own, mut first, mut later) = (spec.clone(), model(first), model(later));
    let (mut a, mut b, mut c) = (BruteSolver::new(), BruteSolver::new(), BruteSolver::new());
    let mut adapter = Changing {
        first: ModelAdapter::new(&spec, Ctx::new(&mut first, &mut a), 1).unwrap(),
        later: ModelAdapter::new(&spec, Ctx::new(&mut later, &mut b), 1).unwrap(),
        resets: 0,
    };
    let stop = AtomicBool::new(false);
    let mut cx = Ctx::new(&mut own, &mut c);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let plan = vec![PlannedMove::Send(message(&spec, "coin", &[5]).into()), PlannedMove::Observe];
    let mut tester = ioxide_testgen::tester::replay::ReplayTester::new(plan, Unmentioned::Stop);
    let (mut events, mut clock): (Vec<ioxide_record::event::Event>, _) =
        (Vec::new(), ioxide_record::clock::StoppedClock);
    let sink = ioxide_record::reporter::EventSink::new(&mut events, &mut clock);
    let outcome = campaign(&mut bench, &mut tester, &CampaignConfig::default(), &sink).unwrap();
    let [failure] = &outcome.failures[..] else { panic!("{:?}", outcome.counts) };
    (events.into_iter().map(|event| event.event).collect(), failure.clone())
}

/// One system up to its second reset, another one from then on.
struct Changing<'m> {
    first: ioxide_wire::adapter::model::ModelAdapter<'m>,
    later: ioxide_wire::adapter::model::ModelAdapter<'m>,
    resets: u32,
}

impl<'m> Changing<'m> {
    fn now(&mut self) -> &mut ioxide_wire::adapter::model::ModelAdapter<'m> {
        if self.resets < 2 { &mut self.first } else { &mut self.later }
    }
}

impl ioxide_wire::adapter::Adapter for Changing<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.resets += 1;
        self.now().reset()
    }

    fn send(&mut self, input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        self.now().send(input)
    }

    fn poll(&mut self) -> Result<Option<ioxide_wire::adapter::ArrivedOutput>, AdapterError> {
        self.now().poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<ioxide_wire::adapter::Observation, AdapterError> {
        self.now().observe(patience)
    }
}

#[test]
fn a_failure_that_did_not_happen_again_is_told_with_both_runs_and_not_shrunk() {
    let (events, failure) = changing(&VENDING.replace("paid - 2", "paid - 1"), VENDING);
    assert_eq!((failure.reproduced, failure.of), (0, 3));
    assert!(failure.shrunk.is_none());
    let told = events.iter().find_map(|event| match event {
        EventKind::Replayed(told) => told.instead.clone(),
        _ => None,
    });
    let told = told.expect("the other run is told");
    let seen: Vec<&str> = told.trace.iter().map(|label| &*label.text).collect();
    assert_eq!((told.outcome, &seen[..]), (RunOutcome::Pass, &["?coin(n: 5)", "!change(n: 3)", "!tea"][..]));
}

#[test]
fn another_failure_is_not_the_same_failure() {
    let silent = VENDING.replace("change: emit change(n: paid - 2) when paid > 2 -> serving", "");
    let (_, failure) = changing(&VENDING.replace("paid - 2", "paid - 1"), &silent);
    assert_eq!((failure.reproduced, failure.of), (0, 3));
    assert!(failure.shrunk.is_none());
}

#[test]
fn only_the_wanted_failure_is_made_smaller() {
    let spec = model(VENDING);
    let sut = model(&VENDING.replace("paid - 2", "paid - 1"));
    let change = FailureSign::Message(spec.sts.gate_named("change").unwrap());
    for (only, is_shrunk) in [(None, true), (Some(change), true), (Some(FailureSign::Silence), false)] {
        let budget = ShrinkConfig { only, ..ShrinkConfig::default() };
        let config = CampaignConfig { runs: 50, shrink: Some(budget), ..CampaignConfig::default() };
        let (_, outcome) = test(&spec, &sut, 50, &config);
        assert_eq!(outcome.failures[0].shrunk.is_some(), is_shrunk, "{only:?}");
    }
}

/// Values of every shape, and their sorts.
fn samples(pool: &mut TermPool) -> Vec<(Sort, Value)> {
    let colour = pool.declare_data(DataSort {
        name: "Colour".into(),
        kind: DataKind::Enum,
        ctors: ["Red", "Green", "Blue"]
            .map(|name| Constructor { name: name.into(), fields: Vec::new() })
            .into(),
    });
    let field = |name: &str, sort| DataField { name: name.into(), sort };
    let fields = vec![field("x", Sort::Range { lo: -3, hi: 90 }), field("c", Sort::Data(colour))];
    let ctors = vec![Constructor { name: "Point".into(), fields }];
    let point = pool.declare_data(DataSort { name: "Point".into(), kind: DataKind::Record, ctors });
    let maybe = pool.option_of(Sort::Str);
    let data = |data, ctor, args: &[Value]| {
        Value::Data(ioxide_model::value::DataValue { data, ctor, args: args.to_vec().into() })
    };
    let blue = data(colour, 2, &[]);
    let real = |n: i64, d: i64| Value::Real(ioxide_model::number::Rational::from(n).div(&d.into()));
    vec![
        (Sort::Bool, Value::Bool(true)),
        (Sort::Int, Value::int(1_000_003)),
        (Sort::Int, Value::int(-77)),
        (Sort::Range { lo: 5, hi: 90 }, Value::int(60)),
        (Sort::Range { lo: -90, hi: -5 }, Value::int(-60)),
        (Sort::Real, real(22, 7)),
        (Sort::Real, real(-8, 1)),
        (Sort::Str, Value::str("Käse 7")),
        (Sort::Data(colour), blue.clone()),
        (Sort::Data(point), data(point, 0, &[Value::int(33), blue])),
        (Sort::Data(maybe), data(maybe, 1, &[Value::str("zz")])),
    ]
}

#[test]
fn whoever_goes_on_with_simpler_values_comes_to_the_simplest() {
    let mut pool = TermPool::new();
    for (sort, start) in samples(&mut pool) {
        let (mut value, mut steps) = (start.clone(), 0);
        // The least progress that is possible: the last one given.
        while let Some(next) = simpler::simpler(&pool, sort, &value).pop() {
            assert_eq!(order::simplicity(&next, &value), Order::Less, "{next:?} of {value:?}");
            assert!(pool.has_sort(&next, sort), "{next:?}");
            (value, steps) = (next, steps + 1);
            if steps == 200 {
                value = simpler::simpler(&pool, sort, &value).swap_remove(0);
            }
        }
        assert_eq!(value, pool.default_value(sort), "from {start:?}");
    }
}

/// A model played as a system that cannot be reset for every second run.
struct Moody<'m> {
    inner: ioxide_wire::adapter::model::ModelAdapter<'m>,
    resets: u32,
}

impl ioxide_wire::adapter::Adapter for Moody<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.resets += 1;
        if self.resets.is_multiple_of(2) {
            return Err(AdapterError::Late { awaited: AwaitedPart::Ready, limit: Duration::from_secs(1) });
        }
        self.inner.reset()
    }

    fn send(&mut self, input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        self.inner.send(input)
    }

    fn poll(&mut self) -> Result<Option<ioxide_wire::adapter::ArrivedOutput>, AdapterError> {
        self.inner.poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<ioxide_wire::adapter::Observation, AdapterError> {
        self.inner.observe(patience)
    }
}

#[test]
fn repetitions_that_could_not_be_made_are_not_counted() {
    use crate::campaign::campaign;
    use ioxide_symex::Ctx;
    use std::sync::atomic::AtomicBool;
    let (spec, sut) = (model(VENDING), model(&VENDING.replace("paid - 2", "paid - 1")));
    let (mut spec_own, mut sut_own) = (spec.clone(), sut);
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let inner =
        ioxide_wire::adapter::model::ModelAdapter::new(&spec, Ctx::new(&mut sut_own, &mut b), 1).unwrap();
    let mut adapter = Moody { inner, resets: 0 };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let plan = vec![PlannedMove::Send(message(&spec, "coin", &[5]).into()), PlannedMove::Observe];
    let mut tester = ioxide_testgen::tester::replay::ReplayTester::new(plan, Unmentioned::Stop);
    let (mut events, mut clock): (Vec<ioxide_record::event::Event>, _) =
        (Vec::new(), ioxide_record::clock::StoppedClock);
    let sink = ioxide_record::reporter::EventSink::new(&mut events, &mut clock);
    let outcome = campaign(&mut bench, &mut tester, &CampaignConfig::default(), &sink).unwrap();
    let [failure] = &outcome.failures[..] else { panic!("{:?}", outcome.counts) };
    // The run, then a reset that fails, a repetition, a reset that fails.
    assert_eq!((failure.reproduced, failure.of, failure.wanted), (1, 1, 3));
    let told = events.iter().find_map(|event| match &event.event {
        EventKind::Replayed(told) => told.unmade.clone(),
        _ => None,
    });
    let told = told.expect("two repetitions could not be made");
    assert_eq!((told.wanted, told.reason.contains("no `ready`")), (3, true), "{told:?}");
}
