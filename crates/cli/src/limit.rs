//! How long a command may think: `--time-limit`, and Ctrl-C.
//!
//! One deadline for the whole command, counted from its start. Every solver and every search of the
//! command has it, so what is left when it passes is left open: results are printed, marked as
//! partial. While a stage takes long, who is asked about the deadline says so on stderr.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ioxide_smt::halt::{Halt, Halted, Signal};

use crate::args::{LimitArgs, TimeLimit};
use crate::exit::ExitStatus;
use crate::interrupt::{self, STOP};
use crate::progress::ProgressLine;

/// The limit where none is given.
const DEFAULT: Duration = Duration::from_secs(600);

/// What ends by itself when the time is over has so long to do so.
const GRACE: Duration = Duration::from_millis(500);

/// How often somebody looks at the clock while work goes on that does not.
const LOOK: Duration = Duration::from_millis(100);

/// When the command began.
static START: OnceLock<Instant> = OnceLock::new();

/// What is being done, for people who wait; empty where somebody else tells them.
static STAGE: Mutex<(&str, Option<ProgressLine>)> = Mutex::new(("", None));

/// Starts the clock of the command.
pub fn start() {
    START.get_or_init(Instant::now);
}

/// The deadline of this command; Ctrl-C counts too from now on.
pub fn halt(args: &LimitArgs) -> Halt {
    halt_within(args, DEFAULT)
}

/// The same, with another limit where none is given.
pub fn halt_within(args: &LimitArgs, default: Duration) -> Halt {
    interrupt::catch_interrupts();
    let limit = match args.thinking.unwrap_or(TimeLimit::Within(default)) {
        TimeLimit::Within(time) => Some(time),
        TimeLimit::Unlimited => None,
    };
    let start = *START.get_or_init(Instant::now);
    // A limit beyond the clock's range is no limit.
    Halt::new(DeadlineSignal { at: limit.and_then(|limit| start.checked_add(limit)) })
}

/// The deadline of a command that goes on for as long as it is told to, unless `--time-limit` says when all of it ends.
/// Who waits for something else is interrupted soon after it.
pub fn whole(args: &LimitArgs) -> Halt {
    interrupt::catch_interrupts();
    let Some(TimeLimit::Within(limit)) = args.thinking else { return Halt::default() };
    let at = START.get_or_init(Instant::now).checked_add(limit);
    if let Some(at) = at {
        std::thread::spawn(move || {
            std::thread::sleep(at.saturating_duration_since(Instant::now()) + GRACE);
            STOP.store(true, Ordering::Relaxed);
        });
    }
    Halt::new(DeadlineSignal { at })
}

/// Whether the time of a command is over that [`whole`] gave one.
pub fn is_over(halt: &Halt) -> bool {
    halt.left().is_some_and(|left| left.is_zero())
}

/// A deadline of its own for something beside the command: so long from now.
pub fn brief(time: Duration) -> Halt {
    from_now(Some(time))
}

/// The same, or none but Ctrl-C.
pub fn from_now(time: Option<Duration>) -> Halt {
    Halt::new(DeadlineSignal { at: time.and_then(|time| Instant::now().checked_add(time)) })
}

/// What `work` gives, if it ends in time.
///
/// It cannot be asked to end: when the time is over, or somebody stops it, the program says so and ends. So `work`
/// writes nothing.
pub fn within<T>(halt: &Halt, work: impl FnOnce() -> T) -> T {
    let (done, ended) = mpsc::channel::<()>();
    let halt = halt.clone();
    std::thread::spawn(move || {
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if let Some(halted) = halt.halted() {
                eprintln!("error: unknown: {halted} before there was a result");
                std::process::exit(status(&halt, ExitStatus::Inconclusive) as i32);
            }
        }
    });
    let made = work();
    drop(done);
    made
}

/// Says on stderr that `what` is being done, once it takes longer than a second, until the guard is dropped.
pub fn stage(what: &'static str) -> WorkStage {
    *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = (what, Some(ProgressLine::patient()));
    WorkStage
}

/// Something that is being done.
#[must_use = "a stage ends when it is dropped"]
pub struct WorkStage;

impl Drop for WorkStage {
    fn drop(&mut self) {
        *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = ("", None);
    }
}

/// The exit status of a command that was halted, else `otherwise`.
pub fn status(halt: &Halt, otherwise: ExitStatus) -> ExitStatus {
    match (halt.halted(), otherwise) {
        // What was found counts, whatever was not looked at.
        (_, found @ (ExitStatus::Failure | ExitStatus::Model)) => found,
        (None, otherwise) => otherwise,
        (Some(Halted::Time), _) => ExitStatus::Inconclusive,
        (Some(Halted::Interrupted), _) => ExitStatus::Interrupted,
    }
}

/// What people are told about results that are not whole.
pub fn partial(halted: Halted) -> String {
    match halted {
        Halted::Time => "partial: the time limit was reached; raise --time-limit to go on longer".to_owned(),
        Halted::Interrupted => "partial: interrupted".to_owned(),
    }
}

struct DeadlineSignal {
    at: Option<Instant>,
}

impl Signal for DeadlineSignal {
    fn halted(&self) -> Option<Halted> {
        if let Ok(mut stage) = STAGE.try_lock()
            && let (what, Some(progress)) = &mut *stage
        {
            progress.tick(|| (*what).to_owned());
        }
        if STOP.load(Ordering::Relaxed) {
            return Some(Halted::Interrupted);
        }
        self.at.is_some_and(|at| Instant::now() >= at).then_some(Halted::Time)
    }

    fn left(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}
