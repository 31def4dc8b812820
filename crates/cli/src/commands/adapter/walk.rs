//! The inputs of a model, tried on the system: a walk to a state that accepts each of them, in words.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_project::DescribedSystem;
use ioxide_record::clock::seconds;
use ioxide_record::event::Explanation;
use ioxide_run::clock::patience::Patience;
use ioxide_run::input_check::{DifferingReplies, InputChecks, InputResult, SentCheck, check_inputs};
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Tolerance};
use ioxide_testgen::purpose::WhyUnreached;
use ioxide_wire::adapter::selftest::{CheckState, SelfTestCheck, plain_inputs};
use ioxide_wire::adapter::{Adapter, AdapterError, RemoteConnection};

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
            Ok(()) => {
                checks.push(check(name, CheckState::Ok, format!("after {}", show_time(start.elapsed()))))
            }
            Err(error) => {
                checks.push(check(name, CheckState::Failed, error.to_string()));
                return Ok((checks, adapter.last_words()));
            }
        }
    }
    let mut spec = (*interface).clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut setup =
        RunSetup { cx: &mut Ctx::new(&mut spec, &mut solver), adapter: &mut adapter, stop: &STOP };
    let tried = check_inputs(&mut setup, &config, &plain_inputs(&interface))?;
    checks.extend(tried.inputs.iter().map(|one| {
        let name = format!("input {}", interface.sts.gates[one.gate].name);
        let (state, note) = describe_result(&interface, &one.result);
        check(&name, state, note)
    }));
    checks.extend(sum_up(&tried));
    checks.extend(compare_repetition(&interface, &tried));
    Ok((checks, adapter.last_words()))
}

/// Returns the check that says why no input was tried.
pub fn not_tried(error: &CliError) -> SelfTestCheck {
    check(
        "inputs",
        CheckState::Odd,
        format!("not tried, since a second connection failed: {}", error.message()),
    )
}

fn check(name: &str, state: CheckState, note: String) -> SelfTestCheck {
    SelfTestCheck { name: name.to_owned(), state, note }
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

/// Returns the state of a check and its note. The adapter is at fault only if it did not deliver a message; the rest is
/// between the model and the system.
fn describe_result(model: &Model, result: &InputResult) -> (CheckState, String) {
    match result {
        InputResult::Sent(sent) => (CheckState::Ok, describe_sent(model, sent)),
        InputResult::NoPath(WhyUnreached::Never(_)) => {
            (CheckState::Odd, "not sent: no state of the model that can be reached accepts it".into())
        }
        InputResult::NoPath(why) => {
            (CheckState::Skipped, format!("no path to a state that accepts it: {why}"))
        }
        InputResult::NotReached(reason) => (CheckState::Odd, format!("not sent: {reason}")),
        InputResult::Forbidden(why) => (CheckState::Odd, describe_forbidden(why)),
        InputResult::Broken(_, reason) => (CheckState::Failed, reason.clone()),
        InputResult::Error(AdapterError::Refused(reason)) => (CheckState::Ok, format!("refused: {reason}")),
        InputResult::Error(error) => (CheckState::Failed, error.to_string()),
        InputResult::Interrupted => (CheckState::Skipped, "interrupted".into()),
    }
}

fn describe_sent(model: &Model, sent: &SentCheck) -> String {
    let input = sent.input.show(&model.pool, &model.sts);
    let after = match sent.inputs_before {
        0 => String::new(),
        1 => " after 1 other input".into(),
        n => format!(" after {n} other inputs"),
    };
    format!("{input}{after}: {}", describe_replies(model, &sent.replies))
}

fn describe_replies(model: &Model, replies: &[Label]) -> String {
    match replies {
        [] => "no reply".into(),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", then {} more", rest.len()) };
            format!("{}{more}", first.show(&model.pool, &model.sts))
        }
    }
}

fn describe_forbidden(why: &Explanation) -> String {
    let allowed: Vec<&str> = why.allowed.iter().map(|one| one.label.as_str()).collect();
    let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(" or ") };
    format!("got {}, but the model allows {allowed}: one of the two is wrong", why.observed)
}

/// Returns the check whether any input has a reply, with the time of the slowest one.
fn sum_up(tried: &InputChecks) -> Option<SelfTestCheck> {
    let sent: Vec<&SentCheck> = tried
        .inputs
        .iter()
        .filter_map(|one| if let InputResult::Sent(sent) = &one.result { Some(sent) } else { None })
        .collect();
    if sent.is_empty() {
        return None;
    }
    let n_replied = sent.iter().filter(|one| !one.replies.is_empty()).count();
    if n_replied == 0 {
        let note = "no input has a reply: if one should have, check the end of the inputs (`input_end`), `framing` \
                    and `silence_ms`";
        return Some(check("replies", CheckState::Odd, note.into()));
    }
    let slowest = sent.iter().filter_map(|one| one.slowest).max();
    let slowest = slowest.map_or_else(String::new, |time| format!(", the slowest after {}", show_time(time)));
    Some(check("replies", CheckState::Ok, format!("to {n_replied} of {} inputs{slowest}", sent.len())))
}

/// Returns the check whether all replies were the same the second time; `None` if no input was sent twice.
fn compare_repetition(model: &Model, tried: &InputChecks) -> Option<SelfTestCheck> {
    let name = "same again";
    if let Some(differing) = &tried.differing {
        return Some(check(name, CheckState::Odd, describe_differing(model, differing)));
    }
    let is_repeated = tried.inputs.iter().any(|one| matches!(one.result, InputResult::Sent(_)));
    let is_complete = !tried.inputs.iter().any(|one| match &one.result {
        InputResult::Error(error) => !matches!(error, AdapterError::Refused(_)),
        result => matches!(result, InputResult::Interrupted),
    });
    (is_repeated && is_complete)
        .then(|| check(name, CheckState::Ok, "after a reset every input has the same replies".into()))
}

fn describe_differing(model: &Model, differing: &DifferingReplies) -> String {
    let again = match &differing.again {
        InputResult::Sent(sent) => describe_replies(model, &sent.replies),
        other => describe_result(model, other).1,
    };
    format!(
        "{} got {}, and after a reset {again}: the reset does not reset, or the system chooses",
        differing.input.show(&model.pool, &model.sts),
        describe_replies(model, &differing.before),
    )
}

fn show_time(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
