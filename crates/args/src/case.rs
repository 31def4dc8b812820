//! `case`.

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `case`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide case examples/atm/atm.iox --path tr1,tr2,tr3,tr4 --format text\n  \
    ioxide case examples/atm/atm.iox --path Transc,..,Cash --format pytest > test_atm.py\n  \
    ioxide case examples/atm/atm.iox --purpose cash --format dot | dot -Tsvg > atm.svg\n  \
    ioxide case examples/atm/atm.iox --goal transitions\n  \
    ioxide case examples/atm/atm.iox --goal deadlines --format pytest --out tests/"
)]
pub struct CaseArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The transitions to take from the start, such as `tr1,tr2,tr3`; with `..` ioxide finds the way between two of
    /// them.
    ///
    /// States and messages can be named too: `Transc,..,Cash`; and `quiet` is silence: `press,ring,quiet,stop`.
    #[arg(
        long,
        value_name = "LIST",
        required_unless_present_any = ["purpose", "goal"],
        conflicts_with_all = ["purpose", "goal"],
    )]
    pub path: Option<String>,
    /// The purpose of the model to reach, instead of a path.
    #[arg(long, value_name = "NAME", conflicts_with = "goal")]
    pub purpose: Option<String>,
    /// Makes a small set of cases that together cover this, and lists it or writes it to `--out`.
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<CaseGoalArg>,
    /// With `--goal`: the folder for the cases and their list, `cases.json`.
    #[arg(long, value_name = "DIR", requires = "goal")]
    pub out: Option<String>,
    /// The format of the test case.
    #[arg(long, value_enum, default_value_t = CaseFormat::Json)]
    pub format: CaseFormat,
    /// When inputs are sent, within what the model allows (`--goal deadlines` makes both).
    #[arg(long, hide_short_help = true, value_enum, default_value_t = SendingArg::Soonest, conflicts_with = "goal")]
    pub sending: SendingArg,
    /// Prints JSON: the test case, or with `--goal` the list of cases.
    #[arg(long)]
    pub json: bool,
    /// The branches of the test case that are left out.
    #[arg(long, hide_short_help = true, value_enum, default_value_t = CasePruning::Sound)]
    pub pruning: CasePruning,
    /// The number of seconds without a message that count as silence; or `above` (longer than every deadline of the
    /// model), or `free` (not fixed) [default: above; with `--pruning tool`: free].
    #[arg(long, hide_short_help = true, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// With `--purpose`: explores at most this many states.
    #[arg(long, hide_short_help = true, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// The formats of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CaseFormat {
    /// JSON; `ioxide schema case` prints its schema.
    Json,
    /// Text.
    Text,
    /// An SMT-LIB script that asks a solver for an example of every branch.
    Smt2,
    /// Graphviz.
    Dot,
    /// A PlantUML state diagram.
    Plantuml,
    /// A TTCN-3 module.
    Ttcn3,
    /// A Python test that uses the package in sdk/python.
    Pytest,
    /// A Rust module without dependencies.
    Rust,
    /// A model of the test case, for `show`, `step` and `explore`.
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
    /// Every transition.
    #[value(name = "transitions", alias = "switches")]
    Switches,
    /// Every two transitions that can follow each other.
    Pairs,
    /// Every transition that reads a clock, with inputs as early and as late as allowed.
    Deadlines,
}

/// The instants at which inputs are sent, within those that the model allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SendingArg {
    /// As early as the model allows.
    Soonest,
    /// As late as the model allows.
    Latest,
}

/// The arcs of a test case that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CasePruning {
    /// Branches that cannot happen.
    Sound,
    /// As the published generator does it; such a test may fail a correct system.
    Tool,
}
