//! `--tester case:FILE`: a test case that `ioxide case --format json` wrote.
//!
//! The file names the path and the time-out; the case is made again from the model, and must have as many arcs.

use ioxide_model::number::Rational;
use ioxide_model::sts::Model;
use ioxide_report::case::json::CaseOutline;
use ioxide_symex::Ctx;
use ioxide_testgen::case::{CaseConfig, Pruning, Sending, TestCase, Timeout, generate};
use ioxide_testgen::tester::case::CaseGuided;

use crate::args::SolverArgs;
use crate::exit::{CliError, ExitStatus};
use crate::{load, solver};

/// The tester that follows the case in `file`.
pub fn tester(file: &str, spec: &mut Model, solver_args: &SolverArgs) -> Result<CaseGuided, CliError> {
    let outline = read_outline(file)?;
    if *outline.model != *spec.sts.name {
        return Err(CliError::usage(format!(
            "`{file}` is a case of the model `{}`, not of `{}`",
            outline.model, spec.sts.name
        )));
    }
    let switch = |label: &String| {
        spec.sts.switch_named(label).ok_or_else(|| stale(file, &format!("the model has no `{label}`")))
    };
    let path = outline.path.iter().map(switch).collect::<Result<Vec<_>, _>>()?;
    let timeout = match &outline.timeout {
        Some(text) => Timeout::Fixed(time(file, text)?),
        None => Timeout::Above,
    };
    let config = CaseConfig { timeout, pruning: Pruning::Refuted, sending: sending(file, &outline)? };
    let mut solver = solver::make(solver_args)?;
    let case = generate(&mut Ctx::new(spec, &mut *solver), &path, &config);
    let case = case.map_err(|error| CliError::usage(error.show(&spec.sts, &path)))?;
    check_case(file, &outline, &case)?;
    Ok(CaseGuided::new(case, &format!("case {}", outline.path.join(", ")), Rational::ONE))
}

fn read_outline(file: &str) -> Result<CaseOutline, CliError> {
    let text = load::read_data(file)?;
    CaseOutline::read(&text).map_err(|error| {
        CliError::usage(format!("`{file}` is no test case: {error}"))
            .help("write one with `ioxide case MODEL --path ... --format json`")
    })
}

fn time(file: &str, text: &str) -> Result<Rational, CliError> {
    match text.parse::<Rational>() {
        Ok(time) if !time.is_negative() && !time.is_zero() => Ok(time),
        _ => Err(CliError::usage(format!("`{file}`: the time-out `{text}` is not a time above 0"))),
    }
}

fn sending(file: &str, outline: &CaseOutline) -> Result<Sending, CliError> {
    let word = outline.sending.as_deref().unwrap_or(Sending::Soonest.word());
    Sending::of_word(word)
        .ok_or_else(|| CliError::usage(format!("`{file}`: `{word}` is neither `soonest` nor `latest`")))
}

/// Checks that the case made again has as many arcs as the one in the file, in all and off the path.
fn check_case(file: &str, outline: &CaseOutline, case: &TestCase) -> Result<(), CliError> {
    let (arcs, off_path) = (case.n_arcs(), case.n_off_path());
    if (arcs, off_path) == (outline.arcs, outline.off_path) {
        return Ok(());
    }
    let (their_arcs, theirs_off) = (outline.arcs, outline.off_path);
    let why = format!("it has {their_arcs} and {theirs_off} arcs, the model gives {arcs} and {off_path}");
    Err(stale(file, &why))
}

fn stale(file: &str, why: &str) -> CliError {
    CliError::new(ExitStatus::Usage, format!("`{file}` does not fit the model: {why}"))
        .help("was the model changed since, or the case pruned? make it again with `ioxide case`")
}
