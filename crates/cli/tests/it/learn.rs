//! Models from systems: what is learned is readable, right, and what the system does; sessions go on after a cut;
//! contradictions are shown; records will do where there is no system.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::program::{expect as says, expect_in as says_in, root};

const METER: &str = "examples/fsm/meter.iox";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// Names of messages that are no words are written in backquotes, and one that is an input and an output gets two
/// names.
#[test]
fn messages_may_have_any_name() {
    let folder = folder();
    let (machine, learned) = (path(&folder, "quic.dot"), path(&folder, "learned.iox"));
    let text = r#"digraph quic {
        __start0 [label="" shape="none"];
        __start0 -> s0;
        s0 -> s1 [label="INIT-CHLO / ServerHello & Certificate"];
        s0 -> s0 [label="DATA / none"];
        s1 -> s1 [label="INIT-CHLO / none"];
        s1 -> s1 [label="DATA / DATA"];
    }"#;
    fs::write(&machine, text).expect("a file");
    let sut = format!("model:{machine}");
    says(&["learn", &machine, "--sut", &sut, "--seed", "1", "--out", &learned], 0);
    let draft = fs::read_to_string(&learned).expect("the draft is written");
    for line in
        ["input `INIT-CHLO`", "output `ServerHello & Certificate`", "output `none`", "output DATA_out"]
    {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    says(&["check", &learned], 0);
    says(&["fmt", "--check", &learned], 0);
}

/// A machine whose inputs and answers have the names `inputs` and `outputs`: state `i` answers its inputs in turn, and
/// every input but the first goes on to the next state.
fn machine_with_names(inputs: &[&str], outputs: &[&str]) -> String {
    let escaped = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = String::from("digraph odd {\n__start0 -> s0;\n");
    for state in 0..3 {
        for (number, input) in inputs.iter().enumerate() {
            let next = if number == 0 { 0 } else { (state + 1) % 3 };
            let output = outputs[(state * inputs.len() + number * (state + 1)) % outputs.len()];
            let label = format!("{} / {}", escaped(input), escaped(output));
            text.push_str(&format!("s{state} -> s{next} [label=\"{label}\"];\n"));
        }
    }
    text + "}\n"
}

/// Defect: names with `+`, `.` or brackets lost their backquotes, so that the draft was no model.
#[test]
fn drafts_with_odd_names_are_models_that_do_the_same() {
    let folder = folder();
    let odd = [
        (vec!["KEX30", "a+b", "a.b"], vec!["KEXINIT+DISCONNECT", "x.y", "x[2]", "x[", "+", "z.[3]"]),
        (vec!["when", "1", "put(key: 1)"], vec!["in", "emit", "state", "true", "2.5", "on a -> b"]),
        (vec!["say \"hi\"", "back\\slash", "é"], vec!["{", "}", "// no", "#", "a;b", "ς & τ", "'"]),
        (vec!["A", "a", "A_"], vec!["a_1", "A 1", "A-1", "owes_a_1_to_start", "start", "s1"]),
    ];
    for (number, (inputs, outputs)) in odd.iter().enumerate() {
        let machine = path(&folder, &format!("odd{number}.dot"));
        let learned = path(&folder, &format!("odd{number}.iox"));
        fs::write(&machine, machine_with_names(inputs, outputs)).expect("a file");
        says(&["learn", &machine, "--sut", &format!("model:{machine}"), "--seed", "1", "--out", &learned], 0);
        says(&["check", &learned], 0);
        says(&["fmt", "--check", &learned], 0);
        says(&["diff", &machine, &learned], 0);
    }
}

#[test]
fn a_learned_model_is_in_order_and_what_the_system_does() {
    let folder = folder();
    let (right, faulty) = (path(&folder, "right.iox"), path(&folder, "faulty.iox"));
    let told =
        says(&["learn", METER, "--sut", "model:examples/fsm/meter.iox", "--seed", "1", "--out", &right], 0);
    assert!(told.contains("exact if the system has at most 6 states (4 + 2)"), "{told}");
    says(&["check", &right], 0);
    says(&["fmt", "--check", &right], 0);
    let tested =
        says(&["test", &right, "--sut", "model:examples/fsm/meter.iox", "--seed", "1", "--steps", "2000"], 0);
    assert!(!tested.contains("FAIL"), "{tested}");
    says(&["diff", METER, &right], 0);
    says(
        &["learn", METER, "--sut", "model:examples/fsm/meter-faulty.iox", "--seed", "1", "--out", &faulty],
        0,
    );
    says(&["test", &right, "--sut", "model:examples/fsm/meter-faulty.iox", "--seed", "1", "--no-shrink"], 1);
    let changed = says(&["diff", &right, &faulty], 1);
    assert!(changed.contains("after coin(value: 2) coin(value: 2) coin(value: 1)"), "{changed}");
    assert!(changed.contains("before: display(n: 3)"), "{changed}");
}

#[test]
fn a_process_and_a_machine_are_learned_alike() {
    let folder = folder();
    let learned = path(&folder, "learned.dot");
    let sut = format!("stdio:{} sut examples/fsm/handshake-v2.dot", env!("CARGO_BIN_EXE_ioxide"));
    let args = ["learn", "examples/fsm/handshake-v1.dot", "--sut", &sut, "--one-answer", "--extra", "1"];
    let told =
        says(&[&args[..], &["--seed", "1", "--format", "dot", "--out", &learned, "--json"]].concat(), 0);
    assert!(told.contains("\"states\":5") && told.contains("\"exact_up_to\":6"), "{told}");
    says(&["diff", "examples/fsm/handshake-v2.dot", &learned], 0);
    let changed = says(&["diff", "examples/fsm/handshake-v1.dot", &learned, "--json"], 1);
    assert!(changed.contains("\"equivalent\":false") && changed.contains("\"added\":["), "{changed}");
}

#[test]
fn inputs_can_be_chosen() {
    let folder = folder();
    let list = path(&folder, "inputs.txt");
    fs::write(&list, "# two coins\ncoin(value: 2)\n").expect("written");
    let args = ["learn", METER, "--sut", "model:examples/fsm/meter.iox", "--seed", "1"];
    let told = says(&[&args[..], &["--inputs", &list, "--input", "press"]].concat(), 0);
    assert!(told.contains("2 states with 2 inputs"), "{told}");
    assert!(told.contains("on coin(value: 2)") && !told.contains("on coin(value: 1)"), "{told}");
    for (wrong, word) in [("coin", "leaves a field out"), ("ticket", "not an input"), ("soup", "soup")] {
        let told = says(&[&args[..], &["--input", wrong]].concat(), 2);
        assert!(told.contains(word), "{told}");
    }
    let told = says(&[&args[..], &["--suite", "x"]].concat(), 2);
    assert!(told.contains("there is mixed, w, wp, hsi"), "{told}");
}

/// Recorded runs answer no question, so whatever is about asking is refused and not passed over.
#[test]
fn flags_about_a_system_are_refused_with_traces() {
    let flags: [&[&str]; 28] = [
        &["--sut", "model:examples/fsm/meter.iox"],
        &["--from", "x"],
        &["--reference", "x"],
        &["--input", "press"],
        &["--inputs", "x"],
        &["--data"],
        &["--time"],
        &["--wait-ms", "5"],
        &["--tolerance-ms", "5"],
        &["--data", "--compare", "order"],
        &["--data", "--constant", "5"],
        &["--data", "--made", "x"],
        &["--values", "2"],
        &["--suite", "h"],
        &["--extra", "1"],
        &["--walks", "5"],
        &["--walk-length", "5"],
        &["--closed", "x"],
        &["--one-answer"],
        &["--unstable", "draft"],
        &["--votes", "5"],
        &["--confidence", "90"],
        &["--jobs", "2"],
        &["--session", "x"],
        &["--view"],
        &["--view", "--open"],
        &["--silence-ms", "5"],
        &["--greeting-ms", "5"],
    ];
    for flag in flags {
        let told = says(&[&["learn", METER, "--traces", "runs.txt"], flag].concat(), 2);
        assert!(told.contains("cannot be used with") && told.contains(flag[0]), "{flag:?}: {told}");
    }
}

/// Whoever waits long for answers need not wait as long for a greeting that does not come.
#[test]
fn a_greeting_has_a_time_of_its_own() {
    let sut = format!("stdio:{} sut examples/fsm/handshake-v2.dot", env!("CARGO_BIN_EXE_ioxide"));
    let args = [
        "learn",
        "examples/fsm/handshake-v1.dot",
        "--sut",
        &sut,
        "--one-answer",
        "--extra",
        "1",
        "--seed",
        "1",
    ];
    let begun = Instant::now();
    let told =
        says(&[&args[..], &["--silence-ms", "60000", "--greeting-ms", "50", "--format", "dot"]].concat(), 0);
    assert!(told.contains("5 states"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}

/// A session that is cut anywhere, as by `kill -9`, ends as if it had not been, and asks nothing twice.
#[test]
fn a_session_goes_on_after_a_cut() {
    let folder = folder();
    let (session, out) = (path(&folder, "session"), path(&folder, "learned.iox"));
    let args = [
        "learn",
        METER,
        "--sut",
        "model:examples/fsm/meter.iox",
        "--seed",
        "1",
        "--session",
        &session,
        "--out",
        &out,
    ];
    let told = says(&args, 0);
    let whole = (fs::read(&session).expect("a session"), fs::read(&out).expect("a model"));
    for share in [0, 1, 3, 7, 9, 10] {
        let cut = whole.0.len() * share / 10;
        fs::write(&session, &whole.0[..cut]).expect("cut");
        fs::remove_file(&out).expect("removed");
        let again = says(&args, 0);
        let lines = |bytes: &[u8], what: &str| String::from_utf8_lossy(bytes).matches(what).count();
        let session = fs::read(&session).expect("a session");
        for what in ["\"reset\"", "\"input\""] {
            let (now, then) = (lines(&session, what), lines(&whole.0, what));
            // The run that was cut is gone through once more, up to where it was cut.
            let longest = 30;
            assert!(
                now <= then + if what.contains("reset") { 1 } else { longest },
                "{what}: {now} for {then}"
            );
        }
        let machine = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().filter(|line| !line.starts_with("///")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(machine(&fs::read(&out).expect("a model")), machine(&whole.1), "cut at {cut}");
        let again: String = again
            .lines()
            .filter(|line| !line.contains("of these runs are from a session"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(share < 10 || again == told, "nothing was left to ask: {again}");
    }
    let told = says(&[&args[..], &["--input", "press"]].concat(), 2);
    assert!(told.contains("not a session of this model with these inputs"), "{told}");
}

/// A door behind a text protocol; the answer to its `n`-th message is wrong, `for_good` or once.
fn door(n: u64, for_good: bool) -> (TempDir, Arc<AtomicU64>) {
    let (folder, count, _) = watched_door(move |now| now == n || for_good && now > n);
    (folder, count)
}

/// Every connection's messages, in the order in which connections were made.
type Connections = Arc<Mutex<Vec<Vec<String>>>>;

/// A door whose answers are wrong where `is_wrong` says so, by the number of the message.
fn watched_door(
    is_wrong: impl Fn(u64) -> bool + Clone + Send + 'static,
) -> (TempDir, Arc<AtomicU64>, Connections) {
    let seen = Connections::default();
    let runs = Arc::clone(&seen);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (counted, is_wrong, runs) = (Arc::clone(&counted), is_wrong.clone(), Arc::clone(&runs));
            let number = {
                let mut runs = runs.lock().expect("nobody panics");
                runs.push(Vec::new());
                runs.len() - 1
            };
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().expect("a stream");
                let (mut is_open, mut is_locked) = (false, false);
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let is_done = match line.trim() {
                        "open" => !is_locked && !is_open,
                        "close" => is_open,
                        _ => !is_open,
                    };
                    match line.trim() {
                        "lock" => is_locked ^= is_done,
                        _ => is_open ^= is_done,
                    }
                    runs.lock().expect("nobody panics")[number].push(line.trim().to_owned());
                    let now = counted.fetch_add(1, Ordering::Relaxed) + 1;
                    let answer = if is_done != is_wrong(now) { "ok\r\n" } else { "no\r\n" };
                    if writer.write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    let folder = folder();
    let project = format!(
        "[sut.door]\nkind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\n[sut.door.inputs]\n\
         open = \"open\"\nclose = \"close\"\n\
         lock = \"lock\"\n[sut.door.outputs]\nok = 'ok'\nno = 'no'\n"
    );
    let model = "model Door {\n input open\n input close\n input lock\n output ok\n output no\n \
                 state any_state { on open \
                 on close on lock }\n}\n";
    fs::write(folder.path().join("ioxide.toml"), project).expect("a file");
    fs::write(folder.path().join("door.iox"), model).expect("a file");
    (folder, count, seen)
}

const DOOR: [&str; 9] =
    ["learn", "door.iox", "--sut", "door", "--one-answer", "--seed", "1", "--silence-ms", "250"];

#[test]
fn a_system_that_contradicts_itself_is_shown_and_nothing_is_lost() {
    let (folder, count) = door(10_500, true);
    let told = says_in(folder.path(), &[&DOOR[..], &["--session", "kept", "--extra", "6"]].concat(), 5);
    assert!(count.load(Ordering::Relaxed) >= 10_500, "noticed too early: {told}");
    assert!(told.contains("gives two different replies to the same inputs"), "{told}");
    let run = |name: &str| {
        let line = told.lines().find_map(|line| line.trim().strip_prefix(name)).expect("a run");
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let (earlier, now) = (run("earlier:"), run("now:"));
    assert_eq!(earlier.len(), now.len());
    assert!(earlier[..now.len() - 1] == now[..now.len() - 1] && earlier.last() != now.last(), "{told}");
    let kept = fs::read_to_string(folder.path().join("kept")).expect("a session");
    let (kept, taken) = (kept.matches("\"input\"").count() as u64, count.load(Ordering::Relaxed));
    // The last one may still be under way where the machine is slow.
    assert!(kept == taken || kept == taken + 1, "{kept} kept, {taken} taken");
}

#[test]
fn the_usual_answer_can_be_believed() {
    let (folder, _) = door(150, false);
    let told =
        says_in(folder.path(), &[&DOOR[..], &["--unstable", "majority", "--out", "learned.iox"]].concat(), 0);
    assert!(told.contains("3 states with 3 inputs"), "{told}");
    assert!(told.contains("1 answer by majority, the least sure with confidence 99.8%"), "{told}");
    let (steady, _) = door(u64::MAX, false);
    says_in(steady.path(), &[&DOOR[..], &["--out", "learned.iox"]].concat(), 0);
    let (a, b) = (path(&folder, "learned.iox"), path(&steady, "learned.iox"));
    says(&["diff", &a, &b], 0);
}

/// The answer to `lock` comes out wrong now and then: the draft has both.
#[test]
fn choices_can_be_drafted() {
    let (folder, ..) = watched_door(|now| now % 7 < 2);
    let told = says_in(
        folder.path(),
        &[
            &DOOR[..],
            &[
                "--unstable",
                "draft",
                "--votes",
                "15",
                "--walks",
                "60",
                "--walk-length",
                "5",
                "--out",
                "learned.iox",
            ],
        ]
        .concat(),
        0,
    );
    assert!(
        told.contains("it is drafted with choices") && told.contains("answered in several ways"),
        "{told}"
    );
    assert!(told.contains("earlier:") && told.contains("now:"), "{told}");
    says_in(folder.path(), &["check", "learned.iox"], 0);
    let text = fs::read_to_string(folder.path().join("learned.iox")).expect("a model");
    assert!(
        text.contains(" of ") && text.contains("on open -> owes_ok") && text.contains("on open -> owes_no"),
        "{text}"
    );
}

fn machine_of(folder: &TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join(name)).expect("a model");
    text.lines().filter(|line| !line.starts_with("///")).map(str::to_owned).collect()
}

/// Killed at random, again and again, and resumed: the same machine, and no run that was over is made again.
#[test]
fn a_session_that_is_killed_at_random_ends_as_if_it_had_not_been() {
    let (whole, ..) = watched_door(|_| false);
    let args = [&DOOR[..], &["--extra", "3", "--out", "learned.iox"]].concat();
    says_in(whole.path(), &args, 0);
    for seed in 0..2_u64 {
        let (folder, answered, seen) = watched_door(|_| false);
        let args = [&args[..], &["--session", "kept"]].concat();
        let (sessions, mut kills) = (8, 0);
        for turn in 0..sessions {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
            command.args(&args).current_dir(folder.path()).env("IOXIDE_PROGRESS", "off");
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
            // It is killed after a number of messages that nobody chose by hand, not after a time: how far it got by
            // then does not depend on the machine.
            let messages = (seed * sessions + turn).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let last = answered.load(Ordering::Relaxed) + messages % 80;
            while answered.load(Ordering::Relaxed) < last && child.try_wait().expect("a child").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            kills += usize::from(child.try_wait().expect("a child").is_none());
            child.kill().expect("killed");
            child.wait().expect("gone");
        }
        says_in(folder.path(), &args, 0);
        assert_eq!(machine_of(&folder, "learned.iox"), machine_of(&whole, "learned.iox"), "seed {seed}");
        let seen = seen.lock().expect("nobody panics");
        let runs: Vec<&Vec<String>> = seen.iter().filter(|run| !run.is_empty()).collect();
        let once: BTreeSet<&Vec<String>> = runs.iter().copied().collect();
        // A run that was cut, and the one that is asked again for it, may be alike. Eight runs are asked again whenever
        // the session goes on, also where there was nothing left to do.
        let asked_again = 8 * sessions as usize;
        assert!(
            runs.len() - once.len() <= kills + asked_again,
            "{} runs, {} different, {kills} kills",
            runs.len(),
            once.len()
        );
        let kept = fs::read_to_string(folder.path().join("kept")).expect("a session");
        let (kept, taken) =
            (kept.matches("\"input\"").count(), runs.iter().map(|run| run.len()).sum::<usize>());
        let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
        assert!(
            kept <= taken && taken <= kept + kills + asked_again * longest,
            "{kept} kept, {taken} taken, {kills} kills"
        );
    }
}

/// Copies of the system are asked at the same time, and nothing else changes.
#[test]
fn copies_are_asked_at_the_same_time() {
    let (alone, ..) = watched_door(|_| false);
    let args = [&DOOR[..], &["--extra", "4", "--out", "learned.iox"]].concat();
    says_in(alone.path(), &args, 0);
    let (folder, ..) = watched_door(|_| false);
    let args = [&args[..], &["--jobs", "3", "--session", "kept"]].concat();
    let told = says_in(folder.path(), &args, 0);
    assert_eq!(machine_of(&folder, "learned.iox"), machine_of(&alone, "learned.iox"), "{told}");
    // What the copies were asked is in the session: nothing is left to ask.
    let before = fs::read(folder.path().join("kept")).expect("a session");
    says_in(folder.path(), &args, 0);
    assert_eq!(fs::read(folder.path().join("kept")).expect("a session"), before);
    let (gone, ..) = watched_door(|_| false);
    let project = fs::read_to_string(gone.path().join("ioxide.toml")).expect("a file");
    let line = project.lines().find(|line| line.starts_with("address")).expect("an address");
    fs::write(gone.path().join("ioxide.toml"), project.replace(line, "address = \"127.0.0.1:1\""))
        .expect("written");
    says_in(gone.path(), &args, 6);
}

/// Answers that records show are not asked for, and an earlier version shortens the way.
#[test]
fn records_and_references_save_messages() {
    let folder = folder();
    let (runs, first, second, third) =
        (path(&folder, "runs"), path(&folder, "a.iox"), path(&folder, "b.iox"), path(&folder, "c.iox"));
    let sut = "model:examples/fsm/meter.iox";
    let test =
        ["test", METER, "--sut", sut, "--tester", "random", "--runs", "60", "--steps", "20", "--seed", "1"];
    says(&[&test[..], &["--report", &runs]].concat(), 0);
    let learn = ["learn", METER, "--sut", sut, "--seed", "1", "--json", "--extra", "1"];
    let resets = |told: String| {
        let json: serde_json::Value =
            serde_json::from_str(told.lines().find(|line| line.starts_with('{')).expect("json"))
                .expect("json");
        assert_eq!(json["states"], 4, "{told}");
        assert!(json["guarantee"].as_str().is_some_and(|words| words.contains("at most 5 states")), "{told}");
        json["resets"].as_u64().expect("a number")
    };
    let alone = resets(says(&[&learn[..], &["--out", &first]].concat(), 0));
    let with_records = resets(says(&[&learn[..], &["--from", &runs, "--out", &second]].concat(), 0));
    assert!(with_records < alone, "{with_records} with records, {alone} without");
    let reference = ["--reference", "examples/fsm/meter-faulty.iox", "--out", &third];
    resets(says(&[&learn[..], &reference].concat(), 0));
    says(&["diff", &first, &second], 0);
    says(&["diff", &first, &third], 0);
    let told =
        says(&[&learn[..], &["--reference", "examples/fsm/handshake-v1.dot", "--out", &third]].concat(), 3);
    assert!(told.contains("none of the inputs"), "{told}");
}

#[test]
fn records_will_do_where_there_is_no_system() {
    let folder = folder();
    let (runs, out) = (path(&folder, "runs"), path(&folder, "learned.iox"));
    let test = ["test", METER, "--sut", "model:examples/fsm/meter.iox", "--tester", "random", "--runs", "60"];
    says(&[&test[..], &["--steps", "20", "--seed", "1", "--report", &runs]].concat(), 0);
    let told = says(&["learn", METER, "--traces", &runs, "--hold-out", "25", "--out", &out], 0);
    assert!(told.contains("4 states from 45 runs") && told.contains("15 of 15 runs"), "{told}");
    says(&["check", &out], 0);
    assert!(fs::read_to_string(&out).expect("a model").contains("// seen "));
    says(&["test", &out, "--sut", "model:examples/fsm/meter.iox", "--seed", "1", "--steps", "500"], 0);
    let plain = path(&folder, "plain.jsonl");
    let line = |label: &str| format!("{{\"label\": \"{label}\"}}\n");
    let quiet = "{\"quiescence\": true}\n";
    let two = [line("press"), quiet.into(), "\n".into(), line("press"), line("ticket"), quiet.into()];
    fs::write(&plain, two.concat()).expect("written");
    let told = says(&["learn", METER, "--traces", &plain], 5);
    assert!(told.contains("the runs contradict each other"), "{told}");
}

#[test]
fn the_learned_redis_is_what_the_server_does() {
    if !ioxide_test_support::has_program("redis-server") {
        return;
    }
    let folder = root().join("examples/redis");
    let test = [
        "test",
        "learned.iox",
        "--sut",
        "transactions",
        "--tester",
        "random",
        "--runs",
        "3",
        "--steps",
        "60",
    ];
    says_in(&folder, &[&test[..], &["--seed", "1"]].concat(), 0);
}
