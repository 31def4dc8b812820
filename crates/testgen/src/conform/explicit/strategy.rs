//! Adaptive tests: strategies that make one system show a behaviour that another does not allow, whatever it chooses.
//!
//! The determinised product of the two systems is an arena: the tester sends or looks, the system chooses the
//! observation. Where the tester can force a difference (the attractor of the reachability game), the test is a tree in
//! which every run of the first system ends with it. Elsewhere it is the tree with the best chance under fair choices
//! and a tester who is never too late, bounded in length; the number of repetitions follows from the chance.
//!
//! Every message is listed here, none is represented by another: a tree has to know what each value means that a system
//! may send.
//!
//! *Promises.* A tree fails no system that conforms to the second one: only an observation that the second one does not
//! allow is a failure. `is_forced` also holds if the system sends an output before an input arrives.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, Sts};
use ioxide_model::term::TermPool;
use rustc_hash::FxHashMap;

use super::super::InputCompletion;
use super::world::{EnumeratedSide, OpenValues, StateSet};
use super::{EnumerationBudget, EnumerationGivenUp, MetLabels};

/// The number of positions above which no arena is made. Chosen by feel: the fixed points go over all of them in
/// every round.
const MAX_POSITIONS: usize = 20_000;
/// The greatest number of steps of a test that cannot force its end. Chosen by feel: a longer test is seldom better
/// than the same test again.
const MAX_TEST_STEPS: usize = 60;
/// The number of nodes above which no tree is made. Chosen by feel: a tree is kept in memory, and often written to a
/// file.
const MAX_NODES: usize = 10_000;
/// The discount of a difference by one step: of two equal chances the shorter way wins. Small enough that sixty steps
/// cost six per cent of a chance.
const STEP_DISCOUNT: f64 = 0.999;

/// A test that distinguishes one system from another, each move depending on the observations.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveTest {
    /// The nodes; the first one is the start. Nodes that several ways lead to are shared.
    pub nodes: Vec<TestNode>,
    /// True if every run of the system it was made against ends with a failure.
    pub is_forced: bool,
    /// The probability that a run ends with a failure, if the choices of the system are equally likely.
    pub chance: f64,
}

/// A node of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestNode {
    /// The input to send, with the node after it, at which the test ends if that is `None`; `None` to look.
    pub send: Option<(Label, Option<usize>)>,
    /// The observations that are allowed, each with the node after it, at which the test ends if that is `None`.
    pub allowed: Vec<(Label, Option<usize>)>,
}

/// The game between a tester and a system, `imp`, that does something which `spec` does not allow.
struct StrategyGame {
    positions: Vec<GamePosition>,
}

/// The moves at a pair of state sets, one of each system.
#[derive(Default)]
struct GamePosition {
    /// The observations of the system, `None` for silence, each with the position after it, `None` for a difference.
    shown: Vec<(Option<usize>, Option<usize>)>,
    /// The observations that are allowed but that the system never shows; `None` for silence.
    unshown: Vec<Option<usize>>,
    sends: Vec<(usize, usize)>,
}

/// The move of the tester at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StrategyChoice {
    Look,
    /// An entry of `sends`.
    Send(usize),
}

/// Returns a test that makes `imp` show an observation that `spec` does not allow under `relation`; `None` if there is
/// none, or if the two cannot be enumerated. The systems have the same gates over one pool.
#[must_use]
pub fn adaptive_test(
    pool: &TermPool,
    imp: &Sts,
    spec: &Sts,
    (relation, completion): (ConformanceRelation, InputCompletion),
    budget: EnumerationBudget,
) -> Option<AdaptiveTest> {
    if imp.is_timed() || spec.is_timed() || completion == InputCompletion::Restricted {
        return None;
    }
    let mut builder = StrategyGameBuilder::new(imp, spec, (relation, completion), budget);
    let arena = builder.build_arena(pool).ok()?;
    // A forced difference first: it needs no repetition and no assumption about how the system chooses.
    let forced = arena.forced_moves();
    if forced[0].is_some() {
        let strategy = |at: usize, _: usize| forced[at].map(|(_, choice)| choice);
        let nodes = GrownTree::new(&arena, &builder.labels).tree(&strategy, 0)?;
        return Some(AdaptiveTest { nodes, is_forced: true, chance: 1.0 });
    }
    let (shortest, horizon) = arena.horizon()?;
    let (values, choices) = arena.chances(horizon);
    let strategy = |at: usize, left: usize| (values[left][at] > 0.0).then(|| choices[left][at]);
    // A tree that grows too large is made shorter, as long as it can still end with a difference.
    let lengths =
        std::iter::successors(Some(horizon), |steps| Some(steps * 2 / 3).filter(|it| it > &shortest));
    let (steps, nodes) = lengths
        .chain([shortest])
        .find_map(|steps| Some((steps, GrownTree::new(&arena, &builder.labels).tree(&strategy, steps)?)))?;
    // The discount only orders equal chances.
    let chance = arena.chance(&choices, 0, steps, &mut FxHashMap::default());
    (chance > 0.0).then_some(AdaptiveTest { nodes, is_forced: false, chance })
}

impl AdaptiveTest {
    /// Returns whether every run of `imp` ends with a failure, and the probability that a run does; `None` if `imp`
    /// cannot be enumerated.
    #[must_use]
    pub fn effect_on(
        &self,
        pool: &TermPool,
        imp: &Sts,
        completion: InputCompletion,
        budget: EnumerationBudget,
    ) -> Option<(bool, f64)> {
        let gates = imp.gates.ids().map(|gate| (gate, gate));
        let mut played = StrategyPlay {
            test: self,
            world: EnumeratedSide::new(imp, gates, budget.states),
            labels: MetLabels::default(),
            completion,
        };
        let start = played.world.initial_states(pool, &mut played.labels).ok()?;
        played.play_from(pool, 0, &start, &mut FxHashMap::default()).ok()
    }
}

/// A test executed against all choices of a system.
struct StrategyPlay<'t, 'w> {
    test: &'t AdaptiveTest,
    world: EnumeratedSide<'w>,
    labels: MetLabels,
    completion: InputCompletion,
}

type Effects = FxHashMap<(usize, StateSet), (bool, f64)>;

impl StrategyPlay<'_, '_> {
    fn play_from(
        &mut self,
        pool: &TermPool,
        at: usize,
        states: &StateSet,
        known: &mut Effects,
    ) -> Result<(bool, f64), EnumerationGivenUp> {
        // Nodes are shared but never lead back to themselves: a forced move leads to a smaller rank, any other to
        // fewer steps left. So this ends.
        if let Some(&effect) = known.get(&(at, states.clone())) {
            return Ok(effect);
        }
        let node = &self.test.nodes[at];
        let mut shown: Vec<(bool, f64)> = Vec::new();
        for (label, to) in self.world.reactions(pool, &mut self.labels, states, &OpenValues::new())? {
            // Silence is not waited for where something is sent.
            if label.is_none() && node.send.is_some() {
                continue;
            }
            let label = label.map_or(Label::Quiescence, |number| self.labels.label(number).clone());
            shown.push(match node.allowed.iter().find(|(allowed, _)| *allowed == label) {
                None => (true, 1.0),
                Some((_, None)) => (false, 0.0),
                Some((_, Some(next))) => self.play_from(pool, *next, &to, known)?,
            });
        }
        let effect = match &node.send {
            None => {
                let chance = shown.iter().map(|it| it.1).sum::<f64>() / shown.len().max(1) as f64;
                (!shown.is_empty() && shown.iter().all(|it| it.0), chance)
            }
            Some((label, next)) => {
                let number = self.labels.number_of(label.clone());
                let to = self.world.give_input(pool, &mut self.labels, (states, number), self.completion)?;
                let after = match next {
                    Some(next) if !to.is_empty() => self.play_from(pool, *next, &to, known)?,
                    _ => (false, 0.0),
                };
                // An output may come before the input arrives, so forcing demands that each of those ends with a
                // failure as well. The chance assumes a tester who is in time.
                (after.0 && shown.iter().all(|it| it.0), after.1)
            }
        };
        known.insert((at, states.clone()), effect);
        Ok(effect)
    }
}

/// Builds arenas.
struct StrategyGameBuilder<'w> {
    relation: ConformanceRelation,
    completion: InputCompletion,
    labels: MetLabels,
    imp: EnumeratedSide<'w>,
    spec: EnumeratedSide<'w>,
    steps: usize,
    numbers: FxHashMap<(StateSet, StateSet), usize>,
    open: Vec<(StateSet, StateSet)>,
}

impl<'w> StrategyGameBuilder<'w> {
    /// Makes a builder without positions. Both systems must have the same gates over one pool.
    fn new(
        imp: &'w Sts,
        spec: &'w Sts,
        (relation, completion): (ConformanceRelation, InputCompletion),
        budget: EnumerationBudget,
    ) -> Self {
        let same = |sts: &Sts| sts.gates.ids().map(|gate| (gate, gate)).collect::<Vec<(GateId, GateId)>>();
        Self {
            relation,
            completion,
            labels: MetLabels::default(),
            imp: EnumeratedSide::new(imp, same(imp), budget.states),
            spec: EnumeratedSide::new(spec, same(spec), budget.states),
            steps: budget.steps,
            numbers: FxHashMap::default(),
            open: Vec::new(),
        }
    }

    /// Builds the game from the initial states of both systems.
    fn build_arena(&mut self, pool: &TermPool) -> Result<StrategyGame, EnumerationGivenUp> {
        let start = (
            self.imp.initial_states(pool, &mut self.labels)?,
            self.spec.initial_states(pool, &mut self.labels)?,
        );
        self.number_of(start);
        let mut positions = Vec::new();
        while positions.len() < self.open.len() {
            // `open` is list and queue in one: the position with number n is made n-th.
            let (left, right) = self.open[positions.len()].clone();
            positions.push(self.build_position(pool, &left, &right)?);
            if self.open.len() > MAX_POSITIONS || self.imp.evaluated + self.spec.evaluated > self.steps {
                return Err(EnumerationGivenUp);
            }
        }
        Ok(StrategyGame { positions })
    }

    fn number_of(&mut self, pair: (StateSet, StateSet)) -> usize {
        if let Some(&known) = self.numbers.get(&pair) {
            return known;
        }
        debug_assert_eq!(self.numbers.len(), self.open.len(), "every pair has one number");
        self.open.push(pair.clone());
        self.numbers.insert(pair, self.open.len() - 1);
        self.open.len() - 1
    }

    /// Builds the moves at the pair of these state sets, and numbers the pairs after them.
    fn build_position(
        &mut self,
        pool: &TermPool,
        left: &StateSet,
        right: &StateSet,
    ) -> Result<GamePosition, EnumerationGivenUp> {
        let doing = self.imp.reactions(pool, &mut self.labels, left, &OpenValues::new())?;
        let mut allowed: BTreeMap<Option<usize>, StateSet> =
            self.spec.reactions(pool, &mut self.labels, right, &OpenValues::new())?;
        let mut position = GamePosition::default();
        // A label is removed as the system shows it. What is left is allowed but never shown by this system; a tree
        // has to accept it, as a system that conforms may show it.
        for (label, to) in doing {
            let next = allowed.remove(&label).map(|theirs| self.number_of((to, theirs)));
            position.shown.push((label, next));
        }
        position.unshown = allowed.into_keys().collect();
        for (label, to) in self.spec.inputs(pool, &mut self.labels, right, &OpenValues::new())? {
            // Under uioco an input that a stable state refuses is not specified, so nothing after it could be a
            // failure.
            if self.relation == ConformanceRelation::Uioco
                && self.spec.refuses(pool, &mut self.labels, right, label)?
            {
                continue;
            }
            let given = self.imp.give_input(pool, &mut self.labels, (left, label), self.completion)?;
            if !given.is_empty() {
                let next = self.number_of((given, to));
                position.sends.push((label, next));
            }
        }
        Ok(position)
    }
}

impl StrategyGame {
    /// Returns, for every position, the greatest number of steps to a difference and the move that forces it; `None`
    /// where the tester cannot force one.
    fn forced_moves(&self) -> Vec<Option<(usize, StrategyChoice)>> {
        let mut known: Vec<Option<(usize, StrategyChoice)>> = vec![None; self.positions.len()];
        // The attractor in layers: rank n holds the positions from which a difference comes in at most n steps. A
        // layer is collected before it is added, so no position counts on one of its own rank.
        for rank in 1.. {
            let won = |at: usize| known[at].is_some();
            let new: Vec<(usize, StrategyChoice)> = (0..self.positions.len())
                .filter(|&at| !won(at))
                .filter_map(|at| Some((at, self.positions[at].forcing(&won)?)))
                .collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|(at, choice)| known[at] = Some((rank, choice)));
        }
        known
    }

    /// The length of the shortest way to a difference, and the number of steps to allow: thrice as many, at most
    /// [`MAX_TEST_STEPS`] unless the shortest way is longer.
    fn horizon(&self) -> Option<(usize, usize)> {
        let mut distance: Vec<Option<usize>> = vec![None; self.positions.len()];
        // The same fixed point with "some observation" where `forced_moves` has "every observation": a way the system
        // may take, not one it must.
        for steps in 1.. {
            let near = |at: usize| distance[at].is_some();
            let leads = |position: &GamePosition| {
                position.shown.iter().any(|(_, next)| next.is_none_or(near))
                    || position.sends.iter().any(|&(_, next)| near(next))
            };
            let new: Vec<usize> =
                (0..self.positions.len()).filter(|&at| !near(at) && leads(&self.positions[at])).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|at| distance[at] = Some(steps));
        }
        distance[0].map(|steps| (steps, (3 * steps).clamp(steps, MAX_TEST_STEPS.max(steps))))
    }

    /// Returns, by number of steps left and position, the best chance of a difference and the move for it.
    fn chances(&self, steps: usize) -> (Vec<Vec<f64>>, Vec<Vec<StrategyChoice>>) {
        let mut values = vec![vec![0.0; self.positions.len()]];
        let mut choices = vec![vec![StrategyChoice::Look; self.positions.len()]];
        // Backwards from no steps left: a chance with n steps depends on those with n - 1 alone.
        for left in 1..=steps {
            let before = &values[left - 1];
            let best = |position: &GamePosition| position.best(before);
            let (now, how) = self.positions.iter().map(best).unzip();
            values.push(now);
            choices.push(how);
        }
        (values, choices)
    }

    /// The chance of a difference by the moves of `choices`, without discount.
    fn chance(
        &self,
        choices: &[Vec<StrategyChoice>],
        at: usize,
        left: usize,
        known: &mut FxHashMap<(usize, usize), f64>,
    ) -> f64 {
        if left == 0 {
            return 0.0;
        }
        if let Some(&value) = known.get(&(at, left)) {
            return value;
        }
        let position = &self.positions[at];
        let value = match choices[left][at] {
            StrategyChoice::Send(which) => self.chance(choices, position.sends[which].1, left - 1, known),
            StrategyChoice::Look => {
                let shown = position.shown.iter();
                let sum: f64 = shown
                    .map(|(_, next)| next.map_or(1.0, |next| self.chance(choices, next, left - 1, known)))
                    .sum();
                sum / position.shown.len().max(1) as f64
            }
        };
        known.insert((at, left), value);
        value
    }
}

impl GamePosition {
    /// Returns the move that forces a difference, if all positions it may lead to are won.
    fn forcing(&self, won: &impl Fn(usize) -> bool) -> Option<StrategyChoice> {
        let is_won = |next: &Option<usize>| next.is_none_or(won);
        let spoken = self.shown.iter().filter(|(label, _)| label.is_some());
        let never_too_late = spoken.clone().all(|(_, next)| is_won(next));
        if !self.shown.is_empty() && self.shown.iter().all(|(_, next)| is_won(next)) {
            return Some(StrategyChoice::Look);
        }
        // Looking is tried before sending: nothing can overtake a look.
        let send = self.sends.iter().position(|&(_, next)| won(next));
        send.filter(|_| never_too_late).map(StrategyChoice::Send)
    }

    /// Returns the best discounted chance, and the move for it, given the chances with one step less.
    fn best(&self, before: &[f64]) -> (f64, StrategyChoice) {
        let after = |next: &Option<usize>| next.map_or(1.0, |next| before[next]);
        let looked: f64 = self.shown.iter().map(|(_, next)| after(next)).sum();
        let mut best = (STEP_DISCOUNT * looked / self.shown.len().max(1) as f64, StrategyChoice::Look);
        // Strictly better only, so that of equal chances looking wins, and the earlier input among several.
        for (which, &(_, next)) in self.sends.iter().enumerate() {
            let value = STEP_DISCOUNT * before[next];
            if value > best.0 {
                best = (value, StrategyChoice::Send(which));
            }
        }
        best
    }
}

/// A tree under construction.
struct GrownTree<'a> {
    arena: &'a StrategyGame,
    labels: &'a MetLabels,
    nodes: Vec<TestNode>,
    /// The node for each position and number of steps left.
    known: FxHashMap<(usize, usize), usize>,
    open: Vec<(usize, usize)>,
}

impl<'a> GrownTree<'a> {
    /// Makes an empty tree for a strategy of `arena`.
    fn new(arena: &'a StrategyGame, labels: &'a MetLabels) -> Self {
        Self { arena, labels, nodes: Vec::new(), known: FxHashMap::default(), open: Vec::new() }
    }

    /// Returns the tree of a strategy with `steps` left at the start; it ends at positions without a move. A strategy
    /// that forces its end needs no count and has 0. `None` if the tree is too large.
    fn tree(
        mut self,
        strategy: &impl Fn(usize, usize) -> Option<StrategyChoice>,
        steps: usize,
    ) -> Option<Vec<TestNode>> {
        self.node(strategy, 0, steps)?;
        let mut at = 0;
        while at < self.open.len() {
            let (position, left) = self.open[at];
            // Nodes get their numbers when they are first mentioned and are made in that order, so `open` and `nodes`
            // agree.
            debug_assert_eq!(self.nodes.len(), at, "nodes are made in the order of their numbers");
            let node = self.make_node(strategy, position, left);
            self.nodes.push(node);
            at += 1;
            if self.open.len() > MAX_NODES {
                return None;
            }
        }
        Some(self.nodes)
    }

    /// The number of the node at a position; `None` if the strategy ends there.
    fn node(
        &mut self,
        strategy: &impl Fn(usize, usize) -> Option<StrategyChoice>,
        position: usize,
        left: usize,
    ) -> Option<usize> {
        strategy(position, left)?;
        if let Some(&known) = self.known.get(&(position, left)) {
            return Some(known);
        }
        self.open.push((position, left));
        self.known.insert((position, left), self.open.len() - 1);
        Some(self.open.len() - 1)
    }

    fn make_node(
        &mut self,
        strategy: &impl Fn(usize, usize) -> Option<StrategyChoice>,
        position: usize,
        left: usize,
    ) -> TestNode {
        let here = &self.arena.positions[position];
        let (after, label) = (left.saturating_sub(1), |number: Option<usize>, labels: &MetLabels| {
            number.map_or(Label::Quiescence, |number| labels.label(number).clone())
        });
        let send = match strategy(position, left) {
            Some(StrategyChoice::Send(which)) => {
                let (number, next) = here.sends[which];
                Some((self.labels.label(number).clone(), self.node(strategy, next, after)))
            }
            Some(StrategyChoice::Look) | None => None,
        };
        let mut allowed = Vec::new();
        for &(number, next) in &here.shown {
            if let Some(next) = next {
                allowed.push((label(number, self.labels), self.node(strategy, next, after)));
            }
        }
        allowed.extend(here.unshown.iter().map(|&number| (label(number, self.labels), None)));
        TestNode { send, allowed }
    }
}
