//! `requirements`.

use clap::Args as ClapArgs;

use super::ModelArgs;

/// Arguments of `requirements`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide requirements model.iox\n  \
    ioxide requirements model.iox runs\n  \
    ioxide requirements model.iox runs --csv > requirements.csv\n\n\
    `@req(\"R-12\")` before a transition, a state, a test, a purpose or a property says that it traces to a \
    requirement.\n\
    A requirement is covered if recorded runs took all its transitions for certain, and passed its tests and \
    purposes.\n\n\
    Exit codes: 0 every requirement is covered, or no run was named · 1 a failing run contradicts one · 4 the model \
    names\nno requirement · 5 one is not covered.")]
pub struct RequirementsArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The recorded runs: directories given to `test --report` (all records in them) or records.
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Prints the table as comma-separated values.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Prints the table as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
