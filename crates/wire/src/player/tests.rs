use std::collections::BTreeSet;

use super::*;
use crate::samples::{VENDING, message, model, with_cx};

#[test]
fn an_input_nothing_accepts_is_ignored() {
    let model = model(VENDING);
    let (small, big) = (message(&model, "coin", &[1]), message(&model, "coin", &[50]));
    with_cx(model, |cx| {
        let mut player = ModelPlayer::new(cx, 1).unwrap();
        assert_eq!(player.input(&big), Ok(InputFate::Ignored));
        assert_eq!(player.react(), Ok(None));
        assert!(matches!(player.input(&small), Ok(InputFate::Accepted(_))));
    });
}

#[test]
fn an_input_is_not_ignored_where_internal_steps_lead_to_it() {
    let text = "model M { input go output done
        state a { internal -> b }
        state b { on go -> c }
        state c { emit done -> c } }";
    let model = model(text);
    let go = message(&model, "go", &[]);
    for seed in 0..10 {
        with_cx(model.clone(), |cx| {
            let mut player = ModelPlayer::new(cx, seed).unwrap();
            assert!(matches!(player.input(&go), Ok(InputFate::Accepted(_))));
            assert!(matches!(player.react(), Ok(Some(Label::Output(..)))));
        });
    }
}

#[test]
fn the_same_seed_plays_the_same_and_every_life_is_different() {
    let model = model(VENDING);
    let play = |seed| {
        with_cx(model.clone(), |cx| {
            let coin = message(&model, "coin", &[5]);
            let mut player = ModelPlayer::new(cx, seed).unwrap();
            let mut lives = Vec::new();
            for _ in 0..20 {
                player.input(&coin).unwrap();
                lives.push([player.react().unwrap(), player.react().unwrap(), player.react().unwrap()]);
                player.reset().unwrap();
            }
            lives
        })
    };
    let lives = play(3);
    assert_eq!(lives, play(3));
    assert!(lives.iter().any(|life| life != &lives[0]));
    assert!(lives.iter().all(|life| life[0] == Some(message(&model, "change", &[3])) && life[2].is_none()));
}

/// A fault behind an observed input is reached: somebody sends it, in silence and before an answer, and not always.
#[test]
fn somebody_sends_observed_inputs() {
    let text = "model M { input go output ok output oops observed input tick(n: int)
        state a { on go -> b  on tick when n > 3 -> c }
        state b { emit ok -> a  on tick when n > 3 -> b }
        state c { emit oops -> a } }";
    let model = model(text);
    let go = message(&model, "go", &[]);
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        with_cx(model.clone(), |cx| {
            let mut player = ModelPlayer::new(cx, seed).unwrap();
            let in_silence = player.react().unwrap();
            if in_silence.is_some() {
                assert!(matches!(in_silence, Some(Label::Input(..))));
                assert!(matches!(player.react(), Ok(Some(Label::Output(..)))), "the fault behind it");
            }
            player.reset().unwrap();
            player.input(&go).unwrap();
            let answered = matches!(player.react(), Ok(Some(Label::Output(..))));
            seen.insert((in_silence.is_some(), answered));
        });
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn loose_outputs_vary() {
    let model = model("model M { output n(x: int) state a { emit n when x > 3 } }");
    let mut seen = BTreeSet::new();
    with_cx(model, |cx| {
        let mut player = ModelPlayer::new(cx, 7).unwrap();
        for _ in 0..50 {
            let Ok(Some(Label::Output(_, values))) = player.react() else { panic!("it never stops") };
            assert!(values[0] > Value::int(3));
            seen.insert(values);
        }
    });
    assert!(seen.len() > 5);
}

#[test]
fn unknown_initial_values_vary_with_the_seed() {
    let model = model("model M { output n(x: int) var v: int state a { emit n(x: v) -> b } state b {} }");
    let first = |seed| with_cx(model.clone(), |cx| ModelPlayer::new(cx, seed).unwrap().react().unwrap());
    assert!((0..20).any(|seed| first(seed) != first(0)));
    assert_eq!(first(5), first(5));
}

#[test]
fn a_divergence_is_told_and_a_loop_with_an_exit_is_left() {
    let stuck = model("model M { input go state a { internal } }");
    let location = "a".to_owned();
    with_cx(stuck, |cx| {
        assert_eq!(ModelPlayer::new(cx, 0).unwrap().react(), Err(PlayError::Diverges { location }));
    });
    let leaves = model("model M { output done state a { internal emit done -> b } state b {} }");
    with_cx(leaves, |cx| assert!(ModelPlayer::new(cx, 0).unwrap().react().unwrap().is_some()));
}

#[test]
fn a_timed_model_speaks_within_its_bounds_and_meets_both() {
    let text = "model M { output tick clock w state a { emit tick when 2s <= w <= 5s { reset w } } }";
    with_cx(model(text), |cx| {
        let mut player = ModelPlayer::new(cx, 7).unwrap();
        let mut gaps = BTreeSet::new();
        let mut before = Rational::ZERO;
        for n in 1..200 {
            let tick = player.pass_until(&Rational::from(10 * n)).unwrap();
            assert!(tick.is_some());
            gaps.insert(player.now() - &before);
            before = player.now().clone();
        }
        let (first, last) = (gaps.first().unwrap(), gaps.last().unwrap());
        assert_eq!((first, last), (&Rational::from(2), &Rational::from(5)));
    });
}

#[test]
fn an_input_that_is_taken_makes_a_new_plan_and_one_that_is_not_changes_none() {
    let text = "model M { input go input stop output done clock w
        state a { on go { reset w } -> b }
        state b { emit done when w == 3s -> a } }";
    let sample = model(text);
    let (go, stop) = (message(&sample, "go", &[]), message(&sample, "stop", &[]));
    with_cx(sample, |cx| {
        let mut player = ModelPlayer::new(cx, 0).unwrap();
        assert_eq!(player.pass_until(&Rational::from(4)).unwrap(), None);
        assert!(matches!(player.input(&go), Ok(InputFate::Accepted(_))));
        assert_eq!(player.pass_until(&Rational::from(6)).unwrap(), None);
        assert_eq!(player.input(&stop), Ok(InputFate::Ignored));
        assert!(player.pass_until(&Rational::from(20)).unwrap().is_some());
        assert_eq!(player.now(), &Rational::from(7));
        player.reset().unwrap();
        assert_eq!(player.now(), &Rational::ZERO);
    });
}

/// `p` takes internal steps for ever and never `a`; ignoring it there would be seen as a wrong `z`.
#[test]
fn a_model_with_an_internal_self_loop_ignores_nothing() {
    let text = "model M { input x input a output y output z
        state s { on x -> p  on x -> q }
        state p { internal -> p  emit z -> p }
        state q { on a -> r }
        state r { emit y -> s } }";
    let model = model(text);
    let (x, a) = (message(&model, "x", &[]), message(&model, "a", &[]));
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        with_cx(model.clone(), |cx| {
            let mut player = ModelPlayer::new(cx, seed).unwrap();
            player.input(&x).unwrap();
            let taken = player.input(&a);
            seen.insert(taken.is_ok());
            match taken {
                Ok(taken) => assert!(matches!(taken, InputFate::Accepted(_))),
                Err(error) => assert!(error.to_string().contains("for ever at state `p`"), "{error}"),
            }
        });
    }
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn an_input_is_ignored_where_no_internal_step_is_left() {
    let text = "model M { input a output z state p { internal -> r  emit z -> p } state r {} }";
    let model = model(text);
    let a = message(&model, "a", &[]);
    with_cx(model, |cx| {
        let mut player = ModelPlayer::new(cx, 0).unwrap();
        assert_eq!(player.input(&a), Ok(InputFate::Ignored));
        assert_eq!(player.react(), Ok(None), "it went on to `r`, where nothing comes");
    });
}
