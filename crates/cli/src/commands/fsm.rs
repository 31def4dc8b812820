//! `ioxide fsm`: complete test suites of a machine, the judgement of others' suites, and state counting against another
//! one or a live system.

mod checked;
pub mod live;
mod page;
mod reduction;
pub mod suite;
mod theory;

use ioxide_args::{FsmArgs, MissingArg};
use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::MachineCompletion;

use crate::exit::{CliError, ExitStatus};
use crate::machine::NamedMachine;

/// Does what the options ask for: makes or checks a suite, tests for reduction, shows the theory, or writes a machine.
pub fn run(args: &FsmArgs) -> Result<ExitStatus, CliError> {
    if args.json && (args.product.is_some() || args.reduced) {
        return Err(CliError::usage("`--product` and `--reduced` write a machine, which has no JSON")
            .help("leave out `--json`; `ioxide show FILE --format json` shows a machine"));
    }
    if let Some(path) = &args.check_suite {
        return checked::judge_suite(args, path);
    }
    if let Some(other) = &args.product {
        return theory::with_other(args, other);
    }
    match (&args.suite, args.reduction) {
        _ if args.theory => theory::theory(args),
        _ if args.reduced => theory::write_reduced(args),
        (Some(method), false) => suite::make_suite(args, method),
        (None, true) => reduction::test_reduction(args),
        _ => Err(CliError::usage(
            "choose one of `--suite METHOD`, `--check-suite FILE`, `--reduction`, \
             `--theory`, `--product OTHER` or `--reduced`",
        )
        .help("`ioxide fsm --help` has examples")),
    }
}

/// Returns the completion of `machine` that `--missing` asks for.
fn completion(machine: &NamedMachine, missing: MissingArg) -> MachineCompletion {
    match missing {
        MissingArg::Loop => MachineCompletion::SelfLoop(machine.ignoring().into()),
        MissingArg::Error => MachineCompletion::ErrorState("error".into()),
    }
}

/// Returns the error of a machine that an algorithm refuses, with a help.
fn refusal_error(path: &str, refusal: &MachineRefusal) -> CliError {
    let help = match refusal {
        MachineRefusal::NotDeterministic { .. } => {
            "suites are for deterministic machines; `--reduction` tests against nondeterministic ones"
        }
        MachineRefusal::NotComplete { .. } => {
            "`--missing loop` ignores such inputs, `--missing error` answers them with `error` for ever"
        }
        MachineRefusal::NotObservable { .. } => {
            "`--minimise` makes the machine observable, connected and minimal"
        }
        MachineRefusal::NotConnected { .. } | MachineRefusal::NotMinimal { .. } => {
            "`--minimise` makes the machine connected and minimal"
        }
        MachineRefusal::BoundTooSmall { .. } => "raise `--bound`",
        MachineRefusal::DifferentInputs { .. } => "both machines need the same inputs",
        MachineRefusal::Empty => "add a transition",
    };
    CliError::new(ExitStatus::Model, format!("`{path}`: {refusal}")).help(help)
}
