//! Commands that read what was recorded: `report`.

use clap::{Args as ClapArgs, ValueEnum};

use super::SolverArgs;

/// Arguments of `report`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide report runs\n  \
    ioxide report runs --html report.html\n  \
    ioxide report runs --junit junit.xml --markdown summary.md\n  \
    ioxide report runs --script pytest > test_failure.py\n  \
    ioxide report runs/campaign-2.jsonl --markdown - >> \"$GITHUB_STEP_SUMMARY\"\n\n\
    The exit code is 0 if the report was written, even if tests failed, and 2 if the record cannot be read.")]
pub struct ReportArgs {
    /// A record, or the directory of `test --report` (its newest record), of `campaign` or of `--part`.
    pub run: String,
    /// Writes JUnit XML for CI systems; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Writes a summary in Markdown; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<String>,
    /// Writes the full report as one HTML page that works offline; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// Writes the requests and answers of the smallest failing run as an HTTP Archive (HAR 1.2), for systems that are
    /// asked by HTTP; `-` is stdout. Secrets are `***`.
    #[arg(long, value_name = "FILE")]
    pub har: Option<String>,
    /// The model file for the HTML page, if it is not where the record says.
    #[arg(long, value_name = "FILE", requires = "html")]
    pub model: Option<String>,
    /// Prints the figures as JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Prints a program that repeats the smallest failing run without ioxide: `curl` (with `jq`), `nc`, `python`
    /// (`pytest` runs it too) or `rust` (a test). Values that the system chooses are taken from its replies.
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = ["junit", "markdown", "html", "har", "json"])]
    pub script: Option<ScriptArg>,
    /// With `--script` or `--har`: the number of the failing run, from 1; the first that was made smaller if not given.
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    #[command(flatten)]
    pub solver: SolverArgs,
}

/// The languages of `--script`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScriptArg {
    /// Lines for a shell with `curl` and `jq`.
    Curl,
    /// A command with `nc`, for text over TCP without values of the system.
    Nc,
    /// A program in Python, with its standard library only.
    Python,
    /// The same program: pytest runs it as a test.
    Pytest,
    /// A test in Rust, with its standard library only.
    Rust,
}
