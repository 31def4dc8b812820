//! Processes that are ended as a whole, even if this one is killed.
//!
//! Every process started runs in a group of its own. The group is ended when its [`Guarded`] is
//! dropped. Should this process end without that (a second Ctrl-C, `kill -9`), the guardian
//! does it: a small shell that knows the groups and waits at the end of a pipe, which closes when
//! the process that holds it is gone.
//!
//! A process that leaves its group (`setsid`) is out of reach.

use std::process::{Child, ExitStatus};

/// A child process with the group it leads.
#[derive(Debug)]
pub(super) struct Guarded(Option<Child>);

impl Guarded {
    /// Guards the group that `child` leads.
    pub(super) fn new(child: Child) -> Self {
        watch::note("+", &child);
        Self(Some(child))
    }

    /// Whether the child has ended; it is not let go of yet.
    pub(super) fn has_exited(&self) -> bool {
        self.0.as_ref().is_none_or(watch::has_exited)
    }

    /// Ends the group and says how the child ended.
    pub(super) fn end(mut self) -> Option<ExitStatus> {
        self.kill()
    }

    fn kill(&mut self) -> Option<ExitStatus> {
        let mut child = self.0.take()?;
        // Before the child is let go of, so that its id still names its own group.
        watch::kill_group(&mut child);
        watch::note("-", &child);
        child.wait().ok()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(unix)]
mod watch {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStdin, Command, Stdio};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// Keeps a list of groups and ends those that are left when its input ends.
    const GUARDIAN: &str = "trap '' INT TERM HUP; g=; while read -r op id; do case $op in \
        +) g=\"$g $id\";; \
        -) n=; for i in $g; do [ \"$i\" = \"$id\" ] || n=\"$n $i\"; done; g=$n;; \
        esac; done; for i in $g; do kill -9 -\"$i\"; done 2>/dev/null";

    /// The pipe to the guardian; it stays open as long as this process lives.
    static PIPE: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

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

    /// Tells the guardian that a group was started (`+`) or ended (`-`).
    pub(super) fn note(sign: &str, child: &Child) {
        if let Some(pipe) = PIPE.get_or_init(start) {
            let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
            // Without a guardian everything works, unless this process is killed.
            pipe.write_all(format!("{sign} {}\n", child.id()).as_bytes()).ok();
        }
    }

    fn group_of(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    pub(super) fn has_exited(child: &Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = group_of(child).map(|id| waitid(WaitId::Pid(id), options));
        matches!(status, Some(Ok(Some(_))))
    }

    /// Ends the child and everything in its process group.
    pub(super) fn kill_group(child: &mut Child) {
        if let Some(group) = group_of(child) {
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}

#[cfg(not(unix))]
mod watch {
    use std::process::Child;

    pub(super) fn note(_sign: &str, _child: &Child) {}

    /// Not known without letting go of it.
    pub(super) fn has_exited(_child: &Child) -> bool {
        false
    }

    pub(super) fn kill_group(child: &mut Child) {
        child.kill().ok();
    }
}
