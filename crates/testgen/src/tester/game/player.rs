//! A run of a game on beliefs: follows the labels of the run, and turns the moves of the strategy into those of a
//! tester, with their instants.

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::term::TermPool;
use ioxide_symex::Ctx;

use super::NoGame;
use super::arena::GameArena;
use super::belief::{BeliefArena, BeliefStop, GameBelief};
use super::strategy::{BeliefGame, BeliefMove, Outlook, nanoseconds_up};

/// The number of changes of guards that one wait passes. Chosen by feel: then the tester thinks again.
const MAX_CHANGES: usize = 10_000;
/// The number of messages that may be tried to follow one label. Chosen by feel.
const FOLLOWING_WORK: usize = 1_000_000;

/// The next move of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlayerMove {
    /// Send this input after so many seconds; at once without clocks.
    Send(Rational, Label),
    /// Observe for some time, or until time alone changes nothing more.
    Observe(Option<Duration>),
    /// No move has a chance.
    Lost,
}

/// Plays on beliefs; what one run has explored, later runs know.
#[derive(Clone, Debug)]
pub(super) struct BeliefPlayer {
    arena: BeliefArena,
    game: BeliefGame,
    /// The states that the run may be in; `None` if they cannot be computed.
    now: Option<GameBelief>,
    /// True if all of them met the goal at some instant of the run.
    is_met: bool,
}

impl BeliefPlayer {
    /// Makes a player for the goal of `arena`.
    ///
    /// # Errors
    /// If the model is not one whose beliefs can be listed.
    pub(super) fn new(cx: &mut Ctx<'_>, arena: &GameArena) -> Result<Self, NoGame> {
        Ok(Self {
            arena: BeliefArena::new(cx, arena)?,
            game: BeliefGame::default(),
            now: None,
            is_met: false,
        })
    }

    /// Begins a run.
    pub(super) fn start_run(&mut self, cx: &Ctx<'_>) {
        self.allow_work();
        self.now = self.arena.start(cx.pool).ok();
        self.is_met = self.now.as_ref().is_some_and(GameBelief::is_met);
    }

    /// Follows a label.
    pub(super) fn follow_label(&mut self, cx: &Ctx<'_>, label: &Label) {
        let Some(before) = self.now.take() else { return };
        self.allow_work();
        let after = match label {
            Label::Delay(by) => self.follow_delay(cx.pool, before, by),
            Label::Quiescence => self.arena.after_silence(cx.pool, &before),
            Label::Input(..) | Label::Output(..) => {
                self.arena.after_message(cx.pool, &before, label).map(|(after, _)| after)
            }
        };
        // A run that the model does not have: the monitor judges it, and no belief guides it any more.
        self.now = after.ok().filter(|after| !after.is_empty());
        self.is_met |= self.now.as_ref().is_some_and(GameBelief::is_met);
    }

    fn follow_delay(
        &mut self,
        pool: &TermPool,
        mut belief: GameBelief,
        by: &Rational,
    ) -> Result<GameBelief, BeliefStop> {
        let mut left = by.clone();
        while !left.is_zero() && !belief.is_empty() {
            // Guards may change on the way, and internal steps with them.
            let change = self.arena.until_change(&belief).unwrap_or_else(|| left.clone());
            let step = change.min(left.clone());
            belief = self.arena.wait(pool, &belief, &step)?;
            self.is_met |= belief.is_met();
            left = &left - &step;
        }
        Ok(belief)
    }

    /// Returns whether all states that the run may have been in at some instant met the goal.
    pub(super) fn is_met(&self) -> bool {
        self.is_met
    }

    /// Returns whether the goal can be forced from here.
    pub(super) fn outlook(&mut self, cx: &Ctx<'_>) -> Outlook {
        match self.now.clone() {
            Some(now) => self.game.solve(cx.pool, &cx.halt(), &mut self.arena, &now).1,
            None => Outlook::Undecided,
        }
    }

    /// Returns the next move: that of a strategy if there is one, else the one with the best chance.
    pub(super) fn next_move(&mut self, cx: &Ctx<'_>) -> PlayerMove {
        let Some(mut belief) = self.now.clone() else { return PlayerMove::Lost };
        let known = self.game.find(&self.arena, &belief).filter(|&at| self.game.is_explored(at));
        let start = match known {
            Some(at) => at,
            None => self.game.solve(cx.pool, &cx.halt(), &mut self.arena, &belief).0,
        };
        let (is_forced, mut waited) = (self.game.is_won(start), Rational::ZERO);
        let mut at = Some(start);
        self.allow_work();
        for _ in 0..MAX_CHANGES {
            let chosen = at.and_then(|at| self.game.best_move(at));
            match chosen {
                Some(BeliefMove::Send(label)) => return PlayerMove::Send(waited, label),
                None if waited.is_zero() => return PlayerMove::Lost,
                None => break,
                Some(BeliefMove::Wait) => (),
            }
            // Where nothing changes any more, a look is all that is left.
            let Some(by) = self.arena.until_change(&belief) else { return PlayerMove::Observe(None) };
            waited = &waited + &by;
            let Ok(later) = self.arena.wait(cx.pool, &belief, &by) else { break };
            // The system has to send something before.
            if later.is_empty() {
                break;
            }
            belief = later;
            at = self.game.find(&self.arena, &belief);
            debug_assert!(
                !is_forced || at.is_some_and(|at| self.game.is_won(at)),
                "a strategy waits for won nodes only"
            );
        }
        PlayerMove::Observe(Some(nanoseconds_up(&waited)))
    }

    fn allow_work(&mut self) {
        (self.arena.spent, self.arena.limit) = (0, FOLLOWING_WORK);
    }
}
