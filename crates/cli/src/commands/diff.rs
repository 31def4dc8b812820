//! `ioxide diff`: what changed between two machines.

use std::io::{self, Write};

use ioxide_args::DiffArgs;
use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::{MachineNames, Mealy, OutputId};
use ioxide_fsm::word::Word;
use ioxide_learn::difference::{ChangedAnswer, MachineDifference, difference, machine_with_shared_ids};
use serde_json::{Value as Json, json};

use crate::exit::{self, CliError, ExitStatus};
use crate::limit;
use crate::machine::NamedMachine;
use crate::solver::SolverRequest;

/// Says how the machines differ; exit status 1 if they do.
pub fn run(args: &DiffArgs) -> Result<ExitStatus, CliError> {
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let _stage = limit::stage("comparing the machines");
    let old = NamedMachine::load(&args.old, &[], &request)?.listing;
    let new = NamedMachine::load(&args.new, &[], &request)?.listing;
    let machine = |path: &str, listing, other| {
        machine_with_shared_ids(listing, other).map_err(|refusal| refusal_error(path, &refusal))
    };
    let (old, new) = (machine(&args.old, &old, &new)?, machine(&args.new, &new, &old)?);
    let found = limit::run_within(&request.halt, || difference(&old, &new));
    let view = DiffView { args, old: &old, new: &new, found: &found };
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", view.to_json())
    } else {
        view.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
    };
    exit::status_after_output(if found.is_empty() { ExitStatus::Success } else { ExitStatus::Failure }, told)
}

/// Returns the error of a machine that cannot be compared.
fn refusal_error(path: &str, refusal: &MachineRefusal) -> CliError {
    CliError::new(ExitStatus::Model, format!("`{path}`: {refusal}"))
        .help("only deterministic machines are compared")
}

struct DiffView<'a> {
    args: &'a DiffArgs,
    old: &'a Mealy,
    new: &'a Mealy,
    found: &'a MachineDifference,
}

impl DiffView<'_> {
    /// Returns the differences, a line each.
    fn lines(&self) -> Vec<String> {
        let MachineDifference { changed, added, removed } = self.found;
        if self.found.is_empty() {
            return vec![format!(
                "no difference: every input sequence has the same answers ({} and {} states)",
                self.old.n_states(),
                self.new.n_states()
            )];
        }
        let mut lines = vec![format!(
            "{} different answers; {} states before, {} now",
            changed.len(),
            self.old.n_states(),
            self.new.n_states()
        )];
        let names = |machine: &Mealy, states: &[ioxide_fsm::mealy::StateId]| {
            states.iter().map(|&state| machine.names().states[state].clone()).collect::<Vec<_>>().join(", ")
        };
        if !removed.is_empty() {
            lines.push(format!("states removed: {}", names(self.old, removed)));
        }
        if !added.is_empty() {
            lines.push(format!("states added: {}", names(self.new, added)));
        }
        for change in changed.iter().take(self.args.max) {
            lines.extend(self.change(change));
        }
        if changed.len() > self.args.max {
            lines.push(format!("… and {} more; `--max` shows more", changed.len() - self.args.max));
        }
        lines
    }

    /// Returns the three lines about an answer that changed.
    fn change(&self, change: &ChangedAnswer) -> [String; 3] {
        let states = (&self.old.names().states[change.old_state], &self.new.names().states[change.new_state]);
        [
            format!("after {}", self.word(&change.word)),
            format!("  before: {} (in {})", answer_text(self.old.names(), change.old), states.0),
            format!("  now:    {} (in {})", answer_text(self.new.names(), change.new), states.1),
        ]
    }

    /// Returns the names of the inputs of a word.
    fn word(&self, word: &Word) -> String {
        word.iter().map(|&input| self.old.names().inputs[input].as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The inputs of a separating word.
    fn labels(&self, change: &ChangedAnswer) -> Vec<&String> {
        change.word.iter().map(|&input| &self.old.names().inputs[input]).collect()
    }

    fn to_json(&self) -> Json {
        let state = |machine: &Mealy, id| machine.names().states[id].clone();
        let change = |change: &ChangedAnswer| {
            json!({
                "inputs": self.labels(change),
                "before": change.old.map(|id| &self.old.names().outputs[id]),
                "now": change.new.map(|id| &self.new.names().outputs[id]),
                "state_before": state(self.old, change.old_state), "state_now": state(self.new, change.new_state),
            })
        };
        let MachineDifference { changed, added, removed } = self.found;
        json!({
            "version": 1, "equal": self.found.is_empty(), "equivalent": self.found.is_empty(),
            "separating": changed.iter().map(|change| self.labels(change)).collect::<Vec<_>>(),
            "added": added.iter().map(|&id| state(self.new, id)).collect::<Vec<_>>(),
            "removed": removed.iter().map(|&id| state(self.old, id)).collect::<Vec<_>>(),
            "changed": changed.iter().map(change).collect::<Vec<_>>(),
        })
    }
}

fn answer_text(names: &MachineNames, output: Option<OutputId>) -> String {
    output.map_or_else(|| "no answer".into(), |id| names.outputs[id].clone())
}
