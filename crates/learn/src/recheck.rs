//! Some answers of an earlier session, asked again before it goes on: a system that was replaced or changed is noticed
//! though nothing that names it has changed.

use std::collections::BTreeSet;

use ioxide_model::label::{Label, answer_name, input_name};
use ioxide_model::sts::Model;
use ioxide_model::value::Value;

use crate::messages::DataRun;
use crate::system::MessageSystem;

/// The number of runs that are asked again. Chosen by feel: a tenth of a second for most systems, and a system that
/// was replaced answers one of the longest runs differently.
pub const SAMPLE: usize = 8;
/// The number of runs if nothing says of which system they are. Chosen by feel.
pub const LARGE_SAMPLE: usize = 64;
/// The number of times that a run is asked before its answers count as changed: a message may come late once.
const MAX_TRIES: usize = 3;

/// The part of an answer that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDetail {
    /// Messages with their values.
    Values,
    /// Messages alone: the system may make up other values in every run.
    Messages,
}

/// An answer that is not what it was, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutdatedAnswer {
    /// The inputs up to the one that is answered.
    pub inputs: String,
    /// The earlier answer.
    pub before: String,
    /// The answer now.
    pub now: String,
}

/// Asks `n` of `runs` again; returns an answer that is not what it was.
///
/// # Errors
/// If the system cannot be queried.
pub fn find_outdated_answer<E>(
    system: &mut dyn MessageSystem<Error = E>,
    model: &Model,
    runs: &[DataRun],
    n: usize,
    detail: AnswerDetail,
) -> Result<Option<OutdatedAnswer>, E> {
    for run in choose_sample(runs, n, detail) {
        if let Some(change) = ask_repeatedly(system, model, run, detail)? {
            return Ok(Some(change));
        }
    }
    Ok(None)
}

/// Returns the runs to ask: half of them the longest, the others spread evenly.
fn choose_sample(runs: &[DataRun], n: usize, detail: AnswerDetail) -> Vec<&DataRun> {
    let is_usable =
        |run: &&DataRun| !run.is_empty() && (detail == AnswerDetail::Values || is_repeatable(run));
    let runs: Vec<&DataRun> = runs.iter().filter(is_usable).collect();
    // A set of positions: a run that is chosen twice is asked once, and all are asked in the order of `runs`.
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut by_length: Vec<usize> = (0..runs.len()).collect();
    by_length.sort_by_key(|&at| std::cmp::Reverse(runs[at].len()));
    chosen.extend(by_length.into_iter().take(n.div_ceil(2)));
    let step = (runs.len() / (n / 2).max(1)).max(1);
    chosen.extend((0..runs.len()).step_by(step).take(n / 2));
    chosen.into_iter().map(|at| runs[at]).collect()
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

/// Returns the first answer of `run` that differs every time it is asked; `None` if one try has all the answers.
fn ask_repeatedly<E>(
    system: &mut dyn MessageSystem<Error = E>,
    model: &Model,
    run: &DataRun,
    detail: AnswerDetail,
) -> Result<Option<OutdatedAnswer>, E> {
    let mut found = None;
    for _ in 0..MAX_TRIES {
        found = compare_answers(system, model, run, detail)?;
        if found.is_none() {
            break;
        }
    }
    Ok(found)
}

/// Asks `run` once; returns the first answer that differs.
fn compare_answers<E>(
    system: &mut dyn MessageSystem<Error = E>,
    model: &Model,
    run: &DataRun,
    detail: AnswerDetail,
) -> Result<Option<OutdatedAnswer>, E> {
    system.reset()?;
    // Up to the first difference: behind it, the system may be in another state than it was.
    for (at, (input, before)) in run.iter().enumerate() {
        let now = system.send_input(input)?;
        if !is_alike(before, &now, detail) {
            let name = |(input, _): &(Label, _)| input_name(&model.pool, &model.sts, input);
            let inputs: Vec<String> = run[..=at].iter().map(name).collect();
            let answer = |said: &[Label]| format!("`{}`", answer_name(&model.pool, &model.sts, said));
            let inputs = format!("`{}`", inputs.join(" "));
            return Ok(Some(OutdatedAnswer { inputs, before: answer(before), now: answer(&now) }));
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
