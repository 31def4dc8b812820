//! A simulated timed model: what it does next, and when, is planned as soon as it enters a state.
//!
//! \[BLLN23] Def. 2: a switch is taken some time after the state was entered. The plan is one switch with an instant
//! at which its guard holds; boundaries of the guard are as likely as instants between them. A
//! state from which no output can come stays silent. Messages that somebody else sends are played as
//! well, most of the time with values that let the system go on. An input that is taken makes
//! a new plan necessary; one that is ignored changes nothing.
//!
//! *Promises.* What is played is a trace of the model: nothing is said where its guard does not
//! hold, and no deadline is missed.

use std::time::Duration;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Substitution, Term};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{after_waiting, can_react, sample_instants, switch_effect};
use ioxide_testgen::data::{PickedValues, ValueRequest, pick};

use ioxide_record::clock::{duration, seconds};

use super::{MAX_INTERNAL, ModelPlayer, PlayError};

/// Returns the instant, or its neighbours if it is no whole number of nanoseconds: no clock shows more.
fn on_grid(wait: &Rational) -> Vec<Rational> {
    let below = seconds(duration(wait));
    if below == *wait {
        return vec![below];
    }
    let above = &below + seconds(Duration::from_nanos(1));
    vec![below, above]
}

/// The next move of a timed model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimedPlan {
    /// The next move is not decided.
    Open,
    /// This switch with these values, this many seconds from now.
    Take(Rational, SwitchId, Vec<Value>),
    /// No move until an input comes.
    Silence,
}

impl ModelPlayer<'_> {
    /// Seconds since it was started or reset.
    #[must_use]
    pub fn now(&self) -> &Rational {
        &self.now
    }

    /// Lets time pass up to `until`, or to the next message if that comes earlier; the message is one of
    /// the system or one that somebody else sends to it.
    ///
    /// # Errors
    /// If it takes internal steps for ever, or the solver cannot say what is possible.
    pub fn pass_until(&mut self, until: &Rational) -> Result<Option<Label>, PlayError> {
        for _ in 0..MAX_INTERNAL {
            self.check_halt()?;
            self.plan_ahead()?;
            let left = until - &self.now;
            match &self.plan {
                TimedPlan::Take(wait, id, values) if *wait <= left => {
                    let (wait, id, values) = (wait.clone(), *id, values.clone());
                    if let Some(label) = self.carry_out(&wait, id, values)? {
                        return Ok(Some(label));
                    }
                }
                // The plan is later than `until`: it stays, with less to wait.
                TimedPlan::Take(..) | TimedPlan::Silence | TimedPlan::Open => {
                    self.advance_clocks(&left);
                    return Ok(None);
                }
            }
        }
        let location = self.state.place_text(self.cx.sts);
        Err(PlayError::Diverges { location })
    }

    /// Returns the instant at which the plan is carried out, in seconds since the start; `None` for silence.
    ///
    /// # Errors
    /// As [`pass_until`](Self::pass_until).
    pub fn next_instant(&mut self) -> Result<Option<Rational>, PlayError> {
        self.plan_ahead()?;
        Ok(match &self.plan {
            TimedPlan::Take(wait, ..) => Some(&self.now + wait),
            TimedPlan::Silence | TimedPlan::Open => None,
        })
    }

    /// Lets time pass in which nothing happens.
    fn advance_clocks(&mut self, by: &Rational) {
        // The tester may ask for an instant that has passed already.
        if by.is_negative() {
            return;
        }
        self.now = &self.now + by;
        self.state = concrete::advance_clocks(self.cx.sts, &self.state, by);
        if let TimedPlan::Take(wait, ..) = &mut self.plan {
            *wait = &*wait - by;
        }
    }

    /// Takes the planned switch and returns its message; `None` for an internal one.
    fn carry_out(
        &mut self,
        wait: &Rational,
        id: SwitchId,
        values: Vec<Value>,
    ) -> Result<Option<Label>, PlayError> {
        self.advance_clocks(wait);
        self.plan = TimedPlan::Open;
        let switch = &self.cx.sts.switches[id];
        self.state = concrete::successor(self.cx.pool, self.cx.sts, &self.state, switch, &values)
            .map_err(|_| PlayError::NoValue { what: switch.label.to_string() })?;
        Ok(Label::message(self.cx.sts, switch.gate, values))
    }

    fn plan_ahead(&mut self) -> Result<(), PlayError> {
        if self.plan != TimedPlan::Open {
            return Ok(());
        }
        // Switch, instant and values are all drawn here, before time passes: so the choices do not depend on the pieces
        // in which the tester lets time pass.
        let mut ways = self.ways_to_react()?;
        let reacts = |kind| matches!(kind, GateKind::Output | GateKind::Internal);
        let must_react = ways.iter().any(|(id, _)| reacts(self.cx.sts.kind_of(&self.cx.sts.switches[*id])));
        ways.shuffle(&mut self.rng);
        // Outputs and internal steps must happen before their last instant; a message of another party may as well not
        // come.
        if !must_react && self.rng.random() {
            ways.clear();
        }
        for (id, when) in ways {
            let Some(wait) = when.choose(&mut self.rng) else { continue };
            for wait in on_grid(wait) {
                if let Some(values) = self.values_at(id, &wait)? {
                    self.plan = TimedPlan::Take(wait, id, values);
                    return Ok(());
                }
            }
        }
        self.plan = TimedPlan::Silence;
        Ok(())
    }

    /// The switches that can be taken without an input of the tester, with instants for each.
    fn ways_to_react(&mut self) -> Result<Vec<(SwitchId, Vec<Rational>)>, PlayError> {
        let sts = self.cx.sts;
        let known: Substitution =
            self.state.values.iter().map(|(var, value)| (var, self.cx.pool.value(value.clone()))).collect();
        let mut ways = Vec::new();
        for (id, switch) in sts.switches_from(self.state.loc) {
            if sts.kind_of(switch) == GateKind::Input {
                continue;
            }
            let guard = after_waiting(&mut self.cx, switch.guard);
            let some = self.cx.pool.exists(&sts.gates[switch.gate].fields, guard);
            let when = self.cx.pool.substitute(some, &known);
            let when = eliminate(self.cx.pool, when);
            let delay = self.cx.delay;
            let when = sample_instants(&mut self.cx, delay, when);
            if !when.is_empty() {
                ways.push((id, when));
            }
        }
        Ok(ways)
    }

    /// Values with which `id` can be taken after waiting.
    fn values_at(&mut self, id: SwitchId, wait: &Rational) -> Result<Option<Vec<Value>>, PlayError> {
        let switch = &self.cx.sts.switches[id];
        let there = concrete::advance_clocks(self.cx.sts, &self.state, wait);
        if self.cx.sts.kind_of(switch) == GateKind::Observed
            && let Some(values) = self.leading_on(id, &there)
        {
            return Ok(Some(values));
        }
        let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &there.values };
        match pick(&mut self.cx, &mut self.rng, &wish) {
            PickedValues::Values(values) => Ok(Some(values)),
            PickedValues::Impossible => Ok(None),
            PickedValues::Unknown(why) => Err(PlayError::Undecided { switch: switch.label.to_string(), why }),
        }
    }

    /// Returns, in three of four cases, values of a message of another party after which the system has something to
    /// say.
    pub(super) fn leading_on(&mut self, id: SwitchId, there: &ConcreteState) -> Option<Vec<Value>> {
        if self.rng.random_ratio(1, 4) {
            return None;
        }
        let sts = self.cx.sts;
        let switch = &sts.switches[id];
        let next: Vec<SwitchId> = sts
            .switches_from(switch.target)
            .filter(|(_, next)| sts.kind_of(next) == GateKind::Output)
            .map(|(id, _)| id)
            .collect();
        let next = *next.choose(&mut self.rng)?;
        // Random values would seldom be what the system waits for, and it would be silent most of the time.
        let goes_on = self.possible_after(id, next);
        let guard = self.cx.pool.and([switch.guard, goes_on]);
        let wish = ValueRequest { gate: switch.gate, guard, state: &there.values };
        match pick(&mut self.cx, &mut self.rng, &wish) {
            PickedValues::Values(values) => Some(values),
            PickedValues::Impossible | PickedValues::Unknown(_) => None,
        }
    }

    /// The condition before `id` under which `next` can follow it.
    fn possible_after(&mut self, id: SwitchId, next: SwitchId) -> Term {
        let sts = self.cx.sts;
        let (switch, next) = (&sts.switches[id], &sts.switches[next]);
        let possible = can_react(&mut self.cx, next);
        let effect = switch_effect(self.cx.pool, switch);
        let possible = self.cx.pool.substitute(possible, &effect);
        eliminate(self.cx.pool, possible)
    }
}
