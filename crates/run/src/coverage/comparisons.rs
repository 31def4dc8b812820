//! The comparisons that an input decides: about its fields, and about clocks where it is sent.

use std::collections::BTreeMap;

use ioxide_model::sts::SwitchId;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_symex::Ctx;
use ioxide_testgen::data::{comparisons_of, is_comparison};

/// The comparisons of every input switch that was asked for; terms of one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparisons {
    known: BTreeMap<SwitchId, Vec<Term>>,
}

impl Comparisons {
    /// Returns the comparisons of `id`, in an order that depends on the model alone.
    pub(super) fn comparisons_of(&mut self, cx: &mut Ctx<'_>, id: SwitchId) -> &[Term] {
        self.known.entry(id).or_insert_with(|| {
            let found = comparisons_of(cx, id).into_iter().chain(instants(cx, id));
            let mut all: Vec<Term> = Vec::new();
            for comparison in found.collect::<Vec<_>>() {
                // The opposite of a comparison has the same sides and the same edge.
                let opposite = cx.pool.not(comparison);
                if !all.contains(&comparison) && !all.contains(&opposite) {
                    all.push(comparison);
                }
            }
            all
        })
    }
}

/// Returns the comparisons with clocks in the guards of all switches that start where `id` does: its own, and the
/// deadlines of others that are pending there.
fn instants(cx: &Ctx<'_>, id: SwitchId) -> Vec<Term> {
    if !cx.sts.is_timed() {
        return Vec::new();
    }
    let guards: Vec<Term> =
        cx.sts.switches_from(cx.sts.switches[id].source).map(|(_, switch)| switch.guard).collect();
    let is_clock = |var: &VarId| cx.sts.clocks.iter().any(|clock| clock.var == *var);
    let is_own = |var: &VarId| is_clock(var) || cx.sts.vars.iter().any(|held| held.var == *var);
    let terms = cx.pool.subterms(&guards, |term| !cx.pool.is_ground(term)).into_iter();
    terms
        .filter(|&term| is_comparison(cx.pool, term))
        .filter(|&term| {
            let vars = cx.pool.free_vars(term);
            vars.iter().any(is_clock) && vars.iter().all(is_own)
        })
        .collect()
}

/// Returns both sides of an ordering; `None` for a comparison without an edge.
pub(super) fn sides(cx: &Ctx<'_>, comparison: Term) -> Option<(Term, Term)> {
    match *cx.pool.node(comparison) {
        TermNode::Le(a, b) | TermNode::Lt(a, b) => Some((a, b)),
        _ => None,
    }
}
