//! A second opinion on paths as objectives: ioco_F by the definition, run by run.
//!
//! Small random models without data, every trace up to a bound. A trace is in F if some run with this trace
//! follows the path as far as both go, or if a beginning of it is the trace of a run along the whole path. Where the
//! path has silence, the run must be silent; other silences do not leave it.

use std::fmt::Write as _;

use ioxide_model::goal::{GoalKind, PathStep};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, Model, Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;

use super::Objective;
use crate::judge::{JudgeConfig, judge};
use crate::samples::model;

const LOCATIONS: u64 = 4;
const MODELS: u64 = 40;
const LENGTH: usize = 4;

/// Numbers that look random (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    /// Draws a number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A random model with a path; internal steps lead upwards, so they end.
fn random_model(dice: &mut Dice) -> Model {
    let (mut states, mut switches) = (String::new(), Vec::new());
    for from in 0..LOCATIONS {
        let _ = write!(states, "state l{from} {{");
        for _ in 0..1 + dice.below(3) {
            let verb = ["on a", "on b", "emit x", "emit y", "internal"][dice.below(5) as usize];
            let is_internal = verb == "internal";
            if is_internal && from + 1 == LOCATIONS {
                continue;
            }
            let to =
                if is_internal { from + 1 + dice.below(LOCATIONS - from - 1) } else { dice.below(LOCATIONS) };
            let _ = writeln!(states, "\n t{}: {verb} -> l{to}", switches.len());
            switches.push((from, to));
        }
        states += "}\n";
    }
    let path = random_path(dice, &switches);
    model(&format!("model M {{ input a input b output x output y\n{states}\n{path} }}"))
}

fn random_path(dice: &mut Dice, switches: &[(u64, u64)]) -> String {
    let mut path = vec![dice.below(switches.len() as u64) as usize];
    for _ in 0..dice.below(4) {
        let at = switches[path[path.len() - 1]].1;
        let next: Vec<usize> = (0..switches.len()).filter(|&n| switches[n].0 == at).collect();
        if next.is_empty() { break } else { path.push(next[dice.below(next.len() as u64) as usize]) }
    }
    let mut words: Vec<String> = path.iter().map(|n| format!("t{n}")).collect();
    for _ in 0..dice.below(3) {
        let at = dice.below(words.len() as u64 + 1) as usize;
        words.insert(at, "quiet".into());
    }
    format!("purpose f: {}", words.join(", "))
}

/// A run: the steps taken, silences too, and where it is.
#[derive(Clone)]
struct Run {
    taken: Vec<PathStep>,
    at: LocId,
}

fn is_quiescent(sts: &Sts, at: LocId) -> bool {
    sts.switches_from(at).all(|(_, switch)| sts.kind_of(switch) == GateKind::Input)
}

fn after_switches(sts: &Sts, run: &Run, fits: impl Fn(SwitchId) -> bool) -> Vec<Run> {
    let next = sts.switches_from(run.at).filter(|(id, _)| fits(*id));
    let taken = |id| [&run.taken[..], &[PathStep::Take(id)]].concat();
    next.map(|(id, switch)| Run { taken: taken(id), at: switch.target }).collect()
}

/// All runs that differ from these by internal steps at the end.
fn close_internally(sts: &Sts, mut runs: Vec<Run>) -> Vec<Run> {
    let mut at = 0;
    while let Some(run) = runs.get(at).cloned() {
        runs.extend(after_switches(sts, &run, |id| sts.kind_of(&sts.switches[id]) == GateKind::Internal));
        at += 1;
    }
    runs
}

/// Returns the runs that continue these by `label`.
fn step(sts: &Sts, runs: &[Run], label: &Label) -> Vec<Run> {
    let next = runs.iter().flat_map(|run| match label {
        Label::Quiescence if is_quiescent(sts, run.at) => {
            vec![Run { taken: [&run.taken[..], &[PathStep::Quiet]].concat(), at: run.at }]
        }
        Label::Quiescence | Label::Delay(_) => Vec::new(),
        Label::Input(gate, _) | Label::Output(gate, _) => {
            after_switches(sts, run, |id| sts.switches[id].gate == *gate)
        }
    });
    close_internally(sts, next.collect())
}

/// Returns the steps that the run took since it first was where the path starts; `None` if it never was.
fn on_path<'r>(sts: &Sts, run: &'r Run, path: &[PathStep]) -> Option<&'r [PathStep]> {
    let first = path.iter().find_map(|step| step.switch()).expect("a switch");
    let start = sts.switches[first].source;
    // Silences do not move: the run is where the next switch starts.
    let at = |n: usize| {
        run.taken[n..].iter().find_map(|step| step.switch()).map_or(run.at, |id| sts.switches[id].source)
    };
    (0..=run.taken.len()).find(|&n| at(n) == start).map(|n| &run.taken[n..])
}

/// Returns the number of steps of `path` that `taken` has done; `None` if it has left the path.
fn n_done(taken: &[PathStep], path: &[PathStep]) -> Option<usize> {
    let mut done = 0;
    for &step in taken {
        match path.get(done) {
            None => break,
            Some(&wanted) if wanted == step => done += 1,
            Some(_) if step == PathStep::Quiet => (),
            Some(_) => return None,
        }
    }
    Some(done)
}

/// Returns whether the run has stayed on `path` so far.
fn follows(sts: &Sts, run: &Run, path: &[PathStep]) -> bool {
    on_path(sts, run, path).is_none_or(|taken| n_done(taken, path).is_some())
}

fn is_whole(sts: &Sts, run: &Run, path: &[PathStep]) -> bool {
    on_path(sts, run, path).is_some_and(|taken| n_done(taken, path) == Some(path.len()))
}

/// Compares every trace that goes on from `trace`; counts verdicts: fail, inconclusive.
struct TraceTreeComparison<'c> {
    model: &'c mut Model,
    objective: Objective,
    path: Vec<PathStep>,
    labels: Vec<Label>,
    counts: [usize; 2],
}

impl TraceTreeComparison<'_> {
    /// Compares the judgement on every trace that extends `trace`.
    fn all(&mut self, trace: &mut Vec<Label>, runs: &[Run], has_ended: bool) {
        let sts = self.model.sts.clone();
        let has_ended = has_ended || runs.iter().any(|run| is_whole(&sts, run, &self.path));
        let is_inside = has_ended || runs.iter().any(|run| follows(&sts, run, &self.path));
        for label in self.labels.clone() {
            let next = step(&sts, runs, &label);
            let is_input = matches!(label, Label::Input(..));
            trace.push(label);
            if next.is_empty() && !is_input {
                self.forbidden(trace, is_inside);
            } else if !next.is_empty() && trace.len() < LENGTH {
                self.all(trace, &next, has_ended);
            }
            trace.pop();
        }
    }

    /// Compares the judgement on a trace that the model forbids.
    fn forbidden(&mut self, trace: &[Label], is_inside: bool) {
        let trace: Trace = trace.iter().cloned().collect();
        let shown: Vec<String> =
            trace.labels.iter().map(|l| l.show(&self.model.pool, &self.model.sts)).collect();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(self.model, &mut solver);
        let judged = judge(
            &mut cx,
            &trace,
            &JudgeConfig { objective: Some(&self.objective), ..JudgeConfig::default() },
        );
        assert!(judged.forbidden.is_some(), "{shown:?}");
        assert_eq!(judged.is_outside, !is_inside, "{shown:?} on {:?}", self.path);
        self.counts[usize::from(judged.is_outside)] += 1;
    }
}

#[test]
fn a_path_judges_as_the_definition_of_ioco_f_does() {
    let mut dice = Dice(7);
    let mut counts = [0, 0];
    for _ in 0..MODELS {
        let mut model = random_model(&mut dice);
        let goal = model.sts.goals[0].clone();
        let GoalKind::Path(path) = &goal.kind else { panic!("a path") };
        let messages = ["a", "b", "x", "y"].into_iter().filter_map(|name| model.sts.gate_named(name));
        let messages = messages.filter_map(|gate| Label::message(&model.sts, gate, Vec::new()));
        let labels = messages.chain([Label::Quiescence]).collect();
        let start = Run { taken: Vec::new(), at: model.sts.initial };
        let runs = close_internally(&model.sts, vec![start]);
        let objective = Objective::from_goal(&goal).expect("a path is an objective");
        let path = path.clone();
        let mut compare = TraceTreeComparison { model: &mut model, objective, path, labels, counts };
        compare.all(&mut Vec::new(), &runs, false);
        counts = compare.counts;
    }
    assert!(counts.iter().all(|&count| count > 400), "{counts:?} fails and inconclusives");
}
