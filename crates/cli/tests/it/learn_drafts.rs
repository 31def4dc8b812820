//! Drafts of machines: each is a model without findings that does what its machine does, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::program::{expect as says, root};

/// The size of the largest public machine that is learned by default, in bytes; `./x test --full` takes all but the
/// industrial ones, which take minutes each.
const MAX_BYTES: u64 = 4_000;

/// The same for a full run: the largest servers of the public collection.
const MAX_BYTES_OF_FULL_RUN: u64 = 40_000;

/// The machines in DOT below a folder, in order.
fn machines_below(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "dot") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Learns `machine` and compares the draft with it, both ways.
#[track_caller]
fn check_draft(folder: &TempDir, machine: &Path, extra: &str) {
    let machine = machine.display().to_string();
    let (draft, sut) = (folder.path().join("draft.iox").display().to_string(), format!("model:{machine}"));
    says(&["learn", &machine, "--sut", &sut, "--seed", "1", "--extra", extra, "--out", &draft], 0);
    let found = says(&["check", &draft], 0);
    assert!(found.contains(": ok"), "{machine}\n{found}");
    says(&["fmt", "--check", &draft], 0);
    for (one, other) in [(&draft, &machine), (&machine, &draft)] {
        let proof = says(&["conform", one, other], 0);
        assert!(proof.contains("CONFORMS"), "{machine}\n{proof}");
    }
}

/// The machines that come with ioxide; those that answer an input in several ways have no such draft.
#[test]
fn drafts_of_the_examples_are_the_machines() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["examples/fsm/handshake-v1.dot", "examples/fsm/handshake-v2.dot"] {
        check_draft(&folder, &root().join(name), "2");
    }
}

/// A message that is an input and an output of a machine has two names in the draft; `conform` knows that it is one.
#[test]
fn a_message_in_both_directions_is_one_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = folder.path().join("both.dot");
    let text = |last: &str| {
        format!(
            "digraph both {{ __start0 -> a; a -> b [label=\"HELLO / DATA\"]; a -> a [label=\"DATA / none\"]; \
             b -> b [label=\"HELLO / none\"]; b -> a [label=\"DATA / {last}\"]; }}"
        )
    };
    fs::write(&machine, text("HELLO")).expect("written");
    check_draft(&folder, &machine, "1");
    // A machine that says something else is told apart.
    fs::write(&machine, text("DATA")).expect("written");
    let draft = folder.path().join("draft.iox").display().to_string();
    let machine = machine.display().to_string();
    says(&["conform", &machine, &draft], 1);
}

/// The public machines, where they are.
#[test]
fn drafts_of_public_machines_are_the_machines() {
    let Some(data) = std::env::var_os("IOXIDE_DATA") else { return };
    let most = if ioxide_test_support::is_full_run() { MAX_BYTES_OF_FULL_RUN } else { MAX_BYTES };
    let folder = tempfile::tempdir().expect("a folder");
    let mut n_checked = 0;
    for machine in machines_below(&PathBuf::from(data).join("mealy")) {
        let size = fs::metadata(&machine).expect("a file").len();
        let is_industrial = machine.iter().any(|part| part == "industrial");
        if size <= most && !is_industrial {
            check_draft(&folder, &machine, "2");
            n_checked += 1;
        }
    }
    assert!(n_checked > 5, "only {n_checked} machines");
}
