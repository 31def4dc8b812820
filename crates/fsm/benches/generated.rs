//! Suites of generated machines, up to 10,000 states and 50 inputs.
//!
//! Run by hand: `cargo bench -p ioxide-fsm --bench generated -- [STATES]`.

use std::fmt::Write as _;
use std::time::Instant;

use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::read;
use ioxide_fsm::suite::SuiteMethod;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// States, inputs, outputs, methods, extra states.
const ROWS: [(usize, usize, usize, &str, usize); 4] = [
    (100, 10, 5, "w wp hsi h spy spyh s", 2),
    (300, 10, 3, "w wp hsi h spy spyh s", 2),
    (1_000, 10, 5, "w wp hsi h spy spyh s", 2),
    (10_000, 50, 10, "hsi", 0),
];

fn main() {
    let only: Option<usize> = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    for (states, inputs, outputs, methods, max_extra) in ROWS {
        if only.is_some_and(|only| only != states) {
            continue;
        }
        let text = generate(states, inputs, outputs);
        let start = Instant::now();
        let machine =
            Mealy::from_listing(&read::read_numbers(&text).expect("a table")).expect("deterministic");
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let spec = SuiteModel::from_reduced(&machine).expect("complete");
        let minimised = start.elapsed().as_secs_f64();
        println!(
            "{states} states, {inputs} inputs: read {read:.3} s, minimised {minimised:.3} s to {} states",
            spec.n_states()
        );
        for extra in 0..=max_extra {
            for method in methods.split(' ').filter_map(|name| name.parse::<SuiteMethod>().ok()) {
                let start = Instant::now();
                let size = method.suite(&spec, extra).measure();
                let seconds = start.elapsed().as_secs_f64();
                let peak = peak_megabytes();
                println!(
                    "  {extra} {:5} {} / {} / {seconds:.3} s, peak {peak} MB",
                    method.name(),
                    size.tests,
                    size.symbols
                );
            }
        }
    }
}

/// A random complete machine as a table of numbers.
fn generate(states: usize, inputs: usize, outputs: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut text = String::new();
    for state in 0..states {
        for input in 0..inputs {
            let next = if input == 0 { (state + 1) % states } else { rng.random_range(0..states) };
            let output = rng.random_range(0..outputs);
            let _ = writeln!(text, "{state} {input} {output} {next}");
        }
    }
    text
}

/// The most memory this process has used, so far.
fn peak_megabytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().split(' ').next().and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or(0) / 1024
}
