//! The testers that `--tester` names.

use std::io::{self, Write};
use std::time::Duration;

use ioxide_args::{CoverArg, LimitArgs, TestArgs, TimeLimit};
use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::sts::{Model, Sts, SwitchId};
use ioxide_report::guarantee::{CompleteGuarantee, SuiteEvidence};
use ioxide_report::summary::ENDLESS;
use ioxide_run::campaign::{CampaignOutcome, RunCounts};
use ioxide_symex::ExploreLimits;
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::purpose::PurposeSet;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::case::CaseGuided;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::defaults;
use ioxide_testgen::tester::game::GameTester;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::{Interaction, RandomConfig, RandomTester};
use ioxide_testgen::tester::script::ScriptTester;
use ioxide_testgen::tester::spec::TesterSpec;
use ioxide_testgen::tester::suite::SuiteTester;
use ioxide_testgen::tester::tour::TourTester;
use serde_json::{Value as Json, json};

use super::plan::PlanProgress;
use super::{case, hunted, plan};
use crate::commands::{complete, fsm, kill};
use crate::exit::{CliError, ExitStatus};
use crate::limit;
use crate::purpose_search;
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;

/// The number of steps of all runs of the hunting tester. Chosen by feel: `ioxide bench faults` measures what is found
/// within them, and more steps find rarer faults.
const HUNT_STEPS: usize = 10_000;
/// The same where the model has clocks or unknown values, whose steps need the solver and take longer. Chosen by feel.
const HUNT_STEPS_WITH_SOLVER: usize = 2_000;
/// The number of steps of all runs of the hunting tester with `--until`, ten times the usual number: a goal that cannot
/// be reached ends the campaign here. Chosen by feel.
const UNTIL_STEPS: usize = 100_000;
/// The duration of a hunt on a system outside without `--for`, `--runs` or `--steps`. Chosen by feel: as long as people
/// wait for a test; a longer hunt finds rarer faults.
pub const HUNT_TIME: Duration = Duration::from_secs(30);
/// The time for analysis before a step without `--time-limit`. Chosen by feel: with less, purposes of large models are
/// missed; with more, nothing seems to happen.
const ANALYSIS_TIME_BEFORE_TESTING: Duration = Duration::from_secs(15);

/// The tester that decides the moves of a campaign.
#[derive(Clone)]
pub enum ChosenTester {
    Hunt(Box<HuntTester>),
    Random(Box<RandomTester>),
    Cover(Box<CoverTester>, Box<PurposeSet>),
    Tour(Box<TourTester>, Box<PurposeSet>),
    Tests(Box<ScriptTester>),
    Suite(Box<SuiteTester>, Option<CompleteGuarantee>),
    /// Tests that kill mutants; true if `--time-limit` passed before all of them were found.
    Kill(Box<KillTester>, bool),
    Case(Box<CaseGuided>),
    Game(Box<GameTester>),
}

impl ChosenTester {
    /// The tester `--tester` names.
    pub fn named(args: &TestArgs, spec: &mut Model, seed: u64) -> Result<Self, CliError> {
        let request = SolverRequest::new(
            &args.solver,
            limit::halt_within(&half(&args.limit), ANALYSIS_TIME_BEFORE_TESTING),
        );
        refuse_timed(&args.tester, spec)?;
        refuse_any_answer(args)?;
        Ok(match &args.tester {
            TesterSpec::Hunt => Self::Hunt(Box::new(HuntTester::new(hunt(args, &spec.sts)))),
            TesterSpec::Random => {
                let steps = args.steps.unwrap_or(defaults::RANDOM_STEPS);
                let config = RandomConfig { steps, interaction: args.interaction.unwrap_or_default().into() };
                Self::Random(Box::new(RandomTester::new(config, seed)))
            }
            TesterSpec::Cover => Self::cover(args, purposes(args, spec, &request)?, rounds(args)),
            TesterSpec::Tour => {
                refuse_silences(args)?;
                let set = purposes(args, spec, &request)?;
                let limits = ExploreLimits { max_states: defaults::TOUR_STATES, max_depth: u32::MAX };
                Self::Tour(Box::new(TourTester::new(&set, rounds(args), limits)), Box::new(set))
            }
            TesterSpec::Purpose(names) => {
                let named =
                    |name| purpose_search::find_named_purpose(spec, &request, name, defaults::PURPOSE_STATES);
                let found = names.iter().map(named).collect::<Result<Vec<_>, _>>()?;
                Self::cover(args, PurposeSet::from_purposes(&spec.sts, found), CoverRounds::Endless)
            }
            TesterSpec::Force(name) => {
                let interaction = args.interaction.unwrap_or_default().into();
                Self::Game(Box::new(purpose_search::game(spec, &request, name, interaction)?))
            }
            TesterSpec::Tests => Self::tests(args, spec, None)?,
            TesterSpec::Test(name) => Self::tests(args, spec, Some(name))?,
            TesterSpec::Case(file) => Self::Case(Box::new(case::tester(file, spec, &args.solver)?)),
            TesterSpec::Suite(file) => {
                let (tester, guarantee) = fsm::suite::tester(file, spec)?;
                Self::Suite(Box::new(tester), guarantee)
            }
            TesterSpec::Complete(options) => {
                let (tester, guarantee) =
                    complete::make_tester(options, spec, &request, seed, &args.model.file)?;
                Self::Suite(Box::new(tester), Some(guarantee))
            }
            TesterSpec::Kill => {
                let (killer, is_partial) = kill::tester(spec, &request)?;
                Self::Kill(Box::new(killer), is_partial && args.limit.time_limit.is_some())
            }
        })
    }

    /// Returns the tester that executes the purposes of `set`.
    fn cover(args: &TestArgs, set: PurposeSet, rounds: CoverRounds) -> Self {
        let tester = CoverTester::new(&set, rounds, PurposeOrder::default());
        let tester = if args.any_answer { tester.for_any_answer() } else { tester };
        Self::Cover(Box::new(tester), Box::new(set))
    }

    /// The tests written with the model, or the one called `name`.
    fn tests(args: &TestArgs, spec: &Model, name: Option<&str>) -> Result<Self, CliError> {
        let tests = spec.sts.goals.iter().filter(|goal| matches!(goal.kind, GoalKind::Test(_)));
        let wanted: Vec<Goal> =
            tests.clone().filter(|goal| name.is_none_or(|name| *goal.name == *name)).cloned().collect();
        if !wanted.is_empty() {
            let times = args.runs.map_or(1, |runs| usize::try_from(runs).unwrap_or(usize::MAX));
            return Ok(Self::Tests(Box::new(ScriptTester::new(&wanted, times))));
        }
        let names: Vec<String> = tests.map(|goal| format!("`{}`", goal.name)).collect();
        Err(match (name, names.is_empty()) {
            (Some(name), false) => CliError::usage(format!("the model has no test `{name}`"))
                .help(format!("there is {}", names.join(", "))),
            _ => CliError::new(ExitStatus::Nothing, "nothing to run: the model has no tests")
                .help("write one: `test \"name\" { send ...; expect ... }`"),
        })
    }

    /// One tester for each of `jobs` workers, which share the work.
    pub fn shared(&self, jobs: usize) -> Vec<Self> {
        let share = |worker| {
            let mut own = self.clone();
            own.tester().share(worker, jobs);
            own
        };
        (0..jobs).map(share).collect()
    }

    /// Joins the testers of all workers into one that knows what all of them did; `None` if there are none.
    pub fn joined(workers: Vec<Self>) -> Option<Self> {
        let join = |mut one: Self, other: Self| {
            match (&mut one, other) {
                (Self::Hunt(mine), Self::Hunt(theirs)) => mine.absorb(&theirs),
                (Self::Cover(mine, _), Self::Cover(theirs, _)) => mine.absorb(&theirs),
                (Self::Tour(mine, _), Self::Tour(theirs, _)) => mine.absorb(&theirs),
                (Self::Suite(mine, _), Self::Suite(theirs, _)) => mine.absorb(&theirs),
                (Self::Kill(mine, _), Self::Kill(theirs, _)) => mine.absorb(&theirs),
                (Self::Game(mine), Self::Game(theirs)) => mine.absorb(&theirs),
                // These know nothing that the next run could use.
                (Self::Random(_) | Self::Tests(_) | Self::Case(_), _) => (),
                (
                    Self::Hunt(_)
                    | Self::Cover(..)
                    | Self::Tour(..)
                    | Self::Suite(..)
                    | Self::Kill(..)
                    | Self::Game(_),
                    _,
                ) => debug_assert!(false, "workers of one campaign have the same tester"),
            }
            one
        };
        workers.into_iter().reduce(join)
    }

    /// Returns the tester, whichever was chosen.
    pub fn tester(&mut self) -> &mut (dyn Tester + Send) {
        match self {
            Self::Hunt(tester) => &mut **tester,
            Self::Random(tester) => &mut **tester,
            Self::Cover(tester, _) => &mut **tester,
            Self::Tour(tester, _) => &mut **tester,
            Self::Tests(tester) => &mut **tester,
            Self::Suite(tester, _) => &mut **tester,
            Self::Kill(tester, _) => &mut **tester,
            Self::Case(tester) => &mut **tester,
            Self::Game(tester) => &mut **tester,
        }
    }

    /// Leaves out what these switches cover, since they were certainly taken before; called before the first run.
    pub fn skip_covered(&mut self, sts: &Sts, taken: &[SwitchId]) {
        let covered = |set: &PurposeSet| set.criterion.covered_along(sts, taken.iter().copied());
        match self {
            Self::Hunt(tester) => tester.declare_taken(sts, taken),
            Self::Cover(tester, set) => tester.skip_met(&covered(set)),
            Self::Tour(tester, set) => tester.skip_met(&covered(set)),
            // These execute all their tests, whatever was covered before.
            Self::Random(_)
            | Self::Tests(_)
            | Self::Suite(..)
            | Self::Kill(..)
            | Self::Case(_)
            | Self::Game(_) => (),
        }
    }

    /// Returns the interaction to impose on the tester; those that choose between sending and observing themselves are
    /// left as they are.
    pub fn interaction(&self, args: &TestArgs) -> Interaction {
        match (self, args.interaction) {
            (Self::Hunt(_) | Self::Random(_) | Self::Game(_), _) | (_, None) => Interaction::InputEager,
            (_, Some(wanted)) => wanted.into(),
        }
    }

    /// Returns the maximal number of runs.
    pub fn runs(&self, args: &TestArgs) -> u64 {
        args.runs.unwrap_or(match self {
            Self::Hunt(_) => ENDLESS,
            _ if args.for_time.is_some() => ENDLESS,
            Self::Random(_) | Self::Case(_) | Self::Game(_) => defaults::RUNS,
            Self::Cover(..) if args.tester != TesterSpec::Cover => defaults::RUNS,
            Self::Cover(tester, _) => tester.max_runs(defaults::COVER_ROUNDS) as u64,
            Self::Tour(_, set) => (defaults::COVER_ROUNDS * set.total) as u64,
            Self::Tests(tester) => tester.n_runs() as u64,
            Self::Suite(tester, _) => tester.runs() as u64,
            Self::Kill(tester, _) => tester.max_runs() as u64,
        })
    }

    /// Returns the time limit of the campaign: `--for`, else half a minute for a hunt on a system outside without
    /// `--runs` or `--steps`.
    pub fn time_limit(&self, args: &TestArgs, sut: &SystemUnderTest) -> Option<Duration> {
        let is_bounded = args.runs.is_some() || args.steps.is_some();
        match (self, sut) {
            (Self::Hunt(_), SystemUnderTest::Outside(_)) if !is_bounded => args.for_time.or(Some(HUNT_TIME)),
            _ => args.for_time,
        }
    }

    /// Returns the name of the tester and its limits, for people.
    pub fn budgeted(&self, args: &TestArgs, limit: Option<Duration>) -> String {
        let steps = match self {
            Self::Hunt(tester) if tester.budget() < usize::MAX => Some(format!("{} steps", tester.budget())),
            _ => None,
        };
        let time = limit.map(|limit| format!("{} s", limit.as_secs_f64()));
        let most: Vec<String> = steps.into_iter().chain(time).collect();
        if most.is_empty() {
            format!("{} tester", args.tester)
        } else {
            format!("{} tester, at most {}", args.tester, most.join(" or "))
        }
    }

    /// Writes for people what a hunt has covered and what not and, if the clock ended the campaign, after which time,
    /// how much of the plan was done.
    pub fn show_end(
        &self,
        out: &mut impl Write,
        sts: &Sts,
        outcome: &CampaignOutcome,
        ended_after: Option<Duration>,
    ) -> io::Result<()> {
        if let Self::Hunt(tester) = self {
            hunted::show_hunt(out, sts, tester, outcome)?;
        }
        match ended_after {
            Some(limit) => {
                plan::show_plan_progress(out, sts, PlanProgress::of(self, outcome), outcome, limit)
            }
            None => Ok(()),
        }
    }

    /// Returns what a hunt has covered and what not, for programs; null with other testers.
    pub fn hunt_json(&self, sts: &Sts, outcome: &CampaignOutcome, was_late: bool) -> Json {
        match self {
            Self::Hunt(tester) => hunted::hunt_json(sts, tester, outcome, was_late),
            _ => Json::Null,
        }
    }

    /// Writes the results of the purposes or tests for people.
    pub fn show(&self, out: &mut impl Write, sts: &Sts, counts: &RunCounts) -> io::Result<()> {
        if let Self::Suite(tester, guarantee) = self {
            fsm::suite::show_suite_progress(out, tester)?;
            return guarantee
                .as_ref()
                .map_or(Ok(()), |guarantee| guarantee.show(out, &evidence(tester, counts)));
        }
        if let Self::Kill(tester, _) = self {
            let (done, tests) = (tester.n_done(), tester.n_tests());
            writeln!(out, "killing suite: {done} of {tests} tests completed")?;
            let Some((out_of, all)) = tester.suspects().map(Suspects::ruled_out) else { return Ok(()) };
            return writeln!(
                out,
                "mutants: the system is none of {out_of} of the {all} mutants that differ from the model"
            );
        }
        if let Self::Game(tester) = self {
            return show_game(out, tester);
        }
        if let Self::Tour(tester, set) = self {
            let (covered, criterion) = (tester.covered_items().len(), set.criterion);
            writeln!(out, "tour: {covered} of {} {} covered", set.total, criterion.noun())?;
            return unreached(out, sts, set);
        }
        let Self::Cover(tester, set) = self else { return Ok(()) };
        let executed = tester.tally().iter().filter(|tally| tally.passed > 0).count();
        let covered = match tester.conservative().len() {
            0 => String::new(),
            n => format!("; their runs covered {n} of {} {}", set.total, set.criterion.noun()),
        };
        writeln!(out, "purposes: {executed} of {} reached{covered}", set.purposes.len())?;
        for (purpose, tally) in set.purposes.iter().zip(tester.tally()) {
            if let (0, Some(reason)) = (tally.passed, &tally.reason) {
                writeln!(out, "  purpose `{}` was not reached: {reason}", purpose.name)?;
            }
        }
        unreached(out, sts, set)
    }

    /// Returns whether [`show`](Self::show) is about coverage alone.
    pub fn is_about_coverage(&self) -> bool {
        matches!(self, Self::Cover(..) | Self::Tour(..))
    }

    /// Returns whether everything to cover is on a purpose or proved unreachable, and all killing tests were found;
    /// true for other testers.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Cover(_, set) | Self::Tour(_, set) => set.is_settled(),
            Self::Kill(_, is_partial) => !is_partial,
            _ => true,
        }
    }

    /// Returns the progress of a suite for programs; null with other testers.
    pub fn suite_json(&self, counts: &RunCounts) -> Json {
        match self {
            Self::Suite(tester, guarantee) => {
                let mut told = fsm::suite::progress_json(tester);
                if let Some(guarantee) = guarantee {
                    told["guarantee"] = guarantee.to_json(&evidence(tester, counts));
                }
                told
            }
            _ => Json::Null,
        }
    }

    /// Returns the results of the runs for a goal (`force:NAME`) for programs; null with other testers.
    pub fn game_json(&self) -> Json {
        let Self::Game(tester) = self else { return Json::Null };
        let tally = tester.tally();
        json!({ "goal": tester.name(), "runs": tally.runs, "reached": tally.reached, "forced": tally.is_forced })
    }

    /// Returns the results of the purposes for programs; null with other testers.
    pub fn json(&self, sts: &Sts) -> Json {
        if let Self::Tour(tester, set) = self {
            let (criterion, covered) = (set.criterion.to_string(), tester.covered_items().len());
            return json!({ "criterion": criterion, "total": set.total, "covered": covered });
        }
        let Self::Cover(tester, set) = self else { return Json::Null };
        let rows = set.purposes.iter().zip(tester.tally()).map(|(purpose, tally)| {
            let switches: Vec<&str> = purpose.path().map(|step| step.name(sts)).collect();
            json!({
                "switches": switches, "runs": tally.runs, "passed": tally.passed, "missed": tally.missed,
                "reason": tally.reason,
            })
        });
        json!({
            "purposes": rows.collect::<Vec<_>>(),
            "criterion": set.criterion.to_string(),
            "total": set.total,
            "a_priori": set.covered_items().len(),
            "conservative": tester.conservative().len(),
            "liberal": tester.liberal().len(),
        })
    }
}

/// Returns the tests of a suite that were carried out, and their verdicts.
fn evidence(tester: &SuiteTester, counts: &RunCounts) -> SuiteEvidence {
    let n_undecided = counts.inconclusive + counts.errors;
    SuiteEvidence {
        n_tests: tester.runs(),
        progress: tester.progress(),
        n_failed: counts.failed,
        n_undecided,
    }
}

/// Writes the results of the runs for a goal (`force:NAME`).
fn show_game(out: &mut impl Write, tester: &GameTester) -> io::Result<()> {
    let tally = tester.tally();
    let strategy = match tally.is_forced {
        Some(true) => "ioxide can reach it with any reply of the system",
        Some(false) if tally.is_undecided => {
            "ioxide found no strategy within its limits, and chose the most likely way"
        }
        Some(false) => "ioxide cannot guarantee to reach it, and chose the most likely way",
        None => "ioxide did not try",
    };
    writeln!(out, "goal `{}`: reached in {} of {} runs; {strategy}", tester.name(), tally.reached, tally.runs)
}

/// Returns half of the time limit for the analysis, so that its findings can be tested in the other half.
fn half(limit: &LimitArgs) -> LimitArgs {
    let time_limit = limit.time_limit.map(|limit| match limit {
        TimeLimit::Within(time) => TimeLimit::Within(time / 2),
        TimeLimit::Unlimited => TimeLimit::Unlimited,
    });
    LimitArgs { time_limit }
}

/// Returns the time that a tester may take for analysis before a step; `None` if it is unlimited.
pub fn analysis_limit(args: &TestArgs) -> Option<Duration> {
    args.limit.time_limit.unwrap_or(TimeLimit::Within(ANALYSIS_TIME_BEFORE_TESTING)).time()
}

/// Only testers that follow paths choose values for any answer when they are told to.
fn refuse_any_answer(args: &TestArgs) -> Result<(), CliError> {
    if args.any_answer && !matches!(args.tester, TesterSpec::Cover | TesterSpec::Purpose(_)) {
        return Err(CliError::usage(format!(
            "`--any-answer` does nothing with the tester `{}`",
            args.tester
        ))
        .help("it is for `cover` and `purpose:NAME`; `force:NAME` chooses so anyway"));
    }
    Ok(())
}

/// A tour goes from switch to switch, and silence is none.
fn refuse_silences(args: &TestArgs) -> Result<(), CliError> {
    if args.cover == CoverArg::Silences {
        return Err(CliError::usage("`tour` covers transitions, states or messages, not silences")
            .help("use `--tester cover --cover silences`"));
    }
    Ok(())
}

/// Testers that know nothing of time cannot test a model that has clocks.
fn refuse_timed(tester: &TesterSpec, spec: &Model) -> Result<(), CliError> {
    if spec.sts.is_timed() && !tester.knows_time() {
        Err(CliError::usage(format!(
            "`{}` has clocks, and the tester `{tester}` does not support clocks",
            spec.sts.name
        ))
        .help("use `cover`, `purpose:NAME`, `case:FILE`, `tests`, `kill` or `random`"))
    } else {
        Ok(())
    }
}

/// Returns the budget and the criterion of a hunt.
fn hunt(args: &TestArgs, sts: &Sts) -> HuntConfig {
    let plain = if sts.is_timed() || sts.has_unknowns() { HUNT_STEPS_WITH_SOLVER } else { HUNT_STEPS };
    let steps = match (args.runs, args.steps, args.for_time, args.until) {
        (Some(_), ..) | (None, None, Some(_), _) => usize::MAX,
        (None, Some(steps), ..) => steps,
        (None, None, None, Some(_)) => UNTIL_STEPS,
        (None, None, None, None) => plain,
    };
    let walk = args.runs.and(args.steps).unwrap_or(usize::MAX);
    HuntConfig {
        steps,
        walk,
        criterion: args.cover.into(),
        interaction: args.interaction.unwrap_or_default().into(),
    }
}

/// The purposes of the wanted criterion.
fn purposes(args: &TestArgs, spec: &mut Model, request: &SolverRequest<'_>) -> Result<PurposeSet, CliError> {
    let set = purpose_search::find_purposes(spec, args.cover.into(), request, defaults::PURPOSE_STATES)?;
    if let Some(halted) = request.halt.halt_reason() {
        eprintln!("warning: the test purposes are {}", limit::partial(halted));
    }
    match (set.purposes.is_empty(), set.is_settled()) {
        (false, _) => Ok(set),
        (true, true) => Err(CliError::new(
            ExitStatus::Nothing,
            "nothing to run: no transition of the model can be reached",
        )),
        (true, false) => {
            let why = set.unreached.first().map(|unreached| unreached.why.to_string()).unwrap_or_default();
            Err(CliError::new(
                ExitStatus::Inconclusive,
                format!("nothing to run: no test purpose was found: {why}"),
            )
            .help("use `--tester random`, or raise `--time-limit`"))
        }
    }
}

/// Returns the number of times everything is covered: without end if `--runs` limits it.
fn rounds(args: &TestArgs) -> CoverRounds {
    if args.runs.is_some() { CoverRounds::Endless } else { CoverRounds::Bounded(defaults::COVER_ROUNDS) }
}

/// Writes the items that no purpose covers, each with the reason.
fn unreached(out: &mut impl Write, sts: &Sts, set: &PurposeSet) -> io::Result<()> {
    for unreached in &set.unreached {
        writeln!(out, "  `{}`: {}", unreached.item.name(sts), unreached.why)?;
    }
    Ok(())
}
