//! The reset of a system to its initial state before every run, as the project file describes it.
//!
//! | system | nothing said | may be said |
//! | --- | --- | --- |
//! | `stdio`, `tcp` | as its adapter offers it | `"restart"`, `reset_command` |
//! | `stdio` with `start` | everything is restarted | `"adapter"`, `reset_command` |
//! | `text`, `binary` with a `command` | started afresh | steps, `reset_command` |
//! | `text`, `binary` with a `command` and `start` | everything is restarted | `"command"`, steps, `reset_command` |
//! | `text`, `binary`, `http` with `start` | restarted | all of the next line |
//! | `text`, `binary`, `http` without | an error | steps, `"reconnect"`, `"none"`, `"restart"`, `reset_command` |
//!
//! A step is a text, a table `{ send = "...", expect = '...' }`, or a request.
//!
//! *Promises.* The state of one run never leaks into the next unless the project file says that it may.

use ioxide_wire::adapter::managed::SystemRenewal;
use ioxide_wire::adapter::{HttpResetStep, ResetStep, SutSpec};
use ioxide_wire::codec::http::answer::{AnswerConfig, AnswerReader};

use super::connections::ConnectedSystem;
use super::protocol::{self, ProtocolConfig};
use super::system::Variables;
use super::table::{ProjectTable, TableItem};
use crate::error::ProjectError;

/// Values of `reset` that are not sent to a system that speaks text.
const WORDS: [&str; 5] = ["restart", "reconnect", "none", "command", "adapter"];

/// Returns the steps that reset a system with words of its own; none if `reset` is one of [`WORDS`].
pub(super) fn read_steps(system: &ProjectTable<'_>) -> Result<Vec<ResetStep>, ProjectError> {
    if is_of_system(system)? {
        return Ok(Vec::new());
    }
    let items = step_items(system, "reset")?;
    items.into_iter().map(|item| read_step(system, "reset", item)).collect()
}

/// Returns the steps after every connection.
pub(super) fn on_connect(system: &ProjectTable<'_>) -> Result<Vec<ResetStep>, ProjectError> {
    let items = step_items(system, "on_connect")?;
    items.into_iter().map(|item| read_step(system, "on_connect", item)).collect()
}

/// Returns the items at `key`, of which there must be one if the key is there.
fn step_items<'f>(system: &ProjectTable<'f>, key: &str) -> Result<Vec<TableItem<'f>>, ProjectError> {
    let items = system.items(key)?;
    if items.is_empty() && system.has(key) {
        return Err(system.wrong_value(key, "a list of steps needs at least one"));
    }
    Ok(items)
}

/// Reads one step of the list at `key`.
fn read_step(system: &ProjectTable<'_>, key: &str, item: TableItem<'_>) -> Result<ResetStep, ProjectError> {
    let table = match item {
        TableItem::Text(word) if key == "reset" && WORDS.contains(&word.as_str()) => {
            return Err(system.wrong_value(
                key,
                "\"restart\", \"reconnect\" and \"none\" are single words, not items of a list",
            ));
        }
        TableItem::Text(text) => return Ok(ResetStep::new_plain(text)),
        TableItem::Table(table) => table,
    };
    table.reject_unknown_keys(&["send", "expect"])?;
    let (send, expect) = (table.text("send")?, table.text("expect")?);
    if send.is_none() && expect.is_none() {
        return Err(system.wrong_value(key, "a step has `send`, `expect` or both"));
    }
    let step = ResetStep { send, expect };
    match step.check() {
        Ok(()) => Ok(step),
        Err(error) => Err(table.wrong_value("expect", &error.to_string())),
    }
}

/// Returns the requests that reset a system that is asked by HTTP.
pub(super) fn http_steps(system: &ProjectTable<'_>) -> Result<Vec<HttpResetStep>, ProjectError> {
    if system.is_text("reset") {
        // Whether it is one of the words is said where the reset of the whole system is read.
        return Ok(Vec::new());
    }
    http_steps_at(system, "reset")
}

/// Returns the requests that follow the reset, before the first input.
pub(super) fn http_on_connect(system: &ProjectTable<'_>) -> Result<Vec<HttpResetStep>, ProjectError> {
    http_steps_at(system, "on_connect")
}

/// Returns the requests in the list at `key`.
fn http_steps_at(system: &ProjectTable<'_>, key: &str) -> Result<Vec<HttpResetStep>, ProjectError> {
    let example = match key {
        "reset" => "{ method = \"DELETE\", path = \"/all\" }",
        _ => "{ path = \"/socket\", websocket = true }",
    };
    let step = |item| match item {
        TableItem::Text(_) => Err(system.wrong_value(key, &format!("a step is a request: `{example}`"))),
        TableItem::Table(table) => http_step(&table),
    };
    step_items(system, key)?.into_iter().map(step).collect()
}

fn http_step(table: &ProjectTable<'_>) -> Result<HttpResetStep, ProjectError> {
    if table.has("over") {
        return Err(table
            .wrong_value("over", "a step has a WebSocket of its own: `websocket = true, send = \"...\"`"));
    }
    let request = protocol::request(table, &["send", "expect"])?;
    let send = table.text("send")?;
    if send.is_some() && !request.websocket {
        return Err(table.wrong_value(
            "send",
            "only a WebSocket takes a text: `websocket = true`; a request has a `body`",
        ));
    }
    let usual = if request.websocket { "101" } else { "2xx" };
    let body = |text: String| AnswerConfig { body: Some(text), ..AnswerConfig::default() };
    let expect = if table.is_table("expect") {
        table.table("expect")?.map(|table| protocol::reset_answer(&table)).transpose()?
    } else {
        table.text("expect")?.map(body)
    };
    let mut expect = expect.unwrap_or_default();
    if expect.status.is_empty() {
        expect.status = vec![usual.to_owned()];
    }
    AnswerReader::new(&expect).map_err(|bad| table.wrong_value("expect", &bad.to_string()))?;
    Ok(HttpResetStep { request, send, expect })
}

/// Returns the reset of the system beyond that of its adapter.
pub(super) fn read_renewal(
    system: &ProjectTable<'_>,
    variables: &Variables,
    spec: &SutSpec,
    protocol: &ProtocolConfig,
) -> Result<SystemRenewal, ProjectError> {
    let said = if system.is_text("reset") { system.text("reset")? } else { None };
    if let Some(command) = system.text("reset_command")? {
        return if system.has("reset") {
            Err(system.wrong_value("reset_command", "there is `reset` already"))
        } else {
            Ok(SystemRenewal::Command(variables.fill_text(&command)))
        };
    }
    match (protocol, spec) {
        (ProtocolConfig::Protocol, _) => by_adapter(system, spec, said.as_deref()),
        (ProtocolConfig::Own(_) | ProtocolConfig::Http(_), spec) if spec.is_address() => {
            by_server(system, protocol, said.as_deref())
        }
        (ProtocolConfig::Own(_) | ProtocolConfig::Http(_), _) => by_process(system, said.as_deref()),
    }
}

/// Returns whether `reset` is one of [`WORDS`], which concern the whole system rather than a connection.
pub(super) fn is_of_system(connection: &ProjectTable<'_>) -> Result<bool, ProjectError> {
    let said = if connection.is_text("reset") { connection.text("reset")? } else { None };
    Ok(said.is_some_and(|reset| WORDS.contains(&reset.as_str())))
}

/// Returns the reset of a system with several connections, which are made again in any case.
pub(super) fn of_several(
    system: &ProjectTable<'_>,
    variables: &Variables,
    connections: &[ConnectedSystem],
) -> Result<SystemRenewal, ProjectError> {
    if let Some(command) = system.text("reset_command")? {
        return if system.has("reset") {
            Err(system.wrong_value("reset_command", "there is `reset` already"))
        } else {
            Ok(SystemRenewal::Command(variables.fill_text(&command)))
        };
    }
    let has_command = |connection: &ConnectedSystem| !connection.spec.is_address();
    let is_safe = |connection: &ConnectedSystem| {
        connection.protocol == ProtocolConfig::Protocol || has_command(connection)
    };
    match system.text("reset")?.as_deref() {
        Some("restart") => restart(system),
        Some("reconnect" | "none") => Ok(SystemRenewal::Own),
        Some(_) => Err(system.wrong_value(
            "reset",
            "write \"restart\", \"reconnect\" or \"none\"; a reset by messages belongs to a connection",
        )),
        None if system.has("start") && connections.iter().any(has_command) => Ok(SystemRenewal::Restart),
        None if connections.iter().all(is_safe) => Ok(SystemRenewal::Own),
        None if system.has("start") => Ok(SystemRenewal::Restart),
        None => Err(system
            .wrong_value(
                "connections",
                "`reset` is missing: how does it return to its initial state before every run?",
            )
            .with_help(
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
) -> Result<SystemRenewal, ProjectError> {
    match said {
        Some("restart") if spec.is_address() => restart(system),
        Some("restart") => Ok(SystemRenewal::Restart),
        Some("adapter") => Ok(SystemRenewal::Own),
        // The adapter resets itself, which need not reset the server that was started with it.
        None if system.has("start") && system.has("command") => Ok(SystemRenewal::Restart),
        None if !system.has("reset") => Ok(SystemRenewal::Own),
        _ => Err(system.wrong_value(
            "reset",
            "write \"restart\" to start everything again, or \"adapter\" to reset it as the adapter offers",
        )),
    }
}

/// A process is started afresh for every run, whatever else is done; so is its server, unless the project
/// file says otherwise.
fn by_process(system: &ProjectTable<'_>, said: Option<&str>) -> Result<SystemRenewal, ProjectError> {
    match said {
        Some("reconnect" | "none") => {
            Err(system.wrong_value("reset", "a `command` is started afresh for every run; leave it out"))
        }
        Some("adapter") => {
            Err(system.wrong_value("reset", "it has no adapter; write \"restart\" or \"command\""))
        }
        Some("restart") => Ok(SystemRenewal::Restart),
        Some("command") => Ok(SystemRenewal::Own),
        None if system.has("start") && !system.has("reset") => Ok(SystemRenewal::Restart),
        _ => Ok(SystemRenewal::Own),
    }
}

/// Returns the reset of a server, whose state outlives a connection unless the project file says otherwise.
fn by_server(
    system: &ProjectTable<'_>,
    protocol: &ProtocolConfig,
    said: Option<&str>,
) -> Result<SystemRenewal, ProjectError> {
    match said {
        Some("restart") => restart(system),
        Some("reconnect" | "none") => Ok(SystemRenewal::Own),
        Some("command" | "adapter") => Err(system
            .wrong_value("reset", "it has neither a `command` nor an adapter")
            .with_help(ways(protocol))),
        Some(_) if matches!(protocol, ProtocolConfig::Http(_)) => {
            Err(system.wrong_value("reset", "it is not a way to reset the system").with_help(ways(protocol)))
        }
        Some(_) => Ok(SystemRenewal::Own),
        None if system.has("reset") => Ok(SystemRenewal::Own),
        None if system.has("start") => Ok(SystemRenewal::Restart),
        None => Err(system
            .wrong_value(
                "kind",
                "`reset` is missing: how does it return to its initial state before every run?",
            )
            .with_help(ways(protocol))),
    }
}

/// Returns a restart, which needs a `start` command.
fn restart(system: &ProjectTable<'_>) -> Result<SystemRenewal, ProjectError> {
    if system.has("start") {
        Ok(SystemRenewal::Restart)
    } else {
        Err(system.wrong_value("reset", "only a server with a `start` command can be restarted"))
    }
}

/// Returns the ways to reset a system of this protocol, for the help of an error.
fn ways(protocol: &ProtocolConfig) -> String {
    let asked = match protocol {
        ProtocolConfig::Http(_) => "a request `reset = { method = \"DELETE\", path = \"/all\" }`",
        _ => "words it answers by one message, `reset = { send = \"CLEAR\", expect = 'OK' }`",
    };
    format!(
        "write one of: {asked}; `reset_command = \"...\"`; a `start` command, then it is restarted; \
         `reset = \"reconnect\"` if its state belongs to the connection; `reset = \"none\"` if it keeps no \
         state, or the model allows it to start anywhere"
    )
}
