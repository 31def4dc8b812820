//! `ioxide lsp`: the language server, over stdin and stdout.

mod campaign;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ioxide_args::SolverArgs;
use ioxide_lsp::answers::action::RepairedText;
use ioxide_lsp::answers::lens::LastCampaign;
use ioxide_lsp::server::{ServerEnvironment, ServerError, serve};
use ioxide_model::source::Sources;
use ioxide_record::event::EventKind;
use ioxide_repair::{Proposal, changed_files, runs_of_record};
use ioxide_smt::halt::Halt;
use lsp_server::Connection;

use super::repair::find_briefly;
use crate::exit::{CliError, ExitStatus};
use crate::{limit, load, record};

/// The depth to which folders are searched for models. Chosen by feel: it bounds the time.
const MAX_DEPTH: usize = 6;
/// The time for finding a change that explains a campaign: the editor waits for it. Chosen by feel.
const REPAIR_TIME: Duration = Duration::from_secs(4);
/// The number of models that are looked at. Chosen by feel: it bounds the time.
const MAX_MODELS: usize = 1_000;

/// Serves an editor until it says goodbye.
pub fn run() -> Result<ExitStatus, CliError> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, Arc::new(Disk));
    drop(connection);
    let written = threads.join();
    match (served, written) {
        (Ok(()), Ok(())) => Ok(ExitStatus::Success),
        // An editor that goes away without a word is no trouble of this program.
        (Err(ServerError::Gone), _) => Ok(ExitStatus::Success),
        (Err(error), _) => {
            Err(CliError::usage(format!("{error}")).help("`ioxide lsp` is started by an editor"))
        }
        (Ok(()), Err(error)) => Err(error.into()),
    }
}

/// Files, records and the clock of this machine.
pub struct Disk;

impl ServerEnvironment for Disk {
    fn read(&self, path: &str) -> std::io::Result<String> {
        load::regular(path)
    }

    fn models(&self, roots: &[String], path: &str) -> Vec<String> {
        let mut found = Vec::new();
        for folder in folders(roots, path) {
            collect(&folder, MAX_DEPTH, &mut found);
        }
        found.sort();
        found.dedup();
        found
    }

    fn last_campaign(&self, roots: &[String], path: &str) -> Option<LastCampaign> {
        campaign::last_campaign(&folders(roots, path), Path::new(path))
    }

    fn repair(&self, path: &str, text: &str, record: &str) -> Option<RepairedText> {
        let mut sources = Sources::new();
        let file = sources.add(path, text);
        ioxide_lang::gather(&mut sources, file, &mut |path| {
            load::regular(path).map_err(|error| error.to_string())
        });
        let record = record::read_record(record).ok()?;
        let settings = record.events.iter().find_map(|event| match &event.event {
            EventKind::CampaignStarted(told) => Some(told.set.clone()),
            _ => None,
        });
        let runs = runs_of_record(&record, "the last campaign").runs;
        let solver = SolverArgs::default();
        let found = find_briefly((&sources, file), &settings?, &runs, &solver, REPAIR_TIME).ok()?;
        // A change of another file is no edit of this one.
        let is_here = |proposal: &&Proposal| changed_files(&sources, &proposal.edited) == [file];
        let proposal = found.proposals.iter().find(is_here)?;
        Some(RepairedText {
            text: proposal.edited.file(file).text.to_string(),
            reason: proposal.reason.clone(),
        })
    }

    fn deadline(&self, time: Duration) -> Halt {
        limit::brief(time)
    }
}

/// The folders of the workspace, and that of the file.
fn folders(roots: &[String], path: &str) -> Vec<PathBuf> {
    let own = Path::new(path).parent().map(Path::to_path_buf);
    let mut folders: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    folders.extend(own.filter(|own| !folders.iter().any(|root| own.starts_with(root))));
    folders
}

/// Collects the models below `folder`, at most `depth` folders down.
fn collect(folder: &Path, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    // Whoever follows links to folders may go round in circles, or through the whole machine.
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut paths: Vec<(PathBuf, bool)> =
        entries.flatten().map(|entry| (entry.path(), is_folder(&entry))).collect();
    paths.sort();
    for (path, is_folder) in paths {
        if found.len() >= MAX_MODELS {
            return;
        }
        if is_folder {
            if depth > 0 && !is_hidden(&path) {
                collect(&path, depth - 1, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "iox") {
            found.extend(path.to_str().map(str::to_owned));
        }
    }
}

/// Folders that hold no models of the user.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with('.') || matches!(name.as_str(), "target" | "node_modules")
}
