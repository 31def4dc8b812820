//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing
//! input", 2002) over the moves of the run, inputs and looks alike; then, in a timed model, inputs
//! at once rather than after a while; then the values of the inputs left toward simple ones, those that occur several times together and each on its own,
//! until no simpler one fails. A candidate counts only if the monitor fails
//! it, at a message of the same kind as before: the smaller run is a failing run, not a guess.
//!
//! *Promises.* The trace returned was seen. It is minimal in single moves if
//! [`Shrunk::minimal`] says so: each was left out once, and the run no longer failed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::sts::GateId;
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_model::verdict::Verdict;
use ioxide_testgen::tester::replay::{Planned, Replay, Unmentioned, plan_of};

use crate::clock::Stopped;
use crate::coverage::Coverage;
use crate::reporter::{Silent, Teller};
use crate::run::{Bench, End, RunConfig, RunId, run};

/// How much to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkConfig {
    /// Runs, at most.
    pub attempts: u32,
    /// How often the smallest run is done again in the end.
    pub replays: u32,
}

impl Default for ShrinkConfig {
    /// Five hundred runs, and five in the end.
    fn default() -> Self {
        Self { attempts: 500, replays: 5 }
    }
}

/// A smaller failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// What was seen; the last label is the forbidden one.
    pub trace: Trace,
    /// What it has in common with other failures of its kind; empty if no smaller run was found.
    pub signature: String,
    /// Runs it took.
    pub attempts: u32,
    /// No single move can be left out, as far as one try each shows.
    pub minimal: bool,
    /// How often it failed again.
    pub reproduced: u32,
    /// How often it was done again.
    pub of: u32,
}

/// Makes the failing run that gave `trace` smaller.
pub fn shrink(bench: &mut Bench<'_, '_>, config: &RunConfig, trace: &Trace, budget: &ShrinkConfig) -> Shrunk {
    let plan = plan_of(bench.cx.sts, trace);
    let mut search = Search {
        bench,
        config: config.clone(),
        left: budget.attempts,
        sign: Sign::of(trace),
        best: trace.clone(),
        signature: String::new(),
        plan,
    };
    let minimal = search.fewer_moves();
    let minimal = minimal && search.sooner() && search.simpler_values();
    let (attempts, best, signature) = (budget.attempts - search.left, search.best, search.signature);
    let again = reproduced(bench, config, &best, budget.replays);
    Shrunk { trace: best, signature, attempts, minimal, reproduced: again, of: budget.replays }
}

/// How many of `times` runs with the moves of `trace` fail.
pub fn reproduced(bench: &mut Bench<'_, '_>, config: &RunConfig, trace: &Trace, times: u32) -> u32 {
    let plan = plan_of(bench.cx.sts, trace);
    let fails = (0..times).filter(|_| attempt(bench, config, &plan, Unmentioned::Stop).is_some());
    u32::try_from(fails.count()).unwrap_or(times)
}

/// What was seen of a run with this plan, and its signature, if it failed.
fn attempt(
    bench: &mut Bench<'_, '_>,
    config: &RunConfig,
    plan: &[Planned],
    unmentioned: Unmentioned,
) -> Option<(Trace, String)> {
    let mut tester = Replay::new(plan.to_vec(), unmentioned);
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (Silent, Stopped);
    let teller = Teller::new(&mut silent, &mut clock);
    let finished = run(bench, &mut tester, config, RunId::default(), &mut coverage, &teller).ok()?;
    let is_failure = matches!(finished.end, End::Verdict(Verdict::Fail, _));
    is_failure.then(|| (finished.trace, finished.signature.unwrap_or_default()))
}

/// The kind of a failure: what was seen that must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Breakdown(&'static str),
    Message(GateId),
    Silence,
    Other,
}

impl Sign {
    fn of(trace: &Trace) -> Self {
        if let Some(breakdown) = trace.breakdown {
            return Self::Breakdown(breakdown.kind());
        }
        match trace.labels.last() {
            Some(Label::Input(gate, _) | Label::Output(gate, _)) => Self::Message(*gate),
            Some(Label::Quiescence | Label::Delay(_)) => Self::Silence,
            None => Self::Other,
        }
    }
}

/// The search for a smaller run.
struct Search<'s, 'b, 'm> {
    bench: &'s mut Bench<'b, 'm>,
    config: RunConfig,
    left: u32,
    sign: Sign,
    best: Trace,
    signature: String,
    plan: Vec<Planned>,
}

impl Search<'_, '_, '_> {
    /// Whether the budget allows another run.
    fn may_try(&self) -> bool {
        self.left > 0 && !self.bench.stop.load(Ordering::Relaxed)
    }

    /// Keeps `plan` if it fails in the same way and is no longer than the best.
    fn accept(&mut self, plan: &[Planned]) -> bool {
        if !self.may_try() {
            return false;
        }
        self.left -= 1;
        let Some((trace, signature)) = attempt(self.bench, &self.config, plan, Unmentioned::Skip) else {
            return false;
        };
        if Sign::of(&trace) != self.sign || trace.len() > self.best.len() {
            return false;
        }
        self.plan = plan_of(self.bench.cx.sts, &trace);
        self.best = trace;
        self.signature = signature;
        true
    }

    /// Leaves out ever smaller chunks; says whether it came to its end.
    fn fewer_moves(&mut self) -> bool {
        let mut chunk = self.plan.len().div_ceil(2);
        while chunk > 0 {
            let mut removed = false;
            let mut from = 0;
            while from < self.plan.len() {
                if !self.may_try() {
                    return false;
                }
                let to = (from + chunk).min(self.plan.len());
                let rest = [&self.plan[..from], &self.plan[to..]].concat();
                let before = self.plan.len();
                if self.accept(&rest) && self.plan.len() < before {
                    removed = true;
                } else {
                    from = to;
                }
            }
            // At single moves, go round until a whole round removes none.
            if chunk > 1 || !removed {
                chunk /= 2;
            }
        }
        true
    }

    /// Every input at once rather than after a while; says whether it came to its end.
    fn sooner(&mut self) -> bool {
        for at in 0..self.plan.len() {
            let Some(Planned::SendAfter(_, label)) = self.plan.get(at) else { continue };
            let at_once = Planned::Send(label.clone());
            if !self.may_try() {
                return false;
            }
            let mut plan = self.plan.clone();
            plan[at] = at_once;
            self.accept(&plan);
        }
        true
    }

    /// Tries simpler values until none is accepted; says whether it came to its end.
    fn simpler_values(&mut self) -> bool {
        loop {
            let before = self.plan.clone();
            if !self.simpler_together() || !self.simpler_alone() {
                return false;
            }
            if self.plan == before {
                return true;
            }
        }
    }

    /// Values that occur more than once, simpler in all places at a time: a fault may need them equal.
    fn simpler_together(&mut self) -> bool {
        for value in repeated_values(&self.plan) {
            for simpler in simpler(self.bench.cx.pool, &value) {
                if !self.may_try() {
                    return false;
                }
                let plan: Vec<Planned> =
                    self.plan.iter().map(|planned| replaced(planned, &value, &simpler)).collect();
                if self.accept(&plan) {
                    break;
                }
            }
        }
        true
    }

    /// Every field of every input on its own.
    fn simpler_alone(&mut self) -> bool {
        let mut at = 0;
        while at < self.plan.len() {
            for field in 0..fields(&self.plan[at]) {
                if !self.simplest_value(at, field) {
                    return false;
                }
            }
            at += 1;
        }
        true
    }

    /// Goes down from value to value as long as the run fails; says whether it came to its end.
    fn simplest_value(&mut self, at: usize, field: usize) -> bool {
        while let Some((gate, values)) = self.plan.get(at).and_then(sent) {
            let Some(value) = values.get(field) else { break };
            let mut accepted = false;
            for simpler in simpler(self.bench.cx.pool, value) {
                if !self.may_try() {
                    return false;
                }
                let mut changed = values.clone();
                changed[field] = simpler;
                let mut plan = self.plan.clone();
                plan[at] = with_label(&plan[at], Label::Input(gate, changed));
                accepted = self.accept(&plan);
                if accepted {
                    break;
                }
            }
            if !accepted {
                break;
            }
        }
        true
    }
}

/// The values that more than one field of the inputs has, in order.
fn repeated_values(plan: &[Planned]) -> Vec<Value> {
    let mut seen: BTreeMap<&Value, usize> = BTreeMap::new();
    for planned in plan {
        if let Planned::Send(Label::Input(_, values)) | Planned::SendAfter(_, Label::Input(_, values)) =
            planned
        {
            values.iter().for_each(|value| *seen.entry(value).or_default() += 1);
        }
    }
    seen.into_iter().filter(|(_, times)| *times > 1).map(|(value, _)| value.clone()).collect()
}

/// The same move with one value for another.
fn replaced(planned: &Planned, from: &Value, to: &Value) -> Planned {
    let Some((gate, values)) = sent(planned) else { return planned.clone() };
    let other = |value: Value| if value == *from { to.clone() } else { value };
    with_label(planned, Label::Input(gate, values.into_iter().map(other).collect()))
}

fn fields(planned: &Planned) -> usize {
    sent(planned).map_or(0, |(_, values)| values.len())
}

/// The message a move sends.
fn sent(planned: &Planned) -> Option<(GateId, Vec<Value>)> {
    match planned {
        Planned::Send(Label::Input(gate, values)) | Planned::SendAfter(_, Label::Input(gate, values)) => {
            Some((*gate, values.clone()))
        }
        _ => None,
    }
}

/// The same move with another message.
fn with_label(planned: &Planned, label: Label) -> Planned {
    match planned {
        Planned::SendAfter(wait, _) => Planned::SendAfter(wait.clone(), label),
        _ => Planned::Send(label),
    }
}

/// Simpler values than `value`, simplest first.
fn simpler(pool: &TermPool, value: &Value) -> Vec<Value> {
    let candidates = match value {
        Value::Int(n) => {
            let nearer = if n.is_negative() { n.add(&Int::from(1)) } else { n.sub(&Int::from(1)) };
            let negated = n.neg();
            let smaller = [Int::from(0), Int::from(1), n.div(&Int::from(2)), nearer];
            let smaller = smaller.into_iter().filter(|m| m.abs() < n.abs());
            smaller.chain((n.is_negative()).then_some(negated)).map(Value::Int).collect()
        }
        Value::Real(r) => {
            let whole = Value::Real(r.floor().into());
            if r.is_integer() { vec![Value::Real(0.into())] } else { vec![Value::Real(0.into()), whole] }
        }
        Value::Str(text) => {
            let length = text.chars().count();
            let first = |n: usize| Value::str(&text.chars().take(n).collect::<String>());
            let letter = (length > 1).then(|| Value::str("a"));
            let shorter = [length / 2, length.saturating_sub(1)].map(first);
            [Value::str("")].into_iter().chain(letter).chain(shorter).collect()
        }
        Value::Bool(_) | Value::Data(_) => vec![pool.default_value(value.base_sort())],
    };
    candidates.into_iter().filter(|candidate| candidate != value).collect()
}
