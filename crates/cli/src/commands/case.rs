//! `ioxide case`: a test case that follows one path, or a set of them that covers a goal.

mod goal;
mod smt;

use std::io::{self, Write};

use ioxide_args::{CaseArgs, CaseFormat, CasePruning, SendingArg};
use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts};
use ioxide_report::case::{CaseView, Unwritable, iox, json, picture, plantuml, python, rust, text, ttcn3};
use ioxide_report::dot::write_dot;
use ioxide_symex::Ctx;
use ioxide_testgen::case::{
    CaseConfig, CaseError, PathError, Pruning, SendTime, TestCase, Timeout, complete, generate, waypoints,
};

use crate::exit::{CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::{limit, load};

/// Makes the case and writes it in the wanted format.
pub fn run(args: &CaseArgs) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let config = CaseConfig { timeout: timeout(args)?, pruning: pruning(args), sending: sending(args) };
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    if let Some(goal) = args.goal {
        return goal::make_covering_cases(&mut model, args, goal, &config, &request);
    }
    if args.json && args.format != CaseFormat::Json {
        return Err(CliError::usage("`--json` and another `--format` exclude each other"));
    }
    let _stage = limit::stage("making the test case");
    let path = chosen_path(&mut model, args, &request)?;
    let mut solver = request.make()?;
    let case = generate(&mut Ctx::new(&mut model, &mut *solver), &path, &config);
    reject_partial(&request)?;
    let case = case.map_err(|error| case_error(&model, &path, &error))?;
    for lint in &case.lints {
        eprintln!("warning: {}", lint.show(&model.pool));
    }
    let written = case_text(&model, &case, args.format)?;
    io::stdout().lock().write_all(written.as_bytes())?;
    Ok(ExitStatus::Success)
}

/// A case of which not every arc was decided is none: there are no partial ones.
fn reject_partial(request: &SolverRequest<'_>) -> Result<(), CliError> {
    let Some(halted) = request.halt.halt_reason() else { return Ok(()) };
    let status = limit::halted_status(&request.halt, ExitStatus::Inconclusive);
    Err(CliError::new(status, format!("no test case: {halted} before every arc was decided"))
        .help("raise `--time-limit`, or name more waypoints"))
}

/// Returns the pruning that the flag names.
fn pruning(args: &CaseArgs) -> Pruning {
    match args.pruning {
        CasePruning::Sound => Pruning::Refuted,
        CasePruning::Tool => Pruning::Tool,
    }
}

/// Returns the instants of sending that the flag names.
fn sending(args: &CaseArgs) -> SendTime {
    match args.sending {
        SendingArg::Soonest => SendTime::Soonest,
        SendingArg::Latest => SendTime::Latest,
    }
}

/// Returns the time-out that `--timeout` names; the default depends on the pruning.
fn timeout(args: &CaseArgs) -> Result<Timeout, CliError> {
    let text = match (&args.timeout, args.pruning) {
        (Some(text), _) => text.trim().trim_end_matches('s').trim(),
        (None, CasePruning::Sound) => "above",
        (None, CasePruning::Tool) => "free",
    };
    match text {
        "above" => Ok(Timeout::Above),
        "free" => Ok(Timeout::Free),
        _ => match text.parse::<Rational>() {
            Ok(seconds) if !seconds.is_negative() && !seconds.is_zero() => Ok(Timeout::Fixed(seconds)),
            _ => Err(CliError::usage(format!("`--timeout {text}` is not a time above 0"))
                .help("write seconds, as in `--timeout 2.5`, or `above` or `free`")),
        },
    }
}

/// The switches to take.
fn chosen_path(
    model: &mut Model,
    args: &CaseArgs,
    request: &SolverRequest<'_>,
) -> Result<Vec<PathStep>, CliError> {
    if let Some(name) = &args.purpose {
        let purpose = crate::purpose_search::find_named_purpose(model, request, name, args.max_states)?;
        return Ok(purpose.path().collect());
    }
    let list = args.path.as_deref().unwrap_or_default();
    let found = waypoints(&model.sts, list.split(','));
    let found = found.map_err(|error| no_path(&model.sts, &error))?;
    let mut solver = request.make()?;
    let path = complete(&mut Ctx::new(model, &mut *solver), &found);
    reject_partial(request)?;
    path.map_err(|error| no_path(&model.sts, &error))
}

fn no_path(sts: &Sts, error: &PathError) -> CliError {
    let labels: Vec<String> = sts.switches.iter().map(|switch| switch.label.to_string()).take(20).collect();
    match error {
        PathError::Unknown { near: Some(near), .. } => {
            CliError::usage(error.to_string()).help(format!("did you mean `{near}`?"))
        }
        PathError::Unknown { near: None, .. } | PathError::Empty => {
            CliError::usage(error.to_string()).help(format!("its transitions are {}", labels.join(", ")))
        }
        PathError::NoWay { .. } => CliError::usage(error.to_string())
            .help("look at the order of the waypoints; `ioxide show` has the model"),
        PathError::NotFound { .. } => CliError::new(ExitStatus::Inconclusive, error.to_string())
            .help("name more waypoints, or every transition of the path"),
    }
}

fn case_error(model: &Model, path: &[PathStep], error: &CaseError) -> CliError {
    CliError::usage(error.show(&model.sts, path)).help(error.help(&model.pool, &model.sts))
}

/// The text of a case in a format.
pub fn case_text(model: &Model, case: &TestCase, format: CaseFormat) -> Result<String, CliError> {
    let view = CaseView { case, model };
    let unwritable = |error: Unwritable| {
        CliError::usage(error.to_string()).help("`--format json` and `--format smt2` can express every guard")
    };
    Ok(match format {
        CaseFormat::Json => json::case_json(&view, &smt::guards(model, case)?),
        CaseFormat::Text => text::case_listing(&view),
        CaseFormat::Smt2 => smt::script(&view)?,
        CaseFormat::Dot => write_dot(&picture::case_graph(&view)),
        CaseFormat::Plantuml => plantuml::write_plantuml(&view),
        CaseFormat::Ttcn3 => ttcn3::write_ttcn3(&view).map_err(unwritable)?,
        CaseFormat::Pytest => {
            // What a solver cannot be told either is refused by the writer, with its place.
            let smt = smt::guards(model, case).unwrap_or_default();
            python::write_python(&view, &smt).map_err(unwritable)?
        }
        CaseFormat::Rust => rust::write_rust(&view).map_err(unwritable)?,
        CaseFormat::Iox => laid_out(&iox::write_iox(&view))?,
    })
}

/// The text of a model as `fmt` would write it.
fn laid_out(text: &str) -> Result<String, CliError> {
    let mut drafts = Sources::new();
    let file = drafts.add("case.iox", text);
    ioxide_lang::format(&drafts, file).map_err(|wrong| {
        let why = wrong.first().map_or_else(String::new, |first| format!(": {}", first.message));
        CliError::usage(format!("the case cannot be written as a model{why}"))
            .help("`--format json` and `--format smt2` can express every guard")
    })
}
