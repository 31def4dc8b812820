//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing
//! input", 2002) over the moves of the run, inputs and looks alike; then the values of the
//! inputs left, one by one, toward simple ones. A candidate counts only if the monitor fails
//! it, at a message of the same kind as before: the smaller run is a failing run, not a guess.
//!
//! *Promises.* The trace returned was seen. It is minimal in single moves if
//! [`Shrunk::minimal`] says so: each was left out once, and the run no longer failed.

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
    let mut search = Search {
        bench,
        config: config.clone(),
        left: budget.attempts,
        sign: Sign::of(trace),
        best: trace.clone(),
        plan: plan_of(trace),
    };
    let minimal = search.fewer_moves();
    let minimal = minimal && search.simpler_values();
    let (attempts, best) = (budget.attempts - search.left, search.best);
    let again = reproduced(bench, config, &best, budget.replays);
    Shrunk { trace: best, attempts, minimal, reproduced: again, of: budget.replays }
}

/// How many of `times` runs with the moves of `trace` fail.
pub fn reproduced(bench: &mut Bench<'_, '_>, config: &RunConfig, trace: &Trace, times: u32) -> u32 {
    let plan = plan_of(trace);
    let fails = (0..times).filter(|_| attempt(bench, config, &plan, Unmentioned::Stop).is_some());
    u32::try_from(fails.count()).unwrap_or(times)
}

/// What was seen of a run with this plan, if it failed.
fn attempt(
    bench: &mut Bench<'_, '_>,
    config: &RunConfig,
    plan: &[Planned],
    unmentioned: Unmentioned,
) -> Option<Trace> {
    let mut tester = Replay::new(plan.to_vec(), unmentioned);
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (Silent, Stopped);
    let teller = Teller::new(&mut silent, &mut clock);
    let finished = run(bench, &mut tester, config, RunId::default(), &mut coverage, &teller).ok()?;
    matches!(finished.end, End::Verdict(Verdict::Fail, _)).then_some(finished.trace)
}

/// The kind of a failure: what was seen that must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Message(GateId),
    Silence,
    Other,
}

impl Sign {
    fn of(trace: &Trace) -> Self {
        match trace.labels.last() {
            Some(Label::Input(gate, _) | Label::Output(gate, _)) => Self::Message(*gate),
            Some(Label::Quiescence) => Self::Silence,
            Some(Label::Delay(_)) | None => Self::Other,
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
        let Some(trace) = attempt(self.bench, &self.config, plan, Unmentioned::Skip) else { return false };
        if Sign::of(&trace) != self.sign || trace.len() > self.best.len() {
            return false;
        }
        self.plan = plan_of(&trace);
        self.best = trace;
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

    /// Tries simpler values for every field of every input; says whether it came to its end.
    fn simpler_values(&mut self) -> bool {
        let mut at = 0;
        while at < self.plan.len() {
            for field in 0..fields(&self.plan[at]) {
                if !self.simpler_value(at, field) {
                    return false;
                }
            }
            at += 1;
        }
        true
    }

    fn simpler_value(&mut self, at: usize, field: usize) -> bool {
        let Some(Planned::Send(Label::Input(gate, values))) = self.plan.get(at).cloned() else { return true };
        for simpler in simpler(self.bench.cx.pool, &values[field]) {
            if !self.may_try() {
                return false;
            }
            let mut changed = values.clone();
            changed[field] = simpler;
            let mut plan = self.plan.clone();
            plan[at] = Planned::Send(Label::Input(gate, changed));
            if self.accept(&plan) {
                return true;
            }
        }
        true
    }
}

fn fields(planned: &Planned) -> usize {
    match planned {
        Planned::Send(Label::Input(_, values)) => values.len(),
        _ => 0,
    }
}

/// Simpler values than `value`, simplest first.
fn simpler(pool: &TermPool, value: &Value) -> Vec<Value> {
    let candidates = match value {
        Value::Int(n) => {
            let half = n.div(&Int::from(2));
            [Int::from(0), Int::from(1), half]
                .into_iter()
                .filter(|m| m.abs() < n.abs())
                .map(Value::Int)
                .collect()
        }
        Value::Real(r) => vec![Value::Real(0.into()), Value::Real(r.floor().into())],
        Value::Str(text) => {
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            vec![Value::str(""), Value::str("a"), Value::str(&half)]
        }
        Value::Bool(_) | Value::Data(_) => vec![pool.default_value(value.base_sort())],
    };
    candidates.into_iter().filter(|candidate| candidate != value).collect()
}
