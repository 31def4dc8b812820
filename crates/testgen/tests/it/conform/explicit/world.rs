//! Tests of [`ioxide_testgen::conform::explicit::world`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted, Signal};
use ioxide_testgen::conform::explicit::world::{EnumeratedSide, STATES_PER_LOOK};
use ioxide_testgen::conform::explicit::{MetLabels, same_gates};

/// Says stop when it is asked for the third time.
struct ThirdAsk(AtomicUsize);

impl Signal for ThirdAsk {
    fn halt_reason(&self) -> Option<Halted> {
        (self.0.fetch_add(1, Ordering::Relaxed) >= 2).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}

/// Defect: the time limit was not looked at within a closure, which has no end here.
#[test]
fn a_closure_without_end_ends_in_time() {
    let text = "model Count { input go output o var n: int = 0
        state s { internal { n = n + 1 } -> s on go emit o } }";
    let mut sources = Sources::new();
    let file = sources.add("count.iox", text);
    let Model { pool, sts } = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let halt = Halt::new(ThirdAsk(AtomicUsize::new(0)));
    let gates = same_gates(&sts).into_iter().filter_map(|(spec, own)| Some((spec, own?)));
    let mut side = EnumeratedSide::new(&sts, gates, usize::MAX).with_halt(halt);
    assert!(side.initial_states(&pool, &mut MetLabels::default()).is_err());
    assert_eq!(side.count_states(), 3 * STATES_PER_LOOK - 1);
}
