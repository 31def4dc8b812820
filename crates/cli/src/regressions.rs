//! Runs that failed before: kept next to the records, done first the next time.
//!
//! `regressions.jsonl` in the `--report` directory is a suite: one test for every kind of
//! failure found so far, the smallest failing run known, named by the id of the failure. It can be kept under
//! version control; lines can be deleted by hand.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ioxide_campaign::whole_file::{AsideFile, FileReaders};
use ioxide_model::sts::Model;
use ioxide_record::failure_id::failure_id;
use ioxide_record::secrets::Secrets;
use ioxide_run::campaign::{FailureGroup, Regression};
use ioxide_run::suite::whole_lines::WholeLines;
use ioxide_run::suite::{SuiteLabel, SuiteReader, SuiteTest, SuiteWriter, TraceTest};
use serde_json::{Map, Value as Json};

use crate::exit::CliError;

/// The name of the file.
const NAME: &str = "regressions.jsonl";

/// The file in `folder`.
fn file(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Returns the runs that failed before. Tests that do not fit the model any more are reported and left out, and so is a
/// last line that was cut off.
pub fn read(folder: &Path, spec: &Model) -> Result<Vec<Regression>, CliError> {
    let path = file(folder);
    let cannot = |why: String| {
        CliError::usage(format!("cannot read `{}`: {why}", path.display()))
            .help("delete the file, or run with `--no-regressions`")
    };
    let WholeLines { lines, is_cut } = WholeLines::read(&path).map_err(|error| cannot(error.to_string()))?;
    if is_cut {
        eprintln!("warning: the last line of `{}` is incomplete and was ignored", path.display());
    }
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for test in SuiteReader::new(&lines[..]).map_err(|error| cannot(error.to_string()))? {
        let SuiteTest::Trace(test) = test.map_err(|error| cannot(error.to_string()))? else { continue };
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
    let cannot = |why: String| CliError::usage(format!("cannot read `{}`: {why}", path.display()));
    let WholeLines { lines, is_cut } = WholeLines::read(path).map_err(|error| cannot(error.to_string()))?;
    let Ok(reader) = SuiteReader::new(&lines[..]) else { return Ok(None) };
    if is_cut {
        eprintln!("warning: the last line of `{}` is incomplete and was ignored", path.display());
    }
    let mut tests = Vec::new();
    for test in reader {
        if let SuiteTest::Trace(test) = test.map_err(|error| cannot(error.to_string()))? {
            tests.push(test);
        }
    }
    Ok(Some(tests))
}

/// Adds the kinds of failures that are not in the file yet.
pub fn add(
    folder: &Path,
    spec: &Model,
    known: &[Regression],
    failures: &[FailureGroup],
    secrets: &Secrets,
) -> io::Result<()> {
    let mut new: Vec<Regression> = Vec::new();
    for failure in failures {
        let smallest = smallest(failure, secrets);
        let is_known = |old: &Regression| {
            old.trace.is_same_course(&smallest.trace) || is_named(&old.name, &smallest.name)
        };
        if !known.iter().chain(&new).any(is_known) {
            new.push(smallest);
        }
    }
    // A run without a label does nothing when it is repeated.
    new.retain(|it| !it.trace.is_empty() && !has_secret(spec, it, secrets));
    if new.is_empty() {
        return Ok(());
    }
    let path = file(folder);
    let WholeLines { lines, .. } = WholeLines::read(&path)?;
    let mut out = AsideFile::new(&path, FileReaders::Owner)?;
    out.write_all(&lines)?;
    let mut writer = if lines.is_empty() {
        SuiteWriter::open_ended(out, file_header(spec))?
    } else {
        SuiteWriter::append(out)
    };
    for Regression { name, trace } in new {
        writer.add(&SuiteTest::Trace(TraceTest::with_references(&spec.pool, &spec.sts, name, &trace)))?;
    }
    writer.finish()?.keep()
}

/// Returns whether a run cannot be kept because it holds a secret, and prints a note then.
fn has_secret(spec: &Model, it: &Regression, secrets: &Secrets) -> bool {
    let test = TraceTest::new(&spec.pool, &spec.sts, it.name.clone(), &it.trace);
    let is_marked = |label: &SuiteLabel| {
        let of = label.label.as_deref().unwrap_or_default();
        secrets.fields().any(|(message, field)| message == of && label.args.contains_key(field))
    };
    let is_secret =
        test.trace.iter().any(is_marked) || secrets.is_in(&Json::from(label_texts(&test)).to_string());
    if is_secret {
        eprintln!("note: a failing run is not saved in `{NAME}`: it contains a secret");
    }
    is_secret
}

/// The name and the values of a test.
fn label_texts(test: &TraceTest) -> Vec<Json> {
    let args = test.trace.iter().map(|label| Json::Object(label.args.clone()));
    args.chain([Json::from(test.name.as_str())]).collect()
}

/// The smallest run known that fails in this way.
fn smallest(failure: &FailureGroup, secrets: &Secrets) -> Regression {
    let trace = match &failure.shrunk {
        // A run that did not fail again is none to begin with the next time.
        Some(shrunk) if shrunk.confirmed_signature().is_some() => &shrunk.trace,
        _ => &failure.trace,
    };
    // As in the record, which has no secrets in it.
    let name = failure_id(&secrets.hide(failure.naming_signature()));
    Regression { name, trace: trace.clone() }
}

/// Returns whether a test has this name; earlier versions named it by the signature of the failure.
pub fn is_named(test: &str, name: &str) -> bool {
    test == name || failure_id(test) == name
}

fn file_header(spec: &Model) -> Map<String, Json> {
    let pair = |key: &str, value: &str| (key.to_owned(), Json::String(value.to_owned()));
    [pair("model", &spec.sts.name), pair("about", "runs that failed; `ioxide test --report` does them first")]
        .into_iter()
        .collect()
}
