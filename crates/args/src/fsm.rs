//! `fsm`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, SolverArgs};

/// Arguments of `fsm`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide fsm examples/fsm/door.txt --suite s --extra 1 --out door.suite --html \
                  door.html\n  \
    ioxide test examples/fsm/door.txt --tester suite:door.suite --sut SUT\n  \
    ioxide fsm examples/fsm/door.txt --check-suite door.suite --extra 1\n  \
    ioxide fsm examples/fsm/door.txt --theory\n  \
    ioxide fsm examples/fsm/ma.dot --product examples/fsm/ma-impl.dot\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut examples/fsm/ma-impl.dot --bound 3\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut model:examples/fsm/ma-impl.dot --bound 3 --repeat 20"
)]
pub struct FsmArgs {
    /// The state machine: `.dot`, `.kiss2`, `.txt` (a table: state input output next), `.fsm` (the same with numbers),
    /// or a model with finitely many states.
    pub file: String,
    /// Sets a constant of the model; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Makes a complete suite by this method: `w`, `wp`, `hsi`, `h`, `spy`, `spyh` or `s` (the smallest suite).
    #[arg(long, value_name = "METHOD", conflicts_with = "reduction")]
    pub suite: Option<String>,
    /// Checks whether the suite in this file is complete, and shows a faulty machine that it misses.
    ///
    /// The file is a suite written by ioxide, or has one test per line with the inputs separated by spaces.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "reduction"])]
    pub check_suite: Option<String>,
    /// With `--check-suite`: the largest number of search steps.
    #[arg(
        long,
        hide_short_help = true,
        default_value_t = 20_000_000,
        value_name = "N",
        requires = "check_suite"
    )]
    pub max_steps: usize,
    /// Prints the state cover, the characterising set, state identifiers, distinguishing words and lower bounds.
    #[arg(long, conflicts_with_all = ["suite", "reduction", "check_suite"])]
    pub theory: bool,
    /// Writes a machine that runs this one and OTHER side by side; it enters `Fail` when OTHER gives a different
    /// answer.
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["suite", "reduction", "check_suite", "theory"])]
    pub product: Option<String>,
    /// Writes an equivalent machine that is connected, observable and minimal.
    #[arg(long, conflicts_with_all = ["suite", "reduction", "check_suite", "theory", "product"])]
    pub reduced: bool,
    /// The number of states that the implementation may have beyond those of the machine.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Writes the suite to this file, one test per line, or the machine of `--product` or `--reduced`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Writes an HTML page with the machine, the tests and their results; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Tests by state counting whether `--sut` is a reduction of the machine: whether it gives only allowed answers.
    #[arg(long)]
    pub reduction: bool,
    /// The implementation: the file of a machine, a name from `ioxide.toml`, `stdio:COMMAND`, `tcp:ADDR` or
    /// `model:FILE`.
    #[arg(long, value_name = "SUT", requires = "reduction")]
    pub sut: Option<String>,
    /// The largest number of states that the implementation may have.
    #[arg(long, value_name = "M", requires = "reduction")]
    pub bound: Option<usize>,
    /// The method of `--reduction`.
    #[arg(long, hide_short_help = true, value_enum, default_value_t = FsmVariant::Refined)]
    pub variant: FsmVariant,
    /// Prints for every answer of the system how many states it has at least, round by round.
    #[arg(long, hide_short_help = true, requires = "reduction")]
    pub bounds: bool,
    /// Before the input sequences, walks through the system for this many inputs, to what was tried least: faults of
    /// large machines show sooner [default: 4 for every state and input of a machine with 8 states or more, else 0].
    #[arg(long, hide_short_help = true, requires = "reduction", value_name = "N")]
    pub walk: Option<usize>,
    /// Gives up after this many input sequences.
    #[arg(long, hide_short_help = true, default_value_t = 1_000_000, value_name = "N")]
    pub max_words: usize,
    /// First makes the machine connected, minimal and observable.
    #[arg(long, hide_short_help = true)]
    pub minimise: bool,
    /// First defines an answer for every input that a state does not answer.
    #[arg(long, hide_short_help = true, value_enum)]
    pub missing: Option<MissingArg>,
    /// The number of repetitions of each test on a live system, so that it shows all its replies [default: 1; with
    /// `--reduction`: 10].
    #[arg(long, hide_short_help = true, value_name = "K")]
    pub repeat: Option<usize>,
    /// The seed of the choices of a simulated system [default: new every time].
    #[arg(long, hide_short_help = true, requires = "reduction")]
    pub seed: Option<u64>,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else 100].
    #[arg(
        long = "silence-ms",
        alias = "quiescence-ms",
        hide_short_help = true,
        value_name = "MS",
        requires = "reduction"
    )]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON instead of text.
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
    /// Like `refined`, with each response on its own.
    Io,
    /// With as few separating sequences as needed.
    H,
    /// With sequences that are chosen beforehand, from the machine alone.
    Preset,
}

/// The completions of a partial machine: its reaction to an input it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// The machine stays in its state and answers `none`.
    Loop,
    /// The machine goes to a state that answers `error` for ever.
    Error,
}
