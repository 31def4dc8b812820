//! The baseline: the strategy of a well-known tool, so that figures can be compared in one run.
//!
//! One long walk. A coin decides between an input and a look. Every switch that takes an input is equally likely. A
//! number is drawn from a random power of two, of either sign, a text has up to six characters; values that the guard
//! rejects are drawn again, and then the solver is asked. Nothing is learnt, and values are not related to earlier
//! ones. In timed models an input comes at once or within two seconds.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::{ConcreteState, advance_clocks};
use ioxide_model::label::Label;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::sts::SwitchId;
use ioxide_model::term::VarId;
use ioxide_model::trace::Trace;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, Monitor};

use super::instant::WaitingCost;
use super::stimulus::{BorrowedBelief, StimulusChoice};
use super::{Tester, TesterMove, TesterStop};
use crate::data::{Hints, any_value};

/// The number of draws before the solver is asked. Chosen by feel: more than other testers, as uniform values are the
/// point of this one.
const DRAWS_BEFORE_SOLVER: usize = 200;
/// The power of two below which numbers are. Chosen by feel: a million values, so that equal ones are rare but
/// numbers stay readable.
const NUMBER_BITS: u32 = 20;

/// A tester that walks uniformly at random.
#[derive(Clone, Debug)]
pub struct UniformTester {
    rng: ChaCha8Rng,
    /// The number of labels after which a run ends.
    steps: usize,
}

impl UniformTester {
    /// Makes a tester whose runs have this many labels.
    #[must_use]
    pub fn new(steps: usize) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(0), steps }
    }

    /// Returns an input that some possible state accepts, each switch equally likely; `None` if no values were found
    /// for any.
    fn stimulus(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<TesterMove> {
        let belief = BorrowedBelief::from_monitor(monitor)?;
        let mut candidates = belief.inputs(cx.sts);
        // Shuffled instead of drawn once: if no values are found for a switch, the next one takes its place.
        candidates.shuffle(&mut self.rng);
        candidates.into_iter().find_map(|id| self.input(cx, monitor, &belief, id))
    }

    /// Returns the input of one switch with drawn values; `None` if none were found.
    fn input(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        belief: &BorrowedBelief<'_>,
        id: SwitchId,
    ) -> Option<TesterMove> {
        let wait = if cx.sts.is_timed() {
            Rational::new(Int::from(self.rng.random_range(0..2_000i64)), Int::from(1_000))?
        } else {
            Rational::ZERO
        };
        let source = cx.sts.switches[id].source;
        if let BorrowedBelief::Concrete(states) = belief {
            let here: Vec<&&ConcreteState> = states.iter().filter(|state| state.loc == source).collect();
            for _ in 0..DRAWS_BEFORE_SOLVER {
                let Some(state) = here.choose(&mut self.rng) else { break };
                if let Some(label) = self.draw_input(cx, state, id, &wait) {
                    return Some(if cx.sts.is_timed() {
                        TesterMove::StimulateAfter(wait, label)
                    } else {
                        TesterMove::Stimulate(label)
                    });
                }
            }
        }
        StimulusChoice::new(&mut self.rng, Hints::default(), WaitingCost::Wall)
            .choose_input(cx, monitor, belief, id)
    }

    /// Draws values once; returns the input if the guard accepts them.
    fn draw_input(
        &mut self,
        cx: &Ctx<'_>,
        state: &ConcreteState,
        id: SwitchId,
        wait: &Rational,
    ) -> Option<Label> {
        let switch = &cx.sts.switches[id];
        let fields = &cx.sts.gates[switch.gate].fields;
        let values: Vec<Value> = fields.iter().map(|&field| self.value(cx, field)).collect();
        let drawn: Valuation = fields.iter().copied().zip(values.iter().cloned()).collect();
        let there = advance_clocks(cx.sts, state, wait);
        let is_enabled = cx.pool.holds(switch.guard, &(&drawn, &there.values)) == Ok(true);
        is_enabled.then(|| Label::message(cx.sts, switch.gate, values))?
    }

    /// Draws a value of the sort of a field.
    fn value(&mut self, cx: &Ctx<'_>, field: VarId) -> Value {
        let sort = cx.pool.var_info(field).sort;
        match sort {
            Sort::Int => Value::int(self.draw_number()),
            Sort::Range { lo, hi } => Value::int(self.rng.random_range(lo..=hi.max(lo))),
            Sort::Real => Value::Real(Rational::from(self.draw_number())),
            Sort::Str => {
                let length = self.rng.random_range(0..=6);
                let text: String = (0..length).map(|_| self.rng.random_range('a'..='z')).collect();
                Value::str(&text)
            }
            Sort::Bool | Sort::Data(_) | Sort::Collection(_) => any_value(cx.pool, &mut self.rng, sort, &[]),
        }
    }

    fn draw_number(&mut self) -> i64 {
        // First the size, then the number: drawn from the whole range, hardly any number would be small.
        let most = 1i64 << self.rng.random_range(0..NUMBER_BITS);
        self.rng.random_range(-most..=most)
    }
}

impl Tester for UniformTester {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if trace.len() >= self.steps {
            return TesterMove::Stop(TesterStop::GoalMet(format!("{} steps taken", trace.len())));
        }
        let is_quiet = trace.ends_in_silence();
        // After silence only an input can go on, so there is no coin to toss.
        if (is_quiet || self.rng.random_ratio(1, 2))
            && let Some(stimulus) = self.stimulus(cx, monitor)
        {
            return stimulus;
        }
        if is_quiet {
            TesterMove::Stop(TesterStop::GoalMet("the model has no further step".into()))
        } else {
            TesterMove::Observe
        }
    }
}
