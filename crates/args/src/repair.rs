//! `repair`.

use clap::Args as ClapArgs;

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `repair`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide test model.iox --sut shop --report runs --keep-going\n  \
    ioxide repair model.iox runs\n  ioxide repair model.iox runs --apply 1\n\n\
    If the system is right and the model is wrong: which change of the model explains every recorded run? Every \
    proposal\n\
    allows the runs that fail and all that did not, and says what else it would allow. More runs leave fewer \
    proposals.\n\n\
    Exit codes: 0 there is a proposal · 4 no run fails · 5 no small change explains the runs.")]
pub struct RepairArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The recorded runs: directories given to `test --report` (all records in them), records, or traces as `judge`
    /// reads them.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Writes the proposal with this number to the model file.
    #[arg(long, value_name = "N")]
    pub apply: Option<usize>,
    /// The greatest number of proposals.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub max: usize,
    /// Prints the proposals as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}
