//! Some answers of an earlier session, asked again before it goes on: a system that was replaced or changed is noticed
//! though nothing that names it has changed.

use std::collections::BTreeSet;

use ioxide_fsm::reduce::LiveMachine as _;
use ioxide_model::label::Label;
use ioxide_model::value::Value;
use ioxide_testgen::abstraction::{answer_name, input_name};

use super::learning_error;
use super::session::{DataRun, EarlierLines};
use crate::args::{LearnArgs, UnstableArg};
use crate::commands::fsm::live::{LiveSystem, LiveTestError};
use crate::exit::CliError;

/// The number of runs that are asked again. Chosen by feel: a tenth of a second for most systems, and a system that
/// was replaced answers one of the longest runs differently.
const SAMPLE: usize = 8;
/// The number of runs if nothing says of which system they are.
const LARGE_SAMPLE: usize = 64;
/// The number of times that a run is asked before its answers count as changed: a message may come late once.
const MAX_TRIES: usize = 3;

/// The part of an answer that is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AnswerDetail {
    /// Messages with their values.
    Values,
    /// Messages alone: values may be made up anew in every run.
    Messages,
}

/// Asks some of `runs` again, and refuses the session if the system does not answer as it did.
pub fn check(
    args: &LearnArgs,
    lines: &EarlierLines,
    runs: Vec<DataRun>,
    detail: AnswerDetail,
    live: &mut LiveSystem<'_>,
) -> Result<(), CliError> {
    if args.unstable != UnstableArg::Stop && !runs.is_empty() {
        eprintln!(
            "note: no earlier answer was asked again: with `--unstable` answers may differ from run to run"
        );
        return Ok(());
    }
    let n = if lines.is_identified { SAMPLE } else { LARGE_SAMPLE };
    for run in sample(runs, n, detail) {
        if let Some(change) = find_unstable(live, &run, detail).map_err(learning_error)? {
            let path = args.session.as_deref().unwrap_or_default();
            let then = lines.started.as_ref().map_or_else(String::new, |started| format!(" on {started}"));
            return Err(CliError::usage(format!(
                "`{path}` does not fit the system any more: after {} it answered {}{then}, and now {}",
                change.inputs, change.before, change.now
            ))
            .help(
                "the system has changed, or answers in several ways: name another file and learn it from the start \
                 (`--unstable` says what to do with answers that differ); the session keeps what it has",
            ));
        }
    }
    Ok(())
}

/// Returns the runs to ask: half of them the longest, the others spread evenly.
fn sample(mut runs: Vec<DataRun>, n: usize, detail: AnswerDetail) -> Vec<DataRun> {
    runs.retain(|run| !run.is_empty() && (detail == AnswerDetail::Values || is_repeatable(run)));
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut by_length: Vec<usize> = (0..runs.len()).collect();
    by_length.sort_by_key(|&at| std::cmp::Reverse(runs[at].len()));
    chosen.extend(by_length.into_iter().take(n.div_ceil(2)));
    let step = (runs.len() / (n / 2).max(1)).max(1);
    chosen.extend((0..runs.len()).step_by(step).take(n / 2));
    chosen.into_iter().map(|at| runs[at].clone()).collect()
}

/// Returns whether no input of the run has a value that an answer before it had: the system may have made it up.
fn is_repeatable(run: &DataRun) -> bool {
    let mut seen: BTreeSet<&Value> = BTreeSet::new();
    run.iter().all(|(input, said)| {
        let is_new = label_values(input).iter().all(|value| !seen.contains(value));
        seen.extend(said.iter().flat_map(label_values));
        is_new
    })
}

fn label_values(label: &Label) -> &[Value] {
    match label {
        Label::Input(_, values) | Label::Output(_, values) => values,
        Label::Quiescence | Label::Delay(_) => &[],
    }
}

/// An answer that is not what it was, in words.
struct UnstableAnswer {
    inputs: String,
    before: String,
    now: String,
}

/// Returns the first answer of `run` that differs every time it is asked; `None` if one try has all the answers.
fn find_unstable(
    live: &mut LiveSystem<'_>,
    run: &DataRun,
    detail: AnswerDetail,
) -> Result<Option<UnstableAnswer>, LiveTestError> {
    let mut found = None;
    for _ in 0..MAX_TRIES {
        found = compare_answers(live, run, detail)?;
        if found.is_none() {
            break;
        }
    }
    Ok(found)
}

fn compare_answers(
    live: &mut LiveSystem<'_>,
    run: &DataRun,
    detail: AnswerDetail,
) -> Result<Option<UnstableAnswer>, LiveTestError> {
    live.reset()?;
    for (at, (input, before)) in run.iter().enumerate() {
        let now = live.send_input(input)?;
        if !is_alike(before, &now, detail) {
            let model = live.model();
            let name = |(input, _): &(Label, _)| input_name(&model.pool, &model.sts, input);
            let inputs: Vec<String> = run[..=at].iter().map(name).collect();
            let answer = |said: &[Label]| format!("`{}`", answer_name(&model.pool, &model.sts, said));
            let inputs = format!("`{}`", inputs.join(" "));
            return Ok(Some(UnstableAnswer { inputs, before: answer(before), now: answer(&now) }));
        }
    }
    Ok(None)
}

fn is_alike(before: &[Label], now: &[Label], detail: AnswerDetail) -> bool {
    let same = |(a, b): (&Label, &Label)| match (a, b) {
        (Label::Output(one, _), Label::Output(other, _)) if detail == AnswerDetail::Messages => one == other,
        _ => a == b,
    };
    before.len() == now.len() && before.iter().zip(now).all(same)
}
