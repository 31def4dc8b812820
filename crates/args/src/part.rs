//! Commands that can be done in parts, and those that put parts together: `--plan`, `--partition`, `merge`, `campaign`.

use clap::{Args as ClapArgs, ValueEnum};
use ioxide_campaign::units::{Partition, UnitSet};

use super::{LimitArgs, SolverArgs};

/// The heading of the options for work on several machines.
pub const PARTS_HEADING: &str = "Several machines";

/// The options that say which part of a command to do, and whether a value follows.
const PART_OPTIONS: [(&str, bool); 6] = [
    ("--plan", false),
    ("--partition", true),
    ("--unit", true),
    ("--units", true),
    ("--part", true),
    ("--feedback", true),
];

/// Returns the words of a command without the options that select a part of it.
pub fn without_part(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let option = PART_OPTIONS.iter().find(|(name, _)| {
            word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        match option {
            None => kept.push(word),
            Some((_, true)) if !word.contains('=') => drop(words.next()),
            Some(_) => (),
        }
    }
    kept
}

/// The part of a command that is to be done.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct PartArgs {
    /// Prints the units of work as JSON and does nothing else.
    #[arg(long, help_heading = PARTS_HEADING, hide_short_help = true)]
    pub plan: bool,
    /// Runs part K of N of the work; `ioxide merge` merges the parts.
    #[arg(
        long,
        help_heading = PARTS_HEADING,
        hide_short_help = true,
        value_name = "K/N",
        requires = "part",
        conflicts_with_all = ["unit", "units", "plan"],
    )]
    pub partition: Option<Partition>,
    /// Runs only the unit of work with this name; can be repeated.
    #[arg(
        long,
        help_heading = PARTS_HEADING,
        hide_short_help = true,
        value_name = "NAME",
        requires = "part",
        conflicts_with_all = ["units", "plan"],
    )]
    pub unit: Vec<String>,
    /// Runs only the units of work with these numbers, such as `1-5,9`.
    #[arg(
        long,
        help_heading = PARTS_HEADING,
        hide_short_help = true,
        value_name = "LIST",
        requires = "part",
        conflicts_with = "plan",
    )]
    pub units: Option<UnitSet>,
    /// Does the work in N rounds; a round skips what earlier rounds have covered [default: 1].
    #[arg(
        long,
        help_heading = PARTS_HEADING,
        hide_short_help = true,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1000),
    )]
    pub rounds: Option<u64>,
    /// The results of earlier rounds: `feedback.json`, written by `ioxide merge` [default: first round].
    #[arg(
        long,
        help_heading = PARTS_HEADING,
        hide_short_help = true,
        value_name = "FILE",
        requires = "part",
        conflicts_with = "plan",
    )]
    pub feedback: Option<String>,
    /// The directory for the results of this part; units that are already there are skipped.
    #[arg(long, help_heading = PARTS_HEADING, hide_short_help = true, value_name = "DIR", conflicts_with = "plan")]
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
    ioxide test examples/adder.iox --sut model:examples/adder.iox --tester random --seed 1 --partition 1/2 \
    --part parts/1\n  \
    ioxide test examples/adder.iox --sut model:examples/adder.iox --tester random --seed 1 --partition 2/2 \
    --part parts/2\n  \
    ioxide merge parts --out whole\n  \
    ioxide kill examples/brp/spec.iox --rounds 3 --feedback whole/feedback.json --part parts/round-2\n\n\
    Exit codes: that of the campaign (0 passed · 1 failed · 5 a goal was not reached) · 5 units are missing \
    and no other\n\
    unit failed · 2 parts are damaged, belong to different campaigns, or contradict each other.")]
pub struct MergeArgs {
    /// Directories of parts, or directories that contain them.
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<String>,
    /// The directory for the merged results; if another round follows, also for its `feedback.json`.
    #[arg(long, value_name = "DIR")]
    pub out: String,
    /// Prints the result as JSON instead of text.
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
    run = [\"test\", \"model.iox\", \"--sut\", \"stdio:./system\", \"--tester\", \"random\", \"--runs\", \
    \"100000\", \"--seed\", \"1\"]\n  \
    out = \"night\"          # results; the same command continues from there\n  \
    workers = 4            # at the same time\n  \
    budget = \"8h\"\n\n\
    More of a plan:\n  \
    rounds = 3             # a round skips what earlier rounds have covered (testers cover, tour, hunt; kill; \
    score)\n  \
    until = \"transitions\"  # stop when covered; also pairs, comparisons, values, equalities; for score: percent\n  \
    batch = \"10s\"          # how long a batch of units should take\n  \
    tries = 3              # give up on a unit after this many worker crashes\n  \
    [systems]              # servers that are running already: --sut 'tcp:${IOXIDE_ADDRESS}'\n  \
    pool = [\"10.0.0.7:7000\"]\n  \
    limit = 1              # batches at the same time on one address\n\n\
    Examples:\n  ioxide campaign plan.toml\n  ioxide campaign plan.toml --on print\n  \
    ioxide campaign plan.toml --on slurm --yes\n\n\
    Exit codes: as `merge`; 6 workers crashed or could not start · 130 interrupted; the same command continues.")]
pub struct CampaignArgs {
    /// The plan, a TOML file (see below).
    #[arg(value_name = "PLAN")]
    pub recipe: String,
    /// Where the workers run.
    #[arg(long, value_enum, default_value_t = EngineName::Local)]
    pub on: EngineName,
    /// The directory for results [default: from the plan].
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// The number of batches that run at the same time [default: from the plan].
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Submits jobs without asking.
    #[arg(long)]
    pub yes: bool,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// The engines that carry units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// As processes on this machine.
    Local,
    /// As tasks of a Ray cluster.
    Ray,
    /// As job arrays of Slurm.
    Slurm,
    /// Nowhere: prints one command per part, for any other scheduler.
    Print,
}
