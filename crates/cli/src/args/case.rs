//! `case`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `case`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide case examples/atm/atm.iox --path tr1,tr2,tr3,tr4 --format text\n  \
    ioxide case examples/atm/atm.iox --path Transc,..,Cash --format pytest > test_atm.py\n  \
    ioxide case examples/atm/atm.iox --purpose cash --format dot | dot -Tsvg > atm.svg\n  \
    ioxide case examples/atm/atm.iox --goal switches\n  \
    ioxide case examples/atm/atm.iox --goal deadlines --format pytest --out tests/"
)]
pub struct CaseArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The switches to take, by label, from the start; or some states, messages and switches in order, the way
    /// between them to be searched (`..` says so where only switches are named).
    #[arg(long, value_name = "LIST", required_unless_present_any = ["purpose", "goal"], conflicts_with_all = ["purpose", "goal"])]
    pub path: Option<String>,
    /// A purpose of the model instead of a path.
    #[arg(long, value_name = "NAME", conflicts_with = "goal")]
    pub purpose: Option<String>,
    /// Not one case but a small set that covers this together; listed, or written to `--out`.
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<CaseGoalArg>,
    /// With `--goal`: the folder for the cases, and `cases.json` about them.
    #[arg(long, value_name = "DIR", requires = "goal")]
    pub out: Option<String>,
    /// The format of the test case.
    #[arg(long, value_enum, default_value_t = CaseFormat::Json)]
    pub format: CaseFormat,
    /// The instants at which inputs are sent, within what the model allows; with `--goal deadlines` both.
    #[arg(long, value_enum, default_value_t = SendingArg::Soonest, conflicts_with = "goal")]
    pub sending: SendingArg,
    /// The same as `--format json`; with `--goal` the list as JSON.
    #[arg(long)]
    pub json: bool,
    /// The arcs that are left out.
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

/// The formats of a test case.
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
    /// A model of the case itself, for `show`, `step` and `explore`.
    Iox,
}

impl CaseFormat {
    /// Returns the file name extension of the format, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "txt",
            Self::Smt2 => "smt2",
            Self::Dot => "dot",
            Self::Plantuml => "puml",
            Self::Ttcn3 => "ttcn",
            Self::Pytest => "py",
            Self::Rust => "rs",
            Self::Iox => "iox",
        }
    }
}

/// The goals that a set of test cases covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CaseGoalArg {
    /// Every switch.
    Switches,
    /// Every two switches, one right after the other.
    Pairs,
    /// Every switch that reads a clock; inputs as soon and as late as allowed.
    Deadlines,
}

/// The instants at which inputs are sent, within those that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SendingArg {
    /// At once, or as soon as it is allowed.
    Soonest,
    /// As late as it is allowed.
    Latest,
}

/// The arcs of a test case that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CasePruning {
    /// Those that cannot happen.
    Sound,
    /// As the published generator does; such a test may fail a correct system.
    Tool,
}
