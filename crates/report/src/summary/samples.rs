//! Campaigns made by hand, for the tests of all reports.

use ioxide_record::event::{
    Allowed, CampaignFinished, CampaignStarted, Event, EventKind, Explanation, ExtentRecord,
    FailureSignature, HistoryRecord, LabelKind, LabelRecord, LatencyRecord, MeasureRecord, Replayed,
    RunFinished, RunOutcome, RunStarted, ShrunkRecord, StateRecord, StepRecord, VerdictRecord, VerdictWord,
    WhyNot,
};
use proptest::prelude::*;
use serde_json::json;

/// Events in the making.
#[derive(Default)]
pub struct SampleEvents {
    pub events: Vec<Event>,
    pub time_ns: u64,
}

impl SampleEvents {
    pub fn say(&mut self, event: EventKind) -> &mut Self {
        self.push(None, event)
    }

    /// An event of run `run`, one of several.
    pub fn at(&mut self, run: u64, event: EventKind) -> &mut Self {
        self.push(Some(run), event)
    }

    fn push(&mut self, run: Option<u64>, event: EventKind) -> &mut Self {
        let seq = self.events.len() as u64;
        self.events.push(Event { seq, time_ns: self.time_ns, run, event });
        self
    }

    /// A verdict that all failures called `signature` share.
    pub fn fail(signature: &str) -> EventKind {
        let explanation = Explanation {
            observed: "!X".into(),
            allowed: vec![Allowed {
                label: "!Y(n: 2)".into(),
                switch: Some("r2".into()),
                differences: Vec::new(),
            }],
            states: vec![StateRecord {
                location: "S".into(),
                values: vec!["n = 1".into()],
                path: Vec::new(),
            }],
            n_states: 1,
            why_not: vec![WhyNot {
                state: 0,
                switch: "r1".into(),
                reason: "`n > 1` does not hold with n = 1".into(),
                doc: String::new(),
            }],
            orders: None,
        };
        EventKind::Verdict(VerdictRecord {
            verdict: VerdictWord::Fail,
            reason: "the model does not allow !X here".into(),
            explanation: Some(explanation),
            signature: Some(signature.into()),
            finding: None,
            last_words: String::new(),
            kind: None,
            step: None,
            unknown_from: None,
            goal_missed: false,
            exchanges: Vec::new(),
        })
    }

    pub fn verdict(verdict: VerdictWord, reason: &str) -> EventKind {
        EventKind::Verdict(VerdictRecord {
            verdict,
            reason: reason.into(),
            explanation: None,
            signature: None,
            finding: None,
            last_words: String::new(),
            kind: None,
            step: None,
            unknown_from: None,
            goal_missed: false,
            exchanges: Vec::new(),
        })
    }
}

pub fn started(runs: u64) -> EventKind {
    EventKind::CampaignStarted(CampaignStarted {
        parts: Vec::new(),
        model: "Demo".into(),
        file: "demo.iox".into(),
        set: Vec::new(),
        switches: vec!["r1".into(), "r2".into(), "r3".into()],
        tester: "random tester".into(),
        sut: "stdio:./it's a system".into(),
        seed: 7,
        runs,
        jobs: 1,
        patience_ms: 100,
        calibrated: false,
        operations: Vec::new(),
        requirements: Vec::new(),
    })
}

pub fn run_started(run: u64) -> EventKind {
    EventKind::RunStarted(RunStarted {
        run,
        seed: 70 + run,
        goal: String::new(),
        tolerance: None,
        unconfirmed: false,
        connections: Vec::new(),
    })
}

pub fn run_finished(run: u64, outcome: RunOutcome, steps: usize) -> EventKind {
    EventKind::RunFinished(RunFinished {
        run,
        outcome,
        steps,
        doubts: 0,
        machine_lag: None,
        thinned: None,
        taken: None,
    })
}

/// An input with a field.
pub fn sent(step: usize, name: &str) -> EventKind {
    EventKind::Stimulus(step_told(step, input(step, name)))
}

pub fn seen(step: usize, label: LabelRecord) -> EventKind {
    EventKind::Observation(step_told(step, label))
}

fn step_told(step: usize, label: LabelRecord) -> StepRecord {
    let switches = if step == 1 { vec!["r1".into()] } else { vec!["r1".into(), "r2".into()] };
    StepRecord { step, label, belief: Some(step), switches }
}

fn input(step: usize, name: &str) -> LabelRecord {
    let args = serde_json::Map::from_iter([("n".to_owned(), json!(step))]);
    LabelRecord {
        kind: LabelKind::Input,
        label: name.into(),
        args,
        text: format!("?{name}(n: {step})"),
        delay_ns: None,
        raw: None,
        way: None,
        part: None,
    }
}

/// An output without fields.
pub fn out(name: &str) -> LabelRecord {
    LabelRecord { text: format!("!{name}"), label: name.into(), ..label(name) }
}

/// An output that people read as `text`.
pub fn label(text: &str) -> LabelRecord {
    LabelRecord {
        kind: LabelKind::Output,
        label: text.into(),
        args: serde_json::Map::new(),
        text: text.into(),
        delay_ns: None,
        raw: None,
        way: None,
        part: None,
    }
}

fn measure(name: &str, seen: u64, total: Option<u64>, missing: &[&str]) -> MeasureRecord {
    MeasureRecord {
        measure: name.into(),
        seen,
        total,
        missing: missing.iter().map(ToString::to_string).collect(),
    }
}

pub fn finished(passed: u64, failed: u64) -> EventKind {
    EventKind::CampaignFinished(CampaignFinished {
        runs: passed + failed,
        passed,
        inconclusive: 0,
        failed,
        errors: 0,
        interrupted: false,
        covered: vec!["r1".into()],
        never: vec!["r3".into()],
        failures: vec![FailureSignature { signature: "!X in S".into(), first: 1, runs: failed }],
        latencies: vec![LatencyRecord {
            label: "!X".into(),
            n: 3,
            p50_us: 1200,
            p99_us: 9000,
            max_us: 12_345,
        }],
        suggested_patience_ms: Some(40),
        patience_ms: Some(100),
        raised_patience_ms: None,
        machine_lag: None,
        time_spent: None,
        reset_price: None,
        unknown: 0,
        refused: None,
        measures: vec![
            measure("switches", 2, Some(3), &["r3"]),
            measure("pairs", 3, Some(7), &["r1 then r3", "r3 then <T> | r1"]),
            measure("values", 4, None, &[]),
        ],
        history: HistoryRecord {
            longest_run: 20,
            extents: vec![ExtentRecord { variable: "n".into(), least: "0".into(), most: "3".into() }],
            new_pairs_per_million: Some(21_500),
        },
    })
}

/// A campaign whose run fails with its second step of four, as its smaller run does with the first of two.
pub fn failing_before_the_end() -> Vec<Event> {
    let mut told = SampleEvents::default();
    told.say(started(1)).say(run_started(0)).say(sent(1, "A")).say(seen(2, out("X"))).say(seen(3, out("Y")));
    told.say(sent(4, "B"));
    let EventKind::Verdict(verdict) = SampleEvents::fail("!X in S") else { unreachable!("it is a verdict") };
    told.say(EventKind::Verdict(VerdictRecord { step: Some(2), ..verdict }));
    told.say(run_finished(0, RunOutcome::Fail, 4));
    told.say(EventKind::Shrunk(ShrunkRecord {
        run: 0,
        trace: vec![out("X"), out("Y")],
        step: Some(1),
        from: 4,
        attempts: 3,
        minimal: true,
        early: None,
        reproduced: 5,
        of: 5,
        unconfirmed: 0,
        references: Vec::new(),
        explanation: None,
        script: None,
        signature: None,
        no_script: None,
        exchanges: Vec::new(),
    }));
    told.say(finished(0, 1));
    told.events
}

/// A campaign with everything: passed, failed twice in one way and once in another, broken, inconclusive.
pub fn failing() -> Vec<Event> {
    let mut told = SampleEvents::default();
    told.say(started(6)).say(run_started(0)).say(sent(1, "A")).say(seen(2, out("Y")));
    told.say(SampleEvents::verdict(VerdictWord::Pass, "done")).say(run_finished(0, RunOutcome::Pass, 2));
    told.time_ns = 1_500_000_000;
    told.say(run_started(1));
    for step in 1..20 {
        told.say(sent(step, "A"));
    }
    told.say(seen(20, out("X"))).say(SampleEvents::fail("!X in S")).say(run_finished(
        1,
        RunOutcome::Fail,
        20,
    ));
    told.say(EventKind::Replayed(Replayed {
        run: 1,
        reproduced: 3,
        of: 3,
        unmade: None,
        instead: None,
        only_after_reset: false,
    }));
    told.say(EventKind::Shrunk(ShrunkRecord {
        run: 1,
        trace: vec![input(1, "A"), out("X")],
        step: None,
        from: 20,
        attempts: 9,
        minimal: true,
        early: None,
        reproduced: 3,
        of: 3,
        unconfirmed: 0,
        references: Vec::new(),
        explanation: None,
        script: None,
        signature: None,
        no_script: None,
        exchanges: Vec::new(),
    }));
    told.say(run_started(2)).say(seen(1, out("X"))).say(SampleEvents::fail("!X in S")).say(run_finished(
        2,
        RunOutcome::Fail,
        1,
    ));
    told.time_ns = 7_250_000_000;
    told.say(run_started(3)).say(seen(1, out("X"))).say(SampleEvents::fail("!X in <T> & \"U\" | `n > 1`"));
    told.say(run_finished(3, RunOutcome::Fail, 1));
    let trouble =
        ioxide_record::event::SystemTrouble { error: "the system ended".into(), last_words: "bye\n".into() };
    told.say(run_started(4)).say(EventKind::Trouble(trouble)).say(run_finished(4, RunOutcome::Error, 0));
    told.say(run_started(5)).say(SampleEvents::verdict(VerdictWord::Inconclusive, "out of reach"));
    told.say(run_finished(5, RunOutcome::Inconclusive, 0));
    let EventKind::CampaignFinished(mut end) = finished(1, 3) else { unreachable!("the end") };
    (end.runs, end.errors, end.inconclusive) = (6, 1, 1);
    told.say(EventKind::CampaignFinished(end));
    told.events
}

/// A campaign of runs with any outcomes; run `n` sends only `Rn`.
pub fn any_campaign() -> impl Strategy<Value = (Vec<Event>, Vec<RunOutcome>)> {
    let outcome = prop_oneof![
        Just(RunOutcome::Pass),
        Just(RunOutcome::Fail),
        Just(RunOutcome::Inconclusive),
        Just(RunOutcome::Error),
        Just(RunOutcome::Interrupted)
    ];
    prop::collection::vec((outcome, 0_usize..5, 0_u8..3), 0..30).prop_map(|runs| {
        let mut told = SampleEvents::default();
        told.say(started(runs.len() as u64));
        for (run, &(outcome, steps, kind)) in (0..).zip(&runs) {
            told.say(run_started(run));
            for step in 1..=steps {
                told.say(sent(step, &format!("R{run}")));
            }
            if outcome == RunOutcome::Fail {
                told.say(SampleEvents::fail(&format!("kind {kind}")));
            }
            told.say(run_finished(run, outcome, steps));
        }
        let failed = runs.iter().filter(|(outcome, ..)| *outcome == RunOutcome::Fail).count() as u64;
        told.say(finished(0, failed));
        (told.events, runs.iter().map(|(outcome, ..)| *outcome).collect())
    })
}

/// The same runs, going on at once.
pub fn interleaved(events: &[Event], mut seed: u64) -> Vec<Event> {
    let mut lanes: Vec<Vec<Event>> = Vec::new();
    let (first, last) = (events.first().cloned(), events.last().cloned());
    for event in &events[1..events.len() - 1] {
        if matches!(event.event, EventKind::RunStarted(_)) {
            lanes.push(Vec::new());
        }
        let run = Some(lanes.len() as u64 - 1);
        lanes.last_mut().unwrap().push(Event { run, ..event.clone() });
    }
    let mut mixed: Vec<Event> = first.into_iter().collect();
    lanes.iter_mut().for_each(|lane| lane.reverse());
    while lanes.iter().any(|lane| !lane.is_empty()) {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = (seed >> 33) as usize % lanes.len();
        mixed.extend(lanes[at].pop());
    }
    mixed.extend(last);
    mixed
}
