//! The explanations of a trace, one by one: every path of switches from the start, none of them merged.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, SwitchId};

use super::explicit::Explicit;
use ioxide_symex::PathItem;

/// A state, and the visible switches on one way to it.
type Explanation = (ConcreteState, Vec<SwitchId>);

/// The number of times that items lie on every explanation, and on one of them at most.
pub(super) type ItemCounts = BTreeMap<PathItem, (u64, u64)>;

impl Explicit {
    /// Returns every path that explains `labels`, in this order.
    pub(super) fn explanations(&self, labels: &[Label]) -> BTreeSet<Explanation> {
        let mut all = self.close_explanations([(self.start.clone(), Vec::new())].into());
        for label in labels {
            let next = all.iter().flat_map(|explanation| self.explain_one_more(explanation, label));
            all = self.close_explanations(next.collect());
        }
        all
    }

    fn explain_one_more(&self, (state, path): &Explanation, label: &Label) -> Vec<Explanation> {
        let gate = match label {
            Label::Quiescence if self.is_quiescent(state) => return vec![(state.clone(), path.clone())],
            Label::Quiescence | Label::Delay(_) => return Vec::new(),
            Label::Input(gate, values) | Label::Output(gate, values) => (*gate, values),
        };
        let longer = |(switch, next): (SwitchId, ConcreteState)| {
            (next, path.iter().copied().chain([switch]).collect::<Vec<_>>())
        };
        self.steps_with(state, gate.0, gate.1).into_iter().map(longer).collect()
    }

    fn close_explanations(&self, mut all: BTreeSet<Explanation>) -> BTreeSet<Explanation> {
        let mut todo: Vec<Explanation> = all.iter().cloned().collect();
        while let Some((state, path)) = todo.pop() {
            for (switch, next) in self.steps(&state) {
                let is_internal = self.sts.kind_of(&self.sts.switches[switch]) == GateKind::Internal;
                if is_internal && all.insert((next.clone(), path.clone())) {
                    todo.push((next, path.clone()));
                }
            }
        }
        all
    }
}

/// Counts the items of `paths`.
pub(super) fn count_items<'p>(paths: impl IntoIterator<Item = &'p Vec<SwitchId>>) -> ItemCounts {
    let counts: Vec<BTreeMap<PathItem, u64>> = paths.into_iter().map(|path| count_path(path)).collect();
    let items: BTreeSet<PathItem> = counts.iter().flat_map(BTreeMap::keys).copied().collect();
    let bounds = |item: PathItem| {
        let times = || counts.iter().map(|count| count.get(&item).copied().unwrap_or(0));
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    };
    items.into_iter().map(|item| (item, bounds(item))).collect()
}

fn count_path(path: &[SwitchId]) -> BTreeMap<PathItem, u64> {
    let mut counts = BTreeMap::new();
    let pairs = path.windows(2).map(|pair| PathItem::Pair(pair[0], pair[1]));
    for item in path.iter().map(|&id| PathItem::Switch(id)).chain(pairs) {
        *counts.entry(item).or_default() += 1;
    }
    counts
}
