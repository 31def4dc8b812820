//! `ioxide case`: its formats are read by those they are for, its mistakes are explained.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ioxide_smt::smtlib::read::{Sexp, parse_sexp};
use serde_json::Value as Json;

use crate::schema;

use ioxide_test_support::has_program;

use crate::program::{root, run as ioxide};

const CASH: &str = "tr1,tr2,tr3,tr4";

/// Returns the output of `ioxide case` for a path of a model.
fn case(model: &str, path: &str, more: &[&str]) -> String {
    let output = ioxide(&[&["case", model, "--path", path], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn cash(more: &[&str]) -> String {
    case("examples/atm/atm.iox", CASH, more)
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_json_keeps_its_schema() {
    let text = fs::read_to_string(root().join("crates/cli/schemas/case-1.json")).expect("the schema");
    let schema = json(&text);
    let long = format!("{CASH},{CASH},tr1,tr10");
    let documents = [
        cash(&[]),
        cash(&["--json"]),
        cash(&["--pruning", "tool"]),
        case("examples/atm/atm.iox", &long, &["--timeout", "2.5"]),
        case("examples/adder.iox", "r0,r1", &[]),
    ];
    for document in documents {
        let document = json(&document);
        let wrong = schema::violations(&schema, &document);
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    // The check is one: a broken document is found out.
    let mut broken = json(&cash(&[]));
    broken["states"][1]["transitions"][0]["target"] = "nowhere".into();
    broken["states"][2]["extra"] = 1.into();
    assert_eq!(schema::violations(&schema, &broken).len(), 2);
}

#[test]
fn arcs_are_those_of_the_rules() {
    let count = |text: &str| {
        let case = json(text);
        let transitions = |state: &Json| state["transitions"].as_array().map_or(0, Vec::len);
        let states = case["states"].as_array().expect("states").iter().map(transitions).sum::<usize>();
        (case["arcs"].as_u64(), case["off_path"].as_u64(), states)
    };
    assert_eq!(count(&cash(&[])), (Some(32), Some(1), 33));
    assert_eq!(count(&cash(&["--pruning", "tool"])), (Some(31), Some(0), 31));
    assert_eq!(cash(&[]), cash(&[]), "the same bytes every time");
}

/// Every symbol of `sexp`, heads of applications apart.
fn symbols(sexp: &Sexp, out: &mut Vec<String>) {
    match sexp {
        Sexp::Atom(text) => out.push(text.clone()),
        Sexp::Text(_) => (),
        Sexp::List(list) => list.iter().skip(1).for_each(|part| symbols(part, out)),
    }
}

#[test]
fn every_guard_in_smt_lib_reads_back_and_is_declared() {
    let case = json(&case("examples/atm/atm.iox", &format!("{CASH},{CASH}"), &[]));
    let texts = |list: &Json| -> Vec<String> {
        list.as_array().expect("a list").iter().map(|text| text.as_str().expect("text").to_owned()).collect()
    };
    let declarations = texts(&case["smt"]["declarations"]);
    let mut guards = Vec::new();
    for state in case["states"].as_array().expect("states") {
        for arc in state["transitions"].as_array().expect("arcs") {
            guards.push(arc["smt"].as_str().expect("text").to_owned());
        }
    }
    assert_eq!(guards.len(), 65);
    for guard in &guards {
        let read = parse_sexp(guard).unwrap_or_else(|| panic!("{guard}"));
        let mut names = Vec::new();
        symbols(&read, &mut names);
        for name in names.iter().filter(|name| name.contains('!') && !name.starts_with("s0!")) {
            let declared =
                declarations.iter().filter(|line| line.contains(&format!("declare-const {name} ")));
            assert_eq!(declared.count(), 1, "{name}");
        }
    }
    if !has_program("z3") {
        return;
    }
    let mut script = declarations.join("\n");
    for guard in guards {
        script += &format!("\n(push 1)\n(assert {guard})\n(check-sat)\n(pop 1)");
    }
    assert_eq!(answers("z3", &["-in"], &script), vec!["sat"; 65]);
}

#[test]
fn the_script_finds_an_example_of_every_arc() {
    let script = cash(&["--format", "smt2"]);
    for (program, args) in [("z3", &["-in"][..]), ("cvc5", &["--lang=smt2", "--incremental"])] {
        if has_program(program) {
            assert_eq!(answers(program, args, &script), vec!["sat"; 33], "{program}");
        }
    }
}

/// Returns the answers of a solver to a script, line by line.
fn answers(program: &str, args: &[&str], script: &str) -> Vec<String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the solver starts");
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn pictures_are_whole() {
    let dot = cash(&["--format", "dot"]);
    assert!(dot.starts_with("digraph") && dot.trim_end().ends_with('}'));
    assert_eq!(dot.matches(" -> ").count(), 33 + 1, "every arc, and the start");
    if has_program("dot") {
        assert!(answers("dot", &["-Tplain"], &dot).len() > 33);
    }
    let plantuml = cash(&["--format", "plantuml"]);
    assert!(plantuml.starts_with("@startuml\n") && plantuml.ends_with("@enduml\n"));
    assert_eq!(plantuml.matches(" --> ").count(), 33 + 1);
}

#[test]
fn a_ttcn3_module_is_balanced_and_has_every_verdict() {
    let text = cash(&["--format", "ttcn3"]);
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert_eq!(text.matches("alt {").count(), 4);
    assert!(text.contains("setverdict(pass"));
    assert!(text.contains("modulepar float LATENCY"));
    // FAIL_out four times a state, FAIL_dur at two states.
    assert_eq!(text.matches("setverdict(fail").count(), 4 * 4 + 2);
    if !has_program("ttcn3_compiler") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("Atm_Case.ttcn");
    fs::write(&file, text).expect("it is written");
    let compiled = Command::new("ttcn3_compiler").arg(&file).current_dir(folder.path()).output();
    let compiled = compiled.expect("the compiler runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    assert!(folder.path().join("Atm_Case.cc").exists());
}

#[test]
fn a_rust_module_compiles_and_judges() {
    let verdicts = compiled(&cash(&["--format", "rust"]), "driver.rs.txt");
    // The debit 30 ms after its deadline may have been on its way for as long.
    let expected = ["PASS", "FAIL_out", "FAIL_out", "PASS", "INC_out", "FAIL_dur", "INC_off_path"];
    assert_eq!(verdicts, expected);
}

/// The verdicts that a program made of a Rust module and a driver prints.
fn compiled(module: &str, driver: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, program) = (folder.path().join("case.rs"), folder.path().join("case"));
    let driver =
        fs::read_to_string(root().join("crates/cli/tests/it/case").join(driver)).expect("the driver");
    fs::write(&file, module.to_owned() + &driver).expect("it is written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc).args(["--edition", "2021", "-o"]).args([&program, &file]).output();
    let built = built.expect("rustc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program).output().expect("the program runs");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

const LOCK: &str = "crates/cli/tests/it/case/lock.iox";

#[test]
fn what_an_exported_test_sends_follows_from_what_it_saw() {
    let module = case(LOCK, "k,c,right,o", &["--format", "rust"]);
    assert_eq!(compiled(&module, "lock.rs.txt"), ["PASS"; 6]);
    let module = case(LOCK, "k,c,wrong,s", &["--format", "rust"]);
    assert_eq!(compiled(&module, "lock.rs.txt"), ["PASS"; 6]);
    let ttcn = case(LOCK, "k,c,right,o", &["--format", "ttcn3"]);
    assert!(ttcn.contains("v_loud_3 := (500 < v_n_2);"), "{ttcn}");
    assert!(ttcn.contains("mod 7") && ttcn.contains("no input fits"), "{ttcn}");
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let test = folder.path().join("test_lock.py");
    fs::write(&test, case(LOCK, "k,c,right,o", &["--format", "pytest"])).expect("it is written");
    let follow = |flag: &str| {
        let output = Command::new("python3")
            .arg(&test)
            .current_dir(root())
            .env("PYTHONPATH", "sdk/python")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("IOXIDE_SUT", format!("stdio:python3 crates/cli/tests/it/case/lock.py {flag}"))
            .output();
        String::from_utf8_lossy(&output.expect("python3 runs").stderr).into_owned()
    };
    for _ in 0..3 {
        let said = follow("");
        assert!(said.trim_end().ends_with("OK"), "{said}");
    }
    let said = follow("--deaf");
    assert!(said.contains("FAIL_out: R5 at ec3"), "{said}");
}

/// Returns the location at the end of a walk through the exported model of a case; the whole output if there is none.
fn stepped(model: &Path, messages: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["step", "--plain"])
        .arg(model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(messages.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let places = ["PASS", "FAIL_out", "FAIL_dur", "INC_out", "INC_off_path", "ec0", "ec1", "ec2", "ec3"];
    let at = text.lines().rev().find_map(|line| {
        let place = line.split_whitespace().next()?;
        places.contains(&place).then(|| place.to_owned())
    });
    at.unwrap_or(text)
}

#[test]
fn a_case_is_a_model_to_step_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("it is written");
        file
    };
    let lock = write("lock.iox", case(LOCK, "k,c,right,o", &["--format", "iox"]));
    let rows = [
        ("knock\nchallenge(n: 900)\nanswer(m: 907, loud: true)\nopen\n", "PASS"),
        ("knock\nchallenge(n: 900)\nanswer(m: 907, loud: true)\nshut\n", "FAIL_out"),
        ("knock\nchallenge(n: 900)\nanswer(m: 907, loud: true)\nsilence\n", "FAIL_dur"),
        ("knock\nchallenge(n: -1)\n", "FAIL_out"),
        ("knock\nchallenge(n: 900)\nanswer(m: 908, loud: true)\n", "ec2"),
    ];
    for (messages, place) in rows {
        assert_eq!(stepped(&lock, messages), place, "{messages}");
    }
    let cash = write("cash.iox", cash(&["--format", "iox"]));
    let before = "Transc(amt: 20, tb: 5)\nDebit(rid: 1, amount: 22, machine: 7)\n";
    let rows = [
        ("Auth(rid_ret: 1, stat: 1, mid_ret: 7)\nCash(amt: 20)\n", "PASS"),
        ("Auth(rid_ret: 1, stat: 1, mid_ret: 7)\nCash(amt: 22)\n", "FAIL_out"),
        ("Auth(rid_ret: 1, stat: 0, mid_ret: 7)\n", "INC_off_path"),
    ];
    for (messages, place) in rows {
        assert_eq!(stepped(&cash, &format!("{before}{messages}")), place, "{messages}");
    }
    for file in [lock, cash] {
        let checked = ioxide(&["check", file.to_str().expect("a path")]);
        assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}

/// A gate that must be held open for a while, and not for too long; and something that never happens.
const GATE: &str = "model Gate {
    input press
    input hold
    output opened
    output never
    clock since
    var n: 0..3 = 0
    state shut { p: on press { reset since } -> pressed }
    state pressed { h: on hold when 2s <= since && since < 5s { reset since } -> held }
    state held {
        o: emit opened when since <= 1s -> shut
        x: emit never when n == 3 -> shut
    }
}
";

#[test]
fn cases_cover_a_goal_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("gate.iox");
    fs::write(&model, GATE).expect("it is written");
    let (model, out) = (model.to_str().expect("a path"), folder.path().join("out"));
    let goal = |goal: &str, more: &[&str]| {
        let output = ioxide(&[&["case", model, "--goal", goal, "--json"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        json(&String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let names = |list: &Json| -> Vec<String> {
        list.as_array().expect("a list").iter().map(|it| it.as_str().expect("a name").to_owned()).collect()
    };
    let switches = goal("switches", &[]);
    assert_eq!(names(&switches["cases"][0]["path"]), ["p", "h", "o"]);
    assert_eq!((&switches["covered"], &switches["total"]), (&3.into(), &4.into()));
    assert_eq!(
        (&switches["uncovered"][0]["name"], &switches["uncovered"][0]["proof"]),
        (&"x".into(), &true.into())
    );
    let pairs = goal("pairs", &[]);
    assert_eq!(names(&pairs["cases"][0]["path"]), ["p", "h", "o", "p", "h", "o"]);
    let folder = out.to_str().expect("a path");
    let borders = goal("deadlines", &["--out", folder, "--format", "json"]);
    let sent: Vec<(String, String)> = borders["cases"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|made| {
            let text = fs::read_to_string(out.join(made["file"].as_str().expect("a name"))).expect("a case");
            let arc = &json(&text)["states"][1]["transitions"][0];
            (made["sending"].to_string(), arc["witness"]["delay"].to_string())
        })
        .collect();
    let text = |a: &str, b: &str| (format!("\"{a}\""), format!("\"{b}\""));
    assert_eq!(sent, [text("soonest", "2.0"), text("latest", "4.999")]);
    assert!(fs::read_to_string(out.join("cases.json")).expect("a list").contains("\"h, latest\""));
    let untimed = ioxide(&["case", "examples/adder.iox", "--goal", "deadlines"]);
    assert_eq!(untimed.status.code(), Some(2));
}

/// Runs the Python test of the adder on a system; its output.
fn python(system: &str) -> Option<Output> {
    if !has_program("python3") {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test_adder.py");
    fs::write(&file, case("examples/adder.iox", "r0,r1,r0,r1", &["--format", "pytest"]))
        .expect("it is written");
    let output = Command::new("python3")
        .arg(&file)
        .arg("-v")
        .current_dir(root())
        .env("PYTHONPATH", "sdk/python")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("IOXIDE_SUT", system)
        .output();
    Some(output.expect("python3 runs"))
}

#[test]
fn a_python_test_passes_fails_and_skips() {
    let adder = "stdio:python3 examples/python/adder.py";
    let rows = [(adder.to_owned(), 0, "ok"), ("stdio:false".to_owned(), 0, "skipped 'no verdict")];
    for (system, code, word) in rows {
        let Some(output) = python(&system) else { return };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{system}: {said}");
        assert!(said.contains(word), "{system}: {said}");
    }
}

#[test]
fn a_timed_python_test_judges_a_live_system() {
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test_atm.py");
    fs::write(&file, cash(&["--format", "pytest", "--timeout", "2"])).expect("it is written");
    let rows = [
        ("", "ok"),
        ("--late", "FAIL_out: R5 at ec1"),
        ("--more", "FAIL_out: R5 at ec3"),
        ("--silent", "FAIL_dur: R10 at ec3"),
        ("--refuse", "INC_off_path: R11 at ec2"),
    ];
    for (flag, word) in rows {
        let system = format!("stdio:python3 examples/atm/atm.py {flag}");
        let output = Command::new("python3")
            .arg(&file)
            .arg("-v")
            .current_dir(root())
            .env("PYTHONPATH", "sdk/python")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("IOXIDE_LATENCY_MS", "400")
            .env("IOXIDE_SUT", &system)
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(word), "{flag}: {said}");
    }
}

/// A pulse that is due a second after the start, and not before.
const PULSE: &str = "model Pulse {
    input start
    output pulse
    clock waited
    state idle { begin: on start { reset waited } -> busy }
    state busy { end: emit pulse when waited >= 1s && waited <= 60s -> idle }
}
";

/// Sends the pulse this many seconds after the start, as exactly as a wall clock allows.
const PULSER: &str = "import sys
from ioxide_adapter import Adapter, on_input

class Pulser(Adapter):
    outputs = {'pulse': {}}

    @on_input('start')
    def begin(self):
        self.after(sys.argv[1], self.emit, 'pulse')

Pulser().run()
";

#[test]
fn an_exported_test_is_fair_at_a_boundary_on_the_wall() {
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("it is written");
        file.display().to_string()
    };
    let (model, system) = (write("pulse.iox", PULSE), write("pulser.py", PULSER));
    let test = write("test_pulse.py", &case(&model, "begin,end", &["--format", "pytest"]));
    let follow = |seconds: &str| {
        let output = Command::new("python3")
            .arg(&test)
            .current_dir(root())
            .env("PYTHONPATH", "sdk/python")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("IOXIDE_LATENCY_MS", "400")
            .env("IOXIDE_SUT", format!("stdio:python3 {system} {seconds}"))
            .output();
        String::from_utf8_lossy(&output.expect("python3 runs").stderr).into_owned()
    };
    for _ in 0..3 {
        let said = follow("1");
        assert!(said.trim_end().ends_with("OK"), "{said}");
    }
    let said = follow("0");
    assert!(said.contains("FAIL_out"), "{said}");
}

#[test]
fn mistakes_are_explained() {
    let said = |args: &[&str]| {
        let output = ioxide(&[&["case", "examples/atm/atm.iox"], args].concat());
        format!("{:?} {}", output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr))
    };
    insta::assert_snapshot!(said(&["--path", "tr1,tr9x"]), @r"
    2 error: `tr9x` is not a transition, message or state of the model
      help: did you mean `tr9`?
    ");
    insta::assert_snapshot!(said(&["--path", "cash"]), @r"
    2 error: `cash` is not a transition, message or state of the model
      help: did you mean `Cash`?
    ");
    insta::assert_snapshot!(said(&["--path", "tr1,tr4"]), @r"
    2 error: there is no such path: `tr1` leads to `q1`, but `tr4` starts at `q3`
      help: name every transition, or write `..` where ioxide may search the way
    ");
    insta::assert_snapshot!(said(&["--path", "tr1,tr2,tr3"]), @r"
    2 error: the path ends with `tr3`, which the system does not answer
      help: add the output that answers it
    ");
    insta::assert_snapshot!(said(&["--path", "tr1,tr2,tr3,tr4,tr1,tr11"]), @r"
    2 error: the path cannot be followed: after 5 steps, `tr11` (step 6) is impossible
      help: check the guards of the steps before it; `ioxide step` executes them by hand
    ");
    insta::assert_snapshot!(said(&["--path", CASH, "--timeout", "-1"]), @r"
    2 error: `--timeout -1` is not a time above 0
      help: write seconds, as in `--timeout 2.5`, or `above` or `free`
    ");
    insta::assert_snapshot!(said(&["--purpose", "gold"]), @r"
    2 error: the model has no purpose `gold`
      help: there is `cash`
    ");
    insta::assert_snapshot!(said(&["--path", ""]), @r"
    2 error: the path is empty
      help: its transitions are tr1, tr8, tr2, tr11, tr10, tr3, tr6, tr4, tr7, tr5, tr9
    ");
}

/// A model in a file of its own.
fn refused(text: &str, args: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.iox");
    fs::write(&file, text).expect("it is written");
    let output = ioxide(&[&["case", file.to_str().expect("a path")], args].concat());
    let said = String::from_utf8_lossy(&output.stderr).replace(&folder.path().display().to_string(), "");
    format!("{:?} {said}", output.status.code().unwrap_or(-1))
}

#[test]
fn a_clock_is_no_data_and_a_purpose_must_be_deterministic() {
    let clock = "model M { input a output b(x: int) var n: int = 0 clock c\n\
        state s { i: on a { n = c } -> t } state t { o: emit b -> s } }";
    let said = refused(clock, &["--path", "i,o"]);
    assert!(said.starts_with("3 ") && said.contains("clock `c` cannot be read in an update"), "{said}");
    let loose = "model M { input a output b(x: int) clock c\n\
        state s { i: on a { reset c } -> t } state t { o: emit b(x: 1) when c <= 2 -> s p: emit b when c >= 1 -> s } }";
    let said = refused(loose, &["--path", "i,o"]);
    assert!(
        said.starts_with("2 error: the path is not trace-deterministic: at step 2, `o` and `p`"),
        "{said}"
    );
    assert!(said.contains("both take") && said.contains("!b(x: 1)"), "{said}");
}

#[test]
fn recursive_types_are_declared_unless_they_have_ranges_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tree.iox");
    let written = |fields: &str| {
        let text = format!(
            "model R {{ enum Tree {{ leaf, node({fields}) }} input put(t: Tree) output ok clock c
             state s {{ take: on put when t != leaf && c <= 5 {{ reset c }} -> u }}
             state u {{ say: emit ok when c <= 2 -> s }} }}"
        );
        fs::write(&path, text).expect("written");
        ioxide(&["case", path.to_str().expect("UTF-8"), "--path", "take,say", "--format", "json"])
    };
    let plain = written("l: Tree, r: Tree");
    let document = json(&String::from_utf8_lossy(&plain.stdout));
    let declared = document["smt"]["declarations"].as_array().expect("declarations");
    let is_it = |line: &Json| line.as_str().is_some_and(|line| line.starts_with("(declare-datatypes ((Tree"));
    assert!(plain.status.success() && declared.iter().any(is_it), "{document}");
    let bounded = written("l: Tree, n: 0..9");
    let why = String::from_utf8_lossy(&bounded.stderr);
    assert!(!bounded.status.success() && why.contains("contains ranges"), "{why}");
}
