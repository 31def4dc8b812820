//! TorXakis models against a second opinion: an interpreter of closed behaviours by structural operational semantics,
//! with values substituted into terms, as the textbooks write it. Random behaviours, also with communications on
//! several channels at once, some of them hidden, and with exits; random traces: in every state set the same labels are
//! possible, and silence is possible in the same ones.

mod generator;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::common::torxakis::{Action, label};
use crate::common::{load_text, render};
use ioxide_model::code::Code;
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::sts::Model;
use ioxide_test_support::test_count;

use self::generator::{Dice, plan};
use self::text::whole_text;

/// Numbers on channels.
const NUMBERS: [i64; 4] = [0, 1, 2, 3];
/// Larger sets of states are not compared.
const MAX_STATES: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Int,
    Bool,
}

impl Sort {
    fn name(self) -> &'static str {
        if self == Self::Int { "Int" } else { "Bool" }
    }

    fn values(self) -> &'static [i64] {
        if self == Self::Int { &NUMBERS } else { &NUMBERS[..2] }
    }
}

/// Between the names of the channels of one communication.
const JOINT: char = '_';

/// The channels of every model: inputs, then outputs.
const CHANNELS: [(&str, &[Sort], bool); 5] = [
    ("A", &[Sort::Int], true),
    ("B", &[Sort::Bool], true),
    ("C", &[], false),
    ("D", &[Sort::Int, Sort::Bool], false),
    ("E", &[Sort::Int], false),
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Num {
    Lit(i64),
    Var(String),
    /// `(a + b) % 3`
    Sum(Box<Num>, Box<Num>),
    /// `IF c THEN a ELSE b FI`
    If(Box<Cond>, Box<Num>, Box<Num>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cond {
    Lit(i64),
    Var(String),
    Less(Box<Num>, Box<Num>),
    Same(Box<Num>, Box<Num>),
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Val {
    Num(Num),
    Cond(Cond),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Off {
    Take(String, Sort),
    Give(Val),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beh {
    Stop,
    /// Channels, `EXIT` and `ISTEP`, all at once.
    Act(Vec<(String, Vec<Off>)>, Option<Cond>, Box<Beh>),
    Guard(Cond, Box<Beh>),
    Choice(Box<Beh>, Box<Beh>),
    /// On these channels; on all if none.
    Par(Option<Vec<String>>, Box<Beh>, Box<Beh>),
    Enable(Box<Beh>, Vec<Off>, Box<Beh>),
    Disable(Box<Beh>, Box<Beh>),
    Interrupt(Box<Beh>, Box<Beh>),
    Hide(String, Vec<Sort>, Box<Beh>),
    Let(String, Val, Box<Beh>),
    Call(usize, Vec<Val>),
}

/// `p0 [A, B, C, D, E] (x :: Int; b :: Bool)`, that may exit with a number.
struct Proc {
    exits: bool,
    body: Beh,
}

// Substitution of values.

fn num(n: &Num, var: &str, value: i64) -> Num {
    match n {
        Num::Lit(_) => n.clone(),
        Num::Var(name) if name == var => Num::Lit(value),
        Num::Var(_) => n.clone(),
        Num::Sum(a, b) => Num::Sum(num(a, var, value).into(), num(b, var, value).into()),
        Num::If(c, a, b) => {
            Num::If(cond(c, var, value).into(), num(a, var, value).into(), num(b, var, value).into())
        }
    }
}

fn cond(c: &Cond, var: &str, value: i64) -> Cond {
    match c {
        Cond::Lit(_) => c.clone(),
        Cond::Var(name) if name == var => Cond::Lit(value),
        Cond::Var(_) => c.clone(),
        Cond::Less(a, b) => Cond::Less(num(a, var, value).into(), num(b, var, value).into()),
        Cond::Same(a, b) => Cond::Same(num(a, var, value).into(), num(b, var, value).into()),
        Cond::Not(a) => Cond::Not(cond(a, var, value).into()),
        Cond::And(a, b) => Cond::And(cond(a, var, value).into(), cond(b, var, value).into()),
    }
}

fn val(v: &Val, var: &str, value: i64) -> Val {
    match v {
        Val::Num(n) => Val::Num(num(n, var, value)),
        Val::Cond(c) => Val::Cond(cond(c, var, value)),
    }
}

fn binds(offs: &[Off], var: &str) -> bool {
    offs.iter().any(|off| matches!(off, Off::Take(name, _) if name == var))
}

/// The offers of all channels of a communication.
fn all_offs(on: &[(String, Vec<Off>)]) -> Vec<Off> {
    on.iter().flat_map(|(_, offs)| offs.clone()).collect()
}

fn off(o: &Off, var: &str, value: i64) -> Off {
    match o {
        Off::Take(..) => o.clone(),
        Off::Give(v) => Off::Give(val(v, var, value)),
    }
}

fn with(b: &Beh, var: &str, value: i64) -> Beh {
    let go = |b: &Beh| Box::new(with(b, var, value));
    match b {
        Beh::Stop => Beh::Stop,
        Beh::Act(on, guard, next) => {
            let one = |offs: &[Off]| offs.iter().map(|o| off(o, var, value)).collect();
            let new = on.iter().map(|(chan, offs)| (chan.clone(), one(offs))).collect();
            if binds(&all_offs(on), var) {
                return Beh::Act(new, guard.clone(), next.clone());
            }
            Beh::Act(new, guard.as_ref().map(|g| cond(g, var, value)), go(next))
        }
        Beh::Guard(c, next) => Beh::Guard(cond(c, var, value), go(next)),
        Beh::Choice(a, b) => Beh::Choice(go(a), go(b)),
        Beh::Par(sync, a, b) => Beh::Par(sync.clone(), go(a), go(b)),
        Beh::Enable(a, offs, b) => {
            let new = offs.iter().map(|o| off(o, var, value)).collect();
            Beh::Enable(go(a), new, if binds(offs, var) { b.clone() } else { go(b) })
        }
        Beh::Disable(a, b) => Beh::Disable(go(a), go(b)),
        Beh::Interrupt(a, b) => Beh::Interrupt(go(a), go(b)),
        Beh::Hide(chan, sorts, body) => Beh::Hide(chan.clone(), sorts.clone(), go(body)),
        Beh::Let(name, v, body) => {
            let v = val(v, var, value);
            Beh::Let(name.clone(), v, if name == var { body.clone() } else { go(body) })
        }
        Beh::Call(proc, args) => Beh::Call(*proc, args.iter().map(|v| val(v, var, value)).collect()),
    }
}

fn num_value(n: &Num) -> i64 {
    match n {
        Num::Lit(n) => *n,
        Num::Var(name) => panic!("{name} is bound"),
        Num::Sum(a, b) => (num_value(a) + num_value(b)) % 3,
        Num::If(c, a, b) => {
            if holds(c) {
                num_value(a)
            } else {
                num_value(b)
            }
        }
    }
}

fn holds(c: &Cond) -> bool {
    match c {
        Cond::Lit(b) => *b == 1,
        Cond::Var(name) => panic!("{name} is bound"),
        Cond::Less(a, b) => num_value(a) < num_value(b),
        Cond::Same(a, b) => num_value(a) == num_value(b),
        Cond::Not(a) => !holds(a),
        Cond::And(a, b) => holds(a) && holds(b),
    }
}

fn value(v: &Val) -> i64 {
    match v {
        Val::Num(n) => num_value(n),
        Val::Cond(c) => i64::from(holds(c)),
    }
}

// Steps.

const TAU: &str = "ISTEP";
const EXIT: &str = "EXIT";

/// The values on each channel of a communication; none if it is internal.
type Said = BTreeMap<String, Vec<i64>>;

/// Returns the message that a step of the whole is: nothing waits for its exit. `None` for an exit alone.
fn message(said: &Said) -> Option<Action> {
    let seen: Vec<(&String, &Vec<i64>)> = said.iter().filter(|(chan, _)| *chan != EXIT).collect();
    let names: Vec<&str> = seen.iter().map(|(chan, _)| chan.as_str()).collect();
    let action =
        (names.join(&JOINT.to_string()), seen.iter().flat_map(|(_, values)| *values).copied().collect());
    (said.is_empty() || !seen.is_empty()).then_some(action)
}

struct Interpreter<'a> {
    procs: &'a [Proc],
}

impl Interpreter<'_> {
    fn steps(&self, b: &Beh) -> Vec<(Said, Beh)> {
        match b {
            Beh::Stop => Vec::new(),
            Beh::Act(on, guard, next) => self.communications(on, guard.as_ref(), next),
            Beh::Guard(c, next) => {
                if holds(c) {
                    self.steps(next)
                } else {
                    Vec::new()
                }
            }
            Beh::Choice(a, b) => [self.steps(a), self.steps(b)].concat(),
            Beh::Par(sync, a, b) => self.parallel(sync.as_ref(), a, b),
            Beh::Enable(left, offs, right) => {
                let mut all = Vec::new();
                for (mut said, next) in self.steps(left) {
                    match said.remove(EXIT) {
                        None => all.push((said, Beh::Enable(next.into(), offs.clone(), right.clone()))),
                        Some(values) => {
                            all.extend(taken(offs, &values, right).map(|right| (said, right)));
                        }
                    }
                }
                all
            }
            Beh::Disable(left, right) => {
                let stays = |(said, next): (Said, Beh)| {
                    let next =
                        if said.contains_key(EXIT) { next } else { Beh::Disable(next.into(), right.clone()) };
                    (said, next)
                };
                let mut all: Vec<_> = self.steps(left).into_iter().map(stays).collect();
                all.extend(self.steps(right));
                all
            }
            Beh::Interrupt(left, right) => {
                let stays = |(said, next): (Said, Beh)| {
                    let next = if said.contains_key(EXIT) {
                        next
                    } else {
                        Beh::Interrupt(next.into(), right.clone())
                    };
                    (said, next)
                };
                let mut all: Vec<_> = self.steps(left).into_iter().map(stays).collect();
                for (mut said, next) in self.steps(right) {
                    all.push(match said.remove(EXIT) {
                        Some(_) => (said, b.clone()),
                        None => (said, Beh::Enable(next.into(), Vec::new(), b.clone().into())),
                    });
                }
                all
            }
            Beh::Hide(chan, sorts, body) => {
                let hide = |(mut said, next): (Said, Beh)| {
                    said.remove(chan);
                    (said, Beh::Hide(chan.clone(), sorts.clone(), next.into()))
                };
                self.steps(body).into_iter().map(hide).collect()
            }
            Beh::Let(name, v, body) => self.steps(&with(body, name, value(v))),
            Beh::Call(proc, args) => {
                let body = with(&self.procs[*proc].body, "x", value(&args[0]));
                self.steps(&with(&body, "b", value(&args[1])))
            }
        }
    }

    fn communications(
        &self,
        on: &[(String, Vec<Off>)],
        guard: Option<&Cond>,
        next: &Beh,
    ) -> Vec<(Said, Beh)> {
        let offs = &all_offs(on);
        let mut tuples: Vec<Vec<i64>> = vec![Vec::new()];
        for off in offs {
            let choices: Vec<i64> = match off {
                Off::Take(_, sort) => sort.values().to_vec(),
                Off::Give(v) => vec![value(v)],
            };
            tuples = tuples
                .iter()
                .flat_map(|tuple| choices.iter().map(|v| tuple.iter().copied().chain([*v]).collect()))
                .collect();
        }
        let mut all = Vec::new();
        for values in tuples {
            let mut guard = guard.cloned();
            let mut next = next.clone();
            for (off, &v) in offs.iter().zip(&values) {
                if let Off::Take(name, _) = off {
                    guard = guard.map(|g| cond(&g, name, v));
                    next = with(&next, name, v);
                }
            }
            if guard.as_ref().is_none_or(holds) {
                let mut values = values.into_iter();
                let own = |(chan, offs): &(String, Vec<Off>)| {
                    (chan.clone(), values.by_ref().take(offs.len()).collect())
                };
                // An internal step adds nothing to a communication.
                all.push((on.iter().filter(|(chan, _)| chan != TAU).map(own).collect(), next));
            }
        }
        all
    }

    fn parallel(&self, sync: Option<&Vec<String>>, a: &Beh, b: &Beh) -> Vec<(Said, Beh)> {
        let shared = |said: &Said| -> BTreeSet<String> {
            let is_shared = |chan: &&String| *chan == EXIT || sync.is_none_or(|sync| sync.contains(chan));
            said.keys().filter(is_shared).cloned().collect()
        };
        let (lefts, rights) = (self.steps(a), self.steps(b));
        let mut all = Vec::new();
        let both = |a: &Beh, b: &Beh| Beh::Par(sync.cloned(), a.clone().into(), b.clone().into());
        for (action, next) in &lefts {
            if shared(action).is_empty() {
                all.push((action.clone(), both(next, b)));
                continue;
            }
            for (other, other_next) in &rights {
                if let Some(met) = met(action, other, &shared(action), &shared(other)) {
                    all.push((met, both(next, other_next)));
                }
            }
        }
        for (action, next) in rights.iter().filter(|(action, _)| shared(action).is_empty()) {
            all.push((action.clone(), both(a, next)));
        }
        all
    }

    /// With everything that internal steps reach; none if that is too much.
    fn closure(&self, states: BTreeSet<Beh>) -> Option<BTreeSet<Beh>> {
        let mut all = states;
        let mut open: Vec<Beh> = all.iter().cloned().collect();
        while let Some(state) = open.pop() {
            for (said, next) in self.steps(&state) {
                if said.is_empty() && all.insert(next.clone()) {
                    open.push(next);
                }
            }
            if all.len() > MAX_STATES {
                return None;
            }
        }
        Some(all)
    }
}

fn sorts_of(chan: &str) -> &'static [Sort] {
    CHANNELS
        .iter()
        .find(|(name, ..)| *name == chan)
        .map(|(_, sorts, _)| *sorts)
        .expect("a channel of the model")
}

/// One communication of two sides: they agree on what they share, and each adds channels of its own.
fn met(left: &Said, right: &Said, shared: &BTreeSet<String>, others: &BTreeSet<String>) -> Option<Said> {
    let common = right.keys().filter(|chan| left.contains_key(*chan)).count();
    let is_met =
        shared == others && common == shared.len() && shared.iter().all(|chan| left[chan] == right[chan]);
    is_met.then(|| left.iter().chain(right).map(|(chan, values)| (chan.clone(), values.clone())).collect())
}

/// Returns the behaviour that accepts the values of an exit; `None` if it gives other values.
fn taken(offs: &[Off], values: &[i64], right: &Beh) -> Option<Beh> {
    let mut right = right.clone();
    for (off, &v) in offs.iter().zip(values) {
        match off {
            Off::Take(name, _) => right = with(&right, name, v),
            Off::Give(given) if value(given) != v => return None,
            Off::Give(_) => {}
        }
    }
    Some(right)
}

// Random behaviours.

/// Every label that is ever asked for, and whether it is an input.
fn labels() -> Vec<(Action, bool)> {
    let kinds = [true, false].map(|kind| {
        let own = CHANNELS.iter().filter(|(.., is_input)| *is_input == kind).map(|(name, ..)| *name);
        (kind, own.collect::<Vec<_>>())
    });
    let mut all = Vec::new();
    for (is_input, names) in kinds {
        for chosen in 1..1 << names.len() {
            let names: Vec<&str> = names
                .iter()
                .enumerate()
                .filter(|(at, _)| chosen >> at & 1 == 1)
                .map(|(_, name)| *name)
                .collect();
            let mut tuples: Vec<Vec<i64>> = vec![Vec::new()];
            for sort in names.iter().flat_map(|name| sorts_of(name)) {
                tuples = tuples
                    .iter()
                    .flat_map(|tuple| {
                        sort.values().iter().map(|v| tuple.iter().copied().chain([*v]).collect())
                    })
                    .collect();
            }
            let chan = names.join(&JOINT.to_string());
            all.extend(tuples.into_iter().map(|values| ((chan.clone(), values), is_input)));
        }
    }
    all
}

/// The states after `action`; `None` if they are unknown, which they are only beyond the limits of unfolding. There is
/// no message for channels that are never used at once.
fn after(model: &Model, state: &ConcreteState, action: &Action) -> Option<Vec<ConcreteState>> {
    if model.sts.gate_named(&action.0).is_none() {
        return Some(Vec::new());
    }
    let found = concrete::successors(&model.pool, &model.sts, state, &label(model, action));
    assert!(found.is_ok() || is_beyond(model, state), "evaluates");
    found.ok().map(|found| found.into_iter().map(|successor| successor.state).collect())
}

/// Returns whether a state stands for everything beyond the limits of unfolding.
fn is_beyond(model: &Model, state: &ConcreteState) -> bool {
    state.place_text(&model.sts).contains("not unfolded")
}

fn model_closure(model: &Model, states: Vec<ConcreteState>) -> Option<BTreeSet<ConcreteState>> {
    let closure = concrete::tau_closure(&model.pool, &model.sts, states, MAX_STATES).expect("evaluates");
    (!closure.truncated).then_some(closure.states)
}

/// Returns whether no output and no internal step is possible.
fn is_quiet(model: &Model, state: &ConcreteState, all: &[(Action, bool)]) -> bool {
    let moves = concrete::internal_successors(&model.pool, &model.sts, state).expect("evaluates");
    let mut outputs = all.iter().filter(|(_, is_input)| !is_input);
    moves.is_empty() && outputs.all(|(action, _)| after(model, state, action).is_some_and(|it| it.is_empty()))
}

/// One trace; returns the number of labels that were compared. Where a state beyond the limits is possible, what the
/// other states do is possible, and nothing is impossible.
fn walk(procs: &[Proc], start: &Beh, model: &Model, dice: &mut Dice, text: &str) -> usize {
    let interpreter = Interpreter { procs };
    let all = labels();
    let initial = concrete::initial_state(&model.pool, &model.sts).expect("known");
    let (mut ours, mut theirs) = (vec![initial], BTreeSet::from([start.clone()]));
    let mut compared = 0;
    let mut trace: Vec<Action> = Vec::new();
    for _ in 0..6 {
        let (Some(closed), Some(terms)) = (model_closure(model, ours), interpreter.closure(theirs)) else {
            return compared;
        };
        let has_beyond = closed.iter().any(|state| is_beyond(model, state));
        let quiet = closed.iter().any(|state| is_quiet(model, state, &all));
        let is_input =
            |chan: &str| CHANNELS.iter().any(|(name, _, is_input)| *is_input && chan.starts_with(name));
        let own = |(said, _): &(Said, Beh)| message(said).is_some_and(|(chan, _)| !is_input(&chan));
        let quiet_terms = terms.iter().any(|term| !interpreter.steps(term).iter().any(own));
        assert!(quiet == quiet_terms || has_beyond && quiet_terms, "silence after {trace:?} of\n{text}");
        let steps: Vec<(Action, Beh)> = terms
            .iter()
            .flat_map(|term| interpreter.steps(term))
            .filter_map(|(said, next)| Some((message(&said)?, next)))
            .collect();
        let mut enabled = Vec::new();
        for (action, _) in &all {
            let mut next: Vec<ConcreteState> =
                closed.iter().filter_map(|state| after(model, state, action)).flatten().collect();
            let possible = steps.iter().any(|(other, _)| other == action);
            let is_known = !next.is_empty() || !has_beyond;
            assert!(next.is_empty() != possible || !is_known, "{action:?} after {trace:?} of\n{text}");
            compared += usize::from(is_known);
            if possible {
                // From beyond the limits nothing comes back.
                next.extend(closed.iter().filter(|state| is_beyond(model, state)).cloned());
                enabled.push((action.clone(), next));
            }
        }
        if enabled.is_empty() {
            return compared;
        }
        let (action, next) = enabled.swap_remove(dice.roll(enabled.len()));
        ours = next;
        theirs = steps.into_iter().filter(|(other, _)| *other == action).map(|(_, next)| next).collect();
        trace.push(action);
    }
    compared
}

#[test]
fn models_do_what_the_semantics_of_their_text_says() {
    let n = test_count("IOXIDE_TORXAKIS", 50, 2_000);
    let (mut models, mut refused, mut compared, mut composed) = (0, 0, 0, 0);
    let (mut joint, mut unseen, mut cut) = (0, 0, 0);
    let mut seed = 0;
    while models < n {
        seed += 1;
        let (procs, start) = plan(seed);
        let text = whole_text(&procs, &start);
        let (sources, loaded) = load_text("m.txs", &text);
        let Some(model) = loaded.model else {
            // Exits that nobody gives, values that nobody says, and products that are too large are refused.
            // So are communications of the tester and the system at once, and processes without bound.
            let known = [
                Code::UnboundedProcesses,
                Code::BadExit,
                Code::OpenHiddenField,
                Code::TooManySwitches,
                Code::TxsNotRead,
            ];
            let fine = loaded.diagnostics.iter().all(|finding| known.contains(&finding.code));
            assert!(fine, "{text}\n{}", render(&sources, &loaded.diagnostics));
            refused += 1;
            continue;
        };
        models += 1;
        composed += usize::from(model.sts.composition.is_some());
        cut += u64::from(loaded.diagnostics.iter().any(|finding| finding.code == Code::PartlyUnfolded));
        joint += u64::from(model.sts.gates.iter().any(|gate| gate.name.contains(JOINT)));
        // Parts of communications that others do not see: what they hide, and what they end with.
        unseen += u64::from(text.contains("| H") || text.contains("| EXIT"));
        let mut dice = Dice(seed);
        for _ in 0..4 {
            compared += walk(&procs, &start, &model, &mut dice, &text);
        }
    }
    println!(
        "{models} models ({composed} of parts, {joint} with channels used at once, {unseen} with hidden ones or exits \
         among them, {cut} unfolded partly, {refused} more refused), {compared} labels: no disagreement"
    );
    assert!(
        refused < 3 * n
            && composed * 4 > models as usize
            && joint * 10 > models
            && unseen * 4 > models
            && compared as u64 > 50 * n,
        "the models do something"
    );
}

/// A server that starts a process for every question, without bound, and the bag of its answers: up to the limit of
/// unfolding both allow the same; beyond it, the model says nothing.
#[test]
fn beyond_the_limit_nothing_is_allowed_or_forbidden() {
    let text = "CHANDEF C ::= A, E :: Int ENDDEF
        PROCDEF server [ A, E :: Int ] () ::= A ? x >-> ( E ! x >-> STOP ||| server [A, E] () ) ENDDEF
        MODELDEF M ::= CHAN IN A CHAN OUT E BEHAVIOUR server [A, E] () ENDDEF";
    let (sources, loaded) = load_text("m.txs", text);
    let model = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
    let codes: Vec<Code> = loaded.diagnostics.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::PartlyUnfolded]);
    let (mut depths, mut dice) = (BTreeSet::new(), Dice(1));
    for _ in 0..8 {
        let mut states = BTreeSet::from([concrete::initial_state(&model.pool, &model.sts).expect("known")]);
        let mut bag: BTreeMap<i64, usize> = BTreeMap::new();
        while !states.iter().any(|state| is_beyond(&model, state)) {
            for (chan, n) in [("A", 0), ("A", 1), ("E", 0), ("E", 1), ("E", 2)] {
                let found = states
                    .iter()
                    .flat_map(|state| after(&model, state, &(chan.into(), vec![n])).expect("known"));
                let possible = chan == "A" || bag.get(&n).is_some_and(|&count| count > 0);
                assert_eq!(found.count() > 0, possible, "{chan} {n} with {bag:?}");
            }
            let n = dice.roll(2) as i64;
            // More questions than answers, so that every walk comes to the limit.
            let is_answer = dice.one_in(3) && bag.get(&n).is_some_and(|&count| count > 0);
            let count = bag.entry(n).or_default();
            *count = if is_answer { *count - 1 } else { *count + 1 };
            let action: Action = (if is_answer { "E" } else { "A" }.into(), vec![n]);
            states = states.iter().flat_map(|state| after(&model, state, &action).expect("known")).collect();
        }
        let beyond = states.iter().find(|state| is_beyond(&model, state)).expect("one");
        for action in [("A", 0), ("E", 0), ("E", 7)] {
            assert_eq!(after(&model, beyond, &(action.0.into(), vec![action.1])), None);
        }
        depths.insert(bag.values().sum::<usize>());
    }
    assert!(depths.iter().all(|&depth| depth >= 5), "{depths:?}");
}
