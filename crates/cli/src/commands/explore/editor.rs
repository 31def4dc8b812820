//! The editor of the explorer: texts become models as `check` reads them, and one file is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ioxide_args::SolverArgs;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_explorer::edit::{AnalysedText, FileError, ModelEditor, NoRepair, TextRepair};
use ioxide_model::source::{FileId, Sources};
use ioxide_repair::{Proposal, ReplayableRun, changed_files};

use crate::commands::repair::find_briefly;
use crate::system::SystemUnderTest;
use crate::{load, machine};

/// The time for finding changes that explain the recorded runs: the page waits for it. Chosen by feel.
const REPAIR_TIME: Duration = Duration::from_secs(5);

/// The editor of one model file.
pub struct FileEditor {
    /// The path as it was given, which also names the format.
    name: String,
    /// The path that is written to: another working directory leads to no other file.
    path: PathBuf,
    /// The settings of `--set` and `--through`.
    settings: Vec<String>,
    /// The system under test, whose outputs the model declares.
    sut: Option<Arc<SystemUnderTest>>,
    /// The recorded runs that the explorer shows.
    runs: Vec<ReplayableRun>,
    solver: SolverArgs,
}

impl FileEditor {
    /// Returns the editor of the file called `name`; `None` if it is not a regular file, such as stdin.
    pub fn new(name: &str, settings: Vec<String>, sut: Option<Arc<SystemUnderTest>>) -> Option<Self> {
        let path = fs::canonicalize(name).ok().filter(|path| name != "-" && path.is_file())?;
        let (runs, solver) = (Vec::new(), SolverArgs::default());
        Some(Self { name: name.to_owned(), path, settings, sut, runs, solver })
    }

    /// Adds recorded runs, and the solver that is asked for changes of the model that explain them.
    pub fn with_runs(self, runs: Vec<ReplayableRun>, solver: SolverArgs) -> Self {
        Self { runs, solver, ..self }
    }

    /// Returns the text with those it refers to.
    fn gather(&self, text: &str) -> (Sources, FileId) {
        let mut sources = Sources::new();
        let file = sources.add(self.name.as_str(), text);
        ioxide_lang::gather(&mut sources, file, &mut |path| {
            load::regular(path).map_err(|error| error.to_string())
        });
        (sources, file)
    }
}

impl ModelEditor for FileEditor {
    fn analyse(&self, text: &str) -> AnalysedText {
        let (sources, file) = self.gather(text);
        let (mut model, diagnostics) = load::compile(&sources, file, &self.settings);
        if let (Some(model), Some(sut)) = (&mut model, &self.sut) {
            machine::declare_outputs(model, sut);
        }
        AnalysedText { sources, file, model, diagnostics }
    }

    fn read(&self) -> Result<String, FileError> {
        let path = self.path.to_string_lossy();
        load::regular(&path).map_err(|error| FileError(format!("cannot read `{}`: {error}", self.name)))
    }

    fn write(&self, text: &str) -> Result<(), FileError> {
        write_whole(Path::new(&self.path), FileReaders::Usual, |out| out.write_all(text.as_bytes()))
            .map_err(|error| FileError(format!("cannot write `{}`: {error}", self.name)))
    }
    fn has_runs(&self) -> bool {
        !self.runs.is_empty() && ioxide_lang::is_iox(&self.name)
    }

    fn find_repairs(&self, text: &str) -> Result<Vec<TextRepair>, NoRepair> {
        let (sources, file) = self.gather(text);
        let found = find_briefly((&sources, file), &self.settings, &self.runs, &self.solver, REPAIR_TIME)
            .map_err(|error| NoRepair(error.to_string()))?;
        // Another file is not edited here.
        let is_here = |proposal: &&Proposal| changed_files(&sources, &proposal.edited) == [file];
        let repair = |proposal: &Proposal| TextRepair {
            reason: proposal.reason.clone(),
            diff: proposal.diff.clone(),
            effects: proposal.effect_lines(),
            text: proposal.edited.file(file).text.clone(),
        };
        let repairs: Vec<TextRepair> = found.proposals.iter().filter(is_here).map(repair).collect();
        if repairs.is_empty() {
            return Err(NoRepair("no small change of the model explains the recorded runs".to_owned()));
        }
        Ok(repairs)
    }
}
