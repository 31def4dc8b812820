//! Protocols as they are, from the project file alone: unsolicited messages, and what else real servers do.

#![cfg(target_os = "linux")]

mod reconnect;
mod transports;
mod udp;
mod unsolicited;

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use ioxide_test_support::serve_connections;

use crate::program::print_in;

/// Exit code 1: the system is wrong.
const FAIL: i32 = 1;
/// Exit code 2: the project file or the command line is wrong.
const USAGE: i32 = 2;
/// Exit code 6: no verdict.
const TROUBLE: i32 = 6;

/// A ping is answered by a pong, and nothing else happens.
const ECHO: &str = "model Echo {
    input ping
    output pong
    state idle { on ping -> busy }
    state busy { emit pong -> idle }
}
";

/// A folder with a model and the project file of the system `s`.
struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with the model `m.iox`, and a project file with these lines below `[sut.s]`.
    fn new(model: &str, system: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("m.iox"), model).expect("a model");
        fs::write(folder.path().join("ioxide.toml"), format!("[sut.s]\n{system}\n")).expect("a project file");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Tests the system with the default tester; returns what is printed.
    #[track_caller]
    fn test(&self, code: i32, says: &[&str]) -> String {
        let args = [
            "test",
            "m.iox",
            "--sut",
            "s",
            "--seed",
            "1",
            "--steps",
            "60",
            "--report",
            "runs",
            "--no-shrink",
        ];
        self.check(&args, code, says)
    }

    /// Runs the program, which must end with `code` and print all of `says`.
    #[track_caller]
    fn check(&self, args: &[&str], code: i32, says: &[&str]) -> String {
        let (text, ended) = print_in(self.path(), args);
        assert_eq!(ended, code, "ioxide {args:?}\n{text}");
        for word in says {
            assert!(text.contains(word), "ioxide {args:?} should say `{word}`:\n{text}");
        }
        text
    }

    /// The record of the last test.
    fn record(&self) -> String {
        fs::read_to_string(self.path().join("runs/campaign.jsonl")).expect("a record")
    }
}
