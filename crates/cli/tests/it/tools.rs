//! Commands around the work: `doctor`, `watch`, `completions`, `man`, `schema`, and `step --at`.

use clap::CommandFactory;
use ioxide_args::CliArgs;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

use crate::schema;

use crate::program::{command as ioxide, run};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_doctor_finds_what_is_missing_and_says_how_to_mend_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let sick = ioxide(&["doctor", "--json"])
        .current_dir(folder.path())
        .env("PATH", folder.path())
        .env("IOXIDE_Z3", folder.path().join("libz3.so"))
        .output()
        .expect("the program runs");
    assert_eq!(sick.status.code(), Some(2), "{sick:?}");
    let told: Json = serde_json::from_slice(&sick.stdout).expect("JSON");
    assert_eq!((&told["version"], &told["ok"]), (&1.into(), &false.into()));
    let state = |name: &str| {
        let check = told["checks"].as_array().into_iter().flatten().find(|check| check["name"] == name);
        check.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(state("solver")["state"], "bad");
    assert_eq!(state("solver")["fix"], state("solver")["mend"], "two names of one field");
    assert!(state("solver")["fix"].as_str().is_some_and(|fix| fix.contains("libz3")));
    assert_eq!(state("python")["state"], "missing");
    assert_eq!(state("git")["state"], "missing");
    assert_eq!(state("records")["state"], "ok");
    fs::write(folder.path().join("ioxide.toml"), "this is = not [ toml").expect("a file");
    fs::write(folder.path().join("runs"), "a file in the way").expect("a file");
    let worse = ioxide(&["doctor"]).current_dir(folder.path()).output().expect("the program runs");
    assert_eq!(worse.status.code(), Some(2), "{worse:?}");
    let text = stdout(&worse);
    assert!(text.contains("bad      project") && text.contains("bad      records"), "{text}");
}

#[test]
fn the_doctor_reads_every_system_of_the_project_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let doctor = |project: &str| {
        fs::write(folder.path().join("ioxide.toml"), project).expect("a file");
        stdout(&ioxide(&["doctor"]).current_dir(folder.path()).output().expect("the program runs"))
    };
    let system = "[sut.s]\nkind = \"text\"\ncommand = \"client\"\nstart = \"serve\"\n";
    let good = doctor(&format!("{system}reset = \"command\"\n"));
    assert!(good.contains("ok       project"), "{good}");
    let bad = doctor(&format!("{system}reset = \"reconnect\"\n"));
    assert!(bad.contains("bad      project      ioxide.toml:5"), "{bad}");
}

#[cfg(unix)]
#[test]
fn the_doctor_sees_who_can_read_records() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).expect("a folder");
    for (mode, wanted) in [(0o755, "missing  records"), (0o700, "ok       records")] {
        fs::set_permissions(&runs, fs::Permissions::from_mode(mode)).expect("permissions");
        let output = ioxide(&["doctor"]).current_dir(folder.path()).output().expect("the program runs");
        assert!(stdout(&output).contains(wanted), "{mode:o}: {}", stdout(&output));
    }
}

/// Two rounds: the first on a good model, the second on the broken one that was saved meanwhile.
#[test]
fn watch_checks_again_when_a_file_is_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.iox");
    let good = "model M {\n    input a\n    state s {\n        on a\n    }\n}\n";
    fs::write(&file, good).expect("a file");
    let mut child = ioxide(&["watch", "m.iox", "--rounds", "2"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut until = |wanted: &str| {
        let found = lines.by_ref().map_while(Result::ok).find(|line| line.contains(wanted));
        found.unwrap_or_else(|| panic!("no line with `{wanted}`"))
    };
    until("m.iox: ok");
    until("watching 1 file");
    fs::write(&file, good.replace("on a", "on b_that_is_not_there")).expect("a file");
    until("m.iox changed");
    until("1 error");
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
}

#[test]
fn watch_tests_a_system_when_the_model_is_good() {
    let adder = "examples/adder.iox";
    let sut = format!("model:{adder}");
    let output = run(&["watch", adder, "--rounds", "1", "--sut", &sut, "--", "--runs", "2", "--seed", "1"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("2 runs: 2 passed"), "{output:?}");
    let spec = "examples/brp/spec.iox";
    let output = run(&[
        "watch",
        spec,
        "--rounds",
        "1",
        "--sut",
        "model:examples/brp/m3.iox",
        "--",
        "--seed",
        "1",
        "--no-shrink",
    ]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(run(&["watch", "nowhere.iox"]).status.code(), Some(2));
    assert_eq!(run(&["watch", adder, "--rounds", "0"]).status.code(), Some(4));
}

#[test]
fn every_shell_has_completions() {
    for (shell, word) in [
        ("bash", "_ioxide"),
        ("zsh", "#compdef ioxide"),
        ("fish", "complete -c ioxide"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let script = stdout(&output);
        assert!(script.contains(word) && script.contains("doctor"), "{shell}: {script}");
    }
}

/// The script of bash is one, and proposes commands.
#[test]
fn bash_completes_commands() {
    if !ioxide_test_support::has_program("bash") {
        return;
    }
    let script = stdout(&run(&["completions", "bash"]));
    let mut child =
        Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash runs");
    let ask = "COMP_WORDS=(ioxide doc); COMP_CWORD=1; _ioxide ioxide doc ioxide; echo \"${COMPREPLY[@]}\"";
    write!(child.stdin.take().expect("a pipe"), "{script}\n{ask}\n").expect("bash listens");
    let output = child.wait_with_output().expect("bash ends");
    assert_eq!(stdout(&output).trim(), "doctor");
}

/// Defect: `--sut` proposed files, never the systems of the project.
#[test]
fn bash_completes_the_systems_of_the_project() {
    if !ioxide_test_support::has_program("bash") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let project = "[sut.login]\nkind = \"stdio\"\n[sut.login.inputs]\n[sut.buggy]\nkind = \"stdio\"\n";
    fs::write(folder.path().join("ioxide.toml"), project).expect("written");
    let script = stdout(&run(&["completions", "bash"]));
    let mut child = Command::new("bash")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash runs");
    let ask =
        "COMP_WORDS=(ioxide test --sut l); COMP_CWORD=3; _ioxide ioxide l --sut; echo \"${COMPREPLY[@]}\"";
    write!(child.stdin.take().expect("a pipe"), "{script}\n{ask}\n").expect("bash listens");
    assert_eq!(stdout(&child.wait_with_output().expect("bash ends")).trim(), "login");
    for (shell, part) in [("fish", "complete -c ioxide -l sut -x -a"), ("zsh", ":SUT:_ioxide_systems")] {
        assert!(stdout(&run(&["completions", shell])).contains(part), "{shell}");
    }
}

/// Defect: fish showed paragraphs beside options.
#[test]
fn helps_in_completions_are_short() {
    let script = stdout(&run(&["completions", "fish"]));
    let helps = script.lines().filter_map(|line| line.split(" -d '").nth(1)?.split('\'').next());
    let longest = helps.max_by_key(|help| help.chars().count()).expect("options have helps");
    assert!(longest.chars().count() <= 80, "{longest}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("man1");
    let output = run(&["man", "--out", out.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for name in ["ioxide", "ioxide-test", "ioxide-adapter-check", "ioxide-lsp"] {
        let page = fs::read_to_string(out.join(format!("{name}.1")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(stdout(&run(&["man"])).contains(".TH ioxide 1"));
}

fn schema_of(name: &str) -> Json {
    let output = run(&["schema", name]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Commands whose results are small and quick, with `--json`; all forms of a result that a command has.
const PRINTED: &[(&str, &[&str])] = &[
    ("adapter check", &[concat!("stdio:", env!("CARGO_BIN_EXE_ioxide"), " sut examples/adder.iox")]),
    ("check", &["examples/adder.iox", "examples/slot-machine.iox"]),
    ("complete", &["examples/adder.iox"]),
    ("conform", &["examples/brp/m3.iox", "examples/brp/spec.iox"]),
    ("conform", &["examples/brp/m3.iox", "examples/brp/spec.iox", "--all", "--depth", "12"]),
    ("conform", &["examples/adder.iox", "examples/adder.iox", "--depth", "2"]),
    ("conform", &["examples/brp", "examples/brp/spec.iox", "--depth", "3"]),
    ("doctor", &[]),
    ("refine", &["examples/adder.iox", "examples/adder.iox"]),
    ("equiv", &["examples/adder.iox", "examples/adder.iox"]),
    ("diff", &["examples/fsm/handshake-v1.dot", "examples/fsm/handshake-v2.dot"]),
    ("fsm", &["examples/fsm/handshake-v1.dot", "--theory"]),
    ("fsm", &["examples/fsm/mf.dot", "--theory"]),
    (
        "fsm",
        &[
            "examples/fsm/handshake-v1.dot",
            "--reduction",
            "--sut",
            "examples/fsm/handshake-v2.dot",
            "--bound",
            "4",
        ],
    ),
    ("fsm", &["examples/fsm/handshake-v1.dot", "--suite", "hsi"]),
    ("judge", &["examples/histories/store.iox", "examples/histories/store.jsonl", "--clients"]),
    ("kill", &["examples/adder.iox"]),
    (
        "learn",
        &[
            "examples/fsm/door.txt",
            "--sut",
            "model:examples/fsm/door.txt",
            "--seed",
            "1",
            "--out",
            "/dev/null",
        ],
    ),
    ("mutate", &["examples/adder.iox"]),
    ("purposes", &["examples/adder.iox"]),
    ("score", &["examples/adder.iox", "random", "--runs", "1", "--steps", "5", "--seed", "1"]),
    ("test", &["examples/brp/spec.iox", "--sut", "model:examples/brp/m3.iox", "--seed", "2"]),
    ("test", &["examples/adder.iox", "--sut", "model:examples/adder.iox", "--seed", "2", "--steps", "50"]),
];

#[test]
fn what_json_prints_keeps_its_schema() {
    for &(command, args) in PRINTED {
        let words: Vec<&str> = command.split(' ').collect();
        let output = run(&[&words[..], args, &["--json"]].concat());
        let printed: Json =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command}: {error}"));
        let schema = schema_of(&format!("output-{}", command.replace(' ', "-")));
        assert_eq!(schema::violations(&schema, &printed), Vec::<String>::new(), "{command} {args:?}");
        let mut broken = printed;
        broken["version"] = 0.into();
        assert!(!schema::violations(&schema, &broken).is_empty(), "{command}");
    }
}

/// With `--clients`, test and judge print JSON of another shape.
#[test]
fn what_json_prints_with_clients_keeps_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let counter = |step: &str| {
        format!(
            "model C {{ input add output total(n: int) var sum: int = 0
            state idle {{ on add {{ sum = {step} }} -> busy }} state busy {{ emit total(n: sum) -> idle }} }}"
        )
    };
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let right = file("right.iox", &counter("sum + 1"));
    let wrong = file("wrong.iox", &counter("sum + 2"));
    let history = |answer: i64| {
        format!(
            "{{\"client\": 1, \"call\": \"add\"}}\n\
             {{\"client\": 1, \"return\": \"total\", \"args\": {{\"n\": {answer}}}}}\n"
        )
    };
    let (kept, broken) = (file("kept.jsonl", &history(1)), file("broken.jsonl", &history(3)));
    let (plays_right, plays_wrong) = (format!("model:{right}"), format!("model:{wrong}"));
    let campaign = ["--clients", "2", "--runs", "1", "--steps", "6", "--seed", "1"];
    for (name, command, args, is_pass) in [
        ("test", "test", &["--sut", &plays_right][..], true),
        ("test", "test", &["--sut", &plays_wrong], false),
        ("judge", "judge", &[&kept, "--clients"], true),
        ("judge", "judge", &[&broken, "--clients"], false),
    ] {
        let more: &[&str] = if command == "test" { &campaign } else { &[] };
        let output = run(&[&[command, &right][..], args, more, &["--json"]].concat());
        let printed: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        let schema = schema_of(&format!("output-{name}-clients"));
        assert_eq!(schema::violations(&schema, &printed), Vec::<String>::new(), "{args:?}");
        assert_eq!(printed["verdict"], if is_pass { "pass" } else { "fail" }, "{args:?}");
        let mut broken = printed;
        broken["version"] = 0.into();
        assert!(!schema::violations(&schema, &broken).is_empty(), "{args:?}");
    }
}

/// A new command with `--json` needs a schema, also one below another command.
#[test]
fn every_command_with_json_has_a_schema() {
    let listed = stdout(&run(&["schema"]));
    let mut n_found = 0;
    let mut open: Vec<(String, clap::Command)> = vec![("output".into(), CliArgs::command())];
    while let Some((name, command)) = open.pop() {
        if command.get_arguments().any(|arg| arg.get_long() == Some("json")) {
            // The only command that prints a file which has a schema: `case` or `cases`.
            let schema = if name == "output-case" { "cases" } else { &name };
            assert!(listed.contains(&format!("\n{schema} ")), "`{name} --json` has no schema");
            let json = schema_of(schema);
            assert_eq!(json["properties"]["version"]["const"], 1, "`{schema}` has no version");
            n_found += 1;
        }
        let below = command.get_subcommands();
        open.extend(below.map(|below| (format!("{name}-{}", below.get_name()), below.clone())));
    }
    assert!(n_found > 20, "only {n_found} commands with `--json`");
}

/// Parts make together what the command makes alone.
#[test]
fn what_merge_prints_keeps_its_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let adder = "examples/adder.iox";
    let commands: [&[&str]; 4] = [
        &[
            "test",
            adder,
            "--sut",
            "model:examples/adder.iox",
            "--tester",
            "random",
            "--runs",
            "2",
            "--seed",
            "1",
        ],
        &["kill", adder],
        &["score", adder, "random", "--runs", "1", "--steps", "5", "--seed", "1"],
        &["conform", "examples/brp", "examples/brp/spec.iox", "--depth", "3"],
    ];
    for command in commands {
        let parts = at(command[0]);
        let part = run(&[command, &["--part", &parts]].concat());
        assert!(!crate::program::text(&part).contains("error:"), "{part:?}");
        let merged = run(&["merge", &parts, "--out", &at("whole"), "--json"]);
        let printed: Json = serde_json::from_slice(&merged.stdout)
            .unwrap_or_else(|error| panic!("{command:?}: {error}: {merged:?}"));
        for name in ["output-merge", "output-campaign", &format!("output-{}", command[0])] {
            assert_eq!(
                schema::violations(&schema_of(name), &printed),
                Vec::<String>::new(),
                "{name} {command:?}"
            );
        }
    }
}

/// Every line of `file` keeps the schema, and a broken one does not.
#[track_caller]
fn keeps(name: &str, file: &Path) {
    let schema = schema_of(name);
    let text = fs::read_to_string(file).expect("a file");
    assert!(text.lines().count() > 1, "{text}");
    for line in text.lines() {
        let document: Json = serde_json::from_str(line).expect("JSON");
        let wrong = schema::violations(&schema, &document);
        assert!(wrong.is_empty(), "{line}\n{wrong:?}");
        let mut broken = document.clone();
        // The first line of a suite may say more about it.
        if let Some(object) = broken.as_object_mut().filter(|object| !object.contains_key("format")) {
            let key = object.keys().next().cloned().expect("a member");
            object.insert(key, Json::Array(vec![Json::Array(Vec::new())]));
            assert!(!schema::violations(&schema, &broken).is_empty(), "{broken}");
        }
    }
}

#[test]
fn files_keep_their_schemas() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (runs, suite, journal, killers) =
        (at("runs"), at("suite.jsonl"), at("kill.jsonl"), at("killers.jsonl"));
    let failing = [
        "test",
        "examples/brp/spec.iox",
        "--sut",
        "model:examples/brp/m3.iox",
        "--seed",
        "1",
        "--report",
        &runs,
    ];
    assert_eq!(run(&failing).status.code(), Some(1));
    keeps("record", &folder.path().join("runs/campaign.jsonl"));
    keeps("suite", &folder.path().join("runs/regressions.jsonl"));
    assert_eq!(
        run(&["fsm", "examples/fsm/handshake-v1.dot", "--suite", "s", "--out", &suite]).status.code(),
        Some(0)
    );
    keeps("suite", Path::new(&suite));
    let complete = at("complete.jsonl");
    assert_eq!(run(&["complete", "examples/fsm/meter.iox", "--out", &complete]).status.code(), Some(0));
    keeps("suite", Path::new(&complete));
    run(&["kill", "examples/adder.iox", "--record", &journal, "--out", &killers]);
    keeps("kill", Path::new(&journal));
    keeps("suite", Path::new(&killers));
    let mutants = at("mutants");
    assert_eq!(run(&["mutate", "examples/adder.iox", "--out", &mutants]).status.code(), Some(0));
    let written = fs::read_to_string(folder.path().join("mutants/mutants.json")).expect("a file");
    let mut catalogue: Json = serde_json::from_str(&written).expect("JSON");
    assert_eq!(schema::violations(&schema_of("mutants"), &catalogue), Vec::<String>::new());
    catalogue["mutants"][0]["edits"][0]["line"] = "first".into();
    assert_eq!(schema::violations(&schema_of("mutants"), &catalogue).len(), 1);
    let (cases, trees) = (at("cases"), at("trees"));
    run(&["case", "examples/adder.iox", "--goal", "pairs", "--out", &cases]);
    run(&["kill", "examples/maze.iox", "--ops", "target", "--trees", &trees, "--tree-format", "json"]);
    for (name, file) in
        [("cases", "cases/cases.json"), ("trees", "trees/trees.json"), ("case", "trees/tree_001.json")]
    {
        let written = fs::read_to_string(folder.path().join(file)).expect("a file");
        let value: Json = serde_json::from_str(&written).expect("JSON");
        assert_eq!(schema::violations(&schema_of(name), &value), Vec::<String>::new(), "{file}");
    }
    let learned = at("learn.jsonl");
    let output = run(&[
        "learn",
        "examples/fsm/meter.iox",
        "--sut",
        "model:examples/fsm/meter.iox",
        "--seed",
        "1",
        "--session",
        &learned,
        "--out",
        &at("learned.iox"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    keeps("learn-session", Path::new(&learned));
}

/// Plans, parts and the journal of a campaign.
#[test]
fn files_of_campaigns_keep_their_schemas() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, out) = (folder.path().join("plan.toml"), folder.path().join("night"));
    let args = ["test", "examples/brp/spec.iox", "--sut", "model:examples/brp/m3.iox", "--tester", "random"];
    let args = [&args[..], &["--runs", "3", "--seed", "1", "--keep-going"]].concat();
    let text = format!("run = {}\nout = {:?}\n", serde_json::json!(args), out.display().to_string());
    fs::write(&plan, text).expect("written");
    let output = run(&["campaign", &plan.display().to_string()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    keeps("units", &out.join("parts/000001/units.jsonl"));
    keeps("campaign", &out.join("journal.jsonl"));
    let planned: Json =
        serde_json::from_slice(&run(&[&args[..], &["--plan"]].concat()).stdout).expect("JSON");
    let read = |file: &str| {
        serde_json::from_str(&fs::read_to_string(out.join(file)).expect("a file")).expect("JSON")
    };
    for (name, mut document) in
        [("plan", planned), ("part", read("parts/000001/part.json")), ("campaign", read("campaign.json"))]
    {
        assert_eq!(schema::violations(&schema_of(name), &document), Vec::<String>::new(), "{document}");
        document["count"] = "many".into();
        assert!(!schema::violations(&schema_of(name), &document).is_empty());
    }
}

#[test]
fn schemas_are_listed_and_misspelt_ones_are_found() {
    let listed = stdout(&run(&["schema"]));
    for line in listed.lines() {
        schema_of(line.split_whitespace().next().expect("a name"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    // `campaign` and `merge` print what others print: their schemas are made of those.
    assert_eq!(listed.lines().count(), fs::read_dir(folder).expect("schemas").count() + 2);
    let wrong = run(&["schema", "recrod"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `record`?"), "{wrong:?}");
}

/// The stepper begins in every state that can be reached.
#[test]
fn the_stepper_begins_where_it_is_told() {
    let step = |args: &[&str]| {
        let mut child = ioxide(&[&["step", "--plain"], args].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let _ = child.stdin.take().expect("a pipe").write_all(b"trace\n");
        child.wait_with_output().expect("it ends")
    };
    for state in ["idle", "busy", "finished"] {
        let output = step(&["examples/adder.iox", "--at", state]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).lines().any(|line| line.trim_start().starts_with(state)), "{output:?}");
    }
    let wrong = step(&["examples/adder.iox", "--at", "finised"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let timed = step(&["examples/atm/atm.iox", "--at", "nowhere"]);
    assert_eq!(timed.status.code(), Some(2), "{timed:?}");
}

/// Ctrl-C ends it in good order, with the exit code of the last round.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_watch() {
    let mut child =
        ioxide(&["watch", "examples/adder.iox"]).stdout(Stdio::piped()).spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("watching 1 file")));
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(told.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// A copy of the program in a folder of its own, called with `bench scale`.
#[cfg(unix)]
fn door(folder: &Path) -> Output {
    let program = folder.join("ioxide");
    ioxide_test_support::copy_program(Path::new(crate::program::PROGRAM), &program);
    Command::new(program).args(["bench", "scale", "--json"]).current_dir(folder).output().expect("it runs")
}

#[cfg(unix)]
#[test]
fn measurements_are_taken_by_the_program_beside_this_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let none = door(dir.path());
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert_eq!(none.status.code(), Some(2), "{said}");
    assert!(said.contains("`ioxide-bench`, which is not in the folder of ioxide"), "{said}");
    assert!(said.contains("cargo install --path crates/bench"), "{said}");
    let beside = dir.path().join("ioxide-bench");
    ioxide_test_support::write_program(&beside, "#!/bin/sh\necho \"asked: $*\"\nexit 5\n");
    let taken = door(dir.path());
    assert_eq!((stdout(&taken).as_str(), taken.status.code()), ("asked: bench scale --json\n", Some(5)));
    // An older build is named as such.
    let touched =
        Command::new("touch").args(["-t", "200001010000"]).arg(&beside).status().expect("touch runs");
    assert!(touched.success());
    let old = door(dir.path());
    let said = String::from_utf8_lossy(&old.stderr).into_owned();
    assert!(said.contains("older than `ioxide`"), "{said}");
    assert_eq!(old.status.code(), Some(5));
}

/// Within a checkout cargo builds the program that measures, optimised.
#[cfg(unix)]
#[test]
fn measurements_are_built_within_a_checkout() {
    let dir = tempfile::tempdir().expect("a folder");
    let (bin, checkout) = (dir.path().join("bin"), dir.path().join("checkout"));
    fs::create_dir_all(checkout.join("crates/bench/src")).expect("made");
    fs::create_dir(&bin).expect("made");
    fs::write(checkout.join("crates/bench/src/dispatch.rs"), "").expect("written");
    ioxide_test_support::copy_program(Path::new(crate::program::PROGRAM), &bin.join("ioxide"));
    let cargo = bin.join("cargo");
    ioxide_test_support::write_program(&cargo, "#!/bin/sh\necho \"$*\"\n");
    let run = |path: &Path| {
        let mut command = Command::new(bin.join("ioxide"));
        command.args(["bench", "scale"]).current_dir(checkout.join("crates")).env("PATH", path);
        command.output().expect("it runs")
    };
    let built = stdout(&run(&bin));
    assert!(built.starts_with("run --quiet --package ioxide-bench --manifest-path "), "{built}");
    assert!(built.ends_with("checkout/Cargo.toml --release -- bench scale\n"), "{built}");
    let none = run(dir.path());
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert_eq!(none.status.code(), Some(2), "{said}");
    assert!(said.contains("is cargo in the search path?"), "{said}");
}
