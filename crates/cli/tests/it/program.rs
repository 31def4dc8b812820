//! The program under test, run as a user runs it: in a folder, without colours and progress, nobody at its terminal.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use ioxide_test_support::python_cache;
pub use ioxide_test_support::repository as root;

/// The path of the program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_ioxide");

/// The program with `args`, in the folder of the repository.
pub fn command(args: &[&str]) -> Command {
    command_in(&root(), args)
}

/// The program with `args`, in `folder`.
pub fn command_in(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    // A slow machine tells progress where a fast one has nothing to tell.
    command
        .env_remove("GITHUB_ACTIONS")
        .env("NO_COLOR", "1")
        .env("IOXIDE_PROGRESS", "off")
        .envs(python_cache());
    command
}

/// Runs the program in the folder of the repository.
pub fn run(args: &[&str]) -> Output {
    run_in(&root(), args)
}

/// Runs the program in `folder`.
pub fn run_in(folder: &Path, args: &[&str]) -> Output {
    command_in(folder, args).output().expect("the program runs")
}

/// Runs the program in the folder of the repository; returns what it prints, and its exit code.
pub fn print(args: &[&str]) -> (String, i32) {
    print_in(&root(), args)
}

/// Runs the program in `folder`; returns what it prints, and its exit code.
pub fn print_in(folder: &Path, args: &[&str]) -> (String, i32) {
    printed(&run_in(folder, args))
}

/// The stdout, stderr and exit code of a program.
pub struct Printed {
    pub out: String,
    pub err: String,
    pub code: i32,
}

/// Runs the program in the folder of the repository; returns its stdout and stderr apart.
pub fn print_apart(args: &[&str]) -> Printed {
    let Output { stdout, stderr, status } = run(args);
    Printed {
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
        code: status.code().expect("it ends by itself"),
    }
}

/// The output of a program, stdout first, and its exit code; -1 if a signal ended it.
pub fn printed(output: &Output) -> (String, i32) {
    (text(output), output.status.code().unwrap_or(-1))
}

/// The output of a program, stdout first.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs the program in the folder of the repository, which must end with `code` and print all of `words`; returns what
/// it prints.
#[track_caller]
pub fn check(args: &[&str], code: i32, words: &[&str]) -> String {
    check_in(&root(), args, code, words)
}

/// Runs the program in `folder`, which must end with `code` and print all of `words`; returns what it prints.
#[track_caller]
pub fn check_in(folder: &Path, args: &[&str], code: i32, words: &[&str]) -> String {
    let (text, found) = print_in(folder, args);
    assert_eq!(found, code, "ioxide {args:?}\n{text}");
    for word in words {
        assert!(text.contains(word), "ioxide {args:?} should say `{word}`:\n{text}");
    }
    text
}

/// Runs the program in the folder of the repository, which must end with `code`; returns what it prints.
#[track_caller]
pub fn expect(args: &[&str], code: i32) -> String {
    expect_in(&root(), args, code)
}

/// Runs the program in `folder`, which must end with `code`; returns what it prints.
#[track_caller]
pub fn expect_in(folder: &Path, args: &[&str], code: i32) -> String {
    check_in(folder, args, code, &[])
}

/// The name of a system that plays the model in `file`.
pub fn played(file: &str) -> String {
    format!("stdio:{PROGRAM} sut {file}")
}
