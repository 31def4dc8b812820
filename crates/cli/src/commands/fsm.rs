//! `ioxide fsm`: complete test suites of a machine, the judgement of others' suites, and state counting against another one or a
//! live system.

mod checked;
pub mod live;
mod page;
mod reduction;
pub mod suite;
mod theory;

use ioxide_fsm::error::Refusal;
use ioxide_fsm::mealy::Completion;

use crate::args::{Fsm, Missing};
use crate::exit::{ExitStatus, Stop};
use crate::machine::Machine;

/// Makes a suite, or tests another machine or a system for reduction.
pub fn run(args: &Fsm) -> Result<ExitStatus, Stop> {
    if let Some(path) = &args.check_suite {
        return checked::run(args, path);
    }
    if let Some(other) = &args.product {
        return theory::with_other(args, other);
    }
    match (&args.suite, args.reduction) {
        _ if args.theory => theory::theory(args),
        _ if args.reduced => theory::reduced(args),
        (Some(method), false) => suite::make(args, method),
        (None, true) => reduction::run(args),
        _ => Err(Stop::usage("say what to do: `--suite METHOD`, `--check-suite FILE`, `--reduction`, `--theory`, `--product OTHER` or `--reduced`")
            .help("`ioxide fsm --help` has examples")),
    }
}

/// What is done about inputs `machine` does not answer.
fn completion(machine: &Machine, missing: Missing) -> Completion {
    match missing {
        Missing::Loop => Completion::SelfLoop(machine.ignoring().into()),
        Missing::Error => Completion::ErrorState("error".into()),
    }
}

/// A machine that is not what an algorithm needs, and what can be done about it.
fn refused(path: &str, refusal: &Refusal) -> Stop {
    let help = match refusal {
        Refusal::NotDeterministic { .. } => {
            "suites are for deterministic machines; `--reduction` tests against nondeterministic ones"
        }
        Refusal::NotComplete { .. } => {
            "`--missing loop` ignores such inputs, `--missing error` answers them with `error` for ever"
        }
        Refusal::NotObservable { .. } => "`--minimise` makes the machine observable, connected and minimal",
        Refusal::NotConnected { .. } | Refusal::NotMinimal { .. } => {
            "`--minimise` makes the machine connected and minimal"
        }
        Refusal::BoundTooSmall { .. } => "raise `--bound`",
        Refusal::DifferentInputs { .. } => "both machines need the same inputs",
        Refusal::Empty => "add a transition",
    };
    Stop::new(ExitStatus::Model, format!("`{path}`: {refusal}")).help(help)
}
