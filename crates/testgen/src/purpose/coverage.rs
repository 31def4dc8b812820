//! Purposes by coverage: of switches, of locations, of messages, of silences.
//!
//! Switch coverage (\[BT19] sec. 4) takes one shortest path per switch (breadth-first over the graph with merged
//! states), longest first, and drops those whose switches are on a kept one. The other criteria do the same with the
//! target or the gate of a switch. For silences see [`silence`](super::silence). A priori coverage counts the items on
//! the purposes; a path in doubt is worth trying, but items on such paths only are not covered.
//!
//! *Promises.* An item is called unreachable only if the graph is complete and no step of it covers the item: every
//! switch left out there was refuted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, SwitchId};
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{
    Ctx, Exploration, ExploreConfig, ExploreLimits, ExploreOrder, ExploreStats, ExploredEdge, ExploredId,
    StopReason, explore,
};

use super::TestPurpose;
use super::silence::{silence_coverage, silent_places};
use super::sliced::within_slice;

/// The number of paths tried to one item before one in doubt is taken. Chosen by feel: a path that is not decided is
/// often the neighbour of one that is.
pub(super) const MAX_PATHS: usize = 8;

/// The number of steps of all purposes together above which no other is looked for: in a chain of twenty thousand
/// states every side step would be a purpose of its own, and all of them together more than memory holds.
const MAX_PURPOSE_STEPS: usize = 2_000_000;

/// The number of steps of paths that are checked even if the time is over: the purposes found by then are worth
/// keeping.
const GRACE_STEPS: usize = 5_000;

/// The number of states without a new switch after which the search no longer insists on shortest paths. Chosen by
/// feel: smaller gives longer paths on models that breadth first covers, larger is slow on systems of many parts.
const STATES_UNTIL_RESTLESS: usize = 300;

/// The number of states without a new switch after which each missing one is searched for among the switches that can
/// matter for it. Chosen by feel: a slice costs a search per missing switch, so the common search gets its chance
/// first.
const STATES_UNTIL_SLICED: usize = 2_000;

/// A coverage criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Every switch is taken.
    #[default]
    Switches,
    /// Every location is reached.
    Locations,
    /// Every message is sent or observed.
    Gates,
    /// Silence is observed in every location in which the model may be silent.
    Silences,
}

/// An item to cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PurposeItem {
    /// A switch, covered by taking it.
    Switch(SwitchId),
    /// A location, covered by visiting it; the initial one always is.
    Location(LocId),
    /// A visible gate, covered by a message on it.
    Gate(GateId),
    /// Silence in a location, covered by observing it there.
    Silence(LocId),
}

/// The purposes of a criterion.
#[derive(Clone, Debug)]
pub struct PurposeSet {
    /// The criterion that they cover together.
    pub criterion: Criterion,
    /// The purposes, longest first; for [`from_purposes`](Self::from_purposes) in the given order.
    pub purposes: Vec<TestPurpose>,
    /// The items that each of them covers.
    pub items: Vec<BTreeSet<PurposeItem>>,
    /// The items that are covered before the first step.
    pub at_start: BTreeSet<PurposeItem>,
    /// The items on no purpose that is beyond doubt, in order.
    pub unreached: Vec<Unreached>,
    /// The number of items to cover.
    pub total: usize,
    /// The effort of the search.
    pub stats: ExploreStats,
}

/// An item that no purpose covers beyond doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The item.
    pub item: PurposeItem,
    /// The reason.
    pub why: WhyUnreached,
}

/// The reason why no purpose covers an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyUnreached {
    /// Proved: all symbolic states, this many, were explored and none enables it.
    Never(usize),
    /// Proved: an output or an internal step is possible in the location whatever the values of the variables, so it is
    /// never silent.
    Loud,
    /// Not known: the search ended before all states were explored.
    Cut(StopReason),
    /// Not known: the purposes found so far have too many steps to look for another one.
    Full,
    /// Not known: there is a purpose, but the solver did not show that it can be executed.
    Doubt(UnknownReason),
}

impl PurposeSet {
    /// Makes a set of these purposes, in this order; they cover their switches.
    #[must_use]
    pub fn from_purposes(sts: &Sts, purposes: Vec<TestPurpose>) -> Self {
        let criterion = Criterion::Switches;
        let items = purposes.iter().map(|purpose| criterion.covered_by_path(sts, purpose.path())).collect();
        let (total, stats) = (criterion.items(sts).len(), ExploreStats::default());
        let at_start = BTreeSet::new();
        Self { criterion, purposes, items, at_start, unreached: Vec::new(), total, stats }
    }

    /// Returns the items on purposes that can be executed beyond doubt: a priori coverage.
    #[must_use]
    pub fn covered_items(&self) -> BTreeSet<PurposeItem> {
        let certain = |(purpose, _): &(&TestPurpose, _)| purpose.doubt.is_none();
        let certain = self.purposes.iter().zip(&self.items).filter(certain).map(|(_, items)| items);
        certain.chain([&self.at_start]).flatten().copied().collect()
    }

    /// Returns the items on all purposes, in doubt or not: worth trying.
    #[must_use]
    pub fn aims(&self) -> BTreeSet<PurposeItem> {
        self.items.iter().chain([&self.at_start]).flatten().copied().collect()
    }

    /// Returns the items on purposes in doubt, with the reason of the first such purpose.
    fn doubts(&self) -> BTreeMap<PurposeItem, &UnknownReason> {
        let mut doubts = BTreeMap::new();
        for (purpose, items) in self.purposes.iter().zip(&self.items) {
            let Some(why) = &purpose.doubt else { continue };
            for &item in items {
                doubts.entry(item).or_insert(why);
            }
        }
        doubts
    }

    /// Returns whether every item is on a purpose beyond doubt or proved unreachable.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unreached.iter().all(|unreached| unreached.why.is_proof())
    }
}

impl WhyUnreached {
    /// Returns whether the item is proved unreachable.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        matches!(self, Self::Never(_) | Self::Loud)
    }
}

impl fmt::Display for WhyUnreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never(states) => {
                write!(f, "proved unreachable: all {states} symbolic states were explored, none enables it")
            }
            Self::Loud => f.write_str("proved: an output or an internal step is always possible there"),
            Self::Cut(StopReason::Exhausted) => f.write_str("unknown: no path found could be confirmed"),
            Self::Cut(stop) => write!(f, "unknown: {stop}"),
            Self::Full => {
                write!(f, "unknown: the purposes before it have more than {MAX_PURPOSE_STEPS} steps")
            }
            Self::Doubt(why) => write!(f, "unknown: the path to it is in doubt: {why}"),
        }
    }
}

impl Criterion {
    /// Returns every item to cover; completion switches and internal gates are none.
    #[must_use]
    pub fn items(self, sts: &Sts) -> BTreeSet<PurposeItem> {
        match self {
            Self::Switches => {
                let wanted = sts.switches.iter_enumerated().filter(|(_, switch)| !sts.is_completion(switch));
                wanted.map(|(id, _)| PurposeItem::Switch(id)).collect()
            }
            Self::Locations => sts.locations.ids().map(PurposeItem::Location).collect(),
            Self::Gates => {
                let visible = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal);
                visible.map(|(id, _)| PurposeItem::Gate(id)).collect()
            }
            Self::Silences => sts.locations.ids().map(PurposeItem::Silence).collect(),
        }
    }

    /// Returns whether `item` is one of [`Self::items`].
    fn wants(self, sts: &Sts, item: PurposeItem) -> bool {
        match item {
            PurposeItem::Switch(id) => self == Self::Switches && !sts.is_completion(&sts.switches[id]),
            PurposeItem::Location(_) => self == Self::Locations,
            PurposeItem::Gate(id) => self == Self::Gates && sts.gates[id].kind != GateKind::Internal,
            PurposeItem::Silence(_) => self == Self::Silences,
        }
    }

    /// Returns the item that taking `switch` covers; one that nobody wants if only silences are covered.
    #[must_use]
    pub fn covered_by(self, sts: &Sts, switch: SwitchId) -> PurposeItem {
        match self {
            Self::Switches | Self::Silences => PurposeItem::Switch(switch),
            Self::Locations => PurposeItem::Location(sts.switches[switch].target),
            Self::Gates => PurposeItem::Gate(sts.switches[switch].gate),
        }
    }

    /// Returns the items that following `path` from the initial state covers.
    #[must_use]
    pub fn covered_along(self, sts: &Sts, path: impl Iterator<Item = SwitchId>) -> BTreeSet<PurposeItem> {
        let mut covered: BTreeSet<PurposeItem> = path.map(|switch| self.covered_by(sts, switch)).collect();
        if self == Self::Locations {
            covered.insert(PurposeItem::Location(sts.initial));
        }
        covered.retain(|&item| self.wants(sts, item));
        covered
    }

    /// Returns the items that the steps of `path`, from the initial state on, cover.
    #[must_use]
    pub fn covered_by_path(
        self,
        sts: &Sts,
        path: impl Iterator<Item = PathStep> + Clone,
    ) -> BTreeSet<PurposeItem> {
        if self == Self::Silences {
            return silent_places(sts, path).into_iter().map(PurposeItem::Silence).collect();
        }
        self.covered_along(sts, path.filter_map(PathStep::switch))
    }
}

impl Criterion {
    /// Returns the items in the words of the language; [`fmt::Display`] has those of records and JSON.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Switches => "transitions",
            Self::Locations => "states",
            Self::Gates => "messages",
            Self::Silences => "silences",
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switches => "switches",
            Self::Locations => "locations",
            Self::Gates => "gates",
            Self::Silences => "silences",
        })
    }
}

impl PurposeItem {
    /// Its name in the model.
    #[must_use]
    pub fn name(self, sts: &Sts) -> &str {
        match self {
            Self::Switch(id) => &sts.switches[id].label,
            Self::Location(id) | Self::Silence(id) => &sts.locations[id].name,
            Self::Gate(id) => &sts.gates[id].name,
        }
    }
}

/// Returns the purposes of `criterion`; `watch` sees the progress of the search and may stop it.
///
/// The search ends as soon as every switch has been taken: later paths are no shorter, as long as it goes breadth
/// first. If it takes no new switch for long, the missing items are searched for one by one; only if some are missing
/// still, the search goes on to its end.
pub fn coverage(
    cx: &mut Ctx<'_>,
    criterion: Criterion,
    limits: ExploreLimits,
    watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
) -> PurposeSet {
    if criterion == Criterion::Silences {
        return silence_coverage(cx, limits, watch);
    }
    let wanted = criterion.items(cx.sts);
    let mut is_fruitless = false;
    let mut patient = LastNewSwitch::default();
    // First one search for all items; it ends early once it has found nothing new for long.
    let near = explore_switches(cx, limits, &mut |stats| {
        is_fruitless = patient.is_over(stats);
        if is_fruitless { ControlFlow::Break(()) } else { watch(stats) }
    });
    if !is_fruitless {
        return choose_purposes(cx, criterion, &wanted, &near, &[]);
    }
    // Then one small search per missing item. Independent parts multiply the states of the common search; a slice
    // leaves out the switches that cannot matter for its item.
    let found = slice_purposes(cx, criterion, &wanted, &near, limits);
    let set = choose_purposes(cx, criterion, &wanted, &near, &found);
    if set.unreached.is_empty() || cx.halt_reason().is_some() {
        return set;
    }
    // Only the complete graph can prove that the rest is unreachable.
    let all = explore_switches(cx, limits, watch);
    choose_purposes(cx, criterion, &wanted, &all, &found)
}

/// The point of the search at which it last took a new switch.
#[derive(Default)]
struct LastNewSwitch {
    switches: usize,
    expanded: usize,
}

impl LastNewSwitch {
    /// Returns whether no new switch was taken for more than [`STATES_UNTIL_SLICED`] states.
    fn is_over(&mut self, stats: &ExploreStats) -> bool {
        if stats.switches > self.switches {
            *self = Self { switches: stats.switches, expanded: stats.expanded };
        }
        stats.expanded - self.expanded > STATES_UNTIL_SLICED
    }
}

/// Explores until every switch was taken.
fn explore_switches(
    cx: &mut Ctx<'_>,
    limits: ExploreLimits,
    watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
) -> Exploration {
    let n_switches = cx.sts.switches.len();
    let order = ExploreOrder::Restless { patience: STATES_UNTIL_RESTLESS };
    let config = ExploreConfig { limits, order, ..ExploreConfig::default() };
    explore(cx, &config, &mut |stats| {
        if stats.switches == n_switches { ControlFlow::Break(()) } else { watch(stats) }
    })
}

/// Returns purposes for items that the graph does not cover, each from a search among the switches that can matter for
/// it.
fn slice_purposes(
    cx: &mut Ctx<'_>,
    criterion: Criterion,
    wanted: &BTreeSet<PurposeItem>,
    exploration: &Exploration,
    limits: ExploreLimits,
) -> Vec<TestPurpose> {
    let covered = criterion.covered_along(cx.sts, exploration.taken_switches().into_iter());
    // One limit of states for all slices together.
    let mut left = limits.max_states;
    let mut found = Vec::new();
    for &item in wanted.difference(&covered) {
        let covers = |id: &SwitchId| criterion.covered_by(cx.sts, *id) == item;
        let switches: Vec<SwitchId> = cx.sts.switches.ids().filter(covers).collect();
        let name = item.name(cx.sts).to_owned();
        let purpose = switches
            .into_iter()
            .find_map(|switch| within_slice(cx, &name, switch, limits.max_depth, &mut left));
        found.extend(purpose);
    }
    found.sort_by_key(|purpose| Reverse(purpose.steps.len()));
    found
}

/// Returns a small set of purposes: those `found` elsewhere, and paths of the graph to the items that they leave.
fn choose_purposes(
    cx: &mut Ctx<'_>,
    criterion: Criterion,
    wanted: &BTreeSet<PurposeItem>,
    exploration: &Exploration,
    found: &[TestPurpose],
) -> PurposeSet {
    let at_start = criterion.covered_along(cx.sts, std::iter::empty());
    let uses = uses(cx.sts, exploration, criterion);
    let aims: Vec<PurposeItem> = wanted.difference(&at_start).copied().collect();
    let mut selection = PurposeSelection::new(exploration, criterion);
    found.iter().for_each(|purpose| selection.keep_if_new(cx.sts, purpose.clone(), None));
    let cut = selection.choose(cx, &aims, &uses);
    let (purposes, items) = selection.into_purposes();
    let (stats, total) = (exploration.stats, wanted.len());
    let mut set = PurposeSet { criterion, purposes, items, at_start, unreached: Vec::new(), total, stats };
    let covered = set.covered_items();
    let left = wanted.difference(&covered);
    let doubts = set.doubts();
    let why = |item: &PurposeItem| match (doubts.get(item), &cut) {
        (Some(why), _) => WhyUnreached::Doubt((*why).clone()),
        (None, Some(why)) if uses.contains_key(item) => why.clone(),
        (None, _) => why_unreached(exploration, uses.contains_key(item)),
    };
    set.unreached = left.map(|item| Unreached { item: *item, why: why(item) }).collect();
    set
}

/// The edges that cover each item, in the order of the graph.
fn uses<'g>(
    sts: &Sts,
    exploration: &'g Exploration,
    criterion: Criterion,
) -> BTreeMap<PurposeItem, Vec<&'g ExploredEdge>> {
    let mut uses: BTreeMap<PurposeItem, Vec<&ExploredEdge>> = BTreeMap::new();
    for edge in &exploration.graph.edges {
        uses.entry(criterion.covered_by(sts, edge.switch)).or_default().push(edge);
    }
    uses
}

/// The selection of purposes: longest first, without those whose items are all on the ones kept. A purpose in doubt is
/// kept for items that no other covers.
struct PurposeSelection<'g> {
    exploration: &'g Exploration,
    criterion: Criterion,
    kept: Vec<(TestPurpose, BTreeSet<PurposeItem>)>,
    covered: BTreeSet<PurposeItem>,
    /// The states whose way from the initial one is on a kept purpose.
    known: BTreeSet<ExploredId>,
    /// The number of steps of the kept purposes.
    steps: usize,
    /// The number of steps of all paths checked.
    walked: usize,
}

impl<'g> PurposeSelection<'g> {
    /// Makes a selection that has kept no purpose yet.
    fn new(exploration: &'g Exploration, criterion: Criterion) -> Self {
        let (kept, covered, known) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Self { exploration, criterion, kept, covered, known, steps: 0, walked: 0 }
    }

    /// Selects purposes for `aims`, which the edges of `uses` cover; returns the reason if it had to end early.
    fn choose(
        &mut self,
        cx: &mut Ctx<'_>,
        aims: &[PurposeItem],
        uses: &BTreeMap<PurposeItem, Vec<&'g ExploredEdge>>,
    ) -> Option<WhyUnreached> {
        let graph = &self.exploration.graph;
        let depth = |edge: &ExploredEdge| graph.nodes[edge.from].depth;
        let mut aims: Vec<(PurposeItem, Vec<&ExploredEdge>)> =
            aims.iter().filter_map(|&item| Some((item, uses.get(&item)?.clone()))).collect();
        for (_, uses) in &mut aims {
            // Nearest first, so that `uses[0]` says how deep an item is.
            uses.sort_by_key(|edge| depth(edge));
        }
        // Deepest first: a long path often covers the items of shorter ones, which then need no purpose of their own.
        aims.sort_by_key(|(_, uses)| Reverse(depth(uses[0])));
        let mut in_doubt = Vec::new();
        for (item, uses) in aims {
            // Checking a path asks the solver, so the time limit is looked at before each path.
            if self.walked > GRACE_STEPS
                && let Some(halted) = cx.halt_reason()
            {
                return Some(WhyUnreached::Cut(StopReason::Halted(halted)));
            }
            if self.steps > MAX_PURPOSE_STEPS {
                return Some(WhyUnreached::Full);
            }
            if self.is_on_the_way(cx.sts, uses[0]) {
                continue;
            }
            self.walked += depth(uses[0]) as usize + 1;
            match shortest(cx, self.exploration, item, &uses) {
                Some((purpose, from)) if purpose.doubt.is_none() => {
                    self.keep_if_new(cx.sts, purpose, Some(from))
                }
                Some((purpose, _)) => in_doubt.push(purpose),
                None => (),
            }
        }
        // Purposes in doubt come last, so they are kept only for items that no certain purpose covers.
        in_doubt.sort_by_key(|purpose| Reverse(purpose.steps.len()));
        in_doubt.into_iter().for_each(|purpose| self.keep_if_new(cx.sts, purpose, None));
        None
    }

    /// Returns whether every item on the way to the end of `edge` is covered.
    fn is_on_the_way(&self, sts: &Sts, edge: &ExploredEdge) -> bool {
        let is_covered = |switch: SwitchId| {
            let item = self.criterion.covered_by(sts, switch);
            self.covered.contains(&item) || !self.criterion.wants(sts, item)
        };
        // Backwards along the edges by which the states were found. The way to a known state is on a kept purpose, so
        // it need not be followed further.
        let mut edge = *edge;
        loop {
            if !is_covered(edge.switch) {
                return false;
            }
            match self.exploration.graph.found_by[edge.from] {
                Some(before) if !self.known.contains(&edge.from) => edge = before,
                _ => return true,
            }
        }
    }

    /// Keeps a purpose that covers a new item; `from` is the state before its last step, `None` for a purpose in doubt
    /// or from another search.
    fn keep_if_new(&mut self, sts: &Sts, purpose: TestPurpose, from: Option<ExploredId>) {
        let items = self.criterion.covered_by_path(sts, purpose.path());
        if items.is_subset(&self.covered) {
            return;
        }
        self.covered.extend(&items);
        self.steps += purpose.steps.len();
        let mut at = from;
        // Invariant: if a state is known, so are all states on the way to it. So the walk ends at the first known one.
        while let Some(node) = at.filter(|&node| self.known.insert(node)) {
            at = self.exploration.graph.found_by[node].map(|edge| edge.from);
        }
        self.kept.push((purpose, items));
    }

    /// Returns the purposes with the items that they cover, longest first.
    fn into_purposes(mut self) -> (Vec<TestPurpose>, Vec<BTreeSet<PurposeItem>>) {
        self.kept.sort_by_key(|(purpose, _)| Reverse(purpose.steps.len()));
        self.kept.into_iter().unzip()
    }
}

/// Returns a shortest path that ends by covering `item`, with the state before its last step; `uses` are the edges that
/// cover it, nearest first. A path beyond doubt is preferred among the first few.
fn shortest(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    item: PurposeItem,
    uses: &[&ExploredEdge],
) -> Option<(TestPurpose, ExploredId)> {
    let (graph, sts) = (&exploration.graph, cx.sts);
    let mut in_doubt = None;
    for edge in uses.iter().take(MAX_PATHS) {
        let mut path = PathStep::taking(&graph.path_to(edge.from));
        path.push(PathStep::Take(edge.switch));
        match TestPurpose::from_path(cx, item.name(sts).to_owned(), &path) {
            Ok(purpose) if purpose.doubt.is_none() => return Some((purpose, edge.from)),
            Ok(purpose) => in_doubt = in_doubt.or(Some((purpose, edge.from))),
            // Only a state in doubt has a way to it that does not exist.
            Err(_) => (),
        }
    }
    in_doubt
}

fn why_unreached(exploration: &Exploration, is_covered: bool) -> WhyUnreached {
    match exploration.stop {
        StopReason::Exhausted if !is_covered => WhyUnreached::Never(exploration.stats.states),
        stop => WhyUnreached::Cut(stop),
    }
}
