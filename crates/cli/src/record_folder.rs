//! The folder of `--report` while a campaign is recorded in it: the record, its reports for continuous
//! integration, and the runs that failed.
//!
//! *Promises.* One process at a time writes to it. What cannot be written takes no verdict away: it is told at
//! once, the campaign goes on, and a campaign without failure does not end as a success. Reports are there
//! once the campaign has ended, and not before; those of the campaign before are gone by then. Its owner alone
//! may read what is written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::Reporter;
use ioxide_repair::TriageFact;
use ioxide_report::junit::JunitReport;
use ioxide_report::markdown::MarkdownReport;
use ioxide_run::thinned_record::{KeptRuns, ThinnedRecorder};

use crate::commands::test::hint;
use crate::exit::{CliError, ExitStatus};
use crate::record;
use crate::write;

/// The reports of the last campaign.
const JUNIT: &str = "junit.xml";
const SUMMARY: &str = "summary.md";

/// A folder that this process alone writes to.
pub struct RecordFolder {
    folder: PathBuf,
    record: PathBuf,
    /// The reason why the record is not complete; unset while it is.
    trouble: Arc<OnceLock<String>>,
    /// The runs that the record keeps whole.
    kept: KeptRuns,
    /// The model that was tested, for the evidence about failures.
    model: Option<Arc<Model>>,
    /// Held until the end.
    _lock: File,
}

impl RecordFolder {
    /// Makes the folder if there is none, and keeps other processes out.
    pub fn open(folder: &str) -> Result<Self, CliError> {
        let path = Path::new(folder);
        fs::create_dir_all(path).map_err(|error| write::write_error(path, &error))?;
        let lock = File::open(path).map_err(|error| write::write_error(path, &error))?;
        write::lock_for_writing(&lock, folder)?;
        Ok(Self {
            folder: path.to_path_buf(),
            record: record::next(folder),
            trouble: Arc::default(),
            kept: KeptRuns::default(),
            model: None,
            _lock: lock,
        })
    }

    /// Keeps these runs whole.
    pub fn keep_runs(self, kept: KeptRuns) -> Self {
        Self { kept, ..self }
    }

    /// Adds the evidence about the first failure to the reports: `model` is the one that is tested.
    pub fn with_evidence(self, model: &Model) -> Self {
        Self { model: Some(Arc::new(model.clone())), ..self }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the record of this campaign.
    pub fn record(&self) -> &Path {
        &self.record
    }

    /// Begins the record and its reports.
    pub fn begin(&self) -> Result<Box<dyn Reporter>, CliError> {
        let cannot = |error: io::Error| write::write_error(&self.record, &error);
        let file = private(&self.record).map_err(cannot)?;
        let recorder = ThinnedRecorder::new(file, self.kept).map_err(cannot)?;
        let aside = |name: &str| {
            let path = self.folder.join(name);
            // A report that is there must not be taken for one of this campaign.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(write::write_error(&path, &error))
                }
                _ => AsideFile::new(&path, FileReaders::Owner)
                    .map_err(|error| write::write_error(&path, &error)),
            }
        };
        Ok(Box::new(RecordReporter {
            recorder,
            junit: Some(JunitReport::new(aside(JUNIT)?)),
            markdown: Some(MarkdownReport::new(aside(SUMMARY)?, self.record.display().to_string())),
            record: self.record.clone(),
            model: self.model.clone(),
            trouble: Arc::clone(&self.trouble),
        }))
    }

    /// Notes that the record is incomplete, and warns at the first time.
    pub fn mark_incomplete(&self, why: &str) {
        mark_incomplete(&self.trouble, &self.record, why);
    }

    /// Returns the reason why the record is not complete, if it is not; a record that is gone is not.
    pub fn trouble(&self) -> Option<&str> {
        if !self.record.exists() {
            self.mark_incomplete("it was deleted or moved");
        }
        self.trouble.get().map(String::as_str)
    }

    /// Returns the end of a campaign whose verdict is `status`: a success without its record becomes an error.
    pub fn end(&self, status: ExitStatus) -> Result<ExitStatus, CliError> {
        match (self.trouble(), status) {
            (Some(why), ExitStatus::Success) => Err(CliError::usage(format!(
                "nothing failed, but the record `{}` is incomplete: {why}",
                self.record.display()
            ))
            .help("make room, or name another folder, and test again")),
            _ => Ok(status),
        }
    }
}

/// A new file that its owner alone may read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Notes and prints the first trouble only: the rest follows from it.
fn mark_incomplete(trouble: &OnceLock<String>, record: &Path, why: &str) {
    if trouble.set(why.to_owned()).is_ok() {
        eprintln!("warning: the record `{}` is incomplete: {why}", record.display());
    }
}

/// A reporter that writes the record first, then its reports.
struct RecordReporter {
    recorder: ThinnedRecorder,
    junit: Option<JunitReport<AsideFile>>,
    markdown: Option<MarkdownReport<AsideFile>>,
    record: PathBuf,
    model: Option<Arc<Model>>,
    trouble: Arc<OnceLock<String>>,
}

impl RecordReporter {
    /// Writes an event to the record and the other reports; the last event completes these.
    fn tell(&mut self, event: &Event) -> io::Result<()> {
        self.recorder.event(event)?;
        if let EventKind::CampaignFinished(told) = &event.event
            && told.failed > 0
            && let Some(model) = &self.model
        {
            // Read back: the record is complete now, and has no secrets in it.
            let facts = hint::facts_of_record(&self.record.display().to_string(), model);
            let facts: Vec<String> = facts.iter().map(TriageFact::text).collect();
            self.junit.iter_mut().for_each(|junit| junit.set_evidence(facts.clone()));
            self.markdown.iter_mut().for_each(|markdown| markdown.set_evidence(facts.clone()));
        }
        self.junit.iter_mut().try_for_each(|junit| junit.event(event))?;
        self.markdown.iter_mut().try_for_each(|markdown| markdown.event(event))?;
        if matches!(event.event, EventKind::CampaignFinished(_)) {
            self.junit.take().map_or(Ok(()), |junit| junit.into_inner().keep())?;
            self.markdown.take().map_or(Ok(()), |markdown| markdown.into_inner().keep())?;
        }
        Ok(())
    }
}

impl Reporter for RecordReporter {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.trouble.get().is_none()
            && let Err(error) = self.tell(event)
        {
            mark_incomplete(&self.trouble, &self.record, &error.to_string());
        }
        Ok(())
    }
}
