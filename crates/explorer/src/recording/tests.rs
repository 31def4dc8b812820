use ioxide_runner::event::{LabelKind, LabelTold, RunFinished};

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
    let label = LabelTold {
        kind: LabelKind::Output,
        label: "o".into(),
        args: Default::default(),
        text: text.into(),
        delay_ns: None,
        raw: None,
        way: None,
        part: None,
    };
    EventKind::Observation(StepTold { step: 1, label, belief: Some(1), switches: Vec::new() })
}

fn finished(run: u64, outcome: RunOutcome) -> EventKind {
    EventKind::RunFinished(RunFinished { run, outcome, steps: 1, doubts: 0 })
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
    let recording = Recording::of("r", &events);
    let texts: Vec<_> =
        recording.runs.iter().map(|run| (run.steps[0].label.text.as_str(), run.outcome)).collect();
    assert_eq!(texts, [("a", Some(RunOutcome::Pass)), ("b", Some(RunOutcome::Fail))]);
}

#[test]
fn a_run_that_broke_off_is_kept_as_far_as_it_went() {
    let events = [event(None, started(0)), event(None, step("a")), event(None, step("b"))];
    let recording = Recording::of("r", &events);
    assert_eq!((recording.runs[0].steps.len(), recording.runs[0].outcome), (2, None));
    assert!(!recording.is_cut);
}

#[test]
fn a_record_that_talks_too_much_is_cut_and_says_so() {
    let long = "x".repeat(MAX_TEXT / 4 + 1);
    let mut events = vec![event(None, started(0))];
    events.extend((0..6).map(|_| event(None, step(&long))));
    let recording = Recording::of("r", &events);
    assert_eq!(recording.runs[0].steps.len(), 4);
    assert!(recording.is_cut);
}

#[test]
fn live_runs_join_at_the_end() {
    let records = Records::new(vec![Recording::default()]);
    let record = records.begin("live".into());
    let run = RecordedRun::new(RunStarted {
        run: 5,
        seed: 1,
        goal: String::new(),
        tolerance: None,
        unconfirmed: false,
        connections: Vec::new(),
    });
    assert_eq!(records.add(record, run), Some(RecordPlace { record: 1, run: 0 }));
    assert_eq!(records.run(RecordPlace { record: 1, run: 0 }).map(|run| run.started.run), Some(5));
    assert!(
        records.run(RecordPlace { record: 1, run: 1 }).is_none()
            && records.run(RecordPlace { record: 2, run: 0 }).is_none()
    );
}
