//! `ioxide adapter check`: is this an adapter that can be tested through?

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_project::{DescribedSystem, Instances, ProtocolConfig};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_wire::adapter::selftest::{AllowedInputs, CheckState, SelfTestCheck, selftest, selftest_plain};
use ioxide_wire::adapter::server::SystemServer;
use ioxide_wire::adapter::{Adapter as _, Interrupt, RemoteConnection, SutSpec};
use serde_json::{Value as Json, json};

use crate::args::{AdapterArgs, AdapterCheck, AdapterCommand};
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::load;
use crate::project_file;
use crate::redaction;
use crate::system::{connect_error, system_error, warn};

/// Milliseconds that outputs are listened for where the project file has no quiescence time. Chosen by feel.
const LISTEN_MS: u64 = 100;

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
    let described =
        source.describe_instance(0, &model.as_ref().map(Instances::of_model).unwrap_or_default())?;
    redaction::add_secrets(&described.secrets);
    if matches!(described.spec, SutSpec::Model(_)) {
        return Err(
            CliError::usage("a model as system has no adapter").help("name `stdio:COMMAND` or `tcp:ADDR`")
        );
    }
    let limit = Duration::from_millis(args.limit_ms.max(1));
    let connection = described.connection(Interrupt::from_flag(&STOP))?;
    let connection = RemoteConnection { seed: Some(1), limit, ..connection };
    let secrets = described.secrets.clone();
    let (mut checks, last_words) = match (&described.protocol, model) {
        (ProtocolConfig::Protocol, model) if described.connections.is_empty() => {
            by_the_book(described, model.as_ref(), &connection)?
        }
        (_, Some(model)) => by_the_codec(described, model, connection)?,
        (_, None) => {
            return Err(CliError::usage("only a model defines the messages of this system")
                .help("add `--model FILE`"));
        }
    };
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

/// The self-test of an adapter.
fn by_the_book(
    described: DescribedSystem,
    model: Option<&Model>,
    connection: &RemoteConnection,
) -> Result<(Vec<SelfTestCheck>, String), CliError> {
    let DescribedSystem { spec, server, secrets, .. } = described;
    let server = server.map(|server| SystemServer::start(server, connection.interrupt)).transpose();
    let _server = server.map_err(|error| system_error(&error, &secrets))?;
    let allowed = model.map(allowed_by).unwrap_or_default();
    Ok(selftest(&spec, model, &allowed, connection))
}

/// The self-test of templates and patterns.
fn by_the_codec(
    described: DescribedSystem,
    model: Model,
    connection: RemoteConnection,
) -> Result<(Vec<SelfTestCheck>, String), CliError> {
    let patience = Duration::from_millis(described.quiescence.default.unwrap_or(LISTEN_MS));
    let interface = Arc::new(model);
    let secrets = described.secrets.clone();
    let started = described.start(Arc::clone(&interface), connection);
    let mut adapter = started.map_err(|error| connect_error(error, &secrets))?;
    let checks = selftest_plain(&mut adapter, &interface, &allowed_by(&interface), patience);
    Ok((checks, adapter.last_words()))
}

/// Inputs whose guards hold.
fn allowed_by(model: &Model) -> AllowedInputs {
    AllowedInputs::new(model, &mut build_stack(&SolverConfig::default()))
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
