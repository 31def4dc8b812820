//! Comparing models: `conform`, `mutate`, `kill`, `score`.

use clap::{Args as ClapArgs, ValueEnum};

use super::SolverArgs;

/// Arguments of `conform`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide conform examples/brp/m2.iox examples/brp/spec.iox\n  \
    ioxide conform examples/cas/cas.iox examples/cas/cas.as --json\n\n\
    Exit codes: 0 conforms, proven · 1 does not, with a trace · 5 neither was shown.")]
pub struct Conform {
    /// The model that must conform.
    #[arg(value_name = "IMPL")]
    pub implementation: String,
    /// The model that says what is allowed.
    #[arg(value_name = "SPEC")]
    pub specification: String,
    /// Overrides a constant of both models.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Looks at traces of at most this many steps.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Looks at no more than this many product states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// What the implementation does with inputs it does not mention.
    #[arg(long, value_enum, default_value_t = Completing::Angelic)]
    pub completion: Completing,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// What an implementation does with inputs it does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Completing {
    /// It ignores them.
    Angelic,
    /// It ignores them once it has left the specification.
    Restricted,
    /// They cannot happen.
    None,
}
