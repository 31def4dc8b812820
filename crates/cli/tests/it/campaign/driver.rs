//! The driver: killed, interrupted, with workers that die and systems that are shared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_test_support::is_full_run;
use serde_json::json;
use tempfile::TempDir;

use super::{CHOOSING, Told, ioxide, path, program, read, root};

/// A plan in a folder of its own, for `run`, with `more` in it.
pub fn plan(run: &[&str], more: &str) -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let (file, out) = (dir.path().join("plan.toml"), dir.path().join("night"));
    fs::write(&file, format!("run = {}\nout = {}\n{more}", json!(run), json!(path(&out)))).expect("written");
    (dir, file, out)
}

/// The campaign with more runs, and what one machine says of it.
pub fn runs(n: &'static str) -> Vec<&'static str> {
    CHOOSING.iter().map(|&word| if word == "20" { n } else { word }).collect()
}

/// Returns the output and the record of `run`, done as one part and merged.
pub fn alone(run: &[&str]) -> (String, String) {
    let dir = tempfile::tempdir().expect("a folder");
    super::in_parts(run, 1, &dir.path().join("parts"));
    let told = super::merge(&dir.path().join("parts"), &dir.path().join("whole"), &[]);
    (told.out, read(&dir.path().join("whole/campaign.jsonl")))
}

fn campaign(file: &Path) -> Told {
    ioxide(&["campaign", path(file)])
}

/// Returns the number of units that are done in all parts.
pub fn done(out: &Path) -> usize {
    let entries = fs::read_dir(out.join("parts")).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path().join("units.jsonl")).ok());
    texts.map(|text| text.matches("{\"done\":").count()).sum()
}

/// Waits until some units are done.
pub fn until_done(out: &Path, n: usize) {
    let begun = Instant::now();
    while done(out) < n {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} units are done", done(out));
        thread::sleep(Duration::from_millis(10));
    }
}

fn start(file: &Path) -> Child {
    let mut command = program(&["campaign", path(file)]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

#[test]
fn a_driver_that_was_killed_goes_on_and_nothing_is_lost_or_done_twice() {
    let run = runs("120");
    let (_dir, file, out) = plan(&run, "workers = 2\nbatch = \"300ms\"\n");
    for n in [10, 40] {
        let mut driver = start(&file);
        until_done(&out, n);
        driver.kill().expect("killed");
        driver.wait().expect("dead");
    }
    let told = campaign(&file);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.err.contains("continuing: "), "{}", told.err);
    let (whole, record) = alone(&run);
    assert_eq!(told.out, whole);
    assert_eq!(read(&out.join("merged/campaign.jsonl")), record);
    assert_eq!(done(&out), 120, "nothing was done twice");
    // The same command has nothing left to do.
    assert_eq!(campaign(&file).out, whole);
    assert_eq!(done(&out), 120);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_done() {
    let run = runs("20000");
    let (_dir, file, out) = plan(&run, "workers = 2\nbatch = \"300ms\"\n");
    let mut command = program(&["campaign", path(&file)]);
    let driver = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    until_done(&out, 10);
    let killed = Command::new("kill").args(["-INT", &driver.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let ended = driver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("the same command continues"), "{err}");
    assert!((10..20_000).contains(&done(&out)));
}

/// Kills a worker of `driver` that lives, if there is one.
#[cfg(unix)]
fn kill_worker(driver: &Child) -> bool {
    let listed = Command::new("ps")
        .args(["-o", "pid=,stat=", "--ppid", &driver.id().to_string()])
        .output()
        .expect("ps");
    let listed = String::from_utf8_lossy(&listed.stdout);
    let mut living =
        listed.lines().filter(|line| !line.contains('Z')).filter_map(|line| line.split_whitespace().next());
    living
        .any(|worker| Command::new("kill").args(["-9", worker]).output().is_ok_and(|it| it.status.success()))
}

/// Workers that are killed by others lose nothing either.
#[cfg(unix)]
#[test]
fn workers_that_are_killed_are_replaced() {
    let run = runs(if is_full_run() { "800" } else { "400" });
    let (_dir, file, out) = plan(&run, "workers = 2\nbatch = \"1s\"\n");
    let mut command = program(&["campaign", path(&file)]);
    let mut driver = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until_done(&out, 5);
    let mut killed = 0;
    while killed < 3 && driver.try_wait().expect("a process").is_none() {
        killed += usize::from(kill_worker(&driver));
        thread::sleep(Duration::from_millis(20));
    }
    assert!(killed > 0);
    let ended = driver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(!err.contains(" 0 workers died"), "{err}");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), alone(&run).0, "{err}");
}

/// A system whose worker dies where the first input is 4, so that the units that give it kill their worker.
const KILLER: &str = r#"
import json, os, signal, sys
def up(pid):
    while pid > 1:
        with open(f"/proc/{pid}/stat") as stat:
            name, rest = stat.read().rsplit(")", 1)
        if name.split("(", 1)[1] == "ioxide" and b"--part" in open(f"/proc/{pid}/cmdline", "rb").read():
            return pid
        pid = int(rest.split()[1])
sys.path.insert(0, sys.argv[1])
from ioxide_adapter import Adapter, on_input
class Adder(Adapter):
    outputs = {"outX": {"p": "int"}, "done": {}}
    def reset(self):
        self.sum = 0
    @on_input("inX")
    def add(self, p):
        if self.sum == 0 and p == 4:
            os.kill(up(os.getppid()), signal.SIGKILL)
        self.sum += p
        self.emit("outX", p=self.sum)
        if self.sum > 15:
            self.emit("done")
Adder().run()
"#;

#[cfg(target_os = "linux")]
#[test]
fn units_that_kill_their_workers_are_set_aside_and_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let system = dir.path().join("killer.py");
    fs::write(&system, KILLER).expect("written");
    let sut = format!("stdio:python3 {} {}", path(&system), path(&root().join("sdk/python")));
    let args =
        ["test", "examples/adder.iox", "--sut", &sut, "--tester", "random", "--steps", "3", "--runs", "24"];
    let args = [&args[..], &["--seed", "3", "--quiescence-ms", "40"]].concat();
    let (_dir, file, out) = plan(&args, "workers = 2\nbatch = \"1s\"\n");
    let told = campaign(&file);
    assert_eq!(told.code, Some(5), "{}", told.err);
    let aside = told.err.lines().filter(|line| line.starts_with("quarantined: `run-")).count();
    assert!((1..12).contains(&aside), "{}", told.err);
    assert!(told.err.contains("after 3 tries: signal: 9"), "{}", told.err);
    assert_eq!(done(&out), 24 - aside, "all others are done");
    // What was set aside stays so: it is in the journal.
    let again = campaign(&file);
    assert_eq!(again.err.lines().filter(|line| line.starts_with("quarantined: ")).count(), aside);
    assert_eq!(done(&out), 24 - aside);
}

#[test]
fn systems_of_a_pool_are_shared() {
    let server = |port: &str| {
        let mut command = program(&["sut", "examples/adder.iox", "--listen", port]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let ports: Vec<String> = (0..2)
        .map(|_| {
            std::net::TcpListener::bind("127.0.0.1:0")
                .and_then(|it| it.local_addr())
                .expect("a port")
                .to_string()
        })
        .collect();
    // Nobody waits until they listen, and one is never there: its address rests, and the others do the work.
    let mut servers: Vec<Child> = ports.iter().map(|port| server(port)).collect();
    let pool: Vec<&str> = ports.iter().map(String::as_str).chain(["127.0.0.1:1"]).collect();
    let args = [
        "test",
        "examples/adder.iox",
        "--sut",
        "tcp:${IOXIDE_ADDRESS}",
        "--tester",
        "random",
        "--steps",
        "4",
    ];
    let args = [&args[..], &["--runs", "6", "--seed", "3", "--quiescence-ms", "60"]].concat();
    let more = format!("workers = 8\nbatch = \"500ms\"\n[systems]\npool = {}\nlimit = 1\n", json!(pool));
    let (_dir, file, out) = plan(&args, &more);
    let told = campaign(&file);
    servers
        .iter_mut()
        .for_each(|server| server.kill().and_then(|()| server.wait()).map(drop).expect("killed"));
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.out.contains("6 runs: 6 passed"), "{}", told.out);
    assert!(told.err.contains("`127.0.0.1:1` does not answer"), "{}", told.err);
    assert!(told.err.contains(" 0 quarantined"), "{}", told.err);
    assert_eq!(done(&out), 6);
}

#[test]
fn budgets_failures_and_mistakes_end_a_campaign() {
    // A busy machine does nothing in two seconds; then there is nothing to merge.
    let spent = ["2s", "10s", "60s"].map(|budget| format!("workers = 2\nbudget = \"{budget}\"\n"));
    let mut spent = spent.iter().map(|budget| {
        let (dir, file, out) = plan(&runs("200000"), budget);
        (dir, campaign(&file), file, out)
    });
    let is_some_done = |told: &Told| !told.err.contains("no unit was done");
    let (_dir, told, _, out) = spent.find(|(_, told, ..)| is_some_done(told)).expect("some units are done");
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.err.contains("the budget is used up"), "{}", told.err);
    assert!(told.out.contains("run 1: FAIL"), "{}", told.out);
    assert!(done(&out) < 200_000);
    // Without `--keep-going` the first failure is the end, as on one machine.
    let stops = &runs("300")[..10];
    let (_dir, file, out) = plan(stops, "workers = 2\n");
    assert_eq!(campaign(&file).out, alone(stops).0);
    assert!(done(&out) < 300);
    for (text, why) in [
        ("run = [\"test\"]", "cannot be planned"),
        ("run = [\"show\", \"examples/adder.iox\"]", "cannot be planned"),
        ("runs = 3", "unknown field `runs`"),
        ("run = [\"test\"]\nbudget = \"soon\"", "`budget`: write a number and"),
    ] {
        fs::write(&file, text).expect("written");
        let told = campaign(&file);
        assert_eq!(told.code, Some(2), "{text}: {}", told.err);
        assert!(told.err.contains(why), "{text}: {}", told.err);
    }
}

#[test]
fn printed_commands_make_the_campaign() {
    let (_dir, file, out) = plan(&CHOOSING, "workers = 3\n");
    let told = ioxide(&["campaign", path(&file), "--on", "print"]);
    assert_eq!(told.out.lines().count(), 4);
    let folder = Path::new(env!("CARGO_BIN_EXE_ioxide")).parent().expect("a folder");
    let search = format!("{}:{}", path(folder), std::env::var("PATH").expect("a search path"));
    let ran = Command::new("sh").args(["-c", &told.out]).current_dir(root()).env("PATH", search).output();
    let ran = ran.expect("a shell");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), alone(&CHOOSING).0);
    assert!(out.join("merged/report.html").exists());
}
