use std::io::Cursor;

use ioxide_record::event::{RunOutcome, RunStarted, VerdictWord};
use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::*;
use crate::summary::samples::{
    SampleEvents, any_campaign, failing, label, run_finished, run_started, seen, started,
};

fn written(events: &[Event], limit: u64) -> String {
    let mut out = Cursor::new(Vec::new());
    let mut junit = JunitReport::new(&mut out).with_listing_limit(limit);
    events.iter().for_each(|event| junit.event(event).unwrap());
    junit.finish().unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

fn number(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Counts the elements and compares with the totals, as a reader of the file would.
#[track_caller]
fn check(text: &str) -> [usize; 4] {
    let document = Document::parse(text).unwrap();
    let named = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    let counted = [named("testcase"), named("failure"), named("error"), named("skipped")];
    for suite in document.descendants().filter(|node| node.tag_name().name().starts_with("testsuite")) {
        let totals = ["tests", "failures", "errors", "skipped"].map(|name| number(suite, name));
        assert_eq!(totals, counted, "{text}");
    }
    counted
}

#[test]
fn a_failing_campaign_has_a_case_for_every_run() {
    let text = written(&failing(), MAX_LISTED);
    assert_eq!(check(&text), [6, 3, 1, 1]);
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="ioxide" tests="6" failures="3" errors="1" skipped="1" time="7.250">
    <testsuite name="Demo" tests="6" failures="3" errors="1" skipped="1" time="7.250">
    <properties>
    <property name="file" value="demo.iox"/>
    <property name="sut" value="stdio:./it's a system"/>
    <property name="tester" value="random tester"/>
    <property name="seed" value="7"/>
    <property name="planned_runs" value="6"/>
    <property name="jobs" value="1"/>
    <property name="patience_ms" value="100"/>
    </properties>
    <testcase name="run 1" classname="Demo" file="demo.iox" time="0.000"/>
    <testcase name="run 3" classname="Demo" file="demo.iox" time="0.000">
    <failure message="x-in-s-2da6, as in run 2" type="nonconformance"></failure>
    </testcase>
    <testcase name="run 5" classname="Demo" file="demo.iox" time="0.000">
    <error message="the system ended" type="trouble">
        printed   bye
    </error>
    </testcase>
    <testcase name="run 6" classname="Demo" file="demo.iox" time="0.000">
    <skipped message="out of reach"></skipped>
    </testcase>
    <testcase name="run 2" classname="Demo" file="demo.iox" time="0.000">
    <failure message="x-in-s-2da6: the model does not allow !X here" type="nonconformance">
              tester        system
              │ … 8 steps before │
           9  │── ?A(n: 9) ─────▶│
          10  │── ?A(n: 10) ────▶│
          11  │── ?A(n: 11) ────▶│
          12  │── ?A(n: 12) ────▶│
          13  │── ?A(n: 13) ────▶│
          14  │── ?A(n: 14) ────▶│
          15  │── ?A(n: 15) ────▶│
          16  │── ?A(n: 16) ────▶│
          17  │── ?A(n: 17) ────▶│
          18  │── ?A(n: 18) ────▶│
          19  │── ?A(n: 19) ────▶│
      ✗   20  │◀─────────── !X ──│ got
              │◀╌╌╌╌╌ !Y(n: 2) ╌╌│ expected [r2]
        in state  S  n = 1
        why not   r1: `n &gt; 1` does not hold with n = 1
        repeated  failed again 3 of 3 times
        minimal failing run: 2 steps (20 as found), 9 runs tried
              tester        system
           1  │── ?A(n: 1) ─────▶│
      ✗    2  │◀─────────── !X ──│
        2 runs failed like this
    </failure>
    </testcase>
    <testcase name="run 4" classname="Demo" file="demo.iox" time="0.000">
    <failure message="x-in-t-u-n-1-58b7: the model does not allow !X here" type="nonconformance">
              tester        system
      ✗    1  │◀─────────── !X ──│ got
              │◀╌╌╌╌╌ !Y(n: 2) ╌╌│ expected [r2]
        in state  S  n = 1
        why not   r1: `n &gt; 1` does not hold with n = 1
    </failure>
    </testcase>
    </testsuite>
    </testsuites>
    "#);
}

#[test]
fn runs_beyond_the_limit_are_summed_up() {
    let mut told = SampleEvents::default();
    told.say(started(2000));
    for run in 0..2000 {
        let outcome = if run % 100 == 7 { RunOutcome::Inconclusive } else { RunOutcome::Pass };
        told.say(run_started(run))
            .say(SampleEvents::verdict(VerdictWord::Pass, ""))
            .say(run_finished(run, outcome, 1));
    }
    let text = written(&told.events, 5);
    assert_eq!(check(&text), [13, 0, 1, 6]);
    assert!(text.contains("name=\"1975 more runs that passed\""), "{text}");
    assert!(text.contains("name=\"15 more runs without result\""), "{text}");
    assert_eq!(check(&written(&told.events, 3000)), [2001, 0, 1, 20]);
}

#[test]
fn a_campaign_that_died_is_an_error() {
    let mut events = failing();
    events.pop();
    assert_eq!(check(&written(&events, MAX_LISTED)), [7, 3, 2, 1]);
    assert_eq!(check(&written(&[], MAX_LISTED)), [1, 0, 1, 0]);
}

#[test]
fn a_campaign_that_goes_on_is_no_document_yet() {
    let mut events = failing();
    events.pop();
    let mut out = Cursor::new(Vec::new());
    let mut junit = JunitReport::new(&mut out);
    events.iter().for_each(|event| junit.event(event).unwrap());
    drop(junit);
    Document::parse(&String::from_utf8(out.into_inner()).unwrap()).unwrap_err();
}

#[test]
fn it_begins_where_the_writer_stands() {
    let mut out = Cursor::new(b"before".to_vec());
    out.set_position(6);
    let mut junit = JunitReport::new(&mut out);
    failing().iter().for_each(|event| junit.event(event).unwrap());
    let text = String::from_utf8(out.into_inner()).unwrap();
    check(text.strip_prefix("before").unwrap());
}

proptest! {
    #[test]
    fn whatever_is_said_the_document_is_well_formed(evil in any::<String>(), goal in any::<String>()) {
        let mut told = SampleEvents::default();
        let EventKind::CampaignStarted(mut begin) = started(2) else { unreachable!("the beginning") };
        (begin.model, begin.sut, begin.file) = (evil.clone(), evil.clone(), evil.clone());
        told.say(EventKind::CampaignStarted(begin));
        let connections = Vec::new();
        let goal = RunStarted { run: 0, seed: 1, goal, tolerance: None, unconfirmed: false, connections };
        told.say(EventKind::RunStarted(goal)).say(seen(1, label(&evil))).say(SampleEvents::fail(&evil));
        told.say(run_finished(0, RunOutcome::Fail, 1)).say(run_started(1));
        told.say(EventKind::Trouble(ioxide_record::event::SystemTrouble { error: evil.clone(), last_words: evil }));
        told.say(run_finished(1, RunOutcome::Error, 0));
        prop_assert_eq!(check(&written(&told.events, MAX_LISTED)), [3, 1, 2, 0]);
    }

    /// The outcomes of the events, counted by hand, are the totals.
    #[test]
    fn totals_are_those_of_the_events((events, outcomes) in any_campaign()) {
        let n = |wanted: &[RunOutcome]| outcomes.iter().filter(|outcome| wanted.contains(outcome)).count();
        let expected = [
            outcomes.len(),
            n(&[RunOutcome::Fail]),
            n(&[RunOutcome::Error]),
            n(&[RunOutcome::Inconclusive, RunOutcome::Interrupted]),
        ];
        prop_assert_eq!(check(&written(&events, MAX_LISTED)), expected);
    }
}
