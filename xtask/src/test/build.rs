//! The test programs, built by cargo, which says where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::campaigns::{Problem, cargo};

/// A program of tests.
pub struct TestProgram {
    /// The name of its package and of its target: `ioxide-cli it`.
    pub name: String,
    /// The program.
    pub path: PathBuf,
    /// The folder of its package, where cargo would run it.
    pub folder: PathBuf,
}

/// The arguments that choose the packages to test. Selecting packages one by one would build them with other features.
pub fn packages(is_measuring: bool) -> &'static [&'static str] {
    if is_measuring { &["--workspace"] } else { &["--workspace", "--exclude", "ioxide-bench"] }
}

/// Builds the test programs, with the progress of cargo on stderr. `--tests` leaves out libraries and programs whose
/// manifest says `test = false`; `--lib` and `--bins` would build them as tests all the same.
pub fn test_programs(root: &Path, is_measuring: bool) -> Result<Vec<TestProgram>, Problem> {
    let mut command: Command = cargo(root);
    command.arg("test").args(packages(is_measuring)).args(["--tests", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output()?;
    if !output.status.success() {
        return Err("the tests are not built".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        programs.extend(test_program(line)?);
    }
    Ok(programs)
}

/// The test program that a message of cargo is about, if it is about one.
///
/// A message has two fields called `test`: that of the target says that it has tests, that of the profile that this
/// program is the one that runs them.
fn test_program(message: &str) -> Result<Option<TestProgram>, Problem> {
    let message: Value = serde_json::from_str(message)?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return Ok(None);
    }
    let (Some(path), Some(manifest)) = (message["executable"].as_str(), message["manifest_path"].as_str())
    else {
        return Ok(None);
    };
    let package: toml::Table = fs::read_to_string(manifest)?.parse()?;
    let package =
        package.get("package").and_then(|package| package.get("name")).and_then(|name| name.as_str());
    let target = message["target"]["name"].as_str().unwrap_or_default();
    let name = match target.replace('_', "-") == package.unwrap_or_default() {
        true => format!("{target} unit"),
        false => format!("{} {target}", package.unwrap_or_default()),
    };
    let folder = Path::new(manifest).parent().map(Path::to_path_buf).unwrap_or_default();
    Ok(Some(TestProgram { name, path: path.into(), folder }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_cargo_names_a_program() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").replace('\\', "\\\\");
        let message = |test: bool, path: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"{manifest}",
                "target":{{"kind":["test"],"name":"it","test":true}},
                "profile":{{"opt_level":"0","test":{test}}},"executable":{path}}}"#
            )
        };
        let program =
            test_program(&message(true, r#""/a/it \"x\"""#)).expect("it is read").expect("a program");
        assert_eq!((program.name.as_str(), program.path), ("xtask it", PathBuf::from("/a/it \"x\"")));
        assert!(test_program(&message(false, r#""/a/ioxide""#)).expect("it is read").is_none());
        assert!(test_program(&message(true, "null")).expect("it is read").is_none());
    }
}
