//! Questions about values that no member of a collection can be: they have an answer, and disable nothing.
//!
//! Every condition is asked of a model by an input with an unbounded number, with one transition for each answer. The
//! second opinion computes the answer with the collections of Rust. `IOXIDE_CASES` sets the number of random
//! conditions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_symex::{AllowedLabel, Ctx, Monitor};
use ioxide_test_support::test_count;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{ConformAnswer, ConformOptions, conform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{named, solver};

/// A model that answers whether `condition` holds of the number it is asked about.
fn write_asking_model(condition: &str, starts: &Starts) -> String {
    format!(
        "model Asked {{ type D = 0..3 record R {{ d: D }} enum E {{ none_, one(d: D) }}
            input ask(n: int) output yes output no
            var s: set<D> = {} var xs: list<D> = {} var m: map<D, D> = {} var o: D? = {}
            var r: R = R(d: 1) var rs: set<R> = {{R(d: 2)}} var e: E = one(d: 1) var os: set<D?> = {{none, some(2)}}
            state idle {{ on ask when {condition} -> so  on ask when !({condition}) -> not_so }}
            state so {{ emit yes -> idle }} state not_so {{ emit no -> idle }} }}",
        set(&starts.s),
        list(&starts.xs),
        map(&starts.m),
        starts.o.map_or("none".to_owned(), |n| format!("some({n})")),
    )
}

fn set(items: &BTreeSet<i64>) -> String {
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    format!("{{{}}}", items.join(", "))
}

fn list(items: &[i64]) -> String {
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    format!("[{}]", items.join(", "))
}

fn map(entries: &BTreeMap<i64, i64>) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", entries.join(", "))
}

/// The initial values.
struct Starts {
    s: BTreeSet<i64>,
    xs: Vec<i64>,
    m: BTreeMap<i64, i64>,
    o: Option<i64>,
}

fn starts() -> Starts {
    Starts { s: [1, 2].into(), xs: vec![1, 0, 1], m: [(1, 3), (2, 0)].into(), o: Some(1) }
}

/// Returns the answer of `model` to the number; panics if it allows both, or leaves the input open.
fn answer(model: &mut Model, n: i64) -> bool {
    let mut solver = solver();
    let mut cx = Ctx::new(model, &mut solver);
    let gate = |name: &str| cx.sts.gate_named(name).expect("declared");
    let (ask, yes, no) = (gate("ask"), gate("yes"), gate("no"));
    let mut monitor = Monitor::new(&mut cx);
    let allowed = monitor.observe(&mut cx, &Label::Input(ask, vec![Value::int(n)]));
    assert_eq!(allowed.expect("an input"), AllowedLabel::Allowed, "{n} is not mentioned");
    let mut says = |gate| monitor.clone().observe(&mut cx, &Label::Output(gate, Vec::new())).is_ok();
    let (yes, no) = (says(yes), says(no));
    assert!(yes != no, "{n}: {yes} {no}");
    yes
}

/// Conditions with the numbers of -2 to 6 for which they hold.
const QUESTIONS: [(&str, &[i64]); 20] = [
    ("s.has(n)", &[1, 2]),
    ("m.has(n)", &[1, 2]),
    ("xs.contains(n)", &[0, 1]),
    ("s.without(n) == s", &[-2, -1, 0, 3, 4, 5, 6]),
    ("xs.without(n) == xs", &[-2, -1, 2, 3, 4, 5, 6]),
    ("m.without(n) == m", &[-2, -1, 0, 3, 4, 5, 6]),
    ("xs.index_of(n) == none", &[-2, -1, 2, 3, 4, 5, 6]),
    ("m.get(n) == none", &[-2, -1, 0, 3, 4, 5, 6]),
    ("s - {n} == s", &[-2, -1, 0, 3, 4, 5, 6]),
    ("s.difference({n}) == s", &[-2, -1, 0, 3, 4, 5, 6]),
    ("s.intersection({n}).is_empty()", &[-2, -1, 0, 3, 4, 5, 6]),
    ("s.subset_of({1, 2, n})", &[-2, -1, 0, 1, 2, 3, 4, 5, 6]),
    ("o == some(n)", &[1]),
    ("xs == [1, 0, n]", &[1]),
    ("s == {1, n}", &[2]),
    ("m == {1: 3, 2: n}", &[0]),
    ("r == R(d: n)", &[1]),
    ("rs.has(R(d: n))", &[2]),
    ("e == one(d: n)", &[1]),
    ("os.has(some(n))", &[2]),
];

#[test]
fn a_question_about_a_value_of_another_type_is_answered() {
    for (condition, truths) in QUESTIONS {
        let mut model = named("asked.iox", &write_asking_model(condition, &starts()));
        for n in -2..=6 {
            assert_eq!(answer(&mut model, n), truths.contains(&n), "{condition} for {n}");
        }
    }
}

/// The same for the solver, which is asked about all numbers at once.
#[test]
fn a_question_that_is_limited_to_its_type_is_the_same_question() {
    // Where the bare question is true outside the range, the limit is the other way round.
    for (condition, truths) in QUESTIONS {
        let limited = if truths.contains(&6) {
            format!("n < 0 || n > 3 || ({condition})")
        } else {
            format!("n >= 0 && n <= 3 && ({condition})")
        };
        for (one, other) in [(condition, limited.as_str()), (&limited, condition)] {
            let mut spec = named("spec.iox", &write_asking_model(other, &starts()));
            let imp = named("imp.iox", &write_asking_model(one, &starts()));
            let imp = join(&mut spec, &imp).expect("the messages agree");
            let mut solver = solver();
            let mut cx = Ctx::new(&mut spec, &mut solver);
            let watch = &mut |_: &_| ControlFlow::Continue(());
            let found = conform(&mut cx, &imp, &ConformOptions::default(), watch).expect("the same messages");
            assert!(matches!(found.answer, ConformAnswer::Conforms(_)), "{one}: {:?}", found.answer);
        }
    }
}

/// A random condition, as text and as a function of the number.
type Condition = (String, Box<dyn Fn(&Starts, i64) -> bool>);

fn random_condition(rng: &mut ChaCha8Rng, depth: u32) -> Condition {
    let offset = rng.random_range(-2..=3);
    let number = if offset == 0 { "n".to_owned() } else { format!("n + {offset}").replace("+ -", "- ") };
    let fixed = rng.random_range(0..=3);
    match rng.random_range(0..if depth == 0 { 9 } else { 12 }) {
        0 => (format!("s.has({number})"), Box::new(move |it, n| it.s.contains(&(n + offset)))),
        1 => (format!("m.has({number})"), Box::new(move |it, n| it.m.contains_key(&(n + offset)))),
        2 => (format!("xs.contains({number})"), Box::new(move |it, n| it.xs.contains(&(n + offset)))),
        3 => (
            format!("s.without({number}).has({fixed})"),
            Box::new(move |it, n| fixed != n + offset && it.s.contains(&fixed)),
        ),
        4 => (
            format!("m.get({number}) == some({fixed})"),
            Box::new(move |it, n| it.m.get(&(n + offset)) == Some(&fixed)),
        ),
        5 => (
            format!("xs.index_of({number}) == some({fixed})"),
            Box::new(move |it, n| {
                let at = it.xs.iter().position(|item| *item == n + offset);
                at.and_then(|at| i64::try_from(at).ok()) == Some(fixed)
            }),
        ),
        6 => (format!("o != some({number})"), Box::new(move |it, n| it.o != Some(n + offset))),
        7 => (
            format!("m.without({number}).size() < 2"),
            Box::new(move |it, n| it.m.keys().filter(|key| **key != n + offset).count() < 2),
        ),
        8 => (
            format!("s.subset_of({{{fixed}, {number}}})"),
            Box::new(move |it, n| it.s.iter().all(|item| *item == fixed || *item == n + offset)),
        ),
        9 => {
            let (text, holds) = random_condition(rng, depth - 1);
            (format!("!({text})"), Box::new(move |it, n| !holds(it, n)))
        }
        join => {
            let ((a, left), (b, right)) =
                (random_condition(rng, depth - 1), random_condition(rng, depth - 1));
            let word = if join == 10 { "&&" } else { "||" };
            let holds = move |it: &Starts, n| match join {
                10 => left(it, n) && right(it, n),
                _ => left(it, n) || right(it, n),
            };
            (format!("({a} {word} {b})"), Box::new(holds))
        }
    }
}

fn random_starts(rng: &mut ChaCha8Rng) -> Starts {
    let mut some = || (0..rng.random_range(0..4)).map(|_| rng.random_range(0..=3)).collect::<Vec<i64>>();
    let (s, xs, keys) = (some().into_iter().collect(), some(), some());
    let m = keys.into_iter().map(|key| (key, (key + 1) % 4)).collect();
    Starts { s, xs, m, o: rng.random_bool(0.7).then(|| rng.random_range(0..=3)) }
}

#[test]
fn random_questions_are_answered_as_the_collections_of_rust_answer_them() {
    let cases = test_count("IOXIDE_CASES", 80, 3_000);
    let (mut yes, mut no) = (0, 0);
    for seed in 0..cases {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (starts, (text, holds)) = (random_starts(&mut rng), random_condition(&mut rng, 2));
        let mut model = named("asked.iox", &write_asking_model(&text, &starts));
        for n in -3..=6 {
            let expected = holds(&starts, n);
            assert_eq!(answer(&mut model, n), expected, "seed {seed}: {text} for {n}");
            (yes, no) = (yes + u64::from(expected), no + u64::from(!expected));
        }
    }
    println!("{yes} true, {no} false");
    assert!(yes > cases && no > cases);
}

/// The numbers for which a random condition may be true or false; beyond them it is the same for all numbers, since no
/// number with an offset is a member then.
const NUMBERS: std::ops::RangeInclusive<i64> = -4..=6;

/// A condition that lists the numbers for which `holds` is true.
fn listed(holds: impl Fn(i64) -> bool) -> String {
    let is_true_beyond = holds(*NUMBERS.end());
    let exceptions: Vec<String> =
        NUMBERS.filter(|&n| holds(n) != is_true_beyond).map(|n| format!("n == {n}")).collect();
    let exceptions = if exceptions.is_empty() { "n != n".to_owned() } else { exceptions.join(" || ") };
    if is_true_beyond { format!("!({exceptions})") } else { exceptions }
}

/// Random conditions for the solver: `conform` compares the model with one that lists the numbers, all numbers at once,
/// and with one in which the answer for one number is wrong.
#[test]
fn random_questions_are_proved_the_same_as_a_list_of_numbers() {
    let cases = test_count("IOXIDE_CASES", 30, 1_000);
    let mut open = 0;
    for seed in 0..cases {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (starts, (text, holds)) = (random_starts(&mut rng), random_condition(&mut rng, 2));
        let right = listed(|n| holds(&starts, n));
        let flipped = rng.random_range(-3..=5);
        let wrong = listed(|n| holds(&starts, n) != (n == flipped));
        for (other, is_same) in [(&right, true), (&wrong, false)] {
            let mut spec = named("spec.iox", &write_asking_model(other, &starts));
            let imp = named("imp.iox", &write_asking_model(&text, &starts));
            let imp = join(&mut spec, &imp).expect("the messages agree");
            let mut solver = solver();
            let mut cx = Ctx::new(&mut spec, &mut solver);
            let watch = &mut |_: &_| ControlFlow::Continue(());
            let found = conform(&mut cx, &imp, &ConformOptions::default(), watch).expect("the same messages");
            match found.answer {
                ConformAnswer::Conforms(_) => assert!(is_same, "seed {seed}: {text} is not {other}"),
                ConformAnswer::Fails(_) => assert!(!is_same, "seed {seed}: {text} is {other}"),
                ConformAnswer::Unknown(_) => open += 1,
            }
        }
    }
    println!("{} comparisons, {open} open", 2 * cases);
    assert!(open * 20 <= 2 * cases, "{open} are open");
}
