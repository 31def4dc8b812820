//! The game on the states ahead: the nodes from which the goal is forced, and the chances of the others.
//!
//! The symbolic states within reach are the nodes. Inputs are moves of the tester, everything else (outputs, internal
//! steps, silence that an observer waits for) of the system. The *rank* of a node comes from the attractor of the goal:
//! the greatest number of steps that it takes if the tester plays well, whatever the system does. Its *worth* is the
//! chance to reach the goal if the system's moves are equally likely, by iteration; long ways are worth a little less.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{
    Ctx, ExecGraph, ExploreConfig, ExploreLimits, ExploredId, IgnoreDead, SymState, explore_until,
    quiescence_condition,
};

use super::GameArena;
use crate::tester::random::Interaction;

/// The limits of the exploration before every move. Chosen by feel: the tester waits for it before every move.
const LOOKAHEAD_LIMITS: ExploreLimits = ExploreLimits { max_states: 400, max_depth: 64 };
/// The number of rounds of the iteration. Chosen by feel: it may stop before the chances have settled, which makes a
/// worse move, never a wrong one.
pub(super) const MAX_ROUNDS: usize = 256;
/// The discount of a chance by one step. It only makes the shorter of two equally good ways win.
pub(super) const STEP_DISCOUNT: f64 = 0.999;
/// The greatest length of an expected way. Chosen by feel: a way beyond the exploration is not expected at all.
const MAX_WAY: usize = 64;
/// The worth of a forced goal, which is more than any chance. Chances are at most 1, so any number above that does.
const FORCED_WORTH: f64 = 2.0;

/// A move of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GameChoice {
    /// Observe the system.
    Look,
    /// Give the input of this switch.
    Send(SwitchId),
}

/// A solved game; the tester is at the first node.
pub(super) struct GameSolution {
    moves: IndexVec<ExploredId, NodeMoves>,
    rank: IndexVec<ExploredId, Option<usize>>,
    worth: IndexVec<ExploredId, f64>,
}

/// The moves in a node.
#[derive(Clone, Debug, Default)]
struct NodeMoves {
    inputs: Vec<(SwitchId, ExploredId)>,
    system: Vec<(SwitchId, ExploredId)>,
    /// True if the system may stay silent and no observer waits for that.
    is_quiet: bool,
    is_goal: bool,
}

impl GameSolution {
    /// Explores from `start` and solves the game of `arena`.
    pub(super) fn new(
        cx: &mut Ctx<'_>,
        arena: &GameArena,
        start: SymState,
        interaction: Interaction,
    ) -> Self {
        let ignore_dead = IgnoreDead::Except(arena.goal_variables(cx));
        let config = ExploreConfig { limits: LOOKAHEAD_LIMITS, ignore_dead, ..ExploreConfig::default() };
        let mut over = cx.with_system(arena.full_system());
        let graph = explore_until(&mut over, &config, start, &mut |_, _| false).graph;
        let moves = moves(&mut over, arena, &graph);
        // Ranks first: a goal that can be forced is worth more than any chance, however likely the other moves
        // look.
        let rank = ranks(&moves);
        let worth = worths(&moves, input_probability(interaction));
        Self { moves, rank, worth }
    }

    /// Returns whether the goal can be forced from the first node.
    pub(super) fn is_forced(&self) -> bool {
        self.rank.iter().next().is_some_and(Option::is_some)
    }

    /// Returns the moves of the tester in the first node, each with its worth.
    pub(super) fn choices(&self) -> Vec<(GameChoice, f64)> {
        let Some(here) = self.moves.iter().next() else { return Vec::new() };
        let worth = |to: ExploredId| match self.rank[to] {
            Some(rank) => FORCED_WORTH * STEP_DISCOUNT.powi(i32::try_from(rank).unwrap_or(i32::MAX)),
            None => self.worth[to],
        };
        // Sending while the system may speak forces nothing.
        let chance = |to: ExploredId| if here.system.is_empty() { worth(to) } else { self.worth[to] };
        let mut choices: Vec<(GameChoice, f64)> =
            here.inputs.iter().map(|&(id, to)| (GameChoice::Send(id), chance(to))).collect();
        if !here.system.is_empty() {
            let sum: f64 = here.system.iter().map(|&(_, to)| self.worth[to]).sum();
            let look =
                if self.is_forced() { FORCED_WORTH } else { STEP_DISCOUNT * sum / here.system.len() as f64 };
            choices.push((GameChoice::Look, look));
        }
        choices
    }

    /// Returns the switches that are expected after `choice`, up to the goal or the greatest length.
    pub(super) fn expected_switches(&self, choice: GameChoice) -> Vec<SwitchId> {
        let Some(here) = self.moves.iter().next() else { return Vec::new() };
        let next = match choice {
            GameChoice::Send(id) => here.inputs.iter().find(|(other, _)| *other == id).copied(),
            GameChoice::Look => self.likeliest(&here.system),
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

    /// Returns the move to the node of the smallest rank, if one has a rank, else of the greatest worth; `None` without
    /// moves.
    fn likeliest(&self, moves: &[(SwitchId, ExploredId)]) -> Option<(SwitchId, ExploredId)> {
        let by_rank = moves.iter().filter(|(_, to)| self.rank[*to].is_some());
        let by_rank = by_rank.min_by_key(|(_, to)| self.rank[*to]);
        let by_worth = moves.iter().max_by(|a, b| self.worth[a.1].total_cmp(&self.worth[b.1]));
        by_rank.or(by_worth).copied()
    }
}

/// Returns the probability that an input arrives before the system sends an output, where both are possible.
fn input_probability(interaction: Interaction) -> f64 {
    match interaction {
        Interaction::Fair => 0.5,
        Interaction::InputEager => 0.9,
    }
}

/// Returns the moves of the tester and of the system at every node.
fn moves(cx: &mut Ctx<'_>, arena: &GameArena, graph: &ExecGraph) -> IndexVec<ExploredId, NodeMoves> {
    let mut moves: IndexVec<ExploredId, NodeMoves> =
        graph.nodes.iter().map(|_| NodeMoves::default()).collect();
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
            cx.decide(&facts) == SolverDecision::Sat
        };
        moves[node].is_quiet = may_be_quiet(cx, state);
    }
    moves
}

/// Returns whether the system may stay silent in `state`; silence that an observer waits for is a move and does not
/// count. True if the solver does not decide.
fn may_be_quiet(cx: &mut Ctx<'_>, state: &SymState) -> bool {
    let quiet = quiescence_condition(cx, state.loc);
    let store = state.store.substitution(cx.sts);
    let mut facts = state.path.facts().to_vec();
    facts.push(cx.pool.substitute(quiet, &store));
    cx.decide(&facts) != SolverDecision::Unsat
}

/// Returns the greatest number of steps to the goal from every node from which it can be forced; `None` for the others.
fn ranks(moves: &IndexVec<ExploredId, NodeMoves>) -> IndexVec<ExploredId, Option<usize>> {
    let mut rank: IndexVec<ExploredId, Option<usize>> =
        moves.iter().map(|here| here.is_goal.then_some(0)).collect();
    loop {
        let forced = |here: &NodeMoves| {
            let input = here.inputs.iter().filter_map(|(_, to)| rank[*to]).min();
            let system: Option<Vec<usize>> = here.system.iter().map(|(_, to)| rank[*to]).collect();
            // One move of the system that leaves the attractor is enough to spoil it.
            let worst = system?.into_iter().max();
            match (worst, input) {
                // Without moves of the system the tester chooses the best input. Where the system may move or stay
                // silent it can wait for ever, so that an input must lead there as well; where it has to move,
                // looking is enough.
                (None, input) => input,
                (Some(_), None) if here.is_quiet => None,
                (Some(worst), input) => Some(worst.max(input.filter(|_| here.is_quiet).unwrap_or(0))),
            }
        };
        let new: Vec<(ExploredId, usize)> = moves
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

/// Returns the discounted chance of every node to reach the goal.
fn worths(moves: &IndexVec<ExploredId, NodeMoves>, share: f64) -> IndexVec<ExploredId, f64> {
    let mut worth: IndexVec<ExploredId, f64> = moves.iter().map(|here| f64::from(here.is_goal)).collect();
    for _ in 0..MAX_ROUNDS {
        let next = |here: &NodeMoves| {
            if here.is_goal {
                return 1.0;
            }
            let input = here.inputs.iter().map(|(_, to)| worth[*to]).fold(0.0, f64::max);
            if here.system.is_empty() {
                return STEP_DISCOUNT * input;
            }
            let mean = here.system.iter().map(|(_, to)| worth[*to]).sum::<f64>() / here.system.len() as f64;
            // The tester may look, and then the system moves; or send, and then the input wins with probability
            // `share`.
            STEP_DISCOUNT * mean.max(share * input + (1.0 - share) * mean)
        };
        worth = moves.iter().map(next).collect();
    }
    worth
}
