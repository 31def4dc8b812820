//! `fsm`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, SolverArgs};

/// Arguments of `fsm`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide fsm examples/fsm/door.txt --suite s --extra 1 --out door.suite --html door.html\n  \
    ioxide test examples/fsm/door.txt --tester suite:door.suite --sut SUT\n  \
    ioxide fsm examples/fsm/door.txt --check-suite door.suite --extra 1\n  \
    ioxide fsm examples/fsm/door.txt --theory\n  \
    ioxide fsm examples/fsm/ma.dot --product examples/fsm/ma-impl.dot\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut examples/fsm/ma-impl.dot --bound 3\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut model:examples/fsm/ma-impl.dot --bound 3 --repeat 20"
)]
pub struct FsmArgs {
    /// The machine: `.dot`, `.kiss2`, `.txt` (state input output next) or `.fsm` (the same by number), or a
    /// model that is finite.
    pub file: String,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Makes a complete suite: `w`, `wp`, `hsi`, `h`, `spy`, `spyh` or `s` (the smallest).
    #[arg(long, value_name = "METHOD", conflicts_with = "reduction")]
    pub suite: Option<String>,
    /// Says whether the suite of this file is complete, and if not, which machine it misses: a suite of ioxide, or
    /// one test per line, inputs separated by spaces.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "reduction"])]
    pub check_suite: Option<String>,
    /// Steps of the search for a machine that a suite misses.
    #[arg(long, default_value_t = 20_000_000, value_name = "N", requires = "check_suite")]
    pub max_steps: usize,
    /// Says what the theory says: state cover, characterising set, identifiers, distinguishing words, lower bounds.
    #[arg(long, conflicts_with_all = ["suite", "reduction", "check_suite"])]
    pub theory: bool,
    /// Writes the product with another machine, which goes to `Fail` where only that one answers so.
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["suite", "reduction", "check_suite", "theory"])]
    pub product: Option<String>,
    /// Writes the machine connected, observable and minimal.
    #[arg(long, conflicts_with_all = ["suite", "reduction", "check_suite", "theory", "product"])]
    pub reduced: bool,
    /// Extra states that an implementation may have beyond those of the machine.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Writes the suite, one test per line, or the machine that was made.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Writes an HTML page with the machine, the tests and what they found; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Tests whether another machine or a system is a reduction of this one, by state counting.
    #[arg(long)]
    pub reduction: bool,
    /// The implementation to test: the file of a machine, or a system: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`, `tcp:ADDR`, or a
    /// name from `ioxide.toml`.
    #[arg(long, value_name = "SUT", requires = "reduction")]
    pub sut: Option<String>,
    /// States that the implementation may have, at most.
    #[arg(long, value_name = "M", requires = "reduction")]
    pub bound: Option<usize>,
    /// The variant of state counting.
    #[arg(long, value_enum, default_value_t = FsmVariant::Refined)]
    pub variant: FsmVariant,
    /// Gives up after this many words.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub max_words: usize,
    /// Makes the machine connected, minimal and observable first.
    #[arg(long)]
    pub minimise: bool,
    /// Completes a partial machine first.
    #[arg(long, value_enum)]
    pub missing: Option<MissingArg>,
    /// Applications of each test to a live system, so that all its choices show [default: 1 in a suite, 10 for a
    /// reduction].
    #[arg(long, value_name = "K")]
    pub repeat: Option<usize>,
    /// Seed of the choices of a played model.
    #[arg(long, requires = "reduction")]
    pub seed: Option<u64>,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS", requires = "reduction")]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The variants of adaptive state counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FsmVariant {
    /// Never misses a failure.
    Refined,
    /// As first published; may miss failures.
    Original,
    /// As refined, each response on its own.
    Io,
    /// With as few separating cases as needed.
    H,
}

/// The completions of a partial machine: its reaction to an input it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// Stays, and answers `none`.
    Loop,
    /// Goes to a state that answers `error` for ever.
    Error,
}
