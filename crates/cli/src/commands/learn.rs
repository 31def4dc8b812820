//! `ioxide learn`: a model from a running system, or from recorded runs.
//!
//! The model that is given says which messages there are; everything else is asked. What was answered is kept in a
//! session file as it comes, so that an interrupted session goes on where it was. Learning itself is in the crate
//! `learn`.

mod alphabet;
mod asking;
mod data;
#[doc(hidden)]
pub mod line;
mod machine;
mod output;
mod page;
pub mod parts;
mod recorded;
mod refusal;
mod session;
mod timed;

use std::time::Duration;

use ioxide_args::LearnArgs;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_learn::oracle::OracleSuites;

use self::page::LearningPage;
use crate::exit::{CliError, ExitStatus};
use crate::{load, unit_command};

/// The extra states without `--extra`. With two, every machine of the measurements is learned with every seed.
const DEFAULT_EXTRA_STATES: usize = 2;

/// The name of suites by more than one method.
const MIXED: &str = "mixed";

/// The default time limit of learning. Chosen by feel: systems are slow to answer, and a session that is cut off can be
/// continued.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(3600);

/// Learns from a system, or from recorded runs.
pub fn run(args: &LearnArgs) -> Result<ExitStatus, CliError> {
    if args.part.is_planned() {
        return parts::learn_part(args);
    }
    unit_command::whole(&args.part)?;
    run_session(args)
}

/// Learns from the recorded runs or from the system, and writes the model.
fn run_session(args: &LearnArgs) -> Result<ExitStatus, CliError> {
    let (_, model) = load::load_model(&args.model.file, &args.model.settings())?;
    let Some(sut) = &args.sut else { return recorded::learn_from_records(args, model) };
    let page = LearningPage::serve(args, sut)?;
    let viewer = page.viewer();
    let outcome = if args.time {
        timed::learn_time_outs(args, sut, model, viewer)
    } else if args.data {
        data::learn_values(args, sut, model, viewer)
    } else {
        machine::learn_machine(args, sut, model, viewer)
    };
    page.serve_until_interrupted(outcome)
}

/// Returns the suites that `--suite` names.
fn parse_suites(name: &str) -> Result<OracleSuites, CliError> {
    if name == MIXED {
        return Ok(OracleSuites::Mixed);
    }
    name.parse::<SuiteMethod>().map(OracleSuites::Of).map_err(|_| {
        let names: Vec<&str> = SuiteMethod::ALL.iter().map(|method| method.name()).collect();
        CliError::usage(format!("there is no suite method `{name}`"))
            .help(format!("there is {MIXED}, {}", names.join(", ")))
    })
}
