//! The file layer that fails: built once, loaded before a command.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::commands::WritingCommand;

/// How a command is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It dies in the middle of the write.
    Die,
    /// The disk is full from this write on.
    Full,
}

/// The layer, as a library.
pub struct Shim {
    folder: TempDir,
}

impl Shim {
    /// Builds it; `None` where there is no compiler or no way to load it.
    pub fn build() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let folder = tempfile::tempdir().ok()?;
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/shim.c");
        let library = folder.path().join("shim.so");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        match built {
            Ok(status) if status.success() => Some(Self { folder }),
            Ok(status) => panic!("shim.c does not compile: {status}"),
            Err(_) => None,
        }
    }

    fn load(&self, command: &mut Command) -> PathBuf {
        let count = self.folder.path().join("count");
        command.env("LD_PRELOAD", self.folder.path().join("shim.so")).env("TORTURE_COUNT", &count);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        count
    }

    /// How many writes the command does when nobody disturbs it.
    pub fn count(&self, subject: &WritingCommand) -> usize {
        let place = subject.place();
        let mut command = subject.command(place.path());
        let count = self.load(&mut command);
        command.status().expect("it runs");
        fs::read_to_string(count).expect("the layer is loaded").parse().expect("a number")
    }

    /// Runs the command in `place` and strikes it at write `at`; its exit code, if it has one.
    pub fn strike(&self, subject: &WritingCommand, place: &TempDir, at: usize, how: How) -> Option<i32> {
        let mut command = subject.command(place.path());
        self.load(&mut command);
        let how = match how {
            How::Die => "die",
            How::Full => "full",
        };
        command.env("TORTURE_AT", at.to_string()).env("TORTURE_HOW", how);
        command.status().expect("it runs").code()
    }
}
