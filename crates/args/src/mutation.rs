//! Comparing models: `conform`, `refine`, `equiv`, `mutate`, `kill`, `score`.

use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use ioxide_model::relation::ConformanceRelation;
use ioxide_testgen::conform::InputCompletion;

use super::{CaseFormat, LimitArgs, ModelArgs, PartArgs, SolverArgs, duration, settings};

/// Arguments of `conform`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide conform examples/brp/m2.iox examples/brp/spec.iox\n  \
    ioxide conform examples/brp/m1.iox examples/brp/spec.iox --all\n  \
    ioxide conform examples/cas/cas.iox examples/cas/cas.as --json\n  \
    ioxide conform examples/brp examples/brp/spec.iox\n\n\
    Exit codes: 0 conforms, proven · 1 does not conform, with a counterexample · 5 unknown.")]
pub struct ConformArgs {
    /// The model to check, or a folder: then every model in it is checked.
    #[arg(value_name = "IMPL")]
    pub implementation: String,
    /// The model it is compared with: the specification.
    #[arg(value_name = "SPEC")]
    pub specification: String,
    /// Sets a constant of both models; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Compares the models as seen through a channel, both of them: `fifo(capacity: 4)` keeps the order of messages,
    /// `bag(capacity: 4, may_lose: true)` does not.
    #[arg(long, value_name = "CHANNEL")]
    pub through: Option<String>,
    /// Compares traces of at most this many steps [default: no limit].
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub depth: Option<u32>,
    /// Explores at most this many pairs of states.
    #[arg(long, hide_short_help = true, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// The reaction of the implementation to inputs that it does not mention.
    #[arg(long, hide_short_help = true, value_enum, default_value_t = CompletionArg::Angelic)]
    pub completion: CompletionArg,
    /// The relation: `ioco`, or `uioco`, which allows anything after an input that only some of the
    /// possible states accept [default: ioco; for systems made of parts: uioco].
    #[arg(long, value_name = "RELATION", hide_short_help = true)]
    pub relation: Option<ConformanceRelation>,
    /// Lists all differences instead of the first, at most N [default for N: 100].
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100")]
    pub all: Option<usize>,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
}

impl ConformArgs {
    /// Returns the constants that are set and the channel, with which both models are loaded.
    pub fn settings(&self) -> Vec<String> {
        settings(&self.set, self.through.as_deref())
    }
}

/// Arguments of `refine` and `equiv`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide refine examples/brp/m2.iox examples/brp/spec.iox\n  \
    ioxide equiv examples/data/fifo.as examples/data/fifo.iox\n\n\
    A trace is a sequence of inputs, outputs and silences. Unlike `conform`, these two commands also compare \
    which inputs a model accepts. Use `conform` for models with clocks.\n\n\
    Exit codes: 0 yes, proven · 1 no, with a counterexample · 5 unknown.")]
pub struct TraceComparison {
    /// The first model.
    #[arg(value_name = "ONE")]
    pub one: String,
    /// The second model.
    #[arg(value_name = "OTHER")]
    pub other: String,
    /// Sets a constant of both models; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Compares traces of at most this many steps [default: no limit].
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub depth: Option<u32>,
    /// Explores at most this many pairs of states.
    #[arg(long, hide_short_help = true, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// The completions of an implementation: its reaction to inputs it does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionArg {
    /// It ignores them.
    Angelic,
    /// It ignores them after it has left the specification.
    Restricted,
    /// They cannot happen.
    None,
}

impl CompletionArg {
    /// The word people and files use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Angelic => "angelic",
            Self::Restricted => "restricted",
            Self::None => "none",
        }
    }
}

/// The selection of mutants.
#[derive(Clone, Debug, ClapArgs)]
pub struct MutantArgs {
    /// The mutation operators, separated by commas: names, `all`, or `default` (all except `assign-add`).
    #[arg(long, default_value = "default", value_name = "LIST")]
    pub ops: String,
    /// Changes only this transition, or the transitions of this state; can be repeated.
    #[arg(long = "at", value_name = "NAME")]
    pub places: Vec<String>,
    /// Takes only this many mutants, chosen at random.
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Makes this many mutants with two changes each instead.
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub second_order: Option<usize>,
    /// The seed of `--sample` and `--second-order`.
    #[arg(long, hide_short_help = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
}

impl From<CompletionArg> for InputCompletion {
    fn from(typed: CompletionArg) -> Self {
        match typed {
            CompletionArg::Angelic => Self::Angelic,
            CompletionArg::Restricted => Self::Restricted,
            CompletionArg::None => Self::None,
        }
    }
}

impl Default for MutantArgs {
    /// The default operators, everywhere.
    fn default() -> Self {
        Self { ops: "default".into(), places: Vec::new(), sample: None, second_order: None, seed: 0 }
    }
}

/// Arguments of `mutate`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide mutate examples/brp/spec.iox --at r7\n  \
    ioxide mutate examples/brp/spec.iox --ops guard-rel,target --out mutants\n\n\
    Operators: guard-true, guard-neg, guard-rel, guard-const, guard-var, guard-and-or, guard-drop,\n\
    assign-del, assign-add, assign-mut, collection, arithmetic, reset-del, reset-add, clock, target, source, gate,\n\
    delete, initial.")]
pub struct MutateArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub mutants: MutantArgs,
    /// Writes the list `mutants.json` and one diff per mutant to this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the mutants as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The limits and settings under which mutants are decided.
#[derive(Clone, Debug, ClapArgs)]
pub struct DecideArgs {
    /// Compares traces of at most this many steps [default: no limit].
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub depth: Option<u32>,
    /// Explores at most this many pairs of states for each mutant.
    #[arg(long, hide_short_help = true, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// The number of mutants that are analysed at the same time [default: the number of cores].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The time for one mutant; one that takes longer is unknown, and the others get their turn [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub mutant_time: Option<Duration>,
    /// The reaction of a mutant to inputs for which it has no transition.
    #[arg(long, hide_short_help = true, value_enum, default_value_t = CompletionArg::Angelic)]
    pub completion: CompletionArg,
    /// Turns an optimisation off, for measurements: `precompute`, `early-stop`, `mutation-analysis`,
    /// `input-weakening`, `cheap-filters`, `enumeration`, `reached-places`, `induction`, `simulation`.
    #[arg(hide_short_help = true, long = "without", value_name = "NAME")]
    pub without: Vec<String>,
}

impl Default for DecideArgs {
    /// As far as it goes, on all cores.
    fn default() -> Self {
        Self {
            depth: None,
            max_states: 20_000,
            jobs: None,
            mutant_time: None,
            completion: CompletionArg::Angelic,
            without: Vec::new(),
        }
    }
}

/// Arguments of `kill`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide kill examples/brp/spec.iox --out brp.suite --html brp.html\n  \
    ioxide kill examples/cas/cas.iox --ops all --record cas.kill --json\n\n\
    Exit codes: 0 every mutant is decided · 5 some are not · 130 interrupted; with `--record` the same \
    command continues.")]
pub struct KillArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub mutants: MutantArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Writes the suite to this file, one test per line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Also makes adaptive tests, which react to the system's replies, and writes them to this folder.
    #[arg(long, hide_short_help = true, value_name = "DIR")]
    pub trees: Option<String>,
    /// The format of the adaptive tests.
    #[arg(
        long,
        hide_short_help = true,
        value_enum,
        default_value_t = CaseFormat::Pytest,
        requires = "trees",
        value_name = "FORMAT",
    )]
    pub tree_format: CaseFormat,
    /// Saves results to this file as they are found, and continues from the results already in it.
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// Writes an HTML page with the score, the tests and every mutant; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Lists every mutant instead of only the undecided ones.
    #[arg(long)]
    pub all: bool,
    /// Prints the result as JSON, with every mutant and the tests that detect it.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
}

/// Arguments of `score`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide score examples/brp/spec.iox brp.suite\n  \
    ioxide score examples/brp/spec.iox random --runs 1 --steps 500\n  \
    ioxide score examples/brp/spec.iox cover --until 90\n\n\
    Exit codes: 0 done · 4 no mutant can be detected · 5 some mutants are undecided, or `--until` was not reached.")]
pub struct ScoreArgs {
    /// The model file: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// The tests to measure: a suite file, a tester (`random`, `cover`), or test cases for a goal (`cases:transitions`,
    /// `cases:pairs`, `cases:deadlines`).
    #[arg(value_name = "SUITE")]
    pub suite: String,
    /// Sets a constant of the model; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub mutants: MutantArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
    /// The number of runs of a tester against each mutant.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub runs: u64,
    /// The number of steps of each run of the random tester.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: u32,
    /// Stops when this score is reached, in percent; the exit code is 5 if it is not.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub until: Option<f64>,
    /// Writes an HTML page with the score, the tests and a trace for every mutant not detected; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Uses the results saved by an earlier `kill --record`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// Prints the result as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
}

/// A share in percent.
fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let share = number.parse().ok().filter(|share| (0.0..=100.0).contains(share));
    share.ok_or("write a number from 0 to 100")
}
