//! `ioxide adapter check`: is this an adapter that can be tested through?

use std::io::{self, Write};
use std::time::Duration;

use ioxide_runner::adapter::selftest::{Check, State, selftest};
use ioxide_runner::adapter::server::Server;
use ioxide_runner::adapter::{Connection, SutSpec};
use serde_json::{Value as Json, json};

use crate::args::{Adapter, AdapterCheck, AdapterCommand};
use crate::exit::{ExitStatus, Stop};
use crate::load;
use crate::project::{self, Described};

/// Does what was asked with the adapter.
pub fn run(args: &Adapter) -> Result<ExitStatus, Stop> {
    match &args.command {
        AdapterCommand::Check(args) => check(args),
    }
}

fn check(args: &AdapterCheck) -> Result<ExitStatus, Stop> {
    let Described { spec, server, environment, speech, .. } = project::find(&args.sut)?;
    if speech.is_some() {
        return Err(
            Stop::usage("a system that speaks text has no adapter").help("test it with `ioxide test`")
        );
    }
    if matches!(spec, SutSpec::Model(_)) {
        return Err(
            Stop::usage("a model as system has no adapter").help("name `stdio:COMMAND` or `tcp:ADDR`")
        );
    }
    let model = args.model.as_ref().map(|file| load::model(file, &[])).transpose()?.map(|(_, model)| model);
    let limit = Duration::from_millis(args.limit_ms.max(1));
    let _server = server
        .map(Server::start)
        .transpose()
        .map_err(|error| Stop::new(ExitStatus::Infrastructure, error.to_string()))?;
    let connection = Connection { seed: Some(1), limit, environment, ..Connection::default() };
    let (checks, last_words) = selftest(&spec, model.as_ref(), &connection);
    let passed = checks.iter().all(|check| check.state != State::Failed);
    if args.json {
        writeln!(io::stdout().lock(), "{}", as_json(&args.sut, passed, &checks, &last_words))?;
    } else {
        tell(passed, &checks, &last_words)?;
    }
    Ok(if passed { ExitStatus::Success } else { ExitStatus::Infrastructure })
}

fn word(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Failed => "failed",
        State::Skipped => "skipped",
    }
}

fn tell(passed: bool, checks: &[Check], last_words: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in checks {
        let line = format!("{:<8} {:<width$}  {}", word(check.state), check.name, check.note);
        writeln!(out, "{}", line.trim_end())?;
    }
    if passed {
        return writeln!(out, "the adapter is in order");
    }
    last_words.lines().try_for_each(|line| writeln!(out, "  it wrote: {line}"))?;
    writeln!(out, "the adapter is not in order")
}

fn as_json(sut: &str, passed: bool, checks: &[Check], last_words: &str) -> Json {
    let check = |check: &Check| json!({ "name": check.name, "state": word(check.state), "note": check.note });
    json!({
        "version": 1,
        "sut": sut,
        "passed": passed,
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
        "last_words": last_words,
    })
}
