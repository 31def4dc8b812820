//! The testers on whole campaigns: what they cover, what they find, what they say.

use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind};
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_testgen::purpose::{Criterion, PurposeSet, of_goal};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::random::Interaction;
use ioxide_testgen::tester::script::ScriptTester;
use ioxide_testgen::tester::tour::TourTester;

use super::tests::many;
use super::{CampaignConfig, CampaignOutcome, OnFailure, RunCounts};
use crate::samples::{LIMITS, VENDING, example, model, purposes, test_by};

fn tested(
    spec: &Model,
    sut: &Model,
    tester: &mut dyn Tester,
    config: &CampaignConfig,
) -> (Vec<Event>, CampaignOutcome) {
    let mut events: Vec<Event> = Vec::new();
    let outcome = test_by(spec, sut, tester, config, &mut events).unwrap();
    (events, outcome)
}

#[test]
fn a_tour_covers_the_protocol_in_one_run() {
    let spec = example("brp/spec.iox");
    let (set, spec) = purposes(&spec, Criterion::Switches);
    let mut tour = TourTester::new(&set, CoverRounds::Bounded(1), LIMITS);
    let (_, outcome) = tested(&spec, &spec, &mut tour, &many(100, 1));
    assert_eq!(outcome.counts, RunCounts { passed: 1, ..RunCounts::default() });
    assert_eq!(tour.covered_items().len(), 16);
    assert_eq!(outcome.coverage.never().count(), 0, "the runner counts the same");
}

#[test]
fn a_tour_of_locations_is_shorter_than_one_of_switches() {
    let spec = example("brp/spec.iox");
    let steps = |criterion| {
        let (set, spec) = purposes(&spec, criterion);
        let mut tour = TourTester::new(&set, CoverRounds::Bounded(1), LIMITS);
        let (events, outcome) = tested(&spec, &spec, &mut tour, &many(100, 1));
        let counts = (outcome.counts.passed, tour.covered_items().len());
        assert_eq!(counts, (1, set.total), "{:#?}", verdicts(&events));
        outcome.steps
    };
    assert!(steps(Criterion::Locations) < steps(Criterion::Switches));
}

#[test]
fn a_tour_goes_on_from_where_the_system_leads() {
    // Tea or coffee: the system chooses, so a path to the other drink has to be tried again.
    let spec = model(VENDING);
    let (set, spec) = purposes(&spec, Criterion::Switches);
    for seed in 0..20 {
        let mut tour = TourTester::new(&set, CoverRounds::Bounded(1), LIMITS);
        let (_, outcome) = tested(&spec, &spec, &mut tour, &many(100, seed));
        assert_eq!((outcome.counts.failed, outcome.counts.errors), (0, 0));
        let visible = spec.sts.switches.len() - 1;
        assert_eq!(outcome.coverage.covered_switches().count(), visible, "seed {seed}");
    }
}

#[test]
fn a_tour_finds_the_mutants_of_the_protocol() {
    let spec = example("brp/spec.iox");
    let (set, spec) = purposes(&spec, Criterion::Switches);
    for mutant in 1..=6 {
        let sut = example(&format!("brp/m{mutant}.iox"));
        let mut tour = TourTester::new(&set, CoverRounds::Bounded(20), LIMITS);
        let (_, outcome) = tested(&spec, &sut, &mut tour, &many(100, 1));
        assert_eq!(outcome.counts.failed, 1, "m{mutant}: {:?}", outcome.counts);
    }
}

#[test]
fn where_the_system_goes_another_way_another_purpose_takes_over() {
    let goals = VENDING.replace(
        "state idle {",
        "purpose coffee: pay, change, coffee
         purpose tea: pay, change, tea
         state idle {",
    );
    let mut spec = model(&goals);
    let goals = spec.sts.goals.clone();
    let found = {
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut spec, &mut solver);
        goals.iter().map(|goal| of_goal(&mut cx, goal, LIMITS).unwrap()).collect()
    };
    let set = PurposeSet::from_purposes(&spec.sts, found);
    let (mut missed, mut inconclusive) = (0, 0);
    for seed in 0..20 {
        let mut cover = CoverTester::new(&set, CoverRounds::Bounded(1), PurposeOrder::LongestFirst);
        let (_, outcome) = tested(&spec, &spec, &mut cover, &many(100, seed));
        assert_eq!((outcome.counts.failed, outcome.counts.errors), (0, 0));
        missed += cover.tally().iter().map(|tally| tally.missed as u64).sum::<u64>();
        inconclusive += outcome.counts.inconclusive;
    }
    // Coffee was wanted and tea came: the run went on for who wants tea, and passed.
    assert!(missed > inconclusive + 3, "{missed} missed, {inconclusive} runs inconclusive");
}

const TESTS: &str = "
    test \"tea\" { send coin(n: 2); expect tea; quiet }
    test \"change\" { send coin when n > 4; expect change; }
    test \"late\" { send coin(n: 2); quiet 1s }
";

fn with_tests() -> Model {
    model(&VENDING.replace("state idle {", &format!("{TESTS} state idle {{")))
}

fn verdicts(events: &[Event]) -> Vec<String> {
    let told = events.iter().filter_map(|event| match &event.event {
        EventKind::RunStarted(told) => Some(told.goal.clone()),
        EventKind::Verdict(told) => Some(format!("  {:?}: {}", told.verdict, told.reason)),
        _ => None,
    });
    told.collect()
}

#[test]
fn written_tests_are_executed() {
    let spec = with_tests();
    // Serves tea only: a choice the specification leaves to the system.
    let sut = model(&VENDING.replace("coffee: emit coffee { paid = 0 } -> idle", ""));
    let mut tester = ScriptTester::new(&spec.sts.goals, 1);
    let config = CampaignConfig { on_failure: OnFailure::GoOn, ..many(10, 1) };
    let (events, _) = tested(&spec, &sut, &mut tester, &config);
    insta::assert_snapshot!(verdicts(&events).join("\n"), @r"
    test tea
      Pass: test `tea` was executed
    test change
      Pass: test `change` was executed
    test late
      Inconclusive: !tea arrived where the test expects `quiet`
    ");
}

#[test]
fn what_a_test_did_not_expect_is_not_a_failure() {
    let spec = with_tests();
    let sut = model(&VENDING.replace("tea: emit tea { paid = 0 } -> idle", ""));
    let mut tester = ScriptTester::new(&spec.sts.goals[..1], 1);
    let (events, outcome) = tested(&spec, &sut, &mut tester, &many(10, 1));
    assert_eq!(outcome.counts, RunCounts { inconclusive: 1, ..RunCounts::default() });
    assert!(
        verdicts(&events)[1].contains("arrived where the test expects `expect tea`"),
        "{:?}",
        verdicts(&events)
    );
}

/// An eager tester sends where the system could speak; a fair one observes as often as not.
#[test]
fn a_fair_tester_hears_what_an_eager_one_talks_over() {
    let spec = model(
        "model M { input a output news output b
            state s { on a -> t  emit news -> s }
            state t { emit b -> s } }",
    );
    let heard = |interaction| {
        let (set, spec) = purposes(&spec, Criterion::Switches);
        let set = PurposeSet::from_purposes(
            &spec.sts,
            set.purposes.into_iter().filter(|it| it.name != "s#2").collect(),
        );
        let mut cover = CoverTester::new(&set, CoverRounds::Bounded(40), PurposeOrder::default());
        let mut tester = InputFair::new(&mut cover, interaction);
        let (events, outcome) = tested(&spec, &spec, &mut tester, &many(40, 3));
        assert_eq!(outcome.counts.failed, 0);
        let is_news = |event: &&Event| match &event.event {
            EventKind::Observation(step) => step.step == 1 && step.label.label == "news",
            _ => false,
        };
        events.iter().filter(is_news).count()
    };
    assert_eq!(heard(Interaction::InputEager), 0);
    assert!((5..36).contains(&heard(Interaction::Fair)), "{}", heard(Interaction::Fair));
}
