//! Goals forced on beliefs: in time, with unknown start values, with choices that nobody sees. The second opinion is a
//! game on ticks, five to a second, which is solved backwards over all sets of states.
//!
//! `IOXIDE_GAMES` sets the number of random models.

use std::collections::{BTreeSet, HashMap};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_test_support::test_count;
use ioxide_testgen::tester::game::{GameTally, GameTester, NoGame};
use ioxide_testgen::tester::random::Interaction;
use ioxide_testgen::tester::{Tester, TesterMove};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::conform_timed::machine::{InternalSteps, Machine, Shape, State};
use crate::conform_timed::ticks::{InTicks, Side};

/// The number of sets of states above which a game on ticks is not solved.
const MAX_SETS: usize = 4_000;

fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("force.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

/// Returns what a tester says of the first goal of `text`, and its first move.
fn ask(text: &str) -> Result<(GameTally, TesterMove), NoGame> {
    let mut model = model(text);
    let goal = model.sts.goals[0].clone();
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let mut tester = GameTester::new(cx, &goal, Interaction::Fair)?;
    tester.start(1);
    let monitor = Monitor::new(cx);
    let first = tester.next(cx, &monitor, &Trace::default());
    Ok((tester.tally(), first))
}

fn is_forced(text: &str) -> bool {
    let (tally, _) = ask(text).expect("it can be played for");
    assert!(!tally.is_undecided, "{text}");
    tally.is_forced == Some(true)
}

/// A set of states with the time since each was entered, in ticks.
type Set = BTreeSet<(u16, State)>;

/// The moves from one set.
struct Moves {
    inputs: Vec<usize>,
    system: Vec<usize>,
    wait: Option<usize>,
}

/// A game on ticks.
struct TickGame<'m> {
    machine: &'m Machine,
    goal: usize,
    numbers: HashMap<Set, usize>,
    sets: Vec<Set>,
}

impl TickGame<'_> {
    /// Returns whether the goal can be forced; `None` if there are too many sets.
    fn is_forced(machine: &Machine, goal: usize) -> Option<bool> {
        let mut game = TickGame { machine, goal, numbers: HashMap::new(), sets: Vec::new() };
        let start = machine.start().into_iter().map(|state| (0, state)).collect();
        game.number_of(start);
        let mut moves = Vec::new();
        while moves.len() < game.sets.len() {
            if game.sets.len() > MAX_SETS {
                return None;
            }
            moves.push(game.moves(moves.len()));
        }
        let mut is_won: Vec<bool> = game.sets.iter().map(|set| game.is_goal(set)).collect();
        loop {
            let wins = |moves: &Moves| {
                let waits = match moves.wait {
                    Some(later) => is_won[later],
                    None => !moves.system.is_empty(),
                };
                moves.system.iter().all(|&to| is_won[to])
                    && (waits || moves.inputs.iter().any(|&to| is_won[to]))
            };
            let next: Vec<bool> = is_won.iter().zip(&moves).map(|(&won, moves)| won || wins(moves)).collect();
            if next == is_won {
                return Some(is_won[0]);
            }
            is_won = next;
        }
    }

    fn is_goal(&self, set: &Set) -> bool {
        set.iter().all(|(_, state)| state.loc == self.goal)
    }

    fn number_of(&mut self, set: Set) -> usize {
        let set = self.closed(set);
        if let Some(&known) = self.numbers.get(&set) {
            return known;
        }
        self.numbers.insert(set.clone(), self.sets.len());
        self.sets.push(set);
        self.sets.len() - 1
    }

    fn now(&self, &(age, state): &(u16, State)) -> State {
        self.machine.later(state, age)
    }

    fn closed(&self, mut set: Set) -> Set {
        let mut open: Vec<_> = set.iter().copied().collect();
        while let Some(member) = open.pop() {
            for next in self.machine.internal(self.now(&member)) {
                if set.insert((0, next)) {
                    open.push((0, next));
                }
            }
        }
        set
    }

    fn moves(&mut self, at: usize) -> Moves {
        let set = self.sets[at].clone();
        let mut moves = Moves { inputs: Vec::new(), system: Vec::new(), wait: None };
        for (message, side) in self.machine.messages().to_vec().into_iter().enumerate() {
            let taken: Vec<Vec<State>> =
                set.iter().map(|member| self.machine.taken(self.now(member), message)).collect();
            let is_everywhere = taken.iter().all(|next| !next.is_empty());
            let next: Set = taken.into_iter().flatten().map(|state| (0, state)).collect();
            match side {
                Side::Tester if is_everywhere => moves.inputs.push(self.number_of(next)),
                Side::System | Side::SomebodyElse if !next.is_empty() => {
                    moves.system.push(self.number_of(next));
                }
                _ => (),
            }
        }
        let beyond = self.machine.beyond();
        let later = set.iter().map(|&(age, state)| ((age + 1).min(beyond), state));
        let later: Set = later.filter(|member| self.may_wait(member)).collect();
        moves.wait = (!later.is_empty()).then(|| self.number_of(later));
        moves
    }

    /// Returns whether a state may have waited until now: nothing could ever come when it was entered, or something
    /// still can.
    fn may_wait(&self, &(age, state): &(u16, State)) -> bool {
        let can = |state: State, sides: &[Side]| {
            let mut messages = self.machine.messages().iter().enumerate();
            !self.machine.internal(state).is_empty()
                || messages
                    .any(|(at, side)| sides.contains(side) && !self.machine.taken(state, at).is_empty())
        };
        let beyond = self.machine.beyond();
        let acts = (0..=beyond).any(|at| can(self.machine.later(state, at), &[Side::System]));
        let both = [Side::System, Side::SomebodyElse];
        !acts || (age..=age + beyond).any(|at| can(self.machine.later(state, at), &both))
    }
}

/// A random model with a goal, which the system cannot always keep the tester from.
fn random(seed: u64) -> Machine {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let internal = if seed % 4 == 3 { InternalSteps::Forwards } else { InternalSteps::None };
    let shape = Shape { n_locations: rng.random_range(3..5), has_unknown: seed % 3 == 1, internal };
    let machine = Machine::random(&mut rng, shape);
    let machine = if seed % 5 == 2 { machine.forked(&mut rng) } else { machine };
    machine.without_hidden_resets()
}

fn text(machine: &Machine, goal: usize) -> String {
    let text = machine.text();
    let body = text.strip_suffix('}').expect("a model ends with a brace");
    format!("{body} purpose win: reach s{goal} }}")
}

#[test]
fn strategies_in_time_agree_with_a_game_on_ticks() {
    let (mut n_forced, mut n_open, mut n_not) = (0, 0, 0);
    for seed in 0..test_count("IOXIDE_GAMES", 40, 1_500) {
        let machine = random(seed);
        for goal in [1, 2] {
            let text = text(&machine, goal);
            let (tally, _) = ask(&text).expect("it can be played for");
            match TickGame::is_forced(&machine, goal) {
                _ if tally.is_undecided => n_open += 1,
                None => n_open += 1,
                Some(expected) => {
                    assert_eq!(tally.is_forced, Some(expected), "seed {seed}, goal {goal}\n{text}");
                    *(if expected { &mut n_forced } else { &mut n_not }) += 1;
                }
            }
        }
    }
    println!("{n_forced} forced, {n_not} not, {n_open} open");
    assert!(n_forced > n_open && n_not > n_open, "{n_forced} forced, {n_not} not, {n_open} open");
}

/// A door that opens at some instant between these, in a guard over its clock.
fn door(when: &str) -> String {
    format!(
        "model Door {{ input knock output opens clock c state start {{ on knock {{ reset c }} -> busy }}
            state busy {{ emit opens when {when} -> opened }} state opened {{}} purpose win: reach opened }}"
    )
}

#[test]
fn an_output_is_forced_by_its_deadline() {
    assert!(is_forced(&door("c >= 1 && c <= 3")));
    assert!(is_forced(&door("c > 1 && c < 3")));
    // Nothing says when it comes, so that no run is long enough.
    assert!(!is_forced(&door("c >= 1")));
}

/// A system in which an input is right under one condition; `other` is what else happens in the first state.
fn window(right: &str, other: &str) -> String {
    format!(
        "model Window {{ input go output late clock c state start {{ on go when {right} -> won {other} }}
            state won {{}} state lost {{}} purpose win: reach won }}"
    )
}

#[test]
fn the_tester_chooses_the_instant_of_an_input() {
    let first = |right: &str, other: &str| {
        let text = window(right, other);
        match ask(&text).expect("it can be played for") {
            (GameTally { is_forced: Some(true), .. }, TesterMove::StimulateAfter(wait, _)) => {
                Some(wait.to_f64())
            }
            (tally, _) => {
                assert_eq!((tally.is_forced, tally.is_undecided), (Some(false), false), "{text}");
                None
            }
        }
    };
    assert_eq!(first("c >= 2", "on go when c < 2 -> lost"), Some(2.0));
    assert_eq!(first("c > 0 && c < 1", "emit late when c == 1 -> lost"), Some(0.5));
    assert_eq!(first("c > 0.5 && c < 1", "emit late when c == 1 -> lost"), Some(0.75));
    // The system may be quicker, or send at the same instant.
    assert_eq!(first("c >= 1", "emit late when c >= 1 && c <= 2 -> lost"), None);
    assert_eq!(first("c > 1", "emit late when c <= 2 -> lost"), None);
    // Until its deadline the system has sent what it has to.
    assert_eq!(first("c >= 1", "emit late when c <= 2 -> start"), None);
}

/// A lock whose key is unknown.
fn lock(hint: &str) -> String {
    format!(
        "model Lock {{ input ask input turn(k: 0..2) output hint(k: 0..2) var key: 0..2
            state start {{ {hint} on turn when k == key -> won on turn when k != key -> lost }}
            state asked {{ emit hint when k == key -> start }} state won {{}} state lost {{}}
            purpose win: reach won }}"
    )
}

#[test]
fn unknown_start_values_are_learned_before_they_are_needed() {
    assert!(is_forced(&lock("on ask -> asked")));
    assert!(!is_forced(&lock("")));
    // It may give hints for ever, and nobody knows when it listens.
    assert!(!is_forced(&lock("internal -> asked")));
}

/// One message leads to two states; the time of the next one may tell which it was.
fn paces(slow: &str) -> String {
    format!(
        "model Paces {{ input go input left input right output tick clock c
            state start {{ on go {{ reset c }} -> fast on go {{ reset c }} -> slow }}
            state fast {{ emit tick when c <= 1 -> f }} state slow {{ emit tick when {slow} -> s }}
            state f {{ on left -> won on right -> lost }} state s {{ on right -> won on left -> lost }}
            state won {{}} state lost {{}} purpose win: reach won }}"
    )
}

#[test]
fn time_tells_hidden_states_apart() {
    assert!(is_forced(&paces("c > 1 && c <= 3")));
    assert!(!is_forced(&paces("c >= 1 && c <= 3")));
}

#[test]
fn silence_tells_hidden_states_apart() {
    let branches = "model Branches { input go input left input right output tick
        state start { internal -> loud internal -> still } state loud { emit tick -> f }
        state f { on left -> won on right -> lost } state still { on right -> won on left -> lost }
        state won {} state lost {} purpose win: reach won }";
    assert!(is_forced(branches));
    assert!(!is_forced(&branches.replace("state loud { emit tick -> f }", "state loud { on left -> won }")));
}

#[test]
fn models_that_are_not_played_are_refused_with_the_reason() {
    let why = |text: &str| ask(text).expect_err("it is refused");
    let open = |declared: &str, right: &str| {
        format!(
            "model Open {{ input go output tell(n: int) clock c {declared}
                state start {{ on go when {right} -> won }} state won {{}} purpose win: reach won }}"
        )
    };
    assert_eq!(why(&open("var n: int", "n > 3")), NoGame::StartValue("n".into()));
    assert_eq!(why(&open("var n: int = 0", "c <= n")), NoGame::Clocks);
    let told = open("var n: int = 0", "true").replace("on go", "emit tell { n = tell.n } -> won on go");
    assert_eq!(why(&told.replace("tell.n }", "n }")), NoGame::Values("tell".into()));
    let hidden =
        door("c <= 3").replace("state busy {", "state busy { tick: internal when c > 1 { reset c } -> busy ");
    assert_eq!(why(&hidden), NoGame::HiddenReset("tick".into()));
    let waits = "model Waits { input go clock c state start { on go when c < 2 -> start }
        purpose win { state idle { quiet -> hit } } }";
    assert_eq!(why(waits), NoGame::TimedSilence);
}
