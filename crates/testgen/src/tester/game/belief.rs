//! The beliefs of a game: the sets of states that a run may be in, as the tester observes it.
//!
//! The tester knows the messages of a run and their instants, and nothing else: neither start values that the model
//! leaves open, nor which of several transitions a message took, nor internal steps. So it plays on sets of states.
//! Internal steps may happen at any instant; a set is closed under those that are possible now. They must not reset
//! clocks: then every clock counts from the instant of a message, and the clocks of all states of a set are those of
//! one timed automaton (see [`regions`](super::regions)).
//!
//! *Time.* As for the monitor (\[BLLN23] Def. 3), a state may let time pass if it was quiescent when it was entered, or
//! if an output, an internal step or an observed input is possible at or after that instant. Everything is decided by
//! evaluation; where that is not possible, the state is not explored.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::index::IndexVec;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, LiveVars};

use super::NoGame;
use super::arena::GameArena;
use super::regions::ClockRegions;
use crate::conform::explicit::offer::MessageList;

/// The number of initial states above which unknown start values are not listed. Chosen by feel: a belief has one
/// state for each at first.
const MAX_STARTS: usize = 1_000;
/// The greatest number of states of a belief. Chosen by feel.
const MAX_STATES: usize = 2_000;

/// A state that the run may be in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BeliefState {
    state: ConcreteState,
    /// True if it meets the goal now.
    is_goal: bool,
    /// True if it was quiescent when it was entered: it may wait for ever.
    is_rested: bool,
}

/// The states that the run may be in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GameBelief(BTreeSet<BeliefState>);

/// The reason why moves were not computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BeliefStop {
    /// Something cannot be evaluated, or a belief has too many states.
    Impossible,
    /// The work that was allowed is done.
    Limit,
}

/// The steps that a state can still make without an input of the tester, now or later.
#[derive(Clone, Copy, Debug, Default)]
struct StateProspects {
    /// An output or an internal step is possible.
    acts: bool,
    /// One of these, or an observed input, is possible.
    reacts: bool,
}

/// The messages of every switch.
type SwitchMessages = IndexVec<SwitchId, Option<MessageList>>;

/// An input, and the belief after it.
pub(super) struct BeliefInput {
    pub(super) label: Label,
    pub(super) belief: GameBelief,
    /// The share of the states that accept it.
    pub(super) share: f64,
}

/// A system and a goal in it, with the moves of tester and system from every belief.
#[derive(Clone, Debug)]
pub(super) struct BeliefArena {
    sts: Arc<Sts>,
    /// The moves of the observer on silence.
    silences: Vec<Switch>,
    location: Option<LocId>,
    when: Term,
    regions: ClockRegions,
    live: LiveVars,
    messages: SwitchMessages,
    /// True if every input is tried with all its values.
    pub(super) lists_inputs: bool,
    prospects: FxHashMap<ConcreteState, StateProspects>,
    /// The number of messages that were tried.
    pub(super) spent: usize,
    /// The number of messages that may be tried.
    pub(super) limit: usize,
}

impl GameBelief {
    /// Returns whether no run of the model is like this one.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether all states meet the goal.
    pub(super) fn is_met(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|member| member.is_goal)
    }

    fn values(&self) -> impl Iterator<Item = &Valuation> {
        self.0.iter().map(|member| &member.state.values)
    }
}

impl BeliefArena {
    /// Makes the arena for beliefs of the goal of `arena`.
    ///
    /// # Errors
    /// If the values of a model cannot be listed, or its clocks cannot be followed.
    pub(super) fn new(cx: &mut Ctx<'_>, arena: &GameArena) -> Result<Self, NoGame> {
        let sts = arena.base_system();
        let silences: Vec<Switch> = arena.silence_switches().cloned().collect();
        if sts.is_timed() && !silences.is_empty() {
            return Err(NoGame::TimedSilence);
        }
        let when = arena.goal_condition();
        let regions = ClockRegions::new(cx, sts, when)?;
        let mut read = cx.pool.free_vars(when);
        for switch in &silences {
            read.extend(cx.pool.free_vars(switch.guard));
            read.extend(switch.update.iter().flat_map(|(_, term)| cx.pool.free_vars(*term)));
        }
        let live = LiveVars::compute(cx.pool, sts, &read);
        let hidden = |switch: &&Switch| {
            sts.kind_of(switch) == GateKind::Internal
                && switch.resets.iter().any(|&clock| live.is_live(switch.target, clock))
        };
        if let Some(switch) = sts.switches.iter().find(hidden) {
            return Err(NoGame::HiddenReset(switch.label.to_string()));
        }
        let (messages, lists_inputs) = list_messages(cx, sts)?;
        let made = Self {
            sts: sts.clone(),
            silences,
            location: arena.goal_location(),
            when,
            regions,
            live,
            messages,
            lists_inputs,
            prospects: FxHashMap::default(),
            spent: 0,
            limit: 0,
        };
        made.start_values(cx.pool)?;
        Ok(made)
    }

    /// Returns whether time passes.
    pub(super) fn is_timed(&self) -> bool {
        self.sts.is_timed()
    }

    /// Returns every valuation of the variables at the start.
    fn start_values(&self, pool: &TermPool) -> Result<Vec<Valuation>, NoGame> {
        let mut all = vec![Valuation::new()];
        for var in &self.sts.vars {
            let info = pool.var_info(var.var);
            let refused = || NoGame::StartValue(info.name.to_string());
            let values = match var.init {
                Some(term) => vec![pool.eval(term, &Valuation::new()).map_err(|_| refused())?],
                None => pool.finite_domain(info.sort).ok_or_else(refused)?,
            };
            if all.len().saturating_mul(values.len()) > MAX_STARTS {
                return Err(refused());
            }
            let with = |known: &Valuation, value: &Value| {
                let mut next = known.clone();
                next.set(var.var, value.clone());
                next
            };
            all = all.iter().flat_map(|known| values.iter().map(move |value| with(known, value))).collect();
        }
        for values in &mut all {
            self.regions.vars().for_each(|clock| values.set(clock, Value::Real(Rational::ZERO)));
        }
        Ok(all)
    }

    /// Returns the belief at the start.
    pub(super) fn start(&mut self, pool: &TermPool) -> Result<GameBelief, BeliefStop> {
        let all = self.start_values(pool).map_err(|_| BeliefStop::Impossible)?;
        let loc = self.sts.initial;
        let states = all.into_iter().map(|values| ConcreteState { loc, values });
        self.close(pool, states.collect())
    }

    /// Returns the representative of the region of `belief`.
    pub(super) fn settle(&self, belief: &GameBelief) -> GameBelief {
        let mut all: Vec<Valuation> = belief.values().cloned().collect();
        self.regions.settle(&mut all);
        let settled = belief.0.iter().zip(all).map(|(member, values)| {
            let state = ConcreteState { loc: member.state.loc, values };
            BeliefState { state, ..*member }
        });
        GameBelief(settled.collect())
    }

    /// Returns the seconds after which a guard may change in `belief`; `None` if never.
    pub(super) fn until_change(&self, belief: &GameBelief) -> Option<Rational> {
        self.regions.until_change(belief.values())
    }

    /// Returns the belief after `by` seconds without a message, in which no guard changes before their end.
    pub(super) fn wait(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
        by: &Rational,
    ) -> Result<GameBelief, BeliefStop> {
        let mut later = Vec::new();
        for member in &belief.0 {
            let state = concrete::advance_clocks(&self.sts, &member.state, by);
            if member.is_rested || self.prospects(pool, &state)?.reacts {
                // A state that waits was entered before: it keeps what it may do.
                let is_goal = self.is_goal(pool, &state)?;
                later.push(BeliefState { state, is_goal, is_rested: member.is_rested });
            }
        }
        self.close_members(pool, later.into_iter().collect())
    }

    /// Returns the belief after silence for ever, in a model without clocks.
    pub(super) fn after_silence(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
    ) -> Result<GameBelief, BeliefStop> {
        let mut quiet = Vec::new();
        for member in belief.0.iter().filter(|member| member.is_rested) {
            quiet.push(self.observe_silence(pool, &member.state)?);
        }
        self.close(pool, quiet)
    }

    /// Returns `state` after the observer's move on silence, if it has one.
    fn observe_silence(&self, pool: &TermPool, state: &ConcreteState) -> Result<ConcreteState, BeliefStop> {
        for switch in self.silences.iter().filter(|switch| switch.source == state.loc) {
            if pool.holds(switch.guard, &state.values).map_err(|_| BeliefStop::Impossible)? {
                let after = concrete::successor(pool, &self.sts, state, switch, &[]);
                return after.map_err(|_| BeliefStop::Impossible);
            }
        }
        Ok(state.clone())
    }

    /// Returns the belief after a message, and the share of the states of `belief` that have it.
    pub(super) fn after_message(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
        label: &Label,
    ) -> Result<(GameBelief, f64), BeliefStop> {
        let (mut next, mut accepting) = (Vec::new(), 0usize);
        for member in &belief.0 {
            self.count_work()?;
            let after = concrete::successors(pool, &self.sts, &member.state, label);
            let after = after.map_err(|_| BeliefStop::Impossible)?;
            accepting += usize::from(!after.is_empty());
            next.extend(after.into_iter().map(|successor| successor.state));
        }
        let share = accepting as f64 / belief.0.len().max(1) as f64;
        Ok((self.close(pool, next)?, share))
    }

    /// Returns the inputs that some state of `belief` accepts now.
    pub(super) fn inputs(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
    ) -> Result<Vec<BeliefInput>, BeliefStop> {
        let mut found = Vec::new();
        for label in self.labels(pool, belief, |kind| kind == GateKind::Input)? {
            let (belief, share) = self.after_message(pool, belief, &label)?;
            found.push(BeliefInput { label, belief, share });
        }
        Ok(found)
    }

    /// Returns the messages that the system may send or observe now, each with the belief after it.
    pub(super) fn system_moves(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
    ) -> Result<Vec<(Label, GameBelief)>, BeliefStop> {
        let is_systems = |kind: GateKind| matches!(kind, GateKind::Output | GateKind::Observed);
        let mut found = Vec::new();
        for label in self.labels(pool, belief, is_systems)? {
            let (belief, _) = self.after_message(pool, belief, &label)?;
            found.push((label, belief));
        }
        Ok(found)
    }

    /// Returns the messages of some kinds that are possible now in some state of `belief`.
    fn labels(
        &mut self,
        pool: &TermPool,
        belief: &GameBelief,
        is_wanted: fn(GateKind) -> bool,
    ) -> Result<BTreeSet<Label>, BeliefStop> {
        let sts = self.sts.clone();
        let mut labels = BTreeSet::new();
        for member in &belief.0 {
            for (id, values) in self.enabled(pool, &member.state, is_wanted)? {
                labels.extend(Label::message(&sts, sts.switches[id].gate, values));
            }
        }
        Ok(labels)
    }

    /// Returns the switches of some kinds that can be taken in `state`, with the values of their messages.
    fn enabled(
        &mut self,
        pool: &TermPool,
        state: &ConcreteState,
        is_wanted: fn(GateKind) -> bool,
    ) -> Result<Vec<(SwitchId, Vec<Value>)>, BeliefStop> {
        let sts = self.sts.clone();
        let mut found = Vec::new();
        for (id, switch) in sts.switches_from(state.loc) {
            if !is_wanted(sts.kind_of(switch)) {
                continue;
            }
            let list = self.messages[id].as_ref().ok_or(BeliefStop::Impossible)?;
            let messages = list.in_state(pool, state, |_| None).ok_or(BeliefStop::Impossible)?;
            for values in messages {
                self.count_work()?;
                let is_enabled = concrete::is_enabled(pool, &sts, state, switch, &values);
                if is_enabled.map_err(|_| BeliefStop::Impossible)? {
                    found.push((id, values));
                }
            }
        }
        Ok(found)
    }

    /// Returns what `state` can still do without an input of the tester.
    fn prospects(&mut self, pool: &TermPool, state: &ConcreteState) -> Result<StateProspects, BeliefStop> {
        let (mut path, mut later) = (Vec::new(), StateProspects::default());
        let mut next = Some(self.settle_state(state.clone()));
        // Forwards until it is known or nothing changes any more, then backwards: what is possible later is possible
        // before.
        while let Some(state) = next {
            if let Some(&known) = self.prospects.get(&state) {
                later = known;
                break;
            }
            let change = self.regions.until_change([&state.values].into_iter());
            next = change.map(|by| self.settle_state(concrete::advance_clocks(&self.sts, &state, &by)));
            path.push(state);
        }
        while let Some(state) = path.pop() {
            let acts = |kind: GateKind| matches!(kind, GateKind::Output | GateKind::Internal);
            later.acts |= !self.enabled(pool, &state, acts)?.is_empty();
            later.reacts |=
                later.acts || !self.enabled(pool, &state, |kind| kind == GateKind::Observed)?.is_empty();
            self.prospects.insert(state, later);
        }
        Ok(later)
    }

    fn settle_state(&self, state: ConcreteState) -> ConcreteState {
        let mut values = [state.values];
        self.regions.settle(&mut values);
        let [values] = values;
        ConcreteState { loc: state.loc, values }
    }

    /// Returns the belief of states that were entered now.
    fn close(&mut self, pool: &TermPool, entered: Vec<ConcreteState>) -> Result<GameBelief, BeliefStop> {
        let mut members = BTreeSet::new();
        for state in entered {
            members.insert(self.enter(pool, state)?);
        }
        self.close_members(pool, members)
    }

    /// Returns `members` with the states that internal steps lead to now.
    fn close_members(
        &mut self,
        pool: &TermPool,
        mut members: BTreeSet<BeliefState>,
    ) -> Result<GameBelief, BeliefStop> {
        let mut open: Vec<BeliefState> = members.iter().cloned().collect();
        while let Some(member) = open.pop() {
            if members.len() > MAX_STATES {
                return Err(BeliefStop::Impossible);
            }
            self.count_work()?;
            let next = concrete::internal_successors(pool, &self.sts, &member.state);
            for successor in next.map_err(|_| BeliefStop::Impossible)? {
                let entered = self.enter(pool, successor.state)?;
                if members.insert(entered.clone()) {
                    open.push(entered);
                }
            }
        }
        Ok(GameBelief(members))
    }

    /// Returns `state` as one that is entered now; values that cannot matter are forgotten.
    fn enter(&mut self, pool: &TermPool, mut state: ConcreteState) -> Result<BeliefState, BeliefStop> {
        let is_goal = self.is_goal(pool, &state)?;
        for var in &self.sts.vars {
            if !self.live.is_live(state.loc, var.var) {
                state.values.set(var.var, pool.default_value(pool.var_info(var.var).sort));
            }
        }
        for clock in &self.sts.clocks {
            if !self.live.is_live(state.loc, clock.var) {
                self.regions.set_beyond(clock.var, &mut state.values);
            }
        }
        let is_rested = !self.prospects(pool, &state)?.acts;
        Ok(BeliefState { state, is_goal, is_rested })
    }

    fn is_goal(&self, pool: &TermPool, state: &ConcreteState) -> Result<bool, BeliefStop> {
        if self.location.is_some_and(|location| location != state.loc) {
            return Ok(false);
        }
        pool.holds(self.when, &state.values).map_err(|_| BeliefStop::Impossible)
    }

    /// Counts one message that is tried.
    fn count_work(&mut self) -> Result<(), BeliefStop> {
        self.spent += 1;
        if self.spent > self.limit { Err(BeliefStop::Limit) } else { Ok(()) }
    }
}

/// Returns the messages of every switch, and whether all of each input are among them.
fn list_messages(cx: &Ctx<'_>, sts: &Sts) -> Result<(SwitchMessages, bool), NoGame> {
    let (mut found, mut is_all) = (IndexVec::new(), true);
    for switch in &sts.switches {
        let list = MessageList::new(cx.pool, sts, switch, &[]);
        let list = match (list, sts.kind_of(switch)) {
            // The tester chooses the values of inputs, so a few are enough for a strategy; to say that there is none
            // takes all.
            (None, GateKind::Input) => {
                is_all = false;
                MessageList::sampled(cx.pool, sts, switch, &[])
            }
            (list, _) => list,
        };
        if list.is_none() {
            return Err(NoGame::Values(sts.gates[switch.gate].name.to_string()));
        }
        found.push(list);
    }
    Ok((found, is_all))
}
