//! Processes that are ended as a whole, even if this one is killed.
//!
//! Every process started runs in a group of its own. The group is ended, and its end awaited, when its
//! [`GuardedChild`] is dropped. What leaves the group (`setsid`, a daemon) is found by a mark in its
//! environment, which it got from us and hands on, and is ended too. Should this process end without
//! all that (a second Ctrl-C, `kill -9`), the guardian does it: a small shell that knows the groups and
//! marks and waits at the end of a pipe, which closes when the process that holds it is gone.
//!
//! A process that leaves its group *and* clears its environment is out of reach. The mark is looked for
//! where there is a `/proc`; elsewhere only the group is ended.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The variable that holds the marks of everything that started a process.
const MARKS: &str = "IOXIDE_STARTED_BY";
/// The time limit for killed processes to disappear. Chosen by feel: the kernel needs far less, unless the machine is
/// overloaded.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// A child process with the group it leads, and what left that group.
#[derive(Debug)]
pub(super) struct GuardedChild {
    child: Option<Child>,
    /// The word in the environment of every process that the child started; `None` if only its process group is
    /// guarded.
    mark: Option<String>,
}

/// The way in which the child itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildExit {
    /// The child ended with status 0.
    Well,
    /// The child ended in any other way.
    Badly,
}

impl GuardedChild {
    /// Starts `command`, which leads a process group of its own; every process it starts is guarded.
    pub(super) fn start(command: &mut Command) -> io::Result<(Self, ChildStreams)> {
        let mark = mark();
        let marks = match std::env::var(MARKS) {
            // Marks add up: what a tested program starts with ioxide of its own belongs to both.
            Ok(outer) => format!("{outer} {mark}"),
            Err(_) => mark.clone(),
        };
        Self::guard(command.env(MARKS, marks), Some(mark))
    }

    /// Starts `command`; processes that leave its group live on.
    pub(super) fn start_loosely(command: &mut Command) -> io::Result<(Self, ChildStreams)> {
        Self::guard(command, None)
    }

    /// Starts a child that is killed when this process ends, however it ends.
    fn guard(command: &mut Command, mark: Option<String>) -> io::Result<(Self, ChildStreams)> {
        // Before the child is there, so that it is known whenever this process is killed.
        mark.as_deref().inspect(|mark| watch::expect(mark));
        let mut child = command.spawn()?;
        let streams = ChildStreams {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
        };
        // From here the guardian knows the group; before, it looked for the mark alone.
        watch::log_child("+", &child, mark.as_deref());
        Ok((Self { child: Some(child), mark }, streams))
    }

    /// Returns whether the child has ended; does not reap it, so its process id stays valid.
    pub(super) fn has_exited(&self) -> bool {
        self.exit().is_some()
    }

    /// Returns the way in which the child has ended, or `None` while it runs; does not reap it.
    pub(super) fn exit(&self) -> Option<ChildExit> {
        self.child.as_ref().map_or(Some(ChildExit::Badly), watch::exit)
    }

    /// Returns whether a process other than the child is alive in its group or carries its mark.
    pub(super) fn has_others(&self) -> bool {
        let others = self.child.as_ref().map(|child| watch::others(child, self.mark.as_deref()));
        others.is_some_and(|others| !others.is_empty())
    }

    /// Stops the child and all guarded processes until they are resumed.
    pub(super) fn pause(&self) {
        self.child.iter().for_each(|child| watch::set_paused(child, self.mark.as_deref(), true));
    }

    /// Continues the child and all guarded processes.
    pub(super) fn resume(&self) {
        self.child.iter().for_each(|child| watch::set_paused(child, self.mark.as_deref(), false));
    }

    /// Kills the child and all guarded processes, and returns the exit status of the child.
    pub(super) fn kill_all(mut self) -> Option<ExitStatus> {
        self.kill()
    }

    /// Kills the child with all processes of its group and those that carry its mark; returns its status, `None` if it
    /// was killed before.
    fn kill(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        // Before the child is let go of, so that its id still names its own group.
        watch::kill_group(&mut child);
        watch::kill_others(&child, self.mark.as_deref(), KILL_TIMEOUT);
        watch::log_child("-", &child, None);
        child.wait().ok()
    }
}

impl Drop for GuardedChild {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The standard streams of a child, as far as they are pipes.
pub(super) struct ChildStreams {
    pub(super) stdin: Option<std::process::ChildStdin>,
    pub(super) stdout: Option<std::process::ChildStdout>,
    pub(super) stderr: Option<std::process::ChildStderr>,
}

/// Returns a word that no other process on this machine carries.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("ioxide:{}:{}:{now:x}:", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(unix)]
mod watch {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::sync::{Mutex, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

    use super::{ChildExit, MARKS};

    /// Keeps a list of groups with their marks and ends those that are left when its input ends.
    const GUARDIAN: &str = "trap '' INT TERM HUP; g=; e=; while read -r op id mark; do case $op in \
        '?') e=\"$e $id\";; \
        +) g=\"$g $id=$mark\"; n=; for i in $e; do [ \"$i\" = \"$mark\" ] || n=\"$n $i\"; done; e=$n;; \
        -) n=; for i in $g; do case $i in \"$id=\"*) ;; *) n=\"$n $i\";; esac; done; g=$n;; \
        esac; done; for i in $g $e; do case $i in *=*) kill -9 -\"${i%%=*}\";; esac; m=${i#*=}; [ -z \"$m\" ] || \
        for p in $(grep -lsF -e \"$m\" /proc/[0-9]*/environ); do p=${p#/proc/}; kill -9 \"${p%/environ}\"; done; \
        done 2>/dev/null";

    /// The pipe to the guardian; it stays open as long as this process lives.
    static PIPE: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

    /// Starts the guardian, a shell in a process group of its own; `None` if it cannot be started.
    fn start() -> Option<Mutex<ChildStdin>> {
        let mut guardian = Command::new("sh")
            .args(["-c", GUARDIAN])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        guardian.stdin.take().map(Mutex::new)
    }

    /// Tells the guardian that something with this mark is about to be started.
    pub(super) fn expect(mark: &str) {
        tell(&format!("? {mark}\n"));
    }

    /// Tells the guardian that a group was started (`+`) or ended (`-`).
    pub(super) fn log_child(sign: &str, child: &Child, mark: Option<&str>) {
        tell(&format!("{sign} {} {}\n", child.id(), mark.unwrap_or_default()));
    }

    /// Writes a line to the guardian, which is started on first use.
    fn tell(line: &str) {
        if let Some(pipe) = PIPE.get_or_init(start) {
            let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
            // Without a guardian everything works, unless this process is killed.
            pipe.write_all(line.as_bytes()).ok();
        }
    }

    fn group_of(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    /// Returns how the child ended, without reaping it; `None` while it runs.
    pub(super) fn exit(child: &Child) -> Option<ChildExit> {
        // `NOWAIT` leaves the child unreaped, so the kernel gives its id, which names the group, to nobody else.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = group_of(child).map(|id| waitid(WaitId::Pid(id), options));
        match status {
            Some(Ok(Some(status))) if status.exit_status() == Some(0) => Some(ChildExit::Well),
            Some(Ok(Some(_))) => Some(ChildExit::Badly),
            _ => None,
        }
    }

    /// Ends the child and everything in its process group.
    pub(super) fn kill_group(child: &mut Child) {
        if let Some(group) = group_of(child) {
            kill_process_group(group, Signal::KILL).ok();
        }
    }

    /// Stops or continues the child, its process group and what left the group.
    pub(super) fn set_paused(child: &Child, mark: Option<&str>, is_paused: bool) {
        let signal = if is_paused { Signal::STOP } else { Signal::CONT };
        if let Some(group) = group_of(child) {
            kill_process_group(group, signal).ok();
        }
        for other in others(child, mark) {
            kill_process(other, signal).ok();
        }
    }

    /// Ends what left the group and waits until all of it is gone, at most for `limit`.
    pub(super) fn kill_others(child: &Child, mark: Option<&str>, limit: Duration) {
        let deadline = Instant::now() + limit;
        loop {
            let others = others(child, mark);
            // Again and again, as a process may start another one between the look and the kill.
            if others.is_empty() || Instant::now() >= deadline {
                return;
            }
            for other in others {
                kill_process(other, Signal::KILL).ok();
            }
            // 1 ms, so that the loop does not keep a processor busy. No reason for the number is recorded.
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the processes other than the child that are alive in its group or carry `mark`; empty where there is no
    /// `/proc`.
    pub(super) fn others(child: &Child, mark: Option<&str>) -> Vec<Pid> {
        let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
        let leader = i32::try_from(child.id()).unwrap_or(0);
        // A process that is older than the child is none of its children, whatever its group: ids are used again.
        let since = ProcessStat::read(leader).map_or(0, |stat| stat.started);
        let ids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_ours = |id: &i32| {
            ProcessStat::read(*id).is_some_and(|stat| {
                stat.is_alive
                    && stat.started >= since
                    && (stat.group == leader || mark.is_some_and(|mark| carries(*id, mark)))
            })
        };
        ids.filter(|id| *id != leader).filter(is_ours).filter_map(Pid::from_raw).collect()
    }

    /// The state of a process according to `/proc`.
    struct ProcessStat {
        is_alive: bool,
        group: i32,
        /// Its start, in ticks since the machine was started.
        started: u64,
    }

    impl ProcessStat {
        /// Reads the file `/proc/ID/stat`, `id (name) state parent group ...`; the name may hold anything. `None` if
        /// the process is gone.
        fn read(id: i32) -> Option<Self> {
            let text = std::fs::read(format!("/proc/{id}/stat")).ok()?;
            let text = String::from_utf8_lossy(&text);
            // Behind the last bracket, as the name may contain brackets and blanks: the first word is the state
            // (field 3), so the group is the third and the start the twentieth (proc(5): fields 5 and 22).
            let words: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
            let is_alive = !matches!(*words.first()?, "Z" | "X" | "x");
            Some(Self { is_alive, group: words.get(2)?.parse().ok()?, started: words.get(19)?.parse().ok()? })
        }
    }

    /// Returns whether the environment of process `id` has this mark.
    fn carries(id: i32, mark: &str) -> bool {
        let variables = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        let mut marks = variables.split(|&byte| byte == 0).filter_map(|variable| {
            variable.strip_prefix(MARKS.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
        });
        marks.any(|marks| marks.split(|&byte| byte == b' ').any(|other| other == mark.as_bytes()))
    }
}

#[cfg(not(unix))]
mod watch {
    use std::process::Child;
    use std::time::Duration;

    use super::ChildExit;

    /// Does nothing: there is no guardian on this platform.
    pub(super) fn expect(_mark: &str) {}

    /// Does nothing: there is no guardian on this platform.
    pub(super) fn log_child(_sign: &str, _child: &Child, _mark: Option<&str>) {}

    /// Returns `None`: without Unix, the end of a child cannot be seen without reaping it.
    pub(super) fn exit(_child: &Child) -> Option<ChildExit> {
        None
    }

    pub(super) fn kill_group(child: &mut Child) {
        child.kill().ok();
    }

    pub(super) fn kill_others(_child: &Child, _mark: Option<&str>, _limit: Duration) {}

    /// Does nothing: processes cannot be stopped on this platform.
    pub(super) fn set_paused(_child: &Child, _mark: Option<&str>, _is_paused: bool) {}

    /// Returns no processes: they cannot be found on this platform.
    pub(super) fn others(_child: &Child, _mark: Option<&str>) -> Vec<u32> {
        Vec::new()
    }
}
