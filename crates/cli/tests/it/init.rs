//! `ioxide init`: what it writes works as it stands, and the planted bug is found.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use ioxide_test_support::has_program;

use crate::program::command_in;

fn ioxide(folder: &Path, args: &[&str]) -> Output {
    // The stub is built where it lies, whatever the target directory of these tests is.
    command_in(folder, args).env_remove("CARGO_TARGET_DIR").output().expect("the program runs")
}

#[track_caller]
fn code(output: &Output, expected: i32) {
    assert_eq!(output.status.code(), Some(expected), "{output:?}");
}

/// Everything a new project with this adapter promises.
fn check(adapter: &str) {
    let folder = TempDir::new().expect("a folder");
    code(&ioxide(folder.path(), &["init", "--adapter", adapter]), 0);
    code(&ioxide(folder.path(), &["check", "--deep", "--deny-warnings", "login.iox"]), 0);
    code(&ioxide(folder.path(), &["fmt", "--check", "login.iox"]), 0);
    let test = |sut| {
        ioxide(folder.path(), &["test", "login.iox", "--sut", sut, "--seed", "1", "--steps", "200", "--json"])
    };
    let green = test("login");
    code(&green, 0);
    let result: serde_json::Value = serde_json::from_slice(&green.stdout).expect("JSON");
    assert_eq!((&result["failed"], &result["errors"]), (&0.into(), &0.into()), "{result}");
    let red = test("buggy");
    code(&red, 1);
    // The project file says what is tested.
    code(&ioxide(folder.path(), &["test", "--seed", "1", "--steps", "200"]), 0);
    code(&ioxide(folder.path(), &["test", "--seed", "1", "--steps", "200", "--sut", "buggy"]), 1);
    if adapter != "none" {
        // A server without an adapter cannot say which messages it has.
        code(&ioxide(folder.path(), &["adapter", "check", "login", "--model", "login.iox"]), 0);
    }
}

#[test]
fn a_python_project_is_green_and_its_bug_red() {
    if has_program("python3") {
        check("python");
    }
}

#[test]
fn a_rust_project_is_green_and_its_bug_red() {
    if has_program("cargo") {
        check("rust");
    }
}

#[test]
fn projects_of_servers_are_green_and_their_bugs_red() {
    if has_program("python3") {
        ["http", "line", "binary"].into_iter().for_each(check);
    }
}

#[test]
fn a_node_project_is_green_and_its_bug_red() {
    if has_program("node") {
        check("node");
    }
}

/// In a terminal the kind of the system is asked for, until an answer is one.
#[test]
fn the_kind_of_the_system_is_asked_for_in_a_terminal() {
    if !has_program("script") {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut child = std::process::Command::new("script")
        .args(["-qec", &format!("{} new shop", crate::program::PROGRAM), "/dev/null"])
        .current_dir(folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("script runs");
    child.stdin.take().expect("a pipe").write_all(b"cobol\n2\n").expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("What do you want to test?") && text.contains("`cobol` is none of them"), "{text}");
    let project = fs::read_to_string(folder.path().join("shop/ioxide.toml")).expect("a project file");
    assert!(project.contains("kind = \"text\""), "{project}\n{text}");
}

#[test]
fn a_project_without_adapter_is_green_and_its_bug_red() {
    check("none");
    let folder = TempDir::new().expect("a folder");
    code(&ioxide(folder.path(), &["init", "--adapter", "none"]), 0);
    code(&ioxide(folder.path(), &["fmt", "--check", "buggy.iox"]), 0);
    code(&ioxide(folder.path(), &["conform", "buggy.iox", "login.iox"]), 1);
}

#[test]
fn nothing_is_overwritten() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("mine")).expect("a folder");
    fs::write(folder.path().join("mine/ioxide.toml"), "# mine\n").expect("a file");
    let output = ioxide(folder.path(), &["init", "mine"]);
    code(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("mine/ioxide.toml"), "{output:?}");
    let left: Vec<_> = fs::read_dir(folder.path().join("mine")).expect("a folder").collect();
    assert_eq!(left.len(), 1, "only the file that was there: {left:?}");
    assert_eq!(fs::read_to_string(folder.path().join("mine/ioxide.toml")).expect("a file"), "# mine\n");
}

#[test]
fn a_directory_that_cannot_be_made_is_told() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("file"), "").expect("a file");
    let output = ioxide(folder.path(), &["init", "file/inside"]);
    code(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{output:?}");
}
