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
    Exit codes: 0 the claim holds for the whole model · 5 parts are left out, the claim says which ·\n\
    3 the model has no complete suite, with the reason.")]
pub struct CompleteCommand {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub suite: CompleteArgs,
    /// Writes the suite, one test per line, with the claim in its first line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Tests this system by counting states, where the model leaves choices: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`,
    /// `tcp:ADDR`, or a name from `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// Applications of each test to a system that chooses, so that all its choices show.
    #[arg(long, default_value_t = 10, value_name = "K", requires = "sut")]
    pub repeat: usize,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS", requires = "sut")]
    pub quiescence_ms: Option<u64>,
    /// Seed of the values, and of the choices of a played model.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Shows every class, not only how many there are.
    #[arg(long)]
    pub classes: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The parameters of a complete suite.
#[derive(Clone, Debug, ClapArgs)]
pub struct CompleteArgs {
    /// Extra states that a system may have beyond the model's classes.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Distance by which comparisons in a system's guards may be off: classes are cut this far around every boundary.
    #[arg(long, default_value_t = 0, value_name = "R")]
    pub refine: u32,
    /// At least so many choices of values for every word.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub values: usize,
    /// Method that makes the words, where the model answers every input: `h`, `spyh`, `s`, `spy`, `hsi`, `wp` or `w`.
    #[arg(long, default_value = "h", value_name = "METHOD")]
    pub method: String,
    /// Only the answers of these requirements or switches matter.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Condition classes before the model is taken to have no finite abstraction.
    #[arg(long, default_value_t = 40, value_name = "N")]
    pub max_states: usize,
    /// Condition classes of the bounded abstraction of such a model.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub bounded: usize,
    /// Symbols of the suite, at most.
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    pub max_symbols: usize,
}
