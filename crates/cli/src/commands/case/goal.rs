//! `ioxide case --goal`: cases that cover all switches, pairs or deadlines together.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use ioxide_args::{CaseArgs, CaseFormat, CaseGoalArg};
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::goal::PathStep;
use ioxide_model::sts::{Model, Sts};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::case::{CaseConfig, CaseGoal, CaseItem, CaseSet, CoveringCase, WhyNoCase, covering};
use serde_json::{Value as Json, json};

use super::case_text;
use crate::exit::{self, CliError, ExitStatus};
use crate::limit;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;

/// Makes the set, writes it where that is asked for, and lists it.
pub fn make_covering_cases(
    model: &mut Model,
    args: &CaseArgs,
    goal: CaseGoalArg,
    config: &CaseConfig,
    request: &SolverRequest<'_>,
) -> Result<ExitStatus, CliError> {
    let goal = match goal {
        CaseGoalArg::Switches => CaseGoal::Switches,
        CaseGoalArg::Pairs => CaseGoal::Pairs,
        CaseGoalArg::Deadlines => CaseGoal::Deadlines,
    };
    if goal == CaseGoal::Deadlines && !model.sts.is_timed() {
        return Err(CliError::usage("the model has no clocks, so it has no deadlines")
            .help("use `--goal transitions` or `--goal pairs`"));
    }
    let set = make_cases(model, goal, args, config, request)?;
    if let Some(folder) = &args.out {
        write_all(folder, model, &set, goal, args.format)?;
    }
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", set_json(model, &set, goal, args.format))
    } else {
        show_cases(&mut out, model, &set, goal)
    };
    let all = set.uncovered.iter().all(|(_, why, _)| why.is_proof());
    let status = if all { ExitStatus::Success } else { ExitStatus::Inconclusive };
    exit::status_after_output(limit::halted_status(&request.halt, status), told)
}

fn make_cases(
    model: &mut Model,
    goal: CaseGoal,
    args: &CaseArgs,
    config: &CaseConfig,
    request: &SolverRequest<'_>,
) -> Result<CaseSet, CliError> {
    let mut solver = request.make()?;
    let mut progress = ProgressLine::start();
    let limits = ExploreLimits { max_states: args.max_states, max_depth: u32::MAX };
    Ok(covering(&mut Ctx::new(model, &mut *solver), goal, config, limits, &mut |(at, of)| {
        progress.tick(|| format!("making cases: {at} of {of} {goal}"));
        if request.halt.halt_reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }))
}

/// The name of the file of case `at`, counted from 0: one that pytest finds.
fn file_name(at: usize, format: CaseFormat) -> String {
    let name = if format == CaseFormat::Pytest { "test_case" } else { "case" };
    format!("{name}_{:03}.{}", at + 1, format.ending())
}

/// Writes every case of the set to a file of its own in `folder`, and a list of them to `cases.json`.
fn write_all(
    folder: &str,
    model: &Model,
    set: &CaseSet,
    goal: CaseGoal,
    format: CaseFormat,
) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::usage(format!("cannot write to `{folder}`: {error}"));
    fs::create_dir_all(folder).map_err(failed)?;
    let folder = Path::new(folder);
    let file = |name: &str, text: &str| {
        write_whole(&folder.join(name), FileReaders::Usual, |out| out.write_all(text.as_bytes()))
            .map_err(failed)
    };
    for (at, made) in set.cases.iter().enumerate() {
        file(&file_name(at, format), &case_text(model, &made.case, format)?)?;
    }
    file("cases.json", &format!("{:#}\n", set_json(model, set, goal, format)))
}

/// Lists the cases, and the goals that have none with the reason.
fn show_cases(out: &mut impl Write, model: &Model, set: &CaseSet, goal: CaseGoal) -> io::Result<()> {
    let sts = &model.sts;
    for (at, made) in set.cases.iter().enumerate() {
        let sending =
            if goal == CaseGoal::Deadlines { format!(" ({})", made.sending.word()) } else { String::new() };
        writeln!(out, "{:>3}. [{}] {}{sending}", at + 1, made.case.path.len(), labels(sts, made).join(" "))?;
    }
    for (item, why, path) in &set.uncovered {
        writeln!(out, "not covered: {}: {}", item.name(sts), reason(model, why, path))?;
    }
    let (n, messages) = (set.cases.len(), set.cases.iter().map(|made| made.case.path.len()).sum::<usize>());
    let cases = if n == 1 { "case" } else { "cases" };
    let covered = set.total - set.uncovered.len();
    writeln!(out, "{n} {cases}, {messages} messages, {covered} of {} {goal} covered", set.total)
}

/// Returns the labels of the path of a case.
fn labels<'s>(sts: &'s Sts, made: &CoveringCase) -> Vec<&'s str> {
    made.case.path.iter().map(|step| step.name(sts)).collect()
}

/// Returns the reason why a goal has no case.
fn reason(model: &Model, why: &WhyNoCase, path: &[PathStep]) -> String {
    match why {
        WhyNoCase::NoPath(why) => why.to_string(),
        WhyNoCase::NoOutput => "no path was found that ends with an output".into(),
        WhyNoCase::Refused(error) => error.show(&model.sts, path),
    }
}

fn set_json(model: &Model, set: &CaseSet, goal: CaseGoal, format: CaseFormat) -> Json {
    let sts = &model.sts;
    let case = |(at, made): (usize, &CoveringCase)| {
        json!({
            "file": file_name(at, format),
            "path": labels(sts, made),
            "sending": made.sending.word(),
            "covers": made.items.iter().map(|item: &CaseItem| item.name(sts)).collect::<Vec<_>>(),
        })
    };
    let uncovered = set.uncovered.iter().map(|(item, why, path)| {
        json!({ "name": item.name(sts), "proof": why.is_proof(), "reason": reason(model, why, path) })
    });
    json!({
        "version": 1,
        "model": &*sts.name,
        "goal": goal.to_string(),
        "cases": set.cases.iter().enumerate().map(case).collect::<Vec<_>>(),
        "uncovered": uncovered.collect::<Vec<_>>(),
        "covered": set.total - set.uncovered.len(),
        "total": set.total,
    })
}
