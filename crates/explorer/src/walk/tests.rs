use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::scripted::ScriptedSolver;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use proptest::prelude::*;

use super::symbolic::{SwitchPath, SwitchPossibility};
use super::{LabelJudgement, ModelWalk, read};

const MACHINE: &str = "model M { enum Cup { small, large } record P { x: int, y: real }
    input coin(n: 1..9) input pick(cup: Cup, note: string, at: P, tip: int?)
    output tea(cup: Cup) output change(n: int) output hello
    var sum: int = 0 var size: Cup = small
    state idle { a: on coin { sum = sum + n } -> paid h: emit hello -> idle }
    state paid {
        b: on pick when cup == small || sum > 5 { size = cup } -> made
        c: on coin when sum < 20 { sum = sum + n } -> paid
    }
    state made { d: emit tea(cup: size) -> rest }
    state rest { e: emit change(n: sum) when sum > 0 { sum = 0 } -> idle }
}";

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn walking<T>(text: &str, act: impl FnOnce(&mut ModelWalk<'_>) -> T) -> T {
    let mut model = model(text);
    let mut solver = build_stack(&SolverConfig::default());
    act(&mut ModelWalk::new(Ctx::new(&mut model, &mut solver)))
}

#[test]
fn a_path_of_choices_can_be_written_down_and_followed_again() {
    let texts = walking(MACHINE, |walk| {
        for _ in 0..9 {
            let choice = walk.choices().into_iter().last().expect("something can always come");
            let label = choice.label_with(&mut walk.cx, &[]).expect("an offer has values");
            assert_eq!(walk.observe(label), LabelJudgement::Allowed);
        }
        let show = |taken: &super::TakenStep| read::label_text(walk.cx.pool, walk.cx.sts, &taken.label);
        walk.steps().iter().map(show).collect::<Vec<_>>()
    });
    walking(MACHINE, |walk| {
        for text in &texts {
            let label = walk.parse_label(text).expect(text);
            assert_eq!(&read::label_text(walk.cx.pool, walk.cx.sts, &label), text);
            assert_eq!(walk.observe(label), LabelJudgement::Allowed, "{text}");
        }
    });
}

#[test]
fn the_belief_is_that_of_the_monitor_and_a_common_prefix_is_kept() {
    walking(MACHINE, |walk| {
        let labels: Vec<Label> =
            ["coin(n: 3)", "?coin(n: 4)"].map(|text| walk.parse_label(text).expect("a message")).into();
        let last = walk.parse_label("!hello").expect("a message");
        assert_eq!(walk.follow_labels(&labels), (2, None));
        let forbidden = [&labels[..1], &[last]].concat();
        let (taken, why) = walk.follow_labels(&forbidden);
        assert_eq!((taken, why.expect("no hello now").observed.as_str()), (1, "!hello"));
        assert_eq!(walk.steps().len(), 1);
        let mut monitor = Monitor::new(&mut walk.cx);
        monitor.observe(&mut walk.cx, &labels[0]).expect("allowed");
        assert_eq!(walk.monitor().belief(), monitor.belief());
        assert_eq!(walk.undo(), Some(labels[0].clone()));
        assert_eq!(walk.undo(), None);
        let start = Monitor::new(&mut walk.cx);
        assert_eq!(walk.monitor().belief(), start.belief());
    });
}

#[test]
fn fields_left_out_get_values_that_fit_and_examples_differ() {
    walking(MACHINE, |walk| {
        let coin = walk.parse_label("coin").expect("values are found");
        assert_eq!(walk.observe(coin), LabelJudgement::Allowed);
        let pick = walk.parse_label("pick(cup: small)").expect("values are found");
        assert!(read::label_text(walk.cx.pool, walk.cx.sts, &pick).starts_with("?pick(cup: small, note: "));
        let choice = walk.choices().into_iter().find(|choice| choice.facts.len() == 1).expect("a choice");
        let examples = choice.examples(&mut walk.cx, 6, 1);
        assert!(examples.len() >= 2, "{examples:?}");
        for (i, example) in examples.iter().enumerate() {
            assert!(!examples[..i].contains(example));
            let mut monitor = walk.monitor().clone();
            assert!(monitor.observe(&mut walk.cx, example).is_ok());
        }
    });
}

#[test]
fn switches_are_followed_symbolically_and_have_a_concrete_trace() {
    walking(MACHINE, |walk| {
        let mut path = SwitchPath::new(&mut walk.cx);
        for name in ["a", "c", "b", "d", "e"] {
            let switch = walk.cx.sts.switch_named(name).expect(name);
            assert!(path.take_switch(&mut walk.cx, switch), "{name}");
        }
        assert!(path.state().path.facts().len() > 1);
        let open = path.open_switches(&mut walk.cx);
        assert!(open.iter().all(|(_, possible)| *possible == SwitchPossibility::Yes));
        let unreachable = walk.cx.sts.switch_named("b").expect("b");
        assert!(!path.take_switch(&mut walk.cx, unreachable));
        let witness = path.witness(&mut walk.cx).expect("the path is possible");
        assert_eq!(walk.follow_labels(&witness), (5, None));
    });
}

/// A switch that was taken back leaves no doubt behind.
#[test]
fn doubt_goes_with_the_switch_that_is_undone() {
    let mut model = model(MACHINE);
    let mut solver = ScriptedSolver::default();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut path = SwitchPath::new(&mut cx);
    let [coin, more] = ["a", "c"].map(|name| cx.sts.switch_named(name).expect(name));
    assert!(
        path.take_switch(&mut cx, coin) && path.take_switch(&mut cx, more) && path.take_switch(&mut cx, more)
    );
    let n = path.n_doubtful();
    assert!(n >= 2, "a solver that answers nothing leaves the guards open: {n}");
    path.undo();
    assert_eq!(path.n_doubtful(), n - 1);
    while path.undo().is_some() {}
    assert_eq!(path.n_doubtful(), 0);
}

#[test]
fn time_is_read_as_models_write_it() {
    let clock = "model T { input go output done clock c
        state s { a: on go { reset c } -> t } state t { b: emit done when c <= 2s -> s } }";
    walking(clock, |walk| {
        for text in ["go", "+1.5s", "wait 500ms", "done"] {
            let label = walk.parse_label(text).expect(text);
            assert_eq!(walk.observe(label), LabelJudgement::Allowed, "{text}");
        }
        assert!(walk.parse_label("wait -1").is_err() && walk.parse_label("+soon").is_err());
        let mut path = SwitchPath::new(&mut walk.cx);
        for name in ["a", "b"] {
            let switch = walk.cx.sts.switch_named(name).expect(name);
            assert!(path.take_switch(&mut walk.cx, switch));
        }
        let witness = path.witness(&mut walk.cx).expect("possible");
        assert_eq!(walk.follow_labels(&witness).1, None);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_step_or_a_message_about_it(texts in proptest::collection::vec(
        prop_oneof![".{0,40}", "[?!]?(coin|pick|tea|change)\\(?[a-z0-9:, \
                                \"\\\\u{}()]{0,30}\\)?", "(\\+|wait )[0-9./a-z-]{0,80}"], 1..4)) {
        walking(MACHINE, |walk| {
            for text in &texts {
                if let Ok(label) = walk.parse_label(text) {
                    let _ = walk.observe(label);
                }
            }
        });
    }

    #[test]
    fn a_message_with_any_string_reads_back(note in any::<String>(), x in any::<i64>(), n in 1i64..1000) {
        walking(MACHINE, |walk| {
            let written = format!("?pick(cup: large, note: {}, at: P(x: {x}, y: {x}/{n}), tip: some({n}))",
                serde_json::Value::from(note.clone()));
            let label = walk.parse_label(&written).expect("a message");
            let text = read::label_text(walk.cx.pool, walk.cx.sts, &label);
            let again = walk.parse_label(&text).expect("reads back");
            let Label::Input(_, values) = &label else { panic!("{label:?}") };
            assert_eq!(values[1].as_str(), Some(note.as_str()));
            assert_eq!(label, again);
        });
    }
}

#[test]
fn a_number_of_many_digits_is_refused() {
    walking(MACHINE, |walk| {
        let text = format!("coin(n: {})", "9".repeat(3_000_000));
        assert!(walk.parse_label(&text).is_err_and(|why| why.to_string().len() < 200));
    });
}

#[test]
fn what_cannot_come_is_told_with_the_conjunct_that_fails() {
    walking(MACHINE, |walk| {
        let label = walk.parse_label("coin(n: 3)").expect("a message");
        assert_eq!(walk.observe(label), LabelJudgement::Allowed);
        assert_eq!(walk.refused_switches(), [], "a coin and a small cup are possible");
        for text in ["pick(cup: small, note: \"\", at: P(x: 0, y: 0.0), tip: none)", "tea(cup: small)"] {
            let label = walk.parse_label(text).expect("a message");
            assert_eq!(walk.observe(label), LabelJudgement::Allowed);
        }
        assert_eq!(walk.refused_switches(), [], "the change can come");
    });
    let gated = "model G { input a output b var x: int = 7 state s { a: on a when x > 9 b: emit b when x == 7 \
                 && x > 20 } }";
    walking(gated, |walk| {
        let told: Vec<String> = walk.refused_switches().into_iter().map(|it| it.why).collect();
        assert_eq!(told, ["`x > 9` does not hold with x = 7", "`x > 20` does not hold with x = 7"]);
        assert_eq!(walk.choices(), []);
    });
}

#[test]
fn every_switch_of_a_known_state_is_either_offered_or_refused() {
    walking(MACHINE, |walk| {
        for text in ["coin(n: 9)", "coin(n: 9)", "coin(n: 9)"] {
            let label = walk.parse_label(text).expect("a message");
            assert_eq!(walk.observe(label), LabelJudgement::Allowed);
            let offered: Vec<_> = walk.choices().into_iter().map(|it| it.switch).collect();
            let refused: Vec<_> = walk.refused_switches().into_iter().map(|it| it.switch).collect();
            assert!(refused.iter().all(|it| !offered.contains(it)));
            assert_eq!(offered.len() + refused.len(), 2, "two switches start at `paid`");
        }
        assert_eq!(walk.refused_switches().len(), 1, "27 is too much for another coin");
    });
}
