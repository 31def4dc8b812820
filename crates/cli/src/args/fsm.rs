//! `fsm`.

use clap::{Args as ClapArgs, ValueEnum};

/// Arguments of `fsm`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide fsm examples/fsm/door.txt --suite s --extra 1 --out door.suite\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut examples/fsm/ma-impl.dot --bound 3"
)]
pub struct Fsm {
    /// The machine: `.dot`, `.kiss2`, `.txt` (state input output next) or `.fsm` (the same by number).
    pub file: String,
    /// Makes a complete suite: `w`, `wp`, `hsi`, `h`, `spy`, `spyh` or `s` (the smallest).
    #[arg(long, value_name = "METHOD", conflicts_with = "reduction")]
    pub suite: Option<String>,
    /// How many more states than the machine an implementation may have.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Writes the suite, one test per line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Tests whether another machine is a reduction of this one, by state counting.
    #[arg(long)]
    pub reduction: bool,
    /// The machine to test.
    #[arg(long, value_name = "FILE", requires = "reduction")]
    pub sut: Option<String>,
    /// How many states it may have.
    #[arg(long, value_name = "M", requires = "reduction")]
    pub bound: Option<usize>,
    /// Which state counting.
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
    pub missing: Option<Missing>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which state counting.
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

/// What a partial machine does on an input it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Stays, and answers `none`.
    Loop,
    /// Goes to a state that answers `error` for ever.
    Error,
}
