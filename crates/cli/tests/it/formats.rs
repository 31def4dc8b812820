//! Results for other programs: SARIF, `JUnit` XML and the Test Anything Protocol on stdout, annotations for GitHub, and
//! the files for continuous integration.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::program::{PROGRAM, command, command_in, root, run};

const SPEC: &str = "examples/brp/spec.iox";
const FAULTY: &str = "model:examples/brp/m5.iox";

/// Runs a failing campaign in this format; returns what is on stdout.
fn test_in_format(format: &str) -> String {
    let args =
        ["test", SPEC, "--sut", FAULTY, "--seed", "1", "--runs", "6", "--keep-going", "--format", format];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn prints_junit_xml_and_nothing_else() {
    let text = test_in_format("junit");
    let document = roxmltree::Document::parse(&text).expect("XML");
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).expect("a suite");
    assert_eq!(suite.attribute("tests"), Some("6"), "{text}");
    assert!(document.descendants().any(|node| node.has_tag_name("failure")), "{text}");
}

/// Reads the document as a program that knows the protocol would.
#[test]
fn prints_a_test_point_for_each_run_and_their_number() {
    let text = test_in_format("tap");
    assert!(text.starts_with("TAP version 14\n"), "{text}");
    let points: Vec<&str> =
        text.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).collect();
    for (at, point) in points.iter().enumerate() {
        let number = point.trim_start_matches("not ").trim_start_matches("ok ").split(' ').next();
        assert_eq!(number, Some(&*(at + 1).to_string()), "{text}");
    }
    assert!(points.iter().any(|point| point.starts_with("not ok ")), "{text}");
    assert_eq!(text.lines().last(), Some(&*format!("1..{}", points.len())), "{text}");
    let others = text.lines().filter(|line| !line.starts_with("  ")).count();
    assert_eq!(others, points.len() + 2, "only the version, the points and the plan:\n{text}");
}

#[test]
fn formats_exclude_each_other() {
    let output = run(&["test", SPEC, "--sut", FAULTY, "--json", "--format", "tap"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn writes_findings_as_sarif() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = "model M {\n  input go\n  output o\n  state a { on go -> b }\n  state b { emti o -> a }\n}\n";
    fs::write(folder.path().join("m.iox"), model).expect("a model");
    let output =
        command_in(folder.path(), &["check", "m.iox", "--format", "sarif"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let log: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "error", "{log:#}");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "m.iox");
    assert_eq!(place["region"]["startLine"], 5, "{log:#}");
    // Nothing wrong is a log without results.
    let output = run(&["check", SPEC, "--format", "sarif"]);
    assert_eq!(output.status.code(), Some(0));
    let log: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn annotates_changes_on_github_only() {
    let test = |is_github: bool| {
        let mut command = command(&["test", SPEC, "--sut", FAULTY, "--seed", "1"]);
        command.env_remove("GITHUB_ACTIONS");
        if is_github {
            command.env("GITHUB_ACTIONS", "true");
        }
        String::from_utf8(command.output().expect("it runs").stderr).expect("text")
    };
    let text = test(true);
    let annotations: Vec<&str> = text.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(annotations.len(), 1, "{text}");
    assert!(annotations[0].starts_with("::error file=examples/brp/spec.iox,title=Brp%3A "), "{text}");
    assert!(!test(false).contains("::error"), "{}", test(false));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.iox"), "model M {\n  input\n}\n").expect("a model");
    let output = command_in(folder.path(), &["check", "m.iox"]).env("GITHUB_ACTIONS", "true").output();
    let text = String::from_utf8(output.expect("it runs").stderr).expect("text");
    assert!(text.contains("::error file=m.iox,line="), "{text}");
}

/// The commands of the files for continuous integration run: with a model and a system, and in a project without them.
#[cfg(unix)]
#[test]
fn the_files_for_continuous_integration_test_systems_and_projects() {
    for name in ["ci/github/action.yml", "ci/gitlab.yml"] {
        let text = fs::read_to_string(root().join(name)).expect(name);
        let is_command = |line: &&str| line.contains("ioxide check ") || line.contains("ioxide test ");
        let commands: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .map(|line| line.trim_start_matches([' ', '-']).trim_start_matches("run: "))
            .filter(is_command)
            .collect();
        assert_eq!(commands.len(), 2, "{name}: {commands:?}");
        for (model, sut, checked) in [("adder.iox", "model:adder.iox", true), ("", "", false)] {
            let folder = tempfile::tempdir().expect("a folder");
            fs::copy(root().join("examples/adder.iox"), folder.path().join("adder.iox")).expect("a model");
            let project = "[project]\nmodel = \"adder.iox\"\nsut = \"model:adder.iox\"\n";
            fs::write(folder.path().join("ioxide.toml"), project).expect("a project");
            let mut told = String::new();
            for command in &commands {
                let programs = Path::new(PROGRAM).parent().expect("the program is in a folder").display();
                let path = std::env::var("PATH").unwrap_or_default();
                let output = Command::new("sh")
                    .args(["-ec", command])
                    .current_dir(folder.path())
                    .envs([("MODEL", model), ("SUT", sut), ("REPORT", "ioxide-report")])
                    .env("ARGUMENTS", "--seed 1 --steps 30")
                    .env("PATH", format!("{programs}:{path}"))
                    .output()
                    .expect("sh runs");
                told += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
                assert!(output.status.success(), "{name}: {command}: {told}");
            }
            assert_eq!(told.contains("adder.iox: ok"), checked, "{told}");
            for file in ["summary.md", "junit.xml"] {
                assert!(folder.path().join("ioxide-report").join(file).exists(), "{name}: {file}: {told}");
            }
        }
    }
}
