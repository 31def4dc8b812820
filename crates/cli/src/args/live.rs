//! Commands around a system under test: `demo`, `sut`, `purposes`, `test`, `replay`, `shrink`, `judge`, `adapter`.

use std::time::Duration;

use ioxide_model::relation::ConformanceRelation;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use ioxide_history::Consistency;
use ioxide_run::coverage::item::Measure;
use ioxide_testgen::purpose::Criterion;
use ioxide_testgen::tester::random;
use ioxide_testgen::tester::spec::{TesterSpec, TesterSpecError};
use thiserror::Error;

use super::{LimitArgs, ModelArgs, PartArgs, SolverArgs, TimeArgs, duration};

/// Arguments of `demo`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide demo --seed 7")]
pub struct DemoArgs {
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The file for the HTML report of the second part.
    #[arg(long, value_name = "FILE", default_value = "ioxide-demo.html")]
    pub html: String,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sut`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide sut examples/brp/m1.iox --stdio\n  ioxide sut examples/brp/spec.iox --listen 127.0.0.1:7000 --seed 3"
)]
pub struct SutArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Speaks the adapter protocol on stdin and stdout (the default).
    #[arg(long, conflicts_with = "listen")]
    pub stdio: bool,
    /// Speaks it over TCP; a port alone binds to loopback.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Seed of the choices among outputs.
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `test`.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide test examples/brp/spec.iox --sut model:examples/brp/m3.iox\n  \
    ioxide test examples/brp/spec.iox --sut 'stdio:ioxide sut examples/brp/spec.iox' --runs 10\n  \
    ioxide test examples/brp/spec.iox --sut model:examples/brp/spec.iox --for 10s --until pairs\n  \
    ioxide test examples/brp/spec.iox --sut model:examples/brp/m5.iox --tester tour --report runs\n  \
    ioxide test examples/atm/atm.iox --sut 'stdio:python3 examples/atm/atm.py' --tester purpose:cash --runs 3")]
pub struct TestArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The system: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// The choice of inputs: `hunt` (test purposes that take every switch, then walks that look for trouble until the
    /// budget is spent), `cover` (the purposes alone, five times), `tour` (the same in few long runs),
    /// `purpose:NAME,...` (paths to goals of the model), `force:NAME` (plays for a goal: forces it where it can,
    /// adapting to what the system does), `tests` or `test:NAME` (tests written beside the model), `case:FILE` (a test
    /// case of `case --format json`), `suite:FILE` (the tests of a file that `fsm --out` or another command wrote),
    /// `complete` or `complete:extra=1,refine=1` (a complete suite of the model, see `ioxide complete`), `kill` (tests
    /// that kill mutants of the model) or `random`.
    #[arg(long, default_value_t, value_name = "TESTER", value_parser = parse_tester)]
    pub tester: TesterSpec,
    /// The elements of the model that `hunt`, `cover` and `tour` cover.
    #[arg(long, value_enum, default_value_t)]
    pub cover: CoverArg,
    /// The number of runs; if not given, `hunt` goes on until its steps or its time are spent, `cover` and `tour` cover
    /// everything five times, each time with other data, suites and tests end by themselves, and the other testers do
    /// ten runs.
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// The greatest number of steps, observations included: of all runs of `hunt` together [default: 10000, or 2000 where
    /// the model has clocks or unknown values], or of each run of the other testers [default: 100 for `random`] and, with
    /// `--runs`, of `hunt`. Runs that failed before, and those that repeat or shrink a failure, are not counted.
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// The time to go on, such as `90s`, `10min` or `8h`; steps are not counted then [default: `hunt` ends after half a
    /// minute if the system is not a model played here].
    #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
    pub for_time: Option<Duration>,
    /// Ends the campaign as soon as everything of a kind was seen; exit code 5 if it was not.
    #[arg(long, value_enum, value_name = "GOAL")]
    pub until: Option<UntilArg>,
    /// Seed of all random choices.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else calibrated by
    /// the answers of the system].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    /// The tester's readiness to send where the system could speak as well [default: `fair` for `random`, `hunt` and
    /// `force:NAME`, whose choice it is; the others always send].
    #[arg(long, value_enum)]
    pub interaction: Option<InteractionArg>,
    /// Judges only what is seen within this goal of the model (an observer that has not said miss, a path, a
    /// place to reach).
    #[arg(long, value_name = "GOAL")]
    pub objective: Option<String>,
    /// The conformance relation: `ioco`, or `uioco`, which leaves open what follows an input that only some of the
    /// states the model may be in accept [default: ioco; uioco for systems made of parts].
    #[arg(long, value_name = "RELATION")]
    pub relation: Option<ConformanceRelation>,
    /// Listens for this many times the quiescence time before silence is a failure.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub confirm_silence: u32,
    /// Tests this many instances of the system at once; each has its own process and `{port}`.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub jobs: usize,
    /// Goes on after a failing run.
    #[arg(long)]
    pub keep_going: bool,
    /// Leaves a failing run as it is: it is neither repeated nor made smaller. For systems whose runs take
    /// long; `replay` and `shrink` do both later.
    #[arg(long)]
    pub no_shrink: bool,
    /// Does not repeat first what failed before (`regressions.jsonl` of the `--report` directory).
    #[arg(long)]
    pub no_regressions: bool,
    /// Leaves times out of the record, so that records can be compared byte by byte; a model played in
    /// process has no times anyway.
    #[arg(long)]
    pub no_times: bool,
    /// Writes one record per run into this directory.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,
    /// The runs that the record keeps whole: `all`, or `failures`; of the others it keeps seed and verdict. [default: all
    /// until the record has 32 MB, then failures]
    #[arg(long, value_enum, value_name = "RUNS", requires = "report")]
    pub keep: Option<KeepArg>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
    /// In parts: shares out a campaign of a tester that learns from run to run (`hunt`, `cover`, `tour`, `purpose:NAME`,
    /// `force:NAME`) among so many, which know nothing of each other [default: 16].
    #[arg(long, value_name = "N", help_heading = "In parts, on several machines")]
    pub shares: Option<u64>,
}

/// Arguments of `replay`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide replay runs --sut model:examples/brp/m3.iox\n  \
    ioxide replay runs/regressions.jsonl --name ack --sut model:examples/brp/m3.iox")]
pub struct ReplayArgs {
    /// The record, or the directory given to `test --report`; or its `regressions.jsonl`, the smallest failing runs.
    pub run: String,
    /// The number of the run in the file, from 1; the first that failed if not given.
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// The name of the run in `regressions.jsonl`, or a part of it.
    #[arg(long, value_name = "NAME", conflicts_with = "number")]
    pub name: Option<String>,
    /// Takes the smallest run that the failing run was shrunk to, rather than the run as it was found.
    #[arg(long, conflicts_with = "name")]
    pub smallest: bool,
    /// The model, if it has moved since.
    #[arg(long, value_name = "FILE")]
    pub model: Option<String>,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The system: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else calibrated by
    /// the answers of the system].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `shrink`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide shrink runs --sut model:examples/brp/m5.iox --report smaller")]
pub struct ShrinkArgs {
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// Runs it may take.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub attempts: u32,
    /// The time it may take.
    #[arg(long = "for", default_value = "10min", value_name = "TIME", value_parser = duration)]
    pub for_time: Duration,
    /// Writes the record into this directory.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,
}

/// A value of `--consistency`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConsistencyArg {
    /// An operation that returned before another was called comes before it.
    #[default]
    Linearizable,
    /// Only the order of each client's own operations counts.
    Sequential,
}

impl From<ConsistencyArg> for Consistency {
    fn from(consistency: ConsistencyArg) -> Self {
        match consistency {
            ConsistencyArg::Linearizable => Self::Linearizable,
            ConsistencyArg::Sequential => Self::Sequential,
        }
    }
}

/// Arguments of `judge`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide judge examples/brp/spec.iox runs\n  \
    echo '{\"label\": \"IACK\"}' | ioxide judge examples/brp/spec.iox -\n\n\
    A trace is a record of `test --report`, or JSON lines: {\"label\": \"coin\", \"args\": {\"n\": 3}} for a\n\
    message and {\"quiescence\": true} for silence; for a timed model with \"time\": SECONDS since the start or\n\
    \"after\": SECONDS since the line before, alone if nothing came. Exit code 0 if it is allowed, 1 if not.\n\n\
    With --clients it is a history of concurrent clients: lines {\"client\": \"a\", \"call\": {\"label\": ...}} and\n\
    {\"client\": \"a\", \"return\": {\"label\": ...}} after {\"ioxide-history\": 1}; or Jepsen's EDN or log lines, whose\n\
    operations become messages by the table [history] of `ioxide.toml`. The model answers each input once.")]
pub struct JudgeArgs {
    /// The model: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// The trace: a file, the directory given to `test --report`, or `-` for stdin.
    pub trace: String,
    /// The number of the run in a record, from 1; the first that failed if not given.
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// Judges only what is seen within this goal of the model.
    #[arg(long, value_name = "GOAL")]
    pub objective: Option<String>,
    /// The conformance relation: `ioco`, or `uioco`, which leaves open what follows an input that only some of the
    /// states the model may be in accept [default: ioco; uioco for systems made of parts].
    #[arg(long, value_name = "RELATION")]
    pub relation: Option<ConformanceRelation>,
    /// Judges through this channel between tester and system, as `test --through` does.
    #[arg(long, value_name = "CHANNEL")]
    pub through: Option<String>,
    /// Inputs of the trace were sent where they stand, and taken then or later; a record says so itself.
    #[arg(long)]
    pub in_flight: bool,
    /// The trace is a history of concurrent clients: is there an order of their operations that the model allows?
    #[arg(long, conflicts_with_all = ["number", "objective", "relation", "in_flight"])]
    pub clients: bool,
    /// The order respects real time, or only the order of each client's own operations.
    #[arg(long, value_enum, default_value_t, value_name = "CONSISTENCY", requires = "clients")]
    pub consistency: ConsistencyArg,
    /// Looks at no more than this many configurations of a history; 0 for no limit.
    #[arg(long, default_value_t = 5_000_000, value_name = "N", requires = "clients")]
    pub max_configurations: u64,
    /// Writes the history in EDN to this file, for Jepsen's checkers.
    #[arg(long, value_name = "FILE", requires = "clients")]
    pub edn: Option<String>,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Prints the verdict as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// Arguments of `purposes`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide purposes examples/brp/spec.iox\n  \
    ioxide purposes examples/brp/scaled.iox --set N=16 --set MAX_RN=20 --json\n\n\
    Exit code 5 if something is neither covered nor proved unreachable.")]
pub struct PurposesArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The elements of the model that the purposes cover.
    #[arg(long, value_enum, default_value_t)]
    pub cover: CoverArg,
    /// Looks at no more than this many symbolic states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Prints the purposes as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// The reason why a text is no value of `--tester`, with the help for it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{error}\nhelp: {}", .error.help())]
pub struct BadTester {
    error: TesterSpecError,
}

/// Reads the value of `--tester`.
pub fn parse_tester(text: &str) -> Result<TesterSpec, BadTester> {
    text.parse().map_err(|error| BadTester { error })
}

/// The coverage goals of `--until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UntilArg {
    /// Every switch was taken.
    Switches,
    /// Every pair of switches that can follow each other in the graph was taken.
    Pairs,
    /// Inputs were on both sides of every comparison and at its edge, deadlines and other instants included.
    Comparisons,
    /// Every field of an input had a value of every kind that its guards allow.
    Values,
    /// Every field of an input was equal to every other one and to every stored value of its sort.
    Equalities,
}

impl From<UntilArg> for Measure {
    fn from(until: UntilArg) -> Self {
        match until {
            UntilArg::Switches => Self::Switches,
            UntilArg::Pairs => Self::Pairs,
            UntilArg::Comparisons => Self::Comparisons,
            UntilArg::Values => Self::Values,
            UntilArg::Equalities => Self::Equalities,
        }
    }
}

/// The readiness of a tester to send an input where it could also wait for an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InteractionArg {
    /// One time in two.
    #[default]
    Fair,
    /// Nine times in ten.
    Eager,
}

impl From<InteractionArg> for random::Interaction {
    fn from(interaction: InteractionArg) -> Self {
        match interaction {
            InteractionArg::Fair => Self::Fair,
            InteractionArg::Eager => Self::InputEager,
        }
    }
}

/// The runs that a record keeps whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepArg {
    /// Every run.
    All,
    /// Runs that failed, had an error or were interrupted.
    Failures,
}

/// The elements of a model to cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CoverArg {
    /// Every switch is taken.
    #[default]
    Switches,
    /// Every location is reached.
    Locations,
    /// Every message is sent or seen.
    Gates,
}

impl From<CoverArg> for Criterion {
    fn from(cover: CoverArg) -> Self {
        match cover {
            CoverArg::Switches => Self::Switches,
            CoverArg::Locations => Self::Locations,
            CoverArg::Gates => Self::Gates,
        }
    }
}

/// Arguments of `adapter`.
#[derive(Debug, ClapArgs)]
pub struct AdapterArgs {
    /// The command for the adapter.
    #[command(subcommand)]
    pub command: AdapterCommand,
}

/// The commands of `ioxide adapter`.
#[derive(Debug, Subcommand)]
pub enum AdapterCommand {
    /// Talks to it by the book: greeting, one input of every kind, two resets, the end.
    #[command(after_help = "Example:\n  ioxide adapter check 'stdio:ioxide sut examples/adder.iox'")]
    Check(AdapterCheck),
}

/// Arguments of `adapter check`.
#[derive(Debug, ClapArgs)]
pub struct AdapterCheck {
    /// The system: `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`.
    pub sut: String,
    /// Compares its messages with those of this model.
    #[arg(long, value_name = "FILE")]
    pub model: Option<String>,
    /// Milliseconds it may take to answer.
    #[arg(long, default_value_t = 5_000, value_name = "MS")]
    pub limit_ms: u64,
    /// Prints the checks as JSON.
    #[arg(long)]
    pub json: bool,
}
