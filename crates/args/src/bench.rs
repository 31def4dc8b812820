//! `bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::{PartArgs, SolverArgs};

/// Arguments of `bench`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide bench scale --json\n  \
                        ioxide bench faults --seeds 5 --partition 1/4 --part rows/1\n\n\
                        The program `ioxide-bench` takes the measurements. It is not installed with ioxide: put it \
                        into the same folder (`cargo build --release` builds both), or run this command in a \
                        checkout of the repository.")]
pub struct BenchArgs {
    /// The measurement to take.
    #[arg(value_enum)]
    pub name: BenchName,
    /// Prints the figures as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// For `truth`: runs on correct systems. For `trees`: mutants [default: 1000]. For `counter`: mutants [default:
    /// 100]. For `repair`: mutants with one change [default: 300].
    #[arg(long)]
    pub runs: Option<u64>,
    /// For `truth`, `live`, `counter` and `repair`: the seed of random choices [default: new every time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Is a system of `truth` or `live` instead of measuring.
    #[arg(long, hide = true)]
    pub system: Option<String>,
    /// For `faults`: campaigns per fault and tester. For `reproduce`: failures per system. For `learn`: test orders per
    /// machine.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub seeds: u64,
    /// For `live`: the time of a campaign [default: 30s].
    #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
    pub for_time: Option<Duration>,
    /// For `faults`, `reproduce`, `live`, `learn`, `repair` and `truth`: measures only items whose name contains this
    /// text.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// For `live`: also measures the default tester of this other program, such as an earlier version of ioxide.
    #[arg(long, value_name = "PROGRAM")]
    pub against: Option<PathBuf>,
    /// For `learn`: also learns with AALpy, in this Python, where AALpy must be installed.
    #[arg(long, value_name = "PYTHON")]
    pub peers: Option<String>,
    /// For `brp`: reorders and renames fields, transitions, variables and states for every seed.
    #[arg(long)]
    pub permuted: bool,
    /// For `faults`: measures only these testers (`default`, `cover`, `random`, `uniform`), without the correct
    /// systems.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub testers: Vec<String>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub part: PartArgs,
}

/// The measurements of `ioxide bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchName {
    /// Test cases of the ATM along ever longer paths.
    Atm,
    /// Inputs and outputs until each mutant of the BRP is found.
    Brp,
    /// The cost of a campaign beside its units: per unit, per part, and on a thousand simulated machines with faults.
    Campaign,
    /// Systems made of parts: time for a step and for purposes by the number of parts, beside the size of the product.
    Compose,
    /// Pairs of models compared symbolically, state by state and in turns; and in time, by clocks and bounds.
    Conform,
    /// Mutants of the particle counter, decided with and without each optimisation: answers, time, depth.
    Counter,
    /// Models with collections: steps a second by size beside a number, bounded queues and maps beside enumeration.
    Data,
    /// Steps until planted faults are found, by tester (`examples/faults` and `examples/held-out`).
    Faults,
    /// The time to the first step of the default tester, on every model below `examples`.
    FirstStep,
    /// Complete suites and state counting of machines, those of the folder `IOXIDE_DATA` included: sizes, time,
    /// memory.
    Fsm,
    /// Histories of concurrent clients: those of the folder `IOXIDE_DATA`, and generated ones of growing size.
    Histories,
    /// Mutants of models that may choose, killed by linear traces and by experiments that adapt to what was seen.
    Kill,
    /// Learning the machines of the folder `IOXIDE_DATA`: resets and symbols, with a perfect oracle and until right.
    Learn,
    /// Faults found in half a minute of wall time on ten live systems, quick and slow, by the default tester and at
    /// random.
    Live,
    /// Answers of the language server on a model of 5,000 lines, beside parsing it.
    Lsp,
    /// Mutants decided symbolically and by enumeration: time per mutant, growth with the data, optimisations.
    Mutants,
    /// Steps a second over loopback TCP beside a bare echo client, and memory.
    Online,
    /// Mutants of examples as the wrong model, the original as the system: is it among the first proposals of `repair`?
    Repair,
    /// Failures of small systems with one fault each, repeated and made smaller by meaning and by deletion alone.
    Reproduce,
    /// Exploration of the scaled BRP: states, merging, time.
    Scale,
    /// Mutants of random machines that may choose: messages until adaptive trees and linear tests kill them.
    Trees,
    /// Correct systems over slow ways, which must not fail, and the same with faults, which must be found.
    Truth,
}
