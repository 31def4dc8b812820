//! Dead ends against enumeration: random models, and what a plain search of their states says about each warning.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_test_support::test_count;

use crate::examples::findings;
use crate::systems::generator::Dice;

/// Compares whether lints find `code` with what enumeration expects, over random models; both cases must occur.
#[track_caller]
fn compare(code: &str, variable: &str, full: u64, model: impl Fn(&mut Dice) -> (String, bool)) {
    let mut counts = [0, 0];
    for seed in 0..test_count(variable, 150, full) {
        let (text, expected) = model(&mut Dice(seed));
        let found = findings(&text).iter().any(|(id, _)| *id == code);
        assert_eq!(found, expected, "{code}, model {seed}: {text}");
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 10), "{code}: both cases occur: {counts:?}");
}

/// A transition of a small random model: source, the value of `x` it needs, its message, target, the value it sets.
type SmallSwitch = (usize, usize, &'static str, usize, usize);

/// Everything that can be reached from a state, the state included.
fn reachable(switches: &[SmallSwitch], from: (usize, usize)) -> BTreeSet<(usize, usize)> {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(state) = open.pop() {
        for &(source, needed, _, target, set) in switches {
            if (source, needed) == state && seen.insert((target, set)) {
                open.push((target, set));
            }
        }
    }
    seen
}

/// Returns whether a state cannot return: forward from every state, where the lint goes backwards.
fn lacks_return(switches: &[SmallSwitch]) -> bool {
    let all = reachable(switches, (0, 0));
    let taken = |state: (usize, usize)| {
        switches.iter().filter(move |&&(source, needed, ..)| (source, needed) == state)
    };
    let comes_home =
        |&state: &(usize, usize)| state.0 != 0 && taken(state).any(|&(.., target, _)| target == 0);
    if !all.iter().any(comes_home) {
        return false;
    }
    let has_message = |states: &BTreeSet<(usize, usize)>, verb: &str| {
        states.iter().any(|&state| taken(state).any(|(_, _, message, ..)| message.starts_with(verb)))
    };
    all.iter().any(|&state| {
        let later = reachable(switches, state);
        let is_lost = later.iter().all(|&other| other.0 != 0 && taken(other).next().is_some());
        let is_without = |verb: &str| has_message(&all, verb) && !has_message(&later, verb);
        is_lost && (is_without("on") || is_without("emit"))
    })
}

#[test]
fn states_without_return_are_those_that_enumeration_finds() {
    compare("W0716", "IOXIDE_RETURNS", 5_000, |dice| {
        let n = 10 + dice.roll(5);
        let mut switches: Vec<SmallSwitch> = (0..n)
            .map(|_| {
                let message = ["on a", "on a", "emit o", "internal"][dice.roll(4)];
                (dice.roll(3), dice.roll(2), message, dice.roll(4), dice.roll(2))
            })
            .collect();
        // The last state is an end, leads back, or keeps whoever enters it.
        let (loop_message, back) = (["on a", "emit o"][dice.roll(2)], [3, 3, 0][dice.roll(3)]);
        if dice.roll(4) > 0 {
            switches.extend((0..2).map(|x| (3, x, loop_message, back, x)));
        }
        let state = |loc: usize| {
            let own = switches.iter().filter(|&&(source, ..)| source == loc);
            let texts = own.map(|&(_, x, message, target, set)| {
                format!("{message} when x == {x} {{ x = {set} }} -> s{target} ")
            });
            format!("state s{loc} {{ {} }} ", texts.collect::<String>())
        };
        let states = (0..4).map(state).collect::<String>();
        (format!("model M {{ input a output o var x: int = 0 {states}}}"), lacks_return(&switches))
    });
}

/// The instants that are tried: quarters of a second up to twelve, well beyond every bound of a guard.
fn instants() -> impl Iterator<Item = u32> + Clone {
    0..=48
}

/// A guard on a clock: comparisons with seconds.
type ClockGuard = Vec<(&'static str, u32)>;

fn random_guard(dice: &mut Dice) -> ClockGuard {
    let sign = |dice: &mut Dice| [">=", ">=", "<=", "<=", ">", "<", "==", "!="][dice.roll(8)];
    (0..1 + dice.roll(2)).map(|_| (sign(dice), u32::try_from(dice.roll(5)).unwrap_or(0))).collect()
}

fn guard_text(guard: &ClockGuard) -> String {
    guard.iter().map(|(sign, bound)| format!("c {sign} {bound}s")).collect::<Vec<_>>().join(" && ")
}

/// Returns whether a guard holds when the clock shows so many quarters of a second.
fn holds(guard: &ClockGuard, quarters: u32) -> bool {
    guard.iter().all(|&(sign, bound)| {
        let bound = bound * 4;
        match sign {
            ">=" => quarters >= bound,
            "<=" => quarters <= bound,
            ">" => quarters > bound,
            "<" => quarters < bound,
            "==" => quarters == bound,
            _ => quarters != bound,
        }
    })
}

#[test]
fn outputs_that_can_be_postponed_are_those_that_enumeration_finds() {
    compare("W0714", "IOXIDE_POSTPONED", 2_000, |dice| {
        let (guard, is_reset) = (random_guard(dice), dice.roll(2) == 0);
        let reset = if is_reset { "{ reset c } " } else { "" };
        let text = format!(
            "model M {{ input arm output ring clock c state idle {{ on arm {reset}-> armed }}
             state armed {{ emit ring when {} -> idle }} }}",
            guard_text(&guard)
        );
        // The state is entered at once, or after any wait.
        let entries: Vec<u32> = if is_reset { vec![0] } else { instants().collect() };
        let never_ends =
            instants().filter(|&now| holds(&guard, now)).all(|now| (now..=48).all(|at| holds(&guard, at)));
        let waits = |&entry: &u32| !holds(&guard, entry) && (entry..=48).any(|at| holds(&guard, at));
        (text, never_ends && entries.iter().any(waits))
    });
}

#[test]
fn timelocks_are_those_that_enumeration_finds() {
    compare("W0715", "IOXIDE_TIMELOCKS", 2_000, |dice| {
        let (entry, first, second) = (random_guard(dice), random_guard(dice), random_guard(dice));
        let is_reset = dice.roll(3) == 0;
        let reset = if is_reset { "{ reset c } " } else { "" };
        let text = format!(
            "model M {{ input ask input more output answer clock c
             state idle {{ on ask when {} {reset}-> asked }}
             state asked {{ emit answer when {} -> end on more when {} -> end }} state end {{}} }}",
            guard_text(&entry),
            guard_text(&first),
            guard_text(&second),
        );
        let is_possible = |at: u32| holds(&first, at) || holds(&second, at);
        let mut times = instants().filter(|&at| holds(&entry, at)).map(|at| if is_reset { 0 } else { at });
        let is_too_late = |from: u32| (from..=48).all(|at| !is_possible(at));
        // A state that can be left at no time at all is stuck, not entered too late.
        (text, times.any(is_too_late) && instants().any(is_possible))
    });
}

#[test]
fn unheard_messages_are_those_that_enumeration_finds() {
    compare("W0713", "IOXIDE_UNHEARD", 1_000, |dice| {
        let mut parts: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        let client = [("emit", "ask"), ("emit", "tell"), ("on", "reply")];
        let server = [("on", "ask"), ("on", "tell"), ("emit", "reply")];
        for (name, messages) in [("C", client), ("V", server)] {
            let used = messages.into_iter().filter(|_| dice.roll(3) > 0);
            parts.insert(name, used.collect());
        }
        let body = |name: &str| -> String {
            parts[name].iter().map(|(verb, message)| format!("{verb} {message} -> s ")).collect()
        };
        let text = format!(
            "model C {{ output ask output tell input reply state s {{ {} }} }}
             model V {{ input ask input tell output reply state s {{ {} }} }}
             system S {{ c: C  v: V  c.ask -> v.ask  c.tell -> v.tell  v.reply -> c.reply }}",
            body("C"),
            body("V"),
        );
        // Every step of a part needs one of the other part with the same message.
        let has_partner = |other: &str, message: &str| parts[other].iter().any(|(_, own)| *own == message);
        let lonely =
            |name: &str, other: &str| parts[name].iter().any(|(_, message)| !has_partner(other, message));
        (text, lonely("C", "V") || lonely("V", "C"))
    });
}
