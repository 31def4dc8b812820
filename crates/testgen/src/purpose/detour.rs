//! Detours: inputs that change nothing are covered on the way, not in a run of their own.
//!
//! An input that is only refused, or answered, and leads back without a change of any variable or clock can be given
//! wherever a purpose visits its location. Covered by a purpose of its own, it costs the way there once more. So it is
//! put into the first purpose that visits its location, at the first visit; at the start of a run nothing is saved, and
//! nothing is put in.
//!
//! *Promises.* The purposes together cover the same items. A detour that the solver does not show to be possible is not
//! made.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateKind, LocId, Switch, SwitchId};
use ioxide_symex::Ctx;

use super::{Criterion, PurposeItem, PurposeSet, TestPurpose};

/// The greatest number of detours tried in one set. Chosen by feel: what no detour of a set leads to is left to the
/// other testers.
const MAX_TRIES: usize = 24;

/// Inputs, each with its answer if it has one, that lead from a location back to it and change nothing.
type Loops = BTreeMap<LocId, Vec<Vec<SwitchId>>>;

/// Returns `set` with detours; purposes that cover nothing more are left out.
#[must_use]
pub fn with_detours(cx: &mut Ctx<'_>, set: PurposeSet) -> PurposeSet {
    if set.criterion != Criterion::Switches {
        return set;
    }
    let loops = loops(cx);
    let mut covered: BTreeSet<PurposeItem> = set.at_start.clone();
    let (mut purposes, mut items, mut tries) = (Vec::new(), Vec::new(), MAX_TRIES);
    for purpose in &set.purposes {
        let on_path = set.criterion.covered_by_path(cx.sts, purpose.path());
        if on_path.is_subset(&covered) {
            continue;
        }
        covered.extend(&on_path);
        let purpose = add_detours(cx, purpose, &loops, &mut covered, &mut tries);
        items.push(set.criterion.covered_by_path(cx.sts, purpose.path()));
        purposes.push(purpose);
    }
    PurposeSet { purposes, items, ..set }
}

/// Returns the loops that change nothing.
fn loops(cx: &Ctx<'_>) -> Loops {
    let sts = cx.sts;
    let changes_nothing = |switch: &Switch| switch.update.is_empty() && switch.resets.is_empty();
    let of_kind = |kind: GateKind| {
        let idle = sts.switches.iter_enumerated().filter(move |(_, switch)| changes_nothing(switch));
        idle.filter(move |(_, switch)| sts.kind_of(switch) == kind)
    };
    let mut answers: BTreeMap<(LocId, LocId), SwitchId> = BTreeMap::new();
    for (id, answer) in of_kind(GateKind::Output) {
        answers.entry((answer.source, answer.target)).or_insert(id);
    }
    let mut found = Loops::new();
    for (id, switch) in of_kind(GateKind::Input) {
        let back = if switch.target == switch.source {
            Some(vec![id])
        } else {
            answers.get(&(switch.target, switch.source)).map(|&answer| vec![id, answer])
        };
        found.entry(switch.source).or_default().extend(back);
    }
    found
}

/// Returns the loops at the locations of a path, in the order of the model.
fn loops_on_path<'l>(
    cx: &Ctx<'_>,
    purpose: &TestPurpose,
    loops: &'l Loops,
) -> Vec<(LocId, &'l Vec<SwitchId>)> {
    let places: BTreeSet<LocId> = purpose.switches().map(|id| cx.sts.switches[id].target).collect();
    let at = |&place: &LocId| loops.get(&place).into_iter().flatten().map(move |detour| (place, detour));
    let mut found: Vec<_> = places.iter().flat_map(at).collect();
    found.sort_by_key(|(_, detour)| detour.first().copied());
    found
}

/// Returns `purpose` with every loop that covers something new, as long as it grows by at most half.
fn add_detours(
    cx: &mut Ctx<'_>,
    purpose: &TestPurpose,
    loops: &Loops,
    covered: &mut BTreeSet<PurposeItem>,
    tries: &mut usize,
) -> TestPurpose {
    let mut longer = purpose.clone();
    let room = purpose.steps.len() / 2;
    if room == 0 || *tries == 0 || cx.halt_reason().is_some() {
        return longer;
    }
    for (place, detour) in loops_on_path(cx, purpose, loops) {
        let is_new = detour.iter().any(|&id| !covered.contains(&PurposeItem::Switch(id)));
        let has_room = longer.steps.len() + detour.len() <= purpose.steps.len() + room;
        if !is_new || !has_room || !purpose.end.is_empty() || *tries == 0 {
            continue;
        }
        let path: Vec<PathStep> = longer.path().collect();
        let comes_by = |&at: &usize| path[at].switch().is_some_and(|id| cx.sts.switches[id].target == place);
        let Some(at) = (0..path.len().saturating_sub(1)).find(comes_by) else { continue };
        *tries -= 1;
        // The loop comes back to where it left the path, so the rest of the path still fits; values may not, which is
        // checked.
        let path = [&path[..=at], &PathStep::taking(detour), &path[at + 1..]].concat();
        if let Ok(found) = TestPurpose::from_path(cx, purpose.name.clone(), &path)
            && found.doubt.is_none()
        {
            covered.extend(detour.iter().map(|&id| PurposeItem::Switch(id)));
            longer = found;
        }
    }
    longer
}
