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
    It prints an address with a secret token. Anyone who has the address can use the page and start runs against the\n\
    system of `--sut`. Ctrl-C ends it.")]
pub struct ExploreArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// A record to show, or the directory given to `test --report`; can be repeated.
    #[arg(long = "run", value_name = "RECORD")]
    pub records: Vec<String>,
    /// The system that the page can test: a name from `ioxide.toml`, `stdio:COMMAND`, `tcp:ADDR` or `model:FILE`.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// A tester to list first on the page, as in `test --tester`; can be repeated. `case:FILE` and `suite:FILE` are
    /// offered only if they are given here.
    #[arg(long = "tester", value_name = "TESTER", value_parser = parse_tester)]
    pub testers: Vec<TesterSpec>,
    /// The number of steps of a run of the random tester.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub steps: usize,
    /// The time without a message that counts as silence, in milliseconds [default: from `ioxide.toml`, else 100].
    #[arg(long = "silence-ms", alias = "quiescence-ms", hide_short_help = true, value_name = "MS")]
    pub quiescence_ms: Option<u64>,
    #[command(flatten)]
    pub time: TimeArgs,
    /// The address to listen on; with a port alone, only this machine can connect.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDR")]
    pub listen: String,
    /// Opens the page in a browser.
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
}
