//! Input-fair interaction for testers that would otherwise always send.
//!
//! \[BT19] Algorithm 1 is written for a system that waits for its input even where it could send an output
//! (input-eager). Where the model allows an output, a fair tester looks first, one time in two: an output of the system
//! is observed before the next input, and the inner tester goes on from there.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::{GateKind, LocId, Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Belief, Ctx, Monitor};

use super::random::Interaction;
use super::{MethodFinding, Tester, TesterMove};

/// Looks, one time in two, where the inner tester could send and the system could send an output.
pub struct InputFair<'t> {
    inner: &'t mut (dyn Tester + Send),
    interaction: Interaction,
    rng: ChaCha8Rng,
    /// The length of the trace when it last looked: once is enough.
    looked: Option<usize>,
}

impl<'t> InputFair<'t> {
    /// Wraps `inner`; eager interaction leaves it as it is.
    pub fn new(inner: &'t mut (dyn Tester + Send), interaction: Interaction) -> Self {
        Self { inner, interaction, rng: ChaCha8Rng::seed_from_u64(0), looked: None }
    }

    /// Returns whether to look before the inner tester decides; draws one time in two.
    fn looks(&mut self, sts: &Sts, monitor: &Monitor, trace: &Trace) -> bool {
        // Once at each length of the trace, and not after silence, when there is nothing to wait for.
        let is_new = self.interaction == Interaction::Fair
            && self.looked != Some(trace.len())
            && !trace.ends_in_silence();
        // The coin comes last, so that it is tossed only where it decides.
        let looks = is_new && may_speak(sts, monitor.belief()) && self.rng.random_ratio(1, 2);
        if looks {
            self.looked = Some(trace.len());
        }
        looks
    }
}

/// Returns whether an output switch starts at the location of some state of `belief`, guards aside.
fn may_speak(sts: &Sts, belief: &Belief) -> bool {
    let speaks =
        |loc: LocId| sts.switches_from(loc).any(|(_, switch)| sts.kind_of(switch) == GateKind::Output);
    match belief {
        Belief::Concrete(states) => states.iter().any(|state| speaks(state.loc)),
        Belief::Symbolic(states) => states.iter().any(|state| speaks(state.loc)),
        Belief::Unspecified => false,
    }
}

impl Tester for InputFair<'_> {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.looked = None;
        self.inner.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if self.looks(cx.sts, monitor, trace) {
            TesterMove::Observe
        } else {
            self.inner.next(cx, monitor, trace)
        }
    }

    fn explained(&mut self, switches: &[SwitchId]) {
        self.inner.explained(switches);
    }

    fn goal(&self) -> Option<String> {
        self.inner.goal()
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.inner.share(worker, jobs);
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, trace: &Trace) -> Option<MethodFinding> {
        self.inner.finding(cx, trace)
    }

    fn prepare(&mut self, cx: &mut Ctx<'_>) {
        self.inner.prepare(cx);
    }

    fn step_limit(&self) -> Option<usize> {
        self.inner.step_limit()
    }

    fn note_free_time(&mut self) {
        self.inner.note_free_time();
    }

    fn note_free_silence(&mut self) {
        self.inner.note_free_silence();
    }

    fn note_move_time(&mut self, time: Duration, is_silent: bool) {
        self.inner.note_move_time(time, is_silent);
    }

    fn note_reset_cost(&mut self, steps: usize) {
        self.inner.note_reset_cost(steps);
    }

    fn is_memoryless(&self) -> bool {
        self.inner.is_memoryless()
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }

    fn limit_choices(&mut self, halt_after: fn(Option<Duration>) -> Halt) {
        self.inner.limit_choices(halt_after);
    }
}
