//! Runs that failed before: kept next to the records, done first the next time.
//!
//! `regressions.jsonl` in the `--report` directory is a suite: one test for every kind of
//! failure found so far, the smallest failing run known, named by the id of the failure. It can be kept under
//! version control; lines can be deleted by hand.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_model::sts::Model;
use ioxide_record::secrets::Secrets;
use ioxide_run::campaign::{FailureGroup, Regression};
use ioxide_run::suite::regressions::NewRegressions;
use ioxide_run::suite::whole_lines::WholeLines;
use ioxide_run::suite::{SuiteReader, SuiteTest, SuiteWriter, TraceTest};
use serde_json::{Map, Value as Json};

use crate::exit::CliError;

/// The name of the file.
const NAME: &str = "regressions.jsonl";

/// Returns the runs that failed before. Tests that do not fit the model any more are reported and left out, and so is a
/// last line that was cut off.
pub fn read_known_failures(folder: &Path, spec: &Model) -> Result<Vec<Regression>, CliError> {
    let path = folder.join(NAME);
    let cannot = |stop: CliError| stop.help("delete the file, or run with `--no-regressions`");
    let lines = read_lines(&path).map_err(cannot)?;
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let tests = SuiteReader::new(&lines[..]).and_then(SuiteReader::trace_tests);
    let mut found = Vec::new();
    for test in tests.map_err(|error| cannot(suite_error(&path, &error)))? {
        match test.trace(spec) {
            Ok(trace) => found.push(Regression { name: test.name, trace }),
            Err(error) => {
                eprintln!("note: `{}` does not fit the model any more and was ignored: {error}", test.name);
            }
        }
    }
    Ok(found)
}

/// Returns the tests of a suite of runs, such as `regressions.jsonl`; `None` if `path` is no suite. A last line that
/// was cut off is left out.
pub fn read_suite(path: &Path) -> Result<Option<Vec<TraceTest>>, CliError> {
    if !path.is_file() {
        return Ok(None);
    }
    let lines = read_lines(path)?;
    let Ok(reader) = SuiteReader::new(&lines[..]) else { return Ok(None) };
    reader.trace_tests().map(Some).map_err(|error| suite_error(path, &error))
}

/// Reads the whole lines of a suite; a last line that was cut off is reported.
fn read_lines(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = WholeLines::read(path);
    let WholeLines { lines, is_cut } = read.map_err(|error| suite_error(path, &error))?;
    if is_cut {
        eprintln!("warning: the last line of `{}` is incomplete and was ignored", path.display());
    }
    Ok(lines)
}

fn suite_error(path: &Path, error: &dyn Display) -> CliError {
    CliError::usage(format!("cannot read `{}`: {error}", path.display()))
}

/// Adds the kinds of failures that are not in the file yet.
pub fn add_failures(
    folder: &Path,
    spec: &Model,
    known: &[Regression],
    failures: &[FailureGroup],
    secrets: &Secrets,
) -> io::Result<()> {
    let NewRegressions { tests, n_secret } = NewRegressions::find(spec, known, failures, secrets);
    for _ in 0..n_secret {
        eprintln!("note: a failing run is not saved in `{NAME}`: it contains a secret");
    }
    if tests.is_empty() {
        return Ok(());
    }
    let path = folder.join(NAME);
    let WholeLines { lines, .. } = WholeLines::read(&path)?;
    let mut out = AsideFile::new(&path, FileReaders::Owner)?;
    out.write_all(&lines)?;
    let mut writer = if lines.is_empty() {
        SuiteWriter::open_ended(out, file_header(spec))?
    } else {
        SuiteWriter::append(out)
    };
    tests.into_iter().try_for_each(|test| writer.add(&SuiteTest::Trace(test)))?;
    writer.finish()?.keep()
}

fn file_header(spec: &Model) -> Map<String, Json> {
    let pair = |key: &str, value: &str| (key.to_owned(), Json::String(value.to_owned()));
    [pair("model", &spec.sts.name), pair("about", "runs that failed; `ioxide test --report` does them first")]
        .into_iter()
        .collect()
}
