//! A service tested from its OpenAPI description in two commands: correct passes, a fault in one field is found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use ioxide_test_support::{has_program, is_full_run, test_cases};

use crate::program::print_in as ioxide;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openapi").canonicalize().expect("the example")
}

/// A new project for the library of the examples, started with `flags`.
fn project(flags: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let (spec, server) = (example().join("library.yaml"), example().join("library.py"));
    let start = format!("exec python3 {} {{port}} {flags}", server.display());
    let spec = spec.display().to_string();
    let made = ioxide(folder.path(), &["init", "--openapi", &spec, "--stateless", "--start", &start]);
    assert_eq!(made.1, 0, "{}", made.0);
    folder
}

const TEST: [&str; 8] = ["test", "api.iox", "--sut", "api", "--seed", "1", "--steps", "300"];

#[test]
fn a_service_is_tested_in_two_commands() {
    if has_program("python3") {
        let folder = project("");
        for command in [&["check", "--deny-warnings", "api.iox"][..], &["fmt", "--check", "api.iox"], &TEST] {
            let (text, code) = ioxide(folder.path(), command);
            assert_eq!(code, 0, "{text}");
        }
    }
}

#[test]
fn a_fault_in_one_field_is_found() {
    if has_program("python3") {
        let folder = project("--fault year");
        // Shrinking starts the service again for every attempt: only a full run does it too.
        let shrinking: &[&str] = if is_full_run() { &[] } else { &["--no-shrink"] };
        let (text, code) = ioxide(folder.path(), &[&TEST, shrinking].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("list_books_200.body"), "{text}");
    }
}

/// Only a model with states can forbid that a book is lent twice.
#[test]
fn a_model_with_states_finds_what_schemas_cannot() {
    if has_program("python3") {
        let test = |flags: &str| {
            let args = ["test", "library.iox", "--sut", "library", "--seed", "1", "--steps", "400"];
            let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
                .args(args)
                .current_dir(example())
                .env("LIBRARY_FLAGS", flags)
                .output()
                .expect("the program runs");
            (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
        };
        let (text, code) = test("");
        assert_eq!(code, Some(0), "{text}");
        let (text, code) = test("--fault twice");
        assert_eq!(code, Some(1), "{text}");
    }
}

#[test]
fn what_is_no_description_is_told_and_nothing_is_written() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("spec.yaml"), "swagger: '1.2'\n").expect("written");
    let (text, code) = ioxide(folder.path(), &["init", "--openapi", "spec.yaml"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("the only version of Swagger that is known is 2.0"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let (text, code) = ioxide(folder.path(), &["init", "--openapi", "nowhere.yaml"]);
    assert_eq!(code, 2, "{text}");
}

/// Returns the service of this folder, tested with a variable of the environment after its model was learned.
fn test_with(folder: &TempDir, variable: &str, value: &str) -> (String, Option<i32>) {
    // A fault ends its campaign; the correct service uses up the steps.
    let steps = match (value.is_empty(), is_full_run()) {
        (true, false) => "700",
        (true, true) => "2000",
        (false, _) => "5000",
    };
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "api.iox", "--sut", "api", "--seed", "1", "--steps", steps, "--for", "60s"])
        .arg("--no-shrink")
        .current_dir(folder.path())
        .env(variable, value)
        .env("IOXIDE_PROGRESS", "off")
        .output()
        .expect("the program runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// Returns a project that was learned from a service beside these tests, and what `init` printed.
fn learn(name: &str) -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/openapi");
    let spec = tests.join(format!("{name}.yaml")).display().to_string();
    let start = format!("exec python3 {} {{port}}", tests.join(format!("{name}.py")).display());
    let (text, code) = ioxide(folder.path(), &["init", "--openapi", &spec, "--start", &start]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("contradiction"), "{text}");
    let (checked, code) = ioxide(folder.path(), &["check", "--deny-warnings", "api.iox"]);
    assert_eq!(code, 0, "{checked}");
    (folder, text)
}

/// The service trims titles, counts looks and does not document a 404: none of it is a failure. Faults of state are.
#[test]
fn state_is_learned_from_the_running_service() {
    if !has_program("python3") {
        return;
    }
    let (folder, text) = learn("notes");
    assert!(text.contains("the model remembers: notes"), "{text}");
    assert!(text.contains("DELETE /notes/{id} answers 404, which is not documented"), "{text}");
    assert!(text.contains("PUT /notes/{id}, which is not documented, is refused with 4xx"), "{text}");
    for fault in test_cases(3, &["", "list", "method", "patch", "delete", "long", "allow", "content"]) {
        let (text, code) = test_with(&folder, "NOTES_FAULT", fault);
        assert_eq!(code, Some(i32::from(!fault.is_empty())), "{fault}: {text}");
    }
}

/// Forms in parts with files, things without a collection, and documented defaults.
#[test]
fn finds_faults_of_forms_singletons_and_defaults() {
    if !has_program("python3") {
        return;
    }
    let (folder, text) = learn("studio");
    assert!(text.contains("the model remembers: photos, /photos/{id}/frame, /settings"), "{text}");
    for fault in test_cases(3, &["", "copies", "default", "frame", "file", "theme", "patch"]) {
        let (text, code) = test_with(&folder, "STUDIO_FAULT", fault);
        assert_eq!(code, Some(i32::from(!fault.is_empty())), "{fault}: {text}");
    }
}

/// Plants are made in a bed and have paths of their own, with ids that the service chooses; a bed takes them with it.
/// Defect: hardly any request reached a plant.
#[test]
fn finds_faults_of_items_that_are_made_inside_others() {
    if !has_program("python3") {
        return;
    }
    let (folder, text) = learn("garden");
    assert!(text.contains("the model remembers: beds, plants"), "{text}");
    for fault in test_cases(2, &["", "water", "sibling", "list"]) {
        let (text, code) = test_with(&folder, "GARDEN_FAULT", fault);
        assert_eq!(code, Some(i32::from(!fault.is_empty())), "{fault}: {text}");
    }
}
