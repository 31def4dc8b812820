//! Ray: with a stand-in for it, and for real with `IOXIDE_CLUSTERS=1`: a head and three nodes on this machine; a worker
//! and a whole node are killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::driver::{alone, done, plan, runs, until_done};
use super::{path, program, read, root};

/// The version that is tried.
const RAY: &str = "ray==2.60.0";

/// A module that is called `ray`: tasks are threads, and the second and the fifth are lost.
const STAND_IN: &str = r#"
import concurrent.futures, itertools
pool, numbers = concurrent.futures.ThreadPoolExecutor(3), itertools.count(1)
init = cancel = shutdown = lambda *args, **options: None
nodes = lambda: [{"Alive": True}]
cluster_resources = lambda: {"CPU": 3.0}
class NodeDiedError(Exception): pass
def remote(**options):
    assert options["max_retries"] == 0
    def made(function):
        def run(number, *args):
            if number in (2, 5):
                raise NodeDiedError("the node is gone\nand its workers")
            return function(*args)
        class Task:
            remote = staticmethod(lambda *args: pool.submit(run, next(numbers), *args))
        return Task
    return made
def wait(references, num_returns, timeout):
    done, _ = concurrent.futures.wait(references, timeout, concurrent.futures.FIRST_COMPLETED)
    return list(done), []
get = lambda reference: reference.result()
"#;

#[test]
fn tasks_that_are_lost_are_sent_again() {
    let run = runs("60");
    let (dir, file, out) = plan(&run, "workers = 3\nbatch = \"300ms\"\n[ray]\naddress = \"stand-in\"\n");
    fs::write(dir.path().join("ray.py"), STAND_IN).expect("written");
    let search = format!("{}:{}", path(dir.path()), path(&root().join("sdk/python")));
    let mut command = program(&["campaign", path(&file), "--on", "ray"]);
    let ended = command.env("PYTHONPATH", search).output().expect("it runs");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("Ray: 1 node, 3 CPUs"), "{err}");
    assert!(read(&out.join("journal.jsonl")).contains("NodeDiedError: the node is gone"));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), alone(&run).0, "{err}");
    assert_eq!(done(&out), 60);
}

/// The feedback of a round is sent along: the workers have no files in common with the driver, so none of them names
/// its file.
#[test]
fn what_a_round_knows_goes_to_the_nodes() {
    let run = ["kill", "examples/brp/spec.iox", "--at", "r7"];
    let more = "workers = 3\nrounds = 2\nbatch = \"300ms\"\n";
    let (_one_dir, one, one_out) = plan(&run, more);
    assert_eq!(super::ioxide(&["campaign", path(&one)]).code, Some(0));
    let (dir, file, out) = plan(&run, &format!("{more}[ray]\naddress = \"stand-in\"\n"));
    let seen = dir.path().join("seen");
    let spy = "            open(SEEN, 'a').write(repr(args[1]) + repr(sorted(args[4])) + '\\n')\n            \
               return function(*args)";
    let stand_in = STAND_IN.replace("            return function(*args)", spy);
    assert_ne!(stand_in, STAND_IN);
    let stand_in = format!("SEEN = {:?}\n{stand_in}", path(&seen));
    fs::write(dir.path().join("ray.py"), stand_in).expect("written");
    let search = format!("{}:{}", path(dir.path()), path(&root().join("sdk/python")));
    let mut command = program(&["campaign", path(&file), "--on", "ray"]);
    let ended = command.env("PYTHONPATH", search).output().expect("it runs");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{err}");
    assert_eq!(read(&out.join("merged/kill.jsonl")), read(&one_out.join("merged/kill.jsonl")), "{err}");
    let sent = read(&seen);
    let with = sent.lines().filter(|line| line.contains("--feedback")).collect::<Vec<_>>();
    assert!(!with.is_empty() && with.iter().all(|line| line.ends_with("rounds/2.json']")), "{sent}");
}

/// Without a cluster nothing is started, and it is said what to do.
#[test]
fn a_cluster_is_not_started_unasked() {
    let (_dir, file, _) = plan(&runs("20"), "");
    let told = super::ioxide(&["campaign", path(&file), "--on", "ray"]);
    assert_eq!(told.code, Some(2), "{}", told.err);
    assert!(told.err.contains("`address` of its head under [ray]"), "{}", told.err);
}

/// A Python with Ray, kept between runs.
fn python() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ray");
    let python = place.join("bin/python");
    if !place.join("complete").exists() {
        let made = Command::new("python3").args(["-m", "venv", path(&place)]).status().expect("python3");
        assert!(made.success());
        let installed =
            Command::new(&python).args(["-m", "pip", "install", "-q", RAY]).status().expect("pip");
        assert!(installed.success());
        fs::write(place.join("complete"), "").expect("written");
    }
    python
}

/// All processes: id, parent, command.
fn processes() -> Vec<(u32, u32, String)> {
    let told = Command::new("ps").args(["-eo", "pid=,ppid=,args="]).output().expect("ps");
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.collect::<Vec<_>>().join(" ")))
    };
    text.lines().filter_map(line).collect()
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
}

/// The processes of a cluster that was started here, ended with it.
struct Cluster {
    before: BTreeSet<u32>,
    port: String,
}

impl Cluster {
    /// A head without processors and three nodes with one each, every node its own processes.
    fn start(python: &Path) -> Self {
        let before = processes().into_iter().map(|(pid, ..)| pid).collect();
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
        let cluster = Self { before, port: port.to_string() };
        let address = format!("--address=127.0.0.1:{port}");
        let head = [&format!("--port={port}"), "--head", "--num-cpus=0", "--include-dashboard=false"];
        let node = [address.as_str(), "--num-cpus=1"];
        for more in [&head[..], &node, &node, &node] {
            let started = Command::new(python.with_file_name("ray"))
                .args(["start", "--node-ip-address=127.0.0.1", "--disable-usage-stats"])
                .args(more)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("ray");
            assert!(started.success());
        }
        cluster
    }

    /// Its processes of which the command has this in it.
    fn with(&self, what: &str) -> Vec<u32> {
        let is_mine = |(pid, _, args): &(u32, u32, String)| !self.before.contains(pid) && args.contains(what);
        processes().into_iter().filter(is_mine).map(|(pid, ..)| pid).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let ours = ["raylet", "gcs_server", "ray::", "ray/_private", "ray/dashboard"];
        ours.iter().flat_map(|what| self.with(what)).for_each(kill);
    }
}

#[test]
fn a_worker_and_a_node_are_killed_and_nothing_is_lost() {
    if std::env::var_os("IOXIDE_CLUSTERS").is_none() {
        eprintln!("skipped: IOXIDE_CLUSTERS is not set");
        return;
    }
    let python = python();
    let cluster = Cluster::start(&python);
    let run = runs("900");
    let more = format!(
        "workers = 3\nbatch = \"2s\"\n[ray]\naddress = \"127.0.0.1:{}\"\npython = \"{}\"\n",
        cluster.port,
        path(&python)
    );
    let (_dir, file, out) = plan(&run, &more);
    let mut command = program(&["campaign", path(&file), "--on", "ray"]);
    command.env("PYTHONPATH", root().join("sdk/python")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let driver = command.spawn().expect("it starts");
    until_done(&out, 20);
    let worker = (0..200).find_map(|_| {
        thread::sleep(Duration::from_millis(50));
        cluster.with("ray::run_batch").first().copied()
    });
    kill(worker.expect("a worker is at work"));
    until_done(&out, 150);
    // A node is its raylet and everything that this has started.
    let node = *cluster.with("raylet/raylet").last().expect("a node");
    let children: Vec<u32> = processes().into_iter().filter(|it| it.1 == node).map(|it| it.0).collect();
    kill(node);
    children.into_iter().for_each(kill);
    let ended = driver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    let (whole, record) = alone(&run);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), whole, "{err}");
    assert_eq!(read(&out.join("merged/campaign.jsonl")), record);
    assert_eq!(done(&out), 900, "nothing was done twice");
    let journal = read(&out.join("journal.jsonl"));
    let died: Vec<&str> = journal
        .lines()
        .filter(|line| line.contains("\"ended\":") && !line.contains("\"how\":\"ended\""))
        .collect();
    assert!(died.len() >= 2, "{journal}");
    eprintln!(
        "{}\n{}",
        err.lines().filter(|it| it.starts_with("campaign")).collect::<String>(),
        died.join("\n")
    );
}
