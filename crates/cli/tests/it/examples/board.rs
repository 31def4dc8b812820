//! A server that speaks to two clients, one of them far away: correct passes, faulty fails, however messages cross.

use std::path::{Path, PathBuf};

use ioxide_test_support::has_program;

use crate::program::{command_in, printed};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/board")
}

/// Runs ioxide against a board with these flags.
fn ioxide(flags: &str, args: &[&str]) -> (String, i32) {
    printed(&command_in(&example(), args).env("BOARD_FLAGS", flags).output().expect("the program runs"))
}

fn test(flags: &str, more: &[&str]) -> (String, i32) {
    let args =
        ["test", "board.iox", "--sut", "board", "--tester", "random", "--solver", "none", "--seed", "1"];
    ioxide(flags, &[&args[..], more].concat())
}

#[test]
fn what_bob_hears_later_than_alice_was_sent_before() {
    if has_program("python3") {
        for flags in ["", "--slow-bob 30"] {
            let report = tempfile::tempdir().expect("a folder");
            let folder = report.path().to_str().expect("a name");
            let (text, code) = test(flags, &["--runs", "3", "--steps", "25", "--report", folder]);
            assert_eq!(code, 0, "{text}");
            assert!(!text.contains("warning"), "{text}");
            let (text, code) =
                ioxide("", &["judge", "board.iox", folder, "--number", "2", "--solver", "none"]);
            assert_eq!(code, 0, "{text}");
            let record = std::fs::read_to_string(report.path().join("campaign.jsonl")).expect("a record");
            // Nobody would need to believe two orders if nothing had crossed.
            let first = record.lines().find(|line| line.contains("\"NOTE\"") || line.contains("\"POSTED\""));
            let crossed = first.is_some_and(|line| line.contains("\"POSTED\""));
            assert!(flags.is_empty() || crossed, "{record}");
        }
    }
}

/// On a busy machine, messages that cross may come in another order when a smaller run is tried, and it is not
/// accepted: every campaign finds the failure, and one of four makes it small.
#[test]
fn a_note_from_a_muted_board_is_found_and_made_small() {
    if !has_program("python3") {
        return;
    }
    let is_made_small = (0..4).any(|_| {
        let report = tempfile::tempdir().expect("a folder");
        let folder = report.path().to_str().expect("a name");
        let more = ["--runs", "40", "--steps", "40", "--report", folder];
        let (text, code) = test("--fault --slow-bob 10", &more);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("!NOTE(n: "), "{text}");
        let (judged, code) = ioxide("", &["judge", "board.iox", folder, "--solver", "none"]);
        assert_eq!(code, 1, "{judged}");
        text.contains("minimal failing run: 5 steps")
    });
    assert!(is_made_small, "no campaign made it small");
}

#[test]
fn its_connections_are_checked() {
    if has_program("python3") {
        let (text, code) = ioxide("", &["adapter", "check", "board", "--model", "board.iox"]);
        assert_eq!(code, 0, "{text}");
        // A post is answered on one connection and told on the other: either comes first.
        for says in ["input POST", "!MUTED", "follows the protocol"] {
            assert!(text.contains(says), "`{says}` is missing in:\n{text}");
        }
    }
}
