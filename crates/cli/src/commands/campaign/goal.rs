//! The goal of a campaign, met once the first units, in the order of the plan, reach the coverage or score asked for.
//!
//! One machine would have stopped there, so no unit after that is wanted. Units that come too early wait for those
//! before. `test --until` waits for coverage, `score --until` for a score.

use std::fs::File;

use ioxide_args::{CliArgs, CliCommand, SolverArgs, TestArgs};
use ioxide_campaign::part::{Manifest, UNITS};
use ioxide_campaign::scan::{ScannedPart, unit_text};
use ioxide_run::campaign::unit::UnitRecord;
use ioxide_run::coverage::{EnoughCoverage, OrderedCoverage};
use ioxide_symex::Ctx;

use crate::commands::score::rounds::read_standing;
use crate::exit::CliError;
use crate::solver::SolverRequest;
use crate::{limit, load};
use ioxide_testgen::kill::standing::ScoreSoFar;

/// The goal at which a campaign ends.
pub enum CampaignGoal {
    /// Coverage.
    Coverage(Box<OrderedCoverage>),
    /// A mutation score.
    Score(ScoreSoFar),
}

impl CampaignGoal {
    /// The goal of the command of `manifest`, if it has one.
    pub fn from_manifest(manifest: &Manifest, solver: &SolverArgs) -> Result<Option<Self>, CliError> {
        use clap::Parser as _;
        let words = std::iter::once("ioxide").chain(manifest.args.iter().map(String::as_str));
        match CliArgs::try_parse_from(words).map(|args| args.command) {
            Ok(CliCommand::Test(test)) => {
                Ok(coverage_goal(&test, solver)?.map(|goal| Self::Coverage(Box::new(goal))))
            }
            Ok(CliCommand::Score(score)) if score.until.is_some() => {
                Ok(Some(Self::Score(ScoreSoFar::new(score.until, score.part.n_rounds(), manifest.count))))
            }
            _ => Ok(None),
        }
    }

    /// Adds the results of a part; returns the unit after which the goal is met, `None` if it is not or the part is
    /// unreadable.
    pub fn add_part(&mut self, part: &ScannedPart) -> Option<u64> {
        let mut file = File::open(part.dir.join(UNITS)).ok()?;
        let mut read = |&span| unit_text(&mut file, &part.dir, span).ok().map(|text| text.result);
        match self {
            Self::Coverage(coverage) => {
                let mut units = Vec::new();
                for span in &part.spans {
                    let result: UnitRecord = serde_json::from_value(read(span)?).ok()?;
                    units.push((span.unit, result.coverage));
                }
                coverage.add_units(units)
            }
            Self::Score(so_far) => {
                let mut end = None;
                for span in &part.spans {
                    end = so_far.add(span.unit, read_standing(&read(span)?));
                }
                end
            }
        }
    }
}

/// Returns the coverage at which `test` ends, if it has such a goal.
fn coverage_goal(test: &TestArgs, solver: &SolverArgs) -> Result<Option<OrderedCoverage>, CliError> {
    let Some(measure) = test.until else { return Ok(None) };
    let (_, mut spec) = load::load_model(&test.model.file, &test.model.settings())?;
    let mut solver = SolverRequest::new(solver, limit::halt(&test.limit)).make()?;
    let enough = EnoughCoverage::new(&mut Ctx::new(&mut spec, &mut *solver), measure.into());
    Ok(Some(OrderedCoverage::new(spec.sts, enough)))
}
