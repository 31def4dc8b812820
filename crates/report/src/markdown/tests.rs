use ioxide_record::event::RunOutcome;
use proptest::prelude::*;

use super::*;
use crate::summary::samples::{
    SampleEvents, any_campaign, failing, label, run_finished, run_started, seen, started,
};

fn written(events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut markdown = MarkdownReport::new(&mut out, "runs");
    events.iter().for_each(|event| markdown.event(event).unwrap());
    markdown.finish().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_failing_campaign_on_one_page() {
    insta::assert_snapshot!(written(&failing()), @r"
    ## ❌ `Demo`: 3 of 6 runs failed

    `stdio:./it's a system` tested against `demo.iox`; `random tester`, seed 7.

    | outcome | runs |
    | --- | ---: |
    | passed | 1 |
    | failed | 3 |
    | inconclusive | 1 |
    | without verdict | 1 |

    24 steps in 7.2 s, 3 a second.

    ### Failures

    **`x-in-s-2da6`**: 2 runs, first run 2. Repeated, it failed again 3 of 3 times.

    <details><summary>Failing run: 20 steps; minimal: 2</summary>

    ```text
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
        why not   r1: `n > 1` does not hold with n = 1
        repeated  failed again 3 of 3 times
        minimal failing run: 2 steps (20 as found), 9 runs tried
              tester        system
           1  │── ?A(n: 1) ─────▶│
      ✗    2  │◀─────────── !X ──│
    ```

    </details>

    ```sh
    ioxide replay runs --number 2 --smallest --sut 'stdio:./it'\''s a system'
    ```

    **`x-in-t-u-n-1-58b7`**: 1 run, first run 4.

    <details><summary>Failing run: 1 step</summary>

    ```text
              tester        system
      ✗    1  │◀─────────── !X ──│ got
              │◀╌╌╌╌╌ !Y(n: 2) ╌╌│ expected [r2]
        in state  S  n = 1
        why not   r1: `n > 1` does not hold with n = 1
    ```

    </details>

    ```sh
    ioxide replay runs --number 4 --sut 'stdio:./it'\''s a system'
    ```

    ### Without verdict

    | reason | runs |
    | --- | ---: |
    | `the system ended` | 1 |

    ### Inconclusive

    | reason | runs |
    | --- | ---: |
    | `out of reach` | 1 |

    ### Transitions

    1 of 3 covered, 1 possibly covered; never: `r3`.

    | measure | seen | not seen |
    | --- | ---: | --- |
    | transitions | 2 of 3 | `r3` |
    | pairs | 3 of 7 | `r1 then r3`, `r3 then <T> \| r1` and 2 more |
    | values | 4 |  |

    ### Inputs

    | input | sent | distinct values | values |
    | --- | ---: | ---: | --- |
    | `A.n` | 20 | 19 | `1 to 19` |

    ### Response times

    | message | count | median | p99 | max |
    | --- | ---: | ---: | ---: | ---: |
    | `!X` | 3 | 1.2 ms | 9.0 ms | 12.3 ms |

    Silence: assumed after 100 ms; 40 ms would be enough for these 3 replies, the slowest of which took 12.3 ms.
    ");
}

#[test]
fn a_campaign_that_died_says_so() {
    let mut told = SampleEvents::default();
    told.say(started(3)).say(run_started(0)).say(run_finished(0, RunOutcome::Pass, 0)).say(run_started(1));
    let text = written(&told.events);
    assert!(text.contains("broken off") && text.contains("| not ended | 1 |"), "{text}");
}

#[test]
fn nothing_said_breaks_out_of_its_place() {
    let evil = "</details><script>`|` ```\n# heading\n| a | b |";
    let mut told = SampleEvents::default();
    told.say(started(1)).say(run_started(0)).say(seen(1, label(evil))).say(SampleEvents::fail(evil));
    told.say(run_finished(0, RunOutcome::Fail, 1));
    let text = written(&told.events);
    let code_spans_and_blocks_away: String = outside_of_code(&text);
    assert!(!code_spans_and_blocks_away.contains("script"), "{text}");
    assert_eq!(code_spans_and_blocks_away.matches("</details>").count(), 1, "{text}");
}

/// Returns the text that a reader of Markdown takes for markup: everything but code blocks and spans (CommonMark 4.5
/// and 6.1).
fn outside_of_code(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if line == *open => fence = None,
            Some(_) => (),
            None if ticks.len() >= 3 && !line[ticks.len()..].contains('`') => fence = Some(ticks),
            None => out.push_str(&without_spans(line)),
        }
    }
    out
}

fn without_spans(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let n = rest[at..].chars().take_while(|&c| c == '`').count();
        let inner = &rest[at + n..];
        let mut end = None;
        let mut from = 0;
        while let Some(next) = inner[from..].find('`').map(|next| from + next) {
            let m = inner[next..].chars().take_while(|&c| c == '`').count();
            if m == n {
                end = Some(next + m);
                break;
            }
            from = next + m;
        }
        match end {
            Some(end) => rest = &inner[end..],
            None => {
                out.push_str(&rest[at..at + n]);
                rest = inner;
            }
        }
    }
    out + rest
}

proptest! {
    #[test]
    fn no_text_is_taken_for_markup(noise in "[`|\\\\<a \n]{0,12}") {
        let evil = format!("{noise}MARK{noise}");
        let mut told = SampleEvents::default();
        told.say(started(1)).say(run_started(0)).say(seen(1, label(&evil))).say(SampleEvents::fail(&evil));
        told.say(run_finished(0, RunOutcome::Fail, 1));
        let text = written(&told.events);
        prop_assert!(text.contains("MARK"));
        prop_assert!(!outside_of_code(&text).contains("MARK"), "{}", text);
    }

    /// The outcomes of the events, counted by hand, are those of the table.
    #[test]
    fn the_table_counts_the_events((events, outcomes) in any_campaign()) {
        let text = written(&events);
        let words = [
            (RunOutcome::Pass, "passed"),
            (RunOutcome::Fail, "failed"),
            (RunOutcome::Inconclusive, "inconclusive"),
            (RunOutcome::Error, "without verdict"),
            (RunOutcome::Interrupted, "interrupted"),
        ];
        for (outcome, word) in words {
            let n = outcomes.iter().filter(|&&other| other == outcome).count();
            prop_assert_eq!(text.contains(&format!("| {word} | {n} |\n")), n > 0, "{} {}", word, text);
        }
    }
}
