//! `ioxide test` in parts: its units, a part of them, and parts put together.
//!
//! Where no run depends on those before it (`random`, suites, tests, cases), every run is a unit. The other testers
//! learn from run to run: a campaign of theirs is shared out among `--shares` testers that know nothing of each other,
//! as `--jobs` does among instances of the system, and a share is a unit. The same units make the same campaign,
//! wherever they ran. In [`rounds`] the shares know what was covered before.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ioxide_args::{LimitArgs, MergeArgs, SolverArgs, TestArgs, TimeLimit};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter, SystemFacts};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::rounds::UnitRounds;
use ioxide_campaign::units::UnitSet;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_record::event::Event;
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_record::secrets::redacting::RedactingReporter;
use ioxide_report::summary::ENDLESS;
use ioxide_report::terminal::ClosingDetail;
use ioxide_run::campaign::merged::{MergeError, MergeFlow, MergedCampaign};
use ioxide_run::campaign::unit::{UnitEnd, UnitRecord};
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, CampaignState, run_seed};
use ioxide_run::coverage::EnoughCoverage;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::run::RunSetup;
use ioxide_smt::halt::Halt;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::spec::TesterSpec;
use serde_json::{Value as Json, json};

use super::outcome::{outcome_json, verdict};
use super::rounds;
use super::tester_choice::{self, ChosenTester};
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::record_folder::RecordFolder;
use crate::session::{self, EventTimes, ShowResults};
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::unit_command::{self, PartEnd, UnitCommand};
use crate::{html, identity, limit, load, machine, redaction, regressions, timing};

/// The number of shares of a tester that learns from run to run, without `--shares`. Chosen by feel: it limits how many
/// machines can work at once, and a share knows nothing of what the others learn, so more shares cover the same things
/// more often.
const SHARES: u64 = 16;
/// The time for the analysis before the first step without `--time-limit`. Chosen by feel, and long: a part that stops
/// the analysis sooner than another would do other runs.
const ANALYSIS_TIME_LIMIT: Duration = Duration::from_secs(600);
/// The number of units in a row that may end for trouble with the system. Chosen by feel: a system that is gone must
/// not use up all units, one that failed to start once must not end the part.
const MAX_TROUBLE: u32 = 3;

/// Shows the plan, or does a part of it.
pub fn run_part(args: &TestArgs) -> Result<ExitStatus, CliError> {
    unit_command::refuse_option(args.report.is_some(), "--report")?;
    unit_command::refuse_option(args.json, "--json")?;
    unit_command::refuse_option(args.format.is_some(), "--format")?;
    unit_command::refuse_option(args.jobs > 1, "--jobs")?;
    let sut = if args.part.plan { nowhere(&args.sut) } else { expand_address(&args.sut)? };
    let mut prepared = PreparedCampaign::new(args, &sut, &args.solver)?;
    let depends_on = prepared.depends_on();
    unit_command::run_units(&args.part, depends_on, &mut prepared)
}

/// A campaign whose tester is made and whose runs have not begun.
pub struct PreparedCampaign<'a> {
    args: &'a TestArgs,
    sources: Sources,
    /// The model.
    pub spec: Model,
    sut: SystemUnderTest,
    /// The tester of the campaign.
    pub chosen: ChosenTester,
    config: CampaignConfig,
    units: UnitNames,
}

impl<'a> PreparedCampaign<'a> {
    /// Prepares the campaign without a connection to the system.
    pub fn nowhere(args: &'a TestArgs, solver: &SolverArgs) -> Result<Self, CliError> {
        Self::new(args, &nowhere(&args.sut), solver)
    }

    /// Loads the model and makes the tester. Fails if the arguments cannot be divided into units, for example without
    /// `--seed` or with `--for`.
    fn new(args: &'a TestArgs, sut: &str, solver: &SolverArgs) -> Result<Self, CliError> {
        let (sources, mut spec) = load::load_model(&args.model.file, &args.model.settings())?;
        super::something_to_run(args, &spec)?;
        let seed = args.seed.ok_or_else(|| {
            CliError::usage("a plan needs a seed: without one every part would do other runs")
                .help("add `--seed 1`")
        })?;
        if args.for_time.is_some() {
            return Err(CliError::usage("`--for` cannot be planned: a unit must not depend on the clock")
                .help(
                    "give `--runs` or `--steps`; `budget` in the file of `ioxide campaign` limits the time",
                ));
        }
        if args.tester == TesterSpec::Kill {
            return Err(CliError::usage(
                "the tester `kill` cannot be planned: every part would decide all mutants again",
            )
            .help("decide them once, with `ioxide kill FILE --out SUITE`, and give `--tester suite:SUITE`"));
        }
        let sut = SystemUnderTest::from_name(sut, args.model.spec_source())?;
        machine::declare_outputs(&mut spec, &sut);
        // What a slower machine would not find in time would be another campaign.
        let limit =
            LimitArgs { time_limit: args.limit.time_limit.or(Some(TimeLimit::Within(ANALYSIS_TIME_LIMIT))) };
        let limited = TestArgs { solver: solver.clone(), limit, ..args.clone() };
        let chosen = ChosenTester::named(&limited, &mut spec, seed)?;
        let units = rounds::repeat_units(units(&chosen, args)?, &chosen, args)?;
        let config = CampaignConfig {
            // Every round has as many.
            runs: chosen.runs(args).saturating_mul(args.part.n_rounds()),
            tester: chosen.budgeted(args, None),
            // Whether it is enough is known when units are put together.
            until: None,
            ..super::campaign_config(args, &spec, &sut, seed)?
        };
        Ok(Self { args, sources, spec, sut, chosen, config, units })
    }

    /// The texts that results depend on.
    fn depends_on(&self) -> String {
        let named = self.args.tester.file().into_iter();
        let files: Vec<&str> = named.chain(unit_command::played_model(&self.args.sut)).collect();
        unit_command::depends_on(&[&self.sources], &files)
    }
}

/// The units of a campaign.
fn units(chosen: &ChosenTester, args: &TestArgs) -> Result<UnitNames, CliError> {
    let count = match chosen {
        ChosenTester::Tests(tester) => tester.n_runs() as u64 / args.runs.unwrap_or(1).max(1),
        ChosenTester::Random(_) | ChosenTester::Case(_) | ChosenTester::Suite(..) => chosen.runs(args),
        _ => return Ok(UnitNames::Numbered { word: "share", count: args.shares.unwrap_or(SHARES).max(1) }),
    };
    match (args.shares, count) {
        (Some(_), _) => {
            Err(CliError::usage(format!("the tester `{}` has no shares: every run is a unit", args.tester))
                .help("leave `--shares` out; `--plan` lists the units"))
        }
        (None, ENDLESS) => Err(CliError::usage("a plan needs a number of runs").help("add `--runs 1000`")),
        (None, count) => Ok(UnitNames::Numbered { word: "run", count }),
    }
}

/// The placeholder in `--sut` for the address that a worker is given.
const ADDRESS: &str = "${IOXIDE_ADDRESS}";

/// The system with the address that this worker was given.
fn expand_address(sut: &str) -> Result<String, CliError> {
    if !sut.starts_with("tcp:") || !sut.contains(ADDRESS) {
        return Ok(sut.to_owned());
    }
    let address = std::env::var("IOXIDE_ADDRESS").map_err(|_| {
        CliError::usage(format!("`--sut {sut}`: `IOXIDE_ADDRESS` is not set"))
            .help("`ioxide campaign` sets it from `pool`; set it yourself for a part of your own")
    })?;
    Ok(sut.replace(ADDRESS, &address))
}

/// Returns the system with a placeholder address, for a plan that never connects to it.
fn nowhere(sut: &str) -> String {
    sut.replace(ADDRESS, "127.0.0.1:1")
}

impl UnitCommand for PreparedCampaign<'_> {
    fn names(&self) -> UnitNames {
        self.units.clone()
    }

    fn system(&self) -> Result<Option<SystemFacts>, CliError> {
        // The address that a worker was given is not part of the system.
        identity::facts(&nowhere(&self.args.sut), &self.args.model.settings())
    }

    fn is_quick_to_repeat(&self) -> bool {
        let is_run = matches!(
            self.chosen,
            ChosenTester::Tests(_)
                | ChosenTester::Random(_)
                | ChosenTester::Case(_)
                | ChosenTester::Suite(..)
        );
        is_run && matches!(self.sut, SystemUnderTest::Outside(_))
    }

    fn rounds(&self) -> UnitRounds {
        UnitRounds::repeat(self.args.part.n_rounds())
    }

    fn take_feedback(&mut self, _round: u64, known: &Json) -> Result<(), CliError> {
        let covered = rounds::covered_switches(&self.spec.sts, known);
        let covered = covered.ok_or_else(|| {
            CliError::usage("the coverage of earlier rounds does not fit the model")
                .help("merge the parts of the rounds before again")
        })?;
        self.chosen.skip_covered(&self.spec.sts, &covered);
        Ok(())
    }

    fn more(&self, unit: u64) -> Json {
        json!({ "seed": run_seed(self.config.seed, unit) })
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let shares = self.units.count() / self.rounds().count();
        let Self { args, spec, sut, chosen, config, .. } = self;
        let request = SolverRequest::new(&args.solver, Halt::default());
        let opener = SystemOpener::new(sut, Arc::new(spec.clone()), request.clone())
            .on(timing::clock(&args.time, sut)?);
        let analysis_limit = tester_choice::analysis_limit(args);
        let interaction = chosen.interaction(args);
        let mut solver = request.make()?;
        let lines = UnitLines::default();
        opener.open(0, config.seed, |adapter| {
            let mut reporter = lines.clone();
            let mut clock =
                session::clock(if args.no_times { EventTimes::LeftOut } else { EventTimes::Told }, sut);
            let secrets = sut.secrets();
            let mut redacting = RedactingReporter::new(&mut reporter, secrets.clone());
            let sink = EventSink::new(&mut redacting, &mut *clock);
            let mut bench = RunSetup { cx: &mut Ctx::new(spec, &mut *solver), adapter, stop: &STOP };
            session::prepare(
                &mut bench,
                &mut DeadlineTester::new(chosen.tester(), None, analysis_limit, limit::from_now),
            );
            let campaign = CampaignState::start(bench.cx.sts, config, names.count(), &sink)?;
            let mut told = PartProgress::default();
            for unit in units.iter() {
                part.begin_unit(unit, &names.name(unit))?;
                lines.take_lines();
                let mut own = chosen.clone();
                let share = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                own.tester().share(share(unit % shares.max(1)), share(shares));
                let mut fair = InputFair::new(own.tester(), interaction);
                let mut tester = DeadlineTester::new(&mut fair, None, analysis_limit, limit::from_now);
                match campaign.unit(unit, &mut bench, &mut tester)? {
                    UnitEnd::Done(found) => told.write_done(part, names, unit, &found, &lines)?,
                    UnitEnd::Trouble(error) => {
                        told.record_trouble(part, names, unit, &secrets.hide(&error.to_string()))?;
                    }
                    UnitEnd::Stopped => return Ok(told.stopped_end()),
                }
                if campaign.is_over() && told.has_failed || told.troubles >= MAX_TROUBLE {
                    break;
                }
            }
            Ok(told.part_end(campaign.is_over()))
        })
    }
}

/// The progress of a part.
#[derive(Default)]
struct PartProgress {
    has_failed: bool,
    /// The number of units in a row that ended for trouble.
    troubles: u32,
    any_trouble: bool,
}

impl PartProgress {
    fn write_done(
        &mut self,
        part: &mut PartWriter,
        names: &UnitNames,
        unit: u64,
        found: &UnitRecord,
        lines: &UnitLines,
    ) -> Result<(), CliError> {
        self.troubles = 0;
        self.has_failed |= found.failed > 0;
        lines.take_lines().iter().for_each(|line| part.add_line(line));
        let result = serde_json::to_value(found).map_err(io::Error::other)?;
        Ok(part.write_done(unit, &names.name(unit), found.failed > 0, &result)?)
    }

    fn record_trouble(
        &mut self,
        part: &mut PartWriter,
        names: &UnitNames,
        unit: u64,
        why: &str,
    ) -> Result<(), CliError> {
        self.troubles += 1;
        self.any_trouble = true;
        eprintln!("error: no verdict: {}: {why}", names.name(unit));
        Ok(part.write_missing(unit, &names.name(unit), why)?)
    }

    fn stopped_end(&self) -> PartEnd {
        let status = if self.has_failed { ExitStatus::Failure } else { ExitStatus::Interrupted };
        PartEnd { end: EndOfPart::Stopped, status }
    }

    fn part_end(&self, is_over: bool) -> PartEnd {
        if is_over && self.has_failed {
            PartEnd { end: EndOfPart::Failure, status: ExitStatus::Failure }
        } else if self.any_trouble {
            let status = if self.has_failed { ExitStatus::Failure } else { ExitStatus::Infrastructure };
            PartEnd { end: EndOfPart::Trouble, status }
        } else if self.has_failed {
            PartEnd { end: EndOfPart::All, status: ExitStatus::Failure }
        } else {
            PartEnd { end: EndOfPart::All, status: ExitStatus::Success }
        }
    }
}

/// The events of the unit under way, as lines.
#[derive(Clone, Default)]
struct UnitLines(Arc<Mutex<Vec<String>>>);

impl UnitLines {
    fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Reporter for UnitLines {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(serde_json::to_string(event)?);
        Ok(())
    }
}

/// Puts parts of a campaign together; the system is not started, and the solver is the one `merge_args` names.
pub fn merge_campaign(
    args: &TestArgs,
    parts: &mut GatheredParts,
    merge_args: &MergeArgs,
) -> Result<ExitStatus, CliError> {
    let prepared = PreparedCampaign::nowhere(args, &merge_args.solver)?;
    let folder = RecordFolder::open(&merge_args.out)?.with_evidence(&prepared.spec);
    let mut reporters = session::reporters(
        if merge_args.json { ShowResults::Nothing } else { ShowResults::People(ClosingDetail::Full) },
        Some(&folder),
    )?;
    let whole = WholeCampaign::merge(prepared, parts, &mut reporters, &merge_args.solver)?;
    drop(reporters);
    let secrets = whole.sut.secrets();
    let WholeCampaign { sources, spec, config, chosen, outcome, .. } = &whole;
    let added = regressions::add_failures(Path::new(&merge_args.out), spec, &[], &outcome.failures, &secrets);
    added.unwrap_or_else(|error| {
        folder.mark_incomplete(&format!("the failing runs could not be saved: {error}"))
    });
    let told = if merge_args.json {
        let mut result = outcome_json(spec, config, outcome, &secrets);
        // What testers know of their progress stayed with the parts.
        for progress in ["cover", "suite", "game", "partial", "hunt", "plan"] {
            result[progress] = Json::Null;
        }
        if let Some(dated) = &merge_args.dated {
            result["dated"] = json!(dated);
        }
        secrets.hide_json(&mut result);
        writeln!(redaction::stdout(), "{result}")
    } else {
        eprintln!("record: {}", folder.record().display());
        Ok(())
    };
    html::write_beside(&folder, (sources, spec), None, &merge_args.solver);
    let status = exit::status_after_output(outcome_status(chosen, outcome), told)?;
    folder.end(status)
}

/// A campaign that was put together.
pub struct WholeCampaign {
    sources: Sources,
    spec: Model,
    sut: SystemUnderTest,
    chosen: ChosenTester,
    config: CampaignConfig,
    outcome: CampaignOutcome,
}

impl WholeCampaign {
    /// Merges the parts of a campaign that was prepared, and gives `reporter` the events that one machine would have
    /// given.
    pub fn merge(
        prepared: PreparedCampaign<'_>,
        parts: &mut GatheredParts,
        reporter: &mut dyn Reporter,
        solver: &SolverArgs,
    ) -> Result<Self, CliError> {
        let PreparedCampaign { args, sources, spec, sut, chosen, config, units, .. } = prepared;
        if units.count() != parts.manifest.count {
            return Err(CliError::usage(format!(
                "the plan has {} units here, and {} where the parts were made",
                units.count(),
                parts.manifest.count
            )));
        }
        let request = SolverRequest::new(solver, limit::halt(&args.limit));
        let (mut pool, mut solver) = (spec.clone(), request.make()?);
        let mut cx = Ctx::new(&mut pool, &mut *solver);
        let enough = args.until.map(|measure| EnoughCoverage::new(&mut cx, measure.into()));
        let mut merged = MergedCampaign::start(&spec, &config, enough, reporter)?;
        let is_whole = told_again(&mut merged, parts, &units)?;
        let outcome = merged.finish(&mut cx, is_whole)?;
        Ok(Self { sources, spec, sut, chosen, config, outcome })
    }
}

/// Adds the units in the order of the plan; returns whether none was missing.
fn told_again(
    merged: &mut MergedCampaign<'_>,
    parts: &mut GatheredParts,
    units: &UnitNames,
) -> Result<bool, CliError> {
    let mut is_whole = true;
    for unit in 0..parts.manifest.count {
        let Some(text) = parts.unit(unit)? else {
            is_whole &= parts.settled.contains(unit);
            continue;
        };
        let wrong = |error: &dyn std::fmt::Display| {
            CliError::usage(format!("unit `{}`: {error}", units.name(unit)))
                .help("delete its part and run it again")
        };
        let unit_result: UnitRecord = serde_json::from_value(text.result).map_err(|error| wrong(&error))?;
        let events = text.lines.iter().map(|line| serde_json::from_str(line));
        let events = events.collect::<Result<Vec<Event>, _>>().map_err(|error| wrong(&error))?;
        match merged.unit(unit + 1, &unit_result, events) {
            Ok(MergeFlow::GoOn) => (),
            Ok(MergeFlow::Over) => break,
            Err(MergeError::Io(error)) => return Err(error.into()),
            Err(error) => return Err(wrong(&error)),
        }
    }
    Ok(is_whole)
}

fn outcome_status(chosen: &ChosenTester, outcome: &CampaignOutcome) -> ExitStatus {
    if outcome.counts.failed > 0 {
        ExitStatus::Failure
    } else if outcome.interrupted {
        ExitStatus::Inconclusive
    } else {
        verdict(chosen, outcome)
    }
}
