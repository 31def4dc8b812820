//! Campaigns started from the page: those of `ioxide test`, with the settings given to `explore`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ioxide_explorer::live::{CampaignRequest, LaunchError, Launcher};
use ioxide_model::sts::Model;
use ioxide_runner::campaign::{CampaignConfig, OnFailure, campaign};
use ioxide_runner::clock::{MonotonicClock, RunClock, StoppedClock};
use ioxide_runner::reporter::{EventSink, Reporter};
use ioxide_runner::run::RunSetup;
use ioxide_runner::secrets::discreet::Discreet;
use ioxide_symex::Ctx;

use crate::args::{ExploreArgs, TestArgs};
use crate::commands::test::run_config;
use crate::commands::test::tester_choice::ChosenTester;
use crate::exit::CliError;
use crate::interrupt::STOP;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{redaction, seed, solver, timing};

/// Starts campaigns against one system.
pub struct SystemLauncher {
    spec: Model,
    sut: SystemUnderTest,
    /// The arguments `ioxide test` would have; tester, runs and seed are replaced by those of the page.
    settings: TestArgs,
}

impl SystemLauncher {
    /// Tests `sut` against `spec` when asked to.
    pub fn new(args: &ExploreArgs, spec: Model, sut: SystemUnderTest) -> Result<Self, CliError> {
        let settings = TestArgs {
            model: args.model.clone(),
            sut: args.sut.clone().unwrap_or_default(),
            steps: Some(args.steps.max(1)),
            quiescence_ms: args.quiescence_ms,
            time: args.time.clone(),
            solver: args.solver.clone(),
            ..TestArgs::default()
        };
        // Settings that make no sense are told before the page is opened.
        run_config(&settings, &spec, &sut)?;
        timing::clock(&settings.time, &sut)?;
        Ok(Self { spec, sut, settings })
    }

    fn run_campaign(&self, request: &CampaignRequest, reporter: &mut dyn Reporter) -> Result<(), CliError> {
        let mut spec = self.spec.clone();
        let seed = request.seed.unwrap_or_else(seed::fresh_seed);
        let args =
            TestArgs { tester: request.tester.name().into(), runs: request.runs, ..self.settings.clone() };
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
            let mut discreet = Discreet::new(reporter, self.sut.secrets()?);
            let sink = EventSink::new(&mut discreet, &mut *clock);
            let mut bench = RunSetup { cx: &mut Ctx::new(&mut spec, &mut *solver), adapter, stop: &STOP };
            campaign(&mut bench, chosen.tester(), &config, &sink)?;
            Ok(())
        })
    }

    fn clock(&self) -> Box<dyn RunClock> {
        match self.sut {
            SystemUnderTest::Model(_) => Box::new(StoppedClock),
            SystemUnderTest::Outside(_) => Box::new(MonotonicClock::start()),
        }
    }
}

impl Launcher for SystemLauncher {
    fn sut(&self) -> String {
        self.settings.sut.clone()
    }

    fn may_hold(&self) -> bool {
        !self.spec.sts.is_timed() || matches!(self.sut, SystemUnderTest::Model(_))
    }

    fn launch(&self, request: &CampaignRequest, reporter: &mut dyn Reporter) -> Result<(), LaunchError> {
        STOP.store(false, Ordering::Relaxed);
        self.run_campaign(request, reporter).map_err(|stop| LaunchError(redaction::hide(&stop.to_line())))
    }

    fn stop(&self) {
        STOP.store(true, Ordering::Relaxed);
    }
}
