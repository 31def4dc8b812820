//! `ioxide explain`: a diagnostic code explained.

use std::io::{self, Write};

use ioxide_args::ExplainArgs;
use ioxide_model::code::Code;

use crate::exit::{CliError, ExitStatus};

/// Writes the page of a code, or the list of codes.
pub fn run(args: &ExplainArgs) -> Result<ExitStatus, CliError> {
    let mut out = io::stdout().lock();
    if args.list {
        for code in Code::ALL {
            writeln!(out, "{}  {}", code.id(), code.title())?;
        }
        return Ok(ExitStatus::Success);
    }
    let wanted = args.code.as_deref().unwrap_or_default();
    let code = Code::by_id(wanted).ok_or_else(|| {
        CliError::usage(format!("there is no code `{wanted}`")).help("`ioxide explain --list` lists them all")
    })?;
    write!(out, "{}", code.explanation())?;
    Ok(ExitStatus::Success)
}
