//! The directory of a part: the plan it belongs to, and the results of its units as they are done.
//!
//! `part.json` names the plan and the units of the part. `units.jsonl` grows line by line:
//!
//! ```text
//! {"begin":5,"unit":"run-5"}                   a unit is under way
//! ...                                          what its command tells of it, one JSON value per line
//! {"done":5,"unit":"run-5","result":{...}}     it is done
//! {"end":12,"why":"all","seconds":3.5}         the part is over, with this many units; they took so long
//! ```
//!
//! *Promises.* A unit is done when its `done` line is whole, and not before. What was cut off is forgotten when the
//! part goes on. One process at a time writes to a part. Its owner alone may read what a system said.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use crate::plan::CampaignPlan;
use crate::scan::{ScannedPart, scan};
use crate::units::UnitSet;
use crate::whole_file::{FileReaders, write_whole};

/// The name of the format.
pub const FORMAT: &str = "ioxide-part";
/// The version written here.
pub const VERSION: u32 = 1;
/// The file with the manifest of a part.
pub const MANIFEST: &str = "part.json";
/// The file with the results of a part.
pub const UNITS: &str = "units.jsonl";

/// The identity of a system under test: named facts, as texts or fingerprints.
pub type SystemFacts = BTreeMap<String, String>;

/// Returns the first difference between two systems, in words; `None` if all that is known of both is the same.
///
/// Keys of the project file must be known of both. A file or a version may be known on one machine only: it is no
/// difference then.
#[must_use]
pub fn system_difference(there: &SystemFacts, here: &SystemFacts) -> Option<String> {
    let names: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    names.into_iter().find_map(|name| {
        let (before, now) = (there.get(name), here.get(name));
        if before == now {
            return None;
        }
        match (name.split_once(' '), before, now) {
            (Some(("file", path)), Some(_), Some(_)) => Some(format!("the file `{path}` has changed")),
            // Known on one machine only.
            (Some(("file", _)), ..) => None,
            (Some((_, key)), ..) => Some(format!("`{key}` in the section of the system has changed")),
            (None, Some(before), Some(now)) if name == "version" => {
                Some(format!("the version of the system was `{before}` and is `{now}`"))
            }
            (None, ..) if name == "version" => None,
            (None, before, now) if name == "constants" => {
                let text = |constants: Option<&String>| match constants {
                    Some(constants) => format!("`{constants}`"),
                    None => "as in the model".to_owned(),
                };
                Some(format!("the constants were {} and are {}", text(before), text(now)))
            }
            (None, ..) => Some(format!("the {name} of the system has changed")),
        }
    })
}

/// The manifest of a part: its plan and its units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of ioxide.
    pub tool: String,
    /// The hash of the plan.
    pub plan: String,
    /// The fingerprint of the model.
    pub model: String,
    /// The command line.
    pub args: Vec<String>,
    /// The number of units of the plan.
    pub count: u64,
    /// The units of this part, from 1, as a [`UnitSet`] prints them.
    pub asked: String,
    /// The round of these units, from 1; `None` in a plan without rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u64>,
    /// The hash of the feedback with which the round began; `None` if it began without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The identity of the system under test; `None` if results depend on no system outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemFacts>,
    /// The time at which the part was begun, where results depend on a system outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
}

impl Manifest {
    /// The part of `plan` with the units `asked`.
    #[must_use]
    pub fn new(plan: &CampaignPlan, asked: &UnitSet) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            tool: plan.tool.clone(),
            plan: plan.hash(),
            model: plan.model.clone(),
            args: plan.args.clone(),
            count: plan.units.count(),
            asked: asked.to_string(),
            round: None,
            feedback: None,
            system: plan.system.clone(),
            started: None,
        }
    }
}

/// The reason why a part cannot be written or read.
#[derive(Debug, Error)]
pub enum PartError {
    /// An operation on a file or directory failed.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The manifest is missing, cannot be read, or is of another format or version.
    #[error("`{}` is not a part of a campaign: {why}", dir.display())]
    NotAPart {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file is not the feedback of a round, or is of another version.
    #[error("`{}` is not feedback of a round: {why}", path.display())]
    NotFeedback {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A line is not as the format prescribes.
    #[error("`{}` is damaged at line {line}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 if it is not known.
        line: u64,
        /// The reason.
        why: String,
    },
    /// The directory has a part of another plan, other units or other feedback.
    #[error("`{}` has another part: {differs}", dir.display())]
    Other {
        /// The directory.
        dir: PathBuf,
        /// The difference.
        differs: String,
    },
    /// Another process writes to the part in this directory.
    #[error("another ioxide is writing to `{}`", .0.display())]
    Busy(PathBuf),
}

impl PartError {
    /// Returns a function that makes an error about `path` of an I/O error.
    pub(crate) fn at_path(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |error| Self::Io { path: path.to_path_buf(), error }
    }
}

/// A part being written.
pub struct PartWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The units that were done before this process began.
    pub before: UnitSet,
    done: u64,
    pending: Vec<u8>,
    started_at: Instant,
}

/// The reason why a part is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfPart {
    /// All its units are done.
    All,
    /// A unit failed, and the command does not go on after that.
    Failure,
    /// The part was stopped, or its time is over: it can go on.
    Stopped,
    /// A unit could not be done for trouble with the system; it can be tried again.
    Trouble,
}

impl EndOfPart {
    /// The word in the file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Failure => "failure",
            Self::Stopped => "stopped",
            Self::Trouble => "trouble",
        }
    }

    /// Returns the end that `word` names in a part file.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::All, Self::Failure, Self::Stopped, Self::Trouble].into_iter().find(|end| end.word() == word)
    }
}

impl PartWriter {
    /// Begins the part in `dir`, or goes on with it: then what is done is in [`before`](Self::before).
    ///
    /// # Errors
    /// If the directory has another part, is damaged, or cannot be written to.
    pub fn open(dir: &Path, manifest: &Manifest) -> Result<Self, PartError> {
        fs::create_dir_all(dir).map_err(PartError::at_path(dir))?;
        let path = dir.join(UNITS);
        let file = private(&path).map_err(PartError::at_path(&path))?;
        // The lock ends with the process, however it ends, so there is no stale one to clean up. Any other error,
        // as on file systems without locks, is no reason to refuse.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(PartError::Busy(dir.to_path_buf()));
        }
        let known = dir.join(MANIFEST).exists().then(|| scan(dir)).transpose()?;
        let (before, end) = match &known {
            Some(known) => (known.units(), find_resume_offset(dir, known, manifest)?),
            None => {
                write_manifest(&dir.join(MANIFEST), manifest)?;
                (UnitSet::new(), 0)
            }
        };
        // What stands behind the last whole unit was cut off: it would be damage in the middle otherwise.
        file.set_len(end).map_err(PartError::at_path(&path))?;
        let mut out = BufWriter::new(file);
        out.seek(SeekFrom::End(0)).map_err(PartError::at_path(&path))?;
        Ok(Self { path, out, done: before.len(), before, pending: Vec::new(), started_at: Instant::now() })
    }

    /// Writes that a unit begins: if this stays its last line, the unit was under way when the part broke off.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_unit(&mut self, unit: u64, name: &str) -> Result<(), PartError> {
        self.pending.clear();
        let line = format!("{{\"begin\":{},\"unit\":{}}}\n", unit + 1, Json::from(name));
        self.out
            .write_all(line.as_bytes())
            .and_then(|()| self.out.flush())
            .map_err(PartError::at_path(&self.path))
    }

    /// Adds a line of JSON to the unit under way; it is written when the unit is done.
    pub fn add_line(&mut self, line: &str) {
        self.pending.extend_from_slice(line.as_bytes());
        self.pending.push(b'\n');
    }

    /// Writes that the unit under way is done, with its lines and its result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_done(
        &mut self,
        unit: u64,
        name: &str,
        has_failed: bool,
        result: &Json,
    ) -> Result<(), PartError> {
        let failed = if has_failed { "\"failed\":true," } else { "" };
        let line =
            format!("{{\"done\":{},{failed}\"unit\":{},\"result\":{result}}}\n", unit + 1, Json::from(name));
        self.done += 1;
        // The lines of a unit and its `done` go out together; a reader believes none of them without the last one.
        let pending = std::mem::take(&mut self.pending);
        let mut write = || {
            self.out.write_all(&pending)?;
            self.out.write_all(line.as_bytes())?;
            self.out.flush()
        };
        write().map_err(PartError::at_path(&self.path))
    }

    /// Writes that the unit under way could not be done, and drops its lines.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_missing(&mut self, unit: u64, name: &str, why: &str) -> Result<(), PartError> {
        self.pending.clear();
        let line =
            format!("{{\"left\":{},\"unit\":{},\"why\":{}}}\n", unit + 1, Json::from(name), Json::from(why));
        self.out
            .write_all(line.as_bytes())
            .and_then(|()| self.out.flush())
            .map_err(PartError::at_path(&self.path))
    }

    /// Writes that the part is over, and syncs the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end_part(mut self, why: EndOfPart) -> Result<(), PartError> {
        let seconds = self.started_at.elapsed().as_secs_f64();
        let line = format!("{{\"end\":{},\"why\":\"{}\",\"seconds\":{seconds:.6}}}\n", self.done, why.word());
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.flush());
        written.and_then(|()| self.out.get_ref().sync_all()).map_err(PartError::at_path(&self.path))
    }
}

/// Returns the byte at which a known part goes on: the end of its last unit.
///
/// # Errors
/// If it is of another plan, or has other units or other feedback.
fn find_resume_offset(dir: &Path, known: &ScannedPart, manifest: &Manifest) -> Result<u64, PartError> {
    let there = &known.manifest;
    match there.differs(manifest) {
        None if there.asked == manifest.asked && there.feedback == manifest.feedback => Ok(known.whole),
        None if there.asked == manifest.asked => Err(PartError::Other {
            dir: dir.to_path_buf(),
            differs: "its round began with other feedback".into(),
        }),
        differs => {
            let units = || format!("it has the units {}", there.asked);
            Err(PartError::Other { dir: dir.to_path_buf(), differs: differs.unwrap_or_else(units) })
        }
    }
}

impl Manifest {
    /// Returns the difference between two parts, in words; `None` if they are of one plan.
    #[must_use]
    pub fn differs(&self, other: &Self) -> Option<String> {
        // The hash covers all that follows; the rest only finds the words for what differs.
        if self.plan == other.plan {
            self.system_differs(other)
        } else if self.args != other.args {
            let first = self.args.iter().zip(&other.args).find(|(mine, theirs)| mine != theirs);
            let longer = || (self.args.join(" "), other.args.join(" "));
            let (mine, theirs) = first.map_or_else(longer, |(mine, theirs)| (mine.clone(), theirs.clone()));
            Some(format!("its command line has `{mine}`, not `{theirs}`"))
        } else if self.tool != other.tool {
            Some(format!("it was made by ioxide {}, not {}", self.tool, other.tool))
        } else if self.model != other.model {
            Some(format!("its model is another one ({}, not {})", self.model, other.model))
        } else {
            Some(format!("its plan is another one ({}, not {})", self.plan, other.plan))
        }
    }
}

impl Manifest {
    /// Returns the difference between the systems of two parts of one plan.
    fn system_differs(&self, other: &Self) -> Option<String> {
        match (&self.system, &other.system) {
            (Some(mine), Some(theirs)) => {
                system_difference(mine, theirs).map(|why| format!("it is of another system: {why}"))
            }
            (None, None) => None,
            _ => Some(
                "an earlier version of ioxide made one of them and did not record which system it is for"
                    .into(),
            ),
        }
    }
}

/// Puts a manifest in its place, whole or not at all.
fn write_manifest(path: &Path, manifest: &Manifest) -> Result<(), PartError> {
    let write = || {
        let text = serde_json::to_string_pretty(manifest)?;
        write_whole(path, FileReaders::Owner, |out| writeln!(out, "{text}"))
    };
    write().map_err(PartError::at_path(path))
}

/// A file that its owner alone may read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}
