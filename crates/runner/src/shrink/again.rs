//! A failing run done again: whether the failure is still there, and what was seen instead.
//!
//! *Promises.* Only a run that fails in the same way counts. A [`Confirmed`] failure was seen at least twice.

use ioxide_model::trace::Trace;
use ioxide_testgen::tester::replay::{Planned, Replay, Unmentioned, plan_of};

use super::sign::Sign;
use crate::clock::Stopped;
use crate::coverage::Coverage;
use crate::event::Outcome;
use crate::reporter::{Silent, Teller};
use crate::run::{Bench, Finished, RunConfig, RunId, run};

/// What doing a failing run again showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// How often it failed in the same way.
    pub failed: u32,
    /// How often it was done.
    pub of: u32,
    /// The first run that did not fail in the same way.
    pub instead: Option<Instead>,
    sign: Sign,
    is_steady: bool,
}

/// A run that should have failed as another one had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// What was seen.
    pub trace: Trace,
    /// How it ended.
    pub outcome: Outcome,
}

/// A failing run that failed again, in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Confirmed<'t> {
    trace: &'t Trace,
    sign: Sign,
    is_steady: bool,
}

/// Makes the moves of `trace`, which failed as `sign` says, so many times more.
pub fn repeat(bench: &mut Bench<'_, '_>, config: &RunConfig, trace: &Trace, sign: Sign, times: u32) -> Again {
    let plan = plan_of(bench.cx.sts, trace);
    let mut again = Again { failed: 0, of: times, instead: None, sign, is_steady: true };
    for _ in 0..times {
        let Some(finished) = done(bench, config, &plan, Unmentioned::Stop) else { continue };
        again.is_steady &= finished.trace == *trace;
        if Sign::of(&finished) == Some(sign) {
            again.failed += 1;
        } else if again.instead.is_none() {
            let outcome = finished.end.outcome();
            again.instead = Some(Instead { trace: finished.trace, outcome });
        }
    }
    again
}

impl Again {
    /// Whether the same was seen every time.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// The failure of `trace`, the run that was done again, if it was seen again.
    #[must_use]
    pub fn confirmed<'t>(&self, trace: &'t Trace) -> Option<Confirmed<'t>> {
        let Self { sign, is_steady, .. } = *self;
        (self.failed > 0).then_some(Confirmed { trace, sign, is_steady })
    }
}

impl<'t> Confirmed<'t> {
    /// What was seen when it failed first.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The way in which it fails.
    #[must_use]
    pub fn sign(&self) -> Sign {
        self.sign
    }

    /// Whether the same was seen every time.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }
}

/// One run with these moves, told to nobody; `None` if not even that is possible.
pub(super) fn done(
    bench: &mut Bench<'_, '_>,
    config: &RunConfig,
    plan: &[Planned],
    unmentioned: Unmentioned,
) -> Option<Finished> {
    let mut tester = Replay::new(plan.to_vec(), unmentioned);
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (Silent, Stopped);
    let teller = Teller::new(&mut silent, &mut clock);
    run(bench, &mut tester, config, RunId::default(), &mut coverage, &teller).ok()
}
