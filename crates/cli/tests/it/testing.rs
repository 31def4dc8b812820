//! `test` from the outside: testers, objectives, regressions, instances, records.

use std::fs;
use std::path::Path;

use crate::program::print as ioxide;

const SPEC: &str = "examples/brp/spec.iox";

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_string_lossy().into_owned();
    (folder, path)
}

fn played(file: &str) -> String {
    format!("stdio:{} sut {file} --seed 5", env!("CARGO_BIN_EXE_ioxide"))
}

#[test]
fn the_same_seed_makes_the_same_record() {
    let record = |sut: &str, seed: &str, more: &[&str]| {
        let (_folder, path) = folder();
        // Long enough for a busy machine: a reply that comes late is in the record.
        let args = ["test", SPEC, "--sut", sut, "--seed", seed, "--report", &path, "--silence-ms", "300"];
        let (text, code) = ioxide(&[&args[..], more].concat());
        assert!(code == 0 || code == 1, "{text}");
        fs::read(Path::new(&path).join("campaign.jsonl")).expect("a record")
    };
    let faulty = "model:examples/brp/m5.iox";
    for tester in ["hunt", "cover", "tour", "random"] {
        let more = ["--tester", tester];
        assert_eq!(record(faulty, "3", &more), record(faulty, "3", &more), "{tester}");
    }
    assert_ne!(record(faulty, "3", &["--tester", "random"]), record(faulty, "4", &["--tester", "random"]));
    let (outside, more) = (played(SPEC), ["--no-times", "--runs", "6"]);
    assert_eq!(record(&outside, "3", &more), record(&outside, "3", &more));
}

#[test]
fn the_summary_says_where_the_time_went_unless_times_are_left_out() {
    let (_folder, path) = folder();
    let test = |sut: &str, more: &[&str]| {
        let args = ["test", SPEC, "--sut", sut, "--seed", "3", "--runs", "3", "--silence-ms", "30"];
        ioxide(&[&args[..], more].concat())
    };
    let (text, code) = test(&played(SPEC), &["--report", &path]);
    assert_eq!(code, 0, "{text}");
    let line = text.lines().find(|line| line.contains(" s: ") && line.contains(" % ")).unwrap_or_default();
    let shares = line.split([':', ',', ';']).filter_map(|part| part.trim().split_once(" % "));
    let shares: Vec<u64> = shares.filter_map(|(share, _)| share.parse().ok()).collect();
    assert_eq!(shares.iter().sum::<u64>(), 100, "{text}");
    assert!(line.contains("% replies") && line.ends_with(" steps"), "{text}");
    let record = fs::read_to_string(Path::new(&path).join("campaign.jsonl")).expect("a record");
    assert!(record.contains("\"time_spent\":{\"elapsed_ms\":"), "{record}");
    // What is to be the same whenever it is run tells no times.
    let (text, _) = test(&played(SPEC), &["--no-times", "--json"]);
    let json: serde_json::Value = serde_json::from_str(text.lines().next().unwrap_or("")).expect("JSON");
    assert_eq!(json["time_spent"], serde_json::Value::Null, "{text}");
    let (text, _) = test("model:examples/brp/spec.iox", &[]);
    assert!(!text.contains(" % "), "{text}");
}

#[test]
fn a_campaign_that_the_clock_ends_says_how_much_of_its_plan_was_done() {
    let sut = played(SPEC);
    let args = ["test", SPEC, "--sut", &sut, "--seed", "3", "--for", "1s", "--silence-ms", "30"];
    let (text, code) = ioxide(&args);
    assert_eq!(code, 0, "{text}");
    let line =
        text.lines().find(|line| line.starts_with("stopped: the time was up after ")).unwrap_or_default();
    assert!(line.contains(" steps, with ") && line.contains(" transitions covered; `--for TIME`"), "{text}");
}

#[test]
fn a_record_keeps_failures_whole_and_of_other_runs_what_it_is_told() {
    let record = |sut: &str, keep: &[&str]| {
        let (folder, path) = folder();
        let sut = format!("model:examples/brp/{sut}.iox");
        let args = ["test", SPEC, "--sut", &sut, "--seed", "3", "--report", &path, "--tester", "random"];
        let (text, code) =
            ioxide(&[&args[..], &["--runs", "6", "--keep-going", "--no-shrink"], keep].concat());
        assert!(code == 0 || code == 1, "{text}");
        (folder, fs::read_to_string(Path::new(&path).join("campaign.jsonl")).expect("a record"), text)
    };
    let steps = |text: &str| text.lines().filter(|line| line.contains("\"step\":")).count();
    let (whole_folder, whole, _) = record("spec", &[]);
    let (folder, thin, _) = record("spec", &["--keep", "failures"]);
    assert!(steps(&whole) > 100 && steps(&thin) == 0, "{thin}");
    assert_eq!(thin.matches("\"thinned\":{").count(), 6, "{thin}");
    // The figures are the same, and a run without steps is not replayed.
    let path = folder.path().to_string_lossy().into_owned();
    let summary = |path: &str| ioxide(&["report", path]).0;
    let line =
        |text: &str| text.lines().find(|line| line.starts_with("6 runs: ")).unwrap_or_default().to_owned();
    let whole_path = whole_folder.path().to_string_lossy().into_owned();
    assert_eq!(line(&summary(&path)), line(&summary(&whole_path)));
    let switches = |text: &str| text.lines().find(|line| line.starts_with("switches: ")).map(str::to_owned);
    assert_eq!(switches(&summary(&path)), switches(&summary(&whole_path)));
    let (text, code) = ioxide(&["replay", &path, "--number", "2", "--sut", "model:examples/brp/spec.iox"]);
    assert!(code == 2 && text.contains("no steps of run 2") && text.contains("--keep all"), "{text}");
    let (_folder, failing, text) = record("m3", &["--keep", "failures"]);
    let failed = failing.matches("\"outcome\":\"fail\"").count();
    assert!(failed > 0 && steps(&failing) > 0, "{text}");
    assert_eq!(failing.matches("\"thinned\":{").count() + failed, 6, "{failing}");
}

#[test]
fn what_failed_before_is_done_first() {
    let (_folder, path) = folder();
    let test = |sut: &str, more: &[&str]| {
        let sut = format!("model:examples/brp/{sut}.iox");
        let args = ["test", SPEC, "--sut", &sut, "--seed", "1", "--report", &path, "--json"];
        let (text, code) = ioxide(&[&args[..], more].concat());
        let json: serde_json::Value = serde_json::from_str(text.lines().next().unwrap_or("")).expect("JSON");
        (json, code)
    };
    let (first, code) = test("m3", &[]);
    assert_eq!(code, 1);
    let file = Path::new(&path).join("regressions.jsonl");
    let kept = fs::read_to_string(&file).expect("regressions");
    assert_eq!(kept.lines().count(), 2, "{kept}");
    assert!(first["failures"][0]["signature"].as_str().is_some_and(|text| text.starts_with("!OFRAME in SF")));
    let id = first["failures"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert!(id.starts_with("oframe-in-sf-") && kept.contains(&format!("\"name\":\"{id}\"")), "{id}: {kept}");
    // The same fault shows in the very first run, and is not added again.
    let (again, code) = test("m3", &[]);
    assert_eq!((code, &again["runs"]), (1, &1.into()));
    assert_eq!(again["failures"][0]["id"], *id);
    assert_eq!(fs::read_to_string(&file).expect("regressions"), kept);
    // A repaired system does the old run and then what it would have done anyway.
    let (repaired, code) = test("spec", &["--runs", "2"]);
    assert_eq!((code, &repaired["runs"]), (0, &3.into()));
    let (without, _) = test("spec", &["--runs", "2", "--no-regressions"]);
    assert_eq!(without["runs"], 2);
    fs::write(&file, "nonsense").expect("written");
    let (text, code) = ioxide(&["test", SPEC, "--sut", "model:examples/brp/spec.iox", "--report", &path]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--no-regressions"), "{text}");
}

/// The run as found and its smallest run may fail in different states of the model: the failure has one id all the
/// same, in every file, with every seed that finds it, and `replay` takes it.
#[test]
fn a_failure_has_one_id_everywhere() {
    let mut ids = std::collections::BTreeSet::new();
    for seed in ["1", "2", "3"] {
        let (_folder, path) = folder();
        let args = ["test", SPEC, "--sut", "model:examples/brp/m3.iox", "--seed", seed, "--report", &path];
        let (text, code) = ioxide(&args);
        assert_eq!(code, 1, "{text}");
        let id = text.lines().find_map(|line| line.strip_prefix("    id        ")).unwrap_or_default();
        assert!(id.starts_with("oframe-in-sf-") && id.len() < 40, "{text}");
        for file in ["regressions.jsonl", "junit.xml", "summary.md", "report.html"] {
            let written = fs::read_to_string(Path::new(&path).join(file)).expect("a file");
            assert!(written.contains(id), "{file} has no {id}");
        }
        assert!(text.contains(&format!("replay: ioxide replay {path} --name {id} --sut")), "{text}");
        let smallest = ["replay", &path, "--name", id, "--sut", "model:examples/brp/m3.iox"];
        let (again, code) = ioxide(&smallest);
        assert!(code == 1 && again.contains("replay of the smallest run 1") && again.contains(id), "{again}");
        let (wrong, code) = ioxide(&[&smallest[..3], &["no-such-failure"], &smallest[4..]].concat());
        assert!(code == 2 && wrong.contains(id), "{wrong}");
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn instances_share_the_work() {
    let (_folder, path) = folder();
    let sut = played(SPEC);
    let args = ["test", SPEC, "--sut", &sut, "--seed", "2", "--jobs", "3", "--silence-ms", "30"];
    let more = ["--report", &path, "--runs", "12", "--tester", "cover"];
    let (text, code) = ioxide(&[&args[..], &more].concat());
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("12 runs: 12 passed") && text.contains("purposes: 6 of 6 reached"), "{text}");
    let (text, code) = ioxide(&["judge", SPEC, &path, "--number", "7"]);
    assert_eq!(code, 0, "{text}");
    let faulty = played("examples/brp/m3.iox");
    let args = ["test", SPEC, "--sut", &faulty, "--seed", "2", "--jobs", "2", "--silence-ms", "30"];
    let (text, code) = ioxide(&args);
    assert_eq!(code, 1, "{text}");
    let (text, code) = ioxide(&["test", SPEC, "--sut", "stdio:false", "--jobs", "2"]);
    assert_eq!(code, 6, "{text}");
}

#[test]
fn a_default_run_goes_on_after_every_switch_and_says_what_it_saw() {
    let adder = ["test", "examples/adder.iox", "--sut", "model:examples/adder.iox", "--seed", "1"];
    let (text, code) = ioxide(&[&adder[..], &["--steps", "300", "-v"]].concat());
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("(hunt tester, at most 300 steps, seed 1)"), "{text}");
    assert!(text.contains("transitions: 3 of 3 covered") && text.contains("pairs        3 of 3"), "{text}");
    let (text, code) = ioxide(&[&adder[..], &["--until", "pairs", "--json"]].concat());
    let told: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &told["hunt"]["pairs"]["taken"]), (0, &3.into()), "{text}");
    assert!(told["steps"].as_u64().is_some_and(|steps| steps < 200), "it ended early: {text}");
    let (text, code) = ioxide(&[&adder[..], &["--for", "1 day"]].concat());
    assert_eq!((code, text.contains("`min` or `h`")), (2, true), "{text}");
}

#[test]
fn a_goal_that_was_not_seen_is_not_success() {
    let brp = ["test", SPEC, "--sut", "model:examples/brp/spec.iox", "--seed", "1", "--steps", "60"];
    let (text, code) = ioxide(&[&brp[..], &["--until", "pairs"]].concat());
    assert_eq!(code, 5, "{text}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let test = |more: &[&str]| {
        let args = ["test", "examples/adder.iox", "--sut", "model:examples/adder.iox", "--seed", "1"];
        ioxide(&[&args[..], more].concat())
    };
    for (more, expected, hint) in [
        (&["--tester", "test:nothing"][..], 2, "three and four make seven"),
        (&["--objective", "nothing"], 2, "`stops`, `large_sum`"),
        (&["--objective", "never_negative"], 2, "not an objective"),
        (&["--tester", "fastest"], 2, "there is no tester `fastest`"),
        (&["--tester", "fastest"], 2, "help: there is `hunt`, `cover`, `tour`"),
        (&["--tester", "hnut"], 2, "help: did you mean `hunt`?"),
        (&["--jobs", "0"], 4, "--jobs"),
    ] {
        let (text, code) = test(more);
        assert_eq!(code, expected, "{more:?}: {text}");
        assert!(text.contains(hint), "{more:?}: {text}");
    }
    let (text, code) = ioxide(&["test", SPEC, "--sut", "model:examples/brp/spec.iox", "--tester", "tests"]);
    assert_eq!(code, 4, "{text}");
}

#[test]
fn a_trace_outside_the_objective_is_not_judged() {
    let (folder, _) = folder();
    let trace = folder.path().join("trace");
    let write = |first: u32| {
        let lines = format!(
            "{{\"label\":\"inX\",\"args\":{{\"p\":{first}}}}}\n{{\"label\":\"outX\",\"args\":{{\"p\":99}}}}\n"
        );
        fs::write(&trace, lines).expect("written");
    };
    write(3);
    let path = trace.to_string_lossy().into_owned();
    assert_eq!(ioxide(&["judge", "examples/adder.iox", &path]).1, 1);
    let (text, code) = ioxide(&["judge", "examples/adder.iox", &path, "--objective", "large_sum"]);
    assert_eq!(code, 5, "{text}");
    assert_eq!(ioxide(&["judge", "examples/adder.iox", &path, "--objective", "stops"]).1, 1);
}
