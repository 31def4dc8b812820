//! A project from an OpenAPI description.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use ioxide_campaign::whole_file::write_new;
use ioxide_openapi::{BadDescription, ServiceOptions, Translation, translate};
use ioxide_wire::adapter::http::fetch;
use ioxide_wire::adapter::server::{ServerConfig, ServerReadiness, SystemServer};
use ioxide_wire::adapter::{AdapterError, Interrupt, ListenAddress};

use crate::args::InitArgs;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::STOP;

/// The files of such a project, and what they are.
const FILES: [(&str, &str); 2] = [
    ("api.iox", "the model: every operation, every documented response"),
    ("ioxide.toml", "the system `api`: how they are requests and answers"),
];

/// The number of notes that are shown; all of them stand in the model. Chosen by feel: more is not read.
const SHOWN: usize = 20;

/// The time that fetching a description may take. Chosen by feel.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// The time that a service may take to start. Chosen by feel.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes model and project file, and says what was not translated.
pub(super) fn init_from_openapi(args: &InitArgs, file: &str) -> Result<ExitStatus, CliError> {
    let folder = Path::new(&args.dir);
    super::refuse_to_overwrite(folder, &FILES.map(|(path, _)| path))?;
    let text = if is_address(file) {
        fetch_description(args, file)?
    } else {
        fs::read_to_string(file).map_err(|error| CliError::usage(format!("cannot read `{file}`: {error}")))?
    };
    let options = ServiceOptions {
        url: args.url.clone(),
        start: args.start.clone(),
        source: file.to_owned(),
        allow: args.allow.clone(),
    };
    let made = translate(&text, &options).map_err(|bad| description_error(file, &bad))?;
    let model = with_notes(&made);
    fs::create_dir_all(folder).map_err(|error| super::write_error(folder, &error))?;
    for ((path, _), text) in FILES.iter().zip([&model, &made.project]) {
        let path = folder.join(path);
        write_new(&path, text.as_bytes()).map_err(|error| super::write_error(&path, &error))?;
    }
    print_translation(args, &made, &mut io::stdout().lock())?;
    Ok(ExitStatus::Success)
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
fn with_notes(made: &Translation) -> String {
    let mut text = made.model.clone();
    if !made.notes.is_empty() {
        text.push_str("\n// Parts of the description that this model leaves out:\n");
    }
    for note in &made.notes {
        text.push_str(&format!("// {}\n", note.to_string().replace('\n', " ")));
    }
    text
}

fn print_translation(args: &InitArgs, made: &Translation, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "written to `{}`:", args.dir)?;
    for (path, about) in FILES {
        writeln!(out, "  {path:11}  {about}")?;
    }
    let (operations, responses) = made.counts;
    writeln!(out, "{operations} operations, {responses} responses")?;
    if !made.notes.is_empty() {
        writeln!(out, "not translated, or not exactly:")?;
    }
    for note in made.notes.iter().take(SHOWN) {
        writeln!(out, "  {note}")?;
    }
    if made.notes.len() > SHOWN {
        writeln!(out, "  and {} more, at the end of api.iox", made.notes.len() - SHOWN)?;
    }
    writeln!(out, "next:")?;
    if args.dir != "." {
        writeln!(out, "  cd {}", args.dir)?;
    }
    writeln!(
        out,
        "  ioxide test api.iox --sut api    every answer that is not documented, or outside its schema, is a failure"
    )
}
