//! Path-guided cases that cover a goal together: all switches, all pairs of switches, all deadlines at their borders.
//!
//! *Does.* For every item that no chosen path covers yet, the shortest path that does is looked for, and led on to an
//! output; cases whose items others cover too are left out in the end, the shortest paths first. Deadlines: every
//! switch that reads a clock is on a case, and where such a switch is an input, on one that sends as soon as allowed
//! and on one that sends as late as allowed. The deadline of an output is judged by every case whose path has the
//! output: an output that comes too late or not at all fails it.
//! *Promises.* An item without a case has a reason, which tells whether that is a proof. The set is small, not
//! smallest: the paths are chosen greedily.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::goal::{Goal, GoalKind, PathStep};
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_symex::{Ctx, ExploreLimits, StopReason, SymState, take_step, take_switch};

use super::{CaseConfig, CaseError, SendTime, TestCase, Waypoint, complete, generate};
use crate::purpose::{NoPurpose, of_goal};

/// The number of steps tried to extend a path to an output. Chosen by feel: a path that reaches no output within it
/// ends where it is.
const MAX_LED_ON: usize = 2_000;

/// The coverage goal of a set of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseGoal {
    /// Every switch.
    Switches,
    /// Every two switches, one right after the other.
    Pairs,
    /// Every switch that reads a clock, inputs at both borders.
    Deadlines,
}

/// An item to cover: a sequence of switches with a border at which inputs are sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseItem {
    /// Switches, one right after the other; at least one.
    pub switches: Vec<SwitchId>,
    /// The border of the allowed time at which the inputs are sent.
    pub sending: SendTime,
}

impl CaseItem {
    /// The name of the item: the labels of its switches, and the border.
    #[must_use]
    pub fn name(&self, sts: &Sts) -> String {
        let labels: Vec<&str> = self.switches.iter().map(|&id| &*sts.switches[id].label).collect();
        let border = if self.sending == SendTime::Latest { ", latest" } else { "" };
        format!("{}{border}", labels.join(" then "))
    }

    fn is_on(&self, path: &[PathStep]) -> bool {
        let steps = PathStep::taking(&self.switches);
        path.windows(steps.len()).any(|part| part == steps)
    }
}

/// A case of a set.
#[derive(Clone, Debug)]
pub struct CoveringCase {
    /// The case.
    pub case: TestCase,
    /// The border of the allowed time at which the case sends inputs.
    pub sending: SendTime,
    /// The items that the case covers.
    pub items: BTreeSet<CaseItem>,
}

/// The reason why no case covers an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNoCase {
    /// No path takes its switches, or none was found.
    NoPath(NoPurpose),
    /// A path takes them, but none that goes on to an output was found.
    NoOutput,
    /// A path takes them and ends with an output, but no case can be made along it.
    Refused(CaseError),
}

impl WhyNoCase {
    /// Returns whether the reason proves that no path takes the switches of the item.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        matches!(self, Self::NoPath(NoPurpose::Unreachable))
    }
}

/// Cases that cover a goal together.
#[derive(Clone, Debug, Default)]
pub struct CaseSet {
    /// The cases, longest path first.
    pub cases: Vec<CoveringCase>,
    /// The items that no case covers, each with the reason and the path that was tried; the path is empty if there is
    /// none.
    pub uncovered: Vec<(CaseItem, WhyNoCase, Vec<PathStep>)>,
    /// The number of items of the goal.
    pub total: usize,
}

/// The progress of the search: the position of the item looked at, and the number of items.
pub type CaseProgress = (usize, usize);

/// Cases that cover `goal`; `watch` may end the search, which leaves the rest of the items without a path.
pub fn covering(
    cx: &mut Ctx<'_>,
    goal: CaseGoal,
    config: &CaseConfig,
    limits: ExploreLimits,
    watch: &mut dyn FnMut(CaseProgress) -> ControlFlow<()>,
) -> CaseSet {
    let items = items(cx, goal);
    let mut set = CaseSet { total: items.len(), ..CaseSet::default() };
    for (at, item) in items.iter().enumerate() {
        // A case for an earlier item goes this way too.
        if set.cases.iter().any(|made| made.items.contains(item)) {
            continue;
        }
        let (path, made) = if watch((at, items.len())).is_break() {
            let stopped = NoPurpose::Cut(StopReason::Stopped);
            (Vec::new(), Err(WhyNoCase::NoPath(stopped)))
        } else {
            case_for(cx, item, config, limits)
        };
        match made {
            Ok(case) => {
                let sending = item.sending;
                // The case counts for all items on its path, not only for the one it was made for, if it sends at
                // the same border.
                let is_on = |item: &&CaseItem| item.sending == sending && item.is_on(&case.path);
                let items = items.iter().filter(is_on).cloned().collect();
                set.cases.push(CoveringCase { case, sending, items });
            }
            Err(why) => set.uncovered.push((item.clone(), why, path)),
        }
    }
    // A case that was made later, for another item, may go where an earlier attempt did not.
    set.uncovered.retain(|(item, ..)| !set.cases.iter().any(|made| made.items.contains(item)));
    without_needless(&mut set.cases);
    set
}

/// Returns the items of `goal`; completion switches are no items.
fn items(cx: &Ctx<'_>, goal: CaseGoal) -> Vec<CaseItem> {
    let sts = cx.sts;
    let switches = || sts.switches.iter_enumerated().filter(|(_, switch)| !sts.is_completion(switch));
    let soonest = |switches: Vec<SwitchId>| CaseItem { switches, sending: SendTime::Soonest };
    match goal {
        CaseGoal::Switches => switches().map(|(id, _)| soonest(vec![id])).collect(),
        CaseGoal::Pairs => switches()
            .flat_map(|(id, switch)| {
                let next = sts.switches_from(switch.target).filter(|(_, next)| !sts.is_completion(next));
                next.map(move |(other, _)| soonest(vec![id, other]))
            })
            .collect(),
        CaseGoal::Deadlines => {
            let timed = switches().filter(|(_, switch)| {
                sts.clocks.iter().any(|clock| cx.pool.mentions(switch.guard, clock.var))
            });
            timed
                .flat_map(|(id, switch)| {
                    let borders: &[SendTime] = match sts.kind_of(switch) {
                        GateKind::Input => &[SendTime::Soonest, SendTime::Latest],
                        _ => &[SendTime::Soonest],
                    };
                    borders.iter().map(move |&sending| CaseItem { switches: vec![id], sending })
                })
                .collect()
        }
    }
}

/// Returns a case whose path has the switches of `item`, or the reason why there is none, with the path tried.
fn case_for(
    cx: &mut Ctx<'_>,
    item: &CaseItem,
    config: &CaseConfig,
    limits: ExploreLimits,
) -> (Vec<PathStep>, Result<TestCase, WhyNoCase>) {
    let goal = Goal {
        name: item.name(cx.sts).into(),
        kind: GoalKind::Path(PathStep::taking(&item.switches)),
        span: cx.sts.switches[item.switches[0]].span,
        doc: String::new(),
        reqs: Vec::new(),
        frame: ioxide_model::goal::GoalFrame::default(),
    };
    let path: Vec<PathStep> = match of_goal(cx, &goal, limits) {
        Ok(purpose) => purpose.path().collect(),
        Err(why) => return (Vec::new(), Err(WhyNoCase::NoPath(why))),
    };
    // A case must end with an output (Def. 5), while a path to an item may end with an input.
    let Some(path) = led_on(cx, &path).or_else(|| by_another_way(cx, item)) else {
        return (path, Err(WhyNoCase::NoOutput));
    };
    let config = CaseConfig { sending: item.sending, ..config.clone() };
    let made = generate(cx, &path, &config).map_err(WhyNoCase::Refused);
    (path, made)
}

/// Returns `path` extended by the shortest way from its end to an output; unchanged if it ends with one.
fn led_on(cx: &mut Ctx<'_>, path: &[PathStep]) -> Option<Vec<PathStep>> {
    let sts = cx.sts;
    let is_output = |id: SwitchId| sts.kind_of(&sts.switches[id]) == GateKind::Output;
    if path.last().and_then(|step| step.switch()).is_some_and(is_output) {
        return Some(path.to_vec());
    }
    let mut state = SymState::initial(cx);
    for &step in path {
        state = take_step(cx, &state, step).into_state()?;
    }
    // Broadest first, so the way to an output is a shortest one.
    let mut open: VecDeque<(SymState, Vec<PathStep>)> = [(state, path.to_vec())].into();
    let mut tried = 0;
    while let Some((state, path)) = open.pop_front() {
        for (id, _) in sts.switches_from(state.loc) {
            tried += 1;
            if tried > MAX_LED_ON {
                return None;
            }
            let Some(next) = take_switch(cx, &state, id).into_state() else { continue };
            let mut longer = path.clone();
            longer.push(PathStep::Take(id));
            if is_output(id) {
                return Some(longer);
            }
            open.push_back((next, longer));
        }
    }
    None
}

/// A path through `item` to an output: the shortest way to the item may be one after which nothing is sent.
fn by_another_way(cx: &mut Ctx<'_>, item: &CaseItem) -> Option<Vec<PathStep>> {
    let wanted = item.switches.iter().map(|&id| Waypoint::Switch(id));
    let wanted: Vec<Waypoint> = [Waypoint::Gap].into_iter().chain(wanted).collect();
    complete(cx, &wanted).ok().filter(|path| item.is_on(path))
}

/// Leaves out cases whose items others cover too, short ones first; longest path first.
fn without_needless(cases: &mut Vec<CoveringCase>) {
    cases.sort_by_key(|made| (std::cmp::Reverse(made.case.path.len()), made.sending));
    // From the shortest path on, since the longest first are the ones that cover most; those left out no longer
    // count as others.
    let mut at = cases.len();
    while at > 0 {
        at -= 1;
        let others = || cases.iter().enumerate().filter(|(other, _)| *other != at);
        let is_needless =
            cases[at].items.iter().all(|item| others().any(|(_, made)| made.items.contains(item)));
        if is_needless {
            cases.remove(at);
        }
    }
}

impl fmt::Display for CaseGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switches => "switches",
            Self::Pairs => "pairs",
            Self::Deadlines => "deadlines",
        })
    }
}
