//! `ioxide explore`: a model, recorded runs and a live campaign in a browser.

mod editor;
mod launch;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::sync::Arc;

use ioxide_args::ExploreArgs;
use ioxide_explorer::Explorer;
use ioxide_explorer::access::AccessToken;
use ioxide_explorer::live::Launcher;
use ioxide_explorer::recording::Recording;
use ioxide_explorer::server::{ExplorerServer, ServerEnder};
use ioxide_history::read::HistoryForm;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_repair::{ReplayableRun, runs_of_record};

use self::editor::FileEditor;
use self::launch::SystemLauncher;
use crate::commands::judge::history::{find_history, write_timeline};
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::{EndRequest, end_at_once, on_interrupt};
use crate::system::SystemUnderTest;
use crate::{load, machine, record, solver};

/// The length up to which the first line of a file is looked at, in bytes: the line that names its format is short.
const MAX_FORMAT_LINE: u64 = 200;

/// Serves until Ctrl-C.
pub fn run(args: &ExploreArgs) -> Result<ExitStatus, CliError> {
    let (sources, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let sut = args
        .sut
        .as_deref()
        .map(|sut| SystemUnderTest::from_name(sut, args.model.spec_source()))
        .transpose()?
        .map(Arc::new);
    if let Some(sut) = &sut {
        machine::declare_outputs(&mut model, sut);
    }
    let recordings =
        args.records.iter().map(|path| recording(args, &model, path)).collect::<Result<Vec<_>, _>>()?;
    let solver = solver::make(&args.solver)?;
    let launcher = sut.clone().map(|sut| SystemLauncher::new(args, &model, sut)).transpose()?;
    let launcher = launcher.map(|launch| Box::new(launch) as Box<dyn Launcher>);
    let server = bind(&args.listen)?;
    let explorer = Explorer::new(model, &sources, solver, recordings, launcher);
    let explorer = Arc::new(with_editor(explorer, args, &server, &sources, sut));
    end_on_interrupt(server.ender());
    announce(args, &server)?;
    server.serve(&explorer);
    if explorer.has_unsaved_text() {
        eprintln!("warning: the text of `{}` was changed on the page and not saved", args.model.file);
    }
    Ok(ExitStatus::Success)
}

/// The explorer with an editor of the model, where there is a file to edit and only this machine can reach it.
fn with_editor(
    explorer: Explorer,
    args: &ExploreArgs,
    server: &ExplorerServer,
    sources: &Sources,
    sut: Option<Arc<SystemUnderTest>>,
) -> Explorer {
    if !server.address().ip().is_loopback() {
        return explorer.without_editor(
            "Other machines can reach this page, so the file of the model cannot be changed here. Start the explorer \
             without --listen to edit it.",
        );
    }
    let text = sources.iter().next().map(|file| file.text.clone());
    match (FileEditor::new(&args.model.file, args.model.settings(), sut), text) {
        (Some(editor), Some(text)) => {
            let editor = editor.with_runs(recorded_runs(args), args.solver.clone());
            explorer.with_editor(Box::new(editor), text)
        }
        _ => explorer.without_editor(
            "The model was not read from a regular file. Start the explorer on a file to edit it.",
        ),
    }
}

/// The runs of the records that are shown; histories of several clients have none that a model of one could allow.
fn recorded_runs(args: &ExploreArgs) -> Vec<ReplayableRun> {
    let records = args.records.iter().filter_map(|path| Some((path, record::read_record(path).ok()?)));
    records.flat_map(|(path, record)| runs_of_record(&record, &format!("`{path}`")).runs).collect()
}

/// A recorded campaign or history, called by the path it was given as.
fn recording(args: &ExploreArgs, model: &Model, path: &str) -> Result<Recording, CliError> {
    let history = find_history(path);
    if is_client_history(&history) {
        let mut solver = solver::make(&args.solver)?;
        let page = write_timeline(&mut model.clone(), &mut *solver, &args.model.file, &history)?;
        return Ok(Recording { name: path.to_owned(), page: Some(page.into()), ..Recording::default() });
    }
    Ok(Recording::from_events(path, &record::read_record(path)?.events))
}

/// Returns whether a file begins as a history of concurrent clients does.
fn is_client_history(path: &str) -> bool {
    // A file that cannot be read is reported when it is read as a record.
    let Ok(file) = File::open(path) else { return false };
    let mut start = String::new();
    // A first line can be as long as the file.
    let begun = BufReader::new(file.take(MAX_FORMAT_LINE)).read_line(&mut start);
    begun.is_ok() && HistoryForm::recognise_start(&start)
}

/// A server at the address that was meant.
pub fn bind(listen: &str) -> Result<ExplorerServer, CliError> {
    let cannot = |why: &dyn std::fmt::Display| {
        CliError::usage(format!("cannot listen on `{listen}`: {why}"))
            .help("pick another port: `--listen 8080`")
    };
    let server =
        ExplorerServer::bind(address(listen).map_err(|why| cannot(&why))?, AccessToken::new(rand::random()));
    server.map_err(|error| cannot(&error))
}

/// The address that was meant. A port alone means this machine only.
fn address(listen: &str) -> io::Result<SocketAddr> {
    let text = if listen.contains(':') { listen.to_owned() } else { format!("127.0.0.1:{listen}") };
    let found = text.to_socket_addrs()?.next();
    found.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this is not an address"))
}

/// The address alone on stdout, the rest on stderr.
fn announce(args: &ExploreArgs, server: &ExplorerServer) -> Result<(), CliError> {
    let url = server.url();
    warn_of_others(server, "explore, and start runs");
    let mut out = io::stdout().lock();
    writeln!(out, "{url}")?;
    out.flush()?;
    eprintln!("exploring `{}`; open the address above, Ctrl-C ends it", args.model.file);
    if args.open && !open_browser(&url) {
        eprintln!("note: no browser could be started; open the address yourself");
    }
    Ok(())
}

/// Warns if other machines can reach the page; `what` says what they can do then.
pub fn warn_of_others(server: &ExplorerServer, what: &str) {
    if !server.address().ip().is_loopback() {
        eprintln!(
            "warning: other machines can reach {}; anyone who has the address below can {what}. It is not encrypted.",
            server.address()
        );
    }
}

/// Opens `url` in a browser; returns whether a program for that could be started.
pub fn open_browser(url: &str) -> bool {
    let programs: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview"] };
    programs.iter().any(|program| {
        let silent = || Stdio::null();
        Command::new(program).arg(url).stdin(silent()).stdout(silent()).stderr(silent()).spawn().is_ok()
    })
}

/// The first Ctrl-C ends the campaign and the server, the second the program.
fn end_on_interrupt(ender: ServerEnder) {
    on_interrupt(move |which| {
        if which == EndRequest::Again && ender.is_ended() {
            end_at_once();
        }
        ender.end_server();
    });
}
