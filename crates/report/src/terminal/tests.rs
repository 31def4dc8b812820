use ioxide_model::verdict::Verdict;
use ioxide_record::event::{
    FindingRecord, LagRecord, PatienceRecord, SystemTrouble, TimeSpentRecord, UnmadeRecord, VerdictRecord,
};

use super::*;
use crate::summary::samples::{
    SampleEvents, failing, finished, label, out, run_finished, run_started, seen, sent, started,
};

/// Returns the text that the terminal shows for these events.
fn shown(events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut terminal = TerminalReporter::new(&mut out, |_: &str| ());
    events.iter().for_each(|event| terminal.event(event).unwrap());
    terminal.finish().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_system_that_broke_has_no_verdict_and_its_last_words() {
    let trouble = SystemTrouble {
        error: "the system ended: signal 11".into(),
        last_words: "one\n\u{1b}[2Jtwo\n".into(),
    };
    let mut told = SampleEvents::default();
    told.say(run_started(0)).say(EventKind::Trouble(trouble)).say(run_finished(0, RunOutcome::Error, 3));
    insta::assert_snapshot!(shown(&told.events), @r"
    run 1: ERROR, no verdict: the system ended: signal 11
        printed   one
        printed   \u{1b}[2Jtwo
    1 run: 1 without verdict; 0 steps
    the record ends before the campaign did; these figures cover the recorded part
    ");
}

#[test]
fn an_inconclusive_run_says_why() {
    let verdict = VerdictRecord::new(Verdict::Inconclusive, "the purpose went out of reach".into());
    let mut told = SampleEvents::default();
    told.say(run_started(0)).say(EventKind::Verdict(verdict)).say(run_finished(
        0,
        RunOutcome::Inconclusive,
        3,
    ));
    insta::assert_snapshot!(shown(&told.events), @r"
    run 1: inconclusive after 3 steps (the purpose went out of reach)
    1 run: 1 inconclusive; 0 steps
    the record ends before the campaign did; these figures cover the recorded part
    ");
}

#[test]
fn many_inconclusive_runs_have_one_line() {
    let mut told = SampleEvents::default();
    told.say(started(40));
    for run in 0..40 {
        let reason =
            if run % 4 == 0 { "the solver gave up".to_owned() } else { format!("!at({run}) is not `l`") };
        let verdict = VerdictRecord::new(Verdict::Inconclusive, reason);
        told.say(run_started(run)).say(EventKind::Verdict(verdict));
        told.say(run_finished(run, RunOutcome::Inconclusive, 2));
    }
    let text = shown(&told.events);
    assert_eq!(text.lines().filter(|line| line.contains("inconclusive after")).count(), 3, "{text}");
    assert!(text.contains("inconclusive: 40 runs (10 of them): the solver gave up"), "{text}");
}

#[test]
fn a_flaky_failure_is_called_flaky() {
    let mut told = SampleEvents::default();
    told.say(EventKind::Replayed(Replayed {
        run: 0,
        reproduced: 1,
        of: 3,
        unmade: None,
        instead: None,
        only_after_reset: false,
    }));
    insta::assert_snapshot!(shown(&told.events), @r"
        repeated  failed again 1 of 3 times; the failure is flaky
    0 runs: none finished; 0 steps
    the record ends before the campaign did; these figures cover the recorded part
    ");
}

#[test]
fn repetitions_that_could_not_be_made_are_told_apart_from_those_that_did_not_fail() {
    let unmade = UnmadeRecord { wanted: 3, reason: "no `ready` from the system within 800 ms".into() };
    let line = |reproduced, of| {
        lines::replay_line(&Replayed {
            run: 0,
            reproduced,
            of,
            unmade: Some(unmade.clone()),
            instead: None,
            only_after_reset: false,
        })
    };
    let why = "of 3 repetitions could not be made: no `ready` from the system within 800 ms";
    assert_eq!(line(1, 1), format!("repeated  failed again 1 of 1 times; 2 {why}"));
    let nothing = "repeated  it could not be repeated, so it was not made smaller";
    assert_eq!(line(0, 0), format!("{nothing}; 3 {why}"));
}

#[test]
fn a_busy_machine_and_a_cold_system_are_told_in_the_summary() {
    let late = |first_reply, took_ms| PatienceRecord {
        label: "!X".into(),
        took_ms,
        from_ms: 100,
        to_ms: if first_reply { 100 } else { 2 * took_ms },
        not_silent: Vec::new(),
        first_reply,
    };
    let EventKind::CampaignFinished(mut end) = finished(1, 0) else { panic!("it is the end") };
    end.machine_lag = Some(LagRecord { waits_ms: 340, tolerance_ms: 0 });
    end.time_spent = Some(TimeSpentRecord {
        elapsed_ms: 30_040,
        replies_ms: 12_300,
        silence_ms: 3_600,
        restarts_ms: 10_500,
        tester_ms: 3_600,
        ..TimeSpentRecord::default()
    });
    let mut told = SampleEvents::default();
    told.say(EventKind::Patience(late(true, 3_500))).say(EventKind::Patience(late(true, 20)));
    told.say(EventKind::Patience(late(false, 130))).say(EventKind::CampaignFinished(end));
    let text = shown(&told.events);
    for line in [
        "the first reply after a start took up to 3500 ms (!X); ioxide waits for it up to `limit_ms`\n",
        "this machine was busy: ioxide waited up to 340 ms longer\n",
        "30.0 s: 41 % replies, 12 % silence, 35 % restarts, 12 % tester; 0 steps\n",
        "late: 1 message arrived after silence was assumed; the slowest, !X, took 130 ms. ioxide then waited \
         up to 260 ms.\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_failing_campaign_tells_each_kind_once() {
    insta::assert_snapshot!(shown(&failing()), @r"
    testing `Demo` against stdio:./it's a system (random tester, 6 runs, seed 7)
    run 2: FAIL at step 20
        repeated  failed again 3 of 3 times
        minimal failing run: 2 steps (20 as found), 9 runs tried
              tester        system
           1  │── ?A(n: 1) ─────▶│
      ✗    2  │◀─────────── !X ──│
        in state  S  n = 1
        why not   r1: `n > 1` does not hold with n = 1
        id        x-in-s-2da6
    run 3: FAIL as in run 2
    run 4: FAIL at step 1
              tester        system
      ✗    1  │◀─────────── !X ──│ got
              │◀╌╌╌╌╌ !Y(n: 2) ╌╌│ expected [r2]
        in state  S  n = 1
        why not   r1: `n > 1` does not hold with n = 1
        id        x-in-t-u-n-1-58b7
    run 5: ERROR, no verdict: the system ended
        printed   bye
    run 6: inconclusive after 0 steps (out of reach)
    6 runs: 1 passed, 3 failed, 1 inconclusive, 1 without verdict; 24 steps in 7 s, 3 a second
    failures: 2 kinds
      x-in-s-2da6: 2 runs, first run 2
      x-in-t-u-n-1-58b7: 1 run, first run 4
    transitions: 1 of 3 covered, 1 possibly covered; never taken: r3
    inputs:
      A.n  20 sent, 19 distinct: 1 to 19
    other coverage (infeasible items excluded):
      pairs        3 of 7; missing: r1 then r3, r3 then <T> | r1 and 2 more
      values       4
      longest run: 20 steps; n 0 to 3
      estimated chance that the next step covers a new pair: 2.1 %
    response times (median, p99, max):
      !X  1.2 ms, 9.0 ms, 12.3 ms (3 messages)
    silence: assumed after 100 ms; 40 ms would be enough for these 3 replies, the slowest of which took 12.3 ms
    ");
}

/// Steps per second are those of testing: repeating and shrinking takes time, but makes no steps.
#[test]
fn the_time_of_repeating_a_failure_is_not_counted_as_testing() {
    let closing = |repeats_ms: u64, jobs: u64| {
        let EventKind::CampaignStarted(mut start) = started(1) else { panic!("it is the start") };
        start.jobs = jobs;
        let EventKind::CampaignFinished(mut end) = finished(0, 1) else { panic!("it is the end") };
        end.time_spent = Some(TimeSpentRecord { repeats_ms, ..TimeSpentRecord::default() });
        let mut told = SampleEvents::default();
        told.say(EventKind::CampaignStarted(start)).say(run_started(0)).say(sent(1, "A"));
        told.say(SampleEvents::fail("!X in S")).say(run_finished(0, RunOutcome::Fail, 1));
        told.time_ns = 32_000_000_000;
        told.say(EventKind::CampaignFinished(end));
        let text = shown(&told.events);
        text.lines().find(|line| line.starts_with("1 run:")).unwrap_or_default().to_owned()
    };
    assert_eq!(closing(31_600, 1), "1 run: 1 failed; 1 step in 0.4 s; 32 s to repeat and shrink the failure");
    assert_eq!(
        closing(12_000, 1),
        "1 run: 1 failed; 1 step in 20 s, 0 a second; 12 s to repeat and shrink the failure"
    );
    assert_eq!(closing(0, 1), "1 run: 1 failed; 1 step in 32 s, 0 a second");
    assert_eq!(closing(31_600, 2), "1 run: 1 failed; 1 step in 32 s, 0 a second");
}

/// A timed failure is shown by its smallest run, as any other; the finding names the times of the run as found.
#[test]
fn the_smallest_run_of_a_timed_failure_takes_the_place_of_the_run_as_found() {
    let with_finding = |event: Event| match event.event {
        EventKind::Verdict(verdict) => {
            let finding = FindingRecord {
                word: "FAIL_out".into(),
                rule: String::new(),
                state: "S".into(),
                event: "after 2 s !X".into(),
                because: Some("c <= 1".into()),
            };
            let verdict = VerdictRecord { finding: Some(finding), ..verdict };
            Event { event: EventKind::Verdict(verdict), ..event }
        }
        other => Event { event: other, ..event },
    };
    let events: Vec<Event> = failing().into_iter().map(with_finding).collect();
    let text = shown(&events);
    let story: Vec<&str> = text.lines().skip(1).take(8).collect();
    assert_eq!(
        story,
        [
            "run 2: FAIL at step 20",
            "    repeated  failed again 3 of 3 times",
            "    minimal failing run: 2 steps (20 as found), 9 runs tried",
            "          tester        system",
            "       1  │── ?A(n: 1) ─────▶│",
            "  ✗    2  │◀─────────── !X ──│",
            "    verdict   FAIL_out at S: after 2 s !X, `c <= 1` (a forbidden message), in the run as found",
            "    in state  S  n = 1",
        ]
    );
}

#[test]
fn runs_that_go_on_at_once_keep_their_steps_apart() {
    let mut told = SampleEvents::default();
    told.say(started(2)).at(0, run_started(0)).at(1, run_started(1));
    told.at(1, sent(1, "B")).at(0, sent(1, "A")).at(1, seen(2, out("X"))).at(0, seen(2, out("Y")));
    told.at(1, SampleEvents::fail("!X in S")).at(1, run_finished(1, RunOutcome::Fail, 2));
    told.at(0, SampleEvents::fail("!X in S")).at(0, run_finished(0, RunOutcome::Fail, 2));
    told.at(
        1,
        EventKind::Replayed(Replayed {
            run: 1,
            reproduced: 3,
            of: 3,
            unmade: None,
            instead: None,
            only_after_reset: false,
        }),
    );
    told.say(finished(0, 2));
    insta::assert_snapshot!(shown(&told.events), @r"
    testing `Demo` against stdio:./it's a system (random tester, 2 runs, seed 7)
    run 2: FAIL at step 2
    run 1: FAIL as in run 2
    run 2: the run as found
              tester        system
           1  │── ?B(n: 1) ─────▶│
      ✗    2  │◀─────────── !X ──│ got
              │◀╌╌╌╌╌ !Y(n: 2) ╌╌│ expected [r2]
        in state  S  n = 1
        why not   r1: `n > 1` does not hold with n = 1
    run 2: repeated  failed again 3 of 3 times
        id        x-in-s-2da6
    2 runs: 2 failed; 4 steps
    failures: 1 kind
      x-in-s-2da6: 2 runs, first run 2
    transitions: 1 of 3 covered, 1 possibly covered; never taken: r3
    inputs:
      A.n  1 sent, 1 distinct: always 1
      B.n  1 sent, 1 distinct: always 1
    other coverage (infeasible items excluded):
      pairs        3 of 7; missing: r1 then r3, r3 then <T> | r1 and 2 more
      values       4
      longest run: 20 steps; n 0 to 3
      estimated chance that the next step covers a new pair: 2.1 %
    response times (median, p99, max):
      !X  1.2 ms, 9.0 ms, 12.3 ms (3 messages)
    silence: assumed after 100 ms; 40 ms would be enough for these 3 replies, the slowest of which took 12.3 ms
    ");
}

#[test]
fn of_a_million_failures_of_one_kind_few_are_shown() {
    let mut told = SampleEvents::default();
    told.say(started(500));
    for run in 0..500 {
        told.say(run_started(run)).say(SampleEvents::fail("!X in S")).say(run_finished(
            run,
            RunOutcome::Fail,
            0,
        ));
    }
    let text = shown(&told.events);
    assert_eq!(text.lines().filter(|line| line.contains("as in run 1")).count() as u64, MAX_REPEATS);
    assert!(
        text.contains("more of these are only counted") && text.contains(": 500 runs, first run 1"),
        "{text}"
    );
}

#[test]
fn nothing_a_system_says_drives_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{202e}\r\n".repeat(10_000);
    let mut told = SampleEvents::default();
    told.say(started(1)).say(run_started(0)).say(seen(1, label(&evil))).say(SampleEvents::fail(&evil));
    told.say(run_finished(0, RunOutcome::Fail, 1)).say(run_started(1));
    told.say(EventKind::Trouble(SystemTrouble { error: evil.clone(), last_words: evil })).say(run_finished(
        1,
        RunOutcome::Error,
        0,
    ));
    let text = shown(&told.events);
    assert!(!text.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{text:?}");
    assert!(text.len() < 20_000, "{}", text.len());
}

#[test]
fn the_time_that_shrinking_may_take_is_shown() {
    let mut lines = Vec::new();
    let mut terminal = TerminalReporter::new(Vec::new(), |line: &str| lines.push(line.to_owned()));
    let start = ShrinkingRecord { run: 2, attempts: 0, steps: 119, limit_s: Some(30), left_s: Some(30) };
    terminal.shrinking(&start);
    terminal.shrinking(&ShrinkingRecord { limit_s: None, left_s: None, attempts: 1, ..start });
    drop(terminal);
    insta::assert_snapshot!(lines.join("\n"), @r"
    shrinking run 3 (for 30 s at most): 119 steps now, 0 runs tried, 30 s left
    shrinking run 3: 119 steps now, 1 run tried
    ");
}

#[test]
fn progress_tells_how_far_how_fast_and_how_long_still() {
    let mut lines = Vec::new();
    let mut terminal = TerminalReporter::new(Vec::new(), |line: &str| lines.push(line.to_owned()));
    let mut told = SampleEvents::default();
    told.say(started(4)).say(run_started(0)).say(sent(1, "A"));
    told.time_ns = 50_000_000;
    told.say(sent(2, "A"));
    told.time_ns = 2_000_000_000;
    told.say(run_finished(0, RunOutcome::Pass, 2)).say(run_started(1)).say(sent(1, "B"));
    told.time_ns = 4_000_000_000;
    told.say(sent(2, "B")).say(SampleEvents::fail("!X in S")).say(run_finished(1, RunOutcome::Fail, 2));
    told.events.iter().for_each(|event| terminal.event(event).unwrap());
    drop(terminal);
    insta::assert_snapshot!(lines.join("\n"), @r"
    0 of 4 runs, 1 step, 1 of 3 transitions
    1 of 4 runs, 3 steps (1/s), 1 of 3 transitions, about 6 s left
    1 of 4 runs, 4 steps (1/s), 1 of 3 transitions, 2 possible states, about 12 s left
    ");
}
