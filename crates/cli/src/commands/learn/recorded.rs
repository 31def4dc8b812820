//! Learning from runs that were recorded: by ioxide, or as plain lines.
//!
//! A run is cut into inputs, each with all outputs up to the next one. Outputs before the first input are left out, and
//! so is the last input, unless silence shows that its answer is complete.

use std::collections::BTreeMap;
use std::path::Path;

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId};
use ioxide_fsm::word::IoWord;
use ioxide_learn::observer::Disagreement;
use ioxide_learn::passive::merge_runs;
use ioxide_learn::tree::ObservationTree;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_runner::judge::plain_trace;
use ioxide_runner::record::Record;
use ioxide_testgen::abstraction::{answer_name, input_name};
use serde_json::json;

use super::draft::LearnedDraft;
use super::finish;
use super::origin::MachineOrigin;
use super::session::DataRun;
use crate::args::LearnArgs;
use crate::commands::fsm::live::LiveSystem;
use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::Messages;
use crate::{load, record};

/// Makes a machine from the recorded runs.
pub fn run(args: &LearnArgs, model: Model) -> Result<ExitStatus, CliError> {
    let mut reader = TraceMachineReader {
        model: &model,
        inputs: BTreeMap::new(),
        names: MachineNames::default(),
        answers: BTreeMap::new(),
    };
    let mut runs = Vec::new();
    for path in &args.traces {
        for trace in traces(&model, path)? {
            runs.push(reader.read_trace(&trace));
        }
    }
    runs.retain(|run| !run.is_empty());
    if runs.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, "no recorded run has an input"));
    }
    let TraceMachineReader { inputs, names, answers, .. } = reader;
    let (kept, held) = split(runs, args.hold_out);
    let machine = merge_runs(names.inputs.len(), &kept).map_err(|found| contradiction(&names, &found))?;
    let messages = Messages { model, inputs, preamble: Vec::new() };
    let agreeing = machine.count_agreeing(&held);
    let states = machine.machine.n_states();
    let mut facts = vec![format!(
        "{} from {}; what was never seen is left out",
        count_noun(states as u64, "state"),
        count_noun(kept.len() as u64, "run"),
    )];
    if !held.is_empty() {
        facts.push(format!(
            "{agreeing} of {} that were kept back are explained",
            count_noun(held.len() as u64, "run")
        ));
    }
    let told = json!({
        "version": 1, "traces": args.traces, "states": states, "runs": kept.len(),
        "held_out": held.len(), "explained": agreeing,
    });
    let origin = MachineOrigin::of_runs(&args.traces.join(", "), facts, told);
    let draft = LearnedDraft::new(&machine.machine, &names, &answers, &messages, Some(&machine.support));
    exit::status_after_output(ExitStatus::Success, finish(args, &draft, &origin)?)
}

/// The recorded runs of `--from`, in the names of a system that is asked: each as far as its answers are certain.
pub fn seeds(
    args: &LearnArgs,
    messages: &Messages,
    live: &mut LiveSystem<'_>,
) -> Result<Vec<IoWord>, CliError> {
    let mut tree = ObservationTree::new(messages.inputs.len());
    let mut runs = Vec::new();
    for path in &args.from {
        for trace in traces(&messages.model, path)? {
            let run = name_run(certain(&trace, args.one_answer, &messages.preamble), messages, live);
            tree.insert_run(&run).map_err(|node| {
                let before = tree.trace(node);
                let now = run[..before.len()].to_vec();
                contradiction(live.names(), &Disagreement { before, now })
            })?;
            runs.push(run);
        }
    }
    Ok(runs)
}

/// The recorded runs of `--from` with their values, each as far as its answers are certain.
pub fn data_seeds(args: &LearnArgs, messages: &Messages) -> Result<Vec<DataRun>, CliError> {
    let mut runs = Vec::new();
    for path in &args.from {
        let traces = traces(&messages.model, path)?;
        runs.extend(traces.iter().map(|trace| certain(trace, args.one_answer, &messages.preamble)));
    }
    runs.retain(|run| !run.is_empty());
    if runs.is_empty() && !args.from.is_empty() {
        eprintln!(
            "note: no recorded run of `--from` begins with an input and a certain answer; nothing is known"
        );
    }
    Ok(runs)
}

/// A certain run in the names of a machine, up to the first input that is not ours.
fn name_run(run: DataRun, messages: &Messages, live: &mut LiveSystem<'_>) -> IoWord {
    let mut word = IoWord::new();
    for (input, said) in run {
        let name = input_name(&messages.model.pool, &messages.model.sts, &input);
        let Some(input) = messages.inputs.keys().position(|known| *known == name) else { break };
        word.push((InputId::new(input), live.intern_answer(said)));
    }
    word
}

/// A trace as inputs and answers, up to the first answer that may not be complete: with silence behind it, or with one
/// output where that is all there ever is.
fn certain(trace: &Trace, one_answer: bool, preamble: &[Label]) -> DataRun {
    let mut labels = &trace.labels[..];
    let mut run = DataRun::new();
    let is_said = |label: &&Label| matches!(label, Label::Output(..));
    let greeting = labels.iter().take_while(is_said).count();
    if labels[..greeting] != *preamble {
        return run;
    }
    labels = &labels[greeting..];
    while let Some((first, rest)) = labels.split_first() {
        if matches!(first, Label::Quiescence | Label::Delay(_)) {
            labels = rest;
            continue;
        }
        let Label::Input(..) = first else { break };
        let said: Vec<Label> = rest.iter().take_while(is_said).cloned().collect();
        let is_quiet = rest.get(said.len()) == Some(&Label::Quiescence);
        if !(is_quiet || one_answer && said.len() == 1) {
            break;
        }
        labels = &rest[said.len()..];
        run.push((first.clone(), said));
    }
    run
}

/// The runs to learn from and those to check with: every n-th is kept back.
fn split(runs: Vec<IoWord>, percent: u8) -> (Vec<IoWord>, Vec<IoWord>) {
    let share = usize::from(percent);
    let is_held = |i: usize| (i + 1) * share / 100 > i * share / 100;
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for (i, run) in runs.into_iter().enumerate() {
        if is_held(i) { held.push(run) } else { kept.push(run) }
    }
    (kept, held)
}

fn contradiction(names: &MachineNames, disagreement: &Disagreement) -> CliError {
    let show = |run: &IoWord| ioxide_fsm::word::show_io(names, run);
    let message = format!(
        "the runs contradict each other\n  one:     {}\n  another: {}",
        show(&disagreement.before),
        show(&disagreement.now)
    );
    CliError::new(ExitStatus::Inconclusive, message).help("machines answer the same inputs in one way")
}

/// All runs of a file.
fn traces(model: &Model, path: &str) -> Result<Vec<Trace>, CliError> {
    let misfit = |error: String| CliError::usage(format!("`{path}` does not fit the model: {error}"));
    let is_folder = Path::new(path).is_dir();
    let text = if is_folder { String::new() } else { load::read_data(path)? };
    let recorded = if is_folder {
        Some(record::read(path)?)
    } else if text.lines().next().is_some_and(|first| first.contains("\"ioxide-record\"")) {
        Some(Record::read_record(text.as_bytes()).map_err(|error| CliError::usage(error.to_string()))?)
    } else {
        None
    };
    let Some(recorded) = recorded else {
        let runs = text.split("\n\n").filter(|run| !run.trim().is_empty());
        return runs.map(|run| plain_trace(model, run).map_err(|error| misfit(error.to_string()))).collect();
    };
    let runs = 0..record::n_runs(&recorded);
    runs.map(|run| recorded.trace(model, run).map_err(|error| misfit(error.to_string()))).collect()
}

/// Reads traces as runs of a machine, with names for the inputs and answers that occur.
struct TraceMachineReader<'m> {
    model: &'m Model,
    inputs: BTreeMap<String, Label>,
    names: MachineNames,
    answers: BTreeMap<OutputId, Vec<Label>>,
}

impl TraceMachineReader<'_> {
    fn read_trace(&mut self, trace: &Trace) -> IoWord {
        let mut run: Vec<(InputId, Vec<Label>)> = Vec::new();
        for label in &trace.labels {
            match label {
                Label::Input(..) => run.push((self.intern_input(label), Vec::new())),
                Label::Output(..) => {
                    if let Some((_, said)) = run.last_mut() {
                        said.push(label.clone());
                    }
                }
                Label::Quiescence | Label::Delay(_) => (),
            }
        }
        // Whether more would have come at the end is known only after silence.
        if trace.labels.last() != Some(&Label::Quiescence) {
            run.pop();
        }
        run.into_iter().map(|(input, said)| (input, self.intern_answer(said))).collect()
    }

    fn intern_input(&mut self, label: &Label) -> InputId {
        let name = input_name(&self.model.pool, &self.model.sts, label);
        self.inputs.entry(name.clone()).or_insert_with(|| label.clone());
        self.names.input(&name).unwrap_or_else(|| self.names.inputs.push(name))
    }

    fn intern_answer(&mut self, said: Vec<Label>) -> OutputId {
        let name = answer_name(&self.model.pool, &self.model.sts, &said);
        let id = self.names.output(&name).unwrap_or_else(|| self.names.outputs.push(name));
        self.answers.entry(id).or_insert(said);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_runs_is_kept_back() {
        let runs = || (0..10).map(|i| vec![(InputId::new(i), OutputId::new(0))]).collect::<Vec<_>>();
        assert_eq!(split(runs(), 0).1.len(), 0);
        let (kept, held) = split(runs(), 20);
        assert_eq!((kept.len(), held.len()), (8, 2));
    }
}
