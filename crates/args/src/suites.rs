//! `ioxide test` without a model, or with the name of a suite: the arguments come from `ioxide.toml`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, FromArgMatches as _};
use ioxide_model::suggest::nearest_name;
use ioxide_project::{Project, ProjectError, SUITE_OPTIONS, TestSuite};
use thiserror::Error;

use super::{CliArgs, CliCommand, TestArgs};

/// Reads the project file of the current directory; `None` if there is none.
pub(super) type ProjectReader<'r> = &'r dyn Fn() -> Result<Option<Arc<Project>>, ProjectError>;

/// The command of `words`; for `test` with the arguments that `ioxide.toml` adds, of every suite if there are several.
pub(super) fn parse(
    command: &Command,
    words: &[OsString],
    read_project: ProjectReader<'_>,
) -> Result<CliArgs, ParseError> {
    if words.get(1).is_none_or(|name| name != "test") {
        return strict(command, words);
    }
    let relaxed = command.clone().mut_subcommand("test", |test| {
        test.mut_arg("file", |file| file.required(false)).mut_arg("sut", |sut| sut.required(false))
    });
    // Mistakes are told with the usual usage.
    let Ok(matches) = relaxed.clone().try_get_matches_from(words) else { return strict(command, words) };
    let Some(test) = matches.subcommand_matches("test") else { return strict(command, words) };
    let Some(suites) = wanted_suites(test, read_project)? else { return strict(command, words) };
    let words = match test.get_one::<String>("file") {
        Some(name) if !is_model(name) => without_name(&relaxed, words, name),
        _ => words.to_vec(),
    };
    let mut parsed = Vec::new();
    for suite in &suites {
        parsed.push(parse_suite(command, &words, test, suite, suites.len() > 1)?);
    }
    let mut suites = parsed.into_iter();
    let Some(mut first) = suites.next() else { return strict(command, &words) };
    first.more = suites.collect();
    Ok(CliArgs { command: CliCommand::Test(first) })
}

/// The reason why the words are no command.
#[derive(Debug, Error)]
pub enum ParseError {
    /// They do not fit the definition of the command line, or ask for help.
    #[error(transparent)]
    Words(#[from] clap::Error),
    /// They do not fit the project file.
    #[error(transparent)]
    Suite(#[from] SuiteChoiceError),
}

/// The reason why the project file does not say what to test.
#[derive(Debug, Error)]
pub enum SuiteChoiceError {
    /// The model is missing on the command line, and there is no project file.
    #[error("no model is named, and there is no `ioxide.toml`")]
    NoProject,
    /// The project file has neither `[project]` nor a suite.
    #[error("`ioxide.toml` does not say what to test")]
    NoSuite,
    /// The name is neither that of a file nor of a suite.
    #[error("there is no file and no suite `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// The names of the suites.
        names: Vec<String>,
    },
    /// The project file has a mistake.
    #[error(transparent)]
    Project(#[from] ProjectError),
}

impl SuiteChoiceError {
    /// Returns the next thing to do.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoProject => Some(
                "name both, as in `ioxide test MODEL --sut SUT`, or write `[project]` into `ioxide.toml`"
                    .into(),
            ),
            Self::NoSuite => Some("add a table `[project]` with `model` and `sut`".into()),
            Self::Unknown { name, names } => {
                Some(match nearest_name(name, names.iter().map(|name| &**name)) {
                    Some(near) => format!("did you mean the suite `{near}`?"),
                    None => format!("the suites of `ioxide.toml` are {}", names.join(", ")),
                })
            }
            Self::Project(error) => error.help().map(str::to_owned),
        }
    }
}

/// Parses words that must be complete and right.
fn strict(command: &Command, words: &[OsString]) -> Result<CliArgs, ParseError> {
    let matches = command.clone().try_get_matches_from(words)?;
    Ok(CliArgs::from_arg_matches(&matches)?)
}

/// Returns the suites that are asked for; `None` if the words say everything themselves.
fn wanted_suites(
    test: &ArgMatches,
    read_project: ProjectReader<'_>,
) -> Result<Option<Vec<TestSuite>>, SuiteChoiceError> {
    let file = test.get_one::<String>("file").map(|file| &**file);
    let has_model = file.is_some_and(is_model);
    if has_model && test.contains_id("sut") {
        return Ok(None);
    }
    let Some(project) = read_project()? else {
        return if file.is_none() { Err(SuiteChoiceError::NoProject) } else { Ok(None) };
    };
    let suites = project.suites()?;
    if has_model || file.is_none() && test.contains_id("sut") {
        // What is missing comes from `[project]`, or from the first suite.
        return Ok(suites.into_iter().next().map(|suite| vec![suite]));
    }
    let Some(name) = file else {
        return if suites.is_empty() { Err(SuiteChoiceError::NoSuite) } else { Ok(Some(suites)) };
    };
    let names: Vec<&str> = suites.iter().map(|suite| &*suite.name).collect();
    match suites.iter().find(|suite| suite.name == name) {
        Some(suite) => Ok(Some(vec![suite.clone()])),
        None if name.contains(['.', '/']) || names.iter().all(|name| name.is_empty()) => Ok(None),
        None => Err(SuiteChoiceError::Unknown {
            name: name.to_owned(),
            names: names.into_iter().map(str::to_owned).collect(),
        }),
    }
}

/// Returns whether the first argument of `test` is a model, and no name of a suite.
fn is_model(file: &str) -> bool {
    file == "-" || file.contains(['.', '/']) || Path::new(file).is_file()
}

/// Returns the words without the name of the suite: the word without which there is no positional argument.
fn without_name(relaxed: &Command, words: &[OsString], name: &str) -> Vec<OsString> {
    let is_name = |at: &usize| words[*at] == name;
    let without = |at: usize| {
        let mut rest = words.to_vec();
        rest.remove(at);
        rest
    };
    let has_no_file = |rest: &Vec<OsString>| {
        let matches = relaxed.clone().try_get_matches_from(rest).ok();
        matches.is_some_and(|it| it.subcommand_matches("test").is_some_and(|test| !test.contains_id("file")))
    };
    let found = (2..words.len()).filter(is_name).map(without).find(has_no_file);
    found.unwrap_or_else(|| words.to_vec())
}

/// Returns the arguments of a suite: the words, and what only the suite says.
fn parse_suite(
    command: &Command,
    words: &[OsString],
    test: &ArgMatches,
    suite: &TestSuite,
    is_one_of_several: bool,
) -> Result<TestArgs, ParseError> {
    let mut words = words.to_vec();
    // A flag that is given twice is a mistake for the parser.
    let is_given = |arg: &&String| arg.starts_with('-') && words.contains(&OsString::from(arg));
    let args: Vec<OsString> = suite.args.iter().filter(|arg| !is_given(arg)).map(OsString::from).collect();
    words.extend(args);
    for key in SUITE_OPTIONS {
        let id = match key {
            "for" => "for_time",
            key => key,
        };
        let is_given = test.value_source(id) == Some(ValueSource::CommandLine);
        if let (Some(value), false) = (suite.option(key), is_given) {
            words.push(format!("--{key}={value}").into());
        }
    }
    let has_model = test.get_one::<String>("file").is_some_and(|file| is_model(file));
    if let (Some(model), false) = (&suite.model, has_model) {
        words.push(model.into());
    }
    let CliArgs { command: CliCommand::Test(mut args) } = strict(command, &words)? else {
        unreachable!("the arguments are those of `ioxide test`")
    };
    args.suite = (!suite.name.is_empty()).then(|| suite.name.clone());
    if let (Some(report), true) = (&args.report, is_one_of_several && suite.option("report").is_none()) {
        args.report = Some(format!("{report}/{}", suite.name));
    }
    Ok(args)
}
