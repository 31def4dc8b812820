//! A running campaign: it sends batches, takes in their results, and writes a journal to continue from.
//!
//! The truth about what is done is in the parts. The journal has what they cannot say: which units were tried in vain.
//! So a campaign whose driver was killed goes on from its directory:
//!
//! ```text
//! campaign.json      of which plan it is
//! rounds/2.json      what is known when round 2 begins
//! journal.jsonl      what was sent, how it ended, what was tried in vain
//! parts/000001/      the part of a batch;  parts/000001.log  what its worker said
//! ```

mod journal;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use thiserror::Error;

use self::journal::{FailedTries, open_journal};
use crate::engine::{CampaignEngine, EngineError, WorkOrder, WorkerEnd, last_words};
use crate::leases::Leases;
use crate::part::{EndOfPart, MANIFEST, Manifest, PartError, UNITS};
use crate::scan::{ScannedPart, parts_in, scan};
use crate::schedule::{
    BatchEnd, BatchReport, CampaignTally, QuarantinedUnit, Schedule, ScheduleConfig, UnitBatch,
};
use crate::units::UnitSet;

/// The longest single wait for a worker. Chosen by feel: an interrupt is noticed this late at most.
const MAX_WORKER_WAIT: Duration = Duration::from_millis(200);
/// The time that workers have to end after they were asked to. Chosen by feel: long enough to finish the run they are
/// in and to write it down; then they are ended.
const WORKER_EXIT_GRACE: Duration = Duration::from_secs(20);
/// The exit code of a worker that had trouble with its system. One of the exit codes of `ioxide test`, which scripts
/// rely on.
const NO_SYSTEM: i32 = 6;
/// The time for which no shared system may answer before the campaign fails. Chosen by feel: long enough for a
/// service to restart.
const UNANSWERED_TIMEOUT: Duration = Duration::from_secs(60);
/// The number of batches in a row, per worker, that may complete no unit before the campaign fails. Chosen by feel:
/// once may be an accident, three times in a row of every worker is not.
const MAX_IDLE_BATCHES: u64 = 3;

/// The reason why a campaign cannot go on.
#[derive(Debug, Error)]
pub enum DriveError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A part cannot be read.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A file or directory cannot be read or written.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The directory is of another campaign.
    #[error("`{}` has another campaign: {differs}", dir.display())]
    Other {
        /// The directory.
        dir: PathBuf,
        /// The difference.
        differs: String,
    },
    /// Another process drives the campaign in this directory.
    #[error("another ioxide drives the campaign in `{}`", .0.display())]
    Busy(PathBuf),
    /// A worker refused the command: it ended with exit code 2, 3 or 4 and completed no unit.
    #[error("a worker ended with exit code {code}: {said}")]
    Worker {
        /// Its exit code.
        code: i32,
        /// The last lines of its log.
        said: String,
    },
    /// Too many batches in a row completed no unit.
    #[error("the last {batches} batches completed no unit; the last worker wrote: {said}")]
    InVain {
        /// The number of these batches.
        batches: u64,
        /// The last lines of the log of the last worker.
        said: String,
    },
}

/// The wish of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverRequest {
    /// Go on.
    GoOn,
    /// Do no unit after this one.
    StopAfter(u64),
    /// Do no further unit.
    Stop,
}

/// An observer of a campaign.
pub trait CampaignObserver {
    /// Reports the progress; called before every wait for workers.
    fn progress(&mut self, tally: &CampaignTally, elapsed: Duration) -> ObserverRequest;

    /// Reports a part whose worker has ended.
    fn report_part(&mut self, part: &ScannedPart) -> ObserverRequest;

    /// Reports that the system at an address did not answer and is not used for `rest`; `said` are the last lines of
    /// the log.
    fn resting(&mut self, _address: &str, _rest: Duration, _said: &str) {}
}

/// A campaign in its directory.
pub struct CampaignDrive {
    dir: PathBuf,
    args: Vec<String>,
    /// The addresses of shared systems; `None` if systems are not shared.
    leases: Option<Leases>,
    /// The time, since the start, at which a shared system last answered.
    answered: Duration,
    schedule: Schedule,
    /// The failed tries of units before this process began.
    tried: FailedTries,
    /// The file with the feedback of this round.
    feedback: Option<PathBuf>,
    /// The unit after which no unit is wanted; `None` for no such limit.
    last: Option<u64>,
    started_at: Instant,
    journal: File,
    out: BTreeMap<u64, SentBatch>,
    in_vain: u64,
    workers: u64,
    /// The number of results that came for units that were done already.
    pub twice: u64,
}

/// A batch that is out.
struct SentBatch {
    part: PathBuf,
    log: PathBuf,
    worker: u64,
    lease: Option<String>,
}

/// The end of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignEnd {
    /// The tally at the end.
    pub tally: CampaignTally,
    /// The units that were quarantined.
    pub quarantined: BTreeMap<u64, QuarantinedUnit>,
    /// True if the observer stopped it.
    pub is_stopped: bool,
    /// The unit after which no unit was wanted; `None` if all were.
    pub last: Option<u64>,
    /// The time since this process opened the campaign.
    pub elapsed: Duration,
}

impl CampaignDrive {
    /// Opens the campaign `manifest` in `dir`, a new one or one that goes on; no unit is wanted yet.
    ///
    /// # Errors
    /// If the directory has another campaign, or cannot be used.
    pub fn open(
        dir: &Path,
        manifest: &Manifest,
        config: ScheduleConfig,
        leases: Vec<String>,
    ) -> Result<Self, DriveError> {
        let parts = dir.join("parts");
        fs::create_dir_all(&parts).map_err(|error| DriveError::Io { path: parts.clone(), error })?;
        let dir = fs::canonicalize(dir).map_err(|error| DriveError::Io { path: dir.into(), error })?;
        let (journal, tried) = open_journal(&dir, manifest)?;
        let (mut done, mut next) = (UnitSet::new(), 1);
        // A worker of the driver before may still write, or have no more than a folder yet: read too early, its last
        // units would be done again, and its folder must not be given to another worker.
        for folder in fs::read_dir(&parts).into_iter().flatten().flatten() {
            next = next.max(part_number(&folder.path()) + 1);
            wait_for_orphan(&folder.path());
        }
        for part in parts_in(&dir)? {
            next = next.max(part_number(&part) + 1);
            let part = scan(&part)?;
            if let Some(differs) = part.manifest.differs(manifest) {
                return Err(DriveError::Other { dir: part.dir, differs });
            }
            done.extend(&part.units());
        }
        let workers = config.workers as u64;
        let schedule = Schedule::new(config, 0, done, next);
        let leases = (!leases.is_empty()).then(|| Leases::new(leases));
        let args = manifest.args.clone();
        Ok(Self {
            dir,
            args,
            leases,
            answered: Duration::ZERO,
            schedule,
            tried,
            feedback: None,
            last: None,
            started_at: Instant::now(),
            journal,
            out: BTreeMap::new(),
            in_vain: 0,
            workers,
            twice: 0,
        })
    }

    /// Asks for these units too; `feedback` is the file with the feedback of their round.
    pub fn request_units(&mut self, units: &UnitSet, feedback: Option<PathBuf>) {
        self.feedback = feedback;
        self.schedule.request_units(units);
        self.tried.iter().for_each(|(&unit, (tries, why))| self.schedule.remember(unit, *tries, why));
    }

    /// The units that are done.
    #[must_use]
    pub const fn done_units(&self) -> &UnitSet {
        self.schedule.done_units()
    }

    /// Reports to `watch` the parts that are in the directory already.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn recall(&mut self, watch: &mut dyn CampaignObserver) -> Result<(), DriveError> {
        for part in parts_in(&self.dir)? {
            let part = scan(&part)?;
            self.follow_observer(watch, &part);
        }
        Ok(())
    }

    /// Reports `part` to the observer and follows its wish; a part that ended with a failure stops the campaign after
    /// it.
    fn follow_observer(&mut self, watch: &mut dyn CampaignObserver, part: &ScannedPart) {
        match watch.report_part(part) {
            ObserverRequest::StopAfter(unit) => self.stop_after(unit),
            ObserverRequest::Stop => self.schedule.stop(),
            ObserverRequest::GoOn if part.end == Some(EndOfPart::Failure) => {
                part.failed.into_iter().for_each(|unit| self.stop_after(unit));
            }
            ObserverRequest::GoOn => (),
        }
    }

    fn stop_after(&mut self, unit: u64) {
        self.last = Some(self.last.map_or(unit, |last| last.min(unit)));
        self.schedule.stop_after(unit);
    }

    /// Sends batches until all units that are wanted are done or quarantined, or the observer stops it.
    ///
    /// # Errors
    /// If the engine fails, the directory cannot be used, or workers complete nothing; what was done is in the parts.
    pub fn run(
        &mut self,
        engine: &mut dyn CampaignEngine,
        watch: &mut dyn CampaignObserver,
    ) -> Result<CampaignEnd, DriveError> {
        let started_at = self.started_at;
        let mut stopped: Option<Instant> = None;
        let ended = loop {
            match watch.progress(&self.schedule.tally(), started_at.elapsed()) {
                ObserverRequest::Stop if stopped.is_none() => {
                    self.schedule.stop();
                    engine.stop();
                    stopped = Some(Instant::now());
                }
                ObserverRequest::StopAfter(unit) => self.stop_after(unit),
                ObserverRequest::Stop | ObserverRequest::GoOn => (),
            }
            if stopped.is_some_and(|since| since.elapsed() > WORKER_EXIT_GRACE) {
                engine.kill();
                break Ok(());
            }
            if stopped.is_none() {
                self.fill_workers(engine, started_at.elapsed())?;
            }
            if self.schedule.is_over() || stopped.is_some() && self.out.is_empty() {
                break Ok(());
            }
            if self.out.is_empty() {
                // All shared systems rest, so the engine has nothing to wait for.
                std::thread::sleep(MAX_WORKER_WAIT / 4);
            }
            let ended = engine.poll(MAX_WORKER_WAIT)?;
            let taken = ended
                .into_iter()
                .try_for_each(|(id, end)| self.take_part(id, end, watch, started_at.elapsed()));
            if taken.is_err() {
                engine.kill();
                break taken;
            }
        };
        ended?;
        Ok(CampaignEnd {
            tally: self.schedule.tally(),
            quarantined: self.schedule.quarantined().clone(),
            is_stopped: stopped.is_some() || self.schedule.is_stopped(),
            last: self.last,
            elapsed: started_at.elapsed(),
        })
    }

    /// Gives every free worker a batch.
    fn fill_workers(&mut self, engine: &mut dyn CampaignEngine, now: Duration) -> Result<(), DriveError> {
        while self.leases.as_ref().is_none_or(|leases| leases.has_one(now)) {
            let Some(batch) = self.schedule.next(now) else { return Ok(()) };
            let lease = self.leases.as_mut().and_then(|leases| leases.take_address(now));
            let order = self.order(&batch, lease)?;
            engine.submit(order)?;
        }
        Ok(())
    }

    /// Writes the batch into the journal and returns the order for its worker, which gets the lowest free number.
    fn order(&mut self, batch: &UnitBatch, lease: Option<String>) -> Result<WorkOrder, DriveError> {
        let taken: Vec<u64> = self.out.values().map(|sent| sent.worker).collect();
        // The lowest free number: systems derive ports and folders from it, so there must be no more numbers than
        // workers.
        let worker = (1..).find(|worker| !taken.contains(worker)).unwrap_or_default();
        let units = batch.units.to_string();
        self.write_journal(&json!({ "batch": batch.id, "units": units, "try": batch.tries + 1 }))?;
        let part = self.dir.join("parts").join(format!("{:06}", batch.id));
        let address = lease.iter().map(|lease| ("IOXIDE_ADDRESS".to_owned(), lease.clone()));
        let env = std::iter::once(("IOXIDE_WORKER".to_owned(), worker.to_string())).chain(address).collect();
        let mut args: Vec<String> = self.args.iter().cloned().chain(["--units".to_owned(), units]).collect();
        if let Some(feedback) = &self.feedback {
            args.extend(["--feedback".to_owned(), feedback.display().to_string()]);
        }
        let files = self.feedback.iter().cloned().collect();
        let order = WorkOrder { id: batch.id, part: part.clone(), args, env, files };
        self.out.insert(batch.id, SentBatch { part, log: order.log(), worker, lease });
        Ok(order)
    }

    /// Takes in the part of a worker that has ended.
    fn take_part(
        &mut self,
        id: u64,
        end: WorkerEnd,
        watch: &mut dyn CampaignObserver,
        now: Duration,
    ) -> Result<(), DriveError> {
        let Some(sent) = self.out.remove(&id) else { return Ok(()) };
        // A worker that died before it began has left nothing.
        let part = sent.part.join(MANIFEST).exists().then(|| scan(&sent.part)).transpose()?;
        let done = part.as_ref().map(ScannedPart::units).unwrap_or_default();
        let said = || last_words(&sent.log).unwrap_or_else(|| "it printed nothing".into());
        let is_over = part.as_ref().is_some_and(|part| part.end.is_some());
        // A system that does not answer is the fault of its address, not of the unit: the address rests, and the units
        // go back without a failed try.
        let is_silent =
            matches!(end, WorkerEnd::Exit(NO_SYSTEM)) && part.as_ref().is_none_or(ScannedPart::is_untouched);
        if let (Some(leases), Some(lease)) = (&mut self.leases, sent.lease) {
            if is_silent {
                let rest = leases.return_silent(lease.clone(), now);
                watch.resting(&lease, rest, &said());
                return self.put_back_unanswered(id, &said(), now);
            }
            leases.return_healthy(lease);
            self.answered = now;
        }
        let batch_end = match &end {
            // A wrong argument or a broken model fails the same way everywhere: it is the campaign that is wrong.
            WorkerEnd::Exit(code @ (2..=4)) if done.is_empty() => {
                return Err(DriveError::Worker { code: *code, said: said() });
            }
            WorkerEnd::Exit(_) if is_over => BatchEnd::Ended,
            WorkerEnd::Exit(code) => death_of_worker(part.as_ref(), format!("exit code {code}: {}", said())),
            WorkerEnd::Died(how) => death_of_worker(part.as_ref(), how.clone()),
        };
        let how = match &batch_end {
            BatchEnd::Ended => "ended".to_owned(),
            BatchEnd::Died { how, .. } => how.clone(),
        };
        self.write_journal(&json!({ "ended": id, "done": done.len(), "how": how }))?;
        let worked = part.as_ref().and_then(|part| part.worked);
        let left = part.as_ref().map_or(&[][..], |part| &part.left);
        let report = BatchReport { done: &done, left, end: &batch_end, worked };
        let told = self.schedule.end_batch(id, &report, now);
        self.twice += told.twice;
        told.blamed.iter().try_for_each(|(unit, why)| self.record_failed_try(*unit, why))?;
        // Batches in a row without a unit mean that workers cannot work at all, unless units were quarantined: then it
        // is these units that fail.
        self.in_vain = if done.is_empty() { self.in_vain + 1 } else { 0 };
        if self.in_vain >= MAX_IDLE_BATCHES * self.workers.max(2) && self.schedule.quarantined().is_empty() {
            return Err(DriveError::InVain { batches: self.in_vain, said: said() });
        }
        part.into_iter().for_each(|part| self.follow_observer(watch, &part));
        Ok(())
    }

    /// Puts the units of a batch back whose shared system did not answer; fails if none has answered for too long.
    fn put_back_unanswered(&mut self, id: u64, said: &str, now: Duration) -> Result<(), DriveError> {
        self.write_journal(&json!({ "ended": id, "done": 0, "how": format!("no answer: {said}") }))?;
        let report = BatchReport { done: &UnitSet::new(), left: &[], end: &BatchEnd::Ended, worked: None };
        self.schedule.end_batch(id, &report, now);
        self.in_vain += 1;
        if now.saturating_sub(self.answered) > UNANSWERED_TIMEOUT {
            Err(DriveError::InVain { batches: self.in_vain, said: said.to_owned() })
        } else {
            Ok(())
        }
    }

    /// Notes a failed try of a unit in the journal.
    fn record_failed_try(&mut self, unit: u64, why: &str) -> Result<(), DriveError> {
        let tries = self.schedule.tries(unit);
        self.write_journal(&json!({ "tried": unit + 1, "tries": tries, "why": why }))
    }

    fn write_journal(&mut self, line: &Json) -> Result<(), DriveError> {
        let written = self.journal.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| DriveError::Io { path: self.dir.join("journal.jsonl"), error })
    }
}

/// Returns the number that is the name of the folder of a part; zero if it has another name.
fn part_number(folder: &Path) -> u64 {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.parse().ok()).unwrap_or_default()
}

/// Waits, for a bounded time, for the worker of a driver that was killed: its standard input was closed, so it ends
/// soon.
fn wait_for_orphan(part: &Path) {
    let started_at = Instant::now();
    while let Ok(file) = File::open(part.join(UNITS))
        && let Err(TryLockError::WouldBlock) = file.try_lock()
        && started_at.elapsed() < WORKER_EXIT_GRACE
    {
        std::thread::sleep(MAX_WORKER_WAIT);
    }
}

/// Returns the end of a worker that died, with the unit that its part was at.
fn death_of_worker(part: Option<&ScannedPart>, how: String) -> BatchEnd {
    BatchEnd::Died { under_way: part.and_then(|part| part.under_way), how }
}

#[cfg(test)]
mod tests;
