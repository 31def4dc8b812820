//! Tests of `draft`.

use ioxide_learn::draft::{MAX_NAME, OwedAnswers};

/// Defect: the state of the preamble is written first, and another state got its name then.
#[test]
fn states_that_were_taken_keep_their_names() {
    let mut owed = OwedAnswers::default();
    let mut state_for = |answer: &str| {
        let name = owed.state_for(&[answer.to_owned()], "idle");
        owed.take_state(&name);
        name
    };
    let long = "a".repeat(MAX_NAME + 1);
    let names = [
        state_for("hello when n == 1"),
        state_for("hello when n == 2"),
        state_for(&long),
        state_for(&format!("{long} when n == 1")),
    ];
    assert_eq!(names, ["owes_hello_to_idle", "owes_1", "owes_2", "owes_3"]);
    assert_eq!(state_for("hello when n == 1"), "owes_hello_to_idle", "the same answer has the same state");
}
