//! Goals as games: the tester plays for a goal against a system that may choose.
//!
//! A path to a goal (\[BT19] Def. 16) relies on the cooperation of the system. Here the goal is played for: at every
//! move the states ahead are explored from the current state of the run, and the game between tester and system is
//! solved on them (`GameSolution`). Where the goal can be forced whatever the system does, the tester does so; where
//! it cannot, it takes the move with the best chance, the choices of the system being equally likely. After every move
//! of the system the game is solved again. Silence is a move of the system like any other, so an observer may wait for
//! it.
//!
//! Values of inputs are chosen such that the rest of the way is possible for *all* values of the answers, if there are
//! such (\[BT19] sec. 7: universal quantification of outputs), else for some.
//!
//! Where the labels of a run do not tell its state (unknown start values, hidden choices, internal steps), and in
//! models with clocks, the game is played on beliefs instead, in regions of time ([`strategy`]): the tester chooses
//! inputs and instants, the system everything that the model leaves open. The states and messages are listed one by
//! one there, so such a model must have finitely many of them ([`NoGame`] says what is missing).
//!
//! *Promises.* Like every tester it cannot say Fail. A strategy is computed over symbolic states, each of which stands
//! for many: that the goal is forced holds for these, and "out of reach" is no proof. A strategy on beliefs is exact:
//! it meets the goal against every system that conforms to the model, if instants are observed exactly (in simulated
//! time); a search that a limit ended claims nothing.

mod arena;
mod belief;
mod player;
mod regions;
mod solve;
mod strategy;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::goal::{Goal, PathStep};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, Monitor, SymState};

use self::arena::GameArena;
use self::player::{BeliefPlayer, PlayerMove};
use self::solve::{GameChoice, GameSolution};
pub use self::strategy::Outlook;
use super::random::Interaction;
use super::{Tester, TesterMove, TesterStop};
use crate::data::PickedValues;
use crate::data::patterned::{PatternedRequest, pick_patterned};
use crate::purpose::{TestPurpose, holds_for_any_answer};

/// The number of states of a belief from which the game is solved. Chosen by feel: the game is solved for each, and
/// the tester waits.
const MAX_BELIEF: usize = 4;
/// The number of looks in a row without a message after which a game on beliefs ends. Chosen by feel: a strategy needs
/// one, and silence tells no more the second time.
const MAX_IDLE_LOOKS: usize = 4;

/// The reason why a goal cannot be played for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoGame {
    /// The goal is neither a location to reach nor an observer.
    #[error("it is neither a state to reach nor an observer")]
    Goal,
    /// The observer waits for silence in a model with clocks.
    #[error("its observer waits for silence, and the model has clocks")]
    TimedSilence,
    /// A clock has no regions.
    #[error("a clock is copied, or compared with something other than constants and ranges, in nanoseconds")]
    Clocks,
    /// An internal switch resets a clock that is read later.
    #[error("the internal transition `{0}` resets a clock at an instant that the tester cannot see")]
    HiddenReset(String),
    /// The start value of a variable is unknown, and its values cannot be listed.
    #[error("the values of `{0}` at the start cannot be listed")]
    StartValue(String),
    /// The values of a message cannot be listed.
    #[error("the values of the message `{0}` cannot be listed")]
    Values(String),
}

/// Plays for one goal.
#[derive(Clone, Debug)]
pub struct GameTester {
    name: String,
    arena: GameArena,
    /// Plays on beliefs, where a run does not tell the state of the model.
    player: Option<BeliefPlayer>,
    interaction: Interaction,
    rng: ChaCha8Rng,
    run: GameRun,
    tally: GameTally,
}

/// The results of the runs of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameTally {
    /// The number of runs begun.
    pub runs: usize,
    /// The number of runs in which the goal was reached.
    pub reached: usize,
    /// True if the goal can be forced from the start; `None` before the first game is solved.
    pub is_forced: Option<bool>,
    /// True if a limit ended the search for a strategy, so that there may be one although none was found.
    pub is_undecided: bool,
}

/// The run under way.
#[derive(Clone, Debug, Default)]
struct GameRun {
    seen: usize,
    values: Vec<Value>,
    is_met: bool,
    looked: bool,
    /// The number of looks since the last message.
    idle_looks: usize,
}

/// A move with its worth.
struct WeighedMove {
    gate: Option<GateId>,
    /// The worth of the move, summed over the states of the belief.
    worth: f64,
    /// The switches that are expected to follow, and the state in which they start.
    way: Vec<SwitchId>,
    start: SymState,
}

impl GameTester {
    /// Makes a tester that plays for `goal`.
    ///
    /// # Errors
    /// If the goal or the model is of a kind that is not played.
    pub fn new(cx: &mut Ctx<'_>, goal: &Goal, interaction: Interaction) -> Result<Self, NoGame> {
        let arena = GameArena::new(cx, goal).ok_or(NoGame::Goal)?;
        let player = if arena.is_seen() { Ok(None) } else { BeliefPlayer::new(cx, &arena).map(Some) };
        // A model whose values are known is played state by state, though without a claim.
        let is_required = cx.sts.is_timed() || cx.sts.has_unknowns();
        let player = player.or_else(|why| if is_required { Err(why) } else { Ok(None) })?;
        Ok(Self {
            name: goal.name.to_string(),
            arena,
            player,
            interaction,
            rng: ChaCha8Rng::seed_from_u64(0),
            run: GameRun::default(),
            tally: GameTally::default(),
        })
    }

    /// Returns the results of the runs.
    #[must_use]
    pub fn tally(&self) -> GameTally {
        self.tally
    }

    /// The name of the goal.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds the results of another worker.
    pub fn absorb(&mut self, other: &Self) {
        self.tally.runs += other.tally.runs;
        self.tally.reached += other.tally.reached;
        self.tally.is_forced = self.tally.is_forced.or(other.tally.is_forced);
        self.tally.is_undecided |= other.tally.is_undecided;
    }

    /// Takes the labels since the last move into account.
    fn catch_up(&mut self, cx: &mut Ctx<'_>, trace: &Trace) {
        if self.run.seen == 0 {
            self.arena.start_run(cx);
        }
        // A goal that was met between two labels counts, although the run has gone on since.
        for label in &trace.labels[self.run.seen.min(trace.len())..] {
            self.run.is_met |= self.arena.is_hit(cx);
            self.arena.follow_label(cx, label);
            if let Label::Input(_, values) | Label::Output(_, values) = label {
                self.run.values.extend_from_slice(values);
            }
        }
        self.run.seen = trace.len();
        self.run.is_met |= self.arena.is_hit(cx);
    }

    /// Returns the best move from here; `None` if no move has a chance.
    fn best(&mut self, cx: &mut Ctx<'_>) -> Option<WeighedMove> {
        let states: Vec<ConcreteState> = self.arena.states().iter().take(MAX_BELIEF).cloned().collect();
        let mut moves: Vec<WeighedMove> = Vec::new();
        let mut is_forced = false;
        for state in &states {
            let Some(start) = self.arena.symbolic(cx, state) else { continue };
            let solution = GameSolution::new(cx, &self.arena, start.clone(), self.interaction);
            // The moves of a strategy depend on the state: where it cannot be told, there may be none.
            is_forced |= self.arena.known_state() == Some(state) && solution.is_forced();
            for (choice, worth) in solution.choices() {
                let gate = match choice {
                    GameChoice::Look => None,
                    GameChoice::Send(id) => Some(self.arena.full_system().switches[id].gate),
                };
                let mut known = moves.iter_mut();
                match known.find(|known| known.gate == gate) {
                    // A message is one move, whichever state it is sent in: what it is worth adds up over the possible
                    // states.
                    Some(known) => known.worth += worth,
                    None => {
                        let way = solution.expected_switches(choice);
                        moves.push(WeighedMove { gate, worth, way, start: start.clone() });
                    }
                }
            }
        }
        // Only the first game of all is played from the start, so only it says whether the goal can be forced.
        self.tally.is_forced.get_or_insert(is_forced);
        moves.into_iter().filter(|it| it.worth > 0.0).max_by(|a, b| a.worth.total_cmp(&b.worth))
    }

    /// Returns the input that begins `way`; `None` if the move is to look, or no values were found.
    fn input(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, weighed: &WeighedMove) -> Option<TesterMove> {
        let gate = weighed.gate?;
        let fields = cx.sts.gates[gate].fields.clone();
        let fields: Vec<VarId> = fields.iter().map(|&field| cx.pool.indexed_var(field, 1)).collect();
        // From the best condition to the weakest: the first for which there are values decides.
        for facts in self.conditions(cx, weighed) {
            let (beside, first) = (&self.run.values[..], self.tally.runs);
            let wish = PatternedRequest { fields: &fields, facts: &facts, beside, first };
            let PickedValues::Values(values) = pick_patterned(cx, &mut self.rng, &wish) else { continue };
            if let Some(label) = Label::message(cx.sts, gate, values)
                && monitor.accepts(cx, &label)
            {
                return Some(TesterMove::Stimulate(label));
            }
        }
        None
    }

    /// Returns the conditions on the values of the input, the best first: the way is possible whatever the system
    /// answers, for some answers, or as far as its first step.
    fn conditions(&self, cx: &mut Ctx<'_>, weighed: &WeighedMove) -> Vec<Vec<Term>> {
        let name = self.name.clone();
        let mut over = cx.with_system(self.arena.full_system());
        let way = PathStep::taking(&weighed.way);
        let whole = TestPurpose::with_state(&mut over, name.clone(), weighed.start.clone(), &way);
        let first = TestPurpose::with_state(&mut over, name, weighed.start.clone(), &way[..1]);
        let mut found = Vec::new();
        if let Ok((purpose, end)) = whole {
            let end = self.arena.condition(&mut over, &end);
            found.extend(universal(&mut over, &purpose, end));
            let facts = purpose.steps.iter().flat_map(|step| step.facts.iter().copied());
            found.push(facts.chain([end]).collect());
        }
        found.extend(first.ok().map(|(purpose, _)| purpose.steps[0].facts.clone()));
        found
    }

    /// Returns the next move of a game on beliefs.
    fn next_on_beliefs(&mut self, cx: &Ctx<'_>, player: &mut BeliefPlayer, trace: &Trace) -> TesterMove {
        if self.run.seen == 0 {
            player.start_run(cx);
        }
        for label in &trace.labels[self.run.seen.min(trace.len())..] {
            player.follow_label(cx, label);
            if !matches!(label, Label::Delay(_)) {
                self.run.idle_looks = 0;
            }
        }
        self.run.seen = trace.len();
        if self.tally.is_forced.is_none() {
            let outlook = player.outlook(cx);
            self.tally.is_forced = Some(outlook == Outlook::Forced);
            self.tally.is_undecided = outlook == Outlook::Undecided;
        }
        self.run.is_met |= player.is_met();
        if self.run.is_met {
            return self.last_move(trace);
        }
        let inconclusive = |why: String| TesterMove::Stop(TesterStop::Inconclusive(why));
        match player.next_move(cx) {
            PlayerMove::Send(wait, label) if cx.sts.is_timed() => TesterMove::StimulateAfter(wait, label),
            PlayerMove::Send(_, label) => TesterMove::Stimulate(label),
            PlayerMove::Lost => inconclusive(format!("no way to `{}` was found from here", self.name)),
            PlayerMove::Observe(_) if self.run.idle_looks >= MAX_IDLE_LOOKS => {
                inconclusive(format!("the system is silent, but `{}` needs a message from it", self.name))
            }
            PlayerMove::Observe(time) => {
                self.run.idle_looks += 1;
                time.map_or(TesterMove::Observe, TesterMove::ObserveFor)
            }
        }
    }

    fn last_move(&mut self, trace: &Trace) -> TesterMove {
        if self.run.looked || trace.ends_in_silence() {
            self.tally.reached += 1;
            return TesterMove::Stop(TesterStop::GoalMet(format!("the goal `{}` was reached", self.name)));
        }
        self.run.looked = true;
        TesterMove::Observe
    }
}

/// Returns the facts of the first input of `purpose` with the condition that the rest is possible whatever the system
/// answers. `None` if no output has fields.
fn universal(cx: &mut Ctx<'_>, purpose: &TestPurpose, end: Term) -> Option<Vec<Term>> {
    let rest = holds_for_any_answer(cx, &purpose.steps, 1, end)?;
    Some(purpose.steps.first()?.facts.iter().copied().chain([rest]).collect())
}

impl Tester for GameTester {
    fn start(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.run = GameRun::default();
        self.tally.runs += 1;
    }

    fn goal(&self) -> Option<String> {
        Some(format!("goal {}", self.name))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if let Some(mut player) = self.player.take() {
            let next = self.next_on_beliefs(cx, &mut player, trace);
            self.player = Some(player);
            return next;
        }
        self.catch_up(cx, trace);
        if self.run.is_met {
            return self.last_move(trace);
        }
        let Some(best) = self.best(cx) else {
            return TesterMove::Stop(TesterStop::Inconclusive(format!(
                "no way to `{}` was found from here",
                self.name
            )));
        };
        match self.input(cx, monitor, &best) {
            Some(input) => input,
            None if trace.ends_in_silence() && !self.arena.waits_for_silence() => {
                TesterMove::Stop(TesterStop::Inconclusive(format!(
                    "the system is silent, but `{}` needs a message from it",
                    self.name
                )))
            }
            None => TesterMove::Observe,
        }
    }
}
