//! The coverage of runs: switches, data and history.
//!
//! The specification may be in several states, so a label may have taken one of several
//! switches. A switch counts as *certain* if it lies on every path that explains the run, as far as later messages have
//! told, and as *possible* if it lies on some (\[BT19]'s conservative and liberal measure, by path; the monitor follows
//! the paths). Internal switches are not seen; they are not counted here. All other items are described in [`item`].
//!
//! *Promises.* Only what is certain is covered: a pair if it lies on every path, values of an input where it is known
//! at once which switch took them, and a side of a comparison if it is the same in all states the model may be in.

mod class;
mod comparisons;
mod enough;
pub mod item;
mod notice;
mod possible;
mod record;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::index::IndexVec;
use ioxide_model::label::{Label, certain_switch};
use ioxide_model::number::Int;
use ioxide_model::sts::{GateId, GateKind, Sts, SwitchId};
use ioxide_model::value::Value;
use ioxide_symex::{Belief, Ctx, PathItem};

use self::comparisons::Comparisons;
pub use self::enough::{EnoughCoverage, OrderedCoverage};
use self::item::CoverageItem;
pub use self::record::CoverageRecord;
pub use self::survey::{CoverageSurvey, MeasureCount};

/// The number of variables whose extent is kept. Chosen by feel: more are not read.
const MAX_EXTENTS: usize = 64;
/// The number of pairs from which on the chance of a new one is estimated. Chosen by feel: an estimate from fewer
/// says little.
const MIN_SAMPLE: u64 = 100;

/// The number of times that a switch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCount {
    /// The times that it lies on every explanation of the runs.
    pub certain: u64,
    /// The times that it lies on some explanation, at most.
    pub possible: u64,
}

/// The coverage of a model by traces: switches, pairs of them, values, and the extents that the runs reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    taken: IndexVec<SwitchId, SwitchCount>,
    /// True for a switch about which no coverage is reported: it is internal, so it is not seen taken, or it is nothing
    /// to aim at.
    internal: IndexVec<SwitchId, bool>,
    /// The number of times each item other than a switch was seen.
    seen: BTreeMap<CoverageItem, u64>,
    /// The extents of variables, by position: of their numbers, or of the sizes of their collections.
    extents: BTreeMap<usize, ValueExtent>,
    /// The number of labels of the longest run.
    longest: usize,
    replies: ReplyCount,
    run: RunSoFar,
    comparisons: Comparisons,
}

/// The least and the greatest value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueExtent {
    /// The least.
    pub least: Int,
    /// The greatest.
    pub most: Int,
}

/// The replies of a system, by what they say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReplyCount {
    /// The number of outputs that say nothing but that the system refused an input.
    refused: u64,
    /// The number of other outputs, and of inputs that the system took in silence.
    other: u64,
}

/// The current run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct RunSoFar {
    /// True if the last message was an input.
    is_asked: bool,
    /// The switches taken, by the paths that explain the run.
    taken: BTreeMap<SwitchId, SwitchCount>,
    /// The switches taken as far as each label tells on its own.
    by_label: BTreeMap<SwitchId, SwitchCount>,
    labels: usize,
    /// The items seen for the first time since the last call of [`Coverage::take_fresh`].
    fresh: Vec<CoverageItem>,
}

impl Coverage {
    /// Returns a coverage with nothing covered.
    #[must_use]
    pub fn new(sts: &Sts) -> Self {
        let internal = sts.switches.iter().map(|switch| !sts.is_seen(switch)).collect();
        Self {
            taken: IndexVec::from_elem(SwitchCount::default(), sts.switches.len()),
            internal,
            seen: BTreeMap::new(),
            extents: BTreeMap::new(),
            longest: 0,
            replies: ReplyCount::default(),
            run: RunSoFar::default(),
            comparisons: Comparisons::default(),
        }
    }

    /// Returns the number of times that `switch` was taken.
    #[must_use]
    pub fn count_of(&self, switch: SwitchId) -> SwitchCount {
        self.taken[switch]
    }

    /// The switches that were certainly taken.
    pub fn covered_switches(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.taken.iter_enumerated().filter(|(_, taken)| taken.certain > 0).map(|(id, _)| id)
    }

    /// The visible switches that were never even possibly taken.
    pub fn never(&self) -> impl Iterator<Item = SwitchId> + '_ {
        let untaken = self.taken.iter_enumerated().filter(|(_, taken)| taken.possible == 0);
        untaken.map(|(id, _)| id).filter(|&id| !self.internal[id])
    }

    /// Returns whether `item` is covered.
    #[must_use]
    pub fn has(&self, item: &CoverageItem) -> bool {
        match item {
            CoverageItem::Switch(id) => self.taken[*id].certain > 0,
            other => self.seen.contains_key(other),
        }
    }

    /// Returns all items that are covered.
    pub fn items(&self) -> impl Iterator<Item = CoverageItem> + '_ {
        self.covered_switches().map(CoverageItem::Switch).chain(self.seen.keys().cloned())
    }

    /// Pairs of switches of which one certainly followed the other.
    pub fn pairs(&self) -> impl Iterator<Item = (SwitchId, SwitchId)> + '_ {
        self.seen
            .keys()
            .filter_map(|item| if let CoverageItem::Pair(a, b) = item { Some((*a, *b)) } else { None })
    }

    /// Returns the number of labels of the longest run.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the estimated probability that the next pair of switches is new: pairs seen once over all pairs seen
    /// (Good and Turing). It holds for runs that go on as they did; `None` below 100 pairs.
    #[must_use]
    pub fn chance_of_a_new_pair(&self) -> Option<f64> {
        let pairs = || self.seen.iter().filter(|(item, _)| matches!(item, CoverageItem::Pair(..)));
        let total: u64 = pairs().map(|(_, times)| times).sum();
        let once = pairs().filter(|&(_, &times)| times == 1).count();
        (total >= MIN_SAMPLE).then(|| once as f64 / total as f64)
    }

    /// Adds what another run of the same model covered.
    pub fn add(&mut self, other: &Self) {
        for (taken, more) in self.taken.iter_mut().zip(other.taken.iter()) {
            taken.certain += more.certain;
            taken.possible += more.possible;
        }
        for (item, times) in &other.seen {
            *self.seen.entry(item.clone()).or_default() += times;
        }
        for (&var, extent) in &other.extents {
            self.reach(var, &extent.least);
            self.reach(var, &extent.most);
        }
        self.longest = self.longest.max(other.longest);
        self.replies.refused += other.replies.refused;
        self.replies.other += other.replies.other;
    }

    /// Counts an output of the system.
    pub(crate) fn count_reply(&mut self, is_refusal: bool) {
        let replies = &mut self.replies;
        *(if is_refusal { &mut replies.refused } else { &mut replies.other }) += 1;
    }

    /// Returns the number of replies if all of them were refusals and `sts` has something else to answer: an output
    /// that is not among `refusals`, on some way from the start.
    #[must_use]
    pub fn only_refused(&self, sts: &Sts, refusals: &BTreeSet<GateId>) -> Option<u64> {
        let ReplyCount { refused, other } = self.replies;
        let is_silent_on_more = refused > 0 && other == 0 && has_other_answers(sts, refusals);
        is_silent_on_more.then_some(refused)
    }

    /// Begins a new run, which has no history.
    pub(crate) fn begin_run(&mut self) {
        self.run = RunSoFar::default();
    }

    /// Returns the coverage since the last call and starts again; the comparisons of the model stay known.
    pub(crate) fn take_since_last(&mut self, sts: &Sts) -> Self {
        let known = std::mem::take(&mut self.comparisons);
        let taken = std::mem::replace(self, Self::new(sts));
        self.comparisons = known;
        taken
    }

    /// Returns the items seen for the first time since the last call.
    pub(crate) fn take_fresh(&mut self) -> Vec<CoverageItem> {
        std::mem::take(&mut self.run.fresh)
    }

    /// Counts `label`, which `switches` explain and which came when the model was in one of the states of `before`.
    pub(crate) fn count_label(
        &mut self,
        cx: &mut Ctx<'_>,
        belief_before: &Belief,
        label: &Label,
        switches: &[SwitchId],
    ) {
        // Labels are counted here; which switches they took may be known only later, and then `count_certain` is told.
        self.run.labels += 1;
        self.longest = self.longest.max(self.run.labels);
        self.run.count_by_label(switches);
        let was_asked = std::mem::replace(&mut self.run.is_asked, matches!(label, Label::Input(..)));
        // Silence after an input is an answer too, and no refusal.
        if was_asked && *label == Label::Quiescence {
            self.replies.other += 1;
        }
        let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { return };
        let certain = certain_switch(switches).copied();
        if cx.sts.gates[*gate].kind == GateKind::Input && !switches.is_empty() {
            self.note_input(cx, belief_before, *gate, values, certain);
        }
        self.note_extents(cx.sts, belief_before);
    }

    /// Counts what lies on every explanation of the run, as is known by now.
    pub(crate) fn count_certain(&mut self, items: Vec<(PathItem, u64)>) {
        for (item, times) in items {
            match item {
                PathItem::Switch(switch) => {
                    if self.taken[switch].certain == 0 {
                        self.run.fresh.push(CoverageItem::Switch(switch));
                    }
                    self.taken[switch].certain += times;
                    self.run.taken.entry(switch).or_default().certain += times;
                    // Whatever is certain is possible, too.
                    self.count_possible(switch, times);
                }
                PathItem::Pair(first, then) => {
                    // One by one, since the number of times a pair was seen is what the chance of a new one is
                    // estimated from.
                    (0..times).for_each(|_| self.count_item(CoverageItem::Pair(first, then)));
                }
            }
        }
    }

    /// Counts what lies on some explanation of the run only, now that it has ended.
    pub(crate) fn end_run(&mut self, possible: &[(PathItem, u64)]) {
        for &(item, times) in possible {
            if let PathItem::Switch(switch) = item {
                self.count_possible(switch, times);
            }
        }
    }

    fn count_possible(&mut self, switch: SwitchId, times: u64) {
        self.taken[switch].possible += times;
        self.run.taken.entry(switch).or_default().possible += times;
    }

    /// Returns the certain and the possible times that the run took each switch, by label; `None` if the sum over its
    /// labels is the same.
    pub(crate) fn taken_in_run(&self, sts: &Sts) -> Option<BTreeMap<String, (u64, u64)>> {
        let RunSoFar { taken, by_label, .. } = &self.run;
        let named = |(&id, count): (&SwitchId, &SwitchCount)| {
            (sts.switches[id].label.to_string(), (count.certain, count.possible))
        };
        (taken != by_label).then(|| taken.iter().map(named).collect())
    }

    fn note_input(
        &mut self,
        cx: &mut Ctx<'_>,
        belief_before: &Belief,
        gate: GateId,
        values: &[Value],
        certain: Option<SwitchId>,
    ) {
        let mut items = notice::of_values(cx, gate, values);
        if let (Belief::Concrete(states), Some(id)) = (belief_before, certain) {
            let here = states.iter().filter(|state| state.loc == cx.sts.switches[id].source);
            let mut common: Option<Vec<CoverageItem>> = None;
            for state in here {
                let mut found = notice::of_stored(cx, gate, values, state);
                found.extend(notice::of_comparisons(cx, &mut self.comparisons, id, values, state));
                match &mut common {
                    // Only what holds in every possible state is covered for certain.
                    Some(common) => common.retain(|item| found.contains(item)),
                    None => common = Some(found),
                }
            }
            items.extend(common.unwrap_or_default());
        }
        items.into_iter().for_each(|item| self.count_item(item));
    }

    fn count_item(&mut self, item: CoverageItem) {
        if let Some(times) = self.seen.get_mut(&item) {
            *times += 1;
            return;
        }
        self.run.fresh.push(item.clone());
        self.seen.insert(item, 1);
    }

    /// Extends the extents of the variables, if the specification is in one known state.
    fn note_extents(&mut self, sts: &Sts, belief_before: &Belief) {
        let Belief::Concrete(states) = belief_before else { return };
        // With several states a variable may have a value that it never has in the system.
        let (1, Some(state)) = (states.len(), states.first()) else { return };
        for (at, held) in sts.vars.iter().enumerate().take(MAX_EXTENTS) {
            match state.values.get(held.var) {
                Some(Value::Int(n)) => self.reach(at, n),
                Some(Value::Collection(items)) => {
                    self.reach(at, &Int::from(i64::try_from(items.len()).unwrap_or(i64::MAX)));
                }
                _ => (),
            }
        }
    }

    /// Widens the range of values that a variable has taken.
    fn reach(&mut self, var: usize, n: &Int) {
        let extent =
            self.extents.entry(var).or_insert_with(|| ValueExtent { least: n.clone(), most: n.clone() });
        if *n < extent.least {
            extent.least = n.clone();
        }
        if *n > extent.most {
            extent.most = n.clone();
        }
    }
}

impl RunSoFar {
    /// Counts one label that these switches explain.
    fn count_by_label(&mut self, switches: &[SwitchId]) {
        for &switch in switches {
            self.by_label.entry(switch).or_default().possible += 1;
        }
        if let Some(&switch) = certain_switch(switches) {
            self.by_label.entry(switch).or_default().certain += 1;
        }
    }
}

/// Returns whether `sts` has an output that is not among `refusals` on some way from the start; guards are not looked
/// at.
fn has_other_answers(sts: &Sts, refusals: &BTreeSet<GateId>) -> bool {
    let mut reached = BTreeSet::from([sts.initial]);
    let mut todo = vec![sts.initial];
    while let Some(loc) = todo.pop() {
        for (_, switch) in sts.switches_from(loc) {
            if sts.kind_of(switch) == GateKind::Output && !refusals.contains(&switch.gate) {
                return true;
            }
            if reached.insert(switch.target) {
                todo.push(switch.target);
            }
        }
    }
    false
}
