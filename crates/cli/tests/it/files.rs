//! Files that are written: whole or not at all, by one process at a time; and verdicts without room to write them.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::program::{print as ioxide, root};

const SPEC: &str = "examples/brp/spec.iox";
const FAULTY: &str = "model:examples/brp/m3.iox";
const METER: &str = "examples/fsm/meter.iox";
const IOXIDE: &str = env!("CARGO_BIN_EXE_ioxide");

fn run(mut command: Command) -> (String, i32) {
    let output = command.current_dir(root()).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code().unwrap_or(-1))
}

/// The same where no file may be larger than `blocks` of 1024 bytes: a disk that is soon full.
fn cramped(blocks: u32, args: &[&str]) -> (String, i32) {
    let mut command = Command::new("bash");
    // The shell ignores the signal, and so does what it becomes: writing is an error then.
    command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).args(["bash", IOXIDE]);
    command.args(args);
    run(command)
}

fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    (folder, path)
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Defect: an interrupted `fsm --out` left a suite that looked whole.
#[test]
fn a_suite_that_does_not_fit_leaves_the_old_one() {
    let (_folder, path) = folder();
    let suite = format!("{path}/suite.jsonl");
    let make = [
        "fsm",
        "examples/fsm/handshake-v1.dot",
        "--suite",
        "w",
        "--minimise",
        "--extra",
        "2",
        "--out",
        &suite,
    ];
    let (text, code) = ioxide(&make);
    assert_eq!(code, 0, "{text}");
    let whole = fs::read_to_string(&suite).expect("a suite");
    let (text, code) = cramped(1, &make);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot write"), "{text}");
    assert_eq!(fs::read_to_string(&suite).expect("a suite"), whole);
    assert_eq!(names(&path), ["suite.jsonl"], "nothing is left beside it");
}

#[test]
fn a_suite_without_its_end_is_refused() {
    let (_folder, path) = folder();
    let suite = format!("{path}/suite.jsonl");
    let (text, code) = ioxide(&["kill", SPEC, "--ops", "delete", "--out", &suite]);
    assert_eq!(code, 0, "{text}");
    let test = ["test", SPEC, "--sut", FAULTY, "--tester", &format!("suite:{suite}")];
    let whole = fs::read_to_string(&suite).expect("a suite");
    let cut: Vec<&str> = whole.lines().collect();
    fs::write(&suite, cut[..cut.len() - 1].join("\n") + "\n").expect("written");
    let (text, code) = ioxide(&test);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("the suite was cut off"), "{text}");
    let (text, code) = ioxide(&["score", SPEC, &suite, "--ops", "delete"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("the suite was cut off"), "{text}");
    fs::write(&suite, whole).expect("written");
    let (text, code) = ioxide(&test);
    assert!(code == 0 || code == 1, "{text}");
}

/// Defect: two processes wrote one `junit.xml`.
#[test]
fn one_process_at_a_time_writes_to_a_folder_or_a_record() {
    let (_folder, path) = folder();
    let other = File::open(&path).expect("a folder");
    other.lock().expect("nobody else has it");
    let test = ["test", SPEC, "--sut", "model:examples/brp/spec.iox", "--runs", "1", "--report", &path];
    let (text, code) = ioxide(&test);
    assert_eq!((code, names(&path).len()), (2, 0), "{text}");
    assert!(text.contains(&format!("another ioxide is writing to `{path}`")), "{text}");
    drop(other);
    let (text, code) = ioxide(&test);
    assert_eq!(code, 0, "{text}");
    let record = format!("{path}/kill.jsonl");
    let kill = ["kill", SPEC, "--ops", "delete", "--record", &record];
    let other = File::create(&record).expect("a file");
    other.lock().expect("nobody else has it");
    let (text, code) = ioxide(&kill);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("another ioxide is writing to"), "{text}");
    drop(other);
    assert_eq!(ioxide(&kill).1, 0);
}

#[test]
fn records_are_their_owners_alone_and_reports_come_at_the_end() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = folder();
    let (text, code) = ioxide(&["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &path]);
    assert_eq!(code, 1, "{text}");
    let all = ["campaign.jsonl", "junit.xml", "regressions.jsonl", "report.html", "summary.md"];
    assert_eq!(names(&path), all);
    for name in all {
        let mode = fs::metadata(Path::new(&path).join(name)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    // A campaign that is killed leaves its record, and no report of the campaign before.
    let sut = "stdio:kill -9 $PPID; sleep 9";
    let (_, code) = ioxide(&["test", SPEC, "--sut", sut, "--report", &path, "--jobs", "2"]);
    assert_eq!(code, -1, "it was killed");
    assert!(!names(&path).contains(&"junit.xml".to_owned()), "{:?}", names(&path));
}

/// Defect: a cut `regressions.jsonl` blocked `test`.
#[test]
fn a_cut_file_of_failing_runs_does_not_block_tests() {
    let (_folder, path) = folder();
    let test = ["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &path];
    assert_eq!(ioxide(&test).1, 1);
    let file = Path::new(&path).join("regressions.jsonl");
    let whole = fs::read(&file).expect("regressions");
    let first = whole.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    for end in [1, first - 1, first + 1, whole.len() - 3] {
        fs::write(&file, &whole[..end]).expect("written");
        let (text, code) = ioxide(&test);
        assert_eq!(code, 1, "{end}: {text}");
        let is_cut = end != first - 1;
        assert_eq!(text.contains("is incomplete and was ignored"), is_cut, "{end}: {text}");
        assert_eq!(fs::read(&file).expect("regressions"), whole, "{end}: it is whole again");
    }
}

/// Defect: a full disk turned a failure that was found into a wrong argument.
#[test]
fn a_full_disk_takes_no_verdict_away() {
    let (_folder, path) = folder();
    let test =
        |sut| ["test", SPEC, "--sut", sut, "--seed", "1", "--tester", "random", "--runs", "20", "--report"];
    let (text, code) = cramped(2, &[&test(FAULTY)[..], &[&path]].concat());
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("FAIL at step") && text.contains("is incomplete"), "{text}");
    assert!(!text.contains("\nrecord: "), "{text}");
    // Nothing failed, but what was asked for is not there.
    let (_other, path) = folder();
    let (text, code) = cramped(2, &[&test("model:examples/brp/spec.iox")[..], &[&path]].concat());
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("nothing failed, but the record"), "{text}");
    // What was written can be read.
    let (text, code) = ioxide(&["report", &path]);
    assert_eq!(code, 0, "{text}");
}

/// Defect: a folder that was deleted while its campaign ran was named, and all seemed well.
#[test]
fn a_record_that_is_gone_is_told() {
    let (_folder, path) = folder();
    let inner = format!("{path}/records");
    let sut = format!("stdio:rm -rf {inner}; exec {IOXIDE} sut {SPEC} --seed 1");
    let args = ["test", SPEC, "--sut", &sut, "--runs", "1", "--silence-ms", "30", "--report", &inner];
    let (text, code) = ioxide(&[&args[..], &["--jobs", "2"]].concat());
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("is incomplete"), "{text}");
    assert!(!text.contains("\nrecord: "), "{text}");
}

/// Nobody reads what is shown: the verdict is the exit code all the same.
#[test]
fn a_reader_that_goes_away_takes_no_verdict_away() {
    let (_folder, path) = folder();
    let mut command = Command::new("bash");
    let test = format!("{IOXIDE} test {SPEC} --sut {FAULTY} --seed 1");
    command.arg("-c").arg(format!("{test} | true; exit ${{PIPESTATUS[0]}}"));
    let (text, code) = run(command);
    assert_eq!(code, 1, "{text}");
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{test} --json > /dev/full"));
    let (text, code) = run(command);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("not everything could be shown"), "{text}");
    let mut command = Command::new("bash");
    command.arg("-c").arg(format!("{test} --report {path} > /dev/full 2>&1"));
    assert_eq!(run(command).1, 1, "nobody can be told, and it failed all the same");
}

/// Verdicts of every command that gives some: each with its exit code.
const VERDICTS: [(&str, i32); 11] = [
    ("test examples/brp/spec.iox --sut model:examples/brp/m3.iox --seed 1 --no-shrink", 1),
    ("judge examples/brp/spec.iox RECORD", 1),
    ("replay RECORD --sut model:examples/brp/m3.iox", 1),
    ("shrink RECORD --sut model:examples/brp/m3.iox", 1),
    ("conform examples/brp/m3.iox examples/brp/spec.iox", 1),
    ("diff examples/fsm/handshake-v1.dot examples/fsm/handshake-v2.dot", 1),
    ("fsm examples/fsm/handshake-v1.dot --reduction --sut examples/fsm/handshake-v2.dot --bound 5", 1),
    ("check docs/book/src/broken.iox", 3),
    ("purposes examples/brp/spec.iox --max-states 2", 5),
    ("kill examples/brp/spec.iox --ops delete --max-states 2 --solver none --without reached-places", 5),
    ("adapter check stdio:true", 6),
];

/// Defect: a reader that went away, as `grep -q` does, made a failure of `judge`, `conform`, `diff` and others a
/// success, and a full disk behind stdout made it a wrong argument.
#[test]
fn no_verdict_depends_on_who_reads_it() {
    let (_folder, path) = folder();
    assert_eq!(ioxide(&["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &path]).1, 1);
    for (words, code) in VERDICTS {
        let words = words.replace("RECORD", &path);
        let with = |out: Stdio| {
            let mut command = Command::new(IOXIDE);
            command.args(words.split(' ')).current_dir(root()).stdin(Stdio::null()).stdout(out);
            command.stderr(Stdio::null()).status().expect("it runs").code()
        };
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let full = File::options().write(true).open("/dev/full").expect("a disk without room");
        assert_eq!(with(Stdio::null()), Some(code), "{words}");
        assert_eq!(with(writer.into()), Some(code), "{words}, and nobody reads it");
        assert_eq!(with(full.into()), Some(code), "{words}, and there is no room for it");
    }
}

/// Defect: with `--jobs`, an instance that could not be started took away the failure another had found.
#[test]
fn a_broken_instance_takes_no_failure_away() {
    let (_folder, path) = folder();
    // One instance finds the folder there already and cannot start; it waits until the other has failed.
    let sut = format!(
        "stdio:if mkdir {path}/one; then exec {IOXIDE} sut examples/brp/m3.iox --seed 1; \
         else while ! grep -qs '\"outcome\":\"fail\"' {path}/runs/campaign.jsonl; do sleep 0.1; done; fi"
    );
    let runs = format!("{path}/runs");
    let args =
        ["test", SPEC, "--sut", &sut, "--seed", "1", "--tester", "random", "--runs", "50", "--no-shrink"];
    let (text, code) = ioxide(
        &[&args[..], &["--jobs", "2", "--keep-going", "--silence-ms", "30", "--report", &runs]].concat(),
    );
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("FAIL"), "{text}");
}

/// Defect: a file without a line break was emptied when it was named as the session of `learn`.
#[test]
fn a_file_that_is_no_session_is_left_alone() {
    let (_folder, path) = folder();
    let file = format!("{path}/notes");
    for text in ["important notes", "important\nnotes", "{\"format\":\"ioxide-learn-session\"}\n", "\0"] {
        fs::write(&file, text).expect("written");
        let meter = ["learn", METER, "--sut", "model:examples/fsm/meter.iox"];
        let (told, code) = ioxide(&[&meter[..], &["--session", &file]].concat());
        assert_eq!((code, fs::read_to_string(&file).expect("there").as_str()), (2, text), "{told}");
        let (told, code) = ioxide(&["kill", SPEC, "--ops", "delete", "--record", &file]);
        assert_eq!((code, fs::read_to_string(&file).expect("there").as_str()), (2, text), "{told}");
    }
}

/// Every command that writes says so where it cannot write.
#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let (_folder, path) = folder();
    let record = format!("{path}/campaign.jsonl");
    assert_eq!(ioxide(&["test", SPEC, "--sut", FAULTY, "--seed", "1", "--report", &path]).1, 1);
    let file = format!("{path}/file");
    fs::write(&file, "a file, not a folder").expect("written");
    let inside = format!("{file}/x");
    for args in [
        &["fsm", "examples/fsm/door.txt", "--suite", "s", "--out", &inside][..],
        &["fsm", "examples/fsm/door.txt", "--suite", "s", "--html", &inside],
        &["kill", SPEC, "--ops", "delete", "--out", &inside],
        &["kill", SPEC, "--ops", "delete", "--record", &inside],
        &["kill", SPEC, "--ops", "delete", "--html", &inside],
        &["score", SPEC, "random", "--ops", "delete", "--runs", "1", "--record", &inside],
        &["score", SPEC, "random", "--ops", "delete", "--runs", "1", "--html", &inside],
        &["learn", METER, "--sut", "model:examples/fsm/meter.iox", "--session", &inside],
        &["learn", METER, "--sut", "model:examples/fsm/meter.iox", "--out", &inside],
        &["shrink", &path, "--sut", FAULTY, "--report", &inside],
        &["report", &record, "--markdown", &inside],
        &["mutate", SPEC, "--out", &inside],
        &["report", &record, "--html", &inside],
        &["report", &record, "--junit", &inside],
        &["test", SPEC, "--sut", FAULTY, "--report", &inside],
        &["init", &inside],
    ] {
        let (text, code) = ioxide(args);
        assert_eq!(code, 2, "{args:?}: {text}");
        assert!(text.contains("cannot write"), "{args:?}: {text}");
    }
    assert_eq!(fs::read_to_string(&file).expect("there"), "a file, not a folder");
}

/// A model, and what it uses in a file of its own.
fn torxakis_files(folder: &str) -> (String, String) {
    let (model, shared) = (format!("{folder}/model.txs"), format!("{folder}/shared.txs"));
    let text = "MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR echo [In, Out] () ENDDEF\n";
    fs::write(&model, text).expect("written");
    let text = "CHANDEF C ::= In, Out :: Int ENDDEF\n\
                PROCDEF echo [In, Out :: Int] () ::= In ? x >-> Out ! x + 1 >-> echo [In, Out] () ENDDEF\n";
    fs::write(&shared, text).expect("written");
    (model, shared)
}

#[test]
fn torxakis_models_are_checked_with_the_files_they_need() {
    let (_folder, path) = folder();
    let (model, shared) = torxakis_files(&path);
    for files in [vec![&*model, &*shared], vec![&shared, &model], vec![&shared, METER, &model]] {
        let (text, code) = ioxide(&[vec!["check"], files].concat());
        assert_eq!(code, 0, "{text}");
        assert!(text.contains(&format!("{model}+{shared}: ok")), "{text}");
    }
    // Alone, each says what it lacks; and models that stand alone are not mixed.
    assert!(ioxide(&["check", &model]).0.contains("there is no channel `In`"));
    assert!(ioxide(&["check", &shared]).0.contains("no `MODELDEF`"));
    let (text, code) = ioxide(&["check", "corpus/models/txs/door.txs", "corpus/models/txs/queue.txs"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn joined_files_are_a_model_wherever_one_is_taken() {
    let (_folder, path) = folder();
    let (model, shared) = torxakis_files(&path);
    let whole = format!("{model}+{shared}");
    let report = format!("{path}/runs");
    let sut = format!("model:{whole}");
    let (text, code) =
        ioxide(&["test", &whole, "--sut", &sut, "--runs", "2", "--seed", "1", "--report", &report]);
    assert_eq!(code, 0, "{text}");
    for args in [
        &["replay", &*report, "--sut", &sut][..],
        &["conform", &whole, &whole],
        &["show", &whole],
        &["watch", &whole, "--rounds", "1"],
    ] {
        let (text, code) = ioxide(args);
        assert_eq!(code, 0, "{args:?}: {text}");
    }
    let (text, code) = ioxide(&["show", &format!("{model}+{path}/none.txs")]);
    assert!(code == 2 && text.contains("none.txs"), "{text}");
}
