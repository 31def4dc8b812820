//! The command that serves the explorer: `explore`.

use clap::Args as ClapArgs;
use ioxide_testgen::tester::spec::TesterSpec;

use super::live::parse_tester;
use super::{ModelArgs, SolverArgs, TimeArgs};

/// Arguments of `explore`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide explore examples/brp/spec.iox\n  \
    ioxide explore examples/brp/spec.iox --sut model:examples/brp/m3.iox --open\n  \
    ioxide explore examples/brp/spec.iox --run runs\n\n\
    The address it prints has a secret token; whoever has it can explore, and start runs against the system of\n\
    `--sut`. Ctrl-C ends it.")]
pub struct ExploreArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// A record to look at, or the directory given to `test --report`; may be given several times.
    #[arg(long = "run", value_name = "RECORD")]
    pub records: Vec<String>,
    /// The system that can be tested from the page: `model:FILE`, `model:FILE?NAME=VALUE`, `stdio:COMMAND`, `tcp:ADDR`, or a name from
    /// `ioxide.toml`.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// A tester that the page offers first, written as for `test --tester`; may be given several times. The page offers all
    /// testers that need no file, and of `case:FILE` and `suite:FILE` those that are given here.
    #[arg(long = "tester", value_name = "TESTER", value_parser = parse_tester)]
    pub testers: Vec<TesterSpec>,
    /// Steps of a run of the random tester.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: usize,
    /// Milliseconds of silence that count as quiescence [default: that of the project file, else 100].
    #[arg(long, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// The address to listen at; a port alone, or nothing, means this machine only.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR")]
    pub listen: String,
    /// Opens the page in a browser.
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}
