//! Flags about time, for timed models.

use clap::{Args as ClapArgs, ValueEnum};

/// The heading of the options about time.
const TIME_HEADING: &str = "Timed models";

/// The measurement of time in timed models.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct TimeArgs {
    /// The clock of the test.
    #[arg(long, help_heading = TIME_HEADING, hide_short_help = true, value_enum, default_value_t, value_name = "CLOCK")]
    pub clock: ClockArg,
    /// The maximum one-way message delay, in milliseconds; lateness within it is not a failure [default: from
    /// `ioxide.toml`, else 100; with virtual time and for recorded traces 0].
    #[arg(long, help_heading = TIME_HEADING, hide_short_help = true, value_name = "MS")]
    pub latency_ms: Option<u64>,
    /// The precision of measured times, in milliseconds [default: 0].
    #[arg(long, help_heading = TIME_HEADING, hide_short_help = true, value_name = "MS")]
    pub resolution_ms: Option<u64>,
}

/// The clocks by which a timed model is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClockArg {
    /// Virtual time if the system offers it, else the clock of this machine.
    #[default]
    Offered,
    /// The clock of this machine.
    Wall,
    /// Virtual time; an error if the system does not offer it.
    Virtual,
}
