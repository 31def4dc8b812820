//! Commands that can be done in parts, and those that put parts together: `--plan`, `--partition`, `merge`, `campaign`.

use clap::{Args as ClapArgs, ValueEnum};
use ioxide_campaign::units::{Partition, UnitSet};

use super::{LimitArgs, SolverArgs};

/// The part of a command that is to be done.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "In parts, on several machines")]
pub struct PartArgs {
    /// Prints the units that the command is made of, as JSON, and does nothing else.
    #[arg(long)]
    pub plan: bool,
    /// Does part K of N; `ioxide merge` puts the parts together.
    #[arg(long, value_name = "K/N", requires = "part", conflicts_with_all = ["unit", "units", "plan"])]
    pub partition: Option<Partition>,
    /// Does the unit with this name; can be given several times.
    #[arg(long, value_name = "NAME", requires = "part", conflicts_with_all = ["units", "plan"])]
    pub unit: Vec<String>,
    /// Does the units with these numbers, such as `1-5,9`.
    #[arg(long, value_name = "LIST", requires = "part", conflicts_with = "plan")]
    pub units: Option<UnitSet>,
    /// Does the units in N rounds: what one round has covered or killed is not done again in the next.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub rounds: Option<u64>,
    /// The findings of the rounds before (`feedback.json` of `ioxide merge`): does units of the next round. Without it,
    /// those of the first.
    #[arg(long, value_name = "FILE", requires = "part", conflicts_with = "plan")]
    pub feedback: Option<String>,
    /// The directory of the part; what is in it already is not done again.
    #[arg(long, value_name = "DIR", conflicts_with = "plan")]
    pub part: Option<String>,
}

impl PartArgs {
    /// Returns whether the command is to be planned or done in parts.
    pub fn is_planned(&self) -> bool {
        self.plan || self.part.is_some()
    }

    /// Returns the number of rounds, at least 1.
    pub fn n_rounds(&self) -> u64 {
        self.rounds.unwrap_or(1)
    }
}

/// Arguments of `merge`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  \
    ioxide test examples/adder.iox --sut model:examples/adder.iox --tester random --seed 1 --partition 1/2 --part parts/1\n  \
    ioxide test examples/adder.iox --sut model:examples/adder.iox --tester random --seed 1 --partition 2/2 --part parts/2\n  \
    ioxide merge parts --out whole\n  \
    ioxide kill examples/brp/spec.iox --rounds 3 --feedback whole/feedback.json --part parts/round-2\n\n\
    Exit codes: that of the campaign (0 passed · 1 a failure was found · 5 goals not met) · 5 units are missing, and nothing\n\
    that is there failed · 2 parts are damaged, of different campaigns, or contradict each other.")]
pub struct MergeArgs {
    /// Directories of parts, or directories with such directories in them.
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<String>,
    /// The directory for the campaign: its record and reports, or its suite and tables; where rounds are left to do,
    /// also `feedback.json`, which the next one begins with.
    #[arg(long, value_name = "DIR")]
    pub out: String,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// The times at which results were made that were not made now.
    #[arg(skip)]
    pub dated: Option<String>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// Arguments of `campaign`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example of a plan:\n  \
    run = [\"test\", \"model.iox\", \"--sut\", \"stdio:./system\", \"--tester\", \"random\", \"--runs\", \"100000\", \"--seed\", \"1\"]\n  \
    out = \"night\"          # results; the same command goes on from there\n  \
    workers = 4            # at once\n  \
    budget = \"8h\"\n\n\
    More of a plan:\n  \
    rounds = 3             # what one round has covered or killed is not done again in the next (testers cover, tour, hunt; kill; score)\n  \
    until = \"switches\"     # ends there: also pairs, comparisons, values, equalities; for score a number, in percent\n  \
    batch = \"10s\"          # how long a batch of units should take\n  \
    tries = 3              # a unit may cost so many workers their life\n  \
    [systems]              # that are there already: --sut 'tcp:${IOXIDE_ADDRESS}'\n  \
    pool = [\"10.0.0.7:7000\"]\n  \
    limit = 1              # batches at once on one address\n\n\
    Examples:\n  ioxide campaign plan.toml\n  ioxide campaign plan.toml --on print\n  ioxide campaign plan.toml --on slurm --yes\n\n\
    Exit codes: as `merge`; 6 workers died or could do nothing · 130 interrupted: the same command goes on.")]
pub struct CampaignArgs {
    /// The file that says what to do.
    #[arg(value_name = "PLAN")]
    pub recipe: String,
    /// The engine that carries the units.
    #[arg(long, value_enum, default_value_t = EngineName::Local)]
    pub on: EngineName,
    /// The directory for results, if not that of the plan.
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// Batches that run at once, if not as many as the plan says.
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Sends jobs without asking.
    #[arg(long)]
    pub yes: bool,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// The engines that carry units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Processes on this machine.
    Local,
    /// Tasks of a Ray cluster.
    Ray,
    /// Job arrays of Slurm.
    Slurm,
    /// Nobody: prints a command per part, for any other scheduler.
    Print,
}
