//! `ioxide step`: steps through a model by hand.
//!
//! On a terminal as a screen of panels, else (or with `--plain`) a line at a time; both are in the crate `stepper`. A
//! recorded run can be opened at any of its steps.

use std::io::{self, IsTerminal};

use ioxide_args::StepArgs;
use ioxide_explorer::walk::ModelWalk;
use ioxide_model::sts::Model;
use ioxide_stepper::route::{RouteError, find_labels_to};
use ioxide_stepper::{OpenedRecord, ProgramEnd, StepEnd, StepError, plain, screen};
use ioxide_symex::Ctx;

use crate::exit::{CliError, ExitStatus};
use crate::{interrupt, load, record, solver};

/// Steps until the end of input, or until the user quits.
pub fn run(args: &StepArgs) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let mut solver = solver::make(&args.solver)?;
    let opened = args.from.as_ref().map(|from| open_record(from, args.number, &model)).transpose()?;
    let find_route = |state| find_labels_to(&mut model, &mut *solver, state).map_err(route_error);
    let route = args.at.as_deref().map(find_route).transpose()?;
    let mut walk = ModelWalk::new(Ctx::new(&mut model, &mut *solver));
    if let Some(opened) = &opened {
        go_to(&mut walk, opened)?;
    }
    if let (Some(route), Some(state)) = (&route, &args.at) {
        let (n, forbidden) = walk.follow_labels(route);
        if forbidden.is_some() {
            return Err(CliError::usage(format!("step {} of the way to `{state}` is forbidden", n + 1)));
        }
    }
    if !args.plain && io::stdin().is_terminal() && io::stdout().is_terminal() {
        let program = ProgramEnd {
            on_request: |mut react| interrupt::on_interrupt(move |_| react()),
            end_at_once: interrupt::end_at_once,
        };
        end_status(screen::step_on_screen(walk, opened, program))
    } else {
        end_status(plain::step_by_lines(walk))
    }
}

/// Returns the status of stepping that has ended.
fn end_status(ended: Result<StepEnd, StepError>) -> Result<ExitStatus, CliError> {
    match ended {
        Ok(StepEnd::Quit) => Ok(ExitStatus::Success),
        Ok(StepEnd::Interrupted) => Ok(ExitStatus::Interrupted),
        Err(StepError::Write(error)) => Err(error.into()),
        Err(error @ StepError::Read(_)) => Err(CliError::usage(error.to_string())),
        Err(error @ (StepError::NoTerminal(_) | StepError::BrokenTerminal(_))) => {
            Err(CliError::usage(error.to_string()).help("`--plain` needs no screen"))
        }
    }
}

/// Returns the error of `--at` without a way to its state.
fn route_error(error: RouteError) -> CliError {
    let message = error.to_string();
    match error {
        RouteError::NoState { near: Some(near), .. } => {
            CliError::usage(message).help(format!("did you mean `{near}`?"))
        }
        RouteError::NoState { near: None, .. } => {
            CliError::usage(message).help("`ioxide show` lists the states")
        }
        RouteError::Timed => {
            CliError::usage(message).help("step there by hand, or open a recorded run with `--from`")
        }
        RouteError::NoWay(..) | RouteError::NoValues(_) => CliError::new(ExitStatus::Inconclusive, message),
    }
}

/// A run of a record and a step in it: `RUN@N`.
fn open_record(from: &str, number: Option<u64>, model: &Model) -> Result<OpenedRecord, CliError> {
    let bad = |why: &str| CliError::usage(format!("`--from {from}`: {why}")).help("write `--from runs@17`");
    let (path, step) = from.rsplit_once('@').ok_or_else(|| bad("should be RUN@N"))?;
    let step: usize = step.parse().map_err(|_| bad("N is not a number"))?;
    let recorded = record::read_record(path)?;
    let run = record::choose_run(&recorded, number)?;
    let misfit = |error| CliError::usage(format!("`{path}` does not fit the model: {error}"));
    let labels = recorded.trace(model, run).map_err(misfit)?.labels;
    if step > labels.len() {
        return Err(bad(&format!("the run has {} steps", labels.len())));
    }
    Ok(OpenedRecord { name: format!("run {} of {path}", run + 1), labels, step })
}

/// Follows the labels before the step; one that the model forbids is an error.
fn go_to(walk: &mut ModelWalk<'_>, opened: &OpenedRecord) -> Result<(), CliError> {
    match walk.follow_labels(&opened.labels[..opened.step]) {
        (_, None) => Ok(()),
        (n, Some(_)) => Err(CliError::usage(format!("the model forbids step {} of the run", n + 1))
            .help(format!("write `@{n}` to see why it does"))),
    }
}
