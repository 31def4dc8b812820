//! Systems of parts: what is refused is told, what is accepted loses nothing, and names have no meaning of their own.

mod common;

use std::time::{Duration, Instant};

use common::{load_text, render};
use ioxide_lang::{LoadOptions, channel, gather, load, through};
use ioxide_model::code::Code;
use ioxide_model::compose::Channel;
use ioxide_model::concrete::{initial_state, is_enabled};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model, Switch};
use ioxide_model::value::Value;

#[track_caller]
fn model(text: &str) -> Model {
    let (sources, loaded) = load_text("m.iox", text);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{}", render(&sources, &loaded.diagnostics)))
}

/// The errors of `text`.
fn errors(name: &str, text: &str) -> Vec<Diagnostic> {
    let (_, loaded) = load_text(name, text);
    loaded.diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn channels() -> Vec<Channel> {
    ["fifo(capacity: 2)", "bag(capacity: 3)", "fifo(capacity: 1, may_lose: true, may_duplicate: true)"]
        .map(|text| channel(text).expect("a channel"))
        .to_vec()
}

/// The switches of `model` by which the message called `name` is seen and that complete nothing.
fn seen_by(model: &Model, name: &str) -> usize {
    let gate = model.sts.gate_named(name).unwrap_or_else(|| panic!("there is `{name}`"));
    let is_it = |switch: &&Switch| switch.gate == gate && !model.sts.is_completion(switch);
    model.sts.switches.iter().filter(is_it).count()
}

const ASKED: &str = "model A { input go output x state s { on go -> t } state t { emit x -> s } }";

#[test]
fn names_of_parts_mean_nothing_to_a_channel() {
    for channel in channels() {
        let mut sizes = Vec::new();
        for name in ["plain", "chaos", "model", "to", "from", "unspecified"] {
            let seen = through(&model(&format!("{ASKED}\n system S {{ {name}: A b: A }}")), &channel);
            let seen = seen.unwrap_or_else(|why| panic!("{name}: {why:?}"));
            let n_completing = seen.sts.switches.iter().filter(|it| seen.sts.is_completion(it)).count();
            assert!(n_completing > 0, "{name}");
            sizes.push((
                seen.sts.gates.len(),
                seen.sts.switches.len(),
                n_completing,
                seen_by(&seen, &format!("{name}.go")),
                seen_by(&seen, &format!("{name}.x")),
            ));
        }
        assert!(sizes[0].3 > 0 && sizes[0].4 > 0, "{sizes:?}");
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    }
}

#[test]
fn names_of_states_and_labels_mean_nothing_to_a_channel() {
    let text = "def M { state { n: int } init { n := 0 } actions {
        ?unspecified() if True then { { n := 1 } [] slow: { n := 2 } }
        !v(y: int) if y == n then { } } }";
    let (sources, loaded) = load_text("m.as", text);
    let labelled = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
    assert!(labelled.sts.switches.iter().any(|switch| switch.label.starts_with("unspecified-")));
    let named = model(
        "model A { input go output x
        state unspecified { on go -> t } state t { emit x -> unspecified } }",
    );
    for channel in channels() {
        let seen = through(&labelled, &channel).expect("it can be seen");
        let is_own = |switch: &&Switch| {
            let moves = seen.sts.composition.as_ref().and_then(|parts| parts.moves.get(&switch.label));
            moves.is_some_and(|moves| moves.iter().any(|step| &*step.switch == "unspecified-slow"))
        };
        let own: Vec<&Switch> = seen.sts.switches.iter().filter(is_own).collect();
        assert!(!own.is_empty() && own.iter().all(|switch| !seen.sts.is_completion(switch)));

        let seen = through(&named, &channel).expect("it can be seen");
        let start = initial_state(&seen.pool, &seen.sts).expect("initial values");
        assert!(!seen.sts.is_open(|var| start.values.get(var).cloned()), "nothing was sent yet");
    }
}

#[test]
fn a_model_that_only_sends_or_only_receives_is_seen_through_a_channel() {
    let timed = channel("fifo(capacity: 2, min_delay: 1s, max_delay: 2s)").expect("a channel");
    for (text, kind, name) in [
        (
            "model A { clock c output x state s { emit x when c >= 1 { reset c } -> s } }",
            GateKind::Output,
            "x",
        ),
        ("model A { clock c input x state s { on x when c >= 1 { reset c } -> s } }", GateKind::Input, "x"),
    ] {
        for channel in channels().into_iter().chain([timed.clone()]) {
            let seen = through(&model(text), &channel).expect("it can be seen");
            assert!(seen_by(&seen, name) > 0, "{text} {channel}");
            assert!(seen.sts.gates.iter().skip(1).all(|gate| gate.kind == kind), "{text} {channel}");
        }
    }
    let silent = through(&model("model A { clock c state s { } }"), &timed).expect("it can be seen");
    assert_eq!(silent.sts.gates.len(), 1);
}

#[test]
fn a_rest_of_all_items_is_no_part() {
    let with = |body: &str| {
        format!(
            "model M {{ fn f(xs: list<int>) -> int = {body}
             input go(xs: list<int>) state s {{ on go when f(xs) == 1 -> s }} }}"
        )
    };
    for endless in [
        "match xs { [] => 0, [..rest] => f(rest) + 1 }",
        "match xs { [] => 0, [..rest] => match rest { [] => 0, [..more] => f(more) + 1 } }",
        "match (xs) { [] => 0, [..rest] => f((rest)) + 1 }",
    ] {
        let found = errors("m.iox", &with(endless));
        assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), [Code::MayNotEnd], "{endless}");
    }
    for ending in [
        "match xs { [] => 0, [_, ..rest] => f(rest) + 1 }",
        "match xs { [] => 0, [_, ..rest] => match rest { [] => 0, [..more] => f(more) + 1 } }",
        "match xs { [] => 0, [..rest] => match rest { [] => 0, [_, ..more] => f(more) + 1 } }",
    ] {
        let found = errors("m.iox", &with(ending));
        assert!(found.is_empty(), "{ending}: {found:?}");
    }
}
