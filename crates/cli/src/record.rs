//! Recorded runs, read back.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use ioxide_record::event::Event;
use ioxide_record::format::{Record, RecordError};

use crate::exit::CliError;
use crate::load;

/// The record number `n` in `folder`: `campaign.jsonl`, `campaign-2.jsonl` and so on.
fn numbered_record(folder: &str, n: u32) -> PathBuf {
    let name = if n == 1 { "campaign.jsonl".to_owned() } else { format!("campaign-{n}.jsonl") };
    Path::new(folder).join(name)
}

/// Returns the path of the next record in `folder`: no record is ever written over.
pub fn next(folder: &str) -> PathBuf {
    let free = (1..).map(|n| numbered_record(folder, n)).find(|path| !path.exists());
    free.expect("some number is free")
}

/// The newest record in `folder`.
pub fn newest(folder: &str) -> PathBuf {
    let there = (1..).map(|n| numbered_record(folder, n)).take_while(|path| path.exists());
    there.last().unwrap_or_else(|| numbered_record(folder, 1))
}

/// Returns the paths of all records in `folder`, the oldest first.
pub fn all_in(folder: &str) -> Vec<PathBuf> {
    (1..).map(|n| numbered_record(folder, n)).take_while(|path| path.exists()).collect()
}

/// Reads the record at `path`, a file or the directory given to `--report`.
pub fn read_record(path: &str) -> Result<Record, CliError> {
    let mut events = Vec::new();
    let is_cut = each_event(path, |event| {
        events.push(event.clone());
        Ok(())
    })?;
    Ok(Record { events, is_cut })
}

/// Calls `tell` with the events of the record at `path` one by one; returns whether its last line was cut off.
pub fn each_event(path: &str, mut tell: impl FnMut(&Event) -> io::Result<()>) -> Result<bool, CliError> {
    let mut file = Path::new(path).to_path_buf();
    if file.is_dir() {
        file = newest(path);
    }
    let cannot = |why: &dyn Display| {
        CliError::usage(format!("cannot read the record `{}`: {why}", file.display()))
            .help("records are written by `ioxide test --report DIR`")
    };
    let open = File::open(&file).map_err(|error| cannot(&error))?;
    let told = ioxide_record::format::each(BufReader::new(open), |event| {
        tell(&event).map_err(RecordReadError::Told)
    });
    let is_cut = told.map_err(|trouble| match trouble {
        RecordReadError::Record(error) => cannot(&error),
        RecordReadError::Told(error) => error.into(),
    })?;
    if is_cut {
        eprintln!("note: the last line of the record is incomplete and was ignored");
    }
    Ok(is_cut)
}

/// The reason why the reading of a record ended.
enum RecordReadError {
    Record(RecordError),
    Told(io::Error),
}

impl From<RecordError> for RecordReadError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

/// A file of runs: a record, or lines that other programs wrote.
pub enum RunFile {
    /// A record.
    Record(Record),
    /// The text of any other file.
    Text(String),
}

/// Reads the runs at `path`: a record, a folder of records, or a text.
pub fn read_runs(path: &str) -> Result<RunFile, CliError> {
    if Path::new(path).is_dir() {
        return read_record(path).map(RunFile::Record);
    }
    let text = load::read_data(path)?;
    if !text.lines().next().is_some_and(|first| first.contains("\"ioxide-record\"")) {
        return Ok(RunFile::Text(text));
    }
    let record = Record::read_record(text.as_bytes());
    record.map(RunFile::Record).map_err(|error| CliError::usage(error.to_string()))
}

/// Refuses run `run` if the record has no steps of it.
pub fn require_steps(record: &Record, run: u64) -> Result<(), CliError> {
    if record.end_of_run(run).is_some_and(|finished| finished.thinned.is_some()) {
        return Err(CliError::usage(format!("the record has no steps of run {}: it did not fail", run + 1))
            .help("`ioxide test` with the seed of the campaign repeats it; `--keep all` records every run"));
    }
    Ok(())
}

/// Returns the run with this number, counted from 1; without a number the first one that failed, else the first.
pub fn choose_run(record: &Record, number: Option<u64>) -> Result<u64, CliError> {
    match (number, record.n_runs()) {
        (None, _) => Ok(record.first_failing_run()),
        (Some(number), n) if (1..=n).contains(&number) => Ok(number - 1),
        (Some(number), n) => Err(CliError::usage(format!("there is no run {number}: the record has {n}"))
            .help("runs count from 1")),
    }
}
