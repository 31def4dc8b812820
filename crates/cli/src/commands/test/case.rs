//! `--tester case:FILE`: a test case that `ioxide case --format json` wrote.
//!
//! The file names the path and the time-out; the case is made again from the model, and must have as many arcs.

use ioxide_args::SolverArgs;
use ioxide_model::number::Rational;
use ioxide_model::sts::Model;
use ioxide_report::case::json::{CaseMismatch, CaseOutline};
use ioxide_symex::Ctx;
use ioxide_testgen::case::generate;
use ioxide_testgen::tester::case::CaseGuided;

use crate::exit::{CliError, ExitStatus};
use crate::{load, solver};

/// The tester that follows the case in `file`.
pub fn tester(file: &str, spec: &mut Model, solver_args: &SolverArgs) -> Result<CaseGuided, CliError> {
    let outline = read_outline(file)?;
    let mismatch = |mismatch| mismatch_error(file, &mismatch);
    let (path, config) = outline.plan(&spec.sts).map_err(mismatch)?;
    let mut solver = solver::make(solver_args)?;
    let case = generate(&mut Ctx::new(spec, &mut *solver), &path, &config);
    let case = case.map_err(|error| CliError::usage(error.show(&spec.sts, &path)))?;
    outline.check(&case).map_err(mismatch)?;
    Ok(CaseGuided::new(case, &format!("case {}", outline.path.join(", ")), Rational::ONE))
}

fn read_outline(file: &str) -> Result<CaseOutline, CliError> {
    let text = load::read_data(file)?;
    CaseOutline::read(&text).map_err(|error| {
        CliError::usage(format!("`{file}` is not a test case: {error}"))
            .help("write one with `ioxide case MODEL --path ... --format json`")
    })
}

/// Returns the error about a case in `file` that the model does not give.
fn mismatch_error(file: &str, mismatch: &CaseMismatch) -> CliError {
    match mismatch {
        CaseMismatch::Transition(_) | CaseMismatch::Arcs { .. } => {
            CliError::new(ExitStatus::Usage, format!("`{file}` does not fit the model: {mismatch}"))
                .help("was the model changed since, or the case pruned? make it again with `ioxide case`")
        }
        CaseMismatch::Model { .. } | CaseMismatch::Timeout(_) | CaseMismatch::SendTime(_) => {
            CliError::usage(format!("`{file}`: {mismatch}"))
        }
    }
}
