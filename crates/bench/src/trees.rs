//! `ioxide bench trees`: adaptive trees compared with linear tests, on mutants of random nondeterministic machines.
//!
//! Every mutant that differs from its machine gets the test made for it: a shortest trace, and a tree. Both are played
//! against the mutant, whose choices are fair, again and again until it shows an output or quiescence that the machine
//! does not allow, or a limit is reached. Counted are the mutants that were killed and the messages it took, quiescence
//! included. A linear test ends where the system leaves its trace; the labels up to there are judged all the same.

use std::io::{self, Write};

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{self, CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_testgen::conform::InputCompletion;
use ioxide_testgen::conform::explicit::{
    AdaptiveTest, EnumerationBudget, EnumerationResult, adaptive_test, ioco,
};
use ioxide_testgen::mutate::{MutationOperator, mutants};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// The number of mutants played unless `--runs` gives another; chosen by feel.
const MUTANTS: u64 = 1_000;
/// The greatest number of mutants of one machine, so that no machine dominates; chosen by feel.
const OF_ONE: usize = 25;
/// The number of states of a machine; chosen by feel.
const STATES: usize = 24;
/// The number of runs after which a mutant is given up; chosen by feel.
const MAX_RUNS: usize = 200;

/// The result of one way of testing.
#[derive(Default)]
struct TestTally {
    killed: usize,
    runs: usize,
    messages: usize,
}

impl TestTally {
    /// Counts a test of a mutant.
    fn add(&mut self, (is_killed, runs, messages): (bool, usize, usize)) {
        self.killed += usize::from(is_killed);
        self.runs += runs;
        self.messages += messages;
    }

    /// Returns the figures for `--json`, per mutant.
    fn json(&self, mutants: usize) -> Json {
        let per = |n: usize| n as f64 / mutants.max(1) as f64;
        json!({
            "killed": self.killed, "runs_per_mutant": per(self.runs), "messages_per_mutant": per(self.messages),
        })
    }
}

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let wanted = usize::try_from(args.runs.unwrap_or(MUTANTS)).unwrap_or(usize::MAX);
    let (mut linear, mut trees) = (TestTally::default(), TestTally::default());
    let (mut played, mut forced, mut machines) = (0, 0, 0);
    let mut progress = ProgressLine::start();
    while played < wanted {
        machines += 1;
        progress.tick(|| format!("{played} of {wanted} mutants, {machines} machines"));
        let mut rng = ChaCha8Rng::seed_from_u64(args.seed.unwrap_or(1) << 32 | machines);
        let mut model = machine(&mut rng)?;
        let mut all = mutants(&mut model, &MutationOperator::ALL);
        all.shuffle(&mut rng);
        for mutant in all.iter().take(OF_ONE.min(wanted - played)) {
            let system = mutant.apply(&model.sts);
            let Some((trace, tree)) = tests(&model, &system) else { continue };
            played += 1;
            forced += usize::from(tree.is_forced);
            let mut player = ChancePlayer { model: &model, system: &system, rng: rng.clone() };
            linear.add(player.until_killed(|player| player.play_trace(&trace)));
            trees.add(player.until_killed(|player| player.climb(&tree)));
        }
    }
    let result = json!({
        "version": 1, "bench": "trees", "machines": machines, "mutants": played, "forced": forced,
        "linear": linear.json(played), "trees": trees.json(played),
    });
    let mut out = io::stdout().lock();
    let told = if args.json { writeln!(out, "{result}") } else { show_trees(&mut out, &result) };
    exit::status_after_output(ExitStatus::Success, told)
}

/// Shows a line for each kind of test.
fn show_trees(out: &mut impl Write, result: &Json) -> io::Result<()> {
    let (machines, mutants, forced) = (&result["machines"], &result["mutants"], &result["forced"]);
    writeln!(
        out,
        "{mutants} mutants of {machines} machines, {forced} of which a tree kills whatever they choose"
    )?;
    writeln!(out, "{:8} {:>7} {:>16} {:>20}", "", "killed", "runs per mutant", "messages per mutant")?;
    for name in ["linear", "trees"] {
        let row = &result[name];
        let number = |key: &str| row[key].as_f64().unwrap_or_default();
        writeln!(
            out,
            "{name:8} {:>7} {:>16.2} {:>20.2}",
            row["killed"].to_string(),
            number("runs_per_mutant"),
            number("messages_per_mutant")
        )?;
    }
    Ok(())
}

/// Returns a trace and a tree that distinguish `system` from the machine; `None` if nothing does within the budget.
fn tests(model: &Model, system: &Sts) -> Option<(Trace, AdaptiveTest)> {
    let (pool, spec, completion) = (&model.pool, &model.sts, InputCompletion::Angelic);
    let EnumerationResult::Fails(trace) = ioco(pool, system, spec, completion, EnumerationBudget::default())
    else {
        return None;
    };
    let tree = adaptive_test(
        pool,
        system,
        spec,
        (ConformanceRelation::Ioco, completion),
        EnumerationBudget::default(),
    )?;
    Some((trace, tree))
}

/// Returns a machine that waits for inputs in some states and gives one of several outputs in others.
fn machine(rng: &mut ChaCha8Rng) -> Result<Model, CliError> {
    let mut text = String::from("model Machine {\n input a input b input c\n output x output y output z\n");
    for state in 0..STATES {
        let is_waiting = state == 0 || rng.random_bool(0.5);
        let (verb, messages) = if is_waiting { ("on", ["a", "b", "c"]) } else { ("emit", ["x", "y", "z"]) };
        let n = if is_waiting { 3 } else { rng.random_range(1..4) };
        text.push_str(&format!("state s{state} {{\n"));
        let first = rng.random_range(0..3);
        for at in 0..n {
            let (message, next) = (messages[(first + at) % 3], rng.random_range(0..STATES));
            text.push_str(&format!("{verb} {message} -> s{next}\n"));
        }
        text.push_str("}\n");
    }
    text.push('}');
    load_text("machine.iox", &text)
}

/// A system that chooses at random, observed by the machine it should conform to.
struct ChancePlayer<'p> {
    model: &'p Model,
    system: &'p Sts,
    rng: ChaCha8Rng,
}

/// A run under way: the state of the system, and the belief about the machine.
struct PlayedRun {
    state: Option<ConcreteState>,
    belief: Vec<ConcreteState>,
    messages: usize,
}

impl ChancePlayer<'_> {
    /// Repeats a test until a run fails; returns whether one did, and the numbers of runs and messages.
    fn until_killed(&mut self, mut test: impl FnMut(&mut Self) -> (bool, usize)) -> (bool, usize, usize) {
        let mut messages = 0;
        for run in 1..=MAX_RUNS {
            let (is_killed, some) = test(self);
            messages += some;
            if is_killed {
                return (true, run, messages);
            }
        }
        (false, MAX_RUNS, messages)
    }

    /// Starts a run of the system, with the belief of the model.
    fn start(&self) -> PlayedRun {
        let state = |sts| concrete::initial_state(&self.model.pool, sts);
        let belief = state(&self.model.sts).into_iter().collect();
        PlayedRun { state: state(self.system), belief, messages: 0 }
    }

    /// Plays one run of a linear test; returns whether it failed, and the number of messages.
    fn play_trace(&mut self, trace: &Trace) -> (bool, usize) {
        let mut run = self.start();
        for label in &trace.labels {
            if matches!(label, Label::Input(..)) {
                self.send(&mut run, label);
                continue;
            }
            let seen = self.show_output(&mut run);
            if run.belief.is_empty() {
                return (true, run.messages);
            }
            if seen != *label {
                break;
            }
        }
        (false, run.messages)
    }

    /// Plays one run of a tree; returns whether it failed, and the number of messages.
    fn climb(&mut self, tree: &AdaptiveTest) -> (bool, usize) {
        let (mut run, mut at) = (self.start(), Some(0));
        while let Some(node) = at.map(|at| &tree.nodes[at]) {
            if let Some((label, next)) = &node.send {
                self.send(&mut run, label);
                at = *next;
                continue;
            }
            let seen = self.show_output(&mut run);
            if run.belief.is_empty() {
                return (true, run.messages);
            }
            at = node.allowed.iter().find(|(label, _)| *label == seen).and_then(|(_, next)| *next);
        }
        (false, run.messages)
    }

    /// Gives an input; a system that does not mention it ignores it.
    fn send(&mut self, run: &mut PlayedRun, label: &Label) {
        run.messages += 1;
        run.belief = self.states_after(&self.model.sts, &run.belief, label);
        if let Some(state) = run.state.take() {
            let next = self.states_after(self.system, std::slice::from_ref(&state), label);
            run.state = Some(if next.is_empty() { state } else { self.one_of(next) });
        }
    }

    /// Draws one of the system's outputs, or quiescence if it has none, and moves on.
    fn show_output(&mut self, run: &mut PlayedRun) -> Label {
        run.messages += 1;
        let outputs = |sts: &Sts| -> Vec<Label> {
            let gates = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output);
            gates.map(|(gate, _)| Label::Output(gate, Vec::new())).collect()
        };
        let mut shown: Vec<(Label, ConcreteState)> = Vec::new();
        for label in outputs(self.system) {
            let from = run.state.as_slice();
            shown.extend(
                self.states_after(self.system, from, &label).into_iter().map(|next| (label.clone(), next)),
            );
        }
        let (seen, state) = if shown.is_empty() {
            (Label::Quiescence, run.state.take())
        } else {
            let (label, next) = self.one_of(shown);
            (label, Some(next))
        };
        run.state = state;
        run.belief = match seen {
            Label::Quiescence => {
                let speaks = |state: &ConcreteState| {
                    outputs(&self.model.sts).iter().any(|label| {
                        !self.states_after(&self.model.sts, std::slice::from_ref(state), label).is_empty()
                    })
                };
                run.belief.drain(..).filter(|state| !speaks(state)).collect()
            }
            _ => self.states_after(&self.model.sts, &run.belief, &seen),
        };
        seen
    }

    fn states_after(&self, sts: &Sts, states: &[ConcreteState], label: &Label) -> Vec<ConcreteState> {
        let mut found: Vec<ConcreteState> = Vec::new();
        for state in states {
            for next in concrete::successors(&self.model.pool, sts, state, label).unwrap_or_default() {
                if !found.contains(&next.state) {
                    found.push(next.state);
                }
            }
        }
        found
    }

    fn one_of<T>(&mut self, mut some: Vec<T>) -> T {
        let at = self.rng.random_range(0..some.len());
        some.swap_remove(at)
    }
}
