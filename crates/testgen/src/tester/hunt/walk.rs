//! One walk after another, with changing preferences.

mod choosing;
mod drifting;
mod looking;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHasher};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Belief, Ctx, Monitor};

use self::drifting::DriftRun;
use super::drift::{DriftPlans, LabelBudget};
use super::priced_looks::PricedLooks;
use super::rare::RareSwitches;
use super::starts::StartStates;
use super::walk_preferences::{PreferenceCycle, WalkPreferences};
use crate::data::{Hints, ModelLexicon, SeenValues, UsedKeys};
use crate::tester::instant::{self, TriedInstants, WaitingCost, nanoseconds};
use crate::tester::random::Interaction;
use crate::tester::stimulus::{BorrowedBelief, StimulusChoice};
use crate::tester::{TesterMove, TesterStop};

/// The number of labels of the first walk. Chosen by feel, as are the next two: long enough to leave the start, short
/// enough to be shrunk.
pub(super) const FIRST_WALK: usize = 320;
/// The number of labels of short walks, which begin in a rare state. Chosen by feel: what is new there is near.
const SHORT_WALK: usize = 24;
/// The greatest number of labels of a long walk. Chosen by feel: the memory and the time to shrink a run grow with its
/// length.
const MAX_WALK: usize = 4_000;
/// The length of the longest sequences of inputs that are counted. Chosen by feel: sequences of six are too many to
/// come again.
const MAX_GRAM: usize = 5;
/// The number of messages that may be sent again: the last ones, as systems forget. Chosen by feel.
const MAX_SENT: usize = 6;
/// One message in this many is one sent before. Chosen by feel: a duplicate finds faults of its own, but covers nothing
/// new.
const RESEND_ONE_IN: u32 = 12;
/// One look in this many lasts long, where waiting costs nothing. Chosen by feel: silence is worth a look, but teaches
/// the same every time.
const LONG_LOOK_ONE_IN: u32 = 6;
/// The greatest number of sequences, and of states with an input, that are counted: it bounds the memory of a campaign
/// of hours. Chosen by feel: a model with more of them is new at every step anyway.
const MAX_COUNTED: usize = 1 << 16;

/// The time for the values of one input, where the time of a campaign is limited. Chosen by feel: as long as a dozen
/// requests to a service take.
const MAX_CHOICE_TIME: Duration = Duration::from_millis(200);

/// Random walks, with the knowledge of earlier ones.
#[derive(Clone, Debug)]
pub(super) struct RandomWalks {
    interaction: Interaction,
    rng: ChaCha8Rng,
    timing: WaitingCost,
    /// The looks and the time they took; `None` where they cost nothing.
    looks: Option<PricedLooks>,
    /// True if the last input was chosen for its reply, which settles the inputs before it.
    is_settling: bool,
    lexicon: Option<ModelLexicon>,
    /// The number of times that each sequence of inputs was sent, over all walks; looked up, never iterated.
    grams: FxHashMap<Vec<SwitchId>, u32>,
    /// The number of times that an input was sent in a state of an outline; looked up, never iterated.
    tried: FxHashMap<(u64, SwitchId), u32>,
    tried_instants: TriedInstants,
    /// The inputs that some belief accepted, with the number of times each was sent.
    met: BTreeMap<SwitchId, u64>,
    /// The ways to rare states.
    starts: StartStates,
    trap: RareSwitches,
    walks: u32,
    /// The least number of labels of a walk, where resets cost time.
    least: usize,
    /// Makes the signal that ends the search for the values of one input; `None` if it may take its time.
    choice_limit: Option<fn(Option<Duration>) -> Halt>,
    cycle: PreferenceCycle,
    drift: DriftPlans,
    /// True if the last walk was a drift.
    was_drift: bool,
    run: WalkRun,
}

/// The walk under way.
#[derive(Clone, Debug, Default)]
struct WalkRun {
    seen: SeenValues,
    keys: UsedKeys,
    drift: Option<Box<DriftRun>>,
    inputs: Vec<SwitchId>,
    /// The last messages sent, the latest last.
    sent: Vec<Label>,
    preferences: Option<WalkPreferences>,
    /// The labels to repeat before it walks freely.
    way: VecDeque<Label>,
    /// The last label that was to be repeated.
    repeated: Option<Label>,
    length: usize,
    looked: bool,
    owed: Option<UnknownReason>,
}

impl RandomWalks {
    /// Makes walks that give inputs as `interaction` demands.
    pub(super) fn new(interaction: Interaction) -> Self {
        Self {
            interaction,
            rng: ChaCha8Rng::seed_from_u64(0),
            timing: WaitingCost::Wall,
            looks: Some(PricedLooks::default()),
            is_settling: false,
            lexicon: None,
            grams: FxHashMap::default(),
            tried: FxHashMap::default(),
            tried_instants: TriedInstants::default(),
            met: BTreeMap::new(),
            starts: StartStates::default(),
            trap: RareSwitches::default(),
            walks: 0,
            least: 0,
            choice_limit: None,
            cycle: PreferenceCycle::default(),
            drift: DriftPlans::default(),
            was_drift: false,
            run: WalkRun::default(),
        }
    }

    pub(super) fn start_run(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.run = WalkRun::default();
        self.trap.start_walk();
    }

    /// Takes the labels since the last move into account, also in runs led by a purpose; `switch` is the one taken, if
    /// that is certain.
    pub(super) fn record_labels(&mut self, monitor: &Monitor, trace: &Trace, switch: Option<SwitchId>) {
        self.starts.visit(outline(monitor), trace);
        // A walk that keeps to few inputs on purpose would look trapped, so only the others are watched.
        if self.run.drift.is_none() && self.run.preferences.as_ref().is_none_or(WalkPreferences::is_open) {
            self.trap.tick(switch);
        }
    }

    /// Takes over a run that another tester led, up to `length` labels in all.
    pub(super) fn take_over(&mut self, length: usize) {
        self.run.length = length;
    }

    pub(super) fn note_free_time(&mut self) {
        self.timing = WaitingCost::Free;
    }

    /// Looks at silence cost nothing from now on.
    pub(super) fn note_free_silence(&mut self) {
        self.looks = None;
    }

    /// Makes walks as long as that at least, from the next one on.
    pub(super) fn lengthen_to(&mut self, least: usize) {
        self.least = least;
    }

    /// Ends every search for the values of an input when the signal says so.
    pub(super) fn limit_choices(&mut self, halt_after: fn(Option<Duration>) -> Halt) {
        self.choice_limit = Some(halt_after);
    }

    /// Returns the next move of a walk within `budget`.
    pub(super) fn next_move(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        trace: &Trace,
        budget: LabelBudget,
    ) -> TesterMove {
        if self.run.length == 0 && !self.begin_drift(cx, budget) {
            self.begin_walk(cx, budget.left);
        }
        self.run.seen.catch_up(trace);
        // Long enough, or a switch that was taken often before has been out of reach for too long: a trap.
        if trace.len() >= self.run.length || self.trap.is_shut() {
            return self.last_move(cx, monitor, trace);
        }
        if let Some(drifting) = self.drift_move(cx, monitor, trace) {
            return drifting;
        }
        if let Some(repeated) = self.repeat_way(cx, monitor, trace) {
            return repeated;
        }
        // After silence a look shows nothing new: the walk sends, or it is over.
        let is_quiet = trace.ends_in_silence();
        let belief = BorrowedBelief::from_monitor(monitor);
        let sends = belief.as_ref().is_some_and(|belief| self.should_send(cx, belief, trace));
        if let Some(belief) = belief.filter(|_| sends)
            && let Some(stimulus) = self.choose_stimulus(cx, monitor, &belief)
        {
            return stimulus;
        }
        if is_quiet { self.end_walk() } else { self.choose_move(cx, monitor) }
    }

    /// Chooses the length of a walk: long and short ones in turn; the long ones grow, the short ones begin in a rare
    /// state.
    fn begin_walk(&mut self, cx: &Ctx<'_>, left: usize) {
        // Even walks double their length, for faults that need many steps; odd ones begin where few have been.
        let length = if self.walks.is_multiple_of(2) {
            (FIRST_WALK << (self.walks / 2).min(16)).min(MAX_WALK)
        } else {
            // With clocks, repeating labels does not repeat instants, and the way would be lost at once.
            if !cx.sts.is_timed() {
                self.run.way = self.starts.rare(&mut self.rng).into();
            }
            self.run.way.len() + self.rng.random_range(SHORT_WALK / 2..=2 * SHORT_WALK)
        };
        self.run.length = length.max(self.least).min(left).max(1);
        self.walks += 1;
    }

    /// Returns the next move on the way to a rare state, as long as the system takes the same way.
    fn repeat_way(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> Option<TesterMove> {
        if let (Some(last), Some(repeated)) = (trace.labels.last(), self.run.repeated.take())
            && *last != repeated
        {
            // The system took another way: what is left of the old one means nothing here.
            self.run.way.clear();
        }
        let label = self.take_step_of_way(cx, monitor, trace)?;
        self.run.repeated = Some(label.clone());
        match &label {
            Label::Input(..) if monitor.accepts(cx, &label) => {
                self.run.sent.push(label.clone());
                Some(TesterMove::Stimulate(label))
            }
            Label::Input(..) => {
                self.run.way.clear();
                None
            }
            Label::Output(..) | Label::Quiescence | Label::Delay(_) => Some(TesterMove::Observe),
        }
    }

    fn choose_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> TesterMove {
        if !cx.sts.is_timed()
            || self.timing != WaitingCost::Free
            || !self.rng.random_ratio(1, LONG_LOOK_ONE_IN)
        {
            return TesterMove::Observe;
        }
        let long = instant::long(&mut self.rng);
        let time = match self.draw_bound(cx, monitor) {
            Some(bound) => bound + Rational::ONE,
            None => long,
        };
        TesterMove::ObserveFor(nanoseconds(&time).max(Duration::from_secs(1)))
    }

    /// Draws the time until some clock passes a far bound that a guard names, half of the time.
    fn draw_bound(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<Rational> {
        let bounds = self.lexicon.as_ref().map(|lexicon| lexicon.clock_bounds().to_vec()).unwrap_or_default();
        let Belief::Concrete(states) = monitor.belief() else { return None };
        let far = instant::far_bounds(cx, states.first()?, &bounds);
        if far.is_empty() || self.rng.random_ratio(1, 2) { None } else { far.choose(&mut self.rng).cloned() }
    }

    /// Returns an input that some state of the belief accepts, chosen by the preferences of the walk.
    fn choose_stimulus(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        belief: &BorrowedBelief<'_>,
    ) -> Option<TesterMove> {
        let mut candidates = belief.inputs(cx.sts);
        let about = outline(monitor);
        if self.lexicon.is_none() {
            self.lexicon = Some(ModelLexicon::collect(cx));
        }
        for &id in &candidates {
            // Entered also if it is not chosen: preferences are dealt among all inputs that were ever possible.
            self.met.entry(id).or_default();
        }
        self.prefer_settling(cx.sts, monitor, &mut candidates);
        while !candidates.is_empty() {
            if let Some(halted) = cx.halt_reason() {
                self.run.owed = Some(halted.into());
                break;
            }
            let id = self.choose_switch(cx.sts, &candidates, about);
            // Removed before its values are looked for, so that each is tried once and this ends.
            candidates.retain(|&other| other != id);
            let chosen = self.resend(cx, monitor, id).or_else(|| match self.choice_limit {
                // Values that take long to find are not worth the steps that could be taken meanwhile.
                Some(halt_after) => cx.run_within(&halt_after(Some(MAX_CHOICE_TIME)), |cx| {
                    self.choose_values(cx, monitor, belief, id)
                }),
                None => self.choose_values(cx, monitor, belief, id),
            });
            if let Some(chosen) = chosen {
                self.count_tried(about, id);
                self.record_sent(cx, monitor, id, &chosen);
                return Some(chosen);
            }
        }
        None
    }

    fn choose_values(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        belief: &BorrowedBelief<'_>,
        id: SwitchId,
    ) -> Option<TesterMove> {
        let lexicon = self.lexicon.get_or_insert_with(|| ModelLexicon::collect(cx));
        let (atoms, keys) = (lexicon.atoms(cx, id).to_vec(), lexicon.keys(cx, id).to_vec());
        let weights =
            self.run.preferences.as_ref().map(|preferences| preferences.weights).unwrap_or_default();
        let hints = Hints {
            recent: self.run.seen.values(),
            constants: lexicon.constants(),
            atoms: &atoms,
            keys: &keys,
            used_keys: Some(&self.run.keys),
            clock_bounds: lexicon.clock_bounds(),
            weights,
        };
        let stimulus = StimulusChoice::new(&mut self.rng, hints, self.timing);
        let mut stimulus = stimulus.with_tried_instants(&mut self.tried_instants);
        let chosen = stimulus.choose_input(cx, monitor, belief, id);
        self.run.owed = stimulus.owed.or(self.run.owed.take());
        chosen
    }

    /// Returns a message of the kind of `id` that was sent before, unchanged, one time in [`RESEND_ONE_IN`]; `None`
    /// otherwise, and always in timed models.
    fn resend(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, id: SwitchId) -> Option<TesterMove> {
        let gate = cx.sts.switches[id].gate;
        if cx.sts.is_timed()
            || cx.sts.gates[gate].fields.is_empty()
            || !self.rng.random_ratio(1, RESEND_ONE_IN)
        {
            return None;
        }
        let is_same = |label: &&Label| matches!(label, Label::Input(other, _) if *other == gate);
        let same: Vec<&Label> = self.run.sent.iter().filter(is_same).collect();
        let label = (*same.choose(&mut self.rng)?).clone();
        monitor.accepts(cx, &label).then_some(TesterMove::Stimulate(label))
    }

    fn record_sent(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, id: SwitchId, chosen: &TesterMove) {
        self.record_keys(cx, monitor, id, chosen);
        *self.met.entry(id).or_default() += 1;
        if let TesterMove::Stimulate(label) | TesterMove::StimulateAfter(_, label) = chosen {
            self.run.sent.push(label.clone());
            // A window, so that repetitions are of recent messages and long runs stay cheap.
            let old = self.run.sent.len().saturating_sub(MAX_SENT);
            self.run.sent.drain(..old);
        }
        self.run.inputs.push(id);
        let inputs = &self.run.inputs;
        // Counts every sequence that ends here, by length: `newest` compares them shortest first.
        for order in 1..=MAX_GRAM.min(inputs.len()) {
            count_bounded(&mut self.grams, inputs[inputs.len() - order..].to_vec());
        }
        if let Some(preferences) = &mut self.run.preferences {
            preferences.left = preferences.left.saturating_sub(1);
        }
    }

    /// Counts that an input was sent in a state of this outline.
    fn count_tried(&mut self, outline: u64, id: SwitchId) {
        count_bounded(&mut self.tried, (outline, id));
    }

    /// Remembers the keys of a message.
    fn record_keys(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, id: SwitchId, chosen: &TesterMove) {
        let (TesterMove::Stimulate(Label::Input(gate, values))
        | TesterMove::StimulateAfter(_, Label::Input(gate, values))) = chosen
        else {
            return;
        };
        let Some(lexicon) = &mut self.lexicon else { return };
        let state = match monitor.belief() {
            Belief::Concrete(states) => states.first(),
            Belief::Symbolic(_) | Belief::Unspecified => None,
        };
        for key in lexicon.keys(cx, id) {
            let at = cx.sts.gates[*gate].fields.iter().position(|&field| field == key.field());
            let Some(value) = at.and_then(|at| values.get(at)) else { continue };
            let is_hit = || state.is_some_and(|state| key.is_hit(cx.pool, &state.values, value));
            self.run.keys.record(value, is_hit);
        }
    }

    /// Returns a last observation, unless it would only cost time, then the end of the run.
    pub(super) fn last_move(&mut self, cx: &Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if self.run.looked || trace.ends_in_silence() || !self.is_last_look_worth(cx, monitor, trace) {
            return TesterMove::Stop(TesterStop::GoalMet(format!("a walk of {} steps", trace.len())));
        }
        self.run.looked = true;
        TesterMove::Observe
    }

    /// Ends a walk that can neither send nor observe anything.
    fn end_walk(&mut self) -> TesterMove {
        TesterMove::Stop(match self.run.owed.take() {
            Some(why) => TesterStop::Inconclusive(format!("no values for an input were found: {why}")),
            None => TesterStop::GoalMet("the model has no further step".into()),
        })
    }
}

/// Adds one to the count of `key`; beyond [`MAX_COUNTED`] keys no new ones are counted.
fn count_bounded<K: Eq + std::hash::Hash>(counts: &mut FxHashMap<K, u32>, key: K) {
    // Bounds the memory of a campaign without end; by then the counts of what is common are known.
    let is_full = counts.len() >= MAX_COUNTED;
    match counts.get_mut(&key) {
        Some(count) => *count = count.saturating_add(1),
        None if is_full => (),
        None => drop(counts.insert(key, 1)),
    }
}

/// Returns a hash that is equal for similar states: the same location and values of the same size, small ones being
/// exact.
fn outline(monitor: &Monitor) -> u64 {
    let mut hasher = FxHasher::default();
    if let Belief::Concrete(states) = monitor.belief()
        && let Some(state) = states.first()
    {
        state.loc.hash(&mut hasher);
        state.values.iter().for_each(|(_, value)| size(value).hash(&mut hasher));
    }
    hasher.finish()
}

/// Returns the size of a value, exact for small ones, else by magnitude; 0 for clocks and other reals.
fn size(value: &Value) -> i64 {
    let magnitude = |n: i64| match n.unsigned_abs() {
        small @ 0..=4 => i64::try_from(small).unwrap_or(0),
        large => 4 + i64::from(large.ilog2()),
    };
    match value {
        Value::Bool(truth) => i64::from(*truth),
        Value::Int(n) => n.to_i64().map_or(i64::MAX, |n| magnitude(n) * n.signum().min(1)),
        Value::Real(_) => 0,
        Value::Str(_) => magnitude(value.as_str().map_or(0, |text| text.len() as i64)),
        Value::Data(data) => i64::from(data.ctor),
        Value::Collection(items) => magnitude(i64::try_from(items.len()).unwrap_or(i64::MAX)),
    }
}
