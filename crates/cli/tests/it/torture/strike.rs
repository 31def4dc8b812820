//! The file layer that fails: built once, put around a command.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::commands::WritingCommand;

/// The ways in which a command is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is killed in the middle of the call.
    Half,
    /// It is killed as soon as the call is done.
    Done,
    /// The disk is full from this call on.
    Full,
    /// Nothing may be made, opened for writing, renamed or removed from this call on.
    ReadOnly,
}

impl How {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Half, Self::Done, Self::Full, Self::ReadOnly];

    /// Returns whether the strike kills the command.
    pub fn kills(self) -> bool {
        matches!(self, Self::Half | Self::Done)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Half => "half",
            Self::Done => "done",
            Self::Full => "full",
            Self::ReadOnly => "readonly",
        }
    }
}

/// The layer, as a program.
pub struct Layer {
    folder: TempDir,
}

impl Layer {
    /// Builds it; `None` where there is no compiler or no way to follow a program.
    pub fn build() -> Option<Self> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            return None;
        }
        let folder = tempfile::tempdir().ok()?;
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/torture/strike.c");
        let built =
            Command::new("cc").args(["-O1", "-o"]).arg(folder.path().join("strike")).arg(source).status();
        match built {
            Ok(status) if status.success() => Self { folder }.that_may_follow(),
            Ok(status) => panic!("strike.c does not compile: {status}"),
            Err(_) => None,
        }
    }

    /// Returns the striker if the kernel lets it trace a program; in some containers it does not.
    fn that_may_follow(self) -> Option<Self> {
        let tried = Command::new(self.folder.path().join("strike"))
            .arg(self.count_file())
            .args(["0", "none", "true"])
            .status();
        tried.is_ok_and(|status| status.success()).then_some(self)
    }

    fn count_file(&self) -> PathBuf {
        self.folder.path().join("count")
    }

    fn around(&self, at: usize, how: &str, inner: &Command) -> Command {
        let mut command = Command::new(self.folder.path().join("strike"));
        command.arg(self.count_file()).arg(at.to_string()).arg(how);
        command.arg(inner.get_program()).args(inner.get_args());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = inner.get_current_dir() {
            command.current_dir(folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Returns the number of calls of the command when it is not struck.
    pub fn count(&self, subject: &WritingCommand) -> usize {
        let place = subject.place();
        let status = self.around(0, "none", &subject.command(place.path())).status().expect("it runs");
        assert!(status.code().is_some_and(|code| subject.ends.contains(&code)), "{}: {status}", subject.name);
        fs::read_to_string(self.count_file()).expect("a count").parse().expect("a number")
    }

    /// Runs the command in `place` and strikes it at call `at`; its exit code, if it has one.
    pub fn strike(&self, subject: &WritingCommand, place: &TempDir, at: usize, how: How) -> Option<i32> {
        self.around(at, how.word(), &subject.command(place.path())).status().expect("it runs").code()
    }
}
