//! Parts that are torn, missing, foreign, overlapping, contradictory or hostile are found and named.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{CHOOSING, in_parts, ioxide, merge, path, program, read};

fn four() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let (parts, out) = (dir.path().join("parts"), dir.path().join("whole"));
    in_parts(&CHOOSING, 4, &parts);
    (dir, parts, out)
}

#[track_caller]
fn edit(file: &Path, change: impl FnOnce(String) -> String) {
    fs::write(file, change(read(file))).expect("written");
}

#[test]
fn missing_units_make_the_result_partial() {
    let (_dir, parts, out) = four();
    fs::remove_dir_all(parts.join("2")).expect("removed");
    let told = merge(&parts, &out, &[]);
    // What failed has failed, whatever is missing.
    assert_eq!(told.code, Some(1));
    assert!(told.err.contains("missing: 5 of 20 units: 2,6,10,14,18"), "{}", told.err);
    assert!(read(&out.join("campaign.jsonl")).contains("\"interrupted\":true"));
    let args = [
        "test",
        "examples/adder.iox",
        "--sut",
        "model:examples/adder.iox",
        "--tester",
        "random",
        "--seed",
        "1",
    ];
    let dir = tempfile::tempdir().expect("a folder");
    ioxide(&[&args[..], &["--partition", "1/2", "--part", path(&dir.path().join("p"))]].concat());
    assert_eq!(
        merge(dir.path(), &dir.path().join("out"), &[]).code,
        Some(5),
        "nothing failed, but half is missing"
    );
}

/// Wherever a part is cut off, what was done before counts, and the same command goes on.
#[test]
fn a_part_that_was_cut_off_goes_on() {
    let (dir, parts, out) = four();
    let whole = merge(&parts, &out, &[]);
    let file = parts.join("3/units.jsonl");
    let bytes = fs::read(&file).expect("there");
    for (at, cut) in (0..6).map(|n| n * bytes.len() / 6 + n).enumerate() {
        fs::write(&file, &bytes[..cut]).expect("written");
        let out = dir.path().join(format!("cut{at}"));
        let torn = merge(&parts, &out, &[]);
        assert_eq!(torn.code, Some(1));
        assert!(torn.err.contains("missing: "), "cut at {cut}: {}", torn.err);
        let third = parts.join("3");
        let more = ["--partition", "3/4", "--part", path(&third)];
        let told = ioxide(&[&CHOOSING[..], &more].concat());
        assert_eq!(told.code, Some(1), "{}", told.err);
        assert_eq!(merge(&parts, &dir.path().join(format!("whole{at}")), &[]).out, whole.out, "cut at {cut}");
        assert_eq!(read(&file).matches("{\"done\":").count(), 5, "every unit once");
    }
}

#[test]
fn a_torn_unit_is_named() {
    let (_dir, parts, out) = four();
    edit(&parts.join("1/units.jsonl"), |text| {
        let begun = text.rfind("{\"begin\":17").expect("the last unit of part 1");
        text[..begun + 200].to_owned()
    });
    let told = merge(&parts, &out, &[]);
    assert!(told.err.contains("parts/1` ends in the middle of unit 17"), "{}", told.err);
    assert!(told.err.contains("missing: 1 of 20 units: 17"), "{}", told.err);
}

#[test]
fn foreign_parts_are_refused() {
    let (_dir, parts, out) = four();
    let other: Vec<&str> = CHOOSING.iter().map(|&word| if word == "1" { "2" } else { word }).collect();
    in_parts(&other, 1, &parts.join("5"));
    let moved = parts.join("5/1");
    fs::rename(&moved, parts.join("6")).expect("moved");
    let told = merge(&parts, &out, &[]);
    assert_eq!(told.code, Some(2));
    assert!(
        told.err.contains("parts/6` does not belong with `") && told.err.contains("has `2`, not `1`"),
        "{}",
        told.err
    );
    assert!(!out.exists(), "nothing is written");
    edit(&parts.join("6/part.json"), |_| {
        read(&parts.join("1/part.json")).replace("\"tool\": \"", "\"tool\": \"9")
    });
    edit(&parts.join("6/part.json"), |text| text.replace("\"plan\": \"", "\"plan\": \"x"));
    assert!(merge(&parts, &out, &[]).err.contains("it was made by ioxide 9"));
}

#[test]
fn overlapping_parts_count_once_and_contradictions_are_refused() {
    let (dir, parts, out) = four();
    let whole = merge(&parts, &out, &[]);
    let fifth = parts.join("5");
    let twice = ["--units", "3-6", "--part", path(&fifth)];
    ioxide(&[&CHOOSING[..], &twice].concat());
    let told = merge(&parts, &dir.path().join("again"), &[]);
    assert_eq!((told.out, told.code), (whole.out, whole.code));
    assert!(told.err.contains("overlapping: unit 3-6 in more than one part"), "{}", told.err);
    edit(&parts.join("5/units.jsonl"), |text| text.replacen("\"steps\":", "\"steps\":1", 1));
    let told = merge(&parts, &dir.path().join("third"), &[]);
    assert_eq!(told.code, Some(2));
    assert!(told.err.contains("have different results of unit 3"), "{}", told.err);
}

#[test]
fn damaged_parts_are_refused_with_the_line() {
    let (_dir, parts, out) = four();
    let file = parts.join("2/units.jsonl");
    let text = read(&file);
    let damages: [fn(&str) -> String; 4] = [
        |text| text.replacen("{\"done\":2,", "{\"done\":3,", 1),
        |text| text.replacen("{\"seq\"", "?\"seq\"", 1),
        |text| text.replacen("\"why\":\"all\"", "\"why\":\"some\"", 1),
        |text| text.replacen("{\"begin\":2,", "{\"begin\":99999999999999999999,", 1),
    ];
    for damage in damages {
        fs::write(&file, damage(&text)).expect("written");
        let told = merge(&parts, &out, &[]);
        assert_eq!(told.code, Some(2), "{}", told.err);
        assert!(told.err.contains("is damaged at line"), "{}", told.err);
    }
    // A result of another model is no result.
    fs::write(&file, text.replacen("\"pair\":[", "\"pair\":[9999,", 1)).expect("written");
    assert_eq!(merge(&parts, &out, &[]).code, Some(2));
    fs::write(parts.join("2/part.json"), "{}").expect("written");
    assert_eq!(merge(&parts, &out, &[]).code, Some(2));
    assert_eq!(merge(&parts.join("nowhere"), &out, &[]).code, Some(2));
}

/// Nothing that stands in a directory of results is executed.
#[test]
fn commands_in_results_are_not_executed() {
    let dir = tempfile::tempdir().expect("a folder");
    let (bait, parts) = (dir.path().join("bait"), dir.path().join("parts"));
    let evil = format!("touch {}", path(&bait));
    in_parts(&CHOOSING, 1, &parts);
    let words = format!("\"--solver\", \"{evil}\",\n    \"--seed\"");
    edit(&parts.join("1/part.json"), |text| {
        text.replace("\"--seed\"", &words).replace("model:examples/brp/m3.iox", &format!("stdio:{evil}"))
    });
    let told = merge(&parts, &dir.path().join("out"), &[]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    ioxide(&["report", path(&parts.join("1"))]);
    assert!(!bait.exists());
    in_parts(&["kill", "examples/adder.iox", "--sample", "5"], 1, &dir.path().join("kill"));
    edit(&dir.path().join("kill/1/part.json"), |text| {
        text.replace("\"kill\"", &format!("\"kill\",\n    \"--solver\", \"{evil}\""))
    });
    assert_eq!(merge(&dir.path().join("kill"), &dir.path().join("killed"), &[]).code, Some(0));
    assert!(!bait.exists());
}

#[test]
fn what_cannot_be_planned_says_why() {
    let test = ["test", "examples/adder.iox", "--sut", "model:examples/adder.iox"];
    let part = ["--part", "nowhere"];
    for (more, why) in [
        (&["--tester", "random", "--plan"][..], "a plan needs a seed"),
        (&["--seed", "1", "--for", "3s", "--plan"], "must not depend on the clock"),
        (&["--seed", "1", "--tester", "random", "--shares", "3", "--plan"], "every run is a unit"),
        (&["--seed", "1", "--tester", "kill", "--plan"], "ioxide kill FILE --out SUITE"),
        (&["--seed", "1", "--shares", "3"], "`--shares` is for a campaign in parts"),
        (&["--seed", "1", "--report", "x", part[0], part[1]], "`--report` does not work for a part"),
        (&["--seed", "1", "--partition", "5/4", part[0], part[1]], "which part of how many"),
        (&["--seed", "1", "--partition", "1/4"], "--part <DIR>"),
        (&["--seed", "1", "--units", "17", part[0], part[1]], "there is no unit 17: the plan has 16"),
        (&["--seed", "1", "--unit", "run-1", part[0], part[1]], "there is no unit `run-1`"),
    ] {
        let told = ioxide(&[&test[..], more].concat());
        assert_eq!(told.code, Some(2), "{more:?}: {}", told.err);
        assert!(told.err.contains(why), "{more:?}: {}", told.err);
    }
    assert!(!super::root().join("nowhere").exists());
}

#[test]
fn a_part_of_another_command_is_left_alone() {
    let (_dir, parts, _) = four();
    let before = read(&parts.join("1/units.jsonl"));
    let told = ioxide(&[&CHOOSING[..10], &["--partition", "1/4", "--part", path(&parts.join("1"))]].concat());
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("has another part"), "{}", told.err);
    assert_eq!(read(&parts.join("1/units.jsonl")), before);
}

#[test]
fn a_part_is_reported_on_while_it_is_under_way() {
    let (_dir, parts, _) = four();
    edit(&parts.join("1/units.jsonl"), |text| text[..text.len() / 2].to_owned());
    let output = program(&["report", path(&parts.join("1"))]).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("of 20 units are done"), "{err}");
    assert!(out.contains("run 1: FAIL at step"), "{out}");
}
