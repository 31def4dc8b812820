//! What a hunt has seen of the model: switches, pairs of them, edges of comparisons; and a guess at what is left.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::concrete::delayed;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Node, Term};
use ioxide_model::trace::Trace;
use ioxide_model::valuation::Valuation;
use ioxide_symex::{After, Belief, Ctx, explaining};

use super::{Until, visible};
use crate::data::Lexicon;

/// Pairs from which on a guess is made at what is left.
const MIN_SAMPLE: u64 = 100;

/// A pair of visible switches taken one after the other.
pub type Pair = (SwitchId, SwitchId);

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Insight {
    taken: BTreeMap<SwitchId, u64>,
    pairs: BTreeMap<Pair, u64>,
    /// Comparisons, by switch and position, whose sides were equal for values that were sent.
    edges: BTreeSet<(SwitchId, usize)>,
    lexicon: Option<Lexicon>,
    longest: usize,
    run: Run,
}

/// The run under way.
#[derive(Clone, Debug, Default)]
struct Run {
    before: Option<Belief>,
    seen: usize,
    /// The last switch, if it is certain.
    last: Option<SwitchId>,
    /// The same, if it was taken since the last move.
    fresh: Option<SwitchId>,
}

impl Insight {
    /// How often visible switches were certainly taken.
    #[must_use]
    pub fn taken(&self) -> &BTreeMap<SwitchId, u64> {
        &self.taken
    }

    /// How often one switch certainly followed another.
    #[must_use]
    pub fn pairs(&self) -> &BTreeMap<Pair, u64> {
        &self.pairs
    }

    /// Labels of the longest run.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Comparisons whose edge was met, and how many there are.
    #[must_use]
    pub fn edges(&self) -> (usize, usize) {
        (self.edges.len(), self.lexicon.as_ref().map_or(0, Lexicon::n_atoms))
    }

    /// Pairs that the graph alone would allow, internal steps between them included.
    #[must_use]
    pub fn possible_pairs(sts: &Sts) -> usize {
        let all = visible(sts);
        let follow = |a: SwitchId| {
            let reached = silently_reached(sts, sts.switches[a].target);
            all.iter().filter(|&&b| reached.contains(&sts.switches[b].source)).count()
        };
        all.iter().map(|&a| follow(a)).sum()
    }

    /// How likely it is that the next pair is one not seen yet: pairs seen once over all pairs seen (Good and
    /// Turing). It holds for a walk that goes on as it did; nothing is guessed from few pairs.
    #[must_use]
    pub fn unseen(&self) -> Option<f64> {
        let total: u64 = self.pairs.values().sum();
        let once = self.pairs.values().filter(|&&times| times == 1).count();
        (total >= MIN_SAMPLE).then(|| once as f64 / total as f64)
    }

    /// Whether every visible switch was taken.
    #[must_use]
    pub fn has_all(&self, sts: &Sts) -> bool {
        visible(sts).iter().all(|id| self.taken.contains_key(id))
    }

    /// Whether all of a kind was seen.
    #[must_use]
    pub fn has_met(&self, sts: &Sts, until: Until) -> bool {
        match until {
            Until::Switches => self.has_all(sts),
            Until::Pairs => self.pairs.len() >= Self::possible_pairs(sts),
        }
    }

    pub(super) fn start(&mut self) {
        self.run = Run::default();
    }

    /// Adds what another worker saw.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (&id, times) in &other.taken {
            *self.taken.entry(id).or_default() += times;
        }
        for (&pair, times) in &other.pairs {
            *self.pairs.entry(pair).or_default() += times;
        }
        self.edges.extend(&other.edges);
        self.longest = self.longest.max(other.longest);
        if self.lexicon.is_none() {
            self.lexicon.clone_from(&other.lexicon);
        }
    }

    /// Counts the switches the new labels have taken, where there is no doubt which.
    pub(super) fn catch_up(&mut self, cx: &mut Ctx<'_>, after: &After, history: &Trace) {
        let fresh = &history.labels[self.run.seen.min(history.len())..];
        let is_message = |label: &&Label| matches!(label, Label::Input(..) | Label::Output(..));
        let messages: Vec<&Label> = fresh.iter().filter(is_message).collect();
        let taken = match (&messages[..], &self.run.before) {
            ([label], Some(before)) => match explaining(cx, &waited(cx, before, fresh), label)[..] {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        };
        if let Some(id) = taken {
            self.take(id);
        }
        self.run.fresh = taken;
        if !messages.is_empty() {
            self.run.last = taken;
        }
        self.run.seen = history.len();
        self.longest = self.longest.max(history.len());
        self.run.before = Some(after.belief().clone());
    }

    /// The switch that the labels since the last move certainly took.
    pub(super) fn fresh(&self) -> Option<SwitchId> {
        self.run.fresh
    }

    fn take(&mut self, id: SwitchId) {
        *self.taken.entry(id).or_default() += 1;
        if let Some(last) = self.run.last {
            *self.pairs.entry((last, id)).or_default() += 1;
        }
    }

    /// Notes the comparisons at whose edge the values of an input are.
    pub(super) fn sends(&mut self, cx: &mut Ctx<'_>, after: &After, label: &Label) {
        let (Label::Input(gate, values), Belief::Concrete(states)) = (label, after.belief()) else { return };
        let Some(state) = states.first() else { return };
        let lexicon = self.lexicon.get_or_insert_with(|| Lexicon::of(cx));
        let fields: Valuation =
            cx.sts.gates[*gate].fields.iter().copied().zip(values.iter().cloned()).collect();
        for (id, switch) in cx.sts.switches_from(state.loc) {
            if switch.gate != *gate || cx.pool.holds(switch.guard, &(&fields, &state.values)) != Ok(true) {
                continue;
            }
            for (at, &atom) in lexicon.atoms(id).iter().enumerate() {
                if is_edge(cx, atom, &fields, &state.values) {
                    self.edges.insert((id, at));
                }
            }
        }
    }
}

/// `before` once the time has passed that `fresh` has before its message.
fn waited(cx: &Ctx<'_>, before: &Belief, fresh: &[Label]) -> Belief {
    let time = |label: &Label| if let Label::Delay(time) = label { Some(time.clone()) } else { None };
    let before_message =
        fresh.iter().take_while(|label| !matches!(label, Label::Input(..) | Label::Output(..)));
    let waited = before_message.filter_map(time).fold(Rational::ZERO, |sum, time| sum.add(&time));
    match before {
        Belief::Concrete(states) if cx.sts.is_timed() => {
            Belief::Concrete(states.iter().map(|state| delayed(cx.sts, state, &waited)).collect())
        }
        other => other.clone(),
    }
}

/// Whether both sides of a comparison are equal.
fn is_edge(cx: &Ctx<'_>, atom: Term, fields: &Valuation, state: &Valuation) -> bool {
    let (Node::Le(a, b) | Node::Lt(a, b) | Node::Eq(a, b)) = *cx.pool.node(atom) else { return false };
    let side = |term| cx.pool.eval(term, &(fields, state)).ok();
    side(a).is_some() && side(a) == side(b)
}

/// The locations that internal steps alone may lead to from `start`.
fn silently_reached(sts: &Sts, start: LocId) -> BTreeSet<LocId> {
    let (mut reached, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(at) = open.pop() {
        let internal = sts.switches_from(at).filter(|(_, switch)| sts.kind_of(switch) == GateKind::Internal);
        open.extend(internal.map(|(_, switch)| switch.target).filter(|&next| reached.insert(next)));
    }
    reached
}
