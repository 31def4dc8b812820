//! The arguments of the command line.
#![expect(missing_docs, reason = "arguments that commands share are described where they are declared")]

mod bench;
mod case;
mod complete;
mod duration;
mod explore;
mod fsm;
mod init;
mod learn;
mod live;
mod lsp;
mod model;
mod mutation;
mod part;
mod report;
mod time;
mod tools;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::mutant_file::SpecSource;

pub use self::bench::{BenchArgs, BenchName};
pub use self::case::{CaseArgs, CaseFormat, CaseGoalArg, CasePruning, SendingArg};
pub use self::complete::{CompleteArgs, CompleteCommand};
pub use self::duration::{TimeLimit, UnreadableTime, duration, time_limit};
pub use self::explore::ExploreArgs;
pub use self::fsm::{FsmArgs, FsmVariant, MissingArg};
pub use self::init::{InitArgs, StubArg};
pub use self::learn::{CompareArg, DiffArgs, DraftFormat, LearnArgs, UnstableArg};
pub use self::live::{
    AdapterArgs, AdapterCheck, AdapterCommand, ConsistencyArg, DemoArgs, JudgeArgs, KeepArg, PurposesArgs,
    ReplayArgs, ShrinkArgs, SutArgs, TestArgs,
};
pub use self::lsp::LspArgs;
pub use self::model::{CheckArgs, ExplainArgs, FmtArgs, ShowArgs, ShowFormat, StepArgs};
pub use self::mutation::{
    CompletionArg, ConformArgs, DecideArgs, KillArgs, MutantArgs, MutateArgs, ScoreArgs, TraceComparison,
};
pub use self::part::{CampaignArgs, EngineName, MergeArgs, PartArgs};
pub use self::report::{ReportArgs, ScriptArg};
pub use self::time::{ClockArg, TimeArgs};
pub use self::tools::{CompletionsArgs, DoctorArgs, ManPages, SchemaArgs, WatchArgs};

/// Tests real systems against symbolic models.
#[derive(Debug, Parser)]
#[command(
    name = "ioxide",
    version,
    about = "Tests real systems against symbolic models: states, messages with data, timing.",
    after_help = "Start with `ioxide demo`, then `ioxide check examples/adder.iox`.\n\n\
        Exit codes: 0 passed · 1 conformance failure · 2 usage or configuration · 3 model does not compile ·\n\
        4 nothing to run · 5 goals not met or only inconclusive · 6 adapter or system under test broke ·\n\
        70 bug in ioxide · 130 interrupted, partial results written."
)]
pub struct CliArgs {
    /// The command to carry out.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The commands of `ioxide`.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Tests a correct system and a faulty one that ship with ioxide.
    Demo(DemoArgs),
    /// Begins a project: model, adapter, project file, workflow.
    Init(InitArgs),
    /// Checks models and says what is wrong with them.
    Check(CheckArgs),
    /// Lays out models canonically.
    Fmt(FmtArgs),
    /// Explains a diagnostic code.
    Explain(ExplainArgs),
    /// Shows a model as text or picture.
    Show(ShowArgs),
    /// Steps through a model by hand.
    Step(StepArgs),
    /// Explores a model, recorded runs and a live campaign in a browser.
    Explore(ExploreArgs),
    /// Plays a model as a system under test.
    Sut(SutArgs),
    /// Tests a system against a model, on the fly.
    Test(TestArgs),
    /// Repeats a recorded run.
    Replay(ReplayArgs),
    /// Makes a recorded failing run smaller, on the live system.
    Shrink(ShrinkArgs),
    /// Reports on a recorded campaign: for people, CI systems, pull requests, programs.
    Report(ReportArgs),
    /// Puts the parts of a command that was done on several machines together.
    Merge(MergeArgs),
    /// Does a command on many workers, here or on a cluster.
    Campaign(CampaignArgs),
    /// Judges a recorded trace.
    Judge(JudgeArgs),
    /// Finds test purposes that cover every switch of a model.
    Purposes(PurposesArgs),
    /// Makes a test case that follows one path of a model.
    Case(CaseArgs),
    /// Complete test suites of models with data, and what they prove.
    Complete(CompleteCommand),
    /// Complete test suites of finite state machines.
    Fsm(FsmArgs),
    /// Makes a model from a running system, or from recorded runs.
    Learn(LearnArgs),
    /// Says what changed between two machines.
    Diff(DiffArgs),
    /// Says whether one model does only what another allows.
    Conform(ConformArgs),
    /// Says whether every trace of one model is one of another.
    Refine(TraceComparison),
    /// Says whether two models have the same traces.
    Equiv(TraceComparison),
    /// Makes mutants of a model: small changes, each a fault a system might have.
    Mutate(MutateArgs),
    /// Decides all mutants and makes a small suite that kills them.
    Kill(KillArgs),
    /// Says how many mutants a suite or a tester kills.
    Score(ScoreArgs),
    /// Tries an adapter before any model is involved.
    Adapter(AdapterArgs),
    /// Serves an editor: the language server, over stdin and stdout.
    Lsp(LspArgs),
    /// Checks models again when they are saved, and tests again.
    Watch(WatchArgs),
    /// Says what is there and what is missing, with the command that mends it.
    Doctor(DoctorArgs),
    /// Prints the completions of a shell.
    Completions(CompletionsArgs),
    /// Prints the manual page, or writes those of all commands.
    Man(ManPages),
    /// Prints the JSON schema of a file that ioxide writes.
    Schema(SchemaArgs),
    /// Measures what the project claims.
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
    /// The model: `.iox`, `.as`, `.dot`, RALib `.xml`, `.xlia` or `.txs`.
    pub file: String,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Sees the model through a channel between tester and system: `fifo(capacity: 4)`, or `bag(capacity: 4, may_lose:
    /// true)`; inputs wait in one, outputs in another.
    #[arg(long, value_name = "CHANNEL")]
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

/// The solver that decides formulas, and its time limit.
#[derive(Clone, Debug, ClapArgs)]
pub struct SolverArgs {
    /// `auto` (libz3 if found, else none), `z3`, `none`, or a command that speaks SMT-LIB 2, such as `cvc5 --incremental`.
    #[arg(long, default_value = "auto", value_name = "SOLVER")]
    pub solver: String,
    /// Seconds one question may take; once eight have taken so long, the others get a fraction.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub solver_timeout: f64,
}

/// The time that the analysis of a command may take.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct LimitArgs {
    /// Ends the analysis after this time (`30s`, `10min`, `1h`, `none`); what was found until then is shown, marked as
    /// partial, with exit code 5 if nothing was found [default: 10min; in `learn` 1h; in `test` none, but 15s for what
    /// comes before the first step].
    #[arg(long = "time-limit", value_name = "TIME", value_parser = time_limit)]
    pub time_limit: Option<TimeLimit>,
}

impl Default for SolverArgs {
    /// The best there is, ten seconds a question.
    fn default() -> Self {
        Self { solver: "auto".into(), solver_timeout: 10.0 }
    }
}
