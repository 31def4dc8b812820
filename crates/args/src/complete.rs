//! Arguments of `complete`.

use clap::Args as ClapArgs;

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `complete`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide complete examples/fsm/meter.iox\n  \
    ioxide complete examples/brp/spec.iox --extra 1 --out brp.suite\n  \
    ioxide complete examples/fsm/meter.iox --refine 1 --values 2 --json\n  \
    ioxide test examples/brp/spec.iox --tester suite:brp.suite --sut SUT\n  \
    ioxide test examples/brp/spec.iox --tester complete:extra=1 --sut SUT\n\n\
    Exit codes: 0 the claim holds for the whole model · 5 parts are left out; the claim names them ·\n\
    3 the model has no complete suite; the message says why.")]
pub struct CompleteCommand {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub suite: CompleteArgs,
    /// Writes the suite to this file, one test per line; the first line says what it proves.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Tests this system by state counting, for models that allow several replies: a name from `ioxide.toml`,
    /// `stdio:COMMAND`, `tcp:ADDR` or `model:FILE`.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// The number of repetitions of each test, so that a system that can reply in several ways shows all of them.
    #[arg(long, hide_short_help = true, default_value_t = 10, value_name = "K", requires = "sut")]
    pub repeat: usize,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else 100].
    #[arg(
        long = "silence-ms",
        alias = "quiescence-ms",
        hide_short_help = true,
        value_name = "MS",
        requires = "sut"
    )]
    pub quiescence_ms: Option<u64>,
    /// The seed of the values, and of the choices of a simulated system.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Lists the classes of values instead of only counting them.
    #[arg(long)]
    pub classes: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The parameters of a complete suite.
#[derive(Clone, Debug, ClapArgs)]
pub struct CompleteArgs {
    /// The number of states that the system may have beyond those of the model.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Also finds comparisons whose limit is wrong by up to this much, by testing values close to each limit.
    #[arg(long, default_value_t = 0, value_name = "R")]
    pub refine: u32,
    /// The smallest number of times that each test is run with different values.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub values: usize,
    /// The method, for models that answer every input: `h`, `spyh`, `s`, `spy`, `hsi`, `wp` or `w`.
    #[arg(long, hide_short_help = true, default_value = "h", value_name = "METHOD")]
    pub method: String,
    /// Tests only these requirements or transitions.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Treats the model as infinite if it needs more condition classes than this.
    #[arg(long, hide_short_help = true, default_value_t = 40, value_name = "N")]
    pub max_states: usize,
    /// For a model with infinitely many states: the number of groups of states that the suite covers.
    #[arg(long, hide_short_help = true, default_value_t = 8, value_name = "N")]
    pub bounded: usize,
    /// Makes a suite for runs in which lists, sets and maps hold at most this many elements [default: no limit; 2, then
    /// 1, if the suite without a limit takes half of the time].
    #[arg(long, value_name = "N")]
    pub max_items: Option<usize>,
    /// The largest number of messages in the suite.
    #[arg(long, hide_short_help = true, default_value_t = 2_000_000, value_name = "N")]
    pub max_symbols: usize,
}
