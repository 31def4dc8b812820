//! A model simulated as a system under test.
//!
//! The concrete semantics (\[FTW05] Def. 11) with every choice made by a seeded generator: which
//! enabled output or internal step comes next, the values of loose outputs, the values
//! unknown at start. Inputs are completed angelically (\[AT15] sec. 3): an input nothing accepts
//! is ignored. As in \[AT15]'s care about internal steps, an input counts as accepted if it is
//! accepted after internal steps; it is ignored only where no such steps lead to it, in a state
//! that no internal step can leave. A model that takes internal steps for ever instead ignores
//! nothing and is never quiescent: that is told. The comparison of models reads it the same way.
//!
//! *Promises.* The same model, seed and inputs give the same outputs. Silence is decided,
//! never guessed: where the solver cannot say whether an output is possible, that is an error.
//! *Differs* from a live system in having no time of its own: it moves when it is asked to. A timed
//! model moves when time is made to pass.

mod timed;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use ioxide_model::concrete::{self, ConcreteState, ConcreteSuccessor, StateClosure};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::halt::Halted;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Ctx, PoolSnapshot, decided_closure, decided_internal_successors, decided_successors};
use ioxide_testgen::data::{PickedValues, ValueRequest, any_value, pick};

/// Internal steps in a row after which a model counts as diverging. Chosen by feel: a model that takes longer to
/// speak is not distinguished from one that never does.
const MAX_INTERNAL: usize = 100_000;
/// States looked at in search of one that accepts an input. Chosen by feel: an input is then answered with an error,
/// as it is not decided.
const MAX_CLOSURE: usize = 10_000;

/// One in so many times somebody else sends an observed input before the system goes on. Chosen by feel: most messages
/// of the system come undisturbed.
const OBSERVED_BEFORE: u32 = 4;
/// One in so many times somebody else sends an observed input to a system that is quiet. Chosen by feel: silence must
/// still be seen often.
const OBSERVED_IN_SILENCE: u32 = 2;

/// Plays one model.
pub struct ModelPlayer<'m> {
    cx: Ctx<'m>,
    seed: u64,
    /// The number of resets since the seed was set: each life has random choices of its own.
    life: u64,
    rng: ChaCha8Rng,
    state: ConcreteState,
    /// Seconds since the start of this life; only timed models use it.
    now: Rational,
    /// The next move of a timed model.
    plan: timed::TimedPlan,
    /// The terms before the first choice.
    fresh: PoolSnapshot,
}

/// The reaction of the model to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFate {
    /// A switch accepted it.
    Accepted(SwitchId),
    /// No switch accepts the input here.
    Ignored,
}

/// The reason why a model cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlayError {
    /// The model takes internal steps for ever.
    #[error("the model takes internal steps for ever at state `{location}`")]
    Diverges {
        /// The location at which it was stopped.
        location: String,
    },
    /// The player was stopped while it took internal steps.
    #[error("the model was stopped at state `{location}`, in the middle of internal steps: {halted}")]
    Stopped {
        /// The location at which it was stopped.
        location: String,
        /// The cause.
        halted: Halted,
    },
    /// The model takes internal steps for ever instead of taking an input.
    #[error("the model takes internal steps for ever at state `{location}` and never takes {input}")]
    NeverTakes {
        /// The location it is in.
        location: String,
        /// The input.
        input: String,
    },
    /// The solver cannot say whether a switch can be taken.
    #[error("cannot decide whether transition `{switch}` can be taken: {why}")]
    Undecided {
        /// The switch.
        switch: String,
        /// The reason the solver gives.
        why: UnknownReason,
    },
    /// An initial value or an update has no value.
    #[error("`{what}` has no value, or one that is too large to compute")]
    NoValue {
        /// The variable or switch.
        what: String,
    },
}

impl<'m> ModelPlayer<'m> {
    /// A player of the model of `cx`, in its initial state.
    ///
    /// # Errors
    /// If an initial value cannot be computed.
    pub fn new(cx: Ctx<'m>, seed: u64) -> Result<Self, PlayError> {
        let state = ConcreteState { loc: cx.sts.initial, values: Valuation::new() };
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let (plan, fresh) = (timed::TimedPlan::Open, cx.snapshot());
        let mut player = Self { cx, seed, life: 0, rng, state, now: Rational::ZERO, plan, fresh };
        player.start_life()?;
        Ok(player)
    }

    /// Goes back to an initial state, with fresh random choices.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn reset(&mut self) -> Result<(), PlayError> {
        self.life += 1;
        self.start_life()
    }

    /// Begins again as if just made with this seed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn reseed(&mut self, seed: u64) -> Result<(), PlayError> {
        // The values that the solver finds for an output depend on what it was asked before.
        self.cx.restore(&self.fresh);
        (self.seed, self.life) = (seed, 0);
        self.start_life()
    }

    /// Returns whether its model has clocks.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.cx.sts.is_timed()
    }

    /// The state it is in.
    #[must_use]
    pub fn state(&self) -> &ConcreteState {
        &self.state
    }

    /// Returns its model and solver.
    pub fn cx(&mut self) -> &mut Ctx<'m> {
        &mut self.cx
    }

    /// Returns whether a switch that takes an input starts at its location, whatever its guard.
    #[must_use]
    pub fn may_take_input(&self) -> bool {
        self.cx.sts.switches_from(self.state.loc).any(|(_, switch)| self.cx.sts.kind_of(switch).is_input())
    }

    /// Gives it an input.
    ///
    /// # Errors
    /// If a guard cannot be evaluated.
    pub fn input(&mut self, label: &Label) -> Result<InputFate, PlayError> {
        let mut ways = self.ways_to_take(label)?;
        if ways.is_empty() {
            return self.ignore(label);
        }
        let ConcreteSuccessor { switch, state } = ways.swap_remove(self.rng.random_range(0..ways.len()));
        self.state = state;
        self.plan = timed::TimedPlan::Open;
        Ok(InputFate::Accepted(switch))
    }

    /// Ignores an input nothing accepts, in a state that no internal step can leave. Internal steps of a
    /// timed model have their time: it ignores where it is.
    fn ignore(&mut self, label: &Label) -> Result<InputFate, PlayError> {
        if self.is_timed() {
            return Ok(InputFate::Ignored);
        }
        let mut stable: Vec<ConcreteState> = Vec::new();
        for state in self.closure(label)?.states {
            if decided_internal_successors(&mut self.cx, &state).is_ok_and(|it| it.is_empty()) {
                stable.push(state);
            }
        }
        if stable.is_empty() {
            let location = self.state.place_text(self.cx.sts);
            return Err(PlayError::NeverTakes { location, input: label.show(self.cx.pool, self.cx.sts) });
        }
        // The player stays where it is if it may: a random move to another stable state would be an internal step that
        // nobody asked for.
        if !stable.contains(&self.state) {
            self.state = stable.swap_remove(self.rng.random_range(0..stable.len()));
        }
        Ok(InputFate::Ignored)
    }

    /// Lets it go on by itself up to its next output, or to an observed input that somebody else sends it; `None` if
    /// there is neither: it is quiescent, and nobody speaks to it.
    ///
    /// # Errors
    /// If it takes internal steps for ever, or the solver cannot say what is possible.
    pub fn react(&mut self) -> Result<Option<Label>, PlayError> {
        for _ in 0..MAX_INTERNAL {
            self.check_halt()?;
            let Some((id, values)) = self.next_move()? else { return Ok(None) };
            let switch = &self.cx.sts.switches[id];
            self.state = concrete::successor(self.cx.pool, self.cx.sts, &self.state, switch, &values)
                .map_err(|_| PlayError::NoValue { what: switch.label.to_string() })?;
            if let Some(label) = Label::message(self.cx.sts, switch.gate, values) {
                return Ok(Some(label));
            }
        }
        let location = self.state.place_text(self.cx.sts);
        Err(PlayError::Diverges { location })
    }

    /// Fails if the player is asked to stop.
    fn check_halt(&self) -> Result<(), PlayError> {
        let location = || self.state.place_text(self.cx.sts);
        self.cx
            .halt_reason()
            .map_or(Ok(()), |halted| Err(PlayError::Stopped { location: location(), halted }))
    }

    fn start_life(&mut self) -> Result<(), PlayError> {
        self.rng = ChaCha8Rng::seed_from_u64(self.seed);
        // A stream of its own for every life, so that the choices after a reset do not depend on how many were made
        // before it.
        self.rng.set_stream(self.life);
        let mut values = Valuation::new();
        for var in &self.cx.sts.vars {
            let info = self.cx.pool.var_info(var.var);
            let value = match var.init {
                Some(term) => self
                    .cx
                    .pool
                    .eval(term, &Valuation::new())
                    .map_err(|_| PlayError::NoValue { what: info.name.to_string() })?,
                None => any_value(self.cx.pool, &mut self.rng, info.sort, &[]),
            };
            values.set(var.var, value);
        }
        for clock in &self.cx.sts.clocks {
            values.set(clock.var, Value::Real(Rational::ZERO));
        }
        self.state = ConcreteState { loc: self.cx.sts.initial, values };
        (self.now, self.plan) = (Rational::ZERO, timed::TimedPlan::Open);
        Ok(())
    }

    /// Returns the states that `label` can lead to, after any number of internal steps.
    fn ways_to_take(&mut self, label: &Label) -> Result<Vec<ConcreteSuccessor>, PlayError> {
        let mut ways = Vec::new();
        for state in &self.closure(label)?.states {
            let taken = decided_successors(&mut self.cx, state, label);
            ways.extend(taken.map_err(|why| self.report_undecided(label, why))?);
        }
        Ok(ways)
    }

    /// Returns the error that the solver cannot say whether `label` can be taken.
    fn report_undecided(&self, label: &Label, why: UnknownReason) -> PlayError {
        PlayError::Undecided { switch: label.show(self.cx.pool, self.cx.sts), why }
    }

    /// Returns the states that internal steps lead to; `label` is named in the error if they are not known.
    fn closure(&mut self, label: &Label) -> Result<StateClosure<ConcreteState>, PlayError> {
        let here = self.state.clone();
        decided_closure(&mut self.cx, here, MAX_CLOSURE).map_err(|why| self.report_undecided(label, why))
    }

    /// Returns the next move: of the system, or of somebody else who sends it an observed input.
    fn next_move(&mut self) -> Result<Option<(SwitchId, Vec<Value>)>, PlayError> {
        let sts = self.cx.sts;
        let is_observed = |id: &SwitchId| sts.kind_of(&sts.switches[*id]) == GateKind::Observed;
        let observed: Vec<SwitchId> =
            sts.switches_from(self.state.loc).map(|(id, _)| id).filter(is_observed).collect();
        // Models without such messages use no random numbers for them.
        if observed.is_empty() {
            return self.next_reaction();
        }
        if self.rng.random_ratio(1, OBSERVED_BEFORE)
            && let Some(sent) = self.next_observed(&observed)
        {
            return Ok(Some(sent));
        }
        match self.next_reaction()? {
            None if self.rng.random_ratio(1, OBSERVED_IN_SILENCE) => Ok(self.next_observed(&observed)),
            reaction => Ok(reaction),
        }
    }

    /// Returns one of these observed inputs, with values with which it is possible now; `None` if none was found:
    /// nobody has to send one.
    fn next_observed(&mut self, observed: &[SwitchId]) -> Option<(SwitchId, Vec<Value>)> {
        let here = self.state.clone();
        let mut candidates = observed.to_vec();
        candidates.shuffle(&mut self.rng);
        candidates.into_iter().find_map(|id| Some((id, self.observed_values(id, &here)?)))
    }

    /// Returns values with which the observed input `id` is possible in `there`.
    fn observed_values(&mut self, id: SwitchId, there: &ConcreteState) -> Option<Vec<Value>> {
        if let Some(values) = self.leading_on(id, there) {
            return Some(values);
        }
        let switch = &self.cx.sts.switches[id];
        let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &there.values };
        match pick(&mut self.cx, &mut self.rng, &wish) {
            PickedValues::Values(values) => Some(values),
            PickedValues::Impossible | PickedValues::Unknown(_) => None,
        }
    }

    /// Returns an enabled output or internal step, each switch equally likely, with values.
    fn next_reaction(&mut self) -> Result<Option<(SwitchId, Vec<Value>)>, PlayError> {
        let sts = self.cx.sts;
        let reacts = |kind| matches!(kind, GateKind::Output | GateKind::Internal);
        let candidates = sts.switches_from(self.state.loc).filter(|(_, switch)| reacts(sts.kind_of(switch)));
        let mut candidates: Vec<SwitchId> = candidates.map(|(id, _)| id).collect();
        candidates.shuffle(&mut self.rng);
        let mut open = None;
        for id in candidates {
            let switch = &sts.switches[id];
            if self.cx.pool.is_refuted_at_once(switch.guard, |var| self.state.values.get(var)) {
                continue;
            }
            let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &self.state.values };
            match pick(&mut self.cx, &mut self.rng, &wish) {
                PickedValues::Values(values) => return Ok(Some((id, values))),
                PickedValues::Impossible => (),
                PickedValues::Unknown(why) => open = Some((id, why)),
            }
        }
        // Silence only if every candidate was refuted; one that is open is an error, not a guess.
        match open {
            None => Ok(None),
            Some((id, why)) => Err(PlayError::Undecided { switch: sts.switches[id].label.to_string(), why }),
        }
    }
}

#[cfg(test)]
mod tests;
