//! `ioxide fmt`: one canonical layout.

use std::io::{self, Write};
use std::path::Path;

use ioxide_args::FmtArgs;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::source::Sources;

use crate::exit::{CliError, ExitStatus};
use crate::write;
use crate::{load, render};

/// Lays out every file; with `--check` only says which are not.
pub fn run(args: &FmtArgs) -> Result<ExitStatus, CliError> {
    let mut status = ExitStatus::Success;
    for path in &args.files {
        let before = load::read_model(path)?;
        let Some(after) = format_source(path, &before)? else {
            status = ExitStatus::Model;
            continue;
        };
        match path.as_str() {
            "-" => io::stdout().lock().write_all(after.as_bytes())?,
            _ if before == after => (),
            _ if args.check => {
                eprintln!("{path}: not formatted; run `ioxide fmt {path}`");
                status = ExitStatus::Failure;
            }
            _ => write_whole(Path::new(path), FileReaders::Usual, |out| out.write_all(after.as_bytes()))
                .map_err(|error| write::write_error(path, &error))?,
        }
    }
    Ok(status)
}

/// The canonical text; `None` if there is none, and the reason is on stderr.
fn format_source(path: &str, text: &str) -> Result<Option<String>, CliError> {
    if path != "-" && !ioxide_lang::is_iox(path) {
        return Err(CliError::usage(format!("`{path}` is not an `.iox` file"))
            .help("only `.iox` models can be formatted"));
    }
    let name = if path == "-" { "stdin.iox" } else { path };
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    match ioxide_lang::format(&sources, file) {
        Ok(text) => Ok(Some(text)),
        Err(diagnostics) => {
            eprint!("{}", render::render_findings(&sources, &diagnostics));
            eprintln!("error: `{path}` is left as it is: it has errors");
            Ok(None)
        }
    }
}
