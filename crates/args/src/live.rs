//! Commands around a system under test: `demo`, `sut`, `purposes`, `test`, `replay`, `shrink`, `judge`, `adapter`.

use std::time::Duration;

use ioxide_model::relation::ConformanceRelation;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use ioxide_history::Consistency;
use ioxide_run::coverage::item::Measure;
use ioxide_run::thinned_record::KeptRuns;
use ioxide_testgen::purpose::Criterion;
use ioxide_testgen::tester::random;
use ioxide_testgen::tester::spec::{TesterSpec, TesterSpecError};
use thiserror::Error;

use super::part::PARTS_HEADING;
use super::{LimitArgs, ModelArgs, PartArgs, SolverArgs, TimeArgs, duration};

/// The testers, for the long help of `--tester`.
const TESTER_HELP: &str = "\
The way inputs are chosen:
  hunt              takes every transition, then looks for failures until steps or time end
  cover             takes every transition, five times, each time with new values
  tour              the same in few long runs
  random            chooses inputs at random
  purpose:NAME,...  follows a fixed path to a purpose of the model
  force:NAME        reaches a purpose; where it can, whatever the system replies
  tests, test:NAME  runs the tests written in the model
  case:FILE         runs a test case made by `ioxide case --format json`
  suite:FILE        runs a suite made by `fsm --out`, `complete --out` or `kill --out`
  complete          runs a complete suite; `complete:extra=1,refine=1` sets its options
  kill              runs tests that detect mutants of the model
";

/// The heading of the arguments about several clients.
const CLIENTS_HEADING: &str = "Concurrent clients";

/// The greatest number of configurations of a history, if none is given. Chosen by feel: some gigabytes of memory at
/// most, and about a minute.
pub const DEFAULT_MAX_CONFIGURATIONS: u64 = 5_000_000;

/// Arguments of `demo`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide demo --seed 7")]
pub struct DemoArgs {
    /// The seed of all random choices; the same seed repeats them.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The file for the report on the system with the bug, an HTML page.
    #[arg(long, value_name = "FILE", default_value = "ioxide-demo.html")]
    pub html: String,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Is the server of the demo, on this port.
    #[arg(long, value_name = "PORT", hide = true)]
    pub serve: Option<u16>,
    /// Has the bug of the demo.
    #[arg(long, hide = true, requires = "serve")]
    pub fault: bool,
}

/// Arguments of `sut`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide sut examples/brp/m1.iox --stdio\n  \
                        ioxide sut examples/brp/spec.iox --listen 127.0.0.1:7000 --seed 3")]
pub struct SutArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Uses stdin and stdout for the adapter protocol (the default).
    #[arg(long, conflicts_with = "listen")]
    pub stdio: bool,
    /// Uses TCP instead: `HOST:PORT`, or a port of this machine.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// The seed of the choices among outputs [default: new every time].
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `test`.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide test login.iox --sut login --report runs\n  \
    ioxide test login.iox --sut 'stdio:python3 login.py' --runs 10 --seed 1",
    after_long_help = "Examples:\n  ioxide test login.iox --sut login --report runs\n  \
    ioxide test login.iox --sut 'stdio:python3 login.py' --runs 10 --seed 1\n  \
    ioxide test examples/brp/spec.iox --sut model:examples/brp/m3.iox\n  \
    ioxide test examples/brp/spec.iox --sut 'stdio:ioxide sut examples/brp/spec.iox' --runs 10\n  \
    ioxide test examples/brp/spec.iox --sut model:examples/brp/spec.iox --for 10s --until pairs\n  \
    ioxide test examples/brp/spec.iox --sut model:examples/brp/m5.iox --tester tour --report runs\n  \
    ioxide test examples/atm/atm.iox --sut 'stdio:python3 examples/atm/atm.py' --tester purpose:cash --runs 3\n  \
    ioxide test kv.iox --sut kv --clients 4 --faults kill,pause"
)]
pub struct TestArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The system to test: a name from `ioxide.toml`, `stdio:COMMAND`, `tcp:ADDR`, or `model:FILE` to simulate one.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// The way inputs are chosen: `hunt`, `cover`, `tour`, `random`, or one of those that `--help` lists.
    #[arg(long, default_value_t, value_name = "TESTER", value_parser = parse_tester, long_help = TESTER_HELP)]
    pub tester: TesterSpec,
    /// The items that `hunt`, `cover` and `tour` cover.
    #[arg(long, value_enum, default_value_t, hide_short_help = true)]
    pub cover: CoverArg,
    /// Chooses values and times, if there are any, with which `cover` and `purpose:NAME` can follow their paths
    /// whatever the system answers.
    #[arg(long, hide_short_help = true)]
    pub any_answer: bool,
    /// The number of runs [default: as many as fit into `--steps` or `--for`; 10 with `--tester random`].
    ///
    /// In detail: `hunt` runs until its steps or its time are used up; `cover` and `tour` cover everything five times,
    /// each time with new values; suites and tests run once; the other testers do 10 runs.
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// The largest number of steps; a step is one message or one silence [default: 10000; `random`: 100 in each run].
    ///
    /// For `hunt` without `--runs` it limits all runs together [default: 10000; 2000 for models with clocks or unknown
    /// values]. For the other testers, and for `hunt` with `--runs`, it limits each run [default for `random`: 100].
    /// Runs that repeat or shrink a failure do not count.
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
    /// The time to test, such as `90s`, `10min` or `8h`; it replaces the limit of `--steps` [default: 30s for `hunt`,
    /// none for the other testers and for models that ioxide simulates].
    #[arg(long = "for", value_name = "TIME", value_parser = super::duration)]
    pub for_time: Option<Duration>,
    /// Sends only these values: a JSON object with a list for each `input.field`, such as `{"put.n": [1, 5]}`.
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with_all = ["clients", "plan", "part"])]
    pub values: Option<String>,
    /// Stops as soon as everything of this kind is covered; the exit code is 5 if it never is.
    #[arg(long, value_enum, value_name = "GOAL", hide_short_help = true)]
    pub until: Option<UntilArg>,
    /// The seed of all random choices; the same seed repeats them [default: new every time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else measured].
    #[arg(long = "silence-ms", alias = "quiescence-ms", value_name = "MS", hide_short_help = true)]
    pub quiescence_ms: Option<u64>,
    /// The choice between sending and waiting when both are possible [default: `fair` for `random`, `hunt` and
    /// `force:NAME`; the other testers always send].
    #[arg(long, value_enum, hide_short_help = true)]
    pub interaction: Option<InteractionArg>,
    /// Gives a verdict only while a run follows this purpose of the model.
    #[arg(long, value_name = "GOAL", hide_short_help = true)]
    pub objective: Option<String>,
    /// The rule for wrong replies: `ioco`, or the weaker `uioco`: if the model may be in several states and one of them
    /// does not accept an input, anything may follow it [default: ioco; for systems made of parts: uioco].
    #[arg(long, value_name = "RELATION", hide_short_help = true)]
    pub relation: Option<ConformanceRelation>,
    /// Waits this many times the usual time before a missing reply counts as a failure.
    #[arg(long, default_value_t = 10, value_name = "N", hide_short_help = true)]
    pub confirm_silence: u32,
    /// The number of instances of the system that are tested at the same time; each has its own process and `{port}`.
    #[arg(long, default_value_t = 1, value_name = "N", hide_short_help = true)]
    pub jobs: usize,
    /// Tests with so many clients at the same time: is there an order of their operations that the model allows?
    ///
    /// Each client has a connection of its own. The model answers every input once, as `check --sequential` proves.
    /// `--steps` is the number of operations of a run [default: 120]; without `--runs` and `--for` the campaign takes
    /// half a minute.
    #[arg(
        long,
        value_name = "N",
        help_heading = CLIENTS_HEADING,
        conflicts_with_all = ["tester", "cover", "until", "quiescence_ms", "interaction", "objective", "relation",
                              "confirm_silence", "jobs", "keep_going", "no_regressions", "no_times", "keep", "shares"]
    )]
    pub clients: Option<usize>,
    /// With `--clients`: the order respects real time, or only the order of each client's own operations.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "CONSISTENCY",
        requires = "clients",
        help_heading = CLIENTS_HEADING,
        hide_short_help = true
    )]
    pub consistency: ConsistencyArg,
    /// With `--clients`: injects these faults, such as `kill,pause,delay`.
    ///
    /// `kill` kills the processes of the system and starts them again; `pause` stops and continues them; `delay`,
    /// `drop` and `cut` delay messages, lose them and cut connections, by a proxy between clients and system. Other
    /// names are commands in the table `faults` of the system in `ioxide.toml`.
    #[arg(
        long,
        value_name = "FAULT,...",
        value_delimiter = ',',
        requires = "clients",
        help_heading = CLIENTS_HEADING
    )]
    pub faults: Vec<String>,
    /// With `--clients`: the time limit for an answer, such as `500ms`; an operation without one may still take effect
    /// [default: 2s].
    #[arg(
        long,
        value_name = "TIME",
        value_parser = super::duration,
        requires = "clients",
        help_heading = CLIENTS_HEADING,
        hide_short_help = true
    )]
    pub reply_timeout: Option<Duration>,
    /// With `--clients`: explores at most this many configurations of a run; 0 for no limit.
    #[arg(
        long,
        default_value_t = DEFAULT_MAX_CONFIGURATIONS,
        value_name = "N",
        requires = "clients",
        help_heading = CLIENTS_HEADING,
        hide_short_help = true
    )]
    pub max_configurations: u64,
    /// Also shows inputs, other coverage, response times and the time for silence.
    #[arg(long, short)]
    pub verbose: bool,
    /// Continues after a failing run.
    #[arg(long)]
    pub keep_going: bool,
    /// Neither repeats a failing run nor searches for a smaller one; `replay` and `shrink` can do both later.
    #[arg(long, hide_short_help = true)]
    pub no_shrink: bool,
    /// Does not start with the runs that failed before (`regressions.jsonl` in the `--report` directory).
    #[arg(long, hide_short_help = true)]
    pub no_regressions: bool,
    /// Writes no times into the record, so that records of equal runs are equal byte by byte.
    #[arg(long, hide_short_help = true)]
    pub no_times: bool,
    /// Records the campaign in this directory and writes an HTML report there.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,
    /// The runs that the record contains in full: `all`, or `failures` (only seed and verdict of the others) [default:
    /// all until the record has 32 MB, then failures].
    #[arg(long, value_enum, value_name = "RUNS", requires = "report", hide_short_help = true)]
    pub keep: Option<KeepArg>,
    /// Prints the result as JSON instead of text; the same as `--format json`.
    #[arg(long)]
    pub json: bool,
    /// The format of the result on stdout [default: text].
    #[arg(long, value_enum, conflicts_with = "json", hide_short_help = true)]
    pub format: Option<TestFormat>,
    #[command(flatten)]
    pub time: TimeArgs,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
    /// The number of shares into which the work of `hunt`, `cover`, `tour`, `purpose:NAME` and `force:NAME` is divided
    /// [default: 16].
    #[arg(long, value_name = "N", help_heading = PARTS_HEADING, hide_short_help = true)]
    pub shares: Option<u64>,
    /// The name of the suite of `ioxide.toml` that these arguments come from.
    #[arg(skip)]
    pub suite: Option<String>,
    /// The other suites to run, after this one.
    #[arg(skip)]
    pub more: Vec<TestArgs>,
}

impl TestArgs {
    /// The format of the result on stdout.
    pub fn output_format(&self) -> TestFormat {
        self.format.unwrap_or(if self.json { TestFormat::Json } else { TestFormat::Text })
    }
}

/// The formats of the result of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// Text for people.
    Text,
    /// One JSON object, when the campaign has ended.
    Json,
    /// `JUnit` XML with a test case for each run, when the campaign has ended.
    Junit,
    /// Test Anything Protocol, version 14: a line for each run, when it has ended.
    Tap,
}

/// Arguments of `replay`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide replay runs --sut model:examples/brp/m3.iox\n  \
    ioxide replay runs --name oframe-in-nok_wa-8c8a --sut model:examples/brp/m1.iox")]
pub struct ReplayArgs {
    /// A record, the directory given to `test --report`, or its `regressions.jsonl` with the smallest failing runs.
    pub run: String,
    /// The number of the run in the record, from 1 [default: the first that failed].
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// The id of a failure, or a part of it, such as `ok-in-reserved-3f2a`; repeats its smallest run.
    #[arg(long, value_name = "NAME", conflicts_with = "number")]
    pub name: Option<String>,
    /// Repeats the smallest run instead of the run as it was found.
    #[arg(long, conflicts_with = "name")]
    pub smallest: bool,
    /// The model file, if it is not where the record says.
    #[arg(long, value_name = "FILE")]
    pub model: Option<String>,
    /// Sets a constant of the model; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The system to test: a name from `ioxide.toml`, `stdio:COMMAND`, `tcp:ADDR`, or `model:FILE` to simulate one.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else measured].
    #[arg(long = "silence-ms", alias = "quiescence-ms", value_name = "MS", hide_short_help = true)]
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
    /// The largest number of runs to try.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub attempts: u32,
    /// The longest time to search, such as `90s` or `10min`.
    #[arg(long = "for", default_value = "10min", value_name = "TIME", value_parser = duration)]
    pub for_time: Duration,
    /// Records the smaller run in this directory.
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
    The run is a record of `test --report`, or one JSON object per line: {\"label\": \"coin\", \"args\": \
    {\"n\": 3}} for\n\
    a message, {\"silence\": true} for silence. Timed models also need \"time\": SECONDS since the start, or\n\
    \"after\": SECONDS since the line before. A line with only a time means that nothing arrived until then.\n\n\
    With --clients it is a history of concurrent clients: lines {\"client\": 1, \"call\": \"put\", \"args\": \
    {...}}\n\
    and {\"client\": 1, \"return\": \"stored\"} in the order of time (\"at\": NANOSECONDS may be added), \
    {\"client\": 1, \"open\": true}\n\
    if no answer will come; or EDN or log lines of Jepsen, whose operations become messages by the table\n\
    [history] of `ioxide.toml`. The model answers each input once.\n\n\
    Exit codes: 0 the model allows the run · 1 it does not.")]
pub struct JudgeArgs {
    /// The model file: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// The recorded run: a file, the directory given to `test --report`, or `-` for stdin.
    pub trace: String,
    /// The number of the run in the record, from 1 [default: the first that failed].
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// Gives a verdict only while the run follows this purpose of the model.
    #[arg(long, value_name = "GOAL")]
    pub objective: Option<String>,
    /// The rule for wrong replies: `ioco`, or the weaker `uioco`: if the model may be in several states and one of them
    /// does not accept an input, anything may follow it [default: ioco; for systems made of parts: uioco].
    #[arg(long, value_name = "RELATION", hide_short_help = true)]
    pub relation: Option<ConformanceRelation>,
    /// Judges as if messages passed through this channel, as `test --through` does.
    #[arg(long, value_name = "CHANNEL")]
    pub through: Option<String>,
    /// The system may have received an input later than its place in the file (records contain this information,
    /// traces do not).
    #[arg(long)]
    pub in_flight: bool,
    /// Judges a history of concurrent clients: is there an order of their operations that the model allows?
    #[arg(long, conflicts_with_all = ["number", "objective", "relation", "in_flight"])]
    pub clients: bool,
    /// With `--clients`: the order respects real time, or only the order of each client's own operations.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "CONSISTENCY",
        requires = "clients",
        hide_short_help = true
    )]
    pub consistency: ConsistencyArg,
    /// With `--clients`: explores at most this many configurations of a history; 0 for no limit.
    #[arg(
        long,
        default_value_t = DEFAULT_MAX_CONFIGURATIONS,
        value_name = "N",
        requires = "clients",
        hide_short_help = true
    )]
    pub max_configurations: u64,
    /// With `--clients`: writes the history in EDN to this file, for Jepsen's checkers.
    #[arg(long, value_name = "FILE", requires = "clients", hide_short_help = true)]
    pub edn: Option<String>,
    /// With `--clients`: writes the history as a page with a lane for each client to this file.
    #[arg(long, value_name = "FILE", requires = "clients", hide_short_help = true)]
    pub html: Option<String>,
    /// Sets a constant of the model; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Prints the verdict as JSON instead of text.
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
    The exit code is 5 if something is neither covered nor proven unreachable.")]
pub struct PurposesArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The items that the purposes cover.
    #[arg(long, value_enum, default_value_t)]
    pub cover: CoverArg,
    /// Explores at most this many states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Prints the purposes as JSON instead of text.
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
    /// Every transition.
    #[value(name = "transitions", alias = "switches")]
    Switches,
    /// Every pair of transitions that can follow each other.
    Pairs,
    /// Every comparison in a guard: true, false, and at its boundary.
    Comparisons,
    /// Every kind of value (0, negative, large, empty, ...) that guards allow, for every field of an input.
    Values,
    /// Every field of an input equal to every other field and variable of its type.
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
    /// Sends half of the time.
    #[default]
    Fair,
    /// Sends nine times out of ten.
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

impl From<KeepArg> for KeptRuns {
    fn from(keep: KeepArg) -> Self {
        match keep {
            KeepArg::All => Self::All,
            KeepArg::Failures => Self::Failures,
        }
    }
}

/// The elements of a model to cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CoverArg {
    /// Every transition.
    #[default]
    #[value(name = "transitions", alias = "switches")]
    Switches,
    /// Every state.
    #[value(name = "states", alias = "locations")]
    Locations,
    /// Every message, sent or received.
    #[value(name = "messages", alias = "gates")]
    Gates,
    /// Silence in every state in which the model may be silent; not for `tour`.
    #[value(name = "silences")]
    Silences,
}

impl From<CoverArg> for Criterion {
    fn from(cover: CoverArg) -> Self {
        match cover {
            CoverArg::Switches => Self::Switches,
            CoverArg::Locations => Self::Locations,
            CoverArg::Gates => Self::Gates,
            CoverArg::Silences => Self::Silences,
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
    /// Checks that an adapter follows the protocol: greeting, one input of every kind, two resets, the end.
    #[command(after_help = "Example:\n  ioxide adapter check 'stdio:ioxide sut examples/adder.iox'")]
    Check(AdapterCheck),
}

/// Arguments of `adapter check`.
#[derive(Debug, ClapArgs)]
pub struct AdapterCheck {
    /// The system: a name from `ioxide.toml`, `stdio:COMMAND`, or `tcp:ADDR`.
    pub sut: String,
    /// Also sends every input of this model, each in a state that accepts it.
    #[arg(long, value_name = "FILE")]
    pub model: Option<String>,
    /// The longest time for a reply, in milliseconds; default: `limit_ms` of the system, or 10000.
    #[arg(long, value_name = "MS")]
    pub limit_ms: Option<u64>,
    /// Prints the checks as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
