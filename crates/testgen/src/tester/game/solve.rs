//! The game on the states ahead: where the goal is forced, and what the chances are elsewhere.
//!
//! The symbolic states within reach are the nodes. Inputs are moves of the tester, everything else (outputs,
//! internal steps, silence that an observer waits for) of the system. The *rank* of a node is the attractor of the
//! goal: how many steps it takes at most if the tester plays well, whatever the system does. Its *worth* is the
//! chance to reach the goal if the system's moves are equally likely, by iteration; long ways are worth
//! a little less.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_smt::solver::Decision;
use ioxide_symex::{
    Ctx, ExecGraph, ExploreConfig, IgnoreDead, Limits, NodeId, SymState, explore_until, quiescence,
};

use super::Arena;
use crate::tester::random::Interaction;

/// Symbolic states looked at ahead of every move.
const AHEAD: Limits = Limits { max_states: 400, max_depth: 64 };
/// Rounds of the iteration.
const ROUNDS: usize = 256;
/// What a chance is worth one step later.
const LATER: f64 = 0.999;
/// Steps of a way that is hoped for.
const MAX_WAY: usize = 64;
/// A forced goal is worth more than any chance.
const FORCED: f64 = 2.0;

/// What the tester may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// See what the system does.
    Look,
    /// Give the input of this switch.
    Send(SwitchId),
}

/// A solved game; the tester is at the first node.
pub(super) struct Solution {
    moves: IndexVec<NodeId, Moves>,
    rank: IndexVec<NodeId, Option<usize>>,
    worth: IndexVec<NodeId, f64>,
}

/// What can happen in a node.
#[derive(Clone, Debug, Default)]
struct Moves {
    inputs: Vec<(SwitchId, NodeId)>,
    system: Vec<(SwitchId, NodeId)>,
    /// The system may stay silent, and nobody waits for that.
    is_quiet: bool,
    is_goal: bool,
}

impl Solution {
    /// Solves the game of `arena` from `start`.
    pub(super) fn new(cx: &mut Ctx<'_>, arena: &Arena, start: SymState, interaction: Interaction) -> Self {
        let ignore_dead = IgnoreDead::Except(arena.watched(cx));
        let config = ExploreConfig { limits: AHEAD, ignore_dead, ..ExploreConfig::default() };
        let mut over = cx.over(arena.all());
        let graph = explore_until(&mut over, &config, start, &mut |_, _| false).graph;
        let moves = moves(&mut over, arena, &graph);
        let rank = ranks(&moves);
        let worth = worths(&moves, share(interaction));
        Self { moves, rank, worth }
    }

    /// Whether the goal can be forced.
    pub(super) fn is_forced(&self) -> bool {
        self.rank.iter().next().is_some_and(Option::is_some)
    }

    /// What the tester may do now, and the worth of it.
    pub(super) fn choices(&self) -> Vec<(Choice, f64)> {
        let Some(here) = self.moves.iter().next() else { return Vec::new() };
        let worth = |to: NodeId| match self.rank[to] {
            Some(rank) => FORCED * LATER.powi(i32::try_from(rank).unwrap_or(i32::MAX)),
            None => self.worth[to],
        };
        // Sending while the system may speak forces nothing.
        let chance = |to: NodeId| if here.system.is_empty() { worth(to) } else { self.worth[to] };
        let mut choices: Vec<(Choice, f64)> =
            here.inputs.iter().map(|&(id, to)| (Choice::Send(id), chance(to))).collect();
        if !here.system.is_empty() {
            let sum: f64 = here.system.iter().map(|&(_, to)| self.worth[to]).sum();
            let look = if self.is_forced() { FORCED } else { LATER * sum / here.system.len() as f64 };
            choices.push((Choice::Look, look));
        }
        choices
    }

    /// The way that is hoped for after `choice`, up to the goal or as far as it is worth something.
    pub(super) fn way(&self, choice: Choice) -> Vec<SwitchId> {
        let Some(here) = self.moves.iter().next() else { return Vec::new() };
        let next = match choice {
            Choice::Send(id) => here.inputs.iter().find(|(other, _)| *other == id).copied(),
            Choice::Look => self.likeliest(&here.system),
        };
        let Some((id, mut at)) = next else { return Vec::new() };
        let mut way = vec![id];
        while way.len() < MAX_WAY && !self.moves[at].is_goal {
            let moves = &self.moves[at];
            let ahead = if moves.system.is_empty() { &moves.inputs } else { &moves.system };
            let Some((id, to)) = self.likeliest(ahead) else { break };
            way.push(id);
            at = to;
        }
        way
    }

    /// The move to the node of the smallest rank, else of the greatest worth.
    fn likeliest(&self, moves: &[(SwitchId, NodeId)]) -> Option<(SwitchId, NodeId)> {
        let by_rank = moves.iter().filter(|(_, to)| self.rank[*to].is_some());
        let by_rank = by_rank.min_by_key(|(_, to)| self.rank[*to]);
        let by_worth = moves.iter().max_by(|a, b| self.worth[a.1].total_cmp(&self.worth[b.1]));
        by_rank.or(by_worth).copied()
    }
}

/// How likely an input arrives before the system speaks, where both are possible.
fn share(interaction: Interaction) -> f64 {
    match interaction {
        Interaction::Fair => 0.5,
        Interaction::InputEager => 0.9,
    }
}

fn moves(cx: &mut Ctx<'_>, arena: &Arena, graph: &ExecGraph) -> IndexVec<NodeId, Moves> {
    let mut moves: IndexVec<NodeId, Moves> = graph.nodes.iter().map(|_| Moves::default()).collect();
    for edge in &graph.edges {
        let is_input = cx.sts.kind_of(&cx.sts.switches[edge.switch]) == GateKind::Input;
        let here = &mut moves[edge.from];
        let list = if is_input { &mut here.inputs } else { &mut here.system };
        list.push((edge.switch, edge.to));
    }
    for (node, state) in graph.nodes.iter_enumerated() {
        moves[node].is_goal = arena.is_place(state.loc) && {
            let mut facts = state.path.facts().to_vec();
            facts.push(arena.condition(cx, state));
            cx.decide(&facts) == Decision::Sat
        };
        moves[node].is_quiet = may_be_quiet(cx, state);
    }
    moves
}

/// Whether the system may stay silent in `state`; silence that an observer waits for is a move.
fn may_be_quiet(cx: &mut Ctx<'_>, state: &SymState) -> bool {
    let quiet = quiescence(cx, state.loc);
    let store = state.store.substitution(cx.sts);
    let mut facts = state.path.facts().to_vec();
    facts.push(cx.pool.substitute(quiet, &store));
    cx.decide(&facts) != Decision::Unsat
}

/// How many steps every node needs at most, where the goal can be forced.
fn ranks(moves: &IndexVec<NodeId, Moves>) -> IndexVec<NodeId, Option<usize>> {
    let mut rank: IndexVec<NodeId, Option<usize>> =
        moves.iter().map(|here| here.is_goal.then_some(0)).collect();
    loop {
        let forced = |here: &Moves| {
            let input = here.inputs.iter().filter_map(|(_, to)| rank[*to]).min();
            let system: Option<Vec<usize>> = here.system.iter().map(|(_, to)| rank[*to]).collect();
            let worst = system?.into_iter().max();
            match (worst, input) {
                (None, input) => input,
                (Some(_), None) if here.is_quiet => None,
                (Some(worst), input) => Some(worst.max(input.filter(|_| here.is_quiet).unwrap_or(0))),
            }
        };
        let new: Vec<(NodeId, usize)> = moves
            .iter_enumerated()
            .filter(|(node, _)| rank[*node].is_none())
            .filter_map(|(node, here)| Some((node, forced(here)? + 1)))
            .collect();
        if new.is_empty() {
            return rank;
        }
        new.into_iter().for_each(|(node, steps)| rank[node] = Some(steps));
    }
}

/// The chance of every node.
fn worths(moves: &IndexVec<NodeId, Moves>, share: f64) -> IndexVec<NodeId, f64> {
    let mut worth: IndexVec<NodeId, f64> = moves.iter().map(|here| f64::from(here.is_goal)).collect();
    for _ in 0..ROUNDS {
        let next = |here: &Moves| {
            if here.is_goal {
                return 1.0;
            }
            let input = here.inputs.iter().map(|(_, to)| worth[*to]).fold(0.0, f64::max);
            if here.system.is_empty() {
                return LATER * input;
            }
            let mean = here.system.iter().map(|(_, to)| worth[*to]).sum::<f64>() / here.system.len() as f64;
            LATER * mean.max(share * input + (1.0 - share) * mean)
        };
        worth = moves.iter().map(next).collect();
    }
    worth
}
