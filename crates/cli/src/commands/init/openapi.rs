//! A project from an OpenAPI description.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use ioxide_args::InitArgs;
use ioxide_campaign::engine::quote_for_shell;
use ioxide_campaign::whole_file::write_new;
use ioxide_openapi::{
    BadDescription, ServiceOptions, StateRules, Translation, VARIABLES, bundle, toml_string, translate,
};
use ioxide_report::http::evidence_lines;
use ioxide_wire::adapter::http::fetch;
use ioxide_wire::adapter::server::{ServerConfig, ServerReadiness, SystemServer};
use ioxide_wire::adapter::{AdapterError, Interrupt, ListenAddress};

use super::learning::{LearnedService, learn_service};
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::load;

/// The files of such a project, and what they are.
const FILES: [(&str, &str); 2] = [
    ("api.iox", "the model: every operation, every documented response"),
    ("ioxide.toml", "the system `api`: its address, and the HTTP request of every operation"),
];

/// The number of notes that are shown; all of them stand in the model. Chosen by feel: more is not read.
const SHOWN: usize = 20;

/// The number of messages below which most rules were hardly seen. Chosen by feel.
const FEW_MESSAGES: u64 = 200;
/// The time that fetching a description may take. Chosen by feel.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of operations of a service whose state is learned. Chosen by feel: for more, a minute is too short.
const MAX_LEARNED_OPERATIONS: usize = 150;
/// The time to start below which a service is restarted before every run. Chosen by feel: there are dozens of runs.
const FAST_START: Duration = Duration::from_millis(500);
/// The time that a service may take to start. Chosen by feel.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes model and project file, and says what was not translated.
pub(super) fn init_from_openapi(args: &InitArgs, file: &str) -> Result<ExitStatus, CliError> {
    let begin = Instant::now();
    let folder = Path::new(&args.dir);
    super::refuse_to_overwrite(folder, &FILES.map(|(path, _)| path))?;
    let text = if is_address(file) {
        fetch_description(args, file)?
    } else {
        let text = fs::read_to_string(file)
            .map_err(|error| CliError::usage(format!("cannot read `{file}`: {error}")))?;
        bundle(&text, file, &|path| load::regular(path).ok()).map_err(|bad| description_error(file, &bad))?
    };
    let options = ServiceOptions {
        url: args.url.clone(),
        start: args.start.clone(),
        is_restarted: false,
        source: file.to_owned(),
        allow: args.allow.clone(),
        rules: StateRules::Stateless,
        variables: VARIABLES
            .iter()
            .filter(|name| env::var_os(name).is_some())
            .map(|&name| name.to_owned())
            .collect(),
    };
    // Refused before the service is started.
    let stateless = translate(&text, &options).map_err(|bad| description_error(file, &bad))?;
    let is_large = stateless.counts.0 > MAX_LEARNED_OPERATIONS && !args.stateless;
    if is_large {
        eprintln!(
            "the description has more than {MAX_LEARNED_OPERATIONS} operations: the model is made without state"
        );
    }
    let is_known = (options.url.is_some() || options.start.is_some()) && !is_large;
    let options =
        ServiceOptions { is_restarted: is_known && !args.stateless && starts_fast(args)?, ..options };
    let learned = if args.stateless || !is_known { None } else { try_to_learn(&text, &options, begin)? };
    let made = match &learned {
        None => stateless,
        Some(learned) => {
            let rules = StateRules::Learned(learned.facts.observations.clone());
            let options = ServiceOptions { rules, ..options };
            translate(&text, &options).map_err(|bad| description_error(file, &bad))?
        }
    };
    let made = Translation { project: from_folder(args, &made.project)?, ..made };
    let model = with_notes(&made);
    fs::create_dir_all(folder).map_err(|error| super::write_error(folder, &error))?;
    for ((path, _), text) in FILES.iter().zip([&model, &made.project]) {
        let path = folder.join(path);
        write_new(&path, text.as_bytes()).map_err(|error| super::write_error(&path, &error))?;
    }
    print_translation(args, &made, learned.as_ref(), &mut io::stdout().lock())?;
    Ok(ExitStatus::Success)
}

/// Learns what the service does; `None` if a service that somebody else started does not answer.
fn try_to_learn(
    text: &str,
    options: &ServiceOptions,
    begin: Instant,
) -> Result<Option<LearnedService>, CliError> {
    match learn_service(text, options, begin) {
        Ok(learned) => Ok(Some(learned)),
        Err(error) if options.start.is_none() => {
            exit::print_error(&error);
            eprintln!("the model is made without the service, so it has no state");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether the service starts so fast that it can be restarted before every run.
fn starts_fast(args: &InitArgs) -> Result<bool, CliError> {
    let Some(start) = args.start.as_ref().filter(|start| start.contains("{port}")) else { return Ok(false) };
    let port = ioxide_project::port::take()?.to_string();
    let ready = ServerReadiness::Port(ListenAddress::Tcp(format!("127.0.0.1:{port}")));
    let start = start.replace("{port}", &port);
    let config = ServerConfig { start, ready, limit: START_TIMEOUT, ..ServerConfig::default() };
    let begin = Instant::now();
    let cannot = |error: AdapterError| CliError::usage(format!("cannot start the service: {error}"));
    let server = SystemServer::start(config, Interrupt::from_flag(&STOP)).map_err(cannot)?;
    let time = begin.elapsed();
    drop(server);
    Ok(time < FAST_START)
}

fn is_address(file: &str) -> bool {
    file.starts_with("http://") || file.starts_with("https://")
}

/// Returns the text at an address; if the address holds `{port}`, the service is started for the time of the request.
fn fetch_description(args: &InitArgs, url: &str) -> Result<String, CliError> {
    let cannot = |error: AdapterError| CliError::usage(format!("cannot read `{url}`: {error}"));
    let interrupt = Interrupt::from_flag(&STOP);
    let Some(start) = args.start.as_ref().filter(|_| url.contains("{port}")) else {
        return fetch(url, FETCH_TIMEOUT, interrupt).map_err(cannot);
    };
    let port = ioxide_project::port::take()?.to_string();
    let (start, url) = (start.replace("{port}", &port), url.replace("{port}", &port));
    let ready = ServerReadiness::Port(ListenAddress::Tcp(format!("127.0.0.1:{port}")));
    let config = ServerConfig { start, ready, limit: START_TIMEOUT, ..ServerConfig::default() };
    let server = SystemServer::start(config, interrupt).map_err(cannot)?;
    let text = fetch(&url, FETCH_TIMEOUT, interrupt).map_err(cannot);
    drop(server);
    text
}

fn description_error(file: &str, bad: &BadDescription) -> CliError {
    CliError::usage(format!("`{file}`: {bad}"))
}

/// Returns the model with the parts of the description that it lacks as comments at its end.
fn with_notes(translation: &Translation) -> String {
    let mut text = translation.model.clone();
    if !translation.notes.is_empty() {
        text.push_str("\n// Parts of the description that this model leaves out:\n");
    }
    for note in &translation.notes {
        text.push_str(&format!("// {}\n", note.to_string().replace('\n', " ")));
    }
    text
}

/// Prints what was learned about the service.
fn print_learned(
    translation: &Translation,
    learned: &LearnedService,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "learned from the running service, in {} messages:", learned.steps)?;
    if let Some(replies) = learned.refused {
        writeln!(out, "  all {replies} replies were 401, 403 or 407: the service requires credentials")?;
    }
    let (limited, others) = learned.limited;
    if limited > others {
        writeln!(
            out,
            "  {limited} of {} replies were 429: the service limits requests, so little was learned",
            limited + others
        )?;
    } else if learned.steps < FEW_MESSAGES && learned.refused.is_none() {
        writeln!(out, "  this is a small number: the model leaves out rules that were rarely observed")?;
    }
    match &translation.resources[..] {
        [] => writeln!(out, "  no resource was recognised: the model has no state")?,
        resources => writeln!(out, "  the model remembers: {}", resources.join(", "))?,
    }
    writeln!(out, "  kinds of requests that must be refused: {}", translation.wrong_requests)?;
    if learned.facts.is_mock {
        writeln!(
            out,
            "  the answers do not depend on the requests: this seems to be a mock, which has no state"
        )?;
    }
    for contradiction in &learned.contradictions {
        writeln!(out, "contradiction: {}", contradiction.about)?;
        for line in evidence_lines(&contradiction.exchanges) {
            writeln!(out, "    {line}")?;
        }
    }
    let lists = [
        ("not documented, but allowed, for other operations too:", &learned.facts.statuses),
        ("not checked, because the service behaves differently:", &translation.loosened),
    ];
    for (head, texts) in lists.iter().filter(|(_, texts)| !texts.is_empty()) {
        writeln!(out, "{head}")?;
        for text in texts.iter().take(SHOWN) {
            writeln!(out, "  {text}")?;
        }
        if texts.len() > SHOWN {
            writeln!(out, "  and {} more", texts.len() - SHOWN)?;
        }
    }
    Ok(())
}

/// Returns the project file with a command that starts the service from the new folder as it does from here.
fn from_folder(args: &InitArgs, project: &str) -> Result<String, CliError> {
    let Some(start) = args.start.as_ref().filter(|_| args.dir != ".") else { return Ok(project.to_owned()) };
    let here = env::current_dir()?;
    let moved = format!("cd {} && {start}", quote_for_shell(&here.display().to_string()));
    Ok(project.replacen(
        &format!("start = {}", toml_string(start)),
        &format!("start = {}", toml_string(&moved)),
        1,
    ))
}

fn print_translation(
    args: &InitArgs,
    translation: &Translation,
    learned: Option<&LearnedService>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "written to `{}`:", args.dir)?;
    for (path, about) in FILES {
        writeln!(out, "  {path:11}  {about}")?;
    }
    let (operations, responses) = translation.counts;
    writeln!(out, "{operations} operations, {responses} responses")?;
    match learned {
        Some(learned) => print_learned(translation, learned, out)?,
        None if args.stateless => (),
        None => writeln!(
            out,
            "the model has no state: give `--start` or `--url`, and it is learned from the running service"
        )?,
    }
    if !translation.notes.is_empty() {
        writeln!(out, "not translated, or not exactly:")?;
    }
    for note in translation.notes.iter().take(SHOWN) {
        writeln!(out, "  {note}")?;
    }
    if translation.notes.len() > SHOWN {
        writeln!(out, "  and {} more, at the end of api.iox", translation.notes.len() - SHOWN)?;
    }
    writeln!(out, "next:")?;
    if args.dir != "." {
        writeln!(out, "  cd {}", args.dir)?;
    }
    let checked = if translation.resources.is_empty() {
        "every answer that is not documented, or outside its schema, is a failure"
    } else {
        "checks statuses, schemas, what was stored before, and that wrong requests are refused"
    };
    writeln!(out, "  ioxide test api.iox --sut api    {checked}")
}
