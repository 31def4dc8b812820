//! The errors of sessions, as the end of the command: status, sentence, and what to do next.

use ioxide_args::LearnArgs;
use ioxide_learn::session::SessionError;
use ioxide_run::answers::AnswerError;
use ioxide_smt::halt::{Halt, Halted};

use super::recorded::recorded_error;
use crate::commands::fsm::live::LiveTestError;
use crate::exit::{CliError, ExitStatus};
use crate::limit;

/// Returns the error of a system that failed while it was learned.
pub fn learning_error(error: impl Into<LiveTestError>) -> CliError {
    error.into().into_stop(|said| {
        let message = format!("the system sends different messages before the first input: this time {said}");
        CliError::new(ExitStatus::Inconclusive, message)
    })
}

/// Returns the error of a session that ended without a model.
pub fn session_error(args: &LearnArgs, halt: &Halt, error: SessionError<LiveTestError>) -> CliError {
    let error = match error {
        SessionError::System(LiveTestError::Answer(AnswerError::Halted(halted))) => {
            return halted_error(args, halt, halted);
        }
        SessionError::System(error) => return learning_error(error),
        SessionError::Recorded(error) => return recorded_error(&error),
        error => error,
    };
    let stop = CliError::new(ExitStatus::Inconclusive, error.to_string());
    match help(&error) {
        Some(help) => stop.help(help),
        None => stop,
    }
}

/// Returns what to do about an error; `None` if it says that itself.
fn help(error: &SessionError<LiveTestError>) -> Option<&'static str> {
    Some(match error {
        SessionError::System(_) | SessionError::Recorded(_) => return None,
        SessionError::TwoWays { .. } => {
            "does a reset bring it back to its initial state? do replies take longer than `--silence-ms`? \
             `--unstable majority` accepts the usual reply, `--unstable draft` writes a model with choices"
        }
        SessionError::TwoWaysForValues { .. } => {
            "does a reset bring it back to its initial state? do replies take longer than `--silence-ms`? \
             `--unstable majority` accepts the usual answer"
        }
        SessionError::Incomparable { .. } => {
            "does it compare with a constant? name it with `--constant`. Does it hand out values that inputs \
             give back? name their field with `--made`. Does it calculate with values, or does a reset not \
             bring it to its first state? Then fix the values of its inputs: leave `--data` out"
        }
        SessionError::MadeAndOrdered { .. } => {
            "leave messages whose values are ordered out with `--input`, or try `--compare equality`; or fix \
             the values of its inputs: leave `--data` out"
        }
        SessionError::TooManyRegisters(_) => {
            "can the system hold any number of values? then it is not a register automaton"
        }
        SessionError::TooManyMade(_) => {
            "does it answer with a list? Then fix the values of its inputs: leave `--data` out"
        }
        SessionError::NoMachine { .. } => {
            "does the system always answer alike? `--unstable majority` asks again. Does it calculate with values? \
             Then fix the values of its inputs: leave `--data` out"
        }
    })
}

/// Returns the error of a session that was stopped before a machine agreed with all runs.
fn halted_error(args: &LearnArgs, halt: &Halt, halted: Halted) -> CliError {
    let status = limit::halted_status(halt, ExitStatus::Inconclusive);
    let what = if args.data { "the runs seen" } else { "everything that was seen" };
    let message = format!("no machine: {halted} before one agreed with {what}");
    CliError::new(status, message).help(match args.session {
        _ if args.data => "raise `--time-limit`; with `--session FILE` the same command continues",
        Some(_) => "raise `--time-limit`: the same command continues from the session",
        None => "raise `--time-limit`, use fewer inputs, or keep the answers with `--session FILE`",
    })
}
