//! Colours on stdout, where it is a terminal.

use std::env;
use std::io::{self, IsTerminal};

use ioxide_report::terminal::colours::ColourWriter;

/// Returns whether stdout shows colours: it is a terminal, and neither `NO_COLOR` nor a plain terminal speaks against
/// it.
fn shows_colours() -> bool {
    let is_plain = env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none() && !is_plain
}

/// Returns a writer to stdout that colours the lines of a campaign, if it is a terminal.
pub fn stdout() -> ColourWriter<io::Stdout> {
    ColourWriter::new(io::stdout(), shows_colours())
}
