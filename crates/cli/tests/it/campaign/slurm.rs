//! Slurm: with a stand-in for its programs, and for real with `IOXIDE_CLUSTERS=1` where its daemons are installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::driver::{alone, done, plan, runs, until_done};
use super::{path, program, read};

/// Starts every task of an array as a process, and says its number.
const SBATCH: &str = r#"#!/bin/sh
state=$(dirname "$0")/state; mkdir -p "$state"
for script; do :; done
job=$(($(ls "$state" | wc -l) + 100)); mkdir "$state/$job"
n=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
i=1; while [ $i -le $n ]; do
  SLURM_ARRAY_TASK_ID=$i setsid sh "$script" >/dev/null 2>&1 & echo $! > "$state/$job/$i"
  i=$((i + 1))
done
echo "$job"
"#;

/// Lists the tasks that are alive.
const SQUEUE: &str = r#"#!/bin/sh
state=$(dirname "$0")/state
for task in "$state"/*/*; do
  kill -0 "$(cat "$task")" 2>/dev/null && echo "$(basename "$(dirname "$task")") $(basename "$task") RUNNING"
done
exit 0
"#;

/// A folder with the stand-in.
fn stand_in(dir: &Path) -> PathBuf {
    let folder = dir.join("bin");
    fs::create_dir(&folder).expect("a folder");
    for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", "#!/bin/sh\n")] {
        let file = folder.join(name);
        ioxide_test_support::write_program(&file, text);
    }
    folder
}

#[cfg(unix)]
#[test]
fn arrays_are_sent_and_a_task_that_dies_is_sent_again() {
    let run = runs("60");
    let (dir, file, out) = plan(&run, "workers = 2\nbatch = \"300ms\"\n[slurm]\noptions = [\"--time=5\"]\n");
    let bin = stand_in(dir.path());
    let search = format!("{}:{}", path(&bin), std::env::var("PATH").expect("a search path"));
    let mut refused = program(&["campaign", path(&file), "--on", "slurm"]);
    let refused = refused.env("PATH", &search).output().expect("it runs");
    let err = String::from_utf8_lossy(&refused.stderr);
    assert!(err.contains("#SBATCH --array=1-2") && err.contains("`--yes` submits it"), "{err}");
    assert!(!bin.join("state").exists(), "nothing was sent");
    let mut command = program(&["campaign", path(&file), "--on", "slurm", "--yes"]);
    command.env("PATH", &search).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let driver = command.spawn().expect("it starts");
    until_done(&out, 3);
    // The whole group of a task that runs: its shell and its worker.
    let tasks =
        fs::read_dir(bin.join("state")).expect("jobs").flatten().flat_map(|job| fs::read_dir(job.path()));
    let pids: Vec<String> =
        tasks.flatten().flatten().map(|task| read(&task.path()).trim().to_owned()).collect();
    let is_killed = |pid: &String| {
        Command::new("kill").args(["-9", "--", &format!("-{pid}")]).status().is_ok_and(|it| it.success())
    };
    let killed = pids.iter().filter(|pid| is_killed(pid)).count();
    let ended = driver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    let (whole, record) = alone(&run);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), whole, "{err}");
    assert_eq!(read(&out.join("merged/campaign.jsonl")), record);
    assert_eq!(done(&out), 60, "{killed} were killed");
    assert!(read(&out.join("jobs/000001/job.sh")).contains("#SBATCH --time=5"));
}

/// For real: a cluster is up, and `SLURM_CONF` says where; `docs/measurements/campaign.md` says how it was started.
#[test]
fn slurm_for_real() {
    if std::env::var_os("IOXIDE_CLUSTERS").is_none() || std::env::var_os("SLURM_CONF").is_none() {
        eprintln!("skipped: IOXIDE_CLUSTERS and SLURM_CONF are not set");
        return;
    }
    let run = runs("400");
    let (_dir, file, out) = plan(&run, "workers = 3\nbatch = \"2s\"\n");
    let mut command = program(&["campaign", path(&file), "--on", "slurm", "--yes"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let driver = command.spawn().expect("it starts");
    until_done(&out, 5);
    let queue =
        Command::new("squeue").args(["--noheader", "--array", "--states=RUNNING", "--format=%i"]).output();
    let queue = String::from_utf8_lossy(&queue.expect("squeue").stdout).into_owned();
    let task = queue.split_whitespace().next();
    if let Some(task) = task {
        let killed =
            Command::new("scancel").args(["--signal=KILL", "--full", task]).status().expect("scancel");
        assert!(killed.success());
    }
    let ended = driver.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), alone(&run).0, "{err}");
    assert_eq!(done(&out), 400);
    eprintln!("task {task:?} was killed\n{}", err.lines().last().unwrap_or_default());
}
