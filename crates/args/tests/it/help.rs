//! Tests of `help`.

use clap::CommandFactory;
use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Command;

use ioxide_args::help::GROUPS;
use ioxide_args::{CliArgs, VERSION_LINE, command_line, is_version_query};

/// The answer without the definition of the command line is the one that the definition gives.
#[test]
fn the_version_is_that_of_the_definition() {
    assert_eq!(command_line().render_version(), format!("{VERSION_LINE}\n"));
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    assert!(is_version_query(&words(&["ioxide", "--version"])));
    assert!(!is_version_query(&words(&["ioxide", "test", "--version"])));
}

#[test]
fn every_command_is_in_one_group_and_in_the_help() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in GROUPS.iter().flat_map(|(_, names)| *names) {
        *counts.entry(name).or_default() += 1;
    }
    let command = CliArgs::command();
    let declared: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    for name in &declared {
        assert_eq!(counts.get(name), Some(&1), "{name}");
    }
    assert_eq!(counts.len(), declared.len());
    let help = command_line().render_help().to_string();
    assert!(declared.iter().all(|name| help.contains(&format!("\n  {name:<12} "))), "{help}");
}

/// The help of `-h` is for the everyday options: what fits a screen is read.
#[test]
fn the_short_help_of_every_command_has_about_ten_options() {
    for command in CliArgs::command().get_subcommands() {
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_short_help_set() && !arg.is_hide_set());
        let options = shown.filter(|arg| arg.get_long().is_some()).count();
        assert!(options <= 13, "{}: {options} options", command.get_name());
    }
}

#[test]
fn every_option_is_described_in_one_short_sentence() {
    for command in CliArgs::command().get_subcommands() {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let words = help.split_whitespace().count();
            let name = format!("{} {}", command.get_name(), arg.get_id());
            assert!((2..=40).contains(&words), "{name}: {words} words");
        }
    }
}
