//! Systems made of parts, from the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn ioxide(folder: &Path, args: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("IOXIDE_PROGRESS", "off")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (text.join("\n"), output.status.code().unwrap_or(-1))
}

#[track_caller]
fn check(folder: &Path, args: &[&str], code: i32, parts: &[&str]) -> String {
    let (text, found) = ioxide(folder, args);
    assert_eq!(found, code, "{args:?}\n{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in {args:?}:\n{text}");
    }
    text
}

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/systems")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

const ECHO: &str = "model Echo {
    input ask(n: 0..9)
    output answer(n: 0..9)
    var last: 0..9 = 0

    state idle { on ask { last = n } -> busy }
    state busy { emit answer(n: last) -> idle }
}
";

#[test]
fn errors_in_the_file_of_a_part_are_shown_there() {
    let broken = ECHO.replace("n: last", "n: lst");
    let system = "system Two {\n    use Echo from \"parts/echo.iox\"\n\n    one: Echo\n    two: Echo\n}\n";
    let folder = folder(&[("two.iox", system), ("parts/echo.iox", &broken)]);
    check(folder.path(), &["check", "two.iox"], 3, &["parts/echo.iox:7", "there is no name `lst`"]);
    fs::write(folder.path().join("parts/echo.iox"), ECHO).expect("a file");
    check(folder.path(), &["check", "two.iox"], 0, &["two.iox: ok"]);
    fs::write(folder.path().join("two.iox"), system.replace("echo.iox", "no.iox")).expect("a file");
    check(folder.path(), &["check", "two.iox"], 3, &["E0803", "two.iox:2:", "No such file"]);
    fs::write(folder.path().join("two.iox"), system.replace("Echo", "Ecco")).expect("a file");
    check(folder.path(), &["check", "two.iox"], 3, &["holds `Echo`, not `Ecco`"]);
    fs::write(folder.path().join("two.iox"), system.replace("parts/echo.iox", "two.iox")).expect("a file");
    check(folder.path(), &["check", "two.iox"], 3, &["made of itself"]);
}

#[test]
fn a_system_is_a_part_of_another_and_constants_reach_its_parts() {
    let inner = format!("{}system Pair {{\n    const N = 2\n\n    echo[i in 1..N]: Echo\n}}\n", ECHO);
    let outer = "system Four {\n    use Pair from \"pair.iox\"\n\n    left: Pair\n    right: Pair(N: 1)\n}\n";
    let folder = folder(&[("pair.iox", &inner), ("four.iox", outer)]);
    let shown =
        check(folder.path(), &["show", "four.iox"], 0, &["left.echo.ask(i: 1..2", "right.echo.ask(i: 1..1"]);
    assert!(shown.contains("left.echo[2]"), "{shown}");
    check(folder.path(), &["show", "pair.iox", "--set", "N=3"], 0, &["echo[3]"]);
    check(folder.path(), &["show", "pair.iox", "--set", "M=3"], 2, &["there is no constant `M`"]);
    let args = ["test", "four.iox", "--sut", "model:four.iox", "--steps", "60", "--seed", "1"];
    check(folder.path(), &args, 0, &["passed", "parts:", "left", "right"]);
}

#[test]
fn every_command_takes_a_system() {
    let folder = examples();
    let dir = folder.as_path();
    check(dir, &["check", "--deep", "alternating-bit.iox"], 0, &["all explored"]);
    check(dir, &["fmt", "--check", "chat/chat.iox"], 0, &[]);
    check(dir, &["show", "chat/chat.iox", "--format", "dot"], 0, &["digraph"]);
    check(dir, &["mutate", "two-phase-commit.iox"], 0, &[]);
    let kill = ["kill", "chat/chat.iox", "--set", "PEOPLE=2", "--ops", "guard-rel"];
    check(dir, &kill, 0, &["mutants"]);
    check(
        dir,
        &["conform", "chat/faulty.iox", "chat/chat.iox", "--set", "PEOPLE=2"],
        1,
        &["FAILS", "client[1].print"],
    );
    let test = ["test", "chat/chat.iox", "--sut", "model:chat/faulty.iox", "--seed", "1"];
    check(dir, &test, 1, &["client[1]: typing", "why not   client[3].print", "in some of 3 instances"]);
}

#[test]
fn a_record_of_a_system_behind_a_channel_replays() {
    let faulty = ECHO.replace("n: last", "n: (last + 1) % 10");
    let folder = folder(&[("echo.iox", ECHO), ("faulty.iox", &faulty)]);
    let through = ["--through", "fifo(capacity: 2)", "--steps", "40", "--seed", "1"];
    let test =
        |sut: &'static str| [&["test", "echo.iox", "--report", "runs", "--sut", sut], &through[..]].concat();
    check(folder.path(), &test("model:echo.iox"), 0, &["passed"]);
    check(folder.path(), &test("model:faulty.iox"), 1, &["FAIL"]);
    check(folder.path(), &["replay", "runs", "--sut", "model:faulty.iox"], 1, &["FAIL"]);
    check(folder.path(), &["judge", "echo.iox", "runs", "--through", "fifo(capacity: 2)"], 1, &["FAIL"]);
    let wrong = ["test", "echo.iox", "--sut", "model:echo.iox", "--through", "fifo(size: 2)"];
    check(folder.path(), &wrong, 2, &["channels have no setting `size`", "fifo(capacity: 4)"]);
}

#[test]
fn every_instance_has_a_connection_of_its_own() {
    let has_python = Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    if !has_python {
        eprintln!("skipped: there is no python3");
        return;
    }
    let test = |flags: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["test", "bus.iox", "--sut", "bus", "--steps", "120", "--seed", "1", "--no-shrink"])
            .current_dir(examples().join("bus"))
            .env("BUS_FLAGS", flags)
            .env("NO_COLOR", "1")
            .output()
            .expect("the program runs");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (text, output.status.code().unwrap_or(-1))
    };
    let (text, code) = test("");
    assert!(code == 0 && text.contains("listener  1 of 1 switches in some of 2 instances"), "{code}: {text}");
    let (text, code) = test("--loud");
    assert!(code == 1 && text.contains("!listener.told(i: 2, text: "), "{code}: {text}");
}
