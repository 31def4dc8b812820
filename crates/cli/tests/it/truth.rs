//! Verdicts on real connections: a correct system never fails, what went wrong is never lost.
//!
//! Systems are threads of the test that listen on a port of their own and answer late, early, in pieces or not at
//! all. The program is run as a user would, and every test is named after what was once wrong.

mod advice;
mod breakdown;
mod busy;
mod cold;
mod crossing;
mod endless;
mod kinds;
mod server;
mod silence;
mod starved;
mod stuck;
mod unknown;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder with a model and a project file.
struct Folder(tempfile::TempDir);

/// The end of the program.
struct Ended {
    text: String,
    code: i32,
}

impl Folder {
    /// A folder with this model and this project file.
    fn new(model: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("m.iox"), model).expect("a model");
        fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs ioxide there.
    fn ioxide(&self, args: &[&str]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(args)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .expect("the program runs");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ended { text: text.join("\n"), code: output.status.code().unwrap_or(-1) }
    }

    /// Tests the system `s` at random.
    #[track_caller]
    fn test(&self, more: &[&str]) -> Ended {
        let mut args = vec!["test", "m.iox", "--sut", "s", "--tester", "random", "--solver", "none"];
        args.extend(more);
        self.ioxide(&args)
    }
}

impl Ended {
    #[track_caller]
    fn check(&self, code: i32, parts: &[&str]) -> &Self {
        assert_eq!(self.code, code, "{}", self.text);
        for part in parts {
            assert!(self.text.contains(part), "`{part}` is missing in:\n{}", self.text);
        }
        self
    }
}

/// The project file of a text server at `address`, one word a message.
fn text(address: &str, inputs: &[&str], outputs: &[&str], more: &str) -> String {
    let input = |name: &&str| format!("{name} = \"{name}\\n\"\n");
    let output = |name: &&str| format!("{name} = '{name}'\n");
    let inputs: String = inputs.iter().map(input).collect();
    let outputs: String = outputs.iter().map(output).collect();
    format!(
        "[sut.s]\nkind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\n{more}\n[sut.s.inputs]\n\
         {inputs}\n[sut.s.outputs]\n{outputs}"
    )
}
