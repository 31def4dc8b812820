//! The game on beliefs: from which of them the goal can be forced, by which moves.
//!
//! Nodes are beliefs in one region of time ([`BeliefArena`]). The tester sends an input or lets time pass; the system
//! sends any message that the model allows, whenever it does. The nodes are explored from the start, and as soon as a
//! goal is found what follows from it is computed backwards (the on-the-fly algorithm for timed games of
//! \[CDFLL05\], on regions, with the beliefs of \[CDLLR07\]). The search ends when the start is won.
//!
//! *A node is won* if all its states meet the goal, or if all messages that the system may send now lead to won nodes
//! and the tester can do one of these: send an input that all states accept, which leads to a won node; let time pass
//! to a won node; wait where the model lets no more time pass, so that the system has to send something. Each node is
//! won by moves to nodes that were won before it, so a strategy never goes in a circle, and the goal is met after
//! finitely many moves. If a message and an input meet, either may come first: both orders must be won. Without clocks
//! messages can cross, so an input is only part of a strategy where the system cannot send; there, waiting leads to
//! silence.
//!
//! *Limits.* A node that was not explored is not won. So a strategy is one, and without one [`Outlook::Undecided`] says
//! that there may be one beyond the limits.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::term::TermPool;
use ioxide_smt::halt::Halt;

use super::belief::{BeliefArena, BeliefStop, GameBelief};
use super::solve::{MAX_ROUNDS, STEP_DISCOUNT};

/// The number of nodes of one search. Chosen by feel, like the next: a few seconds for models that are harder.
const MAX_NODES: usize = 30_000;
/// The number of messages that one search may try.
const MAX_WORK: usize = 2_000_000;
/// The number of nodes after which the signal to stop is read.
const NODES_PER_LOOK: usize = 64;

/// The number of a node.
pub(super) type GameNodeId = usize;

/// A move of the tester.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BeliefMove {
    /// Send an input now.
    Send(Label),
    /// Let time pass until something changes; without clocks, observe.
    Wait,
}

/// The answer to the question whether the goal can be forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It can be forced.
    Forced,
    /// The game was searched through, and there is no strategy.
    NotForced,
    /// The limits ended the search, or something could not be computed.
    Undecided,
}

/// An input as a move.
#[derive(Clone, Debug)]
struct InputMove {
    label: Label,
    to: GameNodeId,
    share: f64,
}

/// The moves in a node.
#[derive(Clone, Debug, Default)]
struct BeliefMoves {
    inputs: Vec<InputMove>,
    system: Vec<GameNodeId>,
    /// True if one of the messages of the system is an output.
    may_send: bool,
    /// The node after waiting; none if the system has to send something before.
    wait: Option<GameNodeId>,
}

/// A belief in one region of time.
#[derive(Clone, Debug)]
struct GameNode {
    belief: GameBelief,
    /// The moves; none if they were not computed.
    moves: Option<BeliefMoves>,
    /// The move that wins; `None` also at a goal.
    winning: Option<BeliefMove>,
    is_won: bool,
    /// The nodes with a move that leads here.
    before: Vec<GameNodeId>,
}

/// A game as far as it was explored.
#[derive(Clone, Debug, Default)]
pub(super) struct BeliefGame {
    nodes: Vec<GameNode>,
    numbers: FxHashMap<GameBelief, GameNodeId>,
    /// The chances of all nodes, once they are asked for.
    worths: Vec<f64>,
}

impl BeliefGame {
    /// Returns the node of `belief`, and whether the goal can be forced from it; searches as far as necessary.
    pub(super) fn solve(
        &mut self,
        pool: &TermPool,
        halt: &Halt,
        arena: &mut BeliefArena,
        belief: &GameBelief,
    ) -> (GameNodeId, Outlook) {
        let start = self.number_of(arena.settle(belief));
        self.worths.clear();
        (arena.spent, arena.limit) = (0, MAX_WORK);
        let most = self.nodes.len() + MAX_NODES;
        // What was explored from another start is explored, but what leads on from there may not be.
        let (mut open, mut reached) = (VecDeque::from([start]), vec![false; self.nodes.len()]);
        reached[start] = true;
        let (mut is_all, mut n_explored) = (arena.lists_inputs, 0usize);
        while let Some(at) = open.pop_front() {
            if self.nodes[start].is_won {
                return (start, Outlook::Forced);
            }
            // From a won node nothing else has to be known.
            if self.nodes[at].is_won {
                continue;
            }
            if self.nodes[at].moves.is_none() {
                n_explored += 1;
                let is_due = n_explored.is_multiple_of(NODES_PER_LOOK);
                if self.nodes.len() > most || is_due && halt.halt_reason().is_some() {
                    return (start, Outlook::Undecided);
                }
                match self.explore(pool, arena, at) {
                    Ok(()) => (),
                    Err(BeliefStop::Limit) => return (start, Outlook::Undecided),
                    Err(BeliefStop::Impossible) => is_all = false,
                }
            }
            reached.resize(self.nodes.len(), false);
            for next in self.successors(at) {
                if !std::mem::replace(&mut reached[next], true) {
                    open.push_back(next);
                }
            }
        }
        let outlook = match (self.nodes[start].is_won, is_all) {
            (true, _) => Outlook::Forced,
            (false, true) => Outlook::NotForced,
            (false, false) => Outlook::Undecided,
        };
        (start, outlook)
    }

    /// Returns the move of the tester in a node: the winning one, or else the one with the best chance; `None` if no
    /// move has a chance.
    pub(super) fn best_move(&mut self, at: GameNodeId) -> Option<BeliefMove> {
        if self.nodes[at].is_won {
            return self.nodes[at].winning.clone();
        }
        if self.worths.len() != self.nodes.len() {
            self.worths = self.compute_worths();
        }
        let moves = self.nodes[at].moves.as_ref()?;
        let inputs = moves.inputs.iter().map(|input| (self.input_worth(moves, input), Some(&input.label)));
        let wait = [(self.wait_worth(moves), None)];
        // Of equal worths the first: to wait, then inputs in their order.
        let best = wait.into_iter().chain(inputs).reduce(|best, it| if it.0 > best.0 { it } else { best })?;
        (best.0 > 0.0).then(|| best.1.map_or(BeliefMove::Wait, |label| BeliefMove::Send(label.clone())))
    }

    /// The number of the node of `belief`, in its region, if there is one.
    pub(super) fn find(&self, arena: &BeliefArena, belief: &GameBelief) -> Option<GameNodeId> {
        self.numbers.get(&arena.settle(belief)).copied()
    }

    /// Returns whether the moves in a node are known, or the goal is met there.
    pub(super) fn is_explored(&self, at: GameNodeId) -> bool {
        self.nodes[at].is_won || self.nodes[at].moves.is_some()
    }

    /// Returns whether a strategy for the goal is known from a node.
    pub(super) fn is_won(&self, at: GameNodeId) -> bool {
        self.nodes[at].is_won
    }

    fn number_of(&mut self, belief: GameBelief) -> GameNodeId {
        if let Some(&known) = self.numbers.get(&belief) {
            return known;
        }
        let is_won = belief.is_met();
        self.numbers.insert(belief.clone(), self.nodes.len());
        self.nodes.push(GameNode { belief, moves: None, winning: None, is_won, before: Vec::new() });
        self.nodes.len() - 1
    }

    fn successors(&self, at: GameNodeId) -> Vec<GameNodeId> {
        let Some(moves) = &self.nodes[at].moves else { return Vec::new() };
        let inputs = moves.inputs.iter().map(|input| input.to);
        inputs.chain(moves.system.iter().copied()).chain(moves.wait).collect()
    }

    /// Computes the moves in a node, and what is won because of them.
    fn explore(
        &mut self,
        pool: &TermPool,
        arena: &mut BeliefArena,
        at: GameNodeId,
    ) -> Result<(), BeliefStop> {
        let belief = self.nodes[at].belief.clone();
        let mut moves = BeliefMoves::default();
        for (label, belief) in arena.system_moves(pool, &belief)? {
            moves.may_send |= matches!(label, Label::Output(..));
            moves.system.push(self.number_of(arena.settle(&belief)));
        }
        for input in arena.inputs(pool, &belief)? {
            let to = self.number_of(arena.settle(&input.belief));
            moves.inputs.push(InputMove { label: input.label, to, share: input.share });
        }
        let later = match arena.until_change(&belief) {
            Some(by) => arena.wait(pool, &belief, &by)?,
            // Nothing changes any more. An output without a deadline may never come, so that waiting leads back here.
            None if arena.is_timed() => belief,
            None => arena.after_silence(pool, &belief)?,
        };
        moves.wait = (!later.is_empty()).then(|| self.number_of(arena.settle(&later)));
        self.nodes[at].moves = Some(moves);
        for next in self.successors(at) {
            self.nodes[next].before.push(at);
        }
        self.propagate(arena.is_timed(), at);
        Ok(())
    }

    /// Computes what is won because of the moves in a node.
    fn propagate(&mut self, is_timed: bool, at: GameNodeId) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if self.nodes[at].is_won {
                continue;
            }
            if let Some(winning) = self.winning_move(is_timed, at) {
                let node = &mut self.nodes[at];
                (node.is_won, node.winning) = (true, Some(winning));
                open.extend(node.before.iter().copied());
            }
        }
    }

    /// Returns a move of the tester that wins; `None` if there is none yet.
    fn winning_move(&self, is_timed: bool, at: GameNodeId) -> Option<BeliefMove> {
        let moves = self.nodes[at].moves.as_ref()?;
        // One message that leaves the won nodes is enough to spoil the node.
        if !moves.system.iter().all(|&to| self.nodes[to].is_won) {
            return None;
        }
        let can_send = is_timed || !moves.may_send;
        let mut inputs = moves.inputs.iter().filter(|input| can_send && input.share >= 1.0);
        if let Some(input) = inputs.find(|input| self.nodes[input.to].is_won) {
            return Some(BeliefMove::Send(input.label.clone()));
        }
        let waits = match moves.wait {
            Some(later) => self.nodes[later].is_won,
            None => !moves.system.is_empty(),
        };
        waits.then_some(BeliefMove::Wait)
    }

    /// Returns the discounted chance of every node to reach the goal, by iteration.
    fn compute_worths(&mut self) -> Vec<f64> {
        self.worths = self.nodes.iter().map(|node| f64::from(node.is_won)).collect();
        for _ in 0..MAX_ROUNDS {
            let worth = |node: &GameNode| match (&node.moves, node.is_won) {
                (_, true) => 1.0,
                (None, false) => 0.0,
                (Some(moves), false) => {
                    let inputs = moves.inputs.iter().map(|input| self.input_worth(moves, input));
                    STEP_DISCOUNT * inputs.fold(self.wait_worth(moves), f64::max)
                }
            };
            let next: Vec<f64> = self.nodes.iter().map(worth).collect();
            if next == self.worths {
                break;
            }
            self.worths = next;
        }
        std::mem::take(&mut self.worths)
    }

    /// The chance after an input; one that crosses a message of the system counts half.
    fn input_worth(&self, moves: &BeliefMoves, input: &InputMove) -> f64 {
        let chance = input.share * self.worths[input.to];
        if moves.system.is_empty() { chance } else { (chance + self.wait_worth(moves)) / 2.0 }
    }

    /// The chance after waiting, if all messages and silence are equally likely.
    fn wait_worth(&self, moves: &BeliefMoves) -> f64 {
        let ways = moves.system.iter().copied().chain(moves.wait);
        let n_ways = moves.system.len() + usize::from(moves.wait.is_some());
        ways.map(|to| self.worths[to]).sum::<f64>() / n_ways.max(1) as f64
    }
}

/// Returns `time` in seconds, rounded up to nanoseconds, as those who wait must not be early.
pub(super) fn nanoseconds_up(time: &Rational) -> std::time::Duration {
    let nanos = (time * Rational::from(1_000_000_000)).ceil().to_i64().unwrap_or(i64::MAX);
    std::time::Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
