//! Testers: they decide the next move of a run from the belief of the specification and the trace so far.
//!
//! \[FTW05]'s algorithm chooses freely among stopping, giving an input and observing; a tester is
//! one way to choose. A tester cannot say Fail: only the monitor can, so every tester is
//! sound by construction.

pub mod case;
pub mod cover;
pub mod defaults;
pub mod fair;
pub mod game;
pub mod hunt;
pub mod instant;
pub mod purpose;
pub mod random;
pub mod replay;
pub mod script;
pub mod spec;
mod stimulus;
pub mod suite;
pub mod tour;
pub mod uniform;

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Monitor};

/// Decides the next move of a test run.
pub trait Tester {
    /// Begins a new run. Knowledge from earlier runs may be kept.
    fn start(&mut self, seed: u64);

    /// Returns the next move, given the states that the specification may be in and the trace so far.
    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove;

    /// Receives, before the next move, the switches that explain a message of the run; one only if that is certain.
    fn explained(&mut self, _switches: &[SwitchId]) {}

    /// Returns the goal of the run that has begun, in a few words; `None` where there is no special one.
    fn goal(&self) -> Option<String> {
        None
    }

    /// Returns the greatest number of labels that the run that has begun may have; `None` if the tester sets no limit.
    fn step_limit(&self) -> Option<usize> {
        None
    }

    /// Keeps the share of worker `worker` of `jobs` and leaves the rest to others; called before the first run.
    ///
    /// A tester whose runs differ only by their seeds has nothing to leave.
    fn share(&mut self, _worker: usize, _jobs: usize) {}

    /// Returns the finding of the tester at the end of a run, the last label included, in the words of its method.
    fn finding(&mut self, _cx: &mut Ctx<'_>, _trace: &Trace) -> Option<MethodFinding> {
        None
    }

    /// Does lengthy work before the first run.
    fn prepare(&mut self, _cx: &mut Ctx<'_>) {}

    /// Declares that the system has simulated time, which passes on command: long waits cost nothing. Called before the
    /// first run, where that is so.
    fn note_free_time(&mut self) {}

    /// Told before the first run if silence is known at once, so that a look at it costs no time.
    fn note_free_silence(&mut self) {}

    /// Told after every move how long it took, in nominal times where the moves of a campaign must not depend on the
    /// speed of the system; `is_silent` if it was a look and nothing came.
    fn note_move_time(&mut self, _time: Duration, _is_silent: bool) {}

    /// Told once, before some run, if bringing the system to its initial state takes as long as this many steps: runs
    /// that are longer spend less of the time on it.
    fn note_reset_cost(&mut self, _steps: usize) {}

    /// Returns whether a run depends on the model, its seed and its number alone, and not on runs before it. The tester
    /// then keeps no terms from run to run but those it was made with.
    fn is_memoryless(&self) -> bool {
        false
    }

    /// Returns whether no further run makes sense; most testers can always go on.
    fn is_done(&self) -> bool {
        false
    }

    /// The search for the values of one input may end by a signal that `halt_after` makes; another input is tried then.
    fn limit_choices(&mut self, _halt_after: fn(Option<Duration>) -> Halt) {}
}

/// Returns the greatest number of labels that one observation adds to a trace: in a timed model a message has the delay
/// before it.
#[must_use]
pub fn labels_of_a_look(sts: &Sts) -> usize {
    if sts.is_timed() { 2 } else { 1 }
}

/// Returns whether an input and a look at its effect fit into a run of `limit` labels that has `taken` already. An
/// input adds as many labels as a look does.
#[must_use]
pub fn has_room_for_input(sts: &Sts, taken: usize, limit: usize) -> bool {
    taken + 2 * labels_of_a_look(sts) <= limit
}

/// Returns the share of worker `worker` of `jobs` in a budget: all shares together are the budget.
#[must_use]
pub fn share_of(budget: usize, worker: usize, jobs: usize) -> usize {
    let jobs = jobs.max(1);
    budget / jobs + usize::from(worker < budget % jobs)
}

/// The next move that a tester decides on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TesterMove {
    /// Give the system this input now.
    Stimulate(Label),
    /// Give the system this input this many seconds after the last label, unless a message comes before; only in timed
    /// models.
    StimulateAfter(Rational, Label),
    /// Observe the system, silence included; in a timed model until time alone changes nothing more.
    Observe,
    /// Observe the system; silence must last at least this long to count, in a timed model just so long.
    ObserveFor(Duration),
    /// End the run.
    Stop(TesterStop),
}

/// The end of a run in the words of a method, in addition to the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodFinding {
    /// The verdict in the words of the method: `PASS`, `FAIL_out`, `INC_dur` and so on.
    pub word: String,
    /// The rule that leads to the verdict.
    pub rule: String,
    /// The state of the test case.
    pub state: String,
    /// The event at that state.
    pub event: String,
    /// The part of a guard that does not hold, or the guard that does.
    pub because: Option<String>,
}

/// The reason why a tester ends a run; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TesterStop {
    /// The tester did what it set out to do.
    GoalMet(String),
    /// The system did something else that is allowed, so the goal of the tester is out of reach.
    GoalMissed(String),
    /// The run shows nothing: the goal of the tester is out of reach for another reason, or this computer was too slow.
    Inconclusive(String),
}
