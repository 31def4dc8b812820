//! The help of the program as a whole: commands grouped by task.
//!
//! Options that only `--help` shows are marked where they are declared (`hide_short_help`).

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::CliArgs;
use super::suites::{self, ParseError, ProjectReader};

/// The heading of examples.
const EXAMPLES: &str = "Examples:";

/// The commands by task, in the order in which people need them.
pub const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["init", "demo", "doctor"]),
    ("Write a model", &["check", "show", "step", "explore", "explain", "fmt", "watch", "lsp"]),
    ("Test a system", &["test", "adapter", "sut", "judge", "requirements"]),
    ("Understand a failure", &["report", "replay", "shrink", "repair"]),
    ("Make tests", &["purposes", "case", "complete", "fsm", "mutate", "kill", "score"]),
    ("Compare and learn models", &["conform", "refine", "equiv", "diff", "learn"]),
    ("Many machines", &["campaign", "merge"]),
    ("Set up and measure", &["completions", "man", "schema", "bench"]),
];

/// Returns the command of the words of a command line, the first of which is the name of the program.
///
/// # Errors
/// If the words are no command, or ask for help: then the error is the help.
pub fn parse_words(words: &[OsString], read_project: ProjectReader<'_>) -> Result<CliArgs, ParseError> {
    // The help takes longer to make than all else, and only a wrong command line or a question shows it.
    match suites::parse(&CliArgs::command(), words, read_project) {
        Err(ParseError::Words(_)) => suites::parse(&command_line(), words, read_project),
        parsed => parsed,
    }
}

/// The answer to `--version`.
pub const VERSION_LINE: &str = concat!("ioxide ", env!("CARGO_PKG_VERSION"));

/// True if the words only ask for the version: scripts ask often, and need no definition of all commands for it.
pub fn is_version_query(words: &[OsString]) -> bool {
    matches!(words, [_, question] if question == "--version" || question == "-V")
}

/// Returns the definition of the command line, with commands grouped by task in its help.
pub fn command_line() -> Command {
    let command = CliArgs::command();
    let groups = grouped_commands(&command);
    let command = command.mut_subcommands(shorten_examples).mut_subcommand("learn", |learn| {
        learn.mut_arg("file", |file| file.help("The file that declares the messages, a model"))
    });
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\nOptions:\n{{options}}{{after-help}}"
    ))
}

/// Leaves the first two examples in the help of `-h`; that of `--help` has all of them, and the exit codes.
fn shorten_examples(command: Command) -> Command {
    let Some(full) = command.get_after_help().map(ToString::to_string) else { return command };
    if command.get_after_long_help().is_some() || !full.starts_with(EXAMPLES) {
        return command;
    }
    let first: Vec<&str> = full.lines().skip(1).take_while(|line| line.starts_with("  ")).take(2).collect();
    let short = format!("{EXAMPLES}\n{}", first.join("\n"));
    command.after_help(short).after_long_help(full)
}

/// Returns the commands below the headings of their groups, one line each.
fn grouped_commands(command: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}
