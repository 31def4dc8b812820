//! The inputs of a model, tried on the system: a walk to a state that accepts each of them, in words.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_project::DescribedSystem;
use ioxide_record::clock::seconds;
use ioxide_run::clock::patience::Patience;
use ioxide_run::input_check::{check_inputs, show_time};
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Tolerance};
use ioxide_wire::adapter::check::{CheckState, SelfTestCheck};
use ioxide_wire::adapter::selftest::plain_inputs;
use ioxide_wire::adapter::{Adapter, RemoteConnection};

use crate::exit::CliError;
use crate::interrupt::{STOP, catch_interrupts};
use crate::system::connect_error;

/// Starts the system, resets it twice and tries every input of `model`; also returns the last words of the system.
pub fn walk(
    described: DescribedSystem,
    model: Model,
    connection: RemoteConnection,
) -> Result<(Vec<SelfTestCheck>, String), CliError> {
    catch_interrupts();
    let config = run_config(&described, &model)?;
    let interface = Arc::new(model);
    let secrets = described.secrets.clone();
    let started = described.start(Arc::clone(&interface), connection);
    let mut adapter = started.map_err(|error| connect_error(error, &secrets))?;
    let mut checks = Vec::new();
    for name in ["reset", "reset again"] {
        let start = Instant::now();
        match adapter.reset() {
            Ok(()) => checks.push(SelfTestCheck::new(
                name,
                CheckState::Ok,
                format!("after {}", show_time(start.elapsed())),
            )),
            Err(error) => {
                checks.push(SelfTestCheck::new(name, CheckState::Failed, error.to_string()));
                return Ok((checks, adapter.last_words()));
            }
        }
    }
    let mut spec = (*interface).clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut setup =
        RunSetup { cx: &mut Ctx::new(&mut spec, &mut solver), adapter: &mut adapter, stop: &STOP };
    let tried = check_inputs(&mut setup, &config, &plain_inputs(&interface))?;
    checks.extend(tried.describe(&interface));
    Ok((checks, adapter.last_words()))
}

/// Returns the check that says why no input was tried.
pub fn not_tried(error: &CliError) -> SelfTestCheck {
    SelfTestCheck::new(
        "inputs",
        CheckState::Odd,
        format!("not tried, since a second connection failed: {}", error.message()),
    )
}

/// The settings of the walks: those of a test without flags.
fn run_config(described: &DescribedSystem, model: &Model) -> Result<RunConfig, CliError> {
    let given = described.quiescence.default.map(|ms| Patience::new(Duration::from_millis(ms)));
    let times = described.quiescence.resolve(model)?;
    let patience = given.unwrap_or_else(Patience::new_calibrated);
    let patience = times.after.iter().fold(patience, |all, &(gate, time)| all.with_time_after(gate, time));
    let patience = times.within.iter().fold(patience, |all, &(place, time)| all.with_time_at(place, time));
    let default = RunConfig::default();
    let latency = described.latency.map_or(default.tolerance.latency.clone(), seconds);
    Ok(RunConfig {
        patience,
        relation: ConformanceRelation::usual(&model.sts),
        tolerance: Tolerance { latency, ..default.tolerance.clone() },
        ..default
    })
}
