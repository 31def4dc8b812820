//! The last recorded campaign on a model: the newest record near it that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ioxide_lsp::answers::lens::{LastCampaign, SwitchFate};
use ioxide_record::event::{CampaignFinished, CampaignStarted, EventKind, Explanation};
use ioxide_record::format::{RecordError, each};

use super::is_hidden;

/// The depth to which folders are searched for records. Chosen by feel: it bounds the time.
const MAX_DEPTH: usize = 3;
/// The size of a record, in bytes, above which it is not read. Chosen by feel: it bounds the time.
const MAX_BYTES: u64 = 64 << 20;
/// The number of records, the newest ones, that are read. Chosen by feel: it bounds the time.
const MAX_RECORDS: usize = 20;

/// The last campaign on the model at `path` that is recorded below `folders`.
pub fn last_campaign(folders: &[PathBuf], path: &Path) -> Option<LastCampaign> {
    let mut records = Vec::new();
    for folder in folders {
        collect(folder, MAX_DEPTH, &mut records);
    }
    records.sort();
    records.into_iter().rev().take(MAX_RECORDS).find_map(|(_, record)| read_campaign(&record, path))
}

/// Collects the records below `folder` with the times of their last change.
fn collect(folder: &Path, depth: usize, records: &mut Vec<(SystemTime, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if about.is_dir() {
            if depth > 0 && !is_hidden(&path) {
                collect(&path, depth - 1, records);
            }
        } else if name.starts_with("campaign") && name.ends_with(".jsonl") && about.len() <= MAX_BYTES {
            records.extend(about.modified().ok().map(|time| (time, path)));
        }
    }
}

/// The campaign in `record`, if it is over and was one on `model`.
fn read_campaign(record: &Path, model: &Path) -> Option<LastCampaign> {
    let (mut started, mut finished, mut failing) = (None, None, BTreeSet::new());
    let reader = BufReader::new(File::open(record).ok()?);
    each(reader, |event| {
        match event.event {
            EventKind::CampaignStarted(told) => started = Some(told),
            EventKind::CampaignFinished(told) => finished = Some(told),
            EventKind::Verdict(told) => failing.extend(told.explanation.iter().flat_map(list_contradicted)),
            _ => {}
        }
        Ok::<(), RecordError>(())
    })
    .ok()?;
    let (started, finished) = (started?, finished?);
    is_about(&started, record, model).then(|| campaign(record, &started, &finished, failing))
}

/// Returns the switches that a failing run should have taken, or that were refused where it failed.
fn list_contradicted(explanation: &Explanation) -> impl Iterator<Item = String> {
    let refused = explanation.why_not.iter().map(|why| why.switch.clone());
    explanation.allowed.iter().filter_map(|allowed| allowed.switch.clone()).chain(refused)
}

/// Returns whether the record names the model: its path, as recorded, leads to the model from a folder above the
/// record.
fn is_about(started: &CampaignStarted, record: &Path, model: &Path) -> bool {
    let Ok(model) = model.canonicalize() else { return false };
    let named = Path::new(&started.file);
    let from = record.ancestors().skip(1).map(|folder| folder.join(named));
    !started.file.is_empty()
        && from.into_iter().any(|path| path.canonicalize().is_ok_and(|path| path == model))
}

/// Returns the results of a campaign as the editor shows them.
fn campaign(
    record: &Path,
    started: &CampaignStarted,
    finished: &CampaignFinished,
    failing: BTreeSet<String>,
) -> LastCampaign {
    let fate = |label: &String| {
        if finished.covered.contains(label) {
            SwitchFate::Taken
        } else if finished.never.contains(label) {
            SwitchFate::Never
        } else {
            SwitchFate::Perhaps
        }
    };
    let switches: BTreeMap<String, SwitchFate> =
        started.switches.iter().map(|label| (label.clone(), fate(label))).collect();
    LastCampaign { record: record.display().to_string(), switches, failing }
}
