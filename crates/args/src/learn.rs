//! `learn` and `diff`.

use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, PartArgs, SolverArgs};

/// Arguments that mean something only where a system is asked. Clap does not look whether `--sut` is there for an
/// argument that requires it when `--traces` rules `--sut` out, so all of them are named here.
const ASKING: [&str; 28] = [
    "sut",
    "from",
    "reference",
    "inputs",
    "inputs_file",
    "data",
    "time",
    "wait_ms",
    "tolerance_ms",
    "compare",
    "constants",
    "made",
    "values",
    "suite",
    "extra",
    "walks",
    "walk_length",
    "closed",
    "one_answer",
    "unstable",
    "votes",
    "confidence",
    "jobs",
    "session",
    "listen",
    "open",
    "quiescence_ms",
    "greeting_ms",
];

/// Arguments of `learn`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide learn examples/fsm/handshake-v1.dot --sut \
                  model:examples/fsm/handshake-v2.dot --seed 1\n  \
    ioxide learn examples/redis/transactions.iox --sut redis --one-answer --out redis-learned.iox --session \
    redis.session\n  \
    ioxide learn shop.iox --sut shop --input 'add(item: 1)' --input 'pay' --extra 1 --out shop-learned.iox\n  \
    ioxide learn shop.iox --sut shop --reference shop-1.4.iox --jobs 4 --out shop-1.5.iox\n  \
    ioxide learn examples/learn/login.iox --sut model:examples/learn/login.iox --data --seed 1\n  \
    ioxide learn shop.iox --sut shop --data --made basket.id --reference shop-1.4.iox --out shop-1.5.iox\n  \
    ioxide learn examples/learn/session.iox --sut model:examples/learn/session.iox --time --seed 1\n  \
    ioxide learn examples/fsm/meter.iox --sut model:examples/fsm/meter.iox --out meter-learned.iox --view --open\n  \
    ioxide learn shop.iox --traces monday.jsonl --traces tuesday.jsonl --hold-out 20 --out shop-learned.iox")]
pub struct LearnArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The system to learn: a name from `ioxide.toml`, `stdio:COMMAND`, `tcp:ADDR`, or `model:FILE` to simulate one.
    ///
    /// Of the model file, only the declared messages are used.
    #[arg(long, value_name = "SUT", required_unless_present = "traces")]
    pub sut: Option<String>,
    /// Learns from recorded runs instead of a system: a record, its folder, or the format of `judge` with an empty line
    /// between runs; can be repeated.
    #[arg(long, value_name = "FILE", conflicts_with_all = ASKING)]
    pub traces: Vec<String>,
    /// Uses the replies in these recorded runs (as for `--traces`) instead of asking the system again.
    #[arg(hide_short_help = true, long = "from", value_name = "FILE", requires = "sut")]
    pub from: Vec<String>,
    /// A model of an earlier version; ioxide first sends the queries that show whether the system has changed.
    ///
    /// The model must have finitely many states, except with `--data`.
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "sut")]
    pub reference: Option<String>,
    /// Learns without this share of the recorded runs, in percent, and reports how many of them the model allows.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 0,
        value_name = "PERCENT",
        requires = "traces",
        value_parser = clap::value_parser!(u8).range(0..=90),
    )]
    pub hold_out: u8,
    /// An input to use, with all fields: `put(key: 1)`; can be repeated [default: every input, with a few values for
    /// every field].
    #[arg(long = "input", value_name = "MESSAGE")]
    pub inputs: Vec<String>,
    /// A file with inputs to use, one per line; `#` starts a comment.
    #[arg(hide_short_help = true, long = "inputs", visible_alias = "alphabet", value_name = "FILE")]
    pub inputs_file: Option<String>,
    /// Also learns which values the system stores and compares: the model gets variables and guards.
    ///
    /// Fields that are numbers or strings count as data. `--input NAME` chooses messages, `--input 'pay(amount: 3)'`
    /// gives a field a fixed value.
    #[arg(long, requires = "sut", conflicts_with_all = ["closed"])]
    pub data: bool,
    /// Also learns timeouts: which messages come without an input, and when. The model gets clocks.
    #[arg(long, requires = "sut", conflicts_with_all = ["data", "reference", "from", "session"])]
    pub time: bool,
    /// With `--time`: how long to wait for a message without an input, in milliseconds.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 10_000,
        value_name = "MS",
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    pub wait_ms: u64,
    /// With `--time`: delays that differ by at most this count as equal, in milliseconds.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 200,
        value_name = "MS",
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    pub tolerance_ms: u64,
    /// With `--data`: how the system compares values.
    #[arg(hide_short_help = true, long, value_enum, default_value_t = CompareArg::Auto, requires = "data")]
    pub compare: CompareArg,
    /// With `--data`: a number or text that the system treats specially from the start; can be repeated.
    #[arg(
        hide_short_help = true,
        long = "constant",
        value_name = "VALUE",
        requires = "data",
        allow_hyphen_values = true
    )]
    pub constants: Vec<String>,
    /// With `--data`: an output field `MESSAGE.FIELD` whose values the system generates, such as a token [default:
    /// detected].
    #[arg(hide_short_help = true, long, value_name = "FIELD", requires = "data")]
    pub made: Vec<String>,
    /// With `--data`: how many different values the tests use, besides the constants.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 3,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..=9),
    )]
    pub values: u8,
    /// The method that tests a learned model against the system: `w`, `wp`, `hsi`, `h`, `spy`, `spyh`, `s`, or `mixed`
    /// (`s` for the first and the last model, `spyh` between; with `--data` always `s`).
    #[arg(
        hide_short_help = true,
        long,
        visible_alias = "oracle",
        default_value = "mixed",
        value_name = "METHOD"
    )]
    pub suite: String,
    /// The result is exact if the system has at most this many more states than the model [default: 2; with `--data`:
    /// 1].
    #[arg(long, value_name = "K")]
    pub extra: Option<usize>,
    /// The number of random walks after the test suites.
    #[arg(hide_short_help = true, long, default_value_t = 0, value_name = "N")]
    pub walks: usize,
    /// The number of inputs of a random walk.
    #[arg(hide_short_help = true, long, default_value_t = 30, value_name = "N")]
    pub walk_length: usize,
    /// A final reply: after it the system gives only this reply, so nothing more is asked; can be repeated.
    #[arg(hide_short_help = true, long, value_name = "ANSWER")]
    pub closed: Vec<String>,
    /// Every input has exactly one reply, so ioxide does not wait for more, or for silence.
    #[arg(long)]
    pub one_answer: bool,
    /// The reaction to a system that gives different replies to the same inputs.
    #[arg(hide_short_help = true, long, value_enum, default_value_t = UnstableArg::Stop)]
    pub unstable: UnstableArg,
    /// With `--unstable majority` or `draft`: how often to repeat a run to collect its replies.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 9,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    pub votes: u32,
    /// With `--unstable majority`: how sure the most frequent reply must be, in percent; below it a run is repeated, up
    /// to ten times as often.
    #[arg(
        hide_short_help = true,
        long,
        default_value_t = 95,
        value_name = "PERCENT",
        value_parser = clap::value_parser!(u8).range(50..=99),
    )]
    pub confidence: u8,
    /// The number of instances of the system that are asked at the same time.
    #[arg(
        long,
        visible_alias = "workers",
        default_value_t = 1,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=256),
    )]
    pub jobs: u16,
    /// Saves all replies in this file, and continues from the replies already in it.
    #[arg(long, value_name = "FILE")]
    pub session: Option<String>,
    /// The file for the model [default: stdout].
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// The format of the learned model.
    #[arg(hide_short_help = true, long, value_enum, default_value_t = DraftFormat::Iox)]
    pub format: DraftFormat,
    /// Shows the progress in a browser page, until Ctrl-C; the address is printed to stderr.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["traces", "plan", "part"])]
    pub view: bool,
    /// With `--view`: the address to listen on; with a port alone, only this machine can connect.
    #[arg(
        hide_short_help = true,
        long,
        default_value = "127.0.0.1:0",
        value_name = "ADDR",
        requires = "view"
    )]
    pub listen: String,
    /// With `--view`: opens the page in a browser.
    #[arg(hide_short_help = true, long, requires = "view")]
    pub open: bool,
    /// The seed of the order of tests [default: new every time].
    #[arg(long, hide_short_help = true)]
    pub seed: Option<u64>,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else 100].
    #[arg(long = "silence-ms", alias = "quiescence-ms", hide_short_help = true, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    /// The time to wait for a greeting before the first input, in milliseconds; 0 if there is none [default: as
    /// `--silence-ms`].
    #[arg(hide_short_help = true, long, value_name = "MS")]
    pub greeting_ms: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the figures as JSON instead of text.
    #[arg(long, requires = "out", hide_short_help = true)]
    pub json: bool,
    #[command(flatten)]
    pub part: PartArgs,
}

impl LearnArgs {
    /// Returns the time to wait for a greeting: `--greeting-ms`, else `patience`.
    pub fn greeting(&self, patience: Duration) -> Duration {
        self.greeting_ms.map_or(patience, Duration::from_millis)
    }
}

/// The reactions to a system that is not deterministic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UnstableArg {
    /// Shows the two runs and stops.
    Stop,
    /// Repeats the run and takes the most frequent reply; with `--data`, repeats until two replies agree.
    Majority,
    /// Makes a model that allows several replies; not with `--data`.
    Draft,
}

/// The comparisons of values with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareArg {
    /// Starts with equality and adds order if equality does not explain the replies.
    Auto,
    /// By equality.
    Equality,
    /// By order: smaller, equal or greater.
    Order,
}

/// The formats of a learned machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DraftFormat {
    /// A model.
    Iox,
    /// A state machine in DOT.
    Dot,
}

/// Arguments of `diff`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide diff examples/fsm/handshake-v1.dot examples/fsm/handshake-v2.dot")]
pub struct DiffArgs {
    /// The old state machine, or a model with finitely many states.
    pub old: String,
    /// The new one.
    pub new: String,
    /// Shows at most this many differences.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub max: usize,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}
