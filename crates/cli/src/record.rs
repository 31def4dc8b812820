//! Recorded runs, read back.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use ioxide_record::clock::seconds;
use ioxide_record::event::{ConnectionRecord, Event, EventKind};
use ioxide_record::format::{Record, RecordError};
use ioxide_run::judge::Inputs;
use ioxide_run::records::read_tolerance;
use ioxide_run::run::LagEffect;
use ioxide_symex::Tolerance;

use crate::exit::CliError;

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

/// Reads the record at `path`, a file or the directory given to `--report`.
pub fn read(path: &str) -> Result<Record, CliError> {
    let mut events = Vec::new();
    let is_cut = each(path, |event| {
        events.push(event.clone());
        Ok(())
    })?;
    Ok(Record { events, is_cut })
}

/// Calls `tell` with the events of the record at `path` one by one; returns whether its last line was cut off.
pub fn each(path: &str, mut tell: impl FnMut(&Event) -> io::Result<()>) -> Result<bool, CliError> {
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
        eprintln!("note: the record breaks off in its last line; everything before it is used");
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

/// The model file the record names.
pub fn model_file(record: &Record) -> Option<String> {
    record.events.iter().find_map(|event| match &event.event {
        EventKind::CampaignStarted(told) if !told.file.is_empty() => Some(told.file.clone()),
        _ => None,
    })
}

/// The constants that were overridden when the record was made.
pub fn settings(record: &Record) -> Vec<String> {
    let started = record.events.iter().find_map(|event| match &event.event {
        EventKind::CampaignStarted(told) => Some(told.set.clone()),
        _ => None,
    });
    started.unwrap_or_default()
}

/// Returns the number of runs of the record, finished or not.
pub fn n_runs(record: &Record) -> u64 {
    record.events.iter().filter(|event| matches!(event.event, EventKind::RunStarted(_))).count() as u64
}

/// Refuses run `run` if the record has no steps of it.
pub fn require_steps(record: &Record, run: u64) -> Result<(), CliError> {
    let is_thinned = record
        .events
        .iter()
        .any(|event| matches!(&event.event, EventKind::RunFinished(told) if told.run == run && told.thinned.is_some()));
    if is_thinned {
        return Err(CliError::usage(format!("the record has no steps of run {}: it did not fail", run + 1))
            .help("`ioxide test` with the seed of the campaign repeats it; `--keep all` records every run"));
    }
    Ok(())
}

/// Returns the seed of run `run`, if the record has this run.
pub fn seed(record: &Record, run: u64) -> Option<u64> {
    record.events.iter().find_map(|event| match &event.event {
        EventKind::RunStarted(told) if told.run == run => Some(told.seed),
        _ => None,
    })
}

/// Returns whether the inputs of run `run` were confirmed, or only sent.
pub fn inputs_of_run(record: &Record, run: u64) -> Inputs {
    let is_sent = record.events.iter().any(|event| match &event.event {
        EventKind::RunStarted(told) => told.run == run && told.unconfirmed,
        _ => false,
    });
    if is_sent { Inputs::Sent } else { Inputs::Taken }
}

/// The connections of the system in run `run`, if it had several.
pub fn connections(record: &Record, run: u64) -> Vec<ConnectionRecord> {
    let told = record.events.iter().find_map(|event| match &event.event {
        EventKind::RunStarted(told) if told.run == run => Some(told.connections.clone()),
        _ => None,
    });
    told.unwrap_or_default()
}

/// Returns the tolerance of run `run`, widened by the lag of the machine where the run was; exact if the record has
/// none.
pub fn tolerance(record: &Record, run: u64) -> Tolerance {
    let told = record.events.iter().find_map(|event| match &event.event {
        EventKind::RunStarted(told) if told.run == run => told.tolerance,
        _ => None,
    });
    let lag = record.events.iter().find_map(|event| match &event.event {
        EventKind::RunFinished(told) if told.run == run => told.machine_lag,
        _ => None,
    });
    let stated = told.map(read_tolerance).unwrap_or_default();
    let lag = lag.map(LagEffect::from).unwrap_or_default();
    Tolerance { latency: &stated.latency + &seconds(lag.tolerance), ..stated }
}
