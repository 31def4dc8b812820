use std::sync::atomic::{AtomicBool, Ordering};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_record::event::{LabelKind, LabelRecord, RunFinished, RunStarted};

use super::*;

/// Tells one run of steps until it is asked to stop.
struct Steps {
    stopped: AtomicBool,
    most: usize,
    may_hold: bool,
}

impl Launcher for Arc<Steps> {
    fn sut(&self) -> String {
        "steps".into()
    }

    fn testers(&self, _: &Sts) -> Vec<TesterSpec> {
        vec![TesterSpec::Cover]
    }

    fn may_hold(&self, _: &Sts) -> bool {
        self.may_hold
    }

    fn launch(&self, _: &Model, _: &CampaignRequest, reporter: &mut dyn Reporter) -> Result<(), LaunchError> {
        let mut tell = |seq: usize, event: EventKind| {
            reporter
                .event(&Event { seq: seq as u64, time_ns: 0, run: None, event })
                .map_err(|error| LaunchError(error.to_string()))
        };
        tell(
            0,
            EventKind::RunStarted(RunStarted {
                run: 0,
                seed: 1,
                goal: String::new(),
                tolerance: None,
                unconfirmed: false,
                connections: Vec::new(),
            }),
        )?;
        for step in 1..=self.most {
            if self.stopped.load(Ordering::SeqCst) {
                return Ok(());
            }
            let label = LabelRecord {
                kind: LabelKind::Input,
                label: "go".into(),
                args: Default::default(),
                text: "?go".into(),
                delay_ns: None,
                raw: None,
                way: None,
                part: None,
            };
            let switches = vec![if step % 2 == 1 { "a".into() } else { "b".into() }];
            tell(step, EventKind::Stimulus(StepRecord { step, label, belief: Some(1), switches }))?;
        }
        tell(
            0,
            EventKind::RunFinished(RunFinished {
                run: 0,
                outcome: RunOutcome::Pass,
                steps: self.most,
                doubts: 0,
                machine_lag: None,
                thinned: None,
                taken: None,
            }),
        )
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }
}

fn live(most: usize) -> Arc<LiveCampaign> {
    live_with(most, true)
}

fn live_with(most: usize, may_hold: bool) -> Arc<LiveCampaign> {
    launched_by(Box::new(Arc::new(Steps { stopped: AtomicBool::new(false), most, may_hold })))
}

fn launched_by(launcher: Box<dyn Launcher>) -> Arc<LiveCampaign> {
    LiveCampaign::new(Arc::new(model(TEXT)), Arc::new(Records::new(Vec::new())), Some(launcher))
}

const TEXT: &str = "model M { input go state s { a: on go -> t } state t { b: on go -> s c: on go -> t } }";

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    load(&sources, file, &LoadOptions::default()).model.expect("a model")
}

const WISH: CampaignRequest =
    CampaignRequest { tester: TesterSpec::Cover, runs: None, seed: None, keeps_going: false };

/// Waits until the state is as wanted; what never comes shows as a test that hangs.
fn wait(live: &LiveCampaign, wanted: impl Fn(&LiveState) -> bool) {
    let guard = live.changed.wait_while(live.lock(), |state| !wanted(state));
    drop(guard.expect("no thread panicked"));
}

#[test]
fn a_campaign_fills_in_what_was_taken() {
    let live = live(3);
    live.start(WISH).expect("starts");
    wait(&live, |state| state.phase == CampaignPhase::Over);
    let state = live.lock();
    assert_eq!(state.seen, [SwitchSeen::Taken, SwitchSeen::Taken, SwitchSeen::Never]);
    assert_eq!((state.n_steps, state.passed), (3, 1));
}

#[test]
fn a_paused_campaign_takes_no_step_until_it_goes_on() {
    let live = live(100_000_000);
    live.set_pace(Duration::from_millis(1));
    live.start(WISH).expect("starts");
    assert!(live.start(WISH).is_err(), "one at a time");
    wait(&live, |state| state.n_steps >= 2);
    live.set_paused(true);
    // The step that was under way when the pause began may still be told.
    thread::sleep(Duration::from_millis(30));
    let before = live.lock().n_steps;
    thread::sleep(Duration::from_millis(50));
    assert_eq!(live.lock().n_steps, before);
    live.set_paused(false);
    wait(&live, |state| state.n_steps > before);
    live.set_paused(true);
    live.stop();
    wait(&live, |state| state.phase == CampaignPhase::Over);
    live.wait_until_idle(Duration::ZERO);
}

#[test]
fn who_looks_is_told_once_for_every_change() {
    let live = live(1);
    let (version, _) = live.wait_for_change(None, Duration::from_secs(60)).expect("there is a state");
    assert!(live.wait_for_change(Some(version), Duration::from_millis(1)).is_none());
    live.set_pace(Duration::from_secs(1));
    assert!(
        live.wait_for_change(Some(version), Duration::from_secs(60)).is_some_and(|(next, _)| next > version)
    );
}

#[test]
fn where_time_is_judged_no_step_is_held_up() {
    let live = live_with(3, false);
    // With this pace, three steps would take longer than the test may.
    live.set_pace(MAX_PACE);
    live.start(WISH).expect("starts");
    // The run has begun, so a pause waits for its end.
    wait(&live, |state| state.n_steps > 0);
    live.set_paused(true);
    wait(&live, |state| state.n_steps == 3);
    live.set_paused(false);
    wait(&live, |state| state.phase == CampaignPhase::Over);
}

/// Whoever streams the state hears of a campaign that could not begin, and the next one may begin.
#[test]
fn a_campaign_without_a_thread_is_over_for_everybody() {
    let live = live(3);
    let mut begun = 0;
    let why = live.start_with(WISH, |_| {
        begun = live.lock().version;
        Err(io::Error::other("no more threads"))
    });
    assert!(why.is_err());
    let (version, _) = live.wait_for_change(Some(begun), Duration::from_secs(60)).expect("there is news");
    assert!(version > begun);
    assert_eq!(live.lock().phase, CampaignPhase::Over);
    assert!(!live.lock().message.is_empty());
    live.start(WISH).expect("starts");
    wait(&live, |state| state.phase == CampaignPhase::Over && state.passed == 1);
}

/// Panics as soon as it is asked for a campaign.
struct Panics;

impl Launcher for Panics {
    fn sut(&self) -> String {
        "none".into()
    }

    fn testers(&self, _: &Sts) -> Vec<TesterSpec> {
        vec![TesterSpec::Cover]
    }

    fn may_hold(&self, _: &Sts) -> bool {
        true
    }

    fn launch(&self, _: &Model, _: &CampaignRequest, _: &mut dyn Reporter) -> Result<(), LaunchError> {
        panic!("this is what the test is about")
    }

    fn stop(&self) {}
}

#[test]
fn a_campaign_that_panics_is_over() {
    let live = launched_by(Box::new(Panics));
    live.start(WISH).expect("starts");
    wait(&live, |state| state.phase == CampaignPhase::Over);
    assert_eq!(live.lock().message, "the campaign ended unexpectedly");
}

#[test]
fn a_campaign_tests_against_the_model_that_was_edited_before_it_began() {
    let live = live(3);
    live.replace_model(Arc::new(model("model M { input go state s { b: on go -> s } }")), 7);
    // Before a start there is nothing to say about the model that was edited.
    assert_eq!(live.lock().revision, 0);
    assert_eq!(live.lock().seen.len(), 3);
    live.start(WISH).expect("starts");
    wait(&live, |state| state.phase == CampaignPhase::Over);
    let state = live.lock();
    assert_eq!((state.revision, &state.seen[..]), (7, &[SwitchSeen::Taken][..]));
}
