//! Commands that read models: `check`, `fmt`, `explain`, `show`, `step`.

use clap::{Args as ClapArgs, ValueEnum};
use ioxide_model::code::Code;
use ioxide_model::diag::Severity;

use super::{LimitArgs, ModelArgs, SolverArgs};

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide check examples/adder.iox\n  ioxide check --deep examples/brp/*.iox"
)]
pub struct CheckArgs {
    /// The model files. TorXakis files without a `MODELDEF` are read with each of the others.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Sets a constant of the models; can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Also explores the states of the models with the solver, to find mistakes such as unreachable transitions.
    #[arg(long)]
    pub deep: bool,
    /// Also proves that the model is sequential: each input has exactly one answer. `judge --clients` needs such
    /// models.
    #[arg(long)]
    pub sequential: bool,
    /// With `--deep`: explores at most this many states.
    #[arg(long, hide_short_help = true, default_value_t = 5_000, value_name = "N")]
    pub max_states: usize,
    /// Leaves out warnings and hints with these codes, separated by commas: `--allow W0604,W0712`.
    #[arg(long, value_name = "CODES", value_delimiter = ',', value_parser = read_warning_code)]
    pub allow: Vec<Code>,
    /// Treats warnings as errors.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Prints the findings as JSON instead of text; the same as `--format json`.
    #[arg(long)]
    pub json: bool,
    /// The format of the findings [default: text].
    #[arg(long, value_enum, conflicts_with = "json")]
    pub format: Option<CheckFormat>,
    #[command(flatten)]
    pub solver: SolverArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
}

impl CheckArgs {
    /// The format of the findings.
    pub fn output_format(&self) -> CheckFormat {
        self.format.unwrap_or(if self.json { CheckFormat::Json } else { CheckFormat::Text })
    }
}

/// The formats of the findings of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Text for people, with the lines of the model.
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
}

/// Reads the code of a finding that can be left out.
fn read_warning_code(text: &str) -> Result<Code, String> {
    match Code::by_id(text) {
        Some(code) if code.severity() == Severity::Error => {
            Err(format!("`{text}` is an error, not a warning"))
        }
        Some(code) => Ok(code),
        None => Err(format!("there is no code `{text}`; `ioxide explain --list` lists all codes")),
    }
}

/// Arguments of `fmt`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide fmt examples/adder.iox\n  ioxide fmt --check examples/brp/*.iox")]
pub struct FmtArgs {
    /// The model files (`.iox`); `-` formats stdin to stdout.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Changes nothing; the exit code is 1 if a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `explain`.
#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "ioxide explain <CODE>\n       ioxide explain --list",
    after_help = "Examples:\n  ioxide explain E0201\n  ioxide explain --list"
)]
pub struct ExplainArgs {
    /// The code of an error or warning, such as E0201.
    #[arg(required_unless_present = "list")]
    pub code: Option<String>,
    /// Lists all codes.
    #[arg(long)]
    pub list: bool,
}

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide show examples/adder.iox\n  \
                        ioxide show examples/brp/spec.iox --format svg > brp.svg")]
pub struct ShowArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The format.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// The formats in which a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Text.
    Text,
    /// A graph in the DOT language of Graphviz.
    Dot,
    /// An SVG picture.
    Svg,
    /// A Mermaid diagram, for Markdown.
    Mermaid,
    /// JSON.
    Json,
}

/// Arguments of `step`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide step examples/slot-machine.iox\n  \
                  ioxide step examples/brp/spec.iox --from runs@3\n  \
    echo 'inX(p: 3)' | ioxide step examples/adder.iox\n  echo | ioxide step examples/adder.iox --at finished\n\n\
    On a terminal, `?` shows the keys. In a pipe, or with `--plain`, it reads one command per line; `help` \
    lists them.")]
pub struct StepArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Starts after step N of a recorded run: `RUN@N`, where RUN is a record or the directory given to `test --report`.
    #[arg(long, value_name = "RUN@N")]
    pub from: Option<String>,
    /// The number of the run in the record, from 1 [default: the first that failed].
    #[arg(long, value_name = "N", requires = "from")]
    pub number: Option<u64>,
    /// Starts in this state; `trace` shows the messages that lead to it.
    #[arg(long, value_name = "STATE", conflicts_with = "from")]
    pub at: Option<String>,
    /// Reads one command per line, on a terminal too.
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}
