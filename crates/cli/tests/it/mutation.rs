//! `conform`, `mutate`, `kill` and `score` as people call them: exit codes, JSON, resuming.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use ioxide_test_support::test_count;
use serde_json::Value as Json;

use crate::program::run as ioxide;

fn json(output: &Output) -> Json {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn traces_are_compared_one_way_and_both_ways() {
    let (lifo, fifo) = ("examples/data/lifo.iox", "examples/data/fifo.iox");
    let same = ioxide(&["equiv", "examples/data/fifo.as", fifo, "--json"]);
    assert_eq!((same.status.code(), &json(&same)["equal"]), (Some(0), &Json::Bool(true)));
    let other = ioxide(&["equiv", lifo, fifo, "--json"]);
    let told = json(&other);
    assert_eq!((other.status.code(), &told["equal"]), (Some(1), &Json::Bool(false)));
    for side in ["only_one", "only_other"] {
        assert_eq!(told[side]["witness"].as_array().map(Vec::len), Some(4), "{told}");
    }
    let less = ioxide(&["refine", lifo, fifo, "--json"]);
    assert_eq!((less.status.code(), &json(&less)["refines"]), (Some(1), &Json::Bool(false)));
    let timed = ioxide(&["refine", "examples/atm/atm.iox", "examples/atm/atm.iox", "--json"]);
    assert_eq!((timed.status.code(), &json(&timed)["refines"]), (Some(5), &Json::from("unknown")));
}

/// An input that only one of them takes is no matter for `conform`, and one for `refine`.
#[test]
fn an_input_of_one_model_only_is_a_difference_of_traces() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, more: &str| {
        let text = format!(
            "model M {{ input a input b output y state s {{ on a -> t {more} }} state t {{ emit y -> s }} }}"
        );
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let (one, other) = (write("one.iox", "on b -> s"), write("other.iox", ""));
    assert_eq!(ioxide(&["conform", &one, &other]).status.code(), Some(0));
    assert_eq!(ioxide(&["refine", &other, &one]).status.code(), Some(0));
    let told = ioxide(&["refine", &one, &other]);
    assert_eq!(told.status.code(), Some(1));
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(text.contains("?b") && text.contains("does not take this input there"), "{text}");
}

/// A model with choices that refuses inputs need not conform to itself under ioco; people are told why, and a model
/// that is really different is not excused.
#[test]
fn a_difference_that_uioco_leaves_open_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, said: &str| {
        let text = format!(
            "model M {{ input a input b output x output y state s {{ on a -> t on a -> u }} \
             state t {{ on b -> v emit x -> s }} state u {{ emit y -> s }} state v {{ emit {said} -> s }} }}"
        );
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let (same, other) = (write("same.iox", "x"), write("other.iox", "y"));
    let open = ioxide(&["conform", &same, &same]);
    let text = String::from_utf8_lossy(&open.stdout).into_owned();
    assert_eq!(open.status.code(), Some(1), "{text}");
    assert!(
        text.contains("may be in several states at step 2") && text.contains("--relation uioco"),
        "{text}"
    );
    assert_eq!(ioxide(&["conform", &same, &same, "--relation", "uioco"]).status.code(), Some(0));
    let plain = ioxide(&["conform", "examples/data/lifo.iox", "examples/data/fifo.iox"]);
    let text = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(plain.status.code() == Some(1) && !text.contains("uioco"), "{text}");
    assert_eq!(ioxide(&["conform", &other, &same, "--relation", "uioco"]).status.code(), Some(0));
}

#[test]
fn all_differences_are_listed_and_counted() {
    let told = ioxide(&["conform", "examples/data/lifo.iox", "examples/data/fifo.iox", "--all", "--json"]);
    let told = json(&told);
    assert_eq!((&told["conforms"], &told["complete"]), (&Json::Bool(false), &Json::Bool(true)), "{told}");
    assert!(told["differences"].as_array().is_some_and(|all| !all.is_empty()), "{told}");
    let none = ioxide(&["conform", "examples/brp/spec.iox", "examples/brp/spec.iox", "--all", "--json"]);
    let none_told = json(&none);
    assert_eq!((none.status.code(), &none_told["differences"]), (Some(0), &Json::Array(Vec::new())));
}

#[test]
fn what_is_known_only_of_short_lists_says_of_how_long_ones() {
    let reversed = ["conform", "examples/data/sum-reversed.iox", "examples/data/sum.iox"];
    let told = ioxide(&[&reversed[..], &["--json"]].concat());
    let json_told = json(&told);
    assert_eq!((told.status.code(), &json_told["conforms"]), (Some(5), &Json::from("unknown")));
    assert_eq!(json_told["up_to_items"], Json::from(3), "{json_told}");
    let text = String::from_utf8_lossy(&ioxide(&reversed).stdout).into_owned();
    assert!(text.contains("up to 3 items"), "{text}");
    let deep = json(&ioxide(&["check", "--deep", "examples/data/sum.iox", "--json"]));
    let deep = &deep["files"][0];
    assert_eq!(deep["diagnostics"], Json::Array(Vec::new()), "an open question is no finding");
    let because = deep["deep"]["open_because"].as_str().unwrap_or_default();
    assert!(because.contains("more than 3 items"), "{deep}");
}

#[test]
fn conform_tells_its_three_answers_apart() {
    let yes = ioxide(&["conform", "examples/brp/spec.iox", "examples/brp/spec.iox", "--json"]);
    assert_eq!((yes.status.code(), &json(&yes)["conforms"]), (Some(0), &Json::Bool(true)));
    let no = ioxide(&["conform", "examples/brp/m1.iox", "examples/brp/spec.iox", "--json"]);
    let told = json(&no);
    assert_eq!((no.status.code(), &told["conforms"]), (Some(1), &Json::Bool(false)));
    assert_eq!(told["witness"].as_array().map(Vec::len), Some(4));
    let open =
        ioxide(&["conform", "examples/brp/m5.iox", "examples/brp/spec.iox", "--depth", "17", "--json"]);
    assert_eq!((open.status.code(), &json(&open)["conforms"]), (Some(5), &Json::from("unknown")));
    let timed = ioxide(&["conform", "examples/atm/atm.iox", "examples/atm/atm.iox", "--json"]);
    assert_eq!((timed.status.code(), &json(&timed)["conforms"]), (Some(0), &Json::Bool(true)));
}

#[test]
fn the_trace_of_conform_is_judged_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace.jsonl");
    let told = json(&ioxide(&["conform", "examples/brp/m4.iox", "examples/brp/spec.iox", "--json"]));
    let lines: Vec<String> = told["trace"].as_array().expect("a trace").iter().map(Json::to_string).collect();
    fs::write(&file, lines.join("\n")).expect("written");
    let judged = ioxide(&["judge", "examples/brp/spec.iox", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!((judged.status.code(), json(&judged)["steps"].as_u64()), (Some(1), Some(6)));
}

/// In time, the instants are part of the trace, and a system that plays it fails.
#[test]
fn the_trace_of_conform_in_time_is_judged_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace.jsonl");
    let late = ioxide(&["conform", "examples/atm/late.iox", "examples/atm/atm.iox", "--json"]);
    let told = json(&late);
    assert_eq!((late.status.code(), &told["conforms"]), (Some(1), &Json::Bool(false)));
    let lines: Vec<String> = told["trace"].as_array().expect("a trace").iter().map(Json::to_string).collect();
    fs::write(&file, lines.join("\n")).expect("written");
    let judged = ioxide(&["judge", "examples/atm/atm.iox", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(judged.status.code(), Some(1), "{}", String::from_utf8_lossy(&judged.stderr));
    assert!(
        told["trace"].as_array().is_some_and(|trace| trace.iter().any(|line| line.get("after").is_some()))
    );
    let allowed = ioxide(&["judge", "examples/atm/late.iox", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(allowed.status.code(), Some(0), "{}", String::from_utf8_lossy(&allowed.stderr));
}

#[test]
fn mutants_are_the_same_every_time_and_can_be_chosen() {
    let all = ioxide(&["mutate", "examples/brp/spec.iox", "--at", "r7", "--json"]);
    assert_eq!(all.stdout, ioxide(&["mutate", "examples/brp/spec.iox", "--at", "r7", "--json"]).stdout);
    let told = json(&all);
    let ids: Vec<&str> =
        told["mutants"].as_array().expect("a list").iter().filter_map(|it| it["id"].as_str()).collect();
    assert!(ids.contains(&"r7-guard-rel-2") && ids.iter().all(|id| id.starts_with("r7-")), "{ids:?}");
    let wrong = ioxide(&["mutate", "examples/brp/spec.iox", "--ops", "guard-tru"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("guard-true"));
}

/// A record cut off anywhere leads to the same result, whatever the number of workers.
#[test]
fn an_interrupted_analysis_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (record, suite) = (path("kill.jsonl"), path("brp.suite"));
    let base =
        ["kill", "examples/brp/spec.iox", "--sample", "60", "--json", "--record", &record, "--out", &suite];
    let run = |jobs: &str| ioxide(&[&base[..], &["--jobs", jobs]].concat());
    let whole = run("1");
    assert_eq!(whole.status.code(), Some(0), "{}", String::from_utf8_lossy(&whole.stderr));
    let (lines, tests) = (fs::read_to_string(&record).expect("a record"), fs::read(&suite).expect("a suite"));
    fs::write(&record, &lines[..lines.len() / 2]).expect("cut off");
    let again = run("2");
    assert_eq!(again.stdout, whole.stdout);
    assert_eq!(fs::read(&suite).expect("a suite"), tests);
    let other = ioxide(&["kill", "examples/brp/m1.iox", "--sample", "60", "--json", "--record", &record]);
    assert_eq!(other.status.code(), Some(2), "a record of another model is refused");
    let scored = ioxide(&["score", "examples/brp/spec.iox", &suite, "--sample", "60", "--json"]);
    let told = json(&scored);
    assert_eq!(told["killed"], told["killable"], "the suite kills what it was made to kill");
    let after = found_after(&told);
    assert!(after.last().copied() <= told["ios"].as_u64(), "a suite finds nothing after its end: {told}");
    let shorter =
        json(&ioxide(&["score", "examples/brp/spec.iox", &first_of(&suite), "--sample", "60", "--json"]));
    let end = shorter["ios"].as_u64().expect("counted");
    let within: Vec<u64> = after.into_iter().filter(|&after| after <= end).collect();
    assert_eq!(found_after(&shorter), within, "the first test alone finds what was found within it");
}

/// A suite with the first test of a suite alone, beside it.
fn first_of(suite: &str) -> String {
    let text = fs::read_to_string(suite).expect("a suite");
    let first: Vec<&str> = text.lines().take(2).chain(["{\"tests\":1}"]).collect();
    let path = format!("{suite}.first");
    fs::write(&path, first.join("\n") + "\n").expect("a file");
    path
}

/// After how many inputs and outputs each killed mutant was found, in order.
fn found_after(told: &Json) -> Vec<u64> {
    let after = told["found_after"].as_array().expect("a list");
    let after: Vec<u64> = after.iter().map(|after| after.as_u64().expect("a number")).collect();
    assert_eq!(Some(after.len() as u64), told["killed"].as_u64(), "one for each: {told}");
    assert!(after.is_sorted(), "{told}");
    after
}

/// Defect: purposes were used with terms of another model, and the program broke off (exit code 70).
#[test]
fn mutants_are_scored_by_covering_every_switch() {
    let scored = ioxide(&["score", "examples/brp/spec.iox", "cover", "--ops", "delete", "--json"]);
    assert_eq!(scored.status.code(), Some(0), "{}", String::from_utf8_lossy(&scored.stderr));
    let told = json(&scored);
    // A switch that is left out is missed where a purpose takes it, and every purpose is played.
    assert_eq!(told["killed"], told["killable"], "{told}");
    assert!(found_after(&told)[0] > 0, "no mutant is found before something was sent or seen: {told}");
}

/// The process is killed once some mutants are decided; what it wrote is used.
#[test]
fn a_killed_analysis_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let record = path("kill.jsonl");
    let sample = test_count("IOXIDE_MUTANTS", 80, 300).to_string();
    let base = ["kill", "examples/brp/spec.iox", "--json", "--sample", &sample];
    let with_record = [&base[..], &["--record", &record]].concat();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut child = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(&with_record)
        .current_dir(root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioxide starts");
    let lines = || fs::read_to_string(&record).map_or(0, |text| text.lines().count());
    while lines() < 20 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let before = lines();
    assert!(before >= 20, "{before} decisions were written");
    assert_eq!(ioxide(&with_record).stdout, ioxide(&base).stdout);
}

#[test]
fn the_killing_suite_finds_a_fault_in_a_live_system() {
    let suite = |sut: &str| {
        let tester = ["--tester", "kill", "--seed", "1", "--time-limit", "none"];
        ioxide(&[&["test", "examples/adder.iox", "--sut", sut][..], &tester].concat())
    };
    assert_eq!(suite("model:examples/adder.iox").status.code(), Some(0));
    let mutant = suite("model:examples/adder.iox#r2-guard-neg-1");
    assert_eq!(mutant.status.code(), Some(1), "{}", String::from_utf8_lossy(&mutant.stdout));
    assert_eq!(suite("model:examples/adder.iox#r2-guard-nag-1").status.code(), Some(2));
}

/// Everything an answer depends on is in the fingerprint: values at start, ranges, `--set`, the settings.
#[test]
fn a_stale_record_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (model, record) = (path("m.iox"), path("kill.jsonl"));
    let text = |start: u8, range: u8| {
        format!(
            "model M {{ const LIMIT: int = 2 input up(by: 0..{range}) output at(n: int) var v: 0..9 = {start}
                state s {{ a: on up when by <= LIMIT {{ v = by }} -> t }}
                state t {{ b: emit at(n: v) -> s }} }}"
        )
    };
    let kill = |flags: &[&str]| {
        let base = ["kill", &model, "--json", "--record", &record];
        ioxide(&[&base[..], flags].concat()).status.code()
    };
    fs::write(&model, text(0, 9)).expect("written");
    assert_eq!(kill(&[]), Some(0));
    assert_eq!(kill(&[]), Some(0), "the same again is taken from the record");
    assert_eq!(kill(&["--set", "LIMIT=3"]), Some(2), "another constant");
    assert_eq!(kill(&["--completion", "restricted"]), Some(2), "another reading of inputs left out");
    fs::write(&model, text(1, 9)).expect("written");
    assert_eq!(kill(&[]), Some(2), "another value at start");
    fs::write(&model, text(0, 1)).expect("written");
    assert_eq!(kill(&[]), Some(2), "another range");
    fs::write(&model, text(0, 9)).expect("written");
    assert_eq!(kill(&[]), Some(0), "the record is as it was");
}

/// Resuming used to truncate the record before it was written again: what was decided could be lost.
#[test]
fn resuming_only_adds_to_a_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("kill.jsonl").to_str().expect("UTF-8").to_owned();
    let kill = || {
        let done = ioxide(&["kill", "examples/adder.iox", "--json", "--record", &record]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    };
    let first = kill();
    let whole = fs::read_to_string(&record).expect("a record");
    let torn = &whole[..whole.len() - 7];
    fs::write(&record, torn).expect("cut off");
    assert_eq!(kill(), first);
    let after = fs::read_to_string(&record).expect("a record");
    assert!(after.starts_with(torn), "nothing that was there is touched");
    fs::write(&record, &whole[..10]).expect("cut off in the first line");
    assert_eq!(kill(), first);
}

/// The specification does not conform to itself: after `x` one state ignores the `a` that another answers. Nothing
/// tells a mutant that changes nothing from it, but it is not *equivalent*.
#[test]
fn kill_and_conform_read_missing_inputs_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("m.iox").to_str().expect("UTF-8").to_owned();
    let text = "model M { input x input a output y var n: 0..1 = 0
        state s { t1: on x -> p  t2: on x -> q }
        state p { t3: emit y when n == 1 -> s }
        state q { t4: on a { n = 0 } -> r }
        state r { t5: emit y -> s } }";
    fs::write(&model, text).expect("written");
    assert_eq!(ioxide(&["conform", &model, &model]).status.code(), Some(1));
    let under = |completion| {
        let done = ioxide(&["kill", &model, "--ops", "assign-del", "--completion", completion, "--json"]);
        let told = json(&done);
        (told["completion"].as_str().map(str::to_owned), told["killed"].as_u64(), told["equivalent"].as_u64())
    };
    assert_eq!(under("angelic"), (Some("angelic".into()), Some(1), Some(0)));
    assert_eq!(under("restricted"), (Some("restricted".into()), Some(0), Some(1)));
}

#[test]
fn the_relation_is_asked_for_and_named() {
    let told = json(&ioxide(&[
        "conform",
        "examples/adder.iox",
        "examples/adder.iox",
        "--relation",
        "uioco",
        "--json",
    ]));
    assert_eq!((&told["conforms"], &told["relation"]), (&Json::Bool(true), &Json::from("uioco")));
    let wrong = ioxide(&["conform", "examples/adder.iox", "examples/adder.iox", "--relation", "tioco"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("ioco, uioco"));
}

/// Results that the time limit cuts off are unknown: exit code 5, and the result says that it is partial.
#[test]
fn a_time_limit_ends_a_command_with_a_partial_result() {
    let brp = "examples/brp/spec.iox";
    let within = |args: &[&str]| {
        let done = ioxide(&[args, &["--time-limit", "1ms"]].concat());
        (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    for args in [
        &["check", "--deep", brp][..],
        &["purposes", brp],
        &["conform", brp, brp],
        &["kill", brp, "--sample", "5"],
        &["score", brp, "random", "--sample", "5"],
        &["case", brp, "--path", "r1,..,r12"],
        &["fsm", "examples/fsm/door.txt", "--suite", "h", "--extra", "8"],
        &["test", brp, "--sut", "model:examples/brp/spec.iox", "--tester", "kill"],
    ] {
        let (code, told) = within(args);
        assert_eq!(code, Some(5), "{args:?}: {told}");
        assert!(told.contains("time limit"), "{args:?}: {told}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chain.iox");
    let state = |n: usize| format!("    state s{n} {{\n        on a -> s{}\n    }}\n", (n + 1) % 500);
    let states: String = (0..500).map(state).collect();
    fs::write(&file, format!("model Chain {{\n    input a\n{states}}}\n")).expect("a file");
    let chain = file.display().to_string();
    let (code, told) = within(&["mutate", &chain]);
    assert_eq!(code, Some(5));
    assert!(told.contains("time limit"));
    let wrong = ioxide(&["check", brp, "--time-limit", "soon"]);
    assert_eq!(wrong.status.code(), Some(2));
}

const COIN: &str = "model Coin {
    input toss
    input again
    output heads
    output tails
    output win
    output lose
    state idle { t: on toss -> up }
    state up {
        h: emit heads -> heads_up
        l: emit tails -> tails_up
    }
    state heads_up { a: on again -> won }
    state tails_up { b: on again -> lost }
    state won { w: emit win -> idle }
    state lost { o: emit lose -> idle }
}
";

/// Runs the exported adaptive tests of a coin on a model played as a system; returns for each whether it fails.
fn judged_by_trees(folder: &std::path::Path, model: &std::path::Path) -> Vec<bool> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("trees").map(|it| it.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "py"));
    files.sort();
    let fails = |file: &PathBuf| {
        let sut = format!("stdio:{} sut {}", env!("CARGO_BIN_EXE_ioxide"), model.display());
        let output = Command::new("python3")
            .arg(file)
            .current_dir(&root)
            .env("PYTHONPATH", "sdk/python")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("IOXIDE_QUIESCENCE_MS", "300")
            .env("IOXIDE_SUT", sut)
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("FAIL_") || said.trim_end().ends_with("OK"), "{}: {said}", file.display());
        !output.status.success()
    };
    files.iter().map(fails).collect()
}

#[test]
fn adaptive_tests_kill_whatever_the_system_chooses() {
    let dir = tempfile::tempdir().expect("a folder");
    let (model, trees) = (dir.path().join("coin.iox"), dir.path().join("trees"));
    fs::write(&model, COIN).expect("a model");
    let (file, folder) = (model.to_str().expect("a path"), trees.to_str().expect("a path"));
    let killed = ioxide(&["kill", file, "--trees", folder, "--json"]);
    assert_eq!(killed.status.code(), Some(0), "{}", String::from_utf8_lossy(&killed.stderr));
    let told = json(&killed);
    let all = told["trees"]["trees"].as_array().expect("trees");
    let kills: Vec<&Json> = all.iter().flat_map(|tree| tree["kills"].as_array().expect("kills")).collect();
    assert_eq!(Json::from(kills.len()), told["killed"]);
    let forced = kills.iter().filter(|kill| kill["forced"] == true).count();
    assert!(forced > 5 && forced < kills.len(), "{forced} of {}", kills.len());
    // One that loses where it should win, and wins where it should lose: every choice leads to a failure.
    let swapped = dir.path().join("swapped.iox");
    fs::write(
        &swapped,
        COIN.replace("-> won", "-> x").replace("-> lost", "-> won").replace("-> x", "-> lost"),
    )
    .expect("a model");
    assert!(judged_by_trees(&trees, &model).iter().all(|fails| !fails), "a correct system fails");
    assert!(judged_by_trees(&trees, &swapped).contains(&true));
}

#[test]
fn the_help_lists_every_operator() {
    let told = ioxide(&["mutate", "--help"]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let words: Vec<&str> = text.split([' ', '\n', ',', '.']).collect();
    for operator in ioxide_testgen::mutate::MutationOperator::ALL {
        let name = operator.name();
        assert!(words.contains(&name), "{name}: {text}");
    }
}

/// A mutant that nothing decides takes its own time only: the command has no limit, and every mutant its turn.
#[test]
fn the_time_of_one_mutant_is_limited() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("count.iox");
    let text = "model Count { input go input stop output o output p var n: int = 0
        state s { internal when n >= 0 { n = n + 1 } -> s a: on go when n > 3 emit o b: on stop emit p } }";
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a path");
    let flags = ["--mutant-time", "20ms", "--time-limit", "none", "--max-states", "1000000000", "--json"];
    let told = ioxide(&[&["kill", path, "--ops", "guard-const,delete"][..], &flags].concat());
    let found = json(&told);
    assert_eq!(told.status.code(), Some(5), "{found}");
    let results = found["results"].as_array().expect("results");
    assert!(results.len() > 2 && results.iter().all(|it| it["outcome"] != "open"), "{found}");
    assert!(found["partial"].is_null() && found["unknown"].as_u64() > Some(0), "{found}");
}

/// In a channel that keeps no order, what a model says first may arrive second.
#[test]
fn models_are_compared_as_seen_through_a_channel() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, first: &str, then: &str| {
        let text = format!(
            "model M {{ input go output a output b
            state s {{ on go -> t }}
            state t {{ emit {first} -> u on go -> t }}
            state u {{ emit {then} -> v on go -> u }}
            state v {{ on go -> v }} }}"
        );
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("a path").to_owned()
    };
    let (one, other) = (write("one.iox", "a", "b"), write("other.iox", "b", "a"));
    let status = |more: &[&str]| ioxide(&[&["conform", &one, &other], more].concat()).status.code();
    assert_eq!(status(&[]), Some(1));
    assert_eq!(status(&["--through", "fifo(capacity: 2)"]), Some(1));
    assert_eq!(status(&["--through", "bag(capacity: 2)"]), Some(0));
    assert_eq!(status(&["--through", "bag(capacity: 1)"]), Some(1));
}
