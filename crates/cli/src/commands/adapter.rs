//! `ioxide adapter check`: is this an adapter that can be tested through?

mod walk;

use std::io::{self, Write};
use std::time::Duration;

use ioxide_args::{AdapterArgs, AdapterCheck, AdapterCommand};
use ioxide_model::sts::Model;
use ioxide_project::{DescribedSystem, Instances, ProtocolConfig, SystemSource};
use ioxide_wire::adapter::check::{CheckState, SelfTestCheck};
use ioxide_wire::adapter::selftest::selftest;
use ioxide_wire::adapter::server::SystemServer;
use ioxide_wire::adapter::{Interrupt, RemoteConnection, SutSpec};
use serde_json::{Value as Json, json};

use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::load;
use crate::project_file;
use crate::redaction;
use crate::system::{system_error, warn};

/// Runs the command for the adapter.
pub fn run(args: &AdapterArgs) -> Result<ExitStatus, CliError> {
    match &args.command {
        AdapterCommand::Check(args) => check_adapter(args),
    }
}

/// Does `adapter check`: starts the system, tries the adapter and shows each finding.
fn check_adapter(args: &AdapterCheck) -> Result<ExitStatus, CliError> {
    let source = project_file::find_system(&args.sut)?;
    warn(&source)?;
    let model =
        args.model.as_ref().map(|file| load::load_model(file, &[])).transpose()?.map(|(_, model)| model);
    let described = describe(&source, model.as_ref())?;
    redaction::add_secrets(&described.secrets);
    if matches!(described.spec, SutSpec::Model(_)) {
        return Err(
            CliError::usage("a model as system has no adapter").help("name `stdio:COMMAND` or `tcp:ADDR`")
        );
    }
    let secrets = described.secrets.clone();
    let is_adapter =
        matches!(described.protocol, ProtocolConfig::Protocol) && described.connections.is_empty();
    let (mut checks, mut last_words) = match (is_adapter, &model) {
        (true, model) => converse(described, model.as_ref(), args)?,
        (false, Some(_)) => (Vec::new(), String::new()),
        (false, None) => {
            return Err(CliError::usage("only a model defines the messages of this system")
                .help("add `--model FILE`"));
        }
    };
    let is_usable = checks.iter().all(|check| check.state != CheckState::Failed);
    if let Some(model) = model.filter(|_| is_usable) {
        let described = describe(&source, Some(&model))?;
        let connection = connection_to(&described, args)?;
        let (walked, words) = match walk::walk(described, model, connection) {
            // An adapter may accept one connection only.
            Err(error) if is_adapter => (vec![walk::not_tried(&error)], String::new()),
            walked => walked?,
        };
        // An adapter has shown its resets already.
        let is_known = |new: &SelfTestCheck| {
            new.state == CheckState::Ok && checks.iter().any(|check| check.name == new.name)
        };
        let walked: Vec<SelfTestCheck> = walked.into_iter().filter(|new| !is_known(new)).collect();
        checks.extend(walked);
        last_words = words;
    }
    checks.iter_mut().for_each(|check| check.note = secrets.hide(&check.note));
    let last_words = secrets.hide(&last_words);
    let passed = checks.iter().all(|check| check.state != CheckState::Failed);
    let told = if args.json {
        writeln!(redaction::stdout(), "{}", as_json(&args.sut, passed, &checks, &last_words))
    } else {
        print_checks(passed, &checks, &last_words)
    };
    exit::status_after_output(if passed { ExitStatus::Success } else { ExitStatus::Infrastructure }, told)
}

/// Returns the description of the system, with a port of its own.
fn describe(source: &SystemSource, model: Option<&Model>) -> Result<DescribedSystem, CliError> {
    Ok(source.describe_instance(0, &model.map(Instances::of_model).unwrap_or_default())?)
}

/// Returns the connection to the system; `--limit-ms` comes before the limit of the project file.
fn connection_to(described: &DescribedSystem, args: &AdapterCheck) -> Result<RemoteConnection, CliError> {
    let connection = described.connection(Interrupt::from_flag(&STOP))?;
    let limit = args.limit_ms.map_or(connection.limit, |limit| Duration::from_millis(limit.max(1)));
    Ok(RemoteConnection { seed: Some(1), limit, ..connection })
}

/// One conversation with an adapter by the protocol.
fn converse(
    described: DescribedSystem,
    model: Option<&Model>,
    args: &AdapterCheck,
) -> Result<(Vec<SelfTestCheck>, String), CliError> {
    let connection = connection_to(&described, args)?;
    let DescribedSystem { spec, server, secrets, .. } = described;
    let server = server.map(|server| SystemServer::start(server, connection.interrupt)).transpose();
    let _server = server.map_err(|error| system_error(&error, &secrets))?;
    Ok(selftest(&spec, model, &connection))
}

/// Returns the word for a result in the list.
fn state_word(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Failed => "failed",
        CheckState::Skipped => "skipped",
        CheckState::Odd => "look",
    }
}

fn print_checks(passed: bool, checks: &[SelfTestCheck], last_words: &str) -> io::Result<()> {
    let mut out = redaction::stdout();
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in checks {
        let line = format!("{:<8} {:<width$}  {}", state_word(check.state), check.name, check.note);
        writeln!(out, "{}", line.trim_end())?;
    }
    if passed {
        return writeln!(out, "the adapter follows the protocol");
    }
    last_words.lines().try_for_each(|line| writeln!(out, "  it wrote: {line}"))?;
    writeln!(out, "the adapter violates the protocol")
}

fn as_json(sut: &str, passed: bool, checks: &[SelfTestCheck], last_words: &str) -> Json {
    let check = |check: &SelfTestCheck| {
        let state = state_word(check.state);
        json!({ "name": check.name, "state": state, "note": check.note })
    };
    json!({
        "version": 1,
        "sut": sut,
        "passed": passed,
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
        "last_words": last_words,
    })
}
