//! Commands that read models: `check`, `fmt`, `explain`, `show`, `step`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide check examples/adder.iox\n  ioxide check --deep examples/brp/*.iox"
)]
pub struct CheckArgs {
    /// The models.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Overrides a constant of the models.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Adds the lints that need the solver.
    #[arg(long)]
    pub deep: bool,
    /// Also proves that the model is sequential: each input has exactly one answer, and the model is idle again after it.
    /// `judge --clients` needs such models.
    #[arg(long)]
    pub sequential: bool,
    /// The deep lints look at no more than this many symbolic states.
    #[arg(long, default_value_t = 5_000, value_name = "N")]
    pub max_states: usize,
    /// Warnings count as errors.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Prints the findings as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// Arguments of `fmt`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide fmt examples/adder.iox\n  ioxide fmt --check examples/brp/*.iox")]
pub struct FmtArgs {
    /// The models (`.iox`); `-` reads stdin and writes stdout.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Changes nothing; fails if a file is not laid out canonically.
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide explain E0201\n  ioxide explain --list")]
pub struct ExplainArgs {
    /// The code, such as E0201.
    #[arg(required_unless_present = "list")]
    pub code: Option<String>,
    /// Lists all codes.
    #[arg(long)]
    pub list: bool,
}

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide show examples/adder.iox\n  ioxide show examples/brp/spec.iox --format svg > brp.svg"
)]
pub struct ShowArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format of the listing or picture.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// The formats in which a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// A listing for people.
    Text,
    /// Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// A diagram for Markdown.
    Mermaid,
    /// For programs.
    Json,
}

/// Arguments of `step`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide step examples/slot-machine.iox\n  ioxide step examples/brp/spec.iox --from runs@3\n  \
    echo 'inX(p: 3)' | ioxide step examples/adder.iox\n  echo | ioxide step examples/adder.iox --at finished\n\n\
    On a terminal the keys are on the screen, `?` shows them all. In a pipe, or with `--plain`, it reads one\n\
    command per line; `help` lists them."
)]
pub struct StepArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Opens a recorded run (a record, or the directory given to `test --report`) after its step N: `RUN@N`.
    #[arg(long, value_name = "RUN@N")]
    pub from: Option<String>,
    /// The number of the run in the record, from 1; the first that failed if not given.
    #[arg(long, value_name = "N", requires = "from")]
    pub number: Option<u64>,
    /// Begins where the model may be in this state; `trace` shows the way there.
    #[arg(long, value_name = "STATE", conflicts_with = "from")]
    pub at: Option<String>,
    /// One line at a time, on a terminal too.
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}
