//! The failing runs of a campaign that a later one begins with: one test for every kind of failure, its smallest run.

use ioxide_model::sts::Model;
use ioxide_record::failure_id::failure_id;
use ioxide_record::secrets::Secrets;
use serde_json::Value as Json;
use thiserror::Error;

use super::{SuiteLabel, TraceTest};
use crate::campaign::{FailureGroup, Regression};

/// The kinds of failures that were not known before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRegressions {
    /// A test of each.
    pub tests: Vec<TraceTest>,
    /// The number of failing runs that cannot be kept because they hold a secret.
    pub n_secret: usize,
}

impl NewRegressions {
    /// Returns the kinds of `failures` that are not `known`, without runs that hold one of `secrets`.
    #[must_use]
    pub fn find(spec: &Model, known: &[Regression], failures: &[FailureGroup], secrets: &Secrets) -> Self {
        let mut new: Vec<Regression> = Vec::new();
        for failure in failures {
            let smallest = find_smallest(failure, secrets);
            let is_known = |old: &Regression| {
                old.trace.is_same_course(&smallest.trace) || is_named(&old.name, &smallest.name)
            };
            if !known.iter().chain(&new).any(is_known) {
                new.push(smallest);
            }
        }
        // A run without a label does nothing when it is repeated.
        new.retain(|regression| !regression.trace.is_empty());
        let found = new.len();
        new.retain(|regression| !has_secret(spec, regression, secrets));
        let n_secret = found - new.len();
        let test =
            |Regression { name, trace }| TraceTest::with_references(&spec.pool, &spec.sts, name, &trace);
        Self { tests: new.into_iter().map(test).collect(), n_secret }
    }
}

/// Returns whether a run holds a secret.
fn has_secret(spec: &Model, regression: &Regression, secrets: &Secrets) -> bool {
    let test = TraceTest::new(&spec.pool, &spec.sts, regression.name.clone(), &regression.trace);
    let is_marked = |label: &SuiteLabel| {
        let of = label.label.as_deref().unwrap_or_default();
        secrets.fields().any(|(message, field)| message == of && label.args.contains_key(field))
    };
    test.trace.iter().any(is_marked) || secrets.is_in(&Json::from(test_texts(&test)).to_string())
}

/// Returns the name and the values of a test.
fn test_texts(test: &TraceTest) -> Vec<Json> {
    let args = test.trace.iter().map(|label| Json::Object(label.args.clone()));
    args.chain([Json::from(test.name.as_str())]).collect()
}

/// Returns the smallest run known that fails in this way.
fn find_smallest(failure: &FailureGroup, secrets: &Secrets) -> Regression {
    let trace = match &failure.shrunk {
        // A run that did not fail again is none to begin with the next time.
        Some(shrunk) if shrunk.confirmed_signature().is_some() => &shrunk.trace,
        _ => &failure.trace,
    };
    // As in the record, which has no secrets in it.
    let name = failure_id(&secrets.hide(failure.naming_signature()));
    Regression { name, trace: trace.clone() }
}

/// The reason why no test is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TestChoiceError {
    /// There is none to choose from.
    #[error("there are no tests")]
    NoTests,
    /// No test has this number, from 1.
    #[error("there is no test {0}")]
    NoSuchNumber(u64),
    /// No test has this in its name.
    #[error("no test is named `{0}`")]
    NoSuchName(String),
    /// Several tests have this in their names.
    #[error("several tests have `{0}` in their names")]
    Several(String),
}

/// Returns the test with this number, from 1, else with this name, or the only one that has it in its name, else the
/// first; and its position.
///
/// # Errors
/// If there is no such test, or several have this in their names.
pub fn find_test<'t>(
    tests: &'t [TraceTest],
    number: Option<u64>,
    name: Option<&str>,
) -> Result<(usize, &'t TraceTest), TestChoiceError> {
    if tests.is_empty() {
        return Err(TestChoiceError::NoTests);
    }
    let all = || tests.iter().enumerate();
    match (number, name) {
        (Some(number), _) => {
            all().find(|(at, _)| *at as u64 + 1 == number).ok_or(TestChoiceError::NoSuchNumber(number))
        }
        (None, None) => all().next().ok_or(TestChoiceError::NoTests),
        (None, Some(name)) => {
            if let Some(found) = all().find(|(_, test)| is_named(&test.name, name)) {
                return Ok(found);
            }
            let mut similar = all().filter(|(_, test)| test.name.contains(name));
            match (similar.next(), similar.next()) {
                (Some(found), None) => Ok(found),
                (None, _) => Err(TestChoiceError::NoSuchName(name.to_owned())),
                (Some(_), Some(_)) => Err(TestChoiceError::Several(name.to_owned())),
            }
        }
    }
}

/// Returns whether a test has this name; earlier versions named it by the signature of the failure.
fn is_named(test: &str, name: &str) -> bool {
    test == name || failure_id(test) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_chosen_by_number_by_name_or_by_a_part_that_only_one_has() {
        let test = |name: &str| TraceTest { name: name.into(), trace: Vec::new() };
        let tests = [test("miss-in-idle"), test("miss-in-busy"), test("crash")];
        let chosen = |number, name| find_test(&tests, number, name).map(|(at, _)| at);
        assert_eq!(chosen(None, None), Ok(0));
        assert_eq!(chosen(Some(3), Some("miss-in-idle")), Ok(2), "a number goes first");
        assert_eq!(chosen(Some(4), None), Err(TestChoiceError::NoSuchNumber(4)));
        assert_eq!(chosen(None, Some("miss-in-busy")), Ok(1));
        assert_eq!(chosen(None, Some("cra")), Ok(2));
        assert_eq!(chosen(None, Some("miss")), Err(TestChoiceError::Several("miss".into())));
        assert_eq!(chosen(None, Some("hang")), Err(TestChoiceError::NoSuchName("hang".into())));
        assert_eq!(find_test(&[], Some(1), None), Err(TestChoiceError::NoTests));
    }
}
