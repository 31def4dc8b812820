//! `ioxide step`: through a model by hand.
//!
//! On a terminal as a screen of panels, else (or with `--plain`) a line at a time, so that it works in
//! pipes and scripts too. The belief is the monitor's: after each message it shows every state the model
//! may be in. A recorded run can be opened at any of its steps.

mod plain;
mod route;
mod screen;
mod view;

use std::io::{self, IsTerminal};

use ioxide_explorer::walk::ModelWalk;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;

use super::replay::{first_failing, numbered};
use crate::args::StepArgs;
use crate::exit::{CliError, ExitStatus};
use crate::{load, record, solver};

/// A recorded run and where it is opened.
pub struct OpenedRecord {
    /// The name of the run, for people.
    pub name: String,
    /// All its labels.
    pub labels: Vec<Label>,
    /// The number of labels before the step at which it is opened.
    pub step: usize,
}

/// Steps until the end of input, or until the user quits.
pub fn run(args: &StepArgs) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let mut solver = solver::make(&args.solver)?;
    let opened = args.from.as_ref().map(|from| open_record(from, args.number, &model)).transpose()?;
    let route =
        args.at.as_deref().map(|state| route::labels_to(&mut model, &mut *solver, state)).transpose()?;
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
        screen::run(walk, opened)
    } else {
        plain::run(walk)
    }
}

/// A run of a record and a step in it: `RUN@N`.
fn open_record(from: &str, number: Option<u64>, model: &Model) -> Result<OpenedRecord, CliError> {
    let bad = |why: &str| CliError::usage(format!("`--from {from}`: {why}")).help("write `--from runs@17`");
    let (path, step) = from.rsplit_once('@').ok_or_else(|| bad("should be RUN@N"))?;
    let step: usize = step.parse().map_err(|_| bad("N is not a number"))?;
    let recorded = record::read(path)?;
    let run = number.map_or_else(|| Ok(first_failing(&recorded)), |number| numbered(&recorded, number))?;
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
