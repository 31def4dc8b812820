use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_model::verdict::Verdict;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::Event;
use ioxide_record::reporter::SilentReporter;
use ioxide_testgen::purpose::{Criterion, PurposeItem};
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_wire::adapter::RemoteConnection;
use ioxide_wire::adapter::tcp::TcpAdapter;
use ioxide_wire::serve::{NewSolver, serve_tcp};

use super::*;
use crate::run::RunEnd;
use crate::samples::{
    VENDING, cover, example, message, model, new_solver, on_bench, purposes, test, test_by, with_cx,
};

pub(super) fn many(runs: u64, seed: u64) -> CampaignConfig {
    CampaignConfig { runs, seed, ..CampaignConfig::default() }
}

#[test]
fn a_model_passes_against_itself() {
    for (path, runs) in [("brp/spec.iox", 20), ("adder.iox", 20), ("redis/redis.iox", 10)] {
        let spec = example(path);
        let (_, outcome) = test(&spec, &spec, 60, &many(runs, 4));
        assert_eq!(
            outcome.counts,
            RunCounts { passed: runs, ..RunCounts::default() },
            "{path}: {:?}",
            outcome.error
        );
    }
}

#[test]
fn every_mutant_of_the_protocol_is_found() {
    let spec = example("brp/spec.iox");
    for mutant in 1..=6 {
        let sut = example(&format!("brp/m{mutant}.iox"));
        let (_, outcome) = test(&spec, &sut, 300, &many(100, 11));
        let [failure] = &outcome.failures[..] else { panic!("m{mutant}: {:?}", outcome.counts) };
        assert_eq!((failure.reproduced, failure.of), (3, 3), "m{mutant}");
        let shrunk = failure.shrunk.as_ref().expect("it came back");
        let shortest = [4, 12, 4, 6, 18, 6][mutant - 1];
        assert!(shrunk.minimal, "m{mutant}");
        assert_eq!((shrunk.reproduced, shrunk.of), (5, 5), "m{mutant}");
        assert!(shrunk.trace.len() <= shortest + 2, "m{mutant}: {} labels", shrunk.trace.len());
    }
}

#[test]
fn every_mutant_of_the_protocol_is_found_by_switch_coverage() {
    let spec = example("brp/spec.iox");
    let longest = [44, 16, 8, 6, 18, 6].map(|messages| (PurposeOrder::LongestFirst, messages));
    let default = [26, 16, 8, 6, 18, 6].map(|messages| (PurposeOrder::LongestThenNew, messages));
    for (mutant, (order, messages)) in (1..=6).zip(longest).chain((1..=6).zip(default)) {
        let sut = example(&format!("brp/m{mutant}.iox"));
        for seed in 0..5 {
            let (set, spec) = purposes(&spec, Criterion::Switches);
            let mut tester = CoverTester::new(&set, CoverRounds::Bounded(5), order);
            let config = CampaignConfig { shrink: None, ..many(1000, seed) };
            let mut events: Vec<Event> = Vec::new();
            let outcome = test_by(&spec, &sut, &mut tester, &config, &mut events).unwrap();
            assert_eq!(outcome.counts.failed, 1, "m{mutant}: {:?}", outcome.counts);
            let silences = events.iter().filter(|event| is_silence(event)).count() as u64;
            assert_eq!(outcome.steps - silences, messages, "m{mutant}, seed {seed}");
        }
    }
}

fn is_silence(event: &Event) -> bool {
    let quiet = ioxide_record::event::LabelKind::Quiescence;
    matches!(&event.event, EventKind::Observation(told) if told.label.kind == quiet)
}

#[test]
fn switch_coverage_ends_when_every_purpose_was_executed() {
    let spec = example("brp/spec.iox");
    let (mut tester, spec) = cover(&spec, CoverRounds::Bounded(2));
    let outcome = test_by(&spec, &spec, &mut tester, &many(1000, 1), &mut SilentReporter).unwrap();
    assert_eq!(outcome.counts, RunCounts { passed: 12, ..RunCounts::default() });
    assert!(tester.tally().iter().all(|tally| (tally.runs, tally.passed, tally.missed) == (2, 2, 0)));
    assert_eq!((tester.conservative().len(), tester.liberal().len()), (16, 16));
}

#[test]
fn what_the_system_does_not_play_along_with_is_tried_again_and_told() {
    // The system never serves coffee: the purpose that waits for it cannot be executed.
    let sut = model(&VENDING.replace("coffee: emit coffee { paid = 0 } -> idle", ""));
    let (mut tester, spec) = cover(&model(VENDING), CoverRounds::Bounded(1));
    let outcome = test_by(&spec, &sut, &mut tester, &many(1000, 1), &mut SilentReporter).unwrap();
    assert_eq!((outcome.counts.failed, outcome.counts.inconclusive), (0, 3));
    let missed: Vec<_> = tester.tally().iter().filter(|tally| tally.passed == 0).collect();
    let [tally] = &missed[..] else { panic!("{:?}", tester.tally()) };
    assert_eq!((tally.runs, tally.missed), (3, 3));
    assert_eq!(tally.reason.as_deref(), Some("got !tea, but the purpose expects `coffee`"));
    assert!(!tester.liberal().contains(&PurposeItem::Switch(spec.sts.switch_named("coffee").unwrap())));
}

#[test]
fn a_failure_is_explained() {
    let sut = model(&VENDING.replace("paid - 2", "paid - 1"));
    let (events, outcome) = test(&model(VENDING), &sut, 50, &many(50, 1));
    assert_eq!(outcome.counts.failed, 1);
    let told = events.iter().find_map(|event| match &event.event {
        EventKind::Verdict(told) => told.explanation.clone(),
        _ => None,
    });
    let told = told.expect("a fail is explained");
    let [allowed] = &told.allowed[..] else { panic!("{told:?}") };
    assert!(allowed.label.starts_with("!change(n: "), "{allowed:?}");
    assert_eq!(allowed.switch.as_deref(), Some("change"));
    assert_eq!(told.states[0].location, "paid_up");
    assert!(told.why_not[0].reason.contains("does not hold with n = "), "{:?}", told.why_not);
}

#[test]
fn a_failure_that_depends_on_the_systems_whim_is_told_as_such() {
    let sut = VENDING.replace("tea: emit tea", "soup: emit change(n: 99) { paid = 0 } -> idle tea: emit tea");
    let config = CampaignConfig { replays: 40, shrink: None, ..many(200, 3) };
    let (_, outcome) = test(&model(VENDING), &model(&sut), 40, &config);
    let failure = &outcome.failures[0];
    assert!(
        0 < failure.reproduced && failure.reproduced < failure.of,
        "{} of {}",
        failure.reproduced,
        failure.of
    );
}

#[test]
fn failures_need_not_end_a_campaign() {
    let sut = model(&VENDING.replace("paid - 2", "paid - 1"));
    let config = CampaignConfig { on_failure: OnFailure::GoOn, shrink: None, ..many(20, 1) };
    let (_, outcome) = test(&model(VENDING), &sut, 50, &config);
    assert_eq!(outcome.counts.total(), 20);
    assert!(outcome.counts.failed > 1);
}

#[test]
fn failures_of_one_kind_are_looked_into_once() {
    let sut = VENDING
        .replace("paid - 2", "paid - 1")
        .replace("exact: internal when paid <= 2", "exact: internal when paid == 2");
    let config = CampaignConfig { on_failure: OnFailure::GoOn, ..many(60, 1) };
    let (events, outcome) = test(&model(VENDING), &model(&sut), 50, &config);
    let mut signatures: Vec<&str> =
        outcome.failures.iter().map(|failure| failure.signature.as_str()).collect();
    signatures.sort_unstable();
    insta::assert_snapshot!(signatures.join("\n"), @r"
    !change in paid_up against change `paid - 2 == n`
    silence in paid_up, serving against coffee, exact, tea
    ");
    assert_eq!(outcome.failures.iter().map(|failure| failure.runs).sum::<u64>(), outcome.counts.failed);
    let shrunk = events.iter().filter(|event| matches!(event.event, EventKind::Shrunk(_))).count();
    assert_eq!(shrunk, outcome.failures.len());
    let Some(EventKind::CampaignFinished(told)) = events.last().map(|event| &event.event) else { panic!() };
    assert_eq!(told.failures.len(), outcome.failures.len());
}

#[test]
fn what_failed_before_comes_first() {
    let spec = model(VENDING);
    let trace: Trace = [message(&spec, "coin", &[5]), message(&spec, "change", &[9])].into_iter().collect();
    let regression = Regression { name: "too much change".into(), trace };
    let config = CampaignConfig { regressions: vec![regression], ..many(2, 1) };
    let (events, outcome) = test(&spec, &spec, 5, &config);
    assert_eq!(outcome.counts, RunCounts { passed: 3, ..RunCounts::default() });
    let sent = events.iter().find_map(|event| match &event.event {
        EventKind::Stimulus(told) => Some(told.label.text.clone()),
        _ => None,
    });
    assert_eq!(sent.as_deref(), Some("?coin(n: 5)"));
    let goal = events.iter().find_map(|event| match &event.event {
        EventKind::RunStarted(told) => Some(told.goal.clone()),
        _ => None,
    });
    assert_eq!(goal.as_deref(), Some("failed before: too much change"));
    // The other runs have the seeds they would have without it.
    let (plain, _) = test(&spec, &spec, 5, &many(2, 1));
    assert_eq!(seeds(&events)[1..], seeds(&plain));
}

fn seeds(events: &[Event]) -> Vec<u64> {
    let started = events.iter().filter_map(|event| match &event.event {
        EventKind::RunStarted(told) => Some(told.seed),
        _ => None,
    });
    started.collect()
}

#[test]
fn workers_share_the_runs_and_every_run_is_what_it_would_be_alone() {
    let (spec, sut) = (model(VENDING), model(&VENDING.replace("paid - 2", "paid - 1")));
    let config = CampaignConfig { on_failure: OnFailure::GoOn, shrink: None, ..many(9, 7) };
    let mut events: Vec<Event> = Vec::new();
    let mut clock = StoppedClock;
    let sink = EventSink::new(&mut events, &mut clock);
    let shared = CampaignState::start(&spec.sts, &config, 2, &sink).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (shared, spec, sut) = (&shared, &spec, &sut);
            scope.spawn(move || {
                on_bench(spec, sut, 0, |bench| {
                    let config = RandomConfig { steps: 30, ..RandomConfig::default() };
                    shared.work(worker, bench, &mut RandomTester::new(config, 0)).unwrap();
                })
            });
        }
    });
    let outcome = shared.finish(&spec.sts).unwrap();
    drop(sink);
    assert_eq!(outcome.counts.total(), 9);
    assert!(outcome.counts.failed > 0);
    assert!((0..).zip(&events).all(|(seq, event)| event.seq == seq));
    let begun: std::collections::BTreeSet<u64> = events.iter().filter_map(|event| event.run).collect();
    assert_eq!(begun, (0..9).collect());
    let record = ioxide_record::format::Record { events, is_cut: false };
    let steps: usize = (0..9).map(|run| record.trace(&spec, run).unwrap().len()).sum();
    assert_eq!(steps as u64, outcome.steps);
    let first = outcome.failures[0].id.run;
    let judged = with_cx(spec.clone(), |mut cx| {
        crate::judge::judge(&mut cx, &record.trace(&spec, first).unwrap(), &Default::default())
    });
    assert!(judged.forbidden.is_some());
}

#[test]
fn silence_where_the_model_must_speak_is_a_failure() {
    let sut = VENDING.replace("exact: internal when paid <= 2 -> serving", "");
    let (_, outcome) = test(&model(VENDING), &model(&sut), 50, &many(100, 1));
    let shrunk = outcome.failures[0].shrunk.as_ref().unwrap();
    assert_eq!(shrunk.trace.labels.last(), Some(&ioxide_model::label::Label::Quiescence));
    assert_eq!(shrunk.trace.len(), 2);
    assert_eq!(
        shrunk.trace.labels[0],
        message(&model(VENDING), "coin", &[1]),
        "the simplest value that fails"
    );
}

#[test]
fn coverage_counts_what_was_surely_taken() {
    let spec = model(VENDING);
    let (events, outcome) = test(&spec, &spec, 60, &many(20, 1));
    let covered: Vec<_> =
        outcome.coverage.covered_switches().map(|id| spec.sts.switches[id].label.to_string()).collect();
    assert_eq!(covered, ["pay", "change", "tea", "coffee"], "the internal switch is not seen");
    let Some(Event { event: EventKind::CampaignFinished(told), .. }) = events.last() else {
        panic!("no end")
    };
    assert!(told.never.is_empty(), "nobody can see whether the internal switch was taken");
}

/// Two ways for one input: the output after it tells which was taken, or nothing ever does.
#[test]
fn coverage_is_what_lies_on_every_explanation() {
    let spec = |outputs: [&str; 2]| {
        let [a, b] = outputs;
        model(&format!(
            "model Ways {{ input go output o output p
            state s {{ g1: on go -> a g2: on go -> b }}
            state a {{ o1: emit {a} -> s }} state b {{ o2: emit {b} -> s }} }}"
        ))
    };
    let names = |outcome: &CampaignOutcome, spec: &ioxide_model::sts::Model| -> Vec<String> {
        outcome.coverage.covered_switches().map(|id| spec.sts.switches[id].label.to_string()).collect()
    };
    let (told, silent) = (spec(["o", "p"]), spec(["o", "o"]));
    let (_, outcome) = test(&told, &told, 60, &many(20, 1));
    assert_eq!(names(&outcome, &told), ["g1", "g2", "o1", "o2"]);
    assert_eq!(outcome.coverage.pairs().count(), 6, "g1 o1, g2 o2, and each output before each input");
    let (_, outcome) = test(&silent, &silent, 60, &many(20, 1));
    assert_eq!(names(&outcome, &silent), [""; 0]);
    assert_eq!(outcome.coverage.never().count(), 0, "all of them are possible");
    // A system that has the second way only never shows the first.
    let second =
        model("model Ways { input go output o output p state s { on go -> b } state b { emit p -> s } }");
    let (events, outcome) = test(&told, &second, 60, &many(20, 1));
    assert_eq!(names(&outcome, &told), ["g2", "o2"]);
    assert_eq!(outcome.coverage.never().count(), 2, "p rules the first way out");
    let taken = events.iter().find_map(|event| match &event.event {
        EventKind::RunFinished(told) => Some(told.taken.clone()),
        _ => None,
    });
    let taken = taken.flatten().expect("the steps alone do not tell");
    assert_eq!(taken.keys().collect::<Vec<_>>(), ["g2", "o2"]);
}

#[test]
fn a_model_that_cannot_go_on_is_an_error_and_no_verdict() {
    let sut = VENDING.replace("tea: emit tea { paid = 0 } -> idle", "stuck: internal -> stuck");
    let sut = sut.replace("    state serving {", "    state stuck { internal }\n    state serving {");
    let sut = sut.replace("coffee: emit coffee { paid = 0 } -> idle", "");
    let (events, outcome) = test(&model(VENDING), &model(&sut), 50, &many(5, 1));
    assert_eq!(outcome.counts, RunCounts { errors: 1, ..RunCounts::default() });
    assert!(outcome.error.unwrap().to_string().contains("internal steps for ever"));
    assert!(!events.iter().any(|event| matches!(event.event, EventKind::Verdict(_))));
}

#[test]
fn seeds_of_runs_differ_and_the_first_is_the_campaigns() {
    assert_eq!(run_seed(7, 0), 7);
    assert_ne!(run_seed(7, 1), run_seed(7, 2));
    assert_ne!(run_seed(7, 1), run_seed(8, 1));
    assert_eq!(RunEnd::Verdict(Verdict::Pass, String::new()).outcome(), RunOutcome::Pass);
}

#[test]
fn unknown_initial_values_are_tested_too() {
    let guessing = |lie: &str| {
        format!(
            "model M {{ input guess(n: 0..3) output right output wrong var secret: 0..3
            state ask {{ on guess when n == secret -> yes  on guess when n != secret -> no }}
            state yes {{ emit right -> ask }}
            state no {{ emit wrong -> ask {lie} }} }}"
        )
    };
    let spec = model(&guessing(""));
    let (_, outcome) = test(&spec, &spec, 40, &many(30, 5));
    assert_eq!(outcome.counts.passed, 30, "{:?}", outcome.failures);
    let (_, outcome) = test(&spec, &model(&guessing("emit right -> ask")), 40, &many(30, 5));
    assert_eq!(outcome.counts.failed, 1);
}

#[test]
fn a_system_behind_a_socket_is_tested_like_any_other() {
    let spec = example("brp/spec.iox");
    let over_tcp = |path: &str| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let solver: Arc<NewSolver> = Arc::new(new_solver);
        let sut = Arc::new(example(path));
        std::thread::spawn(move || serve_tcp(&listener, &sut, &solver, 1, |_| ()));
        let connection = RemoteConnection { seed: Some(9), ..RemoteConnection::default() };
        let mut adapter = TcpAdapter::connect(&address, Arc::new(spec.clone()), connection).unwrap();
        let config = CampaignConfig { runs: 30, seed: 2, ..CampaignConfig::default() };
        let config = CampaignConfig {
            run: RunConfig { patience: Duration::from_millis(25).into(), ..config.run.clone() },
            ..config
        };
        with_cx(spec.clone(), |mut cx| {
            let stop = AtomicBool::new(false);
            let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
            let mut tester = RandomTester::new(RandomConfig { steps: 30, ..RandomConfig::default() }, 2);
            let (mut silent, mut clock) = (SilentReporter, StoppedClock);
            campaign(&mut bench, &mut tester, &config, &EventSink::new(&mut silent, &mut clock)).unwrap()
        })
    };
    let outcome = over_tcp("brp/m3.iox");
    assert_eq!(outcome.counts.failed, 1, "{:?}", outcome.error);
    assert_eq!(outcome.failures[0].shrunk.as_ref().unwrap().trace.len(), 4);
    let outcome = over_tcp("brp/m4.iox");
    assert_eq!(outcome.counts.failed, 1, "{:?}", outcome.error);
}

#[test]
fn equal_values_are_made_simpler_together() {
    // The third frame is wrong only if the first two chunks are equal and the third is not.
    let (spec, sut) = (example("brp/spec.iox"), example("brp/m6.iox"));
    for seed in 0..5 {
        let (_, outcome) = test(&spec, &sut, 300, &many(100, seed));
        let shrunk = outcome.failures[0].shrunk.as_ref().expect("it came back");
        let request = shrunk.trace.labels[0].show(&spec.pool, &spec.sts);
        let smallest = ["?IREQ(d1: 0, d2: 0, d3: 1)", "?IREQ(d1: 1, d2: 1, d3: 0)"];
        assert!(smallest.contains(&request.as_str()), "seed {seed}: {request}");
        assert!(shrunk.minimal);
    }
}
