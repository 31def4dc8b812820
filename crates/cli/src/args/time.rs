//! Flags about time, for timed models.

use clap::{Args as ClapArgs, ValueEnum};

/// The measurement of time in timed models.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Timed models")]
pub struct TimeArgs {
    /// The clock that counts.
    #[arg(long, value_enum, default_value_t, value_name = "CLOCK")]
    pub clock: ClockArg,
    /// The longest way of a message to the system or from it, in milliseconds: no system is blamed for being
    /// seen so late [default: that of the project file, else 100; 0 in virtual time and for
    /// traces, records have their own].
    #[arg(long, value_name = "MS")]
    pub latency_ms: Option<u64>,
    /// Resolution at which instants are read, in milliseconds [default: 0].
    #[arg(long, value_name = "MS")]
    pub resolution_ms: Option<u64>,
}

/// The clocks by which a timed model is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClockArg {
    /// Virtual time if the system offers it, else that of this machine.
    #[default]
    Offered,
    /// The clock of this machine.
    Wall,
    /// Virtual time, or none at all.
    Virtual,
}
