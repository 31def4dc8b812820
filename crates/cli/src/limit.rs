//! The time limit of a command: `--time-limit`, and Ctrl-C.
//!
//! One deadline for the whole command, counted from its start. Every solver and every search of the command has it, so
//! what is left when it passes is left open: results are printed, marked as partial. Files are read and compiled within
//! it too; there is no partial result of that. While a stage takes long, checks
//! of the deadline also show on stderr what is being done.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ioxide_args::{LimitArgs, TimeLimit};
use ioxide_smt::halt::{Halt, Halted, Signal};

use crate::exit::ExitStatus;
use crate::interrupt::{self, STOP};
use crate::progress::ProgressLine;

/// The limit where none is given. Chosen by feel.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(600);

/// The time after the deadline that work has to end by itself before it is interrupted. Chosen by feel.
const DEADLINE_GRACE: Duration = Duration::from_millis(500);

/// The interval at which the deadline is checked while work goes on that does not check it. Chosen by feel.
const DEADLINE_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The instant at which the command began.
static START: OnceLock<Instant> = OnceLock::new();

/// The `--time-limit` of the command; `None` if it was not given.
static GIVEN: OnceLock<Option<TimeLimit>> = OnceLock::new();

/// The stages of the command that are under way.
static STAGES: Mutex<StageStack> = Mutex::new(StageStack { begun: 0, open: Vec::new() });

/// Starts the clock of the command.
pub fn start_clock() {
    START.get_or_init(Instant::now);
}

/// Sets the time limit within which files are read and compiled.
pub fn set_limit(limit: Option<TimeLimit>) {
    GIVEN.get_or_init(|| limit);
}

/// The deadline of this command; Ctrl-C counts too from now on.
pub fn halt(args: &LimitArgs) -> Halt {
    halt_within(args, DEFAULT_TIME_LIMIT)
}

/// Returns the deadline of this command, with `default` where `--time-limit` is not given.
pub fn halt_within(args: &LimitArgs, default: Duration) -> Halt {
    interrupt::catch_interrupts();
    let limit = args.time_limit.unwrap_or(TimeLimit::Within(default)).time();
    let start = *START.get_or_init(Instant::now);
    // A limit beyond the clock's range is no limit.
    Halt::new(DeadlineSignal { at: limit.and_then(|limit| start.checked_add(limit)) })
}

/// Returns the deadline of a command that has none of its own, unless `--time-limit` gives one. Soon after it, waiting
/// for the system is interrupted.
pub fn command_halt(args: &LimitArgs) -> Halt {
    interrupt::catch_interrupts();
    let Some(TimeLimit::Within(limit)) = args.time_limit else { return Halt::default() };
    let at = START.get_or_init(Instant::now).checked_add(limit);
    if let Some(at) = at {
        std::thread::spawn(move || {
            std::thread::sleep(at.saturating_duration_since(Instant::now()) + DEADLINE_GRACE);
            STOP.store(true, Ordering::Relaxed);
        });
    }
    Halt::new(DeadlineSignal { at })
}

/// Returns whether the deadline that [`command_halt`] gave a command has passed; false if it gave none.
pub fn is_deadline_over(halt: &Halt) -> bool {
    halt.time_left().is_some_and(|left| left.is_zero())
}

/// Returns a deadline that is independent of the command, `time` from now; Ctrl-C counts too.
pub fn brief(time: Duration) -> Halt {
    from_now(Some(time))
}

/// Returns a deadline `time` from now, or only Ctrl-C if there is none.
pub fn from_now(time: Option<Duration>) -> Halt {
    Halt::new(DeadlineSignal { at: time.and_then(|time| Instant::now().checked_add(time)) })
}

/// Returns the result of `work`, if it ends in time.
///
/// `work` cannot be asked to end: at the deadline or at Ctrl-C the program prints an error and exits. So `work` writes
/// nothing.
pub fn run_within<T>(halt: &Halt, work: impl FnOnce() -> T) -> T {
    let (done, ended) = mpsc::channel::<()>();
    let halt = halt.clone();
    std::thread::spawn(move || {
        while ended.recv_timeout(DEADLINE_POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if let Some(halted) = halt.halt_reason() {
                eprintln!("error: unknown: {halted} before there was a result");
                std::process::exit(halted_status(&halt, ExitStatus::Inconclusive) as i32);
            }
        }
    });
    let made = work();
    drop(done);
    made
}

/// Returns the result of `work`, which reads or compiles files and writes nothing, if it ends within the time limit of
/// the command; without `--time-limit`, within ten minutes from now.
pub fn reading<T>(work: impl FnOnce() -> T) -> T {
    let at = match GIVEN.get().copied().flatten() {
        Some(TimeLimit::Within(limit)) => START.get_or_init(Instant::now).checked_add(limit),
        Some(TimeLimit::Unlimited) => None,
        None => Instant::now().checked_add(DEFAULT_TIME_LIMIT),
    };
    run_within(&Halt::new(DeadlineSignal { at }), work)
}

/// Shows on stderr that `what` is being done, once it takes longer than two seconds, until the guard is dropped.
pub fn stage(what: &'static str) -> WorkStage {
    WorkStage(STAGES.lock().unwrap_or_else(PoisonError::into_inner).begin_stage(what))
}

/// A stage of a command, which ends when it is dropped; a stage around it is then shown again.
#[must_use = "a stage ends when it is dropped"]
pub struct WorkStage(u64);

impl Drop for WorkStage {
    fn drop(&mut self) {
        STAGES.lock().unwrap_or_else(PoisonError::into_inner).end_stage(self.0);
    }
}

/// Stages within stages: the one that began last is shown.
pub struct StageStack {
    /// The number of stages so far.
    pub begun: u64,
    /// Those that have not ended.
    pub open: Vec<OpenStage>,
}

/// A stage that has not ended.
pub struct OpenStage {
    id: u64,
    /// The work of the command, for people.
    pub what: &'static str,
    progress: ProgressLine,
}

impl StageStack {
    /// Begins a stage within the others; returns its number.
    pub fn begin_stage(&mut self, what: &'static str) -> u64 {
        self.begun += 1;
        self.open.push(OpenStage { id: self.begun, what, progress: ProgressLine::patient() });
        self.begun
    }

    /// Ends a stage, which need not be the last one: stages of several threads end in any order.
    pub fn end_stage(&mut self, id: u64) {
        self.open.retain(|stage| stage.id != id);
    }

    /// Returns the stage that is shown, if one is open.
    pub fn shown_stage(&mut self) -> Option<&mut OpenStage> {
        self.open.last_mut()
    }
}

/// The exit status of a command that was halted, else `otherwise`.
pub fn halted_status(halt: &Halt, otherwise: ExitStatus) -> ExitStatus {
    match (halt.halt_reason(), otherwise) {
        // What was found counts, whatever was not looked at.
        (_, found @ (ExitStatus::Failure | ExitStatus::Model)) => found,
        (None, otherwise) => otherwise,
        (Some(Halted::Time), _) => ExitStatus::Inconclusive,
        (Some(Halted::Interrupted), _) => ExitStatus::Interrupted,
    }
}

/// Returns the remark on results that are not complete.
pub fn partial(halted: Halted) -> String {
    match halted {
        Halted::Time => "partial: the time limit was reached; raise --time-limit to continue".to_owned(),
        Halted::Interrupted => "partial: interrupted".to_owned(),
    }
}

struct DeadlineSignal {
    at: Option<Instant>,
}

impl Signal for DeadlineSignal {
    fn halt_reason(&self) -> Option<Halted> {
        if let Ok(mut stages) = STAGES.try_lock()
            && let Some(stage) = stages.shown_stage()
        {
            stage.progress.tick(|| stage.what.to_owned());
        }
        if STOP.load(Ordering::Relaxed) {
            return Some(Halted::Interrupted);
        }
        self.at.is_some_and(|at| Instant::now() >= at).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}
