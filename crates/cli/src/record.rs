//! Recorded runs, read back.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_runner::event::EventKind;
use ioxide_runner::record::Record;

use crate::exit::Stop;
use crate::session::RECORD;

/// The record at `path`, a file or the directory given to `--report`.
pub fn read(path: &str) -> Result<Record, Stop> {
    let mut file = Path::new(path).to_path_buf();
    if file.is_dir() {
        file = file.join(RECORD);
    }
    let cannot = |why: String| {
        Stop::usage(format!("cannot read the record `{}`: {why}", file.display()))
            .help("records are written by `ioxide test --report DIR`")
    };
    let open = File::open(&file).map_err(|error| cannot(error.to_string()))?;
    let record = Record::read(BufReader::new(open)).map_err(|error| cannot(error.to_string()))?;
    if record.is_cut {
        eprintln!("note: the record breaks off in its last line; everything before it is used");
    }
    Ok(record)
}

/// The model file the record names.
pub fn model_file(record: &Record) -> Option<String> {
    record.events.iter().find_map(|event| match &event.event {
        EventKind::CampaignStarted(told) if !told.file.is_empty() => Some(told.file.clone()),
        _ => None,
    })
}

/// The seed of run `run`.
pub fn seed(record: &Record, run: u64) -> Option<u64> {
    record.events.iter().find_map(|event| match &event.event {
        EventKind::RunStarted(told) if told.run == run => Some(told.seed),
        _ => None,
    })
}

/// The labels of the first run of the record at `path`.
pub fn labels(path: &str, model: &Model) -> Result<Vec<Label>, Stop> {
    let record = read(path)?;
    let misfit = |error| Stop::usage(format!("`{path}` does not fit the model: {error}"));
    Ok(record.trace(model, 0).map_err(misfit)?.labels)
}
