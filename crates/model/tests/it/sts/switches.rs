//! Tests of [`ioxide_model::sts::switches`].

use ioxide_model::index::Idx;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{LocId, Sts, Switch, SwitchId, Switches};
use ioxide_model::term::TermPool;

fn switch(pool: &mut TermPool, source: usize) -> Switch {
    Switch {
        label: "s".into(),
        source: LocId::new(source),
        gate: Sts::TAU,
        guard: pool.tt(),
        update: Vec::new(),
        resets: Vec::new(),
        target: LocId::new(0),
        span: Span::new(FileId::new(0), 0, 0),
        doc: String::new(),
        reqs: Vec::new(),
        weight: 1,
        range_check: None,
    }
}

/// Returns the switches from `loc`, found by looking through all of them.
fn looked_for(switches: &Switches, loc: LocId) -> Vec<SwitchId> {
    switches.ids().filter(|&id| switches[id].source == loc).collect()
}

#[track_caller]
fn agree(switches: &Switches) {
    for loc in (0..6).map(LocId::new) {
        let found: Vec<SwitchId> = switches.from(loc).map(|(id, _)| id).collect();
        assert_eq!(found, looked_for(switches, loc), "at {loc:?}");
    }
}

#[test]
fn the_switches_of_a_place_are_those_that_start_there_whatever_was_changed() {
    let mut pool = TermPool::new();
    agree(&Switches::default());
    let mut switches: Switches =
        [3, 0, 4, 3, 3, 0].map(|source| switch(&mut pool, source)).into_iter().collect();
    agree(&switches);
    switches[SwitchId::new(1)].source = LocId::new(4);
    agree(&switches);
    agree(&switches.clone());
    switches.push(switch(&mut pool, 5));
    agree(&switches);
    switches.iter_mut().for_each(|switch| switch.source = LocId::new(2));
    agree(&switches);
}
