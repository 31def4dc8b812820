//! The limits of testers where nobody gives one: the command line and the facade share them.

/// The number of symbolic states that are explored for purposes. Chosen by feel: with fewer, purposes of large models
/// are missed; with more, the time limit of the analysis usually ends the search first.
pub const PURPOSE_STATES: usize = 20_000;
/// The number of symbolic states that are explored for the next path of a tour. Chosen by feel: far fewer than for
/// purposes, because the system waits for it in the middle of a run; with more, steps would come later, with fewer,
/// tours would end sooner.
pub const TOUR_STATES: usize = 1_000;
/// The number of times that `cover` executes every purpose, and `tour` covers everything, without a number of runs.
/// Chosen by feel: values are drawn anew each time, so more rounds find faults of rarer values and take longer.
pub const COVER_ROUNDS: usize = 5;
/// The number of runs of testers that have no end of their own. Chosen by feel: enough for a first look that ends in
/// seconds.
pub const RUNS: u64 = 10;
/// The number of steps of a run of the random tester. Chosen by feel: long enough to leave the start of most models,
/// short enough to be read when it fails.
pub const RANDOM_STEPS: usize = 100;
