use ioxide_record::event::{LabelKind, LabelRecord, RunFinished};

use super::*;

fn event(run: Option<u64>, event: EventKind) -> Event {
    Event { seq: 0, time_ns: 0, run, event }
}

fn started(run: u64) -> EventKind {
    EventKind::RunStarted(RunStarted {
        run,
        seed: run,
        goal: String::new(),
        tolerance: None,
        unconfirmed: false,
        connections: Vec::new(),
    })
}

fn step(text: &str) -> EventKind {
    let label = LabelRecord {
        kind: LabelKind::Output,
        label: "o".into(),
        args: Default::default(),
        text: text.into(),
        delay_ns: None,
        raw: None,
        way: None,
        part: None,
    };
    EventKind::Observation(StepRecord { step: 1, label, belief: Some(1), switches: Vec::new() })
}

fn finished(run: u64, outcome: RunOutcome) -> EventKind {
    EventKind::RunFinished(RunFinished {
        run,
        outcome,
        steps: 1,
        doubts: 0,
        machine_lag: None,
        thinned: None,
        taken: None,
    })
}

#[test]
fn runs_that_go_on_at_once_are_told_apart() {
    let events = [
        event(Some(0), started(0)),
        event(Some(1), started(1)),
        event(Some(1), step("b")),
        event(Some(0), step("a")),
        event(Some(1), finished(1, RunOutcome::Fail)),
        event(Some(0), finished(0, RunOutcome::Pass)),
    ];
    let recording = Recording::from_events("r", &events);
    let texts: Vec<_> =
        recording.runs.iter().map(|run| (run.steps[0].label.text.as_str(), run.outcome)).collect();
    assert_eq!(texts, [("a", Some(RunOutcome::Pass)), ("b", Some(RunOutcome::Fail))]);
}

#[test]
fn a_run_that_broke_off_is_kept_as_far_as_it_went() {
    let events = [event(None, started(0)), event(None, step("a")), event(None, step("b"))];
    let recording = Recording::from_events("r", &events);
    assert_eq!((recording.runs[0].steps.len(), recording.runs[0].outcome), (2, None));
    assert!(!recording.is_cut);
}

#[test]
fn a_record_that_talks_too_much_is_cut_and_says_so() {
    let long = "x".repeat(MAX_TEXT / 4 + 1);
    let mut events = vec![event(None, started(0))];
    events.extend((0..6).map(|_| event(None, step(&long))));
    let recording = Recording::from_events("r", &events);
    assert_eq!(recording.runs[0].steps.len(), 4);
    assert!(recording.is_cut);
}

#[test]
fn live_runs_join_at_the_end() {
    let records = Records::new(vec![Recording::default()]);
    let record = records.begin_record("live".into());
    let run = RecordedRun::new(RunStarted {
        run: 5,
        seed: 1,
        goal: String::new(),
        tolerance: None,
        unconfirmed: false,
        connections: Vec::new(),
    });
    assert_eq!(records.add_run(record, run), Some(RecordPlace { record: 1, run: 0 }));
    assert_eq!(records.get_run(RecordPlace { record: 1, run: 0 }).map(|run| run.started.run), Some(5));
    assert!(
        records.get_run(RecordPlace { record: 1, run: 1 }).is_none()
            && records.get_run(RecordPlace { record: 2, run: 0 }).is_none()
    );
}

/// The room of a run that is over is free again, that of the others is not.
#[test]
fn the_bound_holds_for_several_runs_at_once() {
    let mut collector = RunCollector::default();
    let long = "x".repeat(MAX_TEXT / 2 + 1);
    for run in 0..2 {
        assert!(collector.add_event(&event(Some(run), started(run))).is_none());
        assert!(collector.add_event(&event(Some(run), step(&long))).is_none());
    }
    assert!(collector.add_event(&event(Some(2), started(2))).is_none());
    let run = collector.add_event(&event(Some(0), finished(0, RunOutcome::Pass))).expect("it is over");
    collector.release_run(&run);
    for (text, n) in [("a", 1), (long.as_str(), 2), ("b", 2)] {
        collector.add_event(&event(Some(2), step(text)));
        assert_eq!(collector.open.last().expect("run 2").steps.len(), n, "{}", text.len());
    }
    assert!(!run.is_cut && collector.open.last().expect("run 2").is_cut);
}

#[test]
fn silence_that_is_taken_back_takes_no_room() {
    let mut collector = RunCollector::default();
    collector.add_event(&event(None, started(0)));
    collector.add_event(&event(None, step("late")));
    assert_eq!((collector.n_steps, collector.n_text), (1, 4));
    collector.retract_silences(None, &[1]);
    assert_eq!((collector.n_steps, collector.n_text), (0, 0));
}

/// A record from elsewhere may begin runs without end, or one twice.
#[test]
fn runs_that_never_end_are_broken_off() {
    let twice =
        [event(None, started(0)), event(None, step("a")), event(None, started(0)), event(None, step("b"))];
    let recording = Recording::from_events("r", &twice);
    assert_eq!(recording.runs.iter().map(|run| run.steps.len()).collect::<Vec<_>>(), [1, 1]);
    let mut collector = RunCollector::default();
    let many = 0..=MAX_OPEN as u64;
    let given_up: Vec<u64> = many
        .filter_map(|run| collector.add_event(&event(None, started(run))))
        .map(|run| run.started.run)
        .collect();
    assert_eq!((given_up, collector.open.len()), (vec![0], MAX_OPEN));
}

#[test]
fn failing_runs_are_kept_before_others() {
    let n = MAX_RUNS as u64 + 3;
    let outcome = |run| if run >= n - 2 { RunOutcome::Fail } else { RunOutcome::Pass };
    let events: Vec<Event> = (0..n)
        .flat_map(|run| [event(None, started(run)), event(None, finished(run, outcome(run)))])
        .collect();
    let recording = Recording::from_events("r", &events);
    let failing: Vec<u64> =
        recording.runs.iter().filter(|run| run.has_failed()).map(|run| run.started.run).collect();
    assert_eq!((recording.runs.len(), failing), (MAX_RUNS, vec![n - 2, n - 1]));
    assert!(recording.is_cut);
}
