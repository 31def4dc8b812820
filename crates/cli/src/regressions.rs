//! Runs that failed before: kept beside the records, done first the next time.
//!
//! `regressions.jsonl` in the `--report` directory is a suite: one test for every kind of
//! failure found so far, the smallest failing run known, named by what such failures have in
//! common. It can be kept under version control; lines can be deleted by hand.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use ioxide_model::sts::Model;
use ioxide_runner::campaign::{Failure, Regression};
use ioxide_runner::suite::{SuiteReader, SuiteTest, SuiteWriter, TraceTest};
use serde_json::{Map, Value as Json};

use crate::exit::Stop;

/// The file in `folder`.
fn file(folder: &str) -> PathBuf {
    Path::new(folder).join("regressions.jsonl")
}

/// What failed before; tests the model no longer knows are told and left out.
pub fn read(folder: &str, spec: &Model) -> Result<Vec<Regression>, Stop> {
    let path = file(folder);
    let cannot = |why: String| {
        Stop::usage(format!("cannot read `{}`: {why}", path.display()))
            .help("delete the file, or run with `--no-regressions`")
    };
    let open = match File::open(&path) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(error.to_string())),
    };
    let mut found = Vec::new();
    for test in SuiteReader::new(BufReader::new(open)).map_err(|error| cannot(error.to_string()))? {
        let SuiteTest::Trace(test) = test.map_err(|error| cannot(error.to_string()))? else { continue };
        match test.trace(spec) {
            Ok(trace) => found.push(Regression { name: test.name, trace }),
            Err(error) => {
                eprintln!("note: `{}` does not fit the model any more and is left out: {error}", test.name);
            }
        }
    }
    Ok(found)
}

/// Adds the kinds of failures that are not in the file yet.
pub fn add(folder: &str, spec: &Model, known: &[Regression], failures: &[Failure]) -> Result<(), Stop> {
    let mut new: Vec<Regression> = Vec::new();
    for failure in failures {
        let smallest = smallest(failure);
        if known.iter().chain(&new).all(|old| old.trace != smallest.trace && old.name != smallest.name) {
            new.push(smallest);
        }
    }
    if new.is_empty() {
        return Ok(());
    }
    let path = file(folder);
    let cannot = |error: io::Error| Stop::usage(format!("cannot write `{}`: {error}", path.display()));
    let exists = path.exists();
    let out = OpenOptions::new().append(true).create(true).open(&path).map_err(cannot)?;
    let mut writer = match exists {
        true => SuiteWriter::append(out),
        false => SuiteWriter::new(out, about(spec)).map_err(cannot)?,
    };
    for Regression { name, trace } in new {
        let test = TraceTest::new(&spec.pool, &spec.sts, name, &trace);
        writer.add(&SuiteTest::Trace(test)).map_err(cannot)?;
    }
    writer.finish().map_err(cannot)
}

/// The smallest run known that fails in this way.
fn smallest(failure: &Failure) -> Regression {
    match &failure.shrunk {
        Some(shrunk) if !shrunk.signature.is_empty() => {
            Regression { name: shrunk.signature.clone(), trace: shrunk.trace.clone() }
        }
        _ => Regression { name: failure.signature.clone(), trace: failure.trace.clone() },
    }
}

fn about(spec: &Model) -> Map<String, Json> {
    let pair = |key: &str, value: &str| (key.to_owned(), Json::String(value.to_owned()));
    [pair("model", &spec.sts.name), pair("about", "runs that failed; `ioxide test --report` does them first")]
        .into_iter()
        .collect()
}
