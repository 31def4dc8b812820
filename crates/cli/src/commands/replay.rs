//! `ioxide replay` and `ioxide shrink`: the inputs of a recorded run, once more, and fewer of them.

use ioxide_runner::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_runner::event::{EventKind, Outcome};
use ioxide_runner::record::Record;
use ioxide_runner::run::RunConfig;
use ioxide_runner::shrink::ShrinkConfig;
use ioxide_testgen::tester::replay::{Replay as Replayer, Unmentioned, plan_of};

use crate::args::{Replay, Shrink};
use crate::exit::{ExitStatus, Stop};
use crate::session::{Session, Show, System, patience, status};
use crate::{load, record};

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
    let (_, spec) = load::model(&file, &args.set)?;
    let run = args.number.map_or_else(|| first_failing(&recorded), |number| Ok(number.saturating_sub(1)))?;
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
    let mut tester = Replayer::new(plan_of(&trace), Unmentioned::Stop);
    let config = CampaignConfig {
        seed: record::seed(&recorded, run).unwrap_or(0),
        run: RunConfig { patience: patience(args.quiescence_ms), ..RunConfig::default() },
        shrink,
        tester: format!("replay of run {}", run + 1),
        sut: args.sut.clone(),
        file,
        ..CampaignConfig::default()
    };
    let session = Session {
        spec,
        sut: System::named(&args.sut)?,
        tester: &mut tester,
        solver: &args.solver,
        show: Show::People,
        record: report,
    };
    session.run(&config)
}

/// The number of the first run that failed, or of the first run.
pub fn first_failing(recorded: &Record) -> Result<u64, Stop> {
    let mut finished = recorded.events.iter().filter_map(|event| match &event.event {
        EventKind::RunFinished(told) => Some(told),
        _ => None,
    });
    let first = finished.clone().next();
    let failing = finished.find(|told| told.outcome == Outcome::Fail).or(first);
    // A run that was cut off has no end; it is still there.
    Ok(failing.map_or(0, |told| told.run))
}
