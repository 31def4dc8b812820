//! The belief in time: how long a system may stay silent, and when a message came.
//!
//! Sem(G) of 001 sec. 4 on the fly. A trace alternates messages and delays. A state may let time pass as
//! long as some output or internal step, or a message somebody else sends, is still possible at or after that
//! instant, or if it was quiescent when it was entered; a state that lets a deadline pass leaves
//! the belief. An input the tester holds back excuses nothing.
//!
//! *Tolerance.* A message is seen at most `latency` after it was sent, an input reaches the system at most
//! `latency` after it was given, and instants are read to within `resolution`. Then the true instant of a
//! message is a variable with bounds, clocks are differences of such variables, and instants no clock
//! mentions any more are projected away. Within twice the latency after an input, an output may have
//! been sent before the input arrived: both orders are believed.
//!
//! *Promises.* With no tolerance and known values nothing is asked of the solver but whether a
//! guard can hold later. A delay in parts means the same as in one piece. Wider tolerance never forbids
//! what a narrower one allows.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, State};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, LocId, Switch};
use ioxide_model::term::{Node, Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::Decision;

use super::{After, Belief, Forbidden, Next, Observed, concrete as known, explain, symbolic};
use crate::cx::Ctx;
use crate::instants::corners;
use crate::outputs::constants;
use crate::quiescence::{Quiescence, after_waiting, can_react, is_quiescent, quiescence};
use crate::state::{Path, Store, SymState};

/// States after internal steps at unknown instants; more is reported, never silently cut.
const MAX_STATES: usize = 200;

/// How far observed instants may be from the true ones, in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// The longest way of a message, to the system or from it.
    pub latency: Rational,
    /// How finely instants are read.
    pub resolution: Rational,
}

impl Default for Tolerance {
    /// Instants are observed exactly.
    fn default() -> Self {
        Self { latency: Rational::ZERO, resolution: Rational::ZERO }
    }
}

impl Tolerance {
    /// Instants are observed exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.latency.is_zero() && self.resolution.is_zero()
    }

    /// How late the end of a silence may be seen.
    fn lag(&self) -> Rational {
        self.latency.add(&self.resolution)
    }
}

/// What is known of time.
#[derive(Clone, Debug)]
pub(super) struct Time {
    tolerance: Tolerance,
    /// Seconds since the start, as observed.
    now: Rational,
    /// The belief just after the last message.
    entry: Belief,
    since: Instant,
    /// How many instants have a name.
    named: u32,
    /// When the instants with a name were observed.
    read: Vec<Rational>,
    late: Option<Box<Late>>,
}

/// When something happened.
#[derive(Clone, Debug)]
struct Instant {
    /// Seconds since the start: a number, or a variable with bounds in the paths of the belief.
    at: Term,
    latest: Rational,
}

/// An input that may still be on its way.
#[derive(Clone, Debug)]
struct Late {
    /// The monitor without it.
    before: After,
    input: Label,
    /// When it was given, as observed.
    given: Rational,
}

impl Time {
    pub(super) fn new(cx: &mut Ctx<'_>, tolerance: Tolerance, entry: Belief) -> Self {
        let at = cx.pool.value(Value::Real(Rational::ZERO));
        let since = Instant { at, latest: Rational::ZERO };
        Self { tolerance, now: Rational::ZERO, entry, since, named: 0, read: Vec::new(), late: None }
    }

    /// The bounds of the true instant of a message observed now.
    fn bounds(&self, is_given: bool) -> (Rational, Rational) {
        let (lag, resolution) = (self.tolerance.lag(), &self.tolerance.resolution);
        match is_given {
            true => (self.now.sub(resolution), self.now.add(&lag)),
            false => (self.now.sub(&lag), self.now.add(resolution)),
        }
    }
}

/// What a message makes of the belief.
struct Taken {
    /// The belief at the instant of the message.
    before: Belief,
    next: Next,
    since: Instant,
    named: u32,
}

impl After {
    /// Seconds since the start, as observed; `None` where there are no clocks.
    #[must_use]
    pub fn now(&self) -> Option<&Rational> {
        self.time.as_ref().map(|time| &time.now)
    }

    /// Time passes up to a message, which is judged together with its instant.
    pub fn pass(&mut self, cx: &mut Ctx<'_>, by: &Rational) {
        let Some(time) = &mut self.time else { return };
        time.now = time.now.add(by);
        let (is_known, to) = (time.now >= time.since.latest, time.now.clone());
        if self.belief == Belief::Unspecified || !is_known {
            return;
        }
        let to = cx.pool.value(Value::Real(to));
        let Some(time) = &self.time else { return };
        let (next, _) = elapsed(cx, time, to, None, &[]);
        self.doubts += next.doubts;
        self.truncated |= next.truncated;
        self.belief = next.belief;
    }

    /// A delay from now after which no guard changes any more by time alone, in seconds: whoever has waited so
    /// long in vain has seen what silence there is to see.
    pub fn horizon(&self, cx: &mut Ctx<'_>) -> Rational {
        let stores: Vec<(LocId, Substitution)> = match &self.belief {
            Belief::Concrete(states) => {
                states.iter().map(|state| (state.loc, constants(cx, state))).collect()
            }
            Belief::Symbolic(states) => states.iter().map(|state| self.nominal(cx, state)).collect(),
            Belief::Unspecified => Vec::new(),
        };
        let sts = cx.sts;
        let mut last = Rational::ZERO;
        for (loc, store) in stores {
            for (_, switch) in sts.switches_from(loc) {
                let guard = after_waiting(cx, switch.guard);
                let guard = cx.pool.substitute(guard, &store);
                let delay = cx.delay;
                last = last.max(corners(cx, delay, guard).pop().unwrap_or(Rational::ZERO));
            }
        }
        last.add(&Rational::ONE)
    }

    /// The values of `state` if every instant were the one observed.
    fn nominal(&self, cx: &mut Ctx<'_>, state: &SymState) -> (LocId, Substitution) {
        let nominal = self.read(cx);
        let value = |(var, term)| (var, cx.pool.substitute(term, &nominal));
        (state.loc, state.store.iter(cx.sts).map(value).collect())
    }

    /// When the instants with a name were observed.
    fn read(&self, cx: &mut Ctx<'_>) -> Substitution {
        let read = self.time.as_ref().map(|time| &time.read[..]).unwrap_or_default();
        let mut nominal = Substitution::new();
        for (number, instant) in (1..).zip(read) {
            let var = cx.pool.indexed(cx.instant, number);
            nominal.set(var, cx.pool.value(Value::Real(instant.clone())));
        }
        nominal
    }

    pub(super) fn observe_in_time(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
    ) -> Result<Observed, Box<Forbidden>> {
        let Some(time) = &mut self.time else { return Ok(Observed::Allowed) };
        if let Label::Delay(by) = label {
            time.now = time.now.add(by);
        }
        match label {
            _ if self.belief == Belief::Unspecified => Ok(Observed::Unspecified),
            Label::Delay(_) => self.wait(cx, label),
            Label::Quiescence => self.rest(cx, label),
            Label::Input(gate, _) if cx.sts.gates[*gate].kind == GateKind::Input => self.give(cx, label),
            Label::Input(..) | Label::Output(..) => self.see(cx, label),
        }
    }

    pub(super) fn accepts_in_time(&self, cx: &mut Ctx<'_>, label: &Label) -> bool {
        let taken = self.taken(cx, label);
        taken.is_some_and(|taken| taken.next.belief.size() != Some(0))
    }

    pub(super) fn join_in_time(&mut self, other: Option<Time>) {
        let (Some(mine), Some(theirs)) = (&mut self.time, other) else { return };
        if mine.since.at != theirs.since.at {
            self.belief = Belief::Unspecified;
            return;
        }
        let entry = std::mem::replace(&mut mine.entry, Belief::Unspecified);
        mine.entry = entry.joined(theirs.entry);
        mine.since.latest = mine.since.latest.clone().max(theirs.since.latest);
        mine.named = mine.named.max(theirs.named);
    }

    /// Nothing was seen for a while.
    fn wait(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        let Some(time) = &self.time else { return Ok(Observed::Allowed) };
        if time.now < time.since.latest {
            return Ok(Observed::Allowed);
        }
        let silent = time.now.sub(&time.tolerance.lag());
        let silent = (silent >= time.since.latest).then_some(silent);
        let to = cx.pool.value(Value::Real(time.now.clone()));
        let (next, _) = elapsed(cx, time, to, silent.as_ref(), &[]);
        self.doubts += next.doubts;
        self.truncated |= next.truncated;
        if next.belief.size() != Some(0) {
            self.belief = next.belief;
            return Ok(Observed::Allowed);
        }
        self.nothing_left(cx, label)
    }

    /// Silence for good.
    fn rest(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        let Some(time) = &mut self.time else { return Ok(Observed::Allowed) };
        let next = by_label(cx, &time.entry, label);
        self.doubts += next.doubts;
        if next.belief.size() != Some(0) {
            time.entry = next.belief;
            let still = Label::Delay(Rational::ZERO);
            return self.wait(cx, &still);
        }
        self.nothing_left(cx, label)
    }

    /// The tester gave an input: it is never forbidden.
    fn give(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        let before = self.clone();
        let observed = self.see(cx, label)?;
        let Some(time) = &mut self.time else { return Ok(observed) };
        if !time.tolerance.is_exact() && observed == Observed::Allowed {
            time.late = Some(Box::new(Late { before, input: label.clone(), given: time.now.clone() }));
        }
        Ok(observed)
    }

    /// A message: given, or seen.
    fn see(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        let other = self.in_other_order(cx, label);
        let Some(taken) = self.taken(cx, label) else { return Ok(Observed::Unspecified) };
        self.doubts += taken.next.doubts;
        self.truncated |= taken.next.truncated;
        if taken.next.belief.size() != Some(0) {
            self.enter(cx, taken);
            if let Some(other) = other {
                self.join(other);
            }
            return Ok(Observed::Allowed);
        }
        if let Some(mut other) = other {
            let late = self.time.as_mut().and_then(|time| time.late.take());
            if let Some(time) = &mut other.time {
                time.late = late;
            }
            *self = other;
            return Ok(Observed::Allowed);
        }
        if self.truncated || matches!(label, Label::Input(..)) {
            self.belief = Belief::Unspecified;
            return Ok(Observed::Unspecified);
        }
        let Some(time) = &self.time else { return Ok(Observed::Allowed) };
        let entry = time.entry.clone();
        let now = cx.pool.value(Value::Real(time.now.clone()));
        let mut read = self.read(cx);
        for var in cx.pool.free_vars(taken.since.at) {
            read.set(var, now);
        }
        let forbidden = explain::forbidden(cx, &entry, &taken.before, label);
        Err(Box::new(as_read(cx, forbidden, &read)))
    }

    /// No state is left after `label`, which is not a message.
    fn nothing_left(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Result<Observed, Box<Forbidden>> {
        if self.truncated {
            self.belief = Belief::Unspecified;
            return Ok(Observed::Unspecified);
        }
        let Some(time) = &self.time else { return Ok(Observed::Allowed) };
        if time.is_race_open() {
            return Ok(Observed::Allowed);
        }
        let entry = time.entry.clone();
        let read = self.read(cx);
        let forbidden = explain::forbidden(cx, &entry, &entry, label);
        Err(Box::new(as_read(cx, forbidden, &read)))
    }

    /// What the message makes of the belief; `None` where the specification says nothing any more.
    fn taken(&self, cx: &mut Ctx<'_>, label: &Label) -> Option<Taken> {
        let time = self.time.as_ref()?;
        if self.belief == Belief::Unspecified {
            return None;
        }
        let is_given = match label {
            Label::Input(gate, _) => cx.sts.gates[*gate].kind == GateKind::Input,
            Label::Output(..) | Label::Quiescence | Label::Delay(_) => false,
        };
        let (earliest, latest) = time.bounds(is_given);
        let (since, facts, named) = instant(cx, time, earliest, latest);
        let (arrived, named_on_the_way) = elapsed(cx, time, since.at, None, &facts);
        let named = named.max(named_on_the_way);
        let mut next = by_label(cx, &arrived.belief, label);
        next.doubts += arrived.doubts;
        next.truncated |= arrived.truncated;
        Some(Taken { before: arrived.belief, next, since, named })
    }

    /// Makes what a message led to the belief.
    fn enter(&mut self, cx: &mut Ctx<'_>, taken: Taken) {
        self.belief = projected(cx, taken.next.belief, taken.since.at);
        self.close(cx);
        let Some(time) = &mut self.time else { return };
        time.entry = self.belief.clone();
        time.since = taken.since;
        time.named = taken.named;
        let now = time.now.clone();
        let named = usize::try_from(taken.named).unwrap_or(usize::MAX);
        if time.read.len() < named {
            time.read.resize(named, now);
        }
    }

    /// The monitor if `label` was sent before the last input arrived.
    fn in_other_order(&mut self, cx: &mut Ctx<'_>, label: &Label) -> Option<Self> {
        let time = self.time.as_mut()?;
        let is_open = time.is_race_open();
        let mut late = time.late.take().filter(|_| is_open && !matches!(label, Label::Input(..)))?;
        let now = time.now.clone();
        let given = late.before.time.as_mut()?;
        given.now = now.clone();
        late.before.see(cx, label).ok()?;
        let mut other = late.before.clone();
        // The input keeps the instant at which it was given.
        other.time.as_mut()?.now = late.given.clone();
        let taken = other.taken(cx, &late.input)?;
        let possible = taken.next.belief.size() != Some(0);
        other.enter(cx, taken);
        other.time.as_mut()?.now = now;
        self.time.as_mut()?.late = Some(late);
        possible.then_some(other)
    }
}

impl Time {
    /// Whether an output seen now may have been sent before the last input arrived.
    fn is_race_open(&self) -> bool {
        let lag = self.tolerance.lag();
        let window = lag.add(&lag);
        self.late.as_ref().is_some_and(|late| self.now <= late.given.add(&window))
    }
}

/// An instant within bounds, not before the last one: a number if it is exact, else a new variable.
fn instant(cx: &mut Ctx<'_>, time: &Time, earliest: Rational, latest: Rational) -> (Instant, Vec<Term>, u32) {
    if time.tolerance.is_exact() {
        let at = cx.pool.value(Value::Real(latest.clone()));
        return (Instant { at, latest }, Vec::new(), time.named);
    }
    let named = time.named + 1;
    let var = cx.pool.indexed(cx.instant, named);
    let at = cx.pool.var(var);
    let (low, high) = (cx.pool.value(Value::Real(earliest)), cx.pool.value(Value::Real(latest.clone())));
    let facts = vec![cx.pool.le(low, at), cx.pool.le(at, high), cx.pool.le(time.since.at, at)];
    (Instant { at, latest }, facts, named)
}

/// The states after `label`, of whichever kind the belief is.
fn by_label(cx: &mut Ctx<'_>, belief: &Belief, label: &Label) -> Next {
    match belief {
        Belief::Concrete(states) => known::after(cx, states, label),
        Belief::Symbolic(states) => symbolic::after(cx, states, label),
        Belief::Unspecified => Next { belief: Belief::Unspecified, doubts: 0, truncated: false },
    }
}

/// The belief at the instant `to`: nothing was seen since the last message, and until `silent` the
/// system sent nothing. Also how many instants have a name then.
fn elapsed(
    cx: &mut Ctx<'_>,
    time: &Time,
    to: Term,
    silent: Option<&Rational>,
    facts: &[Term],
) -> (Next, u32) {
    let has_tau = cx.sts.switches.iter().any(|switch| cx.sts.kind_of(switch) == GateKind::Internal);
    let exact = (number(cx, time.since.at), number(cx, to));
    if let (Belief::Concrete(states), (Some(since), Some(to)), false) = (&time.entry, exact, has_tau) {
        let silent = silent.map(|silent| silent.sub(&since));
        return (elapsed_concrete(cx, states, &to.sub(&since), silent.as_ref()), time.named);
    }
    let entry = match &time.entry {
        Belief::Concrete(states) => states.iter().filter_map(|state| SymState::at(cx, state)).collect(),
        Belief::Symbolic(states) => states.clone(),
        Belief::Unspecified => {
            return (by_label(cx, &Belief::Unspecified, &Label::Quiescence), time.named);
        }
    };
    let silent = silent.map(|silent| cx.pool.value(Value::Real(silent.clone())));
    let mut span = Span { to, silent, named: time.named + 1, has_tau };
    let next = span.elapsed(cx, entry, time.since.at, facts);
    (next, span.named)
}

fn number(cx: &Ctx<'_>, term: Term) -> Option<Rational> {
    cx.pool.as_value(term).and_then(Value::as_real).cloned()
}

/// Exact instants, known values: clocks advance, and whoever missed a deadline is gone.
fn elapsed_concrete(
    cx: &mut Ctx<'_>,
    states: &BTreeSet<State>,
    waited: &Rational,
    silent: Option<&Rational>,
) -> Next {
    let mut next = BTreeSet::new();
    let mut doubts = 0;
    for state in states {
        let later = concrete::delayed(cx.sts, state, waited);
        let may_wait = match silent {
            Some(silent) if !silent.is_zero() => {
                let then = concrete::delayed(cx.sts, state, silent);
                may_wait(cx, state, &then)
            }
            _ => Decision::Sat,
        };
        match may_wait {
            Decision::Unsat => continue,
            Decision::Sat => (),
            Decision::Unknown(_) => doubts += 1,
        }
        next.insert(later);
    }
    Next { belief: Belief::Concrete(next), doubts, truncated: false }
}

/// Whether `state` may let time pass until it is `later`.
fn may_wait(cx: &mut Ctx<'_>, state: &State, later: &State) -> Decision {
    let mut doubt = None;
    let known = constants(cx, later);
    let sts = cx.sts;
    for (_, switch) in sts.switches_from(state.loc) {
        if !ends_silence(sts.kind_of(switch)) {
            continue;
        }
        let possible = can_still(cx, switch, &known);
        match possible {
            Decision::Sat => return Decision::Sat,
            Decision::Unsat => (),
            Decision::Unknown(why) => doubt = Some(why),
        }
    }
    match (is_quiescent(cx, state), doubt) {
        (Quiescence::Quiet, _) => Decision::Sat,
        (Quiescence::Active, None) => Decision::Unsat,
        (Quiescence::Unknown(why), _) | (Quiescence::Active, Some(why)) => Decision::Unknown(why),
    }
}

/// Whether a message of this kind, still to come, excuses silence.
fn ends_silence(kind: GateKind) -> bool {
    kind != GateKind::Input
}

/// Whether `switch` can be taken now or later, where variables and clocks are `known`.
fn can_still(cx: &mut Ctx<'_>, switch: &Switch, known: &Substitution) -> Decision {
    let possible = can_react(cx, switch);
    let possible = cx.pool.substitute(possible, known);
    match cx.pool.holds(possible, &Valuation::new()) {
        Ok(true) => Decision::Sat,
        Ok(false) => Decision::Unsat,
        Err(_) => cx.decide(&[possible]),
    }
}

/// Time that passes for symbolic states.
struct Span {
    to: Term,
    /// Until when the system sent nothing.
    silent: Option<Term>,
    /// How many instants have a name.
    named: u32,
    has_tau: bool,
}

impl Span {
    /// The states at the end, internal steps at any instants on the way included.
    fn elapsed(&mut self, cx: &mut Ctx<'_>, entry: Vec<SymState>, since: Term, facts: &[Term]) -> Next {
        let mut keep = symbolic::Keep::default();
        let fact = cx.pool.and(facts.iter().copied());
        let with_fact = |state: SymState| SymState { path: state.path.with(cx, fact), ..state };
        let mut todo: Vec<(SymState, Term)> =
            entry.into_iter().map(with_fact).map(|state| (state, since)).collect();
        let mut seen = todo.len();
        while let Some((state, since)) = todo.pop() {
            let arrived = self.arrived(cx, &state, since);
            keep.offer(cx, arrived);
            for next in self.internal(cx, &state, since) {
                seen += 1;
                if seen > MAX_STATES {
                    return keep.into_next(cx, true);
                }
                todo.push(next);
            }
        }
        keep.into_next(cx, false)
    }

    /// `state`, entered at `since`, at the end.
    fn arrived(&self, cx: &mut Ctx<'_>, state: &SymState, since: Term) -> SymState {
        let mut arrived = delayed(cx, state, since, self.to);
        if let Some(silent) = self.silent {
            let excuse = excuse(cx, state, since, silent);
            arrived.path = arrived.path.with(cx, excuse);
        }
        arrived
    }

    /// The states entered by internal steps from `state`, with the instants of the steps.
    fn internal(&mut self, cx: &mut Ctx<'_>, state: &SymState, since: Term) -> Vec<(SymState, Term)> {
        let sts = cx.sts;
        let mut found = Vec::new();
        if !self.has_tau {
            return found;
        }
        for (_, switch) in sts.switches_from(state.loc) {
            if sts.kind_of(switch) != GateKind::Internal {
                continue;
            }
            self.named += 1;
            let var = cx.pool.indexed(cx.instant, self.named);
            let at = cx.pool.var(var);
            let (after, before) = (cx.pool.le(since, at), cx.pool.le(at, self.to));
            let mut there = delayed(cx, state, since, at);
            there.path = there.path.with(cx, after).with(cx, before);
            let Some(next) = symbolic::taken(cx, &there, switch, &[]) else { continue };
            if cx.decide(next.path.facts()) != Decision::Unsat {
                found.push((next, at));
            }
        }
        found
    }
}

/// `state` with its clocks advanced from one instant to another.
fn delayed(cx: &mut Ctx<'_>, state: &SymState, from: Term, to: Term) -> SymState {
    let waited = cx.pool.sub(to, from);
    symbolic::delayed(cx, state, waited)
}

/// The condition under which `state`, entered at `since`, may have sent nothing until `silent`.
fn excuse(cx: &mut Ctx<'_>, state: &SymState, since: Term, silent: Term) -> Term {
    let sts = cx.sts;
    let entered = state.store.substitution(sts);
    let quiet = quiescence(cx, state.loc);
    let quiet = cx.pool.substitute(quiet, &entered);
    let later = delayed(cx, state, since, silent).store.substitution(sts);
    let mut excuses = vec![cx.pool.le(silent, since), quiet];
    for (_, switch) in sts.switches_from(state.loc) {
        if ends_silence(sts.kind_of(switch)) {
            let possible = can_react(cx, switch);
            excuses.push(cx.pool.substitute(possible, &later));
        }
    }
    let excuse = cx.pool.or(excuses);
    eliminate(cx.pool, excuse)
}

/// The belief with the instants projected away that no clock mentions and that are not `since`.
fn projected(cx: &mut Ctx<'_>, belief: Belief, since: Term) -> Belief {
    let Belief::Symbolic(states) = belief else { return belief };
    Belief::Symbolic(states.into_iter().map(|state| projected_state(cx, state, since)).collect())
}

fn projected_state(cx: &mut Ctx<'_>, state: SymState, since: Term) -> SymState {
    let mut kept = cx.pool.free_vars_of(state.store.terms());
    kept.extend(cx.pool.free_vars(since));
    let mut gone: Vec<VarId> = cx.pool.free_vars_of(state.path.facts());
    gone.retain(|&var| !kept.contains(&var) && is_instant(cx, var));
    if gone.is_empty() {
        return state;
    }
    let all = cx.pool.and(state.path.facts().iter().copied());
    let some = cx.pool.exists(&gone, all);
    let some = eliminate(cx.pool, some);
    if cx.pool.has_quantifier(some) {
        return state;
    }
    let path = tightest(cx, &Path::default().with(cx, some));
    SymState { store: Store::new(state.store.terms().to_vec()), path, ..state }
}

/// `forbidden` for people: instants are those observed, and their bounds are left out.
fn as_read(cx: &mut Ctx<'_>, mut forbidden: Forbidden, read: &Substitution) -> Forbidden {
    if let Belief::Symbolic(states) = &mut forbidden.before {
        for state in states {
            let terms = state.store.terms().to_vec();
            state.store = Store::new(terms.into_iter().map(|term| cx.pool.substitute(term, read)).collect());
            let facts = state.path.facts().to_vec();
            let is_plain = |fact: &Term| !cx.pool.free_vars(*fact).iter().any(|&var| read.get(var).is_some());
            state.path = facts.into_iter().filter(is_plain).collect();
        }
    }
    for offer in &mut forbidden.allowed {
        offer.when = cx.pool.substitute(offer.when, read);
    }
    forbidden
}

/// Whether `var` is a numbered instant.
fn is_instant(cx: &mut Ctx<'_>, var: VarId) -> bool {
    let name = &cx.pool.var_info(var).name;
    let number = name.rsplit('@').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| cx.pool.indexed(cx.instant, number) == var)
}

/// `path` with only the tightest of several bounds on the same difference.
fn tightest(cx: &mut Ctx<'_>, path: &Path) -> Path {
    let mut bounds: Vec<(Term, Bound)> = Vec::new();
    let mut others = Vec::new();
    for &fact in path.facts() {
        let Some((difference, bound)) = bound(cx, fact) else {
            others.push(fact);
            continue;
        };
        match bounds.iter_mut().find(|(other, _)| *other == difference) {
            Some((_, known)) if *known >= bound => (),
            Some((_, known)) => *known = bound,
            None => bounds.push((difference, bound)),
        }
    }
    others.into_iter().chain(bounds.into_iter().map(|(_, bound)| bound.fact)).collect()
}

/// How tight a bound is: the higher, the tighter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bound {
    /// The constant `c` of `difference + c <= 0`.
    offset: Rational,
    is_strict: bool,
    fact: Term,
}

/// `fact` as a bound on a difference without constant part.
fn bound(cx: &mut Ctx<'_>, fact: Term) -> Option<(Term, Bound)> {
    let (a, b, is_strict) = match *cx.pool.node(fact) {
        Node::Le(a, b) => (a, b, false),
        Node::Lt(a, b) => (a, b, true),
        _ => return None,
    };
    let sum = cx.pool.sub(a, b);
    let vars = cx.pool.free_vars(sum);
    let mut zeros = Valuation::new();
    for var in vars {
        if cx.pool.var_info(var).sort != Sort::Real {
            return None;
        }
        zeros.set(var, Value::Real(Rational::ZERO));
    }
    let offset = cx.pool.eval(sum, &zeros).ok()?.as_real()?.clone();
    let constant = cx.pool.value(Value::Real(offset.clone()));
    let difference = cx.pool.sub(sum, constant);
    Some((difference, Bound { offset, is_strict, fact }))
}
