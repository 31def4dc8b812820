//! The editor of the explorer: texts become models as `check` reads them, and one file is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_explorer::edit::{AnalysedText, FileError, ModelEditor};
use ioxide_model::source::Sources;

use crate::system::SystemUnderTest;
use crate::{load, machine};

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
}

impl FileEditor {
    /// Returns the editor of the file called `name`; `None` if it is no regular file, such as stdin.
    pub fn new(name: &str, settings: Vec<String>, sut: Option<Arc<SystemUnderTest>>) -> Option<Self> {
        let path = fs::canonicalize(name).ok().filter(|path| name != "-" && path.is_file())?;
        Some(Self { name: name.to_owned(), path, settings, sut })
    }
}

impl ModelEditor for FileEditor {
    fn analyse(&self, text: &str) -> AnalysedText {
        let mut sources = Sources::new();
        let file = sources.add(self.name.as_str(), text);
        ioxide_lang::gather(&mut sources, file, &mut |path| {
            load::regular(path).map_err(|error| error.to_string())
        });
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
}
