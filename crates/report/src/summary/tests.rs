use ioxide_record::event::VerdictRecord;
use proptest::prelude::*;

use super::samples::{SampleEvents, any_campaign, failing, run_finished, run_started, sent, started};
use super::*;

fn folded(events: &[Event]) -> Summary {
    let mut summary = Summary::default();
    events.iter().for_each(|event| summary.event(event).unwrap());
    summary
}

#[test]
fn the_figures_for_programs() {
    let text = serde_json::to_string_pretty(&folded(&failing()).to_json()).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "campaign": {
        "file": "demo.iox",
        "jobs": 1,
        "model": "Demo",
        "patience_ms": 100,
        "runs": 6,
        "seed": 7,
        "set": [],
        "sut": "stdio:./it's a system",
        "switches": 3,
        "tester": "random tester"
      },
      "doubts": 0,
      "errors": {
        "others": 0,
        "reasons": [
          {
            "reason": "the system ended",
            "runs": 1
          }
        ]
      },
      "failures": [
        {
          "explanation": {
            "allowed": [
              {
                "label": "!Y(n: 2)",
                "switch": "r2"
              }
            ],
            "n_states": 1,
            "observed": "!X",
            "states": [
              {
                "location": "S",
                "values": [
                  "n = 1"
                ]
              }
            ],
            "why_not": [
              {
                "reason": "`n > 1` does not hold with n = 1",
                "state": 0,
                "switch": "r1"
              }
            ]
          },
          "first": 2,
          "forbidden": 20,
          "goal": "",
          "id": "x-in-s-2da6",
          "last": [
            "?A(n: 9)",
            "?A(n: 10)",
            "?A(n: 11)",
            "?A(n: 12)",
            "?A(n: 13)",
            "?A(n: 14)",
            "?A(n: 15)",
            "?A(n: 16)",
            "?A(n: 17)",
            "?A(n: 18)",
            "?A(n: 19)",
            "!X"
          ],
          "reason": "the model does not allow !X here",
          "replayed": {
            "of": 3,
            "only_after_reset": false,
            "reproduced": 3
          },
          "runs": 2,
          "seed": 71,
          "shrunk": {
            "attempts": 9,
            "ended_early": null,
            "explanation": null,
            "forbidden": 2,
            "last": [
              "?A(n: 1)",
              "!X"
            ],
            "minimal": true,
            "steps": 2
          },
          "signature": "!X in S",
          "steps": 20
        },
        {
          "explanation": {
            "allowed": [
              {
                "label": "!Y(n: 2)",
                "switch": "r2"
              }
            ],
            "n_states": 1,
            "observed": "!X",
            "states": [
              {
                "location": "S",
                "values": [
                  "n = 1"
                ]
              }
            ],
            "why_not": [
              {
                "reason": "`n > 1` does not hold with n = 1",
                "state": 0,
                "switch": "r1"
              }
            ]
          },
          "first": 4,
          "forbidden": 1,
          "goal": "",
          "id": "x-in-t-u-n-1-58b7",
          "last": [
            "!X"
          ],
          "reason": "the model does not allow !X here",
          "replayed": null,
          "runs": 1,
          "seed": 73,
          "shrunk": null,
          "signature": "!X in <T> & \"U\" | `n > 1`",
          "steps": 1
        }
      ],
      "failures_unlisted": 0,
      "history": {
        "extents": [
          {
            "least": "0",
            "most": "3",
            "variable": "n"
          }
        ],
        "longest_run": 20,
        "new_pairs_per_million": 21500
      },
      "inconclusive": {
        "others": 0,
        "reasons": [
          {
            "reason": "out of reach",
            "runs": 1
          }
        ]
      },
      "is_finished": true,
      "latencies": [
        {
          "label": "!X",
          "max_us": 12345,
          "n": 3,
          "p50_us": 1200,
          "p99_us": 9000
        }
      ],
      "machine_lag": null,
      "measures": [
        {
          "measure": "switches",
          "missing": [
            "r3"
          ],
          "seen": 2,
          "total": 3
        },
        {
          "measure": "pairs",
          "missing": [
            "r1 then r3",
            "r3 then <T> | r1"
          ],
          "seen": 3,
          "total": 7
        },
        {
          "measure": "values",
          "seen": 4
        }
      ],
      "reason": null,
      "runs": {
        "cut": 0,
        "errors": 1,
        "failed": 3,
        "finished": 6,
        "inconclusive": 1,
        "interrupted": 0,
        "passed": 1
      },
      "steps": 24,
      "suggested_patience_ms": 40,
      "switches": {
        "certain": [
          "r1"
        ],
        "never": [
          "r3"
        ],
        "possible": [
          "r1",
          "r2"
        ]
      },
      "time_ns": 7250000000,
      "time_spent": null,
      "values": [
        {
          "distinct": 19,
          "field": "n",
          "frequent": [
            {
              "sent": 2,
              "value": "1"
            },
            {
              "sent": 1,
              "value": "10"
            },
            {
              "sent": 1,
              "value": "11"
            }
          ],
          "is_more": false,
          "max": "19",
          "message": "A",
          "min": "1",
          "sent": 20
        }
      ],
      "values_full": false,
      "verdict": "failed",
      "version": 1
    }
    "#);
}

#[test]
fn a_run_of_many_steps_keeps_its_last_ones() {
    let mut told = SampleEvents::default();
    told.say(started(1)).say(run_started(0));
    for step in 1..=10_000 {
        told.say(sent(step, "A"));
    }
    told.say(SampleEvents::fail("!X")).say(run_finished(0, RunOutcome::Fail, 10_000));
    let summary = folded(&told.events);
    let run = &summary.kinds[0].run;
    assert_eq!((run.steps, run.last.len(), summary.steps), (10_000, runs::LAST_STEPS, 10_000));
    assert_eq!(run.last[runs::LAST_STEPS - 1].text, "?A(n: 10000)");
}

#[test]
fn kinds_beyond_the_limit_are_counted() {
    let mut told = SampleEvents::default();
    for run in 0..2 * MAX_KINDS as u64 {
        told.say(run_started(run)).say(SampleEvents::fail(&format!("kind {run}"))).say(run_finished(
            run,
            RunOutcome::Fail,
            0,
        ));
    }
    let summary = folded(&told.events);
    assert_eq!((summary.kinds.len(), summary.unlisted), (MAX_KINDS, MAX_KINDS as u64));
}

#[test]
fn runs_that_never_end_are_given_up() {
    let mut told = SampleEvents::default();
    (0..5000).for_each(|run| {
        told.say(run_started(run));
    });
    let summary = folded(&told.events);
    assert_eq!(summary.counts.cut + summary.count_open_runs() as u64, 5000);
    assert!(summary.count_open_runs() <= 1000);
}

proptest! {
    /// The figures are the same whether the events of runs come one after the other or interleaved.
    #[test]
    fn figures_do_not_depend_on_the_order_of_runs((events, outcomes) in any_campaign(), seed in any::<u64>()) {
        let summary = folded(&events);
        prop_assert_eq!(summary.steps as usize, events.iter().filter(|event| matches!(
            event.event, EventKind::Stimulus(_) | EventKind::Observation(_))).count());
        prop_assert_eq!(summary.counts.total() + summary.counts.interrupted, outcomes.len() as u64);
        let mixed = folded(&samples::interleaved(&events, seed));
        prop_assert_eq!(mixed.counts, summary.counts);
        prop_assert_eq!(mixed.steps, summary.steps);
        prop_assert_eq!(&mixed.possible, &summary.possible);
        prop_assert_eq!(mixed.values.rows(), summary.values.rows());
        let signatures = |summary: &Summary| {
            let all = summary.kinds.iter().map(|kind| (kind.signature.clone(), kind.runs));
            all.collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(signatures(&mixed), signatures(&summary));
        for kind in &mixed.kinds {
            // Every run keeps its own steps.
            let own = format!("?R{}(", kind.run.number);
            prop_assert!(kind.run.last.iter().all(|step| step.text.starts_with(&own)));
        }
    }
}

#[test]
fn the_forbidden_step_is_marked_in_every_report_and_not_the_last_one() {
    let summary = folded(&samples::failing_before_the_end());
    let lines = lines::failure_lines(&summary.kinds[0]);
    let marked: Vec<&String> = lines.iter().filter(|line| line.contains('✗')).collect();
    assert_eq!(marked.len(), 2, "{lines:#?}");
    assert!(
        marked[0].contains("2  │◀") && marked[0].contains("!X") && marked[0].contains("got"),
        "{marked:?}"
    );
    assert!(marked[1].contains("1  │◀") && marked[1].contains("!X"), "{marked:?}");
    assert!(lines.iter().any(|line| line.contains("forbidden step 2")), "{lines:#?}");
    let json = summary.to_json();
    let failure = &json["failures"][0];
    assert_eq!((&failure["forbidden"], &failure["shrunk"]["forbidden"]), (&2.into(), &1.into()));
}

#[test]
fn a_forbidden_step_too_long_ago_to_be_drawn_is_still_named() {
    let mut told = SampleEvents::default();
    told.say(started(1)).say(run_started(0));
    for step in 1..=40 {
        told.say(sent(step, "A"));
    }
    let EventKind::Verdict(verdict) = SampleEvents::fail("!X in S") else { panic!("it is a verdict") };
    told.say(EventKind::Verdict(VerdictRecord { step: Some(3), ..verdict }));
    told.say(run_finished(0, RunOutcome::Fail, 40));
    let lines = lines::failure_lines(&folded(&told.events).kinds[0]);
    assert!(!lines.iter().any(|line| line.contains('✗')), "no innocent step is marked: {lines:#?}");
    assert!(lines.iter().any(|line| line.contains("forbidden step 3")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("observed  !X")), "{lines:#?}");
}
