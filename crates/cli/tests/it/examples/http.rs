//! An HTTP service, tested without code: correct passes, slow or not, faulty fails.

use std::path::{Path, PathBuf};

use ioxide_test_support::has_program;

use crate::program::{command_in, printed};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/http")
}

/// Runs ioxide in the folder of the example, against a shop with these flags.
fn ioxide(flags: &str, args: &[&str]) -> (String, i32) {
    printed(&command_in(&example(), args).env("SHOP_FLAGS", flags).output().expect("the program runs"))
}

const TEST: [&str; 11] =
    ["test", "shop.iox", "--sut", "shop", "--tester", "random", "--seed", "1", "--runs", "3", "--steps"];

#[test]
fn a_correct_service_passes() {
    if has_program("python3") {
        let (text, code) = ioxide("", &[&TEST[..], &["60"]].concat());
        assert_eq!(code, 0, "{text}");
    }
}

#[test]
fn a_faulty_service_fails() {
    if has_program("python3") {
        // The fault shows when a cup that was put back is wanted again.
        let (text, code) = ioxide("--fault", &[&TEST[..], &["300"]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("SOLD_OUT") || text.contains("ADDED"), "{text}");
    }
}

#[test]
fn a_service_slower_than_its_quiescence_time_is_waited_for() {
    if has_program("python3") {
        let args = [&TEST[..], &["8", "--silence-ms", "60"]].concat();
        let (text, code) = ioxide("--slow 400", &args);
        assert_eq!(code, 0, "{text}");
    }
}

#[test]
fn its_requests_and_answers_are_checked() {
    if has_program("python3") {
        let check = ["adapter", "check", "shop", "--model", "shop.iox"];
        let (text, code) = ioxide("", &check);
        assert_eq!(code, 0, "{text}");
        for says in [
            "?ADD(article: tea): !ADDED(left: 2)",
            "?LOOK: !BASKET(items: 0, total: 0)",
            "follows the protocol",
        ] {
            assert!(text.contains(says), "should say `{says}`:\n{text}");
        }
        let (text, code) = ioxide("", &check[..3]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("--model FILE"), "{text}");
    }
}
