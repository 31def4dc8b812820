//! `ioxide replay` and `ioxide shrink`: the inputs of a recorded run, once more, and fewer of them.

use ioxide_runner::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_runner::event::{EventKind, Outcome};
use ioxide_runner::record::Record;
use ioxide_runner::run::RunConfig;
use ioxide_runner::shrink::ShrinkConfig;
use ioxide_testgen::tester::replay::{Replay as Replayer, Unmentioned, plan_of};

use crate::args::{Replay, Shrink};
use crate::exit::{ExitStatus, Stop};
use crate::session::{Session, Show, Times, patience, status};
use crate::system::System;
use crate::{load, machine, record, timing};

/// Replays the run that failed first, or the first run if none did.
pub fn run(args: &Replay) -> Result<ExitStatus, Stop> {
    Ok(status(&again(args, None, None)?))
}

/// Replays the run and makes it smaller if it fails.
pub fn shrink(args: &Shrink) -> Result<ExitStatus, Stop> {
    let budget = ShrinkConfig { attempts: args.attempts, ..ShrinkConfig::default() };
    let outcome = again(&args.replay, Some(budget), args.report.as_deref())?;
    if outcome.failures.is_empty() && outcome.counts.errors == 0 && !outcome.interrupted {
        return Err(Stop::new(ExitStatus::Inconclusive, "there is nothing to shrink: the run did not fail")
            .help("was it recorded with another system? `--number` names another run"));
    }
    Ok(status(&outcome))
}

/// Does the recorded run again.
fn again(args: &Replay, shrink: Option<ShrinkConfig>, report: Option<&str>) -> Result<CampaignOutcome, Stop> {
    let recorded = record::read(&args.run)?;
    let file = args.model.clone().or_else(|| record::model_file(&recorded)).ok_or_else(|| {
        Stop::usage(format!("`{}` does not name its model", args.run)).help("name it with `--model FILE`")
    })?;
    let set = if args.set.is_empty() { record::settings(&recorded) } else { args.set.clone() };
    let (_, mut spec) = load::model(&file, &set)?;
    let sut = System::named(&args.sut)?;
    let clock = timing::clock(&args.time, &sut)?;
    machine::know_outputs(&mut spec, &sut);
    let run = match args.number {
        Some(number) => numbered(&recorded, number)?,
        None => first_failing(&recorded),
    };
    let trace = recorded.trace(&spec, run).map_err(|error| {
        Stop::usage(format!("`{}` does not fit the model: {error}", args.run))
            .help("was the model changed since?")
    })?;
    if trace.is_empty() {
        return Err(Stop::new(
            ExitStatus::Nothing,
            format!("run {} of `{}` has no steps", run + 1, args.run),
        ));
    }
    let mut tester = Replayer::new(plan_of(&spec.sts, &trace), Unmentioned::Stop);
    let config = CampaignConfig {
        seed: record::seed(&recorded, run).unwrap_or(0),
        run: RunConfig {
            patience: sut.times(&spec, patience(&sut, &args.sut, args.quiescence_ms)?)?,
            tolerance: timing::tolerance(&args.time, &args.sut)?,
            ..RunConfig::default()
        },
        shrink,
        tester: format!("replay of run {}", run + 1),
        sut: args.sut.clone(),
        file,
        set,
        ..CampaignConfig::default()
    };
    let session = Session {
        spec,
        sut,
        clock,
        testers: vec![&mut tester],
        solver: &args.solver,
        show: Show::People,
        record: report,
        times: Times::Told,
    };
    session.run(&config)
}

/// The run that people call `number`.
pub fn numbered(recorded: &Record, number: u64) -> Result<u64, Stop> {
    match record::n_runs(recorded) {
        n if (1..=n).contains(&number) => Ok(number - 1),
        n => {
            Err(Stop::usage(format!("there is no run {number}: the record has {n}"))
                .help("runs count from 1"))
        }
    }
}

/// The first run that failed, or the first run.
pub fn first_failing(recorded: &Record) -> u64 {
    let mut finished = recorded.events.iter().filter_map(|event| match &event.event {
        EventKind::RunFinished(told) => Some(told),
        _ => None,
    });
    let first = finished.clone().next();
    let failing = finished.find(|told| told.outcome == Outcome::Fail).or(first);
    // A run that was cut off has no end; it is still there.
    failing.map_or(0, |told| told.run)
}
