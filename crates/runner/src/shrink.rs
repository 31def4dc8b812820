//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the moves
//! of the run, inputs and looks alike, and over the values of its inputs, arranged like the shrinker of Hypothesis
//! (MacIver, Donaldson, "Test-case reduction via test-case generation", 2020): one order says what *smaller* is
//! ([`order`]), and passes offer smaller candidates, round after round, until a whole round changes nothing. So moves
//! are left out again after values became simpler, and the other way round.
//!
//! *Contract of a pass.* It offers candidates that depend on the best plan and nothing else, each smaller than that
//! plan; one that fails in the same way becomes the best, and the pass goes on from there. It returns when it has
//! nothing more to offer, or [`Spent`] if it may not go on.
//!
//! *Promises.* The trace returned was seen, and fails in the same way ([`Sign`]) as the first one. Only a failure
//! that happened again is made smaller: [`shrink`] takes a [`Confirmed`] one, which nothing but [`repeat`] makes.
//! [`Shrunk::minimal`] says that the run is 1-minimal: every single move was left out, and every single value was
//! replaced by each of its [simpler](simpler) ones, in the run that is returned, and no smaller run failed. One try each
//! shows that of a system that does the same every time; where the repeated runs differed each has [`TRIES`].

mod again;
mod order;
mod sign;
mod simpler;
mod steps;
#[cfg(test)]
mod tests;
mod values;

use std::cmp::Ordering as Order;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

use ioxide_model::trace::Trace;
use ioxide_testgen::tester::replay::{Planned, Unmentioned, plan_of};

use crate::adapter::AdapterError;
use crate::run::{Bench, End, RunConfig};

pub use self::again::{Again, Confirmed, Instead, repeat};
pub use self::sign::Sign;

use self::again::done;

/// How often a candidate is tried on a system that does not do the same every time.
pub const TRIES: u32 = 8;
/// Runs in a row that cannot even begin, after which the system is left alone.
const MAX_UNREACHED: u32 = 3;

/// How much to spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkConfig {
    /// Runs, at most.
    pub attempts: u32,
    /// How often the smallest run is done again in the end.
    pub replays: u32,
    /// The failure that is to be made smaller; any if `None`.
    pub only: Option<Sign>,
}

impl Default for ShrinkConfig {
    /// A thousand runs, and five in the end.
    fn default() -> Self {
        Self { attempts: 1_000, replays: 5, only: None }
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
    /// No single move can be left out and no single value be simpler, as far as the tries show.
    pub minimal: bool,
    /// How often it failed again, in the same way.
    pub reproduced: u32,
    /// How often it was done again.
    pub of: u32,
}

/// Makes a failing run smaller that failed again.
pub fn shrink(
    bench: &mut Bench<'_, '_>,
    config: &RunConfig,
    failure: &Confirmed<'_>,
    budget: &ShrinkConfig,
) -> Shrunk {
    let mut search = Search::new(bench, config, failure, budget.attempts);
    let mut minimal = search.rounds();
    let mut again = search.again(budget.replays);
    if search.tries < TRIES && !again.is_steady() {
        search.tries = TRIES;
        minimal = search.rounds();
        again = search.again(budget.replays);
    }
    let Search { left, best, signature, .. } = search;
    let attempts = budget.attempts - left;
    Shrunk { trace: best, signature, attempts, minimal, reproduced: again.failed, of: again.of }
}

/// The search may not go on: its budget is used up, somebody stopped it, or the system is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spent;

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    /// It failed in the same way, and is the best now.
    Taken,
    /// It is no smaller failing run.
    Refused,
}

/// A pass; the module says what it must keep to.
type Pass = fn(&mut Search<'_, '_, '_>) -> Result<(), Spent>;

/// Those after which, if they change nothing, the run is 1-minimal.
const ESSENTIAL: [Pass; 3] = [steps::singles, values::alone, values::sooner];
/// Those that find what no single change finds: they come when single changes are at their end.
const FURTHER: [Pass; 4] = [values::together, steps::blocks, steps::pairs, steps::fewer_for_less];

/// The search for a smaller run.
struct Search<'s, 'b, 'm> {
    bench: &'s mut Bench<'b, 'm>,
    config: RunConfig,
    left: u32,
    sign: Sign,
    tries: u32,
    /// The smallest failing run so far, its plan, and what it has in common with others.
    best: Trace,
    plan: Vec<Planned>,
    signature: String,
    /// How often there was a new best one.
    changes: u32,
    /// How often each candidate was tried.
    tried: HashMap<Vec<Planned>, u32>,
    unreached: u32,
}

impl<'s, 'b, 'm> Search<'s, 'b, 'm> {
    fn new(bench: &'s mut Bench<'b, 'm>, config: &RunConfig, failure: &Confirmed<'_>, attempts: u32) -> Self {
        Self {
            config: config.clone(),
            left: attempts,
            sign: failure.sign(),
            tries: if failure.is_steady() { 1 } else { TRIES },
            best: failure.trace().clone(),
            plan: plan_of(bench.cx.sts, failure.trace()),
            signature: String::new(),
            changes: 0,
            tried: HashMap::new(),
            unreached: 0,
            bench,
        }
    }

    /// Goes round until nothing changes; says whether the best run is 1-minimal.
    fn rounds(&mut self) -> bool {
        // What is cheap and removes much comes once, before the rounds.
        if steps::halves(self).is_err() {
            return false;
        }
        let mut minimal_at = None;
        loop {
            let before = self.changes;
            if self.all(&ESSENTIAL).is_err() {
                break;
            }
            if self.changes != before {
                continue;
            }
            minimal_at = Some(before);
            if self.all(&FURTHER).is_err() || self.changes == before {
                break;
            }
        }
        minimal_at == Some(self.changes)
    }

    /// Does the best run again.
    fn again(&mut self, times: u32) -> Again {
        repeat(self.bench, &self.config, &self.best, self.sign, times)
    }

    fn all(&mut self, passes: &[Pass]) -> Result<(), Spent> {
        passes.iter().try_for_each(|pass| pass(self))
    }

    /// Whether another run may be done.
    fn may_try(&self) -> bool {
        self.left > 0 && self.unreached < MAX_UNREACHED && !self.bench.stop.load(Ordering::Relaxed)
    }

    /// Tries `plan`, unless it was tried; keeps it if it gives a smaller run that fails in the same way.
    fn offer(&mut self, plan: Vec<Planned>) -> Result<Offered, Spent> {
        if order::compare(&plan, &self.plan) != Order::Less {
            return Ok(Offered::Refused);
        }
        for _ in self.tried.get(&plan).copied().unwrap_or(0)..self.tries {
            if !self.may_try() {
                return Err(Spent);
            }
            self.left -= 1;
            *self.tried.entry(plan.clone()).or_default() += 1;
            if self.attempt(&plan) == Offered::Taken {
                return Ok(Offered::Taken);
            }
        }
        Ok(Offered::Refused)
    }

    fn attempt(&mut self, plan: &[Planned]) -> Offered {
        let Some(finished) = done(self.bench, &self.config, plan, Unmentioned::Skip) else {
            return Offered::Refused;
        };
        let is_unreached = matches!(finished.end, End::Error(AdapterError::Start { .. }));
        self.unreached = if is_unreached { self.unreached + 1 } else { 0 };
        let plan = plan_of(self.bench.cx.sts, &finished.trace);
        let is_smaller = order::compare(&plan, &self.plan) == Order::Less;
        if Sign::of(&finished) != Some(self.sign) || !is_smaller {
            return Offered::Refused;
        }
        (self.plan, self.best) = (plan, finished.trace);
        self.signature = finished.signature.unwrap_or_default();
        self.changes += 1;
        Offered::Taken
    }
}
