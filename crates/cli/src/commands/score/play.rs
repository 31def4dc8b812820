//! Mutants simulated as systems under test, in virtual time.

use std::ops::ControlFlow;
use std::time::Duration;

use ioxide_args::ScoreArgs;
use ioxide_model::number::Rational;
use ioxide_model::sts::Model;
use ioxide_run::campaign::CampaignConfig;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::case::{CaseConfig, CaseGoal, covering};
use ioxide_testgen::kill::outcome::DecidedMutants;
use ioxide_testgen::kill::score::KillTable;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::case::CaseGuided;
use ioxide_wire::adapter::ClockKind;

use super::MAX_PURPOSE_STATES;
use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::progress::ProgressLine;
use crate::session::{CampaignSession, EventTimes, ShowResults};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;

/// The model, its mutants, and how they are played.
pub struct MutantStage<'s> {
    /// The arguments.
    pub args: &'s ScoreArgs,
    /// The solver and the time there is.
    pub request: &'s SolverRequest<'s>,
    /// The model; the terms of testers live in its pool.
    pub spec: &'s Model,
    /// The mutants.
    pub decided: &'s DecidedMutants,
}

impl MutantStage<'_> {
    /// Returns the number of inputs and outputs until `tester` finds mutant `at` faulty; `None` if `runs` runs do not
    /// find it.
    pub fn messages_until_found(
        &self,
        at: usize,
        tester: &mut (dyn Tester + Send),
        runs: u64,
    ) -> Result<Option<u64>, CliError> {
        let mutant = &self.decided.mutants[at];
        let config = CampaignConfig {
            runs,
            seed: self.args.mutants.seed,
            replays: 0,
            shrink: None,
            sut: mutant.id.clone(),
            ..CampaignConfig::default()
        };
        let system = Model { pool: self.spec.pool.clone(), sts: mutant.apply(&self.spec.sts) };
        let left = self.request.halt.limit_time(Duration::MAX);
        let mut limited = DeadlineTester::new(tester, Some(left), Some(left), limit::from_now);
        let session = CampaignSession {
            keeper: None,
            spec: self.spec.clone(),
            sut: SystemUnderTest::Model(Box::new(system)),
            clock: ClockKind::default(),
            testers: vec![&mut limited],
            solver: self.request.clone(),
            show: ShowResults::Nothing,
            record: None,
            times: EventTimes::LeftOut,
        };
        let outcome = session.run(&config)?;
        Ok((outcome.counts.failed > 0).then_some(outcome.steps))
    }

    /// Plays every killable mutant against the cases that cover `goal`; one test each.
    pub fn by_cases(&self, killable: &[usize], goal: CaseGoal) -> Result<KillTable, CliError> {
        let Self { args, request: wanted, .. } = *self;
        let mut spec = self.spec.clone();
        let mut solver = wanted.make()?;
        let limits = ExploreLimits { max_states: MAX_PURPOSE_STATES, max_depth: u32::MAX };
        let go_on = &mut |_| ControlFlow::Continue(());
        let set =
            covering(&mut Ctx::new(&mut spec, &mut *solver), goal, &CaseConfig::default(), limits, go_on);
        if set.cases.is_empty() {
            return Err(CliError::new(
                ExitStatus::Nothing,
                format!("nothing to run: no case covers any of the {goal}"),
            )
            .help("`ioxide case MODEL --goal ...` shows why"));
        }
        let stage = MutantStage { spec: &spec, ..*self };
        let mut progress = ProgressLine::start();
        let ios = set.cases.iter().map(|made| made.case.path.len()).sum();
        let mut kills = KillTable { tests: Vec::new(), ios: Some(ios), after: Vec::new(), halted: None };
        for (number, made) in set.cases.iter().enumerate() {
            let mut killed = Vec::new();
            for (done, &at) in killable.iter().enumerate() {
                progress.tick(|| {
                    format!("case {} of {}: mutant {done} of {}", number + 1, set.cases.len(), killable.len())
                });
                kills.halted = wanted.halt.halt_reason();
                if kills.halted.is_some() {
                    break;
                }
                let mut tester = CaseGuided::new(made.case.clone(), "case", Rational::ONE);
                if stage.messages_until_found(at, &mut tester, args.runs)?.is_some() {
                    killed.push(at);
                }
            }
            kills.tests.push(killed);
        }
        Ok(kills)
    }
}

/// The goal of `cases`, `cases:transitions` (or `switches`), `cases:pairs` or `cases:deadlines`; none if it is another
/// word.
pub fn case_goal(word: &str) -> Option<CaseGoal> {
    let goals = [CaseGoal::Switches, CaseGoal::Pairs, CaseGoal::Deadlines];
    match word.strip_prefix("cases")? {
        "" | ":transitions" => Some(CaseGoal::Switches),
        rest => goals.into_iter().find(|goal| rest.strip_prefix(':') == Some(&goal.to_string())),
    }
}
