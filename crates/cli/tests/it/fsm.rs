//! Machines from text to verdict: suites as testers, models as machines, reductions of live systems,
//! and a clear word about everything that is none of these.

use std::fs;
use std::path::PathBuf;

use ioxide_fsm::mealy::{MachineListing, Mealy, SuiteModel};
use ioxide_fsm::nfsm::Nfsm;
use ioxide_fsm::product::{align_names, reduction_witness};
use ioxide_fsm::read;
use tempfile::TempDir;

use crate::program::{check, print};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Writes the suite of `model` into `folder` and gives the name of its tester.
fn suite(folder: &TempDir, model: &str, more: &[&str]) -> String {
    let path = folder.path().join("test.suite").display().to_string();
    let args = [&["fsm", model, "--out", &path], more].concat();
    check(&args, 0, &[]);
    format!("suite:{path}")
}

const V1: &str = "examples/fsm/handshake-v1.dot";
const V2: &str = "examples/fsm/handshake-v2.dot";

#[test]
fn a_suite_finds_the_extra_state_that_coverage_misses() {
    let folder = folder();
    let v2 = format!("model:{V2}");
    check(
        &["test", V1, "--sut", &v2, "--tester", "cover", "--seed", "1"],
        0,
        &["their runs covered 32 of 32 transitions"],
    );
    for method in ["w", "wp", "hsi", "h", "spy", "spyh", "s"] {
        let none = suite(&folder, V1, &["--suite", method]);
        check(&["test", V1, "--tester", &none, "--sut", &format!("model:{V1}"), "--seed", "1"], 0, &[]);
        let one = suite(&folder, V1, &["--suite", method, "--extra", "1"]);
        check(&["test", V1, "--tester", &one, "--sut", &v2, "--seed", "1"], 1, &["minimal failing run: 12"]);
        check(&["test", V1, "--tester", &one, "--sut", &format!("model:{V1}"), "--seed", "1"], 0, &[]);
    }
}

#[test]
fn suites_run_over_a_pipe() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_ioxide");
    let tester = suite(&folder, "examples/fsm/door.txt", &["--suite", "s"]);
    let sut = format!("stdio:{program} sut examples/fsm/door.txt");
    let args = ["test", "examples/fsm/door.txt", "--tester", &tester, "--sut", &sut, "--silence-ms", "20"];
    check(&args, 0, &["suite: ", "transitions: 18 of 18 covered"]);
    let other = format!("stdio:{program} sut {V1}");
    let args = ["test", V1, "--tester", &tester, "--sut", &other];
    check(&args, 2, &["the model has no input `", "give `test` the same model"]);
}

#[test]
fn suites_of_models_with_data_run_on_them() {
    let folder = folder();
    let meter = "examples/fsm/meter.iox";
    for method in ["w", "s"] {
        let tester = suite(&folder, meter, &["--suite", method]);
        check(
            &["test", meter, "--tester", &tester, "--sut", "model:examples/fsm/meter.iox"],
            0,
            &["tests carried out"],
        );
        let faulty = "model:examples/fsm/meter-faulty.iox";
        check(&["test", meter, "--tester", &tester, "--sut", faulty], 1, &["FAIL at step", "credit = 3"]);
    }
    let partial = suite(&folder, "examples/adder.iox", &["--suite", "h", "--missing", "loop", "--minimise"]);
    let args = ["test", "examples/adder.iox", "--tester", &partial, "--sut", "model:examples/adder.iox"];
    check(&args, 0, &["inputs left out"]);
}

#[test]
fn a_suite_is_repeated_where_choices_need_it() {
    let folder = folder();
    let tester = suite(&folder, "examples/fsm/door.txt", &["--suite", "s", "--repeat", "3"]);
    let args = ["test", "examples/fsm/door.txt", "--tester", &tester, "--sut", "model:examples/fsm/door.txt"];
    check(&args, 0, &["suite: 12 of 12 tests carried out"]);
    check(&[&args[..], &["--jobs", "3"]].concat(), 0, &["suite: 12 of 12 tests carried out"]);
    let json = "\"suite\":{\"carried_out\":12,\"left_out\":0,\"tests\":12}";
    check(&[&args[..], &["--json"]].concat(), 0, &[json]);
    let first = print(&[&args[..], &["--seed", "4", "--json"]].concat());
    assert_eq!(first, print(&[&args[..], &["--seed", "4", "--json"]].concat()), "same seed, same bytes");
}

#[test]
fn live_systems_are_counted_as_machines_are() {
    let program = env!("CARGO_BIN_EXE_ioxide");
    let count = |spec: &str, sut: &str, bound: &str, code: i32, words: &[&str]| {
        let args =
            ["fsm", spec, "--reduction", "--sut", sut, "--bound", bound, "--repeat", "30", "--seed", "1"];
        check(&args, code, words);
    };
    let (ma, mf) = ("examples/fsm/ma.dot", "examples/fsm/mf.dot");
    count(ma, "model:examples/fsm/ma-impl.dot", "3", 0, &["pass", "25 answers seen, 77 symbols", "30 times"]);
    count(mf, "model:examples/fsm/mf-impl.dot", "2", 1, &["a/0 a/2 a/0 is not allowed"]);
    let piped = format!("stdio:{program} sut examples/fsm/mf-impl.dot");
    count(mf, &piped, "2", 1, &["a/1 a/2 a/1 is not allowed"]);
    let (meter, faulty) = ("examples/fsm/meter.iox", "model:examples/fsm/meter-faulty.iox");
    count(meter, faulty, "4", 1, &["coin(value: 2)/returned"]);
    count(meter, "model:examples/fsm/meter.iox", "4", 0, &["pass"]);
    count(meter, "examples/fsm/meter-faulty.iox", "4", 1, &["is not allowed"]);
    count(V1, &format!("model:{V2}"), "5", 1, &["fin/fin_ack fin/fin_ack"]);
}

/// A machine in a file that vanishes with the folder.
fn machine(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    path.display().to_string()
}

#[test]
fn preconditions_are_refused_with_the_reason_or_met_on_request() {
    let folder = folder();
    let table = |text: &str| machine(&folder, "m.txt", text);
    let partial = table("s a 0 t\ns b 1 s\nt a 1 s\n");
    check(&["fsm", &partial, "--suite", "h"], 3, &["state `t` has no transition for input `b`", "--missing"]);
    check(&["fsm", &partial, "--suite", "h", "--missing", "loop"], 0, &["up to 2 states"]);
    check(&["fsm", &partial, "--suite", "h", "--missing", "error"], 0, &["up to 3 states"]);
    let twice = table("s a 0 t\nt a 0 s\n");
    check(&["fsm", &twice, "--suite", "w"], 3, &["`s` and `t` are equivalent", "--minimise"]);
    check(&["fsm", &twice, "--suite", "w", "--minimise"], 0, &["up to 1 states"]);
    let island = table("s a 0 s\nt a 1 s\n");
    check(&["fsm", &island, "--suite", "w"], 3, &["`t` cannot be reached", "--minimise"]);
    let hidden = table("s a 0 s\ns a 0 t\nt a 1 s\n");
    check(&["fsm", &hidden, "--suite", "w"], 3, &["not deterministic", "--reduction"]);
    let count = ["fsm", &hidden, "--reduction", "--sut", &hidden, "--bound", "2"];
    check(&count, 3, &["two transitions for `a/0`", "--minimise"]);
    check(&[&count[..], &["--minimise"]].concat(), 0, &["pass"]);
    check(&["fsm", V1, "--reduction", "--sut", V1, "--bound", "2"], 3, &["below the 4 states", "--bound"]);
    check(&["fsm", V1, "--reduction", "--sut", "examples/fsm/ma.dot", "--bound", "4"], 3, &["same input"]);
}

#[test]
fn broken_texts_are_named_with_their_line() {
    let folder = folder();
    let dot = |text: &str| machine(&folder, "m.dot", text);
    check(&["fsm", &dot("graph g { a -- b }"), "--suite", "h"], 3, &["m.dot:1:1", "digraph"]);
    check(&["fsm", &dot("digraph g {"), "--suite", "h"], 3, &["m.dot"]);
    check(
        &["fsm", &dot("digraph g {\n a -> b [label=\"x\"];\n}"), "--suite", "h"],
        3,
        &["m.dot:2:16", "input"],
    );
    check(&["fsm", &dot("digraph g { }"), "--suite", "h"], 3, &["no state"]);
    check(
        &["fsm", &dot("digraph g {\n__start0 -> z;\na -> a [label=\"x/y\"];}"), "--suite", "h"],
        3,
        &["`z`"],
    );
    let table = machine(&folder, "m.txt", "s a 0\n");
    check(&["fsm", &table, "--suite", "h"], 3, &["m.txt:1:1"]);
    check(&["test", &table, "--sut", "model:examples/fsm/door.txt"], 3, &["m.txt:1:1"]);
    let kiss = machine(&folder, "m.kiss2", ".i 1\n.o 1\n0 s t\n.e\n");
    check(&["fsm", &kiss, "--suite", "h"], 3, &["m.kiss2:3:1"]);
    check(&["fsm", "examples/atm/atm.iox", "--suite", "h"], 3, &["clocks"]);
    check(&["fsm", "examples/fsm/door.txt", "--suite", "x"], 2, &["there is no method `x`", "spyh"]);
    let suite = machine(&folder, "no.suite", "hello\n");
    let tester = format!("suite:{suite}");
    check(&["test", V1, "--tester", &tester, "--sut", &format!("model:{V1}")], 2, &["not an ioxide suite"]);
    let empty = machine(&folder, "empty.suite", "{\"format\":\"ioxide-suite\",\"version\":1}\n");
    let tester = format!("suite:{empty}");
    check(&["test", V1, "--tester", &tester, "--sut", &format!("model:{V1}")], 4, &["has no tests"]);
}

/// Pairs of public machines of one protocol.
const VERSIONS: [(&str, &str); 8] = [
    ("tls/OpenSSL_1.0.1g_server_regular", "tls/OpenSSL_1.0.1j_server_regular"),
    ("tls/OpenSSL_1.0.1j_server_regular", "tls/OpenSSL_1.0.1l_server_regular"),
    ("tls/OpenSSL_1.0.1l_server_regular", "tls/OpenSSL_1.0.2_server_regular"),
    ("tls/OpenSSL_1.0.1l_server_regular", "tls/OpenSSL_1.0.1l_server_regular"),
    ("tls/GnuTLS_3.3.8_server_regular", "tls/GnuTLS_3.3.12_server_regular"),
    ("mqtt/ActiveMQ__simple", "mqtt/emqtt__simple"),
    ("mqtt/VerneMQ__two_client", "mqtt/emqtt__two_client"),
    ("tcp/TCP_Linux_Client", "tcp/TCP_FreeBSD_Client"),
];

#[test]
fn suites_find_the_differences_of_public_versions() {
    let data = std::env::var_os("IOXIDE_DATA").map(|data| PathBuf::from(data).join("mealy"));
    let Some(data) = data.filter(|data| data.is_dir()) else { return };
    let folder = folder();
    for (old, new) in VERSIONS {
        let path = |name: &str| data.join(format!("{name}.dot")).display().to_string();
        let (old, new) = (path(old), path(new));
        // Enough extra states for every system as large as the new version.
        let extra = states(&new).saturating_sub(states(&old)).to_string();
        let tester = suite(&folder, &old, &["--suite", "s", "--minimise", "--extra", &extra]);
        let args = ["test", &old, "--tester", &tester, "--sut", &format!("model:{new}"), "--seed", "1"];
        let (text, code) = print(&args);
        assert_eq!(code, i32::from(differs(&old, &new)), "{old} {new}\n{text}");
    }
}

fn listing(path: &str) -> MachineListing {
    read::read_dot(&fs::read_to_string(path).expect("a machine")).expect("a machine")
}

fn states(path: &str) -> usize {
    let machine = Mealy::from_listing(&listing(path)).expect("deterministic");
    SuiteModel::from_reduced(&machine).expect("complete").n_states()
}

/// Returns whether the new version has a trace that the old one has not.
fn differs(old: &str, new: &str) -> bool {
    let old = Nfsm::from_listing(&listing(old)).determinise();
    let new = align_names(old.names(), &Nfsm::from_listing(&listing(new))).expect("the same inputs");
    reduction_witness(&old, &new.determinise()).is_some()
}

/// The initial state is not named first, and two slashes stand in one label.
const TRICKY: [&str; 3] = [
    "digraph m {\n b -> a [label=\"x/1\"]; a -> b [label=\"x/0/y\"]; a -> a [label=\"z / 0\"]\n \
     b -> b [label=\"z/1\"]\n __start0 -> a }",
    "digraph m { // red is initial\n b; a [color=\"red\"] b -> a [label=\"x/1\"] a -> b [label=\"x / 0/y\"]\n\
     a -> a [label=\"z/0\"] b -> b [label=\"z/1\"] }",
    "strict digraph m { a b edge [label=\"x / 0/y\"] a -> b; b -> a [label=\"x/1\"] { edge [label=<z/0>] a:n -> a }\n\
     # end\n b -> b [label=\"z\" + \"/1\"] }",
];

#[test]
fn two_readers_of_dot_gave_a_fail_against_itself() {
    let folder = folder();
    let files: Vec<String> = TRICKY
        .iter()
        .enumerate()
        .flat_map(|(n, text)| ["dot", "gv"].map(|extension| (format!("m{n}.{extension}"), *text)))
        .map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path.display().to_string()
        })
        .collect();
    let shown = |args: &[&str]| {
        let (text, code) = print(args);
        assert_eq!(code, 0, "ioxide {args:?}\n{text}");
        text
    };
    let suite = shown(&["fsm", &files[0], "--suite", "w", "--json"]);
    for file in &files {
        check(&["check", file], 0, &["ok"]);
        check(&["show", file], 0, &["x", "0/y"]);
        assert_eq!(shown(&["fsm", file, "--suite", "w", "--json"]), suite, "{file}");
        for other in &files {
            check(&["conform", file, other], 0, &[]);
        }
        check(&["test", &files[0], "--sut", &format!("model:{file}"), "--seed", "1", "--runs", "5"], 0, &[]);
    }
}

#[test]
fn every_command_reads_every_form_of_machine() {
    let folder = folder();
    let path = folder.path().join("m.kiss2").display().to_string();
    fs::write(&path, ".i 1\n.o 1\n1 a b 0\n1 b a 1\n0 a a 0\n0 b b 0\n.e\n").expect("a file");
    check(&["check", &path], 0, &["ok"]);
    check(&["check", "--deep", &path], 0, &[]);
    check(&["show", &path], 0, &[]);
    check(&["conform", &path, &path], 0, &[]);
    fs::write(folder.path().join("notes.txt"), "to be done").expect("a file");
    check(
        &["conform", &folder.path().display().to_string(), &path],
        0,
        &["1 conform", "0 cannot be compared"],
    );
    check(&["fsm", &path, "--suite", "w"], 0, &[]);
    check(&["fsm", &path, "--suite", "w", "--set", "N=1"], 2, &["there is no constant `N` to set"]);
    fs::write(&path, ".i 1\n1 a b\n").expect("a file");
    for args in [&["check", &path][..], &["show", &path], &["fsm", &path, "--suite", "w"]] {
        check(args, 3, &["E0505", "m.kiss2:2:1", "expected 4 columns, found 3"]);
    }
}

/// Defect: a suite of a machine with very many states was prepared without a look at the time limit, and state counting
/// took memory for all pairs of states.
#[test]
fn machines_with_very_many_states_end_in_time_or_are_refused() {
    let folder = folder();
    let n = 6000;
    let moves: String = (0..n)
        .map(|i| format!("s{i} -> s{} [label=\"a/0\"];\ns{i} -> s0 [label=\"b/0\"];\n", i + 1))
        .collect();
    let last = format!("s{n} -> s0 [label=\"a/1\"];\ns{n} -> s0 [label=\"b/0\"];\n");
    let chain = machine(&folder, "chain.dot", &format!("digraph g {{\n{moves}{last}}}\n"));
    check(&["fsm", &chain, "--suite", "h", "--time-limit", "1ms"], 5, &["time limit"]);
    check(&["fsm", &chain, "--reduction", "--sut", &chain, "--bound", "6001"], 2, &["compares all pairs"]);
}

#[test]
fn the_theory_of_a_machine_is_shown_and_machines_made_of_it_are_machines() {
    check(
        &["fsm", "examples/fsm/door.txt", "--theory"],
        0,
        &["characterising set", "distinguishing word: open close"],
    );
    check(&["fsm", "examples/fsm/ma.dot", "--theory"], 0, &["3 of 3 pairs", "at least 2 states (s1, s2)"]);
    check(
        &["fsm", "examples/fsm/me.dot", "--theory"],
        0,
        &["adaptive characterising set", "\n  b (0: b)\n  a\n"],
    );
    let (told, _) = print(&["fsm", "examples/fsm/ma.dot", "--theory", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&told["deterministic"], &told["lower_bound"]["states"]), (&false.into(), &2.into()));
    let folder = folder();
    let (product, small) = (folder.path().join("product.txt"), folder.path().join("small.txt"));
    let (product, small) = (product.display().to_string(), small.display().to_string());
    let other = "examples/fsm/mf-impl.dot";
    check(&["fsm", "examples/fsm/mf.dot", "--product", other, "--out", &product], 0, &["states"]);
    check(&["check", &product], 0, &[]);
    let twice = machine(&folder, "twice.txt", "a x 0 b\nb x 0 a\n");
    check(&["fsm", &twice, "--reduced", "--out", &small], 0, &["1 state"]);
    check(&["equiv", &twice, &small], 0, &["EQUAL"]);
    check(&["equiv", "examples/fsm/mf.dot", other], 1, &["DIFFERENT"]);
}

#[test]
fn a_walk_comes_before_the_words() {
    let counted = |more: &[&str], code, words: &[&str]| {
        let args = [
            "fsm",
            "examples/fsm/ma.dot",
            "--reduction",
            "--sut",
            "examples/fsm/ma-impl.dot",
            "--bound",
            "3",
        ];
        check(&[&args[..], more].concat(), code, words)
    };
    // Small machines are not walked through unless somebody asks for it.
    assert!(!counted(&[], 0, &["25 answers seen, 77 symbols)"]).contains("walk"));
    counted(&["--walk", "50"], 0, &["77 symbols, after a walk of 50 inputs)"]);
    counted(&["--walk", "50", "--json"], 0, &["\"walk\":{\"symbols\":50,\"walks\":1}"]);
    let folder = folder();
    // A ring of twelve states; the system answers wrongly at the far end, and is found there by the walk alone.
    let ring = |wrong: usize| {
        let edge = |at: usize| {
            let answer = usize::from(at == wrong || at == 0);
            format!("s{at} go {answer} s{}\ns{at} stay 0 s{at}\n", (at + 1) % 12)
        };
        (0..12).map(edge).collect::<String>()
    };
    let (model, system) = (folder.path().join("m.txt"), folder.path().join("s.txt"));
    fs::write(&model, ring(0)).expect("it is written");
    fs::write(&system, ring(11)).expect("it is written");
    let (model, system) = (model.display().to_string(), system.display().to_string());
    let args = ["fsm", &model, "--reduction", "--sut", &system, "--bound", "12"];
    let said = check(&args, 1, &["fail: not a reduction (a walk of "]);
    let shortest = ["go/1"].into_iter().chain(["go/0"; 10]).chain(["go/1"]).collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("{shortest} is not allowed")), "the trace has no detours: {said}");
}

#[test]
fn a_bound_that_needs_very_many_words_is_said_beforehand() {
    let me = "examples/fsm/me.dot";
    let args = ["fsm", me, "--reduction", "--sut", me, "--bound", "9", "--max-words", "100"];
    check(
        &args,
        5,
        &["warning: with `--bound 9`", "takes more than 100 words", "lower `--bound` (at least 4)"],
    );
    let args = ["fsm", me, "--reduction", "--sut", me, "--bound", "4"];
    assert!(!check(&args, 0, &["pass"]).contains("warning"));
}

#[test]
fn suites_of_every_method_are_certified() {
    let folder = folder();
    for method in ["w", "wp", "hsi", "h", "spy", "spyh", "s"] {
        for extra in ["0", "1"] {
            let file = folder.path().join("own.suite").display().to_string();
            check(&["fsm", V1, "--suite", method, "--extra", extra, "--out", &file], 0, &[]);
            check(&["fsm", V1, "--check-suite", &file, "--extra", extra], 0, &["  certificate: "]);
        }
    }
}
