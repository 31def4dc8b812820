//! The random tester: 002's algorithm with its free choices made by a seeded generator.
//!
//! Inputs are those some state of the belief accepts. A switch is chosen by its weight,
//! divided by the logarithm of how often it was chosen already: rare ones are favoured, but
//! not so much that the same one is never chosen many times in a row. Then values.
//! Where both an input and an observation make sense a coin decides. After silence there is
//! nothing to see, so an input is given if there is one. In a timed model an input has an instant
//! too, boundaries of its guard being as likely as instants between them. The last move is always an
//! observation: without it the effect of the last input is never seen.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::{State, delayed};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::Why;
use ioxide_symex::{After, Belief, Ctx, Step, SymState, step};

use super::{Move, Stop, Tester, instant};
use crate::data::{Pick, Wish, pick, pick_symbolic};

/// States tried for the values of one switch.
const MAX_STATES: usize = 8;
/// What the weight 1 of a switch never taken counts.
const SCALE: u64 = 1 << 10;

/// How eager a tester is to give an input where it could also look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interaction {
    /// One time in two.
    #[default]
    Fair,
    /// Nine times in ten.
    InputEager,
}

/// What a random tester may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomConfig {
    /// Labels, silence included, after which it stops.
    pub steps: usize,
    /// How eager it is to give inputs.
    pub interaction: Interaction,
}

impl Default for RandomConfig {
    /// A hundred labels, fair.
    fn default() -> Self {
        Self { steps: 100, interaction: Interaction::Fair }
    }
}

/// Walks at random.
#[derive(Clone, Debug)]
pub struct Random {
    config: RandomConfig,
    rng: ChaCha8Rng,
    /// How often a switch was chosen, over all runs.
    chosen: BTreeMap<SwitchId, u64>,
    /// Why values for an input could not be found at the last try, if the solver owed an answer.
    owed: Option<Why>,
    /// How long to wait before the input chosen last, and how long that may be.
    wait: Rational,
    horizon: Option<Rational>,
    last_look: LastLook,
}

/// Whether the observation at the end has been asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastLook {
    Pending,
    Asked,
}

impl Random {
    /// A tester that walks as `config` says.
    #[must_use]
    pub fn new(config: RandomConfig, seed: u64) -> Self {
        Self {
            config,
            rng: ChaCha8Rng::seed_from_u64(seed),
            chosen: BTreeMap::new(),
            owed: None,
            wait: Rational::ZERO,
            horizon: None,
            last_look: LastLook::Pending,
        }
    }

    /// An input some state of the belief accepts, and when.
    fn stimulus(&mut self, cx: &mut Ctx<'_>, after: &After) -> Option<Move> {
        let belief = match after.belief() {
            Belief::Concrete(states) => States::Concrete(states.iter().collect()),
            Belief::Symbolic(states) => States::Symbolic(states.iter().collect()),
            Belief::Unspecified => return None,
        };
        self.owed = None;
        let mut candidates = inputs_of(cx.sts, &belief.locations());
        while let Some(at) = self.weighted(cx.sts, &candidates) {
            let id = candidates.swap_remove(at);
            self.wait = Rational::ZERO;
            self.horizon = cx.sts.is_timed().then(|| after.horizon(cx));
            if let Some(values) = self.values(cx, &belief, id) {
                *self.chosen.entry(id).or_default() += 1;
                let label = Label::message(cx.sts, cx.sts.switches[id].gate, values)?;
                return Some(match cx.sts.is_timed() {
                    true => Move::StimulateAfter(self.wait.clone(), label),
                    false => Move::Stimulate(label),
                });
            }
        }
        None
    }

    /// A position in `candidates`, likelier where the weight is high and the switch was rarely chosen.
    fn weighted(&mut self, sts: &Sts, candidates: &[SwitchId]) -> Option<usize> {
        let weight = |id: &SwitchId| {
            let times = self.chosen.get(id).copied().unwrap_or(0);
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

    /// Values with which `id` can be taken from some state of the belief.
    fn values(&mut self, cx: &mut Ctx<'_>, belief: &States<'_>, id: SwitchId) -> Option<Vec<Value>> {
        let source = cx.sts.switches[id].source;
        match belief {
            States::Concrete(states) => {
                let mut here: Vec<&State> =
                    states.iter().copied().filter(|state| state.loc == source).collect();
                here.shuffle(&mut self.rng);
                here.iter().take(MAX_STATES).find_map(|state| self.concrete_values(cx, state, id))
            }
            States::Symbolic(states) => {
                let mut here: Vec<&SymState> =
                    states.iter().copied().filter(|state| state.loc == source).collect();
                here.shuffle(&mut self.rng);
                here.iter().take(MAX_STATES).find_map(|state| self.symbolic_values(cx, state, id))
            }
        }
    }

    fn concrete_values(&mut self, cx: &mut Ctx<'_>, state: &State, id: SwitchId) -> Option<Vec<Value>> {
        let switch = &cx.sts.switches[id];
        let mut there = Cow::Borrowed(state);
        if cx.sts.is_timed() {
            self.wait = instant::choose(cx, &mut self.rng, state, switch)?;
            there = Cow::Owned(delayed(cx.sts, state, &self.wait));
        }
        let wish = Wish { gate: switch.gate, guard: switch.guard, state: &there.values };
        let picked = pick(cx, &mut self.rng, &wish);
        self.values_of(picked)
    }

    fn symbolic_values(&mut self, cx: &mut Ctx<'_>, state: &SymState, id: SwitchId) -> Option<Vec<Value>> {
        let next = match step(cx, state, id) {
            Step::Taken(next) => next,
            Step::Doubtful(_, why) => return self.values_of(Pick::Unknown(why)),
            Step::Refuted => return None,
        };
        let fields = cx.sts.gates[cx.sts.switches[id].gate].fields.clone();
        let mut fields: Vec<_> = fields.into_iter().map(|field| cx.pool.indexed(field, next.depth)).collect();
        let mut facts = next.path.facts().to_vec();
        if let Some(horizon) = &self.horizon {
            let delay = cx.pool.indexed(cx.delay, next.depth);
            facts.push(instant::within(cx, delay, horizon));
            fields.push(delay);
        }
        let picked = pick_symbolic(cx, &mut self.rng, &fields, &facts);
        let mut values = self.values_of(picked)?;
        if self.horizon.is_some() {
            self.wait = values.pop()?.as_real()?.clone();
        }
        Some(values)
    }

    fn values_of(&mut self, pick: Pick) -> Option<Vec<Value>> {
        match pick {
            Pick::Values(values) => Some(values),
            Pick::Impossible => None,
            Pick::Unknown(why) => {
                self.owed = Some(why);
                None
            }
        }
    }

    fn wants_to_send(&mut self) -> bool {
        match self.config.interaction {
            Interaction::Fair => self.rng.random_ratio(1, 2),
            Interaction::InputEager => self.rng.random_ratio(9, 10),
        }
    }
}

impl Tester for Random {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.last_look = LastLook::Pending;
    }

    fn next(&mut self, cx: &mut Ctx<'_>, after: &After, history: &Trace) -> Move {
        if history.len() >= self.config.steps {
            return self.last_move(history);
        }
        let is_quiet = history.ends_in_silence();
        if (is_quiet || self.wants_to_send())
            && let Some(stimulus) = self.stimulus(cx, after)
        {
            return stimulus;
        }
        match (is_quiet, after.belief()) {
            (false, _) => Move::Observe,
            (true, Belief::Unspecified) => {
                Move::Stop(Stop::GoalMissed("the specification says nothing any more".into()))
            }
            (true, _) => Move::Stop(match &self.owed {
                Some(why) => Stop::GoalMissed(format!("no values for an input were found: {why}")),
                None => Stop::GoalMet("the specification is at its end".into()),
            }),
        }
    }
}

impl Random {
    fn last_move(&mut self, history: &Trace) -> Move {
        let is_quiet = history.ends_in_silence();
        if self.last_look == LastLook::Asked || is_quiet {
            return Move::Stop(Stop::GoalMet(format!("{} steps taken", history.len())));
        }
        self.last_look = LastLook::Asked;
        Move::Observe
    }
}

/// A belief, borrowed.
enum States<'a> {
    Concrete(Vec<&'a State>),
    Symbolic(Vec<&'a SymState>),
}

impl States<'_> {
    /// The locations, in order, each once.
    fn locations(&self) -> Vec<LocId> {
        let mut found: Vec<LocId> = match self {
            Self::Concrete(states) => states.iter().map(|state| state.loc).collect(),
            Self::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The switches from `locations` that take an input the tester may send.
fn inputs_of(sts: &Sts, locations: &[LocId]) -> Vec<SwitchId> {
    let is_input = |id: &SwitchId| sts.kind_of(&sts.switches[*id]) == GateKind::Input;
    let from = |&loc: &LocId| sts.switches_from(loc).map(|(id, _)| id).collect::<Vec<_>>();
    locations.iter().flat_map(from).filter(is_input).collect()
}
