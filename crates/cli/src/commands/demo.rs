//! `ioxide demo`: what users do, on a small server that ships with ioxide.
//!
//! The server is a process of its own and speaks text over a socket. `ioxide.toml` connects it, and `ioxide test` tests
//! it: first the correct server, which passes, then one with a bug, which is found.

#[doc(hidden)]
pub mod server;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use ioxide_args::DemoArgs;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use serde_json::{Value as Json, json};

use self::server::OfficeServer;
use crate::exit::{CliError, ExitStatus};
use crate::write;

const MODEL: &str = include_str!("../../models/office/office.iox");
const PROJECT: &str = include_str!("../../models/office/ioxide.toml");
/// The steps of a campaign: enough to find the bug with any seed, a few seconds on the correct server.
const STEPS: &str = "300";

/// Tests both servers; succeeds if the correct one passes and the bug is found.
pub fn run(args: &DemoArgs) -> Result<ExitStatus, CliError> {
    if let Some(port) = args.serve {
        let server = if args.fault { OfficeServer::Faulty } else { OfficeServer::Correct };
        return Ok(server::serve(port, server).map(|()| ExitStatus::Success)?);
    }
    let folder = tempfile::tempdir()?;
    write_project(folder.path())?;
    let is_good =
        if args.json { print_json(args, folder.path())? } else { show_example(args, folder.path())? };
    if is_good {
        Ok(ExitStatus::Success)
    } else {
        Err(CliError::new(ExitStatus::Inconclusive, "the demo did not find the bug; try another --seed"))
    }
}

/// Writes the model, and the project file with this program in the place of `ioxide`.
fn write_project(folder: &Path) -> Result<(), CliError> {
    let program = std::env::current_exe()?;
    let program = ioxide_campaign::engine::quote_for_shell(&program.display().to_string());
    // The command stands in a string of TOML.
    let quoted = program.replace('\\', "\\\\").replace('"', "\\\"");
    fs::write(folder.join("office.iox"), MODEL)?;
    fs::write(folder.join("ioxide.toml"), PROJECT.replace("exec ioxide ", &format!("exec {quoted} ")))?;
    Ok(())
}

/// Shows both campaigns; returns whether the first passed and the second failed.
fn show_example(args: &DemoArgs, folder: &Path) -> Result<bool, CliError> {
    let seed = args.seed;
    let say = |text: &str| writeln!(io::stdout(), "{text}");
    say(
        "The program to test is a small server, a box office with ten seats. The model (examples/office/office.iox)",
    )?;
    say(
        "says how it should reply to RESERVE and CANCEL. ioxide chooses the inputs and checks every reply.\n",
    )?;
    say("1. The correct server:")?;
    say(&format!("$ ioxide test office.iox --sut office --steps {STEPS} --seed {seed}"))?;
    let correct = test_command(args, folder, "office").status()?.code();
    say("\n2. The same server with a bug: a reservation that is refused takes seats all the same.")?;
    say(&format!("$ ioxide test office.iox --sut buggy --steps {STEPS} --seed {seed} --report runs"))?;
    let buggy =
        test_command(args, folder, "buggy").args(["--report", "runs"]).stderr(Stdio::null()).status()?;
    let is_good = (correct, buggy.code()) == (Some(0), Some(1));
    if is_good {
        match write_page(folder, &args.html) {
            Ok(()) => say(&format!("\nThe report of the second test, to open in a browser: {}", args.html))?,
            Err(stop) => eprintln!("note: no HTML report: {}", stop.message()),
        }
        say("Next: `ioxide init shop` writes a small project of your own, whose first test passes.")?;
    }
    Ok(is_good)
}

/// Prints the results of both campaigns as JSON; returns whether the first passed and the second failed.
fn print_json(args: &DemoArgs, folder: &Path) -> Result<bool, CliError> {
    let result = |sut: &str| -> Result<(Json, Option<i32>), CliError> {
        let output = test_command(args, folder, sut).arg("--json").stderr(Stdio::inherit()).output()?;
        Ok((serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.code()))
    };
    let ((correct, passed), (faulty, failed)) = (result("office")?, result("buggy")?);
    writeln!(io::stdout(), "{}", json!({ "version": 1, "correct": correct, "faulty": faulty }))?;
    Ok((passed, failed) == (Some(0), Some(1)))
}

/// Returns the command that tests one of the servers.
fn test_command(args: &DemoArgs, folder: &Path, sut: &str) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "ioxide".into());
    let mut command = Command::new(program);
    command.current_dir(folder);
    command.args(["test", "office.iox", "--sut", sut, "--steps", STEPS, "--seed", &args.seed.to_string()]);
    command
}

/// Copies the report of the second campaign to `file`.
fn write_page(folder: &Path, file: &str) -> Result<(), CliError> {
    let page = fs::read(folder.join("runs/report.html"))?;
    write_whole(Path::new(file), FileReaders::Usual, |out| out.write_all(&page))
        .map_err(|error| write::write_error(file, &error))
}
