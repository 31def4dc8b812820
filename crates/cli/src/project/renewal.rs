//! The reset of a system to its initial state before every run, as the project file describes it.
//!
//! | system | nothing said | may be said |
//! | --- | --- | --- |
//! | `stdio`, `tcp` | as its adapter offers it | `"restart"`, `reset_command` |
//! | `stdio` with `start` | everything is restarted | `"adapter"`, `reset_command` |
//! | `text`, `binary` with a `command` | started afresh | a text, `reset_command` |
//! | `text`, `binary` with a `command` and `start` | everything is restarted | `"command"`, a text, `reset_command` |
//! | `text`, `binary`, `http` with `start` | restarted | all of the next line |
//! | `text`, `binary`, `http` without | an error | a text or a request, `"reconnect"`, `"none"`, `"restart"`, `reset_command` |
//!
//! *Promises.* The state of one run never leaks into the next unless the project file says that it may.

use ioxide_runner::adapter::SutSpec;
use ioxide_runner::adapter::managed::SystemRenewal;

use super::Variables;
use super::connections::ConnectedSystem;
use super::speech::SpeechConfig;
use super::table::ProjectTable;
use crate::exit::EarlyStop;

/// Values of `reset` that are not sent to a system that speaks text.
const WORDS: [&str; 5] = ["restart", "reconnect", "none", "command", "adapter"];

/// Returns the texts that reset a system with words of its own; none if `reset` is one of [`WORDS`].
pub(super) fn said(system: &ProjectTable<'_>) -> Result<Vec<String>, EarlyStop> {
    let said = system.words("reset")?;
    let is_word = |reset: &String| WORDS.contains(&reset.as_str());
    match &said[..] {
        [one] if system.is_text("reset") && is_word(one) => Ok(Vec::new()),
        [] if system.has("reset") => Err(system.wrong("reset", "a list of texts needs one at least")),
        all if all.iter().any(is_word) => {
            let problem = format!("\"{}\" stand alone, not in a list", WORDS.join("\", \""));
            Err(system.wrong("reset", &problem))
        }
        _ => Ok(said),
    }
}

/// Returns the reset of the system beyond that of its adapter.
pub(super) fn read(
    system: &ProjectTable<'_>,
    variables: &Variables,
    spec: &SutSpec,
    speech: &SpeechConfig,
) -> Result<SystemRenewal, EarlyStop> {
    let said = if system.is_text("reset") { system.text("reset")? } else { None };
    if let Some(command) = system.text("reset_command")? {
        return if system.has("reset") {
            Err(system.wrong("reset_command", "there is `reset` already"))
        } else {
            Ok(SystemRenewal::Command(variables.fill(&command)))
        };
    }
    match (speech, spec) {
        (SpeechConfig::Protocol, _) => by_adapter(system, spec, said.as_deref()),
        (SpeechConfig::Own(_) | SpeechConfig::Http(_), SutSpec::Tcp(_)) => {
            by_server(system, speech, said.as_deref())
        }
        (SpeechConfig::Own(_) | SpeechConfig::Http(_), _) => by_process(system, said.as_deref()),
    }
}

/// Returns whether `reset` is one of [`WORDS`], which concern the whole system rather than a connection.
pub(super) fn is_of_system(connection: &ProjectTable<'_>) -> Result<bool, EarlyStop> {
    let said = if connection.is_text("reset") { connection.text("reset")? } else { None };
    Ok(said.is_some_and(|reset| WORDS.contains(&reset.as_str())))
}

/// Returns the reset of a system with several connections, which are made anew in any case.
pub(super) fn of_several(
    system: &ProjectTable<'_>,
    variables: &Variables,
    connections: &[ConnectedSystem],
) -> Result<SystemRenewal, EarlyStop> {
    if let Some(command) = system.text("reset_command")? {
        return if system.has("reset") {
            Err(system.wrong("reset_command", "there is `reset` already"))
        } else {
            Ok(SystemRenewal::Command(variables.fill(&command)))
        };
    }
    let has_command = |connection: &ConnectedSystem| matches!(connection.spec, SutSpec::Stdio(_));
    let is_safe =
        |connection: &ConnectedSystem| connection.speech == SpeechConfig::Protocol || has_command(connection);
    match system.text("reset")?.as_deref() {
        Some("restart") => restart(system),
        Some("reconnect" | "none") => Ok(SystemRenewal::Own),
        Some(_) => Err(system
            .wrong("reset", "write \"restart\", \"reconnect\" or \"none\"; words stand at a connection")),
        None if system.has("start") && connections.iter().any(has_command) => Ok(SystemRenewal::Restart),
        None if connections.iter().all(is_safe) => Ok(SystemRenewal::Own),
        None if system.has("start") => Ok(SystemRenewal::Restart),
        None => Err(system
            .wrong("connections", "nothing says how it comes back to its initial state before every run")
            .help(
                "write one of: `reset_command = \"...\"`; a `start` command, then it is restarted; `reset = \
                 \"reconnect\"` if its state belongs to its connections, or words at a connection reset it; \
                 `reset = \"none\"` if it keeps no state, or the model allows it to start anywhere",
            )),
    }
}

/// A system with an adapter says itself how it is reset.
fn by_adapter(
    system: &ProjectTable<'_>,
    spec: &SutSpec,
    said: Option<&str>,
) -> Result<SystemRenewal, EarlyStop> {
    match said {
        Some("restart") if matches!(spec, SutSpec::Tcp(_)) => restart(system),
        Some("restart") => Ok(SystemRenewal::Restart),
        Some("adapter") => Ok(SystemRenewal::Own),
        // The adapter resets itself; nobody says that it resets the server beside it.
        None if system.has("start") && system.has("command") => Ok(SystemRenewal::Restart),
        None if !system.has("reset") => Ok(SystemRenewal::Own),
        _ => Err(system.wrong(
            "reset",
            "write \"restart\" to start everything again, or \"adapter\" to reset it as the adapter offers",
        )),
    }
}

/// A process is started afresh for every run, whatever else is done; so is the server beside it, unless the project file
/// says otherwise.
fn by_process(system: &ProjectTable<'_>, said: Option<&str>) -> Result<SystemRenewal, EarlyStop> {
    match said {
        Some("reconnect" | "none") => {
            Err(system.wrong("reset", "a `command` is started afresh for every run; leave it out"))
        }
        Some("adapter") => Err(system.wrong("reset", "it has no adapter; write \"restart\" or \"command\"")),
        Some("restart") => Ok(SystemRenewal::Restart),
        Some("command") => Ok(SystemRenewal::Own),
        None if system.has("start") && !system.has("reset") => Ok(SystemRenewal::Restart),
        _ => Ok(SystemRenewal::Own),
    }
}

/// Returns the reset of a server, whose state outlives a connection unless the project file says otherwise.
fn by_server(
    system: &ProjectTable<'_>,
    speech: &SpeechConfig,
    said: Option<&str>,
) -> Result<SystemRenewal, EarlyStop> {
    match said {
        Some("restart") => restart(system),
        Some("reconnect" | "none") => Ok(SystemRenewal::Own),
        Some("command" | "adapter") => {
            Err(system.wrong("reset", "it has neither a `command` nor an adapter").help(ways(speech)))
        }
        Some(_) if matches!(speech, SpeechConfig::Http(_)) => {
            Err(system.wrong("reset", "it is none of the ways back to the initial state").help(ways(speech)))
        }
        Some(_) => Ok(SystemRenewal::Own),
        None if system.has("reset") => Ok(SystemRenewal::Own),
        None if system.has("start") => Ok(SystemRenewal::Restart),
        None => Err(system
            .wrong("kind", "nothing says how it comes back to its initial state before every run")
            .help(ways(speech))),
    }
}

/// Returns a restart, which needs a `start` command.
fn restart(system: &ProjectTable<'_>) -> Result<SystemRenewal, EarlyStop> {
    if system.has("start") {
        Ok(SystemRenewal::Restart)
    } else {
        Err(system.wrong("reset", "only a server with a `start` command can be restarted"))
    }
}

fn ways(speech: &SpeechConfig) -> String {
    let asked = match speech {
        SpeechConfig::Http(_) => "a request `reset = { method = \"DELETE\", path = \"/all\" }`",
        _ => "words it answers by one message, `reset = \"CLEAR\"`",
    };
    format!(
        "write one of: {asked}; `reset_command = \"...\"`; a `start` command, then it is restarted; \
         `reset = \"reconnect\"` if its state belongs to the connection; `reset = \"none\"` if it keeps no \
         state, or the model allows it to start anywhere"
    )
}
