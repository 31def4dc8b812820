//! The testers of a check: made from a choice, the model and the limits of the check.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::BufReader;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::number::Rational;
use ioxide_model::sts::Model;
use ioxide_report::case::json::{CaseMismatch, CaseOutline};
use ioxide_run::suite::runnable::RunnableSuite;
use ioxide_smt::halt::Halt;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::case::generate;
use ioxide_testgen::complete::suite::{CompleteConfig, NoCompleteSuite, complete_suite};
use ioxide_testgen::kill::outcome::{DecidedMutants, MutantWork};
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::kill::{KillConfig, MutationAnalysis};
use ioxide_testgen::mutate::{MutationOperator, mutants};
use ioxide_testgen::purpose::{Criterion, NoPurpose, PurposeSet, TestPurpose, coverage, of_goal};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::case::CaseGuided;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::defaults;
use ioxide_testgen::tester::game::{GameTester, NoGame};
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::{Interaction, RandomConfig, RandomTester};
use ioxide_testgen::tester::script::ScriptTester;
use ioxide_testgen::tester::spec::TesterSpec;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteTester};
use ioxide_testgen::tester::tour::TourTester;
use thiserror::Error;

/// Returns the number of runs of a tester whose runs are not limited.
pub(crate) fn default_runs(tester: &TesterSpec) -> u64 {
    match tester {
        TesterSpec::Random | TesterSpec::Purpose(_) | TesterSpec::Force(_) | TesterSpec::Case(_) => {
            defaults::RUNS
        }
        _ => u64::MAX,
    }
}

/// The reason why a check has no tester for a [`TesterSpec`].
#[derive(Debug, Error)]
pub(crate) enum NoTester {
    #[error("the model has no purpose `{0}`")]
    UnknownPurpose(String),
    #[error("no path meets `{name}`: {why}")]
    NoPath { name: String, why: NoPurpose },
    #[error("nothing to run: no transition of the model can be reached")]
    NothingReachable,
    #[error("`{0}` cannot be forced: {1}")]
    NoGame(String, NoGame),
    #[error("the model has no such test")]
    NoTest,
    #[error("the model has no complete suite: {0}")]
    NoCompleteSuite(NoCompleteSuite),
    #[error("nothing to run: no mutant of the model can be killed")]
    NothingKilled,
    #[error("the model has clocks, and the tester `{0}` does not support time")]
    NoTime(TesterSpec),
    #[error("`{file}`: {reason}")]
    File { file: String, reason: String },
}

/// The model of a check, and what its tester is made with.
pub(crate) struct TesterMaker<'m> {
    pub(crate) model: &'m mut Model,
    pub(crate) steps: Option<usize>,
    pub(crate) runs: Option<u64>,
    pub(crate) seed: u64,
}

impl TesterMaker<'_> {
    /// Makes the tester that `spec` describes, with the budget of this check.
    pub(crate) fn make(&mut self, spec: &TesterSpec) -> Result<Box<dyn Tester>, NoTester> {
        if self.model.sts.is_timed() && !spec.knows_time() {
            return Err(NoTester::NoTime(spec.clone()));
        }
        Ok(match spec {
            TesterSpec::Hunt => {
                let usual = if self.runs.is_some() { usize::MAX } else { HuntConfig::default().steps };
                let config = HuntConfig { steps: self.steps.unwrap_or(usual), ..HuntConfig::default() };
                Box::new(HuntTester::new(config))
            }
            TesterSpec::Random => {
                let steps = self.steps.unwrap_or(defaults::RANDOM_STEPS);
                Box::new(RandomTester::new(RandomConfig { steps, ..RandomConfig::default() }, self.seed))
            }
            TesterSpec::Cover => {
                Box::new(CoverTester::new(&self.find_purposes()?, self.rounds(), PurposeOrder::default()))
            }
            TesterSpec::Tour => {
                let limits = ExploreLimits { max_states: defaults::TOUR_STATES, max_depth: u32::MAX };
                Box::new(TourTester::new(&self.find_purposes()?, self.rounds(), limits))
            }
            TesterSpec::Purpose(names) => {
                let found = names.iter().map(|name| self.find_purpose(name)).collect::<Result<_, _>>()?;
                let set = PurposeSet::from_purposes(&self.model.sts, found);
                Box::new(CoverTester::new(&set, CoverRounds::Endless, PurposeOrder::default()))
            }
            TesterSpec::Force(name) => {
                let goal = self.find_goal(name)?;
                let mut solver = build_stack(&SolverConfig::default());
                let game =
                    GameTester::new(&mut Ctx::new(self.model, &mut solver), &goal, Interaction::default());
                Box::new(game.map_err(|why| NoTester::NoGame(name.clone(), why))?)
            }
            TesterSpec::Tests => self.make_tests(|_| true)?,
            TesterSpec::Test(name) => self.make_tests(|goal| *goal.name == **name)?,
            TesterSpec::Complete(options) => {
                let config = CompleteConfig::from_options(options, self.seed);
                let mut solver = build_stack(&SolverConfig::default());
                let suite = complete_suite(&mut Ctx::new(self.model, &mut solver), &config)
                    .map_err(NoTester::NoCompleteSuite)?;
                let mut tests = LabelTests::default();
                suite.tests.iter().for_each(|test| tests.push_word(test.iter().cloned()));
                Box::new(SuiteTester::new(Arc::new(tests), AnswerWait::Quiescence, 1))
            }
            TesterSpec::Kill => Box::new(self.make_killer()?),
            TesterSpec::Case(file) => Box::new(self.read_case(file)?),
            TesterSpec::Suite(file) => Box::new(self.read_suite(file)?),
        })
    }

    /// Returns the tester for the test case in `file`, which is generated again from the model.
    fn read_case(&mut self, file: &str) -> Result<CaseGuided, NoTester> {
        let bad = |reason: String| NoTester::File { file: file.to_owned(), reason };
        let text = fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
        let outline = CaseOutline::read(&text).map_err(|error| bad(error.to_string()))?;
        let mismatch = |mismatch: CaseMismatch| bad(mismatch.to_string());
        let (path, config) = outline.plan(&self.model.sts).map_err(mismatch)?;
        let mut solver = build_stack(&SolverConfig::default());
        let case = generate(&mut Ctx::new(self.model, &mut solver), &path, &config);
        let case = case.map_err(|error| bad(error.show(&self.model.sts, &path)))?;
        outline.check(&case).map_err(mismatch)?;
        Ok(CaseGuided::new(case, &format!("case {}", outline.path.join(", ")), Rational::ONE))
    }

    /// Returns the tester for the suite in `file`.
    fn read_suite(&self, file: &str) -> Result<SuiteTester, NoTester> {
        let bad = |reason: String| NoTester::File { file: file.to_owned(), reason };
        let opened = File::open(file).map_err(|error| bad(error.to_string()))?;
        let suite = RunnableSuite::read(BufReader::new(opened), self.model);
        let suite = suite.map_err(|error| bad(error.to_string()))?;
        if suite.is_empty() { Err(bad("the suite has no tests".into())) } else { Ok(suite.into_tester()) }
    }

    /// Makes the tester that kills the mutants of the model, and goes on with those that the system may still be.
    fn make_killer(&mut self) -> Result<KillTester, NoTester> {
        let mutants = mutants(self.model, &MutationOperator::DEFAULT);
        let mut solver = build_stack(&SolverConfig::default());
        let mut base = self.model.clone();
        let analysis = MutationAnalysis::new(&mut Ctx::new(&mut base, &mut solver), &KillConfig::default());
        let make = || Ok::<_, Infallible>(Box::new(build_stack(&SolverConfig::default())));
        let work = MutantWork {
            base: &base,
            analysis: &analysis,
            mutants: &mutants,
            make: &make,
            is_interrupted: &|| false,
            halt_mutant: &Halt::default,
        };
        let n_workers = thread::available_parallelism().map_or(1, NonZero::get);
        let outcomes = work.decide_in_parallel(n_workers, vec![None; mutants.len()], &mut |_, _| Ok(()));
        let Ok(outcomes) = outcomes;
        let decided = DecidedMutants { mutants, outcomes, halted: None };
        let suite = decided.make_suite(&mut Ctx::new(self.model, &mut solver));
        if suite.tests.is_empty() {
            return Err(NoTester::NothingKilled);
        }
        let killed = decided.mutants.iter().enumerate().filter(|(at, _)| {
            decided.outcomes[*at].as_ref().is_some_and(|outcome| outcome.trace().is_some())
        });
        let suspects = Suspects::new(&self.model.sts, killed);
        let killer = KillTester::new(suite.tests);
        // The behaviour of a suspect in time is not followed: time leaves too many instants open.
        Ok(if self.model.sts.is_timed() { killer } else { killer.suspecting(suspects) })
    }

    /// Returns the number of times everything is covered: without end if the runs are limited.
    fn rounds(&self) -> CoverRounds {
        if self.runs.is_some() { CoverRounds::Endless } else { CoverRounds::Bounded(defaults::COVER_ROUNDS) }
    }

    /// Returns purposes for every transition.
    fn find_purposes(&mut self) -> Result<PurposeSet, NoTester> {
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(self.model, &mut solver);
        let limits = ExploreLimits { max_states: defaults::PURPOSE_STATES, max_depth: u32::MAX };
        let set = coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
        if set.purposes.is_empty() { Err(NoTester::NothingReachable) } else { Ok(set) }
    }

    /// Returns the purpose called `name`.
    fn find_purpose(&mut self, name: &str) -> Result<TestPurpose, NoTester> {
        let goal = self.find_goal(name)?;
        let mut solver = build_stack(&SolverConfig::default());
        let limits = ExploreLimits { max_states: defaults::PURPOSE_STATES, max_depth: u32::MAX };
        let found = of_goal(&mut Ctx::new(self.model, &mut solver), &goal, limits);
        found.map_err(|why| NoTester::NoPath { name: name.to_owned(), why })
    }

    fn find_goal(&self, name: &str) -> Result<Goal, NoTester> {
        let goal = self.model.sts.goals.iter().find(|goal| *goal.name == *name).cloned();
        goal.ok_or_else(|| NoTester::UnknownPurpose(name.to_owned()))
    }

    /// Returns the tester that carries out the tests of the model for which `is_wanted` holds.
    fn make_tests(&self, is_wanted: impl Fn(&Goal) -> bool) -> Result<Box<dyn Tester>, NoTester> {
        let goals = self.model.sts.goals.iter();
        let tests = goals.filter(|goal| matches!(goal.kind, GoalKind::Test(_)) && is_wanted(goal));
        let tests: Vec<Goal> = tests.cloned().collect();
        if tests.is_empty() { Err(NoTester::NoTest) } else { Ok(Box::new(ScriptTester::new(&tests, 1))) }
    }
}
