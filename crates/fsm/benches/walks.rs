//! Inputs until faults of random machines show: in random walks, in state counting, and in counting after a walk.
//!
//! Run by hand: `cargo bench -p ioxide-fsm --bench walks`. It counts inputs up to the first failure, not time.

use ioxide_fsm::mealy::{InputId, MachineNames, OutputId, StateId};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::reduction_witness;
use ioxide_fsm::reduce::{
    AdaptiveSystem, CountingPlan, CountingVariant, PlayedMachine, on_demand_counting, state_counting,
    walk_through,
};
use ioxide_fsm::word::IoWord;
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The number of faulty systems of each size.
const SYSTEMS: usize = 200;
const INPUTS: usize = 3;
const OUTPUTS: usize = 3;

fn main() {
    println!("inputs to the first failure, median / mean over {SYSTEMS} faulty systems");
    println!("| states | random walks | counting | on demand | walk, then counting | walk alone finds |");
    println!("|---|---|---|---|---|---|");
    for states in [10, 20, 50, 100] {
        let mut rng = ChaCha8Rng::seed_from_u64(states as u64);
        let mut rows: [Vec<usize>; 4] = Default::default();
        let mut by_walk = 0;
        while rows[0].len() < SYSTEMS {
            let model = random_model(&mut rng, states);
            let system = with_fault(&mut rng, &model);
            if reduction_witness(&model, &system).is_none() {
                continue;
            }
            let seed = rng.random();
            let plan = CountingPlan::new(&model, states).expect("a complete model");
            let plan = CountingPlan { max_words: 20_000, ..plan };
            let counted =
                state_counting(&model, &mut PlayedMachine(&system), &plan, CountingVariant::Refined);
            let on_demand = on_demand_counting(&model, &mut PlayedMachine(&system), &plan);
            let (Ok(counted), Ok(on_demand)) = (counted, on_demand);
            let walk = walk_through(&model, &mut PlayedMachine(&system), 4 * states * INPUTS, seed);
            let Ok(walk) = walk;
            let rest = if walk.failure.is_some() { 0 } else { counted.symbols };
            by_walk += usize::from(walk.failure.is_some());
            rows[0].push(random_walks(&mut rng, &model, &system));
            rows[1].push(counted.symbols);
            rows[2].push(on_demand.symbols);
            rows[3].push(walk.symbols + rest);
        }
        let cells: Vec<String> = rows.iter_mut().map(|row| median_and_mean(row)).collect();
        println!("| {states} | {} | {by_walk} of {SYSTEMS} |", cells.join(" | "));
    }
}

fn median_and_mean(row: &mut [usize]) -> String {
    row.sort_unstable();
    format!("{} / {:.0}", row[row.len() / 2], row.iter().sum::<usize>() as f64 / row.len() as f64)
}

/// The number of inputs of random walks, each as long as five times the states, up to the first failure.
fn random_walks(rng: &mut ChaCha8Rng, model: &Observable, system: &Observable) -> usize {
    let mut inputs = 0;
    loop {
        let mut state = Some(model.initial());
        let mut seen = 0;
        let seed: u64 = rng.random();
        let ran = PlayedMachine(system).run(seed, &mut |trace: &IoWord| {
            for &(input, output) in &trace[seen..] {
                state = model.state_after(state?, input, output);
            }
            seen = trace.len();
            state?;
            (trace.len() < 5 * model.n_states()).then(|| InputId::new(rng.random_range(0..INPUTS)))
        });
        let Ok(trace) = ran;
        inputs += trace.len();
        if state.is_none() {
            return inputs;
        }
    }
}

/// A complete observable machine in which every state is reached; every tenth answer has an alternative.
fn random_model(rng: &mut ChaCha8Rng, states: usize) -> Observable {
    loop {
        let mut rows = Vec::new();
        for (state, input) in (0..states).flat_map(|state| (0..INPUTS).map(move |input| (state, input))) {
            let sure = rng.random_range(0..OUTPUTS);
            for output in 0..OUTPUTS {
                if output == sure || rng.random_bool(0.1) {
                    let next = StateId::new(rng.random_range(0..states));
                    rows.push((StateId::new(state), InputId::new(input), OutputId::new(output), next));
                }
            }
        }
        let names = MachineNames::from_numbers(states, INPUTS, OUTPUTS);
        let machine = Nfsm::new(names, StateId::new(0), rows);
        if machine.reachable_part().n_states() == states {
            return Observable::check(machine).expect("observable");
        }
    }
}

/// `model` with one transition that leads elsewhere, or answers otherwise.
fn with_fault(rng: &mut ChaCha8Rng, model: &Observable) -> Observable {
    loop {
        let mut rows: Vec<_> = model.as_nfsm().transitions().collect();
        let at = rng.random_range(0..rows.len());
        if rng.random_bool(0.5) {
            rows[at].3 = StateId::new(rng.random_range(0..model.n_states()));
        } else {
            rows[at].2 = OutputId::new(rng.random_range(0..OUTPUTS));
        }
        let machine = Nfsm::new(model.names().clone(), model.initial(), rows);
        if let Ok(machine) = Observable::check(machine) {
            return machine;
        }
    }
}
