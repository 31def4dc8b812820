//! Systems made of parts, from the command line.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{check_in as check, print_in as ioxide};

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
    let args = ["test", "four.iox", "--sut", "model:four.iox", "--steps", "60", "--seed", "1", "-v"];
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
    let test = ["test", "chat/chat.iox", "--sut", "model:chat/faulty.iox", "--seed", "1", "-v"];
    check(
        dir,
        &test,
        1,
        &["client[1]: typing", "why not   client[3].print", "in one of 3 instances or more"],
    );
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
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let test = |flags: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["test", "bus.iox", "--sut", "bus", "--steps", "120", "--seed", "1", "--no-shrink", "-v"])
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
    assert!(
        code == 0 && text.contains("listener  1 of 1 transitions covered in one of 2 instances or more"),
        "{code}: {text}"
    );
    let (text, code) = test("--loud");
    assert!(code == 1 && text.contains("!listener.told(i: 2, text: "), "{code}: {text}");
}

/// Runs the bell of the examples, with a fault or none.
fn bell(fault: &str, more: &[&str]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "bell.iox", "--sut", "bell", "--seed", "1", "--no-shrink"])
        .args(more)
        .current_dir(examples().join("bell"))
        .env("FAULT", fault)
        .env("NO_COLOR", "1")
        .env("IOXIDE_PROGRESS", "off")
        .output()
        .expect("the program runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code().unwrap_or(-1))
}

/// Two connections with deadlines have one clock, whichever it is. On that of this machine a busy tester may end runs
/// without verdict; nobody is blamed for that.
#[test]
fn connections_of_parts_have_one_time() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let virtually = ["--clock", "virtual", "--tester", "random", "--runs", "3", "--steps", "30", "-v"];
    let (text, code) = bell("", &virtually);
    assert!(code == 0 && text.contains("bell    1 of 1 transitions"), "{code}: {text}");
    // How long it took, and for what, differs from time to time.
    let is_figure = |line: &&str| !line.contains(" % ");
    let figures = |text: &str| text.lines().skip(2).filter(is_figure).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(figures(&bell("", &virtually).0), figures(&text), "the same seed gives the same runs");
    for (fault, found) in [("late", "!bell.ring"), ("dark", "passes")] {
        let (text, code) = bell(fault, &virtually);
        assert!(
            code == 1 && text.contains("FAIL at step") && text.contains(found),
            "{fault}: {code}: {text}"
        );
    }
    let on_the_wall =
        ["--clock", "wall", "--latency-ms", "500", "--tester", "random", "--runs", "1", "--steps", "12"];
    let (text, code) = bell("", &on_the_wall);
    assert!(code != 1 && code != 2 && !text.contains("FAIL"), "{code}: {text}");
}

const PAIR: &str = "model Node {
    input go
    output gone(n: int)
    var count: int = 0

    state idle { go: on go -> busy }
    state busy { say: emit gone(n: count) { count = (count + 1) % 3 } -> idle }
}

system Pair {
    const LIMIT = 2
    node[i in 1..2]: Node

    small: always forall i in 1..2: node[i].count <= LIMIT
    purpose third: reach when exists i in 1..2: node[i].count == LIMIT && node[i].at(idle)
    purpose way: node[2].go, node[2].say
    purpose seen {
        state start { on node.gone when i == 2 && n == 1 -> hit }
    }
    test \"first\" {
        send node.go(i: 1)
        expect node.gone(i: 1, n: 0)
    }
}
";

#[test]
fn goals_of_a_system_speak_of_its_parts() {
    let folder = folder(&[("pair.iox", PAIR), ("wrong.iox", &PAIR.replace("<= LIMIT", "< LIMIT"))]);
    check(folder.path(), &["check", "--deep", "pair.iox"], 0, &["pair.iox: ok", "all explored"]);
    check(folder.path(), &["check", "--deep", "wrong.iox"], 0, &["`small` does not always hold"]);
    let found = ["purpose third: [", "purpose way: [2] node[2].go node[2].say", "purpose seen: ["];
    check(folder.path(), &["purposes", "pair.iox"], 0, &found);
    let test = ["test", "pair.iox", "--sut", "model:pair.iox", "--tester", "purpose:seen", "--seed", "1"];
    check(folder.path(), &test, 0, &["1 of 1 reached"]);
    check(folder.path(), &["fmt", "pair.iox"], 0, &[]);
    check(folder.path(), &["fmt", "--check", "pair.iox"], 0, &[]);
    check(folder.path(), &["check", "pair.iox"], 0, &["ok"]);
}

/// Names in a goal that no part has are reported with their place.
#[test]
fn goals_that_name_nothing_are_errors() {
    for (goal, says) in [
        ("always node[1].m == 0", "the part `node` has no variable `m`"),
        ("always node[1].at(gone)", "the part `node` has no state `gone`"),
        ("always node.count == 0", "`node` is an array: name the instance"),
        ("always node[3].count == 0", "`node` is an array without such an instance"),
        ("purpose p: node[1].come", "there is no label `node[1].come`"),
        ("test \"t\" { expect node.come }", "there is no message `node.come`"),
        ("test \"t\" { expect node.gone(n: node[1].count) }", "cannot be read in a test or an observer"),
    ] {
        let text = PAIR.replace("    const LIMIT", &format!("    {goal}\n    const LIMIT"));
        let folder = folder(&[("pair.iox", &text)]);
        check(folder.path(), &["check", "pair.iox"], 3, &[says, "pair.iox:11:"]);
    }
}

#[test]
fn a_message_under_way_takes_its_time() {
    let radio = fs::read_to_string(examples().join("delay.iox")).expect("the example");
    let hasty = radio.replace("min_delay: 1s", "min_delay: 0s").replace("max_delay: 3s", "max_delay: 500ms");
    let slow = radio.replace("min_delay: 1s", "min_delay: 4s").replace("max_delay: 3s", "max_delay: 5s");
    let folder = folder(&[("radio.iox", &radio), ("hasty.iox", &hasty), ("slow.iox", &slow)]);
    let test = |sut: &'static str| {
        let how = ["--tester", "random", "--seed", "1", "--runs", "3", "--steps", "30", "--no-shrink"];
        [&["test", "radio.iox", "--sut", sut], &how[..]].concat()
    };
    let (text, code) = ioxide(folder.path(), &test("model:radio.iox"));
    assert!(code != 1 && !text.contains("FAIL"), "{code}: {text}");
    check(folder.path(), &test("model:hasty.iox"), 1, &["FAIL"]);
    check(folder.path(), &test("model:slow.iox"), 1, &["FAIL"]);
    let wrong = radio.replace("max_delay: 3s", "max_delay: 500ms");
    fs::write(folder.path().join("wrong.iox"), wrong).expect("a file");
    let says = ["the longest delay is shorter than the least one"];
    check(folder.path(), &["check", "wrong.iox"], 3, &says);
}

#[test]
fn a_system_is_drawn_part_by_part() {
    let dir = &examples();
    let text =
        check(dir, &["show", "chat/chat.iox"], 0, &["\nserver: ready (initial)\n", "\nclient[3]: typing\n"]);
    assert!(text.contains("take: τ with client[1].send or client[2].send or client[3].send"), "{text}");
    let dot = check(dir, &["show", "chat/chat.iox", "--format", "dot"], 0, &["label=\"client[2]: reading\""]);
    assert_eq!(dot.matches("shape=point").count(), 4, "each of four parts starts somewhere:\n{dot}");
    check(dir, &["show", "chat/chat.iox", "--format", "svg"], 0, &["data-location=\"server: busy\""]);
}

/// Changes of a system are changes of its parts: where they are is no condition to be rewritten.
#[test]
fn mutants_of_a_system_leave_its_places_alone() {
    let text = check(&examples(), &["mutate", "two-phase-commit.iox"], 0, &["-target-1", "-source-1"]);
    let touched = |line: &&str| {
        let is_of_guard = line.contains("-guard-") || line.contains("-assign-");
        is_of_guard && line.contains(".state !=")
    };
    assert_eq!(text.lines().find(touched), None);
}

/// Whatever a system names as its parts, loading it ends, and soon.
#[cfg(unix)]
#[test]
fn hostile_parts_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    let part = "model P { input a output b state s { on a -> t } state t { emit b -> s } }";
    write("a.iox", "system A { use B from \"b.iox\"  b: B }");
    write("b.iox", "system B { use A from \"a.iox\"  a: A }");
    // Twenty systems, each made of two of the one before.
    write("m0.iox", &part.replace("model P", "model M0"));
    for n in 1..=20 {
        let before = n - 1;
        write(
            &format!("m{n}.iox"),
            &format!("system M{n} {{ use M{before} from \"m{before}.iox\"  x: M{before}  y: M{before} }}"),
        );
    }
    // A device without end, and a pipe that nobody writes to.
    write("device.iox", "system S { use P from \"/dev/zero\"  p: P }");
    write("pipe.iox", "system S { use P from \"fifo.iox\"  p: P }");
    let made =
        Command::new("mkfifo").arg(folder.path().join("fifo.iox")).status().expect("there is a `mkfifo`");
    assert!(made.success());
    write("array.iox", &format!("{part}\nsystem S {{ p[i in 1..1000000000]: P }}"));
    write(
        "channel.iox",
        &format!("{part}\nsystem S {{ p: P  q: P  n: fifo(capacity: 1000000000) between p and q }}"),
    );
    write(
        "twice.iox",
        &format!("{part}\nsystem S {{ p: P  q: P  n: fifo(capacity: 1, capacity: 2) between p and q }}"),
    );
    for (name, says) in [
        ("a.iox", "made of itself"),
        ("m20.iox", "too many systems"),
        ("device.iox", "not a regular file"),
        ("pipe.iox", "not a regular file"),
        ("array.iox", "an array of 1000000000 instances"),
        ("channel.iox", "a capacity is from 1 to 1000"),
        ("twice.iox", "`capacity` is set twice"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
        let output = command.args(["check", name]).current_dir(folder.path()).output().expect("it runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {text}");
        assert!(text.contains(says), "{name}: {text}");
    }
}

/// Asynchronous testing: action systems that talk through bounded queues, both ways (\[AT15] sec. 6).
#[test]
fn a_system_behind_queues_fails_only_where_the_queues_are_not_told() {
    let folder = examples().join("remote-line");
    let steps = ["--steps", "40", "--no-shrink", "--seed"];
    let test = |spec: &[&str], sut: &str, seed: &str, code: i32| {
        let args = [&["test"], spec, &["--sut", sut], &steps, &[seed]].concat();
        check(&folder, &args, code, &[]);
    };
    let through = ["meter.as", "--through", "fifo(capacity: 2)"];
    for seed in ["1", "2"] {
        test(&["line.iox"], "model:line.iox", seed, 0);
        test(&through, "model:line.iox", seed, 0);
        test(&["meter.as"], "model:line.iox", seed, 1);
        test(&["line.iox"], "model:faulty-line.iox", seed, 1);
        test(&through, "model:faulty-line.iox", seed, 1);
    }
    check(&folder, &["conform", "line.iox", "line.iox"], 0, &["CONFORMS"]);
    check(&folder, &["conform", "line.iox", "meter.as"], 1, &["FAILS"]);
    check(&folder, &["conform", "faulty-line.iox", "line.iox"], 1, &["FAILS"]);
}
