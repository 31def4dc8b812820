//! Repairs of models that leave values open.

use crate::world::{all_texts, first_text, repairs, run};

/// The system numbers its messages as it likes.
const NOTES: &str = "model Notes {
    input send(n: 0..9)
    output sent(id: int, n: int)
    var last: int = 0
    state idle {
        take: on send { last = n } -> owes
    }
    state owes {
        say: emit sent(n: last) -> idle
    }
}
";

#[test]
fn values_that_the_model_leaves_open_do_not_speak_for_saying_nothing() {
    let wrong = NOTES.replace("sent(n: last)", "sent(n: last + 1)");
    let steps: Vec<String> = (0..12)
        .map(|at| format!("send(n: {0}); sent(id: {1}, n: {0})", (at * 7 + 3) % 10, at * 31))
        .collect();
    // Without `send`, the model would allow everything: one price for all that is seen, however many numbers
    // there are.
    let found = repairs(&wrong, &[run(&steps.join("; ")), run("send(n: 4); sent(id: 77, n: 4)")]).unwrap();
    assert_eq!(first_text(&found), NOTES, "{:?}", all_texts(&found));
    // What only says less names the input about which it says nothing, and all of them but one come last.
    let opened: Vec<Option<&str>> =
        found.proposals.iter().map(|proposal| proposal.effect.leaves_open.as_deref()).collect();
    assert_eq!(opened[0], None, "{opened:?}");
    assert!(opened.iter().flatten().all(|input| input.starts_with("?send(")), "{opened:?}");
    let texts: Vec<String> = found.proposals.iter().flat_map(|proposal| proposal.effect_lines()).collect();
    let silent = texts.iter().filter(|text| text.contains("says nothing about `?send(")).count();
    assert_eq!(silent, opened.iter().flatten().count(), "{texts:?}");
}
