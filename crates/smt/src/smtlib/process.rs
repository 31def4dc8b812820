//! An SMT-LIB 2 solver as a child process.
//!
//! The child is started with the first question and again after it died. Two threads
//! carry text to and from it, so that neither a full pipe nor a silent child can block
//! a question beyond its deadline: then the child is killed.
//!
//! *Promises* that a missing, dying or hung solver gives
//! [`Unknown`](crate::solver::SolverAnswer::Unknown) with a reason, and that the next question
//! starts afresh.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use thiserror::Error;

use super::read::{self, Sexp};
use super::write;
use crate::backend::{Backend, IncrementalSolver, Stopper};
use crate::solver::{SolverDecision, SolverLimits, UnknownReason};

/// The commands sent to every solver first.
const PREAMBLE: &str =
    "(set-option :print-success false)\n(set-option :produce-models true)\n(set-logic ALL)\n";

/// The time limit for reading values. The check is over by then, so this only guards against a solver that hangs;
/// chosen by feel.
const READ_VALUES_TIMEOUT: Duration = Duration::from_secs(10);

/// A solver program.
#[derive(Debug)]
pub struct SolverProcess {
    command: Vec<String>,
    pipe: Option<SolverPipe>,
    child: Arc<Mutex<ChildSlot>>,
    /// Text not sent yet; it is sent with the next command that has an answer.
    pending: String,
}

/// The running child, shared with the stopper.
#[derive(Debug, Default)]
struct ChildSlot {
    child: Option<Child>,
    /// True if a stopper killed it.
    stopped: bool,
}

/// The reason why a solver program does not run.
#[derive(Debug, Error)]
enum SolverStartError {
    #[error("no solver program is named")]
    NoProgram,
    #[error("cannot start solver `{program}`: {error}")]
    Program { program: String, error: io::Error },
    #[error("the solver has no pipe")]
    NoPipe,
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl From<SolverStartError> for UnknownReason {
    fn from(error: SolverStartError) -> Self {
        Self::Error(error.to_string())
    }
}

/// The channels to the writing thread and from the reading thread.
#[derive(Debug)]
struct SolverPipe {
    to: Sender<String>,
    from: Receiver<String>,
}

/// The solver program `command` (program and arguments) as a
/// [`Solver`](crate::solver::Solver): `z3 -in`, `cvc5 --incremental`.
#[must_use]
pub fn solver(command: &[String], limits: SolverLimits) -> IncrementalSolver<SolverProcess> {
    IncrementalSolver::new(SolverProcess::new(command), limits)
}

impl SolverProcess {
    /// Makes a back-end for `command`: the program, then its arguments. The process starts with the first question.
    #[must_use]
    pub fn new(command: &[String]) -> Self {
        Self { command: command.to_vec(), pipe: None, child: Arc::default(), pending: String::new() }
    }

    fn lock_slot(&self) -> MutexGuard<'_, ChildSlot> {
        lock_child(&self.child)
    }

    fn ensure_started(&mut self) -> Result<&SolverPipe, UnknownReason> {
        if self.pipe.is_none() {
            let pipe = self.spawn()?;
            self.pipe = Some(pipe);
        }
        self.pipe.as_ref().ok_or_else(|| SolverStartError::NoPipe.into())
    }

    /// Starts the solver.
    fn spawn(&mut self) -> Result<SolverPipe, SolverStartError> {
        let (program, args) = self.command.split_first().ok_or(SolverStartError::NoProgram)?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| SolverStartError::Program { program: program.clone(), error })?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        *self.lock_slot() = ChildSlot { child: Some(child), stopped: false };
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(SolverStartError::NoPipe);
        };
        let (to, to_child) = channel();
        let (from_child, from) = channel();
        let writer =
            thread::Builder::new().name("solver-in".into()).spawn(move || write_to_child(stdin, &to_child));
        let reader =
            thread::Builder::new().name("solver-out".into()).spawn(move || read_answers(stdout, &from_child));
        // The threads end by themselves when the child does: its pipes are closed then.
        writer.and(reader).map_err(SolverStartError::Thread)?;
        // If the writer is gone already, the first question finds that out.
        let _ = to.send(PREAMBLE.to_owned());
        Ok(SolverPipe { to, from })
    }

    /// Sends the pending text and `command`, and waits for one answer.
    fn ask_child(&mut self, command: &str, wall: Duration) -> Result<Sexp, UnknownReason> {
        let deadline = Instant::now().checked_add(wall);
        let mut text = std::mem::take(&mut self.pending);
        text.push_str(command);
        let pipe = self.ensure_started()?;
        // Sent by a thread of its own: a solver that does not read would block here beyond the deadline.
        let sent = pipe.to.send(text).map_err(|_| RecvTimeoutError::Disconnected);
        let answer = sent.and_then(|()| receive_until(&pipe.from, deadline));
        match answer {
            Ok(text) => read::parse_sexp(&text)
                .ok_or_else(|| UnknownReason::Error(format!("unreadable answer `{}`", shorten(&text)))),
            Err(RecvTimeoutError::Timeout) => Err(UnknownReason::Time),
            Err(RecvTimeoutError::Disconnected) => Err(self.exit_reason()),
        }
    }

    /// Returns the reason to report for a child that is gone.
    fn exit_reason(&self) -> UnknownReason {
        let mut slot = self.lock_slot();
        // Killed on purpose is no defect of the solver.
        if slot.stopped {
            return UnknownReason::Interrupted;
        }
        let status = slot.child.as_mut().and_then(|child| child.wait().ok());
        let status = status.map_or_else(|| "no status".to_owned(), |status| status.to_string());
        UnknownReason::Error(format!(
            "solver `{}` ended before it answered ({status})",
            self.command.join(" ")
        ))
    }
}

fn lock_child(slot: &Mutex<ChildSlot>) -> MutexGuard<'_, ChildSlot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill_child(slot: &mut ChildSlot) {
    if let Some(child) = &mut slot.child {
        // It may be gone already, which is as good.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn receive_until(from: &Receiver<String>, deadline: Option<Instant>) -> Result<String, RecvTimeoutError> {
    match deadline {
        Some(deadline) => from.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        None => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// Cuts a text for a message.
fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Writes texts to the child until either side is gone.
fn write_to_child(mut stdin: ChildStdin, texts: &Receiver<String>) {
    while let Ok(text) = texts.recv() {
        if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Cuts the output of the child into answers until either side is gone.
fn read_answers(stdout: ChildStdout, answers: &Sender<String>) {
    let mut cutter = Cutter::default();
    let mut buffer = [0; 4096];
    let mut stdout = BufReader::new(stdout);
    while let Ok(n) = stdout.read(&mut buffer) {
        if n == 0 {
            return;
        }
        for &byte in &buffer[..n] {
            if let Some(answer) = cutter.push_byte(byte)
                && answers.send(answer).is_err()
            {
                return;
            }
        }
    }
}

/// A splitter that finds the end of an answer: its closing parenthesis, or white space after a word.
#[derive(Default)]
struct Cutter {
    text: Vec<u8>,
    depth: usize,
    /// The quote character of the string or symbol being read, if inside one.
    quote: Option<u8>,
}

impl Cutter {
    fn push_byte(&mut self, byte: u8) -> Option<String> {
        if let Some(quote) = self.quote {
            self.text.push(byte);
            // A doubled quote inside a string ends it and begins another one at once, which is right for finding
            // the end.
            self.quote = (byte != quote).then_some(quote);
            return None;
        }
        let space = byte.is_ascii_whitespace();
        if space && self.depth == 0 {
            return self.take_answer();
        }
        self.text.push(byte);
        match byte {
            b'"' | b'|' => self.quote = Some(byte),
            b'(' => self.depth += 1,
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return self.take_answer();
                }
            }
            _ => (),
        }
        None
    }

    fn take_answer(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
    }
}

/// Returns the message of `(error "…")`.
fn error_text(answer: &Sexp) -> Option<&str> {
    match answer {
        Sexp::List(list) => match &**list {
            [Sexp::Atom(head), Sexp::Text(text)] if head == "error" => Some(text),
            _ => None,
        },
        Sexp::Atom(_) | Sexp::Text(_) => None,
    }
}

impl Backend for SolverProcess {
    fn name(&self) -> &'static str {
        "process"
    }

    fn push(&mut self) -> Result<(), UnknownReason> {
        // These commands have no answer (`print-success` is off), so they travel with the next one that has.
        self.pending.push_str("(push 1)\n");
        Ok(())
    }

    fn pop(&mut self, n: usize) -> Result<(), UnknownReason> {
        self.pending.push_str(&format!("(pop {n})\n"));
        Ok(())
    }

    fn declare(&mut self, pool: &TermPool, var: VarId) -> Result<(), UnknownReason> {
        write::write_declaration(pool, var, &mut self.pending);
        Ok(())
    }

    fn assert(&mut self, pool: &TermPool, fact: Term) -> Result<(), UnknownReason> {
        Ok(write::write_assertion(pool, fact, &mut self.pending)?)
    }

    fn check(&mut self, limits: SolverLimits) -> SolverDecision {
        let answer = match self.ask_child("(check-sat)\n", limits.wall) {
            Ok(answer) => answer,
            Err(why) => return SolverDecision::Unknown(why),
        };
        match &answer {
            Sexp::Atom(word) if word == "sat" => SolverDecision::Sat,
            Sexp::Atom(word) if word == "unsat" => SolverDecision::Unsat,
            Sexp::Atom(word) if word == "unknown" => SolverDecision::Unknown(UnknownReason::Incomplete),
            other => {
                let text = error_text(other).map_or_else(|| format!("{other:?}"), str::to_owned);
                SolverDecision::Unknown(UnknownReason::Error(shorten(&text)))
            }
        }
    }

    fn values(&mut self, pool: &TermPool, vars: &[VarId]) -> Result<Valuation, UnknownReason> {
        if vars.is_empty() {
            return Ok(Valuation::new());
        }
        let names: Vec<String> = vars.iter().map(|&var| write::var_name(pool, var)).collect();
        let answer = self.ask_child(&format!("(get-value ({}))\n", names.join(" ")), READ_VALUES_TIMEOUT)?;
        let unreadable =
            || UnknownReason::Error(format!("unreadable values `{}`", shorten(&format!("{answer:?}"))));
        let Sexp::List(pairs) = &answer else { return Err(unreadable()) };
        // One value for each name, in the order asked (SMT-LIB 2.6, 4.2.6).
        if pairs.len() != vars.len() {
            return Err(unreadable());
        }
        let pair = |(&var, pair): (&VarId, &Sexp)| {
            let Sexp::List(pair) = pair else { return None };
            Some((var, read::parse_value(pair.get(1)?, pool.var_info(var).sort)?))
        };
        vars.iter().zip(pairs).map(pair).collect::<Option<Valuation>>().ok_or_else(unreadable)
    }

    fn stopper(&self) -> Stopper {
        let slot = Arc::clone(&self.child);
        Box::new(move || {
            let mut slot = lock_child(&slot);
            slot.stopped = true;
            kill_child(&mut slot);
        })
    }

    fn renew(&mut self) {
        self.pending.clear();
        // Dropping the channels ends the threads; what the old child still says is read by nobody.
        self.pipe = None;
        let mut slot = self.lock_slot();
        kill_child(&mut slot);
        *slot = ChildSlot::default();
    }
}

impl Drop for SolverProcess {
    fn drop(&mut self) {
        kill_child(&mut self.lock_slot());
    }
}
