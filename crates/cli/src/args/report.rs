//! Commands that read what was recorded: `report`.

use clap::Args as ClapArgs;

use super::SolverArgs;

/// Arguments of `report`.
#[derive(Clone, Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide report runs\n  \
    ioxide report runs --html report.html\n  \
    ioxide report runs --junit junit.xml --markdown summary.md\n  \
    ioxide report runs/campaign-2.jsonl --markdown - >> \"$GITHUB_STEP_SUMMARY\"\n\n\
    Exit code 0 if the report was written, whatever it says; 2 if the record cannot be read.")]
pub struct ReportArgs {
    /// A record, or the directory given to `test --report`: then its newest record; or that of a `campaign` or a `--part`,
    /// finished or not.
    pub run: String,
    /// Writes JUnit XML for continuous integration systems; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
    /// Writes a summary in Markdown; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<String>,
    /// Writes one HTML page with everything, which opens without a network; `-` is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    /// The model of the HTML page, if it is not where the record says.
    #[arg(long, value_name = "FILE", requires = "html")]
    pub model: Option<String>,
    /// Prints the figures as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}
