use std::collections::BTreeSet;

use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind};
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::{Interaction, RandomConfig, RandomTester};
use serde_json::Value as Json;

use super::item::Measure;
use super::{Coverage, CoverageSurvey, MeasureCount};
use crate::campaign::{CampaignConfig, CampaignOutcome};
use crate::samples::{example, model, test_by};

/// A shelf with a limit: what is put must be below it.
const SHELF: &str = "model Shelf {
    input limit(n: 0..20)
    input put(x: int, y: int)
    output ok
    var most: int = 5
    state idle {
        on limit { most = n } -> said
        on put when x < most && y >= 0 -> said
    }
    state said { emit ok -> idle }
}";

fn hunted(spec: &Model, config: &CampaignConfig, steps: usize) -> (Vec<Event>, CampaignOutcome) {
    let mut hunt = HuntTester::new(HuntConfig { steps, ..HuntConfig::default() });
    let config = CampaignConfig { runs: 1_000, seed: 7, ..config.clone() };
    let mut events = Vec::new();
    let outcome = test_by(spec, spec, &mut hunt, &config, &mut events).unwrap();
    (events, outcome)
}

fn count(outcome: &CampaignOutcome, measure: Measure) -> MeasureCount {
    let counts = outcome.survey.counts(&outcome.coverage);
    counts.into_iter().find(|count| count.measure == measure).unwrap()
}

/// Returns the inputs sent: the message and its fields as whole numbers.
fn sent(events: &[Event]) -> Vec<(String, Vec<i64>)> {
    let number = |json: &Json| json.as_i64().or_else(|| json.as_str()?.parse().ok()).unwrap();
    let message = |event: &Event| match &event.event {
        EventKind::Stimulus(step) => {
            Some((step.label.label.clone(), step.label.args.values().map(number).collect()))
        }
        _ => None,
    };
    events.iter().filter_map(message).collect()
}

/// The sides of `x < most` and `y >= 0` and the equalities, counted by hand from the record.
#[test]
fn a_count_by_hand_from_the_record_finds_the_same() {
    let (events, outcome) = hunted(&model(SHELF), &CampaignConfig::default(), 400);
    let (mut most, mut edge, mut equal, mut stored) = (5, false, false, false);
    let mut limits = BTreeSet::new();
    for (message, fields) in sent(&events) {
        match (message.as_str(), &fields[..]) {
            ("limit", [n]) => {
                most = *n;
                limits.insert(*n);
            }
            ("put", [x, y]) => {
                edge |= *y == 0;
                equal |= x == y;
                stored |= *y == most;
            }
            other => panic!("{other:?}"),
        }
    }
    let missing = |measure| count(&outcome, measure).missing;
    let has = |measure, text: &str| !missing(measure).iter().any(|it| it.contains(text));
    assert_eq!(has(Measure::Equalities, "put.x equal to y"), equal);
    assert_eq!(has(Measure::Equalities, "put.y equal to stored most"), stored);
    assert_eq!(has(Measure::Comparisons, "0 <= y` at its edge"), edge, "{:?}", missing(Measure::Comparisons));
    assert_eq!(has(Measure::Values, "limit.n 0"), limits.contains(&0));
    assert_eq!(has(Measure::Values, "limit.n above 1"), limits.iter().any(|&n| n > 1));
    assert!(edge && equal && stored, "400 steps are enough for this");
}

/// `x < most` is false for no input that is specified, `y` is never negative, and a range has no huge numbers.
#[test]
fn what_guards_exclude_is_not_missing() {
    let (_, outcome) = hunted(&model(SHELF), &CampaignConfig::default(), 400);
    let (survey, coverage) = (&outcome.survey, &outcome.coverage);
    let all: Vec<String> = survey.counts(coverage).into_iter().flat_map(|count| count.missing).collect();
    for excluded in
        ["x < most` false", "x < most` at its edge", "put.y -1", "put.y below -1", "limit.n beyond 32"]
    {
        assert!(!all.iter().any(|it| it.contains(excluded)), "{excluded}: {all:?}");
    }
    assert!(survey.extents(coverage).any(|(name, ..)| name == "most"));
}

/// A campaign ends when its coverage is reached, with any tester; it never does if the items cannot be enumerated.
#[test]
fn a_campaign_ends_when_what_it_waits_for_was_seen() {
    let spec = example("brp/spec.iox");
    for measure in [Measure::Switches, Measure::Equalities] {
        let (_, outcome) =
            hunted(&spec, &CampaignConfig { until: Some(measure), ..Default::default() }, 50_000);
        assert!(outcome.is_enough && outcome.steps < 20_000, "{measure:?} after {}", outcome.steps);
        assert_eq!(count(&outcome, measure).missing, [""; 0]);
    }
    let config = CampaignConfig { until: Some(Measure::Switches), runs: 500, ..Default::default() };
    let mut random = RandomTester::new(RandomConfig { steps: 100, interaction: Interaction::Fair }, 1);
    let outcome = test_by(&spec, &spec, &mut random, &config, &mut Vec::<Event>::new()).unwrap();
    assert!(outcome.is_enough && outcome.counts.total() < 500, "{:?}", outcome.counts);
}

#[test]
fn a_campaign_that_ends_before_says_what_is_missing() {
    let spec = example("brp/spec.iox");
    let (_, outcome) =
        hunted(&spec, &CampaignConfig { until: Some(Measure::Pairs), ..Default::default() }, 60);
    assert!(!outcome.is_enough);
    let pairs = count(&outcome, Measure::Pairs);
    assert_eq!(pairs.total.unwrap(), pairs.seen + pairs.missing.len());
    assert!(!pairs.missing.is_empty());
}

/// After `r1` the first chunk is sent, so neither of the others can follow; the pairs that can be were enumerated by
/// hand from the table of the protocol.
#[test]
fn pairs_that_data_excludes_are_not_missing() {
    let mut spec = example("brp/spec.iox");
    let (mut solver, mut coverage) = (BruteSolver::new(), Coverage::new(&spec.sts));
    let survey = CoverageSurvey::new(&mut Ctx::new(&mut spec, &mut solver), &mut coverage);
    let pairs = survey.counts(&coverage).into_iter().find(|count| count.measure == Measure::Pairs).unwrap();
    for excluded in ["r1 then r3", "r1 then r4", "r6 then r11", "r6 then r12"] {
        assert!(!pairs.missing.contains(&excluded.to_owned()), "{excluded}: {:?}", pairs.missing);
    }
    for possible in
        ["r1 then r2", "r5 then r3", "r5 then r4", "r7 then r3", "r8 then r11", "r8 then r12", "r6 then r13"]
    {
        assert!(pairs.missing.contains(&possible.to_owned()), "{possible}: {:?}", pairs.missing);
    }
}

/// Time passes between the switches of a pair, and a clock that the first one resets begins again.
#[test]
fn pairs_that_time_makes_possible_are_missing() {
    let mut spec = model(
        "model Lamp { input go input anew input old output late output early clock x
        state a {
            go: on go when x <= 5s -> b
            anew: on anew when x >= 10s { reset x } -> b
            old: on old when x >= 10s -> b
        }
        state b { late: emit late when x >= 10s -> a early: emit early when x <= 5s -> a } }",
    );
    let (mut solver, mut coverage) = (BruteSolver::new(), Coverage::new(&spec.sts));
    let survey = CoverageSurvey::new(&mut Ctx::new(&mut spec, &mut solver), &mut coverage);
    let pairs = survey.counts(&coverage).into_iter().find(|count| count.measure == Measure::Pairs).unwrap();
    for possible in ["go then late", "go then early", "anew then early", "anew then late", "early then old"] {
        assert!(pairs.missing.contains(&possible.to_owned()), "{possible}: {:?}", pairs.missing);
    }
    // No clock goes back.
    for excluded in ["old then early", "late then go"] {
        assert!(!pairs.missing.contains(&excluded.to_owned()), "{excluded}: {:?}", pairs.missing);
    }
}

/// A real has the classes of whole numbers, and guards exclude some of them.
#[test]
fn huge_reals_are_missing_unless_a_guard_excludes_them() {
    let mut spec = model(
        "model Scales { input put(x: real) input weigh(y: real) output ok
        state s { on put when 0 <= x && x < 100 emit ok on weigh emit ok } }",
    );
    let (mut solver, mut coverage) = (BruteSolver::new(), Coverage::new(&spec.sts));
    let survey = CoverageSurvey::new(&mut Ctx::new(&mut spec, &mut solver), &mut coverage);
    let values = survey.counts(&coverage).into_iter().find(|count| count.measure == Measure::Values).unwrap();
    let is_missing = |item: &str| values.missing.iter().any(|missing| missing.ends_with(item));
    for possible in
        ["put.x above 1", "put.x a fraction", "weigh.y beyond 32 bits", "weigh.y negative beyond 32 bits"]
    {
        assert!(is_missing(possible), "{possible}: {:?}", values.missing);
    }
    for excluded in ["put.x beyond 32 bits", "put.x negative beyond 32 bits", "put.x -1"] {
        assert!(!is_missing(excluded), "{excluded}: {:?}", values.missing);
    }
}

/// A guess at what is left is made from enough pairs only.
#[test]
fn a_guess_is_a_share() {
    let (_, outcome) = hunted(&example("brp/spec.iox"), &CampaignConfig::default(), 1_000);
    assert!(outcome.coverage.chance_of_a_new_pair().is_some_and(|chance| (0.0..=1.0).contains(&chance)));
    let (_, few) = hunted(&example("brp/spec.iox"), &CampaignConfig::default(), 20);
    assert_eq!(few.coverage.longest().min(20), 20);
}

/// A model too large to be enumerated is counted, and no total is claimed.
#[test]
fn where_items_are_too_many_no_total_is_claimed() {
    let switches: String = (0..300).map(|n| format!("on i{n} -> s\n")).collect();
    let inputs: String = (0..300).map(|n| format!("input i{n}\n")).collect();
    let mut large = model(&format!("model Large {{ {inputs} state s {{ {switches} }} }}"));
    let mut coverage = Coverage::new(&large.sts);
    let mut solver = BruteSolver::new();
    let survey = CoverageSurvey::new(&mut Ctx::new(&mut large, &mut solver), &mut coverage);
    let pairs = survey.counts(&coverage).into_iter().find(|count| count.measure == Measure::Pairs).unwrap();
    assert_eq!((pairs.seen, pairs.total), (0, None));
}
