//! One side of a product: a system indexed for stepping, and the states it may be in.

use std::sync::Arc;

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Substitution, Term};
use ioxide_symex::{Ctx, LiveVars, quiescence};

/// One state a side may be in: a location and a term for every variable.
///
/// *Invariant.* Variables that cannot matter at the location hold a plain value, so states
/// that differ in them only are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub loc: LocId,
    pub store: Vec<Term>,
}

/// For every location, whether each variable can matter there.
pub(crate) type Liveness = IndexVec<LocId, Vec<bool>>;

/// A system, indexed.
pub(crate) struct Side<'s> {
    pub sts: &'s Sts,
    index: Index,
    live: Liveness,
}

/// What is known of a system, location by location.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    places: Arc<IndexVec<LocId, Place>>,
    plain: Arc<Vec<Term>>,
}

/// What starts at a location.
#[derive(Clone, Debug)]
struct Place {
    /// The condition under which nothing but an input can happen.
    quiet: Term,
    internal: Vec<SwitchId>,
    visible: Vec<(GateId, SwitchId)>,
}

impl<'s> Side<'s> {
    /// Indexes `sts`, whose terms live in the pool of `cx`; `live` says which variables matter where.
    pub fn new(cx: &mut Ctx<'_>, sts: &'s Sts, live: Liveness) -> Self {
        let index = Index::new(cx, sts);
        Self { sts, index, live }
    }

    /// As [`new`](Self::new) for a system that differs from the indexed one at `touched` only.
    pub fn changed(
        cx: &mut Ctx<'_>,
        sts: &'s Sts,
        live: Liveness,
        index: &Index,
        touched: impl IntoIterator<Item = LocId>,
    ) -> Self {
        let mut index = index.clone();
        let mut over = cx.over(sts);
        for loc in touched {
            Arc::make_mut(&mut index.places)[loc] = Place::new(&mut over, sts, loc);
        }
        Self { sts, index, live }
    }

    /// The state at start; variables without initial value get a variable of their own.
    pub fn initial(&self, cx: &mut Ctx<'_>) -> Member {
        let mut store = Vec::with_capacity(self.sts.vars.len());
        for var in &self.sts.vars {
            store.push(match var.init {
                Some(term) => term,
                None => {
                    let unknown = cx.pool.indexed(var.var, 0);
                    cx.pool.var(unknown)
                }
            });
        }
        self.settle(self.sts.initial, store)
    }

    /// A state of the location, variables that cannot matter set to plain values.
    fn settle(&self, loc: LocId, mut store: Vec<Term>) -> Member {
        for (at, term) in store.iter_mut().enumerate() {
            if !self.live[loc][at] {
                *term = self.index.plain[at];
            }
        }
        Member { loc, store }
    }

    /// The values of `member` as what replaces variables.
    pub fn values(&self, member: &Member) -> Substitution {
        self.sts.vars.iter().map(|var| var.var).zip(member.store.iter().copied()).collect()
    }

    /// The switches of `gate` that start at `loc`.
    pub fn at(&self, loc: LocId, gate: GateId) -> impl Iterator<Item = SwitchId> + '_ {
        self.index.places[loc]
            .visible
            .iter()
            .filter(move |(other, _)| *other == gate)
            .map(|(_, switch)| *switch)
    }

    /// The internal switches that start at `loc`.
    pub fn internal(&self, loc: LocId) -> &[SwitchId] {
        &self.index.places[loc].internal
    }

    /// The condition of silence in `member`, whose values are `values`.
    pub fn quiet(&self, cx: &mut Ctx<'_>, member: &Member, values: &Substitution) -> Term {
        cx.pool.substitute(self.index.places[member.loc].quiet, values)
    }

    /// The state after `switch`; `values` has the values before it and the fields of the message.
    pub fn successor(
        &self,
        cx: &mut Ctx<'_>,
        member: &Member,
        id: SwitchId,
        values: &Substitution,
    ) -> Member {
        let switch = &self.sts.switches[id];
        let mut store = member.store.clone();
        for (at, var) in self.sts.vars.iter().enumerate() {
            if let Some((_, term)) = switch.update.iter().find(|(target, _)| *target == var.var) {
                store[at] = cx.pool.substitute(*term, values);
            }
        }
        self.settle(switch.target, store)
    }

    /// Whether the system has internal switches at all.
    pub fn is_visible(&self) -> bool {
        self.index.places.iter().all(|place| place.internal.is_empty())
    }
}

impl Index {
    /// Looks at every location of `sts`.
    pub fn new(cx: &mut Ctx<'_>, sts: &Sts) -> Self {
        let plain = |cx: &mut Ctx<'_>, var| {
            let value = cx.pool.default_value(cx.pool.var_info(var).sort);
            cx.pool.value(value)
        };
        let plain = sts.vars.iter().map(|var| plain(cx, var.var)).collect();
        let mut over = cx.over(sts);
        let places = sts.locations.ids().map(|loc| Place::new(&mut over, sts, loc)).collect();
        Self { places: Arc::new(places), plain: Arc::new(plain) }
    }
}

impl Place {
    fn new(cx: &mut Ctx<'_>, sts: &Sts, loc: LocId) -> Self {
        let quiet = quiescence(cx, loc);
        let is_internal = |id: &SwitchId| sts.kind_of(&sts.switches[*id]) == GateKind::Internal;
        let all: Vec<SwitchId> = sts.switches_from(loc).map(|(id, _)| id).collect();
        let internal = all.iter().copied().filter(is_internal).collect();
        let visible = all.into_iter().filter(|id| !is_internal(id));
        Self { quiet, internal, visible: visible.map(|id| (sts.switches[id].gate, id)).collect() }
    }
}

/// The live variables of `sts`, by location and position.
pub(crate) fn liveness(cx: &Ctx<'_>, sts: &Sts) -> Liveness {
    let live = LiveVars::of(cx.pool, sts, &[]);
    let at = |loc| sts.vars.iter().map(|var| live.is_live(loc, var.var)).collect();
    sts.locations.ids().map(at).collect()
}

/// What matters in either of two systems with the same locations and variables.
pub(crate) fn joined(mut one: Liveness, other: &Liveness) -> Liveness {
    for (here, there) in one.iter_mut().zip(other.iter()) {
        for (live, also) in here.iter_mut().zip(there) {
            *live |= *also;
        }
    }
    one
}

/// Whether everything live in `small` is live in `big`.
pub(crate) fn within(small: &Liveness, big: &Liveness) -> bool {
    small.iter().zip(big.iter()).all(|(small, big)| small.iter().zip(big).all(|(small, big)| *big || !*small))
}
