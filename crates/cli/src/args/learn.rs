//! `learn` and `diff`.

use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::{LimitArgs, ModelArgs, PartArgs, SolverArgs};

/// Arguments that mean something only where a system is asked. Clap does not look whether `--sut` is there for an argument that
/// requires it when `--traces` rules `--sut` out, so all of them are named here.
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
#[command(
    after_help = "Examples:\n  ioxide learn examples/fsm/handshake-v1.dot --sut model:examples/fsm/handshake-v2.dot --seed 1\n  \
    ioxide learn examples/redis/transactions.iox --sut redis --one-answer --out redis-learned.iox --session redis.session\n  \
    ioxide learn shop.iox --sut shop --input 'add(item: 1)' --input 'pay' --extra 1 --out shop-learned.iox\n  \
    ioxide learn shop.iox --sut shop --reference shop-1.4.iox --jobs 4 --out shop-1.5.iox\n  \
    ioxide learn examples/learn/login.iox --sut model:examples/learn/login.iox --data --seed 1\n  \
    ioxide learn shop.iox --sut shop --data --made basket.id --reference shop-1.4.iox --out shop-1.5.iox\n  \
    ioxide learn examples/learn/session.iox --sut model:examples/learn/session.iox --time --seed 1\n  \
    ioxide learn examples/fsm/meter.iox --sut model:examples/fsm/meter.iox --out meter-learned.iox --view --open\n  \
    ioxide learn shop.iox --traces monday.jsonl --traces tuesday.jsonl --hold-out 20 --out shop-learned.iox"
)]
pub struct LearnArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The system: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`. Only the messages of the
    /// model are used; what it says about the system is not.
    #[arg(long, value_name = "SUT", required_unless_present = "traces")]
    pub sut: Option<String>,
    /// Learns from recorded runs instead: a record, its folder, or lines as `judge` reads them with an empty line
    /// between runs. Flags about a system that is asked are refused.
    #[arg(long, value_name = "FILE", conflicts_with_all = ASKING)]
    pub traces: Vec<String>,
    /// Recorded runs, as for `--traces`, whose answers are taken as the system's: what they show is not asked.
    #[arg(long = "from", value_name = "FILE", requires = "sut")]
    pub from: Vec<String>,
    /// An earlier version: a machine, or a model that is finite (any model with `--data`). What would show that nothing has
    /// changed is asked first.
    #[arg(long, value_name = "FILE", requires = "sut")]
    pub reference: Option<String>,
    /// Keeps this share of the recorded runs back, in percent, and says how many of them the machine explains.
    #[arg(long, default_value_t = 0, value_name = "PERCENT", requires = "traces", value_parser = clap::value_parser!(u8).range(0..=90))]
    pub hold_out: u8,
    /// An input to learn with, all fields given: `put(key: 1)` [default: every input of the model, with a few values
    /// for every field].
    #[arg(long = "input", value_name = "MESSAGE")]
    pub inputs: Vec<String>,
    /// The same from a file, one a line; `#` begins a comment.
    #[arg(long = "inputs", visible_alias = "alphabet", value_name = "FILE")]
    pub inputs_file: Option<String>,
    /// Learns how fields are stored and compared: inputs have any values, and the model has variables and guards. Fields
    /// that are numbers or strings count as data; `--input NAME` picks messages.
    #[arg(long, requires = "sut", conflicts_with_all = ["closed"])]
    pub data: bool,
    /// Learns time-outs: what comes without an input, and after how long. The model has clocks and bounds.
    #[arg(long, requires = "sut", conflicts_with_all = ["data", "reference", "from", "session", "one_answer"])]
    pub time: bool,
    /// Milliseconds to wait for an output without an input (`--time`).
    #[arg(long, default_value_t = 10_000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub wait_ms: u64,
    /// Delays that differ by no more are the same, in milliseconds; the bounds in the model are so wide (`--time`).
    #[arg(long, default_value_t = 200, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub tolerance_ms: u64,
    /// The comparison of values with each other (`--data`).
    #[arg(long, value_enum, default_value_t = CompareArg::Auto, requires = "data")]
    pub compare: CompareArg,
    /// A value that the system knows from the start: a number, or a text (`--data`).
    #[arg(long = "constant", value_name = "VALUE", requires = "data", allow_hyphen_values = true)]
    pub constants: Vec<String>,
    /// A field of an output, `MESSAGE.FIELD`, whose values the system makes up: a session number, a token. Found without this
    /// where the same inputs are answered with different ones (`--data`).
    #[arg(long, value_name = "FIELD", requires = "data")]
    pub made: Vec<String>,
    /// Different values, beside the constants, with which hypotheses are tested (`--data`).
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    pub values: u8,
    /// Method of the suites that test a hypothesis: `w`, `wp`, `hsi`, `h`, `spy`, `spyh`, `s`, or `mixed`: `spyh`
    /// between the first and the last, which finds what is missing sooner, else `s`, which needs the fewest resets
    /// (with `--data` always `s`).
    #[arg(long, visible_alias = "oracle", default_value = "mixed", value_name = "METHOD")]
    pub suite: String,
    /// Extra states that the system may have beyond the machine for the result to be exact [default: 2; 1 with
    /// `--data`].
    #[arg(long, value_name = "K")]
    pub extra: Option<usize>,
    /// Random walks after the suites.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub walks: usize,
    /// Inputs of a walk.
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub walk_length: usize,
    /// An answer after which nothing but itself will ever come: nothing is asked behind it.
    #[arg(long, value_name = "ANSWER")]
    pub closed: Vec<String>,
    /// Every input has exactly one output: nobody waits for another, or for silence.
    #[arg(long)]
    pub one_answer: bool,
    /// The reaction to a system that answers the same inputs in two ways.
    #[arg(long, value_enum, default_value_t = UnstableArg::Stop)]
    pub unstable: UnstableArg,
    /// Repetitions of a run to find its usual answer (`--unstable majority`), or all its answers (`--unstable draft`).
    #[arg(long, default_value_t = 9, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub votes: u32,
    /// Confidence that the usual answer is the usual one, in percent: below it the run is repeated, up to ten times as
    /// often.
    #[arg(long, default_value_t = 95, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(50..=99))]
    pub confidence: u8,
    /// Copies of the system that are asked at the same time, each its own process, connection or server.
    #[arg(long, visible_alias = "workers", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Keeps everything that is answered in this file, and goes on from it.
    #[arg(long, value_name = "FILE")]
    pub session: Option<String>,
    /// The file for the model [default: stdout].
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// The format of the model.
    #[arg(long, value_enum, default_value_t = DraftFormat::Iox)]
    pub format: DraftFormat,
    /// Serves a page on which learning can be watched: the hypothesis as it grows, what is asked, what is promised, the
    /// result. Its address is on stderr; the page stays until Ctrl-C.
    #[arg(long, conflicts_with_all = ["traces", "plan", "part"])]
    pub view: bool,
    /// The address at which the page listens; a port alone, or nothing, means this machine only (`--view`).
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR", requires = "view")]
    pub listen: String,
    /// Opens the page in a browser (`--view`).
    #[arg(long, requires = "view")]
    pub open: bool,
    /// Seed of the order of tests.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    /// Milliseconds that a greeting, or more of it, is waited for before the first input: once, when learning begins; 0 if there
    /// is none [default: as long as silence takes to count as quiescence].
    #[arg(long, value_name = "MS")]
    pub greeting_ms: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints what was done as JSON.
    #[arg(long, requires = "out")]
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
    /// Shows the two runs and ends.
    Stop,
    /// Repeats the run and believes the most frequent answer; with `--data`, asks everything until two answers agree.
    Majority,
    /// Drafts a model that answers in several ways, from questions that are repeated; not with `--data`.
    Draft,
}

/// The comparisons of values with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareArg {
    /// Equality first; order too, if numbers that are equal or not in the same way are answered in two ways.
    Auto,
    /// Equal or not.
    Equality,
    /// Smaller, equal or greater.
    Order,
}

/// The formats of a learned machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DraftFormat {
    /// A model.
    Iox,
    /// A machine in DOT.
    Dot,
}

/// Arguments of `diff`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide diff examples/fsm/handshake-v1.dot examples/fsm/handshake-v2.dot")]
pub struct DiffArgs {
    /// The machine as it was: a machine, or a model that is finite.
    pub old: String,
    /// The machine as it is.
    pub new: String,
    /// Differences shown at most.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub max: usize,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}
