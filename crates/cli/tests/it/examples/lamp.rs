//! A server with a binary protocol, tested without code: correct passes, faulty fails, its layouts are checked.

use std::path::{Path, PathBuf};

use ioxide_test_support::has_program;

use crate::program::{command_in, printed};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lamp")
}

/// Runs ioxide in `folder`, against a lamp with these flags.
fn ioxide(folder: &Path, flags: &str, args: &[&str]) -> (String, i32) {
    printed(&command_in(folder, args).env("LAMP_FLAGS", flags).output().expect("the program runs"))
}

const TEST: [&str; 12] = [
    "test", "lamp.iox", "--sut", "lamp", "--tester", "random", "--seed", "1", "--runs", "2", "--steps", "30",
];

#[test]
fn a_correct_lamp_passes_without_a_warning() {
    if has_program("python3") {
        let (text, code) = ioxide(&example(), "", &TEST);
        assert_eq!(code, 0, "{text}");
        assert!(!text.contains("warning"), "{text}");
    }
}

#[test]
fn a_lamp_that_forgets_the_end_of_its_name_fails() {
    if has_program("python3") {
        let args = [&TEST[..11], &["400", "--no-shrink"]].concat();
        let (text, code) = ioxide(&example(), "--fault", &args);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("STATE"), "{text}");
    }
}

#[test]
fn its_layouts_are_checked() {
    if has_program("python3") {
        let (text, code) = ioxide(&example(), "", &["adapter", "check", "lamp", "--model", "lamp.iox"]);
        assert_eq!(code, 0, "{text}");
        for says in [
            "input DIM",
            "!DONE",
            "!STATE(on: false, level: 0, mood: calm, name: \"\")",
            "follows the protocol",
        ] {
            assert!(text.contains(says), "should say `{says}`:\n{text}");
        }
    }
}

/// Tests with this line in place of another one of the project file; returns the output and the exit code.
fn with_line(old: &str, new: &str) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["lamp.iox", "lamp.py", "ioxide.toml"] {
        std::fs::copy(example().join(file), folder.path().join(file)).expect(file);
    }
    let path = folder.path().join("ioxide.toml");
    let project = std::fs::read_to_string(&path).expect("the project file");
    assert!(project.contains(old), "{project}");
    std::fs::write(&path, project.replacen(old, new, 1)).expect("a file");
    ioxide(folder.path(), "", &TEST)
}

#[test]
fn mistakes_in_layouts_are_told_with_their_place() {
    let (text, code) = with_line("u8 to, crc16", "u9 to, crc16");
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("ioxide.toml:15: `sut.lamp.inputs.DIM`: `u9 to` (item 4): there is no such item"),
        "{text}"
    );
    let (text, code) = with_line("u8 to, crc16", "u8 two, crc16");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("ioxide.toml:15: input `DIM`: it has no field `two`"), "{text}");
}
