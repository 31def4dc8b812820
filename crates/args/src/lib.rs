//! The command line of ioxide as types: its commands, their options, the help.
//!
//! [`CliArgs`] is what was typed. [`parse_words`] reads it, with what `ioxide.toml` adds for `ioxide test` without a
//! model or with the name of a suite; [`command_line`] is the definition that help, manual pages and completions are
//! made of. Nothing here carries a command out.
//!
//! *Promises.* The words decide, and the project file where `read_project` finds one; nothing else is read but whether
//! a file is there. What is typed wrong is an error with the usage.
//!
//! # Example
//!
//! ```
//! use ioxide_args::{CliCommand, parse_words};
//!
//! let words = ["ioxide", "test", "shop.iox", "--sut", "shop", "--seed", "1"].map(Into::into);
//! let args = parse_words(&words, &|| Ok(None))?;
//! let CliCommand::Test(test) = args.command else { panic!("another command") };
//! assert_eq!((test.model.file.as_str(), test.seed), ("shop.iox", Some(1)));
//! # Ok::<(), ioxide_args::ParseError>(())
//! ```
#![expect(missing_docs, reason = "arguments that commands share are described where they are declared")]

mod bench;
mod case;
mod complete;
mod duration;
mod explore;
mod fsm;
#[doc(hidden)]
pub mod help;
mod init;
mod learn;
mod live;
mod lsp;
mod model;
mod mutation;
mod part;
mod repair;
mod report;
mod requirements;
mod suites;
mod time;
mod tools;

use clap::{Args as ClapArgs, Parser, Subcommand};
use ioxide_project::SpecSource;

pub use self::bench::{BenchArgs, BenchName};
pub use self::case::{CaseArgs, CaseFormat, CaseGoalArg, CasePruning, SendingArg};
pub use self::complete::{CompleteArgs, CompleteCommand};
pub use self::duration::{TimeLimit, UnreadableTime, duration, time_limit};
pub use self::explore::ExploreArgs;
pub use self::fsm::{FsmArgs, FsmVariant, MissingArg};
pub use self::help::{VERSION_LINE, command_line, is_version_query, parse_words};
pub use self::init::{InitArgs, StubArg};
pub use self::learn::{CompareArg, DiffArgs, DraftFormat, LearnArgs, UnstableArg};
pub use self::live::{
    AdapterArgs, AdapterCheck, AdapterCommand, ConsistencyArg, CoverArg, DEFAULT_MAX_CONFIGURATIONS,
    DemoArgs, JudgeArgs, KeepArg, PurposesArgs, ReplayArgs, ShrinkArgs, SutArgs, TestArgs, TestFormat,
};
pub use self::lsp::LspArgs;
pub use self::model::{CheckArgs, CheckFormat, ExplainArgs, FmtArgs, ShowArgs, ShowFormat, StepArgs};
pub use self::mutation::{
    CompletionArg, ConformArgs, DecideArgs, KillArgs, MutantArgs, MutateArgs, ScoreArgs, TraceComparison,
};
pub use self::part::{CampaignArgs, EngineName, MergeArgs, PartArgs, without_part};
pub use self::repair::RepairArgs;
pub use self::report::{ReportArgs, ScriptArg};
pub use self::requirements::RequirementsArgs;
pub use self::suites::{ParseError, SuiteChoiceError};
pub use self::time::{ClockArg, TimeArgs};
pub use self::tools::{CompletionsArgs, DoctorArgs, ManPages, SchemaArgs, WatchArgs};

/// Tests a running program against a model of how it should behave.
#[derive(Debug, Parser)]
#[command(
    name = "ioxide",
    version,
    about = "Tests a running program against a model of how it should behave.",
    after_help = "`ioxide COMMAND -h` shows the main options of a command, `--help` all of them.\n\
        Start with `ioxide init shop`, which writes a small project whose first test passes.\n\n\
        Exit codes: 0 passed · 1 failed · 2 wrong command line or configuration · 3 the model has errors ·\n\
        4 nothing to run · 5 inconclusive, or a goal was not reached · 6 the adapter or the system broke ·\n\
        70 a bug in ioxide · 130 interrupted; results until then were written."
)]
pub struct CliArgs {
    /// The command to carry out.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The commands of `ioxide`.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Tests a small server that is correct, then one with a bug.
    Demo(DemoArgs),
    /// Starts a project: a model, a program to test, `ioxide.toml`, a CI workflow.
    #[command(visible_alias = "new")]
    Init(InitArgs),
    /// Finds mistakes in models.
    Check(CheckArgs),
    /// Formats models.
    Fmt(FmtArgs),
    /// Explains a diagnostic code.
    Explain(ExplainArgs),
    /// Prints a model as text, a picture or JSON.
    Show(ShowArgs),
    /// Steps through a model by hand: which messages are possible next, and why others are not.
    Step(StepArgs),
    /// Shows a model, recorded runs and tests in progress in the browser.
    Explore(ExploreArgs),
    /// Simulates a system: a program that behaves as a model says.
    Sut(SutArgs),
    /// Tests a system against a model.
    Test(TestArgs),
    /// Repeats a recorded run.
    Replay(ReplayArgs),
    /// Searches for a smaller failing run on the system.
    Shrink(ShrinkArgs),
    /// Writes a recorded campaign as text, HTML, JUnit XML, Markdown, JSON or a script.
    Report(ReportArgs),
    /// Merges parts that were run on several machines.
    Merge(MergeArgs),
    /// Runs a command on many workers, here or on a cluster.
    Campaign(CampaignArgs),
    /// Checks a recorded run against a model.
    Judge(JudgeArgs),
    /// Proposes small changes of a model that explain recorded runs.
    Repair(RepairArgs),
    /// Shows which requirements recorded runs cover, and which transitions trace to none.
    Requirements(RequirementsArgs),
    /// Finds paths that together take every transition of a model.
    Purposes(PurposesArgs),
    /// Makes a test case for one path of a model, also as pytest, Rust or TTCN-3.
    Case(CaseArgs),
    /// Makes a complete test suite for a model with data, and says what it proves.
    Complete(CompleteCommand),
    /// Makes a complete test suite for a finite state machine.
    Fsm(FsmArgs),
    /// Learns a model from a running system or from recorded runs.
    Learn(LearnArgs),
    /// Lists the differences between two state machines.
    Diff(DiffArgs),
    /// Checks that one model does nothing another forbids.
    Conform(ConformArgs),
    /// Checks that every trace of one model is a trace of another.
    Refine(TraceComparison),
    /// Checks that two models have the same traces.
    Equiv(TraceComparison),
    /// Makes mutants of a model: variants with one small fault each.
    Mutate(MutateArgs),
    /// Makes a small test suite that detects every mutant that can be detected.
    Kill(KillArgs),
    /// Counts how many mutants a test suite or a tester detects.
    Score(ScoreArgs),
    /// Checks an adapter before you use it with a model.
    Adapter(AdapterArgs),
    /// Runs the language server for editors, over stdin and stdout.
    Lsp(LspArgs),
    /// Checks and tests again whenever a file is saved.
    Watch(WatchArgs),
    /// Checks your setup and suggests fixes.
    Doctor(DoctorArgs),
    /// Prints the completion script for a shell.
    Completions(CompletionsArgs),
    /// Prints the manual page, or writes the pages of all commands.
    Man(ManPages),
    /// Prints the JSON schema of a file that ioxide writes.
    Schema(SchemaArgs),
    /// Repeats the measurements of the project.
    Bench(BenchArgs),
}

impl CliCommand {
    /// Returns the time limit of the command, if it can have one.
    pub fn limit_mut(&mut self) -> Option<&mut LimitArgs> {
        Some(match self {
            Self::Check(args) => &mut args.limit,
            Self::Show(args) => &mut args.limit,
            Self::Test(args) => &mut args.limit,
            Self::Merge(args) => &mut args.limit,
            Self::Judge(args) => &mut args.limit,
            Self::Repair(args) => &mut args.limit,
            Self::Purposes(args) => &mut args.limit,
            Self::Case(args) => &mut args.limit,
            Self::Complete(args) => &mut args.limit,
            Self::Fsm(args) => &mut args.limit,
            Self::Learn(args) => &mut args.limit,
            Self::Diff(args) => &mut args.limit,
            Self::Conform(args) => &mut args.limit,
            Self::Refine(args) | Self::Equiv(args) => &mut args.limit,
            Self::Mutate(args) => &mut args.limit,
            Self::Kill(args) => &mut args.limit,
            Self::Score(args) => &mut args.limit,
            Self::Demo(_)
            | Self::Init(_)
            | Self::Fmt(_)
            | Self::Explain(_)
            | Self::Step(_)
            | Self::Explore(_)
            | Self::Sut(_)
            | Self::Replay(_)
            | Self::Shrink(_)
            | Self::Report(_)
            | Self::Requirements(_)
            | Self::Campaign(_)
            | Self::Adapter(_)
            | Self::Lsp(_)
            | Self::Watch(_)
            | Self::Doctor(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Schema(_)
            | Self::Bench(_) => return None,
        })
    }
}

/// A model file and the constants to override.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct ModelArgs {
    /// The model file: `.iox`, `.as`, RALib `.xml`, `.xlia`, `.txs` (several as `a.txs+b.txs`), or a machine in `.dot`,
    /// `.kiss`, `.txt` or `.fsm`.
    pub file: String,
    /// Sets a constant of the model; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Tests as if messages passed through a channel: `fifo(capacity: 4)` keeps their order,
    /// `bag(capacity: 4, may_lose: true)` does not.
    #[arg(long, value_name = "CHANNEL", hide_short_help = true)]
    pub through: Option<String>,
}

impl ModelArgs {
    /// Returns the file and its constants, for a system that is a model too.
    pub fn spec_source(&self) -> SpecSource<'_> {
        SpecSource { file: &self.file, set: &self.set }
    }

    /// Returns the constants that are set and the channel, which a record needs to load the model again.
    pub fn settings(&self) -> Vec<String> {
        settings(&self.set, self.through.as_deref())
    }
}

/// Constants and channel as one list.
pub fn settings(set: &[String], through: Option<&str>) -> Vec<String> {
    let channel = through.map(|channel| format!("{THROUGH}{channel}"));
    set.iter().cloned().chain(channel).collect()
}

/// The prefix of the channel among the settings of a model.
pub const THROUGH: &str = "--through=";

/// The heading of the options about the solver and time limits.
const LIMITS_HEADING: &str = "Solver and time limits";

/// The solver that decides formulas, and its time limit.
#[derive(Clone, Debug, ClapArgs)]
pub struct SolverArgs {
    /// The solver: `auto` (Z3 if it is installed), `z3`, `none`, or a command that reads SMT-LIB 2, such as
    /// `cvc5 --incremental`.
    #[arg(long, default_value = "auto", value_name = "SOLVER", help_heading = LIMITS_HEADING, hide_short_help = true)]
    pub solver: String,
    /// The longest time for one solver query, in seconds; after eight timeouts, later queries get less.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", help_heading = LIMITS_HEADING, hide_short_help = true)]
    pub solver_timeout: f64,
}

/// The time that the analysis of a command may take.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct LimitArgs {
    /// The longest time for the analysis: `30s`, `10min`, `1h` or `none` [default: 10min; `learn`: 1h; `repair`: 10s;
    /// `test`: 15s before the first step, then none].
    ///
    /// Results found until then are shown and marked as partial. The exit code is 5 if nothing was found.
    #[arg(
        long = "time-limit",
        value_name = "TIME",
        value_parser = time_limit,
        help_heading = LIMITS_HEADING,
        hide_short_help = true
    )]
    pub time_limit: Option<TimeLimit>,
}

impl Default for SolverArgs {
    /// The best there is, ten seconds a question.
    fn default() -> Self {
        Self { solver: "auto".into(), solver_timeout: 10.0 }
    }
}
