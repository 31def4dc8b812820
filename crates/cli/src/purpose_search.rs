//! The search for purposes of a model, with the settings of the command line: those of a criterion, and those of a
//! goal.

use std::ops::ControlFlow;

use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::sts::Model;
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{Criterion, NoPurpose, PurposeSet, TestPurpose, coverage, of_goal};
use ioxide_testgen::tester::game::{GameTester, NoGame};
use ioxide_testgen::tester::random::Interaction;

use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;

/// The purposes of a criterion on `model`.
pub fn find_purposes(
    model: &mut Model,
    criterion: Criterion,
    request: &SolverRequest<'_>,
    max_states: usize,
) -> Result<PurposeSet, CliError> {
    let mut solver = request.make()?;
    let mut progress = ProgressLine::start();
    let limits = ExploreLimits { max_states, max_depth: u32::MAX };
    let mut cx = Ctx::new(model, &mut *solver);
    Ok(coverage(&mut cx, criterion, limits, &mut |stats| {
        progress
            .tick(|| format!("searching for paths: {} states, {} transitions", stats.states, stats.switches));
        ControlFlow::Continue(())
    }))
}

/// The purpose that meets the goal called `name`.
pub fn find_named_purpose(
    model: &mut Model,
    request: &SolverRequest<'_>,
    name: &str,
    max_states: usize,
) -> Result<TestPurpose, CliError> {
    let goal = find_goal(model, name)?;
    let mut solver = request.make()?;
    let _stage = limit::stage("searching for a path that reaches the goal");
    let limits = ExploreLimits { max_states, max_depth: u32::MAX };
    of_goal(&mut Ctx::new(model, &mut *solver), &goal, limits).map_err(|why| match why {
        NoPurpose::NoPurpose => CliError::usage(format!("`{name}` cannot guide a test: {why}")),
        NoPurpose::Unreachable | NoPurpose::Cut(_) => {
            CliError::new(ExitStatus::Inconclusive, format!("no path meets `{name}`: {why}"))
        }
    })
}

/// The tester that plays for the goal called `name`.
pub fn game(
    model: &mut Model,
    request: &SolverRequest<'_>,
    name: &str,
    interaction: Interaction,
) -> Result<GameTester, CliError> {
    let goal = find_goal(model, name)?;
    let mut solver = request.make()?;
    let game = GameTester::new(&mut Ctx::new(model, &mut *solver), &goal, interaction);
    game.map_err(|why| {
        CliError::usage(format!("`force:{name}` is not possible: {why}")).help(match why {
            NoGame::Goal => "`force:` needs a state to reach or an observer".to_owned(),
            NoGame::StartValue(_) | NoGame::Values(_) => format!(
                "with clocks or unknown start values it needs types with few values, such as `0..9`; \
                 `purpose:{name} --any-answer` takes all types"
            ),
            NoGame::TimedSilence | NoGame::Clocks | NoGame::HiddenReset(_) => {
                format!("use `purpose:{name} --any-answer`, which follows one path")
            }
        })
    })
}

/// The goal of `model` called `name`.
fn find_goal(model: &Model, name: &str) -> Result<Goal, CliError> {
    let goal = model.sts.goals.iter().find(|goal| &*goal.name == name).cloned();
    goal.ok_or_else(|| {
        let purposes = model.sts.goals.iter().filter(|goal| {
            matches!(goal.kind, GoalKind::Path(_) | GoalKind::Reach { .. } | GoalKind::Observer(_))
        });
        let names: Vec<String> = purposes.map(|goal| format!("`{}`", goal.name)).collect();
        let there = if names.is_empty() {
            "it has no purposes; write one: `purpose NAME: reach STATE`".to_owned()
        } else {
            format!("there is {}", names.join(", "))
        };
        CliError::usage(format!("the model has no purpose `{name}`")).help(there)
    })
}
