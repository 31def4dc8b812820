//! The random tester: \[FTW05]'s algorithm with its free choices made by a seeded generator.
//!
//! Inputs are those that some state of the belief accepts. A switch is chosen by its weight, divided by the logarithm
//! of the number of times it was chosen already in this run: rare ones are favoured, but not so much that the same one
//! is never chosen many times in a row. Then values are chosen. Where both an input and an observation make sense a
//! coin decides. After silence there is nothing to observe, so an input is given if there is one. In a timed model an
//! input has an instant too, boundaries of its guard being as likely as instants between them. The last move is always
//! an observation, within the number of labels of a run: without it the effect of the last input would never be
//! observed.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::{Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Belief, Ctx, Monitor};

use super::instant::WaitingCost;
use super::stimulus::{BorrowedBelief, StimulusChoice};
use super::{Tester, TesterMove, TesterStop, has_room_for_input};
use crate::data::{Hints, ModelLexicon, SeenValues, ValueWeights};

/// The share of a switch of weight 1 that was never chosen. It makes room for division without fractions: shares are
/// divided by the logarithm of how often a switch was chosen, so any number well above 64 does.
const SCALE: u64 = 1 << 10;

/// The eagerness of a tester to give an input where it could also look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interaction {
    /// It sends one time in two.
    #[default]
    Fair,
    /// It sends nine times in ten.
    InputEager,
}

/// The parameters of a random tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomConfig {
    /// The greatest number of labels of a run, silence included.
    pub steps: usize,
    /// The eagerness to give inputs.
    pub interaction: Interaction,
}

impl Default for RandomConfig {
    /// A hundred labels, fair.
    fn default() -> Self {
        Self { steps: 100, interaction: Interaction::Fair }
    }
}

/// A tester that walks at random.
#[derive(Clone, Debug)]
pub struct RandomTester {
    config: RandomConfig,
    rng: ChaCha8Rng,
    /// The number of times each switch was chosen in this run. Nothing is kept from run to run, so a run depends on
    /// its seed alone, whoever does it.
    chosen: BTreeMap<SwitchId, u64>,
    /// The reason why the solver found no values for an input at the last try; `None` if it answered.
    owed: Option<UnknownReason>,
    /// The constants and comparisons of the model; `None` before the first input of a run.
    lexicon: Option<ModelLexicon>,
    seen: SeenValues,
    last_look: LastLook,
}

/// The state of the observation at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLook {
    Pending,
    Asked,
}

impl RandomTester {
    /// Makes a tester with the parameters of `config`.
    #[must_use]
    pub fn new(config: RandomConfig, seed: u64) -> Self {
        Self {
            config,
            rng: ChaCha8Rng::seed_from_u64(seed),
            chosen: BTreeMap::new(),
            owed: None,
            lexicon: None,
            seen: SeenValues::default(),
            last_look: LastLook::Pending,
        }
    }

    /// Returns an input that some state of the belief accepts, with its instant; `None` if no values were found for
    /// any.
    fn stimulus(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<TesterMove> {
        let belief = BorrowedBelief::from_monitor(monitor)?;
        self.owed = None;
        let mut candidates = belief.inputs(cx.sts);
        while let Some(at) = self.draw_weighted(cx.sts, &candidates) {
            if let Some(halted) = cx.halt_reason() {
                self.owed = Some(halted.into());
                break;
            }
            let id = candidates.swap_remove(at);
            let lexicon = self.lexicon.get_or_insert_with(|| ModelLexicon::collect(cx));
            let atoms = lexicon.atoms(cx, id).to_vec();
            let hints = Hints {
                recent: self.seen.values(),
                constants: lexicon.constants(),
                atoms: &atoms,
                weights: ValueWeights::default(),
                ..Hints::default()
            };
            let mut stimulus = StimulusChoice::new(&mut self.rng, hints, WaitingCost::default());
            let chosen = stimulus.choose_input(cx, monitor, &belief, id);
            self.owed = stimulus.owed.or(self.owed.take());
            if chosen.is_some() {
                *self.chosen.entry(id).or_default() += 1;
                return chosen;
            }
        }
        None
    }

    /// Draws a position in `candidates`, likelier where the weight is high and the switch was rarely chosen.
    fn draw_weighted(&mut self, sts: &Sts, candidates: &[SwitchId]) -> Option<usize> {
        let weight = |id: &SwitchId| {
            let times = self.chosen.get(id).copied().unwrap_or(0);
            // Falls with the logarithm, so that rare switches get their turn and frequent ones do not die out: after a
            // thousand choices about a tenth of the weight is left.
            (u64::from(sts.switches[*id].weight) * SCALE).div_ceil(1 + u64::from((1 + times).ilog2()))
        };
        let weights: Vec<u64> = candidates.iter().map(weight).collect();
        let total: u64 = weights.iter().sum();
        if total == 0 {
            return None;
        }
        let mut left = self.rng.random_range(0..total);
        weights.iter().position(|&weight| {
            let here = left < weight;
            left = left.saturating_sub(weight);
            here
        })
    }

    fn wants_to_send(&mut self) -> bool {
        match self.config.interaction {
            Interaction::Fair => self.rng.random_ratio(1, 2),
            Interaction::InputEager => self.rng.random_ratio(9, 10),
        }
    }
}

impl Tester for RandomTester {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.chosen.clear();
        self.owed = None;
        self.last_look = LastLook::Pending;
        self.seen = SeenValues::default();
        self.lexicon = None;
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn step_limit(&self) -> Option<usize> {
        Some(self.config.steps)
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.seen.catch_up(trace);
        if !has_room_for_input(cx.sts, trace.len(), self.config.steps) {
            return self.last_move(trace);
        }
        let is_quiet = trace.ends_in_silence();
        if (is_quiet || self.wants_to_send())
            && let Some(stimulus) = self.stimulus(cx, monitor)
        {
            return stimulus;
        }
        match (is_quiet, monitor.belief()) {
            (false, _) => TesterMove::Observe,
            (true, Belief::Unspecified) => TesterMove::Stop(TesterStop::Inconclusive(
                "the model does not specify what happens next".into(),
            )),
            (true, _) => TesterMove::Stop(match &self.owed {
                Some(why) => TesterStop::Inconclusive(format!("no values for an input were found: {why}")),
                None => TesterStop::GoalMet("the model has no further step".into()),
            }),
        }
    }
}

impl RandomTester {
    /// Returns a last observation, then the end of the run.
    fn last_move(&mut self, trace: &Trace) -> TesterMove {
        let is_quiet = trace.ends_in_silence();
        if self.last_look == LastLook::Asked || is_quiet {
            return TesterMove::Stop(TesterStop::GoalMet(format!("{} steps taken", trace.len())));
        }
        self.last_look = LastLook::Asked;
        TesterMove::Observe
    }
}
