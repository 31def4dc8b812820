//! Comparing models: `conform`, `refine`, `equiv`, `mutate`, `kill`, `score`.

use clap::{Args as ClapArgs, ValueEnum};
use ioxide_model::relation::ConformanceRelation;

use super::{CaseFormat, LimitArgs, ModelArgs, PartArgs, SolverArgs};

/// Arguments of `conform`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide conform examples/brp/m2.iox examples/brp/spec.iox\n  \
    ioxide conform examples/brp/m1.iox examples/brp/spec.iox --all\n  \
    ioxide conform examples/cas/cas.iox examples/cas/cas.as --json\n  \
    ioxide conform examples/brp examples/brp/spec.iox\n\n\
    Exit codes: 0 conforms, proven · 1 does not, with a trace · 5 neither was shown.")]
pub struct ConformArgs {
    /// The model that must conform, or a folder: then every model in it must.
    #[arg(value_name = "IMPL")]
    pub implementation: String,
    /// The model that says what is allowed.
    #[arg(value_name = "SPEC")]
    pub specification: String,
    /// Overrides a constant of both models.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Looks at traces of at most this many steps.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Looks at no more than this many product states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// The reaction of the implementation to inputs it does not mention.
    #[arg(long, value_enum, default_value_t = CompletionArg::Angelic)]
    pub completion: CompletionArg,
    /// The conformance relation: `ioco`, or `uioco`, which leaves open what follows an input that only some of the
    /// states take in which the specification may be [default: ioco; uioco for systems made of parts].
    #[arg(long, value_name = "RELATION")]
    pub relation: Option<ConformanceRelation>,
    /// Lists every place where the models differ, at most this many, not only the first.
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100")]
    pub all: Option<usize>,
    /// Prints the result as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    #[command(flatten)]
    pub part: PartArgs,
}

/// Arguments of `refine` and `equiv`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide refine examples/brp/m2.iox examples/brp/spec.iox\n  \
    ioxide equiv examples/data/fifo.as examples/data/fifo.iox\n\n\
    A trace is one of inputs, outputs and silences. Inputs count too: `conform` leaves to an implementation what it does \
    with inputs that the specification does not mention, these two do not. Models with clocks are compared by `conform`.\n\n\
    Exit codes: 0 yes, proven · 1 no, with a trace · 5 neither was shown.")]
pub struct TraceComparison {
    /// One model.
    #[arg(value_name = "ONE")]
    pub one: String,
    /// The other model.
    #[arg(value_name = "OTHER")]
    pub other: String,
    /// Overrides a constant of both models.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Looks at traces of at most this many steps.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Looks at no more than this many product states.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Prints the result as JSON.
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
    /// It ignores them once it has left the specification.
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
    /// The operators, separated by commas; `all` for every one, `default` for all but `assign-add`.
    #[arg(long, default_value = "default", value_name = "LIST")]
    pub ops: String,
    /// Changes these switches only, or those of these states.
    #[arg(long = "at", value_name = "NAME")]
    pub places: Vec<String>,
    /// Draws this many of them.
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Makes this many mutants with two changes instead.
    #[arg(long, value_name = "N")]
    pub second_order: Option<usize>,
    /// The seed of `--sample` and `--second-order`.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
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
    assign-del, assign-add, assign-mut, collection, target, source, gate, delete.")]
pub struct MutateArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub mutants: MutantArgs,
    /// Writes a catalogue (`mutants.json`) and one diff per mutant to this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Prints the mutants as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The limits and settings under which mutants are decided.
#[derive(Clone, Debug, ClapArgs)]
pub struct DecideArgs {
    /// Looks at traces of at most this many steps.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Looks at no more than this many product states of one mutant.
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub max_states: usize,
    /// Decides this many mutants at the same time; as many as there are cores if not said.
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// The reaction of a mutant to inputs it does not mention; the same as in `conform`.
    #[arg(long, value_enum, default_value_t = CompletionArg::Angelic)]
    pub completion: CompletionArg,
    /// Switches an optimisation off, to measure it: `precompute`, `early-stop`, `mutation-analysis`,
    /// `input-weakening`, `cheap-filters`, `enumeration`.
    #[arg(long = "without", value_name = "NAME")]
    pub without: Vec<String>,
}

impl Default for DecideArgs {
    /// As far as it goes, on all cores.
    fn default() -> Self {
        Self {
            depth: None,
            max_states: 20_000,
            jobs: None,
            completion: CompletionArg::Angelic,
            without: Vec::new(),
        }
    }
}

/// Arguments of `kill`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide kill examples/brp/spec.iox --out brp.suite --html brp.html\n  \
    ioxide kill examples/cas/cas.iox --ops all --record cas.kill --json\n\n\
    Exit codes: 0 every mutant is decided · 5 some are not · 130 interrupted; `--record` resumes.")]
pub struct KillArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub mutants: MutantArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Writes the suite, one test per line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Makes adaptive tests too, which follow what the system chooses: writes them, and `trees.json` about them, to this folder.
    #[arg(long, value_name = "DIR")]
    pub trees: Option<String>,
    /// The format of adaptive tests.
    #[arg(long, value_enum, default_value_t = CaseFormat::Pytest, requires = "trees", value_name = "FORMAT")]
    pub tree_format: CaseFormat,
    /// Writes every decision as it is made; decisions that are there already are taken from it.
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// Writes an HTML page with the score, the kill matrix and every mutant; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Shows every mutant, not only the undecided ones.
    #[arg(long)]
    pub all: bool,
    /// Prints the result as JSON, with every mutant and who kills it.
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
    Exit codes: 0 scored · 4 no mutant can be killed · 5 not all mutants were looked at, or `--until` was not reached.")]
pub struct ScoreArgs {
    /// The model: `.iox`, `.as`, `.dot` or RALib `.xml`.
    pub file: String,
    /// A suite file, a tester (`random`, `cover`), or cases that cover a goal: `cases:switches`, `cases:pairs`, `cases:deadlines`.
    #[arg(value_name = "SUITE")]
    pub suite: String,
    /// Overrides a constant of the model.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub mutants: MutantArgs,
    #[command(flatten)]
    pub decide: DecideArgs,
    /// Runs of a tester against each mutant.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub runs: u64,
    /// Steps of one run of the random tester.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: u32,
    /// Is content with this score, in percent: no further round begins then (`--rounds`). Exit code 5 if it is not reached.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub until: Option<f64>,
    /// Writes an HTML page with the score, the kill matrix and the traces survivors need; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Decisions of an earlier `kill --record`, taken instead of deciding again.
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// Prints the result as JSON.
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
