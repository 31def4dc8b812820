//! What was typed.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

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
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tests a correct system and a faulty one that ship with ioxide.
    Demo(Demo),
    /// Checks models and says what is wrong with them.
    Check(Check),
    /// Lays out models canonically.
    Fmt(Fmt),
    /// Explains a diagnostic code.
    Explain(Explain),
    /// Shows a model as text or picture.
    Show(Show),
    /// Steps through a model by hand.
    Step(Step),
    /// Plays a model as a system under test.
    Sut(Sut),
    /// Tests a system against a model, on the fly.
    Test(Test),
    /// Repeats a recorded run.
    Replay(Replay),
    /// Makes a recorded failing run smaller, on the live system.
    Shrink(Shrink),
    /// Judges a recorded trace.
    Judge(Judge),
    /// Finds test purposes that cover every switch of a model.
    Purposes(Purposes),
    /// Complete test suites of finite state machines.
    Fsm(Fsm),
    /// Tries an adapter before any model is involved.
    Adapter(Adapter),
    /// Measures what the project claims.
    Bench(Bench),
}

/// A model file and the constants to override.
#[derive(Debug, ClapArgs)]
pub struct ModelArgs {
    /// The model: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

/// How questions are decided.
#[derive(Clone, Debug, ClapArgs)]
pub struct SolverArgs {
    /// `auto` (libz3 if found, else none), `z3`, `none`, or a command that speaks SMT-LIB 2, such as `cvc5 --incremental`.
    #[arg(long, default_value = "auto", value_name = "SOLVER")]
    pub solver: String,
    /// Seconds one question may take.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub solver_timeout: f64,
}

impl Default for SolverArgs {
    /// The best there is, ten seconds a question.
    fn default() -> Self {
        Self { solver: "auto".into(), solver_timeout: 10.0 }
    }
}

/// Arguments of `demo`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide demo --seed 7")]
pub struct Demo {
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide check examples/adder.iox\n  ioxide check --deep examples/brp/*.iox"
)]
pub struct Check {
    /// The models.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Overrides a constant of the models.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Adds the lints that need the solver.
    #[arg(long)]
    pub deep: bool,
    /// The deep lints look at no more than this many symbolic states.
    #[arg(long, default_value_t = 5_000, value_name = "N")]
    pub max_states: usize,
    /// Warnings count as errors.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Prints the findings as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `fmt`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide fmt examples/adder.iox\n  ioxide fmt --check examples/brp/*.iox")]
pub struct Fmt {
    /// The models (`.iox`); `-` reads stdin and writes stdout.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Changes nothing; fails if a file is not laid out canonically.
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide explain E0201\n  ioxide explain --list")]
pub struct Explain {
    /// The code, such as E0201.
    #[arg(required_unless_present = "list")]
    pub code: Option<String>,
    /// Lists all codes.
    #[arg(long)]
    pub list: bool,
}

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide show examples/adder.iox\n  ioxide show examples/brp/spec.iox --format svg > brp.svg"
)]
pub struct Show {
    #[command(flatten)]
    pub model: ModelArgs,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A listing for people.
    Text,
    /// Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// A diagram for Markdown.
    Mermaid,
    /// For programs.
    Json,
}

/// Arguments of `step`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example:\n  ioxide step examples/slot-machine.iox\n\nType `help` inside to see what you can do."
)]
pub struct Step {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Starts in the state of a recorded run after step N: `RUN@N`.
    #[arg(long, value_name = "RUN@N")]
    pub from: Option<String>,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `sut`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide sut examples/brp/m1.iox --stdio\n  ioxide sut examples/brp/spec.iox --listen 127.0.0.1:7000 --seed 3"
)]
pub struct Sut {
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
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide test examples/brp/spec.iox --sut model:examples/brp/m3.iox\n  \
    ioxide test examples/brp/spec.iox --sut 'stdio:ioxide sut examples/brp/spec.iox' --runs 10")]
pub struct Test {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The system: `model:FILE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// How inputs are chosen: `cover` (test purposes that take every switch), `purpose:NAME` (a goal of the
    /// model) or `random`.
    #[arg(long, default_value = "cover", value_name = "TESTER")]
    pub tester: String,
    /// How many runs; if not given, `cover` executes every purpose five times, each time with other
    /// data, and the other testers do ten runs.
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// How many steps a run of the random tester has.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: usize,
    /// Seed of all random choices.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    /// Goes on after a failing run.
    #[arg(long)]
    pub keep_going: bool,
    /// Writes one record per run into this directory.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `replay`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide replay runs --sut model:examples/brp/m3.iox")]
pub struct Replay {
    /// The record, or the directory given to `test --report`.
    pub run: String,
    /// Which run of the record, from 1; the first that failed if not given.
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// The model, if it has moved since.
    #[arg(long, value_name = "FILE")]
    pub model: Option<String>,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The system: `model:FILE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: String,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `shrink`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide shrink runs --sut model:examples/brp/m5.iox --report smaller")]
pub struct Shrink {
    #[command(flatten)]
    pub replay: Replay,
    /// Runs it may take.
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub attempts: u32,
    /// Writes the record into this directory.
    #[arg(long, value_name = "DIR")]
    pub report: Option<String>,
}

/// Arguments of `judge`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide judge examples/brp/spec.iox runs\n  \
    echo '{\"label\": \"IACK\"}' | ioxide judge examples/brp/spec.iox -\n\n\
    A trace is a record of `test --report`, or JSON lines: {\"label\": \"coin\", \"args\": {\"n\": 3}} for a\n\
    message and {\"quiescence\": true} for silence. Exit code 0 if it is allowed, 1 if not.")]
pub struct Judge {
    /// The model: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// The trace: a file, the directory given to `test --report`, or `-` for stdin.
    pub trace: String,
    /// Which run of a record, from 1; the first that failed if not given.
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Prints the verdict as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `purposes`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide purposes examples/brp/spec.iox\n  \
    ioxide purposes examples/brp/scaled.iox --set N=16 --set MAX_RN=20 --json\n\n\
    Exit code 5 if some switch is neither covered nor proved unreachable.")]
pub struct Purposes {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Looks at no more than this many symbolic states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Prints the purposes as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// Arguments of `fsm`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide fsm examples/fsm/door.txt --suite s --extra 1 --out door.suite\n  \
    ioxide fsm examples/fsm/ma.dot --reduction --sut examples/fsm/ma-impl.dot --bound 3"
)]
pub struct Fsm {
    /// The machine: `.dot`, `.kiss2`, `.txt` (state input output next) or `.fsm` (the same by number).
    pub file: String,
    /// Makes a complete suite: `w`, `wp`, `hsi`, `h`, `spy`, `spyh` or `s` (the smallest).
    #[arg(long, value_name = "METHOD", conflicts_with = "reduction")]
    pub suite: Option<String>,
    /// How many more states than the machine an implementation may have.
    #[arg(long, default_value_t = 0, value_name = "K")]
    pub extra: usize,
    /// Writes the suite, one test per line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Tests whether another machine is a reduction of this one, by state counting.
    #[arg(long)]
    pub reduction: bool,
    /// The machine to test.
    #[arg(long, value_name = "FILE", requires = "reduction")]
    pub sut: Option<String>,
    /// How many states it may have.
    #[arg(long, value_name = "M", requires = "reduction")]
    pub bound: Option<usize>,
    /// Which state counting.
    #[arg(long, value_enum, default_value_t = FsmVariant::Refined)]
    pub variant: FsmVariant,
    /// Gives up after this many words.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub max_words: usize,
    /// Makes the machine connected, minimal and observable first.
    #[arg(long)]
    pub minimise: bool,
    /// Completes a partial machine first.
    #[arg(long, value_enum)]
    pub missing: Option<Missing>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which state counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FsmVariant {
    /// Never misses a failure.
    Refined,
    /// As first published; may miss failures.
    Original,
    /// As refined, each response on its own.
    Io,
    /// With as few separating cases as needed.
    H,
}

/// What a partial machine does on an input it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Stays, and answers `none`.
    Loop,
    /// Goes to a state that answers `error` for ever.
    Error,
}

/// Arguments of `adapter`.
#[derive(Debug, ClapArgs)]
pub struct Adapter {
    /// What to do with it.
    #[command(subcommand)]
    pub command: AdapterCommand,
}

/// What can be done with an adapter.
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

/// Arguments of `bench`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  ioxide bench scale --json")]
pub struct Bench {
    /// What to measure.
    #[arg(value_enum)]
    pub name: BenchName,
    /// Prints the figures as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BenchName {
    /// Inputs and outputs until each mutant of the BRP is found.
    Brp,
    /// Exploration of the scaled BRP: states, merging, time.
    Scale,
}
