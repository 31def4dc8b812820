//! Interchangeable parts and places of parts in the comparison of states, against searches that compare everything.
//!
//! Arrays of one random part, alone or around a hub: the search that swaps alike instances and forgets dead variables
//! by the places of the parts takes the same switches, up to swaps, as the one that does neither.

use std::fmt::Write;
use std::ops::ControlFlow;

use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Exploration, ExploreConfig, ExploreLimits, IgnoreDead, Symmetry, explore};
use ioxide_test_support::test_count;

use crate::systems::generator::{Dice, INPUTS, OUTPUTS, loaded, random_part};

fn explored(text: &str, ignore_dead: IgnoreDead, is_symmetric: bool) -> (Exploration, Symmetry) {
    let mut model = loaded(text);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let symmetry = if is_symmetric { Symmetry::find(cx.pool, cx.sts, &[]) } else { Symmetry::default() };
    let limits = ExploreLimits { max_states: 400, max_depth: u32::MAX };
    let config =
        ExploreConfig { ignore_dead, limits, symmetry: symmetry.clone(), ..ExploreConfig::default() };
    (explore(&mut cx, &config, &mut |_| ControlFlow::Continue(())), symmetry)
}

/// An array of `n` instances; perhaps they speak to a hub, or the hub to all of them.
fn random_array(dice: &mut Dice, n: usize) -> String {
    let mut text = random_part(dice, "Leaf");
    text.push_str(&random_part(dice, "Hub"));
    writeln!(text, "system S {{\n leaf[i in 1..{n}]: Leaf").expect("text");
    match dice.roll(4) {
        0 => {}
        1 => {
            let (output, input) = (OUTPUTS[dice.roll(2)], INPUTS[dice.roll(2)]);
            writeln!(text, " hub: Hub\n leaf[i].{output} -> hub.{input}").expect("text");
        }
        2 => {
            let (output, input) = (OUTPUTS[dice.roll(2)], INPUTS[dice.roll(2)]);
            writeln!(text, " hub: Hub\n hub.{output} -> leaf.{input}\n hide hub.{output}").expect("text");
        }
        _ => {
            // One instance is connected, so it is not like the others.
            let (output, input) = (OUTPUTS[dice.roll(2)], INPUTS[dice.roll(2)]);
            writeln!(text, " hub: Hub\n leaf[1].{output} -> hub.{input}\n hide leaf[1].{output}")
                .expect("text");
        }
    }
    text + "}\n"
}

#[test]
fn searches_that_merge_more_take_the_same_switches() {
    let n = test_count("IOXIDE_ALIKE", 12, 100);
    let (mut compared, mut fewer, mut states) = (0, 0, (0, 0));
    for seed in 0..n {
        let mut dice = Dice(seed);
        let size = 2 + dice.roll(2);
        let text = random_array(&mut dice, size);
        let (all, _) = explored(&text, IgnoreDead::No, false);
        let (few, symmetry) = explored(&text, IgnoreDead::Except(Vec::new()), true);
        if !all.is_complete() {
            continue;
        }
        assert!(few.is_complete(), "{text}");
        assert_eq!(symmetry.close_under_swaps(&few.taken_switches()), all.taken_switches(), "{text}");
        assert!(few.stats.states <= all.stats.states, "{text}");
        compared += 1;
        fewer += u64::from(!symmetry.is_empty() && few.stats.states < all.stats.states);
        states = (states.0 + few.stats.states, states.1 + all.stats.states);
    }
    println!("{compared} arrays compared, {fewer} with fewer states: {} instead of {}", states.0, states.1);
    assert!(compared > n / 3 && fewer > 0, "{compared} compared, {fewer} with fewer states");
}
