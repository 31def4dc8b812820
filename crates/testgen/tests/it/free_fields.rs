//! Messages with fields that cannot be listed: the search state by state tries representatives.
//!
//! The second opinion is a search of its own, which tries every value of a window around the constants: a difference
//! there is a difference. `IOXIDE_PAIRS` sets the number of random pairs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use ioxide_model::concrete::{ConcreteState, initial_state, internal_successors, successors};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_symex::{Ctx, Monitor};
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformOptions, ConformProof, InputCompletion, SearchBounds, conform,
};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{MutationOperator, mutants};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{named, solver};

fn compare(imp: &str, spec: &str) -> ConformAnswer {
    let mut spec = named("spec.iox", spec);
    let imp = join(&mut spec, &named("imp.iox", imp)).expect("the messages agree");
    let mut solver = solver();
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let bounds = SearchBounds { max_states: 2_000, ..SearchBounds::default() };
    let options = ConformOptions { bounds, ..ConformOptions::default() };
    conform(&mut cx, &imp, &options, &mut |_| ControlFlow::Continue(())).expect("the same messages").answer
}

fn steps(answer: &ConformAnswer) -> Option<usize> {
    if let ConformAnswer::Fails(witness) = answer { Some(witness.trace.len()) } else { None }
}

/// A counter that may count one too much and never says so: too many states at once for a symbolic search.
fn counter(free: &str, when: &str) -> String {
    format!(
        "model Counter {{ input inc(d: 0..3) output at(v: 0..40) output free(k: {free}) var n: 0..40 = 0
            state s {{ exact: on inc when n + d <= 40 {{ n = n + d }} -> s
                       sloppy: on inc when n + d + 1 <= 40 {{ n = n + d + 1 }} -> s
                       full: on inc when n + d > 40 -> s
                       emit free -> s
                       tell: emit at(v: n) when {when} -> s
                       other: emit at(v: 22) when n == 21 && !({when}) -> s }} }}"
    )
}

#[test]
fn an_unrelated_free_field_changes_no_answer() {
    let all = "n > 0";
    let but_one = "n > 0 && n != 21";
    let listed = compare(&counter("0..6", but_one), &counter("0..6", all));
    assert_eq!(steps(&listed), Some(7), "{listed:?}");
    for free in ["int", "string", "real", "list<int>"] {
        let found = compare(&counter(free, but_one), &counter(free, all));
        assert_eq!(steps(&found), Some(7), "{free}: {found:?}");
        let same = compare(&counter(free, all), &counter(free, all));
        assert_eq!(same, ConformAnswer::Conforms(ConformProof::Represented), "{free}");
    }
}

#[test]
fn an_unrelated_free_field_leaves_no_mutant_open() {
    let decided = |free: &str| -> Vec<bool> {
        let text = counter(free, "n > 0").replace("22", "6").replace("n == 21", "n == 5").replace("40", "21");
        let mut model = named("counter.iox", &text);
        let all = mutants(&mut model, &[MutationOperator::GuardConstant]);
        let mut solver = solver();
        let mut cx = Ctx::new(&mut model, &mut solver);
        // The graph of the model is for many mutants; here it would take longer than all of them.
        let off = BTreeSet::from([Optimisation::Precompute]);
        let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
        let mut found = Vec::new();
        for mutant in &all {
            let verdict = analysis.decide(&mut cx, mutant, &mut |_| ControlFlow::Continue(()));
            found.push(match verdict.answer {
                ConformAnswer::Fails(_) => true,
                ConformAnswer::Conforms(_) => false,
                ConformAnswer::Unknown(doubt) => panic!("{free}, {}: {doubt}", mutant.id),
            });
        }
        found
    };
    let (listed, free) = (decided("0..6"), decided("int"));
    assert_eq!(listed, free);
    assert!(listed.contains(&true) && listed.contains(&false));
}

/// A value that was stored is answered only if it is asked for again, and another only if it is not 7.
fn memory(answer: &str) -> String {
    format!(
        "model Memory {{ input put(k: int) input ask(k: int) output same(k: int) output other(k: int)
            var held: int = 0 var asked: int = 0
            state idle {{ on put {{ held = k }} -> idle  on ask {{ asked = k }} -> asking }}
            state asking {{ {answer} }} }}"
    )
}

#[test]
fn stored_values_are_told_apart_by_name() {
    let right = memory(
        "emit same(k: asked) when asked == held -> idle emit other when asked != held && k != 7 -> idle",
    );
    assert!(matches!(compare(&right, &right), ConformAnswer::Conforms(_)));
    let mut pool_free = named("memory.iox", &right);
    let same = join(&mut pool_free, &named("memory.iox", &right)).expect("the same messages");
    let (pool, sts) = (&pool_free.pool, &pool_free.sts);
    let budget = EnumerationBudget::default();
    assert_eq!(ioco(pool, &same, sts, InputCompletion::Angelic, budget), EnumerationResult::Conforms);
    for (wrong, expected) in [
        // The value after the one that was asked for, the wrong one, and the one that is never sent.
        ("emit same(k: held) when asked != held -> idle emit other when asked == held -> idle", 2),
        ("emit same(k: asked) when asked == held -> idle emit other when asked != held -> idle", 2),
        ("emit same(k: asked) when asked == 3 -> idle emit other when asked != held && k != 7 -> idle", 2),
    ] {
        let imp = join(&mut pool_free, &named("wrong.iox", &memory(wrong))).expect("the same messages");
        let found = ioco(&pool_free.pool, &imp, &pool_free.sts, InputCompletion::Angelic, budget);
        let EnumerationResult::Fails(trace) = found else { panic!("{wrong}: {found:?}") };
        assert_eq!(trace.len(), expected, "{wrong}: {trace:?}");
    }
}

#[test]
fn values_that_are_computed_with_are_not_represented() {
    // Sums of stored values are no names: every state is new.
    let sum = "model Sum { input put(k: int) output total(k: int) var n: int = 0
        state s { on put { n = n + k } -> s emit total(k: n) -> s } }";
    let mut model = named("sum.iox", sum);
    let same = join(&mut model, &named("sum.iox", sum)).expect("the same messages");
    let found = ioco(&model.pool, &same, &model.sts, InputCompletion::Angelic, EnumerationBudget::default());
    assert_eq!(found, EnumerationResult::GaveUp);
}

// Random pairs.

/// The values that the second opinion tries; the constants of the models lie between 0 and 2.
const WINDOW: std::ops::RangeInclusive<i64> = -2..=5;
const DEPTH: usize = 4;

fn n_pairs() -> u64 {
    test_count("IOXIDE_PAIRS", 60, 6_000)
}

/// Makes transitions of one of the two kinds of models.
struct Makes {
    rng: ChaCha8Rng,
    /// True if values are stored and only compared; false if they are compared with what is computed, and forgotten.
    is_named: bool,
}

impl Makes {
    fn pick<'t>(&mut self, among: &[&'t str]) -> &'t str {
        among[self.rng.random_range(0..among.len())]
    }

    fn condition(&mut self, fields: &[&str]) -> String {
        let constant = ["0", "1", "2"];
        let field = fields.first().copied();
        if self.is_named {
            let named = [&["x", "y"][..], fields].concat();
            let one = self.pick(&named);
            return match self.rng.random_range(0..4) {
                0 => format!("{one} {} {}", self.pick(&["<", "<=", ">"]), self.pick(&constant)),
                1 => format!("{one} {} {}", self.pick(&["==", "!="]), self.pick(&constant)),
                _ => {
                    let other = self.pick(&named);
                    format!("{one} {} {other}", self.pick(&["==", "!="]))
                }
            };
        }
        let known = ["x", "y", "x + y", "x - 1", "0", "1", "2"];
        match (field, self.rng.random_range(0..3)) {
            (Some(field), 0 | 1) => {
                let with = self.pick(&known);
                format!("{field} {} {with}", self.pick(&["==", "!=", "<", "<=", ">", ">="]))
            }
            _ => {
                format!("{} {} {}", self.pick(&["x", "y"]), self.pick(&["==", "<", "!="]), self.pick(&known))
            }
        }
    }

    fn update(&mut self, fields: &[&str]) -> Option<String> {
        if !self.rng.random_bool(0.5) {
            return None;
        }
        let to = self.pick(&["x", "y"]);
        let values: Vec<&str> = if self.is_named {
            [&["x", "y", "0", "1"][..], fields, fields].concat()
        } else {
            vec!["x", "y", "0", "1", "2"]
        };
        Some(format!("{to} = {}", self.pick(&values)))
    }

    fn transition(&mut self) -> (usize, String) {
        let messages = [
            ("on put", &["k"][..]),
            ("on go", &[]),
            ("emit out", &["k"]),
            ("emit out", &["k"]),
            ("emit both", &["k", "j"]),
            ("emit tick", &[]),
            ("internal", &[]),
        ];
        let (verb, fields) = messages[self.rng.random_range(0..messages.len())];
        let n = self.rng.random_range(0..3);
        let guards: Vec<String> = (0..n).map(|_| self.condition(fields)).collect();
        let when = if guards.is_empty() { String::new() } else { format!(" when {}", guards.join(" && ")) };
        let update = self.update(fields).map_or(String::new(), |update| format!(" {{ {update} }}"));
        let to = self.rng.random_range(0..2);
        (self.rng.random_range(0..2), format!("{verb}{when}{update} -> s{to}"))
    }
}

fn text(transitions: &[(usize, String)], is_named: bool) -> String {
    let sort = if is_named { "int" } else { "0..2" };
    let mut text = format!(
        "model Free {{ input put(k: int) input go output out(k: int) output both(k: int, j: int) output tick
            var x: {sort} = 0 var y: {sort} = 1\n"
    );
    for state in 0..2 {
        let of: Vec<&str> =
            transitions.iter().filter(|(from, _)| *from == state).map(|(_, line)| line.as_str()).collect();
        text += &format!("state s{state} {{\n  {}\n}}\n", of.join("\n  "));
    }
    text + "}"
}

/// The texts of an implementation and a specification.
fn pair(seed: u64) -> (String, String) {
    let is_named = seed.is_multiple_of(2);
    let mut makes = Makes { rng: ChaCha8Rng::seed_from_u64(seed), is_named };
    let n = makes.rng.random_range(3..7);
    let spec: Vec<(usize, String)> = (0..n).map(|_| makes.transition()).collect();
    let mut imp = spec.clone();
    let at = makes.rng.random_range(0..n);
    match makes.rng.random_range(0..4) {
        0 => drop(imp.remove(at)),
        1 => imp.push(makes.transition()),
        _ => imp[at] = makes.transition(),
    }
    (text(&imp, is_named), text(&spec, is_named))
}

type States = BTreeSet<ConcreteState>;

/// A system that is played with every value of the window.
struct Played<'m> {
    model: &'m Model,
    sts: &'m Sts,
}

impl Played<'_> {
    fn close_under_internal_steps(&self, states: impl IntoIterator<Item = ConcreteState>) -> States {
        let mut found: States = states.into_iter().collect();
        let mut open: Vec<ConcreteState> = found.iter().cloned().collect();
        while let Some(state) = open.pop() {
            for next in internal_successors(&self.model.pool, self.sts, &state).expect("known values") {
                if found.insert(next.state.clone()) {
                    open.push(next.state);
                }
            }
        }
        found
    }

    fn start(&self) -> States {
        self.close_under_internal_steps(initial_state(&self.model.pool, self.sts))
    }

    fn taken(&self, state: &ConcreteState, label: &Label) -> Vec<ConcreteState> {
        let next = successors(&self.model.pool, self.sts, state, label).expect("known values");
        next.into_iter().map(|next| next.state).collect()
    }

    fn is_stable(&self, state: &ConcreteState) -> bool {
        internal_successors(&self.model.pool, self.sts, state).expect("known values").is_empty()
    }

    /// The states after `label`; silence where no output of any value is enabled, which guards show at once: their
    /// constants lie within the window, and it has values beside them.
    fn after(&self, states: &States, label: &Label, labels: &[Label], ignores: bool) -> States {
        let mut next = Vec::new();
        for state in states {
            match label {
                Label::Quiescence => {
                    let speaks =
                        |it: &Label| matches!(it, Label::Output(..)) && !self.taken(state, it).is_empty();
                    if self.is_stable(state) && !labels.iter().any(speaks) {
                        next.push(state.clone());
                    }
                }
                label => {
                    let taken = self.taken(state, label);
                    if taken.is_empty()
                        && ignores
                        && matches!(label, Label::Input(..))
                        && self.is_stable(state)
                    {
                        next.push(state.clone());
                    }
                    next.extend(taken);
                }
            }
        }
        self.close_under_internal_steps(next)
    }
}

/// Every label of the window.
fn window(sts: &Sts) -> Vec<Label> {
    let mut labels = vec![Label::Quiescence];
    let visible = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal);
    for (id, gate) in visible {
        let mut messages = vec![Vec::new()];
        for _ in &gate.fields {
            let longer = |message: &Vec<Value>| {
                let message = message.clone();
                WINDOW.map(move |n| message.iter().cloned().chain([Value::int(n)]).collect())
            };
            messages = messages.iter().flat_map(longer).collect();
        }
        labels.extend(messages.into_iter().filter_map(|values| Label::message(sts, id, values)));
    }
    labels
}

/// The result of trying every value of the window.
#[derive(Clone, Copy, Debug)]
enum InWindow {
    /// The length of the shortest difference.
    Difference(usize),
    /// There is no difference in this many steps.
    NoneWithin(usize),
}

/// Tries every value of the window, up to [`DEPTH`] steps.
fn difference(model: &Model, imp: &Sts) -> InWindow {
    let (imp, spec) = (Played { model, sts: imp }, Played { model, sts: &model.sts });
    let labels = window(&model.sts);
    let mut layer = vec![(imp.start(), spec.start())];
    let mut seen: HashSet<(States, States)> = layer.iter().cloned().collect();
    for depth in 1..=DEPTH {
        let mut next = Vec::new();
        for (left, right) in &layer {
            for label in &labels {
                let allowed = spec.after(right, label, &labels, false);
                if allowed.is_empty() && matches!(label, Label::Input(..)) {
                    continue;
                }
                let doing = imp.after(left, label, &labels, true);
                if doing.is_empty() {
                    continue;
                }
                if allowed.is_empty() {
                    return InWindow::Difference(depth);
                }
                if seen.insert((doing.clone(), allowed.clone())) {
                    next.push((doing, allowed));
                }
            }
        }
        // Beyond this many, a level takes too long.
        if next.len() > 400 {
            return InWindow::NoneWithin(depth);
        }
        layer = next;
    }
    InWindow::NoneWithin(DEPTH)
}

fn is_within(trace: &Trace) -> bool {
    let inside = |value: &Value| value.as_int().and_then(|n| n.to_i64()).is_some_and(|n| WINDOW.contains(&n));
    trace.labels.iter().all(|label| match label {
        Label::Input(_, values) | Label::Output(_, values) => values.iter().all(inside),
        Label::Quiescence | Label::Delay(_) => true,
    })
}

#[test]
fn representatives_find_what_all_values_of_a_window_find() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..n_pairs() {
        let (imp, spec) = pair(seed);
        let mut spec_model = named("spec.iox", &spec);
        let imp_sts = join(&mut spec_model, &named("imp.iox", &imp)).expect("the same messages");
        let budget = EnumerationBudget { states: 20_000, steps: 300_000 };
        let found = ioco(&spec_model.pool, &imp_sts, &spec_model.sts, InputCompletion::Angelic, budget);
        let expected = difference(&spec_model, &imp_sts);
        let told = || format!("seed {seed}: {found:?} but {expected:?}\n{imp}\n{spec}");
        let kind = match (&found, expected) {
            (EnumerationResult::Conforms, InWindow::Difference(_)) => panic!("{}", told()),
            (EnumerationResult::Conforms, InWindow::NoneWithin(_)) => "conforms",
            (EnumerationResult::Fails(trace), InWindow::Difference(at)) => {
                assert!(trace.len() <= at && (trace.len() == at || !is_within(trace)), "{}", told());
                "fails"
            }
            (EnumerationResult::Fails(trace), InWindow::NoneWithin(depth)) => {
                assert!(trace.len() > depth || !is_within(trace), "{}", told());
                "fails beyond"
            }
            (EnumerationResult::GaveUp, _) => "open",
        };
        *counts.entry(kind).or_default() += 1;
        if let EnumerationResult::Fails(trace) = &found {
            assert_shows(&mut spec_model, &imp_sts, trace);
        }
    }
    println!("{counts:?}");
    let count = |kind| counts.get(kind).copied().unwrap_or(0);
    assert!(count("conforms") > n_pairs() / 10 && count("fails") > n_pairs() / 10, "{counts:?}");
    assert!(count("open") <= n_pairs() / 5, "{counts:?}");
}

/// The whole comparison, which may answer symbolically, never contradicts the window.
#[test]
fn conform_finds_what_all_values_of_a_window_find() {
    let n_pairs = test_count("IOXIDE_PAIRS", 20, 1_000);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 0..n_pairs {
        let (imp, spec) = pair(seed);
        let mut spec_model = named("spec.iox", &spec);
        let imp_sts = join(&mut spec_model, &named("imp.iox", &imp)).expect("the same messages");
        let expected = difference(&spec_model, &imp_sts);
        let mut solver = solver();
        let mut cx = Ctx::new(&mut spec_model, &mut solver);
        let bounds = SearchBounds { max_states: 60, ..SearchBounds::default() };
        let options = ConformOptions { bounds, ..ConformOptions::default() };
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let answer = conform(&mut cx, &imp_sts, &options, watch).expect("the same messages").answer;
        let told = || format!("seed {seed}: {expected:?} {answer:?}\n{imp}\n{spec}");
        let kind = match (&answer, expected) {
            (ConformAnswer::Conforms(_), InWindow::Difference(_)) => panic!("{}", told()),
            (ConformAnswer::Conforms(_), InWindow::NoneWithin(_)) => "conforms",
            (ConformAnswer::Fails(_), _) => "fails",
            (ConformAnswer::Unknown(_), _) => "open",
        };
        *counts.entry(kind).or_default() += 1;
        if let ConformAnswer::Fails(witness) = &answer {
            assert_shows(&mut spec_model, &imp_sts, &witness.trace);
        }
    }
    println!("{counts:?}");
    let count = |kind| counts.get(kind).copied().unwrap_or(0);
    assert!(count("conforms") > n_pairs / 10 && count("fails") > n_pairs / 10, "{counts:?}");
}

/// The implementation has the trace, and the specification forbids its last label and no other.
fn assert_shows(spec: &mut Model, imp: &Sts, trace: &Trace) {
    let copy = spec.clone();
    let played = Played { model: &copy, sts: imp };
    let labels = window(imp);
    let mut states = played.start();
    for label in &trace.labels {
        states = played.after(&states, label, &labels, true);
    }
    assert!(!states.is_empty(), "{trace:?}");
    let mut solver = solver();
    let mut cx = Ctx::new(spec, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let (last, before) = trace.labels.split_last().expect("a label");
    for label in before {
        monitor.observe(&mut cx, label).expect("allowed");
    }
    assert!(monitor.observe(&mut cx, last).is_err(), "{trace:?}");
}
