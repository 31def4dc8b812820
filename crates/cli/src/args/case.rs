//! `case`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `case`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide case examples/atm/atm.iox --path tr1,tr2,tr3,tr4 --format text\n  \
    ioxide case examples/atm/atm.iox --path Transc,..,Cash --format pytest > test_atm.py\n  \
    ioxide case examples/atm/atm.iox --purpose cash --format dot | dot -Tsvg > atm.svg"
)]
pub struct Case {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The switches to take, by label, from the start; or some states, messages and switches in order, the way
    /// between them to be searched (`..` says so where only switches are named).
    #[arg(long, value_name = "LIST", required_unless_present = "purpose", conflicts_with = "purpose")]
    pub path: Option<String>,
    /// A purpose of the model instead of a path.
    #[arg(long, value_name = "NAME")]
    pub purpose: Option<String>,
    /// How to write it.
    #[arg(long, value_enum, default_value_t = CaseFormat::Json)]
    pub format: CaseFormat,
    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Which arcs are left out.
    #[arg(long, value_enum, default_value_t = CasePruning::Sound)]
    pub pruning: CasePruning,
    /// Seconds after which nothing counts as silence; `above` takes a round number above all deadlines, `free`
    /// leaves it open [default: above, with `--pruning tool` free].
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// With `--purpose`: how many symbolic states the search for it may look at.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// How a test case is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CaseFormat {
    /// For programs; `ioxide schema case` prints the schema.
    Json,
    /// A listing for people.
    Text,
    /// A script that asks a solver for an example of every arc.
    Smt2,
    /// Graphviz.
    Dot,
    /// A PlantUML state diagram.
    Plantuml,
    /// A TTCN-3 module.
    Ttcn3,
    /// A Python test over the package in sdk/python.
    Pytest,
    /// A Rust module without dependencies.
    Rust,
}

/// Which arcs are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CasePruning {
    /// Those that cannot happen.
    Sound,
    /// As the published generator does; such a test may fail a correct system.
    Tool,
}
