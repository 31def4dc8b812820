//! `ioxide test`: a live system against a model, on the fly.

use std::io::{self, Write};

use ioxide_model::sts::{Model, Sts};
use ioxide_runner::campaign::{CampaignConfig, CampaignOutcome, OnFailure};
use ioxide_runner::run::RunConfig;
use ioxide_testgen::purpose::PurposeSet;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{Cover, Order, Rounds};
use ioxide_testgen::tester::purpose::PurposeGuided;
use ioxide_testgen::tester::random::{Random, RandomConfig};
use serde_json::{Value as Json, json};

use super::purposes;
use crate::args::Test;
use crate::exit::{ExitStatus, Stop};
use crate::session::{Session, Show, System, patience, status};
use crate::{load, seed};

/// Symbolic states looked at for purposes.
const MAX_STATES: usize = 20_000;
/// How often `cover` executes every purpose if nothing else is said.
const ROUNDS: usize = 5;
/// How many runs the other testers do.
const RUNS: u64 = 10;

/// Who decides the moves.
enum Chosen {
    Random(Box<Random>),
    Cover(Box<Cover>, Box<PurposeSet>),
    Purpose(Box<PurposeGuided>),
}

/// Tests the system and says what was found.
pub fn run(args: &Test) -> Result<ExitStatus, Stop> {
    let (_, mut spec) = load::model(&args.model.file, &args.model.set)?;
    refuse_timed(&spec)?;
    if args.runs == Some(0) || args.steps == 0 {
        return Err(Stop::new(ExitStatus::Nothing, "nothing to run: `--runs` and `--steps` must be above 0"));
    }
    if spec.sts.switches.is_empty() {
        return Err(Stop::new(ExitStatus::Nothing, "nothing to run: the model has no transitions"));
    }
    let sut = System::named(&args.sut)?;
    let seed = args.seed.unwrap_or_else(seed::fresh);
    let mut chosen = Chosen::named(args, &mut spec, seed)?;
    let config = CampaignConfig {
        runs: chosen.runs(args),
        seed,
        on_failure: if args.keep_going { OnFailure::GoOn } else { OnFailure::Stop },
        run: RunConfig { patience: patience(&sut, &args.sut, args.quiescence_ms)?, ..RunConfig::default() },
        tester: format!("{} tester", args.tester),
        sut: args.sut.clone(),
        file: args.model.file.clone(),
        set: args.model.set.clone(),
        ..CampaignConfig::default()
    };
    let shown = spec.clone();
    let session = Session {
        spec,
        sut,
        tester: chosen.tester(),
        solver: &args.solver,
        show: if args.json { Show::Nothing } else { Show::People },
        record: args.report.as_deref(),
    };
    let outcome = session.run(&config)?;
    let mut out = io::stdout().lock();
    if args.json {
        let mut result = outcome_json(&shown, &config, &outcome);
        result["cover"] = chosen.json(&shown.sts);
        writeln!(out, "{result}")?;
    } else {
        chosen.show(&mut out, &shown.sts)?;
        if let Some(folder) = &args.report {
            eprintln!("record: {}", crate::record::newest(folder).display());
        }
    }
    Ok(status(&outcome))
}

impl Chosen {
    /// The tester `--tester` names.
    fn named(args: &Test, spec: &mut Model, seed: u64) -> Result<Self, Stop> {
        if let Some(name) = args.tester.strip_prefix("purpose:") {
            let purpose = purposes::named(spec, &args.solver, name, MAX_STATES)?;
            return Ok(Self::Purpose(Box::new(PurposeGuided::new(purpose, seed))));
        }
        match args.tester.as_str() {
            "random" => {
                let config = RandomConfig { steps: args.steps, ..RandomConfig::default() };
                Ok(Self::Random(Box::new(Random::new(config, seed))))
            }
            "cover" => {
                let set = purposes::found(spec, &args.solver, MAX_STATES)?;
                if set.purposes.is_empty() {
                    return Err(Stop::new(
                        ExitStatus::Nothing,
                        "nothing to run: no switch of the model can be reached",
                    ));
                }
                let rounds = if args.runs.is_some() { Rounds::Endless } else { Rounds::Bounded(ROUNDS) };
                Ok(Self::Cover(Box::new(Cover::new(&set, rounds, Order::default())), Box::new(set)))
            }
            other => Err(Stop::usage(format!("there is no tester `{other}`"))
                .help("there is `cover`, `purpose:NAME` and `random`")),
        }
    }

    fn tester(&mut self) -> &mut dyn Tester {
        match self {
            Self::Random(tester) => &mut **tester,
            Self::Cover(tester, _) => &mut **tester,
            Self::Purpose(tester) => &mut **tester,
        }
    }

    /// How many runs there are at most.
    fn runs(&self, args: &Test) -> u64 {
        args.runs.unwrap_or(match self {
            Self::Random(_) | Self::Purpose(_) => RUNS,
            Self::Cover(tester, _) => tester.max_runs(ROUNDS) as u64,
        })
    }

    /// What became of the purposes, for people.
    fn show(&self, out: &mut impl Write, sts: &Sts) -> io::Result<()> {
        let Self::Cover(tester, set) = self else { return Ok(()) };
        let executed = tester.tally().iter().filter(|tally| tally.passed > 0).count();
        writeln!(out, "purposes: {executed} of {} executed", set.purposes.len())?;
        writeln!(
            out,
            "switch coverage: {} of {} a priori, {} a posteriori (liberal: {})",
            set.covered().len(),
            set.total,
            tester.conservative().len(),
            tester.liberal().len()
        )?;
        for (purpose, tally) in set.purposes.iter().zip(tester.tally()) {
            if let (0, Some(reason)) = (tally.passed, &tally.reason) {
                writeln!(out, "  purpose to `{}` not executed: {reason}", purpose.name)?;
            }
        }
        for unreached in &set.unreached {
            writeln!(out, "  `{}`: {}", sts.switches[unreached.switch].label, unreached.why)?;
        }
        Ok(())
    }

    /// What became of the purposes, for programs; nothing with other testers.
    fn json(&self, sts: &Sts) -> Json {
        let Self::Cover(tester, set) = self else { return Json::Null };
        let rows = set.purposes.iter().zip(tester.tally()).map(|(purpose, tally)| {
            let switches: Vec<&str> = purpose.path().map(|id| &*sts.switches[id].label).collect();
            json!({
                "switches": switches, "runs": tally.runs, "passed": tally.passed, "missed": tally.missed,
                "reason": tally.reason,
            })
        });
        json!({
            "purposes": rows.collect::<Vec<_>>(),
            "total": set.total,
            "a_priori": set.covered().len(),
            "conservative": tester.conservative().len(),
            "liberal": tester.liberal().len(),
        })
    }
}

/// Timed models are checked, shown and stepped through; running them needs clocks the runner does not have yet.
pub fn refuse_timed(spec: &Model) -> Result<(), Stop> {
    if !spec.sts.is_timed() {
        return Ok(());
    }
    Err(Stop::usage(format!(
        "`{}` has clocks; testing against timed models is not supported yet",
        spec.sts.name
    ))
    .help("`check`, `show` and `step` work on it"))
}

/// The outcome for programs.
pub fn outcome_json(spec: &Model, config: &CampaignConfig, outcome: &CampaignOutcome) -> Json {
    let labels = |trace: &ioxide_model::trace::Trace| {
        trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect::<Vec<_>>()
    };
    let failures: Vec<Json> = outcome
        .failures
        .iter()
        .map(|failure| {
            json!({
                "run": failure.id.run,
                "seed": failure.id.seed,
                "trace": labels(&failure.trace),
                "reproduced": failure.reproduced,
                "of": failure.of,
                "shrunk": failure.shrunk.as_ref().map(|shrunk| labels(&shrunk.trace)),
            })
        })
        .collect();
    let names = |ids: Vec<ioxide_model::sts::SwitchId>| {
        ids.into_iter().map(|id| spec.sts.switches[id].label.to_string()).collect::<Vec<_>>()
    };
    json!({
        "version": 1,
        "seed": config.seed,
        "runs": outcome.counts.total(),
        "passed": outcome.counts.passed,
        "failed": outcome.counts.failed,
        "inconclusive": outcome.counts.inconclusive,
        "errors": outcome.counts.errors,
        "error": outcome.error.as_ref().map(ToString::to_string),
        "interrupted": outcome.interrupted,
        "steps": outcome.steps,
        "failures": failures,
        "covered": names(outcome.coverage.covered().collect()),
        "never": names(outcome.coverage.never().collect()),
    })
}
