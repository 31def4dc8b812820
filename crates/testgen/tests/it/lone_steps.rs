//! The reduction by lone internal steps against the states it leaves out: the same outputs, silence, inputs and
//! refusals after every trace of random systems of parts.
//!
//! `IOXIDE_LONE=20000 cargo test -p ioxide-testgen --test it lone_steps:: -- --nocapture`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_test_support::test_count;
use ioxide_testgen::conform::InputCompletion;
use ioxide_testgen::conform::explicit::MetLabels;
use ioxide_testgen::conform::explicit::world::{EnumeratedSide, OpenValues, StateSet};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The traces of a system are followed to this length.
const DEPTH: usize = 4;
/// The number of sets of states above which no more traces of one system are followed.
const MAX_SETS: usize = 250;

fn loaded(text: &str) -> Option<Model> {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    load(&sources, file, &LoadOptions::default()).model
}

/// A part with a few states, a number, and messages in both directions; loops of internal steps are likely.
fn random_part(rng: &mut ChaCha8Rng, name: &str) -> String {
    let states = rng.random_range(1..=3);
    let mut text = format!(
        "model {name} {{\n input a(v: 0..1)\n input b\n output x(v: 0..1)\n output y\n var n: 0..1 = 0\n"
    );
    for state in 0..states {
        writeln!(text, " state s{state} {{").expect("text");
        for _ in 0..rng.random_range(1..=3) {
            let target = rng.random_range(0..states);
            let guard = ["", "", " when n == 1", " when n == 0"][rng.random_range(0..4)];
            let update = ["", " { n = 1 - n }", " { n = 0 }"][rng.random_range(0..3)];
            let head = match rng.random_range(0..7) {
                0 => "on a",
                1 => "on b",
                2 => "emit x(v: n)",
                3 => "emit y",
                4 => "emit x",
                _ => "internal",
            };
            writeln!(text, "  {head}{guard}{update} -> s{target}").expect("text");
        }
        text.push_str(" }\n");
    }
    text + "}\n"
}

/// A system in which most messages between parts are hidden.
fn random_system(rng: &mut ChaCha8Rng) -> String {
    let n = rng.random_range(2..=4);
    let mut text: String = (0..n).map(|at| random_part(rng, &format!("M{at}"))).collect();
    text.push_str("system S {\n");
    for at in 0..n {
        writeln!(text, " p{at}: M{at}").expect("text");
    }
    for from in 0..n {
        for (output, input) in [("x", "a"), ("y", "b")] {
            if rng.random_bool(0.6) {
                let to = (from + rng.random_range(1..n)) % n;
                writeln!(text, " p{from}.{output} -> p{to}.{input}").expect("text");
                if rng.random_bool(0.8) {
                    writeln!(text, " hide p{from}.{output}").expect("text");
                }
            }
        }
    }
    text + "}\n"
}

/// The observations of a set of states: outputs and silence, mentioned inputs, refused inputs.
#[derive(Debug, PartialEq, Eq)]
struct Observed {
    reactions: BTreeSet<Option<usize>>,
    inputs: BTreeSet<usize>,
    refused: BTreeSet<usize>,
}

/// One side with its states after a trace.
struct Follower<'m> {
    model: &'m Model,
    side: EnumeratedSide<'m>,
}

impl<'m> Follower<'m> {
    fn new(model: &'m Model, is_reduced: bool) -> Self {
        let gates = model.sts.gates.iter_enumerated().map(|(gate, _)| (gate, gate));
        let side = EnumeratedSide::new(&model.sts, gates, 100_000);
        Self { model, side: if is_reduced { side } else { side.without_reduction() } }
    }

    fn observe(&mut self, labels: &mut MetLabels, states: &StateSet, all: &[usize]) -> Observed {
        let (pool, none) = (&self.model.pool, OpenValues::new());
        let reactions = self.side.reactions(pool, labels, states, &none).expect("few states");
        let inputs = self.side.inputs(pool, labels, states, &none).expect("few states");
        let mut is_refused = |label: &usize| self.side.refuses(pool, labels, states, *label) == Ok(true);
        let refused = all.iter().copied().filter(|label| is_refused(label)).collect();
        Observed { reactions: reactions.into_keys().collect(), inputs: inputs.into_keys().collect(), refused }
    }

    fn follow(
        &mut self,
        labels: &mut MetLabels,
        states: &StateSet,
        label: Option<usize>,
        is_input: bool,
    ) -> StateSet {
        let pool = &self.model.pool;
        if let (Some(label), true) = (label, is_input) {
            let after = self.side.give_input(pool, labels, (states, label), InputCompletion::Angelic);
            return after.expect("few states");
        }
        let none = OpenValues::new();
        self.side
            .reactions(pool, labels, states, &none)
            .expect("few states")
            .remove(&label)
            .expect("observed")
    }
}

/// Every input of the system as a label, and its number.
fn all_inputs(model: &Model, labels: &mut MetLabels) -> Vec<usize> {
    let mut found = Vec::new();
    for (gate, declared) in model.sts.gates.iter_enumerated() {
        if declared.kind != GateKind::Input {
            continue;
        }
        let mut messages = vec![Vec::new()];
        for &field in &declared.fields {
            let values = model.pool.finite_domain(model.pool.var_info(field).sort).expect("small");
            messages = messages
                .iter()
                .flat_map(|message: &Vec<_>| {
                    values.iter().map(move |value| [message.as_slice(), std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        found.extend(messages.into_iter().map(|message| labels.number_of(Label::Input(gate, message))));
    }
    found
}

/// Follows all traces of a system with and without the reduction; returns the numbers of states of all sets.
fn compare(model: &Model, context: &str) -> (usize, usize) {
    let mut labels = MetLabels::default();
    let inputs = all_inputs(model, &mut labels);
    let (mut reduced, mut full) = (Follower::new(model, true), Follower::new(model, false));
    let start = |side: &mut Follower<'_>, labels: &mut MetLabels| {
        side.side.initial_states(&model.pool, labels).expect("few states")
    };
    let mut open = vec![(start(&mut reduced, &mut labels), start(&mut full, &mut labels), 0)];
    let mut seen: BTreeSet<(StateSet, StateSet)> = BTreeSet::new();
    let (mut few, mut many) = (0, 0);
    while let Some((ours, theirs, depth)) = open.pop() {
        if seen.len() == MAX_SETS || !seen.insert((ours.clone(), theirs.clone())) {
            continue;
        }
        few += ours.len();
        many += theirs.len();
        let found = reduced.observe(&mut labels, &ours, &inputs);
        assert_eq!(found, full.observe(&mut labels, &theirs, &inputs), "{context}");
        if depth == DEPTH {
            continue;
        }
        let reactions = found.reactions.iter().map(|&label| (label, false));
        for (label, is_input) in reactions.chain(inputs.iter().map(|&label| (Some(label), true))) {
            let ours = reduced.follow(&mut labels, &ours, label, is_input);
            let theirs = full.follow(&mut labels, &theirs, label, is_input);
            assert_eq!(ours.is_empty(), theirs.is_empty(), "{context}");
            if !ours.is_empty() {
                open.push((ours, theirs, depth + 1));
            }
        }
    }
    (few, many)
}

#[test]
fn lone_steps_leave_out_no_observation() {
    let n = test_count("IOXIDE_LONE", 150, 5_000);
    let (mut few, mut many, mut systems) = (0, 0, 0);
    for seed in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let text = random_system(&mut rng);
        let Some(model) = loaded(&text) else { continue };
        let (kept, all) = compare(&model, &format!("seed {seed}:\n{text}"));
        systems += 1;
        few += kept;
        many += all;
    }
    println!("{systems} systems, {few} of {many} states");
    assert!(systems > n / 2, "most systems have a model: {systems} of {n}");
    assert!(few * 4 < many * 3, "the reduction does something: {few} of {many}");
}

/// Places in a row: one state after each trace, where any of the places may hold what was put in.
#[test]
fn a_row_of_places_is_in_one_state_after_each_trace() {
    let text =
        "model Place { input put output get state empty { on put -> full } state full { emit get -> empty } }
        system Row { place[i in 1..12]: Place last: Place place[i].get -> place[i + 1].put
            place[12].get -> last.put hide place.get }";
    let model = loaded(text).expect("a model");
    let mut labels = MetLabels::default();
    let input = all_inputs(&model, &mut labels)[0];
    for (is_reduced, after_three) in [(true, 1), (false, 286)] {
        let mut side = Follower::new(&model, is_reduced);
        let mut states = side.side.initial_states(&model.pool, &mut labels).expect("few");
        for _ in 0..3 {
            states = side.follow(&mut labels, &states, Some(input), true);
        }
        assert_eq!(states.len(), after_three);
    }
}

/// Internal steps in a circle are never silent, and what can be done on the circle can still be done.
#[test]
fn a_circle_of_internal_steps_is_not_silent() {
    let text = "model Turning { state a { internal -> b } state b { internal -> a } }
        model Speaking { input go output done state idle { on go -> busy } state busy { emit done -> idle } }
        system S { turning: Turning speaking: Speaking }";
    let model = loaded(text).expect("a model");
    let (few, many) = compare(&model, "circle");
    assert!(few < many);
    let mut labels = MetLabels::default();
    let inputs = all_inputs(&model, &mut labels);
    let mut side = Follower::new(&model, true);
    let start = side.side.initial_states(&model.pool, &mut labels).expect("few");
    let observed = side.observe(&mut labels, &start, &inputs);
    assert!(observed.reactions.is_empty() && observed.inputs.len() == 1 && observed.refused.is_empty());
}
