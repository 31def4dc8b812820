//! The identity of a system under test: what its answers depend on, as far as ioxide can see it.
//!
//! Answers and results that are kept for later carry the identity of the system that gave them, so that they are not
//! taken for those of another one. The identity is a set of named facts: the keys of the section in the project file,
//! the contents of the files that its commands name, the constants that were given, and what the command at `version`
//! prints.
//!
//! *Promises.* No secret is part of an identity, not even as a hash: values of headers and variables that are secret
//! are left out, and every other text has them hidden before it is hashed. Two identities differ only if both know a
//! fact: a file that one machine has and another has not is not a difference.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use ioxide_campaign::part::SystemFacts;
use ioxide_campaign::plan::fingerprint;
use ioxide_record::secrets::Secrets;
use thiserror::Error;

use crate::error::ProjectError;
use crate::{DescribedSystem, FILE, SystemSource};

/// The keys that say how long to wait or what to show, not what the system is.
const NOT_THE_SYSTEM: [&str; 14] = [
    "silence_ms",
    "silence",
    "quiescence_ms",
    "quiescence",
    "ready",
    "ready_ms",
    "limit_ms",
    "latency_ms",
    "message_ms",
    "secrets",
    "refusals",
    "version",
    "synchronous",
    "faults",
];
/// The keys whose values are commands.
const COMMANDS: [&str; 4] = ["command", "start", "reset_command", "stop"];
/// The time that the command at `version` may take. Chosen by feel.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
/// The bytes that are kept of what it prints. Chosen by feel.
const MAX_VERSION: u64 = 4096;
/// Larger files are known by their size alone. Chosen by feel: it bounds the time.
const MAX_FILE: u64 = 1 << 30;

/// The reason why a system has no identity.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// The project file does not describe the system.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The command at `version` prints no version.
    #[error("`{FILE}`: version: `{command}` {reason}")]
    Version {
        /// The command.
        command: String,
        /// The way in which it failed.
        reason: VersionFailure,
    },
}

/// The ways in which a command fails to print a version.
#[derive(Debug, Error)]
pub enum VersionFailure {
    /// The command did not end in time.
    #[error("did not end within {} s", VERSION_LIMIT.as_secs())]
    Slow,
    /// The command ended with another status than success.
    #[error("ended with {0}")]
    Status(ExitStatus),
    /// The command printed nothing.
    #[error("prints nothing")]
    Silent,
    /// The command could not be run.
    #[error("{0}")]
    Io(#[source] io::Error),
}

/// Returns the facts about the system that `source` names, with the constants in `settings`.
///
/// # Errors
/// If the section is not in the project file, or the command at `version` does not print one.
pub fn find_system_facts(
    source: &SystemSource,
    described: &DescribedSystem,
    settings: &[String],
) -> Result<SystemFacts, IdentityError> {
    let secrets = &described.secrets;
    let mut facts = BTreeMap::new();
    let mut commands: Vec<String> = Vec::new();
    match source {
        SystemSource::Typed(spec) => {
            let text = secrets.hide(&spec.to_string());
            commands.extend(spec.command().map(str::to_owned));
            facts.insert("address".to_owned(), fingerprint([text]));
        }
        SystemSource::Project { project, name } => {
            for (key, value) in project.render_system(name)? {
                if COMMANDS.contains(&key.as_str()) {
                    commands.push(value.trim_matches('"').to_owned());
                }
                if !NOT_THE_SYSTEM.contains(&key.as_str()) {
                    facts.insert(format!("key {key}"), fingerprint([secrets.hide(&value)]));
                }
            }
        }
    }
    for command in &commands {
        facts.extend(hash_named_files(command, secrets));
    }
    if !settings.is_empty() {
        facts.insert("constants".to_owned(), settings.join(" "));
    }
    if let Some(command) = &described.version {
        let told = run_version_command(command, &described.environment)
            .map_err(|reason| IdentityError::Version { command: command.clone(), reason })?;
        facts.insert("version".to_owned(), secrets.hide(told.trim()));
    }
    Ok(facts)
}

/// Returns the contents, as fingerprints, of the files that a command names; programs in the search path are no such
/// files, and differ from machine to machine.
fn hash_named_files(command: &str, secrets: &Secrets) -> Vec<(String, String)> {
    let words = command.split(|c: char| c.is_whitespace() || "\"'=;|&()<>".contains(c));
    let file = |word: &str| {
        let path = Path::new(word);
        let known = fs::metadata(path).ok().filter(|known| known.is_file())?;
        let contents = if known.len() > MAX_FILE {
            fingerprint([format!("{} bytes", known.len())])
        } else {
            fingerprint([fs::read(path).ok()?])
        };
        Some((format!("file {}", secrets.hide(word)), contents))
    };
    words.filter(|word| !word.is_empty()).filter_map(file).collect()
}

/// Returns what `command` prints.
fn run_version_command(command: &str, environment: &[(String, String)]) -> Result<String, VersionFailure> {
    let mut shell = shell_command(command);
    let started = shell.envs(environment.iter().cloned()).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = started.stdout(Stdio::piped()).spawn().map_err(VersionFailure::Io)?;
    let (told, waited) = mpsc::channel();
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(stdout) = stdout {
            let _ = stdout.take(MAX_VERSION).read_to_end(&mut text);
        }
        let _ = told.send(text);
    });
    let Ok(text) = waited.recv_timeout(VERSION_LIMIT) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(VersionFailure::Slow);
    };
    let status = child.wait().map_err(VersionFailure::Io)?;
    match (status.success(), text.is_empty()) {
        (false, _) => Err(VersionFailure::Status(status)),
        (true, true) => Err(VersionFailure::Silent),
        (true, false) => Ok(String::from_utf8_lossy(&text).into_owned()),
    }
}

fn shell_command(command: &str) -> Command {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(program);
    shell.args([flag, command]);
    shell
}

#[cfg(test)]
mod tests {
    use ioxide_campaign::part::system_difference;

    use super::*;
    use crate::{Instances, Project};

    fn shop(content: &str) -> SystemSource {
        SystemSource::from_project(Project::parse(content).expect("TOML").into(), "shop")
    }

    fn of_file(content: &str) -> SystemFacts {
        let source = shop(content);
        let described = source.describe(&Instances::default()).expect("a system");
        find_system_facts(&source, &described, &[]).expect("an identity")
    }

    #[test]
    fn a_changed_key_is_another_system_and_a_longer_wait_is_not() {
        let section = |command: &str, wait: u32| {
            format!("[sut.shop]\nkind = \"stdio\"\ncommand = \"{command}\"\nquiescence_ms = {wait}\n")
        };
        let one = of_file(&section("./server --port 1", 5));
        assert_eq!(system_difference(&one, &of_file(&section("./server --port 1", 50))), None);
        let why = system_difference(&one, &of_file(&section("./server --port 2", 5))).expect("another");
        assert!(why.contains("`command`"), "{why}");
    }

    #[test]
    fn a_changed_file_that_a_command_names_is_another_system() {
        let dir = tempfile::tempdir().expect("a folder");
        let script = dir.path().join("server.py");
        fs::write(&script, "print(1)").expect("it is written");
        let section = format!("[sut.shop]\nkind = \"stdio\"\ncommand = \"python3 {}\"\n", script.display());
        let one = of_file(&section);
        fs::write(&script, "print(2)").expect("it is written");
        let why = system_difference(&one, &of_file(&section)).expect("another");
        assert!(why.contains("server.py"), "{why}");
        fs::remove_file(&script).expect("it is removed");
        assert_eq!(system_difference(&one, &of_file(&section)), None, "not there is not different");
    }

    #[test]
    #[cfg(unix)]
    fn another_version_is_another_system() {
        let section = |version: &str| {
            format!("[sut.shop]\nkind = \"stdio\"\ncommand = \"./server\"\nversion = \"echo {version}\"\n")
        };
        let why = system_difference(&of_file(&section("1.0")), &of_file(&section("1.1"))).expect("another");
        assert!(why.contains("1.0") && why.contains("1.1"), "{why}");
        let broken = "[sut.shop]\nkind = \"stdio\"\ncommand = \"./server\"\nversion = \"exit 3\"\n";
        let source = shop(broken);
        let described = source.describe(&Instances::default()).expect("a system");
        assert!(find_system_facts(&source, &described, &[]).is_err());
    }

    /// A token that was replaced is no other system, and none of its bytes can be derived from the identity.
    #[test]
    fn secrets_are_no_part_of_an_identity() {
        let section = |token: &str, key: &str| {
            format!(
                "[sut.shop]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\nreset = \"none\"\n\
                 [sut.shop.headers]\nauthorization = \"{token}\"\n\
                 [sut.shop.environment]\nAPI_KEY = \"{key}\"\nMODE = \"plain\"\n"
            )
        };
        let one = of_file(&section("Bearer abc", "k1"));
        assert_eq!(one, of_file(&section("Bearer xyz", "k2")));
        let other = section("Bearer abc", "k1").replace("plain", "broken");
        assert!(system_difference(&one, &of_file(&other)).is_some());
    }
}
