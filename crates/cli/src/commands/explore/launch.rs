//! Campaigns started from the page: those of `ioxide test`, with the settings given to `explore`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ioxide_args::{ExploreArgs, TestArgs};
use ioxide_explorer::live::{CampaignRequest, LaunchError, Launcher};
use ioxide_model::sts::{Model, Sts};
use ioxide_record::clock::{RunClock, StoppedClock};
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_record::secrets::redacting::RedactingReporter;
use ioxide_run::campaign::{CampaignConfig, OnFailure, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::run::RunSetup;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::spec::TesterSpec;

use crate::commands::test::run_config;
use crate::commands::test::tester_choice::{self, ChosenTester};
use crate::exit::CliError;
use crate::interrupt::STOP;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, redaction, seed, session, solver, timing};

/// Starts campaigns against one system.
pub struct SystemLauncher {
    sut: Arc<SystemUnderTest>,
    /// The testers that were given, which the page offers first.
    testers: Vec<TesterSpec>,
    /// The arguments `ioxide test` would have; tester, runs and seed are replaced by those of the page.
    settings: TestArgs,
    /// Steps of a run of the random tester.
    steps: usize,
}

impl SystemLauncher {
    /// Tests `sut` against a model, at first `spec`, when asked to.
    pub fn new(args: &ExploreArgs, spec: &Model, sut: Arc<SystemUnderTest>) -> Result<Self, CliError> {
        let settings = TestArgs {
            model: args.model.clone(),
            sut: args.sut.clone().unwrap_or_default(),
            quiescence_ms: args.quiescence_ms,
            time: args.time.clone(),
            solver: args.solver.clone(),
            ..TestArgs::default()
        };
        // Settings that make no sense are reported before the page is opened.
        run_config(&settings, spec, &sut)?;
        timing::clock(&settings.time, &sut)?;
        Ok(Self { sut, testers: args.testers.clone(), steps: args.steps.max(1), settings })
    }

    fn run_campaign(
        &self,
        model: &Model,
        request: &CampaignRequest,
        reporter: &mut dyn Reporter,
    ) -> Result<(), CliError> {
        let mut spec = model.clone();
        let seed = request.seed.unwrap_or_else(seed::fresh_seed);
        let args = TestArgs {
            tester: request.tester.clone(),
            runs: request.runs,
            steps: (request.tester == TesterSpec::Random).then_some(self.steps),
            ..self.settings.clone()
        };
        let mut chosen = ChosenTester::named(&args, &mut spec, seed)?;
        let config = CampaignConfig {
            runs: chosen.runs(&args),
            seed,
            on_failure: if request.keeps_going { OnFailure::GoOn } else { OnFailure::Stop },
            run: run_config(&args, &spec, &self.sut)?,
            tester: format!("{} tester", args.tester),
            sut: args.sut.clone(),
            file: args.model.file.clone(),
            set: args.model.settings(),
            ..CampaignConfig::default()
        };
        let opener =
            SystemOpener::new(&self.sut, Arc::new(spec.clone()), SolverRequest::endless(&args.solver))
                .on(timing::clock(&args.time, &self.sut)?);
        let mut solver = solver::make(&args.solver)?;
        opener.open(0, seed, |adapter| {
            let mut clock = self.clock();
            let mut redacting = RedactingReporter::new(reporter, self.sut.secrets());
            let sink = EventSink::new(&mut redacting, &mut *clock);
            let mut setup = RunSetup { cx: &mut Ctx::new(&mut spec, &mut *solver), adapter, stop: &STOP };
            // Whoever watches stops the campaign, so there is no time limit but that of the analysis before a step.
            let mut tester = DeadlineTester::new(
                chosen.tester(),
                None,
                tester_choice::analysis_limit(&args),
                limit::from_now,
            );
            session::prepare(&mut setup, &mut tester);
            campaign(&mut setup, &mut tester, &config, &sink)?;
            Ok(())
        })
    }

    /// Returns the clock of the run: a model that is played takes no time.
    fn clock(&self) -> Box<dyn RunClock> {
        match *self.sut {
            SystemUnderTest::Model(_) => Box::new(StoppedClock),
            SystemUnderTest::Outside(_) => Box::new(MonotonicClock::start()),
        }
    }
}

impl Launcher for SystemLauncher {
    fn sut(&self) -> String {
        self.settings.sut.clone()
    }

    fn testers(&self, sts: &Sts) -> Vec<TesterSpec> {
        let mut testers = self.testers.clone();
        testers
            .extend(TesterSpec::for_model(sts).into_iter().filter(|tester| !self.testers.contains(tester)));
        testers
    }

    fn may_hold(&self, sts: &Sts) -> bool {
        !sts.is_timed() || matches!(*self.sut, SystemUnderTest::Model(_))
    }

    fn launch(
        &self,
        model: &Model,
        request: &CampaignRequest,
        reporter: &mut dyn Reporter,
    ) -> Result<(), LaunchError> {
        STOP.store(false, Ordering::Relaxed);
        self.run_campaign(model, request, reporter)
            .map_err(|stop| LaunchError(redaction::hide(&stop.to_line())))
    }

    fn stop(&self) {
        STOP.store(true, Ordering::Relaxed);
    }
}
