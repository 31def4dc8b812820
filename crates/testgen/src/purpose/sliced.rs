//! Purposes for switches that a full search does not reach: only the switches that can matter for them are tried.
//!
//! Where many parts move independently, their joint states are too many; those of the parts that one switch depends on
//! are few (see [`relevant_switches`]).

use ioxide_model::goal::PathStep;
use ioxide_model::sts::SwitchId;
use ioxide_symex::{Ctx, ExploreConfig, ExploreLimits, SymState, explore_until, relevant_switches};

use super::TestPurpose;

/// The number of states of one search within a slice. Chosen by feel: a switch that is not found within it counts as
/// not covered, so larger costs time on unreachable ones.
const SLICE_STATES: usize = 2_000;

/// Returns a shortest path that takes `wanted` within its slice, as a purpose called `name`; `left` is the number of
/// states that may still be explored.
pub(super) fn within_slice(
    cx: &mut Ctx<'_>,
    name: &str,
    target: SwitchId,
    max_depth: u32,
    left: &mut usize,
) -> Option<TestPurpose> {
    let slice = relevant_switches(cx.pool, cx.sts, target);
    if slice.len() == cx.sts.switches.len() || *left == 0 {
        return None;
    }
    let limits = ExploreLimits { max_states: SLICE_STATES.min(*left), max_depth };
    let config = ExploreConfig { limits, only: Some(slice), ..ExploreConfig::default() };
    let start = SymState::initial(cx);
    let found = explore_until(cx, &config, start, &mut |switch, certain| switch == target && certain);
    *left = left.saturating_sub(found.stats.states);
    let last = found.graph.edges.last().filter(|edge| edge.switch == target)?;
    let mut path = PathStep::taking(&found.graph.path_to(last.from));
    path.push(PathStep::Take(target));
    TestPurpose::from_path(cx, name.to_owned(), &path).ok().filter(|purpose| purpose.doubt.is_none())
}
