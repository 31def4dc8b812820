//! The journal of a campaign, and of which plan it is.
//!
//! Lines are added and never changed. What was cut off by a crash is no line, and is left out when it is read again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::DriveError;
use crate::part::{Manifest, SystemFacts, system_difference};

/// The name of the format.
const FORMAT: &str = "ioxide-campaign";
/// The version written here.
const VERSION: u32 = 1;

/// The failed tries of each unit: their number, and the reason of the last.
pub(super) type FailedTries = BTreeMap<u64, (u32, String)>;

/// The time for which the lock of a journal is waited for. A driver that was killed while it started a worker leaves
/// the lock with that worker for the moment before it becomes another program; a second is long for that also on a busy
/// machine.
const LOCK_GRACE: Duration = Duration::from_secs(1);

/// The time between two tries to lock a journal. Chosen by feel: short beside [`LOCK_GRACE`], and nobody waits for it.
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// Locks the journal; returns false if another process has locked it.
fn lock_journal(file: &File) -> bool {
    let begun = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if begun.elapsed() >= LOCK_GRACE {
            return false;
        }
        thread::sleep(LOCK_INTERVAL);
    }
    true
}

/// Opens the journal in `dir`; it must be of the plan of `manifest`.
pub(super) fn open_journal(dir: &Path, manifest: &Manifest) -> Result<(File, FailedTries), DriveError> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |error| DriveError::Io { path, error }
    };
    let path = dir.join("journal.jsonl");
    let file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(io(&path))?;
    if !lock_journal(&file) {
        return Err(DriveError::Busy(dir.to_path_buf()));
    }
    let about = dir.join("campaign.json");
    let mine = json!({
        "format": FORMAT, "version": VERSION, "plan": manifest.plan, "tool": manifest.tool,
        "model": manifest.model, "args": manifest.args, "count": manifest.count,
    });
    match fs::read_to_string(&about) {
        Ok(text) => {
            let mut there: Json = serde_json::from_str(&text).unwrap_or_default();
            let other = |differs| Err(DriveError::Other { dir: dir.to_path_buf(), differs });
            let system = there.as_object_mut().and_then(|there| there.remove("system"));
            let system: Option<SystemFacts> = system.and_then(|system| serde_json::from_value(system).ok());
            if there != mine {
                return other(format!("`{}` is of another plan or version", about.display()));
            }
            match (&system, &manifest.system) {
                (Some(before), Some(now)) => {
                    if let Some(why) = system_difference(before, now) {
                        return other(format!("its results are of another system: {why}"));
                    }
                }
                (None, None) => (),
                _ => {
                    return other(
                        "an earlier version of ioxide made it and did not record which system it is for"
                            .into(),
                    );
                }
            }
        }
        Err(_) => {
            let mut mine = mine;
            if let Some(system) = &manifest.system {
                mine["system"] = json!(system);
            }
            let aside = dir.join(".campaign.json.part");
            fs::write(&aside, format!("{mine:#}\n")).map_err(io(&aside))?;
            fs::rename(&aside, &about).map_err(io(&about))?;
        }
    }
    let text = fs::read_to_string(&path).map_err(io(&path))?;
    let mut journal = file;
    if !text.is_empty() && !text.ends_with('\n') {
        // What was cut off does not spoil the next line.
        journal.write_all(b"\n").map_err(io(&path))?;
    }
    Ok((journal, tried_in(&text)))
}

fn tried_in(journal: &str) -> FailedTries {
    let mut tried = FailedTries::new();
    for line in journal.lines() {
        let Ok(told) = serde_json::from_str::<Json>(line) else { continue };
        let number = |name: &str| told.get(name).and_then(Json::as_u64);
        let (Some(unit), Some(tries)) = (number("tried"), number("tries")) else { continue };
        let why = told.get("why").and_then(Json::as_str).unwrap_or_default().to_owned();
        tried.insert(unit.saturating_sub(1), (u32::try_from(tries).unwrap_or(u32::MAX), why));
    }
    tried
}
