//! Detours: what leaves everything as it was is covered on the way, not in a run of its own.
//!
//! An input that is only refused, or answered, and leads back without a change of any variable or clock can be given
//! wherever a purpose comes by. Covered by a purpose of its own, it costs the way there once more. So it
//! is put into the first purpose that passes its place, at the first time it does; at the start of a
//! run nothing is saved, and nothing is put in.
//!
//! *Promises.* What the purposes cover together stays the same. A detour that cannot be shown to be possible
//! is not made.

use std::collections::BTreeSet;

use ioxide_model::sts::{GateKind, LocId, Switch, SwitchId};
use ioxide_symex::Ctx;

use super::{Criterion, Item, Purpose, PurposeSet};

/// Detours tried in one set.
const MAX_TRIES: usize = 24;

/// An input, and its answer if it has one, that lead from a location back to it and change nothing.
type Loop = (LocId, Vec<SwitchId>);

/// `set` with detours; purposes that cover nothing more are left out.
#[must_use]
pub fn with_detours(cx: &mut Ctx<'_>, set: PurposeSet) -> PurposeSet {
    if set.criterion != Criterion::Switches {
        return set;
    }
    let loops = loops(cx);
    let mut covered: BTreeSet<Item> = set.at_start.clone();
    let (mut purposes, mut items, mut tries) = (Vec::new(), Vec::new(), MAX_TRIES);
    for purpose in &set.purposes {
        let on_path = set.criterion.covered_along(cx.sts, purpose.path());
        if on_path.is_subset(&covered) {
            continue;
        }
        covered.extend(&on_path);
        let purpose = detoured(cx, purpose, &loops, &mut covered, &mut tries);
        items.push(set.criterion.covered_along(cx.sts, purpose.path()));
        purposes.push(purpose);
    }
    PurposeSet { purposes, items, ..set }
}

/// The loops that change nothing.
fn loops(cx: &Ctx<'_>) -> Vec<Loop> {
    let sts = cx.sts;
    let changes_nothing = |switch: &Switch| switch.update.is_empty() && switch.resets.is_empty();
    let inputs = sts.switches.iter_enumerated().filter(|(_, switch)| sts.kind_of(switch) == GateKind::Input);
    let mut found = Vec::new();
    for (id, switch) in inputs.filter(|(_, switch)| changes_nothing(switch)) {
        if switch.target == switch.source {
            found.push((switch.source, vec![id]));
            continue;
        }
        let back = |answer: &Switch| {
            sts.kind_of(answer) == GateKind::Output
                && answer.target == switch.source
                && changes_nothing(answer)
        };
        let answer = sts.switches_from(switch.target).find(|(_, answer)| back(answer));
        found.extend(answer.map(|(answer, _)| (switch.source, vec![id, answer])));
    }
    found
}

/// `purpose` with every loop put in that covers something new.
fn detoured(
    cx: &mut Ctx<'_>,
    purpose: &Purpose,
    loops: &[Loop],
    covered: &mut BTreeSet<Item>,
    tries: &mut usize,
) -> Purpose {
    let mut longer = purpose.clone();
    let room = purpose.steps.len() / 2;
    for (place, detour) in loops {
        let is_new = detour.iter().any(|&id| !covered.contains(&Item::Switch(id)));
        let has_room = longer.steps.len() + detour.len() <= purpose.steps.len() + room;
        if !is_new || !has_room || !purpose.end.is_empty() || *tries == 0 {
            continue;
        }
        let path: Vec<SwitchId> = longer.path().collect();
        let comes_by = |&at: &usize| cx.sts.switches[path[at]].target == *place;
        let Some(at) = (0..path.len().saturating_sub(1)).find(comes_by) else { continue };
        *tries -= 1;
        let path = [&path[..=at], detour, &path[at + 1..]].concat();
        if let Ok(found) = Purpose::along(cx, purpose.name.clone(), &path)
            && found.doubt.is_none()
        {
            covered.extend(detour.iter().map(|&id| Item::Switch(id)));
            longer = found;
        }
    }
    longer
}
